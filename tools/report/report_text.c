/* SPDX-License-Identifier: MIT */
/* Prints the rows of a report as a text table. */
#include "config.h"

#include "base/text.h"
#include "tools/report/report.h"
#include "tools/terminal.h"
#include "tools/tools.h"
#include "tools/view/names.h"
#include "tools/view/short_names.h"
#include "tools/view/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct columns {
	unsigned keys;
	struct ppi_scale scale;
	uint64_t total;
	bool has_samples, has_total_share;
	bool has_chains; /* and room for totals */
	bool is_latency; /* then: */
	uint64_t cpu_total;
	int module_width, thread_width, line_width, address_width, label_width;
	int tag_width[PPI_TAGS];
	const char *label_head;
	size_t function_room;
	FILE *out;
};

/* ---- names ---- */

static const char *thread_head(unsigned keys)
{
	return keys & PPI_BY_THREAD    ? "thread"
	       : keys & PPI_BY_PROCESS ? "process"
	                               : "comm";
}

static const char *thread_word(const struct columns *columns,
                               const struct ppi_row *row, char *out,
                               size_t bytes)
{
	char room[PPI_SHOWN_BYTES];
	const char *name =
		row->thread[0] ? ppi_shown(row->thread, room) : "?";

	if (columns->keys & PPI_BY_THREAD)
		snprintf(out, bytes, "%.200s/%" PRIu32, name, row->tid);
	else if (columns->keys & PPI_BY_PROCESS)
		snprintf(out, bytes, "%.200s/%" PRIu32, name, row->pid);
	else
		snprintf(out, bytes, "%.200s", name);
	return out;
}

/* "file.c:12"; the folder is in JSON and CSV. */
static const char *line_word(const struct ppi_row *row, char *out, size_t bytes)
{
	const char *slash = strrchr(row->source_file, '/');
	const char *file = slash ? slash + 1 : row->source_file;
	char room[PPI_SHOWN_BYTES];

	file = ppi_shown(file, room);
	if (file[0] && row->line)
		snprintf(out, bytes, "%.200s:%" PRIu64, file, row->line);
	else
		snprintf(out, bytes, "-");
	return out;
}

static int wider(int width, const char *text)
{
	int length = (int)ppi_text_width(text);

	return length > width ? length : width;
}

/* A word that is cut to its column, but not within a character. `name` may be
 * shown, and `room` holds what is. */
static const char *cut(const char *name, size_t fits, char room[PPI_SHOWN_BYTES])
{
	size_t bytes;

	if (ppi_text_width(name) <= fits)
		return name;
	bytes = ppi_text_fit(name, fits < 4 ? fits : fits - 3);
	if (bytes > PPI_SHOWN_BYTES - 4)
		bytes = PPI_SHOWN_BYTES - 4;
	memmove(room, name, bytes);
	snprintf(room + bytes, 4, "%s", fits < 4 ? "" : "...");
	return room;
}

/* A column of names, cut and filled up: printf(3) counts bytes. */
static void print_column(const struct columns *columns, const char *name,
                         int width, char room[PPI_SHOWN_BYTES])
{
	size_t fits = width > 0 ? (size_t)width : 0, taken;

	name = cut(name, fits, room);
	taken = ppi_text_width(name);
	fprintf(columns->out, " %s%*s ", name,
	        taken < fits ? (int)(fits - taken) : 0, "");
}

static void print_function(const struct columns *columns, const char *name)
{
	char room[PPI_SHOWN_BYTES], fits[PPI_SHOWN_BYTES];

	fprintf(columns->out, " %s",
	        ppi_fit_name(ppi_shown(name, room), columns->function_room,
	                     fits));
}

static bool has_tag(const struct columns *columns, unsigned tag)
{
	return columns->keys & PPI_BY_STATE << tag;
}

/* What nothing is known of. */
static const char *tag_word(const struct ppi_row *row, unsigned tag,
                            char room[PPI_SHOWN_BYTES])
{
	const char *text = row ? row->tags[tag] : "";

	return row && !text[0] ? "-" : ppi_shown(text, room);
}

