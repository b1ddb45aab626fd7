/* SPDX-License-Identifier: MIT */
/*
 * The table of settings: how each is named, written, limited, kept and printed,
 * and where the one in force came from; and the functions by which programs set
 * and get them. config_value.c reads values by it.
 */
#include "api/core/session_config.h"

#include "api/common/diag.h"
#include "api/core/open.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portprof/record.h>
#include <portprof/tool.h>

/* A hundred years: what is longer was not meant. */
#define MS_MAX UINT64_C(3155760000000)

enum { RING_MAX = 1 << 30, CHAIN_DEPTH_MAX = 1024 };

static const struct ppi_word children_words[] = {
	{"no", 0},   {"off", 0}, {"false", 0},
	{"0", 0},    {"yes", 1}, {"on", 1},
	{"true", 1}, {"1", 1},   {"exact", PORTPROF_CHILDREN_EXACT},
	{NULL, 0}};

/* Deep enough for most programs, and what Linux allows unasked
 * (kernel.perf_event_max_stack). */
static const struct ppi_word callchain_words[] = {
	{"off", 0}, {"on", 127}, {NULL, 0}};

static const struct ppi_word unwind_words[] = {
	{"fp", PORTPROF_UNWIND_FP},
	{"dwarf", PORTPROF_UNWIND_DWARF},
	{"auto", PORTPROF_UNWIND_AUTO},
	{NULL, 0}};

static const struct ppi_word timeline_words[] = {
	{"auto", PPI_TIMELINE_AUTO}, {NULL, 0}};

static const struct ppi_word precise_words[] = {
	{"event", 0}, {"max", 1}, {NULL, 0}};

static const struct ppi_word partial_words[] = {
	{"no", 0},  {"off", 0}, {"false", 0}, {"0", 0}, {"yes", 1},
	{"on", 1}, {"true", 1}, {"1", 1},     {NULL, 0}};

static const struct ppi_word field_words[] = {
	{"data-address", PORTPROF_FIELD_DATA_ADDRESS},
	{"latency", PORTPROF_FIELD_LATENCY},
	{"branches", PORTPROF_FIELD_BRANCHES},
	{"group-values", PORTPROF_FIELD_GROUP_VALUES},
	{"data-source", PORTPROF_FIELD_DATA_SOURCE},
	{"instruction-latency", PORTPROF_FIELD_INSTRUCTION_LATENCY},
	{"transaction", PORTPROF_FIELD_TRANSACTION},
	{"physical-address", PORTPROF_FIELD_PHYSICAL_ADDRESS},
	{"page-sizes", PORTPROF_FIELD_PAGE_SIZES},
	{NULL, 0}};

/* Values of a group are many numbers, and no label. */
static const struct ppi_word label_words[] = {
	{"data-address", PORTPROF_FIELD_DATA_ADDRESS},
	{"latency", PORTPROF_FIELD_LATENCY},
	{"branches", PORTPROF_FIELD_BRANCHES},
	{"data-source", PORTPROF_FIELD_DATA_SOURCE},
	{"instruction-latency", PORTPROF_FIELD_INSTRUCTION_LATENCY},
	{"transaction", PORTPROF_FIELD_TRANSACTION},
	{"physical-address", PORTPROF_FIELD_PHYSICAL_ADDRESS},
	{"page-sizes", PORTPROF_FIELD_PAGE_SIZES},
	{NULL, 0}};

static const struct ppi_word branch_words[] = {
	{"calls", PORTPROF_BRANCHES_CALLS},
	{"returns", PORTPROF_BRANCHES_RETURNS},
	{"conditional", PORTPROF_BRANCHES_CONDITIONAL},
	{"indirect", PORTPROF_BRANCHES_INDIRECT},
	{NULL, 0}};

