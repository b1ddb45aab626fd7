/* SPDX-License-Identifier: MIT */
/* Resolving the event names that mean CPU time, for backends without a PMU. */
#include "backends/common/cpu_time.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Names that exist on other backends: known, but not to be had here. */
static const char *const other_names[] = {
	"page-faults", "faults", "minor-faults", "major-faults",
	"context-switches", "cs", "voluntary-switches",
	"involuntary-switches", "cpu-migrations", "migrations",
	"alignment-faults", "emulation-faults", "dummy", "bpf-output",
	"cgroup-switches", "cycles", "cpu-cycles", "instructions",
	"cache-references", "cache-misses", "branches",
	"branch-instructions", "branch-misses", "bus-cycles", "ref-cycles",
	"stalled-cycles-frontend", "stalled-cycles-backend",
};

static bool is_same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		char x = *a == '_' ? '-' : (char)tolower((unsigned char)*a);

		if (x != *b)
			return false;
	}
	return *a == *b;
}

/* libpfm4's prefixes: perf::cpu-clock, perf::PERF_COUNT_SW_CPU_CLOCK. */
static const char *without_prefix(const char *name)
{
	static const char *const prefixes[] = { "perf::", "PERF_COUNT_SW_",
		                                "PERF_COUNT_HW_" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncasecmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			name += strlen(prefixes[i]);
	return name;
}

static bool has_mask(const struct ppi_event_request *request)
{
	for (size_t i = 0; i < request->part_count; i++)
		if (request->parts[i].key_bytes == request->parts[i].bytes)
			return true;
	return false;
}

bool ppi_event_name_is(const char *name, const char *known)
{
	return is_same_name(without_prefix(name), known);
}

portprof_status ppi_cpu_time_refuse(const struct ppi_event_request *request,
                                    const char *words, struct ppi_diag *why)
{
	const char *name = without_prefix(request->name);
	struct ppi_nearest nearest;
	/* PMU::EVENT, EVENT:MASK, GROUP:TRACEPOINT and PAPI's presets are of a
	 * PMU, or of Linux */
	bool is_of_pmu = strchr(name, ':') || has_mask(request) ||
	                 strncasecmp(name, "PAPI_", 5) == 0;
	char hint[320];

	ppi_nearest_begin(&nearest, name);
	ppi_nearest_offer(&nearest, "cpu-clock");
	ppi_nearest_offer(&nearest, "task-clock");
	for (size_t i = 0; i < sizeof(other_names) / sizeof(*other_names);
	     i++) {
		if (is_same_name(name, other_names[i]) || is_of_pmu)
			return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
			                "resolve event",
			                "'%s' %s", name, words);
		ppi_nearest_offer(&nearest, other_names[i]);
	}
	return ppi_fail(why, PORTPROF_E_NOTFOUND, 0, "resolve event",
	                "no event '%s'%s", name,
	                ppi_nearest_say(&nearest, hint, sizeof(hint)));
}

static portprof_status refuse_modifiers(const struct ppi_event_request *request,
                                        struct ppi_diag *why)
{
	const char *what = NULL;

	if (request->has_modes && !(request->user && request->kernel))
		what = "user and kernel time are not separate here: drop the "
		       "u, k and h modifiers";
	else if (request->hypervisor)
		what = "the hypervisor's time is not seen: drop 'h'";
	if (what)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "resolve event",
		                "'%s' on this backend: %s", request->text,
		                what);
	if (request->part_count == 0)
		return PORTPROF_OK;
	return ppi_event_refuse_part(request, &request->parts[0],
	                             PORTPROF_E_UNSUPPORTED, why, "this backend "
	                             "measures CPU time and has no PMU, where "
	                             "it would have a meaning");
}

/* A count has no rate. */
static void describe(struct ppi_event *event, enum ppi_mode mode,
                     const char *means)
{
	if (mode == PPI_COUNT)
		snprintf(event->description, sizeof(event->description), "%s",
		         means);
	else if (event->rate_hz)
		snprintf(event->description, sizeof(event->description),
		         "%s, %llu times a second", means,
		         (unsigned long long)event->rate_hz);
	else if (event->period)
		snprintf(event->description, sizeof(event->description),
		         "%s, every %llu ns", means,
		         (unsigned long long)event->period);
	else
		snprintf(event->description, sizeof(event->description),
		         "%s, at the session's rate", means);
}

portprof_status ppi_cpu_time_resolve(const struct ppi_event_request *request,
                                     enum ppi_mode mode, const char *means,
                                     struct ppi_event *event,
                                     struct ppi_diag *why)
{
	const char *name = without_prefix(request->name);
	portprof_status status;
	bool is_cpu_clock;

	is_cpu_clock = is_same_name(name, "cpu-clock");
	if (!is_cpu_clock && !is_same_name(name, "task-clock"))
		return ppi_cpu_time_refuse(
			request, "is not CPU time, and nothing else can be "
			"measured this way: use cpu-clock or task-clock", why);
	status = refuse_modifiers(request, why);
	if (status)
		return status;
	memset(event, 0, sizeof(*event));
	event->request = *request;
	event->unit = PORTPROF_UNIT_NANOSECONDS;
	event->is_cpu_time = true;
	event->counts_user = event->counts_kernel = true;
	event->period = request->period;
	event->rate_hz = request->rate_hz;
	describe(event, mode, means);
	/* fits: the name is short, and modes and one rate are all there is */
	ppi_event_format(request, is_cpu_clock ? "cpu-clock" : "task-clock", "",
	                 event->canonical, sizeof(event->canonical));
	return PORTPROF_OK;
}
