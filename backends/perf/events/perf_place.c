/* SPDX-License-Identifier: MIT */
/*
 * Events of a place in a program: breakpoints, which the CPU's debug registers
 * find by address (mem:, breakpoint:), and probes, which the kernel patches into
 * the pages of a file (uprobe:, uretprobe:).
 */
#include "backends/perf/events/perf_place.h"

#include "backends/perf/events/perf_names.h"
#include "backends/perf/events/perf_request.h"
#include "backends/perf/events/perf_sysfs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

enum kind {
	PLACE_MEM, PLACE_BREAKPOINT, PLACE_UPROBE, PLACE_URETPROBE,
	PLACE_KINDS
};

static const struct {
	const char *word; /* with its colon */
	const char *form;
} kinds[PLACE_KINDS] = {
	[PLACE_MEM] = { "mem:", "mem:ADDRESS[/BYTES]:r|w|x|rw" },
	[PLACE_BREAKPOINT] = { "breakpoint:",
		               "breakpoint:SYMBOL[+OFFSET][/BYTES]:x|w|rw|r" },
	[PLACE_UPROBE] = { "uprobe:", "uprobe:FILE:SYMBOL[+OFFSET]" },
	[PLACE_URETPROBE] = { "uretprobe:", "uretprobe:FILE:SYMBOL" },
};

enum {
	DATA_BYTES = 4,
	ANY_ADDRESS = 0x1000 /* of a user's, to ask whether it may be */
};

struct place {
	const struct perf_kernel *kernel;
	const struct perf_request *request;
	struct ppi_event *event; /* what it will be */
	struct ppi_diag *why;
	enum kind kind;
	char file[PPI_EVENT_TEXT]; /* of a probe */
	char symbol[PPI_EVENT_TEXT]; /* or a number, without what is behind */
	size_t symbol_column;
	uint64_t offset, bytes; /* "+OFFSET", "/BYTES"; 0 = not given */
	uint32_t access;        /* HW_BREAKPOINT_; 0 = not given */
	struct perf_symbol found;
	char means[256];
};

static enum kind kind_of(const char *name)
{
	enum kind kind = 0;

	while (kind < PLACE_KINDS &&
	       (strncasecmp(name, kinds[kind].word,
	                    strlen(kinds[kind].word)) != 0 ||
	        name[strlen(kinds[kind].word)] == ':'))
		kind++;
	return kind;
}

bool ppi_perf_place_is_name(const char *name)
{
	return kind_of(name) < PLACE_KINDS;
}

static bool is_probe(const struct place *place)
{
	return place->kind >= PLACE_UPROBE;
}

static portprof_status refuse(const struct place *place,
                              portprof_status status, size_t column,
                              const char *words, ...)
	__attribute__((format(printf, 4, 5)));

static portprof_status refuse(const struct place *place,
                              portprof_status status, size_t column,
                              const char *words, ...)
{
	char said[512];
	va_list values;

	va_start(values, words);
	vsnprintf(said, sizeof(said), words, values);
	va_end(values);
	return ppi_at_column(
		place->why, PORTPROF_REASON_PART, column,
		ppi_fail(place->why, status, 0, "resolve event",
	                 "event '%s', column %zu: %s",
	                 place->request->core.text, column, said));
}

/* ---- the name taken apart ---- */

static bool read_number(const char *text, uint64_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 0);
	return *end == '\0' && errno == 0;
}

/* Cut "+OFFSET" or "/BYTES" off the end. */
static portprof_status take_number(struct place *place, char sign,
                                   uint64_t *out)
{
	char *at = strrchr(place->symbol, sign);
	size_t column;

	if (!at)
		return PORTPROF_OK;
	column = place->symbol_column + (size_t)(at - place->symbol) + 1;
	*at = '\0';
	if (read_number(at + 1, out))
		return PORTPROF_OK;
	return refuse(place, PORTPROF_E_INVALID, column,
	              "'%.60s' is not a number; write %s", at + 1,
	              kinds[place->kind].form);
}

static portprof_status take_access(struct place *place, const char *word,
                                   size_t length)
{
	static const struct {
		const char *word;
		uint32_t access;
	} accesses[] = {
		{ "r", HW_BREAKPOINT_R }, { "w", HW_BREAKPOINT_W },
		{ "rw", HW_BREAKPOINT_RW }, { "x", HW_BREAKPOINT_X },
	};
	char part[PPI_EVENT_TEXT];

	snprintf(part, sizeof(part), "%.*s", (int)length, word);
	for (size_t i = 0; i < 4 && !is_probe(place); i++)
		if (strcasecmp(part, accesses[i].word) == 0 &&
		    (!place->access || place->access == accesses[i].access)) {
			place->access = accesses[i].access;
			return PORTPROF_OK;
		}
	return refuse(place, PORTPROF_E_INVALID,
	              ppi_perf_column_of(&place->request->core, part),
	              "'%.60s' %s; write %s", part,
	              place->access ? "is a second access" :
	              is_probe(place) ? "is not a modifier of a probe" :
	                                "is neither r, w, x or rw, nor a "
	                                "modifier",
	              kinds[place->kind].form);
}

