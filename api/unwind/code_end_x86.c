/* SPDX-License-Identifier: MIT */
/*
 * x86-64's instructions, as far as a way to a return needs them: how long each is
 * (Intel SDM, volume 2, appendix A), where it goes, and which of the registers that
 * callers keep it changes.
 */
#include "config.h"

#include "api/unwind/code_end.h"

#include <string.h>

enum { RBX = 3, RSP = 4, RBP = 5, NO_REGISTER = 16 };
enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };
enum { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };

struct instruction {
	size_t length;
	unsigned map, op, rex;
	bool has_rex, has_modrm, is_16, is_f3, is_vex, is_evex;
	unsigned mod, reg, rm; /* with the bits of REX */
	unsigned vvvv;         /* VEX's third register */
	unsigned base;         /* of memory without an index, or NO_REGISTER */
	bool is_rip;           /* memory by rip */
	int32_t displacement, immediate;
};

/* What follows an opcode. m: ModRM; b, w, z, v, o: an immediate of 8, 16, 32 bits (16
 * with 66), 64 with REX.W, 64; B, Z: ModRM and such; x: none that is followed. */
static const char one_byte[] =
	"mmmmbzxxmmmmbzxxmmmmbzxxmmmmbzxxmmmmbzxxmmmmbzxxmmmmbzxxmmmmbzxx"
	"xxxxxxxxxxxxxxxx"
	"................"
	"xxxmxxxxzZbB...."
	"bbbbbbbbbbbbbbbb"
	"BZxBmmmmmmmmmmmm"
	"..........x....."
	"oooo....bz......"
	"bbbbbbbbvvvvvvvv"
	"BBw.xxBZx.xxxbxx"
	"mmmmxxx.mmmmmmmm"
	"bbbbbbbbzzxb...."
	"xxxxx.mm......mm";
static const char after_0f[] =
	"mmmmx.xxxxxxxmxx"
	"mmmmmmmmmmmmmmmm"
	"xxxxxxxxmmmmmmmm"
	"x.x.xxxxxxxxxxxx"
	"mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
	"BBBBmmm.mmmmmmmm"
	"zzzzzzzzzzzzzzzz"
	"mmmmmmmmmmmmmmmm"
	"...mBmxx..xmBmmm"
	"mmmmmmmmmxBmmmmm"
	"mmBmBBBm........"
	"mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmx";

/* ---- bytes ---- */

struct reader {
	const unsigned char *bytes;
	size_t at, count;
	bool is_over;
};

static unsigned take(struct reader *reader)
{
	if (reader->at >= reader->count) {
		reader->is_over = true;
		return 0;
	}
	return reader->bytes[reader->at++];
}

static int32_t take_signed(struct reader *reader, unsigned bytes)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint32_t)take(reader) << 8 * i;
	if (bytes == 1)
		return (int8_t)value;
	return bytes == 2 ? (int16_t)value : (int32_t)value;
}

static void take_modrm(struct reader *reader, struct instruction *i)
{
	unsigned byte = take(reader), base = byte & 7, bytes;

	i->has_modrm = true;
	i->mod = byte >> 6;
	i->reg = (byte >> 3 & 7) | (i->rex & REX_R ? 8 : 0);
	i->rm = (byte & 7) | (i->rex & REX_B ? 8 : 0);
	if (i->mod == 3)
		return;
	bytes = i->mod == 1 ? 1 : i->mod == 2 ? 4 : 0;
	i->base = i->rm;
	if (base == 4) {
		unsigned sib = take(reader);

		base = sib & 7;
		i->base = base | (i->rex & REX_B ? 8 : 0);
		if ((sib >> 3 & 7) != 4 || i->rex & REX_X)
			i->base = NO_REGISTER;
		if (i->mod == 0 && base == 5) {
			i->base = NO_REGISTER;
			bytes = 4;
		}
	} else if (i->mod == 0 && base == 5) {
		i->base = NO_REGISTER;
		i->is_rip = true;
		bytes = 4;
	}
	i->displacement = take_signed(reader, bytes);
}

static void take_immediate(struct reader *reader, struct instruction *i,
                           char what)
{
	unsigned words = i->is_16 && !(i->rex & REX_W) ? 2 : 4;

	switch (what) {
	case 'b':
	case 'B':
		i->immediate = take_signed(reader, 1);
		break;
	case 'w':
		take_signed(reader, 2);
		break;
	case 'z':
	case 'Z':
		i->immediate = take_signed(reader, words);
		break;
	case 'v':
		take_signed(reader, words);
		if (i->rex & REX_W)
			take_signed(reader, 4);
		break;
	case 'o':
		take_signed(reader, 4);
		take_signed(reader, 4);
		break;
	default:
		break;
	}
}

