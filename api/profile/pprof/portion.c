/* SPDX-License-Identifier: MIT */
/* Encodes a portion: what is new since the last one, as messages of the schema
 * in one gzip member. api/profile/pprof/output.c writes it. */
#include "api/profile/writer.h"

#include "api/profile/pprof/account.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>

/* ---- labels of samples ---- */

/* pid, tid, thread, span, time, code_time, chain_end; and a set. */
enum { LABELS_MAX = 7 + PPI_SET_LABELS_MAX + PPI_SERVICE_LABELS };

/* The strings that labels are made of. */
enum {
	WORD_PID, WORD_TID, WORD_THREAD, WORD_SPAN, WORD_BYTES, WORD_CHAIN_END,
	WORD_CODE_TIME, WORD_NANOSECONDS, WORD_TIME, WORD_MILLISECONDS, WORDS
};

/* Their numbers; 0 of those that no sample needs. */
static bool enter_label_words(struct ppi_locations *locations,
                              const struct ppi_sample_table *table,
                              uint32_t words[WORDS])
{
	bool is_cut = table->has_cut_chains, has_code = table->has_code_times;
	bool has_times = table->slice_ns != 0;
	const char *const texts[WORDS] = {
		[WORD_PID] = "pid",
		[WORD_TID] = "tid",
		[WORD_THREAD] = "thread",
		[WORD_SPAN] = "span",
		[WORD_BYTES] = "bytes",
		[WORD_CHAIN_END] = is_cut ? PPI_CHAIN_END_LABEL : NULL,
		[WORD_CODE_TIME] = has_code ? PPI_CODE_TIME_LABEL : NULL,
		[WORD_NANOSECONDS] = has_code ? PPI_CODE_TIME_UNIT : NULL,
		[WORD_TIME] = has_times ? PPI_TIME_LABEL : NULL,
		[WORD_MILLISECONDS] = has_times ? PPI_TIME_UNIT : NULL,
	};

	for (size_t i = 0; i < WORDS; i++) {
		words[i] = texts[i] ? ppi_locations_string(locations, texts[i])
		                    : 0;
		if (words[i] == PPI_NONE)
			return false;
	}
	return true;
}

/* ---- what is new since the last portion ---- */

static void put_strings(struct ppi_writer *writer)
{
	struct ppi_locations *locations = &writer->locations;
	size_t count = ppi_pool_count(&locations->strings);

	for (size_t i = locations->strings_written; i < count; i++) {
		size_t bytes;
		const char *text =
			ppi_pool_key(&locations->strings, (uint32_t)i, &bytes);

		ppi_encode_string(&writer->encoder, text, bytes);
	}
	locations->strings_written = count;
}

static void put_mappings(struct ppi_writer *writer)
{
	struct ppi_locations *locations = &writer->locations;
	Ppi__Mapping message = PPI__MAPPING__INIT;

	for (size_t i = locations->listed_written; i < locations->listed.count;
	     i++) {
		uint32_t number = PPI_AT(&locations->listed, uint32_t)[i];
		const struct ppi_file_mapping *entry =
			ppi_locations_mapping_at(locations, number);

		message.id = number + 1u;
		message.memory_start = entry->start;
		message.memory_limit = entry->limit;
		message.file_offset = entry->file_offset;
		message.filename = entry->path;
		message.build_id = entry->build_id;
		ppi_encode(&writer->encoder, PPI_FIELD_MAPPING, &message);
	}
	locations->listed_written = locations->listed.count;
}

static void put_locations(struct ppi_writer *writer)
{
	struct ppi_locations *locations = &writer->locations;
	size_t count = ppi_pool_count(&locations->keys);
	Ppi__Location message = PPI__LOCATION__INIT;

	for (size_t i = locations->locations_written; i < count; i++) {
		const struct ppi_location_key *key =
			ppi_pool_key(&locations->keys, (uint32_t)i, NULL);

		message.id = locations->location_base + i + 1;
		message.mapping_id =
			key->mapping == PPI_NONE ? 0 : key->mapping + 1;
		message.address = key->address;
		ppi_encode(&writer->encoder, PPI_FIELD_LOCATION, &message);
	}
	locations->locations_written = count;
}

