/* SPDX-License-Identifier: MIT */
/* The labels that programs gave their threads (<portprof/label.h>), as a file has
 * them: equal ones of several processes are one, and there is a bound. */
#ifndef PPI_FILE_LABEL_TEXTS_H
#define PPI_FILE_LABEL_TEXTS_H

#include <portprof/label.h>
#include <portprof/record.h>

#include "api/profile/locations.h"

/* A label as a file has it: strings by their numbers there. */
struct ppi_label_ids {
	uint32_t key, text, unit;
	int64_t number;
};

/* All zero is empty. */
struct ppi_label_texts {
	uint32_t most;            /* different sets to keep; 0: the default */
	struct ppi_pool processes; /* by pid: number of the ones below */
	struct ppi_vector programs; /* struct label_program, in that order */
	uint32_t program_count;    /* all that ever were */
	struct ppi_pool told;      /* program and number of a set */
	struct ppi_vector words;   /* uint32_t: its text, in that order */
	struct ppi_pool texts, keys;
	uint64_t others, unknown;  /* samples */
};

#define PPI_OTHER_LABELS "(other)"
#define PPI_UNKNOWN_LABELS "(unknown)"

/* A LABELS record; an EXEC, of a program that has none yet; a FORK. */
void ppi_label_texts_tell(struct ppi_label_texts *texts, uint32_t pid,
                          const portprof_batch *batch,
                          const portprof_record *record);
void ppi_label_texts_exec(struct ppi_label_texts *texts, uint32_t pid);
void ppi_label_texts_fork(struct ppi_label_texts *texts, uint32_t pid,
                          uint32_t parent_pid);
void ppi_label_texts_close(struct ppi_label_texts *texts);

/* What a sample has, as a number that is equal for equal labels; 0: none. */
uint32_t ppi_label_texts_of(struct ppi_label_texts *texts, uint32_t pid,
                            const portprof_record *record);

/* Its labels, PORTPROF_LABELS_MAX at most. A key that is taken by another label of
 * files begins with "label_" there. */
size_t ppi_label_texts_make(const struct ppi_label_texts *texts, uint32_t word,
                            bool (*is_taken)(const char *key),
                            struct ppi_locations *locations,
                            struct ppi_label_ids *out);

/* What names the process: the attributes of its service, where it publishes them
 * (base/otel_context.h). It is asked now and then until it does. At most
 * PPI_SERVICE_LABELS. */
enum { PPI_SERVICE_LABELS = 4 };
size_t ppi_label_texts_service(struct ppi_label_texts *texts, uint32_t pid,
                               struct ppi_locations *locations,
                               struct ppi_label_ids *out);

/* What a file says of those that were not kept apart; false: nothing. */
bool ppi_label_texts_note(const struct ppi_label_texts *texts, char *out,
                          size_t bytes);

#endif
