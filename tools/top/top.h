/* SPDX-License-Identifier: MIT */
/* The state of portprof top, and what it shows. */
#ifndef PPI_TOP_H
#define PPI_TOP_H

#include <portprof.h>
#include <portprof/tool.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/view/rows.h"
#include "tools/symbols/symbols.h"

/* ---- top.c: the recording so far; each look reads what is new ---- */

/* So many looks are what "recent" is. */
enum { PPI_TOP_SPAN = 5 };

/* A look: what it brought, or everything until then. */
struct ppi_top_moment {
	portprof_profile *profile; /* NULL: none */
	struct ppi_symbols_name *names;
	uint64_t at_ns;   /* CLOCK_MONOTONIC */
	uint64_t *totals; /* of each event until then */
};

struct ppi_top_data {
	const char *path; /* where it is recorded */
	struct ppi_symbols *symbols;
	uint64_t symbols_ns; /* since when these: maps of JIT code grow */
	portprof_follow *follow;
	struct ppi_top_moment all;
	/* what looks brought, the newest [0]; recent shares count from the end
	 * of the oldest */
	struct ppi_top_moment moments[PPI_TOP_SPAN + 1];
	const portprof_profile *head; /* whose account is the newest; or NULL */
	uint64_t cost_ns; /* what the last look took */
	bool has_failed;  /* and why, in `why` */
	char why[PORTPROF_WORDS_BYTES];
};

enum ppi_top_table {
	PPI_TOP_FUNCTIONS,
	PPI_TOP_MODULES,
	PPI_TOP_THREADS,
	PPI_TOP_CALLERS, /* of one function, */
	PPI_TOP_CALLEES  /* and whom it calls */
};

enum ppi_top_order {
	PPI_TOP_RECENT,
	PPI_TOP_ALL,
	PPI_TOP_CALLS,
	PPI_TOP_ORDERS
};

/* What of it is wanted. */
struct ppi_top_wish {
	enum ppi_top_table table;
	enum ppi_top_order order;
	size_t event;
	const char *function; /* of callers and callees */
	const char *filter;   /* part of a function's, module's or thread's
	                       * name; "" all */
	uint32_t tid;         /* of this thread alone; 0 all */
};

struct ppi_top_row {
	struct ppi_row row;    /* since the beginning */
	uint64_t recent_weight; /* of the last looks */
};

struct ppi_top_rows {
	struct ppi_top_row *rows; /* in order */
	size_t count;
	uint64_t total, recent_total; /* all of the event, samples or not */
	bool has_chains;
	/* those that the table is made of */
	struct ppi_rows now, recent[PPI_TOP_SPAN];
};

/* False when out of memory. */
bool ppi_top_rows_make(const struct ppi_top_data *data,
                       const struct ppi_top_wish *wish,
                       struct ppi_top_rows *rows);
void ppi_top_rows_free(struct ppi_top_rows *rows);

/* Write what was recorded to `from` until now, with the names of its code, and
 * keep what was there as .old. False: the thread's diagnostic says why. */
bool ppi_top_save(const char *from, const char *path, struct ppi_held *held);

/* ---- top_screen.c: the terminal ---- */

struct ppi_top_screen;

/* What stands above the table and is no part of a profile. */
struct ppi_top_title {
	const char *target;  /* what is measured */
	const char *backend;
	const char *ended;   /* how it ended; "" it runs */
	const char *save_to; /* where `s` saves */
	bool is_kept;        /* there, by -o: there is nothing to save */
	struct ppi_held *held; /* what will name the code there */
};

/* Whether there is a terminal that can show it; false with words. */
bool ppi_top_screen_can(void);

/* NULL, with words, when it cannot. From then on nothing else may write to the
 * terminal. */
struct ppi_top_screen *ppi_top_screen_begin(struct ppi_top_data *data);

/* Draw, and do what keys ask for. False: it is to end. `is_news`: the data are
 * others than the last time. */
bool ppi_top_screen_turn(struct ppi_top_screen *screen,
                         const struct ppi_top_title *title, bool is_news);

/* Whether what is shown stands still, so that nothing needs to be read. */
bool ppi_top_screen_is_paused(const struct ppi_top_screen *screen);

/* The terminal is as it was; NULL is nothing. */
void ppi_top_screen_end(struct ppi_top_screen *screen);

#endif
