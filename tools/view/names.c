/* SPDX-License-Identifier: MIT */
/* The names of a profile's code, found for a look at it: each location's
 * function, lines and frames; and what a name says. */
#include "config.h"

#include "tools/view/names.h"

#include "tools/ticker.h"
#include "tools/view/chains.h"
#include "tools/view/life.h"
#include "tools/view/owners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- how to start a runtime so that the code which it makes has names ---- */

static const char dotnet[] = "start dotnet with DOTNET_PerfMapEnabled=1";

/*
 * By how names of threads begin. From the manuals: node --help (V8 options),
 * java's Diagnostic Options (JDK 17), docs.python.org/3/howto/perf_profiling,
 * learn.microsoft.com "Runtime configuration options for debugging and
 * profiling", doc/yjit/yjit.md of Ruby, ext/opcache/jit/zend_jit.h of PHP
 * (ZEND_JIT_DEBUG_PERF), BeamAsm.md of Erlang, docs/devel/tcg.rst of QEMU.
 */
static const struct {
	const char *begins, *advice;
} runtimes[] = {
	{ "node", "start node with --perf-basic-prof" },
	{ "java", "start java (17 or later) with "
	          "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit" },
	{ "python", "start python (3.12 or later) with PYTHONPERFSUPPORT=1" },
	{ "dotnet", dotnet },
	{ ".NET ", dotnet },
	{ "ruby", "start ruby (3.3 or later) with --yjit-perf" },
	{ "php", "start php with -d opcache.jit_debug=16" },
	{ "beam.smp", "start erl with +JPperf true" },
	{ "qemu-", "start qemu (8.0 or later) with -perfmap" },
};

static const char other[] =
	"have the program write /tmp/perf-PID.map, lines of START SIZE NAME";

/* What to start the runtime with, by the names of the process' threads; for
 * pid 0 and others that nobody knows, what works for all. A constant, the same
 * for the same advice. */
static const char *runtime_advice(const portprof_profile *profile, uint32_t pid)
{
	const portprof_profile_thread *thread;

	for (size_t i = 0;
	     (thread = portprof_profile_thread_get(profile, i)) != NULL; i++)
		for (size_t j = 0;
		     pid && thread->pid == pid &&
		     j < sizeof(runtimes) / sizeof(runtimes[0]);
		     j++)
			if (strncmp(thread->name, runtimes[j].begins,
			            strlen(runtimes[j].begins)) == 0)
				return runtimes[j].advice;
	return other;
}

/* Functions of a location; a deeper one is cut. */
enum { GIVEN_MAX = 64 };

/* ---- each location ---- */

/* Every 64-bit Unix keeps it in the upper half. */
static bool is_in_kernel(uint64_t address)
{
	return address >> 63;
}

static void place_of(const portprof_profile *profile,
                     const portprof_profile_location *location,
                     struct ppi_symbols_place *place)
{
	const portprof_profile_mapping *mapping =
		portprof_profile_mapping_get(profile, location->mapping);

	memset(place, 0, sizeof(*place));
	place->address = location->address;
	if (!mapping)
		return;
	place->has_mapping = true;
	place->map_start = mapping->start;
	place->map_offset = mapping->file_offset;
	place->path = mapping->path;
	place->build_id = mapping->build_id;
}

/* For each location that lies in no file, the processes that ran it. */
struct makers {
	bool *is_made;   /* by location */
	uint32_t *first; /* by location; one more behind */
	uint32_t *pids;
	/* what the last process asked for needs: threads may be many */
	uint32_t advised;
	const char *advice;
};

static void free_makers(struct makers *makers)
{
	free(makers->is_made);
	free(makers->first);
	free(makers->pids);
}

/* The pairs of location and process in the samples. */
static bool find_pairs(const portprof_profile *profile, const bool *is_made,
                       struct ppi_pairs *pairs)
{
	const portprof_profile_sample *sample;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++)
		for (size_t j = 0; sample->pid && j < sample->depth; j++)
			if (is_made[sample->locations[j]] &&
			    ppi_pairs_enter(pairs, sample->locations[j],
			                    sample->pid) == PPI_NO_PAIR)
				return false;
	return true;
}

