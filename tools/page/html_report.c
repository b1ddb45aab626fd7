/* SPDX-License-Identifier: MIT */
/* portprof report --html: the events of a profile as a page. */
#include "config.h"

#include "tools/page/html_report.h"

#include "tools/annotate/annotate.h"
#include "tools/terminal.h"
#include "tools/page/page.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *ppi_html_account(const struct ppi_report *report)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	ppi_report_print_header(report, out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

bool ppi_html_sum(struct ppi_page_series *series)
{
	struct ppi_rows rows;

	if (!ppi_rows_fold(&series->view, PPI_BY_MODULE, &rows))
		return false;
	ppi_report_sum(&series->report, rows.weight + rows.left_weight);
	series->report.left_out = rows.left_weight;
	ppi_rows_free(&rows);
	if (!ppi_chains_sum(&series->view, &series->report.chains))
		return false;
	series->account = ppi_html_account(&series->report);
	return series->account != NULL;
}

void ppi_html_free(struct ppi_page *page)
{
	for (size_t i = 0; i < page->series_count; i++) {
		ppi_chains_free(&page->series[i].report.chains);
		free(page->series[i].account);
	}
	ppi_page_tree_free(&page->tree);
}

static const char *title_of(const struct ppi_report *report)
{
	const char *command =
		portprof_profile_origin_get(report->profile)->command;

	return command[0] ? command : report->path;
}

static bool has_host(const portprof_profile_origin *origin)
{
	for (size_t i = 0; i < origin->fact_count; i++)
		if (strncmp(origin->facts[i], "host: ", 6) == 0)
			return true;
	return false;
}

/* What somebody may not want to send. */
static void say_contents(const struct ppi_page *page,
                         const struct ppi_report *report,
                         const struct ppi_hidden *hidden)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(report->profile);

	ppi_say("the page has names of functions, threads and %s%s%s%s%s",
	        hidden->paths ? "files" : "files, paths",
	        hidden->source ? "" : ", line numbers",
	        page->code ? ", source text" : "",
	        origin->command[0] ? ", the command line" : "",
	        has_host(origin) ? ", the host's name" : "");
}

bool ppi_html_report(const struct ppi_report *report,
                     const struct ppi_view *view, size_t first, size_t count,
                     const char *path, const struct ppi_hidden *hidden,
                     bool is_verbose)
{
	struct ppi_page page = { .title = title_of(report) };
	bool is_good, is_written = false;

	ppi_color_choose("never");
	page.series = calloc(count + 1, sizeof(*page.series));
	is_good = page.series != NULL;
	for (size_t i = 0; is_good && i < count; i++) {
		struct ppi_page_series *series = &page.series[i];

		page.series_count++;
		*series = (struct ppi_page_series){ .label = "",
			                            .report = *report,
			                            .view = *view };
		series->report.event = series->view.event = first + i;
		is_good = ppi_html_sum(series);
	}
	/* without folders no source file is found */
	if (is_good && count && !hidden->source && !hidden->paths)
		page.code = ppi_code_json(&page.series[0].view);
	if (is_verbose)
		say_contents(&page, report, hidden);
	if (is_good && ppi_page_grow(&page))
		is_written = ppi_page_write(&page, path);
	else
		ppi_say("out of memory");
	ppi_html_free(&page);
	free(page.code);
	free(page.series);
	return is_written;
}
