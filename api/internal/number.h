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

#endif
