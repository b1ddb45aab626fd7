/* SPDX-License-Identifier: MIT */
/*
 * OpenTelemetry's thread contexts of blocked threads, read from outside. Where a thread's
 * variables lie is found as debuggers find it: the C library says in constants of its
 * own, _thread_db_*, how its descriptors of threads and of loaded files are laid out
 * (glibc, nptl_db/structs.def). Which descriptor a thread has, which debuggers know of
 * its registers, is known of its list of robust mutexes, whose head the kernel has
 * (get_robust_list(2)) and glibc keeps in the descriptor, behind the thread's number.
 */
#include "config.h"

#include "base/otel_reach.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#include "base/clock_ns.h"
#include "base/processes.h"

#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PLACES = 4,    /* libraries that have such a pointer */
	OBJECTS = 4096 /* loaded files that are looked at */
};

/* How the C library of the process lays things out, in bytes. */
struct layout {
	uint64_t tid, dtv, descriptor; /* of a thread; the last is its size */
	uint64_t modid, tls_offset;    /* of a loaded file */
	uint64_t entry;                /* of a vector of blocks: its size */
	uint64_t list_len, list_next, list_slots; /* of the list of files with */
	uint64_t slot_bytes, slot_map, slot_generation; /* such variables */
	uint64_t list;                 /* where it lies */
};

/* A file whose pointer it is, and since when it is one of those. */
struct place {
	uint64_t map, modid, offset, slot, generation;
	int64_t in_static; /* from the thread's pointer to its block */
	bool is_static;
};

struct ppi_otel_reach {
	uint32_t pid;
	bool has_layout;
	uint64_t next_find_ns;
	unsigned char program[PPI_PROGRAM_BYTES];
	struct layout layout;
	struct place places[PLACES];
	_Atomic size_t place_count; /* written after them */
	struct ppi_otel_keys keys;
};

/* ---- its memory ---- */

static bool get_word(uint32_t pid, uint64_t address, uint64_t *word)
{
	return ppi_copy_from(pid, address, word, sizeof(*word));
}

static bool is_named(uint32_t pid, uint64_t address, const char *name)
{
	char text[64];
	size_t bytes = strlen(name) + 1;

	return bytes <= sizeof(text) &&
	       ppi_copy_from(pid, address, text, bytes) &&
	       memcmp(text, name, bytes) == 0;
}

/* ---- loaded files, as its loader lists them ---- */

/* As much of struct link_map (link.h) as debuggers may know. */
struct object {
	uint64_t map, base, name, dynamic, next;
	uint64_t symbols, names, hash;
};

/* Some loaders add where the file lies to its addresses, others do not. */
static uint64_t table_at(const struct object *object, uint64_t address)
{
	return address < object->base ? address + object->base : address;
}

