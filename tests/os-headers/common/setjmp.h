/* SPDX-License-Identifier: MIT */
/* setjmp(3) of C11; the size is made up. */
#ifndef OS_SETJMP_H
#define OS_SETJMP_H

typedef long jmp_buf[64];
typedef long sigjmp_buf[64];

int setjmp(jmp_buf buffer);
_Noreturn void longjmp(jmp_buf buffer, int value);
int sigsetjmp(sigjmp_buf buffer, int mask);
_Noreturn void siglongjmp(sigjmp_buf buffer, int value);

#endif