static portprof_status read_place(struct place *place)
{
	const char *name = place->request->core.name, *at = name;
	portprof_status status;
	size_t length;

	at += strlen(kinds[place->kind].word);
	if (is_probe(place)) {
		length = strcspn(at, ":");
		snprintf(place->file, sizeof(place->file), "%.*s",
		         (int)length, at);
		at += length + 1;
	}
	length = strcspn(at, ":");
	place->symbol_column = (size_t)(at - name) + 1;
	snprintf(place->symbol, sizeof(place->symbol), "%.*s", (int)length,
	         at);
	at += length;
	status = is_probe(place) ? PORTPROF_OK
	                         : take_number(place, '/', &place->bytes);
	if (status == PORTPROF_OK && place->kind != PLACE_MEM)
		status = take_number(place, '+', &place->offset);
	while (status == PORTPROF_OK && *at == ':') {
		length = strcspn(at + 1, ":");
		status = take_access(place, at + 1, length);
		at += 1 + length;
	}
	if (status == PORTPROF_OK && place->symbol[0] == '\0')
		return refuse(place, PORTPROF_E_INVALID, place->symbol_column,
		              "a symbol is missing; write %s",
		              kinds[place->kind].form);
	return status;
}

/* ---- symbols ---- */

static portprof_status refuse_symbol(const struct place *place,
                                     enum perf_symbol_answer answer,
                                     const char *where,
                                     const struct ppi_nearest *nearest,
                                     int error)
{
	size_t column = place->symbol_column;
	char hint[320];

	switch (answer) {
	case PERF_SYMBOL_SEVERAL:
		return refuse(place, PORTPROF_E_INVALID, column, "%s has "
		              "several symbols '%.100s', each of one source "
		              "file; give the address of one",
		              where, place->symbol);
	case PERF_SYMBOL_CHOSEN:
		return refuse(place, PORTPROF_E_UNSUPPORTED, column,
		              "'%.100s' is an indirect function, which %s "
		              "resolves when it starts; name the resolved "
		              "function, or give its "
		              "address", place->symbol, where);
	case PERF_SYMBOL_NO_FILE:
		return refuse(place, error == EACCES || error == EPERM
		              ? PORTPROF_E_DENIED : PORTPROF_E_NOTFOUND, column,
		              "%s cannot be read%s%s", where,
		              error ? ": " : "", error ? strerror(error) : "");
	case PERF_SYMBOL_NO_ELF:
		return refuse(place, PORTPROF_E_UNSUPPORTED, column,
		              "%s is not a program or library (ELF) of this "
		              "machine", where);
	case PERF_SYMBOL_NO_MEMORY:
		return refuse(place, PORTPROF_E_NOMEM, column, "out of memory");
	default:
		ppi_nearest_say(nearest, hint, sizeof(hint));
		refuse(place, PORTPROF_E_NOTFOUND, column, "%s has no symbol "
		       "'%.100s'%s", where, place->symbol,
		       hint[0] ? hint : "; nm and nm -D list those that a file "
		       "has, in the form that linkers use");
		return ppi_suggest(place->why, nearest, PORTPROF_E_NOTFOUND);
	}
}

static portprof_status refuse_unborn(const struct place *place,
                                     const char *why)
{
	return refuse(place, PORTPROF_E_UNSUPPORTED, place->symbol_column,
	              "%sthe address of '%.90s' in another process is known "
	              "only while it runs: attach to it (-p PID), count it in "
	              "a command (portprof stat), record only this event "
	              "(portprof record -e, without -b), or probe its file, "
	              "uprobe:FILE:%.90s", why, place->symbol, place->symbol);
}

/* In the process that is measured, or in this one where none is told yet. */
static portprof_status find_in_process(struct place *place)
{
	int64_t pid = place->request->core.pid;
	enum perf_symbol_answer answer;
	struct ppi_nearest nearest;
	char path[PATH_MAX], where[64];

	if (pid == -2) {
		place->found.address = ANY_ADDRESS;
		snprintf(place->means, sizeof(place->means), "'%.100s', where "
		         "each process has it", place->symbol);
		return PORTPROF_OK;
	}
	if (pid < 0)
		return refuse_unborn(place, "");
	ppi_nearest_begin(&nearest, place->symbol);
	answer = ppi_perf_symbol_in_process(place->kernel, pid, place->symbol,
	                                    &place->found, &nearest, path,
	                                    sizeof(path));
	if (answer == PERF_SYMBOL_FOUND) {
		snprintf(place->means, sizeof(place->means), "0x%" PRIx64
		         ", which is in %.150s",
		         place->found.address + place->offset, path);
		return PORTPROF_OK;
	}
	snprintf(where, sizeof(where), pid ? "process %lld" : "this process",
	         (long long)pid);
	/* nobody is to be measured yet: another process may have it */
	if (pid == 0 && answer == PERF_SYMBOL_NONE)
		return refuse_unborn(place, "this process has no such symbol, "
		                     "and ");
	return refuse_symbol(place, answer, where, &nearest, 0);
}