static bool read_tables(uint32_t pid, struct object *object)
{
	ElfW(Dyn) entry;

	object->symbols = object->names = object->hash = 0;
	for (int i = 0; i < 128; i++) {
		if (!ppi_copy_from(pid,
		                   object->dynamic + (uint64_t)i * sizeof(entry),
		                   &entry, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_SYMTAB)
			object->symbols = table_at(object, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_STRTAB)
			object->names = table_at(object, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_GNU_HASH)
			object->hash = table_at(object, entry.d_un.d_ptr);
	}
	return object->symbols && object->names && object->hash;
}

static bool read_object(uint32_t pid, uint64_t map, struct object *out)
{
	uint64_t words[4];

	if (!map || !ppi_copy_from(pid, map, words, sizeof(words)))
		return false;
	*out = (struct object){ .map = map, .base = words[0], .name = words[1],
		                .dynamic = words[2], .next = words[3] };
	return true;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* The chain of one bucket. */
static bool find_in_chain(uint32_t pid, const struct object *in,
                          const char *name, uint64_t chains, uint32_t first,
                          uint32_t number, ElfW(Sym) *symbol)
{
	uint32_t hash = hash_of(name), link;

	for (int i = 0; number >= first && i < 4096; i++, number++) {
		if (!ppi_copy_from(pid, chains + 4 * (uint64_t)(number - first),
		                   &link, sizeof(link)))
			return false;
		if ((link | 1) == (hash | 1) &&
		    ppi_copy_from(pid, in->symbols + number * sizeof(*symbol),
		                  symbol, sizeof(*symbol)) &&
		    symbol->st_shndx != SHN_UNDEF &&
		    is_named(pid, in->names + symbol->st_name, name))
			return true;
		if (link & 1)
			return false;
	}
	return false;
}

static bool find_symbol(uint32_t pid, const struct object *in, const char *name,
                        ElfW(Sym) *symbol)
{
	uint32_t head[4], hash = hash_of(name), number; /* buckets, first, words, shift */
	uint64_t bloom = in->hash + sizeof(head), word;

	if (!ppi_copy_from(pid, in->hash, head, sizeof(head)) || !head[0] ||
	    !head[2] ||
	    !get_word(pid, bloom + 8 * (uint64_t)(hash / 64 % head[2]), &word) ||
	    !(word >> hash % 64 & word >> (hash >> (head[3] & 31)) % 64 & 1) ||
	    !ppi_copy_from(pid,
	                   bloom + 8 * (uint64_t)head[2] +
	                           4 * (uint64_t)(hash % head[0]),
	                   &number, sizeof(number)))
		return false;
	return find_in_chain(pid, in, name,
	                     bloom + 8 * (uint64_t)head[2] +
	                             4 * (uint64_t)head[0],
	                     head[1], number, symbol);
}

/* The first of the list: struct r_debug (link.h), to which the program's dynamic
 * section leads. */
static uint64_t find_first(uint32_t pid)
{
	uint64_t at = ppi_process_auxiliary(pid, AT_PHDR), base = 0, dynamic = 0;
	uint64_t count = ppi_process_auxiliary(pid, AT_PHNUM), first = 0;
	ElfW(Phdr) header;
	ElfW(Dyn) entry;

	if (ppi_process_auxiliary(pid, AT_PHENT) != sizeof(header))
		return 0;
	for (uint64_t i = 0; i < count && i < 64; i++) {
		if (!ppi_copy_from(pid, at + i * sizeof(header), &header,
		                   sizeof(header)))
			return 0;
		if (header.p_type == PT_PHDR)
			base = at - header.p_vaddr;
		else if (header.p_type == PT_DYNAMIC)
			dynamic = header.p_vaddr;
	}
	for (uint64_t i = 0; dynamic && i < 128; i++) {
		if (!ppi_copy_from(pid, base + dynamic + i * sizeof(entry),
		                   &entry, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_DEBUG &&
		    get_word(pid, entry.d_un.d_ptr + 8, &first))
			return first;
	}
	return 0;
}

/* ---- its C library's layout ---- */

/* A size, or bits of an element, elements and offset. */
static const struct constant {
	const char *name;
	size_t at; /* in struct layout */
	enum { SIZE, BITS, OFFSET } what;
} constants[] = {
#define CONSTANT(name, at, what) \
	{ "_thread_db_" name, offsetof(struct layout, at), what }
	CONSTANT("pthread_tid", tid, OFFSET),
	CONSTANT("pthread_dtvp", dtv, OFFSET),
	CONSTANT("sizeof_pthread", descriptor, SIZE),
	CONSTANT("link_map_l_tls_modid", modid, OFFSET),
	CONSTANT("link_map_l_tls_offset", tls_offset, OFFSET),
	CONSTANT("dtv_dtv", entry, BITS),
	CONSTANT("rtld_global__dl_tls_dtv_slotinfo_list", list, OFFSET),
	CONSTANT("dtv_slotinfo_list_len", list_len, OFFSET),
	CONSTANT("dtv_slotinfo_list_next", list_next, OFFSET),
	CONSTANT("dtv_slotinfo_list_slotinfo", list_slots, OFFSET),
	CONSTANT("sizeof_dtv_slotinfo", slot_bytes, SIZE),
	CONSTANT("dtv_slotinfo_map", slot_map, OFFSET),
	CONSTANT("dtv_slotinfo_gen", slot_generation, OFFSET),
#undef CONSTANT
};

static bool read_layout(uint32_t pid, const struct object *libc,
                        struct layout *out)
{
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		const struct constant *constant = &constants[i];
		uint32_t words[3];
		uint64_t value;
		ElfW(Sym) symbol;

		if (!find_symbol(pid, libc, constant->name, &symbol) ||
		    !ppi_copy_from(pid, libc->base + symbol.st_value, words,
		                   constant->what == SIZE ? 4 : sizeof(words)))
			return false;
		value = constant->what == SIZE ? words[0]
		        : constant->what == BITS ? words[0] / 8 : words[2];
		memcpy((char *)out + constant->at, &value, sizeof(value));
	}
	return true;
}

/* ---- the places ---- */

/* Where the loader keeps since when a number is that file's. */
static bool find_slot(uint32_t pid, const struct layout *layout,
                      struct place *place)
{
	uint64_t list, length, index = place->modid, map;

	if (!get_word(pid, layout->list, &list))
		return false;
	for (int i = 0; i < 64 && list; i++) {
		if (!get_word(pid, list + layout->list_len, &length))
			return false;
		if (index < length) {
			place->slot = list + layout->list_slots +
			              index * layout->slot_bytes;
			return get_word(pid, place->slot + layout->slot_map,
			                &map) && map == place->map &&
			       get_word(pid,
			                place->slot + layout->slot_generation,
			                &place->generation);
		}
		index -= length;
		if (!get_word(pid, list + layout->list_next, &list))
			return false;
	}
	return false;
}

/* Blocks of files that were there from the start lie beside the descriptor; of others
 * the thread's vector says where, once it has touched them. (glibc, link.h: what stands
 * for no offset, and for none ever.) */
static void find_block(const struct layout *layout, uint64_t offset,
                       struct place *place)
{
#if defined(__x86_64__)
	(void)layout;
	place->is_static = offset != 0 && offset != UINT64_MAX;
	place->in_static = -(int64_t)offset;
#else
	place->is_static = offset < UINT64_MAX - 1;
	place->in_static = (int64_t)(layout->descriptor + offset);
#endif
}

/* Our own, and other copies of this library, are not asked: their labels are known. */
static bool is_ours(uint32_t pid, const struct object *object)
{
	char name[256] = "";

	for (size_t i = 0; i + 1 < sizeof(name); i++)
		if (!ppi_copy_from(pid, object->name + i, name + i, 1) ||
		    !name[i])
			break;
	name[sizeof(name) - 1] = '\0';
	return strstr(name, "/libportprof") != NULL;
}

static void add_place(struct ppi_otel_reach *reach, const struct object *object)
{
	const struct layout *layout = &reach->layout;
	struct place place = { .map = object->map };
	uint64_t offset;
	ElfW(Sym) symbol;

	if (reach->place_count == PLACES ||
	    !find_symbol(reach->pid, object, PPI_OTEL_SYMBOL, &symbol) ||
	    ELF64_ST_TYPE(symbol.st_info) != STT_TLS ||
	    is_ours(reach->pid, object))
		return;
	place.offset = symbol.st_value;
	if (!get_word(reach->pid, object->map + layout->modid, &place.modid) ||
	    !get_word(reach->pid, object->map + layout->tls_offset, &offset) ||
	    !find_slot(reach->pid, layout, &place))
		return;
	find_block(layout, offset, &place);
	reach->places[reach->place_count] = place;
	reach->place_count++;
}

static void find_layout(struct ppi_otel_reach *reach, uint64_t map)
{
	struct object object;
	uint64_t global = 0;
	ElfW(Sym) symbol;

	for (int i = 0; i < OBJECTS && read_object(reach->pid, map, &object);
	     i++, map = object.next) {
		if (!read_tables(reach->pid, &object))
			continue;
		if (!global &&
		    find_symbol(reach->pid, &object, "_rtld_global", &symbol))
			global = object.base + symbol.st_value;
		reach->has_layout = reach->has_layout ||
		                    read_layout(reach->pid, &object,
		                                &reach->layout);
	}
	reach->has_layout &= global != 0;
	reach->layout.list += global;
}

void ppi_otel_reach_look(struct ppi_otel_reach *reach)
{
	enum { EVERY_NS = 1000000000 };
	uint64_t now_ns = ppi_monotonic_ns(), first;
	struct object object;

	if (now_ns < reach->next_find_ns)
		return;
	reach->place_count = 0;
	reach->next_find_ns = now_ns + EVERY_NS;
	first = find_first(reach->pid);
	if (!reach->has_layout)
		find_layout(reach, first);
	for (int i = 0; reach->has_layout && i < OBJECTS &&
	                read_object(reach->pid, first, &object);
	     i++, first = object.next)
		if (read_tables(reach->pid, &object))
			add_place(reach, &object);
}

/* ---- its life ---- */

struct ppi_otel_reach *ppi_otel_reach_new(uint32_t pid)
{
	struct ppi_otel_reach *reach = calloc(1, sizeof(*reach));

	if (!reach)
		return NULL;
	reach->pid = pid;
	if (!ppi_otel_read_keys(pid, &reach->keys) ||
	    !atomic_load(&reach->keys.count) ||
	    !ppi_process_program(pid, reach->program)) {
		free(reach);
		return NULL;
	}
	ppi_otel_reach_look(reach);
	return reach;
}

void ppi_otel_reach_free(struct ppi_otel_reach *reach)
{
	free(reach);
}

const struct ppi_otel_keys *ppi_otel_reach_keys(const struct ppi_otel_reach *reach)
{
	return &reach->keys;
}

bool ppi_otel_reach_is_current(const struct ppi_otel_reach *reach)
{
	return ppi_process_is_program(reach->pid, reach->program);
}

/* ---- a thread's ---- */

static ssize_t read_of_thread(uint32_t pid, int64_t tid, const char *name,
                              char *text, size_t room)
{
	char path[96];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRId64 "/%s",
	         pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, text, room - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got;
}

/* Its turns on a CPU, the third word of schedstat; 0: not known. */
static uint64_t read_turns(uint32_t pid, int64_t tid)
{
	char text[96];
	uint64_t turns;

	return read_of_thread(pid, tid, "schedstat", text, sizeof(text)) > 0 &&
	       sscanf(text, "%*u %*u %" SCNu64, &turns) == 1 ? turns : 0;
}

static bool is_blocked(uint32_t pid, int64_t tid)
{
	char text[256];

	return read_of_thread(pid, tid, "syscall", text, sizeof(text)) > 0 &&
	       strncmp(text, "running", 7) != 0;
}

/* The thread's descriptor, and its vector of blocks. What glibc has behind the number is
 * one more, a pointer, and that head; where that is not so the number, or on x86 the
 * descriptor's pointer to itself, is another one. */
static bool find_descriptor(const struct ppi_otel_reach *reach, int64_t tid,
                            uint64_t *descriptor, uint64_t *vector)
{
	uint64_t head = 0, self = 0;
	size_t bytes;
	int32_t number;

	if (syscall(SYS_get_robust_list, (int)tid, &head, &bytes) != 0 || !head)
		return false;
	*descriptor = head - 16 - reach->layout.tid;
	if (!ppi_copy_from(reach->pid, head - 16, &number, sizeof(number)) ||
	    !get_word(reach->pid, *descriptor + reach->layout.dtv, vector))
		return false;
#if defined(__x86_64__)
	return get_word(reach->pid, *descriptor + 16, &self) &&
	       self == *descriptor;
#else
	(void)self;
	return number == tid;
#endif
}

/* 0: the thread has none yet. */
static bool find_pointer(const struct ppi_otel_reach *reach,
                         const struct place *place, uint64_t descriptor,
                         uint64_t vector, uint64_t *at)
{
	const struct layout *layout = &reach->layout;
	uint64_t map, generation, of_thread, block;

	*at = 0;
	if (!get_word(reach->pid, place->slot + layout->slot_map, &map) ||
	    !get_word(reach->pid, place->slot + layout->slot_generation,
	              &generation) ||
	    map != place->map || generation != place->generation)
		return false; /* it is unloaded */
	if (place->is_static) {
		*at = descriptor + (uint64_t)place->in_static + place->offset;
		return true;
	}
	if (!get_word(reach->pid, vector, &of_thread))
		return false;
	if (of_thread < generation)
		return true;
	if (!get_word(reach->pid, vector + place->modid * layout->entry,
	              &block))
		return false;
	if (block != UINT64_MAX)
		*at = block + place->offset;
	return true;
}

static enum ppi_otel_answer read_record(struct ppi_otel_reach *reach,
                                        uint64_t at, unsigned char *record,
                                        size_t *bytes)
{
	if (!ppi_otel_record_read(reach->pid, at, record, bytes))
		return PPI_OTEL_NOTHING;
	if (!ppi_otel_record_has_names(&reach->keys, record, *bytes))
		ppi_otel_read_keys(reach->pid, &reach->keys);
	return ppi_otel_record_has_names(&reach->keys, record, *bytes)
		? PPI_OTEL_SAYS : PPI_OTEL_UNKNOWN;
}

/* The first that is not 0. */
static bool first_pointer(const struct ppi_otel_reach *reach,
                          uint64_t descriptor, uint64_t vector,
                          uint64_t *pointer)
{
	size_t count = reach->place_count;
	uint64_t at;

	*pointer = 0;
	for (size_t i = 0; i < count && !*pointer; i++)
		if (!find_pointer(reach, &reach->places[i], descriptor, vector,
		                  &at) ||
		    (at && !get_word(reach->pid, at, pointer)))
			return false;
	return count > 0;
}

bool ppi_otel_reach_here(const struct ppi_otel_reach *reach,
                         uint64_t thread_pointer, uint64_t *pointer)
{
	uint64_t descriptor = thread_pointer, vector;

#if defined(__aarch64__)
	descriptor -= reach->layout.descriptor;
#endif
	return get_word(reach->pid, descriptor + reach->layout.dtv, &vector) &&
	       first_pointer(reach, descriptor, vector, pointer);
}

static enum ppi_otel_answer read_thread(struct ppi_otel_reach *reach,
                                        int64_t tid, unsigned char *record,
                                        size_t *bytes)
{
	uint64_t descriptor, vector, pointer;

	if (reach->place_count == 0)
		ppi_otel_reach_look(reach);
	if (reach->place_count == 0 ||
	    !find_descriptor(reach, tid, &descriptor, &vector))
		return PPI_OTEL_UNKNOWN;
	if (!first_pointer(reach, descriptor, vector, &pointer)) {
		reach->place_count = 0;
		return PPI_OTEL_UNKNOWN;
	}
	return pointer ? read_record(reach, pointer, record, bytes)
	               : PPI_OTEL_NOTHING;
}

enum ppi_otel_answer ppi_otel_reach_read(struct ppi_otel_reach *reach,
                                         int64_t tid,
                                         unsigned char record[PPI_OTEL_RECORD_MAX],
                                         size_t *bytes, uint64_t *turns)
{
	enum ppi_otel_answer answer;

	*turns = read_turns(reach->pid, tid);
	if (!*turns || !is_blocked(reach->pid, tid))
		return PPI_OTEL_UNKNOWN;
	answer = read_thread(reach, tid, record, bytes);
	return read_turns(reach->pid, tid) == *turns ? answer
	                                             : PPI_OTEL_UNKNOWN;
}
#else
struct ppi_otel_reach {
	struct ppi_otel_keys keys;
};

struct ppi_otel_reach *ppi_otel_reach_new(uint32_t pid)
{
	(void)pid;
	return NULL;
}

void ppi_otel_reach_free(struct ppi_otel_reach *reach)
{
	(void)reach;
}

bool ppi_otel_reach_here(const struct ppi_otel_reach *reach,
                         uint64_t thread_pointer, uint64_t *pointer)
{
	(void)reach;
	(void)thread_pointer;
	(void)pointer;
	return false;
}

void ppi_otel_reach_look(struct ppi_otel_reach *reach)
{
	(void)reach;
}

const struct ppi_otel_keys *ppi_otel_reach_keys(const struct ppi_otel_reach *reach)
{
	return &reach->keys;
}

bool ppi_otel_reach_is_current(const struct ppi_otel_reach *reach)
{
	(void)reach;
	return false;
}

enum ppi_otel_answer ppi_otel_reach_read(struct ppi_otel_reach *reach,
                                         int64_t tid,
                                         unsigned char record[PPI_OTEL_RECORD_MAX],
                                         size_t *bytes, uint64_t *turns)
{
	(void)reach;
	(void)tid;
	(void)record;
	*bytes = 0;
	*turns = 0;
	return PPI_OTEL_UNKNOWN;
}
#endif
