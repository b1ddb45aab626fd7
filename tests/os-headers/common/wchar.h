/* SPDX-License-Identifier: MIT */
/* Wide characters of POSIX.1-2008, as far as they are used. */
#ifndef OS_WCHAR_H
#define OS_WCHAR_H

#include <stddef.h>

typedef struct {
	int bits[4];
} mbstate_t;
typedef int wint_t;

size_t mbrtowc(wchar_t *restrict out, const char *restrict text, size_t bytes,
               mbstate_t *restrict state);
size_t wcrtomb(char *restrict out, wchar_t letter, mbstate_t *restrict state);
int wcwidth(wchar_t letter);
size_t wcslen(const wchar_t *text);

#endif
