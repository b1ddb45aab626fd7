/* SPDX-License-Identifier: MIT */
/* A descriptor that wakes a program's event loop when samples wait. */
#include "config.h"

#include "api/core/diag.h"
#include "api/core/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

	if (!pump->held.record_count)
		return false;
	return ppi_pump_is_full(pump) || pump->has_end || !session->is_running ||
	       (samples && pump->held_samples >= samples) ||
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

/* Room for twice what was asked for: samples go on while the program comes. */
portprof_status ppi_notice_set(struct portprof_session *session, bool bytes,
                               uint64_t number, struct ppi_diag *why)
{
	uint64_t most = bytes ? BYTES_MAX : SAMPLES_MAX;
	const struct ppi_room *held = &session->pump.held;
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
