/* SPDX-License-Identifier: MIT */
/* From the kernel's records to ours: weights, threads, modules, losses. */
#include "backends/perf/kernel/perf_build_id.h"
#include "backends/perf/kernel/perf_proc.h"
#include "backends/perf/records/perf_weight.h"
#include "backends/perf/sampling/perf_account.h"
#include "backends/perf/sampling/perf_family.h"
#include "backends/perf/sampling/perf_late.h"
#include "backends/perf/sampling/perf_rings.h"
#include "backends/perf/sampling/perf_samples.h"
#include "backends/perf/sampling/perf_sampling.h"
#include "backends/perf/sampling/perf_sides.h"
#include "backends/perf/sampling/perf_tails.h"
#include "backends/perf/session/perf_target.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the oldest record of all rings first: a heap of fronts ---- */

/* Look at a ring's front record; false when the ring is empty. */
static bool look_at_front(struct perf_state *state, struct perf_ring *ring)
{
	const struct perf_shape *shape = &state->kind.shape;
	const struct perf_drain *drain = state->drain;
	struct perf_event_header header;
	uint64_t word, earliest = ring->last_time_ns;
	size_t at;

	if (earliest < drain->began_ns && drain->began_ns != UINT64_MAX)
		earliest = drain->began_ns;
	ring->front_bytes = ppi_perf_buffer_front(&ring->buffer);
	if (ring->front_bytes == 0)
		return false;
	word = ppi_perf_buffer_word(&ring->buffer, 0);
	memcpy(&header, &word, sizeof(header));
	ring->front_type = header.type;
	if (header.type == PERF_RECORD_SAMPLE)
		at = ppi_perf_time_in_sample(shape);
	else
		at = ring->front_bytes - ppi_perf_time_from_end(shape);
	/* Too short to hold a time: out of the way at once. */
	word = 0;
	if (at >= sizeof(header) && at + 8 <= ring->front_bytes)
		word = ppi_perf_buffer_word(&ring->buffer, at);
	/* Another recorder's clock (perf_seen.is_shared) may be ahead of ours
	 * or behind: it was written before we looked, and after the record in
	 * front of it. */
	if (word > drain->looked_at_ns)
		word = drain->until_ns < drain->looked_at_ns
			? drain->until_ns : drain->looked_at_ns;
	ring->next_time_ns = word;
	if (header.type == PERF_RECORD_SAMPLE && word < earliest)
		ring->next_time_ns = earliest;
	return true;
}

/* Of one instant: what a sample may need comes before it, the end of its
 * thread behind. */
static int rank_of(const struct perf_ring *ring)
{
	return ring->front_type == PERF_RECORD_EXIT ? 2 :
	       ring->front_type == PERF_RECORD_SAMPLE ? 1 : 0;
}

static bool is_older(const struct perf_rings *rings, size_t a, size_t b)
{
	const struct perf_ring *left = &rings->all[rings->order[a]];
	const struct perf_ring *right = &rings->all[rings->order[b]];

	if (left->next_time_ns != right->next_time_ns)
		return left->next_time_ns < right->next_time_ns;
	return rank_of(left) < rank_of(right);
}

static void swap(struct perf_rings *rings, size_t a, size_t b)
{
	size_t at = rings->order[a];

	rings->order[a] = rings->order[b];
	rings->order[b] = at;
}

static void sift_down(struct perf_rings *rings, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= rings->order_count)
			return;
		if (child + 1 < rings->order_count &&
		    is_older(rings, child + 1, child))
			child++;
		if (!is_older(rings, child, at))
			return;
		swap(rings, at, child);
		at = child;
	}
}

/* See how far the kernel has written in all rings. */
static void merge_look(struct perf_rings *rings)
{
	for (size_t i = 0; i < rings->count; i++)
		if (rings->all[i].fd >= 0)
			ppi_perf_buffer_look(&rings->all[i].buffer);
}

static void merge_begin(struct perf_state *state)
{
	struct perf_rings *rings = state->rings;

	rings->order_count = 0;
	for (size_t i = 0; i < rings->count; i++)
		if (rings->all[i].fd >= 0 &&
		    look_at_front(state, &rings->all[i]))
			rings->order[rings->order_count++] = i;
	for (size_t i = rings->order_count / 2; i-- > 0;)
		sift_down(rings, i);
}

/* The ring whose front record is the oldest of those up to until_ns; false when
 * there is none. */
static bool merge_oldest(struct perf_state *state, size_t *ring)
{
	const struct perf_rings *rings = state->rings;

	if (rings->order_count == 0 ||
	    rings->all[rings->order[0]].next_time_ns > state->drain->until_ns)
		return false;
	*ring = rings->order[0];
	return true;
}

