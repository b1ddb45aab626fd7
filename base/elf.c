/* SPDX-License-Identifier: MIT */
/* A note is three numbers, the owner's name and the description, each at a
 * multiple of 4: System V gABI, chapter 5. GNU's build-id: owner "GNU", type 3. */
#include "base/elf.h"

#include <stdint.h>
#include <string.h>

enum { TYPE_BUILD_ID = 3 };

static uint32_t number(uint32_t word, bool is_swapped)
{
	if (!is_swapped)
		return word;
	return word >> 24 | (word >> 8 & 0xff00) | (word << 8 & 0xff0000) |
	       word << 24;
}

static size_t round_up(size_t bytes)
{
	return (bytes + 3) & ~(size_t)3;
}

size_t ppi_build_id_find(const void *notes, size_t bytes, bool is_swapped,
                         size_t most, const unsigned char **id)
{
	const unsigned char *at = notes;
	uint32_t words[3];

	while (bytes >= sizeof(words)) {
		size_t owner, length, name, rest;

		memcpy(words, at, sizeof(words));
		at += sizeof(words);
		bytes -= sizeof(words);
		owner = number(words[0], is_swapped);
		length = number(words[1], is_swapped);
		if (owner > bytes || length > bytes)
			return 0;
		name = round_up(owner);
		rest = round_up(length);
		if (name > bytes || length > bytes - name)
			return 0;
		if (number(words[2], is_swapped) == TYPE_BUILD_ID &&
		    owner == 4 && memcmp(at, "GNU", 4) == 0 && length <= most) {
			*id = at + name;
			return length;
		}
		if (rest > bytes - name)
			return 0;
		at += name + rest;
		bytes -= name + rest;
	}
	return 0;
}
