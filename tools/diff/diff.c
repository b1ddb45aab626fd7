/* SPDX-License-Identifier: MIT */
/*
 * portprof diff: what changed between two profiles, beyond chance.
 *
 *   diff.c       the command line and the two profiles
 *   runs.c       the files of one side, one or several runs
 *   match.c      finds the same modules and functions in both
 *   changes.c    the weight of each before and after; what grew too much
 *   diff_text.c  for people and spreadsheets
 *   diff_json.c  for programs
 */
#include "config.h"

#include "tools/diff/diff.h"

#include "tools/diff/match.h"
#include "tools/input.h"
#include "tools/options.h"
#include "tools/page/page.h"
#include "tools/tools.h"
#include "tools/view/filter.h"
#include "tools/view/names.h"
#include "tools/view/wall.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	struct ppi_runs runs[2]; /* before, after */
	bool has_base; /* several runs a side, with "--" between */
	bool is_one;   /* a file that is a difference itself */
	const char *event, *page, *separator;
	struct ppi_hidden hidden; /* in the page */
	bool is_verbose;
	struct ppi_named_sources sources;
	struct ppi_wall_wish wish;
	struct ppi_diff_form form;
	struct ppi_texts pairs;
	struct ppi_gate gate;
	struct ppi_filter filter;
	bool is_json;
	uint64_t memory_max;
};

#define AT(member) offsetof(struct options, member)

/* Numbers of threads, processes and addresses differ from run to run. */
enum { DIFFERS = PPI_BY_ADDRESS | PPI_BY_THREAD | PPI_BY_PROCESS };

static const char *sort_word(size_t i)
{
	return ppi_rows_word(i, DIFFERS);
}

static int take_sort(const struct ppi_given *given, void *place)
{
	struct ppi_changes_asked *asked = place;
	const char *unknown;
	unsigned found = ppi_rows_keys(given->value, &asked->label, &unknown);

	if (!found)
		return ppi_given_refuse_word(given);
	if (found & DIFFERS)
		return ppi_given_refuse(given,
		                        "the same in two runs; comm is the "
		                        "name of a thread");
	asked->keys = found;
	return PPI_EXIT_OK;
}

static int take_pair(const struct ppi_given *given, void *pairs)
{
	const char *equal = strchr(given->value, '=');

	if (!equal || equal == given->value || !equal[1])
		return ppi_given_refuse(given, "MODULE=MODULE: one of BEFORE "
		                               "and one of AFTER");
	return ppi_take_texts(given, pairs);
}