static const struct ppi_setting settings[PPI_KEY_COUNT] = {
	[PPI_KEY_EVENT] = {.name = "event",
			   .form = PPI_FORM_TEXT,
			   .is_list = true},
	[PPI_KEY_BACKEND] = {.name = "backend",
			     .form = PPI_FORM_TEXT},
	[PPI_KEY_FREQUENCY] = {.name = "frequency",
			       .form = PPI_FORM_NUMBER,
			       .min = 1,
			       .max = 1000000,
			       .unit = " Hz",
			       .remedy = "samples per second, 1 to 1000000"},
	[PPI_KEY_PERIOD] = {.name = "period",
			    .form = PPI_FORM_NUMBER,
			    .min = 1,
			    .max = INT64_MAX,
			    .remedy = "nanoseconds or events between "
				      "samples"},
	[PPI_KEY_OUTPUT] = {.name = "output", .form = PPI_FORM_TEXT},
	[PPI_KEY_CALLCHAIN] = {.name = "callchain",
			       .form = PPI_FORM_NUMBER,
			       .max = CHAIN_DEPTH_MAX,
			       .remedy = "on, off or the maximum number of "
					 "callers",
			       .words = callchain_words},
	[PPI_KEY_CHILDREN] = {.name = "children",
			      .form = PPI_FORM_CHOICE,
			      .prints_zero = true,
			      .max = PORTPROF_CHILDREN_EXACT,
			      .remedy = "is not yes, no or exact",
			      .words = children_words},
	[PPI_KEY_RING] = {.name = "ring",
			  .form = PPI_FORM_BYTES,
			  .max = RING_MAX,
			  .unit = " bytes",
			  .remedy = "bytes, as in 65536 or 64K or 1M"},
	[PPI_KEY_DELAY] = {.name = "delay",
			   .form = PPI_FORM_TIME,
			   .max = MS_MAX,
			   .unit = " ms",
			   .remedy = "one as 500ms, 10s or 0.5s"},
	[PPI_KEY_DURATION] = {.name = "duration",
			      .form = PPI_FORM_TIME,
			      .max = MS_MAX,
			      .unit = " ms",
			      .remedy = "one as 500ms, 10s or 0.5s"},
	[PPI_KEY_TIMELINE] = {.name = "timeline",
			      .form = PPI_FORM_TIME,
			      .max = PPI_TIMELINE_AUTO,
			      .unit = " ms",
			      .words = timeline_words,
			      .remedy = "one as 500ms, 10s or 0.5s, or auto"},
	[PPI_KEY_REQUIRE] = {.name = "require",
			     .form = PPI_FORM_TEXT,
			     .is_list = true},
	[PPI_KEY_FIELDS] = {.name = "fields",
			    .form = PPI_FORM_BITS,
			    .max = PORTPROF_FIELD_DATA_ADDRESS |
				   PORTPROF_FIELD_LATENCY |
				   PORTPROF_FIELD_BRANCHES |
				   PORTPROF_FIELD_GROUP_VALUES |
				   PORTPROF_FIELD_DATA_SOURCE |
				   PORTPROF_FIELD_INSTRUCTION_LATENCY |
				   PORTPROF_FIELD_TRANSACTION |
				   PORTPROF_FIELD_PHYSICAL_ADDRESS |
				   PORTPROF_FIELD_PAGE_SIZES,
			    .words = field_words,
			    .none = "none"},
	[PPI_KEY_LABELS] = {.name = "labels",
			    .form = PPI_FORM_BITS,
			    .max = PORTPROF_FIELD_DATA_ADDRESS |
				   PORTPROF_FIELD_LATENCY |
				   PORTPROF_FIELD_BRANCHES |
				   PORTPROF_FIELD_DATA_SOURCE |
				   PORTPROF_FIELD_INSTRUCTION_LATENCY |
				   PORTPROF_FIELD_TRANSACTION |
				   PORTPROF_FIELD_PHYSICAL_ADDRESS |
				   PORTPROF_FIELD_PAGE_SIZES,
			    .words = label_words,
			    .none = "none"},
	[PPI_KEY_BRANCHES] = {.name = "branches",
			      .form = PPI_FORM_BITS,
			      .max = PORTPROF_BRANCHES_CALLS |
				     PORTPROF_BRANCHES_RETURNS |
				     PORTPROF_BRANCHES_CONDITIONAL |
				     PORTPROF_BRANCHES_INDIRECT,
			      .words = branch_words,
			      .none = "any"},
	[PPI_KEY_PRECISE] = {.name = "precise",
			     .form = PPI_FORM_CHOICE,
			     .max = 1,
			     .remedy = "is neither max nor event; a level "
				       "is written with its event, as in "
				       "cycles:precise=2",
			     .words = precise_words},
	[PPI_KEY_PARTIAL] = {.name = "partial",
			     .form = PPI_FORM_CHOICE,
			     .max = 1,
			     .remedy = "is neither yes nor no",
			     .words = partial_words},
	[PPI_KEY_LABEL_SETS] = {.name = "labelsets",
				.form = PPI_FORM_NUMBER,
				.max = 1000000,
				.remedy = "sets of labels, up to 1000000"},
	[PPI_KEY_COMMAND] = {.name = "command",
			     .form = PPI_FORM_TEXT},
	[PPI_KEY_UNWIND] = {.name = "unwind",
			    .form = PPI_FORM_CHOICE,
			    .prints_zero = true,
			    .max = PORTPROF_UNWIND_AUTO,
			    .remedy = "is not fp (frame pointers), dwarf "
				      "(frame tables) or auto",
			    .words = unwind_words},
	[PPI_KEY_STACK] = {.name = "stack",
			   .form = PPI_FORM_BYTES,
			   .min = 1024,
			   .max = 63 << 10,
			   .unit = " bytes",
			   .remedy = "bytes, 1K to 63K, as in 32768 or "
				     "32K"},
};

