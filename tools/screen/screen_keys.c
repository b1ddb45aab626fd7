/* SPDX-License-Identifier: MIT */
/* What keys do on the screen: letters as ever, and the keys of htop. */
#include "config.h"

#include "tools/screen/screen_state.h"

#include "tools/tools.h"
#include "tools/view/life.h"
#include "tools/view/owners.h"

#include <curses.h>
#include <stdlib.h>
#include <string.h>

/* curses' names for what this file is not about */
#undef lines
#undef columns

enum { KEY_ESCAPE = 27, KEY_RUBOUT = 127, KEY_CONTROL_H = 8 };

static void say(struct ppi_screen *screen, const char *words)
{
	snprintf(screen->word, sizeof(screen->word), "%s", words);
}

/* ---- which row ---- */

/* It is held by its name from now on; the first row is held by its place. */
static void choose(struct ppi_screen *screen, size_t at)
{
	if (at >= screen->rows.count)
		at = screen->rows.count ? screen->rows.count - 1 : 0;
	screen->at = at;
	free(screen->chosen);
	screen->chosen = NULL;
	screen->chosen_key = 0;
	if (at && screen->rows.count) {
		const struct ppi_screen_row *row = &screen->rows.rows[at];

		screen->chosen = strdup(ppi_screen_row_name(screen, row));
		screen->chosen_key = row->key;
	}
}

static const struct ppi_screen_row *chosen_row(const struct ppi_screen *screen)
{
	return screen->at < screen->rows.count ? &screen->rows.rows[screen->at]
	                                       : NULL;
}

static void move_by(struct ppi_screen *screen, int key)
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

/* The next row whose name has what was searched for, from `at` on. */
static void find(struct ppi_screen *screen, size_t at)
{
	size_t count = screen->rows.count;

	for (size_t i = 0; screen->search[0] && i < count; i++) {
		size_t row = (at + i) % count;
		const struct ppi_screen_row *one = &screen->rows.rows[row];

		if (strstr(ppi_screen_row_name(screen, one), screen->search) ||
		    strstr(one->module, screen->search)) {
			choose(screen, row);
			return;
		}
	}
	snprintf(screen->word, sizeof(screen->word),
	         "no name here contains '%s'", screen->search);
}

/* ---- which table ---- */

static void show_table(struct ppi_screen *screen, enum ppi_screen_table table)
{
	free(screen->function);
	screen->function = NULL;
	screen->table = table;
	choose(screen, 0);
}

/* Only what waits as this row does; NULL: everything. */
static void keep_wait(struct ppi_screen *screen,
                      const struct ppi_screen_row *row)
{
	char *wait = row ? strdup(row->wait) : NULL;
	char *on = row ? strdup(row->on) : NULL;

	free(screen->wait);
	free(screen->on);
	screen->wait = wait;
	screen->on = on;
}

/* By what threads waited for; then by who held that, and by who ended the waits. */
static enum ppi_screen_table next_waits(const struct ppi_screen *screen)
{
	if (screen->function)
		return PPI_SCREEN_WAITS;
	if (screen->table == PPI_SCREEN_WAITS)
		return PPI_SCREEN_HOLDERS;
	return screen->table == PPI_SCREEN_HOLDERS && screen->head.has_wakers
	               ? PPI_SCREEN_WAKERS : PPI_SCREEN_WAITS;
}

static void show_waits(struct ppi_screen *screen)
{
	if (screen->head.has_waits)
		show_table(screen, next_waits(screen));
	else
		say(screen, screen->data->is_live
		            ? "waits were not recorded: start top with --wall"
		            : "waits were not recorded: record --wall does");
}

static void show_all(struct ppi_screen *screen)
{
	screen->pid = screen->tid = 0;
	free(screen->module);
	screen->module = NULL;
	keep_wait(screen, NULL);
	free(screen->labelled);
	screen->labelled = NULL;
	screen->filter[0] = '\0';
	screen->times.has_times = false;
	choose(screen, 0);
}

/* The program's own: waits have a table of their own. From *at on, which is moved behind
 * it; NULL: there is no other. */
static const char *next_label(const struct ppi_screen *screen, size_t *at)
{
	const portprof_profile *profile = screen->data->all.profile;
	const char *name = NULL;

	while (profile && (name = ppi_labels_name(profile, (*at)++)) != NULL)
		if (!screen->head.has_waits || !ppi_label_is_of_wait(name))
			break;
	return name;
}

/* The values of the label that is shown already, else the first; where they are
 * shown, those of the next. */
