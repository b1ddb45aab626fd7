/* SPDX-License-Identifier: MIT */
/* What tests of the solaris backend share: one session on a simulated illumos. */
#ifndef SOLARIS_KIT_H
#define SOLARIS_KIT_H

#include "tests/sim/profil_seam.h"

#include <portprof.h>

#define MS UINT64_C(1000000)

enum { BINS = 256, PCS = 4096 };

/* Made anew by solkit_begin, then a test may change them. */
extern struct pseam seam;
extern portprof_config *config;
extern portprof_session *session;
extern uint64_t bins[BINS], other_bins[BINS], pcs[PCS];

/* A machine whose clock ticks so often, and an empty config. */
void solkit_begin(unsigned hz);
void solkit_add_region(uint64_t offset, uint64_t *over);

/* Opens the session, and frees the config. */
void solkit_open(void);

/* Closes it, and finds nothing held. */
void solkit_finish(void);

/* From now on the helper thread does its work four times a second. */
void solkit_run_helper(void);

/* A thread spends CPU time at one place. */
void solkit_run(uint64_t pc, uint64_t cpu_ns, uint64_t kernel_ns);

portprof_stats solkit_stats(void);
bool solkit_has_note(const char *part);

#endif
