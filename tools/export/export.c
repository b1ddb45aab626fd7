/* SPDX-License-Identifier: MIT */
/*
 * portprof export: writes a profile in the format of another tool. This file
 * has the table of formats (export.h), the command line and what all formats
 * need; each format has a file export_NAME.c, but pprof, which is the profile
 * itself.
 */
#include "config.h"

#include "tools/export/export.h"

#include "tools/input.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/symbols/symbols_download.h"
#include "tools/terminal.h"
#include "tools/ticker.h"
#include "tools/tools.h"
#include "tools/view/filter.h"
#include "tools/view/owners.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the formats ---- */

struct ppi_export_format {
	const char *name;
	unsigned holds;
	const char *output;
	bool (*write)(const struct ppi_export *export);
};

static const struct ppi_export_format formats[] = {
#define ROW(name, holds, output, writer, help) { name, holds, output, writer },
	PPI_EXPORT_FORMATS(ROW)
#undef ROW
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

/* What help says of all formats; it begins with what stands between two. */
#define HELP(name, holds, output, writer, help) "; " name ": " help
static const char format_help[] = PPI_EXPORT_FORMATS(HELP);
enum { BETWEEN = 2 };

static const char *format_word(size_t i)
{
	return i < FORMATS ? formats[i].name : NULL;
}

/* "folded, callgrind or perf-script": those that hold it. Returns `out`. */
static const char *formats_with(unsigned what, char *out, size_t bytes)
{
	size_t left = 0, used = 0;

	for (size_t i = 0; i < FORMATS; i++)
		left += (formats[i].holds & what) != 0;
	for (size_t i = 0; left && used < bytes; i++)
		if (formats[i].holds & what)
			used += (size_t)snprintf(out + used, bytes - used,
			                         "%s%s", formats[i].name,
			                         --left == 0 ? "" :
			                         left == 1 ? " or " : ", ");
	return out;
}

static bool holds(const struct ppi_export *export, unsigned what)
{
	return export->format->holds & what;
}

/* ---- the command line ---- */

static int take_format(const struct ppi_given *given, void *format)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (strcmp(given->value, formats[i].name) == 0) {
			*(const struct ppi_export_format **)format =
				&formats[i];
			return PPI_EXIT_OK;
		}
	return ppi_given_refuse_word(given);
}

#define AT(member) offsetof(struct ppi_export, member)

static const struct ppi_option table[] = {
	{ 'f', "format", "FORMAT",
	  format_help + BETWEEN,
	  .take = take_format, .place = AT(format), .word = format_word },
	{ 'i', "input", "FILE",
	  "read this profile or gmon.out, like FILE (" PPI_DEFAULT_OUTPUT ")",
	  .take = ppi_take_text, .place = AT(input) },
	{ 'o', "output", "FILE",
	  "write there (gmon: gmon.out; pprof: needed; others: standard "
	  "output)",
	  .take = ppi_take_text, .place = AT(output) },
	{ 'e', "event", "NAME", "export this event (the first; otlp: all)",
	  .take = ppi_take_text, .place = AT(event) },
	PPI_WALL_OPTIONS(AT(wish)),
	{ 0, "program", "FILE",
	  "find the program here now; for a gmon.out: the program that "
	  "wrote it (a.out)",
	  .take = ppi_take_text, .place = AT(program) },
	PPI_LABEL_OPTION(AT(filter.label)),
	PPI_MEMORY_OPTION(AT(memory_max)),
	PPI_HIDE_OPTIONS(AT(hidden)),
	{ 'q', "quiet", NULL, "print no summary of what was written",
	  .take = ppi_take_flag, .place = AT(is_quiet) },
	{ 0, "module", "NAME",
	  "gmon: export this binary of the profile (the program)",
	  .take = ppi_take_text, .place = AT(module) },
	{ 0, "rate", "HZ", "gmon: count HZ ticks a second (the sampling rate)",
	  .take = ppi_take_number, .place = AT(rate_hz), .least = 1,
	  .most = 1000000, .what = "a number of ticks a second" },
	{ 0, "arcs", NULL,
	  "gmon: write sampled callers as calls; gprof then prints numbers of "
	  "samples as numbers of calls",
	  .take = ppi_take_flag, .place = AT(with_chains) },
	{ 0, "inline", NULL,
	  "folded, perf-script: write inlined functions as frames of their own",
	  .take = ppi_take_flag, .place = AT(has_inlines) },
};

