/* SPDX-License-Identifier: MIT */
/* What a session reports: its account, events, backend and notes. */
#include "api/core/diag.h"
#include "api/core/session.h"
#include "api/core/sized.h"
#include "base/clock_ns.h"

#include <string.h>

#include <portprof/tool.h>

uint64_t ppi_session_clock_ns(clockid_t clock)
{
	uint64_t ns = 0;

	ppi_clock_ns(clock, &ns);
	return ns;
}

void ppi_session_remember(struct portprof_session *session,
                          const struct ppi_diag *why)
{
	if (session->failure.status == PORTPROF_OK)
		session->failure = *why;
}

portprof_status ppi_session_enter(portprof_session *session, const char *call,
                                  bool from_callback_too)
{
	if (!session)
		return ppi_refuse_null(call, "session");
	if (ppi_is_forked(&session->opened.guard))
		return ppi_refuse(PORTPROF_E_FORKED, call,
		                  "this session belongs to the parent process: "
		                  "close it here and open another");
	pthread_mutex_lock(&session->lock);
	if (!session->is_delivering || from_callback_too)
		return PORTPROF_OK;
	pthread_mutex_unlock(&session->lock);
	return ppi_refuse(PORTPROF_E_STATE, call,
	                  "a callback must not call %s of its session", call);
}

portprof_status portprof_session_stats(portprof_session *session,
                                       size_t event, portprof_stats *stats)
{
	portprof_stats full;
	portprof_status status;

	if (!stats)
		return ppi_refuse_null("stats", "stats");
	status = ppi_session_enter(session, "stats", true);
	if (status)
		return status;
	if (event >= session->opened.box.plan.event_count)
		status = ppi_refuse(PORTPROF_E_INVALID, "stats",
		                    "no event number %zu: there are %zu",
		                    event,
		                    session->opened.box.plan.event_count);
	else
		ppi_account_fill(session, event, &full);
	pthread_mutex_unlock(&session->lock);
	return status ? status :
	                ppi_sized_copy(stats, &full, sizeof(full), "stats");
}

static portprof_sink_stats since_reset(const portprof_sink_stats *now,
                                       const portprof_sink_stats *base)
{
	portprof_sink_stats stats = *now;

	stats.kept_samples -= base->kept_samples;
	stats.kept_weight -= base->kept_weight;
	stats.outside_samples -= base->outside_samples;
	stats.outside_weight -= base->outside_weight;
	stats.lost_samples -= base->lost_samples;
	stats.lost_weight -= base->lost_weight;
	stats.saturated_bins -= base->saturated_bins;
	return stats;
}

portprof_status portprof_session_sink_stats(portprof_session *session,
                                            size_t sink,
                                            portprof_sink_stats *stats)
{
	portprof_sink_stats full;
	portprof_status status;

	if (!stats)
		return ppi_refuse_null("sink stats", "stats");
	status = ppi_session_enter(session, "sink stats", true);
	if (status)
		return status;
	if (sink >= session->sink_count)
		status = ppi_refuse(PORTPROF_E_INVALID, "sink stats",
		                    "no sink number %zu: there are %zu", sink,
		                    session->sink_count);
	else
		full = since_reset(&session->sinks[sink].stats,
		                   &session->baseline.sinks[sink]);
	pthread_mutex_unlock(&session->lock);
	return status ? status : ppi_sized_copy(stats, &full, sizeof(full),
	                                        "sink stats");
}

uint64_t portprof_session_children(portprof_session *session)
{
	uint64_t count = 0;

	if (ppi_session_enter(session, "children", true))
		return 0;
	if (session->opened.box.plan.follow_children &&
	    session->pump.born > session->pump.dead)
		count = session->pump.born - session->pump.dead;
	pthread_mutex_unlock(&session->lock);
	return count;
}

bool portprof_session_unwinding(portprof_session *session,
				portprof_unwinding *unwinding)
{
	struct ppi_unwinder_stats stats = { 0 };
	bool is_there;

	memset(unwinding, 0, sizeof(*unwinding));
	if (ppi_session_enter(session, "unwinding", true))
		return false;
	is_there = session->pump.unwinder != NULL;
	if (is_there)
		ppi_unwinder_stats_get(session->pump.unwinder, &stats);
	pthread_mutex_unlock(&session->lock);
	*unwinding = (portprof_unwinding){
		stats.samples, stats.frames, stats.misses, stats.modules,
		stats.memory_bytes, stats.cpu_ns,
	};
	return is_there;
}

bool portprof_session_costs(portprof_session *session, portprof_costs *costs)
{
	const struct ppi_backend_session *bs;

	*costs = (portprof_costs){ 0, 0 };
	if (ppi_session_enter(session, "costs", true))
		return false;
	bs = &session->opened.bs;
	if (bs->ops->costs)
		bs->ops->costs->measure(bs, &costs->sample_ns,
		                        &costs->switch_ns);
	pthread_mutex_unlock(&session->lock);
	return bs->ops->costs != NULL;
}

/* What does not change after open is answered without the lock. */

size_t portprof_session_event_count(const portprof_session *session)
{
	return session ? session->opened.box.plan.event_count : 0;
}

portprof_status portprof_session_event(const portprof_session *session,
                                       size_t index, portprof_event_info *info)
{
	if (!session)
		return ppi_refuse_null("event", "session");
	return ppi_opened_event(&session->opened, index, info);
}

const char *portprof_session_backend(const portprof_session *session)
{
	return session ? session->opened.bs.ops->name : NULL;
}

uint64_t portprof_session_caps(const portprof_session *session)
{
	return session ? session->opened.bs.caps : 0;
}

portprof_status portprof_session_passed_over(const portprof_session *session,
                                             size_t index, const char **name,
                                             const char **reason)
{
	if (!session)
		return ppi_refuse_null("passed_over", "session");
	return ppi_opened_passed_over(&session->opened, index, name, reason);
}

/* Notes are only ever added, and never move. */
const char *portprof_session_note(portprof_session *session, size_t index)
{
	const char *note = NULL;

	if (ppi_session_enter(session, "note", true))
		return NULL;
	if (index < session->opened.bs.note_count)
		note = session->opened.notes[index];
	pthread_mutex_unlock(&session->lock);
	return note;
}
