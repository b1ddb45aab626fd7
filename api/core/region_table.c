/* SPDX-License-Identifier: MIT */
/*
 * What regions counted, as a table: a row for each region and thread, as JSON
 * (portprof_region(3) has its keys; tools/merge/merge_regions.c reads them) or
 * text; and regions without code around them: PORTPROF=regions opens them at the
 * first portprof_region_begin of a program that opens none, and at its exit the
 * table goes to a file.
 *
 *   $PORTPROF --> ppi_regions_wanted() --> portprof_regions_open()
 *   exit, portprof_regions_close() --> the table --> atomic_file.c
 *
 * A forked child has nothing of its parent's, and a table of its own once it
 * begins a region.
 *
 * It is no profile. A profile has samples that can be added up: a region's would be
 * what no region inside it counted, in a path of regions. But a row says what its
 * counts were scaled from and which of them failed, which differences of rows do not
 * keep; its calls have the labels of their own beginning, and the regions around
 * them those of theirs; and a build without files has tables, too.
 */
#include "config.h"

#include "api/common/diag.h"
#include "api/core/event.h"
#include "api/core/region.h"
#include "api/profile/atomic_file.h"
#include "base/clock_ns.h"
#include "base/environment.h"
#include "base/json.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* ---- whose table it is ---- */

struct region_origin {
	char host[256];
	int64_t pid;
	int64_t rank;       /* among the processes of a job; -1: in none */
	uint64_t opened_ns; /* CLOCK_REALTIME */
};

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

/* This process's; `opened_ns` is now. */
static void find_origin(struct region_origin *origin)
{
	struct utsname name;

	snprintf(origin->host, sizeof(origin->host), "%s",
	         uname(&name) >= 0 ? name.nodename : "unknown");
	origin->pid = getpid();
	origin->rank = find_rank();
	origin->opened_ns = 0;
	ppi_clock_ns(CLOCK_REALTIME, &origin->opened_ns);
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

/* ---- the table as JSON ---- */

enum {
	SCHEMA = 1,
	BY_ALL = PORTPROF_REGIONS_BY_THREAD | PORTPROF_REGIONS_BY_LABELS
};

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
	ppi_json_object(json, "labels");
	for (size_t i = 0; i < region->label_count; i++)
		ppi_json_text(json, region->labels[i].key,
		              region->labels[i].value);
	ppi_json_close(json);
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
                     const struct region_origin *origin, FILE *out)
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
	is_read = portprof_regions_read(NULL, BY_ALL, put_row, &json) == PORTPROF_OK;
	return ppi_json_end(&json) && is_read;
}

/* ---- the table as text ---- */

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
	ppi_put_text(region->name, table->out);
	for (size_t i = 0; i < region->label_count; i++) {
		fputs(i ? ", " : " {", table->out);
		ppi_put_text(region->labels[i].key, table->out);
		fputc('=', table->out);
		ppi_put_text(region->labels[i].value, table->out);
	}
	if (region->label_count)
		fputc('}', table->out);
	fputc('\n', table->out);
	return 0;
}

