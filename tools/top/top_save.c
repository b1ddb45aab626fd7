/* SPDX-License-Identifier: MIT */
/* Saves what portprof top has so far as a profile. */
#include "config.h"

#include "tools/names/names.h"
#include "tools/top/top_draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ppi_top_save(const char *from, const char *path,
                  struct ppi_held *held)
{
	size_t bytes = strlen(path) + sizeof(".old");
	char *old = malloc(bytes);
	portprof_profile *profile;
	bool is_written;

	if (!old || portprof_profile_read(from, 0, &profile)) {
		free(old);
		return false;
	}
	snprintf(old, bytes, "%s.old", path);
	/* there may have been none, and writing says what is wrong there */
	rename(path, old);
	free(old);
	is_written = portprof_profile_write(profile, path) == PORTPROF_OK;
	portprof_profile_free(profile);
	/* it can be named later, too */
	if (is_written)
		ppi_names_write(path, held);
	return is_written;
}
