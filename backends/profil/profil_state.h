/* SPDX-License-Identifier: MIT */
/* What one session of the profil backend consists of. */
#ifndef PPI_PROFIL_STATE_H
#define PPI_PROFIL_STATE_H

#include "backends/backend.h"
#include "backends/common/cpu_time.h"
#include "backends/common/pcbins.h"
#include "backends/common/pcregion.h"
#include "backends/profil/profil_kernel.h"

/* ---- differences between systems that a careful caller can see ---- */

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

/* What SIGPROF was before it was taken. */
struct profil_signal {
	bool was_default, knows_ours;
	struct sigaction ours;
};

struct profil_state {
	const struct profil_rules *rules;
	struct ppi_pcregion region;
	struct ppi_pcbins bins;
	struct ppi_tickweight weight;
	struct ppi_cpu_meter cpu;
	struct profil_signal signal;
	bool is_running;
	bool must_harvest;  /* stopped since the last harvest */
	struct ppi_own_ticks own;
	unsigned resets;    /* bs->resets that the weights know of */
	uint64_t foreign;   /* ticks of before the start, put aside since it */
	uint64_t harvested_cpu_ns;  /* CPU time at the last harvest */
	uint64_t harvested_at_ns;   /* CLOCK_MONOTONIC */
	uint64_t texts_checked_ns;
};

static inline const struct profil_kernel *
profil_kernel_of(const struct ppi_backend_session *bs)
{
	return bs->kernel;
}

static inline struct profil_state *
profil_state_of(const struct ppi_backend_session *bs)
{
	return bs->state;
}

/* profil.c: the process's one profil(), and SIGPROF where it is made
 * of that. BUSY when another session or the application has them. Giving
 * back stops it. */
portprof_status ppi_profil_claim(struct ppi_backend_session *bs,
                                 struct ppi_diag *why);
portprof_status ppi_profil_give_back(struct ppi_backend_session *bs,
                                     struct ppi_diag *why);

/* profil_harvest.c: how long a tick is; told by the system or measured. */
portprof_status ppi_profil_rate(struct ppi_backend_session *bs,
                                struct ppi_diag *why);

/* profil_harvest.c: from the kernel's bins to records. */
void ppi_profil_clock_begin(struct ppi_backend_session *bs);
void ppi_profil_clock_end(struct ppi_backend_session *bs);
uint64_t ppi_profil_clock_now(struct ppi_backend_session *bs);
unsigned ppi_profil_harvest_ms(const struct ppi_backend_session *bs);
void ppi_profil_harvest(struct ppi_backend_session *bs);
void ppi_profil_give_records(struct ppi_backend_session *bs,
                             struct ppi_room *room);

#endif
