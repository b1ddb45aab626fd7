/* SPDX-License-Identifier: MIT */
/* Address spaces: which mapping an address of a process belongs to, now. */
#include "api/file/address_space.h"

#include "api/file/path.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct ppi_space {
	UT_hash_handle hh;
	uint32_t pid;
	uint32_t age; /* sweeps since it exited, plus 1; 0 = alive */
	struct ppi_layout *layout;
};

/* Fewer are not worth sweeping, so that a process whose first thread alone
 * has ended keeps its space. */
enum { SPACES_KEPT = 256 };

static struct ppi_layout *new_layout(struct ppi_spaces *spaces,
                                     const struct ppi_layout *from)
{
	struct ppi_layout *layout = calloc(1, sizeof(*layout));

	if (!layout)
		return NULL;
	if (from && !ppi_vector_add(&layout->extents,
	                            sizeof(struct ppi_extent),
	                            from->extents.data,
	                            from->extents.count)) {
		free(layout);
		return NULL;
	}
	layout->users = 1;
	layout->number = ++spaces->next_number;
	return layout;
}

static void drop_layout(struct ppi_layout *layout)
{
	if (!layout || --layout->users > 0)
		return;
	ppi_vector_free(&layout->extents);
	free(layout);
}

bool ppi_spaces_open(struct ppi_spaces *spaces, struct ppi_places *places,
                     int64_t main_pid)
{
	memset(spaces, 0, sizeof(*spaces));
	spaces->places = places;
	spaces->main_pid = main_pid;
	spaces->kernel = new_layout(spaces, NULL);
	return spaces->kernel != NULL;
}

static void drop_space(struct ppi_spaces *spaces, struct ppi_space *space)
{
	if (spaces->last == space)
		spaces->last = NULL;
	HASH_DELETE(hh, spaces->head, space);
	drop_layout(space->layout);
	free(space);
}

void ppi_spaces_close(struct ppi_spaces *spaces)
{
	struct ppi_space *space, *next;

	HASH_ITER(hh, spaces->head, space, next)
		drop_space(spaces, space);
	drop_layout(spaces->kernel);
	spaces->kernel = NULL;
}

static struct ppi_space *find_space(struct ppi_spaces *spaces, uint32_t pid)
{
	struct ppi_space *space = spaces->last;

	if (space && space->pid == pid)
		return space;
	HASH_FIND(hh, spaces->head, &pid, sizeof(pid), space);
	if (space)
		spaces->last = space;
	return space;
}

static struct ppi_space *make_space(struct ppi_spaces *spaces, uint32_t pid)
{
	struct ppi_space *space = find_space(spaces, pid);

	if (space)
		return space;
	space = calloc(1, sizeof(*space));
	if (!space)
		return NULL;
	space->pid = pid;
	HASH_ADD(hh, spaces->head, pid, sizeof(pid), space);
	if (!space->hh.tbl) {
		free(space);
		return NULL;
	}
	return space;
}

