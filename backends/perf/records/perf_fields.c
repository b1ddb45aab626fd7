/* SPDX-License-Identifier: MIT */
/*
 * What only some samples have, in neutral words: fields of a tracepoint's
 * occurrence, and what some hardware reports of one of its own (bits as
 * linux/perf_event.h has them, 6.1).
 */
#include "config.h"

#include "backends/perf/records/perf_fields.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- fields of a tracepoint: where each lies ---- */

/*
 * What a tracepoint reports of an occurrence, field by field: where each lies is in
 * its file `format` (Documentation/trace/events.rst), in lines such as
 *
 *	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *
 * A text whose length varies is a word: 16 bits where it begins, above them its
 * length (include/trace/stages/stage1_struct_define.h, __data_loc and __rel_loc).
 */
static bool begins(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

/* Whether a word stands alone in the type: "const char", and not "unsigned
 * char", of which there are addresses and bytes. */
static bool is_of_letters(const char *type, size_t bytes)
{
	char text[96];

	snprintf(text, sizeof(text), "%.*s", (int)bytes, type);
	return strstr(text, "char") && !strstr(text, "unsigned") &&
	       !strchr(text, '*');
}

static enum perf_raw_kind kind_of(const char *type, size_t bytes,
                                  bool is_array, unsigned size, bool is_signed)
{
	bool is_text = is_of_letters(type, bytes);

	if (begins(type, "__data_loc"))
		return is_text ? PERF_RAW_TEXT_AT : PERF_RAW_OTHER;
	if (begins(type, "__rel_loc"))
		return is_text ? PERF_RAW_TEXT_BEHIND : PERF_RAW_OTHER;
	if (is_array)
		return is_text ? PERF_RAW_TEXT : PERF_RAW_OTHER;
	if ((size != 1 && size != 2 && size != 4 && size != 8) ||
	    (begins(type, "struct ") && !memchr(type, '*', bytes)))
		return PERF_RAW_OTHER;
	return is_signed ? PERF_RAW_SIGNED : PERF_RAW_UNSIGNED;
}

static bool read_field(const char *line, struct perf_raw_field *field)
{
	const char *end = strchr(line, ';'), *name;
	unsigned offset, size, is_signed = 0;

	if (!end || sscanf(end, "; offset:%u; size:%u; signed:%u", &offset,
	                   &size, &is_signed) < 2 ||
	    offset > UINT16_MAX || size > UINT16_MAX)
		return false;
	for (name = end; name > line && name[-1] != ' ' && name[-1] != '*';)
		name--;
	field->name = name;
	field->name_bytes = strcspn(name, "[;");
	field->offset = (uint16_t)offset;
	field->bytes = (uint16_t)size;
	field->kind = kind_of(line, (size_t)(name - line),
	                      name[field->name_bytes] == '[', size,
	                      is_signed);
	return field->name_bytes > 0;
}

static bool next_field(const char **at, struct perf_raw_field *field)
{
	while ((*at = strstr(*at, "field:"))) {
		*at += strlen("field:");
		if (read_field(*at, field))
			return true;
	}
	return false;
}

bool ppi_perf_raw_next(const char **at, struct perf_raw_field *field)
{
	while (next_field(at, field))
		if (!begins(field->name, "common_"))
			return true;
	return false;
}

bool ppi_perf_raw_find(const char *format, const char *name, size_t bytes,
                       struct perf_raw_field *field)
{
	while (next_field(&format, field))
		if (field->name_bytes == bytes &&
		    memcmp(field->name, name, bytes) == 0)
			return true;
	return false;
}

/* ---- fields of a tracepoint: from a record ---- */

/* As the machine has it, lowest byte first or last. */
static uint64_t number_at(const unsigned char *from, size_t bytes)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (bytes) {
	case 1:
		return *from;
	case 2:
		memcpy(&two, from, sizeof(two));
		return two;
	case 4:
		memcpy(&four, from, sizeof(four));
		return four;
	default:
		memcpy(&eight, from, sizeof(eight));
		return eight;
	}
}

