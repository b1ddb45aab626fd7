/* SPDX-License-Identifier: MIT */
/*
 * Where samples fall while measuring: mappings and locations as the file
 * numbers them, return addresses, and which mapping an address of a process
 * belongs to.
 */
#include "config.h"

#include "api/profile/locations.h"

#include "api/profile/image.h"
#include "api/profile/memory.h"
#include "api/unwind/code_bytes.h"
#include "api/unwind/process_map.h"
#include "base/foreign_file.h"
#include "base/text.h"

#include <stdio.h>
#include <unistd.h>

/* ---- strings, mappings and locations, each written once ---- */

/* Locations remembered; a program that makes code for ever has no end of
 * them. Forgetting costs only that some are written again. */
enum { LOCATIONS_KEPT = 1 << 18 };

bool ppi_locations_open(struct ppi_locations *locations)
{
	memset(locations, 0, sizeof(*locations));
	locations->main_mapping = PPI_NONE;
	locations->kernel_mapping = PPI_NONE;
	return ppi_locations_string(locations, "") == 0;
}

void ppi_locations_close(struct ppi_locations *locations)
{
	ppi_pool_free(&locations->strings);
	ppi_pool_free(&locations->mappings);
	ppi_vector_free(&locations->mapping);
	ppi_vector_free(&locations->listed);
	ppi_pool_free(&locations->keys);
}

uint32_t ppi_locations_string(struct ppi_locations *locations, const char *text)
{
	return ppi_pool_enter(&locations->strings, text, strlen(text));
}

static uint32_t enter_mapping(struct ppi_locations *locations, const char *key,
                              size_t key_bytes,
                              const struct ppi_file_mapping *entry)
{
	uint32_t number;

	if (!ppi_vector_reserve(&locations->mapping, sizeof(*entry), 1))
		return PPI_NONE;
	number = ppi_pool_enter(&locations->mappings, key, key_bytes);
	if (number == locations->mapping.count)
		ppi_vector_add(&locations->mapping, sizeof(*entry), entry, 1);
	return number;
}

/*
 * The mapping that a module mapped at [start, limit) belongs to. One file
 * mapped at several places, by several processes perhaps, is one mapping, at
 * the place where it was seen first: move addresses by its start - `start`.
 */
static uint32_t mapping_of_module(struct ppi_locations *locations,
                                  uint64_t start, uint64_t limit,
                                  const portprof_module *module)
{
	char build_id[2 * PORTPROF_BUILD_ID_BYTES + 1], key[128];
	struct ppi_file_mapping entry = {
		.start = start,
		.limit = limit,
		.file_offset = module->file_offset,
	};
	size_t id_bytes = module->build_id_bytes;
	bool is_shared = ppi_is_shared_file(module->path);
	int length;

	if (id_bytes > PORTPROF_BUILD_ID_BYTES)
		id_bytes = PORTPROF_BUILD_ID_BYTES;
	ppi_text_hex(module->build_id, id_bytes, build_id);
	entry.path = ppi_locations_string(locations, module->path);
	entry.build_id = ppi_locations_string(locations, build_id);
	if (entry.path == PPI_NONE || entry.build_id == PPI_NONE)
		return PPI_NONE;
	length = snprintf(key, sizeof(key), "%x %x %llx %llx %llx", entry.path,
	                  entry.build_id, (unsigned long long)entry.file_offset,
	                  (unsigned long long)(limit - start),
	                  is_shared ? 0 : (unsigned long long)start);
	return enter_mapping(locations, key, (size_t)length, &entry);
}

/* The mapping of kernel addresses of which nothing is known. */
static uint32_t kernel_mapping(struct ppi_locations *locations)
{
	struct ppi_file_mapping entry = {
		.start = (uint64_t)1 << 63,
		.limit = UINT64_MAX,
	};

	if (locations->kernel_mapping != PPI_NONE)
		return locations->kernel_mapping;
	entry.path = ppi_locations_string(locations, "[kernel.kallsyms]");
	if (entry.path == PPI_NONE)
		return PPI_NONE;
	locations->kernel_mapping =
		enter_mapping(locations, "kernel", 6, &entry);
	return locations->kernel_mapping;
}

const struct ppi_file_mapping *
ppi_locations_mapping_at(const struct ppi_locations *locations,
                         uint32_t mapping)
{
	return &PPI_AT(&locations->mapping, struct ppi_file_mapping)[mapping];
}

