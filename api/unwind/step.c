/* SPDX-License-Identifier: MIT */
/*
 * One frame up: by the rule of a pc, from a table of our own that is filled from
 * the module's tables; where those have none, by code and frame pointers.
 */
#include "config.h"

#include "api/unwind/step.h"

#include <string.h>

static bool is_known(const struct ppi_walk *walk, unsigned number)
{
	return walk->at.known >> number & 1;
}

static void set(struct ppi_registers *registers, unsigned number,
                uint64_t value)
{
	registers->value[number] = value;
	registers->known |= UINT64_C(1) << number;
}

bool ppi_step_peek(const struct ppi_stack *stack, uint64_t address,
                   uint64_t *word)
{
	uint64_t at = address - stack->start;

	if (stack->size < 8 || at > stack->size - 8)
		return false;
	memcpy(word, stack->bytes + at, 8);
	return true;
}

/* A word of the stack. What lies above a copy that was cut short may have been
 * reached by a longer one; what lies elsewhere is on another stack. */
bool ppi_step_load(void *context, uint64_t address, uint64_t *word)
{
	struct ppi_walk *walk = context;
	const struct ppi_stack *stack = walk->stack;

	if (ppi_step_peek(stack, address, word))
		return true;
	walk->end = address >= stack->start && !stack->is_all
		? PORTPROF_CHAIN_COPY_SHORT : PORTPROF_CHAIN_OUTSIDE;
	return false;
}

/* Only where a signal came may a chain go to another stack, and only to the one
 * that its frame names. */
static void change_stack(struct ppi_walk *walk)
{
	const struct ppi_stack *interrupted = walk->stack->interrupted;

	if (interrupted &&
	    interrupted->start == walk->at.value[walk->machine->sp])
		walk->stack = interrupted;
}

const struct ppi_rule *ppi_step_rule(struct ppi_walk *walk,
                                     const struct ppi_extent *extent,
                                     uint64_t pc,
                                     struct ppi_frame_rules **rules)
{
	struct ppi_unwinder *unwinder = walk->unwinder;
	uint64_t place = pc + extent->shift, address;
	uint32_t serial;
	struct ppi_rule_slot *slot;

	*rules = ppi_code_map_rules(&unwinder->code, extent, walk->pid, &serial);
	if (!*rules)
		return NULL;
	slot = &unwinder->slots[(place ^ place >> 13 ^
	                         (uint64_t)serial * 2654435761u) %
	                        PPI_RULE_SLOTS];
	if (slot->serial != serial || slot->place != place) {
		unwinder->stats.misses++;
		slot->serial = serial;
		slot->place = place;
		slot->rule.kind = PPI_RULE_NONE;
		if (ppi_frame_rules_address(*rules, place, &address))
			ppi_frame_rules_find(*rules, address, &slot->rule);
	}
	return slot->rule.kind == PPI_RULE_NONE ? NULL : &slot->rule;
}

/* Where the stack pointer is not known, by the frame pointer: a function that
 * saves its caller's points to it. */
static uint64_t find_cfa(const struct ppi_walk *walk,
                         const struct ppi_rule *rule)
{
	enum { RA, FP }; /* in machine->saved */
	const struct ppi_registers *at = &walk->at;

	if (walk->is_sp_least && rule->cfa_register == walk->machine->sp &&
	    rule->saved >> RA & 1 && rule->saved >> FP & 1 &&
	    is_known(walk, walk->machine->fp))
		return at->value[walk->machine->fp] -
		       (uint64_t)(int64_t)rule->offset[FP];
	return at->value[rule->cfa_register] +
	       (uint64_t)(int64_t)rule->cfa_offset;
}

/* As functions with a frame pointer have it: what frame pointers lead to is right
 * then. */
