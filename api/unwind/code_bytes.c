/* SPDX-License-Identifier: MIT */
/*
 * What the instructions at an address are: whether a call precedes it, and code that
 * no table describes. Bytes are looked at by machine; of processes each address is
 * read once, and the answer kept.
 */
#include "config.h"

#include "api/unwind/code_bytes.h"

#include "base/processes.h"

#include <stdlib.h>
#include <string.h>

/* ---- bytes: whether a call precedes them, and code that is not a function ---- */

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

/* pop, 58 to 5F, with 41 before it for r8 to r15 (Intel SDM, POP); then ret, with or
 * without rep or bnd, or a jump. A jump alone may be one of a loop. */
static bool is_x86_epilogue(const unsigned char *code, size_t count)
{
	size_t at = 0, pops = 0;

	while (at + 1 < count) {
		size_t prefix = code[at] == 0x41;

		if ((code[at + prefix] & 0xf8) != 0x58)
			break;
		at += prefix + 1;
		pops++;
	}
	if (at + 1 < count && (code[at] == 0xf2 || code[at] == 0xf3))
		at++;
	return at < count &&
	       (code[at] == 0xc3 || code[at] == 0xc2 ||
	        (pops > 0 && (code[at] == 0xe9 || code[at] == 0xeb)));
}

bool ppi_is_epilogue(unsigned machine, const unsigned char *bytes, size_t at,
                     size_t count)
{
	return machine == MACHINE_X86_64 &&
	       is_x86_epilogue(bytes + at, count - at);
}

/* A jump through memory, FF /4 of [rip + 32 bits] (Intel SDM, JMP), as in entries of
 * PLTs, with endbr64 or bnd before it; or ret. What a call pushed is last. */
static enum ppi_stub x86_stub(const unsigned char *code, size_t count)
{
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	if (begins(code, count, endbr64, sizeof(endbr64))) {
		code += sizeof(endbr64);
		count -= sizeof(endbr64);
	}
	if (count > 0 && code[0] == 0xf2) {
		code++;
		count--;
	}
	return (count > 0 && code[0] == 0xc3) ||
	                       (count > 1 && code[0] == 0xff && code[1] == 0x25)
		? PPI_STUB_PLAIN : PPI_STUB_NONE;
}

