/* SPDX-License-Identifier: MIT */
/* How a file gets the names that it lacks: commands that can be typed. */
#ifndef PPI_REMEDY_H
#define PPI_REMEDY_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>

/* Whether a distribution installed a file, and so has stripped it. */
bool ppi_is_packaged(const char *path);

/*
 * The command that brings the debug symbols of a distribution's file to the
 * system below `root` ("" is this one): its package manager's where that can
 * have them, else `verb`, a command line of portprof's, with the server for
 * debuginfod. `path`: the file; NULL: it is another machine's.
 * `has_client`: elfutils' library is here. Returns `out`.
 */
const char *ppi_debug_remedy(const char *root, const char *path,
                             const char *verb, bool has_client, char *out,
                             size_t bytes);

/* What gives a module, as the profile's files are called, the names (or lines)
 * that it lacks. `file`: where the profile was read. True: it is a command,
 * which can be copied as it is. */
bool ppi_names_remedy(const portprof_profile *profile, const char *file,
                      const char *module, bool of_lines, char *out,
                      size_t bytes);

#endif
