/* SPDX-License-Identifier: MIT */
/* portprof config: checks a configuration file, and prints its settings. */
#include "config.h"

#include <portprof/tool.h>

#include "base/foreign_file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/vector.h"
#include "tools/options.h"
#include "tools/terminal.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One line of the table. */
struct row {
	const char *key;
	char *value;       /* NULL: not set, and nothing stands for it */
	char *origin;      /* "FILE:LINE", "default", "environment" */
	/* Of an event: whether it is one that can be measured here. */
	bool is_refused, is_unknown;
	char *why;
};

struct rows {
	struct row *list;
	size_t count, room;
};

struct view {
	const char *path, *set; /* asked for; NULL */
	bool is_json;
	char *file;             /* that was read; NULL: there is none */
	const char *found_by;   /* "--config", "$PORTPROF_CONFIG", ... */
	char **sets;            /* the names of all sets in it */
	size_t set_count, set_room;
	struct rows record;  /* of portprof record */
	struct rows preload; /* of $PORTPROF */
	bool has_preload;
	bool is_good;           /* no mistake, every event is known */
};

enum { VALUE_BYTES = 4096 };

static bool no_memory(void)
{
	ppi_say("out of memory");
	return false;
}

/* Whether $PORTPROF has the key. */
static bool says_children;

/* ---- rows ---- */

static struct row *add_row(struct rows *rows, const char *key,
                           const char *value, const char *origin)
{
	struct ppi_vector all = { rows->list, rows->count, rows->room };
	struct row *row = NULL;

	if (ppi_vector_add(&all, sizeof(*row), NULL, 1))
		row = &PPI_AT(&all, struct row)[all.count - 1];
	rows->list = all.data;
	rows->count = all.count;
	rows->room = all.room;
	if (!row)
		return NULL;
	row->key = key;
	row->value = value ? strdup(value) : NULL;
	row->origin = strdup(origin);
	return (row->value || !value) && row->origin ? row : NULL;
}

/* What portprof record takes where nothing is set. */
static const char *default_of(const char *key)
{
	static const char *const defaults[][2] = {
		{ "event", "task-clock" },
		{ "output", PPI_DEFAULT_OUTPUT },
		{ "callchain", "off" },
		{ "stack", "up to 64512" },
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

static void judge_event(struct row *row)
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
                    const char *program, struct rows *rows)
{
	bool is_event = strcmp(key, "event") == 0;
	struct row *row;
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
                    struct rows *rows)
{
	const char *key;

	for (size_t i = 0; (key = portprof_config_key(i)); i++)
		if (!add_key(config, key, program, rows))
			return no_memory();
	return true;
}

/* ---- the file ---- */

static const char *say_found_by(const struct view *view)
{
	if (view->path)
		return "--config";
	return getenv("PORTPROF_CONFIG") ? "$PORTPROF_CONFIG"
	                                 : "the search order";
}

/* "[NAME]" of a file that was found right already. */
static bool take_set(struct view *view, const char *line)
{
	struct ppi_vector all = { view->sets, view->set_count,
		                  view->set_room };
	bool is_good;
	char *name;

	line += strspn(line, " \t");
	if (*line != '[')
		return true;
	name = strndup(line + 1, strcspn(line + 1, "]\n"));
	is_good = name && ppi_vector_add(&all, sizeof(name), &name, 1);
	if (!is_good)
		free(name);
	view->sets = all.data;
	view->set_count = all.count;
	view->set_room = all.room;
	return is_good;
}

static bool find_sets(struct view *view)
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

static bool read_file(struct view *view, portprof_config *config)
{
	portprof_status status;

	/* as portprof record does */
	portprof_config_set_number(config, "children", 1);
	portprof_config_set(config, "timeline", "auto");
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
static bool read_preload(struct view *view)
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

static void judge(struct view *view,
                  const struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->list[i];

		if (!row->is_unknown)
			continue;
		ppi_say("%s: %s", row->origin, row->why);
		view->is_good = false;
	}
}

/* False with words, and nothing to show. */
static bool read_view(struct view *view)
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

static void free_rows(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->list[i].value);
		free(rows->list[i].origin);
		free(rows->list[i].why);
	}
	free(rows->list);
}

static void free_view(struct view *view)
{
	for (size_t i = 0; i < view->set_count; i++)
		free(view->sets[i]);
	free(view->sets);
	free(view->file);
	free_rows(&view->record);
	free_rows(&view->preload);
}

/* ---- printing ---- */

/*
 * The settings in force for people and for programs. portprof-config(1) has
 * the keys of the JSON; they may become more, but keep their meaning as long
 * as "schema" is 1.
 */

enum { SCHEMA = 1, KEY_WIDTH = 10, VALUE_WIDTH = 28 };

