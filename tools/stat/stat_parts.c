/* SPDX-License-Identifier: MIT */
/* Counts of an event by each type of CPU. */
#include "config.h"

#include "tools/stat/stat.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>

static void take_part(struct ppi_stat_event *event, const char *pmu,
                      const char *cpus, const portprof_count *count)
{
	struct ppi_stat_part *part = &event->parts[event->part_count++];

	snprintf(part->pmu, sizeof(part->pmu), "%s", pmu);
	snprintf(part->cpus, sizeof(part->cpus), "%s", cpus);
	part->count = *count;
}

void ppi_stat_take_parts(struct ppi_stat *stat)
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

static const char *worth(const portprof_count *count)
{
	switch (count->status) {
	case PORTPROF_COUNT_OK:
	case PORTPROF_COUNT_SCALED:
		return "";
	case PORTPROF_COUNT_REFUSED:
		return " (has no such event)";
	default:
		return " (never ran there)";
	}
}

void ppi_stat_put_parts(struct ppi_stat *stat, size_t index, int indent)
{
	const struct ppi_stat_event *event = &stat->events[index];

	for (size_t i = 0; i < event->part_count; i++) {
		const struct ppi_stat_part *part = &event->parts[i];

		fprintf(stat->out, "%*" PRIu64 "       on CPUs %s, by %s%s\n",
		        indent, part->count.raw, part->cpus, part->pmu,
		        worth(&part->count));
	}
}

void ppi_stat_json_parts(struct ppi_json *json,
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
