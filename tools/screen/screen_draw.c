/* SPDX-License-Identifier: MIT */
/* What the screen of portprof top and browse shows: a head, tables, help. */
#include "config.h"

#include "tools/screen/screen_state.h"

#include "base/clock_ns.h"
#include "base/text.h"
#include "tools/view/account.h"
#include "tools/view/short_names.h"

#include <curses.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* curses' names for what this file is not about */
#undef lines
#undef columns

/* ---- lines ---- */

void ppi_screen_put(int y, int x, const char *text)
{
	if (y < LINES && x < COLS)
		mvaddnstr(y, x, text,
		          (int)ppi_text_fit(text, (size_t)(COLS - x)));
}

/* Of what fits on a line, the end of the last word; a word that is as long as a line
 * is cut. */
static size_t line_end(const char *text, size_t room)
{
	size_t end = ppi_text_fit(text, room);

	while (end > 0 && text[end] && text[end] != ' ')
		end--;
	return end ? end : ppi_text_fit(text, room);
}

/* A text on at most `most` lines, broken between words; the line after it. Three
 * points at its end say that there is more. */
static int put_wrapped(int y, int most, const char *text)
{
	size_t room = COLS > 0 ? (size_t)COLS : 1;

	while (most-- > 1 && ppi_text_fit(text, room) < strlen(text)) {
		size_t end = line_end(text, room);

		if (end == 0)
			break;
		if (y < LINES)
			mvaddnstr(y, 0, text, (int)end);
		y++;
		text += end + (text[end] == ' ');
	}
	ppi_screen_put(y, 0, text);
	if (ppi_text_fit(text, room) < strlen(text) && COLS > 3)
		ppi_screen_put(y, COLS - 3, "...");
	return y + 1;
}

/* Lines that a part of the head may take, so that the table keeps most. */
static int head_lines(void)
{
	return LINES >= 16 ? LINES / 8 : 1;
}

void ppi_screen_put_words(int y, int x, const char *words, ...)
{
	char line[1024];
	va_list values;

	va_start(values, words);
	vsnprintf(line, sizeof(line), words, values);
	va_end(values);
	ppi_screen_put(y, x, line);
}

/* ---- the head: what, for how long, and how far it can be believed ---- */

static void draw_title(const struct ppi_screen *screen,
                       const struct ppi_screen_title *title)
{
	uint64_t seconds = title->elapsed_ns / 1000000000u;
	char room[PPI_SHOWN_BYTES], right[64];
	const char *target = ppi_shown(title->target, room);
	const char *slash = strrchr(target, '/');
	int length;

	length = snprintf(right, sizeof(right), "  %s%02" PRIu64 ":%02" PRIu64
	                  ":%02" PRIu64, screen->is_paused ? "paused  " : "",
	                  seconds / 3600, seconds / 60 % 60, seconds % 60);
	/* of a long path the end counts */
	if (!screen->data->is_live && slash &&
	    (int)strlen("portprof : ") + (int)strlen(title->verb) +
	                    (int)ppi_text_width(target) + length > COLS)
		target = slash + 1;
	attron(A_BOLD);
	ppi_screen_put_words(0, 0, "portprof %s: %s", title->verb, target);
	attroff(A_BOLD);
	if (length < COLS)
		ppi_screen_put(0, COLS - length, right);
}

/* Within an estimate's error it is none. */
static void say_unattributed(const portprof_stats *stats, char *out,
                             size_t bytes)
{
	uint64_t gap = stats->excess_weight ? stats->excess_weight
	                                    : stats->unattributed_weight;

	if (ppi_gap_is_noise(stats, gap))
		snprintf(out, bytes, "0 +- %.1f %%",
		         ppi_percent(stats->standard_error,
		                     stats->total_weight));
	else
		snprintf(out, bytes, "%.1f %%",
		         ppi_percent(stats->unattributed_weight,
		                     stats->total_weight));
}

