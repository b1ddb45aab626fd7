/* SPDX-License-Identifier: MIT */
/*
 * The table of settings: how each is named, read, checked, kept and printed,
 * and where the one in force came from.
 */
#include "api/internal/config.h"

#include "api/internal/cap.h"
#include "api/internal/diag.h"
#include "api/internal/event.h"
#include "api/internal/number.h"
#include "api/internal/select.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <portprof/record.h>
#include <portprof/tool.h>

/* A hundred years: what is longer was not meant. */
#define MS_MAX UINT64_C(3155760000000)

enum { RING_MAX = 1 << 30, CHAIN_DEPTH_MAX = 1024 };

/* One setting on its way into a config. */
struct setting {
	portprof_config *config;
	const char *key, *value;
	bool must_exist;
	size_t column;
	struct ppi_diag *why;
};

/* A word that stands for a number; of a set of bits, for one of them. */
struct word {
	const char *name;
	uint64_t number;
};

static const struct word children_words[] = {
	{"no", 0},   {"off", 0}, {"false", 0},
	{"0", 0},    {"yes", 1}, {"on", 1},
	{"true", 1}, {"1", 1},   {"exact", PORTPROF_CHILDREN_EXACT},
	{NULL, 0}};

/* Deep enough for most programs, and what Linux allows unasked
 * (kernel.perf_event_max_stack). */
static const struct word callchain_words[] = {
	{"off", 0}, {"on", 127}, {NULL, 0}};

static const struct word unwind_words[] = {
	{"fp", PORTPROF_UNWIND_FP},
	{"dwarf", PORTPROF_UNWIND_DWARF},
	{"auto", PORTPROF_UNWIND_AUTO},
	{NULL, 0}};

static const struct word precise_words[] = {
	{"event", 0}, {"max", 1}, {NULL, 0}};

static const struct word field_words[] = {
	{"data-address", PORTPROF_FIELD_DATA_ADDRESS},
	{"latency", PORTPROF_FIELD_LATENCY},
	{"branches", PORTPROF_FIELD_BRANCHES},
	{"group-values", PORTPROF_FIELD_GROUP_VALUES},
	{NULL, 0}};

/* How the value is written. */
enum form {
	TEXT,   /* no number: `set` reads it, text_of prints it */
	NUMBER, /* or one of `words` */
	BYTES,  /* 65536, 64K, 1M */
	TIME,   /* 500ms, 10s; kept in milliseconds */
	CHOICE, /* one of `words`, and nothing else */
	BITS    /* a list of `words`, or none */
};

static portprof_status set_event(struct setting *setting);
static portprof_status set_backend(struct setting *setting);
static portprof_status set_output(struct setting *setting);
static portprof_status set_require(struct setting *setting);
static portprof_status set_command(struct setting *setting);