bool ppi_step_keeps_pointer(const struct ppi_machine *machine,
                            const struct ppi_rule *rule)
{
	enum { RA, FP }; /* in machine->saved */

	return rule->kind == PPI_RULE_SIMPLE && !rule->is_signal &&
	       rule->cfa_register == machine->fp && rule->cfa_offset == 16 &&
	       rule->saved >> RA & 1 && rule->offset[RA] == -8 &&
	       rule->saved >> FP & 1 && rule->offset[FP] == -16;
}

static struct ppi_code_place place_of(const struct ppi_walk *walk, uint64_t address)
{
	return (struct ppi_code_place){ walk->machine, walk->extent, address,
		                        walk->pid };
}

/*
 * Whether a register that was saved at `place` has its caller's value again. Tables
 * follow the stack pointer through an epilogue, and go on to say where each register
 * was: below the stack pointer. A leaf may save there, too, and change the register
 * (x86-64 psABI, the red zone): what its code does next tells them apart.
 */
static bool is_restored(const struct ppi_walk *walk, uint64_t pc, uint64_t place)
{
	struct ppi_code_place code = place_of(walk, pc);
	unsigned sp = walk->machine->sp;

	return is_known(walk, sp) && place < walk->at.value[sp] &&
	       ppi_code_is_epilogue(walk->unwinder->bytes, &code);
}

/* The registers become the caller's in place: after a step that fails nobody
 * reads more of them than the frame pointer. */
static bool step_simple(struct ppi_walk *walk, const struct ppi_rule *rule,
                        struct ppi_frame_rules *rules, uint64_t *cfa)
{
	const struct ppi_machine *machine = walk->machine;
	struct ppi_registers *at = &walk->at;
	uint64_t pc = at->value[machine->pc];
	unsigned left = rule->saved;
	uint64_t fp;

	if (!is_known(walk, rule->cfa_register) &&
	    ppi_step_find_pointer(walk, rule, rules, &fp))
		set(at, machine->fp, fp);
	if (!is_known(walk, rule->cfa_register)) {
		walk->end = PORTPROF_CHAIN_NO_RULE;
		return false;
	}
	*cfa = find_cfa(walk, rule);
	for (unsigned i = 0; left; i++, left >>= 1) {
		uint64_t place = *cfa + (uint64_t)(int64_t)rule->offset[i];
		unsigned number = machine->saved[i];
		uint64_t word;

		if (!(left & 1))
			continue;
		if (ppi_step_load(walk, place, &word))
			set(at, number, word);
		else if (number == machine->ra) {
			if (ppi_step_keeps_pointer(machine, rule))
				walk->left_at = at->value[machine->fp];
			return false;
		} else if (!is_restored(walk, pc, place))
			at->known &= ~(UINT64_C(1) << number);
	}
	if (!is_known(walk, machine->ra)) {
		walk->end = PORTPROF_CHAIN_NO_RULE;
		return false;
	}
	at->known &= walk->unwinder->preserved;
	set(at, machine->pc, at->value[machine->ra]);
	set(at, machine->sp, *cfa);
	return true;
}

/* By what is no register plus an offset. */
static bool step_other(struct ppi_walk *walk, struct ppi_frame_rules *rules,
                       uint64_t place, uint64_t *cfa)
{
	struct ppi_frame to;
	uint64_t address;

	if (!ppi_frame_rules_address(rules, place, &address) ||
	    !ppi_frame_rules_step(rules, address, &walk->at, ppi_step_load,
	                          walk, &to))
		return false;
	walk->at = to.registers;
	*cfa = to.cfa;
	return true;
}

/*
 * Both machines: the caller's frame pointer, then the return address, lie
 * where the frame pointer points. Nothing else is known of the caller. Where the
 * frame before was found so, or this one has changed the stack, a pointer that leads
 * back is to another stack; else one that leads further than a frame has room was
 * something else, as in code that keeps its values there.
 */
