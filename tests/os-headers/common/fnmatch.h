/* SPDX-License-Identifier: MIT */
/* fnmatch(3) of POSIX.1-2008; the numbers are made up. */
#ifndef OS_FNMATCH_H
#define OS_FNMATCH_H

#define FNM_NOMATCH 1
#define FNM_PATHNAME 2

int fnmatch(const char *pattern, const char *text, int flags);

#endif
