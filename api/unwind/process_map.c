/* SPDX-License-Identifier: MIT */
/* What each process has mapped now, and what the caller keeps of it. */
#include "api/unwind/process_map.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct ppi_process {
	UT_hash_handle hh;
	uint32_t pid;
	uint32_t age; /* sweeps since it ended, plus 1; 0 = alive */
	struct ppi_layout *layout;
};

/* Fewer are not worth sweeping, so that a process whose first thread alone
 * has ended keeps its layout. */
enum { PROCESSES_KEPT = 256 };

/* ---- layouts ---- */

static struct ppi_extent *extents_of(const struct ppi_layout *layout)
{
	return PPI_AT(&layout->extents, struct ppi_extent);
}

static void count_user(const struct ppi_process_map *map,
                       const struct ppi_extent *extent, int change)
{
	if (map->count_user)
		map->count_user(map->context, extent->value, change);
}

static void count_users(const struct ppi_process_map *map,
                        const struct ppi_layout *layout, int change)
{
	for (size_t i = 0; i < layout->extents.count; i++)
		count_user(map, &extents_of(layout)[i], change);
}

static struct ppi_layout *new_layout(struct ppi_process_map *map,
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
	count_users(map, layout, 1);
	layout->users = 1;
	layout->number = ++map->next_number;
	return layout;
}

static void drop_layout(struct ppi_process_map *map, struct ppi_layout *layout)
{
	if (!layout || --layout->users > 0)
		return;
	count_users(map, layout, -1);
	ppi_vector_free(&layout->extents);
	free(layout);
}

/* The layout at `slot`, made one that nobody else uses and whose number is
 * new: what was found by the old number is no longer so. */
static struct ppi_layout *own_layout(struct ppi_process_map *map,
                                     struct ppi_layout **slot)
{
	struct ppi_layout *own;

	if (*slot && (*slot)->users == 1) {
		(*slot)->number = ++map->next_number;
		return *slot;
	}
	own = new_layout(map, *slot);
	if (!own)
		return NULL;
	drop_layout(map, *slot);
	*slot = own;
	return own;
}