static bool step_frame_pointer(struct ppi_walk *walk, bool is_switched,
                               uint64_t *cfa)
{
	enum { FRAME_MOST = 8 << 20 }; /* as large as most stacks */
	const struct ppi_machine *machine = walk->machine;
	uint64_t fp = walk->at.value[machine->fp], caller, ra;

	if (!is_known(walk, machine->fp) || fp % 8)
		return false;
	walk->left_at = fp;
	if (fp < walk->at.value[machine->sp]) {
		if (walk->keeps_pointers || is_switched)
			walk->end = PORTPROF_CHAIN_OUTSIDE;
		return false;
	}
	if (!walk->keeps_pointers && !is_switched &&
	    fp - walk->at.value[machine->sp] > FRAME_MOST)
		return false;
	if (!ppi_step_load(walk, fp, &caller) ||
	    !ppi_step_load(walk, fp + 8, &ra))
		return false;
	walk->left_at = 0;
	*cfa = fp + 16;
	walk->at.known = 0;
	set(&walk->at, machine->fp, caller);
	set(&walk->at, machine->sp, *cfa);
	set(&walk->at, machine->pc, ra);
	return true;
}

/* Of arm64's: the kernel put all registers above the stack pointer. */
static bool step_signal(struct ppi_walk *walk, uint64_t *cfa)
{
	const struct ppi_machine *machine = walk->machine;
	struct ppi_registers to = { .known = 0 };
	uint64_t word, from;

	*cfa = walk->at.value[machine->sp];
	from = *cfa + machine->signal_registers;
	for (unsigned i = 0; i < machine->register_count; i++) {
		if (!ppi_step_load(walk, from + 8 * i, &word))
			return false;
		set(&to, i, word);
	}
	walk->at = to;
	return true;
}

/* Between a call and what it leads to: all is as the caller left it. */
static bool step_stub(struct ppi_walk *walk, enum ppi_code_kind kind, uint64_t *cfa)
{
	const struct ppi_machine *machine = walk->machine;
	struct ppi_registers *at = &walk->at;

	if (!is_known(walk, machine->ra)) {
		walk->end = PORTPROF_CHAIN_NO_RULE;
		return false;
	}
	*cfa = at->value[machine->sp] +
	       (kind == PPI_CODE_STUB_PUSHED ? 16 : 0);
	at->known &= walk->unwinder->preserved;
	set(at, machine->pc, at->value[machine->ra]);
	set(at, machine->sp, *cfa);
	return true;
}

bool ppi_step_follows_call(struct ppi_walk *walk, uint64_t address)
{
	struct ppi_code_place place = place_of(walk, address);

	return ppi_code_follows_call(walk->unwinder->bytes, &place);
}

/* What lies at an address, code that was made a moment ago as well. The extent
 * stays until the next call. */
const struct ppi_extent *ppi_step_code(struct ppi_walk *walk, uint64_t address)
{
	const struct ppi_extent *extent = ppi_layout_at(walk->layout, address);
	struct ppi_code_map *code = &walk->unwinder->code;

	if (extent || address >> walk->machine->address_bits ||
	    !ppi_code_map_look(code, walk->pid))
		return extent;
	walk->layout = ppi_process_map_find(&code->processes, walk->pid);
	return ppi_layout_at(walk->layout, address);
}

/* Whether what the register of frame pointers has is one, by what functions near the
 * current frame's do; code that was made is said to. */
bool ppi_step_trusts_pointers(struct ppi_walk *walk)
{
	struct ppi_code_place place =
		place_of(walk, walk->at.value[walk->machine->pc]);

	return !walk->extent || ppi_code_map_is_made(walk->extent) ||
	       ppi_code_keeps_pointers(walk->unwinder->bytes, &place);
}

/* The ABI of each: the frame of the outermost function has none above it, and
 * the frame pointer says so by being 0. In other code it may be by chance. */
static bool is_marked_outermost(struct ppi_walk *walk)
{
	struct ppi_code_place place =
		place_of(walk, walk->at.value[walk->machine->pc]);

	return is_known(walk, walk->machine->fp) &&
	       walk->at.value[walk->machine->fp] == 0 &&
	       (ppi_step_trusts_pointers(walk) ||
	        ppi_code_begins_stack(walk->unwinder->bytes, &place));
}

