/* SPDX-License-Identifier: MIT */
/* Why a program does not load what LD_PRELOAD names (ld.so(8)). */
#include "config.h"

#include "tools/record/record.h"

#include "port/foreign_file.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Fields of an ELF head (System V ABI, chapter 4): where they are in files
 * of either class. */
enum { CLASS_AT = 4, ORDER_AT = 5, CLASS_32 = 1, CLASS_64 = 2,
       INTERPRETER_SEGMENT = 3 };

static uint64_t read_field(const unsigned char *at, size_t bytes,
                           bool is_little)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << 8 * (is_little ? i : bytes - 1 - i);
	return value;
}

/* A program without an interpreter (PT_INTERP) starts without ld.so. */
static bool has_interpreter(FILE *file, const unsigned char *head)
{
	bool is_64 = head[CLASS_AT] == CLASS_64, is_little = head[ORDER_AT] == 1;
	uint64_t offset = read_field(head + (is_64 ? 32 : 28), is_64 ? 8 : 4,
	                             is_little);
	uint64_t bytes = read_field(head + (is_64 ? 54 : 42), 2, is_little);
	uint64_t count = read_field(head + (is_64 ? 56 : 44), 2, is_little);
	unsigned char type[4];

	for (uint64_t i = 0; i < count; i++)
		if (fseek(file, (long)(offset + i * bytes), SEEK_SET) == 0 &&
		    fread(type, 1, sizeof(type), file) == sizeof(type) &&
		    read_field(type, 4, is_little) == INTERPRETER_SEGMENT)
			return true;
	return false;
}

static const char *judge_elf(FILE *file, const unsigned char *head)
{
	unsigned char own = sizeof(void *) == 8 ? CLASS_64 : CLASS_32;

	if (head[CLASS_AT] != own)
		return "is a program for another word size than portprof";
	if (!has_interpreter(file, head))
		return "is linked statically, so nothing can be loaded into it";
	return NULL;
}

const char *ppi_why_not_preloaded(const char *program)
{
	unsigned char head[64] = { 0 };
	const char *why = NULL;
	FILE *file;

	if (ppi_has_other_rights(program))
		return "runs with other rights than this user (set-user-id or "
		       "file capabilities), so the system lets nothing be "
		       "loaded into it";
	file = ppi_foreign_stream(program, PPI_FOREIGN_FILE);
	if (!file)
		return NULL;
	if (fread(head, 1, sizeof(head), file) == sizeof(head) &&
	    memcmp(head, "\177ELF", 4) == 0)
		why = judge_elf(file, head);
	fclose(file);
	return why;
}
