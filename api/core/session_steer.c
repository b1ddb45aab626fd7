/* SPDX-License-Identifier: MIT */
/*
 * What of an open session can be changed, by name, for one of its threads too; and
 * the descriptor that wakes a program's event loop when samples wait.
 */
#include "config.h"

#include "api/common/diag.h"
#include "api/core/helper.h"
#include "api/core/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the descriptor ---- */

enum { SAMPLES_MAX = 1 << 16, BYTES_MAX = 1 << 24 };

/* A program that closes all descriptors may have another file there (LIFE-24). */
static bool is_ours(const struct ppi_notice *notice, int end)
{
	struct stat at;

	return fstat(notice->ends[end], &at) == 0 &&
	       (uint64_t)at.st_dev == notice->devices[end] &&
	       (uint64_t)at.st_ino == notice->files[end];
}

static bool is_due(const struct portprof_session *session)
{
	const struct ppi_notice *notice = &session->notice;
	const struct ppi_pump *pump = &session->pump;
	uint64_t samples = notice->samples || notice->bytes ? notice->samples
	                                                    : 1;

	if (!pump->held.room.record_count)
		return false;
	return ppi_pump_is_full(pump) || pump->held.has_end || !session->is_running ||
	       (samples && pump->held.samples >= samples) ||
	       (notice->bytes && ppi_pump_held_bytes(pump) >= notice->bytes);
}

void ppi_notice_look(struct portprof_session *session)
{
	struct ppi_notice *notice = &session->notice;
	bool is_readable = notice->is_on && is_due(session);
	char byte = 0;

	if (!notice->is_on || is_readable == notice->is_readable ||
	    !is_ours(notice, 0) || !is_ours(notice, 1))
		return;
	if (is_readable ? write(notice->ends[1], &byte, 1) == 1
	                : read(notice->ends[0], &byte, 1) == 1 ||
				  errno == EAGAIN)
		notice->is_readable = is_readable;
}

/* Of how many samples (`bytes`: of how much memory) the descriptor tells.
 * Room for twice what was asked for: samples go on while the program comes. */
static portprof_status notice_set(struct portprof_session *session, bool bytes,
                                  uint64_t number, struct ppi_diag *why)
{
	uint64_t most = bytes ? BYTES_MAX : SAMPLES_MAX;
	const struct ppi_room *held = &session->pump.held.room;
	size_t wanted = 2 * (size_t)number;

	if (number < 1 || number > most)
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "set number",
		                "%s is from 1 to %" PRIu64 ", not %" PRIu64,
		                bytes ? "wakeup-bytes" : "wakeup-samples",
		                most, number);
	if (session->is_delivering)
		return ppi_fail(why, PORTPROF_E_STATE, 0, "set number",
		                "a callback has the memory that would change");
	if (!ppi_pump_grow(&session->pump,
	                   bytes ? wanted / sizeof(*held->records) : wanted,
	                   bytes ? wanted / sizeof(*held->words) : 0))
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "set number",
		                "out of memory");
	*(bytes ? &session->notice.bytes : &session->notice.samples) = number;
	ppi_notice_look(session);
	return PORTPROF_OK;
}

static bool make_ready(struct ppi_notice *notice, int end)
{
	int fd = notice->ends[end];
	struct stat at;

	if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 ||
	    fcntl(fd, F_SETFL, O_NONBLOCK) != 0 || fstat(fd, &at) != 0)
		return false;
	notice->devices[end] = (uint64_t)at.st_dev;
	notice->files[end] = (uint64_t)at.st_ino;
	return true;
}

static portprof_status open_pipe(struct ppi_notice *notice,
                                 struct ppi_diag *why)
{
	bool is_open = pipe(notice->ends) == 0;
	int error;

	if (is_open && make_ready(notice, 0) && make_ready(notice, 1)) {
		notice->is_on = true;
		return PORTPROF_OK;
	}
	error = errno;
	if (is_open) {
		close(notice->ends[0]);
		close(notice->ends[1]);
	}
	return ppi_fail(why, error == EMFILE || error == ENFILE
			? PORTPROF_E_LIMIT : PORTPROF_E_SYSTEM, error,
	                "pipe", "no descriptor for an event loop: %s",
	                strerror(error));
}

void ppi_notice_close(struct ppi_notice *notice)
{
	for (int end = 0; end < 2 && notice->is_on; end++)
		if (is_ours(notice, end))
			close(notice->ends[end]);
	notice->is_on = false;
}

portprof_status portprof_session_fd(portprof_session *session, int *fd)
{
	portprof_status status = PORTPROF_OK;
	struct ppi_diag why = { 0 };

	if (!fd)
		return ppi_refuse_null("portprof_session_fd", "fd");
	status = ppi_session_enter(session, "portprof_session_fd", false);
	if (status)
		return status;
	if (!session->notice.is_on)
		status = open_pipe(&session->notice, &why);
	if (status == PORTPROF_OK) {
		*fd = session->notice.ends[0];
		/* it looks more often from now on */
		ppi_helper_wake(&session->task);
	}
	pthread_mutex_unlock(&session->lock);
	return status ? ppi_report(&why) : PORTPROF_OK;
}

/* ---- what the backend changes ---- */

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
		return notice_set(session, strcmp(key, "wakeup-bytes") == 0,
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
	ppi_nearest_say(&nearest, hint, sizeof(hint));
	return ppi_suggest(
		why, &nearest,
		ppi_fail(why, PORTPROF_E_INVALID, 0, "set number", "an open "
	                 "session has no setting '%.60s'%s", key, hint));
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
