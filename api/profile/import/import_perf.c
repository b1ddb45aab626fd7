/* SPDX-License-Identifier: MIT */
/*
 * What perf script prints, with or without call chains and with any fields of
 * its -F. It is read three times, as the form of heads and the events have to
 * be known before the first sample.
 */
#include "config.h"

#include "api/profile/import/import.h"
#include "api/profile/import/import_perf_line.h"

#include <ctype.h>
#include <stdio.h>

enum { EVENTS_MAX = 256, SURE_DIGITS = 8, PADDED_DIGITS = 4, ALL_DIGITS = 16 };

/* An event of the file. */
struct seen {
	uint32_t name; /* a string */
	bool has_period;
};

/* The state of one pass over the text: members for the file, for the sample that is
 * being read, and for what was guessed of its columns. */
struct reading {
	struct ppi_import *import;
	/* The first reading finds the form of heads, the second the events. */
	enum { FIND_FORMS, FIND_EVENTS, READ } step;
	unsigned forms, fits; /* of heads, as far as known; of the last */
	bool is_bare;        /* heads are names alone */
	bool has_heads;      /* with more than a name */
	bool is_in_record;   /* lines of another record than a sample */
	struct ppi_vector seen;
	uint64_t trace_errors;

	/* the sample that the lines until now are of */
	bool is_open, is_sure, is_comment, has_frames, has_rest;
	uint64_t line, column; /* of its head */
	bool has_pid;
	uint32_t pid, tid, name;
	uint64_t period;
	struct seen what;
	size_t event;

	/* its last frame, of which a line of -F srcline may follow */
	bool has_frame, is_inlined;
	uint64_t address, source_line;
	uint32_t mapping, function, source; /* strings */
	struct ppi_vector inlined;          /* struct ppi_line */
};

/* ---- which lines ---- */

/* Beside samples it prints other records when it is asked to. */
static bool is_other_record(const char *text)
{
	return strstr(text, " PERF_RECORD_") != NULL;
}

static bool is_trace_error(const char *text)
{
	return strncmp(text + strspn(text, " "), "instruction trace error",
	               23) == 0;
}

static void trim(char *text)
{
	size_t length = strlen(text);

	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
}

/* A frame where nothing but its form says so: with spaces before it, as perf
 * pads addresses, or all digits. */
static bool is_sure_frame(const char *text)
{
	bool has_module;
	int digits = ppi_perf_frame_digits(text, &has_module);

	if (text[0] == '\t' || digits == ALL_DIGITS)
		return digits;
	if (text[0] == ' ')
		return digits >= (has_module ? PADDED_DIGITS : SURE_DIGITS);
	return has_module && digits >= SURE_DIGITS;
}

/* Whether a line is one of perf script, as far as that is certain. */
static bool is_certain(char *text)
{
	struct ppi_perf_frame frame;
	struct ppi_perf_head head;

	if (is_other_record(text) || is_trace_error(text) ||
	    ppi_perf_head(text, PPI_PERF_SURE, PPI_PERF_ALL_FORMS, &head, NULL))
		return true;
	if (text[0] == '#')
		return false;
	if (is_sure_frame(text))
		return true;
	return ppi_perf_head(text, PPI_PERF_ANY, PPI_PERF_ALL_FORMS, &head,
	                     NULL) &&
	       (head.has_pid || head.event[0]) &&
	       ppi_perf_rest(head.rest, &frame) &&
	       (frame.module || frame.digits >= SURE_DIGITS);
}

/* A head that says little shows what it is by the frame that follows. */
bool ppi_import_is_perf(const char *text)
{
	char *copy = strdup(text), *line = copy, *end;
	bool is_it = false;

	for (int lines = 0; line && *line && lines < 2 && !is_it; line = end) {
		bool is_comment = line[0] == '#';

		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		trim(line);
		if (!line[0])
			continue;
		is_it = is_certain(line);
		lines += !is_comment;
	}
	free(copy);
	return is_it;
}