static void show_labels(struct ppi_screen *screen)
{
	bool is_next = screen->table == PPI_SCREEN_LABELS && !screen->function;
	const char *name, *wanted = NULL, *first;
	size_t at = 0;

	pthread_mutex_lock(&screen->data->lock);
	name = first = next_label(screen, &at);
	while (name && screen->label && strcmp(name, screen->label) != 0)
		name = next_label(screen, &at);
	if (name && screen->label)
		wanted = is_next ? next_label(screen, &at) : name;
	if (first) {
		char *label = strdup(wanted ? wanted : first);

		if (label) {
			free(screen->label);
			screen->label = label;
		}
	}
	pthread_mutex_unlock(&screen->data->lock);
	if (screen->label)
		show_table(screen, PPI_SCREEN_LABELS);
	if (!first)
		say(screen, screen->head.has_waits
		            ? "no sample has a label but those of waits: w"
		            : "no sample has a label (portprof_label(3))");
}

static bool has_chains(struct ppi_screen *screen)
{
	if (screen->rows.has_chains)
		return true;
	say(screen, screen->data->is_live
	            ? "callers were not recorded: start top with -g"
	            : "callers were not recorded: record -g does");
	return false;
}

/* A filter found the row; it is none of what is in it. */
static void show_functions(struct ppi_screen *screen)
{
	screen->filter[0] = '\0';
	show_table(screen, PPI_SCREEN_FUNCTIONS);
}

static void show_edges(struct ppi_screen *screen)
{
	const struct ppi_screen_row *row = chosen_row(screen);
	char *function;

	if (!row || !row->function[0] || row->function[0] == '(' ||
	    !has_chains(screen))
		return;
	function = strdup(row->function);
	if (!screen->function)
		memcpy(screen->table_filter, screen->filter,
		       sizeof(screen->filter));
	show_functions(screen);
	screen->function = function;
}

static void open_branch(struct ppi_screen *screen, bool is_open)
{
	const struct ppi_screen_row *row = chosen_row(screen);

	if (row && row->has_children)
		ppi_screen_set_open(&screen->open, row->key, is_open);
}

/* To the row above that it belongs to, when it has nothing to close. */
static void close_branch(struct ppi_screen *screen)
{
	const struct ppi_screen_row *row = chosen_row(screen);
	size_t at = screen->at;

	if (!row)
		return;
	if (row->is_open) {
		open_branch(screen, false);
		return;
	}
	while (at > 0 && screen->rows.rows[at].depth >= row->depth &&
	       row->depth)
		at--;
	choose(screen, at);
}

/* The hottest way down from the chosen row. */
static void open_below(struct ppi_screen *screen)
{
	enum { LEVELS = 64 };
	size_t at = screen->at;

	for (int i = 0; i < LEVELS && at < screen->rows.count; i++, at++) {
		uint64_t key = screen->rows.rows[at].key;

		if (!screen->rows.rows[at].has_children)
			break;
		ppi_screen_set_open(&screen->open, key, true);
		ppi_screen_renew(screen, true);
		if (at >= screen->rows.count ||
		    screen->rows.rows[at].key != key)
			break;
	}
}

/* Into what the chosen row is about. */
static void enter(struct ppi_screen *screen)
{
	const struct ppi_screen_row *row = chosen_row(screen);

	if (!row)
		return;
	switch (screen->table) {
	case PPI_SCREEN_THREADS:
		screen->tid = row->tid;
		screen->pid = row->pid;
		show_functions(screen);
		break;
	case PPI_SCREEN_PROCESSES:
		screen->pid = row->pid;
		show_functions(screen);
		break;
	case PPI_SCREEN_WAITS:
		keep_wait(screen, row);
		show_functions(screen);
		break;
	case PPI_SCREEN_HOLDERS:
	case PPI_SCREEN_WAKERS:
		if (strcmp(row->label, "(none)") == 0) {
			say(screen, "nobody is known: choose a thread");
			break;
		}
		free(screen->labelled);
		screen->labelled = ppi_filter_label_of(
			ppi_who_label(ppi_screen_who(screen->table)),
			row->label);
		show_functions(screen);
		break;
	case PPI_SCREEN_MODULES:
		free(screen->module);
		screen->module = strdup(row->module);
		show_functions(screen);
		break;
	case PPI_SCREEN_LABELS:
		free(screen->labelled);
		screen->labelled = ppi_filter_label_of(screen->label,
		                                       row->label);
		show_functions(screen);
		break;
	case PPI_SCREEN_TREE:
		open_branch(screen, !row->is_open);
		break;
	default:
		show_edges(screen);
		break;
	}
}

