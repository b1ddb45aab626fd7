/* SPDX-License-Identifier: MIT */
/* DWARF expressions of frame tables: DWARF 5, section 2.5. */
#include "config.h"

#include "api/unwind/expression.h"

#include <dwarf.h>

/* No compiler or C library comes near; a loop of a damaged table ends here. */
enum { STACK_MAX = 64, STEPS_MAX = 1000 };

struct machine {
	uint64_t stack[STACK_MAX];
	size_t depth;
	const struct ppi_expression_input *input;
	bool has_failed;
};

static void push(struct machine *m, uint64_t word)
{
	if (m->depth == STACK_MAX)
		m->has_failed = true;
	else
		m->stack[m->depth++] = word;
}

static uint64_t pop(struct machine *m)
{
	if (m->depth == 0) {
		m->has_failed = true;
		return 0;
	}
	return m->stack[--m->depth];
}

static uint64_t pick(struct machine *m, uint64_t below)
{
	if (below >= m->depth) {
		m->has_failed = true;
		return 0;
	}
	return m->stack[m->depth - 1 - below];
}

static uint64_t register_of(struct machine *m, uint64_t number)
{
	const struct ppi_registers *r = m->input->registers;

	if (number >= PPI_REGISTERS || !(r->known >> number & 1)) {
		m->has_failed = true;
		return 0;
	}
	return r->value[number];
}

static void dereference(struct machine *m, uint64_t bytes)
{
	uint64_t word = 0, address = pop(m);

	if (m->has_failed || bytes == 0 || bytes > 8 ||
	    !m->input->load(m->input->context, address, &word)) {
		m->has_failed = true;
		return;
	}
	/* both machines are little-endian */
	push(m, bytes == 8 ? word : word & ((UINT64_C(1) << 8 * bytes) - 1));
}

static uint64_t shift_right_signed(uint64_t word, uint64_t by)
{
	uint64_t sign = word >> 63 ? UINT64_MAX : 0;

	if (by == 0)
		return word;
	return by > 63 ? sign : word >> by | sign << (64 - by);
}

static bool binary(struct machine *m, uint8_t atom)
{
	uint64_t right = pick(m, 0), left = pick(m, 1), result;
	int64_t a = (int64_t)left, b = (int64_t)right;

	switch (atom) {
	case DW_OP_and: result = left & right; break;
	case DW_OP_or: result = left | right; break;
	case DW_OP_xor: result = left ^ right; break;
	case DW_OP_plus: result = left + right; break;
	case DW_OP_minus: result = left - right; break;
	case DW_OP_mul: result = left * right; break;
	case DW_OP_shl: result = right > 63 ? 0 : left << right; break;
	case DW_OP_shr: result = right > 63 ? 0 : left >> right; break;
	case DW_OP_shra: result = shift_right_signed(left, right); break;
	case DW_OP_eq: result = left == right; break;
	case DW_OP_ne: result = left != right; break;
	case DW_OP_ge: result = a >= b; break;
	case DW_OP_gt: result = a > b; break;
	case DW_OP_le: result = a <= b; break;
	case DW_OP_lt: result = a < b; break;
	case DW_OP_div:
		if (b == 0 || (a == INT64_MIN && b == -1))
			m->has_failed = true;
		result = m->has_failed ? 0 : (uint64_t)(a / b);
		break;
	case DW_OP_mod:
		if (right == 0)
			m->has_failed = true;
		result = m->has_failed ? 0 : left % right;
		break;
	default:
		return false;
	}
	pop(m);
	pop(m);
	push(m, result);
	return true;
}

static bool unary(struct machine *m, const Dwarf_Op *op)
{
	uint64_t a, b, c;

	switch (op->atom) {
	case DW_OP_dup: push(m, pick(m, 0)); break;
	case DW_OP_drop: pop(m); break;
	case DW_OP_over: push(m, pick(m, 1)); break;
	case DW_OP_pick: push(m, pick(m, op->number)); break;
	case DW_OP_swap:
		a = pop(m), b = pop(m);
		push(m, a), push(m, b);
		break;
	case DW_OP_rot:
		a = pop(m), b = pop(m), c = pop(m);
		push(m, a), push(m, c), push(m, b);
		break;
	case DW_OP_abs:
		a = pop(m);
		push(m, a >> 63 ? 0 - a : a);
		break;
	case DW_OP_neg: push(m, 0 - pop(m)); break;
	case DW_OP_not: push(m, ~pop(m)); break;
	case DW_OP_plus_uconst: push(m, pop(m) + op->number); break;
	case DW_OP_deref: dereference(m, 8); break;
	case DW_OP_deref_size: dereference(m, op->number); break;
	case DW_OP_nop: break;
	default:
		return false;
	}
	return true;
}

static bool source(struct machine *m, const Dwarf_Op *op)
{
	uint8_t atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		push(m, atom - DW_OP_lit0);
	else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		push(m, register_of(m, atom - DW_OP_breg0) + op->number);
	else if (atom == DW_OP_bregx)
		push(m, register_of(m, op->number) + op->number2);
	else if (atom == DW_OP_call_frame_cfa)
		push(m, m->input->cfa);
	else if (atom == DW_OP_addr || (atom >= DW_OP_const1u &&
	                                atom <= DW_OP_consts))
		push(m, op->number); /* libdw has extended its sign */
	else
		return false;
	return true;
}

/* The operation at a byte of the expression; `count` is its end. */
static size_t find(const Dwarf_Op *ops, size_t count, uint64_t offset)
{
	for (size_t i = 0; i < count; i++)
		if (ops[i].offset == offset)
			return i;
	return count;
}

/* An operation of one byte, then two bytes of offset from behind them. */
static uint64_t target_of(const Dwarf_Op *op)
{
	return op->offset + 3 + (uint64_t)(int64_t)(int16_t)op->number;
}

bool ppi_expression(const Dwarf_Op *ops, size_t count,
                    const struct ppi_expression_input *input,
                    uint64_t *result, bool *is_value)
{
	struct machine m = { .input = input };
	size_t at = 0;

	*is_value = false;
	for (unsigned step = 0; at < count; step++) {
		const Dwarf_Op *op = &ops[at++];

		if (m.has_failed || step == STEPS_MAX)
			return false;
		if (op->atom == DW_OP_stack_value) {
			*is_value = true;
		} else if (op->atom == DW_OP_skip) {
			at = find(ops, count, target_of(op));
		} else if (op->atom == DW_OP_bra) {
			if (pop(&m) != 0)
				at = find(ops, count, target_of(op));
		} else if ((op->atom >= DW_OP_reg0 &&
		            op->atom <= DW_OP_reg31) ||
		           op->atom == DW_OP_regx) {
			/* in a register of the callee's */
			push(&m, register_of(&m, op->atom == DW_OP_regx ?
				op->number : (uint64_t)(op->atom - DW_OP_reg0)));
			*is_value = true;
		} else if (!source(&m, op) && !unary(&m, op) &&
		           !binary(&m, op->atom)) {
			return false;
		}
	}
	*result = pop(&m);
	return !m.has_failed;
}
