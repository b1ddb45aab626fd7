/* SPDX-License-Identifier: MIT */
/* Symbols of separate debug files, found by build-id or by debug link, where
 * libdw is not there. */
#include "config.h"

#include "tools/symbols/symbols_elf.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char ppi_elf_debug_tier[] = "libelf";

static const char usual_folder[] = "/usr/lib/debug";

struct ppi_debug {
	int fd; /* -1: there is none */
	Elf *elf;
};

/* What a debug file must be. */
struct wanted {
	const char *build_id; /* "": the sum decides */
	bool has_sum;
	uint32_t sum;
};

/* The sum of a debug link: CRC-32 as gzip has it (RFC 1952). */
static uint32_t sum_of(const unsigned char *bytes, size_t count)
{
	uint32_t table[256], sum = 0xffffffff;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] =
				table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	for (size_t i = 0; i < count; i++)
		sum = table[(sum ^ bytes[i]) & 0xff] ^ sum >> 8;
	return ~sum;
}

static bool is_wanted(Elf *elf, const struct wanted *wanted)
{
	const char *image;
	char found[129];
	size_t size;

	if (!elf || elf_kind(elf) != ELF_K_ELF)
		return false;
	if (wanted->build_id[0]) {
		ppi_elf_build_id(elf, found, sizeof(found));
		return strcmp(found, wanted->build_id) == 0;
	}
	image = elf_rawfile(elf, &size);
	return wanted->has_sum && image &&
	       sum_of((const unsigned char *)image, size) == wanted->sum;
}

/* Open the file of that name if it is the right one. */
static bool open_named(struct ppi_debug *debug, const struct wanted *wanted,
                       const char *format, ...)
{
	char path[4096];
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(path, sizeof(path), format, list);
	va_end(list);
	if (length < 0 || (size_t)length >= sizeof(path))
		return false;
	debug->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (debug->fd < 0)
		return false;
	debug->elf = elf_begin(debug->fd, ELF_C_READ_MMAP, NULL);
	if (is_wanted(debug->elf, wanted))
		return true;
	elf_end(debug->elf);
	close(debug->fd);
	debug->fd = -1;
	return false;
}

static bool open_by_build_id(struct ppi_debug *debug,
                             const struct wanted *wanted, const char *folder)
{
	const char *id = wanted->build_id;

	return folder && strlen(id) > 2 &&
	       open_named(debug, wanted, "%s/.build-id/%.2s/%s.debug", folder,
	                  id, id + 2);
}

/* The name in .gnu_debuglink, and behind it, aligned to 4, the sum. */
static const char *read_link(Elf *elf, struct wanted *wanted)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		const char *name =
			gelf_getshdr(section, &header)
				? elf_strptr(elf, names, header.sh_name)
				: NULL;
		const char *link;
		size_t end;

		if (!name || strcmp(name, ".gnu_debuglink") != 0)
			continue;
		link = (const char *)ppi_elf_bytes(elf, header.sh_offset,
		                                   header.sh_size);
		if (!link || !memchr(link, 0, header.sh_size))
			return NULL;
		end = (strlen(link) + 4) & ~(size_t)3;
		wanted->has_sum = end + 4 <= header.sh_size;
		if (wanted->has_sum)
			memcpy(&wanted->sum, link + end, 4);
		return strchr(link, '/') ? NULL : link;
	}
	return NULL;
}

/* Beside the file, in .debug there, and under the folders of debug files. */
static void open_by_link(struct ppi_debug *debug, struct wanted *wanted,
                         const char *path, const char *folder)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	const char *slash = strrchr(path, '/');
	int length = slash ? (int)(slash - path) : 0;
	const char *name = elf ? read_link(elf, wanted) : NULL;

	if (name && slash &&
	    !open_named(debug, wanted, "%.*s/%s", length, path, name) &&
	    !open_named(debug, wanted, "%.*s/.debug/%s", length, path, name) &&
	    (!folder || !open_named(debug, wanted, "%s%.*s/%s", folder, length,
	                            path, name)))
		open_named(debug, wanted, "%s%.*s/%s", usual_folder, length,
		           path, name);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

struct ppi_debug *ppi_debug_open(const char *path, const char *build_id,
                                 const char *folder)
{
	struct ppi_debug *debug = calloc(1, sizeof(*debug));
	struct wanted wanted = { .build_id = build_id };

	if (!debug)
		return NULL;
	debug->fd = -1;
	if (!open_by_build_id(debug, &wanted, folder) &&
	    !open_by_build_id(debug, &wanted, usual_folder))
		open_by_link(debug, &wanted, path, folder);
	return debug;
}

bool ppi_debug_symbols(struct ppi_debug *debug, struct ppi_symbol_table *table)
{
	return debug->fd >= 0 && ppi_elf_add_symbols(debug->elf, 0, table);
}

/* Lines are read by libdw alone. */
size_t ppi_debug_lines(struct ppi_debug *debug, uint64_t vaddr, bool inlines,
                       struct ppi_symbol_line *lines, size_t room)
{
	(void)debug;
	(void)vaddr;
	(void)inlines;
	(void)lines;
	(void)room;
	return 0;
}

void ppi_debug_close(struct ppi_debug *debug)
{
	if (!debug)
		return;
	if (debug->fd >= 0) {
		elf_end(debug->elf);
		close(debug->fd);
	}
	free(debug);
}

/* The unwind tables are read by libdw alone. */
struct ppi_cfi *ppi_cfi_open(Elf *elf)
{
	(void)elf;
	return NULL;
}

enum ppi_frame_pointer ppi_cfi_look(struct ppi_cfi *cfi, uint64_t vaddr)
{
	(void)cfi;
	(void)vaddr;
	return PPI_FRAME_UNKNOWN;
}

void ppi_cfi_close(struct ppi_cfi *cfi)
{
	(void)cfi;
}
