/* SPDX-License-Identifier: MIT */
/*
 * A profile on a whole terminal, for top, which records meanwhile, and for browse:
 *
 *   screen_turns.c begin, end, and a turn: keys, news, drawing
 *   screen_draw.c  the terminal: head, columns, rows
 *   screen_list.c  the listing of a function
 *   screen_keys.c  what keys do
 *   screen_rows.c  the rows of a table: of all, and of what is recent
 *   screen_states.c  what threads did: running, ready, blocked
 *   screen_tree.c  rows of the tree of calls, of which branches are open
 *   screen_stub.c  instead of the first four in a build without curses
 */
#ifndef PPI_SCREEN_H
#define PPI_SCREEN_H

#include <portprof.h>
#include <portprof/tool.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"
#include "tools/symbols/symbols.h"
#include "tools/view/filter.h"
#include "tools/view/holders.h"
#include "tools/view/names.h"
#include "tools/view/rows.h"
#include "tools/view/wall.h"

/* ---- what is looked at ---- */

/* So many looks are what "recent" is. */
enum { PPI_SCREEN_SPAN = 5 };

/* A look: what it brought, or everything until then. */
struct ppi_screen_moment {
	portprof_profile *profile; /* NULL: none */
	struct ppi_symbols_name *names;
	uint64_t at_ns;   /* CLOCK_MONOTONIC */
	uint64_t *totals; /* of each event until then */
};

/* Who changes it, or reads it, holds the lock: top's reader is a thread. */
struct ppi_screen_data {
	pthread_mutex_t lock;
	struct ppi_screen_moment all;
	/* what looks brought, the newest [0]; recent shares count from the end
	 * of the oldest */
	struct ppi_screen_moment moments[PPI_SCREEN_SPAN + 1];
	const portprof_profile *head; /* whose account is the newest; or NULL */
	unsigned version; /* rises with every change */
	bool is_live;     /* else a file: nothing is recent */
	struct ppi_named_sources sources;
	bool has_failed;  /* the last look, and why, in `why` */
	char why[PORTPROF_WORDS_BYTES];
};

enum ppi_screen_table {
	PPI_SCREEN_FUNCTIONS,
	PPI_SCREEN_MODULES,
	PPI_SCREEN_THREADS,
	PPI_SCREEN_PROCESSES,
	PPI_SCREEN_WAITS,   /* by kind, and for what */
	PPI_SCREEN_HOLDERS, /* by who held it */
	PPI_SCREEN_WAKERS,  /* by who ended them */
	PPI_SCREEN_LABELS,  /* values of one */
	PPI_SCREEN_TREE,    /* of calls */
	PPI_SCREEN_CALLERS, /* of one function, */
	PPI_SCREEN_CALLEES  /* and whom it calls */
};

enum ppi_screen_order {
	PPI_SCREEN_RECENT,
	PPI_SCREEN_ALL,
	PPI_SCREEN_CALLS,
	PPI_SCREEN_ORDERS
};

/* The open branches of a tree: hashes of the ways to them, sorted. */
struct ppi_screen_open {
	struct ppi_vector keys; /* uint64_t */
};

bool ppi_screen_is_open(const struct ppi_screen_open *open, uint64_t key);
void ppi_screen_set_open(struct ppi_screen_open *open, uint64_t key,
                         bool is_open);

/* What of it is wanted. */
struct ppi_screen_wish {
	enum ppi_screen_table table;
	enum ppi_screen_order order;
	size_t event;
	bool is_wall;         /* in its place all states of threads, if any */
	bool shows_idle;      /* idle waits, too */
	const char *wait, *on; /* waits of this kind for that alone; NULL all */
	const char *function; /* of callers and callees */
	const char *filter;   /* part of a function's, module's or thread's
	                       * name; "" all */
	const char *module;   /* of functions in it alone; "" all */
	uint32_t pid, tid;    /* of these alone; 0 all */
	const char *label;    /* that PPI_SCREEN_LABELS tells apart */
	const char *labelled; /* "NAME=LIST" of these alone; NULL all */
	const struct ppi_filter *times; /* NULL all */
	const struct ppi_screen_open *open; /* of the tree */
};

/* Strings belong to the rows: data may change while they are shown. */
struct ppi_screen_row {
	const char *function, *module, *thread, *label; /* "" none */
	const char *wait, *on;                          /* likewise */
	uint32_t pid, tid;
	uint64_t recent_weight; /* of the last looks */
	uint64_t self_weight, total_weight, samples; /* since the beginning */
	uint64_t states[PPI_STATES]; /* the first of these, by state */
	uint64_t key; /* of rows of the same name */
	/* of the tree */
	unsigned depth;
	bool has_children, is_open;
};

