/* SPDX-License-Identifier: MIT */
/* What the command portprof needs of its library, and few other programs do. */
#ifndef PORTPROF_TOOL_H
#define PORTPROF_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <portprof/config.h>
#include <portprof/export.h>
#include <portprof/group.h>
#include <portprof/profile.h>
#include <portprof/session.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Unstable: these functions may change or go with any release, without a new
 * version of the library. <portprof.h> does not include this header. Threads as
 * for the other functions of a config or a session; none is for signal
 * handlers. All since 0.1.
 */

/* The names of all settings, in the order of portprof.conf(5); NULL past the
 * last. Static. Any thread. */
PORTPROF_API const char *portprof_config_key(size_t index);

/*
 * Where a setting in force came from: "FILE:LINE", "default", or "the
 * program", which is a function of the library. `index` counts events. NULL:
 * no such setting. The string lasts until the config is changed.
 */
PORTPROF_API const char *portprof_config_origin(const portprof_config *config,
						const char *key, size_t index);

/* The file that was loaded last, or the name that stood for a text; NULL when
 * none was. The string lasts until the config is changed. */
PORTPROF_API const char *portprof_config_file(const portprof_config *config);

/*
 * Leave samples in memory that a session of another process collects, and
 * nowhere else: a config with this sink has no other (E_INVALID). What was
 * sampled is safe there however this process ends; it holds no descriptor and
 * writes no file for it. `name` is what portprof_config_collect gave to the
 * other process, which must be of the same user. Opening a session is refused
 * with E_NOTFOUND when that process has ended, with E_DENIED when it is another
 * user's, with E_LIMIT when it has no room for one more, and with E_UNSUPPORTED
 * when it is of another version.
 */
PORTPROF_API portprof_status portprof_config_share_with(portprof_config *config,
							const char *name);

/*
 * Collect instead of measuring: sessions of this config take what sessions of
 * other processes leave, and give it to the sinks. *name is for these, and is
 * valid as long as the config. One such session at a time. Its target is the
 * command that begins those processes (PORTPROF_TARGET_COMMAND), its backend
 * and events are those that they use. E_LIMIT, E_UNSUPPORTED: the system gives
 * no shared memory (shmget(2)), the words say why.
 */
PORTPROF_API portprof_status portprof_config_collect(portprof_config *config,
						     const char **name);

/*
 * A callback that looks on (portprof_config_add_callback): it gets what the
 * sinks get, one of the sixteen, and keeps no sample. What no other sink kept is
 * lost, whoever saw it.
 */
PORTPROF_API portprof_status portprof_config_add_observer(
	portprof_config *config, portprof_batch_fn take, void *context);

/*
 * How many processes that the target created are known to be running,
 * children's children included: as far as the kernel reported by the last
 * drain, with the capability PORTPROF_CAP_CHILDREN, the setting children, and a
 * file or a callback as a sink. Else 0.
 */
PORTPROF_API uint64_t portprof_session_children(portprof_session *session);

/* What unwinding by frame tables did and cost until now. */
typedef struct portprof_unwinding {
	uint64_t samples, frames;
	uint64_t lookups;      /* rules that were not in the table of rules */
	uint64_t modules;      /* whose frame tables were opened */
	uint64_t memory_bytes; /* of the table of rules, which does not grow */
	uint64_t cpu_ns;       /* of the thread that unwinds */
} portprof_unwinding;

/* Why no call chain can be found by frame tables in this process, or on this
 * kind of CPU; NULL: they can, by backends with PORTPROF_CAP_UNWIND. Static. Any
 * thread. */
PORTPROF_API const char *portprof_unwind_missing(void);

/* False, and zeros, where the session does not unwind. */
PORTPROF_API bool portprof_session_unwinding(portprof_session *session,
					     portprof_unwinding *unwinding);

/* A label of a sample that is no process, no thread and no part of the call
 * chain: a text, or else a number. Strings are "" where there is none, and last as
 * long as the profile. */
typedef struct portprof_profile_label {
	const char *name, *text, *unit; /* of the number */
	int64_t number;
} portprof_profile_label;

/* The index-th label of a sample of that profile; false past the last. */
PORTPROF_API bool portprof_profile_label_get(
	const portprof_profile *profile, const portprof_profile_sample *sample,
	size_t index, portprof_profile_label *label);

/*
 * A file that a session is writing, read piece by piece. *follow belongs to the
 * caller, for portprof_follow_close, and is used by one thread at a time.
 * `memory_max` is as in portprof_profile_read, for each reading. Nothing is
 * opened yet. E_INVALID, E_NOMEM; E_UNSUPPORTED in a build without files.
 */