/* ---- breakpoints ---- */

static const char *access_words(uint32_t access)
{
	switch (access) {
	case HW_BREAKPOINT_X:
		return "executions of";
	case HW_BREAKPOINT_W:
		return "writes to";
	case HW_BREAKPOINT_R:
		return "reads of";
	default:
		return "reads of and writes to";
	}
}

static bool is_length(uint64_t bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/* The kernel takes the size of a pointer for code, and leaves it at that
 * (arch/x86/kernel/hw_breakpoint.c, arch/arm64/kernel/hw_breakpoint.c). */
static portprof_status settle_length(struct place *place)
{
	bool is_code = place->access == HW_BREAKPOINT_X;

	if (is_code && place->bytes)
		return refuse(place, PORTPROF_E_INVALID, place->symbol_column,
		              "an execute breakpoint has no length: drop "
		              "/%" PRIu64,
		              place->bytes);
	if (is_code)
		place->bytes = sizeof(void *);
	else if (!place->bytes && place->found.bytes && !place->offset)
		place->bytes = place->found.bytes;
	else if (!place->bytes)
		place->bytes = DATA_BYTES;
	if (is_length(place->bytes))
		return PORTPROF_OK;
	return refuse(place, PORTPROF_E_INVALID, place->symbol_column,
	              "%" PRIu64 " bytes are not watched: a breakpoint is on "
	              "1, 2, 4 or 8 of them, as in %.60s/8", place->bytes,
	              place->symbol);
}

static portprof_status fill_breakpoint(struct place *place)
{
	struct perf_own *own = perf_own_of(place->event);
	portprof_status status = PORTPROF_OK;
	char what[sizeof(place->means)] = "";

	if (place->kind == PLACE_BREAKPOINT)
		status = find_in_process(place);
	else if (!read_number(place->symbol, &place->found.address))
		status = refuse(place, PORTPROF_E_INVALID,
		                place->symbol_column,
		                "'%.60s' is not an address; "
		                "write %s", place->symbol,
		                kinds[place->kind].form);
	if (!place->access)
		place->access = place->kind == PLACE_MEM ||
		                        place->found.is_variable
			? HW_BREAKPOINT_RW : HW_BREAKPOINT_X;
	if (status == PORTPROF_OK)
		status = settle_length(place);
	if (status)
		return status;
	own->type = PERF_TYPE_BREAKPOINT;
	own->is_of_program = place->kind == PLACE_BREAKPOINT;
	own->bp_type = place->access;
	own->config[1] = place->found.address + place->offset; /* bp_addr */
	own->config[2] = place->bytes;                         /* bp_len */
	snprintf(place->event->pmu, sizeof(place->event->pmu), "breakpoint");
	if (place->kind == PLACE_MEM)
		snprintf(place->means, sizeof(place->means), "0x%" PRIx64,
		         own->config[1]);
	if (place->access != HW_BREAKPOINT_X)
		snprintf(what, sizeof(what), "%" PRIu64 " bytes at ",
		         place->bytes);
	snprintf(what + strlen(what), sizeof(what) - strlen(what), "%.200s",
	         place->means);
	snprintf(place->means, sizeof(place->means), "%s %.200s",
	         access_words(place->access), what);
	return PORTPROF_OK;
}

/* ---- probes ---- */

static portprof_status find_in_file(struct place *place, const char *path)
{
	enum perf_symbol_answer answer;
	struct ppi_nearest nearest;
	char where[128];
	int error;

	if (read_number(place->symbol, &place->found.file_offset))
		return PORTPROF_OK;
	ppi_nearest_begin(&nearest, place->symbol);
	answer = ppi_perf_symbol_in_file(place->kernel, path, place->symbol,
	                                 &place->found, &nearest, &error);
	snprintf(where, sizeof(where), "file %.100s", path);
	/* a command maps its libraries only once it runs */
	if (answer == PERF_SYMBOL_NO_FILE && !strchr(place->file, '/'))
		return refuse(place, PORTPROF_E_UNSUPPORTED, 1, "no file %.90s "
		              "is here or mapped by the measured process; give "
		              "its path, or attach to the process that maps it "
		              "(-p PID)", place->file);
	if (answer != PERF_SYMBOL_FOUND)
		return refuse_symbol(place, answer, where, &nearest, error);
	if (place->found.file_offset)
		return PORTPROF_OK;
	return refuse(place, PORTPROF_E_UNSUPPORTED, place->symbol_column,
	              "'%.100s' is not in the code of %s", place->symbol,
	              where);
}

/* A name without a slash is a file here, or else one that is mapped. */
static portprof_status find_path(struct place *place, char *path, size_t bytes)
{
	char byte, mapped[PATH_MAX];
	const char *found = place->file;

	if (!strchr(place->file, '/') &&
	    place->kernel->read_file(place->kernel->self, place->file, 0,
	                             &byte, 1) < 0 &&
	    place->request->core.pid >= 0 &&
	    ppi_perf_symbol_find_file(place->kernel, place->request->core.pid,
	                              place->file, mapped, sizeof(mapped)))
		found = mapped;
	if (snprintf(path, bytes, "%s", found) < (int)bytes)
		return PORTPROF_OK;
	return refuse(place, PORTPROF_E_INVALID, 1,
	              "the path %.100s is too long", found);
}

static portprof_status put_type(struct place *place)
{
	struct perf_own *own = perf_own_of(place->event);
	struct perf_field field;
	char text[64];

	if (!ppi_perf_sysfs_text(place->kernel, "uprobe", "type", "", text,
	                         sizeof(text)))
		return refuse(place, PORTPROF_E_UNSUPPORTED, 1, "this kernel "
		              "has no events for probes of programs "
		              "(CONFIG_UPROBE_EVENTS, Linux 4.17)");
	own->type = (uint32_t)strtoul(text, NULL, 10);
	if (place->kind == PLACE_UPROBE)
		return PORTPROF_OK;
	if (ppi_perf_sysfs_text(place->kernel, "uprobe", "format", "retprobe",
	                        text, sizeof(text)) &&
	    ppi_perf_format_parse(text, &field) &&
	    ppi_perf_format_put(&field, 1, own->config))
		return PORTPROF_OK;
	return refuse(place, PORTPROF_E_UNSUPPORTED, 1,
	              "this kernel has no probes of returns");
}

static portprof_status fill_probe(struct place *place)
{
	const struct ppi_event_request *asked = &place->request->core;
	struct perf_own *own = perf_own_of(place->event);
	char *path = place->event->request.name;
	portprof_status status = put_type(place);

	if (status == PORTPROF_OK && place->kind == PLACE_URETPROBE &&
	    place->offset)
		status = refuse(place, PORTPROF_E_INVALID,
		                place->symbol_column, "a probe of returns has "
		                "no offset: drop +%" PRIu64, place->offset);
	if (status == PORTPROF_OK && asked->has_modes && !asked->user)
		status = refuse(place, PORTPROF_E_UNSUPPORTED,
		                ppi_perf_column_of(asked, "k"), "a probe of a "
		                "program happens in user mode; drop :k");
	if (status == PORTPROF_OK)
		status = find_path(place, path,
		                   sizeof(place->event->request.name));
	if (status == PORTPROF_OK)
		status = find_in_file(place, path);
	if (status)
		return status;
	own->has_path = own->is_probe = true;
	own->is_return = place->kind == PLACE_URETPROBE;
	own->config[2] = place->found.file_offset + place->offset;
	snprintf(place->event->pmu, sizeof(place->event->pmu), "uprobe");
	snprintf(place->means, sizeof(place->means), "%s at offset 0x%" PRIx64
	         " of %.180s", place->kind == PLACE_UPROBE
	         ? "executions of the code" : "returns from the function",
	         own->config[2], path);
	return PORTPROF_OK;
}

portprof_status ppi_perf_place_resolve(const struct perf_kernel *kernel,
                                       const struct perf_request *request,
                                       enum ppi_mode mode,
                                       struct ppi_event *event,
                                       struct ppi_diag *why)
{
	struct ppi_event draft = ppi_perf_request_event(request);
	struct place place = { .kernel = kernel, .request = request,
		               .event = &draft, .why = why,
		               .kind = kind_of(request->core.name) };
	portprof_status status = read_place(&place);

	if (status == PORTPROF_OK)
		status = is_probe(&place) ? fill_probe(&place)
		                          : fill_breakpoint(&place);
	if (status == PORTPROF_OK)
		status = ppi_perf_check_software(&draft, is_probe(&place)
		                                 ? "a probe" : "a breakpoint",
		                                 why);
	if (status)
		return status;
	ppi_perf_set_modes(&draft);
	status = ppi_perf_event_finish(&draft, mode, request->core.name,
	                               place.means, why);
	if (status == PORTPROF_OK)
		*event = draft;
	return status;
}

/* ---- what the kernel refuses ---- */

