/* SPDX-License-Identifier: MIT */
/* The events to count, and their groups. */
#include "config.h"

#include "tools/stat/stat.h"

#include "tools/tools.h"

#include <stdlib.h>
#include <string.h>

static struct ppi_stat_event *add_event(struct ppi_stat *stat)
{
	struct ppi_stat_event *grown =
		realloc(stat->events, (stat->event_count + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	stat->events = grown;
	grown += stat->event_count++;
	memset(grown, 0, sizeof(*grown));
	return grown;
}

static bool begin_group(struct ppi_stat *stat)
{
	struct ppi_stat_group *grown =
		realloc(stat->groups, (stat->group_count + 1) * sizeof(*grown));

	if (!grown)
		return false;
	stat->groups = grown;
	grown[stat->group_count++] =
		(struct ppi_stat_group){ .first = stat->event_count };
	return true;
}

/* One event more; `item` is its number among the groups of its list. */
static bool add_to_item(struct ppi_stat *stat, const char *text, size_t item,
                       size_t first_group)
{
	struct ppi_stat_event *event;

	if (first_group + item == stat->group_count && !begin_group(stat))
		return false;
	event = add_event(stat);
	if (!event)
		return false;
	event->group = first_group + item;
	stat->groups[event->group].count++;
	event->asked = strdup(text);
	return event->asked != NULL;
}

/* Whether a preset has an event of that number. */
static bool is_part(const portprof_preset *preset, size_t part)
{
	return preset && part < PORTPROF_PRESET_EVENTS_MAX &&
	       preset->events[part];
}

/* "{a,b}:u,c": two groups, the first of two events. */
static bool take_list(struct ppi_stat *stat, const char *list)
{
	size_t first_group = stat->group_count, item, part = 0;
	const portprof_preset *preset = NULL, *begun;
	portprof_status status;
	char event[256];

	for (size_t i = 0; (status = portprof_event_list_get(
				    list, i, event, sizeof(event), &item)) ==
	                   PORTPROF_OK; i++) {
		if (!add_to_item(stat, event, item, first_group)) {
			ppi_say("out of memory");
			return false;
		}
		begun = portprof_event_list_preset(list, i);
		part = begun ? 0 : part + 1;
		if (begun || !is_part(preset, part))
			preset = begun;
		stat->events[stat->event_count - 1].preset = preset;
		stat->events[stat->event_count - 1].part = part;
	}
	if (status == PORTPROF_END)
		return true;
	ppi_say_failure(NULL);
	return false;
}

/* Whether any backend can count hardware events here. */
static bool has_hardware(void)
{
	portprof_backend_info info = { .size = sizeof(info) };

	for (size_t i = 0; i < portprof_backend_count(); i++) {
		if (portprof_backend_info_get(i, &info) == PORTPROF_OK &&
		    info.is_usable && info.caps & PORTPROF_CAP_HARDWARE)
			return true;
	}
	return false;
}

/* Two counters each: so many are left even where one is the watchdog's. */
static bool take_default(struct ppi_stat *stat)
{
	return take_list(stat, stat->options.targets.scope == PPI_SCOPE_SYSTEM
	                 ? "{cpu-clock,context-switches,cpu-migrations,"
	                   "page-faults}"
	                 : "{task-clock,context-switches,cpu-migrations,"
	                   "page-faults}") &&
	       (!has_hardware() ||
	        take_list(stat, "{cycles,instructions},"
	                        "{branches,branch-misses}"));
}

/* A configuration file counts what it would sample, each event alone. */
static bool take_file(struct ppi_stat *stat)
{
	const struct ppi_stat_options *options = &stat->options;
	portprof_config *file = portprof_config_new();
	bool is_good = false;

	if (!file) {
		ppi_say("out of memory");
		return false;
	}
	if (portprof_config_load(file, options->config_path,
	                         options->set_name)) {
		ppi_say_failure(NULL);
		goto free;
	}
	is_good = true;
	for (size_t i = 0; is_good && portprof_config_event(file, i); i++)
		is_good = take_list(stat, portprof_config_event(file, i));
free:
	portprof_config_free(file);
	return is_good;
}

/* What no backend has heard of is a mistake; what cannot be had is told in
 * the table. */
static bool is_known(struct ppi_stat_event *event, const char *backend)
{
	portprof_event_info info = { .size = sizeof(info) };
	portprof_status status = portprof_event_try(
		event->asked, backend ? backend : "auto", &info);

	/* the user's word was the preset's name */
	if (status == PORTPROF_E_NOTFOUND ? event->preset != NULL
	                                  : status != PORTPROF_E_INVALID)
		return true;
	ppi_say_failure(NULL);
	return false;
}

bool ppi_stat_choose(struct ppi_stat *stat)
{
	const struct ppi_stat_options *options = &stat->options;

	for (size_t i = 0; i < options->events.count; i++)
		if (!take_list(stat, options->events.list[i]))
			return false;
	if (stat->event_count == 0 &&
	    (options->config_path || options->set_name) && !take_file(stat))
		return false;
	for (size_t i = 0; i < stat->event_count; i++) {
		stat->events[i].was_named = true;
		if (!is_known(&stat->events[i], options->backend))
			return false;
	}
	return stat->event_count > 0 || take_default(stat);
}

void ppi_stat_free(struct ppi_stat *stat)
{
	ppi_stat_close(stat);
	for (size_t i = 0; i < stat->event_count; i++)
		free(stat->events[i].asked);
	free(stat->events);
	free(stat->groups);
	free(stat->program);
}