/* Put the pairs in the order of their locations. */
static bool sort_pairs(const struct ppi_pairs *pairs, size_t count,
                       struct makers *makers)
{
	makers->first = calloc(count + 2, sizeof(*makers->first));
	makers->pids = calloc(pairs->count + 1u, sizeof(*makers->pids));
	if (!makers->first || !makers->pids)
		return false;
	for (uint32_t i = 0; i < pairs->count; i++)
		makers->first[(pairs->pairs[i] >> 32) + 2]++;
	for (size_t i = 2; i < count + 2; i++)
		makers->first[i] += makers->first[i - 1];
	/* [i + 1] goes from where location i begins to where it ends */
	for (uint32_t i = 0; i < pairs->count; i++) {
		uint32_t at = makers->first[(pairs->pairs[i] >> 32) + 1]++;

		makers->pids[at] = (uint32_t)pairs->pairs[i];
	}
	return true;
}

static bool find_makers(const portprof_profile *profile, struct makers *makers)
{
	size_t count = portprof_profile_location_count(profile), made = 0;
	struct ppi_pairs pairs = { 0 };
	bool is_good;

	makers->is_made = calloc(count + 1, sizeof(*makers->is_made));
	if (!makers->is_made)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct ppi_symbols_place place;

		place_of(profile, portprof_profile_location_get(profile, i),
		         &place);
		makers->is_made[i] = ppi_symbols_is_made(&place);
		made += makers->is_made[i];
	}
	is_good = (made == 0 || find_pairs(profile, makers->is_made, &pairs)) &&
	          sort_pairs(&pairs, count, makers);
	ppi_pairs_free(&pairs);
	return is_good;
}

/* What the file itself says, with what it was inlined into. */
static size_t lines_of(const portprof_profile *profile, size_t index,
                       struct ppi_symbols_given given[GIVEN_MAX])
{
	const portprof_profile_location *location =
		portprof_profile_location_get(profile, index);
	size_t count = portprof_profile_line_count(profile, index);

	given[0] = (struct ppi_symbols_given){ location->function,
		                               location->source_file,
		                               location->line };
	if (count > GIVEN_MAX)
		count = GIVEN_MAX;
	for (size_t i = 1; i < count; i++) {
		const portprof_profile_line *line =
			portprof_profile_line_get(profile, index, i);

		given[i] = (struct ppi_symbols_given){ line->function,
			                               line->source_file,
			                               line->line };
	}
	return count ? count : 1;
}

/* Files that portprof named have inlined functions always; who did not ask
 * for them sees the function that they were inlined into, at the line where
 * the address is. The writers of other files are believed as they are. */
static size_t leave_inlined(struct ppi_symbols_given *given, size_t count)
{
	given[0].function = given[count - 1].function;
	return 1;
}

/* What the file cannot say: names of code that had none, lines where there
 * were none, and which code keeps frame pointers. */
static void find_more(struct ppi_symbols *symbols,
                      const struct ppi_symbols_place *place,
                      struct ppi_symbols_name *name)
{
	struct ppi_symbols_name found;
	bool is_wanted = ppi_symbols_wants_lines(symbols) && !name->line;
	bool has_all = name->is_named && !is_wanted;

	if (has_all && !ppi_symbols_wants_frames(symbols))
		return;
	/* the kernel's list of symbols has no lines, and takes long to read */
	if (name->is_named && is_in_kernel(place->address))
		return;
	/* of code in memory the map of its process decides */
	if (has_all && !place->pid_count) {
		ppi_symbols_find_frames(symbols, place, name);
		return;
	}
	ppi_symbols_hush(symbols, name->is_named);
	ppi_symbols_find(symbols, place, &found);
	ppi_symbols_hush(symbols, false);
	if (found.is_named && (!name->is_named || (is_wanted && found.line))) {
		*name = found;
		return;
	}
	name->is_stripped = found.is_stripped;
	name->frame_at = found.frame_at;
	name->frame_before = found.frame_before;
	name->keeps_leaf_frames = found.keeps_leaf_frames;
}

static void take_given(const portprof_profile *profile, size_t index,
                       struct ppi_symbols *symbols,
                       const struct ppi_symbols_place *place,
                       struct ppi_symbols_name *name)
{
	struct ppi_symbols_given given[GIVEN_MAX];
	size_t count = lines_of(profile, index, given);
	bool is_ours = portprof_profile_origin_get(profile)->backend[0];

