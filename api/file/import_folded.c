/* SPDX-License-Identifier: MIT */
/*
 * Imports folded stacks: a line is a call chain, outermost function first, with
 * semicolons between, a space and a number, as README.md of FlameGraph has it.
 */
#include "config.h"

#include "api/file/import.h"

#include <ctype.h>

/* The whole number at the end, which is cut off; false when there is none. */
static bool take_number(char *text, uint64_t *number)
{
	size_t end = strlen(text), at;

	while (end && isspace((unsigned char)text[end - 1]))
		end--;
	text[end] = '\0';
	for (at = end; at && isdigit((unsigned char)text[at - 1]); at--)
		;
	if (at == end || at == 0 || text[at - 1] != ' ')
		return false;
	*number = 0;
	for (size_t i = at; i < end; i++) {
		uint64_t digit = (uint64_t)(text[i] - '0');

		if (*number > (UINT64_MAX - digit) / 10)
			return false;
		*number = *number * 10 + digit;
	}
	while (at && text[at - 1] == ' ')
		at--;
	text[at] = '\0';
	return true;
}

static portprof_status take_line(struct ppi_import *import, char *text)
{
	portprof_status status = PORTPROF_OK;
	uint64_t number;
	char *at;

	if (!take_number(text, &number))
		return ppi_import_bad(
			import, "a line of folded stacks ends with a space and "
		                "a whole number: remove this one, or write the "
		                "file again");
	if (!text[0])
		return ppi_import_bad(
			import, "a line of folded stacks has functions before "
		                "its number: remove this one, or write the "
		                "file again");
	while (status == PORTPROF_OK && (at = strrchr(text, ';')) != NULL) {
		status = ppi_import_frame(import, PPI_NONE, 0,
		                          at[1] ? at + 1 : "[unknown]");
		*at = '\0';
	}
	if (status == PORTPROF_OK)
		status = ppi_import_frame(import, PPI_NONE, 0,
		                          text[0] ? text : "[unknown]");
	if (status != PORTPROF_OK)
		return status;
	if (number == 0) {
		import->chain.count = 0;
		return PORTPROF_OK;
	}
	return ppi_import_sample(import, 0, 0, NULL, 0, number, number);
}

portprof_status ppi_import_folded(struct ppi_import *import)
{
	portprof_profile *profile = import->profile;
	portprof_status status;
	char *text;

	if (!ppi_profile_add_event(profile, "weight",
	                           "the numbers of folded stacks",
	                           PORTPROF_UNIT_COUNT, false) ||
	    !ppi_profile_add_types(profile) ||
	    !ppi_profile_note(profile,
	                      "folded stacks have no threads, modules, command "
	                      "or unit: each number is read as a number of "
	                      "samples"))
		return ppi_import_memory(import);
	while ((status = ppi_import_line(import, &text)) == PORTPROF_OK &&
	       text && status == PORTPROF_OK) {
		if (text[strspn(text, " \t\r")] == '\0' ||
		    strncmp(text, "# ", 2) == 0)
			continue;
		status = take_line(import, text);
		if (status != PORTPROF_OK)
			return status;
	}
	return status;
}
