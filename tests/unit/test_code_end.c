/* SPDX-License-Identifier: MIT */
/* What functions have left to do, by their code: assembled by GNU as, and as
 * compilers and linkers write it. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/unwind/code_bytes.h"
#include "api/unwind/code_end.h"

enum { X86 = 62, ARM = 183, S390 = 22 };
enum { KEPT = PPI_END_KEPT, LOST = PPI_END_LOST };
enum { UNKNOWN = PPI_END_UNKNOWN, STACK = PPI_END_BY_STACK,
       POINTER = PPI_END_BY_POINTER };

#define CODE(...)                                                   \
	(const unsigned char[]){ __VA_ARGS__ },                     \
		sizeof((const unsigned char[]){ __VA_ARGS__ })

/* All code lies at an address that 16 divides. */
static void wants(const char *words, struct ppi_code_end end, unsigned kind,
                  unsigned count, unsigned ra, unsigned fp, unsigned lost)
{
	if (end.kind != kind ||
	    (kind == STACK && (end.words != count || end.ra != ra ||
	                       end.fp != fp || end.lost != lost)))
		fail_msg("%s: kind %u, %u words, ra %u, fp %u, lost %#x", words,
		         end.kind, end.words, end.ra, end.fp, end.lost);
}

static struct ppi_code_end find(unsigned machine, const unsigned char *bytes,
                                size_t count, size_t at)
{
	return ppi_find_end(machine, bytes, at, count, 0x1000 + at, false);
}

/* Each instruction of crti.o's _init and of crtbegin.o's __do_global_dtors_aux, which
 * have no tables. */
