/* SPDX-License-Identifier: MIT */
/*
 * The life of a session: open, start, stop, flush, reset, close; what the helper
 * thread does for it, and when it measures.
 */
#include "api/core/session.h"

#include <portprof/tool.h>

#include "api/common/diag.h"
#include "base/cleanup.h"
#include "base/fork_guard.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- when a started session measures: after a delay, and for how long ---- */

enum phase { EARLY, DUE, OVER };

/* By a start that is now. */
static void set_times(struct portprof_session *session)
{
	const portprof_config *config = session->opened.config;
	uint64_t now = ppi_session_clock_ns(CLOCK_MONOTONIC);

	session->begins_ns = now + config->number[PPI_KEY_DELAY] * 1000000u;
	session->ends_ns = UINT64_MAX;
	if (config->number[PPI_KEY_DURATION])
		session->ends_ns = session->begins_ns +
				   config->number[PPI_KEY_DURATION] * 1000000u;
}

static enum phase phase_of(const struct portprof_session *session)
{
	uint64_t now = ppi_session_clock_ns(CLOCK_MONOTONIC);

	return now < session->begins_ns ? EARLY :
	       now < session->ends_ns   ? DUE :
	                                  OVER;
}

/* How long to sleep until the phase changes. */
static unsigned nap_ms(const struct portprof_session *session,
                       unsigned longest)
{
	uint64_t now = ppi_session_clock_ns(CLOCK_MONOTONIC);
	uint64_t next = session->is_waiting ? session->begins_ns :
	                                      session->ends_ns;
	uint64_t left_ms;

	if (next == UINT64_MAX)
		return longest;
	/* rounded up: a task that comes too early comes again at once */
	left_ms = next > now ? (next - now) / 1000000u + 1 : 0;
	return left_ms < longest ? (unsigned)left_ms : longest;
}

/* ---- drawing samples ---- */

/* With a drain every 250 ms a sample is in the file within a second. */
enum { FLUSH_EVERY_MS = 700, IDLE_MS = 3600 * 1000 };

/* With a descriptor the program wants to know soon. */
enum { LOOK_EVERY_MS = 50 };

static bool has_baseline_modules(const struct portprof_session *session)
{
	const struct ppi_plan *plan = &session->opened.box.plan;

	return plan->want_modules && plan->target.is_self;
}

/* Where processes report their own code, it is what the loader knows. A member of
 * a recording leaves its samples to who collects. */
static bool has_untold_code(const struct portprof_session *session)
{
	const struct ppi_plan *plan = &session->opened.box.plan;

	return plan->want_modules && !plan->area &&
	       (plan->target.is_self || session->opened.bs.pool);
}

/* Files have what samples need alone, and observers are told no more. Of a system samples
 * come before the end of their process. */
static bool wants_sampled_only(const struct portprof_session *session)
{
	for (size_t i = 0; i < session->sink_count; i++)
		if (session->sinks[i].ops != &ppi_sink_file &&
		    session->sinks[i].ops != &ppi_sink_observer)
			return false;
	return session->opened.box.plan.target.kind == PPI_TARGET_SYSTEM;
}

/* A callback was left by an exception or pthread_exit: so is the session's
 * lock, whose holder called what is being left. */
static void end_delivery(struct portprof_session **session)
{
	if (!*session)
		return;
	(*session)->is_delivering = false;
	pthread_mutex_unlock(&(*session)->lock);
}

static portprof_status failed_drain(struct portprof_session *session,
                                    portprof_status status,
                                    struct ppi_diag *why)
{
	ppi_fail(why, status, 0, "drain", "backend %s could not be drained: "
	         "%s", session->opened.bs.ops->name,
	         portprof_status_text(status));
	ppi_session_remember(session, why);
	return status;
}

/* The code of all samples before the place that it returns. After the start
 * kernels that report code do so in order. */
