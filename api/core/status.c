/* SPDX-License-Identifier: MIT */
/* Names and texts of the status codes, from the one list. */
#include <portprof/status.h>

struct entry {
	portprof_status status;
	const char *name;
	const char *text;
};

#define PORTPROF_STATUS(name, number, text) \
	{ PORTPROF_##name, "PORTPROF_" #name, text },
static const struct entry entries[] = {
#include "status.def"
};
#undef PORTPROF_STATUS

/* The header spells the numbers out for its readers; hold both together. */
#define PORTPROF_STATUS(name, number, text) \
	_Static_assert(PORTPROF_##name == (number), "status.h and status.def");
#include "status.def"
#undef PORTPROF_STATUS

static const struct entry *find(portprof_status status)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (entries[i].status == status)
			return &entries[i];
	return NULL;
}

const char *portprof_status_name(portprof_status status)
{
	const struct entry *entry = find(status);

	return entry ? entry->name : "PORTPROF_E_?";
}

const char *portprof_status_text(portprof_status status)
{
	const struct entry *entry = find(status);

	return entry ? entry->text : "unknown status";
}
