/* SPDX-License-Identifier: MIT */
/*
 * Lines of perf script, cut up in place, as tools/perf/builtin-script.c and
 * tools/perf/util/evsel_fprintf.c of Linux 6.1 print them.
 */
#include "config.h"

#include "api/profile/import/import_perf_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* PID_MAX_LIMIT of Linux, 4 Mi: a larger number is a period. */
enum { PID_MAX = 1 << 22, TIME_DIGITS_LEAST = 6, ADDRESS_DIGITS_LEAST = 5,
       SURE_DIGITS = 8 };

static char *skip_spaces(char *text)
{
	return text + strspn(text, " \t");
}

static bool is_end(const char *text)
{
	return *text == ' ' || *text == '\t' || *text == '\0';
}

/* Behind the digits, which go to *number; NULL when there are none, or too
 * many. */
static char *take_number(char *text, uint64_t *number)
{
	int digits = 0;

	for (*number = 0; isdigit((unsigned char)*text); text++, digits++)
		*number = *number * 10 + (uint64_t)(*text - '0');
	return digits && digits < 20 ? text : NULL;
}

/* perf prints -1 for what is of no process: here, as of the kernel, 0. */
static char *take_id(char *text, uint64_t *id)
{
	if (strncmp(text, "-1", 2) != 0)
		return take_number(text, id);
	*id = 0;
	return text + 2;
}

/* What a head says of processes: both numbers, one, none. */
enum ids { IDS_BOTH, IDS_ONE, IDS_NONE };

/* A number alone is rather a process than a period. */
static const struct {
	enum ids ids;
	bool has_period;
} forms_known[PPI_PERF_FORMS] = {
	{ IDS_BOTH, true },  { IDS_ONE, true },   { IDS_BOTH, false },
	{ IDS_ONE, false },  { IDS_NONE, true },  { IDS_NONE, false },
};

/* NULL when they are not there. */
static char *take_ids(char *text, enum ids ids, struct ppi_perf_head *head)
{
	uint64_t pid, tid;
	char *at;

	if (ids == IDS_NONE)
		return text;
	at = take_id(text, &pid);
	tid = pid;
	if (at && ids == IDS_BOTH)
		at = *at == '/' ? take_id(at + 1, &tid) : NULL;
	if (!at || !is_end(at) || pid > PID_MAX || tid > PID_MAX)
		return NULL;
	head->has_pid = true;
	head->pid = pid;
	head->tid = tid;
	return skip_spaces(at);
}

/* "[003]", and letters as "K" of -F misc. */
static char *take_cpu(char *text)
{
	size_t letters;

	if (*text == '[' && isdigit((unsigned char)text[1]) &&
	    strchr(text, ']'))
		text = skip_spaces(strchr(text, ']') + 1);
	letters = strspn(text, "KUHGgMEFSsphP");
	return letters && letters < 6 && is_end(text + letters)
	               ? skip_spaces(text + letters)
	               : text;
}

static char *take_time(char *text, struct ppi_perf_head *head)
{
	uint64_t ignored;
	char *point = take_number(text, &ignored), *at;

	if (!point || *point != '.')
		return text;
	at = take_number(point + 1, &ignored);
	if (!at || at - point <= TIME_DIGITS_LEAST || *at != ':' ||
	    !is_end(at + 1))
		return text;
	head->has_time = true;
	return skip_spaces(at + 1);
}

static size_t address_digits(const char *text)
{
	size_t digits = strspn(text, "0123456789abcdef");

	return digits <= 16 && is_end(text + digits) ? digits : 0;
}

/* The length of "EVENT" before its colon, 0 where there is none. */
static size_t event_length(const char *text)
{
	size_t length = strcspn(text, " \t");

	return length > 1 && text[length - 1] == ':' &&
	               strspn(text, "0123456789.") < length - 1
	               ? length - 1
	               : 0;
}

/* A number is the period when an event follows, or an address, or nothing; else
 * NULL. */
static char *take_period(char *text, struct ppi_perf_head *head)
{
	uint64_t period;
	char *at = take_number(text, &period), *next;

	if (!at || !is_end(at))
		return NULL;
	next = skip_spaces(at);
	if (*next && !event_length(next) &&
	    address_digits(next) < ADDRESS_DIGITS_LEAST)
		return NULL;
	head->has_period = true;
	head->period = period;
	return next;
}

/* All behind the name. */
static bool take_tail(char *at, enum ppi_perf_least least, int form,
                      struct ppi_perf_head *head, size_t *event)
{
	size_t digits;

	*head = (struct ppi_perf_head){ .event = "" };
	at = take_ids(at, forms_known[form].ids, head);
	if (at)
		at = take_time(take_cpu(at), head);
	if (at && forms_known[form].has_period)
		at = take_period(at, head);
	if (!at)
		return false;
	*event = event_length(at);
	if (*event)
		head->event = at;
	head->rest = at + *event + (*event > 0);
	if (least != PPI_PERF_ANY)
		return head->has_time || (least == PPI_PERF_SURE &&
		                          head->has_pid && *event);
	if (!head->has_pid && !head->has_period && !*event)
		return false;
	at = skip_spaces(head->rest);
	digits = address_digits(at);
	return *event || *at == '\0' || digits >= SURE_DIGITS ||
	       (digits >= ADDRESS_DIGITS_LEAST && at[strlen(at) - 1] == ')');
}