static int64_t signed_number(uint64_t number, size_t bytes)
{
	uint64_t sign = UINT64_C(1) << (bytes * 8 - 1);

	return (int64_t)((number ^ sign) - sign);
}

/* Where a text lies; false: not in the record. */
static bool find_text(const struct perf_raw_field *field,
                      const struct perf_seen *seen, size_t *at, size_t *bytes)
{
	uint32_t word;

	*at = field->offset;
	*bytes = field->bytes;
	if (field->kind != PERF_RAW_TEXT) {
		word = (uint32_t)number_at(seen->raw + field->offset, 4);
		*at = (word & 0xffff) + (field->kind == PERF_RAW_TEXT_BEHIND
			? (size_t)field->offset + 4 : 0);
		*bytes = word >> 16;
	}
	return *at <= seen->raw_bytes && *bytes <= seen->raw_bytes - *at;
}

static void add_text(portprof_event_field *out, const unsigned char *text,
                     size_t bytes, struct ppi_room *room)
{
	size_t length = strnlen((const char *)text, bytes);

	if (length >= PERF_RAW_TEXT_BYTES)
		length = PERF_RAW_TEXT_BYTES - 1;
	out->text_bytes = (uint32_t)length + 1;
	memset(&room->words[room->word_count], 0, (length + 8) / 8 * 8);
	memcpy(&room->words[room->word_count], text, length);
	room->word_count += (length + 8) / 8;
}

void ppi_perf_raw_add(const struct perf_raw_field *field, unsigned index,
                      const struct perf_seen *seen, struct ppi_room *room)
{
	portprof_event_field out = { .index = index };
	size_t head = room->word_count, at, bytes;
	uint64_t number;

	if ((size_t)field->offset + field->bytes > seen->raw_bytes)
		return;
	if (field->kind == PERF_RAW_SIGNED ||
	    field->kind == PERF_RAW_UNSIGNED) {
		number = number_at(seen->raw + field->offset, field->bytes);
		out.number = field->kind == PERF_RAW_SIGNED
			? signed_number(number, field->bytes) : (int64_t)number;
		room->word_count += sizeof(out) / 8;
	} else {
		if (!find_text(field, seen, &at, &bytes))
			return;
		room->word_count += sizeof(out) / 8;
		add_text(&out, seen->raw + at, bytes, room);
	}
	memcpy(&room->words[head], &out, sizeof(out));
}

/* ---- fields of the hardware: asking ---- */

enum { BRANCH_WORDS = sizeof(portprof_branch) / 8 };

static uint64_t branch_filter(uint32_t kinds)
{
	return (kinds & PORTPROF_BRANCHES_CALLS ? PERF_SAMPLE_BRANCH_ANY_CALL
	                                        : 0) |
	       (kinds & PORTPROF_BRANCHES_RETURNS
	                ? PERF_SAMPLE_BRANCH_ANY_RETURN : 0) |
	       (kinds & PORTPROF_BRANCHES_CONDITIONAL
	                ? PERF_SAMPLE_BRANCH_COND : 0) |
	       (kinds & PORTPROF_BRANCHES_INDIRECT
	                ? (uint64_t)PERF_SAMPLE_BRANCH_IND_CALL |
	                  PERF_SAMPLE_BRANCH_IND_JUMP : 0);
}

void ppi_perf_fields_ask(const struct ppi_plan *plan, struct perf_shape *shape)
{
	static const struct {
		uint32_t field;
		uint64_t bit;
	} bits[] = {
		{ PORTPROF_FIELD_DATA_ADDRESS, PERF_SAMPLE_ADDR },
		{ PORTPROF_FIELD_DATA_SOURCE, PERF_SAMPLE_DATA_SRC },
		{ PORTPROF_FIELD_TRANSACTION, PERF_SAMPLE_TRANSACTION },
		/* of the address, which the kernel looks up for them */
		{ PORTPROF_FIELD_PHYSICAL_ADDRESS,
		  PERF_SAMPLE_ADDR | PERF_TELLS_PHYSICAL },
		{ PORTPROF_FIELD_PAGE_SIZES,
		  PERF_SAMPLE_ADDR | PERF_TELLS_DATA_PAGE |
		          PERF_TELLS_CODE_PAGE },
		{ PORTPROF_FIELD_BRANCHES, PERF_SAMPLE_BRANCH_STACK },
	};
	uint32_t asked = plan->sample_fields;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (asked & bits[i].field)
			shape->sample_type |= bits[i].bit;
	/* one word holds either; EINVAL with both */
	if (asked & PORTPROF_FIELD_INSTRUCTION_LATENCY)
		shape->sample_type |= PERF_TELLS_WEIGHTS;
	else if (asked & PORTPROF_FIELD_LATENCY)
		shape->sample_type |= PERF_SAMPLE_WEIGHT;
	if (asked & PORTPROF_FIELD_BRANCHES)
		shape->branch_filter = plan->branch_kinds
			? branch_filter(plan->branch_kinds)
			: PERF_SAMPLE_BRANCH_ANY;
}

