/* SPDX-License-Identifier: MIT */
/*
 * Sampling an event other than CPU time, and taking the samples while the
 * program runs: where in the program page faults happen.
 *
 * usage: 05_events [EVENT]     such as: 05_events cache-misses:u@10007
 *
 * Each sample comes with its weight, the number of events it stands for, and
 * with the program counter that caused it.
 */
#include <portprof.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLACES_MAX = 64, MEGABYTES = 16 };

/* A program counter and what fell on it. */
struct place {
	uint64_t address, weight;
};

/* The last one is for all that have no room of their own. */
struct places {
	struct place list[PLACES_MAX + 1];
	size_t count;
};

static void die(const char *doing)
{
	fprintf(stderr, "05_events: %s: %s\n", doing,
	        portprof_last_diag()->words);
	exit(1);
}

/* Touch fresh memory, a byte a page: each first touch is a page fault. */
static void work(void)
{
	size_t bytes = (size_t)MEGABYTES << 20;
	volatile char *memory = (volatile char *)malloc(bytes);

	if (!memory)
		return;
	for (size_t i = 0; i < bytes; i += 4096)
		memory[i] = 1;
	free((void *)memory);
}

/* Called with a batch of records: by portprof's own thread while the session
 * runs, by stop for the last ones; never by two threads at a time. */
static void take(const portprof_batch *batch, void *context)
{
	struct places *places = (struct places *)context;

	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);
		size_t at = 0;

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		while (at < places->count &&
		       places->list[at].address != record->address)
			at++;
		if (at == places->count && at < PLACES_MAX) {
			places->list[at].address = record->address;
			places->count++;
		}
		places->list[at].weight += record->weight;
	}
}

static int compare_places(const void *left, const void *right)
{
	const struct place *a = (const struct place *)left;
	const struct place *b = (const struct place *)right;

	return a->weight < b->weight ? 1 : a->weight > b->weight ? -1 : 0;
}

int main(int argc, char **argv)
{
	static struct places places;
	const char *event = argc > 1 ? argv[1] : "page-faults";
	portprof_config *config = portprof_config_new();
	portprof_session *session;
	portprof_stats stats = { 0 };

	stats.size = sizeof(stats);
	if (!config || portprof_config_add_event(config, event) ||
	    portprof_config_add_callback(config, take, &places))
		die("configuring");
	if (portprof_session_open(config, &session))
		die("opening");
	portprof_config_free(config);
	if (portprof_session_start(session))
		die("starting");
	work();
	if (portprof_session_stop(session) ||
	    portprof_session_stats(session, 0, &stats))
		die("stopping");
	printf("%s: %" PRIu64 " in %" PRIu64 " samples by %s\n", event,
	       stats.kept_weight, stats.kept_samples,
	       portprof_session_backend(session));
	qsort(places.list, places.count, sizeof(places.list[0]),
	      compare_places);
	for (size_t i = 0; i < places.count && i < 5; i++)
		printf("%10" PRIu64 " at 0x%" PRIx64 "\n",
		       places.list[i].weight, places.list[i].address);
	if (portprof_session_close(session))
		die("closing");
	return 0;
}
