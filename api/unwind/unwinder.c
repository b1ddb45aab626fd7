/* SPDX-License-Identifier: MIT */
/* Chains for samples that carry registers and a copy of the stack. */
#include "config.h"

#include "api/unwind/unwinder.h"

#include "base/clock_ns.h"

#include <stdlib.h>
#include <string.h>

#include <portprof/tool.h>

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
	unwinder->bytes = ppi_code_bytes_new();
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
	ppi_code_bytes_free(unwinder->bytes);
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
		ppi_code_bytes_size;
}

/* ---- records ---- */

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
		count = ppi_unwinder_walk_32_bit(unwinder, record->pid,
		                                 &registers, &stack,
		                                 unwinder->chain, most);
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