static const struct ppi_line line = {
	.verb = "export",
	.usage = "-f FORMAT [OPTION...] [FILE]",
	.notes = "To read a gmon.out: gprof -b PROGRAM gmon.out",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.wrong = PPI_EXIT_USAGE,
};

/* Options "need" formats that hold something. */
static int refuse_option(const char *options, unsigned what)
{
	char room[128];

	return ppi_line_wrong(&line, "%s --format %s", options,
	                      formats_with(what, room, sizeof(room)));
}

/* What does not go together, and what is missing. */
static int complete(struct ppi_export *export, int argc, char **argv)
{
	if (optind < argc && !export->input)
		export->input = argv[optind++];
	if (optind < argc)
		return ppi_line_wrong(&line,
		                      "unexpected argument '%s': one profile "
		                      "is read; -o names the file to write",
		                      argv[optind]);
	if (!export->format)
		return ppi_line_wrong(&line, "no format given: --format gmon, "
		                             "folded, pprof or another of "
		                             "--help");
	if (!holds(export, PPI_EXPORT_TICKS) &&
	    (export->module || export->rate_hz || export->with_chains))
		return refuse_option("--module, --rate and --arcs need",
		                     PPI_EXPORT_TICKS);
	if (!holds(export, PPI_EXPORT_INLINE) && export->has_inlines)
		return refuse_option("--inline needs", PPI_EXPORT_INLINE);
	if (holds(export, PPI_EXPORT_EVENTS) && export->event)
		return ppi_line_wrong(&line, "--event: %s has all events",
		                      export->format->name);
	if (!holds(export, PPI_EXPORT_STATES) &&
	    (export->wish.states || export->wish.waits))
		return refuse_option("--state and --wait need",
		                     PPI_EXPORT_STATES);
	if (!export->output)
		export->output = export->format->output;
	if (!export->output)
		return ppi_line_wrong(&line, "no output given: -o FILE");
	if (!export->input)
		export->input = PPI_DEFAULT_OUTPUT;
	return ppi_wall_check(&line, export->event, &export->wish);
}

/* ---- the profile ---- */

/* Names are found by what is hidden then. A gmon.out has none of it, and is
 * made from the program's file. */
static bool prepare(const struct ppi_export *export)
{
	static const struct ppi_named_sources usual;
	bool hides = ppi_hides(&export->hidden);

	if (!holds(export, PPI_EXPORT_CODE) ||
	    (!holds(export, PPI_EXPORT_NAMED) && !hides))
		return true;
	return ppi_names_give(export->profile, &usual, NULL, NULL) &&
	       (!hides || ppi_hide(&export->hidden, export->profile));
}

bool ppi_export_name(const struct ppi_export *export, bool has_lines,
                     bool has_inlines, struct ppi_named *named)
{
	named->names = NULL;
	named->symbols = ppi_symbols_new(
		portprof_profile_origin_get(export->profile)->start_ns);
	if (named->symbols) {
		ppi_symbols_want(named->symbols, has_lines, has_inlines);
		named->names = ppi_name_locations(export->profile,
		                                  named->symbols);
	}
	if (named->names)
		return true;
	ppi_named_free(named);
	ppi_say("out of memory");
	return false;
}

/* Samples with other labels are in no format. */
static bool leave_out(const struct ppi_export *export)
{
	bool *is_left_out, is_good;
	enum ppi_filter_result result = ppi_filter_apply(
		&export->filter, export->profile, NULL, &is_left_out);

	if (result != PPI_FILTER_OK || !is_left_out)
		return result == PPI_FILTER_OK;
	is_good = portprof_profile_leave_out(
			  export->profile, (unsigned char *)is_left_out,
			  portprof_profile_sample_count(export->profile)) ==
	          PORTPROF_OK;
	free(is_left_out);
	return is_good;
}

bool ppi_export_pprof(const struct ppi_export *export)
{
	return ppi_profile_put(export->profile, export->output);
}

/* A gmon.out is of the program that wrote it; else --program says where the
 * file lies that the samples are in, which gmon alone needs. */
