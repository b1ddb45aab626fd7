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
	"What can be measured on this machine by this user, and for everything that\n"
	"cannot the exact command or setting that would change it. With an EVENT (such\n"
	"as page-faults; portprof list shows them), who can measure that one. With a\n"
	"program or library (./app, python3), whether its callers, functions and lines\n"
	"can be named.\n"
	"\n"
	"  -v, --verbose       tell what is well, too\n"
	"  -j, --json          for programs\n"
	"      --color WHEN    auto, always, never\n"
	"  -h, --help          this text\n"
	"\n"
	"Everything is found out by trying; nothing is changed, and nothing is left.\n"
	"Exit status: 0 if sampling works at all (the EVENT can be measured, the\n"
	"PROGRAM can be read), 1 if not, 2 wrong usage.\n";

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
	if (portprof_event_describe(name, "auto", &info) !=
	    PORTPROF_E_NOTFOUND)
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
