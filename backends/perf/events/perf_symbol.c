/* SPDX-License-Identifier: MIT */
/*
 * Where a program's functions and variables are: symbol tables of ELF files, in
 * the form of 64 bits whatever the file's is.
 */
#include "backends/perf/events/perf_place.h"
#include "backends/perf/kernel/perf_elf.h"
#include "backends/perf/kernel/perf_proc.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PATH_ROOM = PERF_PATH_ROOM + 32,
	SECTIONS_MAX = 1 << 16,
	CHUNK = 1 << 10 /* symbols */
};

/* No program's names take more; what says so is damaged. */
#define NAMES_MAX (UINT64_C(1) << 30)

struct file {
	struct perf_elf elf;
	Elf64_Phdr segments[PERF_SEGMENTS_MAX];
	size_t segment_count;
};

static enum perf_symbol_answer open_file(struct file *file,
                                         const struct perf_kernel *kernel,
                                         const char *path, int *error)
{
	int result = ppi_perf_elf_open(&file->elf, kernel, path);
	const Elf64_Ehdr *header = &file->elf.header;

	file->segment_count = 0;
	*error = result < 0 ? -result : 0;
	if (result < 0)
		return PERF_SYMBOL_NO_FILE;
	if (result > 0 ||
	    header->e_shentsize != (file->elf.is_64 ? sizeof(Elf64_Shdr)
	                                            : sizeof(Elf32_Shdr)))
		return PERF_SYMBOL_NO_ELF;
	for (size_t i = 0; i < header->e_phnum &&
	     file->segment_count < PERF_SEGMENTS_MAX; i++) {
		Elf64_Phdr *segment = &file->segments[file->segment_count];

		if (!ppi_perf_elf_segment(&file->elf, i, segment))
			return PERF_SYMBOL_NO_ELF;
		file->segment_count += segment->p_type == PT_LOAD;
	}
	return PERF_SYMBOL_FOUND;
}

/* ---- symbols ---- */

/* What is known of the name so far. */
struct search {
	const char *name;
	struct perf_symbol *symbol;
	bool is_global, is_local, is_chosen, has_other;
	struct ppi_nearest *nearest; /* offered every name; NULL: none is */
};

static void take_symbol(struct search *search, const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	bool is_global = ELF64_ST_BIND(symbol->st_info) != STB_LOCAL;

	if (type == STT_GNU_IFUNC)
		search->is_chosen = true;
	if ((type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE) ||
	    symbol->st_shndx == SHN_UNDEF || search->is_global)
		return;
	search->has_other |= search->is_local &&
	                     search->symbol->address != symbol->st_value;
	search->is_global = is_global;
	search->is_local = true;
	search->symbol->address = symbol->st_value;
	search->symbol->bytes = symbol->st_size;
	search->symbol->is_variable = type == STT_OBJECT;
}

static void offer_symbol(struct search *search, const Elf64_Sym *symbol,
                         const char *name)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if ((type == STT_FUNC || type == STT_OBJECT) &&
	    symbol->st_shndx != SHN_UNDEF)
		ppi_nearest_offer(search->nearest, name);
}

static bool read_symbols(const struct perf_elf *elf, uint64_t offset,
                         Elf64_Sym *out, size_t count)
{
	Elf32_Sym small;

	if (elf->is_64)
		return ppi_perf_elf_read(elf, offset, out, count * sizeof(*out));
	for (size_t i = 0; i < count; i++) {
		if (!ppi_perf_elf_read(elf, offset + i * sizeof(small), &small,
		             sizeof(small)))
			return false;
		out[i] = (Elf64_Sym){ .st_name = small.st_name,
			              .st_info = small.st_info,
			              .st_shndx = small.st_shndx,
			              .st_value = small.st_value,
			              .st_size = small.st_size };
	}
	return true;
}

/* False when there is no memory; a table that cannot be read has no symbol. */
static bool search_table(const struct perf_elf *elf, const Elf64_Shdr *table,
                         struct search *search)
{
	size_t each = elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint64_t count = table->sh_size / each;
	size_t length = strlen(search->name) + 1;
	Elf64_Shdr strings;
	Elf64_Sym *chunk;
	char *names;

