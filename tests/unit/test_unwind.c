/* SPDX-License-Identifier: MIT */
/* Stacks unwound by tables that were written by hand: each rule, each end. */
#include "config.h"

#include <portprof.h>

#include "api/core/session.h"
#include "api/unwind/unwind.h"
#include "tests/unit/unwind_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A process that is not: its files are found by their paths. */
enum { NOBODY = 0x7fffffff, CHILD = 0x7ffffffe };

#define BASE UINT64_C(0x550000000000)
#define STACK UINT64_C(0x7ffc00001000)
#define PROGRAM(bytes) (bytes), sizeof(bytes) - 1

static const struct kit_function x86[] = {
	/* leaf: push rbp after 4 bytes */
	{ 0x1000, 0x1040, false,
	  PROGRAM("\x44\x0e\x10\x86\x02") },
	/* next: 32 bytes of frame throughout */
	{ 0x1040, 0x1080, false, PROGRAM("\x0e\x20") },
	/* first: no caller */
	{ 0x1080, 0x10c0, false, PROGRAM("\x07\x10") },
	/* restorer: CFA = *(rsp + 40), pc = *(rsp + 16), all by expression */
	{ 0x10c0, 0x10e0, true,
	  PROGRAM("\x0f\x03\x77\x28\x06"
	          "\x10\x10\x02\x77\x10"
	          "\x10\x07\x02\x77\x28") },
	/* a PLT's: rsp + 8 + 8 * (pc % 16 >= 11) */
	{ 0x1100, 0x1140, false,
	  PROGRAM("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22") },
	/* realigned: CFA = *(rbp - 8); rbp itself at rbp */
	{ 0x1140, 0x1180, false,
	  PROGRAM("\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00") },
	/* by rbx, which the callee may have saved */
	{ 0x1180, 0x11c0, false, PROGRAM("\x0c\x03\x20") },
	/* saves rbx, at CFA - 16 */
	{ 0x11c0, 0x1200, false, PROGRAM("\x0e\x10\x83\x02") },
	/* keeps a frame pointer */
	{ 0x1200, 0x1240, false, PROGRAM("\x0c\x06\x10\x86\x02") },
	/* has popped rbx, which was at CFA - 16 */
	{ 0x1240, 0x1280, false, PROGRAM("\x83\x02") },
};

struct stage {
	struct ppi_unwinder *unwinder;
	char *path;
	struct ppi_registers registers;
	uint64_t words[64];
	struct ppi_stack stack;
	uint64_t chain[32];
	size_t depth;
	enum portprof_chain_end end;
};

static void note_module(struct ppi_unwinder *unwinder, uint32_t pid,
                        uint64_t start, uint64_t bytes, uint64_t offset,
                        const char *path)
{
	uint64_t words[700];
	portprof_record record = {
		.kind = PORTPROF_RECORD_MODULE,
		.valid = PORTPROF_FIELD_PID,
		.pid = pid,
		.address = start,
		.span = bytes,
	};
	struct ppi_room room = { &record, 1, 0, words, 700, 0 };

	assert_true(ppi_room_add_module(&room, &record, offset, NULL, 0,
	                                path));
	ppi_unwinder_note(unwinder,
	                  &(portprof_batch){ &record, 1, words,
	                                     room.word_count,
	                                     sizeof(portprof_record) },
	                  &record);
}

static void set_register(struct stage *stage, unsigned number, uint64_t value)
{
	stage->registers.value[number] = value;
	stage->registers.known |= UINT64_C(1) << number;
}

static void begin_on(struct stage *stage, const struct ppi_machine *machine,
                     unsigned elf_machine,
                     const struct kit_function *functions, size_t count)
{
	memset(stage, 0, sizeof(*stage));
	stage->unwinder = ppi_unwinder_new(machine);
	assert_non_null(stage->unwinder);
	stage->path = kit_file(elf_machine, functions, count);
	note_module(stage->unwinder, NOBODY, BASE + KIT_TEXT, KIT_TEXT_BYTES,
	            KIT_TEXT, stage->path);
	stage->stack = (struct ppi_stack){
		.bytes = (unsigned char *)stage->words,
		.start = STACK,
		.size = sizeof(stage->words),
	};
	set_register(stage, machine->sp, STACK);
}

static void begin(struct stage *stage)
{
	if (ppi_unwinder_has_tables(NULL) == false)
		skip();
	begin_on(stage, &ppi_machine_x86_64, KIT_X86_64, x86,
	         sizeof(x86) / sizeof(x86[0]));
}

static void walk(struct stage *stage, uint64_t pc, size_t room)
{
	const struct ppi_machine *machine = &ppi_machine_x86_64;

	if (stage->registers.known >> 31 & 1)
		machine = &ppi_machine_arm64;
	set_register(stage, machine->pc, pc);
	stage->depth = ppi_unwinder_walk(stage->unwinder, NOBODY,
	                                 &stage->registers, &stage->stack,
	                                 stage->chain, room, &stage->end);
}

static void end(struct stage *stage)
{
	ppi_unwinder_free(stage->unwinder);
	unlink(stage->path);
	free(stage->path);
}

#define assert_chain(stage, ...)                                            \
	do {                                                                \
		const uint64_t wanted[] = { __VA_ARGS__ };                  \
		assert_int_equal((stage)->depth,                            \
		                 sizeof(wanted) / sizeof(wanted[0]));       \
		assert_memory_equal((stage)->chain, wanted, sizeof(wanted)); \
	} while (0)

