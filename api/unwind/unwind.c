/* SPDX-License-Identifier: MIT */
/*
 * Chains for samples that carry registers and a copy of the stack: from frame to
 * frame, and past the copy as far as the kernel followed frame pointers; and how many
 * chains were whole. The folder:
 *
 *   step.c         one frame up; one table of rules kept by pc
 *   lost_pointer.c a frame pointer that is in a register alone
 *   kept_chains.c  chains that samples have again
 *   machine.c      what differs between machines
 *   code_map.c     which code lies at an address of a process, and its tables
 *   process_map.c  what each process has mapped now
 *   frame_rules.c  libdw's rule of one pc, as a register and offsets;
 *                  frame_rules_stub.c in a build without elfutils
 *   frame_table.c  the entry of a pc, found in a file that nobody vouches for
 *   code_bytes.c   what no table describes, by its bytes: signal frames, PLT entries,
 *                  functions that change the stack; calls before an address
 *   code_end.c     the same: what a function has left to do until it returns, by
 *                  each instruction (code_end_x86.c, code_end_arm64.c)
 *   code_places.c  both, of addresses of processes; answers are kept
 *   modules.c      the code of this process, for a sampler in it; code of any
 *                  process that nobody reported
 */
#include "config.h"

#include "api/unwind/unwind.h"

#include <portprof/tool.h>

#include "api/unwind/machine.h"
#include "api/unwind/step.h"
#include "backends/backend.h"
#include "base/clock_ns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a chain, past the copy ---- */

/* The kernel followed frame pointers before. From where the walk left the copy on
 * it went the same way, if it came there: which of its addresses is the next? */
static bool find_next(const struct ppi_walk *walk, size_t *next)
{
	const struct ppi_stack *stack = walk->first;
	uint64_t fp = walk->began->value[walk->machine->fp], caller, ra;

	*next = 0;
	if (!walk->left_at || !(walk->began->known >> walk->machine->fp & 1) ||
	    ppi_step_peek(stack, walk->left_at, &ra))
		return false;
	for (; fp != walk->left_at; fp = caller)
		if (*next == stack->caller_count ||
		    !ppi_step_peek(stack, fp, &caller) ||
		    !ppi_step_peek(stack, fp + 8, &ra) ||
		    ra != stack->callers[(*next)++])
			return false;
	return *next < stack->caller_count;
}

/* Whether the frame pointer of the last frame is its function's: tables say so, or
 * that function has changed the stack, or it lies further up on this one. */
static bool may_go_on(struct ppi_walk *walk, bool was_first, bool *is_switched)
{
	const struct ppi_machine *machine = walk->machine;
	const struct ppi_rule *rule;
	struct ppi_frame_rules *rules;
	uint64_t pc = walk->at.value[machine->pc];
	uint64_t lookup = was_first ? pc : pc - 1;

	*is_switched = false;
	walk->extent = ppi_step_code(walk, lookup);
	if (!walk->extent || walk->unwinder->has_no_tables)
		return false;
	rule = ppi_step_rule(walk, walk->extent, lookup, &rules);
	if (rule)
		return ppi_step_keeps_pointer(machine, rule);
	if (was_first || ppi_step_return(walk) != PPI_RETURN_BACK)
		return walk->left_at >= walk->at.value[machine->sp] &&
		       !walk->stack->is_all;
	*is_switched = true;
	return true;
}

/* Append a return address that the kernel found; false: the chain ends. */
static bool go_on_to(struct ppi_walk *walk, uint64_t address, bool is_switched,
                     uint64_t *chain, size_t *depth, size_t room)
{
	uint64_t inner = walk->at.value[walk->machine->pc];

	address &= walk->unwinder->address_mask;
	walk->between = 0;
	if (address == 0) {
		walk->end = PORTPROF_CHAIN_WHOLE;
		return false;
	}
	walk->extent = ppi_step_code(walk, address - 1);
	if (!walk->extent || !ppi_step_follows_call(walk, address)) {
		walk->end = PORTPROF_CHAIN_JUNK;
		return false;
	}
	walk->at.value[walk->machine->pc] = address;
	if (is_switched)
		ppi_step_between(walk, inner);
	walk->called = inner;
	if (walk->between && *depth < room)
		chain[(*depth)++] = walk->between;
	if (*depth == room) {
		walk->end = PORTPROF_CHAIN_DEPTH;
		return false;
	}
	chain[(*depth)++] = address;
	return true;
}

