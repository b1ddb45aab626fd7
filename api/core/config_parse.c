/* SPDX-License-Identifier: MIT */
/*
 * The reader of configuration text: sections of `key = value` lines. Event
 * strings hold ':', '=' and '@', so the first '=' of a line parts key from
 * value, nothing is quoted, and only a line can be a comment.
 */
#include "api/core/config_parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct reader {
	const char *name;
	struct ppi_config_line now;
	ppi_config_line_fn take;
	void *context;
	struct ppi_diag *why;
};

portprof_status ppi_config_mistake(struct ppi_diag *why,
                                   portprof_status status, const char *name,
                                   unsigned line, size_t column,
                                   const char *words, ...)
{
	char said[PORTPROF_WORDS_BYTES];
	va_list values;

	va_start(values, words);
	vsnprintf(said, sizeof(said), words, values);
	va_end(values);
	return ppi_fail(why, status, 0, "read configuration",
	                "%.256s:%u:%zu: %s", name, line, column, said);
}

/* `at` points into `line`. */
static portprof_status mistake(const struct reader *reader, const char *line,
                               const char *at, const char *words)
{
	return ppi_config_mistake(reader->why, PORTPROF_E_INVALID,
	                          reader->name, reader->now.line,
	                          (size_t)(at - line) + 1, "%s", words);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static char *skip_blanks(char *text)
{
	while (is_blank(*text))
		text++;
	return text;
}

/* Cut blanks off the end, which may be all of it. */
static void trim_end(char *text)
{
	size_t length = strlen(text);

	while (length > 0 && is_blank(text[length - 1]))
		length--;
	text[length] = '\0';
}

/* Zeros and control characters hide things from whoever looks at a file. */
static portprof_status check_bytes(const struct reader *reader,
                                   const char *line, size_t length)
{
	char words[80];

	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)line[i];

		if ((byte >= ' ' && byte != 127) || byte == '\t')
			continue;
		snprintf(words, sizeof(words), "the control character 0x%02x "
		         "is not allowed here; remove it", byte);
		return mistake(reader, line, line + i, words);
	}
	return PORTPROF_OK;
}

static portprof_status begin_section(struct reader *reader, char *line,
                                     char *bracket)
{
	char *name = skip_blanks(bracket + 1);
	char *end = strchr(name, ']');
	char *rest;

	if (!end)
		return mistake(reader, line, line + strlen(line),
		               "a ']' is missing: a section begins with "
		               "[NAME]");
	rest = skip_blanks(end + 1);
	if (*rest)
		return mistake(reader, line, rest,
		               "nothing may follow the ']' of a section; put "
		               "settings on lines of their own");
	*end = '\0';
	trim_end(name);
	if (!*name)
		return mistake(reader, line, end,
		               "a section needs a name: [NAME]");
	if (strchr(name, '['))
		return mistake(reader, line, strchr(name, '['),
		               "a section's name has no '[' in it");
	reader->now.section = name;
	reader->now.key = reader->now.value = NULL;
	reader->now.key_column = (size_t)(name - line) + 1;
	return reader->take(&reader->now, reader->context, reader->why);
}

static portprof_status take_setting(struct reader *reader, char *line,
                                    char *key)
{
	char *equals = strchr(key, '=');
	char *value;

	if (!equals && (*key == ';' || strncmp(key, "//", 2) == 0))
		return mistake(reader, line, key,
		               "a comment begins with '#'");
	if (!equals)
		return mistake(reader, line, key,
		               "this is not a setting; write KEY = VALUE");
	if (equals == key)
		return mistake(reader, line, key,
		               "a key is missing before '='");
	value = skip_blanks(equals + 1);
	if (!*value)
		return mistake(reader, line, equals,
		               "a value is missing after '='; remove the line "
		               "to have the default");
	*equals = '\0';
	trim_end(key);
	reader->now.key = key;
	reader->now.value = value;
	reader->now.key_column = (size_t)(key - line) + 1;
	reader->now.value_column = (size_t)(value - line) + 1;
	return reader->take(&reader->now, reader->context, reader->why);
}

static portprof_status take_line(struct reader *reader, char *line,
                                 size_t length)
{
	char *first;
	portprof_status status;

	/* lines of other systems end in \r\n */
	if (length > 0 && line[length - 1] == '\r')
		line[--length] = '\0';
	status = check_bytes(reader, line, length);
	if (status)
		return status;
	first = skip_blanks(line);
	trim_end(first);
	if (*first == '\0' || *first == '#')
		return PORTPROF_OK;
	if (*first == '[')
		return begin_section(reader, line, first);
	return take_setting(reader, line, first);
}

portprof_status ppi_config_read(const char *name, char *text, size_t bytes,
                                ppi_config_line_fn take, void *context,
                                struct ppi_diag *why)
{
	struct reader reader = { .name = name, .take = take,
		                 .context = context, .why = why };
	char *line = text, *end = text + bytes;
	portprof_status status = PORTPROF_OK;

	reader.now.section = "";
	/* some editors put a byte order mark before UTF-8 */
	if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		line += 3;
	while (line < end && status == PORTPROF_OK) {
		char *newline = memchr(line, '\n', (size_t)(end - line));

		if (!newline)
			newline = end;
		*newline = '\0';
		reader.now.line++;
		status = take_line(&reader, line, (size_t)(newline - line));
		line = newline + 1;
	}
	return status;
}
