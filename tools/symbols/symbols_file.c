/* SPDX-License-Identifier: MIT */
/* One ELF file: is it the one that was recorded, and what does an offset in it
 * belong to. */
#include "config.h"

#include "tools/symbols/symbols_file.h"

#include "base/foreign_file.h"
#include "tools/symbols/symbols_elf.h"
#include "tools/symbols/symbols_kept.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the code that the kernel maps into every process ---- */

/* This process's own image of it; NULL when there is none. It is whole as long
 * as the process lives. */
static char *vdso_image(size_t *bytes)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	char *image = NULL;

	if (!maps)
		return NULL;
	while (!image && fgets(line, sizeof(line), maps)) {
		uintptr_t start, end;

		if (!strstr(line, "[vdso]") ||
		    sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &start, &end) != 2)
			continue;
		image = (char *)start;
		*bytes = end - start;
	}
	fclose(maps);
	return image;
}

/* ---- the file ---- */

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
	struct ppi_symbol_table names, frames; /* read when asked for */
	bool has_looked, is_complete, is_go, is_ada, keeps_leaf_frames;
	bool has_said_lack;

	char *path; /* for its debug information, opened when asked for */
	const char *folder;
	char build_id[PPI_BUILD_ID_ROOM];
	struct ppi_debug *debug;
	struct ppi_cfi *cfi; /* opened when asked for */
	struct ppi_kept *kept; /* NULL: it has no build-id, or nothing is kept */
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
bool ppi_symbol_file_vaddr(const struct ppi_symbol_file *file, uint64_t offset,
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

static bool read_names(struct ppi_symbol_file *file)
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
	return ppi_symbol_table_sort(&file->names) &&
	       ppi_symbol_table_sort(&file->frames);
}

/* The same, unless an earlier window did it. */
static bool take_names(struct ppi_symbol_file *file)
{
	char names[PPI_BUILD_ID_ROOM + 16], frames[sizeof(names)];
	uint64_t is_complete;

	if (!file->kept)
		return read_names(file);
	snprintf(names, sizeof(names), "names %s", file->build_id);
	snprintf(frames, sizeof(frames), "frames %s", file->build_id);
	if (ppi_symbol_table_take(&file->names, file->kept, names,
	                          &is_complete) &&
	    ppi_symbol_table_take(&file->frames, file->kept, frames,
	                          &is_complete)) {
		file->is_complete = is_complete;
		return true;
	}
	ppi_symbol_table_free(&file->names);
	if (!read_names(file))
		return false;
	ppi_symbol_table_keep(&file->names, file->kept, names,
	                      file->is_complete);
	ppi_symbol_table_keep(&file->frames, file->kept, frames,
	                      file->is_complete);
	return true;
}

/* A program has adainit, which GNAT writes to call its parts; what is linked into
 * it, or the library of that, has functions of GNAT's own. */
static bool is_ada(const struct ppi_symbol_table *names)
{
	bool is_found = false;

	for (size_t i = 0; i < names->count && !is_found; i++) {
		const char *name = ppi_symbol_name(names, &names->symbols[i]);

		is_found = strncmp(name, "__gnat_", 7) == 0 &&
		           !strchr(name, '@');
		is_found |= strcmp(name, "adainit") == 0;
	}
	return is_found;
}

/* A profile that has all names needs none of the file's. Out of memory it has
 * none. */
