/* SPDX-License-Identifier: MIT */
/* What of an open session can be changed. */
#include "api/core/diag.h"
#include "api/core/helper.h"
#include "api/core/session.h"

#include <inttypes.h>
#include <string.h>

static const struct {
	const char *key;
	enum ppi_steer what;
	uint64_t least, most;
} settings[] = {
	{ "period", PPI_STEER_PERIOD, 1, INT64_MAX },
	{ "frequency", PPI_STEER_RATE, 1, 1000000 },
	{ "enabled", PPI_STEER_ENABLED, 0, 1 },
	{ "samples-left", PPI_STEER_SAMPLES_LEFT, 1, UINT64_MAX },
};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

/* What the account tells as asked for. */
static void remember(struct portprof_session *session, size_t event,
                     enum ppi_steer what, uint64_t number)
{
	struct ppi_event_request *request =
		&session->opened.box.events[event].request;

	if (what == PPI_STEER_PERIOD || what == PPI_STEER_RATE) {
		request->period = what == PPI_STEER_PERIOD ? number : 0;
		request->rate_hz = what == PPI_STEER_RATE ? number : 0;
	}
}

static portprof_status steer(struct portprof_session *session, size_t event,
                             size_t setting, uint64_t number,
                             struct ppi_diag *why)
{
	struct ppi_backend_session *bs = &session->opened.bs;
	portprof_status status;

	if (number < settings[setting].least || number > settings[setting].most)
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "set number",
		                "%s is from %" PRIu64 " to %" PRIu64 ", not %"
		                PRIu64, settings[setting].key,
		                settings[setting].least, settings[setting].most,
		                number);
	if (!bs->ops->steering)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "set number",
		                "backend %s measures as it was opened to: open "
		                "another session, or use the backend perf",
		                bs->ops->name);
	/* what was sampled so far was sampled as it was */
	if (session->is_running && !session->is_delivering)
		portprof_session_flush(session);
	status = bs->ops->steering->steer(bs, event, settings[setting].what,
	                                  number, why);
	if (status == PORTPROF_OK)
		remember(session, event, settings[setting].what, number);
	return status;
}

/* ---- threads ---- */

struct choice {
	struct portprof_session *session;
	enum ppi_steer what;
	uint64_t tid;
	struct ppi_diag why;
	portprof_status status;
};

/* In the helper thread: what opens events may not be a thread of the program,
 * which could switch them off by prctl(2). */
static void choose_in_helper(void *context)
{
	struct choice *choice = context;
	struct portprof_session *session = choice->session;
	struct ppi_backend_session *bs = &session->opened.bs;

	pthread_mutex_lock(&session->lock);
	choice->status = bs->ops->steering->steer(bs, 0, choice->what,
	                                          choice->tid, &choice->why);
	pthread_mutex_unlock(&session->lock);
}

static portprof_status check_choice(portprof_session *session, size_t event,
                                    const char *key, uint64_t tid)
{
	const struct ppi_backend_ops *ops;
	portprof_status status =
		ppi_session_enter(session, "portprof_session_set_number", false);

	if (status)
		return status;
	ops = session->opened.bs.ops;
	pthread_mutex_unlock(&session->lock);
	if (event > 0)
		return ppi_refuse(PORTPROF_E_INVALID, "set number",
		                  "%s is for all events of a session: the event "
		                  "is 0", key);
	if (tid < 1 || tid > INT32_MAX)
		return ppi_refuse(PORTPROF_E_INVALID, "set number",
		                  "%s takes the id of a thread, not %" PRIu64,
		                  key, tid);
	if (!ops->steering)
		return ppi_refuse(PORTPROF_E_UNSUPPORTED, "set number",
		                  "backend %s measures the threads that it was "
		                  "opened for: use the backend perf", ops->name);
	return PORTPROF_OK;
}

/* Samples of before come to the sinks in this thread, as with any flush, and a
 * ring that is given up is empty. */
static portprof_status choose_thread(portprof_session *session, size_t event,
                                     const char *key, enum ppi_steer what,
                                     uint64_t tid)
{
	struct choice choice = { .session = session, .what = what, .tid = tid };
	portprof_status status = check_choice(session, event, key, tid);

	if (status == PORTPROF_OK)
		status = portprof_session_flush(session);
	if (status)
		return status;
	ppi_helper_call(choose_in_helper, &choice);
	if (choice.status)
		return ppi_report(&choice.why);
	return portprof_session_flush(session);
}

/* ---- by name ---- */

static portprof_status set_number(struct portprof_session *session,
                                  size_t event, const char *key,
                                  uint64_t number, struct ppi_diag *why)
{
	struct ppi_nearest nearest;
	size_t setting = 0;
	char hint[320];

	if (event >= session->opened.box.plan.event_count)
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "set number",
		                "no event number %zu: there are %zu", event,
		                session->opened.box.plan.event_count);
	if (strcmp(key, "wakeup-samples") == 0 ||
	    strcmp(key, "wakeup-bytes") == 0)
		return ppi_notice_set(session, strcmp(key, "wakeup-bytes") == 0,
		                      number, why);
	if (strcmp(key, "cpu-time") == 0) {
		session->told_cpu_time_ns = number;
		return PORTPROF_OK;
	}
	while (setting < SETTINGS && strcmp(key, settings[setting].key) != 0)
		setting++;
	if (setting < SETTINGS)
		return steer(session, event, setting, number, why);
	ppi_nearest_begin(&nearest, key);
	for (setting = 0; setting < SETTINGS; setting++)
		ppi_nearest_offer(&nearest, settings[setting].key);
	ppi_nearest_offer(&nearest, "add-thread");
	ppi_nearest_offer(&nearest, "remove-thread");
	ppi_nearest_offer(&nearest, "cpu-time");
	ppi_nearest_offer(&nearest, "wakeup-samples");
	ppi_nearest_offer(&nearest, "wakeup-bytes");
	return ppi_fail(why, PORTPROF_E_INVALID, 0, "set number", "an open "
	                "session has no setting '%.60s'%s", key,
	                ppi_nearest_say(&nearest, hint, sizeof(hint)));
}

portprof_status portprof_session_set_number(portprof_session *session,
                                            size_t event, const char *key,
                                            uint64_t number)
{
	struct ppi_diag why = { 0 };
	portprof_status status;

	if (!key)
		return ppi_refuse_null("portprof_session_set_number", "key");
	if (strcmp(key, "add-thread") == 0)
		return choose_thread(session, event, key, PPI_STEER_ADD_THREAD,
		                     number);
	if (strcmp(key, "remove-thread") == 0)
		return choose_thread(session, event, key,
		                     PPI_STEER_REMOVE_THREAD, number);
	status = ppi_session_enter(session, "portprof_session_set_number",
	                           true);
	if (status)
		return status;
	status = set_number(session, event, key, number, &why);
	pthread_mutex_unlock(&session->lock);
	return status ? ppi_report(&why) : PORTPROF_OK;
}
