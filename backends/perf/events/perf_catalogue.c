/* SPDX-License-Identifier: MIT */
/* Which events and PMUs there are: tables, sysfs and tracefs read aloud. */
#include "backends/backend.h"
#include "backends/perf/events/perf_names.h"
#include "backends/perf/events/perf_sysfs.h"
#include "backends/perf/events/perf_tables.h"
#include "backends/perf/kernel/perf_proc.h"

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
	portprof_catalogue_event event; /* its strings are the next three */
	char name[256], also[128], means[384];
	int answer;
};

static bool give(struct walk *walk)
{
	walk->answer = walk->take(&walk->event, walk->context);
	return walk->answer == 0;
}

/* `pmu` stays until the event was given. */
static void begin(struct walk *walk, portprof_source source, const char *pmu)
{
	walk->name[0] = walk->also[0] = walk->means[0] = '\0';
	walk->event = (portprof_catalogue_event){
		.size = sizeof(walk->event),
		.source = source,
		.name = walk->name,
		.also = walk->also,
		.pmu = pmu,
		.means = walk->means,
	};
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

	if (strcmp(name->name, spelling) != 0) {
		size_t used = strlen(walk->also);

		snprintf(walk->also + used, sizeof(walk->also) - used,
		         "%s%s", used ? " " : "", spelling);
		return false;
	}
	if (walk->name[0] && !give(walk))
		return true;
	begin(walk, source_of(name), "");
	snprintf(walk->name, sizeof(walk->name), "%s", name->name);
	snprintf(walk->means, sizeof(walk->means), "%s", name->means);
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
		snprintf(walk->name, sizeof(walk->name),
		         "%.60s::%.120s:%.60s", pmu->name, event->name,
		         part.name);
		snprintf(walk->means, sizeof(walk->means), "%s",
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
		snprintf(walk->name, sizeof(walk->name),
		         "%.60s::%.120s", pmu->name, event.name);
		snprintf(walk->also, sizeof(walk->also), "%s",
		         event.also);
		snprintf(walk->means, sizeof(walk->means), "%s",
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
	names = ppi_perf_sysfs_names(walk->kernel, path);
	for (const char *at = names; at && *at && walk->answer == 0;
	     at += strlen(at) + 1) {
		if (!is_event_file(at) ||
		    !ppi_perf_sysfs_text(walk->kernel, pmu, "events", at, terms,
		                         sizeof(terms)))
			continue;
		begin(walk, PORTPROF_SOURCE_SYSTEM, pmu);
		snprintf(walk->name, sizeof(walk->name),
		         "%.60s::%.180s", pmu, at);
		snprintf(walk->means, sizeof(walk->means),
		         "%s of PMU %s: %s", at, pmu, terms);
		give(walk);
	}
	free(names);
}

static void walk_system(struct walk *walk)
{
	char *pmus = ppi_perf_sysfs_names(walk->kernel, PERF_SYSFS_PMUS);

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
		snprintf(walk->name, sizeof(walk->name), "%s",
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

	folder = ppi_perf_tracepoint_folder(kernel, &error);
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

/* ---- places in programs ---- */

static void walk_places(struct walk *walk)
{
	static const struct {
		const char *pmu, *name, *means;
	} places[] = {
		{ "breakpoint", "mem:ADDRESS/BYTES:rw",
		 "a breakpoint on 1, 2, 4 "
		  "or 8 bytes of memory: r, w, rw; or x for code" },
		{ "breakpoint", "breakpoint:SYMBOL:x", "a breakpoint on a "
		  "function, or with w or rw on a variable, of the process that "
		  "is measured" },
		{ "uprobe", "uprobe:FILE:SYMBOL+OFFSET", "a probe of a program "
		  "or library: executions of one of its instructions" },
		{ "uprobe", "uretprobe:FILE:SYMBOL", "the same, where the "
		  "function returns" },
	};
	char type[32];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) &&
	     walk->answer == 0; i++) {
		if (!ppi_perf_sysfs_text(walk->kernel, places[i].pmu, "type",
		                         "", type, sizeof(type)))
			continue;
		begin(walk, PORTPROF_SOURCE_PLACE, places[i].pmu);
		walk->event.needs_mask = 1;
		snprintf(walk->name, sizeof(walk->name), "%s", places[i].name);
		snprintf(walk->means, sizeof(walk->means), "%s",
		         places[i].means);
		give(walk);
	}
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
		walk_places(&walk);
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
			.name = table.name,
			.means = table.means,
			.cpus = "",
			.terms = "",
		};

		if (table.is_present && !is_generic(&table))
			answer = take(&pmu, context);
	}
	return answer;
}

