/* SPDX-License-Identifier: MIT */
/*
 * Weights of waits as records: with a copy of the stack where a wait is new, as
 * the chain that was told before while it lasts, and as waits that nobody saw.
 */
#include "backends/waits/waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- labels, as fields of the event ---- */

/* In the order of ppi_event.fields. */
enum { FIELD_STATE, FIELD_WAIT, FIELD_ON, FIELD_HOLDER, FIELD_ESTIMATE,
       FIELD_HOLDS, FIELD_WAKER };

enum {
	FIELD_WORDS = (sizeof(portprof_event_field) + 128) / 8,
	FIELDS_WORDS = 7 * FIELD_WORDS, /* of one record */
	STILL_DEPTH = 128,
	LOOK_RECORDS = 8, /* ready; before and here, of two sets each, of which one
	                   * is an estimate in part; a holder */
	LOOK_STACKS = 2   /* its own and the holder's */
};

/* ---- a queue, so that a look is told whole however little room there is ---- */

enum { QUEUE_RECORDS = 64, CODE_WORDS = 8192 };

static size_t look_words(const struct waits_watch *watch)
{
	const struct ppi_plan *plan = watch->bs->plan;
	size_t words = LOOK_RECORDS * FIELDS_WORDS;

	if (plan->chain_depth)
		words += LOOK_RECORDS * STILL_DEPTH + WAITS_FRAMES +
		         LOOK_STACKS * ((sizeof(struct ppi_user_context) +
		                         plan->stack_bytes + 7) / 8);
	return words;
}

portprof_status ppi_waits_queue_open(struct waits_watch *watch,
                                     struct ppi_diag *why)
{
	struct ppi_room *queue = &watch->queue.room;

	queue->record_room = QUEUE_RECORDS;
	queue->word_room = look_words(watch) + CODE_WORDS;
	queue->records = calloc(queue->record_room, sizeof(*queue->records));
	queue->words = calloc(queue->word_room, sizeof(*queue->words));
	if (queue->records && queue->words)
		return PORTPROF_OK;
	ppi_waits_queue_close(watch);
	return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open waits",
	                "out of memory");
}

void ppi_waits_queue_close(struct waits_watch *watch)
{
	free(watch->queue.room.records);
	free(watch->queue.room.words);
	memset(&watch->queue, 0, sizeof(watch->queue));
}

bool ppi_waits_has_room(const struct waits_watch *watch)
{
	const struct ppi_room *queue = &watch->queue.room;

	return queue->record_room - queue->record_count >= LOOK_RECORDS &&
	       queue->word_room - queue->word_count >= look_words(watch);
}

/* Where the words of a record end: where those of the next begin. */
static size_t end_of(const struct ppi_room *queue, size_t record)
{
	const portprof_record *next = &queue->records[record + 1];

	if (record + 1 == queue->record_count)
		return queue->word_count;
	return (size_t)(next->valid & PORTPROF_FIELD_EVENT_FIELDS
	                ? next->event_fields : next->payload);
}

bool ppi_waits_pass_on(struct waits_watch *watch, struct ppi_room *room)
{
	struct ppi_room *queue = &watch->queue.room;

	while (watch->queue.next < queue->record_count) {
		portprof_record record = queue->records[watch->queue.next];
		size_t first = watch->queue.word;
		size_t end = end_of(queue, watch->queue.next);
		size_t shift = room->word_count - first;

		if (room->record_count == room->record_room)
			return false;
		if (room->word_room - room->word_count < end - first) {
			if (room->record_count)
				return false;
			/* no room is so large: without the stack */
			record.valid &= ~(PPI_FIELD_CONTEXT | PPI_FIELD_KEEP);
			record.payload_words = 0;
			end = first + (size_t)record.event_field_words;
		}
		memcpy(room->words + room->word_count, queue->words + first,
		       (end - first) * sizeof(*room->words));
		room->word_count += end - first;
		record.payload += shift;
		if (record.valid & PORTPROF_FIELD_EVENT_FIELDS)
			record.event_fields += shift;
		room->records[room->record_count++] = record;
		watch->queue.word = end_of(queue, watch->queue.next++);
	}
	queue->record_count = queue->word_count = 0;
	watch->queue.next = watch->queue.word = 0;
	return true;
}

/* ---- labels ---- */

static void put_field(uint64_t *words, size_t *count, uint32_t index,
                      const char *text)
{
	portprof_event_field field = {
		.index = index,
		.text_bytes = (uint32_t)strlen(text) + 1,
	};
	size_t text_words = (field.text_bytes + 7) / 8;

	if (!text[0])
		return;
	memcpy(words + *count, &field, sizeof(field));
	*count += sizeof(field) / 8;
	memset(words + *count, 0, text_words * 8);
	memcpy(words + *count, text, field.text_bytes);
	*count += text_words;
}

