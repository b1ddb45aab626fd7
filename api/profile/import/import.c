/* SPDX-License-Identifier: MIT */
/*
 * Recognizes the files of other tools, and has what their readers share: the
 * text of a file, its lines, frames and samples. The readers:
 *
 *   import_folded.c      folded stacks
 *   import_perf.c        the text of perf script; import_perf_line.c its lines
 *   import_gperftools.c  CPU profiles of gperftools
 */
#include "config.h"

#include "api/profile/import/import.h"

#include <portprof/tool.h>

#include "api/core/diag.h"
#include "base/foreign_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

/* ---- the text of a file: gunzipped, in UTF-8, without byte order mark ---- */

enum { NONE = -1, REPLACEMENT = 0xfffd };

#ifdef HAVE_ZLIB
/* What is not gzipped is read as it is; twice as much as `bytes` is unpacked at
 * once. */
static void *open_file(int fd, unsigned bytes)
{
	gzFile file = gzdopen(fd, "rb");

	if (file)
		gzbuffer(file, bytes);
	return file;
}

static void close_file(void *file)
{
	gzclose(file);
}

static bool rewind_file(void *file)
{
	return gzrewind(file) == 0;
}

static int read_byte(struct ppi_import_text *text)
{
	gzFile file = text->file;
	int c = gzgetc(file), problem = Z_OK;

	if (c != -1)
		return c;
	gzerror(file, &problem);
	if (problem == Z_ERRNO)
		text->error = errno ? errno : EIO;
	else if (problem == Z_MEM_ERROR)
		text->error = ENOMEM;
	else if (problem == Z_BUF_ERROR)
		text->damage = "the gzip file is truncated here";
	else if (problem != Z_OK && problem != Z_STREAM_END)
		text->damage = "the gzip file is damaged here";
	return EOF;
}
#else
static void *open_file(int fd, unsigned bytes)
{
	(void)bytes;
	return fdopen(fd, "r");
}

static void close_file(void *file)
{
	fclose(file);
}

static bool rewind_file(void *file)
{
	return fseek(file, 0, SEEK_SET) == 0;
}

static int read_byte(struct ppi_import_text *text)
{
	int c = getc(text->file);

	if (c == EOF && ferror(text->file))
		text->error = errno;
	return c;
}
#endif

static int get_byte(struct ppi_import_text *text)
{
	return text->begin_at < text->begin_count
	               ? text->begin[text->begin_at++]
	               : read_byte(text);
}

/* Whether zero bytes stand beside the first characters, which are ASCII in every
 * format that is read here. One alone proves nothing: a pprof file may begin with an
 * empty field. */
static bool is_wide(const unsigned char *begin, size_t count, size_t zero_at)
{
	for (size_t i = 0; i + 1 < count; i += 2)
		if (begin[i + zero_at] != 0 || begin[i + !zero_at] < '\t' ||
		    begin[i + !zero_at] > '~')
			return false;
	return count >= 4;
}

/* A byte order mark says what follows, or the first characters do. */
static void find_coding(struct ppi_import_text *text)
{
	unsigned char *begin = text->begin;
	size_t count = 0, mark = 0;
	int c;

	memset(begin, 0, sizeof(text->begin));
	while (count < sizeof(text->begin) && (c = read_byte(text)) != EOF)
		begin[count++] = (unsigned char)c;
	text->pushed = NONE;
	text->left_count = 0;
	text->coding = PPI_TEXT_8;
	if (count >= 2 && begin[0] == 0xff && begin[1] == 0xfe)
		mark = 2;
	if (mark || is_wide(begin, count, 1))
		text->coding = PPI_TEXT_16_LITTLE;
	else if (count >= 2 && begin[0] == 0xfe && begin[1] == 0xff)
		mark = 2;
	else if (count >= 3 && memcmp(begin, "\357\273\277", 3) == 0)
		mark = 3;
	if ((mark == 2 && begin[0] == 0xfe) || is_wide(begin, count, 0))
		text->coding = PPI_TEXT_16_BIG;
	text->begin_at = mark;
	text->begin_count = count;
}

