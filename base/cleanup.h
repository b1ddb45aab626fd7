/* SPDX-License-Identifier: MIT */
/* Cleanup that runs however a block is left, by an exception too. */
#ifndef PPI_CLEANUP_H
#define PPI_CLEANUP_H

/*
 * A variable with PPI_AT_LEAVE(function) has function(&variable) called when
 * its block ends; also when a C++ exception of a callback goes through it, or
 * the callback calls pthread_exit(3). A longjmp(3) skips it.
 */
#define PPI_AT_LEAVE(function) __attribute__((unused, cleanup(function)))

#endif