/* The kernel takes the bits for any event, and tells 0 where nothing fills them in:
 * its own events have the address of a fault at most (perf_sw_event of mm/memory.c
 * and of the traps), and hits of a place that of a breakpoint. */
static bool can_have(const struct ppi_event *event, uint32_t field)
{
	const struct perf_own *own = perf_own(event);
	bool is_address = field & (PORTPROF_FIELD_DATA_ADDRESS |
	                           PORTPROF_FIELD_PHYSICAL_ADDRESS);

	if (own->type == PERF_TYPE_SOFTWARE)
		switch (own->config[0]) {
		case PERF_COUNT_SW_PAGE_FAULTS:
		case PERF_COUNT_SW_PAGE_FAULTS_MIN:
		case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
		case PERF_COUNT_SW_ALIGNMENT_FAULTS:
		case PERF_COUNT_SW_EMULATION_FAULTS:
			return is_address;
		default:
			return false;
		}
	if (perf_is_of_place(event))
		return own->type == PERF_TYPE_BREAKPOINT && is_address;
	return true;
}

portprof_status ppi_perf_fields_check(const struct ppi_plan *plan,
                                      struct ppi_diag *why)
{
	static const struct {
		uint32_t field;
		const char *name;
	} fields[] = {
		{ PORTPROF_FIELD_DATA_ADDRESS, "data-address" },
		{ PORTPROF_FIELD_LATENCY, "latency" },
		{ PORTPROF_FIELD_DATA_SOURCE, "data-source" },
		{ PORTPROF_FIELD_INSTRUCTION_LATENCY, "instruction-latency" },
		{ PORTPROF_FIELD_TRANSACTION, "transaction" },
		{ PORTPROF_FIELD_PHYSICAL_ADDRESS, "physical-address" },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		size_t at = 0;

		if (!(plan->sample_fields & fields[i].field))
			continue;
		while (at < plan->event_count &&
		       !(perf_is_sampled(&plan->events[at]) &&
		         can_have(&plan->events[at], fields[i].field)))
			at++;
		if (at == plan->event_count)
			return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
			                "open events", "samples of '%s' have no "
			                "%s: events of a PMU that samples "
			                "accesses to memory have, such as "
			                "mem-loads", plan->events[0].request.text,
			                fields[i].name);
	}
	return PORTPROF_OK;
}

const char *ppi_perf_fields_refused(uint32_t fields, int os_error)
{
	if (os_error == EACCES)
		return fields & PORTPROF_FIELD_PHYSICAL_ADDRESS
			? "physical addresses" : NULL;
	if (os_error != EOPNOTSUPP && os_error != EINVAL)
		return NULL;
	return fields & PORTPROF_FIELD_BRANCHES ? "the branches taken"
	                                        : "that of its accesses to data";
}

/* ---- fields of the hardware: from a record ---- */

/* Fields of the word `data_src`, and what each of their bits says. */
enum {
	OPERATION_AT = 0, LEVEL_AT = 5, SNOOP_AT = 19, LOCK_AT = 24,
	TLB_AT = 26, LEVEL_NUMBER_AT = 33, REMOTE_AT = 37, SNOOP_MORE_AT = 38,
	BLOCK_AT = 40
};

