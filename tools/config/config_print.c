/* SPDX-License-Identifier: MIT */
/*
 * The settings in force for people and for programs. portprof-config(1) has
 * the keys of the JSON; they may become more, but keep their meaning as long
 * as "schema" is 1.
 */
#include "config.h"

#include "tools/config/config_show.h"

#include "base/json.h"
#include "tools/terminal.h"
#include "tools/tools.h"

#include <string.h>

enum { SCHEMA = 1, KEY_WIDTH = 10, VALUE_WIDTH = 28 };

static void put_row(const struct ppi_config_row *row, FILE *out)
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

static void put_rows(const struct ppi_config_rows *rows, FILE *out)
{
	for (size_t i = 0; i < rows->count; i++)
		put_row(&rows->list[i], out);
}

/* Why events cannot be measured here; of unknown ones it was said. */
static void put_reasons(const struct ppi_config_rows *rows, FILE *out)
{
	for (size_t i = 0; i < rows->count; i++) {
		if (!rows->list[i].is_refused || rows->list[i].is_unknown)
			continue;
		fputs("\n[not here] ", out);
		ppi_put_text(rows->list[i].why, out);
		fputc('\n', out);
	}
}

void ppi_config_print_text(const struct ppi_config_view *view, FILE *out)
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
                          const struct ppi_config_rows *rows)
{
	ppi_json_array(json, key);
	for (size_t i = 0; i < rows->count; i++) {
		const struct ppi_config_row *row = &rows->list[i];

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

void ppi_config_print_json(const struct ppi_config_view *view, FILE *out)
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
