/* SPDX-License-Identifier: MIT */
/* Records from a backend to every sink, and what became of each sample. */
#include "api/core/pump.h"

#include "base/cleanup.h"
#include "base/processes.h"

#include <stdlib.h>
#include <string.h>

enum {
	DEFAULT_RECORDS = 1024,
	DEFAULT_WORDS = 16384,
	STACKS = 16,
	AREA_RECORDS = 64 /* where samples go elsewhere: modules and labels */
};

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
	if (!unwinds(plan))
		return 0;
	return (sizeof(struct ppi_user_context) + plan->stack_bytes + 7) / 8 *
	       (records_in_room == DEFAULT_RECORDS ? STACKS : 1);
}

static size_t records_of(const struct ppi_plan *plan)
{
	return plan->area && records_in_room > AREA_RECORDS ? AREA_RECORDS
	                                                    : records_in_room;
}

portprof_status ppi_pump_init(struct ppi_pump *pump,
                              const struct ppi_plan *plan,
                              struct ppi_diag *why)
{
	size_t records = records_of(plan);
	size_t words = (records == DEFAULT_RECORDS ? DEFAULT_WORDS :
	                                             PPI_WORDS_MIN) +
	               words_of_stacks(plan);
	size_t event_count = plan->event_count;

	pump->room.record_room = records;
	pump->room.word_room = words;
	pump->event_count = event_count;
	pump->room.records = calloc(records,
	                            sizeof(*pump->room.records));
	pump->room.words = calloc(words, sizeof(*pump->room.words));
	pump->verdicts = calloc(records, 1);
	pump->tallies = calloc(event_count, sizeof(*pump->tallies));
	pump->area = plan->area;
	pump->chain_depth = plan->chain_depth;
	pump->verdict_room = pump->held.most_records = records;
	pump->held.most_words = words;
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
	free(pump->held.room.records);
	free(pump->held.room.words);
	free(pump->verdicts);
	free(pump->tallies);
	ppi_unwinder_free(pump->unwinder);
	ppi_kept_chains_free(&pump->kept);
	ppi_code_watch_free(pump->watch);
	ppi_label_finder_free(pump->labels);
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
	uint8_t first = pump->sink_count || pump->feeds_files_only ? PPI_LOST
	                                                           : PPI_KEPT;

	pump->delivered = room;
	memset(pump->verdicts, first, batch.count);
	for (size_t i = 0; i < pump->sink_count; i++)
		if (!pump->feeds_files_only ||
		    pump->sinks[i].ops == &ppi_sink_file)
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
	const portprof_batch batch = ppi_room_batch(&room);

	if (pump->unwinder) {
		ppi_unwinder_take(pump->unwinder, &room, pump->chain_depth);
		ppi_chain_ends_count(&pump->chain_ends, &batch);
	}
	ppi_kept_chains_take(&pump->kept, &room);
}

/* ---- what waits until it is asked for ---- */

static bool grow(void **array, size_t *room, size_t wanted, size_t size)
{
	size_t more = wanted > 2 * *room ? wanted : 2 * *room;
	void *grown;

	if (wanted <= *room)
		return true;
	grown = realloc(*array, more * size);
	if (!grown)
		return false;
	*array = grown;
	*room = more;
	return true;
}

static bool make_room(struct ppi_pump *pump, size_t records, size_t words)
{
	struct ppi_room *held = &pump->held.room;
	void *of_verdicts = pump->verdicts, *of_records = held->records,
	     *of_words = held->words;
	bool is_grown =
		grow(&of_verdicts, &pump->verdict_room, records,
		     sizeof(*pump->verdicts)) &&
		grow(&of_records, &held->record_room, records,
		     sizeof(*held->records)) &&
		grow(&of_words, &held->word_room, words, sizeof(*held->words));

	pump->verdicts = of_verdicts;
	held->records = of_records;
	held->words = of_words;
	return is_grown;
}

bool ppi_pump_grow(struct ppi_pump *pump, size_t records, size_t words)
{
	if (!make_room(pump, records, words))
		return false;
	if (pump->held.most_records < records)
		pump->held.most_records = records;
	if (pump->held.most_words < words)
		pump->held.most_words = words;
	return true;
}

/* A birth comes with a second record. */
bool ppi_pump_is_full(const struct ppi_pump *pump)
{
	return pump->held.room.record_count + 2 > pump->held.most_records ||
	       pump->held.room.word_count + PPI_WORDS_MIN > pump->held.most_words;
}

size_t ppi_pump_held_bytes(const struct ppi_pump *pump)
{
	return pump->held.room.record_count * sizeof(*pump->held.room.records) +
	       pump->held.room.word_count * sizeof(*pump->held.room.words);
}