/* Return addresses past the copy, as far as each function keeps a frame pointer. */
static size_t go_on(struct ppi_walk *walk, bool was_first, uint64_t *chain,
                    size_t depth, size_t room)
{
	enum portprof_chain_end why = walk->end;
	bool is_switched;
	size_t next;

	if (!find_next(walk, &next) ||
	    !may_go_on(walk, was_first, &is_switched))
		return depth;
	for (; next < walk->first->caller_count; next++) {
		struct ppi_frame_rules *rules;
		const struct ppi_rule *rule;
		enum ppi_return comes = PPI_RETURN_PLAIN;

		if (!go_on_to(walk, walk->first->callers[next], is_switched,
		              chain, &depth, room))
			return depth;
		rule = ppi_step_rule(walk, walk->extent,
		               walk->at.value[walk->machine->pc] - 1, &rules);
		if (!rule)
			comes = ppi_step_return(walk);
		walk->end = comes == PPI_RETURN_NEVER ||
		                            (rule && rule->is_outermost)
			? PORTPROF_CHAIN_WHOLE : why;
		if (walk->end == PORTPROF_CHAIN_WHOLE ||
		    (rule ? !ppi_step_keeps_pointer(walk->machine, rule)
		          : comes == PPI_RETURN_PLAIN &&
		                    !ppi_step_trusts_pointers(walk)))
			return depth;
		is_switched = comes == PPI_RETURN_BACK;
	}
	return depth;
}

/* ---- a chain, frame after frame ---- */

size_t ppi_unwinder_walk(struct ppi_unwinder *unwinder, uint32_t pid,
                         const struct ppi_registers *registers,
                         const struct ppi_stack *stack, uint64_t *chain,
                         size_t room, enum portprof_chain_end *end)
{
	struct ppi_walk walk = {
		.began = registers,
		.first = stack,
		.unwinder = unwinder,
		.machine = unwinder->machine,
		.layout = ppi_process_map_find(&unwinder->code.processes,
		                               pid),
		.stack = stack,
		.pid = pid,
		.at = *registers,
		.end = PORTPROF_CHAIN_NO_RULE,
	};
	bool is_interrupted = false, was_interrupted;
	size_t depth = 1;

	chain[0] = registers->value[walk.machine->pc];
	if (walk.layout)
		walk.extent = ppi_step_code(&walk, chain[0]);
	while (walk.layout) {
		if (depth == room) {
			walk.end = PORTPROF_CHAIN_DEPTH;
			break;
		}
		was_interrupted = is_interrupted;
		if (!ppi_step(&walk, depth == 1, &is_interrupted)) {
			depth = go_on(&walk, depth == 1 || was_interrupted,
			              chain, depth, room);
			break;
		}
		/* Readers look up other addresses than the leaf at one less. A
		 * handler returns to the first byte of what the kernel put
		 * below it, which nobody called. */
		if (is_interrupted && !was_interrupted && depth > 1)
			chain[depth - 1]++;
		if (walk.between) {
			chain[depth++] = walk.between;
			if (depth == room) {
				walk.end = PORTPROF_CHAIN_DEPTH;
				break;
			}
		}
		chain[depth++] = walk.at.value[walk.machine->pc] +
		                 is_interrupted;
	}
	*end = walk.end == PORTPROF_CHAIN_WHOLE && walk.leaves_out
		? PORTPROF_CHAIN_LEAVES_OUT : walk.end;
	return depth;
}

/*
 * A program of 32 bits on a machine of 64: its tables are not read, and frame
 * pointers lead as its ABI says: the caller's lies where ours points, and the
 * return address above it. Only x86 has them in the same registers.
 */
static size_t walk_32_bit(struct ppi_unwinder *unwinder, uint32_t pid,
                          const struct ppi_registers *registers,
                          const struct ppi_stack *stack, uint64_t *chain,
                          size_t room)
{
	const struct ppi_machine *machine = unwinder->machine;
	struct ppi_walk walk = {
		.unwinder = unwinder,
		.machine = machine,
		.layout = ppi_process_map_find(&unwinder->code.processes,
		                               pid),
		.stack = stack,
		.pid = pid,
	};
	uint64_t fp = (uint32_t)registers->value[machine->fp];
	uint64_t least = stack->start, words;
	size_t depth = 1;

	chain[0] = registers->value[machine->pc];
	while (walk.layout && depth < room && fp >= least && fp % 4 == 0 &&
	       machine == &ppi_machine_x86_64 &&
	       ppi_step_load(&walk, fp, &words) &&
	       words >> 32 && ppi_step_code(&walk, (words >> 32) - 1) &&
	       ppi_step_follows_call(&walk, words >> 32)) {
		chain[depth++] = words >> 32;
		least = fp + 8;
		fp = (uint32_t)words;
	}
	return depth;
}

/* ---- an unwinder ---- */

bool ppi_unwinder_has_tables(const char **why)
{
	const char *missing = ppi_machine_here()
		? ppi_frame_rules_missing()
		: "frame tables are supported only on x86-64 and arm64";

	if (why)
		*why = missing;
	return !missing;
}

