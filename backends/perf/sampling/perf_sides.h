/* SPDX-License-Identifier: MIT */
/* What comes beside samples: records of mappings, threads and names, by the
 * kernel's carriers or, of what was there before, made here. */
#ifndef PERF_SIDES_H
#define PERF_SIDES_H

#include "backends/perf/kernel/perf_build_id.h"
#include "backends/perf/session/perf_session.h"

/* A record of ours that waits for room. */
struct perf_pending {
	struct perf_pending *next;
	portprof_record record;
	uint64_t file_offset;
	size_t build_id_bytes;
	unsigned char build_id[PORTPROF_BUILD_ID_BYTES];
	char name[];
};

struct perf_sides {
	bool has_carriers;  /* sources of their own; else event 0 tells, and
	                     * what it lost may be no sample */
	bool is_early;      /* carriers tell, start is still to come */
	uint64_t lost;      /* records that carriers lost: those that are
	                     * closed, or what LOST records said */
	uint64_t said;      /* so many are in `note` */
	char *note;         /* the session's; NULL while there is none */
	bool is_behind;     /* some were lost: read /proc again */
	uint64_t next_catch_up_ns;
	struct perf_pending *pending, **pending_end;
	struct perf_build_ids build_ids;
};

/* ---- perf_pending.c: records that the kernel does not send ---- */

/* Into the room; false when it is full. */
bool ppi_perf_pending_flush(struct perf_state *state, struct ppi_room *room);
void ppi_perf_pending_free(struct perf_state *state);
/* Names of threads, mappings of a foreign process, the kernel's text. */
void ppi_perf_pending_baseline(struct ppi_backend_session *bs);
/* Carriers lost records: what lives now, once more. */
void ppi_perf_pending_catch_up(struct ppi_backend_session *bs);
void ppi_perf_remember_name(struct perf_state *state, uint32_t tid,
                            const char *name);

/* ---- perf_account.c ---- */

/* Records of mappings and names that found no room: in a note, when there are
 * more than it said. */
void ppi_perf_say_side_losses(struct ppi_backend_session *bs);

#endif