	if (!ppi_perf_elf_section(elf, table->sh_link, &strings) ||
	    strings.sh_size > NAMES_MAX)
		return true;
	names = malloc((size_t)strings.sh_size + 1);
	chunk = malloc(CHUNK * sizeof(*chunk));
	if (!names || !chunk ||
	    !ppi_perf_elf_read(elf, strings.sh_offset, names, (size_t)strings.sh_size))
		count = 0;
	if (names)
		names[strings.sh_size] = '\0';
	for (uint64_t at = 0; at < count && !search->is_global; at += CHUNK) {
		size_t some = count - at < CHUNK ? (size_t)(count - at) : CHUNK;

		if (!read_symbols(elf, table->sh_offset + at * each, chunk,
		                  some))
			break;
		for (size_t i = 0; search->nearest && i < some; i++)
			if (chunk[i].st_name < strings.sh_size)
				offer_symbol(search, &chunk[i],
				             names + chunk[i].st_name);
		for (size_t i = 0; i < some && !search->is_global; i++)
			if (chunk[i].st_name < strings.sh_size &&
			    strings.sh_size - chunk[i].st_name >= length &&
			    memcmp(names + chunk[i].st_name, search->name,
			           length) == 0)
				take_symbol(search, &chunk[i]);
	}
	free(chunk);
	count = names && chunk;
	free(names);
	return count;
}

static uint64_t file_offset_of(const struct file *file, uint64_t address)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (address >= segment->p_vaddr &&
		    address - segment->p_vaddr < segment->p_filesz)
			return address - segment->p_vaddr + segment->p_offset;
	}
	return 0;
}

static enum perf_symbol_answer search_file(const struct file *file,
                                           const char *name,
                                           struct perf_symbol *symbol,
                                           struct ppi_nearest *nearest)
{
	struct search search = { .name = name, .symbol = symbol,
		                 .nearest = nearest };
	size_t count = file->elf.header.e_shnum;
	Elf64_Shdr section;

	for (size_t i = 0; i < count && i < SECTIONS_MAX && !search.is_global;
	     i++) {
		if (!ppi_perf_elf_section(&file->elf, i, &section))
			break;
		if (section.sh_type != SHT_SYMTAB &&
		    section.sh_type != SHT_DYNSYM)
			continue;
		if (!search_table(&file->elf, &section, &search))
			return PERF_SYMBOL_NO_MEMORY;
	}
	if (!search.is_local)
		return search.is_chosen ? PERF_SYMBOL_CHOSEN : PERF_SYMBOL_NONE;
	if (search.has_other && !search.is_global)
		return PERF_SYMBOL_SEVERAL;
	symbol->file_offset = file_offset_of(file, symbol->address);
	return PERF_SYMBOL_FOUND;
}

enum perf_symbol_answer
ppi_perf_symbol_in_file(const struct perf_kernel *kernel,
                        const char *path, const char *name,
                        struct perf_symbol *symbol,
                        struct ppi_nearest *nearest,
                        int *error)
{
	enum perf_symbol_answer answer;
	struct file file;

	memset(symbol, 0, sizeof(*symbol));
	answer = open_file(&file, kernel, path, error);
	if (answer == PERF_SYMBOL_FOUND)
		answer = search_file(&file, name, symbol, NULL);
	if (answer == PERF_SYMBOL_NONE)
		answer = search_file(&file, name, symbol, nearest);
	return answer;
}

/* ---- processes ---- */

struct walk {
	const struct perf_kernel *kernel;
	int64_t pid;
	const char *name;
	struct perf_symbol *symbol;
	struct ppi_nearest *nearest;
	enum perf_symbol_answer answer;
	bool has_mapping;
	char *path;        /* of the last file that was looked at */
	size_t path_bytes;
};