enum ppi_stub ppi_stub(unsigned machine, const unsigned char *bytes, size_t at,
                       size_t count)
{
	switch (machine) {
	case MACHINE_X86_64:
		return x86_stub(bytes + at, count - at);
	case MACHINE_AARCH64:
		return arm64_stub(bytes, at, count);
	default:
		return PPI_STUB_NONE;
	}
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

/* ---- of processes: answers that are kept ---- */

enum question {
	FOLLOWS_CALL = 1,
	IS_EPILOGUE,
	KIND_OF_FIRST,
	KIND_OF_CALLER,
	RETURN_KIND,
	CALL_TARGET,
	FUNCTION_START
};

struct slot {
	uint64_t address, answer;
	uint32_t pid;
	uint8_t question; /* 0 = free */
};

/* Of a return address by way of another, `inner`: places in a file that processes
 * share. */
struct way {
	uint64_t address, inner, called, between;
	uint32_t serial;
	uint8_t found; /* enum ppi_code_between, and 1; 0 = free */
};

/* Searches of all of a program's code; each takes some ms. */
enum { SLOTS = 1 << 10, WAYS = 1 << 8, SEARCHES = 64 };

struct ppi_code_bytes {
	struct slot slots[SLOTS];
	struct way ways[WAYS];
	unsigned searches_left;
};

const size_t ppi_code_bytes_size = sizeof(struct ppi_code_bytes);

struct ppi_code_bytes *ppi_code_bytes_new(void)
{
	struct ppi_code_bytes *bytes = calloc(1, sizeof(*bytes));

	if (bytes)
		bytes->searches_left = SEARCHES;
	return bytes;
}

void ppi_code_bytes_free(struct ppi_code_bytes *bytes)
{
	free(bytes);
}

/* The vdso is the same in all processes, and read from this one: the other may
 * be gone. Then the file is read. */
static size_t read_code(const struct ppi_code_place *place, uint64_t address,
                        unsigned char *bytes, size_t count)
{
	size_t got;

	if (place->extent && ppi_code_map_is_vdso(place->extent))
		return ppi_vdso_read(address + place->extent->shift, bytes,
		                     count);
	got = ppi_process_read(place->pid, address, bytes, count);
	return got || !place->extent
		? got : ppi_code_map_read(place->extent, address, bytes, count);
}

/* The program may be within the system call, or behind it. */
static bool is_in_signal_return(unsigned machine, const unsigned char *at,
                                size_t count)
{
	return ppi_returns_by_signal(machine, at, count) ||
	       ppi_returns_by_signal(machine, at - 4, count + 4) ||
	       ppi_returns_by_signal(machine, at - 8, count + 8);
}

static enum ppi_code_kind kind_of_first(unsigned machine,
                                        const unsigned char *bytes, size_t at,
                                        size_t count)
{
	if (is_in_signal_return(machine, bytes + at, count - at))
		return PPI_CODE_SIGNAL_RETURN;
	switch (ppi_stub(machine, bytes, at, count)) {
	case PPI_STUB_PLAIN:
		return PPI_CODE_STUB;
	case PPI_STUB_PUSHED:
		return PPI_CODE_STUB_PUSHED;
	default:
		return PPI_CODE_OTHER;
	}
}

static uint64_t find(const struct ppi_code_place *place, enum question question)
{
	enum { BEFORE = PPI_STUB_BEFORE, AFTER = PPI_RETURN_AFTER };
	unsigned char bytes[BEFORE + AFTER];
	size_t got = read_code(place, place->address - BEFORE, bytes,
	                       sizeof(bytes));
	unsigned machine = place->machine->elf_machine;
	uint64_t target;

	if (got < BEFORE)
		return question == FOLLOWS_CALL;
	switch (question) {
	case FOLLOWS_CALL:
		return ppi_returns_to(machine, bytes, BEFORE, got);
	case IS_EPILOGUE:
		return ppi_is_epilogue(machine, bytes, BEFORE, got);
	case KIND_OF_FIRST:
		return kind_of_first(machine, bytes, BEFORE, got);
	case RETURN_KIND:
		return ppi_return_kind(machine, bytes, BEFORE, got);
	case CALL_TARGET:
		return ppi_call_target(machine, bytes + BEFORE, BEFORE,
		                       place->address, &target) ? target : 0;
	default:
		return ppi_returns_by_signal(machine, bytes + BEFORE,
		                             got - BEFORE)
			? PPI_CODE_SIGNAL_RETURN : PPI_CODE_OTHER;
	}
}

static uint64_t find_start(const struct ppi_code_place *place)
{
	enum { BEFORE = 1024 };
	unsigned char bytes[BEFORE];
	uint64_t before = place->address - place->extent->start;

	before = before < BEFORE ? before : BEFORE;
	return read_code(place, place->address - before, bytes,
	                 (size_t)before) == before
		? ppi_function_start(place->machine->elf_machine, bytes,
		                     (size_t)before, place->address) : 0;
}

static uint64_t ask(struct ppi_code_bytes *bytes,
                    const struct ppi_code_place *place,
                    enum question question)
{
	uint64_t address = place->address;
	struct slot *slot = &bytes->slots[(address ^ address >> 10 ^
	                                   place->pid ^ question * 257u) %
	                                  SLOTS];

	if (slot->address != address || slot->pid != place->pid ||
	    slot->question != question) {
		slot->address = address;
		slot->pid = place->pid;
		slot->question = (uint8_t)question;
		slot->answer = question == FUNCTION_START
			? find_start(place) : find(place, question);
	}
	return slot->answer;
}

bool ppi_code_follows_call(struct ppi_code_bytes *bytes,
                           const struct ppi_code_place *place)
{
	return ask(bytes, place, FOLLOWS_CALL);
}

bool ppi_code_is_epilogue(struct ppi_code_bytes *bytes,
                          const struct ppi_code_place *place)
{
	return ask(bytes, place, IS_EPILOGUE);
}

enum ppi_code_kind ppi_code_kind_of(struct ppi_code_bytes *bytes,
                                    const struct ppi_code_place *place,
                                    bool is_first)
{
	return (enum ppi_code_kind)ask(bytes, place, is_first ? KIND_OF_FIRST
	                                                      : KIND_OF_CALLER);
}

enum ppi_return ppi_code_return(struct ppi_code_bytes *bytes,
                                const struct ppi_code_place *place)
{
	return (enum ppi_return)ask(bytes, place, RETURN_KIND);
}

uint64_t ppi_code_call_target(struct ppi_code_bytes *bytes,
                              const struct ppi_code_place *place)
{
	return ask(bytes, place, CALL_TARGET);
}

uint64_t ppi_code_function_start(struct ppi_code_bytes *bytes,
                                 const struct ppi_code_place *place)
{
	return ask(bytes, place, FUNCTION_START);
}

/*
 * Go's closures are made where they are used: who calls `switcher` with the
 * function at `named` is who alone has its address.
 */
static uint64_t find_closure(const struct ppi_code_place *place,
                             uint64_t named, uint64_t switcher)
{
	enum { PART = 1 << 16, MOST = 16 << 20 };
	const struct ppi_extent *code = place->extent;
	unsigned machine = place->machine->elf_machine, found = 0;
	const size_t overlap = PPI_NAMED_BEFORE + PPI_NAMED_AFTER - 1;
	size_t got = PART;
	uint64_t returns_to, result = 0;
	unsigned char *bytes = malloc(PART);

	if (!bytes || code->limit - code->start > MOST)
		got = 0;
	for (uint64_t at = code->start; got > overlap && found < 2;
	     at += got - overlap) {
		got = read_code(place, at, bytes, PART);
		if (code->limit - at < got)
			got = (size_t)(code->limit - at);
		found += ppi_find_named(machine, bytes, got, at, named,
		                        switcher, &returns_to);
		result = returns_to ? returns_to : result;
	}
	free(bytes);
	return found == 1 ? result : 0;
}

static uint64_t find_between(struct ppi_code_bytes *bytes,
                             const struct ppi_code_place *place,
                             uint64_t inner_at, uint64_t called_at,
                             enum ppi_code_between *how)
{
	enum { FUNCTION = 8192 };
	struct ppi_code_place inner = *place, called = *place;
	unsigned char code[FUNCTION];
	uint64_t switcher, caller, named, between = 0;

	inner.address = inner_at;
	called.address = called_at;
	*how = PPI_BETWEEN_UNKNOWN;
	switcher = ppi_code_function_start(bytes, &inner);
	if (!switcher)
		return 0;
	caller = ppi_code_call_target(bytes, place);
	if (caller == switcher) {
		*how = PPI_BETWEEN_NONE;
		return 0;
	}
	if (caller)
		between = ppi_one_call(place->machine->elf_machine, code,
		                       read_code(place, caller, code,
		                                 sizeof(code)),
		                       caller, switcher);
	named = between ? 0 : ppi_code_function_start(bytes, &called);
	if (named && bytes->searches_left) {
		bytes->searches_left--;
		between = find_closure(place, named, switcher);
	}
	if (between)
		*how = PPI_BETWEEN_ONE;
	return between;
}

enum ppi_code_between ppi_code_find_between(struct ppi_code_bytes *bytes,
                                            const struct ppi_code_place *place,
                                            uint64_t inner, uint64_t called,
                                            uint64_t *between)
{
	uint64_t shift = place->extent->shift;
	struct way wanted = {
		.address = place->address + shift,
		.inner = inner + shift,
		.called = called + shift,
		.serial = ppi_code_map_serial(place->extent),
	};
	struct way *way = &bytes->ways[(wanted.address ^ wanted.inner ^
	                                wanted.called >> 4 ^ wanted.serial) %
	                               WAYS];
	enum ppi_code_between how;

	if (!way->found || way->address != wanted.address ||
	    way->inner != wanted.inner || way->called != wanted.called ||
	    way->serial != wanted.serial) {
		wanted.between = find_between(bytes, place, inner, called,
		                              &how) + shift;
		wanted.found = (uint8_t)(1 + how);
		*way = wanted;
	}
	*between = way->found - 1 == PPI_BETWEEN_ONE ? way->between - shift : 0;
	return (enum ppi_code_between)(way->found - 1);
}
