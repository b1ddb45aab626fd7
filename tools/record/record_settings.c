/* SPDX-License-Identifier: MIT */
/*
 * The effective settings of a recording: those of the configuration file, and
 * over them those of the command line. They are kept as text, because the
 * same text goes to the library here and, through the environment, to the
 * preloaded object in another process.
 */
#include "config.h"

#include "tools/record/record.h"

#include "base/clock_ns.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <portprof/tool.h>

enum { VALUE_BYTES = 4096 };

/* ---- reading ---- */

static bool add_text(struct ppi_settings *settings, const char *key,
                     const char *value)
{
	struct ppi_setting *grown =
		realloc(settings->list, (settings->count + 1) * sizeof(*grown));
	struct ppi_setting *setting;

	if (!grown)
		return false;
	settings->list = grown;
	setting = &grown[settings->count];
	setting->key = strdup(key);
	setting->value = strdup(value);
	settings->count++;
	return setting->key && setting->value;
}

/* What the file says of one key: all values of a list. */
static bool copy_from_file(const portprof_config *file, const char *key,
                           struct ppi_settings *settings)
{
	char value[VALUE_BYTES];

	for (size_t i = 0; portprof_config_get(file, key, i, value,
	                                       sizeof(value)) == PORTPROF_OK;
	     i++)
		if (!add_text(settings, key, value))
			return false;
	return true;
}

/* The command line's value if there is one, else the file's. */
static bool take(const portprof_config *file, const char *key,
                 const char *given, struct ppi_settings *settings)
{
	return given ? add_text(settings, key, given)
	             : copy_from_file(file, key, settings);
}

static bool has_events(const struct ppi_settings *settings)
{
	return settings->count > 0;
}

/* Who wakes whom, each time: asked for a rate, the kernel leaves out nine of ten where
 * they come in bursts, however rare they are. */
#define WAKINGS PPI_WAKERS_EVENT ":period=1:field=pid:field=common_flags"

/* They come first. Waits are beside what else is asked for: CPU time, if it is
 * nothing. */
static bool take_events(const portprof_config *file,
                        const struct ppi_record_options *options,
                        struct ppi_settings *settings)
{
	bool is_wall = options->waits && strcmp(options->waits, "wall") == 0;

	for (size_t i = 0; i < options->events.count; i++)
		if (!add_text(settings, "event", options->events.list[i]))
			return false;
	if (!options->events.count && (!options->waits || is_wall) &&
	    !copy_from_file(file, "event", settings))
		return false;
	if (!options->waits)
		return true;
	if (is_wall && !has_events(settings) &&
	    !add_text(settings, "event", "task-clock"))
		return false;
	if (options->wakers && !add_text(settings, "event", WAKINGS))
		return false;
	return add_text(settings, "event", "ready-time") &&
	       add_text(settings, "event", "blocked-time");
}

/*
 * Most commands end within seconds: at 101 Hz a run of one second has shares to
 * 6 %, at 499 to 3 %. A sample of perf costs 14 us in a virtual machine and 2
 * outside, so that is 0.7 % at most; a timer's signal costs more, and the
 * kernel's tick bounds its rate. So it is of a process that is measured for some
 * seconds; sessions that go on keep the usual rate.
 */
#define COMMAND_HZ "499"

static bool is_default(const portprof_config *file, const char *key)
{
	return strcmp(portprof_config_origin(file, key, 0), "default") == 0;
}

/* The time that a config has, in milliseconds. */
static uint64_t time_of(const portprof_config *config, const char *key)
{
	char value[32];

	if (portprof_config_get(config, key, 0, value, sizeof(value)))
		return 0;
	return strtoull(value, NULL, 10);
}

/* At most ten, by the command line or by the file. */
static bool is_for_seconds(const portprof_config *file,
                           const struct ppi_record_options *options)
{
	portprof_config *line = portprof_config_new();
	uint64_t ms = time_of(file, "duration");

	if (line && options->duration.text) {
		portprof_config_set(line, "duration", options->duration.text);
		ms = time_of(line, "duration");
	}
	portprof_config_free(line);
	return ms > 0 && ms <= 10000;
}

static bool is_short_lived(const portprof_config *file,
                           const struct ppi_record_options *options)
{
	enum ppi_scope scope = options->targets.scope;
	portprof_backend_info perf;

	return (scope == PPI_SCOPE_COMMAND ||
	        (scope != PPI_SCOPE_SYSTEM && is_for_seconds(file, options))) &&
	       !options->events.count && !options->backend &&
	       is_default(file, "event") && is_default(file, "backend") &&
	       ppi_backend_find_info("perf", &perf) && perf.is_usable;
}

