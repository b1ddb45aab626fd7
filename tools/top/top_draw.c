/* SPDX-License-Identifier: MIT */
/* Drawing the screen of portprof top. */
#include "config.h"

#include "tools/top/top_draw.h"

#include "base/text.h"
#include "tools/view/units.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

const char *ppi_top_row_name(const struct ppi_top_screen *screen,
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
	const char *shown = ppi_shown(ppi_top_row_name(screen, row), name);
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

void ppi_top_draw(struct ppi_top_screen *screen,
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
