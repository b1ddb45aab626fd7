/* SPDX-License-Identifier: MIT */
/*
 * What the account of the perf backend stands on, on the simulated kernel and
 * on the one that runs here: which records a loss counts, and which part of a
 * sample is its event's own.
 */
#include "backends/perf/kernel/perf_attr.h"
#include "tests/sim/perf_sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PROCESSES = 200, FAULTS = 300, RING = 256 << 10 };

/* One kernel, and what a program can do on it. */
struct world {
	const struct perf_kernel *kernel;
	void (*make_processes)(void);
	void (*fault)(void);
};

static void make_real_processes(void)
{
	for (unsigned i = 0; i < PROCESSES; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		assert_true(child > 0);
		waitpid(child, NULL, 0);
	}
}

static void fault_really(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, FAULTS * page, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	madvise(memory, FAULTS * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < FAULTS; i++)
		((volatile char *)memory)[i * page] = 1;
	munmap(memory, FAULTS * page);
}

static void make_simulated_processes(void)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		perf_sim_exit(perf_sim_fork(perf_sim_main_tid()));
}

static void fault_simulated(void)
{
	perf_sim_page_faults(perf_sim_main_tid(), 0x1000, FAULTS);
}

static const struct world simulated = { &perf_sim_kernel,
	                                make_simulated_processes,
	                                fault_simulated };
static const struct world real = { &ppi_perf_kernel_real, make_real_processes,
	                           fault_really };

/* One event of the calling thread with a ring of its own. */
struct event {
	int fd;
	uint64_t id;
	void *address;
	size_t bytes;
};

static void open_event(const struct world *world, struct perf_event_attr *attr,
                       size_t ring_bytes, struct event *event)
{
	const struct perf_kernel *kernel = world->kernel;
	size_t page = kernel->get_page_bytes(kernel->self);

	event->fd = ppi_perf_open_attr(kernel, attr, 0, -1, -1);
	if (event->fd < 0 && world == &real)
		skip(); /* too old a kernel, or not for this user */
	assert_true(event->fd >= 0);
	event->bytes = (ring_bytes < page ? page : ring_bytes) + page;
	assert_int_equal(kernel->map(kernel->self, event->fd, event->bytes,
	                             &event->address), 0);
	assert_int_equal(kernel->control(kernel->self, event->fd,
	                                 PERF_EVENT_IOC_ID, &event->id), 0);
}

static void close_event(const struct world *world, struct event *event)
{
	const struct perf_kernel *kernel = world->kernel;

	kernel->unmap(kernel->self, event->address, event->bytes);
	kernel->close_event(kernel->self, event->fd, PERF_FRESH);
}

/* An event that never samples loses records all the same. */
static void check_that_losses_are_of_all_records(const struct world *world)
{
	const struct perf_kernel *kernel = world->kernel;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID,
		.read_format = PERF_READ_LOST,
		.sample_id_all = 1,
		.task = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct event event;
	uint64_t words[2];

	open_event(world, &attr, 4096, &event);
	world->make_processes();
	assert_int_equal(kernel->read_event(kernel->self, event.fd, words,
	                                    sizeof(words)), sizeof(words));
	close_event(world, &event);
	assert_int_equal(words[0], 0);
	assert_true(words[1] > 0);
}

/* Each sample: header, IDENTIFIER, then READ: count, id. */
static unsigned check_ring(const struct world *world, const struct event *event,
                           uint64_t period)
{
	size_t page = world->kernel->get_page_bytes(world->kernel->self);
	const struct perf_event_mmap_page *control = event->address;
	const char *data = (const char *)event->address + page;
	uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	unsigned samples = 0, foreign = 0;

	for (uint64_t at = 0; at < head;) {
		struct perf_event_header header;
		uint64_t words[3];

		memcpy(&header, data + at, sizeof(header));
		assert_int_equal(header.type, PERF_RECORD_SAMPLE);
		assert_int_equal(header.size, sizeof(header) + sizeof(words));
		memcpy(words, data + at + sizeof(header), sizeof(words));
		samples++;
		foreign += words[0] != event->id;
		assert_int_equal(words[1], samples * period);
		assert_int_equal(words[2], event->id);
		at += header.size;
	}
	assert_true(samples >= FAULTS / period);
	return foreign;
}

/* What an event reads is its own, under any id of the sample. */
static unsigned check_that_readings_are_its_own(const struct world *world)
{
	const struct perf_kernel *kernel = world->kernel;
	const uint64_t periods[2] = { 1, 3 };
	struct event events[2];
	unsigned foreign = 0;

	for (unsigned i = 0; i < 2; i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_PAGE_FAULTS,
			.sample_period = periods[i],
			.sample_type = PERF_SAMPLE_IDENTIFIER |
			               PERF_SAMPLE_READ,
			.read_format = PERF_FORMAT_ID,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.disabled = 1,
		};

		open_event(world, &attr, RING, &events[i]);
	}
	for (unsigned i = 0; i < 2; i++)
		kernel->control(kernel->self, events[i].fd,
		                PERF_EVENT_IOC_ENABLE, NULL);
	world->fault();
	for (unsigned i = 0; i < 2; i++)
		kernel->control(kernel->self, events[i].fd,
		                PERF_EVENT_IOC_DISABLE, NULL);
	for (unsigned i = 0; i < 2; i++)
		foreign += check_ring(world, &events[i], periods[i]);
	for (unsigned i = 0; i < 2; i++)
		close_event(world, &events[i]);
	return foreign;
}

static void losses_are_of_all_records(void **state)
{
	(void)state;
	perf_sim_reset();
	check_that_losses_are_of_all_records(&simulated);
	check_that_losses_are_of_all_records(&real);
}

static void readings_are_the_events_own(void **state)
{
	(void)state;
	perf_sim_reset();
	/* the worse of kernels: newer ones may mend it */
	assert_int_equal(check_that_readings_are_its_own(&simulated),
	                 FAULTS / 3);
	print_message("# %u foreign ids here\n",
	              check_that_readings_are_its_own(&real));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_are_of_all_records),
		cmocka_unit_test(readings_are_the_events_own),
	};

	return cmocka_run_group_tests_name("perf_facts", tests, NULL, NULL);
}