static size_t make_fields(const struct waits_place *place, bool is_ready,
                          bool is_seen, bool is_estimate, uint64_t *words)
{
	size_t count = 0;

	put_field(words, &count, FIELD_STATE, is_ready ? "ready" : "blocked");
	if (is_seen && !is_ready) {
		put_field(words, &count, FIELD_WAIT,
		          ppi_waits_kinds[place->kind]);
		put_field(words, &count, FIELD_ON, place->on);
		put_field(words, &count, FIELD_HOLDER, place->holder);
	}
	if (is_estimate)
		put_field(words, &count, FIELD_ESTIMATE, "1");
	else if (is_seen && !is_ready)
		put_field(words, &count, FIELD_WAKER, place->waker);
	return count;
}

/* ---- stacks ---- */

/* As a sample carries it; 0 words where it cannot be read. */
static size_t make_context(struct waits_watch *watch,
                           const struct waits_thread *thread,
                           const struct waits_place *place, uint64_t *words,
                           size_t room)
{
	const struct waits_kernel *kernel = watch->kernel;
	struct ppi_user_context context = {
		.known = UINT64_C(1) << kernel->sp | UINT64_C(1) << kernel->pc,
	};
	size_t most = watch->bs->plan->stack_bytes & ~(size_t)7;
	int64_t got;

	if (!most || room < (sizeof(context) + most) / 8 || !place->sp)
		return 0;
	got = kernel->memory(kernel->self, thread->process->pid, place->sp,
	                     words + sizeof(context) / 8, most);
	if (got <= 0)
		return 0;
	context.registers[kernel->sp] = place->sp;
	context.registers[kernel->pc] = place->pc;
	context.stack_bytes = (uint32_t)got & ~7u;
	/* it went on as far as memory does */
	context.is_stack_all = (uint64_t)got < most;
	memcpy(words, &context, sizeof(context));
	return (sizeof(context) + context.stack_bytes) / 8;
}

/* ---- a record ---- */

static bool wants(const struct waits_watch *watch, bool is_ready,
                  uint32_t *event)
{
	size_t number = is_ready ? watch->ready_event : watch->blocked_event;

	*event = (uint32_t)number;
	return number != SIZE_MAX;
}

/* For a chain that was found before. */
static void add_room(struct ppi_room *queue, portprof_record *record)
{
	memset(queue->words + queue->word_count, 0, STILL_DEPTH * 8);
	record->payload_words = STILL_DEPTH;
	queue->word_count += STILL_DEPTH;
}

/* Frames in the kernel, and a stack to be unwound behind them. */
static void add_stack(struct waits_watch *watch, struct waits_thread *thread,
                      portprof_record *record)
{
	struct ppi_room *queue = &watch->queue.room;
	uint64_t *words = queue->words + queue->word_count;
	size_t room = queue->word_room - queue->word_count;
	size_t frames = ppi_waits_frames(watch, thread, words, room);
	size_t stack = make_context(watch, thread, &thread->at, words + frames,
	                            room - frames);

	thread->has_chain = stack > 0;
	thread->at.kernel_pc = stack && frames ? words[0] : 0;
	if (!stack)
		return;
	record->valid |= PPI_FIELD_CONTEXT | PPI_FIELD_KEEP;
	record->payload_words = frames;
	queue->word_count += frames + stack;
}

/* The chain: a stack to be unwound, or what the last one of this thread was. */
static void add_chain(struct waits_watch *watch, struct waits_thread *thread,
                      enum waits_part part, portprof_record *record)
{
	record->payload = watch->queue.room.word_count;
	if (part == WAITS_RAN && watch->has_samples)
		record->valid |= PPI_FIELD_AGAIN | PPI_FIELD_RAN;
	if (part == WAITS_RAN && watch->bs->plan->chain_depth)
		add_room(&watch->queue.room, record);
	if (!watch->bs->plan->chain_depth || part == WAITS_UNSEEN ||
	    part == WAITS_RAN)
		return;
	if (part == WAITS_HERE) {
		add_stack(watch, thread, record);
	} else if (thread->has_chain) {
		record->valid |= PPI_FIELD_AGAIN;
		add_room(&watch->queue.room, record);
	}
	if (thread->has_chain && thread->at.kernel_pc) {
		record->user_address = record->address;
		record->address = thread->at.kernel_pc;
		record->valid |= PORTPROF_FIELD_KERNEL |
		                 PORTPROF_FIELD_USER_ADDRESS;
	}
}

