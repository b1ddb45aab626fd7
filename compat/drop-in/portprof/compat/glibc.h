/* SPDX-License-Identifier: MIT */
/* profil(3) and sprofil(3) as glibc declares them, by portprof. */
#ifndef PORTPROF_COMPAT_GLIBC_H
#define PORTPROF_COMPAT_GLIBC_H

/*
 * Include this and link with -lportprof-profil: profil and sprofil are then
 * portprof's, with glibc's rules, on every system, whatever PORTPROF_DIALECT
 * says. With PORTPROF_COMPAT_OWN_NAMES defined only the long names are there,
 * for programs that speak several dialects. portprof-profil(3) tells the rest.
 */
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

/* Where the system has them, its own structure and flags: they are the same. */
#ifdef __has_include
#if __has_include(<sys/profil.h>)
#include <sys/profil.h>
#define PORTPROF_COMPAT_HAS_PROF 1
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PORTPROF_COMPAT_HAS_PROF
#define PORTPROF_COMPAT_HAS_PROF 1
/* A region of text and its bins. */
struct prof {
	void *pr_base;
	size_t pr_size; /* of the bins, in bytes */
	size_t pr_off;
	unsigned long pr_scale;
};

enum {
	PROF_USHORT = 0, /* bins of 16 bits */
	PROF_UINT = 1,   /* of 32 */
	PROF_FAST = 2    /* taken, and of no consequence */
};
#endif

/* A NULL buffer stops; every scale counts, 0 too. 0, or -1 and errno. Any
 * thread; not for signal handlers. Since 0.1. */
int portprof_glibc_profil(unsigned short *buffer, size_t bytes,
                          size_t offset, unsigned scale);

/* While it is on, any call stops. *period is the time that one tick stands
 * for, unless period is NULL. */
int portprof_glibc_sprofil(struct prof *regions, int count,
                           struct timeval *period, unsigned flags);

/* Count ticks and calls of the text [low, high); pause and go on; stop and
 * write gmon.out. What is missing is told on standard error. */
void portprof_glibc_monstartup(unsigned long low, unsigned long high);
void portprof_glibc_moncontrol(int on);
void portprof_glibc_mcleanup(void);

#ifdef __cplusplus
}
#endif

#ifndef PORTPROF_COMPAT_OWN_NAMES
#undef profil
#define profil portprof_glibc_profil
#undef sprofil
#define sprofil portprof_glibc_sprofil
#undef monstartup
#define monstartup portprof_glibc_monstartup
#undef moncontrol
#define moncontrol portprof_glibc_moncontrol
#undef _mcleanup
#define _mcleanup portprof_glibc_mcleanup
#endif

#endif