/* No row: only as wide as one. */
static void print_names(const struct columns *columns,
                        const struct ppi_row *row)
{
	char text[256], room[PPI_SHOWN_BYTES];

	if (columns->keys & PPI_BY_OWNER)
		print_column(columns,
		             row ? thread_word(columns, row, text,
		                               sizeof(text))
		                 : "",
		             columns->thread_width, room);
	if (columns->keys & PPI_BY_LABEL)
		print_column(columns, row ? ppi_shown(row->label, room) : "",
		             columns->label_width, room);
	for (unsigned i = 0; i < PPI_TAGS; i++)
		if (has_tag(columns, i))
			print_column(columns, tag_word(row, i, room),
			             columns->tag_width[i], room);
	if (columns->keys & PPI_BY_MODULE)
		print_column(columns, row ? ppi_shown(row->module, room) : "",
		             columns->module_width, room);
	if (columns->keys & PPI_BY_ADDRESS && row)
		fprintf(columns->out, " %#*" PRIx64 " ", columns->address_width,
		        row->address);
	else if (columns->keys & PPI_BY_ADDRESS)
		fprintf(columns->out, " %*s ", columns->address_width, "");
	if (columns->keys & PPI_BY_LINE)
		print_column(columns,
		             row ? line_word(row, text, sizeof(text)) : "",
		             columns->line_width, room);
	if (columns->keys & PPI_BY_FUNCTION && row)
		print_function(columns, row->function);
}

enum { NUMBER_WIDTH = 21, SHARE_WIDTH = 8, SAMPLES_WIDTH = 10,
       FUNCTION_LEAST = 24 };

/* What the columns before it leave, which have a space on both sides. */
static int function_room(const struct columns *columns)
{
	int left = ppi_table_width(columns->out);

	left -= NUMBER_WIDTH + 1;
	if (columns->has_samples)
		left -= SAMPLES_WIDTH;
	if (columns->has_chains)
		left -= columns->has_total_share ? NUMBER_WIDTH
		                                 : NUMBER_WIDTH - SHARE_WIDTH;
	if (columns->keys & PPI_BY_OWNER)
		left -= columns->thread_width + 2;
	if (columns->keys & PPI_BY_LABEL)
		left -= columns->label_width + 2;
	if (columns->is_latency)
		left -= SHARE_WIDTH;
	for (unsigned i = 0; i < PPI_TAGS; i++)
		if (has_tag(columns, i))
			left -= columns->tag_width[i] + 2;
	if (columns->keys & PPI_BY_MODULE)
		left -= columns->module_width + 2;
	if (columns->keys & PPI_BY_ADDRESS)
		left -= columns->address_width + 2;
	if (columns->keys & PPI_BY_LINE)
		left -= columns->line_width + 2;
	return left;
}

/* Cut a column, to `least` at most, until the functions have `wanted`. */
static void shrink(struct columns *columns, int *width, int least, int wanted)
{
	int missing = wanted - function_room(columns);

	if (missing <= 0 || *width <= least)
		return;
	*width = *width - missing > least ? *width - missing : least;
}

static void shrink_tags(struct columns *columns, int least, int wanted)
{
	for (unsigned i = 0; i < PPI_TAGS; i++)
		if (has_tag(columns, i))
			shrink(columns, &columns->tag_width[i], least, wanted);
}

/* Modules are cut first, then numbers of samples are left out, then shares of
 * totals, then threads are cut, then totals are left out, then modules, then functions
 * are cut; of many columns on a narrow screen all are, so that no row is broken. */
static void fit_names(struct columns *columns, int longest)
{
	enum { MODULE_LEAST = 12, LEAST = 4 };
	int wanted = longest < FUNCTION_LEAST ? longest : FUNCTION_LEAST;
	int room;

	if (!(columns->keys & PPI_BY_FUNCTION))
		longest = wanted = 0;
	shrink(columns, &columns->module_width, MODULE_LEAST, longest);
	if (columns->has_chains && function_room(columns) < wanted)
		columns->has_samples = false;
	columns->has_total_share = function_room(columns) >= wanted;
	shrink(columns, &columns->thread_width, MODULE_LEAST, wanted);
	shrink(columns, &columns->label_width, MODULE_LEAST, wanted);
	shrink_tags(columns, MODULE_LEAST, wanted);
	wanted = wanted < MODULE_LEAST ? wanted : MODULE_LEAST;
	if (function_room(columns) < wanted)
		columns->has_chains = false;
	shrink(columns, &columns->line_width, MODULE_LEAST, wanted);
	shrink(columns, &columns->module_width, LEAST, wanted);
	/* cut to less than its head it says nothing, and its room is a name's */
	if (columns->keys & PPI_BY_FUNCTION &&
	    columns->module_width < (int)strlen("module"))
		columns->keys &= ~(unsigned)PPI_BY_MODULE;
	shrink(columns, &columns->thread_width, LEAST, wanted);
	shrink(columns, &columns->label_width, LEAST, wanted);
	shrink_tags(columns, LEAST, wanted);
	shrink(columns, &columns->line_width, LEAST, wanted);
	room = function_room(columns);
	columns->function_room = room > 0 ? (size_t)room : 0;
}

