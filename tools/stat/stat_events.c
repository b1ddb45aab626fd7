/* SPDX-License-Identifier: MIT */
/* The events and their groups: chosen, opened on the target, and read. */
#include "config.h"

#include "tools/stat/stat.h"
#include "tools/tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- choosing ---- */

struct ppi_stat_event *ppi_stat_add_event(struct ppi_stat *stat)
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

bool ppi_stat_add_group(struct ppi_stat *stat)
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

	if (first_group + item == stat->group_count && !ppi_stat_add_group(stat))
		return false;
	event = ppi_stat_add_event(stat);
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

/* Two counters each: so many are left even where one is the watchdog's. */
static bool take_default(struct ppi_stat *stat)
{
	return take_list(stat, stat->options.targets.scope == PPI_SCOPE_SYSTEM
	                 ? "{cpu-clock,context-switches,cpu-migrations,"
	                   "page-faults}"
	                 : "{task-clock,context-switches,cpu-migrations,"
	                   "page-faults}") &&
	       (!ppi_has_hardware_counters() ||
	        (take_list(stat, "{cycles,instructions},"
	                         "{branches,branch-misses}") &&
	         (!stat->options.has_details ||
	          take_list(stat, "{L1-dcache-loads,L1-dcache-load-misses},"
	                          "{cache-references,cache-misses},"
	                          "{dTLB-loads,dTLB-load-misses}")))) &&
	       (!stat->options.has_details ||
	        take_list(stat, "{minor-faults,major-faults},"
	                        "alignment-faults,emulation-faults"));
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

/* What no backend has heard of is a mistake; what is not available is reported in
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
	return stat->event_count > 0 || options->is_null ||
	       take_default(stat);
}

void ppi_stat_free(struct ppi_stat *stat)
{
	ppi_stat_close(stat);
	for (size_t i = 0; i < stat->event_count; i++)
		free(stat->events[i].asked);
	free(stat->events);
	free(stat->groups);
	free(stat->places);
	free(stat->walls);
	free(stat->changes);
	free(stat->program);
}

/* ---- opening ---- */

/* Whether values are wanted while a command runs: what is known at its end
 * alone is no use then. */
static bool needs_its_course(const struct ppi_stat_options *options)
{
	return options->interval_ms || options->delay_ms;
}

/* Whether it has a place that only a program in memory tells. */
static bool has_symbols(const struct ppi_stat *stat,
                        const struct ppi_stat_group *group)
{
	for (size_t i = 0; i < group->count; i++)
		if (strncmp(stat->events[group->first + i].asked,
		            "breakpoint:", strlen("breakpoint:")) == 0)
			return true;
	return false;
}

bool ppi_stat_has_symbols(const struct ppi_stat *stat)
{
	for (size_t i = 0; i < stat->group_count; i++)
		if (has_symbols(stat, &stat->groups[i]))
			return true;
	return false;
}

/* Of a place alone, where counts are apart. */
static portprof_status set_target(const struct ppi_stat *stat, pid_t child,
                                  const struct ppi_stat_group *group,
                                  portprof_config *config)
{
	const struct ppi_stat_place *place = stat->events[group->first].place;
	struct ppi_targets one = stat->options.targets;

	if (!place)
		return ppi_targets_set(&stat->options.targets, child, config);
	one.scope = place->tid ? PPI_SCOPE_THREAD : PPI_SCOPE_SYSTEM;
	one.thread = place->tid;
	one.cpus = place->tid ? NULL : place->cpus;
	return ppi_targets_set(&one, child, config);
}

/* NULL with the library's diagnostic. */
static portprof_config *config_of(const struct ppi_stat *stat, pid_t child,
                                  const struct ppi_stat_group *group)
{
	const struct ppi_stat_options *options = &stat->options;
	portprof_config *config = portprof_config_new();
	portprof_status status;

	if (!config)
		return NULL;
	status = stat->stops_at_exec && has_symbols(stat, group)
		? portprof_config_set_target(config, PORTPROF_TARGET_PID, child)
		: set_target(stat, child, group, config);
	if (status == PORTPROF_OK && options->backend)
		status = portprof_config_set_backend(config, options->backend);
	if (status == PORTPROF_OK && !stat->events[group->first].place &&
	    (options->targets.scope == PPI_SCOPE_COMMAND ||
	     options->targets.scope == PPI_SCOPE_PROCESS))
		status = portprof_config_set_number(config, "children",
						    !options->has_no_children);
	if (status == PORTPROF_OK && needs_its_course(options))
		status = portprof_config_require(config, PORTPROF_CAP_ATTACH);
	if (status == PORTPROF_OK)
		status = portprof_config_set_number(config, "partial", 1);
	for (size_t i = 0; status == PORTPROF_OK && i < group->count; i++)
		status = portprof_config_add_event(
			config, stat->events[group->first + i].asked);
	if (status == PORTPROF_OK)
		return config;
	portprof_config_free(config);
	return NULL;
}

/* Whether ":u" stands in a canonical event string. */
static bool says_user(const char *canonical)
{
	for (const char *at = strchr(canonical, ':'); at;
	     at = strchr(at + 1, ':'))
		if (at[1] == 'u' && (at[2] == ':' || at[2] == '\0'))
			return true;
	return false;
}

/* As perf shows it: what is counted in user mode alone ends in :u, also when
 * that is not what was asked for but all that is permitted. */
static void name_event(struct ppi_stat_event *event)
{
	const portprof_event_info *info = &event->info;
	bool is_cut = event->refusal.status == PORTPROF_OK &&
	              info->counts_user && !info->counts_kernel &&
	              !says_user(event->canonical);

	snprintf(event->name, sizeof(event->name), "%s%s", event->asked,
	         is_cut ? ":u" : "");
}

/* Who cannot look into another process knows what a command used at its end. */
static bool is_known_at_end(const struct ppi_stat *stat, const char *backend)
{
	portprof_backend_info info;

	return !ppi_stat_is_attached(&stat->options) &&
	       ppi_backend_find_info(backend, &info) &&
	       !(info.caps & PORTPROF_CAP_ATTACH);
}

/* The backend that counts the others of a group has not this one; a better
 * backend that may not be used has, and says what to do. */
static void ask_better_backend(const struct ppi_stat *stat,
                               struct ppi_stat_event *event)
{
	portprof_event_info info = { .size = sizeof(info) };

	if (stat->options.backend ||
	    event->refusal.status != PORTPROF_E_UNSUPPORTED)
		return;
	if (portprof_event_try(event->asked, "auto", &info) ==
	    PORTPROF_E_DENIED)
		event->refusal = *portprof_last_diag();
}

/* The user wrote the preset's name, and what a name like its event's would be is
 * no help. */
static void say_preset(struct ppi_stat_event *event)
{
	char words[sizeof(event->refusal.words)];
	const char *reason = portprof_preset_missing(event->preset);

	if (reason) {
		snprintf(event->refusal.words, sizeof(event->refusal.words),
		         "%s: %s", event->preset->name, reason);
		return;
	}
	if (event->refusal.status == PORTPROF_E_NOTFOUND) {
		snprintf(event->refusal.words, sizeof(event->refusal.words),
		         "%s: no PMU of this machine counts '%.200s'",
		         event->preset->name, event->asked);
		return;
	}
	snprintf(words, sizeof(words), "%s", event->refusal.words);
	snprintf(event->refusal.words, sizeof(event->refusal.words),
	         "%s: %.400s", event->preset->name, words);
}

static void take_answers(struct ppi_stat *stat, struct ppi_stat_group *group)
{
	const char *backend = portprof_group_backend(group->open);
	bool is_by_wait4 = is_known_at_end(stat, backend);

	/* the one that counts as it goes is the one to be named */
	if (!is_by_wait4 || !stat->backend[0])
		snprintf(stat->backend, sizeof(stat->backend), "%s", backend);
	for (size_t i = 0; i < group->count; i++) {
		struct ppi_stat_event *event = &stat->events[group->first + i];

		event->refusal = *portprof_group_event_diag(group->open, i);
		ask_better_backend(stat, event);
		event->info.size = sizeof(event->info);
		if (event->refusal.status == PORTPROF_OK &&
		    portprof_group_event(group->open, i, &event->info) ==
		            PORTPROF_OK) {
			snprintf(event->canonical, sizeof(event->canonical),
			         "%s", event->info.canonical);
			snprintf(event->description, sizeof(event->description),
			         "%s", event->info.description);
		}
		if (event->preset && event->refusal.status)
			say_preset(event);
		event->is_by_wait4 = is_by_wait4 &&
		                     event->refusal.status == PORTPROF_OK;
		name_event(event);
	}
}

/* No event of the group could be had: each for its own reason, which is
 * shorter than the story of how every backend was tried. */
static void refuse_all(struct ppi_stat *stat,
                       const struct ppi_stat_group *group)
{
	const char *backend = stat->options.backend;
	portprof_diag all = *portprof_last_diag();

	for (size_t i = 0; i < group->count; i++) {
		struct ppi_stat_event *event = &stat->events[group->first + i];
		portprof_event_info info = { .size = sizeof(info) };

		event->refusal = all;
		/* this process has not the command's symbols */
		if (!has_symbols(stat, group) &&
		    portprof_event_try(event->asked, backend ? backend : "auto",
				       &info))
			event->refusal = *portprof_last_diag();
		if (event->preset)
			say_preset(event);
		name_event(event);
	}
}

/* Whether the events are at fault, and not the user or the target: of a preset
 * the user did not write their names. */
static bool is_refusal(const struct ppi_stat *stat,
                       const struct ppi_stat_group *group,
                       portprof_status status)
{
	for (size_t i = 0; i < group->count; i++)
		if (status == PORTPROF_E_NOTFOUND &&
		    stat->events[group->first + i].preset)
			return true;
	/* no debug register is left for it: those before it have theirs */
	if (status == PORTPROF_E_LIMIT &&
	    portprof_last_diag()->os_errno == ENOSPC)
		return true;
	return status == PORTPROF_E_UNSUPPORTED ||
	       status == PORTPROF_E_DENIED || status == PORTPROF_E_BUSY;
}

/* What the backend of a group refuses another one may count by itself. */
static void open_alone(struct ppi_stat *stat, pid_t child, size_t index)
{
	struct ppi_stat_event *event = &stat->events[index];
	struct ppi_stat_group one = { .first = index, .count = 1 };
	portprof_diag why = event->refusal;
	portprof_config *config = config_of(stat, child, &one);

	if (config && portprof_group_open_config(config, &one.open) ==
	                      PORTPROF_OK) {
		take_answers(stat, &one);
		event->alone = one.open;
	}
	portprof_config_free(config);
	if (!event->alone)
		event->refusal = why;
}

static bool open_group(struct ppi_stat *stat, pid_t child,
                       struct ppi_stat_group *group)
{
	portprof_config *config = config_of(stat, child, group);
	portprof_status status = PORTPROF_E_NOMEM;

	if (config)
		status = portprof_group_open_config(config, &group->open);
	portprof_config_free(config);
	if (status == PORTPROF_OK) {
		take_answers(stat, group);
		for (size_t i = 0; group->count > 1 && i < group->count; i++)
			if (stat->events[group->first + i].refusal.status &&
			    !stat->options.backend)
				open_alone(stat, child, group->first + i);
	} else if (is_refusal(stat, group, portprof_last_diag()->status))
		refuse_all(stat, group);
	else
		return false;
	return true;
}

/* For an event before this one. */
static bool was_said(const struct ppi_stat *stat, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(stat->events[i].refusal.words,
		           stat->events[index].refusal.words) == 0)
			return true;
	return false;
}

