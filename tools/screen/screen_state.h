/* SPDX-License-Identifier: MIT */
/* The state of a screen, for the files that draw it and obey its keys. */
#ifndef PPI_SCREEN_STATE_H
#define PPI_SCREEN_STATE_H

#include <stdio.h>

#include "tools/screen/screen.h"

/* For so long a turn of the screen waits for a key. */
enum { PPI_SCREEN_WAIT_MS = 100, PPI_SCREEN_EVERY_MS = 1000 };

/* What the profile says of itself, copied when its rows were. */
struct ppi_screen_head {
	bool is_known, has_stats;
	char event[256];
	portprof_unit unit;
	portprof_stats stats;
	unsigned states; /* that are shown as one; 0: it is an event */
	uint64_t state_weights[PPI_STATES];
	bool has_waits; /* some were recorded */
	bool has_wakers; /* and who ended them */
	size_t event_count;
	double recent_seconds; /* 0: since the beginning */
	bool has_failed;
	char why[PORTPROF_WORDS_BYTES];
	char note[400];
};

/* A line of a function's source or instructions. */
struct ppi_screen_line {
	char *text;
	double share; /* in percent; 0 none */
	bool is_title;
};

/* What a text is typed for. */
enum ppi_screen_typing {
	PPI_TYPES_NOTHING,
	PPI_TYPES_FILTER,
	PPI_TYPES_SEARCH,
	PPI_TYPES_TIMES
};

/* The list of keys: as many lines, from the first that is shown. */
struct ppi_screen_help {
	bool is_shown;
	size_t first, count;
};

/* What keys change and what is drawn, so it has more members than most. */
struct ppi_screen {
	struct ppi_screen_data *data;
	FILE *terminal;
	void *curses; /* SCREEN */

	enum ppi_screen_table table;
	enum ppi_screen_order order;
	size_t event;
	bool is_wall;        /* in its place all states, if any */
	bool shows_idle;
	uint32_t pid, tid;   /* whose functions; 0 everybody's */
	char *wait, *on;     /* of which waits; NULL all */
	char *module;        /* of what; NULL all */
	char *label;         /* that the table of labels tells apart */
	char *labelled;      /* "NAME=LIST" of what; NULL all */
	char *function;      /* whose callers and callees; NULL a table */
	char filter[64], search[64], times_text[64];
	char table_filter[64]; /* of the table, while callers are shown */
	struct ppi_filter times; /* has_times: a part of the time alone */
	struct ppi_screen_open open;
	enum ppi_screen_typing typing;
	bool is_paused;
	struct ppi_screen_help help;
	char word[512];      /* in answer to the last key; "" none */

	struct ppi_screen_head head;
	struct ppi_screen_rows rows; /* of the table, or the callers */
	struct ppi_screen_rows callees;
	unsigned version;    /* of the data that the rows are of */
	bool is_stale;       /* the wish has changed since */
	uint64_t drawn_ns;   /* 0: not yet */
	size_t at, first;    /* the chosen row, and the first that is shown */
	char *chosen;        /* its name; NULL: it is the first, whichever */
	uint64_t chosen_key;
	size_t row_room;     /* rows that fit */
	int note_at;         /* the line of the newest word */

	/* The listing of a function; no lines: there is none. */
	struct ppi_vector lines; /* struct ppi_screen_line */
	size_t first_line;
	char *listed; /* of which */
};

/* What a row of the table is called. */
const char *ppi_screen_row_name(const struct ppi_screen *screen,
                                const struct ppi_screen_row *row);

/* The sums of all states, for the head; and these in words. */
void ppi_screen_states_sum(const portprof_profile *profile,
                           const struct ppi_subject *subject,
                           struct ppi_screen_head *head);
void ppi_screen_states_say(const struct ppi_screen *screen, char *out,
                           size_t bytes);

/* What is looked at. */
struct ppi_screen_wish ppi_screen_wish(const struct ppi_screen *screen);

/* Make the rows anew, unless the data are in use: then later. */
void ppi_screen_renew(struct ppi_screen *screen, bool may_wait);

/* The chosen row is among those that are shown. */
void ppi_screen_scroll(struct ppi_screen *screen);

/* List a function's source and instructions; else a word why not. */
void ppi_screen_list(struct ppi_screen *screen, const char *function);
void ppi_screen_unlist(struct ppi_screen *screen);

void ppi_screen_draw(struct ppi_screen *screen,
                     const struct ppi_screen_title *title);

/* Its listing, from line `y` on. */
void ppi_screen_draw_listing(struct ppi_screen *screen, int y);

/* A text that is cut at the end of the screen. */
void ppi_screen_put(int y, int x, const char *text);
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void ppi_screen_put_words(int y, int x, const char *words, ...);

/* A number in a column so wide; where the next column begins. */
enum { PPI_SCREEN_NUMBER = 9 };
int ppi_screen_put_share(int y, int x, uint64_t weight, uint64_t total);

/* Do what a key asks for. False: it is to end. */
bool ppi_screen_obey(struct ppi_screen *screen,
                     const struct ppi_screen_title *title, int key);

#endif
