/* SPDX-License-Identifier: MIT */
/* Why the kernel refused, in sentences that a user can act on. */
#include "backends/perf/perf_errors.h"

#include "backends/perf/events/perf_place.h"
#include "backends/perf/perf_proc.h"
#include "backends/perf/perf_target.h"
#include "backends/perf/probe/perf_rights.h"
#include "backends/perf/events/perf_attr.h"
#include "backends/perf/records/perf_fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

portprof_status ppi_perf_refuse_fds(uint64_t needed, uint64_t available,
                                    uint64_t limit, const char *for_what,
                                    struct ppi_diag *why)
{
	return ppi_fail(why, PORTPROF_E_LIMIT, EMFILE, "count descriptors",
	                "%llu descriptors are needed (%s) and %llu are free "
	                "of the limit of %llu; raise it with ulimit -n",
	                (unsigned long long)needed, for_what,
	                (unsigned long long)available,
	                (unsigned long long)limit);
}

portprof_status ppi_perf_refuse_map(const struct perf_kernel *kernel,
                                    size_t bytes, int os_error,
                                    struct ppi_diag *why)
{
	int64_t per_cpu_kib = ppi_perf_proc_number(
		kernel, "/proc/sys/kernel/perf_event_mlock_kb", 516);

	if (os_error == EPERM)
		return ppi_fail(why, PORTPROF_E_LIMIT, os_error, "map ring",
		                "a ring of %zu KiB is more than this user may "
		                "lock in memory: %lld KiB for each CPU "
		                "(sysctl kernel.perf_event_mlock_kb) and then "
		                "ulimit -l; raise one of them",
		                bytes / 1024, (long long)per_cpu_kib);
	return ppi_fail(why, os_error == ENOMEM ? PORTPROF_E_NOMEM
	                : PORTPROF_E_SYSTEM, os_error, "map ring",
	                "a ring of %zu KiB could not be mapped: %s",
	                bytes / 1024, strerror(os_error));
}

static portprof_status refuse_denied(const struct perf_kernel *kernel,
                                     const struct ppi_event *event,
                                     int os_error, struct ppi_diag *why)
{
	bool wants_kernel = event && event->counts_kernel;
	bool is_tracepoint = event &&
		perf_own(event)->type == PERF_TYPE_TRACEPOINT;
	char rights[320];

	ppi_perf_say_paranoid(kernel, is_tracepoint ? -1 : wants_kernel ? 1 : 2,
	                      rights, sizeof(rights));
	return ppi_fail(why, PORTPROF_E_DENIED, os_error, "open event",
	                "'%s' is not permitted%s: %s",
	                event ? event->request.text : "a ring",
	                is_tracepoint ? " (a tracepoint)" : wants_kernel
	                ? " in kernel mode (for user mode only, add :u)" : "",
	                rights);
}

static portprof_status refuse_shape(const struct ppi_event *event,
                                    int os_error, struct ppi_diag *why)
{
	const char *text = event ? event->request.text : "a ring";

	switch (os_error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error,
		                "open event", "'%s' cannot be measured on this "
		                "(virtual) machine: the kernel knows no PMU "
		                "for it; cpu-clock and task-clock need none",
		                text);
	case EOPNOTSUPP:
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error,
		                "open event", "the hardware behind '%s' cannot "
		                "do that: it has no overflow interrupt, or not "
		                "this precision; count it, or drop precise",
		                text);
	case EINVAL:
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error,
		                "open event", "the kernel refuses '%s': drop "
		                "modifiers, or use fewer events in one "
		                "group", text);
	default:
		return ppi_fail(why, PORTPROF_E_SYSTEM, os_error, "open event",
		                "'%s' could not be opened: %s", text,
		                strerror(os_error));
	}
}

portprof_status ppi_perf_refuse_open(const struct perf_kernel *kernel,
                                     const struct ppi_event *event,
                                     int os_error, struct ppi_diag *why)
{
	uint64_t limit, available;
	portprof_status status = ppi_perf_place_refuse(kernel, event, os_error,
	                                               why);

	if (status)
		return status;
	switch (os_error) {
	case EACCES:
	case EPERM:
		return refuse_denied(kernel, event, os_error, why);
	case ESRCH:
		return ppi_fail(why, PORTPROF_E_NOTFOUND, os_error,
		                "open event", "no such thread or process, or "
		                "it has ended");
	case EMFILE:
		available = ppi_perf_proc_free_fds(kernel, &limit);
		return ppi_perf_refuse_fds(available + 1, available, limit,
		                           "at least", why);
	case ENFILE:
		return ppi_fail(why, PORTPROF_E_LIMIT, os_error, "open event",
		                "the system has no descriptors left: sysctl "
		                "fs.file-max");
	case ENOMEM:
		return ppi_fail(why, PORTPROF_E_NOMEM, os_error, "open event",
		                "out of memory");
	case EBUSY:
		return ppi_fail(why, PORTPROF_E_BUSY, os_error, "open event",
		                "'%s': the PMU is in exclusive use (by an "
		                "exclusive event, or the NMI watchdog: "
		                "sysctl kernel.nmi_watchdog=0)",
		                event ? event->request.text : "a ring");
	case ENOSYS:
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error,
		                "open event", "this kernel has no "
		                "perf_event_open, or a filter hides it");
	default:
		return refuse_shape(event, os_error, why);
	}
}

