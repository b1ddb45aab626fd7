/* SPDX-License-Identifier: MIT */
/* Whether the word of a stack can be a return address: by the instructions in
 * front of it, and by those of this very program. */
#include "config.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/profile/image.h"
#include "api/profile/locations.h"
#include "api/unwind/code_bytes.h"
#include "tests/unit/file_kit.h"

enum { I386 = 3, X86 = 62, ARM = 183, S390 = 22 };

#define CODE(...)                                                   \
	(const unsigned char[]){ __VA_ARGS__ },                     \
		sizeof((const unsigned char[]){ __VA_ARGS__ })

/* `at` bytes stand in front of the address. Assembled by GNU as. */
static const struct {
	const char *words;
	unsigned machine;
	size_t at;
	const unsigned char *bytes;
	size_t count;
	bool can_be;
} cases[] = {
	{ "call rel32", X86, 5, CODE(0xe8, 1, 2, 3, 4, 0x90), true },
	{ "call rel32", I386, 5, CODE(0xe8, 1, 2, 3, 4, 0x90), true },
	{ "call *%rax", X86, 2, CODE(0xff, 0xd0), true },
	{ "call *%r8", X86, 3, CODE(0x41, 0xff, 0xd0), true },
	{ "call *(%rax)", X86, 2, CODE(0xff, 0x10), true },
	{ "call *(%rax,%rbx)", X86, 3, CODE(0xff, 0x14, 0x18), true },
	{ "call *8(%rax)", X86, 3, CODE(0xff, 0x50, 8), true },
	{ "call *8(%rsp)", X86, 4, CODE(0xff, 0x54, 0x24, 8), true },
	{ "call *got(%rip)", X86, 6, CODE(0xff, 0x15, 1, 2, 3, 4), true },
	{ "call *512(%rax)", X86, 6, CODE(0xff, 0x90, 0, 2, 0, 0), true },
	{ "call *512(%rsp)", X86, 7, CODE(0xff, 0x94, 0x24, 0, 2, 0, 0), true },
	{ "jmp rel32", X86, 5, CODE(0xe9, 1, 2, 3, 4, 0x90), false },
	{ "jmp *%rax", X86, 2, CODE(0xff, 0xe0), false },
	{ "push (%rax)", X86, 2, CODE(0xff, 0x30), false },
	{ "ret", X86, 8, CODE(0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3),
	  false },
	{ "nothing", X86, 8, CODE(0, 0, 0, 0, 0, 0, 0, 0), false },
	{ "a signal handler's", X86, 8,
	  CODE(0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0x48, 0xc7, 0xc0, 0x0f, 0,
	       0, 0, 0x0f, 0x05), true },
	{ "a goroutine's", X86, 1, CODE(0x90, 0xe8, 1, 2, 3, 4), true },
	{ "a goroutine's, without the call", X86, 1, CODE(0x90, 0x90), false },
	{ "bl", ARM, 4, CODE(1, 0, 0, 0x94), true },
	{ "blr x8", ARM, 4, CODE(0, 1, 0x3f, 0xd6), true },
	{ "blraaz x8", ARM, 4, CODE(0x1f, 9, 0x3f, 0xd6), true },
	{ "b", ARM, 4, CODE(1, 0, 0, 0x14), false },
	{ "a goroutine's", ARM, 4, CODE(0x1f, 0x20, 3, 0xd5, 1, 0, 0, 0x94),
	  true },
	{ "a goroutine's", ARM, 4, CODE(0xe0, 3, 0, 0xaa, 1, 0, 0, 0x94),
	  true },
	{ "a function behind a nop", ARM, 4,
	  CODE(0x1f, 0x20, 3, 0xd5, 0xfd, 0x7b, 0xbf, 0xa9), false },
	{ "br x8", ARM, 4, CODE(0, 1, 0x1f, 0xd6), false },
	{ "ret", ARM, 4, CODE(0xc0, 0x03, 0x5f, 0xd6), false },
	{ "mov x8, 139; svc", ARM, 4,
	  CODE(0x1f, 0x20, 3, 0xd5, 0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4),
	  true },
	{ "mov x8, 139; ret", ARM, 4,
	  CODE(0, 0, 0, 0, 0x68, 0x11, 0x80, 0xd2, 0xc0, 0x03, 0x5f, 0xd6),
	  false },
	{ "unknown", S390, 4, CODE(1, 2, 3, 4), true },
};

static void instructions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (ppi_returns_to(cases[i].machine, cases[i].bytes,
		                   cases[i].at, cases[i].count) !=
		    cases[i].can_be)
			fail_msg("%s: %d", cases[i].words, cases[i].can_be);
}

