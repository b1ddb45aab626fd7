/* SPDX-License-Identifier: MIT */
/* profil(2) as the BSDs declare it, by portprof. */
#ifndef PORTPROF_COMPAT_BSD_H
#define PORTPROF_COMPAT_BSD_H

/*
 * Include this and link with -lportprof-profil: profil is then portprof's,
 * with the rules of the BSDs, on every system, whatever PORTPROF_DIALECT says.
 * With PORTPROF_COMPAT_OWN_NAMES defined only the long name is there, for
 * programs that speak several dialects. portprof-profil(3) tells the rest.
 */
#include <stddef.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Scale 0 stops, one above 65536 is EINVAL. A forked child is profiled, too.
 * 0, or -1 and errno. Any thread; not for signal handlers. Since 0.1. */
int portprof_bsd_profil(char *samples, size_t bytes, unsigned long offset,
                        unsigned scale);

/* Count ticks and calls of the text [low, high); pause and go on; stop and
 * write gmon.out. What is missing is told on standard error. */
void portprof_bsd_monstartup(unsigned long low, unsigned long high);
void portprof_bsd_moncontrol(int on);
void portprof_bsd_mcleanup(void);

#ifdef __cplusplus
}
#endif

#ifndef PORTPROF_COMPAT_OWN_NAMES
#undef profil
#define profil portprof_bsd_profil
#undef monstartup
#define monstartup portprof_bsd_monstartup
#undef moncontrol
#define moncontrol portprof_bsd_moncontrol
#undef _mcleanup
#define _mcleanup portprof_bsd_mcleanup
#endif

#endif