/* The oldest was popped: look at the ring's next. */
static void merge_advance(struct perf_state *state)
{
	struct perf_rings *rings = state->rings;
	struct perf_ring *ring = &rings->all[rings->order[0]];

	ring->last_time_ns = ring->next_time_ns;
	if (!look_at_front(state, ring))
		rings->order[0] = rings->order[--rings->order_count];
	sift_down(rings, 0);
}

/* ---- what each record leads to ---- */

portprof_record ppi_perf_new_record(const struct perf_state *state,
                                    const struct perf_ring *ring,
                                    const struct perf_seen *seen,
                                    enum portprof_record_kind kind)
{
	portprof_record record = { .kind = kind };

	record.pid = seen->pid;
	record.tid = seen->tid;
	record.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID;
	if (seen->has_time && state->kind.features & PERF_HAS_CLOCKID) {
		record.time_ns = seen->time_ns;
		record.valid |= PORTPROF_FIELD_TIME;
	}
	if (kind == PORTPROF_RECORD_SAMPLE) {
		record.cpu = seen->has_cpu ? seen->cpu : ring->cpu;
		record.valid |= PORTPROF_FIELD_CPU;
	}
	return record;
}

/* Whose records we show: not our helper's, nor those of children that are not
 * followed (a kernel without inherit_thread, or a record of their fork). */
bool ppi_perf_is_wanted(const struct ppi_backend_session *bs,
                        const struct perf_seen *seen)
{
	const struct ppi_target *target = &bs->plan->target;

	if (target->is_self && seen->tid == (uint64_t)bs->helper_tid)
		return false;
	if (perf_state_of(bs)->family->bits)
		return ppi_perf_family_has(perf_state_of(bs), seen->pid);
	return perf_follows(bs->plan) || target->kind == PPI_TARGET_TID ||
	       ppi_perf_is_target(target, (int64_t)seen->pid);
}

bool ppi_perf_has_room(const struct ppi_room *room, size_t words)
{
	return room->record_count < room->record_room &&
	       words <= room->word_room - room->word_count;
}

/*
 * Where code of no file may be text that was moved to huge pages, the file that it
 * came from, which the process's list shows; to be freed. NULL: it is none. What
 * compilers make while programs run is rarely so large, and told of often.
 */
static struct perf_mapping *find_moved(const struct ppi_backend_session *bs,
                                       const struct perf_seen *seen)
{
	const uint64_t huge = UINT64_C(2) << 20;
	struct perf_mapping *found;

	if (seen->is_kernel || seen->address % huge || seen->length % huge)
		return NULL;
	found = ppi_perf_proc_mapping_at(perf_kernel_of(bs->kernel), seen->pid,
	                                 seen->address);
	if (found && found->path[0] == '/' && strcmp(found->path, seen->name) != 0)
		return found;
	free(found);
	return NULL;
}

static bool add_module(struct ppi_backend_session *bs,
                       const struct perf_ring *ring,
                       const struct perf_seen *seen, struct ppi_room *room)
{
	unsigned char build_id[PORTPROF_BUILD_ID_BYTES];
	size_t build_id_bytes;
	portprof_record record =
		ppi_perf_new_record(perf_state_of(bs), ring, seen,
		                    PORTPROF_RECORD_MODULE);

	if (!ppi_perf_has_room(room, (sizeof(portprof_module) +
	                              strlen(seen->name)) / 8 + 2))
		return false;
	record.address = seen->address;
	record.span = seen->length;
	if (seen->is_kernel)
		record.valid |= PORTPROF_FIELD_KERNEL;
	build_id_bytes = ppi_perf_build_id(&perf_state_of(bs)->sides->build_ids,
	                                   perf_kernel_of(bs->kernel),
	                                   seen->pid,
	                                   &seen->file, seen->name, build_id);
	return ppi_room_add_module(room, &record, seen->file_offset, build_id,
	                           build_id_bytes, seen->name);
}

static bool take_module(struct ppi_backend_session *bs,
                        const struct perf_ring *ring,
                        const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_seen of_file = *seen;
	struct perf_mapping *moved;
	bool is_in;

	if (!bs->plan->want_modules || !ppi_perf_is_wanted(bs, seen))
		return true;
	ppi_perf_late_forget_places(perf_state_of(bs), seen->pid);
	moved = find_moved(bs, seen);
	if (moved) {
		of_file.file = moved->file;
		of_file.file_offset = moved->file_offset;
		of_file.name = moved->path;
	}
	is_in = add_module(bs, ring, &of_file, room);
	free(moved);
	return is_in;
}

