/* SPDX-License-Identifier: MIT */
/* Profiles: reading, merging and writing them. */
#ifndef PORTPROF_PROFILE_H
#define PORTPROF_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/event.h>
#include <portprof/export.h>
#include <portprof/record.h>
#include <portprof/session.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A whole profile in memory. Returned pointers belong to the profile and are
 * valid until it is freed or another one is merged into it. One thread at a
 * time. Getters accept NULL as an empty profile. All since 0.1.
 */
typedef struct portprof_profile portprof_profile;

/*
 * Read a pprof file of any writer. A truncated file is read up to the last
 * complete part; portprof_profile_origin has the damage.
 *
 * Only a regular file is opened, or, named as /dev/fd/N or /dev/stdin, a pipe
 * or socket that the process was started with. It takes at most
 * `memory_max` bytes of memory; 0 is 256 times the size of the file or 64 MiB,
 * whichever is more, and at most 2 GiB (1 GiB on 32-bit systems).
 *   E_NOTFOUND         no such file
 *   E_DENIED           not readable
 *   E_FORMAT           not a profile
 *   E_UNSUPPORTED      the library was built without files
 *   E_LIMIT            it takes more memory
 *   E_NOMEM, E_SYSTEM  reading failed
 */
PORTPROF_API portprof_status portprof_profile_read(const char *path,
						   uint64_t memory_max,
						   portprof_profile **profile);

PORTPROF_API void portprof_profile_free(portprof_profile *profile);

/*
 * Add all of `from` to `into`, another profile with the same events (E_INVALID:
 * `into` is unchanged). A binary that was mapped elsewhere becomes one mapping.
 * E_NOMEM: `into` has only a part of `from`.
 */
PORTPROF_API portprof_status
portprof_profile_merge(portprof_profile *into, const portprof_profile *from);

/*
 * Set the times of the whole run, after merging the parts of its processes.
 * CPU time: as charged by the system (user + system of wait4(2)); what no part
 * accounts for becomes unattributed, in every event that is CPU time, and the
 * profile counts as complete. Duration: merging adds up the times of parts,
 * although they may have run concurrently. 0 leaves either unchanged.
 */
PORTPROF_API portprof_status portprof_profile_set_times(
	portprof_profile *profile, uint64_t cpu_time_ns, uint64_t duration_ns);

/*
 * Write as one aggregated part, to a new file renamed over `path`, or over what a
 * link there leads to: on failure an existing file is unchanged. E_INVALID for a directory, pipe or device;
 * E_DENIED, E_NOTFOUND (no such directory), E_LIMIT (disk full, quota), E_NOMEM,
 * E_UNSUPPORTED, E_SYSTEM.
 */
PORTPROF_API portprof_status
portprof_profile_write(const portprof_profile *profile, const char *path);

/* An event of a profile, with its account where the writer was portprof. */
typedef struct portprof_profile_event {
	const char *name;    /* canonical event string, or pprof's type name */
	const char *asked;   /* as the user wrote it; "" if unknown */
	const char *description;
	portprof_unit unit;
	int has_stats;       /* stats below were recorded */
	portprof_stats stats;
} portprof_profile_event;

/*
 * What became of the time that threads lived while they were measured: it ran, was
 * ready and had no CPU, was blocked, or nobody knows. lifetime_ns is the sum of
 * these four. All 0 where waits were not measured. Since 0.1.
 */
typedef struct portprof_life {
	uint64_t threads;
	uint64_t lifetime_ns;
	uint64_t running_ns, ready_ns, blocked_ns, unknown_ns;
} portprof_life;

/* How it was measured; strings "" and counts 0 when unknown. */
typedef struct portprof_profile_origin {
	const char *backend;
	size_t passed_over_count;
	const char *const *passed_over_names;
	const char *const *passed_over_reasons;
	size_t note_count;
	const char *const *notes;
	const char *command;   /* what was measured, for people */
	uint64_t start_ns;     /* CLOCK_REALTIME */
	uint64_t duration_ns;
	int is_complete;       /* the writer closed it properly */
	uint64_t timeline_ns;  /* resolution of portprof_profile_sample_time; 0:
	                        * times were not kept */
	unsigned chain_depth;  /* maximum addresses of a call chain; 0: not
	                        * recorded, or unknown */
	unsigned stack_bytes;  /* of the stack copied with each sample for frame
	                        * tables; 0: by frame pointers, or unknown */
	const char *damage;    /* what is missing at the end of the file; NULL:
				* nothing */
	size_t fact_count;
	const char *const *facts; /* machine and program that measured, as
	                        * "host: web1", each once; since 0.1 */
	portprof_life life;    /* sums over threads; since 0.1 */
} portprof_profile_origin;

