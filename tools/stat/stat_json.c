/* SPDX-License-Identifier: MIT */
/*
 * Counts for programs; portprof-stat(1) has the keys. They may become more,
 * but keep their meaning as long as "schema" is 1.
 */
#include "config.h"

#include "tools/stat/stat.h"

#include "base/json.h"
#include "tools/tools.h"

#include <math.h>
#include <string.h>

enum { SCHEMA = 1 };

static void put_numbers(struct ppi_json *json,
                        const struct ppi_stat_event *event,
                        const struct ppi_stat_value *value)
{
	bool was_tried = event->refusal.status == PORTPROF_OK;

	if (!ppi_stat_is_number(value))
		ppi_json_null(json, "value");
	else if (event->sum.runs > 1)
		ppi_json_real(json, "value", value->value);
	else
		ppi_json_number(json, "value", value->exact);
	if (!was_tried)
		return;
	ppi_json_number(json, "raw", value->raw);
	ppi_json_number(json, "enabled_ns", value->enabled_ns);
	ppi_json_number(json, "running_ns", value->running_ns);
}

static void put_sum(struct ppi_json *json, const struct ppi_stat_sum *sum)
{
	ppi_json_number(json, "runs", sum->runs);
	ppi_json_real(json, "deviation", ppi_stat_deviation(sum));
	ppi_json_real(json, "error", ppi_stat_error(sum));
	ppi_json_real(json, "least", sum->least);
	ppi_json_real(json, "most", sum->most);
}

static void put_metric(struct ppi_json *json, const struct ppi_stat *stat,
                       const struct ppi_stat_view *view, size_t index)
{
	struct ppi_stat_metric metric = ppi_stat_metric(
		stat, view->values, index, view->wall_ns);

	if (!metric.unit || view->values[index].status == PPI_STAT_IDLE)
		return;
	ppi_json_object(json, "metric");
	ppi_json_real(json, "value", metric.value);
	ppi_json_text(json, "unit", metric.unit);
	ppi_json_close(json);
}