/* Back to the beginning. */
static bool rewind_text(struct ppi_import_text *text)
{
	if (!rewind_file(text->file)) {
		text->error = errno ? errno : EIO;
		return false;
	}
	text->error = 0;
	text->damage = NULL;
	find_coding(text);
	return text->error == 0;
}

/* False with errno. */
static bool open_text(struct ppi_import_text *text, const char *path,
                      unsigned bytes)
{
	int fd = ppi_foreign_open(path, PPI_FOREIGN_FILE, NULL);

	*text = (struct ppi_import_text){ .pushed = NONE };
	if (fd < 0)
		return false;
	text->file = open_file(fd, bytes);
	if (!text->file) {
		close(fd);
		errno = ENOMEM;
		return false;
	}
	find_coding(text);
	return true;
}

static void close_text(struct ppi_import_text *text)
{
	if (text->file)
		close_file(text->file);
	text->file = NULL;
}

static int get_unit(struct ppi_import_text *text)
{
	int first = text->pushed, second;

	text->pushed = NONE;
	if (first != NONE)
		return first;
	first = get_byte(text);
	second = first == EOF ? EOF : get_byte(text);
	if (second == EOF)
		return EOF;
	return text->coding == PPI_TEXT_16_BIG ? first << 8 | second
	                                       : second << 8 | first;
}

/* RFC 2781; half a pair becomes U+FFFD. */
static int get_character(struct ppi_import_text *text)
{
	int high = get_unit(text), low;

	if (high == EOF || (high & 0xf800) != 0xd800)
		return high;
	if (high >= 0xdc00)
		return REPLACEMENT;
	low = get_unit(text);
	if ((low & 0xfc00) == 0xdc00)
		return 0x10000 + ((high & 0x3ff) << 10 | (low & 0x3ff));
	text->pushed = low == EOF ? NONE : low;
	return REPLACEMENT;
}

/* The first byte of a character in UTF-8; the others are kept, last first. */
static int encode_character(struct ppi_import_text *text, int character)
{
	int first = 0x80, most = 0x40;

	if (character < 0x80)
		return character;
	while (character >= most) {
		text->left[text->left_count++] =
			(unsigned char)(0x80 | (character & 0x3f));
		character >>= 6;
		first = first >> 1 | 0x80;
		most >>= 1;
	}
	return (first | character) & 0xff;
}

/* The next byte, or EOF; then `error` is an errno or 0. */
static int next_byte(struct ppi_import_text *text)
{
	int character;

	if (text->coding == PPI_TEXT_8)
		return get_byte(text);
	if (text->left_count)
		return text->left[--text->left_count];
	character = get_character(text);
	return character == EOF ? EOF : encode_character(text, character);
}

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
	       (c = next_byte(source)) != EOF) {
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

	if (!open_text(&source, path, HEAD_BYTES))
		return look;
	look_at(&source, &look);
	close_text(&source);
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
	return rewind_text(&import->source)
	               ? PORTPROF_OK
	               : fail_file(import, import->source.error);
}

portprof_status ppi_import_line(struct ppi_import *import, char **text)
{
	int c;

	import->text.count = 0;
	*text = NULL;
	while ((c = next_byte(&import->source)) != EOF &&
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
	if (!open_text(&import.source, path, BEGIN_BYTES)) {
		fail_file(&import, errno);
		return ppi_report(&why);
	}
	if (stat(path, &at) == 0)
		import.bounds.file_bytes = (uint64_t)at.st_size;
	status = read_kind(&import);
	close_text(&import.source);
	ppi_vector_free(&import.text);
	ppi_vector_free(&import.chain);
	if (status == PORTPROF_OK) {
		*profile = import.profile;
		return PORTPROF_OK;
	}
	portprof_profile_free(import.profile);
	return ppi_report(&why);
}