const struct ppi_setting *ppi_setting_of(enum ppi_key key)
{
	return &settings[key];
}

/* ---- numbers ---- */

static bool is_in_range(enum ppi_key key, uint64_t number)
{
	if (settings[key].form == PPI_FORM_BITS)
		return !(number & ~settings[key].max);
	return number >= settings[key].min && number <= settings[key].max;
}

portprof_status ppi_setting_keep(portprof_config *config, enum ppi_key key,
                                 uint64_t number, struct ppi_diag *why)
{
	if (!is_in_range(key, number))
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "set",
				"a %s of %" PRIu64 "%s is out of range: "
				"%" PRIu64 " to %" PRIu64,
				settings[key].name, number,
				settings[key].unit ? settings[key].unit : "",
				settings[key].min, settings[key].max);
	config->number[key] = number;
	ppi_config_came_from(config, key, NULL);
	/* the last one of the two wins */
	if (key == PPI_KEY_FREQUENCY || key == PPI_KEY_PERIOD) {
		enum ppi_key rival = key == PPI_KEY_PERIOD ? PPI_KEY_FREQUENCY
							   : PPI_KEY_PERIOD;

		config->number[rival] = 0;
		ppi_config_forget_origin(config, rival);
	}
	return PORTPROF_OK;
}

static portprof_status set_number(const char *call, portprof_config *config,
				  enum ppi_key key, uint64_t number)
{
	struct ppi_diag why;

	if (!config)
		return ppi_refuse_null(call, "config");
	return ppi_setting_keep(config, key, number, &why) ? ppi_report(&why)
						      : PORTPROF_OK;
}

portprof_status portprof_config_set_frequency(portprof_config *config,
					      uint64_t hz)
{
	return set_number("portprof_config_set_frequency", config,
			  PPI_KEY_FREQUENCY, hz);
}

portprof_status portprof_config_set_period(portprof_config *config,
					   uint64_t period)
{
	return set_number("portprof_config_set_period", config, PPI_KEY_PERIOD,
			  period);
}

portprof_status portprof_config_set_number(portprof_config *config,
					   const char *key, uint64_t number)
{
	struct ppi_diag why;
	enum ppi_key known;

	if (!config || !key)
		return ppi_refuse_null("portprof_config_set_number",
				       config ? "key" : "config");
	known = ppi_key_find(key);
	if (known == PPI_KEY_COUNT) {
		ppi_key_unknown(key, &why);
		return ppi_report(&why);
	}
	if (settings[known].form == PPI_FORM_TEXT)
		return ppi_refuse(PORTPROF_E_INVALID, "set",
				  "%s is not a number: give it as text to "
				  "portprof_config_set",
				  key);
	return set_number("portprof_config_set_number", config, known, number);
}

/* ---- as text ---- */

/* The path of the index-th file that the session writes. */
static const char *output_of(const portprof_config *config, size_t index)
{
	for (size_t i = 0; i < config->sink_count; i++)
		if (config->sinks[i].ops == &ppi_sink_file && index-- == 0)
			return config->sinks[i].path;
	return NULL;
}

static const char *text_of(const portprof_config *config, enum ppi_key key,
			   size_t index, char *room, size_t bytes)
{
	if (key == PPI_KEY_EVENT)
		return portprof_config_event(config, index);
	if (key == PPI_KEY_OUTPUT)
		return output_of(config, index);
	if (index > 0)
		return NULL;
	if (key == PPI_KEY_BACKEND)
		return config->backend;
	if (key == PPI_KEY_COMMAND)
		return config->command;
	return config->required_caps
		       ? ppi_cap_list(config->required_caps, room, bytes)
		       : NULL;
}

static const char *bits_of(const struct ppi_word *words, uint64_t bits, char *room,
			   size_t bytes)
{
	size_t used = 0;

	for (room[0] = '\0'; words->name; words++)
		if (bits & words->number && used < bytes)
			used += (size_t)snprintf(room + used, bytes - used,
						 "%s%s", used ? ", " : "",
						 words->name);
	return room;
}

