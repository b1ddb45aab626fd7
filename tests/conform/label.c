/* SPDX-License-Identifier: MIT */
/* Labels: each sample has the set that its thread was in. */
#include "tests/conform/conform.h"

#include <stdio.h>
#include <string.h>

/*
 * The model: function f runs in set f alone, and the last function in none; so the
 * program counter of a sample says which set it must have, and what was spent in a
 * function what samples of the set weigh.
 */
enum { LABELLED = FX_FUNCTIONS - 1, SETS = 64, ROUNDS = 12 };

static const portprof_label_set *set_of(unsigned function)
{
	char name[16];
	const portprof_label labels[] = { { "function", name },
		                          { "kind", "conformance" } };
	const portprof_label_set *set;

	if (function >= LABELLED)
		return NULL;
	snprintf(name, sizeof(name), "f%u", function);
	set = portprof_label_set_new(labels, 2);
	assert_non_null(set);
	return set;
}

/* What a callback learns. */
static struct {
	uint64_t numbers[SETS]; /* sets that were told */
	unsigned functions[SETS];
	size_t count;
	uint64_t known, unknown, none, wrong, untold; /* samples */
	uint64_t weight[FX_FUNCTIONS];
	uint64_t in_bins[FX_FUNCTIONS]; /* of known sets, as histograms have it */
} found;

static void learn(const portprof_batch *batch, const portprof_record *record)
{
	size_t bytes;
	const char *text = portprof_batch_labels(batch, record, &bytes);
	unsigned function;

	/* keys stand in their order */
	if (!text || strcmp(text, "function") != 0 || found.count == SETS ||
	    sscanf(text + strlen("function") + 1, "f%u", &function) != 1)
		return;
	found.numbers[found.count] = record->address;
	found.functions[found.count++] = function;
}

static bool function_of(uint64_t address, unsigned *function)
{
	for (unsigned f = 0; f < FX_FUNCTIONS; f++) {
		uint64_t start, end;

		fixture.function_range(f, &start, &end);
		*function = f;
		if (address >= start && address < end)
			return true;
	}
	return false;
}

static void compare(unsigned function, uint64_t set)
{
	size_t i = 0;

	while (i < found.count && found.numbers[i] != set)
		i++;
	if (i == found.count)
		found.untold++;
	else if (found.functions[i] != function)
		found.wrong++;
	else
		found.known++;
}

/* What it did for a function in the kernel is in the function's bins. */
static void count_in_bins(const portprof_record *record)
{
	bool is_inside = record->valid & PORTPROF_FIELD_KERNEL &&
	                 record->valid & PORTPROF_FIELD_USER_ADDRESS;
	unsigned function;

	if (record->valid & PORTPROF_FIELD_LABELS &&
	    record->label_set != PORTPROF_LABEL_SET_UNKNOWN &&
	    function_of(is_inside ? record->user_address : record->address,
	                &function))
		found.in_bins[function] += record->weight;
}

static void look_at(const portprof_record *record)
{
	unsigned function;

	count_in_bins(record);
	if (!function_of(record->address, &function))
		return;
	found.weight[function] += record->weight;
	if (!(record->valid & PORTPROF_FIELD_LABELS)) {
		found.none++;
		found.wrong += function < LABELLED;
	} else if (record->label_set == PORTPROF_LABEL_SET_UNKNOWN) {
		found.unknown++;
	} else if (function >= LABELLED) {
		found.wrong++;
	} else {
		compare(function, record->label_set);
	}
}

static void take(const portprof_batch *batch, void *context)
{
	(void)context;
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);

		if (record->kind == PORTPROF_RECORD_LABELS)
			learn(batch, record);
		else if (record->kind == PORTPROF_RECORD_SAMPLE)
			look_at(record);
	}
}

static portprof_session *open_labelled(void)
{
	portprof_config *config = cf_config();

	memset(&found, 0, sizeof(found));
	assert_int_equal(portprof_config_add_callback(config, take, NULL),
	                 PORTPROF_OK);
	return cf_open(config);
}

static void check(const struct cf_program *program)
{
	bool is_known = cf_has(PORTPROF_CAP_PID_TID | PORTPROF_CAP_TIME);
	uint64_t spent[FX_FUNCTIONS] = { 0 };

	for (size_t i = 0; i < program->done; i++)
		spent[program->works[i].function] += program->used_ns[i];
	cf_measured(found.known + found.unknown);
	assert_int_equal(found.wrong, 0);
	assert_int_equal(found.untold, 0);
	if (!is_known) {
		assert_int_equal(found.known, 0);
		assert_int_equal(found.none, 0);
		return;
	}
	assert_int_equal(found.unknown, 0);
	assert_true(found.known > 0);
	assert_true(found.none > 0);
	for (unsigned f = 0; f < FX_FUNCTIONS && fixture.is_exact; f++)
		assert_true(found.weight[f] <= spent[f] + 20 * CF_MS &&
		            found.weight[f] + 20 * CF_MS >= spent[f]);
}

