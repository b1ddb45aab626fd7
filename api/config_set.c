/* SPDX-License-Identifier: MIT */
/* Settings by name: the one reader of values for files, text and tools. */
#include "api/internal/config_key.h"

#include "api/internal/config.h"
#include "api/internal/config_fields.h"
#include "api/internal/diag.h"
#include "api/internal/event.h"
#include "api/internal/number.h"
#include "api/internal/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Deep enough for most programs, and what Linux allows unasked
 * (kernel.perf_event_max_stack). */
enum { CHAIN_DEPTH_ON = 127 };

/* What one setting is made of, on its way into a config. */
struct setting {
	portprof_config *config;
	const char *key, *value;
	bool must_exist;
	size_t column;
	struct ppi_diag *why;
};

static portprof_status refuse(struct setting *setting, const char *words)
{
	return ppi_fail(setting->why, PORTPROF_E_INVALID, 0, "set",
	                "%s '%.200s' %s", setting->key, setting->value,
	                words);
}

/* The public setters tell the thread what was wrong. */
static portprof_status told(struct setting *setting, portprof_status status)
{
	const portprof_diag *diag = portprof_last_diag();

	return status ? ppi_fail(setting->why, status, diag->os_errno,
	                         diag->step, "%s", diag->words) :
	                PORTPROF_OK;
}

static portprof_status read_number(struct setting *setting, size_t length,
                                   const char *remedy, uint64_t *value)
{
	const char *wrong = ppi_number_read(setting->value, length, value);
	char words[160];

	if (!wrong)
		return PORTPROF_OK;
	snprintf(words, sizeof(words), "%s; give %s", wrong, remedy);
	return refuse(setting, words);
}

static portprof_status set_event(struct setting *setting)
{
	struct ppi_event_request request;
	portprof_status status = PORTPROF_OK;

	if (setting->value[0] != '{') /* a group has its own words */
		status = ppi_event_parse_at(setting->value, &request,
		                            &setting->column, setting->why);
	return status ? status :
	                told(setting, portprof_config_add_event(
	                                      setting->config,
	                                      setting->value));
}

static portprof_status set_backend(struct setting *setting)
{
	if (setting->must_exist && strcmp(setting->value, "auto") != 0 &&
	    !ppi_backend_find(setting->value))
		return ppi_select_unknown(setting->value, setting->why);
	return told(setting, portprof_config_set_backend(setting->config,
	                                                 setting->value));
}

static portprof_status set_frequency(struct setting *setting)
{
	uint64_t hz;
	portprof_status status = read_number(setting, strlen(setting->value),
	                                     "samples per second, 1 to "
	                                     "1000000", &hz);

	return status ? status :
	                told(setting, portprof_config_set_frequency(
	                                      setting->config, hz));
}

static portprof_status set_period(struct setting *setting)
{
	uint64_t period;
	portprof_status status = read_number(setting, strlen(setting->value),
	                                     "nanoseconds or events between "
	                                     "samples", &period);

	return status ? status :
	                told(setting, portprof_config_set_period(
	                                      setting->config, period));
}

/* A later setting takes the place of an earlier one; portprof_config_write_to
 * adds files instead. */
static portprof_status set_output(struct setting *setting)
{
	portprof_config *config = setting->config;
	struct ppi_sink_request *sink;
	portprof_status status;
	char *path;

	if (!config->output_sink) {
		status = told(setting, portprof_config_write_to(
					       config, setting->value));
		if (status == PORTPROF_OK)
			config->output_sink = config->sink_count;
		return status;
	}
	if (!setting->value[0])
		return refuse(setting, "is empty; give a file's name");
	path = strdup(setting->value);
	if (!path)
		return ppi_fail(setting->why, PORTPROF_E_NOMEM, 0, "set",
		                "out of memory");
	sink = &config->sinks[config->output_sink - 1];
	free(sink->path);
	sink->path = path;
	return PORTPROF_OK;
}

