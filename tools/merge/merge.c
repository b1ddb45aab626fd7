/* SPDX-License-Identifier: MIT */
/*
 * portprof merge: adds profiles or tables of regions up, of any number of
 * processes and hosts.
 *
 *   merge.c          the verb; tables of regions as text and JSON
 *   merge_regions.c  reads such tables and adds them up
 */
#include "config.h"

#include "tools/merge/merge.h"

#include <portprof.h>

#include "base/json.h"
#include "base/text.h"
#include "tools/input.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/ticker.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- merged tables of regions, for people and for programs ---- */

enum { SCHEMA = 1, NAME_MIN = 8, EVENT_MIN = 6 };

/* The calls are the first column. */
static const char *event_of(const struct ppi_merge_regions *all, size_t column)
{
	return column ? all->events[column - 1].name : "calls";
}

static const char *unit_of(const struct ppi_merge_regions *all, size_t column)
{
	return column ? all->events[column - 1].unit : "count";
}

/* ---- text ---- */

/* Behind the name of an event. */
static const char *suffix_of(const struct ppi_merge_regions *all, size_t column)
{
	return strcmp(unit_of(all, column), "ns") == 0 ? ",ns" : "";
}

/* Columns that a name takes, a table being anybody's. */
static size_t width_of(const char *name)
{
	char room[PPI_SHOWN_BYTES];

	return ppi_text_width(ppi_shown(name, room));
}

static void widen(size_t *width, size_t other)
{
	if (other > *width)
		*width = other;
}

/* A name and what is behind it, filled up: printf(3) counts bytes. */
static void put_name(const char *name, const char *suffix, size_t width,
                     FILE *out)
{
	size_t taken = width_of(name) + strlen(suffix);
	char room[PPI_SHOWN_BYTES];

	fprintf(out, "%s%s%*s", ppi_shown(name, room), suffix,
	        taken < width ? (int)(width - taken) : 0, "");
}

static void put_header(const struct ppi_merge_regions *all, FILE *out)
{
	uint64_t refused = 0;
	size_t hosts = 0;

	for (size_t i = 0; i < all->process_count; i++) {
		size_t j = 0;

		while (j < i && strcmp(all->processes[i].host,
		                       all->processes[j].host) != 0)
			j++;
		hosts += j == i;
		refused += all->processes[i].refused_threads;
	}
	fprintf(out, "%zu process%s on %zu host%s\n", all->process_count,
	        all->process_count == 1 ? "" : "es", hosts,
	        hosts == 1 ? "" : "s");
	if (refused)
		fprintf(out, "%" PRIu64 " threads could not count: their "
		        "regions are missing\n", refused);
}

/* A rank, or the number of a process that has none. */
static const char *label_of(const struct ppi_merge_process *process,
                            char room[32])
{
	if (process->has_rank)
		snprintf(room, 32, "%" PRIu64, process->rank);
	else
		snprintf(room, 32, "pid %" PRIu64, process->pid);
	return room;
}

static void put_line(const struct ppi_merge_regions *all,
                     const struct ppi_merge_region *region, size_t column,
                     FILE *out)
{
	struct ppi_merge_spread spread = ppi_merge_spread(all, region, column);
	char least[32], most[32], sum[32], imbalance[32] = "-";

	fprintf(out, " %9zu ", spread.processes);
	if (spread.counted == 0) {
		fprintf(out, "%16s", "not counted");
		return;
	}
	snprintf(sum, sizeof(sum), "%s%" PRIu64,
	         spread.is_estimate ? "~" : "", spread.sum);
	if (spread.imbalance >= 0)
		snprintf(imbalance, sizeof(imbalance), "%.1f %%",
		         spread.imbalance);
	fprintf(out, "%16s %14" PRIu64 " %10s %16.1f %14" PRIu64
	        " %10s %10s", sum, spread.least,
	        label_of(&all->processes[spread.least_at], least), spread.mean,
	        spread.most, label_of(&all->processes[spread.most_at], most),
	        imbalance);
	if (spread.counted < all->process_count)
		fprintf(out, "  (%zu did not count)",
		        all->process_count - spread.counted);
}

