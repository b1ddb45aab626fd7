/* SPDX-License-Identifier: MIT */
/*
 * What regions counted, as a table: a row for each region and thread.
 * portprof_region(3) has the keys of the JSON; tools/merge/merge_regions.c
 * reads them.
 */
#include "api/core/region_table.h"

#include "api/core/preset.h"
#include "base/clean_text.h"
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { SCHEMA = 1 };

/* ---- whose ---- */

/*
 * Where launchers say which process of a job this is. A job of Slurm may start
 * another launcher, so its variable is the last:
 *   OMPI_COMM_WORLD_RANK  Open MPI, mpirun(1), "MPI environment variables"
 *   PMIX_RANK             OpenPMIX, pmix_common.h; PRRTE and srun --mpi=pmix
 *   PMI_RANK              MPICH's Hydra and Intel MPI, PMI-1
 *   MV2_COMM_WORLD_RANK   MVAPICH2 User Guide
 *   SLURM_PROCID          srun(1), "OUTPUT ENVIRONMENT VARIABLES"
 */
static const char *const rank_names[] = {
	"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
	"MV2_COMM_WORLD_RANK", "SLURM_PROCID",
};

static int64_t find_rank(void)
{
	enum { DIGITS_MAX = 9 };

	for (size_t i = 0; i < sizeof(rank_names) / sizeof(*rank_names); i++) {
		const char *value = getenv(rank_names[i]);
		size_t digits = value ? strspn(value, "0123456789") : 0;

		if (digits > 0 && digits <= DIGITS_MAX && !value[digits])
			return strtol(value, NULL, 10);
	}
	return -1;
}

void ppi_region_origin(struct ppi_region_origin *origin)
{
	struct utsname name;
	struct timespec now = { 0 };

	snprintf(origin->host, sizeof(origin->host), "%s",
	         uname(&name) >= 0 ? name.nodename : "unknown");
	clock_gettime(CLOCK_REALTIME, &now);
	origin->pid = getpid();
	origin->rank = find_rank();
	origin->opened_ns = (uint64_t)now.tv_sec * 1000000000u +
	                    (uint64_t)now.tv_nsec;
}

/* Threads whose events could not be opened, and why the last of them could
 * not: *why lasts as long as the regions. */
static size_t count_refused(struct portprof_regions *all, const char **why)
{
	size_t count = 0;

	*why = NULL;
	pthread_mutex_lock(&all->lock);
	for (const struct ppi_region_thread *at = all->threads; at;
	     at = at->next) {
		if (at->status == PORTPROF_OK)
			continue;
		count++;
		*why = at->why.words;
	}
	pthread_mutex_unlock(&all->lock);
	return count;
}

/* ---- JSON ---- */

static const char *word_of(uint64_t status)
{
	static const char *const words[] = {
		[PORTPROF_COUNT_OK] = "ok",
		[PORTPROF_COUNT_SCALED] = "scaled",
		[PORTPROF_COUNT_NEVER_RAN] = "never ran",
		[PORTPROF_COUNT_ERROR] = "lost its counter",
		[PORTPROF_COUNT_REFUSED] = "refused",
	};

	return status <= PORTPROF_COUNT_REFUSED ? words[status] : "refused";
}

/* What presets come to, in the order of the table's "metrics". */
static void put_metrics(struct ppi_json *json,
                        const portprof_region_info *region)
{
	portprof_metric metric = { .size = sizeof(metric) };

	ppi_json_array(json, "metrics");
	for (size_t i = 0; portprof_regions_metric(NULL, region->counts, i,
	                                           &metric) == PORTPROF_OK; i++)
		ppi_json_real(json, NULL, metric.value);
	ppi_json_close(json);
}

static int put_row(const portprof_region_info *region, void *context)
{
	struct ppi_json *json = context;

	ppi_json_object(json, NULL);
	ppi_json_text(json, "region", region->name);
	ppi_json_signed(json, "thread", region->tid);
	ppi_json_number(json, "calls", region->calls);
	ppi_json_array(json, "counts");
	for (size_t i = 0; i < region->count; i++) {
		const portprof_count *count = &region->counts[i];

		ppi_json_object(json, NULL);
		if (count->status <= PORTPROF_COUNT_SCALED)
			ppi_json_number(json, "value", count->scaled);
		else
			ppi_json_null(json, "value");
		ppi_json_text(json, "status", word_of(count->status));
		ppi_json_number(json, "raw", count->raw);
		ppi_json_number(json, "enabled_ns", count->enabled_ns);
		ppi_json_number(json, "running_ns", count->running_ns);
		ppi_json_close(json);
	}
	ppi_json_close(json);
	put_metrics(json, region);
	ppi_json_close(json);
	return 0;
}

static const char *unit_of(const portprof_event_info *event)
{
	return event->unit == PORTPROF_UNIT_NANOSECONDS ? "ns" : "count";
}

/* A metric of no counts: its name and unit. */
static bool metric_of(const struct portprof_regions *all, size_t index,
                      portprof_metric *metric)
{
	static const portprof_count nothing[PORTPROF_REGION_EVENTS_MAX];

	metric->size = sizeof(*metric);
	return ppi_metric_get(all->resolved, all->event_count, nothing, index,
	                      metric) == PORTPROF_OK;
}

static void put_factors(struct ppi_json *json, const char *key,
                        const double *factors, size_t count)
{
	ppi_json_array(json, key);
	for (size_t i = 0; i < count; i++)
		ppi_json_real(json, NULL, factors[i]);
	ppi_json_close(json);
}

