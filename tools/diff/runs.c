/* SPDX-License-Identifier: MIT */
/* Several runs of one side: their sum as one profile, their mean, and each. */
#include "config.h"

#include "tools/diff/runs.h"

#include "tools/input.h"
#include "tools/tools.h"
#include "tools/view/names.h"

#include <stdlib.h>
#include <string.h>

/* What the sum held once this run was in it. Merging adds samples behind those
 * that are there, so a sample keeps its number. */
struct ppi_run {
	uint64_t *weights; /* by sample and event */
	size_t samples;
	uint64_t *totals;  /* by event; of this run alone */
	bool is_counted;   /* the totals, not summed from samples */
};

static bool note_run(struct ppi_runs *runs, struct ppi_run *run)
{
	size_t events = portprof_profile_event_count(runs->profile);
	size_t count = portprof_profile_sample_count(runs->profile);

	run->weights = calloc(count * events + 1, sizeof(*run->weights));
	run->samples = count;
	if (!run->weights)
		return false;
	for (size_t i = 0; i < count; i++)
		memcpy(run->weights + i * events,
		       portprof_profile_sample_get(runs->profile, i)->weights,
		       events * sizeof(*run->weights));
	return true;
}

static bool has_counts(const portprof_profile *profile)
{
	size_t events = portprof_profile_event_count(profile);

	for (size_t e = 0; e < events; e++)
		if (!portprof_profile_event_get(profile, e)->has_stats)
			return false;
	return true;
}

/* With what no sample stands for, where the writer knew it. */
static uint64_t *totals_of(const portprof_profile *profile)
{
	size_t events = portprof_profile_event_count(profile);
	uint64_t *totals = calloc(events + 1, sizeof(*totals));
	const portprof_profile_sample *sample;

	for (size_t e = 0; totals && e < events; e++) {
		const portprof_profile_event *event =
			portprof_profile_event_get(profile, e);

		if (event->has_stats) {
			totals[e] = event->stats.total_weight;
			continue;
		}
		for (size_t i = 0; (sample = portprof_profile_sample_get(
					    profile, i)) != NULL; i++)
			totals[e] += sample->weights[e];
	}
	return totals;
}

static bool add_run(struct ppi_runs *runs, size_t number,
                    portprof_profile *profile)
{
	struct ppi_run *run = &runs->runs[number];
	bool is_good;

	run->totals = totals_of(profile);
	run->is_counted = has_counts(profile);
	if (number == 0) {
		runs->profile = profile;
	} else {
		portprof_status status =
			portprof_profile_merge(runs->profile, profile);

		portprof_profile_free(profile);
		if (status != PORTPROF_OK) {
			ppi_say("'%s' is no other run of '%s': %s",
			        runs->paths[number], runs->paths[0],
			        portprof_last_diag()->words);
			return false;
		}
	}
	is_good = run->totals && note_run(runs, run);
	if (!is_good)
		ppi_say("out of memory");
	return is_good;
}

bool ppi_runs_read(struct ppi_runs *runs, const char *root,
                   uint64_t memory_max)
{
	uint64_t duration_ns;

	if (runs->count > 1) {
		runs->runs = calloc(runs->count, sizeof(*runs->runs));
		if (!runs->runs) {
			ppi_say("out of memory");
			return false;
		}
	}
	for (size_t i = 0; i < runs->count; i++) {
		portprof_profile *profile =
			ppi_profile_open(runs->paths[i], NULL, memory_max);

		if (!profile)
			return false;
		ppi_names_by_time(profile, root, NULL);
		if (!runs->runs)
			runs->profile = profile;
		else if (!add_run(runs, i, profile))
			return false;
	}
	duration_ns = portprof_profile_origin_get(runs->profile)->duration_ns;
	return !runs->runs ||
	       portprof_profile_set_times(runs->profile, 0,
	                                  duration_ns / runs->count) ==
		       PORTPROF_OK;
}

void ppi_runs_free(struct ppi_runs *runs)
{
	for (size_t i = 0; runs->runs && i < runs->count; i++) {
		free(runs->runs[i].weights);
		free(runs->runs[i].totals);
	}
	free(runs->runs);
	portprof_profile_free(runs->profile);
}

bool ppi_runs_mean(const struct ppi_runs *runs, struct ppi_subject *subject)
{
	return runs->count < 2 ||
	       ppi_subject_to_mean(runs->profile, runs->count, subject);
}

/* ---- one of them ---- */

/* The numbers of the events that a subject is made of. */
static size_t events_of(const struct ppi_runs *runs,
                        const struct ppi_subject *subject,
                        size_t events[PPI_STATES])
{
	size_t found[PPI_STATES], count = 0;

	if (!subject->is_joined) {
		events[0] = subject->event;
		return 1;
	}
	ppi_wall_find(runs->profile, found);
	for (int i = 0; i < PPI_STATES; i++)
		if (subject->states & 1u << i)
			events[count++] = found[i];
	return count;
}

/* Of the sum after so many runs. */
static uint64_t sum_at(const struct ppi_runs *runs, size_t number, size_t sample,
                       size_t event)
{
	const struct ppi_run *run = number ? &runs->runs[number - 1] : NULL;

	if (!run || sample >= run->samples)
		return 0;
	return run->weights[sample *
	                            portprof_profile_event_count(runs->profile) +
	                    event];
}

uint64_t *ppi_runs_weights(const struct ppi_runs *runs, size_t from, size_t to,
                           const struct ppi_subject *subject)
{
	size_t samples = portprof_profile_sample_count(runs->profile);
	uint64_t *weights = calloc(samples + 1, sizeof(*weights));
	size_t events[PPI_STATES];
	size_t count = events_of(runs, subject, events);

	for (size_t i = 0; weights && i < samples; i++)
		for (size_t e = 0; e < count; e++)
			weights[i] += sum_at(runs, to, i, events[e]) -
			              sum_at(runs, from, i, events[e]);
	return weights;
}

double ppi_runs_total(const struct ppi_runs *runs, size_t run,
                      const struct ppi_subject *subject)
{
	size_t events[PPI_STATES];
	size_t count = events_of(runs, subject, events);
	double total = 0;

	for (size_t e = 0; e < count; e++)
		total += (double)runs->runs[run].totals[events[e]];
	return total;
}

bool ppi_runs_are_counted(const struct ppi_runs *runs,
                          const struct ppi_subject *subject)
{
	if (subject->is_joined)
		return false;
	if (!runs->runs)
		return portprof_profile_event_get(runs->profile, subject->event)
			->has_stats;
	for (size_t i = 0; i < runs->count; i++)
		if (!runs->runs[i].is_counted)
			return false;
	return true;
}