static void get_names(struct ppi_symbol_file *file)
{
	if (file->has_looked)
		return;
	file->has_looked = true;
	if (take_names(file)) {
		file->is_ada = is_ada(&file->names);
		return;
	}
	ppi_symbol_table_free(&file->names);
	ppi_symbol_table_free(&file->frames);
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
		image = vdso_image(&bytes);
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
	file->kept = file->build_id[0] ? wanted->kept : NULL;
	file->is_go = ppi_elf_is_go(file->elf);
	file->keeps_leaf_frames = ppi_elf_keeps_leaf_frames(file->elf);
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
	get_names(file);
	if (!ppi_symbol_file_vaddr(file, offset, &answer->vaddr))
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

/* ---- lines, which earlier windows may have found: number and two texts each ---- */

static void keep_lines(struct ppi_kept *kept, const char *key,
                       const struct ppi_symbol_line *lines, size_t count)
{
	size_t bytes = 0;
	char *at;

	for (size_t i = 0; i < count; i++)
		bytes += sizeof(lines[i].line) + 2 + strlen(lines[i].file) +
		         (lines[i].function ? strlen(lines[i].function) : 0);
	at = ppi_kept_room(kept, key, bytes);
	if (!at)
		return;
	for (size_t i = 0; i < count; i++) {
		memcpy(at, &lines[i].line, sizeof(lines[i].line));
		at += sizeof(lines[i].line);
		at = stpcpy(at, lines[i].function ? lines[i].function : "") + 1;
		at = stpcpy(at, lines[i].file) + 1;
	}
	ppi_kept_done(kept);
}

static size_t take_lines(const char *at, size_t bytes,
                         struct ppi_symbol_line *lines, size_t room)
{
	const char *end = at + bytes;
	size_t count = 0;

	for (; at < end && count < room; count++) {
		struct ppi_symbol_line *line = &lines[count];

		memcpy(&line->line, at, sizeof(line->line));
		at += sizeof(line->line);
		line->function = at[0] ? at : NULL;
		at += strlen(at) + 1;
		line->file = at;
		at += strlen(at) + 1;
	}
	return count;
}

size_t ppi_symbol_file_lines(struct ppi_symbol_file *file, uint64_t vaddr,
                             bool inlines, struct ppi_symbol_line *lines,
                             size_t room)
{
	char key[PPI_BUILD_ID_ROOM + 32];
	const char *known;
	size_t bytes, count = 0;

	snprintf(key, sizeof(key), "%s %s %" PRIx64,
	         inlines ? "inlined" : "lines", file->build_id, vaddr);
	known = ppi_kept_find(file->kept, key, &bytes);
	if (known)
		return take_lines(known, bytes, lines, room);
	if (debug_of(file))
		count = ppi_debug_lines(file->debug, vaddr, inlines, lines,
		                        room);
	keep_lines(file->kept, key, lines, count);
	return count;
}

bool ppi_symbol_file_lack(struct ppi_symbol_file *file, char *words,
                          size_t bytes)
{
	const char *refused = NULL, *split = NULL;
	char *packed;

	words[0] = '\0';
	if (file->has_said_lack || !file->debug)
		return false;
	ppi_debug_lack(file->debug, &refused, &split);
	if (!refused && !split)
		return false;
	file->has_said_lack = true;
	packed = ppi_debug_print("%s.dwp", file->path);
	if (refused)
		snprintf(words, bytes, "%s is not the debug file of %s: its "
		         "build-id or checksum differs", refused, file->path);
	else if (packed && access(packed, F_OK) == 0)
		snprintf(words, bytes, "inlined functions of %s are missing: "
		         "this libdw does not read %s (elfutils 0.191 does); %s "
		         "would do", file->path, packed, split);
	else
		snprintf(words, bytes, "inlined functions of %s are missing: "
		         "%s is not there, nor beside the program; the compiler "
		         "makes it with -gsplit-dwarf, so keep it with the "
		         "program, or build without", file->path, split);
	free(packed);
	return true;
}

enum ppi_frame_pointer ppi_symbol_file_frame(struct ppi_symbol_file *file,
                                             uint64_t vaddr)
{
	if (file->is_go) {
		const struct ppi_symbol *symbol;

		get_names(file);
		symbol = ppi_symbol_table_find(&file->names, vaddr);
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

const char *ppi_symbol_file_soname(const struct ppi_symbol_file *file)
{
	return ppi_elf_soname(file->elf);
}

bool ppi_symbol_file_is_ada(struct ppi_symbol_file *file)
{
	get_names(file);
	return file->is_ada;
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
