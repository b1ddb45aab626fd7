/* SPDX-License-Identifier: MIT */
/*
 * The code mapped in this process, as the dynamic loader lists it; and code that the
 * loader does not know (a JIT's), of any process, found when a sample is in it.
 *
 * Whoever unloads code unannounced (the C library its own modules; a program
 * without our wrapper of dlclose) may have had other code mapped in its place
 * before anybody looked: then nobody knows which of the two a sample is in.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "api/unwind/modules.h"

#include "api/unwind/process_map.h"
#include "backends/backend.h"
#include "base/clock_ns.h"
#include "base/elf.h"
#include "base/library.h"
#include "base/processes.h"
#include "base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Out of memory: what was to be added has no table (hh.tbl). */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* ---- what was seen ---- */

/* realpath(3) fills as much as PATH_MAX, which is this or less. */
enum { PATH_ROOM = 4096 };

struct ppi_module_seen {
	uint64_t start, end, file_offset;
	uint64_t since;      /* place in the ring that it is valid from */
	unsigned scan;       /* the last one that found it */
	unsigned char build_id[PORTPROF_BUILD_ID_BYTES];
	size_t build_id_bytes;
	char *name;          /* the loader's */
	char *path;
};

/* Code that was there, and other code after it, when nobody looked. */
#define UNLOADED "[unloaded]"

static bool is_over(const struct ppi_module_seen *a,
                    const struct ppi_module_seen *b)
{
	return a->start < b->end && b->start < a->end;
}

static bool is_same(const struct ppi_module_seen *a,
                    const struct ppi_module_seen *b)
{
	return a->start == b->start && a->end == b->end &&
	       a->build_id_bytes == b->build_id_bytes &&
	       memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0 &&
	       strcmp(a->name, b->name) == 0;
}

static struct ppi_module_seen *seen_in(const struct ppi_modules *modules)
{
	return PPI_AT(&modules->seen, struct ppi_module_seen);
}

/* The youngest over the addresses of `module`, which is the one in force. */
static struct ppi_module_seen *find_over(const struct ppi_modules *modules,
                                         const struct ppi_module_seen *module)
{
	for (size_t i = modules->seen.count; i-- > 0;)
		if (is_over(&seen_in(modules)[i], module))
			return &seen_in(modules)[i];
	return NULL;
}

static void free_seen(struct ppi_module_seen *seen)
{
	free(seen->name);
	free(seen->path);
}

/* What was told and is no more is of no use. */
static void drop_told_over(struct ppi_modules *modules,
                           const struct ppi_module_seen *module)
{
	size_t kept = 0, told = modules->told;

	for (size_t i = 0; i < modules->seen.count; i++) {
		struct ppi_module_seen *seen = &seen_in(modules)[i];

		if (i < told && is_over(seen, module)) {
			free_seen(seen);
			modules->told--;
		} else {
			seen_in(modules)[kept++] = *seen;
		}
	}
	modules->seen.count = kept;
}

static bool is_later(uint64_t place, uint64_t other)
{
	return (ptrdiff_t)((size_t)place - (size_t)other) > 0;
}

/* Before what is valid from a later place on. */
static void insert(struct ppi_modules *modules,
                   const struct ppi_module_seen *module)
{
	size_t at = modules->seen.count++;

	for (; at > modules->told &&
	       is_later(seen_in(modules)[at - 1].since, module->since); at--)
		seen_in(modules)[at] = seen_in(modules)[at - 1];
	seen_in(modules)[at] = *module;
}

static void add(struct ppi_modules *modules,
                const struct ppi_module_seen *module)
{
	struct ppi_module_seen kept = *module;

	if (!ppi_vector_reserve(&modules->seen, sizeof(kept), 1))
		return;
	kept.name = strdup(module->name);
	kept.path = strdup(module->path);
	if (kept.name && kept.path)
		insert(modules, &kept);
	else
		free_seen(&kept);
}

/* ---- what the loader says ---- */

static size_t find_build_id(const struct dl_phdr_info *info,
                            unsigned char *build_id)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const unsigned char *id;
		size_t bytes;

		if (ph->p_type != PT_NOTE)
			continue;
		bytes = ppi_build_id_find(
			(const char *)(info->dlpi_addr + ph->p_vaddr),
			ph->p_memsz, false, PORTPROF_BUILD_ID_BYTES, &id);
		if (bytes) {
			memcpy(build_id, id, bytes);
			return bytes;
		}
	}
	return 0;
}

struct file_at {
	uint64_t address;
	char *path;
};