/* Of a process, or a thread: not the idle task's, nor of one that has ended. */
static bool is_number(uint32_t id)
{
	return id != 0 && id != UINT32_MAX;
}

/* The labels of a line; returns how many. */
static size_t make_labels(struct ppi_writer *writer,
                          const struct ppi_sample_line *line,
                          const uint32_t words[WORDS], Ppi__Label *labels)
{
	struct ppi_label_ids of_fields[PPI_SET_LABELS_MAX + PPI_SERVICE_LABELS];
	size_t count = 0, fields;

	if (is_number(line->pid))
		labels[count++] = (Ppi__Label){ .key = words[WORD_PID],
			                        .num = line->pid };
	if (is_number(line->tid))
		labels[count++] = (Ppi__Label){ .key = words[WORD_TID],
			                        .num = line->tid };
	if (line->name)
		labels[count++] = (Ppi__Label){ .key = words[WORD_THREAD],
			                        .str = line->name };
	if (line->span)
		labels[count++] = (Ppi__Label){ .key = words[WORD_SPAN],
			                        .num = line->span,
			                        .num_unit = words[WORD_BYTES] };
	if (line->time_ms)
		labels[count++] =
			(Ppi__Label){ .key = words[WORD_TIME],
			              .num = (int64_t)line->time_ms,
			              .num_unit = words[WORD_MILLISECONDS] };
	if (line->code_time_ns)
		labels[count++] =
			(Ppi__Label){ .key = words[WORD_CODE_TIME],
			              .num = (int64_t)line->code_time_ns,
			              .num_unit = words[WORD_NANOSECONDS] };
	if (line->chain_end > PORTPROF_CHAIN_WHOLE)
		labels[count++] =
			(Ppi__Label){ .key = words[WORD_CHAIN_END],
			              .num = (int64_t)line->chain_end };
	fields = ppi_sample_labels_make(&writer->labels, line->labels,
	                                &writer->locations, of_fields);
	if (is_number(line->pid))
		fields += ppi_label_texts_service(&writer->labels.texts,
		                                  line->pid,
		                                  &writer->locations,
		                                  of_fields + fields);
	for (size_t i = 0; i < fields; i++)
		labels[count++] = (Ppi__Label){ .key = of_fields[i].key,
			                        .str = of_fields[i].text,
			                        .num_unit = of_fields[i].unit,
			                        .num = of_fields[i].number };
	for (size_t i = 0; i < count; i++)
		labels[i].base = (ProtobufCMessage)PROTOBUF_C_MESSAGE_INIT(
			&ppi__label__descriptor);
	return count;
}

static void put_samples(struct ppi_writer *writer,
                        const uint32_t words[WORDS])
{
	struct ppi_sample_table *table = &writer->table;
	Ppi__Sample message = PPI__SAMPLE__INIT;
	Ppi__Label labels[LABELS_MAX], *pointers[LABELS_MAX];

	for (size_t i = 0; i < LABELS_MAX; i++)
		pointers[i] = &labels[i];
	message.label = pointers;
	message.n_value = 2 * table->event_count;
	for (size_t i = 0; i < ppi_sample_table_count(table); i++) {
		const struct ppi_sample_line *line =
			&PPI_AT(&table->lines, struct ppi_sample_line)[i];

		message.n_label = make_labels(writer, line, words, labels);
		message.n_location_id = line->depth;
		message.location_id =
			PPI_AT(&table->chains, uint64_t) + line->chain;
		message.value =
			PPI_AT(&table->values, int64_t) + i * message.n_value;
		ppi_encode(&writer->encoder, PPI_FIELD_SAMPLE, &message);
	}
}

static void put_thread(struct ppi_thread *thread, void *context)
{
	struct ppi_writer *writer = context;
	Ppi__Thread message = PPI__THREAD__INIT;

	if (thread->is_told || !is_number(thread->tid) ||
	    (!thread->name[0] && !thread->owner))
		return;
	ppi_text_mend(thread->name);
	message.pid = thread->pid;
	message.tid = thread->tid;
	message.name = thread->name;
	message.owner = thread->owner;
	message.began_ns = thread->began_ns;
	ppi_encode(&writer->encoder, PPI_FIELD_THREAD, &message);
	thread->is_told = true;
}

