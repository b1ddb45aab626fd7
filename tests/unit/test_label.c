/* SPDX-License-Identifier: MIT */
/* Sets of labels and the threads in them: what the interface promises, and that what
 * readers find by time is what the threads themselves wrote down. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <portprof.h>

#include "base/clock_ns.h"
#include "base/label_look.h"
#include "base/thread.h"
#include "tests/tools/speed.h"

static const portprof_label_set *set_of(const char *key, const char *value)
{
	const portprof_label label = { key, value };
	const portprof_label_set *set = portprof_label_set_new(&label, 1);

	assert_non_null(set);
	return set;
}

/* What a handler would see of the calling thread. */
static uint32_t seen(void)
{
	return ppi_label_now(ppi_thread_id());
}

/* "key=value ...", of what the thread is in. */
static const char *text_seen(void)
{
	static char out[8192];
	size_t bytes = 0, used = 0;
	const char *text = ppi_label_store_text(ppi_label_store_own(), seen(),
	                                        &bytes);

	out[0] = '\0';
	for (size_t at = 0; text && at < bytes;) {
		const char *key = text + at, *value = key + strlen(key) + 1;

		used += (size_t)snprintf(out + used, sizeof(out) - used,
		                         "%s%s=%s", used ? " " : "", key,
		                         value);
		at = (size_t)(value - text) + strlen(value) + 1;
	}
	return out;
}

/* ---- the interface ---- */

static void sets_nest_and_come_back(void **state)
{
	const portprof_label_set *a = set_of("endpoint", "/a");
	const portprof_label_set *b = set_of("endpoint", "/b");

	(void)state;
	assert_null(portprof_label_current());
	{
		PORTPROF_LABEL_SCOPE(a);
		assert_ptr_equal(portprof_label_current(), a);
		assert_string_equal(text_seen(), "endpoint=/a");
		{
			PORTPROF_LABEL_SCOPE(b);
			assert_string_equal(text_seen(), "endpoint=/b");
			{
				PORTPROF_LABEL_SCOPE(NULL);
				assert_int_equal(seen(), 0);
			}
			assert_string_equal(text_seen(), "endpoint=/b");
		}
		assert_string_equal(text_seen(), "endpoint=/a");
	}
	assert_null(portprof_label_current());
	assert_int_equal(seen(), 0);
}

static void equal_sets_are_one(void **state)
{
	char value[] = "v";
	const portprof_label ab[] = { { "a", "1" }, { "b", value } };
	const portprof_label ba[] = { { "b", "x" }, { "a", "1" }, { "b", "v" } };
	const portprof_label_set *set = portprof_label_set_new(ab, 2);

	(void)state;
	assert_ptr_equal(set, portprof_label_set_new(ba, 3));
	value[0] = 'w'; /* as if it were unloaded */
	assert_ptr_equal(set, portprof_label_set_new(ba, 3));
	assert_ptr_not_equal(set, portprof_label_set_new(ab, 2));
	portprof_label_enter(set);
	assert_string_equal(text_seen(), "a=1 b=v");
	portprof_label_leave(NULL);
	set = portprof_label_set_new(NULL, 0);
	assert_non_null(set);
	portprof_label_enter(set);
	assert_string_equal(text_seen(), "");
	portprof_label_leave(NULL);
}

static void refuses(const portprof_label *labels, size_t count)
{
	assert_null(portprof_label_set_new(labels, count));
	assert_int_equal(portprof_last_diag()->status, PORTPROF_E_INVALID);
}

static void bad_sets_are_refused(void **state)
{
	char large[PORTPROF_LABEL_BYTES_MAX + 1];
	portprof_label labels[PORTPROF_LABELS_MAX + 1];
	char keys[PORTPROF_LABELS_MAX + 1][8];

	(void)state;
	refuses(NULL, 1);
	labels[0] = (portprof_label){ NULL, "x" };
	refuses(labels, 1);
	labels[0] = (portprof_label){ "x", NULL };
	refuses(labels, 1);
	labels[0] = (portprof_label){ "", "x" };
	refuses(labels, 1);
	memset(large, 'x', sizeof(large));
	large[sizeof(large) - 1] = '\0';
	labels[0] = (portprof_label){ "x", large };
	refuses(labels, 1);
	for (size_t i = 0; i <= PORTPROF_LABELS_MAX; i++) {
		snprintf(keys[i], sizeof(keys[i]), "k%zu", i);
		labels[i] = (portprof_label){ keys[i], "v" };
	}
	refuses(labels, PORTPROF_LABELS_MAX + 1);
	assert_non_null(portprof_label_set_new(labels, PORTPROF_LABELS_MAX));
	assert_int_equal(portprof_label_push("", "x"), PORTPROF_E_INVALID);
	assert_int_equal(portprof_label_push("x", NULL), PORTPROF_E_INVALID);
	assert_null(portprof_label_current());
}

