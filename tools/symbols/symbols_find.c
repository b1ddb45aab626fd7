/* SPDX-License-Identifier: MIT */
/* Where the separate debug file of an ELF file is. The names come from files of
 * others. */
#include "config.h"

#include "tools/symbols/symbols_elf.h"

#include "base/foreign_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usual_folder[] = "/usr/lib/debug";

/* A sum is made of a file from end to end; no debug file is larger. */
#define SUMMED_BYTES_MAX ((off_t)4 << 30)

/* What a debug file must be. */
struct wanted {
	const char *build_id; /* "": the sum decides */
	bool has_sum;
	bool has_symbols; /* it must have a table of them */
	uint32_t sum;
	char **refused; /* where the first one goes that is not wanted; NULL */
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

static bool has_table(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)) != NULL)
		if (gelf_getshdr(section, &header) &&
		    header.sh_type == SHT_SYMTAB)
			return true;
	return false;
}

static bool is_wanted(Elf *elf, const struct stat *at,
                      const struct wanted *wanted)
{
	const char *image;
	char found[PPI_BUILD_ID_ROOM];
	size_t size;

	if (!elf || elf_kind(elf) != ELF_K_ELF ||
	    (wanted->has_symbols && !has_table(elf)))
		return false;
	if (wanted->build_id[0]) {
		ppi_elf_build_id(elf, found, sizeof(found));
		return strcmp(found, wanted->build_id) == 0;
	}
	if (!wanted->has_sum || at->st_size > SUMMED_BYTES_MAX)
		return false;
	image = elf_rawfile(elf, &size);
	return image &&
	       sum_of((const unsigned char *)image, size) == wanted->sum;
}

char *ppi_debug_print(const char *format, ...)
{
	va_list list;
	char *text = NULL;
	int length;

	va_start(list, format);
	length = vsnprintf(NULL, 0, format, list);
	va_end(list);
	if (length >= 0)
		text = malloc((size_t)length + 1);
	if (!text)
		return NULL;
	va_start(list, format);
	vsnprintf(text, (size_t)length + 1, format, list);
	va_end(list);
	return text;
}

/* Open the file of that name, which is freed or handed over, if it is the
 * right one. */
static int open_named(const struct wanted *wanted, char *path, char **found)
{
	struct stat at;
	int fd = path ? ppi_foreign_open(path, PPI_FOREIGN_FILE, &at) : -1;
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	bool is_right = is_wanted(elf, &at, wanted);

	elf_end(elf);
	if (is_right) {
		*found = path;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && wanted->refused && !*wanted->refused)
		*wanted->refused = path;
	else
		free(path);
	return -1;
}

static int open_by_build_id(const struct wanted *wanted, const char *folder,
                            const char *suffix, char **found)
{
	const char *id = wanted->build_id;

	if (!folder || strlen(id) <= 2)
		return -1;
	return open_named(wanted,
	                  ppi_debug_print("%s/.build-id/%.2s/%s%s", folder,
	                                  id, id + 2, suffix),
	                  found);
}

/* A copy of the binary from before it was stripped. */
static int open_copy(struct wanted *wanted, const char *folder, char **found)
{
	wanted->has_symbols = true;
	return open_by_build_id(wanted, folder, "", found);
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
		return strchr(link, '/') || !link[0] ? NULL : link;
	}
	return NULL;
}

/* Under a folder the path stands whole, or without its first parts. */
static int open_under(const struct wanted *wanted, const char *folder,
                      const char *path, const char *name, char **found)
{
	const char *end = strrchr(path, '/'), *at = path;
	int fd = -1;

	while (folder && fd < 0 && at) {
		fd = open_named(wanted,
		                ppi_debug_print("%s%.*s/%s", folder,
		                                (int)(end - at), at, name),
		                found);
		at = at < end ? memchr(at + 1, '/', (size_t)(end - at)) : NULL;
	}
	return fd;
}

static int open_by_link(const struct wanted *wanted, const char *path,
                        const char *name, const char *folder, char **found)
{
	int length = (int)(strrchr(path, '/') - path), fd;

	fd = open_named(wanted,
	                ppi_debug_print("%.*s/%s", length, path, name), found);
	if (fd < 0)
		fd = open_named(wanted,
		                ppi_debug_print("%.*s/.debug/%s", length, path,
		                                name),
		                found);
	if (fd < 0)
		fd = open_under(wanted, folder, path, name, found);
	return fd < 0 ? open_under(wanted, usual_folder, path, name, found)
	              : fd;
}

int ppi_debug_find(Elf *elf, const char *path, const char *build_id,
                   const char *folder, char **found, char **refused)
{
	struct wanted wanted = { .build_id = build_id };
	const char *slash = strrchr(path, '/'), *link;
	char *name = NULL;
	int fd = open_by_build_id(&wanted, folder, ".debug", found);

	if (fd < 0)
		fd = open_by_build_id(&wanted, usual_folder, ".debug", found);
	if (fd >= 0 || !slash)
		return fd;
	link = read_link(elf, &wanted);
	wanted.refused = refused;
	if (!link) {
		wanted.refused = NULL;
		wanted.has_sum = false;
		link = name = ppi_debug_print("%s.debug", slash + 1);
	}
	if (link)
		fd = open_by_link(&wanted, path, link, folder, found);
	free(name);
	wanted.refused = NULL;
	return fd < 0 ? open_copy(&wanted, folder, found) : fd;
}

char *ppi_debug_beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	if (name[0] == '/')
		return strdup(name);
	return ppi_debug_print("%.*s/%s", slash ? (int)(slash - path) : 1,
	                       slash ? path : ".", name);
}

int ppi_debug_find_rest(const char *path, const char *name,
                        const unsigned char *id, size_t id_bytes, char **found)
{
	char text[PPI_BUILD_ID_ROOM];
	struct wanted wanted = { .build_id = text };
	int fd;

	ppi_elf_print_id(id, id_bytes, text, sizeof(text));
	fd = open_by_build_id(&wanted, usual_folder, ".debug", found);
	return fd < 0 ? open_named(&wanted, ppi_debug_beside(path, name), found)
	              : fd;
}
