/* SPDX-License-Identifier: MIT */
/* The account above the rows of a report: all of how the profile was measured, and how
 * reliable it is. */
#include "config.h"

#include "tools/view/header.h"

#include "base/text.h"
#include "tools/terminal.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *ppi_head_time(uint64_t ns, char *out, size_t bytes)
{
	return ppi_say_weight(ppi_scale_of(PORTPROF_UNIT_NANOSECONDS, ns), ns,
	                      out, bytes);
}

/* Three texts of the file as one, from the left margin on. */
static void print_words(FILE *out, const char *first, const char *second,
                        const char *third)
{
	size_t bytes = strlen(first) + strlen(second) + strlen(third) + 1;
	char *words = malloc(bytes);

	if (!words)
		return;
	snprintf(words, bytes, "%s%s%s", first, second, third);
	ppi_put_wrapped_to(out, words, 0, ppi_line_width(out));
	free(words);
}

static void print_alarm(const char *label, const char *words, FILE *out)
{
	fprintf(out, "%s" PPI_HEAD_LABEL, ppi_color(out, PPI_RED), label);
	ppi_put_text(words, out);
	fprintf(out, "%s\n", ppi_color(out, PPI_PLAIN));
}

/* A line of texts that stand in the file. */
void ppi_head_line(FILE *out, const char *label, ...)
{
	const char *text;
	va_list list;

	fprintf(out, PPI_HEAD_LABEL, label);
	va_start(list, label);
	while ((text = va_arg(list, const char *)) != NULL)
		ppi_put_text(text, out);
	va_end(list);
	fputc('\n', out);
}

static void print_title(const struct ppi_report *report,
                        const portprof_profile_origin *origin, FILE *out)
{
	const char *damage =
		portprof_profile_origin_get(report->profile)->damage;

	fputs(ppi_color(out, PPI_BOLD), out);
	print_words(out, report->path, origin->command[0] ? ": " : "",
	            origin->command);
	fputs(ppi_color(out, PPI_PLAIN), out);
	if (damage)
		print_alarm("DAMAGED", damage, out);
	else if (origin->backend[0] && !origin->is_complete)
		print_alarm("INCOMPLETE",
		            "the recording was cut short: the last second may "
		            "be missing",
		            out);
}

static void print_verdict(const portprof_profile_origin *origin, FILE *out)
{
	ppi_head_line(out, "backend",
	           origin->backend[0] ? origin->backend
	                              : "not recorded in this file",
	           NULL);
	for (size_t i = 0; i < origin->passed_over_count; i++)
		ppi_head_line(out, "passed over", origin->passed_over_names[i],
		           ": ", origin->passed_over_reasons[i], NULL);
}

/* "task-clock" of "task-clock:freq=100", and of itself. */
bool ppi_head_begins(const char *begin, const char *name)
{
	size_t length = strlen(begin);

	return strncmp(begin, name, length) == 0 &&
	       (name[length] == '\0' || name[length] == ':');
}

/*
 * Of "task-clock in user mode, 100 times a second: CPU time" the name stands
 * before it already, and the rate in the line below: "in user mode" and ": CPU
 * time" are left; and of "CPU time, 100 times a second" the first half. Other
 * descriptions are left whole.
 */
static void cut_description(const portprof_profile_event *event, char *levels,
                            size_t bytes, char means[256])
{
	size_t name = strcspn(event->name, ":"), length, end;
	const char *text = event->description, *comma, *colon;
	char rate[64];

	levels[0] = '\0';
	snprintf(means, 256, "%s", text);
	length = strlen(means);
	end = (size_t)snprintf(rate, sizeof(rate), ", %.0f times a second",
	                       event->stats.requested_hz);
	if (end < length && strcmp(means + length - end, rate) == 0)
		means[length - end] = '\0';
	if (strncmp(text, event->name, name) != 0 || text[name] != ' ')
		return;
	text += name + 1;
	comma = strstr(text, ", ");
	colon = comma ? strstr(comma, ": ") : NULL;
	if (!colon || memchr(comma + 1, ',', (size_t)(colon - comma - 1)))
		return;
	snprintf(levels, bytes, ", %.*s", (int)(comma - text), text);
	snprintf(means, 256, "%s", colon + 2);
}

static void print_event(const portprof_profile_event *event, FILE *out)
{
	bool is_other =
		event->asked[0] && !ppi_head_begins(event->asked, event->name);
	char levels[64], means[256];

	cut_description(event, levels, sizeof(levels), means);
	ppi_head_line(out, "event", event->name, is_other ? " (asked as " : "",
	           is_other ? event->asked : "", is_other ? ")" : "", levels,
	           means[0] ? ": " : "", means, NULL);
}

