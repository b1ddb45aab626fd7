/* SPDX-License-Identifier: MIT */
/* A profile made of arrays, for tests of what reads profiles. */
#include "fake_profile.h"

#define GETTER(plural, one)                                                    \
	size_t portprof_profile_##one##_count(const portprof_profile *profile) \
	{                                                                      \
		return profile->one##_count;                                   \
	}                                                                      \
	const portprof_profile_##one *portprof_profile_##one##_get(            \
		const portprof_profile *profile, size_t index)                 \
	{                                                                      \
		return index < profile->one##_count ? &profile->plural[index]  \
		                                    : NULL;                    \
	}

GETTER(events, event)
GETTER(mappings, mapping)
GETTER(locations, location)
GETTER(samples, sample)
GETTER(threads, thread)

const portprof_profile_origin *
portprof_profile_origin_get(const portprof_profile *profile)
{
	return &profile->origin;
}

/* Locations of theirs say all themselves. */
size_t portprof_profile_line_count(const portprof_profile *profile,
                                   size_t location)
{
	(void)profile;
	(void)location;
	return 0;
}

const portprof_profile_line *
portprof_profile_line_get(const portprof_profile *profile, size_t location,
                          size_t index)
{
	(void)profile;
	(void)location;
	(void)index;
	return NULL;
}

/* Sample i fell in the i-th slice. */
uint64_t portprof_profile_sample_time(const portprof_profile *profile,
                                      size_t index)
{
	return profile->origin.start_ns + index * profile->origin.timeline_ns;
}

bool portprof_profile_label_get(const portprof_profile *profile,
                                const portprof_profile_sample *sample,
                                size_t index, portprof_profile_label *label)
{
	size_t number = (size_t)(sample - profile->samples);

	if (index > 0 || number >= profile->label_count)
		return false;
	*label = profile->labels[number];
	return true;
}
