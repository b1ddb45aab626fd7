/* SPDX-License-Identifier: MIT */
/*
 * The code mapped in this process, as the dynamic loader lists it. Code that
 * the loader does not know (a JIT's) is not found here.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "api/internal/modules.h"

#include "port/build_id.h"
#include "port/elf_w.h"
#include "port/thread.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* realpath(3) fills as much as PATH_MAX, which is this or less. */
enum { PATH_ROOM = 4096 };

struct ppi_module_seen {
	uint64_t start, end, file_offset;
	unsigned char build_id[PORTPROF_BUILD_ID_BYTES];
	size_t build_id_bytes;
	char *path;
};

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

static bool is_seen(const struct ppi_modules *modules, uint64_t start,
                    uint64_t end, const char *path)
{
	for (size_t i = modules->count; i-- > 0;) {
		const struct ppi_module_seen *seen = &modules->seen[i];

		/* the youngest entry over an address is the one in force */
		if (seen->start < end && start < seen->end)
			return seen->start == start && seen->end == end &&
			       strcmp(seen->path, path) == 0;
	}
	return false;
}

static void add(struct ppi_modules *modules,
                const struct ppi_module_seen *module)
{
	if (modules->count == modules->room) {
		size_t room = modules->room ? modules->room * 2 : 32;
		struct ppi_module_seen *seen =
			realloc(modules->seen, room * sizeof(*seen));

		if (!seen)
			return;
		modules->seen = seen;
		modules->room = room;
	}
	modules->seen[modules->count] = *module;
	modules->seen[modules->count].path = strdup(module->path);
	if (modules->seen[modules->count].path)
		modules->count++;
}

/*
 * The loader calls the program itself "", the vdso by a name or "", and a
 * library as it was asked for: by a link's name, or by one relative to a
 * folder that may be another one later. The file behind it is what is named,
 * as the kernel names it too, so that profiles of all backends agree.
 */
static const char *path_of(const struct dl_phdr_info *info, bool is_first,
                           char *buffer)
{
	const char *name = info->dlpi_name;

	if (strstr(name, "vdso"))
		return "[vdso]";
	if (strchr(name, '/') && realpath(name, buffer))
		return buffer;
	if (name[0])
		return name;
	if (is_first && ppi_program_path(buffer, PATH_ROOM))
		return buffer;
	return is_first ? "//program" : "[vdso]";
}

/* What the loader's walk carries along. */
struct walk {
	struct ppi_modules *modules;
	bool is_first;
	uint64_t page;
};

static bool is_list_unchanged(struct ppi_modules *modules,
                              const struct dl_phdr_info *info, size_t size)
{
	if (size < offsetof(struct dl_phdr_info, dlpi_subs) +
	                   sizeof(info->dlpi_subs))
		return false;
	if (modules->count && modules->adds == info->dlpi_adds &&
	    modules->subs == info->dlpi_subs)
		return true;
	modules->adds = info->dlpi_adds;
	modules->subs = info->dlpi_subs;
	return false;
}

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
	struct walk *walk = context;
	struct ppi_module_seen module = { 0 };
	char buffer[PATH_ROOM];
	const char *path;

	if (walk->is_first && is_list_unchanged(walk->modules, info, size))
		return 1;
	path = path_of(info, walk->is_first, buffer);
	walk->is_first = false;
	module.build_id_bytes = find_build_id(info, module.build_id);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t slack = ph->p_vaddr & (walk->page - 1);

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		module.start = info->dlpi_addr + ph->p_vaddr - slack;
		module.end = (info->dlpi_addr + ph->p_vaddr + ph->p_memsz +
		              walk->page - 1) & ~(walk->page - 1);
		module.file_offset = ph->p_offset - slack;
		module.path = (char *)(uintptr_t)path;
		if (!is_seen(walk->modules, module.start, module.end, path))
			add(walk->modules, &module);
	}
	return 0;
}

void ppi_modules_scan(struct ppi_modules *modules)
{
	struct walk walk = { modules, true,
		             (uint64_t)sysconf(_SC_PAGESIZE) };

	dl_iterate_phdr(visit, &walk);
}

bool ppi_modules_tell(struct ppi_modules *modules, struct ppi_room *room)
{
	for (; modules->told < modules->count; modules->told++) {
		const struct ppi_module_seen *seen =
			&modules->seen[modules->told];
		portprof_record record = {
			.kind = PORTPROF_RECORD_MODULE,
			.valid = PORTPROF_FIELD_PID,
			.pid = (uint32_t)getpid(),
			.address = seen->start,
			.span = seen->end - seen->start,
		};

		if (!ppi_room_add_module(room, &record, seen->file_offset,
		                         seen->build_id, seen->build_id_bytes,
		                         seen->path))
			return false;
	}
	return true;
}

void ppi_modules_free(struct ppi_modules *modules)
{
	for (size_t i = 0; i < modules->count; i++)
		free(modules->seen[i].path);
	free(modules->seen);
	memset(modules, 0, sizeof(*modules));
}
