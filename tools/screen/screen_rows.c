/* SPDX-License-Identifier: MIT */
/* A table of a profile on the screen: what the wish chooses, of all and of the
 * last looks, in order; and the options that say with which one it begins. */
#include "config.h"

#include "tools/screen/screen.h"

#include "base/hash.h"
#include "base/text.h"
#include "tools/tools.h"
#include "tools/view/account.h"
#include "tools/view/rows.h"

#include <stdlib.h>
#include <string.h>

/* ---- which is the first ---- */

int ppi_take_screen_sort(const struct ppi_given *given, void *place)
{
	static const struct {
		unsigned keys;
		enum ppi_screen_table table;
	} tables[] = {
		{ PPI_BY_FUNCTION | PPI_BY_MODULE, PPI_SCREEN_FUNCTIONS },
		{ PPI_BY_MODULE, PPI_SCREEN_MODULES },
		{ PPI_BY_THREAD | PPI_BY_PROCESS, PPI_SCREEN_THREADS },
		{ PPI_BY_PROCESS, PPI_SCREEN_PROCESSES },
		{ PPI_BY_LABEL, PPI_SCREEN_LABELS },
	};
	struct ppi_screen_start *start = place;
	const char *unknown;
	unsigned keys = ppi_rows_keys(given->value, &start->label, &unknown);

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (keys == tables[i].keys) {
			start->table = tables[i].table;
			return PPI_EXIT_OK;
		}
	return ppi_given_refuse_word(given);
}

const char *ppi_screen_sort_word(size_t i)
{
	return ppi_rows_word(i, PPI_BY_LINE | PPI_BY_ADDRESS | PPI_BY_COMM |
	                                PPI_BY_TAG);
}

int ppi_take_screen_label(const struct ppi_given *given, void *place)
{
	struct ppi_screen_start *start = place;
	int status = ppi_take_label(given, &start->labelled);

	if (status == PPI_EXIT_OK && !ppi_filter_label_check(start->labelled))
		return given->line->wrong;
	return status;
}

/* ---- a table of one moment ---- */

static unsigned keys_of(enum ppi_screen_table table)
{
	return table == PPI_SCREEN_THREADS     ? PPI_BY_THREAD | PPI_BY_PROCESS
	       : table == PPI_SCREEN_WAITS     ? PPI_BY_WAIT | PPI_BY_ON
	       : table == PPI_SCREEN_PROCESSES ? PPI_BY_PROCESS
	       : table == PPI_SCREEN_MODULES   ? PPI_BY_MODULE
	       : table == PPI_SCREEN_LABELS || ppi_screen_who(table)
	               ? PPI_BY_LABEL
	                                       : PPI_BY_FUNCTION | PPI_BY_MODULE;
}

static bool is_in_module(const struct ppi_screen_moment *moment,
                         const portprof_profile_sample *sample,
                         const char *module)
{
	return sample->depth &&
	       strcmp(moment->names[sample->locations[0]].module, module) == 0;
}

/* By sample, whether it is none of what is wanted; to be freed. NULL with true:
 * all are. */
static bool leave_out(const struct ppi_screen_moment *moment,
                      const struct ppi_screen_wish *wish, bool **is_left_out)
{
	size_t count = portprof_profile_sample_count(moment->profile);
	const char *module = wish->module ? wish->module : "";
	enum ppi_who who = ppi_screen_who(wish->table);
	bool is_good = true;

	*is_left_out = NULL;
	if (!wish->tid && !wish->pid && !module[0] && !wish->times &&
	    !wish->labelled && !wish->wait && !who)
		return true;
	*is_left_out = calloc(count + 1, sizeof(**is_left_out));
	if (!*is_left_out)
		return false;
	if (wish->times)
		ppi_filter_times(wish->times, moment->profile, *is_left_out);
	if (who)
		ppi_screen_keep_who(moment->profile, who, *is_left_out);
	if (wish->labelled)
		is_good = ppi_filter_label(wish->labelled, moment->profile,
		                           *is_left_out);
	for (size_t i = 0; i < count; i++) {
		const portprof_profile_sample *sample =
			portprof_profile_sample_get(moment->profile, i);

		if ((wish->tid && sample->tid != wish->tid) ||
		    (wish->pid && sample->pid != wish->pid) ||
		    (module[0] && !is_in_module(moment, sample, module)))
			(*is_left_out)[i] = true;
	}
	return is_good &&
	       (!wish->wait ||
	        ppi_screen_keep_wait(moment->profile, wish, *is_left_out));
}

/* A moment with what is left out of it. */
struct part {
	struct ppi_view view;
	struct ppi_subject subject;
	bool *is_left_out;
	bool is_empty;
};

static void close_part(struct part *part)
{
	free(part->is_left_out);
	ppi_subject_free(&part->subject);
}