static const struct ppi_option table[] = {
	{ 0, "base", NULL, "the files up to -- are runs of BEFORE, the others of "
	  "AFTER; compare their means",
	  .take = ppi_take_flag, .place = AT(has_base) },
	{ 's', "sort", "KEYS",
	  "group by @WORDS, or by several (function)",
	  .take = take_sort, .place = AT(form.asked), .word = sort_word },
	PPI_ROWS_OPTION(AT(form.row_limit)),
	{ 'a', "all", NULL, "also print what changed no more than by chance",
	  .take = ppi_take_flag, .place = AT(form.shows_all) },
	{ 0, "normalize", NULL, "scale BEFORE to the total of AFTER",
	  .take = ppi_take_flag, .place = AT(form.asked.is_normalized) },
	{ 'i', "inclusive", NULL,
	  "compare functions with all that they called (their own code)",
	  .take = ppi_take_flag, .place = AT(form.asked.is_inclusive) },
	{ 0, "function", "PATTERN", "compare only these functions",
	  .take = ppi_take_text, .place = AT(form.asked.function) },
	{ 0, "min-change", "PERCENT",
	  "leave out rows that changed by less of what they were",
	  .take = ppi_take_percent, .place = AT(form.asked.percent_least) },
	{ 0, "fail-above", "PERCENT",
	  "exit with 3 if the total, or a function of --function, grew by more",
	  .take = ppi_take_percent, .place = AT(gate.percent) },
	{ 0, "match", "A=B",
	  "take module A of BEFORE and module B of AFTER for one",
	  .take = take_pair, .place = AT(pairs) },
	PPI_LABEL_OPTION(AT(filter.label)),
	{ 'e', "event", "NAME", "compare this event (the first)",
	  .take = ppi_take_text, .place = AT(event) },
	PPI_WALL_OPTIONS(AT(wish)),
	{ 0, "html", "FILE", "write a page for a browser",
	  .take = ppi_take_text, .place = AT(page) },
	PPI_HIDE_OPTIONS(AT(hidden)),
	{ 'v', "verbose", NULL, "print what the page contains (with --html)",
	  .take = ppi_take_flag, .place = AT(is_verbose) },
	{ 'j', "json", NULL, "print JSON", .take = ppi_take_flag,
	  .place = AT(is_json) },
	PPI_SEPARATOR_OPTION(AT(separator), "print fields for spreadsheets"),
	{ 'q', "quiet", NULL, "print only the rows",
	  .take = ppi_take_flag, .place = AT(form.is_quiet) },
	PPI_DEBUG_DIR_OPTION(AT(sources.debug_folder)),
	PPI_DEBUGINFOD_OPTION,
	PPI_ROOT_OPTION(AT(sources.root)),
	PPI_COLOR_OPTION,
	PPI_MEMORY_OPTION(AT(memory_max)),
};

static const struct ppi_line line = {
	.verb = "diff",
	.usage = "[OPTION...] BEFORE AFTER\n"
	         "[OPTION...] --base BEFORE... -- AFTER...\n"
	         "[OPTION...] DIFFERENCE",
	.notes = "Each row is the weight of a function's own code. The same "
	         "function of two builds is one row, whatever its file is "
	         "called. A row is "
	         "beyond noise if chance moves no row as far in 95 of 100 "
	         "pairs of equal runs. Of several runs a side what else differs "
	         "between them counts, too.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.wrong = PPI_EXIT_USAGE,
};

/* ---- two profiles ---- */

struct side {
	struct ppi_runs *runs;
	char *path; /* shown: of the first, and how many more */
	bool *is_left_out;
	struct ppi_named named;
	struct ppi_subject subject;
};

/* Names are found by what is hidden then. */
static bool hide(struct side *side, const struct options *options)
{
	return !ppi_hides(&options->hidden) ||
	       (ppi_names_give(side->runs->profile, &options->sources, NULL, NULL) &&
	        ppi_hide(&options->hidden, side->runs->profile));
}

/* To be freed; NULL when out of memory. */
static char *path_shown(const struct ppi_runs *runs,
                        const struct options *options)
{
	const char *path = runs->paths[0];
	const char *slash = strrchr(path, '/');
	size_t bytes = strlen(path) + sizeof(" and 18446744073709551615 more");
	char *shown = malloc(bytes);

	if (options->hidden.paths && slash)
		path = slash + 1;
	if (shown && runs->count == 1)
		snprintf(shown, bytes, "%s", path);
	else if (shown)
		snprintf(shown, bytes, "%s and %zu more", path,
		         runs->count - 1);
	return shown;
}

static bool filter_side(struct side *side, const struct options *options,
                        struct ppi_view *view)
{
	struct ppi_filter filter = options->filter;
	enum ppi_filter_result result;

	filter.waits = options->wish.waits;
	result = ppi_filter_apply(&filter, side->runs->profile, view->names,
	                          &side->is_left_out);
	view->is_left_out = side->is_left_out;
	if (result == PPI_FILTER_MEMORY)
		ppi_say("out of memory");
	return result == PPI_FILTER_OK &&
	       (!view->label || ppi_labels_check(side->runs->profile, view->label));
}

/* What an event of a file that is a difference is called on the other side:
 * "after-cpu" of "before-cpu". NULL: it has none. */
