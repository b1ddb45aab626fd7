/* SPDX-License-Identifier: MIT */
/* What is to be doubted of a report: estimates that are far off, weight in no sample,
 * callers that are missing; and what to do. */
#include "config.h"

#include "tools/view/header.h"

#include "base/text.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What the first note with this prefix says; NULL: there is none. */
static const char *rest_of_note(const portprof_profile_origin *origin,
                                const char *prefix)
{
	const char *rest = NULL;

	for (size_t i = 0; i < origin->note_count && !rest; i++)
		rest = ppi_head_behind(origin->notes[i], prefix);
	return rest;
}

/*
 * Further from what the system charged than chance leads: a clock's interrupt
 * that is late by as long as threads run at a time meets the next one
 * (doc/platforms/linux.md). What is missing for that reason is laid where threads
 * left, as far as they are known to have left (backends/perf/sampling/perf_late.c);
 * this is the rest.
 */
static void print_bias(const struct ppi_report *report, FILE *out)
{
	enum { SIGMAS = 4, LEAST_PERCENT = 3 };
	uint64_t error = report->what->stats.standard_error;
	uint64_t gap = report->excess ? report->excess : report->unattributed;

	if (gap / SIGMAS <= error || report->what->stats.lost_samples ||
	    ppi_percent(gap, report->total) < LEAST_PERCENT)
		return;
	fprintf(out, PPI_HEAD_LABEL "samples have %.1f %% %s than was charged; the "
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

	/* a note says what was not */
	if (rest_of_note(portprof_profile_origin_get(report->profile),
	                 PORTPROF_NOTE_MISSED) ||
	    report->unattributed / SIGMAS <=
	            report->what->stats.standard_error ||
	    ppi_percent(report->unattributed, report->total) < LEAST_PERCENT)
		return;
	fprintf(out, PPI_HEAD_LABEL "no timer samples a process while it is loaded and "
	        "while the system ends it, nor a thread that ended before it "
	        "was found\n", "");
}

/* Of samples of CPUs: how far chance may have led them from the truth. */
/* What is more than that: where it comes from, and what to do. */
void ppi_head_doubts(const struct ppi_report *report, FILE *out)
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

void ppi_head_error(const struct ppi_report *report, FILE *out)
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
	fprintf(out, PPI_HEAD_LABEL "%s, with a standard error of %s (%.1f %%) at most\n",
	        "", what ? what
	                 : "CPUs were sampled: all weights are estimates",
	        ppi_say_weight(ppi_scale_of(report->what->unit,
	                                    stats->standard_error),
	                       stats->standard_error, text, sizeof(text)),
	        ppi_percent(stats->standard_error, report->total));
	ppi_head_doubts(report, out);
}

/* Whether ready or blocked time is in it. */
bool ppi_head_has_waits(const struct ppi_report *report)
{
	return report->subject &&
	       report->subject->states & ~(1u << PPI_RUNNING);
}

/* Whoever ends between two samples leaves all of it: many short processes. */
void ppi_head_missing(const struct ppi_report *report, FILE *out)
{
	const portprof_stats *stats = &report->what->stats;
	double hz = stats->granted_hz;

	if (ppi_head_has_waits(report))
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
	fprintf(out, PPI_HEAD_LABEL "threads ended before their next sample: a higher "
	        "rate, such as record -F %d, finds more\n", "",
	        hz < 100 ? 1000 : 4000);
}

/*
 * perf's clocks go on in interrupts and while a hypervisor has the CPU for
 * another machine; what the system charges (wait4) does not, nor is a process
 * in it that nobody waited for. More than a thousandth is said.
 */
void ppi_head_excess(const struct ppi_report *report, FILE *out)
{
	const portprof_profile_event *event = report->what;
	const portprof_stats *stats = &event->stats;
	uint64_t excess;
	char text[64];

	/* what waited was not charged */
	if (ppi_head_has_waits(report) || !event->has_stats ||
	    event->unit != PORTPROF_UNIT_NANOSECONDS ||
	    stats->cpu_time_ns == 0 ||
	    stats->total_weight <= stats->cpu_time_ns)
		return;
	excess = stats->total_weight - stats->cpu_time_ns;
	if (excess <= stats->cpu_time_ns / 1000)
		return;
	fprintf(out, PPI_HEAD_LABEL "%s (%.1f %%) more than the system charged: this "
	        "clock also counts interrupts, stolen time and processes that "
	        "nobody waited for\n",
	        "", ppi_head_time(excess, text, sizeof(text)),
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
	fprintf(out, PPI_HEAD_LABEL "no frame pointer in leaf functions: ", "");
	print_largest(&chains->leaves, chains, out);
	fprintf(out, "\n" PPI_HEAD_LABEL, "");
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
	return list->modules[0].module[0] == '[';
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
		fprintf(out, PPI_HEAD_LABEL "%s for %.1f %%: %s (", "",
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
void ppi_head_chains(const struct ppi_chains *chains, FILE *out)
{
	uint64_t bad = chains->ending + chains->skipping;

	if (chains->weight == 0)
		return;
	fprintf(out, PPI_HEAD_LABEL "complete for %.1f %% of the weight", "callers",
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
		fprintf(out, PPI_HEAD_LABEL "code without frame pointers: ", "");
		print_largest(&chains->modules, chains, out);
		fprintf(out, "; compile it with " PPI_FRAME_FLAG "\n");
	}
	if (chains->leaving)
		print_leaves(chains, out);
	if (strcmp(ppi_symbols_tier(), "libdw") != 0 &&
	    strncmp(ppi_symbols_tier(), "libdw:", 6) != 0)
		fprintf(out, PPI_HEAD_LABEL "more callers may be missing: only a build "
		        "with libdw can see that\n", "");
}