static bool open_part(const struct ppi_screen_moment *moment,
                      const struct ppi_screen_wish *wish, struct part *part)
{
	enum ppi_who who = ppi_screen_who(wish->table);

	*part = (struct part){ .view = { .profile = moment->profile,
		                         .names = moment->names,
		                         .label = who ? ppi_who_label(who)
		                                      : wish->label } };
	part->is_empty =
		!moment->profile || !moment->names ||
		wish->event >= portprof_profile_event_count(moment->profile);
	if (part->is_empty)
		return true;
	if (!leave_out(moment, wish, &part->is_left_out) ||
	    !ppi_screen_subject(moment->profile, wish, &part->subject)) {
		close_part(part);
		return false;
	}
	part->view.is_left_out = part->is_left_out;
	ppi_subject_show(&part->subject, &part->view);
	return true;
}

/* By state, too, where it is of several. */
static bool fold(const struct ppi_screen_moment *moment,
                 const struct ppi_screen_wish *wish, bool is_by_state,
                 struct ppi_rows *rows)
{
	struct part part;
	bool is_good = open_part(moment, wish, &part);
	unsigned keys = keys_of(wish->table);

	memset(rows, 0, sizeof(*rows));
	if (!is_good || part.is_empty)
		return is_good;
	if (is_by_state && part.subject.is_joined)
		keys |= PPI_BY_STATE;
	if (wish->table == PPI_SCREEN_CALLERS ||
	    wish->table == PPI_SCREEN_CALLEES)
		is_good = ppi_rows_edges(
			&part.view, keys,
			wish->table == PPI_SCREEN_CALLERS ? PPI_CALLERS
			                                  : PPI_CALLEES,
			wish->function, rows);
	else
		is_good = ppi_rows_fold(&part.view, keys, rows);
	close_part(&part);
	return is_good;
}

/* All of the event, samples or not; of what is left, the samples. False when out of
 * memory. */
static bool sum_total(const struct ppi_screen_data *data,
                      const struct ppi_screen_wish *wish,
                      const struct ppi_rows *rows, uint64_t *total)
{
	struct ppi_subject subject;
	struct ppi_report report = { .profile = data->head,
		                     .subject = &subject,
		                     .idle_waits = rows->idle_weight };
	bool is_edge = wish->table == PPI_SCREEN_CALLERS ||
	               wish->table == PPI_SCREEN_CALLEES, is_good;

	*total = rows->weight;
	if (!data->head ||
	    wish->event >= portprof_profile_event_count(data->head) ||
	    (!is_edge && rows->left_weight))
		return true;
	is_good = ppi_screen_subject(data->head, wish, &subject);
	if (is_good) {
		report.event = subject.event;
		ppi_report_sum(&report, rows->weight + rows->left_weight);
		*total = report.shown;
	}
	ppi_subject_free(&subject);
	return is_good;
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
		order = compare_text(a->module, b->module);
	if (order == 0)
		order = compare_text(a->label, b->label);
	if (order == 0)
		order = (a->pid > b->pid) - (a->pid < b->pid);
	if (order == 0)
		order = (a->tid > b->tid) - (a->tid < b->tid);
	if (order == 0)
		order = compare_text(a->tags[PPI_TAG_WAIT],
		                     b->tags[PPI_TAG_WAIT]);
	if (order == 0)
		order = compare_text(a->tags[PPI_TAG_ON], b->tags[PPI_TAG_ON]);
	return order;
}

static bool is_wanted(const struct ppi_row *row, const char *filter)
{
	return !filter || !filter[0] ||
	       (row->function && strstr(row->function, filter)) ||
	       (row->module && strstr(row->module, filter)) ||
	       (row->thread && strstr(row->thread, filter)) ||
	       (row->tags[PPI_TAG_WAIT] &&
	        strstr(row->tags[PPI_TAG_WAIT], filter)) ||
	       (row->tags[PPI_TAG_ON] && strstr(row->tags[PPI_TAG_ON], filter)) ||
	       (row->label && strstr(row->label, filter));
}

/* Falling by what is sorted by; of equal ones, what has more in all first, and
 * then by name, so that rows do not jump. */
static int compare_rows(const struct ppi_screen_row *a,
                        const struct ppi_screen_row *b,
                        enum ppi_screen_order order)
{
	uint64_t of_a = order == PPI_SCREEN_RECENT  ? a->recent_weight
	                : order == PPI_SCREEN_CALLS ? a->total_weight
	                                            : a->self_weight;
	uint64_t of_b = order == PPI_SCREEN_RECENT  ? b->recent_weight
	                : order == PPI_SCREEN_CALLS ? b->total_weight
	                                            : b->self_weight;
	int by_name;

