/* SPDX-License-Identifier: MIT */
/* What a text report says below its rows: what would name their code, where a clock's
 * samples waited, and how to see the time that no row has. */
#include "config.h"

#include "base/text.h"
#include "tools/report/report.h"
#include "tools/terminal.h"
#include "tools/tools.h"
#include "tools/view/names.h"
#include "tools/view/remedy.h"
#include "tools/view/view.h"

#include <stdio.h>

/* ---- names that are missing, and samples that are late ---- */

/* Only for code that makes up a part worth the trouble. */
static void print_lacking(const struct ppi_report *report,
                          const struct ppi_nameless_list *list,
                          const char *lacks, bool of_lines, FILE *out)
{
	const char *before = "\n";
	bool is_command;
	char words[PPI_SHOWN_BYTES], module[PPI_SHOWN_BYTES / 2], remedy[640];

	for (size_t i = 0; i < list->count; i++) {
		double share =
			ppi_percent(list->modules[i].weight, report->shown);

		if (share < 5)
			break;
		/* the kernel has another remedy, and a note tells it */
		if (list->modules[i].module[0] == '[')
			continue;
		fputs(before, out);
		before = "";
		snprintf(module, sizeof(module), "%s", list->modules[i].module);
		is_command = ppi_names_remedy(report->profile, report->path,
		                              module, of_lines, remedy,
		                              sizeof(remedy));
		snprintf(words, sizeof(words), "%s has no %s for %.1f %% of "
		         "%s%s%.400s.", module, lacks, share,
		         ppi_report_of_what(report), is_command ? "" : ": ",
		         is_command ? "" : remedy);
		ppi_put_wrapped_to(out, words, 0, ppi_line_width(out));
		/* a line of its own, so that it can be copied */
		if (is_command) {
			fputs("  ", out);
			ppi_put_text(remedy, out);
			fputc('\n', out);
		}
	}
}

/* What would name code that was made while running. */
static void print_made(const struct ppi_report *report,
                       const struct ppi_nameless_list *made, FILE *out)
{
	char words[PPI_SHOWN_BYTES];

	for (size_t i = 0; i < made->count; i++) {
		double share =
			ppi_percent(made->modules[i].weight, report->shown);

		if (share < 0.1)
			break;
		snprintf(words, sizeof(words), "Code made while running has no "
		         "names for %.1f %% of %s: %s.", share,
		         ppi_report_of_what(report),
		         made->modules[i].module);
		fputs(i ? "" : "\n", out);
		ppi_put_wrapped_to(out, words, 0, ppi_line_width(out));
	}
}

/* What would name functions of Python. */
static void print_python(const struct ppi_report *report,
                         const struct ppi_rows *rows, FILE *out)
{
	double share = ppi_percent(ppi_unnamed_python(rows), report->shown);
	char words[200];

	if (share < 5)
		return;
	snprintf(words, sizeof(words), "Python's own functions have no names in "
	         "%.1f %% of %s: start python (3.12 or later) with -X perf.",
	         share, ppi_report_of_what(report));
	fputs("\n", out);
	ppi_put_wrapped_to(out, words, 0, ppi_line_width(out));
}

/* Where a clock's interrupts waited, and so what is charged for others. */
static void print_skid(const struct ppi_report *report,
                       const struct ppi_rows *rows, FILE *out)
{
	const struct ppi_row *most = NULL;
	char words[PPI_SHOWN_BYTES], room[PPI_SHOWN_BYTES];
	uint64_t weight = 0;
	double share;

	if (report->what->unit != PORTPROF_UNIT_NANOSECONDS)
		return;
	for (size_t i = 0; i < rows->count; i++) {
		const struct ppi_row *row = &rows->rows[i];

		if (!row->self_weight || row->module[0] != '[' ||
		    !ppi_lets_interrupts_in(row->function))
			continue;
		weight += row->self_weight;
		if (!most || row->self_weight > most->self_weight)
			most = row;
	}
	share = ppi_percent(weight, report->shown);
	if (!most || share < 5)
		return;
	snprintf(words, sizeof(words),
	         "%.1f %% is at %.200s and similar functions, where the kernel "
	         "enables interrupts again. This clock's samples wait for that "
	         "(skid): the time was spent before, with interrupts off.%s",
	         share, ppi_shown(most->function, room),
	         ppi_has_hardware_counters() ? " A hardware event (-e cycles) "
	                                       "shows where."
	                                     : "");
	fputc('\n', out);
	ppi_put_wrapped_to(out, words, 0, ppi_line_width(out));
}

void ppi_report_print_hints(const struct ppi_report *report,
                            const struct ppi_rows *rows, FILE *out)
{
	if (report->keys & PPI_BY_FUNCTION && report->keys & PPI_BY_MODULE)
		print_skid(report, rows, out);
	if (report->keys & PPI_BY_FUNCTION) {
		print_lacking(report, &rows->nameless, "symbols", false, out);
		print_made(report, &rows->made, out);
		print_python(report, rows, out);
	}
	print_lacking(report, &rows->lineless, "lines", true, out);
}

/* ---- time that the rows do not have ---- */

static const char *say_time(uint64_t ns, char *out, size_t bytes)
{
	return ppi_say_weight(ppi_scale_of(PORTPROF_UNIT_NANOSECONDS, ns), ns,
	                      out, bytes);
}

/* Of a file whose waits were measured, or by what the system charged. False: it
 * ran for most of its life, or that is unknown. */
static bool has_rest(const struct ppi_report *report, uint64_t *ran,
                     uint64_t *lived)
{
	const portprof_life *life = &report->life.sums;
	const portprof_stats *stats = &report->what->stats;

	*ran = life->running_ns;
	*lived = life->lifetime_ns;
	if (!life->threads && report->what->has_stats && !stats->idle_time_ns) {
		*ran = stats->cpu_time_ns;
		*lived = portprof_profile_origin_get(report->profile)
		                 ->duration_ns;
	}
	return (life->threads || *ran) && *ran < *lived / 2;
}

void ppi_report_print_rest(const struct ppi_report *report, FILE *out)
{
	size_t events[PPI_STATES];
	bool has_waits = ppi_wall_find(report->profile, events);
	char words[200], time[64], whole[64];
	uint64_t ran, lived;

	if (report->what->unit != PORTPROF_UNIT_NANOSECONDS ||
	    (has_waits && (!report->subject ||
	                   report->subject->states != 1u << PPI_RUNNING)) ||
	    !has_rest(report, &ran, &lived))
		return;
	snprintf(words, sizeof(words), "It ran for %s of %s; %s shows where it "
	         "waited for the rest.", say_time(ran, time, sizeof(time)),
	         say_time(lived, whole, sizeof(whole)),
	         has_waits ? "report --state blocked" : "record --wall");
	fputc('\n', out);
	ppi_put_wrapped_to(out, words, 0, ppi_line_width(out));
}
