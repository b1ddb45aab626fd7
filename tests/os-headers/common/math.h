/* SPDX-License-Identifier: MIT */
/* What is used of <math.h> of POSIX.1-2008. */
#ifndef OS_MATH_H
#define OS_MATH_H

#define isfinite(number) __builtin_isfinite(number)

#endif
