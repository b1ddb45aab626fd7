/* SPDX-License-Identifier: MIT */
/* NetBSD: sysctl(7), kern.clockrate gives a struct clockinfo. */
#ifndef OS_NETBSD_SYS_TIME_H
#define OS_NETBSD_SYS_TIME_H

#include_next <sys/time.h>

struct clockinfo {
	int hz, tick, tickadj, stathz, profhz;
};

#endif
