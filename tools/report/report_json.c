/* SPDX-License-Identifier: MIT */
/*
 * A report for programs: one JSON object. Its keys are documented in
 * portprof-report(1); they may become more, but keep their meaning as long as
 * "schema" is 1.
 */
#include "config.h"

#include "tools/report/report.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>

enum { SCHEMA = 1 };

/* null where a number is not known, as 0 would be a claim. */
static void put_known(struct ppi_json *json, const char *key, bool is_known,
                      uint64_t number)
{
	if (is_known)
		ppi_json_number(json, key, number);
	else
		ppi_json_null(json, key);
}

static void put_hz(struct ppi_json *json, const char *key, double hz)
{
	if (hz > 0)
		ppi_json_real(json, key, hz);
	else
		ppi_json_null(json, key);
}

static void put_share(struct ppi_json *json, const struct ppi_report *report,
                      uint64_t part)
{
	ppi_json_real(json, "share",
	              report->total ? (double)part / (double)report->total : 0);
}

static void put_texts(struct ppi_json *json, const char *key,
                      const char *const *texts, size_t count)
{
	ppi_json_array(json, key);
	for (size_t i = 0; i < count; i++)
		ppi_json_text(json, NULL, texts[i]);
	ppi_json_close(json);
}

/* ---- the account ---- */

