/* SPDX-License-Identifier: MIT */
/*
 * Recognizes the files of other tools, and has what their readers share: the
 * lines of a file, frames and samples. The rest of the folder:
 *
 *   import_text.c        the text of a file, whatever it is wrapped in
 *   import_folded.c      folded stacks
 *   import_perf.c        the text of perf script; import_perf_line.c its lines
 *   import_gperftools.c  CPU profiles of gperftools
 */
#include "config.h"

#include "api/profile/import/import.h"

#include <portprof/tool.h>

#include "api/common/diag.h"
#include "base/foreign_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- what readers share ---- */

/* Chains of a thousand frames with long names stay far below. */
enum { LINE_BYTES_MAX = 1 << 20, BEGIN_BYTES = 65536, HEAD_BYTES = 512 };

portprof_status ppi_import_bad(const struct ppi_import *import, size_t column,
                               const char *words)
{
	return ppi_fail(import->why, PORTPROF_E_FORMAT, 0, "read profile",
	                "%s:%llu:%zu: %s", import->path,
	                (unsigned long long)import->line, column, words);
}

portprof_status ppi_import_memory(const struct ppi_import *import)
{
	return ppi_fail(import->why, PORTPROF_E_NOMEM, ENOMEM, "read profile",
	                "out of memory while reading '%s'", import->path);
}

static portprof_status fail_file(const struct ppi_import *import, int error)
{
	return ppi_fail(import->why,
	                error == EACCES || error == EPERM ? PORTPROF_E_DENIED
	                : error == ENOENT ? PORTPROF_E_NOTFOUND
	                                  : PORTPROF_E_SYSTEM,
	                error, "read profile", "cannot read '%s': %s",
	                import->path, ppi_foreign_error(error));
}

/* ---- which tool wrote a file ---- */

/* The first line that says something; NULL when there is none. *is_whole: it is
 * not cut. *number: from 1. */
static char *first_line(char *text, bool *is_whole, uint64_t *number)
{
	for (*number = 1; *text; ++*number) {
		size_t length = strcspn(text, "\n");

		*is_whole = text[length] == '\n';
		if (text[0] != '#' && strspn(text, " \t\r") < length) {
			text[length] = '\0';
			return text;
		}
		if (!*is_whole)
			return NULL;
		text += length + 1;
	}
	return NULL;
}

static bool is_of_text(char byte)
{
	return (unsigned char)byte >= 32 ? byte != 127
	                                 : byte && strchr("\t\n\r", byte);
}

/* What a file is, and else why it is nothing that is read here. */
struct look {
	enum ppi_import_kind kind;
	uint64_t line;
	size_t column; /* 0: no text */
	const char *reason;
};

