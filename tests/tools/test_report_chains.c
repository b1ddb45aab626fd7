/* SPDX-License-Identifier: MIT */
/* Which call chains can be believed, from chains made by hand. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_profile.h"
#include "tools/view/chains.h"
#include "tools/view/names.h"
#include "tools/view/rows.h"

enum { BY_FUNCTION = PPI_BY_FUNCTION | PPI_BY_MODULE };

#define KERNEL UINT64_C(0xffffffff81000000)

/* Each keeps a frame pointer, or not, or nobody knows. */
enum { LEAF, BARE, MIDDLE, MAIN, STARTER, STRIPPED, NONSENSE, IN_KERNEL, MYSTERY,
       LOCATIONS };

static const portprof_profile_mapping mappings[] = {
	{ 0x1000, 0x2000, 0, "/usr/bin/app", "" },
	{ 0x8000, 0x9000, 0, "/lib/libc.so.6", "" },
};

static const portprof_profile_location locations[LOCATIONS] = {
	[LEAF] = { 0x1010, 0, "", "", 0 },
	[BARE] = { 0x1020, 0, "", "", 0 },
	[MIDDLE] = { 0x1110, 0, "", "", 0 },
	[MAIN] = { 0x1210, 0, "", "", 0 },
	[STARTER] = { 0x8010, 1, "", "", 0 },
	[STRIPPED] = { 0x8020, 1, "", "", 0 },
	[NONSENSE] = { 0x28f, SIZE_MAX, "", "", 0 },
	[IN_KERNEL] = { KERNEL, SIZE_MAX, "", "", 0 },
	[MYSTERY] = { 0x1310, 0, "", "", 0 },
};

#define NAME(function, module, frame, is_named, ...)                  \
	{                                                             \
		function, module, module, is_named, !(is_named), "", \
			0, NULL, frame, frame, true, __VA_ARGS__      \
	}

static const struct ppi_symbols_name names[LOCATIONS] = {
	[LEAF] = NAME("leaf", "app", PPI_FRAME_KEPT, true, .is_first = false),
	[BARE] = NAME("bare", "app", PPI_FRAME_NONE, true, .is_first = false),
	[MIDDLE] = NAME("middle", "app", PPI_FRAME_KEPT, true, .is_first = false),
	[MAIN] = NAME("main", "app", PPI_FRAME_KEPT, true, .is_first = true),
	[STARTER] = NAME("__libc_start_call_main", "libc.so.6",
	                 PPI_FRAME_NONE, true, .is_first = true),
	[STRIPPED] = NAME("libc.so.6+0x20", "libc.so.6", PPI_FRAME_NONE,
	                  false, .is_first = false),
	[NONSENSE] = NAME("[unknown]+0x28f", "[unknown]", PPI_FRAME_UNKNOWN,
	                  false, .is_nonsense = true),
	[IN_KERNEL] = NAME("do_it", "[kernel]", PPI_FRAME_UNKNOWN, true,
	                   .is_kernel = true),
	[MYSTERY] = NAME("mystery", "app", PPI_FRAME_UNKNOWN, true, .is_first = false),
};

static const uint64_t one[] = { 1 };

/* The verdict on the chain of these locations, leaf first. */
static unsigned asked_depth, stack_bytes, chain_end;

static enum ppi_chain_end judge(const char **module, size_t depth,
                                const uint32_t *chain)
{
	const portprof_profile_sample sample = { chain, depth, 1, 1, one, one,
		                                 chain_end, "" };
	portprof_profile profile = {
		.origin = { .backend = "perf", .chain_depth = asked_depth,
		            .stack_bytes = stack_bytes },
		.mappings = mappings,
		.mapping_count = 2,
		.locations = locations,
		.location_count = LOCATIONS,
		.samples = &sample,
		.sample_count = 1,
	};
	const struct ppi_view view = { .profile = &profile, .names = names };
	struct ppi_chain verdict;

	ppi_chain_judge(&view, &sample, &verdict);
	*module = verdict.module;
	return verdict.end;
}

