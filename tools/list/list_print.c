/* SPDX-License-Identifier: MIT */
/*
 * The events of portprof list as text and as JSON, and the presets, which are
 * numbers computed from several counts. portprof-list(1) has the keys of the
 * JSON; they may become more, but keep their meaning as long as "schema" is 1.
 */
#include "config.h"

#include <portprof/tool.h>

#include "base/json.h"
#include "base/text.h"
#include "tools/list/list.h"
#include "tools/terminal.h"
#include "tools/tools.h"

#include <string.h>

enum { SCHEMA = 1, NAME_WIDTH = 26 };

/* A name and what fills up its column. */
static void put_name(const char *name, FILE *out)
{
	char room[PPI_SHOWN_BYTES];
	int length;

	name = ppi_shown(name, room);
	length = (int)strlen(name);
	fprintf(out, "  %s", name);
	if (length > NAME_WIDTH)
		fprintf(out, "\n%*s", NAME_WIDTH + 4, "");
	else
		fprintf(out, "%*s", NAME_WIDTH + 2 - length, "");
}

/* ---- presets ---- */

/* Of several forms of one name the one that is taken here; NULL: another is, or
 * its name does not fit. */
static const portprof_preset *wanted(const struct ppi_list *list, size_t index)
{
	const portprof_preset *preset = portprof_preset_at(index);
	const char *pattern = list->options.pattern;

	if (portprof_event_list_preset(preset->name, 0) != preset)
		return NULL;
	return !pattern || ppi_list_fits(pattern, list->presets_by_meaning
	                                                  ? preset->means
	                                                  : preset->name)
		? preset : NULL;
}

static size_t count(const struct ppi_list *list)
{
	size_t fitting = 0;

	for (size_t i = 0; portprof_preset_at(i); i++)
		fitting += wanted(list, i) != NULL;
	return fitting;
}

/* NULL when all of its events can be counted here. The words last until the
 * next failing call. */
static const char *why_not(const struct ppi_list *list,
                           const portprof_preset *preset)
{
	for (size_t i = 0; i < PORTPROF_PRESET_EVENTS_MAX && preset->events[i];
	     i++) {
		portprof_event_info info = { .size = sizeof(info) };

		if (portprof_event_try(preset->events[i], list->options.backend,
				       &info))
			return portprof_last_diag()->words;
	}
	return NULL;
}

size_t ppi_list_find_presets(struct ppi_list *list)
{
	size_t found;

	/* a backend without events has none of these */
	if (list->event_count == 0 && !list->options.pattern)
		return 0;
	list->presets_by_meaning = false;
	found = count(list);
	if (found > 0 || list->event_count > 0)
		return found;
	list->presets_by_meaning = true;
	return count(list);
}

static void put_presets(const struct ppi_list *list, FILE *out)
{
	bool is_asked_for = list->options.pattern || list->options.is_all;
	char said[PORTPROF_WORDS_BYTES] = "", words[400];

	if (list->preset_count == 0)
		return;
	fprintf(out, "%sPresets, for portprof stat, groups and regions%s\n",
	        ppi_color(out, PPI_BOLD), ppi_color(out, PPI_PLAIN));
	for (size_t i = 0; portprof_preset_at(i); i++) {
		const portprof_preset *preset = wanted(list, i);
		const char *why = preset ? why_not(list, preset) : NULL;

		if (!preset)
			continue;
		if (why && !said[0])
			snprintf(said, sizeof(said), "%s: %s", preset->name,
			         why);
		if (why && !is_asked_for)
			continue;
		snprintf(words, sizeof(words), "%s%s", preset->means,
		         why ? " [refused]" : " [counted only]");
		put_name(preset->name, out);
		ppi_put_wrapped(out, words, NAME_WIDTH + 4);
	}
	/* of another one the words differ by its event's name only */
	if (said[0]) {
		fprintf(out, "  %s", ppi_color(out, PPI_YELLOW));
		ppi_put_wrapped(out, said, 4);
		fprintf(out, "%s", ppi_color(out, PPI_PLAIN));
	}
	fputc('\n', out);
}

