/* SPDX-License-Identifier: MIT */
/*
 * What tracing libraries say of blocked threads, of this process and of others: records
 * by hand (tests/fixtures/otel_hand.h), in the program and in a plugin, honest and not.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if defined(__linux__) && defined(__GLIBC__) && \
	(defined(__x86_64__) || defined(__aarch64__))
#include "base/clock_ns.h"
#include "base/otel_reach.h"
#include "base/thread.h"
#include "tests/fixtures/otel_hand.h"
#include "tests/tools/speed.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The library's own: the test has it in itself. */
extern _Thread_local const void *otel_thread_ctx_v1;

static _Alignas(8) unsigned char alpha[640], beta[640];

/* ---- threads that wait with a record ---- */

struct waiter {
	pthread_t id;
	_Atomic int64_t tid;
	void (*enter)(const void *record); /* NULL: that thread touches nothing */
	const void *record;
	int pipe[2];
};

static void enter_own(const void *record)
{
	otel_thread_ctx_v1 = record;
}

static void *wait_for_byte(void *context)
{
	struct waiter *waiter = context;
	char byte = 1;

	if (waiter->enter)
		waiter->enter(waiter->record);
	atomic_store(&waiter->tid, ppi_thread_id());
	while (read(waiter->pipe[0], &byte, 1) == 1 && byte)
		if (waiter->enter)
			waiter->enter(byte == 'b' ? beta : waiter->record);
	if (waiter->enter)
		waiter->enter(NULL);
	return NULL;
}

static void begin(struct waiter *waiter, void (*enter)(const void *record),
                  const void *record)
{
	memset(waiter, 0, sizeof(*waiter));
	waiter->enter = enter;
	waiter->record = record;
	assert_int_equal(pipe(waiter->pipe), 0);
	assert_int_equal(pthread_create(&waiter->id, NULL, wait_for_byte,
	                                waiter), 0);
	while (!atomic_load(&waiter->tid))
		usleep(100);
}

static void end(struct waiter *waiter)
{
	assert_int_equal(write(waiter->pipe[1], "", 1), 1);
	pthread_join(waiter->id, NULL);
	close(waiter->pipe[0]);
	close(waiter->pipe[1]);
}

/* ---- what is read ---- */

/* "key=value ...", "none" or "unknown", once the thread is blocked, or for a while. */
static const char *say(struct ppi_otel_reach *reach, int64_t tid,
                       uint64_t *turns)
{
	static char out[2048];
	unsigned char record[PPI_OTEL_RECORD_MAX];
	uint64_t until_ns = ppi_monotonic_ns() + 300000000;
	enum ppi_otel_answer answer;
	struct ppi_otel_text text;
	size_t bytes, used = 0;

	do {
		answer = ppi_otel_reach_read(reach, tid, record, &bytes, turns);
	} while (answer == PPI_OTEL_UNKNOWN && ppi_monotonic_ns() < until_ns &&
	         usleep(1000) == 0);
	if (answer != PPI_OTEL_SAYS)
		return answer == PPI_OTEL_NOTHING ? "none" : "unknown";
	ppi_otel_record_text(ppi_otel_reach_keys(reach), record, bytes, true,
	                     &text);
	out[0] = '\0';
	for (const char *at = text.bytes; at < text.bytes + text.used;) {
		const char *value = at + strlen(at) + 1;

		used += (size_t)snprintf(out + used, sizeof(out) - used,
		                         "%s%s=%s", used ? " " : "", at, value);
		at = value + strlen(value) + 1;
	}
	return out;
}

#define IDS " tenant=acme trace_id=0102030405060708090a0b0c0d0e0f10 " \
            "span_id=abababababababab"

static struct ppi_otel_reach *reach_of(uint32_t pid)
{
	struct ppi_otel_reach *reach = ppi_otel_reach_new(pid);

	assert_non_null(reach);
	return reach;
}

static atomic_bool is_over;

static void *run_on(void *context)
{
	_Atomic int64_t *tid = context;

	enter_own(alpha);
	atomic_store(tid, ppi_thread_id());
	while (!atomic_load(&is_over))
		;
	enter_own(NULL);
	return NULL;
}

/* ---- cases ---- */

static void blocked_threads_are_read_others_not(void **state)
{
	struct ppi_otel_reach *reach = reach_of((uint32_t)getpid());
	struct waiter with, without;
	_Atomic int64_t runner = 0;
	uint64_t first, second;
	pthread_t id;

	(void)state;
	begin(&with, enter_own, alpha);
	begin(&without, NULL, NULL);
	assert_string_equal(say(reach, with.tid, &first), "phase=alpha" IDS);
	assert_string_equal(say(reach, with.tid, &second), "phase=alpha" IDS);
	assert_int_equal(first, second);
	assert_string_equal(say(reach, without.tid, &first), "none");
	assert_int_equal(write(with.pipe[1], "b", 1), 1);
	do {
		say(reach, with.tid, &first);
	} while (first == second);
	assert_string_equal(say(reach, with.tid, &first), "phase=beta" IDS);

	assert_int_equal(pthread_create(&id, NULL, run_on, (void *)&runner), 0);
	while (!atomic_load(&runner))
		usleep(100);
	assert_string_equal(say(reach, runner, &first), "unknown");
	atomic_store(&is_over, true);
	pthread_join(id, NULL);
	end(&with);
	end(&without);
	assert_string_equal(say(reach, with.tid, &first), "unknown"); /* gone */
	ppi_otel_reach_free(reach);
}

