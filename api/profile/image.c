/* SPDX-License-Identifier: MIT */
/* The files of mappings: their paths, and the program headers of an ELF file
 * (System V gABI, chapters 4 and 5). */
#include "config.h"

#include "api/profile/image.h"

#include "base/elf.h"
#include "base/foreign_file.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- paths ---- */

/* Memory without a file, and names that the kernel gives to such memory
 * (proc(5), memfd_create(2)), are another thing in each process. */
bool ppi_is_shared_file(const char *path)
{
	static const char *const own[] = { "//", "/memfd:", "/dev/", "/SYSV",
		                           "/anon_hugepage" };

	if (strcmp(path, "[vdso]") == 0)
		return true;
	if (path[0] == '[' || path[0] == '\0')
		return false;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strncmp(path, own[i], strlen(own[i])) == 0)
			return false;
	return true;
}

/* Its writer maps a page of it for no other purpose than to be seen
 * (tools/perf/Documentation/jitdump-specification.txt of Linux). */
bool ppi_is_code_dump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits;

	if (!name || strncmp(name, "/jit-", 5) != 0)
		return false;
	name += 5;
	digits = strspn(name, "0123456789");
	return digits > 0 && (strcmp(name + digits, ".dump") == 0 ||
	                      strcmp(name + digits, ".dump (deleted)") == 0);
}

/* ---- ELF files ---- */

enum { TYPE_LOAD = 1, TYPE_NOTE = 4, FLAG_EXECUTE = 1 };
enum { NOTE_ROOM = 65536, HEADERS_ROOM = 65536 };

struct reading {
	const char *path;
	int fd;
	bool is_little;
	struct ppi_image *image;
	struct ppi_diag *why;
};

static portprof_status refuse(const struct reading *reading, const char *words)
{
	return ppi_fail(reading->why, PORTPROF_E_FORMAT, 0, "read program",
	                "'%s' %s", reading->path, words);
}

static uint64_t number_at(const struct reading *reading,
                          const unsigned char *bytes, unsigned count)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < count; i++)
		number = number << 8 |
		         bytes[reading->is_little ? count - 1 - i : i];
	return number;
}

static bool get(const struct reading *reading, void *bytes, size_t count,
                uint64_t offset)
{
	return ppi_foreign_read(reading->fd, bytes, count, offset) == count;
}

static void keep_build_id(struct ppi_image *image, const unsigned char *id,
                          size_t bytes)
{
	ppi_text_hex(id, bytes, image->build_id);
}

static void take_notes(const struct reading *reading, uint64_t offset,
                       uint64_t bytes)
{
	size_t count = bytes < NOTE_ROOM ? (size_t)bytes : NOTE_ROOM;
	unsigned char *room = malloc(NOTE_ROOM);
	const unsigned char *id = NULL;

	if (room && get(reading, room, count, offset)) {
		count = ppi_build_id_find(room, count,
		                          reading->image->is_swapped,
		                          PORTPROF_BUILD_ID_BYTES, &id);
		keep_build_id(reading->image, id, count);
	}
	free(room);
}

static portprof_status take_code(struct reading *reading,
                                 const struct ppi_image_code *code)
{
	struct ppi_image *image = reading->image;
	size_t at = image->code_count;

	if (code->bytes > INT64_MAX ||
	    code->address > UINT64_MAX - code->bytes ||
	    code->offset > UINT64_MAX - code->bytes)
		return refuse(reading, "is damaged: its code has no addresses");
	if (at == sizeof(image->code) / sizeof(image->code[0]))
		return refuse(reading, "has code in more than 16 pieces");
	for (; at > 0 && image->code[at - 1].address > code->address; at--)
		image->code[at] = image->code[at - 1];
	image->code[at] = *code;
	image->code_count++;
	return PORTPROF_OK;
}

