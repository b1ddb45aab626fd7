/* SPDX-License-Identifier: MIT */
/* The version of the library: at compile time and at run time. */

#ifndef PORTPROF_VERSION_H
#define PORTPROF_VERSION_H

#include <portprof/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The version of these headers. configure reads it from here, so that there
 * is no second place to change.
 */
#define PORTPROF_VERSION_MAJOR 0
#define PORTPROF_VERSION_MINOR 1
#define PORTPROF_VERSION_PATCH 0
#define PORTPROF_VERSION_STRING "0.1.0"

/* One number that grows with the version, for #if. */
#define PORTPROF_VERSION                                                       \
	(PORTPROF_VERSION_MAJOR * 10000 + PORTPROF_VERSION_MINOR * 100 +       \
	 PORTPROF_VERSION_PATCH)

/**
 * The version of the library that the program runs with, such as "0.1.0".
 *
 * May be called at any time, from any thread and in a signal handler. The
 * string is constant and belongs to the library. Compare it with
 * PORTPROF_VERSION_STRING to see whether headers and library differ.
 *
 * Since 0.1.0.
 */
PORTPROF_API const char *portprof_version(void);

#ifdef __cplusplus
}
#endif

#endif /* PORTPROF_VERSION_H */
