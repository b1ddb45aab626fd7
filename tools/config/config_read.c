/* SPDX-License-Identifier: MIT */
/* Reads the settings in force, and where each comes from. */
#include "config.h"

#include "tools/config/config_show.h"

#include "base/foreign_file.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portprof/tool.h>

enum { VALUE_BYTES = 4096 };

static bool no_memory(void)
{
	ppi_say("out of memory");
	return false;
}

/* Whether $PORTPROF has the key. */
static bool says_children;

/* ---- rows ---- */

static struct ppi_config_row *add_row(struct ppi_config_rows *rows,
                                      const char *key, const char *value,
                                      const char *origin)
{
	struct ppi_config_row *grown =
		realloc(rows->list, (rows->count + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	rows->list = grown;
	grown += rows->count++;
	memset(grown, 0, sizeof(*grown));
	grown->key = key;
	grown->value = value ? strdup(value) : NULL;
	grown->origin = strdup(origin);
	return (grown->value || !value) && grown->origin ? grown : NULL;
}

/* What portprof record takes where nothing is set. */
static const char *default_of(const char *key)
{
	static const char *const defaults[][2] = {
		{ "event", "task-clock" },
		{ "output", PPI_DEFAULT_OUTPUT },
		{ "callchain", "off" },
		{ "stack", "32768" },
		{ "ring", "by the rate" },
		{ "fields", "none" },
		{ "branches", "any" },
		{ "labels", "none" },
		{ "precise", "event" },
	};

	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		if (strcmp(defaults[i][0], key) == 0)
			return defaults[i][1];
	return NULL;
}

/* An event that this machine cannot measure may be for another one; a name
 * that nobody knows is a mistake. */
static portprof_status explain(const char *event)
{
	portprof_event_info info = { .size = sizeof(info) };

	return portprof_event_try(event, "auto", &info);
}

/* The first of a list or group that cannot be measured. */
static portprof_status explain_all(const char *list)
{
	portprof_status status = PORTPROF_OK;
	char event[256];

	for (size_t i = 0; status == PORTPROF_OK; i++) {
		status = portprof_event_list_get(list, i, event, sizeof(event),
		                                 NULL);
		if (status == PORTPROF_END)
			return PORTPROF_OK;
		if (status == PORTPROF_OK)
			status = explain(event);
	}
	return status;
}

static void judge_event(struct ppi_config_row *row)
{
	portprof_status status = explain_all(row->value);

	row->is_refused = status != PORTPROF_OK;
	row->is_unknown = status == PORTPROF_E_NOTFOUND ||
	                  status == PORTPROF_E_INVALID;
	if (row->is_refused)
		row->why = strdup(portprof_last_diag()->words);
}

/* `program`: who set what the program did, which is us; but that children
 * are followed is a default, unless somebody said it. */
static const char *say_origin(const portprof_config *config, const char *key,
                              size_t index, const char *program)
{
	const char *origin = portprof_config_origin(config, key, index);

	if (strcmp(origin, "the program") != 0)
		return origin;
	return strcmp(key, "children") == 0 && !says_children ? "default"
	                                                      : program;
}

static bool add_key(const portprof_config *config, const char *key,
                    const char *program, struct ppi_config_rows *rows)
{
	bool is_event = strcmp(key, "event") == 0;
	struct ppi_config_row *row;
	char value[VALUE_BYTES];
	size_t i = 0;

	for (; portprof_config_get(config, key, i, value, sizeof(value)) ==
	       PORTPROF_OK; i++) {
		row = add_row(rows, key, value,
		              say_origin(config, key, is_event ? i : 0,
		                         program));
		if (!row)
			return false;
		if (is_event)
			judge_event(row);
	}
	return i > 0 || add_row(rows, key, default_of(key), "default");
}

static bool add_all(const portprof_config *config, const char *program,
                    struct ppi_config_rows *rows)
{
	const char *key;

	for (size_t i = 0; (key = portprof_config_key(i)); i++)
		if (!add_key(config, key, program, rows))
			return no_memory();
	return true;
}

/* ---- the file ---- */

static const char *say_found_by(const struct ppi_config_view *view)
{
	if (view->path)
		return "--config";
	return getenv("PORTPROF_CONFIG") ? "$PORTPROF_CONFIG"
	                                 : "the search order";
}

/* "[NAME]" of a file that was found right already. */
static bool take_set(struct ppi_config_view *view, const char *line)
{
	char **grown;

	line += strspn(line, " \t");
	if (*line != '[')
		return true;
	grown = realloc(view->sets, (view->set_count + 1) * sizeof(*grown));
	if (!grown)
		return false;
	view->sets = grown;
	grown[view->set_count] = strndup(line + 1, strcspn(line + 1, "]\n"));
	return grown[view->set_count++] != NULL;
}

static bool find_sets(struct ppi_config_view *view)
{
	FILE *file = view->file
	                     ? ppi_foreign_stream(view->file, PPI_FOREIGN_FILE)
	                     : NULL;
	bool is_good = true;
	char *line = NULL;
	size_t room = 0;

	while (file && is_good && getline(&line, &room, file) > 0)
		is_good = take_set(view, line);
	free(line);
	if (file)
		fclose(file);
	return is_good || no_memory();
}

static bool read_file(struct ppi_config_view *view, portprof_config *config)
{
	portprof_status status;

	/* as portprof record does */
	portprof_config_set_number(config, "children", 1);
	status = portprof_config_load(config, view->path, view->set);
	if (status == PORTPROF_E_NOTFOUND && !view->path && !view->set)
		return true; /* it need not be there */
	if (status) {
		ppi_say_failure(NULL);
		return false;
	}
	view->found_by = say_found_by(view);
	view->file = strdup(portprof_config_file(config));
	return (view->file || no_memory()) && find_sets(view);
}

/* ---- $PORTPROF ---- */

/* What has a meaning in $PORTPROF alone. */
static bool is_object_key(const char *part, size_t length)
{
	return (strncmp(part, "since=", 6) == 0 && length > 6) ||
	       (strncmp(part, "regions", 7) == 0 &&
	        (length == 7 || part[7] == '='));
}

static bool take_part(portprof_config *config, const char *part,
                      size_t length)
{
	char *text = strndup(part, length), *equals;
	portprof_status status;

	if (!text)
		return no_memory();
	equals = strchr(text, '=');
	if (length == 0 || is_object_key(part, length)) {
		free(text);
		return true;
	}
	if (!equals) {
		ppi_say("$PORTPROF: '%s' is not a setting; write KEY=VALUE with "
		        "semicolons between them", text);
		free(text);
		return false;
	}
	*equals = '\0';
	says_children |= strcmp(text, "children") == 0;
	status = portprof_config_set(config, text, equals + 1);
	if (status)
		ppi_say_failure("$PORTPROF");
	free(text);
	return status == PORTPROF_OK;
}

/* A mistake in it is told, and what is right is shown all the same. */
static bool read_preload(struct ppi_config_view *view)
{
	const char *text = getenv("PORTPROF");
	portprof_config *config;
	bool is_good;

	view->has_preload = text != NULL;
	if (!text)
		return true;
	config = portprof_config_new();
	if (!config)
		return no_memory();
	portprof_config_set_number(config, "children",
				   1); /* as the object does */
	while (*text) {
		size_t length = strcspn(text, ";\n");

		if (!take_part(config, text, length))
			view->is_good = false;
		text += length;
		text += *text != '\0';
	}
	is_good = add_all(config, "environment", &view->preload);
	portprof_config_free(config);
	return is_good;
}

static void judge(struct ppi_config_view *view,
                  const struct ppi_config_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct ppi_config_row *row = &rows->list[i];

		if (!row->is_unknown)
			continue;
		ppi_say("%s: %s", row->origin, row->why);
		view->is_good = false;
	}
}

bool ppi_config_view_read(struct ppi_config_view *view)
{
	portprof_config *config = portprof_config_new();
	bool is_read;

	if (!config)
		return no_memory();
	view->is_good = true;
	is_read = read_file(view, config) &&
	          add_all(config, "default", &view->record) &&
	          read_preload(view);
	portprof_config_free(config);
	if (!is_read)
		return false;
	judge(view, &view->record);
	judge(view, &view->preload);
	return true;
}

static void free_rows(struct ppi_config_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->list[i].value);
		free(rows->list[i].origin);
		free(rows->list[i].why);
	}
	free(rows->list);
}

void ppi_config_view_free(struct ppi_config_view *view)
{
	for (size_t i = 0; i < view->set_count; i++)
		free(view->sets[i]);
	free(view->sets);
	free(view->file);
	free_rows(&view->record);
	free_rows(&view->preload);
}
