/* SPDX-License-Identifier: MIT */
/* The ring of ticks: order, bounds, exact drops, many writers at once. */

#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <cmocka.h>

#include "backends/common/tick_ring.h"

enum { WRITERS = 8, TICKS_EACH = 20000 };

static struct ppi_tick tick_of(int64_t tid, uint64_t number)
{
	struct ppi_tick tick = { .pc = number * 3,
		                 .time_ns = number * 5,
		                 .weight = number * 7,
		                 .tid = tid };

	return tick;
}

static void assert_whole(const struct ppi_tick *tick)
{
	uint64_t number = tick->pc / 3;

	assert_int_equal(tick->pc, number * 3);
	assert_int_equal(tick->time_ns, number * 5);
	assert_int_equal(tick->weight, number * 7);
}

static void an_empty_ring_gives_nothing(void **state)
{
	struct ppi_pcring ring;
	struct ppi_tick tick;

	(void)state;
	assert_true(ppi_pcring_init(&ring, 4));
	assert_false(ppi_pcring_take(&ring, &tick));
	assert_int_equal(ppi_pcring_dropped(&ring), 0);
	ppi_pcring_free(&ring);
}

static void sizes_round_up_to_a_power_of_two(void **state)
{
	static const size_t asked[] = { 0, 1, 2, 3, 4, 5, 1000 };
	static const size_t got[] = { 2, 2, 2, 4, 4, 8, 1024 };
	struct ppi_tick tick = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		struct ppi_pcring ring;
		size_t held = 0;

		assert_true(ppi_pcring_init(&ring, asked[i]));
		while (ppi_pcring_put(&ring, &tick))
			held++;
		assert_int_equal(held, got[i]);
		assert_int_equal(ppi_pcring_dropped(&ring), 1);
		ppi_pcring_free(&ring);
	}
}

/* Many laps of a ring of four, with positions about to wrap. */
static void ticks_come_out_in_order_over_many_laps(void **state)
{
	struct ppi_pcring ring;
	struct ppi_tick tick;
	uint64_t in = 0, out = 0;

	(void)state;
	assert_true(ppi_pcring_init(&ring, 4));
	ring.tail = SIZE_MAX - 1001;
	ring.tail -= ring.tail & ring.mask;
	atomic_store(&ring.memory->head, ring.tail);
	for (size_t i = 0; i <= ring.mask; i++)
		atomic_store(&ring.memory->cells[i].turn, ring.tail);
	while (out < 3000) {
		for (uint64_t n = 0; n < 1 + in % 4; n++) {
			tick = tick_of(1, in);
			if (ppi_pcring_put(&ring, &tick))
				in++;
		}
		assert_true(ppi_pcring_take(&ring, &tick));
		assert_whole(&tick);
		assert_int_equal(tick.pc / 3, out++);
	}
	ppi_pcring_free(&ring);
}

static void a_full_ring_counts_each_drop(void **state)
{
	struct ppi_pcring ring;
	struct ppi_tick tick = tick_of(1, 1);

	(void)state;
	assert_true(ppi_pcring_init(&ring, 8));
	for (int i = 0; i < 8; i++)
		assert_true(ppi_pcring_put(&ring, &tick));
	for (uint64_t i = 1; i <= 1000; i++) {
		assert_false(ppi_pcring_put(&ring, &tick));
		assert_int_equal(ppi_pcring_dropped(&ring), i);
	}
	assert_true(ppi_pcring_take(&ring, &tick));
	assert_true(ppi_pcring_put(&ring, &tick));
	assert_false(ppi_pcring_put(&ring, &tick));
	assert_int_equal(ppi_pcring_dropped(&ring), 1001);
	ppi_pcring_free(&ring);
}

/* The count of handlers is size_t, which may wrap; the total may not. */
static void drops_are_counted_across_a_wrap(void **state)
{
	struct ppi_pcring ring;
	struct ppi_tick tick = { 0 };

	(void)state;
	assert_true(ppi_pcring_init(&ring, 2));
	atomic_store(&ring.memory->dropped, SIZE_MAX - 1);
	ring.dropped_seen = SIZE_MAX - 1;
	for (int i = 0; i < 2 + 5; i++)
		ppi_pcring_put(&ring, &tick);
	assert_int_equal(ppi_pcring_dropped(&ring), 5);
	ppi_pcring_free(&ring);
}

/* ---- many threads ---- */

struct writer {
	pthread_t thread;
	struct ppi_pcring *ring;
	int64_t tid;
	uint64_t put, dropped;
};

static _Atomic unsigned writers_running;