static uint64_t data_source(uint64_t word)
{
	/* by bit; bits that say "not available" have none */
	static const uint64_t of_bit[] = {
		[OPERATION_AT + 1] = PORTPROF_DATA_LOAD,
		[OPERATION_AT + 2] = PORTPROF_DATA_STORE,
		[OPERATION_AT + 3] = PORTPROF_DATA_PREFETCH,
		[OPERATION_AT + 4] = PORTPROF_DATA_EXECUTE,
		[LEVEL_AT + 1] = PORTPROF_DATA_HIT,
		[LEVEL_AT + 2] = PORTPROF_DATA_MISS,
		[LEVEL_AT + 3] = PORTPROF_DATA_L1,
		[LEVEL_AT + 4] = PORTPROF_DATA_FILL_BUFFER,
		[LEVEL_AT + 5] = PORTPROF_DATA_L2,
		[LEVEL_AT + 6] = PORTPROF_DATA_L3,
		[LEVEL_AT + 7] = PORTPROF_DATA_MEMORY,
		[LEVEL_AT + 8] = PORTPROF_DATA_MEMORY | PORTPROF_DATA_REMOTE,
		[LEVEL_AT + 9] = PORTPROF_DATA_MEMORY | PORTPROF_DATA_REMOTE,
		[LEVEL_AT + 10] = PORTPROF_DATA_CACHE | PORTPROF_DATA_REMOTE,
		[LEVEL_AT + 11] = PORTPROF_DATA_CACHE | PORTPROF_DATA_REMOTE,
		[LEVEL_AT + 12] = PORTPROF_DATA_IO,
		[LEVEL_AT + 13] = PORTPROF_DATA_UNCACHED,
		[SNOOP_AT + 1] = PORTPROF_DATA_SNOOP_NONE,
		[SNOOP_AT + 2] = PORTPROF_DATA_SNOOP_HIT,
		[SNOOP_AT + 3] = PORTPROF_DATA_SNOOP_MISS,
		[SNOOP_AT + 4] = PORTPROF_DATA_SNOOP_MODIFIED,
		[LOCK_AT + 1] = PORTPROF_DATA_LOCKED,
		[TLB_AT + 1] = PORTPROF_DATA_TLB_HIT,
		[TLB_AT + 2] = PORTPROF_DATA_TLB_MISS,
		[TLB_AT + 3] = PORTPROF_DATA_TLB_L1,
		[TLB_AT + 4] = PORTPROF_DATA_TLB_L2,
		[TLB_AT + 5] = PORTPROF_DATA_TLB_WALK,
		[TLB_AT + 6] = PORTPROF_DATA_TLB_FAULT,
		[REMOTE_AT] = PORTPROF_DATA_REMOTE,
		[SNOOP_MORE_AT] = PORTPROF_DATA_SNOOP_FORWARD,
		[SNOOP_MORE_AT + 1] = PORTPROF_DATA_SNOOP_PEER,
		[BLOCK_AT + 1] = PORTPROF_DATA_BLOCKED,
		[BLOCK_AT + 2] = PORTPROF_DATA_BLOCKED,
	};
	/* newer hardware gives a number beside the bits of the level */
	static const uint64_t of_number[16] = {
		[1] = PORTPROF_DATA_L1,        [2] = PORTPROF_DATA_L2,
		[3] = PORTPROF_DATA_L3,        [4] = PORTPROF_DATA_L4,
		[9] = PORTPROF_DATA_MEMORY | PORTPROF_DATA_REMOTE,
		[10] = PORTPROF_DATA_IO,       [11] = PORTPROF_DATA_CACHE,
		[12] = PORTPROF_DATA_FILL_BUFFER,
		[13] = PORTPROF_DATA_MEMORY,   [14] = PORTPROF_DATA_PERSISTENT,
	};
	const uint64_t level_number = UINT64_C(15) << LEVEL_NUMBER_AT;
	uint64_t bits = of_number[(word & level_number) >> LEVEL_NUMBER_AT];

	for (size_t i = 0; i < sizeof(of_bit) / sizeof(of_bit[0]); i++)
		if (word >> i & 1 && !(level_number >> i & 1))
			bits |= of_bit[i];
	return bits;
}