const char *portprof_unwind_missing(void)
{
	const char *missing;

	return ppi_unwinder_has_tables(&missing) ? NULL : missing;
}

struct ppi_unwinder *ppi_unwinder_new(const struct ppi_machine *machine)
{
	struct ppi_unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->machine = machine;
	unwinder->address_mask = machine->address_mask & ppi_machine_unsigned();
	for (unsigned i = 0; i < machine->saved_count; i++)
		unwinder->preserved |= UINT64_C(1) << machine->saved[i];
	ppi_code_map_open(&unwinder->code, machine);
	unwinder->slots = calloc(PPI_RULE_SLOTS, sizeof(*unwinder->slots));
	unwinder->bytes = ppi_code_places_new();
	if (unwinder->slots && unwinder->bytes)
		return unwinder;
	ppi_unwinder_free(unwinder);
	return NULL;
}

void ppi_unwinder_free(struct ppi_unwinder *unwinder)
{
	if (!unwinder)
		return;
	ppi_code_map_close(&unwinder->code);
	free(unwinder->slots);
	ppi_code_places_free(unwinder->bytes);
	free(unwinder);
}

void ppi_unwinder_leave_tables(struct ppi_unwinder *unwinder)
{
	unwinder->has_no_tables = true;
}

void ppi_unwinder_stats_get(const struct ppi_unwinder *unwinder,
                            struct ppi_unwinder_stats *stats)
{
	*stats = unwinder->stats;
	stats->modules = unwinder->code.opened;
	stats->memory_bytes =
		PPI_RULE_SLOTS * sizeof(struct ppi_rule_slot) +
		ppi_code_places_size;
}

/* ---- what it does with records ---- */

void ppi_unwinder_note(struct ppi_unwinder *unwinder,
                       const portprof_batch *batch,
                       const portprof_record *record)
{
	const portprof_module *module = portprof_batch_module(batch, record);
	struct ppi_code_map *code = &unwinder->code;

	switch (record->kind) {
	case PORTPROF_RECORD_MODULE:
		if (module)
			ppi_code_map_add(code, record->pid, record->address,
			                 record->address + record->span,
			                 module);
		break;
	case PORTPROF_RECORD_THREAD:
		if (record->valid & PORTPROF_FIELD_EXEC)
			ppi_process_map_exec(&code->processes, record->pid);
		break;
	case PORTPROF_RECORD_FORK:
		ppi_process_map_fork(&code->processes, record->pid,
		                     (uint32_t)record->address);
		break;
	case PORTPROF_RECORD_EXIT:
		if (record->pid == record->tid)
			ppi_code_map_exit(code, record->pid);
		break;
	default:
		break;
	}
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Behind the chain that the kernel gave lie the registers, then the stacks;
 * frames are put over them. They fit: a frame takes a word of the stack, and
 * damaged tables, in which that is not so, get no more room.
 */
static void unwind_sample(struct ppi_unwinder *unwinder,
                          struct ppi_room *room, portprof_record *record,
                          unsigned depth)
{
	size_t kernel = (size_t)record->payload_words, count, most;
	uint64_t *words = room->words + record->payload + kernel;
	enum portprof_chain_end end;
	struct ppi_user_context context;
	struct ppi_registers registers;
	struct ppi_stack stack, interrupted;

	unwinder->stats.samples++;
	memcpy(&context, words, sizeof(context));
	registers.known = context.known;
	memcpy(registers.value, context.registers, sizeof(registers.value));
	stack.bytes = (const unsigned char *)words + sizeof(context);
	stack.start = registers.value[unwinder->machine->sp];
	stack.size = context.stack_bytes;
	stack.is_all = context.is_stack_all;
	stack.interrupted = context.interrupted_start ? &interrupted : NULL;
	interrupted = (struct ppi_stack){
		.bytes = stack.bytes + stack.size,
		.start = context.interrupted_start,
		.size = context.interrupted_bytes,
		.is_all = context.is_interrupted_all,
	};
	stack.callers = words + (sizeof(context) + stack.size +
	                         interrupted.size) / 8;
	stack.caller_count = context.caller_count;
	record->valid |= PORTPROF_FIELD_CHAIN;
	record->valid &= ~PPI_FIELD_CONTEXT;
	if (kernel >= depth) {
		record->chain_end = PORTPROF_CHAIN_DEPTH;
		return;
	}
	most = least(depth - kernel, PPI_CHAIN_MAX);
	most = least(most, (sizeof(context) + stack.size + interrupted.size) /
	                   8 + stack.caller_count);
	if (context.is_32_bit) {
		end = PORTPROF_CHAIN_POINTERS;
		count = walk_32_bit(unwinder, record->pid, &registers,
		                    &stack, unwinder->chain, most);
	} else {
		count = ppi_unwinder_walk(unwinder, record->pid, &registers,
		                          &stack, unwinder->chain, most, &end);
	}
	/* hardware may know better than the registers what it sampled */
	if (kernel == 0)
		unwinder->chain[0] = record->address;
	memcpy(words, unwinder->chain, count * sizeof(*words));
	record->payload_words += count;
	record->chain_end = unwinder->has_no_tables ? PORTPROF_CHAIN_UNKNOWN
	                                            : end;
}

void ppi_unwinder_take(struct ppi_unwinder *unwinder, struct ppi_room *room,
                       unsigned depth)
{
	const portprof_batch batch = ppi_room_batch(room);
	uint64_t began = 0, ended = 0;

	ppi_clock_ns(CLOCK_THREAD_CPUTIME_ID, &began);
	for (size_t i = 0; i < room->record_count; i++) {
		portprof_record *record = &room->records[i];

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			ppi_unwinder_note(unwinder, &batch, record);
		else if (record->valid & PPI_FIELD_CONTEXT)
			unwind_sample(unwinder, room, record, depth);
	}
	ppi_clock_ns(CLOCK_THREAD_CPUTIME_ID, &ended);
	unwinder->stats.cpu_ns += ended - began;
}

/* ---- how the chains of a session end, by weight ---- */

enum { NOTE_BYTES = sizeof(((struct ppi_backend_session *)0)->notes[0]) };

static const char *const reasons[PPI_CHAIN_ENDS] = {
	[PORTPROF_CHAIN_COPY_SHORT] = "stack copy too short "
				      "(--call-graph dwarf,BYTES)",
	[PORTPROF_CHAIN_NO_RULE] = "neither table nor frame pointer",
	[PORTPROF_CHAIN_OUTSIDE] = "caller on another stack",
	[PORTPROF_CHAIN_JUNK] = "no return address",
	[PORTPROF_CHAIN_DEPTH] = "too deep",
	[PORTPROF_CHAIN_POINTERS] = "by frame pointers (32-bit programs)",
};

void ppi_chain_ends_count(struct ppi_chain_ends *ends,
                          const portprof_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);

		if (record->kind == PORTPROF_RECORD_SAMPLE &&
		    record->event == 0 && record->chain_end < PPI_CHAIN_ENDS)
			ends->weight[record->chain_end] += record->weight;
	}
}

