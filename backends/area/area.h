/* SPDX-License-Identifier: MIT */
/*
 * What lies in memory that a collector and the processes it measures share, and
 * the collector's pool of it. No pointer is in what they share: each process has
 * it at another address. The collector believes nothing in it further than its
 * own memory goes.
 */
#ifndef PPI_SHARE_H
#define PPI_SHARE_H

#include "backends/backend.h"
#include "backends/common/tick_ring.h"

#include <stdatomic.h>
#include <stdint.h>

#define SHARE_MAGIC UINT32_C(0x70707368)

/* Raise with any change below or of what is put into rings and streams. */
#define SHARE_LAYOUT 6u

enum {
	SHARE_AREAS_MAX = 1024, /* processes measured at once */
	SHARE_HEAD_BYTES = 4096,
	SHARE_STREAM_BYTES = 1 << 19
};

/* Whose an area is. A process takes one by turning FREE to TAKEN. */
enum share_state { SHARE_NONE, SHARE_FREE, SHARE_TAKEN };

struct share_slot {
	_Atomic int state;
	int id; /* the area's memory */
};

/* The pool's own memory: where its areas are. */
struct share_index {
	uint32_t magic, layout;
	uint32_t word_bytes; /* sizeof(size_t): positions are of that size */
	_Atomic uint32_t count;
	struct share_slot slots[SHARE_AREAS_MAX];
};

/* How far the session that has the area has come. */
enum share_use { SHARE_UNUSED, SHARE_USED, SHARE_ENDED };

/* The head of an area; behind SHARE_HEAD_BYTES follow the ring and, at
 * ring_bytes from there, the stream. */
struct share_area {
	uint32_t magic, layout;
	uint64_t ring_bytes;
	uint64_t stack_bytes; /* with each tick of the ring, at most */
	_Atomic int use;
	_Atomic int is_closed; /* the collector has ended */
	int64_t pid, parent_pid;
	/* place in the ring: the code of all samples before it was told */
	_Atomic size_t marked;
	/* no helper thread looks for code or writes accounts yet */
	_Atomic int is_alone;
	/* of two accounts the one with this number is whole */
	_Atomic unsigned current;
	struct ppi_account accounts[2];
};

/* What a message of the stream begins with; a payload may follow. */
enum share_kind { SHARE_RECORD = 1, SHARE_NOTE = 2 };
struct share_message {
	uint64_t kind;
	uint64_t since; /* position in the ring that it is valid from */
	portprof_record record;
};

static inline size_t share_area_bytes(size_t ring_bytes, size_t stream_bytes)
{
	return SHARE_HEAD_BYTES + ring_bytes + stream_bytes;
}

static inline void *share_ring_at(struct share_area *area)
{
	return (char *)area + SHARE_HEAD_BYTES;
}

static inline void *share_stream_at(struct share_area *area, size_t ring_bytes)
{
	return (char *)area + SHARE_HEAD_BYTES + ring_bytes;
}

/* ---- the collector's side: a pool of areas ---- */

/* Births are told again when more than so many children take turns. */
enum { POOL_HEIRS = 64 };

/* One area as the collector has it. */
struct pool_area {
	struct share_area *shared;
	int id;
	struct ppi_tick_ring ring;
	struct ppi_stream stream;
	bool is_used;  /* a session has it */
	bool is_dead;  /* nothing more can be put there */
	bool is_told;  /* the birth of its process */
	uint32_t pid, parent_pid;
	uint32_t heirs[POOL_HEIRS]; /* forked children whose birth was told */
	unsigned heir_count;
	uint64_t weight; /* of its own samples that were taken */
};

struct ppi_areas {
	unsigned holders;
	int index_id;
	struct share_index *index;
	char name[16];
	size_t ring_bytes, stack_bytes; /* of each area */
	struct pool_area *areas; /* as many as index->count */
	size_t count;
};

/* Make areas until so many are free. False when the system has no more. */
bool ppi_areas_fill(struct ppi_areas *pool, size_t free_areas);

/* The area, whose session has ended and was read to its end, can be taken
 * again. */
void ppi_areas_give_back(struct ppi_areas *pool, size_t number);

#endif
