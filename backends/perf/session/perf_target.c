/* SPDX-License-Identifier: MIT */
/* The processes and threads of the target, and why they cannot be measured. */
#include "backends/perf/session/perf_target.h"

#include "backends/perf/kernel/perf_proc.h"
#include "backends/perf/kernel/perf_refusal.h"
#include "backends/perf/records/perf_fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool ppi_perf_has_family(const struct ppi_plan *plan)
{
	return plan->target.kind == PPI_TARGET_PID && !plan->target.is_self &&
	       plan->follow_children;
}

static int add_threads(const struct perf_kernel *kernel, int64_t pid,
                       int64_t **tids, size_t *count)
{
	int64_t *own, *more;
	size_t own_count;

	if (ppi_perf_proc_threads(kernel, pid, &own, &own_count) < 0)
		return 0; /* it has ended, or is hidden */
	more = realloc(*tids, (*count + own_count) * sizeof(*more));
	if (more) {
		memcpy(more + *count, own, own_count * sizeof(*own));
		*tids = more;
		*count += own_count;
	}
	free(own);
	return more ? 0 : -ENOMEM;
}

bool ppi_perf_is_target(const struct ppi_target *target, int64_t pid)
{
	for (size_t i = 0; i < target->other_count; i++)
		if (target->others[i] == pid)
			return true;
	return target->pid == pid;
}

/* Those that were named, each once. */
static size_t named_processes(const struct ppi_target *target, int64_t *pids)
{
	size_t count = 0;

	pids[count++] = target->pid;
	for (size_t i = 0; i < target->other_count; i++) {
		size_t at = 0;

		while (at < count && pids[at] != target->others[i])
			at++;
		if (at == count)
			pids[count++] = target->others[i];
	}
	return count;
}

int ppi_perf_target_processes(const struct ppi_backend_session *bs,
                              int64_t **pids, size_t *count)
{
	const struct ppi_target *target = &bs->plan->target;
	int64_t *all = malloc((1 + target->other_count) * sizeof(*all)), *kin;
	size_t named, kin_count;
	int64_t *more;
	int error;

	if (!all)
		return -ENOMEM;
	*pids = all;
	*count = named = named_processes(target, all);
	if (!bs->plan->follow_children)
		return 0;
	error = ppi_perf_proc_family(perf_kernel_of(bs->kernel), all, named,
	                             &kin, &kin_count);
	if (error < 0) {
		free(all);
		return error;
	}
	more = realloc(all, (named + kin_count) * sizeof(*all));
	for (size_t i = 0; more && i < kin_count; i++)
		if (!ppi_perf_is_target(target, kin[i]))
			more[(*count)++] = kin[i];
	free(kin);
	if (!more) {
		free(all);
		return -ENOMEM;
	}
	*pids = more;
	return 0;
}

/* Those of what was named come first, so that what they fork is inherited. One
 * process has to be there, of several one. */
static int family_threads(const struct ppi_backend_session *bs,
                          int64_t **tids, size_t *count)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	const struct ppi_target *target = &bs->plan->target;
	int64_t *pids;
	size_t pid_count;
	int error;

	*tids = NULL;
	*count = 0;
	error = ppi_perf_proc_threads(kernel, target->pid, tids, count);
	if (error < 0 && (error != -ESRCH || target->other_count == 0))
		return error;
	error = ppi_perf_target_processes(bs, &pids, &pid_count);
	if (error == 0) {
		for (size_t i = 1; error == 0 && i < pid_count; i++)
			error = add_threads(kernel, pids[i], tids, count);
		free(pids);
	}
	if (error == 0 && *count == 0)
		error = -ESRCH;
	if (error < 0)
		free(*tids);
	return error;
}

/* A command that waits for its exec has one thread, with /proc or without. */
static int only_thread(int64_t tid, int64_t **tids, size_t *count)
{
	*tids = malloc(sizeof(**tids));
	if (!*tids)
		return -ENOMEM;
	**tids = tid;
	*count = 1;
	return 0;
}

int ppi_perf_target_threads(const struct ppi_backend_session *bs,
                            int64_t **tids, size_t *count)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	const struct ppi_target *target = &bs->plan->target;
	int error;

	/* listing takes as long as opening a counter */
	if (target->is_self && kernel->count_threads(kernel->self) == 1)
		return only_thread(kernel->get_tid(kernel->self), tids, count);
	if (ppi_perf_has_family(bs->plan) || target->other_count)
		return family_threads(bs, tids, count);
	error = ppi_perf_proc_threads(kernel, target->pid, tids, count);
	if (error != -ENOSYS || target->kind != PPI_TARGET_COMMAND)
		return error;
	return only_thread(target->pid, tids, count);
}

static bool is_of(const struct perf_kernel *kernel, int64_t pid, int64_t tid)
{
	char name[64];

	return ppi_perf_proc_thread_name(kernel, pid, tid, name, sizeof(name));
}

/* Of a single target nothing may be missing; what else there is may be
 * somebody else's, or have ended. */
bool ppi_perf_may_miss(const struct ppi_backend_session *bs, int64_t tid,
                       portprof_status status)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	const struct ppi_target *target = &bs->plan->target;
	int error;

	if (status == PORTPROF_E_NOTFOUND)
		return true;
	if (status != PORTPROF_E_DENIED ||
	    (target->other_count == 0 &&
	     (!ppi_perf_has_family(bs->plan) ||
	      is_of(kernel, target->pid, tid))))
		return false;
	/* its event may be what is denied, to everybody's threads */
	error = ppi_perf_try_dummy(kernel, tid, -1);
	return error == EACCES || error == EPERM || error == ESRCH;
}

void ppi_perf_note_missed(struct ppi_backend_session *bs, size_t threads)
{
	if (threads)
		ppi_note(bs, PORTPROF_NOTE_MISSED "%zu threads of processes "
		         "that belong to the target could not be attached: "
		         "they are another "
		         "user's; measure them as administrator", threads);
}

/* ---- why it cannot be measured ---- */

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
