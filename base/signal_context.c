/* SPDX-License-Identifier: MIT */
/*
 * What a signal handler sees: where each system and machine keeps the program counter
 * and the registers of a signal frame, and where stacks end.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#if defined(__NetBSD__) && !defined(_NETBSD_SOURCE)
#define _NETBSD_SOURCE
#endif

#include "base/signal_context.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

/* ---- the program counter ---- */

/*
 * PC(uc): an lvalue. Names from each system's <sys/ucontext.h> or
 * <machine/ucontext.h>; where those give registers a number only, it is the
 * one of <asm/ptrace.h>.
 */
#if defined(__linux__)
#if defined(__x86_64__)
#define PC(uc) ((uc)->uc_mcontext.gregs[REG_RIP])
#elif defined(__i386__)
#define PC(uc) ((uc)->uc_mcontext.gregs[REG_EIP])
#elif defined(__aarch64__)
#define PC(uc) ((uc)->uc_mcontext.pc)
#elif defined(__arm__)
#define PC(uc) ((uc)->uc_mcontext.arm_pc)
#elif defined(__powerpc64__)
#define PC(uc) ((uc)->uc_mcontext.gp_regs[32])
#elif defined(__riscv)
#define PC(uc) ((uc)->uc_mcontext.__gregs[0])
#elif defined(__s390__)
#define PC(uc) ((uc)->uc_mcontext.psw.addr)
#elif defined(__mips__)
#define PC(uc) ((uc)->uc_mcontext.pc)
#elif defined(__loongarch__)
#define PC(uc) ((uc)->uc_mcontext.__pc)
#endif
#elif defined(__FreeBSD__) || defined(__DragonFly__)
#if defined(__x86_64__)
#define PC(uc) ((uc)->uc_mcontext.mc_rip)
#elif defined(__i386__)
#define PC(uc) ((uc)->uc_mcontext.mc_eip)
#elif defined(__aarch64__)
#define PC(uc) ((uc)->uc_mcontext.mc_gpregs.gp_elr)
#endif
#elif defined(__NetBSD__)
#define PC(uc) _UC_MACHINE_PC(uc)
#elif defined(__OpenBSD__)
#if defined(__x86_64__)
#define PC(uc) ((uc)->sc_rip)
#elif defined(__i386__)
#define PC(uc) ((uc)->sc_eip)
#elif defined(__aarch64__)
#define PC(uc) ((uc)->sc_elr)
#endif
#elif defined(__sun)
#define PC(uc) ((uc)->uc_mcontext.gregs[REG_PC])
#elif defined(__APPLE__)
#if defined(__x86_64__)
#define PC(uc) ((uc)->uc_mcontext->__ss.__rip)
#elif defined(__aarch64__)
#define PC(uc) ((uc)->uc_mcontext->__ss.__pc)
#endif
#endif

/* In 31-bit mode the top bit of an address is the addressing mode. */
#if defined(__s390__) && !defined(__s390x__)
#define PC_BITS UINT64_C(0x7fffffff)
#else
#define PC_BITS (UINT64_MAX >> (64 - 8 * sizeof(void *)))
#endif

#if defined(PC)

bool ppi_context_has_pc(void)
{
	return true;
}

uint64_t ppi_context_pc(const void *context)
{
	const ucontext_t *uc = context;

	return (uint64_t)PC(uc) & PC_BITS;
}

void ppi_context_set_pc(void *context, uint64_t pc)
{
	ucontext_t *uc = context;

	memset(uc, 0, sizeof(*uc));
#if !defined(__APPLE__) /* there it is behind a pointer */
	PC(uc) = pc;
#else
	(void)pc;
#endif
}

#else

bool ppi_context_has_pc(void)
{
	return false;
}

uint64_t ppi_context_pc(const void *context)
{
	(void)context;
	return 0;
}

void ppi_context_set_pc(void *context, uint64_t pc)
{
	memset(context, 0, sizeof(ucontext_t));
	(void)pc;
}

#endif

/* ---- the signal mask ---- */

void *ppi_context_mask(void *context)
{
	ucontext_t *uc = context;

#ifdef __OpenBSD__
	/* an int, as its sigset_t (<machine/signal.h>, <sys/signal.h>) */
	return &uc->sc_mask;
#else
	return &uc->uc_sigmask;
#endif
}

/* ---- registers and stacks ---- */

#if defined(__linux__) && defined(__LP64__) && \
	(defined(__x86_64__) || (defined(__aarch64__) && !defined(__AARCH64EB__)))
#define HAS_STACK 1
#endif

#ifdef HAS_STACK

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK_MAX = 64 << 20, PAGE_LEAST = 4096, FRAME_MAX = 16384 };

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
enum { KNOWN = sizeof(numbers), STACK_POINTER = 7,
       SAVED = offsetof(ucontext_t, uc_mcontext.gregs) + 8 * REG_RSP };

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
enum { GENERAL = 31, STACK_POINTER = 31, PROGRAM_COUNTER = 32, KNOWN,
       SAVED = offsetof(ucontext_t, uc_mcontext.sp) };

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

