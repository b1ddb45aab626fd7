/* SPDX-License-Identifier: MIT */
/* FreeBSD: thr_kill(2). */
#ifndef OS_FREEBSD_SYS_THR_H
#define OS_FREEBSD_SYS_THR_H

int thr_kill(long id, int number);

#endif
