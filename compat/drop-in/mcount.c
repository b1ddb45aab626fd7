/* SPDX-License-Identifier: MIT */
/*
 * mcount: what cc -pg calls at the begin of each function, by a convention of
 * each processor. Where it is not known here, the C library's own is called,
 * and the file has ticks without calls.
 */
#include "compat/drop-in/monitor.h"

#if defined(__x86_64__) && defined(__ELF__) && defined(__LP64__)

/*
 * Called after the frame is made and before arguments are moved, so all
 * registers that carry some must come back: rax counts those in vectors, and
 * r10 is the chain of nested functions. Vectors are not touched.
 */
__attribute__((used, visibility("hidden"))) extern void
ppi_arcs_count(uintptr_t from, uintptr_t self);

__asm__(".text\n"
        ".globl mcount\n"
        ".globl _mcount\n"
        ".type mcount, @function\n"
        ".type _mcount, @function\n"
        "mcount:\n"
        "_mcount:\n"
        "	subq $72, %rsp\n"
        "	movq %rax, (%rsp)\n"
        "	movq %rcx, 8(%rsp)\n"
        "	movq %rdx, 16(%rsp)\n"
        "	movq %rsi, 24(%rsp)\n"
        "	movq %rdi, 32(%rsp)\n"
        "	movq %r8, 40(%rsp)\n"
        "	movq %r9, 48(%rsp)\n"
        "	movq %r10, 56(%rsp)\n"
        "	movq %r11, 64(%rsp)\n"
        "	movq 72(%rsp), %rsi\n"
        "	movq 8(%rbp), %rdi\n"
        "	call ppi_arcs_count\n"
        "	movq (%rsp), %rax\n"
        "	movq 8(%rsp), %rcx\n"
        "	movq 16(%rsp), %rdx\n"
        "	movq 24(%rsp), %rsi\n"
        "	movq 32(%rsp), %rdi\n"
        "	movq 40(%rsp), %r8\n"
        "	movq 48(%rsp), %r9\n"
        "	movq 56(%rsp), %r10\n"
        "	movq 64(%rsp), %r11\n"
        "	addq $72, %rsp\n"
        "	ret\n"
        ".size mcount, .-mcount\n"
        ".size _mcount, .-_mcount\n");

#elif defined(__aarch64__) && defined(__ELF__)

/* The return address of who was called comes as the argument. */
__attribute__((visibility("default"))) void _mcount(void *from);

void _mcount(void *from)
{
	ppi_arcs_count((uintptr_t)from,
	               (uintptr_t)__builtin_return_address(0));
}

#else

/* An empty translation unit is none. */
extern int ppi_no_mcount_here;

#endif