/* So many records may be added to them, of `most`. */
static size_t room_to_hold(const struct ppi_pump *pump, size_t most)
{
	size_t count = pump->held.room.record_count;

	if (count >= pump->held.most_records ||
	    pump->held.room.word_count >= pump->held.most_words)
		return 0;
	return most < pump->held.most_records - count ? most
	                                         : pump->held.most_records - count;
}

static void keep_record(struct ppi_pump *pump, const portprof_record *record,
                        const uint64_t *words)
{
	struct ppi_room *held = &pump->held.room;
	portprof_record *kept = &held->records[held->record_count++];

	*kept = *record;
	kept->payload = held->word_count;
	if (record->payload_words)
		memcpy(held->words + held->word_count, words + record->payload,
		       (size_t)record->payload_words * sizeof(*words));
	held->word_count += (size_t)record->payload_words;
	kept->event_fields = held->word_count;
	if (record->event_field_words)
		memcpy(held->words + held->word_count,
		       words + record->event_fields,
		       (size_t)record->event_field_words * sizeof(*words));
	held->word_count += (size_t)record->event_field_words;
	if (record->kind == PORTPROF_RECORD_SAMPLE)
		pump->held.samples += record->samples;
	pump->held.has_end |= record->kind == PORTPROF_RECORD_EXIT &&
	                 record->pid == record->tid &&
	                 record->pid == pump->target_pid;
}

/* Without the stacks that chains were found in. */
static void keep(struct ppi_pump *pump, const struct ppi_room *room)
{
	const struct ppi_room *held = &pump->held.room;
	size_t words = 0;

	for (size_t i = 0; i < room->record_count; i++)
		words += (size_t)(room->records[i].payload_words +
		                  room->records[i].event_field_words);
	if (make_room(pump, held->record_count + room->record_count,
	              held->word_count + words)) {
		for (size_t i = 0; i < room->record_count; i++)
			keep_record(pump, &room->records[i], room->words);
		return;
	}
	for (size_t i = 0; i < room->record_count; i++)
		if (room->records[i].kind == PORTPROF_RECORD_SAMPLE &&
		    room->records[i].event < pump->event_count)
			tally(pump, &room->records[i], PPI_LOST);
}

static void deliver_held(struct ppi_pump *pump)
{
	const struct ppi_room held = pump->held.room;

	pump->held.room.record_count = pump->held.room.word_count = 0;
	pump->held.samples = 0;
	pump->held.has_end = false;
	if (held.record_count)
		deliver(pump, &held);
}

/* ---- from the backend to either ---- */

/* To the sinks, or to what waits until it is asked for. */
static void pass_on(struct ppi_pump *pump, const struct ppi_room *room)
{
	if (room->record_count && pump->held.is_holding)
		keep(pump, room);
	else if (room->record_count)
		deliver(pump, room);
}

static void pass_set(struct ppi_pump *pump, const portprof_record *sample)
{
	portprof_record record;
	uint64_t words[PPI_WORDS_MIN];
	struct ppi_room told = { .records = &record,
		                 .record_room = 1,
		                 .words = words,
		                 .word_room = PPI_WORDS_MIN };

	ppi_label_finder_tell(pump->labels, sample, &told);
	pass_on(pump, &told);
}

/* In parts, where a set of labels is told before the first sample of it. */
static void pass_labelled(struct ppi_pump *pump, const struct ppi_room *room)
{
	size_t first = 0, next;
	struct ppi_room part;

	do {
		next = ppi_label_finder_see(pump->labels, room, first);
		part = part_of(room, first, next);
		pass_on(pump, &part);
		if (next < room->record_count)
			pass_set(pump, &room->records[next]);
		first = next;
	} while (next < room->record_count);
}

static void pass(struct ppi_pump *pump, struct ppi_room room)
{
	unwind(pump, room);
	if (pump->labels)
		pass_labelled(pump, &room);
	else
		pass_on(pump, &room);
}

/* ---- code that nobody told of ---- */

static void pass_found(struct ppi_pump *pump, const portprof_record *sample)
{
	enum { RECORDS = 32 };
	portprof_record records[RECORDS];
	uint64_t words[PPI_WORDS_MIN];
	struct ppi_room found = { .records = records,
		                  .record_room = RECORDS,
		                  .words = words,
		                  .word_room = PPI_WORDS_MIN };

	ppi_code_watch_look(pump->watch, sample, &found);
	pass(pump, found);
}

/* In parts, where a sample waits for what it fell on. */
static void pass_watched(struct ppi_pump *pump)
{
	const struct ppi_room *room = &pump->room;
	size_t first = 0, seen = 0;

	while (first < room->record_count) {
		size_t next = ppi_code_watch_see(pump->watch, room->records,
		                                 seen, room->record_count);

		pass(pump, part_of(room, first, next));
		if (next < room->record_count)
			pass_found(pump, &room->records[next]);
		first = next;
		seen = next + 1;
	}
}

