/* SPDX-License-Identifier: MIT */
/* Whether a program or library has call chains, function names and lines. */
#include "config.h"

#include "tools/doctor/doctor.h"

#include "tools/doctor/doctor_elf.h"
#include "tools/tools.h"

#include <stdlib.h>
#include <string.h>

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
		               percent > HARDLY ? PORTPROF_VERDICT_LIMITED : PORTPROF_VERDICT_FAILS,
		               remedy, "%s: %s, and %u %% of %u functions keep "
		               "a frame pointer: call chains (record -g) miss "
		               "callers in the others, or end", name, why,
		               percent, program->functions);
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
		               PORTPROF_VERDICT_UNKNOWN, NULL, "%s: unknown "
		               "how it was compiled, on this kind of CPU", name);
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

static void say_debug_remedy(const struct ppi_doctor_host *host, bool is_own,
                             const char *path, char *out, size_t room)
{
	static const struct {
		const char *id, *server;
	} servers[] = {
		{ "debian", "https://debuginfod.debian.net" },
		{ "ubuntu", "https://debuginfod.ubuntu.com" },
		{ "fedora", "https://debuginfod.fedoraproject.org" },
		{ "arch", "https://debuginfod.archlinux.org" },
		{ "opensuse", "https://debuginfod.opensuse.org" },
	};
	const char *server = "https://debuginfod.elfutils.org";
	char text[2048] = "";
	FILE *file;

	if (is_own) {
		snprintf(out, room, "compile it with -g, and do not strip it");
		return;
	}
	file = ppi_doctor_open_file(host, "/etc/os-release");
	if (file) {
		text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
		fclose(file);
	}
	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
		if (strstr(text, servers[i].id)) {
			server = servers[i].server;
			break;
		}
	snprintf(out, room, "install its debug package, or: DEBUGINFOD_URLS=%s "
	         "debuginfod-find debuginfo %.400s", server, path);
}

static void debug_info(struct ppi_doctor *doctor, const char *name,
                       const char *path, const struct ppi_program *program,
                       bool is_own)
{
	char remedy[640];

	say_debug_remedy(doctor->host, is_own, path, remedy, sizeof(remedy));
	if (program->has_lines ||
	    has_debug_file(doctor->host, program->build_id))
		ppi_doctor_add(doctor, PPI_TOPIC_PROGRAM, "debug-info",
		               PORTPROF_VERDICT_WORKS, NULL, "%s: functions and lines have "
		               "names%s", name,
		               program->has_lines ? "" : ", by a separate "
		                                         "debug file");
	else if (program->has_names)
		ppi_doctor_add(doctor, PPI_TOPIC_PROGRAM, "debug-info",
		               PORTPROF_VERDICT_LIMITED, remedy, "%s: "
		               "functions have names; lines and inlined "
		               "functions do not", name);
	else
		ppi_doctor_add(doctor, PPI_TOPIC_PROGRAM, "debug-info",
		               is_own ? PORTPROF_VERDICT_FAILS : PORTPROF_VERDICT_LIMITED, remedy,
		               "%s: it is stripped: only exported functions "
		               "have names%s", name,
		               program->build_id[0]
		               ? "" : ", and it has no build-id to find a "
		                      "debug file");
}

static void preload(struct ppi_doctor *doctor, const char *name,
                    const struct ppi_program *program)
{
	if (program->is_static)
		ppi_doctor_add(doctor, PPI_TOPIC_PROGRAM, "static",
		               PORTPROF_VERDICT_LIMITED, "use the backend perf, or link it "
		               "dynamically", "%s: it is linked statically: "
		               "timer and itimer cannot be loaded into it",
		               name);
}

bool ppi_doctor_program(struct ppi_doctor *doctor, const char *path)
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
