/* SPDX-License-Identifier: MIT */
/* ELF images with frame tables written by hand: System V gABI, chapters 4 and
 * 5; LSB, chapter "Exception Frames". */
#include "tests/unit/unwind_kit.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLE_AT = KIT_TEXT + KIT_TEXT_BYTES, ROOM = TABLE_AT + 0x4000 };

struct writing {
	unsigned char *bytes;
	size_t at;
};

static void put(struct writing *w, const void *bytes, size_t count)
{
	memcpy(w->bytes + w->at, bytes, count);
	w->at += count;
}

static void put_byte(struct writing *w, unsigned byte)
{
	w->bytes[w->at++] = (unsigned char)byte;
}

static void put_word(struct writing *w, uint32_t word)
{
	put(w, &word, 4);
}

/* Close an entry: DW_CFA_nop up to a multiple of 8, then its length. */
static void end_entry(struct writing *w, size_t from)
{
	uint32_t length;

	while ((w->at - from) % 8)
		put_byte(w, 0);
	length = (uint32_t)(w->at - from - 4);
	memcpy(w->bytes + from, &length, 4);
}

static size_t put_cie(struct writing *w, unsigned machine, bool is_signal)
{
	size_t from = w->at;

	put_word(w, 0);
	put_word(w, 0);
	put_byte(w, 1); /* version */
	put(w, is_signal ? "zRS" : "zR", is_signal ? 4 : 3);
	put_byte(w, 1);    /* code alignment */
	put_byte(w, 0x78); /* data alignment: -8 */
	put_byte(w, machine == KIT_X86_64 ? 16 : 30);
	put_byte(w, 1);    /* augmentation */
	put_byte(w, 0x1b); /* DW_EH_PE_pcrel | sdata4 */
	if (machine == KIT_X86_64)
		put(w, "\x0c\x07\x08\x90\x01", 5);
	else
		put(w, "\x0c\x1f\x00", 3);
	end_entry(w, from);
	return from;
}

static size_t put_fde(struct writing *w, size_t cie,
                      const struct kit_function *f)
{
	size_t from = w->at;

	put_word(w, 0);
	put_word(w, (uint32_t)(w->at - cie));
	put_word(w, f->start - (uint32_t)w->at);
	put_word(w, f->end - f->start);
	put_byte(w, 0);
	put(w, f->program, f->program_bytes);
	end_entry(w, from);
	return from;
}

static void put_headers(unsigned char *bytes, unsigned machine, size_t table,
                        size_t table_bytes, size_t size)
{
	Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
		             EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = (Elf64_Half)machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	Elf64_Phdr segments[2] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = size,
		  .p_memsz = size, .p_align = 0x1000 },
		{ .p_type = PT_GNU_EH_FRAME, .p_flags = PF_R,
		  .p_offset = table, .p_vaddr = table,
		  .p_filesz = table_bytes, .p_memsz = table_bytes,
		  .p_align = 4 },
	};

	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), segments, sizeof(segments));
}

char *kit_image(unsigned machine, const struct kit_function *functions,
                size_t count, size_t *size)
{
	struct writing w = { calloc(1, ROOM), TABLE_AT };
	size_t header, frames = TABLE_AT + 12 + 8 * count, cies[2];

	if (!w.bytes)
		abort();
	/* calls everywhere: e8, or bl */
	memset(w.bytes + KIT_TEXT, machine == KIT_ARM64 ? 0x94 : 0xe8,
	       KIT_TEXT_BYTES);
	frames = (frames + 7) / 8 * 8;
	w.at = frames;
	cies[0] = put_cie(&w, machine, false);
	cies[1] = put_cie(&w, machine, true);
	for (size_t i = 0; i < count; i++) {
		size_t fde = put_fde(&w, cies[functions[i].is_signal],
		                     &functions[i]);
		uint32_t row[2] = { functions[i].start - TABLE_AT,
			            (uint32_t)fde - TABLE_AT };

		memcpy(w.bytes + TABLE_AT + 12 + 8 * i, row, 8);
	}
	put_word(&w, 0);
	*size = w.at;
	header = w.at;
	w.at = TABLE_AT;
	/* version; pcrel sdata4; udata4; datarel sdata4 */
	put(&w, "\x01\x1b\x03\x3b", 4);
	put_word(&w, (uint32_t)(frames - w.at));
	put_word(&w, (uint32_t)count);
	put_headers(w.bytes, machine, TABLE_AT, 12 + 8 * count, header);
	return (char *)w.bytes;
}

char *kit_file(unsigned machine, const struct kit_function *functions,
               size_t count)
{
	char *path = strdup("/tmp/portprof-unwind.XXXXXX"), *image;
	size_t size;
	int fd = mkstemp(path);

	image = kit_image(machine, functions, count, &size);
	if (fd < 0 || write(fd, image, size) != (ssize_t)size)
		abort();
	close(fd);
	free(image);
	return path;
}
