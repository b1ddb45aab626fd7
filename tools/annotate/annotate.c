/* SPDX-License-Identifier: MIT */
/* portprof annotate: a function's source and instructions with weights. */
#include "config.h"

#include "base/text.h"
#include "tools/input.h"
#include "tools/options.h"
#include "tools/terminal.h"
#include "tools/tools.h"
#include "tools/view/code.h"
#include "tools/view/filter.h"
#include "tools/view/names.h"
#include "tools/view/view.h"
#include "tools/view/wall.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
	const char *function, *input, *event;
	struct ppi_named_sources sources;
	struct ppi_filter filter;
	struct ppi_wall_wish wish;
	uint64_t around, memory_max;
	bool is_source_only;
};

#define AT(member) offsetof(struct options, member)

static const struct ppi_option table[] = {
	{ 'i', "input", "FILE",
	  "read this profile (" PPI_DEFAULT_OUTPUT ")",
	  .take = ppi_take_text, .place = AT(input) },
	{ 'n', "around", "N", "show N lines around each hot one (2)",
	  .take = ppi_take_number, .place = AT(around), .least = 0,
	  .most = 1000000, .what = "a number of lines" },
	{ 'e', "event", "NAME", "show weights of this event (the first)",
	  .take = ppi_take_text, .place = AT(event) },
	PPI_LABEL_OPTION(AT(filter.label)),
	PPI_WALL_OPTIONS(AT(wish)),
	{ 0, "source", NULL, "leave out the instructions",
	  .take = ppi_take_flag, .place = AT(is_source_only) },
	PPI_DEBUG_DIR_OPTION(AT(sources.debug_folder)),
	PPI_DEBUGINFOD_OPTION,
	PPI_ROOT_OPTION(AT(sources.root)),
	PPI_COLOR_OPTION,
	PPI_MEMORY_OPTION(AT(memory_max)),
};

static const size_t places[] = { AT(function), AT(input) };

static const struct ppi_line line = {
	.verb = "annotate",
	.usage = "[OPTION...] FUNCTION [FILE]",
	.notes = "FUNCTION may be a pattern of sh(1), such as '*alloc'; the "
	         "hottest function that matches is shown.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.places = places,
	.place_count = 2,
	.one_word_more = "one function is shown",
	.wrong = PPI_EXIT_USAGE,
};

/* ---- printing ---- */

/* A text that can be printed, tabs made spaces. */
static void make_plain(const char *text, char *out, size_t bytes)
{
	size_t used = 0, column = 0;

	while (*text && used + PPI_TEXT_PIECE < bytes) {
		char piece[PPI_TEXT_PIECE];
		size_t length = 1;

		if (*text == '\t') {
			text++;
			piece[0] = ' ';
			for (size_t n = 3 - column % 4; n; n--, column++)
				out[used++] = ' ';
		} else {
			length = ppi_text_next(&text, piece);
		}
		memcpy(out + used, piece, length);
		out[used + length] = '\0';
		column += ppi_text_width(out + used);
		used += length;
	}
	out[used] = '\0';
}

/* As much of a text as fits. */
static void put_cut(const char *text, size_t room)
{
	char plain[1024];

	make_plain(text, plain, sizeof(plain));
	if (ppi_text_width(plain) <= room)
		printf("%s\n", plain);
	else
		printf("%.*s...\n", (int)ppi_text_fit(plain, room - 3), plain);
}

static void print_listing(const char *title, const struct ppi_code *code,
                          const struct ppi_listing *listing, bool is_hex,
                          int width)
{
	fputs(ppi_color(stdout, PPI_BOLD), stdout);
	ppi_put_text(title, stdout);
	fputs(ppi_color(stdout, PPI_PLAIN), stdout);
	putchar('\n');
	if (listing->why[0])
		printf("  (%s)\n", listing->why);
	for (size_t i = 0; i < listing->count; i++) {
		const struct ppi_shown_line *one = &listing->lines[i];
		double share = ppi_percent(one->weight, code->weight);
		enum ppi_color color = share >= 10  ? PPI_RED
		                       : share >= 2 ? PPI_YELLOW
		                                    : PPI_PLAIN;

		if (one->has_gap)
			printf("             ...\n");
		fputs(ppi_color(stdout, color), stdout);
		if (one->weight)
			printf("%6.1f %%", share);
		else
			printf("%8s", "");
		printf(is_hex ? " %9" PRIx64 "  " : " %6" PRIu64 "  ", one->at);
		put_cut(one->text, (size_t)width - (is_hex ? 20 : 17));
		fputs(ppi_color(stdout, PPI_PLAIN), stdout);
	}
}

/* Files of a function that are shown: code of others is inlined. */
enum { FILES_MAX = 4 };

