/* SPDX-License-Identifier: MIT */
/* What compilers leave in a file: Go's table of names, and what decides about
 * frame pointers. */
#include "config.h"

#include "tools/symbols/symbols_elf.h"

#include <string.h>

/* ---- Go's names ---- */

/*
 * Names that a Go program keeps when it is stripped, as `go test` and `go run`
 * do: the runtime prints them in its own traces. The table is that of Go 1.18
 * and later (Go's src/debug/gosym/pclntab.go, src/internal/abi/symtab.go).
 */

enum { MAGIC_1_18 = 0xf0, MAGIC_1_20 = 0xf1 }; /* and 0xffffff above */

struct table {
	const unsigned char *bytes;
	uint64_t size, address;
	unsigned word; /* bytes of an address */
	bool is_big;   /* endian */
};

/* Where the table is, kept in stripped files (Go's cmd/link): the second is of
 * programs that can be loaded anywhere, which C's linker adds to the third. */
static const char *const sections[] = { ".gopclntab", ".data.rel.ro.gopclntab",
	                                ".data.rel.ro" };
enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

/* 0 past the end. */
static uint64_t number(const struct table *table, uint64_t at, unsigned bytes)
{
	uint64_t value = 0;

	if (at > table->size || bytes > table->size - at)
		return 0;
	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 |
		        table->bytes[at + (table->is_big ? i : bytes - 1 - i)];
	return value;
}

/* The header's n-th word. */
static uint64_t word(const struct table *table, unsigned n)
{
	return number(table, 8 + n * table->word, table->word);
}

/* Whether one begins there: its size of an instruction and of an address are in it, too. */
static bool is_one(struct table *table)
{
	uint64_t magic = number(table, 0, 4);

	if (table->size < 8 || (magic != (0xffffff00 | MAGIC_1_18) &&
	                        magic != (0xffffff00 | MAGIC_1_20)))
		return false;
	table->word = table->bytes[7];
	return number(table, 4, 2) == 0 &&
	       (table->word == 4 || table->word == 8);
}

/* In a section, from its beginning or, where others are before it, aligned so. */
static bool find_in(Elf *elf, const char *name, bool is_shared,
                    struct table *table)
{
	enum { ALIGNED = 32 };
	GElf_Shdr place;
	Elf_Scn *section = ppi_elf_find(elf, name, &place);
	const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	uint64_t at = 0;

	if (!data || !data->d_buf)
		return false;
	do {
		table->bytes = (const unsigned char *)data->d_buf + at;
		table->size = data->d_size - at;
		table->address = place.sh_addr + at;
		if (is_one(table))
			return true;
		at += ALIGNED;
	} while (is_shared && at < data->d_size);
	return false;
}

static bool begin(Elf *elf, struct table *table)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header) || !ppi_elf_is_go(elf))
		return false;
	table->is_big = header.e_ident[EI_DATA] == ELFDATA2MSB;
	for (int i = 0; i < SECTIONS; i++)
		if (find_in(elf, sections[i], i == SECTIONS - 1, table))
			return true;
	return false;
}

/* NULL when there is none that ends. */
static const char *name_at(const struct table *table, uint64_t at)
{
	if (at >= table->size ||
	    !memchr(table->bytes + at, '\0', table->size - at))
		return NULL;
	return (const char *)table->bytes + at;
}

/* From where the table's functions count. */
struct function {
	uint64_t start, end;
	const char *name;
};

/* The number of them; 0 when that cannot be. */
static uint64_t function_count(const struct table *table)
{
	enum { ENTRY = 8 }; /* where it begins, where more is */
	uint64_t count = word(table, 0), functions = word(table, 7);

	return word(table, 3) < table->size && functions < table->size &&
	                       count <= (table->size - functions) / ENTRY
	               ? count
	               : 0;
}

/* False when it has no name. */
static bool get_function(const struct table *table, uint64_t i,
                         struct function *function)
{
	uint64_t functions = word(table, 7), at = functions + i * 8;
	uint64_t more = functions + number(table, at + 4, 4);

	function->start = number(table, at, 4);
	function->end = number(table, at + 8, 4);
	function->name = name_at(table,
	                         word(table, 3) + number(table, more + 4, 4));
	return function->name && function->name[0] &&
	       function->end > function->start;
}

/* What the loader writes to that address, plus where it loads the program. */
static uint64_t relocated(Elf *elf, uint64_t address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Rela one;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		Elf_Data *data = gelf_getshdr(section, &header) &&
		                                 header.sh_type == SHT_RELA
		                         ? elf_getdata(section, NULL)
		                         : NULL;
		size_t count = data ? ppi_elf_entries(&header) : 0;

		for (size_t i = 0;
		     i < count && gelf_getrela(data, (int)i, &one); i++)
			if (one.r_offset == address &&
			    GELF_R_SYM(one.r_info) == 0)
				return (uint64_t)one.r_addend;
	}
	return 0;
}