/* Whoever executes a program has the number of its process' first thread from now
 * on: what that one did is told before. */
static bool take_number(struct ppi_backend_session *bs,
                        const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_thread *first =
		ppi_perf_weights_find(state->weights, seen->pid);

	if (first && first->has_ended &&
	    !ppi_perf_tail_settle(bs, UINT64_MAX, room))
		return false;
	ppi_perf_weights_exec(state->weights, seen->pid);
	return true;
}

static bool take_name(struct ppi_backend_session *bs,
                      const struct perf_ring *ring,
                      const struct perf_seen *seen, struct ppi_room *room)
{
	portprof_record record =
		ppi_perf_new_record(perf_state_of(bs), ring, seen,
		                    PORTPROF_RECORD_THREAD);

	/* The kernel enabled the events just before it said so; those of a CPU
	 * see everybody's. */
	if (seen->is_exec && ppi_perf_is_wanted(bs, seen)) {
		perf_state_of(bs)->awaits_exec = false;
		ppi_perf_clocks_exec(bs, seen->tid);
		ppi_perf_clocks_exec(bs, seen->pid);
		ppi_perf_late_forget_places(perf_state_of(bs), seen->pid);
		if (!take_number(bs, seen, room))
			return false;
	}
	/* What it was until now is known by what is mapped until now. */
	if (seen->is_exec &&
	    !ppi_perf_tail_flush(bs, ppi_perf_weights_find(
		    perf_state_of(bs)->weights, seen->tid), room))
		return false;
	if (!bs->plan->want_modules || !ppi_perf_is_wanted(bs, seen))
		return true;
	ppi_perf_remember_name(perf_state_of(bs), seen->tid, seen->name);
	if (seen->is_exec)
		record.valid |= PORTPROF_FIELD_EXEC;
	return ppi_room_add_name(room, &record, seen->name);
}

/* Nobody tells the name of a new thread: it is its creator's. */
static bool name_new_thread(struct ppi_backend_session *bs,
                            const struct perf_ring *ring,
                            const struct perf_seen *seen,
                            struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_thread *creator =
		ppi_perf_weights_find(state->weights, seen->parent_tid);
	portprof_record record =
		ppi_perf_new_record(state, ring, seen, PORTPROF_RECORD_THREAD);
	char name[PERF_NAME_BYTES];

	if (!creator || !creator->name[0] || !bs->plan->want_modules ||
	    !ppi_perf_is_wanted(bs, seen))
		return true;
	memcpy(name, creator->name, sizeof(name));
	if (!ppi_room_add_name(room, &record, name))
		return false;
	ppi_perf_remember_name(state, seen->tid, name);
	return true;
}

/* A process: first that it is there, then its name; there may be room for
 * one of the two only. */
static bool take_new_process(struct ppi_backend_session *bs,
                             const struct perf_ring *ring,
                             const struct perf_seen *seen,
                             struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_record record =
		ppi_perf_new_record(state, ring, seen, PORTPROF_RECORD_FORK);

	if (!bs->plan->want_modules || !perf_follows(bs->plan) ||
	    !ppi_perf_is_wanted(bs, seen))
		return true;
	record.address = seen->parent_pid;
	if (!state->drain->is_fork_told &&
	    !ppi_room_add(room, &record, NULL, 0))
		return false;
	state->drain->is_fork_told = true;
	if (!name_new_thread(bs, ring, seen, room))
		return false;
	state->drain->is_fork_told = false;
	return true;
}

static bool take_fork(struct ppi_backend_session *bs,
                      const struct perf_ring *ring,
                      const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	struct ppi_diag why;

	if (seen->pid != seen->parent_pid) {
		ppi_perf_family_begin(state, seen->parent_pid, seen->pid);
		ppi_perf_late_forget(state, seen->pid);
	}
	if (state->tails->is_on && !state->drain->is_fork_told &&
	    !ppi_perf_tail_begin(bs, seen, room))
		return false;
	ppi_perf_weights_begin(state->weights, seen->tid);
	if (seen->pid != seen->parent_pid)
		return take_new_process(bs, ring, seen, room);
	if (!name_new_thread(bs, ring, seen, room))
		return false;
	if (state->layout == PERF_THREAD_RINGS &&
	    bs->plan->target.kind != PPI_TARGET_TID &&
	    ppi_perf_is_wanted(bs, seen))
		ppi_perf_attach_late(bs, seen->tid, &why);
	return true;
}

