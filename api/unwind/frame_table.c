/* SPDX-License-Identifier: MIT */
/*
 * Frame tables: LSB, chapter "Exception Frames". Call frame instructions: DWARF 5,
 * 6.4.2 and 7.24; those of GNU: LSB, the same chapter; of arm64: "DWARF for the Arm
 * 64-bit Architecture".
 */
#include "config.h"

#include "api/unwind/frame_table.h"

#include "base/elf.h"
#include "base/vector.h"

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* ---- call frame instructions ---- */

enum {
	/* x86-64 names 130 (System V ABI, figure 3.36), arm64 128 */
	REGISTERS_MAX = 192,
	/* compilers remember one at a time */
	REMEMBERED_MAX = 64,
	EXPRESSION_BYTES_MAX = 4096
};

/* `bytes` of them, 8 at most, little-endian. */
static uint64_t cfi_number(struct ppi_cfi *cursor, size_t bytes)
{
	uint64_t number = 0;

	if ((size_t)(cursor->end - cursor->at) < bytes) {
		cursor->is_past = true;
		cursor->at = cursor->end;
		return 0;
	}
	for (size_t i = 0; i < bytes; i++)
		number |= (uint64_t)*cursor->at++ << (8 * i);
	return number;
}

static uint64_t cfi_uleb(struct ppi_cfi *cursor)
{
	uint64_t number = 0, byte;

	/* libdw, too, reads ten bytes; what follows them is nonsense */
	for (unsigned shift = 0; shift < 70; shift += 7) {
		byte = cfi_number(cursor, 1);
		number |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
	cursor->is_past = true;
	return number;
}

static void cfi_skip(struct ppi_cfi *cursor, uint64_t bytes)
{
	if ((uint64_t)(cursor->end - cursor->at) < bytes) {
		cursor->is_past = true;
		bytes = (uint64_t)(cursor->end - cursor->at);
	}
	cursor->at += bytes;
}

/* What follows the byte of an instruction: r a register, u a number, b a block
 * after its length, a an address, 1, 2, 4 and 8 so many bytes. NULL: not known. */
static const char *operands_of(unsigned instruction)
{
	switch (instruction) {
	case DW_CFA_nop:
	case DW_CFA_remember_state:
	case DW_CFA_restore_state:
	case DW_CFA_GNU_window_save: /* arm64: AARCH64_negate_ra_state */
		return "";
	case DW_CFA_set_loc:
		return "a";
	case DW_CFA_advance_loc1:
		return "1";
	case DW_CFA_advance_loc2:
		return "2";
	case DW_CFA_advance_loc4:
		return "4";
	case DW_CFA_MIPS_advance_loc8:
		return "8";
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_def_cfa_register:
		return "r";
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_GNU_negative_offset_extended:
		return "ru";
	case DW_CFA_register:
		return "rr";
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_GNU_args_size:
		return "u";
	case DW_CFA_def_cfa_expression:
		return "b";
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		return "rb";
	default:
		return NULL;
	}
}

static bool skip_operand(struct ppi_cfi *program, char kind,
                         size_t pointer_bytes)
{
	uint64_t bytes;

	switch (kind) {
	case 'r':
		return cfi_uleb(program) < REGISTERS_MAX;
	case 'u':
		cfi_uleb(program);
		return true;
	case 'b':
		bytes = cfi_uleb(program);
		cfi_skip(program, bytes);
		return bytes <= EXPRESSION_BYTES_MAX;
	case 'a':
		cfi_skip(program, pointer_bytes);
		return true;
	default:
		cfi_skip(program, (uint64_t)(kind - '0'));
		return true;
	}
}

bool ppi_call_frames_are_modest(struct ppi_cfi program,
                                size_t pointer_bytes)
{
	unsigned remembered = 0;

	while (program.at < program.end) {
		unsigned instruction = *program.at++;
		const char *operands;

		/* the three that have an operand within; 64 registers */
		if (instruction & 0xc0)
			operands = (instruction & 0xc0) == DW_CFA_offset ? "u"
			                                                 : "";
		else
			operands = operands_of(instruction);
		if (!operands)
			return false;
		for (; *operands; operands++)
			if (!skip_operand(&program, *operands, pointer_bytes))
				return false;
		if (instruction == DW_CFA_remember_state &&
		    ++remembered > REMEMBERED_MAX)
			return false;
		if (instruction == DW_CFA_restore_state && remembered > 0)
			remembered--;
	}
	return !program.is_past;
}

/* ---- a table ---- */

enum {
	SEGMENTS_MAX = 64,
	SECTIONS_MAX = 1 << 16,
	NOTES_MAX = 4096,
	/* Chromium's has 30 MB */
	TABLE_MAX = 128 << 20,
	/* one function's; a thousand times the usual */
	ENTRY_MAX = 1 << 18,
	LETTERS_MAX = 8, /* and a common entry's smallest rest is longer */
	ROW_BYTES = 8
};

/* A part of the file, and where it is in memory. */
struct part {
	unsigned char *bytes; /* its own */
	size_t size;
	uint64_t address;
};

struct row {
	uint64_t start;
	size_t at; /* in the frames */
};

struct ppi_frame_table {
	const struct ppi_frame_source *source; /* while it is opened */
	size_t segment_count;
	Elf64_Phdr segments[SEGMENTS_MAX];
	struct part frames, header;
	/* How an entry is found: the header's table, or rows of our own when it
	 * has none. */
	struct ppi_cfi search;
	struct ppi_vector rows; /* of struct row */
	size_t row_count;
};

/* ---- the file ---- */

static bool read_at(const struct ppi_frame_table *table, uint64_t offset,
                    void *out, size_t bytes)
{
	return table->source->read(table->source->context, offset, out, bytes);
}

static bool take_part(const struct ppi_frame_table *table, uint64_t offset,
                      uint64_t bytes, uint64_t address, struct part *part)
{
	unsigned char last;

	/* before there is room for what is not there */
	if (bytes == 0 || bytes > TABLE_MAX ||
	    !read_at(table, offset + bytes - 1, &last, 1))
		return false;
	part->size = (size_t)bytes;
	part->address = address;
	part->bytes = malloc(part->size);
	return part->bytes && read_at(table, offset, part->bytes, part->size);
}

static bool take_segments(struct ppi_frame_table *table, uint16_t machine,
                          Elf64_Ehdr *header)
{
	static const unsigned char ident[] = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
		                               ELFDATA2LSB, EV_CURRENT };

	if (!read_at(table, 0, header, sizeof(*header)) ||
	    memcmp(header->e_ident, ident, sizeof(ident)) != 0 ||
	    header->e_machine != machine ||
	    header->e_phentsize != sizeof(Elf64_Phdr))
		return false;
	table->segment_count = header->e_phnum < SEGMENTS_MAX ? header->e_phnum
	                                                      : SEGMENTS_MAX;
	return read_at(table, header->e_phoff, table->segments,
	               table->segment_count * sizeof(Elf64_Phdr));
}

