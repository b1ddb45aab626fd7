/* SPDX-License-Identifier: MIT */
/* Saves what portprof top has so far as a profile. */
#include "config.h"

#include "tools/view/names.h"
#include "tools/top/top_draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portprof/tool.h>

/* There may have been none, and writing says what is wrong there. */
static void keep_old(const char *path)
{
	size_t bytes = strlen(path) + sizeof(".old");
	char *old = malloc(bytes);

	if (old) {
		snprintf(old, bytes, "%s.old", path);
		rename(path, old);
	}
	free(old);
}

bool ppi_top_save(const char *from, const char *path,
                  struct ppi_held *held)
{
	portprof_profile *profile;
	portprof_output *place;
	bool is_written;

	if (portprof_output_open(path, &place))
		return false;
	if (portprof_profile_read(from, 0, &profile)) {
		portprof_output_close(place);
		return false;
	}
	if (portprof_output_path(place))
		keep_old(portprof_output_path(place));
	portprof_output_close(place);
	is_written = portprof_profile_write(profile, path) == PORTPROF_OK;
	portprof_profile_free(profile);
	/* it can be named later, too */
	if (is_written)
		ppi_names_write(path, held, false, NULL);
	return is_written;
}
