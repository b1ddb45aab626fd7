/* SPDX-License-Identifier: MIT */
/*
 * Parts of an ELF file by libelf, and the names that it gives to code: symbol
 * tables, bounds from the unwind tables, stubs of the linkage table.
 */
#include "config.h"

#include "tools/symbols/symbols_elf.h"

#include "base/text.h"
#include "base/vector.h"
#include "tools/symbols/symbols_line.h"
#include "tools/symbols/symbols_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes, build-id, symbol tables ---- */

/* The file is mapped, so that this copies nothing. */
const unsigned char *ppi_elf_bytes(Elf *elf, uint64_t offset, uint64_t bytes)
{
	size_t size;
	const char *image = elf_rawfile(elf, &size);

	if (!image || offset > size || bytes > size - offset)
		return NULL;
	return (const unsigned char *)image + offset;
}

const unsigned char *ppi_elf_at(Elf *elf, uint64_t vaddr, uint64_t *left)
{
	size_t count = ppi_elf_segments(elf);
	GElf_Phdr header;

	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) ||
		    header.p_type != PT_LOAD || vaddr < header.p_vaddr ||
		    vaddr - header.p_vaddr >= header.p_filesz)
			continue;
		vaddr -= header.p_vaddr;
		*left = header.p_filesz - vaddr;
		return ppi_elf_bytes(elf, header.p_offset + vaddr, *left);
	}
	return NULL;
}

static const char *soname_in(Elf *elf, Elf_Scn *section,
                             const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = ppi_elf_entries(header);
	GElf_Dyn entry;

	for (size_t i = 0; data && i < count && gelf_getdyn(data, (int)i, &entry);
	     i++) {
		const char *name;

		if (entry.d_tag != DT_SONAME)
			continue;
		name = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
		return name ? name : "";
	}
	return "";
}

const char *ppi_elf_soname(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)) != NULL)
		if (gelf_getshdr(section, &header) &&
		    header.sh_type == SHT_DYNAMIC)
			return soname_in(elf, section, &header);
	return "";
}

Elf_Scn *ppi_elf_find(Elf *elf, const char *wanted, GElf_Shdr *header)
{
	size_t names;
	Elf_Scn *at = NULL;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((at = elf_nextscn(elf, at)) != NULL) {
		const char *name = gelf_getshdr(at, header)
			? elf_strptr(elf, names, header->sh_name) : NULL;

		if (name && strcmp(name, wanted) == 0)
			return at;
	}
	return NULL;
}

Elf_Data *ppi_elf_section(Elf *elf, const char *wanted)
{
	GElf_Shdr header;
	Elf_Scn *section = ppi_elf_find(elf, wanted, &header);

	return section ? elf_rawdata(section, NULL) : NULL;
}

size_t ppi_elf_segments(Elf *elf)
{
	size_t count;

	if (elf_getphdrnum(elf, &count) != 0)
		return 0;
	return count < PPI_ELF_SEGMENTS_MAX ? count : PPI_ELF_SEGMENTS_MAX;
}

void ppi_elf_print_id(const unsigned char *bytes, size_t count, char *out,
                      size_t out_bytes)
{
	if (count * 2 >= out_bytes)
		count = (out_bytes - 1) / 2;
	ppi_text_hex(bytes, count, out);
}

/* Look for the build-id in one note segment. */
static bool find_build_id(Elf_Data *notes, char *out, size_t out_bytes)
{
	size_t at = 0, name, description;
	GElf_Nhdr note;

	while ((at = gelf_getnote(notes, at, &note, &name, &description)) > 0) {
		const char *bytes = notes->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp(bytes + name, "GNU", 4) != 0)
			continue;
		ppi_elf_print_id((const unsigned char *)bytes + description,
		                 note.n_descsz, out, out_bytes);
		return true;
	}
	return false;
}

void ppi_elf_build_id(Elf *elf, char *out, size_t out_bytes)
{
	size_t count = ppi_elf_segments(elf);
	GElf_Phdr header;
	Elf_Data *notes;

	out[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) ||
		    header.p_type != PT_NOTE ||
		    header.p_filesz > PPI_ELF_NOTES_MAX)
			continue;
		notes = elf_getdata_rawchunk(
			elf, (int64_t)header.p_offset, header.p_filesz,
			header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (notes && find_build_id(notes, out, out_bytes))
			return;
	}
}

bool ppi_elf_is_code_symbol(const GElf_Sym *symbol, const char *name)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || !name || !name[0])
		return false;
	/* "$x", "$d" and ".L" mark data in code on some machines. */
	if (type == STT_NOTYPE)
		return name[0] != '$' && name[0] != '.';
	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* Functions before labels, visible before local; then the spelling with fewer
 * underscores, as people write it; then strong before weak. */