static void find_file(void *context, uint64_t start, uint64_t limit,
                      uint64_t offset, const char *path)
{
	const struct file_at *at = context;

	(void)offset;
	if (at->address >= start && at->address < limit && path[0] == '/')
		snprintf(at->path, PATH_ROOM, "%s", path);
}

/* The file that is mapped there, as the system calls it. */
static bool find_mapped(uint64_t address, char *buffer)
{
	struct file_at at = { address, buffer };

	buffer[0] = '\0';
	ppi_process_each_code((uint32_t)getpid(), find_file, &at);
	return buffer[0] != '\0';
}

/* The program that the kernel started is the loader, where that was told to load
 * ours (ld.so PROGRAM): the file that is mapped there is what counts. */
static bool find_program(uint64_t address, char *buffer)
{
	if (ppi_library_has_loader() && ppi_program_path(buffer, PATH_ROOM))
		return true;
	return find_mapped(address, buffer) || ppi_program_path(buffer, PATH_ROOM);
}

/* Not a path in a folder that may be another one by now, and no descriptor
 * (dlopen("/proc/self/fd/5")), which may be closed or of another file. */
static bool is_lasting(const char *name)
{
	return name[0] == '/' && strncmp(name, "/proc/", 6) != 0 &&
	       strncmp(name, "/dev/fd/", 8) != 0;
}

/*
 * The loader calls the program itself "", the vdso by a name or "", and a
 * library as it was asked for, by a link's name perhaps. The file behind it is
 * what is named, as the kernel names it too, so that profiles of all backends
 * agree.
 */
static const char *path_of(const struct ppi_module_seen *module, bool is_first,
                           char *buffer)
{
	const char *name = module->name;

	if (strstr(name, "vdso"))
		return "[vdso]";
	if (strchr(name, '/') && !is_lasting(name) &&
	    find_mapped(module->start, buffer))
		return buffer;
	if (strchr(name, '/') && realpath(name, buffer))
		return buffer;
	if (name[0])
		return name;
	if (is_first && find_program(module->start, buffer))
		return buffer;
	return is_first ? "//program" : "[vdso]";
}

/* What the loader's walk carries along. */
struct walk {
	struct ppi_modules *modules;
	bool is_first;
	bool is_unannounced; /* code went that nobody had told of */
	uint64_t place;
	uint64_t page;
};

static bool has_counters(size_t size)
{
	return size >= offsetof(struct dl_phdr_info, dlpi_subs) +
	               sizeof(((struct dl_phdr_info *)NULL)->dlpi_subs);
}

static bool is_list_unchanged(struct walk *walk,
                              const struct dl_phdr_info *info, size_t size)
{
	struct ppi_modules *modules = walk->modules;

	if (has_counters(size)) {
		if (modules->seen.count && modules->adds == info->dlpi_adds &&
		    modules->subs == info->dlpi_subs)
			return true;
		walk->is_unannounced = modules->scans && !modules->unloading &&
		                       info->dlpi_subs != modules->subs &&
		                       info->dlpi_subs != modules->announced;
		modules->adds = info->dlpi_adds;
		modules->subs = info->dlpi_subs;
	}
	modules->scans++;
	return false;
}

/* The samples on what was there at the last scan are not to be told from
 * those on what is there now. */
static void add_unknown(const struct walk *walk,
                        const struct ppi_module_seen *gone,
                        struct ppi_module_seen *module)
{
	struct ppi_module_seen unknown = *gone;

	unknown.since = walk->modules->since;
	unknown.build_id_bytes = 0;
	unknown.name = unknown.path = (char *)(uintptr_t)UNLOADED;
	module->since = walk->place;
	walk->modules->has_missed = true;
	add(walk->modules, &unknown);
}

static void take(const struct walk *walk, struct ppi_module_seen *module,
                 bool is_first)
{
	struct ppi_modules *modules = walk->modules;
	struct ppi_module_seen *known = find_over(modules, module);
	char buffer[PATH_ROOM];

	if (known && is_same(known, module)) {
		known->scan = modules->scans;
		return;
	}
	module->scan = modules->scans;
	module->since = modules->since;
	module->path = (char *)(uintptr_t)path_of(module, is_first, buffer);
	if (known && walk->is_unannounced && known->scan + 1 == modules->scans)
		add_unknown(walk, known, module);
	drop_told_over(modules, module);
	add(modules, module);
}

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
	struct walk *walk = context;
	struct ppi_module_seen module = { 0 };
	bool is_first = walk->is_first;

	if (is_first && is_list_unchanged(walk, info, size))
		return 1;
	walk->is_first = false;
	module.build_id_bytes = find_build_id(info, module.build_id);
	module.name = (char *)(uintptr_t)info->dlpi_name;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t slack = ph->p_vaddr & (walk->page - 1);

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		module.start = info->dlpi_addr + ph->p_vaddr - slack;
		module.end = (info->dlpi_addr + ph->p_vaddr + ph->p_memsz +
		              walk->page - 1) & ~(walk->page - 1);
		module.file_offset = ph->p_offset - slack;
		take(walk, &module, is_first);
	}
	return 0;
}