/* Its stack was copied after the place and the set were read: one that has changed
 * sets since may have been copied in another wait. */
static bool is_elsewhere(const struct waits_watch *watch,
                         const struct waits_thread *thread)
{
	struct ppi_label_state now;

	ppi_waits_read_labels(watch, thread, false, &now);
	return ppi_waits_set_between(&thread->labels.looked, &now) ==
	       PPI_LABELS_UNKNOWN;
}

static void say_set(const struct waits_watch *watch, portprof_record *record,
                    uint32_t set)
{
	if (!watch->bs->labels)
		return;
	record->label_set = set;
	record->valid |= PPI_FIELD_LABELLED |
	                 (set ? (uint32_t)PORTPROF_FIELD_LABELS : 0);
}

/* A wait counts once: where it is met, or, if all of its time is held back then, with
 * the first of that. */
static bool is_counted(const struct waits_thread *thread, enum waits_part part,
                       bool is_ready, uint64_t ns)
{
	bool is_due = thread->end.is_uncounted;

	return part == WAITS_STILL ? is_due && !is_ready : ns || !is_due;
}

void ppi_waits_tell(struct waits_watch *watch, struct waits_thread *thread,
                    enum waits_part part, bool is_ready, bool is_estimate,
                    struct waits_share share)
{
	const struct waits_place *place = &thread->at;
	struct ppi_room *queue = &watch->queue.room;
	bool is_seen = part != WAITS_UNSEEN && part != WAITS_RAN &&
	               place->is_known;
	portprof_record record = {
		.kind = PORTPROF_RECORD_SAMPLE,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID |
		         PORTPROF_FIELD_TIME | PORTPROF_FIELD_EVENT_FIELDS,
		.pid = (uint32_t)thread->process->pid,
		.tid = (uint32_t)thread->tid,
		.time_ns = watch->now_ns,
		.address = is_seen ? place->pc : 0,
		.span = 1,
		.weight = share.ns,
		.samples = is_counted(thread, part, is_ready, share.ns),
	};

	if (!wants(watch, is_ready, &record.event) ||
	    (share.ns == 0 && part != WAITS_HERE))
		return;
	thread->end.is_uncounted &= share.ns == 0 || is_ready;
	if (!is_seen)
		record.valid |= PORTPROF_FIELD_NOT_SEEN;
	record.event_fields = queue->word_count;
	record.event_field_words =
		make_fields(place, is_ready, is_seen || place->is_charged,
	                    is_estimate, queue->words + queue->word_count);
	queue->word_count += (size_t)record.event_field_words;
	add_chain(watch, thread,
	          is_seen || part == WAITS_RAN ? part : WAITS_UNSEEN, &record);
	if (record.valid & PPI_FIELD_CONTEXT && is_elsewhere(watch, thread))
		share.set = thread->labels.here = PPI_LABELS_UNKNOWN;
	say_set(watch, &record, share.set);
	queue->records[queue->record_count++] = record;
	if (is_ready)
		watch->told.ready += share.ns;
	else
		watch->told.blocked += share.ns;
}

void ppi_waits_tell_holder(struct waits_watch *watch,
                           const struct waits_thread *waiter)
{
	struct waits_thread *holder =
		ppi_waits_thread(watch, waiter->at.held_by);
	struct ppi_room *queue = &watch->queue.room;
	struct ppi_label_state before, after;
	struct waits_place place;
	portprof_record record = {
		.kind = PORTPROF_RECORD_SAMPLE,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID |
		         PORTPROF_FIELD_TIME | PORTPROF_FIELD_EVENT_FIELDS,
		.time_ns = watch->now_ns,
		.span = 1,
	};
	size_t count = 0;

	if (!holder || !wants(watch, false, &record.event))
		return;
	ppi_waits_read_labels(watch, holder, false, &before);
	if (ppi_waits_place(watch, holder, &place))
		return;
	record.pid = (uint32_t)holder->process->pid;
	record.tid = (uint32_t)holder->tid;
	record.event_fields = queue->word_count;
	put_field(queue->words + queue->word_count, &count, FIELD_STATE,
	          "blocked");
	put_field(queue->words + queue->word_count, &count, FIELD_HOLDS,
	          waiter->at.on);
	record.event_field_words = count;
	queue->word_count += count;
	record.payload = queue->word_count;
	if (place.phase == WAITS_BLOCKED && place.is_known) {
		record.address = place.pc;
		count = watch->bs->plan->chain_depth
			? make_context(watch, holder, &place,
		                       queue->words + queue->word_count,
		                       queue->word_room - queue->word_count)
			: 0;
		queue->word_count += count;
		if (count)
			record.valid |= PPI_FIELD_CONTEXT;
	} else {
		/* who runs is where its last sample was */
		record.valid |= PORTPROF_FIELD_NOT_SEEN;
		if (place.phase == WAITS_RUNNABLE)
			add_chain(watch, holder, WAITS_RAN, &record);
	}
	ppi_waits_read_labels(watch, holder, true, &after);
	say_set(watch, &record, ppi_waits_set_between(&before, &after));
	queue->records[queue->record_count++] = record;
}

