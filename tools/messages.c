/* SPDX-License-Identifier: MIT */
/* Messages on stderr, with close matches and the backends that they name; text
 * for terminals and fields, and reading numbers. */
#include "config.h"

#include <portprof.h>

#include "base/json.h"
#include "base/text.h"
#include "tools/terminal.h"
#include "tools/tools.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- close matches for an unknown name ---- */

enum { LONGEST = 64 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters that are wrong, missing, too many, or have changed places (optimal
 * string alignment): three rows of its table. */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][LONGEST + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2], *free_row;
	size_t width = strlen(b);

	for (size_t j = 0; j <= width; j++)
		last[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		now[0] = i;
		for (size_t j = 1; j <= width; j++) {
			bool is_same = a[i - 1] == b[j - 1];

			now[j] = least(last[j - 1] + !is_same,
			               least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				now[j] = least(now[j], before[j - 2] + 1);
		}
		free_row = before;
		before = last;
		last = now;
		now = free_row;
	}
	return last[width];
}

/* How far away a name is; SIZE_MAX too far. What contains the word is near. */
static size_t far_away(const char *wanted, const char *name)
{
	size_t letters = strlen(wanted), found;

	if (letters >= 3 && strstr(name, wanted))
		return 1;
	if (letters < 2 || letters > LONGEST || strlen(name) > LONGEST)
		return SIZE_MAX;
	found = distance(wanted, name);
	return found <= (letters + 1) / 3 ? found : SIZE_MAX;
}

void ppi_guess_offer(struct ppi_guess *guess, const char *name)
{
	size_t far = far_away(guess->wanted, name);
	size_t at = guess->count;

	for (size_t i = 0; i < guess->count; i++)
		if (strcmp(guess->names[i], name) == 0)
			return;
	while (at > 0 && guess->distances[at - 1] > far)
		at--;
	if (far == SIZE_MAX || at == PPI_GUESSES)
		return;
	if (guess->count < PPI_GUESSES)
		guess->count++;
	for (size_t i = guess->count - 1; i > at; i--) {
		guess->names[i] = guess->names[i - 1];
		guess->distances[i] = guess->distances[i - 1];
	}
	guess->names[at] = name;
	guess->distances[at] = far;
}

const char *ppi_guess_words(const struct ppi_guess *guess, const char *before,
                            char *out, size_t bytes)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < guess->count && used < bytes; i++)
		used += (size_t)snprintf(
			out + used, bytes - used, "%s%s%s",
			i == 0                  ? "; did you mean "
			: i + 1 == guess->count ? " or "
			                        : ", ",
			before, guess->names[i]);
	if (guess->count && used + 1 < bytes)
		snprintf(out + used, bytes - used, "?");
	return out;
}

/* Of "label:NAME" what stands before the colon is compared, and what was typed behind it
 * stays. */
const char *ppi_guess_among(const char *(*word)(size_t i), const char *typed,
                            char *out, size_t bytes)
{
	enum { WORDS_MAX = 32, HEAD_BYTES = 24 };
	char heads[WORDS_MAX][HEAD_BYTES], tails[PPI_GUESSES][64];
	size_t head = strcspn(typed, ":");
	char wanted[HEAD_BYTES];
	struct ppi_guess guess = { .wanted = wanted };

	snprintf(wanted, sizeof(wanted), "%.*s", (int)head, typed);
	for (size_t i = 0; i < WORDS_MAX && word(i); i++) {
		snprintf(heads[i], HEAD_BYTES, "%.*s",
		         (int)strcspn(word(i), ":"), word(i));
		ppi_guess_offer(&guess, heads[i]);
	}
	for (size_t i = 0; i < guess.count; i++) {
		size_t at = (size_t)(guess.names[i] - heads[0]) / HEAD_BYTES;
		const char *tail = strchr(word(at), ':');

		if (tail && typed[head] == ':' && typed[head + 1])
			tail = typed + head;
		snprintf(tails[i], sizeof(tails[i]), "%s%.32s", guess.names[i],
		         tail ? tail : "");
		guess.names[i] = tails[i];
	}
	return ppi_guess_words(&guess, "", out, bytes);
}

/* ---- backends ---- */

/* The backends that this operating system has, for help and messages. */

/* The library has those of other systems too; they are refused by no call. */
bool ppi_backend_is_here(const portprof_backend_info *backend)
{
	return backend->is_usable || backend->os_errno ||
	       backend->status != PORTPROF_E_UNSUPPORTED;
}

static bool read_info(size_t index, portprof_backend_info *backend)
{
	memset(backend, 0, sizeof(*backend));
	backend->size = sizeof(*backend);
	return portprof_backend_info_get(index, backend) == PORTPROF_OK;
}

const char *ppi_backend_word(size_t i)
{
	portprof_backend_info backend;

	for (size_t at = 0; at < portprof_backend_count(); at++)
		if (read_info(at, &backend) && ppi_backend_is_here(&backend) &&
		    i-- == 0)
			return backend.name;
	return NULL;
}

