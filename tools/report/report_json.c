/* SPDX-License-Identifier: MIT */
/*
 * A report for programs: one JSON object. Its keys are documented in
 * portprof-report(1); they may become more, but keep their meaning as long as
 * "schema" is 1. Arrays of rows are written one element at a time, so that
 * large profiles need no tree in memory.
 */
#include "config.h"

#include "tools/report/report.h"

#include "port/clean_text.h"
#include "tools/json.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

enum { SCHEMA = 1 };

/* The object as it grows: a failure stays until the end. */
struct writer {
	FILE *out;
	bool has_any, has_failed;
};

/* File names are bytes, JSON is UTF-8: what is none becomes U+FFFD. */
static json_t *string_of(const char *text)
{
	json_t *string = json_string(text);
	char *copy, *to;

	if (string)
		return string;
	copy = to = malloc(3 * strlen(text) + 1);
	if (!copy)
		return NULL;
	while (*text) {
		uint32_t code;
		size_t length = ppi_text_character(text, &code);

		memcpy(to, length ? text : "\xef\xbf\xbd", length ? length : 3);
		to += length ? length : 3;
		text += length ? length : 1;
	}
	*to = '\0';
	string = json_string(copy);
	free(copy);
	return string;
}

/* JSON has no numbers above 2^63 that jansson could write exactly. */
static json_t *number_of(uint64_t number)
{
	return json_integer(number > INT64_MAX ? INT64_MAX
	                                       : (json_int_t)number);
}

static json_t *share_of(uint64_t part, uint64_t whole)
{
	return json_real(whole ? (double)part / (double)whole : 0);
}

/* Write a value and let go of it; NULL means out of memory. */
static void put_value(struct writer *writer, json_t *value)
{
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
	                                               JSON_REAL_PRECISION(10))
	                   : NULL;

	if (text)
		ppi_json_put_harmless(text, writer->out);
	else
		writer->has_failed = true;
	free(text);
	json_decref(value);
}

static void put_key(struct writer *writer, const char *key)
{
	fprintf(writer->out, "%s\n\"%s\": ", writer->has_any ? "," : "", key);
	writer->has_any = true;
}

static void put(struct writer *writer, const char *key, json_t *value)
{
	put_key(writer, key);
	put_value(writer, value);
}

/* ---- the account ---- */

static json_t *list_passed_over(const portprof_profile_origin *origin)
{
	json_t *list = json_array();

	for (size_t i = 0; i < origin->passed_over_count; i++)
		json_array_append_new(
			list,
			json_pack("{s:o, s:o}", "backend",
		                  string_of(origin->passed_over_names[i]),
		                  "reason",
		                  string_of(origin->passed_over_reasons[i])));
	return list;
}

static json_t *list_facts(const portprof_profile_origin *origin)
{
	json_t *list = json_array();

	for (size_t i = 0; i < origin->fact_count; i++)
		json_array_append_new(list, string_of(origin->facts[i]));
	return list;
}

static json_t *list_notes(const portprof_profile_origin *origin)
{
	json_t *list = json_array();

	for (size_t i = 0; i < origin->note_count; i++)
		json_array_append_new(list, string_of(origin->notes[i]));
	return list;
}

static json_t *describe_symbols(const struct ppi_symbols *symbols)
{
	json_t *notes = json_array();
	const char *note;

	for (size_t i = 0; (note = ppi_symbols_note(symbols, i)) != NULL; i++)
		json_array_append_new(notes, string_of(note));
	return json_pack("{s:o, s:o}", "tier",
	                 json_sprintf("%s%s", ppi_symbols_tier(),
	                              ppi_symbols_tier_more(symbols)),
	                 "notes", notes);
}

/* null where the number is not known, as 0 would be a claim. */
static json_t *hz_or_null(double hz)
{
	return hz > 0 ? json_real(hz) : json_null();
}

static json_t *period_or_null(uint64_t period)
{
	return period ? number_of(period) : json_null();
}

static json_t *describe_rate(const portprof_profile_event *event)
{
	portprof_stats none = { 0 };
	const portprof_stats *stats = event->has_stats ? &event->stats : &none;

	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "requested",
	                 hz_or_null(stats->requested_hz), "granted",
	                 hz_or_null(stats->granted_hz), "achieved",
	                 hz_or_null(stats->achieved_hz), "requested_period",
	                 period_or_null(stats->requested_period),
	                 "granted_period",
	                 period_or_null(stats->granted_period));
}

static const char *unit_of(const portprof_profile_event *event)
{
	return event->unit == PORTPROF_UNIT_NANOSECONDS ? "nanoseconds"
	                                                : "count";
}

