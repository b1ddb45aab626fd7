/* SPDX-License-Identifier: MIT */
/*
 * Bounds of functions from the unwind tables, which stripped files keep: with
 * them nameless code is still told apart function by function.
 *
 * Formats: LSB Core, "Exception Frames"; DWARF 5, section 6.4. Only the
 * encodings that GNU and LLVM linkers write are read.
 */
#include "config.h"

#include "tools/symbols/symbols_elf.h"

#include <string.h>

/* DW_EH_PE_*: low four bits are the format, the next three what it counts
 * from. */
enum {
	FORMAT_POINTER = 0x00,
	FORMAT_U4 = 0x03,
	FORMAT_S4 = 0x0b,
	TABLE_ENCODING = 0x3b, /* signed 4 bytes from the table's head */
	COUNT_ENCODING = 0x03
};

/* The file's own byte order is this machine's: code of another machine cannot
 * have been sampled here, and is refused below. */
static uint32_t read_u32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static int64_t read_s32(const unsigned char *at)
{
	return (int32_t)read_u32(at);
}

/* Step over a number of variable length; NULL when it does not end. */
static const unsigned char *skip_leb(const unsigned char *at,
                                     const unsigned char *end)
{
	while (at < end && (*at & 0x80))
		at++;
	return at < end ? at + 1 : NULL;
}

/* What one letter of a CIE's augmentation has in its data. */
static const unsigned char *skip_augmentation(char letter, unsigned pointer,
                                              const unsigned char *data,
                                              const unsigned char *end)
{
	switch (letter) {
	case 'L':
		return data + 1;
	case 'P': /* an encoding, then a pointer of that encoding */
		switch (data < end ? *data & 0x0f : 0xff) {
		case FORMAT_U4:
		case FORMAT_S4:
			return data + 5;
		case FORMAT_POINTER:
			return data + 1 + pointer;
		default:
			return NULL;
		}
	case 'S':
	case 'B':
		return data;
	default:
		return NULL;
	}
}

/* The encoding of addresses in the FDEs of a CIE; -1 when not known. */
static int cie_encoding(const unsigned char *cie, uint64_t left,
                        unsigned pointer)
{
	const unsigned char *end = cie + (left < 256 ? left : 256);
	const unsigned char *data;
	const char *letters = (const char *)cie + 9;

	if (left < 16 || (*letters != 'z' && *letters != '\0'))
		return -1;
	data = memchr(letters, 0, (size_t)(end - cie) - 9);
	if (*letters == '\0' || !data)
		return data ? FORMAT_POINTER : -1;
	data++;
	/* Code alignment, data alignment, return address, data length. */
	for (int i = 0; data && i < 4; i++)
		data = skip_leb(data, end);
	for (letters++; data && data < end && *letters; letters++) {
		if (*letters == 'R')
			return *data;
		data = skip_augmentation(*letters, pointer, data, end);
	}
	return -1;
}

/* The length of the function that the FDE at this address describes. */
static uint64_t fde_length(Elf *elf, uint64_t address, unsigned pointer)
{
	uint64_t left, cie_left, length;
	const unsigned char *fde = ppi_elf_at(elf, address, &left), *cie;

	if (!fde || left < 8 + 2 * pointer || read_u32(fde) == UINT32_MAX)
		return 0;
	cie = ppi_elf_at(elf, address + 4 - read_u32(fde + 4), &cie_left);
	if (!cie)
		return 0;
	switch (cie_encoding(cie, cie_left, pointer)) {
	case 0x10 | FORMAT_S4:
	case 0x10 | FORMAT_U4:
	case FORMAT_U4:
	case FORMAT_S4:
		return read_u32(fde + 12);
	case FORMAT_POINTER:
	case 0x10 | FORMAT_POINTER:
		if (pointer == 4)
			return read_u32(fde + 12);
		memcpy(&length, fde + 16, sizeof(length));
		return length;
	default:
		return 0;
	}
}

static bool find_frame_header(Elf *elf, GElf_Phdr *header)
{
	size_t count = ppi_elf_segments(elf);

	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, header) &&
		    header->p_type == PT_GNU_EH_FRAME)
			return true;
	return false;
}

/* A 32-bit program runs on a 64-bit system, too. */
static bool has_our_byte_order(Elf *elf)
{
	const char *ident = elf_getident(elf, NULL);
	const uint16_t probe = 1;
	unsigned char order = *(const unsigned char *)&probe ? ELFDATA2LSB
	                                                     : ELFDATA2MSB;

	return ident && (unsigned char)ident[EI_DATA] == order;
}

/* Head: version, three encodings, address of .eh_frame, count; then pairs of
 * function and FDE, sorted. */
void ppi_elf_add_frames(Elf *elf, struct ppi_symbol_table *table)
{
	GElf_Phdr header;
	const unsigned char *bytes;
	unsigned pointer = gelf_getclass(elf) == ELFCLASS32 ? 4 : 8;
	uint64_t count, mask = pointer == 4 ? UINT32_MAX : UINT64_MAX;

	if (!has_our_byte_order(elf) || !find_frame_header(elf, &header) ||
	    header.p_filesz < 12)
		return;
	bytes = ppi_elf_bytes(elf, header.p_offset, header.p_filesz);
	if (!bytes || bytes[0] != 1 || bytes[2] != COUNT_ENCODING ||
	    bytes[3] != TABLE_ENCODING)
		return;
	count = read_u32(bytes + 8);
	if (count > (header.p_filesz - 12) / 8)
		count = (header.p_filesz - 12) / 8;
	if (count > PPI_ELF_FRAMES_MAX)
		count = PPI_ELF_FRAMES_MAX;
	for (uint64_t i = 0; i < count; i++) {
		const unsigned char *pair = bytes + 12 + 8 * i;
		uint64_t start =
			(header.p_vaddr + (uint64_t)read_s32(pair)) & mask;
		uint64_t length = fde_length(
			elf,
			(header.p_vaddr + (uint64_t)read_s32(pair + 4)) & mask,
			pointer);

		if (length)
			ppi_symbol_table_add(table, start, length, UINT64_MAX,
			                     0, "");
	}
}
