/* SPDX-License-Identifier: MIT */
/* One row an operating system; doc/platforms/ has the sources of each fact. */
#include "backends/profil/profil_rules.h"

/*
 * BSD kernels cut the byte offset of a bin to an int before they look whether
 * it is in range (PC_TO_INDEX of sys/kern/subr_prof.c), so code that is
 * 2^48/scale bytes further on counts as if it were in the region.
 */
static const struct profil_rules rules[] = {
	[PROFIL_FREEBSD] = {
		.region = { .system = "FreeBSD", .cut_bits = 32 },
		.cpu = &ppi_cpu_freebsd,
		.stay_ticks = 64, /* psratio: sys/kern/subr_trap.c, userret */
		.checks_scale = true,
		.is_fair = true,
		.rate_is_told = true,
	},
	[PROFIL_NETBSD] = {
		.region = { .system = "NetBSD", .cut_bits = 32 },
		.cpu = &ppi_cpu_netbsd,
		.checks_scale = true,
		.is_fair = true,
		.rate_is_told = true,
	},
	[PROFIL_OPENBSD] = {
		.region = { .system = "OpenBSD", .cut_bits = 32 },
		.cpu = &ppi_cpu_openbsd,
		.checks_scale = true,
		.is_fair = true,
		.rate_is_told = true,
	},
	[PROFIL_OPENBSD78] = {
		.region = { .system = "OpenBSD", .cut_bits = 32 },
		.cpu = &ppi_cpu_openbsd,
		.checks_scale = true,
		.gmon_only = true,
		.is_fair = true,
		.rate_is_told = true,
	},
	/* kern.clockrate tells of a profiling clock that is compiled out, and
	 * trap.c's userret adds td_sticks, which are microseconds. */
	[PROFIL_DRAGONFLY] = {
		.region = { .system = "DragonFly", .cut_bits = 32 },
		.cpu = &ppi_cpu_dragonfly,
		.stay_ticks = 1,
		.checks_scale = true,
		.is_fair = true,
		.counts_microseconds = true,
	},
	/* A second profil() puts the old handler back for a moment: a tick
	 * that arrives then kills the process. So it is never replaced. */
	[PROFIL_GLIBC] = {
		.region = { .system = "glibc" },
		.cpu = &ppi_cpu_linux,
		.takes_sigprof = true,
		.rate_is_told = true,
		.read_in_place = true,
	},
	[PROFIL_HURD] = {
		.region = { .system = "the Hurd" },
		.cpu = &ppi_cpu_other,
		.is_fair = true,
		.read_in_place = true,
	},
};

const struct profil_rules *ppi_profil_rules(enum profil_os os)
{
	return &rules[os];
}
