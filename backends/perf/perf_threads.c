/* SPDX-License-Identifier: MIT */
/* Finds the threads to measure: at open, and with thread rings all along. */
#include "backends/perf/perf_state.h"

#include "backends/perf/perf_errors.h"
#include "backends/perf/perf_proc.h"
#include "backends/perf/perf_rings.h"
#include "backends/perf/perf_target.h"
#include "backends/perf/events/perf_attr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	PASSES_MAX = 100, /* of threads that appear while we attach */
	SCAN_MOST_MS = 250
};

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
		ppi_note(bs, "%zu threads of processes that belong to the "
		         "target could not be attached: they are another "
		         "user's; measure them as administrator", threads);
}

static portprof_status attach_new(struct ppi_backend_session *bs,
                                  size_t *attached, size_t *refused,
                                  struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_target *target = &bs->plan->target;
	portprof_status status = PORTPROF_OK;
	int64_t *tids;
	size_t count;
	int error = ppi_perf_target_threads(bs, &tids, &count);

	*attached = *refused = 0;
	if (error < 0)
		return ppi_perf_refuse_threads(bs, -error, why);
	for (size_t i = 0; i < count && status == PORTPROF_OK; i++) {
		const struct perf_thread *known =
			ppi_perf_weights_find(&state->weights,
			                      (uint32_t)tids[i]);

		if ((known && known->is_direct) ||
		    (target->is_self && tids[i] == bs->helper_tid))
			continue;
		status = ppi_perf_attach_thread(bs, tids[i], why);
		*attached += status == PORTPROF_OK;
		if (status != PORTPROF_OK &&
		    ppi_perf_may_miss(bs, tids[i], status)) {
			*refused += status != PORTPROF_E_NOTFOUND;
			status = PORTPROF_OK;
		}
	}
	free(tids);
	return status;
}

/* Until a look finds nothing new. A thread may be caught twice: here and by
 * inheritance; perf_drain.c sees that by its samples. */
portprof_status ppi_perf_attach_all(struct ppi_backend_session *bs,
                                  struct ppi_diag *why)
{
	const struct ppi_target *target = &bs->plan->target;
	portprof_status status;
	size_t attached, refused = 0;

	if (target->kind == PPI_TARGET_TID)
		return ppi_perf_attach_thread(bs, target->tid, why);
	for (unsigned pass = 0; pass < PASSES_MAX; pass++) {
		status = attach_new(bs, &attached, &refused, why);
		if (status != PORTPROF_OK || attached == 0)
			break;
	}
	if (status == PORTPROF_OK && perf_state_of(bs)->source_count == 0 &&
	    refused)
		return PORTPROF_E_DENIED; /* why holds the last one's */
	if (status == PORTPROF_OK)
		ppi_perf_note_missed(bs, refused);
	if (status == PORTPROF_OK && perf_state_of(bs)->source_count == 0)
		return ppi_fail(why, PORTPROF_E_NOTFOUND, ESRCH,
		                "attach threads", "process %lld has ended",
		                (long long)target->pid);
	return status;
}

void ppi_perf_attach_late(struct ppi_backend_session *bs, int64_t tid,
                          struct ppi_diag *why)
{
	const struct perf_thread *known =
		ppi_perf_weights_find(&perf_state_of(bs)->weights,
		                      (uint32_t)tid);
	portprof_status status;

	if (known && known->is_direct)
		return;
	status = ppi_perf_attach_thread(bs, tid, why);
	if (status == PORTPROF_OK || status == PORTPROF_E_NOTFOUND)
		return;
	ppi_note(bs, "threads created later could not be attached, and their "
	         "CPU time is unattributed: %.150s", why->words);
}

static int compare_ids(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

void ppi_perf_scan_threads(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	const struct ppi_target *target = &bs->plan->target;
	struct ppi_diag why;
	int64_t *tids;
	uint64_t now, every_ms = bs->drain_every_ms;
	size_t count;

	if (target->kind == PPI_TARGET_TID ||
	    kernel->get_clock(kernel->self, CLOCK_MONOTONIC, &now) < 0 ||
	    now < state->next_scan_ns ||
	    ppi_perf_target_threads(bs, &tids, &count) < 0)
		return;
	qsort(tids, count, sizeof(*tids), compare_ids);
	/* A look takes 0.15 us a thread, and finds only those whose FORK
	 * record was lost: of a thousand threads four times a second. */
	if (every_ms < count / 4)
		every_ms = count < SCAN_MOST_MS * 4 ? count / 4 : SCAN_MOST_MS;
	state->next_scan_ns = now + every_ms * UINT64_C(1000000);
	for (size_t i = 0; i < count; i++)
		if (!(target->is_self && tids[i] == bs->helper_tid))
			ppi_perf_attach_late(bs, tids[i], &why);
	/* The record of a thread's end may have been lost. */
	for (size_t i = 0; i < state->port_count; i++) {
		struct perf_port *port = &state->ports[i];

		if (port->fd >= 0 && !port->is_ended &&
		    !bsearch(&port->tid, tids, count, sizeof(*tids),
		             compare_ids))
			port->is_ended = true;
	}
	free(tids);
}
