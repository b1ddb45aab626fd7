/* SPDX-License-Identifier: MIT */
/*
 * The screen of portprof top. It is drawn on the terminal itself, wherever
 * standard output goes; curses sends what has changed and nothing else, and
 * restores the terminal for a stop (Ctrl-Z) as at the end.
 */
#include "config.h"

#include "tools/top/top.h"

#include "base/text.h"
#include "tools/tools.h"
#include "tools/view/view.h"

#include <curses.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

/* For so long a turn of the screen waits for a key. */
enum { WAIT_MS = 100 };

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

enum {
	FIRST_ROW = 5, /* below title, event, account, a word and names */
	MODULE_WIDTH = 18,
	LINE_BYTES = 1024
};

/* ---- lines ---- */

/* A text that is cut at the end of the screen. */
static void put(int y, int x, const char *text)
{
	if (y < LINES && x < COLS)
		mvaddnstr(y, x, text,
		          (int)ppi_text_fit(text, (size_t)(COLS - x)));
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void put_words(int y, int x, const char *words, ...)
{
	char line[LINE_BYTES];
	va_list values;

	va_start(values, words);
	vsnprintf(line, sizeof(line), words, values);
	va_end(values);
	put(y, x, line);
}

static const portprof_profile_event *event_of(const struct ppi_top_screen *screen)
{
	const portprof_profile *profile = screen->data->head;

	return profile ? portprof_profile_event_get(profile, screen->event)
	               : NULL;
}

/* ---- the head: what, for how long, and how far it can be believed ---- */

static uint64_t duration_ns(const struct ppi_top_screen *screen)
{
	const portprof_profile *profile = screen->data->head;

	return profile ? portprof_profile_origin_get(profile)->duration_ns : 0;
}

static void draw_title(const struct ppi_top_screen *screen,
                       const struct ppi_top_title *title)
{
	uint64_t seconds = duration_ns(screen) / 1000000000u;
	char room[PPI_SHOWN_BYTES], right[64];
	int length;

	attron(A_BOLD);
	put_words(0, 0, "portprof top: %s", ppi_shown(title->target, room));
	attroff(A_BOLD);
	length = snprintf(right, sizeof(right), "  %s%02" PRIu64 ":%02" PRIu64
	                  ":%02" PRIu64, screen->is_paused ? "paused  " : "",
	                  seconds / 3600, seconds / 60 % 60, seconds % 60);
	if (length < COLS)
		put(0, COLS - length, right);
}

static void draw_account(const struct ppi_top_screen *screen,
                         const struct ppi_top_title *title)
{
	const portprof_profile_event *event = event_of(screen);
	const portprof_stats *stats = event ? &event->stats : NULL;
	char weight[64], name[PPI_SHOWN_BYTES], rate[48] = "", idle[80] = "";
	struct ppi_scale scale;

	if (!event || !event->has_stats) {
		put(1, 0, "waiting for the first samples");
		return;
	}
	if (stats->granted_hz > 0)
		snprintf(rate, sizeof(rate), ", %g Hz granted",
		         stats->granted_hz);
	put_words(1, 0, "%s by %s%s", ppi_shown(event->name, name),
	          title->backend, rate);
	if (stats->idle_time_ns) {
		scale = ppi_scale_of(PORTPROF_UNIT_NANOSECONDS,
		                     stats->idle_time_ns);
		ppi_say_weight(scale, stats->idle_time_ns, weight,
		               sizeof(weight));
		snprintf(idle, sizeof(idle), "; idle %s", weight);
	}
	scale = ppi_scale_of(event->unit, stats->total_weight);
	put_words(2, 0, "%s in %" PRIu64 " samples, %" PRIu64
	          " lost, %.1f %% unattributed%s",
	          ppi_say_weight(scale, stats->total_weight, weight,
	                         sizeof(weight)),
	          stats->kept_samples, stats->lost_samples,
	          ppi_percent(stats->unattributed_weight, stats->total_weight),
	          idle);
}

/* The newest word; else why nothing is read; else what the profile notes. */
static void draw_note(const struct ppi_top_screen *screen,
                      const struct ppi_top_title *title)
{
	const portprof_profile *profile = screen->data->head;
	const portprof_profile_origin *origin =
		profile ? portprof_profile_origin_get(profile) : NULL;
	char room[PPI_SHOWN_BYTES];

	attron(A_BOLD);
	if (screen->is_typing)
		put_words(3, 0, "show names that contain: %s_", screen->filter);
	else if (screen->word[0])
		put(3, 0, ppi_shown(screen->word, room));
	else if (screen->data->has_failed)
		put(3, 0, ppi_shown(screen->data->why, room));
	else if (title->ended[0])
		put_words(3, 0, "%s; q leaves", title->ended);
	attroff(A_BOLD);
	if (screen->is_typing || screen->word[0] || screen->data->has_failed ||
	    title->ended[0])
		return;
	if (screen->filter[0])
		put_words(3, 0, "names that contain '%s' (Esc: all)",
		          screen->filter);
	else if (screen->tid)
		put_words(3, 0, "thread %" PRIu32 " alone (Esc: all)",
		          screen->tid);
	else if (origin && origin->note_count)
		put_words(3, 0, "note: %s",
		          ppi_shown(origin->notes[0], room));
}

/* ---- tables ---- */

static double recent_seconds(const struct ppi_top_data *data)
{
	const struct ppi_top_moment *then = &data->moments[PPI_TOP_SPAN];

	if (!then->profile)
		return 0;
	return (double)(data->moments[0].at_ns - then->at_ns) / 1e9;
}

/* What a row of the table is called. */
static const char *row_name(const struct ppi_top_screen *screen,
                            const struct ppi_top_row *row)
{
	const char *name = screen->function                     ? row->row.function
	                   : screen->table == PPI_TOP_THREADS   ? row->row.thread
	                   : screen->table == PPI_TOP_MODULES   ? row->row.module
	                                                        : row->row.function;

	return name ? name : "";
}

static const char *head_of(const struct ppi_top_screen *screen, bool is_callees)
{
	return is_callees                         ? "CALLED BY IT"
	       : screen->function                 ? "CALLER"
	       : screen->table == PPI_TOP_THREADS ? "THREAD"
	       : screen->table == PPI_TOP_MODULES ? "MODULE"
	                                          : "FUNCTION";
}

static void draw_head(const struct ppi_top_screen *screen, int y,
                      bool is_callees)
{
	double seconds = recent_seconds(screen->data);
	const char *mark[PPI_TOP_ORDERS] = { "", "", "" };
	bool has_modules = screen->table == PPI_TOP_FUNCTIONS;
	char recent[16] = "so far";

	if (seconds > 0)
		snprintf(recent, sizeof(recent), "last %.0fs", seconds);
	mark[screen->order] = "*";
	attron(A_BOLD | A_UNDERLINE);
	mvhline(y, 0, ' ', COLS);
	put_words(y, 0, "%*s%s %*s%s %*s%s %9s  %-*s%s",
	          9 - (int)strlen(mark[0]), recent, mark[0],
	          7 - (int)strlen(mark[1]), "all", mark[1],
	          10 - (int)strlen(mark[2]),
	          screen->rows.has_chains && !screen->function ? "with calls"
	                                                       : "",
	          screen->rows.has_chains ? mark[2] : "", "samples",
	          has_modules ? MODULE_WIDTH + 1 : 0,
	          has_modules ? "MODULE" : "", head_of(screen, is_callees));
	attroff(A_BOLD | A_UNDERLINE);
}

static void draw_row(const struct ppi_top_screen *screen, int y,
                     const struct ppi_top_rows *rows,
                     const struct ppi_top_row *row)
{
	char name[PPI_SHOWN_BYTES], module[PPI_SHOWN_BYTES], calls[16] = "";
	const char *shown = ppi_shown(row_name(screen, row), name);
	int x = 41;

	mvhline(y, 0, ' ', COLS);

	if (screen->rows.has_chains && !screen->function)
		snprintf(calls, sizeof(calls), "%.1f %%",
		         ppi_percent(row->row.total_weight, rows->total));
	put_words(y, 0, "%7.1f %% %5.1f %% %10s %9" PRIu64,
	          ppi_percent(row->recent_weight, rows->recent_total),
	          ppi_percent(row->row.self_weight, rows->total), calls,
	          row->row.samples);
	if (screen->table == PPI_TOP_FUNCTIONS) {
		const char *of = ppi_shown(row->row.module ? row->row.module
		                                           : "", module);

		mvaddnstr(y, x, of, (int)ppi_text_fit(of, MODULE_WIDTH));
		x += MODULE_WIDTH + 1;
	}
	if (screen->table != PPI_TOP_THREADS || screen->function)
		put(y, x, shown);
	else
		put_words(y, x, "%s/%" PRIu32 " of process %" PRIu32,
		          shown[0] ? shown : "?", row->row.tid, row->row.pid);
}

/* From line `y` to `end`; `chosen`: the row that is marked. */
static void draw_rows(const struct ppi_top_screen *screen, int y, int end,
                      const struct ppi_top_rows *rows, size_t first,
                      size_t chosen)
{
	for (size_t i = first; i < rows->count && y < end; i++, y++) {
		if (i == chosen)
			attron(A_REVERSE);
		draw_row(screen, y, rows, &rows->rows[i]);
		if (i == chosen)
			attroff(A_REVERSE);
	}
}

/* The chosen row is among those that are shown. */
static void scroll_to(struct ppi_top_screen *screen)
{
	if (screen->at < screen->first)
		screen->first = screen->at;
	if (screen->row_room && screen->at >= screen->first + screen->row_room)
		screen->first = screen->at - screen->row_room + 1;
	if (screen->first >= screen->rows.count)
		screen->first = 0;
}

static void draw_tables(struct ppi_top_screen *screen)
{
	int end = LINES - 1, middle = end;

	if (screen->function)
		middle = FIRST_ROW + (end - FIRST_ROW) / 2;
	screen->row_room = middle > FIRST_ROW ? (size_t)(middle - FIRST_ROW)
	                                      : 0;
	scroll_to(screen);
	draw_head(screen, FIRST_ROW - 1, false);
	draw_rows(screen, FIRST_ROW, middle, &screen->rows, screen->first,
	          screen->at);
	if (screen->function && middle + 1 < end) {
		draw_head(screen, middle, true);
		draw_rows(screen, middle + 1, end, &screen->callees, 0,
		          SIZE_MAX);
	}
}

/* ---- all of it ---- */

static void draw_keys(void)
{
	attron(A_REVERSE);
	mvhline(LINES - 1, 0, ' ', COLS);
	put(LINES - 1, 0, "q end  p pause  o order  / filter  f functions  "
	    "m modules  t threads  ? help");
	attroff(A_REVERSE);
}

static void draw_help(void)
{
	static const char *const help[] = {
		"Up, Down, PageUp, PageDown, Home, End   choose a row",
		"Enter   show callers and callees of a function (-g), or the",
		"        functions of a thread",
		"Esc     back, and show everything again",
		"f m t   by function, by module, by thread",
		"o       order: recent share, share of all, share with calls",
		"e       the next event",
		"/       show only names that contain a text",
		"p       pause: the screen stands still, recording continues",
		"s       save what was recorded so far as a profile",
		"q       end; a command that was started for it gets SIGTERM",
		"",
		"Shares are parts of the total of the event, in the last few",
		"seconds and since the beginning; weight without a sample is",
		"shown above as unattributed.",
	};

	for (size_t i = 0; i < sizeof(help) / sizeof(help[0]); i++)
		put(2 + (int)i, 2, help[i]);
}

static void draw_screen(struct ppi_top_screen *screen,
                        const struct ppi_top_title *title)
{
	erase();
	draw_title(screen, title);
	if (screen->has_help) {
		draw_help();
	} else {
		draw_account(screen, title);
		if (screen->function) {
			char room[PPI_SHOWN_BYTES];

			put_words(3, 0, "callers and callees of %s (Esc: back)",
			          ppi_shown(screen->function, room));
		} else {
			draw_note(screen, title);
		}
		draw_tables(screen);
	}
	draw_keys();
	refresh();
}

/* curses' names for what this file is not about */
#undef lines
#undef columns

enum { KEY_ESCAPE = 27, KEY_RUBOUT = 127, KEY_CONTROL_H = 8 };

/* ---- the terminal ---- */

static FILE *open_terminal(void)
{
	return fopen("/dev/tty", "r+");
}

bool ppi_top_screen_can(void)
{
	const char *kind = getenv("TERM");
	FILE *terminal = open_terminal();
	int error = 0;
	bool is_known;

	if (!terminal) {
		ppi_say("top needs a terminal: %s", strerror(errno));
		ppi_say("without one: portprof record, then portprof report");
		return false;
	}
	is_known = kind && kind[0] &&
	           setupterm(kind, fileno(terminal), &error) == OK;
	fclose(terminal);
	if (is_known)
		return true;
	ppi_say("top cannot draw on a terminal of type '%s', which is unknown "
	        "here", kind ? kind : "");
	ppi_say("set TERM, as in TERM=xterm portprof top, or use portprof "
	        "record and portprof report");
	return false;
}

struct ppi_top_screen *ppi_top_screen_begin(struct ppi_top_data *data)
{
	struct ppi_top_screen *screen = calloc(1, sizeof(*screen));

	if (!screen) {
		ppi_say("out of memory");
		return NULL;
	}
	setlocale(LC_CTYPE, "");
	screen->data = data;
	screen->terminal = open_terminal();
	/* the size is what the terminal says, whatever COLUMNS and LINES do */
	use_env(TRUE);
	use_tioctl(TRUE);
	screen->curses = screen->terminal ? newterm(NULL, screen->terminal,
	                                            screen->terminal)
	                                  : NULL;
	if (!screen->curses) {
		ppi_say("the terminal cannot be drawn on");
		ppi_top_screen_end(screen);
		return NULL;
	}
	set_term(screen->curses);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	/* a key is waited for as long as nothing else is to be done */
	timeout(WAIT_MS);
	set_escdelay(50);
	curs_set(0);
	return screen;
}

void ppi_top_screen_end(struct ppi_top_screen *screen)
{
	if (!screen)
		return;
	if (screen->curses) {
		curs_set(1);
		endwin();
		delscreen(screen->curses);
	}
	if (screen->terminal)
		fclose(screen->terminal);
	ppi_top_rows_free(&screen->rows);
	ppi_top_rows_free(&screen->callees);
	free(screen->function);
	free(screen->chosen);
	free(screen);
}

bool ppi_top_screen_is_paused(const struct ppi_top_screen *screen)
{
	return screen->is_paused;
}

/* ---- the rows ---- */

static struct ppi_top_wish wish_of(const struct ppi_top_screen *screen)
{
	return (struct ppi_top_wish){
		.table = screen->function ? PPI_TOP_CALLERS : screen->table,
		.order = screen->order,
		.event = screen->event,
		.function = screen->function,
		.filter = screen->filter,
		.tid = screen->table == PPI_TOP_THREADS ? 0 : screen->tid,
	};
}

/* The row that was chosen may stand elsewhere now. */
static void find_chosen(struct ppi_top_screen *screen)
{
	for (size_t i = 0; screen->chosen && i < screen->rows.count; i++)
		if (strcmp(row_name(screen, &screen->rows.rows[i]),
		           screen->chosen) == 0)
			screen->at = i;
	if (screen->at >= screen->rows.count)
		screen->at = screen->rows.count ? screen->rows.count - 1 : 0;
}

/* It is held by its name from now on; the first row is held by its place. */
static void choose(struct ppi_top_screen *screen, size_t at)
{
	if (at >= screen->rows.count)
		at = screen->rows.count ? screen->rows.count - 1 : 0;
	screen->at = at;
	free(screen->chosen);
	screen->chosen = NULL;
	if (at && screen->rows.count)
		screen->chosen = strdup(
			row_name(screen, &screen->rows.rows[at]));
}

static void renew(struct ppi_top_screen *screen)
{
	struct ppi_top_wish wish = wish_of(screen);
	bool is_good;

	ppi_top_rows_free(&screen->rows);
	ppi_top_rows_free(&screen->callees);
	is_good = ppi_top_rows_make(screen->data, &wish, &screen->rows);
	if (is_good && screen->function) {
		wish.table = PPI_TOP_CALLEES;
		is_good = ppi_top_rows_make(screen->data, &wish,
		                            &screen->callees);
	}
	if (!is_good)
		snprintf(screen->word, sizeof(screen->word), "out of memory");
	find_chosen(screen);
}

/* ---- keys ---- */

static void show_table(struct ppi_top_screen *screen, enum ppi_top_table table)
{
	free(screen->function);
	screen->function = NULL;
	screen->table = table;
	choose(screen, 0);
}

/* Into what the chosen row is about. */
static void enter(struct ppi_top_screen *screen)
{
	const struct ppi_top_row *row;

	if (screen->rows.count == 0)
		return;
	row = &screen->rows.rows[screen->at];
	if (screen->table == PPI_TOP_THREADS) {
		screen->tid = row->row.tid;
		show_table(screen, PPI_TOP_FUNCTIONS);
		return;
	}
	if (screen->table != PPI_TOP_FUNCTIONS)
		return;
	if (!screen->function && !screen->rows.has_chains) {
		snprintf(screen->word, sizeof(screen->word),
		         "callers were not recorded: start top with -g");
		return;
	}
	if (row->row.function && row->row.function[0] != '(') {
		char *function = strdup(row->row.function);

		free(screen->function);
		screen->function = function;
		choose(screen, 0);
	}
}

static void leave(struct ppi_top_screen *screen)
{
	if (screen->function || screen->table != PPI_TOP_FUNCTIONS)
		show_table(screen, PPI_TOP_FUNCTIONS);
	else if (screen->tid)
		screen->tid = 0;
	else
		screen->filter[0] = '\0';
}

static void save(struct ppi_top_screen *screen,
                 const struct ppi_top_title *title)
{
	if (title->is_kept)
		snprintf(screen->word, sizeof(screen->word),
		         "everything is recorded to %.200s", title->save_to);
	else if (!screen->data->head)
		snprintf(screen->word, sizeof(screen->word),
		         "there is nothing to save yet");
	else if (!ppi_top_save(screen->data->path, title->save_to, title->held))
		snprintf(screen->word, sizeof(screen->word), "%.300s",
		         portprof_last_diag()->words);
	else
		snprintf(screen->word, sizeof(screen->word),
		         "saved to %.200s: portprof report -i %.200s",
		         title->save_to, title->save_to);
	clearok(curscr, TRUE); /* naming may have said something */
}

/* A letter of the filter. */
static void type(struct ppi_top_screen *screen, int key)
{
	size_t length = strlen(screen->filter);

	if (key == '\n' || key == KEY_ENTER) {
		screen->is_typing = false;
	} else if (key == KEY_ESCAPE) {
		screen->is_typing = false;
		screen->filter[0] = '\0';
	} else if (key == KEY_BACKSPACE || key == KEY_RUBOUT ||
	           key == KEY_CONTROL_H) {
		if (length)
			screen->filter[length - 1] = '\0';
	} else if (key >= ' ' && key < 256 &&
	           length + 1 < sizeof(screen->filter)) {
		screen->filter[length] = (char)key;
		screen->filter[length + 1] = '\0';
	}
}

static void move_by(struct ppi_top_screen *screen, int key)
{
	size_t page = screen->row_room > 1 ? screen->row_room - 1 : 1;
	size_t at = screen->at;

	switch (key) {
	case KEY_UP:
	case 'k':
		choose(screen, at ? at - 1 : 0);
		break;
	case KEY_PPAGE:
		choose(screen, at > page ? at - page : 0);
		break;
	case KEY_HOME:
		choose(screen, 0);
		break;
	case KEY_END:
		choose(screen, SIZE_MAX - 1);
		break;
	case KEY_NPAGE:
		choose(screen, at + page);
		break;
	default:
		choose(screen, at + 1);
		break;
	}
}

/* False: the end. */
static bool obey(struct ppi_top_screen *screen,
                 const struct ppi_top_title *title, int key)
{
	size_t events;

	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case KEY_UP:
	case KEY_DOWN:
	case KEY_PPAGE:
	case KEY_NPAGE:
	case KEY_HOME:
	case KEY_END:
	case 'k':
	case 'j':
		move_by(screen, key);
		break;
	case '\n':
	case KEY_ENTER:
	case KEY_RIGHT:
		enter(screen);
		break;
	case KEY_ESCAPE:
	case KEY_LEFT:
		leave(screen);
		break;
	case 'f':
		show_table(screen, PPI_TOP_FUNCTIONS);
		break;
	case 'm':
		show_table(screen, PPI_TOP_MODULES);
		break;
	case 't':
		show_table(screen, PPI_TOP_THREADS);
		break;
	case 'o':
		screen->order = (screen->order + 1) % PPI_TOP_ORDERS;
		if (screen->order == PPI_TOP_CALLS && !screen->rows.has_chains)
			screen->order = PPI_TOP_RECENT;
		break;
	case 'e':
		events = screen->data->head ? portprof_profile_event_count(
						      screen->data->head)
		                            : 1;
		screen->event = events ? (screen->event + 1) % events : 0;
		break;
	case 'p':
	case ' ':
		screen->is_paused = !screen->is_paused;
		break;
	case 's':
		save(screen, title);
		break;
	case '/':
		screen->is_typing = true;
		break;
	case '?':
	case 'h':
		screen->has_help = true;
		break;
	default:
		break;
	}
	return true;
}

bool ppi_top_screen_turn(struct ppi_top_screen *screen,
                         const struct ppi_top_title *title, bool is_news)
{
	int key;

	if (is_news || !screen->is_drawn)
		renew(screen);
	if (is_news || !screen->is_drawn || title->ended[0] != '\0')
		draw_screen(screen, title);
	screen->is_drawn = true;
	key = getch();
	if (key == ERR)
		return true;
	screen->word[0] = '\0';
	if (key == KEY_RESIZE)
		; /* curses has the new size already */
	else if (screen->has_help)
		screen->has_help = false;
	else if (screen->is_typing)
		type(screen, key);
	else if (!obey(screen, title, key))
		return false;
	renew(screen);
	draw_screen(screen, title);
	return true;
}
