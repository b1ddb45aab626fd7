/* SPDX-License-Identifier: MIT */
/* The config: making, copying and freeing one; its events, backend and target.
 */
#include "api/internal/config.h"

#include "api/internal/diag.h"
#include "api/internal/event.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 2048 };

portprof_config *portprof_config_new(void)
{
	portprof_config *config = calloc(1, sizeof(*config));

	if (!config)
		return NULL;
	memcpy(config->backend, "auto", sizeof("auto"));
	config->number[PPI_KEY_FREQUENCY] = PPI_DEFAULT_HZ;
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
	free(config->others);
	free(config->command);
	free(config->cpus);
	free(config->cgroup);
	free(config->file);
	ppi_pool_release(config->pool);
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

static bool copy_others(portprof_config *to, const portprof_config *from)
{
	size_t bytes = from->other_count * sizeof(*from->others);

	to->others = bytes ? malloc(bytes) : NULL;
	if (to->others)
		memcpy(to->others, from->others, bytes);
	return to->others || !bytes;
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
	copy->pool = ppi_pool_hold(config->pool);
	is_whole = copy_origins(copy, config);
	is_whole &= copy_text(&copy->file, config->file);
	is_whole &= copy_others(copy, config);
	is_whole &= copy_text(&copy->command, config->command);
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

/* One event, or one group in braces. */
static bool add_item(portprof_config *config, const char *text, size_t length)
{
	char *copy = strndup(text, length);

	if (!copy || !grow_events(config)) {
		free(copy);
		return false;
	}
	config->event_origins[config->event_count] = NULL;
	config->events[config->event_count++] = copy;
	return true;
}

portprof_status portprof_config_add_event(portprof_config *config,
                                          const char *events)
{
	struct ppi_diag why = { 0 };
	const char *at = events;
	size_t before;

	if (!config || !events)
		return ppi_refuse_null("portprof_config_add_event",
		                       config ? "events" : "config");
	if (ppi_event_list_check(events, NULL, &why))
		return ppi_report(&why);
	before = config->event_count;
	while (*at) {
		size_t length = ppi_event_item(at);

		if (!add_item(config, at, length)) {
			while (config->event_count > before)
				free(config->events[--config->event_count]);
			return ppi_refuse(PORTPROF_E_NOMEM, "add event",
			                  "out of memory");
		}
		at += length;
		at += *at == ',';
	}
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

portprof_status portprof_config_set_partial(portprof_config *config, int allow)
{
	if (!config)
		return ppi_refuse_null("portprof_config_set_partial", "config");
	config->allow_refused = allow != 0;
	return PORTPROF_OK;
}

/* ---- the target ---- */

static const enum ppi_target_kind kinds[] = {
	[PORTPROF_TARGET_PROCESS] = PPI_TARGET_PROCESS,
	[PORTPROF_TARGET_THREAD] = PPI_TARGET_TID,
	[PORTPROF_TARGET_TID] = PPI_TARGET_TID,
	[PORTPROF_TARGET_PID] = PPI_TARGET_PID,
	[PORTPROF_TARGET_COMMAND] = PPI_TARGET_COMMAND,
	[PORTPROF_TARGET_ALSO_PID] = PPI_TARGET_PID,
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static portprof_status add_process(portprof_config *config, int64_t pid)
{
	size_t bytes = (config->other_count + 1) * sizeof(*config->others);
	int64_t *others;

	if (config->target != PPI_TARGET_PID)
		return ppi_refuse(PORTPROF_E_INVALID, "set target",
				  "PORTPROF_TARGET_ALSO_PID adds a process to "
				  "PORTPROF_TARGET_PID, which is not the target");
	others = realloc(config->others, bytes);
	if (!others)
		return ppi_refuse(PORTPROF_E_NOMEM, "set target",
				  "out of memory");
	config->others = others;
	config->others[config->other_count++] = pid;
	return PORTPROF_OK;
}

portprof_status portprof_config_set_target(portprof_config *config,
					   portprof_target target, int64_t id)
{
	bool has_id = target != PORTPROF_TARGET_PROCESS &&
		      target != PORTPROF_TARGET_THREAD;

	if (!config)
		return ppi_refuse_null("portprof_config_set_target", "config");
	if ((unsigned)target >= KINDS)
		return ppi_refuse(PORTPROF_E_INVALID, "set target",
				  "%d is no kind of target", (int)target);
	if (has_id ? id < 1 || id > INT32_MAX : id != 0)
		return ppi_refuse(PORTPROF_E_INVALID, "set target",
				  has_id ? "%lld is not the id of a thread or "
					   "process"
					 : "this process and thread have no "
					   "id to give: not %lld, but 0",
				  (long long)id);
	if (target == PORTPROF_TARGET_ALSO_PID)
		return add_process(config, id);
	config->other_count = 0;
	config->target = kinds[target];
	config->target_id = id;
	/* which thread it is shows when the session is opened */
	config->target_is_caller = target == PORTPROF_TARGET_THREAD;
	return PORTPROF_OK;
}

/* One number at *text, which goes on behind it; false when there is none. */
static bool read_number(const char **text, unsigned *number)
{
	size_t digits = strspn(*text, "0123456789");

	if (digits == 0 || digits > 6)
		return false;
	*number = (unsigned)strtoul(*text, NULL, 10);
	*text += digits;
	return true;
}

/* "0", "0-3", "0,2-3": as the kernel writes them. */
static bool is_list(const char *text)
{
	unsigned first, last;

	for (;;) {
		if (!read_number(&text, &first))
			return false;
		last = first;
		if (*text == '-') {
			text++;
			if (!read_number(&text, &last) || last < first)
				return false;
		}
		if (*text == '\0')
			return true;
		if (*text++ != ',')
			return false;
	}
}

static portprof_status set_system(portprof_config *config, const char *cgroup,
				  const char *cpus)
{
	char *list = cpus ? strdup(cpus) : NULL;
	char *name = cgroup ? strdup(cgroup) : NULL;

	if ((cpus && !list) || (cgroup && !name)) {
		free(list);
		free(name);
		return ppi_refuse(PORTPROF_E_NOMEM, "set target",
				  "out of memory");
	}
	free(config->cpus);
	free(config->cgroup);
	config->cpus = list;
	config->cgroup = name;
	config->target = PPI_TARGET_SYSTEM;
	config->target_id = 0;
	config->target_is_caller = false;
	return PORTPROF_OK;
}

portprof_status portprof_config_set_target_system(portprof_config *config,
						  const char *cgroup,
						  const char *cpus)
{
	if (!config)
		return ppi_refuse_null("portprof_config_set_target_system",
				       "config");
	if (cgroup && (!cgroup[0] || strlen(cgroup) >= NAME_ROOM))
		return ppi_refuse(PORTPROF_E_INVALID, "set target",
				  "a cgroup's name has 1 to %d characters",
				  NAME_ROOM - 1);
	if (cgroup && strstr(cgroup, ".."))
		return ppi_refuse(PORTPROF_E_INVALID, "set target",
				  "'%.64s': a cgroup's name goes down from the "
				  "root of its hierarchy; leave '..' out",
				  cgroup);
	if (cpus && !is_list(cpus))
		return ppi_refuse(PORTPROF_E_INVALID, "set target",
				  "'%.64s' is no list of CPUs; write one as "
				  "0,2-3",
				  cpus);
	return set_system(config, cgroup, cpus);
}
