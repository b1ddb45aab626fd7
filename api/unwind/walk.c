/* SPDX-License-Identifier: MIT */
/*
 * A chain: frame after frame up a copy of the stack, and past its end as far as
 * the kernel followed frame pointers.
 */
#include "config.h"

#include "api/unwind/walk.h"

#include "api/unwind/step.h"
#include "api/unwind/unwinder_state.h"

/* ---- past the copy ---- */

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
		    (rule && !ppi_step_keeps_pointer(walk->machine, rule)))
			return depth;
		is_switched = comes == PPI_RETURN_BACK;
	}
	return depth;
}

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
size_t ppi_unwinder_walk_32_bit(struct ppi_unwinder *unwinder, uint32_t pid,
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
