/* SPDX-License-Identifier: MIT */
/* What changed, as text and as fields for spreadsheets. */
#include "config.h"

#include "base/text.h"
#include "tools/diff/diff.h"
#include "tools/diff/match.h"
#include "tools/terminal.h"
#include "tools/tools.h"
#include "tools/view/short_names.h"
#include "tools/view/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *say(struct ppi_scale scale, double weight, bool has_sign,
                       char out[64])
{
	char text[48];

	ppi_say_weight(scale, (uint64_t)(fabs(weight) + 0.5), text,
	               sizeof(text));
	snprintf(out, 64, "%s%s", !has_sign ? "" : weight < 0 ? "-" : "+",
	         text);
	return out;
}

static const char *verdict(const struct ppi_change *change, char out[32])
{
	if (change->is_noise)
		snprintf(out, 32, "noise");
	else if (change->before <= 0)
		snprintf(out, 32, "new");
	else if (change->after <= 0)
		snprintf(out, 32, "gone");
	else
		snprintf(out, 32, "%+.1f %%",
		         100 * (change->after - change->before) /
		                 change->before);
	return out;
}

static void print_side(const char *which, const struct ppi_changes_side *side,
                       struct ppi_scale scale, FILE *out)
{
	const struct ppi_report *report = &side->series->report;
	const char *command =
		portprof_profile_origin_get(report->profile)->command;
	char total[64], *words = NULL;
	size_t bytes;
	FILE *line = open_memstream(&words, &bytes);

	say(scale, (double)report->total, false, total);
	if (line) {
		fprintf(line, "%s: %s%s%s%s", report->path, total,
		        side->runs->count > 1 ? " a run" : "",
		        command[0] ? ", " : "", command);
		if (fclose(line) != 0)
			words = NULL;
	}
	fprintf(out, "  %-7s ", which);
	ppi_put_wrapped_to(out, words ? words : total, 10, ppi_line_width(out));
	free(words);
}

/* What no sample stands for is in no row, and a row has changed where there is
 * more of it on one side. */
static void print_missing(const char *which,
                          const struct ppi_page_series *side, FILE *out)
{
	enum { LEAST_PERCENT = 2 };
	double share = ppi_percent(side->report.unattributed,
	                           side->report.total);
	char words[200];

	if (share < LEAST_PERCENT)
		return;
	snprintf(words, sizeof(words), "%.1f %% of %s has no sample, so its "
	         "rows are too small by that much", share, which);
	fprintf(out, "  %-7s ", "");
	ppi_put_wrapped_to(out, words, 10, ppi_line_width(out));
}

static void print_line(FILE *out, const char *name, const char *words)
{
	fprintf(out, "  %-7s ", name);
	ppi_put_wrapped_to(out, words, 10, ppi_line_width(out));
}

static void print_total(const struct ppi_changes *changes,
                        struct ppi_scale scale, FILE *out)
{
	const struct ppi_change *total = &changes->total;
	double size = total->after - total->before;
	char change[64], words[200];

	if (changes->scale < 1 || changes->scale > 1) {
		snprintf(words, sizeof(words), "before was scaled by %.4g to "
		         "the total of after", changes->scale);
		print_line(out, "total", words);
		return;
	}
	fprintf(out, "  %-7s %s%s (%+.1f %%)%s%s\n", "total",
	        total->is_noise ? "" : ppi_color(out, size > 0 ? PPI_RED
	                                                       : PPI_GREEN),
	        say(scale, size, true, change),
	        total->before > 0 ? 100 * size / total->before : 0,
	        total->is_noise ? "" : ppi_color(out, PPI_PLAIN),
	        total->is_noise ? ", within noise" : "");
}

/* What became of the threads' time, where it was measured. */
static void print_lives(const struct ppi_page_series *sides[2], FILE *out)
{
	const char *name = "life";

	for (int side = 0; side < 2; side++) {
		const struct ppi_life *life = &sides[side]->report.life;
		char *words = NULL;
		size_t bytes;
		FILE *line;

		if (!life->sums.threads)
			continue;
		line = open_memstream(&words, &bytes);
		if (line) {
			fprintf(line, "%s: ", side ? "after" : "before");
			ppi_life_print(life, line);
			if (fclose(line) == 0)
				print_line(out, name, words);
			name = "";
		}
		free(words);
	}
}