struct ppi_screen_rows {
	struct ppi_screen_row *rows; /* in order */
	size_t count;
	char *text;
	uint64_t total, recent_total; /* all of the event, samples or not */
	uint64_t idle_weight; /* of idle waits, which are not shown */
	bool has_chains;
};

/* False when out of memory. The caller holds the lock. */
bool ppi_screen_rows_make(const struct ppi_screen_data *data,
                          const struct ppi_screen_wish *wish,
                          struct ppi_screen_rows *rows);
void ppi_screen_rows_free(struct ppi_screen_rows *rows);

/* What of a profile is wished for; false when out of memory, and
 * ppi_subject_free is due all the same (screen_states.c). */
bool ppi_screen_subject(const portprof_profile *profile,
                        const struct ppi_screen_wish *wish,
                        struct ppi_subject *subject);

/* Of the totals of a profile's events, the sum of a subject's. */
uint64_t ppi_screen_subject_total(const portprof_profile *profile,
                                  const struct ppi_subject *subject,
                                  const uint64_t *totals);

/* Leave out what does not wait as is wished. False when out of memory. */
bool ppi_screen_keep_wait(const portprof_profile *profile,
                          const struct ppi_screen_wish *wish,
                          bool *is_left_out);

/* Whether a table tells apart who held what was waited for, or ended the waits; and
 * leave out what is not about that. */
enum ppi_who ppi_screen_who(enum ppi_screen_table table);
void ppi_screen_keep_who(const portprof_profile *profile, enum ppi_who who,
                         bool *is_left_out);

/* Rows of such a table get the function of their threads, where it is only one, in
 * `on`, which is the holders'. False when out of memory. */
bool ppi_screen_name_who(struct ppi_holders *holders,
                         struct ppi_screen_rows *rows);

/* Add a row that is of one state to the sums of all. */
void ppi_screen_states_add(uint64_t states[PPI_STATES],
                           const struct ppi_row *row);

/* The rows of a tree (screen_tree.c), whose strings are the view's own; to be
 * freed. False when out of memory. */
bool ppi_screen_tree_rows(const struct ppi_view *view,
                          const struct ppi_screen_open *open,
                          struct ppi_screen_row **rows, size_t *count,
                          uint64_t *weight);

/* ---- the terminal ---- */

struct ppi_screen;

/* What stands above the table and is no part of a profile. */
struct ppi_screen_title {
	const char *verb;    /* "top" */
	const char *target;  /* what is measured */
	const char *backend;
	const char *ended;   /* how it ended; "" it runs */
	uint64_t elapsed_ns; /* since it began */
	const char *save_to; /* where `s` saves; NULL: nowhere */
	bool is_kept;        /* there, by -o: there is nothing to save */
	/* Save; false: the thread's diagnostic says why. */
	bool (*save)(const struct ppi_screen_title *title);
	void *context;       /* of `save` */
};

/* Whether there is a terminal that can show it; false with words. */
bool ppi_screen_can(const char *verb, const char *instead);

/* What is shown first. */
struct ppi_screen_start {
	size_t event;         /* SIZE_MAX: all states of threads, or the first where
	                       * they were not recorded */
	enum ppi_screen_table table;
	const char *label;    /* of a table of labels */
	const char *labelled; /* "NAME=LIST" of these alone; NULL all */
};

/* The rows of a verb's table of options; `at` is where its start is. */
#define PPI_SCREEN_OPTIONS(at) \
	{ 's', "sort", "KEY", \
	  "begin with the table by @WORDS (function)", \
	  .take = ppi_take_screen_sort, .place = (at), \
	  .word = ppi_screen_sort_word }, \
	{ .name = "label", .value = "NAME=LIST", \
	  .help = "begin with samples that have these values of a label", \
	  .take = ppi_take_screen_label, .place = (at) }
int ppi_take_screen_sort(const struct ppi_given *given, void *start);
const char *ppi_screen_sort_word(size_t i);
int ppi_take_screen_label(const struct ppi_given *given, void *start);

/* NULL, with words, when it cannot. From then on nothing else may write to the
 * terminal. */
struct ppi_screen *ppi_screen_begin(struct ppi_screen_data *data,
                                    const struct ppi_screen_start *start);

/* Draw, at least once a second, and do what keys ask for. False: it is to
 * end. */
bool ppi_screen_turn(struct ppi_screen *screen,
                     const struct ppi_screen_title *title);

/* Whether what is shown stands still, so that nothing needs to be read. */
bool ppi_screen_is_paused(const struct ppi_screen *screen);

/* The terminal is as it was; NULL is nothing. */
void ppi_screen_end(struct ppi_screen *screen);

#endif