/* A rate and a period replace each other: what is given wins over both of
 * the file's. */
static bool take_rate(const portprof_config *file,
                      const struct ppi_record_options *options,
                      struct ppi_settings *settings)
{
	if (options->frequency)
		return add_text(settings, "frequency", options->frequency);
	if (options->period)
		return add_text(settings, "period", options->period);
	/* the usual rate must not look like one that was asked for */
	if (is_default(file, "frequency")) {
		if (is_default(file, "period") &&
		    is_short_lived(file, options))
			return add_text(settings, "frequency", COMMAND_HZ);
		return copy_from_file(file, "period", settings);
	}
	return copy_from_file(file, "frequency", settings) &&
	       copy_from_file(file, "period", settings);
}

static bool take_output(const portprof_config *file,
                        const struct ppi_record_options *options,
                        struct ppi_settings *settings)
{
	char value[VALUE_BYTES] = PPI_DEFAULT_OUTPUT;

	if (options->output)
		settings->output = strdup(options->output);
	else if (portprof_config_get(file, "output", 0, value, sizeof(value)))
		settings->output = strdup(PPI_DEFAULT_OUTPUT);
	else
		settings->output = strdup(value);
	return settings->output != NULL;
}

/* The fields that are kept are those that the command line names, or the file. */
static bool keeps_branches(const portprof_config *file,
                           const struct ppi_record_options *options)
{
	char value[VALUE_BYTES];

	if (options->labels)
		return strstr(options->labels, "branches") != NULL;
	return portprof_config_get(file, "labels", 0, value, sizeof(value)) ==
	               PORTPROF_OK &&
	       strstr(value, "branches") != NULL;
}

/* Which branches matters to a file that keeps them. */
static bool take_branches(const portprof_config *file,
                          const struct ppi_record_options *options,
                          struct ppi_settings *settings)
{
	return !keeps_branches(file, options) ||
	       take(file, "branches", NULL, settings);
}

/* What the command line says instead of the file; NULL: nothing. */
static const char *given_for(const char *key,
                             const struct ppi_record_options *options)
{
	const struct { const char *key, *value; } given[] = {
		{ "backend", options->backend },
		{ "callchain", options->chains },
		{ "children", options->children },
		{ "delay", options->delay.text },
		{ "duration", options->duration.text },
		{ "labels", options->labels },
		{ "ring", options->ring.text },
		{ "stack", options->stack },
		{ "timeline", options->timeline.text },
		{ "unwind", options->unwind },
	};

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (strcmp(given[i].key, key) == 0)
			return given[i].value;
	return NULL;
}

/* What has rules of its own above, and what is not for recordings: fields are for
 * callbacks, partial is for groups, and the command is known. */
static bool is_apart(const char *key)
{
	static const char *const apart[] = {
		"event", "frequency", "period", "output", "branches",
		"fields", "partial", "command"
	};

	for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++)
		if (strcmp(apart[i], key) == 0)
			return true;
	return false;
}

/* Of all settings that the library has, so that a new one needs no line here. */
static bool take_all(const portprof_config *file,
                     const struct ppi_record_options *options,
                     struct ppi_settings *settings)
{
	const char *key;

	if (!take_events(file, options, settings) ||
	    !take_rate(file, options, settings))
		return false;
	for (size_t i = 0; (key = portprof_config_key(i)); i++)
		if (!is_apart(key) &&
		    !take(file, key, given_for(key, options), settings))
			return false;
	return take_branches(file, options, settings) &&
	       take_output(file, options, settings);
}

static void say_ignored(const portprof_config *file, const char *key)
{
	char value[VALUE_BYTES];

	if (portprof_config_get(file, key, 0, value, sizeof(value)) ==
	    PORTPROF_OK)
		ppi_say("%s: '%s = %s' is ignored: fields are for callbacks; "
		        "files keep those of the setting labels",
		        portprof_config_origin(file, key, 0), key, value);
}

/* A file that nobody named need not be there. */
static bool load_file(portprof_config *file,
                      const struct ppi_record_options *options)
{
	portprof_status status;

	/* record follows children unless a file or --no-inherit says no, */
	portprof_config_set_number(file, "children", 1);
	/* and keeps when samples fell */
	portprof_config_set(file, "timeline", "auto");
	status = portprof_config_load(file, options->config_path,
	                              options->set_name);
	if (status == PORTPROF_OK)
		say_ignored(file, "fields");
	if (status == PORTPROF_OK && !keeps_branches(file, options))
		say_ignored(file, "branches");
	if (status == PORTPROF_OK)
		return true;
	if (status == PORTPROF_E_NOTFOUND && !options->config_path &&
	    !options->set_name)
		return true;
	ppi_say_failure(NULL);
	return false;
}