/* Entries of PLTs and a veneer as ld 2.40 makes them, and what looks alike:
 * what each of their instructions is. */
static void stubs_of_arm64(void **state)
{
	const enum ppi_stub N = PPI_STUB_NONE, P = PPI_STUB_PLAIN,
			    Q = PPI_STUB_PUSHED;
	const struct {
		const char *words;
		uint32_t code[8];
		size_t count;
		enum ppi_stub wanted[8];
	} stubs[] = {
		{ "entry", { 0xb0000530, 0xf9462a11, 0x91314210, 0xd61f0220 },
		  4, { P, P, P, P } },
		{ "entry with bti and autia1716",
		  { 0xd503245f, 0x90000530, 0xf9462a11, 0x91314210, 0xd503219f,
		    0xd61f0220 },
		  6, { P, P, P, P, P, P } },
		{ "first entry",
		  { 0xa9bf7bf0, 0xb0000530, 0xf9462a11, 0x91314210, 0xd61f0220,
		    0xd503201f, 0xd503201f, 0xd503201f },
		  8, { P, Q, Q, Q, Q, N, N, N } },
		{ "veneer", { 0x90000010, 0x91000210, 0xd61f0200 },
		  3, { P, P, P } },
		{ "another jump", { 0xb0000530, 0xf9462a11, 0xd61f0100 },
		  3, { N, N, N } },
		{ "a function", { 0xb0000530, 0xaa0003e1, 0xd61f0220 },
		  3, { N, N, P } },
		{ "its end is not seen", { 0xb0000530, 0xf9462a11 },
		  2, { N, N } },
	};

	unsigned char code[8 * 4];

	(void)state;
	for (size_t i = 0; i < sizeof(stubs) / sizeof(stubs[0]); i++) {
		/* arm64 has the low byte first, whatever this machine has */
		for (size_t at = 0; at < sizeof(code); at++)
			code[at] = (unsigned char)(stubs[i].code[at / 4] >>
			                           at % 4 * 8);
		for (size_t at = 0; at < stubs[i].count; at++)
			if (ppi_stub(ARM, code, 4 * at, 4 * stubs[i].count) !=
			    stubs[i].wanted[at])
				fail_msg("%s: %zu", stubs[i].words, at);
		assert_int_equal(ppi_stub(X86, code, 0, 16), PPI_STUB_NONE);
	}
}

