/* SPDX-License-Identifier: MIT */
/* The parts of the screen of portprof top. */
#ifndef PPI_TOP_DRAW_H
#define PPI_TOP_DRAW_H

#include <curses.h>

#include "tools/top/top.h"

/* For so long a turn of the screen waits for a key. */
enum { PPI_TOP_WAIT_MS = 100 };

struct ppi_top_screen {
	struct ppi_top_data *data;
	FILE *terminal;
	SCREEN *curses;

	enum ppi_top_table table;
	enum ppi_top_order order;
	size_t event;
	uint32_t tid;        /* whose functions; 0 everybody's */
	char *function;      /* whose callers and callees; NULL a table */
	char filter[64];
	bool is_typing, is_paused, has_help, is_drawn;
	char word[512];      /* in answer to the last key; "" none */

	struct ppi_top_rows rows;    /* of the table, or the callers */
	struct ppi_top_rows callees;
	size_t at, first;    /* the chosen row, and the first that is shown */
	char *chosen;        /* its name; NULL: it is the first, whichever */
	size_t row_room;     /* rows that fit */
};

/* What a row of the table is called. */
const char *ppi_top_row_name(const struct ppi_top_screen *screen,
                             const struct ppi_top_row *row);

void ppi_top_draw(struct ppi_top_screen *screen,
                  const struct ppi_top_title *title);

/* Write what was recorded to `from` until now, with the names of its code, and
 * keep what was there as .old. False: the thread's diagnostic says why. */
bool ppi_top_save(const char *from, const char *path,
                  struct ppi_held *held);

#endif
