/* SPDX-License-Identifier: MIT */
/* What one session of the solaris backend consists of. */
#ifndef PPI_SOLARIS_STATE_H
#define PPI_SOLARIS_STATE_H

#include "backends/backend.h"
#include "backends/common/cpu_time.h"
#include "backends/common/pcbins.h"
#include "backends/common/pcregion.h"
#include "backends/solaris/solaris_kernel.h"

/* Two arrays for pcsample: the kernel fills one, the other is read. */
struct solaris_array {
	void *samples[2];
	size_t room;        /* samples in each */
	unsigned pc_bytes;
	unsigned active;
	size_t count, next; /* of the one that is read */
	long last_count;    /* what the kernel told when it was stopped */
};

struct solaris_state {
	bool is_profil;     /* else pcsample */
	struct ppi_pcregion region;
	struct ppi_pcbins bins;
	struct solaris_array array;
	struct ppi_tickweight weight;
	struct ppi_cpu_meter cpu;
	unsigned rate_hz;
	bool is_running, must_harvest;
	struct ppi_own_ticks own;
	bool may_have_lost;
	uint64_t foreign;   /* ticks of before the start, put aside since it */
	uint64_t harvested_cpu_ns;
	unsigned resets;    /* bs->resets that the weights know of */
};

static inline const struct solaris_kernel *
solaris_kernel_of(const struct ppi_backend_session *bs)
{
	return bs->kernel;
}

static inline struct solaris_state *
solaris_state_of(const struct ppi_backend_session *bs)
{
	return bs->state;
}

/* The most ticks that the CPU time since the last harvest can have made. */
uint64_t ppi_solaris_ticks_since(struct ppi_backend_session *bs,
                                 uint64_t cpu_ns);

/*
 * The two facilities (solaris_facilities.c): memory for it;
 * on; what was counted since, from a fresh buffer on (on false: for good);
 * the next records; memory back. _off is for what a forked child inherited.
 */
portprof_status ppi_solaris_profil_open(struct ppi_backend_session *bs,
                                        struct ppi_diag *why);
portprof_status ppi_solaris_profil_on(struct ppi_backend_session *bs,
                                      struct ppi_diag *why);
void ppi_solaris_profil_harvest(struct ppi_backend_session *bs, bool on);
void ppi_solaris_profil_give(struct ppi_backend_session *bs,
                             struct ppi_room *room);
void ppi_solaris_profil_close(struct ppi_backend_session *bs);

/* What profil cannot do and pcsample can. */
#define PPI_SOLARIS_PCSAMPLE_CAPS \
	((uint64_t)(PORTPROF_CAP_EXACT_PC | PORTPROF_CAP_WHOLE_SPACE))

portprof_status ppi_solaris_pcsample_open(struct ppi_backend_session *bs,
                                          struct ppi_diag *why);
portprof_status ppi_solaris_pcsample_on(struct ppi_backend_session *bs,
                                        struct ppi_diag *why);
void ppi_solaris_pcsample_off(struct ppi_backend_session *bs);
void ppi_solaris_pcsample_harvest(struct ppi_backend_session *bs, bool on);
/* Drop `ticks` of those that follow one another at one program counter, where
 * there are more than `most`; how many were dropped. */
uint64_t ppi_solaris_pcsample_put_aside(struct ppi_backend_session *bs,
                                        uint64_t ticks, uint64_t most);
/* Mark where samples fell while our helper slept; drop up to `most` of those
 * that fell elsewhere while it worked. */
void ppi_solaris_pcsample_mark(struct ppi_backend_session *bs);
uint64_t ppi_solaris_pcsample_put_aside_own(struct ppi_backend_session *bs,
                                            uint64_t most);
void ppi_solaris_pcsample_give(struct ppi_backend_session *bs,
                               struct ppi_room *room);
void ppi_solaris_pcsample_close(struct ppi_backend_session *bs);

#endif