/* From now on the file has to have this mapping. False when out of memory. */
static bool list_mapping(struct ppi_locations *locations,
                         uint32_t mapping)
{
	struct ppi_file_mapping *entry;

	if (mapping == PPI_NONE)
		return true;
	entry = &PPI_AT(&locations->mapping, struct ppi_file_mapping)[mapping];
	if (entry->is_listed)
		return true;
	/* the program itself is to be the first that a reader meets, but for what
	 * was met before it was there: the kernel, in the exec */
	if (locations->main_mapping != PPI_NONE &&
	    mapping != locations->main_mapping &&
	    !list_mapping(locations, locations->main_mapping))
		return false;
	entry->is_listed = ppi_vector_add(&locations->listed, sizeof(mapping),
	                                  &mapping, 1);
	return entry->is_listed;
}

uint64_t ppi_locations_add(struct ppi_locations *locations, uint32_t mapping,
                           uint64_t address)
{
	struct ppi_location_key key = { address, mapping };
	uint32_t number;

	if (!list_mapping(locations, mapping))
		return 0;
	number = ppi_pool_enter(&locations->keys, &key, sizeof(key));
	return number == PPI_NONE ? 0 : locations->location_base + number + 1;
}

uint64_t ppi_locations_nowhere(struct ppi_locations *locations,
                               const char *path)
{
	struct ppi_file_mapping entry = { .path = 0 };
	uint32_t mapping;

	entry.path = ppi_locations_string(locations, path);
	if (entry.path == PPI_NONE)
		return 0;
	mapping = enter_mapping(locations, path, strlen(path), &entry);
	return mapping == PPI_NONE ? 0
	                           : ppi_locations_add(locations, mapping, 0);
}

void ppi_locations_forget(struct ppi_locations *locations)
{
	locations->location_base += ppi_pool_count(&locations->keys);
	locations->locations_written = 0;
	ppi_pool_clear(&locations->keys);
}

void ppi_locations_trim(struct ppi_locations *locations)
{
	size_t count = ppi_pool_count(&locations->keys);

	if (count >= LOCATIONS_KEPT && locations->locations_written == count)
		ppi_locations_forget(locations);
}

/* ---- whether an address in a call chain can be a return address ---- */

enum { UNASKED, CAN_BE, CANNOT_BE, IS_TRAMPOLINE };

struct returns_file {
	bool is_asked, is_same;
	unsigned machine;
};

void ppi_returns_open(struct ppi_returns *returns,
                      struct ppi_locations *locations)
{
	memset(returns, 0, sizeof(*returns));
	returns->locations = locations;
}

void ppi_returns_close(struct ppi_returns *returns)
{
	ppi_vector_free(&returns->files);
	ppi_vector_free(&returns->verdicts);
	ppi_pool_free(&returns->asked);
	ppi_vector_free(&returns->answers);
}

static const char *string_at(const struct ppi_locations *locations,
                             uint32_t number)
{
	return ppi_pool_key(&locations->strings, number, NULL);
}

static void ask_file(const struct ppi_locations *locations,
                     const struct ppi_file_mapping *entry,
                     struct returns_file *file)
{
	const char *build_id = string_at(locations, entry->build_id);
	struct ppi_image image;

	file->is_asked = true;
	if (!build_id[0] || ppi_image_read(string_at(locations, entry->path),
	                                   &image, NULL) != PORTPROF_OK)
		return;
	file->machine = image.machine;
	file->is_same = strcmp(image.build_id, build_id) == 0;
}

/* NULL: nothing can be said of its text. */
static const struct returns_file *file_of(struct ppi_returns *returns,
                                              uint32_t mapping)
{
	size_t missing = mapping + (size_t)1;
	struct returns_file *file;

	missing -= missing < returns->files.count ? missing
	                                          : returns->files.count;
	if (!ppi_vector_add(&returns->files, sizeof(*file), NULL, missing))
		return NULL;
	file = &PPI_AT(&returns->files, struct returns_file)[mapping];
	if (!file->is_asked)
		ask_file(returns->locations,
		         ppi_locations_mapping_at(returns->locations, mapping),
		         file);
	return file->is_same ? file : NULL;
}

/* Bytes of a regular file; 0 when there are none. */
static size_t read_text(const char *path, uint64_t offset,
                        unsigned char *bytes, size_t room)
{
	int fd = ppi_foreign_open(path, PPI_FOREIGN_FILE, NULL);
	size_t got;

	if (fd < 0)
		return 0;
	got = ppi_foreign_read(fd, bytes, room, offset);
	close(fd);
	return got;
}

