/* SPDX-License-Identifier: MIT */
/*
 * What perf script prints, with or without call chains: tools/perf/
 * builtin-script.c of Linux 6.1, whose default fields these are. It is read
 * twice, as the events have to be known before the first sample.
 */
#include "config.h"

#include "api/file/import.h"

#include <ctype.h>
#include <stdio.h>

enum { EVENTS_MAX = 256 };

/* "COMM PID/TID [CPU] TIME: PERIOD EVENT: REST", cut up in place. */
struct head {
	const char *comm, *event;
	char *rest; /* a frame, or what a tracepoint tells */
	uint64_t pid, tid, period;
};

static char *skip_spaces(char *text)
{
	return text + strspn(text, " \t");
}

/* Digits into *number; NULL when there are none, or too many. */
static char *take_number(char *text, uint64_t *number)
{
	int digits = 0;

	for (*number = 0; isdigit((unsigned char)*text); text++, digits++)
		*number = *number * 10 + (uint64_t)(*text - '0');
	return digits && digits < 20 ? text : NULL;
}

/* From the number of the process to the colon behind the time. */
static char *take_middle(char *text, struct head *head)
{
	uint64_t ignored;
	char *at = take_number(text, &head->pid), *bracket;

	if (!at)
		return NULL;
	head->tid = head->pid;
	if (*at == '/')
		at = take_number(at + 1, &head->tid);
	if (!at || (*at != ' ' && *at != '\t'))
		return NULL;
	at = skip_spaces(at);
	if (*at == '[') {
		bracket = strchr(at, ']');
		if (!bracket)
			return NULL;
		at = skip_spaces(bracket + 1);
	}
	at = take_number(at, &ignored);
	if (!at || *at != '.')
		return NULL;
	at = take_number(at + 1, &ignored);
	return at && at[0] == ':' && (at[1] == ' ' || at[1] == '\0') ? at + 1
	                                                             : NULL;
}

/* "PERIOD EVENT: REST", or without a period. */
static bool take_event(char *text, struct head *head)
{
	char *at = skip_spaces(text), *behind = take_number(at, &head->period);
	size_t length;

	if (behind && *behind == ' ')
		at = skip_spaces(behind);
	else
		head->period = 1;
	length = strcspn(at, " \t");
	if (length < 2 || at[length - 1] != ':')
		return false;
	head->event = at;
	head->rest = at + length;
	if (*head->rest)
		head->rest++;
	at[length - 1] = '\0';
	return true;
}

/* A name may hold spaces, and numbers, too: the first place at which all that
 * follows fits. */
static bool take_head(char *text, struct head *head)
{
	text = skip_spaces(text);
	head->comm = text;
	for (char *at = text; (at = strpbrk(at, " \t")) != NULL;) {
		char *end = at, *behind;

		at = skip_spaces(at);
		if (end == text)
			continue;
		behind = take_middle(at, head);
		if (behind && take_event(behind, head)) {
			*end = '\0';
			return true;
		}
	}
	return false;
}

/* Beside samples it prints other records when it is asked to. */
static bool is_other_record(const char *text)
{
	return strstr(text, ": PERF_RECORD_") != NULL;
}

bool ppi_import_is_perf(const char *line)
{
	char *copy = strdup(line);
	struct head head;
	bool is_it = copy && (take_head(copy, &head) || is_other_record(line));

	free(copy);
	return is_it;
}

static size_t find_event(const portprof_profile *profile, const char *name)
{
	const portprof_profile_event *event;

	for (size_t i = 0;
	     (event = portprof_profile_event_get(profile, i)) != NULL; i++)
		if (strcmp(event->name, name) == 0)
			return i;
	return SIZE_MAX;
}

/* The clocks of perf and of portprof have periods of nanoseconds. */
static bool is_clock(const char *event)
{
	static const char *const clocks[] = { "cpu-clock", "task-clock",
		                              "cpu" };
	size_t length = strcspn(event, ":/");

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (strlen(clocks[i]) == length &&
		    strncmp(clocks[i], event, length) == 0)
			return true;
	return false;
}

static portprof_status read_events(struct ppi_import *import)
{
	portprof_status status;
	struct head head;
	char *text;

	while ((status = ppi_import_line(import, &text)) == PORTPROF_OK &&
	       text) {
		if (is_other_record(text) || !take_head(text, &head) ||
		    find_event(import->profile, head.event) != SIZE_MAX)
			continue;
		if (import->profile->events.count == EVENTS_MAX)
			return ppi_import_bad(import,
			                      "more than 256 events: is it "
			                      "what perf script printed?");
		if (!ppi_profile_add_event(import->profile, head.event, "",
		                           is_clock(head.event)
		                           ? PORTPROF_UNIT_NANOSECONDS
		                           : PORTPROF_UNIT_COUNT,
		                           is_clock(head.event)))
			return ppi_import_memory(import);
	}
	if (status == PORTPROF_OK && import->profile->events.count == 0)
		return ppi_import_bad(import, "perf script printed no sample");
	if (status == PORTPROF_OK && !ppi_profile_add_types(import->profile))
		return ppi_import_memory(import);
	return status;
}

