/* SPDX-License-Identifier: MIT */
/* Recording a command: by a session of this process. */
#include "config.h"

#include "tools/record/record.h"

#include "tools/tools.h"

#include <signal.h>
#include <stdio.h>

/* The command passed every check, and still the system refuses to run it; or
 * nothing was measured after all. */
static int undo(const struct ppi_record *record, portprof_session *session,
                const struct ppi_before *before, int status)
{
	portprof_session_close(session);
	ppi_record_undo(record->spool.path, before);
	return status;
}

/* Until whoever watches has seen enough; a command that was started for it ends
 * then, too. One that a signal ended leaves nothing to look at. */
static void show_until_end(struct ppi_live *live, portprof_session *session,
                           struct ppi_child *child)
{
	char ended[64] = "";

	while (live->turn(live, session, ended) && !ppi_kept_signal()) {
		if (ended[0] || !ppi_child_has_ended(child))
			continue;
		ppi_pass_signals_to(0);
		if (ppi_child_was_killed(child))
			break;
		snprintf(ended, sizeof(ended), "the command has ended");
	}
	if (!ended[0] && !ppi_child_has_ended(child))
		kill(child->pid, SIGTERM);
	live->end(live);
}

int ppi_record_command(const struct ppi_record *record,
                       portprof_config *config, char *const *environment)
{
	struct ppi_before before;
	struct ppi_child child = {
		.has_no_terminal = record->live != NULL,
		.has_no_output = record->spool.is_standard_output,
	};
	struct ppi_end end = { 0 };
	portprof_session *session;
	int status;

	ppi_record_look(record->spool.path, &before);
	if (!config || !ppi_child_start(&child, record->program,
	                                record->options.command, environment)) {
		portprof_config_free(config);
		return PPI_EXIT_RECORD;
	}
	session = ppi_record_open(record, config, child.pid);
	if (!session) {
		ppi_child_cancel(&child);
		return ppi_kept_signal() ? 128 + ppi_kept_signal() : -1;
	}
	status = ppi_child_release(&child, record->options.command[0]);
	if (status)
		return undo(record, session, &before, status);
	if (record->live)
		show_until_end(record->live, session, &child);
	/* what its last samples stand for can be asked until it is reaped */
	ppi_child_await_end(&child);
	portprof_session_flush(session);
	ppi_child_wait(&child, &end);
	ppi_say_end(record, &end);
	if (ppi_say_too_short(record, &end))
		return undo(record, session, &before, end.exit_status);
	if (portprof_session_stop(session) == PORTPROF_E_NOTFOUND) {
		ppi_say_nobody(record);
		return undo(record, session, &before,
		            end.exit_status ? end.exit_status
		                            : PPI_EXIT_RECORD);
	}
	if (!ppi_record_finish(record, session, &end))
		return end.exit_status ? end.exit_status : PPI_EXIT_RECORD;
	return end.exit_status;
}

int ppi_record_outside(const struct ppi_record *record)
{
	return ppi_record_command(record,
	                          ppi_settings_config(&record->settings), NULL);
}