static void put_threads(struct ppi_writer *writer)
{
	if (writer->threads.has_untold)
		ppi_threads_each(&writer->threads, put_thread, writer);
	writer->threads.has_untold = false;
}

/* ---- the account ---- */

uint64_t ppi_portion_numbers(const struct ppi_run *run)
{
	uint64_t sum = run->note_count;

	for (size_t i = 0; run->stats && i < run->plan->event_count; i++)
		sum += run->stats[i].delivered_samples +
		       run->stats[i].lost_samples + run->stats[i].total_weight;
	return sum;
}

/* How the account calls what was measured: the program's own file. */
static const char *command_of(const struct ppi_locations *locations)
{
	if (locations->main_mapping == PPI_NONE)
		return "";
	return ppi_pool_key(
		&locations->strings,
		ppi_locations_mapping_at(locations, locations->main_mapping)
			->path,
		NULL);
}

/* What this writer alone knows to be wrong. */
static bool add_notes(const struct ppi_writer *writer, struct ppi_arena *arena,
                      Ppi__Account *account)
{
	char note[3][160];
	const bool is_said[3] = {
		ppi_label_texts_note(&writer->labels.texts, note[0],
		                     sizeof(note[0])),
		ppi_sample_labels_note(&writer->labels, note[1],
		                       sizeof(note[1])),
		ppi_threads_note(&writer->threads, note[2], sizeof(note[2])),
	};

	for (size_t i = 0; i < 3; i++)
		if (is_said[i] && !ppi_account_add_note(arena, account, note[i]))
			return false;
	return true;
}

/* The account and the times: whatever stood in earlier portions is void. */
static Ppi__Account *put_account(struct ppi_writer *writer,
                                 struct ppi_arena *arena,
                                 const struct ppi_run *run, bool is_complete)
{
	Ppi__Profile part = PPI__PROFILE__INIT;
	Ppi__Account *account = ppi_account_of_run(arena, run,
	                                           &writer->machine);
	const struct ppi_locations *locations = &writer->locations;

	if (!account || !add_notes(writer, arena, account))
		return NULL;
	account->complete = is_complete;
	account->command = ppi_account_text(
		arena, run->plan->command ? run->plan->command
					  : command_of(locations));
	if (!account->command)
		return NULL;
	if (locations->main_mapping != PPI_NONE)
		account->main_mapping = locations->main_mapping + 1u;
	/* pprof takes a second time for a sign of files put together blindly */
	if (!writer->is_time_told && run->start_realtime_ns) {
		part.time_nanos = (int64_t)run->start_realtime_ns;
		writer->is_time_told = true;
	}
	part.duration_nanos = (int64_t)run->duration_ns;
	part.n_account = 1;
	part.account = &account;
	ppi_encode_part(&writer->encoder, &part);
	writer->told_numbers = ppi_portion_numbers(run);
	return account;
}

/* ---- another file ---- */

static void forget_thread(struct ppi_thread *thread, void *context)
{
	(void)context;
	thread->is_told = false;
}

/* Strings and mappings keep their numbers, of which others know; a reader drops
 * those that nothing in the file is of. */
void ppi_portion_forget(struct ppi_writer *writer)
{
	struct ppi_locations *locations = &writer->locations;
	struct ppi_file_mapping *mappings = locations->mapping.data;

	for (size_t i = 0; i < locations->mapping.count; i++)
		mappings[i].is_listed = false;
	locations->listed.count = 0;
	locations->listed_written = 0;
	locations->strings_written = 0;
	ppi_locations_forget(locations);
	ppi_threads_each(&writer->threads, forget_thread, NULL);
	writer->threads.has_untold = true;
	writer->is_time_told = false;
}

/* ---- a portion ---- */

static int end_portion(struct ppi_writer *writer)
{
	int error;

	put_strings(writer); /* last: the others may have made new ones */
	error = ppi_gzip_end(&writer->encoder.gzip);
	writer->is_pending = !error;
	return error;
}

/* For people only: how far apart samples are in the first event's unit, as the
 * kernel granted it. */