/* Its mappings of the context are not its child's. */
static void serve(int out)
{
	struct waiter with, without;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	otel_publish_process("phase", "tenant");
	begin(&with, enter_own, alpha);
	begin(&without, NULL, NULL);
	if (write(out, (void *)&with.tid, 8) != 8 ||
	    write(out, (void *)&without.tid, 8) != 8)
		_exit(1);
	for (;;)
		pause();
}

static void another_process_is_read(void **state)
{
	struct ppi_otel_reach *reach;
	int64_t with, without;
	uint64_t turns;
	int ends[2], status;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0)
		serve(ends[1]);
	assert_int_equal(read(ends[0], &with, 8), 8);
	assert_int_equal(read(ends[0], &without, 8), 8);
	reach = reach_of((uint32_t)child);
	assert_true(ppi_otel_reach_is_current(reach));
	assert_string_equal(say(reach, with, &turns), "phase=alpha" IDS);
	assert_string_equal(say(reach, without, &turns), "none");
	assert_string_equal(say(reach, child, &turns), "none");
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_string_equal(say(reach, with, &turns), "unknown");
	assert_false(ppi_otel_reach_is_current(reach));
	ppi_otel_reach_free(reach);
	assert_null(ppi_otel_reach_new((uint32_t)child));
	close(ends[0]);
	close(ends[1]);
}

static void *load(void (**enter)(const void *record))
{
	const char *folder = getenv("builddir");
	char path[4096];
	void *handle, *found;

	snprintf(path, sizeof(path), "%s/tests/unit/.libs/otel_plugin.so",
	         folder ? folder : ".");
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		print_message("%s\n", dlerror());
		return NULL;
	}
	found = dlsym(handle, "otel_plugin_enter");
	memcpy(enter, &found, sizeof(*enter));
	return handle;
}

/* Who has touched it has one; it goes with its library, and is not mistaken for the
 * next one's. */
static void a_library_may_come_and_go(void **state)
{
	struct ppi_otel_reach *reach = reach_of((uint32_t)getpid());
	struct waiter with, without;
	void (*enter)(const void *record);
	uint64_t turns;
	void *handle = load(&enter);

	(void)state;
	ppi_otel_reach_free(reach);
	if (!handle)
		skip();
	begin(&with, enter, beta);
	begin(&without, NULL, NULL);
	reach = reach_of((uint32_t)getpid());
	assert_string_equal(say(reach, with.tid, &turns), "phase=beta" IDS);
	assert_string_equal(say(reach, without.tid, &turns), "none");
	with.enter = NULL;
	dlclose(handle);
	assert_string_not_equal(say(reach, with.tid, &turns),
	                        "phase=beta" IDS);
	handle = load(&enter);
	assert_string_not_equal(say(reach, with.tid, &turns),
	                        "phase=beta" IDS);
	usleep(1100000); /* it is looked for once a second */
	assert_string_equal(say(reach, with.tid, &turns), "none");
	end(&with);
	end(&without);
	dlclose(handle);
	ppi_otel_reach_free(reach);
}

static void lies_do_no_harm(void **state)
{
	struct ppi_otel_reach *reach = reach_of((uint32_t)getpid());
	uint64_t turns;

	(void)state;
	for (int i = 1; i <= OTEL_LIES; i++) {
		struct waiter waiter;
		const char *said;

		begin(&waiter, enter_own, otel_lie(i));
		said = say(reach, waiter.tid, &turns);
		if (otel_is_nothing(i))
			assert_string_equal(said, "none");
		if (i == 14) /* a key that nobody named */
			assert_string_equal(said, "unknown");
		end(&waiter);
	}
	ppi_otel_reach_free(reach);
}

/* Memory of the record that comes and goes. */
static unsigned char *page;

static void *flap(void *unused)
{
	while (!atomic_load(&is_over)) {
		munmap(page, 4096);
		mmap(page, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		memcpy(page, alpha, sizeof(alpha));
	}
	return unused;
}

static void memory_that_goes_while_it_is_read_does_no_harm(void **state)
{
	struct ppi_otel_reach *reach = reach_of((uint32_t)getpid());
	unsigned char record[PPI_OTEL_RECORD_MAX];
	struct waiter waiter;
	unsigned answers[3] = { 0 };
	uint64_t turns;
	size_t bytes;
	pthread_t id;

	(void)state;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(page, alpha, sizeof(alpha));
	begin(&waiter, enter_own, page);
	assert_string_equal(say(reach, waiter.tid, &turns), "phase=alpha" IDS);
	atomic_store(&is_over, false);
	assert_int_equal(pthread_create(&id, NULL, flap, NULL), 0);
	for (unsigned i = 0; i < by_speed(3000, 20000, 200000); i++)
		answers[ppi_otel_reach_read(reach, waiter.tid, record, &bytes,
		                            &turns)]++;
	atomic_store(&is_over, true);
	pthread_join(id, NULL);
	print_message("%u nothing, %u says, %u unknown\n", answers[0],
	              answers[1], answers[2]);
	assert_string_equal(say(reach, waiter.tid, &turns), "phase=alpha" IDS);
	end(&waiter);
	ppi_otel_reach_free(reach);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_process_is_read),
		cmocka_unit_test(blocked_threads_are_read_others_not),
		cmocka_unit_test(a_library_may_come_and_go),
		cmocka_unit_test(lies_do_no_harm),
		cmocka_unit_test(
			memory_that_goes_while_it_is_read_does_no_harm),
	};

	otel_make_record(alpha, "alpha");
	otel_make_record(beta, "beta");
	otel_publish_process("phase", "tenant");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
	return 77;
}
#endif
