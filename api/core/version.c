/* SPDX-License-Identifier: MIT */
/* The version of the library at run time. */

#include "portprof/version.h"

const char *portprof_version(void)
{
	return PORTPROF_VERSION_STRING;
}
