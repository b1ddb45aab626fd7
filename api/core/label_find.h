/* SPDX-License-Identifier: MIT */
/*
 * Between a backend and the sinks: which set of labels each sample's thread was in,
 * and what is in that set. Samples of signal handlers say the number; of others the
 * time finds it (base/label_look.h). Waits are asked about while they last.
 */
#ifndef PPI_LABEL_FIND_H
#define PPI_LABEL_FIND_H

#include "backends/backend.h"

struct ppi_label_finder;

/* For samples of that plan, which have numbers already, or not (`by_time`). NULL
 * when out of memory. */
struct ppi_label_finder *ppi_label_finder_new(const struct ppi_plan *plan,
                                              bool by_time);
void ppi_label_finder_free(struct ppi_label_finder *finder);

/* Sets of threads as they are now, for a backend of waits. As long as the finder. */
const struct ppi_label_reader *
ppi_label_finder_reader(const struct ppi_label_finder *finder);

/* Before a batch is drawn. Where samples go to an area, sets that are new go there:
 * those of all samples so far. */
void ppi_label_finder_look(struct ppi_label_finder *finder,
                           struct ppi_area *area);

/* Give records their sets, from `first` on, as far as a sample whose set no sink
 * knows. Returns its place, or how many there are. */
size_t ppi_label_finder_see(struct ppi_label_finder *finder,
                            const struct ppi_room *room, size_t first);

/* Whether to look soon again: threads may change sets so often that what a ring of
 * changes has room for is not much. */
bool ppi_label_finder_is_urgent(const struct ppi_label_finder *finder);

/* Put that set into the room. */
void ppi_label_finder_tell(struct ppi_label_finder *finder,
                           const portprof_record *sample,
                           struct ppi_room *room);

#endif
