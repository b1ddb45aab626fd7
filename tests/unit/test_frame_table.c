/* SPDX-License-Identifier: MIT */
/* Entries of frame tables: found by each way there is, and given to nobody when
 * they would cost more than a table should. */
#include "config.h"

#include "api/unwind/frame_table.h"
#include "tests/unit/unwind_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM(bytes) (bytes), sizeof(bytes) - 1

static const struct kit_function functions[] = {
	{ 0x1000, 0x1040, false, PROGRAM("\x0e\x10") },
	{ 0x1040, 0x1080, false, PROGRAM("\x0e\x20") },
	{ 0x1100, 0x1140, true, PROGRAM("\x0e\x30") },
};

enum { FUNCTIONS = 3, TABLE_AT = KIT_TEXT + KIT_TEXT_BYTES };

struct image {
	const char *bytes;
	size_t size;
};

static bool read_image(void *context, uint64_t offset, void *bytes, size_t count)
{
	const struct image *image = context;

	if (offset > image->size || count > image->size - offset)
		return false;
	memcpy(bytes, image->bytes + offset, count);
	return true;
}

static struct ppi_frame_table *open_image(const char *bytes, size_t size)
{
	struct image image = { bytes, size };
	const struct ppi_frame_source source = { read_image, &image, false };

	return ppi_frame_table_open(KIT_X86_64, &source, NULL, 0);
}

/* The frame size that the entry of this address says, by its program. */
static unsigned frame_at(const struct ppi_frame_table *table, uint64_t address)
{
	struct ppi_frame_entry entry;

	if (!ppi_frame_table_find(table, address, &entry))
		return 0;
	/* length, back, start, size, nothing added, then the program */
	assert_int_equal(entry.own[17], 0x0e);
	return entry.own[18];
}

static void assert_all_found(const struct ppi_frame_table *table)
{
	assert_non_null(table);
	assert_int_equal(frame_at(table, 0xfff), 0);
	assert_int_equal(frame_at(table, 0x1000), 0x10);
	assert_int_equal(frame_at(table, 0x103f), 0x10);
	assert_int_equal(frame_at(table, 0x1040), 0x20);
	assert_int_equal(frame_at(table, 0x1120), 0x30);
}

static void entries_are_found_by_the_header(void **state)
{
	size_t size;
	char *image = kit_image(KIT_X86_64, functions, FUNCTIONS, &size);
	struct ppi_frame_table *table = open_image(image, size);

	(void)state;
	assert_all_found(table);
	ppi_frame_table_close(table);
	free(image);
}

static void nothing_is_found_in_the_image_later(void **state)
{
	size_t size, bytes;
	char *image = kit_image(KIT_X86_64, functions, FUNCTIONS, &size);
	struct ppi_frame_table *table = open_image(image, size);

	(void)state;
	memset(image, 0, size);
	free(image);
	assert_all_found(table);
	bytes = ppi_frame_table_bytes(table);
	assert_in_range(bytes, FUNCTIONS * 20, size + 8192);
	ppi_frame_table_close(table);
}

static void entries_are_found_without_rows(void **state)
{
	size_t size;
	char *image = kit_image(KIT_X86_64, functions, FUNCTIONS, &size);
	struct ppi_frame_table *table;

	(void)state;
	image[TABLE_AT + 2] = image[TABLE_AT + 3] = (char)0xff; /* left out */
	table = open_image(image, size);
	assert_all_found(table);
	ppi_frame_table_close(table);
	free(image);
}

/* A static program: no header, but a section. */
static void entries_are_found_by_the_section(void **state)
{
	static const char names[] = "\0.eh_frame";
	enum { FRAMES = TABLE_AT + (12 + 8 * FUNCTIONS + 7) / 8 * 8 };
	size_t size, at;
	char *image = kit_image(KIT_X86_64, functions, FUNCTIONS, &size);
	Elf64_Shdr sections[3] = { { .sh_type = SHT_NULL } };
	struct ppi_frame_table *table;
	Elf64_Ehdr header;

	(void)state;
	at = (size + 7) / 8 * 8;
	image = realloc(image, at + sizeof(sections) + sizeof(names));
	assert_non_null(image);
	memcpy(&header, image, sizeof(header));
	header.e_phnum = 1;
	header.e_shoff = at;
	header.e_shentsize = sizeof(sections[0]);
	header.e_shnum = 3;
	header.e_shstrndx = 2;
	sections[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS,
		                    .sh_offset = FRAMES, .sh_addr = FRAMES,
		                    .sh_size = size - FRAMES };
	sections[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
		                    .sh_offset = at + sizeof(sections),
		                    .sh_size = sizeof(names) };
	memcpy(image, &header, sizeof(header));
	memcpy(image + at, sections, sizeof(sections));
	memcpy(image + at + sizeof(sections), names, sizeof(names));
	table = open_image(image, at + sizeof(sections) + sizeof(names));
	assert_all_found(table);
	ppi_frame_table_close(table);
	free(image);
}

