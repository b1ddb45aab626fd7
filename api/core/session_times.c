/* SPDX-License-Identifier: MIT */
/* When a started session measures: after a delay, and for how long. */
#include "api/core/session.h"

void ppi_session_set_times(struct portprof_session *session)
{
	const portprof_config *config = session->opened.config;
	uint64_t now = ppi_session_clock_ns(CLOCK_MONOTONIC);

	session->begins_ns = now + config->number[PPI_KEY_DELAY] * 1000000u;
	session->ends_ns = UINT64_MAX;
	if (config->number[PPI_KEY_DURATION])
		session->ends_ns = session->begins_ns +
				   config->number[PPI_KEY_DURATION] * 1000000u;
}

enum ppi_phase ppi_session_phase(const struct portprof_session *session)
{
	uint64_t now = ppi_session_clock_ns(CLOCK_MONOTONIC);

	return now < session->begins_ns ? PPI_EARLY :
	       now < session->ends_ns   ? PPI_DUE :
	                                  PPI_OVER;
}

unsigned ppi_session_nap_ms(const struct portprof_session *session,
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
