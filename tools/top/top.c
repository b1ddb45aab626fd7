/* SPDX-License-Identifier: MIT */
/*
 * portprof top: records as portprof record does, into a file that nobody
 * else sees, and shows meanwhile what is in it. This file has the verb and its
 * tables; top_screen.c shows them, or top_stub.c says why it cannot.
 */
#include "config.h"

#include "tools/top/top.h"

#include <portprof/tool.h>

#include "base/clock_ns.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/record/record.h"
#include "tools/tools.h"
#include "tools/view/account.h"
#include "tools/view/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maps of JIT code are read once by the symbols. */
#define SYMBOLS_LAST_NS UINT64_C(20000000000)

/* ---- moments ---- */

/* Each look reads what was recorded since the one before, keeps it for a while
 * as what is recent, and adds it to all. */

static void free_moment(struct ppi_top_moment *moment)
{
	free(moment->names);
	free(moment->totals);
	portprof_profile_free(moment->profile);
	memset(moment, 0, sizeof(*moment));
}

static bool name_moment(struct ppi_top_moment *moment,
                        struct ppi_symbols *symbols)
{
	if (!moment->profile)
		return true;
	free(moment->names);
	moment->names = ppi_name_locations(moment->profile, symbols);
	return moment->names != NULL;
}

/* The names of a moment belong to the symbols: with new ones, all are found
 * again. */
static bool renew_symbols(struct ppi_top_data *data)
{
	uint64_t start_ns = portprof_profile_origin_get(data->head)->start_ns;
	struct ppi_symbols *symbols = ppi_symbols_new(start_ns);
	bool is_good = true;

	if (!symbols)
		return false;
	for (size_t i = 0; i <= PPI_TOP_SPAN; i++)
		is_good &= name_moment(&data->moments[i], symbols);
	ppi_symbols_free(data->symbols);
	data->symbols = symbols;
	data->symbols_ns = ppi_monotonic_ns();
	return is_good;
}

static bool has_failed(struct ppi_top_data *data, const char *why)
{
	data->has_failed = true;
	snprintf(data->why, sizeof(data->why), "%s", why);
	return false;
}

static bool sum_moment(struct ppi_top_moment *moment)
{
	size_t count = portprof_profile_event_count(moment->profile);

	moment->at_ns = ppi_monotonic_ns();
	moment->totals = calloc(count + 1, sizeof(*moment->totals));
	for (size_t i = 0; moment->totals && i < count; i++)
		moment->totals[i] =
			portprof_profile_event_get(moment->profile, i)
				->stats.total_weight;
	return moment->totals != NULL;
}

/* All of it is there again: at the beginning, and when a recording that has
 * ended was written anew. What was recent stays so. */
static void take_all(struct ppi_top_data *data, portprof_profile *profile)
{
	free_moment(&data->all);
	data->all.profile = profile;
	data->head = profile;
}

/* More of it. The moments before have no samples that this one has. */
static bool take_more(struct ppi_top_data *data, portprof_profile *profile)
{
	struct ppi_top_moment moment = { .profile = profile };

	if (!sum_moment(&moment) ||
	    portprof_profile_merge(data->all.profile, profile)) {
		free_moment(&moment);
		/* what was read is lost: all of it again the next time */
		portprof_follow_close(data->follow);
		data->follow = NULL;
		return has_failed(data, portprof_last_diag()->words);
	}
	free_moment(&data->moments[PPI_TOP_SPAN]);
	memmove(data->moments + 1, data->moments,
	        PPI_TOP_SPAN * sizeof(moment));
	data->moments[0] = moment;
	data->head = profile;
	return true;
}

static bool read_news(struct ppi_top_data *data)
{
	portprof_profile *profile;
	bool is_anew, is_good = true;

	if (!data->follow &&
	    portprof_follow_open(data->path, 0, &data->follow))
		return has_failed(data, portprof_last_diag()->words);
	if (portprof_follow_read(data->follow, &profile, &is_anew))
		return has_failed(data, portprof_last_diag()->words);
	if (is_anew || !data->all.profile)
		take_all(data, profile);
	else if (!take_more(data, profile))
		return false;
	if (!data->symbols ||
	    ppi_monotonic_ns() - data->symbols_ns >= SYMBOLS_LAST_NS)
		is_good = renew_symbols(data);
	else
		is_good = is_anew ||
		          name_moment(&data->moments[0], data->symbols);
	/* last: new samples may have brought new locations */
	is_good = is_good && name_moment(&data->all, data->symbols);
	return is_good || has_failed(data, "out of memory");
}