static void put_parts(struct ppi_json *json,
                      const struct ppi_stat_event *event)
{
	if (event->part_count == 0)
		return;
	ppi_json_array(json, "parts");
	for (size_t i = 0; i < event->part_count; i++) {
		const struct ppi_stat_part *part = &event->parts[i];

		ppi_json_object(json, NULL);
		ppi_json_text(json, "pmu", part->pmu);
		ppi_json_text(json, "cpus", part->cpus);
		if (part->count.status <= PORTPROF_COUNT_SCALED)
			ppi_json_number(json, "raw", part->count.raw);
		else
			ppi_json_null(json, "raw");
		ppi_json_number(json, "running_ns", part->count.running_ns);
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

static void put_event(struct ppi_json *json, const struct ppi_stat *stat,
                      const struct ppi_stat_view *view, size_t index)
{
	const struct ppi_stat_event *event = &stat->events[index];
	const struct ppi_stat_value *value = &view->values[index];
	bool is_time = event->info.unit == PORTPROF_UNIT_NANOSECONDS;
	bool is_refused = event->refusal.status != PORTPROF_OK;

	ppi_json_object(json, NULL);
	if (event->place)
		ppi_json_text(json, ppi_stat_place_key(stat),
		              event->place->name);
	ppi_json_text(json, "event", event->name);
	if (!view->is_interval) {
		ppi_json_text(json, "asked", event->asked);
		ppi_json_text(json, "resolved",
		              is_refused ? NULL : event->canonical);
		ppi_json_number(json, "group", event->group);
	}
	ppi_json_text(json, "status", ppi_stat_status(event, value));
	if (!is_refused)
		ppi_json_text(json, "unit", is_time ? "ns" : "count");
	put_numbers(json, event, value);
	if (!view->is_interval && event->sum.runs > 1)
		put_sum(json, &event->sum);
	put_metric(json, stat, view, index);
	if (!isnan(ppi_stat_idle_ns(stat, view->values, index)))
		ppi_json_number(json, "idle_ns", (uint64_t)ppi_stat_idle_ns(
			stat, view->values, index));
	if (!view->is_interval)
		put_parts(json, event);
	if (is_refused && !view->is_interval)
		ppi_put_refusal(json, &event->refusal);
	ppi_json_close(json);
}

static void put_events(struct ppi_json *json, const struct ppi_stat *stat,
                       const struct ppi_stat_view *view)
{
	ppi_json_array(json, "events");
	for (size_t i = 0; i < stat->event_count; i++)
		put_event(json, stat, view, i);
	ppi_json_close(json);
}

/* A line of its own, so that it can be read while others are still to come. */
static void print_interval(struct ppi_stat *stat,
                           const struct ppi_stat_view *view)
{
	struct ppi_json json;

	ppi_json_begin(&json, stat->out, true);
	ppi_json_number(&json, "schema", SCHEMA);
	ppi_json_real(&json, "time_s", (double)view->at_ns / 1e9);
	ppi_json_number(&json, "length_ns", view->wall_ns);
	put_events(&json, stat, view);
	ppi_json_end(&json);
}

static void put_processes(struct ppi_json *json,
                          const struct ppi_targets *targets)
{
	if (targets->name)
		ppi_json_text(json, "name", targets->name);
	if (targets->unit)
		ppi_json_text(json, "unit", targets->unit);
	if (targets->container)
		ppi_json_text(json, "container", targets->container);
	if (targets->cgroup)
		ppi_json_text(json, "cgroup", targets->cgroup);
	else if (targets->count == 1)
		ppi_json_signed(json, "pid", targets->processes[0].id);
	else if (targets->count) {
		ppi_json_array(json, "pids");
		for (size_t i = 0; i < targets->count; i++)
			ppi_json_signed(json, NULL, targets->processes[i].id);
		ppi_json_close(json);
	}
}

static void put_target(struct ppi_json *json, const struct ppi_stat *stat)
{
	const struct ppi_stat_options *options = &stat->options;
	const struct ppi_targets *targets = &options->targets;

	if (options->command) {
		ppi_json_array(json, "command");
		for (size_t i = 0; options->command[i]; i++)
			ppi_json_text(json, NULL, options->command[i]);
		ppi_json_close(json);
	}
	if (targets->scope == PPI_SCOPE_SYSTEM)
		ppi_json_text(json, "cpus",
		              targets->cpus ? targets->cpus : "all");
	if (targets->cgroup_name)
		ppi_json_text(json, "cgroup", targets->cgroup_name);
	put_processes(json, targets);
	if (targets->thread)
		ppi_json_signed(json, "tid", targets->thread);
	ppi_json_text(json, "backend", stat->backend[0] ? stat->backend
	                                                : NULL);
}

static void put_time(struct ppi_json *json, const char *key,
                     const struct ppi_stat_sum *sum)
{
	ppi_json_object(json, key);
	ppi_json_real(json, "value", sum->mean);
	if (sum->runs > 1)
		put_sum(json, sum);
	ppi_json_close(json);
}

static void print_final(struct ppi_stat *stat,
                        const struct ppi_stat_view *view)
{
	struct ppi_json json;

	ppi_json_begin(&json, stat->out, stat->options.interval_ms > 0);
	ppi_json_number(&json, "schema", SCHEMA);
	put_target(&json, stat);
	ppi_json_number(&json, "runs", stat->done);
	put_events(&json, stat, view);
	put_time(&json, "wall_ns", &stat->wall);
	if (stat->user.runs) {
		put_time(&json, "user_ns", &stat->user);
		put_time(&json, "system_ns", &stat->system);
	}
	ppi_stat_put_changes_json(stat, &json);
	if (stat->options.command) {
		ppi_json_signed(&json, "exit_status", stat->end.exit_status);
		ppi_json_signed(&json, "signal", stat->end.signal);
	}
	ppi_json_end(&json);
}

const struct ppi_stat_printer ppi_stat_json = {
	.interval = print_interval,
	.final = print_final,
};