static bool put_text(struct portprof_regions *all,
                     const struct region_origin *origin, FILE *out)
{
	struct text_table table = { all, out };
	portprof_metric metric;
	const char *why;
	size_t refused = count_refused(all, &why);
	bool is_read;

	fputs("# regions of process ", out);
	fprintf(out, "%" PRId64 " on ", origin->pid);
	ppi_put_text(origin->host, out);
	if (origin->rank >= 0)
		fprintf(out, ", rank %" PRId64, origin->rank);
	fputc('\n', out);
	if (refused) {
		fprintf(out, "# %zu threads could not count: ", refused);
		ppi_put_text(why, out);
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
	is_read = portprof_regions_read(NULL, BY_ALL, put_line, &table) == PORTPROF_OK;
	return fflush(out) == 0 && !ferror(out) && is_read;
}

/* Write the table of `all`, which are the open regions: JSON, or text for
 * people. False when the stream did not take it, or out of memory. */
static bool write_rows(struct portprof_regions *all,
                       const struct region_origin *origin,
                       bool is_text, FILE *out)
{
	return is_text ? put_text(all, origin, out)
	               : put_json(all, origin, out);
}

/* ---- $PORTPROF ---- */

static struct {
	pthread_mutex_t lock;
	atomic_bool is_read;       /* there is nothing more to ask for */
	_Atomic(struct portprof_regions *) open;
	struct portprof_regions *stale; /* the parent's, in a forked child */
	struct region_origin origin;
	bool is_child, is_text;
	char *output;              /* pattern; NULL: the usual */
} asked = { .lock = PTHREAD_MUTEX_INITIALIZER };

static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;

/* The library is silent, but nobody else can say this (OLD-8). */
static void complain(const char *words, ...)
	__attribute__((format(printf, 1, 2)));

static void complain(const char *words, ...)
{
	char line[1200] = "portprof: PORTPROF=regions: ";
	size_t begun = strlen(line);
	va_list list;

	va_start(list, words);
	vsnprintf(line + begun, sizeof(line) - begun - 1, words, list);
	va_end(list);
	begun = strlen(line);
	line[begun++] = '\n';
	/* nobody is left to hear that standard error is closed */
	if (write(2, line, begun) < 0)
		return;
}

/* ---- $PORTPROF: what is asked for ---- */

static bool is_key(const char *part, size_t length, const char *key)
{
	return length == strlen(key) && strncmp(part, key, length) == 0;
}

/* Parts of $PORTPROF, "KEY=VALUE" with semicolons between them, as the
 * preloaded object takes them apart: settings of the library go to `lines`.
 * False when out of memory. */
static bool take_part(const char *part, size_t length, char *lines,
                      const char **format, size_t *format_length)
{
	const char *equals = memchr(part, '=', length);
	size_t key = equals ? (size_t)(equals - part) : length;
	size_t used = strlen(lines);

	if (is_key(part, key, "regions")) {
		*format = equals ? equals + 1 : "json";
		*format_length = equals ? length - key - 1 : 4;
	} else if (equals && is_key(part, key, "output")) {
		free(asked.output);
		asked.output = strndup(equals + 1, length - key - 1);
		return asked.output != NULL;
	} else if (!is_key(part, key, "since")) {
		memcpy(lines + used, part, length);
		memcpy(lines + used + length, "\n", 2);
	}
	return true;
}

/* The settings, to be freed; NULL when no regions are asked for, or the
 * asking is wrong. */
static char *read_settings(const char *text)
{
	char *lines = calloc(1, strlen(text) + 2);
	const char *format = NULL;
	size_t format_length = 0, length;
	bool is_good = lines != NULL;

	for (; is_good && *text; text += length, text += *text != '\0') {
		length = strcspn(text, ";\n");
		is_good = take_part(text, length, lines, &format,
		                    &format_length);
	}
	if (!is_good) {
		complain("out of memory");
	} else if (format) {
		asked.is_text = is_key(format, format_length, "text");
		is_good = asked.is_text ||
		          is_key(format, format_length, "json");
		if (!is_good)
			complain("'%.*s' is not a format of tables: write "
			         "regions=json or regions=text",
			         (int)format_length, format);
	}
	if (is_good && format)
		return lines;
	free(lines);
	return NULL;
}

static void open_asked(const char *lines)
{
	portprof_config *config = portprof_config_new();
	portprof_status status = PORTPROF_E_NOMEM;

	if (config)
		status = portprof_config_load_text(config, "PORTPROF", lines,
		                                   NULL);
	if (status == PORTPROF_OK)
		status = portprof_regions_open(config, NULL);
	if (status == PORTPROF_OK) {
		find_origin(&asked.origin);
		atomic_store(&asked.open, ppi_regions_now());
	} else {
		complain("nothing is counted: %s",
		         config ? portprof_last_diag()->words
		                : "out of memory");
	}
	portprof_config_free(config);
}

/* Its thread alone runs. The locks of others may be held for ever, and closing
 * takes some, so what the parent had is closed later. */
static void after_fork_in_child(void)
{
	pthread_mutex_init(&asked.lock, NULL);
	if (!atomic_load(&asked.open))
		return;
	asked.stale = ppi_regions_disown();
	asked.is_child = true;
	atomic_store(&asked.open, NULL);
	atomic_store(&asked.is_read, false);
}

static void set_handlers(void)
{
	pthread_atfork(NULL, NULL, after_fork_in_child);
}

struct portprof_regions *ppi_regions_wanted(void)
{
	struct portprof_regions *all = ppi_regions_now();
	const char *text;
	char *lines;

	if (all || atomic_load_explicit(&asked.is_read, memory_order_acquire))
		return all;
	pthread_once(&handlers_once, set_handlers);
	pthread_mutex_lock(&asked.lock);
	text = atomic_load(&asked.is_read) ? NULL : ppi_environment("PORTPROF");
	lines = text ? read_settings(text) : NULL;
	if (lines) {
		ppi_regions_free(asked.stale);
		asked.stale = NULL;
		open_asked(lines);
	}
	free(lines);
	atomic_store(&asked.is_read, true);
	pthread_mutex_unlock(&asked.lock);
	return ppi_regions_now();
}

void ppi_regions_want_none(void)
{
	atomic_store(&asked.is_read, true);
}

/* ---- $PORTPROF: the file ---- */

static bool expand(char letter, char *out, size_t bytes, const void *place)
{
	const struct region_origin *origin = place;

	if (letter == 'h')
		snprintf(out, bytes, "%s", origin->host);
	else if (letter == 'p')
		snprintf(out, bytes, "%lld", (long long)origin->pid);
	else if (letter == 'r')
		snprintf(out, bytes, "%lld",
		         (long long)(origin->rank >= 0 ? origin->rank
		                                       : origin->pid));
	else
		return false;
	return true;
}

/* No two processes of a job, and no child and its parent, write one file. */
static char *find_path(void)
{
	const char *usual = asked.is_text ? "portprof-regions.%h.%p.txt"
	                                  : "portprof-regions.%h.%p.json";
	const char *pattern = asked.output ? asked.output : usual;
	bool has_pid = ppi_pattern_has(pattern, 'p');
	size_t bytes = strlen(pattern) + sizeof(".%r.%p");
	char *whole = malloc(bytes), *path;

	if (!whole)
		return NULL;
	snprintf(whole, bytes, "%s%s%s", pattern,
	         asked.origin.rank >= 0 && !has_pid &&
	         !ppi_pattern_has(pattern, 'r') ? ".%r" : "",
	         asked.is_child && !has_pid ? ".%p" : "");
	path = ppi_pattern_fill(whole, expand, &asked.origin);
	free(whole);
	return path;
}

static void write_table(struct portprof_regions *all)
{
	char *path = find_path(), *text = NULL;
	struct ppi_diag why;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	bool is_whole = path && out &&
	                write_rows(all, &asked.origin,
	                                   asked.is_text, out);

	if (out && fclose(out) != 0)
		is_whole = false;
	if (is_whole && ppi_file_put(path, text, bytes, &why))
		complain("no table is written: %s", why.words);
	else if (!is_whole)
		complain("no table is written: out of memory");
	free(text);
	free(path);
}

/* Once, and never by a child that fork handlers did not see. */
void ppi_regions_deliver(void)
{
	struct portprof_regions *all = atomic_exchange(&asked.open, NULL);

	if (!all || ppi_is_forked(&all->guard))
		return;
	ppi_region_end_all();
	write_table(all);
}

__attribute__((destructor)) static void deliver_at_exit(void)
{
	ppi_regions_deliver();
}