/* Read what was recorded since the last look; what fails leaves what was
 * known. */
static void take_look(struct ppi_top_data *data)
{
	uint64_t began_ns = ppi_monotonic_ns();

	if (read_news(data))
		data->has_failed = false;
	data->cost_ns = ppi_monotonic_ns() - began_ns;
}

/* Read what was recorded since the last look; what fails leaves what was
 * known. */
static void free_data(struct ppi_top_data *data)
{
	for (size_t i = 0; i <= PPI_TOP_SPAN; i++)
		free_moment(&data->moments[i]);
	free_moment(&data->all);
	data->head = NULL;
	portprof_follow_close(data->follow);
	data->follow = NULL;
	ppi_symbols_free(data->symbols);
	data->symbols = NULL;
}

/* ---- a table of one moment ---- */

static unsigned keys_of(enum ppi_top_table table)
{
	return table == PPI_TOP_THREADS   ? PPI_BY_THREAD | PPI_BY_PROCESS
	       : table == PPI_TOP_MODULES ? PPI_BY_MODULE
	                                  : PPI_BY_FUNCTION | PPI_BY_MODULE;
}

/* By sample, whether it is another thread's; to be freed. */
static bool *leave_out_others(const portprof_profile *profile, uint32_t tid)
{
	size_t count = portprof_profile_sample_count(profile);
	bool *is_left_out = calloc(count + 1, sizeof(*is_left_out));

	for (size_t i = 0; is_left_out && i < count; i++)
		is_left_out[i] =
			portprof_profile_sample_get(profile, i)->tid != tid;
	return is_left_out;
}

static bool fold(const struct ppi_top_moment *moment,
                 const struct ppi_top_wish *wish, struct ppi_rows *rows)
{
	struct ppi_view view = { .profile = moment->profile,
		                 .names = moment->names,
		                 .event = wish->event };
	bool *is_left_out = NULL, is_good = true;

	memset(rows, 0, sizeof(*rows));
	if (!moment->profile || !moment->names ||
	    wish->event >= portprof_profile_event_count(moment->profile))
		return true;
	if (wish->tid) {
		is_left_out = leave_out_others(moment->profile, wish->tid);
		is_good = is_left_out != NULL;
		view.is_left_out = is_left_out;
	}
	if (is_good && (wish->table == PPI_TOP_CALLERS ||
	                wish->table == PPI_TOP_CALLEES))
		is_good = ppi_rows_edges(&view, wish->table == PPI_TOP_CALLERS
		                                        ? PPI_CALLERS
		                                        : PPI_CALLEES,
		                         wish->function, rows);
	else if (is_good)
		is_good = ppi_rows_fold(&view, keys_of(wish->table), rows);
	free(is_left_out);
	return is_good;
}

/* All of the event, samples or not. */
static uint64_t total_of(const struct ppi_top_data *data, size_t event,
                         const struct ppi_rows *rows)
{
	struct ppi_report report = { .profile = data->head, .event = event };

	if (!data->head || event >= portprof_profile_event_count(data->head))
		return 0;
	ppi_report_sum(&report, rows->weight + rows->left_weight);
	return report.total;
}

/* ---- all, and the last of them ---- */

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* By what makes two rows of two moments the same. */
static int compare_keys(const void *left, const void *right)
{
	const struct ppi_row *a = left, *b = right;
	int order = compare_text(a->function, b->function);

	if (order == 0)
		order = compare_text(a->path, b->path);
	if (order == 0)
		order = (a->pid > b->pid) - (a->pid < b->pid);
	if (order == 0)
		order = (a->tid > b->tid) - (a->tid < b->tid);
	return order;
}

