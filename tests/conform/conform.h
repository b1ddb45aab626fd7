/* SPDX-License-Identifier: MIT */
/*
 * What the cases share: opening sessions on the fixture's backend, programs of
 * known work, checked accounts. All that a case takes through these functions
 * is given back when it ends, also when it fails.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <portprof.h>

#include "tests/conform/assert.h"
#include "tests/conform/fixture.h"
#include "tests/model/expect.h"

/* ---- families of cases, listed by main.c ---- */

/*
 * What a case asks for before it runs. A backend that lacks it is skipped,
 * after it has refused. A case about values is also
 * skipped where no time ever passes, and fails when it read none but zeros.
 */
enum cf_profile {
	CF_FOR_ALL,      /* names, choice and refusals */
	CF_FOR_LIVES,    /* the life of a session, be its samples none */
	CF_FOR_SAMPLES,  /* what samples say */
	CF_FOR_GROUPS,   /* the life of a group of counters */
	CF_FOR_COUNTS    /* what counters say */
};

struct cf_case {
	const char *name;
	void (*run)(void **state);
	enum cf_profile profile;
};
struct cf_family {
	const struct cf_case *cases;
	size_t count;
};
#define CF_CASE(function) { #function, function, CF_FOR_ALL }
#define CF_LIFE(function) { #function, function, CF_FOR_LIVES }
#define CF_SAMPLES(function) { #function, function, CF_FOR_SAMPLES }
#define CF_GROUPS(function) { #function, function, CF_FOR_GROUPS }
#define CF_COUNTS(function) { #function, function, CF_FOR_COUNTS }
#define CF_FAMILY(name)                                                      \
	const struct cf_family conform_##name = {                            \
		cases, sizeof(cases) / sizeof(cases[0])                      \
	}

/* Around each case: finish asserts that nothing is held any more, clean_up
 * gives back what a failed case left. */
void cf_begin(void);
void cf_finish(void);
/* Before and after a case: skip it where its profile is not to be had; not to
 * pass when nothing was measured. */
void cf_ask(enum cf_profile profile);
void cf_judge(enum cf_profile profile);
/* A value that the library gave. Those who look at values say so here. */
void cf_measured(uint64_t value);
void cf_clean_up(void);

/* ---- what can be asked here ---- */

