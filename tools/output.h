/* SPDX-License-Identifier: MIT */
/* The one way in which verbs write a file: whole or not at all, over what a link
 * leads to, and as it comes to pipes and devices. */
#ifndef PPI_OUTPUT_H
#define PPI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include <portprof/tool.h>

/* The same for people. */
const char *ppi_output_shown(const char *path);

/* ---- text ---- */

struct ppi_out {
	FILE *stream;
	portprof_output *output; /* NULL: standard output, or none */
	const char *path;        /* as the user typed it */
	off_t size;              /* what is in its place, whole */
	int error;               /* the first of writing; 0 */
};

/* NULL and "-" are standard output. False with words. */
bool ppi_out_open(struct ppi_out *out, const char *path);

/* Put what was written so far in its place. What fails is said when it is
 * closed. */
void ppi_out_step(struct ppi_out *out);

/* Put it in its place unless `is_good` is false, and close. False with words, and
 * what was there, or the last step, stays. */
bool ppi_out_close(struct ppi_out *out, bool is_good);

/* Let `put` write to it, which returns false when out of memory. False with
 * words, and what was there stays. */
bool ppi_out_write(const char *path, bool (*put)(void *context, FILE *out),
                   void *context);

/* ---- what is written by its path, as the library does ---- */

struct ppi_spool {
	char *path; /* to write to */
	portprof_output *stream; /* where that is to go; NULL: it is there */
	char *folder; /* of `path`, ours alone; NULL: none */
	bool is_standard_output;
};

/* False with words. Binary data is not written to a terminal. `is_late`: what is
 * wrong with the place of a file is said by who writes there. */
bool ppi_spool_begin(struct ppi_spool *spool, const char *path, bool is_late);

/* Pass on what was written, if it was; false with words when that fails. Frees. */
bool ppi_spool_end(struct ppi_spool *spool, bool is_good);

/* Write a profile there. False with words. */
bool ppi_profile_put(const portprof_profile *profile, const char *path);

/* A folder of ours alone, with a file in it that is not there yet; NULL with
 * words. Both are to be freed by the second. */
char *ppi_folder_make(char **path);
void ppi_folder_remove(char *folder, char *path);

/* What was there becomes PATH.old; there may be nothing, and writing says what is
 * wrong there. */
void ppi_keep_old(const char *path);

#endif
