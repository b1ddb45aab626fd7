/* SPDX-License-Identifier: MIT */
/*
 * A frame pointer that is nowhere: of a thread that waits only the stack pointer
 * and the program counter are known, and a leaf that calls nobody saves no
 * register. Where a function's rule needs its frame pointer it is found by what
 * its code does to the stack: x86-64 pushes the caller's, and behind it lies the
 * return address.
 */
#include "config.h"

#include "api/unwind/code_places.h"
#include "api/unwind/step.h"

#include <string.h>

enum { RA, FP }; /* in machine->saved */

enum { PROLOGUE = 128, SEARCHED = 1 << 14 };

/* A function that is looked at. */
struct lost {
	struct ppi_walk *walk;
	uint64_t start; /* of the function */
	uint64_t sp;    /* in it */
};

static struct ppi_code_place place_of(struct lost *lost, uint64_t address)
{
	return (struct ppi_code_place){
		lost->walk->machine, ppi_step_code(lost->walk, address - 1),
		address, lost->walk->pid
	};
}

enum fit { NO_FIT, FITS, FITS_WELL };

/* Whether `fp` may be the frame pointer: the return address above it follows a
 * call, of this function where the call says of whom. */
static enum fit fit_of(struct lost *lost, uint64_t fp)
{
	struct ppi_code_places *bytes = lost->walk->unwinder->bytes;
	struct ppi_code_place place;
	uint64_t ra, target;

	if (!ppi_step_peek(lost->walk->stack, fp + 8, &ra))
		return NO_FIT;
	ra &= lost->walk->unwinder->address_mask;
	place = place_of(lost, ra);
	if (!place.extent || !ppi_code_follows_call(bytes, &place))
		return NO_FIT;
	target = ppi_code_call_target(bytes, &place);
	if (target == lost->start)
		return FITS_WELL;
	if (!target) /* by a pointer */
		return FITS;
	place = place_of(lost, target + 1);
	place.address = target;
	return place.extent && ppi_code_kind_of(bytes, &place, true) ==
	                               PPI_CODE_STUB
	       ? FITS : NO_FIT;
}

/* So much the function takes off the stack at its beginning: `sub $n,%rsp` in the
 * Intel manual's encodings 83 /5 ib and 81 /5 id. False: it does not. */
static bool find_room(struct lost *lost, uint64_t before, uint64_t *room)
{
	unsigned char code[PROLOGUE];
	struct ppi_code_place place = place_of(lost, lost->start + 1);
	size_t count;
	int32_t wide;

	place.address = lost->start;
	if (!place.extent || before <= lost->start)
		return false;
	count = ppi_code_read(&place, code, sizeof(code));
	if (count > before - lost->start)
		count = before - lost->start;
	for (size_t i = 0; i + 4 <= count; i++) {
		if (code[i] != 0x48)
			continue;
		if (code[i + 1] == 0x83 && code[i + 2] == 0xec) {
			*room = code[i + 3];
			return code[i + 3] < 0x80;
		}
		if (code[i + 1] == 0x81 && code[i + 2] == 0xec &&
		    i + 7 <= count) {
			memcpy(&wide, code + i + 3, sizeof(wide));
			*room = (uint32_t)wide;
			return wide > 0;
		}
	}
	*room = 0;
	return true;
}

/* Where the registers begin that it has pushed, below the frame pointer. */
static uint64_t pushed_bytes(const struct ppi_walk *walk,
                             const struct ppi_rule *rule)
{
	int lowest = -16;

	for (unsigned i = 0; i < walk->machine->saved_count; i++)
		if (rule->saved >> i & 1 && rule->offset[i] < lowest)
			lowest = rule->offset[i];
	return (uint64_t)(-16 - lowest);
}

/* Of functions that take more off the stack as they go: the lowest place that a
 * call of this very function led to, or else one by a pointer. */
static bool search(struct lost *lost, uint64_t from, uint64_t *fp)
{
	uint64_t may_be = 0;

	for (uint64_t at = from; at < from + SEARCHED; at += 8) {
		uint64_t caller;
		enum fit fit = fit_of(lost, at);

		if (fit == FITS_WELL) {
			*fp = at;
			return true;
		}
		if (fit == FITS && !may_be &&
		    ppi_step_peek(lost->walk->stack, at, &caller) &&
		    caller > at && caller - at < SEARCHED)
			may_be = at;
	}
	*fp = may_be;
	return may_be != 0;
}

bool ppi_step_find_pointer(struct ppi_walk *walk, const struct ppi_rule *rule,
                           struct ppi_frame_rules *rules, uint64_t *fp)
{
	const struct ppi_machine *machine = walk->machine;
	uint64_t pc = walk->at.value[machine->pc], address, start, room;
	const struct ppi_extent *extent = walk->extent;
	struct lost lost = { .walk = walk,
		             .sp = walk->at.value[machine->sp] };
	bool is_found = false;

	if (machine != &ppi_machine_x86_64 || !extent ||
	    !ppi_step_keeps_pointer(machine, rule) || lost.sp % 8 ||
	    !(walk->at.known >> machine->sp & 1) ||
	    !ppi_frame_rules_address(rules, pc - 1 + extent->shift, &address))
		return false;
	start = ppi_frame_rules_start(rules, address);
	if (!start || start > address)
		return false;
	lost.start = pc - 1 - (address - start);
	*fp = lost.sp + pushed_bytes(walk, rule);
	if (find_room(&lost, pc, &room) && fit_of(&lost, *fp + room)) {
		*fp += room;
		is_found = true;
	} else {
		is_found = search(&lost, *fp, fp);
	}
	/* what it looked at are other places */
	walk->extent = ppi_step_code(walk, pc - 1);
	walk->end = PORTPROF_CHAIN_NO_RULE;
	return is_found;
}