static void put_origin(struct writer *writer, const struct ppi_report *report)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(report->profile);
	const char *damage =
		portprof_profile_origin_get(report->profile)->damage;

	put(writer, "schema", json_integer(SCHEMA));
	put(writer, "file", string_of(report->path));
	put(writer, "damage", damage ? string_of(damage) : json_null());
	put(writer, "complete", json_boolean(origin->is_complete));
	put(writer, "command", string_of(origin->command));
	put(writer, "start_ns", number_of(origin->start_ns));
	put(writer, "duration_ns", number_of(origin->duration_ns));
	put(writer, "timeline_ns", number_of(origin->timeline_ns));
	put(writer, "backend", string_of(origin->backend));
	put(writer, "passed_over", list_passed_over(origin));
	put(writer, "facts", list_facts(origin));
	put(writer, "notes", list_notes(origin));
	put(writer, "symbols", describe_symbols(report->symbols));
}

static json_t *list_largest(const struct ppi_nameless_list *list,
                            const char *what)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->count; i++) {
		const struct ppi_nameless *one = &list->modules[i];

		json_array_append_new(array,
		                      json_pack("{s:o, s:o}", what,
		                                string_of(one->module),
		                                "weight",
		                                number_of(one->weight)));
	}
	return array;
}

static json_t *describe_chains(const struct ppi_chains *chains)
{
	if (chains->weight == 0)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "weight",
	                 number_of(chains->weight), "end_early",
	                 number_of(chains->ending), "leave_one_out",
	                 number_of(chains->skipping), "cut",
	                 number_of(chains->cut), "last_caller_missing",
	                 number_of(chains->leaving), "modules",
	                 list_largest(&chains->modules, "module"),
	                 "leaves", list_largest(&chains->leaves, "function"));
}

static void put_account(struct writer *writer, const struct ppi_report *report,
                        uint64_t rows_samples)
{
	const portprof_profile_event *event = report->what;
	const portprof_stats *stats = event->has_stats ? &event->stats : NULL;

	put(writer, "event", string_of(event->name));
	put(writer, "asked", string_of(event->asked));
	put(writer, "description", string_of(event->description));
	put(writer, "unit", json_string(unit_of(event)));
	put(writer, "rate", describe_rate(event));
	put(writer, "cpu_time_ns",
	    stats && stats->cpu_time_ns ? number_of(stats->cpu_time_ns)
	                                : json_null());
	put(writer, "total_weight", number_of(report->total));
	put(writer, "samples",
	    number_of(stats ? stats->kept_samples : rows_samples));
	put(writer, "lost",
	    stats ? number_of(stats->lost_samples) : json_null());
	put(writer, "lost_is_exact",
	    stats ? json_boolean(stats->lost_certainty == PORTPROF_EXACT)
	          : json_null());
	put(writer, "throttled",
	    stats ? number_of(stats->throttled) : json_null());
	put(writer, "outside", number_of(report->outside));
	put(writer, "outside_samples",
	    stats ? number_of(stats->outside_samples) : json_null());
	put(writer, "unattributed",
	    report->excess ? json_integer(-(json_int_t)report->excess)
	                   : number_of(report->unattributed));
	put(writer, "standard_error",
	    stats ? number_of(stats->standard_error) : json_null());
	put(writer, "idle_ns",
	    stats ? number_of(stats->idle_time_ns) : json_null());
	put(writer, "left_out", number_of(report->left_out));
	put(writer, "chains", describe_chains(&report->chains));
	put(writer, "not_attached",
	    stats ? number_of(stats->not_attached_weight) : json_null());
}

/* Every event of the file, so that a reader knows what else it can ask for. */
static json_t *list_events(const portprof_profile *profile)
{
	json_t *list = json_array();
	const portprof_profile_event *event;

	for (size_t i = 0;
	     (event = portprof_profile_event_get(profile, i)) != NULL; i++)
		json_array_append_new(list, json_pack("{s:o, s:s}", "event",
		                                      string_of(event->name),
		                                      "unit", unit_of(event)));
	return list;
}

/* ---- the rows ---- */

static json_t *describe_function(const struct ppi_report *report,
                                 const struct ppi_row *row)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "name",
	                 string_of(row->function), "module",
	                 string_of(row->module), "path", string_of(row->path),
	                 "self_weight", number_of(row->self_weight),
	                 "total_weight", number_of(row->total_weight),
	                 "samples", number_of(row->samples), "share",
	                 share_of(row->self_weight, report->total), "named",
	                 row->is_named);
}

