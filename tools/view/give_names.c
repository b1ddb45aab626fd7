/* SPDX-License-Identifier: MIT */
/* The names of code, written into the profile: from the names of addresses
 * to its functions and lines. */
#include "config.h"

#include <portprof/tool.h>

#include "tools/options.h"
#include "tools/symbols/symbols.h"
#include "tools/symbols/symbols_held.h"
#include "tools/symbols/symbols_jit.h"
#include "tools/symbols/symbols_kept.h"
#include "tools/ticker.h"
#include "tools/tools.h"
#include "tools/view/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uthash.h>

/* ---- code that processes made while running, by the time of samples ---- */

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

/* ---- all code ---- */

/* As deep as names come (tools/symbols/symbols.c). */
enum { INLINED_MAX = 64 };

/* More than this is left as it is: reading it takes memory that the measured
 * program may need (api/profile/pprof/output.c leaves such a file in portions). */
enum { BYTES_MAX = 64 << 20 };

/* The name with what it was inlined into, as the file has them. */
static size_t lines_of(const struct ppi_symbols_name *name,
                       portprof_profile_line lines[INLINED_MAX])
{
	size_t count = 0;

	for (; name && count < INLINED_MAX; name = name->caller) {
		/* the innermost may be all that debug information knows */
		const char *function =
			name->by_address ? name->by_address : name->function;

		if (!function || !function[0])
			break;
		lines[count++] = (portprof_profile_line){
			function, name->source_file, name->line
		};
	}
	return count;
}

static bool is_worth_a_name(const portprof_profile_location *location,
                            const struct ppi_symbols_name *name)
{
	return name->is_named || location->mapping != SIZE_MAX;
}

static bool give(portprof_profile *profile,
                 const struct ppi_symbols_name *names)
{
	size_t count = portprof_profile_location_count(profile);

	for (size_t i = 0; i < count; i++) {
		portprof_profile_line lines[INLINED_MAX];
		size_t lines_count = lines_of(&names[i], lines);

		if (lines_count == 0 ||
		    !is_worth_a_name(portprof_profile_location_get(profile, i),
		                     &names[i]))
			continue;
		if (portprof_profile_name_location(profile, i, lines,
		                                   lines_count)) {
			ppi_say_failure(NULL);
			return false;
		}
	}
	return true;
}

static void say_notes(const struct ppi_symbols *symbols)
{
	const char *note;

	for (size_t i = 0; (note = ppi_symbols_note(symbols, i)) != NULL; i++)
		ppi_say("%s", note);
}

static size_t count_unnamed(const portprof_profile *profile,
                            const struct ppi_symbols_name *names)
{
	size_t count = portprof_profile_location_count(profile), unnamed = 0;

	for (size_t i = 0; i < count; i++)
		unnamed += !names[i].is_named;
	return unnamed;
}

bool ppi_names_give(portprof_profile *profile,
                    const struct ppi_named_sources *sources,
                    const struct ppi_held *held, size_t *unnamed)
{
	struct ppi_symbols *symbols =
		ppi_symbols_new(portprof_profile_origin_get(profile)->start_ns);
	struct ppi_symbols_name *names = NULL;
	bool is_good, ticks;

	ppi_settle_debuginfod();
	if (symbols && ppi_names_by_time(profile, sources->root, held)) {
		ppi_symbols_want(symbols, true, true);
		ppi_symbols_look_in(symbols, sources->debug_folder);
		ppi_symbols_look_below(symbols, sources->root);
		ppi_symbols_know_held(symbols, held);
		ticks = ppi_ticker_begin("naming code", "addresses");
		names = ppi_name_locations(profile, symbols);
		ppi_ticker_end(ticks);
	}
	if (!names)
		ppi_say("out of memory");
	is_good = names && give(profile, names);
	if (is_good && unnamed) {
		say_notes(symbols);
		*unnamed = count_unnamed(profile, names);
	}
	free(names);
	ppi_symbols_free(symbols);
	return is_good;
}

/* ---- a file ---- */

static bool name_file(const char *path, const struct ppi_held *held,
                      bool is_nameless, const struct ppi_hidden *hidden)
{
	static const struct ppi_named_sources usual;
	portprof_profile *profile;
	bool is_good;

	ppi_memory_limit(0);
	ppi_kept_begin(ppi_held_kept(held));
	if (portprof_profile_read(path, 0, &profile)) {
		ppi_say_failure("naming code");
		return false;
	}
	is_good = is_nameless || ppi_names_give(profile, &usual, held, NULL);
	is_good = is_good && (!hidden || ppi_hide(hidden, profile));
	if (is_good && portprof_profile_write(profile, path)) {
		ppi_say_failure("naming code");
		is_good = false;
	}
	portprof_profile_free(profile);
	return is_good;
}

static bool wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == PPI_EXIT_OK;
}

bool ppi_names_write(const char *path, struct ppi_held *held, bool is_nameless,
                     const struct ppi_hidden *hidden)
{
	bool hides = hidden && ppi_hides(hidden);
	struct stat at;
	pid_t child;

	if (stat(path, &at) != 0 || !S_ISREG(at.st_mode) ||
	    (at.st_size > BYTES_MAX && !hides))
		return false;
	fflush(NULL);
	ppi_held_lock(held);
	child = fork();
	if (child == 0)
		_exit(name_file(path, held, is_nameless, hidden)
		      ? PPI_EXIT_OK : PPI_EXIT_FAILED);
	ppi_held_unlock(held);
	return child > 0 && wait_for(child);
}
