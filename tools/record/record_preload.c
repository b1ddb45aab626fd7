/* SPDX-License-Identifier: MIT */
/*
 * Recording from inside: each process of the command loads an object that
 * profiles it into a part of its own; afterwards the parts are put together.
 */
#include "config.h"

#include "tools/record/record.h"

#include "tools/record/parts.h"
#include "tools/tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

#define OBJECT "libportprof-preload.so"

/* ---- where the object is ---- */

static bool is_there(char *path)
{
	return access(path, R_OK) == 0;
}

/* Beside this program in a build tree, as installed, or where the whole
 * installation was moved to. */
static bool find_object(char *path, size_t bytes)
{
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (length > 0) {
		self[length] = '\0';
		slash = strrchr(self, '/');
		*slash = '\0';
		snprintf(path, bytes, "%s/" OBJECT, self);
		if (slash - self > 6 && strcmp(slash - 6, "/.libs") == 0 &&
		    is_there(path))
			return true;
	}
	snprintf(path, bytes, "%s/" OBJECT, PPI_PKGLIBDIR);
	if (is_there(path))
		return true;
	if (length <= 0)
		return false;
	snprintf(path, bytes, "%s/../lib/portprof/" OBJECT, self);
	return is_there(path);
}

/* ---- the environment of the command ---- */

static char *setting_of(const char *name, const char *value,
                        const char *more)
{
	size_t bytes = strlen(name) + strlen(value) + strlen(more) + 3;
	char *text = malloc(bytes);

	if (text)
		snprintf(text, bytes, "%s=%s%s%s", name, value,
		         more[0] ? ":" : "", more);
	return text;
}

static bool has_name(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

struct environment {
	char **list;
	char *preload, *settings;
};

static void free_environment(struct environment *environment)
{
	free(environment->list);
	free(environment->preload);
	free(environment->settings);
}

/* This process's own, with two entries added or replaced. */
static bool make_environment(struct environment *environment,
                             const char *object, const char *text)
{
	const char *before = getenv("LD_PRELOAD");
	size_t count = 0, kept = 0;

	while (environ[count])
		count++;
	environment->list = calloc(count + 3, sizeof(*environment->list));
	environment->preload =
		setting_of("LD_PRELOAD", object, before ? before : "");
	environment->settings = setting_of("PORTPROF", text, "");
	if (!environment->list || !environment->preload ||
	    !environment->settings)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!has_name(environ[i], "LD_PRELOAD") &&
		    !has_name(environ[i], "PORTPROF"))
			environment->list[kept++] = environ[i];
	environment->list[kept++] = environment->preload;
	environment->list[kept] = environment->settings;
	return true;
}

/* ---- before: would it work at all? ---- */

/*
 * Open a session on this process with the same settings: it never starts and
 * leaves no trace, but everything that the object in the command will be
 * refused is refused here, before the command runs.
 */
static bool rehearse(const struct ppi_record *record)
{
	portprof_config *config = ppi_settings_config(&record->settings);
	portprof_session *session = NULL;
	portprof_status status;

	if (!config)
		return false;
	/* the object follows children, whatever its backend can */
	status = portprof_config_set_children(config, 0);
	if (status == PORTPROF_OK)
		status = portprof_config_write_to(config,
		                                  record->settings.output);
	if (status == PORTPROF_OK)
		status = portprof_session_open(config, &session);
	portprof_config_free(config);
	if (status) {
		ppi_say_refusal(record);
		return false;
	}
	ppi_say_passed_over(record, session);
	portprof_session_close(session);
	return true;
}

/* A folder beside the output: on the same disk, private, and easily found
 * should it be left behind. */
static char *make_folder(const char *output)
{
	size_t bytes = strlen(output) + sizeof(".parts-XXXXXX");
	char *folder = malloc(bytes);

	if (!folder)
		return NULL;
	snprintf(folder, bytes, "%s.parts-XXXXXX", output);
	if (mkdtemp(folder))
		return folder;
	ppi_say("cannot make a folder beside '%s': %s", output,
	        strerror(errno));
	free(folder);
	return NULL;
}

/* The object may run in another working directory. */
static char *absolute(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : strdup(path);
}

/* ---- after: put the parts together ---- */

static bool replace_output(const portprof_profile *profile, const char *path)
{
	size_t bytes = strlen(path) + sizeof(".old");
	char *old = malloc(bytes);

	if (old && access(path, F_OK) == 0) {
		snprintf(old, bytes, "%s.old", path);
		if (rename(path, old) != 0)
			ppi_say("'%s' cannot be kept as '%s': %s", path, old,
			        strerror(errno));
	}
	free(old);
	return portprof_profile_write(profile, path) == PORTPROF_OK;
}

