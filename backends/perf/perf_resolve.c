/* SPDX-License-Identifier: MIT */
/* What an event will really be on this kernel, for this user. */
#include "backends/perf/perf_state.h"

#include "backends/perf/perf_events.h"
#include "backends/perf/perf_proc.h"
#include "backends/perf/perf_sysfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	PERIOD_MIN_NS = 10000, /* kernel/events/core.c,
	                        * perf_swevent_start_hrtimer: a shorter one is
	                        * stretched, but reported as asked */
	PRECISE_MAX = 3,
	RATE_DEFAULT_HZ = 100,
	RATE_LIMIT_HZ = 100000 /* of the sysctl, when it cannot be read */
};

static portprof_status refuse_settings(const struct ppi_event *event,
                                       enum ppi_mode mode,
                                       struct ppi_diag *why)
{
	const struct ppi_event_request *request = &event->request;

	if (request->cpu >= 0)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                "resolve event", "'%s': threads are measured "
		                "on all CPUs; drop cpu=%d", request->text,
		                request->cpu);
	if (request->precise && event->type == PERF_TYPE_SOFTWARE)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                "resolve event", "'%s' is counted by the "
		                "kernel, not by a PMU: drop precise",
		                request->text);
	if (mode == PPI_SAMPLE && event->unit == PORTPROF_UNIT_NANOSECONDS &&
	    request->period && request->period < PERIOD_MIN_NS)
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "resolve event",
		                "'%s': a period of %llu ns is below the "
		                "kernel's limit of %d ns", request->text,
		                (unsigned long long)request->period,
		                PERIOD_MIN_NS);
	if (request->period >> 63)
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "resolve event",
		                "'%s': the period must be below 2^63",
		                request->text);
	return PORTPROF_OK;
}

/* A rate of CPU time is a period: the kernel's own rate control would only
 * do the same division. Clamped to what the kernel allows for now. */
static void set_rate(const struct perf_kernel *kernel, enum ppi_mode mode,
                     struct ppi_event *event)
{
	int64_t most = perf_proc_number(
		kernel, "/proc/sys/kernel/perf_event_max_sample_rate",
		RATE_LIMIT_HZ);
	uint64_t rate = event->request.rate_hz;

	event->period = event->request.period;
	event->rate_hz = 0;
	if (mode == PPI_COUNT) {
		event->period = 0;
		return;
	}
	if (event->period)
		return;
	rate = rate ? rate : RATE_DEFAULT_HZ;
	if (most > 0 && rate > (uint64_t)most)
		rate = (uint64_t)most;
	if (event->unit != PORTPROF_UNIT_NANOSECONDS) {
		event->rate_hz = rate;
		return;
	}
	event->period = 1000000000u / rate;
	if (event->period < PERIOD_MIN_NS)
		event->period = PERIOD_MIN_NS;
}

static int try_open(const struct perf_kernel *kernel,
                    const struct ppi_event *event)
{
	struct perf_event_attr attr;
	int fd;

	perf_attr_trial(event, &attr);
	fd = perf_open_attr(kernel, &attr, 0, -1, -1);
	if (fd < 0)
		return -fd;
	kernel->close_event(kernel->self, fd);
	return 0;
}

/* cpu-clock of one mode, and task-clock of kernel mode: see
 * perf_is_period_weighted. "task-clock:u" keeps the whole time. */
static bool is_one_mode(const struct ppi_event *event)
{
	if (!event->request.has_modes)
		return false;
	return !event->counts_user ||
	       (!event->counts_kernel &&
	        event->config[0] == PERF_COUNT_SW_CPU_CLOCK);
}

/* linux/perf_event.h of 5.13 */
enum { SW_CGROUP_SWITCHES = 11 };

/*
 * The scheduler reports these with its own registers (kernel/events/core.c,
 * perf_event_task_sched_out, perf_event_task_migrate), and perf_exclude_event
 * drops what comes from kernel mode: in user mode alone they are 0 whatever
 * happens. So are tracepoints (perf_tp_event_match).
 */
static bool is_of_kernel_mode(const struct ppi_event *event)
{
	return event->type == PERF_TYPE_TRACEPOINT ||
	       (event->type == PERF_TYPE_SOFTWARE &&
	       (event->config[0] == PERF_COUNT_SW_CONTEXT_SWITCHES ||
	        event->config[0] == PERF_COUNT_SW_CPU_MIGRATIONS ||
	        event->config[0] == SW_CGROUP_SWITCHES));
}

/* `os_error` is EACCES when user mode is all that is permitted, 0 when it is
 * all that was asked for. */
static portprof_status refuse_user_mode(const struct perf_kernel *kernel,
                                        const struct ppi_event *event,
                                        int os_error, struct ppi_diag *why)
{
	char rights[320];

	if (os_error == 0)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                "resolve event", "'%s' would always be 0: it "
		                "happens in kernel mode; drop :u",
		                event->request.text);
	return ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error,
	                "resolve event", "'%s' happens in kernel mode, which "
	                "is not permitted: %s", event->request.text,
	                perf_say_paranoid(kernel, 1, rights, sizeof(rights)));
}