static void put_row(const struct row *row, FILE *out)
{
	char shown[PPI_SHOWN_BYTES], origin[PPI_SHOWN_BYTES];
	const char *value = row->value ? ppi_shown(row->value, shown) : "-";
	int room = VALUE_WIDTH - (int)strlen(value);
	bool is_default = strcmp(row->origin, "default") == 0;

	fprintf(out, "  %-*s  %s%s%s%*s  %s", KEY_WIDTH, row->key,
	        is_default ? "" : ppi_color(out, PPI_BOLD), value,
	        is_default ? "" : ppi_color(out, PPI_PLAIN),
	        room > 0 ? room : 0, "", ppi_shown(row->origin, origin));
	if (row->is_refused)
		fprintf(out, "  %s[%s]%s", ppi_color(out, PPI_YELLOW),
		        row->is_unknown ? "unknown" : "not here",
		        ppi_color(out, PPI_PLAIN));
	fputc('\n', out);
}

static void put_rows(const struct rows *rows, FILE *out)
{
	for (size_t i = 0; i < rows->count; i++)
		put_row(&rows->list[i], out);
}

/* Why events cannot be measured here; of unknown ones it was said. */
static void put_reasons(const struct rows *rows, FILE *out)
{
	for (size_t i = 0; i < rows->count; i++) {
		if (!rows->list[i].is_refused || rows->list[i].is_unknown)
			continue;
		fputs("\n[not here] ", out);
		ppi_put_text(rows->list[i].why, out);
		fputc('\n', out);
	}
}

static void print_text(const struct view *view, FILE *out)
{
	char room[PPI_SHOWN_BYTES];

	if (view->file)
		fprintf(out, "%s, found by %s", ppi_shown(view->file, room),
		        view->found_by);
	else
		fprintf(out, "no configuration file: the defaults of "
		        "portprof record");
	if (view->set)
		fprintf(out, ", with the set [%s]",
		        ppi_shown(view->set, room));
	fputc('\n', out);
	put_rows(&view->record, out);
	if (view->set_count) {
		fprintf(out, "\nsets:");
		for (size_t i = 0; i < view->set_count; i++)
			fprintf(out, " %s", ppi_shown(view->sets[i], room));
		fputc('\n', out);
	}
	if (view->has_preload) {
		fprintf(out, "\n$PORTPROF, for the preloaded object\n");
		put_rows(&view->preload, out);
	}
	put_reasons(&view->record, out);
	put_reasons(&view->preload, out);
}

static void put_json_rows(struct ppi_json *json, const char *key,
                          const struct rows *rows)
{
	ppi_json_array(json, key);
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->list[i];

		ppi_json_object(json, NULL);
		ppi_json_text(json, "key", row->key);
		ppi_json_text(json, "value", row->value);
		ppi_json_text(json, "origin", row->origin);
		if (strcmp(row->key, "event") == 0)
			ppi_json_flag(json, "usable", !row->is_refused);
		if (row->why)
			ppi_json_text(json, "why", row->why);
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

static void print_json(const struct view *view, FILE *out)
{
	struct ppi_json json;

	ppi_json_begin(&json, out, false);
	ppi_json_number(&json, "schema", SCHEMA);
	ppi_json_text(&json, "file", view->file);
	ppi_json_text(&json, "found_by", view->found_by);
	ppi_json_text(&json, "set", view->set);
	ppi_json_array(&json, "sets");
	for (size_t i = 0; i < view->set_count; i++)
		ppi_json_text(&json, NULL, view->sets[i]);
	ppi_json_close(&json);
	put_json_rows(&json, "settings", &view->record);
	if (view->has_preload)
		put_json_rows(&json, "preload", &view->preload);
	ppi_json_end(&json);
}

#define AT(member) offsetof(struct view, member)

static const struct ppi_option table[] = {
	{ 0, "config", "FILE",
	  "read this file (the first that exists, see below)",
	  .take = ppi_take_text, .place = AT(path) },
	{ 'j', "json", NULL, "print JSON",
	  .take = ppi_take_flag, .place = AT(is_json) },
	PPI_COLOR_OPTION,
};

static const size_t places[] = { AT(set) };

static const struct ppi_line line = {
	.verb = "config",
	.usage = "[OPTION...] [SET]",
	.about = "Reads the configuration file as portprof record does, with "
	         "its set [SET] if given, and prints each setting in effect "
	         "and its origin. Mistakes are reported with line and column. "
	         "Nothing is changed.",
	.notes = "Files: $PORTPROF_CONFIG, "
	         "$XDG_CONFIG_HOME/portprof/portprof.conf, " PPI_SYSCONFDIR
	         "/portprof.conf. The settings of preloaded programs, "
	         "$PORTPROF, are shown too.\n"
	         "Exit status: 0 success, 1 a mistake or an unknown event, "
	         "2 wrong usage.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.places = places,
	.place_count = 1,
	.one_word_more = "give one set; a file is named by --config",
	.wrong = PPI_EXIT_USAGE,
};

int ppi_config_main(int argc, char **argv)
{
	struct view view = { .path = NULL };
	int status = ppi_line_read(&line, argc, argv, &view);

	if (status != PPI_LINE_READ)
		return status;
	status = PPI_EXIT_FAILED;
	if (read_view(&view)) {
		if (view.is_json)
			print_json(&view, stdout);
		else
			print_text(&view, stdout);
		status = view.is_good ? PPI_EXIT_OK : PPI_EXIT_FAILED;
	}
	free_view(&view);
	if (!ppi_stdout_is_whole("the settings"))
		status = PPI_EXIT_FAILED;
	return status;
}
