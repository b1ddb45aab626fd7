/* SPDX-License-Identifier: MIT */
/* OpenBSD: sigaction(2): the third argument is a struct sigcontext. */
#ifndef OS_UCONTEXT_H
#define OS_UCONTEXT_H

#include <signal.h>

struct sigcontext {
	int sc_mask;
	union {
		long sc_rip; /* amd64 */
		int sc_eip;  /* i386 */
		unsigned long sc_elr; /* arm64 */
	};
};

typedef struct sigcontext ucontext_t;

#endif
