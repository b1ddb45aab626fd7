/* SPDX-License-Identifier: MIT */
/* Solaris and illumos: dladdr(3C), whose address is no pointer to const. */
#ifndef OS_SOLARIS_DLFCN_H
#define OS_SOLARIS_DLFCN_H

#define dladdr os_dladdr_of_others
#include_next <dlfcn.h>
#undef dladdr

int dladdr(void *address, Dl_info *info);

#endif