static const struct {
	const char *name;
	enum form form;
	bool is_list;     /* can be given more than once in a set */
	bool prints_zero; /* else 0 is: not set */
	uint64_t min, max;
	const char *unit;   /* behind a number, with a blank */
	const char *remedy; /* what to give instead of a bad value; of a
			     * CHOICE what is wrong with it */
	const struct word *words;
	portprof_status (*set)(struct setting *setting);
} settings[PPI_KEY_COUNT] = {
	[PPI_KEY_EVENT] = {.name = "event",
			   .form = TEXT,
			   .is_list = true,
			   .set = set_event},
	[PPI_KEY_BACKEND] = {.name = "backend",
			     .form = TEXT,
			     .set = set_backend},
	[PPI_KEY_FREQUENCY] = {.name = "frequency",
			       .form = NUMBER,
			       .min = 1,
			       .max = 1000000,
			       .unit = " Hz",
			       .remedy = "samples per second, 1 to 1000000"},
	[PPI_KEY_PERIOD] = {.name = "period",
			    .form = NUMBER,
			    .min = 1,
			    .max = INT64_MAX,
			    .remedy = "nanoseconds or events between "
				      "samples"},
	[PPI_KEY_OUTPUT] = {.name = "output", .form = TEXT, .set = set_output},
	[PPI_KEY_CALLCHAIN] = {.name = "callchain",
			       .form = NUMBER,
			       .max = CHAIN_DEPTH_MAX,
			       .remedy = "on, off or the most callers to "
					 "keep",
			       .words = callchain_words},
	[PPI_KEY_CHILDREN] = {.name = "children",
			      .form = CHOICE,
			      .prints_zero = true,
			      .max = PORTPROF_CHILDREN_EXACT,
			      .remedy = "is not yes, no or exact",
			      .words = children_words},
	[PPI_KEY_RING] = {.name = "ring",
			  .form = BYTES,
			  .max = RING_MAX,
			  .unit = " bytes",
			  .remedy = "bytes, as in 65536 or 64K or 1M"},
	[PPI_KEY_DELAY] = {.name = "delay",
			   .form = TIME,
			   .max = MS_MAX,
			   .unit = " ms",
			   .remedy = "one as 500ms, 10s or 0.5s"},
	[PPI_KEY_DURATION] = {.name = "duration",
			      .form = TIME,
			      .max = MS_MAX,
			      .unit = " ms",
			      .remedy = "one as 500ms, 10s or 0.5s"},
	[PPI_KEY_TIMELINE] = {.name = "timeline",
			      .form = TIME,
			      .max = MS_MAX,
			      .unit = " ms",
			      .remedy = "one as 500ms, 10s or 0.5s"},
	[PPI_KEY_REQUIRE] = {.name = "require",
			     .form = TEXT,
			     .is_list = true,
			     .set = set_require},
	[PPI_KEY_FIELDS] = {.name = "fields",
			    .form = BITS,
			    .max = PORTPROF_FIELD_DATA_ADDRESS |
				   PORTPROF_FIELD_LATENCY |
				   PORTPROF_FIELD_BRANCHES |
				   PORTPROF_FIELD_GROUP_VALUES,
			    .words = field_words},
	[PPI_KEY_PRECISE] = {.name = "precise",
			     .form = CHOICE,
			     .max = 1,
			     .remedy = "is neither max nor event; a level "
				       "is said with its event, as in "
				       "cycles:precise=2",
			     .words = precise_words},
	[PPI_KEY_COMMAND] = {.name = "command",
			     .form = TEXT,
			     .set = set_command},
	[PPI_KEY_UNWIND] = {.name = "unwind",
			    .form = CHOICE,
			    .max = PORTPROF_UNWIND_AUTO,
			    .remedy = "is not fp (frame pointers), dwarf "
				      "(frame tables) or auto",
			    .words = unwind_words},
	[PPI_KEY_STACK] = {.name = "stack",
			   .form = BYTES,
			   .min = 1024,
			   .max = 63 << 10,
			   .unit = " bytes",
			   .remedy = "bytes, 1K to 63K, as in 32768 or "
				     "32K"},
};

static portprof_status refuse(struct setting *setting, const char *words,
			      const char *remedy)
{
	return ppi_fail(setting->why, PORTPROF_E_INVALID, 0, "set",
			"%s '%.200s' %s%s%s", setting->key, setting->value,
			words, remedy ? "; give " : "", remedy ? remedy : "");
}

/* ---- numbers ---- */

static bool is_in_range(enum ppi_key key, uint64_t number)
{
	if (settings[key].form == BITS)
		return !(number & ~settings[key].max);
	return number >= settings[key].min && number <= settings[key].max;
}

static portprof_status keep_number(portprof_config *config, enum ppi_key key,
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
	return keep_number(config, key, number, &why) ? ppi_report(&why)
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
	if (settings[known].form == TEXT)
		return ppi_refuse(PORTPROF_E_INVALID, "set",
				  "%s is no number: give it as text to "
				  "portprof_config_set",
				  key);
	return set_number("portprof_config_set_number", config, known, number);
}

/* ---- lists of words ---- */

typedef const char *(*word_at_fn)(size_t index, uint64_t *bit);

static const char *field_at(size_t index, uint64_t *bit)
{
	*bit = field_words[index].number;
	return field_words[index].name;
}

static const char *cap_at(size_t index, uint64_t *bit)
{
	*bit = index < 64 ? (uint64_t)1 << index : 0;
	return portprof_cap_name(*bit);
}