static void print_code(const struct ppi_code *code, const struct ppi_view *view,
                       const struct options *options)
{
	int width = ppi_table_width(stdout);
	struct ppi_scale scale = ppi_scale_of(
		portprof_profile_event_get(view->profile, view->event)->unit,
		code->weight);
	struct ppi_listing listing;
	size_t shown = 0;
	char weight[64];

	ppi_pager_begin();
	ppi_put_text(code->function, stdout);
	fputs(" of ", stdout);
	ppi_put_text(code->module, stdout);
	printf(": %s %s\n\n", ppi_say_weight(scale, code->weight, weight,
	                                     sizeof(weight)),
	       view->has_callees ? "in it and what it calls" : "of its own");
	do {
		const char *file = shown < code->file_count
		                           ? code->files[shown].name
		                           : NULL;

		if (shown)
			putchar('\n');
		ppi_listing_source(code, file, (unsigned)options->around,
		                   &listing);
		print_listing(file ? file : "Source", code, &listing, false,
		              width);
		ppi_listing_free(&listing);
	} while (++shown < code->file_count && shown < FILES_MAX);
	if (!options->is_source_only) {
		putchar('\n');
		ppi_listing_instructions(code, (unsigned)options->around,
		                         &listing);
		print_listing("Instructions", code, &listing, true, width);
		ppi_listing_free(&listing);
	}
	ppi_pager_end();
}

/* What is wrong with the file of the code, and with its debug files. */
static void say_notes(const struct ppi_symbols *symbols,
                      const struct ppi_code *code)
{
	const char *note;

	for (size_t i = 0; (note = ppi_symbols_note(symbols, i)) != NULL; i++)
		if (ppi_symbols_note_is_of(symbols, i, code->path))
			ppi_say("%s", note);
}

static bool show(const struct options *options, const struct ppi_view *view,
                 const struct ppi_named *named)
{
	struct ppi_code code;
	char likely[512];
	bool is_good = ppi_code_find(view, named, options->function, &code);

	if (!is_good)
		ppi_say("out of memory");
	else if (!code.function)
		ppi_say("no function '%s' is in a sample%s", options->function,
		        ppi_rows_like(view, options->function, likely,
		                      sizeof(likely))[0]
		                ? likely
		                : "; portprof report -n 0 shows them all");
	else
		print_code(&code, view, options);
	is_good = is_good && code.function;
	if (is_good)
		say_notes(named->symbols, &code);
	ppi_code_free(&code);
	return is_good;
}

static bool show_filtered(const struct options *options, struct ppi_view *view,
                          const struct ppi_named *named)
{
	struct ppi_filter filter = options->filter;
	bool *is_left_out, is_good;
	enum ppi_filter_result result;

	filter.waits = options->wish.waits;
	result = ppi_filter_apply(&filter, view->profile, view->names,
	                          &is_left_out);
	view->is_left_out = is_left_out;
	if (result == PPI_FILTER_MEMORY)
		ppi_say("out of memory");
	is_good = result == PPI_FILTER_OK && show(options, view, named);
	free(is_left_out);
	return is_good;
}

/* Which event, or which states of threads. */
static bool choose(const struct options *options, struct ppi_view *view,
                   struct ppi_subject *subject)
{
	if (!ppi_subject_choose(view->profile, options->input, options->event,
	                        &options->wish, false, subject))
		return false;
	ppi_subject_show(subject, view);
	view->has_callees = subject->states & ~(1u << PPI_RUNNING);
	return true;
}

static bool annotate(const struct options *options)
{
	portprof_profile *profile = ppi_profile_open(options->input, NULL,
	                                             options->memory_max);
	struct ppi_view view = { .profile = profile };
	struct ppi_subject subject = { 0 };
	struct ppi_named named;
	bool is_good = false;

	if (!profile)
		return false;
	ppi_names_by_time(profile, options->sources.root, NULL);
	if (choose(options, &view, &subject)) {
		if (ppi_named_find(&named, profile, false, false,
		                   &options->sources)) {
			view.names = named.names;
			is_good = show_filtered(options, &view, &named);
		} else {
			ppi_say("out of memory");
		}
		ppi_named_free(&named);
	}
	ppi_subject_free(&subject);
	portprof_profile_free(profile);
	return is_good;
}

/* As it is with most other verbs: the file first. */
static bool is_turned_round(const struct options *options)
{
	return access(options->input, F_OK) != 0 &&
	       access(options->function, F_OK) == 0;
}

int ppi_annotate_main(int argc, char **argv)
{
	struct options options = { .input = PPI_DEFAULT_OUTPUT, .around = 2 };
	int status = ppi_line_read(&line, argc, argv, &options);

	if (status == PPI_LINE_READ && !options.function)
		status = ppi_line_wrong(&line,
		                        "no function given; portprof report "
		                        "shows the hot ones");
	if (status == PPI_LINE_READ && is_turned_round(&options))
		status = ppi_line_wrong(&line, "the function comes first: "
		                               "portprof annotate %s %s",
		                        options.input, options.function);
	if (status == PPI_LINE_READ)
		status = ppi_wall_check(&line, options.event, &options.wish);
	if (status == PPI_LINE_READ) {
		ppi_settle_debuginfod();
		ppi_memory_limit(options.memory_max);
		status = annotate(&options) ? PPI_EXIT_OK : PPI_EXIT_FAILED;
	}
	free(options.sources.debug_folder);
	free(options.sources.root);
	return status;
}
