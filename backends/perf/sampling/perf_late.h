/* SPDX-License-Identifier: MIT */
/* Clocks of CPUs whose interrupts come after a thread has left: perf_late.c. */
#ifndef PERF_LATE_H
#define PERF_LATE_H

#include "backends/perf/records/perf_weight.h"
#include "backends/perf/session/perf_session.h"

/* Places at which threads of one process left a CPU, of the last quarter of a
 * second. */
enum { PERF_LATE_PLACES = 16 };

struct perf_late_process {
	uint64_t pid;
	bool is_ended, is_read; /* its clock, at the last look */
	uint64_t base_ns;       /* what its clock showed before it was measured */
	uint64_t charged;       /* since then, at the last look, */
	uint64_t met;           /* of it, what samples have, */
	uint64_t met_at_look;
	uint64_t laid;          /* and what was laid on places */
	double variance;        /* of what samples have */
	uint64_t switches;      /* to others, since those are sampled */
	uint64_t leaves;        /* sampled since the last look; */
	size_t count;           /* of them so many, by chance, are */
	struct perf_tail *places[PERF_LATE_PLACES];
};

struct perf_late {
	bool is_open;        /* there are events of what leaves CPUs, */
	bool is_on;          /* and they are switched on */
	bool has_unknown;    /* there were more processes than we remember */
	bool is_fresh;       /* clocks were read, and nothing was laid yet */
	uint32_t event;      /* whose samples come late */
	uint64_t switches;   /* of so many one is sampled now */
	uint64_t sampled;    /* since the last look, of all threads */
	uint64_t next_look_ns;
	uint64_t laid, random;
	char *note;          /* the session's */
	struct perf_late_process *processes;
	size_t count;
};

/* Where processes are measured by samples of CPUs; without memory or descriptors,
 * nothing. */
void ppi_perf_late_open(struct ppi_backend_session *bs);
void ppi_perf_late_free(struct perf_state *state);
/* Just before events are switched on, and after they are off. */
void ppi_perf_late_start(struct ppi_backend_session *bs);
void ppi_perf_late_stop(struct ppi_backend_session *bs);
/* Just before rings are looked at: what processes have used. */
void ppi_perf_late_look(struct ppi_backend_session *bs, uint64_t now_ns);
/* A sample of a process, weighed. */
void ppi_perf_late_met(struct ppi_backend_session *bs, uint32_t event,
                       uint64_t pid, uint64_t weight);
/* One of its threads left a CPU there. */
void ppi_perf_late_left(struct ppi_backend_session *bs,
                        const portprof_record *record, const uint64_t *words,
                        size_t word_count);
/* What it maps, or executes, may be where those places were. */
void ppi_perf_late_forget_places(struct perf_state *state, uint64_t pid);
/* Nobody has that number any more. */
void ppi_perf_late_forget(struct perf_state *state, uint64_t pid);
/* Rings were emptied as far as was looked; or, with a pid, that process ends. False
 * when there is no room. */
bool ppi_perf_late_lay(struct ppi_backend_session *bs, struct ppi_room *room);
bool ppi_perf_late_end(struct ppi_backend_session *bs, uint64_t pid,
                       struct ppi_room *room);

#endif
