/* SPDX-License-Identifier: MIT */
/*
 * Registers, a stack and frame tables that were damaged: a chain never leaves
 * the code, the copy or its room. The input is, one after the other: a byte of
 * switches; a value for each register; four programs of a frame table, each
 * after its length; bytes that are changed in the tables; words of the stack.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "api/unwind/unwind.h"
#include "tests/unit/unwind_kit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	NOBODY = 0x7fffffff, /* a process that is not */
	FUNCTIONS = 4,
	FUNCTION_BYTES = 0x40,
	WORDS = 64,
	CALLERS = 16,
	ROOM = 48
};

#define BASE UINT64_C(0x550000000000)
#define STACK UINT64_C(0x7ffc00001000)

struct input {
	const uint8_t *at, *end;
};

static unsigned next_byte(struct input *input)
{
	return input->at < input->end ? *input->at++ : 0;
}

static const void *next_bytes(struct input *input, size_t *count)
{
	const void *bytes = input->at;

	if (*count > (size_t)(input->end - input->at))
		*count = (size_t)(input->end - input->at);
	input->at += *count;
	return bytes;
}

/* Near the stack, near the code, or anything; false: nothing is known. */
static bool next_value(struct input *input, uint64_t *value)
{
	unsigned byte = next_byte(input);
	size_t count = sizeof(*value);

	*value = 0;
	switch (byte & 3) {
	case 0:
		return false;
	case 1:
		*value = STACK + 8 * (byte >> 2);
		break;
	case 2:
		*value = BASE + KIT_TEXT + 4 * (byte >> 2);
		break;
	default:
		memcpy(value, next_bytes(input, &count), count);
	}
	return true;
}

static void note_module(struct ppi_unwinder *unwinder, const char *path)
{
	static uint64_t words[700];
	portprof_record record = {
		.kind = PORTPROF_RECORD_MODULE,
		.valid = PORTPROF_FIELD_PID,
		.pid = NOBODY,
		.address = BASE + KIT_TEXT,
		.span = KIT_TEXT_BYTES,
	};
	struct ppi_room room = { &record, 1, 0, words, 700, 0 };

	ppi_room_add_module(&room, &record, KIT_TEXT, NULL, 0, path);
	ppi_unwinder_note(unwinder,
	                  &(portprof_batch){ &record, 1, words,
	                                     room.word_count,
	                                     sizeof(portprof_record) },
	                  &record);
}

/* An image whose tables are damaged here and there. */
static const char *next_image(struct input *input, unsigned machine)
{
	struct kit_function functions[FUNCTIONS];
	const size_t tables = KIT_TEXT + KIT_TEXT_BYTES;
	const char *path;
	unsigned changes;
	size_t size;
	char *image;

	for (unsigned i = 0; i < FUNCTIONS; i++) {
		unsigned byte = next_byte(input);
		struct kit_function *f = &functions[i];

		f->start = KIT_TEXT + i * FUNCTION_BYTES;
		f->end = f->start + FUNCTION_BYTES;
		f->is_signal = byte >> 7;
		f->program_bytes = byte & 63;
		f->program = next_bytes(input, &f->program_bytes);
	}
	image = kit_image(machine, functions, FUNCTIONS, &size);
	for (changes = next_byte(input) & 15; changes > 0; changes--) {
		size_t at = next_byte(input) | next_byte(input) << 8;

		image[tables + at % (size - tables)] = (char)next_byte(input);
	}
	path = fuzz_file((const uint8_t *)image, size);
	free(image);
	return path;
}

static bool is_code(uint64_t address)
{
	return address - (BASE + KIT_TEXT) <= KIT_TEXT_BYTES;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct input input = { bytes, bytes + count };
	unsigned switches = next_byte(&input);
	const struct ppi_machine *machine = switches & 1 ? &ppi_machine_arm64
	                                                 : &ppi_machine_x86_64;
	struct ppi_unwinder *unwinder = ppi_unwinder_new(machine);
	struct ppi_registers registers = { .known = 0 };
	/* of its own size in memory, so that a word too far is seen */
	uint64_t *words = calloc(WORDS, sizeof(*words)), chain[ROOM];
	uint64_t *callers = calloc(CALLERS, sizeof(*callers));
	struct ppi_stack stack = {
		.bytes = (unsigned char *)words,
		.start = STACK,
		.is_all = switches & 2,
		.callers = callers,
	};
	enum portprof_chain_end end = PORTPROF_CHAIN_UNKNOWN;
	size_t depth, room = 1 + (switches >> 3) % ROOM;

	if (!unwinder || !words || !callers)
		abort();
	for (unsigned i = 0; i < machine->register_count; i++)
		if (next_value(&input, &registers.value[i]))
			registers.known |= UINT64_C(1) << i;
	if (switches & 4)
		ppi_unwinder_leave_tables(unwinder);
	note_module(unwinder, next_image(&input, machine->elf_machine));
	while (stack.size < WORDS * 8 && input.at < input.end) {
		next_value(&input, &words[stack.size / 8]);
		stack.size += 8;
	}
	while (stack.caller_count < CALLERS && input.at < input.end)
		next_value(&input, &callers[stack.caller_count++]);
	depth = ppi_unwinder_walk(unwinder, NOBODY, &registers, &stack, chain,
	                          room, &end);
	if (depth < 1 || depth > room || end < PORTPROF_CHAIN_WHOLE ||
	    end > PORTPROF_CHAIN_LEAVES_OUT ||
	    chain[0] != registers.value[machine->pc])
		abort();
	for (size_t i = 1; i < depth; i++)
		if (!is_code(chain[i]))
			abort();
	free(words);
	free(callers);
	ppi_unwinder_free(unwinder);
	return 0;
}