bool ppi_backend_find_info(const char *name, portprof_backend_info *backend)
{
	for (size_t i = 0; i < portprof_backend_count(); i++)
		if (read_info(i, backend) && strcmp(backend->name, name) == 0)
			return true;
	return false;
}

bool ppi_has_hardware_counters(void)
{
	portprof_backend_info info = { .size = sizeof(info) };

	for (size_t i = 0; i < portprof_backend_count(); i++) {
		if (portprof_backend_info_get(i, &info) == PORTPROF_OK &&
		    info.is_usable && info.caps & PORTPROF_CAP_HARDWARE)
			return true;
	}
	return false;
}

enum { LINE_WIDTH = 79 };

/* ---- messages ---- */

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

bool ppi_stdout_is_whole(const char *what)
{
	int failed;

	/* what did not fit was kept, and fails again with its reason */
	errno = 0;
	failed = fflush(stdout);
	if (failed == 0 && !ferror(stdout))
		return true;
	/* or was dropped: then the end of a line fails in its place */
	if (failed == 0) {
		clearerr(stdout);
		putchar('\n');
		fflush(stdout);
	}
	ppi_say("%s could not be written%s%s", what, errno ? ": " : "",
	        errno ? strerror(errno) : "");
	return false;
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

void ppi_say_no_match(const char *name, const portprof_diag *why,
                      const char *remedy)
{
	char meant[PORTPROF_SUGGESTIONS * (PORTPROF_SUGGESTION_BYTES + 8) + 16];
	size_t used = 0;

	for (size_t i = 0; i < PORTPROF_SUGGESTIONS && why->suggestions[i][0]; i++) {
		bool is_last = i + 1 == PORTPROF_SUGGESTIONS ||
		               !why->suggestions[i + 1][0];

		used += (size_t)snprintf(meant + used, sizeof(meant) - used,
		                         "%s%s", i == 0 ? "did you mean " :
		                         is_last ? " or " : ", ",
		                         why->suggestions[i]);
	}
	ppi_say("nothing matches '%s'; %s%s", name, used ? meant : remedy,
	        used ? "?" : "");
}

/* ---- numbers ---- */

/* portprof_status(3) lists them. */
static const char *reason_name(portprof_reason reason)
{
	static const char *const names[] = {
		[PORTPROF_REASON_NONE] = "none",
		[PORTPROF_REASON_ARGUMENT] = "argument",
		[PORTPROF_REASON_SYNTAX] = "syntax",
		[PORTPROF_REASON_PART] = "part",
		[PORTPROF_REASON_UNKNOWN_NAME] = "unknown-name",
		[PORTPROF_REASON_NO_BACKEND] = "no-backend",
		[PORTPROF_REASON_BACKEND_LIMIT] = "backend-limit",
		[PORTPROF_REASON_NOT_ON_CPU] = "not-on-cpu",
		[PORTPROF_REASON_NEEDS_RIGHT] = "needs-right",
		[PORTPROF_REASON_NEEDS_TRACING] = "needs-tracing",
		[PORTPROF_REASON_NEEDS_MOUNT] = "needs-mount",
		[PORTPROF_REASON_LIMIT] = "limit",
		[PORTPROF_REASON_IN_USE] = "in-use",
		[PORTPROF_REASON_NO_MEMORY] = "no-memory",
		[PORTPROF_REASON_TARGET_GONE] = "target-gone",
		[PORTPROF_REASON_OUTPUT] = "output",
		[PORTPROF_REASON_FORMAT] = "format",
		[PORTPROF_REASON_STATE] = "state",
		[PORTPROF_REASON_FORKED] = "forked",
		[PORTPROF_REASON_SYSTEM] = "system",
		[PORTPROF_REASON_NOT_SUPPORTED] = "not-supported",
	};

	return (unsigned)reason < sizeof(names) / sizeof(names[0])
	       ? names[reason] : names[PORTPROF_REASON_NONE];
}

void ppi_put_refusal(struct ppi_json *json, const portprof_diag *why)
{
	ppi_json_text(json, "why", why->words);
	ppi_json_text(json, "reason", reason_name(why->reason));
	if (why->column)
		ppi_json_number(json, "column", why->column);
	if (!why->suggestions[0][0])
		return;
	ppi_json_array(json, "suggestions");
	for (size_t i = 0; i < PORTPROF_SUGGESTIONS && why->suggestions[i][0]; i++)
		ppi_json_text(json, NULL, why->suggestions[i]);
	ppi_json_close(json);
}

void ppi_refusal_of(const portprof_backend_info *backend, portprof_diag *why)
{
	memset(why, 0, sizeof(*why));
	why->status = backend->status;
	why->os_errno = backend->os_errno;
	why->reason = backend->status == PORTPROF_E_DENIED
	              ? PORTPROF_REASON_NEEDS_RIGHT
	              : PORTPROF_REASON_NO_BACKEND;
	snprintf(why->words, sizeof(why->words), "%s", backend->reason);
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

/* ---- fields ---- */

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

/* ---- lines ---- */

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
