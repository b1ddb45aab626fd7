/* SPDX-License-Identifier: MIT */
/* Counts as fields, in the order and with the words of perf stat -x. */
#include "config.h"

#include "tools/stat/stat.h"

#include "tools/tools.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_value(struct ppi_stat *stat, size_t index,
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

static void put_text(struct ppi_stat *stat, const char *text)
{
	fputs(stat->options.separator, stat->out);
	ppi_put_field(text, stat->options.separator, stat->out);
}

static void put_metric(struct ppi_stat *stat,
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

static void put_row(struct ppi_stat *stat, const struct ppi_stat_view *view,
                    size_t index)
{
	const struct ppi_stat_value *value = &view->values[index];
	const struct ppi_stat_event *event = &stat->events[index];
	const char *separator = stat->options.separator;
	double error = ppi_stat_error(&event->sum);

	put_value(stat, index, value);
	put_text(stat, event->info.unit == PORTPROF_UNIT_NANOSECONDS ? "msec"
	                                                             : "");
	put_text(stat, event->name);
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
	put_metric(stat, view, index);
	fputc('\n', stat->out);
}

/* The time in which nobody ran, in the columns of an event. */
static void put_idle(struct ppi_stat *stat, const struct ppi_stat_view *view,
                     size_t index)
{
	const char *separator = stat->options.separator;
	double ns = ppi_stat_idle_ns(stat, view->values, index);

	if (isnan(ns))
		return;
	if (view->is_interval)
		fprintf(stat->out, "%.9f%s", (double)view->at_ns / 1e9,
		        separator);
	fprintf(stat->out, "%.2f%smsec%s(idle)", ns / 1e6, separator,
	        separator);
	if (stat->options.runs > 1)
		fprintf(stat->out, "%s0.00%%", separator);
	fprintf(stat->out, "%s%" PRIu64 "%s100.00%s%s\n", separator,
	        view->values[index].running_ns, separator, separator,
	        separator);
}

static void print_interval(struct ppi_stat *stat,
                           const struct ppi_stat_view *view)
{
	for (size_t i = 0; i < stat->event_count; i++) {
		fprintf(stat->out, "%.9f%s", (double)view->at_ns / 1e9,
		        stat->options.separator);
		put_row(stat, view, i);
		put_idle(stat, view, i);
	}
}

/* With intervals they are all there is, so that every line has the same
 * columns. */
static void print_final(struct ppi_stat *stat,
                        const struct ppi_stat_view *view)
{
	if (stat->options.interval_ms)
		return;
	for (size_t i = 0; i < stat->event_count; i++) {
		put_row(stat, view, i);
		put_idle(stat, view, i);
	}
}

const struct ppi_stat_printer ppi_stat_separated = {
	.interval = print_interval,
	.final = print_final,
};
