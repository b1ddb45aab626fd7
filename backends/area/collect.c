/* SPDX-License-Identifier: MIT */
/*
 * The backend of a collector: takes what sessions of other processes leave in
 * the areas of a pool, while they live and after. It measures nothing itself.
 */
#include "config.h"

#include "backends/area/area.h"
#include "backends/common/ticks.h"
#include "base/clock_ns.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a pool of areas, and its users ---- */

portprof_status ppi_areas_open(struct ppi_areas **pool, struct ppi_diag *why)
{
	struct ppi_areas *opened = calloc(1, sizeof(*opened));
	void *memory;

	if (!opened)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "share memory",
		                "out of memory");
	opened->areas = calloc(SHARE_AREAS_MAX, sizeof(*opened->areas));
	if (!opened->areas ||
	    ppi_shared_memory_create(sizeof(struct share_index),
	                             &opened->index_id, &memory) != 0) {
		int error = errno;

		free(opened->areas);
		free(opened);
		return ppi_fail(why, error == ENOSYS ? PORTPROF_E_UNSUPPORTED
		                                     : PORTPROF_E_LIMIT,
		                error, "share memory",
		                "memory to share with the measured processes "
		                "cannot be made (shmget): %s", strerror(error));
	}
	opened->index = memory;
	opened->holders = 1;
	snprintf(opened->name, sizeof(opened->name), "%d", opened->index_id);
	opened->index->layout = SHARE_LAYOUT;
	opened->index->word_bytes = sizeof(size_t);
	opened->index->magic = SHARE_MAGIC;
	*pool = opened;
	return PORTPROF_OK;
}

struct ppi_areas *ppi_areas_hold(struct ppi_areas *pool)
{
	if (pool)
		pool->holders++;
	return pool;
}

void ppi_areas_release(struct ppi_areas *pool)
{
	if (!pool || --pool->holders > 0)
		return;
	for (size_t i = 0; i < pool->count; i++)
		ppi_shared_memory_free(pool->areas[i].id,
		                       pool->areas[i].shared);
	ppi_shared_memory_free(pool->index_id, pool->index);
	free(pool->areas);
	free(pool);
}

const char *ppi_areas_name(const struct ppi_areas *pool)
{
	return pool->name;
}

static bool add_area(struct ppi_areas *pool)
{
	struct pool_area *area = &pool->areas[pool->count];
	size_t stream_bytes = ppi_stream_bytes(SHARE_STREAM_BYTES);
	struct share_slot *slot = &pool->index->slots[pool->count];
	void *memory;

	if (pool->count == SHARE_AREAS_MAX ||
	    ppi_shared_memory_create(share_area_bytes(pool->ring_bytes,
	                                              stream_bytes),
	                             &area->id, &memory) != 0)
		return false;
	area->shared = memory;
	area->shared->ring_bytes = pool->ring_bytes;
	area->shared->stack_bytes = pool->stack_bytes;
	ppi_tick_ring_use(&area->ring, pool->stack_bytes,
	                  share_ring_at(area->shared), pool->ring_bytes, false);
	ppi_stream_use(&area->stream,
	               share_stream_at(area->shared, pool->ring_bytes),
	               stream_bytes);
	slot->id = area->id;
	atomic_store(&slot->state, SHARE_FREE);
	pool->count++;
	atomic_store(&pool->index->count, (uint32_t)pool->count);
	return true;
}

bool ppi_areas_fill(struct ppi_areas *pool, size_t free_areas)
{
	size_t count = 0;

	for (size_t i = 0; i < pool->count; i++)
		count += atomic_load(&pool->index->slots[i].state) ==
		         SHARE_FREE;
	for (; count < free_areas; count++)
		if (!add_area(pool))
			return false;
	return true;
}