/* End the case: it does not apply, for this reason. */
void cf_skip(const char *words, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* Capabilities that probing found, and one of them. */
uint64_t cf_caps(void);
bool cf_has(uint64_t cap);

/* Go on only with this capability. Without it: asking for it must be
 * refused; then the case is skipped. */
void cf_needs(uint64_t cap);
void cf_refuses(uint64_t cap);

/* Go on only on a real kernel; only where profile files are built in. */
void cf_needs_real(void);
/* Threads can be started in a forked child of a process with threads. */
void cf_needs_threads_after_fork(void);
void cf_needs_files(void);

/* ---- sessions ---- */

enum { CF_HZ = 1000, CF_PERIOD_NS = 1000000 };
#define CF_MS ((uint64_t)1000000)

/* The fixture's backend, default event, CF_HZ. */
portprof_config *cf_config(void);

/* Open, and check that it is the fixture's backend. cf_try_open: any status. */
portprof_session *cf_open(const portprof_config *config);
portprof_status cf_try_open(const portprof_config *config,
                            portprof_session **session);
portprof_group *cf_group(const portprof_config *config);
portprof_status cf_try_group(const portprof_config *config,
                             portprof_group **group);
/* Open what this backend has, a session or else a group, and close it. */
portprof_status cf_try_any(const portprof_config *config);
void cf_start(portprof_session *session);
void cf_stop(portprof_session *session);
void cf_close(portprof_session *session);
void cf_close_group(portprof_group *group);
void cf_forget(portprof_session *session); /* closed by the case itself */
portprof_count cf_read(portprof_group *group); /* its first event */

/* The account of an event, its two sums checked (LOSS-1, LOSS-2). */
portprof_stats cf_stats(portprof_session *session, size_t event);
portprof_sink_stats cf_sink(portprof_session *session, size_t sink);

/* The last diagnostic is whole and of this status (ERR-1). */
void cf_diag(portprof_status status);

/* ---- programs of known work ---- */

enum { CF_WORKS = 256 };
struct cf_program {
	struct fx_work works[CF_WORKS];
	uint64_t used_ns[CF_WORKS];
	size_t count, done;
};

/*
 * What two clocks may differ by over so much work: 0 on an exact fixture. On a
 * real kernel they are read at moments that differ, its program does a little that
 * is no work, and some clocks go on while a hypervisor has the CPU for others.
 */
uint64_t cf_slack(uint64_t used_ns);

void cf_work(struct cf_program *program, unsigned thread, unsigned function,
             uint64_t cpu_ns);
void cf_kernel_work(struct cf_program *program, unsigned thread,
                    unsigned function, uint64_t cpu_ns, uint64_t in_kernel_ns);

void cf_labelled_work(struct cf_program *program, unsigned thread,
                      unsigned function, uint64_t cpu_ns,
                      const portprof_label_set *set);

/* Do what was added since the last call. */
void cf_run(struct cf_program *program);

/* One work, done at once; what it used. */
uint64_t cf_burn(unsigned thread, unsigned function, uint64_t cpu_ns);

/* What was done, of one thread; of all. */
uint64_t cf_used_by(const struct cf_program *program, unsigned thread);
uint64_t cf_used(const struct cf_program *program);

/* The model's answer for all that was done. */
struct expect cf_expect(const struct cf_program *program, uint64_t period_ns);

/* Start, do what was added, stop. */
void cf_measure(portprof_session *session, struct cf_program *program);

/* Whether the account of event 0 agrees with the model. */
void cf_check_total(portprof_session *session, const struct expect *expect);

void cf_in_range(uint64_t value, struct expect_range range, const char *what);

/* ---- looking at samples ---- */

/* One 64-bit histogram of weights over the four functions. */
struct cf_watch {
	uint64_t *bins[FX_FUNCTIONS];
	size_t bin_count[FX_FUNCTIONS];
};
void cf_watch(portprof_config *config, struct cf_watch *watch);
/* The same of samples that have these labels; NULL: of all. */
void cf_watch_labels(portprof_config *config, struct cf_watch *watch,
                     const portprof_label_set *labels);
uint64_t cf_watched(const struct cf_watch *watch, unsigned function);

/* Whether function weights agree with the model. */
void cf_check_functions(const struct cf_watch *watch,
                        const struct expect *expect);

/* A range with zeroed bins of its own, a histogram of event 0, one bin, the
 * sum of all, and the smallest range that holds all four functions. */
portprof_range cf_range(uint64_t offset, uint32_t scale, unsigned bits,
                        size_t count);
void cf_histogram(portprof_config *config, const portprof_range *regions,
                  size_t count, portprof_bin_unit unit);
uint64_t cf_bin(const portprof_range *region, size_t i);
uint64_t cf_bin_sum(const portprof_range *region);
void cf_bounds(uint64_t *low, uint64_t *high);

/* Start, each_ns in each function, stop. */
void cf_burn_all(portprof_session *session, uint64_t each_ns);

/* All records that a callback saw. */
enum { CF_DEPTH = 15 };
struct cf_log {
	portprof_record *records;
	uint64_t (*chains)[1 + CF_DEPTH]; /* of each record: depth, first pcs */
	size_t count, room;
	size_t batches, kinds[8];
	const char *mistake;   /* what a callback found wrong, or NULL */
	atomic_int is_inside;
};
struct cf_log *cf_log(portprof_config *config);
void cf_free_logs(void);

/* Sums over a log's samples of one event. */
uint64_t cf_log_weight(const struct cf_log *log, size_t event);
uint64_t cf_log_thread_weight(const struct cf_log *log, int64_t tid);

/* ---- other means ---- */

/* Memory that is freed when the case ends; zeroed, aligned to 64. */
void *cf_memory(size_t bytes);

/* A path that nobody else uses, removed when the case ends. */
const char *cf_path(void);

/* CLOCK_MONOTONIC. */
uint64_t cf_now_ns(void);

/* CPU time of this process; 0 on simulated kernels, which do the work of the
 * program and nothing else. */
uint64_t cf_process_time(void);

/* Run in a forked child; its exit status must be 0. A child's assertion is
 * its return value: a line number, or 0. */
void cf_in_child(int (*child)(void *context), void *context);

/* What main does when started with this word: burn CPU time and exit 42. */
#define CF_AFTER_EXEC "--after-exec"
enum { CF_AFTER_EXEC_STATUS = 42 };
extern const char *cf_program_path;

#endif
