/* SPDX-License-Identifier: MIT */
/* Escapes untrusted text, so that a terminal shows it and obeys none of it. */
#ifndef PPI_CLEAN_TEXT_H
#define PPI_CLEAN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A file, a program and a path can be called anything. What a terminal would
 * obey (C0, DEL, C1), what would show text in another order than it stands
 * (bidirectional controls), what would break a line and what is no UTF-8 is
 * written out: \x1b for bytes, \u202e for characters. All else stays as it is.
 */

/* Bytes of the UTF-8 character (RFC 3629) at `text`, and which one it is; 0
 * at the end and for what is none. */
size_t ppi_text_character(const char *text, uint32_t *code);

/* Whether a character is shown, and not obeyed. */
bool ppi_text_is_shown(uint32_t code);

/* Whether nothing in it needs to be written out. */
bool ppi_text_is_clean(const char *text);

/* The next character of *text, or what is written in its place; *text goes
 * behind it. The length; 0 at the end. */
enum { PPI_TEXT_PIECE = 8 };
size_t ppi_text_next(const char **text, char piece[PPI_TEXT_PIECE]);

/* As much of it as fits, no piece being cut, and a zero byte. */
void ppi_text_clean(const char *text, char *out, size_t bytes);

#endif
