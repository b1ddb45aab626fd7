/* SPDX-License-Identifier: MIT */
/* The option object: making, copying and freeing one, and its setters. */
#include "api/internal/config.h"

#include "api/internal/diag.h"
#include "api/internal/event.h"

#include <stdlib.h>
#include <string.h>

enum { HZ_MAX = 1000000, CHAIN_DEPTH_MAX = 1024 };

portprof_config *portprof_config_new(void)
{
	portprof_config *config = calloc(1, sizeof(*config));

	if (!config)
		return NULL;
	memcpy(config->backend, "auto", sizeof("auto"));
	config->frequency_hz = PPI_DEFAULT_HZ;
	config->target = PPI_TARGET_PROCESS;
	return config;
}

void portprof_config_free(portprof_config *config)
{
	if (!config)
		return;
	for (size_t i = 0; i < config->event_count; i++) {
		free(config->events[i]);
		free(config->event_origins[i]);
	}
	free(config->events);
	free(config->event_origins);
	free(config->cpus);
	free(config->cgroup);
	free(config->file);
	for (size_t i = 0; i < config->sink_count; i++) {
		free(config->sinks[i].regions);
		free(config->sinks[i].path);
	}
	for (enum ppi_key key = 0; key < PPI_KEY_COUNT; key++)
		free(config->origins[key]);
	free(config);
}

/* Of NULL it is NULL. */
static bool copy_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return *to || !from;
}

static bool copy_events(portprof_config *to, const portprof_config *from)
{
	bool is_whole = true;

	if (from->event_count == 0)
		return true;
	to->events = calloc(from->event_count, sizeof(*to->events));
	to->event_origins = calloc(from->event_count,
	                           sizeof(*to->event_origins));
	if (!to->events || !to->event_origins)
		return false;
	while (is_whole && to->event_count < from->event_count) {
		size_t i = to->event_count++;

		is_whole = copy_text(&to->events[i], from->events[i]) &&
		           copy_text(&to->event_origins[i],
		                     from->event_origins[i]);
	}
	return is_whole;
}

static bool copy_origins(portprof_config *to, const portprof_config *from)
{
	bool is_whole = true;

	for (enum ppi_key key = 0; key < PPI_KEY_COUNT; key++)
		is_whole &= copy_text(&to->origins[key], from->origins[key]);
	return is_whole;
}

static bool copy_sink(struct ppi_sink_request *to,
                      const struct ppi_sink_request *from)
{
	size_t bytes = from->region_count * sizeof(*from->regions);

	*to = *from;
	to->regions = bytes ? malloc(bytes) : NULL;
	to->path = from->path ? strdup(from->path) : NULL;
	if (to->regions)
		memcpy(to->regions, from->regions, bytes);
	return (to->regions || !from->regions) && (to->path || !from->path);
}

portprof_config *ppi_config_copy(const portprof_config *config)
{
	portprof_config *copy = malloc(sizeof(*copy));
	bool is_whole;

	if (!copy)
		return NULL;
	*copy = *config;
	copy->events = copy->event_origins = NULL;
	copy->event_count = copy->sink_count = 0;
	is_whole = copy_origins(copy, config);
	is_whole &= copy_text(&copy->file, config->file);
	is_whole &= copy_text(&copy->cpus, config->cpus);
	is_whole &= copy_text(&copy->cgroup, config->cgroup);
	is_whole &= copy_events(copy, config);
	while (is_whole && copy->sink_count < config->sink_count) {
		size_t i = copy->sink_count++;

		is_whole = copy_sink(&copy->sinks[i], &config->sinks[i]);
	}
	if (is_whole)
		return copy;
	portprof_config_free(copy);
	return NULL;
}

/* Room for one more event, and for where it came from. */
static bool grow_events(portprof_config *config)
{
	size_t bytes = (config->event_count + 1) * sizeof(char *);
	char **events = realloc(config->events, bytes), **origins;

	if (!events)
		return false;
	config->events = events;
	origins = realloc(config->event_origins, bytes);
	if (!origins)
		return false;
	config->event_origins = origins;
	return true;
}

portprof_status portprof_config_add_event(portprof_config *config,
                                          const char *event_string)
{
	struct ppi_diag why = { 0 };
	char *copy;

	if (!config || !event_string)
		return ppi_refuse_null("portprof_config_add_event",
		                       config ? "event_string" : "config");
	if (ppi_event_check(event_string, &why))
		return ppi_report(&why);
	copy = strdup(event_string);
	if (!copy || !grow_events(config)) {
		free(copy);
		return ppi_refuse(PORTPROF_E_NOMEM, "add event",
		                  "out of memory");
	}
	config->event_origins[config->event_count] = NULL;
	config->events[config->event_count++] = copy;
	return PORTPROF_OK;
}

size_t portprof_config_event_count(const portprof_config *config)
{
	return config ? config->event_count : 0;
}

const char *portprof_config_event(const portprof_config *config, size_t index)
{
	if (!config || index >= config->event_count)
		return NULL;
	return config->events[index];
}

portprof_status portprof_config_set_backend(portprof_config *config,
                                            const char *name)
{
	size_t length;

	if (!config || !name)
		return ppi_refuse_null("portprof_config_set_backend",
		                       config ? "name" : "config");
	length = strlen(name);
	if (length == 0 || length >= sizeof(config->backend))
		return ppi_refuse(PORTPROF_E_INVALID, "set backend",
		                  "'%.64s' is not a backend's name: use auto or "
		                  "one that 'portprof list' shows", name);
	memcpy(config->backend, name, length + 1);
	ppi_config_came_from(config, PPI_KEY_BACKEND, NULL);
	return PORTPROF_OK;
}