/* No event counts, and the user asked for these events or this backend, or
 * there is no command whose times would be left to show. */
static bool is_pointless(const struct ppi_stat *stat)
{
	bool is_chosen;

	if (stat->event_count == 0) /* -n */
		return false;
	is_chosen = stat->events[0].was_named || stat->options.backend;
	if (!is_chosen && !ppi_stat_is_attached(&stat->options))
		return false;
	for (size_t i = 0; i < stat->event_count; i++)
		if (stat->events[i].refusal.status == PORTPROF_OK)
			return false;
	for (size_t i = 0; i < stat->event_count; i++)
		if (i == 0 || (is_chosen && !was_said(stat, i)))
			ppi_say("%s", stat->events[i].refusal.words);
	if (ppi_stat_is_attached(&stat->options) && !stat->options.backend &&
	    stat->events[0].refusal.reason == PORTPROF_REASON_NO_BACKEND)
		ppi_say("a command that portprof starts can still be "
		        "counted: portprof stat -- COMMAND");
	if (stat->options.command && needs_its_course(&stat->options))
		ppi_say("leave %s out to count the command until it ends",
		        stat->options.interval_ms ? "-I" : "-D");
	return true;
}

static void say_why_not_open(bool at_exec)
{
	bool is_missing = portprof_last_diag()->status == PORTPROF_E_NOTFOUND;

	ppi_say_failure(NULL);
	if (at_exec && is_missing)
		ppi_say("when it starts, only the program is in memory, not "
		        "its libraries; for those use uprobe:FILE:SYMBOL, or "
		        "attach with -p PID");
}