static uint8_t ask(struct ppi_returns *returns, uint32_t mapping,
                   uint64_t address)
{
	const struct returns_file *file = file_of(returns, mapping);
	const struct ppi_file_mapping *entry;
	unsigned char bytes[PPI_CALL_BEFORE + PPI_CALL_AFTER];
	uint64_t offset;
	size_t at, count;

	if (!file)
		return CAN_BE;
	entry = ppi_locations_mapping_at(returns->locations, mapping);
	offset = address - entry->start + entry->file_offset;
	at = offset < PPI_CALL_BEFORE ? (size_t)offset : PPI_CALL_BEFORE;
	count = read_text(string_at(returns->locations, entry->path),
	                  offset - at, bytes, sizeof(bytes));
	if (count < at)
		return CAN_BE;
	if (ppi_returns_by_signal(file->machine, bytes + at, count - at))
		return IS_TRAMPOLINE;
	return ppi_returns_to(file->machine, bytes, at, count) ? CAN_BE :
	                                                         CANNOT_BE;
}

enum { ANSWERS_MAX = 1 << 14 };

static uint8_t ask_once(struct ppi_returns *returns,
                        const struct ppi_location_key *key)
{
	uint32_t number;
	uint8_t answer;

	if (ppi_pool_count(&returns->asked) >= ANSWERS_MAX) {
		ppi_pool_clear(&returns->asked);
		returns->answers.count = 0;
	}
	number = ppi_pool_find(&returns->asked, key, sizeof(*key));
	if (number != PPI_NONE)
		return PPI_AT(&returns->answers, uint8_t)[number];
	answer = ask(returns, (uint32_t)key->mapping, key->address + 1);
	if (ppi_vector_add(&returns->answers, 1, &answer, 1) &&
	    ppi_pool_enter(&returns->asked, key, sizeof(*key)) == PPI_NONE)
		returns->answers.count--;
	return answer;
}

static uint8_t verdict_of(struct ppi_returns *returns, uint64_t id)
{
	const struct ppi_locations *locations = returns->locations;
	const struct ppi_location_key *key;
	size_t number, count;
	uint8_t *verdict;

	if (returns->base != locations->location_base) {
		returns->base = locations->location_base;
		returns->verdicts.count = 0;
	}
	number = (size_t)(id - returns->base - 1);
	count = returns->verdicts.count;
	if (number >= count &&
	    !ppi_vector_add(&returns->verdicts, sizeof(*verdict), NULL,
	                    number + 1 - count))
		return CAN_BE;
	verdict = &PPI_AT(&returns->verdicts, uint8_t)[number];
	key = ppi_pool_key(&locations->keys, (uint32_t)number, NULL);
	if (*verdict == UNASKED)
		*verdict = key->mapping == PPI_NONE ? CAN_BE
		                                    : ask_once(returns, key);
	return *verdict;
}

bool ppi_returns_can_be(struct ppi_returns *returns, uint64_t id)
{
	return verdict_of(returns, id) != CANNOT_BE;
}

uint64_t ppi_returns_exact(struct ppi_returns *returns, uint64_t id)
{
	struct ppi_locations *locations = returns->locations;
	const struct ppi_location_key *key;
	uint32_t mapping;
	uint64_t address;

	if (verdict_of(returns, id) != IS_TRAMPOLINE)
		return id;
	key = ppi_pool_key(&locations->keys,
	                   (uint32_t)(id - locations->location_base - 1), NULL);
	mapping = (uint32_t)key->mapping;
	address = key->address + 1;
	return ppi_locations_add(locations, mapping, address);
}

/* ---- address spaces: where an address of a process belongs, now ---- */

void ppi_spaces_open(struct ppi_spaces *spaces, struct ppi_locations *locations,
                     int64_t main_pid)
{
	memset(spaces, 0, sizeof(*spaces));
	spaces->locations = locations;
	spaces->main_pid = main_pid;
}

void ppi_spaces_close(struct ppi_spaces *spaces)
{
	ppi_process_map_close(&spaces->processes);
	ppi_ids_free(&spaces->dumping);
}

/*
 * The loader and the kernel may both report one mapping, and one of them
 * may know less: then it is no change.
 */
