/* SPDX-License-Identifier: MIT */
/*
 * How often a test repeats something: once in a while in make check, more in
 * make check-all, as long as it takes in make check-long.
 */
#ifndef SPEED_H
#define SPEED_H

#include <stdlib.h>
#include <string.h>

/* The one of the speed that runs; make exports PORTPROF_SPEED. */
static inline unsigned by_speed(unsigned check, unsigned all, unsigned with_long)
{
	const char *speed = getenv("PORTPROF_SPEED");

	if (speed && strcmp(speed, "long") == 0)
		return with_long;
	return speed && strcmp(speed, "all") == 0 ? all : check;
}

#endif
