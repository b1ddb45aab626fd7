/* SPDX-License-Identifier: MIT */
/* gmon.out, the file of gprof(1): read as a profile, made from one. */
#ifndef PORTPROF_GMON_H
#define PORTPROF_GMON_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/export.h>
#include <portprof/profile.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From any thread. All since 0.1. */

/* 1 when a file is a gmon.out of glibc's or of 4.4BSD's, else 0. */
PORTPROF_API int portprof_gmon_is(const char *path);

/*
 * Read a gmon.out, of any byte order and word size. Which program wrote it
 * stands nowhere in it: `program` is that executable, or NULL, and code then
 * has no mapping. The first event is "cpu", or, where the file does not count
 * seconds, what it counts; there is a second one, "calls", where calls were
 * counted: caller and function called, no further.
 *   E_NOTFOUND, E_DENIED  of either file
 *   E_FORMAT              of either, or they are of two machines
 *   E_LIMIT               it takes more memory than `memory_max`, see
 *                         portprof_profile_read
 *   E_NOMEM, E_SYSTEM     reading failed
 */
PORTPROF_API portprof_status portprof_gmon_read(const char *path,
						const char *program,
						uint64_t memory_max,
						portprof_profile **profile);

/* What is to be written; everything 0 but size is a good choice. */
typedef struct portprof_gmon_wanted {
	size_t size;
	size_t event;
	const char *module; /* path of a mapping, or its last part; NULL: the
	                     * program */
	const char *file;   /* where that file lies now; NULL: there */
	uint32_t rate_hz;   /* ticks in a second; 0: as it was sampled */
	int with_chains;    /* pairs of caller and function, as often as they
	                     * were sampled: no counts of calls */
} portprof_gmon_wanted;

/* What was written. Times and weights in the event's unit. */
typedef struct portprof_gmon_written {
	size_t size;
	uint64_t ticks;
	uint64_t kept_weight;    /* became ticks */
	uint64_t outside_weight; /* lies in other files, or nowhere */
	uint64_t bin_bytes;      /* of code in a bin */
	uint64_t arcs;
	uint32_t rate;      /* ticks in one unit of the dimension */
	char dimension[16]; /* "seconds" */
} portprof_gmon_written;

/*
 * Write the samples that lie in one executable or library, in glibc's format.
 * The file itself is needed: it tells where its code lies. `written` may be
 * NULL. On any failure what was at `path` is untouched.
 *   E_INVALID             no such event or module, a rate for what is no time,
 *                         a folder, pipe or device
 *   E_NOTFOUND, E_DENIED  of the module's file or of `path`
 *   E_FORMAT              the module's file is another one now, or no ELF file
 *   E_LIMIT               disk full, or too many ticks for bins of 16 bits
 *   E_NOMEM, E_SYSTEM
 */
PORTPROF_API portprof_status portprof_gmon_write(
	const portprof_profile *profile, const portprof_gmon_wanted *wanted,
	const char *path, portprof_gmon_written *written);

#ifdef __cplusplus
}
#endif
#endif