/* ---- events ---- */

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

static portprof_status find_event(struct reading *reading)
{
	struct ppi_import *import = reading->import;
	struct seen *all = reading->seen.data;

	for (reading->event = 0; reading->event < reading->seen.count;
	     reading->event++)
		if (all[reading->event].name == reading->what.name) {
			all[reading->event].has_period |=
				reading->what.has_period;
			return PORTPROF_OK;
		}
	if (reading->step == READ)
		return ppi_import_bad(import, 1,
		                      "the file changes while it is read");
	if (reading->seen.count == EVENTS_MAX)
		return ppi_import_bad(import, 1,
		                      "more than 256 events: is it what perf "
		                      "script printed?");
	return ppi_vector_add(&reading->seen, sizeof(reading->what),
	                      &reading->what, 1)
	               ? PORTPROF_OK
	               : ppi_import_memory(import);
}

/* Without periods samples are all that can be counted. */
static portprof_status add_events(struct reading *reading)
{
	portprof_profile *profile = reading->import->profile;
	const struct seen *seen = reading->seen.data;

	if (reading->seen.count == 0)
		return ppi_import_bad(reading->import, 1,
		                      "the text of perf script ends without a "
		                      "sample");
	for (size_t i = 0; i < reading->seen.count; i++) {
		const char *name = ppi_profile_string(profile, seen[i].name);
		bool is_time = seen[i].has_period && is_clock(name);

		if (!name[0])
			name = seen[i].has_period ? "events" : "samples";
		if (!ppi_profile_add_event(
			    profile, name,
			    seen[i].has_period ? ""
			                       : "samples: perf script "
			                         "printed no periods",
			    is_time ? PORTPROF_UNIT_NANOSECONDS
			            : PORTPROF_UNIT_COUNT,
			    is_time))
			return ppi_import_memory(reading->import);
	}
	return ppi_profile_add_types(profile)
	               ? PORTPROF_OK
	               : ppi_import_memory(reading->import);
}

/* What the head says counts when it is known to be one. */
static portprof_status confirm_sample(struct reading *reading)
{
	struct ppi_import *import = reading->import;
	portprof_status status = PORTPROF_OK;

	if (reading->step == FIND_FORMS) {
		if (reading->forms & reading->fits)
			reading->forms &= reading->fits;
		reading->is_bare |= !reading->fits;
		return status;
	}
	status = find_event(reading);
	if (status != PORTPROF_OK || !reading->has_pid)
		return status;
	return ppi_profile_thread(import->profile, reading->pid, reading->tid,
	                          ppi_profile_string(import->profile,
	                                             reading->name),
	                          true)
	               ? PORTPROF_OK
	               : ppi_import_memory(import);
}

/* ---- frames ---- */

/* Files are mapped at many places, which the text does not tell. */
static uint32_t map_file(struct ppi_import *import, const char *path)
{
	struct ppi_mapping mapping = {
		.shown = { .limit = UINT64_MAX, .path = path, .build_id = "" },
		.has_functions = true,
	};

	return ppi_profile_mapping(import->profile, &mapping, false);
}

/* The frame in hand becomes one of the chain; what is inlined waits for what it
 * is inlined into. */
static portprof_status end_frame(struct reading *reading)
{
	struct ppi_import *import = reading->import;
	struct ppi_function function = { .name = reading->function,
		                         .system_name = reading->function,
		                         .filename = reading->source };
	struct ppi_line line = { .line = (int64_t)reading->source_line };
	portprof_status status;

	if (!reading->has_frame)
		return PORTPROF_OK;
	reading->has_frame = false;
	if (reading->function) {
		uint32_t number =
			ppi_profile_function(import->profile, &function);

		line.function = number;
		if (number == PPI_NONE ||
		    !ppi_vector_add(&reading->inlined, sizeof(line), &line, 1))
			return ppi_import_memory(import);
	}
	if (reading->is_inlined)
		return PORTPROF_OK;
	status = ppi_import_frame_of(import, reading->mapping,
	                             reading->address, reading->inlined.data,
	                             reading->inlined.count);
	reading->inlined.count = 0;
	return status;
}

