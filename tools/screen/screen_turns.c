/* SPDX-License-Identifier: MIT */
/*
 * The screen of portprof top and browse: the terminal, its rows, its turns. It is drawn
 * on the terminal itself, wherever standard output goes; curses sends what has changed
 * and nothing else, and restores the terminal for a stop (Ctrl-Z) as at the end.
 */
#include "config.h"

#include "tools/screen/screen_state.h"

#include "base/clock_ns.h"
#include "tools/tools.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

/* curses' names for what this file is not about */
#undef lines
#undef columns

/* ---- the terminal ---- */

static FILE *open_terminal(void)
{
	return fopen("/dev/tty", "r+");
}

bool ppi_screen_can(const char *verb, const char *instead)
{
	const char *kind = getenv("TERM");
	FILE *terminal = open_terminal();
	int error = 0;
	bool is_known, can_move;

	if (!terminal) {
		ppi_say("%s needs a terminal: %s", verb, strerror(errno));
		ppi_say("without one: %s", instead);
		return false;
	}
	is_known = kind && kind[0] &&
	           setupterm(kind, fileno(terminal), &error) == OK;
	/* a dumb one writes one line after the other */
	can_move = is_known && cursor_address;
	fclose(terminal);
	if (can_move)
		return true;
	ppi_say("%s cannot draw on a terminal of type '%s', which %s", verb,
	        kind ? kind : "",
	        is_known ? "cannot move its cursor" : "is unknown here");
	ppi_say("set TERM, as in TERM=xterm portprof %s, or use %s", verb,
	        instead);
	return false;
}

static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

struct ppi_screen *ppi_screen_begin(struct ppi_screen_data *data,
                                    const struct ppi_screen_start *start)
{
	struct ppi_screen *screen = calloc(1, sizeof(*screen));

	if (!screen) {
		ppi_say("out of memory");
		return NULL;
	}
	setlocale(LC_CTYPE, "");
	screen->data = data;
	screen->is_wall = start->event == SIZE_MAX;
	screen->event = screen->is_wall ? 0 : start->event;
	screen->table = start->table;
	screen->label = copy_text(start->label);
	screen->labelled = copy_text(start->labelled);
	screen->order = data->is_live ? PPI_SCREEN_RECENT : PPI_SCREEN_ALL;
	screen->is_stale = true;
	screen->terminal = open_terminal();
	/* the size is what the terminal says, whatever COLUMNS and LINES do */
	use_env(TRUE);
	use_tioctl(TRUE);
	screen->curses = screen->terminal ? newterm(NULL, screen->terminal,
	                                            screen->terminal)
	                                  : NULL;
	if (!screen->curses) {
		ppi_say("the terminal cannot be drawn on");
		ppi_screen_end(screen);
		return NULL;
	}
	set_term(screen->curses);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	/* a key is waited for as long as nothing else is to be done */
	timeout(PPI_SCREEN_WAIT_MS);
	set_escdelay(50);
	curs_set(0);
	return screen;
}

void ppi_screen_end(struct ppi_screen *screen)
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
	ppi_screen_unlist(screen);
	ppi_screen_rows_free(&screen->rows);
	ppi_screen_rows_free(&screen->callees);
	ppi_vector_free(&screen->open.keys);
	free(screen->module);
	free(screen->wait);
	free(screen->on);
	free(screen->label);
	free(screen->labelled);
	free(screen->function);
	free(screen->chosen);
	free(screen);
}

bool ppi_screen_is_paused(const struct ppi_screen *screen)
{
	return screen->is_paused;
}

/* ---- the rows ---- */

struct ppi_screen_wish ppi_screen_wish(const struct ppi_screen *screen)
{
	return (struct ppi_screen_wish){
		.table = screen->function ? PPI_SCREEN_CALLERS : screen->table,
		.order = screen->order,
		.event = screen->event,
		.is_wall = screen->is_wall,
		.shows_idle = screen->shows_idle,
		.wait = screen->table == PPI_SCREEN_WAITS ? NULL : screen->wait,
		.on = screen->on,
		.function = screen->function,
		.filter = screen->filter,
		.module = screen->table == PPI_SCREEN_MODULES ? NULL
		                                              : screen->module,
		.pid = screen->table == PPI_SCREEN_PROCESSES ? 0 : screen->pid,
		.tid = screen->table == PPI_SCREEN_THREADS ||
		                       screen->table == PPI_SCREEN_PROCESSES
		               ? 0 : screen->tid,
		.label = screen->label,
		.labelled = screen->labelled,
		.times = screen->times.has_times ? &screen->times : NULL,
		.open = &screen->open,
	};
}

