/* SPDX-License-Identifier: MIT */
/* portprof diff: what changed between two profiles, beyond chance. */
#include "config.h"

#include "tools/diff/changes.h"
#include "tools/html/html_report.h"
#include "tools/input.h"
#include "tools/memory.h"
#include "tools/names/names_time.h"
#include "tools/options.h"
#include "tools/report/report_named.h"
#include "tools/tools.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	const char *before, *after;
	const char *event, *page, *separator;
	struct ppi_named_sources sources;
	struct ppi_diff_form form;
	bool is_normalized;
	uint64_t memory_max;
};

#define AT(member) offsetof(struct options, member)

/* Numbers of threads, processes and addresses differ from run to run. */
static int take_sort(const struct ppi_given *given, void *keys)
{
	const char *label, *unknown;
	unsigned found = ppi_rows_keys(given->value, &label, &unknown);

	if (!found || label)
		return ppi_given_refuse(
			given, "made of function, module, line, comm");
	if (found & (PPI_BY_ADDRESS | PPI_BY_THREAD | PPI_BY_PROCESS))
		return ppi_given_refuse(given,
		                        "the same in two runs; comm is the "
		                        "name of a thread");
	*(unsigned *)keys = found;
	return PPI_EXIT_OK;
}

static const struct ppi_option table[] = {
	{ 's', "sort", "KEYS",
	  "group by function, module, line or comm, or by several "
	  "(function)",
	  .take = take_sort, .place = AT(form.keys) },
	PPI_ROWS_OPTION(AT(form.row_limit)),
	{ 'a', "all", NULL, "also print what changed no more than by chance",
	  .take = ppi_take_flag, .place = AT(form.shows_all) },
	{ 0, "normalize", NULL, "scale BEFORE to the total of AFTER",
	  .take = ppi_take_flag, .place = AT(is_normalized) },
	{ 'e', "event", "NAME", "compare this event (the first)",
	  .take = ppi_take_text, .place = AT(event) },
	{ 0, "html", "FILE", "write a page for a browser",
	  .take = ppi_take_text, .place = AT(page) },
	PPI_SEPARATOR_OPTION(AT(separator), "print fields for spreadsheets"),
	{ 'q', "quiet", NULL, "print only the rows",
	  .take = ppi_take_flag, .place = AT(form.is_quiet) },
	PPI_DEBUG_DIR_OPTION(AT(sources.debug_folder)),
	PPI_DEBUGINFOD_OPTION,
	PPI_ROOT_OPTION(AT(sources.root)),
	PPI_COLOR_OPTION,
	PPI_MEMORY_OPTION(AT(memory_max)),
};

static const size_t places[] = { AT(before), AT(after) };

static const struct ppi_line line = {
	.verb = "diff",
	.usage = "[OPTION...] BEFORE AFTER",
	.notes = "Each row is the weight of a function's own code. A row is "
	         "beyond noise if chance moves no row as far in 95 of 100 "
	         "pairs of equal runs.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.places = places,
	.place_count = 2,
	.one_word_more = "two profiles are compared",
	.wrong = PPI_EXIT_USAGE,
};

/* ---- two profiles ---- */

struct side {
	portprof_profile *profile;
	struct ppi_named named;
};

static bool open_side(struct side *side, const struct options *options,
                      int which, const char *event,
                      struct ppi_page_series *series)
{
	static const char *const labels[] = { "Before", "After" };
	const char *path = which ? options->after : options->before;
	size_t number;

	side->profile = ppi_profile_open(path, NULL, options->memory_max);
	if (!side->profile)
		return false;
	ppi_names_by_time(side->profile, options->sources.root, NULL);
	number = ppi_event_choose(side->profile, path, event);
	if (number == SIZE_MAX)
		return false;
	if (!ppi_named_find(&side->named, side->profile,
	                    options->form.keys & PPI_BY_LINE, false,
	                    &options->sources)) {
		ppi_say("out of memory");
		return false;
	}
	*series = (struct ppi_page_series){
		.label = labels[which],
		.report = { .path = path,
		            .profile = side->profile,
		            .symbols = side->named.symbols,
		            .names = side->named.names,
		            .event = number },
		.view = { .profile = side->profile,
		          .names = side->named.names,
		          .event = number },
	};
	if (ppi_html_sum(series))
		return true;
	ppi_say("out of memory");
	return false;
}

static bool print(const struct options *options, struct ppi_page *page)
{
	struct ppi_page_series *series = page->series;
	struct ppi_changes changes;
	unsigned keys = options->page ? PPI_BY_FUNCTION | PPI_BY_MODULE
	                              : options->form.keys;
	bool is_good = ppi_changes_find(&series[0], &series[1], keys,
	                                options->is_normalized, &changes);

	page->tested_count = changes.count;
	if (is_good && options->page)
		is_good = ppi_page_grow(page);
	if (!is_good)
		ppi_say("out of memory");
	else if (options->page)
		is_good = ppi_page_write(page, options->page);
	else if (options->separator)
		ppi_diff_print_csv(&changes, keys, options->separator, stdout);
	else
		ppi_diff_print(&series[0], &series[1], &changes,
		               &options->form, stdout);
	ppi_changes_free(&changes);
	return is_good;
}

static bool compare(const struct options *options)
{
	struct ppi_page_series series[2] = { 0 };
	struct side sides[2] = { 0 };
	struct ppi_page page = { .is_diff = true,
		                 .is_normalized = options->is_normalized,
		                 .series = series,
		                 .series_count = 2 };
	bool is_good = open_side(&sides[0], options, 0, options->event,
	                         &series[0]);

	if (is_good)
		is_good = open_side(&sides[1], options, 1,
		                    series[0].report.what->name, &series[1]);
	if (is_good) {
		page.title = portprof_profile_origin_get(sides[1].profile)
		                     ->command;
		if (!page.title[0])
			page.title = "Difference of two profiles";
		is_good = print(options, &page);
	}
	ppi_html_free(&page);
	for (int i = 0; i < 2; i++) {
		ppi_named_free(&sides[i].named);
		portprof_profile_free(sides[i].profile);
	}
	return is_good;
}

int ppi_diff_main(int argc, char **argv)
{
	struct options options = {
		.form = { .keys = PPI_BY_FUNCTION | PPI_BY_MODULE,
		          .row_limit = 30 },
	};
	int status = ppi_line_read(&line, argc, argv, &options);

	if (status == PPI_LINE_READ && !options.after)
		status = ppi_line_wrong(&line,
		                        "name two profiles: diff BEFORE AFTER");
	if (status == PPI_LINE_READ) {
		ppi_settle_debuginfod();
		ppi_memory_limit(options.memory_max);
		status = compare(&options) ? PPI_EXIT_OK : PPI_EXIT_FAILED;
	}
	free(options.sources.debug_folder);
	free(options.sources.root);
	return status;
}
