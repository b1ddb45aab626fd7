/* SPDX-License-Identifier: MIT */
/* A number for bytes, the same on every machine: FNV-1a of 64 bits
 * (http://www.isthe.com/chongo/tech/comp/fnv/). */
#ifndef PPI_HASH_H
#define PPI_HASH_H

#include <stddef.h>
#include <stdint.h>

#define PPI_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* Of these bytes behind those of `hash`, which is PPI_HASH_BEGIN before any.
 * Async-signal-safe. */
static inline uint64_t ppi_hash_add(uint64_t hash, const void *bytes,
                                    size_t count)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
