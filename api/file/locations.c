/* SPDX-License-Identifier: MIT */
/* Where samples fall, numbered as the file numbers it. */
#include "api/file/locations.h"

#include "api/file/path.h"

#include <stdio.h>

/* Locations remembered; a program that makes code for ever has no end of
 * them. Forgetting costs only that some are written again. */
enum { LOCATIONS_KEPT = 1 << 18 };

bool ppi_places_open(struct ppi_places *places)
{
	memset(places, 0, sizeof(*places));
	places->main_mapping = PPI_NONE;
	places->kernel_mapping = PPI_NONE;
	return ppi_places_string(places, "") == 0;
}

void ppi_places_close(struct ppi_places *places)
{
	ppi_pool_free(&places->strings);
	ppi_pool_free(&places->mappings);
	ppi_vector_free(&places->mapping);
	ppi_vector_free(&places->listed);
	ppi_pool_free(&places->locations);
}

uint32_t ppi_places_string(struct ppi_places *places, const char *text)
{
	return ppi_pool_enter(&places->strings, text, strlen(text));
}

static uint32_t enter_mapping(struct ppi_places *places, const char *key,
                              size_t key_bytes, const struct ppi_place *place)
{
	uint32_t number;

	if (!ppi_vector_reserve(&places->mapping, sizeof(*place), 1))
		return PPI_NONE;
	number = ppi_pool_enter(&places->mappings, key, key_bytes);
	if (number == places->mapping.count)
		ppi_vector_add(&places->mapping, sizeof(*place), place, 1);
	return number;
}

static void write_hex(char *out, const unsigned char *bytes, size_t count)
{
	*out = '\0';
	for (size_t i = 0; i < count; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

uint32_t ppi_places_mapping(struct ppi_places *places, uint64_t start,
                            uint64_t limit, const portprof_module *module)
{
	char build_id[2 * PORTPROF_BUILD_ID_BYTES + 1], key[128];
	struct ppi_place place = { start, limit, module->file_offset, 0, 0,
		                   false };
	size_t id_bytes = module->build_id_bytes;
	bool is_shared = ppi_is_shared_file(module->path);
	int length;

	if (id_bytes > PORTPROF_BUILD_ID_BYTES)
		id_bytes = PORTPROF_BUILD_ID_BYTES;
	write_hex(build_id, module->build_id, id_bytes);
	place.path = ppi_places_string(places, module->path);
	place.build_id = ppi_places_string(places, build_id);
	if (place.path == PPI_NONE || place.build_id == PPI_NONE)
		return PPI_NONE;
	length = snprintf(key, sizeof(key), "%x %x %llx %llx %llx", place.path,
	                  place.build_id,
	                  (unsigned long long)place.file_offset,
	                  (unsigned long long)(limit - start),
	                  is_shared ? 0 : (unsigned long long)start);
	return enter_mapping(places, key, (size_t)length, &place);
}

uint32_t ppi_places_kernel(struct ppi_places *places)
{
	struct ppi_place place = { (uint64_t)1 << 63, UINT64_MAX, 0, 0, 0,
		                   false };

	if (places->kernel_mapping != PPI_NONE)
		return places->kernel_mapping;
	place.path = ppi_places_string(places, "[kernel.kallsyms]");
	if (place.path == PPI_NONE)
		return PPI_NONE;
	places->kernel_mapping = enter_mapping(places, "kernel", 6, &place);
	return places->kernel_mapping;
}

const struct ppi_place *ppi_places_at(const struct ppi_places *places,
                                      uint32_t mapping)
{
	return &PPI_AT(&places->mapping, struct ppi_place)[mapping];
}

bool ppi_places_list(struct ppi_places *places, uint32_t mapping)
{
	struct ppi_place *place;

	if (mapping == PPI_NONE)
		return true;
	place = &PPI_AT(&places->mapping, struct ppi_place)[mapping];
	if (place->is_listed)
		return true;
	/* the program itself is to be the first that a reader meets */
	if (places->listed.count == 0 && places->main_mapping != PPI_NONE &&
	    mapping != places->main_mapping &&
	    !ppi_places_list(places, places->main_mapping))
		return false;
	place->is_listed = ppi_vector_add(&places->listed, sizeof(mapping),
	                                  &mapping, 1);
	return place->is_listed;
}

uint64_t ppi_places_location(struct ppi_places *places, uint32_t mapping,
                             uint64_t address)
{
	struct ppi_location_key key = { address, mapping };
	uint32_t number;

	if (!ppi_places_list(places, mapping))
		return 0;
	number = ppi_pool_enter(&places->locations, &key, sizeof(key));
	return number == PPI_NONE ? 0 : places->location_base + number + 1;
}

void ppi_places_trim(struct ppi_places *places)
{
	size_t count = ppi_pool_count(&places->locations);

	if (count < LOCATIONS_KEPT || places->locations_written < count)
		return;
	places->location_base += count;
	places->locations_written = 0;
	ppi_pool_clear(&places->locations);
}

uint64_t ppi_places_guest(struct ppi_places *places)
{
	struct ppi_place place = { 0, 0, 0, 0, 0, false };
	uint32_t mapping;

	place.path = ppi_places_string(places, "[guest]");
	if (place.path == PPI_NONE)
		return 0;
	mapping = enter_mapping(places, "guest", 5, &place);
	return mapping == PPI_NONE ? 0 : ppi_places_location(places, mapping, 0);
}