/* Its ring of samples and the one at its side. */
static void end_rings_of(struct perf_state *state, int64_t tid)
{
	for (size_t i = 0; i < state->rings->count; i++)
		if (state->rings->all[i].tid == tid)
			state->rings->all[i].is_ended =
				state->rings->all[i].is_exit_seen = true;
}

static bool take_exit(struct ppi_backend_session *bs,
                      const struct perf_ring *ring,
                      const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_source *carrier = ppi_perf_source_of(state, seen->id);
	portprof_record record =
		ppi_perf_new_record(state, ring, seen, PORTPROF_RECORD_EXIT);
	struct perf_thread *owner, *thread =
		ppi_perf_weights_find(state->weights, seen->tid);

	bool is_told = bs->plan->want_modules && ppi_perf_is_wanted(bs, seen);
	bool is_to_wait = state->tails->is_on &&
		ppi_perf_tail_end(bs, &record, seen->time_ns, is_told);

	if (thread && !ppi_perf_clocks_end(bs, thread, room))
		return false;
	if (seen->tid == seen->pid && !ppi_perf_late_end(bs, seen->pid, room))
		return false;
	if (!is_to_wait && is_told && !ppi_room_add(room, &record, NULL, 0))
		return false;
	if (seen->tid == seen->pid)
		ppi_perf_family_end(state, seen->pid);
	ppi_perf_tail_miss(bs, thread);
	/* A copy ends: its times go to the event that it is a copy of. */
	if (carrier && carrier->tid != seen->tid) {
		owner = ppi_perf_weights_find(state->weights,
		                              (uint32_t)carrier->tid);
		if (owner)
			owner->has_mixed_times = true;
	}
	if (!is_to_wait)
		ppi_perf_weights_end_later(state->weights, seen->tid);
	if (state->layout == PERF_THREAD_RINGS)
		end_rings_of(state, seen->tid);
	return true;
}

/* So many records found no room before this one. */
static void take_loss(struct perf_state *state, const struct perf_ring *ring,
                      const struct perf_seen *seen)
{
	bool may_be_of_carrier = ring->is_side || !state->sides->has_carriers ||
	                         state->layout == PERF_THREAD_RINGS;

	if (!ring->is_side)
		state->tallies[0].lost_records += seen->lost;
	else if (!(state->kind.features & PERF_HAS_LOST))
		state->sides->lost += seen->lost;
	state->sides->is_behind |= may_be_of_carrier;
	if (may_be_of_carrier)
		ppi_perf_weights_mix_all(state->weights);
}

/* The hardware wrote them, and the kernel could not tell for which event. */
static void take_lost_samples(struct perf_state *state,
                              const struct perf_seen *seen)
{
	const struct perf_source *source = ppi_perf_source_of(state, seen->id);
	size_t event = source && source->event != PERF_CARRIER ? source->event
	                                                       : 0;

	state->tallies[event].unclear += seen->lost;
}

static bool take_record(struct ppi_backend_session *bs,
                        const struct perf_ring *ring,
                        const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_source *source;

	switch (seen->type) {
	case PERF_RECORD_SAMPLE:
		return ppi_perf_take_sample(bs, ring, seen, room);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return take_module(bs, ring, seen, room);
	case PERF_RECORD_COMM:
		return take_name(bs, ring, seen, room);
	case PERF_RECORD_FORK:
		return take_fork(bs, ring, seen, room);
	case PERF_RECORD_EXIT:
		return take_exit(bs, ring, seen, room);
	case PERF_RECORD_LOST:
		take_loss(state, ring, seen);
		return true;
	case PERF_RECORD_LOST_SAMPLES:
		take_lost_samples(state, seen);
		return true;
	case PERF_RECORD_THROTTLE:
		source = ppi_perf_source_of(state, seen->id);
		if (source && source->event != PERF_CARRIER)
			state->tallies[source->event].throttled++;
		return true;
	default:
		return true; /* newer than we are */
	}
}

uint64_t ppi_perf_record_clock(const struct ppi_backend_session *bs)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	uint64_t now;

	if (!(perf_state_of(bs)->kind.features & PERF_HAS_CLOCKID) ||
	    kernel->get_clock(kernel->self, CLOCK_MONOTONIC, &now) < 0)
		return UINT64_MAX;
	return now;
}

/*
 * What is younger than the time before any ring is looked at stays in its ring:
 * something that led to it may have gone to a ring that was looked at before.
 */
static void look_at_rings(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	bool goes_on = state->is_running || state->sides->is_early;

	state->drain->until_ns =
		goes_on ? ppi_perf_record_clock(bs) : UINT64_MAX;
	merge_look(state->rings);
	ppi_perf_clocks_look(bs);
	ppi_perf_late_look(bs, state->drain->until_ns);
	state->drain->looked_at_ns = ppi_perf_record_clock(bs);
	merge_begin(state);
}

