/* SPDX-License-Identifier: MIT */
/*
 * The second of a group is sampled: each page fault, with the CPU time at which it
 * was. What a page costs is the time between two of them.
 *
 * usage: 08_group_values
 */
#include <portprof.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 512 };

struct faults {
	uint64_t count, first_ns, last_ns;
};

static void die(const char *doing)
{
	fprintf(stderr, "08_group_values: %s: %s\n", doing,
	        portprof_last_diag()->words);
	exit(1);
}

/* Values come in the order of the group: the clock's, then the faults'. */
static void take(const portprof_batch *batch, void *context)
{
	struct faults *faults = (struct faults *)context;

	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record =
			portprof_batch_record(batch, i);
		const uint64_t *values;
		size_t count;

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		values = portprof_batch_values(batch, record, &count);
		if (!values || count != 2)
			continue;
		if (faults->count == 0)
			faults->first_ns = values[0];
		faults->last_ns = values[0];
		faults->count = values[1];
	}
}

static void touch_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = (volatile char *)mmap(
		NULL, PAGES * page, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	for (size_t i = 0; i < PAGES; i++)
		memory[i * page] = 1;
	munmap((void *)memory, PAGES * page);
}

int main(void)
{
	portprof_config *config = portprof_config_new();
	struct faults faults = { 0, 0, 0 };
	portprof_session *session;
	portprof_stats stats = { .size = sizeof(stats) };

	if (!config ||
	    portprof_config_add_event(config,
	                              "{task-clock,page-faults:period=1}") ||
	    portprof_config_set_number(config, "fields",
	                               PORTPROF_FIELD_GROUP_VALUES) ||
	    portprof_config_set_target(config, PORTPROF_TARGET_THREAD, 0) ||
	    portprof_config_add_callback(config, take, &faults))
		die("configuring");
	if (portprof_session_open(config, &session))
		die("opening");
	portprof_config_free(config);
	if (portprof_session_start(session))
		die("starting");
	touch_pages();
	if (portprof_session_stop(session) ||
	    portprof_session_stats(session, 1, &stats))
		die("stopping");
	printf("%" PRIu64 " samples of %" PRIu64 " faults, %.0f ns of CPU time "
	       "each\n", stats.kept_samples, faults.count,
	       faults.count > 1 ? (double)(faults.last_ns - faults.first_ns) /
	                          (double)(faults.count - 1) : 0.0);
	if (portprof_session_close(session))
		die("closing");
	return 0;
}
