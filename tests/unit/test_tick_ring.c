/* SPDX-License-Identifier: MIT */
/* Ticks with stacks: what a signal handler copies, and what the reader gets. */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "backends/common/tick_ring.h"

enum { STACK = 16384, LITTLE = 1024, WORDS = 8192, RECORDS = 8 };

static struct ppi_tick_ring ring;
static bool is_first;
static int puts_done, puts_kept;

static portprof_record records[RECORDS];
static uint64_t words[WORDS];
static struct ppi_room room;

static void handle(int signo, siginfo_t *info, void *context)
{
	const struct ppi_tick tick = { .pc = 7, .time_ns = 8, .weight = 9,
		                       .tid = 10 };

	(void)signo;
	(void)info;
	puts_done++;
	puts_kept += ppi_tick_ring_put(&ring, &tick, is_first, context);
}

static int set_up(void **state)
{
	struct sigaction action;
	const char *why;

	(void)state;
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = handle;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	room = (struct ppi_room){ records, RECORDS, 0, words, WORDS, 0 };
	is_first = true;
	puts_done = puts_kept = 0;
	return ppi_context_has_stack(&why) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	ppi_tick_ring_free(&ring);
	return 0;
}

static void make_ring(size_t stack_bytes, size_t bytes)
{
	const struct ppi_tick_ring_size size = { stack_bytes, 16, bytes };

	assert_true(ppi_tick_ring_make(&ring, &size));
}

/* The context of the record that was moved last. */
static const struct ppi_user_context *moved(void)
{
	const portprof_record *record = &records[room.record_count - 1];

	assert_true(record->valid & PPI_FIELD_CONTEXT);
	assert_false(record->valid & PORTPROF_FIELD_CHAIN);
	assert_int_equal(record->payload_words, 0);
	assert_int_equal(record->address, 7);
	assert_int_equal(record->weight, 9);
	assert_int_equal(record->pid, 5);
	assert_int_equal(record->tid, 10);
	return (const void *)(room.words + record->payload);
}

static const struct ppi_user_context *move_one(void)
{
	assert_int_equal(ppi_tick_ring_move(&ring, 5, &room), PPI_TICK_MOVED);
	return moved();
}

/* Where the copy begins in memory: at the stack pointer. */
static uint64_t start_of(const struct ppi_user_context *context)
{
#if defined(__x86_64__)
	return context->registers[7];
#else
	return context->registers[31];
#endif
}

static bool holds(const struct ppi_user_context *context, const void *what,
                  size_t bytes)
{
	uint64_t at = (uint64_t)(uintptr_t)what - start_of(context);

	return at < context->stack_bytes &&
	       bytes <= context->stack_bytes - at &&
	       memcmp((const char *)(context + 1) + at, what, bytes) == 0;
}

/* The same of the stack that was interrupted. */
static bool holds_interrupted(const struct ppi_user_context *context,
                              const void *what, size_t bytes)
{
	uint64_t at = (uint64_t)(uintptr_t)what - context->interrupted_start;

	return at < context->interrupted_bytes &&
	       bytes <= context->interrupted_bytes - at &&
	       memcmp((const char *)(context + 1) + context->stack_bytes + at,
	              what, bytes) == 0;
}

/* Memory that no other variable is in the place of. */
static __attribute__((noinline)) void tick_over(volatile char *mark)
{
	memcpy((char *)(uintptr_t)mark, "lies-here", 10);
	raise(SIGUSR1);
	assert_string_equal((const char *)(uintptr_t)mark, "lies-here");
}

static void the_first_threads_stack_is_copied_to_its_end(void **state)
{
	const struct ppi_user_context *context;
	char mark[16];

	(void)state;
	make_ring(63 << 10, 0);
	room.words = calloc(WORDS * 2, 8);
	room.word_room = WORDS * 2;
	tick_over(mark);
	assert_int_equal(ppi_tick_ring_move(&ring, 5, &room), PPI_TICK_MOVED);
	context = (const void *)(room.words + records[0].payload);
	assert_true(context->known);
	assert_true(holds(context, mark, sizeof("lies-here")));
	assert_true(context->is_stack_all);
	assert_true(start_of(context) + context->stack_bytes <=
	            ring.bounds.main_end);
	assert_true(start_of(context) + context->stack_bytes + 8 >
	            ring.bounds.main_end);
	assert_int_equal(ppi_tick_ring_move(&ring, 5, &room), PPI_TICK_NONE);
	free(room.words);
}

static void a_copy_is_as_long_as_was_asked(void **state)
{
	const struct ppi_user_context *context;
	char mark[16], apart[2 * LITTLE];

	(void)state;
	make_ring(LITTLE, 0);
	memset(apart, 1, sizeof(apart));
	tick_over(mark);
	context = move_one();
	assert_int_equal(context->stack_bytes, LITTLE);
	assert_false(context->is_stack_all);
	assert_int_equal(apart[LITTLE], 1);
}

