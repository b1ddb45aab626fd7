/* SPDX-License-Identifier: MIT */
/* An event's sums, and its account above the rows of a report: how the
 * profile was measured, and how reliable it is. */
#include "config.h"

#include "tools/view/account.h"

#include <portprof/tool.h>

#include "tools/terminal.h"
#include "tools/tools.h"
#include "tools/view/view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the total, and its parts that are in no row ---- */

/*
 * A whole file of ours has the account that fits its samples. One that was
 * cut has the account of its last portion, so the samples may say more; one
 * of another writer has none, and its samples are all that there is.
 */
void ppi_report_sum(struct ppi_report *report, uint64_t rows_weight)
{
	bool is_estimate = false;
	uint64_t known;

	report->what = portprof_profile_event_get(report->profile,
	                                          report->event);
	if (report->subject &&
	    (report->subject->is_joined || report->subject->is_latency))
		report->what = &report->subject->joined;
	ppi_life_find(report->profile, &report->life);
	report->outside = 0;
	report->idle = 0;
	report->total = rows_weight;
	if (report->what->has_stats) {
		report->outside = report->what->stats.outside_weight;
		report->total = report->what->stats.total_weight;
		report->total -= report->idle_waits < report->total
		                         ? report->idle_waits : report->total;
		report->idle = report->what->stats.idle_time_ns;
		is_estimate = report->what->stats.standard_error > 0;
	}
	report->unknown = 0;
	if (report->subject && report->subject->is_joined &&
	    report->subject->states == (1u << PPI_STATES) - 1)
		report->unknown = report->life.sums.unknown_ns;
	report->total += report->unknown;
	known = rows_weight + report->outside + report->unknown;
	/* what has a standard error may be more than what it estimates */
	if (report->total < known && !is_estimate)
		report->total = known;
	report->unattributed = report->total > known ? report->total - known
	                                             : 0;
	report->excess = known > report->total ? known - report->total : 0;
	report->is_filtered = false;
	/* an estimate that is too high by chance is no more than all */
	report->shown = ppi_report_noise(report) ? known : report->total;
}

void ppi_report_filter(struct ppi_report *report, uint64_t shown,
                       uint64_t left_out)
{
	report->is_filtered = true;
	report->shown = shown;
	report->left_out = left_out;
}

/* Twice the error: 19 of 20 are nearer by chance. */
bool ppi_report_noise(const struct ppi_report *report)
{
	uint64_t gap = report->excess ? report->excess : report->unattributed;

	return report->what->has_stats && report->what->stats.standard_error &&
	       gap / 2 <= report->what->stats.standard_error;
}

/* ---- how it was measured ---- */

#define LABEL "  %-13s "

static const char *say_time(uint64_t ns, char *out, size_t bytes)
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
	fprintf(out, "%s" LABEL, ppi_color(out, PPI_RED), label);
	ppi_put_text(words, out);
	fprintf(out, "%s\n", ppi_color(out, PPI_PLAIN));
}

/* A line of texts that stand in the file. */
static void print_line(FILE *out, const char *label, ...)
{
	const char *text;
	va_list list;

	fprintf(out, LABEL, label);
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
	print_line(out, "backend",
	           origin->backend[0] ? origin->backend
	                              : "not recorded in this file",
	           NULL);
	for (size_t i = 0; i < origin->passed_over_count; i++)
		print_line(out, "passed over", origin->passed_over_names[i],
		           ": ", origin->passed_over_reasons[i], NULL);
}

/* "task-clock" of "task-clock:freq=100", and of itself. */
static bool is_begin_of(const char *begin, const char *name)
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
		event->asked[0] && !is_begin_of(event->asked, event->name);
	char levels[64], means[256];

	cut_description(event, levels, sizeof(levels), means);
	print_line(out, "event", event->name, is_other ? " (asked as " : "",
	           is_other ? event->asked : "", is_other ? ")" : "", levels,
	           means[0] ? ": " : "", means, NULL);
}