/* From line `y`; the line after it. */
static int draw_account(const struct ppi_screen *screen,
                        const struct ppi_screen_title *title, int y)
{
	const struct ppi_screen_head *head = &screen->head;
	const portprof_stats *stats = &head->stats;
	char weight[64], name[PPI_SHOWN_BYTES], rate[48] = "", idle[80] = "";
	char states[400], gap[32], line[1024];
	struct ppi_scale scale;

	if (!head->is_known) {
		ppi_screen_put(y, 0, "waiting for the first samples");
		return y + 2;
	}
	if (head->has_stats && stats->granted_hz > 0)
		snprintf(rate, sizeof(rate), ", %g Hz granted",
		         stats->granted_hz);
	if (head->states)
		ppi_screen_states_say(screen, states, sizeof(states));
	if (head->states)
		snprintf(line, sizeof(line), "%s: %s", head->event, states);
	else
		snprintf(line, sizeof(line), "%s%s%s%s",
		         ppi_shown(head->event, name),
		         title->backend[0] ? " by " : "", title->backend,
		         rate);
	y = put_wrapped(y, head_lines(), line);
	if (!head->has_stats)
		return y + 1;
	if (stats->idle_time_ns) {
		scale = ppi_scale_of(PORTPROF_UNIT_NANOSECONDS,
		                     stats->idle_time_ns);
		ppi_say_weight(scale, stats->idle_time_ns, weight,
		               sizeof(weight));
		snprintf(idle, sizeof(idle), "; idle %s", weight);
	}
	scale = ppi_scale_of(head->unit, stats->total_weight);
	say_unattributed(stats, gap, sizeof(gap));
	snprintf(line, sizeof(line),
	         "%s in %" PRIu64 " samples, %" PRIu64
	         " lost, %s unattributed%s",
	         ppi_say_weight(scale, stats->total_weight, weight,
	                        sizeof(weight)),
	         stats->kept_samples, stats->lost_samples, gap, idle);
	return put_wrapped(y, head_lines(), line);
}

/* What is not all: "thread 12 alone, 10%,20% (Esc: all)". False: nothing is left
 * out. */
static bool say_filters(const struct ppi_screen *screen, char *out,
                        size_t bytes)
{
	char words[800], room[PPI_SHOWN_BYTES], on_room[PPI_SHOWN_BYTES];
	size_t used = 0;

	words[0] = '\0';
	if (screen->tid)
		used += (size_t)snprintf(words, sizeof(words),
		                         ", thread %" PRIu32 " alone",
		                         screen->tid);
	else if (screen->pid)
		used += (size_t)snprintf(words, sizeof(words),
		                         ", process %" PRIu32 " alone",
		                         screen->pid);
	if (screen->module)
		used += (size_t)snprintf(words + used, sizeof(words) - used,
		                         ", in %.200s",
		                         ppi_shown(screen->module, room));
	if (screen->wait)
		used += (size_t)snprintf(words + used, sizeof(words) - used,
		                         ", %.60s%s%.100s alone",
		                         ppi_shown(screen->wait, room),
		                         screen->on[0] ? " on " : "",
		                         ppi_shown(screen->on, on_room));
	if (screen->labelled)
		used += (size_t)snprintf(words + used, sizeof(words) - used,
		                         ", label %.120s",
		                         ppi_shown(screen->labelled, room));
	if (screen->times.has_times)
		used += (size_t)snprintf(words + used, sizeof(words) - used,
		                         ", time %s", screen->times_text);
	if (screen->filter[0])
		used += (size_t)snprintf(words + used, sizeof(words) - used,
		                         ", names that contain '%s'",
		                         screen->filter);
	if (used)
		snprintf(out, bytes, "%s (Esc: all)", words + 2);
	return used > 0;
}

/* The newest word; else why nothing is read. False: there is neither. */
static bool say_news(const struct ppi_screen *screen,
                     const struct ppi_screen_title *title, char *out,
                     size_t bytes)
{
	static const char *const asked[] = {
		[PPI_TYPES_FILTER] = "show names that contain: ",
		[PPI_TYPES_SEARCH] = "search: ",
		[PPI_TYPES_TIMES] = "show the time FROM,TO (1,2.5 or 10%,20%): ",
	};
	const struct ppi_screen_head *head = &screen->head;
	char room[PPI_SHOWN_BYTES];

	if (screen->typing != PPI_TYPES_NOTHING)
		snprintf(out, bytes, "%s%s_", asked[screen->typing],
		         screen->typing == PPI_TYPES_SEARCH ? screen->search
		         : screen->typing == PPI_TYPES_TIMES
		                 ? screen->times_text
		                 : screen->filter);
	else if (screen->word[0])
		snprintf(out, bytes, "%s", ppi_shown(screen->word, room));
	else if (head->has_failed)
		snprintf(out, bytes, "%s", ppi_shown(head->why, room));
	else if (title->ended[0] && !screen->function)
		snprintf(out, bytes, "%s; q leaves", title->ended);
	else
		return false;
	return true;
}

