/* SPDX-License-Identifier: MIT */
/* The events in the system's accounts, and their meaning. */
#include "backends/rusage/rusage_events.h"

#include "backends/common/cpu_time.h"

#include <stdio.h>
#include <string.h>

static const struct rusage_name {
	const char *name, *also;
	enum rusage_field field;
	portprof_unit unit;
	const char *means;
} names[] = {
	{ "task-clock", NULL, RUSAGE_CPU, PORTPROF_UNIT_NANOSECONDS,
	  "CPU time, as the system accounts it" },
	{ "cpu-clock", NULL, RUSAGE_CPU, PORTPROF_UNIT_NANOSECONDS,
	  "CPU time, as the system accounts it" },
	{ "page-faults", "faults", RUSAGE_FAULTS, PORTPROF_UNIT_COUNT,
	  "page faults, minor and major" },
	{ "minor-faults", NULL, RUSAGE_MINOR, PORTPROF_UNIT_COUNT,
	  "page faults served without reading from a disk" },
	{ "major-faults", NULL, RUSAGE_MAJOR, PORTPROF_UNIT_COUNT,
	  "page faults that had to read from a disk" },
	{ "context-switches", "cs", RUSAGE_SWITCHES, PORTPROF_UNIT_COUNT,
	  "context switches, voluntary and involuntary" },
	{ "voluntary-switches", NULL, RUSAGE_VOLUNTARY, PORTPROF_UNIT_COUNT,
	  "context switches because the thread waited" },
	{ "involuntary-switches", NULL, RUSAGE_INVOLUNTARY,
	  PORTPROF_UNIT_COUNT,
	  "context switches because another thread was to run" },
};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

static const struct rusage_name *find(const char *name)
{
	for (size_t i = 0; i < NAMES; i++)
		if (ppi_event_name_is(name, names[i].name) ||
		    (names[i].also && ppi_event_name_is(name, names[i].also)))
			return &names[i];
	return NULL;
}

enum rusage_field ppi_rusage_field_of(const struct ppi_event *event)
{
	const struct rusage_name *found = find(event->request.name);

	return found ? found->field : RUSAGE_NONE;
}

uint64_t ppi_rusage_value(enum rusage_field field,
                          const struct ppi_event *event,
                          const struct rusage_usage *usage)
{
	switch (field) {
	case RUSAGE_CPU:
		return (event->counts_user ? usage->user_ns : 0) +
		       (event->counts_kernel ? usage->system_ns : 0);
	case RUSAGE_FAULTS:
		return usage->minor_faults + usage->major_faults;
	case RUSAGE_MINOR:
		return usage->minor_faults;
	case RUSAGE_MAJOR:
		return usage->major_faults;
	case RUSAGE_SWITCHES:
		return usage->voluntary + usage->involuntary;
	case RUSAGE_VOLUNTARY:
		return usage->voluntary;
	case RUSAGE_INVOLUNTARY:
		return usage->involuntary;
	case RUSAGE_NONE:
		break;
	}
	return 0;
}

/* ---- what an event string means ---- */

/* The 1-based column of the first of the levels u, k and h. */
static unsigned level_column(const char *text)
{
	for (const char *at = strchr(text, ':'); at; at = strchr(at + 1, ':')) {
		size_t length = strcspn(at + 1, ":=@");

		if (length > 0 && strspn(at + 1, "ukhUKH") >= length)
			return (unsigned)(at + 1 - text) + 1;
	}
	return 1;
}

/* EVENT-7: a share of ticks is not what was spent at a level. */
static portprof_status check_levels(const struct rusage_kernel *kernel,
                                    const struct ppi_event_request *request,
                                    const struct rusage_name *name,
                                    struct ppi_diag *why)
{
	const char *reason =
		name->field != RUSAGE_CPU
			? "the system counts these together at all levels"
		: request->hypervisor
			? "the system does not account a hypervisor's time"
			: "this system estimates user and kernel time from "
			  "ticks";

	if (!request->has_modes ||
	    (request->user && request->kernel && !request->hypervisor) ||
	    (name->field == RUSAGE_CPU && !request->hypervisor &&
	     kernel->is_split_exact))
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "resolve event",
	                "'%s', column %u: %s; drop the u, k and h modifiers",
	                request->text, level_column(request->text), reason);
}

static void describe(struct ppi_event *event, const struct rusage_name *name)
{
	const char *level = event->counts_user && event->counts_kernel ? ""
	                    : event->counts_user ? ", in user mode"
	                                         : ", in the kernel";

	snprintf(event->description, sizeof(event->description), "%s%s",
	         name->means, level);
}

portprof_status
ppi_rusage_resolve_event(const struct rusage_kernel *kernel,
                         const struct ppi_event_request *request,
                         enum ppi_mode mode, struct ppi_event *event,
                         struct ppi_diag *why)
{
	const struct rusage_name *name = find(request->name);
	struct ppi_event_request plain = *request;
	portprof_status status;

	if (!name)
		return ppi_cpu_time_refuse(request, "is not in the "
		                           "system's accounts: they have CPU "
		                           "time, page faults and context "
		                           "switches", why);
	status = check_levels(kernel, request, name, why);
	if (status)
		return status;
	/* the levels are checked; all else is refused alike everywhere */
	snprintf(plain.name, sizeof(plain.name), "task-clock");
	plain.has_modes = false;
	status = ppi_cpu_time_resolve(&plain, mode, name->means, event, why);
	if (status)
		return status;
	if (mode == PPI_SAMPLE)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                "resolve event", "'%s' is counted by this "
		                "backend and cannot be sampled",
		                request->text);
	event->request = *request;
	event->unit = name->unit;
	event->is_cpu_time = name->field == RUSAGE_CPU;
	if (request->has_modes) {
		event->counts_user = request->user;
		event->counts_kernel = request->kernel;
	}
	describe(event, name);
	ppi_event_format(request, name->name, "", event->canonical,
	                 sizeof(event->canonical));
	return PORTPROF_OK;
}

/* ---- the catalogue ---- */

static int give_events(const void *kernel, portprof_event_fn take,
                       void *context)
{
	int answer = 0;

	(void)kernel;
	for (size_t i = 0; i < NAMES && answer == 0; i++) {
		portprof_catalogue_event out = {
			.size = sizeof(out),
			.source = PORTPROF_SOURCE_SOFTWARE,
			.name = names[i].name,
			.also = names[i].also ? names[i].also : "",
			.pmu = "",
			.means = names[i].means,
		};

		answer = take(&out, context);
	}
	return answer;
}

static int give_pmus(const void *kernel, portprof_pmu_fn take, void *context)
{
	(void)kernel;
	(void)take;
	(void)context;
	return 0;
}

const struct ppi_catalogue_ops ppi_rusage_catalogue = {
	.events = give_events,
	.pmus = give_pmus,
};