static bool is_build_id(const struct ppi_frame_table *table,
                        const Elf64_Phdr *segment,
                        const unsigned char *build_id, size_t bytes)
{
	unsigned char notes[NOTES_MAX];
	const unsigned char *own;
	size_t size = segment->p_filesz < NOTES_MAX ? segment->p_filesz
	                                            : NOTES_MAX;

	if (!read_at(table, segment->p_offset, notes, size))
		return false;
	/* the record's may be cut */
	size = ppi_build_id_find(notes, size, false, NOTES_MAX, &own);
	return size > 0 && size >= bytes &&
	       (bytes == 0 || memcmp(own, build_id, bytes) == 0);
}

static bool is_same_build(const struct ppi_frame_table *table,
                          const unsigned char *build_id, size_t bytes)
{
	for (size_t i = 0; i < table->segment_count; i++)
		if (table->segments[i].p_type == PT_NOTE &&
		    is_build_id(table, &table->segments[i], build_id, bytes))
			return true;
	return bytes == 0;
}

bool ppi_frame_table_address(const struct ppi_frame_table *table,
                             uint64_t file_offset, uint64_t *address)
{
	for (size_t i = 0; i < table->segment_count; i++) {
		const Elf64_Phdr *segment = &table->segments[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
		    file_offset >= segment->p_offset &&
		    file_offset - segment->p_offset < segment->p_filesz) {
			*address = file_offset - segment->p_offset +
			           segment->p_vaddr;
			return true;
		}
	}
	return false;
}

