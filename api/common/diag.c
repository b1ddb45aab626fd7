/* SPDX-License-Identifier: MIT */
/*
 * What every public function ends with: a diagnostic, written where something fails
 * and kept for the calling thread; and a structure copied to a caller that was built
 * with another size of it.
 */
#include "api/common/diag.h"

#include "base/text.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the last calls of a thread have left for it ---- */

/*
 * Some KiB, which only threads need that ask or fail. In thread-local memory they would
 * be part of what the loader sets aside at once, for the few words of it that signal
 * handlers use (base/thread.h), and a program that loads the library later has not so
 * much left (glibc, rtld.optional_static_tls: 512 bytes).
 */
static pthread_key_t key;
static bool has_key;

/* Most programs ask in one thread: its own needs no allocation, and is left to
 * another when it ends. */
static struct ppi_last first;
static _Atomic bool is_taken;

static void give_back(void *memory)
{
	if (memory != &first) {
		free(memory);
		return;
	}
	memset(&first, 0, sizeof(first));
	atomic_store(&is_taken, false);
}

static void make_key(void)
{
	has_key = pthread_key_create(&key, give_back) == 0;
}

struct ppi_last *ppi_last(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static struct ppi_last shared;
	struct ppi_last *last;

	pthread_once(&once, make_key);
	last = has_key ? pthread_getspecific(key) : NULL;
	if (last || !has_key)
		return last ? last : &shared;
	last = atomic_exchange(&is_taken, true) ? calloc(1, sizeof(*last))
	                                        : &first;
	if (last && pthread_setspecific(key, last) == 0)
		return last;
	if (last)
		give_back(last);
	return &shared;
}

/* ---- diagnostics ---- */

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

/* What a status means when nothing more exact is known. */
static portprof_reason usual_reason(portprof_status status, int os_errno)
{
	static const unsigned char reasons[] = {
		[-PORTPROF_E_INVALID] = PORTPROF_REASON_ARGUMENT,
		[-PORTPROF_E_UNSUPPORTED] = PORTPROF_REASON_NOT_SUPPORTED,
		[-PORTPROF_E_DENIED] = PORTPROF_REASON_NEEDS_RIGHT,
		[-PORTPROF_E_BUSY] = PORTPROF_REASON_IN_USE,
		[-PORTPROF_E_NOMEM] = PORTPROF_REASON_NO_MEMORY,
		[-PORTPROF_E_NOTFOUND] = PORTPROF_REASON_UNKNOWN_NAME,
		[-PORTPROF_E_LIMIT] = PORTPROF_REASON_LIMIT,
		[-PORTPROF_E_STATE] = PORTPROF_REASON_STATE,
		[-PORTPROF_E_FORKED] = PORTPROF_REASON_FORKED,
		[-PORTPROF_E_SYSTEM] = PORTPROF_REASON_SYSTEM,
		[-PORTPROF_E_FORMAT] = PORTPROF_REASON_FORMAT,
	};

	if (status == PORTPROF_E_NOTFOUND && os_errno == ESRCH)
		return PORTPROF_REASON_TARGET_GONE;
	return status < 0 && (size_t)-status < sizeof(reasons)
	       ? (portprof_reason)reasons[-status] : PORTPROF_REASON_NONE;
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
	why->reason = usual_reason(status, os_errno);
	why->place[0] = '\0';
	why->line = why->column = 0;
	for (size_t i = 0; i < PORTPROF_SUGGESTIONS; i++)
		why->suggestions[i][0] = '\0';
}

portprof_status ppi_because(struct ppi_diag *why, portprof_reason reason,
                            portprof_status status)
{
	if (why)
		why->reason = reason;
	return status;
}

portprof_status ppi_at_column(struct ppi_diag *why, portprof_reason reason,
                              size_t column, portprof_status status)
{
	if (why)
		why->column = (unsigned)column;
	return ppi_because(why, reason, status);
}

portprof_status ppi_suggest(struct ppi_diag *why,
                            const struct ppi_nearest *nearest,
                            portprof_status status)
{
	for (size_t i = 0; why && i < PORTPROF_SUGGESTIONS; i++)
		snprintf(why->suggestions[i], sizeof(why->suggestions[i]), "%s",
		         nearest->best[i]);
	return ppi_because(why, PORTPROF_REASON_UNKNOWN_NAME, status);
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
	portprof_diag *last = &ppi_last()->diag;

	last->status = why->status;
	last->os_errno = why->os_errno;
	memcpy(last->step, why->step, sizeof(last->step));
	memcpy(last->words, why->words, sizeof(last->words));
	last->reason = why->reason;
	memcpy(last->place, why->place, sizeof(last->place));
	last->line = why->line;
	last->column = why->column;
	memcpy(last->suggestions, why->suggestions,
	       sizeof(last->suggestions));
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
	return &ppi_last()->diag;
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
