/* SPDX-License-Identifier: MIT */
/*
 * Memory in which sessions of several processes meet: here is the side of the
 * measured process, an area to leave samples in. collect.c is the side of the
 * collector, which has a pool of areas.
 */
#include "config.h"

#include "backends/area/area.h"
#include "backends/common/tick_ring.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(struct share_area) <= SHARE_HEAD_BYTES,
               "the ring follows");

/* How long to wait for a collector that has run out of areas. */
enum { PATIENCE = 1000, NAP_NS = 1000000 };

struct ppi_area {
	struct share_area *shared;
	int id;
	int64_t owner_pid;
	size_t ring_bytes;
	struct ppi_tick_ring ring;
	struct ppi_stream stream;
	uint64_t since; /* position in the ring */
};

/* ---- taking one ---- */

static portprof_status refuse_gone(int error, struct ppi_diag *why)
{
	if (error == EACCES || error == EPERM)
		return ppi_fail(
			why, PORTPROF_E_DENIED, error, "share memory",
			"the memory of the recorder belongs to another "
			"user: %s; record as the user that this process "
			"has become",
			strerror(error));
	return ppi_fail(why, PORTPROF_E_NOTFOUND, error, "share memory",
	                "the memory of the recorder is not there: %s; it has "
	                "ended, or this process is in another IPC namespace",
	                strerror(error));
}

static portprof_status refuse_other(struct ppi_diag *why)
{
	return ppi_fail(
		why, PORTPROF_E_UNSUPPORTED, 0, "share memory",
		"the memory of the recorder is another program's, or of "
		"another portprof; use the same version for both");
}

static portprof_status refuse_full(struct ppi_diag *why)
{
	return ppi_fail(why, PORTPROF_E_LIMIT, 0, "share memory",
	                "the recorder has no memory left for one more process "
	                "(%d at once)", SHARE_AREAS_MAX);
}

/* A free area of the index; -1: there is none. */
static int find_free(struct share_index *index)
{
	uint32_t count = atomic_load(&index->count);

	for (uint32_t i = 0; i < count && i < SHARE_AREAS_MAX; i++) {
		int state = SHARE_FREE;

		if (atomic_compare_exchange_strong(&index->slots[i].state,
		                                   &state, SHARE_TAKEN))
			return index->slots[i].id;
	}
	return -1;
}

/* The collector makes more when it looks next. */
static int wait_for_free(struct share_index *index, int index_id)
{
	struct timespec nap = { 0, NAP_NS };
	int id = find_free(index);

	for (int i = 0; id < 0 && i < PATIENCE; i++) {
		if (ppi_shared_memory_users(index_id) < 2)
			return -1;
		nanosleep(&nap, NULL);
		id = find_free(index);
	}
	return id;
}

static portprof_status use_memory(struct ppi_area *area, struct ppi_diag *why)
{
	struct share_area *shared = ppi_shared_memory_attach(area->id);

	if (!shared)
		return refuse_gone(errno, why);
	area->shared = shared;
	area->owner_pid = getpid();
	area->ring_bytes = (size_t)shared->ring_bytes;
	ppi_tick_ring_use(&area->ring, (size_t)shared->stack_bytes,
	                  share_ring_at(shared), area->ring_bytes, true);
	ppi_stream_use(&area->stream,
	               share_stream_at(shared, area->ring_bytes),
	               ppi_stream_bytes(SHARE_STREAM_BYTES));
	area->since = ppi_tick_ring_head(&area->ring);
	ppi_area_mark(area, area->since);
	ppi_area_be_alone(area, false);
	shared->pid = area->owner_pid;
	shared->parent_pid = getppid();
	atomic_store(&shared->use, SHARE_USED);
	return PORTPROF_OK;
}

static portprof_status take(struct share_index *index, int index_id,
                            struct ppi_area **area, struct ppi_diag *why)
{
	struct ppi_area *taken;
	portprof_status status;

	if (index->magic != SHARE_MAGIC || index->layout != SHARE_LAYOUT ||
	    index->word_bytes != sizeof(size_t))
		return refuse_other(why);
	taken = calloc(1, sizeof(*taken));
	if (!taken)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "share memory",
		                "out of memory");
	taken->id = wait_for_free(index, index_id);
	status = taken->id < 0 ? refuse_full(why) : use_memory(taken, why);
	if (status)
		free(taken);
	else
		*area = taken;
	return status;
}

portprof_status ppi_area_take(const char *name, struct ppi_area **area,
                              struct ppi_diag *why)
{
	char *end;
	long id = strtol(name, &end, 10);
	struct share_index *index;
	portprof_status status;

	if (end == name || *end || id < 0 || id > INT32_MAX)
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "share memory",
		                "'%.40s' is not the name of shared memory",
		                name);
	index = ppi_shared_memory_attach((int)id);
	if (!index)
		return refuse_gone(errno, why);
	status = take(index, (int)id, area, why);
	ppi_shared_memory_detach(index);
	return status;
}

/* The collector sees by the number of processes attached that nobody puts
 * anything there any more. */
void ppi_area_leave(struct ppi_area *area)
{
	if (!area)
		return;
	ppi_shared_memory_detach(area->shared);
	free(area);
}

bool ppi_area_is_abandoned(const struct ppi_area *area)
{
	return atomic_load(&area->shared->is_closed) ||
	       ppi_shared_memory_users(area->id) == 1;
}

/* ---- filling it ---- */

void *ppi_area_ring(struct ppi_area *area, size_t *bytes, size_t *stack_bytes)
{
	*bytes = area->ring_bytes;
	*stack_bytes = area->ring.stack_bytes;
	return share_ring_at(area->shared);
}

static bool put(struct ppi_area *area, enum share_kind kind,
                const portprof_record *record, const void *payload,
                size_t payload_bytes)
{
	struct share_message message = { .kind = kind,
		                         .since = area->since };

	if (record)
		message.record = *record;
	return ppi_stream_put(&area->stream, &message, sizeof(message),
	                      payload, payload_bytes);
}

bool ppi_area_put(struct ppi_area *area, const portprof_record *record,
                  const void *payload, size_t payload_bytes)
{
	return put(area, SHARE_RECORD, record, payload, payload_bytes);
}

bool ppi_area_note(struct ppi_area *area, const char *note)
{
	return put(area, SHARE_NOTE, NULL, note, strlen(note) + 1);
}

void ppi_area_since(struct ppi_area *area, uint64_t since)
{
	area->since = since;
}

void ppi_area_mark(struct ppi_area *area, uint64_t place)
{
	atomic_store(&area->shared->marked, (size_t)place);
}

void ppi_area_be_alone(struct ppi_area *area, bool is_alone)
{
	atomic_store(&area->shared->is_alone, is_alone);
}

/* The account in force stays whole if we are killed while writing. */
void ppi_area_account(struct ppi_area *area, const struct ppi_account *account,
                      bool is_last)
{
	struct share_area *shared = area->shared;
	unsigned next = 1 - (atomic_load(&shared->current) & 1);

	shared->accounts[next] = *account;
	atomic_store(&shared->current, next);
	if (is_last)
		atomic_store(&shared->use, SHARE_ENDED);
}
