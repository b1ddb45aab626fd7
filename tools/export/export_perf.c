/* SPDX-License-Identifier: MIT */
/*
 * Call chains as perf script prints them, sample by sample: what scripts for
 * flame graphs, the Firefox Profiler and many others read. The form is that of
 * tools/perf/builtin-script.c and tools/perf/util/evsel_fprintf.c of Linux 6.1,
 * with the fields comm, pid, tid, time, period, event, ip, sym and dso.
 */
#include "config.h"

#include "tools/export/export.h"

#include "port/clean_text.h"

#include <inttypes.h>
#include <stdio.h>

struct writing {
	const struct ppi_export *export;
	const struct ppi_symbols_name *names;
	const char *event;
	const portprof_profile_thread *thread; /* of the sample before */
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

static bool is_of(const portprof_profile_sample *sample,
                  const portprof_profile_thread *thread)
{
	return thread && thread->pid == sample->pid &&
	       thread->tid == sample->tid;
}

/* Samples of a thread mostly follow one another. */
static const char *thread_name(struct writing *writing,
                               const portprof_profile_sample *sample)
{
	const portprof_profile *profile = writing->export->profile;

	if (!is_of(sample, writing->thread))
		for (size_t i = 0; (writing->thread = portprof_profile_thread_get(
					    profile, i)) != NULL; i++)
			if (is_of(sample, writing->thread))
				break;
	return writing->thread && writing->thread->name[0]
	               ? writing->thread->name : NULL;
}

/* Where a profile has no times the order of samples is all there is. */
static void put_head(struct writing *writing, size_t index,
                     const portprof_profile_sample *sample, FILE *out)
{
	const portprof_profile *profile = writing->export->profile;
	uint64_t ns = portprof_profile_sample_time(profile, index);
	const char *name = thread_name(writing, sample);

	if (name)
		put_text(name, out);
	else
		fprintf(out, ":%" PRIu32, sample->tid);
	fprintf(out, " %" PRIu32 "/%" PRIu32 " %" PRIu64 ".%06" PRIu64
	        ": %10" PRIu64 " ",
	        sample->pid, sample->tid, ns / 1000000000u,
	        ns / 1000u % 1000000u,
	        sample->weights[writing->export->event_number]);
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
		put_text(name->function, out);
		fputs(" (inlined)\n", out);
	}
	fprintf(out, "\t%16" PRIx64 " ", address);
	/* readers take "+0x10" at the end for an offset */
	put_text(name->is_named ? name->function : "[unknown]", out);
	fputs(" (", out);
	put_text(name->is_kernel ? "[kernel.kallsyms]"
	         : name->path[0] ? name->path
	                         : "[unknown]", out);
	fputs(")\n", out);
}

static bool put_samples(void *context, FILE *out)
{
	struct writing *writing = context;
	const portprof_profile *profile = writing->export->profile;
	const portprof_profile_sample *sample;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++) {
		if (!sample->weights[writing->export->event_number])
			continue;
		put_head(writing, i, sample, out);
		if (sample->depth == 0)
			fprintf(out, "\t%16x [unknown] ([unknown])\n", 0u);
		for (size_t k = 0; k < sample->depth; k++)
			put_frame(writing, sample->locations[k], out);
		fputc('\n', out);
	}
	return true;
}

bool ppi_export_perf_script(const struct ppi_export *export)
{
	struct writing writing = {
		.export = export,
		.event = portprof_profile_event_get(export->profile,
		                                    export->event_number)
				 ->name,
	};
	struct ppi_export_names names;
	bool is_good;

	if (!ppi_export_name(export, false, &names))
		return false;
	writing.names = names.names;
	is_good = ppi_export_write(export, put_samples, &writing);
	ppi_export_names_free(&names);
	return is_good;
}