/* How far code is from where its file has it. */
static bool find_shift(const struct file *file,
                       const struct perf_mapping *mapping, uint64_t *shift)
{
	uint64_t end = mapping->file_offset + (mapping->end - mapping->start);

	for (size_t i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (!(segment->p_flags & PF_X) || segment->p_offset >= end ||
		    segment->p_offset + segment->p_filesz <=
		    mapping->file_offset)
			continue;
		*shift = mapping->start - mapping->file_offset +
		         segment->p_offset - segment->p_vaddr;
		return true;
	}
	return false;
}

static void search_mapping(void *context, const struct perf_mapping *mapping)
{
	struct walk *walk = context;
	char path[PATH_ROOM];
	enum perf_symbol_answer answer;
	struct file file;
	uint64_t shift;
	int error;

	walk->has_mapping = true;
	if (walk->answer == PERF_SYMBOL_FOUND || mapping->path[0] != '/' ||
	    strcmp(mapping->path, walk->path) == 0)
		return;
	snprintf(walk->path, walk->path_bytes, "%s", mapping->path);
	snprintf(path, sizeof(path), "/proc/%lld/root%s",
	         (long long)walk->pid, mapping->path);
	answer = open_file(&file, walk->kernel, path, &error);
	/* of our own user, but of another root's view */
	if (answer == PERF_SYMBOL_NO_FILE)
		answer = open_file(&file, walk->kernel, mapping->path, &error);
	if (answer == PERF_SYMBOL_FOUND)
		answer = search_file(&file, walk->name, walk->symbol,
		                     walk->nearest);
	if (answer == PERF_SYMBOL_FOUND && !find_shift(&file, mapping, &shift))
		answer = PERF_SYMBOL_NONE;
	if (answer == PERF_SYMBOL_FOUND)
		walk->symbol->address += shift;
	/* what several files lack is no worse than what one has twice */
	if (answer == PERF_SYMBOL_FOUND || answer == PERF_SYMBOL_SEVERAL ||
	    answer == PERF_SYMBOL_CHOSEN || answer == PERF_SYMBOL_NO_MEMORY)
		walk->answer = answer;
}

static int64_t process_of(const struct perf_kernel *kernel, int64_t pid)
{
	return pid > 0 ? pid : kernel->get_pid(kernel->self);
}

enum perf_symbol_answer
ppi_perf_symbol_in_process(const struct perf_kernel *kernel, int64_t pid,
                           const char *name, struct perf_symbol *symbol,
                           struct ppi_nearest *nearest, char *path,
                           size_t path_bytes)
{
	struct walk walk = {
		.kernel = kernel, .pid = process_of(kernel, pid), .name = name,
		.symbol = symbol, .answer = PERF_SYMBOL_NONE, .path = path,
		.path_bytes = path_bytes,
	};

	memset(symbol, 0, sizeof(*symbol));
	path[0] = '\0';
	ppi_perf_proc_mappings(kernel, walk.pid, search_mapping, &walk);
	if (walk.has_mapping && walk.answer == PERF_SYMBOL_NONE && nearest) {
		walk.nearest = nearest;
		path[0] = '\0';
		ppi_perf_proc_mappings(kernel, walk.pid, search_mapping, &walk);
	}
	return walk.has_mapping ? walk.answer : PERF_SYMBOL_NO_FILE;
}

static void compare_file(void *context, const struct perf_mapping *mapping)
{
	struct walk *walk = context;
	const char *slash = strrchr(mapping->path, '/');

	if (walk->path[0] == '\0' && slash &&
	    strcmp(slash + 1, walk->name) == 0 &&
	    strlen(mapping->path) < walk->path_bytes)
		strcpy(walk->path, mapping->path);
}

bool ppi_perf_symbol_find_file(const struct perf_kernel *kernel, int64_t pid,
                               const char *name, char *path, size_t path_bytes)
{
	struct walk walk = { .name = name, .path = path,
		             .path_bytes = path_bytes };

	path[0] = '\0';
	ppi_perf_proc_mappings(kernel, process_of(kernel, pid), compare_file,
	                       &walk);
	return path[0] != '\0';
}