static void list_terms(const struct perf_kernel *kernel, const char *pmu,
                       char *terms, size_t bytes)
{
	char path[PATH_ROOM], format[128];
	size_t used = 0;
	char *names;

	terms[0] = '\0';
	snprintf(path, sizeof(path), PERF_SYSFS_PMUS "/%s/format", pmu);
	names = ppi_perf_sysfs_names(kernel, path);
	for (const char *at = names; at && *at; at += strlen(at) + 1) {
		int length;

		if (!ppi_perf_sysfs_text(kernel, pmu, "format", at, format,
		                         sizeof(format)))
			continue;
		length = snprintf(terms + used, bytes - used, "%s%s=%s",
		                  used ? " " : "", at, format);
		if (used + (size_t)length >= bytes) {
			terms[used] = '\0'; /* whole ones only */
			break;
		}
		used += (size_t)length;
	}
	free(names);
}

static uint64_t count_events(const struct perf_kernel *kernel, const char *pmu)
{
	char path[PATH_ROOM];
	uint64_t count = 0;
	char *names;

	snprintf(path, sizeof(path), PERF_SYSFS_PMUS "/%s/events", pmu);
	names = ppi_perf_sysfs_names(kernel, path);
	for (const char *at = names; at && *at; at += strlen(at) + 1)
		count += is_event_file(at);
	free(names);
	return count;
}

/* A PMU of CPU cores has a file "cpus" where there are several kinds, or is
 * the one called "cpu". */
static bool find_cpus(const struct perf_kernel *kernel, const char *pmu,
                      char *cpus, size_t bytes)
{
	bool is_core;

	cpus[0] = '\0';
	is_core = ppi_perf_sysfs_text(kernel, pmu, "cpus", "", cpus, bytes) ||
	          strcmp(pmu, "cpu") == 0;
	if (!cpus[0])
		ppi_perf_sysfs_text(kernel, pmu, "cpumask", "", cpus, bytes);
	return is_core;
}

static int give_system_pmus(const struct perf_kernel *kernel,
                            portprof_pmu_fn take, void *context)
{
	char *names = ppi_perf_sysfs_names(kernel, PERF_SYSFS_PMUS);
	int answer = 0;

	for (const char *at = names; at && *at && answer == 0;
	     at += strlen(at) + 1) {
		char type[32], means[64], cpus[128], terms[1024];
		portprof_catalogue_pmu pmu = {
			.size = sizeof(pmu),
			.source = PORTPROF_SOURCE_SYSTEM,
			.name = at,
			.means = means,
			.cpus = cpus,
			.terms = terms,
		};

		if (!ppi_perf_sysfs_text(kernel, at, "type", "", type,
		                         sizeof(type)))
			continue;
		pmu.type = strtoll(type, NULL, 10);
		snprintf(means, sizeof(means), "the system's, type %lld",
		         (long long)pmu.type);
		list_terms(kernel, at, terms, sizeof(terms));
		pmu.event_count = count_events(kernel, at);
		pmu.is_core = find_cpus(kernel, at, cpus, sizeof(cpus));
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

const struct ppi_catalogue_ops ppi_perf_catalogue = {
	.events = walk_events,
	.pmus = walk_pmus,
};