static void label_1_each_sample_has_its_threads_set(void **state)
{
	struct cf_program program = { .count = 0 };
	portprof_session *session;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	session = open_labelled();
	fixture.thread_start(1);
	fixture.thread_start(2);
	cf_start(session);
	for (unsigned i = 0; i < ROUNDS; i++)
		for (unsigned t = 0; t < 3; t++) {
			unsigned f = (i + t) % FX_FUNCTIONS;

			cf_labelled_work(&program, t, f, 9 * CF_MS, set_of(f));
		}
	cf_run(&program);
	cf_stop(session);
	fixture.thread_end(1);
	fixture.thread_end(2);
	cf_close(session);
	check(&program);
}

/* Also of threads that have ended when their samples are drawn. */
static void label_1_threads_come_and_go(void **state)
{
	struct cf_program program = { .count = 0 };
	portprof_session *session;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	session = open_labelled();
	cf_start(session);
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned t = 1 + i % 5, f = i % FX_FUNCTIONS;

		fixture.thread_start(t);
		cf_labelled_work(&program, t, f, 8 * CF_MS, set_of(f));
		cf_labelled_work(&program, t, LABELLED, 8 * CF_MS, NULL);
		cf_run(&program);
		fixture.thread_end(t);
	}
	cf_stop(session);
	cf_close(session);
	check(&program);
}

/* Two sessions after one another: the second knows as much. */
static void label_1_from_session_to_session(void **state)
{
	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	for (int round = 0; round < 3; round++) {
		struct cf_program program = { .count = 0 };
		portprof_session *session = open_labelled();

		cf_start(session);
		for (unsigned f = 0; f < FX_FUNCTIONS; f++)
			cf_labelled_work(&program, 0, f, 15 * CF_MS, set_of(f));
		cf_run(&program);
		cf_stop(session);
		cf_close(session);
		check(&program);
	}
}

/* ---- histograms of labels ---- */

static uint64_t sum_of(const struct cf_watch *watch, unsigned function)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < watch->bin_count[function]; i++)
		sum += watch->bins[function][i];
	return sum;
}

/* One of each function's set, and one of what all sets have: by the callback's
 * samples, to the nanosecond. */
static void label_1_histograms_are_of_their_labels(void **state)
{
	const portprof_label common = { "kind", "conformance" };
	struct cf_program program = { .count = 0 };
	portprof_config *config = cf_config();
	struct cf_watch watches[FX_FUNCTIONS];
	portprof_session *session;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	cf_needs(PORTPROF_CAP_PID_TID);
	cf_needs(PORTPROF_CAP_TIME);
	memset(&found, 0, sizeof(found));
	assert_int_equal(portprof_config_add_callback(config, take, NULL),
	                 PORTPROF_OK);
	for (unsigned f = 0; f < LABELLED; f++)
		cf_watch_labels(config, &watches[f], set_of(f));
	cf_watch_labels(config, &watches[LABELLED],
	                portprof_label_set_new(&common, 1));
	session = cf_open(config);
	cf_start(session);
	for (unsigned i = 0; i < ROUNDS; i++)
		cf_labelled_work(&program, 0, i % FX_FUNCTIONS, 9 * CF_MS,
		                 set_of(i % FX_FUNCTIONS));
	cf_run(&program);
	cf_stop(session);
	check(&program);
	for (unsigned f = 0; f < FX_FUNCTIONS; f++) {
		for (unsigned of = 0; of < LABELLED; of++)
			assert_int_equal(sum_of(&watches[of], f),
			                 of == f ? found.in_bins[f] : 0);
		assert_int_equal(sum_of(&watches[LABELLED], f),
		                 found.in_bins[f]);
	}
	cf_close(session);
}

static void label_2_unknown_sets_have_no_histogram(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session = NULL;
	struct cf_watch watch;

	(void)state;
	cf_watch_labels(config, &watch, set_of(0));
	if (cf_has(PORTPROF_CAP_PID_TID | PORTPROF_CAP_TIME)) {
		cf_close(cf_open(config));
		return;
	}
	assert_int_equal(cf_try_open(config, &session),
	                 PORTPROF_E_UNSUPPORTED);
	cf_diag(PORTPROF_E_UNSUPPORTED);
}

static const struct cf_case cases[] = {
	CF_SAMPLES(label_1_each_sample_has_its_threads_set),
	CF_SAMPLES(label_1_threads_come_and_go),
	CF_SAMPLES(label_1_from_session_to_session),
	CF_SAMPLES(label_1_histograms_are_of_their_labels),
	CF_LIFE(label_2_unknown_sets_have_no_histogram),
};
CF_FAMILY(label);
