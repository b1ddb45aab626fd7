/* SPDX-License-Identifier: MIT */
/* The kernel seam of the solaris backend: every call it makes of the system. */
#ifndef PPI_SOLARIS_KERNEL_H
#define PPI_SOLARIS_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "backends/common/cpu_time.h"
#include "backends/common/pcregion.h"

/* Calls that return int return 0, or -1 with errno. */
struct solaris_kernel {
	/*
	 * profil(2): a scale of 0 or 1 is off; 2 counts everything above the
	 * offset in the first bin. Nothing is checked and nothing fails.
	 */
	void (*profil)(void *self, uint16_t *bins, size_t bytes,
	               uint64_t offset, unsigned scale);
	/* pcsample(2): the samples stored since the call before, whosever it
	 * was; -1 with errno. Room 0 stops. */
	long (*pcsample)(void *self, void *samples, long room);
	/* Bytes of a pc in that array: 4 or 8, as the process's pointers. */
	unsigned (*pc_bytes)(void *self);
	/* Ticks a second of one CPU: sysconf(_SC_CLK_TCK); 0 = unknown. */
	unsigned (*rate_hz)(void *self);

	/* CLOCK_MONOTONIC; CPU time as in base/clock_ns.h. */
	uint64_t (*now_ns)(void *self);
	ppi_cpu_reader *cpu;
	unsigned (*cpu_count)(void *self);
	int64_t (*process_id)(void *self);

	/* Zeroed pages; NULL with errno. */
	void *(*map)(void *self, size_t bytes);
	void (*unmap)(void *self, void *pages, size_t bytes);

	/* All code that is mapped, the program's own first; returns how much
	 * there is, which may be more than fits. */
	size_t (*text)(void *self, struct ppi_text *out, size_t room);
	/* An address of the library's own code. */
	uint64_t (*own_code)(void *self);

	void *self; /* NULL for the real one; the simulator in tests */
};

extern const struct solaris_kernel ppi_solaris_kernel_real;

#endif
