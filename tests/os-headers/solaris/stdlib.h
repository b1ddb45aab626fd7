/* SPDX-License-Identifier: MIT */
/* illumos: getexecname(3C). */
#ifndef OS_SOLARIS_STDLIB_H
#define OS_SOLARIS_STDLIB_H

#include_next <stdlib.h>

const char *getexecname(void);

#endif