static void put_passed_over(struct ppi_json *json,
                            const portprof_profile_origin *origin)
{
	ppi_json_array(json, "passed_over");
	for (size_t i = 0; i < origin->passed_over_count; i++) {
		ppi_json_object(json, NULL);
		ppi_json_text(json, "backend", origin->passed_over_names[i]);
		ppi_json_text(json, "reason", origin->passed_over_reasons[i]);
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

static void put_symbols(struct ppi_json *json,
                        const struct ppi_symbols *symbols)
{
	char tier[128];
	const char *note;

	snprintf(tier, sizeof(tier), "%s%s", ppi_symbols_tier(),
	         ppi_symbols_tier_more(symbols));
	ppi_json_object(json, "symbols");
	ppi_json_text(json, "tier", tier);
	ppi_json_array(json, "notes");
	for (size_t i = 0; (note = ppi_symbols_note(symbols, i)) != NULL; i++)
		ppi_json_text(json, NULL, note);
	ppi_json_close(json);
	ppi_json_close(json);
}

static void put_rate(struct ppi_json *json, const portprof_stats *stats)
{
	ppi_json_object(json, "rate");
	put_hz(json, "requested", stats->requested_hz);
	put_hz(json, "granted", stats->granted_hz);
	put_hz(json, "achieved", stats->achieved_hz);
	put_known(json, "requested_period", stats->requested_period != 0,
	          stats->requested_period);
	put_known(json, "granted_period", stats->granted_period != 0,
	          stats->granted_period);
	ppi_json_close(json);
}

static const char *unit_of(const portprof_profile_event *event)
{
	return event->unit == PORTPROF_UNIT_NANOSECONDS ? "nanoseconds"
	                                                : "count";
}

static void put_origin(struct ppi_json *json, const struct ppi_report *report)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(report->profile);

	ppi_json_number(json, "schema", SCHEMA);
	ppi_json_text(json, "file", report->path);
	ppi_json_text(json, "damage", origin->damage);
	ppi_json_flag(json, "complete", origin->is_complete);
	ppi_json_text(json, "command", origin->command);
	ppi_json_number(json, "start_ns", origin->start_ns);
	ppi_json_number(json, "duration_ns", origin->duration_ns);
	ppi_json_number(json, "timeline_ns", origin->timeline_ns);
	ppi_json_text(json, "backend", origin->backend);
	put_passed_over(json, origin);
	put_texts(json, "facts", origin->facts, origin->fact_count);
	put_texts(json, "notes", origin->notes, origin->note_count);
	put_symbols(json, report->symbols);
}

static void put_largest(struct ppi_json *json, const char *key,
                        const struct ppi_nameless_list *list, const char *what)
{
	ppi_json_array(json, key);
	for (size_t i = 0; i < list->count; i++) {
		ppi_json_object(json, NULL);
		ppi_json_text(json, what, list->modules[i].module);
		ppi_json_number(json, "weight", list->modules[i].weight);
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

/* Why chains by frame tables are cut. */
static void put_reasons(struct ppi_json *json, const struct ppi_chains *chains)
{
	static const char *const keys[] = {
		[PORTPROF_CHAIN_COPY_SHORT] = "copy_short",
		[PORTPROF_CHAIN_NO_RULE] = "no_rule",
		[PORTPROF_CHAIN_OUTSIDE] = "outside",
		[PORTPROF_CHAIN_JUNK] = "junk",
		[PORTPROF_CHAIN_DEPTH] = "depth",
		[PORTPROF_CHAIN_POINTERS] = "pointers",
		[PORTPROF_CHAIN_LEAVES_OUT] = "leaves_out",
	};

	ppi_json_object(json, "reasons");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i] && chains->reasons[i].count)
			put_largest(json, keys[i], &chains->reasons[i],
			            "module");
	ppi_json_close(json);
}

static void put_chains(struct ppi_json *json, const struct ppi_chains *chains)
{
	if (chains->weight == 0) {
		ppi_json_null(json, "chains");
		return;
	}
	ppi_json_object(json, "chains");
	ppi_json_number(json, "weight", chains->weight);
	ppi_json_number(json, "end_early", chains->ending);
	ppi_json_number(json, "leave_one_out", chains->skipping);
	ppi_json_number(json, "cut", chains->cut);
	ppi_json_number(json, "last_caller_missing", chains->leaving);
	put_reasons(json, chains);
	put_largest(json, "modules", &chains->modules, "module");
	put_largest(json, "leaves", &chains->leaves, "function");
	ppi_json_close(json);
}

static void put_account(struct ppi_json *json, const struct ppi_report *report,
                        uint64_t rows_samples)
{
	static const portprof_stats none;
	const portprof_profile_event *event = report->what;
	const portprof_stats *stats = event->has_stats ? &event->stats : &none;
	bool has_stats = event->has_stats;

	ppi_json_text(json, "event", event->name);
	ppi_json_text(json, "asked", event->asked);
	ppi_json_text(json, "description", event->description);
	ppi_json_text(json, "unit", unit_of(event));
	put_rate(json, stats);
	put_known(json, "cpu_time_ns", stats->cpu_time_ns != 0,
	          stats->cpu_time_ns);
	ppi_json_number(json, "total_weight", report->total);
	ppi_json_number(json, "samples",
	                has_stats ? stats->kept_samples : rows_samples);
	put_known(json, "lost", has_stats, stats->lost_samples);
	if (has_stats)
		ppi_json_flag(json, "lost_is_exact",
		              stats->lost_certainty == PORTPROF_EXACT);
	else
		ppi_json_null(json, "lost_is_exact");
	put_known(json, "throttled", has_stats, stats->throttled);
	ppi_json_number(json, "outside", report->outside);
	put_known(json, "outside_samples", has_stats, stats->outside_samples);
	ppi_json_signed(json, "unattributed",
	                report->excess ? -(int64_t)report->excess
	                               : (int64_t)report->unattributed);
	put_known(json, "standard_error", has_stats, stats->standard_error);
	put_known(json, "idle_ns", has_stats, stats->idle_time_ns);
	ppi_json_number(json, "left_out", report->left_out);
	put_chains(json, &report->chains);
	put_known(json, "not_attached", has_stats, stats->not_attached_weight);
}

/* What of it the rows are of. */
static void put_states(struct ppi_json *json, const struct ppi_report *report)
{
	unsigned states = report->subject ? report->subject->states : 0;

	ppi_json_array(json, "states");
	for (int i = 0; i < PPI_STATES; i++)
		if (states & 1u << i)
			ppi_json_text(json, NULL,
			              ppi_state_name((enum ppi_state)i));
	ppi_json_close(json);
	ppi_json_flag(json, "latency",
	              report->subject && report->subject->is_latency);
	ppi_json_number(json, "idle_waits_ns", report->idle_waits);
	ppi_json_number(json, "unknown", report->unknown);
}

/* Every event of the file, so that a reader knows what else it can ask for. */
static void put_events(struct ppi_json *json, const portprof_profile *profile)
{
	const portprof_profile_event *event;

	ppi_json_array(json, "events");
	for (size_t i = 0;
	     (event = portprof_profile_event_get(profile, i)) != NULL; i++) {
		ppi_json_object(json, NULL);
		ppi_json_text(json, "event", event->name);
		ppi_json_text(json, "unit", unit_of(event));
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

/* ---- the rows: each writes what is in the braces ---- */

/* Beside the part of latency. */
static void put_cpu(struct ppi_json *json, const struct ppi_report *report,
                    const struct ppi_row *row)
{
	if (report->subject && report->subject->is_latency)
		ppi_json_number(json, "cpu_weight", row->cpu_weight);
}

static void put_function(struct ppi_json *json, const struct ppi_report *report,
                         const struct ppi_row *row)
{
	ppi_json_text(json, "name", row->function);
	ppi_json_text(json, "module", row->module);
	ppi_json_text(json, "path", row->path);
	ppi_json_number(json, "self_weight", row->self_weight);
	ppi_json_number(json, "total_weight", row->total_weight);
	ppi_json_number(json, "samples", row->samples);
	put_share(json, report, row->self_weight);
	put_cpu(json, report, row);
	ppi_json_flag(json, "named", row->is_named);
}

static void put_thread(struct ppi_json *json, const struct ppi_report *report,
                       const struct ppi_row *row)
{
	ppi_json_number(json, "pid", row->pid);
	ppi_json_number(json, "tid", row->tid);
	ppi_json_text(json, "name", row->thread);
	ppi_json_number(json, "weight", row->self_weight);
	ppi_json_number(json, "samples", row->samples);
	put_share(json, report, row->self_weight);
}

/* What of a row is known by these keys. */
static void put_keys(struct ppi_json *json, unsigned keys,
                     const struct ppi_row *row)
{
	char address[24];

	if (keys & PPI_BY_OWNER)
		ppi_json_text(json, "thread", row->thread);
	if (keys & PPI_BY_PROCESS)
		ppi_json_number(json, "pid", row->pid);
	if (keys & PPI_BY_THREAD)
		ppi_json_number(json, "tid", row->tid);
	if (keys & PPI_BY_LABEL)
		ppi_json_text(json, "label", row->label);
	for (unsigned i = 0; i < PPI_TAGS; i++)
		if (keys & PPI_BY_STATE << i)
			ppi_json_text(json, ppi_tag_name((enum ppi_tag)i),
			              row->tags[i]);
	if (keys & PPI_BY_MODULE) {
		ppi_json_text(json, "module", row->module);
		ppi_json_text(json, "path", row->path);
	}
	if (keys & PPI_BY_ADDRESS) {
		snprintf(address, sizeof(address), "%#" PRIx64, row->address);
		ppi_json_text(json, "address", address);
	}
	if (keys & PPI_BY_LINE) {
		ppi_json_text(json, "source_file", row->source_file);
		ppi_json_number(json, "line", row->line);
	}
	if (keys & PPI_BY_FUNCTION)
		ppi_json_text(json, "function", row->function);
}

static void put_row(struct ppi_json *json, const struct ppi_report *report,
                    const struct ppi_row *row)
{
	ppi_json_number(json, "self_weight", row->self_weight);
	ppi_json_number(json, "total_weight", row->total_weight);
	ppi_json_number(json, "samples", row->samples);
	put_share(json, report, row->self_weight);
	put_cpu(json, report, row);
	put_keys(json, report->keys, row);
}

static void put_edge(struct ppi_json *json, const struct ppi_report *report,
                     const struct ppi_row *row)
{
	ppi_json_text(json, "name", row->function);
	ppi_json_number(json, "weight", row->self_weight);
	ppi_json_number(json, "samples", row->samples);
	put_share(json, report, row->self_weight);
	put_keys(json, report->keys & ~(unsigned)PPI_BY_FUNCTION, row);
}

typedef void (*put_fn)(struct ppi_json *json, const struct ppi_report *report,
                       const struct ppi_row *row);

static void put_rows(struct ppi_json *json, const char *key,
                     const struct ppi_report *report,
                     const struct ppi_rows *rows, size_t limit, put_fn put)
{
	size_t shown = limit && rows->count > limit ? limit : rows->count;

	ppi_json_array(json, key);
	for (size_t i = 0; i < shown; i++) {
		ppi_json_object(json, NULL);
		put(json, report, &rows->rows[i]);
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

/* The function under one key, its rows under another. */
static void put_edges(struct ppi_json *json, const char *of, const char *key,
                      const struct ppi_report *report,
                      const struct ppi_report_edges *edges)
{
	if (!edges->function)
		return;
	ppi_json_text(json, of, edges->function);
	put_rows(json, key, report, &edges->rows, report->row_limit, put_edge);
}

/* Where the holder was then. */
static void put_held_at(struct ppi_json *json, const struct ppi_report *report,
                        const portprof_profile_sample *held_at)
{
	ppi_json_array(json, "chain");
	for (size_t i = 0; held_at && i < held_at->depth; i++)
		ppi_json_text(json, NULL,
		              report->names[held_at->locations[i]].function);
	ppi_json_close(json);
}

/* Who was waited for or ended waits, and who waited. */
static void put_holders(struct ppi_json *json, const struct ppi_report *report,
                        const struct ppi_report_holders *holders)
{
	uint64_t ns, waits;
	bool is_wakers = holders->where.who == PPI_WAKERS;

	ppi_json_array(json, is_wakers ? "wakers" : "holders");
	for (size_t i = 0, end; i < holders->count; i = end) {
		end = ppi_report_holder_end(holders, i, &ns, &waits);
		ppi_json_object(json, NULL);
		ppi_json_text(json, is_wakers ? "waker" : "holder",
		              holders->waiters[i].holder);
		put_held_at(json, report, holders->waiters[i].held_at);
		ppi_json_number(json, "waited_ns", ns);
		ppi_json_number(json, "waits", waits);
		ppi_json_array(json, "waiters");
		for (; i < end; i++) {
			const struct ppi_report_waiter *one =
				&holders->waiters[i];

			ppi_json_object(json, NULL);
			ppi_json_text(json, "function", one->function);
			ppi_json_text(json, "thread", one->thread);
			ppi_json_text(json, "on", one->on);
			ppi_json_number(json, "waited_ns", one->ns);
			ppi_json_number(json, "waits", one->waits);
			ppi_json_close(json);
		}
		ppi_json_close(json);
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

static void put_more(struct ppi_json *json, const struct ppi_report *report)
{
	const struct ppi_report_more *more = report->more;

	if (!more)
		return;
	if (more->sort) {
		ppi_json_text(json, "sort", more->sort);
		put_rows(json, "rows", report, &more->rows, report->row_limit,
		         put_row);
	}
	put_edges(json, "callers_of", "callers", report, &more->callers);
	put_edges(json, "callees_of", "callees", report, &more->callees);
	if (more->holders)
		put_holders(json, report, more->holders);
}

bool ppi_report_print_json(const struct ppi_report *report,
                           const struct ppi_rows *functions,
                           const struct ppi_rows *threads, FILE *out)
{
	struct ppi_json json;

	ppi_json_begin(&json, out, false);
	put_origin(&json, report);
	put_account(&json, report, functions->samples);
	ppi_life_put(&json, &report->life);
	put_states(&json, report);
	put_events(&json, report->profile);
	put_rows(&json, "functions", report, functions, report->row_limit,
	         put_function);
	put_rows(&json, "threads", report, threads, 0, put_thread);
	put_more(&json, report);
	return ppi_json_end(&json);
}
