/* SPDX-License-Identifier: MIT */
/* The name of each capability bit of a backend, and lists of them as text. */
#include "api/core/cap.h"

#include <stdio.h>
#include <string.h>

#include <portprof/backend.h>

static const char *const names[] = {
	"sample", "count", "group", "events", "hardware", "exact-pc",
	"whole-space", "kernel", "chain", "pid-tid", "time", "cpu",
	"process", "thread", "attach", "children", "fair", "lost-exact",
	"exclusive", "modules", "system", "exec-safe", "command",
	"unwind", "package",
};

enum { NAME_COUNT = sizeof(names) / sizeof(names[0]) };

const char *portprof_cap_name(uint64_t cap)
{
	for (unsigned i = 0; i < NAME_COUNT; i++)
		if (cap == (uint64_t)1 << i)
			return names[i];
	return NULL;
}

const char *ppi_cap_list(uint64_t caps, char *out, size_t bytes)
{
	size_t used = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < NAME_COUNT && used < bytes; i++) {
		if (!(caps & (uint64_t)1 << i))
			continue;
		used += (size_t)snprintf(out + used, bytes - used, "%s%s",
		                         used ? ", " : "", names[i]);
	}
	return out;
}
