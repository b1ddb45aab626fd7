/* SPDX-License-Identifier: MIT */
/* FreeBSD: sysctl(3), kern.clockrate gives a struct clockinfo. */
#ifndef OS_FREEBSD_SYS_TIME_H
#define OS_FREEBSD_SYS_TIME_H

#include_next <sys/time.h>

struct clockinfo {
	int hz, tick, spare, stathz, profhz;
};

#endif
