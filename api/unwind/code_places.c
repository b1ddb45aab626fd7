/* SPDX-License-Identifier: MIT */
/*
 * What the code at addresses of processes is: each is read once, and the answer
 * kept; some take a search of all of a program's code.
 */
#include "config.h"

#include "api/unwind/code_places.h"

#include "api/unwind/machine.h"
#include "base/processes.h"

#include <stdlib.h>
#include <string.h>

enum question {
	FOLLOWS_CALL = 1,
	IS_EPILOGUE,
	KIND_OF_FIRST,
	KIND_OF_CALLER,
	RETURN_KIND,
	CALL_TARGET,
	FUNCTION_START,
	END_OF_FIRST,
	END_OF_CALLER,
	NEAR_END_OF_FIRST,
	NEAR_END_OF_CALLER,
	KEEPS_POINTERS,
	BEGINS_STACK
};

/* Of an address of a process; or of a place in a file, whose answer is that of all
 * processes that have mapped it. */
struct slot {
	uint64_t address, answer;
	uint32_t pid;     /* or the file's serial */
	uint8_t question; /* 0 = free */
	bool is_of_file;
};

/* Of a return address by way of another, `inner`: places in a file that processes
 * share. */
struct way {
	uint64_t address, inner, called, between;
	uint32_t serial;
	uint8_t found; /* enum ppi_code_between, and 1; 0 = free */
};

/* Searches of all of a program's code; each takes some ms. */
enum { SLOTS = 1 << 12, WAYS = 1 << 8, SEARCHES = 64 };

struct ppi_code_places {
	struct slot slots[SLOTS];
	struct way ways[WAYS];
	unsigned searches_left;
};

const size_t ppi_code_places_size = sizeof(struct ppi_code_places);

struct ppi_code_places *ppi_code_places_new(void)
{
	struct ppi_code_places *bytes = calloc(1, sizeof(*bytes));

	if (bytes)
		bytes->searches_left = SEARCHES;
	return bytes;
}

void ppi_code_places_free(struct ppi_code_places *bytes)
{
	free(bytes);
}

/* The vdso is the same in all processes, and read from this one: the other may
 * be gone. Then the file is read. */
static size_t read_code(const struct ppi_code_place *place, uint64_t address,
                        unsigned char *bytes, size_t count)
{
	size_t got;

	if (place->extent && ppi_code_map_is_vdso(place->extent))
		return ppi_vdso_read(address + place->extent->shift, bytes,
		                     count);
	got = ppi_process_read(place->pid, address, bytes, count);
	return got || !place->extent
		? got : ppi_code_map_read(place->extent, address, bytes, count);
}

size_t ppi_code_read(const struct ppi_code_place *place, unsigned char *bytes,
                     size_t count)
{
	return read_code(place, place->address, bytes, count);
}

/* The program may be within the system call, or behind it. */
static bool is_in_signal_return(unsigned machine, const unsigned char *at,
                                size_t count)
{
	return ppi_returns_by_signal(machine, at, count) ||
	       ppi_returns_by_signal(machine, at - 4, count + 4) ||
	       ppi_returns_by_signal(machine, at - 8, count + 8);
}

static enum ppi_code_kind kind_of_first(unsigned machine,
                                        const unsigned char *bytes, size_t at,
                                        size_t count)
{
	if (is_in_signal_return(machine, bytes + at, count - at))
		return PPI_CODE_SIGNAL_RETURN;
	switch (ppi_stub(machine, bytes, at, count)) {
	case PPI_STUB_PLAIN:
		return PPI_CODE_STUB;
	case PPI_STUB_PUSHED:
		return PPI_CODE_STUB_PUSHED;
	default:
		return PPI_CODE_OTHER;
	}
}

static uint64_t find(const struct ppi_code_place *place, enum question question,
                     bool *is_read)
{
	enum { BEFORE = PPI_STUB_BEFORE, AFTER = PPI_RETURN_AFTER };
	unsigned char bytes[BEFORE + AFTER];
	size_t got = read_code(place, place->address - BEFORE, bytes,
	                       sizeof(bytes));
	unsigned machine = place->machine->elf_machine;
	uint64_t target;

	*is_read = got >= BEFORE;
	if (!*is_read)
		return question == FOLLOWS_CALL;
	switch (question) {
	case FOLLOWS_CALL:
		return ppi_returns_to(machine, bytes, BEFORE, got);
	case IS_EPILOGUE:
		return ppi_is_epilogue(machine, bytes, BEFORE, got);
	case KIND_OF_FIRST:
		return kind_of_first(machine, bytes, BEFORE, got);
	case RETURN_KIND:
		return ppi_return_kind(machine, bytes, BEFORE, got);
	case BEGINS_STACK:
		return ppi_begins_stack(machine, bytes, BEFORE);
	case CALL_TARGET:
		return ppi_call_target(machine, bytes + BEFORE, BEFORE,
		                       place->address, &target) ? target : 0;
	default:
		return ppi_returns_by_signal(machine, bytes + BEFORE,
		                             got - BEFORE)
			? PPI_CODE_SIGNAL_RETURN : PPI_CODE_OTHER;
	}
}

