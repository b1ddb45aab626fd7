/* SPDX-License-Identifier: MIT */
/* Names of ratios that need two events: IPC, miss-rate. */
#include "config.h"

#include "tools/presets.h"

#include <string.h>
#include <strings.h>

static const struct ppi_preset presets[] = {
	{ "IPC", "instructions", "cycles", 1, "instructions per cycle" },
	{ "CPI", "cycles", "instructions", 1, "cycles per instruction" },
	{ "miss-rate", "cache-misses", "cache-references", 100,
	  "% of cache-references" },
	{ "branch-miss-rate", "branch-misses", "branches", 100,
	  "% of branches" },
};

const struct ppi_preset *ppi_preset_at(size_t index)
{
	return index < sizeof(presets) / sizeof(presets[0]) ? &presets[index]
	                                                    : NULL;
}

const struct ppi_preset *ppi_preset_find(const char *text,
                                         const char **modifiers)
{
	size_t length = strcspn(text, ":.@");
	const struct ppi_preset *preset;

	for (size_t i = 0; (preset = ppi_preset_at(i)); i++)
		if (strlen(preset->name) == length &&
		    strncasecmp(preset->name, text, length) == 0 &&
		    strncmp(text + length, "::", 2) != 0) {
			*modifiers = text + length;
			return preset;
		}
	return NULL;
}
