/* SPDX-License-Identifier: MIT */
/* Adds events, and with them sample types, to a profile that is made from
 * another format. */
#include "api/profile/model.h"

#include <stdio.h>

bool ppi_profile_add_event(portprof_profile *profile, const char *name,
                           const char *description, portprof_unit unit,
                           bool is_cpu_time)
{
	struct ppi_profile_event event = {
		.shown.name = ppi_profile_keep(profile, name),
		.shown.asked = "",
		.shown.description = ppi_profile_keep(profile, description),
		.shown.unit = unit,
		.is_cpu_time = is_cpu_time,
	};

	return event.shown.name && event.shown.description &&
	       ppi_vector_add(&profile->events, sizeof(event), &event, 1);
}

static bool add_type(portprof_profile *profile, const char *before,
                     size_t number, bool is_samples)
{
	const portprof_profile_event *event =
		portprof_profile_event_get(profile, number);
	const char *unit =
		!is_samples && event->unit == PORTPROF_UNIT_NANOSECONDS
			? "nanoseconds" : "count";
	const char *name = is_samples && number == 0 ? "" : event->name;
	size_t bytes = strlen(before) + strlen(name) + 1;
	char *text = malloc(bytes);
	struct ppi_type type = { .event = (uint32_t)number,
		                 .is_samples = is_samples };

	if (!text)
		return false;
	snprintf(text, bytes, "%s%s", before, name);
	type.type = ppi_profile_text(profile, text, strlen(text));
	type.unit = ppi_profile_text(profile, unit, strlen(unit));
	free(text);
	return type.type != PPI_NONE && type.unit != PPI_NONE &&
	       ppi_vector_add(&profile->types, sizeof(type), &type, 1);
}

bool ppi_profile_add_types(portprof_profile *profile)
{
	size_t count = profile->events.count;
	const char *first = portprof_profile_event_get(profile, 0)->name;

	profile->default_type = ppi_profile_text(profile, first, strlen(first));
	if (profile->default_type == PPI_NONE)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!add_type(profile, i ? "samples:" : "samples", i, true))
			return false;
	for (size_t i = count; i-- > 0;)
		if (!add_type(profile, "", i, false))
			return false;
	return true;
}
