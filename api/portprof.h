/* SPDX-License-Identifier: MIT */
/* The one header that programs include; each concept has its own below it. */

#ifndef PORTPROF_H
#define PORTPROF_H

#include <portprof/export.h>
#include <portprof/version.h>

#endif /* PORTPROF_H */
