/* SPDX-License-Identifier: MIT */
/* The real host behind portprof doctor: questions without conclusions. */
#include "config.h"

#include "tools/doctor/doctor.h"

#include <string.h>
#include <sys/resource.h>

#include <portprof/tool.h>

static uint64_t count_timers(void)
{
#ifdef RLIMIT_SIGPENDING
	struct rlimit now;

	if (getrlimit(RLIMIT_SIGPENDING, &now) == 0 &&
	    now.rlim_cur != RLIM_INFINITY)
		return now.rlim_cur;
#endif
	return UINT64_MAX;
}

static portprof_status backend(void *self, size_t index,
                               portprof_backend_info *info)
{
	(void)self;
	return portprof_backend_info_get(index, info);
}

static void examine(void *self, portprof_finding_fn take, void *context)
{
	(void)self;
	portprof_backend_examine("auto", take, context);
}

static portprof_status explain(void *self, const char *event,
                               const char *name, portprof_event_info *info,
                               portprof_diag *why)
{
	portprof_status status = portprof_event_try(event, name, info);

	(void)self;
	if (status)
		*why = *portprof_last_diag();
	return status;
}

static void pmus(void *self, portprof_pmu_fn take, void *context)
{
	(void)self;
	portprof_catalogue_pmus("auto", take, context);
}

static bool lacks_perf(void)
{
	bool is_left_out = false;

#ifdef __linux__
#define ROW(name, answer, gives) \
	if (strcmp(name, "backend perf") == 0) \
		is_left_out = strncmp(answer, "no", 2) == 0;
	PPI_BUILD_TABLE(ROW)
#undef ROW
#endif
	return is_left_out;
}

void ppi_doctor_host_fill(struct ppi_doctor_host *host)
{
	*host = (struct ppi_doctor_host){
		.root = "",
		.lacks_perf = lacks_perf(),
		.timers = count_timers(),
		.unwind_missing = portprof_unwind_missing(),
		.backend = backend,
		.examine = examine,
		.explain = explain,
		.pmus = pmus,
	};
}