/* What was inlined into nothing is a frame of its own. */
static portprof_status end_inlined(struct reading *reading)
{
	portprof_status status = end_frame(reading);

	if (status != PORTPROF_OK || reading->inlined.count == 0)
		return status;
	status = ppi_import_frame_of(reading->import, PPI_NONE,
	                             reading->address, reading->inlined.data,
	                             reading->inlined.count);
	reading->inlined.count = 0;
	return status;
}

static portprof_status begin_frame(struct reading *reading,
                                   const struct ppi_perf_frame *frame)
{
	struct ppi_import *import = reading->import;
	portprof_status status = reading->inlined.count &&
	                                         frame->address !=
							 reading->address
	                                 ? end_inlined(reading)
	                                 : end_frame(reading);

	if (status == PORTPROF_OK && !reading->is_sure && !reading->has_frames)
		status = confirm_sample(reading);
	reading->has_frames = true;
	if (status != PORTPROF_OK || reading->step != READ)
		return status;
	reading->has_frame = true;
	reading->is_inlined = frame->is_inlined;
	reading->address = frame->address;
	reading->source = 0;
	reading->source_line = 0;
	reading->mapping = PPI_NONE;
	reading->function = ppi_profile_text(import->profile, frame->name,
	                                     strlen(frame->name));
	if (reading->function == PPI_NONE)
		return ppi_import_memory(import);
	if (frame->module) {
		reading->mapping = map_file(import, frame->module);
		if (reading->mapping == PPI_NONE)
			return ppi_import_memory(import);
	}
	return PORTPROF_OK;
}

/* "FILE:LINE (inlined)" of -F srcline; other fields print other things, which
 * are of no use here. */
static portprof_status take_source(struct reading *reading, char *text)
{
	static const char inlined[] = " (inlined)";
	size_t length;
	char *colon, *end;
	long line;

	text += strspn(text, " \t");
	length = strlen(text);
	if (!reading->has_frame)
		return PORTPROF_OK;
	if (length >= sizeof(inlined) &&
	    strcmp(text + length - (sizeof(inlined) - 1), inlined) == 0) {
		text[length - (sizeof(inlined) - 1)] = '\0';
		reading->is_inlined = true;
	}
	colon = strrchr(text, ':');
	line = colon ? strtol(colon + 1, &end, 10) : 0;
	if (line <= 0 || end == colon + 1 || (*end && *end != ' ') ||
	    reading->source)
		return PORTPROF_OK;
	reading->source_line = (uint64_t)line;
	reading->source = ppi_profile_text(reading->import->profile, text,
	                                   (size_t)(colon - text));
	return reading->source == PPI_NONE ? ppi_import_memory(reading->import)
	                                   : PORTPROF_OK;
}

/* ---- samples ---- */

static const char remedy[] =
	"neither a sample nor a frame of one: print it with perf script -F "
	"comm,pid,tid,time,period,event,ip,sym,dso";

static portprof_status end_sample(struct reading *reading)
{
	struct ppi_import *import = reading->import;
	portprof_status status;

	if (!reading->is_open)
		return PORTPROF_OK;
	reading->is_open = false;
	if (!reading->is_sure && !reading->has_frames) {
		if (reading->is_comment)
			return PORTPROF_OK;
		import->line = reading->line;
		return ppi_import_bad(import, reading->column, remedy);
	}
	if (reading->step != READ)
		return PORTPROF_OK;
	status = end_inlined(reading);
	if (status != PORTPROF_OK)
		return status;
	return ppi_import_sample(import, reading->pid, reading->tid,
	                         ppi_profile_string(import->profile,
	                                            reading->name),
	                         reading->event, 1, reading->period);
}

