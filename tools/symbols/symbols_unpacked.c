/* SPDX-License-Identifier: MIT */
/*
 * Debug information that lies packed in its file, unpacked once for all windows of a
 * recording: the C library's has 4 MiB packed, and is asked for a few addresses in each
 * window. It lies in files without a name, which end with the recording.
 */
#include "config.h"

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_TMPFILE */
#endif

#include "tools/symbols/symbols_unpacked.h"

#include "base/clock_ns.h"
#include "tools/symbols/symbols_elf.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(O_TMPFILE) && defined(SHF_COMPRESSED)

/* So many files, of so many bytes before and after. Sections may overlap in a file and
 * ask for any alignment: what is written is bounded, whatever was read. */
enum {
	SLOTS = 4,
	BYTES_MAX = 32 << 20,
	WRITTEN_MAX = 64 << 20,
	ALIGNMENT_MAX = 4096
};

/* A file that nobody asked for in this time makes room for another. */
#define UNUSED_NS UINT64_C(3600000000000)

enum state { FREE, UNUSABLE, WHOLE };

struct slot {
	dev_t device;
	ino_t inode;
	off_t bytes;
	struct timespec changed;
	uint64_t used_ns;
	volatile enum state state;
};

/* Shared with the processes that name windows, one after the other. */
static struct slot *slots;
static int files[SLOTS];

void ppi_unpacked_begin(const char *folder)
{
	const size_t bytes = SLOTS * sizeof(*slots);
	struct slot *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (slots || made == MAP_FAILED)
		return;
	for (size_t i = 0; i < SLOTS; i++) {
		files[i] = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (files[i] >= 0)
			continue;
		while (i-- > 0)
			close(files[i]);
		munmap(made, bytes);
		return;
	}
	slots = made;
}

/* ---- which one ---- */

static bool is_of(const struct slot *slot, const struct stat *at)
{
	return slot->state != FREE && slot->device == at->st_dev &&
	       slot->inode == at->st_ino && slot->bytes == at->st_size &&
	       slot->changed.tv_sec == at->st_mtim.tv_sec &&
	       slot->changed.tv_nsec == at->st_mtim.tv_nsec;
}

/* Its own, or one that is free; NULL none. */
static struct slot *find_slot(const struct stat *at, uint64_t now_ns)
{
	struct slot *found = NULL;

	for (size_t i = 0; i < SLOTS; i++) {
		struct slot *slot = &slots[i];

		if (is_of(slot, at))
			return slot;
		if (!found && (slot->state == FREE ||
		               now_ns - slot->used_ns > UNUSED_NS))
			found = slot;
	}
	if (found) {
		found->state = FREE;
		found->device = at->st_dev;
		found->inode = at->st_ino;
		found->bytes = at->st_size;
		found->changed = at->st_mtim;
	}
	return found;
}

/* ---- unpacking ---- */

static bool is_packed(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)) != NULL)
		if (gelf_getshdr(section, &header) &&
		    (header.sh_flags & SHF_COMPRESSED))
			return true;
	return false;
}

/* Where variables are and lists for debuggers are of no use to us. */
static bool is_useless(const char *name)
{
	static const char *const useless[] = {
		".debug_loc", ".debug_loclists", ".debug_macro", ".debug_names",
		".debug_pubnames", ".debug_pubtypes", ".debug_gnu_pubnames",
		".debug_gnu_pubtypes", ".gdb_index",
	};

	for (size_t i = 0; i < sizeof(useless) / sizeof(useless[0]); i++)
		if (strcmp(name, useless[i]) == 0)
			return true;
	return false;
}

static bool unpack_section(Elf_Scn *section, GElf_Shdr *header,
                           const char *name, size_t left)
{
	GElf_Chdr packed;

	if (!(header->sh_flags & SHF_COMPRESSED))
		return true;
	if (!name || is_useless(name)) {
		header->sh_type = SHT_NOBITS;
		header->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
		return true;
	}
	if (!gelf_getchdr(section, &packed) || packed.ch_size > left)
		return false;
	return elf_compress(section, 0, 0) >= 0 &&
	       gelf_getshdr(section, header);
}

