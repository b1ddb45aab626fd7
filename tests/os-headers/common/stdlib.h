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
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 0x7fffffff

int abs(int number);
long labs(long number);
long long llabs(long long number);
int atoi(const char *text);
long atol(const char *text);
long long atoll(const char *text);
double atof(const char *text);
double strtod(const char *restrict text, char **restrict end);
int rand(void);
void srand(unsigned seed);
long random(void);
int atexit(void (*function)(void));
_Noreturn void _Exit(int status);
_Noreturn void quick_exit(int status);
int at_quick_exit(void (*function)(void));
int system(const char *command);
int setenv(const char *name, const char *value, int replace);
int unsetenv(const char *name);
int putenv(char *setting);
int mkstemp(char *path);
char *mkdtemp(char *path);
void *aligned_alloc(size_t alignment, size_t bytes);
int posix_memalign(void **memory, size_t alignment, size_t bytes);

#endif
