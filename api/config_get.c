/* SPDX-License-Identifier: MIT */
/* Settings as text: what portprof_config_set would have to be given. */
#include "api/internal/config.h"
#include "api/internal/config_fields.h"

#include "api/internal/cap.h"
#include "api/internal/diag.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The path of the index-th file that the session writes. */
static const char *output_of(const portprof_config *config, size_t index)
{
	for (size_t i = 0; i < config->sink_count; i++)
		if (config->sinks[i].ops == &ppi_sink_file && index-- == 0)
			return config->sinks[i].path;
	return NULL;
}

static const char *time_of(const portprof_config *config, const char *key,
                           char number[24])
{
	uint64_t ms = 0;

	if (strcmp(key, "delay") == 0)
		ms = config->delay_ms;
	else if (strcmp(key, "duration") == 0)
		ms = config->duration_ms;
	else if (strcmp(key, "timeline") == 0)
		ms = config->timeline_ms;
	snprintf(number, 24, "%" PRIu64 "ms", ms);
	return ms ? number : NULL;
}

/* The value, in `number` if it is one; NULL when it is not set. */
static const char *text_of(const portprof_config *config, const char *key,
                           size_t index, char number[24])
{
	uint64_t value;

	if (strcmp(key, "event") == 0)
		return portprof_config_event(config, index);
	if (strcmp(key, "output") == 0)
		return output_of(config, index);
	if (index > 0)
		return NULL;
	if (strcmp(key, "backend") == 0)
		return config->backend;
	if (strcmp(key, "precise") == 0)
		return config->is_most_precise ? "max" : NULL;
	if (strcmp(key, "children") == 0)
		return config->follow_children ? "yes" : "no";
	if (strcmp(key, "frequency") == 0)
		value = config->frequency_hz;
	else if (strcmp(key, "period") == 0)
		value = config->period;
	else if (strcmp(key, "callchain") == 0)
		value = config->chain_depth;
	else if (strcmp(key, "ring") == 0)
		value = config->ring_bytes;
	else
		return time_of(config, key, number);
	snprintf(number, 24, "%" PRIu64, value);
	return value ? number : NULL;
}

portprof_status portprof_config_get(const portprof_config *config,
                                    const char *key, size_t index,
                                    char *value, size_t value_bytes)
{
	char number[24], words[256];
	const char *text;
	size_t length;

	if (!config || !key || !value)
		return ppi_refuse_null("portprof_config_get",
		                       !config ? "config" :
		                       !key    ? "key" :
		                                 "value");
	text = text_of(config, key, index, number);
	if (strcmp(key, "require") == 0 && index == 0 &&
	    config->required_caps)
		text = ppi_cap_list(config->required_caps, words,
		                    sizeof(words));
	if (strcmp(key, "fields") == 0 && index == 0 && config->sample_fields)
		text = ppi_fields_list(config->sample_fields, words,
		                       sizeof(words));
	if (!text)
		return ppi_refuse(PORTPROF_E_NOTFOUND, "get setting",
		                  "'%s' number %zu is not set", key, index);
	length = strlen(text);
	if (length >= value_bytes)
		return ppi_refuse(PORTPROF_E_LIMIT, "get setting",
		                  "the value of '%s' has %zu bytes: make room "
		                  "for them and a zero", key, length);
	memcpy(value, text, length + 1);
	return PORTPROF_OK;
}
