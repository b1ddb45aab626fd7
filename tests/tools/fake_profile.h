/* SPDX-License-Identifier: MIT */
/* A profile made of arrays, for tests of what reads profiles. */
#ifndef FAKE_PROFILE_H
#define FAKE_PROFILE_H

#include <portprof.h>
#include <portprof/tool.h>

struct portprof_profile {
	portprof_profile_origin origin;
	const portprof_profile_event *events;
	size_t event_count;
	const portprof_profile_mapping *mappings;
	size_t mapping_count;
	const portprof_profile_location *locations;
	size_t location_count;
	const portprof_profile_sample *samples;
	size_t sample_count;
	const portprof_profile_thread *threads;
	size_t thread_count;
	const portprof_profile_label *labels; /* NULL, or one each of the first
	                                       * samples, */
	size_t label_count;                   /* so many */
};

#endif