/* "250", but "249.7". */
static const char *say_hz(double hz, char *out, size_t bytes)
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

	fprintf(out, LABEL, "rate");
	if (stats->requested_period == 1 && !of[0])
		fprintf(out, "a sample for each");
	else if (stats->requested_period)
		fprintf(out, "a sample every %" PRIu64 "%s%s",
		        stats->requested_period, of,
		        is_granted ? "" : " asked");
	else
		fprintf(out, "%s Hz%s",
		        say_hz(stats->requested_hz, hz, sizeof(hz)),
		        is_granted ? "" : " asked");
	if (is_granted)
		; /* there is no more to say */
	else if (stats->granted_period && stats->requested_period)
		fprintf(out, ", every %" PRIu64 "%s granted",
		        stats->granted_period, of);
	else if (stats->granted_hz > 0)
		fprintf(out, ", %s Hz granted",
		        say_hz(stats->granted_hz, hz, sizeof(hz)));
	if (stats->cpu_time_ns)
		fprintf(out, ", %s Hz achieved",
		        say_hz(stats->achieved_hz, hz, sizeof(hz)));
	if (stats->cpu_time_ns && why)
		fprintf(out, "\n" LABEL "more than granted: %s", "", why);
	fputc('\n', out);
}

static void print_samples(const portprof_stats *stats, FILE *out)
{
	fprintf(out, LABEL "%" PRIu64 " kept, %" PRIu64 " lost%s", "samples",
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

	fprintf(out, LABEL "%s: ", "total",
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
static const char *behind(const char *note, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(note, prefix, length) == 0 ? note + length : NULL;
}

/* What the first note with this prefix says; NULL: there is none. */
static const char *rest_of_note(const portprof_profile_origin *origin,
                                const char *prefix)
{
	const char *rest = NULL;

	for (size_t i = 0; i < origin->note_count && !rest; i++)
		rest = behind(origin->notes[i], prefix);
	return rest;
}

/*
 * Further from what the system charged than chance leads: a clock's interrupt
 * that is late by as long as threads run at a time meets the next one
 * (doc/platforms/linux.md): nginx with short answers on two busy CPUs had 5 to
 * 38 % less, by perf -a 5 to 24.
 */
static void print_bias(const struct ppi_report *report, FILE *out)
{
	enum { SIGMAS = 4, LEAST_PERCENT = 3 };
	uint64_t error = report->what->stats.standard_error;
	uint64_t gap = report->excess ? report->excess : report->unattributed;

	if (gap / SIGMAS <= error || report->what->stats.lost_samples ||
	    ppi_percent(gap, report->total) < LEAST_PERCENT)
		return;
	fprintf(out, LABEL "samples have %.1f %% %s than was charged; the "
	        "standard error is %.1f %%. Short runs are sampled too %s, "
	        "and shares are off by as much; record --no-estimates uses "
	        "clocks of threads\n", "",
	        ppi_percent(gap, report->total),
	        report->excess ? "more" : "less",
	        ppi_percent(error, report->total),
	        report->excess ? "often" : "seldom");
}

static const char by_timers[] =
	"the first sample of a thread stands for a whole period, so that short "
	"threads are right on average";

static bool is_by_timers(const struct ppi_report *report)
{
	const char *backend =
		portprof_profile_origin_get(report->profile)->backend;

	return backend && (strcmp(backend, "timer") == 0 ||
	                   strcmp(backend, "itimer") == 0);
}

/* More than chance leaves out: where no signal of a timer can come. */
static void print_ends(const struct ppi_report *report, FILE *out)
{
	enum { SIGMAS = 3, LEAST_PERCENT = 3 };

	if (report->unattributed / SIGMAS <=
	            report->what->stats.standard_error ||
	    ppi_percent(report->unattributed, report->total) < LEAST_PERCENT)
		return;
	fprintf(out, LABEL "no timer samples a process while it is loaded and "
	        "while the system ends it, nor a thread that ended before it "
	        "was found\n", "");
}

/* Of samples of CPUs: how far chance may have led them from the truth. */
/* What is more than that: where it comes from, and what to do. */
static void print_doubts(const struct ppi_report *report, FILE *out)
{
	bool is_command = rest_of_note(
		portprof_profile_origin_get(report->profile),
		PORTPROF_NOTE_ESTIMATES) != NULL;

	if (!report->what->has_stats || !report->what->stats.standard_error)
		return;
	/* of a command by timers only tails are estimates */
	if (is_command)
		print_bias(report, out);
	else if (is_by_timers(report))
		print_ends(report, out);
}

static void print_error(const struct ppi_report *report, FILE *out)
{
	const portprof_stats *stats = &report->what->stats;
	const char *what = rest_of_note(
		portprof_profile_origin_get(report->profile),
		PORTPROF_NOTE_ESTIMATES);
	char text[64];

	if (!report->what->has_stats || stats->standard_error == 0)
		return;
	if (!what && is_by_timers(report))
		what = by_timers;
	fprintf(out, LABEL "%s, with a standard error of %s (%.1f %%) at most\n",
	        "", what ? what
	                 : "CPUs were sampled: all weights are estimates",
	        ppi_say_weight(ppi_scale_of(report->what->unit,
	                                    stats->standard_error),
	                       stats->standard_error, text, sizeof(text)),
	        ppi_percent(stats->standard_error, report->total));
	print_doubts(report, out);
}

/* Whether ready or blocked time is in it. */
static bool is_of_waits(const struct ppi_report *report)
{
	return report->subject &&
	       report->subject->states & ~(1u << PPI_RUNNING);
}

/* Whoever ends between two samples leaves all of it: many short processes. */
static void print_missing(const struct ppi_report *report, FILE *out)
{
	const portprof_stats *stats = &report->what->stats;
	double hz = stats->granted_hz;

	if (is_of_waits(report))
		return;
	/* more than a period a thread was not lost by their ending */
	if (hz > 0 && (double)report->unattributed >
	    (double)(1 + portprof_profile_thread_count(report->profile)) *
	    2e9 / hz)
		return;
	/* where the kernel grants less than was asked, asking is no use */
	if (!report->what->has_stats || stats->lost_samples || hz <= 0 ||
	    stats->standard_error || hz >= 1000 || hz < stats->requested_hz * 0.99 ||
	    ppi_percent(report->unattributed, report->total) < 10)
		return;
	fprintf(out, LABEL "threads ended before their next sample: a higher "
	        "rate, such as record -F %d, finds more\n", "",
	        hz < 100 ? 1000 : 4000);
}

/*
 * perf's clocks go on in interrupts and while a hypervisor has the CPU for
 * another machine; what the system charges (wait4) does not, nor is a process
 * in it that nobody waited for. More than a thousandth is said.
 */
static void print_excess(const struct ppi_report *report, FILE *out)
{
	const portprof_profile_event *event = report->what;
	const portprof_stats *stats = &event->stats;
	uint64_t excess;
	char text[64];

	/* what waited was not charged */
	if (is_of_waits(report) || !event->has_stats || event->unit != PORTPROF_UNIT_NANOSECONDS ||
	    stats->cpu_time_ns == 0 ||
	    stats->total_weight <= stats->cpu_time_ns)
		return;
	excess = stats->total_weight - stats->cpu_time_ns;
	if (excess <= stats->cpu_time_ns / 1000)
		return;
	fprintf(out, LABEL "%s (%.1f %%) more than the system charged: this "
	        "clock also counts interrupts, stolen time and processes that "
	        "nobody waited for\n",
	        "", say_time(excess, text, sizeof(text)),
	        ppi_percent(excess, stats->cpu_time_ns));
}

/* "app 61.2 %, libc.so.6 3.0 %"; few are worth a name. */
static void print_largest(const struct ppi_nameless_list *list,
                          const struct ppi_chains *chains, FILE *out)
{
	for (size_t i = 0; i < list->count && i < 4; i++) {
		double share =
			ppi_percent(list->modules[i].weight, chains->weight);

		if (i > 0 && share < 0.1)
			break;
		fprintf(out, "%s", i ? ", " : "");
		ppi_put_text(list->modules[i].module, out);
		fprintf(out, " %.1f %%", share);
	}
}

static void print_share(const char *what, uint64_t weight,
                        const struct ppi_chains *chains, FILE *out)
{
	if (weight)
		fprintf(out, "; %s for %.1f %%", what,
		        ppi_percent(weight, chains->weight));
}

/* gcc gives leaf functions of x86 no frame, whatever the options. */
static void print_leaves(const struct ppi_chains *chains, FILE *out)
{
	fprintf(out, LABEL "no frame pointer in leaf functions: ", "");
	print_largest(&chains->leaves, chains, out);
	fprintf(out, "\n" LABEL, "");
	fprintf(out, chains->keeps_leaf_frames
	                ? "compile them with -mno-omit-leaf-frame-pointer\n"
	                : "gcc for x86 cannot give them one, clang can\n");
}

static uint64_t sum_of(const struct ppi_nameless_list *list)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < list->count; i++)
		sum += list->modules[i].weight;
	return sum;
}

/* What a JIT compiler made lies in no file. */
static bool is_in_no_file(const struct ppi_nameless_list *list)
{
	const char *module = list->modules[0].module;

	return module[0] == '[' || strstr(module, ".map");
}

/* What helps against cut chains, "" where nothing does. */
static const char *advice_for(enum portprof_chain_end reason,
                              const struct ppi_chains *chains, char *room,
                              size_t bytes)
{
	enum { MOST = 63 << 10 };
	unsigned more = 2 * chains->stack_bytes;

	switch (reason) {
	case PORTPROF_CHAIN_COPY_SHORT:
		if (chains->stack_bytes >= MOST)
			return "";
		snprintf(room, bytes, ": record --call-graph dwarf,%u",
		         more < MOST ? more : MOST);
		return room;
	case PORTPROF_CHAIN_NO_RULE:
		return is_in_no_file(&chains->reasons[reason])
			? ": have its compiler keep frame pointers (java "
			  "-XX:+PreserveFramePointer, node --perf-basic-prof)"
			: ": use a build with frame tables "
			  "(-fasynchronous-unwind-tables) or with "
			  PPI_FRAME_FLAG;
	default:
		return "";
	}
}

/* Why chains by frame tables are cut, by weight and module. */
static void print_reasons(const struct ppi_chains *chains, FILE *out)
{
	static const char *const words[] = {
		[PORTPROF_CHAIN_COPY_SHORT] = "stack copy too short",
		[PORTPROF_CHAIN_NO_RULE] = "neither frame table nor frame "
					   "pointer",
		[PORTPROF_CHAIN_OUTSIDE] = "caller on another stack",
		[PORTPROF_CHAIN_JUNK] = "no return address found",
		[PORTPROF_CHAIN_DEPTH] = "depth limit",
		[PORTPROF_CHAIN_POINTERS] = "32-bit program, by frame pointers "
					    "alone",
		[PORTPROF_CHAIN_LEAVES_OUT] = "it went on on another stack",
	};
	char room[64];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct ppi_nameless_list *list = &chains->reasons[i];
		double share = ppi_percent(sum_of(list), chains->weight);

		if (!words[i] || share < 0.05)
			continue;
		fprintf(out, LABEL "%s for %.1f %%: %s (", "",
		        i == PORTPROF_CHAIN_LEAVES_OUT ? "a caller missing"
		                                       : "cut",
		        share, words[i]);
		print_largest(list, chains, out);
		/* for less nobody compiles anything again */
		fprintf(out, ")%s\n", share < 1 ? "" :
		        advice_for((enum portprof_chain_end)i, chains, room,
		                   sizeof(room)));
	}
}