typedef struct portprof_follow portprof_follow;
PORTPROF_API portprof_status portprof_follow_open(const char *path,
						  uint64_t memory_max,
						  portprof_follow **follow);

/*
 * What was appended since the last time: *profile has the new samples alone, and
 * the account, mappings, locations and threads of all until now. It is the
 * caller's. *is_anew: it is the first, or another file has taken the place of
 * the one before, as at the end of a session; *profile has all of it then.
 * Statuses are those of portprof_profile_read; after a failure the next reading
 * is anew.
 */
PORTPROF_API portprof_status portprof_follow_read(portprof_follow *follow,
						  portprof_profile **profile,
						  bool *is_anew);

/* NULL is nothing. */
PORTPROF_API void portprof_follow_close(portprof_follow *follow);

/*
 * What lay at an address of a process at a time (CLOCK_MONOTONIC): fill *line,
 * and *mapping with the number of the mapping whose file says so, SIZE_MAX for
 * that of the location. Strings need only last until the next call.
 * PORTPROF_CODE_UNTOLD: nothing says what the process made when; then the
 * samples keep their time.
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
 * Name the code that processes made while they ran, by the time of each sample
 * in it: that is kept of processes that map a jit-PID.dump. Code without a name
 * alone is asked for. Then what differs by nothing but such a time is one
 * sample. Pointers to samples, locations and lines that were handed out before
 * are void. E_INVALID (a NULL), E_NOMEM: samples are as before.
 */
PORTPROF_API portprof_status portprof_profile_name_by_time(
	portprof_profile *profile, portprof_code_fn find, void *context);

/* 1 when a file begins as folded stacks (of FlameGraph's scripts), the text of
 * perf script or a CPU profile of gperftools do, else 0. */
PORTPROF_API int portprof_import_is(const char *path);

/*
 * Read such a file; *profile is the caller's. Folded stacks have one event,
 * "weight", and code without addresses; perf's text has perf's events; the
 * profile of gperftools has the event "cpu", and its code no names.
 *   E_NOTFOUND, E_DENIED  of the file
 *   E_FORMAT              it is none of them, or has a mistake: the words have
 *                         FILE:LINE
 *   E_LIMIT               it takes more memory than `memory_max`, see
 *                         portprof_profile_read
 *   E_NOMEM, E_SYSTEM     reading failed
 */
PORTPROF_API portprof_status portprof_import_read(const char *path,
						  uint64_t memory_max,
						  portprof_profile **profile);

/*
 * Presets: words of an event list that stand for several events of one group and
 * for numbers that are computed from their counts. "IPC:u" in a list is read as
 * "instructions:u,cycles:u", wherever a list is read.
 */
#define PORTPROF_PRESET_EVENTS_MAX 8
#define PORTPROF_PRESET_FORMULAS_MAX 4

/* factor * (of[0] * count[0] + ...) / (by[0] * count[0] + ...); where all of `by`
 * are 0 nothing is divided. */
typedef struct portprof_formula {
	const char *name;   /* "IPC" */
	const char *unit;   /* "instructions per cycle" */
	size_t event;       /* of the preset: beside which it is shown */
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

/* All that there are; NULL past the last. One name may come several times: the
 * first whose events are known on a machine is taken there. Static. Any thread. */
PORTPROF_API const portprof_preset *portprof_preset_at(size_t index);

/* The preset whose first event is the index-th event of a list, as
 * portprof_event_list_get counts them; NULL: that event begins none. Static. Any
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

/* A number that a preset stands for, of one reading. */
typedef struct portprof_metric {
	size_t size;        /* of the struct, set by the caller */
	char name[96];      /* "IPC:u" */
	const char *unit;
	size_t event;       /* of the group: beside which it is shown */
	double value;       /* NAN: unknown */
	uint32_t is_estimate; /* a count of it is scaled */
} portprof_metric;

/*
 * The index-th number that the presets in a group's events stand for, of
 * `counts`, a reading of the whole group or the difference of two; and of the
 * regions that are open, of the counts of one. *metric is untouched on failure:
 *   E_NOTFOUND  there are no more; no diagnostic
 *   E_INVALID   NULL
 *   E_STATE     no regions are open
 */
PORTPROF_API portprof_status portprof_group_metric(
	const portprof_group *group, const portprof_count *counts,
	size_t index, portprof_metric *metric);
PORTPROF_API portprof_status portprof_regions_metric(
	const portprof_count *counts, size_t index, portprof_metric *metric);

#ifdef __cplusplus
}
#endif
#endif
