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
	uint64_t size;
	unsigned word; /* bytes of an address */
	bool is_big;   /* endian */
};

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

static bool begin(Elf *elf, struct table *table)
{
	const Elf_Data *data = ppi_elf_section(elf, ".gopclntab");
	GElf_Ehdr header;
	uint64_t magic;

	if (!data || !data->d_buf || data->d_size < 8 ||
	    !gelf_getehdr(elf, &header))
		return false;
	table->bytes = data->d_buf;
	table->size = data->d_size;
	table->is_big = header.e_ident[EI_DATA] == ELFDATA2MSB;
	table->word = table->bytes[7];
	magic = number(table, 0, 4);
	return (magic == (0xffffff00 | MAGIC_1_18) ||
	        magic == (0xffffff00 | MAGIC_1_20)) &&
	       (table->word == 4 || table->word == 8);
}

/* NULL when there is none that ends. */
static const char *name_at(const struct table *table, uint64_t at)
{
	if (at >= table->size ||
	    !memchr(table->bytes + at, '\0', table->size - at))
		return NULL;
	return (const char *)table->bytes + at;
}

bool ppi_elf_add_go(Elf *elf, struct ppi_symbol_table *symbols)
{
	enum { ENTRY = 8 }; /* of a function: where it begins, where more is */
	struct table table;
	uint64_t count, text, names, functions;

	if (!begin(elf, &table))
		return false;
	count = word(&table, 0);
	text = word(&table, 2);
	names = word(&table, 3);
	functions = word(&table, 7);
	/* with text 0 the loader fills it in, and only Go's linker knows */
	if (text == 0 || names >= table.size || functions >= table.size ||
	    count > (table.size - functions) / ENTRY)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = functions + i * ENTRY;
		uint64_t start = number(&table, at, 4);
		uint64_t end = number(&table, at + ENTRY, 4);
		uint64_t more = functions + number(&table, at + 4, 4);
		const char *name = name_at(
			&table, names + number(&table, more + 4, 4));

		if (name && name[0] && end > start &&
		    !ppi_symbol_table_add(symbols, text + start, end - start,
		                          text + end, 0, name))
			return false;
	}
	return count > 0;
}

/* ---- frame pointers ---- */

static int machine_of(Elf *elf)
{
	GElf_Ehdr header;

	return gelf_getehdr(elf, &header) ? header.e_machine : EM_NONE;
}

/* Kept in stripped files, too (Go's cmd/link); the second is of programs that can be
 * loaded anywhere. */
bool ppi_elf_is_go(Elf *elf)
{
	return ppi_elf_section(elf, ".gopclntab") ||
	       ppi_elf_section(elf, ".data.rel.ro.gopclntab");
}

bool ppi_elf_has_go_names(Elf *elf)
{
	struct table table;

	return begin(elf, &table) && word(&table, 2) != 0;
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
