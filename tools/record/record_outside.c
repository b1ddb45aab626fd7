/* SPDX-License-Identifier: MIT */
/* Recording a command from outside: by a session of this process on it. */
#include "config.h"

#include "tools/record/record.h"

#include "tools/tools.h"

int ppi_record_outside(const struct ppi_record *record)
{
	const char *output = record->settings.output;
	struct ppi_before before;
	struct ppi_child child;
	struct ppi_end end = { 0 };
	portprof_session *session;
	int status;

	ppi_record_look(output, &before);
	if (!ppi_child_start(&child, record->program,
	                     record->options.command, NULL))
		return PPI_EXIT_RECORD;
	session = ppi_record_open(record, child.pid);
	if (!session) {
		ppi_child_cancel(&child);
		return -1;
	}
	status = ppi_child_release(&child, record->options.command[0]);
	if (status) {
		/* The command passed every check, and still the system
		 * refuses to run it. */
		portprof_session_close(session);
		ppi_record_undo(output, &before);
		return status;
	}
	ppi_child_wait(&child, &end);
	ppi_say_end(record, &end);
	if (ppi_say_too_short(record, &end)) {
		portprof_session_close(session);
		ppi_record_undo(output, &before);
		return end.exit_status;
	}
	if (!ppi_record_finish(record, session, end.cpu_time_ns))
		return end.exit_status ? end.exit_status : PPI_EXIT_RECORD;
	return end.exit_status;
}
