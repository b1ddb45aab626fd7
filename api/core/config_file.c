/* SPDX-License-Identifier: MIT */
/*
 * Configuration files: finding and reading them. A config gets all settings, or
 * none if there is a mistake.
 */
#include "config.h"

#include "api/common/diag.h"
#include "api/core/session_config.h"
#include "backends/backend.h"
#include "base/environment.h"
#include "base/foreign_file.h"
#include "base/vector.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files: finding and reading one ---- */

/* Far more than anyone writes; an endless file must not fill the memory. */
enum { FILE_BYTES_MAX = 1 << 20, READ_BYTES = 4096 };

static portprof_status no_memory(struct ppi_diag *why)
{
	return ppi_fail(why, PORTPROF_E_NOMEM, 0, "read configuration",
	                "out of memory");
}

static portprof_status cannot_read(const char *path, int error,
                                   struct ppi_diag *why)
{
	portprof_status status = PORTPROF_E_SYSTEM;

	if (error == ENOENT || error == ENOTDIR)
		status = PORTPROF_E_NOTFOUND;
	else if (error == EACCES || error == EPERM)
		status = PORTPROF_E_DENIED;
	else if (error == EISDIR || error == EINVAL)
		status = PORTPROF_E_INVALID;
	return ppi_fail(why, status, error, "read configuration",
	                "cannot read the configuration file '%.256s': %s",
	                path, ppi_foreign_error(error));
}

