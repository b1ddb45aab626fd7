/* SPDX-License-Identifier: MIT */
/* profil(2) and pcsample(2) as Solaris and illumos declare them, by portprof. */
#ifndef PORTPROF_COMPAT_SOLARIS_H
#define PORTPROF_COMPAT_SOLARIS_H

/*
 * Include this and link with -lportprof-profil: profil and pcsample are then
 * portprof's, with Solaris' rules, on every system, whatever PORTPROF_DIALECT
 * says. With PORTPROF_COMPAT_OWN_NAMES defined only the long names are there,
 * for programs that speak several dialects. portprof-profil(3) tells the rest.
 */
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#ifdef __has_include
#if __has_include(<pcsample.h>)
#include <pcsample.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Scales 0 and 1 stop; so does a bin that would exceed 32767. Always 0, unless
 * profiling is not available. A forked child is profiled, too. Any thread; not
 * for signal handlers. Since 0.1. */
int portprof_solaris_profil(unsigned short *buffer, size_t bytes,
                            size_t offset, unsigned scale);

/* Store program counters until `count` are there; 0 stops. Returns how many
 * the call before has got; -1 and EINVAL for a negative count, and then that
 * one continues. */
long portprof_solaris_pcsample(uintptr_t samples[], long count);

/* Count ticks and calls of the text [low, high); pause and go on; stop and
 * write gmon.out. What is missing is told on standard error. */
void portprof_solaris_monstartup(unsigned long low, unsigned long high);
void portprof_solaris_moncontrol(int on);
void portprof_solaris_mcleanup(void);

#ifdef __cplusplus
}
#endif

#ifndef PORTPROF_COMPAT_OWN_NAMES
#undef profil
#define profil portprof_solaris_profil
#undef pcsample
#define pcsample portprof_solaris_pcsample
#undef monstartup
#define monstartup portprof_solaris_monstartup
#undef moncontrol
#define moncontrol portprof_solaris_moncontrol
#undef _mcleanup
#define _mcleanup portprof_solaris_mcleanup
#endif

#endif