/* The kernel reads the set before it refuses what is to be done with it
 * (kernel/signal.c, rt_sigprocmask), a call that each filter of system calls lets
 * through. */
static bool is_readable(uint64_t at)
{
	return syscall(SYS_rt_sigprocmask, ~0, at, NULL, 8) == 0 ||
	       errno != EFAULT;
}

/* How much of [start, end) can be read, where its first word can be. */
static size_t readable(uint64_t start, uint64_t end)
{
	uint64_t page = (start | (PAGE_LEAST - 1)) + 1;

	while (page < end && is_readable(page))
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

static struct ppi_stack_part part_of(uint64_t start, uint64_t end, size_t most)
{
	return (struct ppi_stack_part){
		.start = start,
		.bytes = (size_t)least(end - start, most) & ~(size_t)7,
		.is_all = end - start < most,
	};
}

/* The end of the stack that the thread began on; `at` where that is not on it.
 * Of one that is neither the first thread's nor has the thread's record above
 * nothing is known: a coroutine's, of which nobody knows who takes the memory
 * behind it away, and when. */
static uint64_t usual_end(const struct ppi_stack_bounds *bounds, uint64_t at,
                          bool is_first, size_t most)
{
	uint64_t usual = bounds->main_end - bounds->main_start;

	if (is_inside(at, bounds->main_start, bounds->main_end))
		return bounds->main_end;
	if (!is_first && thread_end() > at && thread_end() - at <= usual)
		return at + readable(at, least(thread_end(), at + most));
	return at;
}

static uint64_t word_at(uint64_t address)
{
	uint64_t word;

	ppi_stack_copy(&word, address, sizeof(word));
	return word;
}

/*
 * The stack pointer that the thread had when a signal brought it to its
 * alternate stack; 0 when that is not found. The frame of that signal is the
 * topmost one; its registers are below what the CPU saves beside them, which has
 * 11 KiB at most on x86-64 and 6 on arm64 with vectors of 32 bytes. The kernel
 * notes in each frame which stack is the alternate one (kernel/signal.c, __save_altstack).
 */
static uint64_t saved_pointer(const stack_t *other, uint64_t from)
{
	uint64_t start = (uint64_t)(uintptr_t)other->ss_sp;
	uint64_t end = start + other->ss_size;
	uint64_t context = (end & ~UINT64_C(7)) - SAVED - 8, saved;

	for (; context >= from && end - context < FRAME_MAX; context -= 8) {
		uint64_t noted = context + offsetof(ucontext_t, uc_stack);

		if (word_at(noted + offsetof(stack_t, ss_sp)) != start ||
		    word_at(noted + offsetof(stack_t, ss_size)) !=
			    other->ss_size)
			continue;
		saved = word_at(context + SAVED);
		return is_inside(saved, start, end) ? 0 : saved;
	}
	return 0;
}

/* Nothing but the program's own memory says where it was interrupted, so the
 * stack there is asked for page by page. Of one that is known and finds no room
 * the beginning is told. */
static struct ppi_stack_part part_interrupted(
	const struct ppi_stack_bounds *bounds, const stack_t *other,
	uint64_t from, bool is_first, size_t most)
{
	uint64_t at = saved_pointer(other, from), end;
	struct ppi_stack_part part;

	if (at == 0 || at % 8 || !is_readable(at))
		return part_of(0, 0, 0);
	end = usual_end(bounds, at, is_first, most > 8 ? most : 8);
	if (end == at)
		return part_of(0, 0, 0);
	part = part_of(at, end, most);
	part.bytes = readable(at, at + part.bytes);
	return part;
}

void ppi_context_stacks(const struct ppi_stack_bounds *bounds,
                        const void *context, bool is_first, size_t most,
                        struct ppi_stack_part *runs,
                        struct ppi_stack_part *interrupted)
{
	const stack_t *other = &((const ucontext_t *)context)->uc_stack;
	uint64_t registers[PPI_CONTEXT_REGISTERS], at;
	uint64_t start = (uint64_t)(uintptr_t)other->ss_sp;

	*interrupted = part_of(0, 0, 0);
	ppi_context_registers(context, registers);
	at = registers[STACK_POINTER];
	if (!(other->ss_flags & SS_DISABLE) &&
	    is_inside(at, start, start + other->ss_size)) {
		*runs = part_of(at, start + other->ss_size, most);
		*interrupted = part_interrupted(bounds, other, at, is_first,
		                                most - runs->bytes);
	} else {
		*runs = part_of(at, usual_end(bounds, at, is_first, most),
		                most);
	}
}

#else

bool ppi_context_has_stack(const char **why)
{
	*why = "registers and stacks of interrupted code can be read only on "
	       "Linux on x86-64 and arm64";
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

void ppi_context_stacks(const struct ppi_stack_bounds *bounds,
                        const void *context, bool is_first, size_t most,
                        struct ppi_stack_part *runs,
                        struct ppi_stack_part *interrupted)
{
	(void)bounds;
	(void)context;
	(void)is_first;
	(void)most;
	memset(runs, 0, sizeof(*runs));
	memset(interrupted, 0, sizeof(*interrupted));
	runs->is_all = true;
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
