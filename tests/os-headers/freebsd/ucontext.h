/* SPDX-License-Identifier: MIT */
/* FreeBSD: ucontext(3); the machine's <machine/ucontext.h>. */
#ifndef OS_UCONTEXT_H
#define OS_UCONTEXT_H

#include <signal.h>

typedef struct {
	union {
		long mc_rip; /* amd64 */
		int mc_eip;  /* i386 */
		struct {
			unsigned long gp_elr;
		} mc_gpregs; /* arm64 */
	};
} mcontext_t;

typedef struct {
	sigset_t uc_sigmask;
	mcontext_t uc_mcontext;
} ucontext_t;

#endif
