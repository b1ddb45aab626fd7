/* SPDX-License-Identifier: MIT */
/* Options of a file, one a line, as they stand on a command line: before it, so that it
 * has the last word. A service reads them again (record_push.c). */
#include "config.h"

#include "tools/record/record.h"

#include "base/foreign_file.h"
#include "tools/tools.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20 };

/* To be freed; NULL with words. */
static char *read_text(const char *path)
{
	char *text = ppi_foreign_text(path, PPI_FOREIGN_TYPED, FILE_BYTES_MAX);

	if (!text)
		ppi_say("--options: cannot read '%s': %s", path,
		        errno == EFBIG || errno == EILSEQ
		                ? "it is no text of options"
		                : ppi_foreign_error(errno));
	return text;
}

/* "-F 19", "--tag env=prod", "-g": the rest of the line is the value. */
static int cut(char *line, char *words[3])
{
	size_t length;
	int count = 1;

	line += strspn(line, " \t");
	length = strlen(line);
	while (length && isspace((unsigned char)line[length - 1]))
		line[--length] = '\0';
	if (!line[0] || line[0] == '#')
		return 1;
	words[count++] = line;
	line += strcspn(line, " \t");
	if (line[0]) {
		*line++ = '\0';
		words[count++] = line + strspn(line, " \t");
	}
	return count;
}

/* Help is asked for, and another file named, on the command line alone. */
static bool is_for_files(const char *word)
{
	return word[0] == '-' && word[1] && strcmp(word, "--") != 0 &&
	       word[1] != 'h' && strncmp(word, "--help", 6) != 0 &&
	       strncmp(word, "--options", 9) != 0;
}

static int read_lines(const struct ppi_line *line, const char *path,
                      char *text, struct ppi_record_options *options)
{
	static char verb[] = "record";
	unsigned number = 0;

	while (*text) {
		char *words[4] = { verb }, *at = text;
		size_t length = strcspn(text, "\n");
		int count, status = PPI_LINE_READ;

		text += length + (text[length] == '\n');
		at[length] = '\0';
		count = cut(at, words);
		number++;
		if (count == 1)
			continue;
		if (is_for_files(words[1]))
			status = ppi_line_read(line, count, words, options);
		if (status == PPI_LINE_READ && is_for_files(words[1]) &&
		    optind == count)
			continue;
		ppi_say("'%s', line %u: %s", path, number,
		        status == PPI_LINE_READ
		                ? "not an option, with its value behind it"
		                : "that is wrong");
		return line->wrong;
	}
	return PPI_LINE_READ;
}

int ppi_again_read(struct ppi_again *again,
                   struct ppi_record_options *options)
{
	const struct ppi_line line = ppi_record_line();
	struct ppi_record_options first = { 0 };
	char *text = NULL;
	int status = ppi_line_read(&line, again->argc, again->argv, &first);

	if (status == PPI_LINE_READ && first.options_path) {
		text = read_text(first.options_path);
		status = text ? read_lines(&line, first.options_path, text,
		                           options)
		              : line.wrong;
	}
	if (status == PPI_LINE_READ)
		status = ppi_record_read_options(&line, again->argc,
		                                 again->argv, options);
	if (status == PPI_LINE_READ && options->options_path) {
		options->again = again;
		if (options->targets.scope != PPI_SCOPE_SYSTEM)
			status = ppi_line_wrong(&line, "--options is for -a "
			                               "and --push");
	}
	/* words of it may be in the options of a line that is refused, too */
	again->text = text;
	return status;
}