	if (is_ours && !ppi_symbols_wants_inlines(symbols))
		count = leave_inlined(given, count);
	ppi_symbols_take(symbols, place, given, count, name);
	if (is_ours)
		find_more(symbols, place, name);
}

static const char *advice_for(const portprof_profile *profile, uint32_t pid,
                              struct makers *makers)
{
	if (!makers->advice || makers->advised != pid)
		makers->advice = runtime_advice(profile, pid);
	makers->advised = pid;
	return makers->advice;
}

static void name_location(const portprof_profile *profile, size_t index,
                          struct makers *makers,
                          struct ppi_symbols *symbols,
                          struct ppi_symbols_name *name)
{
	const portprof_profile_location *location =
		portprof_profile_location_get(profile, index);
	struct ppi_symbols_place place;

	place_of(profile, location, &place);
	place.pids = makers->pids + makers->first[index];
	place.pid_count = makers->first[index + 1] - makers->first[index];
	if (location->function[0])
		take_given(profile, index, symbols, &place, name);
	else
		ppi_symbols_find(symbols, &place, name);
	name->is_kernel = is_in_kernel(location->address);
	name->is_first = ppi_chain_may_begin(name);
	/* what a register held that was no frame pointer; files that name
	 * their code themselves, or that others wrote, are believed */
	name->is_nonsense =
		!place.has_mapping && !name->is_kernel && !name->is_named &&
		!location->function[0] &&
		portprof_profile_origin_get(profile)->backend[0];
	if (ppi_life_is_unseen(profile, index)) {
		name->function = PPI_WAIT_NOT_SEEN;
		name->module = name->path = "";
		name->is_named = name->is_pseudo = true;
	}
	if (!name->is_named && place.has_mapping && makers->is_made[index]) {
		ppi_symbols_gather(symbols, &place, name);
		name->advice = advice_for(
			profile, place.pid_count ? place.pids[0] : 0, makers);
	}
}

static void tell_processes(const portprof_profile *profile,
                           struct ppi_symbols *symbols)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(profile);
	const portprof_profile_thread *thread;

	if (origin->start_ns && origin->duration_ns)
		ppi_symbols_know_end(symbols,
		                     origin->start_ns + origin->duration_ns);
	for (size_t i = 0;
	     (thread = portprof_profile_thread_get(profile, i)) != NULL; i++)
		if (thread->owner >= 0)
			ppi_symbols_know_process(symbols, thread->pid,
			                         thread->owner,
			                         thread->began_ns);
}

/* Files of which the profile has no inlined function may lack debug information
 * that is in another file: a note says so of code that has names, too. False when
 * out of memory. */
static bool find_lacks(const portprof_profile *profile,
                       struct ppi_symbols *symbols)
{
	enum { NONE, SOME_INLINED, FIRST };
	size_t count = portprof_profile_mapping_count(profile);
	size_t *seen = calloc(count + 1, sizeof(*seen)); /* or FIRST + location */
	const portprof_profile_location *location;
	struct ppi_symbols_place place;

	if (!seen)
		return false;
	for (size_t i = 0; (location = portprof_profile_location_get(
				    profile, i)) != NULL; i++) {
		if (location->mapping >= count || !location->function[0])
			continue;
		if (portprof_profile_line_count(profile, i) > 1)
			seen[location->mapping] = SOME_INLINED;
		else if (seen[location->mapping] == NONE)
			seen[location->mapping] = FIRST + i;
	}
	for (size_t i = 0; i < count; i++) {
		if (seen[i] < FIRST)
			continue;
		place_of(profile,
		         portprof_profile_location_get(profile, seen[i] - FIRST),
		         &place);
		ppi_symbols_find_lack(symbols, &place);
	}
	free(seen);
	return true;
}

struct ppi_symbols_name *ppi_name_locations(const portprof_profile *profile,
                                            struct ppi_symbols *symbols)
{
	size_t count = portprof_profile_location_count(profile);
	struct ppi_symbols_name *names = calloc(count + 1, sizeof(*names));
	struct makers makers = { 0 };

