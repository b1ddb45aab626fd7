/* SPDX-License-Identifier: MIT */
/*
 * What bytes of code are, for each machine: whether a call precedes an address, and
 * code that no table describes.
 */
#include "config.h"

#include "api/unwind/code_bytes.h"

#include <string.h>

/* gABI, e_machine. */
enum { MACHINE_386 = 3, MACHINE_X86_64 = 62, MACHINE_AARCH64 = 183 };

static bool begins(const unsigned char *bytes, size_t count,
                   const unsigned char *with, size_t length)
{
	return count >= length && memcmp(bytes, with, length) == 0;
}

/*
 * The call instructions (Intel SDM, CALL): E8 and four bytes; FF /2, whose
 * addressing takes one to six bytes more.
 */
static bool is_x86_call(const unsigned char *end, size_t before)
{
	static const struct {
		unsigned char length, mask, value;
	} forms[] = {
		{ 2, 0xf8, 0xd0 }, /* register */
		{ 2, 0xf8, 0x10 }, /* [register] */
		{ 3, 0xff, 0x14 }, /* [register + register] */
		{ 3, 0xf8, 0x50 }, /* [register + 8 bits], 54 with one more */
		{ 4, 0xff, 0x54 },
		{ 6, 0xff, 0x15 }, /* [rip + 32 bits] */
		{ 6, 0xf8, 0x90 }, /* [register + 32 bits], 94 with one more */
		{ 7, 0xff, 0x94 },
	};

	if (before >= 5 && end[-5] == 0xe8)
		return true;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (before >= forms[i].length &&
		    end[-(int)forms[i].length] == 0xff &&
		    (end[1 - (int)forms[i].length] & forms[i].mask) ==
		            forms[i].value)
			return true;
	return false;
}

/*
 * What a signal handler returns to, and nobody calls: the system call sigreturn
 * (glibc and musl, restore_rt; arch/x86/entry/vdso/vdso32 of Linux).
 */
static bool is_x86_sigreturn(const unsigned char *code, size_t count)
{
	static const unsigned char restore_rt[] = {
		0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05
	};
	static const unsigned char restore[] = { 0x58, 0xb8, 0x77, 0, 0, 0 };
	static const unsigned char restore_rt32[] = { 0xb8, 0xad, 0, 0, 0 };

	return begins(code, count, restore_rt, sizeof(restore_rt)) ||
	       begins(code, count, restore, sizeof(restore)) ||
	       begins(code, count, restore_rt32, sizeof(restore_rt32));
}

/* What a goroutine's first function returns to is the second byte of
 * runtime.goexit, behind a nop (Go's runtime/asm_amd64.s). */
static bool is_x86_goexit(const unsigned char *bytes, size_t at, size_t count)
{
	return at >= 1 && count > at && bytes[at - 1] == 0x90 &&
	       bytes[at] == 0xe8;
}

