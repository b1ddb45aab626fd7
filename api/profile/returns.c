/* SPDX-License-Identifier: MIT */
/* Whether an address in a call chain can be a return address. */
#include "config.h"

#include "api/profile/returns.h"

#include "api/profile/image.h"
#include "api/unwind/code_bytes.h"
#include "base/foreign_file.h"

#include <unistd.h>

enum { UNASKED, CAN_BE, CANNOT_BE, IS_TRAMPOLINE };

struct ppi_returns_file {
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
}

static const char *string_at(const struct ppi_locations *locations,
                             uint32_t number)
{
	return ppi_pool_key(&locations->strings, number, NULL);
}

static void ask_file(const struct ppi_locations *locations,
                     const struct ppi_file_mapping *entry,
                     struct ppi_returns_file *file)
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
static const struct ppi_returns_file *file_of(struct ppi_returns *returns,
                                              uint32_t mapping)
{
	size_t missing = mapping + (size_t)1;
	struct ppi_returns_file *file;

	missing -= missing < returns->files.count ? missing
	                                          : returns->files.count;
	if (!ppi_vector_add(&returns->files, sizeof(*file), NULL, missing))
		return NULL;
	file = &PPI_AT(&returns->files, struct ppi_returns_file)[mapping];
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
	const struct ppi_returns_file *file = file_of(returns, mapping);
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
		*verdict = key->mapping == PPI_NONE ? CAN_BE :
		           ask(returns, (uint32_t)key->mapping,
		               key->address + 1);
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
