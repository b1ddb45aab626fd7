/* SPDX-License-Identifier: MIT */
/* Running, ready and blocked time: found in a profile, added up, and weighted by
 * how many CPUs were in use. */
#include "config.h"

#include "tools/view/wall.h"

#include "base/vector.h"
#include "tools/input.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- events and labels ---- */

static const char *const state_names[PPI_STATES] = {
	[PPI_RUNNING] = "running",
	[PPI_READY] = "ready",
	[PPI_BLOCKED] = "blocked",
};

static const char *const event_names[PPI_STATES] = {
	[PPI_READY] = "ready-time",
	[PPI_BLOCKED] = "blocked-time",
};

static const char *const tag_names[PPI_TAGS] = {
	[PPI_TAG_STATE] = "state",
	[PPI_TAG_WAIT] = "wait",
	[PPI_TAG_ON] = "on",
	[PPI_TAG_HOLDER] = "holder",
};

const char *ppi_state_name(enum ppi_state state)
{
	return state_names[state];
}

const char *ppi_tag_name(enum ppi_tag tag)
{
	return tag_names[tag];
}

/* "blocked-time" and "blocked-time:freq=100". */
static bool is_event(const char *name, const char *wanted)
{
	size_t length = strcspn(name, ":");

	return strlen(wanted) == length && strncmp(name, wanted, length) == 0;
}

static enum ppi_state state_of(const portprof_profile_event *event)
{
	if (event->unit != PORTPROF_UNIT_NANOSECONDS)
		return PPI_STATES;
	for (int i = PPI_READY; i < PPI_STATES; i++)
		if (is_event(event->name, event_names[i]))
			return (enum ppi_state)i;
	return PPI_RUNNING;
}

/* The first of each; of files by others the first clock is that of CPU time. */
bool ppi_wall_find(const portprof_profile *profile, size_t events[PPI_STATES])
{
	const portprof_profile_event *event;

	for (int i = 0; i < PPI_STATES; i++)
		events[i] = SIZE_MAX;
	for (size_t i = 0;
	     (event = portprof_profile_event_get(profile, i)) != NULL; i++) {
		enum ppi_state state = state_of(event);

		if (state < PPI_STATES && events[state] == SIZE_MAX)
			events[state] = i;
	}
	return events[PPI_READY] != SIZE_MAX || events[PPI_BLOCKED] != SIZE_MAX;
}

unsigned ppi_wall_states(const portprof_profile *profile)
{
	size_t events[PPI_STATES];
	unsigned states = 0;

	if (!ppi_wall_find(profile, events))
		return 0;
	for (unsigned i = 0; i < PPI_STATES; i++)
		if (events[i] != SIZE_MAX)
			states |= 1u << i;
	return states;
}

void ppi_tag_open(struct ppi_labels *labels, const portprof_profile *profile,
                  enum ppi_tag tag)
{
	ppi_labels_open(labels, profile, tag_names[tag]);
	labels->missing = "";
	if (tag == PPI_TAG_STATE || tag == PPI_TAG_WAIT)
		labels->missing = state_names[PPI_RUNNING];
	if (tag == PPI_TAG_WAIT)
		labels->second = tag_names[PPI_TAG_STATE];
}

/* ---- several states as one ---- */

void ppi_subject_of_event(const portprof_profile *profile, size_t event,
                          struct ppi_subject *subject)
{
	size_t events[PPI_STATES];

	*subject = (struct ppi_subject){ .event = event };
	if (!ppi_wall_find(profile, events))
		return;
	for (unsigned i = 0; i < PPI_STATES; i++)
		if (events[i] == event)
			subject->states = 1u << i;
}

