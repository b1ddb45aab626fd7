/* SPDX-License-Identifier: MIT */
/* What is used of <ctype.h> of C11. */
#ifndef OS_CTYPE_H
#define OS_CTYPE_H

int isalnum(int c);
int isdigit(int c);
int isprint(int c);
int isspace(int c);
int tolower(int c);
int toupper(int c);
int isalpha(int c);
int iscntrl(int c);
int isgraph(int c);
int islower(int c);
int ispunct(int c);
int isupper(int c);
int isxdigit(int c);

#endif
