/* SPDX-License-Identifier: MIT */
/* Counts as text: a table like that of perf stat, or fields for -x. */
#include "config.h"

#include "base/text.h"
#include "tools/stat/stat.h"
#include "tools/terminal.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- as fields ---- */

/* In the order and with the words of perf stat -x. */

static void put_field_value(struct ppi_stat *stat, size_t index,
                            const struct ppi_stat_value *value)
{
	const struct ppi_stat_event *event = &stat->events[index];

	if (!ppi_stat_is_number(value))
		fputs(ppi_stat_is_supported(event) ? "<not counted>"
		                                   : "<not supported>",
		      stat->out);
	else if (event->info.unit == PORTPROF_UNIT_NANOSECONDS)
		fprintf(stat->out, "%.2f", value->value / 1e6);
	else if (stat->done > 1 && value->value != (double)value->exact)
		fprintf(stat->out, "%.2f", value->value); /* a mean */
	else
		fprintf(stat->out, "%" PRIu64, value->exact);
}

static void put_field_text(struct ppi_stat *stat, const char *text)
{
	fputs(stat->options.separator, stat->out);
	ppi_put_field(text, stat->options.separator, stat->out);
}

static void put_field_metric(struct ppi_stat *stat,
                             const struct ppi_stat_view *view, size_t index)
{
	const char *separator = stat->options.separator;
	struct ppi_stat_metric metric = ppi_stat_metric(
		stat, view->values, index, view->wall_ns);

	if (metric.unit && !isnan(metric.value))
		fprintf(stat->out, "%s%.3f%s%s", separator, metric.value,
		        separator, metric.unit);
	else
		fprintf(stat->out, "%s%s", separator, separator);
}

static void put_field_row(struct ppi_stat *stat,
			  const struct ppi_stat_view *view, size_t index)
{
	const struct ppi_stat_value *value = &view->values[index];
	const struct ppi_stat_event *event = &stat->events[index];
	const char *separator = stat->options.separator;
	double error = ppi_stat_error(&event->sum);

	if (event->place)
		fprintf(stat->out, "%s%s", event->place->name, separator);
	put_field_value(stat, index, value);
	put_field_text(stat, event->info.unit == PORTPROF_UNIT_NANOSECONDS
				     ? "msec"
				     : "");
	put_field_text(stat, event->name);
	if (stat->options.runs > 1)
		fprintf(stat->out, "%s%.2f%%", separator,
		        isnan(error) || event->sum.mean <= 0
		                ? 0.0
		                : error / event->sum.mean * 100);
	fprintf(stat->out, "%s%" PRIu64 "%s%.2f", separator,
	        value->running_ns, separator,
	        value->enabled_ns ? (double)value->running_ns /
	                                    (double)value->enabled_ns * 100
	                          : 0.0);
	put_field_metric(stat, view, index);
	fputc('\n', stat->out);
}

/* The time in which nobody ran, in the columns of an event. */
static void put_field_idle(struct ppi_stat *stat,
			   const struct ppi_stat_view *view, size_t index)
{
	const char *separator = stat->options.separator;
	double ns = ppi_stat_idle_ns(stat, view->values, index);

	if (isnan(ns))
		return;
	if (view->is_interval)
		fprintf(stat->out, "%.9f%s", (double)view->at_ns / 1e9,
		        separator);
	if (stat->events[index].place)
		fprintf(stat->out, "%s%s", stat->events[index].place->name,
		        separator);
	fprintf(stat->out, "%.2f%smsec%s(idle)", ns / 1e6, separator,
	        separator);
	if (stat->options.runs > 1)
		fprintf(stat->out, "%s0.00%%", separator);
	fprintf(stat->out, "%s%" PRIu64 "%s100.00%s%s\n", separator,
	        view->values[index].running_ns, separator, separator,
	        separator);
}