/* ---- code and names ---- */

/* A mapping that is to be told, its path behind it. */
struct code {
	uint64_t start, limit, offset;
	char path[256];
};

#define CODE_FIRST_NS UINT64_C(500000000)
#define CODE_LAST_NS  UINT64_C(16000000000)

struct reading {
	struct waits_process *process;
	bool has_news;
};

static void take_code(void *context, uint64_t start, uint64_t limit,
                      uint64_t offset, const char *path)
{
	struct reading *reading = context;
	struct ppi_vector *known = &reading->process->code;
	struct code *code = known->data;
	struct code new = { .start = start, .limit = limit, .offset = offset };

	snprintf(new.path, sizeof(new.path), "%s", path[0] ? path : "//anon");
	for (size_t i = known->count; i > 0; i--) {
		if (code[i - 1].limit <= start || code[i - 1].start >= limit)
			continue;
		if (code[i - 1].start == start && code[i - 1].limit == limit &&
		    code[i - 1].offset == offset &&
		    strcmp(code[i - 1].path, new.path) == 0)
			return;
		break;
	}
	reading->has_news |= ppi_vector_add(known, sizeof(new), &new, 1);
}

/* Read when a wait is at a new place, and less and less often. */
static void read_code(struct waits_watch *watch, struct waits_process *process)
{
	struct reading reading = { .process = process };

	watch->kernel->each_code(watch->kernel->self, process->pid, take_code,
	                         &reading);
	process->code_wait_ns = reading.has_news || !process->code_wait_ns
		? CODE_FIRST_NS : 2 * process->code_wait_ns;
	if (process->code_wait_ns > CODE_LAST_NS)
		process->code_wait_ns = CODE_LAST_NS;
	process->code_ns = watch->now_ns + process->code_wait_ns;
}

#define NAME_FIRST_NS UINT64_C(5000000)
#define NAME_LAST_NS  UINT64_C(2000000000)

/* False: there is no room, and nothing has changed. */
static bool tell_name(struct waits_watch *watch, struct waits_thread *thread)
{
	struct waits_name *name = &thread->name;
	portprof_record record = {
		.kind = PORTPROF_RECORD_THREAD,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID,
		.pid = (uint32_t)thread->process->pid,
		.tid = (uint32_t)thread->tid,
	};
	char text[64];
	bool is_new;

	if (watch->now_ns < name->next_ns ||
	    ppi_waits_read(watch, thread, "comm", text, sizeof(text)) <= 0)
		return true;
	text[strcspn(text, "\n")] = '\0';
	text[sizeof(name->text) - 1] = '\0';
	is_new = strcmp(text, name->text) != 0;
	if (is_new && !ppi_room_add_name(&watch->queue.room, &record, text))
		return false;
	memcpy(name->text, text, sizeof(name->text));
	name->pause_ns = is_new ? NAME_FIRST_NS : 2 * name->pause_ns;
	if (name->pause_ns > NAME_LAST_NS)
		name->pause_ns = NAME_LAST_NS;
	name->next_ns = watch->now_ns + name->pause_ns;
	return true;
}

bool ppi_waits_tell_code(struct waits_watch *watch,
                         struct waits_thread *thread, bool is_new_place)
{
	struct waits_process *process = thread->process;

	if (!watch->tells_code || process->is_awaited)
		return true;
	if (!tell_name(watch, thread))
		return false;
	if (is_new_place && watch->now_ns >= process->code_ns)
		read_code(watch, process);
	while (process->code_told < process->code.count) {
		const struct code *code =
			&PPI_AT(&process->code, struct code)[process->code_told];
		const portprof_record record = {
			.kind = PORTPROF_RECORD_MODULE,
			.valid = PORTPROF_FIELD_PID,
			.pid = (uint32_t)process->pid,
			.address = code->start,
			.span = code->limit - code->start,
		};

		if (!ppi_room_add_module(&watch->queue.room, &record, code->offset,
		                         NULL, 0, code->path))
			return false;
		process->code_told++;
	}
	return ppi_waits_has_room(watch);
}
