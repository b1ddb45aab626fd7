/* SPDX-License-Identifier: MIT */
/* One ELF file: is it the one that was recorded, and what does an offset in
 * it belong to. */
#include "config.h"

#include "tools/symbols/symbols_file.h"

#include "base/foreign_file.h"
#include "tools/symbols/symbols_elf.h"
#include "tools/symbols/symbols_vdso.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of a file that are loaded, and where. */
struct segment {
	uint64_t offset, bytes, vaddr;
	bool is_code;
};

struct ppi_symbol_file {
	int fd; /* -1: the image is in memory */
	Elf *elf;
	struct segment *segments;
	size_t segment_count;
	struct ppi_symbol_table names, frames;
	bool is_complete, is_go, keeps_leaf_frames;

	char *path; /* for its debug information, opened when asked for */
	const char *folder;
	char build_id[PPI_BUILD_ID_ROOM];
	struct ppi_debug *debug;
	struct ppi_cfi *cfi; /* opened when asked for */
};

const char *ppi_symbol_file_tier(void)
{
	return ppi_elf_debug_tier;
}

static bool read_segments(struct ppi_symbol_file *file)
{
	size_t count = ppi_elf_segments(file->elf), kept = 0;
	GElf_Phdr header;

	if (count == 0)
		return false;
	file->segments = calloc(count, sizeof(*file->segments));
	if (!file->segments)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct segment *segment = &file->segments[kept];

		if (!gelf_getphdr(file->elf, (int)i, &header) ||
		    header.p_type != PT_LOAD)
			continue;
		segment->offset = header.p_offset;
		segment->bytes = header.p_filesz;
		segment->vaddr = header.p_vaddr;
		segment->is_code = header.p_flags & PF_X;
		kept++;
	}
	file->segment_count = kept;
	return kept > 0;
}

/* Segments may share a page of the file: code is preferred. */
static bool vaddr_of(const struct ppi_symbol_file *file, uint64_t offset,
                     uint64_t *vaddr)
{
	bool is_found = false;

	for (size_t i = 0; i < file->segment_count; i++) {
		const struct segment *segment = &file->segments[i];

		if (offset < segment->offset ||
		    offset - segment->offset >= segment->bytes)
			continue;
		if (is_found && !segment->is_code)
			continue;
		*vaddr = offset - segment->offset + segment->vaddr;
		is_found = true;
	}
	return is_found;
}

/* NULL for the vdso, and when out of memory. */
static struct ppi_debug *debug_of(struct ppi_symbol_file *file)
{
	if (!file->debug && file->fd >= 0)
		file->debug = ppi_debug_open(file->elf, file->path,
		                             file->build_id,
		                             file->folder);
	return file->debug;
}

static void read_names(struct ppi_symbol_file *file)
{
	file->is_complete =
		ppi_elf_add_symbols(file->elf, 0, &file->names);
	if (!file->is_complete && debug_of(file))
		file->is_complete =
			ppi_debug_symbols(file->debug, &file->names);
	if (!file->is_complete)
		file->is_complete = ppi_elf_add_go(file->elf, &file->names);
	if (file->fd < 0) /* the vdso's .dynsym is all that there is */
		file->is_complete = true;
	ppi_elf_add_plt(file->elf, &file->names);
	ppi_elf_add_frames(file->elf, &file->frames);
}

/* Whether the file was written after the recording: then it is another one,
 * although nothing else tells. */
static bool is_newer(int fd, uint64_t recorded_ns)
{
	struct stat status;

	if (recorded_ns == 0 || fd < 0 || fstat(fd, &status) != 0)
		return false;
	return status.st_mtime > 0 &&
	       (uint64_t)status.st_mtime > recorded_ns / 1000000000u;
}

static bool is_the_recorded_one(const struct ppi_symbol_file *file,
                                const struct ppi_symbol_wanted *wanted,
                                char *why, size_t why_bytes)
{
	const char *build_id = file->build_id;

	if (wanted->build_id[0] && strcmp(wanted->build_id, build_id) != 0) {
		snprintf(why, why_bytes,
		         "is not the file that was measured: its build-id is "
		         "%s, recorded was %s",
		         build_id[0] ? build_id : "missing", wanted->build_id);
		return false;
	}
	if (!wanted->build_id[0] && is_newer(file->fd, wanted->recorded_ns)) {
		snprintf(why, why_bytes,
		         "was changed after the measurement and no build-id "
		         "was recorded");
		return false;
	}
	return true;
}

