/* SPDX-License-Identifier: MIT */
/* The names that portprof's headers give: one a dialect. */
#define PORTPROF_COMPAT_OWN_NAMES

#include "compat/drop-in/monitor.h"
#include "compat/drop-in/portprof/compat/bsd.h"
#include "compat/drop-in/portprof/compat/glibc.h"
#include "compat/drop-in/portprof/compat/solaris.h"
#include "compat/drop-in/profil.h"

int portprof_glibc_profil(unsigned short *buffer, size_t bytes, size_t offset,
                          unsigned scale)
{
	return ppi_profil(ppi_rules_find("glibc"), buffer, bytes, offset,
	                  scale);
}

int portprof_glibc_sprofil(struct prof *regions, int count,
                           struct timeval *period, unsigned flags)
{
	return ppi_sprofil(regions, count, period, flags);
}

int portprof_bsd_profil(char *samples, size_t bytes, unsigned long offset,
                        unsigned scale)
{
	return ppi_profil(ppi_rules_find("bsd"), samples, bytes, offset,
	                  scale);
}

int portprof_solaris_profil(unsigned short *buffer, size_t bytes,
                            size_t offset, unsigned scale)
{
	return ppi_profil(ppi_rules_find("solaris"), buffer, bytes, offset,
	                  scale);
}

long portprof_solaris_pcsample(uintptr_t samples[], long count)
{
	return ppi_pcsample(samples, count);
}

#define MONITOR(dialect)                                                     \
	void portprof_##dialect##_monstartup(unsigned long low,              \
	                                     unsigned long high)             \
	{                                                                    \
		ppi_monstartup(ppi_rules_find(#dialect), low, high);         \
	}                                                                    \
                                                                             \
	void portprof_##dialect##_moncontrol(int on)                         \
	{                                                                    \
		ppi_moncontrol(on != 0);                                     \
	}                                                                    \
                                                                             \
	void portprof_##dialect##_mcleanup(void)                             \
	{                                                                    \
		ppi_mcleanup();                                              \
	}

MONITOR(glibc)
MONITOR(bsd)
MONITOR(solaris)