static uint64_t look_for_code(struct portprof_session *session)
{
	struct ppi_backend_session *bs = &session->opened.bs;
	uint64_t place = ppi_ticks_place(bs);

	if (session->pump.modules && !(bs->caps & PORTPROF_CAP_MODULES) &&
	    !ppi_modules_scan(session->pump.modules, place))
		ppi_note(bs, "a library was unloaded and another one loaded at "
		         "its address: which of them samples are in is unknown "
		         "([unloaded]); link with libportprof-exec, or flush "
		         "the session before dlclose");
	return place;
}

/* Samples wait for the program's own thread, which is told of them. */
static portprof_status hold(struct portprof_session *session,
                            struct ppi_diag *why)
{
	portprof_status status;

	look_for_code(session);
	status = ppi_pump_hold(&session->pump, &session->opened.bs);
	ppi_notice_look(session);
	return status ? failed_drain(session, status, why) : PORTPROF_OK;
}

static portprof_status deliver(struct portprof_session *session,
                               struct ppi_diag *why)
{
	struct portprof_session *left PPI_AT_LEAVE(end_delivery) = session;
	struct ppi_backend_session *bs = &session->opened.bs;
	struct ppi_area *area = session->opened.area;
	uint64_t place = look_for_code(session);
	portprof_status status;

	/* it has begun after the session was opened */
	if (area && session->is_running && !bs->helper_tid)
		bs->helper_tid = ppi_helper_tid();
	session->is_delivering = true;
	status = ppi_pump_drain(&session->pump, bs);
	session->is_delivering = false;
	left = NULL;
	if (area) {
		ppi_area_mark(area, place);
		ppi_area_be_alone(area, session->is_alone);
	}
	ppi_notice_look(session);
	ppi_silence_look(session);
	return status ? failed_drain(session, status, why) : PORTPROF_OK;
}

static portprof_status drain(struct portprof_session *session,
                             struct ppi_diag *why)
{
	if (session->is_served && !session->opened.area)
		return hold(session, why);
	return deliver(session, why);
}

static portprof_status drain_and_flush(struct portprof_session *session,
                                       struct ppi_diag *why)
{
	portprof_status drained, flushed;
	struct ppi_diag flush_why = { 0 };

	drained = drain(session, why);
	ppi_chain_ends_say(&session->pump.chain_ends, &session->opened.bs);
	flushed = ppi_session_flush_sinks(session, &flush_why);
	session->flush_due_ns = ppi_session_clock_ns(CLOCK_MONOTONIC) +
	                        FLUSH_EVERY_MS * 1000000u;
	if (drained == PORTPROF_OK && flushed)
		*why = flush_why;
	return drained ? drained : flushed;
}

static void begin_stretch(struct portprof_session *session)
{
	struct ppi_stretch *stretch = &session->stretch;

	stretch->begun_ns = ppi_session_clock_ns(CLOCK_MONOTONIC);
	stretch->helper_ns = ppi_helper_cpu_ns();
	if (stretch->first_realtime_ns == 0)
		stretch->first_realtime_ns = ppi_session_clock_ns(CLOCK_REALTIME);
	session->flush_due_ns = stretch->begun_ns + FLUSH_EVERY_MS * 1000000u;
}

static void end_stretch(struct portprof_session *session)
{
	struct ppi_stretch *stretch = &session->stretch;

	stretch->ran_ns += ppi_session_clock_ns(CLOCK_MONOTONIC) - stretch->begun_ns;
	stretch->own_cost_ns += ppi_helper_cpu_ns() - stretch->helper_ns;
}

static portprof_status begin(struct portprof_session *session,
                             struct ppi_diag *why)
{
	struct ppi_backend_session *bs = &session->opened.bs;
	portprof_status status;

	if (session->pump.modules)
		ppi_modules_scan(session->pump.modules, ppi_ticks_place(bs));
	begin_stretch(session);
	status = bs->ops->start(bs, why);
	if (status == PORTPROF_OK)
		session->is_running = true;
	if (status == PORTPROF_OK)
		ppi_silence_begin(session);
	return status;
}