static void add_stats(portprof_stats *to, const portprof_stats *from)
{
	to->delivered_samples += from->delivered_samples;
	to->kept_samples += from->kept_samples;
	to->outside_samples += from->outside_samples;
	to->lost_samples += from->lost_samples;
	to->total_weight += from->total_weight;
	to->kept_weight += from->kept_weight;
	to->outside_weight += from->outside_weight;
	to->unattributed_weight += from->unattributed_weight;
	to->not_attached_weight += from->not_attached_weight;
	to->throttled += from->throttled;
	to->standard_error += from->standard_error;
	if (from->lost_certainty != PORTPROF_EXACT)
		to->lost_certainty = from->lost_certainty;
}

/* Rates and times are those of the first: of running time, where it is in. */
static void join_events(const portprof_profile *profile,
                        const size_t events[PPI_STATES],
                        struct ppi_subject *subject)
{
	portprof_profile_event *joined = &subject->joined;
	size_t used = 0;

	for (int i = 0; i < PPI_STATES; i++) {
		const portprof_profile_event *event;

		if (!(subject->states & 1u << i))
			continue;
		event = portprof_profile_event_get(profile, events[i]);
		if (!used) {
			*joined = *event;
		} else {
			add_stats(&joined->stats, &event->stats);
			joined->has_stats &= event->has_stats;
		}
		used += (size_t)snprintf(subject->name + used,
		                         sizeof(subject->name) - used, "%s%s",
		                         used ? "+" : "", state_names[i]);
	}
	joined->name = subject->name;
	joined->asked = "";
	joined->description = "wall time of threads in these states";
	if (subject->states == (1u << PPI_STATES) - 1) {
		joined->name = "wall-time";
		joined->description =
			"threads' time, running, ready and blocked";
	}
}

static bool make_weights(const portprof_profile *profile,
                         struct ppi_subject *subject)
{
	size_t count = portprof_profile_sample_count(profile);

	subject->weights = calloc(count + 1, sizeof(*subject->weights));
	subject->samples = calloc(count + 1, sizeof(*subject->samples));
	return subject->weights && subject->samples;
}

bool ppi_subject_of_states(const portprof_profile *profile, unsigned states,
                           struct ppi_subject *subject)
{
	const portprof_profile_sample *sample;
	size_t events[PPI_STATES], count = 0;

	*subject = (struct ppi_subject){ .states = states };
	ppi_wall_find(profile, events);
	for (int i = PPI_STATES; i-- > 0;)
		if (states & 1u << i) {
			subject->event = events[i];
			count++;
		}
	if (count < 2)
		return true;
	subject->is_joined = true;
	join_events(profile, events, subject);
	if (!make_weights(profile, subject))
		return false;
	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++)
		for (int j = 0; j < PPI_STATES; j++) {
			if (!(states & 1u << j))
				continue;
			subject->weights[i] += sample->weights[events[j]];
			subject->samples[i] += sample->samples[events[j]];
		}
	return true;
}

static bool is_idle(const portprof_profile *profile,
                    const portprof_profile_sample *sample)
{
	portprof_profile_label label;

	return ppi_label_find(profile, sample, tag_names[PPI_TAG_WAIT], &label) &&
	       strcmp(label.text, PPI_WAIT_IDLE) == 0;
}

/* What it is connected to is named behind where it listens (waits_files.c). */
static bool has_server(const portprof_profile *profile,
                       const portprof_profile_sample *sample)
{
	static const char next[] = ", tcp ", listens[] = "listen ";
	portprof_profile_label label;
	const char *at;

	if (!ppi_label_find(profile, sample, tag_names[PPI_TAG_ON], &label))
		return false;
	at = strstr(label.text, next);
	while (at && strncmp(at + sizeof(next) - 1, listens,
	                     sizeof(listens) - 1) == 0)
		at = strstr(at + 1, next);
	return at != NULL;
}

bool ppi_subject_hide_idle(const portprof_profile *profile,
                           struct ppi_subject *subject)
{
	size_t count = portprof_profile_sample_count(profile);

