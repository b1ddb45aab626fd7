/* SPDX-License-Identifier: MIT */
/* Where each system and machine keeps registers, and where stacks end. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "port/context_stack.h"

#include <string.h>

#if defined(__linux__) && defined(__LP64__) && \
	(defined(__x86_64__) || (defined(__aarch64__) && !defined(__AARCH64EB__)))
#define HAS_STACK 1
#endif

#ifdef HAS_STACK

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK_MAX = 64 << 20, PAGE_LEAST = 4096 };

bool ppi_context_has_stack(const char **why)
{
	*why = NULL;
	return true;
}

/*
 * Of the first thread the kernel put down the arguments, the environment and,
 * above both, random bytes (fs/binfmt_elf.c, create_elf_tables): the stack
 * that functions use ends below these. It is one mapping down to the stack
 * pointer, and nothing else lies where it may grow (mmap_base in
 * arch/x86/mm/mmap.c and mm/util.c keeps 128 MiB, or the limit, free).
 */
void ppi_stack_bounds_learn(struct ppi_stack_bounds *bounds)
{
	struct rlimit limit;
	uint64_t size = STACK_MAX;

	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < size)
		size = limit.rlim_cur;
	bounds->main_end = getauxval(AT_RANDOM);
	bounds->main_start = bounds->main_end > size ? bounds->main_end - size
	                                             : 0;
}

#if defined(__x86_64__)

/* System V ABI for x86-64, figure 3.36; <sys/ucontext.h>. */
static const uint8_t numbers[] = {
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	REG_RIP
};
enum { KNOWN = sizeof(numbers), STACK_POINTER = 7 };

uint64_t ppi_context_registers(const void *context, uint64_t *registers)
{
	const ucontext_t *uc = context;

	for (size_t i = 0; i < KNOWN; i++)
		registers[i] = (uint64_t)uc->uc_mcontext.gregs[numbers[i]];
	return (UINT64_C(1) << KNOWN) - 1;
}

#else

/* DWARF for the Arm 64-bit Architecture, table 1; the pc has no number there,
 * and is given the one behind them. */
enum { GENERAL = 31, STACK_POINTER = 31, PROGRAM_COUNTER = 32, KNOWN };

uint64_t ppi_context_registers(const void *context, uint64_t *registers)
{
	const ucontext_t *uc = context;

	for (size_t i = 0; i < GENERAL; i++)
		registers[i] = uc->uc_mcontext.regs[i];
	registers[STACK_POINTER] = uc->uc_mcontext.sp;
	registers[PROGRAM_COUNTER] = uc->uc_mcontext.pc;
	return (UINT64_C(1) << KNOWN) - 1;
}

#endif

/* A thread's own record lies at the end of its stack, in the same mapping, in
 * glibc (nptl/allocatestack.c) and in musl (pthread_create.c); the first
 * thread's does not. Its thread-local variables may be below it. */
static uint64_t thread_end(void)
{
	return (uint64_t)pthread_self();
}

/* How much of [start, end) can be read. The kernel reads the set before it
 * refuses what is to be done with it (kernel/signal.c, rt_sigprocmask), a call
 * that each filter of system calls lets through. */
static size_t readable(uint64_t start, uint64_t end)
{
	uint64_t page = (start | (PAGE_LEAST - 1)) + 1;

	while (page < end && (syscall(SYS_rt_sigprocmask, ~0, page, NULL, 8) == 0 ||
	                      errno != EFAULT))
		page += PAGE_LEAST;
	return (size_t)((page < end ? page : end) - start);
}

static bool is_inside(uint64_t at, uint64_t start, uint64_t end)
{
	return at >= start && at < end;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A stack that is neither is not read: a coroutine's, of which nobody knows who
 * takes the memory behind it away, and when. */
size_t ppi_context_stack(const struct ppi_stack_bounds *bounds,
                         const void *context, bool is_first, size_t most,
                         uint64_t *start, bool *is_all)
{
	const ucontext_t *uc = context;
	uint64_t registers[PPI_CONTEXT_REGISTERS];
	uint64_t end, other = (uint64_t)(uintptr_t)uc->uc_stack.ss_sp;
	uint64_t usual = bounds->main_end - bounds->main_start;
	size_t bytes;

	ppi_context_registers(context, registers);
	*start = end = registers[STACK_POINTER];
	if (!(uc->uc_stack.ss_flags & SS_DISABLE) &&
	    is_inside(*start, other, other + uc->uc_stack.ss_size))
		end = other + uc->uc_stack.ss_size;
	else if (is_inside(*start, bounds->main_start, bounds->main_end))
		end = bounds->main_end;
	else if (!is_first && thread_end() > *start &&
	         thread_end() - *start <= usual)
		end = *start + readable(*start, least(thread_end(),
		                                      *start + most));
	bytes = (size_t)least(end - *start, most) & ~(size_t)7;
	*is_all = end - *start < most;
	return bytes;
}

#else

bool ppi_context_has_stack(const char **why)
{
	*why = "the registers and the stack that a signal interrupts are known "
	       "of Linux on x86-64 and arm64 alone";
	return false;
}

void ppi_stack_bounds_learn(struct ppi_stack_bounds *bounds)
{
	memset(bounds, 0, sizeof(*bounds));
}

uint64_t ppi_context_registers(const void *context, uint64_t *registers)
{
	(void)context;
	(void)registers;
	return 0;
}

size_t ppi_context_stack(const struct ppi_stack_bounds *bounds,
                         const void *context, bool is_first, size_t most,
                         uint64_t *start, bool *is_all)
{
	(void)bounds;
	(void)context;
	(void)is_first;
	(void)most;
	*start = 0;
	*is_all = true;
	return 0;
}

#endif

/* A sanitizer has what lies between a frame's variables forbidden to all, or
 * sees what other threads put there, and memcpy(3) looks. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
	__has_feature(thread_sanitizer)
#define WATCHED 1
#endif
#endif

#ifdef WATCHED
__attribute__((no_sanitize("address", "thread", "undefined")))
void ppi_stack_copy(void *to, uint64_t from, size_t bytes)
{
	const volatile uint64_t *word = (const volatile void *)(uintptr_t)from;
	uint64_t *out = to;

	for (size_t i = 0; i < bytes / 8; i++)
		out[i] = word[i];
}
#else
void ppi_stack_copy(void *to, uint64_t from, size_t bytes)
{
	memcpy(to, (const void *)(uintptr_t)from, bytes);
}
#endif
