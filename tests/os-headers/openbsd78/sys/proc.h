/* SPDX-License-Identifier: MIT */
/* OpenBSD 7.8: as if the flag of profiled processes were gone, which no page of
 * the manual promises. */
#ifndef OS_SYS_PROC_H
#define OS_SYS_PROC_H

#define SRUN 2
#define SONPROC 7

#endif
