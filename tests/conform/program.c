/* SPDX-License-Identifier: MIT */
/* Programs of known work, and what their samples must and do say. */
#include "tests/conform/conform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- works ---- */

void cf_kernel_work(struct cf_program *program, unsigned thread,
                    unsigned function, uint64_t cpu_ns, uint64_t in_kernel_ns)
{
	assert_true(program->count < CF_WORKS);
	program->works[program->count++] = (struct fx_work){
		.thread = thread, .function = function, .cpu_ns = cpu_ns,
		.in_kernel_ns = in_kernel_ns
	};
}

void cf_work(struct cf_program *program, unsigned thread, unsigned function,
             uint64_t cpu_ns)
{
	cf_kernel_work(program, thread, function, cpu_ns, 0);
}

void cf_labelled_work(struct cf_program *program, unsigned thread,
                      unsigned function, uint64_t cpu_ns,
                      const portprof_label_set *set)
{
	cf_work(program, thread, function, cpu_ns);
	program->works[program->count - 1].set = set;
}

void cf_run(struct cf_program *program)
{
	size_t first = program->done;

	program->done = program->count;
	fixture.spend(program->works + first, program->count - first,
	              program->used_ns + first);
}

uint64_t cf_burn(unsigned thread, unsigned function, uint64_t cpu_ns)
{
	struct fx_work work = { .thread = thread, .function = function,
		                .cpu_ns = cpu_ns };
	uint64_t used_ns = 0;

	fixture.spend(&work, 1, &used_ns);
	return used_ns;
}

uint64_t cf_used_by(const struct cf_program *program, unsigned thread)
{
	uint64_t used = 0;

	for (size_t i = 0; i < program->done; i++)
		if (program->works[i].thread == thread)
			used += program->used_ns[i];
	return used;
}

uint64_t cf_used(const struct cf_program *program)
{
	uint64_t used = 0;

	for (size_t i = 0; i < program->done; i++)
		used += program->used_ns[i];
	return used;
}

/* ---- what must be ---- */

static unsigned clocks(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return fixture.is_exact || cpus < 1 ? 1 : (unsigned)cpus;
}

struct expect cf_expect(const struct cf_program *program, uint64_t period_ns)
{
	struct expect_work works[CF_WORKS];
	struct expect expect;
	struct expect_terms terms = {
		.period_ns = period_ns,
		.spread_ns = fixture.varies_periods ? period_ns / 2 : 0,
		.tick_ns = fixture.tick_ns,
		.clocks = clocks(),
		.is_fair = cf_has(PORTPROF_CAP_FAIR),
		.sees_kernel = cf_has(PORTPROF_CAP_KERNEL),
		.slack_ns = cf_slack(cf_used(program)),
	};

	for (size_t i = 0; i < program->done; i++) {
		const struct fx_work *work = &program->works[i];
		uint64_t used = program->used_ns[i];

		works[i] = (struct expect_work){
			work->thread, work->function, used,
			work->in_kernel_ns < used ? work->in_kernel_ns : used
		};
	}
	expect_program(works, program->done, &terms, &expect);
	return expect;
}

void cf_in_range(uint64_t value, struct expect_range range, const char *what)
{
	if (value < range.low || value > range.high)
		fail_msg("%s is %llu, not in %llu..%llu", what,
		         (unsigned long long)value,
		         (unsigned long long)range.low,
		         (unsigned long long)range.high);
}

void cf_measure(portprof_session *session, struct cf_program *program)
{
	cf_start(session);
	cf_run(program);
	cf_stop(session);
}

void cf_check_total(portprof_session *session, const struct expect *expect)
{
	portprof_stats stats = cf_stats(session, 0);

	cf_in_range(stats.kept_weight + stats.outside_weight, expect->sampled,
	            "weight of all samples");
	cf_in_range(stats.unattributed_weight, expect->unattributed,
	            "unattributed weight");
}

/* ---- what is: a histogram over the functions ---- */

void cf_watch(portprof_config *config, struct cf_watch *watch)
{
	cf_watch_labels(config, watch, NULL);
}

