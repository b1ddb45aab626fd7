/* SPDX-License-Identifier: MIT */
/* What a stranger compiles with nothing but the installed library. */

#include <stdio.h>
#include <string.h>

#include <portprof.h>

int main(void)
{
	puts(portprof_version());
	return strcmp(portprof_version(), PORTPROF_VERSION_STRING) != 0;
}
