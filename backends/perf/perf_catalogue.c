/* SPDX-License-Identifier: MIT */
/* Which events and PMUs there are: tables, sysfs and tracefs read aloud. */
#include "backends/perf/perf_kernel.h"

#include "backends/backend.h"
#include "backends/perf/perf_names.h"
#include "backends/perf/perf_proc.h"
#include "backends/perf/perf_sysfs.h"
#include "backends/perf/perf_tables.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 512, TRACE_CHUNK = 1 << 16 };

/* Who asks, and what was answered; other than 0 ends every walk. */
struct walk {
	const struct perf_kernel *kernel;
	portprof_event_fn take;
	void *context;
	portprof_catalogue_event event;
	int answer;
};

static bool give(struct walk *walk)
{
	walk->event.size = sizeof(walk->event);
	walk->answer = walk->take(&walk->event, walk->context);
	return walk->answer == 0;
}

static void begin(struct walk *walk, portprof_source source, const char *pmu)
{
	memset(&walk->event, 0, sizeof(walk->event));
	walk->event.source = source;
	snprintf(walk->event.pmu, sizeof(walk->event.pmu), "%s", pmu);
}

/* ---- generic events ---- */

static portprof_source source_of(const struct ppi_perf_name *name)
{
	if (name->is_software)
		return PORTPROF_SOURCE_SOFTWARE;
	return name->type == PERF_TYPE_HW_CACHE ? PORTPROF_SOURCE_CACHE
	                                        : PORTPROF_SOURCE_HARDWARE;
}

/* Names come with their other spellings behind them: give an event when the
 * next one begins. */
static bool take_name(const struct ppi_perf_name *name, const char *spelling,
                      void *context)
{
	struct walk *walk = context;
	portprof_catalogue_event *event = &walk->event;

	if (strcmp(name->name, spelling) != 0) {
		size_t used = strlen(event->also);

		snprintf(event->also + used, sizeof(event->also) - used,
		         "%s%s", used ? " " : "", spelling);
		return false;
	}
	if (event->name[0] && !give(walk))
		return true;
	begin(walk, source_of(name), "");
	snprintf(event->name, sizeof(event->name), "%s", name->name);
	snprintf(event->means, sizeof(event->means), "%s", name->means);
	return false;
}

static void walk_names(struct walk *walk)
{
	begin(walk, PORTPROF_SOURCE_SOFTWARE, "");
	ppi_perf_names_walk(take_name, walk);
	if (walk->answer == 0)
		give(walk);
}

/* ---- libpfm4's tables ---- */

/* The PMUs that stand for the kernel's generic events, not for hardware. */
static bool is_generic(const struct ppi_table_pmu *pmu)
{
	return strcmp(pmu->name, "perf") == 0 ||
	       strcmp(pmu->name, "perf_raw") == 0;
}

/* Whether the event says nothing without one of its masks. */
static bool needs_mask(int number)
{
	struct ppi_table_part part;
	bool has_mask = false;
	int at = -1;

	while (ppi_table_next_part(number, &at, &part)) {
		if (part.is_mask && part.is_default)
			return false;
		has_mask |= part.is_mask;
	}
	return has_mask;
}

static void walk_masks(struct walk *walk, const struct ppi_table_pmu *pmu,
                       int number, const struct ppi_table_event *event)
{
	struct ppi_table_part part;
	int at = -1;

	while (walk->answer == 0 && ppi_table_next_part(number, &at, &part)) {
		if (!part.is_mask)
			continue;
		begin(walk, PORTPROF_SOURCE_TABLE, pmu->name);
		walk->event.is_mask = 1;
		snprintf(walk->event.name, sizeof(walk->event.name),
		         "%.60s::%.120s:%.60s", pmu->name, event->name,
		         part.name);
		snprintf(walk->event.means, sizeof(walk->event.means), "%s",
		         part.means);
		give(walk);
	}
}

