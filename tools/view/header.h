/* SPDX-License-Identifier: MIT */
/* The parts of the header of a report, which its files share: lines of any length, which
 * ppi_report_print_header wraps. */
#ifndef PPI_VIEW_HEADER_H
#define PPI_VIEW_HEADER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <portprof.h>

#include "tools/view/account.h"

#define PPI_HEAD_LABEL "  %-13s "

/* Nanoseconds in a unit that fits. */
const char *ppi_head_time(uint64_t ns, char *out, size_t bytes);
/* A line of texts that stand in the file, NULL behind the last. */
void ppi_head_line(FILE *out, const char *label, ...);
/* What follows a prefix; NULL: the note begins otherwise. */
const char *ppi_head_behind(const char *note, const char *prefix);
/* "task-clock" of "task-clock:freq=100", and of itself. */
bool ppi_head_begins(const char *begin, const char *name);
/* "250", but "249.7". */
const char *ppi_head_hz(double hz, char *out, size_t bytes);

/* header_doubts.c: what is to be doubted, and callers that are missing. */
/* What is more than that: where it comes from, and what to do. */
void ppi_head_doubts(const struct ppi_report *report, FILE *out);
void ppi_head_error(const struct ppi_report *report, FILE *out);
void ppi_head_missing(const struct ppi_report *report, FILE *out);
void ppi_head_excess(const struct ppi_report *report, FILE *out);
void ppi_head_chains(const struct ppi_chains *chains, FILE *out);
/* Whether ready or blocked time is in it. */
bool ppi_head_has_waits(const struct ppi_report *report);

/* header.c: the life of the threads, what waits are worth, what filters leave, notes. */
void ppi_head_life(const struct ppi_report *report, FILE *out);
void ppi_head_waits(const struct ppi_report *report, FILE *out);
void ppi_head_shown(const struct ppi_report *report, FILE *out);
void ppi_head_notes(const struct ppi_report *report,
                    const portprof_profile_origin *origin, FILE *out);

/* header_short.c: four lines and the warnings. */
void ppi_head_short(const struct ppi_report *report, FILE *out);

#endif