	if (!(subject->states & 1u << PPI_BLOCKED))
		return true;
	subject->is_idle = calloc(count + 1, sizeof(*subject->is_idle));
	if (!subject->is_idle)
		return false;
	for (size_t i = 0; i < count; i++) {
		const portprof_profile_sample *sample =
			portprof_profile_sample_get(profile, i);

		subject->is_idle[i] = is_idle(profile, sample);
		subject->has_servers |= subject->is_idle[i] &&
		                        has_server(profile, sample);
	}
	return true;
}

bool ppi_subject_frame(const portprof_profile *profile,
                       const portprof_profile_sample *sample, char *out,
                       size_t bytes)
{
	portprof_profile_label label;
	size_t events[PPI_STATES];

	if (!ppi_wall_find(profile, events))
		return false;
	if (!ppi_label_find(profile, sample, tag_names[PPI_TAG_WAIT], &label) &&
	    (!ppi_label_find(profile, sample, tag_names[PPI_TAG_STATE],
	                     &label) ||
	     strcmp(label.text, state_names[PPI_READY]) != 0))
		return false;
	snprintf(out, bytes, "(%s)", label.text);
	return true;
}

void ppi_subject_show(const struct ppi_subject *subject, struct ppi_view *view)
{
	view->event = subject->event;
	view->weights = subject->weights;
	view->samples = subject->samples;
	view->is_idle = subject->is_idle;
	view->is_latency = subject->is_latency;
}

void ppi_subject_free(struct ppi_subject *subject)
{
	free(subject->weights);
	free(subject->samples);
	free(subject->is_idle);
	memset(subject, 0, sizeof(*subject));
}

/* ---- latency ---- */

/* Running time by slice, and by thread in it. */
struct use {
	const portprof_profile *profile;
	uint64_t slice_ns, first_ns;
	struct ppi_owners owners;
	struct ppi_pairs slices, parts; /* (slice, 0); (slice, thread) */
	struct ppi_vector slice_ns_used, part_ns_used; /* of uint64_t */
	struct ppi_vector at; /* of each sample: struct use_at */
};

/* Of one sample: its slice and the part of that. */
struct use_at {
	uint32_t slice, part;
};

/* The place of a pair's sum; PPI_NO_PAIR when out of memory. */
static uint32_t sum_of(struct ppi_pairs *pairs, struct ppi_vector *sums,
                       uint32_t left, uint32_t right)
{
	uint32_t known = pairs->count;
	uint32_t number = ppi_pairs_enter(pairs, left, right);

	if (number == known &&
	    !ppi_vector_add(sums, sizeof(uint64_t), NULL, 1))
		return PPI_NO_PAIR;
	return number;
}

static bool add_use(struct use *use, size_t i, size_t running)
{
	const portprof_profile_sample *sample =
		portprof_profile_sample_get(use->profile, i);
	uint64_t time_ns = portprof_profile_sample_time(use->profile, i);
	uint64_t slice = (time_ns - use->first_ns) / use->slice_ns;
	const struct ppi_owner *owner = ppi_owners_find(&use->owners, sample);
	struct use_at at;

	if (!owner)
		return false;
	at.slice = sum_of(&use->slices, &use->slice_ns_used, (uint32_t)slice,
	                  (uint32_t)(slice >> 32));
	if (at.slice == PPI_NO_PAIR)
		return false;
	at.part = sum_of(&use->parts, &use->part_ns_used, at.slice,
	                 owner->number);
	if (at.part == PPI_NO_PAIR)
		return false;
	PPI_AT(&use->part_ns_used, uint64_t)[at.part] +=
		sample->weights[running];
	return ppi_vector_add(&use->at, sizeof(at), &at, 1);
}

/* A thread uses one CPU at most: what samples stand for beyond a slice was of
 * the one before. */
static void sum_slices(struct use *use)
{
	uint64_t *slices = use->slice_ns_used.data;
	uint64_t *parts = use->part_ns_used.data;

	for (uint32_t i = 0; i < use->parts.count; i++) {
		uint32_t slice = (uint32_t)(use->parts.pairs[i] >> 32);

		if (parts[i] > use->slice_ns)
			parts[i] = use->slice_ns;
		slices[slice] += parts[i];
	}
}