static void *tick_in_thread(void *mark)
{
	char here[16];

	is_first = false;
	tick_over(here);
	memcpy(mark, here, sizeof(here));
	assert_true(holds(move_one(), here, sizeof("lies-here")));
	return NULL;
}

static void another_threads_stack_is_copied_to_its_end(void **state)
{
	char mark[16];
	pthread_t thread;

	(void)state;
	make_ring(STACK, 0);
	assert_int_equal(pthread_create(&thread, NULL, tick_in_thread, mark),
	                 0);
	pthread_join(thread, NULL);
	assert_true(moved()->is_stack_all);
	assert_in_range(moved()->stack_bytes, 64, STACK);
}

/* ---- other stacks ---- */

enum { OTHER = 65536 };

static void tick_on_other(int signo, siginfo_t *info, void *context)
{
	char here[16];

	(void)signo;
	(void)info;
	(void)context;
	tick_over(here);
	assert_true(holds(move_one(), here, sizeof("lies-here")));
}

/* Have `handler` called on an alternate stack, whose end is returned. */
static uint64_t raise_on_other(void (*handler)(int, siginfo_t *, void *))
{
	stack_t before, other = { .ss_size = OTHER };
	struct sigaction action;
	uint64_t end;

	other.ss_sp = malloc(OTHER);
	end = (uint64_t)(uintptr_t)other.ss_sp + OTHER;
	assert_int_equal(sigaltstack(&other, &before), 0);
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
	sigaltstack(&before, NULL);
	free(other.ss_sp);
	return end;
}

static void an_alternate_stack_ends_where_it_does(void **state)
{
	uint64_t end;

	(void)state;
	make_ring(STACK, 0);
	end = raise_on_other(tick_on_other);
	assert_true(moved()->is_stack_all);
	assert_int_equal(start_of(moved()) + moved()->stack_bytes, end);
}

/* Interrupted here, with a mark that the copy is to hold. */
static __attribute__((noinline)) void mark_and_raise(volatile char *mark)
{
	memcpy((char *)(uintptr_t)mark, "is-below", 9);
	raise_on_other(tick_on_other);
	assert_true(holds_interrupted(moved(), (char *)(uintptr_t)mark, 9));
}

static void so_is_what_its_handler_interrupted(void **state)
{
	char mark[16];

	(void)state;
	make_ring(63 << 10, 0);
	room.words = calloc(WORDS * 2, 8);
	room.word_room = WORDS * 2;
	mark_and_raise(mark);
	assert_true(moved()->is_interrupted_all);
	assert_in_range(moved()->interrupted_start +
	                moved()->interrupted_bytes,
	                ring.bounds.main_end - 7, ring.bounds.main_end);
	/* on a usual stack there is no other */
	tick_over(mark);
	room.record_count = room.word_count = 0;
	assert_int_equal(move_one()->interrupted_start, 0);
	assert_int_equal(moved()->interrupted_bytes, 0);
	free(room.words);
}

static void *interrupt_thread(void *unused)
{
	char mark[16];

	is_first = false;
	mark_and_raise(mark);
	return unused;
}

static void so_it_is_in_another_thread(void **state)
{
	pthread_t thread;

	(void)state;
	make_ring(STACK, 0);
	assert_int_equal(pthread_create(&thread, NULL, interrupt_thread, NULL),
	                 0);
	pthread_join(thread, NULL);
	assert_true(moved()->is_interrupted_all);
	assert_in_range(moved()->interrupted_bytes, 64, STACK);
}

static void tick_and_copy(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)info;
	(void)context;
	raise(SIGUSR1);
}

static void two_stacks_have_the_room_of_one(void **state)
{
	char apart[2 * STACK];

	(void)state;
	make_ring(STACK, 0);
	memset(apart, 1, sizeof(apart));
	raise_on_other(tick_and_copy);
	assert_int_equal(move_one()->stack_bytes +
	                 moved()->interrupted_bytes, STACK);
	assert_true(moved()->is_stack_all);
	assert_false(moved()->is_interrupted_all);
	tear_down(NULL);
	/* none is left: what was interrupted is known all the same */
	make_ring(LITTLE, 0);
	raise_on_other(tick_and_copy);
	assert_int_equal(move_one()->stack_bytes, LITTLE);
	assert_int_equal(moved()->interrupted_bytes, 0);
	assert_true(moved()->interrupted_start);
	assert_false(moved()->is_interrupted_all);
	assert_int_equal(apart[STACK], 1);
}

/* The handler of what `lie` says was interrupted. */
static uint64_t lie;