static void leave_edges(struct ppi_screen *screen)
{
	memcpy(screen->filter, screen->table_filter, sizeof(screen->filter));
	show_table(screen, screen->table);
}

/* One step back, then to everything. */
static void leave(struct ppi_screen *screen)
{
	if (screen->lines.count)
		ppi_screen_unlist(screen);
	else if (screen->function)
		leave_edges(screen);
	else
		show_all(screen);
}

static void annotate(struct ppi_screen *screen)
{
	const struct ppi_screen_row *row = chosen_row(screen);

	if (screen->function)
		ppi_screen_list(screen, screen->function);
	else if (row && row->function[0] && row->function[0] != '(')
		ppi_screen_list(screen, row->function);
	else
		say(screen, "choose a function: f lists them");
}

/* ---- texts ---- */

static char *typed(struct ppi_screen *screen, size_t *bytes)
{
	*bytes = sizeof(screen->filter);
	return screen->typing == PPI_TYPES_SEARCH ? screen->search
	       : screen->typing == PPI_TYPES_TIMES ? screen->times_text
	                                           : screen->filter;
}

static void take_times(struct ppi_screen *screen)
{
	struct ppi_filter times = { 0 };

	screen->times.has_times = false;
	if (!screen->times_text[0])
		return;
	if (!ppi_filter_read_times(screen->times_text, &times))
		say(screen, "a time is FROM,TO in seconds or percent, such as "
		            "1,2 or 10%,20%");
	else if (!portprof_profile_origin_get(screen->data->head)->timeline_ns)
		say(screen, "this profile has no times of samples");
	else
		screen->times = times;
}

/* A letter of it. */
static void type(struct ppi_screen *screen, int key)
{
	size_t bytes;
	char *text = typed(screen, &bytes);
	size_t length = strlen(text);

	if (key == '\n' || key == KEY_ENTER) {
		if (screen->typing == PPI_TYPES_TIMES)
			take_times(screen);
		screen->typing = PPI_TYPES_NOTHING;
		return;
	}
	if (key == KEY_ESCAPE) {
		text[0] = '\0';
		if (screen->typing == PPI_TYPES_TIMES)
			screen->times.has_times = false;
		screen->typing = PPI_TYPES_NOTHING;
		return;
	}
	if (key == KEY_BACKSPACE || key == KEY_RUBOUT || key == KEY_CONTROL_H) {
		if (length)
			text[length - 1] = '\0';
	} else if (key >= ' ' && key < 256 && length + 1 < bytes) {
		text[length] = (char)key;
		text[length + 1] = '\0';
	}
	if (screen->typing == PPI_TYPES_SEARCH)
		find(screen, screen->at);
}

static void begin_typing(struct ppi_screen *screen,
                         enum ppi_screen_typing typing)
{
	size_t bytes;

	if (typing == PPI_TYPES_TIMES && screen->data->is_live) {
		say(screen, "parts of the time are for files: save with s, "
		            "then portprof browse");
		return;
	}
	screen->typing = typing;
	typed(screen, &bytes)[0] = '\0';
}

/* ---- all of them ---- */

static void save(struct ppi_screen *screen,
                 const struct ppi_screen_title *title)
{
	if (!title->save_to)
		say(screen, "it is a file already");
	else if (title->is_kept)
		snprintf(screen->word, sizeof(screen->word),
		         "all of it is recorded to %.200s", title->save_to);
	else if (!title->save(title))
		snprintf(screen->word, sizeof(screen->word), "%.500s",
		         portprof_last_diag()->words);
	else
		snprintf(screen->word, sizeof(screen->word),
		         "saved to %.200s: portprof report -i %.200s",
		         title->save_to, title->save_to);
	clearok(curscr, TRUE); /* naming may have said something */
}

/* All states of threads, where they were recorded, and then one after another. */
static void next_event(struct ppi_screen *screen)
{
	size_t events = screen->head.event_count;
	bool was_wall = screen->is_wall && screen->head.has_waits;

	screen->is_wall = false;
	if (!was_wall)
		screen->event++;
	if (screen->event < events)
		return;
	screen->event = 0;
	screen->is_wall = screen->head.has_waits;
}

static void next_order(struct ppi_screen *screen)
{
	screen->order = (screen->order + 1) % PPI_SCREEN_ORDERS;
	if (screen->order == PPI_SCREEN_CALLS && !screen->rows.has_chains)
		screen->order = PPI_SCREEN_RECENT;
	if (screen->order == PPI_SCREEN_RECENT && !screen->data->is_live)
		screen->order = PPI_SCREEN_ALL;
}