/* VEX of two and three bytes, and EVEX, whose bits of REX are inverted. */
static bool take_vex(struct reader *reader, struct instruction *i, unsigned first)
{
	unsigned byte = take(reader), last = byte;

	i->is_vex = true;
	i->is_evex = first == 0x62;
	i->map = MAP_0F;
	i->rex = byte & 0x80 ? 0 : REX_R;
	if (first != 0xc5) {
		i->map = byte & (first == 0xc4 ? 0x1f : 7);
		i->rex |= (byte & 0x40 ? 0 : REX_X) | (byte & 0x20 ? 0 : REX_B);
		last = take(reader);
		i->rex |= last & 0x80 ? REX_W : 0;
	}
	i->vvvv = ~last >> 3 & 15;
	i->is_f3 = (last & 3) == 2;
	if (first == 0x62)
		take(reader);
	i->op = take(reader);
	return i->map >= MAP_0F && i->map <= MAP_0F3A;
}

static bool is_prefix(unsigned byte)
{
	/* 67 is before calls that linkers have made direct */
	static const unsigned char prefixes[] = { 0x26, 0x2e, 0x36, 0x3e,
		                                  0x64, 0x65, 0x66, 0x67,
		                                  0xf0, 0xf2, 0xf3 };

	return memchr(prefixes, (int)byte, sizeof(prefixes)) != NULL;
}

static bool take_opcode(struct reader *reader, struct instruction *i)
{
	unsigned byte = take(reader);

	for (; is_prefix(byte); byte = take(reader)) {
		i->is_16 |= byte == 0x66;
		i->is_f3 |= byte == 0xf3;
	}
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return take_vex(reader, i, byte);
	if ((byte & 0xf0) == 0x40) {
		i->has_rex = true;
		i->rex = byte & 15;
		byte = take(reader);
	}
	if (byte == 0x0f) {
		i->map = MAP_0F;
		byte = take(reader);
		if (byte == 0x38 || byte == 0x3a) {
			i->map = byte == 0x38 ? MAP_0F38 : MAP_0F3A;
			byte = take(reader);
		}
	}
	i->op = byte;
	return true;
}

static bool decode(const unsigned char *code, size_t count,
                   struct instruction *i)
{
	struct reader reader = { code, 0, count, false };
	char what;

	memset(i, 0, sizeof(*i));
	i->base = NO_REGISTER;
	if (!take_opcode(&reader, i) || reader.is_over)
		return false;
	what = i->map == MAP_ONE ? one_byte[i->op]
	       : i->map == MAP_0F ? after_0f[i->op]
	       : i->map == MAP_0F38 ? 'm' : 'B';
	if (what == 'x')
		return false;
	if (what == 'm' || what == 'B' || what == 'Z')
		take_modrm(&reader, i);
	/* test has an immediate, its neighbours have none (group 3) */
	if (i->map == MAP_ONE && (i->op == 0xf6 || i->op == 0xf7) &&
	    (i->reg & 7) < 2)
		what = i->op == 0xf6 ? 'b' : 'z';
	take_immediate(&reader, i, what);
	i->length = reader.at;
	return !reader.is_over;
}

/* ---- what an instruction changes ---- */

static void lose(struct ppi_path *path, unsigned number)
{
	/* in machine->saved */
	static const unsigned char bits[16] = { [RBX] = 2, [12] = 3, [13] = 4,
		                                [14] = 5, [15] = 6 };

	number &= 15;
	if (number == RSP)
		path->sp.kind = PPI_HELD_OTHER;
	else if (number == RBP)
		path->fp.kind = PPI_HELD_OTHER;
	else if (bits[number])
		path->lost |= (uint16_t)(1u << bits[number]);
}

/* Of 8 bits: 4 to 7 are the upper halves of others where no REX is. */
static void lose_byte(struct ppi_path *path, const struct instruction *i,
                      unsigned number)
{
	lose(path, !i->has_rex && number < 8 ? number & 3 : number);
}

enum target { NONE, REG, RM, BOTH, OPCODE };

static enum target target_of_one_byte(const struct instruction *i)
{
	unsigned op = i->op, group = i->reg & 7;

