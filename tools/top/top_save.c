/* SPDX-License-Identifier: MIT */
/* Saves what portprof top has so far as a profile. */
#include "config.h"

#include "tools/names/names.h"
#include "tools/top/top_draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ppi_top_save(const portprof_profile *profile, const char *path)
{
	size_t bytes = strlen(path) + sizeof(".old");
	char *old = malloc(bytes);

	if (!old)
		return false;
	snprintf(old, bytes, "%s.old", path);
	/* there may have been none, and writing says what is wrong there */
	rename(path, old);
	free(old);
	if (portprof_profile_write(profile, path))
		return false;
	/* it can be named later, too */
	ppi_names_write(path);
	return true;
}