/* Lines of which some are shown; false: the key is another. */
static bool move_lines(const struct ppi_screen *screen, int key, size_t last,
                   size_t *first_line)
{
	size_t page = screen->row_room > 1 ? screen->row_room - 1 : 1;
	size_t first = *first_line;

	switch (key) {
	case KEY_UP:
	case 'k':
		first -= first > 0;
		break;
	case KEY_DOWN:
	case 'j':
		first++;
		break;
	case KEY_PPAGE:
		first -= first > page ? page : first;
		break;
	case KEY_NPAGE:
	case ' ':
		first += page;
		break;
	case KEY_HOME:
		first = 0;
		break;
	case KEY_END:
		first = last;
		break;
	default:
		return false;
	}
	last = last > screen->row_room ? last - screen->row_room : 0;
	*first_line = first < last ? first : last;
	return true;
}

/* Keys of the listing of a function. */
static bool move_listing(struct ppi_screen *screen, int key)
{
	switch (key) {
	case KEY_ESCAPE:
	case KEY_LEFT:
	case '\n':
	case KEY_ENTER:
	case 'a':
		ppi_screen_unlist(screen);
		return true;
	default:
		return move_lines(screen, key, screen->lines.count,
		              &screen->first_line);
	}
}

static bool obey_table(struct ppi_screen *screen,
                       const struct ppi_screen_title *title, int key)
{
	bool is_tree = screen->table == PPI_SCREEN_TREE && !screen->function;

	switch (key) {
	case 'q':
	case 'Q':
	case KEY_F(10):
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
		enter(screen);
		break;
	case KEY_RIGHT:
	case '+':
		if (is_tree)
			open_branch(screen, true);
		else
			enter(screen);
		break;
	case KEY_LEFT:
	case '-':
		if (is_tree)
			close_branch(screen);
		else
			leave(screen);
		break;
	case '*':
		if (is_tree)
			open_below(screen);
		break;
	case KEY_ESCAPE:
		leave(screen);
		break;
	case 'f':
		show_table(screen, PPI_SCREEN_FUNCTIONS);
		break;
	case 'm':
		show_table(screen, PPI_SCREEN_MODULES);
		break;
	case 't':
		show_table(screen, PPI_SCREEN_THREADS);
		break;
	case 'P':
		show_table(screen, PPI_SCREEN_PROCESSES);
		break;
	case 'w':
		show_waits(screen);
		break;
	case 'i':
		screen->shows_idle = !screen->shows_idle;
		break;
	case 'l':
		show_labels(screen);
		break;
	case 'T':
	case KEY_F(5):
		if (has_chains(screen))
			show_table(screen, PPI_SCREEN_TREE);
		break;
	case 'c':
		show_edges(screen);
		break;
	case 'a':
		annotate(screen);
		break;
	case 'o':
	case '>':
	case KEY_F(6):
		next_order(screen);
		break;
	case 'e':
		next_event(screen);
		break;
	case 'p':
	case ' ':
	case 'Z':
		screen->is_paused = screen->data->is_live &&
		                    !screen->is_paused;
		break;
	case 's':
		save(screen, title);
		break;
	case '/':
	case '\\':
	case KEY_F(4):
		begin_typing(screen, PPI_TYPES_FILTER);
		break;
	case KEY_F(3):
	case 'S':
		begin_typing(screen, PPI_TYPES_SEARCH);
		break;
	case 'n':
		find(screen, screen->at + 1);
		break;
	case 'r':
		begin_typing(screen, PPI_TYPES_TIMES);
		break;
	case '?':
	case 'h':
	case KEY_F(1):
		screen->help = (struct ppi_screen_help){ .is_shown = true };
		break;
	default:
		break;
	}
	return true;
}

bool ppi_screen_obey(struct ppi_screen *screen,
                     const struct ppi_screen_title *title, int key)
{
	screen->word[0] = '\0';
	if (key == KEY_RESIZE)
		return true; /* curses has the new size already */
	screen->is_stale = true;
	if (screen->help.is_shown) {
		screen->help.is_shown = move_lines(screen, key, screen->help.count,
		                               &screen->help.first);
		return true;
	}
	if (screen->typing != PPI_TYPES_NOTHING) {
		type(screen, key);
		return true;
	}
	if (screen->lines.count && move_listing(screen, key))
		return true;
	if (screen->lines.count && key != 'q' && key != 'Q' &&
	    key != KEY_F(10) && key != '?' && key != 'h' && key != KEY_F(1))
		ppi_screen_unlist(screen);
	return obey_table(screen, title, key);
}