/* Samples reach the recorder without us, and nothing is to happen at a time. */
static bool can_be_alone(const struct portprof_session *session)
{
	return session->opened.area && session->opened.bs.ops->heirs &&
	       session->is_running && session->ends_ns == UINT64_MAX &&
	       ppi_helper_begins_on_demand();
}

portprof_status ppi_session_resume(struct portprof_session *session,
                                   struct ppi_diag *why)
{
	enum phase phase = phase_of(session);
	portprof_status status = PORTPROF_OK;

	if (session->is_running || session->is_waiting || phase == OVER)
		return PORTPROF_OK;
	session->is_waiting = phase == EARLY;
	if (!session->is_waiting)
		status = begin(session, why);
	if (status)
		return status;
	session->is_alone = can_be_alone(session);
	/* the recorder is told of the code at once: this process may be killed */
	if (session->opened.area && session->is_running) {
		drain(session, why);
		ppi_helper_wake_in(&session->task,
		                   session->opened.bs.drain_every_ms);
	} else {
		ppi_helper_wake(&session->task);
	}
	if (!session->is_alone)
		ppi_helper_begin();
	return PORTPROF_OK;
}

portprof_status ppi_session_pause(struct portprof_session *session,
                                  struct ppi_diag *why)
{
	struct ppi_backend_session *bs = &session->opened.bs;
	portprof_status stopped, drained;
	struct ppi_diag drain_why = { 0 };

	session->is_waiting = false;
	if (!session->is_running)
		return session->pump.held.room.record_count
		               ? drain_and_flush(session, why)
		               : PORTPROF_OK;
	stopped = bs->ops->stop(bs, why);
	session->is_running = false;
	end_stretch(session);
	drained = drain_and_flush(session, &drain_why);
	if (stopped == PORTPROF_OK && drained)
		*why = drain_why;
	return stopped ? stopped : drained;
}

/* ---- what the helper thread does ---- */

/* Begin when the delay is over, end when the time is up. */
static void keep_times(struct portprof_session *session)
{
	enum phase phase = phase_of(session);
	portprof_status status = PORTPROF_OK;
	struct ppi_diag why = { 0 };

	if (session->is_waiting && phase != EARLY) {
		session->is_waiting = false;
		status = begin(session, &why);
	} else if (session->is_running && phase == OVER) {
		status = ppi_session_pause(session, &why);
	}
	if (status)
		ppi_session_remember(session, &why);
}

static void serve(struct portprof_session *session)
{
	struct ppi_diag why = { 0 };

	keep_times(session);
	if (session->is_running &&
	    ppi_session_clock_ns(CLOCK_MONOTONIC) >= session->flush_due_ns)
		drain_and_flush(session, &why);
	else if (session->is_running ||
	         (session->is_waiting && session->opened.box.plan.is_delayed))
		drain(session, &why);
	if (session->is_running && session->opened.area &&
	    ppi_area_is_abandoned(session->opened.area))
		ppi_session_pause(session, &why);
}

static unsigned run_task(struct ppi_helper_task *task)
{
	struct portprof_session *session =
		(struct portprof_session *)((char *)task -
		        offsetof(struct portprof_session, task));
	unsigned pause_ms = IDLE_MS, longest_ms;

	pthread_mutex_lock(&session->lock);
	/* with a descriptor no callback runs here, which might never return */
	session->is_served = session->notice.is_on;
	session->is_alone = false;
	serve(session);
	session->is_served = false;
	longest_ms = session->opened.bs.drain_every_ms; /* as of now */
	if (session->pump.labels && longest_ms > LOOK_EVERY_MS &&
	    ppi_label_finder_is_urgent(session->pump.labels))
		longest_ms = LOOK_EVERY_MS;
	if (session->is_waiting || session->is_running)
		pause_ms = nap_ms(
			session, session->notice.is_on &&
			     longest_ms > LOOK_EVERY_MS ? LOOK_EVERY_MS
							: longest_ms);
	pthread_mutex_unlock(&session->lock);
	return pause_ms;
}