static void fit_columns(struct columns *columns, const struct ppi_rows *rows,
                        size_t shown)
{
	char text[256], room[PPI_SHOWN_BYTES];
	int longest = (int)strlen("(unattributed)");

	columns->module_width = (int)strlen("module");
	columns->thread_width = (int)strlen("process");
	columns->line_width = (int)strlen("line");
	columns->address_width = (int)strlen("address");
	columns->label_head = rows->labels.name;
	columns->label_width = (int)strlen(columns->label_head);
	columns->has_total_share = true;
	for (int i = 0; i < PPI_TAGS; i++)
		columns->tag_width[i] =
			(int)strlen(ppi_tag_name((enum ppi_tag)i));
	for (size_t i = 0; i < shown; i++) {
		const struct ppi_row *row = &rows->rows[i];

		if (columns->keys & PPI_BY_FUNCTION)
			longest = wider(longest,
			                ppi_shown(row->function, room));
		if (columns->keys & PPI_BY_MODULE)
			columns->module_width =
				wider(columns->module_width,
			              ppi_shown(row->module, room));
		if (columns->keys & PPI_BY_OWNER)
			columns->thread_width = wider(
				columns->thread_width,
				thread_word(columns, row, text, sizeof(text)));
		if (columns->keys & PPI_BY_LABEL)
			columns->label_width =
				wider(columns->label_width,
			              ppi_shown(row->label, room));
		for (unsigned k = 0; k < PPI_TAGS; k++)
			if (has_tag(columns, k))
				columns->tag_width[k] =
					wider(columns->tag_width[k],
				              tag_word(row, k, room));
		if (columns->keys & PPI_BY_ADDRESS) {
			snprintf(text, sizeof(text), "%#" PRIx64, row->address);
			columns->address_width =
				wider(columns->address_width, text);
		}
		if (columns->keys & PPI_BY_LINE)
			columns->line_width =
				wider(columns->line_width,
			              line_word(row, text, sizeof(text)));
	}
	fit_names(columns, longest);
}

/* ---- numbers ---- */

/* As perf report has it: from 5 % on worth a look, below 0.5 % hardly. */
static const char *color_of(const struct columns *columns, double share)
{
	return share >= 5     ? ppi_color(columns->out, PPI_RED)
	       : share >= 0.5 ? ppi_color(columns->out, PPI_GREEN)
	                      : "";
}

/* A number, and its share; "-" where there is none. */
static void print_number(const struct columns *columns, uint64_t weight,
                         bool is_there, bool has_share)
{
	double share = ppi_percent(weight, columns->total);
	const char *color = color_of(columns, share);
	char text[64];

	fprintf(columns->out, " %11s ",
	        is_there ? ppi_say_weight(columns->scale, weight, text,
	                                  sizeof(text))
	                 : "-");
	if (has_share && is_there)
		fprintf(columns->out, "%s%6.1f%%%s ", color, share,
		        color[0] ? ppi_color(columns->out, PPI_PLAIN) : "");
	else if (has_share)
		fprintf(columns->out, "%7s ", "-");
}

/* What it takes of CPU time, beside its part of latency. */
static void print_cpu(const struct columns *columns, uint64_t weight)
{
	if (columns->is_latency)
		fprintf(columns->out, "%6.1f%% ",
		        ppi_percent(weight, columns->cpu_total));
}

