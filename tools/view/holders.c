/* SPDX-License-Identifier: MIT */
/* Who held what others waited for, or ended their waits, and where that thread was. */
#include "config.h"

#include "tools/view/holders.h"

#include "tools/view/life.h"
#include "tools/view/owners.h"
#include "tools/view/wall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- in words ---- */

const char *ppi_who_label(enum ppi_who who)
{
	return who == PPI_WAKERS ? PPI_LABEL_WAKER : ppi_tag_name(PPI_TAG_HOLDER);
}

static const char *label_of(const portprof_profile *profile,
                            const portprof_profile_sample *sample,
                            const char *name)
{
	portprof_profile_label label;

	return ppi_label_find(profile, sample, name, &label) ? label.text : "";
}

const char *ppi_who_of(enum ppi_who who, const portprof_profile *profile,
                       const portprof_profile_sample *sample)
{
	return label_of(profile, sample, ppi_who_label(who));
}

bool ppi_who_matters(enum ppi_who who, const portprof_profile *profile,
                     const portprof_profile_sample *sample)
{
	if (ppi_who_of(who, profile, sample)[0])
		return true;
	if (who == PPI_WAKERS)
		return strcmp(label_of(profile, sample,
		                       ppi_tag_name(PPI_TAG_STATE)),
		              ppi_state_name(PPI_BLOCKED)) == 0;
	return strcmp(label_of(profile, sample, ppi_tag_name(PPI_TAG_WAIT)),
	              "lock") == 0;
}

/* The code of a lock itself, which is not what somebody looks for. */
static bool is_of_system(const struct ppi_symbols_name *name)
{
	static const char *const begins[] = {
		"[", "libc.so", "libc-", "libpthread", "ld-", "ld.so",
		"libc.musl", "libstdc++", "libc++",
	};

	if (name->is_kernel)
		return true;
	if (strcmp(name->module, PPI_GENERATED) == 0)
		return false;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(name->module, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

const char *ppi_function_of(const struct ppi_view *view,
                            const portprof_profile_sample *sample)
{
	if (!sample->depth)
		return "[unknown]";
	for (size_t i = 0; i < sample->depth; i++) {
		const struct ppi_symbols_name *name =
			&view->names[sample->locations[i]];

		if (!is_of_system(name))
			return name->function;
	}
	return view->names[sample->locations[0]].function;
}

/* ---- where they were ---- */

/* A sample that says where a thread was that held something, or woke another one; whose
 * process that is does not matter then: 0. */
struct held {
	uint32_t pid, tid, woken;
	const char *on;
	uint64_t time_ns;
	const portprof_profile_sample *sample;
	char *words; /* "FUNCTION in thread NAME", when it was asked for */
};

static int compare_things(const struct held *a, const struct held *b)
{
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->woken != b->woken)
		return a->woken < b->woken ? -1 : 1;
	return strcmp(a->on, b->on);
}

static int compare_held(const void *left, const void *right)
{
	const struct held *a = left, *b = right;
	int order = compare_things(a, b);

	if (order)
		return order;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->sample < b->sample ? -1 : a->sample > b->sample;
}

static bool is_held(const portprof_profile *profile,
                    const portprof_profile_sample *sample, struct held *held)
{
	portprof_profile_label label;

	if (!ppi_label_find(profile, sample, PPI_LABEL_HOLDS, &label))
		return false;
	held->pid = sample->pid;
	held->on = label.text;
	return true;
}

/* The event's field pid, which a label of samples names so. */
static bool is_waking(const portprof_profile *profile,
                      const portprof_profile_sample *sample, size_t event,
                      struct held *held)
{
	portprof_profile_label label;

	if (event == SIZE_MAX || !sample->samples[event] ||
	    !ppi_label_find(profile, sample, "event_pid", &label))
		return false;
	held->woken = (uint32_t)label.number;
	held->on = "";
	return true;
}

static size_t find_wakings(const portprof_profile *profile)
{
	static const char name[] = "sched:sched_waking";
	size_t count = portprof_profile_event_count(profile);

	for (size_t i = 0; i < count; i++)
		if (strncmp(portprof_profile_event_get(profile, i)->name, name,
		            strlen(name)) == 0)
			return i;
	return SIZE_MAX;
}

bool ppi_has_wakings(const portprof_profile *profile)
{
	return find_wakings(profile) != SIZE_MAX;
}

bool ppi_holders_open(struct ppi_holders *holders, const struct ppi_view *view,
                      enum ppi_who who)
{
	const portprof_profile *profile = view->profile;
	size_t wakings = find_wakings(profile);
	const portprof_profile_sample *sample;

	*holders = (struct ppi_holders){ .view = view, .who = who };
	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++) {
		struct held held = { .tid = sample->tid };

		if (!(who == PPI_WAKERS
		              ? is_waking(profile, sample, wakings, &held)
		              : is_held(profile, sample, &held)))
			continue;
		held.time_ns = portprof_profile_sample_time(profile, i);
		held.sample = sample;
		if (!ppi_vector_add(&holders->held, sizeof(held), &held, 1))
			return false;
	}
	if (holders->held.count)
		qsort(holders->held.data, holders->held.count,
		      sizeof(struct held), compare_held);
	return true;
}