/* What a preset comes to: of all together, and of the processes that have
 * least and most of it. */
static void put_metric(const struct ppi_merge_regions *all,
                       const struct ppi_merge_region *region, size_t metric,
                       FILE *out)
{
	double value = ppi_merge_metric_value(all, region, metric, SIZE_MAX);
	size_t least_at = 0, most_at = 0, counted = 0;
	double least = 0, most = 0;
	char room[32];

	for (size_t i = 0; i < all->process_count; i++) {
		double own = ppi_merge_metric_value(all, region, metric, i);

		if (isnan(own))
			continue;
		if (!counted || own < least) {
			least = own;
			least_at = i;
		}
		if (!counted++ || own > most) {
			most = own;
			most_at = i;
		}
	}
	fprintf(out, " %9zu ", counted);
	if (isnan(value)) {
		fprintf(out, "%16s", "not counted");
		return;
	}
	fprintf(out, "%16.3f", value);
	if (counted == 0)
		return;
	fprintf(out, " %14.3f %10s", least,
	        label_of(&all->processes[least_at], room));
	fprintf(out, " %16s %14.3f %10s", "", most,
	        label_of(&all->processes[most_at], room));
}

static bool print_text(const struct ppi_merge_regions *all, FILE *out)
{
	const struct ppi_merge_region *region;
	size_t names = NAME_MIN, events = EVENT_MIN;

	for (region = all->regions; region; region = region->hh.next)
		widen(&names, width_of(region->name));
	for (size_t i = 0; i <= all->event_count; i++)
		widen(&events, width_of(event_of(all, i)) + strlen(",ns"));
	for (size_t i = 0; i < all->metric_count; i++)
		widen(&events, width_of(all->metrics[i].name));
	put_header(all, out);
	fputc('\n', out);
	put_name("region", "", names + 2, out);
	put_name("event", "", events, out);
	fprintf(out, " %9s %16s %14s %10s %16s %14s %10s %10s\n",
	        "processes", "sum", "min", "rank", "mean", "max", "rank",
	        "imbalance");
	for (region = all->regions; region; region = region->hh.next) {
		for (size_t i = 0; i <= all->event_count; i++) {
			put_name(i ? "" : region->name, "", names + 2, out);
			put_name(event_of(all, i), suffix_of(all, i), events,
			         out);
			put_line(all, region, i, out);
			fputc('\n', out);
		}
		for (size_t i = 0; i < all->metric_count; i++) {
			put_name("", "", names + 2, out);
			put_name(all->metrics[i].name, "", events, out);
			put_metric(all, region, i, out);
			fputc('\n', out);
		}
	}
	return fflush(out) == 0 && !ferror(out);
}

/* ---- JSON ---- */

static void put_rank(struct ppi_json *json, const char *key,
                     const struct ppi_merge_process *process)
{
	if (process->has_rank)
		ppi_json_number(json, key, process->rank);
	else
		ppi_json_null(json, key);
}