/* The CPUs that were in use while this sample's thread ran. */
static double cpus_at(const struct use *use, size_t i)
{
	const struct use_at at = ((const struct use_at *)use->at.data)[i];
	uint64_t others = ((const uint64_t *)use->slice_ns_used.data)[at.slice] -
	                  ((const uint64_t *)use->part_ns_used.data)[at.part];

	return 1 + (double)others / (double)use->slice_ns;
}

static void weigh_by_use(const struct use *use, struct ppi_subject *subject)
{
	size_t count = portprof_profile_sample_count(use->profile);
	portprof_stats *stats = &subject->joined.stats;
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		const portprof_profile_sample *sample =
			portprof_profile_sample_get(use->profile, i);

		subject->samples[i] = sample->samples[subject->event];
		subject->weights[i] = (uint64_t)(
			(double)sample->weights[subject->event] /
				cpus_at(use, i) + 0.5);
		sum += subject->weights[i];
	}
	/* what is in no sample has no moment */
	stats->total_weight = stats->kept_weight = sum;
	stats->outside_weight = stats->unattributed_weight = 0;
	stats->outside_samples = 0;
	stats->standard_error = 0;
}

bool ppi_subject_to_latency(const portprof_profile *profile,
                            struct ppi_subject *subject)
{
	size_t count = portprof_profile_sample_count(profile);
	size_t events[PPI_STATES];
	struct use use = {
		.profile = profile,
		.slice_ns = portprof_profile_origin_get(profile)->timeline_ns,
		.first_ns = UINT64_MAX,
	};
	bool is_good = make_weights(profile, subject);

	ppi_wall_find(profile, events);
	subject->is_latency = true;
	subject->joined = *portprof_profile_event_get(profile, subject->event);
	for (size_t i = 0; i < count; i++) {
		uint64_t ns = portprof_profile_sample_time(profile, i);

		if (ns < use.first_ns)
			use.first_ns = ns;
	}
	is_good &= ppi_owners_open(&use.owners, profile,
	                           PPI_BY_THREAD | PPI_BY_PROCESS);
	for (size_t i = 0; is_good && i < count; i++)
		is_good = add_use(&use, i, events[PPI_RUNNING]);
	if (is_good) {
		sum_slices(&use);
		weigh_by_use(&use, subject);
	}
	ppi_owners_close(&use.owners);
	ppi_pairs_free(&use.slices);
	ppi_pairs_free(&use.parts);
	ppi_vector_free(&use.slice_ns_used);
	ppi_vector_free(&use.part_ns_used);
	ppi_vector_free(&use.at);
	return is_good;
}

/* ---- the mean of several runs ---- */