/* Files that people have. */
static const char *known_reason(const char *bytes, size_t count)
{
	static const struct {
		const char *begin;
		size_t count;
		const char *reason;
	} known[] = {
		{ "PERFILE", 7, "perf record wrote it: make text of it with "
		                "perf script" },
		{ "2ELIFREP", 8, "perf record wrote it on a machine of another "
		                 "byte order: make text of it with perf script" },
		{ "\177ELF", 4, "it is a program or library (ELF)" },
		{ "FLR\0", 4, "it is a recording of Java Flight Recorder: "
		              "convert it to pprof or folded stacks" },
		{ "PK\3\4", 4, "it is a zip archive: name a file in it" },
		{ "\375" "7zXZ", 5, "it is compressed: use xz -dc FILE | "
		                    "portprof report -" },
		{ "BZh", 3, "it is compressed: use bzip2 -dc FILE | portprof "
		            "report -" },
		{ "\050\265\057\375", 4, "it is compressed: use zstd -dc FILE | "
		                         "portprof report -" },
		{ "JAVA PROFILE", 12, "it is a heap dump of Java (hprof), which "
		                      "has no samples" },
		{ "\0\0\0\0\3\0\0\0\1\0\0\0", 12, "it is a CPU profile of "
		  "pprof's agent for Java: convert it with pprof -proto" },
		{ "SQLite format", 13, "it is a database of SQLite" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (count >= known[i].count &&
		    memcmp(bytes, known[i].begin, known[i].count) == 0)
			return known[i].reason;
	return NULL;
}

/* A line that begins a text and is none of ours. */
static void look_at_line(const char *line, bool has_callers, struct look *look)
{
	static const struct {
		const char *begin, *reason;
	} known[] = {
		{ "{", "JSON is not read: export pprof or folded stacks where "
		       "it was made" },
		{ "[", "JSON is not read: export pprof or folded stacks where "
		       "it was made" },
		{ "<", "XML and HTML are not read: fold the call chains with "
		       "one of FlameGraph's or inferno's scripts" },
		{ "--- ", "this text of gperftools or Java is not read: "
		          "convert it with pprof -proto" },
		{ "goroutine profile:", "this text of Go is not read: convert "
		                        "it with pprof -proto" },
		{ "threadcreate profile:", "this text of Go is not read: "
		                           "convert it with pprof -proto" },
		{ "heap profile:", "heap profiles of gperftools are not read: "
		                   "convert them with pprof -proto" },
		{ "events:", "callgrind's format is not read: "
		             "callgrind_annotate and KCachegrind show it" },
		{ "version:", "callgrind's format is not read: "
		              "callgrind_annotate and KCachegrind show it" },
	};
	size_t begin = strspn(line, " \t");

	look->column = begin + 1;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strncmp(line + begin, known[i].begin,
		            strlen(known[i].begin)) == 0)
			look->reason = known[i].reason;
	if (look->reason)
		return;
	look->reason = "this is neither a folded stack (main;work 12) nor a "
	               "sample of perf script (app 12 7.500000: 100 cycles:); "
	               "FlameGraph's and inferno's scripts fold what other "
	               "tools print";
	if (strchr(line, ';')) {
		look->column = strlen(line) + 1;
		look->reason = "a folded stack ends with a space and a number";
	} else if (!has_callers && ppi_import_folded_columns(line)) {
		look->reason = "a folded stack has callers, with semicolons "
		               "between, or each line ends with a number";
	}
}

/* Without callers, lines of other things end with numbers, too, such as
 * "frequency = 100". */
static bool is_list(const char *text)
{
	char *copy = strdup(text), *line = copy, *end;
	bool is_it = copy != NULL;

	for (; line && *line && is_it; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		else
			break; /* perhaps cut */
		is_it = line[0] == '#' || !line[strspn(line, " \t\r")] ||
		        (ppi_import_folded_columns(line) &&
		         !strchr(line, '=') && !strstr(line, ": "));
	}
	free(copy);
	return is_it;
}

/* "{"a": ..." and "[{...": a stack may begin with "[unknown]" and "{closure}". */
static bool is_json(const char *line)
{
	line += strspn(line, " \t");
	return (*line == '{' || *line == '[') &&
	       strchr("\"{[", line[1 + strspn(line + 1, " \t")]);
}

static void look_at_text(char *text, bool is_all, struct look *look)
{
	bool has_callers = strchr(text, ';') || is_list(text), is_whole;
	char *line;

	if (ppi_import_is_perf(text)) {
		look->kind = PPI_IMPORT_PERF;
		return;
	}
	line = first_line(text, &is_whole, &look->line);
	if (!line) {
		look->line = look->column = 1;
		look->reason = "the text has no line but comments";
	} else if (has_callers && (ppi_import_folded_columns(line) ||
	                           (!is_all && !is_whole && !is_json(line)))) {
		look->kind = PPI_IMPORT_FOLDED;
	} else {
		look_at_line(line, has_callers, look);
	}
}

/* A text but for some bytes. */
static void look_at_odd(const char *bytes, struct look *look)
{
	look->line = look->column = 1;
	for (; is_of_text(*bytes); bytes++) {
		look->line += *bytes == '\n';
		look->column = *bytes == '\n' ? 1 : look->column + 1;
	}
	look->reason = *bytes == '\033'
	                       ? "escape sequences, such as those of color, are "
	                         "not read: write the text without"
	                       : "a control byte is here, which no folded stack "
	                         "and no text of perf script has";
}

/* Other files than texts show it at once; of those few bytes are read. */
static void look_at(struct ppi_import_text *source, struct look *look)
{
	char *begin = malloc(BEGIN_BYTES + 1);
	size_t count = 0, odd = 0;
	int c = 0;

	while (begin && count < (odd ? HEAD_BYTES : BEGIN_BYTES) &&
	       (c = ppi_import_text_byte(source)) != EOF) {
		begin[count++] = (char)c;
		odd += !is_of_text((char)c);
	}
	if (begin && count) {
		begin[count] = '\0';
		look->reason = known_reason(begin, count);
		if (look->reason)
			;
		else if (ppi_import_is_gperftools((unsigned char *)begin,
		                                  count))
			look->kind = PPI_IMPORT_GPERFTOOLS;
		else if (odd == 0)
			look_at_text(begin, c == EOF, look);
		else if (odd <= count / 8)
			look_at_odd(begin, look);
	}
	free(begin);
}

static struct look look_at_file(const char *path)
{
	struct ppi_import_text source;
	struct look look = { 0 };

	if (!ppi_import_text_open(&source, path, HEAD_BYTES))
		return look;
	look_at(&source, &look);
	ppi_import_text_close(&source);
	return look;
}

int portprof_import_is(const char *path)
{
	return path && look_at_file(path).kind != PPI_IMPORT_NONE;
}

static portprof_status refuse(const char *path, const struct look *look,
                              struct ppi_diag *why)
{
	if (look->column)
		return ppi_fail(why, PORTPROF_E_FORMAT, 0, "read profile",
		                "%s:%llu:%zu: not a profile: %s", path,
		                (unsigned long long)look->line, look->column,
		                look->reason);
	return ppi_fail(why, PORTPROF_E_FORMAT, 0, "read profile",
	                "'%s' is not a profile: %s", path,
	                look->reason
	                ? look->reason
	                : "no pprof file, folded stacks, text of perf script "
	                  "or CPU profile of gperftools begins with its bytes");
}

bool ppi_import_explain(const char *path, struct ppi_diag *why)
{
	struct look look = look_at_file(path);

	if (!look.reason)
		return false;
	refuse(path, &look, why);
	return true;
}

/* ---- lines ---- */

portprof_status ppi_import_again(struct ppi_import *import)
{
	import->line = 0;
	return ppi_import_text_rewind(&import->source)
	               ? PORTPROF_OK
	               : fail_file(import, import->source.error);
}

portprof_status ppi_import_line(struct ppi_import *import, char **text)
{
	int c;

	import->text.count = 0;
	*text = NULL;
	while ((c = ppi_import_text_byte(&import->source)) != EOF &&
	       c != '\n') {
		char byte = (char)c;

		if (import->text.count == LINE_BYTES_MAX) {
			import->line++;
			return ppi_import_bad(import, LINE_BYTES_MAX,
			                      "a line of more than 1 MiB is "
			                      "not a call chain");
		}
		if (!ppi_vector_add(&import->text, 1, &byte, 1))
			return ppi_import_memory(import);
	}
	if (import->source.error)
		return fail_file(import, import->source.error);
	import->line += c != EOF || import->text.count;
	if (import->source.damage)
		return ppi_import_bad(import, import->text.count + 1,
		                      import->source.damage);
	if (c == EOF && import->text.count == 0)
		return PORTPROF_OK;
	if (import->text.count &&
	    PPI_AT(&import->text, char)[import->text.count - 1] == '\r')
		import->text.count--;
	if (!ppi_vector_add(&import->text, 1, NULL, 1))
		return ppi_import_memory(import);
	*text = import->text.data;
	if (strlen(*text) + 1 != import->text.count)
		return ppi_import_bad(import, strlen(*text) + 1,
		                      "a zero byte is not text: the file is "
		                      "damaged");
	return PORTPROF_OK;
}

/* ---- samples ---- */

/* The number of a function, or PPI_NONE. */
static uint32_t function_of(struct ppi_import *import, const char *name,
                            const char *file)
{
	portprof_profile *profile = import->profile;
	struct ppi_function function = {
		.name = ppi_profile_text(profile, name, strlen(name)),
		.filename = ppi_profile_text(profile, file, strlen(file)),
	};

	function.system_name = function.name;
	return function.name == PPI_NONE || function.filename == PPI_NONE
	               ? PPI_NONE
	               : ppi_profile_function(profile, &function);
}

portprof_status ppi_import_frame_of(struct ppi_import *import,
                                    uint32_t mapping, uint64_t address,
                                    const struct ppi_line *lines, size_t count)
{
	uint32_t number = ppi_profile_location(import->profile, mapping,
	                                       address, lines, count, false);

	if (number == PPI_NONE ||
	    !ppi_vector_add(&import->chain, sizeof(number), &number, 1))
		return ppi_import_memory(import);
	return PORTPROF_OK;
}

portprof_status ppi_import_frame(struct ppi_import *import, uint32_t mapping,
                                 uint64_t address, const char *name)
{
	struct ppi_line line = { 0 };
	uint32_t number = name[0] ? function_of(import, name, "") : 0;

	line.function = number;
	if (number == PPI_NONE)
		return ppi_import_memory(import);
	return ppi_import_frame_of(import, mapping, address, &line,
	                           name[0] ? 1 : 0);
}

portprof_status ppi_import_sample_of(struct ppi_import *import, uint32_t pid,
                                     uint32_t tid, const char *name,
                                     const uint64_t *values)
{
	size_t events = import->profile->events.count;
	portprof_profile_sample sample = {
		.pid = pid,
		.tid = tid,
		.thread_name = name,
		.locations = import->chain.data,
		.depth = import->chain.count,
		.samples = values,
		.weights = values + events,
	};
	bool is_good = ppi_profile_sample(import->profile, &sample, 0);

	import->chain.count = 0;
	if (!is_good)
		return ppi_import_memory(import);
	if (!ppi_bounds_hold(&import->bounds,
	                     ppi_profile_bytes(import->profile)))
		return ppi_bounds_fail(&import->bounds, import->path,
		                       import->why);
	return PORTPROF_OK;
}

portprof_status ppi_import_sample(struct ppi_import *import, uint32_t pid,
                                  uint32_t tid, const char *name, size_t event,
                                  uint64_t samples, uint64_t weight)
{
	size_t events = import->profile->events.count;
	uint64_t *values = calloc(2 * events, sizeof(*values));
	portprof_status status;

	if (!values)
		return ppi_import_memory(import);
	values[event] = samples;
	values[events + event] = weight;
	status = ppi_import_sample_of(import, pid, tid, name, values);
	free(values);
	return status;
}

static portprof_status read_kind(struct ppi_import *import)
{
	struct look look = { 0 };

	look_at(&import->source, &look);
	import->profile = ppi_profile_new();
	if (!import->profile)
		return ppi_import_memory(import);
	switch (look.kind) {
	case PPI_IMPORT_FOLDED:
		return ppi_import_folded(import);
	case PPI_IMPORT_PERF:
		return ppi_import_perf(import);
	case PPI_IMPORT_GPERFTOOLS:
		return ppi_import_gperftools(import);
	default:
		return refuse(import->path, &look, import->why);
	}
}

portprof_status portprof_import_read(const char *path, uint64_t memory_max,
                                     portprof_profile **profile)
{
	struct ppi_diag why = { 0 };
	struct ppi_import import = { .path = path,
		                     .bounds = { .asked = memory_max },
		                     .why = &why };
	portprof_status status;
	struct stat at;

	if (!path)
		return ppi_refuse_null("portprof_import_read", "path");
	if (!profile)
		return ppi_refuse_null("portprof_import_read", "profile");
	if (!ppi_import_text_open(&import.source, path, BEGIN_BYTES)) {
		fail_file(&import, errno);
		return ppi_report(&why);
	}
	if (stat(path, &at) == 0)
		import.bounds.file_bytes = (uint64_t)at.st_size;
	status = read_kind(&import);
	ppi_import_text_close(&import.source);
	ppi_vector_free(&import.text);
	ppi_vector_free(&import.chain);
	if (status == PORTPROF_OK) {
		*profile = import.profile;
		return PORTPROF_OK;
	}
	portprof_profile_free(import.profile);
	return ppi_report(&why);
}