	if (!names || !find_makers(profile, &makers)) {
		free(names);
		free_makers(&makers);
		return NULL;
	}
	tell_processes(profile, symbols);
	atomic_store(&ppi_ticker_all, count);
	for (size_t i = 0; i < count; i++) {
		name_location(profile, i, &makers, symbols, &names[i]);
		atomic_store(&ppi_ticker_done, i + 1);
	}
	free_makers(&makers);
	if (ppi_symbols_wants_inlines(symbols) &&
	    portprof_profile_origin_get(profile)->backend[0] &&
	    !find_lacks(profile, symbols)) {
		free(names);
		return NULL;
	}
	return names;
}

bool ppi_name_lines(const portprof_profile *profile,
                    const struct ppi_named *named, const char *function,
                    const char *path)
{
	size_t count = portprof_profile_location_count(profile);
	struct makers makers = { 0 };
	bool is_good = find_makers(profile, &makers);

	ppi_symbols_want(named->symbols, true, false);
	for (size_t i = 0; is_good && i < count; i++) {
		struct ppi_symbols_name *name = &named->names[i];
		const char *known = name->function;

		if (strcmp(known, function) != 0 || strcmp(name->path, path) != 0)
			continue;
		name_location(profile, i, &makers, named->symbols, name);
		/* debug information may call it otherwise */
		name->function = known;
	}
	free_makers(&makers);
	return is_good;
}

/* ---- all of a profile ---- */

/* Looking for frame pointers takes time that flat profiles can spare, and those
 * that were unwound by frame tables. */
static bool needs_frames(const portprof_profile *profile)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(profile);
	const portprof_profile_sample *sample;

	if (origin->stack_bytes)
		return false;
	if (origin->chain_depth)
		return true;
	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++)
		if (sample->depth > 1)
			return true;
	return false;
}

bool ppi_named_find(struct ppi_named *named, const portprof_profile *profile,
                    bool lines, bool inlines,
                    const struct ppi_named_sources *sources)
{
	bool ticks;

	*named = (struct ppi_named){ 0 };
	named->symbols =
		ppi_symbols_new(portprof_profile_origin_get(profile)->start_ns);
	if (!named->symbols)
		return false;
	ppi_symbols_want(named->symbols, lines, inlines);
	if (needs_frames(profile))
		ppi_symbols_want_frames(named->symbols);
	ppi_symbols_look_in(named->symbols, sources->debug_folder);
	ppi_symbols_look_below(named->symbols, sources->root);
	ticks = ppi_ticker_begin("naming code", "addresses");
	named->names = ppi_name_locations(profile, named->symbols);
	ppi_ticker_end(ticks);
	return named->names != NULL;
}

void ppi_named_free(struct ppi_named *named)
{
	free(named->names);
	ppi_symbols_free(named->symbols);
}

/* ---- functions of an interpreter ---- */

/* CPython writes the names of its own functions where it is told to; without, a
 * profile shows its evaluation loop alone. */
uint64_t ppi_unnamed_python(const struct ppi_rows *rows)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct ppi_row *row = &rows->rows[i];

		if (strncmp(row->function, "py::", 4) == 0)
			return 0;
		if (strcmp(row->function, "_PyEval_EvalFrameDefault") == 0)
			weight += row->total_weight;
	}
	return weight;
}

/* ---- where interrupts are let in ---- */

/* Names: Linux, kernel/sched/core.c, kernel/entry/common.c, kernel/softirq.c,
 * include/linux/spinlock_api_smp.h, kernel/rcu/tree_plugin.h. */
bool ppi_lets_interrupts_in(const char *function)
{
	static const char *const beginnings[] = {
		"finish_task_switch",   "_raw_spin_unlock_irq",
		"_raw_read_unlock_irq", "_raw_write_unlock_irq",
		"raw_spin_rq_unlock_irq",
		"do_softirq",           "_do_softirq",
		"__do_softirq",         "handle_softirqs",
		"__local_bh_enable_ip", "do_idle",
		"exit_to_user_mode",    "syscall_exit_to_user_mode",
		"irqentry_exit",        "rcu_read_unlock_special",
	};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (strncmp(function, beginnings[i],
		            strlen(beginnings[i])) == 0)
			return true;
	return false;
}