#define CHAIN(...)                                                \
	sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t),   \
		(uint32_t[]){ __VA_ARGS__ }

static void whole_chains_reach_the_first_function(void **state)
{
	const char *module;

	(void)state;
	assert_int_equal(judge(&module, CHAIN(LEAF, MIDDLE, MAIN)),
	                 PPI_CHAIN_WHOLE);
	assert_null(module);
	/* what calls main keeps no frame pointer, and nobody cares */
	assert_int_equal(judge(&module, CHAIN(LEAF, MAIN, STARTER)),
	                 PPI_CHAIN_WHOLE);
	assert_int_equal(judge(&module, CHAIN(LEAF, MAIN, STARTER, NONSENSE)),
	                 PPI_CHAIN_WHOLE);
	assert_int_equal(judge(&module, CHAIN(MAIN)), PPI_CHAIN_WHOLE);
	/* a stripped C library does not say what calls main */
	assert_int_equal(judge(&module, CHAIN(LEAF, MIDDLE, STRIPPED)),
	                 PPI_CHAIN_WHOLE);
}

/* Frame tables lead through code without frame pointers; a chain of theirs is
 * whole, or cut. */
static void tables_need_no_frame_pointers(void **state)
{
	const char *module;

	(void)state;
	stack_bytes = 32768;
	assert_int_equal(judge(&module, CHAIN(BARE, LEAF, BARE, MAIN)),
	                 PPI_CHAIN_WHOLE);
	/* whatever the last is called */
	assert_int_equal(judge(&module, CHAIN(LEAF, MYSTERY)),
	                 PPI_CHAIN_WHOLE);
	chain_end = PORTPROF_CHAIN_NO_RULE;
	assert_int_equal(judge(&module, CHAIN(LEAF, BARE)), PPI_CHAIN_ENDS);
	assert_string_equal(module, "app");
	chain_end = PORTPROF_CHAIN_COPY_SHORT;
	assert_int_equal(judge(&module, CHAIN(LEAF, MIDDLE)), PPI_CHAIN_CUT);
	chain_end = PORTPROF_CHAIN_LEAVES_OUT;
	assert_int_equal(judge(&module, CHAIN(LEAF, MIDDLE)), PPI_CHAIN_SKIPS);
	assert_string_equal(module, "app");
	/* what the kernel did by itself has no other part */
	assert_int_equal(judge(&module, CHAIN(IN_KERNEL)), PPI_CHAIN_WHOLE);
	chain_end = PORTPROF_CHAIN_UNKNOWN;
	stack_bytes = 0;
}

static void chains_that_end_early_have_a_culprit(void **state)
{
	const char *module;

	(void)state;
	assert_int_equal(judge(&module, CHAIN(BARE)), PPI_CHAIN_ENDS);
	assert_string_equal(module, "app");
	assert_int_equal(judge(&module, CHAIN(LEAF, BARE)), PPI_CHAIN_ENDS);
	assert_int_equal(judge(&module, CHAIN(MYSTERY)), PPI_CHAIN_ENDS);
	assert_int_equal(judge(&module, CHAIN(STRIPPED)), PPI_CHAIN_ENDS);
	/* what is no code is no caller, and the code before it to blame */
	assert_int_equal(judge(&module, CHAIN(LEAF, BARE, NONSENSE, MAIN)),
	                 PPI_CHAIN_ENDS);
	assert_string_equal(module, "app");
	assert_int_equal(judge(&module, CHAIN(STRIPPED, NONSENSE)),
	                 PPI_CHAIN_ENDS);
	assert_string_equal(module, "libc.so.6");
}