/* ---- open and close ---- */

static portprof_status init_parts(struct portprof_session *session,
                                  struct ppi_diag *why)
{
	size_t count = session->opened.box.plan.event_count;
	struct ppi_baseline *baseline = &session->baseline;
	portprof_status status = ppi_pump_init(
		&session->pump, &session->opened.box.plan, why);

	ppi_modules_init(&session->modules);
	if (status)
		return status;
	baseline->accounts = calloc(count, sizeof(*baseline->accounts));
	baseline->tallies = calloc(count, sizeof(*baseline->tallies));
	if (baseline->accounts && baseline->tallies) {
		session->pump.sinks = session->sinks;
		session->pump.target_pid = session->opened.box.plan.target.pid;
		if (has_baseline_modules(session))
			session->pump.modules = &session->modules;
		/* a collector's processes tell theirs, but for waits */
		if (!session->opened.bs.pool ||
		    (session->opened.bs.caps & PORTPROF_CAP_WAITS))
			session->pump.labels = ppi_label_finder_new(
				&session->opened.box.plan,
				!session->opened.bs.ops->reads_labels);
		session->pump.kept.has_sets =
			session->opened.bs.ops->reads_labels;
		session->opened.bs.labels =
			ppi_label_finder_reader(session->pump.labels);
		if (has_untold_code(session))
			session->pump.watch =
				ppi_code_watch_new((uint32_t)getpid());
		return PORTPROF_OK;
	}
	return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open", "out of memory");
}

static void free_parts(struct portprof_session *session)
{
	ppi_notice_close(&session->notice);
	free(session->baseline.accounts);
	free(session->baseline.tallies);
	ppi_modules_free(&session->modules);
	ppi_pump_free(&session->pump);
}

static void init_lock(struct portprof_session *session)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&session->lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

static portprof_status open_session(const portprof_config *config,
                                    struct portprof_session *session,
                                    struct ppi_diag *why)
{
	portprof_status status = ppi_opened_open(&session->opened, config,
	                                         PPI_SAMPLE, why);

	if (status)
		return status;
	status = init_parts(session, why);
	if (status == PORTPROF_OK)
		status = ppi_session_open_sinks(session, why);
	if (status) {
		free_parts(session);
		ppi_opened_close(&session->opened);
		return status;
	}
	session->pump.sink_count = session->sink_count;
	session->pump.wants_sampled_only = wants_sampled_only(session);
	init_lock(session);
	session->task.run = run_task;
	ppi_helper_add(&session->task);
	ppi_process_add(session);
	return PORTPROF_OK;
}

portprof_status portprof_session_open(const portprof_config *config,
                                      portprof_session **session)
{
	struct portprof_session *opened;
	struct ppi_diag why = { 0 };
	portprof_status status;

	if (!config)
		return ppi_refuse_null("portprof_session_open", "config");
	if (!session)
		return ppi_refuse_null("portprof_session_open", "session");
	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return ppi_refuse(PORTPROF_E_NOMEM, "open", "out of memory");
	status = open_session(config, opened, &why);
	if (status) {
		free(opened);
		return ppi_report(&why);
	}
	*session = opened;
	return PORTPROF_OK;
}

/* The child's copy: nothing that is shared with the parent is touched, and
 * the lock may be held by a thread that does not exist here. */
static void close_in_child(struct portprof_session *session)
{
	ppi_process_forget_left(session);
	ppi_session_drop_sinks(session);
	free_parts(session);
	ppi_opened_close(&session->opened);
	free(session);
}

/* All is with the recorder, and the system gives back what a process has that
 * ends: quicker than we do it piece by piece. Who looks for leaks finds a pointer. */
static bool ends_with_process(struct portprof_session *session)
{
	static struct portprof_session *kept;

	if (session->opened.area && ppi_heir.is_ending)
		kept = session;
	return kept == session;
}

