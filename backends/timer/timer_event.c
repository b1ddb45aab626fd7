/* SPDX-License-Identifier: MIT */
/* Event strings of the timer backend: CPU time, and the signal to use. */
#include "backends/timer/timer.h"

#include "backends/common/cpu_time.h"
#include "base/signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of ppi_event.own. */
enum { OWN_SIGNAL };

int ppi_timer_signal_of(const struct ppi_event *event)
{
	return (int)event->own[OWN_SIGNAL];
}

/* The value is a well-formed number, or y or n; 0 when it is no signal's. */
static int read_signal(const struct ppi_event_request *request,
                       const struct ppi_event_part *part)
{
	const char *value = request->text + part->at + part->key_bytes + 1;
	bool is_hex = value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
	unsigned long long number;
	char digits[24];
	int length;

	if (part->key_bytes == part->bytes)
		return 0;
	number = strtoull(value, NULL, is_hex ? 16 : 10);
	length = snprintf(digits, sizeof(digits), "%llu", number);
	return ppi_signal_number(digits, (size_t)length);
}

static portprof_status take_part(const struct ppi_event_request *request,
                                 const struct ppi_event_part *part, int *signo,
                                 struct ppi_diag *why)
{
	int number = read_signal(request, part);
	const char *reason = number ? ppi_signal_unusable(number) : NULL;
	char words[128];

	if (*signo)
		return ppi_event_refuse_part(request, part, PORTPROF_E_INVALID,
		                             why, "signal is already set");
	if (!number)
		return ppi_event_refuse_part(
			request, part, PORTPROF_E_INVALID, why,
			"a signal is a number, as in signal=40 (kill -l)");
	snprintf(words, sizeof(words), "that signal %s; take a real-time "
	         "signal, as in signal=40 (kill -l)", reason ? reason : "");
	if (reason)
		return ppi_event_refuse_part(request, part, PORTPROF_E_INVALID,
		                             why, words);
	*signo = number;
	return PORTPROF_OK;
}

/* Put the parts that are for others into `rest`. */
static portprof_status take_signal(const struct ppi_event_request *request,
                                   struct ppi_event_request *rest, int *signo,
                                   struct ppi_diag *why)
{
	*rest = *request;
	rest->part_count = 0;
	for (size_t i = 0; i < request->part_count; i++) {
		const struct ppi_event_part *part = &request->parts[i];
		portprof_status status;

		if (!ppi_event_part_is(request, part, "signal")) {
			rest->parts[rest->part_count++] = *part;
			continue;
		}
		status = take_part(request, part, signo, why);
		if (status)
			return status;
	}
	return PORTPROF_OK;
}

portprof_status ppi_timer_event_resolve(const struct ppi_event_request *request,
                                        enum ppi_mode mode,
                                        struct ppi_event *event,
                                        struct ppi_diag *why)
{
	struct ppi_event_request rest;
	portprof_status status;
	size_t used;
	int signo = 0;

	status = take_signal(request, &rest, &signo, why);
	if (status == PORTPROF_OK)
		status = ppi_cpu_time_resolve(
			&rest, mode, "CPU time, by one timer a thread", event,
			why);
	if (status || !signo)
		return status;
	event->request = *request;
	event->own[OWN_SIGNAL] = (uint64_t)signo;
	used = strlen(event->canonical);
	snprintf(event->canonical + used, sizeof(event->canonical) - used,
	         ":signal=%d", signo);
	return PORTPROF_OK;
}
