/* SPDX-License-Identifier: MIT */
/* Reads JSON, piece by piece, without a tree in memory. */
#include "config.h"

#include "tools/json_read.h"

#include <stdlib.h>
#include <string.h>

/* Objects and arrays within each other that are skipped, at most. */
enum { DEPTH_MAX = 16 };

void ppi_json_in_begin(struct ppi_json_in *in, const char *text)
{
	*in = (struct ppi_json_in){ .text = text, .at = text };
}

static char next(struct ppi_json_in *in)
{
	if (in->is_wrong)
		return '\0';
	in->at += strspn(in->at, " \t\r\n");
	return *in->at;
}

static bool take(struct ppi_json_in *in, char letter)
{
	if (next(in) != letter || letter == '\0') {
		in->is_wrong = true;
		return false;
	}
	in->at++;
	return true;
}

bool ppi_json_in_enter(struct ppi_json_in *in, char open)
{
	in->is_first = true;
	return take(in, open);
}

/* To the next one of an object or array, or out of it. */
static bool go_on(struct ppi_json_in *in, char close)
{
	bool was_first = in->is_first;

	in->is_first = false;
	if (next(in) == close) {
		in->at++;
		return false;
	}
	return was_first ? !in->is_wrong : take(in, ',');
}

bool ppi_json_in_item(struct ppi_json_in *in)
{
	return go_on(in, ']');
}

bool ppi_json_in_key(struct ppi_json_in *in, char *key, size_t bytes)
{
	char *text;

	if (!go_on(in, '}'))
		return false;
	text = next(in) == '"' ? ppi_json_in_text(in) : NULL;
	if (!text || !take(in, ':')) {
		free(text);
		in->is_wrong = true;
		return false;
	}
	key[0] = '\0';
	strncat(key, text, bytes - 1);
	free(text);
	return true;
}

/* ---- strings ---- */

static bool read_code(const char *at, unsigned *code)
{
	char digits[5] = "";

	strncat(digits, at, 4);
	if (strspn(digits, "0123456789abcdefABCDEF") != 4)
		return false;
	*code = (unsigned)strtoul(digits, NULL, 16);
	return true;
}

/* In UTF-8; halves of pairs, which are never written, are kept apart. */
static char *put_code(char *out, unsigned code)
{
	if (code < 0x80) {
		*out++ = (char)code;
	} else if (code < 0x800) {
		*out++ = (char)(0xc0 | code >> 6);
		*out++ = (char)(0x80 | (code & 0x3f));
	} else {
		*out++ = (char)(0xe0 | code >> 12);
		*out++ = (char)(0x80 | (code >> 6 & 0x3f));
		*out++ = (char)(0x80 | (code & 0x3f));
	}
	return out;
}

/* What stands behind a backslash, or false. */
static bool take_escape(struct ppi_json_in *in, char **out)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *found = *in->at ? strchr(letters, *in->at) : NULL;
	unsigned code;

	if (found) {
		*(*out)++ = meant[found - letters];
		in->at++;
		return true;
	}
	if (*in->at != 'u' || !read_code(in->at + 1, &code) || code == 0)
		return false;
	*out = put_code(*out, code);
	in->at += 5;
	return true;
}

/* No escape is shorter than what it stands for. */
static char *room_for(const char *at)
{
	size_t bytes = 0;

	while (at[bytes] && at[bytes] != '"')
		bytes += at[bytes] == '\\' && at[bytes + 1] ? 2 : 1;
	return malloc(bytes + 1);
}

char *ppi_json_in_text(struct ppi_json_in *in)
{
	char *text, *out;

	if (next(in) == 'n') {
		ppi_json_in_skip(in);
		return NULL;
	}
	if (!take(in, '"'))
		return NULL;
	text = out = room_for(in->at);
	in->is_wrong = !text;
	while (!in->is_wrong && *in->at != '"') {
		if (*in->at == '\\') {
			in->at++;
			in->is_wrong = !take_escape(in, &out);
		} else {
			in->is_wrong = (unsigned char)*in->at < ' ';
			*out++ = *in->at++;
		}
	}
	if (in->is_wrong) {
		free(text);
		return NULL;
	}
	in->at++;
	*out = '\0';
	return text;
}

/* ---- other values ---- */

bool ppi_json_in_number(struct ppi_json_in *in, uint64_t *number)
{
	char letter = next(in);

	*number = 0;
	if (letter == 'n') {
		ppi_json_in_skip(in);
		return false;
	}
	in->is_wrong |= letter < '0' || letter > '9';
	for (; !in->is_wrong && *in->at >= '0' && *in->at <= '9'; in->at++) {
		unsigned digit = (unsigned)(*in->at - '0');

		in->is_wrong = *number > (UINT64_MAX - digit) / 10;
		*number = *number * 10 + digit;
	}
	in->is_wrong |= *in->at == '.' || *in->at == 'e' || *in->at == 'E';
	return !in->is_wrong;
}

bool ppi_json_in_real(struct ppi_json_in *in, double *number)
{
	char letter = next(in), *end;

	*number = 0;
	if (letter == 'n') {
		ppi_json_in_skip(in);
		return false;
	}
	in->is_wrong |= letter != '-' && (letter < '0' || letter > '9');
	if (in->is_wrong)
		return false;
	*number = strtod(in->at, &end);
	in->at = end;
	return true;
}

static void skip_word(struct ppi_json_in *in)
{
	size_t length = strspn(in->at, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");

	in->is_wrong |= length == 0;
	in->at += length;
}

static void skip(struct ppi_json_in *in, unsigned depth)
{
	char letter = next(in), key[8];

	if (depth > DEPTH_MAX) {
		in->is_wrong = true;
	} else if (letter == '"') {
		free(ppi_json_in_text(in));
	} else if (letter == '{') {
		ppi_json_in_enter(in, '{');
		while (ppi_json_in_key(in, key, sizeof(key)))
			skip(in, depth + 1);
	} else if (letter == '[') {
		ppi_json_in_enter(in, '[');
		while (ppi_json_in_item(in))
			skip(in, depth + 1);
	} else {
		skip_word(in);
	}
}

void ppi_json_in_skip(struct ppi_json_in *in)
{
	skip(in, 0);
}

bool ppi_json_in_end(struct ppi_json_in *in)
{
	return next(in) == '\0' && !in->is_wrong;
}

size_t ppi_json_in_line(const struct ppi_json_in *in)
{
	size_t line = 1;

	for (const char *at = in->text; at < in->at; at++)
		line += *at == '\n';
	return line;
}
