/* SPDX-License-Identifier: MIT */
/*
 * What a function has left to do, by its code from an instruction on: all ways to a
 * return are gone, and must agree. Code of compilers has one depth of the stack at
 * each instruction, so they do; where not, something was no code.
 */
#include "config.h"

#include "api/unwind/code_end.h"

#include <string.h>

/* gABI, e_machine. */
enum { MACHINE_X86_64 = 62, MACHINE_AARCH64 = 183 };

enum { WINDOW = PPI_END_BEFORE + PPI_END_AFTER, BRANCHES = 32,
       INSTRUCTIONS = 1024, RANGE = 1 << 24, ENOUGH = 4 };

/* ---- registers and words of the stack ---- */

static bool is_address(struct ppi_held held)
{
	return held.kind == PPI_HELD_SP || held.kind == PPI_HELD_FP;
}

struct ppi_held ppi_held_plus(struct ppi_held held, int64_t by)
{
	int64_t sum = held.offset + by;

	if (!is_address(held) || sum < -RANGE || sum > RANGE)
		return (struct ppi_held){ PPI_HELD_OTHER, 0 };
	held.offset = (int32_t)sum;
	return held;
}

struct ppi_held ppi_path_load(const struct ppi_path *path, struct ppi_held from)
{
	const struct ppi_held other = { PPI_HELD_OTHER, 0 };
	int32_t offset = from.offset, word = offset / 8;

	if (from.kind == PPI_HELD_FP)
		return path->has_changed_pointers
			? other : (struct ppi_held){ PPI_HELD_AT_FP, offset };
	if (from.kind != PPI_HELD_SP || offset % 8)
		return other;
	if (path->saved_fp && offset == path->saved_fp - 1)
		return (struct ppi_held){ PPI_HELD_FP, 0 };
	if (path->saved_ra && offset == path->saved_ra - 1)
		return (struct ppi_held){ PPI_HELD_RA, 0 };
	if (offset < 0 || word >= PPI_END_MOST ||
	    (word < PPI_PATH_WORDS &&
	     path->changed[word / 64] >> word % 64 & 1))
		return other;
	return (struct ppi_held){ PPI_HELD_AT_SP, offset };
}

void ppi_path_store(struct ppi_path *path, struct ppi_held to,
                    struct ppi_held value)
{
	int32_t offset = to.offset, word = offset / 8;

	if (to.kind == PPI_HELD_FP && offset > -8 && offset < 16)
		path->has_changed_pointers = true;
	if (to.kind != PPI_HELD_SP)
		return;
	if (path->saved_fp == offset + 1)
		path->saved_fp = 0;
	if (path->saved_ra == offset + 1)
		path->saved_ra = 0;
	if (offset >= 0 && word < PPI_PATH_WORDS)
		path->changed[word / 64] |= UINT64_C(1) << word % 64;
	if (offset % 8)
		return;
	/* plus 1: no offset of a word is 0 then */
	if (value.kind == PPI_HELD_FP && value.offset == 0)
		path->saved_fp = offset + 1;
	if (value.kind == PPI_HELD_RA)
		path->saved_ra = offset + 1;
}

/* ---- the ways to a return ---- */

struct search {
	unsigned machine;
	const unsigned char *bytes;
	size_t at, count;
	uint64_t address;
	struct ppi_path branches[BRANCHES];
	size_t pending;
	unsigned left; /* instructions */
	/* without a call and with one: how deep the stack is at what was seen, in
	 * words and 1 more */
	int16_t seen[2][WINDOW];
	struct ppi_code_end found[2];
	bool disagree[2];
	bool begins_called;
	unsigned agree; /* ends as the first one, with no call more */
};

static unsigned number_of(struct ppi_held held, enum ppi_held_kind kept)
{
	if (held.kind == kept && held.offset == 0)
		return PPI_END_KEPT;
	return held.kind == PPI_HELD_AT_SP ? (unsigned)held.offset / 8
	                                   : PPI_END_LOST;
}

static struct ppi_code_end end_of(const struct ppi_path *path)
{
	struct ppi_code_end end = { 0, PPI_END_LOST, PPI_END_LOST, 0, 0 };
	unsigned ra = number_of(path->ra, PPI_HELD_RA);

	if (path->ra.kind == PPI_HELD_AT_FP && path->ra.offset == 8 &&
	    path->fp.kind == PPI_HELD_AT_FP && path->fp.offset == 0) {
		end.kind = PPI_END_BY_POINTER;
		return end;
	}
	if (path->sp.kind != PPI_HELD_SP || path->sp.offset < 0 ||
	    path->sp.offset % 8 || path->sp.offset / 8 >= PPI_END_MOST ||
	    ra == PPI_END_LOST)
		return end;
	end.words = (uint16_t)(path->sp.offset / 8);
	end.ra = (uint16_t)ra;
	end.fp = (uint16_t)number_of(path->fp, PPI_HELD_FP);
	end.lost = path->lost & 0xfff;
	end.kind = PPI_END_BY_STACK;
	return end;
}

