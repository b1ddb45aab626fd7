/* SPDX-License-Identifier: MIT */
/* Which events to count, and which of them together. */
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

/* One event of the group that was begun last. */
static bool take_event(struct ppi_stat *stat, const char *text, size_t length,
                       const char *suffix, size_t suffix_length)
{
	struct ppi_stat_event *event = add_event(stat);

	if (!event)
		goto out_of_memory;
	event->group = stat->group_count - 1;
	stat->groups[event->group].count++;
	event->asked = malloc(length + suffix_length + 1);
	if (!event->asked)
		goto out_of_memory;
	memcpy(event->asked, text, length);
	memcpy(event->asked + length, suffix, suffix_length);
	event->asked[length + suffix_length] = '\0';
	if (portprof_event_check(event->asked) == PORTPROF_OK)
		return true;
	ppi_say_failure(NULL);
	return false;

out_of_memory:
	ppi_say("out of memory");
	return false;
}

/* What is between braces, the suffix being what stands after them. */
static bool take_group(struct ppi_stat *stat, const char *text, size_t length,
                       const char *suffix, size_t suffix_length)
{
	if (!begin_group(stat)) {
		ppi_say("out of memory");
		return false;
	}
	for (size_t at = 0; at <= length;) {
		size_t here = strcspn(text + at, ",}");

		if (!take_event(stat, text + at, here, suffix, suffix_length))
			return false;
		at += here + 1;
	}
	return true;
}

static bool complain(const char *text, const char *at, const char *words)
{
	ppi_say_usage(PPI_EXIT_RECORD, "stat", "-e %s, column %zu: %s", text,
	              (size_t)(at - text) + 1, words);
	return false;
}

/* "{a,b}:u,c": two groups, the first of two events. */
static bool take_list(struct ppi_stat *stat, const char *text)
{
	const char *at = text;

	for (;;) {
		bool is_braced = *at == '{';
		size_t inside, after;

		at += is_braced;
		inside = strcspn(at, is_braced ? "{}" : ",{}");
		if (is_braced && at[inside] != '}')
			return complain(text, at - 1, "this brace is not "
			                "closed; groups do not nest");
		if (!is_braced && at[inside] && at[inside] != ',')
			return complain(text, at + inside, "a brace stands "
			                "at the beginning of a group or at "
			                "its end, as in {cycles,instructions}");
		after = is_braced ? strcspn(at + inside + 1, ",") : 0;
		if (after && at[inside + 1] != ':')
			return complain(text, at + inside + 1, "after a group "
			                "comes a comma, or modifiers for all "
			                "of it, as in {cycles,instructions}:u");
		if (!take_group(stat, at, inside, at + inside + is_braced,
		                after))
			return false;
		at += inside + is_braced + after;
		if (*at == '\0')
			return true;
		at++;
	}
}

/* Whether any backend can count hardware events here. */
static bool has_hardware(void)
{
	portprof_backend_info info = { .size = sizeof(info) };

	for (size_t i = 0; i < portprof_backend_count(); i++) {
		info.size = sizeof(info);
		if (portprof_backend_info_get(i, &info) == PORTPROF_OK &&
		    info.is_usable && info.caps & PORTPROF_CAP_HARDWARE)
			return true;
	}
	return false;
}

/* Two counters each: so many are left even where one is the watchdog's. */
static bool take_default(struct ppi_stat *stat)
{
	return take_list(stat, stat->options.is_system
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
	portprof_status status = portprof_event_explain(
		event->asked, backend ? backend : "auto", &info);

	if (status != PORTPROF_E_NOTFOUND && status != PORTPROF_E_INVALID)
		return true;
	ppi_say_failure(NULL);
	return false;
}

bool ppi_stat_choose(struct ppi_stat *stat)
{
	const struct ppi_stat_options *options = &stat->options;

	for (size_t i = 0; i < options->event_count; i++)
		if (!take_list(stat, options->events[i]))
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
