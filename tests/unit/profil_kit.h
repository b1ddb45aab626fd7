/* SPDX-License-Identifier: MIT */
/* What tests of the profil backend share: systems, and sessions on them. */
#ifndef PROFIL_KIT_H
#define PROFIL_KIT_H

#include "tests/sim/profil_seam.h"

#include <portprof.h>

#define MS UINT64_C(1000000)

struct kit_system {
	const struct psim_os *os;
	enum profil_os backend_os;
	unsigned prof_hz, stat_hz;
};

extern const struct kit_system kit_freebsd, kit_netbsd, kit_openbsd,
	kit_openbsd78, kit_dragonfly, kit_glibc;

/* The machine: kit_begin makes it anew, then a test may change it. */
extern struct pseam seam;
void kit_begin(const struct kit_system *system);

/* From now on the helper thread does its work every so often. */
void kit_run_helper(uint64_t every_ns);

/* A session over bins of its own. */
struct measured {
	portprof_config *config;
	portprof_session *session;
	uint64_t *bins;
	portprof_range region;
};

/* prepare makes a config, try_open a session of it; measure is both, and must
 * succeed. finish takes any of them, and finds nothing held. */
struct measured kit_prepare(uint64_t offset, uint32_t scale, size_t count);
portprof_status kit_try_open(struct measured *m);
struct measured kit_measure(uint64_t offset, uint32_t scale, size_t count);
void kit_start(struct measured *m);
void kit_finish(struct measured *m);

portprof_stats kit_stats(const struct measured *m);
bool kit_has_note(const struct measured *m, const char *part);

/* A thread spends CPU time at one place. */
void kit_run(unsigned thread, uint64_t pc, uint64_t cpu_ns, uint64_t kernel_ns);

#endif
