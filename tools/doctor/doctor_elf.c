/* SPDX-License-Identifier: MIT */
/* What a program's file offers to a profiler: names, lines, call chains. */
#include "config.h"

#include "tools/doctor/doctor.h"

#include "base/foreign_file.h"
#include "tools/symbols/symbols_elf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	FUNCTIONS_MAX = 4000, /* enough to know how a program was compiled */
	SIZE_LEAST = 16,      /* stubs and leaves say nothing */
	PROLOGUE = 32         /* bytes in which a frame is set up */
};

/* mov %rsp,%rbp, in either encoding; compilers put it near the start, after
 * push %rbp, but not always right behind it. */
static bool sets_frame_x86(const unsigned char *code, size_t bytes)
{
	for (size_t i = 0; i + 3 <= bytes; i++)
		if (code[i] == 0x48 &&
		    ((code[i + 1] == 0x89 && code[i + 2] == 0xe5) ||
		     (code[i + 1] == 0x8b && code[i + 2] == 0xec)))
			return true;
	return false;
}

/* stp x29, x30, [sp, ...]: Arm Architecture Reference Manual, STP, signed
 * offset and pre-index. */
static bool sets_frame_arm64(const unsigned char *code, size_t bytes)
{
	for (size_t i = 0; i + 4 <= bytes; i += 4) {
		uint32_t word = (uint32_t)code[i] | (uint32_t)code[i + 1] << 8 |
		                (uint32_t)code[i + 2] << 16 |
		                (uint32_t)code[i + 3] << 24;

		if ((word & 0xffc07fffu) == 0xa9807bfdu ||
		    (word & 0xffc07fffu) == 0xa9007bfdu)
			return true;
	}
	return false;
}

typedef bool (*frame_fn)(const unsigned char *code, size_t bytes);

static frame_fn frame_finder(Elf *elf)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header))
		return NULL;
	if (header.e_machine == EM_X86_64)
		return sets_frame_x86;
	return header.e_machine == EM_AARCH64 ? sets_frame_arm64 : NULL;
}

static void look_at_function(Elf *elf, const GElf_Sym *symbol, frame_fn find,
                             struct ppi_program *program)
{
	const unsigned char *code;
	uint64_t left;

	if (GELF_ST_TYPE(symbol->st_info) != STT_FUNC ||
	    symbol->st_shndx == SHN_UNDEF || symbol->st_size < SIZE_LEAST ||
	    program->functions >= FUNCTIONS_MAX)
		return;
	code = ppi_elf_at(elf, symbol->st_value, &left);
	if (!code || left < symbol->st_size)
		return;
	program->functions++;
	program->framed += find(code, symbol->st_size < PROLOGUE
	                                      ? (size_t)symbol->st_size
	                                      : PROLOGUE);
}

static void look_at_table(Elf *elf, Elf_Scn *section,
                          const GElf_Shdr *header, frame_fn find,
                          struct ppi_program *program)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = ppi_elf_entries(header);

	for (size_t i = 0; data && i < count; i++) {
		GElf_Sym symbol;

		if (gelf_getsym(data, (int)i, &symbol))
			look_at_function(elf, &symbol, find, program);
	}
}

static void look_at_sections(Elf *elf, struct ppi_program *program)
{
	Elf_Scn *section = NULL, *table = NULL, *dynamic = NULL;
	GElf_Shdr header, table_header = { 0 }, dynamic_header = { 0 };
	frame_fn find = frame_finder(elf);
	size_t names = 0;

	elf_getshdrstrndx(elf, &names);
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (header.sh_type == SHT_SYMTAB) {
			table = section;
			table_header = header;
		} else if (header.sh_type == SHT_DYNSYM) {
			dynamic = section;
			dynamic_header = header;
		}
		program->has_lines |= name &&
		                      (strcmp(name, ".debug_info") == 0 ||
		                       strcmp(name, ".debug_line") == 0);
	}
	program->has_names = table != NULL;
	program->is_known = find != NULL;
	if (find && table)
		look_at_table(elf, table, &table_header, find, program);
	else if (find && dynamic)
		look_at_table(elf, dynamic, &dynamic_header, find, program);
}

/*
 * How many functions the search table of .eh_frame counts: Linux Standard Base
 * Core 5.0, 10.6.2: version 1, three encodings, the pointer, the count. All
 * linkers write the pointer and the count in four bytes (DW_EH_PE_sdata4 or
 * udata4 by themselves or from the pc); others are not looked at.
 */
static unsigned count_tables(Elf *elf)
{
	size_t count = ppi_elf_segments(elf);

	for (size_t i = 0; i < count; i++) {
		const unsigned char *table;
		GElf_Phdr segment;
		uint32_t number;
		uint64_t left;

		if (!gelf_getphdr(elf, (int)i, &segment) ||
		    segment.p_type != PT_GNU_EH_FRAME)
			continue;
		table = ppi_elf_at(elf, segment.p_vaddr, &left);
		if (!table || left < 12 || table[0] != 1 ||
		    ((table[1] & 0x0f) != 0x0b && (table[1] & 0x0f) != 0x03) ||
		    (table[2] != 0x03 && table[2] != 0x0b))
			continue;
		memcpy(&number, table + 8, sizeof(number));
		return number;
	}
	return 0;
}

/* A program that asks for no interpreter cannot be preloaded into; a library
 * asks for none either. */
static bool is_static(Elf *elf)
{
	GElf_Ehdr header;
	size_t count = ppi_elf_segments(elf);

	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(elf, (int)i, &segment) &&
		    (segment.p_type == PT_INTERP ||
		     segment.p_type == PT_DYNAMIC))
			return false;
	}
	return gelf_getehdr(elf, &header) && header.e_type == ET_EXEC;
}

int ppi_program_read(const char *path, struct ppi_program *program)
{
	int fd = ppi_foreign_open(path, PPI_FOREIGN_FILE, NULL), error = 0;
	Elf *elf;

	memset(program, 0, sizeof(*program));
	if (fd < 0)
		return errno == EINVAL ? -1 : errno;
	elf_version(EV_CURRENT);
	/* mapped: libelf forgets sections it has read when elf_rawfile follows */
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		error = -1;
	} else {
		program->is_static = is_static(elf);
		ppi_elf_build_id(elf, program->build_id,
		                 sizeof(program->build_id));
		look_at_sections(elf, program);
		program->is_go = ppi_elf_is_go(elf);
		program->has_names |= ppi_elf_has_go_names(elf);
		if (program->is_known)
			program->tabled = count_tables(elf);
	}
	if (elf)
		elf_end(elf);
	close(fd);
	return error;
}
