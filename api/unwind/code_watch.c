/* SPDX-License-Identifier: MIT */
/* Code that no record reported, found when a sample is in it. */
#include "api/unwind/code_watch.h"

#include "api/unwind/process_map.h"
#include "api/unwind/module_image.h"
#include "base/clock_ns.h"

#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Between two looks at a process; it doubles where nothing is found. */
#define LOOK_FIRST_NS UINT64_C(100000000)
#define LOOK_LAST_NS  UINT64_C(10000000000)

enum { SWEEP_EVERY = 64 }; /* processes that ended */

/* A process that was looked at. */
struct looked {
	UT_hash_handle hh;
	uint32_t pid;
	uint64_t next_ns, wait_ns;
};

struct ppi_code_watch {
	struct ppi_process_map map;
	struct looked *looked;
	uint32_t self;
	unsigned ended;
};

struct ppi_code_watch *ppi_code_watch_new(uint32_t self)
{
	struct ppi_code_watch *watch = calloc(1, sizeof(*watch));

	if (watch)
		watch->self = self;
	return watch;
}

static struct looked *find_looked(const struct ppi_code_watch *watch,
                                  uint32_t pid)
{
	struct looked *looked;

	HASH_FIND(hh, watch->looked, &pid, sizeof(pid), looked);
	return looked;
}

static void forget(struct ppi_code_watch *watch, uint32_t pid)
{
	struct looked *looked = find_looked(watch, pid);

	if (!looked)
		return;
	HASH_DELETE(hh, watch->looked, looked);
	free(looked);
}

void ppi_code_watch_free(struct ppi_code_watch *watch)
{
	struct looked *looked, *next;

	if (!watch)
		return;
	HASH_ITER(hh, watch->looked, looked, next)
		forget(watch, looked->pid);
	ppi_process_map_close(&watch->map);
	free(watch);
}

/* ---- what records say ---- */

static uint32_t pid_of(const struct ppi_code_watch *watch,
                       const portprof_record *record)
{
	return record->valid & PORTPROF_FIELD_PID ? record->pid : watch->self;
}

static void add(struct ppi_code_watch *watch, uint32_t pid, uint64_t start,
                uint64_t limit)
{
	const struct ppi_extent extent = { .start = start, .limit = limit };

	ppi_process_map_add(&watch->map, pid, &extent);
}

static void end(struct ppi_code_watch *watch, uint32_t pid)
{
	forget(watch, pid);
	if (ppi_process_map_exit(&watch->map, pid) &&
	    ++watch->ended % SWEEP_EVERY == 0)
		ppi_process_map_sweep(&watch->map);
}

static void learn(struct ppi_code_watch *watch, const portprof_record *record)
{
	uint32_t pid = pid_of(watch, record);

	switch (record->kind) {
	case PORTPROF_RECORD_MODULE:
		add(watch, pid, record->address, record->address + record->span);
		break;
	case PORTPROF_RECORD_FORK:
		ppi_process_map_fork(&watch->map, pid,
		                     (uint32_t)record->address);
		break;
	case PORTPROF_RECORD_THREAD:
		if (record->valid & PORTPROF_FIELD_EXEC) {
			ppi_process_map_exec(&watch->map, pid);
			forget(watch, pid);
		}
		break;
	case PORTPROF_RECORD_EXIT:
		if (record->pid == record->tid)
			end(watch, pid);
		break;
	default:
		break;
	}
}

static bool is_known(struct ppi_code_watch *watch, uint32_t pid,
                     uint64_t address)
{
	return ppi_layout_at(ppi_process_map_find(&watch->map, pid), address);
}

/* Addresses of the upper half are the kernel's. */
static bool is_missed(struct ppi_code_watch *watch,
                      const portprof_record *record)
{
	uint32_t pid = pid_of(watch, record);
	const struct looked *looked;

	if (record->kind != PORTPROF_RECORD_SAMPLE || record->address == 0 ||
	    record->address >> 63 || is_known(watch, pid, record->address))
		return false;
	looked = find_looked(watch, pid);
	return !looked || ppi_monotonic_ns() >= looked->next_ns;
}

size_t ppi_code_watch_see(struct ppi_code_watch *watch,
                          const portprof_record *records, size_t first,
                          size_t count)
{
	while (first < count && !is_missed(watch, &records[first]))
		learn(watch, &records[first++]);
	return first;
}

/* ---- what the system says ---- */

struct look {
	struct ppi_code_watch *watch;
	struct ppi_room *room;
	uint32_t pid;
	bool is_the_process, has_news;
};

/* A process of another namespace may have the number. */
static void recognise(void *context, uint64_t start, uint64_t limit,
                      uint64_t offset, const char *path)
{
	struct look *look = context;
	const struct ppi_extent *known = ppi_layout_at(
		ppi_process_map_find(&look->watch->map, look->pid), start);

	(void)limit;
	(void)offset;
	look->is_the_process |= known && known->start == start && path[0];
}

static void take_code(void *context, uint64_t start, uint64_t limit,
                      uint64_t offset, const char *path)
{
	struct look *look = context;
	const portprof_record record = {
		.kind = PORTPROF_RECORD_MODULE,
		.valid = PORTPROF_FIELD_PID,
		.pid = look->pid,
		.address = start,
		.span = limit - start,
	};

	if ((is_known(look->watch, look->pid, start) &&
	     is_known(look->watch, look->pid, limit - 1)) ||
	    !ppi_room_add_module(look->room, &record, offset, NULL, 0,
	                         path[0] ? path : "//anon"))
		return;
	add(look->watch, look->pid, start, limit);
	look->has_news = true;
}

static struct looked *looked_at(struct ppi_code_watch *watch, uint32_t pid)
{
	struct looked *looked = find_looked(watch, pid);

	if (looked)
		return looked;
	looked = calloc(1, sizeof(*looked));
	if (!looked)
		return NULL;
	looked->pid = pid;
	HASH_ADD(hh, watch->looked, pid, sizeof(pid), looked);
	if (looked->hh.tbl)
		return looked;
	free(looked);
	return NULL;
}

void ppi_code_watch_look(struct ppi_code_watch *watch,
                         const portprof_record *sample, struct ppi_room *room)
{
	struct look look = { .watch = watch, .room = room,
		             .pid = pid_of(watch, sample) };
	struct looked *looked = looked_at(watch, look.pid);

	if (!looked) /* when to look again could not be kept */
		return;
	ppi_process_each_code(look.pid, recognise, &look);
	if (look.is_the_process)
		ppi_process_each_code(look.pid, take_code, &look);
	looked->wait_ns = look.has_news || !looked->wait_ns
	                          ? LOOK_FIRST_NS
	                          : looked->wait_ns * 2;
	if (looked->wait_ns > LOOK_LAST_NS)
		looked->wait_ns = LOOK_LAST_NS;
	looked->next_ns = ppi_monotonic_ns() + looked->wait_ns;
}