/* News; else of what the rows are; else what the profile notes. From line `y`; the
 * line after it. */
static int draw_note(const struct ppi_screen *screen,
                     const struct ppi_screen_title *title, int y)
{
	static const char back[] = " (Esc: back)";
	char line[PPI_SHOWN_BYTES + 100] = "", room[PPI_SHOWN_BYTES];
	char fits[PPI_SHOWN_BYTES];
	int name_room = COLS - (int)strlen(back);
	bool is_news = say_news(screen, title, line, sizeof(line));

	/* the name has a line with the key, so that its last part is there */
	if (!is_news && screen->function)
		snprintf(line, sizeof(line), "callers and callees of %s%s",
		         ppi_fit_name(ppi_shown(screen->function, room),
		                      name_room > 1 ? (size_t)name_room : 1,
		                      fits),
		         back);
	else if (!is_news && !say_filters(screen, line, sizeof(line)) &&
	         screen->head.note[0])
		snprintf(line, sizeof(line), "note: %s",
		         ppi_shown(screen->head.note, room));
	if (is_news)
		attron(A_BOLD);
	y = put_wrapped(y, head_lines(), line);
	attroff(A_BOLD);
	return y;
}

/* ---- columns ---- */

enum { MODULE_WIDTH = 18, MODULE_LEAST = 12,
       NAME_LEAST = 24, NAME_GOOD = 36 };

/* Which fit: names need their part, and a narrow screen has the one share that
 * rows are sorted by. Numbers of samples, and wide modules, are for screens on which
 * names have room. */
struct columns {
	bool has_recent, has_all, has_states, has_calls, has_samples;
	int module_width; /* 0: no module */
	int name_at;
};

static bool take_room(int *room, int width, bool is_wanted)
{
	if (!is_wanted || *room < width)
		return false;
	*room -= width;
	return true;
}

static struct columns columns_of(const struct ppi_screen *screen)
{
	bool is_tree = screen->table == PPI_SCREEN_TREE && !screen->function;
	bool is_live = screen->data->is_live && !is_tree;
	bool has_calls = screen->rows.has_chains && !screen->function;
	bool has_modules = screen->table == PPI_SCREEN_FUNCTIONS ||
	                   screen->function || is_tree;
	struct columns columns = { .has_recent = is_live };
	int room = COLS - NAME_LEAST - PPI_SCREEN_NUMBER;

	/* one of them is always there */
	if (is_tree)
		columns.has_calls = true;
	else if (!is_live)
		columns.has_all = true;
	if (!columns.has_all)
		columns.has_all = take_room(&room, PPI_SCREEN_NUMBER, true);
	columns.has_states =
		take_room(&room, PPI_STATES * PPI_SCREEN_NUMBER,
	                  screen->head.states && !is_tree);
	if (!columns.has_calls)
		columns.has_calls =
			take_room(&room, PPI_SCREEN_NUMBER, has_calls);
	if (take_room(&room, MODULE_LEAST + 1, has_modules))
		columns.module_width = MODULE_LEAST;
	room -= NAME_GOOD - NAME_LEAST;
	columns.has_samples = take_room(&room, PPI_SCREEN_NUMBER + 1,
	                                !is_tree && !columns.has_states);
	if (columns.module_width &&
	    take_room(&room, MODULE_WIDTH - MODULE_LEAST, true))
		columns.module_width = MODULE_WIDTH;
	columns.name_at = PPI_SCREEN_NUMBER *
	                          (columns.has_recent + columns.has_all +
	                           columns.has_calls +
	                           PPI_STATES * columns.has_states) +
	                  (columns.has_samples ? PPI_SCREEN_NUMBER + 1 : 0) +
	                  (columns.module_width ? columns.module_width + 1
	                                        : 0) + 1;
	return columns;
}