/* For how much of the weight callers can be believed, and what spoils the
 * others. */
static void print_chains(const struct ppi_chains *chains, FILE *out)
{
	uint64_t bad = chains->ending + chains->skipping;

	if (chains->weight == 0)
		return;
	fprintf(out, LABEL "complete for %.1f %% of the weight", "callers",
	        ppi_percent(chains->weight - bad - chains->cut -
	                            chains->leaving, chains->weight));
	if (chains->is_unwound) {
		fputc('\n', out);
		print_reasons(chains, out);
		return;
	}
	print_share("cut early", chains->ending, chains, out);
	print_share("a caller missing", chains->skipping, chains, out);
	print_share("cut at the depth limit", chains->cut, chains, out);
	print_share("the last caller missing", chains->leaving, chains, out);
	fputc('\n', out);
	if (bad) {
		fprintf(out, LABEL "code without frame pointers: ", "");
		print_largest(&chains->modules, chains, out);
		fprintf(out, "; compile it with " PPI_FRAME_FLAG "\n");
	}
	if (chains->leaving)
		print_leaves(chains, out);
	if (strcmp(ppi_symbols_tier(), "libdw") != 0 &&
	    strncmp(ppi_symbols_tier(), "libdw:", 6) != 0)
		fprintf(out, LABEL "more callers may be missing: only a build "
		        "with libdw can see that\n", "");
}

