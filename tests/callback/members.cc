// SPDX-License-Identifier: MIT
//
// Each member of <portprof.hpp> does what the C function of its name does.
//
// usage: members BACKEND FILE
//
// Prints "good", or the line of what was not; status 77: nothing samples here.
#include <portprof.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <poll.h>
#include <type_traits>

#define MUST(claim)                                           \
	do {                                                  \
		if (!(claim)) {                               \
			std::printf("line %d: %s: %s\n",      \
			            __LINE__, #claim,         \
			            portprof_last_diag()->words); \
			std::exit(1);                         \
		}                                             \
	} while (0)

// An owner moves, without throwing, and does not copy; a scope does neither.
template <typename Owner> constexpr bool moves_alone()
{
	return std::is_nothrow_move_constructible<Owner>::value &&
	       std::is_nothrow_move_assignable<Owner>::value &&
	       std::is_nothrow_destructible<Owner>::value &&
	       !std::is_copy_constructible<Owner>::value &&
	       !std::is_copy_assignable<Owner>::value;
}
template <typename Scope> constexpr bool stays()
{
	return !std::is_move_constructible<Scope>::value &&
	       !std::is_move_assignable<Scope>::value &&
	       std::is_nothrow_destructible<Scope>::value;
}
static_assert(moves_alone<portprof::config>(), "config");
static_assert(moves_alone<portprof::session>(), "session");
static_assert(moves_alone<portprof::group>(), "group");
static_assert(moves_alone<portprof::region_set>(), "region_set");
static_assert(stays<portprof::sampling>(), "sampling");
static_assert(stays<portprof::regions>(), "regions");
static_assert(stays<portprof::region>(), "region");
static_assert(stays<portprof::label_scope>(), "label_scope");
static_assert(stays<portprof::label>(), "label");

static volatile unsigned long sink;

__attribute__((noinline)) static void burn(unsigned ms)
{
	std::clock_t end = std::clock() + CLOCKS_PER_SEC / 1000 * ms;

	while (std::clock() < end)
		for (unsigned long i = 0; i < 10000; i++)
			sink = sink + i;
}

static std::uint64_t samples_of(const portprof_batch &batch)
{
	std::uint64_t samples = 0;

	for (std::size_t i = 0; i < batch.count; i++)
		samples += portprof_batch_record(&batch, i)->kind ==
		           PORTPROF_RECORD_SAMPLE;
	return samples;
}

template <typename Function>
static portprof_status status_of(Function function)
{
	try {
		function();
	} catch (const portprof::error &error) {
		MUST(std::strlen(error.what()) > 10);
		MUST(error.reason() != PORTPROF_REASON_NONE);
		return error.status();
	}
	return PORTPROF_OK;
}

static void sample(const std::string &backend, const std::string &path)
{
	const std::uint64_t text =
		reinterpret_cast<std::uint64_t>(&burn) & ~UINT64_C(4095);
	std::vector<std::uint32_t> bins(2048);
	std::vector<std::uint32_t> of_job(2048);
	std::vector<std::uint64_t> pcs(1000);
	std::uint64_t samples = 0, in_bins = 0, in_job = 0;
	const portprof_label job = { "job", "members" };
	const portprof_label_set *set = portprof_label_set_new(&job, 1);
	portprof::config config;

	config.backend(backend)
		.event("task-clock")
		.frequency(500)
		.number("callchain", 16)
		.set("ring", "65536")
		.target(PORTPROF_TARGET_PROCESS)
		.require(PORTPROF_CAP_EXACT_PC)
		.histogram(0, text, 4, bins)
		.array(pcs)
		.callback([&samples](const portprof_batch &batch) {
			samples += samples_of(batch);
		})
		.write_to(path)
		.histogram(0, text, 4, of_job, set);
	portprof::session opened(config);
	portprof::session session(std::move(opened));

	// the config may go before the session
	config = portprof::config();
	MUST(session.backend() == backend);
	MUST(session.caps() & PORTPROF_CAP_EXACT_PC);
	MUST(session.event_count() == 1);
	MUST(session.event(0).unit == PORTPROF_UNIT_NANOSECONDS);
	{
		portprof::sampling scope(session);

		burn(200);
		session.flush();
		MUST(samples > 0);
		{
			portprof::label_scope work(set);

			burn(50);
		}
		scope.stop();
	}
	MUST(samples == session.stats().delivered_samples);
	MUST(session.sink_stats(1).kept_samples == samples);
	MUST(pcs[0] != 0);
	for (std::uint32_t bin : bins)
		in_bins += bin;
	for (std::uint32_t bin : of_job)
		in_job += bin;
	MUST(in_job > 0 && in_job < in_bins);
	// ticks of requested periods; each sample may carry one
	MUST(in_bins > 0 && in_bins <= session.stats().total_weight / 2000000 + 1);
	MUST(status_of([&] { session.set_number(0, "period", 5000000); }) ==
	     (backend == "perf" ? PORTPROF_OK : PORTPROF_E_UNSUPPORTED));
	session.reset();
	MUST(session.stats().total_weight == 0);
	for (const std::string &note : session.notes())
		MUST(note.size() > 10);
	session.close();
}