static uint64_t less(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

static bool is_wanted(const struct ppi_row *row, const char *filter)
{
	return !filter[0] || (row->function && strstr(row->function, filter)) ||
	       (row->module && strstr(row->module, filter)) ||
	       (row->thread && strstr(row->thread, filter));
}

/* Falling by what is sorted by; of equal ones, what has more in all first, and
 * then by name, so that rows do not jump. */
static int compare_rows(const struct ppi_top_row *a,
                        const struct ppi_top_row *b, enum ppi_top_order order)
{
	uint64_t of_a = order == PPI_TOP_RECENT  ? a->recent_weight
	                : order == PPI_TOP_CALLS ? a->row.total_weight
	                                         : a->row.self_weight;
	uint64_t of_b = order == PPI_TOP_RECENT  ? b->recent_weight
	                : order == PPI_TOP_CALLS ? b->row.total_weight
	                                         : b->row.self_weight;

	if (of_a != of_b)
		return of_a < of_b ? 1 : -1;
	if (a->row.self_weight != b->row.self_weight)
		return a->row.self_weight < b->row.self_weight ? 1 : -1;
	return compare_keys(&a->row, &b->row);
}

static int by_recent(const void *a, const void *b)
{
	return compare_rows(a, b, PPI_TOP_RECENT);
}

static int by_all(const void *a, const void *b)
{
	return compare_rows(a, b, PPI_TOP_ALL);
}

static int by_calls(const void *a, const void *b)
{
	return compare_rows(a, b, PPI_TOP_CALLS);
}

static uint64_t recent_weight(const struct ppi_top_rows *rows,
                              const struct ppi_row *now)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PPI_TOP_SPAN; i++) {
		const struct ppi_rows *from = &rows->recent[i];
		const struct ppi_row *row = NULL;

		if (from->count)
			row = bsearch(now, from->rows, from->count,
			              sizeof(*row), compare_keys);
		sum += row ? row->self_weight : 0;
	}
	return sum;
}

static void join(struct ppi_top_rows *rows, const struct ppi_top_wish *wish,
                 bool has_recent)
{
	static int (*const compare[])(const void *, const void *) = {
		[PPI_TOP_RECENT] = by_recent,
		[PPI_TOP_ALL] = by_all,
		[PPI_TOP_CALLS] = by_calls,
	};

	for (size_t i = 0; i < PPI_TOP_SPAN; i++)
		if (rows->recent[i].count)
			qsort(rows->recent[i].rows, rows->recent[i].count,
			      sizeof(struct ppi_row), compare_keys);
	for (size_t i = 0; i < rows->now.count; i++) {
		const struct ppi_row *now = &rows->now.rows[i];
		struct ppi_top_row *row = &rows->rows[rows->count];

		if (!is_wanted(now, wish->filter))
			continue;
		row->row = *now;
		row->recent_weight = has_recent ? recent_weight(rows, now)
		                                : now->self_weight;
		rows->count++;
	}
	if (rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows),
		      compare[wish->order]);
}

bool ppi_top_rows_make(const struct ppi_top_data *data,
                       const struct ppi_top_wish *wish,
                       struct ppi_top_rows *rows)
{
	const struct ppi_top_moment *then = &data->moments[PPI_TOP_SPAN];
	/* while there are fewer looks, recent is since the beginning */
	bool has_recent = then->profile != NULL;

	memset(rows, 0, sizeof(*rows));
	if (!fold(&data->all, wish, &rows->now))
		return false;
	for (size_t i = 0; has_recent && i < PPI_TOP_SPAN; i++)
		if (!fold(&data->moments[i], wish, &rows->recent[i]))
			return false;
	rows->total = total_of(data, wish->event, &rows->now);
	rows->recent_total = rows->total;
	if (has_recent &&
	    wish->event < portprof_profile_event_count(then->profile))
		rows->recent_total = less(data->moments[0].totals[wish->event],
		                          then->totals[wish->event]);
	rows->has_chains = rows->now.has_chains;
	rows->rows = calloc(rows->now.count + 1, sizeof(*rows->rows));
	if (!rows->rows)
		return false;
	join(rows, wish, has_recent);
	return true;
}

void ppi_top_rows_free(struct ppi_top_rows *rows)
{
	ppi_rows_free(&rows->now);
	for (size_t i = 0; i < PPI_TOP_SPAN; i++)
		ppi_rows_free(&rows->recent[i]);
	free(rows->rows);
	memset(rows, 0, sizeof(*rows));
}

/* ---- saving what it has so far as a profile ---- */

/* There may have been none, and writing says what is wrong there. */
static void keep_old(const char *path)
{
	size_t bytes = strlen(path) + sizeof(".old");
	char *old = malloc(bytes);

	if (old) {
		snprintf(old, bytes, "%s.old", path);
		rename(path, old);
	}
	free(old);
}

bool ppi_top_save(const char *from, const char *path,
                  struct ppi_held *held)
{
	portprof_profile *profile;
	portprof_output *place;
	bool is_written;

