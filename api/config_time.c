/* SPDX-License-Identifier: MIT */
/* When to measure: how long after a start, for how long, and how finely it is
 * kept when samples fell. */
#include "api/internal/config.h"
#include "api/internal/diag.h"

/* A hundred years: what is longer was not meant. */
#define MS_MAX UINT64_C(3155760000000)

static portprof_status set_time(portprof_config *config, enum ppi_key key,
                                uint64_t *place, uint64_t ms)
{
	if (ms > MS_MAX)
		return ppi_refuse(PORTPROF_E_INVALID, "set time",
		                  "a %s of %llu ms is out of range: up to %llu",
		                  ppi_key_name(key), (unsigned long long)ms,
		                  (unsigned long long)MS_MAX);
	*place = ms;
	ppi_config_came_from(config, key, NULL);
	return PORTPROF_OK;
}

portprof_status portprof_config_set_delay(portprof_config *config, uint64_t ms)
{
	if (!config)
		return ppi_refuse_null("portprof_config_set_delay", "config");
	return set_time(config, PPI_KEY_DELAY, &config->delay_ms, ms);
}

portprof_status portprof_config_set_duration(portprof_config *config,
                                             uint64_t ms)
{
	if (!config)
		return ppi_refuse_null("portprof_config_set_duration",
		                       "config");
	return set_time(config, PPI_KEY_DURATION, &config->duration_ms, ms);
}

portprof_status portprof_config_set_timeline(portprof_config *config,
                                             uint64_t ms)
{
	if (!config)
		return ppi_refuse_null("portprof_config_set_timeline",
		                       "config");
	return set_time(config, PPI_KEY_TIMELINE, &config->timeline_ms, ms);
}
