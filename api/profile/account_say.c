/* SPDX-License-Identifier: MIT */
/* The account in words: the comment lines of a profile. */
#include <portprof/event.h>

#include "api/profile/account.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* "1000 Hz", or the period; nothing when neither is known. */
static void format_rate(char *out, size_t bytes, double hz, uint64_t period,
                        const char *unit)
{
	if (hz > 0)
		snprintf(out, bytes, "%g Hz", hz);
	else if (period > 0)
		snprintf(out, bytes, "every %" PRIu64 " %s", period, unit);
	else
		snprintf(out, bytes, "unknown");
}

static void say_rate(const struct speech *to, const Ppi__Stats *stats,
                     const char *unit, bool is_final)
{
	char requested[64], granted[64], achieved[64];

	format_rate(requested, sizeof(requested), stats->requested_hz,
	            stats->requested_period, unit);
	format_rate(granted, sizeof(granted), stats->granted_hz,
	            stats->granted_period, unit);
	format_rate(achieved, sizeof(achieved), stats->achieved_hz, 0, unit);
	if (is_final)
		line(to, "portprof.rate=requested %s, granted %s, "
		         "achieved %s%s",
		     requested, granted, achieved, to->of);
	else
		line(to, "portprof.rate=requested %s%s", requested, to->of);
}

static void say_sums(const struct speech *to, const Ppi__Stats *stats,
                     const char *unit)
{
	line(to, "portprof.samples=%" PRIu64 " kept, %" PRIu64 " outside%s",
	     stats->kept_samples, stats->outside_samples, to->of);
	line(to, "portprof.lost=%" PRIu64 " %s%s", stats->lost_samples,
	     certainty(stats->lost_certainty), to->of);
	if (stats->throttled)
		line(to, "portprof.throttled=%" PRIu64 "%s", stats->throttled,
		     to->of);
	line(to, "portprof.weight=%" PRIu64 " %s: %" PRIu64 " kept, %" PRIu64
	         " outside, %" PRIu64 " unattributed (%s)%s",
	     stats->total_weight, unit, stats->kept_weight,
	     stats->outside_weight, stats->unattributed_weight,
	     certainty(stats->unattributed_certainty), to->of);
	if (stats->standard_error)
		line(to, "portprof.estimate=%" PRIu64 " more in samples than "
		         "the total, standard error %" PRIu64 "%s",
		     stats->excess_weight, stats->standard_error, to->of);
	if (stats->idle_time_ns)
		line(to, "portprof.idle=%" PRIu64 " nanoseconds%s",
		     stats->idle_time_ns, to->of);
}

static void say_event(const struct speech *to, const Ppi__Event *event,
                      bool is_final)
{
	const char *unit = event->unit == PORTPROF_UNIT_NANOSECONDS
	                           ? "nanoseconds"
	                           : "count";

	line(to, "portprof.event=%s: %s", event->name, event->description);
	if (strcmp(event->asked, event->name) != 0)
		line(to, "portprof.asked=%s%s", event->asked, to->of);
	if (!event->stats)
		return;
	say_rate(to, event->stats, unit, is_final);
	if (is_final)
		say_sums(to, event->stats, unit);
}

/* One clock for all events. */
static void say_cpu_time(const struct speech *to, const Ppi__Account *account)
{
	const Ppi__Stats *stats =
		account->n_event ? account->event[0]->stats : NULL;

	if (stats && stats->cpu_time_ns)
		line(to, "portprof.cpu_time=%" PRIu64 " nanoseconds",
		     stats->cpu_time_ns);
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
	for (size_t i = 0; i < account->n_fact; i++)
		line(&to, "portprof.%s", account->fact[i]);
	if (account->command[0])
		line(&to, "portprof.command=%s", account->command);
	for (size_t i = 0; i < account->n_event; i++) {
		snprintf(of, sizeof(of), " (%s)", account->event[i]->name);
		to.of = account->n_event > 1 ? of : "";
		say_event(&to, account->event[i], is_final);
	}
	to.of = "";
	if (is_final)
		say_cpu_time(&to, account);
	if (!is_final)
		line(&to, "portprof.state=recording, in portions");
	else if (!account->complete)
		line(&to, "portprof.state=broken off");
	else
		line(&to, "portprof.state=complete");
}
