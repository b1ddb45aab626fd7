/* SPDX-License-Identifier: MIT */
/*
 * Reads the tables that PORTPROF=regions writes (api/core/region_table.c) and
 * adds them up by region. A file is added whole or not at all.
 */
#include "config.h"

#include "tools/merge/merge.h"

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

struct table {
	struct ppi_merge_process process;
	struct ppi_merge_event *events;
	size_t event_count;
	struct ppi_merge_metric *metrics;
	size_t metric_count;
	struct row *rows;
	size_t row_count;
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

static void free_process(struct ppi_merge_process *process)
{
	free(process->path);
	free(process->host);
}

static void free_events(struct ppi_merge_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(events[i].name);
		free(events[i].unit);
	}
	free(events);
}

static void free_metric(struct ppi_merge_metric *metric)
{
	free(metric->name);
	free(metric->unit);
	free(metric->of);
	free(metric->by);
}

static void free_metrics(struct ppi_merge_metric *metrics, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free_metric(&metrics[i]);
	free(metrics);
}

static void free_table(struct table *table)
{
	free_process(&table->process);
	free_events(table->events, table->event_count);
	free_metrics(table->metrics, table->metric_count);
	for (size_t i = 0; i < table->row_count; i++) {
		free(table->rows[i].name);
		free(table->rows[i].cells);
	}
	free(table->rows);
	free(table->type);
}

/* ---- reading one ---- */

static char *read_whole(const char *path, const char **why)
{
	struct stat at;
	int fd = ppi_foreign_open(path, PPI_FOREIGN_TYPED, &at);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	char *text = NULL;
	size_t used = 0, room = 4096;

	*why = file ? NULL : ppi_foreign_error(errno);
	while (file && !*why) {
		text = realloc(text, room);
		if (!text) {
			*why = "out of memory";
			break;
		}
		used += fread(text + used, 1, room - used - 1, file);
		if (ferror(file))
			*why = strerror(errno);
		if (used < room - 1)
			break;
		if (room >= FILE_MAX)
			*why = "it is larger than any table of regions";
		room *= 2;
	}
	if (file)
		fclose(file);
	if (*why) {
		free(text);
		return NULL;
	}
	text[used] = '\0';
	return text;
}

static void replace(char **text, char *by)
{
	free(*text);
	*text = by;
}

