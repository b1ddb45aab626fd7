/* SPDX-License-Identifier: MIT */
/* dlsym(3) with RTLD_NEXT: FreeBSD, NetBSD, OpenBSD dlfcn(3); illumos
 * dlsym(3C). */
#ifndef OS_DLFCN_H
#define OS_DLFCN_H

#define RTLD_NEXT ((void *)-1)

void *dlsym(void *restrict handle, const char *restrict name);

#endif