static void add_words(struct ppi_event *event, const char *words)
{
	size_t used = strlen(event->description);

	snprintf(event->description + used, sizeof(event->description) - used,
	         "%s", words);
}

/* Why it may not be opened: what speaks against every event goes before what
 * would speak against this one. */
static portprof_status refuse_event(const struct perf_kernel *kernel,
                                    const struct ppi_event *event, int error,
                                    struct ppi_diag *why)
{
	struct ppi_probe probe = { .is_usable = true };

	if (error == EPERM || error == EACCES || error == ENOSYS)
		perf_probe_ladder(kernel, &probe);
	if (probe.is_usable)
		return perf_refuse_open(kernel, event, error, why);
	return ppi_fail(why, probe.status, error, "open event", "'%s': %s",
	                event->request.text, probe.reason);
}

/* A name of the tables, or of the system's own files. */
static portprof_status find_event(const struct perf_kernel *kernel,
                                  const struct ppi_event_request *request,
                                  enum ppi_mode mode, struct ppi_event *event,
                                  struct ppi_diag *why)
{
	portprof_status status = ppi_perf_resolve(request, mode, event, why);
	portprof_status other;
	struct ppi_diag other_why;
	bool is_there;

	if (status != PORTPROF_E_NOTFOUND && status != PORTPROF_E_UNSUPPORTED)
		return status;
	other = perf_sysfs_resolve(kernel, request, mode, event, &is_there,
	                           &other_why);
	if (other != PORTPROF_OK && !is_there)
		return status;
	if (other != PORTPROF_OK)
		*why = other_why;
	return other;
}

/* Opening as the user asked; or, of what was not asked for, without what is
 * not permitted, and without what this PMU cannot do. */
static int find_modes(const struct perf_kernel *kernel,
                      struct ppi_event *event)
{
	const struct ppi_event_request *request = &event->request;
	int error = try_open(kernel, event);

	/* a PMU that cannot leave anything out (PERF_PMU_CAP_NO_EXCLUDE)
	 * must not be asked to */
	if (error == EINVAL && event->type >= PERF_TYPE_MAX &&
	    !request->has_modes && !request->has_guest_host) {
		event->counts_hypervisor = true;
		event->request.exclude_guest = false;
		error = try_open(kernel, event);
	}
	if (error == EACCES && !request->has_modes && event->counts_kernel) {
		struct ppi_event in_user_mode = *event;
		int second;

		in_user_mode.counts_kernel = false;
		add_words(&in_user_mode, ", in user mode alone (kernel mode "
		          "is not permitted)");
		second = try_open(kernel, &in_user_mode);
		if (second == EINVAL)
			return error;
		*event = in_user_mode;
		return second;
	}
	return error;
}

static portprof_status resolve(const struct perf_kernel *kernel,
                               const struct ppi_event_request *request,
                               enum ppi_mode mode, struct ppi_event *event,
                               struct ppi_diag *why)
{
	struct ppi_event found;
	portprof_status status = find_event(kernel, request, mode, &found,
	                                    why);
	int error;

	if (status == PORTPROF_OK)
		status = refuse_settings(&found, mode, why);
	if (status != PORTPROF_OK)
		return status;
	set_rate(kernel, mode, &found);
	if (is_of_kernel_mode(&found) && !found.counts_kernel)
		return refuse_user_mode(kernel, &found, 0, why);
	error = request->is_untried ? 0 : find_modes(kernel, &found);
	if (error == 0 && is_of_kernel_mode(&found) && !found.counts_kernel)
		return refuse_user_mode(kernel, &found, EACCES, why);
	if (error != 0)
		return refuse_event(kernel, &found, error, why);
	if (found.is_cpu_time && is_one_mode(&found)) {
		found.is_cpu_time = false;
		if (mode == PPI_SAMPLE)
			add_words(&found, ", a period for each sample");
	}
	*event = found;
	return PORTPROF_OK;
}

/* PMUs that cannot refuse it (EOPNOTSUPP: arch/x86/events/core.c,
 * x86_pmu_hw_config), and so does libpfm4 for what no level belongs to. */
portprof_status perf_resolve_event(const struct perf_kernel *kernel,
                                   const struct ppi_event_request *request,
                                   enum ppi_mode mode,
                                   struct ppi_event *event,
                                   struct ppi_diag *why)
{
	struct ppi_event_request asked = *request;
	portprof_status status = resolve(kernel, request, mode, event, why);

	if (status != PORTPROF_OK || !request->is_most_precise ||
	    request->is_untried || event->type == PERF_TYPE_SOFTWARE)
		return status;
	for (asked.precise = PRECISE_MAX; asked.precise > 0; asked.precise--) {
		struct ppi_event found;
		struct ppi_diag unused;

		if (resolve(kernel, &asked, mode, &found, &unused) ==
		    PORTPROF_OK) {
			*event = found;
			break;
		}
	}
	return PORTPROF_OK;
}