static void poll_descriptor(const std::string &backend)
{
	std::uint64_t samples = 0;
	portprof::config config;

	config.backend(backend).frequency(500).callback(
		[&samples](const portprof_batch &batch) {
			samples += samples_of(batch);
		});
	portprof::session session(config);
	struct pollfd entry = { session.descriptor(), POLLIN, 0 };

	session.start();
	burn(100);
	MUST(poll(&entry, 1, 60000) == 1 && samples == 0);
	session.flush();
	MUST(samples > 0);
	session.stop();
}

static void refuse()
{
	portprof::config config;

	MUST(status_of([&] { config.event("task-clokc:"); }) ==
	     PORTPROF_E_INVALID);
	MUST(status_of([&] { config.set("frequence", "1"); }) ==
	     PORTPROF_E_INVALID);
	MUST(status_of([&] { config.number("stack", 1); }) == PORTPROF_E_INVALID);
	MUST(status_of([&] { config.load("/none/portprof.conf"); }) ==
	     PORTPROF_E_NOTFOUND);
	MUST(status_of([&] { config.target_system("", "0-x"); }) ==
	     PORTPROF_E_INVALID);
	MUST(status_of([&] { config.period(0); }) == PORTPROF_E_INVALID);
	MUST(status_of([&] { portprof::group group("no-such-event"); }) ==
	     PORTPROF_E_NOTFOUND);
}

static void count()
{
	portprof::group group("task-clock,page-faults");

	burn(20);
	MUST(group.size() == 2);
	MUST(group.read(0).scaled >= 15000000);
	MUST(group.read()[0].scaled >= group.read(0).scaled / 2);
	MUST(std::strcmp(group.event(1).canonical, "") != 0);
	MUST(group.refusal(0).empty() || group.refusal(0).size() > 10);
	MUST(!group.backend().empty());
	MUST(status_of([&] { group.set_number("none", 1); }) != PORTPROF_OK);
	group.stop();
	group.reset();
	MUST(group.read(0).scaled == 0);
}

// Where nobody can see waits there is nothing to try.
static void wait_for()
{
	const struct timespec nap = { 0, 50000000 };
	bool slept = false, others = false;
	portprof::config config;

	config.event("blocked-time").callback([&](const portprof_batch &batch) {
		for (std::size_t i = 0; i < batch.count; i++) {
			const portprof_record *record =
				portprof_batch_record(&batch, i);

			if (portprof::field_text(batch, *record, 1) == "sleep")
				slept = true;
			others = others || !portprof::field_text(batch, *record,
			                                         100).empty();
		}
	});
	try {
		portprof::session session(config);
		portprof::sampling scope(session);

		nanosleep(&nap, nullptr);
		scope.stop();
	} catch (const portprof::error &error) {
		MUST(error.status() == PORTPROF_E_UNSUPPORTED);
		return;
	}
	MUST(slept && !others);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	try {
		portprof::config config;

		config.backend(argv[1]);
		portprof::session session(config);

		session.start();
	} catch (const portprof::error &error) {
		std::printf("%s\n", error.what());
		return 77;
	}
	try {
		sample(argv[1], argv[2]);
		poll_descriptor(argv[1]);
		refuse();
		count();
		wait_for();
	} catch (const portprof::error &error) {
		std::printf("thrown: %s\n", error.what());
		return 1;
	}
	std::printf("good\n");
	return 0;
}
