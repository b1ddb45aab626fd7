/* SPDX-License-Identifier: MIT */
/* Unstable functions for the portprof command. */
#ifndef PORTPROF_TOOL_H
#define PORTPROF_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <portprof/config.h>
#include <portprof/export.h>
#include <portprof/group.h>
#include <portprof/profile.h>
#include <portprof/region.h>
#include <portprof/session.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Any release may change or remove these functions, without a new version of the
 * library: their symbols have the version LIBPORTPROF_PRIVATE. <portprof.h> does
 * not include this header. The rules for threads are those of other functions of
 * a config or a session; none may be called in signal handlers. All since 0.1.
 */

/* The names of all settings, in the order of portprof.conf(5); NULL past the
 * last. Static. Any thread. */
PORTPROF_API const char *portprof_config_key(size_t index);

/*
 * Where a setting comes from: "FILE:LINE", "default", or "the program" for a
 * function of the library. `index` counts events. NULL: no such setting. The
 * string is valid until the config is changed.
 */
PORTPROF_API const char *portprof_config_origin(const portprof_config *config,
						const char *key, size_t index);

/* The file that was loaded last, or the name of the text; NULL if none was. The
 * string is valid until the config is changed. */
PORTPROF_API const char *portprof_config_file(const portprof_config *config);

/*
 * Store samples in shared memory, from which a session of another process
 * collects them. A config with this sink has no other (E_INVALID). The samples
 * survive any end of this process, which opens no descriptor and writes no file
 * for them. `name` is the result of portprof_config_collect in the other process,
 * which must belong to the same user. Opening a session returns E_NOTFOUND if
 * that process has ended, E_DENIED if it belongs to another user, E_LIMIT if it
 * has no room for one more, and E_UNSUPPORTED if it has another version.
 */
PORTPROF_API portprof_status portprof_config_share_with(portprof_config *config,
							const char *name);

/*
 * Collect instead of measuring: sessions of this config pass samples that other
 * processes share to the sinks. *name is for those processes, and is valid as
 * long as the config. One such session at a time. Its target is the command that
 * starts those processes (PORTPROF_TARGET_COMMAND); its backend and events are
 * those that they use. E_LIMIT, E_UNSUPPORTED: shared memory (shmget(2)) is not
 * available; the words say why.
 */
PORTPROF_API portprof_status portprof_config_collect(portprof_config *config,
						     const char **name);

/*
 * A callback (portprof_config_add_callback) that keeps no samples: a sample that
 * no other sink keeps is counted as lost. It is one of the sixteen sinks. Of a whole
 * system it may not be told of a process that ends soon and without a sample.
 */
PORTPROF_API portprof_status portprof_config_add_observer(
	portprof_config *config, portprof_batch_fn take, void *context);

/*
 * The number of running descendants of the target, as far as the kernel reported
 * them by the last drain. Needs the capability PORTPROF_CAP_CHILDREN, the setting
 * children, and a file or a callback as a sink; otherwise 0.
 */
PORTPROF_API uint64_t portprof_session_children(portprof_session *session);

/*
 * End a window: complete the session's one file, and continue in `path`. Each sample is in
 * one of the files, and the next begins, by its start_ns and duration_ns, where this
 * one ends. Each has the account of its window: sums of all windows, as
 * portprof_profile_merge makes them, are those of one file without windows. The
 * weight of a sample may have been counted in the window before it; so a window
 * may have unattributed weight, and one after it the same as excess.
 *   E_INVALID  NULL, no file, or several
 *   E_STATE    not started yet, or from a callback of the session
 *   E_FORKED; of the new file all that portprof_session_open returns: then the old
 *   one continues; of the old one those of portprof_session_close: then what is
 *   missing at its end is lost, and the session continues in the new one
 */
PORTPROF_API portprof_status portprof_session_turn(portprof_session *session,
						   const char *path);

/* What unwinding by frame tables did and cost so far. */
typedef struct portprof_unwinding {
	uint64_t samples, frames;
	uint64_t lookups;      /* rules that were not in the table of rules */
	uint64_t modules;      /* files whose frame tables were opened */
	uint64_t memory_bytes; /* of the table of rules, which does not grow */
	uint64_t cpu_ns;       /* of the thread that unwinds */
} portprof_unwinding;

/* Why call chains cannot be found by frame tables in this process, or on this
 * kind of CPU; NULL if backends with PORTPROF_CAP_UNWIND can find them. Static.
 * Any thread. */
PORTPROF_API const char *portprof_unwind_missing(void);

/* False, and zeros, if the session does not unwind. */
PORTPROF_API bool portprof_session_unwinding(portprof_session *session,
					     portprof_unwinding *unwinding);

/* What measuring adds to the CPU time of the target, in nanoseconds: with each
 * sample, and with each switch of its threads where that stops and starts events.
 * Measured in this call, which takes up to 3 ms. */