/* Those that wait for the command's program, or the others. */
static bool open_groups(struct ppi_stat *stat, pid_t child, bool at_exec)
{
	for (size_t i = 0; i < stat->group_count; i++)
		if ((stat->stops_at_exec &&
		     has_symbols(stat, &stat->groups[i])) == at_exec &&
		    !open_group(stat, child, &stat->groups[i])) {
			say_why_not_open(at_exec);
			ppi_stat_close(stat);
			return false;
		}
	return true;
}

/* Nothing counts, for want of rights that single processes do not take. */
static bool is_denied(const struct ppi_stat *stat)
{
	for (size_t i = 0; i < stat->event_count; i++)
		if (stat->events[i].refusal.status != PORTPROF_E_DENIED)
			return false;
	return true;
}

/* Who is missing in the counts. */
static void say_missing(const struct ppi_stat *stat)
{
	const struct ppi_targets *targets = &stat->options.targets;

	for (size_t i = 0; i < stat->event_count; i++)
		if (stat->events[i].refusal.status == PORTPROF_OK &&
		    stat->events[i].refusal.words[0] && !was_said(stat, i) &&
		    !stat->options.is_quiet)
			ppi_say("%s", stat->events[i].refusal.words);
	if (targets->gone && !stat->options.is_quiet)
		ppi_say("%zu process%s ended before %s could be attached",
		        targets->gone, targets->gone == 1 ? "" : "es",
		        targets->gone == 1 ? "it" : "they");
}