/* The first extent that ends behind `address`. */
static size_t lower_bound(const struct ppi_layout *layout, uint64_t address)
{
	const struct ppi_extent *extents = extents_of(layout);
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

const struct ppi_extent *ppi_layout_at(const struct ppi_layout *layout,
                                       uint64_t address)
{
	const struct ppi_extent *extent;
	size_t at;

	if (!layout)
		return NULL;
	at = lower_bound(layout, address);
	if (at == layout->extents.count)
		return NULL;
	extent = &extents_of(layout)[at];
	return extent->start <= address ? extent : NULL;
}

/* Take [start, limit) out; there is room for one extent more. Returns where an
 * extent of that range belongs. */
static size_t cut_out(const struct ppi_process_map *map,
                      struct ppi_layout *layout, uint64_t start, uint64_t limit)
{
	struct ppi_extent *all = extents_of(layout);
	size_t *count = &layout->extents.count;
	size_t first = lower_bound(layout, start), last;

	if (first < *count && all[first].start < start) {
		if (all[first].limit > limit) { /* it lies on both sides */
			memmove(all + first + 1, all + first,
			        ((*count)++ - first) * sizeof(*all));
			count_user(map, &all[first], 1);
		}
		all[first++].limit = start;
	}
	for (last = first; last < *count && all[last].limit <= limit; last++)
		count_user(map, &all[last], -1);
	if (last > first)
		memmove(all + first, all + last, (*count - last) * sizeof(*all));
	*count -= last - first;
	if (first < *count && all[first].start < limit)
		all[first].start = limit;
	return first;
}

static bool insert(struct ppi_process_map *map, struct ppi_layout **slot,
                   const struct ppi_extent *added)
{
	struct ppi_layout *layout = own_layout(map, slot);
	struct ppi_extent *all;
	size_t at;

	if (!layout ||
	    !ppi_vector_reserve(&layout->extents, sizeof(*added), 2))
		return false;
	count_user(map, added, 1);
	at = cut_out(map, layout, added->start, added->limit);
	all = extents_of(layout);
	memmove(all + at + 1, all + at,
	        (layout->extents.count++ - at) * sizeof(*all));
	all[at] = *added;
	return true;
}

/* ---- processes ---- */

static void set_age(struct ppi_process_map *map, struct ppi_process *process,
                    uint32_t age)
{
	map->ended += (age != 0);
	map->ended -= (process->age != 0);
	process->age = age;
}

static void drop_process(struct ppi_process_map *map,
                         struct ppi_process *process)
{
	if (map->last == process)
		map->last = NULL;
	set_age(map, process, 0);
	HASH_DELETE(hh, map->head, process);
	drop_layout(map, process->layout);
	free(process);
}

void ppi_process_map_close(struct ppi_process_map *map)
{
	struct ppi_process *process, *next;

	HASH_ITER(hh, map->head, process, next)
		drop_process(map, process);
	drop_layout(map, map->kernel);
	map->kernel = NULL;
}

static struct ppi_process *find_process(struct ppi_process_map *map,
                                        uint32_t pid)
{
	struct ppi_process *process = map->last;

	if (process && process->pid == pid)
		return process;
	HASH_FIND(hh, map->head, &pid, sizeof(pid), process);
	if (process)
		map->last = process;
	return process;
}

static struct ppi_process *make_process(struct ppi_process_map *map,
                                        uint32_t pid)
{
	struct ppi_process *process = find_process(map, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	HASH_ADD(hh, map->head, pid, sizeof(pid), process);
	if (!process->hh.tbl) {
		free(process);
		return NULL;
	}
	return process;
}

bool ppi_process_map_add(struct ppi_process_map *map, uint32_t pid,
                         const struct ppi_extent *added)
{
	struct ppi_process *process;

	if (added->limit <= added->start)
		return true;
	if (added->start >> 63)
		return insert(map, &map->kernel, added);
	process = make_process(map, pid);
	if (!process)
		return false;
	set_age(map, process, 0);
	return insert(map, &process->layout, added);
}

bool ppi_process_map_fork(struct ppi_process_map *map, uint32_t pid,
                          uint32_t parent_pid)
{
	struct ppi_process *parent, *child;

	if (pid == parent_pid)
		return true; /* a thread */
	child = make_process(map, pid);
	if (!child)
		return false;
	parent = find_process(map, parent_pid);
	drop_layout(map, child->layout); /* an older process of that number */
	child->layout = parent ? parent->layout : NULL;
	if (child->layout)
		child->layout->users++;
	set_age(map, child, 0);
	return true;
}

void ppi_process_map_exec(struct ppi_process_map *map, uint32_t pid)
{
	struct ppi_process *process = find_process(map, pid);

	if (process) {
		drop_layout(map, process->layout);
		process->layout = NULL;
		set_age(map, process, 0);
	}
}

bool ppi_process_map_exit(struct ppi_process_map *map, uint32_t pid)
{
	struct ppi_process *process = find_process(map, pid);

	if (!process || process->age)
		return false;
	set_age(map, process, 1);
	return true;
}

void ppi_process_map_sweep(struct ppi_process_map *map)
{
	struct ppi_process *process, *next;

	if (map->ended == 0)
		return;
	HASH_ITER(hh, map->head, process, next) {
		if (HASH_COUNT(map->head) <= PROCESSES_KEPT)
			return;
		if (process->age > 1)
			drop_process(map, process);
		else if (process->age == 1)
			process->age = 2;
	}
}

const struct ppi_layout *ppi_process_map_find(struct ppi_process_map *map,
                                              uint32_t pid)
{
	struct ppi_process *process = find_process(map, pid);

	if (!process)
		return NULL;
	if (process->age)
		process->age = 1; /* it is not gone yet */
	return process->layout;
}
