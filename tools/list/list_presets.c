/* SPDX-License-Identifier: MIT */
/* The presets of portprof list: numbers computed from several counts. */
#include "config.h"

#include "tools/list/list.h"

#include "base/json.h"
#include "tools/terminal.h"
#include "tools/tools.h"

#include <string.h>

#include <portprof/tool.h>

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

/* NULL when all of its events can be counted here. The words last until the next
 * failing call. */
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

void ppi_list_put_presets(const struct ppi_list *list, FILE *out)
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
		ppi_list_put_name(preset->name, out);
		ppi_put_wrapped(out, words, PPI_LIST_NAME_WIDTH + 4);
	}
	/* of another one the words differ by its event's name only */
	if (said[0]) {
		fprintf(out, "  %s", ppi_color(out, PPI_YELLOW));
		ppi_put_wrapped(out, said, 4);
		fprintf(out, "%s", ppi_color(out, PPI_PLAIN));
	}
	fputc('\n', out);
}

void ppi_list_json_presets(const struct ppi_list *list, struct ppi_json *json)
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
