/* SPDX-License-Identifier: MIT */
/* --no-paths, --no-host, --no-source: what does not leave this machine. */
#include "config.h"

#include "tools/hide.h"

#include "tools/tools.h"

bool ppi_hide(const struct ppi_hidden *hidden, portprof_profile *profile)
{
	unsigned what = (hidden->paths ? PORTPROF_HIDE_PATHS : 0) |
	                (hidden->host ? PORTPROF_HIDE_HOST : 0) |
	                (hidden->source ? PORTPROF_HIDE_SOURCE : 0);

	if (portprof_profile_hide(profile, what) == PORTPROF_OK)
		return true;
	ppi_say_failure(NULL);
	return false;
}