bool ppi_settings_read(const struct ppi_record_options *options,
                       struct ppi_settings *settings)
{
	portprof_config *file = portprof_config_new(), *checked = NULL;
	bool is_good = false;

	if (file && load_file(file, options)) {
		if (take_all(file, options, settings))
			checked = ppi_settings_config(settings);
		else
			ppi_say("out of memory");
	}
	is_good = checked != NULL;
	if (is_good) {
		settings->delay_ms = time_of(checked, "delay");
		settings->duration_ms = time_of(checked, "duration");
	}
	portprof_config_free(checked);
	portprof_config_free(file);
	return is_good;
}

void ppi_settings_free(struct ppi_settings *settings)
{
	for (size_t i = 0; i < settings->count; i++) {
		free(settings->list[i].key);
		free(settings->list[i].value);
	}
	free(settings->list);
	free(settings->output);
	memset(settings, 0, sizeof(*settings));
}

/* ---- as a config and as text ---- */

portprof_config *ppi_settings_config(const struct ppi_settings *settings)
{
	portprof_config *config = portprof_config_new();

	if (!config) {
		ppi_say("out of memory");
		return NULL;
	}
	for (size_t i = 0; i < settings->count; i++) {
		const struct ppi_setting *setting = &settings->list[i];

		if (portprof_config_set(config, setting->key,
		                        setting->value)) {
			ppi_say_failure(NULL);
			portprof_config_free(config);
			return NULL;
		}
	}
	return config;
}

const char *ppi_settings_get(const struct ppi_settings *settings,
                             const char *key)
{
	for (size_t i = 0; i < settings->count; i++)
		if (strcmp(settings->list[i].key, key) == 0)
			return settings->list[i].value;
	return NULL;
}

bool ppi_is_wait(const char *event)
{
	return strcasecmp(event, "ready-time") == 0 ||
	       strcasecmp(event, "blocked-time") == 0;
}

/* The first of a setting's events that is measured by a backend, and how many
 * are. */
static size_t own_events(const char *list, char *first, size_t bytes)
{
	size_t count = 0;
	char event[512];

	for (size_t i = 0; portprof_event_list_get(list, i, event, sizeof(event),
	                                           NULL) == PORTPROF_OK; i++)
		if (!ppi_is_wait(event) && count++ == 0)
			snprintf(first, bytes, "%s", event);
	return count;
}

static bool has_wait(const char *list)
{
	char event[512];

	for (size_t i = 0; portprof_event_list_get(list, i, event, sizeof(event),
	                                           NULL) == PORTPROF_OK; i++)
		if (ppi_is_wait(event))
			return true;
	return false;
}

bool ppi_settings_waits(const struct ppi_settings *settings)
{
	for (size_t i = 0; i < settings->count; i++)
		if (strcmp(settings->list[i].key, "event") == 0 &&
		    has_wait(settings->list[i].value))
			return true;
	return false;
}

size_t ppi_settings_own_events(const struct ppi_settings *settings)
{
	size_t count = 0, lists = 0;
	char first[512];

	for (size_t i = 0; i < settings->count; i++) {
		if (strcmp(settings->list[i].key, "event") != 0)
			continue;
		lists++;
		count += own_events(settings->list[i].value, first,
		                    sizeof(first));
	}
	return lists ? count : 1;
}

/* What the object in the program is to do: its one event, and nothing of waits. */
static const char *inner_value(const struct ppi_setting *setting, char *room,
                               size_t bytes)
{
	if (strcmp(setting->key, "event") != 0)
		return setting->value;
	return own_events(setting->value, room, bytes) ? room : NULL;
}

char *ppi_settings_text(const struct ppi_settings *settings,
                        const char *share)
{
	size_t bytes = strlen(share) + 48, used;
	char *text;

	for (size_t i = 0; i < settings->count; i++)
		bytes += strlen(settings->list[i].key) +
		         strlen(settings->list[i].value) + 2;
	text = malloc(bytes);
	if (!text)
		return NULL;
	/* the object counts times from then on, in whichever process it is */
	used = (size_t)snprintf(text, bytes, "since=%llu;share=%s",
	                        (unsigned long long)ppi_monotonic_ns(), share);
	for (size_t i = 0; i < settings->count; i++) {
		char room[512];
		const char *value = inner_value(&settings->list[i], room,
		                                sizeof(room));

		if (value)
			used += (size_t)snprintf(text + used, bytes - used,
			                         ";%s=%s",
			                         settings->list[i].key, value);
	}
	return text;
}
