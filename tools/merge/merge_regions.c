/* SPDX-License-Identifier: MIT */
/*
 * Reads the tables that PORTPROF=regions writes (api/core/region_table.c) and
 * adds them up by region. A file is added whole or not at all.
 */
#include "config.h"

#include "tools/merge/merge.h"

#include "base/arithmetic.h"
#include "base/foreign_file.h"
#include "tools/input.h"
#include "tools/json_read.h"
#include "tools/tools.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 1, KEY_BYTES = 32, FILE_MAX = 256 << 20 };

/* A row of a file: a region in a thread. */
struct row {
	char *name;
	struct ppi_region_cell *cells; /* calls, then events */
	size_t count;
};

/* A file, as the sum of its rows. */
struct table {
	struct ppi_merge_regions all; /* of one process */
	size_t columns;               /* of each row; 0: there is none */
	bool is_uneven;
	char *type;
	uint64_t schema;
};

static void *more(void *list, size_t count, size_t bytes)
{
	void *grown = realloc(list, (count + 1) * bytes);

	if (!grown) {
		ppi_say("out of memory");
		exit(PPI_EXIT_FAILED);
	}
	memset((char *)grown + count * bytes, 0, bytes);
	return grown;
}

static void free_metric(struct ppi_merge_metric *metric)
{
	free(metric->name);
	free(metric->unit);
	free(metric->of);
	free(metric->by);
}

void ppi_merge_regions_free(struct ppi_merge_regions *all)
{
	struct ppi_merge_region *region, *next;

	HASH_ITER(hh, all->regions, region, next) {
		HASH_DELETE(hh, all->regions, region);
		for (size_t i = 0; i < region->processes; i++)
			free(region->rows[i]);
		free(region->rows);
		free(region->name);
		free(region);
	}
	for (size_t i = 0; i < all->process_count; i++) {
		free(all->processes[i].path);
		free(all->processes[i].host);
	}
	for (size_t i = 0; i < all->event_count; i++) {
		free(all->events[i].name);
		free(all->events[i].unit);
	}
	for (size_t i = 0; i < all->metric_count; i++)
		free_metric(&all->metrics[i]);
	free(all->processes);
	free(all->events);
	free(all->metrics);
}

/* ---- regions and their cells ---- */

static struct ppi_merge_region *find_region(struct ppi_merge_regions *all,
                                            const char *name)
{
	struct ppi_merge_region *region;

	HASH_FIND_STR(all->regions, name, region);
	if (region)
		return region;
	region = more(NULL, 0, sizeof(*region));
	region->name = more(NULL, 0, strlen(name) + 1);
	memcpy(region->name, name, strlen(name));
	HASH_ADD_KEYPTR(hh, all->regions, region->name, strlen(name), region);
	return region;
}

/* Where the cells of a region and process are; NULL there: none yet. */
static struct ppi_region_cell **find_cells(struct ppi_merge_regions *all,
                                           const char *name, size_t process)
{
	struct ppi_merge_region *region = find_region(all, name);

	while (region->processes <= process) {
		region->rows = more(region->rows, region->processes,
		                    sizeof(*region->rows));
		region->processes++;
	}
	return &region->rows[process];
}

static uint64_t add(uint64_t sum, uint64_t value)
{
	return sum > UINT64_MAX - value ? UINT64_MAX : sum + value;
}

/* Rows that never had a counter have their share of the time; all that did not are
 * nothing that is known. */
static void judge(struct ppi_region_cell *cell)
{
	cell->is_estimate = cell->running_ns < cell->enabled_ns;
	cell->value = cell->raw;
	if (cell->is_estimate && cell->running_ns == 0)
		cell->is_known = false;
	else if (cell->is_estimate)
		cell->value = ppi_scale(cell->raw, cell->enabled_ns,
		                        cell->running_ns);
}

static void add_cell(struct ppi_region_cell *sum,
                     const struct ppi_region_cell *cell)
{
	sum->is_known &= cell->is_known;
	sum->raw = add(sum->raw, cell->raw);
	sum->enabled_ns = add(sum->enabled_ns, cell->enabled_ns);
	sum->running_ns = add(sum->running_ns, cell->running_ns);
}

/* Takes the cells over. */
static void add_row(struct table *table, struct row *row)
{
	struct ppi_region_cell **cells;

	if (table->columns == 0)
		table->columns = row->count;
	table->is_uneven |= table->columns != row->count;
	if (table->is_uneven)
		return;
	cells = find_cells(&table->all, row->name, 0);
	for (size_t i = 0; *cells && i < row->count; i++)
		add_cell(&(*cells)[i], &row->cells[i]);
	if (!*cells) {
		*cells = row->cells;
		row->cells = NULL;
	}
}

/* ---- reading one ---- */