static uint32_t arm_word(const unsigned char *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

/* mov x8, #139, and then the system call (Linux, arch/arm64/kernel/vdso/
 * sigreturn.S, whose tables say nothing of it since 5.8; musl, restore.s). */
static bool is_arm64_sigreturn(const unsigned char *code, size_t count)
{
	return count >= 4 && arm_word(code) == 0xd2801168 &&
	       (count < 8 || arm_word(code + 4) == 0xd4000001);
}

/*
 * The ABI leaves x16 and x17 to linkers, between a call and what it leads to (Procedure
 * Call Standard for the Arm 64-bit Architecture, 6.1.1). Entries of a PLT are as
 * in binutils' bfd/elfnn-aarch64.c, elfNN_aarch64_small_plt_*; veneers as in
 * aarch64_adrp_branch_stub and aarch64_long_branch_stub there.
 */
static bool is_arm64_stub_word(uint32_t word)
{
	static const struct {
		uint32_t mask, value;
	} forms[] = {
		{ 0x9f00001f, 0x90000010 }, /* adrp x16, page */
		{ 0xffc003ff, 0xf9400211 }, /* ldr x17, [x16, offset] */
		{ 0xffc003ff, 0x91000210 }, /* add x16, x16, offset */
		{ 0xff00001f, 0x58000010 }, /* ldr x16, literal */
		{ 0x9f00001f, 0x10000011 }, /* adr x17, place */
		{ 0xffffffff, 0x8b110210 }, /* add x16, x16, x17 */
		{ 0xffffffff, 0xd503245f }, /* bti c */
		{ 0xffffffff, 0xd503219f }, /* autia1716 */
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if ((word & forms[i].mask) == forms[i].value)
			return true;
	return false;
}

/* From `at` on nothing but such instructions, to br x16 or br x17. The first
 * entry of a PLT begins with stp x16, x30, [sp, -16]!. */
static enum ppi_stub arm64_stub(const unsigned char *bytes, size_t at,
                                size_t count)
{
	enum { PUSH = 0xa9bf7bf0u, WORDS = 6 };
	size_t end = at;

	while (end + 4 <= count && end < at + 4 * WORDS &&
	       (is_arm64_stub_word(arm_word(bytes + end)) ||
	        (end == at && arm_word(bytes + end) == PUSH)))
		end += 4;
	if (end + 4 > count ||
	    (arm_word(bytes + end) & 0xffffffdf) != 0xd61f0200)
		return PPI_STUB_NONE;
	for (size_t i = at; i >= 4 && i + 16 > at; i -= 4) {
		uint32_t before = arm_word(bytes + i - 4);

		if (before == PUSH)
			return PPI_STUB_PUSHED;
		if (!is_arm64_stub_word(before))
			break;
	}
	return PPI_STUB_PLAIN;
}

/* A goroutine's, as above: behind a nop, or what Go writes for one, mov x0, x0
 * (runtime/asm_arm64.s). Functions lie behind nops, too, and begin with no call. */
static bool is_arm64_goexit(uint32_t before, const unsigned char *code,
                            size_t count)
{
	return (before == 0xd503201f || before == 0xaa0003e0) && count >= 4 &&
	       (arm_word(code) & 0xfc000000) == 0x94000000;
}

/* BL, BLR, and BLR with authentication (Arm ARM, C6.2). */
static bool is_arm64_return(const unsigned char *bytes, size_t at,
                            size_t count)
{
	uint32_t word;

	if (at < 4)
		return true;
	word = arm_word(bytes + at - 4);
	return (word & 0xfc000000) == 0x94000000 ||
	       (word & 0xfffffc1f) == 0xd63f0000 ||
	       (word & 0xfefff800) == 0xd63f0800 ||
	       is_arm64_goexit(word, bytes + at, count - at) ||
	       is_arm64_sigreturn(bytes + at, count - at);
}

bool ppi_returns_by_signal(unsigned machine, const unsigned char *code,
                           size_t count)
{
	switch (machine) {
	case MACHINE_386:
	case MACHINE_X86_64:
		return is_x86_sigreturn(code, count);
	case MACHINE_AARCH64:
		return is_arm64_sigreturn(code, count);
	default:
		return false;
	}
}

/* ---- bytes: functions that change the stack ---- */

/* 8B /r from memory, or 89 /r from a register that is no frame pointer's, into rsp
 * (Intel SDM, MOV). */
static bool is_x86_stack_load(const unsigned char *code)
{
	if ((code[0] == 0x48 || code[0] == 0x49) && code[1] == 0x8b)
		return (code[2] & 0x38) == 0x20 && code[2] < 0xc0;
	return (code[0] == 0x48 || code[0] == 0x4c) && code[1] == 0x89 &&
	       (code[2] & 0xc7) == 0xc4 &&
	       !(code[0] == 0x48 && code[2] == 0xec);
}

/*
 * The first functions of stacks of Go's runtime call one that does not come back
 * (runtime/asm_amd64.s). goexit: above. mcall: pop and a jump to badmcall2.
 * mstart: nothing but a call. morestack: the new stack, a call, and abort.
 */
static bool is_x86_stack_root(const unsigned char *bytes, size_t at,
                              size_t count)
{
	const unsigned char *code = bytes + at, *call = code - 5;

	if (is_x86_goexit(bytes, at, count))
		return true;
	if (count - at < 8 || at < 9)
		return false;
	if (call[0] != 0xe8) /* by a register */
		return code[-2] == 0xff && (code[-1] & 0xf8) == 0xd0 &&
		       code[0] == 0x58 &&
		       (code[1] == 0xe9 ||
		        (code[1] == 0x48 && (code[2] == 0x8b || code[2] == 0x8d) &&
		         code[3] == 0x05));
	return (call[-1] == 0xcc && code[0] == 0xc3 && code[1] == 0xcc) ||
	       (is_x86_stack_load(call - 4) && code[0] == 0xe8 &&
	        code[5] == 0xc3);
}

enum ppi_return ppi_return_kind(unsigned machine, const unsigned char *bytes,
                                size_t at, size_t count)
{
	enum { RET = 0xc3 };

	if (machine == MACHINE_AARCH64)
		return at >= 4 && is_arm64_goexit(arm_word(bytes + at - 4),
		                                  bytes + at, count - at)
			? PPI_RETURN_NEVER : PPI_RETURN_PLAIN;
	if (machine != MACHINE_X86_64)
		return PPI_RETURN_PLAIN;
	if (is_x86_stack_root(bytes, at, count))
		return PPI_RETURN_NEVER;
	for (size_t i = at; i + 3 <= count && bytes[i] != RET; i++)
		if (is_x86_stack_load(bytes + i))
			return PPI_RETURN_BACK;
	return PPI_RETURN_PLAIN;
}

bool ppi_call_target(unsigned machine, const unsigned char *end, size_t before,
                     uint64_t address, uint64_t *target)
{
	if (machine != MACHINE_X86_64 || before < 5 || end[-5] != 0xe8)
		return false;
	*target = address + (uint64_t)(int64_t)(int32_t)arm_word(end - 4);
	return true;
}

/* How long a function is: up to what fills the room before the next one, int3, or
 * to the next one's first instruction, which of Go's compares the stack pointer
 * with the stack's end (cmd/internal/obj/x86/obj6.go). 0: its end is not among the
 * bytes. */
static size_t x86_length(const unsigned char *code, size_t count,
                         uint64_t start)
{
	for (size_t i = 1; i + 4 <= count; i++) {
		size_t end = i;

		while (end < count && code[end] == 0xcc)
			end++;
		if (end > i && (start + end) % 16 == 0)
			return i;
		if ((start + i) % 32 == 0 &&
		    (memcmp(code + i, "\x49\x3b\x66\x10", 4) == 0 ||
		     memcmp(code + i, "\x4c\x8d\x64\x24", 4) == 0 ||
		     memcmp(code + i, "\x4c\x8d\xa4\x24", 4) == 0))
			return i;
	}
	return 0;
}

uint64_t ppi_function_start(unsigned machine, const unsigned char *bytes,
                            size_t at, uint64_t address)
{
	for (size_t i = at; machine == MACHINE_X86_64 && i > 0; i--)
		if ((address - (at - i)) % 16 == 0 && bytes[i - 1] == 0xcc)
			return address - (at - i);
	return 0;
}

uint64_t ppi_one_call(unsigned machine, const unsigned char *code, size_t count,
                      uint64_t start, uint64_t callee)
{
	size_t length = machine == MACHINE_X86_64
		? x86_length(code, count, start) : 0;
	uint64_t target, found = 0;

	for (size_t i = 5; i <= length; i++) {
		if (!ppi_call_target(machine, code + i, i, start + i,
		                     &target) || target != callee)
			continue;
		if (found)
			return 0;
		found = start + i;
	}
	return found;
}

/* lea register, [rip + 32 bits] (Intel SDM, LEA). */
unsigned ppi_find_named(unsigned machine, const unsigned char *code,
                        size_t count, uint64_t start, uint64_t named,
                        uint64_t callee, uint64_t *returns_to)
{
	unsigned found = 0;
	uint64_t target;

	*returns_to = 0;
	for (size_t i = PPI_NAMED_BEFORE; machine == MACHINE_X86_64 &&
	                   i + PPI_NAMED_AFTER <= count; i++) {
		if (code[i - 6] != 0x8d || (code[i - 5] & 0xc7) != 5 ||
		    start + i + (uint64_t)(int64_t)(int32_t)arm_word(
				        code + i - 4) != named)
			continue;
		found++;
		*returns_to = 0;
		for (size_t j = i + 5; j <= i + PPI_NAMED_AFTER; j++)
			if (ppi_call_target(machine, code + j, j, start + j,
			                    &target)) {
				*returns_to = target == callee ? start + j : 0;
				break;
			}
	}
	return found;
}

/* ---- bytes: frame pointers ---- */

/* mov rbp, rsp, of which Intel has two; of Go's until 1.20, mov [rsp + n], rbp and lea
 * rbp, [rsp + n] (cmd/internal/obj/x86/obj6.go). */
static bool is_x86_frame(const unsigned char *code, size_t count)
{
	size_t part = count > 3 && code[2] == 0xac ? 8 : 5;

	if (begins(code, count, (const unsigned char *)"\x48\x89\xe5", 3) ||
	    begins(code, count, (const unsigned char *)"\x48\x8b\xec", 3))
		return true;
	return count >= 2 * part && code[0] == 0x48 && code[1] == 0x89 &&
	       (code[2] & 0x3f) == 0x2c && code[3] == 0x24 &&
	       code[part] == 0x48 && code[part + 1] == 0x8d &&
	       memcmp(code + 2, code + part + 2, part - 2) == 0;
}

/* By returns: a function has one, mostly. */
void ppi_count_pointers(unsigned machine, const unsigned char *bytes,
                        size_t count, struct ppi_pointer_use *use)
{
	const uint32_t arm64_ret = 0xd65f03c0, arm64_frame = 0x910003fd;
	enum { RET = 0xc3 };

	for (size_t i = 0; machine == MACHINE_AARCH64 && i + 4 <= count; i += 4) {
		use->returns += arm_word(bytes + i) == arm64_ret;
		use->frames += arm_word(bytes + i) == arm64_frame;
	}
	for (size_t i = 0; machine == MACHINE_X86_64 && i < count; i++) {
		use->returns += bytes[i] == RET;
		use->frames += is_x86_frame(bytes + i, count - i);
	}
}

bool ppi_keeps_pointers(const struct ppi_pointer_use *use)
{
	enum { FEW = 8 };

	return use->returns < FEW || use->frames >= use->returns / FEW;
}

/* The frame pointer becomes 0 a few instructions before; or, in dynamic linkers, the
 * stack pointer is what is called with (glibc, RTLD_START). */
bool ppi_begins_stack(unsigned machine, const unsigned char *bytes, size_t at)
{
	enum { NEAR = 16 };
	size_t from = at > NEAR ? at - NEAR : 0;

	for (size_t i = from; machine == MACHINE_AARCH64 && i + 4 <= at; i++)
		if (arm_word(bytes + i) == 0xd280001d ||
		    arm_word(bytes + i) == 0x910003e0)
			return true;
	for (size_t i = from; machine == MACHINE_X86_64 && i + 3 <= at; i++)
		if ((bytes[i] == 0x31 && bytes[i + 1] == 0xed) ||
		    memcmp(bytes + i, "\x48\x89\xe7", 3) == 0)
			return true;
	return false;
}

/* ---- bytes: how functions end ---- */

/* pop, 58 to 5F, with 41 before it for r8 to r15 (Intel SDM, POP); then ret, with or
 * without rep or bnd, or a jump, by a register as well. A jump alone may be one of a
 * loop, unless a pop is before it. */
static bool is_x86_epilogue(const unsigned char *bytes, size_t at, size_t count)
{
	bool is_popped = at > 0 && (bytes[at - 1] & 0xf8) == 0x58;
	const unsigned char *code = bytes + at;
	size_t left = count - at, i = 0;

	while (i + 1 < left) {
		size_t prefix = code[i] == 0x41;

		if ((code[i + prefix] & 0xf8) != 0x58)
			break;
		i += prefix + 1;
		is_popped = true;
	}
	if (i + 1 < left && (code[i] == 0xf2 || code[i] == 0xf3))
		i++;
	if (i >= left)
		return false;
	if (code[i] == 0xff)
		return is_popped && i + 1 < left && (code[i + 1] & 0xf8) == 0xe0;
	return code[i] == 0xc3 || code[i] == 0xc2 ||
	       (is_popped && (code[i] == 0xe9 || code[i] == 0xeb));
}

bool ppi_is_epilogue(unsigned machine, const unsigned char *bytes, size_t at,
                     size_t count)
{
	return machine == MACHINE_X86_64 && is_x86_epilogue(bytes, at, count);
}

enum ppi_stub ppi_stub(unsigned machine, const unsigned char *bytes, size_t at,
                       size_t count)
{
	return machine == MACHINE_AARCH64 ? arm64_stub(bytes, at, count)
	                                  : PPI_STUB_NONE;
}

bool ppi_returns_to(unsigned machine, const unsigned char *bytes, size_t at,
                    size_t count)
{
	switch (machine) {
	case MACHINE_386:
	case MACHINE_X86_64:
		return is_x86_call(bytes + at, at) ||
		       is_x86_sigreturn(bytes + at, count - at) ||
		       is_x86_goexit(bytes, at, count);
	case MACHINE_AARCH64:
		return is_arm64_return(bytes, at, count);
	default:
		return true;
	}
}