/* With what it is of each event, so that who adds tables up needs no preset. */
static void put_metric_names(struct ppi_json *json,
                             const struct portprof_regions *all)
{
	double of[PORTPROF_REGION_EVENTS_MAX], by[PORTPROF_REGION_EVENTS_MAX];
	portprof_metric metric;

	ppi_json_array(json, "metrics");
	for (size_t i = 0; metric_of(all, i, &metric); i++) {
		ppi_json_object(json, NULL);
		ppi_json_text(json, "metric", metric.name);
		ppi_json_text(json, "unit", metric.unit);
		ppi_json_number(json, "event", metric.event);
		ppi_metric_factors(all->resolved, all->event_count, i, of, by);
		put_factors(json, "of", of, all->event_count);
		put_factors(json, "by", by, all->event_count);
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

static bool put_json(struct portprof_regions *all,
                     const struct ppi_region_origin *origin, FILE *out)
{
	struct ppi_json json;
	const char *why;
	size_t refused = count_refused(all, &why);
	bool is_read;

	ppi_json_begin(&json, out, false);
	ppi_json_text(&json, "type", "portprof regions");
	ppi_json_number(&json, "schema", SCHEMA);
	ppi_json_text(&json, "host", origin->host);
	ppi_json_signed(&json, "pid", origin->pid);
	if (origin->rank >= 0)
		ppi_json_signed(&json, "rank", origin->rank);
	else
		ppi_json_null(&json, "rank");
	ppi_json_number(&json, "opened_ns", origin->opened_ns);
	ppi_json_number(&json, "refused_threads", refused);
	ppi_json_text(&json, "refusal", why);
	ppi_json_array(&json, "events");
	for (size_t i = 0; i < all->event_count; i++) {
		ppi_json_object(&json, NULL);
		ppi_json_text(&json, "event", all->events[i].canonical);
		ppi_json_text(&json, "unit", unit_of(&all->events[i]));
		ppi_json_close(&json);
	}
	ppi_json_close(&json);
	put_metric_names(&json, all);
	ppi_json_array(&json, "regions");
	is_read = portprof_regions_read(NULL, 1, put_row, &json) == PORTPROF_OK;
	return ppi_json_end(&json) && is_read;
}

/* ---- text ---- */

enum { COLUMN_MIN = 12 };

struct text_table {
	const struct portprof_regions *all;
	FILE *out;
};

static int column_of(const portprof_event_info *event)
{
	size_t length = strlen(event->canonical) + strlen(unit_of(event)) + 1;

	return length < COLUMN_MIN ? COLUMN_MIN : (int)length;
}

static void put_clean(const char *text, FILE *out)
{
	char piece[PPI_TEXT_PIECE];
	size_t length;

	while ((length = ppi_text_next(&text, piece)) > 0)
		fwrite(piece, 1, length, out);
}

static int metric_column(const portprof_metric *metric)
{
	size_t length = strlen(metric->name);

	return length < COLUMN_MIN ? COLUMN_MIN : (int)length;
}

static void put_values(const struct text_table *table,
                       const portprof_region_info *region)
{
	portprof_metric metric = { .size = sizeof(metric) };

	for (size_t i = 0; portprof_regions_metric(NULL, region->counts, i,
	                                           &metric) == PORTPROF_OK; i++)
		if (isnan(metric.value))
			fprintf(table->out, "  %*s", metric_column(&metric),
			        "unknown");
		else
			fprintf(table->out, "  %*.*g", metric_column(&metric),
			        6, metric.value);
}

static int put_line(const portprof_region_info *region, void *context)
{
	const struct text_table *table = context;

	fprintf(table->out, "%10" PRId64 " %10" PRIu64, region->tid,
	        region->calls);
	for (size_t i = 0; i < region->count; i++) {
		const portprof_count *count = &region->counts[i];
		char cell[32];

		if (count->status <= PORTPROF_COUNT_SCALED)
			snprintf(cell, sizeof(cell), "%s%" PRIu64,
			         count->status == PORTPROF_COUNT_SCALED ? "~"
			                                                : "",
			         count->scaled);
		else
			snprintf(cell, sizeof(cell), "%s",
			         word_of(count->status));
		fprintf(table->out, "  %*s", column_of(&table->all->events[i]),
		        cell);
	}
	put_values(table, region);
	fputs("  ", table->out);
	put_clean(region->name, table->out);
	fputc('\n', table->out);
	return 0;
}

static bool put_text(struct portprof_regions *all,
                     const struct ppi_region_origin *origin, FILE *out)
{
	struct text_table table = { all, out };
	portprof_metric metric;
	const char *why;
	size_t refused = count_refused(all, &why);
	bool is_read;

	fputs("# regions of process ", out);
	fprintf(out, "%" PRId64 " on ", origin->pid);
	put_clean(origin->host, out);
	if (origin->rank >= 0)
		fprintf(out, ", rank %" PRId64, origin->rank);
	fputc('\n', out);
	if (refused) {
		fprintf(out, "# %zu threads could not count: ", refused);
		put_clean(why, out);
		fputc('\n', out);
	}
	fprintf(out, "%10s %10s", "thread", "calls");
	for (size_t i = 0; i < all->event_count; i++) {
		int column = column_of(&all->events[i]);
		const char *unit = unit_of(&all->events[i]);

		fprintf(out, "  %*s,%s", column - (int)strlen(unit) - 1,
		        all->events[i].canonical, unit);
	}
	for (size_t i = 0; metric_of(all, i, &metric); i++)
		fprintf(out, "  %*s", metric_column(&metric), metric.name);
	fputs("  region\n", out);
	is_read = portprof_regions_read(NULL, 1, put_line, &table) == PORTPROF_OK;
	return fflush(out) == 0 && !ferror(out) && is_read;
}

bool ppi_region_table_write(struct portprof_regions *all,
                            const struct ppi_region_origin *origin,
                            bool is_text, FILE *out)
{
	return is_text ? put_text(all, origin, out)
	               : put_json(all, origin, out);
}