typedef struct portprof_costs {
	uint64_t sample_ns, switch_ns; /* 0: nothing, or unknown */
} portprof_costs;

/* False, and zeros, if the session's backend cannot measure that. */
PORTPROF_API bool portprof_session_costs(portprof_session *session,
					 portprof_costs *costs);

/* A label of a sample, other than process, thread and call chain: a text or a
 * number. Missing strings are ""; strings are valid as long as the profile. */
typedef struct portprof_profile_label {
	const char *name, *text, *unit; /* of the number */
	int64_t number;
} portprof_profile_label;

/* The index-th label of a sample of that profile; false past the last. */
PORTPROF_API bool portprof_profile_label_get(
	const portprof_profile *profile, const portprof_profile_sample *sample,
	size_t index, portprof_profile_label *label);

/*
 * Read a file that a session is writing, part by part. The caller closes *follow
 * with portprof_follow_close; one thread at a time may use it. `memory_max` is as
 * in portprof_profile_read, for each reading. Nothing is opened yet. E_INVALID,
 * E_NOMEM; E_UNSUPPORTED in a build without files.
 */
typedef struct portprof_follow portprof_follow;
PORTPROF_API portprof_status portprof_follow_open(const char *path,
						  uint64_t memory_max,
						  portprof_follow **follow);

/*
 * Read what was appended since the previous reading: *profile, which the caller
 * frees, has only the new samples, but the account, mappings, locations and
 * threads of all. *is_anew: *profile has everything, because this is the first
 * reading, or another file replaced the previous one, as at the end of a session.
 * Statuses are those of portprof_profile_read; after a failure the next reading
 * starts anew.
 */
PORTPROF_API portprof_status portprof_follow_read(portprof_follow *follow,
						  portprof_profile **profile,
						  bool *is_anew);

/* NULL does nothing. */
PORTPROF_API void portprof_follow_close(portprof_follow *follow);

/*
 * What was at an address of a process at a time (CLOCK_MONOTONIC): set *line,
 * and *mapping to the number of the mapping whose file names it, or SIZE_MAX for
 * that of the location. Strings need only be valid until the next call.
 * PORTPROF_CODE_UNTOLD: there is no record of what the process generated; the
 * samples then keep their times.
 */
typedef enum portprof_code {
	PORTPROF_CODE_UNTOLD,
	PORTPROF_CODE_NAMELESS,
	PORTPROF_CODE_NAMED
} portprof_code;
typedef int (*portprof_code_fn)(void *context, uint32_t pid, uint64_t address,
				uint64_t time_ns, portprof_profile_line *line,
				size_t *mapping); /* a portprof_code */

/*
 * Name generated code by the time of each sample in it, which is kept for
 * processes that map a jit-PID.dump. `find` is called only for code without a
 * name. Samples that no longer differ are added up. Previously returned pointers
 * to samples, locations and lines become invalid. E_INVALID (a NULL), E_NOMEM:
 * samples are unchanged.
 */
PORTPROF_API portprof_status portprof_profile_name_by_time(
	portprof_profile *profile, portprof_code_fn find, void *context);

/*
 * Take samples out of a profile, those of which is_out[index] is not 0; of what lies
 * behind `count` none. The account stays that of all. Pointers to samples become
 * invalid. E_INVALID (NULL), E_NOMEM: samples are unchanged.
 */
PORTPROF_API portprof_status portprof_profile_leave_out(
	portprof_profile *profile, const unsigned char *is_out, size_t count);

/*
 * Take out of a profile what may be nobody else's business: the folders of all
 * paths, and all but the last names of paths in the command, events, notes and
 * names of generated code; the host's name; source files and lines; all but the
 * first word of the command. Call it last: a
 * profile that was changed is only read and written. E_INVALID (NULL); E_NOMEM:
 * something is left.
 */
#define PORTPROF_HIDE_PATHS 1u
#define PORTPROF_HIDE_HOST 2u
#define PORTPROF_HIDE_SOURCE 4u
#define PORTPROF_HIDE_ARGUMENTS 8u
PORTPROF_API portprof_status portprof_profile_hide(portprof_profile *profile,
						   unsigned what);

/* 1 if a file begins like folded stacks (of FlameGraph's scripts), the output of
 * perf script or a CPU profile of gperftools, otherwise 0. */
PORTPROF_API int portprof_import_is(const char *path);

/*
 * Read such a file; the caller frees *profile. Folded stacks have one event,
 * "weight" ("weight-tenths" and so on if numbers have fractions), or "before" and
 * "after" if lines end with two numbers, and code without addresses; the output of perf has its events; a
 * profile of gperftools has the event "cpu", and code without names.
 *   E_NOTFOUND, E_DENIED  of the file
 *   E_FORMAT              another format, or a mistake: the words have
 *                         FILE:LINE:COLUMN
 *   E_LIMIT               it takes more memory than `memory_max`, see
 *                         portprof_profile_read
 *   E_NOMEM, E_SYSTEM     reading failed
 */
