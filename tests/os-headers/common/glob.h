/* SPDX-License-Identifier: MIT */
/* glob(3) of POSIX.1-2008; the numbers are made up. */
#ifndef OS_GLOB_H
#define OS_GLOB_H

#include <stddef.h>

typedef struct {
	size_t gl_pathc;
	char **gl_pathv;
	size_t gl_offs;
} glob_t;

#define GLOB_NOSORT 0x20
#define GLOB_ERR 4
#define GLOB_NOMATCH (-3)
#define GLOB_NOSPACE (-1)

int glob(const char *restrict pattern, int flags,
         int (*failed)(const char *, int), glob_t *restrict found);
void globfree(glob_t *found);

#endif
