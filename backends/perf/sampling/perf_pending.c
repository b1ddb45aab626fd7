/* SPDX-License-Identifier: MIT */
/* Synthesized records: processes, names and mappings from before the session. */
#include "backends/perf/kernel/perf_build_id.h"
#include "backends/perf/kernel/perf_proc.h"
#include "backends/perf/records/perf_weight.h"
#include "backends/perf/sampling/perf_family.h"
#include "backends/perf/sampling/perf_sides.h"
#include "backends/perf/session/perf_cpus.h"
#include "backends/perf/session/perf_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Kernel text lies in the upper half of the address space. */
#define KERNEL_START UINT64_C(0xffff000000000000)
#define KERNEL_BYTES UINT64_C(0x0000ffffffffffff)

static bool add_pending(struct perf_state *state, const portprof_record *record,
                        uint64_t file_offset, const unsigned char *build_id,
                        size_t build_id_bytes, const char *name)
{
	size_t bytes = strlen(name) + 1;
	struct perf_pending *pending = malloc(sizeof(*pending) + bytes);

	if (!pending)
		return false;
	pending->next = NULL;
	pending->record = *record;
	pending->file_offset = file_offset;
	pending->build_id_bytes = build_id_bytes;
	if (build_id_bytes)
		memcpy(pending->build_id, build_id, build_id_bytes);
	memcpy(pending->name, name, bytes);
	*state->sides->pending_end = pending;
	state->sides->pending_end = &pending->next;
	return true;
}

bool ppi_perf_pending_flush(struct perf_state *state, struct ppi_room *room)
{
	struct perf_pending *first;

	while ((first = state->sides->pending) != NULL) {
		bool is_in = first->record.kind == PORTPROF_RECORD_MODULE
			? ppi_room_add_module(room, &first->record,
			                      first->file_offset,
			                      first->build_id,
			                      first->build_id_bytes,
			                      first->name)
			: ppi_room_add_name(room, &first->record, first->name);

		if (!is_in)
			return false;
		state->sides->pending = first->next;
		free(first);
	}
	state->sides->pending_end = &state->sides->pending;
	return true;
}

void ppi_perf_pending_free(struct perf_state *state)
{
	struct perf_pending *next;

	for (struct perf_pending *at = state->sides->pending; at; at = next) {
		next = at->next;
		free(at);
	}
	state->sides->pending = NULL;
}

void ppi_perf_remember_name(struct perf_state *state, uint32_t tid,
                            const char *name)
{
	struct perf_thread *thread = ppi_perf_weights_add(state->weights, tid);

	if (thread)
		snprintf(thread->name, sizeof(thread->name), "%.*s",
		         PERF_NAME_BYTES - 1, name);
}

static void add_thread(struct ppi_backend_session *bs, int64_t pid,
                       int64_t tid)
{
	portprof_record record = {
		.kind = PORTPROF_RECORD_THREAD,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID,
		.pid = (uint32_t)pid,
		.tid = (uint32_t)tid,
	};
	char name[64];

	/* Our helper is in no profile. */
	if (tid == bs->helper_tid ||
	    !ppi_perf_proc_thread_name(perf_kernel_of(bs->kernel), pid, tid,
	                               name, sizeof(name)))
		return;
	ppi_perf_remember_name(perf_state_of(bs), (uint32_t)tid, name);
	add_pending(perf_state_of(bs), &record, 0, NULL, 0, name);
}

/* Whose mappings are being read. */
struct reader {
	struct ppi_backend_session *bs;
	int64_t pid;
};

static void take_mapping(void *context, const struct perf_mapping *mapping)
{
	const struct reader *reader = context;
	struct ppi_backend_session *bs = reader->bs;
	unsigned char build_id[PORTPROF_BUILD_ID_BYTES];
	size_t build_id_bytes;
	portprof_record record = {
		.kind = PORTPROF_RECORD_MODULE,
		.valid = PORTPROF_FIELD_PID,
		.pid = (uint32_t)reader->pid,
		.address = mapping->start,
		.span = mapping->end - mapping->start,
	};

	build_id_bytes = ppi_perf_build_id(&perf_state_of(bs)->sides->build_ids,
	                                   perf_kernel_of(bs->kernel),
	                                   record.pid,
	                                   &mapping->file, mapping->path,
	                                   build_id);
	add_pending(perf_state_of(bs), &record, mapping->file_offset, build_id,
	            build_id_bytes,
	            mapping->path[0] ? mapping->path : "//anon");
}