/* The bit of a word; 0 when there is no such word, and hint has the nearest. */
static uint64_t find_bit(const char *word, size_t length, word_at_fn word_at,
			 char *hint, size_t hint_bytes)
{
	struct ppi_nearest nearest;
	const char *name;
	char asked[96];
	uint64_t bit;

	snprintf(asked, sizeof(asked), "%.*s", (int)length, word);
	ppi_nearest_begin(&nearest, asked);
	for (size_t i = 0; (name = word_at(i, &bit)); i++) {
		if (strlen(name) == length &&
		    strncasecmp(name, word, length) == 0)
			return bit;
		ppi_nearest_offer(&nearest, name);
	}
	ppi_nearest_say(&nearest, hint, hint_bytes);
	return 0;
}

/* What a list can hold, and what is said of others. */
struct bits_of_list {
	word_at_fn word_at;
	const char *what, *none;
};

static const struct bits_of_list capabilities = {cap_at, "capability",
						 "names no capability"};

static const struct bits_of_list fields = {
	field_at,
	"field of samples: there are data-address, latency, branches and "
	"group-values",
	"names no field; give none for none"};

/* Words, commas and blanks between them. */
static portprof_status read_bits(struct setting *setting,
				 const struct bits_of_list *known,
				 uint64_t *bits)
{
	const char *word = setting->value;

	*bits = 0;
	for (word += strspn(word, ", \t"); *word;
	     word += strspn(word, ", \t")) {
		size_t length = strcspn(word, ", \t");
		char hint[320];
		uint64_t bit = find_bit(word, length, known->word_at, hint,
					sizeof(hint));

		setting->column = (size_t)(word - setting->value) + 1;
		if (!bit)
			return ppi_fail(setting->why, PORTPROF_E_INVALID, 0,
					"set", "%s: '%.*s' is no %s%s",
					setting->key, (int)length, word,
					known->what, hint);
		*bits |= bit;
		word += length;
	}
	return *bits ? PORTPROF_OK : refuse(setting, known->none, NULL);
}

/* ---- from text ---- */

/* The public setters tell the thread what was wrong. */
static portprof_status told(struct setting *setting, portprof_status status)
{
	const portprof_diag *diag = portprof_last_diag();

	return status ? ppi_fail(setting->why, status, diag->os_errno,
				 diag->step, "%s", diag->words)
		      : PORTPROF_OK;
}

static portprof_status set_event(struct setting *setting)
{
	return ppi_config_add_events(setting->config, setting->value,
				     &setting->column, setting->why);
}

static portprof_status set_backend(struct setting *setting)
{
	if (setting->must_exist && strcmp(setting->value, "auto") != 0 &&
	    !ppi_backend_find(setting->value))
		return ppi_select_unknown(setting->value, setting->why);
	return told(setting, portprof_config_set_backend(setting->config,
							 setting->value));
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
		status = told(setting,
			      portprof_config_write_to(config, setting->value));
		if (status == PORTPROF_OK)
			config->output_sink = config->sink_count;
		return status;
	}
	if (!setting->value[0])
		return refuse(setting, "is empty", "a file's name");
	path = strdup(setting->value);
	if (!path)
		return ppi_fail(setting->why, PORTPROF_E_NOMEM, 0, "set",
				"out of memory");
	sink = &config->sinks[config->output_sink - 1];
	free(sink->path);
	sink->path = path;
	return PORTPROF_OK;
}

static portprof_status set_require(struct setting *setting)
{
	uint64_t caps;
	portprof_status status = read_bits(setting, &capabilities, &caps);

	return status ? status
		      : told(setting,
			     portprof_config_require(setting->config, caps));
}

static portprof_status set_command(struct setting *setting)
{
	char *text = strdup(setting->value);

	if (!text)
		return ppi_fail(setting->why, PORTPROF_E_NOMEM, 0, "set",
				"out of memory");
	free(setting->config->command);
	setting->config->command = text;
	return PORTPROF_OK;
}

