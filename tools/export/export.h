/* SPDX-License-Identifier: MIT */
/* A profile in a form that other tools read: the table of formats. */
#ifndef PPI_EXPORT_H
#define PPI_EXPORT_H

#include <portprof.h>

#include <stdbool.h>

#include "tools/options.h"
#include "tools/view/filter.h"
#include "tools/view/names.h"
#include "tools/view/rows.h"
#include "tools/view/wall.h"

struct ppi_export_format;

struct ppi_export {
	const struct ppi_export_format *format;
	struct ppi_filter filter;
	const char *input, *output; /* output NULL: the format's own */
	const char *event;          /* NULL: the first */
	const char *module, *program;
	uint64_t memory_max; /* 0: the usual */
	uint64_t rate_hz;    /* 0: as it was sampled */
	struct ppi_hidden hidden;
	bool with_chains, has_inlines, is_quiet;
	struct ppi_wall_wish wish;
	portprof_profile *profile;
	size_t event_number; /* or the first of several */
	struct ppi_subject subject;
	struct ppi_view view; /* of that, without names */
	/* otlp: of the resource, names and values by turns, NULL behind them; NULL:
	 * the host alone, if the profile names one. */
	const char *const *attributes;
};

/* What is written: an event, or several as one. */
static inline const portprof_profile_event *
ppi_export_event(const struct ppi_export *export)
{
	return export->subject.is_joined
	               ? &export->subject.joined
	               : portprof_profile_event_get(export->profile,
	                                            export->event_number);
}

/* Of a sample; 0 where it is left out. */
static inline uint64_t ppi_export_weight(const struct ppi_export *export,
                                         size_t i,
                                         const portprof_profile_sample *sample)
{
	return ppi_view_has(&export->view, i)
	               ? ppi_view_weight(&export->view, i, sample)
	               : 0;
}

static inline uint64_t ppi_export_samples(const struct ppi_export *export,
                                          size_t i,
                                          const portprof_profile_sample *sample)
{
	return ppi_view_has(&export->view, i)
	               ? ppi_view_samples(&export->view, i, sample)
	               : 0;
}

/* What a format holds of a profile, and others do not. */
enum {
	PPI_EXPORT_CODE = 1u << 0,   /* names of functions or files */
	PPI_EXPORT_EVENTS = 1u << 1, /* all events: --event is refused */
	PPI_EXPORT_LABELS = 1u << 2, /* labels of samples */
	PPI_EXPORT_NAMED = 1u << 3,  /* the profile with the names of its code
	                              * written into it */
	PPI_EXPORT_TICKS = 1u << 4,  /* ticks of one binary: --module, --rate,
	                              * --arcs and --program are for it */
	PPI_EXPORT_STATES = 1u << 5, /* chains of any weight: --state, --wait */
	PPI_EXPORT_WALL = 1u << 6,   /* all states, unless others are asked for */
	PPI_EXPORT_INLINE = 1u << 7  /* inlined functions, where --inline asks */
};

/*
 * Every format: its name, what it holds, where it is written without -o (NULL:
 * it must be said), what writes it, and what help says of it. Help, the words
 * about a wrong name, completions and what follows go by this table: a new
 * format is a row here and a file with its writer.
 */
#define PPI_EXPORT_FORMATS(X) \
	X("gmon", PPI_EXPORT_TICKS, "gmon.out", ppi_export_gmon, \
	  "for gprof, one executable or library") \
	X("folded", PPI_EXPORT_CODE | PPI_EXPORT_STATES | PPI_EXPORT_INLINE, \
	  "-", ppi_export_folded, \
	  "one line for each call chain, for flame graphs") \
	X("pprof", PPI_EXPORT_CODE | PPI_EXPORT_EVENTS | PPI_EXPORT_LABELS | \
	  PPI_EXPORT_NAMED, NULL, ppi_export_pprof, \
	  "for every reader of pprof files") \
	X("speedscope", PPI_EXPORT_CODE | PPI_EXPORT_STATES | PPI_EXPORT_WALL, \
	  "-", \
	  ppi_export_speedscope, \
	  "JSON for www.speedscope.app") \
	X("callgrind", PPI_EXPORT_CODE | PPI_EXPORT_STATES, "-", \
	  ppi_export_callgrind, \
	  "for callgrind_annotate and KCachegrind") \
	X("perf-script", PPI_EXPORT_CODE | PPI_EXPORT_STATES | \
	  PPI_EXPORT_INLINE, "-", ppi_export_perf_script, \
	  "as perf script prints it") \
	X("gperftools", PPI_EXPORT_CODE, "-", ppi_export_gperftools, \
	  "for google-pprof") \
	X("otlp", PPI_EXPORT_CODE | PPI_EXPORT_LABELS, "-", ppi_export_otlp, \
	  "OpenTelemetry profiles (experimental)")

/* Each writer returns whether it has written; it has said why not. */
#define PPI_EXPORT_WRITER(name, holds, output, writer, help) \
	bool writer(const struct ppi_export *export);
PPI_EXPORT_FORMATS(PPI_EXPORT_WRITER)
#undef PPI_EXPORT_WRITER

/* The names of the profile's code. False when out of memory, said; else
 * ppi_named_free is due. */
bool ppi_export_name(const struct ppi_export *export, bool has_lines,
                     bool has_inlines, struct ppi_named *named);

#endif