/* As many addresses as were asked for: not whole, but no code is to blame. */
static void chains_cut_at_the_limit_blame_nobody(void **state)
{
	const char *module;

	(void)state;
	assert_int_equal(judge(&module, CHAIN(LEAF, MIDDLE)), PPI_CHAIN_CUT);
	assert_null(module);
	assert_int_equal(judge(&module, CHAIN(MIDDLE, MYSTERY)),
	                 PPI_CHAIN_ENDS);
	asked_depth = 2;
	assert_int_equal(judge(&module, CHAIN(MIDDLE, MYSTERY)),
	                 PPI_CHAIN_CUT);
	assert_int_equal(judge(&module, CHAIN(LEAF, MAIN)), PPI_CHAIN_WHOLE);
	assert_int_equal(judge(&module, CHAIN(MYSTERY)), PPI_CHAIN_ENDS);
	asked_depth = 0;
}

static void code_without_a_frame_leaves_its_caller_out(void **state)
{
	const char *module;

	(void)state;
	assert_int_equal(judge(&module, CHAIN(BARE, BARE, MAIN, STARTER)),
	                 PPI_CHAIN_SKIPS);
	assert_string_equal(module, "app");
	assert_int_equal(judge(&module, CHAIN(STRIPPED, MIDDLE, MAIN)),
	                 PPI_CHAIN_SKIPS);
	assert_string_equal(module, "libc.so.6");
	/* compiled with frames, but for what calls nobody */
	assert_int_equal(judge(&module, CHAIN(BARE, MIDDLE, MAIN, STARTER)),
	                 PPI_CHAIN_LEAF);
	assert_int_equal(judge(&module, CHAIN(LEAF, STRIPPED, MIDDLE, MAIN)),
	                 PPI_CHAIN_SKIPS);
	assert_string_equal(module, "libc.so.6");
	/* not known is not proven */
	assert_int_equal(judge(&module, CHAIN(MYSTERY, MAIN)),
	                 PPI_CHAIN_WHOLE);
}

/* The kernel walks its own stack without frame pointers. */
static void kernel_code_is_not_to_blame(void **state)
{
	const char *module;

	(void)state;
	assert_int_equal(judge(&module, CHAIN(IN_KERNEL)), PPI_CHAIN_WHOLE);
	assert_int_equal(judge(&module, CHAIN(IN_KERNEL, LEAF, MAIN)),
	                 PPI_CHAIN_WHOLE);
	assert_int_equal(judge(&module, CHAIN(IN_KERNEL, BARE)),
	                 PPI_CHAIN_ENDS);
	assert_int_equal(judge(&module, CHAIN(IN_KERNEL, STRIPPED, MAIN)),
	                 PPI_CHAIN_SKIPS);
}

/* ---- sums ---- */

static const uint64_t w[] = { 1, 2, 4, 8, 16, 32, 64, 0 };
static const uint32_t good[] = { LEAF, MAIN }, broken[] = { BARE },
		      lacking[] = { STRIPPED, MIDDLE, MAIN },
		      leaving[] = { BARE, MIDDLE, MAIN }, cut[] = { MIDDLE };
static const portprof_profile_sample samples[] = {
	{ good, 2, 1, 1, &w[0], &w[0], 0, NULL },
	{ broken, 1, 1, 1, &w[1], &w[1], 0, NULL },
	{ lacking, 3, 1, 1, &w[2], &w[2], 0, NULL },
	{ NULL, 0, 1, 1, &w[3], &w[3], 0, NULL },
	{ broken, 1, 1, 2, &w[4], &w[4], 0, NULL },
	{ leaving, 3, 1, 1, &w[5], &w[5], 0, NULL },
	{ cut, 1, 1, 1, &w[6], &w[6], 0, NULL },
};

static portprof_profile profile = {
	.origin = { .backend = "perf" },
	.mappings = mappings,
	.mapping_count = 2,
	.locations = locations,
	.location_count = LOCATIONS,
	.samples = samples,
	.sample_count = 5,
};