static bool read_word(const struct word *words, const char *value,
		      uint64_t *number)
{
	for (; words && words->name; words++) {
		if (strcasecmp(words->name, value) != 0)
			continue;
		*number = words->number;
		return true;
	}
	return false;
}

/* What is wrong with it; NULL: nothing. */
static const char *read_bytes(const char *value, uint64_t *bytes)
{
	size_t length = strlen(value);
	char last = length ? value[length - 1] : '0';
	unsigned shift = last == 'K' || last == 'k'   ? 10
			 : last == 'M' || last == 'm' ? 20
						      : 0;
	const char *wrong = ppi_number_read(value, length - (shift > 0), bytes);

	if (wrong)
		return wrong;
	if (*bytes > UINT64_MAX >> shift)
		return "is out of range";
	*bytes <<= shift;
	return NULL;
}

static portprof_status read_number(struct setting *setting, enum ppi_key key,
				   uint64_t *number)
{
	const char *value = setting->value, *wrong;

	if (settings[key].form == BITS) {
		if (strcasecmp(value, "none") != 0)
			return read_bits(setting, &fields, number);
		*number = 0;
		return PORTPROF_OK;
	}
	if (read_word(settings[key].words, value, number))
		return PORTPROF_OK;
	switch (settings[key].form) {
	case BYTES:
		wrong = read_bytes(value, number);
		break;
	case TIME:
		wrong = ppi_time_read(value, number);
		break;
	case NUMBER:
		wrong = ppi_number_read(value, strlen(value), number);
		break;
	default:
		return refuse(setting, settings[key].remedy, NULL);
	}
	return wrong ? refuse(setting, wrong, settings[key].remedy)
		     : PORTPROF_OK;
}

portprof_status ppi_key_apply(portprof_config *config, enum ppi_key key,
			      const char *value, bool must_exist,
			      size_t *column, struct ppi_diag *why)
{
	struct setting setting = {.config = config,
				  .key = settings[key].name,
				  .value = value,
				  .must_exist = must_exist,
				  .column = 1,
				  .why = why};
	portprof_status status;
	uint64_t number;

	if (settings[key].form == TEXT) {
		status = settings[key].set(&setting);
	} else {
		status = read_number(&setting, key, &number);
		if (status == PORTPROF_OK)
			status = keep_number(config, key, number, why);
	}
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
		return ppi_refuse_null("portprof_config_set", !config ? "config"
							      : !key  ? "key"
								     : "value");
	known = ppi_key_find(key);
	if (known == PPI_KEY_COUNT) {
		ppi_key_unknown(key, &why);
		return ppi_report(&why);
	}
	if (ppi_key_apply(config, known, value, true, NULL, &why))
		return ppi_report(&why);
	return PORTPROF_OK;
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

static const char *bits_of(const struct word *words, uint64_t bits, char *room,
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
	const struct word *word = settings[key].words;
	uint64_t number = config->number[key];

	if (settings[key].form == TEXT)
		return text_of(config, key, index, room, bytes);
	if (index > 0 || (number == 0 && !settings[key].prints_zero))
		return NULL;
	if (settings[key].form == BITS)
		return bits_of(word, number, room, bytes);
	while (settings[key].form == CHOICE && word->number != number)
		word++;
	if (settings[key].form == CHOICE)
		return word->name;
	snprintf(room, bytes, "%" PRIu64 "%s", number,
		 settings[key].form == TIME ? "ms" : "");
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
				  "the value of '%s' has %zu bytes: make room "
				  "for them and a zero",
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
	char hint[320], known[160] = "";

	ppi_nearest_begin(&nearest, name);
	for (enum ppi_key key = 0; key < PPI_KEY_COUNT; key++) {
		size_t used = strlen(known);

		ppi_nearest_offer(&nearest, settings[key].name);
		snprintf(known + used, sizeof(known) - used, "%s%s",
			 key ? ", " : "; there are: ", settings[key].name);
	}
	ppi_nearest_say(&nearest, hint, sizeof(hint));
	return ppi_fail(why, PORTPROF_E_INVALID, 0, "set",
			"there is no setting '%.64s'%s", name,
			hint[0] ? hint : known);
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