static void json_presets(const struct ppi_list *list, struct ppi_json *json)
{
	ppi_json_array(json, "presets");
	for (size_t i = 0; portprof_preset_at(i); i++) {
		const portprof_preset *preset = wanted(list, i);
		const char *why = preset ? why_not(list, preset) : NULL;

		if (!preset)
			continue;
		ppi_json_object(json, NULL);
		ppi_json_text(json, "preset", preset->name);
		ppi_json_text(json, "means", preset->means);
		ppi_json_array(json, "events");
		for (size_t j = 0; j < PORTPROF_PRESET_EVENTS_MAX &&
		     preset->events[j]; j++)
			ppi_json_text(json, NULL, preset->events[j]);
		ppi_json_close(json);
		ppi_json_flag(json, "usable", !why);
		if (why)
			ppi_json_text(json, "why", why);
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

/* ---- text ---- */

static const char *title_of(const struct ppi_list_group *group)
{
	switch (group->source) {
	case PORTPROF_SOURCE_SOFTWARE:
		return "Software events, counted by the kernel";
	case PORTPROF_SOURCE_HARDWARE:
		return "Hardware events, by their generic names";
	case PORTPROF_SOURCE_CACHE:
		return "Caches and predictors, by generic names";
	case PORTPROF_SOURCE_TRACEPOINT:
		return "Tracepoints of the kernel";
	case PORTPROF_SOURCE_PLACE:
		return strcmp(group->pmu, "uprobe") == 0
			? "Probes of programs, by file and symbol"
			: "Breakpoints, by address or symbol";
	default:
		return NULL;
	}
}

/* What it means stands below its name where a line has no room for both. */
static void put_pmu(const struct ppi_list_group *group,
                    const portprof_catalogue_pmu *pmu, FILE *out)
{
	enum { WIDTH = 79 };
	const char *source = group->source == PORTPROF_SOURCE_TABLE ? "libpfm4"
	                                                            : "sysfs";
	char room[PPI_SHOWN_BYTES], more[PPI_SHOWN_BYTES];
	const char *name = ppi_shown(group->pmu, room);
	const char *means = pmu ? ppi_shown(pmu->means, more) : "a PMU";
	int width = snprintf(NULL, 0, "%s: %s, by %s", name, means, source);

	if (width <= WIDTH)
		fprintf(out, "%s: %s, by %s", name, means, source);
	else
		fprintf(out, "%s, by %s%s\n  %s", name, source,
		        ppi_color(out, PPI_PLAIN), means);
}

static void put_title(const struct ppi_list *list,
                      const struct ppi_list_group *group, FILE *out)
{
	const portprof_catalogue_pmu *pmu = ppi_list_pmu(list, group->pmu);
	const char *title = title_of(group);
	char room[PPI_SHOWN_BYTES], more[PPI_SHOWN_BYTES];

	fprintf(out, "%s", ppi_color(out, PPI_BOLD));
	if (title)
		fprintf(out, "%s", title);
	else
		put_pmu(group, pmu, out);
	fprintf(out, "%s\n", ppi_color(out, PPI_PLAIN));
	if (pmu && pmu->cpus[0])
		fprintf(out, "  of CPUs %s\n", ppi_shown(pmu->cpus, room));
	if (pmu && pmu->terms[0] && group->source == PORTPROF_SOURCE_SYSTEM)
		fprintf(out, "  %s::raw takes %s\n",
		        ppi_shown(pmu->name, room),
		        ppi_shown(pmu->terms, more));
}

/* Masks stand below their event, if that is shown. */
static const char *name_of(const struct ppi_list *list, size_t index,
                           char room[256])
{
	const portprof_catalogue_event *event = &list->events[index].event;

	for (size_t i = index; event->is_mask && i-- > 0;) {
		const portprof_catalogue_event *other = &list->events[i].event;
		size_t length = strlen(other->name);

		if (other->is_mask)
			continue;
		if (strncmp(other->name, event->name, length) != 0 ||
		    event->name[length] != ':')
			break;
		snprintf(room, 256, "  %s", event->name + length);
		return room;
	}
	return event->name;
}

static void put_event(const struct ppi_list *list, size_t index, FILE *out)
{
	const struct ppi_list_event *event = &list->events[index];
	bool is_refused = event->usable == PPI_LIST_REFUSED;
	char words[1024], room[256];

	snprintf(words, sizeof(words), "%s%s%s%s%s%s", event->event.means,
	         event->event.also[0] ? " (also " : "", event->event.also,
	         event->event.also[0] ? ")" : "",
	         event->usable == PPI_LIST_COUNTED ? " [counted only]" : "",
	         is_refused ? " [refused]" : "");
	if (event->masks && !list->options.is_all && !list->options.pattern) {
		size_t used = strlen(words);

		snprintf(words + used, sizeof(words) - used, " [%zu masks]",
		         event->masks);
	}
	if (!words[0]) {
		fputs("  ", out);
		ppi_put_text(name_of(list, index, room), out);
		fputc('\n', out);
		return;
	}
	put_name(name_of(list, index, room), out);
	ppi_put_wrapped(out, words, NAME_WIDTH + 4);
}

/* Why events of a group are refused, each reason once. */
static void put_reasons(const struct ppi_list *list,
                        const struct ppi_list_group *group, FILE *out)
{
	const char *said = NULL;

	for (size_t i = 0; i < group->count; i++) {
		const struct ppi_list_event *event =
			&list->events[group->first + i];

		if (!event->why)
			continue;
		/* of another event the words differ by its name only */
		if (said && (!group->is_usable ||
		             strcmp(said, event->why) == 0))
			continue;
		said = event->why;
		fprintf(out, "  %s", ppi_color(out, PPI_YELLOW));
		ppi_put_wrapped(out, event->why, 4);
		fprintf(out, "%s", ppi_color(out, PPI_PLAIN));
	}
}

static void put_tracepoints(const struct ppi_list *list,
                            const struct ppi_list_group *group, FILE *out)
{
	size_t families = 0;
	const char *last = "";

	for (size_t i = 0; i < group->count; i++) {
		const char *name = list->events[group->first + i].event.name;
		size_t length = strcspn(name, ":");

		if (strncmp(last, name, length + 1) != 0)
			families++;
		last = name;
	}
	fprintf(out, "  %zu of them in %zu groups, as in portprof list "
	        "'sched:*'\n", group->count, families);
}

/* What cannot be used is one line, unless it was asked for. */
static void put_group(const struct ppi_list *list,
                      const struct ppi_list_group *group, FILE *out)
{
	bool is_asked_for = list->options.pattern || list->options.is_all;

	put_title(list, group, out);
	if (group->is_usable || is_asked_for) {
		if (group->source == PORTPROF_SOURCE_TRACEPOINT &&
		    !is_asked_for)
			put_tracepoints(list, group, out);
		else
			for (size_t i = 0; i < group->count; i++)
				put_event(list, group->first + i, out);
	}
	put_reasons(list, group, out);
	fputc('\n', out);
}

void ppi_list_print_text(const struct ppi_list *list, FILE *out)
{
	for (size_t i = 0; i < list->group_count; i++)
		put_group(list, &list->groups[i], out);
	put_presets(list, out);
}

/* ---- JSON ---- */

static void put_words(struct ppi_json *json, const char *key, const char *words)
{
	char word[128];

	ppi_json_array(json, key);
	while (*words) {
		size_t length = strcspn(words, " ");

		snprintf(word, sizeof(word), "%.*s", (int)length, words);
		ppi_json_text(json, NULL, word);
		words += length + strspn(words + length, " ");
	}
	ppi_json_close(json);
}

static void json_pmu(struct ppi_json *json, const portprof_catalogue_pmu *pmu)
{
	ppi_json_object(json, NULL);
	ppi_json_text(json, "pmu", pmu->name);
	ppi_json_text(json, "source", ppi_list_source(pmu->source));
	ppi_json_text(json, "means", pmu->means);
	ppi_json_flag(json, "is_core", pmu->is_core);
	if (pmu->type >= 0)
		ppi_json_signed(json, "type", pmu->type);
	ppi_json_text(json, "cpus", pmu->cpus[0] ? pmu->cpus : NULL);
	ppi_json_number(json, "events", pmu->event_count);
	put_words(json, "terms", pmu->terms);
	ppi_json_close(json);
}

static void json_event(struct ppi_json *json,
                       const struct ppi_list_event *event)
{
	bool is_usable = event->usable == PPI_LIST_USABLE ||
	                 event->usable == PPI_LIST_COUNTED;

	ppi_json_object(json, NULL);
	ppi_json_text(json, "event", event->event.name);
	put_words(json, "also", event->event.also);
	ppi_json_text(json, "source", ppi_list_source(event->event.source));
	ppi_json_text(json, "pmu", event->event.pmu[0] ? event->event.pmu
	                                               : NULL);
	ppi_json_text(json, "means", event->event.means[0]
	                                     ? event->event.means
	                                     : NULL);
	ppi_json_flag(json, "is_mask", event->event.is_mask);
	ppi_json_flag(json, "needs_mask", event->event.needs_mask);
	if (event->usable == PPI_LIST_UNTRIED)
		ppi_json_null(json, "usable");
	else
		ppi_json_flag(json, "usable", is_usable);
	if (is_usable)
		ppi_json_flag(json, "counted_only",
		              event->usable == PPI_LIST_COUNTED);
	if (event->why)
		ppi_json_text(json, "why", event->why);
	ppi_json_close(json);
}

void ppi_list_print_json(const struct ppi_list *list, FILE *out)
{
	struct ppi_json json;

	ppi_json_begin(&json, out, false);
	ppi_json_number(&json, "schema", SCHEMA);
	ppi_json_array(&json, "pmus");
	for (size_t i = 0; i < list->pmu_count; i++)
		json_pmu(&json, &list->pmus[i].pmu);
	ppi_json_close(&json);
	ppi_json_array(&json, "events");
	for (size_t i = 0; i < list->event_count; i++)
		json_event(&json, &list->events[i]);
	ppi_json_close(&json);
	json_presets(list, &json);
	ppi_json_end(&json);
}
