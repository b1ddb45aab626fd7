/* SPDX-License-Identifier: MIT */
/* Whether and how output is colored. */
#ifndef PPI_COLOR_H
#define PPI_COLOR_H

#include <stdbool.h>
#include <stdio.h>

enum ppi_color { PPI_PLAIN, PPI_BOLD, PPI_RED, PPI_GREEN, PPI_YELLOW };

/* What --color says: auto, always or never. False for any other word, and
 * then nothing is changed. */
bool ppi_color_choose(const char *when);

/* Whether a stream is a terminal that knows escape sequences. */
bool ppi_is_terminal(FILE *to);

/*
 * Whether a stream is coloured. --color always or never decides; else
 * NO_COLOR that is not empty says no, CLICOLOR_FORCE that is not 0 says yes,
 * and a terminal that can is coloured (https://no-color.org,
 * https://bixense.com/clicolors).
 */
bool ppi_color_is_on(FILE *to);

/* What turns a colour on, PPI_PLAIN what turns all off; "" where the stream
 * is not coloured. */
const char *ppi_color(FILE *to, enum ppi_color color);

/* How many letters go on a line of a terminal; 0 when it is none, or does not
 * say. */
int ppi_terminal_width(FILE *to);

/* How wide a line may be: a terminal's width, else what COLUMNS says, else 80. */
int ppi_line_width(FILE *to);

#endif