/* The system does not say it of processes that were attached to. */
static void print_unknown_time(const portprof_profile_event *event, FILE *out)
{
	char text[64];

	if (event->has_stats && event->stats.total_weight &&
	    event->unit == PORTPROF_UNIT_NANOSECONDS)
		fprintf(out, LABEL "%s in samples, in all unknown", "CPU time",
		        say_time(event->stats.total_weight, text,
		                 sizeof(text)));
	else
		fprintf(out, LABEL "unknown", "CPU time");
}

static void print_times(const portprof_profile_origin *origin,
                        const portprof_profile_event *event, FILE *out)
{
	char text[64];

	if (event->has_stats && event->stats.cpu_time_ns)
		fprintf(out, LABEL "%s", "CPU time",
		        say_time(event->stats.cpu_time_ns, text, sizeof(text)));
	else
		print_unknown_time(event, out);
	if (origin->duration_ns)
		fprintf(out, " in %s",
		        say_time(origin->duration_ns, text, sizeof(text)));
	if (event->has_stats && event->stats.idle_time_ns)
		fprintf(out, "; the CPUs were idle for %s",
		        say_time(event->stats.idle_time_ns, text,
		                 sizeof(text)));
	fputc('\n', out);
}

/* First of all: how much of it the CPU time is. */
static void print_life(const struct ppi_report *report, FILE *out)
{
	if (!report->life.sums.threads)
		return;
	fprintf(out, LABEL, "life");
	ppi_life_print(&report->life, out);
	fputc('\n', out);
}