static const char *head_of(const struct ppi_screen *screen, bool is_callees,
                           char *room, size_t bytes)
{
	char shown[PPI_SHOWN_BYTES];
	static const char *const heads[] = {
		[PPI_SCREEN_FUNCTIONS] = "FUNCTION",
		[PPI_SCREEN_MODULES] = "MODULE",
		[PPI_SCREEN_THREADS] = "THREAD",
		[PPI_SCREEN_PROCESSES] = "PROCESS",
		[PPI_SCREEN_WAITS] = "WAIT",
		[PPI_SCREEN_HOLDERS] = "WAITED FOR, HELD BY",
		[PPI_SCREEN_WAKERS] = "WAITED, WOKEN BY",
		[PPI_SCREEN_TREE] = "CALLS",
	};

	if (screen->table == PPI_SCREEN_LABELS && !screen->function) {
		snprintf(room, bytes, "LABEL %.80s",
		         ppi_shown(screen->label, shown));
		return room;
	}
	return is_callees         ? "CALLED BY IT"
	       : screen->function ? "CALLER"
	                          : heads[screen->table];
}

static int put_head(int y, int x, const char *name, bool is_sorted)
{
	ppi_screen_put_words(y, x, "%*s%s", PPI_SCREEN_NUMBER - is_sorted, name,
	                     is_sorted ? "*" : "");
	return x + PPI_SCREEN_NUMBER;
}

static void draw_head(const struct ppi_screen *screen, int y,
                      const struct columns *columns, bool is_callees)
{
	bool is_tree = screen->table == PPI_SCREEN_TREE && !screen->function;
	double seconds = screen->head.recent_seconds;
	char recent[16] = "so far", room[100];
	int x = 0;

	if (seconds > 0)
		snprintf(recent, sizeof(recent), "last %.0fs", seconds);
	attron(A_BOLD | A_UNDERLINE);
	mvhline(y, 0, ' ', COLS);
	if (columns->has_recent)
		x = put_head(y, x, recent,
		             screen->order == PPI_SCREEN_RECENT);
	if (columns->has_all)
		x = put_head(y, x, screen->data->is_live && !is_tree ? "all"
		                                                     : "self",
		             screen->order == PPI_SCREEN_ALL && !is_tree);
	for (int i = 0; columns->has_states && i < PPI_STATES; i++)
		x = put_head(y, x, ppi_state_name((enum ppi_state)i), false);
	if (columns->has_calls)
		x = put_head(y, x, "w/ calls",
		             screen->order == PPI_SCREEN_CALLS && !is_tree);
	if (columns->has_samples) {
		ppi_screen_put_words(y, x, "%*s", PPI_SCREEN_NUMBER + 1,
		                     "samples");
		x += PPI_SCREEN_NUMBER + 1;
	}
	if (columns->module_width)
		ppi_screen_put(y, x + 1, "MODULE");
	ppi_screen_put(y, columns->name_at,
	               head_of(screen, is_callees, room, sizeof(room)));
	attroff(A_BOLD | A_UNDERLINE);
}

/* ---- rows ---- */

/* What a row of the table is called. */
const char *ppi_screen_row_name(const struct ppi_screen *screen,
                                const struct ppi_screen_row *row)
{
	if (screen->function)
		return row->function;
	switch (screen->table) {
	case PPI_SCREEN_THREADS:
	case PPI_SCREEN_PROCESSES:
		return row->thread;
	case PPI_SCREEN_WAITS:
		return row->wait;
	case PPI_SCREEN_MODULES:
		return row->module;
	case PPI_SCREEN_HOLDERS:
	case PPI_SCREEN_WAKERS:
		return strcmp(row->on, "(none)") == 0 ? "(nobody is known)"
		                                      : row->on;
	case PPI_SCREEN_LABELS:
		return row->label;
	default:
		return row->function;
	}
}

int ppi_screen_put_share(int y, int x, uint64_t weight, uint64_t total)
{
	ppi_screen_put_words(y, x, "%*.1f %%", PPI_SCREEN_NUMBER - 2,
	                     ppi_percent(weight, total));
	return x + PPI_SCREEN_NUMBER;
}

