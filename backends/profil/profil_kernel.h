/* SPDX-License-Identifier: MIT */
/* The kernel seam of the profil backend: every call it makes of the system. */
#ifndef PPI_PROFIL_KERNEL_H
#define PPI_PROFIL_KERNEL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

#include "backends/common/cpu_time.h"
#include "backends/common/pcregion.h"

/* Whose profil() it is; a row of profil.c's table. */
enum profil_os {
	PROFIL_FREEBSD,
	PROFIL_NETBSD,
	PROFIL_OPENBSD,
	PROFIL_OPENBSD78, /* six arguments, -pg programs only */
	PROFIL_DRAGONFLY,
	PROFIL_GLIBC,
	PROFIL_HURD
};

/* Calls that return int return 0, or -1 with errno. */
struct profil_kernel {
	enum profil_os os;

	/* profil(2). All arguments 0 mean stop, on every system: the kernels
	 * look at the scale, glibc at the pointer. */
	int (*profil)(void *self, uint16_t *bins, size_t bytes,
	              uint64_t offset, unsigned scale);
	/* Whether there is such a function; NULL: there is. */
	bool (*is_reachable)(void *self);
	/* Ticks a second of one CPU, as the system tells; 0 = it does not. */
	unsigned (*rate_hz)(void *self);
	/* Whether the process is being profiled: 1, 0, -1 = unknown. */
	int (*is_profiling)(void *self);

	/* sigaction(SIGPROF), setitimer and getitimer(ITIMER_PROF): either
	 * pointer may be NULL. Called only where profil() is made of them. */
	int (*action)(void *self, const struct sigaction *next,
	              struct sigaction *before);
	int (*timer)(void *self, const struct itimerval *next,
	             struct itimerval *before);

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

	/* Spend CPU time in one place, and where that is. */
	void (*burn)(void *self, uint64_t ns);
	void (*burn_range)(void *self, struct ppi_text *out);
	/* The code that reads bins, which the helper runs most. */
	void (*reader_range)(void *self, struct ppi_text *out);

	void *self; /* NULL for the real one; the simulator in tests */
};

extern const struct profil_kernel ppi_profil_kernel_real;

#endif
