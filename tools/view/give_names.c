/* SPDX-License-Identifier: MIT */
/* From the names of addresses to the functions and lines of a profile. */
#include "config.h"

#include "tools/view/give_names.h"

#include "tools/view/names_time.h"
#include "tools/options.h"
#include "tools/view/rows.h"
#include "tools/view/ticker.h"
#include "tools/symbols/symbols_held.h"
#include "tools/tools.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* As deep as names come (tools/symbols/symbols.c). */
enum { INLINED_MAX = 64 };

/* More than this is left as it is: reading it takes memory that the measured
 * program may need (api/profile/finish.c leaves such a file in portions). */
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
	bool is_good;

	ppi_settle_debuginfod();
	if (symbols && ppi_names_by_time(profile, sources->root, held)) {
		ppi_symbols_want(symbols, true, true);
		ppi_symbols_look_in(symbols, sources->debug_folder);
		ppi_symbols_look_below(symbols, sources->root);
		ppi_symbols_know_held(symbols, held);
		ppi_ticker_begin("naming code", "addresses");
		names = ppi_name_locations(profile, symbols);
		ppi_ticker_end();
	}
	if (!names)
		ppi_say("out of memory");
	is_good = names && give(profile, names);
	if (is_good && unnamed)
		*unnamed = count_unnamed(profile, names);
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
