/* SPDX-License-Identifier: MIT */
/* gmon.out, the file of gprof(1): reading and writing it. */
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

/* Any thread. All since 0.1. */

/* 1 if a file is a gmon.out of glibc or 4.4BSD, otherwise 0. */
PORTPROF_API int portprof_gmon_is(const char *path);

/*
 * Read a gmon.out with any byte order and word size. The file does not name the
 * program that wrote it: `program` is that executable; with NULL, code has no
 * mapping. The first event is "cpu", or, if the file does not count seconds, its
 * unit. If calls were counted, a second one is "calls", with caller and called
 * function.
 *   E_NOTFOUND, E_DENIED  of either file
 *   E_FORMAT              of either, or they are for different machines
 *   E_LIMIT               it takes more memory than `memory_max`, see
 *                         portprof_profile_read
 *   E_NOMEM, E_SYSTEM     reading failed
 */
PORTPROF_API portprof_status portprof_gmon_read(const char *path,
						const char *program,
						uint64_t memory_max,
						portprof_profile **profile);

/* What to write; 0 is a good default for all members except size. */
typedef struct portprof_gmon_wanted {
	size_t size;
	size_t event;
	const char *module; /* path of a mapping, or its base name; NULL: the
	                     * program */
	const char *file;   /* its present path; NULL: unchanged */
	uint32_t rate_hz;   /* ticks per second; 0: the sampling rate */
	int with_chains;    /* write pairs of caller and function with their
	                     * numbers of samples, not of calls */
} portprof_gmon_wanted;

/* What was written. Weights are in the event's unit. */
typedef struct portprof_gmon_written {
	size_t size;
	uint64_t ticks;
	uint64_t kept_weight;    /* became ticks */
	uint64_t outside_weight; /* in other files, or in none */
	uint64_t bin_bytes;      /* of code in a bin */
	uint64_t arcs;
	uint32_t rate;      /* ticks in one unit of the dimension */
	char dimension[16]; /* "seconds" */
} portprof_gmon_written;

/*
 * Write the samples in one executable or library, in glibc's format. The file
 * itself is needed: it has the addresses of its code. `written` may be NULL. On
 * failure an existing file at `path` is unchanged.
 *   E_INVALID             no such event or module, a rate for an event other
 *                         than time, a directory, pipe or device
 *   E_NOTFOUND, E_DENIED  of the module's file or of `path`
 *   E_FORMAT              the module's file was replaced, or is not ELF
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
