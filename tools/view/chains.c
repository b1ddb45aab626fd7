/* SPDX-License-Identifier: MIT */
/* How complete the call chains of a profile are, and which code hides its
 * callers. */
#include "config.h"

#include "tools/view/chains.h"

#include <stdlib.h>
#include <string.h>

/* Functions that nobody calls, and those that call main: glibc's are compiled
 * without frame pointers, so a chain that has met one can go no further. */
static bool is_first_function(const char *name)
{
	static const char *const names[] = {
		"_start", "_start_c", "main", "start_thread", "thread_start",
		"clone", "__clone", "clone3", "__clone3", "__libc_start_main",
		"__libc_start_main_impl", "__libc_start_call_main",
		"libc_start_main_stage2", "_dl_start_user", "runtime.goexit",
		"runtime.mstart", "runtime.rt0_go",
	};
	size_t length = strlen(name);

	/* Go's linker: the name, then the calling convention */
	if (length > 5 && strcmp(name + length - 5, ".abi0") == 0)
		length -= 5;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length &&
		    memcmp(name, names[i], length) == 0)
			return true;
	return false;
}

bool ppi_chain_may_begin(const struct ppi_symbols_name *name)
{
	for (; name; name = name->caller)
		if (is_first_function(name->function))
			return true;
	return false;
}

/* A stripped C library hides which of its functions calls main. */
static bool may_be_first(const struct ppi_symbols_name *name)
{
	return !name->is_named && name->is_stripped &&
	       (strncmp(name->module, "libc.", 5) == 0 ||
	        strncmp(name->module, "libc-", 5) == 0 ||
	        strncmp(name->module, "ld-", 3) == 0);
}

static const struct ppi_symbols_name *
name_of(const struct ppi_view *view, const portprof_profile_sample *sample,
        size_t i)
{
	return &view->names[sample->locations[i]];
}

/* The number of kernel locations that a chain begins with: that stack is
 * walked without frame pointers. */
static size_t user_part(const struct ppi_view *view,
                        const portprof_profile_sample *sample)
{
	size_t i = 0;

	while (i < sample->depth && name_of(view, sample, i)->is_kernel)
		i++;
	return i;
}

size_t ppi_chain_depth(const struct ppi_view *view,
                       const portprof_profile_sample *sample)
{
	size_t user = user_part(view, sample), depth = user;

	/* a sample is somewhere, whatever is known of it */
	while (depth < sample->depth &&
	       (depth == user || !name_of(view, sample, depth)->is_nonsense))
		depth++;
	return depth;
}

/* The first location of the user part was interrupted; others are returned
 * to, and it is the call before that counts. */
static enum ppi_frame_pointer frame_of(const struct ppi_view *view,
                                       const portprof_profile_sample *sample,
                                       size_t user, size_t i)
{
	const struct ppi_symbols_name *name = name_of(view, sample, i);

	return i == user ? name->frame_at : name->frame_before;
}

/* By frame tables, which know of code without frame pointers as well. */
static bool is_unwound(const struct ppi_view *view)
{
	return portprof_profile_origin_get(view->profile)->stack_bytes > 0;
}

bool ppi_chain_skips_at(const struct ppi_view *view,
                        const portprof_profile_sample *sample, size_t i)
{
	size_t user = user_part(view, sample);

	return !is_unwound(view) && i >= user &&
	       frame_of(view, sample, user, i) == PPI_FRAME_NONE;
}

/* The first function of the user part, or its end. */
static size_t find_first(const struct ppi_view *view,
                         const portprof_profile_sample *sample, size_t user)
{
	while (user < sample->depth &&
	       !name_of(view, sample, user)->is_first)
		user++;
	return user;
}

/* Whether the file of another writer names the code itself. */
static bool is_given(const struct ppi_view *view, uint32_t location)
{
	return !portprof_profile_origin_get(view->profile)->backend[0] &&
	       portprof_profile_location_get(view->profile, location)
		       ->function[0];
}

/* As many addresses as were asked for; or the kernel stopped by itself behind
 * code with a frame pointer, at a limit of its own or where the stack was not
 * in memory: there was more. */
static bool is_cut(const struct ppi_view *view,
                   const portprof_profile_sample *sample, size_t user)
{
	unsigned most = portprof_profile_origin_get(view->profile)->chain_depth;

	return (most && sample->depth >= most && most > 1) ||
	       frame_of(view, sample, user, sample->depth - 1) ==
	               PPI_FRAME_KEPT;
}

/* What keeps a chain from reaching a first function; `last` is its last
 * location that is code. */
static enum ppi_chain_end end_of(const struct ppi_view *view,
                                 const portprof_profile_sample *sample,
                                 size_t user, size_t last)
{
	if (last + 1 < sample->depth)
		return PPI_CHAIN_ENDS;
	if (last > user && may_be_first(name_of(view, sample, last)))
		return PPI_CHAIN_WHOLE;
	if (is_given(view, sample->locations[last]))
		return PPI_CHAIN_WHOLE;
	return is_cut(view, sample, user) ? PPI_CHAIN_CUT : PPI_CHAIN_ENDS;
}

static void blame(const struct ppi_view *view,
                  const portprof_profile_sample *sample, size_t i,
                  enum ppi_chain_end end, struct ppi_chain *chain)
{
	const struct ppi_symbols_name *name = name_of(view, sample, i);

	chain->end = end;
	chain->module = name->module;
	chain->function = end == PPI_CHAIN_LEAF ? name->function : NULL;
	chain->keeps_leaf_frames = name->keeps_leaf_frames;
}

