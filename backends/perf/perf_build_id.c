/* SPDX-License-Identifier: MIT */
/*
 * The build-id in the notes of an ELF file, for kernels that do not put it
 * into their records. Files of the machine's own byte order only.
 */
#include "backends/perf/perf_proc.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum { SEGMENTS_MAX = 64, NOTES_MAX = 4096 };

struct file {
	const struct perf_kernel *kernel;
	char path[PERF_PATH_ROOM + 32];
};

static bool read_at(const struct file *file, uint64_t offset, void *out,
                    size_t bytes)
{
	return file->kernel->read_file(file->kernel->self, file->path, offset,
	                               out, bytes) == (ssize_t)bytes;
}

static size_t round_up(size_t bytes)
{
	return (bytes + 3) & ~(size_t)3;
}

/* Notes: three numbers, the owner's name, the description; elf(5). */
static size_t find_in_notes(const unsigned char *notes, size_t bytes,
                            unsigned char *out, size_t room)
{
	Elf64_Nhdr note;

	while (bytes >= sizeof(note)) {
		size_t name, rest;

		memcpy(&note, notes, sizeof(note));
		notes += sizeof(note);
		bytes -= sizeof(note);
		if (note.n_namesz > bytes || note.n_descsz > bytes)
			return 0;
		name = round_up(note.n_namesz);
		rest = round_up(note.n_descsz);
		if (name > bytes || note.n_descsz > bytes - name)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes, "GNU", 4) == 0 && note.n_descsz <= room) {
			memcpy(out, notes + name, note.n_descsz);
			return note.n_descsz;
		}
		if (rest > bytes - name)
			return 0;
		notes += name + rest;
		bytes -= name + rest;
	}
	return 0;
}

static size_t find_in_segment(const struct file *file, uint64_t offset,
                              uint64_t bytes, unsigned char *out, size_t room)
{
	unsigned char notes[NOTES_MAX];

	if (bytes > sizeof(notes))
		bytes = sizeof(notes);
	if (!read_at(file, offset, notes, (size_t)bytes))
		return 0;
	return find_in_notes(notes, (size_t)bytes, out, room);
}

static size_t search_64(const struct file *file, unsigned char *out,
                        size_t room)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	size_t found = 0;

	if (!read_at(file, 0, &header, sizeof(header)) ||
	    header.e_phentsize != sizeof(segment))
		return 0;
	for (unsigned i = 0; i < header.e_phnum && i < SEGMENTS_MAX && !found;
	     i++)
		if (read_at(file, header.e_phoff + i * sizeof(segment),
		            &segment, sizeof(segment)) &&
		    segment.p_type == PT_NOTE)
			found = find_in_segment(file, segment.p_offset,
			                        segment.p_filesz, out, room);
	return found;
}

static size_t search_32(const struct file *file, unsigned char *out,
                        size_t room)
{
	Elf32_Ehdr header;
	Elf32_Phdr segment;
	size_t found = 0;

	if (!read_at(file, 0, &header, sizeof(header)) ||
	    header.e_phentsize != sizeof(segment))
		return 0;
	for (unsigned i = 0; i < header.e_phnum && i < SEGMENTS_MAX && !found;
	     i++)
		if (read_at(file, header.e_phoff + i * sizeof(segment),
		            &segment, sizeof(segment)) &&
		    segment.p_type == PT_NOTE)
			found = find_in_segment(file, segment.p_offset,
			                        segment.p_filesz, out, room);
	return found;
}

size_t perf_build_id(const struct perf_kernel *kernel, int64_t pid,
                     const char *path, unsigned char *out, size_t room)
{
	const uint16_t probe = 1;
	unsigned char ident[EI_NIDENT];
	struct file file = { .kernel = kernel };
	int order = *(const unsigned char *)&probe ? ELFDATA2LSB : ELFDATA2MSB;

	/* Devices and "//anon" are no files to read. */
	if (path[0] != '/' || path[1] == '/' || !strncmp(path, "/dev/", 5))
		return 0;
	snprintf(file.path, sizeof(file.path), "/proc/%lld/root%s",
	         (long long)pid, path);
	if (!read_at(&file, 0, ident, sizeof(ident))) {
		snprintf(file.path, sizeof(file.path), "%s", path);
		if (!read_at(&file, 0, ident, sizeof(ident)))
			return 0;
	}
	if (memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != order)
		return 0;
	return ident[EI_CLASS] == ELFCLASS64 ? search_64(&file, out, room)
	                                     : search_32(&file, out, room);
}
