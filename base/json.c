/* SPDX-License-Identifier: MIT */
/* Writes JSON, piece by piece. */
#include "config.h"

#include "base/json.h"

#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Deeper than this, things stand side by side. */
enum { LINES_DEPTH = 2 };

static void put_indent(struct ppi_json *json, unsigned depth)
{
	fputc('\n', json->out);
	for (unsigned i = 0; i < depth; i++)
		fputc(' ', json->out);
}

static bool has_lines(const struct ppi_json *json)
{
	return !json->is_line && json->depth <= LINES_DEPTH;
}

/* What a terminal would obey, or show elsewhere than it stands, as JSON has
 * it: none is beyond the first 65536. */
static void put_code(FILE *out, uint32_t code)
{
	fprintf(out, "\\u%04x", (unsigned)code);
}

static void put_string(FILE *out, const char *text)
{
	fputc('"', out);
	while (*text) {
		uint32_t code = 0;
		size_t length = ppi_text_character(text, &code);

		if (length == 0)
			put_code(out, 0xfffd);
		else if (code == '"' || code == '\\')
			fprintf(out, "\\%c", (int)code);
		else if (!ppi_text_is_shown(code))
			put_code(out, code);
		else
			fwrite(text, 1, length, out);
		text += length ? length : 1;
	}
	fputc('"', out);
}

static void put_key(struct ppi_json *json, const char *key)
{
	bool *has_any = &json->has_any[json->depth - 1];

	if (*has_any)
		fputs(has_lines(json) ? "," : ", ", json->out);
	*has_any = true;
	if (has_lines(json))
		put_indent(json, json->depth);
	if (key) {
		put_string(json->out, key);
		fputs(": ", json->out);
	}
}

static void enter(struct ppi_json *json, char open, char close)
{
	fputc(open, json->out);
	assert(json->depth < PPI_JSON_DEPTH);
	json->has_any[json->depth] = false;
	json->close[json->depth++] = close;
}

void ppi_json_begin(struct ppi_json *json, FILE *out, bool is_line)
{
	memset(json, 0, sizeof(*json));
	json->out = out;
	json->is_line = is_line;
	enter(json, '{', '}');
}

bool ppi_json_end(struct ppi_json *json)
{
	while (json->depth)
		ppi_json_close(json);
	fputc('\n', json->out);
	return fflush(json->out) == 0 && !ferror(json->out);
}

void ppi_json_object(struct ppi_json *json, const char *key)
{
	put_key(json, key);
	enter(json, '{', '}');
}

void ppi_json_array(struct ppi_json *json, const char *key)
{
	put_key(json, key);
	enter(json, '[', ']');
}

void ppi_json_close(struct ppi_json *json)
{
	bool is_split = has_lines(json) && json->has_any[json->depth - 1];

	json->depth--;
	if (is_split)
		put_indent(json, json->depth);
	fputc(json->close[json->depth], json->out);
}

void ppi_json_text(struct ppi_json *json, const char *key, const char *text)
{
	if (!text) {
		ppi_json_null(json, key);
		return;
	}
	put_key(json, key);
	put_string(json->out, text);
}

void ppi_json_number(struct ppi_json *json, const char *key, uint64_t number)
{
	put_key(json, key);
	fprintf(json->out, "%" PRIu64, number);
}

void ppi_json_signed(struct ppi_json *json, const char *key, int64_t number)
{
	put_key(json, key);
	fprintf(json->out, "%" PRId64, number);
}

void ppi_json_real(struct ppi_json *json, const char *key, double number)
{
	if (!isfinite(number)) {
		ppi_json_null(json, key);
		return;
	}
	put_key(json, key);
	fprintf(json->out, "%.10g", number);
}

void ppi_json_flag(struct ppi_json *json, const char *key, bool is_true)
{
	put_key(json, key);
	fputs(is_true ? "true" : "false", json->out);
}

void ppi_json_null(struct ppi_json *json, const char *key)
{
	put_key(json, key);
	fputs("null", json->out);
}
