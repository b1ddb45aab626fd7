/* SPDX-License-Identifier: MIT */
/* A report for people: the account first, then the rows. */
#include "config.h"

#include "tools/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LABEL "  %-13s "

/* How weights of one report are written: all in the same unit. */
struct scale {
	double divisor;
	int digits;
	const char *unit;
};

static struct scale scale_of(portprof_unit unit, uint64_t largest)
{
	if (unit != PORTPROF_UNIT_NANOSECONDS)
		return (struct scale){ 1, 0, "" };
	if (largest >= 1000000000)
		return (struct scale){ 1e9, 3, " s" };
	if (largest >= 1000000)
		return (struct scale){ 1e6, 3, " ms" };
	return (struct scale){ 1e3, 1, " us" };
}

static const char *say_weight(struct scale scale, uint64_t weight, char *out,
                              size_t bytes)
{
	if (scale.digits == 0)
		snprintf(out, bytes, "%" PRIu64, weight);
	else
		snprintf(out, bytes, "%.*f%s", scale.digits,
		         (double)weight / scale.divisor, scale.unit);
	return out;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static const char *say_time(uint64_t ns, char *out, size_t bytes)
{
	return say_weight(scale_of(PORTPROF_UNIT_NANOSECONDS, ns), ns, out,
	                  bytes);
}

/* ---- the header ---- */

static void print_title(const struct ppi_report *report,
                        const portprof_profile_origin *origin, FILE *out)
{
	const char *damage = portprof_profile_damage(report->profile);

	fprintf(out, "%s%s%s\n", report->path, origin->command[0] ? ": " : "",
	        origin->command);
	if (damage)
		fprintf(out, LABEL "%s\n", "DAMAGED", damage);
	else if (origin->backend[0] && !origin->is_complete)
		fprintf(out, LABEL "the recording was cut short: the last "
		             "second may be missing\n",
		        "INCOMPLETE");
}

static void print_verdict(const portprof_profile_origin *origin, FILE *out)
{
	fprintf(out, LABEL "%s\n", "backend",
	        origin->backend[0] ? origin->backend
	                           : "not said by the writer of this file");
	for (size_t i = 0; i < origin->passed_over_count; i++)
		fprintf(out, LABEL "%s: %s\n", "passed over",
		        origin->passed_over_names[i],
		        origin->passed_over_reasons[i]);
}

static void print_event(const portprof_profile_event *event, FILE *out)
{
	fprintf(out, LABEL "%s", "event", event->name);
	if (event->asked[0] && strcmp(event->asked, event->name) != 0)
		fprintf(out, " (asked as %s)", event->asked);
	if (event->description[0])
		fprintf(out, ": %s", event->description);
	fputc('\n', out);
}

/* "250", but "249.7". */
static const char *say_hz(double hz, char *out, size_t bytes)
{
	double tenth = hz * 10 - (double)(uint64_t)hz * 10;

	snprintf(out, bytes, tenth < 0.5 || tenth >= 9.5 ? "%.0f" : "%.1f",
	         hz);
	return out;
}

static void print_rates(const portprof_stats *stats, portprof_unit unit,
                        FILE *out)
{
	const char *of = unit == PORTPROF_UNIT_NANOSECONDS ? " ns" : "";
	char hz[32];

	fprintf(out, LABEL, "rate");
	if (stats->requested_period)
		fprintf(out, "one sample every %" PRIu64 "%s asked",
		        stats->requested_period, of);
	else
		fprintf(out, "%s Hz asked",
		        say_hz(stats->requested_hz, hz, sizeof(hz)));
	if (stats->granted_period && stats->requested_period)
		fprintf(out, ", every %" PRIu64 "%s granted",
		        stats->granted_period, of);
	else if (stats->granted_hz > 0)
		fprintf(out, ", %s Hz granted",
		        say_hz(stats->granted_hz, hz, sizeof(hz)));
	if (stats->cpu_time_ns)
		fprintf(out, ", %s Hz achieved",
		        say_hz(stats->achieved_hz, hz, sizeof(hz)));
	fputc('\n', out);
}

static void print_samples(const portprof_stats *stats, FILE *out)
{
	fprintf(out, LABEL "%" PRIu64 " kept, %" PRIu64 " lost%s", "samples",
	        stats->kept_samples, stats->lost_samples,
	        stats->lost_certainty == PORTPROF_EXACT ? "" : " or more");
	if (stats->outside_samples)
		fprintf(out, ", %" PRIu64 " outside", stats->outside_samples);
	if (stats->throttled)
		fprintf(out, "; the kernel held sampling back %" PRIu64
		             " times",
		        stats->throttled);
	fputc('\n', out);
}

static void print_total(const struct ppi_report *report, FILE *out)
{
	struct scale scale = scale_of(report->what->unit, report->total);
	uint64_t kept = report->total - report->outside - report->unattributed;
	char total[64], part[64];

	fprintf(out, LABEL "%s: ", "total",
	        say_weight(scale, report->total, total, sizeof(total)));
	fprintf(out, "%s in samples, ",
	        say_weight(scale, kept, part, sizeof(part)));
	fprintf(out, "%s outside, ",
	        say_weight(scale, report->outside, part, sizeof(part)));
	fprintf(out, "%s unattributed (%.1f %%)\n",
	        say_weight(scale, report->unattributed, part, sizeof(part)),
	        percent(report->unattributed, report->total));
}

static void print_times(const portprof_profile_origin *origin,
                        const portprof_profile_event *event, FILE *out)
{
	char text[64];

	if (event->has_stats && event->stats.cpu_time_ns)
		fprintf(out, LABEL "%s", "CPU time",
		        say_time(event->stats.cpu_time_ns, text,
		                 sizeof(text)));
	else
		fprintf(out, LABEL "unknown", "CPU time");
	if (origin->duration_ns)
		fprintf(out, " in %s",
		        say_time(origin->duration_ns, text, sizeof(text)));
	fputc('\n', out);
}

void ppi_report_print_header(const struct ppi_report *report, FILE *out)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(report->profile);
	const portprof_profile_event *event = report->what;
	const char *note;

	print_title(report, origin, out);
	print_verdict(origin, out);
	print_event(event, out);
	if (event->has_stats)
		print_rates(&event->stats, event->unit, out);
	print_times(origin, event, out);
	if (event->has_stats)
		print_samples(&event->stats, out);
	print_total(report, out);
	fprintf(out, LABEL "%s\n", "symbols", ppi_symbols_tier());
	for (size_t i = 0; i < origin->note_count; i++)
		fprintf(out, LABEL "%s\n", "note", origin->notes[i]);
	for (size_t i = 0;
	     (note = ppi_symbols_note(report->symbols, i)) != NULL; i++)
		fprintf(out, LABEL "%s\n", "note", note);
	fputc('\n', out);
}

