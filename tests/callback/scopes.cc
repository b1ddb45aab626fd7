// SPDX-License-Identifier: MIT
//
// Destructors of <portprof.hpp> throw nothing, whatever a callback throws.
//
// usage: scopes BACKEND
//
// Each batch's callback throws. The end of a scope of sampling stops all the
// same, stop() and close() throw what the callback did, and the session's
// destructor closes. Prints "good", or the line of what was not.
#include <portprof.hpp>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <unistd.h>

static unsigned thrown;

#define MUST(claim)                                           \
	do {                                                  \
		if (!(claim)) {                               \
			std::printf("line %d: %s: %s\n",      \
			            __LINE__, #claim,         \
			            portprof_last_diag()->words); \
			std::exit(1);                         \
		}                                             \
	} while (0)

static void take(const portprof_batch *, void *)
{
	thrown++;
	throw 42;
}

static void burn()
{
	std::clock_t end = std::clock() + CLOCKS_PER_SEC / 20;
	volatile double x = 1;

	while (std::clock() < end)
		for (int i = 0; i < 1000; i++)
			x = x * 1.00001;
}

// With a descriptor samples wait for stop and close, which the program calls.
static portprof_session *hold(const portprof::session &session)
{
	int fd = -1;

	MUST(portprof_session_fd(session.get(), &fd) == PORTPROF_OK);
	return session.get();
}

static portprof_session *sample(const portprof::session &owner)
{
	portprof_session *session = hold(owner);

	MUST(portprof_session_start(session) == PORTPROF_OK);
	burn();
	return session;
}

static void end_of_scope(const portprof::config &config)
{
	portprof::session session(config);
	unsigned before = thrown;

	hold(session);
	{
		portprof::sampling sampling(session);

		burn();
	}
	MUST(thrown > before);
	portprof_stats stats = session.stats();
	burn();
	MUST(session.stats().total_weight == stats.total_weight);
}

static void own_stop(const portprof::config &config)
{
	portprof::session session(config);
	bool is_caught = false;

	hold(session);
	portprof::sampling sampling(session);
	burn();
	try {
		sampling.stop();
	} catch (int what) {
		is_caught = what == 42;
	}
	MUST(is_caught);
}

static void close_and_destroy(const portprof::config &config)
{
	portprof::session session(config);
	bool is_caught = false;

	sample(session);
	try {
		session.close();
	} catch (int what) {
		is_caught = what == 42;
	}
	MUST(is_caught);
	MUST(session.get());
	session.close();
	MUST(!session.get());
}

static void destroy(const portprof::config &config)
{
	unsigned before = thrown;

	{
		portprof::session session(config);

		sample(session);
	}
	MUST(thrown > before);
}

int main(int argc, char **argv)
try {
	portprof::config config;

	if (argc != 2)
		return 2;
	config.backend(argv[1]).set("frequency", "1000");
	MUST(portprof_config_add_callback(config.get(), take, nullptr) ==
	     PORTPROF_OK);
	try {
		portprof::session usable(config);
	} catch (const portprof::error &error) {
		std::printf("cannot be used: %s\n", error.what());
		return 77;
	}
	end_of_scope(config);
	own_stop(config);
	close_and_destroy(config);
	destroy(config);
	std::puts("good");
	return 0;
} catch (const std::exception &error) {
	std::printf("an exception: %s\n", error.what());
	return 1;
}