/* The row that was chosen may stand elsewhere now. */
static void find_chosen(struct ppi_screen *screen)
{
	for (size_t i = 0; screen->chosen && i < screen->rows.count; i++) {
		const struct ppi_screen_row *row = &screen->rows.rows[i];

		if (row->key == screen->chosen_key &&
		    strcmp(ppi_screen_row_name(screen, row),
		           screen->chosen) == 0) {
			screen->at = i;
			break;
		}
	}
	if (screen->at >= screen->rows.count)
		screen->at = screen->rows.count ? screen->rows.count - 1 : 0;
}

static void copy_head(struct ppi_screen *screen)
{
	const struct ppi_screen_data *data = screen->data;
	const struct ppi_screen_moment *then = &data->moments[PPI_SCREEN_SPAN];
	struct ppi_screen_head *head = &screen->head;
	const portprof_profile_origin *origin;
	const portprof_profile_event *event;
	struct ppi_screen_wish wish = ppi_screen_wish(screen);
	struct ppi_subject subject;

	memset(head, 0, sizeof(*head));
	head->has_failed = data->has_failed;
	memcpy(head->why, data->why, sizeof(head->why));
	event = data->head ? portprof_profile_event_get(data->head,
	                                                screen->event)
	                   : NULL;
	if (!event)
		return;
	/* out of memory: it is the event alone */
	if (ppi_screen_subject(data->head, &wish, &subject))
		event = subject.is_joined ? &subject.joined
		                          : portprof_profile_event_get(
						    data->head,
						    subject.event);
	ppi_screen_states_sum(data->head, &subject, head);
	head->has_waits = ppi_wall_states(data->head) != 0;
	head->has_wakers = ppi_has_wakings(data->head);
	origin = portprof_profile_origin_get(data->head);
	head->is_known = event->has_stats || !data->is_live;
	head->has_stats = event->has_stats;
	snprintf(head->event, sizeof(head->event), "%s", event->name);
	head->unit = event->unit;
	head->stats = event->stats;
	head->event_count = portprof_profile_event_count(data->head);
	ppi_subject_free(&subject);
	if (then->profile)
		head->recent_seconds =
			(double)(data->moments[0].at_ns - then->at_ns) / 1e9;
	if (origin->note_count)
		snprintf(head->note, sizeof(head->note), "%s",
		         origin->notes[0]);
}

void ppi_screen_renew(struct ppi_screen *screen, bool may_wait)
{
	struct ppi_screen_wish wish = ppi_screen_wish(screen);
	struct ppi_screen_rows rows, callees;
	bool is_good;

	memset(&callees, 0, sizeof(callees));
	if (may_wait)
		pthread_mutex_lock(&screen->data->lock);
	else if (pthread_mutex_trylock(&screen->data->lock) != 0)
		return;
	is_good = ppi_screen_rows_make(screen->data, &wish, &rows);
	if (is_good && screen->function) {
		wish.table = PPI_SCREEN_CALLEES;
		is_good = ppi_screen_rows_make(screen->data, &wish, &callees);
	}
	copy_head(screen);
	screen->version = screen->data->version;
	pthread_mutex_unlock(&screen->data->lock);
	screen->is_stale = false;
	ppi_screen_rows_free(&screen->rows);
	ppi_screen_rows_free(&screen->callees);
	screen->rows = rows;
	screen->callees = callees;
	if (!is_good)
		snprintf(screen->word, sizeof(screen->word), "out of memory");
	find_chosen(screen);
}

/* Whether the data have changed, or another look at them is wanted. */
static bool has_news(struct ppi_screen *screen)
{
	bool is_new = screen->is_stale;

	if (!is_new && pthread_mutex_trylock(&screen->data->lock) == 0) {
		is_new = screen->data->version != screen->version ||
		         screen->data->has_failed != screen->head.has_failed;
		pthread_mutex_unlock(&screen->data->lock);
	}
	return is_new;
}

/* Hung up: no key will come any more, and none is waited for. */
static bool is_gone(const struct ppi_screen *screen)
{
	struct pollfd terminal = { .fd = fileno(screen->terminal) };

	return poll(&terminal, 1, 0) > 0;
}

bool ppi_screen_turn(struct ppi_screen *screen,
                     const struct ppi_screen_title *title)
{
	bool is_news = has_news(screen);
	int key;

	if (is_news)
		ppi_screen_renew(screen, false);
	if (is_news || !screen->drawn_ns || title->ended[0] != '\0' ||
	    ppi_monotonic_ns() - screen->drawn_ns >=
	            PPI_SCREEN_EVERY_MS * UINT64_C(1000000))
		ppi_screen_draw(screen, title);
	key = getch();
	if (key == ERR)
		return !is_gone(screen);
	if (!ppi_screen_obey(screen, title, key))
		return false;
	ppi_screen_renew(screen, false);
	ppi_screen_draw(screen, title);
	return true;
}