/* Go's linker begins a program at "_rt0_amd64_linux"; C's at a function that is not in
 * the table. */
static uint64_t text_by_entry(Elf *elf, const struct table *table)
{
	static const char first[] = "_rt0_";
	uint64_t count = function_count(table);
	struct function function;
	GElf_Ehdr header;

	for (uint64_t i = 0; i < count && gelf_getehdr(elf, &header); i++) {
		const char *system;

		if (!get_function(table, i, &function) ||
		    strncmp(function.name, first, sizeof(first) - 1) != 0)
			continue;
		/* others are jumped to, or are of libraries */
		system = strchr(function.name + sizeof(first) - 1, '_');
		if (system && !strstr(system, "_lib") &&
		    header.e_entry > function.start)
			return header.e_entry - function.start;
	}
	return 0;
}

/* From what functions' addresses are counted; 0 when nobody knows. Programs that can
 * be loaded anywhere have 0 in the file. */
static uint64_t text_of(Elf *elf, const struct table *table)
{
	uint64_t text = word(table, 2);

	if (!text && table->address)
		text = relocated(elf, table->address + 8 + 2 * table->word);
	return text ? text : text_by_entry(elf, table);
}

bool ppi_elf_add_go(Elf *elf, struct ppi_symbol_table *symbols)
{
	struct function function;
	struct table table;
	uint64_t count, text;

	if (!begin(elf, &table))
		return false;
	count = function_count(&table);
	text = text_of(elf, &table);
	for (uint64_t i = 0; text && i < count; i++)
		if (get_function(&table, i, &function) &&
		    !ppi_symbol_table_add(symbols, text + function.start,
		                          function.end - function.start,
		                          text + function.end, 0,
		                          function.name))
			return false;
	return text && count > 0;
}

/* ---- frame pointers ---- */

static int machine_of(Elf *elf)
{
	GElf_Ehdr header;

	return gelf_getehdr(elf, &header) ? header.e_machine : EM_NONE;
}

/* C's linker keeps the note alone. */
bool ppi_elf_is_go(Elf *elf)
{
	GElf_Shdr header;

	return ppi_elf_find(elf, sections[0], &header) ||
	       ppi_elf_find(elf, sections[1], &header) ||
	       ppi_elf_find(elf, ".note.go.buildid", &header);
}

bool ppi_elf_has_go_names(Elf *elf)
{
	struct table table;

	return begin(elf, &table) && text_of(elf, &table) != 0;
}

/* lea N(%rsp),%rbp with a byte or a word; mov %rsp,%rbp. */
static bool sets_rbp(const unsigned char *at, uint64_t left)
{
	return (left >= 5 && memcmp(at, "\x48\x8d\x6c\x24", 4) == 0) ||
	       (left >= 8 && memcmp(at, "\x48\x8d\xac\x24", 4) == 0) ||
	       (left >= 3 && memcmp(at, "\x48\x89\xe5", 3) == 0);
}

/* sub x29, sp, #8 */
static bool sets_x29(const unsigned char *at, uint64_t left)
{
	return left >= 4 && memcmp(at, "\xfd\x23\x00\xd1", 4) == 0;
}

/*
 * Go writes no unwind tables that say where a frame pointer is, but its
 * functions set one at their beginning, unless they have no frame (Go's
 * cmd/internal/obj/x86 and arm64, preprocess). Bytes of another instruction may
 * look alike: a function is short, and few do.
 */
enum ppi_frame_pointer ppi_elf_go_frame(Elf *elf, uint64_t start,
                                        uint64_t vaddr)
{
	enum { PROLOGUE = 96 }; /* after the check of the stack's limit */
	int machine = machine_of(elf);
	uint64_t left;
	const unsigned char *code = ppi_elf_at(elf, start, &left);

	if (!code || (machine != EM_X86_64 && machine != EM_AARCH64))
		return PPI_FRAME_UNKNOWN;
	if (left > vaddr - start)
		left = vaddr - start;
	for (uint64_t i = 0; i < left && i < PROLOGUE; i++)
		if (machine == EM_X86_64 ? sets_rbp(code + i, left - i)
		                         : sets_x29(code + i, left - i))
			return PPI_FRAME_KEPT;
	return PPI_FRAME_NONE;
}

/* gcc 12 for x86 leaves them out of functions that need none, whatever
 * -mno-omit-leaf-frame-pointer says; for arm64, and clang everywhere, it
 * does not. */
bool ppi_elf_keeps_leaf_frames(Elf *elf)
{
	static const char clang[] = "clang";
	const Elf_Data *comment = ppi_elf_section(elf, ".comment");
	const char *text = comment ? comment->d_buf : NULL;
	size_t length = sizeof(clang) - 1;

	if (machine_of(elf) == EM_AARCH64)
		return true;
	for (size_t i = 0; text && i + length <= comment->d_size; i++)
		if (memcmp(text + i, clang, length) == 0)
			return true;
	return false;
}