static void interval_of_fields(struct ppi_stat *stat,
                               const struct ppi_stat_view *view)
{
	for (size_t i = 0; i < stat->event_count; i++) {
		fprintf(stat->out, "%.9f%s", (double)view->at_ns / 1e9,
		        stat->options.separator);
		put_field_row(stat, view, i);
		put_field_idle(stat, view, i);
	}
}

/* With intervals they are all there is, so that every line has the same
 * columns. */
static void final_of_fields(struct ppi_stat *stat,
                            const struct ppi_stat_view *view)
{
	if (stat->options.interval_ms)
		return;
	for (size_t i = 0; i < stat->event_count; i++) {
		put_field_row(stat, view, i);
		put_field_idle(stat, view, i);
	}
}

const struct ppi_stat_printer ppi_stat_separated = {
	.interval = interval_of_fields,
	.final = final_of_fields,
};

/* ---- a table: rows ---- */

enum { VALUE_WIDTH = 18, NAME_WIDTH = 17, NUMBER_BYTES = 48, TAIL_BYTES = 160,
       TIME_WIDTH = 14 };

/* 1234567.25 becomes 1,234,567.25. */
static const char *group_digits(const char *digits, char out[NUMBER_BYTES])
{
	size_t whole = strcspn(digits, "."), used = 0;

	for (size_t i = 0; digits[i]; i++) {
		if (i > 0 && i < whole && (whole - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = digits[i];
	}
	out[used] = '\0';
	return out;
}

/* Milliseconds, or a number: whole unless it is a small mean. */
static const char *say_value(const struct ppi_stat *stat,
                             const struct ppi_stat_event *event,
                             const struct ppi_stat_value *value,
                             char out[NUMBER_BYTES])
{
	char digits[32];

	if (event->info.unit == PORTPROF_UNIT_NANOSECONDS)
		snprintf(digits, sizeof(digits), "%.2f", value->value / 1e6);
	else if (stat->done > 1 && value->value < 100)
		snprintf(digits, sizeof(digits), "%.2f", value->value);
	else
		snprintf(digits, sizeof(digits), "%" PRIu64, value->exact);
	return group_digits(digits, out);
}

static void put_value(struct ppi_stat *stat, size_t index,
                      const struct ppi_stat_value *value)
{
	const struct ppi_stat_event *event = &stat->events[index];
	bool is_number = ppi_stat_is_number(value);
	bool is_time = event->info.unit == PORTPROF_UNIT_NANOSECONDS;
	char number[NUMBER_BYTES], room[PPI_SHOWN_BYTES];

	if (event->place)
		fprintf(stat->out, "%-*s ", ppi_stat_place_width(stat),
		        ppi_shown(event->place->name, room));
	fprintf(stat->out, "%s%*s%s %-2s  %s",
	        ppi_color(stat->out, is_number ? PPI_BOLD : PPI_YELLOW),
	        VALUE_WIDTH,
	        is_number ? say_value(stat, event, value, number)
	                  : ppi_stat_status(event, value),
	        ppi_color(stat->out, PPI_PLAIN),
	        is_number && is_time ? "ms" : "",
	        ppi_shown(event->name, room));
}

/* What follows a name: words, and the columns that they take. */
struct tail {
	char text[TAIL_BYTES];
	size_t used, hidden; /* bytes, and those of colors among them */
};

static void add(struct tail *tail, const char *words, ...)
{
	va_list values;
	int count;

	va_start(values, words);
	count = vsnprintf(tail->text + tail->used,
	                  sizeof(tail->text) - tail->used, words, values);
	va_end(values);
	tail->used += count > 0 ? (size_t)count : 0;
	if (tail->used > sizeof(tail->text) - 1)
		tail->used = sizeof(tail->text) - 1;
}

static void add_color(struct tail *tail, const char *color)
{
	tail->hidden += strlen(color);
	add(tail, "%s", color);
}

static void add_metric(struct tail *tail, const struct ppi_stat_value *value,
                       const struct ppi_stat_metric *metric)
{
	if (!value->is_by_wait4 &&
	    (!metric->unit || value->status == PPI_STAT_IDLE))
		return;
	add(tail, " #");
	if (value->is_by_wait4)
		add(tail, "  by wait4");
	else if (isnan(metric->value))
		add(tail, "  unknown %s", metric->unit);
	else
		add(tail, " %8.3f %s", metric->value, metric->unit);
}

static void add_error(struct tail *tail, const struct ppi_stat_sum *sum)
{
	double error = ppi_stat_error(sum);

	if (!isnan(error) && sum->mean > 0)
		add(tail, "  ( +- %5.2f%% )", error / sum->mean * 100);
}

/* The share of the time that the event was really counted. */
static void add_share(const struct ppi_stat *stat, struct tail *tail,
                      const struct ppi_stat_value *value)
{
	double share = value->enabled_ns ? (double)value->running_ns /
	                                           (double)value->enabled_ns
	                                 : 0;

	if (value->status != PORTPROF_COUNT_SCALED)
		return;
	if (share < 0.5)
		add_color(tail, ppi_color(stat->out, PPI_YELLOW));
	add(tail, "  (%.2f%%)", share * 100);
	if (share < 0.5)
		add_color(tail, ppi_color(stat->out, PPI_PLAIN));
}

/* On the same line, or where that is too narrow on the next one. */
static void put_tail(const struct ppi_stat *stat, size_t index,
                     const struct tail *tail, bool is_interval)
{
	char shown[PPI_SHOWN_BYTES];
	int name = (int)ppi_text_width(ppi_shown(stat->events[index].name,
	                                         shown));
	int place = ppi_stat_place_width(stat);
	int before = (is_interval ? TIME_WIDTH : 0) + VALUE_WIDTH + 5 +
	             (place ? place + 1 : 0);
	int column = is_interval ? NAME_WIDTH - 1 : NAME_WIDTH;
	int gap = name < column ? column - name : 0;

	if (!tail->used)
		return;
	if (before + name + gap + (int)(tail->used - tail->hidden) >
	    ppi_line_width(stat->out))
		fprintf(stat->out, "\n%*s", before, "");
	else
		fprintf(stat->out, "%*s", gap, "");
	fputs(tail->text, stat->out);
}

/* The time in which nobody ran; not an event, and so no metric. */
static void put_idle(struct ppi_stat *stat, const struct ppi_stat_view *view,
                     size_t index)
{
	double ns = ppi_stat_idle_ns(stat, view->values, index);
	char digits[32], number[NUMBER_BYTES];

	if (isnan(ns))
		return;
	snprintf(digits, sizeof(digits), "%.2f", ns / 1e6);
	if (view->is_interval)
		fprintf(stat->out, "%*.6f ", TIME_WIDTH - 1,
		        (double)view->at_ns / 1e9);
	if (stat->events[index].place)
		fprintf(stat->out, "%-*s ", ppi_stat_place_width(stat),
		        stat->events[index].place->name);
	fprintf(stat->out, "%*s ms  (idle)\n", VALUE_WIDTH,
	        group_digits(digits, number));
}

static void put_row(struct ppi_stat *stat, const struct ppi_stat_view *view,
                    size_t index)
{
	const struct ppi_stat_value *value = &view->values[index];
	struct ppi_stat_metric metric = ppi_stat_metric(
		stat, view->values, index, view->wall_ns);
	struct tail tail = { .used = 0 };

	put_value(stat, index, value);
	add_metric(&tail, value, &metric);
	if (!view->is_interval)
		add_error(&tail, &stat->events[index].sum);
	add_share(stat, &tail, value);
	put_tail(stat, index, &tail, view->is_interval);
	fputc('\n', stat->out);
	put_idle(stat, view, index);
}

static void print_interval(struct ppi_stat *stat,
                           const struct ppi_stat_view *view)
{
	if (view->at_ns == view->wall_ns)
		fprintf(stat->out, "#      time s %*s unit event\n",
		        VALUE_WIDTH, "count");
	for (size_t i = 0; i < stat->event_count; i++) {
		fprintf(stat->out, "%*.6f ", TIME_WIDTH - 1,
		        (double)view->at_ns / 1e9);
		put_row(stat, view, i);
	}
}

/* ---- a table, of all runs ---- */

static void put_target(struct ppi_stat *stat)
{
	const struct ppi_stat_options *options = &stat->options;
	const struct ppi_targets *targets = &options->targets;
	char room[PPI_SHOWN_BYTES];

	fprintf(stat->out, "\n Counted ");
	if (targets->cgroup_name)
		fprintf(stat->out, "in cgroup %s, ",
		        ppi_shown(targets->cgroup_name, room));
	if (targets->scope == PPI_SCOPE_SYSTEM)
		fprintf(stat->out, "on %s%s",
		        targets->cpus ? "CPUs " : "all CPUs",
		        targets->cpus ? targets->cpus : "");
	else if (targets->scope == PPI_SCOPE_PROCESS)
		fprintf(stat->out, "in %s",
		        ppi_shown(targets->words, room));
	else if (targets->thread)
		fprintf(stat->out, "in thread %lld",
			(long long)targets->thread);
	else
		for (size_t i = 0; options->command[i]; i++) {
			fputs(i ? " " : "in '", stat->out);
			ppi_put_text(options->command[i], stat->out);
		}
	if (!ppi_stat_is_attached(options))
		fputc('\'', stat->out);
	if (stat->backend[0])
		fprintf(stat->out, ", by %s", stat->backend);
	if (stat->done > 1)
		fprintf(stat->out, ", means of %u runs (+- standard error)",
		        stat->done);
	fputs(":\n\n", stat->out);
}

static void put_time(struct ppi_stat *stat, const struct ppi_stat_sum *sum,
                     const char *words)
{
	struct tail tail = { .used = 0 };

	if (sum->runs == 0)
		return;
	add_error(&tail, sum);
	fprintf(stat->out, "%*.9f seconds %s%s\n", VALUE_WIDTH,
	        sum->mean / 1e9, words, tail.text);
}

static const char *explain_part(const portprof_count *count)
{
	switch (count->status) {
	case PORTPROF_COUNT_OK:
	case PORTPROF_COUNT_SCALED:
		return "";
	case PORTPROF_COUNT_REFUSED:
		return " (has no such event)";
	default:
		return " (never ran there)";
	}
}

/* Counts by types of CPUs, the values right-aligned at `indent`. */
static void put_parts(struct ppi_stat *stat, size_t index, int indent)
{
	const struct ppi_stat_event *event = &stat->events[index];

	for (size_t i = 0; i < event->part_count; i++) {
		const struct ppi_stat_part *part = &event->parts[i];

		fprintf(stat->out, "%*" PRIu64 "       on CPUs %s, by %s%s\n",
		        indent, part->count.raw, part->cpus, part->pmu,
		        explain_part(&part->count));
	}
}

/* More of an event: how it was asked of the kernel, and the runs. */
static void put_details(struct ppi_stat *stat, size_t index,
                        const struct ppi_stat_value *value)
{
	const struct ppi_stat_event *event = &stat->events[index];
	const struct ppi_stat_sum *sum = &event->sum;

	if (event->refusal.status != PORTPROF_OK)
		return;
	fprintf(stat->out, "%*s ", VALUE_WIDTH + 5, "");
	ppi_put_text(event->description, stat->out);
	fputc('\n', stat->out);
	fprintf(stat->out, "%*s raw %" PRIu64 ", ran %" PRIu64 " of %" PRIu64
	        " ns", VALUE_WIDTH + 5, "", value->raw, value->running_ns,
	        value->enabled_ns);
	if (stat->done > 1)
		fprintf(stat->out, ", least %.0f, most %.0f, deviation %.1f",
		        sum->least, sum->most, ppi_stat_deviation(sum));
	fputc('\n', stat->out);
}

static bool was_said(const struct ppi_stat *stat, size_t index)
{
	const char *words = stat->events[index].refusal.words;

	for (size_t i = 0; i < index; i++)
		if (strcmp(stat->events[i].refusal.words, words) == 0)
			return true;
	return false;
}

/* Why there is no number, to standard error wherever the table goes. */
static void say_why(const struct ppi_stat *stat,
                    const struct ppi_stat_view *view)
{
	for (size_t i = 0; i < stat->event_count; i++) {
		const struct ppi_stat_event *event = &stat->events[i];

		if (event->refusal.status != PORTPROF_OK) {
			if (!was_said(stat, i))
				ppi_say("%s", event->refusal.words);
		} else if (view->values[i].status == PORTPROF_COUNT_NEVER_RAN &&
		           stat->has_begun) {
			ppi_say("%s never got a counter: count fewer events "
			        "at once", event->name);
		} else if (view->values[i].status == PORTPROF_COUNT_ERROR) {
			ppi_say("%s was pinned and lost its counter: count "
			        "fewer events at once", event->name);
		}
	}
}

/* Bars from the fastest run to the slowest, as perf stat --table has them. */
static void put_runs(struct ppi_stat *stat)
{
	enum { BAR = 20 };

	if (!stat->walls)
		return;
	fprintf(stat->out, "\n%*s # seconds of each run, and how far it is from "
	        "the mean\n", VALUE_WIDTH, "");
	for (unsigned i = 0; i < stat->done; i++) {
		double seconds = (double)stat->walls[i] / 1e9;
		double mean = stat->wall.mean / 1e9;
		double part = mean > 0 ? (seconds - mean) / mean : 0;
		int bar = (int)(part * 100 + (part < 0 ? -0.5 : 0.5));
		int length = bar < 0 ? -bar : bar;

		fprintf(stat->out, "%*.9f (%+9.6f) %.*s\n", VALUE_WIDTH,
		        seconds, seconds - mean, length < BAR ? length : BAR,
		        bar < 0 ? "--------------------"
		                : "####################");
	}
}

/* Silence would look like a table that is complete. */
static void put_no_hardware(struct ppi_stat *stat)
{
	const struct ppi_stat_options *options = &stat->options;

	if (options->events.count || options->config_path || options->is_null ||
	    options->is_quiet || ppi_has_hardware_counters())
		return;
	fprintf(stat->out, "\n%*s no hardware counters here: cycles, "
	        "instructions and caches cannot be\n%*s counted; portprof "
	        "doctor says why\n", VALUE_WIDTH - 15, "", VALUE_WIDTH - 15,
	        "");
}

static void print_final(struct ppi_stat *stat,
                        const struct ppi_stat_view *view)
{
	put_target(stat);
	for (size_t i = 0; i < stat->event_count; i++) {
		put_row(stat, view, i);
		put_parts(stat, i, VALUE_WIDTH);
		if (stat->options.is_verbose)
			put_details(stat, i, &view->values[i]);
	}
	put_no_hardware(stat);
	fputc('\n', stat->out);
	put_time(stat, &stat->wall, "time elapsed");
	if (stat->user.runs) {
		fputc('\n', stat->out);
		put_time(stat, &stat->user, "user");
		put_time(stat, &stat->system, "sys");
	}
	put_runs(stat);
	if (stat->change_count)
		fputc('\n', stat->out);
	ppi_stat_put_changes(stat);
	fputc('\n', stat->out);
	fflush(stat->out);
	if (!stat->options.is_quiet)
		say_why(stat, view);
}

const struct ppi_stat_printer ppi_stat_text = {
	.interval = print_interval,
	.final = print_final,
};