static portprof_status set_callchain(struct setting *setting)
{
	uint64_t depth = 0;
	portprof_status status = PORTPROF_OK;

	if (strcasecmp(setting->value, "on") == 0)
		depth = CHAIN_DEPTH_ON;
	else if (strcasecmp(setting->value, "off") != 0)
		status = read_number(setting, strlen(setting->value),
		                     "on, off or the most callers to keep",
		                     &depth);
	if (status)
		return status;
	return told(setting, portprof_config_set_chain_depth(
				     setting->config,
				     depth > UINT32_MAX ? UINT32_MAX :
				                          (unsigned)depth));
}

static portprof_status set_children(struct setting *setting)
{
	static const char *const words[2][4] = {
		{ "no", "off", "false", "0" }, { "yes", "on", "true", "1" }
	};

	for (int follow = 0; follow < 2; follow++)
		for (int i = 0; i < 4; i++)
			if (strcasecmp(setting->value, words[follow][i]) == 0)
				return told(setting,
				            portprof_config_set_children(
						    setting->config, follow));
	return refuse(setting, "is neither yes nor no");
}

static portprof_status set_ring(struct setting *setting)
{
	size_t length = strlen(setting->value);
	char last = length ? setting->value[length - 1] : '0';
	unsigned shift = last == 'K' || last == 'k' ? 10 :
	                 last == 'M' || last == 'm' ? 20 : 0;
	uint64_t bytes;
	portprof_status status = read_number(setting, length - (shift > 0),
	                                     "bytes, as in 65536 or 64K or "
	                                     "1M", &bytes);

	if (status)
		return status;
	if (bytes > (SIZE_MAX >> shift))
		return refuse(setting, "is out of range; give up to 1024M");
	return told(setting, portprof_config_set_ring_bytes(
				     setting->config, (size_t)bytes << shift));
}

static portprof_status set_time(struct setting *setting,
                                portprof_status (*set)(portprof_config *config,
                                                       uint64_t ms))
{
	uint64_t ms;
	const char *wrong = ppi_time_read(setting->value, &ms);
	char words[160];

	if (!wrong)
		return told(setting, set(setting->config, ms));
	snprintf(words, sizeof(words), "%s; give one as 500ms, 10s or 0.5s",
	         wrong);
	return refuse(setting, words);
}

static portprof_status set_delay(struct setting *setting)
{
	return set_time(setting, portprof_config_set_delay);
}

static portprof_status set_duration(struct setting *setting)
{
	return set_time(setting, portprof_config_set_duration);
}

static portprof_status set_timeline(struct setting *setting)
{
	return set_time(setting, portprof_config_set_timeline);
}

static portprof_status set_fields(struct setting *setting)
{
	uint32_t fields;
	portprof_status status = ppi_fields_read(setting->value, &fields,
	                                         &setting->column,
	                                         setting->why);

	return status ? status :
	                told(setting, portprof_config_set_sample_fields(
	                                      setting->config, fields));
}

static portprof_status set_precise(struct setting *setting)
{
	bool is_most = strcasecmp(setting->value, "max") == 0;

	if (!is_most && strcasecmp(setting->value, "event") != 0)
		return refuse(setting, "is neither max nor event; a level is "
		              "said with its event, as in cycles:precise=2");
	return told(setting, portprof_config_set_most_precise(setting->config,
	                                                      is_most));
}

static uint64_t cap_named(const char *word, size_t length,
                          struct ppi_nearest *nearest)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = portprof_cap_name((uint64_t)1 << bit);

		if (name && strlen(name) == length &&
		    strncmp(name, word, length) == 0)
			return (uint64_t)1 << bit;
		if (name)
			ppi_nearest_offer(nearest, name);
	}
	return 0;
}

