/* SPDX-License-Identifier: MIT */
/*
 * portprof doctor: what works here, and how to enable the rest. It examines the
 * host, or one event, or one program.
 *
 *   doctor_examine.c      the host: backends, machine, this build
 *   doctor_elf.c          what a program's file offers to a profiler;
 *                         doctor_elf_stub.c in a build without libelf
 *   doctor_print.c        findings as text and as JSON
 *   doctor_kernel_real.c  the real host, which tests replace
 */
#include "config.h"

#include "tools/doctor/doctor.h"

#include "tools/launch.h"
#include "tools/options.h"
#include "tools/tools.h"
#include "tools/symbols/symbols_download.h"
#include "tools/view/remedy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- one event ---- */

/* One event: which backends can measure it here, and why others cannot. */

/* Backends that are chosen automatically, if they are of this system. */
static bool is_of_interest(const portprof_backend_info *backend)
{
	return backend->rank >= 0 && ppi_backend_is_here(backend);
}

static void add_finding(const struct ppi_doctor *doctor,
                        struct ppi_doctor_event *event, const char *name)
{
	const struct ppi_finding *finding = ppi_doctor_find(doctor, name);
	size_t room = sizeof(event->findings) / sizeof(event->findings[0]);

	if (finding && finding->verdict != PORTPROF_VERDICT_WORKS &&
	    event->finding_count < room)
		event->findings[event->finding_count++] = finding;
}

/* Which findings say what stands in the way of an event that was refused so. */
static void add_causes(const struct ppi_doctor *doctor,
                       struct ppi_doctor_event *event,
                       const portprof_diag *why)
{
	static const char *const rights[] = { "system-call-filter", "paranoid",
		                              "security-module", "kernel",
		                              "no-descriptor",
		                              "user-namespace" };

	if (why->reason == PORTPROF_REASON_NEEDS_MOUNT) {
		add_finding(doctor, event, "tracepoints");
		return;
	}
	switch (why->os_errno) {
	case EACCES:
	case EPERM:
	case ENOSYS:
		for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
			add_finding(doctor, event, rights[i]);
		if (why->reason == PORTPROF_REASON_NEEDS_TRACING)
			add_finding(doctor, event, "tracepoints");
		break;
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case EBUSY:
		add_finding(doctor, event, "hardware-events");
		add_finding(doctor, event, "watchdog");
		break;
	case EMFILE:
		add_finding(doctor, event, "descriptors");
		break;
	default:
		if (why->status == PORTPROF_E_UNSUPPORTED)
			add_finding(doctor, event, "cpu-events");
	}
}

bool ppi_doctor_ask_event(const struct ppi_doctor *doctor, const char *asked,
                          struct ppi_doctor_event *event)
{
	const struct ppi_doctor_host *host = doctor->host;
	portprof_diag why;
	bool is_known = false;

	memset(event, 0, sizeof(*event));
	event->asked = asked;
	for (size_t i = 0; i < doctor->backend_count; i++) {
		const portprof_backend_info *backend = &doctor->backends[i];
		portprof_event_info info = { .size = sizeof(info) };
		struct ppi_doctor_answer *answer;
		portprof_status status;

		if (!is_of_interest(backend))
			continue;
		answer = &event->answers[event->answer_count++];
		snprintf(answer->backend, sizeof(answer->backend), "%s",
		         backend->name);
		status = host->explain(host->self, asked, backend->name, &info,
		                       &why);
		answer->is_usable = status == PORTPROF_OK &&
		                    backend->is_usable;
		answer->is_counted_only = info.is_counted_only;
		event->is_usable |= answer->is_usable;
		is_known |= status != PORTPROF_E_NOTFOUND &&
		            status != PORTPROF_E_INVALID;
		if (status != PORTPROF_OK)
			answer->why = why;
		else if (!backend->is_usable)
			ppi_refusal_of(backend, &answer->why);
		if (status != PORTPROF_OK && event->finding_count == 0)
			add_causes(doctor, event, &why);
		if (event->answer_count == 1 && status != PORTPROF_OK &&
		    (status == PORTPROF_E_NOTFOUND ||
		     status == PORTPROF_E_INVALID)) {
			if (status == PORTPROF_E_NOTFOUND)
				ppi_say_no_match(
					asked, &why,
					"portprof list shows all events; name "
					"a program by its path");
			else
				ppi_say("%s", why.words);
			return false;
		}
	}
	return is_known;
}