static void weights_are_summed_by_module(void **state)
{
	struct ppi_view view = { .profile = &profile, .names = names };
	const bool is_left_out[] = { false, false, false, false, true };
	struct ppi_chains chains;

	(void)state;
	profile.sample_count = 7;
	assert_true(ppi_chains_sum(&view, &chains));
	profile.sample_count = 5;
	assert_int_equal(chains.weight, 1 + 2 + 4 + 16 + 32 + 64);
	assert_int_equal(chains.leaving, 32);
	assert_int_equal(chains.leaves.count, 1);
	assert_string_equal(chains.leaves.modules[0].module, "bare");
	assert_true(chains.keeps_leaf_frames);
	assert_int_equal(chains.cut, 64);
	assert_int_equal(chains.ending, 2 + 16);
	assert_int_equal(chains.skipping, 4);
	assert_int_equal(chains.modules.count, 2);
	assert_string_equal(chains.modules.modules[0].module, "app");
	assert_int_equal(chains.modules.modules[0].weight, 18);
	assert_string_equal(chains.modules.modules[1].module, "libc.so.6");
	ppi_chains_free(&chains);
	view.is_left_out = is_left_out;
	assert_true(ppi_chains_sum(&view, &chains));
	assert_int_equal(chains.ending, 2);
	ppi_chains_free(&chains);
}

/* Without -g nobody asks how good the chains are. */
static void no_chain_needs_no_verdict(void **state)
{
	portprof_profile flat = profile;
	const struct ppi_view view = { .profile = &flat, .names = names };
	struct ppi_chains chains;

	(void)state;
	flat.samples = &samples[1];
	flat.sample_count = 1;
	assert_true(ppi_chains_sum(&view, &chains));
	assert_int_equal(chains.weight, 0);
	assert_int_equal(chains.modules.count, 0);
	/* with it, and not one caller found, it is needed most */
	flat.origin.chain_depth = 127;
	assert_true(ppi_chains_sum(&view, &chains));
	assert_int_equal(chains.ending, 2);
	ppi_chains_free(&chains);
}

static void callers_that_were_lost_are_unknown(void **state)
{
	const struct ppi_view view = { .profile = &profile, .names = names };
	struct ppi_rows rows;

	(void)state;
	assert_true(ppi_rows_edges(&view, BY_FUNCTION, PPI_CALLERS,
	                           "bare", &rows));
	assert_int_equal(rows.count, 1);
	assert_string_equal(rows.rows[0].function, "(unknown)");
	ppi_rows_free(&rows);
	assert_true(ppi_rows_edges(&view, BY_FUNCTION, PPI_CALLERS,
	                           "main", &rows));
	assert_string_equal(rows.rows[0].function, "(nobody)");
	assert_int_equal(rows.skipping_weight, 0);
	ppi_rows_free(&rows);
	/* middle did not call it, but what called it */
	assert_true(ppi_rows_edges(&view, BY_FUNCTION, PPI_CALLERS,
	                           "libc.so.6+0x20", &rows));
	assert_string_equal(rows.rows[0].function, "middle");
	assert_int_equal(rows.skipping_weight, 4);
	ppi_rows_free(&rows);
	/* and did not call it, but what called it */
	assert_true(ppi_rows_edges(&view, BY_FUNCTION, PPI_CALLEES,
	                           "middle", &rows));
	assert_string_equal(rows.rows[0].function, "libc.so.6+0x20");
	assert_int_equal(rows.skipping_weight, 4);
	ppi_rows_free(&rows);
	assert_true(ppi_rows_edges(&view, BY_FUNCTION, PPI_CALLEES,
	                           "main", &rows));
	assert_int_equal(rows.weight, 5);
	assert_int_equal(rows.skipping_weight, 0);
	ppi_rows_free(&rows);
}

