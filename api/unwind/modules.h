/* SPDX-License-Identifier: MIT */
/*
 * The code that is mapped in this process, as MODULE records, in the order in
 * which it came and went.
 *
 * A *place* is one in the ring of samples. Before code is unmapped there is a
 * scan (ppi_before_unload): what the next one finds was mapped after that, and is
 * what samples from then on fell on. Calls of several threads are serialised.
 */
#ifndef PPI_MODULES_H
#define PPI_MODULES_H

#include <pthread.h>

#include "backends/backend.h"
#include "base/vector.h"

struct ppi_modules {
	pthread_mutex_t lock;
	struct ppi_vector seen;    /* ppi_module_seen; those told are replaced */
	size_t told;               /* of seen, how many were emitted */
	unsigned scans;            /* those that found a change */
	unsigned long long adds, subs; /* the loader's counters at last scan */
	unsigned long long announced;  /* subs, as far as they were expected */
	unsigned unloading;        /* threads that are at it */
	bool has_missed;           /* of two at one place nobody knows which */
	uint64_t since;            /* place that what comes is valid from */
	uint64_t end;              /* place that the last scan holds up to */
};

void ppi_modules_init(struct ppi_modules *modules);
void ppi_modules_free(struct ppi_modules *modules);

/*
 * Look for code mapped since the last call, `place` being the present one. Takes
 * the loader's lock: never in a signal handler. Memory failures leave modules
 * untold, not half told. False when other code has come to a place unannounced, in
 * this scan or before: samples there are told as of "[unloaded]".
 */
bool ppi_modules_scan(struct ppi_modules *modules, uint64_t place);

/* A scan before the calling thread unmaps code; and when it has done so. */
void ppi_modules_expect(struct ppi_modules *modules, uint64_t place);
void ppi_modules_unloaded(struct ppi_modules *modules, uint64_t place);

/* Samples before that place fell on what was told. False: when all is told, and
 * the place is that of the last scan. */
bool ppi_modules_next(struct ppi_modules *modules, uint64_t *place);

/* Put what is valid from that place on into `room`. False when room was short. */
bool ppi_modules_tell(struct ppi_modules *modules, uint64_t place,
                      struct ppi_room *room);

/* ---- code that no record reported, found when a sample is in it ---- */

/*
 * What signal handlers sample is told of as the dynamic loader lists it; code that
 * a program made itself, or mapped without the loader, is in the system's list
 * alone (/proc/PID/maps). That is read when a sample fell on what is not known,
 * and of each process less and less often where it finds nothing. Where there is
 * no such list nothing is found.
 */
struct ppi_code_watch;

/* `self`: whose samples are those that name no process. NULL when out of memory. */
struct ppi_code_watch *ppi_code_watch_new(uint32_t self);
void ppi_code_watch_free(struct ppi_code_watch *watch);

/* Learn from records in their order, from `first` on, as far as a sample that fell
 * on unknown code of a process that may be looked at now. Returns its place, or
 * `count`. */
size_t ppi_code_watch_see(struct ppi_code_watch *watch,
                          const portprof_record *records, size_t first,
                          size_t count);

/* Put code of that sample's process that was not known into the room. */
void ppi_code_watch_look(struct ppi_code_watch *watch,
                         const portprof_record *sample, struct ppi_room *room);

#endif