static bool open_elf(struct ppi_symbol_file *file, const char *path, char *why,
                     size_t why_bytes)
{
	size_t bytes;
	char *image;

	if (strcmp(path, "[vdso]") == 0) {
		image = ppi_vdso_image(&bytes);
		file->elf = image ? elf_memory(image, bytes) : NULL;
		if (!file->elf)
			snprintf(why, why_bytes, "is not mapped here");
		return file->elf != NULL;
	}
	file->fd = ppi_foreign_open(path, PPI_FOREIGN_FILE, NULL);
	if (file->fd < 0) {
		snprintf(why, why_bytes, "cannot be read: %s",
		         ppi_foreign_error(errno));
		return false;
	}
	file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF) {
		snprintf(why, why_bytes, "is not an ELF file");
		return false;
	}
	return true;
}

struct ppi_symbol_file *
ppi_symbol_file_open(const struct ppi_symbol_wanted *wanted, char *why,
                     size_t why_bytes)
{
	struct ppi_symbol_file *file = calloc(1, sizeof(*file));

	why[0] = '\0';
	if (!file || elf_version(EV_CURRENT) == EV_NONE) {
		free(file);
		return NULL;
	}
	file->fd = -1;
	file->folder = wanted->folder;
	file->path = strdup(wanted->path);
	if (!file->path)
		goto close;
	if (!open_elf(file, wanted->path, why, why_bytes))
		goto close;
	ppi_elf_build_id(file->elf, file->build_id, sizeof(file->build_id));
	if (!is_the_recorded_one(file, wanted, why, why_bytes))
		goto close;
	if (!read_segments(file)) {
		snprintf(why, why_bytes, "has no loaded segments");
		goto close;
	}
	read_names(file);
	file->is_go = ppi_elf_is_go(file->elf);
	file->keeps_leaf_frames = ppi_elf_keeps_leaf_frames(file->elf);
	if (!ppi_symbol_table_sort(&file->names) ||
	    !ppi_symbol_table_sort(&file->frames))
		goto close;
	return file;
close:
	ppi_symbol_file_close(file);
	return NULL;
}

void ppi_symbol_file_find(struct ppi_symbol_file *file, uint64_t offset,
                          struct ppi_symbol_answer *answer)
{
	const struct ppi_symbol *symbol, *frame;

	memset(answer, 0, sizeof(*answer));
	if (!vaddr_of(file, offset, &answer->vaddr))
		return;
	symbol = ppi_symbol_table_find(&file->names, answer->vaddr);
	frame = ppi_symbol_table_find(&file->frames, answer->vaddr);
	/* A label without a size may reach over functions that were stripped
	 * of their names; the unwind tables know where those begin. */
	if (symbol && !symbol->has_size && frame &&
	    frame->start > symbol->start)
		symbol = NULL;
	if (symbol) {
		answer->found = PPI_SYMBOL_NAME;
		answer->name = ppi_symbol_name(&file->names, symbol);
		answer->start = symbol->start;
	} else if (frame) {
		answer->found = PPI_SYMBOL_BOUNDS;
		answer->start = frame->start;
	}
}

size_t ppi_symbol_file_lines(struct ppi_symbol_file *file, uint64_t vaddr,
                             bool inlines, struct ppi_symbol_line *lines,
                             size_t room)
{
	if (!debug_of(file))
		return 0;
	return ppi_debug_lines(file->debug, vaddr, inlines, lines, room);
}

enum ppi_frame_pointer ppi_symbol_file_frame(struct ppi_symbol_file *file,
                                             uint64_t vaddr)
{
	if (file->is_go) {
		const struct ppi_symbol *symbol =
			ppi_symbol_table_find(&file->names, vaddr);

		return symbol ? ppi_elf_go_frame(file->elf, symbol->start,
		                                 vaddr)
		              : PPI_FRAME_UNKNOWN;
	}
	if (!file->cfi)
		file->cfi = ppi_cfi_open(file->elf);
	return file->cfi ? ppi_cfi_look(file->cfi, vaddr) : PPI_FRAME_UNKNOWN;
}

bool ppi_symbol_file_keeps_leaf_frames(const struct ppi_symbol_file *file)
{
	return file->keeps_leaf_frames;
}

bool ppi_symbol_file_is_complete(const struct ppi_symbol_file *file)
{
	return file->is_complete;
}

void ppi_symbol_file_close(struct ppi_symbol_file *file)
{
	if (!file)
		return;
	ppi_symbol_table_free(&file->names);
	ppi_symbol_table_free(&file->frames);
	ppi_cfi_close(file->cfi);
	ppi_debug_close(file->debug);
	free(file->segments);
	free(file->path);
	if (file->elf)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}