PORTPROF_API portprof_status portprof_import_read(const char *path,
						  uint64_t memory_max,
						  portprof_profile **profile);

/*
 * A file that takes its place when it is whole, as profiles do: links are
 * followed to their end, and what is no regular file is never replaced. A pipe, a
 * device or a descriptor of this process (/dev/stdout, /dev/fd/N) is a stream
 * instead: what is written there is there at once. Opening a named pipe waits for
 * its reader. One thread at a time.
 *   E_INVALID, E_DENIED, E_NOTFOUND, E_LIMIT, E_NOMEM, E_SYSTEM: as
 *   portprof_profile_write; a disk is E_INVALID
 */
typedef struct portprof_output portprof_output;
PORTPROF_API portprof_status portprof_output_open(const char *path,
						  portprof_output **output);

/* A descriptor to write to, which stays the output's. */
PORTPROF_API int portprof_output_fd(const portprof_output *output);

/* The path that it takes, at the end of all links; NULL if it is a stream. Valid
 * until it is closed. */
PORTPROF_API const char *portprof_output_path(const portprof_output *output);

/* Put it in its place, over what is there, with what was written so far; what is
 * written later is in the file at once. The same statuses. */
PORTPROF_API portprof_status portprof_output_place(portprof_output *output);

/* What was not placed is gone. NULL does nothing. */
PORTPROF_API void portprof_output_close(portprof_output *output);

/*
 * Presets: names in an event list for several events of one group, and for
 * numbers that are computed from their counts. In every list "IPC:u" is read as
 * "instructions:u,cycles:u".
 */
#define PORTPROF_PRESET_EVENTS_MAX 8
#define PORTPROF_PRESET_FORMULAS_MAX 4

/* factor * (of[0] * count[0] + ...) / (by[0] * count[0] + ...), without the
 * division if all of `by` are 0. */
typedef struct portprof_formula {
	const char *name;   /* "IPC" */
	const char *unit;   /* "instructions per cycle" */
	size_t event;       /* of the preset, with which it is shown */
	double factor;
	int of[PORTPROF_PRESET_EVENTS_MAX];
	int by[PORTPROF_PRESET_EVENTS_MAX];
} portprof_formula;

typedef struct portprof_preset {
	const char *name;   /* as in a list, in upper or lower case */
	const char *means;
	const char *events[PORTPROF_PRESET_EVENTS_MAX]; /* NULL past the last */
	portprof_formula formulas[PORTPROF_PRESET_FORMULAS_MAX];
	size_t formula_count;
} portprof_preset;

/* All presets; NULL past the last. Of several with one name, the first whose
 * events are known on a machine is used there. Static. Any thread. */
PORTPROF_API const portprof_preset *portprof_preset_at(size_t index);

/* The preset whose first event is the index-th event of a list, as
 * portprof_event_list_get counts them; NULL if there is none. Static. Any
 * thread, not in signal handlers. */
PORTPROF_API const portprof_preset *
portprof_event_list_preset(const char *list, size_t index);

/* Why a machine that counts something like it cannot compute a preset, where that is
 * known; NULL where it can, or has nothing of the kind. Static. Any thread, not in
 * signal handlers. */
PORTPROF_API const char *portprof_preset_missing(const portprof_preset *preset);

/* What a formula of a preset comes to: `values` has one for each event, NAN what
 * is not known. NAN where a part of it is not known, or would be divided by 0. */
PORTPROF_API double portprof_preset_value(const portprof_preset *preset,
					  size_t formula, const double *values);

/* A number that a preset computes from one reading. */
typedef struct portprof_metric {
	size_t size;        /* of the struct, set by the caller */
	char name[96];      /* "IPC:u" */
	const char *unit;
	size_t event;       /* of the group, with which it is shown */
	double value;       /* NAN: unknown */
	uint32_t is_estimate; /* a count that it uses is scaled */
} portprof_metric;

/*
 * The index-th number of the presets in a group's events, from `counts`, a
 * reading of the whole group or the difference of two; and of those in the events
 * of a set of regions, from the counts of one. PORTPROF_END past the last.
 * *metric is unchanged then and on failure:
 *   E_INVALID  NULL
 *   E_STATE    the process's own regions are not open
 */
PORTPROF_API portprof_status portprof_group_metric(
	const portprof_group *group, const portprof_count *counts,
	size_t index, portprof_metric *metric);
PORTPROF_API portprof_status portprof_regions_metric(
	const portprof_regions *regions, const portprof_count *counts,
	size_t index, portprof_metric *metric);

#ifdef __cplusplus
}
#endif
#endif
