/* SPDX-License-Identifier: MIT */
/* NetBSD: param(3), __NetBSD_Version__; 10.0. */
#ifndef OS_SYS_PARAM_H
#define OS_SYS_PARAM_H

#define __NetBSD_Version__ 1000000000

#endif