	if (op < 0x40)
		return op >= 0x38 || (op & 7) >= 4 ? NONE
		       : (op & 7) < 2 ? RM : REG;
	if ((op >= 0x80 && op <= 0x83) || op == 0x8f)
		return op != 0x8f && group == 7 ? NONE : RM;
	if ((op >= 0x90 && op <= 0x97) || (op >= 0xb0 && op <= 0xbf))
		return op == 0x90 && !(i->rex & REX_B) ? NONE : OPCODE;
	switch (op) {
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8a:
	case 0x8b:
	case 0x8d:
		return REG;
	case 0x86:
	case 0x87:
		return BOTH;
	case 0x88:
	case 0x89:
	case 0x8c:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return RM;
	case 0xf6:
	case 0xf7:
		return group == 2 || group == 3 ? RM : NONE;
	case 0xfe:
	case 0xff:
		return group < 2 ? RM : NONE;
	default:
		return NONE;
	}
}

static bool is_of_bytes(const struct instruction *i)
{
	unsigned op = i->op;

	if (i->map == MAP_0F)
		return (op & 0xf0) == 0x90 || op == 0xb0 || op == 0xc0;
	return i->map == MAP_ONE && (op >= 0xb0 ? op < 0xb8 || op % 2 == 0
	                                        : op < 0x8c && op % 2 == 0);
}

static enum target target_of_0f(const struct instruction *i)
{
	unsigned op = i->op, group = i->reg & 7;

	if ((op & 0xf0) == 0x40)
		return REG; /* cmov, and operations of masks */
	if ((op & 0xf0) == 0x90)
		return i->is_vex ? BOTH : RM; /* setcc; kmov */
	if (op >= 0xc8 && op <= 0xcf)
		return OPCODE; /* bswap */
	switch (op) {
	case 0x02:
	case 0x03:
	case 0x2c: /* from vectors */
	case 0x2d:
	case 0x50:
	case 0xaf:
	case 0xb6:
	case 0xb7:
	case 0xb8:
	case 0xbc:
	case 0xbd:
	case 0xbe:
	case 0xbf:
	case 0xc5:
	case 0xd7:
		return REG;
	case 0x78:
	case 0x79:
		return i->is_evex ? REG : NONE;
	case 0x7e:
		return i->is_f3 ? NONE : RM;
	case 0x00:
	case 0xa4:
	case 0xa5:
	case 0xab:
	case 0xac:
	case 0xad:
	case 0xb0:
	case 0xb1:
	case 0xb3:
	case 0xbb:
	case 0xc7: /* rdrand */
		return RM;
	case 0xc0:
	case 0xc1:
		return BOTH;
	case 0x1e: /* rdssp */
		return i->is_f3 && group == 1 ? RM : NONE;
	case 0xae: /* rdfsbase */
		return i->is_f3 ? RM : NONE;
	case 0xba:
		return group > 4 ? RM : NONE;
	default:
		return NONE;
	}
}

static enum target target_of(const struct instruction *i)
{
	switch (i->map) {
	case MAP_ONE:
		return target_of_one_byte(i);
	case MAP_0F:
		return target_of_0f(i);
	case MAP_0F38: /* movbe, crc32, and those of BMI */
		return i->op >= 0xf0 && i->op <= 0xf7 ? BOTH : NONE;
	default: /* rorx; pextr */
		return i->op == 0xf0 ? REG
		       : i->op >= 0x14 && i->op <= 0x17 ? RM : NONE;
	}
}

static void change(struct ppi_path *path, const struct instruction *i)
{
	enum target target = target_of(i);
	bool is_byte = is_of_bytes(i);

	if (i->map == MAP_0F && i->op == 0xa2) /* cpuid */
		lose(path, RBX);
	if (i->map == MAP_0F38 && i->is_vex && target == BOTH)
		lose(path, i->vvvv);
	if (target == OPCODE) {
		unsigned number = (i->op & 7) | (i->rex & REX_B ? 8 : 0);

		if (is_byte)
			lose_byte(path, i, number);
		else
			lose(path, number);
	}
	if (target == REG || target == BOTH) {
		if (is_byte)
			lose_byte(path, i, i->reg);
		else
			lose(path, i->reg);
	}
	if ((target == RM || target == BOTH) && i->mod == 3) {
		if (is_byte)
			lose_byte(path, i, i->rm);
		else
			lose(path, i->rm);
	}
}

/* ---- the stack ---- */

static void push(struct ppi_path *path, struct ppi_held value)
{
	path->sp = ppi_held_plus(path->sp, -8);
	ppi_path_store(path, path->sp, value);
}

static struct ppi_held pop(struct ppi_path *path)
{
	struct ppi_held value = ppi_path_load(path, path->sp);

	path->sp = ppi_held_plus(path->sp, 8);
	return value;
}

static void pop_register(struct ppi_path *path, unsigned number)
{
	struct ppi_held value = pop(path);

	lose(path, number);
	if (number == RBP)
		path->fp = value;
}

