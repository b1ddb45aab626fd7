/* SPDX-License-Identifier: MIT */
/* Where each setting in force came from. */
#include "api/internal/config_key.h"

#include "api/internal/config.h"

#include <stdlib.h>
#include <string.h>

/* Events have one origin each; the last one is being set. */
static char **slot_of(portprof_config *config, enum ppi_key key)
{
	return key == PPI_KEY_EVENT ?
	               &config->event_origins[config->event_count - 1] :
	               &config->origins[key];
}

bool ppi_config_came_from(portprof_config *config, enum ppi_key key,
                          const char *place)
{
	char **slot = slot_of(config, key), *copy = NULL;

	if (place) {
		copy = strdup(place);
		if (!copy)
			return false;
	}
	free(*slot);
	*slot = copy;
	config->given |= 1u << key;
	return true;
}

void ppi_config_forget_origin(portprof_config *config, enum ppi_key key)
{
	ppi_config_came_from(config, key, NULL);
	config->given &= ~(1u << key);
}

const char *ppi_config_origin(const portprof_config *config, enum ppi_key key,
                              size_t index)
{
	const char *place;

	if (key == PPI_KEY_EVENT && index < config->event_count)
		place = config->event_origins[index];
	else if (key == PPI_KEY_EVENT || !(config->given & 1u << key))
		return "default";
	else
		place = config->origins[key];
	return place ? place : "the program";
}

const char *portprof_config_key(size_t index)
{
	return index < PPI_KEY_COUNT ? ppi_key_name((enum ppi_key)index)
	                             : NULL;
}

const char *portprof_config_origin(const portprof_config *config,
                                   const char *key, size_t index)
{
	enum ppi_key number = key ? ppi_key_find(key) : PPI_KEY_COUNT;

	if (!config || number == PPI_KEY_COUNT ||
	    (number == PPI_KEY_EVENT && index > 0 &&
	     index >= config->event_count))
		return NULL;
	return ppi_config_origin(config, number, index);
}

const char *portprof_config_file(const portprof_config *config)
{
	return config ? config->file : NULL;
}