static bool finish_open(struct ppi_stat *stat)
{
	say_missing(stat);
	if (!is_pointless(stat))
		return true;
	ppi_stat_close(stat);
	return false;
}

bool ppi_stat_open(struct ppi_stat *stat, pid_t child)
{
	if (!open_groups(stat, child, false))
		return false;
	if (is_denied(stat) &&
	    ppi_targets_leave_cgroup(&stat->options.targets)) {
		ppi_stat_close(stat);
		if (!open_groups(stat, child, false))
			return false;
	}
	ppi_targets_say_no_cgroup(&stat->options.targets);
	for (size_t i = 0; i < stat->event_count; i++) {
		struct ppi_stat_event *event = &stat->events[i];

		memset(&event->base, 0, sizeof(event->base));
		event->before = event->base;
	}
	return stat->stops_at_exec || finish_open(stat);
}

bool ppi_stat_open_at_exec(struct ppi_stat *stat, pid_t child)
{
	return open_groups(stat, child, true) && finish_open(stat);
}

/* ---- reading ---- */

static void take_part(struct ppi_stat_event *event, const char *pmu,
                      const char *cpus, const portprof_count *count)
{
	struct ppi_stat_part *part = &event->parts[event->part_count++];

	snprintf(part->pmu, sizeof(part->pmu), "%s", pmu);
	snprintf(part->cpus, sizeof(part->cpus), "%s", cpus);
	part->count = *count;
}

