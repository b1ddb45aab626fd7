/* SPDX-License-Identifier: MIT */
/* Prints the rows of a report as CSV, and what of the total has no row. */
#include "config.h"

#include "tools/report/report.h"

#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct csv {
	const struct ppi_report *report;
	const char *separator;
	const char *edge; /* NULL: there is no such column */
	FILE *out;
};

static void put_field(const struct csv *csv, const char *text)
{
	ppi_put_field(text, csv->separator, csv->out);
}

/* What is not the first field of a row. */
static void put_text(const struct csv *csv, const char *text)
{
	fputs(csv->separator, csv->out);
	put_field(csv, text);
}

static void put_number(const struct csv *csv, uint64_t number)
{
	fprintf(csv->out, "%s%" PRIu64, csv->separator, number);
}

static void put_weight(const struct csv *csv, uint64_t weight)
{
	uint64_t total = csv->report->total;

	put_number(csv, weight);
	fprintf(csv->out, "%s%.6f", csv->separator,
	        total ? (double)weight / (double)total : 0);
}

static void put_numbers(const struct csv *csv, uint64_t self, uint64_t total,
                        uint64_t samples)
{
	put_field(csv, csv->report->what->name);
	if (csv->edge)
		put_text(csv, csv->edge);
	put_weight(csv, self);
	put_weight(csv, total);
	put_number(csv, samples);
}

static void put_row(const struct csv *csv, const struct ppi_row *row)
{
	unsigned keys = csv->report->keys;

	put_numbers(csv, row->self_weight, row->total_weight, row->samples);
	if (keys & PPI_BY_OWNER)
		put_text(csv, row->thread);
	if (keys & PPI_BY_PROCESS)
		put_number(csv, row->pid);
	if (keys & PPI_BY_THREAD)
		put_number(csv, row->tid);
	if (keys & PPI_BY_LABEL)
		put_text(csv, row->label);
	for (unsigned i = 0; i < PPI_TAGS; i++)
		if (keys & PPI_BY_STATE << i)
			put_text(csv, row->tags[i]);
	if (keys & PPI_BY_MODULE)
		put_text(csv, row->path[0] == '/' ? row->path : row->module);
	if (keys & PPI_BY_ADDRESS)
		fprintf(csv->out, "%s%#" PRIx64, csv->separator, row->address);
	if (keys & PPI_BY_LINE) {
		put_text(csv, row->source_file);
		put_number(csv, row->line);
	}
	if (keys & PPI_BY_FUNCTION)
		put_text(csv, row->function);
	fputc('\n', csv->out);
}

static const struct {
	unsigned keys;
	const char *name;
} names[] = {
	{ PPI_BY_OWNER, "thread" },    { PPI_BY_PROCESS, "pid" },
	{ PPI_BY_THREAD, "tid" },      { PPI_BY_LABEL, "label" },
	{ PPI_BY_STATE, "state" },     { PPI_BY_WAIT, "wait" },
	{ PPI_BY_ON, "on" },           { PPI_BY_HOLDER, "holder" },
	{ PPI_BY_MODULE, "module" },   { PPI_BY_ADDRESS, "address" },
	{ PPI_BY_LINE, "file" },       { PPI_BY_LINE, "line" },
	{ PPI_BY_FUNCTION, "function" },
};

enum { NAME_COUNT = sizeof(names) / sizeof(names[0]) };

/* All columns of names empty but the last, which says what it is. */
static void put_words(const struct csv *csv, const char *words)
{
	size_t last = NAME_COUNT;

	while (!(csv->report->keys & names[last - 1].keys))
		last--;
	for (size_t i = 0; i < last; i++)
		if (csv->report->keys & names[i].keys)
			put_text(csv, i == last - 1 ? words : "");
	fputc('\n', csv->out);
}

/* A part of the total that is no row. */
static void put_remark(const struct csv *csv, uint64_t weight, uint64_t samples,
                       const char *words)
{
	if (weight == 0 && samples == 0)
		return;
	put_numbers(csv, weight, weight, samples);
	put_words(csv, words);
}

/* What estimates have too much: it is missing with the other sign. */
static void put_excess(const struct csv *csv, uint64_t weight)
{
	uint64_t total = csv->report->total;

	put_field(csv, csv->report->what->name);
	for (unsigned i = 0; i < 2; i++)
		fprintf(csv->out, "%s-%" PRIu64 "%s-%.6f", csv->separator,
		        weight, csv->separator,
		        total ? (double)weight / (double)total : 0);
	put_number(csv, 0);
	put_words(csv, "(unattributed)");
}

/* In no total, so of no share of it. */
static void put_idle(const struct csv *csv, uint64_t ns, uint64_t samples,
                     const char *words)
{
	put_field(csv, csv->report->what->name);
	for (unsigned i = 0; i < 2; i++) {
		put_number(csv, ns);
		put_text(csv, "");
	}
	put_number(csv, samples);
	put_words(csv, words);
}

void ppi_report_print_csv_names(const struct ppi_report *report,
                                const char *separator, bool has_edge, FILE *out)
{
	const struct csv csv = { report, separator, NULL, out };

	put_field(&csv, "event");
	if (has_edge)
		put_text(&csv, "edge");
	put_text(&csv, "self");
	put_text(&csv, "self_share");
	put_text(&csv, "total");
	put_text(&csv, "total_share");
	put_text(&csv, "samples");
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (report->keys & names[i].keys)
			put_text(&csv, names[i].name);
	fputc('\n', out);
}

void ppi_report_print_csv_rows(const struct ppi_report *report,
                               const struct ppi_rows *rows,
                               const char *separator, const char *edge,
                               FILE *out)
{
	const struct csv csv = { report, separator, edge, out };
	uint64_t weight = 0, samples = 0;

	for (size_t i = 0; i < rows->count; i++) {
		if (report->row_limit == 0 || i < report->row_limit) {
			put_row(&csv, &rows->rows[i]);
			continue;
		}
		weight += rows->rows[i].self_weight;
		samples += rows->rows[i].samples;
	}
	put_remark(&csv, weight, samples, "(more)");
	if (edge)
		return;
	put_remark(&csv, report->left_out, rows->left_samples, "(left out)");
	put_remark(&csv, report->outside, 0, "(outside)");
	if (report->excess)
		put_excess(&csv, report->excess);
	else
		put_remark(&csv, report->unattributed, 0, "(unattributed)");
	put_remark(&csv, report->unknown, 0, "(unknown)");
	if (report->idle_waits)
		put_idle(&csv, report->idle_waits, rows->idle_samples,
		         "(idle waits)");
	if (report->idle)
		put_idle(&csv, report->idle, 0, "(idle)");
}
