/* SPDX-License-Identifier: MIT */
/* What is used of <string.h> of POSIX.1-2008, and strsep(3), which each of the
 * systems has. */
#ifndef OS_STRING_H
#define OS_STRING_H

#include <stddef.h>

void *memchr(const void *where, int byte, size_t bytes);
int memcmp(const void *one, const void *other, size_t bytes);
void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int byte, size_t bytes);
char *strchr(const char *text, int byte);
int strcmp(const char *one, const char *other);
char *strcpy(char *restrict to, const char *restrict from);
size_t strcspn(const char *text, const char *bytes);
char *strdup(const char *text);
char *strerror(int error);
size_t strlen(const char *text);
int strncmp(const char *one, const char *other, size_t most);
char *strndup(const char *text, size_t most);
size_t strnlen(const char *text, size_t most);
char *strrchr(const char *text, int byte);
char *strsep(char **restrict rest, const char *restrict bytes);
size_t strspn(const char *text, const char *bytes);
char *strstr(const char *text, const char *part);
char *stpcpy(char *restrict to, const char *restrict from);
char *strcat(char *restrict to, const char *restrict from);
char *strncat(char *restrict to, const char *restrict from, size_t most);
char *strncpy(char *restrict to, const char *restrict from, size_t most);
char *strpbrk(const char *text, const char *bytes);
char *strtok(char *restrict text, const char *restrict bytes);
char *strtok_r(char *restrict text, const char *restrict bytes,
               char **restrict rest);
char *strsignal(int number);
int strcoll(const char *one, const char *other);

#endif