static void pushes_add_and_pops_take_away(void **state)
{
	const portprof_label_set *a = set_of("endpoint", "/a");

	(void)state;
	portprof_label_pop(); /* nothing */
	PORTPROF_LABEL_SCOPE(a);
	portprof_label_pop(); /* not pushed */
	assert_ptr_equal(portprof_label_current(), a);
	assert_int_equal(portprof_label_push("tenant", "t"), PORTPROF_OK);
	assert_string_equal(text_seen(), "endpoint=/a tenant=t");
	assert_int_equal(portprof_label_push("endpoint", "/b"), PORTPROF_OK);
	assert_string_equal(text_seen(), "endpoint=/b tenant=t");
	assert_int_equal(portprof_label_push("endpoint", "/b"), PORTPROF_OK);
	portprof_label_pop();
	assert_string_equal(text_seen(), "endpoint=/b tenant=t");
	portprof_label_pop();
	assert_string_equal(text_seen(), "endpoint=/a tenant=t");
	portprof_label_pop();
	assert_ptr_equal(portprof_label_current(), a);
	assert_string_equal(text_seen(), "endpoint=/a");
}

/* ---- processes ---- */

static void expect_end(pid_t child)
{
	int status = -1;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* In a child: its own store, with its parent's sets, in its parent's set. */
static int check_child(const portprof_label_set *b,
                       const struct ppi_label_store *of_parent,
                       uint32_t inherited)
{
	const struct ppi_label_store *store = ppi_label_store_own();

	if (seen() != inherited || store == of_parent ||
	    store->pid != getpid() || ppi_label_of_heir(inherited) != inherited)
		return 1;
	portprof_label_enter(b);
	if (strcmp(text_seen(), "endpoint=/b") != 0)
		return 2;
	portprof_label_enter(set_of("endpoint", "/of the child alone"));
	if (strcmp(text_seen(), "endpoint=/of the child alone") != 0 ||
	    ppi_label_of_heir(seen()) != PPI_LABELS_UNKNOWN)
		return 3;
	return 0;
}

static void a_child_is_in_its_parents_set(void **state)
{
	const portprof_label_set *b = set_of("endpoint", "/b");
	const struct ppi_label_store *store = ppi_label_store_own();
	uint32_t inherited;
	pid_t child;

	(void)state;
	PORTPROF_LABEL_SCOPE(set_of("endpoint", "/a"));
	inherited = seen();
	assert_int_not_equal(inherited, 0);
	child = fork();
	assert_int_not_equal(child, -1);
	if (child == 0)
		_exit(check_child(b, store, inherited));
	expect_end(child);
	assert_ptr_equal(ppi_label_store_own(), store);
	assert_string_equal(text_seen(), "endpoint=/a");
}

/* Where no handler of a fork runs. */
static void a_child_of_a_bare_call_writes_nothing_of_its_parents(void **state)
{
	(void)state;
#ifdef SYS_fork
	const portprof_label_set *b = set_of("endpoint", "/b");
	uint32_t before;
	pid_t child;

	PORTPROF_LABEL_SCOPE(set_of("endpoint", "/a"));
	before = seen();
	child = (pid_t)syscall(SYS_fork);
	assert_int_not_equal(child, -1);
	if (child == 0) {
		portprof_label_enter(b);
		_exit(strcmp(text_seen(), "endpoint=/b") != 0);
	}
	expect_end(child);
	assert_int_equal(seen(), before);
	assert_string_equal(text_seen(), "endpoint=/a");
#else
	skip();
#endif
}

/* ---- threads, as a reader finds them ---- */

enum { THREADS = 8, SETS = 4, NOTES = 20000 };

/* What a thread knows of itself: it was in that set then. */
struct note {
	uint64_t time_ns;
	uint32_t number;
};

struct worker {
	pthread_t id;
	_Atomic int64_t tid;
	unsigned seed;
	_Atomic size_t count; /* notes that are written */
	struct note notes[NOTES];
};

static const portprof_label_set *sets[SETS];
static uint32_t numbers[SETS];
static atomic_bool is_over;
static const portprof_label_set *of_handler;
static uint32_t number_of_handler;
static _Thread_local struct worker *self;

static void take_note(struct worker *worker, uint32_t number)
{
	size_t count = atomic_load(&worker->count);

	if (count == NOTES)
		return;
	worker->notes[count] = (struct note){ ppi_monotonic_ns(), number };
	atomic_store_explicit(&worker->count, count + 1, memory_order_release);
}

/* As far from the changes before and behind it as a sample is. */
static void take_late_note(struct worker *worker, uint32_t number)
{
	uint64_t at_ns = ppi_monotonic_ns();

	while (ppi_monotonic_ns() <= at_ns + 2 * PPI_LABEL_SLACK_NS)
		;
	take_note(worker, number);
	at_ns = ppi_monotonic_ns();
	while (ppi_monotonic_ns() <= at_ns + 2 * PPI_LABEL_SLACK_NS)
		;
}

static void *work(void *context)
{
	struct worker *worker = context;
	unsigned seed = worker->seed;

	self = worker;
	atomic_store(&worker->tid, ppi_thread_id());
	portprof_label_enter(sets[0]);
	while (!atomic_load(&is_over)) {
		unsigned next = (seed = seed * 1103515245 + 12345) >> 16;

		portprof_label_enter(sets[next % SETS]);
		if (next % 64 == 0) {
			take_note(worker, numbers[next % SETS]);
			take_late_note(worker, numbers[next % SETS]);
		}
		for (volatile unsigned i = 0; i < next % 128; i++)
			;
	}
	portprof_label_leave(NULL);
	return NULL;
}

/* Of notes [first, count) those that a reader finds; none may be found wrong. */
static size_t compare(struct ppi_label_look *look, struct worker *worker,
                      size_t *first, size_t *unknown)
{
	size_t count = atomic_load_explicit(&worker->count,
	                                    memory_order_acquire), known = 0;

	for (; *first < count; (*first)++) {
		const struct note *note = &worker->notes[*first];
		uint32_t found = ppi_label_look_find(
			look, atomic_load(&worker->tid), note->time_ns);

		if (found == PPI_LABELS_UNKNOWN)
			(*unknown)++;
		else if (found != note->number)
			fail_msg("note %zu: set %u, found %u", *first,
			         note->number, found);
		else
			known++;
	}
	return known;
}

static void make_sets(void)
{
	static const char *const names[SETS] = { "/0", "/1", "/2", "/3" };

	for (size_t i = 0; i < SETS; i++) {
		sets[i] = set_of("endpoint", names[i]);
		portprof_label_enter(sets[i]);
		numbers[i] = seen();
		portprof_label_leave(NULL);
	}
}

static struct worker workers[THREADS];

static void start_all(unsigned threads)
{
	atomic_store(&is_over, false);
	memset(workers, 0, sizeof(workers));
	for (unsigned i = 0; i < threads; i++) {
		workers[i].seed = i + 1;
		assert_int_equal(pthread_create(&workers[i].id, NULL, work,
		                                &workers[i]), 0);
	}
}

static void end_all(unsigned threads)
{
	atomic_store(&is_over, true);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(workers[i].id, NULL);
}

/* Changes have times, of which `look` knows; where there are none the case is skipped. */
static void begin_times(struct ppi_label_look *look)
{
	make_sets();
	ppi_label_times_begin();
	usleep(1000);
	if (!ppi_label_look_own(look) || look->fd < 0) {
		ppi_label_times_end();
		skip();
	}
}

static void times_find_what_threads_were_in(void **state)
{
	size_t first[THREADS] = { 0 }, known = 0, unknown = 0;
	struct ppi_label_look look;
	uint64_t until_ns;

	(void)state;
	begin_times(&look);
	start_all(THREADS);
	until_ns = ppi_monotonic_ns() +
	           (uint64_t)by_speed(300, 1000, 20000) * 1000000;
	while (ppi_monotonic_ns() < until_ns) {
		usleep(2000);
		for (unsigned i = 0; i < THREADS; i++)
			known += compare(&look, &workers[i], &first[i],
			                 &unknown);
	}
	end_all(THREADS);
	for (unsigned i = 0; i < THREADS; i++)
		known += compare(&look, &workers[i], &first[i], &unknown);
	ppi_label_look_close(&look);
	ppi_label_times_end();
	print_message("%zu known, %zu unknown\n", known, unknown);
	assert_true(known > 1000);
}

/* The last change of this thread, if its time was carried. */
static uint64_t carried_ns(const struct ppi_label_look *look, uint64_t now_ns)
{
	const struct ppi_label_thread *thread = ppi_label_mine.slot;
	size_t at = (size_t)(thread - ppi_label_mine.store->threads);
	const struct ppi_label_change *last;
	uint64_t mask = (UINT64_C(1) << atomic_load(&thread->ring_log2)) - 1;

	ppi_label_look_find((struct ppi_label_look *)look, ppi_thread_id(),
	                    now_ns);
	if (!look->rings[at].changes)
		return 0;
	last = &look->rings[at].changes[(atomic_load(&thread->head) - 1) & mask];
	return atomic_load(&last->check) & PPI_LABEL_CARRIED
		? atomic_load(&last->time_ns) : 0;
}

static void wait_ns(uint64_t ns)
{
	uint64_t until_ns = ppi_monotonic_ns() + ns;

	while (ppi_monotonic_ns() < until_ns)
		;
}

static void beside_a_carried_time_nothing_is_guessed(void **state)
{
	const uint64_t slack = PPI_LABEL_SLACK_NS;
	const int64_t self_tid = ppi_thread_id();
	struct ppi_label_look look;
	uint64_t until_ns, at_ns = 0;
	unsigned i = 0;

	(void)state;
	begin_times(&look);
	until_ns = ppi_monotonic_ns() + 1000000000;
	while (at_ns == 0 && ppi_monotonic_ns() < until_ns) {
		portprof_label_enter(sets[++i % 2]);
		wait_ns(4 * slack);
		at_ns = carried_ns(&look, ppi_monotonic_ns());
	}
	if (at_ns) {
#define FOUND(time_ns) ppi_label_look_find(&look, self_tid, time_ns)
		assert_int_equal(FOUND(at_ns - slack - 1), numbers[(i - 1) % 2]);
		assert_int_equal(FOUND(at_ns - slack), PPI_LABELS_UNKNOWN);
		assert_int_equal(FOUND(at_ns), PPI_LABELS_UNKNOWN);
		assert_int_equal(FOUND(at_ns + slack), PPI_LABELS_UNKNOWN);
		assert_int_equal(FOUND(at_ns + slack + 1), numbers[i % 2]);
		/* to the same set it does not matter when */
		portprof_label_enter(sets[i % 2]);
		at_ns = ppi_monotonic_ns();
		assert_int_equal(FOUND(at_ns), numbers[i % 2]);
#undef FOUND
	} else {
		print_message("no time is carried here\n");
	}
	portprof_label_leave(NULL);
	ppi_label_look_close(&look);
	ppi_label_times_end();
}

static void make_set_of_handler(void)
{
	of_handler = set_of("endpoint", "/handler");
	portprof_label_enter(of_handler);
	number_of_handler = seen();
	portprof_label_leave(NULL);
}

static void work_in_handler(int signo)
{
	const portprof_label_set *before = portprof_label_enter(of_handler);

	(void)signo;
	if (self)
		take_note(self, number_of_handler);
	portprof_label_leave(before);
}

/* A note is written by the handler in the middle of another: the count is then the
 * same, and one of them is lost, never half of each; such a thread writes notes in
 * its handler alone. */
static void *work_interrupted(void *context)
{
	struct worker *worker = context;
	unsigned next = worker->seed;

	self = worker;
	atomic_store(&worker->tid, ppi_thread_id());
	while (!atomic_load(&is_over)) {
		next = (next * 1103515245 + 12345) & 0x7fffffff;
		portprof_label_enter(sets[next % SETS]);
		assert_ptr_equal(portprof_label_current(), sets[next % SETS]);
		assert_int_equal(seen(), numbers[next % SETS]);
	}
	return NULL;
}

static void handlers_of_signals_may_change_sets(void **state)
{
	struct sigaction action = { .sa_handler = work_in_handler };
	struct ppi_label_look look;
	size_t first = 0, unknown = 0, known = 0;
	bool has_look;

	(void)state;
	make_sets();
	make_set_of_handler();
	sigaction(SIGUSR1, &action, NULL);
	ppi_label_times_begin();
	has_look = ppi_label_look_own(&look) && look.fd >= 0;
	atomic_store(&is_over, false);
	memset(workers, 0, sizeof(workers[0]));
	workers[0].seed = 7;
	assert_int_equal(pthread_create(&workers[0].id, NULL, work_interrupted,
	                                &workers[0]), 0);
	while (!atomic_load(&workers[0].tid))
		usleep(100);
	/* how many are too near to another change to be known is by the machine */
	for (unsigned i = 0; i < by_speed(3000, 10000, 18000) ||
	                     (has_look && known <= 100 && i < 18000); i++) {
		size_t count = atomic_load(&workers[0].count);

		pthread_kill(workers[0].id, SIGUSR1);
		while (atomic_load(&workers[0].count) == count)
			sched_yield();
		for (volatile unsigned j = 0; j < i % 500; j++)
			;
		if (has_look && i % 64 == 0)
			known += compare(&look, &workers[0], &first, &unknown);
	}
	end_all(1);
	signal(SIGUSR1, SIG_DFL);
	if (has_look) {
		known += compare(&look, &workers[0], &first, &unknown);
		ppi_label_look_close(&look);
	}
	ppi_label_times_end();
	print_message("%zu known, %zu unknown\n", known, unknown);
	assert_true(!has_look || known > 100);
}

/* The first change of a thread writes where nothing may be written just then, and
 * the handler of that runs in the middle of it. */
static struct {
	uint64_t at_ns;
	const portprof_label_set *seen;
	bool is_open;
} interruption;

static bool protect_store(int rights)
{
	struct ppi_label_store *store = ppi_label_store_own();
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return mprotect(store, (sizeof(*store) + page - 1) / page * page,
	                rights) == 0;
}

static void work_in_the_middle(int signo)
{
	const portprof_label_set *before;

	(void)signo;
	if (interruption.is_open || !protect_store(PROT_READ | PROT_WRITE))
		_exit(139);
	interruption.is_open = true;
	before = portprof_label_enter(of_handler);
	interruption.seen = portprof_label_current();
	interruption.at_ns = ppi_monotonic_ns();
	portprof_label_leave(before);
}

static void *begin_interrupted(void *context)
{
	struct worker *worker = context;

	atomic_store(&worker->tid, ppi_thread_id());
	interruption.is_open = !protect_store(PROT_READ);
	portprof_label_enter(sets[1]);
	take_note(worker, numbers[1]);
	portprof_label_leave(NULL);
	return NULL;
}

static void handlers_may_come_in_a_first_change(void **state)
{
	struct sigaction action = { .sa_handler = work_in_the_middle }, before;
	struct ppi_label_look look;
	struct worker *worker = &workers[0];

	(void)state;
	make_sets();
	make_set_of_handler();
	ppi_label_times_begin();
	usleep(1000);
	if (!ppi_label_look_own(&look) || look.fd < 0) {
		ppi_label_times_end();
		skip();
	}
	memset(worker, 0, sizeof(*worker));
	memset(&interruption, 0, sizeof(interruption));
	sigaction(SIGSEGV, &action, &before);
	assert_int_equal(pthread_create(&worker->id, NULL, begin_interrupted,
	                                worker), 0);
	pthread_join(worker->id, NULL);
	sigaction(SIGSEGV, &before, NULL);
	assert_true(interruption.at_ns > 0);
	assert_ptr_equal(interruption.seen, of_handler);
	assert_int_equal(ppi_label_look_find(&look, atomic_load(&worker->tid),
	                                     interruption.at_ns),
	                 number_of_handler);
	assert_int_equal(ppi_label_look_find(&look, atomic_load(&worker->tid),
	                                     worker->notes[0].time_ns),
	                 numbers[1]);
	ppi_label_look_close(&look);
	ppi_label_times_end();
}

static void ended_threads_have_no_set(void **state)
{
	int64_t tid;

	(void)state;
	make_sets();
	start_all(1);
	while (!(tid = atomic_load(&workers[0].tid)) || !ppi_label_now(tid))
		usleep(100);
	end_all(1);
	assert_int_equal(ppi_label_now(tid), 0);
}

/* Its number may be that of one that nobody saw end. */
static void *be_another(void *context)
{
	struct ppi_label_store *store = ppi_label_store_own();
	uint32_t at = atomic_fetch_add(&store->thread_count, 1);

	(void)context;
	atomic_store(&store->tids[at], (int32_t)ppi_thread_id());
	atomic_store(&store->threads[at].current, numbers[1]);
	atomic_store(&store->threads[at].began_ns, 1);
	portprof_label_enter(sets[2]);
	assert_int_equal(seen(), numbers[2]);
	return NULL; /* in the set */
}

static void threads_may_end_unseen_and_in_sets(void **state)
{
	uint32_t count;
	pthread_t id;

	(void)state;
	make_sets();
	count = atomic_load(&ppi_label_store_own()->thread_count);
	assert_int_equal(pthread_create(&id, NULL, be_another, NULL), 0);
	pthread_join(id, NULL);
	assert_int_equal(atomic_load(&ppi_label_store_own()->thread_count),
	                 count + 1);
	for (uint32_t i = 0; i <= count; i++)
		if (ppi_label_store_own()->tids[i] > 0)
			assert_int_equal(ppi_label_store_own()->tids[i],
			                 getpid());
}

static jmp_buf out_of_scopes;

static void jump(void)
{
	PORTPROF_LABEL_SCOPE(sets[2]);
	assert_int_equal(portprof_label_push("step", "last"), PORTPROF_OK);
	longjmp(out_of_scopes, 1);
}

/* As the page says: a jump leaves nothing, and what was current before is left to. */
static void jumps_leave_by_what_was_current(void **state)
{
	const portprof_label_set *volatile before;

	(void)state;
	make_sets();
	portprof_label_enter(sets[0]);
	assert_int_equal(portprof_label_push("step", "first"), PORTPROF_OK);
	before = portprof_label_current();
	if (setjmp(out_of_scopes) == 0)
		jump();
	assert_string_equal(text_seen(), "endpoint=/2 step=last");
	portprof_label_leave(before);
	assert_string_equal(text_seen(), "endpoint=/0 step=first");
	portprof_label_pop();
	assert_string_equal(text_seen(), "endpoint=/0");
	portprof_label_leave(NULL);
}

/* ---- bounds; last, as they stay ---- */

static void a_million_values_are_bounded(void **state)
{
	char value[24];
	const portprof_label_set *kept = set_of("endpoint", "/kept");
	unsigned others = 0, many = by_speed(20000, 100000, 1000000);

	(void)state;
	for (unsigned i = 0; i < many; i++) {
		snprintf(value, sizeof(value), "r%u", i);
		portprof_label_enter(set_of("request", value));
		others += strcmp(text_seen(), "request=(other)") == 0;
	}
	assert_true(others >= many - PPI_LABEL_SETS);
	assert_true(atomic_load(&ppi_label_store_own()->set_count) <=
	            PPI_LABEL_SETS);
	portprof_label_enter(kept);
	assert_string_equal(text_seen(), "endpoint=/kept");
	assert_int_equal(portprof_label_push("request", "one more"),
	                 PORTPROF_OK);
	assert_string_equal(text_seen(), "endpoint=(other) request=(other)");
	portprof_label_pop();
	assert_string_equal(text_seen(), "endpoint=/kept");
	portprof_label_leave(NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_nest_and_come_back),
		cmocka_unit_test(equal_sets_are_one),
		cmocka_unit_test(bad_sets_are_refused),
		cmocka_unit_test(pushes_add_and_pops_take_away),
		cmocka_unit_test(a_child_is_in_its_parents_set),
		cmocka_unit_test(
			a_child_of_a_bare_call_writes_nothing_of_its_parents),
		cmocka_unit_test(times_find_what_threads_were_in),
		cmocka_unit_test(beside_a_carried_time_nothing_is_guessed),
		cmocka_unit_test(handlers_of_signals_may_change_sets),
		cmocka_unit_test(handlers_may_come_in_a_first_change),
		cmocka_unit_test(ended_threads_have_no_set),
		cmocka_unit_test(threads_may_end_unseen_and_in_sets),
		cmocka_unit_test(jumps_leave_by_what_was_current),
		cmocka_unit_test(a_million_values_are_bounded),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