static void add_kernel_text(struct perf_state *state)
{
	portprof_record record = {
		.kind = PORTPROF_RECORD_MODULE,
		.valid = PORTPROF_FIELD_KERNEL,
		.address = KERNEL_START,
		.span = KERNEL_BYTES,
	};

	add_pending(state, &record, 0, NULL, 0, "[kernel.kallsyms]");
}

static void add_process(struct ppi_backend_session *bs, int64_t pid)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	struct reader reader = { bs, pid };
	int64_t *tids;
	size_t count;

	ppi_perf_proc_mappings(kernel, pid, take_mapping, &reader);
	if (ppi_perf_proc_threads(kernel, pid, &tids, &count) < 0)
		return; /* it has ended */
	for (size_t i = 0; i < count; i++)
		add_thread(bs, pid, tids[i]);
	free(tids);
}

static void add_all_processes(struct ppi_backend_session *bs)
{
	int64_t *pids;
	size_t count;

	if (ppi_perf_proc_processes(perf_kernel_of(bs->kernel), &pids,
	                            &count) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		add_process(bs, pids[i]);
	free(pids);
}

static void add_number(struct perf_state *state, uint32_t number,
                       const char *name)
{
	const portprof_record record = {
		.kind = PORTPROF_RECORD_THREAD,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID,
		.pid = number,
		.tid = number,
	};

	add_pending(state, &record, 0, NULL, 0, name);
}

/* What is in no list of processes. The idle task is "swapper/CPU"
 * (kernel/sched/core.c, init_idle), of which perf says "swapper"; a process that
 * had ended when its CPU was sampled is -1 (kernel/events/core.c,
 * perf_event_pid_type). */
static void add_unlisted(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);

	if (!bs->plan->target.cgroup)
		add_number(state, 0,
		           ppi_perf_is_contained(perf_kernel_of(bs->kernel))
		                   ? "(idle or outside)" : "swapper");
	add_number(state, UINT32_MAX, "(exited)");
}

static void add_target(struct ppi_backend_session *bs)
{
	int64_t *pids;
	size_t count;

	if (ppi_perf_target_processes(bs, &pids, &count) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		add_process(bs, pids[i]);
	free(pids);
}

/* A command's image is not there yet: the kernel will tell. */
void ppi_perf_pending_baseline(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_plan *plan = bs->plan;
	bool has_kernel = false;

	for (size_t i = 0; i < plan->event_count; i++)
		has_kernel |= plan->events[i].counts_kernel;
	if (has_kernel)
		add_kernel_text(state);
	if (plan->target.kind == PPI_TARGET_COMMAND)
		return;
	if (plan->target.kind == PPI_TARGET_SYSTEM) {
		add_unlisted(bs);
		add_all_processes(bs);
		return;
	}
	if (ppi_perf_has_family(plan) || plan->target.other_count) {
		add_target(bs);
		return;
	}
	if (!plan->target.is_self)
		ppi_perf_proc_mappings(perf_kernel_of(bs->kernel),
		                       plan->target.pid, take_mapping,
		                       &(struct reader){ bs,
		                                        plan->target.pid });
	/* by id, so those of one thread are beside each other */
	for (size_t i = 0; i < state->source_count; i++)
		if (i == 0 || state->sources[i].tid !=
		    state->sources[i - 1].tid)
			add_thread(bs, bs->plan->target.pid,
			           state->sources[i].tid);
}

/* A look costs what open's costs: not with each loss of a storm. */
void ppi_perf_pending_catch_up(struct ppi_backend_session *bs)
{
	const uint64_t pause_ns = UINT64_C(2000000000);
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	const struct ppi_target *target = &bs->plan->target;
	uint64_t now = 0;

	kernel->get_clock(kernel->self, CLOCK_MONOTONIC, &now);
	if (state->is_running && now < state->sides->next_catch_up_ns)
		return;
	state->sides->next_catch_up_ns = now + pause_ns;
	state->sides->is_behind = false;
	/* the record of its exec may be among what was lost */
	if (state->is_by_cpu)
		state->awaits_exec = false;
	ppi_perf_family_look(bs);
	if (!bs->plan->want_modules)
		return;
	if (target->kind == PPI_TARGET_SYSTEM)
		add_all_processes(bs);
	else
		add_target(bs);
}