/* ---- one program ---- */

/* Whether a program or library has call chains, function names and lines. */

enum { MOSTLY = 50, HARDLY = 20 }; /* percent of functions with a frame */

/* The C library that this command runs with. */
static bool find_libc(const struct ppi_doctor_host *host, char *path,
                      size_t room)
{
	char name[512], line[1024];
	bool is_found = false;
	FILE *maps;

	snprintf(name, sizeof(name), "%s/proc/self/maps", host->root);
	maps = fopen(name, "re");
	while (maps && !is_found && fgets(line, sizeof(line), maps)) {
		char *file = strchr(line, '/');

		if (!file || (!strstr(file, "/libc.so") &&
		              !strstr(file, "/ld-musl")))
			continue;
		snprintf(path, room, "%s%.*s", host->root,
		         (int)strcspn(file, "\n"), file);
		is_found = true;
	}
	if (maps)
		fclose(maps);
	return is_found;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Whether a session can follow frame tables here, whatever the program has. */
static const char *why_no_tables(const struct ppi_doctor *doctor)
{
	for (size_t i = 0; i < doctor->backend_count; i++)
		if (doctor->backends[i].is_usable &&
		    doctor->backends[i].caps & PORTPROF_CAP_UNWIND)
			return doctor->host->unwind_missing;
	return "no backend that works here copies stacks";
}

/* By frame pointers alone. */
static void frames(struct ppi_doctor *doctor, const char *name,
                   const struct ppi_program *program, const char *why,
                   const char *remedy)
{
	unsigned percent = program->framed * 100 / program->functions;

	if (percent >= MOSTLY)
		ppi_doctor_add(doctor, PPI_TOPIC_PROGRAM, "call-chains",
		               PORTPROF_VERDICT_WORKS, NULL, "%s: %u %% of %u "
		               "functions keep a frame pointer: portprof "
		               "record -g finds their callers", name, percent,
		               program->functions);
	else
		ppi_doctor_add(doctor, PPI_TOPIC_PROGRAM, "call-chains",
			       percent > HARDLY ? PORTPROF_VERDICT_LIMITED
						: PORTPROF_VERDICT_FAILS,
			       remedy,
			       "%s: %s, and %u %% of %u functions keep "
			       "a frame pointer: call chains (record -g) miss "
			       "callers in the others, or end",
			       name, why, percent, program->functions);
}

static void chains(struct ppi_doctor *doctor, const char *name,
                   const struct ppi_program *program, bool is_own)
{
	const char *missing = why_no_tables(doctor);
	/* small functions are not looked at, but have tables as well */
	bool has_tables = program->tabled &&
	                  program->tabled * 10 >= program->functions * 9;

	if (!program->is_known)
		ppi_doctor_add(doctor, PPI_TOPIC_PROGRAM, "call-chains",
			       PORTPROF_VERDICT_UNKNOWN, NULL,
			       "%s: unknown "
			       "how it was compiled, on this kind of CPU",
			       name);
	else if (program->is_go && !has_tables) /* since Go 1.7 and 1.12 */
		ppi_doctor_add(doctor, PPI_TOPIC_PROGRAM, "call-chains",
		               PORTPROF_VERDICT_WORKS, NULL, "%s: it is a Go "
		               "program, whose functions keep a frame pointer: "
		               "portprof record -g finds their callers", name);
	else if (has_tables && !missing)
		ppi_doctor_add(doctor, PPI_TOPIC_PROGRAM, "call-chains",
		               PORTPROF_VERDICT_WORKS, NULL, "%s: %u functions "
		               "have frame tables: portprof record -g finds "
		               "their callers", name, program->tabled);
	else if (program->functions == 0)
		ppi_doctor_add(doctor, PPI_TOPIC_PROGRAM, "call-chains",
		               PORTPROF_VERDICT_UNKNOWN, NULL, "%s: it has no "
		               "named functions to examine", name);
	else if (has_tables)
		frames(doctor, name, program, missing, is_own
		       ? "a build of portprof with elfutils (libdw) reads its "
		         "frame tables; or compile it with " PPI_FRAME_FLAG
		       : "a build of portprof with elfutils (libdw) reads its "
		         "frame tables; or compile your own code with "
		         PPI_FRAME_FLAG ": calls within it are recorded then");
	else
		frames(doctor, name, program, "it has no frame tables", is_own
		       ? "compile it without -fno-asynchronous-unwind-tables, "
		         "or with " PPI_FRAME_FLAG
		       : "use a build with frame tables or frame pointers");
}

/* Where distributions keep what they stripped: the first two digits of the
 * build-id are a folder. */
static bool has_debug_file(const struct ppi_doctor_host *host,
                           const char *build_id)
{
	char path[256];
	FILE *file;

	if (strlen(build_id) < 3)
		return false;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug",
	         build_id, build_id + 2);
	file = ppi_doctor_open_file(host, path);
	if (file)
		fclose(file);
	return file != NULL;
}

