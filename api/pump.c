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

static size_t words_of_stack(const struct ppi_plan *plan)
{
	if (!unwinds(plan))
		return 0;
	return (sizeof(struct ppi_user_context) + plan->stack_bytes + 7) / 8;
}

/* Room for some stacks, for one where a test wants little room. */
static size_t words_of_stacks(const struct ppi_plan *plan)
{
	return words_of_stack(plan) *
	       (records_in_room == DEFAULT_RECORDS ? STACKS : 1);
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
	pump->words_of_one = PPI_WORDS_MIN + words_of_stack(plan);
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
	ppi_code_watch_free(pump->watch);
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
	const portprof_record *records = pump->delivered->records;

	for (size_t i = 0; i < pump->delivered->record_count; i++)
		if (records[i].kind != PORTPROF_RECORD_SAMPLE)
			count_processes(pump, &records[i]);
		else if (records[i].event < pump->event_count)
			tally(pump, &records[i], pump->verdicts[i]);
}

static void deliver(struct ppi_pump *pump, const struct ppi_room *room)
{
	struct ppi_pump *delivered PPI_AT_LEAVE(tally_batch) = pump;
	const portprof_batch batch = ppi_room_batch(room);
	/* a session without sinks counts what it saw: nothing is lost */
	uint8_t first = pump->sink_count ? PPI_LOST : PPI_KEPT;

	pump->delivered = room;
	if (pump->unwinder)
		ppi_chain_ends_count(&pump->chain_ends, &batch);
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

/* The records from `first` to before `end`. */
static struct ppi_room part_of(const struct ppi_room *room, size_t first,
                               size_t end)
{
	struct ppi_room part = *room;

	part.records += first;
	part.record_count = end - first;
	return part;
}

/* Chains of the records: now, as the code that they lie in may be gone when they
 * are delivered. */
static void unwind(struct ppi_pump *pump, struct ppi_room room)
{
	if (pump->unwinder)
		ppi_unwinder_take(pump->unwinder, &room, pump->chain_depth);
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
		unwind(pump, pump->room);
		if (pump->room.record_count)
			deliver(pump, &pump->room);
	} while (!is_all_told && pump->room.record_count);
}

/* ---- code that nobody told of ---- */

static void deliver_found(struct ppi_pump *pump, const portprof_record *sample)
{
	enum { RECORDS = 32 };
	portprof_record records[RECORDS];
	uint64_t words[PPI_WORDS_MIN];
	struct ppi_room found = { .records = records,
		                  .record_room = RECORDS,
		                  .words = words,
		                  .word_room = PPI_WORDS_MIN };

	ppi_code_watch_look(pump->watch, sample, &found);
	unwind(pump, found);
	if (found.record_count)
		deliver(pump, &found);
}

/* In parts, where a sample waits for what it fell on. */
static void deliver_watched(struct ppi_pump *pump)
{
	const struct ppi_room *room = &pump->room;
	size_t first = 0, seen = 0;

	while (first < room->record_count) {
		size_t next = ppi_code_watch_see(pump->watch, room->records,
		                                 seen, room->record_count);
		struct ppi_room part = part_of(room, first, next);

		unwind(pump, part);
		if (part.record_count)
			deliver(pump, &part);
		if (next < room->record_count)
			deliver_found(pump, &room->records[next]);
		first = next;
		seen = next + 1;
	}
}

/* ---- what waits until it is asked for ---- */

static void deliver_held(struct ppi_pump *pump)
{
	if (!pump->is_held)
		return;
	pump->is_held = pump->is_full = pump->has_end = false;
	pump->held_samples = 0;
	deliver(pump, &pump->room);
}

static void count_held(struct ppi_pump *pump, size_t first)
{
	const struct ppi_room *room = &pump->room;

	for (size_t i = first; i < room->record_count; i++) {
		const portprof_record *record = &room->records[i];

		if (record->kind == PORTPROF_RECORD_SAMPLE)
			pump->held_samples += record->samples;
		pump->has_end |= record->kind == PORTPROF_RECORD_EXIT &&
		                 record->pid == record->tid &&
		                 record->pid == pump->target_pid;
	}
	pump->is_held = room->record_count > 0;
	/* some record may find no room: a birth comes with a second one */
	pump->is_full = room->record_room - room->record_count < 2 ||
	                room->word_room - room->word_count <
				pump->words_of_one;
}

portprof_status ppi_pump_hold(struct ppi_pump *pump,
                              struct ppi_backend_session *bs)
{
	portprof_status status = PORTPROF_OK;
	struct ppi_room *room = &pump->room;
	size_t first, before;

	if (!pump->is_held)
		clear_room(pump);
	first = room->record_count;
	/* a backend is asked also where nothing fits: it has other things to
	 * do now and then */
	if (!pump->modules || ppi_modules_tell(pump->modules, room))
		do {
			before = room->record_count;
			status = bs->ops->drain(bs, room);
			unwind(pump, part_of(room, before, room->record_count));
		} while (status == PORTPROF_OK && room->record_count > before);
	count_held(pump, first);
	return status;
}

size_t ppi_pump_held_bytes(const struct ppi_pump *pump)
{
	if (!pump->is_held)
		return 0;
	return pump->room.record_count * sizeof(*pump->room.records) +
	       pump->room.word_count * sizeof(*pump->room.words);
}

static bool grow(void **array, size_t *room, size_t wanted, size_t size)
{
	void *grown;

	if (wanted <= *room)
		return true;
	grown = realloc(*array, wanted * size);
	if (!grown)
		return false;
	*array = grown;
	*room = wanted;
	return true;
}

bool ppi_pump_grow(struct ppi_pump *pump, size_t records, size_t words)
{
	struct ppi_room *room = &pump->room;
	size_t verdicts = room->record_room;
	void *of_verdicts = pump->verdicts, *of_records = room->records,
	     *of_words = room->words;
	bool is_grown =
		grow(&of_verdicts, &verdicts, records, sizeof(*pump->verdicts)) &&
		grow(&of_records, &room->record_room, records,
		     sizeof(*room->records)) &&
		grow(&of_words, &room->word_room, words, sizeof(*room->words));

	pump->verdicts = of_verdicts;
	room->records = of_records;
	room->words = of_words;
	return is_grown;
}

portprof_status ppi_pump_drain(struct ppi_pump *pump,
                               struct ppi_backend_session *bs)
{
	deliver_held(pump);
	deliver_modules(pump);
	for (;;) {
		portprof_status status;

		clear_room(pump);
		status = bs->ops->drain(bs, &pump->room);
		if (pump->room.record_count == 0)
			return status;
		if (pump->watch) {
			deliver_watched(pump);
		} else {
			unwind(pump, pump->room);
			deliver(pump, &pump->room);
		}
		bs->wants_longer_stacks =
			ppi_chain_ends_are_short(&pump->chain_ends);
		if (status)
			return status;
	}
}