static void scan(struct ppi_modules *modules, uint64_t place)
{
	struct walk walk = { .modules = modules, .is_first = true,
		             .place = place,
		             .page = (uint64_t)sysconf(_SC_PAGESIZE) };

	dl_iterate_phdr(visit, &walk);
	modules->since = modules->end = place;
}

/* ---- scans ---- */

void ppi_modules_init(struct ppi_modules *modules)
{
	memset(modules, 0, sizeof(*modules));
	pthread_mutex_init(&modules->lock, NULL);
}

void ppi_modules_free(struct ppi_modules *modules)
{
	for (size_t i = 0; i < modules->seen.count; i++)
		free_seen(&seen_in(modules)[i]);
	ppi_vector_free(&modules->seen);
	pthread_mutex_destroy(&modules->lock);
	memset(modules, 0, sizeof(*modules));
}

bool ppi_modules_scan(struct ppi_modules *modules, uint64_t place)
{
	bool has_missed;

	pthread_mutex_lock(&modules->lock);
	scan(modules, place);
	has_missed = modules->has_missed;
	pthread_mutex_unlock(&modules->lock);
	return !has_missed;
}

void ppi_modules_expect(struct ppi_modules *modules, uint64_t place)
{
	pthread_mutex_lock(&modules->lock);
	scan(modules, place);
	modules->unloading++;
	pthread_mutex_unlock(&modules->lock);
}

static int read_counters(struct dl_phdr_info *info, size_t size, void *context)
{
	if (has_counters(size))
		*(struct dl_phdr_info *)context = *info;
	return 1;
}

/* Destructors of the code were in it until now, unless other code has come. */
void ppi_modules_unloaded(struct ppi_modules *modules, uint64_t place)
{
	struct dl_phdr_info now = { 0 };

	dl_iterate_phdr(read_counters, &now);
	pthread_mutex_lock(&modules->lock);
	modules->unloading--;
	modules->announced = now.dlpi_subs;
	if (modules->adds == now.dlpi_adds)
		modules->since = place;
	pthread_mutex_unlock(&modules->lock);
}

bool ppi_modules_next(struct ppi_modules *modules, uint64_t *place)
{
	bool is_untold;

	pthread_mutex_lock(&modules->lock);
	is_untold = modules->told < modules->seen.count;
	*place = is_untold ? seen_in(modules)[modules->told].since : modules->end;
	pthread_mutex_unlock(&modules->lock);
	return is_untold;
}

static bool tell(const struct ppi_module_seen *seen, struct ppi_room *room)
{
	const portprof_record record = {
		.kind = PORTPROF_RECORD_MODULE,
		.valid = PORTPROF_FIELD_PID,
		.pid = (uint32_t)getpid(),
		.address = seen->start,
		.span = seen->end - seen->start,
	};

	return ppi_room_add_module(room, &record, seen->file_offset,
	                           seen->build_id, seen->build_id_bytes,
	                           seen->path);
}

bool ppi_modules_tell(struct ppi_modules *modules, uint64_t place,
                      struct ppi_room *room)
{
	bool has_told = true;

	pthread_mutex_lock(&modules->lock);
	while (has_told && modules->told < modules->seen.count &&
	       seen_in(modules)[modules->told].since == place) {
		has_told = tell(&seen_in(modules)[modules->told], room);
		modules->told += has_told;
	}
	pthread_mutex_unlock(&modules->lock);
	return has_told;
}

/* ---- code that nobody reported, found when a sample is in it ---- */

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

/* ---- such code: what records say ---- */

static uint32_t pid_of(const struct ppi_code_watch *watch,
                       const portprof_record *record)
{
	return record->valid & PORTPROF_FIELD_PID ? record->pid : watch->self;
}

static void learn_code(struct ppi_code_watch *watch, uint32_t pid, uint64_t start,
                       uint64_t limit)
{
	const struct ppi_extent extent = { .start = start, .limit = limit };

	ppi_process_map_add(&watch->map, pid, &extent);
}

static void forget_process(struct ppi_code_watch *watch, uint32_t pid)
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
		learn_code(watch, pid, record->address, record->address + record->span);
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
			forget_process(watch, pid);
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

/* ---- such code: what the system says ---- */

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
	learn_code(look->watch, look->pid, start, limit);
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