static uint64_t find_start(const struct ppi_code_place *place)
{
	enum { BEFORE = 1024 };
	unsigned char bytes[BEFORE];
	uint64_t before = place->address - place->extent->start;

	before = before < BEFORE ? before : BEFORE;
	return read_code(place, place->address - before, bytes,
	                 (size_t)before) == before
		? ppi_function_start(place->machine->elf_machine, bytes,
		                     (size_t)before, place->address) : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t find_end(const struct ppi_code_place *place, enum question question,
                         bool *is_read)
{
	static const struct {
		unsigned before, after;
	} reaches[] = {
		[END_OF_FIRST] = { PPI_END_BEFORE, PPI_END_AFTER },
		[END_OF_CALLER] = { PPI_END_BEFORE, PPI_END_AFTER },
		[NEAR_END_OF_FIRST] = { 192, 320 },
		[NEAR_END_OF_CALLER] = { 0, 32 },
	};
	bool is_first = question == END_OF_FIRST ||
	                question == NEAR_END_OF_FIRST;
	unsigned char bytes[PPI_END_BEFORE + PPI_END_AFTER];
	uint64_t before = least(place->address - place->extent->start,
	                        reaches[question].before);
	uint64_t after = least(place->extent->limit - place->address,
	                       reaches[question].after), answer = 0;
	struct ppi_code_end end;
	size_t got;

	_Static_assert(sizeof(end) == sizeof(answer), "an answer");
	got = read_code(place, place->address - before, bytes,
	                (size_t)(before + after));
	*is_read = got > before;
	if (!*is_read)
		return 0;
	end = ppi_find_end(place->machine->elf_machine, bytes, (size_t)before,
	                   got, place->address, !is_first);
	memcpy(&answer, &end, sizeof(answer));
	return answer;
}

/* Code around an address, in blocks. */
enum { BLOCK = 1 << 15 };

static uint64_t find_pointers(const struct ppi_code_place *place, bool *is_read)
{
	const struct ppi_extent *extent = place->extent;
	uint64_t at = place->address, limit = least(at + BLOCK, extent->limit);
	struct ppi_pointer_use use = { 0, 0 };
	unsigned char bytes[4096];
	size_t got = 1;

	*is_read = false;
	for (at = at < extent->start ? extent->start : at; at < limit && got > 0;
	     at += got) {
		got = read_code(place, at, bytes,
		                (size_t)least(limit - at, sizeof(bytes)));
		ppi_count_pointers(place->machine->elf_machine, bytes, got,
		                   &use);
		*is_read |= got > 0;
	}
	return ppi_keeps_pointers(&use);
}

/* Whether the answer is no address. */
static bool is_of_code(enum question question)
{
	return question != CALL_TARGET && question != FUNCTION_START;
}

static uint64_t ask(struct ppi_code_places *bytes,
                    const struct ppi_code_place *place,
                    enum question question)
{
	struct slot key = { place->address, 0, place->pid, (uint8_t)question,
		            place->extent && is_of_code(question) };
	struct slot *slot;
	bool is_read = true;

	if (key.is_of_file) {
		key.address += place->extent->shift;
		key.pid = ppi_code_map_serial(place->extent);
	}
	slot = &bytes->slots[(key.address ^ key.address >> 10 ^ key.pid ^
	                      question * 257u) % SLOTS];
	if (slot->address == key.address && slot->pid == key.pid &&
	    slot->question == question && slot->is_of_file == key.is_of_file)
		return slot->answer;
	switch (question) {
	case FUNCTION_START:
		key.answer = find_start(place);
		break;
	case END_OF_FIRST:
	case END_OF_CALLER:
	case NEAR_END_OF_FIRST:
	case NEAR_END_OF_CALLER:
		key.answer = find_end(place, question, &is_read);
		break;
	case KEEPS_POINTERS:
		key.answer = find_pointers(place, &is_read);
		break;
	default:
		key.answer = find(place, question, &is_read);
		break;
	}
	/* a process that has ended says nothing of the others */
	if (is_read || !key.is_of_file)
		*slot = key;
	return key.answer;
}

bool ppi_code_follows_call(struct ppi_code_places *bytes,
                           const struct ppi_code_place *place)
{
	return ask(bytes, place, FOLLOWS_CALL);
}

bool ppi_code_is_epilogue(struct ppi_code_places *bytes,
                          const struct ppi_code_place *place)
{
	return ask(bytes, place, IS_EPILOGUE);
}

struct ppi_code_end ppi_code_find_end(struct ppi_code_places *bytes,
                                      const struct ppi_code_place *place,
                                      bool is_first, bool is_near)
{
	enum question question =
		is_first ? is_near ? NEAR_END_OF_FIRST : END_OF_FIRST
			 : is_near ? NEAR_END_OF_CALLER : END_OF_CALLER;
	uint64_t answer = ask(bytes, place, question);
	struct ppi_code_end end;

	memcpy(&end, &answer, sizeof(end));
	return end;
}

bool ppi_code_keeps_pointers(struct ppi_code_places *bytes,
                             const struct ppi_code_place *place)
{
	struct ppi_code_place block = *place;

	block.address -= block.address % BLOCK;
	return ask(bytes, &block, KEEPS_POINTERS);
}

bool ppi_code_begins_stack(struct ppi_code_places *bytes,
                           const struct ppi_code_place *place)
{
	return ask(bytes, place, BEGINS_STACK);
}

enum ppi_code_kind ppi_code_kind_of(struct ppi_code_places *bytes,
                                    const struct ppi_code_place *place,
                                    bool is_first)
{
	return (enum ppi_code_kind)ask(bytes, place, is_first ? KIND_OF_FIRST
	                                                      : KIND_OF_CALLER);
}

enum ppi_return ppi_code_return(struct ppi_code_places *bytes,
                                const struct ppi_code_place *place)
{
	return (enum ppi_return)ask(bytes, place, RETURN_KIND);
}

uint64_t ppi_code_call_target(struct ppi_code_places *bytes,
                              const struct ppi_code_place *place)
{
	return ask(bytes, place, CALL_TARGET);
}

uint64_t ppi_code_function_start(struct ppi_code_places *bytes,
                                 const struct ppi_code_place *place)
{
	return ask(bytes, place, FUNCTION_START);
}

/*
 * Go's closures are made where they are used: who calls `switcher` with the
 * function at `named` is who alone has its address.
 */
static uint64_t find_closure(const struct ppi_code_place *place,
                             uint64_t named, uint64_t switcher)
{
	enum { PART = 1 << 16, MOST = 16 << 20 };
	const struct ppi_extent *code = place->extent;
	unsigned machine = place->machine->elf_machine, found = 0;
	const size_t overlap = PPI_NAMED_BEFORE + PPI_NAMED_AFTER - 1;
	size_t got = PART;
	uint64_t returns_to, result = 0;
	unsigned char *bytes = malloc(PART);

	if (!bytes || code->limit - code->start > MOST)
		got = 0;
	for (uint64_t at = code->start; got > overlap && found < 2;
	     at += got - overlap) {
		got = read_code(place, at, bytes, PART);
		if (code->limit - at < got)
			got = (size_t)(code->limit - at);
		found += ppi_find_named(machine, bytes, got, at, named,
		                        switcher, &returns_to);
		result = returns_to ? returns_to : result;
	}
	free(bytes);
	return found == 1 ? result : 0;
}

static uint64_t find_between(struct ppi_code_places *bytes,
                             const struct ppi_code_place *place,
                             uint64_t inner_at, uint64_t called_at,
                             enum ppi_code_between *how)
{
	enum { FUNCTION = 8192 };
	struct ppi_code_place inner = *place, called = *place;
	unsigned char code[FUNCTION];
	uint64_t switcher, caller, named, between = 0;

	inner.address = inner_at;
	called.address = called_at;
	*how = PPI_BETWEEN_UNKNOWN;
	switcher = ppi_code_function_start(bytes, &inner);
	if (!switcher)
		return 0;
	caller = ppi_code_call_target(bytes, place);
	if (caller == switcher) {
		*how = PPI_BETWEEN_NONE;
		return 0;
	}
	if (caller)
		between = ppi_one_call(place->machine->elf_machine, code,
		                       read_code(place, caller, code,
		                                 sizeof(code)),
		                       caller, switcher);
	named = between ? 0 : ppi_code_function_start(bytes, &called);
	if (named && bytes->searches_left) {
		bytes->searches_left--;
		between = find_closure(place, named, switcher);
	}
	if (between)
		*how = PPI_BETWEEN_ONE;
	return between;
}

enum ppi_code_between ppi_code_find_between(struct ppi_code_places *bytes,
                                            const struct ppi_code_place *place,
                                            uint64_t inner, uint64_t called,
                                            uint64_t *between)
{
	uint64_t shift = place->extent->shift;
	struct way wanted = {
		.address = place->address + shift,
		.inner = inner + shift,
		.called = called + shift,
		.serial = ppi_code_map_serial(place->extent),
	};
	struct way *way = &bytes->ways[(wanted.address ^ wanted.inner ^
	                                wanted.called >> 4 ^ wanted.serial) %
	                               WAYS];
	enum ppi_code_between how;

	if (!way->found || way->address != wanted.address ||
	    way->inner != wanted.inner || way->called != wanted.called ||
	    way->serial != wanted.serial) {
		wanted.between = find_between(bytes, place, inner, called,
		                              &how) + shift;
		wanted.found = (uint8_t)(1 + how);
		*way = wanted;
	}
	*between = way->found - 1 == PPI_BETWEEN_ONE ? way->between - shift : 0;
	return (enum ppi_code_between)(way->found - 1);
}