/*
 * Resolving has opened the event for this process, so EACCES is about whose
 * the thread is. Who may trace a process may measure it, and CAP_PERFMON may
 * measure all: kernel/events/core.c, perf_check_permission.
 */
portprof_status ppi_perf_refuse_source(const struct ppi_backend_session *bs,
                                       const struct ppi_event *event,
                                       int64_t tid,
                                       int os_error, struct ppi_diag *why)
{
	const char *fields = bs->plan->sample_fields
		? ppi_perf_fields_refused(bs->plan->sample_fields, os_error)
			: NULL;

	if (ppi_perf_refuse_cgroup(bs, os_error, why))
		return PORTPROF_E_UNSUPPORTED;
	if (event && fields && os_error == EACCES)
		return ppi_fail(
			why, PORTPROF_E_DENIED, os_error, "open event",
			"samples of '%s' with %s need permission to measure "
			"the kernel: run as administrator, setcap "
			"cap_perfmon=ep on the program, or sysctl "
			"kernel.perf_event_paranoid=1",
			event->request.text, fields);
	if (event && fields)
		return ppi_fail(
			why, PORTPROF_E_UNSUPPORTED, os_error, "open event",
			"the PMU behind '%s' does not record %s in samples, or "
			"this kernel does not: ask for less with %s",
			event->request.text, fields,
			bs->plan->label_fields ? "labels" : "fields");
	if (event && event->fields[0] && (os_error == EACCES ||
	                                  os_error == EPERM))
		return ppi_fail(
			why, PORTPROF_E_DENIED, os_error, "open event",
			"fields of '%s' may show what other users do, and need "
			"permission to trace the kernel: leave field out, run "
			"as administrator, setcap cap_perfmon=ep on the "
			"program, or sysctl kernel.perf_event_paranoid=-1",
			event->request.text);
	if (bs->plan->target.is_self || os_error != EACCES ||
	    bs->plan->target.kind == PPI_TARGET_SYSTEM)
		return ppi_perf_refuse_open(perf_kernel_of(bs->kernel), event,
		                            os_error, why);
	return ppi_fail(why, PORTPROF_E_DENIED, os_error, "attach",
	                "process or thread %lld may not be measured by this "
	                "user: it belongs to another one, or runs with more "
	                "rights (set-user-id, capabilities); measure it as its "
	                "owner or as administrator, or setcap cap_perfmon=ep "
	                "on the program", (long long)tid);
}

/* perf_event_open finds a process by its number, whatever /proc shows: it is
 * there but for ESRCH. */
static bool is_hidden(const struct perf_kernel *kernel, int64_t pid)
{
	int error = ppi_perf_try_dummy(kernel, pid, -1);

	return error == 0 || error == EACCES || error == EPERM;
}

portprof_status ppi_perf_refuse_threads(const struct ppi_backend_session *bs,
                                        int os_error, struct ppi_diag *why)
{
	int64_t pid = bs->plan->target.pid;

	if (os_error == ESRCH && is_hidden(perf_kernel_of(bs->kernel), pid))
		os_error = EACCES;
	switch (os_error) {
	case ENOSYS:
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, ENOENT,
		                "list threads",
		                "/proc, which lists the threads "
		                "of process %lld, is not mounted: as "
		                "administrator, mount -t proc proc /proc",
		                (long long)pid);
	case ENOMEM:
		return ppi_fail(why, PORTPROF_E_NOMEM, os_error,
		                "list threads", "out of memory");
	case ESRCH:
		return ppi_fail(why, PORTPROF_E_NOTFOUND, os_error,
		                "list threads", "there is no process %lld, or "
		                "it has ended", (long long)pid);
	case EMFILE:
	case ENFILE:
		return ppi_fail(why, PORTPROF_E_LIMIT, os_error,
		                "list threads", "no descriptor is free to read "
		                "/proc/%lld/task; raise the limit with ulimit "
		                "-n", (long long)pid);
	case EACCES:
	case EPERM:
		return ppi_fail(why, PORTPROF_E_DENIED, os_error,
		                "list threads", "process %lld runs, but /proc "
		                "hides it from this user (hidepid): attach as "
		                "its owner or as administrator, or mount -o "
		                "remount,hidepid=0 /proc", (long long)pid);
	default:
		return ppi_fail(why, PORTPROF_E_SYSTEM, os_error,
		                "list threads", "/proc/%lld/task cannot be "
		                "read: %s", (long long)pid, strerror(os_error));
	}
}
