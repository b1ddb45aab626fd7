/* SPDX-License-Identifier: MIT */
/* What is used of <math.h> of POSIX.1-2008. */
#ifndef OS_MATH_H
#define OS_MATH_H

#define NAN __builtin_nanf("")
#define isfinite(number) __builtin_isfinite(number)
#define isnan(number) __builtin_isnan(number)

#endif