/* ---- the rows ---- */

struct columns {
	unsigned keys;
	struct scale scale;
	uint64_t total;
	bool has_chains;
	int module_width, thread_width;
	FILE *out;
};

static const char *thread_word(const struct columns *columns,
                               const struct ppi_row *row, char *out,
                               size_t bytes)
{
	if (columns->keys & PPI_BY_THREAD)
		snprintf(out, bytes, "%s/%" PRIu32,
		         row->thread[0] ? row->thread : "?", row->tid);
	else
		snprintf(out, bytes, "%s/%" PRIu32,
		         row->thread[0] ? row->thread : "?", row->pid);
	return out;
}

static int wider(int width, const char *text)
{
	int length = (int)strlen(text);

	return length > width ? length : width;
}

/* One number column and its share; "-" where there is none. */
static void print_number(const struct columns *columns, uint64_t weight,
                         bool is_there)
{
	char text[64];

	if (!is_there) {
		fprintf(columns->out, " %11s %7s ", "-", "-");
		return;
	}
	fprintf(columns->out, " %11s %6.1f%% ",
	        say_weight(columns->scale, weight, text, sizeof(text)),
	        percent(weight, columns->total));
}

static void print_names(const struct columns *columns,
                        const struct ppi_row *row)
{
	char text[128];

	if (columns->keys & PPI_BY_PROCESS)
		fprintf(columns->out, " %-*s ", columns->thread_width,
		        row ? thread_word(columns, row, text, sizeof(text))
		            : "");
	if (columns->keys & PPI_BY_MODULE)
		fprintf(columns->out, " %-*s ", columns->module_width,
		        row ? row->module : "");
	if (columns->keys & PPI_BY_ADDRESS && row)
		fprintf(columns->out, " %#18" PRIx64 " ", row->address);
	else if (columns->keys & PPI_BY_ADDRESS)
		fprintf(columns->out, " %18s ", "");
	if (columns->keys & PPI_BY_FUNCTION && row)
		fprintf(columns->out, " %s", row->function);
}