/* "250", but "249.7". */
const char *ppi_head_hz(double hz, char *out, size_t bytes)
{
	/* a file may claim any number, and few of them are one */
	bool is_small = hz > 0 && hz < 1e15;
	double tenth = is_small ? hz * 10 - (double)(uint64_t)hz * 10 : 0;

	snprintf(out, bytes, tenth < 0.5 || tenth >= 9.5 ? "%.0f" : "%.1f", hz);
	return out;
}

/* Why more samples came than the rate that was granted; NULL: they did not. */
static const char *say_why_more(const portprof_stats *stats,
                                const char *backend)
{
	if (stats->granted_hz <= 0 ||
	    stats->achieved_hz < stats->granted_hz * 1.02)
		return NULL;
	if (strcmp(backend, "perf") != 0)
		return "each tick of the kernel samples the running thread";
	return stats->total_weight > stats->cpu_time_ns
	               ? "this clock also runs in interrupts, stolen time and "
	                 "processes that nobody waited for"
	               : NULL;
}

static void print_rates(const portprof_stats *stats, portprof_unit unit,
                        const char *backend, FILE *out)
{
	const char *of = unit == PORTPROF_UNIT_NANOSECONDS ? " ns" : "";
	/* the kernel's periods are whole numbers: a rate is met to 0.1 Hz */
	bool is_granted =
		stats->requested_period
			? stats->granted_period == stats->requested_period
			: stats->granted_hz > stats->requested_hz - 0.1 &&
				  stats->granted_hz < stats->requested_hz + 0.1;
	const char *why = say_why_more(stats, backend);
	char hz[32];

	fprintf(out, PPI_HEAD_LABEL, "rate");
	if (stats->requested_period == 1 && !of[0])
		fprintf(out, "a sample for each");
	else if (stats->requested_period)
		fprintf(out, "a sample every %" PRIu64 "%s%s",
		        stats->requested_period, of,
		        is_granted ? "" : " asked");
	else
		fprintf(out, "%s Hz%s",
		        ppi_head_hz(stats->requested_hz, hz, sizeof(hz)),
		        is_granted ? "" : " asked");
	if (is_granted)
		; /* there is no more to say */
	else if (stats->granted_period && stats->requested_period)
		fprintf(out, ", every %" PRIu64 "%s granted",
		        stats->granted_period, of);
	else if (stats->granted_hz > 0)
		fprintf(out, ", %s Hz granted",
		        ppi_head_hz(stats->granted_hz, hz, sizeof(hz)));
	if (stats->cpu_time_ns)
		fprintf(out, ", %s Hz achieved",
		        ppi_head_hz(stats->achieved_hz, hz, sizeof(hz)));
	if (stats->cpu_time_ns && why)
		fprintf(out, "\n" PPI_HEAD_LABEL "more than granted: %s", "", why);
	fputc('\n', out);
}

static void print_samples(const portprof_stats *stats, FILE *out)
{
	fprintf(out, PPI_HEAD_LABEL "%" PRIu64 " kept, %" PRIu64 " lost%s", "samples",
	        stats->kept_samples, stats->lost_samples,
	        stats->lost_certainty == PORTPROF_EXACT ? "" : " or more");
	if (stats->outside_samples)
		fprintf(out, ", %" PRIu64 " outside", stats->outside_samples);
	if (stats->throttled)
		fprintf(out,
		        "; the kernel throttled sampling %" PRIu64 " times",
		        stats->throttled);
	fputc('\n', out);
}

static void print_total(const struct ppi_report *report, FILE *out)
{
	struct ppi_scale scale =
		ppi_scale_of(report->what->unit, report->total);
	uint64_t kept = report->total - report->outside - report->unknown -
	                report->unattributed + report->excess;
	uint64_t rest = report->excess ? report->excess : report->unattributed;
	char total[64], part[64], share[32];

	fprintf(out, PPI_HEAD_LABEL "%s: ", "total",
	        ppi_say_weight(scale, report->total, total, sizeof(total)));
	fprintf(out, "%s in samples, ",
	        ppi_say_weight(scale, kept, part, sizeof(part)));
	/* of others' files, and gmon.out: no account, so no other number */
	if (!report->what->has_stats) {
		fprintf(out, "the file does not say how much is missing\n");
		return;
	}
	fprintf(out, "%s outside, ",
	        ppi_say_weight(scale, report->outside, part, sizeof(part)));
	ppi_say_weight(scale, rest, part, sizeof(part));
	snprintf(share, sizeof(share), "%.1f",
	         ppi_percent(rest, report->total));
	fprintf(out, "%s%s unattributed (%s%s %%)\n",
	        report->excess ? ppi_minus(part) : "", part,
	        report->excess ? ppi_minus(share) : "", share);
}

