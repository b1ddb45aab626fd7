/* SPDX-License-Identifier: MIT */
/* Parts of an ELF file by libelf: bytes, build-id, symbol tables. */
#include "config.h"

#include "tools/symbols/symbols_elf.h"

#include <stdio.h>
#include <string.h>

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

Elf_Data *ppi_elf_section(Elf *elf, const char *wanted)
{
	size_t names;
	Elf_Scn *at = NULL;
	GElf_Shdr header;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((at = elf_nextscn(elf, at)) != NULL) {
		const char *name = gelf_getshdr(at, &header)
			? elf_strptr(elf, names, header.sh_name) : NULL;

		if (name && strcmp(name, wanted) == 0)
			return elf_rawdata(at, NULL);
	}
	return NULL;
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
	out[0] = '\0';
	if (count * 2 >= out_bytes)
		count = (out_bytes - 1) / 2;
	for (size_t i = 0; i < count; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
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