/* Compiled with frame pointers, but for functions that call nobody. */
static bool is_bare_leaf(const struct ppi_view *view,
                         const portprof_profile_sample *sample, size_t user)
{
	return user + 1 < sample->depth &&
	       frame_of(view, sample, user, user + 1) == PPI_FRAME_KEPT &&
	       strcmp(name_of(view, sample, user)->module,
	              name_of(view, sample, user + 1)->module) == 0;
}

/* The file says how each ends. */
static void judge_unwound(const struct ppi_view *view,
                          const portprof_profile_sample *sample,
                          struct ppi_chain *chain)
{
	switch (sample->chain_end) {
	case PORTPROF_CHAIN_UNKNOWN:
	case PORTPROF_CHAIN_WHOLE:
		return;
	case PORTPROF_CHAIN_COPY_SHORT:
	case PORTPROF_CHAIN_DEPTH:
		chain->end = PPI_CHAIN_CUT;
		break;
	case PORTPROF_CHAIN_LEAVES_OUT:
		chain->end = PPI_CHAIN_SKIPS;
		break;
	default:
		blame(view, sample, chain->depth - 1, PPI_CHAIN_ENDS, chain);
	}
	chain->module = name_of(view, sample, chain->depth - 1)->module;
	chain->reason = sample->chain_end;
}

void ppi_chain_judge(const struct ppi_view *view,
                     const portprof_profile_sample *sample,
                     struct ppi_chain *chain)
{
	size_t user = user_part(view, sample), first;
	size_t depth = ppi_chain_depth(view, sample);

	*chain = (struct ppi_chain){ .end = PPI_CHAIN_WHOLE, .depth = depth };
	if (depth == user)
		return; /* the kernel's own */
	if (is_unwound(view)) {
		judge_unwound(view, sample, chain);
		return;
	}
	first = find_first(view, sample, user);
	if (first >= depth) {
		chain->end = end_of(view, sample, user, depth - 1);
		if (chain->end == PPI_CHAIN_ENDS)
			blame(view, sample, depth - 1, PPI_CHAIN_ENDS, chain);
		if (chain->end != PPI_CHAIN_WHOLE)
			return;
	}
	/* behind the last one there is nothing that could be missing */
	for (size_t i = depth - (first >= depth); i-- > user;)
		if (i < first &&
		    frame_of(view, sample, user, i) == PPI_FRAME_NONE) {
			blame(view, sample, i,
			      i == user && is_bare_leaf(view, sample, user)
			              ? PPI_CHAIN_LEAF : PPI_CHAIN_SKIPS,
			      chain);
			return;
		}
}

/* ---- all of them ---- */

static bool add_sample(const struct ppi_view *view, size_t i,
                       const portprof_profile_sample *sample,
                       struct ppi_chains *chains, bool *has_callers)
{
	uint64_t weight = ppi_view_weight(view, i, sample);
	struct ppi_chain chain;

	/* what is of another event alone says nothing about this one */
	if (sample->depth == 0 || weight == 0 ||
	    name_of(view, sample, 0)->is_pseudo)
		return true;
	*has_callers |= sample->depth > 1;
	ppi_chain_judge(view, sample, &chain);
	chains->weight += weight;
	if (chain.reason && chain.reason <= PORTPROF_CHAIN_LEAVES_OUT &&
	    !ppi_nameless_add(&chains->reasons[chain.reason], chain.module,
	                      weight))
		return false;
	switch (chain.end) {
	case PPI_CHAIN_WHOLE:
		return true;
	case PPI_CHAIN_CUT:
		chains->cut += weight;
		return true;
	case PPI_CHAIN_LEAF:
		chains->leaving += weight;
		chains->keeps_leaf_frames |= chain.keeps_leaf_frames;
		return ppi_nameless_add(&chains->leaves, chain.function,
		                        weight);
	case PPI_CHAIN_SKIPS:
		chains->skipping += weight;
		break;
	case PPI_CHAIN_ENDS:
		chains->ending += weight;
		break;
	}
	return ppi_nameless_add(&chains->modules, chain.module, weight);
}

bool ppi_chains_sum(const struct ppi_view *view, struct ppi_chains *chains)
{
	const portprof_profile_sample *sample;
	bool has_callers =
		portprof_profile_origin_get(view->profile)->chain_depth > 0;
	bool is_good = true;

	memset(chains, 0, sizeof(*chains));
	chains->is_unwound = is_unwound(view);
	chains->stack_bytes =
		portprof_profile_origin_get(view->profile)->stack_bytes;
	for (size_t i = 0;
	     is_good &&
	     (sample = portprof_profile_sample_get(view->profile, i)) != NULL;
	     i++)
		if (ppi_view_has(view, i))
			is_good = add_sample(view, i, sample, chains,
			                     &has_callers);
	ppi_nameless_sort(&chains->modules);
	ppi_nameless_sort(&chains->leaves);
	for (size_t i = 0; i <= PORTPROF_CHAIN_LEAVES_OUT; i++)
		ppi_nameless_sort(&chains->reasons[i]);
	if (!is_good || !has_callers)
		ppi_chains_free(chains);
	return is_good;
}

void ppi_chains_free(struct ppi_chains *chains)
{
	free(chains->modules.modules);
	free(chains->leaves.modules);
	for (size_t i = 0; i <= PORTPROF_CHAIN_LEAVES_OUT; i++)
		free(chains->reasons[i].modules);
	memset(chains, 0, sizeof(*chains));
}