static bool copy_section(Elf *from, size_t names, Elf_Scn *section, Elf *to,
                         size_t *left)
{
	Elf_Scn *made = elf_newscn(to);
	Elf_Data *data, *copy;
	GElf_Shdr header;

	if (!made || !gelf_getshdr(section, &header) ||
	    !unpack_section(section, &header,
	                    elf_strptr(from, names, header.sh_name), *left) ||
	    header.sh_addralign > ALIGNMENT_MAX ||
	    (header.sh_type != SHT_NOBITS && header.sh_size > *left) ||
	    !gelf_update_shdr(made, &header))
		return false;
	if (header.sh_type != SHT_NOBITS)
		*left -= header.sh_size;
	if (header.sh_size == 0)
		return true;
	copy = elf_newdata(made);
	if (!copy)
		return false;
	/* where code is that lies in the other file: libelf has sizes from here */
	if (header.sh_type == SHT_NOBITS) {
		copy->d_size = header.sh_size;
		copy->d_align = header.sh_addralign;
		return true;
	}
	data = elf_getdata(section, NULL);
	if (data)
		*copy = *data;
	return data != NULL;
}

static bool copy_headers(Elf *from, Elf *to)
{
	GElf_Ehdr header;
	GElf_Phdr segment;
	size_t count;

	if (!gelf_getehdr(from, &header) || elf_getphdrnum(from, &count) ||
	    count > PPI_ELF_SEGMENTS_MAX ||
	    !gelf_newehdr(to, gelf_getclass(from)) ||
	    !gelf_update_ehdr(to, &header) ||
	    (count && !gelf_newphdr(to, count)))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!gelf_getphdr(from, (int)i, &segment) ||
		    !gelf_update_phdr(to, (int)i, &segment))
			return false;
	return true;
}

static bool copy_all(Elf *from, Elf *to)
{
	Elf_Scn *section = NULL;
	size_t names, left = WRITTEN_MAX;

	if (elf_getshdrstrndx(from, &names) || !copy_headers(from, to))
		return false;
	while ((section = elf_nextscn(from, section)) != NULL)
		if (!copy_section(from, names, section, to, &left))
			return false;
	return elf_update(to, ELF_C_WRITE) >= 0;
}

static bool unpack(Elf *from, int file)
{
	Elf *to;
	bool is_good;

	if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0)
		return false;
	to = elf_begin(file, ELF_C_WRITE, NULL);
	is_good = to && copy_all(from, to);
	elf_end(to);
	if (!is_good && ftruncate(file, 0) != 0)
		return false;
	return is_good;
}

/* Only once, whatever becomes of it, a process that is killed at it included; but what
 * needs none leaves the place to others. */
static void fill(struct slot *slot, int fd)
{
	Elf *elf;

	if (slot->bytes > BYTES_MAX)
		return;
	slot->state = UNUSABLE;
	elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (elf && !is_packed(elf))
		slot->state = FREE;
	else if (elf && unpack(elf, files[slot - slots]))
		slot->state = WHOLE;
	elf_end(elf);
}

int ppi_unpacked(int fd)
{
	uint64_t now_ns = ppi_monotonic_ns();
	struct slot *slot;
	struct stat at;
	int unpacked;

	if (!slots || fd < 0 || fstat(fd, &at) != 0)
		return fd;
	slot = find_slot(&at, now_ns);
	if (!slot)
		return fd;
	slot->used_ns = now_ns;
	if (slot->state == FREE)
		fill(slot, fd);
	unpacked = slot->state == WHOLE
		? fcntl(files[slot - slots], F_DUPFD_CLOEXEC, 0) : -1;
	if (unpacked < 0)
		return fd;
	close(fd);
	return unpacked;
}

#else

void ppi_unpacked_begin(const char *folder)
{
	(void)folder;
}

int ppi_unpacked(int fd)
{
	return fd;
}

#endif