void ppi_areas_give_back(struct ppi_areas *pool, size_t number)
{
	struct pool_area *area = &pool->areas[number];
	struct share_area *shared = area->shared;

	ppi_stream_empty(&area->stream);
	ppi_tick_ring_empty(&area->ring);
	memset(shared->accounts, 0, sizeof(shared->accounts));
	atomic_store(&shared->current, 0);
	atomic_store(&shared->use, SHARE_UNUSED);
	area->is_used = area->is_dead = area->is_told = false;
	area->weight = 0;
	atomic_store(&pool->index->slots[number].state, SHARE_FREE);
}

/* How many areas wait for processes that come at once, beside half as many as
 * are taken, and how often to look for new ones and for ended ones. */
enum { SPARE_AREAS = 24, LOOK_MS = 20 };

struct collect_state {
	struct ppi_backend_session *bs;
	struct ppi_areas *pool;
	struct ppi_account done; /* of sessions that are over */
	uint64_t next_look_ns;
	double period_ns;
	uint64_t begun_lost;     /* samples that a killed process had begun */
	bool is_over, is_short, is_joined;
};

static struct collect_state *state_of(const struct ppi_backend_session *bs)
{
	return bs->state;
}

static void collect_probe(const void *kernel, struct ppi_probe *out)
{
	(void)kernel;
	out->is_usable = true;
}

/* Never asked: the backend that measures resolves. */
static portprof_status collect_resolve(const void *kernel,
                                       const struct ppi_event_request *request,
                                       enum ppi_mode mode,
                                       struct ppi_event *event,
                                       struct ppi_diag *why)
{
	(void)kernel;
	(void)request;
	(void)mode;
	(void)event;
	return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "resolve event",
	                "a collector has no events of its own");
}

static portprof_status collect_open(struct ppi_backend_session *bs,
                                    struct ppi_diag *why)
{
	struct collect_state *state = state_of(bs);
	struct ppi_tick_rate rate = ppi_tick_rate_of(&bs->plan->events[0], 0);
	struct ppi_tick_ring_size size =
		ppi_tick_ring_size(bs->plan, &rate, ppi_cpu_count());

	rate.tick_ns = ppi_kernel_tick_ns();
	state->period_ns = (double)ppi_tick_rate_granted_ns(&rate);
	state->bs = bs;
	state->pool = bs->pool;
	state->done.lost_certainty = PORTPROF_EXACT;
	state->done.total_certainty = PORTPROF_EXACT;
	state->pool->stack_bytes = size.stack_bytes;
	state->pool->ring_bytes =
		(ppi_tick_ring_bytes(&size) + 63) & ~(size_t)63;
	if (!ppi_areas_fill(state->pool, SPARE_AREAS))
		return ppi_fail(why, PORTPROF_E_LIMIT, errno, "share memory",
		                "memory to share with the measured processes "
		                "cannot be made (shmget): %s; ask for a "
		                "smaller ring", strerror(errno));
	bs->drain_every_ms = LOOK_MS;
	return PORTPROF_OK;
}

/* ---- who is there ---- */

static struct ppi_account read_account(const struct share_area *shared)
{
	unsigned before = atomic_load(&shared->current) & 1, after;
	struct ppi_account account;

	for (;;) {
		account = shared->accounts[before];
		after = atomic_load(&shared->current) & 1;
		if (after == before)
			return account;
		before = after;
	}
}

/* Nobody in the process writes accounts, or puts marks: until it has a helper
 * thread, or has ended. */
static bool is_alone(const struct pool_area *area)
{
	return atomic_load(&area->shared->is_alone) &&
	       atomic_load(&area->shared->use) != SHARE_ENDED;
}

/* Of a process that is alone the samples are the total, as those of heirs are. */
static struct ppi_account account_of(const struct pool_area *area)
{
	struct ppi_account account = read_account(area->shared);

	if (is_alone(area) && account.total_weight < area->weight)
		account.total_weight = account.cpu_time_ns = area->weight;
	return account;
}

/* An area that was taken and whose process has not said so yet is left alone,
 * for ever if it was killed just then. */