	if (portprof_output_open(path, &place))
		return false;
	if (portprof_profile_read(from, 0, &profile)) {
		portprof_output_close(place);
		return false;
	}
	if (portprof_output_path(place))
		keep_old(portprof_output_path(place));
	portprof_output_close(place);
	is_written = portprof_profile_write(profile, path) == PORTPROF_OK;
	portprof_profile_free(profile);
	/* it can be named later, too */
	if (is_written)
		ppi_names_write(path, held, false, NULL);
	return is_written;
}

/* ---- recording meanwhile ---- */

/* A look takes at most this part of the time. */
enum { LOOK_EVERY_MS = 1000, LOOK_SHARE = 10 };

/* What shows the recording while it runs. */
struct top {
	struct ppi_live live; /* what record calls */
	struct ppi_top_data data;
	struct ppi_top_screen *screen;
	struct ppi_top_title title;
	char target[PPI_TITLE_BYTES];
	uint64_t next_ns; /* when to look again */
	bool was_ended;
};

static struct top *top_of(struct ppi_live *live)
{
	return (struct top *)live;
}

/* Not so often that looking becomes what is hot. */
static void look(struct top *top, portprof_session *session)
{
	uint64_t pause_ns = LOOK_EVERY_MS * UINT64_C(1000000);

	/* what fails shows in what is read: the same samples as before */
	portprof_session_flush(session);
	take_look(&top->data);
	if (pause_ns < top->data.cost_ns * LOOK_SHARE)
		pause_ns = top->data.cost_ns * LOOK_SHARE;
	top->next_ns = ppi_monotonic_ns() + pause_ns;
}

static bool turn(struct ppi_live *live, portprof_session *session,
                 const char *ended)
{
	struct top *top = top_of(live);
	bool is_news = false, is_last = ended[0] && !top->was_ended;

	top->title.ended = ended;
	top->title.held = live->held;
	top->title.backend = portprof_session_backend(session);
	if (!top->screen) {
		top->screen = ppi_top_screen_begin(&top->data);
		if (!top->screen)
			return false;
	}
	if (is_last || (!ended[0] && ppi_monotonic_ns() >= top->next_ns &&
	                !ppi_top_screen_is_paused(top->screen))) {
		look(top, session);
		is_news = true;
	}
	top->was_ended = ended[0] != '\0';
	return ppi_top_screen_turn(top->screen, &top->title, is_news);
}

static void end(struct ppi_live *live)
{
	struct top *top = top_of(live);

	ppi_top_screen_end(top->screen);
	top->screen = NULL;
}

/* ---- the verb ---- */

static int run(struct ppi_record_options *options)
{
	struct top top = { .live = { .turn = turn, .end = end } };
	char *folder = NULL, *path = NULL;
	int status = PPI_EXIT_RECORD;

	ppi_record_title(options, top.target, sizeof(top.target));
	top.title.target = top.target;
	top.title.is_kept = options->output != NULL;
	top.title.save_to = options->output ? options->output
	                                    : PPI_DEFAULT_OUTPUT;
	top.title.ended = "";
	if (!options->output) {
		folder = ppi_folder_make(&path);
		if (!folder)
			return PPI_EXIT_RECORD;
		options->output = path;
		options->is_quiet = true;
		options->is_nameless = true;
		/* equal samples of a moment are one: it is read each second */
		if (!options->timeline.text)
			options->timeline.text = "0s";
	}
	top.data.path = options->output;
	status = ppi_record_live(options, &top.live);
	ppi_top_screen_end(top.screen);
	free_data(&top.data);
	ppi_folder_remove(folder, path);
	return status;
}

int ppi_top_main(int argc, char **argv)
{
	struct ppi_record_options options = { .takes_system = true };
	struct ppi_line line = ppi_record_line();
	int status;

	line.verb = "top";
	line.usage = "[OPTION...] [--] COMMAND [ARGUMENT...]\n"
	             "[-p PID | --name NAME | -a] [OPTION...]";
	line.about = "Shows on the terminal what is hot now: functions, "
	             "modules, threads and, with -g, the callers of a "
	             "function; of the whole system if no command or target "
	             "is given. The key ? lists the keys.";
	line.notes = "No file remains, except -o FILE and what the key s saves "
	             "to " PPI_DEFAULT_OUTPUT ". The exit status is that of "
	             "portprof record.";
	status = ppi_record_read_options(&line, argc, argv, &options);
	if (status >= 0)
		return status;
	if (!ppi_top_screen_can())
		return PPI_EXIT_RECORD;
	return run(&options);
}