/* ---- encoded addresses ---- */

/* 0 for those that are not read: LEB128, and relative to what we do not know. */
static size_t pointer_bytes(unsigned encoding)
{
	switch (encoding & ~(unsigned)DW_EH_PE_pcrel) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	default:
		return 0;
	}
}

/* `address`: where the cursor is. */
static uint64_t read_pointer(struct ppi_cfi *cursor, unsigned encoding,
                             uint64_t address)
{
	size_t bytes = pointer_bytes(encoding);
	uint64_t value = cfi_number(cursor, bytes);

	if (encoding & DW_EH_PE_signed && bytes < 8 &&
	    value >> (8 * bytes - 1))
		value |= ~UINT64_C(0) << (8 * bytes);
	return encoding & DW_EH_PE_pcrel ? value + address : value;
}

/* ---- entries ---- */

/* The entry at `at` of the frames: what follows its length. */
static bool open_entry(const struct ppi_frame_table *table, size_t at,
                       struct ppi_cfi *entry)
{
	const struct part *frames = &table->frames;
	uint64_t bytes;

	if (at > frames->size)
		return false;
	*entry = (struct ppi_cfi){ frames->bytes + at,
		                      frames->bytes + frames->size, false };
	bytes = cfi_number(entry, 4);
	/* 0 ends the table, 0xffffffff begins a longer length */
	if (entry->is_past || bytes < 4 || bytes > ENTRY_MAX ||
	    bytes > (uint64_t)(entry->end - entry->at))
		return false;
	entry->end = entry->at + bytes;
	return true;
}

/* What others of a common entry matter to us. */
struct common {
	unsigned encoding; /* of addresses */
	bool has_sizes;    /* each entry tells the size of what is added to it */
	struct ppi_cfi program;
};

static bool read_augmentation(struct ppi_cfi *entry, const char *letters,
                              struct common *common)
{
	struct ppi_cfi added;
	uint64_t bytes;

	common->encoding = DW_EH_PE_absptr;
	common->has_sizes = letters[0] == 'z';
	if (!common->has_sizes)
		return letters[0] == '\0';
	bytes = cfi_uleb(entry);
	added = *entry;
	cfi_skip(entry, bytes);
	added.end = entry->at;
	while (*++letters)
		switch (*letters) {
		case 'R':
			common->encoding = (unsigned)cfi_number(&added, 1);
			break;
		case 'P':
			bytes = pointer_bytes((unsigned)cfi_number(
				&added, 1) & ~(unsigned)DW_EH_PE_indirect);
			if (bytes == 0)
				return false;
			cfi_skip(&added, bytes);
			break;
		case 'L':
			cfi_skip(&added, 1);
			break;
		case 'S': /* a signal frame */
		case 'B': /* arm64: signed by the second key */
			break;
		default:
			return false;
		}
	return !added.is_past;
}

static bool read_common(struct ppi_cfi entry, struct common *common)
{
	const char *letters;
	uint64_t version;

	if (cfi_number(&entry, 4) != 0)
		return false;
	version = cfi_number(&entry, 1);
	letters = (const char *)entry.at;
	if ((version != 1 && version != 3) ||
	    (size_t)(entry.end - entry.at) < LETTERS_MAX ||
	    !memchr(letters, '\0', LETTERS_MAX))
		return false;
	cfi_skip(&entry, strlen(letters) + 1);
	cfi_uleb(&entry); /* alignment of code */
	cfi_uleb(&entry); /* and of data */
	if (version == 1)
		cfi_skip(&entry, 1); /* column of the return address */
	else
		cfi_uleb(&entry);
	if (!read_augmentation(&entry, letters, common))
		return false;
	common->program = entry;
	return !entry.is_past && pointer_bytes(common->encoding) > 0;
}