static void put_name(const struct ppi_screen *screen, int y, int x,
                     const struct ppi_screen_row *row)
{
	char shown[PPI_SHOWN_BYTES], fits[PPI_SHOWN_BYTES];
	const char *name = ppi_shown(ppi_screen_row_name(screen, row), shown);
	bool is_table = !screen->function;
	int most = COLS - x;

	if (is_table && screen->table == PPI_SCREEN_THREADS) {
		ppi_screen_put_words(y, x,
		                     "%s/%" PRIu32 " of process %" PRIu32,
		                     name[0] ? name : "?", row->tid, row->pid);
		return;
	}
	if (is_table && screen->table == PPI_SCREEN_PROCESSES) {
		ppi_screen_put_words(y, x, "%s/%" PRIu32,
		                     name[0] ? name : "?", row->pid);
		return;
	}
	if (is_table && screen->table == PPI_SCREEN_WAITS && row->on[0]) {
		char on[PPI_SHOWN_BYTES], line[PPI_SHOWN_BYTES * 2];

		snprintf(line, sizeof(line), "%s on %s", name,
		         ppi_shown(row->on, on));
		ppi_screen_put(y, x, ppi_fit_name(line, (size_t)most, fits));
		return;
	}
	if (is_table && screen->table == PPI_SCREEN_TREE) {
		/* a level is a column, until names have too little */
		int indent = (int)row->depth;

		if (indent > most - NAME_LEAST)
			indent = most > NAME_LEAST ? most - NAME_LEAST : 0;
		x += indent;
		ppi_screen_put(y, x, !row->has_children ? "  "
		                     : row->is_open     ? "- "
		                                        : "+ ");
		x += 2;
		most = COLS - x;
	}
	/* what has no code is in no module */
	if (most > 0)
		ppi_screen_put(y, x,
		               name[0] ? ppi_fit_name(name, (size_t)most, fits)
		                       : "(none)");
}

static void draw_row(const struct ppi_screen *screen, int y,
                     const struct columns *columns,
                     const struct ppi_screen_rows *rows,
                     const struct ppi_screen_row *row)
{
	char module[PPI_SHOWN_BYTES];
	int x = 0;

	mvhline(y, 0, ' ', COLS);
	if (columns->has_recent)
		x = ppi_screen_put_share(y, x, row->recent_weight,
		                         rows->recent_total);
	if (columns->has_all)
		x = ppi_screen_put_share(y, x, row->self_weight, rows->total);
	for (int i = 0; columns->has_states && i < PPI_STATES; i++)
		x = ppi_screen_put_share(y, x, row->states[i], rows->total);
	if (columns->has_calls && screen->function)
		x += PPI_SCREEN_NUMBER;
	else if (columns->has_calls)
		x = ppi_screen_put_share(y, x, row->total_weight,
		                         rows->total);
	if (columns->has_samples) {
		ppi_screen_put_words(y, x, "%*" PRIu64, PPI_SCREEN_NUMBER + 1,
		                     row->samples);
		x += PPI_SCREEN_NUMBER + 1;
	}
	if (columns->module_width) {
		const char *of = ppi_shown(row->module, module);

		mvaddnstr(y, x + 1, of,
		          (int)ppi_text_fit(of,
		                            (size_t)columns->module_width));
	}
	put_name(screen, y, columns->name_at, row);
}

/* From line `y` to `end`; `chosen`: the row that is marked. */
static void draw_rows(const struct ppi_screen *screen, int y, int end,
                      const struct columns *columns,
                      const struct ppi_screen_rows *rows, size_t first,
                      size_t chosen)
{
	for (size_t i = first; i < rows->count && y < end; i++, y++) {
		if (i == chosen)
			attron(A_REVERSE);
		draw_row(screen, y, columns, rows, &rows->rows[i]);
		if (i == chosen)
			attroff(A_REVERSE);
	}
}

void ppi_screen_scroll(struct ppi_screen *screen)
{
	if (screen->at < screen->first)
		screen->first = screen->at;
	if (screen->row_room && screen->at >= screen->first + screen->row_room)
		screen->first = screen->at - screen->row_room + 1;
	if (screen->first >= screen->rows.count)
		screen->first = 0;
}

/* From line `y` on, which has the columns' names. */
static void draw_tables(struct ppi_screen *screen, int y)
{
	int end = LINES - 1, first = y + 1, middle = end;
	struct columns columns = columns_of(screen);

	if (screen->function)
		middle = first + (end - first) / 2;
	screen->row_room = middle > first ? (size_t)(middle - first) : 0;
	ppi_screen_scroll(screen);
	draw_head(screen, y, &columns, false);
	draw_rows(screen, first, middle, &columns, &screen->rows,
	          screen->first, screen->at);
	if (screen->function && middle + 1 < end) {
		draw_head(screen, middle, &columns, true);
		draw_rows(screen, middle + 1, end, &columns, &screen->callees,
		          0, SIZE_MAX);
	}
}

/* ---- all of it ---- */

