/* SPDX-License-Identifier: MIT */
/* Why a program does not load what LD_PRELOAD names (ld.so(8)). */
#include "config.h"

#include "tools/record/record.h"

#include "base/foreign_file.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Fields of an ELF head (System V ABI, chapter 4): where they are in files
 * of either class. */
enum { CLASS_AT = 4, ORDER_AT = 5, CLASS_32 = 1, CLASS_64 = 2,
       INTERPRETER_SEGMENT = 3, HEAD_BYTES = 64 };

enum { LOADER_ROOM = 128 }; /* a longer path is cut */

static uint64_t read_field(const unsigned char *at, size_t bytes,
                           bool is_little)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << 8 * (is_little ? i : bytes - 1 - i);
	return value;
}

/* The name of what loads it, without its folder (PT_INTERP): "" = the program
 * starts without. */
static void read_loader(FILE *file, const unsigned char *head,
                        char name[LOADER_ROOM])
{
	bool is_64 = head[CLASS_AT] == CLASS_64, is_little = head[ORDER_AT] == 1;
	uint64_t offset = read_field(head + (is_64 ? 32 : 28), is_64 ? 8 : 4,
	                             is_little);
	uint64_t bytes = read_field(head + (is_64 ? 54 : 42), 2, is_little);
	uint64_t count = read_field(head + (is_64 ? 56 : 44), 2, is_little);
	unsigned char segment[24];
	uint64_t at = 0;
	char *slash;

	name[0] = '\0';
	for (uint64_t i = 0; i < count && !at; i++)
		if (fseek(file, (long)(offset + i * bytes), SEEK_SET) == 0 &&
		    fread(segment, 1, sizeof(segment), file) ==
			    sizeof(segment) &&
		    read_field(segment, 4, is_little) == INTERPRETER_SEGMENT)
			at = read_field(segment + (is_64 ? 8 : 4),
			                is_64 ? 8 : 4, is_little);
	if (!at)
		return;
	name[LOADER_ROOM - 1] = '\0';
	if (fseek(file, (long)at, SEEK_SET) != 0 ||
	    fread(name, 1, LOADER_ROOM - 1, file) == 0)
		snprintf(name, LOADER_ROOM, "?");
	slash = strrchr(name, '/');
	if (slash)
		memmove(name, slash + 1, strlen(slash));
}

static bool read_head(FILE *file, unsigned char head[HEAD_BYTES])
{
	return fread(head, 1, HEAD_BYTES, file) == HEAD_BYTES &&
	       memcmp(head, "\177ELF", 4) == 0;
}

/* That of this program; "" if it has none or cannot be read. */
static void read_own_loader(char name[LOADER_ROOM])
{
	FILE *file = fopen("/proc/self/exe", "rbe");
	unsigned char head[HEAD_BYTES];

	name[0] = '\0';
	if (file && read_head(file, head))
		read_loader(file, head, name);
	if (file)
		fclose(file);
}

static const char *judge_elf(FILE *file, const unsigned char *head)
{
	unsigned char own = sizeof(void *) == 8 ? CLASS_64 : CLASS_32;
	char loader[LOADER_ROOM], own_loader[LOADER_ROOM];
	static char words[2 * LOADER_ROOM];

	if (head[CLASS_AT] != own)
		return "is a program for another word size than portprof";
	read_loader(file, head, loader);
	if (!loader[0])
		return "is linked statically, so nothing can be loaded into it";
	read_own_loader(own_loader);
	if (!own_loader[0] || strcmp(loader, own_loader) == 0)
		return NULL;
	snprintf(words, sizeof(words), "belongs to another C library than "
	         "portprof (its loader is %.60s), so nothing is loaded into it",
	         loader);
	return words;
}

const char *ppi_why_not_preloaded(const char *program)
{
	unsigned char head[HEAD_BYTES];
	const char *why = NULL;
	FILE *file;

	if (ppi_has_other_rights(program))
		return "runs with other rights than this user (set-user-id or "
		       "file capabilities), so the system lets nothing be "
		       "loaded into it";
	file = ppi_foreign_stream(program, PPI_FOREIGN_FILE);
	if (!file)
		return NULL;
	if (read_head(file, head))
		why = judge_elf(file, head);
	fclose(file);
	return why;
}