static void replace(char **text, char *by)
{
	free(*text);
	*text = by;
}

static void read_event(struct ppi_json_in *in, struct ppi_merge_regions *all)
{
	struct ppi_merge_event *event;
	char key[KEY_BYTES];

	all->events = more(all->events, all->event_count, sizeof(*all->events));
	event = &all->events[all->event_count++];
	ppi_json_in_enter(in, '{');
	while (ppi_json_in_key(in, key, sizeof(key)))
		if (strcmp(key, "event") == 0)
			replace(&event->name, ppi_json_in_text(in));
		else if (strcmp(key, "unit") == 0)
			replace(&event->unit, ppi_json_in_text(in));
		else
			ppi_json_in_skip(in);
	in->is_wrong |= !event->name || !event->unit;
}

static void read_factors(struct ppi_json_in *in, double **factors,
                         size_t *count)
{
	ppi_json_in_enter(in, '[');
	while (ppi_json_in_item(in)) {
		*factors = more(*factors, *count, sizeof(**factors));
		in->is_wrong |= !ppi_json_in_real(in, &(*factors)[(*count)++]);
	}
}

static void read_metric(struct ppi_json_in *in, struct ppi_merge_regions *all)
{
	struct ppi_merge_metric *metric;
	char key[KEY_BYTES];

	all->metrics = more(all->metrics, all->metric_count,
	                    sizeof(*all->metrics));
	metric = &all->metrics[all->metric_count++];
	ppi_json_in_enter(in, '{');
	while (ppi_json_in_key(in, key, sizeof(key)))
		if (strcmp(key, "metric") == 0)
			replace(&metric->name, ppi_json_in_text(in));
		else if (strcmp(key, "unit") == 0)
			replace(&metric->unit, ppi_json_in_text(in));
		else if (strcmp(key, "of") == 0 && !metric->of)
			read_factors(in, &metric->of, &metric->of_count);
		else if (strcmp(key, "by") == 0 && !metric->by)
			read_factors(in, &metric->by, &metric->by_count);
		else
			ppi_json_in_skip(in);
	in->is_wrong |= !metric->name || !metric->unit;
	/* nobody said how it is computed */
	if (!metric->of && !metric->by)
		free_metric(&all->metrics[--all->metric_count]);
}

/* One that never ran is known beside others. Where a table has values alone nothing
 * was shared. */
static void read_count(struct ppi_json_in *in, struct ppi_region_cell *cell)
{
	char key[KEY_BYTES], *status = NULL;
	bool has_raw = false, has_value = false;
	uint64_t value = 0;

	ppi_json_in_enter(in, '{');
	while (ppi_json_in_key(in, key, sizeof(key)))
		if (strcmp(key, "status") == 0)
			replace(&status, ppi_json_in_text(in));
		else if (strcmp(key, "value") == 0)
			has_value = ppi_json_in_number(in, &value);
		else if (strcmp(key, "raw") == 0)
			has_raw = ppi_json_in_number(in, &cell->raw);
		else if (strcmp(key, "enabled_ns") == 0)
			ppi_json_in_number(in, &cell->enabled_ns);
		else if (strcmp(key, "running_ns") == 0)
			ppi_json_in_number(in, &cell->running_ns);
		else
			ppi_json_in_skip(in);
	cell->is_known = has_value || (has_raw && status &&
	                               strcmp(status, "never ran") == 0);
	if (!has_raw)
		cell->raw = value;
	free(status);
}

static void read_row(struct ppi_json_in *in, struct table *table)
{
	struct row row = { .count = 1 };
	char key[KEY_BYTES];

	row.cells = more(NULL, 0, sizeof(*row.cells));
	ppi_json_in_enter(in, '{');
	while (ppi_json_in_key(in, key, sizeof(key)))
		if (strcmp(key, "region") == 0) {
			replace(&row.name, ppi_json_in_text(in));
		} else if (strcmp(key, "calls") == 0) {
			row.cells[0].is_known =
				ppi_json_in_number(in, &row.cells[0].raw);
		} else if (strcmp(key, "counts") == 0) {
			ppi_json_in_enter(in, '[');
			while (ppi_json_in_item(in)) {
				row.cells = more(row.cells, row.count,
				                 sizeof(*row.cells));
				read_count(in, &row.cells[row.count++]);
			}
		} else {
			ppi_json_in_skip(in);
		}
	in->is_wrong |= !row.name || !row.cells[0].is_known;
	if (!in->is_wrong)
		add_row(table, &row);
	free(row.name);
	free(row.cells);
}

static void read_member(struct ppi_json_in *in, const char *key,
                        struct table *table)
{
	struct ppi_merge_process *process = table->all.processes;