static void whole_chains_end_where_no_caller_is(void **state)
{
	struct stage s;

	(void)state;
	begin(&s);
	s.words[0] = BASE + 0x1050; /* leaf before its push */
	s.words[4] = BASE + 0x1090;
	walk(&s, BASE + 0x1000, 32);
	assert_chain(&s, BASE + 0x1000, BASE + 0x1050, BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	end(&s);
}

/* Each row of a table begins with its first byte. */
static void rows_begin_at_their_first_byte(void **state)
{
	struct stage s;

	(void)state;
	begin(&s);
	s.words[0] = BASE + 0x1090;
	walk(&s, BASE + 0x1003, 32);
	assert_chain(&s, BASE + 0x1003, BASE + 0x1090);
	s.words[0] = 0; /* rbp */
	s.words[1] = BASE + 0x10a0;
	walk(&s, BASE + 0x1004, 32);
	assert_chain(&s, BASE + 0x1004, BASE + 0x10a0);
	walk(&s, BASE + 0x103f, 32);
	assert_chain(&s, BASE + 0x103f, BASE + 0x10a0);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	end(&s);
}

/* A function whose last instruction is a call returns to the next one's first
 * byte. */
static void callers_are_looked_up_at_their_call(void **state)
{
	struct stage s;

	(void)state;
	begin(&s);
	s.words[3] = BASE + 0x1040; /* called by leaf, in its last row */
	s.words[5] = BASE + 0x1090;
	walk(&s, BASE + 0x1048, 32);
	assert_chain(&s, BASE + 0x1048, BASE + 0x1040, BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	end(&s);
}

/* What a signal interrupted was at that very byte, on any stack. */
static void signals_interrupt_at_the_byte(void **state)
{
	struct stage s;

	(void)state;
	begin(&s);
	s.words[0] = BASE + 0x10c0 + 1; /* the handler returns to it */
	s.words[1 + 2] = BASE + 0x1040; /* pc */
	s.words[1 + 5] = STACK + 8 * 10; /* sp */
	s.words[13] = BASE + 0x1090;
	walk(&s, BASE + 0x1000, 32);
	assert_chain(&s, BASE + 0x1000, BASE + 0x10c2, BASE + 0x1041,
	             BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	/* down again: the handler has a stack of its own */
	s.words[10] = BASE + 0x10c1;
	s.words[11 + 2] = BASE + 0x1040;
	s.words[11 + 5] = STACK;
	s.words[3] = BASE + 0x1090;
	set_register(&s, 7, STACK + 80);
	s.stack.start = STACK;
	walk(&s, BASE + 0x1000, 32);
	assert_chain(&s, BASE + 0x1000, BASE + 0x10c2, BASE + 0x1041,
	             BASE + 0x1090);
	end(&s);
}

/* A copy of the stack below belongs to the frame that names its beginning. */
static void handlers_have_callers_on_another_stack(void **state)
{
	uint64_t below[8] = { [3] = BASE + 0x1050, [7] = BASE + 0x1090 };
	struct ppi_stack interrupted = {
		.bytes = (unsigned char *)below,
		.start = STACK + (UINT64_C(1) << 32),
		.size = sizeof(below),
		.is_all = true,
	};
	struct stage s;

	(void)state;
	begin(&s);
	s.words[0] = BASE + 0x10c0 + 1;
	s.words[1 + 2] = BASE + 0x1040;
	s.words[1 + 5] = interrupted.start;
	s.stack.is_all = true;
	s.stack.interrupted = &interrupted;
	walk(&s, BASE + 0x1000, 32);
	assert_chain(&s, BASE + 0x1000, BASE + 0x10c2, BASE + 0x1041,
	             BASE + 0x1050, BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	interrupted.size = 32;
	walk(&s, BASE + 0x1000, 32);
	assert_int_equal(s.depth, 4);
	assert_int_equal(s.end, PORTPROF_CHAIN_OUTSIDE);
	interrupted.is_all = false;
	walk(&s, BASE + 0x1000, 32);
	assert_int_equal(s.end, PORTPROF_CHAIN_COPY_SHORT);
	/* one that the frame does not name, and one without a signal */
	interrupted.size = sizeof(below);
	s.words[1 + 5] = interrupted.start + 8;
	walk(&s, BASE + 0x1000, 32);
	assert_chain(&s, BASE + 0x1000, BASE + 0x10c2, BASE + 0x1041);
	assert_int_equal(s.end, PORTPROF_CHAIN_OUTSIDE);
	set_register(&s, 6, interrupted.start);
	below[1] = BASE + 0x1f90;
	walk(&s, BASE + 0x1f80, 32);
	assert_chain(&s, BASE + 0x1f80);
	end(&s);
}

static void expressions_are_evaluated(void **state)
{
	struct stage s;

	(void)state;
	begin(&s);
	s.words[0] = BASE + 0x1090;
	walk(&s, BASE + 0x110a, 32);
	assert_chain(&s, BASE + 0x110a, BASE + 0x1090);
	s.words[0] = 7;
	s.words[1] = BASE + 0x1090;
	walk(&s, BASE + 0x110b, 32);
	assert_chain(&s, BASE + 0x110b, BASE + 0x1090);
	/* a CFA that was put on the stack */
	set_register(&s, 6, STACK + 8 * 5);
	s.words[4] = STACK + 8 * 9;
	s.words[8] = BASE + 0x1050;
	s.words[12] = BASE + 0x1090;
	walk(&s, BASE + 0x1150, 32);
	assert_chain(&s, BASE + 0x1150, BASE + 0x1050, BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	end(&s);
}

static void saved_registers_come_back(void **state)
{
	struct stage s;

	(void)state;
	begin(&s);
	set_register(&s, 3, 0x1234);
	s.words[0] = STACK + 16;        /* rbx */
	s.words[1] = BASE + 0x1190;     /* the caller's CFA is rbx + 32 */
	s.words[5] = BASE + 0x1090;
	walk(&s, BASE + 0x11d0, 32);
	assert_chain(&s, BASE + 0x11d0, BASE + 0x1190, BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	end(&s);
}

/* In the program's file, whose offsets are its addresses. */
static void put_code(const struct stage *s, long at, const char *code,
                     size_t count)
{
	FILE *file = fopen(s->path, "r+");

	assert_non_null(file);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	assert_int_equal(fwrite(code, 1, count, file), count);
	assert_int_equal(fclose(file), 0);
}

/* Where an epilogue has popped a register, tables go on to say where it was; a leaf
 * that saved it in the red zone may have changed it. */
static void popped_registers_are_the_callers(void **state)
{
	struct stage s;

	(void)state;
	begin(&s);
	put_code(&s, 0x1250, "\x5d\x41\x5c\xc3", 4); /* pop rbp; pop r12; ret */
	put_code(&s, 0x1260, "\x48\x89\xfb\xc3", 4); /* mov rbx, rdi; ret */
	set_register(&s, 3, STACK + 16);
	s.words[0] = BASE + 0x1190;
	s.words[5] = BASE + 0x1090;
	walk(&s, BASE + 0x1250, 32);
	assert_chain(&s, BASE + 0x1250, BASE + 0x1190, BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	walk(&s, BASE + 0x1260, 32);
	assert_chain(&s, BASE + 0x1260, BASE + 0x1190);
	assert_int_equal(s.end, PORTPROF_CHAIN_NO_RULE);
	end(&s);
}

static void cut_chains_say_why(void **state)
{
	struct stage s;

	(void)state;
	begin(&s);
	/* the copy is too short, or the stack is */
	s.words[0] = BASE + 0x1050;
	s.stack.size = 8;
	walk(&s, BASE + 0x1000, 32);
	assert_chain(&s, BASE + 0x1000, BASE + 0x1050);
	assert_int_equal(s.end, PORTPROF_CHAIN_COPY_SHORT);
	s.stack.is_all = true;
	walk(&s, BASE + 0x1000, 32);
	assert_int_equal(s.end, PORTPROF_CHAIN_OUTSIDE);
	s.stack.is_all = false;
	s.stack.size = sizeof(s.words);
	/* no table, no frame pointer */
	walk(&s, BASE + 0x1fff, 32);
	assert_chain(&s, BASE + 0x1fff);
	assert_int_equal(s.end, PORTPROF_CHAIN_NO_RULE);
	/* as deep as was asked for */
	s.words[4] = BASE + 0x1090;
	walk(&s, BASE + 0x1000, 2);
	assert_chain(&s, BASE + 0x1000, BASE + 0x1050);
	assert_int_equal(s.end, PORTPROF_CHAIN_DEPTH);
	/* a frame pointer of this stack led to one of another, or to none */
	set_register(&s, 6, STACK + 8 * 2);
	s.words[2] = STACK - 4096;
	s.words[3] = BASE + 0x1f90;
	walk(&s, BASE + 0x1f80, 32);
	assert_chain(&s, BASE + 0x1f80, BASE + 0x1f90);
	assert_int_equal(s.end, PORTPROF_CHAIN_OUTSIDE);
	s.words[2] = 12345;
	walk(&s, BASE + 0x1f80, 32);
	assert_int_equal(s.end, PORTPROF_CHAIN_NO_RULE);
	/* a frame pointer that leads past the copy, and a value that is none */
	set_register(&s, 6, STACK + (1 << 20));
	walk(&s, BASE + 0x1f80, 32);
	assert_int_equal(s.end, PORTPROF_CHAIN_COPY_SHORT);
	set_register(&s, 6, 0x457be9d8b44590f8);
	walk(&s, BASE + 0x1f80, 32);
	assert_chain(&s, BASE + 0x1f80);
	assert_int_equal(s.end, PORTPROF_CHAIN_NO_RULE);
	/* a register that nobody knows */
	s.registers.known &= ~(UINT64_C(1) << 3);
	walk(&s, BASE + 0x1190, 32);
	assert_chain(&s, BASE + 0x1190);
	assert_int_equal(s.end, PORTPROF_CHAIN_NO_RULE);
	end(&s);
}

static void junk_is_no_caller(void **state)
{
	struct stage s;

	(void)state;
	begin(&s);
	s.words[0] = UINT64_C(0xffffbbb4ffffbc2b);
	walk(&s, BASE + 0x1000, 32);
	assert_chain(&s, BASE + 0x1000);
	assert_int_equal(s.end, PORTPROF_CHAIN_JUNK);
	s.words[0] = STACK + 64;
	walk(&s, BASE + 0x1000, 32);
	assert_chain(&s, BASE + 0x1000);
	assert_int_equal(s.end, PORTPROF_CHAIN_JUNK);
	/* a frame below the one before it */
	set_register(&s, 3, STACK + 8 - 32);
	set_register(&s, 7, STACK + 64);
	s.words[0] = BASE + 0x1050;
	s.stack.start = STACK;
	walk(&s, BASE + 0x1190, 32);
	assert_chain(&s, BASE + 0x1190);
	assert_int_equal(s.end, PORTPROF_CHAIN_JUNK);
	end(&s);
}

/* Nothing is known of other processes' code. */
static void processes_have_their_own_code(void **state)
{
	struct stage s;
	portprof_record fork = { .kind = PORTPROF_RECORD_FORK, .pid = CHILD,
		                 .tid = CHILD, .address = NOBODY };
	portprof_batch none = { &fork, 1, NULL, 0, sizeof(portprof_record) };

	(void)state;
	begin(&s);
	s.words[0] = BASE + 0x1090;
	set_register(&s, 16, BASE + 0x1000);
	s.depth = ppi_unwinder_walk(s.unwinder, CHILD, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000);
	ppi_unwinder_note(s.unwinder, &none, &fork);
	s.depth = ppi_unwinder_walk(s.unwinder, CHILD, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000, BASE + 0x1090);
	/* something else is mapped over the caller */
	note_module(s.unwinder, CHILD, BASE + 0x1000, 0x1000, 0, "//anon");
	s.depth = ppi_unwinder_walk(s.unwinder, CHILD, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000);
	walk(&s, BASE + 0x1000, 32);
	assert_chain(&s, BASE + 0x1000, BASE + 0x1090);
	end(&s);
}

/* Chains through two files, the second of which lies at `more`, and room for the tables
 * of none. */
static char *begin_in_two(struct stage *s, uint64_t more)
{
	char *other = kit_file(KIT_X86_64, x86, sizeof(x86) / sizeof(x86[0]));

	begin(s);
	note_module(s->unwinder, NOBODY, more + KIT_TEXT, KIT_TEXT_BYTES,
	            KIT_TEXT, other);
	s->words[0] = more + 0x1050;
	s->words[4] = BASE + 0x1050;
	s->words[8] = more + 0x1090;
	s->unwinder->code.table_bytes_most = 1;
	return other;
}

/* What is open at a time is bounded in bytes; what is wanted is open all the same. */
static void tables_are_opened_again(void **state)
{
	const uint64_t more = 2 * BASE;
	struct ppi_unwinder_stats stats;
	struct stage s;
	char *other;
	size_t one;

	(void)state;
	other = begin_in_two(&s, more);
	s.unwinder->code.in_use_bytes_most = 1;
	walk(&s, BASE + 0x1000, 32);
	assert_chain(&s, BASE + 0x1000, more + 0x1050, BASE + 0x1050,
	             more + 0x1090);
	ppi_unwinder_stats_get(s.unwinder, &stats);
	assert_int_equal(stats.modules, 4);
	one = s.unwinder->code.table_bytes;
	assert_true(one > 0);
	/* there is room for both: one is open */
	s.unwinder->code.table_bytes_most = 2 * one;
	walk(&s, BASE + 0x1000, 32);
	walk(&s, BASE + 0x1000, 32);
	assert_chain(&s, BASE + 0x1000, more + 0x1050, BASE + 0x1050,
	             more + 0x1090);
	ppi_unwinder_stats_get(s.unwinder, &stats);
	assert_int_equal(stats.modules, 5);
	assert_int_equal(s.unwinder->code.table_bytes, 2 * one);
	unlink(other);
	free(other);
	end(&s);
}

/* A table above the bound beside another: both are read once while samples go through
 * both, and one is closed when it was not asked for lately. */
static void tables_in_use_stay_open_together(void **state)
{
	const uint64_t more = 2 * BASE;
	struct ppi_unwinder_stats stats;
	struct stage s;
	char *other, *third;

	(void)state;
	other = begin_in_two(&s, more);
	for (unsigned i = 0; i < 100; i++)
		walk(&s, BASE + 0x1000, 32);
	ppi_unwinder_stats_get(s.unwinder, &stats);
	assert_int_equal(stats.modules, 2);
	s.unwinder->code.in_use_asked = 1;
	third = kit_file(KIT_X86_64, x86, sizeof(x86) / sizeof(x86[0]));
	note_module(s.unwinder, NOBODY, 3 * BASE + KIT_TEXT, KIT_TEXT_BYTES,
	            KIT_TEXT, third);
	walk(&s, 3 * BASE + 0x1000, 32);
	ppi_unwinder_stats_get(s.unwinder, &stats);
	assert_true(stats.modules > 3);
	unlink(third);
	free(third);
	unlink(other);
	free(other);
	end(&s);
}

/* A program of 80 MiB, code first and tables last, of which a process has these
 * parts, and nobody the file any more. False where code may not be mapped. */
static bool map_large(char **code, char **path)
{
	enum { TABLE_AT = KIT_TEXT + KIT_TEXT_BYTES };
	const size_t far = 80 << 20;
	Elf64_Phdr segments[3];
	Elf64_Ehdr header;
	char *image, deleted[] = " (deleted)";
	size_t size;
	int fd;

	image = kit_image(KIT_X86_64, x86, sizeof(x86) / sizeof(x86[0]), &size);
	memcpy(&header, image, sizeof(header));
	memcpy(segments, image + header.e_phoff, 2 * sizeof(segments[0]));
	segments[2] = segments[0];
	segments[0].p_filesz = segments[0].p_memsz = TABLE_AT;
	segments[2].p_flags = PF_R;
	segments[2].p_offset = far + TABLE_AT;
	segments[2].p_vaddr = TABLE_AT;
	segments[2].p_filesz = segments[2].p_memsz = size - TABLE_AT;
	segments[1].p_offset += far;
	header.e_phnum = 3;
	memcpy(image, &header, sizeof(header));
	memcpy(image + header.e_phoff, segments, sizeof(segments));
	*path = calloc(1, 64);
	assert_non_null(*path);
	strcpy(*path, "/tmp/portprof-large.XXXXXX");
	fd = mkstemp(*path);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, image, TABLE_AT, 0), TABLE_AT);
	assert_int_equal(pwrite(fd, image + TABLE_AT, size - TABLE_AT,
	                        (off_t)(far + TABLE_AT)), size - TABLE_AT);
	*code = mmap(NULL, TABLE_AT, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(mmap(NULL, size - TABLE_AT, PROT_READ, MAP_PRIVATE,
	                          fd, (off_t)(far + TABLE_AT)), MAP_FAILED);
	close(fd);
	unlink(*path);
	strcat(*path, deleted);
	free(image);
	return *code != MAP_FAILED;
}

/* Tables that only the process has are read there, and nothing else of it. */
static void a_large_program_may_be_deleted(void **state)
{
	uint32_t pid = (uint32_t)getpid();
	struct stage s;
	char *code, *path;
	uint64_t at;

	(void)state;
	begin(&s);
	if (!map_large(&code, &path))
		skip();
	at = (uint64_t)(uintptr_t)code;
	note_module(s.unwinder, pid, at + KIT_TEXT, KIT_TEXT_BYTES, KIT_TEXT,
	            path);
	s.words[0] = at + 0x1050;
	s.words[4] = at + 0x1090;
	set_register(&s, 16, at + 0x1000);
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, at + 0x1000, at + 0x1050, at + 0x1090);
	assert_in_range(s.unwinder->code.table_bytes, 1, 1 << 16);
	free(path);
	end(&s);
}

/* By frame pointers through code that has no tables, and back. */
static void chains_are_mixed(void **state)
{
	static const unsigned char call[] = { 0xe8, 0, 0, 0, 0, 0x90 };
	uint32_t pid = (uint32_t)getpid();
	struct stage s;
	unsigned char *code;
	uint64_t at;

	(void)state;
	begin(&s);
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(code, MAP_FAILED);
	at = (uint64_t)(uintptr_t)code;
	memcpy(code + 100, call, sizeof(call));
	note_module(s.unwinder, pid, at, 4096, 0, "//anon");
	note_module(s.unwinder, pid, BASE + KIT_TEXT, KIT_TEXT_BYTES,
	            KIT_TEXT, s.path);
	/* leaf, called by code made at run time, called by next */
	s.words[0] = at + 105;
	set_register(&s, 6, STACK + 24);
	s.words[3] = STACK + 128;
	s.words[4] = at + 105;
	s.words[16] = 0;
	s.words[17] = BASE + 0x1090;
	set_register(&s, 16, BASE + 0x1000);
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000, at + 105, at + 105, BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	/* no call precedes it: an interpreter that was made pushed it, where the
	 * frame pointer leads on to a frame of code */
	s.words[4] = at + 106;
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000, at + 105, at + 106, BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	s.words[17] = 0x1234;
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000, at + 105);
	assert_int_equal(s.end, PORTPROF_CHAIN_JUNK);
	s.words[17] = BASE + 0x1090;
	s.words[3] = STACK + 16; /* it leads back */
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000, at + 105);
	assert_int_equal(s.end, PORTPROF_CHAIN_JUNK);
	s.words[3] = STACK + 128;
	/* the frame pointer is 0: the ABI's mark */
	set_register(&s, 6, 0);
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000, at + 105);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	munmap(code, 4096);
	end(&s);
}

/* A function that no table and no frame pointer describes is left by its end: words
 * are taken off the stack, and perhaps the frame pointer; then it returns. */
static void functions_end_where_they_are_returned_to(void **state)
{
	static const unsigned char trampoline[] = {
		0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, /* call *rcx */
		0x48, 0x83, 0xc4, 0x08, 0xc3        /* add rsp, 8; ret */
	}, pops[] = {
		0xff, 0xd1, 0x48, 0x83, 0xc4, 0x10, /* call *rcx; add rsp, 16 */
		0x5b, 0x5d, 0xc3                    /* pop rbx; pop rbp; ret */
	}, goes_on[] = {
		0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0x90, 0xc3
	};
	uint32_t pid = (uint32_t)getpid();
	struct stage s;
	unsigned char *code;
	uint64_t at;

	(void)state;
	begin(&s);
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(code, MAP_FAILED);
	at = (uint64_t)(uintptr_t)code;
	memcpy(code + 0x100, trampoline, sizeof(trampoline));
	memcpy(code + 0x200, pops, sizeof(pops));
	memcpy(code + 0x300, goes_on, sizeof(goes_on));
	note_module(s.unwinder, pid, at, 4096, 0, "//anon");
	note_module(s.unwinder, pid, BASE + KIT_TEXT, KIT_TEXT_BYTES,
	            KIT_TEXT, s.path);
	/* leaf, called by the trampoline, called by what pops, called by first;
	 * rbp is 0 there by chance, and is no mark of the outermost */
	set_register(&s, 6, 0);
	s.words[0] = at + 0x106;
	s.words[2] = at + 0x202;
	s.words[6] = 0x1234;
	s.words[7] = BASE + 0x1090;
	set_register(&s, 16, BASE + 0x1000);
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000, at + 0x106, at + 0x202, BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	/* it is the leaf, at its end */
	s.words[1] = at + 0x202;
	s.words[5] = 0x1234;
	s.words[6] = BASE + 0x1090;
	set_register(&s, 16, at + 0x106);
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, at + 0x106, at + 0x202, BASE + 0x1090);
	/* that word is on no copy */
	s.stack.size = 16;
	s.words[0] = at + 0x106;
	set_register(&s, 16, BASE + 0x1000);
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000, at + 0x106);
	assert_int_equal(s.end, PORTPROF_CHAIN_COPY_SHORT);
	s.stack.size = sizeof(s.words);
	/* something else is left to do as well */
	s.words[0] = at + 0x302;
	s.words[2] = BASE + 0x1090;
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000, at + 0x302, BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	/* that is no caller, and the frame pointer is the mark of the outermost */
	s.words[2] = 0x1234;
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000, at + 0x302);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	munmap(code, 4096);
	end(&s);
}

