/* SPDX-License-Identifier: MIT */
/* setlocale(3) of C11; the numbers are made up. */
#ifndef OS_LOCALE_H
#define OS_LOCALE_H

#define LC_ALL 0
#define LC_CTYPE 2
#define LC_NUMERIC 4

char *setlocale(int kind, const char *name);

#endif