	if (strcmp(key, "type") == 0)
		replace(&table->type, ppi_json_in_text(in));
	else if (strcmp(key, "schema") == 0)
		ppi_json_in_number(in, &table->schema);
	else if (strcmp(key, "host") == 0)
		replace(&process->host, ppi_json_in_text(in));
	else if (strcmp(key, "pid") == 0)
		ppi_json_in_number(in, &process->pid);
	else if (strcmp(key, "rank") == 0)
		process->has_rank = ppi_json_in_number(in, &process->rank);
	else if (strcmp(key, "opened_ns") == 0)
		ppi_json_in_number(in, &process->opened_ns);
	else if (strcmp(key, "refused_threads") == 0)
		ppi_json_in_number(in, &process->refused_threads);
	else if (strcmp(key, "events") == 0 && ppi_json_in_enter(in, '['))
		while (ppi_json_in_item(in))
			read_event(in, &table->all);
	else if (strcmp(key, "metrics") == 0 && ppi_json_in_enter(in, '['))
		while (ppi_json_in_item(in))
			read_metric(in, &table->all);
	else if (strcmp(key, "regions") == 0 && ppi_json_in_enter(in, '['))
		while (ppi_json_in_item(in))
			read_row(in, table);
	else
		ppi_json_in_skip(in);
}

static bool is_even(const struct table *table)
{
	const struct ppi_merge_regions *all = &table->all;

	for (size_t i = 0; i < all->metric_count; i++)
		if (all->metrics[i].of_count != all->event_count ||
		    all->metrics[i].by_count != all->event_count)
			return false;
	return !table->is_uneven && (table->columns == 0 ||
	                             table->columns == all->event_count + 1);
}

static void judge_all(struct table *table)
{
	for (struct ppi_merge_region *at = table->all.regions; at;
	     at = at->hh.next)
		for (size_t i = 0; i < table->columns; i++)
			judge(&at->rows[0][i]);
}

/* False, after words, for what is no whole table. */
static bool read_table(const char *path, struct table *table)
{
	struct ppi_merge_process *process;
	struct ppi_json_in in;
	char key[KEY_BYTES];
	char *text = ppi_foreign_text(path, PPI_FOREIGN_TYPED, FILE_MAX);
	bool is_good = false;

	if (!text) {
		ppi_say("'%s' is left out: %s", path, ppi_foreign_error(errno));
		return false;
	}
	process = more(NULL, 0, sizeof(*process));
	process->path = more(NULL, 0, strlen(path) + 1);
	memcpy(process->path, path, strlen(path));
	table->all.processes = process;
	table->all.process_count = 1;
	ppi_json_in_begin(&in, text);
	ppi_json_in_enter(&in, '{');
	while (ppi_json_in_key(&in, key, sizeof(key)))
		read_member(&in, key, table);
	if (!table->type || strcmp(table->type, PPI_REGIONS_TYPE) != 0)
		ppi_say("'%s' is left out: it is not a table of regions as "
		        "PORTPROF=regions writes it", path);
	else if (!ppi_json_in_end(&in))
		ppi_say("'%s' is left out: line %zu is damaged", path,
		        ppi_json_in_line(&in));
	else if (table->schema != SCHEMA)
		ppi_say("'%s' is left out: its schema is %llu, and this "
		        "portprof reads %d", path,
		        (unsigned long long)table->schema, SCHEMA);
	else if (!process->host || !is_even(table))
		ppi_say("'%s' is left out: it has no host, or a row without a "
		        "count, or a metric without factors, for each event",
		        path);
	else
		is_good = true;
	if (is_good)
		judge_all(table);
	free(text);
	return is_good;
}

/* ---- adding ---- */

static bool has_same_events(const struct ppi_merge_regions *all,
                            const struct ppi_merge_regions *part)
{
	if (all->event_count != part->event_count)
		return false;
	for (size_t i = 0; i < all->event_count; i++)
		if (strcmp(all->events[i].name, part->events[i].name) != 0)
			return false;
	return true;
}

static const struct ppi_merge_process *
find_process(const struct ppi_merge_regions *all,
             const struct ppi_merge_process *like)
{
	for (size_t i = 0; i < all->process_count; i++) {
		const struct ppi_merge_process *at = &all->processes[i];

		if (at->pid == like->pid && at->opened_ns == like->opened_ns &&
		    strcmp(at->host, like->host) == 0)
			return at;
	}
	return NULL;
}

/* What of `part` goes over is `all`'s. */
static void add_part(struct ppi_merge_regions *all,
                     struct ppi_merge_regions *part)
{
	size_t number = all->process_count;

	all->processes = more(all->processes, number, sizeof(*all->processes));
	all->processes[number] = part->processes[0];
	all->processes[number].order = number;
	all->process_count++;
	part->process_count = 0;
	for (struct ppi_merge_region *at = part->regions; at; at = at->hh.next) {
		*find_cells(all, at->name, number) = at->rows[0];
		at->rows[0] = NULL;
	}
}