static void functions_of_the_c_runtime(void **state)
{
	static const unsigned char init[] = {
		0x48, 0x83, 0xec, 0x08,                   /* sub rsp, 8 */
		0x48, 0x8b, 0x05, 0xbd, 0xaf, 0x01, 0x00, /* mov rax, [rip] */
		0x48, 0x85, 0xc0,                         /* test rax, rax */
		0x74, 0x02,                               /* je 12 */
		0xff, 0xd0,                               /* call *rax */
		0x48, 0x83, 0xc4, 0x08,                   /* add rsp, 8 */
		0xc3
	}, dtors[] = {
		0xf3, 0x0f, 0x1e, 0xfa,                   /* endbr64 */
		0x80, 0x3d, 0x34, 0x12, 0x00, 0x00, 0x00, /* cmpb [rip], 0 */
		0x75, 0x1d,                               /* jne 2a */
		0x55,                                     /* push rbp */
		0x48, 0x83, 0x3d, 0x34, 0x12, 0x00, 0x00, 0x00,
		0x48, 0x89, 0xe5,                         /* mov rbp, rsp */
		0x74, 0x06,                               /* je 21 */
		0x67, 0xe8, 0x0a, 0x05, 0x00, 0x00,       /* addr32 call */
		0xc6, 0x05, 0x34, 0x12, 0x00, 0x00, 0x01, /* movb [rip], 1 */
		0x5d, 0xc3, 0xc3                          /* pop rbp; ret */
	};
	static const struct {
		unsigned char at, words, fp;
	} rows[] = { { 0, 0, 0 }, { 4, 0, 0 }, { 11, 0, 0 }, { 13, 0, 0 },
		     { 14, 1, 0 }, { 22, 1, 0 }, { 25, 1, 0 }, { 27, 1, 0 },
		     { 33, 1, 0 }, { 40, 1, 0 }, { 41, 0, 0 }, { 42, 0, 0 } };
	const unsigned char in_init[] = { 0, 4, 11, 14, 16, 18, 22 };

	(void)state;
	for (size_t i = 0; i < sizeof(in_init); i++) {
		unsigned at = in_init[i], deep = at > 0 && at < 22;

		wants("_init", find(X86, init, sizeof(init), at), STACK,
		      1 + deep, deep, KEPT, 0);
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		wants("__do_global_dtors_aux",
		      find(X86, dtors, sizeof(dtors), rows[i].at), STACK,
		      1 + rows[i].words, rows[i].words,
		      rows[i].words ? 0 : KEPT, 0);
}

static void ends_of_x86(void **state)
{
	const struct {
		const char *words;
		const unsigned char *bytes;
		size_t count;
		unsigned kind, deep, fp, lost;
	} codes[] = {
		{ "ret", CODE(0xc3), STACK, 0, KEPT, 0 },
		{ "bnd ret", CODE(0xf2, 0xc3), STACK, 0, KEPT, 0 },
		{ "pop rbp; ret", CODE(0x5d, 0xc3), STACK, 1, 0, 0 },
		{ "add rsp, 24; pop rbx; pop rbp; pop r13; ret",
		  CODE(0x48, 0x83, 0xc4, 24, 0x5b, 0x5d, 0x41, 0x5d, 0xc3),
		  STACK, 6, 4, 1 << 2 | 1 << 4 },
		{ "add rsp, 1024; ret",
		  CODE(0x48, 0x81, 0xc4, 0, 4, 0, 0, 0xc3), STACK, 128, KEPT, 0 },
		{ "sub rsp, -128; ret", CODE(0x48, 0x83, 0xec, 0x80, 0xc3), STACK,
		  16, KEPT, 0 },
		{ "add rsp, 12; ret", CODE(0x48, 0x83, 0xc4, 12, 0xc3), UNKNOWN,
		  0, 0, 0 },
		{ "sub rsp, 8; ret", CODE(0x48, 0x83, 0xec, 8, 0xc3), UNKNOWN, 0,
		  0, 0 },
		{ "add rsp, 256 MiB; ret",
		  CODE(0x48, 0x81, 0xc4, 0, 0, 0, 16, 0xc3), UNKNOWN, 0, 0, 0 },
		{ "leave; ret", CODE(0xc9, 0xc3), POINTER, 0, 0, 0 },
		{ "mov rsp, rbp; pop rbp; ret", CODE(0x48, 0x89, 0xec, 0x5d, 0xc3),
		  POINTER, 0, 0, 0 },
		{ "push rbp; mov rbp, rsp; and rsp, -32; leave; ret",
		  CODE(0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xe0, 0xc9, 0xc3),
		  STACK, 0, KEPT, 0 },
		{ "mov rsp, [rdi]; ret", CODE(0x48, 0x8b, 0x27, 0xc3), UNKNOWN, 0,
		  0, 0 },
		{ "push rax; ret", CODE(0x50, 0xc3), UNKNOWN, 0, 0, 0 },
		{ "mov [rsp], rax; ret", CODE(0x48, 0x89, 0x04, 0x24, 0xc3),
		  UNKNOWN, 0, 0, 0 },
		{ "mov [rsp + 16], rbp; mov rbp, rdi; mov rbp, [rsp + 16]; "
		  "add rsp, 24; ret",
		  CODE(0x48, 0x89, 0x6c, 0x24, 16, 0x48, 0x89, 0xfd, 0x48, 0x8b,
		       0x6c, 0x24, 16, 0x48, 0x83, 0xc4, 24, 0xc3),
		  STACK, 3, KEPT, 0 },
		{ "mov rbp, rdi; ret", CODE(0x48, 0x89, 0xfd, 0xc3), STACK, 0,
		  LOST, 0 },
		{ "mov bl, al; mov bh, al; ret", CODE(0x88, 0xc3, 0x88, 0xc7, 0xc3),
		  STACK, 0, KEPT, 1 << 2 },
		{ "cpuid; ret", CODE(0x0f, 0xa2, 0xc3), STACK, 0, KEPT, 1 << 2 },
		{ "movabs r12, 5DC3; pop r12; ret",
		  CODE(0x49, 0xbc, 0x5d, 0xc3, 0, 0, 0, 0, 0, 0, 0x41, 0x5c, 0xc3),
		  STACK, 1, KEPT, 1 << 3 },
		{ "vpaddd ymm5, ymm4, ymm5; vzeroupper; ret",
		  CODE(0xc5, 0xdd, 0xfe, 0xed, 0xc5, 0xf8, 0x77, 0xc3), STACK, 0,
		  KEPT, 0 },
		{ "jmp [rip + 32 bits]", CODE(0xff, 0x25, 1, 2, 3, 4), STACK, 0,
		  KEPT, 0 },
		{ "jmp *rax", CODE(0xff, 0xe0, 0xc3), UNKNOWN, 0, 0, 0 },
		{ "ud2; ret", CODE(0x0f, 0x0b, 0xc3), UNKNOWN, 0, 0, 0 },
		{ "jmp over pop; pop rax; ret", CODE(0xeb, 1, 0x58, 0xc3), STACK,
		  0, KEPT, 0 },
		{ "test; je over pop; pop rax; ret, which cannot be",
		  CODE(0x85, 0xc0, 0x74, 1, 0x58, 0xc3), UNKNOWN, 0, 0, 0 },
		{ "a loop; pop rbx; ret", CODE(0xff, 0xc8, 0x75, 0xfc, 0x5b, 0xc3),
		  STACK, 1, KEPT, 1 << 2 },
		{ "its end is not seen", CODE(0x48, 0x83, 0xc4, 8), UNKNOWN, 0, 0,
		  0 },
		{ "nor that of an instruction", CODE(0x48, 0x83), UNKNOWN, 0, 0,
		  0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		wants(codes[i].words,
		      find(X86, codes[i].bytes, codes[i].count, 0),
		      codes[i].kind, 1 + codes[i].deep, codes[i].deep,
		      codes[i].fp, codes[i].lost);
	wants("another machine", find(S390, codes[0].bytes, 1, 0), UNKNOWN, 0, 0,
	      0, 0);
}

/* Behind a call that does not return lies another function. */
static void calls_may_not_return(void **state)
{
	static const unsigned char padded[] = {
		0xff, 0xd0, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, /* call; nop */
		0x0f, 0x1f, 0x44, 0, 0, 0xc3
	}, next[] = {
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
		0xe8, 1, 2, 3, 4, 0x55, 0x5d, 0xc3
	}, branch[] = {
		0x74, 0x02, 0xff, 0xd0, 0x5b, 0xc3 /* je 4; call; pop rbx; ret */
	}, either[] = {
		0x74, 0x04, 0xff, 0xd0, 0x5b, 0xc3, 0x58, 0x5b, 0xc3
	};

	(void)state;
	wants("nops up to the next function",
	      find(X86, padded, sizeof(padded), 0), UNKNOWN, 0, 0, 0, 0);
	wants("the next function at once", find(X86, next, sizeof(next), 11),
	      UNKNOWN, 0, 0, 0, 0);
	wants("it is returned to",
	      ppi_find_end(X86, next, 16, sizeof(next), 0x1010, true), UNKNOWN, 0,
	      0, 0, 0);
	wants("it returns", find(X86, branch, sizeof(branch), 0), STACK, 2, 1,
	      KEPT, 1 << 2);
	wants("the way without a call is right",
	      find(X86, either, sizeof(either), 0), STACK, 3, 2, KEPT, 1 << 2);
}

/* Between a PLT's pushes for the dynamic linker. */
static void entries_of_a_plt_have_pushed(void **state)
{
	static const unsigned char first[] = {
		0xff, 0x35, 1, 2, 3, 4, 0xff, 0x25, 1, 2, 3, 4, 0x0f, 0x1f, 0x40,
		0
	}, lazy[] = {
		0xff, 0x25, 1, 2, 3, 4, 0x68, 1, 0, 0, 0, 0xe9, 0xe0, 0xff, 0xff,
		0xff
	}, ibt[] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0x68, 1, 0, 0, 0, 0xf2, 0xe9, 0xe1, 0xff,
		0xff, 0xff, 0x90
	}, sec[] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 1, 2, 3, 4
	};
	const struct {
		const unsigned char *bytes;
		size_t at;
		unsigned pushed;
	} rows[] = { { first, 0, 1 }, { first, 6, 2 }, { lazy, 0, 0 },
		     { lazy, 6, 0 }, { lazy, 11, 1 }, { ibt, 0, 0 },
		     { ibt, 4, 0 }, { ibt, 9, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		wants("an entry", find(X86, rows[i].bytes, 16, rows[i].at), STACK,
		      1 + rows[i].pushed, rows[i].pushed, KEPT, 0);
	for (size_t at = 0; at <= 5; at += at ? 1 : 4)
		wants("a second part", find(X86, sec, sizeof(sec), at), STACK, 1,
		      0, KEPT, 0);
}

static void put_words(unsigned char *bytes, const uint32_t *words, size_t count)
{
	/* arm64 has the low byte first, whatever this machine has */
	for (size_t at = 0; at < 4 * count; at++)
		bytes[at] = (unsigned char)(words[at / 4] >> at % 4 * 8);
}

static void ends_of_arm64(void **state)
{
	const struct {
		const char *words;
		uint32_t code[8];
		size_t count, at;
		unsigned kind, up, ra, fp, lost;
	} codes[] = {
#define INIT { 0xa9bf7bfd, 0x910003fd, 0x97fffffe, 0xa8c17bfd, 0xd65f03c0 }
		{ "stp x29, x30, [sp, -16]!", INIT, 5, 0, STACK, 0, KEPT, KEPT,
		  0 },
		{ "mov x29, sp", INIT, 5, 1, STACK, 2, 1, 0, 0 },
		{ "bl", INIT, 5, 2, STACK, 2, 1, 0, 0 },
		{ "ldp x29, x30, [sp], 16", INIT, 5, 3, STACK, 2, 1, 0, 0 },
		{ "ret", INIT, 5, 4, STACK, 0, KEPT, KEPT, 0 },
#define LEAF { 0xb40000c0, 0xd10083ff, 0xf9000bfe, 0xf94007f3, 0xf9400bfe, \
	       0x910083ff, 0xd65f03c0 }
		{ "cbz x0 to ret", LEAF, 7, 0, STACK, 0, KEPT, KEPT, 1 << 2 },
		{ "str x30, [sp, 16]", LEAF, 7, 2, STACK, 4, KEPT, KEPT, 1 << 2 },
		{ "ldr x19, [sp, 8]", LEAF, 7, 3, STACK, 4, 2, KEPT, 1 << 2 },
		{ "add sp, sp, 32", LEAF, 7, 5, STACK, 4, KEPT, KEPT, 0 },
		{ "mov sp, x29; ldp x29, x30, [sp], 32; autiasp; ret",
		  { 0x910003bf, 0xa8c27bfd, 0xd50323bf, 0xd65f03c0 }, 4, 0,
		  POINTER, 0, 0, 0, 0 },
		{ "ldp x29, x30, [sp], 32; retaa", { 0xa8c27bfd, 0xd65f0bff }, 2,
		  0, STACK, 4, 1, 0, 0 },
		{ "blr x1; ret", { 0xd63f0020, 0xd65f03c0 }, 2, 0, UNKNOWN, 0, 0,
		  0, 0 },
		{ "br x1", { 0xd61f0020, 0xd65f03c0 }, 2, 0, UNKNOWN, 0, 0, 0,
		  0 },
		{ "ret x1", { 0xd65f0020 }, 1, 0, UNKNOWN, 0, 0, 0, 0 },
		{ "sub sp, sp, x0; ret", { 0xcb2063ff, 0xd65f03c0 }, 2, 0,
		  UNKNOWN, 0, 0, 0, 0 },
		{ "brk; ret", { 0xd4200000, 0xd65f03c0 }, 2, 0, UNKNOWN, 0, 0, 0,
		  0 },
		{ "ldr d8, [sp], 16; ret", { 0xfc4107e8, 0xd65f03c0 }, 2, 0,
		  STACK, 2, KEPT, KEPT, 0 },
		{ "mov x28, x0; ret", { 0xaa0003fc, 0xd65f03c0 }, 2, 0, STACK, 0,
		  KEPT, KEPT, 1 << 11 },
		{ "b over udf; ret", { 0x14000002, 0, 0xd65f03c0 }, 3, 0, STACK,
		  0, KEPT, KEPT, 0 },
		{ "bl; stp x29, x30, [sp, -16]!; ldp; ret",
		  { 0x97fffffe, 0xa9bf7bfd, 0xa8c17bfd, 0xd65f03c0 }, 4, 0,
		  UNKNOWN, 0, 0, 0, 0 },
	};
	unsigned char bytes[8 * 4];

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		put_words(bytes, codes[i].code, codes[i].count);
		wants(codes[i].words,
		      find(ARM, bytes, 4 * codes[i].count, 4 * codes[i].at),
		      codes[i].kind, codes[i].up, codes[i].ra, codes[i].fp,
		      codes[i].lost);
	}
}

static bool keeps(unsigned machine, const unsigned char *code, size_t count)
{
	struct ppi_pointer_use use = { 0, 0 };

	ppi_count_pointers(machine, code, count, &use);
	return ppi_keeps_pointers(&use);
}

/* Code of which nobody knows whether it has frame pointers is taken to have them. */
static void code_has_frame_pointers_or_not(void **state)
{
	enum { FUNCTIONS = 16, PART = 16 };
	static const unsigned char frame[] = { 0x55, 0x48, 0x89, 0xe5 },
	                           go[] = { 0x48, 0x89, 0x6c, 0x24, 8,
		                            0x48, 0x8d, 0x6c, 0x24, 8 },
	                           local[] = { 0x48, 0x89, 0x5c, 0x24, 8,
		                               0x48, 0x8d, 0x6c, 0x24, 8 };
	unsigned char code[FUNCTIONS * PART];
	const uint32_t arm64[] = { 0x910003fd, 0xd65f03c0, 0xd503201f,
		                   0xd503201f };

	(void)state;
	memset(code, 0x90, sizeof(code));
	for (size_t i = 0; i < FUNCTIONS; i++)
		code[i * PART + PART - 1] = 0xc3;
	assert_false(keeps(X86, code, sizeof(code)));
	assert_true(keeps(X86, code, 4 * PART));
	memcpy(code, local, sizeof(local));
	memcpy(code + PART, frame, sizeof(frame));
	assert_false(keeps(X86, code, sizeof(code)));
	memcpy(code + 2 * PART, go, sizeof(go));
	assert_true(keeps(X86, code, sizeof(code)));
	for (size_t i = 0; i < FUNCTIONS; i++)
		put_words(code + i * PART, arm64 + (i >= 2), 3);
	assert_true(keeps(ARM, code, sizeof(code)));
	put_words(code, arm64 + 1, 3);
	assert_false(keeps(ARM, code, sizeof(code)));
}

/* The mark of the outermost function, in code that has no frame pointers. */
static void stacks_begin_with_a_call(void **state)
{
	static const unsigned char xor[] = { 0x31, 0xed, 0x58, 0xff, 0xd0 },
	                           loader[] = { 0x48, 0x89, 0xe7, 0xe8, 1, 2, 3,
		                                4 },
	                           plain[] = { 0x31, 0xc0, 0x58, 0xff, 0xd0 };
	const uint32_t arm64[] = { 0xd280001d, 0xd280001e, 0x94000000,
		                   0xd503201f };
	unsigned char code[16];

	(void)state;
	assert_true(ppi_begins_stack(X86, xor, sizeof(xor)));
	assert_true(ppi_begins_stack(X86, loader, sizeof(loader)));
	assert_false(ppi_begins_stack(X86, plain, sizeof(plain)));
	put_words(code, arm64, 4);
	assert_true(ppi_begins_stack(ARM, code, 12));
	put_words(code, arm64 + 1, 3);
	assert_false(ppi_begins_stack(ARM, code, 8));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_the_c_runtime),
		cmocka_unit_test(ends_of_x86),
		cmocka_unit_test(calls_may_not_return),
		cmocka_unit_test(entries_of_a_plt_have_pushed),
		cmocka_unit_test(ends_of_arm64),
		cmocka_unit_test(code_has_frame_pointers_or_not),
		cmocka_unit_test(stacks_begin_with_a_call),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("code_end", tests, NULL, NULL);
}
