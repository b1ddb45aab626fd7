/* SPDX-License-Identifier: MIT */
/* One frame up, of a walk that is under way. */
#ifndef PPI_STEP_H
#define PPI_STEP_H

#include "api/unwind/code_places.h"
#include "api/unwind/code_map.h"
#include "api/unwind/frame_rules.h"
#include "api/unwind/machine.h"

/* ---- what one unwinder keeps: code, rules that were looked up, and sums ---- */

/* For -v and tests. */
struct ppi_unwinder_stats {
	uint64_t samples, cpu_ns; /* of ppi_unwinder_take */
	uint64_t frames, misses; /* rules that had to be looked up in tables */
	uint64_t modules;        /* whose tables were opened */
	uint64_t memory_bytes;   /* of the table of rules */
};

/* One rule of the table. A pc has one place in it: what needs that place next
 * takes it, so the table never grows. */
struct ppi_rule_slot {
	uint64_t place; /* in the file */
	uint32_t serial; /* of the module's tables; 0 = free */
	struct ppi_rule rule;
};

enum { PPI_RULE_SLOTS = 1 << 13 };

/* Addresses of a chain, at most. */
enum { PPI_CHAIN_MAX = 1024 };

struct ppi_unwinder {
	const struct ppi_machine *machine;
	bool has_no_tables;
	uint64_t preserved; /* a bit for each register that callees preserve */
	uint64_t address_mask;
	struct ppi_code_map code;
	struct ppi_rule_slot *slots;
	struct ppi_code_places *bytes;
	struct ppi_unwinder_stats stats;
	uint64_t chain[PPI_CHAIN_MAX];
};

/* ---- a walk ---- */

struct ppi_walk {
	struct ppi_unwinder *unwinder;
	const struct ppi_machine *machine;
	const struct ppi_layout *layout;
	const struct ppi_stack *stack;
	uint32_t pid;
	const struct ppi_registers *began; /* on the stack that callers are of */
	const struct ppi_stack *first;
	struct ppi_registers at; /* of the current frame */
	const struct ppi_extent *extent; /* its code; NULL = unknown */
	enum portprof_chain_end end; /* why it could not go on */
	bool keeps_pointers; /* the frame before was found by its frame pointer */
	/* The stack pointer may be higher: on arm64 a frame's pointers lie at its
	 * end or its beginning. */
	bool is_sp_least;
	uint64_t left_at; /* the frame pointer that led out of the copy, or 0 */
	uint64_t called;  /* the pc of the frame before */
	uint64_t between; /* a return address in front of the one that was found */
	bool leaves_out;  /* there is one, and nobody knows which */
};

/* False: the chain ends here, and walk->end says why. */
bool ppi_step(struct ppi_walk *walk, bool is_leaf, bool *is_interrupted);

/* lost_pointer.c: the frame pointer of a function whose rule needs it, where no
 * function that it called has saved it. False: it cannot be found. */
bool ppi_step_find_pointer(struct ppi_walk *walk, const struct ppi_rule *rule,
                           struct ppi_frame_rules *rules, uint64_t *fp);

/* ---- what it asks of the levels above ---- */

/* A word of a copy of the stack; `load` is of the walk's, a struct ppi_walk, and
 * says why it failed. */
bool ppi_step_peek(const struct ppi_stack *stack, uint64_t address,
                   uint64_t *word);
bool ppi_step_load(void *walk, uint64_t address, uint64_t *word);
/* The code at an address, and its rule at a pc; NULL where there is none. */
const struct ppi_extent *ppi_step_code(struct ppi_walk *walk, uint64_t address);
const struct ppi_rule *ppi_step_rule(struct ppi_walk *walk,
                                     const struct ppi_extent *extent,
                                     uint64_t pc,
                                     struct ppi_frame_rules **rules);
/* Whether a function of that rule has a frame pointer. */
bool ppi_step_keeps_pointer(const struct ppi_machine *machine,
                            const struct ppi_rule *rule);
/* Whether code where walk->at is has frame pointers, tables apart. */
bool ppi_step_trusts_pointers(struct ppi_walk *walk);
/* Of an address in walk->extent. */
bool ppi_step_follows_call(struct ppi_walk *walk, uint64_t address);
/* What the function does that walk->at, a caller's, is in: change the stack, or
 * begin one. */
enum ppi_return ppi_step_return(struct ppi_walk *walk);
/* The stack was changed from walk->at to `inner`: who did that, in walk->between
 * or walk->leaves_out. */
void ppi_step_between(struct ppi_walk *walk, uint64_t inner);

#endif
