/* SPDX-License-Identifier: MIT */
/* FreeBSD 10: as later, but without execvpe(3). */
#ifndef OS_FREEBSD10_UNISTD_H
#define OS_FREEBSD10_UNISTD_H

#define execvpe os_no_execvpe
#include_next <unistd.h>
#undef execvpe

#endif