/* Names of capabilities, parted by commas and blanks. */
static portprof_status set_require(struct setting *setting)
{
	const char *word = setting->value;
	uint64_t caps = 0;

	for (word += strspn(word, ", \t"); *word;
	     word += strspn(word, ", \t")) {
		size_t length = strcspn(word, ", \t");
		struct ppi_nearest nearest;
		char name[96], hint[320];
		uint64_t cap;

		snprintf(name, sizeof(name), "%.*s", (int)length, word);
		ppi_nearest_begin(&nearest, name);
		cap = cap_named(word, length, &nearest);
		setting->column = (size_t)(word - setting->value) + 1;
		if (!cap)
			return ppi_fail(setting->why, PORTPROF_E_INVALID, 0,
			                "set", "require: '%s' is no capability"
			                "%s", name, ppi_nearest_say(&nearest,
			                hint, sizeof(hint)));
		caps |= cap;
		word += length;
	}
	if (!caps)
		return refuse(setting, "names no capability");
	return told(setting, portprof_config_require(setting->config, caps));
}

static const struct {
	const char *name;
	bool is_list;
	portprof_status (*set)(struct setting *setting);
} keys[PPI_KEY_COUNT] = {
	[PPI_KEY_EVENT] = { "event", true, set_event },
	[PPI_KEY_BACKEND] = { "backend", false, set_backend },
	[PPI_KEY_FREQUENCY] = { "frequency", false, set_frequency },
	[PPI_KEY_PERIOD] = { "period", false, set_period },
	[PPI_KEY_OUTPUT] = { "output", false, set_output },
	[PPI_KEY_CALLCHAIN] = { "callchain", false, set_callchain },
	[PPI_KEY_CHILDREN] = { "children", false, set_children },
	[PPI_KEY_RING] = { "ring", false, set_ring },
	[PPI_KEY_DELAY] = { "delay", false, set_delay },
	[PPI_KEY_DURATION] = { "duration", false, set_duration },
	[PPI_KEY_TIMELINE] = { "timeline", false, set_timeline },
	[PPI_KEY_REQUIRE] = { "require", true, set_require },
	[PPI_KEY_FIELDS] = { "fields", false, set_fields },
	[PPI_KEY_PRECISE] = { "precise", false, set_precise },
};

enum ppi_key ppi_key_find(const char *name)
{
	enum ppi_key key = 0;

	while (key < PPI_KEY_COUNT && strcmp(keys[key].name, name) != 0)
		key++;
	return key;
}

const char *ppi_key_name(enum ppi_key key)
{
	return keys[key].name;
}

bool ppi_key_is_list(enum ppi_key key)
{
	return keys[key].is_list;
}

portprof_status ppi_key_unknown(const char *name, struct ppi_diag *why)
{
	struct ppi_nearest nearest;
	char hint[320], known[160] = "";

	ppi_nearest_begin(&nearest, name);
	for (enum ppi_key key = 0; key < PPI_KEY_COUNT; key++) {
		size_t used = strlen(known);

		ppi_nearest_offer(&nearest, keys[key].name);
		snprintf(known + used, sizeof(known) - used, "%s%s",
		         key ? ", " : "; there are: ", keys[key].name);
	}
	ppi_nearest_say(&nearest, hint, sizeof(hint));
	return ppi_fail(why, PORTPROF_E_INVALID, 0, "set",
	                "there is no setting '%.64s'%s", name,
	                hint[0] ? hint : known);
}

portprof_status ppi_key_apply(portprof_config *config, enum ppi_key key,
                              const char *value, bool must_exist,
                              size_t *column, struct ppi_diag *why)
{
	struct setting setting = { .config = config, .key = keys[key].name,
		                   .value = value, .must_exist = must_exist,
		                   .column = 1, .why = why };
	portprof_status status = keys[key].set(&setting);

	if (status && column)
		*column = setting.column;
	return status;
}

portprof_status portprof_config_set(portprof_config *config, const char *key,
                                    const char *value)
{
	struct ppi_diag why;
	enum ppi_key known;

	if (!config || !key || !value)
		return ppi_refuse_null("portprof_config_set",
		                       !config ? "config" :
		                       !key    ? "key" :
		                                 "value");
	known = ppi_key_find(key);
	if (known == PPI_KEY_COUNT) {
		ppi_key_unknown(key, &why);
		return ppi_report(&why);
	}
	if (ppi_key_apply(config, known, value, true, NULL, &why))
		return ppi_report(&why);
	return PORTPROF_OK;
}
