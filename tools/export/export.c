/* SPDX-License-Identifier: MIT */
/* portprof export: writes a profile in the format of another tool. */
#include "config.h"

#include "tools/export/export.h"

#include "tools/memory.h"
#include "tools/options.h"
#include "tools/names/names.h"
#include "tools/record/parts.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"usage: portprof export -f FORMAT [OPTION...] [FILE]\n"
	"\n"
	"  -f, --format FORMAT  gmon    for gprof: one executable or library\n"
	"                       folded  one line for each call chain, for "
	"flame graphs\n"
	"                       pprof   for every reader of pprof files\n"
	"                       speedscope  JSON for www.speedscope.app\n"
	"  -i, --input FILE     read this profile or gmon.out, like FILE\n"
	"                       (" PPI_DEFAULT_OUTPUT ")\n"
	"  -o, --output FILE    write there (gmon: gmon.out; else: standard "
	"output)\n"
	"  -e, --event NAME     export this event (the first)\n"
	"      --program FILE   find the program here now; for a gmon.out: the "
	"program\n"
	"                       that wrote it (a.out)\n"
	PPI_MEMORY_HELP
	"  -q, --quiet          print no summary of what was written\n"
	"\n"
	"For gmon:\n"
	"      --module NAME    export this file of the profile (the program)\n"
	"      --rate HZ        count so many ticks a second (the sampling rate)\n"
	"      --arcs           write sampled callers as calls: gprof then "
	"prints\n"
	"                       numbers of samples as numbers of calls\n"
	"\n"
	"To read a gmon.out: gprof -b PROGRAM gmon.out\n";

enum {
	OPTION_PROGRAM = 256,
	OPTION_MODULE,
	OPTION_RATE,
	OPTION_ARCS,
	OPTION_MAX_MEMORY
};