static void say_debug_remedy(const struct ppi_doctor_host *host,
                             const struct ppi_program *program, bool is_own,
                             const char *path, char *out, size_t room)
{
	if (is_own && program->is_go)
		snprintf(out, room, "build it without -s and -w of go build's "
		         "-ldflags, and do not strip it");
	else if (is_own)
		snprintf(out, room, "compile it with -g, and do not strip it");
	else
		ppi_debug_remedy(host->root, path, "record --debuginfod -- "
		                 "COMMAND", ppi_download_is_here(), out, room);
}

static void debug_info(struct ppi_doctor *doctor, const char *name,
                       const char *path, const struct ppi_program *program,
                       bool is_own)
{
	char remedy[640];

	/* who installed a program cannot compile it in another way */
	say_debug_remedy(doctor->host, program,
	                 is_own && !ppi_is_packaged(path), path, remedy,
	                 sizeof(remedy));
	if (program->has_lines ||
	    has_debug_file(doctor->host, program->build_id))
		ppi_doctor_add(doctor, PPI_TOPIC_PROGRAM, "debug-info",
			       PORTPROF_VERDICT_WORKS, NULL,
			       "%s: functions and lines have "
			       "names%s",
			       name,
			       program->has_lines ? ""
						  : ", by a separate "
						    "debug file");
	else if (program->has_names)
		ppi_doctor_add(doctor, PPI_TOPIC_PROGRAM, "debug-info",
		               PORTPROF_VERDICT_LIMITED, remedy, "%s: "
		               "functions have names; lines and inlined "
		               "functions do not", name);
	else
		ppi_doctor_add(doctor, PPI_TOPIC_PROGRAM, "debug-info",
			       is_own ? PORTPROF_VERDICT_FAILS
				      : PORTPROF_VERDICT_LIMITED,
			       remedy,
			       "%s: it is stripped: only exported functions "
			       "have names%s",
			       name,
			       program->build_id[0]
				       ? ""
				       : ", and it has no build-id to find a "
					 "debug file");
}

static void preload(struct ppi_doctor *doctor, const char *name,
                    const struct ppi_program *program)
{
	if (program->is_static)
		ppi_doctor_add(doctor, PPI_TOPIC_PROGRAM, "static",
			       PORTPROF_VERDICT_LIMITED,
			       "use the backend perf, or link it "
			       "dynamically",
			       "%s: it is linked statically: "
			       "timer and itimer cannot be loaded into it",
			       name);
}

/* Whether calls, names and lines of a program can be told; NULL: of the C
 * library. False when the file is none that can be read. */
static bool examine_file(struct ppi_doctor *doctor, const char *path)
{
	bool is_own = path != NULL;
	struct ppi_program program;
	char libc[1024];
	int error;

	if (!path && !find_libc(doctor->host, libc, sizeof(libc)))
		return true;
	if (!path)
		path = libc;
	error = ppi_program_read(path, &program);
	if (error) {
		ppi_doctor_add(doctor, PPI_TOPIC_PROGRAM, "program",
		               PORTPROF_VERDICT_UNKNOWN, error == -2
		               ? "install libelf-dev and build portprof again"
		               : error == -1
		               ? "for a script, name its interpreter (first "
		                 "line); a source file must be compiled"
		               : NULL, "%s: %s", path,
		               error > 0 ? strerror(error)
		               : error == -1 ? "this is not an ELF program"
		                             : "programs cannot be read "
		                               "without libelf");
		return false;
	}
	preload(doctor, last_part(path), &program);
	chains(doctor, last_part(path), &program, is_own);
	debug_info(doctor, last_part(path), path, &program, is_own);
	return true;
}

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

/* ---- the verb ---- */

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
	examine_file(doctor, NULL);
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
	bool is_good = examine_file(doctor, path);

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
	if (!ppi_stdout_is_whole("the findings"))
		status = PPI_EXIT_FAILED;
	return status;
}