static void look_at(struct collect_state *state, struct pool_area *area)
{
	int use = atomic_load(&area->shared->use);

	if (use == SHARE_UNUSED)
		return;
	if (!area->is_used) {
		area->pid = (uint32_t)area->shared->pid;
		area->parent_pid = (uint32_t)area->shared->parent_pid;
		area->is_used = state->is_joined = true;
	}
	/* this process is attached, too */
	area->is_dead = ppi_shared_memory_users(area->id) == 1;
}

static void look_around(struct collect_state *state, uint64_t now_ns)
{
	struct ppi_areas *pool = state->pool;
	size_t taken = 0;

	for (size_t i = 0; i < pool->count; i++)
		if (atomic_load(&pool->index->slots[i].state) == SHARE_TAKEN) {
			look_at(state, &pool->areas[i]);
			taken++;
		}
	if (!state->is_over && !ppi_areas_fill(pool, SPARE_AREAS + taken / 2) &&
	    !state->is_short) {
		state->is_short = true;
		ppi_note(state->bs, "some processes may not be measured: there "
		         "is no memory for more than %zu at once",
		         pool->count);
	}
	state->next_look_ns = now_ns + LOOK_MS * UINT64_C(1000000);
}

static portprof_status collect_start(struct ppi_backend_session *bs,
                                     struct ppi_diag *why)
{
	(void)why;
	state_of(bs)->is_over = false;
	return PORTPROF_OK;
}

static portprof_status collect_stop(struct ppi_backend_session *bs,
                                    struct ppi_diag *why)
{
	struct collect_state *state = state_of(bs);

	state->is_over = true;
	look_around(state, 0);
	if (state->is_joined)
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_NOTFOUND, 0, "collect",
	                "no process has shared memory with this session");
}

/* ---- taking what is there ---- */

/*
 * Each program counts as a process that begins, also one that was executed in
 * the place of another: what was known of that number's memory is void.
 */
static bool tell_birth(const struct collect_state *state,
                       struct pool_area *area, struct ppi_room *room)
{
	portprof_record record = {
		.kind = PORTPROF_RECORD_FORK,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID,
		.pid = area->pid,
		.tid = area->pid,
		.address = area->parent_pid,
	};
	bool is_main = area->pid == (uint32_t)state->bs->plan->target.pid;

	if (room->record_count + 2 > room->record_room)
		return false;
	if (!is_main)
		ppi_room_add(room, &record, NULL, 0);
	record.kind = PORTPROF_RECORD_THREAD;
	record.valid |= PORTPROF_FIELD_EXEC;
	ppi_room_add(room, &record, NULL, 0);
	area->is_told = true;
	return true;
}

static bool tell_exit(uint32_t pid, struct ppi_room *room)
{
	const portprof_record record = {
		.kind = PORTPROF_RECORD_EXIT,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID,
		.pid = pid,
		.tid = pid,
	};

	return ppi_room_add(room, &record, NULL, 0);
}

/* ---- children that a process forked and whose samples it has, too ---- */

static bool is_told(const struct pool_area *area, uint32_t pid)
{
	for (size_t i = 0; i < POOL_HEIRS; i++)
		if (area->heirs[i] == pid)
			return true;
	return false;
}

/*
 * The next sample may be of such a child, which has what its parent had. When it
 * ends nobody says: it counts as ended when many came after it, and begins again
 * if it has not. False when there is no room.
 */
static bool tell_heir(struct pool_area *area, uint32_t pid,
                      struct ppi_room *room)
{
	uint32_t *oldest = &area->heirs[area->heir_count % POOL_HEIRS];
	const portprof_record record = {
		.kind = PORTPROF_RECORD_FORK,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID,
		.pid = pid,
		.tid = pid,
		.address = area->pid,
	};

	if (!pid || is_told(area, pid))
		return true;
	if (room->record_count + 2 > room->record_room)
		return false;
	if (*oldest)
		tell_exit(*oldest, room);
	ppi_room_add(room, &record, NULL, 0);
	*oldest = pid;
	area->heir_count++;
	return true;
}

/* Its samples are its total: right on average, and all that is known. */
static void add_heirs(struct collect_state *state, const struct ppi_tick *tick)
{
	state->done.total_weight += tick->weight;
	state->done.cpu_time_ns += tick->weight;
	state->done.is_estimate = true;
	state->done.variance += tick->squares * state->period_ns *
	                        state->period_ns / PPI_TICK_SQUARE;
}