void cf_watch_labels(portprof_config *config, struct cf_watch *watch,
                     const portprof_label_set *labels)
{
	portprof_range regions[FX_FUNCTIONS];
	portprof_bin_unit unit = PORTPROF_BINS_WEIGHT;

	for (unsigned f = 0; f < FX_FUNCTIONS; f++) {
		uint64_t start, end;

		fixture.function_range(f, &start, &end);
		watch->bin_count[f] = (size_t)((end - start + 1) / 2);
		watch->bins[f] = cf_memory(watch->bin_count[f] * 8);
		regions[f] = (portprof_range){
			.offset = start, .scale = 65536, .bin_bits = 64,
			.bins = watch->bins[f],
			.bin_count = watch->bin_count[f],
		};
	}
	assert_int_equal(labels ? portprof_config_add_label_histogram(
					config, 0, regions, FX_FUNCTIONS, unit,
					labels)
	                        : portprof_config_add_histogram(
					config, 0, regions, FX_FUNCTIONS, unit),
	                 PORTPROF_OK);
}

uint64_t cf_watched(const struct cf_watch *watch, unsigned function)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < watch->bin_count[function]; i++)
		sum += watch->bins[function][i];
	cf_measured(sum);
	return sum;
}

void cf_check_functions(const struct cf_watch *watch,
                        const struct expect *expect)
{
	for (unsigned f = 0; f < FX_FUNCTIONS; f++) {
		char what[32];

		snprintf(what, sizeof(what), "weight of function %u", f);
		cf_in_range(cf_watched(watch, f), expect->function[f], what);
	}
}

/* ---- what is: a callback that keeps all records ---- */

enum { LOGS = 32 };
static struct cf_log *logs[LOGS];
static size_t log_count;

static bool grow(struct cf_log *log)
{
	size_t room = log->room ? log->room * 2 : 1024;
	void *records = realloc(log->records, room * sizeof(*log->records));
	void *chains;

	if (!records)
		return false;
	log->records = records;
	chains = realloc(log->chains, room * sizeof(*log->chains));
	if (!chains)
		return false;
	log->chains = chains;
	log->room = room;
	return true;
}

static void keep(struct cf_log *log, const portprof_batch *batch,
                 const portprof_record *record)
{
	size_t depth = 0;
	const uint64_t *chain = portprof_batch_chain(batch, record, &depth);
	uint64_t *kept;

	if (record->kind < 8)
		log->kinds[record->kind]++;
	if (record->kind != PORTPROF_RECORD_SAMPLE)
		return;
	if (log->count == log->room && !grow(log)) {
		log->mistake = "out of memory in a callback";
		return;
	}
	cf_measured(record->weight);
	kept = log->chains[log->count];
	kept[0] = depth;
	for (size_t i = 0; i < CF_DEPTH; i++)
		kept[i + 1] = chain && i < depth ? chain[i] : 0;
	log->records[log->count++] = *record;
}

static void take(const portprof_batch *batch, void *context)
{
	struct cf_log *log = context;

	if (atomic_exchange(&log->is_inside, 1))
		log->mistake = "a callback runs twice at once";
	log->batches++;
	if (batch->count == 0)
		log->mistake = "a batch is empty";
	for (size_t i = 0; i < batch->count; i++)
		keep(log, batch, portprof_batch_record(batch, i));
	atomic_store(&log->is_inside, 0);
}

struct cf_log *cf_log(portprof_config *config)
{
	struct cf_log *log = calloc(1, sizeof(*log));

	assert_non_null(log);
	assert_true(log_count < LOGS);
	logs[log_count++] = log;
	assert_int_equal(portprof_config_add_callback(config, take, log),
	                 PORTPROF_OK);
	return log;
}

void cf_free_logs(void)
{
	while (log_count) {
		struct cf_log *log = logs[--log_count];

		free(log->records);
		free(log->chains);
		free(log);
	}
}

uint64_t cf_log_weight(const struct cf_log *log, size_t event)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < log->count; i++)
		if (log->records[i].event == event)
			sum += log->records[i].weight;
	return sum;
}

uint64_t cf_log_thread_weight(const struct cf_log *log, int64_t tid)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < log->count; i++)
		if (log->records[i].tid == (uint64_t)tid)
			sum += log->records[i].weight;
	return sum;
}
