/* SPDX-License-Identifier: MIT */
/* sched.h of POSIX.1-2008: no namespaces. */
#ifndef OS_SCHED_H
#define OS_SCHED_H

int sched_yield(void);

#endif
