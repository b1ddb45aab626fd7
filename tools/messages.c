/* SPDX-License-Identifier: MIT */
/* Messages on stderr, text for terminals and fields, and reading numbers. */
#include "config.h"

#include "tools/tools.h"

#include "base/text.h"
#include "tools/color.h"
#include "tools/progress.h"
#include <portprof.h>

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_WIDTH = 79 };

/* All of a message is cleaned, not each name in it: none can be forgotten. */
static void say_list(const char *words, va_list list)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	ppi_progress_hide();
	if (out) {
		vfprintf(out, words, list);
		if (fclose(out) != 0)
			text = NULL;
	}
	fprintf(stderr, "%sportprof:%s ", ppi_color(stderr, PPI_BOLD),
	        ppi_color(stderr, PPI_PLAIN));
	/* on a terminal no word is cut; elsewhere a message is one line */
	if (ppi_terminal_width(stderr)) {
		ppi_put_wrapped_to(stderr, text ? text : "out of memory",
		                   (int)strlen("portprof: "),
		                   ppi_line_width(stderr));
	} else {
		ppi_put_text(text ? text : "out of memory", stderr);
		fputc('\n', stderr);
	}
	free(text);
}

void ppi_put_text(const char *text, FILE *out)
{
	char piece[PPI_TEXT_PIECE];
	size_t length;

	while ((length = ppi_text_next(&text, piece)) > 0)
		fwrite(piece, 1, length, out);
}

const char *ppi_shown(const char *text, char room[PPI_SHOWN_BYTES])
{
	if (ppi_text_is_clean(text))
		return text;
	ppi_text_clean(text, room, PPI_SHOWN_BYTES);
	return room;
}

void ppi_say(const char *words, ...)
{
	va_list list;

	va_start(list, words);
	say_list(words, list);
	va_end(list);
}

int ppi_say_usage(int status, const char *verb, const char *words, ...)
{
	va_list list;

	va_start(list, words);
	say_list(words, list);
	va_end(list);
	fprintf(stderr, "Try 'portprof%s%s --help'.\n", verb ? " " : "",
	        verb ? verb : "");
	return status;
}

void ppi_say_failure(const char *doing)
{
	const portprof_diag *why = portprof_last_diag();

	ppi_say("%s%s%s", doing ? doing : "", doing ? ": " : "",
	        why->words[0] ? why->words
	                      : portprof_status_text(why->status));
}

void ppi_say_no_match(const char *name, const char *words, const char *remedy)
{
	const char *meant = strstr(words, "; did you mean");

	ppi_say("nothing matches '%s'; %s", name, meant ? meant + 2 : remedy);
}

bool ppi_read_number(const char *text, uint64_t least, uint64_t most,
                     uint64_t *number)
{
	uint64_t value;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	value = strtoumax(text, &end, 10);
	if (errno || *end || value < least || value > most)
		return false;
	*number = value;
	return true;
}

void ppi_put_field(const char *text, const char *separator, FILE *out)
{
	bool is_formula = text[0] && strchr("=+-@", text[0]);
	bool is_quoted = strstr(text, separator) || strchr(text, '"');
	char piece[PPI_TEXT_PIECE];
	size_t length;

	fputs(is_quoted ? "\"" : "", out);
	fputs(is_formula ? "'" : "", out);
	while ((length = ppi_text_next(&text, piece)) > 0) {
		if (piece[0] == '"')
			fputc('"', out);
		fwrite(piece, 1, length, out);
	}
	fputs(is_quoted ? "\"" : "", out);
}

/* What is shown of the next character, and how many columns that takes. */
static int next_piece(const char **text, char piece[PPI_TEXT_PIECE + 1])
{
	piece[ppi_text_next(text, piece)] = '\0';
	return (int)ppi_text_width(piece);
}

/* Columns of the word that begins there, as it is shown. */
static int word_width(const char *word, const char *end)
{
	char piece[PPI_TEXT_PIECE + 1];
	int width = 0;

	while (word < end)
		width += next_piece(&word, piece);
	return width;
}

void ppi_put_wrapped_to(FILE *out, const char *words, int column, int width)
{
	int at = column;

	while (*words) {
		const char *end = words + strcspn(words, " ");

		if (at > column && at + 1 + word_width(words, end) > width) {
			fprintf(out, "\n%*s", column, "");
			at = column;
		} else if (at > column) {
			fputc(' ', out);
			at++;
		}
		while (words < end) {
			char piece[PPI_TEXT_PIECE + 1];
			int more = next_piece(&words, piece);

			if (at > column && at + more > width) {
				fprintf(out, "\n%*s", column, "");
				at = column;
			}
			fputs(piece, out);
			at += more;
		}
		words += strspn(words, " ");
	}
	fputc('\n', out);
}

void ppi_put_wrapped(FILE *out, const char *words, int column)
{
	ppi_put_wrapped_to(out, words, column, LINE_WIDTH);
}
