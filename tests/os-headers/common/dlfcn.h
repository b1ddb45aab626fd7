/* SPDX-License-Identifier: MIT */
/* dlopen(3), dlsym(3), dlclose(3), dlerror(3) of POSIX.1-2008, RTLD_NEXT, RTLD_DEFAULT, dladdr:
 * FreeBSD, NetBSD, OpenBSD, DragonFly dlfcn(3), dlsym(3) or dladdr(3), illumos
 * dlsym(3C), dladdr(3C); the numbers are made up. */
#ifndef OS_DLFCN_H
#define OS_DLFCN_H

#define RTLD_NOW 2
#define RTLD_LOCAL 0
#define RTLD_NEXT ((void *)-1)
#define RTLD_DEFAULT ((void *)-2)

void *dlopen(const char *path, int mode);
void *dlsym(void *restrict handle, const char *restrict name);
int dlclose(void *handle);

typedef struct {
	const char *dli_fname;
	void *dli_fbase;
	const char *dli_sname;
	void *dli_saddr;
} Dl_info;

int dladdr(const void *address, Dl_info *info);
#define RTLD_LAZY 1
#define RTLD_GLOBAL 0x100

char *dlerror(void);

#endif