/* What the weights of waits are worth. */
static void print_waits(const struct ppi_report *report, FILE *out)
{
	const struct ppi_subject *subject = report->subject;
	char text[64];

	if (!subject)
		return;
	if (subject->is_latency)
		fprintf(out, LABEL "weights are divided by the CPUs that were "
		        "in use at that moment, to %s\n", "latency",
		        say_time(portprof_profile_origin_get(report->profile)
		                         ->timeline_ns, text, sizeof(text)));
	if (!is_of_waits(report) || !report->life.waited_ns)
		return;
	fprintf(out, LABEL, "waits");
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
		size_t behind = 0;
		char label[32];

		if (!length || length >= sizeof(label))
			continue;
		for (size_t j = 0; j < origin->fact_count; j++)
			if (strncmp(origin->facts[j], fact, length + 1) == 0)
				*(j < i ? &same : &behind) += 1;
		snprintf(label, sizeof(label), "%.*s", (int)length, fact);
		colon += 1 + (colon[1] == ' ');
		if (same < SHOWN_MAX)
			print_line(out, label, colon, NULL);
		else if (same == SHOWN_MAX)
			fprintf(out, LABEL "and %zu more\n", label, behind);
	}
}

static void print_when(const portprof_profile_origin *origin, FILE *out)
{
	time_t seconds = (time_t)(origin->start_ns / 1000000000u);
	struct tm local;
	char text[64];

	if (origin->start_ns && localtime_r(&seconds, &local) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &local))
		fprintf(out, LABEL "%s\n", "when", text);
}

/* Numbers above say it. */
static bool is_said(const struct ppi_report *report, const char *note)
{
	return (report->what->has_stats &&
	        behind(note, PORTPROF_NOTE_ESTIMATES)) ||
	       (report->chains.weight && report->chains.is_unwound &&
	        behind(note, PORTPROF_NOTE_CHAINS));
}

/* The recorder may have said it already. */
static bool is_noted(const portprof_profile_origin *origin, const char *note)
{
	for (size_t i = 0; i < origin->note_count; i++)
		if (strcmp(origin->notes[i], note) == 0)
			return true;
	return false;
}

/* What has a key of its own. */
static bool is_of_wait(const char *label)
{
	for (int i = 0; i < PPI_TAGS; i++)
		if (strcmp(label, ppi_tag_name((enum ppi_tag)i)) == 0)
			return true;
	return strcmp(label, PPI_LIFE_ESTIMATE) == 0;
}

/* What else samples have: no row shows it unless it is asked for. */
static void print_labels(const portprof_profile *profile, FILE *out)
{
	size_t events[PPI_STATES], shown = 0;
	bool has_waits = ppi_wall_find(profile, events);
	const char *name;

	for (size_t i = 0; (name = ppi_labels_name(profile, i)) != NULL; i++) {
		if (has_waits && is_of_wait(name))
			continue;
		if (shown++)
			fputs(", ", out);
		else
			fprintf(out, LABEL, "labels");
		ppi_put_text(name, out);
	}
	if (shown)
		fputs(" (--sort label:NAME)\n", out);
}

