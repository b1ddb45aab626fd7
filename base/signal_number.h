/* SPDX-License-Identifier: MIT */
/* Signals as users write them: 12, USR2, SIGUSR2, RTMIN+3. */
#ifndef PPI_SIGNAL_NUMBER_H
#define PPI_SIGNAL_NUMBER_H

#include <stddef.h>

/* The number of `length` characters, in upper or lower case; 0: this system
 * has no such signal. */
int ppi_signal_number(const char *text, size_t length);

/* Why a signal is not to be had for a purpose of ours, to follow its name;
 * NULL: the program can spare it. */
const char *ppi_signal_unusable(int number);

#endif