typedef struct portprof_profile_mapping {
	uint64_t start, limit, file_offset;
	const char *path;
	const char *build_id; /* lower-case hexadecimal, "" unknown */
} portprof_profile_mapping;

/*
 * `address` is that of the sample or, for a caller, one in the call instruction,
 * not the return address: look it up unchanged.
 */
typedef struct portprof_profile_location {
	uint64_t address;
	size_t mapping; /* index, or SIZE_MAX */
	const char *function; /* if the file has its name, else "" */
	const char *source_file;
	uint64_t line;
} portprof_profile_location;

/*
 * A function of a location, if the file has its name. The first is the
 * innermost; each further one contains the previous one, inlined at its line.
 */
typedef struct portprof_profile_line {
	const char *function, *source_file;
	uint64_t line;
} portprof_profile_line;

/*
 * Aggregated: one per distinct chain, thread and name of that thread, which may
 * change while it runs. In the files of others `samples` is 0 for an event whose samples were not counted.
 */
typedef struct portprof_profile_sample {
	const uint32_t *locations; /* indexes, leaf first */
	size_t depth;
	uint32_t pid, tid;        /* 0 unknown */
	const uint64_t *samples;  /* per event */
	const uint64_t *weights;  /* per event */
	uint32_t chain_end;       /* of a profile with stack_bytes: enum
	                           * portprof_chain_end, 0 for whole ones */
	const char *thread_name;  /* that the thread had then; "" unknown */
} portprof_profile_sample;

typedef struct portprof_profile_thread {
	uint32_t pid, tid;
	const char *name; /* its last one */
	/* Of a process, which is the thread whose tid is its pid: */
	int64_t owner;     /* its user's id; -1 unknown */
	uint64_t began_ns; /* when it began, CLOCK_REALTIME; 0 unknown */
} portprof_profile_thread;

PORTPROF_API const portprof_profile_origin *
portprof_profile_origin_get(const portprof_profile *profile);

/* Counts, and the index-th of each; NULL past the last. */
PORTPROF_API size_t
portprof_profile_event_count(const portprof_profile *profile);
PORTPROF_API const portprof_profile_event *
portprof_profile_event_get(const portprof_profile *profile, size_t index);
PORTPROF_API size_t
portprof_profile_mapping_count(const portprof_profile *profile);
PORTPROF_API const portprof_profile_mapping *
portprof_profile_mapping_get(const portprof_profile *profile, size_t index);
PORTPROF_API size_t
portprof_profile_location_count(const portprof_profile *profile);
PORTPROF_API const portprof_profile_location *
portprof_profile_location_get(const portprof_profile *profile, size_t index);
PORTPROF_API size_t portprof_profile_line_count(
	const portprof_profile *profile, size_t location);
PORTPROF_API const portprof_profile_line *portprof_profile_line_get(
	const portprof_profile *profile, size_t location, size_t index);
/*
 * Replace the names of a location by `count` functions, the innermost inlined
 * one first. Previously returned pointers to locations and lines become invalid.
 * E_INVALID: no such location, no line, a line without a function; E_NOMEM,
 * E_UNSUPPORTED (the library was built without files).
 */
PORTPROF_API portprof_status portprof_profile_name_location(
	portprof_profile *profile, size_t location,
	const portprof_profile_line *lines, size_t count);
PORTPROF_API size_t
portprof_profile_sample_count(const portprof_profile *profile);
PORTPROF_API const portprof_profile_sample *
portprof_profile_sample_get(const portprof_profile *profile, size_t index);
/* The start of the sample's slice of time, by CLOCK_REALTIME in nanoseconds; 0 if
 * times were not kept (the setting timeline). */
PORTPROF_API uint64_t portprof_profile_sample_time(
	const portprof_profile *profile, size_t index);
PORTPROF_API size_t
portprof_profile_thread_count(const portprof_profile *profile);
PORTPROF_API const portprof_profile_thread *
portprof_profile_thread_get(const portprof_profile *profile, size_t index);

#ifdef __cplusplus
}
#endif
#endif
