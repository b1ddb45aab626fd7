/* SPDX-License-Identifier: MIT */
/* Solaris and illumos: pcsample(2). */
#ifndef OS_PCSAMPLE_H
#define OS_PCSAMPLE_H

#include <stdint.h>

long pcsample(uintptr_t samples[], long count);

#endif