static void say_merged(const struct ppi_record *record,
                       const portprof_profile *profile)
{
	const portprof_profile_event *event =
		portprof_profile_event_get(profile, 0);
	portprof_event_info info = { .size = sizeof(info) };

	if (!event)
		return;
	info.unit = event->unit;
	snprintf(info.canonical, sizeof(info.canonical), "%s", event->name);
	ppi_say_summary(record, portprof_profile_origin_get(profile)->backend,
	                &info, &event->stats);
}

static void explain_nothing(const struct ppi_record *record)
{
	const char *why = ppi_why_not_preloaded(record->program);

	ppi_say("nothing was recorded: no process of the command loaded "
	        OBJECT);
	if (why)
		ppi_say("'%s' %s", record->program, why);
	else
		ppi_say("did it clear its environment, or was it killed in its "
		        "first moments?");
	ppi_say("only perf measures such a program: portprof record -b perf "
	        "says what it needs");
}

/* Of a part of the command's life its clocks tell nothing. */
static bool set_times(portprof_profile *profile,
                      const struct ppi_settings *settings,
                      const struct ppi_end *end)
{
	if (settings->delay_ms || settings->duration_ms)
		return true;
	return portprof_profile_set_cpu_time(profile, end->cpu_time_ns) ==
	               PORTPROF_OK &&
	       portprof_profile_set_duration(profile, end->duration_ns) ==
	               PORTPROF_OK;
}

static bool gather(const struct ppi_record *record, const char *folder,
                   const struct ppi_end *end)
{
	struct ppi_parts parts;
	portprof_profile *profile = ppi_parts_read(folder, &parts);
	bool is_good;

	if (!profile && parts.unread == 0) {
		is_good = ppi_say_too_short(record, end);
		if (!is_good)
			explain_nothing(record);
		ppi_parts_remove(folder, true);
		return is_good;
	}
	is_good = profile &&
	          set_times(profile, &record->settings, end) &&
	          replace_output(profile, record->settings.output);
	if (!is_good) {
		if (profile)
			ppi_say_failure("writing");
		ppi_say("the parts, one a process, are left in '%s': portprof "
		        "report -i reads it",
		        folder);
	} else {
		ppi_parts_remove(folder, parts.running == 0);
		say_merged(record, profile);
		if (parts.running)
			ppi_say_left(record, parts.running, folder);
	}
	portprof_profile_free(profile);
	return is_good;
}

/* ---- the run ---- */

static int run(const struct ppi_record *record, const char *folder,
               const struct environment *environment)
{
	struct ppi_child child;
	struct ppi_end end = { 0 };
	int status;

	if (!ppi_child_start(&child, record->program,
	                     record->options.command, environment->list))
		return PPI_EXIT_RECORD;
	status = ppi_child_release(&child, record->options.command[0]);
	if (status) {
		ppi_parts_remove(folder, true);
		return status;
	}
	ppi_child_wait(&child, &end);
	ppi_say_end(record, &end);
	if (!gather(record, folder, &end))
		return end.exit_status ? end.exit_status : PPI_EXIT_RECORD;
	return end.exit_status;
}

static int run_in(const struct ppi_record *record, const char *object,
                  const char *folder)
{
	char *full = absolute(folder), *pattern = NULL, *text = NULL;
	struct environment environment = { 0 };
	int status = PPI_EXIT_RECORD;

	pattern = full ? malloc(strlen(full) + 32) : NULL;
	if (pattern) {
		snprintf(pattern, strlen(full) + 32, "%s/part-%%n-%%p.pb.gz",
		         full);
		text = ppi_settings_text(&record->settings, pattern);
	}
	if (!text || !make_environment(&environment, object, text))
		ppi_say("out of memory");
	else
		status = run(record, folder, &environment);
	free_environment(&environment);
	free(text);
	free(pattern);
	free(full);
	return status;
}

int ppi_record_preload(const struct ppi_record *record)
{
	char object[4160];
	char *folder;
	int status;

	if (strpbrk(record->settings.output, ";\n%")) {
		ppi_say("'%s': without perf the output's name must have no "
		        "';', '%%' or newline in it",
		        record->settings.output);
		return PPI_EXIT_RECORD;
	}
	if (!rehearse(record))
		return PPI_EXIT_RECORD;
	if (!find_object(object, sizeof(object))) {
		ppi_say("cannot find " OBJECT ", which profiles from inside; "
		        "it belongs to %s",
		        PPI_PKGLIBDIR);
		return PPI_EXIT_RECORD;
	}
	folder = make_folder(record->settings.output);
	if (!folder)
		return PPI_EXIT_RECORD;
	status = run_in(record, object, folder);
	free(folder);
	return status;
}