/* The entry at `at` and the address that it begins with. Its programs are
 * looked at when `is_modest` wants to know. */
static bool read_own(const struct ppi_frame_table *table, size_t at,
                     struct ppi_frame_entry *out, uint64_t *start,
                     bool *is_modest)
{
	const unsigned char *frames = table->frames.bytes;
	struct ppi_cfi own, shared;
	struct common common;
	uint64_t back;
	size_t bytes;

	if (!open_entry(table, at, &own))
		return false;
	out->own = frames + at;
	out->own_bytes = (size_t)(own.end - out->own);
	out->own_address = table->frames.address + at;
	back = cfi_number(&own, 4);
	if (back == 0 || back > at + 4 ||
	    !open_entry(table, at + 4 - back, &shared) ||
	    !read_common(shared, &common))
		return false;
	out->common = frames + (at + 4 - back);
	out->common_bytes = (size_t)(shared.end - out->common);
	bytes = pointer_bytes(common.encoding);
	*start = read_pointer(&own, common.encoding,
	                      out->own_address + 8);
	if (!is_modest)
		return !own.is_past;
	cfi_skip(&own, bytes); /* how far it reaches */
	if (common.has_sizes)
		cfi_skip(&own, cfi_uleb(&own));
	*is_modest = !own.is_past &&
	             ppi_call_frames_are_modest(common.program, bytes) &&
	             ppi_call_frames_are_modest(own, bytes);
	return true;
}

/* ---- finding ---- */

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static bool add_row(struct ppi_frame_table *table, uint64_t start, size_t at)
{
	const struct row row = { start, at };

	if (!ppi_vector_add(&table->rows, sizeof(row), &row, 1))
		return false;
	table->row_count = table->rows.count;
	return true;
}

/* No header, or none with a table: go through all. */
static bool make_rows(struct ppi_frame_table *table)
{
	struct ppi_frame_entry entry;
	struct ppi_cfi cursor;
	uint64_t start;

	for (size_t at = 0; open_entry(table, at, &cursor);
	     at = (size_t)(cursor.end - table->frames.bytes))
		if (read_own(table, at, &entry, &start, NULL) &&
		    !add_row(table, start, at))
			return false;
	if (table->row_count == 0)
		return false;
	qsort(table->rows.data, table->row_count, sizeof(struct row),
	      compare_rows);
	return true;
}

/* Row `i`: pairs of 32 bits, relative to the header. */
static struct row row_at(const struct ppi_frame_table *table, size_t i)
{
	struct ppi_cfi cursor = table->search;
	struct row row;

	if (table->rows.data)
		return PPI_AT(&table->rows, const struct row)[i];
	cursor.at += i * ROW_BYTES;
	row.start = read_pointer(&cursor, DW_EH_PE_sdata4, 0) +
	            table->header.address;
	row.at = (size_t)(read_pointer(&cursor, DW_EH_PE_sdata4, 0) +
	                  table->header.address - table->frames.address);
	return row;
}

bool ppi_frame_table_find(const struct ppi_frame_table *table,
                          uint64_t address, struct ppi_frame_entry *entry)
{
	size_t from = 0, to = table->row_count;
	uint64_t start;
	bool is_modest;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (row_at(table, middle).start <= address)
			from = middle + 1;
		else
			to = middle;
	}
	if (from == 0 || !read_own(table, row_at(table, from - 1).at, entry,
	                           &start, &is_modest))
		return false;
	entry->start = start;
	return is_modest;
}

/* ---- where the table is ---- */

static const Elf64_Phdr *segment_of(const struct ppi_frame_table *table,
                                    uint64_t address)
{
	for (size_t i = 0; i < table->segment_count; i++) {
		const Elf64_Phdr *segment = &table->segments[i];

		if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
		    address - segment->p_vaddr < segment->p_filesz)
			return segment;
	}
	return NULL;
}

/* How long the frames are is said nowhere: to the end of what is mapped with
 * them, or to the header when that follows. */
