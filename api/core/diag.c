/* SPDX-License-Identifier: MIT */
/*
 * What every public function ends with: a diagnostic, written where something fails
 * and kept for the calling thread; and a structure copied to a caller that was built
 * with another size of it.
 */
#include "api/core/diag.h"


#include "base/text.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static _Thread_local portprof_diag last_diag;

/* What is said may quote what a file says; a character cut in the middle by
 * vsnprintf is none, and would be written out. */
static void trim_half_character(char *text)
{
	size_t end = strlen(text), start = end;

	while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
		start--;
	if (start == 0 || (unsigned char)text[start - 1] < 0xc0)
		return;
	unsigned char lead = (unsigned char)text[start - 1];
	size_t wanted = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;

	if (end - start < wanted)
		text[start - 1] = '\0';
}

static void fill(struct ppi_diag *why, portprof_status status, int os_errno,
                 const char *step, const char *words, va_list values)
{
	/* words may quote why->words: format aside, then copy */
	char text[PORTPROF_WORDS_BYTES];

	if (vsnprintf(text, sizeof(text), words, values) >= (int)sizeof(text))
		trim_half_character(text);
	why->status = status;
	why->os_errno = os_errno;
	snprintf(why->step, sizeof(why->step), "%s", step);
	ppi_text_clean(text, why->words, sizeof(why->words));
}

portprof_status ppi_fail(struct ppi_diag *why, portprof_status status,
                         int os_errno, const char *step, const char *words,
                         ...)
{
	va_list values;

	if (!why)
		return status;
	va_start(values, words);
	fill(why, status, os_errno, step, words, values);
	va_end(values);
	return status;
}

portprof_status ppi_report(const struct ppi_diag *why)
{
	last_diag.status = why->status;
	last_diag.os_errno = why->os_errno;
	memcpy(last_diag.step, why->step, sizeof(last_diag.step));
	memcpy(last_diag.words, why->words, sizeof(last_diag.words));
	return why->status;
}

portprof_status ppi_refuse(portprof_status status, const char *step,
                           const char *words, ...)
{
	struct ppi_diag why;
	va_list values;

	va_start(values, words);
	fill(&why, status, 0, step, words, values);
	va_end(values);
	return ppi_report(&why);
}

portprof_status ppi_refuse_null(const char *function, const char *argument)
{
	return ppi_refuse(PORTPROF_E_INVALID, function,
	                  "%s: argument '%s' is NULL", function, argument);
}

const portprof_diag *portprof_last_diag(void)
{
	return &last_diag;
}

portprof_status ppi_sized_copy(void *out, const void *full, size_t full_bytes,
                               const char *step)
{
	size_t size, bytes;

	memcpy(&size, out, sizeof(size));
	if (size < sizeof(size))
		return ppi_refuse(PORTPROF_E_INVALID, step,
		                  "set the structure's size field to its "
		                  "sizeof before the call");
	bytes = size < full_bytes ? size : full_bytes;
	memcpy((char *)out + sizeof(size), (const char *)full + sizeof(size),
	       bytes - sizeof(size));
	memset((char *)out + bytes, 0, size - bytes);
	return PORTPROF_OK;
}
