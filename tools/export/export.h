/* SPDX-License-Identifier: MIT */
/* A profile in a form that other tools read. */
#ifndef PPI_EXPORT_H
#define PPI_EXPORT_H

#include <portprof.h>

#include <stdbool.h>
#include <stdio.h>

#include "tools/options.h"
#include "tools/view/rows.h"

enum ppi_export_format {
	PPI_EXPORT_NONE,
	PPI_EXPORT_GMON,
	PPI_EXPORT_PPROF,
	PPI_EXPORT_FOLDED,
	PPI_EXPORT_SPEEDSCOPE,
	PPI_EXPORT_CALLGRIND,
	PPI_EXPORT_PERF_SCRIPT,
	PPI_EXPORT_GPERFTOOLS,
	PPI_EXPORT_OTLP
};

struct ppi_export {
	enum ppi_export_format format;
	const char *input, *output; /* output NULL: the format's own */
	const char *event;          /* NULL: the first */
	const char *module, *program;
	uint64_t memory_max; /* 0: the usual */
	uint64_t rate_hz;    /* 0: as it was sampled */
	struct ppi_hidden hidden;
	bool with_chains, has_inlines, is_quiet;
	portprof_profile *profile;
	size_t event_number;
};

/* Each writes its format and returns whether that was done; it has said why
 * not. */
bool ppi_export_gmon(const struct ppi_export *export);
bool ppi_export_folded(const struct ppi_export *export);
bool ppi_export_speedscope(const struct ppi_export *export);
bool ppi_export_callgrind(const struct ppi_export *export);
bool ppi_export_perf_script(const struct ppi_export *export);
bool ppi_export_gperftools(const struct ppi_export *export);
bool ppi_export_otlp(const struct ppi_export *export);

/* ---- export_out.c ---- */

struct ppi_export_names {
	struct ppi_symbols *symbols;
	struct ppi_symbols_name *names; /* of locations */
};

/* False when out of memory, said. */
bool ppi_export_name(const struct ppi_export *export, bool has_lines,
                     struct ppi_export_names *names);
void ppi_export_names_free(struct ppi_export_names *names);

#endif
