/* SPDX-License-Identifier: MIT */
/* Where samples fall, numbered as the file numbers it. */
#include "api/profile/locations.h"

#include "api/profile/path.h"

#include <stdio.h>

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

static void write_hex(char *out, const unsigned char *bytes, size_t count)
{
	*out = '\0';
	for (size_t i = 0; i < count; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

uint32_t ppi_locations_mapping(struct ppi_locations *locations, uint64_t start,
                               uint64_t limit, const portprof_module *module)
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
	write_hex(build_id, module->build_id, id_bytes);
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

uint32_t ppi_locations_kernel(struct ppi_locations *locations)
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

bool ppi_locations_list_mapping(struct ppi_locations *locations,
                                uint32_t mapping)
{
	struct ppi_file_mapping *entry;

	if (mapping == PPI_NONE)
		return true;
	entry = &PPI_AT(&locations->mapping, struct ppi_file_mapping)[mapping];
	if (entry->is_listed)
		return true;
	/* the program itself is to be the first that a reader meets */
	if (locations->listed.count == 0 &&
	    locations->main_mapping != PPI_NONE &&
	    mapping != locations->main_mapping &&
	    !ppi_locations_list_mapping(locations, locations->main_mapping))
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

	if (!ppi_locations_list_mapping(locations, mapping))
		return 0;
	number = ppi_pool_enter(&locations->keys, &key, sizeof(key));
	return number == PPI_NONE ? 0 : locations->location_base + number + 1;
}

void ppi_locations_trim(struct ppi_locations *locations)
{
	size_t count = ppi_pool_count(&locations->keys);

	if (count < LOCATIONS_KEPT || locations->locations_written < count)
		return;
	locations->location_base += count;
	locations->locations_written = 0;
	ppi_pool_clear(&locations->keys);
}

uint64_t ppi_locations_guest(struct ppi_locations *locations)
{
	struct ppi_file_mapping entry = { .path = 0 };
	uint32_t mapping;

	entry.path = ppi_locations_string(locations, "[guest]");
	if (entry.path == PPI_NONE)
		return 0;
	mapping = enter_mapping(locations, "guest", 5, &entry);
	return mapping == PPI_NONE ? 0
	                           : ppi_locations_add(locations, mapping, 0);
}
