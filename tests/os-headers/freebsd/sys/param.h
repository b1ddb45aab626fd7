/* SPDX-License-Identifier: MIT */
/* FreeBSD: __FreeBSD_version, as uname(1) -K tells it; 14.0. */
#ifndef OS_SYS_PARAM_H
#define OS_SYS_PARAM_H

#define __FreeBSD_version 1400097

#endif
