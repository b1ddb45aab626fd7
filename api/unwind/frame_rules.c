/* SPDX-License-Identifier: MIT */
/*
 * Rules of one module, from its .eh_frame by elfutils. libdw gets one entry at a
 * time, which was looked at before, and nothing else of the file; expressions are
 * evaluated here. It is loaded when the first stack is unwound: a program that uses
 * the library for other things does not need it.
 */
#include "config.h"

#include "api/unwind/frame_rules.h"

#include "api/unwind/frame_table.h"
#include "api/unwind/machine.h"
#include "base/library.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- expressions: DWARF 5, section 2.5 ---- */

/* What an expression may look at. */
struct expression_input {
	const struct ppi_registers *registers;
	uint64_t cfa; /* while the CFA itself is computed: 0 */
	ppi_load_fn load;
	void *context;
};

/* No compiler or C library comes near; a loop of a damaged table ends here. */
enum { STACK_MAX = 64, STEPS_MAX = 1000 };

struct stack_machine {
	uint64_t stack[STACK_MAX];
	size_t depth;
	const struct expression_input *input;
	bool has_failed;
};

static void push(struct stack_machine *m, uint64_t word)
{
	if (m->depth == STACK_MAX)
		m->has_failed = true;
	else
		m->stack[m->depth++] = word;
}

static uint64_t pop(struct stack_machine *m)
{
	if (m->depth == 0) {
		m->has_failed = true;
		return 0;
	}
	return m->stack[--m->depth];
}

static uint64_t pick(struct stack_machine *m, uint64_t below)
{
	if (below >= m->depth) {
		m->has_failed = true;
		return 0;
	}
	return m->stack[m->depth - 1 - below];
}

static uint64_t register_of(struct stack_machine *m, uint64_t number)
{
	const struct ppi_registers *r = m->input->registers;

	if (number >= PPI_REGISTERS || !(r->known >> number & 1)) {
		m->has_failed = true;
		return 0;
	}
	return r->value[number];
}

static void dereference(struct stack_machine *m, uint64_t bytes)
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

static bool binary(struct stack_machine *m, uint8_t atom)
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

static bool unary(struct stack_machine *m, const Dwarf_Op *op)
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

static bool source(struct stack_machine *m, const Dwarf_Op *op)
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

/*
 * Evaluate `count` operations. *is_value: the result is the value itself, not
 * the address it is at. False when it cannot be known.
 */
