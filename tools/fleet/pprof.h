/* SPDX-License-Identifier: MIT */
/* A pprof profile put together piece by piece, in memory: part of one that was read,
 * for a server, or what a server's rows are made into. */
#ifndef PPI_FLEET_PPROF_H
#define PPI_FLEET_PPROF_H

#include "base/pool.h"
#include "tools/fleet/wire.h"

struct ppi_pprof {
	struct ppi_wire out, part, inner; /* messages; the one in hand */
	struct ppi_wire texts;
	struct ppi_pool strings, functions, mappings, locations;
};

struct ppi_pprof_line {
	const char *function, *file;
	uint64_t line;
};

struct ppi_pprof_label {
	const char *name, *text; /* text NULL: the number */
	int64_t number;
	const char *unit;
};

void ppi_pprof_open(struct ppi_pprof *pprof);

/*
 * The types of `count` events, each with a count of samples, in the order in which
 * values of samples follow: the first event comes last, where pprof looks for
 * what is shown (doc/file-format.md).
 */
void ppi_pprof_types(struct ppi_pprof *pprof, const char *const *events,
                     const char *const *units, size_t count);

/* Ids, 0 when out of memory. What is the same has the same id. */
uint64_t ppi_pprof_mapping(struct ppi_pprof *pprof, uint64_t start,
                           uint64_t limit, uint64_t offset, const char *path,
                           const char *build_id);
/* `mapping` 0: none. The innermost line first. */
uint64_t ppi_pprof_location(struct ppi_pprof *pprof, uint64_t mapping,
                            uint64_t address,
                            const struct ppi_pprof_line *lines, size_t count);

/* `samples` and `weights` have one for each event. */
void ppi_pprof_sample(struct ppi_pprof *pprof, const uint64_t *locations,
                      size_t depth, const uint64_t *samples,
                      const uint64_t *weights, size_t events,
                      const struct ppi_pprof_label *labels,
                      size_t label_count);

/* All of it, packed, behind what is in `to`; and free it. False when out of
 * memory. */
bool ppi_pprof_close(struct ppi_pprof *pprof, uint64_t start_ns,
                     uint64_t duration_ns, const char *comment,
                     struct ppi_wire *to);

#endif
