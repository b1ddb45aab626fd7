/* SPDX-License-Identifier: MIT */
/* What the instructions at an address are: each address is read once. */
#include "config.h"

#include "api/unwind/code_bytes.h"

#include "api/unwind/calls.h"
#include "api/unwind/module_image.h"

#include <stdlib.h>

enum question { FOLLOWS_CALL = 1, KIND_OF_FIRST, KIND_OF_CALLER };

struct slot {
	uint64_t address;
	uint32_t pid;
	uint8_t question; /* 0 = free */
	uint8_t answer;
};

enum { SLOTS = 1 << 10 };

struct ppi_code_bytes {
	struct slot slots[SLOTS];
};

const size_t ppi_code_bytes_size = sizeof(struct ppi_code_bytes);

struct ppi_code_bytes *ppi_code_bytes_new(void)
{
	return calloc(1, sizeof(struct ppi_code_bytes));
}

void ppi_code_bytes_free(struct ppi_code_bytes *bytes)
{
	free(bytes);
}

/* The vdso is the same in all processes, and read from this one: the other may
 * be gone. */
static size_t read_code(const struct ppi_code_place *place, uint64_t address,
                        unsigned char *bytes, size_t count)
{
	if (place->extent && ppi_code_map_is_vdso(place->extent))
		return ppi_vdso_read(address + place->extent->shift, bytes,
		                     count);
	return ppi_process_read(place->pid, address, bytes, count);
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

static uint8_t find(const struct ppi_code_place *place, enum question question)
{
	enum { BEFORE = PPI_STUB_BEFORE, AFTER = PPI_STUB_AFTER };
	unsigned char bytes[BEFORE + AFTER];
	size_t got = read_code(place, place->address - BEFORE, bytes,
	                       sizeof(bytes));
	unsigned machine = place->machine->elf_machine;

	if (got < BEFORE)
		return question == FOLLOWS_CALL;
	switch (question) {
	case FOLLOWS_CALL:
		return ppi_returns_to(machine, bytes, BEFORE, got);
	case KIND_OF_FIRST:
		return (uint8_t)kind_of_first(machine, bytes, BEFORE, got);
	default:
		return ppi_returns_by_signal(machine, bytes + BEFORE,
		                             got - BEFORE)
			? PPI_CODE_SIGNAL_RETURN : PPI_CODE_OTHER;
	}
}

static uint8_t ask(struct ppi_code_bytes *bytes,
                   const struct ppi_code_place *place, enum question question)
{
	uint64_t address = place->address;
	struct slot *slot = &bytes->slots[(address ^ address >> 10 ^
	                                   place->pid ^ question * 257u) %
	                                  SLOTS];

	if (slot->address != address || slot->pid != place->pid ||
	    slot->question != question) {
		slot->address = address;
		slot->pid = place->pid;
		slot->question = (uint8_t)question;
		slot->answer = find(place, question);
	}
	return slot->answer;
}

bool ppi_code_follows_call(struct ppi_code_bytes *bytes,
                           const struct ppi_code_place *place)
{
	return ask(bytes, place, FOLLOWS_CALL);
}

enum ppi_code_kind ppi_code_kind_of(struct ppi_code_bytes *bytes,
                                    const struct ppi_code_place *place,
                                    bool is_first)
{
	return (enum ppi_code_kind)ask(bytes, place, is_first ? KIND_OF_FIRST
	                                                      : KIND_OF_CALLER);
}
