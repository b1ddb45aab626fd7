/* SPDX-License-Identifier: MIT */
/*
 * The names as the C libraries have them, in the dialect that the user chose.
 *
 * Systems declare them differently, so their headers are left out here: what
 * arrives are an address, two sizes and a number on all of them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr, RTLD_NEXT */
#endif

#include "compat/drop-in/dialect.h"
#include "compat/drop-in/monitor.h"
#include "compat/drop-in/profil.h"
#include "base/library.h"

#include <portprof/version.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define PLAIN __attribute__((visibility("default")))

PLAIN int profil(void *bins, size_t bytes, size_t offset, unsigned scale);
PLAIN int sprofil(struct prof *regions, int count, struct timeval *period,
                  unsigned flags);
PLAIN long pcsample(uintptr_t *samples, long count);
PLAIN void monstartup(unsigned long low, unsigned long high);
PLAIN void __monstartup(unsigned long low, unsigned long high);
PLAIN void moncontrol(int on);
PLAIN void _mcleanup(void);

/* POSIX lets a pointer to data hold one to a function; C does not. */
static void *data_of(const char *(*function)(void))
{
	void *found;

	memcpy(&found, &function, sizeof(found));
	return found;
}

/* Linked into one file everything is one object, and callers cannot be kept
 * apart: there the backends ask for ppi_system_function. */
static bool is_in_library(const void *caller)
{
	Dl_info here, there, library;

	/* Solaris' takes no pointer to const */
	return dladdr((void *)(uintptr_t)caller, &there) &&
	       dladdr(data_of(portprof_version), &library) &&
	       dladdr(__extension__(void *)(uintptr_t)profil, &here) &&
	       there.dli_fbase == library.dli_fbase &&
	       here.dli_fbase != library.dli_fbase;
}

/* The backends profil and solaris call the system by these very names. */
void ppi_system_function(const char *name, void *function)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(function, &found, sizeof(found));
}

static int refuse(void)
{
	errno = ENOSYS;
	return -1;
}

int profil(void *bins, size_t bytes, size_t offset, unsigned scale)
{
	int (*system)(void *, size_t, size_t, unsigned);

	if (!is_in_library(__builtin_return_address(0)))
		return ppi_profil(ppi_plain_dialect(), bins, bytes, offset,
		                  scale);
	ppi_system_function("profil", &system);
	return system ? system(bins, bytes, offset, scale) : refuse();
}

int sprofil(struct prof *regions, int count, struct timeval *period,
            unsigned flags)
{
	return ppi_sprofil(regions, count, period, flags);
}

long pcsample(uintptr_t *samples, long count)
{
	long (*system)(uintptr_t *, long);

	if (!is_in_library(__builtin_return_address(0)))
		return ppi_pcsample(samples, count);
	ppi_system_function("pcsample", &system);
	return system ? system(samples, count) : refuse();
}

/* glibc's start-up file of -pg calls it by this name. */
void __monstartup(unsigned long low, unsigned long high)
{
	ppi_monstartup(ppi_plain_dialect(), low, high);
}

void monstartup(unsigned long low, unsigned long high)
{
	__monstartup(low, high);
}

void moncontrol(int on)
{
	ppi_moncontrol(on != 0);
}

void _mcleanup(void)
{
	ppi_mcleanup();
}