/* What the filters keep, in one line with what there is. */
static void print_shown(const struct ppi_report *report, FILE *out)
{
	struct ppi_scale scale =
		ppi_scale_of(report->what->unit, report->total);
	char shown[64], total[64];

	if (!report->is_filtered)
		return;
	fprintf(out, LABEL "%s of %s (%.1f %%); shares are of what is shown\n",
	        "shown", ppi_say_weight(scale, report->shown, shown,
	                                sizeof(shown)),
	        ppi_say_weight(scale, report->total, total, sizeof(total)),
	        ppi_percent(report->shown, report->total));
}

static void print_notes(const struct ppi_report *report,
                        const portprof_profile_origin *origin, FILE *out)
{
	const char *note;

	for (size_t i = 0; i < origin->note_count; i++)
		if (!is_said(report, origin->notes[i]))
			print_line(out, "note", origin->notes[i], NULL);
	for (size_t i = 0;
	     (note = ppi_symbols_note(report->symbols, i)) != NULL; i++)
		if (!is_noted(origin, note))
			print_line(out, "note", note, NULL);
}

/* Everything below the title, in lines of any length. */
static void print_body(const struct ppi_report *report, FILE *out)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(report->profile);
	const portprof_profile_event *event = report->what;

	print_life(report, out);
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
	print_shown(report, out);
	print_error(report, out);
	print_missing(report, out);
	print_excess(report, out);
	print_waits(report, out);
	print_chains(&report->chains, out);
	print_labels(report->profile, out);
	fprintf(out, LABEL "%s%s%s\n", "symbols",
	        ppi_symbols_took_names(report->symbols)
	                ? "the profile's own names; else "
	                : "",
	        ppi_symbols_tier(), ppi_symbols_tier_more(report->symbols));
	print_notes(report, origin, out);
}

/* ---- four lines, for who wants to see the rows ---- */

/* "2026-11-26 05:51:06 +0000, for 104.3 ms, on web1" */
static void print_short_when(const portprof_profile_origin *origin, FILE *out)
{
	time_t seconds = (time_t)(origin->start_ns / 1000000000u);
	const char *before = "", *host;
	struct tm local;
	char text[64];

	if (!origin->start_ns && !origin->duration_ns)
		return;
	fprintf(out, LABEL, "when");
	if (origin->start_ns && localtime_r(&seconds, &local) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &local)) {
		fputs(text, out);
		before = ", ";
	}
	if (origin->duration_ns)
		fprintf(out, "%sfor %s", before,
		        say_time(origin->duration_ns, text, sizeof(text)));
	for (size_t i = 0; i < origin->fact_count; i++) {
		host = behind(origin->facts[i], "host: ");
		if (!host)
			continue;
		fputs(", on ", out);
		ppi_put_text(host, out);
		break;
	}
	fputc('\n', out);
}

/* "997.5 Hz", with what was asked where the kernel gave less. */
static void print_short_rate(const portprof_stats *stats, portprof_unit unit,
                             FILE *out)
{
	double hz = stats->cpu_time_ns ? stats->achieved_hz : stats->granted_hz;
	char text[32];

	if (stats->requested_period)
		fprintf(out, ", one every %" PRIu64 "%s",
		        stats->requested_period,
		        unit == PORTPROF_UNIT_NANOSECONDS ? " ns" : "");
	else if (hz > 0)
		fprintf(out, " at %s Hz", say_hz(hz, text, sizeof(text)));
	if (stats->granted_hz > 0 &&
	    stats->granted_hz < stats->requested_hz * 0.99)
		fprintf(out, " (%s asked)", say_hz(stats->requested_hz, text,
		                                   sizeof(text)));
}

static void print_short_total(const struct ppi_report *report, FILE *out)
{
	const portprof_profile_event *event = report->what;
	const portprof_stats *stats = &event->stats;
	const char *backend =
		portprof_profile_origin_get(report->profile)->backend;
	struct ppi_scale scale = ppi_scale_of(event->unit, report->total);
	bool is_other =
		event->asked[0] && !is_begin_of(event->asked, event->name);
	char text[64], name[256], *rate;

	fprintf(out, LABEL "%s of ", "total",
	        ppi_say_weight(scale, report->total, text, sizeof(text)));
	snprintf(name, sizeof(name), "%s", event->name);
	if (event->has_stats && (rate = strstr(name, ":freq=")) != NULL)
		*rate = '\0'; /* it follows, as it was met */
	ppi_put_text(name, out);
	if (is_other) {
		fputs(" (asked as ", out);
		ppi_put_text(event->asked, out);
		fputc(')', out);
	}
	if (event->has_stats) {
		fprintf(out, " in %" PRIu64 " samples", stats->kept_samples);
		if (!is_of_waits(report))
			print_short_rate(stats, event->unit, out);
	}
	if (backend[0])
		fprintf(out, ", by %s", backend);
	if (report->idle)
		fprintf(out, "; the CPUs were idle for %s",
		        say_time(report->idle, text, sizeof(text)));
	fputc('\n', out);
}