	if (of_a != of_b)
		return of_a < of_b ? 1 : -1;
	if (a->self_weight != b->self_weight)
		return a->self_weight < b->self_weight ? 1 : -1;
	by_name = compare_text(a->function, b->function);
	if (by_name == 0)
		by_name = compare_text(a->module, b->module);
	if (by_name == 0)
		by_name = compare_text(a->wait, b->wait);
	if (by_name == 0)
		by_name = compare_text(a->on, b->on);
	if (by_name == 0)
		by_name = compare_text(a->label, b->label);
	return by_name ? by_name : a->tid < b->tid ? -1 : a->tid > b->tid;
}

static int by_recent(const void *a, const void *b)
{
	return compare_rows(a, b, PPI_SCREEN_RECENT);
}

static int by_all(const void *a, const void *b)
{
	return compare_rows(a, b, PPI_SCREEN_ALL);
}

static int by_calls(const void *a, const void *b)
{
	return compare_rows(a, b, PPI_SCREEN_CALLS);
}

/* What the table is made of. */
struct tables {
	struct ppi_rows now, recent[PPI_SCREEN_SPAN];
	bool has_recent; /* while there are fewer looks, it is all */
};

static uint64_t recent_weight(const struct tables *tables,
                              const struct ppi_row *now)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PPI_SCREEN_SPAN; i++) {
		const struct ppi_rows *from = &tables->recent[i];
		const struct ppi_row *row = NULL;

		if (from->count)
			row = bsearch(now, from->rows, from->count,
			              sizeof(*row), compare_keys);
		sum += row ? row->self_weight : 0;
	}
	return sum;
}

/* Of the last looks, as sum_total has it. */
static bool sum_recent(const struct ppi_screen_data *data,
                       const struct ppi_screen_wish *wish,
                       const struct tables *tables, uint64_t *total)
{
	const struct ppi_screen_moment *then = &data->moments[PPI_SCREEN_SPAN];
	const struct ppi_screen_moment *now = &data->moments[0];
	struct ppi_subject subject;
	uint64_t first, last, idle = 0;
	bool is_good;

	*total = 0;
	for (size_t i = 0; i < PPI_SCREEN_SPAN; i++) {
		*total += tables->recent[i].weight;
		idle += tables->recent[i].idle_weight;
	}
	if (tables->now.left_weight ||
	    wish->event >= portprof_profile_event_count(then->profile))
		return true;
	is_good = ppi_screen_subject(then->profile, wish, &subject);
	if (is_good) {
		first = ppi_screen_subject_total(then->profile, &subject,
		                                 then->totals) + idle;
		last = ppi_screen_subject_total(now->profile, &subject,
		                                now->totals);
		*total = last > first ? last - first : 0;
	}
	ppi_subject_free(&subject);
	return is_good;
}

/* Rows of the same name are told apart by it. */
static uint64_t key_of(const struct ppi_row *row)
{
	const char *on = row->tags[PPI_TAG_ON];

	return ppi_hash_add(row->tid ? row->tid : row->pid, on, on ? strlen(on) : 0);
}

static const char *or_none(const char *text)
{
	return text ? text : "";
}

/* Rows of one state are added to the row of the same keys before them. */
static void put_row(struct ppi_screen_rows *rows, const struct tables *tables,
                    const struct ppi_row *now, bool is_same)
{
	struct ppi_screen_row *row;

	if (!is_same)
		rows->rows[rows->count++] = (struct ppi_screen_row){
			.function = or_none(now->function),
			.module = or_none(now->module),
			.thread = or_none(now->thread),
			.label = or_none(now->label),
			.wait = or_none(now->tags[PPI_TAG_WAIT]),
			.on = or_none(now->tags[PPI_TAG_ON]),
			.key = key_of(now),
			.pid = now->pid,
			.tid = now->tid,
			.recent_weight = tables->has_recent
			                         ? recent_weight(tables, now)
			                         : 0,
		};
	row = &rows->rows[rows->count - 1];
	row->self_weight += now->self_weight;
	row->total_weight += now->total_weight;
	row->samples += now->samples;
	if (!tables->has_recent)
		row->recent_weight = row->self_weight;
	ppi_screen_states_add(row->states, now);
}

static bool join(struct ppi_screen_rows *rows, struct tables *tables,
                 const char *filter)
{
	const struct ppi_row *last = NULL;

	rows->rows = calloc(tables->now.count + 1, sizeof(*rows->rows));
	if (!rows->rows)
		return false;
	for (size_t i = 0; i < PPI_SCREEN_SPAN; i++)
		if (tables->recent[i].count)
			qsort(tables->recent[i].rows, tables->recent[i].count,
			      sizeof(struct ppi_row), compare_keys);
	if (tables->now.count)
		qsort(tables->now.rows, tables->now.count,
		      sizeof(struct ppi_row), compare_keys);
	for (size_t i = 0; i < tables->now.count; i++) {
		const struct ppi_row *now = &tables->now.rows[i];

		if (!is_wanted(now, filter))
			continue;
		put_row(rows, tables, now,
		        last && compare_keys(last, now) == 0);
		last = now;
	}
	return true;
}