void ppi_merge_regions_add(struct ppi_merge_regions *all, const char *path)
{
	struct table table = { .columns = 0 };
	const struct ppi_merge_process *twin;
	bool is_added = read_table(path, &table);

	if (is_added && all->process_count == 0) {
		table.all.left_out = all->left_out;
		*all = table.all;
		table.all = (struct ppi_merge_regions){ .processes = NULL };
	} else if (is_added && !has_same_events(all, &table.all)) {
		ppi_say("'%s' is left out: it has other events than '%s'", path,
		        all->processes[0].path);
		is_added = false;
	} else if (is_added &&
	           (twin = find_process(all, table.all.processes))) {
		ppi_say("'%s' is left out: it is of the same process as '%s'",
		        path, twin->path);
		is_added = false;
	} else if (is_added) {
		add_part(all, &table.all);
	}
	all->left_out += !is_added;
	ppi_merge_regions_free(&table.all);
	free(table.type);
}

/* ---- what it comes to ---- */

static int by_rank(const void *left, const void *right)
{
	const struct ppi_merge_process *one = left, *two = right;

	if (one->has_rank != two->has_rank)
		return one->has_rank ? -1 : 1;
	if (one->rank != two->rank)
		return one->rank < two->rank ? -1 : 1;
	if (strcmp(one->host, two->host) != 0)
		return strcmp(one->host, two->host);
	return one->pid < two->pid ? -1 : one->pid > two->pid;
}

void ppi_merge_regions_sort(struct ppi_merge_regions *all)
{
	if (all->process_count)
		qsort(all->processes, all->process_count,
		      sizeof(*all->processes), by_rank);
}

/* The imbalance is by how much the most is above the mean: what all wait for.
 * Pearce et al., "Quantifying the effectiveness of load balance algorithms",
 * ICS 2012, has it as (Lmax / Lmean - 1) * 100 %. */
struct ppi_merge_spread
ppi_merge_spread(const struct ppi_merge_regions *all,
                 const struct ppi_merge_region *region, size_t column)
{
	static const struct ppi_region_cell nothing = { .is_known = true };
	struct ppi_merge_spread spread = { .imbalance = -1 };
	double sum = 0;

	for (size_t i = 0; i < all->process_count; i++) {
		size_t order = all->processes[i].order;
		bool has_it = order < region->processes && region->rows[order];
		const struct ppi_region_cell *cell =
			has_it ? &region->rows[order][column] : &nothing;

		spread.processes += has_it;
		if (!cell->is_known)
			continue;
		if (!spread.counted || cell->value < spread.least) {
			spread.least = cell->value;
			spread.least_at = i;
		}
		if (!spread.counted || cell->value > spread.most) {
			spread.most = cell->value;
			spread.most_at = i;
		}
		spread.counted++;
		spread.is_estimate |= cell->is_estimate;
		spread.sum = add(spread.sum, cell->value);
		sum += (double)cell->value;
	}
	if (spread.counted)
		spread.mean = sum / (double)spread.counted;
	if (spread.mean > 0)
		spread.imbalance =
			((double)spread.most / spread.mean - 1) * 100;
	return spread;
}

/* What one process counted of an event; NAN: it could not. */
static double value_in(const struct ppi_merge_regions *all,
                       const struct ppi_merge_region *region, size_t event,
                       size_t process)
{
	size_t order = all->processes[process].order;
	const struct ppi_region_cell *row =
		order < region->processes ? region->rows[order] : NULL;

	if (!row)
		return 0;
	return row[event + 1].is_known ? (double)row[event + 1].value
	                               : (double)NAN;
}

/* The same of all together, where `process` is SIZE_MAX. */
static double value_of(const struct ppi_merge_regions *all,
                       const struct ppi_merge_region *region, size_t event,
                       size_t process)
{
	double sum = 0;

	if (process != SIZE_MAX)
		return value_in(all, region, event, process);
	for (size_t i = 0; i < all->process_count; i++)
		sum += value_in(all, region, event, i);
	return sum;
}

double ppi_merge_metric_value(const struct ppi_merge_regions *all,
                              const struct ppi_merge_region *region,
                              size_t metric, size_t process)
{
	const struct ppi_merge_metric *how = &all->metrics[metric];
	double of = 0, by = 0;
	bool has_by = false;

	for (size_t i = 0; i < all->event_count; i++) {
		double value = 0;

		if (how->of[i] != 0 || how->by[i] != 0)
			value = value_of(all, region, i, process);
		of += how->of[i] * value;
		by += how->by[i] * value;
		has_by |= how->by[i] != 0;
	}
	if (!has_by)
		return of;
	return by > 0 ? of / by : NAN;
}