static bool tell_end(struct pool_area *area, struct ppi_room *room)
{
	for (size_t i = 0; i < POOL_HEIRS; i++) {
		if (area->heirs[i] && !tell_exit(area->heirs[i], room))
			return false;
		area->heirs[i] = 0;
	}
	return tell_exit(area->pid, room);
}

/* False when there is no room. What makes no sense is left out. */
static bool give_message(struct collect_state *state, struct pool_area *area,
                         const struct share_message *message, size_t bytes,
                         struct ppi_room *room)
{
	const char *payload = (const char *)(message + 1);
	size_t payload_bytes = bytes - sizeof(*message);
	portprof_record record;

	if (message->kind == SHARE_NOTE) {
		if (payload_bytes && payload[payload_bytes - 1] == '\0')
			ppi_note(state->bs, "%s", payload);
		return true;
	}
	record = message->record;
	record.pid = area->pid;
	record.event = 0;
	/* offsets into what is not here */
	record.branch_count = record.value_count = record.event_field_words = 0;
	if (payload_bytes > room->word_room * 8)
		return true;
	return ppi_room_add(room, &record, payload, payload_bytes);
}

/* The message that is next in turn: after the samples that came before it. */
static const struct share_message *next_message(struct pool_area *area,
                                                size_t *bytes, bool *is_due)
{
	const struct share_message *message = ppi_stream_peek(&area->stream,
	                                                      bytes);

	while (message && *bytes < sizeof(*message)) {
		ppi_stream_pass(&area->stream);
		message = ppi_stream_peek(&area->stream, bytes);
	}
	*is_due = message && (ptrdiff_t)(ppi_tick_ring_tail(&area->ring) -
	                                 (size_t)message->since) >= 0;
	return message;
}

/* What its code is and its labels are will be told by the process. Nobody looks
 * at code any more where only heirs are left; code of a process that is alone is
 * looked at from here. */
static bool waits_for_mark(const struct pool_area *area,
                           const struct ppi_tick *tick)
{
	size_t marked = atomic_load(&area->shared->marked);

	return !area->is_dead &&
	       atomic_load(&area->shared->use) != SHARE_ENDED &&
	       (ptrdiff_t)(ppi_tick_ring_tail(&area->ring) - marked) >= 0 &&
	       (tick->label_set || !is_alone(area));
}

static enum ppi_tick_moved move_sample(struct collect_state *state,
                                       struct pool_area *area,
                                       struct ppi_room *room)
{
	struct ppi_tick tick = ppi_tick_ring_next(&area->ring);
	enum ppi_tick_moved moved;

	if (waits_for_mark(area, &tick))
		return PPI_TICK_NONE;
	if (!tell_heir(area, (uint32_t)tick.pid, room))
		return PPI_TICK_NO_ROOM;
	moved = ppi_tick_ring_move(&area->ring, area->pid, room);
	if (moved == PPI_TICK_MOVED && tick.pid)
		add_heirs(state, &tick);
	else if (moved == PPI_TICK_MOVED)
		area->weight += tick.weight;
	return moved;
}

/* True when there is nothing more at the moment, false when the room is full. */
static bool empty(struct collect_state *state, struct pool_area *area,
                  struct ppi_room *room)
{
	size_t bytes;

	for (;;) {
		bool is_due;
		enum ppi_tick_moved moved;
		const struct share_message *message =
			next_message(area, &bytes, &is_due);

		if (room->record_count == room->record_room)
			return false;
		moved = is_due ? PPI_TICK_NONE
		               : move_sample(state, area, room);
		if (moved == PPI_TICK_NO_ROOM)
			return false;
		if (moved == PPI_TICK_MOVED)
			continue;
		if (!is_due && area->is_dead &&
		    ppi_tick_ring_skip(&area->ring)) {
			state->begun_lost++;
		} else if (is_due || (message && area->is_dead)) {
			if (!give_message(state, area, message, bytes, room))
				return false;
			ppi_stream_pass(&area->stream);
		} else if (!area->is_dead ||
		           !ppi_stream_skip(&area->stream)) {
			return true;
		}
	}
}

