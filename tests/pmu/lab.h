/* SPDX-License-Identifier: MIT */
/*
 * What the programs of the lab share: loops of known length, and groups and
 * sessions that a failed case does not leave open.
 */
#ifndef PMU_LAB_H
#define PMU_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <portprof.h>

/* Two instructions a turn, and the addresses of these. turns > 0. */
void lab_loop(uint64_t turns);
extern const char lab_loop_first[], lab_loop_end[];

enum { LAB_INSTRUCTIONS = 2 }; /* a turn of lab_loop */

/* The PMU of this CPU as libpfm4 calls it, from the command line. */
extern const char *lab_pmu;

/* An event string with "PMU" replaced by that name. Static, one at a time. */
const char *lab_event(const char *pattern);

/* The calling thread, backend perf. */
portprof_config *lab_config(void);
void lab_add_event(portprof_config *config, const char *pattern);

/* A group of the calling thread with these events ("a,b"). */
portprof_group *lab_group(const char *patterns);
portprof_group *lab_open_group(portprof_config *config);

/*
 * The emulator's counters follow one clock for all CPUs: with two, what the
 * other one does in between is counted here too, now and then.
 */
bool lab_is_exact(void);

/*
 * What lab_loop(turns) counts, raw, of each event; read before and after.
 * Where another CPU may add to it, the smallest of several.
 */
void lab_count_loop(portprof_group *group, uint64_t turns, uint64_t *counts,
                    size_t count);

/* It must succeed; if not, its words go into the log. */
void lab_must(portprof_status status);

/* ---- sessions ---- */

/* What a session brought: all samples, by event. */
enum { LAB_LOG_EVENTS = 4, LAB_CHAIN = 4 };
struct lab_log {
	uint64_t samples[LAB_LOG_EVENTS];
	uint64_t weight[LAB_LOG_EVENTS];
	uint64_t in_loop[LAB_LOG_EVENTS]; /* samples, address in lab_loop */
	uint64_t at_first[LAB_LOG_EVENTS]; /* of these, its first instruction */
	uint64_t not_period[LAB_LOG_EVENTS]; /* weight other than period */
	uint64_t period[LAB_LOG_EVENTS];  /* set before */
	uint64_t last_ns;
	uint64_t backwards;               /* samples before their predecessor */
	uint64_t other_threads;
	uint32_t cpus;                    /* bits */
	uint64_t chain[LAB_CHAIN];        /* of the last sample in the loop */
	size_t chain_depth;
};

/* Callback sink into a log that lasts until the case ends; zeroed. */
struct lab_log *lab_log(portprof_config *config);

portprof_session *lab_open_session(portprof_config *config);
void lab_close_session(void);

/* Start, lab_loop(turns), stop. */
void lab_sample_loop(portprof_session *session, uint64_t turns);

/* The account of an event; its two sums are checked. */
portprof_stats lab_stats(portprof_session *session, size_t event);

/* ---- words ---- */

/* End the case: it does not apply, for this reason. */
void lab_skip(const char *words, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* Say something that belongs into the log. */
void lab_say(const char *words, ...) __attribute__((format(printf, 1, 2)));

/* Closes what a case opened. */
int lab_clean_up(void **state);
#define LAB_CASE(function) cmocka_unit_test_teardown(function, lab_clean_up)

/* What main does with its arguments: 0, or a status to exit with. */
void lab_begin(int argc, char **argv);

#endif
