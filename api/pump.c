/* SPDX-License-Identifier: MIT */
/* Records from a backend to every sink, and what became of each sample. */
#include "api/internal/pump.h"

#include "port/unwind.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_RECORDS = 1024, DEFAULT_WORDS = 16384, STACKS = 16 };

static size_t records_in_room = DEFAULT_RECORDS;

void ppi_pump_set_room(size_t records)
{
	records_in_room = records ? records : DEFAULT_RECORDS;
}

/* Stacks of an area are another process's to unwind. */
static bool unwinds(const struct ppi_plan *plan)
{
	return plan->stack_bytes && !plan->area;
}

/* Room for some stacks, for one where a test wants little room. */
static size_t words_of_stacks(const struct ppi_plan *plan)
{
	size_t words = (sizeof(struct ppi_user_context) + plan->stack_bytes +
	                7) / 8;

	if (!unwinds(plan))
		return 0;
	return records_in_room == DEFAULT_RECORDS ? STACKS * words : words;
}

portprof_status ppi_pump_init(struct ppi_pump *pump,
                              const struct ppi_plan *plan,
                              struct ppi_diag *why)
{
	size_t words = (records_in_room == DEFAULT_RECORDS ? DEFAULT_WORDS :
	                                                     PPI_WORDS_MIN) +
	               words_of_stacks(plan);
	size_t event_count = plan->event_count;

	pump->room.record_room = records_in_room;
	pump->room.word_room = words;
	pump->event_count = event_count;
	pump->room.records = calloc(records_in_room,
	                            sizeof(*pump->room.records));
	pump->room.words = calloc(words, sizeof(*pump->room.words));
	pump->verdicts = calloc(records_in_room, 1);
	pump->tallies = calloc(event_count, sizeof(*pump->tallies));
	pump->chain_depth = plan->chain_depth;
	if (unwinds(plan))
		pump->unwinder = ppi_unwinder_new(ppi_machine_here());
	if (pump->unwinder && !plan->uses_tables)
		ppi_unwinder_leave_tables(pump->unwinder);
	if (pump->room.records && pump->room.words && pump->verdicts &&
	    pump->tallies && (pump->unwinder || !unwinds(plan)))
		return PORTPROF_OK;
	ppi_pump_free(pump);
	return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open", "out of memory");
}

void ppi_pump_free(struct ppi_pump *pump)
{
	free(pump->room.records);
	free(pump->room.words);
	free(pump->verdicts);
	free(pump->tallies);
	ppi_unwinder_free(pump->unwinder);
	memset(pump, 0, sizeof(*pump));
}

static void tally(struct ppi_pump *pump, const portprof_record *record,
                  uint8_t verdict)
{
	struct ppi_tally *t = &pump->tallies[record->event];

	switch (verdict) {
	case PPI_KEPT:
		t->kept_samples += record->samples;
		t->kept_weight += record->weight;
		break;
	case PPI_OUTSIDE:
		t->outside_samples += record->samples;
		t->outside_weight += record->weight;
		break;
	default:
		t->lost_samples += record->samples;
		t->lost_weight += record->weight;
	}
}

/* A process ends with its first thread, as far as anybody waits for it. */
static void count_processes(struct ppi_pump *pump,
                            const portprof_record *record)
{
	if (record->kind == PORTPROF_RECORD_FORK)
		pump->born++;
	else if (record->kind == PORTPROF_RECORD_EXIT &&
	         record->pid == record->tid &&
	         record->pid != pump->target_pid)
		pump->dead++;
}

/* What became of the batch; of one in which a callback was left by an exception
 * or pthread_exit, too. */
static void tally_batch(struct ppi_pump **delivered)
{
	struct ppi_pump *pump = *delivered;
	const portprof_record *records = pump->room.records;

	for (size_t i = 0; i < pump->room.record_count; i++)
		if (records[i].kind != PORTPROF_RECORD_SAMPLE)
			count_processes(pump, &records[i]);
		else if (records[i].event < pump->event_count)
			tally(pump, &records[i], pump->verdicts[i]);
}

static void deliver(struct ppi_pump *pump)
{
	struct ppi_pump *delivered PPI_AT_LEAVE(tally_batch) = pump;
	const struct ppi_room *room = &pump->room;
	const portprof_batch batch = { room->records, room->record_count,
		                 room->words, room->word_count };
	/* a session without sinks counts what it saw: nothing is lost */
	uint8_t first = pump->sink_count ? PPI_LOST : PPI_KEPT;

	if (pump->unwinder) {
		ppi_unwinder_take(pump->unwinder, &pump->room,
		                  pump->chain_depth);
		ppi_chain_ends_count(&pump->chain_ends, &batch);
	}
	memset(pump->verdicts, first, batch.count);
	for (size_t i = 0; i < pump->sink_count; i++)
		pump->sinks[i].ops->take(&pump->sinks[i], &batch,
		                         pump->verdicts);
}

static void clear_room(struct ppi_pump *pump)
{
	pump->room.record_count = 0;
	pump->room.word_count = 0;
}

/* Modules go before the samples that fell on them. */
static void deliver_modules(struct ppi_pump *pump)
{
	bool is_all_told;

	if (!pump->modules)
		return;
	do {
		clear_room(pump);
		is_all_told = ppi_modules_tell(pump->modules, &pump->room);
		if (pump->room.record_count)
			deliver(pump);
	} while (!is_all_told && pump->room.record_count);
}

portprof_status ppi_pump_drain(struct ppi_pump *pump,
                               struct ppi_backend_session *bs)
{
	deliver_modules(pump);
	for (;;) {
		portprof_status status;

		clear_room(pump);
		status = bs->ops->drain(bs, &pump->room);
		if (pump->room.record_count)
			deliver(pump);
		else
			return status;
		bs->wants_longer_stacks =
			ppi_chain_ends_are_short(&pump->chain_ends);
		if (status)
			return status;
	}
}
