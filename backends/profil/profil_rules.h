/* SPDX-License-Identifier: MIT */
/* The differences between the systems' profil() that a careful caller can see. */
#ifndef PPI_PROFIL_RULES_H
#define PPI_PROFIL_RULES_H

#include "backends/profil/profil_kernel.h"

struct profil_rules {
	struct ppi_pcregion_rules region;
	const struct ppi_cpu_rules *cpu;
	bool checks_scale;          /* EINVAL above 65536: harmless to ask */
	bool gmon_only;             /* only for programs linked with -pg */
	bool takes_sigprof;         /* made of SIGPROF and ITIMER_PROF */
	bool is_fair;               /* a clock for each CPU, none preferred */
	bool rate_is_told;          /* rate_hz describes profil's clock */
	bool counts_microseconds;   /* kernel stays add their microseconds */
	unsigned stay_ticks;        /* not 0: time in the kernel is billed when
	                             * it ends, that of before the start
	                             * included, in lumps of so many */
	bool read_in_place;         /* replacing the buffer is not safe */
};

const struct profil_rules *ppi_profil_rules(enum profil_os os);

#endif
