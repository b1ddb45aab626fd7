/* SPDX-License-Identifier: MIT */
/* portprof doctor: what works here, and how to enable the rest. */
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

#define AT(member) offsetof(struct options, member)

static const struct ppi_option table[] = {
	{ 'v', "verbose", NULL, "also list the checks that passed",
	  .take = ppi_take_flag, .place = AT(is_verbose) },
	{ 'j', "json", NULL, "print JSON",
	  .take = ppi_take_flag, .place = AT(is_json) },
	PPI_COLOR_OPTION,
};

static const size_t places[] = { AT(subject) };

static const struct ppi_line line = {
	.verb = "doctor",
	.usage = "[OPTION...] [EVENT | PROGRAM]",
	.about = "Shows what this user can measure on this machine, and the "
	         "command or setting that enables the rest. With an EVENT "
	         "(page-faults; portprof list shows all) it shows which "
	         "backends measure that event. With a program or library "
	         "(./app, python3) it shows whether callers, functions and "
	         "lines will have names.",
	.notes = "Each check tries the real thing and undoes it; nothing is "
	         "changed.\n"
	         "Exit status: 0 if sampling works (the EVENT can be measured, "
	         "the PROGRAM can be read), 1 if not, 2 wrong usage.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.places = places,
	.place_count = 1,
	.one_word_more = "give one event or one program",
	.wrong = PPI_EXIT_USAGE,
};

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
	struct options options = { .subject = NULL };
	char *program = NULL;
	int status = ppi_line_read(&line, argc, argv, &options);

	if (status != PPI_LINE_READ)
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