/* ---- strings of their own ---- */

static bool own_text(struct ppi_screen_rows *rows)
{
	size_t bytes = 1, used = 0;

	for (size_t i = 0; i < rows->count; i++)
		bytes += strlen(rows->rows[i].function) +
		         strlen(rows->rows[i].module) +
		         strlen(rows->rows[i].thread) +
		         strlen(rows->rows[i].label) +
		         strlen(rows->rows[i].wait) +
		         strlen(rows->rows[i].on) + 6;
	rows->text = malloc(bytes);
	if (!rows->text)
		return false;
	for (size_t i = 0; i < rows->count; i++) {
		struct ppi_screen_row *row = &rows->rows[i];
		const char **texts[] = { &row->function, &row->module,
			                 &row->thread, &row->label,
			                 &row->wait, &row->on };

		for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
			size_t length = strlen(*texts[k]) + 1;

			*texts[k] = memcpy(rows->text + used, *texts[k],
			                   length);
			used += length;
		}
	}
	return true;
}

/* ---- all of it ---- */

static bool make_tree(const struct ppi_screen_data *data,
                      const struct ppi_screen_wish *wish,
                      struct ppi_screen_rows *rows)
{
	struct part part;
	bool is_good = open_part(&data->all, wish, &part);

	if (!is_good || part.is_empty)
		return is_good;
	is_good = ppi_screen_tree_rows(&part.view, wish->open, &rows->rows,
	                               &rows->count, &rows->total);
	close_part(&part);
	rows->recent_total = rows->total;
	rows->has_chains = true;
	return is_good && own_text(rows);
}

/* With names of threads that held something, or ended waits, where those are rows. */
static bool finish(const struct ppi_screen_data *data,
                   const struct ppi_screen_wish *wish,
                   struct ppi_screen_rows *rows)
{
	const struct ppi_view view = { .profile = data->all.profile,
		                       .names = data->all.names };
	enum ppi_who who = ppi_screen_who(wish->table);
	struct ppi_holders holders;
	bool is_good;

	if (!who || !rows->count)
		return own_text(rows);
	is_good = ppi_holders_open(&holders, &view, who) &&
	          ppi_screen_name_who(&holders, rows) && own_text(rows);
	ppi_holders_close(&holders);
	return is_good;
}

static bool make_table(const struct ppi_screen_data *data,
                       const struct ppi_screen_wish *wish,
                       struct tables *tables, struct ppi_screen_rows *rows)
{
	static int (*const compare[])(const void *, const void *) = {
		[PPI_SCREEN_RECENT] = by_recent,
		[PPI_SCREEN_ALL] = by_all,
		[PPI_SCREEN_CALLS] = by_calls,
	};
	const struct ppi_screen_moment *then = &data->moments[PPI_SCREEN_SPAN];

	tables->has_recent = then->profile != NULL;
	if (!fold(&data->all, wish, true, &tables->now))
		return false;
	for (size_t i = 0; tables->has_recent && i < PPI_SCREEN_SPAN; i++)
		if (!fold(&data->moments[i], wish, false, &tables->recent[i]))
			return false;
	if (!sum_total(data, wish, &tables->now, &rows->total))
		return false;
	rows->recent_total = rows->total;
	if (tables->has_recent &&
	    !sum_recent(data, wish, tables, &rows->recent_total))
		return false;
	rows->idle_weight = tables->now.idle_weight;
	rows->has_chains = tables->now.has_chains;
	if (!join(rows, tables, wish->filter))
		return false;
	if (rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows),
		      compare[wish->order]);
	return finish(data, wish, rows);
}

bool ppi_screen_rows_make(const struct ppi_screen_data *data,
                          const struct ppi_screen_wish *wish,
                          struct ppi_screen_rows *rows)
{
	struct tables tables;
	bool is_good;

	memset(rows, 0, sizeof(*rows));
	memset(&tables, 0, sizeof(tables));
	if (wish->table == PPI_SCREEN_TREE)
		is_good = make_tree(data, wish, rows);
	else
		is_good = make_table(data, wish, &tables, rows);
	ppi_rows_free(&tables.now);
	for (size_t i = 0; i < PPI_SCREEN_SPAN; i++)
		ppi_rows_free(&tables.recent[i]);
	if (!is_good)
		ppi_screen_rows_free(rows);
	return is_good;
}

void ppi_screen_rows_free(struct ppi_screen_rows *rows)
{
	free(rows->rows);
	free(rows->text);
	memset(rows, 0, sizeof(*rows));
}