/* Where functions have no frame pointers, the register has something else: what it
 * points to is no frame, and that it is 0 marks nothing, but where a stack begins. */
static void registers_may_be_no_frame_pointers(void **state)
{
	enum { LEAF = 0x100, FIRST = 0x202, OTHERWISE = 0x302 };
	static const unsigned char jump[] = { 0xff, 0xe0 }, /* jmp *rax */
	        call[] = { 0xff, 0xd0, 0xff, 0xe0 },         /* call *rax */
	        begin_here[] = { 0x31, 0xed, 0xff, 0xd0, 0xff, 0xe0 };
	uint32_t pid = (uint32_t)getpid();
	struct stage s;
	unsigned char *code;
	uint64_t at;

	(void)state;
	begin(&s);
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(code, MAP_FAILED);
	at = (uint64_t)(uintptr_t)code;
	memcpy(code + LEAF, jump, sizeof(jump));
	memcpy(code + FIRST - 4, begin_here, sizeof(begin_here));
	memcpy(code + OTHERWISE - 2, call, sizeof(call));
	memset(code + 0x800, 0xc3, 16); /* functions without a frame */
	note_module(s.unwinder, pid, at, 4096, 0, "/none/musl");
	note_module(s.unwinder, pid, BASE + KIT_TEXT, KIT_TEXT_BYTES,
	            KIT_TEXT, s.path);
	set_register(&s, 6, STACK + 24);
	s.words[3] = STACK + 128;
	s.words[4] = BASE + 0x1090;
	set_register(&s, 16, at + LEAF);
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, at + LEAF);
	assert_int_equal(s.end, PORTPROF_CHAIN_NO_RULE);
	set_register(&s, 6, 0);
	set_register(&s, 16, BASE + 0x1000);
	s.words[0] = at + OTHERWISE;
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000, at + OTHERWISE);
	assert_int_equal(s.end, PORTPROF_CHAIN_NO_RULE);
	s.words[0] = at + FIRST;
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000, at + FIRST);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	munmap(code, 4096);
	end(&s);
}