/* As many as fit, the first before others. */
static void draw_keys(const struct ppi_screen *screen)
{
	static const char *const keys[] = {
		"q end", "? help", "p pause", "r time", "/ filter",
		"f functions", "T tree", "t threads", "l labels", "a code",
	};
	int x = 0;

	attron(A_REVERSE);
	mvhline(LINES - 1, 0, ' ', COLS);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		int width = (int)strlen(keys[i]);

		if (keys[i][0] == (screen->data->is_live ? 'r' : 'p') ||
		    x + width > COLS)
			continue;
		ppi_screen_put(LINES - 1, x, keys[i]);
		x += width + 2;
	}
	attroff(A_REVERSE);
}

struct help {
	const char *keys, *words;
};

static const struct help helps[] = {
	{ "Up Down", "choose a row; PageUp PageDown Home End, too" },
	{ "Enter c", "a function's callers and callees; of a thread, process, "
	             "module or label: its functions" },
	{ "a", "a function's source and instructions" },
	{ "f m t P", "by function, module, thread, process" },
	{ "l", "by label; again: by the next label" },
	{ "T F5", "calls as a tree: Right Left + - open and close, * opens the "
	          "hottest way down" },
	{ "o F6", "order: recent share, share of all, with calls" },
	{ "/ F4", "show only names that contain a text" },
	{ "F3 S n", "search; n: the next that was found" },
	{ "e", "the next event; of --wall: all, running, ready, blocked" },
	{ "w i", "by what threads waited for; again: by who held it, by who "
	         "ended the wait; show idle waits, too" },
};
static const struct help live_helps[] = {
	{ "p", "pause: the screen stands, recording continues" },
	{ "s", "save what was recorded so far as a profile" },
	{ "q F10", "end; a command that was started gets SIGTERM" },
};
static const struct help file_helps[] = {
	{ "r", "show a part of the time: 1,2.5 or 10%,20%" },
	{ "q F10", "end" },
};
static const struct help last_helps[] = {
	{ "Esc Left", "back, then everything again" },
	{ "", "Shares are of the event's total, or of what the filters leave; "
	      "weight without a sample is unattributed, above." },
};

/* Between the title and the last line, of lines that begin at `y`, which may be
 * above; the line behind them. */
static int put_helps(int y, const struct help *all, size_t count)
{
	enum { KEYS = 11, FIRST = 2 };
	size_t room = COLS > KEYS + 8 ? (size_t)(COLS - KEYS) : 8;

	for (size_t i = 0; i < count; i++) {
		const char *words = all[i].words;

		if (y >= FIRST && y < LINES - 1)
			ppi_screen_put(y, 1, all[i].keys);
		for (; *words; y++) {
			size_t end = line_end(words, room);

			if (end == 0)
				break;
			if (y >= FIRST && y < LINES - 1)
				mvaddnstr(y, KEYS, words, (int)end);
			words += end + (words[end] == ' ');
		}
	}
	return y;
}

/* Scrolled where it is longer than the screen. */
static void draw_help(struct ppi_screen *screen)
{
	bool is_live = screen->data->is_live;
	size_t more = is_live ? sizeof(live_helps) / sizeof(live_helps[0])
	                      : sizeof(file_helps) / sizeof(file_helps[0]);
	int first = (int)screen->help.first, y = 2 - first;

	y = put_helps(y, helps, sizeof(helps) / sizeof(helps[0]));
	y = put_helps(y, is_live ? live_helps : file_helps, more);
	y = put_helps(y, last_helps, sizeof(last_helps) / sizeof(last_helps[0]));
	screen->row_room = LINES > 3 ? (size_t)(LINES - 3) : 1;
	screen->help.count = (size_t)(y + first - 2);
	attron(A_REVERSE);
	mvhline(LINES - 1, 0, ' ', COLS);
	ppi_screen_put(LINES - 1, 0, screen->help.count > screen->row_room
	                                     ? "q back  Up Down more"
	                                     : "q back");
	attroff(A_REVERSE);
}

void ppi_screen_draw(struct ppi_screen *screen,
                     const struct ppi_screen_title *title)
{
	int y;

	erase();
	draw_title(screen, title);
	if (screen->help.is_shown) {
		draw_help(screen);
	} else {
		screen->note_at = draw_account(screen, title, 1);
		y = draw_note(screen, title, screen->note_at);
		if (screen->lines.count)
			ppi_screen_draw_listing(screen, y);
		else
			draw_tables(screen, y);
		draw_keys(screen);
	}
	refresh();
	screen->drawn_ns = ppi_monotonic_ns();
}