/* Modules that differ in name, and what is on one side alone. */
static void print_match(const struct ppi_page_series *sides[2],
                        const struct ppi_match *match, FILE *out)
{
	enum { PAIRS_SHOWN = 3, LEAST_PERCENT = 2 };
	static const char *const names[] = { "before", "after" };
	const char *before, *after, *why, *alone;
	char words[600];
	uint64_t weight;

	for (size_t i = 0; i < PAIRS_SHOWN &&
	                   ppi_match_pair(match, i, &before, &after, &why);
	     i++) {
		snprintf(words, sizeof(words), "%.200s and %.200s are taken "
		         "for one (%s)", before, after, why);
		print_line(out, i ? "" : "matched", words);
	}
	for (int side = 0; side < 2; side++) {
		alone = ppi_match_alone(match, side, &weight);
		if (!alone || ppi_percent(weight, sides[side]->report.total) <
				      LEAST_PERCENT)
			continue;
		snprintf(words, sizeof(words), "%.1f %% of %s is in modules "
		         "that %s does not have, as %.200s; --match A=B pairs "
		         "modules",
		         ppi_percent(weight, sides[side]->report.total),
		         names[side], names[!side], alone);
		print_line(out, "alone", words);
	}
}

/* How much equal runs differ, beyond what sampling explains. */
static void print_runs(const struct ppi_changes *changes, FILE *out)
{
	char words[200];

	if (changes->runs[0] + changes->runs[1] < 3)
		return;
	snprintf(words, sizeof(words), "%zu before, %zu after: rows are means "
	         "of them; runs of one side differ by %.1f %% beyond sampling",
	         changes->runs[0], changes->runs[1],
	         100 * sqrt(changes->spread));
	print_line(out, "runs", words);
}

static void print_rows(const struct ppi_changes *changes, FILE *out)
{
	char words[200], left_out[64] = "";

	if (changes->left_out)
		snprintf(left_out, sizeof(left_out),
		         "; %zu of them left out as asked", changes->left_out);
	snprintf(words, sizeof(words), "%zu of %zu rows changed by more than "
	         "chance explains (95 %%)%s",
	         changes->beyond + changes->left_out, changes->tested,
	         left_out);
	print_line(out, "rows", words);
}

static void print_header(const struct ppi_changes_side sides[2],
                         const struct ppi_changes *changes,
                         const struct ppi_diff_form *form,
                         struct ppi_scale scale, FILE *out)
{
	const struct ppi_page_series *series[] = { sides[0].series,
		                                   sides[1].series };

	print_total(changes, scale, out);
	print_side("before", &sides[0], scale, out);
	print_side("after", &sides[1], scale, out);
	print_runs(changes, out);
	print_lives(series, out);
	print_match(series, form->match, out);
	print_missing("before", series[0], out);
	print_missing("after", series[1], out);
	print_rows(changes, out);
	fputc('\n', out);
}

/* As much of a name as that takes, or all; what it took. */
static size_t print_cut(const char *text, size_t columns, FILE *out)
{
	char room[PPI_SHOWN_BYTES], fits[PPI_SHOWN_BYTES];
	const char *shown = ppi_fit_name(ppi_shown(text, room), columns, fits);

	fputs(shown, out);
	return ppi_text_width(shown);
}

enum { NUMBERS_WIDTH = 55, PART_LEAST = 10 };

/* The function goes last and gets the room that is left; a module's name is cut
 * before it. */
static void print_name(const struct ppi_row *row, FILE *out)
{
	const char *parts[] = { row->label, row->tags[PPI_TAG_STATE],
		                row->tags[PPI_TAG_WAIT],
		                row->tags[PPI_TAG_ON],
		                row->tags[PPI_TAG_HOLDER],
		                row->module, row->thread, row->source_file,
		                row->function };
	size_t count = 0, left = (size_t)ppi_table_width(out);
	char line[32];

	left = left > NUMBERS_WIDTH + PART_LEAST ? left - NUMBERS_WIDTH
	                                         : PART_LEAST;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		count += parts[i] && parts[i][0];
	for (size_t i = 0; count && i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t part = left, behind = parts[i] == row->source_file
		                             ? (size_t)snprintf(
						       line, sizeof(line),
						       ":%" PRIu64, row->line)
		                             : 0;

		if (!parts[i] || !parts[i][0])
			continue;
		if (--count)
			part = left / (count + 1) > PART_LEAST + 2 + behind
			               ? left / (count + 1) - 2 - behind
			               : PART_LEAST;
		part = print_cut(parts[i], part, out);
		if (behind)
			fputs(line, out);
		part += behind + 2;
		left = left > part + PART_LEAST ? left - part : PART_LEAST;
		fputs(count ? "  " : "", out);
	}
	fputc('\n', out);
}

