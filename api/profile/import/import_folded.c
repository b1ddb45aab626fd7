/* SPDX-License-Identifier: MIT */
/*
 * Imports folded stacks: a line is a call chain, outermost function first, with
 * semicolons between, a space and a number, as README.md of FlameGraph has it;
 * two numbers where difffolded.pl wrote it. It is read twice, as the numbers
 * may have fractions.
 */
#include "config.h"

#include "api/profile/import/import.h"

#include <ctype.h>
#include <stdio.h>

enum { FRACTION_MAX = 6 };

/* A number: its digits in text, and those of its fraction. */
struct number {
	const char *whole, *fraction, *end;
};

/* What all lines have in common. */
struct form {
	int columns, fraction;
};

/* The number before `end`, with a space and something before it. */
static bool find_number(const char *text, const char *end,
                        struct number *number)
{
	const char *at;
	bool has_point;

	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	has_point = end > text && end[-1] == '.'; /* "6." */
	for (at = end - has_point; at > text && isdigit((unsigned char)at[-1]); at--)
		;
	*number = (struct number){ at, end, end };
	if (at < end && at > text && at[-1] == '.') {
		number->fraction = at--;
		while (at > text && isdigit((unsigned char)at[-1]))
			at--;
		number->whole = at;
	}
	return at < end && isdigit((unsigned char)*at) && at > text &&
	       (at[-1] == ' ' || at[-1] == '\t');
}

int ppi_import_folded_columns(const char *line)
{
	struct number last, before;

	if (!find_number(line, line + strlen(line), &last))
		return 0;
	return find_number(line, last.whole, &before) ? 2 : 1;
}

static bool add_digit(uint64_t *value, char digit)
{
	if (*value > (UINT64_MAX - 9) / 10)
		return false;
	*value = *value * 10 + (uint64_t)(digit - '0');
	return true;
}

/* Scaled by 10 to the power of `digits`, rounded; false when it is too large. */
static bool value_of(const struct number *number, int digits, uint64_t *value)
{
	const char *at;

	*value = 0;
	for (at = number->whole; isdigit((unsigned char)*at) &&
	                         at < number->end; at++)
		if (!add_digit(value, *at))
			return false;
	for (at = number->fraction; digits; at++, digits--)
		if (!add_digit(value, at < number->end ? *at : '0'))
			return false;
	*value += at < number->end && *at >= '5';
	return true;
}

static portprof_status bad_line(const struct ppi_import *import,
                                const char *text, const char *at,
                                const char *words)
{
	return ppi_import_bad(import, (size_t)(at - text) + 1, words);
}

static bool is_line(const char *text)
{
	return text[strspn(text, " \t\r")] != '\0' &&
	       strncmp(text, "# ", 2) != 0;
}

static portprof_status find_form(struct ppi_import *import, struct form *form)
{
	portprof_status status = ppi_import_again(import);
	char *text = NULL;

	*form = (struct form){ 2, 0 };
	while (status == PORTPROF_OK &&
	       (status = ppi_import_line(import, &text)) == PORTPROF_OK &&
	       text) {
		int columns = ppi_import_folded_columns(text);
		const char *end = text + strlen(text);
		struct number number;

		if (columns == 1 && is_line(text))
			form->columns = 1;
		for (int i = 0; i < columns; i++) {
			find_number(text, end, &number);
			end = number.whole;
			if (number.end - number.fraction > form->fraction)
				form->fraction =
					(int)(number.end - number.fraction);
		}
	}
	if (form->fraction > FRACTION_MAX)
		form->fraction = FRACTION_MAX;
	return status;
}

static bool add_events(portprof_profile *profile, const struct form *form)
{
	static const char *const parts[FRACTION_MAX + 1] = {
		"", "tenths", "hundredths", "thousandths", "ten-thousandths",
		"hundred-thousandths", "millionths"
	};
	const char *part = parts[form->fraction];
	char name[64], before[64];

	snprintf(before, sizeof(before), "before%s%s", part[0] ? "-" : "",
	         part);
	snprintf(name, sizeof(name), "%s%s%s",
	         form->columns == 2 ? "after" : "weight", part[0] ? "-" : "",
	         part);
	if (form->columns == 2 &&
	    !ppi_profile_add_event(profile, before,
	                           "the first numbers of folded stacks",
	                           PORTPROF_UNIT_COUNT, false))
		return false;
	return ppi_profile_add_event(profile, name,
	                             form->columns == 2
	                             ? "the second numbers of folded stacks"
	                             : "the numbers of folded stacks",
	                             PORTPROF_UNIT_COUNT, false) &&
	       ppi_profile_add_types(profile) &&
	       ppi_profile_note(profile,
	                        "folded stacks have no threads, modules, "
	                        "command or unit: each number is read as a "
	                        "number of samples") &&
	       (!part[0] || ppi_profile_note(profile,
	                                     "the numbers of these folded "
	                                     "stacks have fractions, so parts "
	                                     "are counted"));
}

static portprof_status take_chain(struct ppi_import *import, char *text)
{
	portprof_status status = PORTPROF_OK;
	char *at;

	while (status == PORTPROF_OK && (at = strrchr(text, ';')) != NULL) {
		status = ppi_import_frame(import, PPI_NONE, 0,
		                          at[1] ? at + 1 : "[unknown]");
		*at = '\0';
	}
	return status == PORTPROF_OK
	               ? ppi_import_frame(import, PPI_NONE, 0,
	                                  text[0] ? text : "[unknown]")
	               : status;
}

/* The values of a line, its counts of samples first; the numbers are cut off. */
static portprof_status take_values(struct ppi_import *import,
                                   const struct form *form, char *text,
                                   uint64_t values[4])
{
	char *end = text + strlen(text);
	struct number number;
	int events = form->columns;

	for (int i = events; i-- > 0;) {
		if (!find_number(text, end, &number))
			return bad_line(import, text, text + strlen(text),
			                "a folded stack ends with a space and "
			                "a number: remove this line, or write "
			                "the file again");
		if (!value_of(&number, form->fraction, &values[i]))
			return bad_line(import, text, number.whole,
			                "this number is too large: remove this "
			                "line, or write the file again");
		values[events + i] = values[i];
		end = text + (number.whole - text);
	}
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	if (end == text)
		return ppi_import_bad(import, 1,
		                      "a folded stack has functions before its "
		                      "number: remove this line, or write the "
		                      "file again");
	return PORTPROF_OK;
}

static portprof_status take_line(struct ppi_import *import,
                                 const struct form *form, char *text)
{
	uint64_t values[4];
	portprof_status status = take_values(import, form, text, values);

	if (status == PORTPROF_OK)
		status = take_chain(import, text);
	if (status != PORTPROF_OK)
		return status;
	if (values[0] == 0 && values[form->columns - 1] == 0) {
		import->chain.count = 0;
		return PORTPROF_OK;
	}
	return ppi_import_sample_of(import, 0, 0, NULL, values);
}

portprof_status ppi_import_folded(struct ppi_import *import)
{
	struct form form;
	portprof_status status = find_form(import, &form);
	char *text = NULL;

	if (status == PORTPROF_OK && !add_events(import->profile, &form))
		status = ppi_import_memory(import);
	if (status == PORTPROF_OK)
		status = ppi_import_again(import);
	while (status == PORTPROF_OK &&
	       (status = ppi_import_line(import, &text)) == PORTPROF_OK && text)
		if (is_line(text))
			status = take_line(import, &form, text);
	return status;
}
