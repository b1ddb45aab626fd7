/* SPDX-License-Identifier: MIT */
/* OpenBSD: thrkill(2). */
#ifndef OS_OPENBSD_SIGNAL_H
#define OS_OPENBSD_SIGNAL_H

#include_next <signal.h>

int thrkill(pid_t thread, int number, void *tcb);

#endif