/* What follows a prefix; NULL: the note begins otherwise. */
const char *ppi_head_behind(const char *note, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(note, prefix, length) == 0 ? note + length : NULL;
}

/* The system does not say it of processes that were attached to. */
static void print_unknown_time(const portprof_profile_event *event, FILE *out)
{
	char text[64];

	if (event->has_stats && event->stats.total_weight &&
	    event->unit == PORTPROF_UNIT_NANOSECONDS)
		fprintf(out, PPI_HEAD_LABEL "%s in samples, in all unknown", "CPU time",
		        ppi_head_time(event->stats.total_weight, text,
		                 sizeof(text)));
	else
		fprintf(out, PPI_HEAD_LABEL "unknown", "CPU time");
}

static void print_times(const portprof_profile_origin *origin,
                        const portprof_profile_event *event, FILE *out)
{
	char text[64];

	if (event->has_stats && event->stats.cpu_time_ns)
		fprintf(out, PPI_HEAD_LABEL "%s", "CPU time",
		        ppi_head_time(event->stats.cpu_time_ns, text, sizeof(text)));
	else
		print_unknown_time(event, out);
	if (origin->duration_ns)
		fprintf(out, " in %s",
		        ppi_head_time(origin->duration_ns, text, sizeof(text)));
	if (event->has_stats && event->stats.idle_time_ns)
		fprintf(out, "; the CPUs were idle for %s",
		        ppi_head_time(event->stats.idle_time_ns, text,
		                 sizeof(text)));
	fputc('\n', out);
}

/* First of all: how much of it the CPU time is. */
void ppi_head_life(const struct ppi_report *report, FILE *out)
{
	if (!report->life.sums.threads)
		return;
	fprintf(out, PPI_HEAD_LABEL, "life");
	ppi_life_print(&report->life, out);
	fputc('\n', out);
}

/* What the weights of waits are worth. */
void ppi_head_waits(const struct ppi_report *report, FILE *out)
{
	const struct ppi_subject *subject = report->subject;
	char text[64];

	if (!subject)
		return;
	if (subject->is_latency)
		fprintf(out, PPI_HEAD_LABEL "weights are divided by the CPUs that were "
		        "in use at that moment, to %s\n", "latency",
		        ppi_head_time(portprof_profile_origin_get(report->profile)
		                         ->timeline_ns, text, sizeof(text)));
	if (!ppi_head_has_waits(report) || !report->life.waited_ns)
		return;
	fprintf(out, PPI_HEAD_LABEL, "waits");
	ppi_life_print_seen(&report->life, out);
	fputc('\n', out);
}

/* "host: web1" and its likes; of many files that were merged the first few. */
static void print_facts(const portprof_profile_origin *origin, FILE *out)
{
	enum { SHOWN_MAX = 3 };

	for (size_t i = 0; i < origin->fact_count; i++) {
		const char *fact = origin->facts[i], *colon = strchr(fact, ':');
		size_t length = colon ? (size_t)(colon - fact) : 0, same = 0;
		size_t ppi_head_behind = 0;
		char label[32];

		if (!length || length >= sizeof(label))
			continue;
		for (size_t j = 0; j < origin->fact_count; j++)
			if (strncmp(origin->facts[j], fact, length + 1) == 0)
				*(j < i ? &same : &ppi_head_behind) += 1;
		snprintf(label, sizeof(label), "%.*s", (int)length, fact);
		colon += 1 + (colon[1] == ' ');
		if (same < SHOWN_MAX)
			ppi_head_line(out, label, colon, NULL);
		else if (same == SHOWN_MAX)
			fprintf(out, PPI_HEAD_LABEL "and %zu more\n", label, ppi_head_behind);
	}
}

static void print_when(const portprof_profile_origin *origin, FILE *out)
{
	time_t seconds = (time_t)(origin->start_ns / 1000000000u);
	struct tm local;
	char text[64];

	if (origin->start_ns && localtime_r(&seconds, &local) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &local))
		fprintf(out, PPI_HEAD_LABEL "%s\n", "when", text);
}

