/* SPDX-License-Identifier: MIT */
/* OpenBSD: year and month of the release, 7.4. */
#ifndef OS_SYS_PARAM_H
#define OS_SYS_PARAM_H

#define OpenBSD 202310

#endif