static void print_change(const struct ppi_change *change,
                         struct ppi_scale scale, FILE *out)
{
	char before[64], after[64], moved[64], error[64], words[32];
	double size = change->after - change->before;
	const char *color = change->is_noise ? ""
	                                     : ppi_color(out, size > 0
	                                                              ? PPI_RED
	                                                              : PPI_GREEN);

	fprintf(out, "%10s %10s %s%11s%s %9s %9s  ",
	        say(scale, change->before, false, before),
	        say(scale, change->after, false, after), color,
	        say(scale, size, true, moved),
	        change->is_noise ? "" : ppi_color(out, PPI_PLAIN),
	        say(scale, change->error, false, error),
	        verdict(change, words));
	print_name(change->row, out);
}

void ppi_diff_print(const struct ppi_changes_side sides[2],
                    const struct ppi_changes *changes,
                    const struct ppi_diff_form *form, FILE *out)
{
	const struct ppi_report *before = &sides[0].series->report;
	const struct ppi_report *after = &sides[1].series->report;
	struct ppi_scale scale =
		ppi_scale_of(after->what->unit, before->total > after->total
	                                                ? before->total
	                                                : after->total);
	size_t count = form->shows_all ? changes->count : changes->beyond;
	size_t shown = form->row_limit && form->row_limit < count
	                       ? form->row_limit
	                       : count;

	if (!form->is_quiet)
		print_header(sides, changes, form, scale, out);
	if (shown)
		fprintf(out, "%10s %10s %11s %9s %9s  %s\n", "before", "after",
		        "change", "error", "", "");
	for (size_t i = 0; i < shown; i++)
		print_change(&changes->changes[i], scale, out);
	if (shown < count)
		fprintf(out, "  (%zu more; -n 0 shows all)\n", count - shown);
	if (!form->shows_all && changes->count > changes->beyond)
		fprintf(out, "  (%zu within noise; --all shows them)\n",
		        changes->count - changes->beyond);
}

void ppi_diff_print_csv(const struct ppi_changes *changes, unsigned keys,
                        const char *separator, FILE *out)
{
	static const char *const names[] = { "before", "after", "change",
		                             "error", "verdict", "module",
		                             "thread", "file", "line",
		                             "function" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fprintf(out, "%s%s", i ? separator : "", names[i]);
	if (keys & PPI_BY_LABEL)
		fprintf(out, "%slabel", separator);
	for (unsigned k = 0; k < PPI_TAGS; k++)
		if (keys & PPI_BY_STATE << k)
			fprintf(out, "%s%s", separator,
			        ppi_tag_name((enum ppi_tag)k));
	fputc('\n', out);
	for (size_t i = 0; i < changes->count; i++) {
		const struct ppi_change *one = &changes->changes[i];
		const struct ppi_row *row = one->row;
		const char *texts[] = { row->module, row->thread,
			                row->source_file };

		fprintf(out, "%.0f%s%.0f%s%.0f%s%.0f%s%s%s", one->before,
		        separator, one->after, separator,
		        one->after - one->before, separator, one->error,
		        separator,
		        ppi_change_verdict(one), separator);
		for (size_t k = 0; k < 3; k++) {
			ppi_put_field(texts[k] ? texts[k] : "", separator, out);
			fputs(separator, out);
		}
		fprintf(out, "%" PRIu64 "%s", row->line, separator);
		ppi_put_field(row->function ? row->function : "", separator,
		              out);
		if (keys & PPI_BY_LABEL) {
			fputs(separator, out);
			ppi_put_field(row->label ? row->label : "", separator,
			              out);
		}
		for (unsigned k = 0; k < PPI_TAGS; k++)
			if (keys & PPI_BY_STATE << k) {
				fputs(separator, out);
				ppi_put_field(row->tags[k], separator, out);
			}
		fputc('\n', out);
	}
}
