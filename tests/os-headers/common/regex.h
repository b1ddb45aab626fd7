/* SPDX-License-Identifier: MIT */
/* regcomp(3) of POSIX.1-2008; the numbers are made up. */
#ifndef OS_REGEX_H
#define OS_REGEX_H

#include <stddef.h>

typedef struct {
	size_t re_nsub;
	void *os;
} regex_t;
typedef struct {
	long rm_so, rm_eo;
} regmatch_t;

#define REG_EXTENDED 1
#define REG_NOSUB 4
#define REG_NOMATCH 1

int regcomp(regex_t *restrict compiled, const char *restrict text, int flags);
int regexec(const regex_t *restrict compiled, const char *restrict text,
            size_t count, regmatch_t *restrict found, int flags);
size_t regerror(int error, const regex_t *restrict compiled,
                char *restrict out, size_t bytes);
void regfree(regex_t *compiled);

#endif