static void walk_table(struct walk *walk, const struct ppi_table_pmu *pmu)
{
	struct ppi_table_event event;
	int number = -1;

	while (walk->answer == 0 &&
	       ppi_table_next_event(pmu, &number, &event)) {
		begin(walk, PORTPROF_SOURCE_TABLE, pmu->name);
		snprintf(walk->event.name, sizeof(walk->event.name),
		         "%.60s::%.120s", pmu->name, event.name);
		snprintf(walk->event.also, sizeof(walk->event.also), "%s",
		         event.also);
		snprintf(walk->event.means, sizeof(walk->event.means), "%s",
		         event.means);
		walk->event.needs_mask = needs_mask(number);
		if (give(walk))
			walk_masks(walk, pmu, number, &event);
	}
}

static void walk_tables(struct walk *walk)
{
	struct ppi_table_pmu pmu;
	int id = 0;

	while (walk->answer == 0 && ppi_table_next_pmu(&id, &pmu))
		if (pmu.is_present && !is_generic(&pmu))
			walk_table(walk, &pmu);
}

/* ---- the system's PMUs ---- */

/* Scales and units of events stand beside them as files with a dot. */
static bool is_event_file(const char *name)
{
	return strchr(name, '.') == NULL;
}

static void walk_system_pmu(struct walk *walk, const char *pmu)
{
	char path[PATH_ROOM], terms[256];
	char *names;

	snprintf(path, sizeof(path), PERF_SYSFS_PMUS "/%s/events", pmu);
	names = perf_sysfs_names(walk->kernel, path);
	for (const char *at = names; at && *at && walk->answer == 0;
	     at += strlen(at) + 1) {
		if (!is_event_file(at) ||
		    !perf_sysfs_text(walk->kernel, pmu, "events", at, terms,
		                     sizeof(terms)))
			continue;
		begin(walk, PORTPROF_SOURCE_SYSTEM, pmu);
		snprintf(walk->event.name, sizeof(walk->event.name),
		         "%.60s::%.180s", pmu, at);
		snprintf(walk->event.means, sizeof(walk->event.means),
		         "%s of PMU %s: %s", at, pmu, terms);
		give(walk);
	}
	free(names);
}

static void walk_system(struct walk *walk)
{
	char *pmus = perf_sysfs_names(walk->kernel, PERF_SYSFS_PMUS);

	for (const char *at = pmus; at && *at && walk->answer == 0;
	     at += strlen(at) + 1)
		walk_system_pmu(walk, at);
	free(pmus);
}

/* ---- tracepoints ---- */

/* Lines "GROUP:EVENT" of tracefs' available_events; the last one may be cut
 * and is left for later. Returns the bytes that were used. */
static size_t take_lines(struct walk *walk, char *text, size_t bytes)
{
	size_t at = 0;

	while (walk->answer == 0) {
		char *end = memchr(text + at, '\n', bytes - at);

		if (!end)
			break;
		*end = '\0';
		begin(walk, PORTPROF_SOURCE_TRACEPOINT, "tracepoint");
		snprintf(walk->event.name, sizeof(walk->event.name), "%s",
		         text + at);
		give(walk);
		at = (size_t)(end - text) + 1;
	}
	return at;
}

static void walk_tracepoints(struct walk *walk)
{
	const struct perf_kernel *kernel = walk->kernel;
	char path[PATH_ROOM], *text = malloc(TRACE_CHUNK);
	const char *folder;
	uint64_t offset = 0;
	int error;

	folder = perf_tracepoint_folder(kernel, &error);
	snprintf(path, sizeof(path), "%s/available_events",
	         folder ? folder : "");
	while (text && folder && walk->answer == 0) {
		ssize_t got = kernel->read_file(kernel->self, path, offset,
		                                text, TRACE_CHUNK);
		size_t used = got > 0 ? take_lines(walk, text, (size_t)got)
		                      : 0;

		if (used == 0)
			break;
		offset += used;
	}
	free(text);
}

static int walk_events(const void *kernel, portprof_event_fn take,
                       void *context)
{
	struct walk walk = { .kernel = perf_kernel_of(kernel), .take = take,
		             .context = context };

	walk_names(&walk);
	if (walk.answer == 0)
		walk_tables(&walk);
	if (walk.answer == 0)
		walk_system(&walk);
	if (walk.answer == 0)
		walk_tracepoints(&walk);
	return walk.answer;
}

/* ---- PMUs ---- */

