/* SPDX-License-Identifier: MIT */
/*
 * portprof list: which events can be measured here, and what they mean.
 *
 *   list.c          selects events from the catalogue and tries them
 *   list_print.c    prints them as text and JSON, and presets
 *   list_explain.c  everything that one event string means
 */
#include "config.h"

#include "tools/list/list.h"

#include "base/vector.h"
#include "tools/options.h"
#include "tools/tools.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- events from the catalogue ---- */

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

/* After those of its source and PMU: backends give theirs one after the
 * other. */
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
	struct ppi_vector all = { list->events, list->event_count,
		                  list->event_room };
	size_t count = list->event_count, at = place_of(list, event);
	struct ppi_list_event added = { .event = *event };
	struct ppi_list_event *events;
	bool is_good = ppi_vector_reserve(&all, sizeof(added), 1);

	list->events = events = all.data;
	list->event_room = all.room;
	if (!is_good)
		return false;
	added.text = keep_strings((const char **const[4]){
		&added.event.name, &added.event.also, &added.event.pmu,
		&added.event.means });
	if (!added.text)
		return false;
	memmove(events + at + 1, events + at, (count - at) * sizeof(*events));
	events[at] = added;
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

/* For portprof_catalogue_pmus: adds one to a struct ppi_list. */
static int take_pmu(const portprof_catalogue_pmu *pmu, void *context)
{
	struct ppi_list *list = context;
	struct ppi_vector all = { list->pmus, list->pmu_count, list->pmu_room };
	struct ppi_list_pmu added = { .pmu = *pmu };

	added.text = keep_strings((const char **const[4]){
		&added.pmu.name, &added.pmu.means, &added.pmu.cpus,
		&added.pmu.terms });
	if (!added.text)
		return 1;
	if (!ppi_vector_add(&all, sizeof(added), &added, 1)) {
		free(added.text);
		return 1;
	}
	list->pmus = all.data;
	list->pmu_count = all.count;
	list->pmu_room = all.room;
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

/* All of a group, or when they are too many the first: what is known of one
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

/* All that the options ask for, tried as far as that is cheap. False with
 * words. */
static bool collect_list(struct ppi_list *list)
{
	portprof_catalogue_pmus(list->options.backend, take_pmu,
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

/* All that the options ask for, tried as far as that is cheap. False with
 * words. */
static void free_list(struct ppi_list *list)
{
	for (size_t i = 0; i < list->event_count; i++)
		free_event(&list->events[i]);
	free(list->events);
	free(list->groups);
	for (size_t i = 0; i < list->pmu_count; i++)
		free(list->pmus[i].text);
	free(list->pmus);
}

/* ---- the verb ---- */

#define AT(member) offsetof(struct ppi_list_options, member)

static const struct ppi_option table[] = {
	{ 'a', "all", NULL,
	  "also list unit masks, tracepoints and unusable events",
	  .take = ppi_take_flag, .place = AT(is_all) },
	{ 0, "explain", "EVENT",
	  "explain an event string: encoding, levels, rate, CPUs, which "
	  "backends measure it, and why others do not",
	  .take = ppi_take_text, .place = AT(explain) },
	{ 'b', "backend", "NAME", "list the events of this backend (the best)",
	  .take = ppi_take_text, .place = AT(backend),
	  .word = ppi_backend_word },
	{ 'j', "json", NULL, "print JSON",
	  .take = ppi_take_flag, .place = AT(is_json) },
	PPI_COLOR_OPTION,
};

static const size_t places[] = { AT(pattern) };

static const struct ppi_line line = {
	.verb = "list",
	.usage = "[OPTION...] [PATTERN]\n[OPTION...] --explain EVENT",
	.about = "Lists the events that can be used here and now. PATTERN is "
	         "a glob ('L1-*', 'sched:*'), part of a name or a word of its "
	         "description, and lists each event that matches, usable or "
	         "not.",
	.notes = "Each event is opened to try it, unless there are too many "
	         "of its kind.\n"
	         "Exit status: 0 success, 1 no event matches, 2 wrong usage.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.places = places,
	.place_count = 1,
	.one_word_more = "give one pattern, in quotes, such as 'L1-*'",
	.wrong = PPI_EXIT_USAGE,
};

const char *ppi_list_source(portprof_source source)
{
	static const char *const names[] = {
		[PORTPROF_SOURCE_SOFTWARE] = "software",
		[PORTPROF_SOURCE_HARDWARE] = "hardware",
		[PORTPROF_SOURCE_CACHE] = "cache",
		[PORTPROF_SOURCE_TABLE] = "libpfm4",
		[PORTPROF_SOURCE_SYSTEM] = "system",
		[PORTPROF_SOURCE_TRACEPOINT] = "tracepoint",
		[PORTPROF_SOURCE_PLACE] = "place",
	};

	return (size_t)source < sizeof(names) / sizeof(names[0]) &&
	                       names[source]
	               ? names[source]
	               : "other";
}

const portprof_catalogue_pmu *ppi_list_pmu(const struct ppi_list *list,
                                           const char *name)
{
	for (size_t i = 0; i < list->pmu_count; i++)
		if (strcmp(list->pmus[i].pmu.name, name) == 0)
			return &list->pmus[i].pmu;
	return NULL;
}

static int nothing_fits(const struct ppi_list *list)
{
	portprof_event_info info = { .size = sizeof(info) };
	portprof_backend_info backend;
	const char *pattern = list->options.pattern;
	const portprof_diag nothing = { .status = PORTPROF_OK };
	bool is_unknown;

	if (!pattern && ppi_backend_find_info(list->options.backend, &backend) &&
	    !backend.is_usable) {
		ppi_say("backend %s has no events here: %s", backend.name,
		        backend.reason);
		return PPI_EXIT_FAILED;
	}
	if (!pattern) {
		ppi_say("nothing can be measured here: portprof doctor says "
		        "why, and what would change it");
		return PPI_EXIT_FAILED;
	}
	/* the library knows the nearest names of what is none */
	is_unknown = portprof_event_try(pattern, list->options.backend,
					&info) == PORTPROF_E_NOTFOUND;
	ppi_say_no_match(pattern, is_unknown ? portprof_last_diag() : &nothing,
	                 "portprof list -a shows everything");
	return PPI_EXIT_FAILED;
}

static int print(const struct ppi_list *list)
{
	if (list->options.is_json)
		ppi_list_print_json(list, stdout);
	else if (list->event_count + list->preset_count == 0)
		return nothing_fits(list);
	else
		ppi_list_print_text(list, stdout);
	return list->event_count + list->preset_count ? PPI_EXIT_OK
	                                              : PPI_EXIT_FAILED;
}

int ppi_list_main(int argc, char **argv)
{
	struct ppi_list list = { .options.backend = "auto" };
	int status = ppi_line_read(&line, argc, argv, &list.options);

	if (status != PPI_LINE_READ)
		return status;
	if (list.options.pattern && list.options.explain)
		return ppi_line_wrong(&line, "--explain takes an event string "
		                             "and no pattern");
	if (list.options.explain) {
		portprof_catalogue_pmus(list.options.backend, take_pmu,
		                        &list);
		status = ppi_list_explain(&list, stdout);
	} else {
		status = collect_list(&list) ? print(&list)
		                                 : PPI_EXIT_FAILED;
	}
	free_list(&list);
	if (!ppi_stdout_is_whole("the list"))
		status = PPI_EXIT_FAILED;
	return status;
}