/* Before the groups are closed. */
static void take_parts(struct ppi_stat *stat)
{
	for (size_t i = 0; i < stat->event_count; i++) {
		struct ppi_stat_event *event = &stat->events[i];
		const struct ppi_stat_group *group =
			&stat->groups[event->group];
		const char *pmu, *cpus;
		portprof_count count;

		event->part_count = 0;
		while (group->open && event->part_count < PPI_STAT_PARTS &&
		       portprof_group_part(group->open, i - group->first,
		                           event->part_count, &pmu, &cpus,
		                           &count) == PORTPROF_OK)
			take_part(event, pmu, cpus, &count);
	}
}

void ppi_stat_close(struct ppi_stat *stat)
{
	take_parts(stat);
	for (size_t i = 0; i < stat->group_count; i++) {
		portprof_group_close(stat->groups[i].open);
		stat->groups[i].open = NULL;
	}
	for (size_t i = 0; i < stat->event_count; i++) {
		portprof_group_close(stat->events[i].alone);
		stat->events[i].alone = NULL;
	}
}

static bool read_group(struct ppi_stat *stat,
                       const struct ppi_stat_group *group,
                       portprof_count *counts)
{
	if (!group->open) {
		memset(counts, 0, group->count * sizeof(*counts));
		for (size_t i = 0; i < group->count; i++)
			counts[i].status = PORTPROF_COUNT_REFUSED;
	} else if (portprof_group_read(group->open, counts, group->count)) {
		ppi_say_failure("reading");
		return false;
	}
	for (size_t i = 0; i < group->count; i++) {
		struct ppi_stat_event *event = &stat->events[group->first + i];

		event->now = counts[i];
		if (event->alone &&
		    portprof_group_read(event->alone, &event->now, 1)) {
			ppi_say_failure("reading");
			return false;
		}
	}
	return true;
}

bool ppi_stat_read(struct ppi_stat *stat)
{
	portprof_count *counts = calloc(stat->event_count, sizeof(*counts));
	bool is_good = counts != NULL;

	if (!counts)
		ppi_say("out of memory");
	for (size_t i = 0; is_good && i < stat->group_count; i++)
		is_good = read_group(stat, &stat->groups[i], counts);
	free(counts);
	return is_good;
}

bool ppi_stat_read_ended(struct ppi_stat *stat)
{
	bool is_good = true;

	for (size_t i = 0; is_good && i < stat->event_count; i++) {
		struct ppi_stat_event *event = &stat->events[i];
		struct ppi_stat_group *group = &stat->groups[event->group];
		size_t index = i - group->first;

		if (event->is_by_wait4 && event->alone)
			is_good = !portprof_group_read(event->alone,
			                               &event->now, 1);
		else if (event->is_by_wait4)
			is_good = !portprof_group_event_read(group->open, index,
			                                 &event->now);
	}
	if (!is_good)
		ppi_say_failure("reading");
	return is_good;
}

bool ppi_stat_begin(struct ppi_stat *stat)
{
	if (!ppi_stat_read(stat))
		return false;
	for (size_t i = 0; i < stat->event_count; i++) {
		struct ppi_stat_event *event = &stat->events[i];

		event->base = event->before = event->now;
	}
	return true;
}