/* ---- past the copy ---- */

/* Code of a page: calls, and where they return to. */
enum {
	SWITCHER = 0x100, ON_OTHER = 0x112, /* call *rdi; back to the first stack */
	CALLER = 0x200, BETWEEN = 0x20d,    /* calls SWITCHER */
	OUTER = 0x305,                      /* calls CALLER */
	PLAIN = 0x405, ROOT = 0x505, INDIRECT = 0x602,
	DIRECT = 0x705,                     /* calls SWITCHER */
	CLOSURE = 0x800,
	MAKER = 0x910                       /* makes it, calls SWITCHER */
};

static void put_call(unsigned char *code, int returns_to, int callee)
{
	int32_t distance = callee - returns_to;

	code[returns_to - 5] = 0xe8;
	memcpy(code + returns_to - 4, &distance, sizeof(distance));
}

static unsigned char *make_code(struct stage *s, uint64_t *at)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static const unsigned char back[] = { 0xff, 0xd7, 0x48, 0x8b, 0x60,
		                              0x38, 0xc3 };
	static const unsigned char lea[] = { 0x48, 0x8d, 0x05, 0xf9, 0xfe, 0xff,
		                             0xff };

	assert_ptr_not_equal(code, MAP_FAILED);
	memset(code, 0xcc, 4096);
	memset(code + SWITCHER, 0x90, ON_OTHER - SWITCHER);
	memcpy(code + ON_OTHER - 2, back, sizeof(back));
	memset(code + CALLER, 0x90, 24);
	put_call(code, BETWEEN, SWITCHER);
	put_call(code, OUTER, CALLER);
	put_call(code, PLAIN, CLOSURE);
	memset(code + PLAIN, 0x90, 8);
	put_call(code, ROOT, CLOSURE);
	code[ROOT] = 0xc3;
	code[INDIRECT - 2] = 0xff;
	code[INDIRECT - 1] = 0xd0;
	put_call(code, DIRECT, SWITCHER);
	memset(code + CLOSURE, 0x90, 32);
	*at = (uint64_t)(uintptr_t)code;
	memcpy(code + MAKER - 16, lea, sizeof(lea));
	put_call(code, MAKER, SWITCHER);
	/* of a program without tables: Go's runtime changes stacks, code that is
	 * made while a program runs does not */
	note_module(s->unwinder, (uint32_t)getpid(), *at, 4096, 0, "/none/go");
	note_module(s->unwinder, (uint32_t)getpid(), BASE + KIT_TEXT,
	            KIT_TEXT_BYTES, KIT_TEXT, s->path);
	return code;
}

