/* SPDX-License-Identifier: MIT */
/* What came of windows that are sent, for Prometheus' textfile collector. */
#include "config.h"

#include "tools/record/record.h"

#include "tools/tools.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void put_metric(FILE *out, const char *name, const char *type,
                       const char *help, double value)
{
	fprintf(out, "# HELP portprof_%s %s\n# TYPE portprof_%s %s\n"
	        "portprof_%s %.15g\n", name, help, name, type, name, value);
}

static double own_cpu_seconds(void)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec +
	                children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
	       (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec +
	                children.ru_utime.tv_usec +
	                children.ru_stime.tv_usec) / 1e6;
}

static void put_all(const struct ppi_push_counts *push,
                    const struct ppi_outbox_counts *counts, FILE *out)
{
	const struct {
		const char *name, *type, *help;
		double value;
	} *row, rows[] = {
		{ "windows_total", "counter", "Windows that ended.",
		  (double)push->windows },
		{ "samples_total", "counter", "Samples that were kept.",
		  (double)push->samples },
		{ "samples_lost_total", "counter",
		  "Samples that were lost while measuring.",
		  (double)push->lost },
		{ "windows_failed_total", "counter",
		  "Windows that could not be written.", (double)push->failed },
		{ "own_cpu_seconds_total", "counter",
		  "CPU time that portprof used.", own_cpu_seconds() },
		{ "batches_sent_total", "counter",
		  "Batches that an engine took.", (double)counts->sent },
		{ "samples_sent_total", "counter",
		  "Samples that an engine took.", (double)counts->sent_samples },
		{ "batches_retried_total", "counter",
		  "Tries that had to be repeated.", (double)counts->retried },
		{ "batches_refused_total", "counter",
		  "Batches that an engine refused.", (double)counts->refused },
		{ "batches_dropped_total", "counter",
		  "Batches that the spool had no room for.",
		  (double)counts->dropped },
		{ "samples_dropped_total", "counter",
		  "Samples of dropped batches.",
		  (double)counts->dropped_samples },
		{ "spool_batches", "gauge", "Batches that wait.",
		  (double)counts->waiting },
		{ "spool_bytes", "gauge", "Bytes that wait.",
		  (double)counts->waiting_bytes },
		{ "spool_oldest_seconds", "gauge",
		  "How long ago the oldest batch that waits began.",
		  (double)counts->oldest_ms / 1e3 },
	};

	for (row = rows; row < rows + sizeof(rows) / sizeof(rows[0]); row++)
		put_metric(out, row->name, row->type, row->help, row->value);
}

/* Whole or not at all: it is read at any time. */
void ppi_health_write(const char *path, const struct ppi_push_counts *push,
                      struct ppi_outbox *outbox)
{
	struct ppi_outbox_counts counts;
	char draft[4096];
	FILE *out;
	bool is_good;

	if (!path)
		return;
	ppi_outbox_count(outbox, &counts);
	snprintf(draft, sizeof(draft), "%s.new", path);
	out = fopen(draft, "we");
	is_good = out != NULL;
	if (out) {
		put_all(push, &counts, out);
		is_good = fclose(out) == 0 && chmod(draft, 0644) == 0 &&
		          rename(draft, path) == 0;
	}
	if (!is_good)
		ppi_say("--health: cannot write '%s': %s", path,
		        strerror(errno));
}
