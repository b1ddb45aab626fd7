/* SPDX-License-Identifier: MIT */
/* Names for the stubs of the procedure linkage table, which have no symbols. */
#include "config.h"

#include "tools/symbols/symbols_elf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A slot of the global offset table and the function that it will hold. */
struct slot {
	uint64_t address;
	const char *function;
};

struct slots {
	struct slot *slots;
	size_t count, room;
};

static void add_slot(struct slots *slots, uint64_t address,
                     const char *function)
{
	if (slots->count == slots->room) {
		size_t room = slots->room ? 2 * slots->room : 64;
		struct slot *grown =
			realloc(slots->slots, room * sizeof(*grown));

		if (!grown)
			return;
		slots->slots = grown;
		slots->room = room;
	}
	slots->slots[slots->count].address = address;
	slots->slots[slots->count++].function = function;
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
                            const GElf_Shdr *header, struct slots *slots)
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

static void collect_slots(Elf *elf, struct slots *slots)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)) != NULL)
		if (gelf_getshdr(section, &header) &&
		    header.sh_type == SHT_RELA)
			collect_section(elf, section, &header, slots);
	if (slots->count > 1)
		qsort(slots->slots, slots->count, sizeof(*slots->slots),
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
                      uint64_t stub_bytes, const struct slots *slots,
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
		slot = slots->count ? bsearch(&key, slots->slots, slots->count,
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
	struct slots slots = { 0 };
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
		snprintf(name, sizeof(name), "%s@plt", slots.slots[i].function);
		ppi_symbol_table_add(table, plt->sh_addr + 32 + 16 * i, 16,
		                     plt->sh_addr + plt->sh_size, 0, name);
	}
	free(slots.slots);
}

static void add_plt_section(Elf *elf, unsigned machine, const char *name,
                            const GElf_Shdr *header,
                            const struct slots *slots,
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
	struct slots slots = { 0 };

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
	free(slots.slots);
}
