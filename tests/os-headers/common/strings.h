/* SPDX-License-Identifier: MIT */
/* strcasecmp(3) of POSIX.1-2008. */
#ifndef OS_STRINGS_H
#define OS_STRINGS_H

#include <stddef.h>

int strcasecmp(const char *one, const char *other);
int strncasecmp(const char *one, const char *other, size_t most);

#endif
