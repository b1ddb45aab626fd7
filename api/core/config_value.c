/* SPDX-License-Identifier: MIT */
/* The value of a setting, read as the table of config_settings.c says. */
#include "api/core/session_config.h"

#include "api/common/diag.h"
#include "api/core/event.h"
#include "api/core/open.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* One setting on its way into a config. */
struct setting {
	portprof_config *config;
	const char *key, *value;
	bool must_exist;
	struct ppi_diag *why;
};

static portprof_status refuse(struct setting *setting, const char *words,
			      const char *remedy)
{
	return ppi_fail(setting->why, PORTPROF_E_INVALID, 0, "set",
			"%s '%.200s' %s%s%s", setting->key, setting->value,
			words, remedy ? "; give " : "", remedy ? remedy : "");
}

/* ---- lists of words ---- */

typedef const char *(*word_at_fn)(size_t index, uint64_t *bit);

static const char *field_at(size_t index, uint64_t *bit)
{
	const struct ppi_word *words = ppi_setting_of(PPI_KEY_FIELDS)->words;

	*bit = words[index].number;
	return words[index].name;
}

static const char *label_at(size_t index, uint64_t *bit)
{
	const struct ppi_word *words = ppi_setting_of(PPI_KEY_LABELS)->words;

	*bit = words[index].number;
	return words[index].name;
}

static const char *branch_at(size_t index, uint64_t *bit)
{
	const struct ppi_word *words = ppi_setting_of(PPI_KEY_BRANCHES)->words;

	*bit = words[index].number;
	return words[index].name;
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
	"field of samples: there are data-address, latency, branches, "
	"group-values, data-source, instruction-latency, transaction, "
	"physical-address and page-sizes",
	"names no field; give none for none"};

static const struct bits_of_list labels = {
	label_at,
	"field that can be a label: there are data-address, latency, branches, "
	"data-source, instruction-latency, transaction, physical-address and "
	"page-sizes",
	"names no field; give none for none"};

static const struct bits_of_list branches = {
	branch_at,
	"kind of branch: there are calls, returns, conditional and indirect",
	"names no kind; give any for all"};

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

		if (!bit)
			return ppi_at_column(
				setting->why, PORTPROF_REASON_ARGUMENT,
				(size_t)(word - setting->value) + 1,
				ppi_fail(setting->why, PORTPROF_E_INVALID, 0,
					 "set", "%s: '%.*s' is not a %s%s",
					 setting->key, (int)length, word,
					 known->what, hint));
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
				     setting->why);
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

/* Those that are no numbers. */
static portprof_status (*const texts[PPI_KEY_COUNT])(struct setting *) = {
	[PPI_KEY_EVENT] = set_event,
	[PPI_KEY_BACKEND] = set_backend,
	[PPI_KEY_OUTPUT] = set_output,
	[PPI_KEY_REQUIRE] = set_require,
	[PPI_KEY_COMMAND] = set_command,
};

/* ---- numbers ---- */

static bool read_word(const struct ppi_word *words, const char *value,
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
	const struct ppi_setting *row = ppi_setting_of(key);
	const char *value = setting->value, *wrong;

	if (row->form == PPI_FORM_BITS) {
		*number = 0;
		if (strcasecmp(value, row->none) == 0)
			return PORTPROF_OK;
		return read_bits(setting,
				 key == PPI_KEY_FIELDS ? &fields :
				 key == PPI_KEY_LABELS ? &labels : &branches,
				 number);
	}
	if (read_word(row->words, value, number))
		return PORTPROF_OK;
	switch (row->form) {
	case PPI_FORM_BYTES:
		wrong = read_bytes(value, number);
		break;
	case PPI_FORM_TIME:
		wrong = ppi_time_read(value, number);
		break;
	case PPI_FORM_NUMBER:
		wrong = ppi_number_read(value, strlen(value), number);
		break;
	default:
		return refuse(setting, row->remedy, NULL);
	}
	return wrong ? refuse(setting, wrong, row->remedy)
		     : PORTPROF_OK;
}

portprof_status ppi_key_apply(portprof_config *config, enum ppi_key key,
			      const char *value, bool must_exist,
			      struct ppi_diag *why)
{
	const struct ppi_setting *row = ppi_setting_of(key);
	struct setting setting = {.config = config,
				  .key = row->name,
				  .value = value,
				  .must_exist = must_exist,
				  .why = why};
	portprof_status status;
	uint64_t number;

	if (row->form == PPI_FORM_TEXT)
		return texts[key](&setting);
	status = read_number(&setting, key, &number);
	return status ? status : ppi_setting_keep(config, key, number, why);
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
	if (ppi_key_apply(config, known, value, true, &why))
		return ppi_report(&why);
	return PORTPROF_OK;
}