static uint64_t transaction(uint64_t word)
{
	/* PERF_TXN_, from bit 0; the program's own code in the upper half */
	static const uint64_t of_bit[] = {
		PORTPROF_TRANSACTION_ELISION,     PORTPROF_TRANSACTION_EXPLICIT,
		PORTPROF_TRANSACTION_SYNCHRONOUS, PORTPROF_TRANSACTION_ASYNCHRONOUS,
		PORTPROF_TRANSACTION_RETRY,       PORTPROF_TRANSACTION_CONFLICT,
		PORTPROF_TRANSACTION_CAPACITY,    PORTPROF_TRANSACTION_CAPACITY,
	};
	uint64_t bits = word & ~UINT64_C(0xffffffff);

	for (size_t i = 0; i < sizeof(of_bit) / sizeof(of_bit[0]); i++)
		if (word >> i & 1)
			bits |= of_bit[i];
	return bits;
}

static size_t branches_of(const struct perf_seen *seen)
{
	return seen->branch_count < PERF_BRANCHES_MAX ? seen->branch_count
	                                              : PERF_BRANCHES_MAX;
}

/* From, to, and a word: mispredicted, predicted, in a transaction, aborted,
 * 16 bits of cycles. */
static void add_branches(const struct perf_seen *seen, struct ppi_room *room,
                         portprof_record *record)
{
	enum { FLAGS = PORTPROF_BRANCH_MISPREDICTED |
	               PORTPROF_BRANCH_PREDICTED |
	               PORTPROF_BRANCH_IN_TRANSACTION |
	               PORTPROF_BRANCH_ABORT };
	size_t count = branches_of(seen);

	if (count == 0)
		return;
	record->branches = room->word_count;
	record->branch_count = count;
	record->valid |= PORTPROF_FIELD_BRANCHES;
	for (size_t i = 0; i < count; i++) {
		const uint64_t *from = &seen->branches[3 * i];
		portprof_branch branch = {
			from[0], from[1], (uint32_t)(from[2] & FLAGS),
			(uint32_t)(from[2] >> 4 & 0xffff)
		};

		memcpy(&room->words[room->word_count], &branch, sizeof(branch));
		room->word_count += BRANCH_WORDS;
	}
}

size_t ppi_perf_fields_words(const struct perf_seen *seen)
{
	return BRANCH_WORDS * branches_of(seen);
}

/* 0 is what the kernel says where nothing is known. */
static void add_number(uint64_t *to, uint64_t number, uint32_t fields,
                       uint32_t field, portprof_record *record)
{
	if (!number || !(fields & field))
		return;
	*to = number;
	record->valid |= field;
}

void ppi_perf_fields_add(uint32_t fields, const struct perf_seen *seen,
                         struct ppi_room *room, portprof_record *record)
{
	bool has_parts = fields & PORTPROF_FIELD_INSTRUCTION_LATENCY;

	add_number(&record->data_address, seen->data_address, fields,
	           PORTPROF_FIELD_DATA_ADDRESS, record);
	/* 32 bits, 16 and 16 where parts were asked for */
	add_number(&record->latency,
	           has_parts ? (uint32_t)seen->latency : seen->latency, fields,
	           PORTPROF_FIELD_LATENCY, record);
	add_number(&record->instruction_latency, seen->latency >> 32 & 0xffff,
	           fields, PORTPROF_FIELD_INSTRUCTION_LATENCY, record);
	add_number(&record->data_source, data_source(seen->data_source), fields,
	           PORTPROF_FIELD_DATA_SOURCE, record);
	add_number(&record->transaction, transaction(seen->transaction), fields,
	           PORTPROF_FIELD_TRANSACTION, record);
	add_number(&record->physical_address, seen->physical_address, fields,
	           PORTPROF_FIELD_PHYSICAL_ADDRESS, record);
	add_number(&record->data_page_bytes, seen->data_page_bytes, fields,
	           PORTPROF_FIELD_PAGE_SIZES, record);
	add_number(&record->code_page_bytes, seen->code_page_bytes, fields,
	           PORTPROF_FIELD_PAGE_SIZES, record);
	add_branches(seen, room, record);
}
