/* SPDX-License-Identifier: MIT */
/* What is done for terminals: colours, widths, a pager, a progress line. */
#ifndef PPI_TERMINAL_H
#define PPI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>

enum ppi_color { PPI_PLAIN, PPI_BOLD, PPI_RED, PPI_GREEN, PPI_YELLOW };

/* What --color says: auto, always or never. False for any other word, and
 * then nothing is changed. */
bool ppi_color_choose(const char *when);

/* Whether a stream is a terminal that knows escape sequences. */
bool ppi_is_terminal(FILE *to);

/*
 * Whether a stream is coloured. --color always or never decides; else
 * NO_COLOR that is not empty says no, CLICOLOR_FORCE that is not 0 says yes,
 * CLICOLOR of 0 says no, and a terminal that can is coloured (https://no-color.org,
 * https://bixense.com/clicolors).
 */
bool ppi_color_is_on(FILE *to);

/* What turns a colour on, PPI_PLAIN what turns all off; "" where the stream
 * is not coloured. */
const char *ppi_color(FILE *to, enum ppi_color color);

/* How many letters go on a line of a terminal; 0 when it is none, or does not
 * say. */
int ppi_terminal_width(FILE *to);

/* How wide a line of text may be: a terminal's width, else what COLUMNS says,
 * else 80. */
int ppi_line_width(FILE *to);

/* The same of a table, which nothing cuts where nobody says how wide: names
 * that go to a file or to grep(1) are whole. */
int ppi_table_width(FILE *to);

/*
 * From here on standard output goes to $PORTPROF_PAGER, $PAGER or less, if it
 * is a terminal that says how many lines it has: one that does not is a
 * script's, and a pager would wait there for ever. Never to "cat" or to an
 * empty command. Colours stay.
 */
void ppi_pager_begin(void);

/* Wait until the reader is done. */
void ppi_pager_end(void);

/*
 * The line appears on stderr when that is a terminal and a second has passed
 * since ppi_progress_begin, is renewed some times a second, and is gone after
 * ppi_progress_end. Everywhere else all of these do nothing. One at a time: false
 * where there is another one, or nobody to see it; then there is nothing to end.
 */
bool ppi_progress_begin(const char *doing);

/* How far it is; `all` 0 when that is not known: then `done` is only told. */
void ppi_progress_step(uint64_t done, uint64_t all, const char *unit);

/* Take the line away until the next step: something else is said. */
void ppi_progress_hide(void);

/* Take it away for good. */
void ppi_progress_end(void);

#endif
