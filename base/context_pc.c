/* SPDX-License-Identifier: MIT */
/* Where each system and machine keeps the program counter of a signal frame. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#if defined(__NetBSD__) && !defined(_NETBSD_SOURCE)
#define _NETBSD_SOURCE
#endif

#include "base/context_pc.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

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

size_t ppi_context_bytes(void)
{
	return sizeof(ucontext_t);
}
