/* SPDX-License-Identifier: MIT */
/*
 * The build-id in the notes of an ELF file, and which files have which. Files
 * of the machine's own byte order only.
 */
#include "backends/perf/kernel/perf_build_id.h"

#include "backends/perf/kernel/perf_elf.h"
#include "base/elf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portprof/record.h>

enum {
	NOTES_MAX = 4096,
	KNOWN_SLOTS = 4096, /* a power of two; begins again when half full */
	TRIES_MAX = 4       /* at a file that nobody could read */
};

struct file {
	const struct perf_kernel *kernel;
	char path[PERF_PATH_ROOM + 32];
};

struct perf_known_id {
	struct perf_file_key file;
	bool is_used, is_read;
	uint8_t tries, bytes;
	unsigned char id[PORTPROF_BUILD_ID_BYTES];
};

static size_t find_in_segment(const struct perf_elf *elf,
                              const Elf64_Phdr *segment, unsigned char *out)
{
	unsigned char notes[NOTES_MAX];
	const unsigned char *id;
	size_t bytes = segment->p_filesz < sizeof(notes)
	                       ? (size_t)segment->p_filesz
	                       : sizeof(notes);

	if (!ppi_perf_elf_read(elf, segment->p_offset, notes, bytes))
		return 0;
	bytes = ppi_build_id_find(notes, bytes, false, PORTPROF_BUILD_ID_BYTES,
	                          &id);
	if (bytes)
		memcpy(out, id, bytes);
	return bytes;
}

/* 0 bytes when it is no ELF file, or none with a build-id. */
static size_t search_file(const struct file *file, unsigned char *out)
{
	struct perf_elf elf;
	Elf64_Phdr segment;
	size_t found = 0;

	if (ppi_perf_elf_open(&elf, file->kernel, file->path) != 0)
		return 0;
	for (size_t i = 0; i < elf.header.e_phnum && i < PERF_SEGMENTS_MAX &&
	     !found; i++)
		if (ppi_perf_elf_segment(&elf, i, &segment) &&
		    segment.p_type == PT_NOTE)
			found = find_in_segment(&elf, &segment, out);
	return found;
}

/*
 * Whether the path leads to the file that was mapped. By the inode alone:
 * file systems in layers or parts give stat(2) another device than they give
 * the kernel's records.
 */
static bool is_file(const struct file *file, uint64_t inode)
{
	uint64_t found;

	return file->kernel->get_inode(file->kernel->self, file->path,
	                               &found) == 0 && found == inode;
}

/* In the root of the process, which may be another than ours; as its program,
 * whose link /proc keeps when its name is gone; in our root, when it has
 * ended. */
static bool find_file(struct file *file, int64_t pid, uint64_t inode,
                      const char *path)
{
	snprintf(file->path, sizeof(file->path), "/proc/%lld/root%s",
	         (long long)pid, path);
	if (is_file(file, inode))
		return true;
	snprintf(file->path, sizeof(file->path), "/proc/%lld/exe",
	         (long long)pid);
	if (is_file(file, inode))
		return true;
	snprintf(file->path, sizeof(file->path), "%s", path);
	return is_file(file, inode);
}

static bool is_same(const struct perf_file_key *a,
                    const struct perf_file_key *b)
{
	return a->inode == b->inode && a->generation == b->generation &&
	       a->device_major == b->device_major &&
	       a->device_minor == b->device_minor;
}

/* What is known of the file, or a slot for it; NULL when out of memory. */
static struct perf_known_id *slot_of(struct perf_build_ids *ids,
                                     const struct perf_file_key *file)
{
	size_t at = (size_t)((file->inode ^ file->generation) *
	                     UINT64_C(0x9e3779b97f4a7c15) >> 40);

	if (!ids->slots)
		ids->slots = calloc(KNOWN_SLOTS, sizeof(*ids->slots));
	if (!ids->slots)
		return NULL;
	if (ids->count > KNOWN_SLOTS / 2) {
		memset(ids->slots, 0, KNOWN_SLOTS * sizeof(*ids->slots));
		ids->count = 0;
	}
	for (at %= KNOWN_SLOTS; ids->slots[at].is_used;
	     at = (at + 1) % KNOWN_SLOTS)
		if (is_same(&ids->slots[at].file, file))
			return &ids->slots[at];
	ids->slots[at].is_used = true;
	ids->slots[at].file = *file;
	ids->count++;
	return &ids->slots[at];
}

size_t ppi_perf_build_id(struct perf_build_ids *ids,
                         const struct perf_kernel *kernel, int64_t pid,
                         const struct perf_file_key *file, const char *path,
                         unsigned char *out)
{
	struct file found = { .kernel = kernel };
	struct perf_known_id *known;

	/* Devices and "//anon" are no files to read. */
	if (path[0] != '/' || path[1] == '/' || !strncmp(path, "/dev/", 5) ||
	    file->inode == 0 || !(known = slot_of(ids, file)))
		return 0;
	if (!known->is_read && known->tries < TRIES_MAX) {
		known->tries++;
		known->is_read = find_file(&found, pid, file->inode, path);
		if (known->is_read)
			known->bytes = (uint8_t)search_file(&found, known->id);
	}
	memcpy(out, known->id, known->bytes);
	return known->bytes;
}

void ppi_perf_build_ids_free(struct perf_build_ids *ids)
{
	free(ids->slots);
	memset(ids, 0, sizeof(*ids));
}