static void other_machines_have_no_table(void **state)
{
	size_t size;
	char *image = kit_image(KIT_ARM64, functions, FUNCTIONS, &size);
	struct image of = { image, size };
	const struct ppi_frame_source source = { read_image, &of, false };

	(void)state;
	assert_null(open_image(image, size));
	assert_null(ppi_frame_table_open(KIT_ARM64, &source,
	                                 (const unsigned char *)"\1", 1));
	free(image);
}

/* Wherever the image ends, nothing behind it is read: the sanitizers' build
 * sees it. */
static void a_cut_image_is_not_read_beyond(void **state)
{
	size_t size;
	char *image = kit_image(KIT_X86_64, functions, FUNCTIONS, &size);

	(void)state;
	for (size_t bytes = 0; bytes < size; bytes++) {
		char *cut = malloc(bytes + !bytes);
		struct ppi_frame_table *table;

		assert_non_null(cut);
		memcpy(cut, image, bytes);
		table = open_image(cut, bytes);
		if (table)
			for (uint64_t at = 0x1000; at < 0x1140; at += 0x20)
				frame_at(table, at);
		ppi_frame_table_close(table);
		free(cut);
		if (bytes == 256) /* the headers; then there is text */
			bytes = TABLE_AT - 1;
	}
	free(image);
}

static bool is_modest(const char *bytes, size_t count)
{
	return ppi_call_frames_are_modest(
		(struct ppi_cfi){ (const unsigned char *)bytes,
	                             (const unsigned char *)bytes + count,
	                             false },
		4);
}

static void usual_programs_are_modest(void **state)
{
	(void)state;
	assert_true(is_modest("", 0));
	/* an epilogue: remember, pop, restore */
	assert_true(is_modest(PROGRAM("\x41\x0e\x10\x86\x02\x43\x0d\x06\x0a"
	                              "\x52\x0c\x07\x08\x0b")));
	/* all registers of x86-64, those of its AVX-512 masks included */
	assert_true(is_modest(PROGRAM("\x05\x82\x01\x02\x07\x7e\x06\x7f")));
	assert_true(is_modest(PROGRAM("\x10\x10\x03\x77\x88\x01\x16\x07\x01"
	                              "\x57\x2e\x20\x2d\x2f\x06\x02")));
	assert_true(is_modest(PROGRAM("\x01\1\2\3\4\x02\1\x03\1\2\x04\1\2\3\4")));
}

static void what_costs_memory_is_refused(void **state)
{
	static const char with_register[] = { 0x05, 0x06, 0x07, 0x08, 0x0c,
		                              0x0d, 0x11, 0x12, 0x14, 0x15,
		                              0x2f };
	char remembers[256], block[8192] = "\x0f\x80\x20"; /* 4096 bytes */

	(void)state;
	for (size_t i = 0; i < sizeof(with_register); i++) {
		/* register 2^26, 1.5 GB in libdw, with what may follow */
		char program[] = { with_register[i], (char)0x80, (char)0x80,
			           (char)0x80, 0x20, 0x01 };

		assert_false(is_modest(program, sizeof(program)));
	}
	/* 2^64 - 1, and a number without an end */
	assert_false(is_modest(PROGRAM("\x07\xff\xff\xff\xff\xff\xff\xff\xff"
	                               "\xff\x01")));
	assert_false(is_modest(PROGRAM("\x07\x81\x80\x80\x80\x80\x80\x80\x80"
	                               "\x80\x80\x00")));
	memset(remembers, 0x0a, sizeof(remembers));
	assert_true(is_modest(remembers, 64));
	assert_false(is_modest(remembers, 65));
	assert_true(is_modest(block, 3 + 4096));
	assert_false(is_modest(block, 3 + 4095));
	block[1] = (char)0x81;
	assert_false(is_modest(block, 3 + 4097));
	assert_false(is_modest(PROGRAM("\x3f"))); /* unknown */
	assert_false(is_modest(PROGRAM("\x04\1\2\3")));
}

static void what_is_not_modest_is_not_found(void **state)
{
	static const struct kit_function hostile[] = {
		{ 0x1000, 0x1040, false, PROGRAM("\x0e\x10") },
		{ 0x1040, 0x1080, false,
		  PROGRAM("\x07\x80\x80\x80\x20") },
		{ 0x1080, 0x10c0, false, PROGRAM("\x0e\x30") },
	};
	size_t size;
	char *image = kit_image(KIT_X86_64, hostile, 3, &size);
	struct ppi_frame_table *table = open_image(image, size);

	(void)state;
	assert_non_null(table);
	assert_int_equal(frame_at(table, 0x1000), 0x10);
	assert_int_equal(frame_at(table, 0x1040), 0);
	assert_int_equal(frame_at(table, 0x1080), 0x30);
	ppi_frame_table_close(table);
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_found_by_the_header),
		cmocka_unit_test(nothing_is_found_in_the_image_later),
		cmocka_unit_test(entries_are_found_without_rows),
		cmocka_unit_test(entries_are_found_by_the_section),
		cmocka_unit_test(other_machines_have_no_table),
		cmocka_unit_test(a_cut_image_is_not_read_beyond),
		cmocka_unit_test(usual_programs_are_modest),
		cmocka_unit_test(what_costs_memory_is_refused),
		cmocka_unit_test(what_is_not_modest_is_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
