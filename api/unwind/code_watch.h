/* SPDX-License-Identifier: MIT */
/* Code that no record reported, found when a sample is in it. */
#ifndef PPI_CODE_WATCH_H
#define PPI_CODE_WATCH_H

#include "backends/backend.h"

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
