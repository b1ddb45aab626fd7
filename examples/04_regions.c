/* SPDX-License-Identifier: MIT */
/*
 * What the parts of a program count: regions begin and end by name, in any
 * thread, inside one another, as often as one likes.
 *
 * usage: 04_regions [EVENT]...     such as: 04_regions cycles:u instructions:u
 */
#include <portprof.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, TURNS = 20, PAGES = 256 };

/* Fresh memory, a byte a page: each first touch is a page fault. */
static void fill(void)
{
	volatile char *memory = (volatile char *)malloc(PAGES * 4096);

	portprof_region_begin(NULL, "fill");
	for (size_t i = 0; memory && i < PAGES; i++)
		memory[i * 4096] = 1;
	portprof_region_end(NULL, "fill");
	free((void *)memory);
}

static void *work(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < TURNS; i++) {
		portprof_region_begin(NULL, "turn");
		fill();
		portprof_region_end(NULL, "turn");
	}
	return NULL;
}

static int show(const portprof_region_info *region, void *context)
{
	portprof_event_info event = { 0 };

	(void)context;
	event.size = sizeof(event);
	printf("%-8s %4" PRIu64 " calls in %" PRIu64 " threads", region->name,
	       region->calls, region->threads);
	for (size_t i = 0; i < region->count; i++) {
		const portprof_count *count = &region->counts[i];

		if (portprof_regions_event(NULL, i, &event))
			continue;
		if (count->status > PORTPROF_COUNT_SCALED)
			printf("   %s: not counted", event.canonical);
		else
			printf("   %s: %s%" PRIu64, event.canonical,
			       count->status ? "about " : "", count->scaled);
	}
	putchar('\n');
	return 0;
}

int main(int argc, char **argv)
{
	portprof_config *config = portprof_config_new();
	portprof_status status = config ? PORTPROF_OK : PORTPROF_E_NOMEM;
	pthread_t threads[THREADS];

	for (int i = 1; i < argc && status == PORTPROF_OK; i++)
		status = portprof_config_add_event(config, argv[i]);
	if (argc < 2 && status == PORTPROF_OK)
		status = portprof_config_add_event(config, "task-clock");
	if (argc < 2 && status == PORTPROF_OK)
		status = portprof_config_add_event(config, "page-faults");
	if (status == PORTPROF_OK)
		status = portprof_regions_open(config, NULL);
	portprof_config_free(config);
	if (status) /* and go on: regions do nothing then */
		fprintf(stderr, "04_regions: nothing is counted: %s\n",
		        portprof_last_diag()->words);
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (status == PORTPROF_OK)
		portprof_regions_read(NULL, 0, show, NULL);
	portprof_regions_close(NULL);
	return 0;
}