static const char *after_of(const portprof_profile *profile, const char *before)
{
	static const char sides[2][8] = { "before", "after" };
	const portprof_profile_event *event;

	if (strncmp(before, sides[0], strlen(sides[0])) != 0)
		return NULL;
	before += strlen(sides[0]);
	for (size_t i = 0;
	     (event = portprof_profile_event_get(profile, i)) != NULL; i++)
		if (strncmp(event->name, sides[1], strlen(sides[1])) == 0 &&
		    strcmp(event->name + strlen(sides[1]), before) == 0)
			return event->name;
	return NULL;
}

static bool is_asked(const char *asked, const char *before, const char *after)
{
	const char *dash = strchr(after, '-');

	return !asked || strcmp(asked, before) == 0 ||
	       strcmp(asked, after) == 0 ||
	       (dash && strcmp(asked, dash + 1) == 0);
}

/* The event of one side, of the first pair or of the one that is asked for. */
static const char *event_of_side(const portprof_profile *profile, int which,
                                 const char *asked)
{
	const portprof_profile_event *event;

	for (size_t i = 0;
	     (event = portprof_profile_event_get(profile, i)) != NULL; i++) {
		const char *after = after_of(profile, event->name);

		if (after && is_asked(asked, event->name, after))
			return which ? after : event->name;
	}
	return NULL;
}

static bool choose_side(const portprof_profile *profile, const char *path,
                        int which, const char **event)
{
	const char *found = event_of_side(profile, which, *event);

	if (found) {
		*event = found;
		return true;
	}
	if (*event && event_of_side(profile, which, NULL))
		return ppi_event_choose(profile, path, *event) != SIZE_MAX;
	ppi_say("'%s' is one profile, and no difference of two: name two: "
	        "portprof diff BEFORE AFTER", path);
	return false;
}

static bool open_side(struct side *side, const struct options *options,
                      int which, const char *event,
                      struct ppi_page_series *series)
{
	static const char *const labels[] = { "Before", "After" };
	struct ppi_runs *runs = side->runs;
	portprof_profile *profile;

	if (!ppi_runs_read(runs, options->sources.root, options->memory_max))
		return false;
	profile = runs->profile;
	if (options->is_one &&
	    !choose_side(profile, runs->paths[0], which, &event))
		return false;
	if (!ppi_subject_choose(profile, runs->paths[0], event, &options->wish,
	                        true, &side->subject) ||
	    !hide(side, options))
		return false;
	side->path = path_shown(runs, options);
	if (!side->path || !ppi_runs_mean(runs, &side->subject) ||
	    !ppi_named_find(&side->named, profile,
	                    options->form.asked.keys & PPI_BY_LINE, false,
	                    &options->sources)) {
		ppi_say("out of memory");
		return false;
	}
	*series = (struct ppi_page_series){
		.label = labels[which],
		.report = { .path = side->path,
		            .profile = profile,
		            .symbols = side->named.symbols,
		            .names = side->named.names,
		            .subject = &side->subject,
		            .event = side->subject.event },
		.view = { .profile = profile,
		          .names = side->named.names,
		          .label = options->form.asked.label },
	};
	ppi_subject_show(&side->subject, &series->view);
	return filter_side(side, options, &series->view);
}

/* The names of both sides become those of after, before anything is summed. */
static struct ppi_match *match_sides(struct side sides[2],
                                     struct ppi_page_series series[2],
                                     const struct ppi_texts *pairs)
{
	struct ppi_match_side each[2];
	const struct ppi_match_pairs asked = { pairs->list, pairs->count };
	const char *unused;
	struct ppi_match *match;

	for (int i = 0; i < 2; i++)
		each[i] = (struct ppi_match_side){ sides[i].runs->profile,
			                           sides[i].named.symbols,
			                           sides[i].named.names,
			                           &series[i].view };
	match = ppi_match_find(each, &asked, &unused);
	if (match && unused) {
		ppi_say("--match %s: there is no such module on its side; "
		        "portprof report -s module lists them", unused);
		ppi_match_free(match);
		return NULL;
	}
	if (match && ppi_page_sum(&series[0]) && ppi_page_sum(&series[1]))
		return match;
	ppi_say("out of memory");
	ppi_match_free(match);
	return NULL;
}