static void epilogues_of_x86(void **state)
{
	const struct {
		const char *words;
		const unsigned char *bytes;
		size_t count;
		bool is_epilogue;
	} codes[] = {
		{ "ret", CODE(0xc3), true },
		{ "ret 8", CODE(0xc2, 8, 0), true },
		{ "rep ret", CODE(0xf3, 0xc3), true },
		{ "pop rbx; pop r15; bnd ret", CODE(0x5b, 0x41, 0x5f, 0xf2, 0xc3),
		  true },
		{ "pop rbp; jmp", CODE(0x5d, 0xe9, 1, 2, 3, 4), true },
		{ "jmp, of a loop", CODE(0xeb, 0xf0), false },
		{ "pop r12; jmp *rax", CODE(0x41, 0x5c, 0xff, 0xe0), true },
		{ "jmp *rax", CODE(0xff, 0xe0), false },
		{ "pop rbp; mov", CODE(0x5d, 0x48, 0x89, 0xfb, 0xc3), false },
		{ "push r12", CODE(0x41, 0x54, 0xc3), false },
		{ "its end is not seen", CODE(0x5d, 0x41), false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (ppi_is_epilogue(X86, codes[i].bytes, 0, codes[i].count) !=
		    codes[i].is_epilogue)
			fail_msg("%s", codes[i].words);
	assert_false(ppi_is_epilogue(ARM, codes[0].bytes, 0, 1));
	/* its pop is done */
	assert_true(ppi_is_epilogue(X86, (const unsigned char *)"\x5d\xff\xe0",
	                            1, 3));
}

/* What Go 1.19 has behind calls on stacks that are not their callers', and what
 * looks alike. `at` bytes stand in front. */
static void what_follows_a_call_on_another_stack(void **state)
{
	const enum ppi_return P = PPI_RETURN_PLAIN, N = PPI_RETURN_NEVER,
			      B = PPI_RETURN_BACK;
	const struct {
		const char *words;
		size_t at;
		const unsigned char *bytes;
		size_t count;
		enum ppi_return wanted;
	} calls[] = {
		{ "systemstack", 9,
		  CODE(0x48, 0x89, 0xdc, 0x48, 0x89, 0xfa, 0x3f, 0xff, 0xd7,
		       0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff,
		       0x48, 0x8b, 0x58, 0x30, 0x48, 0x8b, 0x60, 0x38, 0xc3,
		       0xcc), B },
		{ "asmcgocall", 9,
		  CODE(0x24, 0x28, 0x48, 0x89, 0xdf, 0x89, 0xd9, 0xff, 0xd0,
		       0x48, 0x8b, 0x7c, 0x24, 0x30, 0x48, 0x89, 0xf4, 0x89,
		       0x44, 0x24, 0x18, 0xc3), B },
		{ "a function that moved a frame's end", 9,
		  CODE(0, 0, 0, 0, 0xe8, 1, 2, 3, 4, 0x48, 0x89, 0xec, 0x5d,
		       0xc3, 0x48, 0x8b, 0x60, 0x38), P },
		{ "a function that loads r12", 9,
		  CODE(0, 0, 0, 0, 0xe8, 1, 2, 3, 4, 0x4c, 0x8b, 0x64, 0x24,
		       0x10, 0xc3), P },
		{ "behind a function", 9,
		  CODE(0, 0, 0, 0, 0xe8, 1, 2, 3, 4, 0xc3, 0x48, 0x8b, 0x60,
		       0x38), P },
		{ "goexit", 9,
		  CODE(0, 0, 0, 0, 0, 0, 0, 0, 0x90, 0xe8, 1, 2, 3, 4), N },
		{ "mcall", 9,
		  CODE(0x66, 0x38, 0x50, 0x4c, 0x8b, 0x22, 0x41, 0xff, 0xd4,
		       0x58, 0xe9, 1, 2, 3, 4, 0xc3, 0xcc, 0xcc), N },
		{ "mcall of another day", 9,
		  CODE(0x66, 0x38, 0x50, 0x4c, 0x8b, 0x22, 0x41, 0xff, 0xd4,
		       0x58, 0x48, 0x8d, 0x05, 1, 2, 3, 4, 0xff, 0xe0), N },
		{ "pop behind a direct call", 9,
		  CODE(0, 0, 0, 0, 0xe8, 1, 2, 3, 4, 0x58, 0xe9, 1, 2, 3, 4,
		       0xc3, 0xcc), P },
		{ "mstart", 9,
		  CODE(0xcc, 0xcc, 0xcc, 0xcc, 0xe8, 1, 2, 3, 4, 0xc3, 0xcc,
		       0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc), N },
		{ "one that does more", 9,
		  CODE(0x48, 0x83, 0xec, 0x08, 0xe8, 1, 2, 3, 4, 0xc3, 0xcc,
		       0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc), P },
		{ "morestack", 9,
		  CODE(0x48, 0x8b, 0x63, 0x38, 0xe8, 1, 2, 3, 4, 0xe8, 5, 6, 7,
		       8, 0xc3, 0xcc, 0xcc), N },
		{ "two calls", 9,
		  CODE(0x48, 0x89, 0xf8, 0x90, 0xe8, 1, 2, 3, 4, 0xe8, 5, 6, 7,
		       8, 0xc3, 0xcc, 0xcc), P },
		{ "nothing", 0, CODE(0x90), P },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (ppi_return_kind(X86, calls[i].bytes, calls[i].at,
		                    calls[i].count) != calls[i].wanted)
			fail_msg("%s: not %d", calls[i].words,
			         calls[i].wanted);
	assert_int_equal(ppi_return_kind(S390, calls[0].bytes, calls[0].at,
	                                 calls[0].count), P);
	assert_int_equal(ppi_return_kind(
		ARM, (const unsigned char[]){ 0x1f, 0x20, 3, 0xd5, 1, 0, 0,
		                              0x94 }, 4, 8), N);
}

/* A function of 24 bytes and room up to 0x1020, then another. */
static void one_call_in_a_function(void **state)
{
	enum { START = 0x1000, CALLEE = 0x2000, BYTES = 64 };
	unsigned char code[BYTES];
	uint64_t target;

	(void)state;
	memset(code, 0x90, sizeof(code));
	memset(code + 24, 0xcc, 8);
	memcpy(code + 8, "\xe8\xf3\x0f\x00\x00", 5); /* at 0x100d */
	memcpy(code + 40, "\xe8\xd3\x0f\x00\x00", 5); /* not its own */
	assert_true(ppi_call_target(X86, code + 13, 13, START + 13, &target));
	assert_int_equal(target, CALLEE);
	assert_false(ppi_call_target(X86, code + 14, 14, START + 14, &target));
	assert_false(ppi_call_target(X86, code + 13, 4, START + 13, &target));
	assert_int_equal(ppi_one_call(X86, code, BYTES, START, CALLEE),
	                 START + 13);
	assert_int_equal(ppi_one_call(X86, code, BYTES, START, CALLEE + 1), 0);
	assert_int_equal(ppi_one_call(ARM, code, BYTES, START, CALLEE), 0);
	/* its end is not seen; the next one begins without any room */
	assert_int_equal(ppi_one_call(X86, code, 20, START, CALLEE), 0);
	memset(code + 24, 0x90, 8);
	assert_int_equal(ppi_one_call(X86, code, BYTES, START, CALLEE), 0);
	memcpy(code + 32, "\x49\x3b\x66\x10", 4);
	assert_int_equal(ppi_one_call(X86, code, BYTES, START, CALLEE),
	                 START + 13);
	/* two, and nobody knows which */
	memcpy(code + 16, "\xe8\xeb\x0f\x00\x00", 5);
	assert_int_equal(ppi_one_call(X86, code, BYTES, START, CALLEE), 0);
	/* the function that a byte is of */
	memset(code, 0xcc, 32);
	assert_int_equal(ppi_function_start(X86, code, 40, START + 40),
	                 START + 32);
	assert_int_equal(ppi_function_start(X86, code, 32, START + 32),
	                 START + 32);
	assert_int_equal(ppi_function_start(X86, code + 32, 8, START + 40), 0);
}

/* lea rax, [rip + ...], which is 0x3000, and soon call 0x2000. */
static void who_names_a_function_and_calls(void **state)
{
	enum { START = 0x1000, CALLEE = 0x2000 };
	unsigned char named[PPI_NAMED_AFTER + 16];
	uint64_t returns_to;

	(void)state;
	memset(named, 0x90, sizeof(named));
	memcpy(named + 4, "\x48\x8d\x05\xf5\x1f\x00\x00", 7);
	memcpy(named + 15, "\xe8\xec\x0f\x00\x00", 5);
	assert_int_equal(ppi_find_named(X86, named, sizeof(named),
	                                START, 0x3000, CALLEE,
	                                &returns_to), 1);
	assert_int_equal(returns_to, START + 20);
	assert_int_equal(ppi_find_named(X86, named, sizeof(named),
	                                START, 0x3000, CALLEE + 16,
	                                &returns_to), 1);
	assert_int_equal(returns_to, 0);
	assert_int_equal(ppi_find_named(X86, named, sizeof(named),
	                                START, 0x3001, CALLEE,
	                                &returns_to), 0);
	assert_int_equal(ppi_find_named(X86, named, PPI_NAMED_AFTER, START,
	                                0x3000, CALLEE, &returns_to),
	                 0);
	/* another call comes first */
	memcpy(named + 11, "\xe8\x00\x01\x00", 4);
	assert_int_equal(ppi_find_named(X86, named, sizeof(named),
	                                START, 0x3000, CALLEE,
	                                &returns_to), 1);
	assert_int_equal(returns_to, 0);
}

/* Nothing in front or behind is read that is not there. */
static void at_the_edge_of_a_file(void **state)
{
	unsigned char *byte = malloc(1);

	(void)state;
	assert_non_null(byte);
	*byte = 0xe8;
	assert_false(ppi_returns_to(X86, byte, 0, 1));
	assert_false(ppi_returns_to(X86, byte, 1, 1));
	assert_true(ppi_returns_to(ARM, byte, 1, 1));
	free(byte);
}

/* ---- this program ---- */

__attribute__((noinline)) static uint64_t return_address(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

/* Offset in the file of an address of this program. */
static uint64_t offset_of(const struct ppi_image *image, uint64_t address)
{
	const struct ppi_image_code *code = &image->code[0];
	uint64_t base;
	Dl_info info;

	assert_true(dladdr((void *)(uintptr_t)address, &info));
	base = (uint64_t)(uintptr_t)info.dli_fbase;
	if (code->address >= base)
		base = 0; /* linked to where it lies */
	return address - base - code->address + code->offset;
}

static size_t bytes_of(const char *hex, char *bytes, size_t room)
{
	size_t count = 0;

	while (count < room && hex[2 * count] &&
	       sscanf(hex + 2 * count, "%2hhx",
	              (unsigned char *)&bytes[count]) == 1)
		count++;
	return count;
}

static size_t depth_of(const portprof_profile *profile, uint32_t pid)
{
	for (size_t i = 0; i < portprof_profile_sample_count(profile); i++)
		if (portprof_profile_sample_get(profile, i)->pid == pid)
			return portprof_profile_sample_get(profile, i)->depth;
	return 0;
}

static void a_chain_ends_where_no_call_is(void **state)
{
	enum { START = 0x100000, BYTES = 0x1000000 };
	char id[PORTPROF_BUILD_ID_BYTES + 1] = "", path[4096];
	uint64_t called = return_address();
	struct ppi_image image;
	portprof_profile *profile;
	struct file_kit kit;
	uint64_t chain[3];

	(void)state;
	if (!realpath("/proc/self/exe", path) ||
	    ppi_image_read(path, &image, NULL) != PORTPROF_OK ||
	    (image.machine != X86 && image.machine != ARM) ||
	    bytes_of(image.build_id, id, sizeof(id) - 1) == 0 ||
	    2 * strlen(id) != strlen(image.build_id)) {
		print_message("skip: no build-id that can be written here\n");
		skip();
	}
	chain[0] = START;
	chain[1] = START + offset_of(&image, called);
	chain[2] = START + offset_of(&image,
	                             (uint64_t)(uintptr_t)return_address);
	kit_begin(&kit, 1);
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	kit_module(&kit, 100, START, BYTES, 0, path, id);
	kit_chain(&kit, 0, 100, 100, chain, 3, 1, 5);
	/* another build of it, and a file of which nothing is known */
	kit_module(&kit, 101, START, BYTES, 0, path, "\1\2");
	kit_chain(&kit, 0, 101, 101, chain, 3, 1, 7);
	kit_module(&kit, 102, START, BYTES, 0, path, "");
	kit_chain(&kit, 0, 102, 102, chain, 3, 1, 9);
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	profile = kit_read(&kit);
	assert_int_equal(depth_of(profile, 100), 2);
	assert_int_equal(depth_of(profile, 101), 3);
	assert_int_equal(depth_of(profile, 102), 3);
	portprof_profile_free(profile);
	kit_end(&kit);
}

#ifdef __x86_64__
/* As the C library's restore_rt, behind another function. */
__asm__(".text\n"
	".type before_return, @function\n"
	"before_return: ret\n"
	".size before_return, . - before_return\n"
	".type signal_return, @function\n"
	"signal_return: mov $15, %rax\n"
	"syscall\n"
	".size signal_return, . - signal_return\n");
extern const char signal_return[];

/* Callers lie one before their return address, in the call; but none calls
 * what a signal handler returns to. */
static void a_signal_handler_returns_to_the_first_byte(void **state)
{
	enum { START = 0x100000, BYTES = 0x1000000 };
	const portprof_profile_sample *sample;
	char id[PORTPROF_BUILD_ID_BYTES + 1] = "", path[4096];
	struct ppi_image image;
	portprof_profile *profile;
	struct file_kit kit;
	uint64_t chain[2] = { START }, seen;

	(void)state;
	if (!realpath("/proc/self/exe", path) ||
	    ppi_image_read(path, &image, NULL) != PORTPROF_OK ||
	    bytes_of(image.build_id, id, sizeof(id) - 1) == 0 ||
	    2 * strlen(id) != strlen(image.build_id)) {
		print_message("skip: no build-id that can be written here\n");
		skip();
	}
	chain[1] = START + offset_of(&image,
	                             (uint64_t)(uintptr_t)signal_return);
	kit_begin(&kit, 1);
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	kit_module(&kit, 100, START, BYTES, 0, path, id);
	kit_chain(&kit, 0, 100, 100, chain, 2, 1, 5);
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	profile = kit_read(&kit);
	sample = portprof_profile_sample_get(profile, 0);
	assert_int_equal(sample->depth, 2);
	seen = portprof_profile_location_get(profile, sample->locations[1])
		       ->address;
	assert_int_equal(seen, chain[1]);
	portprof_profile_free(profile);
	kit_end(&kit);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions),
		cmocka_unit_test(stubs_of_arm64),
		cmocka_unit_test(epilogues_of_x86),
		cmocka_unit_test(what_follows_a_call_on_another_stack),
		cmocka_unit_test(one_call_in_a_function),
		cmocka_unit_test(who_names_a_function_and_calls),
		cmocka_unit_test(at_the_edge_of_a_file),
		cmocka_unit_test(a_chain_ends_where_no_call_is),
#ifdef __x86_64__
		cmocka_unit_test(a_signal_handler_returns_to_the_first_byte),
#endif
	};

	return cmocka_run_group_tests_name("file_returns", tests, NULL, NULL);
}
