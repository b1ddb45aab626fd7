/* SPDX-License-Identifier: MIT */
/* The account in words: the comment lines of a profile. */
#include <portprof/event.h>

#include "api/file/account.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct speech {
	void (*say)(const char *line, void *context);
	void *context;
	const char *of; /* " (event)" where there are several */
};

static void line(const struct speech *to, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void line(const struct speech *to, const char *format, ...)
{
	char text[1536];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	to->say(text, to->context);
}

static const char *certainty(uint32_t known)
{
	return known == PORTPROF_EXACT ? "exact" : "at least";
}

static void say_rate(const struct speech *to, const Ppi__Stats *stats,
                     const char *unit, bool is_final)
{
	if (stats->requested_hz > 0)
		line(to, "portprof.requested_hz=%g%s", stats->requested_hz,
		     to->of);
	else
		line(to, "portprof.requested_period=%" PRIu64 " %s%s",
		     stats->requested_period, unit, to->of);
	if (!is_final)
		return;
	if (stats->granted_hz > 0)
		line(to, "portprof.granted_hz=%g%s", stats->granted_hz, to->of);
	if (stats->granted_period > 0)
		line(to, "portprof.granted_period=%" PRIu64 " %s%s",
		     stats->granted_period, unit, to->of);
	line(to, "portprof.achieved_hz=%g%s", stats->achieved_hz, to->of);
	if (stats->throttled)
		line(to, "portprof.throttled=%" PRIu64 "%s", stats->throttled,
		     to->of);
}

static void say_sums(const struct speech *to, const Ppi__Stats *stats,
                     const char *unit)
{
	line(to, "portprof.samples=%" PRIu64 "%s", stats->kept_samples, to->of);
	line(to, "portprof.lost=%" PRIu64 " %s%s", stats->lost_samples,
	     certainty(stats->lost_certainty), to->of);
	line(to, "portprof.outside=%" PRIu64 "%s", stats->outside_samples,
	     to->of);
	line(to, "portprof.total_weight=%" PRIu64 " %s%s", stats->total_weight,
	     unit, to->of);
	line(to, "portprof.kept_weight=%" PRIu64 " %s%s", stats->kept_weight,
	     unit, to->of);
	line(to, "portprof.unattributed_weight=%" PRIu64 " %s %s%s",
	     stats->unattributed_weight, unit,
	     certainty(stats->unattributed_certainty), to->of);
	line(to, "portprof.cpu_time=%" PRIu64 " nanoseconds%s",
	     stats->cpu_time_ns, to->of);
}

static void say_event(const struct speech *to, const Ppi__Event *event,
                      bool is_final)
{
	const char *unit = event->unit == PORTPROF_UNIT_NANOSECONDS
	                           ? "nanoseconds"
	                           : "count";

	line(to, "portprof.event=%s", event->name);
	line(to, "portprof.asked=%s%s", event->asked, to->of);
	line(to, "portprof.measures=%s%s", event->description, to->of);
	if (!event->stats)
		return;
	say_rate(to, event->stats, unit, is_final);
	if (is_final)
		say_sums(to, event->stats, unit);
}

void ppi_account_say(const Ppi__Account *account, bool is_final,
                     void (*say)(const char *line, void *context),
                     void *context)
{
	struct speech to = { say, context, "" };
	char of[300];

	line(&to, "portprof.writer=%s", account->writer);
	line(&to, "portprof.backend=%s", account->backend);
	for (size_t i = 0; i < account->n_passed_over; i++)
		line(&to, "portprof.passed_over=%s: %s",
		     account->passed_over[i]->backend,
		     account->passed_over[i]->reason);
	for (size_t i = 0; i < account->n_note; i++)
		line(&to, "portprof.note=%s", account->note[i]);
	if (account->command[0])
		line(&to, "portprof.command=%s", account->command);
	for (size_t i = 0; i < account->n_event; i++) {
		snprintf(of, sizeof(of), " (%s)", account->event[i]->name);
		to.of = account->n_event > 1 ? of : "";
		say_event(&to, account->event[i], is_final);
	}
	to.of = "";
	if (!is_final)
		line(&to, "portprof.state=recording, in portions");
	else if (!account->complete)
		line(&to, "portprof.state=broken off");
	else
		line(&to, "portprof.state=complete");
}
