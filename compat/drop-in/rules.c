/* SPDX-License-Identifier: MIT */
/*
 * What each system's profil() does with its arguments, as a table.
 *
 * Sources: FreeBSD, NetBSD, OpenBSD, DragonFly and XNU sys/kern/subr_prof.c;
 * illumos uts/common/syscall/profil.c and os/clock.c; glibc
 * sysdeps/posix/profil.c and sprofil.c, sysdeps/mach/hurd/profil.c.
 */
#include "compat/drop-in/rules.h"

#include <string.h>

enum { BSD_SCALE_MAX = 65536, USHORT_TOP = 65535, SHORT_TOP = 32767 };

#define BSD(its_name)                                                       \
	{                                                                   \
		.name = its_name, .family = PPI_FAMILY_BSD,                 \
		.scale_max = BSD_SCALE_MAX, .off_below = 1,                 \
		.bin_max = USHORT_TOP, .child_goes_on = true,               \
	}
#define SOLARIS(its_name)                                                   \
	{                                                                   \
		.name = its_name, .family = PPI_FAMILY_SOLARIS,             \
		.scale_max = UINT32_MAX, .off_below = 2,                    \
		.bin_max = SHORT_TOP, .full_stops = true,                   \
		.child_goes_on = true,                                      \
	}

static const struct ppi_rules table[] = {
	{
		.name = "glibc", .family = PPI_FAMILY_GLIBC,
		.scale_max = UINT32_MAX, .null_is_off = true,
		.bin_max = USHORT_TOP,
	},
	{
		.name = "hurd", .family = PPI_FAMILY_GLIBC,
		.scale_max = UINT32_MAX, .off_below = 1,
		.bin_max = USHORT_TOP, .child_goes_on = true,
	},
	BSD("bsd"),
	BSD("freebsd"),
	BSD("netbsd"),
	BSD("openbsd"),
	BSD("dragonfly"),
	{
		.name = "macos", .family = PPI_FAMILY_BSD,
		.scale_max = BSD_SCALE_MAX, .off_below = 1,
		.bin_max = USHORT_TOP, .child_goes_on = true,
		.has_no_floor = true,
	},
	SOLARIS("solaris"),
	SOLARIS("illumos"),
};

enum { ROWS = sizeof(table) / sizeof(table[0]) };

#if defined(__FreeBSD__)
#define HOST "freebsd"
#elif defined(__NetBSD__)
#define HOST "netbsd"
#elif defined(__OpenBSD__)
#define HOST "openbsd"
#elif defined(__DragonFly__)
#define HOST "dragonfly"
#elif defined(__APPLE__)
#define HOST "macos"
#elif defined(__sun)
#define HOST "solaris"
#elif defined(__GNU__)
#define HOST "hurd"
#else
#define HOST "glibc"
#endif

const struct ppi_rules *ppi_rules_at(size_t index)
{
	return index < ROWS ? &table[index] : NULL;
}

const struct ppi_rules *ppi_rules_find(const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

const struct ppi_rules *ppi_rules_of_host(void)
{
	return ppi_rules_find(HOST);
}

/* ---- from a program counter to a bin ---- */

/* high * scale + low, or UINT64_MAX. */
static uint64_t product(uint64_t high, uint32_t scale, uint64_t low)
{
	if (scale && high > (UINT64_MAX - low) / scale)
		return UINT64_MAX;
	return high * scale + low;
}

uint64_t ppi_entry_of(uint64_t distance, unsigned unit, uint32_t scale)
{
	uint64_t i = distance / unit;

	return product(i >> 16, scale, (i & 65535) * scale >> 16);
}

/* The byte of the buffer, as kernels compute it. */
static uint64_t byte_of(uint64_t distance, uint32_t scale)
{
	return product(distance >> 16, scale,
	               (distance & 65535) * scale >> 16);
}

/*
 * What the systems make of it where their arithmetic overflows: BSD kernels
 * cut the byte to 32 bits before they look whether it is in range, and count
 * in two bytes when the first of them is; glibc has no test for code below
 * the offset.
 */
static uint64_t defective_bin(const struct ppi_rules *rules,
                              const struct ppi_bins *bins, uint64_t pc)
{
	uint64_t distance = pc - bins->offset, bin, i = distance / 2;

	switch (rules->family) {
	case PPI_FAMILY_GLIBC:
		bin = (i >> 16) * bins->scale +
		      ((i & 65535) * bins->scale >> 16);
		return bin < bins->bytes / 2 ? bin : PPI_NO_BIN;
	case PPI_FAMILY_BSD:
		if (pc < bins->offset && !rules->has_no_floor)
			return PPI_NO_BIN;
		bin = (uint32_t)(distance * bins->scale >> 16) & ~UINT32_C(1);
		return bin < bins->bytes ? bin / 2 : PPI_NO_BIN;
	default:
		if (pc < bins->offset)
			return PPI_NO_BIN;
		if (bins->scale == 2)
			return 0;
		bin = byte_of(distance, bins->scale);
		return bin < bins->bytes ? bin / 2 : PPI_NO_BIN;
	}
}

uint64_t ppi_rules_bin(const struct ppi_rules *rules,
                       const struct ppi_bins *bins, uint64_t pc)
{
	uint64_t distance = pc - bins->offset, bin;

	if (bins->has_defects)
		return defective_bin(rules, bins, pc);
	if (pc < bins->offset)
		return PPI_NO_BIN;
	if (rules->family == PPI_FAMILY_GLIBC)
		bin = ppi_entry_of(distance, 2, bins->scale);
	else if (rules->family == PPI_FAMILY_SOLARIS && bins->scale == 2)
		bin = 0; /* a scale of its own: one bin for all that is above */
	else
		bin = byte_of(distance, bins->scale) / 2;
	return bin < bins->bytes / 2 ? bin : PPI_NO_BIN;
}