/* Files are mapped at many places, which the text does not tell. */
static uint32_t map_file(struct ppi_import *import, const char *path)
{
	struct ppi_mapping mapping = {
		.shown = { .limit = UINT64_MAX, .path = path, .build_id = "" },
		.has_functions = true,
	};

	return ppi_profile_mapping(import->profile, &mapping, false);
}

/* "ADDRESS NAME+OFFSET (FILE)"; false for what is none. */
static bool take_frame(struct ppi_import *import, char *text,
                       portprof_status *status)
{
	static const char deleted[] = " (deleted))";
	char *end, *open, *plus;
	uint64_t address;
	uint32_t mapping = PPI_NONE;

	text = skip_spaces(text);
	if (!isxdigit((unsigned char)*text))
		return false;
	address = strtoull(text, &end, 16);
	text = end + strlen(end);
	while (text > end && isspace((unsigned char)text[-1]))
		*--text = '\0';
	if (*end != ' ' || text - end < 4 || text[-1] != ')')
		return false;
	if ((size_t)(text - end) >= sizeof(deleted) &&
	    strcmp(text - sizeof(deleted) + 1, deleted) == 0)
		text -= sizeof(deleted) - 2;
	text[-1] = '\0';
	for (open = text - 1; open > end && strncmp(open, " (", 2) != 0; open--)
		;
	if (open <= end)
		return false;
	*open = '\0';
	end = skip_spaces(end);
	plus = strrchr(end, '+');
	if (plus && strncmp(plus, "+0x", 3) == 0)
		*plus = '\0';
	if (strcmp(open + 2, "[unknown]") != 0 &&
	    strcmp(open + 2, "inlined") != 0) {
		mapping = map_file(import, open + 2);
		if (mapping == PPI_NONE) {
			*status = ppi_import_memory(import);
			return true;
		}
	}
	*status = ppi_import_frame(import, mapping, address,
	                           strcmp(end, "[unknown]") == 0 ? "" : end);
	return true;
}

/* The sample that the lines until now are of. */
struct open_sample {
	bool is_open;
	size_t event;
	uint32_t pid, tid, name;
	uint64_t period;
};

static portprof_status end_sample(struct ppi_import *import,
                                  struct open_sample *open)
{
	if (!open->is_open)
		return PORTPROF_OK;
	open->is_open = false;
	return ppi_import_sample(import, open->pid, open->tid,
	                         ppi_profile_string(import->profile, open->name),
	                         open->event, 1, open->period);
}

static portprof_status begin_sample(struct ppi_import *import,
                                    struct open_sample *open,
                                    struct head *head)
{
	portprof_status status = end_sample(import, open);

	if (status != PORTPROF_OK)
		return status;
	*open = (struct open_sample){ true,
		                      find_event(import->profile, head->event),
		                      (uint32_t)head->pid, (uint32_t)head->tid,
		                      ppi_profile_text(import->profile,
		                                       head->comm,
		                                       strlen(head->comm)),
		                      head->period };
	if (open->event == SIZE_MAX)
		return ppi_import_bad(import, "the file changes while it is "
		                              "read");
	if (open->name == PPI_NONE ||
	    !ppi_profile_thread(import->profile, open->pid, open->tid,
	                        head->comm, true))
		return ppi_import_memory(import);
	take_frame(import, head->rest, &status);
	return status;
}

static portprof_status take_line(struct ppi_import *import, char *text,
                                 struct open_sample *open)
{
	portprof_status status;
	struct head head;

	if (text[strspn(text, " \t\r")] == '\0')
		return end_sample(import, open);
	if (text[0] == '#' || is_other_record(text))
		return PORTPROF_OK;
	if (take_head(text, &head))
		return begin_sample(import, open, &head);
	if (open->is_open && take_frame(import, text, &status))
		return status;
	return ppi_import_bad(import,
	                      "neither a sample nor a frame of one: print it "
	                      "with perf script -F "
	                      "comm,pid,tid,time,period,event,ip,sym,dso");
}

portprof_status ppi_import_perf(struct ppi_import *import)
{
	struct open_sample open = { 0 };
	portprof_status status = read_events(import);
	char *text = NULL;

	if (status != PORTPROF_OK)
		return status;
	if (!ppi_profile_note(import->profile,
	                      "perf script's text has no build ids, command, "
	                      "time of the run or lost samples"))
		return ppi_import_memory(import);
	rewind(import->file);
	import->line = 0;
	do {
		status = ppi_import_line(import, &text);
		if (status == PORTPROF_OK && text)
			status = take_line(import, text, &open);
	} while (status == PORTPROF_OK && text);
	return status == PORTPROF_OK ? end_sample(import, &open) : status;
}