/* Names hold spaces and numbers, too: the first place at which all that follows
 * fits. Where it stands in *at, and where the name ends. */
static bool find_tail(char *text, enum ppi_perf_least least, int form,
                      struct ppi_perf_head *head, size_t *event, char **end)
{
	char *at = text;

	for (*end = text; *at; at = skip_spaces(*end)) {
		if (take_tail(at, least, form, head, event))
			return true;
		*end = at + strcspn(at, " \t");
	}
	return false;
}

bool ppi_perf_head(char *text, enum ppi_perf_least least, unsigned forms,
                   struct ppi_perf_head *head, unsigned *fits)
{
	char *first = skip_spaces(text), *end = NULL, *one_end;
	struct ppi_perf_head one;
	size_t event = 0, one_event;
	unsigned found = 0;

	for (int form = 0; form < PPI_PERF_FORMS && (fits || !found); form++) {
		if (!(forms & 1u << form) ||
		    !find_tail(first, least, form, &one, &one_event, &one_end))
			continue;
		if (!found) {
			*head = one;
			event = one_event;
			end = one_end;
		}
		found |= 1u << form;
	}
	if (fits)
		*fits = found;
	if (!found && (least != PPI_PERF_ANY || !*first))
		return false;
	if (!found) {
		end = first + strlen(first);
		*head = (struct ppi_perf_head){ .event = "", .rest = end };
	}
	if (event)
		head->rest[-1] = '\0';
	head->comm = end == first ? "" : first;
	if (end != first)
		*end = '\0';
	return true;
}

/* ---- frames ---- */

/* Where " (FILE)" begins, of a text that ends with ")". Names and files have
 * parentheses, too: an offset before it, and a file that begins as files do, are
 * sure signs; else it is the last pair of parentheses. */
static char *find_module(const char *text)
{
	const char *end = text + strlen(text) - 1, *at;
	int depth = 0;

	for (at = strstr(text, "+0x"); at; at = strstr(at + 1, "+0x")) {
		const char *behind = at + 3 + strspn(at + 3, "0123456789abcdef");

		if (strncmp(behind, " (", 2) == 0)
			return (char *)behind;
	}
	for (at = strstr(text, " ("); at; at = strstr(at + 1, " ("))
		if (at[2] == '/' || at[2] == '[')
			return (char *)at;
	for (at = end; at > text; at--) {
		depth += (*at == ')') - (*at == '(');
		if (depth == 0)
			return at[-1] == ' ' ? (char *)at - 1 : NULL;
	}
	return NULL;
}

static void cut_offset(char *text)
{
	char *plus = strrchr(text, '+');

	if (plus && plus > text && strncmp(plus, "+0x", 3) == 0 &&
	    plus[3 + strspn(plus + 3, "0123456789abcdef")] == '\0')
		*plus = '\0';
}

static void take_module(char *text, struct ppi_perf_frame *frame)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(text) - 1; /* without the last parenthesis */

	text[length] = '\0';
	if (length > sizeof(deleted) &&
	    strcmp(text + length - (sizeof(deleted) - 1), deleted) == 0)
		text[length - (sizeof(deleted) - 1)] = '\0';
	cut_offset(text);
	frame->is_inlined = strcmp(text, "inlined") == 0;
	if (!frame->is_inlined && strcmp(text, "[unknown]") != 0)
		frame->module = text;
}

int ppi_perf_frame_digits(const char *text, bool *has_module)
{
	size_t digits;

	text += strspn(text, " \t");
	digits = address_digits(text);
	*has_module = digits && text[strlen(text) - 1] == ')' &&
	              find_module(text + digits);
	return (int)digits;
}

bool ppi_perf_frame(char *text, struct ppi_perf_frame *frame)
{
	char *at = skip_spaces(text), *name, *open = NULL;
	size_t digits = address_digits(at);

	*frame = (struct ppi_perf_frame){ .digits = (int)digits };
	if (!digits)
		return false;
	frame->address = strtoull(at, NULL, 16);
	name = at + digits;
	if (*name && name[strlen(name) - 1] == ')')
		open = find_module(name);
	if (open) {
		*open = '\0';
		take_module(open + 2, frame);
	}
	name = skip_spaces(name);
	cut_offset(name);
	frame->name = strcmp(name, "[unknown]") == 0 ? "" : name;
	return true;
}

/* -F addr and others print numbers, and the name of an address, before it. */
bool ppi_perf_rest(char *text, struct ppi_perf_frame *frame)
{
	char *at = skip_spaces(text), *next;

	if (!address_digits(at))
		return false;
	for (next = strstr(at, ") "); next; next = strstr(next + 1, ") ")) {
		char *address = skip_spaces(next + 1);

		if (address_digits(address) >= ADDRESS_DIGITS_LEAST)
			at = address;
	}
	for (;;) {
		next = skip_spaces(at + address_digits(at));
		if (address_digits(next) < ADDRESS_DIGITS_LEAST)
			break;
		at = next;
	}
	return ppi_perf_frame(at, frame);
}