static void say_gate(const struct ppi_gate *gate,
                     const struct ppi_changes *changes)
{
	const struct ppi_change *one =
		gate->worst ? gate->worst : &changes->total;

	if (!gate->is_failed)
		return;
	if (one->before > 0)
		ppi_say("%s grew by %.1f %%, more than %g %%",
		        gate->worst ? one->row->function : "the total",
		        ppi_change_percent(one), gate->percent);
	else
		ppi_say("%s is new, so it grew by more than %g %%",
		        one->row->function, gate->percent);
}

static void put_chance(struct ppi_page *page, const struct ppi_changes *changes)
{
	page->tested_count = changes->tested;
	page->freedom = changes->runs[0] + changes->runs[1] - 2;
	for (int i = 0; i < 2; i++) {
		page->series[i].sample_weight =
			changes->samples[i] / (i ? 1 : changes->scale);
		page->series[i].spread =
			changes->spread / (double)changes->runs[i];
	}
}

static bool print(struct options *options, struct ppi_page *page)
{
	struct ppi_page_series *series = page->series;
	const struct ppi_changes_side sides[] = {
		{ &series[0], &options->runs[0] },
		{ &series[1], &options->runs[1] },
	};
	struct ppi_changes_asked asked = options->form.asked;
	struct ppi_changes changes;
	bool is_good;

	if (options->page)
		asked.keys = PPI_BY_FUNCTION | PPI_BY_MODULE;
	is_good = ppi_changes_find(sides, &asked, &changes);
	put_chance(page, &changes);
	for (int i = 0; options->page && options->is_verbose && i < 2; i++)
		ppi_page_say(page, &series[i].report, &options->hidden);
	if (is_good && options->page)
		is_good = ppi_page_grow(page);
	if (!is_good) {
		ppi_say("out of memory");
		ppi_changes_free(&changes);
		return false;
	}
	ppi_gate_judge(&options->gate, &changes, asked.function != NULL);
	if (options->page)
		is_good = ppi_page_write(page, options->page);
	else if (options->is_json)
		is_good = ppi_diff_print_json(sides, &changes, &options->form,
		                              stdout);
	else if (options->separator)
		ppi_diff_print_csv(&changes, asked.keys, options->separator,
		                   stdout);
	else
		ppi_diff_print(sides, &changes, &options->form, stdout);
	say_gate(&options->gate, &changes);
	/* a gate that names nothing would stand open for ever */
	if (is_good && changes.lacks_function) {
		ppi_say("no function '%s' is in a sample of either profile; "
		        "portprof report -n 0 shows them", asked.function);
		is_good = false;
	}
	ppi_changes_free(&changes);
	return is_good;
}

/* NULL: states are what both sides have. */
static const char *name_of(const struct side *side,
                           const struct options *options)
{
	if (options->is_one)
		return options->event;
	if (options->wish.states || options->wish.waits)
		return NULL;
	return portprof_profile_event_get(side->runs->profile, side->subject.event)
	        ->name;
}