void ppi_holders_close(struct ppi_holders *holders)
{
	for (size_t i = 0; i < holders->held.count; i++)
		free(PPI_AT(&holders->held, struct held)[i].words);
	ppi_vector_free(&holders->held);
	memset(holders, 0, sizeof(*holders));
}

/* ---- which one ---- */

/* "thread NAME (TID)"; 0: it is none. */
static uint32_t tid_of(const char *who)
{
	const char *number = strrchr(who, '(');

	return number ? (uint32_t)strtoul(number + 1, NULL, 10) : 0;
}

static bool has_place(const struct ppi_holders *holders, const struct held *held)
{
	return held->sample->depth &&
	       !ppi_life_is_unseen(holders->view->profile,
	                           held->sample->locations[0]);
}

/* The last one that has a place, if all of those are in one function. */
static struct held *only_one(const struct ppi_holders *holders,
                             struct held *first, struct held *last)
{
	const char *function = NULL, *one;
	struct held *found = NULL;

	for (struct held *held = first; held <= last; held++) {

		if (!has_place(holders, held))
			continue;
		one = ppi_function_of(holders->view, held->sample);
		if (function && strcmp(function, one) != 0)
			return NULL;
		function = one;
		found = held;
	}
	return found;
}

/* The last one up to then: the wait had begun when somebody looked, and while it
 * lasts nobody looks again; or it was over. Where no sample has a time, the one of
 * any time, if all are in one function. */
static struct held *held_then(const struct ppi_holders *holders,
                              const portprof_profile_sample *waiter,
                              const char *who, uint64_t time_ns)
{
	const portprof_profile *profile = holders->view->profile;
	bool is_waker = holders->who == PPI_WAKERS;
	const struct held wanted = {
		.pid = is_waker ? 0 : waiter->pid,
		.tid = tid_of(who),
		.woken = is_waker ? waiter->tid : 0,
		.on = is_waker ? "" : label_of(profile, waiter,
		                               ppi_tag_name(PPI_TAG_ON)),
	};
	struct held *held = holders->held.data, *last;
	size_t low = 0, high = holders->held.count;

	if (!wanted.tid)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare_things(&held[middle], &wanted);

		if (order < 0 || (order == 0 && held[middle].time_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || compare_things(&held[low - 1], &wanted) != 0)
		return NULL;
	last = &held[low - 1];
	if (portprof_profile_origin_get(profile)->timeline_ns)
		return last;
	for (low--; low && compare_things(&held[low - 1], &wanted) == 0;)
		low--;
	return only_one(holders, &held[low], last);
}

/* "FUNCTION in thread NAME"; without the function where nobody saw it. */
static const char *words_of(const struct ppi_holders *holders, struct held *held,
                            const char *who)
{
	const char *function;
	size_t bytes;

	if (!held || !has_place(holders, held))
		return who;
	if (held->words)
		return held->words;
	function = ppi_function_of(holders->view, held->sample);
	bytes = strlen(function) + strlen(" in ") + strlen(who) + 1;
	held->words = malloc(bytes);
	if (held->words)
		snprintf(held->words, bytes, "%s in %s", function, who);
	return held->words;
}

const char *ppi_holders_words(struct ppi_holders *holders, size_t i,
                              const portprof_profile_sample **held_at)
{
	const portprof_profile *profile = holders->view->profile;
	const portprof_profile_sample *waiter =
		portprof_profile_sample_get(profile, i);
	const char *who = ppi_who_of(holders->who, profile, waiter), *words;
	struct held *held = held_then(holders, waiter, who,
	                              portprof_profile_sample_time(profile, i));

	words = words_of(holders, held, who);
	*held_at = held && words != who ? held->sample : NULL;
	return words;
}

const char *ppi_holders_words_of(struct ppi_holders *holders, const char *who)
{
	struct held *held = holders->held.data;
	size_t low = 0, high = holders->held.count, end;
	uint32_t tid = tid_of(who);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (held[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < holders->held.count && held[end].tid == tid;)
		end++;
	return tid && end > low
		? words_of(holders, only_one(holders, &held[low], &held[end - 1]),
	                   who)
		: who;
}