/*
 * Rings are emptied as often as the rate asks for, and more often while they
 * fill faster than that: with the mappings of many short processes. Once a
 * nap, because a drain looks at rings several times.
 */
static void adapt_nap(struct ppi_backend_session *bs, uint64_t now_ns)
{
	enum { NAP_LEAST_MS = 4 };
	struct perf_state *state = perf_state_of(bs);
	uint64_t most = 0;

	if (now_ns == UINT64_MAX || now_ns < state->drain->next_adapt_ns)
		return;
	for (size_t i = 0; i < state->rings->count; i++) {
		const struct perf_buffer *ring = &state->rings->all[i].buffer;
		uint64_t percent = state->rings->all[i].fd < 0 ? 0 :
			(ring->head - ring->tail) * 100 / ring->data_bytes;

		most = percent > most ? percent : most;
	}
	if (most > 25 && bs->drain_every_ms > NAP_LEAST_MS)
		bs->drain_every_ms /= most > 60 ? 4 : 2;
	else if (most < 5 && bs->drain_every_ms < state->drain->nap_ms)
		bs->drain_every_ms *= 2;
	if (bs->drain_every_ms < NAP_LEAST_MS)
		bs->drain_every_ms = NAP_LEAST_MS;
	if (bs->drain_every_ms > state->drain->nap_ms)
		bs->drain_every_ms = state->drain->nap_ms;
	state->drain->next_adapt_ns =
		now_ns + bs->drain_every_ms * UINT64_C(500000);
}

/* Its samples may come after we saw that it is gone: forget it last. */
static void retire_ended(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);

	for (size_t i = 0; i < state->rings->count; i++) {
		const struct perf_ring *ring = &state->rings->all[i];

		if (ring->fd < 0 || !ring->is_ended ||
		    ring->buffer.head != ring->buffer.tail)
			continue;
		if (!ring->is_exit_seen && !ring->is_side)
			ppi_perf_weights_end(state->weights,
			                     (uint32_t)ring->tid);
		ppi_perf_retire_ring(bs, i);
	}
}

portprof_status ppi_perf_drain_rings(struct ppi_backend_session *bs,
                                     struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	size_t at;

	if (bs->wants_longer_stacks)
		ppi_perf_grow_stacks(bs);
	if (state->sides->is_behind)
		ppi_perf_pending_catch_up(bs);
	if (!ppi_perf_pending_flush(state, room))
		return PORTPROF_OK;
	if (state->is_running &&
	    !ppi_perf_tail_settle(bs, ppi_perf_record_clock(bs), room))
		return PORTPROF_OK;
	if (state->layout == PERF_THREAD_RINGS && state->is_running)
		ppi_perf_scan_threads(bs);
	look_at_rings(bs);
	adapt_nap(bs, state->drain->until_ns);
	if (state->drain->until_ns != UINT64_MAX)
		ppi_perf_rate_watch(bs, state->drain->until_ns);
	while (merge_oldest(state, &at)) {
		struct perf_ring *ring = &state->rings->all[at];
		size_t bytes = ring->front_bytes;
		const void *record = ppi_perf_buffer_record(
			&ring->buffer, bytes, state->rings->scratch);
		struct perf_seen seen;

		/* What cannot be read is a loss that nobody counted. */
		if (ppi_perf_decode(&state->kind.shape, record, bytes, &seen)) {
			seen.time_ns = ring->next_time_ns;
			if (!take_record(bs, ring, &seen, room))
				return PORTPROF_OK;
		} else {
			ring->buffer.damaged++;
		}
		/* Attaching a thread may have moved the rings. */
		ppi_perf_clocks_pass(bs, &state->rings->all[at]);
		ppi_perf_buffer_pop(&state->rings->all[at].buffer, bytes);
		merge_advance(state);
	}
	ppi_perf_tail_pace(bs);
	if (!state->is_running && state->tails->is_on &&
	    (!ppi_perf_tail_settle(bs, UINT64_MAX, room) ||
	     !ppi_perf_tail_flush_all(bs, room)))
		return PORTPROF_OK;
	if (!state->is_running && !ppi_perf_clocks_end_all(bs, room))
		return PORTPROF_OK;
	if (!ppi_perf_late_lay(bs, room))
		return PORTPROF_OK;
	ppi_perf_weights_forget_ended(state->weights);
	if (state->layout == PERF_THREAD_RINGS)
		retire_ended(bs);
	return PORTPROF_OK;
}
