/* SPDX-License-Identifier: MIT */
/* Dialects of profil(), and what the user's environment asks for. */
#ifndef PPI_DIALECT_H
#define PPI_DIALECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what each system's profil() does with its arguments ---- */

enum ppi_family { PPI_FAMILY_GLIBC, PPI_FAMILY_BSD, PPI_FAMILY_SOLARIS };
enum { PPI_FAMILIES = 3 };

struct ppi_rules {
	const char *name;       /* what PORTPROF_DIALECT takes */
	enum ppi_family family; /* whose formula, whose buffer */
	uint32_t scale_max;     /* EINVAL above */
	uint32_t off_below;     /* scales below turn profiling off */
	bool null_is_off;       /* so does a NULL buffer */
	uint32_t bin_max;       /* no bin exceeds it */
	bool full_stops;        /* a bin that would ends profiling */
	bool child_goes_on;     /* a forked child is profiled, too */
	bool has_no_floor;      /* only with defects: code below the offset
	                         * is not told from code above */
};

/* By its name; NULL when there is none. The index-th; NULL past the last. */
const struct ppi_rules *ppi_rules_find(const char *name);
const struct ppi_rules *ppi_rules_at(size_t index);

/* The dialect of the system that this was built for. */
const struct ppi_rules *ppi_rules_of_host(void);

/* The arguments of profil(), in the words of all systems. */
struct ppi_bins {
	void *base;
	uint64_t bytes;
	uint64_t offset;
	uint32_t scale;
	bool has_defects; /* of the system, too: see portprof-compat(7) */
};

#define PPI_NO_BIN UINT64_MAX

/* The 16-bit bin that a program counter is counted in, or PPI_NO_BIN. With
 * defects it may lie beyond the buffer, as it would there. */
uint64_t ppi_rules_bin(const struct ppi_rules *rules,
                       const struct ppi_bins *bins, uint64_t pc);

/* floor(distance / unit) * scale / 65536, rounded down at each step as glibc's
 * manual page says; UINT64_MAX when it does not fit. */
uint64_t ppi_entry_of(uint64_t distance, unsigned unit, uint32_t scale);

/* ---- what the environment asks for ---- */

/* The dialect of the plain names: PORTPROF_DIALECT, or the host's. */
const struct ppi_rules *ppi_plain_dialect(void);

/* Ticks per second of CPU time: PORTPROF_HZ, or what is usual there. */
unsigned ppi_tick_hz(const struct ppi_rules *rules);

/* PORTPROF_DEFECTS=1: also what the dialect's own system does wrong. */
bool ppi_wants_defects(void);

/* PORTPROF_BACKEND; NULL when the library is to choose. */
const char *ppi_wanted_backend(void);

/* One line to standard error, the first time that this function is called;
 * old programs do not look at what profil() returns. */
void ppi_complain(const char *words, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 1, 2)))
#endif
	;

/* Read the environment again; for tests. */
void ppi_dialect_forget(void);

#endif