static unsigned char *begin_in_code(struct stage *s, uint64_t *at)
{
	begin(s);
	return make_code(s, at);
}

static void end_in_code(struct stage *s, unsigned char *code)
{
	munmap(code, 4096);
	end(s);
}

/* From a frame of the copy, which returns to `first` and leads to `pointer`. */
static void walk_past(struct stage *s, uint64_t pc, uint64_t pointer,
                      size_t room, const uint64_t *callers, size_t count)
{
	set_register(s, 16, pc);
	set_register(s, 6, STACK + 24);
	s->words[3] = pointer;
	s->words[4] = callers[0];
	s->stack.callers = callers;
	s->stack.caller_count = count;
	s->depth = ppi_unwinder_walk(s->unwinder, (uint32_t)getpid(),
	                             &s->registers, &s->stack, s->chain, room,
	                             &s->end);
}

#define PAST(s, pc, pointer, room, ...)                                   \
	do {                                                              \
		const uint64_t callers[] = { __VA_ARGS__ };               \
		walk_past(s, pc, pointer, room, callers,                  \
		          sizeof(callers) / sizeof(callers[0]));          \
	} while (0)

#define ABOVE (STACK + 65536)
#define ELSEWHERE (STACK - 65536)

/* The kernel read more of the stack than it copied. */
static void frame_pointers_lead_past_the_copy(void **state)
{
	struct stage s;
	unsigned char *code;
	uint64_t at;

	(void)state;
	code = begin_in_code(&s, &at);
	PAST(&s, at + CLOSURE, ABOVE, 32, at + PLAIN, at + PLAIN, at + ROOT);
	assert_chain(&s, at + CLOSURE, at + PLAIN, at + PLAIN, at + ROOT);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	/* not where the beginning comes */
	PAST(&s, at + CLOSURE, ABOVE, 32, at + PLAIN, at + PLAIN);
	assert_chain(&s, at + CLOSURE, at + PLAIN, at + PLAIN);
	assert_int_equal(s.end, PORTPROF_CHAIN_COPY_SHORT);
	PAST(&s, at + CLOSURE, ABOVE, 3, at + PLAIN, at + PLAIN, at + ROOT);
	assert_chain(&s, at + CLOSURE, at + PLAIN, at + PLAIN);
	assert_int_equal(s.end, PORTPROF_CHAIN_DEPTH);
	/* what follows no call */
	PAST(&s, at + CLOSURE, ABOVE, 32, at + PLAIN, at + PLAIN + 1, at + ROOT);
	assert_chain(&s, at + CLOSURE, at + PLAIN);
	assert_int_equal(s.end, PORTPROF_CHAIN_JUNK);
	/* tables say who keeps a frame pointer */
	PAST(&s, at + CLOSURE, ABOVE, 32, at + PLAIN, BASE + 0x1210,
	     BASE + 0x1050, at + ROOT);
	assert_chain(&s, at + CLOSURE, at + PLAIN, BASE + 0x1210,
	             BASE + 0x1050);
	assert_int_equal(s.end, PORTPROF_CHAIN_COPY_SHORT);
	PAST(&s, at + CLOSURE, ABOVE, 32, at + PLAIN, BASE + 0x1090, at + ROOT);
	assert_chain(&s, at + CLOSURE, at + PLAIN, BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	/* the copy is all that there was of this stack */
	s.stack.is_all = true;
	PAST(&s, at + CLOSURE, ABOVE, 32, at + PLAIN, at + PLAIN, at + ROOT);
	assert_chain(&s, at + CLOSURE, at + PLAIN);
	assert_int_equal(s.end, PORTPROF_CHAIN_OUTSIDE);
	end_in_code(&s, code);
}

/* It went another way, or does not say where. */
static void no_other_way_is_gone(void **state)
{
	struct stage s;
	unsigned char *code;
	uint64_t at, callers[3];

	(void)state;
	code = begin_in_code(&s, &at);
	callers[0] = at + OUTER;
	callers[1] = at + PLAIN;
	callers[2] = at + ROOT;
	walk_past(&s, at + CLOSURE, ABOVE, 32, callers, 3);
	assert_int_equal(s.depth, 4);
	s.words[4] = at + PLAIN;
	s.depth = ppi_unwinder_walk(s.unwinder, (uint32_t)getpid(),
	                            &s.registers, &s.stack, s.chain, 32,
	                            &s.end);
	assert_chain(&s, at + CLOSURE, at + PLAIN);
	assert_int_equal(s.end, PORTPROF_CHAIN_COPY_SHORT);
	/* it began with another frame pointer than the tables found */
	s.words[3] = STACK + 48; /* of 0x1200's */
	s.words[4] = BASE + 0x1210;
	s.words[6] = ABOVE;
	s.words[7] = at + PLAIN;
	set_register(&s, 6, STACK + 64);
	s.words[0] = STACK + 24;
	s.words[1] = at + PLAIN;
	set_register(&s, 16, BASE + 0x1004);
	s.depth = ppi_unwinder_walk(s.unwinder, (uint32_t)getpid(),
	                            &s.registers, &s.stack, s.chain, 32,
	                            &s.end);
	assert_chain(&s, BASE + 0x1004, at + PLAIN, BASE + 0x1210, at + PLAIN);
	assert_int_equal(s.end, PORTPROF_CHAIN_COPY_SHORT);
	s.stack.callers = NULL;
	s.stack.caller_count = 0;
	end_in_code(&s, code);
}

/* To another stack only from a function that has changed it, and past the function
 * called that, which is found by its code or told as missing. */
static void stacks_are_changed_by_functions_that_do(void **state)
{
	struct stage s;
	unsigned char *code;
	uint64_t at;

	(void)state;
	code = begin_in_code(&s, &at);
	PAST(&s, at + PLAIN, ELSEWHERE, 32, at + PLAIN, at + OUTER, at + ROOT);
	assert_chain(&s, at + PLAIN, at + PLAIN);
	assert_int_equal(s.end, PORTPROF_CHAIN_OUTSIDE);
	PAST(&s, at + PLAIN, ELSEWHERE, 32, at + ON_OTHER, at + OUTER,
	     at + ROOT);
	assert_chain(&s, at + PLAIN, at + ON_OTHER, at + BETWEEN, at + OUTER,
	             at + ROOT);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	PAST(&s, at + PLAIN, ELSEWHERE, 3, at + ON_OTHER, at + OUTER, at + ROOT);
	assert_chain(&s, at + PLAIN, at + ON_OTHER, at + BETWEEN);
	assert_int_equal(s.end, PORTPROF_CHAIN_DEPTH);
	/* the kernel did not read it */
	PAST(&s, at + PLAIN, ELSEWHERE, 32, at + ON_OTHER);
	assert_chain(&s, at + PLAIN, at + ON_OTHER);
	assert_int_equal(s.end, PORTPROF_CHAIN_OUTSIDE);
	/* it has a frame of its own there */
	PAST(&s, at + PLAIN, ELSEWHERE, 32, at + ON_OTHER, at + DIRECT,
	     at + ROOT);
	assert_chain(&s, at + PLAIN, at + ON_OTHER, at + DIRECT, at + ROOT);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	/* a call that does not say whom it called; but who made a closure did */
	PAST(&s, at + PLAIN, ELSEWHERE, 32, at + ON_OTHER, at + INDIRECT,
	     at + ROOT);
	assert_chain(&s, at + PLAIN, at + ON_OTHER, at + INDIRECT, at + ROOT);
	assert_int_equal(s.end, PORTPROF_CHAIN_LEAVES_OUT);
	PAST(&s, at + CLOSURE + 8, ELSEWHERE, 32, at + ON_OTHER, at + INDIRECT,
	     at + ROOT);
	assert_chain(&s, at + CLOSURE + 8, at + ON_OTHER, at + MAKER,
	             at + INDIRECT, at + ROOT);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	end_in_code(&s, code);
}

/* The same within the copy, where the other stack lies near. */
static void stacks_may_lie_in_one_copy(void **state)
{
	struct stage s;
	unsigned char *code;
	uint64_t at;

	(void)state;
	code = begin_in_code(&s, &at);
	s.words[20] = STACK + 30 * 8;
	s.words[21] = at + OUTER;
	s.words[31] = at + ROOT;
	PAST(&s, at + PLAIN, STACK + 20 * 8, 32, at + ON_OTHER);
	assert_chain(&s, at + PLAIN, at + ON_OTHER, at + BETWEEN, at + OUTER,
	             at + ROOT);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	PAST(&s, at + PLAIN, STACK + 20 * 8, 3, at + ON_OTHER);
	assert_chain(&s, at + PLAIN, at + ON_OTHER, at + BETWEEN);
	assert_int_equal(s.end, PORTPROF_CHAIN_DEPTH);
	s.words[21] = at + INDIRECT;
	PAST(&s, at + PLAIN, STACK + 20 * 8, 32, at + ON_OTHER);
	assert_chain(&s, at + PLAIN, at + ON_OTHER, at + INDIRECT, at + ROOT);
	assert_int_equal(s.end, PORTPROF_CHAIN_LEAVES_OUT);
	end_in_code(&s, code);
}

/* A function without a frame has its caller's frame pointer. */
static void callers_of_functions_without_frames(void **state)
{
	struct stage s;
	unsigned char *code;
	uint64_t at;

	(void)state;
	code = begin_in_code(&s, &at);
	s.words[0] = at + PLAIN; /* calls CLOSURE */
	PAST(&s, at + CLOSURE + 8, ABOVE, 32, at + OUTER, at + ROOT);
	assert_chain(&s, at + CLOSURE + 8, at + PLAIN, at + OUTER, at + ROOT);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	/* it has one, and the word is of a call before */
	PAST(&s, at + CLOSURE + 8, ABOVE, 32, at + PLAIN, at + ROOT);
	assert_chain(&s, at + CLOSURE + 8, at + PLAIN, at + ROOT);
	/* the word is of a call of something else, or of none */
	s.words[0] = at + OUTER;
	PAST(&s, at + CLOSURE + 8, ABOVE, 32, at + DIRECT, at + ROOT);
	assert_chain(&s, at + CLOSURE + 8, at + DIRECT, at + ROOT);
	s.words[0] = at + PLAIN + 1;
	PAST(&s, at + CLOSURE + 8, ABOVE, 32, at + DIRECT, at + ROOT);
	assert_chain(&s, at + CLOSURE + 8, at + DIRECT, at + ROOT);
	/* an indirect one: whose the frame pointer is shows who has none */
	s.words[0] = at + INDIRECT;
	PAST(&s, at + CLOSURE + 8, ABOVE, 32, at + OUTER, at + ROOT);
	assert_chain(&s, at + CLOSURE + 8, at + INDIRECT, at + OUTER,
	             at + ROOT);
	PAST(&s, at + CLOSURE + 8, ABOVE, 32, at + INDIRECT, at + ROOT);
	assert_chain(&s, at + CLOSURE + 8, at + INDIRECT, at + ROOT);
	/* it is about to return */
	code[CLOSURE + 9] = 0xc3;
	PAST(&s, at + CLOSURE + 9, ABOVE, 32, at + INDIRECT, at + ROOT);
	assert_chain(&s, at + CLOSURE + 9, at + INDIRECT, at + INDIRECT,
	             at + ROOT);
	/* where it begins is not seen: both must say it */
	memset(code + CLOSURE, 0x90, 2048);
	s.words[0] = at + PLAIN;
	PAST(&s, at + CLOSURE + 1200, ABOVE, 32, at + OUTER, at + ROOT);
	assert_chain(&s, at + CLOSURE + 1200, at + PLAIN, at + OUTER,
	             at + ROOT);
	PAST(&s, at + CLOSURE + 1200, ABOVE, 32, at + INDIRECT, at + ROOT);
	assert_chain(&s, at + CLOSURE + 1200, at + INDIRECT, at + ROOT);
	end_in_code(&s, code);
}

/* No record says that code was made: it is looked for where a chain comes to
 * it. */
static void code_made_meanwhile_is_found(void **state)
{
	static const unsigned char call[] = { 0xe8, 0, 0, 0, 0, 0x90 };
	uint32_t pid = (uint32_t)getpid();
	struct stage s;
	unsigned char *code;
	uint64_t at;

	(void)state;
	begin(&s);
	/* where x86-64 has it, on other machines as well */
	code = mmap((void *)(uintptr_t)0x20000000, 4096,
	            PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(code, MAP_FAILED);
	at = (uint64_t)(uintptr_t)code;
	memcpy(code + 100, call, sizeof(call));
	assert_int_equal(mprotect(code, 4096, PROT_READ | PROT_EXEC), 0);
	note_module(s.unwinder, pid, BASE + KIT_TEXT, KIT_TEXT_BYTES,
	            KIT_TEXT, s.path);
	s.words[0] = at + 105;
	set_register(&s, 6, STACK + 24);
	s.words[3] = STACK + 128;
	s.words[4] = at + 105;
	s.words[16] = 0;
	s.words[17] = BASE + 0x1090;
	set_register(&s, 16, BASE + 0x1000);
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000, at + 105, at + 105, BASE + 0x1090);
	/* memory that may not be executed is none */
	s.words[4] = (uint64_t)(uintptr_t)s.words;
	s.depth = ppi_unwinder_walk(s.unwinder, pid, &s.registers, &s.stack,
	                            s.chain, 32, &s.end);
	assert_chain(&s, BASE + 0x1000, at + 105);
	assert_int_equal(s.end, PORTPROF_CHAIN_JUNK);
	munmap(code, 4096);
	end(&s);
}

/* On arm64 a signature is what this CPU takes off; addresses stay. */
static void addresses_are_not_signatures(void **state)
{
	uint64_t bits = ppi_machine_unsigned();
	uint64_t here = (uint64_t)(uintptr_t)addresses_are_not_signatures;
	uint64_t stack = (uint64_t)(uintptr_t)&bits;

	(void)state;
	assert_int_equal(here & bits, here);
	assert_int_equal(stack & bits, stack);
	assert_true((bits & (bits + 1)) == 0);
#ifdef __aarch64__
	assert_int_equal(bits >> 55, 0);
#endif
}

/* Functions without a frame have their return address in a register, and
 * signed addresses lose their signature. */
static void arm64_is_unwound(void **state)
{
	static const struct kit_function arm64[] = {
		/* a leaf without a frame */
		{ 0x1000, 0x1040, false, PROGRAM("") },
		/* stp x29, x30, [sp, -32]! */
		{ 0x1040, 0x1080, false, PROGRAM("\x0e\x20\x9d\x04\x9e\x03") },
		{ 0x1080, 0x10c0, false, PROGRAM("\x07\x1e") },
	};
	struct stage s;

	(void)state;
	if (!ppi_unwinder_has_tables(NULL))
		skip();
	begin_on(&s, &ppi_machine_arm64, KIT_ARM64, arm64, 3);
	set_register(&s, 30, BASE + 0x1050);
	s.words[0] = 0x77;
	s.words[1] = (BASE + 0x1090) | UINT64_C(0x2a) << 48;
	walk(&s, BASE + 0x1008, 32);
	assert_chain(&s, BASE + 0x1008, BASE + 0x1050, BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	/* twice the same frame is no frame */
	set_register(&s, 30, BASE + 0x1010);
	walk(&s, BASE + 0x1008, 32);
	assert_chain(&s, BASE + 0x1008, BASE + 0x1010);
	assert_int_equal(s.end, PORTPROF_CHAIN_JUNK);
	end(&s);
}

/* Code of arm64 in this process, on any machine. */
static const uint32_t arm64_code[] = {
	0xd503201f, /* nop */
	0xd2801168, 0xd4000001, /* mov x8, 139; svc 0 */
	0x94000000, /* bl */
	0xb0000530, 0xf9462a11, 0x91314210, 0xd61f0220, /* of a PLT */
	0xd503201f, 0xd61f0000, /* nop; br x0 */
};

static uint64_t put_arm64_code(struct stage *s, unsigned char **page)
{
	static const struct kit_function arm64[] = {
		{ 0x1000, 0x1040, false, PROGRAM("") },
		{ 0x1040, 0x1080, false, PROGRAM("\x0e\x20\x9d\x04\x9e\x03") },
		{ 0x1080, 0x10c0, false, PROGRAM("\x07\x1e") },
	};
	uint32_t pid = (uint32_t)getpid();

	begin_on(s, &ppi_machine_arm64, KIT_ARM64, arm64, 3);
	*page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(*page, MAP_FAILED);
	memcpy(*page + 64, arm64_code, sizeof(arm64_code));
	note_module(s->unwinder, pid, (uint64_t)(uintptr_t)*page, 4096, 0,
	            "//anon");
	note_module(s->unwinder, pid, BASE + KIT_TEXT, KIT_TEXT_BYTES, KIT_TEXT,
	            s->path);
	return (uint64_t)(uintptr_t)*page + 64;
}

static void walk_here(struct stage *s, uint64_t pc)
{
	set_register(s, 32, pc);
	s->depth = ppi_unwinder_walk(s->unwinder, (uint32_t)getpid(),
	                             &s->registers, &s->stack, s->chain, 32,
	                             &s->end);
}

/* What the kernel puts on the stack for a handler: the registers from 312 bytes
 * on. No table has it, and a function without a frame may be below. */
static void arm64_signals_keep_all_registers(void **state)
{
	enum { FRAME = 4, REGISTERS = FRAME + 312 / 8, BELOW = 80 };
	uint64_t words[96] = { 0 }, at;
	unsigned char *page;
	struct stage s;

	(void)state;
	if (!ppi_unwinder_has_tables(NULL))
		skip();
	at = put_arm64_code(&s, &page) + 4;
	words[1] = at; /* the handler's frame has four words */
	words[REGISTERS + 29] = 0x1235;
	words[REGISTERS + 30] = BASE + 0x1050;
	words[REGISTERS + 31] = STACK + 8 * BELOW; /* sp */
	words[REGISTERS + 32] = BASE + 0x1000;     /* pc */
	words[BELOW + 1] = BASE + 0x1090;
	s.stack.bytes = (unsigned char *)words;
	s.stack.size = sizeof(words);
	walk_here(&s, BASE + 0x1048);
	assert_chain(&s, BASE + 0x1048, at + 1, BASE + 0x1001, BASE + 0x1050,
	             BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	/* the handler has returned; before and after the system call */
	set_register(&s, 31, STACK + 8 * FRAME);
	for (unsigned past = 0; past <= 8; past += 4) {
		walk_here(&s, at + past);
		assert_chain(&s, at + past, BASE + 0x1001, BASE + 0x1050,
		             BASE + 0x1090);
		assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	}
	/* the copy ends within the frame */
	s.stack.size = 8 * (REGISTERS + 32);
	walk_here(&s, at);
	assert_chain(&s, at);
	assert_int_equal(s.end, PORTPROF_CHAIN_COPY_SHORT);
	munmap(page, 4096);
	end(&s);
}

/* Nothing has moved since the call. */
static void arm64_stubs_have_their_callers_registers(void **state)
{
	unsigned char *page;
	struct stage s;
	uint64_t at;

	(void)state;
	if (!ppi_unwinder_has_tables(NULL))
		skip();
	at = put_arm64_code(&s, &page);
	s.words[1] = BASE + 0x1090;
	for (unsigned past = 16; past <= 28; past += 4) {
		set_register(&s, 30, BASE + 0x1050);
		set_register(&s, 29, 0x1235); /* no frame pointer */
		walk_here(&s, at + past);
		assert_chain(&s, at + past, BASE + 0x1050, BASE + 0x1090);
		assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	}
	/* other code is not */
	set_register(&s, 30, at + 16);
	walk_here(&s, at + 32);
	assert_chain(&s, at + 32);
	assert_int_equal(s.end, PORTPROF_CHAIN_NO_RULE);
	/* nor is one called from */
	set_register(&s, 30, at + 16);
	s.words[0] = 0;
	walk_here(&s, BASE + 0x1008);
	assert_chain(&s, BASE + 0x1008, at + 16);
	munmap(page, 4096);
	end(&s);
}

/* Code without tables: a frame's two pointers lie at its lower end or at its
 * upper one, and a function that has called nobody may have none. */
static void arm64_frames_are_found_without_tables(void **state)
{
	unsigned char *page;
	struct stage s;
	uint64_t at;

	(void)state;
	if (!ppi_unwinder_has_tables(NULL))
		skip();
	at = put_arm64_code(&s, &page);
	/* by frame pointers: the next frame does not begin behind them */
	set_register(&s, 29, STACK + 8 * 2);
	set_register(&s, 30, at + 16);
	s.words[2] = STACK + 8 * 8;
	s.words[3] = BASE + 0x1050;
	s.words[5] = 0x77;
	s.words[9] = BASE + 0x1090;
	walk_here(&s, at + 32);
	assert_chain(&s, at + 32, BASE + 0x1050, BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	/* called from another module, with a frame of its own and without */
	set_register(&s, 30, BASE + 0x1050 + (UINT64_C(0x2a) << 48));
	walk_here(&s, at + 32);
	assert_chain(&s, at + 32, BASE + 0x1050, BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	set_register(&s, 29, STACK + 8 * 8);
	walk_here(&s, at + 32);
	assert_chain(&s, at + 32, BASE + 0x1050, BASE + 0x1090);
	assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	munmap(page, 4096);
	end(&s);
}

/* _init of crti.o: its caller's frame pointer is not its own until it has set it. */
static void arm64_code_is_followed_to_its_return(void **state)
{
	static const unsigned char init[] = {
		0xfd, 0x7b, 0xbf, 0xa9, /* stp x29, x30, [sp, -16]! */
		0xfd, 0x03, 0x00, 0x91, /* mov x29, sp */
		0xfe, 0xff, 0xff, 0x97, /* bl */
		0xfd, 0x7b, 0xc1, 0xa8, /* ldp x29, x30, [sp], 16 */
		0xc0, 0x03, 0x5f, 0xd6  /* ret */
	};
	unsigned char *page;
	struct stage s;
	uint64_t at;

	(void)state;
	if (!ppi_unwinder_has_tables(NULL))
		skip();
	at = put_arm64_code(&s, &page) + 0x100;
	memcpy(page + 64 + 0x100, init, sizeof(init));
	for (unsigned past = 0; past <= 16; past += 4) {
		bool is_pushed = past > 0 && past < 16;

		memset(s.words, 0, sizeof(s.words));
		s.words[0] = 0x1235; /* the caller's x29 */
		s.words[1] = BASE + 0x1050;
		s.words[is_pushed ? 3 : 1] = BASE + 0x1090;
		if (is_pushed)
			s.words[1] = BASE + 0x1050;
		set_register(&s, 29, past > 4 ? STACK : 0x1235);
		/* the last call that it made returned there */
		set_register(&s, 30, past == 12 ? at + 12 : BASE + 0x1050);
		walk_here(&s, at + past);
		assert_chain(&s, at + past, BASE + 0x1050, BASE + 0x1090);
		assert_int_equal(s.end, PORTPROF_CHAIN_WHOLE);
	}
	munmap(page, 4096);
	end(&s);
}

/* In place of registers and stack, in a record of the kernel's. */
static void records_get_their_chain(void **state)
{
	struct ppi_user_context context = { 0 };
	portprof_record records[2] = {
		{ .kind = PORTPROF_RECORD_SAMPLE, .pid = NOBODY,
		  .valid = PPI_FIELD_CONTEXT, .payload = 1,
		  .payload_words = 1, .address = UINT64_C(0xffffffff81000000) },
	};
	uint64_t words[64] = { 99, UINT64_C(0xffffffff81000000) };
	struct ppi_room room = { records, 2, 1, words, 64, 64 };
	portprof_batch batch = { records, 1, words, 64,
	                         sizeof(portprof_record) };
	struct stage s;
	size_t depth;
	const uint64_t *chain;

	(void)state;
	begin(&s);
	context.registers[16] = BASE + 0x1000;
	context.registers[7] = STACK;
	context.known = 1u << 16 | 1u << 7;
	context.stack_bytes = 64;
	memcpy(words + 2, &context, sizeof(context));
	words[2 + sizeof(context) / 8] = BASE + 0x1090;
	assert_null(portprof_batch_chain(&batch, &records[0], &depth));
	ppi_unwinder_take(s.unwinder, &room, 127);
	chain = portprof_batch_chain(&batch, &records[0], &depth);
	assert_non_null(chain);
	assert_int_equal(depth, 3);
	assert_int_equal(chain[0], UINT64_C(0xffffffff81000000));
	assert_int_equal(chain[1], BASE + 0x1000);
	assert_int_equal(chain[2], BASE + 0x1090);
	assert_int_equal(records[0].chain_end, PORTPROF_CHAIN_WHOLE);
	assert_int_equal(records[0].valid, PORTPROF_FIELD_CHAIN);
	assert_int_equal(words[0], 99);
	end(&s);
}

/* What the kernel did fills the depth: no caller is put on top of that. */
static void kernel_parts_may_fill_the_depth(void **state)
{
	enum { DEPTH = 2, WORDS = DEPTH + sizeof(struct ppi_user_context) / 8 };
	struct ppi_user_context context = { 0 };
	portprof_record record = {
		.kind = PORTPROF_RECORD_SAMPLE, .pid = NOBODY,
		.valid = PPI_FIELD_CONTEXT, .payload_words = DEPTH,
	};
	uint64_t words[WORDS] = { UINT64_C(0xffffffff81000000),
		                  UINT64_C(0xffffffff81000010) };
	struct ppi_room room = { &record, 1, 1, words, WORDS, WORDS };
	struct stage s;

	(void)state;
	begin(&s);
	context.registers[16] = BASE + 0x1000;
	context.registers[7] = STACK;
	context.known = 1u << 16 | 1u << 7;
	memcpy(words + DEPTH, &context, sizeof(context));
	ppi_unwinder_take(s.unwinder, &room, DEPTH);
	assert_int_equal(record.payload_words, DEPTH);
	assert_int_equal(record.chain_end, PORTPROF_CHAIN_DEPTH);
	assert_int_equal(record.valid, PORTPROF_FIELD_CHAIN);
	end(&s);
}

/* Words of 32 bits: the caller's frame pointer, and what it returns to. */
static void programs_of_32_bits_keep_frame_pointers(void **state)
{
	struct ppi_user_context context = { .is_32_bit = true };
	portprof_record record = {
		.kind = PORTPROF_RECORD_SAMPLE, .pid = NOBODY,
		.valid = PPI_FIELD_CONTEXT, .address = 0x8001000,
	};
	uint64_t words[64] = { 0 };
	struct ppi_room room = { &record, 1, 1, words, 64, 64 };
	uint32_t *stack = (uint32_t *)(words + sizeof(context) / 8);
	struct stage s;

	(void)state;
	begin(&s);
	note_module(s.unwinder, NOBODY, 0x8001000, 0x1000, 0, "/nowhere");
	context.registers[16] = 0x8001000;
	context.registers[7] = 0xffff1000;
	context.registers[6] = 0xffff1004;
	context.known = 1u << 16 | 1u << 7 | 1u << 6;
	context.stack_bytes = 64;
	memcpy(words, &context, sizeof(context));
	stack[1] = 0xffff1010;
	stack[2] = 0x8001100;
	stack[4] = 0xffff100c; /* down: the chain ends */
	stack[5] = 0x8001200;
	ppi_unwinder_take(s.unwinder, &room, 127);
	assert_int_equal(record.payload_words, 3);
	assert_int_equal(words[0], 0x8001000);
	assert_int_equal(words[1], 0x8001100);
	assert_int_equal(words[2], 0x8001200);
	assert_int_equal(record.chain_end, PORTPROF_CHAIN_POINTERS);
	end(&s);
}

/* A reset begins again: what was whole or cut before is in no sentence. */
static void a_reset_forgets_how_chains_ended(void **state)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session = NULL;
	struct ppi_chain_ends *ends;

	(void)state;
	assert_int_equal(portprof_config_set_backend(config, "null"), 0);
	assert_int_equal(portprof_session_open(config, &session), PORTPROF_OK);
	portprof_config_free(config);
	ends = &session->pump.chain_ends;
	ends->weight[PORTPROF_CHAIN_WHOLE] = 1;
	ends->weight[PORTPROF_CHAIN_JUNK] = 3;
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	assert_non_null(ends->note);
	assert_non_null(strstr(ends->note, "25.0 %"));
	assert_null(strstr(ends->note, "another stack"));
	ends->weight[PORTPROF_CHAIN_LEAVES_OUT] = 1;
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	assert_non_null(strstr(ends->note, "20.0 %"));
	assert_non_null(strstr(ends->note, "another stack"));
	assert_non_null(strstr(ends->note, "cut: 60.0 %"));
	assert_int_equal(portprof_session_reset(session), PORTPROF_OK);
	assert_null(strchr(ends->note, '%'));
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	assert_null(strchr(ends->note, '%'));
	ends->weight[PORTPROF_CHAIN_WHOLE] = 1;
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	assert_non_null(strstr(ends->note, "100.0 %"));
	assert_int_equal(portprof_session_close(session), PORTPROF_OK);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_chains_end_where_no_caller_is),
		cmocka_unit_test(rows_begin_at_their_first_byte),
		cmocka_unit_test(callers_are_looked_up_at_their_call),
		cmocka_unit_test(signals_interrupt_at_the_byte),
		cmocka_unit_test(handlers_have_callers_on_another_stack),
		cmocka_unit_test(expressions_are_evaluated),
		cmocka_unit_test(saved_registers_come_back),
		cmocka_unit_test(popped_registers_are_the_callers),
		cmocka_unit_test(cut_chains_say_why),
		cmocka_unit_test(junk_is_no_caller),
		cmocka_unit_test(processes_have_their_own_code),
		cmocka_unit_test(tables_are_opened_again),
		cmocka_unit_test(tables_in_use_stay_open_together),
		cmocka_unit_test(a_large_program_may_be_deleted),
		cmocka_unit_test(chains_are_mixed),
		cmocka_unit_test(functions_end_where_they_are_returned_to),
		cmocka_unit_test(registers_may_be_no_frame_pointers),
		cmocka_unit_test(frame_pointers_lead_past_the_copy),
		cmocka_unit_test(no_other_way_is_gone),
		cmocka_unit_test(stacks_are_changed_by_functions_that_do),
		cmocka_unit_test(stacks_may_lie_in_one_copy),
		cmocka_unit_test(callers_of_functions_without_frames),
		cmocka_unit_test(code_made_meanwhile_is_found),
		cmocka_unit_test(addresses_are_not_signatures),
		cmocka_unit_test(arm64_is_unwound),
		cmocka_unit_test(arm64_signals_keep_all_registers),
		cmocka_unit_test(arm64_stubs_have_their_callers_registers),
		cmocka_unit_test(arm64_frames_are_found_without_tables),
		cmocka_unit_test(arm64_code_is_followed_to_its_return),
		cmocka_unit_test(records_get_their_chain),
		cmocka_unit_test(kernel_parts_may_fill_the_depth),
		cmocka_unit_test(programs_of_32_bits_keep_frame_pointers),
		cmocka_unit_test(a_reset_forgets_how_chains_ended),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
}
