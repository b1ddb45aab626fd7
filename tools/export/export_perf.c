/* SPDX-License-Identifier: MIT */
/*
 * Call chains as perf script prints them, sample by sample: what scripts for
 * flame graphs, the Firefox Profiler and many others read. The form is that of
 * tools/perf/builtin-script.c and tools/perf/util/evsel_fprintf.c of Linux 6.1,
 * with the fields comm, pid, tid, time, period, event, ip, sym and dso.
 */
#include "config.h"

#include "tools/export/export.h"

#include "base/text.h"
#include "tools/output.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More samples than that of one row are not written one by one. */
enum { SAMPLES_MAX = 100000 };

struct writing {
	const struct ppi_export *export;
	const struct ppi_symbols_name *names;
	const char *event;
	bool is_time;          /* that is what its weight is */
	bool has_period;       /* the weight is no number of samples */
	size_t thread;         /* of the sample before; the count: no known one */
	uint64_t *thread_time; /* of each, and of those that are not known */
};

static void put_text(const char *text, FILE *out)
{
	char piece[PPI_TEXT_PIECE];
	size_t length;

	while ((length = ppi_text_next(&text, piece)) > 0)
		fwrite(piece, 1, length, out);
}

/* A reader finds the event between two colons, at the end of the line. */
static void put_event(const char *name, FILE *out)
{
	char piece[PPI_TEXT_PIECE];
	size_t length;

	while ((length = ppi_text_next(&name, piece)) > 0)
		fwrite(piece[0] == ' ' ? "_" : piece, 1, length, out);
}

/* Readers pass by a name that begins with a bracket, as that of a process
 * does (stackcollapse-perf.pl of FlameGraph;
 * src/profile-logic/import/linux-perf.ts of Firefox's profiler): "(anonymous
 * namespace)::f" is told as "{anonymous namespace}::f". */
static void put_function(const char *name, FILE *out)
{
	const char *end = name[0] == '(' ? strchr(name, ')') : NULL;
	char *told = end ? strdup(name) : NULL;

	if (told) {
		told[0] = '{';
		told[end - name] = '}';
	}
	put_text(told ? told : name, out);
	free(told);
}

static bool is_of(const portprof_profile_sample *sample,
                  const portprof_profile_thread *thread)
{
	return thread && thread->pid == sample->pid &&
	       thread->tid == sample->tid;
}

/* Samples of a thread mostly follow one another. */
static void find_thread(struct writing *writing,
                        const portprof_profile_sample *sample)
{
	const portprof_profile *profile = writing->export->profile;
	const portprof_profile_thread *thread =
		portprof_profile_thread_get(profile, writing->thread);

	if (is_of(sample, thread))
		return;
	for (writing->thread = 0;
	     (thread = portprof_profile_thread_get(profile, writing->thread));
	     writing->thread++)
		if (is_of(sample, thread))
			return;
}

static void put_head(const struct writing *writing, uint64_t ns,
                     uint64_t weight, const portprof_profile_sample *sample,
                     FILE *out)
{
	if (sample->thread_name[0])
		put_text(sample->thread_name, out);
	else
		fprintf(out, ":%" PRIu32, sample->tid);
	fprintf(out, " %" PRIu32 "/%" PRIu32 " %" PRIu64 ".%06" PRIu64 ": ",
	        sample->pid, sample->tid, ns / 1000000000u,
	        ns / 1000u % 1000000u);
	if (writing->has_period)
		fprintf(out, "%10" PRIu64 " ", weight);
	put_event(writing->event, out);
	fputs(": \n", out);
}

static void put_frame(const struct writing *writing, uint32_t location,
                      FILE *out)
{
	const struct ppi_symbols_name *name = &writing->names[location];
	uint64_t address = portprof_profile_location_get(
		writing->export->profile, location)->address;

	/* what is inlined has the address of what it is in, and no file */
	for (; name->caller; name = name->caller) {
		fprintf(out, "\t%16" PRIx64 " ", address);
		put_function(name->function, out);
		fputs(" (inlined)\n", out);
	}
	fprintf(out, "\t%16" PRIx64 " ", address);
	/* readers take "+0x10" at the end for an offset */
	put_function(name->is_named ? name->function : "[unknown]", out);
	fputs(" (", out);
	put_text(name->is_kernel ? "[kernel.kallsyms]"
	         : name->made_in ? name->made_in
	         : name->path[0] ? name->path
	                         : "[unknown]", out);
	fputs(")\n", out);
}

static void put_chain(const struct writing *writing,
                      const portprof_profile_sample *sample, FILE *out)
{
	if (sample->depth == 0)
		fprintf(out, "\t%16x [unknown] ([unknown])\n", 0u);
	for (size_t k = 0; k < sample->depth; k++)
		put_frame(writing, sample->locations[k], out);
	fputc('\n', out);
}

/*
 * A row of a profile stands for equal samples, and a line of perf for one:
 * readers take the time to the thread's next line for its weight (speedscope,
 * src/import/linux-tools-perf.ts), or each line for one. Where a profile has no
 * times a thread's samples follow one another, each after its weight.
 */
static void put_row(struct writing *writing, size_t index,
                    const portprof_profile_sample *sample, FILE *out)
{
	const struct ppi_export *export = writing->export;
	uint64_t ns = portprof_profile_sample_time(export->profile, index);
	uint64_t count = ppi_export_samples(export, index, sample);
	uint64_t left = ppi_export_weight(export, index, sample);

	find_thread(writing, sample);
	if (count == 0 || count > SAMPLES_MAX || count > left)
		count = 1;
	for (; count; count--) {
		uint64_t weight = left / count;
		uint64_t *time = &writing->thread_time[writing->thread];

		left -= weight;
		put_head(writing, ns ? ns : *time, weight, sample, out);
		*time += writing->is_time ? weight : 1000 * weight;
		put_chain(writing, sample, out);
	}
}

/* Readers take the period of a clock for nanoseconds: without one they count
 * samples, as of a file that was imported from perf script without periods. */
static bool is_clock(const char *event)
{
	size_t length = strcspn(event, ":/");

	return (length == 9 && strncmp(event, "cpu-clock", 9) == 0) ||
	       (length == 10 && strncmp(event, "task-clock", 10) == 0) ||
	       (length == 3 && strncmp(event, "cpu", 3) == 0);
}

static bool put_samples(void *context, FILE *out)
{
	struct writing *writing = context;
	const portprof_profile_sample *sample;

	for (size_t i = 0; (sample = portprof_profile_sample_get(
				    writing->export->profile, i)) != NULL; i++)
		if (ppi_export_weight(writing->export, i, sample))
			put_row(writing, i, sample, out);
	return true;
}

bool ppi_export_perf_script(const struct ppi_export *export)
{
	const portprof_profile_event *event = ppi_export_event(export);
	struct writing writing = {
		.export = export,
		.event = event->name,
		.is_time = event->unit == PORTPROF_UNIT_NANOSECONDS,
		.has_period = event->unit == PORTPROF_UNIT_NANOSECONDS ||
		              !is_clock(event->name),
	};
	struct ppi_named names;
	bool is_good;

	if (!ppi_export_name(export, false, export->has_inlines, &names))
		return false;
	writing.names = names.names;
	writing.thread_time =
		calloc(portprof_profile_thread_count(export->profile) + 1,
	               sizeof(*writing.thread_time));
	if (!writing.thread_time)
		ppi_say("out of memory");
	is_good = writing.thread_time &&
	          ppi_out_write(export->output, put_samples, &writing);
	free(writing.thread_time);
	ppi_named_free(&names);
	return is_good;
}