/* True: it is push, pop or leave, and done. */
static bool run_pushes(struct ppi_path *path, const struct instruction *i)
{
	const struct ppi_held other = { PPI_HELD_OTHER, 0 };
	unsigned number = (i->op & 7) | (i->rex & REX_B ? 8 : 0), op = i->op;

	if (i->map == MAP_0F && (op == 0xa0 || op == 0xa8)) {
		push(path, other);
		return true;
	}
	if (i->map == MAP_0F && (op == 0xa1 || op == 0xa9)) {
		pop(path);
		return true;
	}
	if (i->map != MAP_ONE)
		return false;
	if (op >= 0x50 && op <= 0x57)
		push(path, number == RBP ? path->fp : other);
	else if (op >= 0x58 && op <= 0x5f)
		pop_register(path, number);
	else if (op == 0x68 || op == 0x6a || op == 0x9c ||
	         (op == 0xff && (i->reg & 7) == 6))
		push(path, other);
	else if (op == 0x9d)
		pop(path);
	else if (op == 0x8f && i->mod == 3)
		pop_register(path, i->rm);
	else if (op == 0x8f)
		pop(path);
	else if (op == 0xc9) {
		path->sp = path->fp;
		pop_register(path, RBP);
	} else
		return false;
	return true;
}

static struct ppi_held held_in(const struct ppi_path *path, unsigned number)
{
	const struct ppi_held other = { PPI_HELD_OTHER, 0 };

	return number == RSP ? path->sp : number == RBP ? path->fp : other;
}

static void hold(struct ppi_path *path, unsigned number, struct ppi_held value)
{
	lose(path, number);
	if (number == RSP)
		path->sp = value;
	if (number == RBP)
		path->fp = value;
}

static struct ppi_held place_of(const struct ppi_path *path,
                                const struct instruction *i)
{
	return ppi_held_plus(held_in(path, i->base), i->displacement);
}

/* Moves of 64 bits, of and to the stack pointer and the frame pointer; true: it is one,
 * and done. */
static bool run_moves(struct ppi_path *path, const struct instruction *i)
{
	unsigned op = i->op, group = i->reg & 7;
	bool is_wide = i->rex & REX_W, is_memory = i->has_modrm && i->mod != 3;

	if (i->map != MAP_ONE)
		return false;
	if (is_memory && (op == 0x88 || op == 0x89 || op == 0xc6 || op == 0xc7))
		ppi_path_store(path, place_of(path, i),
		               op == 0x89 && is_wide
		                       ? held_in(path, i->reg)
		                       : (struct ppi_held){ PPI_HELD_OTHER, 0 });
	else if (op == 0x8b && is_memory && is_wide)
		hold(path, i->reg, i->reg == RBP
		                           ? ppi_path_load(path, place_of(path, i))
		                           : held_in(path, NO_REGISTER));
	else if (op == 0x8d && is_wide)
		hold(path, i->reg, place_of(path, i));
	else if (op == 0x89 && is_wide)
		hold(path, i->rm, held_in(path, i->reg));
	else if (op == 0x8b && is_wide && i->mod == 3)
		hold(path, i->reg, held_in(path, i->rm));
	else if ((op == 0x83 || op == 0x81) && is_wide && !is_memory &&
	         (group == 0 || group == 5))
		hold(path, i->rm,
		     ppi_held_plus(held_in(path, i->rm),
		                   group == 0 ? i->immediate
		                              : -(int64_t)i->immediate));
	else
		return false;
	return true;
}

/* ---- where it goes ---- */

/* Room between functions is filled with it. */
static bool is_nop(const struct instruction *i)
{
	return (i->map == MAP_ONE && i->op == 0x90) ||
	       (i->map == MAP_0F && i->op == 0x1f);
}

static bool is_endbr64(const struct instruction *i)
{
	return i->map == MAP_0F && i->op == 0x1e && i->is_f3 && i->mod == 3 &&
	       (i->reg & 7) == 7 && (i->rm & 7) == 2;
}

/* Whether behind a call that perhaps does not return the next function begins. */
static bool may_begin(const struct ppi_path *path, const struct instruction *i)
{
	uint64_t next = path->address + i->length;

	if (!path->follows_call)
		return false;
	return (is_nop(i) && next % 16 == 0) || is_endbr64(i) ||
	       (path->address % 16 == 0 && i->map == MAP_ONE &&
	        ((i->op >= 0x50 && i->op <= 0x57) ||
	         ((i->op == 0x83 || i->op == 0x81) && i->mod == 3 &&
	          i->rm == RSP)));
}