static int give_table_pmus(portprof_pmu_fn take, void *context)
{
	struct ppi_table_pmu table;
	int id = 0, answer = 0;

	while (answer == 0 && ppi_table_next_pmu(&id, &table)) {
		portprof_catalogue_pmu pmu = {
			.size = sizeof(pmu),
			.source = PORTPROF_SOURCE_TABLE,
			.is_core = table.is_core,
			.type = -1,
			.event_count = table.event_count,
		};

		if (!table.is_present || is_generic(&table))
			continue;
		snprintf(pmu.name, sizeof(pmu.name), "%s", table.name);
		snprintf(pmu.means, sizeof(pmu.means), "%s", table.means);
		answer = take(&pmu, context);
	}
	return answer;
}

static void list_terms(const struct perf_kernel *kernel,
                       portprof_catalogue_pmu *pmu)
{
	char path[PATH_ROOM], format[128];
	size_t used = 0;
	char *names;

	snprintf(path, sizeof(path), PERF_SYSFS_PMUS "/%s/format", pmu->name);
	names = perf_sysfs_names(kernel, path);
	for (const char *at = names; at && *at; at += strlen(at) + 1) {
		int length;

		if (!perf_sysfs_text(kernel, pmu->name, "format", at, format,
		                     sizeof(format)))
			continue;
		length = snprintf(pmu->terms + used, sizeof(pmu->terms) - used,
		                  "%s%s=%s", used ? " " : "", at, format);
		if (used + (size_t)length >= sizeof(pmu->terms)) {
			pmu->terms[used] = '\0'; /* whole ones only */
			break;
		}
		used += (size_t)length;
	}
	free(names);
}

static void count_events(const struct perf_kernel *kernel,
                         portprof_catalogue_pmu *pmu)
{
	char path[PATH_ROOM];
	char *names;

	snprintf(path, sizeof(path), PERF_SYSFS_PMUS "/%s/events", pmu->name);
	names = perf_sysfs_names(kernel, path);
	for (const char *at = names; at && *at; at += strlen(at) + 1)
		pmu->event_count += is_event_file(at);
	free(names);
}

/* A PMU of CPU cores has a file "cpus" where there are several kinds, or is
 * the one called "cpu". */
static void find_cpus(const struct perf_kernel *kernel,
                      portprof_catalogue_pmu *pmu)
{
	pmu->is_core = strcmp(pmu->name, "cpu") == 0 ||
	               perf_sysfs_text(kernel, pmu->name, "cpus", "",
	                               pmu->cpus, sizeof(pmu->cpus));
	if (!pmu->cpus[0])
		perf_sysfs_text(kernel, pmu->name, "cpumask", "", pmu->cpus,
		                sizeof(pmu->cpus));
}

static int give_system_pmus(const struct perf_kernel *kernel,
                            portprof_pmu_fn take, void *context)
{
	char *names = perf_sysfs_names(kernel, PERF_SYSFS_PMUS);
	int answer = 0;

	for (const char *at = names; at && *at && answer == 0;
	     at += strlen(at) + 1) {
		portprof_catalogue_pmu pmu = {
			.size = sizeof(pmu),
			.source = PORTPROF_SOURCE_SYSTEM,
		};
		char type[32];

		if (!perf_sysfs_text(kernel, at, "type", "", type,
		                     sizeof(type)))
			continue;
		pmu.type = strtoll(type, NULL, 10);
		snprintf(pmu.name, sizeof(pmu.name), "%s", at);
		snprintf(pmu.means, sizeof(pmu.means),
		         "the system's, type %lld", (long long)pmu.type);
		list_terms(kernel, &pmu);
		count_events(kernel, &pmu);
		find_cpus(kernel, &pmu);
		answer = take(&pmu, context);
	}
	free(names);
	return answer;
}

static int walk_pmus(const void *kernel, portprof_pmu_fn take, void *context)
{
	int answer = give_table_pmus(take, context);

	return answer ? answer : give_system_pmus(perf_kernel_of(kernel), take,
	                                          context);
}

const struct ppi_catalogue_ops perf_catalogue = {
	.events = walk_events,
	.pmus = walk_pmus,
};
