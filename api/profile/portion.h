/* SPDX-License-Identifier: MIT */
/* What a file sink holds, and how it is put into one gzip member. */
#ifndef PPI_FILE_PORTION_H
#define PPI_FILE_PORTION_H

#include "api/profile/pprof/encode.h"
#include "api/profile/output.h"
#include "api/profile/sample_table.h"
#include "api/profile/threads.h"
#include "api/core/sink.h"
#include "base/host.h"

struct ppi_writer {
	struct ppi_locations locations;
	struct ppi_spaces spaces;
	struct ppi_threads threads;
	struct ppi_sample_table table;
	struct ppi_sample_labels labels;
	struct ppi_encoder encoder;
	struct ppi_output output;
	struct ppi_host machine; /* that it runs on */
	int64_t owner_pid;      /* the process that opened it */
	uint32_t default_pid;   /* of records that do not say one */
	bool meets_threads;     /* no record names them: the system is asked */
	bool is_time_told;      /* when it began stands in the file */
	bool has_news;          /* something came since the last portion */
	bool is_broken;         /* out of memory while making a portion */
	bool is_pending;        /* a portion was made, and is in no file yet */
	uint64_t pending_samples, pending_weight;
	uint64_t told_numbers;  /* sum of the account last put in a portion */
};

/*
 * Make a portion: the first one of a file, with all that stands in a file
 * once; or one with what came since the last. `run` may be NULL: no account.
 * 0 or an errno; then the portion's samples are gone.
 */
int ppi_portion_first(struct ppi_writer *writer, const struct ppi_run *run);
int ppi_portion_next(struct ppi_writer *writer, const struct ppi_run *run,
                     bool is_complete);

/* A number that changes whenever the account of `run` does. */
uint64_t ppi_portion_numbers(const struct ppi_run *run);

#endif