/* What no table describes is told by its code, where the machine has such;
 * `is_first`: nothing was called from there. */
static enum ppi_code_kind kind_of(struct ppi_walk *walk, const struct ppi_rule *rule,
                                  bool is_first)
{
	const struct ppi_machine *machine = walk->machine;
	struct ppi_code_place place =
		place_of(walk, walk->at.value[machine->pc]);
	enum ppi_code_kind kind;

	if (!machine->signal_registers || !walk->extent ||
	    walk->is_sp_least || (rule && !rule->is_signal))
		return PPI_CODE_OTHER;
	kind = ppi_code_kind_of(walk->unwinder->bytes, &place, is_first);
	return rule && kind != PPI_CODE_SIGNAL_RETURN ? PPI_CODE_OTHER : kind;
}

/*
 * Whether the caller is where the register of return addresses says: what a
 * function calls itself returns to its own module. So it is in the vdso, whose
 * functions have no tables on arm64, and in assembly of libraries.
 */
static bool has_link(struct ppi_walk *walk, uint64_t *caller)
{
	const struct ppi_machine *machine = walk->machine;
	struct ppi_code_place place = { .machine = machine, .pid = walk->pid };
	uintptr_t module = walk->extent ? walk->extent->value : 0;

	if (machine->call_bytes || !module || !is_known(walk, machine->ra))
		return false;
	place.address = walk->at.value[machine->ra] &
	                walk->unwinder->address_mask;
	place.extent = ppi_step_code(walk, place.address - 1);
	*caller = place.address;
	return place.extent && place.extent->value != module &&
	       ppi_code_follows_call(walk->unwinder->bytes, &place);
}

/* The function may have a frame, whose pointers lead to the same caller. */
static bool step_link(struct ppi_walk *walk, uint64_t caller, uint64_t *cfa)
{
	const struct ppi_machine *machine = walk->machine;
	struct ppi_registers *at = &walk->at;
	uint64_t fp = at->value[machine->fp], saved;

	if (is_known(walk, machine->fp) && fp % 8 == 0 &&
	    ppi_step_load(walk, fp + 8, &saved) &&
	    (saved & walk->unwinder->address_mask) == caller)
		return step_frame_pointer(walk, false, cfa);
	*cfa = at->value[machine->sp];
	at->known &= walk->unwinder->preserved;
	set(at, machine->pc, caller);
	set(at, machine->sp, *cfa);
	return true;
}

/*
 * Whether the function that runs has no frame, and a call pushed its return address
 * last: Go's have none where they call nobody, nor have others before they have made
 * it. Frame pointers would lead past its caller. Of whom the call is that the frame
 * pointer leads to tells whose that is.
 */
static bool is_bare(struct ppi_walk *walk, uint64_t *caller)
{
	enum { FUNCTION = 16384 };
	const struct ppi_machine *machine = walk->machine;
	struct ppi_code_places *bytes = walk->unwinder->bytes;
	uint64_t fp = walk->at.value[machine->fp], saved = 0, start, by, owner;
	uint64_t pc = walk->at.value[machine->pc];
	struct ppi_code_place place = place_of(walk, pc);

	if (!machine->call_bytes || !walk->extent ||
	    !ppi_step_peek(walk->stack, walk->at.value[machine->sp], caller))
		return false;
	if (walk->stack->caller_count)
		saved = walk->stack->callers[0];
	else if (is_known(walk, machine->fp))
		ppi_step_peek(walk->stack, fp + 8, &saved);
	start = ppi_code_function_start(bytes, &place);
	place.address = *caller;
	place.extent = ppi_step_code(walk, *caller - 1);
	if (!place.extent || !ppi_code_follows_call(bytes, &place))
		return false;
	by = ppi_code_call_target(bytes, &place);
	place.address = saved;
	place.extent = ppi_step_code(walk, saved - 1);
	owner = place.extent ? ppi_code_call_target(bytes, &place) : 0;
	if (start)
		return owner != start && (by ? by == start : owner != 0);
	return by && owner && pc - by < FUNCTION &&
	       !(by <= owner && owner <= pc);
}