static portprof_profile *open_input(struct ppi_export *export)
{
	const char *writer = NULL;

	export->input = ppi_input_name(export->input);
	if (!export->input)
		return NULL;
	if (portprof_gmon_is(export->input)) {
		writer = export->program;
		export->program = NULL;
	} else if (export->program && !holds(export, PPI_EXPORT_TICKS)) {
		ppi_line_wrong(&line, "--program needs --format gmon, or a "
		                      "gmon.out to read");
		return NULL;
	}
	return ppi_profile_open(export->input, writer, export->memory_max);
}

/* What other forms have no place for. */
static void say_labels(const struct ppi_export *export)
{
	const char *name = ppi_labels_name(export->profile, 0);

	if (name && !export->is_quiet && !holds(export, PPI_EXPORT_LABELS))
		ppi_say("labels of samples (%s%s) are not in it; "
		        "-f pprof keeps them", name,
		        ppi_labels_name(export->profile, 1) ? ", ..." : "");
}

/* What is left out without being asked for. */
static void say_idle(const struct ppi_export *export)
{
	const portprof_profile_sample *sample;
	uint64_t ns = 0;
	char words[64];

	for (size_t i = 0; export->view.is_idle &&
	                   (sample = portprof_profile_sample_get(
				    export->profile, i)) != NULL; i++)
		if (export->view.is_idle[i])
			ns += ppi_view_weight(&export->view, i, sample);
	if (ns && !export->is_quiet)
		ppi_say("idle waits of %s are not in it; --idle writes them",
		        ppi_say_weight(ppi_scale_of(PORTPROF_UNIT_NANOSECONDS,
		                                    ns), ns, words,
		                       sizeof(words)));
}

/* Formats that hold all events, or ticks, have what they always had. */
static bool choose(struct ppi_export *export, bool **is_left_out)
{
	const struct ppi_filter filter = { .waits = export->wish.waits };
	enum ppi_filter_result result;

	export->wish.shows_idle |= !holds(export, PPI_EXPORT_STATES);
	if (!ppi_subject_choose(export->profile, export->input, export->event,
	                        &export->wish, holds(export, PPI_EXPORT_WALL),
	                        &export->subject))
		return false;
	export->event_number = export->subject.event;
	export->view.profile = export->profile;
	ppi_subject_show(&export->subject, &export->view);
	result = ppi_filter_apply(&filter, export->profile, NULL, is_left_out);
	if (result == PPI_FILTER_MEMORY)
		ppi_say("out of memory");
	export->view.is_left_out = *is_left_out;
	return result == PPI_FILTER_OK;
}

/* Between the lines of a terminal there is no place for one of progress. */
static bool write_out(const struct ppi_export *export)
{
	bool is_seen = strcmp(export->output, "-") == 0 &&
	               ppi_is_terminal(stdout);
	bool ticks = !is_seen && ppi_ticker_begin("writing", "samples");
	bool is_good;

	atomic_store(&ppi_ticker_done,
	             portprof_profile_sample_count(export->profile));
	is_good = export->format->write(export);
	ppi_ticker_end(ticks);
	return is_good;
}

int ppi_export_main(int argc, char **argv)
{
	struct ppi_export export = { 0 };
	portprof_profile *profile;
	bool *is_left_out = NULL;
	int status = ppi_line_read(&line, argc, argv, &export);
	const char *damage;

	if (status == PPI_LINE_READ)
		status = complete(&export, argc, argv);
	if (status != PPI_LINE_READ)
		return status;
	ppi_download_never();
	ppi_memory_limit(export.memory_max);
	profile = open_input(&export);
	if (!profile)
		return PPI_EXIT_FAILED;
	export.profile = profile;
	ppi_names_by_time(profile, NULL, NULL);
	damage = portprof_profile_origin_get(profile)->damage;
	if (damage)
		ppi_say("%s: %s", export.input, damage);
	status = leave_out(&export) && prepare(&export) &&
	         choose(&export, &is_left_out) && write_out(&export)
	         ? PPI_EXIT_OK : PPI_EXIT_FAILED;
	if (status == PPI_EXIT_OK) {
		say_labels(&export);
		say_idle(&export);
	}
	free(is_left_out);
	ppi_subject_free(&export.subject);
	portprof_profile_free(profile);
	return status;
}