static void *write_ticks(void *argument)
{
	struct writer *writer = argument;

	for (uint64_t i = 0; i < TICKS_EACH; i++) {
		struct ppi_tick tick = tick_of(writer->tid, i);

		if (ppi_pcring_put(writer->ring, &tick))
			writer->put++;
		else
			writer->dropped++;
	}
	writers_running--;
	return NULL;
}

struct reader_account {
	uint64_t taken[WRITERS];
	uint64_t next[WRITERS]; /* least number that may come */
};

static void read_all(struct ppi_pcring *ring, struct reader_account *account)
{
	struct ppi_tick tick;

	while (ppi_pcring_take(ring, &tick)) {
		assert_in_range(tick.tid, 0, WRITERS - 1);
		assert_whole(&tick);
		assert_true(tick.pc / 3 >= account->next[tick.tid]);
		account->next[tick.tid] = tick.pc / 3 + 1;
		account->taken[tick.tid]++;
	}
}

static void run_writers(size_t cells, bool may_drop)
{
	struct writer writers[WRITERS];
	struct reader_account account = { 0 };
	struct ppi_pcring ring;
	uint64_t dropped = 0;

	assert_true(ppi_pcring_init(&ring, cells));
	writers_running = WRITERS;
	for (int i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){ .ring = &ring, .tid = i };
		assert_int_equal(pthread_create(&writers[i].thread, NULL,
		                                write_ticks, &writers[i]),
		                 0);
	}
	while (writers_running) {
		read_all(&ring, &account);
		sched_yield();
	}
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writers[i].thread, NULL);
	read_all(&ring, &account);
	for (int i = 0; i < WRITERS; i++) {
		assert_int_equal(writers[i].put + writers[i].dropped,
		                 TICKS_EACH);
		assert_int_equal(account.taken[i], writers[i].put);
		dropped += writers[i].dropped;
	}
	assert_int_equal(ppi_pcring_dropped(&ring), dropped);
	if (!may_drop)
		assert_int_equal(dropped, 0);
	ppi_pcring_free(&ring);
}

static void many_writers_lose_nothing_where_there_is_room(void **state)
{
	(void)state;
	run_writers((size_t)WRITERS * TICKS_EACH, false);
}

static void many_writers_drop_exactly_what_is_counted(void **state)
{
	(void)state;
	run_writers(64, true);
}

/* ---- from a signal handler, over a put that it interrupts ---- */

static struct ppi_pcring signal_ring;
static volatile sig_atomic_t handled;

static void put_from_handler(int signo)
{
	struct ppi_tick tick = tick_of(1, (uint64_t)handled);

	(void)signo;
	ppi_pcring_put(&signal_ring, &tick);
	handled = handled + 1;
}

/*
 * The main flow puts while a handler of the same thread puts, too: the one
 * interrupted between its claim and its publication must not be lost, and
 * must not stop the other.
 */
static void a_handler_may_interrupt_a_put(void **state)
{
	struct sigaction action = { .sa_handler = put_from_handler }, before;
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { 0 };
	uint64_t put = 0, dropped = 0, taken[2] = { 0, 0 };
	struct ppi_tick tick;

	(void)state;
	assert_true(ppi_pcring_init(&signal_ring, 256));
	sigemptyset(&action.sa_mask);
	assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	while (handled < 200) {
		tick = tick_of(0, put);
		if (ppi_pcring_put(&signal_ring, &tick))
			put++;
		else
			dropped++;
		while (dropped % 64 == 63 && ppi_pcring_take(&signal_ring, &tick)) {
			assert_whole(&tick);
			taken[tick.tid]++;
		}
	}
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	while (ppi_pcring_take(&signal_ring, &tick)) {
		assert_whole(&tick);
		taken[tick.tid]++;
	}
	assert_int_equal(taken[0], put);
	assert_int_equal(taken[0] + taken[1] + ppi_pcring_dropped(&signal_ring),
	                 put + dropped + (uint64_t)handled);
	ppi_pcring_free(&signal_ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_ring_gives_nothing),
		cmocka_unit_test(sizes_round_up_to_a_power_of_two),
		cmocka_unit_test(ticks_come_out_in_order_over_many_laps),
		cmocka_unit_test(a_full_ring_counts_each_drop),
		cmocka_unit_test(drops_are_counted_across_a_wrap),
		cmocka_unit_test(many_writers_lose_nothing_where_there_is_room),
		cmocka_unit_test(many_writers_drop_exactly_what_is_counted),
		cmocka_unit_test(a_handler_may_interrupt_a_put),
	};

	return cmocka_run_group_tests_name("pcring", tests, NULL, NULL);
}
