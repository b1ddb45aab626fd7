/* SPDX-License-Identifier: MIT */
/* Numbers as event strings and configuration files write them. */
#ifndef PPI_NUMBER_H
#define PPI_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Read `length` bytes of decimal or 0x-hexadecimal digits, all of them.
 * Returns NULL, or what is wrong with it in words that follow the number in
 * a sentence ("is negative"); *value is untouched then.
 */
const char *ppi_number_read(const char *text, size_t length, uint64_t *value);

/*
 * Read a time with its unit, "500ms", "10s" or "0.5s", into milliseconds,
 * cutting off what is finer. Returns NULL, or what is wrong, as above.
 */
const char *ppi_time_read(const char *text, uint64_t *ms);

#endif
