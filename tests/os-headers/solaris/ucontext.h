/* SPDX-License-Identifier: MIT */
/* illumos: ucontext.h(3HEAD); REG_PC of <sys/regset.h>. */
#ifndef OS_UCONTEXT_H
#define OS_UCONTEXT_H

#include <signal.h>

#define REG_PC 14

typedef struct {
	sigset_t uc_sigmask;
	struct {
		long gregs[28];
	} uc_mcontext;
} ucontext_t;

#endif
