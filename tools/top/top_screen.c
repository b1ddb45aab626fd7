/* SPDX-License-Identifier: MIT */
/*
 * The screen of portprof top. It is drawn on the terminal itself, wherever
 * standard output goes; curses sends what has changed and nothing else, and
 * restores the terminal for a stop (Ctrl-Z) as at the end.
 */
#include "config.h"

#include "tools/top/top.h"

#include "tools/view/view.h"
#include "tools/top/top_draw.h"
#include "tools/tools.h"

#include <curses.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <term.h>

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
	timeout(PPI_TOP_WAIT_MS);
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
		if (strcmp(ppi_top_row_name(screen, &screen->rows.rows[i]),
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
			ppi_top_row_name(screen, &screen->rows.rows[at]));
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
		ppi_top_draw(screen, title);
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
	ppi_top_draw(screen, title);
	return true;
}