static bool compare(struct options *options)
{
	struct ppi_page_series series[2] = { 0 };
	struct side sides[2] = { { .runs = &options->runs[0] },
		                 { .runs = &options->runs[1] } };
	struct ppi_match *match = NULL;
	struct ppi_page page = { .is_diff = true,
		                 .is_normalized =
					 options->form.asked.is_normalized,
		                 .series = series,
		                 .series_count = 2 };
	bool is_good = open_side(&sides[0], options, 0, options->event,
	                         &series[0]);

	/* the event of the first by its name, or the same states */
	if (is_good && sides[0].subject.is_joined)
		options->wish.states = sides[0].subject.states;
	if (is_good)
		is_good = open_side(&sides[1], options, 1,
		                    name_of(&sides[0], options), &series[1]);
	if (is_good)
		match = match_sides(sides, series, &options->pairs);
	if (match) {
		options->form.match = match;
		options->form.gate = &options->gate;
		page.title = portprof_profile_origin_get(sides[1].runs->profile)
		                     ->command;
		if (!page.title[0])
			page.title = "Difference of two profiles";
		is_good = print(options, &page);
	}
	is_good = is_good && match;
	ppi_page_free(&page);
	ppi_match_free(match);
	for (int i = 0; i < 2; i++) {
		ppi_named_free(&sides[i].named);
		ppi_subject_free(&sides[i].subject);
		free(sides[i].is_left_out);
		free(sides[i].path);
		ppi_runs_free(sides[i].runs);
	}
	return is_good;
}

static int status_of(struct options *options)
{
	ppi_settle_debuginfod();
	ppi_memory_limit(options->memory_max);
	if (!compare(options))
		return PPI_EXIT_FAILED;
	return options->gate.is_failed ? PPI_EXIT_GROWN : PPI_EXIT_OK;
}

/* The words behind "--" are runs of after; getopt_long moves it. */
static size_t words_behind(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return (size_t)(argc - i - 1);
	return 0;
}

static int share_words(struct options *options, size_t behind, int argc,
                       char **argv)
{
	/* what getopt_long left is in the order of the command line */
	size_t count = (size_t)(argc - optind);
	size_t after = options->has_base ? behind : 1;

	if (options->has_base && (behind == 0 || behind >= count))
		return ppi_line_wrong(&line, "--base needs files of both sides: "
		                      "diff --base BEFORE... -- AFTER...");
	if (!options->has_base && count < 1)
		return ppi_line_wrong(&line,
		                      "name two profiles: diff BEFORE AFTER");
	if (!options->has_base && count > 2)
		return ppi_line_wrong(&line, "unexpected argument '%s': two "
		                      "profiles are compared, or several runs "
		                      "a side: diff --base BEFORE... -- AFTER...",
		                      argv[optind + 2]);
	if (!options->has_base && count == 1) {
		options->is_one = true;
		for (int i = 0; i < 2; i++)
			options->runs[i] = (struct ppi_runs){
				.paths = (const char *const *)argv + optind,
				.count = 1,
			};
		return PPI_LINE_READ;
	}
	options->runs[0].paths = (const char *const *)argv + optind;
	options->runs[0].count = count - after;
	options->runs[1].paths = options->runs[0].paths + count - after;
	options->runs[1].count = after;
	return PPI_LINE_READ;
}

int ppi_diff_main(int argc, char **argv)
{
	struct options options = {
		.form = { .asked.keys = PPI_BY_FUNCTION | PPI_BY_MODULE,
		          .row_limit = 30 },
		.gate = { .percent = -1 },
	};
	size_t behind = words_behind(argc, argv);
	int status = ppi_line_read(&line, argc, argv, &options);

	if (status == PPI_LINE_READ)
		status = share_words(&options, behind, argc, argv);
	if (status == PPI_LINE_READ && (options.page != NULL) +
	    options.is_json + (options.separator != NULL) > 1)
		status = ppi_line_wrong(&line, "--html, --json and -x are "
		                        "three forms: ask for one");
	if (status == PPI_LINE_READ && !options.page &&
	    (ppi_hides(&options.hidden) || options.is_verbose))
		status = ppi_line_wrong(&line, "--no-paths, --no-host, "
		                        "--no-source and -v need --html");
	if (status == PPI_LINE_READ)
		status = ppi_wall_check(&line, options.event, &options.wish);
	if (status == PPI_LINE_READ)
		status = status_of(&options);
	free(options.sources.debug_folder);
	free(options.sources.root);
	return status;
}