static void print_row(const struct columns *columns, const struct ppi_row *row)
{
	print_number(columns, row->self_weight, true);
	if (columns->has_chains)
		print_number(columns, row->total_weight, true);
	fprintf(columns->out, " %8" PRIu64 " ", row->samples);
	print_names(columns, row);
	fputc('\n', columns->out);
}

/* A line that is not of any code, so that the shares make 100 %. */
static void print_remark(const struct columns *columns, uint64_t weight,
                         uint64_t samples, const char *words)
{
	print_number(columns, weight, true);
	if (columns->has_chains)
		print_number(columns, 0, false);
	if (samples)
		fprintf(columns->out, " %8" PRIu64 " ", samples);
	else
		fprintf(columns->out, " %8s ", "-");
	if (!(columns->keys & PPI_BY_FUNCTION)) {
		fprintf(columns->out, " %s\n", words);
		return;
	}
	print_names(columns, NULL);
	fprintf(columns->out, " %s\n", words);
}

static void print_heads(const struct columns *columns)
{
	fprintf(columns->out, " %11s %7s ", "self", "share");
	if (columns->has_chains)
		fprintf(columns->out, " %11s %7s ", "total", "share");
	fprintf(columns->out, " %8s ", "samples");
	if (columns->keys & PPI_BY_PROCESS)
		fprintf(columns->out, " %-*s ", columns->thread_width,
		        columns->keys & PPI_BY_THREAD ? "thread" : "process");
	if (columns->keys & PPI_BY_MODULE)
		fprintf(columns->out, " %-*s ", columns->module_width,
		        "module");
	if (columns->keys & PPI_BY_ADDRESS)
		fprintf(columns->out, " %18s ", "address");
	if (columns->keys & PPI_BY_FUNCTION)
		fprintf(columns->out, " %s", "function");
	fputc('\n', columns->out);
}

static void fit_columns(struct columns *columns, const struct ppi_rows *rows,
                        size_t shown)
{
	char text[128];

	columns->module_width = (int)strlen("module");
	columns->thread_width = (int)strlen("process");
	for (size_t i = 0; i < shown; i++) {
		const struct ppi_row *row = &rows->rows[i];

		if (columns->keys & PPI_BY_MODULE)
			columns->module_width =
				wider(columns->module_width, row->module);
		if (columns->keys & PPI_BY_PROCESS)
			columns->thread_width = wider(
				columns->thread_width,
				thread_word(columns, row, text, sizeof(text)));
	}
}

static void print_rest(const struct columns *columns,
                       const struct ppi_rows *rows, size_t shown)
{
	uint64_t weight = 0, samples = 0;
	char words[64];

	if (shown == rows->count)
		return;
	for (size_t i = shown; i < rows->count; i++) {
		weight += rows->rows[i].self_weight;
		samples += rows->rows[i].samples;
	}
	snprintf(words, sizeof(words), "(%zu more; -n 0 shows all)",
	         rows->count - shown);
	print_remark(columns, weight, samples, words);
}

/* Only for code that makes up a part worth the trouble. */
static void print_hints(const struct ppi_report *report,
                        const struct ppi_rows *rows, FILE *out)
{
	for (size_t i = 0; i < rows->nameless_count; i++) {
		double share =
			percent(rows->nameless[i].weight, report->total);

		if (share < 5)
			break;
		fprintf(out,
		        "%s%s has no symbols for %.1f %% of the total: install "
		        "its debug symbols to see names.\n",
		        i == 0 ? "\n" : "", rows->nameless[i].module, share);
	}
}

void ppi_report_print_rows(const struct ppi_report *report,
                           const struct ppi_rows *rows, FILE *out)
{
	struct columns columns = {
		.keys = report->keys,
		.scale = scale_of(report->what->unit, report->total),
		.total = report->total,
		.has_chains = rows->has_chains,
		.out = out,
	};
	size_t shown = rows->count;

	if (report->row_limit && shown > report->row_limit)
		shown = report->row_limit;
	fit_columns(&columns, rows, shown);
	print_heads(&columns);
	for (size_t i = 0; i < shown; i++)
		print_row(&columns, &rows->rows[i]);
	print_rest(&columns, rows, shown);
	if (report->outside)
		print_remark(&columns, report->outside, 0, "(outside)");
	print_remark(&columns, report->unattributed, 0, "(unattributed)");
	if (report->keys & PPI_BY_FUNCTION)
		print_hints(report, rows, out);
}