static bool take_frames(struct ppi_frame_table *table, uint64_t address)
{
	const Elf64_Phdr *segment = segment_of(table, address);
	uint64_t into, bytes;

	if (!segment)
		return false;
	into = address - segment->p_vaddr;
	bytes = segment->p_filesz - into;
	if (table->header.address > address &&
	    table->header.address - address < bytes)
		bytes = table->header.address - address;
	return take_part(table, segment->p_offset + into, bytes, address,
	                 &table->frames);
}

static bool take_header(struct ppi_frame_table *table,
                        const Elf64_Phdr *segment)
{
	struct ppi_cfi cursor;
	unsigned frames, count, rows;
	uint64_t number;

	if (!take_part(table, segment->p_offset, segment->p_filesz,
	               segment->p_vaddr, &table->header))
		return false;
	cursor = (struct ppi_cfi){ table->header.bytes,
		                      table->header.bytes + table->header.size,
		                      false };
	if (cfi_number(&cursor, 1) != 1)
		return false;
	frames = (unsigned)cfi_number(&cursor, 1);
	count = (unsigned)cfi_number(&cursor, 1);
	rows = (unsigned)cfi_number(&cursor, 1);
	if (pointer_bytes(frames) == 0 ||
	    !take_frames(table, read_pointer(&cursor, frames,
	                                     table->header.address + 4)))
		return false;
	if (count != DW_EH_PE_udata4 ||
	    rows != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return make_rows(table);
	number = cfi_number(&cursor, 4);
	table->search = cursor;
	table->row_count = (size_t)(cursor.end - cursor.at) / ROW_BYTES;
	if (number < table->row_count)
		table->row_count = (size_t)number;
	return table->row_count > 0;
}

/* Static programs have no header for us; they have sections mostly. */
static bool take_section(struct ppi_frame_table *table,
                         const Elf64_Ehdr *header)
{
	static const char wanted[] = ".eh_frame";
	Elf64_Shdr names, section;

	if (header->e_shentsize != sizeof(section) || header->e_shoff == 0 ||
	    !read_at(table,
	             header->e_shoff + header->e_shstrndx * sizeof(names),
	             &names, sizeof(names)))
		return false;
	for (uint64_t i = 0; i < header->e_shnum && i < SECTIONS_MAX; i++) {
		char name[sizeof(wanted)];

		if (!read_at(table, header->e_shoff + i * sizeof(section),
		             &section, sizeof(section)))
			return false;
		if (section.sh_type != SHT_NOBITS &&
		    !(section.sh_flags & SHF_COMPRESSED) &&
		    read_at(table, names.sh_offset + section.sh_name, name,
		            sizeof(name)) &&
		    memcmp(name, wanted, sizeof(name)) == 0)
			return take_part(table, section.sh_offset,
			                 section.sh_size, section.sh_addr,
			                 &table->frames) &&
			       make_rows(table);
	}
	return false;
}

static bool take_table(struct ppi_frame_table *table, const Elf64_Ehdr *header)
{
	for (size_t i = 0; i < table->segment_count; i++)
		if (table->segments[i].p_type == PT_GNU_EH_FRAME)
			return take_header(table, &table->segments[i]);
	return !table->source->is_mapped && take_section(table, header);
}

struct ppi_frame_table *ppi_frame_table_open(
	uint16_t machine, const struct ppi_frame_source *source,
	const unsigned char *build_id, size_t build_id_bytes)
{
	struct ppi_frame_table *table = calloc(1, sizeof(*table));
	Elf64_Ehdr header;

	if (!table)
		return NULL;
	table->source = source;
	if (take_segments(table, machine, &header) &&
	    is_same_build(table, build_id, build_id_bytes) &&
	    take_table(table, &header)) {
		table->source = NULL;
		return table;
	}
	ppi_frame_table_close(table);
	return NULL;
}

size_t ppi_frame_table_bytes(const struct ppi_frame_table *table)
{
	return sizeof(*table) + table->frames.size + table->header.size +
	       table->rows.count * sizeof(struct row);
}

void ppi_frame_table_close(struct ppi_frame_table *table)
{
	if (!table)
		return;
	free(table->frames.bytes);
	free(table->header.bytes);
	ppi_vector_free(&table->rows);
	free(table);
}