static void step_bare(struct ppi_walk *walk, uint64_t caller, uint64_t *cfa)
{
	const struct ppi_machine *machine = walk->machine;
	struct ppi_registers *at = &walk->at;

	*cfa = at->value[machine->sp] + machine->call_bytes;
	at->known &= walk->unwinder->preserved;
	set(at, machine->pc, caller);
	set(at, machine->sp, *cfa);
}

/*
 * What the current frame's function has left to do, where its code says so and leads
 * to a return address. `is_first`: nothing was called from there. The stack pointer
 * is known where tables or calls that push led here.
 */
static struct ppi_code_end find_end(struct ppi_walk *walk, bool is_first)
{
	const struct ppi_machine *machine = walk->machine;
	struct ppi_registers *at = &walk->at;
	struct ppi_code_place place = place_of(walk, at->value[machine->pc]);
	struct ppi_code_end end = { .kind = PPI_END_UNKNOWN };
	bool has_pointer = is_known(walk, machine->fp);
	uint64_t ra;

	if (!walk->extent || !is_known(walk, machine->sp) || walk->is_sp_least)
		return end;
	/* frame pointers tell as much of most, for less */
	end = ppi_code_find_end(walk->unwinder->bytes, &place, is_first,
	                        ppi_step_trusts_pointers(walk));
	/* a call has changed it, or it was never known */
	if (end.kind == PPI_END_BY_STACK && end.ra == PPI_END_KEPT &&
	    !(is_first && is_known(walk, machine->ra)))
		end.kind = PPI_END_UNKNOWN;
	/* both are the same then, and what frame pointers lead to may be past the
	 * copy. On arm64 they do not tell where the frame ends. */
	if (end.kind == PPI_END_BY_STACK && has_pointer &&
	    end.fp < PPI_END_MOST && end.ra == end.fp + 1 &&
	    at->value[machine->fp] ==
	            at->value[machine->sp] + 8 * (uint64_t)end.fp &&
	    (machine->call_bytes ||
	     !ppi_step_peek(walk->stack, at->value[machine->fp] + 8, &ra)))
		end.kind = PPI_END_BY_POINTER;
	return end;
}

/* Code that a compiler or an interpreter has made may return to what it has put
 * there; frame pointers tell more of it than its end. */
static bool is_end_of_made(struct ppi_walk *walk, const struct ppi_code_end *end)
{
	const struct ppi_extent *extent = walk->extent;
	uint64_t sp = walk->at.value[walk->machine->sp], ra;
	bool is_call = true;

	if (!ppi_code_map_is_made(extent) || end->ra == PPI_END_KEPT ||
	    !ppi_step_peek(walk->stack, sp + 8 * (uint64_t)end->ra, &ra))
		return true;
	walk->extent = ppi_step_code(walk, ra - 1);
	is_call = walk->extent && ppi_step_follows_call(walk, ra);
	walk->extent = ppi_step_code(walk, walk->at.value[walk->machine->pc]);
	return is_call;
}

/* By what is left to do of a function: a frame of tables and frame pointers apart,
 * such as those of _init and of trampolines. */
static bool step_end(struct ppi_walk *walk, const struct ppi_code_end *end,
                     uint64_t *cfa)
{
	const struct ppi_machine *machine = walk->machine;
	struct ppi_registers *at = &walk->at;
	uint64_t sp = at->value[machine->sp], ra = at->value[machine->ra], fp = 0;

	if ((end->ra != PPI_END_KEPT &&
	     !ppi_step_load(walk, sp + 8 * (uint64_t)end->ra, &ra)) ||
	    (end->fp < PPI_END_MOST &&
	     !ppi_step_load(walk, sp + 8 * (uint64_t)end->fp, &fp)))
		return false;
	*cfa = sp + 8 * (uint64_t)end->words;
	at->known &= walk->unwinder->preserved;
	for (unsigned i = 0; i < machine->saved_count; i++)
		if (end->lost >> i & 1)
			at->known &= ~(UINT64_C(1) << machine->saved[i]);
	if (end->fp < PPI_END_MOST)
		set(at, machine->fp, fp);
	else if (end->fp == PPI_END_LOST)
		at->known &= ~(UINT64_C(1) << machine->fp);
	set(at, machine->pc, ra);
	set(at, machine->sp, *cfa);
	return true;
}