static void print_row(const struct columns *columns, const struct ppi_row *row)
{
	print_number(columns, row->self_weight, true, true);
	print_cpu(columns, row->cpu_weight);
	if (columns->has_chains)
		print_number(columns, row->total_weight, true,
		             columns->has_total_share);
	if (columns->has_samples)
		fprintf(columns->out, " %8" PRIu64 " ", row->samples);
	print_names(columns, row);
	fputc('\n', columns->out);
}

/* What follows the first number of a line that is not of any code. */
static void print_words(const struct columns *columns, uint64_t samples,
                        const char *words)
{
	char room[PPI_SHOWN_BYTES];

	if (columns->is_latency)
		fprintf(columns->out, "%7s ", "-");
	if (columns->has_chains)
		print_number(columns, 0, false, columns->has_total_share);
	if (columns->has_samples && samples)
		fprintf(columns->out, " %8" PRIu64 " ", samples);
	else if (columns->has_samples)
		fprintf(columns->out, " %8s ", "-");
	if (!(columns->keys & PPI_BY_FUNCTION)) {
		fprintf(columns->out, " %s\n", words);
		return;
	}
	print_names(columns, NULL);
	fprintf(columns->out, " %s\n",
	        cut(words, columns->function_room, room));
}

/* Such a line, so that the shares make 100 %. */
static void print_remark(const struct columns *columns, uint64_t weight,
                         uint64_t samples, const char *words)
{
	print_number(columns, weight, true, true);
	print_words(columns, samples, words);
}

/* What estimates have too much; then nothing is missing. */
static void print_excess(const struct columns *columns, uint64_t weight)
{
	char text[64], number[66], share[32], percent[34];

	ppi_say_weight(columns->scale, weight, text, sizeof(text));
	snprintf(number, sizeof(number), "%s%s", ppi_minus(text), text);
	snprintf(share, sizeof(share), "%.1f",
	         ppi_percent(weight, columns->total));
	snprintf(percent, sizeof(percent), "%s%s", ppi_minus(share), share);
	fprintf(columns->out, " %11s %6s%% ", number, percent);
	print_words(columns, 0, "(unattributed)");
}

/* "(unattributed)" is weight; within an estimate's error it is none. */
static void print_unattributed(const struct columns *columns,
                               const struct ppi_report *report)
{
	char text[64], words[96];

	if (ppi_report_noise(report)) {
		snprintf(words, sizeof(words), "(unattributed, ± %s)",
		         ppi_say_weight(columns->scale,
		                        report->what->stats.standard_error,
		                        text, sizeof(text)));
		print_remark(columns, 0, 0, words);
	} else if (report->excess) {
		print_excess(columns, report->excess);
	} else {
		print_remark(columns, report->unattributed, 0,
		             "(unattributed)");
	}
}

/* In no total, so of no share of it. */
static void print_idle(const struct columns *columns, uint64_t ns,
                       uint64_t samples, const char *words)
{
	char text[64];

	fprintf(columns->out, " %11s %7s ",
	        ppi_say_weight(ppi_scale_of(PORTPROF_UNIT_NANOSECONDS, ns), ns,
	                       text, sizeof(text)), "-");
	print_words(columns, samples, words);
}

static void print_heads(const struct columns *columns, const char *first)
{
	char room[PPI_SHOWN_BYTES];

	fprintf(columns->out, "%s %11s %7s ", ppi_color(columns->out, PPI_BOLD),
	        columns->is_latency ? "latency" : first, "share");
	if (columns->is_latency)
		fprintf(columns->out, "%7s ", "CPU");
	if (columns->has_chains)
		fprintf(columns->out, " %11s ", "total");
	if (columns->has_chains && columns->has_total_share)
		fprintf(columns->out, "%7s ", "share");
	if (columns->has_samples)
		fprintf(columns->out, " %8s ", "samples");
	if (columns->keys & PPI_BY_OWNER)
		fprintf(columns->out, " %-*s ", columns->thread_width,
		        cut(thread_head(columns->keys),
		            (size_t)columns->thread_width, room));
	if (columns->keys & PPI_BY_LABEL)
		print_column(columns, ppi_shown(columns->label_head, room),
		             columns->label_width, room);
	for (unsigned i = 0; i < PPI_TAGS; i++)
		if (has_tag(columns, i))
			print_column(columns, ppi_tag_name((enum ppi_tag)i),
			             columns->tag_width[i], room);
	if (columns->keys & PPI_BY_MODULE)
		fprintf(columns->out, " %-*s ", columns->module_width,
		        cut("module", (size_t)columns->module_width, room));
	if (columns->keys & PPI_BY_ADDRESS)
		fprintf(columns->out, " %*s ", columns->address_width,
		        "address");
	if (columns->keys & PPI_BY_LINE)
		fprintf(columns->out, " %-*s ", columns->line_width, "line");
	if (columns->keys & PPI_BY_FUNCTION)
		fprintf(columns->out, " %s",
		        cut("function", columns->function_room, room));
	fprintf(columns->out, "%s\n", ppi_color(columns->out, PPI_PLAIN));
}