static struct ppi_step_of_code returns(struct ppi_path *path,
                                       const struct instruction *i)
{
	path->ra = pop(path);
	return (struct ppi_step_of_code){ PPI_FLOW_RETURN, i->length, 0 };
}

/* Calls, jumps and returns; ON: it is none. */
static struct ppi_step_of_code run_flow(struct ppi_path *path,
                                        const struct instruction *i)
{
	struct ppi_step_of_code step = { PPI_FLOW_ON, i->length,
		                         (int64_t)i->length + i->immediate };
	unsigned op = i->op, group = i->reg & 7;

	if (i->map == MAP_0F && (op & 0xf0) == 0x80 && !i->is_vex) {
		step.flow = PPI_FLOW_BRANCH;
	} else if (i->map == MAP_0F && op == 0x05) {
		path->has_called = path->follows_call = true;
	} else if (i->map != MAP_ONE) {
		return step;
	} else if ((op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3)) {
		step.flow = PPI_FLOW_BRANCH;
	} else if (op == 0xe9 || op == 0xeb) {
		step.flow = PPI_FLOW_JUMP;
	} else if (op == 0xc3) {
		return returns(path, i);
	} else if (op == 0xc2 || (op == 0x8f && group != 0)) {
		/* takes arguments with it; another set of instructions */
		step.flow = PPI_FLOW_STOP;
	} else if (op == 0xe8 && i->immediate == 0) {
		push(path, held_in(path, NO_REGISTER)); /* of its own address */
	} else if (op == 0xe8 || (op == 0xff && group == 2)) {
		path->has_called = path->follows_call = true;
	} else if (op == 0xff && group == 4 && i->is_rip) {
		return returns(path, i); /* as what it leads to */
	} else if (op == 0xff && group >= 3 && group != 6) {
		step.flow = PPI_FLOW_STOP;
	}
	return step;
}

struct ppi_step_of_code ppi_x86_follow(struct ppi_path *path,
                                       const unsigned char *code, size_t count)
{
	const struct ppi_step_of_code stop = { PPI_FLOW_STOP, 0, 0 };
	struct ppi_step_of_code step;
	struct instruction i;

	if (!decode(code, count, &i) || may_begin(path, &i))
		return stop;
	path->follows_call &= is_nop(&i);
	step = run_flow(path, &i);
	if (step.flow != PPI_FLOW_ON)
		return step;
	/* 16 bits of the stack */
	if (!i.is_16 || !(i.map == MAP_ONE && (i.op & 0xf0) == 0x50)) {
		if (!run_pushes(path, &i) && !run_moves(path, &i))
			change(path, &i);
		return step;
	}
	return stop;
}

/* ---- entries of a PLT ---- */

static bool begins(const unsigned char *bytes, size_t count, size_t at,
                   const char *with, size_t length)
{
	return at + length <= count && memcmp(bytes + at, with, length) == 0;
}

/*
 * Binutils' bfd/elfxx-x86.h, elf_x86_64_lazy_plt_entry and its neighbours; LLVM's
 * lld/ELF/Arch/X86_64.cpp has the same. The first entry pushes a second word.
 */
int ppi_x86_plt_words(const unsigned char *bytes, size_t at, size_t count,
                      uint64_t address)
{
	size_t past = address % 16;
	const unsigned char *entry;
	size_t room = count - at + past;

	if (past > at)
		return -1;
	entry = bytes + (at - past);
	/* push [rip + 32 bits]; jmp [rip + 32 bits], perhaps with bnd */
	if (begins(entry, room, 0, "\xff\x35", 2) &&
	    (begins(entry, room, 6, "\xff\x25", 2) ||
	     begins(entry, room, 6, "\xf2\xff\x25", 3)))
		return past == 0 ? 1 : past == 6 ? 2 : -1;
	/* jmp [rip + 32 bits]; push 32 bits; jmp to the first entry */
	if (begins(entry, room, 0, "\xff\x25", 2) &&
	    begins(entry, room, 6, "\x68", 1) &&
	    begins(entry, room, 11, "\xe9", 1))
		return past == 6 ? 0 : past == 11 ? 1 : -1;
	/* endbr64; push 32 bits; jmp to the first entry, perhaps with bnd */
	if (begins(entry, room, 0, "\xf3\x0f\x1e\xfa\x68", 5) &&
	    (begins(entry, room, 9, "\xe9", 1) ||
	     begins(entry, room, 9, "\xf2\xe9", 2)))
		return past == 0 || past == 4 ? 0 : past == 9 ? 1 : -1;
	return -1;
}
