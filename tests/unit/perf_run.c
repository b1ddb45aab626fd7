/* SPDX-License-Identifier: MIT */
/* A session of the perf backend on the simulated kernel, for unit tests. */
#include "tests/unit/perf_run.h"

#include "api/core/event.h"
#include "api/core/open.h"

#include <stdlib.h>
#include <string.h>

extern const struct ppi_backend_ops ppi_backend_perf;

void run_init(struct perf_run *run, enum ppi_mode mode)
{
	memset(run, 0, sizeof(*run));
	run->plan.mode = mode;
	run->plan.target = (struct ppi_target){
		.kind = PPI_TARGET_PROCESS, .pid = perf_sim_main_tid(),
		.tid = 0, .is_self = true,
	};
	run->plan.events = run->events;
	run->plan.want_modules = true;
	run->room = 512;
	run->bs = (struct ppi_backend_session){
		.ops = &ppi_backend_perf,
		.kernel = &perf_sim_kernel,
		.caps = ppi_backend_perf.caps,
		.plan = &run->plan,
		.drain_every_ms = 250,
		.owner_pid = perf_sim_main_tid(),
		.notes = run->notes,
		.note_room = 32,
	};
}

portprof_status run_add(struct perf_run *run, const char *text,
                        uint64_t rate_hz)
{
	struct ppi_event_request request;
	portprof_status status = ppi_event_parse(text, &request, &run->why);

	if (status != PORTPROF_OK)
		return status;
	if (!request.period && !request.rate_hz)
		request.rate_hz = rate_hz;
	status = ppi_backend_perf.resolve(&perf_sim_kernel, &request,
	                                  run->plan.mode,
	                                  &run->events[run->plan.event_count],
	                                  &run->why);
	if (status == PORTPROF_OK)
		run->plan.event_count++;
	return status;
}

portprof_status run_open(struct perf_run *run)
{
	portprof_status status;

	run->bs.state = calloc(1, ppi_backend_perf.state_size);
	run->records = calloc(RUN_RECORDS, sizeof(*run->records));
	run->word_room = 1 << 20;
	if (run->plan.stack_bytes)
		run->word_room *= 4;
	run->words = calloc(run->word_room, sizeof(*run->words));
	if (run->plan.allow_refused)
		run->bs.refusals = run->refusals;
	if (run->plan.sample_fields & PORTPROF_FIELD_GROUP_VALUES)
		ppi_plan_choose_sampled(run->events, run->plan.event_count);
	status = ppi_backend_perf.open(&run->bs, &run->why);
	if (status != PORTPROF_OK) {
		free(run->bs.state);
		run->bs.state = NULL;
		free(run->records);
		free(run->words);
	}
	return status;
}

void run_start(struct perf_run *run)
{
	if (ppi_backend_perf.start(&run->bs, &run->why) != PORTPROF_OK)
		abort();
}

/* Through a small room, as the pump does; payloads move with their records. */
void run_drain(struct perf_run *run)
{
	portprof_record *records = calloc(run->room, sizeof(*records));
	size_t word_room = PPI_WORDS_MIN * 4 + run->plan.stack_bytes / 8;
	uint64_t *words = calloc(word_room, sizeof(*words));

	for (;;) {
		struct ppi_room room = {
			.records = records, .record_room = run->room,
			.words = words, .word_room = word_room,
		};

		ppi_backend_perf.drain(&run->bs, &room);
		if (room.record_count == 0)
			break;
		if (run->record_count + room.record_count > RUN_RECORDS ||
		    run->word_count + room.word_count > run->word_room)
			abort();
		for (size_t i = 0; i < room.record_count; i++) {
			records[i].payload += run->word_count;
			records[i].values += run->word_count;
			run->records[run->record_count++] = records[i];
		}
		memcpy(run->words + run->word_count, words,
		       room.word_count * sizeof(*words));
		run->word_count += room.word_count;
	}
	free(records);
	free(words);
}

void run_stop(struct perf_run *run)
{
	if (ppi_backend_perf.stop(&run->bs, &run->why) != PORTPROF_OK)
		abort();
	run_drain(run);
}

void run_close(struct perf_run *run)
{
	ppi_backend_perf.close(&run->bs);
	free(run->bs.state);
	free(run->records);
	free(run->words);
}

static bool is_sample_of(const portprof_record *record, uint32_t event)
{
	return record->kind == PORTPROF_RECORD_SAMPLE &&
	       record->event == event;
}

uint64_t run_weight(const struct perf_run *run, uint32_t event)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < run->record_count; i++)
		if (is_sample_of(&run->records[i], event))
			sum += run->records[i].weight;
	return sum;
}

uint64_t run_weight_of(const struct perf_run *run, int64_t tid)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < run->record_count; i++)
		if (is_sample_of(&run->records[i], 0) &&
		    run->records[i].tid == (uint64_t)tid)
			sum += run->records[i].weight;
	return sum;
}

uint64_t run_samples(const struct perf_run *run, uint32_t event)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < run->record_count; i++)
		if (is_sample_of(&run->records[i], event))
			sum += run->records[i].samples;
	return sum;
}

size_t run_kind(const struct perf_run *run, uint32_t kind)
{
	size_t count = 0;

	for (size_t i = 0; i < run->record_count; i++)
		count += run->records[i].kind == kind;
	return count;
}

static portprof_batch batch_of(const struct perf_run *run)
{
	portprof_batch batch = { run->records, run->record_count, run->words,
		                 run->word_count, sizeof(portprof_record) };

	return batch;
}

const portprof_module *run_module(const struct perf_run *run, const char *path)
{
	portprof_batch batch = batch_of(run);

	for (size_t i = 0; i < batch.count; i++) {
		const portprof_module *module =
			portprof_batch_module(&batch, &run->records[i]);

		if (module && strcmp(module->path, path) == 0)
			return module;
	}
	return NULL;
}

const char *run_name(const struct perf_run *run, int64_t tid)
{
	portprof_batch batch = batch_of(run);
	const char *last = NULL;

	for (size_t i = 0; i < batch.count; i++)
		if (run->records[i].kind == PORTPROF_RECORD_THREAD &&
		    run->records[i].tid == (uint64_t)tid)
			last = portprof_batch_name(&batch, &run->records[i]);
	return last;
}

struct ppi_account run_account(struct perf_run *run, size_t event)
{
	struct ppi_account account = { 0 };

	ppi_backend_perf.stats(&run->bs, event, &account);
	return account;
}

bool run_has_note(const struct perf_run *run, const char *part)
{
	for (size_t i = 0; i < run->bs.note_count; i++)
		if (strstr(run->notes[i], part))
			return true;
	return false;
}

void run_work(int64_t tid, uint64_t pc, uint64_t ns, uint64_t kernel_ns)
{
	struct perf_sim_work work = { .tid = tid, .pc = pc, .ns = ns,
		                      .kernel_ns = kernel_ns };

	perf_sim_run(&work, 1);
}
