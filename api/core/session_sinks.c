/* SPDX-License-Identifier: MIT */
/* A session's sinks, all together: open, flush, turn, finish, drop. */
#include "api/core/session.h"

#include "api/common/diag.h"

#include <stdlib.h>

static bool wants_account(const struct portprof_session *session)
{
	for (size_t i = 0; i < session->sink_count; i++)
		if (session->sinks[i].ops->wants_account)
			return true;
	return false;
}

/* What sinks may know; `stats` has room for every event. */
static struct ppi_run run_of(struct portprof_session *session,
                             portprof_stats *stats)
{
	const struct ppi_opened *opened = &session->opened;
	struct ppi_run run = {
		.plan = &opened->box.plan,
		.backend = opened->bs.ops->name,
		.caps = opened->bs.caps,
		.passed_over_names = opened->passed_over.names.data,
		.passed_over_reasons = opened->passed_over.reasons.data,
		.passed_over_count = opened->passed_over.names.count,
		.notes = (const char (*)[PPI_NOTE_BYTES])opened->notes,
		.note_count = opened->bs.note_count,
		.stats = stats,
		.life = opened->bs.life,
		.start_realtime_ns = session->stretch.first_realtime_ns,
		.duration_ns = session->stretch.ran_ns,
	};

	if (session->is_running)
		run.duration_ns += ppi_session_clock_ns(CLOCK_MONOTONIC) -
		                   session->stretch.begun_ns;
	if (wants_account(session))
		for (size_t i = 0; i < run.plan->event_count; i++)
			ppi_account_fill(session, i, &stats[i]);
	return run;
}

static portprof_stats *stats_room(const struct portprof_session *session)
{
	return calloc(session->opened.box.plan.event_count,
	              sizeof(portprof_stats));
}

portprof_status ppi_session_flush_sinks(struct portprof_session *session,
                                        struct ppi_diag *why)
{
	portprof_status first = PORTPROF_OK;
	portprof_stats *stats;
	struct ppi_run run;

	if (session->is_complete)
		return PORTPROF_OK;
	stats = stats_room(session);
	if (!stats)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "flush",
		                "out of memory");
	run = run_of(session, stats);
	for (size_t i = 0; i < session->sink_count; i++) {
		struct ppi_sink *sink = &session->sinks[i];
		struct ppi_diag now = { 0 };
		portprof_status status = sink->ops->flush(sink, &run, &now);

		if (status && first == PORTPROF_OK) {
			first = status;
			*why = now;
			ppi_session_remember(session, &now);
		}
	}
	free(stats);
	return first;
}

/* `run` is NULL in a forked child, after a failed open and for want of memory: then
 * only memory is freed. */
static portprof_status close_sinks(struct portprof_session *session,
                                   const struct ppi_run *run,
                                   struct ppi_diag *why)
{
	portprof_status first = PORTPROF_OK;

	for (size_t i = session->is_complete ? 0 : session->sink_count; i > 0;) {
		struct ppi_sink *sink = &session->sinks[--i];
		struct ppi_diag now = { 0 };
		portprof_status status = sink->ops->close(sink, run, &now);

		if (status && first == PORTPROF_OK) {
			first = status;
			*why = now;
		}
	}
	return first;
}

portprof_status ppi_session_turn_sinks(struct portprof_session *session,
                                       const char *path, struct ppi_diag *why)
{
	portprof_status status = PORTPROF_OK;
	portprof_stats *stats = stats_room(session);
	bool has_file = false;
	struct ppi_run run;

	if (!stats)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "turn",
		                "out of memory");
	run = run_of(session, stats);
	for (size_t i = 0; i < session->sink_count && !status; i++) {
		struct ppi_sink *sink = &session->sinks[i];

		if (!sink->ops->turn)
			continue;
		if (has_file)
			status = ppi_fail(why, PORTPROF_E_INVALID, 0, "turn",
			                  "this session writes several files: a "
			                  "window is one");
		else
			status = sink->ops->turn(sink, &run, path, why);
		has_file = true;
	}
	free(stats);
	if (has_file)
		return status;
	return ppi_fail(why, PORTPROF_E_INVALID, 0, "turn",
	                "this session writes no file");
}

portprof_status ppi_session_open_sinks(struct portprof_session *session,
                                       struct ppi_diag *why)
{
	const portprof_config *config = session->opened.config;
	portprof_stats *stats = stats_room(session);
	portprof_status status = PORTPROF_OK;
	struct ppi_run run;

	if (!stats)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open",
		                "out of memory");
	run = run_of(session, stats);
	for (size_t i = 0; i < config->sink_count && !status; i++) {
		struct ppi_sink *sink = &session->sinks[i];

		sink->ops = config->sinks[i].ops;
		sink->request = &config->sinks[i];
		status = sink->ops->open(sink, &run, why);
		session->sink_count += status == PORTPROF_OK;
	}
	if (status)
		ppi_session_drop_sinks(session);
	free(stats);
	return status;
}

portprof_status ppi_session_finish_sinks(struct portprof_session *session,
                                         struct ppi_diag *why)
{
	portprof_stats *stats = stats_room(session);
	struct ppi_run run;
	portprof_status status;

	if (!stats)
		return close_sinks(session, NULL, why);
	run = run_of(session, stats);
	status = close_sinks(session, &run, why);
	free(stats);
	return status;
}

bool ppi_session_has_file(const struct portprof_session *session)
{
	for (size_t i = 0; i < session->sink_count; i++)
		if (session->sinks[i].ops == &ppi_sink_file)
			return true;
	return false;
}

void ppi_session_drop_sinks(struct portprof_session *session)
{
	close_sinks(session, NULL, &(struct ppi_diag){ 0 });
}