static int64_t period_of(const struct ppi_run *run)
{
	const struct ppi_event *event = &run->plan->events[0];
	const portprof_stats *stats = run->stats;

	if (stats && stats->granted_period)
		return (int64_t)stats->granted_period;
	if (event->period)
		return (int64_t)event->period;
	if (event->rate_hz && event->unit == PORTPROF_UNIT_NANOSECONDS)
		return (int64_t)(1000000000u / event->rate_hz);
	return 0;
}

/* What the kernel granted is known from the start on; the last one counts. */
static void put_period(struct ppi_writer *writer, const struct ppi_run *run)
{
	Ppi__Profile part = PPI__PROFILE__INIT;

	part.period = period_of(run);
	ppi_encode_part(&writer->encoder, &part);
}

int ppi_portion_next(struct ppi_writer *writer, const struct ppi_run *run,
                     bool is_complete)
{
	struct ppi_arena arena = { 0 };
	uint32_t words[WORDS];
	bool is_made =
		enter_label_words(&writer->locations, &writer->table, words) &&
		ppi_sample_table_finish(&writer->table);

	writer->pending_samples = writer->table.samples;
	writer->pending_weight = writer->table.weight;
	ppi_gzip_begin(&writer->encoder.gzip);
	if (is_made) {
		put_mappings(writer);
		put_locations(writer);
		put_samples(writer, words);
		put_threads(writer);
	}
	if (is_made && run) {
		put_period(writer, run);
		is_made = put_account(writer, &arena, run, is_complete);
	}
	ppi_arena_free(&arena);
	ppi_sample_table_clear(&writer->table);
	writer->has_news = false;
	return is_made ? end_portion(writer) : ENOMEM;
}

/* ---- the first portion ---- */

/* Types, comments and times of a new file. */
struct first {
	struct ppi_writer *writer;
	Ppi__Profile part;
	struct ppi_vector comments; /* int64_t: strings */
	bool failed;
};

static int64_t enter(struct first *first, const char *text)
{
	uint32_t number = ppi_locations_string(&first->writer->locations, text);

	if (number == PPI_NONE)
		first->failed = true;
	return number;
}

static void add_comment(const char *line, void *context)
{
	struct first *first = context;
	int64_t text = enter(first, line);

	if (!ppi_vector_add(&first->comments, sizeof(text), &text, 1))
		first->failed = true;
}

static int64_t enter_unit(struct first *first, const struct ppi_event *event)
{
	return enter(first, event->unit == PORTPROF_UNIT_NANOSECONDS
	                            ? "nanoseconds"
	                            : "count");
}

static void put_types(struct first *first, const struct ppi_plan *plan)
{
	size_t events = plan->event_count;
	Ppi__ValueType type = PPI__VALUE_TYPE__INIT;
	char name[300], count_name[320];

	for (size_t value = 0; value < 2 * events; value++) {
		bool is_count = value < events;
		size_t i = is_count ? value : 2 * events - 1 - value;

		ppi_type_name(plan->events, i, name, sizeof(name));
		snprintf(count_name, sizeof(count_name), "samples%s%s",
		         i ? ":" : "", i ? name : "");
		type.type = enter(first, is_count ? count_name : name);
		type.unit = is_count ? enter(first, "count")
		                     : enter_unit(first, &plan->events[i]);
		ppi_encode(&first->writer->encoder, PPI_FIELD_SAMPLE_TYPE,
		           &type);
	}
	ppi_encode(&first->writer->encoder, PPI_FIELD_PERIOD_TYPE, &type);
	first->part.default_sample_type = type.type; /* the last one */
}

int ppi_portion_first(struct ppi_writer *writer, const struct ppi_run *run)
{
	struct first first = { .writer = writer, .part = PPI__PROFILE__INIT };
	struct ppi_arena arena = { 0 };
	const Ppi__Account *account;

	ppi_gzip_begin(&writer->encoder.gzip);
	put_types(&first, run->plan);
	account = put_account(writer, &arena, run, false);
	if (account)
		ppi_account_say(account, false, add_comment, &first);
	first.part.n_comment = first.comments.count;
	first.part.comment = first.comments.data;
	first.part.period = period_of(run);
	ppi_encode_part(&writer->encoder, &first.part);
	ppi_vector_free(&first.comments);
	ppi_arena_free(&arena);
	return account && !first.failed ? end_portion(writer) : ENOMEM;
}