/* What one way does not know of the frame pointer another may: what it has now, or
 * on the stack, is the caller's. */
static void note_end(struct search *search, const struct ppi_path *path)
{
	struct ppi_code_end end = end_of(path);
	struct ppi_code_end *found = &search->found[path->has_called];

	if (end.kind == PPI_END_UNKNOWN)
		return;
	if (found->kind == PPI_END_UNKNOWN) {
		*found = end;
	} else if (found->kind != end.kind || found->words != end.words ||
	           found->ra != end.ra) {
		search->disagree[path->has_called] = true;
	} else {
		if (found->fp == PPI_END_LOST)
			found->fp = end.fp;
		found->lost |= end.lost;
		search->agree += path->has_called == search->begins_called;
	}
}

/* Whether nobody came to bytes[at] before. */
static bool is_new(struct search *search, uint64_t at, const struct ppi_path *path)
{
	enum { ELSEWHERE = INT16_MAX, DEEPEST = INT16_MAX / 2 };
	int32_t words = path->sp.offset / 8;
	int16_t depth = ELSEWHERE, *seen;

	if (at >= search->count)
		return false;
	if (path->sp.kind == PPI_HELD_SP && words < DEEPEST && words > -DEEPEST)
		depth = (int16_t)(words + (words >= 0));
	seen = &search->seen[path->has_called][at];
	if (*seen == 0) {
		*seen = depth;
		return true;
	}
	if (*seen != ELSEWHERE && depth != ELSEWHERE && *seen != depth)
		search->disagree[path->has_called] = true;
	return false;
}

static void go(struct search *search, struct ppi_path path)
{
	uint64_t first = search->address - search->at;

	while (search->left > 0 &&
	       is_new(search, path.address - first, &path)) {
		const unsigned char *code = search->bytes +
		                            (size_t)(path.address - first);
		size_t count = search->count - (size_t)(path.address - first);
		struct ppi_step_of_code step =
			search->machine == MACHINE_X86_64
			? ppi_x86_follow(&path, code, count)
			: ppi_arm64_follow(&path, code, count);

		search->left--;
		if (step.flow == PPI_FLOW_RETURN)
			note_end(search, &path);
		if (step.flow == PPI_FLOW_RETURN || step.flow == PPI_FLOW_STOP)
			return;
		if (step.flow == PPI_FLOW_BRANCH && search->pending < BRANCHES) {
			search->branches[search->pending] = path;
			search->branches[search->pending++].address +=
				(uint64_t)step.jump;
		}
		path.address += step.flow == PPI_FLOW_JUMP
			? (uint64_t)step.jump : step.length;
	}
}

/* Most of it is for much code, and not made empty. */
static void begin(struct search *search, unsigned machine,
                  const unsigned char *bytes, size_t at, size_t count,
                  uint64_t address)
{
	search->machine = machine;
	search->bytes = bytes;
	search->at = at;
	search->count = count < WINDOW ? count : WINDOW;
	search->address = address;
	search->left = INSTRUCTIONS;
	search->pending = 0;
	search->agree = 0;
	for (unsigned i = 0; i < 2; i++) {
		memset(search->seen[i], 0,
		       search->count * sizeof(search->seen[i][0]));
		memset(&search->found[i], 0, sizeof(search->found[i]));
		search->disagree[i] = false;
	}
}

struct ppi_code_end ppi_find_end(unsigned machine, const unsigned char *bytes,
                                 size_t at, size_t count, uint64_t address,
                                 bool follows_call)
{
	const struct ppi_code_end unknown = { 0, 0, 0, 0, PPI_END_UNKNOWN };
	struct search search;
	struct ppi_path path = { .address = address,
		                 .sp.kind = PPI_HELD_SP,
		                 .fp.kind = PPI_HELD_FP,
		                 .has_called = follows_call,
		                 .follows_call = follows_call };
	int pushed;

	if (machine != MACHINE_X86_64 && machine != MACHINE_AARCH64)
		return unknown;
	pushed = machine == MACHINE_X86_64 && !follows_call
		? ppi_x86_plt_words(bytes, at, count, address) : -1;
	if (pushed >= 0)
		return (struct ppi_code_end){ (uint16_t)(pushed + 1),
			                      (uint16_t)pushed, PPI_END_KEPT, 0,
			                      PPI_END_BY_STACK };
	if (machine == MACHINE_AARCH64)
		path.ra.kind = PPI_HELD_RA;
	begin(&search, machine, bytes, at, count, address);
	search.begins_called = follows_call;
	go(&search, path);
	while (search.pending > 0 && search.agree < ENOUGH)
		go(&search, search.branches[--search.pending]);
	/* a call that does not return leads to what is not the function's */
	for (unsigned i = 0; i < 2; i++)
		if (search.disagree[i] || search.found[i].kind != PPI_END_UNKNOWN)
			return search.disagree[i] ? unknown : search.found[i];
	return unknown;
}
