/* SPDX-License-Identifier: MIT */
/* Names of code that processes made while running, by the time of samples. */
#include "config.h"

#include "tools/view/names_time.h"

#include "tools/symbols/symbols.h"
#include "tools/symbols/symbols_held.h"
#include "tools/symbols/symbols_jit.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portprof/tool.h>
#include <uthash.h>

/* Paths below --root, and of the profile. */
enum { PATH_ROOM = 4096 };

/* What a process says of its code. */
struct process {
	UT_hash_handle hh;
	uint32_t pid;
	struct ppi_jitdump *dump; /* NULL: it cannot be read */
	size_t mapping;           /* the dump's, in the profile */
};

struct namer {
	portprof_profile *profile;
	const char *root;
	const struct ppi_held *held;
	struct process *processes;
	char *name; /* of the code found last */
};

static struct ppi_jit_owner owner_of(const portprof_profile *profile,
                                     uint32_t pid)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(profile);
	struct ppi_jit_owner owner = { pid, -1, 0, 0 };
	const portprof_profile_thread *thread;

	if (origin->start_ns && origin->duration_ns)
		owner.ended_ns = origin->start_ns + origin->duration_ns;
	for (size_t i = 0;
	     (thread = portprof_profile_thread_get(profile, i)) != NULL; i++)
		if (thread->pid == pid && thread->tid == pid &&
		    thread->owner >= 0) {
			owner.user = thread->owner;
			owner.began_ns = thread->began_ns;
		}
	return owner;
}

/* Its number in the profile: by its path where that was seen, as in a container
 * the name has the number that the process knows itself by. */
static size_t find_mapping(const struct namer *namer, uint32_t pid)
{
	const char *seen = ppi_held_dump(namer->held, pid);
	const portprof_profile_mapping *mapping;
	char name[32];

	snprintf(name, sizeof(name), "/jit-%" PRIu32 ".dump", pid);
	for (size_t i = 0; (mapping = portprof_profile_mapping_get(
				    namer->profile, i)) != NULL; i++) {
		const char *last = strrchr(mapping->path, '/');

		if (seen ? strcmp(mapping->path, seen) == 0
		         : last && ppi_is_jitdump(last) &&
		                   strncmp(last, name, strlen(name)) == 0)
			return i;
	}
	return SIZE_MAX;
}

static void read_dump(const struct namer *namer, struct process *process)
{
	const portprof_profile_mapping *mapping = portprof_profile_mapping_get(
		namer->profile, process->mapping);
	const struct ppi_jit_owner owner =
		owner_of(namer->profile, process->pid);
	char held[PPI_HELD_NAME_ROOM], path[PATH_ROOM], why[200] = "";

	if (ppi_held_file(namer->held, mapping->path, mapping->build_id, held))
		process->dump = ppi_jitdump_read(held, &owner, why,
		                                 sizeof(why));
	if (!process->dump && !why[0] && namer->root && namer->root[0]) {
		snprintf(path, sizeof(path), "%s%s", namer->root,
		         mapping->path);
		process->dump = ppi_jitdump_read(path, &owner, why,
		                                 sizeof(why));
	}
	if (!process->dump && !why[0])
		process->dump = ppi_jitdump_read(mapping->path, &owner, why,
		                                 sizeof(why));
	if (!process->dump)
		ppi_say("%s %s; its code is not named", mapping->path,
		        why[0] ? why : "is gone");
}

static const struct process *process_of(struct namer *namer, uint32_t pid)
{
	struct process *process;

	HASH_FIND(hh, namer->processes, &pid, sizeof(pid), process);
	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->mapping = find_mapping(namer, pid);
	if (process->mapping != SIZE_MAX)
		read_dump(namer, process);
	HASH_ADD(hh, namer->processes, pid, sizeof(process->pid), process);
	return process;
}

static int find(void *context, uint32_t pid, uint64_t address,
                uint64_t time_ns, portprof_profile_line *line,
                size_t *mapping)
{
	struct namer *namer = context;
	const struct process *process = process_of(namer, pid);
	struct ppi_jitdump_code code;

	if (!process || !process->dump)
		return PORTPROF_CODE_UNTOLD;
	if (!ppi_jitdump_find(process->dump, address, time_ns, &code))
		return PORTPROF_CODE_NAMELESS;
	free(namer->name);
	namer->name = ppi_demangle(code.function);
	line->function = namer->name ? namer->name : code.function;
	line->source_file = code.source_file;
	line->line = code.line;
	*mapping = process->mapping;
	return PORTPROF_CODE_NAMED;
}

bool ppi_names_by_time(portprof_profile *profile, const char *root,
                       const struct ppi_held *held)
{
	struct namer namer = { .profile = profile, .root = root, .held = held };
	struct process *process, *next;
	portprof_status status =
		portprof_profile_name_by_time(profile, find, &namer);

	if (status)
		ppi_say_failure(NULL);
	HASH_ITER (hh, namer.processes, process, next) {
		HASH_DEL(namer.processes, process);
		ppi_jitdump_free(process->dump);
		free(process);
	}
	free(namer.name);
	return status == PORTPROF_OK;
}