portprof_status portprof_config_require(portprof_config *config, uint64_t caps)
{
	if (!config)
		return ppi_refuse_null("portprof_config_require", "config");
	for (unsigned bit = 0; bit < 64; bit++)
		if (caps >> bit & 1 && !portprof_cap_name((uint64_t)1 << bit))
			return ppi_refuse(PORTPROF_E_INVALID, "require",
			                  "bit %u is no capability", bit);
	config->required_caps |= caps;
	ppi_config_came_from(config, PPI_KEY_REQUIRE, NULL);
	return PORTPROF_OK;
}

portprof_status portprof_config_set_frequency(portprof_config *config,
                                              uint64_t hz)
{
	if (!config)
		return ppi_refuse_null("portprof_config_set_frequency",
		                       "config");
	if (hz < 1 || hz > HZ_MAX)
		return ppi_refuse(PORTPROF_E_INVALID, "set frequency",
		                  "a frequency of %llu Hz is out of range: "
		                  "1 to %d", (unsigned long long)hz, HZ_MAX);
	config->frequency_hz = hz;
	config->period = 0;
	ppi_config_came_from(config, PPI_KEY_FREQUENCY, NULL);
	ppi_config_forget_origin(config, PPI_KEY_PERIOD);
	return PORTPROF_OK;
}

portprof_status portprof_config_set_period(portprof_config *config,
                                           uint64_t period)
{
	if (!config)
		return ppi_refuse_null("portprof_config_set_period", "config");
	if (period < 1 || period > INT64_MAX)
		return ppi_refuse(PORTPROF_E_INVALID, "set period",
		                  "a period of %llu is out of range: 1 to %lld",
		                  (unsigned long long)period,
		                  (long long)INT64_MAX);
	config->period = period;
	config->frequency_hz = 0;
	ppi_config_came_from(config, PPI_KEY_PERIOD, NULL);
	ppi_config_forget_origin(config, PPI_KEY_FREQUENCY);
	return PORTPROF_OK;
}

static portprof_status set_target(portprof_config *config,
                                  enum ppi_target_kind kind, int64_t id,
                                  const char *call)
{
	if (!config)
		return ppi_refuse_null(call, "config");
	if (kind != PPI_TARGET_PROCESS && (id < 1 || id > INT32_MAX))
		return ppi_refuse(PORTPROF_E_INVALID, call,
		                  "%lld is not the id of a thread or process",
		                  (long long)id);
	config->target = kind;
	config->target_id = id;
	config->target_is_caller = false;
	return PORTPROF_OK;
}

portprof_status portprof_config_target_process(portprof_config *config)
{
	return set_target(config, PPI_TARGET_PROCESS, 0, "target process");
}

portprof_status portprof_config_target_thread(portprof_config *config)
{
	/* which one it is shows when the session is opened */
	portprof_status status = set_target(config, PPI_TARGET_TID, 1,
	                                    "target thread");

	if (status == PORTPROF_OK)
		config->target_is_caller = true;
	return status;
}

portprof_status portprof_config_target_tid(portprof_config *config,
                                           int64_t tid)
{
	return set_target(config, PPI_TARGET_TID, tid, "target tid");
}

portprof_status portprof_config_target_pid(portprof_config *config,
                                           int64_t pid)
{
	return set_target(config, PPI_TARGET_PID, pid, "target pid");
}

portprof_status portprof_config_target_command(portprof_config *config,
                                               int64_t pid)
{
	return set_target(config, PPI_TARGET_COMMAND, pid, "target command");
}

portprof_status portprof_config_set_children(portprof_config *config,
                                             int follow)
{
	if (!config)
		return ppi_refuse_null("portprof_config_set_children",
		                       "config");
	config->follow_children = follow != 0;
	ppi_config_came_from(config, PPI_KEY_CHILDREN, NULL);
	return PORTPROF_OK;
}

portprof_status portprof_config_set_chain_depth(portprof_config *config,
                                                unsigned depth)
{
	if (!config)
		return ppi_refuse_null("portprof_config_set_chain_depth",
		                       "config");
	if (depth > CHAIN_DEPTH_MAX)
		return ppi_refuse(PORTPROF_E_INVALID, "set chain depth",
		                  "a depth of %u is out of range: 0 to %d",
		                  depth, CHAIN_DEPTH_MAX);
	config->chain_depth = depth;
	ppi_config_came_from(config, PPI_KEY_CALLCHAIN, NULL);
	return PORTPROF_OK;
}

portprof_status portprof_config_set_ring_bytes(portprof_config *config,
                                               size_t bytes)
{
	if (!config)
		return ppi_refuse_null("portprof_config_set_ring_bytes",
		                       "config");
	if (bytes > (size_t)1 << 30)
		return ppi_refuse(PORTPROF_E_INVALID, "set ring",
		                  "a ring of %zu bytes is out of range: up to "
		                  "1 GiB", bytes);
	config->ring_bytes = bytes;
	ppi_config_came_from(config, PPI_KEY_RING, NULL);
	return PORTPROF_OK;
}

portprof_status portprof_config_set_partial(portprof_config *config,
                                            int allow)
{
	if (!config)
		return ppi_refuse_null("portprof_config_set_partial",
		                       "config");
	config->allow_refused = allow != 0;
	return PORTPROF_OK;
}
