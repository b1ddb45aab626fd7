/* SPDX-License-Identifier: MIT */
/*
 * Rules of one module, from its .eh_frame by elfutils. libdw is loaded when
 * the first stack is unwound: a program that uses the library for other things
 * does not need it.
 */
#include "config.h"

#include "api/unwind/frame_rules.h"

#include "api/unwind/expression.h"
#include "port/library.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define DW_FUNCTIONS(X)                                                    \
	X(elf_version) X(elf_begin) X(elf_memory) X(elf_end) X(elf_cntl)   \
	X(gelf_getehdr) X(gelf_getphdr) X(elf_getphdrnum)                  \
	X(dwelf_elf_gnu_build_id) X(dwarf_getcfi_elf) X(dwarf_cfi_end)     \
	X(dwarf_cfi_addrframe) X(dwarf_frame_info) X(dwarf_frame_cfa)      \
	X(dwarf_frame_register)

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
	return is_loaded ? NULL
	                 : PPI_LIBDW_FILE " cannot be loaded; install it "
	                                  "(Debian: libdw1)";
}

enum { SEGMENTS_MAX = 16 };

struct ppi_frame_rules {
	const struct ppi_machine *machine;
	Elf *elf;
	Dwarf_CFI *cfi;
	/* Rules looked up: libdw keeps what it has decoded. */
	unsigned lookups;
	size_t segment_count;
	struct {
		uint64_t offset, bytes, address;
	} segments[SEGMENTS_MAX];
};

/* libdw's memory of decoded entries is given back after so many lookups. */
enum { LOOKUPS_MAX = 1 << 17 };

static bool is_for(const struct ppi_machine *machine, Elf *elf)
{
	GElf_Ehdr header;

	return dw.gelf_getehdr(elf, &header) &&
	       header.e_machine == machine->elf_machine &&
	       header.e_ident[EI_CLASS] == ELFCLASS64 &&
	       header.e_ident[EI_DATA] == ELFDATA2LSB;
}

static bool is_same_build(Elf *elf, const unsigned char *build_id,
                          size_t bytes)
{
	const void *own = NULL;
	ssize_t own_bytes;

	if (bytes == 0)
		return true;
	own_bytes = dw.dwelf_elf_gnu_build_id(elf, &own);
	/* the record's may be cut */
	return own_bytes >= 0 && (size_t)own_bytes >= bytes &&
	       memcmp(own, build_id, bytes) == 0;
}

static void take_segments(struct ppi_frame_rules *rules)
{
	size_t count = 0;

	if (dw.elf_getphdrnum(rules->elf, &count) < 0)
		return;
	for (size_t i = 0; i < count && rules->segment_count < SEGMENTS_MAX;
	     i++) {
		GElf_Phdr header;
		size_t at = rules->segment_count;

		if (!dw.gelf_getphdr(rules->elf, (int)i, &header) ||
		    header.p_type != PT_LOAD || !(header.p_flags & PF_X))
			continue;
		rules->segments[at].offset = header.p_offset;
		rules->segments[at].bytes = header.p_filesz;
		rules->segments[at].address = header.p_vaddr;
		rules->segment_count++;
	}
}

struct ppi_frame_rules *ppi_frame_rules_open(const struct ppi_machine *machine, int fd,
                                 char *bytes, size_t size,
                                 const unsigned char *build_id,
                                 size_t build_id_bytes)
{
	struct ppi_frame_rules *rules;

	if (ppi_frame_rules_missing())
		return NULL;
	rules = calloc(1, sizeof(*rules));
	if (!rules)
		return NULL;
	rules->machine = machine;
	/* Not mapped: a file that others cut short would kill us. */
	rules->elf = fd >= 0 ? dw.elf_begin(fd, ELF_C_READ, NULL)
	                     : dw.elf_memory(bytes, size);
	if (rules->elf && is_for(machine, rules->elf) &&
	    is_same_build(rules->elf, build_id, build_id_bytes)) {
		take_segments(rules);
		rules->cfi = dw.dwarf_getcfi_elf(rules->elf);
	}
	if (rules->cfi) {
		/* all that is needed was read; fd is closed soon */
		if (fd >= 0)
			dw.elf_cntl(rules->elf, ELF_C_FDDONE);
		return rules;
	}
	ppi_frame_rules_close(rules);
	return NULL;
}

void ppi_frame_rules_close(struct ppi_frame_rules *rules)
{
	if (!rules)
		return;
	if (rules->cfi)
		dw.dwarf_cfi_end(rules->cfi);
	if (rules->elf)
		dw.elf_end(rules->elf);
	free(rules);
}

bool ppi_frame_rules_address(const struct ppi_frame_rules *rules, uint64_t file_offset,
                       uint64_t *address)
{
	for (size_t i = 0; i < rules->segment_count; i++) {
		uint64_t from = rules->segments[i].offset;

		if (file_offset >= from &&
		    file_offset - from < rules->segments[i].bytes) {
			*address = file_offset - from +
			           rules->segments[i].address;
			return true;
		}
	}
	return false;
}

static Dwarf_Frame *frame_at(struct ppi_frame_rules *rules, uint64_t address)
{
	Dwarf_Frame *frame = NULL;

	if (++rules->lookups == LOOKUPS_MAX) {
		Dwarf_CFI *fresh = dw.dwarf_getcfi_elf(rules->elf);

		rules->lookups = 0;
		if (fresh) {
			dw.dwarf_cfi_end(rules->cfi);
			rules->cfi = fresh;
		}
	}
	if (dw.dwarf_cfi_addrframe(rules->cfi, address, &frame) != 0)
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
static enum where find_saved(Dwarf_Frame *frame, int number, int32_t *offset)
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
	    !fits(ops[1].number))
		return ELSEWHERE;
	*offset = (int32_t)(uint32_t)ops[1].number;
	return AT_OFFSET;
}

static bool make_saved(const struct ppi_machine *machine, Dwarf_Frame *frame,
                       struct ppi_rule *rule)
{
	int32_t ignored;
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
                          const struct ppi_expression_input *input,
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
		if (!ppi_expression(ops, count, input, &value, &is_value) ||
		    (!is_value && !input->load(input->context, value,
		                               &value)))
			return false;
	}
	to->value[to_number] = value;
	to->known |= UINT64_C(1) << to_number;
	return true;
}

static bool step_all(const struct ppi_machine *machine, Dwarf_Frame *frame,
                     int column, const struct ppi_expression_input *input,
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
	struct ppi_expression_input input = { from, 0, load, context };
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
	    ppi_expression(ops, count, &input, &input.cfa, &is_value)) {
		to->cfa = input.cfa;
		is_good = step_all(rules->machine, frame, column, &input, to);
	}
	free(frame);
	return is_good;
}