static bool is_told_already(const struct ppi_locations *locations,
                            const struct ppi_extent *known,
                            const struct ppi_extent *told)
{
	const struct ppi_file_mapping *a, *b;

	if (!known || known->start != told->start ||
	    known->limit != told->limit)
		return false;
	a = ppi_locations_mapping_at(locations, (uint32_t)known->value);
	b = ppi_locations_mapping_at(locations, (uint32_t)told->value);
	/* what is known may be the rest of something larger */
	if (a->limit - a->start != b->limit - b->start ||
	    a->file_offset != b->file_offset)
		return false;
	if (known->value == told->value)
		return true;
	if (a->path == b->path)
		return b->build_id == 0;
	return a->build_id == b->build_id && a->build_id != 0;
}

/* The first program or library of the main process is the program. */
static void note_main(struct ppi_spaces *spaces, uint32_t pid,
                      uint32_t mapping, const char *path)
{
	struct ppi_locations *locations = spaces->locations;

	if (pid == spaces->main_pid && locations->main_mapping == PPI_NONE &&
	    path[0] != '[' &&
	    (ppi_is_shared_file(path) || strcmp(path, "//program") == 0))
		locations->main_mapping = mapping;
}

/* A reader finds the dump by its mapping, which no sample is in. */
static void note_dump(struct ppi_spaces *spaces, uint32_t pid,
                      uint32_t mapping, const char *path)
{
	if (ppi_is_code_dump(path) &&
	    ppi_ids_find(&spaces->dumping, pid) == PPI_NONE &&
	    list_mapping(spaces->locations, mapping))
		ppi_ids_add(&spaces->dumping, pid);
}

bool ppi_spaces_map(struct ppi_spaces *spaces, uint32_t pid, uint64_t start,
                    uint64_t limit, const portprof_module *module)
{
	struct ppi_process_map *processes = &spaces->processes;
	struct ppi_extent extent = { start, limit, 0, 0 };
	bool is_kernel = start >> 63;
	const struct ppi_layout *layout;
	uint32_t mapping;

	if (limit <= start)
		return true;
	mapping =
		mapping_of_module(spaces->locations, start, limit, module);
	if (mapping == PPI_NONE)
		return false;
	extent.value = mapping;
	extent.shift =
		ppi_locations_mapping_at(spaces->locations, mapping)->start -
		start;
	layout = is_kernel ? processes->kernel
	                   : ppi_process_map_find(processes, pid);
	if (is_told_already(spaces->locations, ppi_layout_at(layout, start),
	                    &extent))
		return true;
	if (!ppi_process_map_add(processes, pid, &extent))
		return false;
	if (!is_kernel) {
		note_main(spaces, pid, mapping, module->path);
		note_dump(spaces, pid, mapping, module->path);
	}
	return true;
}

void ppi_spaces_exec(struct ppi_spaces *spaces, uint32_t pid)
{
	struct ppi_locations *locations = spaces->locations;
	uint32_t *program = &locations->main_mapping;

	ppi_process_map_exec(&spaces->processes, pid);
	if (pid == spaces->main_pid && *program != PPI_NONE &&
	    !ppi_locations_mapping_at(locations, *program)->is_listed)
		*program = PPI_NONE;
}

bool ppi_spaces_may_change(const struct ppi_spaces *spaces,
                           const struct ppi_layout *layout, uint64_t address)
{
	const struct ppi_extent *extent;
	const struct ppi_file_mapping *entry;

	if (address >> 63)
		return false;
	extent = ppi_layout_at(layout, address);
	if (!extent)
		return true;
	entry = ppi_locations_mapping_at(spaces->locations,
	                                 (uint32_t)extent->value);
	return !ppi_is_shared_file(
		ppi_pool_key(&spaces->locations->strings, entry->path, NULL));
}

uint64_t ppi_spaces_locate(struct ppi_spaces *spaces,
                           const struct ppi_layout *layout, uint64_t address,
                           bool is_kernel)
{
	const struct ppi_extent *extent;
	uint32_t mapping;

	if (address >> 63) {
		layout = spaces->processes.kernel;
		is_kernel = true;
	}
	extent = ppi_layout_at(layout, address);
	if (extent)
		return ppi_locations_add(spaces->locations,
		                         (uint32_t)extent->value,
		                         address + extent->shift);
	if (!is_kernel)
		return 0;
	mapping = kernel_mapping(spaces->locations);
	if (mapping == PPI_NONE)
		return 0;
	return ppi_locations_add(spaces->locations, mapping, address);
}