/* The first extent that ends behind `address`. */
static size_t lower_bound(const struct ppi_layout *layout, uint64_t address)
{
	const struct ppi_extent *extents =
		PPI_AT(&layout->extents, struct ppi_extent);
	size_t low = 0, high = layout->extents.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (extents[middle].limit <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct ppi_extent *find_extent(const struct ppi_layout *layout,
                                            uint64_t address)
{
	const struct ppi_extent *extents =
		PPI_AT(&layout->extents, struct ppi_extent);
	size_t at = lower_bound(layout, address);

	return at < layout->extents.count && extents[at].start <= address
	               ? &extents[at]
	               : NULL;
}

/* Put `added` in, and cut away what it lies over. */
static bool replace(struct ppi_vector *extents, const struct ppi_extent *added)
{
	struct ppi_vector after = { NULL, 0, 0 };
	const struct ppi_extent *old = PPI_AT(extents, struct ppi_extent);
	struct ppi_extent part;
	bool is_in = false;

	if (!ppi_vector_reserve(&after, sizeof(part), extents->count + 2))
		return false;
	for (size_t i = 0; i < extents->count; i++) {
		part = old[i];
		if (part.limit > added->start)
			part.limit = added->start;
		if (part.start < part.limit)
			ppi_vector_add(&after, sizeof(part), &part, 1);
		if (!is_in && old[i].limit > added->start) {
			ppi_vector_add(&after, sizeof(part), added, 1);
			is_in = true;
		}
		part = old[i];
		if (part.start < added->limit)
			part.start = added->limit;
		if (part.start < part.limit && is_in)
			ppi_vector_add(&after, sizeof(part), &part, 1);
	}
	if (!is_in)
		ppi_vector_add(&after, sizeof(part), added, 1);
	ppi_vector_free(extents);
	*extents = after;
	return true;
}

/*
 * The loader and the kernel may both tell of one mapping, and one of them
 * may know less: then it is no change.
 */
static bool is_told_already(const struct ppi_spaces *spaces,
                            const struct ppi_layout *layout,
                            const struct ppi_extent *told)
{
	const struct ppi_extent *known = find_extent(layout, told->start);
	const struct ppi_place *a, *b;

	if (!known || known->start != told->start ||
	    known->limit != told->limit)
		return false;
	a = ppi_places_at(spaces->places, known->mapping);
	b = ppi_places_at(spaces->places, told->mapping);
	/* what is known may be the rest of something larger */
	if (a->limit - a->start != b->limit - b->start ||
	    a->file_offset != b->file_offset)
		return false;
	if (known->mapping == told->mapping)
		return true;
	if (a->path == b->path)
		return b->build_id == 0;
	return a->build_id == b->build_id && a->build_id != 0;
}

/* The layout at `slot`, made one that nobody else uses and whose number is
 * new: what was found by the old number is no longer so. */
static struct ppi_layout *own_layout(struct ppi_spaces *spaces,
                                     struct ppi_layout **slot)
{
	struct ppi_layout *own;

	if (*slot && (*slot)->users == 1) {
		(*slot)->number = ++spaces->next_number;
		return *slot;
	}
	own = new_layout(spaces, *slot);
	if (!own)
		return NULL;
	drop_layout(*slot);
	*slot = own;
	return own;
}

/* The first program or library of the main process is the program. */
static void note_main(struct ppi_spaces *spaces, uint32_t pid,
                      uint32_t mapping, const char *path)
{
	struct ppi_places *places = spaces->places;

	if (pid == spaces->main_pid && places->main_mapping == PPI_NONE &&
	    places->listed.count == 0 && path[0] != '[' &&
	    (ppi_is_shared_file(path) || strcmp(path, "//program") == 0))
		places->main_mapping = mapping;
}

bool ppi_spaces_map(struct ppi_spaces *spaces, uint32_t pid, uint64_t start,
                    uint64_t limit, const portprof_module *module)
{
	struct ppi_extent extent = { start, limit, 0, PPI_NONE };
	struct ppi_layout **slot = &spaces->kernel, *layout;

	if (limit <= start)
		return true;
	if (!(start >> 63)) {
		struct ppi_space *space = make_space(spaces, pid);

		if (!space)
			return false;
		space->age = 0;
		slot = &space->layout;
	}
	extent.mapping = ppi_places_mapping(spaces->places, start, limit,
	                                    module);
	if (extent.mapping == PPI_NONE)
		return false;
	extent.shift = ppi_places_at(spaces->places, extent.mapping)->start -
	               start;
	if (*slot && is_told_already(spaces, *slot, &extent))
		return true;
	layout = own_layout(spaces, slot);
	if (!layout || !replace(&layout->extents, &extent))
		return false;
	if (slot != &spaces->kernel)
		note_main(spaces, pid, extent.mapping, module->path);
	return true;
}

bool ppi_spaces_fork(struct ppi_spaces *spaces, uint32_t pid,
                     uint32_t parent_pid)
{
	struct ppi_space *parent, *child;

	if (pid == parent_pid)
		return true; /* a thread */
	child = make_space(spaces, pid);
	if (!child)
		return false;
	parent = find_space(spaces, parent_pid);
	drop_layout(child->layout); /* of an older process of that number */
	child->layout = parent ? parent->layout : NULL;
	if (child->layout)
		child->layout->users++;
	child->age = 0;
	return true;
}

void ppi_spaces_exec(struct ppi_spaces *spaces, uint32_t pid)
{
	struct ppi_space *space = find_space(spaces, pid);

	if (space) {
		drop_layout(space->layout);
		space->layout = NULL;
		space->age = 0;
	}
	if (pid == spaces->main_pid && spaces->places->listed.count == 0)
		spaces->places->main_mapping = PPI_NONE;
}

void ppi_spaces_exit(struct ppi_spaces *spaces, uint32_t pid)
{
	struct ppi_space *space = find_space(spaces, pid);

	if (space && space->age == 0)
		space->age = 1;
}

void ppi_spaces_sweep(struct ppi_spaces *spaces)
{
	struct ppi_space *space, *next;

	HASH_ITER(hh, spaces->head, space, next) {
		if (HASH_COUNT(spaces->head) <= SPACES_KEPT)
			return;
		if (space->age > 1)
			drop_space(spaces, space);
		else if (space->age == 1)
			space->age = 2;
	}
}

const struct ppi_layout *ppi_spaces_layout(struct ppi_spaces *spaces,
                                           uint32_t pid)
{
	struct ppi_space *space = find_space(spaces, pid);

	if (!space)
		return NULL;
	if (space->age)
		space->age = 1; /* it is not gone yet */
	return space->layout;
}

uint64_t ppi_spaces_locate(struct ppi_spaces *spaces,
                           const struct ppi_layout *layout, uint64_t address,
                           bool is_kernel)
{
	const struct ppi_extent *extent = NULL;
	uint32_t mapping;

	if (address >> 63) {
		layout = spaces->kernel;
		is_kernel = true;
	}
	if (layout)
		extent = find_extent(layout, address);
	if (extent)
		return ppi_places_location(spaces->places, extent->mapping,
		                           address + extent->shift);
	if (!is_kernel)
		return 0;
	mapping = ppi_places_kernel(spaces->places);
	if (mapping == PPI_NONE)
		return 0;
	return ppi_places_location(spaces->places, mapping, address);
}