static const struct option long_options[] = {
	{ "format", required_argument, NULL, 'f' },
	{ "input", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "event", required_argument, NULL, 'e' },
	{ "program", required_argument, NULL, OPTION_PROGRAM },
	{ "module", required_argument, NULL, OPTION_MODULE },
	{ "rate", required_argument, NULL, OPTION_RATE },
	{ "arcs", no_argument, NULL, OPTION_ARCS },
	{ "max-memory", required_argument, NULL, OPTION_MAX_MEMORY },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const struct ppi_line line = {
	.verb = "export",
	.help = help,
	.letters = "f:i:o:e:qh",
	.options = long_options,
	.wrong = PPI_EXIT_USAGE,
};

static int read_format(struct ppi_export *export, const char *value)
{
	if (strcmp(value, "gmon") == 0)
		export->format = PPI_EXPORT_GMON;
	else if (strcmp(value, "folded") == 0)
		export->format = PPI_EXPORT_FOLDED;
	else if (strcmp(value, "speedscope") == 0)
		export->format = PPI_EXPORT_SPEEDSCOPE;
	else if (strcmp(value, "pprof") == 0)
		export->format = PPI_EXPORT_PPROF;
	else
		return ppi_say_usage(line.wrong, line.verb,
		                     "--format: '%s' is not one of gmon, "
		                     "folded, pprof, speedscope",
		                     value);
	return PPI_EXIT_OK;
}

static int read_rate(struct ppi_export *export, const char *value)
{
	uint64_t rate = 0;
	int status = ppi_line_number(&line, "--rate", value, 1, 1000000,
	                             "a number of ticks a second", &rate);

	export->rate_hz = (uint32_t)rate;
	return status;
}

static int read_option(struct ppi_export *export, int option, const char *value)
{
	switch (option) {
	case 'f':
		return read_format(export, value);
	case OPTION_MAX_MEMORY:
		return ppi_memory_option(&line, value, &export->memory_max);
	case OPTION_RATE:
		return read_rate(export, value);
	case 'i':
		export->input = value;
		break;
	case 'o':
		export->output = value;
		break;
	case 'e':
		export->event = value;
		break;
	case OPTION_PROGRAM:
		export->program = value;
		break;
	case OPTION_MODULE:
		export->module = value;
		break;
	case OPTION_ARCS:
		export->with_chains = true;
		break;
	default:
		export->is_quiet = true;
		break;
	}
	return PPI_EXIT_OK;
}

/* What does not go together, and what is not said. */
static int complete(struct ppi_export *export, int argc, char **argv)
{
	if (optind < argc && !export->input)
		export->input = argv[optind++];
	if (optind < argc)
		return ppi_line_too_many(&line, argv[optind],
		                         "one profile is read; what it is "
		                         "written to is named by -o");
	if (export->format == PPI_EXPORT_NONE)
		return ppi_say_usage(line.wrong, line.verb,
		                     "say in which format: --format gmon, "
		                     "folded, pprof or speedscope");
	if (export->format != PPI_EXPORT_GMON &&
	    (export->module || export->rate_hz || export->with_chains))
		return ppi_say_usage(line.wrong, line.verb,
		                     "--module, --rate and --arcs go "
		                     "with --format gmon alone");
	if (export->format == PPI_EXPORT_PPROF && export->event)
		return ppi_say_usage(line.wrong, line.verb,
		                     "--event: a pprof file has all events");
	if (export->format == PPI_EXPORT_PPROF && !export->output)
		return ppi_say_usage(line.wrong, line.verb,
		                     "say where to: -o FILE");
	if (!export->input)
		export->input = PPI_DEFAULT_OUTPUT;
	return -1;
}

/* -1: go on; else the exit status. */
static int read_options(struct ppi_export *export, int argc, char **argv)
{
	int option;

	ppi_line_begin();
	while ((option = ppi_line_next(&line, argc, argv)) >= 0) {
		int status = read_option(export, option, optarg);

		if (status != PPI_EXIT_OK)
			return status;
	}
	if (option != PPI_LINE_END)
		return ppi_line_status(&line, option);
	return complete(export, argc, argv);
}

static bool find_event(struct ppi_export *export)
{
	const portprof_profile_event *event;

	for (size_t i = 0;
	     (event = portprof_profile_event_get(export->profile, i)) != NULL;
	     i++)
		if (!export->event || strcmp(event->name, export->event) == 0 ||
		    strcmp(event->asked, export->event) == 0) {
			export->event_number = i;
			return true;
		}
	ppi_say("%s has no event%s%s", export->input, export->event ? " " : "",
	        export->event ? export->event : "");
	return false;
}

static bool export_pprof(const struct ppi_export *export)
{
	static const struct ppi_names_sources usual;

	if (!ppi_names_give(export->profile, &usual))
		return false;
	if (portprof_profile_write(export->profile, export->output) ==
	    PORTPROF_OK)
		return true;
	ppi_say_failure(NULL);
	return false;
}

static bool write_format(const struct ppi_export *export)
{
	switch (export->format) {
	case PPI_EXPORT_GMON:
		return ppi_export_gmon(export);
	case PPI_EXPORT_FOLDED:
		return ppi_export_folded(export);
	case PPI_EXPORT_SPEEDSCOPE:
		return ppi_export_speedscope(export);
	default:
		return export_pprof(export);
	}
}

/* A gmon.out is of the program that wrote it; else --program says where the
 * file lies that the samples are in, which gmon alone needs. */
static portprof_profile *open_input(struct ppi_export *export)
{
	const char *writer = NULL;

	if (portprof_gmon_is(export->input)) {
		writer = export->program;
		export->program = NULL;
	} else if (export->program && export->format != PPI_EXPORT_GMON) {
		ppi_say_usage(line.wrong, line.verb,
		              "--program goes with gmon.out alone");
		return NULL;
	}
	return ppi_profile_open(export->input, writer, export->memory_max);
}

int ppi_export_main(int argc, char **argv)
{
	struct ppi_export export = { 0 };
	portprof_profile *profile;
	int status = read_options(&export, argc, argv);
	const char *damage;

	if (status >= 0)
		return status;
	/* Looking for symbols must never download by itself. */
	unsetenv("DEBUGINFOD_URLS");
	ppi_memory_limit(export.memory_max);
	profile = open_input(&export);
	if (!profile)
		return PPI_EXIT_FAILED;
	export.profile = profile;
	damage = portprof_profile_origin_get(profile)->damage;
	if (damage)
		ppi_say("%s: %s", export.input, damage);
	status = find_event(&export) && write_format(&export) ? PPI_EXIT_OK
	                                                      : PPI_EXIT_FAILED;
	portprof_profile_free(profile);
	return status;
}
