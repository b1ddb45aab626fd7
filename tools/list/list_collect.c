/* SPDX-License-Identifier: MIT */
/* Selects events from the catalogue, and tries them. */
#include "config.h"

#include "tools/list/list.h"

#include "tools/tools.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* How many events of one PMU are opened one by one. A tracepoint is dear: the
 * kernel patches its own code for each (kernel/trace/trace_event_perf.c). */
enum { TRIALS_MAX = 1000, TRACE_TRIALS_MAX = 32, NAME_BYTES = 256 };

static void to_lower(const char *text, char out[NAME_BYTES])
{
	size_t i = 0;

	for (; text[i] && i + 1 < NAME_BYTES; i++)
		out[i] = (char)tolower((unsigned char)text[i]);
	out[i] = '\0';
}

bool ppi_list_fits(const char *pattern, const char *name)
{
	char small_pattern[NAME_BYTES], small_name[NAME_BYTES];

	to_lower(pattern, small_pattern);
	to_lower(name, small_name);
	if (strpbrk(pattern, "*?["))
		return fnmatch(small_pattern, small_name, 0) == 0;
	return strstr(small_name, small_pattern) != NULL;
}

static bool has_fitting_alias(const char *pattern, const char *also)
{
	char word[NAME_BYTES];

	while (*also) {
		size_t length = strcspn(also, " ");

		snprintf(word, sizeof(word), "%.*s", (int)length, also);
		if (ppi_list_fits(pattern, word))
			return true;
		also += length + strspn(also + length, " ");
	}
	return false;
}

/* By name; or, in a second try, by what it means. */
static bool is_wanted(const struct ppi_list_options *options, bool by_meaning,
                      const portprof_catalogue_event *event)
{
	const char *pattern = options->pattern;

	if (!pattern)
		return !event->is_mask || options->is_all || options->is_json;
	if (by_meaning)
		return ppi_list_fits(pattern, event->means);
	return ppi_list_fits(pattern, event->name) ||
	       has_fitting_alias(pattern, event->also);
}

struct collection {
	struct ppi_list *list;
	bool by_meaning, is_out_of_memory;
	bool has_last;         /* the event that masks belong to is kept */
};

/* Point the four strings at copies; the memory of all, to be freed. */
static char *keep_strings(const char **const strings[4])
{
	size_t bytes = 0;
	char *text, *at;

	for (size_t i = 0; i < 4; i++)
		bytes += strlen(*strings[i]) + 1;
	text = at = malloc(bytes);
	if (!text)
		return NULL;
	for (size_t i = 0; i < 4; i++) {
		size_t length = strlen(*strings[i]) + 1;

		*strings[i] = memcpy(at, *strings[i], length);
		at += length;
	}
	return text;
}

static bool is_of_group(const portprof_catalogue_event *event,
                        const portprof_catalogue_event *of)
{
	return event->source == of->source && strcmp(event->pmu, of->pmu) == 0;
}

/* After those of its source and PMU: backends give theirs one after the other. */
static size_t place_of(const struct ppi_list *list,
                       const portprof_catalogue_event *event)
{
	for (size_t i = list->event_count; i-- > 0;)
		if (is_of_group(event, &list->events[i].event))
			return i + 1;
	return list->event_count;
}

static bool add_event(struct ppi_list *list,
                      const portprof_catalogue_event *event)
{
	size_t count = list->event_count, at = place_of(list, event);
	struct ppi_list_event *grown = list->events;
	struct ppi_list_event added = { .event = *event };

	if ((count & (count - 1)) == 0) /* room for powers of two */
		grown = realloc(grown, (count ? count * 2 : 1) *
		                               sizeof(*grown));
	if (!grown)
		return false;
	list->events = grown;
	added.text = keep_strings((const char **const[4]){
		&added.event.name, &added.event.also, &added.event.pmu,
		&added.event.means });
	if (!added.text)
		return false;
	memmove(grown + at + 1, grown + at, (count - at) * sizeof(*grown));
	grown[at] = added;
	list->event_count++;
	return true;
}

static int take_event(const portprof_catalogue_event *event, void *context)
{
	struct collection *collection = context;
	struct ppi_list *list = collection->list;

	if (event->is_mask && collection->has_last)
		for (size_t i = list->event_count; i-- > 0;)
			if (!list->events[i].event.is_mask) {
				list->events[i].masks++;
				break;
			}
	if (!event->is_mask)
		collection->has_last = false;
	if (!is_wanted(&list->options, collection->by_meaning, event))
		return 0;
	collection->is_out_of_memory = !add_event(list, event);
	if (collection->is_out_of_memory)
		return 1;
	if (!event->is_mask)
		collection->has_last = true;
	return 0;
}

