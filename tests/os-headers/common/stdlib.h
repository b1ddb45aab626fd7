/* SPDX-License-Identifier: MIT */
/* What is used of <stdlib.h> of C11 and POSIX. */
#ifndef OS_STDLIB_H
#define OS_STDLIB_H

#include <stddef.h>

void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void *realloc(void *old, size_t bytes);
void free(void *memory);
void qsort(void *first, size_t count, size_t bytes,
           int (*compare)(const void *, const void *));
void *bsearch(const void *key, const void *first, size_t count, size_t bytes,
              int (*compare)(const void *, const void *));
char *getenv(const char *name);
_Noreturn void abort(void);
_Noreturn void exit(int status);
/* https://pubs.opengroup.org/onlinepubs/9799919799/functions/realpath.html */
char *realpath(const char *restrict path, char *restrict resolved);
unsigned long strtoul(const char *restrict text, char **restrict end,
                      int base);
long long strtoll(const char *restrict text, char **restrict end, int base);
unsigned long long strtoull(const char *restrict text, char **restrict end,
                            int base);
long strtol(const char *restrict text, char **restrict end, int base);

#endif
