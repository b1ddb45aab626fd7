/* SPDX-License-Identifier: MIT */
/*
 * The tables of portprof top: the recording is read back again and again, and
 * what it has now is compared with what it had some looks ago.
 */
#include "config.h"

#include "tools/top/top.h"

#include "tools/clock.h"
#include "tools/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maps of JIT code are read once by the symbols. */
#define SYMBOLS_LAST_NS UINT64_C(20000000000)

/* ---- moments ---- */

static void free_moment(struct ppi_top_moment *moment)
{
	free(moment->names);
	portprof_profile_free(moment->profile);
	memset(moment, 0, sizeof(*moment));
}

/* The names of a moment belong to the symbols: with new ones, all are found
 * again. */
static bool renew_symbols(struct ppi_top_data *data,
                          const portprof_profile *profile)
{
	uint64_t start_ns = portprof_profile_origin_get(profile)->start_ns;
	struct ppi_symbols *symbols = ppi_symbols_new(start_ns);

	if (!symbols)
		return false;
	for (size_t i = 0; i <= PPI_TOP_SPAN; i++) {
		struct ppi_top_moment *moment = &data->moments[i];

		if (!moment->profile)
			continue;
		free(moment->names);
		moment->names = ppi_name_locations(moment->profile, symbols);
		if (!moment->names)
			free_moment(moment);
	}
	ppi_symbols_free(data->symbols);
	data->symbols = symbols;
	data->symbols_ns = ppi_now_ns();
	return true;
}

static bool has_failed(struct ppi_top_data *data, const char *why)
{
	data->has_failed = true;
	snprintf(data->why, sizeof(data->why), "%s", why);
	return false;
}

static bool read_moment(struct ppi_top_data *data,
                        struct ppi_top_moment *moment)
{
	memset(moment, 0, sizeof(*moment));
	if (portprof_profile_read(data->path, 0, &moment->profile))
		return has_failed(data, portprof_last_diag()->words);
	moment->at_ns = ppi_now_ns();
	if ((data->symbols &&
	     moment->at_ns - data->symbols_ns < SYMBOLS_LAST_NS) ||
	    renew_symbols(data, moment->profile))
		moment->names = ppi_name_locations(moment->profile,
		                                   data->symbols);
	if (moment->names)
		return true;
	free_moment(moment);
	return has_failed(data, "out of memory");
}

void ppi_top_look(struct ppi_top_data *data)
{
	uint64_t began_ns = ppi_now_ns();
	struct ppi_top_moment moment;

	if (read_moment(data, &moment)) {
		data->has_failed = false;
		free_moment(&data->moments[PPI_TOP_SPAN]);
		memmove(data->moments + 1, data->moments,
		        PPI_TOP_SPAN * sizeof(moment));
		data->moments[0] = moment;
	}
	data->cost_ns = ppi_now_ns() - began_ns;
}

void ppi_top_free(struct ppi_top_data *data)
{
	for (size_t i = 0; i <= PPI_TOP_SPAN; i++)
		free_moment(&data->moments[i]);
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
                 const struct ppi_top_wish *wish, struct ppi_rows *rows,
                 uint64_t *total)
{
	struct ppi_view view = { moment->profile, moment->names, wish->event,
		                 NULL };
	struct ppi_report report = { .profile = moment->profile,
		                     .event = wish->event };
	bool *is_left_out = NULL, is_good = true;

	memset(rows, 0, sizeof(*rows));
	*total = 0;
	if (!moment->profile ||
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
	if (is_good) {
		ppi_report_sum(&report, rows->weight + rows->left_weight);
		*total = report.total;
	}
	free(is_left_out);
	return is_good;
}

/* ---- two of them together ---- */

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

static void join(struct ppi_top_rows *rows, const struct ppi_top_wish *wish)
{
	static int (*const compare[])(const void *, const void *) = {
		[PPI_TOP_RECENT] = by_recent,
		[PPI_TOP_ALL] = by_all,
		[PPI_TOP_CALLS] = by_calls,
	};

	if (rows->then.count)
		qsort(rows->then.rows, rows->then.count,
		      sizeof(*rows->then.rows), compare_keys);
	for (size_t i = 0; i < rows->now.count; i++) {
		const struct ppi_row *now = &rows->now.rows[i], *then = NULL;
		struct ppi_top_row *row = &rows->rows[rows->count];

		if (!is_wanted(now, wish->filter))
			continue;
		if (rows->then.count)
			then = bsearch(now, rows->then.rows, rows->then.count,
			               sizeof(*then), compare_keys);
		row->row = *now;
		row->recent_weight =
			less(now->self_weight, then ? then->self_weight : 0);
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
	uint64_t total_then = 0;

	memset(rows, 0, sizeof(*rows));
	/* while there are fewer moments, recent is since the beginning */
	if (!fold(&data->moments[0], wish, &rows->now, &rows->total) ||
	    !fold(then, wish, &rows->then, &total_then))
		return false;
	rows->recent_total = less(rows->total, total_then);
	rows->has_chains = rows->now.has_chains;
	rows->rows = calloc(rows->now.count + 1, sizeof(*rows->rows));
	if (!rows->rows)
		return false;
	join(rows, wish);
	return true;
}

void ppi_top_rows_free(struct ppi_top_rows *rows)
{
	ppi_rows_free(&rows->now);
	ppi_rows_free(&rows->then);
	free(rows->rows);
	memset(rows, 0, sizeof(*rows));
}
