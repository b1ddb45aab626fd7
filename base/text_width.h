/* SPDX-License-Identifier: MIT */
/* How many columns of a terminal a text takes, whatever the locale. */
#ifndef PPI_TEXT_WIDTH_H
#define PPI_TEXT_WIDTH_H

#include <stddef.h>

/* Of a text of UTF-8 that is clean (clean_text.h). A byte that begins no
 * character is a column. */
size_t ppi_text_width(const char *text);

/* Bytes of the longest beginning of a text that takes no more than `columns`,
 * no character being cut from what is put over it. */
size_t ppi_text_fit(const char *text, size_t columns);

#endif