/* What the function does that the current frame, a caller's, is of: change the
 * stack, or begin one. Of code that tables describe they say so. */
enum ppi_return ppi_step_return(struct ppi_walk *walk)
{
	struct ppi_code_place place =
		place_of(walk, walk->at.value[walk->machine->pc]);

	/* those that do so are of runtimes in files; what a compiler or an
	 * interpreter has made sets the stack pointer within one stack */
	return walk->extent && !ppi_code_map_is_made(walk->extent)
		? ppi_code_return(walk->unwinder->bytes, &place)
		: PPI_RETURN_PLAIN;
}

/*
 * Go's runtime.systemstack and asmcgocall have no frame pointer of their own where
 * they have changed the stack: it leads to their caller's frame, and so past it.
 * `inner` is what is left then, `walk` at what it led to.
 */
void ppi_step_between(struct ppi_walk *walk, uint64_t inner)
{
	struct ppi_code_place place =
		place_of(walk, walk->at.value[walk->machine->pc]);

	walk->leaves_out |=
		ppi_code_find_between(walk->unwinder->bytes, &place, inner,
		                      walk->called, &walk->between) ==
		PPI_BETWEEN_UNKNOWN;
}

/*
 * Whether a frame pointer may have led from `from` to a return address that no call
 * precedes, as interpreters push it that were made at run time, Java's above all: both
 * are such code, and the frame pointer rises to another frame of code.
 */
static bool is_pushed(struct ppi_walk *walk, const struct ppi_extent *from,
                      uint64_t cfa)
{
	const struct ppi_machine *machine = walk->machine;
	uint64_t fp = walk->at.value[machine->fp], ra;
	bool is_rising;

	if (!from || !is_known(walk, machine->fp) || fp < cfa || fp % 8 ||
	    !ppi_code_map_is_made(from) || !ppi_code_map_is_made(walk->extent))
		return false;
	if (!ppi_step_peek(walk->stack, fp + 8, &ra))
		return fp >= walk->stack->start + walk->stack->size &&
		       !walk->stack->is_all;
	ra &= walk->unwinder->address_mask;
	is_rising = ppi_step_code(walk, ra - 1) != NULL;
	walk->extent = ppi_step_code(walk, walk->at.value[machine->pc] - 1);
	return is_rising && walk->extent;
}

