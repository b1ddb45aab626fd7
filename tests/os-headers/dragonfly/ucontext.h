/* SPDX-License-Identifier: MIT */
/* DragonFly: ucontext(3), <machine/ucontext.h>. */
#ifndef OS_UCONTEXT_H
#define OS_UCONTEXT_H

#include <signal.h>

typedef struct {
	long mc_rip;
} mcontext_t;

typedef struct {
	sigset_t uc_sigmask;
	mcontext_t uc_mcontext;
} ucontext_t;

#endif
