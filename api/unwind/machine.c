/* SPDX-License-Identifier: MIT */
/* The machines whose stacks are unwound. */
#include "config.h"

#include "api/unwind/machine.h"

#include <stddef.h>

/* System V ABI for x86-64, figure 3.36: DWARF register numbers. */
const struct ppi_machine ppi_machine_x86_64 = {
	.elf_machine = 62,
	.register_count = 17,
	.pc = 16, .sp = 7, .fp = 6, .ra = 16,
	.saved_count = 7,
	.saved = { 16, 6, 3, 12, 13, 14, 15 },
	.call_bytes = 8,
	.address_mask = UINT64_MAX,
	.address_bits = 47,
};

/* DWARF for the Arm 64-bit Architecture, table 1; the pc has no number there.
 * Signed return addresses have their signature above the bits of an address of
 * a user's, of which kernels use 48 or fewer (Linux,
 * Documentation/arch/arm64/pointer-authentication). A signal's frame is a siginfo_t of 128 bytes and a ucontext_t, whose mcontext begins
 * at 176 with the address of a fault, then the registers (arch/arm64/kernel/signal.c,
 * struct rt_sigframe; asm/ucontext.h, asm/sigcontext.h). */
const struct ppi_machine ppi_machine_arm64 = {
	.elf_machine = 183,
	.register_count = 33,
	.pc = 32, .sp = 31, .fp = 29, .ra = 30,
	.saved_count = 12,
	.saved = { 30, 29, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28 },
	.call_bytes = 0,
	.address_mask = (UINT64_C(1) << 48) - 1,
	.address_bits = 48,
	.signal_registers = 128 + 176 + 8,
};

const struct ppi_machine *ppi_machine_here(void)
{
#if defined __x86_64__ && defined __LP64__
	return &ppi_machine_x86_64;
#elif defined __aarch64__ && defined __LP64__ && !defined __AARCH64EB__
	return &ppi_machine_arm64;
#else
	return NULL;
#endif
}

/*
 * Signatures lie in bits 54 down to the kernel's number of bits of an address, 36 to
 * 52 (Linux, arch/arm64/include/asm/pointer_auth.h). XPACLRI takes them from x30,
 * whatever they are, and does nothing on CPUs that do not sign (Arm ARM, C6.2).
 */
uint64_t ppi_machine_unsigned(void)
{
	uint64_t bits = UINT64_MAX;

#if defined __aarch64__
	bits = UINT64_MAX >> 9;
	__asm__("mov x30, %0\n\t"
		"hint #7\n\t" /* xpaclri */
		"mov %0, x30" : "+r"(bits) : : "x30");
#endif
	return bits;
}