static void add_account(struct ppi_account *sum,
                        const struct ppi_account *account)
{
	sum->total_weight += account->total_weight;
	sum->not_attached += account->not_attached;
	sum->cpu_time_ns += account->cpu_time_ns;
	sum->own_cost_ns += account->own_cost_ns;
	sum->is_estimate |= account->is_estimate;
	sum->variance += account->variance;
	sum->lost_samples += account->lost_samples;
	sum->throttled += account->throttled;
	if (account->granted_period > sum->granted_period) {
		sum->granted_period = account->granted_period;
		sum->granted_hz = account->granted_hz;
	}
	if (account->lost_certainty != PORTPROF_EXACT)
		sum->lost_certainty = account->lost_certainty;
	if (account->total_certainty != PORTPROF_EXACT)
		sum->total_certainty = account->total_certainty;
}

/* Of a process that was killed the account is older than its last samples. */
static void retire(struct collect_state *state, size_t number)
{
	struct pool_area *area = &state->pool->areas[number];
	struct ppi_account account = account_of(area);

	if (atomic_load(&area->shared->use) != SHARE_ENDED)
		account.total_certainty = PORTPROF_UNKNOWN;
	add_account(&state->done, &account);
	ppi_areas_give_back(state->pool, number);
}

static portprof_status collect_drain(struct ppi_backend_session *bs,
                                     struct ppi_room *room)
{
	struct collect_state *state = state_of(bs);
	uint64_t now_ns = ppi_monotonic_ns();

	if (now_ns >= state->next_look_ns)
		look_around(state, now_ns);
	for (size_t i = 0; i < state->pool->count; i++) {
		struct pool_area *area = &state->pool->areas[i];

		if (!area->is_used)
			continue;
		if (!area->is_told && !tell_birth(state, area, room))
			break;
		if (!empty(state, area, room))
			break;
		if (area->is_dead) {
			if (!tell_end(area, room))
				break;
			retire(state, i);
		}
	}
	return PORTPROF_OK;
}

/* ---- the rest ---- */

static portprof_status collect_stats(struct ppi_backend_session *bs,
                                     size_t event, struct ppi_account *out)
{
	struct collect_state *state = state_of(bs);

	(void)event;
	*out = state->done;
	for (size_t i = 0; i < state->pool->count; i++) {
		struct pool_area *area = &state->pool->areas[i];
		struct ppi_account account;

		out->lost_samples += ppi_tick_ring_dropped(&area->ring);
		if (!area->is_used)
			continue;
		account = account_of(area);
		add_account(out, &account);
	}
	out->lost_samples += state->begun_lost;
	return PORTPROF_OK;
}

/* A forked child of the collector's process has the same memory. */
static void collect_close(struct ppi_backend_session *bs)
{
	struct collect_state *state = state_of(bs);

	if (getpid() != bs->owner_pid)
		return;
	for (size_t i = 0; i < state->pool->count; i++)
		atomic_store(&state->pool->areas[i].shared->is_closed, 1);
}

const struct ppi_backend_ops ppi_backend_collect = {
	.name = "collect",
	.summary = "collects samples that other processes share",
	.caps = 0,
	.state_size = sizeof(struct collect_state),
	.catalogue = NULL,
	.count_ways = NULL,
	.count_parts = NULL,
	.costs = NULL,
	.steering = NULL,
	.heirs = NULL,
	.group_modifiers = NULL,
	.copies_stacks = false,
	.reads_labels = true,
	.counts_alone = false,
	.real_kernel = NULL,
	.probe = collect_probe,
	.resolve = collect_resolve,
	.open = collect_open,
	.start = collect_start,
	.stop = collect_stop,
	.drain = collect_drain,
	.count = ppi_no_count,
	.stats = collect_stats,
	.close = collect_close,
};