static bool evaluate(const Dwarf_Op *ops, size_t count,
                     const struct expression_input *input,
                     uint64_t *result, bool *is_value)
{
	struct stack_machine m = { .input = input };
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

/* ---- libdw ---- */

#define DW_FUNCTIONS(X)                                                    \
	X(elf_version) X(elf_memory) X(elf_end) X(dwarf_getcfi_elf)        \
	X(dwarf_cfi_end) X(dwarf_cfi_addrframe) X(dwarf_frame_info)        \
	X(dwarf_frame_cfa) X(dwarf_frame_register)

#define DW_POINTER(name) __typeof__(name) *name;
#define DW_NAME(name) #name,

static struct {
	DW_FUNCTIONS(DW_POINTER)
} dw;

static pthread_once_t is_asked = PTHREAD_ONCE_INIT;
static bool is_loaded;

static void load_libdw(void)
{
	static const char *const names[] = { DW_FUNCTIONS(DW_NAME) };

	is_loaded = ppi_library_load(PPI_LIBDW_FILE, names,
	                             sizeof(names) / sizeof(names[0]), &dw) &&
	            dw.elf_version(EV_CURRENT) != EV_NONE;
}

const char *ppi_frame_rules_missing(void)
{
	pthread_once(&is_asked, load_libdw);
	if (is_loaded)
		return NULL;
	return ppi_library_is_static()
	       ? "a statically linked program cannot load " PPI_LIBDW_FILE
	         "; link it dynamically"
	       : PPI_LIBDW_FILE " cannot be loaded; install it "
	                        "(Debian: libdw1)";
}

/* ---- the tables of a module ---- */

struct ppi_frame_rules {
	const struct ppi_machine *machine;
	struct ppi_frame_table *table;
	/* The entry that libdw has, as a program of its own. */
	const unsigned char *entry;
	unsigned char *image;
	Elf *elf;
	Dwarf_CFI *cfi;
};

struct ppi_frame_rules *ppi_frame_rules_open(
	const struct ppi_machine *machine, const struct ppi_frame_source *source,
	const unsigned char *build_id, size_t build_id_bytes)
{
	struct ppi_frame_rules *rules;

	if (ppi_frame_rules_missing())
		return NULL;
	rules = calloc(1, sizeof(*rules));
	if (!rules)
		return NULL;
	rules->machine = machine;
	rules->table = ppi_frame_table_open(machine->elf_machine, source,
	                                    build_id, build_id_bytes);
	if (rules->table)
		return rules;
	free(rules);
	return NULL;
}

static void drop_entry(struct ppi_frame_rules *rules)
{
	if (rules->cfi)
		dw.dwarf_cfi_end(rules->cfi);
	if (rules->elf)
		dw.elf_end(rules->elf);
	free(rules->image);
	rules->cfi = NULL;
	rules->elf = NULL;
	rules->image = NULL;
	rules->entry = NULL;
}

void ppi_frame_rules_close(struct ppi_frame_rules *rules)
{
	if (!rules)
		return;
	drop_entry(rules);
	ppi_frame_table_close(rules->table);
	free(rules);
}

size_t ppi_frame_rules_bytes(const struct ppi_frame_rules *rules)
{
	enum { ENTRY_BYTES = 4096 }; /* about */

	return sizeof(*rules) + ENTRY_BYTES + ppi_frame_table_bytes(rules->table);
}

bool ppi_frame_rules_address(const struct ppi_frame_rules *rules, uint64_t file_offset,
                             uint64_t *address)
{
	return ppi_frame_table_address(rules->table, file_offset, address);
}

/* ---- one entry for libdw ---- */

/* A program with nothing but a header without a table, and the entry. */
struct small_image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	unsigned char version, frames, count, rows;
	unsigned char address[8]; /* of `entries` */
	unsigned char rest[4];    /* `entries` begin on 8 bytes */
	unsigned char entries[];
};

static unsigned char *make_image(const struct ppi_machine *machine,
                                 const struct ppi_frame_entry *entry,
                                 size_t *size)
{
	enum { END_BYTES = 4 }; /* a length of 0 */
	const size_t at = offsetof(struct small_image, version);
	struct small_image *image;
	/* where the copy of `own` is as far from what it names as it was */
	uint64_t address = entry->own_address - entry->common_bytes;
	uint32_t back = (uint32_t)entry->common_bytes + 4;

	*size = sizeof(*image) + entry->common_bytes + entry->own_bytes +
	        END_BYTES;
	image = calloc(1, *size);
	if (!image)
		return NULL;
	memcpy(image->header.e_ident, ELFMAG, SELFMAG);
	image->header.e_ident[EI_CLASS] = ELFCLASS64;
	image->header.e_ident[EI_DATA] = ELFDATA2LSB;
	image->header.e_ident[EI_VERSION] = EV_CURRENT;
	image->header.e_type = ET_DYN;
	image->header.e_machine = machine->elf_machine;
	image->header.e_version = EV_CURRENT;
	image->header.e_ehsize = sizeof(image->header);
	image->header.e_phoff = offsetof(struct small_image, segment);
	image->header.e_phentsize = sizeof(image->segment);
	image->header.e_phnum = 1;
	image->segment.p_type = PT_GNU_EH_FRAME;
	image->segment.p_offset = at;
	image->segment.p_filesz = offsetof(struct small_image, entries) - at;
	image->segment.p_memsz = image->segment.p_filesz;
	image->segment.p_vaddr = address - image->segment.p_filesz;
	image->version = 1;
	image->frames = DW_EH_PE_udata8;
	image->count = DW_EH_PE_omit;
	image->rows = DW_EH_PE_omit;
	memcpy(image->address, &address, sizeof(address));
	memcpy(image->entries, entry->common, entry->common_bytes);
	memcpy(image->entries + entry->common_bytes, entry->own,
	       entry->own_bytes);
	memcpy(image->entries + entry->common_bytes + 4, &back, sizeof(back));
	return (unsigned char *)image;
}