/* perf names a thread whose name it does not know by its number. */
static const char *comm_of(const struct ppi_perf_head *head)
{
	char *end;

	return head->comm[0] == ':' && head->has_pid &&
	                       strtoull(head->comm + 1, &end, 10) ==
				       head->tid &&
	                       *end == '\0'
	               ? ""
	               : head->comm;
}

static portprof_status begin_sample(struct reading *reading, bool is_sure,
                                    const struct ppi_perf_head *head)
{
	struct ppi_import *import = reading->import;
	portprof_status status = end_sample(reading);
	const char *comm = comm_of(head);
	struct ppi_perf_frame frame;

	if (status != PORTPROF_OK)
		return status;
	reading->is_open = true;
	reading->is_sure = is_sure;
	reading->is_comment = !is_sure && comm[0] == '#';
	reading->is_in_record = reading->has_frames = false;
	reading->line = import->line;
	reading->has_pid = head->has_pid;
	reading->pid = (uint32_t)head->pid;
	reading->tid = (uint32_t)head->tid;
	reading->period = head->has_period ? head->period : 1;
	reading->name = ppi_profile_text(import->profile, comm, strlen(comm));
	reading->what = (struct seen){
		ppi_profile_text(import->profile, head->event,
		                 strlen(head->event)),
		head->has_period
	};
	if (reading->name == PPI_NONE || reading->what.name == PPI_NONE)
		return ppi_import_memory(import);
	if (is_sure)
		status = confirm_sample(reading);
	reading->has_rest = status == PORTPROF_OK && head->rest &&
	                    ppi_perf_rest(head->rest, &frame);
	return reading->has_rest ? begin_frame(reading, &frame) : status;
}

/* A frame below a head takes the place of what the head seemed to hold. */
static portprof_status take_frame(struct reading *reading,
                                  const struct ppi_perf_frame *frame,
                                  bool is_alone)
{
	static const struct ppi_perf_head none = { .comm = "", .event = "" };
	portprof_status status = PORTPROF_OK;

	if (reading->has_rest && reading->is_open && !is_alone)
		reading->has_frame = reading->has_rest = false;
	if (!reading->is_open || is_alone) {
		if (reading->has_heads)
			return ppi_import_bad(reading->import, 1,
			                      "a frame without the line of its "
			                      "sample before it");
		reading->fits = PPI_PERF_ALL_FORMS;
		status = begin_sample(reading, true, &none);
		reading->has_rest = is_alone;
	}
	return status == PORTPROF_OK ? begin_frame(reading, frame) : status;
}

/* All heads have one form; where no form fits all, each is read as it may be. */
static bool is_head(struct reading *reading, char *text,
                    enum ppi_perf_least least, struct ppi_perf_head *head)
{
	unsigned fits = 0, *wanted = reading->step == FIND_FORMS ? &fits : NULL;

	if (!ppi_perf_head(text, least, reading->is_bare ? 0 : reading->forms,
	                   head, wanted) &&
	    !ppi_perf_head(text, least, PPI_PERF_ALL_FORMS, head, wanted))
		return false;
	if (wanted)
		reading->fits = fits;
	reading->has_heads |= head->has_pid || head->has_time ||
	                      head->has_period || head->event[0];
	return true;
}

/* "  FILE:LINE" or "  FILE[ADDRESS]". */
static bool is_source(const char *text)
{
	size_t length = strlen(text);
	const char *colon = strrchr(text, ':');

	if (strspn(text, " ") != 2)
		return false;
	return text[length - 1] == ']' || text[length - 1] == ')' ||
	       (colon && colon[1 + strspn(colon + 1, "0123456789?")] == '\0');
}

/* A line without a tab before it: frames of other writers have spaces, or
 * nothing. */