static json_t *describe_thread(const struct ppi_report *report,
                               const struct ppi_row *row)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "pid",
	                 number_of(row->pid), "tid", number_of(row->tid),
	                 "name", string_of(row->thread), "weight",
	                 number_of(row->self_weight), "samples",
	                 number_of(row->samples), "share",
	                 share_of(row->self_weight, report->total));
}

/* What of a row is told by these keys. */
static void add_keys(json_t *object, unsigned keys, const struct ppi_row *row)
{
	if (keys & PPI_BY_OWNER)
		json_object_set_new(object, "thread", string_of(row->thread));
	if (keys & PPI_BY_PROCESS)
		json_object_set_new(object, "pid", number_of(row->pid));
	if (keys & PPI_BY_THREAD)
		json_object_set_new(object, "tid", number_of(row->tid));
	if (keys & PPI_BY_MODULE)
		json_object_update_new(object,
		                       json_pack("{s:o, s:o}", "module",
		                                 string_of(row->module), "path",
		                                 string_of(row->path)));
	if (keys & PPI_BY_ADDRESS)
		json_object_set_new(object, "address",
		                    json_sprintf("%#" PRIx64, row->address));
	if (keys & PPI_BY_LINE)
		json_object_update_new(object,
		                       json_pack("{s:o, s:o}", "source_file",
		                                 string_of(row->source_file),
		                                 "line", number_of(row->line)));
	if (keys & PPI_BY_FUNCTION)
		json_object_set_new(object, "function",
		                    string_of(row->function));
}

static json_t *describe_row(const struct ppi_report *report,
                            const struct ppi_row *row)
{
	json_t *object = json_pack("{s:o, s:o, s:o, s:o}", "self_weight",
	                           number_of(row->self_weight), "total_weight",
	                           number_of(row->total_weight), "samples",
	                           number_of(row->samples), "share",
	                           share_of(row->self_weight, report->total));

	add_keys(object, report->keys, row);
	return object;
}

static json_t *describe_edge(const struct ppi_report *report,
                             const struct ppi_row *row)
{
	json_t *object = json_pack("{s:o, s:o, s:o, s:o}", "name",
	                           string_of(row->function), "weight",
	                           number_of(row->self_weight), "samples",
	                           number_of(row->samples), "share",
	                           share_of(row->self_weight, report->total));

	add_keys(object, report->keys & ~(unsigned)PPI_BY_FUNCTION, row);
	return object;
}

typedef json_t *(*describe_fn)(const struct ppi_report *report,
                               const struct ppi_row *row);

static void put_rows(struct writer *writer, const char *key,
                     const struct ppi_report *report,
                     const struct ppi_rows *rows, size_t limit,
                     describe_fn describe)
{
	size_t shown = rows->count;

	if (limit && shown > limit)
		shown = limit;
	put_key(writer, key);
	fputc('[', writer->out);
	for (size_t i = 0; i < shown; i++) {
		fputs(i ? ",\n " : "\n ", writer->out);
		put_value(writer, describe(report, &rows->rows[i]));
	}
	fputc(']', writer->out);
}

/* The function, and the rows under another key: objects are written flat. */
static void put_edges(struct writer *writer, const char *of, const char *key,
                      const struct ppi_report *report,
                      const struct ppi_report_edges *edges)
{
	if (!edges->function)
		return;
	put(writer, of, string_of(edges->function));
	put_rows(writer, key, report, &edges->rows, report->row_limit,
	         describe_edge);
}

static void put_more(struct writer *writer, const struct ppi_report *report)
{
	const struct ppi_report_more *more = report->more;

	if (!more)
		return;
	if (more->sort) {
		put(writer, "sort", string_of(more->sort));
		put_rows(writer, "rows", report, &more->rows, report->row_limit,
		         describe_row);
	}
	put_edges(writer, "callers_of", "callers", report, &more->callers);
	put_edges(writer, "callees_of", "callees", report, &more->callees);
}

bool ppi_report_print_json(const struct ppi_report *report,
                           const struct ppi_rows *functions,
                           const struct ppi_rows *threads, FILE *out,
                           const char **why)
{
	struct writer writer = { .out = out };

	fputc('{', out);
	put_origin(&writer, report);
	put_account(&writer, report, functions->samples);
	put(&writer, "events", list_events(report->profile));
	put_rows(&writer, "functions", report, functions, report->row_limit,
	         describe_function);
	put_rows(&writer, "threads", report, threads, 0, describe_thread);
	put_more(&writer, report);
	fputs("\n}\n", out);
	if (!writer.has_failed && fflush(out) == 0 && !ferror(out))
		return true;
	*why = "the JSON could not be written: out of memory, or the disk is "
	       "full";
	return false;
}
