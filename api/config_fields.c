/* SPDX-License-Identifier: MIT */
/* What samples tell besides, and how precisely they fall. */
#include "api/internal/config_fields.h"

#include "api/internal/config.h"
#include "api/internal/diag.h"

#include <portprof/record.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *name;
	uint32_t bit;
} fields[] = {
	{ "data-address", PORTPROF_FIELD_DATA_ADDRESS },
	{ "latency", PORTPROF_FIELD_LATENCY },
	{ "branches", PORTPROF_FIELD_BRANCHES },
	{ "group-values", PORTPROF_FIELD_GROUP_VALUES },
};

enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

portprof_status portprof_config_set_sample_fields(portprof_config *config,
                                                  uint32_t wanted)
{
	uint32_t known = 0;

	if (!config)
		return ppi_refuse_null("portprof_config_set_sample_fields",
		                       "config");
	for (size_t i = 0; i < FIELDS; i++)
		known |= fields[i].bit;
	if (wanted & ~known)
		return ppi_refuse(PORTPROF_E_INVALID, "set sample fields",
		                  "0x%x is no field that can be asked for: "
		                  "there are PORTPROF_FIELD_DATA_ADDRESS, "
		                  "_LATENCY, _BRANCHES and _GROUP_VALUES",
		                  (unsigned)(wanted & ~known));
	config->sample_fields = wanted;
	ppi_config_came_from(config, PPI_KEY_FIELDS, NULL);
	return PORTPROF_OK;
}

portprof_status portprof_config_set_most_precise(portprof_config *config,
                                                 int wanted)
{
	if (!config)
		return ppi_refuse_null("portprof_config_set_most_precise",
		                       "config");
	config->is_most_precise = wanted != 0;
	ppi_config_came_from(config, PPI_KEY_PRECISE, NULL);
	return PORTPROF_OK;
}

static uint32_t field_named(const char *word, size_t length,
                            struct ppi_nearest *nearest)
{
	for (size_t i = 0; i < FIELDS; i++) {
		if (strlen(fields[i].name) == length &&
		    strncasecmp(fields[i].name, word, length) == 0)
			return fields[i].bit;
		ppi_nearest_offer(nearest, fields[i].name);
	}
	return 0;
}

portprof_status ppi_fields_read(const char *text, uint32_t *wanted,
                                size_t *column, struct ppi_diag *why)
{
	const char *word = text + strspn(text, ", \t");

	*wanted = 0;
	if (strcasecmp(word, "none") == 0)
		return PORTPROF_OK;
	while (*word) {
		size_t length = strcspn(word, ", \t");
		struct ppi_nearest nearest;
		char name[96], hint[320];
		uint32_t bit;

		snprintf(name, sizeof(name), "%.*s", (int)length, word);
		ppi_nearest_begin(&nearest, name);
		bit = field_named(word, length, &nearest);
		*column = (size_t)(word - text) + 1;
		if (!bit)
			return ppi_fail(why, PORTPROF_E_INVALID, 0, "set",
			                "fields: '%s' is no field of samples: "
			                "there are data-address, latency, "
			                "branches and group-values%s", name,
			                ppi_nearest_say(&nearest, hint,
			                                sizeof(hint)));
		*wanted |= bit;
		word += length;
		word += strspn(word, ", \t");
	}
	if (*wanted)
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_INVALID, 0, "set",
	                "fields '%.200s' names no field; give none for none",
	                text);
}

const char *ppi_fields_list(uint32_t wanted, char *out, size_t bytes)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < FIELDS; i++)
		if (wanted & fields[i].bit && used < bytes)
			used += (size_t)snprintf(out + used, bytes - used,
			                         "%s%s", used ? ", " : "",
			                         fields[i].name);
	return out;
}