void ppi_chain_ends_reset(struct ppi_chain_ends *ends)
{
	memset(ends->weight, 0, sizeof(ends->weight));
	if (ends->note)
		snprintf(ends->note, NOTE_BYTES,
		         PORTPROF_NOTE_CHAINS "no samples yet");
}

bool ppi_chain_ends_are_short(const struct ppi_chain_ends *ends)
{
	uint64_t all = 0;

	for (size_t i = PORTPROF_CHAIN_WHOLE; i < PPI_CHAIN_ENDS; i++)
		all += ends->weight[i];
	return ends->weight[PORTPROF_CHAIN_COPY_SHORT] > all / 100;
}

static double percent(uint64_t part, uint64_t all)
{
	return 100.0 * (double)part / (double)all;
}

void ppi_chain_ends_say(struct ppi_chain_ends *ends,
                        struct ppi_backend_session *bs)
{
	char words[NOTE_BYTES];
	size_t used, before = bs->note_count;
	const char *separator = "; cut: ";
	uint64_t all = 0;

	for (size_t i = PORTPROF_CHAIN_WHOLE; i < PPI_CHAIN_ENDS; i++)
		all += ends->weight[i];
	if (all == 0)
		return;
	used = (size_t)snprintf(words, sizeof(words),
	                        PORTPROF_NOTE_CHAINS "%.1f %% of the weight "
	                        "whole",
	                        percent(ends->weight[PORTPROF_CHAIN_WHOLE],
	                                all));
	if (percent(ends->weight[PORTPROF_CHAIN_LEAVES_OUT], all) >= 0.05)
		used += (size_t)snprintf(
			words + used, sizeof(words) - used,
			", %.1f %% except for a caller on another stack",
			percent(ends->weight[PORTPROF_CHAIN_LEAVES_OUT], all));
	for (size_t i = 0; i < PPI_CHAIN_ENDS && used < sizeof(words); i++)
		if (reasons[i] && percent(ends->weight[i], all) >= 0.05) {
			used += (size_t)snprintf(
				words + used, sizeof(words) - used,
				"%s%.1f %% %s", separator,
				percent(ends->weight[i], all), reasons[i]);
			separator = ", ";
		}
	if (!ends->note) {
		ppi_note(bs, "%s", words);
		if (bs->note_count > before)
			ends->note = bs->notes[before];
	} else {
		snprintf(ends->note, sizeof(words), "%s", words);
	}
}
