/* SPDX-License-Identifier: MIT */
/* OpenBSD: sysctl(2), KERN_CLOCKRATE gives a struct clockinfo. */
#ifndef OS_OPENBSD_SYS_TIME_H
#define OS_OPENBSD_SYS_TIME_H

#include_next <sys/time.h>

struct clockinfo {
	int hz, tick, stathz, profhz;
};

#endif
