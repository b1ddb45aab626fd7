/* SPDX-License-Identifier: MIT */
/*
 * arm64's instructions, as far as a way to a return needs them (Arm ARM, C4.1): where
 * each goes, and which of the registers that callees preserve it changes.
 */
#include "config.h"

#include "api/unwind/code_end.h"

enum { FP = 29, LINK = 30, SP = 31 };

static const struct ppi_held other = { PPI_HELD_OTHER, 0 };

static uint32_t word_of(const unsigned char *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

static int64_t bits_signed(uint32_t word, unsigned from, unsigned count)
{
	uint32_t bits = word >> from & ((UINT32_C(1) << count) - 1);

	return bits >> (count - 1) ? (int64_t)bits - (INT64_C(1) << count)
	                           : (int64_t)bits;
}

/* 31 is no register here. In machine->saved 19 to 28 have the bits from 2 on. */
static void hold(struct ppi_path *path, unsigned number, struct ppi_held value)
{
	if (number == FP)
		path->fp = value;
	else if (number == LINK)
		path->ra = value;
	else if (number >= 19 && number <= 28)
		path->lost |= (uint16_t)(1u << (number - 17));
}

static struct ppi_held held_in(const struct ppi_path *path, unsigned number)
{
	return number == FP ? path->fp : number == LINK ? path->ra : other;
}

/* The register of an address, which may be the stack pointer. */
static struct ppi_held base_of(const struct ppi_path *path, uint32_t word)
{
	unsigned number = word >> 5 & 31;

	return number == SP ? path->sp : number == FP ? path->fp : other;
}

static void set_base(struct ppi_path *path, uint32_t word, struct ppi_held value)
{
	unsigned number = word >> 5 & 31;

	if (number == SP)
		path->sp = value;
	else
		hold(path, number, value);
}

/* ---- loads and stores ---- */

static void move(struct ppi_path *path, unsigned number, bool is_load,
                 struct ppi_held place)
{
	if (is_load)
		hold(path, number, ppi_path_load(path, place));
	else
		ppi_path_store(path, place, held_in(path, number));
}

/* Of two registers: bits 23 and 24 say how the base changes (C4.1.94). */
static void run_pair(struct ppi_path *path, uint32_t word)
{
	bool is_vector = word >> 26 & 1, is_load = word >> 22 & 1;
	unsigned size = word >> 30, mode = word >> 23 & 3;
	/* stgp, which stores tags, counts in 16 bytes */
	int64_t by = bits_signed(word, 15, 7) *
	             (is_vector ? 4 << size
	              : size == 2 ? 8 : size == 1 && !is_load ? 16 : 4);
	struct ppi_held base = base_of(path, word);
	struct ppi_held place = mode == 1 ? base : ppi_held_plus(base, by);

	if (mode == 1 || mode == 3)
		set_base(path, word, ppi_held_plus(base, by));
	if (!is_vector && size == 2) {
		move(path, word & 31, is_load, place);
		move(path, word >> 10 & 31, is_load, ppi_held_plus(place, 8));
	} else if (!is_vector && is_load) {
		hold(path, word & 31, other);
		hold(path, word >> 10 & 31, other);
	}
}

/* Of one: with an immediate of 9 bits, of which some change the base, or with one of
 * 12, or with a register. Others, such as atomic ones, may change three. */
static void run_single(struct ppi_path *path, uint32_t word)
{
	bool is_vector = word >> 26 & 1, is_load = (word >> 22 & 3) != 0;
	bool is_word = word >> 30 == 3 && !is_vector && (word >> 22 & 3) < 2;
	struct ppi_held base = base_of(path, word), place = other;

	if (word >> 24 & 1) {
		place = ppi_held_plus(base, (int64_t)(word >> 10 & 0xfff) * 8);
	} else if (!(word >> 21 & 1)) {
		int64_t by = bits_signed(word, 12, 9);

		place = (word >> 10 & 3) == 1 ? base : ppi_held_plus(base, by);
		if (word >> 10 & 1)
			set_base(path, word, ppi_held_plus(base, by));
	} else if ((word >> 10 & 3) == 0) { /* atomic */
		hold(path, word >> 16 & 31, other);
		is_load = true;
	} else if (word >> 10 & 1) { /* with authentication */
		set_base(path, word, other);
	}
	if (is_word)
		move(path, word & 31, is_load, place);
	else if (is_load && !is_vector)
		hold(path, word & 31, other);
}

static void run_memory(struct ppi_path *path, uint32_t word)
{
	if ((word & 0x3a000000) == 0x28000000) {
		run_pair(path, word);
	} else if ((word & 0x3a000000) == 0x38000000) {
		run_single(path, word);
	} else if ((word & 0x3b000000) == 0x18000000) { /* literal */
		if (!(word >> 26 & 1))
			hold(path, word & 31, other);
	} else if (word >> 26 & 1) { /* of vectors, with a new base */
		if (word >> 23 & 1)
			set_base(path, word, other);
	} else { /* exclusive, ordered, copies, tags */
		hold(path, word & 31, other);
		hold(path, word >> 10 & 31, other);
		hold(path, word >> 16 & 31, other);
		if ((word & 0x3f000000) == 0x19000000)
			set_base(path, word, other);
	}
}

/* ---- other instructions ---- */

static void run_immediate(struct ppi_path *path, uint32_t word)
{
	unsigned to = word & 31;
	bool is_sum = (word & 0x1f800000) == 0x11000000;
	bool sets_flags = word >> 29 & 1;
	struct ppi_held value = other;

	if (is_sum && word >> 31) {
		int64_t by = (int64_t)(word >> 10 & 0xfff)
		             << (word >> 22 & 1 ? 12 : 0);

		value = ppi_held_plus(base_of(path, word),
		                      word >> 30 & 1 ? -by : by);
	}
	if (to != SP)
		hold(path, to, value);
	else if (is_sum ? !sets_flags /* ands is 3 */
	                : (word & 0x1f800000) == 0x12000000 &&
	                          (word >> 29 & 3) != 3)
		path->sp = value;
}

static void run_registers(struct ppi_path *path, uint32_t word)
{
	/* add and sub of an extended register, which may be the stack pointer */
	bool is_extended = (word & 0x1f200000) == 0x0b200000;

	if ((word & 31) == SP && is_extended && !(word >> 29 & 1))
		path->sp = other;
	/* those that only compare have no target */
	if ((word & 0x1fe00000) != 0x1a400000)
		hold(path, word & 31, other);
}

/* From vectors to other registers: C4.1.95. */
static void run_vectors(struct ppi_path *path, uint32_t word)
{
	bool is_conversion = (word & 0x7f20fc00) == 0x1e200000 ||
	                     (word & 0x7f200000) == 0x1e000000;
	bool is_copy = (word & 0xbfe0c400) == 0x0e000400;

	if (is_conversion || is_copy)
		hold(path, word & 31, other);
}

static struct ppi_step_of_code run_flow(struct ppi_path *path, uint32_t word)
{
	struct ppi_step_of_code step = { PPI_FLOW_ON, 4, 0 };

	if ((word & 0xfc000000) == 0x14000000) {
		step.flow = PPI_FLOW_JUMP;
		step.jump = 4 * bits_signed(word, 0, 26);
	} else if ((word & 0xfc000000) == 0x94000000 ||
	           (word & 0xfe9ff000) == 0xd61f0000) {
		unsigned kind = (word & 0xfc000000) == 0x94000000
			? 1 : word >> 21 & 3;

		/* br, blr, ret; with authentication as well */
		if (kind == 0)
			step.flow = PPI_FLOW_STOP;
		else if (kind == 2)
			step.flow = (word >> 5 & 31) == LINK ||
			                            (word & 0x800)
				? PPI_FLOW_RETURN : PPI_FLOW_STOP;
		else
			path->ra = other;
		path->has_called |= kind == 1;
		path->follows_call = kind == 1;
	} else if ((word & 0xff000000) == 0x54000000 ||
	           (word & 0x7e000000) == 0x34000000) {
		step.flow = PPI_FLOW_BRANCH;
		step.jump = 4 * bits_signed(word, 5, 19);
	} else if ((word & 0x7e000000) == 0x36000000) {
		step.flow = PPI_FLOW_BRANCH;
		step.jump = 4 * bits_signed(word, 5, 14);
	} else if ((word & 0xffe0001f) == 0xd4000001) { /* svc */
		path->has_called = true;
	} else if ((word & 0xff000000) == 0xd4000000 ||
	           (word & 0xfe000000) == 0xd6000000) { /* brk, eret */
		step.flow = PPI_FLOW_STOP;
	} else if ((word & 0xfff00000) == 0xd5300000) { /* mrs */
		hold(path, word & 31, other);
	}
	return step;
}

/* Where a function begins: bti, paciasp. */
static bool may_begin(const struct ppi_path *path, uint32_t word)
{
	return path->follows_call &&
	       ((word & 0xffffff3f) == 0xd503241f || word == 0xd503233f ||
	        word == 0xd503237f ||
	        /* stp x29, x30, [sp, offset]! */
	        (word & 0xffc07fff) == 0xa9807bfd);
}

struct ppi_step_of_code ppi_arm64_follow(struct ppi_path *path,
                                         const unsigned char *code, size_t count)
{
	const struct ppi_step_of_code on = { PPI_FLOW_ON, 4, 0 };
	const struct ppi_step_of_code stop = { PPI_FLOW_STOP, 0, 0 };
	uint32_t word;

	if (count < 4 || (word_of(code) & 0xffff0000) == 0)
		return stop; /* udf */
	word = word_of(code);
	if (may_begin(path, word))
		return stop;
	path->follows_call &= word == 0xd503201f; /* nop */
	switch (word >> 25 & 15) { /* C4.1, op0 */
	case 8:
	case 9:
		run_immediate(path, word);
		return on;
	case 10:
	case 11:
		return run_flow(path, word);
	case 4:
	case 6:
	case 12:
	case 14:
		run_memory(path, word);
		return on;
	case 5:
	case 13:
		run_registers(path, word);
		return on;
	case 7:
	case 15:
		run_vectors(path, word);
		return on;
	case 2: /* SVE: addvl and addpl change the stack pointer */
		if ((word & 0xffa0f800) == 0x04205000)
			return stop;
		hold(path, word & 31, other);
		return on;
	default:
		return stop;
	}
}