static bool hand_over(struct ppi_frame_rules *rules,
                      const struct ppi_frame_entry *entry)
{
	size_t size;

	if (rules->entry == entry->own)
		return rules->cfi != NULL;
	drop_entry(rules);
	rules->entry = entry->own;
	rules->image = make_image(rules->machine, entry, &size);
	if (rules->image)
		rules->elf = dw.elf_memory((char *)rules->image, size);
	if (rules->elf)
		rules->cfi = dw.dwarf_getcfi_elf(rules->elf);
	return rules->cfi != NULL;
}

uint64_t ppi_frame_rules_start(const struct ppi_frame_rules *rules,
                               uint64_t address)
{
	struct ppi_frame_entry entry;

	return ppi_frame_table_find(rules->table, address, &entry)
	       ? entry.start : 0;
}

static Dwarf_Frame *frame_at(struct ppi_frame_rules *rules, uint64_t address)
{
	struct ppi_frame_entry entry;
	Dwarf_Frame *frame = NULL;

	if (!ppi_frame_table_find(rules->table, address, &entry) ||
	    !hand_over(rules, &entry) ||
	    dw.dwarf_cfi_addrframe(rules->cfi, address, &frame) != 0)
		return NULL;
	return frame;
}

/* ---- common rules ---- */

static bool fits(uint64_t number)
{
	return (uint64_t)(int64_t)(int32_t)(uint32_t)number == number;
}

/* "register + offset" */
static bool make_cfa(const struct ppi_machine *machine, Dwarf_Frame *frame,
                     struct ppi_rule *rule)
{
	Dwarf_Op *ops;
	size_t count;
	uint64_t number, offset;

	if (dw.dwarf_frame_cfa(frame, &ops, &count) != 0 || count != 1)
		return false;
	if (ops[0].atom == DW_OP_bregx)
		number = ops[0].number, offset = ops[0].number2;
	else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31)
		number = ops[0].atom - DW_OP_breg0, offset = ops[0].number;
	else
		return false;
	rule->cfa_register = (uint8_t)number;
	rule->cfa_offset = (int32_t)(uint32_t)offset;
	return number < machine->register_count && fits(offset);
}

enum where { SAME, UNDEFINED, AT_OFFSET, ELSEWHERE };

/* Where the caller's register is. */
static enum where find_saved(Dwarf_Frame *frame, int number, int16_t *offset)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	if (dw.dwarf_frame_register(frame, number, memory, &ops, &count) != 0)
		return ELSEWHERE;
	if (count == 0)
		return ops ? UNDEFINED : SAME;
	if (ops[0].atom != DW_OP_call_frame_cfa)
		return ELSEWHERE;
	*offset = 0;
	if (count == 1)
		return AT_OFFSET;
	if (count != 2 || ops[1].atom != DW_OP_plus_uconst ||
	    (uint64_t)(int16_t)(uint16_t)ops[1].number != ops[1].number)
		return ELSEWHERE;
	*offset = (int16_t)(uint16_t)ops[1].number;
	return AT_OFFSET;
}

static bool make_saved(const struct ppi_machine *machine, Dwarf_Frame *frame,
                       struct ppi_rule *rule)
{
	int16_t ignored;
	/* x86-64: the stack pointer is the CFA, unless it says otherwise */
	enum where sp = find_saved(frame, machine->sp, &ignored);