/* One frame up. False: it ends here, and walk->end says why. */
bool ppi_step(struct ppi_walk *walk, bool is_leaf, bool *is_interrupted)
{
	const struct ppi_machine *machine = walk->machine;
	uint64_t sp = walk->at.value[machine->sp], cfa;
	uint64_t pc = walk->at.value[machine->pc];
	/* a return address may be the first byte of another function */
	bool is_first = is_leaf || *is_interrupted;
	uint64_t lookup = is_first ? pc : pc - 1;
	const struct ppi_extent *extent = walk->extent;
	const struct ppi_rule *rule = NULL;
	struct ppi_frame_rules *rules = NULL;
	bool is_signal = false, is_by_table = false, is_by_code = false;
	struct ppi_code_end end = { .kind = PPI_END_UNKNOWN };
	enum ppi_code_kind kind;
	enum ppi_return comes = PPI_RETURN_PLAIN;
	uint64_t caller, inner = pc;

	walk->unwinder->stats.frames++;
	walk->end = PORTPROF_CHAIN_NO_RULE;
	walk->left_at = walk->between = 0;
	if (extent && !walk->unwinder->has_no_tables)
		rule = ppi_step_rule(walk, extent, lookup, &rules);
	kind = kind_of(walk, rule, is_first);
	if (kind == PPI_CODE_SIGNAL_RETURN) {
		is_by_table = is_signal = true;
		if (!step_signal(walk, &cfa))
			return false;
	} else if (kind != PPI_CODE_OTHER) {
		if (!step_stub(walk, kind, &cfa))
			return false;
	} else if (rule) {
		is_by_table = true;
		is_signal = rule->is_signal;
		if (rule->is_outermost) {
			walk->end = PORTPROF_CHAIN_WHOLE;
			return false;
		}
		if (rule->kind == PPI_RULE_SIMPLE
			    ? !step_simple(walk, rule, rules, &cfa)
			    : !step_other(walk, rules, lookup + extent->shift,
			                  &cfa))
			return false;
		if (!is_known(walk, machine->pc)) {
			walk->end = PORTPROF_CHAIN_WHOLE;
			return false;
		}
	} else {
		if (!is_first)
			comes = ppi_step_return(walk);
		if (comes == PPI_RETURN_PLAIN)
			end = find_end(walk, is_first);
		if (end.kind == PPI_END_BY_STACK && is_end_of_made(walk, &end)) {
			is_by_code = true;
			if (!step_end(walk, &end, &cfa))
				return false;
		} else if (end.kind != PPI_END_BY_POINTER && is_first &&
		           has_link(walk, &caller)) {
			if (!step_link(walk, caller, &cfa))
				return false;
		} else if (end.kind != PPI_END_BY_POINTER && is_leaf &&
		           is_bare(walk, &caller)) {
			is_by_code = true;
			step_bare(walk, caller, &cfa);
		} else if (!is_leaf && (is_marked_outermost(walk) ||
		                        comes == PPI_RETURN_NEVER)) {
			walk->end = PORTPROF_CHAIN_WHOLE;
			return false;
		} else if (end.kind != PPI_END_BY_POINTER &&
		           comes != PPI_RETURN_BACK &&
		           !ppi_step_trusts_pointers(walk)) {
			return false;
		} else if (!step_frame_pointer(walk, comes == PPI_RETURN_BACK,
		                               &cfa)) {
			return false;
		}
	}
	pc = walk->at.value[machine->pc] & walk->unwinder->address_mask;
	walk->at.value[machine->pc] = pc;
	if (pc == 0) {
		walk->end = PORTPROF_CHAIN_WHOLE;
		return false;
	}
	walk->end = PORTPROF_CHAIN_JUNK;
	/* only the kernel moves to another stack; a function that has no frame
	 * keeps its caller's, on a machine whose calls push nothing */
	if (!is_signal && (cfa < sp || (cfa == sp &&
	                                (!is_first || machine->call_bytes))))
		return false;
	walk->extent = ppi_step_code(walk, is_signal ? pc : pc - 1);
	if (!walk->extent)
		return false;
	if ((!is_by_table || walk->is_sp_least) &&
	    !ppi_step_follows_call(walk, pc) &&
	    (is_by_code || !is_pushed(walk, extent, cfa)))
		return false;
	if (comes == PPI_RETURN_BACK)
		ppi_step_between(walk, inner);
	walk->called = inner;
	/* An exception continues in its handler, to which the unwinder of another
	 * module returns (libgcc's unwind.inc, uw_install_context): no call precedes
	 * it. Within one module only a leaf is asked: it is for the hot path. */
	*is_interrupted = is_signal ||
	                  (is_by_table && (is_leaf || walk->extent != extent) &&
	                   !ppi_step_follows_call(walk, pc));
	if (is_signal)
		change_stack(walk);
	walk->keeps_pointers = !is_by_table && kind == PPI_CODE_OTHER &&
	                       !is_by_code;
	walk->is_sp_least = walk->keeps_pointers && machine->call_bytes == 0;
	return true;
}