static portprof_status take_other(struct reading *reading, char *text)
{
	bool is_within = reading->is_open && !reading->has_rest, has_module;
	int digits = ppi_perf_frame_digits(text, &has_module);
	bool is_frame = is_within ? has_module
	                          : !reading->has_heads && is_sure_frame(text);
	struct ppi_perf_frame frame;
	struct ppi_perf_head head;

	if (is_head(reading, text, PPI_PERF_TIME, &head) ||
	    (!(is_within && is_frame) &&
	     is_head(reading, text, PPI_PERF_SURE, &head)))
		return begin_sample(reading, true, &head);
	if (is_frame && ppi_perf_frame(text, &frame))
		return take_frame(reading, &frame, !is_within);
	if (reading->is_open && (is_source(text) || (is_within && *text == ' ')))
		return take_source(reading, text);
	if (reading->is_in_record && isspace((unsigned char)text[0]))
		return PORTPROF_OK;
	if (!is_within && is_head(reading, text, PPI_PERF_ANY, &head)) {
		portprof_status status = begin_sample(reading, false, &head);

		reading->column = 1 + strspn(text, " \t");
		return status;
	}
	if (digits >= SURE_DIGITS && ppi_perf_frame(text, &frame))
		return take_frame(reading, &frame, false);
	return ppi_import_bad(reading->import, 1 + strspn(text, " \t"),
	                      remedy);
}

static portprof_status take_line(struct reading *reading, char *text)
{
	struct ppi_perf_frame frame;
	struct ppi_perf_head head;

	trim(text);
	/* perf prints no such line behind a head, but editors do */
	if (!text[0] && reading->is_sure && !reading->has_frames)
		return PORTPROF_OK;
	if (!text[0])
		return end_sample(reading);
	if (is_trace_error(text)) {
		reading->trace_errors++;
		return PORTPROF_OK;
	}
	if (is_other_record(text)) {
		reading->is_in_record = true;
		return end_sample(reading);
	}
	if (text[0] == '|' && isdigit((unsigned char)text[1]))
		return PORTPROF_OK; /* a line of source, of -F srccode */
	if (text[0] == '\t' && ppi_perf_frame(text, &frame))
		return take_frame(reading, &frame, false);
	if (text[0] == '#' && !is_head(reading, text, PPI_PERF_SURE, &head)) {
		/* or the name of a thread, which a frame shows */
		is_head(reading, text, PPI_PERF_ANY, &head);
		return begin_sample(reading, false, &head);
	}
	if (text[0] == '#')
		return begin_sample(reading, true, &head);
	return take_other(reading, text);
}

static portprof_status read_all(struct reading *reading)
{
	struct ppi_import *import = reading->import;
	portprof_status status = ppi_import_again(import);
	char *text = NULL;

	do {
		if (status == PORTPROF_OK)
			status = ppi_import_line(import, &text);
		if (status == PORTPROF_OK && text)
			status = take_line(reading, text);
	} while (status == PORTPROF_OK && text);
	return status == PORTPROF_OK ? end_sample(reading) : status;
}

static portprof_status note(struct reading *reading)
{
	portprof_profile *profile = reading->import->profile;
	char words[128];

	snprintf(words, sizeof(words), "%llu errors of instruction traces "
	         "have no sample",
	         (unsigned long long)reading->trace_errors);
	return ppi_profile_note(profile,
	                        "perf script's text has no build ids, command, "
	                        "time of the run or lost samples") &&
	                       (!reading->trace_errors ||
	                        ppi_profile_note(profile, words))
	               ? PORTPROF_OK
	               : ppi_import_memory(reading->import);
}

portprof_status ppi_import_perf(struct ppi_import *import)
{
	struct reading reading = { .import = import,
		                   .forms = PPI_PERF_ALL_FORMS };
	portprof_status status = read_all(&reading);

	reading.step = FIND_EVENTS;
	reading.has_heads = false;
	if (status == PORTPROF_OK)
		status = read_all(&reading);
	if (status == PORTPROF_OK)
		status = add_events(&reading);
	reading.step = READ;
	reading.trace_errors = 0;
	if (status == PORTPROF_OK)
		status = read_all(&reading);
	if (status == PORTPROF_OK)
		status = note(&reading);
	ppi_vector_free(&reading.seen);
	ppi_vector_free(&reading.inlined);
	return status;
}