/* One program header, 56 bytes in the large class and 32 in the small. */
static portprof_status take_header(struct reading *reading,
                                   const unsigned char *header)
{
	bool is_large = reading->image->pointer_bytes == 8;
	unsigned bytes = reading->image->pointer_bytes;
	uint64_t type = number_at(reading, header, 4);
	uint64_t flags = number_at(reading, header + (is_large ? 4 : 24), 4);
	const unsigned char *places = header + (is_large ? 8 : 4);
	struct ppi_image_code code = {
		.offset = number_at(reading, places, bytes),
		.address = number_at(reading, places + bytes, bytes),
		.bytes = number_at(reading, places + 3 * bytes, bytes),
	};

	if (type == TYPE_NOTE && !reading->image->build_id[0])
		take_notes(reading, code.offset, code.bytes);
	if (type == TYPE_LOAD && flags & FLAG_EXECUTE && code.bytes)
		return take_code(reading, &code);
	return PORTPROF_OK;
}

static portprof_status take_headers(struct reading *reading, uint64_t offset,
                                    size_t size, size_t count)
{
	unsigned char *room = malloc(HEADERS_ROOM);
	portprof_status status = PORTPROF_OK;

	if (!room)
		return ppi_fail(reading->why, PORTPROF_E_NOMEM, ENOMEM,
		                "read program", "out of memory");
	if (size * count > HEADERS_ROOM ||
	    !get(reading, room, size * count, offset))
		status = refuse(reading, "is damaged: its headers are "
		                         "incomplete");
	for (size_t i = 0; i < count && status == PORTPROF_OK; i++)
		status = take_header(reading, room + i * size);
	free(room);
	if (status == PORTPROF_OK && reading->image->code_count == 0)
		status = refuse(reading,
		                "has no code: name the executable, not an "
		                "object file or its debug information");
	return status;
}

static portprof_status take_file(struct reading *reading)
{
	static const uint16_t probe = 1;
	unsigned char header[64] = { 0 };
	bool is_large;
	size_t size, least;

	if (!get(reading, header, 52, 0) || memcmp(header, "\177ELF", 4) != 0 ||
	    header[4] < 1 || header[4] > 2 || header[5] < 1 || header[5] > 2)
		return refuse(reading, "is not an ELF file, so not a program");
	is_large = header[4] == 2;
	reading->is_little = header[5] == 1;
	reading->image->pointer_bytes = is_large ? 8 : 4;
	reading->image->machine = (unsigned)number_at(reading, header + 18, 2);
	reading->image->is_swapped =
		reading->is_little != (*(const unsigned char *)&probe == 1);
	if (is_large && !get(reading, header, 64, 0))
		return refuse(reading, "is truncated in its header");
	least = is_large ? 56 : 32;
	size = (size_t)number_at(reading, header + (is_large ? 54 : 42), 2);
	if (size < least)
		return refuse(reading, "has no program headers: name the "
		                       "executable, not an object file");
	return take_headers(
		reading,
		number_at(reading, header + (is_large ? 32 : 28),
	                  reading->image->pointer_bytes),
		size,
		(size_t)number_at(reading, header + (is_large ? 56 : 44), 2));
}

portprof_status ppi_image_read(const char *path, struct ppi_image *image,
                               struct ppi_diag *why)
{
	struct reading reading = { .path = path, .why = why, .image = image };
	portprof_status status;

	memset(image, 0, sizeof(*image));
	reading.fd = ppi_foreign_open(path, PPI_FOREIGN_FILE, NULL);
	if (reading.fd < 0) {
		status = errno == ENOENT || errno == ENOTDIR
		                 ? PORTPROF_E_NOTFOUND
		         : errno == EACCES || errno == EPERM
		                 ? PORTPROF_E_DENIED
		         : errno == EINVAL || errno == EISDIR
		                 ? PORTPROF_E_FORMAT
		                 : PORTPROF_E_SYSTEM;
		return ppi_fail(why, status, errno, "read program",
		                "cannot open '%s': %s", path,
		                ppi_foreign_error(errno));
	}
	status = take_file(&reading);
	close(reading.fd);
	return status;
}

const struct ppi_image_code *ppi_image_at(const struct ppi_image *image,
                                          uint64_t offset)
{
	for (size_t i = 0; i < image->code_count; i++)
		if (offset >= image->code[i].offset &&
		    offset - image->code[i].offset < image->code[i].bytes)
			return &image->code[i];
	return NULL;
}