unsigned ppi_elf_symbol_rank(const GElf_Sym *symbol, const char *name)
{
	unsigned binding = GELF_ST_BIND(symbol->st_info), rank = 0;
	size_t underscores = strspn(name, "_");

	if (GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE)
		rank += 64;
	if (binding != STB_LOCAL)
		rank += 32;
	rank += 4 * (unsigned)(underscores > 4 ? 0 : 4 - underscores);
	if (binding != STB_WEAK)
		rank += 1;
	return rank;
}

/* The end of the section of code that the symbol is in; 0 if in none. */
static uint64_t section_end(Elf *elf, const GElf_Sym *symbol)
{
	GElf_Shdr header;
	Elf_Scn *section;

	if (symbol->st_shndx >= SHN_LORESERVE)
		return 0;
	section = elf_getscn(elf, symbol->st_shndx);
	if (!section || !gelf_getshdr(section, &header) ||
	    !(header.sh_flags & SHF_EXECINSTR) ||
	    symbol->st_value < header.sh_addr)
		return 0;
	return header.sh_addr + header.sh_size;
}

/* On 32-bit ARM the lowest bit of a function's address says "Thumb". */
static uint64_t code_address(Elf *elf, const GElf_Sym *symbol)
{
	GElf_Ehdr header;

	if (gelf_getehdr(elf, &header) && header.e_machine == EM_ARM)
		return symbol->st_value & ~UINT64_C(1);
	return symbol->st_value;
}

size_t ppi_elf_entries(const GElf_Shdr *header)
{
	uint64_t count = header->sh_entsize
	                         ? header->sh_size / header->sh_entsize
	                         : 0;

	return count < PPI_ELF_ENTRIES_MAX ? (size_t)count
	                                   : PPI_ELF_ENTRIES_MAX;
}

static void add_section(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                        uint64_t bias, struct ppi_symbol_table *table)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = ppi_elf_entries(header);
	GElf_Sym symbol;

	for (size_t i = 0; data && i < count; i++) {
		const char *name;
		uint64_t end;

		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (!ppi_elf_is_code_symbol(&symbol, name))
			continue;
		end = section_end(elf, &symbol);
		if (end &&
		    !ppi_symbol_table_add(table,
		                          code_address(elf, &symbol) - bias,
		                          symbol.st_size, end - bias,
		                          ppi_elf_symbol_rank(&symbol, name),
		                          name))
			break;
	}
}

bool ppi_elf_add_symbols(Elf *elf, uint64_t bias,
                         struct ppi_symbol_table *table)
{
	bool is_full = false;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_SYMTAB &&
		     header.sh_type != SHT_DYNSYM))
			continue;
		add_section(elf, section, &header, bias, table);
		if (header.sh_type == SHT_SYMTAB)
			is_full = true;
	}
	return is_full;
}

/* ---- bounds of functions ---- */

/*
 * Bounds of functions from the unwind tables, which stripped files keep: with
 * them nameless code is still told apart function by function.
 *
 * Formats: LSB Core, "Exception Frames"; DWARF 5, section 6.4. Only the
 * encodings that GNU and LLVM linkers write are read.
 */

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

/* ---- stubs of the procedure linkage table, which have no symbols ---- */

/* A slot of the global offset table and the function that it will hold. */
struct slot {
	uint64_t address;
	const char *function;
};

static void add_slot(struct ppi_vector *slots, uint64_t address,
                     const char *function)
{
	struct slot slot = { address, function };

	ppi_vector_add(slots, sizeof(slot), &slot, 1);
}

/* The name of a symbol of the table that a relocation section refers to. */
static const char *symbol_name(Elf *elf, size_t table, size_t index)
{
	Elf_Scn *section = elf_getscn(elf, table);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	if (!data || !gelf_getshdr(section, &header) || index == 0 ||
	    !gelf_getsym(data, (int)index, &symbol))
		return NULL;
	return elf_strptr(elf, header.sh_link, symbol.st_name);
}

static void collect_section(Elf *elf, Elf_Scn *section,
                            const GElf_Shdr *header, struct ppi_vector *slots)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = ppi_elf_entries(header);
	GElf_Rela relocation;

	for (size_t i = 0; data && i < count; i++) {
		const char *name;

		if (!gelf_getrela(data, (int)i, &relocation))
			break;
		name = symbol_name(elf, header->sh_link,
		                   GELF_R_SYM(relocation.r_info));
		if (name && name[0])
			add_slot(slots, relocation.r_offset, name);
	}
}

static int compare_slots(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static void collect_slots(Elf *elf, struct ppi_vector *slots)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)) != NULL)
		if (gelf_getshdr(section, &header) &&
		    header.sh_type == SHT_RELA)
			collect_section(elf, section, &header, slots);
	if (slots->count > 1)
		qsort(slots->data, slots->count, sizeof(struct slot),
		      compare_slots);
}

