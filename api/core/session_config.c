/* SPDX-License-Identifier: MIT */
/*
 * The config: making, copying and freeing one; its events, backend and target, each
 * checked before anything is kept.
 */
#include "api/core/session_config.h"

#include "api/common/diag.h"
#include "api/core/event.h"

#include <stdlib.h>
#include <string.h>

/* ---- making, copying, freeing ---- */

enum { NAME_ROOM = 2048 };

portprof_config *portprof_config_new(void)
{
	portprof_config *config = calloc(1, sizeof(*config));

	if (!config)
		return NULL;
	memcpy(config->backend, "auto", sizeof("auto"));
	config->number[PPI_KEY_FREQUENCY] = PPI_DEFAULT_HZ;
	config->number[PPI_KEY_UNWIND] = PORTPROF_UNWIND_AUTO;
	config->target = PPI_TARGET_PROCESS;
	return config;
}

static void drop_events(portprof_config *config, size_t from)
{
	while (config->event_count > from) {
		struct ppi_config_event *event =
			&config->events[--config->event_count];

		free(event->text);
		free(event->origin);
		free(event->requests);
	}
}

void portprof_config_free(portprof_config *config)
{
	if (!config)
		return;
	drop_events(config, 0);
	free(config->events);
	free(config->others);
	free(config->command);
	free(config->cpus);
	free(config->cgroup);
	free(config->file);
	ppi_areas_release(config->pool);
	for (size_t i = 0; i < config->sink_count; i++) {
		free(config->sinks[i].ranges);
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

static bool copy_event(struct ppi_config_event *to,
                       const struct ppi_config_event *from)
{
	size_t bytes = from->request_count * sizeof(*from->requests);

	to->requests = malloc(bytes);
	if (!to->requests)
		return false;
	memcpy(to->requests, from->requests, bytes);
	to->request_count = from->request_count;
	return copy_text(&to->text, from->text) &&
	       copy_text(&to->origin, from->origin);
}

static bool copy_events(portprof_config *to, const portprof_config *from)
{
	bool is_whole = true;

	if (from->event_count == 0)
		return true;
	to->events = calloc(from->event_count, sizeof(*to->events));
	if (!to->events)
		return false;
	while (is_whole && to->event_count < from->event_count) {
		size_t i = to->event_count++;

		is_whole = copy_event(&to->events[i], &from->events[i]);
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
	size_t bytes = from->range_count * sizeof(*from->ranges);

	*to = *from;
	to->ranges = bytes ? malloc(bytes) : NULL;
	to->path = from->path ? strdup(from->path) : NULL;
	if (to->ranges)
		memcpy(to->ranges, from->ranges, bytes);
	return (to->ranges || !from->ranges) && (to->path || !from->path);
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
	copy->events = NULL;
	copy->event_count = copy->sink_count = 0;
	copy->pool = ppi_areas_hold(config->pool);
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

/* ---- events ---- */

/* The config that events are added to, and the item of the list at `at` that
 * the next one belongs to. */
struct adding {
	portprof_config *config;
	const char *at;
	size_t left; /* events of the last item that are still to come */
	bool is_out_of_memory;
};

static bool begin_item(struct adding *adding)
{
	portprof_config *config = adding->config;
	size_t length = ppi_event_item(adding->at);
	struct ppi_config_event *events = realloc(
		config->events, (config->event_count + 1) * sizeof(*events));
	struct ppi_config_event *event;

	if (!events)
		return false;
	config->events = events;
	event = &events[config->event_count];
	memset(event, 0, sizeof(*event));
	event->text = strndup(adding->at, length);
	if (!event->text)
		return false;
	config->event_count++;
	adding->left = ppi_event_members(event->text);
	adding->at = ppi_event_next_item(adding->at + length);
	event->requests = calloc(adding->left, sizeof(*event->requests));
	return event->requests != NULL;
}

static void take_event(const struct ppi_event_request *request, void *context)
{
	struct adding *adding = context;
	struct ppi_config_event *event;

	if (adding->is_out_of_memory)
		return;
	if (adding->left == 0 && !begin_item(adding)) {
		adding->is_out_of_memory = true;
		return;
	}
	event = &adding->config->events[adding->config->event_count - 1];
	event->requests[event->request_count++] = *request;
	adding->left--;
}

portprof_status ppi_config_add_events(portprof_config *config,
                                      const char *events,
                                      struct ppi_diag *why)
{
	struct adding adding = { .config = config, .at = events };
	size_t before = config->event_count;
	portprof_status status = ppi_event_list_read(events, take_event,
	                                             &adding, why);

	if (status == PORTPROF_OK && adding.is_out_of_memory)
		status = ppi_fail(why, PORTPROF_E_NOMEM, 0, "add event",
		                  "out of memory");
	if (status)
		drop_events(config, before);
	else
		config->last_added = config->event_count - before;
	return status;
}

portprof_status portprof_config_add_event(portprof_config *config,
                                          const char *events)
{
	struct ppi_diag why;

	if (!config || !events)
		return ppi_refuse_null("portprof_config_add_event",
		                       config ? "events" : "config");
	return ppi_config_add_events(config, events, &why) ? ppi_report(&why)
	                                                   : PORTPROF_OK;
}

size_t portprof_config_event_count(const portprof_config *config)
{
	return config ? config->event_count : 0;
}

const char *portprof_config_event(const portprof_config *config, size_t index)
{
	if (!config || index >= config->event_count)
		return NULL;
	return config->events[index].text;
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
			                  "bit %u is not a capability", bit);
	config->required_caps |= caps;
	ppi_config_came_from(config, PPI_KEY_REQUIRE, NULL);
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
				  "%d is not a kind of target", (int)target);
	if (has_id ? id < 1 || id > INT32_MAX : id != 0)
		return ppi_refuse(PORTPROF_E_INVALID, "set target",
				  has_id ? "%lld is not the id of a thread or "
					   "process"
					 : "the id of this process or thread "
					   "is 0, not %lld",
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

/* One number at *text, which moves behind it; false when there is none. */
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
				  "'%.64s' is not a list of CPUs; write one as "
				  "0,2-3",
				  cpus);
	return set_system(config, cgroup, cpus);
}
