/* SPDX-License-Identifier: MIT */
/* One session of the timer backend on its simulated kernel. */
#ifndef TIMER_KIT_H
#define TIMER_KIT_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/session.h"
#include "tests/sim/timer_sim.h"

#define MS UINT64_C(1000000)
/* Period and tick: what one thread can gather between two samples. */
#define RESOLUTION (MS + TIMER_SIM_TICK_NS)

extern struct sim_session one;
extern bool is_awake; /* the helper thread runs now and then */

/* Before and after each case. */
int set_up(void **state);
int tear_down(void **state);

/* Open `one` on the whole process, and start it; stop it, with no signal that
 * would have been the program's death. */
void start(uint64_t hz);
void stop(void);

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