static bool collect(struct ppi_list *list, bool by_meaning)
{
	struct collection collection = { .list = list,
		                         .by_meaning = by_meaning };

	if (portprof_catalogue_events(list->options.backend, take_event,
	                              &collection)) {
		ppi_say_failure(NULL);
		return false;
	}
	if (collection.is_out_of_memory)
		ppi_say("out of memory");
	return !collection.is_out_of_memory;
}

int ppi_list_take_pmu(const portprof_catalogue_pmu *pmu, void *context)
{
	struct ppi_list *list = context;
	struct ppi_list_pmu *grown =
		realloc(list->pmus, (list->pmu_count + 1) * sizeof(*grown));

	if (!grown)
		return 1;
	list->pmus = grown;
	grown += list->pmu_count;
	grown->pmu = *pmu;
	grown->text = keep_strings((const char **const[4]){
		&grown->pmu.name, &grown->pmu.means, &grown->pmu.cpus,
		&grown->pmu.terms });
	if (!grown->text)
		return 1;
	list->pmu_count++;
	return 0;
}

/* ---- groups ---- */

static bool begins_group(const struct ppi_list *list, size_t index)
{
	return index == 0 || !is_of_group(&list->events[index].event,
	                                  &list->events[index - 1].event);
}

static bool make_groups(struct ppi_list *list)
{
	list->groups = calloc(list->event_count + 1, sizeof(*list->groups));
	if (!list->groups) {
		ppi_say("out of memory");
		return false;
	}
	for (size_t i = 0; i < list->event_count; i++) {
		struct ppi_list_group *group;

		if (begins_group(list, i)) {
			group = &list->groups[list->group_count++];
			group->source = list->events[i].event.source;
			group->pmu = list->events[i].event.pmu;
			group->first = i;
		}
		list->groups[list->group_count - 1].count++;
	}
	return true;
}

/* ---- trials ---- */

static void try_event(const struct ppi_list *list,
                      struct ppi_list_event *event)
{
	portprof_event_info info = { .size = sizeof(info) };

	if (portprof_event_try(event->event.name, list->options.backend,
			       &info)) {
		event->usable = PPI_LIST_REFUSED;
		event->why = strdup(portprof_last_diag()->words);
	} else {
		event->usable = info.is_counted_only ? PPI_LIST_COUNTED
		                                     : PPI_LIST_USABLE;
	}
}

/* All of a group, or when they are too many the first: what can be had of one
 * can mostly be had of the others of its PMU. */
static void try_group(struct ppi_list *list, struct ppi_list_group *group)
{
	size_t most = group->source == PORTPROF_SOURCE_TRACEPOINT
	                      ? TRACE_TRIALS_MAX
	                      : TRIALS_MAX;
	size_t tried = 0;

	for (size_t i = 0; i < group->count; i++) {
		struct ppi_list_event *event = &list->events[group->first + i];

		if (event->event.needs_mask ||
		    (group->count > most && tried > 0))
			continue;
		try_event(list, event);
		tried++;
		group->is_usable |= event->usable != PPI_LIST_REFUSED;
	}
	/* nothing but names that need a mask: nobody knows */
	group->is_usable |= tried == 0;
}

bool ppi_list_collect(struct ppi_list *list)
{
	portprof_catalogue_pmus(list->options.backend, ppi_list_take_pmu,
	                        list);
	if (!collect(list, false))
		return false;
	if (list->event_count == 0 && list->options.pattern &&
	    !collect(list, true))
		return false;
	if (!make_groups(list))
		return false;
	list->preset_count = ppi_list_find_presets(list);
	for (size_t i = 0; i < list->group_count; i++)
		try_group(list, &list->groups[i]);
	return true;
}

static void free_event(struct ppi_list_event *event)
{
	free(event->text);
	free(event->why);
}

void ppi_list_free(struct ppi_list *list)
{
	for (size_t i = 0; i < list->event_count; i++)
		free_event(&list->events[i]);
	free(list->events);
	free(list->groups);
	for (size_t i = 0; i < list->pmu_count; i++)
		free(list->pmus[i].text);
	free(list->pmus);
}
