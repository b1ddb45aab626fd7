/* SPDX-License-Identifier: MIT */
/* What a session reports: its account, sums, costs, events, backend and notes. */
#include <portprof/tool.h>

#include "api/common/diag.h"
#include "api/core/session.h"
#include "base/arithmetic.h"
#include "base/clock_ns.h"

#include <string.h>

/* ---- the account ---- */

/*
 * Two sums always hold (clauses LOSS-1, LOSS-2):
 * delivered = kept + outside + lost samples, and total = kept + outside +
 * unattributed - excess weight. Only estimates have an excess (LOSS-12).
 */

static uint64_t since(uint64_t now, uint64_t base)
{
	return now > base ? now - base : 0;
}

/* What the backend says, since the last reset. */
static struct ppi_account account_of(struct portprof_session *session,
                                     size_t event)
{
	struct ppi_backend_session *bs = &session->opened.bs;
	const struct ppi_account *base = &session->baseline.accounts[event];
	struct ppi_account account = { 0 };

	bs->ops->stats(bs, event, &account);
	account.total_weight = since(account.total_weight, base->total_weight);
	account.not_attached = since(account.not_attached, base->not_attached);
	account.cpu_time_ns = since(account.cpu_time_ns, base->cpu_time_ns);
	account.idle_ns = since(account.idle_ns, base->idle_ns);
	account.variance -= base->variance;
	account.own_cost_ns = since(account.own_cost_ns, base->own_cost_ns);
	account.lost_samples = since(account.lost_samples, base->lost_samples);
	account.throttled = since(account.throttled, base->throttled);
	return account;
}

static struct ppi_tally tally_of(struct portprof_session *session,
                                 size_t event)
{
	const struct ppi_tally *base = &session->baseline.tallies[event];
	struct ppi_tally tally = session->pump.tallies[event];

	tally.kept_samples -= base->kept_samples;
	tally.outside_samples -= base->outside_samples;
	tally.lost_samples -= base->lost_samples;
	tally.kept_weight -= base->kept_weight;
	tally.outside_weight -= base->outside_weight;
	return tally;
}

static void fill_samples(const struct ppi_tally *tally,
                         const struct ppi_account *account,
                         portprof_stats *stats)
{
	stats->kept_samples = tally->kept_samples;
	stats->outside_samples = tally->outside_samples;
	stats->lost_samples = tally->lost_samples + account->lost_samples;
	stats->delivered_samples = stats->kept_samples +
	                           stats->outside_samples + stats->lost_samples;
	stats->lost_certainty = account->lost_certainty;
	stats->throttled = account->throttled;
}

/*
 * The total is what the event itself counted; for CPU time also what threads
 * used that were not attached. Clocks of the kernel differ by microseconds,
 * so the samples may stand for a little more than that: then they are the
 * total. Estimates never are.
 */
static void fill_weights(const struct ppi_tally *tally,
                         const struct ppi_account *account, bool is_cpu_time,
                         portprof_stats *stats)
{
	uint64_t attributed = tally->kept_weight + tally->outside_weight;
	uint64_t not_attached = account->not_attached;

	if (is_cpu_time && stats->cpu_time_ns > account->total_weight &&
	    !account->is_partial)
		not_attached = stats->cpu_time_ns - account->total_weight;
	stats->kept_weight = tally->kept_weight;
	stats->outside_weight = tally->outside_weight;
	stats->total_weight = account->total_weight + not_attached;
	if (stats->total_weight < attributed && !account->is_estimate)
		stats->total_weight = attributed;
	stats->unattributed_weight = since(stats->total_weight, attributed);
	stats->excess_weight = since(attributed, stats->total_weight);
	stats->standard_error = ppi_square_root(account->variance);
	stats->idle_time_ns = account->idle_ns;
	stats->not_attached_weight = not_attached;
	if (stats->not_attached_weight > stats->unattributed_weight)
		stats->not_attached_weight = stats->unattributed_weight;
	stats->unattributed_certainty = account->total_certainty;
}

static void fill_rates(const struct ppi_event *event,
                       const struct ppi_account *account,
                       portprof_stats *stats)
{
	const struct ppi_event_request *request = &event->request;

	stats->requested_hz = (double)request->rate_hz;
	stats->requested_period = request->period;
	stats->granted_hz = account->granted_hz;
	stats->granted_period = account->granted_period;
	if (stats->cpu_time_ns)
		stats->achieved_hz = (double)stats->delivered_samples * 1e9 /
		                     (double)stats->cpu_time_ns;
}