/* The value, in `room` unless it lies elsewhere; NULL when it is not set. */
static const char *value_of(const portprof_config *config, enum ppi_key key,
			    size_t index, char *room, size_t bytes)
{
	const struct ppi_word *word = settings[key].words;
	uint64_t number = config->number[key];

	if (settings[key].form == PPI_FORM_TEXT)
		return text_of(config, key, index, room, bytes);
	if (index > 0 || (number == 0 && !settings[key].prints_zero))
		return NULL;
	if (settings[key].form == PPI_FORM_BITS)
		return bits_of(word, number, room, bytes);
	while (settings[key].form == PPI_FORM_CHOICE && word->number != number)
		word++;
	if (settings[key].form == PPI_FORM_CHOICE)
		return word->name;
	for (; word && word->name; word++)
		if (settings[key].form == PPI_FORM_TIME &&
		    word->number == number)
			return word->name;
	snprintf(room, bytes, "%" PRIu64 "%s", number,
		 settings[key].form == PPI_FORM_TIME ? "ms" : "");
	return room;
}

portprof_status portprof_config_get(const portprof_config *config,
				    const char *key, size_t index, char *value,
				    size_t value_bytes)
{
	const char *text = NULL;
	enum ppi_key known;
	char room[256];
	size_t length;

	if (!config || !key || !value)
		return ppi_refuse_null("portprof_config_get", !config ? "config"
							      : !key  ? "key"
								     : "value");
	known = ppi_key_find(key);
	if (known < PPI_KEY_COUNT)
		text = value_of(config, known, index, room, sizeof(room));
	if (!text)
		return ppi_refuse(PORTPROF_E_NOTFOUND, "get setting",
				  "'%s' number %zu is not set", key, index);
	length = strlen(text);
	if (length >= value_bytes)
		return ppi_refuse(PORTPROF_E_LIMIT, "get setting",
				  "the value of '%s' has %zu bytes: provide "
				  "room for them and a null byte",
				  key, length);
	memcpy(value, text, length + 1);
	return PORTPROF_OK;
}

/* ---- names ---- */

enum ppi_key ppi_key_find(const char *name)
{
	enum ppi_key key = 0;

	while (key < PPI_KEY_COUNT && strcmp(settings[key].name, name) != 0)
		key++;
	return key;
}

const char *ppi_key_name(enum ppi_key key)
{
	return settings[key].name;
}

bool ppi_key_is_list(enum ppi_key key)
{
	return settings[key].is_list;
}

portprof_status ppi_key_unknown(const char *name, struct ppi_diag *why)
{
	struct ppi_nearest nearest;
	char hint[320], known[256] = "";

	ppi_nearest_begin(&nearest, name);
	for (enum ppi_key key = 0; key < PPI_KEY_COUNT; key++) {
		size_t used = strlen(known);

		ppi_nearest_offer(&nearest, settings[key].name);
		snprintf(known + used, sizeof(known) - used, "%s%s",
			 key ? ", " : "; there are: ", settings[key].name);
	}
	ppi_nearest_say(&nearest, hint, sizeof(hint));
	return ppi_suggest(why, &nearest,
	                   ppi_fail(why, PORTPROF_E_INVALID, 0, "set",
				    "there is no setting '%.64s'%s", name,
				    hint[0] ? hint : known));
}

/* ---- where they came from ---- */

static bool set_origin(char **origin, const char *place)
{
	char *copy = place ? strdup(place) : NULL;

	if (place && !copy)
		return false;
	free(*origin);
	*origin = copy;
	return true;
}

/* Events have one origin each; those of the last list are being set. */
bool ppi_config_came_from(portprof_config *config, enum ppi_key key,
			  const char *place)
{
	bool is_kept = true;

	if (key != PPI_KEY_EVENT)
		is_kept = set_origin(&config->origins[key], place);
	for (size_t i = 0; key == PPI_KEY_EVENT && i < config->last_added; i++)
		is_kept &= set_origin(&config->events[config->event_count - 1 -
						      i].origin, place);
	if (is_kept)
		config->given |= 1u << key;
	return is_kept;
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
		place = config->events[index].origin;
	else if (key == PPI_KEY_EVENT || !(config->given & 1u << key))
		return "default";
	else
		place = config->origins[key];
	return place ? place : "the program";
}

const char *portprof_config_key(size_t index)
{
	return index < PPI_KEY_COUNT ? ppi_key_name((enum ppi_key)index) : NULL;
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
