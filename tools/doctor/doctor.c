/* SPDX-License-Identifier: MIT */
/* portprof doctor: what works here, and what would unlock the rest. */
#include "config.h"

#include "tools/doctor/doctor.h"

#include "tools/launch.h"
#include "tools/options.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
	const char *subject; /* an event, or a program; NULL */
	bool is_json, is_verbose;
};

static const char help[] =
	"usage: portprof doctor [OPTION...] [EVENT | PROGRAM]\n"
	"\n"
	"Shows what this user can measure on this machine, and the command or setting\n"
	"that enables the rest. With an EVENT (page-faults; portprof list shows all)\n"
	"it shows which backends measure that event. With a program or library (./app,\n"
	"python3) it shows whether callers, functions and lines will have names.\n"
	"\n"
	"  -v, --verbose       also list the checks that passed\n"
	"  -j, --json          print JSON\n"
	"      --color WHEN    color the output: auto, always or never (auto)\n"
	"  -h, --help          print this help\n"
	"\n"
	"Each check tries the real thing and undoes it; nothing is changed.\n"
	"Exit status: 0 if sampling works (the EVENT can be measured, the PROGRAM can\n"
	"be read), 1 if not, 2 wrong usage.\n";

enum { OPTION_COLOR = 256 };

static const struct option long_options[] = {
	{ "verbose", no_argument, NULL, 'v' },
	{ "json", no_argument, NULL, 'j' },
	{ "color", required_argument, NULL, OPTION_COLOR },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const struct ppi_line line = {
	.verb = "doctor",
	.help = help,
	.letters = "vjh",
	.options = long_options,
	.wrong = PPI_EXIT_USAGE,
};

/* -1: go on; else the exit status. */
static int read_options(int argc, char **argv, struct options *options)
{
	int option, status = PPI_EXIT_OK;

	memset(options, 0, sizeof(*options));
	ppi_line_begin();
	while (status == PPI_EXIT_OK &&
	       (option = ppi_line_next(&line, argc, argv)) != PPI_LINE_END) {
		if (option == 'v')
			options->is_verbose = true;
		else if (option == 'j')
			options->is_json = true;
		else if (option == OPTION_COLOR)
			status = ppi_line_color(&line, optarg);
		else
			return ppi_line_status(&line, option);
	}
	if (status != PPI_EXIT_OK)
		return status;
	if (optind < argc)
		options->subject = argv[optind++];
	if (optind < argc)
		return ppi_line_too_many(&line, argv[optind],
		                         "one event or one program at a time");
	return -1;
}

static int examine_event(const struct ppi_doctor *doctor,
                         const struct options *options)
{
	struct ppi_doctor_event event;

	if (!ppi_doctor_ask_event(doctor, options->subject, &event))
		return PPI_EXIT_FAILED;
	if (options->is_json)
		ppi_doctor_print_event_json(&event, stdout);
	else
		ppi_doctor_print_event(&event, stdout);
	return event.is_usable ? PPI_EXIT_OK : PPI_EXIT_FAILED;
}

static int examine_host(struct ppi_doctor *doctor,
                        const struct options *options)
{
	ppi_doctor_program(doctor, NULL);
	if (options->is_json)
		ppi_doctor_print_json(doctor, stdout);
	else
		ppi_doctor_print_text(doctor, options->is_verbose, stdout);
	return doctor->can_sample ? PPI_EXIT_OK : PPI_EXIT_FAILED;
}

/* Of what no event is called, the program that is meant, to be freed: here, or
 * where the shell would find it. NULL when there is none. */
static char *find_program(const char *name)
{
	portprof_event_info info = { .size = sizeof(info) };

	/* no event string has a slash */
	if (strchr(name, '/'))
		return strdup(name);
	if (portprof_event_look_up(name, "auto", &info) != PORTPROF_E_NOTFOUND)
		return NULL;
	return access(name, R_OK) == 0 ? strdup(name)
	                               : ppi_search_program(name);
}

static int examine_program(struct ppi_doctor *doctor,
                           const struct options *options, const char *path)
{
	bool is_good = ppi_doctor_program(doctor, path);

	if (options->is_json)
		ppi_doctor_print_program_json(doctor, stdout);
	else
		ppi_doctor_print_program(doctor, stdout);
	return is_good ? PPI_EXIT_OK : PPI_EXIT_FAILED;
}

int ppi_doctor_main(int argc, char **argv)
{
	struct ppi_doctor_host host;
	struct ppi_doctor doctor;
	struct options options;
	char *program = NULL;
	int status = read_options(argc, argv, &options);

	if (status >= 0)
		return status;
	ppi_doctor_host_fill(&host);
	ppi_doctor_examine(&doctor, &host);
	if (options.subject)
		program = find_program(options.subject);
	if (!options.subject)
		status = examine_host(&doctor, &options);
	else if (program)
		status = examine_program(&doctor, &options, program);
	else
		status = examine_event(&doctor, &options);
	free(program);
	if (doctor.is_out_of_memory) {
		ppi_say("out of memory: some findings are missing");
		status = PPI_EXIT_FAILED;
	}
	ppi_doctor_free(&doctor);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		ppi_say("the findings could not be written");
		status = PPI_EXIT_FAILED;
	}
	return status;
}