/* Where an x86-64 stub jumps: it holds ff 25 and the distance from the next
 * instruction to the slot (psABI, "Procedure Linkage Table"). 0 if it is not
 * such a stub. */
static uint64_t slot_of_stub(const unsigned char *stub, size_t bytes,
                             uint64_t address)
{
	for (size_t i = 0; i + 6 <= bytes; i++) {
		int32_t distance;

		if (stub[i] != 0xff || stub[i + 1] != 0x25)
			continue;
		distance = (int32_t)((uint32_t)stub[i + 2] |
		                     (uint32_t)stub[i + 3] << 8 |
		                     (uint32_t)stub[i + 4] << 16 |
		                     (uint32_t)stub[i + 5] << 24);
		return address + i + 6 + (uint64_t)(int64_t)distance;
	}
	return 0;
}

static void add_stubs(const unsigned char *stubs, const GElf_Shdr *header,
                      uint64_t stub_bytes, const struct ppi_vector *slots,
                      struct ppi_symbol_table *table)
{
	uint64_t end = header->sh_addr + header->sh_size;
	uint64_t count = header->sh_size / stub_bytes;
	char name[512];

	if (count > PPI_ELF_ENTRIES_MAX)
		count = PPI_ELF_ENTRIES_MAX;
	for (uint64_t at = 0; at < count * stub_bytes; at += stub_bytes) {
		struct slot key = { 0 };
		const struct slot *slot;

		key.address = slot_of_stub(stubs + at, stub_bytes,
		                           header->sh_addr + at);
		slot = slots->count ? bsearch(&key, slots->data, slots->count,
		                              sizeof(key), compare_slots)
		                    : NULL;
		if (!slot)
			continue;
		snprintf(name, sizeof(name), "%s@plt", slot->function);
		ppi_symbol_table_add(table, header->sh_addr + at, stub_bytes,
		                     end, 0, name);
	}
}

/* AArch64: a head of 32 bytes, then 16 for each relocation in order
 * (AAELF64); with other sizes the linker used another layout. */
static void add_stubs_aarch64(Elf *elf, const GElf_Shdr *plt,
                              struct ppi_symbol_table *table)
{
	Elf_Scn *section = NULL;
	size_t names;
	GElf_Shdr header;
	struct ppi_vector slots = { 0 };
	char name[512];

	if (elf_getshdrstrndx(elf, &names) != 0)
		return;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		const char *word;

		if (!gelf_getshdr(section, &header))
			continue;
		word = elf_strptr(elf, names, header.sh_name);
		if (word && strcmp(word, ".rela.plt") == 0)
			collect_section(elf, section, &header, &slots);
	}
	for (size_t i = 0; plt->sh_size == 32 + 16 * slots.count &&
	                   i < slots.count; i++) {
		snprintf(name, sizeof(name), "%s@plt",
		         PPI_AT(&slots, struct slot)[i].function);
		ppi_symbol_table_add(table, plt->sh_addr + 32 + 16 * i, 16,
		                     plt->sh_addr + plt->sh_size, 0, name);
	}
	ppi_vector_free(&slots);
}

static void add_plt_section(Elf *elf, unsigned machine, const char *name,
                            const GElf_Shdr *header,
                            const struct ppi_vector *slots,
                            struct ppi_symbol_table *table)
{
	uint64_t stub_bytes = header->sh_entsize == 8 ? 8 : 16;
	const unsigned char *bytes;

	if (strcmp(name, ".plt") != 0 && strcmp(name, ".plt.sec") != 0 &&
	    strcmp(name, ".plt.got") != 0)
		return;
	if (machine == EM_AARCH64 && strcmp(name, ".plt") == 0) {
		add_stubs_aarch64(elf, header, table);
		return;
	}
	bytes = ppi_elf_bytes(elf, header->sh_offset, header->sh_size);
	if (machine == EM_X86_64 && bytes)
		add_stubs(bytes, header, stub_bytes, slots, table);
}

void ppi_elf_add_plt(Elf *elf, struct ppi_symbol_table *table)
{
	Elf_Scn *section = NULL;
	size_t names;
	GElf_Ehdr file;
	GElf_Shdr header;
	struct ppi_vector slots = { 0 };

	if (!gelf_getehdr(elf, &file) || elf_getshdrstrndx(elf, &names) != 0)
		return;
	collect_slots(elf, &slots);
	while ((section = elf_nextscn(elf, section)) != NULL) {
		const char *name;

		if (!gelf_getshdr(section, &header) ||
		    header.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name)
			add_plt_section(elf, file.e_machine, name, &header,
			                &slots, table);
	}
	ppi_vector_free(&slots);
}
