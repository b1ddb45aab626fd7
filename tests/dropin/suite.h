/* SPDX-License-Identifier: MIT */
/* What the cases of the drop-in suite share. */
#ifndef DROPIN_SUITE_H
#define DROPIN_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BINS = 1 << 16, GUARD = 64, HZ = 100 };

/* With a guard behind, which nobody may write to. Cleared before each case. */
extern uint16_t bins[BINS + GUARD], before[BINS + GUARD];
extern uint64_t low, high; /* all functions of the fixture */

bool has_cap(uint64_t cap);

/* Thread `thread` works for so long in a function; what it really used. */
uint64_t spend(unsigned thread, unsigned function, uint64_t ms);

/* The ticks in all bins, and whether so many fit to that time. */
uint64_t all_ticks(const uint16_t *from);
void near(uint64_t ticks, uint64_t used_ns, unsigned stretches);
size_t bytes_of_all(void);

/* sprofil and pcsample, in suite_others.c. */
void hist_5_the_higher_start_wins(void **state);
void hist_6_the_overflow_bin_has_the_rest(void **state);
void sample_7_the_period_is_the_true_one(void **state);
void err_3_what_cannot_be_is_refused(void **state);
void sink_1_pcsample_stores_in_the_order_of_time(void **state);
void sink_1_pcsample_stops_when_it_is_full(void **state);
void life_11_solaris_has_one_of_both(void **state);

#endif
