/* SPDX-License-Identifier: MIT */
/* uname(3) of POSIX.1-2008; the length is made up. */
#ifndef OS_SYS_UTSNAME_H
#define OS_SYS_UTSNAME_H

struct utsname {
	char sysname[64], nodename[64], release[64], version[64], machine[64];
};

int uname(struct utsname *out);

#endif