/* All bytes of the file, and a zero; returns 0 or an errno, EFBIG for too much. */
static int read_all(int fd, struct ppi_vector *text)
{
	for (;;) {
		ssize_t got;

		if (!ppi_vector_reserve(text, 1, READ_BYTES + 1))
			return ENOMEM;
		got = read(fd, PPI_AT(text, char) + text->count,
		           text->room - text->count - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		text->count += (size_t)got;
		if (got == 0)
			break;
		if (text->count > FILE_BYTES_MAX)
			return EFBIG;
	}
	PPI_AT(text, char)[text->count] = '\0';
	return 0;
}

static portprof_status slurp(const char *path, char **text, size_t *bytes,
                             struct ppi_diag *why)
{
	int fd = ppi_foreign_open(path, PPI_FOREIGN_TYPED, NULL), error;
	struct ppi_vector all = { .count = 0 };

	if (fd < 0)
		return cannot_read(path, errno, why);
	error = read_all(fd, &all);
	close(fd);
	if (error == 0) {
		*text = all.data;
		*bytes = all.count;
		return PORTPROF_OK;
	}
	ppi_vector_free(&all);
	if (error == ENOMEM)
		return no_memory(why);
	if (error == EFBIG)
		return ppi_fail(why, PORTPROF_E_LIMIT, 0, "read configuration",
		                "'%.256s' is longer than %d bytes: it is not a "
		                "configuration file", path, FILE_BYTES_MAX);
	return cannot_read(path, error, why);
}

static char *join(const char *folder, const char *rest)
{
	size_t bytes = strlen(folder) + strlen(rest) + 1;
	char *path = malloc(bytes);

	if (path)
		snprintf(path, bytes, "%s%s", folder, rest);
	return path;
}

/* The index-th place to look at, NULL when there is none of that kind; *last
 * when there are no more. XDG: a relative XDG_CONFIG_HOME is to be ignored. */
static char *place(unsigned index, bool *last)
{
	const char *folder;

	*last = index >= 1;
	if (index >= 1)
		return strdup(PPI_SYSCONFDIR "/portprof.conf");
	folder = ppi_environment("XDG_CONFIG_HOME");
	if (folder && folder[0] == '/')
		return join(folder, "/portprof/portprof.conf");
	folder = ppi_environment("HOME");
	return folder ? join(folder, "/.config/portprof/portprof.conf") :
	                strdup("");
}

/* A home that this user may not enter (su, cron and sudo leave those) holds no
 * file for it; a file that is there and cannot be read was meant to be. */
static bool is_out_of_reach(const char *path)
{
	struct stat at;

	return stat(path, &at) != 0;
}

static portprof_status search(char **found, char **text, size_t *bytes,
                              struct ppi_diag *why)
{
	bool last = false;

	for (unsigned i = 0; !last; i++) {
		char *path = place(i, &last);
		portprof_status status = PORTPROF_E_NOTFOUND;

		if (!path)
			return no_memory(why);
		if (path[0])
			status = slurp(path, text, bytes, why);
		if (status == PORTPROF_E_DENIED && is_out_of_reach(path))
			status = PORTPROF_E_NOTFOUND;
		if (status == PORTPROF_OK)
			*found = path;
		else
			free(path);
		if (status != PORTPROF_E_NOTFOUND)
			return status;
	}
	return ppi_fail(why, PORTPROF_E_NOTFOUND, 0, "find configuration",
	                "there is no configuration file: neither "
	                "PORTPROF_CONFIG names one, nor is there a "
	                "portprof/portprof.conf in XDG_CONFIG_HOME or "
	                "~/.config, nor a " PPI_SYSCONFDIR "/portprof.conf");
}

static portprof_status slurp_named(const char *path, char **found,
                                   char **text, size_t *bytes,
                                   struct ppi_diag *why)
{
	portprof_status status;
	char *copy = strdup(path);

	if (!copy)
		return no_memory(why);
	status = slurp(path, text, bytes, why);
	if (status == PORTPROF_OK)
		*found = copy;
	else
		free(copy);
	return status;
}

static portprof_status slurp_wanted(const char *path, char **found, char **text,
				    size_t *bytes, struct ppi_diag *why)
{
	const char *named = path ? path : ppi_environment("PORTPROF_CONFIG");
	portprof_status status;

	if (!named)
		return search(found, text, bytes, why);
	status = slurp_named(named, found, text, bytes, why);
	/* NOTFOUND without a path means that nobody wants a file */
	if (status == PORTPROF_E_NOTFOUND && !path)
		return ppi_fail(why, PORTPROF_E_INVALID, ENOENT,
		                "find configuration",
		                "PORTPROF_CONFIG names '%.256s', which does "
		                "not exist; correct or unset it", named);
	return status;
}

/* ---- text: line by line ---- */

/*
 * Sections of `key = value` lines. Event
 * strings hold ':', '=' and '@', so the first '=' of a line parts key from
 * value, nothing is quoted, and only a line can be a comment.
 */

/* A setting, or the beginning of a section (key is NULL). The strings stay
 * as long as the text. */
struct line {
	const char *section; /* "" before the first one */
	const char *key, *value;
	unsigned line;
	size_t key_column, value_column; /* 1-based, in bytes */
};

typedef portprof_status (*line_fn)(
	const struct line *line, void *context,
	struct ppi_diag *why);

struct reader {
	const char *name;
	struct line now;
	line_fn take;
	void *context;
	struct ppi_diag *why;
};

/* A failure with its place. */
static portprof_status mistake_at(struct ppi_diag *why,
                                  portprof_status status, const char *name,
                                  unsigned line, size_t column,
                                  const char *words, ...)
{
	char said[PORTPROF_WORDS_BYTES];
	va_list values;

	va_start(values, words);
	vsnprintf(said, sizeof(said), words, values);
	va_end(values);
	ppi_fail(why, status, 0, "read configuration", "%.256s:%u:%zu: %s", name,
	         line, column, said);
	if (why) {
		snprintf(why->place, sizeof(why->place), "%s", name);
		why->line = line;
	}
	return ppi_at_column(why, PORTPROF_REASON_SYNTAX, column, status);
}

/* `at` points into `line`. */
static portprof_status mistake(const struct reader *reader, const char *line,
                               const char *at, const char *words)
{
	return mistake_at(reader->why, PORTPROF_E_INVALID,
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

/* Zeros and control characters hide things from the reader of a file. */
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

/*
 * Call `take` for every section and setting, in order, until one fails.
 * `text` has a zero after its `bytes` bytes and is changed on the way;
 * `name` stands for it in messages: "NAME:LINE:COLUMN: words".
 */
static portprof_status read_lines(const char *name, char *text, size_t bytes,
                                  line_fn take, void *context,
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

/* ---- into a config ---- */

struct section {
	const char *name;
	unsigned line;
};

/* What is known half way through a text. Sets that were not asked for are
 * read as strictly as the others, into a config that nobody uses. */
struct load {
	const char *name, *set;
	portprof_config *draft, *unused;
	bool is_wanted;               /* the current section */
	bool is_found;                /* the set that was asked for */
	unsigned seen[PPI_KEY_COUNT]; /* line of each key in this section */
	struct ppi_vector sections; /* of struct section */
	struct ppi_diag *why;
};

static portprof_status begin_set(struct load *load,
                                 const struct line *line)
{
	const struct section *sections =
		PPI_AT(&load->sections, const struct section);
	const struct section begun = { line->section, line->line };

	for (size_t i = 0; i < load->sections.count; i++)
		if (strcmp(sections[i].name, line->section) == 0)
			return mistake_at(
			    load->why, PORTPROF_E_INVALID, load->name,
			    line->line, line->key_column,
			    "there is a set '%.64s' at line %u already; "
			    "join the two",
			    line->section, sections[i].line);
	if (!ppi_vector_add(&load->sections, sizeof(begun), &begun, 1))
		return no_memory(load->why);
	memset(load->seen, 0, sizeof(load->seen));
	portprof_config_free(load->unused);
	load->unused = portprof_config_new();
	load->is_wanted = strcmp(load->set, line->section) == 0;
	load->is_found |= load->is_wanted;
	return load->unused ? PORTPROF_OK : no_memory(load->why);
}

/* A key twice in one set, or a rate and a period, cannot both be meant. */
static portprof_status check_seen(struct load *load, enum ppi_key key,
				  const struct line *line)
{
	enum ppi_key rival = key == PPI_KEY_FREQUENCY ? PPI_KEY_PERIOD
			     : key == PPI_KEY_PERIOD  ? PPI_KEY_FREQUENCY
						      : key;

	if (ppi_key_is_list(key))
		return PORTPROF_OK;
	if (load->seen[key])
		return mistake_at(
		    load->why, PORTPROF_E_INVALID, load->name, line->line,
		    line->key_column,
		    "%s is already set at line %u; keep one of the two",
		    line->key, load->seen[key]);
	if (load->seen[rival])
		return mistake_at(
		    load->why, PORTPROF_E_INVALID, load->name, line->line,
		    line->key_column,
		    "%s cannot be combined with the %s of line %u; keep "
		    "one of the two",
		    line->key, ppi_key_name(rival), load->seen[rival]);
	load->seen[key] = line->line;
	return PORTPROF_OK;
}

static portprof_status remember_place(struct load *load, enum ppi_key key,
				      const struct line *line)
{
	size_t bytes = strlen(load->name) + 24;
	char *place = malloc(bytes);
	bool is_kept = false;

	if (place) {
		snprintf(place, bytes, "%s:%u", load->name, line->line);
		is_kept = ppi_config_came_from(load->draft, key, place);
	}
	free(place);
	return is_kept ? PORTPROF_OK : no_memory(load->why);
}

static portprof_status load_setting(struct load *load,
				    const struct line *line)
{
	enum ppi_key key = ppi_key_find(line->key);
	portprof_config *into = load->is_wanted ? load->draft : load->unused;
	size_t column;
	portprof_status status;

	if (key == PPI_KEY_COUNT) {
		struct ppi_diag why;

		ppi_key_unknown(line->key, &why);
		return mistake_at(load->why, why.status, load->name,
				      line->line, line->key_column, "%s",
				      why.words);
	}
	status = check_seen(load, key, line);
	if (status)
		return status;
	status = ppi_key_apply(into, key, line->value, load->is_wanted,
			       load->why);
	column = status && load->why->column ? load->why->column - 1 : 0;
	if (status)
		return mistake_at(load->why, status, load->name,
				      line->line, line->value_column + column,
				      "%s", load->why->words);
	return load->is_wanted ? remember_place(load, key, line) : PORTPROF_OK;
}

static portprof_status load_line(const struct line *line,
				 void *context, struct ppi_diag *why)
{
	struct load *load = context;

	load->why = why;
	return line->key ? load_setting(load, line) : begin_set(load, line);
}

static portprof_status refuse_set(const struct load *load)
{
	struct ppi_nearest nearest;
	char known[256] = "", hint[320];

	ppi_nearest_begin(&nearest, load->set);
	for (size_t i = 0; i < load->sections.count; i++) {
		const char *name =
			PPI_AT(&load->sections, const struct section)[i].name;
		size_t used = strlen(known);

		ppi_nearest_offer(&nearest, name);
		snprintf(known + used, sizeof(known) - used, "%s%s",
			 i ? ", " : "; the file has ", name);
	}
	return ppi_suggest(
		load->why, &nearest,
		ppi_fail(load->why, PORTPROF_E_INVALID, 0, "choose set",
			 "%.256s: there is no set '%.64s'%s%s", load->name,
			 load->set,
			 ppi_nearest_say(&nearest, hint, sizeof(hint)),
			 load->sections.count ? known : "; it has no sets"));
}

static void swap(portprof_config *a, portprof_config *b)
{
	portprof_config c = *a;

	*a = *b;
	*b = c;
}

/* `text` is changed on the way. */
static portprof_status load_text(portprof_config *config, const char *name,
				 char *text, size_t bytes, const char *set,
				 struct ppi_diag *why)
{
	struct load load = {.name = name,
			    .set = set ? set : "",
			    .is_wanted = true,
			    .why = why};
	portprof_status status = PORTPROF_E_NOMEM;

	load.draft = ppi_config_copy(config);
	if (!load.draft)
		return no_memory(why);
	free(load.draft->file);
	load.draft->file = strdup(name);
	if (!load.draft->file) {
		portprof_config_free(load.draft);
		return no_memory(why);
	}
	status = read_lines(name, text, bytes, load_line, &load, why);
	if (status == PORTPROF_OK && load.set[0] && !load.is_found)
		status = refuse_set(&load);
	if (status == PORTPROF_OK)
		swap(config, load.draft);
	portprof_config_free(load.draft);
	portprof_config_free(load.unused);
	ppi_vector_free(&load.sections);
	return status;
}

portprof_status portprof_config_load(portprof_config *config, const char *path,
				     const char *set)
{
	char *found = NULL, *text = NULL;
	struct ppi_diag why;
	size_t bytes;
	portprof_status status;

	if (!config)
		return ppi_refuse_null("portprof_config_load", "config");
	status = slurp_wanted(path, &found, &text, &bytes, &why);
	if (status == PORTPROF_OK)
		status = load_text(config, found, text, bytes, set, &why);
	free(found);
	free(text);
	return status ? ppi_report(&why) : PORTPROF_OK;
}

portprof_status portprof_config_load_text(portprof_config *config,
					  const char *name, const char *text,
					  const char *set)
{
	struct ppi_diag why;
	portprof_status status;
	char *copy;

	if (!config || !name || !text)
		return ppi_refuse_null("portprof_config_load_text",
				       !config ? "config"
				       : !name ? "name"
					       : "text");
	copy = strdup(text);
	status = copy ? load_text(config, name, copy, strlen(copy), set, &why)
		      : no_memory(&why);
	free(copy);
	return status ? ppi_report(&why) : PORTPROF_OK;
}
