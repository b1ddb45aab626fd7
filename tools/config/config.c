/* SPDX-License-Identifier: MIT */
/* portprof config: checks a configuration file, and prints its settings. */
#include "config.h"

#include "tools/config/config_show.h"

#include "tools/options.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct ppi_config_view, member)

static const struct ppi_option table[] = {
	{ 0, "config", "FILE",
	  "read this file (the first that exists, see below)",
	  .take = ppi_take_text, .place = AT(path) },
	{ 'j', "json", NULL, "print JSON",
	  .take = ppi_take_flag, .place = AT(is_json) },
	PPI_COLOR_OPTION,
};

static const size_t places[] = { AT(set) };

static const struct ppi_line line = {
	.verb = "config",
	.usage = "[OPTION...] [SET]",
	.about = "Reads the configuration file as portprof record does, with "
	         "its set [SET] if given, and prints each setting in effect "
	         "and its origin. Mistakes are reported with line and column. "
	         "Nothing is changed.",
	.notes = "Files: $PORTPROF_CONFIG, "
	         "$XDG_CONFIG_HOME/portprof/portprof.conf, " PPI_SYSCONFDIR
	         "/portprof.conf. The settings of preloaded programs, "
	         "$PORTPROF, are shown too.\n"
	         "Exit status: 0 success, 1 a mistake or an unknown event, "
	         "2 wrong usage.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.places = places,
	.place_count = 1,
	.one_word_more = "give one set; a file is named by --config",
	.wrong = PPI_EXIT_USAGE,
};

int ppi_config_main(int argc, char **argv)
{
	struct ppi_config_view view = { .path = NULL };
	int status = ppi_line_read(&line, argc, argv, &view);

	if (status != PPI_LINE_READ)
		return status;
	status = PPI_EXIT_FAILED;
	if (ppi_config_view_read(&view)) {
		if (view.is_json)
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
