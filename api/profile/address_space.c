/* SPDX-License-Identifier: MIT */
/* Address spaces: which mapping an address of a process belongs to, now. */
#include "api/profile/address_space.h"

#include "api/profile/path.h"

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
 * The loader and the kernel may both tell of one mapping, and one of them
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
	    locations->listed.count == 0 && path[0] != '[' &&
	    (ppi_is_shared_file(path) || strcmp(path, "//program") == 0))
		locations->main_mapping = mapping;
}

/* A reader finds the dump by its mapping, which no sample is in. */
static void note_dump(struct ppi_spaces *spaces, uint32_t pid,
                      uint32_t mapping, const char *path)
{
	if (ppi_is_code_dump(path) &&
	    ppi_ids_find(&spaces->dumping, pid) == PPI_NONE &&
	    ppi_locations_list_mapping(spaces->locations, mapping))
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
		ppi_locations_mapping(spaces->locations, start, limit, module);
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
	ppi_process_map_exec(&spaces->processes, pid);
	if (pid == spaces->main_pid && spaces->locations->listed.count == 0)
		spaces->locations->main_mapping = PPI_NONE;
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
	mapping = ppi_locations_kernel(spaces->locations);
	if (mapping == PPI_NONE)
		return 0;
	return ppi_locations_add(spaces->locations, mapping, address);
}
