/* SPDX-License-Identifier: MIT */
/*
 * Where a program's functions and variables are: symbol tables of ELF files, as
 * elf(5) has them, in the form of 64 bits whatever the file's is.
 */
#include "backends/perf/events/perf_place.h"
#include "backends/perf/kernel/perf_proc.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PATH_ROOM = PERF_PATH_ROOM + 32,
	SEGMENTS_MAX = 64,
	SECTIONS_MAX = 1 << 16,
	CHUNK = 1 << 10 /* symbols */
};

/* No program's names take more; what says so is damaged. */
#define NAMES_MAX (UINT64_C(1) << 30)

struct file {
	const struct perf_kernel *kernel;
	const char *path;
	bool is_64;
	Elf64_Ehdr header;
	Elf64_Phdr segments[SEGMENTS_MAX];
	size_t segment_count;
};

static bool read_at(const struct file *file, uint64_t offset, void *out,
                    size_t bytes)
{
	char *at = out;

	while (bytes > 0) {
		ssize_t got = file->kernel->read_file(file->kernel->self,
		                                      file->path, offset, at,
		                                      bytes);

		if (got <= 0)
			return false;
		at += got;
		offset += (uint64_t)got;
		bytes -= (size_t)got;
	}
	return true;
}

/* ---- headers ---- */

static bool read_header(struct file *file)
{
	Elf64_Ehdr *out = &file->header;
	Elf32_Ehdr small;

	if (file->is_64)
		return read_at(file, 0, out, sizeof(*out)) &&
		       out->e_shentsize == sizeof(Elf64_Shdr) &&
		       out->e_phentsize == sizeof(Elf64_Phdr);
	if (!read_at(file, 0, &small, sizeof(small)))
		return false;
	out->e_phoff = small.e_phoff;
	out->e_phnum = small.e_phnum;
	out->e_phentsize = small.e_phentsize;
	out->e_shoff = small.e_shoff;
	out->e_shnum = small.e_shnum;
	out->e_shentsize = small.e_shentsize;
	return small.e_shentsize == sizeof(Elf32_Shdr) &&
	       small.e_phentsize == sizeof(Elf32_Phdr);
}

static bool read_segment(const struct file *file, size_t number,
                         Elf64_Phdr *out)
{
	uint64_t at = file->header.e_phoff +
	              number * file->header.e_phentsize;
	Elf32_Phdr small;

	if (file->is_64)
		return read_at(file, at, out, sizeof(*out));
	if (!read_at(file, at, &small, sizeof(small)))
		return false;
	*out = (Elf64_Phdr){ .p_type = small.p_type, .p_flags = small.p_flags,
		             .p_offset = small.p_offset,
		             .p_vaddr = small.p_vaddr,
		             .p_filesz = small.p_filesz };
	return true;
}

static bool read_section(const struct file *file, size_t number,
                         Elf64_Shdr *out)
{
	uint64_t at = file->header.e_shoff +
	              number * file->header.e_shentsize;
	Elf32_Shdr small;

	if (file->is_64)
		return read_at(file, at, out, sizeof(*out));
	if (!read_at(file, at, &small, sizeof(small)))
		return false;
	*out = (Elf64_Shdr){ .sh_type = small.sh_type,
		             .sh_offset = small.sh_offset,
		             .sh_size = small.sh_size,
	                    .sh_link = small.sh_link };
	return true;
}

static enum perf_symbol_answer open_file(struct file *file,
                                         const struct perf_kernel *kernel,
                                         const char *path, int *error)
{
	const uint16_t probe = 1;
	unsigned char ident[EI_NIDENT];
	int order = *(const unsigned char *)&probe ? ELFDATA2LSB : ELFDATA2MSB;
	ssize_t got = kernel->read_file(kernel->self, path, 0, ident,
	                                sizeof(ident));

	memset(file, 0, sizeof(*file));
	file->kernel = kernel;
	file->path = path;
	*error = got < 0 ? (int)-got : 0;
	if (got < 0)
		return PERF_SYMBOL_NO_FILE;
	if (got != sizeof(ident) || memcmp(ident, ELFMAG, SELFMAG) != 0 ||
	    ident[EI_DATA] != order)
		return PERF_SYMBOL_NO_ELF;
	file->is_64 = ident[EI_CLASS] == ELFCLASS64;
	if (!read_header(file))
		return PERF_SYMBOL_NO_ELF;
	for (size_t i = 0; i < file->header.e_phnum &&
	     file->segment_count < SEGMENTS_MAX; i++) {
		Elf64_Phdr *segment = &file->segments[file->segment_count];

		if (!read_segment(file, i, segment))
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

static bool read_symbols(const struct file *file, uint64_t offset,
                         Elf64_Sym *out, size_t count)
{
	Elf32_Sym small;

	if (file->is_64)
		return read_at(file, offset, out, count * sizeof(*out));
	for (size_t i = 0; i < count; i++) {
		if (!read_at(file, offset + i * sizeof(small), &small,
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
static bool search_table(const struct file *file, const Elf64_Shdr *table,
                         struct search *search)
{
	size_t each = file->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint64_t count = table->sh_size / each;
	size_t length = strlen(search->name) + 1;
	Elf64_Shdr strings;
	Elf64_Sym *chunk;
	char *names;

	if (!read_section(file, table->sh_link, &strings) ||
	    strings.sh_size > NAMES_MAX)
		return true;
	names = malloc((size_t)strings.sh_size + 1);
	chunk = malloc(CHUNK * sizeof(*chunk));
	if (!names || !chunk ||
	    !read_at(file, strings.sh_offset, names, (size_t)strings.sh_size))
		count = 0;
	if (names)
		names[strings.sh_size] = '\0';
	for (uint64_t at = 0; at < count && !search->is_global; at += CHUNK) {
		size_t some = count - at < CHUNK ? (size_t)(count - at) : CHUNK;

		if (!read_symbols(file, table->sh_offset + at * each, chunk,
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
	size_t count = file->header.e_shnum;
	Elf64_Shdr section;

	for (size_t i = 0; i < count && i < SECTIONS_MAX && !search.is_global;
	     i++) {
		if (!read_section(file, i, &section))
			break;
		if (section.sh_type != SHT_SYMTAB &&
		    section.sh_type != SHT_DYNSYM)
			continue;
		if (!search_table(file, &section, &search))
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