static void read_event(struct ppi_json_in *in, struct table *table)
{
	struct ppi_merge_event *event;
	char key[KEY_BYTES];

	table->events = more(table->events, table->event_count,
	                     sizeof(*table->events));
	event = &table->events[table->event_count++];
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

static void read_metric(struct ppi_json_in *in, struct table *table)
{
	struct ppi_merge_metric *metric;
	char key[KEY_BYTES];

	table->metrics = more(table->metrics, table->metric_count,
	                      sizeof(*table->metrics));
	metric = &table->metrics[table->metric_count++];
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
		free_metric(&table->metrics[--table->metric_count]);
}

static void read_count(struct ppi_json_in *in, struct ppi_region_cell *cell)
{
	char key[KEY_BYTES], *status;

	ppi_json_in_enter(in, '{');
	while (ppi_json_in_key(in, key, sizeof(key)))
		if (strcmp(key, "value") == 0) {
			cell->is_known = ppi_json_in_number(in, &cell->value);
		} else if (strcmp(key, "status") == 0) {
			status = ppi_json_in_text(in);
			cell->is_estimate = status &&
			                    strcmp(status, "scaled") == 0;
			free(status);
		} else {
			ppi_json_in_skip(in);
		}
}

static void read_row(struct ppi_json_in *in, struct table *table)
{
	struct row *row;
	char key[KEY_BYTES];

	table->rows = more(table->rows, table->row_count, sizeof(*row));
	row = &table->rows[table->row_count++];
	row->cells = more(NULL, 0, sizeof(*row->cells));
	row->count = 1;
	ppi_json_in_enter(in, '{');
	while (ppi_json_in_key(in, key, sizeof(key)))
		if (strcmp(key, "region") == 0) {
			replace(&row->name, ppi_json_in_text(in));
		} else if (strcmp(key, "calls") == 0) {
			row->cells[0].is_known =
				ppi_json_in_number(in, &row->cells[0].value);
		} else if (strcmp(key, "counts") == 0) {
			ppi_json_in_enter(in, '[');
			while (ppi_json_in_item(in)) {
				row->cells = more(row->cells, row->count,
				                  sizeof(*row->cells));
				read_count(in, &row->cells[row->count++]);
			}
		} else {
			ppi_json_in_skip(in);
		}
	in->is_wrong |= !row->name || !row->cells[0].is_known;
}

static void read_member(struct ppi_json_in *in, const char *key,
                        struct table *table)
{
	struct ppi_merge_process *process = &table->process;

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
			read_event(in, table);
	else if (strcmp(key, "metrics") == 0 && ppi_json_in_enter(in, '['))
		while (ppi_json_in_item(in))
			read_metric(in, table);
	else if (strcmp(key, "regions") == 0 && ppi_json_in_enter(in, '['))
		while (ppi_json_in_item(in))
			read_row(in, table);
	else
		ppi_json_in_skip(in);
}

static bool are_rows_whole(const struct table *table)
{
	for (size_t i = 0; i < table->metric_count; i++)
		if (table->metrics[i].of_count != table->event_count ||
		    table->metrics[i].by_count != table->event_count)
			return false;
	for (size_t i = 0; i < table->row_count; i++)
		if (table->rows[i].count != table->event_count + 1)
			return false;
	return true;
}

/* False, after words, for what is no whole table. */
static bool read_table(const char *path, struct table *table)
{
	struct ppi_json_in in;
	const char *why;
	char key[KEY_BYTES], *text = read_whole(path, &why);
	bool is_good = false;

	if (!text) {
		ppi_say("'%s' is left out: %s", path, why);
		return false;
	}
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
	else if (!table->process.host || !are_rows_whole(table))
		ppi_say("'%s' is left out: it has no host, or a row without a "
		        "count, or a metric without factors, for each event",
		        path);
	else
		is_good = true;
	free(text);
	return is_good;
}

/* ---- adding ---- */

static bool has_same_events(const struct ppi_merge_regions *all,
                            const struct table *table)
{
	if (all->process_count == 0)
		return true;
	if (all->event_count != table->event_count)
		return false;
	for (size_t i = 0; i < all->event_count; i++)
		if (strcmp(all->events[i].name, table->events[i].name) != 0)
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

static void add_cell(struct ppi_region_cell *sum,
                     const struct ppi_region_cell *cell)
{
	sum->is_known &= cell->is_known;
	sum->is_estimate |= cell->is_estimate;
	sum->value = sum->value > UINT64_MAX - cell->value
	                     ? UINT64_MAX
	                     : sum->value + cell->value;
}

static void add_row(struct ppi_merge_regions *all, const struct row *row,
                    size_t process)
{
	struct ppi_merge_region *region = find_region(all, row->name);
	struct ppi_region_cell **cells;

	while (region->processes <= process) {
		region->rows = more(region->rows, region->processes,
		                    sizeof(*region->rows));
		region->processes++;
	}
	cells = &region->rows[process];
	if (!*cells) {
		*cells = more(NULL, 0, row->count * sizeof(**cells));
		for (size_t i = 0; i < row->count; i++)
			(*cells)[i].is_known = true;
	}
	for (size_t i = 0; i < row->count; i++)
		add_cell(&(*cells)[i], &row->cells[i]);
}

static void add_table(struct ppi_merge_regions *all, struct table *table,
                      const char *path)
{
	struct ppi_merge_process *process;
	size_t number = all->process_count;

	if (number == 0) {
		all->events = table->events;
		all->event_count = table->event_count;
		all->metrics = table->metrics;
		all->metric_count = table->metric_count;
		table->events = NULL;
		table->metrics = NULL;
		table->event_count = table->metric_count = 0;
	}
	all->processes = more(all->processes, number, sizeof(*process));
	process = &all->processes[all->process_count++];
	*process = table->process;
	table->process = (struct ppi_merge_process){ 0 };
	process->path = strdup(path);
	process->order = number;
	for (size_t i = 0; i < table->row_count; i++)
		add_row(all, &table->rows[i], number);
}

void ppi_merge_regions_add(struct ppi_merge_regions *all, const char *path)
{
	struct table table = { 0 };
	const struct ppi_merge_process *twin;

	if (!read_table(path, &table)) {
		all->left_out++;
	} else if (!has_same_events(all, &table)) {
		ppi_say("'%s' is left out: it has other events than '%s'", path,
		        all->processes[0].path);
		all->left_out++;
	} else if ((twin = find_process(all, &table.process))) {
		ppi_say("'%s' is left out: it is of the same process as '%s'",
		        path, twin->path);
		all->left_out++;
	} else {
		add_table(all, &table, path);
	}
	free_table(&table);
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
		spread.sum = spread.sum > UINT64_MAX - cell->value
		                     ? UINT64_MAX
		                     : spread.sum + cell->value;
		sum += (double)cell->value;
	}
	if (spread.counted)
		spread.mean = sum / (double)spread.counted;
	if (spread.mean > 0)
		spread.imbalance =
			((double)spread.most / spread.mean - 1) * 100;
	return spread;
}

/* The value of an event, of one process or of all. */
static double value_of(const struct ppi_merge_regions *all,
                       const struct ppi_merge_region *region, size_t event,
                       size_t process)
{
	double sum = 0;

	for (size_t i = 0; i < all->process_count; i++) {
		size_t order = all->processes[i].order;

		if ((process != SIZE_MAX && process != i) ||
		    order >= region->processes || !region->rows[order])
			continue;
		if (!region->rows[order][event + 1].is_known)
			return NAN;
		sum += (double)region->rows[order][event + 1].value;
	}
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
	for (size_t i = 0; i < all->process_count; i++)
		free_process(&all->processes[i]);
	free(all->processes);
	free_events(all->events, all->event_count);
	free_metrics(all->metrics, all->metric_count);
}
