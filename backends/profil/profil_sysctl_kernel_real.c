/* SPDX-License-Identifier: MIT */
/* Rate and state of profil(): sysctl(3) on BSD, sysconf(3) on glibc. */
#include "config.h"

#include "backends/profil/profil_sysctl.h"

#include <sys/param.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __GLIBC__

/* glibc's __profile_frequency: AT_CLKTCK, which sysconf tells. */
unsigned ppi_profil_rate_hz(void *self)
{
	long hz = sysconf(_SC_CLK_TCK);

	(void)self;
	return hz > 0 ? (unsigned)hz : 0;
}

/* It shows in SIGPROF and ITIMER_PROF, which are looked at anyway. */
int ppi_profil_is_profiling(void *self)
{
	(void)self;
	return -1;
}

#else

#include <sys/proc.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#if defined(__FreeBSD__) || defined(__DragonFly__)
#include <sys/user.h>
#endif

#if defined(__DragonFly__)

/* What kern.clockrate tells is not the rate of profil() (profil.c). */
unsigned ppi_profil_rate_hz(void *self)
{
	(void)self;
	return 0;
}

#else

/* struct clockinfo differs: always the system's own. */
unsigned ppi_profil_rate_hz(void *self)
{
	int name[] = { CTL_KERN, KERN_CLOCKRATE };
	struct clockinfo clocks = { 0 };
	size_t bytes = sizeof(clocks);

	(void)self;
	if (sysctl(name, 2, &clocks, &bytes, NULL, 0) || clocks.profhz < 0)
		return 0;
	return (unsigned)clocks.profhz;
}

#endif

#if defined(__NetBSD__)
typedef struct kinfo_proc2 process_info;
#define PROCESS_NAME \
	{ CTL_KERN, KERN_PROC2, KERN_PROC_PID, getpid(), \
	  (int)sizeof(process_info), 1 }
#define PROFILING(info) ((info).p_flag & P_PROFIL)
#elif defined(__OpenBSD__)
typedef struct kinfo_proc process_info;
#define PROCESS_NAME \
	{ CTL_KERN, KERN_PROC, KERN_PROC_PID, getpid(), \
	  (int)sizeof(process_info), 1 }
#ifdef PS_PROFIL
#define PROFILING(info) ((info).p_psflags & PS_PROFIL)
#else /* 7.8 has another profil(), which is not for us */
#define PROFILING(info) ((info).p_psflags & 0)
#endif
#elif defined(__DragonFly__)
typedef struct kinfo_proc process_info;
#define PROCESS_NAME { CTL_KERN, KERN_PROC, KERN_PROC_PID, getpid() }
#define PROFILING(info) ((info).kp_flags & P_PROFIL)
#else
typedef struct kinfo_proc process_info;
#define PROCESS_NAME { CTL_KERN, KERN_PROC, KERN_PROC_PID, getpid() }
#define PROFILING(info) ((info).ki_flag & P_PROFIL)
#endif

int ppi_profil_is_profiling(void *self)
{
	int name[] = PROCESS_NAME;
	process_info info;
	size_t bytes = sizeof(info);

	(void)self;
	if (sysctl(name, sizeof(name) / sizeof(name[0]), &info, &bytes, NULL,
	           0) || bytes < sizeof(info))
		return -1;
	return PROFILING(info) != 0;
}

#endif
