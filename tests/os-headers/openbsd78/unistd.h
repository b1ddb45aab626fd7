/* SPDX-License-Identifier: MIT */
/* OpenBSD 7.8: profil(2) with six arguments; the rest as in 7.7. */
#ifndef OS_OPENBSD78_UNISTD_H
#define OS_OPENBSD78_UNISTD_H

#define profil os_profil_of_7_7
#include_next <unistd.h>
#undef profil

int profil(void *buffer, size_t bytes, size_t sample_bytes, u_long offset,
           u_int scale, int directory);

#endif