	if (sp == AT_OFFSET)
		return false;
	for (unsigned i = 0; i < machine->saved_count; i++)
		switch (find_saved(frame, machine->saved[i],
		                   &rule->offset[i])) {
		case SAME:
			break;
		case UNDEFINED:
			if (machine->saved[i] == machine->ra)
				rule->is_outermost = true;
			break;
		case AT_OFFSET:
			rule->saved |= (uint16_t)(1u << i);
			break;
		case ELSEWHERE:
			return false;
		}
	return true;
}

void ppi_frame_rules_find(struct ppi_frame_rules *rules, uint64_t address,
                          struct ppi_rule *rule)
{
	Dwarf_Frame *frame = frame_at(rules, address);
	bool is_signal = false;
	int column;

	memset(rule, 0, sizeof(*rule));
	if (!frame)
		return;
	column = dw.dwarf_frame_info(frame, NULL, NULL, &is_signal);
	rule->is_signal = is_signal;
	rule->kind = PPI_RULE_OTHER;
	if (column == rules->machine->ra && !is_signal &&
	    make_cfa(rules->machine, frame, rule) &&
	    make_saved(rules->machine, frame, rule))
		rule->kind = PPI_RULE_SIMPLE;
	free(frame);
}

/* ---- others ---- */

/* False when the rule asks for what is not known. */
static bool step_register(Dwarf_Frame *frame, int number, int to_number,
                          const struct expression_input *input,
                          struct ppi_registers *to)
{
	Dwarf_Op memory[3], *ops;
	size_t count;
	uint64_t value;
	bool is_value;

	to->known &= ~(UINT64_C(1) << to_number);
	if (dw.dwarf_frame_register(frame, number, memory, &ops, &count) != 0)
		return false;
	if (count == 0) {
		if (ops || !(input->registers->known >> number & 1))
			return true;
		value = input->registers->value[number];
	} else {
		if (!evaluate(ops, count, input, &value, &is_value) ||
		    (!is_value && !input->load(input->context, value,
		                               &value)))
			return false;
	}
	to->value[to_number] = value;
	to->known |= UINT64_C(1) << to_number;
	return true;
}

static bool step_all(const struct ppi_machine *machine, Dwarf_Frame *frame,
                     int column, const struct expression_input *input,
                     struct ppi_frame *to)
{
	struct ppi_registers *registers = &to->registers;

	memset(registers, 0, sizeof(*registers));
	for (int i = 0; i < machine->register_count; i++)
		/* what is of no use to us may be out of reach */
		if (i != machine->pc && i != column &&
		    !step_register(frame, i, i, input, registers))
			registers->known &= ~(UINT64_C(1) << i);
	if (!step_register(frame, column, machine->pc, input, registers))
		return false;
	if (column != machine->pc && column < machine->register_count)
		step_register(frame, column, column, input, registers);
	if (!(registers->known >> machine->sp & 1)) {
		registers->value[machine->sp] = to->cfa;
		registers->known |= UINT64_C(1) << machine->sp;
	}
	return true;
}

bool ppi_frame_rules_step(struct ppi_frame_rules *rules, uint64_t address,
                          const struct ppi_registers *from, ppi_load_fn load,
                          void *context, struct ppi_frame *to)
{
	struct expression_input input = { from, 0, load, context };
	Dwarf_Frame *frame = frame_at(rules, address);
	bool is_value, is_good = false;
	Dwarf_Op *ops;
	size_t count;
	int column;

	if (!frame)
		return false;
	column = dw.dwarf_frame_info(frame, NULL, NULL, NULL);
	if (column >= 0 && column < PPI_REGISTERS &&
	    dw.dwarf_frame_cfa(frame, &ops, &count) == 0 &&
	    evaluate(ops, count, &input, &input.cfa, &is_value)) {
		to->cfa = input.cfa;
		is_good = step_all(rules->machine, frame, column, &input, to);
	}
	free(frame);
	return is_good;
}
