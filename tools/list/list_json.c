/* SPDX-License-Identifier: MIT */
/*
 * The catalogue for programs; portprof-list(1) has the keys. They may become
 * more, but keep their meaning as long as "schema" is 1.
 */
#include "config.h"

#include "tools/list/list.h"

#include "base/json.h"

#include <string.h>

enum { SCHEMA = 1 };

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

static void put_pmu(struct ppi_json *json, const portprof_catalogue_pmu *pmu)
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

static void put_event(struct ppi_json *json,
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
		put_pmu(&json, &list->pmus[i].pmu);
	ppi_json_close(&json);
	ppi_json_array(&json, "events");
	for (size_t i = 0; i < list->event_count; i++)
		put_event(&json, &list->events[i]);
	ppi_json_close(&json);
	ppi_list_json_presets(list, &json);
	ppi_json_end(&json);
}
