/* SPDX-License-Identifier: MIT */
/* JSON as it is written, piece by piece. */
#include "config.h"

#include "tools/json.h"

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

/* Length of the UTF-8 character at `text` (RFC 3629), 0 if it is none. */
size_t ppi_json_character(const unsigned char *text)
{
	static const struct {
		unsigned char first, last, low, high;
		unsigned char bytes;
	} forms[] = {
		{ 0x01, 0x7f, 0x80, 0xbf, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (text[0] < forms[i].first || text[0] > forms[i].last)
			continue;
		if (forms[i].bytes > 1 &&
		    (text[1] < forms[i].low || text[1] > forms[i].high))
			return 0;
		for (size_t at = 2; at < forms[i].bytes; at++)
			if ((text[at] & 0xc0) != 0x80)
				return 0;
		return forms[i].bytes;
	}
	return 0;
}

static void put_string(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	fputc('"', out);
	while (*at) {
		size_t length = ppi_json_character(at);

		if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < 0x20 || *at == 0x7f)
			fprintf(out, "\\u%04x", *at);
		else if (length)
			fwrite(at, 1, length, out);
		else
			fputs("\\ufffd", out);
		at += length ? length : 1;
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