/* ---- processes that leave nothing ---- */

/* Whether the process that begins at `fork` has ended before what was drawn does, and
 * neither it nor a child of it has a sample there. While the system has it still, one
 * of its end may come, which has its name. */
static bool leaves_nothing(const struct ppi_room *room, size_t fork)
{
	const portprof_record *born = &room->records[fork];
	bool has_ended = false;

	for (size_t i = 0; i < room->record_count; i++) {
		const portprof_record *record = &room->records[i];

		if (record->kind == PORTPROF_RECORD_FORK && i != fork &&
		    record->address == born->pid)
			return false;
		if (record->pid != born->pid || i == fork)
			continue;
		/* another thread, or another process of that number */
		if (record->tid != born->pid || i < fork || has_ended ||
		    record->kind == PORTPROF_RECORD_SAMPLE ||
		    record->kind == PORTPROF_RECORD_LABELS ||
		    record->kind == PORTPROF_RECORD_FORK)
			return false;
		has_ended = record->kind == PORTPROF_RECORD_EXIT;
	}
	return has_ended && ppi_process_is_gone(born->pid);
}

/* Of each command that a shell runs these are its names, its birth and end, and some
 * ten mappings. */
static void leave_out_short(struct ppi_pump *pump)
{
	struct ppi_room *room = &pump->room;
	size_t kept = 0;

	memset(pump->verdicts, false, room->record_count);
	for (size_t i = 0; i < room->record_count; i++) {
		uint32_t pid = room->records[i].pid;

		if (room->records[i].kind != PORTPROF_RECORD_FORK ||
		    !leaves_nothing(room, i))
			continue;
		pump->born++;
		pump->dead++;
		for (size_t k = i; k < room->record_count; k++)
			pump->verdicts[k] |=
				room->records[k].pid == pid &&
				!(room->records[k].valid & PORTPROF_FIELD_KERNEL);
	}
	for (size_t i = 0; i < room->record_count; i++)
		if (!pump->verdicts[i])
			room->records[kept++] = room->records[i];
	room->record_count = kept;
}

/* What was drawn. */
static void pass_all(struct ppi_pump *pump)
{
	if (pump->wants_sampled_only)
		leave_out_short(pump);
	if (pump->watch)
		pass_watched(pump);
	else
		pass(pump, pump->room);
}

/* Code that is valid from that place on. False when nothing of it had room. */
static bool pass_modules(struct ppi_pump *pump, uint64_t place)
{
	bool is_all_told;

	if (pump->area)
		ppi_area_since(pump->area, place);
	do {
		clear_room(pump);
		is_all_told = ppi_modules_tell(pump->modules, place,
		                               &pump->room);
		pass_all(pump);
	} while (!is_all_told && pump->room.record_count);
	return is_all_told;
}

/* What the backend has up to that place, as far as there may be more of what waits.
 * It is asked also where nothing fits: it has other things to do now and then. */
static portprof_status draw_until(struct ppi_pump *pump,
                                  struct ppi_backend_session *bs,
                                  uint64_t place)
{
	const size_t room = pump->room.record_room;
	portprof_status status;
	size_t drawn;

	bs->ticks_end = place;
	do {
		bs->wants_longer_stacks =
			ppi_chain_ends_are_short(&pump->chain_ends);
		clear_room(pump);
		if (pump->held.is_holding)
			pump->room.record_room = room_to_hold(pump, room);
		status = bs->ops->drain(bs, &pump->room);
		pump->room.record_room = room;
		drawn = pump->room.record_count;
		pass_all(pump);
	} while (status == PORTPROF_OK && drawn);
	return status;
}

/* Samples of before, then the code of those that come after, in turn. */
static portprof_status draw(struct ppi_pump *pump,
                            struct ppi_backend_session *bs)
{
	portprof_status status = PORTPROF_OK;
	uint64_t place = ppi_ticks_place(bs);
	bool is_untold;

	if (pump->labels)
		ppi_label_finder_look(pump->labels, pump->area);

	do {
		is_untold = pump->modules &&
		            ppi_modules_next(pump->modules, &place);
		if (bs->ticks || !is_untold)
			status = draw_until(pump, bs, place);
	} while (is_untold && status == PORTPROF_OK &&
	         !ppi_ticks_wait_before(bs, place) &&
	         pass_modules(pump, place));
	return status;
}

portprof_status ppi_pump_hold(struct ppi_pump *pump,
                              struct ppi_backend_session *bs)
{
	portprof_status status;

	pump->held.is_holding = true;
	status = draw(pump, bs);
	pump->held.is_holding = false;
	return status;
}

portprof_status ppi_pump_drain(struct ppi_pump *pump,
                               struct ppi_backend_session *bs)
{
	deliver_held(pump);
	return draw(pump, bs);
}