static void put_processes(const struct ppi_merge_regions *all,
                          struct ppi_json *json)
{
	ppi_json_array(json, "processes");
	for (size_t i = 0; i < all->process_count; i++) {
		const struct ppi_merge_process *process = &all->processes[i];

		ppi_json_object(json, NULL);
		put_rank(json, "rank", process);
		ppi_json_text(json, "host", process->host);
		ppi_json_number(json, "pid", process->pid);
		ppi_json_number(json, "refused_threads",
		                process->refused_threads);
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

/* In the order of the processes: null is not counted. */
static void put_values(const struct ppi_merge_regions *all,
                       const struct ppi_merge_region *region, size_t column,
                       struct ppi_json *json)
{
	ppi_json_array(json, "values");
	for (size_t i = 0; i < all->process_count; i++) {
		size_t order = all->processes[i].order;
		const struct ppi_region_cell *row =
			order < region->processes ? region->rows[order] : NULL;

		if (row && !row[column].is_known)
			ppi_json_null(json, NULL);
		else
			ppi_json_number(json, NULL,
			                row ? row[column].value : 0);
	}
	ppi_json_close(json);
}

static void put_spread(const struct ppi_merge_regions *all,
                       const struct ppi_merge_region *region, size_t column,
                       struct ppi_json *json)
{
	struct ppi_merge_spread spread = ppi_merge_spread(all, region, column);

	ppi_json_object(json, NULL);
	ppi_json_text(json, "region", region->name);
	ppi_json_text(json, "event", event_of(all, column));
	ppi_json_text(json, "unit", unit_of(all, column));
	ppi_json_number(json, "processes", spread.processes);
	ppi_json_number(json, "counted", spread.counted);
	if (spread.counted) {
		ppi_json_flag(json, "estimate", spread.is_estimate);
		ppi_json_number(json, "sum", spread.sum);
		ppi_json_number(json, "min", spread.least);
		put_rank(json, "min_rank", &all->processes[spread.least_at]);
		ppi_json_real(json, "mean", spread.mean);
		ppi_json_number(json, "max", spread.most);
		put_rank(json, "max_rank", &all->processes[spread.most_at]);
	}
	if (spread.imbalance >= 0)
		ppi_json_real(json, "imbalance_percent", spread.imbalance);
	put_values(all, region, column, json);
	ppi_json_close(json);
}

static void put_metric_values(const struct ppi_merge_regions *all,
                              const struct ppi_merge_region *region,
                              size_t metric, struct ppi_json *json)
{
	ppi_json_object(json, NULL);
	ppi_json_text(json, "region", region->name);
	ppi_json_text(json, "metric", all->metrics[metric].name);
	ppi_json_text(json, "unit", all->metrics[metric].unit);
	ppi_json_real(json, "value", ppi_merge_metric_value(all, region, metric,
	                                                    SIZE_MAX));
	ppi_json_array(json, "values");
	for (size_t i = 0; i < all->process_count; i++)
		ppi_json_real(json, NULL, ppi_merge_metric_value(
						  all, region, metric, i));
	ppi_json_close(json);
	ppi_json_close(json);
}

static bool print_json(const struct ppi_merge_regions *all, FILE *out)
{
	struct ppi_json json;

	ppi_json_begin(&json, out, false);
	ppi_json_text(&json, "type", "portprof merged regions");
	ppi_json_number(&json, "schema", SCHEMA);
	put_processes(all, &json);
	ppi_json_array(&json, "regions");
	for (const struct ppi_merge_region *region = all->regions; region;
	     region = region->hh.next)
		for (size_t i = 0; i <= all->event_count; i++)
			put_spread(all, region, i, &json);
	ppi_json_close(&json);
	ppi_json_array(&json, "metrics");
	for (const struct ppi_merge_region *region = all->regions; region;
	     region = region->hh.next)
		for (size_t i = 0; i < all->metric_count; i++)
			put_metric_values(all, region, i, &json);
	return ppi_json_end(&json);
}

/* False when the stream did not take it. */
static bool print_tables(const struct ppi_merge_regions *all, bool is_json,
                         FILE *out)
{
	return is_json ? print_json(all, out) : print_text(all, out);
}

/* ---- the command line, and profiles ---- */

struct merge {
	const char *output;
	uint64_t memory_max;
	bool is_quiet, is_json;
	portprof_profile *all;
	size_t merged, left_out;
};

#define AT(member) offsetof(struct merge, member)

static const struct ppi_option table[] = {
	{ 'o', "output", "FILE", "write the sum to this file (tables: standard "
	  "output)",
	  .take = ppi_take_text, .place = AT(output) },
	{ 'j', "json", NULL, "print the sum of tables as JSON",
	  .take = ppi_take_flag, .place = AT(is_json) },
	{ 'q', "quiet", NULL, "print no summary",
	  .take = ppi_take_flag, .place = AT(is_quiet) },
	PPI_MEMORY_OPTION(AT(memory_max)),
};

static const struct ppi_line line = {
	.verb = "merge",
	.usage = "-o OUTPUT [OPTION...] FILE...\n"
	         "[-o OUTPUT] [-j] TABLE...",
	.notes = "The profiles must have the same events. A binary that was "
	         "mapped elsewhere is recognized by its build-id. A profile "
	         "that cannot be merged is left out, and the exit status is 1. "
	         "TABLE is the JSON that a program with regions writes at its "
	         "exit when run with PORTPROF=regions.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.wrong = PPI_EXIT_USAGE,
};

/* One file is in memory beside the sum, never two. */
static void add(struct merge *merge, const char *path)
{
	portprof_profile *part =
		ppi_profile_open(path, NULL, merge->memory_max);
	const char *damage =
		part ? portprof_profile_origin_get(part)->damage : NULL;

	if (damage)
		ppi_say("%s: %s", path, damage);
	if (part && !merge->all) {
		merge->all = part;
		merge->merged++;
		return;
	}
	if (part && portprof_profile_merge(merge->all, part) == PORTPROF_OK) {
		merge->merged++;
	} else {
		if (part)
			ppi_say("'%s' is left out: %s", path,
			        portprof_last_diag()->words);
		merge->left_out++;
	}
	portprof_profile_free(part);
}

static void say_left_out(size_t count)
{
	ppi_say("%zu file%s left out", count, count == 1 ? " was" : "s were");
}

static int write_sum(const struct merge *merge)
{
	if (!merge->all) {
		ppi_say("no profile was merged, and '%s' is not written",
		        merge->output);
		return PPI_EXIT_FAILED;
	}
	if (!ppi_profile_put(merge->all, merge->output))
		return PPI_EXIT_FAILED;
	if (!merge->is_quiet)
		ppi_say("%s: %zu profile%s merged, %zu different samples",
		        ppi_output_shown(merge->output), merge->merged,
		        merge->merged == 1 ? "" : "s",
		        portprof_profile_sample_count(merge->all));
	if (merge->left_out)
		say_left_out(merge->left_out);
	return merge->left_out ? PPI_EXIT_FAILED : PPI_EXIT_OK;
}

/* ---- adding tables of regions up ---- */

static bool print_regions(const struct merge *merge,
                          const struct ppi_merge_regions *all)
{
	struct ppi_out out;

	return ppi_out_open(&out, merge->output) &&
	       ppi_out_close(&out, print_tables(all, merge->is_json,
	                                        out.stream));
}

static int merge_regions(const struct merge *merge, int argc, char **argv)
{
	struct ppi_merge_regions all = { 0 };
	bool is_good;

	for (int i = optind; i < argc; i++)
		ppi_merge_regions_add(&all, argv[i]);
	ppi_merge_regions_sort(&all);
	is_good = all.process_count > 0 && print_regions(merge, &all);
	if (all.process_count == 0)
		ppi_say("no table of regions was merged");
	else if (all.left_out)
		say_left_out(all.left_out);
	is_good = is_good && all.left_out == 0;
	ppi_merge_regions_free(&all);
	return is_good ? PPI_EXIT_OK : PPI_EXIT_FAILED;
}

int ppi_merge_main(int argc, char **argv)
{
	struct merge merge = { 0 };
	bool ticks;
	int status = ppi_line_read(&line, argc, argv, &merge);

	if (status != PPI_LINE_READ)
		return status;
	ppi_memory_limit(merge.memory_max);
	for (int i = optind; i < argc; i++) {
		argv[i] = (char *)ppi_input_name(argv[i]);
		if (!argv[i])
			return PPI_EXIT_FAILED;
	}
	if (optind < argc && ppi_input_is_regions(argv[optind]))
		return merge_regions(&merge, argc, argv);
	if (!merge.output)
		return ppi_line_wrong(&line, "no output given: -o FILE");
	if (optind == argc)
		return ppi_line_wrong(&line, "no profile given: portprof merge "
		                             "-o %s FILE...", merge.output);
	if (merge.is_json)
		return ppi_line_wrong(&line, "-j needs tables of regions; '%s' "
		                             "is not one", argv[optind]);
	ticks = !merge.is_quiet && ppi_ticker_begin("merging", "profiles");
	atomic_store(&ppi_ticker_all, (uint64_t)(argc - optind));
	for (int i = optind; i < argc; i++) {
		add(&merge, argv[i]);
		atomic_fetch_add(&ppi_ticker_done, 1);
	}
	ppi_ticker_end(ticks);
	status = write_sum(&merge);
	portprof_profile_free(merge.all);
	return status;
}