static void tick_with_lie(int signo, siginfo_t *info, void *context)
{
#if defined(__linux__) && defined(__x86_64__)
	greg_t *pointer = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
#elif defined(__linux__) && defined(__aarch64__)
	unsigned long long *pointer =
		&((ucontext_t *)context)->uc_mcontext.sp;
#else /* stacks are not copied: main skips */
	uint64_t *pointer = context;
#endif
	uint64_t kept = (uint64_t)*pointer;

	(void)signo;
	(void)info;
	memcpy(pointer, &lie, sizeof(lie));
	raise(SIGUSR1);
	memcpy(pointer, &kept, sizeof(kept));
}

static void *tick_with_lies(void *memory)
{
	is_first = false;
	lie = (uint64_t)(uintptr_t)memory + 64;
	raise_on_other(tick_with_lie);
	lie = (uint64_t)(uintptr_t)&lie;
	raise_on_other(tick_with_lie);
	return NULL;
}

/* Where the thread's stack cannot be read, and where no stack is. */
static void an_interrupted_stack_that_is_gone_is_not_read(void **state)
{
	char *memory = mmap(NULL, 8 * OTHER, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;

	(void)state;
	make_ring(STACK, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(memory, OTHER, PROT_NONE), 0);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, memory + OTHER, 7 * OTHER);
	assert_int_equal(pthread_create(&thread, &attr, tick_with_lies, memory),
	                 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	assert_int_equal(puts_kept, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(move_one()->interrupted_bytes, 0);
		assert_int_equal(moved()->interrupted_start, 0);
	}
	munmap(memory, 8 * OTHER);
}

#ifdef HAVE_MAKECONTEXT
static ucontext_t back, coroutine;

static void run_coroutine(void)
{
	raise(SIGUSR1);
}

/* Nothing says how far it goes: above it nothing may be mapped. */
static void of_an_unknown_stack_nothing_is_read(void **state)
{
	char *memory = mmap(NULL, 2 * OTHER, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	make_ring(STACK, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(memory + OTHER, OTHER, PROT_NONE), 0);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = memory;
	coroutine.uc_stack.ss_size = OTHER;
	coroutine.uc_link = &back;
	makecontext(&coroutine, run_coroutine, 0);
	assert_int_equal(swapcontext(&back, &coroutine), 0);
	assert_int_equal(puts_kept, 1);
	assert_int_equal(move_one()->stack_bytes, 0);
	assert_true(moved()->is_stack_all);
	assert_in_range(start_of(moved()), (uintptr_t)memory,
	                (uintptr_t)memory + OTHER);
	munmap(memory, 2 * OTHER);
}
#endif

/* ---- rings ---- */

static void what_finds_no_room_is_counted(void **state)
{
	const int all = 200;
	int kept = 0;

	(void)state;
	make_ring(LITTLE, 1);
	for (int i = 0; i < all; i++)
		raise(SIGUSR1);
	assert_int_equal(puts_done, all);
	assert_in_range(puts_kept, 1, all - 1);
	assert_int_equal(ppi_tick_ring_dropped(&ring), all - puts_kept);
	while (ppi_tick_ring_move(&ring, 5, &room) == PPI_TICK_MOVED) {
		room.record_count = room.word_count = 0;
		kept++;
	}
	assert_int_equal(kept, puts_kept);
	raise(SIGUSR1);
	assert_int_equal(ppi_tick_ring_dropped(&ring), all - kept);
	assert_int_equal(ppi_tick_ring_head(&ring) > ppi_tick_ring_tail(&ring),
	                 1);
}

static void what_the_room_cannot_take_stays(void **state)
{
	(void)state;
	make_ring(LITTLE, 0);
	raise(SIGUSR1);
	raise(SIGUSR1);
	room.word_room = (sizeof(struct ppi_user_context) + LITTLE) / 8 + 1;
	move_one();
	assert_int_equal(ppi_tick_ring_move(&ring, 5, &room),
	                 PPI_TICK_NO_ROOM);
	room.record_count = room.word_count = 0;
	move_one();
	assert_int_equal(ppi_tick_ring_move(&ring, 5, &room), PPI_TICK_NONE);
}

/* A room for shorter stacks: the sample comes without. */
static void a_stack_that_fits_no_room_is_left_out(void **state)
{
	(void)state;
	make_ring(STACK, 0);
	raise(SIGUSR1);
	room.word_room = 32;
	assert_int_equal(ppi_tick_ring_move(&ring, 5, &room), PPI_TICK_MOVED);
	assert_int_equal(records[0].valid & PPI_FIELD_CONTEXT, 0);
	assert_int_equal(records[0].weight, 9);
}

/* The other process may write what it likes. */
static void a_stack_is_no_longer_than_its_message(void **state)
{
	struct ppi_user_context *told;
	size_t bytes, honest;

	(void)state;
	make_ring(LITTLE, 0);
	raise(SIGUSR1);
	told = (void *)((char *)(uintptr_t)ppi_stream_peek(&ring.stacks, &bytes) +
	                sizeof(struct ppi_tick));
	honest = told->stack_bytes;
	told->stack_bytes = UINT32_MAX;
	told->interrupted_bytes = UINT32_MAX;
	told->caller_count = UINT64_MAX;
	assert_int_equal(move_one()->stack_bytes, honest);
	assert_int_equal(moved()->caller_count, 0);
	assert_int_equal(moved()->interrupted_bytes, 0);
}

static void without_stacks_ticks_are_as_ever(void **state)
{
	(void)state;
	make_ring(0, 0);
	raise(SIGUSR1);
	assert_int_equal(ppi_tick_ring_head(&ring), 1);
	assert_int_equal(ppi_tick_ring_move(&ring, 5, &room), PPI_TICK_MOVED);
	assert_int_equal(ppi_tick_ring_tail(&ring), 1);
	assert_int_equal(records[0].valid & PPI_FIELD_CONTEXT, 0);
	assert_int_equal(records[0].tid, 10);
	assert_int_equal(room.word_count, 0);
}

/* ---- in shared memory ---- */

static unsigned drained(struct ppi_backend_session *bs)
{
	unsigned samples = 0;

	room.record_count = room.word_count = 0;
	assert_int_equal(bs->ops->drain(bs, &room), PORTPROF_OK);
	for (size_t i = 0; i < room.record_count; i++)
		samples += records[i].kind == PORTPROF_RECORD_SAMPLE;
	return samples;
}

/* The code that a sample fell on is known when it is unwound: it waits until
 * the process has looked for modules after it. */
static void a_stack_waits_for_the_code_it_fell_on(void **state)
{
	struct ppi_event event = { .rate_hz = 100, .is_cpu_time = true };
	struct ppi_plan plan = { .events = &event, .event_count = 1,
		                 .chain_depth = 8, .stack_bytes = LITTLE };
	struct ppi_backend_session bs = { .ops = &ppi_backend_collect,
		                          .plan = &plan };
	struct ppi_area *area;
	size_t bytes, stack_bytes;
	struct ppi_diag why;
	uint64_t place;
	void *memory;

	(void)state;
	bs.state = calloc(1, bs.ops->state_size);
	bs.owner_pid = getpid();
	assert_int_equal(ppi_areas_open(&bs.pool, &why), PORTPROF_OK);
	assert_int_equal(bs.ops->open(&bs, &why), PORTPROF_OK);
	assert_int_equal(ppi_area_take(ppi_areas_name(bs.pool), &area, &why),
	                 PORTPROF_OK);
	memory = ppi_area_ring(area, &bytes, &stack_bytes);
	assert_int_equal(stack_bytes, LITTLE);
	ppi_tick_ring_use(&ring, stack_bytes, memory, bytes, true);
	raise(SIGUSR1);
	place = ppi_tick_ring_head(&ring);
	raise(SIGUSR1);
	assert_int_equal(puts_kept, 2);
	assert_int_equal(drained(&bs), 0);
	ppi_area_mark(area, place);
	assert_int_equal(drained(&bs), 1);
	assert_int_equal(drained(&bs), 0);
	ppi_area_mark(area, ppi_tick_ring_head(&ring));
	assert_int_equal(drained(&bs), 1);
	bs.ops->close(&bs);
	ppi_area_leave(area);
	ppi_areas_release(bs.pool);
	free(bs.state);
}

#define CASE(function) \
	cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(the_first_threads_stack_is_copied_to_its_end),
		CASE(a_copy_is_as_long_as_was_asked),
		CASE(another_threads_stack_is_copied_to_its_end),
		CASE(an_alternate_stack_ends_where_it_does),
		CASE(so_is_what_its_handler_interrupted),
		CASE(so_it_is_in_another_thread),
		CASE(two_stacks_have_the_room_of_one),
		CASE(an_interrupted_stack_that_is_gone_is_not_read),
#ifdef HAVE_MAKECONTEXT /* musl has none */
		CASE(of_an_unknown_stack_nothing_is_read),
#endif
		CASE(what_finds_no_room_is_counted),
		CASE(what_the_room_cannot_take_stays),
		CASE(a_stack_that_fits_no_room_is_left_out),
		CASE(a_stack_is_no_longer_than_its_message),
		CASE(without_stacks_ticks_are_as_ever),
		CASE(a_stack_waits_for_the_code_it_fell_on),
	};
	const char *why;

	if (!ppi_context_has_stack(&why)) {
		print_message("skip: %s\n", why);
		return 77;
	}
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("tick ring", tests, NULL, NULL);
}