void ppi_account_fill(struct portprof_session *session, size_t event,
                      portprof_stats *stats)
{
	const struct ppi_event *what = &session->opened.box.events[event];
	struct ppi_account account = account_of(session, event);
	struct ppi_tally tally = tally_of(session, event);

	/* what was sampled of the CPUs is an estimate of just that */
	if (account.is_estimate && session->told_cpu_time_ns &&
	    what->is_cpu_time && !account.is_partial) {
		if (account.not_attached > session->told_cpu_time_ns)
			account.not_attached = session->told_cpu_time_ns;
		account.total_weight = session->told_cpu_time_ns -
		                       account.not_attached;
		account.total_certainty = PORTPROF_EXACT;
	}
	memset(stats, 0, sizeof(*stats));
	stats->size = sizeof(*stats);
	stats->cpu_time_ns = session->told_cpu_time_ns ?
	                             session->told_cpu_time_ns :
	                             account.cpu_time_ns;
	stats->own_cost_ns = session->stretch.own_cost_ns -
	                     session->baseline.own_cost_ns +
	                     account.own_cost_ns;
	if (session->is_running)
		stats->own_cost_ns += since(ppi_helper_cpu_ns(),
		                            session->stretch.helper_ns);
	fill_samples(&tally, &account, stats);
	fill_weights(&tally, &account, what->is_cpu_time, stats);
	fill_rates(what, &account, stats);
}

void ppi_account_reset(struct portprof_session *session)
{
	struct ppi_backend_session *bs = &session->opened.bs;
	struct ppi_baseline *baseline = &session->baseline;
	size_t count = session->opened.box.plan.event_count;

	bs->resets++;
	for (size_t i = 0; i < count; i++) {
		memset(&baseline->accounts[i], 0, sizeof(struct ppi_account));
		bs->ops->stats(bs, i, &baseline->accounts[i]);
	}
	memcpy(baseline->tallies, session->pump.tallies,
	       count * sizeof(*baseline->tallies));
	for (size_t i = 0; i < session->sink_count; i++)
		baseline->sinks[i] = session->sinks[i].stats;
	baseline->ran_ns = session->stretch.ran_ns;
	baseline->own_cost_ns = session->stretch.own_cost_ns;
	session->told_cpu_time_ns = 0;
}

/* ---- no samples ---- */

enum { SILENCE_MS = 100, SILENCE_PERIODS = 4 };

/* It grows with each: those that a recorder takes are in no tally here. */
static uint64_t samples_so_far(const struct portprof_session *session)
{
	const struct ppi_tally *tally = &session->pump.tallies[0];

	return tally->kept_samples + tally->outside_samples +
	       tally->lost_samples + ppi_ticks_place(&session->opened.bs);
}

static bool must_have_samples(const struct portprof_session *session)
{
	const struct ppi_plan *plan = &session->opened.box.plan;
	const struct ppi_event *event = &session->opened.box.events[0];

	return plan->mode == PPI_SAMPLE && plan->event_count == 1 &&
	       plan->target.is_self && event->is_cpu_time &&
	       event->counts_user && event->counts_kernel;
}

static void tell_silence(struct portprof_session *session, uint64_t ms)
{
	bool covers_all = session->opened.bs.caps & PORTPROF_CAP_WHOLE_SPACE;

	session->silence.was_told = true;
	ppi_note(&session->opened.bs, "no tick came in the first %llu ms of CPU "
	         "time: %s", (unsigned long long)ms,
	         covers_all ?
	         "threads block the signal, or the system holds it back" :
	         "other code than what is sampled ran, or the system's clock "
	         "gives no ticks");
}

/* The total may cost a call for each thread, so it is asked for until the first
 * sample alone. */
void ppi_silence_look(struct portprof_session *session)
{
	struct ppi_silence *silence = &session->silence;
	struct ppi_account account = { 0 };
	uint64_t used_ns, least_ns;

	if (silence->is_over || silence->was_told ||
	    !must_have_samples(session))
		return;
	silence->is_over = samples_so_far(session) != silence->samples;
	if (silence->is_over)
		return;
	session->opened.bs.ops->stats(&session->opened.bs, 0, &account);
	used_ns = account.cpu_time_ns ? account.cpu_time_ns :
	                                account.total_weight;
	if (!silence->is_begun)
		silence->used_ns = used_ns;
	silence->is_begun = true;
	used_ns = since(used_ns, silence->used_ns);
	least_ns = SILENCE_PERIODS * account.granted_period;
	if (least_ns < SILENCE_MS * 1000000u)
		least_ns = SILENCE_MS * 1000000u;
	if (account.lost_samples == 0 && used_ns >= least_ns)
		tell_silence(session, used_ns / 1000000u);
}

void ppi_silence_begin(struct portprof_session *session)
{
	session->silence.is_begun = session->silence.is_over = false;
	session->silence.samples = samples_so_far(session);
	ppi_silence_look(session);
}

/* ---- for every public call ---- */

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

/* ---- public ---- */

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
