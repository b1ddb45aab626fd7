/* SPDX-License-Identifier: MIT */
/*
 * The profiling timer (ITIMER_PROF), which the program has before the library:
 * while the library uses it, it looks unused; when the program sets it, the
 * library loses it and SIGPROF that moment, and every tick is the program's.
 */
#include "config.h"

#include "tools/preload/signals.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>

static struct {
	int (*setitimer)(int, const struct itimerval *, struct itimerval *);
	int (*getitimer)(int, struct itimerval *);
} real;

__attribute__((constructor(101))) static void look_around(void)
{
	ppi_next_function("setitimer", &real.setitimer);
	ppi_next_function("getitimer", &real.getitimer);
}

static const struct itimerval unused;

static void stop_timer(void)
{
	real.setitimer(ITIMER_PROF, &unused, NULL);
}

static bool is_possible(const struct timeval *time)
{
	return time->tv_sec >= 0 && time->tv_usec >= 0 &&
	       time->tv_usec < 1000000;
}

/* While SIGPROF is the library's. A timer that is set to nothing was not
 * running, as far as the program can know. */
static int set_profiling_timer(const struct itimerval *next,
                               struct itimerval *before)
{
	if (next && (!is_possible(&next->it_value) ||
	             !is_possible(&next->it_interval))) {
		errno = EINVAL;
		return -1;
	}
	if (next && (next->it_value.tv_sec || next->it_value.tv_usec)) {
		ppi_signal_hand_over(SIGPROF, stop_timer);
		return real.setitimer(ITIMER_PROF, next, before);
	}
	if (before)
		*before = unused;
	return 0;
}

int ppi_program_setitimer(int which, const struct itimerval *next,
                          struct itimerval *before)
{
	if (!real.setitimer)
		look_around();
	if (which == ITIMER_PROF && ppi_signal_is_taken(SIGPROF))
		return set_profiling_timer(next, before);
	return real.setitimer(which, next, before);
}

int ppi_program_getitimer(int which, struct itimerval *now)
{
	if (!real.getitimer)
		look_around();
	if (which != ITIMER_PROF || !ppi_signal_is_taken(SIGPROF))
		return real.getitimer(which, now);
	*now = unused;
	return 0;
}

/* The first argument is an enum in glibc and an int elsewhere, and both are
 * passed alike. */
#ifdef __GLIBC__
typedef __itimer_which_t timer_name;
#else
typedef int timer_name;
#endif

int setitimer(timer_name which, const struct itimerval *next,
              struct itimerval *before)
{
	if (!PPI_IS_OWN_CALL())
		return ppi_program_setitimer((int)which, next, before);
	if (!real.setitimer)
		look_around();
	return real.setitimer((int)which, next, before);
}

int getitimer(timer_name which, struct itimerval *now)
{
	if (!PPI_IS_OWN_CALL())
		return ppi_program_getitimer((int)which, now);
	if (!real.getitimer)
		look_around();
	return real.getitimer((int)which, now);
}
