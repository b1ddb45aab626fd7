/* SPDX-License-Identifier: MIT */
/* Dialects: what each system's profil() does, and which of them the user's
 * environment asks for, with what else it asks; it is read once. */
#include "config.h"

#include "compat/drop-in/dialect.h"

#include "base/environment.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
#define HAS_CLOCKRATE 1
#include <sys/param.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#endif

/* ---- what each system does ---- */

/*
 * The rules of each system's profil() for its arguments, as a table. Sources: FreeBSD, NetBSD, OpenBSD, DragonFly and XNU sys/kern/subr_prof.c;
 * illumos uts/common/syscall/profil.c and os/clock.c; glibc
 * sysdeps/posix/profil.c and sprofil.c, sysdeps/mach/hurd/profil.c.
 */

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

/* ---- the environment ---- */

enum { HZ_MAX = 1000000, USUAL_HZ = 100 };

static struct {
	pthread_mutex_t lock;
	bool is_read;
	const struct ppi_rules *plain;
	unsigned hz; /* 0 = the dialect's own */
	bool has_defects;
	const char *backend;
} asked = { .lock = PTHREAD_MUTEX_INITIALIZER };

static atomic_flag has_complained = ATOMIC_FLAG_INIT;

void ppi_complain(const char *words, ...)
{
	char line[1200] = "portprof: ";
	size_t begun = strlen(line);
	va_list list;
	int length;

	if (atomic_flag_test_and_set(&has_complained))
		return;
	va_start(list, words);
	length = vsnprintf(line + begun, sizeof(line) - begun - 1, words,
	                   list);
	va_end(list);
	if (length < 0)
		return;
	length = (int)strlen(line);
	line[length++] = '\n';
	/* there is nobody to be told when standard error is closed */
	if (write(2, line, (size_t)length) < 0)
		return;
}

static void list_dialects(char *list, size_t bytes)
{
	const struct ppi_rules *rules;

	list[0] = '\0';
	for (size_t i = 0; (rules = ppi_rules_at(i)); i++)
		snprintf(list + strlen(list), bytes - strlen(list), "%s%s",
		         i ? ", " : "", rules->name);
}

static void read_dialect(void)
{
	const char *name = ppi_environment("PORTPROF_DIALECT");
	char list[256];

	asked.plain = name ? ppi_rules_find(name) : NULL;
	if (name && !asked.plain) {
		list_dialects(list, sizeof(list));
		ppi_complain("PORTPROF_DIALECT=%.64s: no such dialect; using "
		             "%s, that of this system; there are %s", name,
		             ppi_rules_of_host()->name, list);
	}
	if (!asked.plain)
		asked.plain = ppi_rules_of_host();
}

static void read_hz(void)
{
	const char *text = ppi_environment("PORTPROF_HZ");
	char *end;
	unsigned long hz;

	asked.hz = 0;
	if (!text)
		return;
	hz = strtoul(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && !*end && hz >= 1 &&
	    hz <= HZ_MAX)
		asked.hz = (unsigned)hz;
	else
		ppi_complain("PORTPROF_HZ=%.64s: must be a number of ticks a "
		             "second from 1 to %d; using the usual rate",
		             text, HZ_MAX);
}

static void read_environment(void)
{
	const char *defects;

	pthread_mutex_lock(&asked.lock);
	if (!asked.is_read) {
		read_dialect();
		read_hz();
		defects = ppi_environment("PORTPROF_DEFECTS");
		asked.has_defects = defects && strcmp(defects, "0") != 0;
		asked.backend = ppi_environment("PORTPROF_BACKEND");
		asked.is_read = true;
	}
	pthread_mutex_unlock(&asked.lock);
}

void ppi_dialect_forget(void)
{
	asked.is_read = false;
	atomic_flag_clear(&has_complained);
}

const struct ppi_rules *ppi_plain_dialect(void)
{
	read_environment();
	return asked.plain;
}

bool ppi_wants_defects(void)
{
	read_environment();
	return asked.has_defects;
}

const char *ppi_wanted_backend(void)
{
	read_environment();
	return asked.backend;
}

/* What programs of a BSD divide by: gmon.c of their libc asks for profhz, and
 * for hz when there is no such clock. Elsewhere they cannot ask. */
static unsigned bsd_hz(void)
{
#ifdef HAS_CLOCKRATE
	int name[] = { CTL_KERN, KERN_CLOCKRATE };
	struct clockinfo clock;
	size_t bytes = sizeof(clock);

	memset(&clock, 0, sizeof(clock));
	if (sysctl(name, 2, &clock, &bytes, NULL, 0) == 0) {
		if (clock.profhz > 0)
			return (unsigned)clock.profhz;
		if (clock.hz > 0)
			return (unsigned)clock.hz;
	}
#endif
	return USUAL_HZ;
}

unsigned ppi_tick_hz(const struct ppi_rules *rules)
{
	long hz;

	read_environment();
	if (asked.hz)
		return asked.hz;
	if (rules->family == PPI_FAMILY_BSD)
		return bsd_hz();
	hz = sysconf(_SC_CLK_TCK);
	return hz > 0 ? (unsigned)hz : USUAL_HZ;
}