void ppi_session_complete(struct portprof_session *session)
{
	struct ppi_diag why = { 0 };

	if (session->is_complete)
		return;
	session->pump.feeds_files_only = true;
	if (ppi_session_pause(session, &why))
		ppi_session_remember(session, &why);
	if (ppi_session_finish_sinks(session, &why))
		ppi_session_remember(session, &why);
	session->is_complete = true;
	session->pump.sink_count = 0;
}

portprof_status portprof_session_close(portprof_session *session)
{
	struct ppi_diag why = { 0 };

	if (!session)
		return PORTPROF_OK;
	if (ppi_is_forked(&session->opened.guard)) {
		close_in_child(session);
		return PORTPROF_OK;
	}
	pthread_mutex_lock(&session->lock);
	if (session->is_delivering) {
		pthread_mutex_unlock(&session->lock);
		return ppi_refuse(PORTPROF_E_STATE, "close",
		                  "a callback must not close its session");
	}
	ppi_session_pause(session, &why);
	pthread_mutex_unlock(&session->lock);
	ppi_process_remove(session);
	ppi_helper_remove(&session->task);
	why = session->failure;
	ppi_session_finish_sinks(session, why.status ? &(struct ppi_diag){ 0 } : &why);
	if (!ends_with_process(session)) {
		free_parts(session);
		ppi_opened_close(&session->opened);
		pthread_mutex_destroy(&session->lock);
		free(session);
	}
	return why.status ? ppi_report(&why) : PORTPROF_OK;
}

/* ---- calls under the lock ---- */

static portprof_status leave(portprof_session *session, portprof_status status,
                             const struct ppi_diag *why)
{
	pthread_mutex_unlock(&session->lock);
	return status ? ppi_report(why) : PORTPROF_OK;
}

portprof_status portprof_session_start(portprof_session *session)
{
	struct ppi_diag why = { 0 };
	portprof_status status = ppi_session_enter(session, "start", false);

	if (status)
		return status;
	if (!session->is_running && !session->is_waiting)
		set_times(session);
	status = ppi_session_resume(session, &why);
	return leave(session, status, &why);
}

portprof_status portprof_session_stop(portprof_session *session)
{
	struct ppi_diag why = { 0 };
	portprof_status status = ppi_session_enter(session, "stop", false);

	if (status)
		return status;
	status = ppi_session_pause(session, &why);
	return leave(session, status, &why);
}

portprof_status portprof_session_flush(portprof_session *session)
{
	struct ppi_diag why = { 0 };
	portprof_status status = ppi_session_enter(session, "flush", false);

	if (status)
		return status;
	keep_times(session);
	status = drain_and_flush(session, &why);
	return leave(session, status, &why);
}

portprof_status portprof_session_turn(portprof_session *session,
                                      const char *path)
{
	struct ppi_diag why = { 0 };
	portprof_status status;

	if (!path)
		return ppi_refuse_null("portprof_session_turn", "path");
	status = ppi_session_enter(session, "turn", false);
	if (status)
		return status;
	keep_times(session);
	if (session->is_complete || !session->stretch.first_realtime_ns)
		status = ppi_fail(&why, PORTPROF_E_STATE, 0, "turn",
		                  "the session has not started: there is no "
		                  "window to be ended");
	if (status == PORTPROF_OK)
		status = drain_and_flush(session, &why);
	if (status == PORTPROF_OK)
		status = ppi_session_turn_sinks(session, path, &why);
	return leave(session, status, &why);
}

portprof_status portprof_session_reset(portprof_session *session)
{
	struct ppi_diag why = { 0 };
	portprof_status status = ppi_session_enter(session, "reset", false);

	if (status)
		return status;
	if (session->is_running)
		status = ppi_fail(&why, PORTPROF_E_STATE, 0, "reset",
		                  "stop the session before resetting it");
	if (status == PORTPROF_OK && session->pump.held.room.record_count)
		status = drain_and_flush(session, &why);
	if (status == PORTPROF_OK) {
		ppi_account_reset(session);
		ppi_chain_ends_reset(&session->pump.chain_ends);
	}
	return leave(session, status, &why);
}
