/* SPDX-License-Identifier: MIT */
/* NetBSD 6: clock_gettime(2), which has no clocks of CPU time. */
#ifndef OS_NETBSD6_TIME_H
#define OS_NETBSD6_TIME_H

#include_next <time.h>

#undef CLOCK_THREAD_CPUTIME_ID
#undef CLOCK_PROCESS_CPUTIME_ID

#endif
