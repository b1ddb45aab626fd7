/* SPDX-License-Identifier: MIT */
/* --no-paths, --no-host, --no-source: what does not leave this machine. */
#ifndef PPI_HIDE_H
#define PPI_HIDE_H

#include "tools/options.h"

#include <stdbool.h>

#include <portprof/tool.h>

struct ppi_hidden {
	bool paths, host, source;
};

/* The rows of a verb's table; `at` is where its struct ppi_hidden is. */
#define PPI_HIDE_OPTIONS(at) \
	{ .name = "no-paths", .help = "leave directories out of what is written", \
	  .take = ppi_take_flag, \
	  .place = (at) + offsetof(struct ppi_hidden, paths) }, \
	{ .name = "no-host", .help = "leave the host's name out", \
	  .take = ppi_take_flag, \
	  .place = (at) + offsetof(struct ppi_hidden, host) }, \
	{ .name = "no-source", .help = "leave source files and lines out", \
	  .take = ppi_take_flag, \
	  .place = (at) + offsetof(struct ppi_hidden, source) }

static inline bool ppi_hides(const struct ppi_hidden *hidden)
{
	return hidden->paths || hidden->host || hidden->source;
}

/* Take it out, after names were given: false with words. */
bool ppi_hide(const struct ppi_hidden *hidden, portprof_profile *profile);

#endif
