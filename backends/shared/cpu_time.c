/* SPDX-License-Identifier: MIT */
/* Resolving the event names that mean CPU time, for backends without a PMU. */
#include "backends/shared/cpu_time.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Names that exist on other backends: known, but not to be had here. */
static const char *const other_names[] = {
	"page-faults", "faults", "minor-faults", "major-faults",
	"context-switches", "cs", "cpu-migrations", "migrations",
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

static portprof_status refuse_name(const char *name, struct ppi_diag *why)
{
	struct ppi_nearest nearest;
	char hint[320];

	ppi_nearest_begin(&nearest, name);
	ppi_nearest_offer(&nearest, "cpu-clock");
	ppi_nearest_offer(&nearest, "task-clock");
	for (size_t i = 0; i < sizeof(other_names) / sizeof(*other_names);
	     i++) {
		if (is_same_name(name, other_names[i]) || strchr(name, ':'))
			return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
			                "resolve event",
			                "this backend measures CPU time only: "
			                "use cpu-clock instead of '%s', or "
			                "the perf backend", name);
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
		what = "user and kernel time cannot be told apart: drop the "
		       "u, k and h modifiers";
	else if (request->hypervisor)
		what = "the hypervisor's time is not seen: drop 'h'";
	else if (request->has_guest_host &&
	         (request->exclude_host || !request->exclude_guest))
		what = "guests are not seen: drop 'mg' and 'mh'";
	else if (request->precise)
		what = "there is no PMU behind it: drop 'precise'";
	else if (request->pinned || request->exclusive)
		what = "there is no PMU behind it: drop 'pinned' and 'excl'";
	else if (request->cpu >= 0)
		what = "it cannot be bound to one CPU: drop 'cpu'";
	if (!what)
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "resolve event",
	                "'%s' on this backend: %s, or use the perf backend",
	                request->text, what);
}

static void describe(struct ppi_event *event, const char *means)
{
	if (event->rate_hz)
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
	const char *name = request->name;
	portprof_status status;
	bool is_cpu_clock;

	if (strncasecmp(name, "perf::", 6) == 0)
		name += 6;
	is_cpu_clock = is_same_name(name, "cpu-clock");
	if (!is_cpu_clock && !is_same_name(name, "task-clock"))
		return refuse_name(name, why);
	if (mode == PPI_COUNT)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                "resolve event", "this backend samples and "
		                "does not count; the perf backend does");
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
	describe(event, means);
	/* fits: the name is short, and modes and one rate are all there is */
	ppi_event_format(request, is_cpu_clock ? "cpu-clock" : "task-clock",
	                 event->canonical, sizeof(event->canonical));
	return PORTPROF_OK;
}
