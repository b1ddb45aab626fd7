/* SPDX-License-Identifier: MIT */
/* Recording from outside: a session of this process on the command's. */
#include "config.h"

#include "tools/record.h"

#include "tools/launch.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static portprof_session *open_session(const struct ppi_record *record,
                                      const struct ppi_child *child)
{
	portprof_config *config = ppi_settings_config(&record->settings);
	portprof_session *session = NULL;
	portprof_status status;

	if (!config)
		return NULL;
	status = portprof_config_target_command(config, child->pid);
	if (status == PORTPROF_OK)
		status = portprof_config_write_to(config,
		                                  record->settings.output);
	if (status == PORTPROF_OK)
		status = portprof_session_open(config, &session);
	/* what fails counts as nothing: the caller reads the diagnostic */
	if (status == PORTPROF_OK && portprof_session_start(session)) {
		portprof_session_close(session);
		session = NULL;
	}
	portprof_config_free(config);
	return session;
}

static void say_passed_over(const portprof_session *session)
{
	const char *name, *reason;

	for (size_t i = 0;
	     portprof_session_passed_over(session, i, &name, &reason) ==
	     PORTPROF_OK;
	     i++)
		ppi_say("%s was passed over: %s", name, reason);
}

/*
 * The command passed every check, and still the system refuses to run it. A
 * session that was started leaves a file: put back what was there before.
 */
static void undo_output(const char *path, bool had_one)
{
	size_t bytes = strlen(path) + sizeof(".old");
	char *old = malloc(bytes);

	if (had_one && old) {
		snprintf(old, bytes, "%s.old", path);
		rename(old, path);
	} else if (!had_one) {
		unlink(path);
	}
	free(old);
}

static bool finish(const struct ppi_record *record, portprof_session *session,
                   const struct ppi_end *end)
{
	portprof_stats stats = { .size = sizeof(stats) };
	portprof_event_info event = { .size = sizeof(event) };
	const char *backend = portprof_session_backend(session);
	bool is_known;

	if (portprof_session_stop(session))
		ppi_say_failure("stopping");
	portprof_session_set_cpu_time(session, end->cpu_time_ns);
	is_known = portprof_session_stats(session, 0, &stats) == PORTPROF_OK &&
	           portprof_session_event(session, 0, &event) == PORTPROF_OK;
	if (!record->options.is_quiet)
		say_passed_over(session);
	if (portprof_session_close(session)) {
		ppi_say_failure("writing");
		return false;
	}
	if (is_known)
		ppi_say_summary(record, backend, &event, &stats);
	return true;
}

int ppi_record_outside(const struct ppi_record *record)
{
	const char *output = record->settings.output;
	bool had_one = access(output, F_OK) == 0;
	struct ppi_child child;
	struct ppi_end end = { 0 };
	portprof_session *session;
	int status;

	if (!ppi_child_start(&child, record->program,
	                     record->options.command, NULL))
		return PPI_EXIT_RECORD;
	session = open_session(record, &child);
	if (!session) {
		ppi_child_cancel(&child);
		return -1;
	}
	status = ppi_child_release(&child, record->options.command[0]);
	if (status) {
		portprof_session_close(session);
		undo_output(output, had_one);
		return status;
	}
	ppi_child_wait(&child, &end);
	if (!finish(record, session, &end))
		return PPI_EXIT_RECORD;
	return end.exit_status;
}
