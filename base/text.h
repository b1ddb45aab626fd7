/* SPDX-License-Identifier: MIT */
/* Text that others wrote: shown so that a terminal obeys none of it, its columns, and
 * numbers in it. */
#ifndef PPI_TEXT_H
#define PPI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- escaping ---- */

/*
 * A file, a program and a path can be called anything. What a terminal would
 * obey (C0, DEL, C1), what would show text in another order than it stands
 * (bidirectional controls), what would break a line and what is no UTF-8 is
 * written out: \x1b for bytes, \u202e for characters. All else stays as it is.
 */

/* Bytes of the UTF-8 character (RFC 3629) at `text`, and which one it is; 0
 * at the end and for what is none. */
size_t ppi_text_character(const char *text, uint32_t *code);

/* The first of these where `left` bytes, at least one, are left; a zero byte is a
 * character. */
size_t ppi_text_bytes(const char *text, size_t left);

/* Replace what is not UTF-8 by '?', in place. */
void ppi_text_mend(char *text);

/* Whether a character is shown, and not obeyed. */
bool ppi_text_is_shown(uint32_t code);

/* Whether nothing in it needs to be written out. */
bool ppi_text_is_clean(const char *text);

/* The next character of *text, or what is written in its place; *text goes
 * behind it. The length; 0 at the end. */
enum { PPI_TEXT_PIECE = 8 };
size_t ppi_text_next(const char **text, char piece[PPI_TEXT_PIECE]);

/* All of it. */
void ppi_put_text(const char *text, FILE *out);

/* As much of it as fits, no piece being cut, and a zero byte. */
void ppi_text_clean(const char *text, char *out, size_t bytes);

/* Bytes as lower-case hexadecimal digits, two each, and a zero byte. */
void ppi_text_hex(const unsigned char *bytes, size_t count, char *out);

/* ---- names of files by a pattern ---- */

/* What stands for %LETTER, in `bytes` at `out`; false for other letters, which stay
 * as they are. %% is a percent sign. */
enum { PPI_PATTERN_BYTES = 256 };
typedef bool (*ppi_pattern_fn)(char letter, char *out, size_t bytes,
                               const void *context);

/* To be freed; NULL when out of memory. */
char *ppi_pattern_fill(const char *pattern, ppi_pattern_fn expand,
                       const void *context);
bool ppi_pattern_has(const char *pattern, char letter);

/* ---- columns of a terminal, whatever the locale ---- */

/* Of a text of UTF-8 that is clean. A byte that begins no
 * character is a column. */
size_t ppi_text_width(const char *text);

/* Bytes of the longest beginning of a text that takes no more than `columns`,
 * no character being cut from what is put over it. */
size_t ppi_text_fit(const char *text, size_t columns);

/* ---- numbers as event strings and configuration files write them ---- */

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
