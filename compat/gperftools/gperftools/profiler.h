/* SPDX-License-Identifier: MIT */
/*
 * The CPU profiler of gperftools, by portprof. Programs that include
 * <gperftools/profiler.h> compile with the flags of "pkg-config --cflags
 * portprof-gperftools" and link -lportprof-gperftools in place of -lprofiler.
 *
 * Names, types and results are those of gperftools 2.x (its profiler.h; the layout of
 * both structs is its ABI). What differs is said at each function, and in
 * portprof-compat(7). All since 0.1. Any thread may call any of them; none is for
 * signal handlers.
 */
#ifndef PORTPROF_COMPAT_GPERFTOOLS_PROFILER_H
#define PORTPROF_COMPAT_GPERFTOOLS_PROFILER_H

#include <time.h>

#include <portprof/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set all of it to 0, then what is wanted. */
struct ProfilerOptions {
	/* Whether to keep a sample of the thread that runs. Not supported: a
	 * profiler with a filter is not started. */
	int (*filter_in_thread)(void *arg);
	void *filter_in_thread_arg;
};

/*
 * Sample the CPU time of all threads into the file `fname`: in the format of pprof,
 * which `portprof report` and `go tool pprof` read; `portprof export -f gperftools`
 * makes the old format of it. The rate is $CPUPROFILE_FREQUENCY, 1 to 4000 per
 * second of CPU time, or 100. A file of that name becomes FNAME.old.
 * Returns 1; 0 while the profiler runs, and where it cannot: standard error has the
 * reason. exit(3) stops it.
 */
PORTPROF_API int ProfilerStart(const char *fname);

/* The same with options; NULL: none. */
PORTPROF_API int ProfilerStartWithOptions(const char *fname,
                                          const struct ProfilerOptions *options);

/* Stop and complete the file; nothing where it does not run. */
PORTPROF_API void ProfilerStop(void);

/* Write what was sampled so far; the file is then a whole one. */
PORTPROF_API void ProfilerFlush(void);

/* These do nothing: every thread is sampled from its creation. */
PORTPROF_API void ProfilerEnable(void);
PORTPROF_API void ProfilerDisable(void);
PORTPROF_API void ProfilerRegisterThread(void);

/* 1 while the profiler runs in this process, 0 in a forked child of it. */
PORTPROF_API int ProfilingIsEnabledForAllThreads(void);

struct ProfilerState {
	int enabled;
	time_t start_time;       /* 0: it does not run */
	char profile_name[1024]; /* "": it does not run; may be cut */
	int samples_gathered;    /* so far, those that are lost included */
};

PORTPROF_API void ProfilerGetCurrentState(struct ProfilerState *state);

#ifdef __cplusplus
}
#endif

#endif /* PORTPROF_COMPAT_GPERFTOOLS_PROFILER_H */
