/* SPDX-License-Identifier: MIT */
/* portprof config: checks a configuration file, and shows what is in force. */
#include "config.h"

#include "tools/config/config_show.h"

#include "tools/options.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"usage: portprof config [OPTION...] [SET]\n"
	"\n"
	"Reads the configuration file as portprof record does, with its set [SET] if\n"
	"you name one, and shows each setting in force and where it comes from.\n"
	"Mistakes are reported with line and column. Nothing is changed.\n"
	"\n"
	"      --config FILE   read this file (the first that exists, see below)\n"
	"  -j, --json          print JSON\n"
	"      --color WHEN    color the output: auto, always or never (auto)\n"
	"  -h, --help          print this help\n"
	"\n"
	"Files: $PORTPROF_CONFIG, $XDG_CONFIG_HOME/portprof/portprof.conf,\n"
	PPI_SYSCONFDIR "/portprof.conf. The settings of preloaded programs,\n"
	"$PORTPROF, are shown too.\n"
	"\n"
	"Exit status: 0 success, 1 a mistake or an unknown event, 2 wrong usage.\n";

enum { OPTION_CONFIG = 256, OPTION_COLOR };

static const struct option long_options[] = {
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "json", no_argument, NULL, 'j' },
	{ "color", required_argument, NULL, OPTION_COLOR },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const struct ppi_line line = {
	.verb = "config",
	.help = help,
	.letters = "jh",
	.options = long_options,
	.wrong = PPI_EXIT_USAGE,
};

/* -1: go on; else the exit status. */
static int read_options(int argc, char **argv, struct ppi_config_view *view,
                        bool *is_json)
{
	int option, status = PPI_EXIT_OK;

	ppi_line_begin();
	while (status == PPI_EXIT_OK &&
	       (option = ppi_line_next(&line, argc, argv)) != PPI_LINE_END) {
		if (option == OPTION_CONFIG)
			view->path = optarg;
		else if (option == 'j')
			*is_json = true;
		else if (option == OPTION_COLOR)
			status = ppi_line_color(&line, optarg);
		else
			return ppi_line_status(&line, option);
	}
	if (status != PPI_EXIT_OK)
		return status;
	if (optind < argc)
		view->set = argv[optind++];
	if (optind < argc)
		return ppi_line_too_many(&line, argv[optind],
		                         "one set at a time; a file is named "
		                         "by --config");
	return -1;
}

int ppi_config_main(int argc, char **argv)
{
	struct ppi_config_view view = { .path = NULL };
	bool is_json = false;
	int status = read_options(argc, argv, &view, &is_json);

	if (status >= 0)
		return status;
	status = PPI_EXIT_FAILED;
	if (ppi_config_view_read(&view)) {
		if (is_json)
			ppi_config_print_json(&view, stdout);
		else
			ppi_config_print_text(&view, stdout);
		status = view.is_good ? PPI_EXIT_OK : PPI_EXIT_FAILED;
	}
	ppi_config_view_free(&view);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		ppi_say("the settings could not be written");
		status = PPI_EXIT_FAILED;
	}
	return status;
}
