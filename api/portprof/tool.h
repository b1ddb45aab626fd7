/* SPDX-License-Identifier: MIT */
/* What the command portprof needs of its library, and few other programs do. */
#ifndef PORTPROF_TOOL_H
#define PORTPROF_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <portprof/config.h>
#include <portprof/export.h>
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

/* False, and zeros, where the session does not unwind. */
PORTPROF_API bool portprof_session_unwinding(portprof_session *session,
					     portprof_unwinding *unwinding);

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

#ifdef __cplusplus
}
#endif
#endif
