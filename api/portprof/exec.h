/* SPDX-License-Identifier: MIT */
/* exec and dlclose: before a process executes another program or unloads code. */
#ifndef PORTPROF_EXEC_H
#define PORTPROF_EXEC_H

#include <portprof/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * exec replaces the program, but keeps ITIMER_PROF: a session of the backend
 * itimer would leave its timer running, and the first SIGPROF would kill the new
 * program. Linking with libportprof-exec is enough: it wraps dlclose and the exec
 * functions of the C library and calls the functions below. They are for programs
 * that make the system call themselves or wrap exec in another way.
 *
 * All may be called from any thread. All since 0.1.
 */

/*
 * Promise that portprof_exec_begin precedes each exec of this process. Backends
 * that need the promise have PORTPROF_CAP_EXEC_SAFE from then on, in this process
 * and its forked children. It cannot be withdrawn. Async-signal-safe.
 */
PORTPROF_API void portprof_exec_guard(void);

/*
 * Pause all running sessions of this process: no timer remains, and what was
 * sampled is in the files. In a forked or vforked child of the process that
 * opened the sessions it does nothing. Waits for a callback or another call of
 * each session, one second at most. May be called where exec may be, which
 * includes signal handlers, unless the handler interrupted a portprof function.
 */
PORTPROF_API void portprof_exec_begin(void);

/* The exec failed: resume the sessions that portprof_exec_begin paused. errno is
 * unchanged. Called where portprof_exec_begin may be. */
PORTPROF_API void portprof_exec_failed(void);

/*
 * Code is about to be unmapped; and it was. Samples from before belong to it, also
 * if other code is then mapped at its address. Around each dlclose; the calls come
 * in pairs, call no sink and leave errno unchanged. Not in signal handlers.
 */
PORTPROF_API void portprof_unload_begin(void);
PORTPROF_API void portprof_unload_end(void);

#ifdef __cplusplus
}
#endif
#endif
