/* SPDX-License-Identifier: MIT */
/* Saying things to people, and reading what they typed. */
#include "config.h"

#include "tools/tools.h"

#include "tools/color.h"
#include "tools/progress.h"
#include <portprof.h>

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_WIDTH = 79 };

static void say_list(const char *words, va_list list)
{
	ppi_progress_hide();
	fprintf(stderr, "%sportprof:%s ", ppi_color(stderr, PPI_BOLD),
	        ppi_color(stderr, PPI_PLAIN));
	vfprintf(stderr, words, list);
	fputc('\n', stderr);
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

void ppi_put_wrapped(FILE *out, const char *words, int column)
{
	int at = column;

	while (*words) {
		int length = (int)strcspn(words, " ");

		if (at > column && at + 1 + length > LINE_WIDTH) {
			fprintf(out, "\n%*s", column, "");
			at = column;
		} else if (at > column) {
			fputc(' ', out);
			at++;
		}
		fprintf(out, "%.*s", length, words);
		at += length;
		words += length;
		words += strspn(words, " ");
	}
	fputc('\n', out);
}