/* ---- all of it ---- */

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

static size_t count_shown(const struct ppi_report *report,
                          const struct ppi_rows *rows)
{
	return report->row_limit && rows->count > report->row_limit
	               ? report->row_limit
	               : rows->count;
}

static struct columns columns_of(const struct ppi_report *report, unsigned keys,
                                 FILE *out)
{
	return (struct columns){
		.keys = keys,
		.scale = ppi_scale_of(report->what->unit, report->total),
		.total = report->shown,
		.has_samples = true,
		.is_latency = report->subject && report->subject->is_latency,
		.out = out,
	};
}

void ppi_report_print_rows(const struct ppi_report *report,
                           const struct ppi_rows *rows, FILE *out)
{
	struct columns columns = columns_of(report, report->keys, out);
	size_t shown = count_shown(report, rows);

	columns.has_chains = rows->has_chains;
	columns.cpu_total = rows->cpu_weight;
	fit_columns(&columns, rows, shown);
	print_heads(&columns, "self");
	for (size_t i = 0; i < shown; i++)
		print_row(&columns, &rows->rows[i]);
	print_rest(&columns, rows, shown);
	/* what filters leave has no such parts: the head has both totals */
	if (report->outside && !report->is_filtered)
		print_remark(&columns, report->outside, 0, "(outside)");
	if (!report->is_filtered)
		print_unattributed(&columns, report);
	if (report->unknown && !report->is_filtered)
		print_remark(&columns, report->unknown, 0, "(unknown)");
	if (report->idle_waits)
		print_idle(&columns, report->idle_waits, rows->idle_samples,
		           report->subject && report->subject->has_servers
		                   ? "(idle waits; --idle -s on shows their servers)"
		                   : "(idle waits; --idle shows them)");
	if (report->idle && !report->is_filtered)
		print_idle(&columns, report->idle, 0, "(idle)");
}

const char *ppi_report_of_what(const struct ppi_report *report)
{
	return report->is_filtered ? "what is shown" : "the total";
}

void ppi_report_print_edges(const struct ppi_report *report, enum ppi_edge edge,
                            const struct ppi_report_edges *edges, FILE *out)
{
	const struct ppi_rows *rows = &edges->rows;
	struct columns columns = columns_of(report, report->keys, out);
	size_t shown = count_shown(report, rows);
	char text[64], room[PPI_SHOWN_BYTES];
	const char *function = ppi_shown(edges->function, room);

	columns.cpu_total = rows->cpu_weight;
	fit_columns(&columns, rows, shown);
	fprintf(out, "%s %s, %s (%.1f %% of %s):\n",
	        edge == PPI_CALLERS ? "Callers of" : "Called by",
	        function,
	        ppi_say_weight(columns.scale, rows->weight, text, sizeof(text)),
	        ppi_percent(rows->weight, report->shown),
	        ppi_report_of_what(report));
	print_heads(&columns, "weight");
	columns.total = rows->weight;
	for (size_t i = 0; i < shown; i++)
		print_row(&columns, &rows->rows[i]);
	print_rest(&columns, rows, shown);
	if (rows->skipping_weight && edge == PPI_CALLERS)
		fprintf(out,
		        "\nFor %.1f %% the direct caller is missing, and its "
		        "caller is shown instead:\n%s keeps no frame pointer "
		        "there.\n",
		        ppi_percent(rows->skipping_weight, rows->weight),
		        function);
	else if (rows->skipping_weight)
		fprintf(out,
		        "\nFor %.1f %% a function between %s and these is "
		        "missing: they keep no frame\npointer there.\n",
		        ppi_percent(rows->skipping_weight, rows->weight),
		        function);
}
