/* SPDX-License-Identifier: MIT */
/* NetBSD: ucontext(2), _UC_MACHINE_PC(3). */
#ifndef OS_UCONTEXT_H
#define OS_UCONTEXT_H

#include <signal.h>

typedef struct {
	sigset_t uc_sigmask;
	struct {
		unsigned long __gregs[32];
	} uc_mcontext;
} ucontext_t;

#define _UC_MACHINE_PC(uc) ((uc)->uc_mcontext.__gregs[21])

#endif
