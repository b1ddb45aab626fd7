/* SPDX-License-Identifier: MIT */
/* Simulated threads in sets of labels. */
#ifndef SIM_LABELS_H
#define SIM_LABELS_H

#include <stdint.h>

#include <portprof/label.h>

/* The thread is in that set from then on, as if it had entered it. */
void sim_label(int64_t tid, const portprof_label_set *set, uint64_t time_ns);

#endif