static void what_is_no_code_has_no_row(void **state)
{
	static const uint32_t chain[] = { BARE, NONSENSE, MAIN };
	const portprof_profile_sample sample = { chain, 3, 1, 1, one, one, 0,
		                                 "" };
	portprof_profile made = profile;
	const struct ppi_view view = { .profile = &made, .names = names };
	struct ppi_rows rows;

	(void)state;
	made.samples = &sample;
	made.sample_count = 1;
	assert_true(ppi_rows_fold(&view, PPI_BY_FUNCTION | PPI_BY_MODULE,
	                          &rows));
	assert_int_equal(rows.count, 1);
	assert_string_equal(rows.rows[0].function, "bare");
	ppi_rows_free(&rows);
}

/* What an address is, from the profile alone. */
static void the_namer_tells_code_from_nonsense(void **state)
{
	portprof_profile made = profile;
	portprof_profile_location given = locations[NONSENSE];
	struct ppi_symbols *symbols = ppi_symbols_new(0);
	struct ppi_symbols_name *found = ppi_name_locations(&made, symbols);

	(void)state;
	assert_non_null(found);
	assert_true(found[NONSENSE].is_nonsense);
	assert_false(found[LEAF].is_nonsense);
	assert_false(found[IN_KERNEL].is_nonsense);
	assert_true(found[IN_KERNEL].is_kernel);
	assert_false(found[LEAF].is_kernel);
	assert_false(found[LEAF].is_first);
	free(found);
	/* what somebody else's file says is taken as it is */
	made.origin.backend = "";
	found = ppi_name_locations(&made, symbols);
	assert_non_null(found);
	assert_false(found[NONSENSE].is_nonsense);
	free(found);
	made.origin.backend = "perf";
	made.locations = &given;
	made.location_count = 1;
	made.sample_count = 0;
	given.function = "main";
	found = ppi_name_locations(&made, symbols);
	assert_non_null(found);
	assert_false(found[0].is_nonsense);
	assert_true(found[0].is_first);
	free(found);
	ppi_symbols_free(symbols);
}

/* Callers that a sampler of its own process found in code made while running: no
 * sample is there, so the file has no mapping of it. */
static void what_its_process_names_is_no_nonsense(void **state)
{
	static const uint32_t chain[] = { LEAF, NONSENSE };
	const portprof_profile_sample sample = {
		chain, 2, (uint32_t)getpid(), (uint32_t)getpid(), one, one, 0, ""
	};
	portprof_profile made = profile;
	struct ppi_symbols *symbols = ppi_symbols_new(0);
	struct ppi_symbols_name *found;
	char path[64];
	FILE *map;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%ld.map", (long)getpid());
	map = fopen(path, "wx");
	if (!map)
		skip();
	fputs("200 100 py::work:/srv/app.py\n", map);
	fclose(map);
	made.samples = &sample;
	made.sample_count = 1;
	found = ppi_name_locations(&made, symbols);
	unlink(path);
	assert_non_null(found);
	assert_string_equal(found[NONSENSE].function, "py::work:/srv/app.py");
	assert_false(found[NONSENSE].is_nonsense);
	free(found);
	ppi_symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_chains_reach_the_first_function),
		cmocka_unit_test(what_its_process_names_is_no_nonsense),
		cmocka_unit_test(tables_need_no_frame_pointers),
		cmocka_unit_test(chains_that_end_early_have_a_culprit),
		cmocka_unit_test(chains_cut_at_the_limit_blame_nobody),
		cmocka_unit_test(code_without_a_frame_leaves_its_caller_out),
		cmocka_unit_test(kernel_code_is_not_to_blame),
		cmocka_unit_test(weights_are_summed_by_module),
		cmocka_unit_test(no_chain_needs_no_verdict),
		cmocka_unit_test(callers_that_were_lost_are_unknown),
		cmocka_unit_test(what_is_no_code_has_no_row),
		cmocka_unit_test(the_namer_tells_code_from_nonsense),
	};

	return cmocka_run_group_tests_name("report_chains", tests, NULL, NULL);
}