/* "0 ± 3.1 ms unattributed": what chance and estimates explain is none. */
static void print_short_gap(const struct ppi_report *report, FILE *out)
{
	struct ppi_scale scale =
		ppi_scale_of(report->what->unit, report->total);
	uint64_t gap = report->excess ? report->excess : report->unattributed;
	char text[64], share[32];

	if (!report->what->has_stats) {
		fputs("the file does not say how much is missing", out);
		return;
	}
	if (ppi_report_noise(report)) {
		fprintf(out, "0 ± %s unattributed",
		        ppi_say_weight(scale,
		                       report->what->stats.standard_error,
		                       text, sizeof(text)));
		return;
	}
	ppi_say_weight(scale, gap, text, sizeof(text));
	snprintf(share, sizeof(share), "%.1f", ppi_percent(gap, report->total));
	fprintf(out, "%s%s unattributed (%s%s %%)",
	        report->excess ? ppi_minus(text) : "", text,
	        report->excess ? ppi_minus(share) : "", share);
}

static void print_short_trust(const struct ppi_report *report, FILE *out)
{
	const portprof_stats *stats = &report->what->stats;
	const struct ppi_chains *chains = &report->chains;
	uint64_t bad = chains->ending + chains->skipping + chains->cut +
	               chains->leaving;
	double low, high;

	fprintf(out, LABEL, "trust");
	print_short_gap(report, out);
	if (report->what->has_stats)
		fprintf(out, ", %" PRIu64 " lost%s",
		        stats->lost_samples,
		        stats->lost_certainty == PORTPROF_EXACT ? ""
		                                                : " or more");
	if (chains->weight)
		fprintf(out, ", callers complete for %.1f %%",
		        ppi_percent(chains->weight - bad, chains->weight));
	fputc('\n', out);
	/* waits are measured whole, however few samples they have */
	if (report->what->has_stats && stats->kept_samples &&
	    stats->kept_samples < PPI_FEW_SAMPLES && !is_of_waits(report)) {
		ppi_share_range(0.1, stats->kept_samples, &low, &high);
		fprintf(out, LABEL "%" PRIu64 " samples: a share of 10 %% "
		        "is %.0f to %.0f %% (95 %%); -F takes more\n", "",
		        stats->kept_samples, 100 * low, 100 * high);
	}
	if (stats->throttled)
		fprintf(out, LABEL "the kernel throttled sampling %" PRIu64
		        " times\n", "", stats->throttled);
}

/* Where callers are missing for more than this, what helps is said. */
enum { CALLERS_LEAST_PERCENT = 95 };

static void print_short(const struct ppi_report *report, FILE *out)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(report->profile);
	const struct ppi_chains *chains = &report->chains;
	uint64_t bad = chains->ending + chains->skipping + chains->cut;

	print_life(report, out);
	print_short_when(origin, out);
	print_short_total(report, out);
	print_shown(report, out);
	print_waits(report, out);
	print_short_trust(report, out);
	print_doubts(report, out);
	print_missing(report, out);
	for (size_t i = 0; i < origin->passed_over_count; i++)
		print_line(out, "passed over", origin->passed_over_names[i],
		           ": ", origin->passed_over_reasons[i], NULL);
	if (ppi_percent(bad, chains->weight) > 100 - CALLERS_LEAST_PERCENT)
		print_chains(chains, out);
	print_notes(report, origin, out);
}

void ppi_report_print_header(const struct ppi_report *report, FILE *out)
{
	enum { INDENT = 16 }; /* of LABEL */
	char *text = NULL, *line, *end;
	size_t bytes = 0;
	FILE *body = open_memstream(&text, &bytes);
	bool is_whole;

	print_title(report, portprof_profile_origin_get(report->profile), out);
	if (body && report->is_short)
		print_short(report, body);
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