static void divide_stats(portprof_stats *stats, size_t runs)
{
	uint64_t *const parts[] = {
		&stats->total_weight, &stats->kept_weight,
		&stats->outside_weight, &stats->unattributed_weight,
		&stats->excess_weight, &stats->not_attached_weight,
		&stats->idle_time_ns, &stats->cpu_time_ns,
		&stats->standard_error,
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		*parts[i] /= runs;
}

/* Samples are those of all runs: a weight that more samples make up is known
 * better. What division leaves goes to the next sample, so that small counts do not
 * vanish. */
bool ppi_subject_to_mean(const portprof_profile *profile, size_t runs,
                         struct ppi_subject *subject)
{
	size_t count = portprof_profile_sample_count(profile);
	uint64_t rest = 0;

	if (!subject->weights) {
		subject->joined =
			*portprof_profile_event_get(profile, subject->event);
		if (!make_weights(profile, subject))
			return false;
		for (size_t i = 0; i < count; i++) {
			const portprof_profile_sample *sample =
				portprof_profile_sample_get(profile, i);

			subject->weights[i] = sample->weights[subject->event];
			subject->samples[i] = sample->samples[subject->event];
		}
	}
	subject->runs = runs;
	divide_stats(&subject->joined.stats, runs);
	for (size_t i = 0; i < count; i++) {
		uint64_t weight = subject->weights[i];

		rest += weight % runs;
		subject->weights[i] = weight / runs + (weight ? rest / runs : 0);
		rest -= weight ? rest / runs * runs : 0;
	}
	return true;
}

/* ---- what a user asks for ---- */

/* "running,blocked" to bits; 0 when a word is none. */
static unsigned read_states(const char *text)
{
	unsigned states = 0;

	while (*text) {
		size_t length = strcspn(text, ",");
		int i = 0;

		while (i < PPI_STATES &&
		       (strlen(state_names[i]) != length ||
		        strncmp(state_names[i], text, length) != 0))
			i++;
		if (i == PPI_STATES)
			return 0;
		states |= 1u << i;
		text += length;
		text += *text == ',';
	}
	return states;
}

const char *ppi_state_word(size_t i)
{
	return i < PPI_STATES ? state_names[i] : NULL;
}

int ppi_take_states(const struct ppi_given *given, void *states)
{
	unsigned found = read_states(given->value);

	if (!found)
		return ppi_given_refuse_word(given);
	*(unsigned *)states = found;
	return PPI_EXIT_OK;
}

static bool choose_states(const portprof_profile *profile, const char *path,
                          unsigned states, struct ppi_subject *subject)
{
	size_t events[PPI_STATES];

	ppi_wall_find(profile, events);
	for (int i = 0; i < PPI_STATES; i++)
		if (states & 1u << i && events[i] == SIZE_MAX) {
			ppi_say("%s has no %s time of threads; record it with "
			        "record --wall", path, state_names[i]);
			return false;
		}
	if (ppi_subject_of_states(profile, states, subject))
		return true;
	ppi_say("out of memory");
	return false;
}

static bool choose_latency(const portprof_profile *profile, const char *path,
                           struct ppi_subject *subject)
{
	size_t events[PPI_STATES];

	ppi_wall_find(profile, events);
	if (events[PPI_RUNNING] == SIZE_MAX) {
		ppi_say("--latency: %s has no CPU time, so the CPUs in use are "
		        "unknown; record task-clock, too", path);
		return false;
	}
	if (!portprof_profile_origin_get(profile)->timeline_ns) {
		ppi_say("--latency: %s has no times of samples; record keeps "
		        "them unless --timeline is 0", path);
		return false;
	}
	if (ppi_subject_to_latency(profile, subject))
		return true;
	ppi_say("out of memory");
	return false;
}

int ppi_wall_check(const struct ppi_line *line, const char *event,
                   const struct ppi_wall_wish *wish)
{
	if (!event || (!wish->states && !wish->waits))
		return PPI_LINE_READ;
	return ppi_line_wrong(line, "--event is one event; --state and --wait are "
	                            "of several: ask for one of them");
}

bool ppi_subject_choose(const portprof_profile *profile, const char *path,
                        const char *event, const struct ppi_wall_wish *wish,
                        bool is_wall, struct ppi_subject *subject)
{
	unsigned states = wish->states;

	*subject = (struct ppi_subject){ .event = SIZE_MAX };
	if (!event && !states && wish->waits)
		states = 1u << PPI_BLOCKED;
	if (!event && !states && is_wall && !wish->is_latency)
		states = ppi_wall_states(profile);
	if (states) {
		if (!choose_states(profile, path, states, subject))
			return false;
	} else {
		size_t number = ppi_event_choose(profile, path, event);

		if (number == SIZE_MAX)
			return false;
		ppi_subject_of_event(profile, number, subject);
	}
	if (wish->is_latency)
		return choose_latency(profile, path, subject);
	if (wish->shows_idle || wish->waits ||
	    ppi_subject_hide_idle(profile, subject))
		return true;
	ppi_say("out of memory");
	return false;
}
