/* SPDX-License-Identifier: MIT */
/*
 * What the programs of the lab share: loops of known length, and groups and
 * sessions that a failed case does not leave open.
 */
#ifndef PMU_LAB_H
#define PMU_LAB_H

#include <setjmp.h>
#include <stdarg.h>
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
 * What lab_loop(turns) counts, raw, of each event; read before and after.
 *
 * The emulator's counters follow one clock for all CPUs: with two, what the
 * other one does in between is counted here too, now and then. That can only
 * add, so the smallest of several is the loop's own then.
 */
void lab_count_loop(portprof_group *group, uint64_t turns, uint64_t *counts,
                    size_t count);

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