/* Numbers above say it. */
static bool is_said(const struct ppi_report *report, const char *note)
{
	return (report->what->has_stats &&
	        ppi_head_behind(note, PORTPROF_NOTE_ESTIMATES)) ||
	       (report->chains.weight && report->chains.is_unwound &&
	        ppi_head_behind(note, PORTPROF_NOTE_CHAINS));
}

/* The recorder may have said it already. */
static bool is_noted(const portprof_profile_origin *origin, const char *note)
{
	for (size_t i = 0; i < origin->note_count; i++)
		if (strcmp(origin->notes[i], note) == 0)
			return true;
	return false;
}

/* What else samples have: no row shows it unless it is asked for. */
static void print_labels(const portprof_profile *profile, FILE *out)
{
	size_t events[PPI_STATES], shown = 0;
	bool has_waits = ppi_wall_find(profile, events);
	const char *name;

	for (size_t i = 0; (name = ppi_labels_name(profile, i)) != NULL; i++) {
		if (has_waits && ppi_label_is_of_wait(name))
			continue;
		if (shown++)
			fputs(", ", out);
		else
			fprintf(out, PPI_HEAD_LABEL, "labels");
		ppi_put_text(name, out);
	}
	if (shown)
		fputs(" (--sort label:NAME)\n", out);
}

/* What the filters keep, in one line with what there is. */
void ppi_head_shown(const struct ppi_report *report, FILE *out)
{
	struct ppi_scale scale =
		ppi_scale_of(report->what->unit, report->total);
	char shown[64], total[64];

	if (!report->is_filtered)
		return;
	fprintf(out, PPI_HEAD_LABEL "%s of %s (%.1f %%); shares are of what is shown\n",
	        "shown", ppi_say_weight(scale, report->shown, shown,
	                                sizeof(shown)),
	        ppi_say_weight(scale, report->total, total, sizeof(total)),
	        ppi_percent(report->shown, report->total));
}

void ppi_head_notes(const struct ppi_report *report,
                    const portprof_profile_origin *origin, FILE *out)
{
	const char *note;

	for (size_t i = 0; i < origin->note_count; i++)
		if (!is_said(report, origin->notes[i]))
			ppi_head_line(out, "note", origin->notes[i], NULL);
	for (size_t i = 0;
	     (note = ppi_symbols_note(report->symbols, i)) != NULL; i++)
		if (!is_noted(origin, note))
			ppi_head_line(out, "note", note, NULL);
}

/* Everything below the title, in lines of any length. */
static void print_body(const struct ppi_report *report, FILE *out)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(report->profile);
	const portprof_profile_event *event = report->what;

	ppi_head_life(report, out);
	print_when(origin, out);
	print_facts(origin, out);
	print_verdict(origin, out);
	print_event(event, out);
	if (event->has_stats)
		print_rates(&event->stats, event->unit, origin->backend,
		            out);
	print_times(origin, event, out);
	if (event->has_stats)
		print_samples(&event->stats, out);
	print_total(report, out);
	ppi_head_shown(report, out);
	ppi_head_error(report, out);
	ppi_head_missing(report, out);
	ppi_head_excess(report, out);
	ppi_head_waits(report, out);
	ppi_head_chains(&report->chains, out);
	print_labels(report->profile, out);
	fprintf(out, PPI_HEAD_LABEL "%s%s%s\n", "symbols",
	        ppi_symbols_took_names(report->symbols)
	                ? "the profile's own names; else "
	                : "",
	        ppi_symbols_tier(), ppi_symbols_tier_more(report->symbols));
	ppi_head_notes(report, origin, out);
}

void ppi_report_print_header(const struct ppi_report *report, FILE *out)
{
	enum { INDENT = 16 }; /* of PPI_HEAD_LABEL */
	char *text = NULL, *line, *end;
	size_t bytes = 0;
	FILE *body = open_memstream(&text, &bytes);
	bool is_whole;

	print_title(report, portprof_profile_origin_get(report->profile), out);
	if (body && report->is_short)
		ppi_head_short(report, body);
	else if (body)
		print_body(report, body);
	is_whole = body && fclose(body) == 0;
	for (line = text; is_whole && (end = strchr(line, '\n')) != NULL;
	     line = end + 1) {
		*end = '\0';
		if (end - line <= INDENT) {
			fprintf(out, "%s\n", line);
			continue;
		}
		fprintf(out, "%.*s", INDENT, line);
		ppi_put_wrapped_to(out, line + INDENT, INDENT,
		                   ppi_line_width(out));
	}
	free(text);
	fputc('\n', out);
}
