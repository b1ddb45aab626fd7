/* SPDX-License-Identifier: MIT */
/* Samples that wait for the program's event loop: their chains are as whole, and code
 * is as well known, as where the helper delivers them at once. */
#include <portprof.h>

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

/* When samples reach the callback. */
enum how { BY_HELPER, BY_FLUSH, BY_STOP };

/* What the callback saw. */
struct seen {
	uint64_t code;         /* a page that was made at run time */
	bool is_told;          /* of that */
	uint64_t in_code, untold;
	uint64_t whole, cut;   /* of the weight elsewhere */
};

static void take(const portprof_batch *batch, void *context)
{
	struct seen *seen = context;

	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);
		bool is_there = record->address - seen->code < 4096;

		if (record->kind == PORTPROF_RECORD_MODULE && seen->code)
			seen->is_told |=
				seen->code - record->address < record->span;
		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		if (seen->code && is_there)
			*(seen->is_told ? &seen->in_code : &seen->untold) +=
				record->weight;
		else
			*(record->chain_end == PORTPROF_CHAIN_WHOLE
			          ? &seen->whole : &seen->cut) +=
				record->weight;
	}
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static void spin(uint64_t ns)
{
	uint64_t until = cpu_ns() + ns;

	while (cpu_ns() < until)
		for (volatile int i = 0; i < 10000; i++)
			;
}

/* A loop that counts its argument down, of no file; NULL where it was not written
 * for this processor. */
static void (*make_loop(void))(uint64_t rounds)
{
#if defined(__x86_64__)
	static const unsigned char loop[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb,
		                              0xc3 };
#elif defined(__aarch64__)
	static const uint32_t loop[] = { 0xf1000400, 0x54ffffe1, 0xd65f03c0 };
#else
	static const unsigned char loop[] = { 0 };
#endif
	void (*function)(uint64_t rounds) = NULL;
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (sizeof(loop) == 1 || page == MAP_FAILED)
		return NULL;
	memcpy(page, loop, sizeof(loop));
	__builtin___clear_cache((char *)page, (char *)page + sizeof(loop));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0)
		memcpy(&function, &page, sizeof(function));
	return function;
}

static void run_made_code(struct seen *seen)
{
	void (*loop)(uint64_t rounds) = make_loop();
	uint64_t until = cpu_ns() + 150 * MS;

	if (!loop)
		skip();
	memcpy(&seen->code, &loop, sizeof(loop));
	while (cpu_ns() < until)
		loop(1000000);
}

static void flush_what_waits(portprof_session *session, int fd)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };

	if (poll(&polled, 1, 1000) > 0)
		assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
}

static portprof_session *open_session(const char *backend, struct seen *seen)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session = NULL;
	portprof_status status;

	assert_int_equal(portprof_config_set_backend(config, backend),
	                 PORTPROF_OK);
	portprof_config_set_frequency(config, 499);
	portprof_config_set_number(config, "callchain", 64);
	portprof_config_set_number(config, "unwind", PORTPROF_UNWIND_DWARF);
	assert_int_equal(portprof_config_add_callback(config, take, seen),
	                 PORTPROF_OK);
	status = portprof_session_open(config, &session);
	portprof_config_free(config);
	if (status != PORTPROF_OK) {
		print_message("%s\n", portprof_last_diag()->words);
		skip();
	}
	return session;
}

static void measure(const char *backend, enum how how)
{
	struct seen seen = { .code = 0 };
	portprof_session *session = open_session(backend, &seen);
	portprof_stats stats = { .size = sizeof(stats) };
	int fd = -1;

	if (how != BY_HELPER)
		assert_int_equal(portprof_session_fd(session, &fd),
		                 PORTPROF_OK);
	assert_int_equal(portprof_session_start(session), PORTPROF_OK);
	/* on a busy machine a tick may be late by more than half of 200 ms, and has
	 * the weight of that time where it comes */
	for (int i = 0; i < 4; i++) {
		spin(100 * MS);
		if (how == BY_FLUSH)
			flush_what_waits(session, fd);
	}
	run_made_code(&seen);
	assert_int_equal(portprof_session_stop(session), PORTPROF_OK);
	assert_int_equal(portprof_session_stats(session, 0, &stats),
	                 PORTPROF_OK);
	print_message("%s %d: whole %llu cut %llu in made code %llu untold "
	              "%llu lost %llu\n", backend, (int)how,
	              (unsigned long long)seen.whole,
	              (unsigned long long)seen.cut,
	              (unsigned long long)seen.in_code,
	              (unsigned long long)seen.untold,
	              (unsigned long long)stats.lost_samples);
	assert_int_equal(seen.untold, 0);
	assert_true(seen.in_code > 50 * MS);
	assert_true(seen.whole > 100 * MS);
	assert_true(seen.cut <= (seen.whole + seen.cut) / 10);
	assert_int_equal(seen.whole + seen.cut + seen.in_code,
	                 stats.kept_weight);
	portprof_session_close(session);
}

static void perf_by_helper(void **state)
{
	(void)state;
	measure("perf", BY_HELPER);
}

static void perf_by_flush(void **state)
{
	(void)state;
	measure("perf", BY_FLUSH);
}

static void perf_by_stop(void **state)
{
	(void)state;
	measure("perf", BY_STOP);
}

static void timer_by_helper(void **state)
{
	(void)state;
	measure("timer", BY_HELPER);
}

static void timer_by_flush(void **state)
{
	(void)state;
	measure("timer", BY_FLUSH);
}

static void timer_by_stop(void **state)
{
	(void)state;
	measure("timer", BY_STOP);
}

static void itimer_by_helper(void **state)
{
	(void)state;
	measure("itimer", BY_HELPER);
}

static void itimer_by_flush(void **state)
{
	(void)state;
	measure("itimer", BY_FLUSH);
}

static void itimer_by_stop(void **state)
{
	(void)state;
	measure("itimer", BY_STOP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perf_by_helper),
		cmocka_unit_test(perf_by_flush),
		cmocka_unit_test(perf_by_stop),
		cmocka_unit_test(timer_by_helper),
		cmocka_unit_test(timer_by_flush),
		cmocka_unit_test(timer_by_stop),
		cmocka_unit_test(itimer_by_helper),
		cmocka_unit_test(itimer_by_flush),
		cmocka_unit_test(itimer_by_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
