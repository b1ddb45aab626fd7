/* SPDX-License-Identifier: MIT */
/* Recognizes the files of other tools; code that their readers share. */
#include "config.h"

#include "api/file/import.h"

#include <portprof/tool.h>

#include "api/internal/diag.h"
#include "port/foreign_file.h"

#include <ctype.h>
#include <errno.h>

/* Chains of a thousand frames with long names stay far below. */
enum { LINE_BYTES_MAX = 1 << 20, BEGIN_BYTES = 65536 };

portprof_status ppi_import_bad(const struct ppi_import *import,
                               const char *words)
{
	return ppi_fail(import->why, PORTPROF_E_FORMAT, 0, "read profile",
	                "%s:%llu: %s", import->path,
	                (unsigned long long)import->line, words);
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

/* ---- which one ---- */

/* The first line that says something; false when there is none. */
static bool first_line(char *text, char **line, bool *is_whole)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		*is_whole = text[length] == '\n';
		text[length] = '\0';
		*line = text;
		if (text[0] != '#' && text[strspn(text, " \t\r")] != '\0')
			return true;
		if (!*is_whole)
			return false;
		text += length + 1;
	}
	return false;
}

static bool is_text(const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i] == 127 ||
		    (bytes[i] < 32 && !strchr("\t\n\r", bytes[i])) ||
		    bytes[i] == 0)
			return false;
	return true;
}

static bool ends_with_number(const char *line)
{
	size_t end = strlen(line), at;

	while (end && strchr(" \t\r", line[end - 1]))
		end--;
	at = end;
	while (at && isdigit((unsigned char)line[at - 1]))
		at--;
	return at < end && at > 1 && line[at - 1] == ' ';
}

static enum ppi_import_kind kind_of(const char *path)
{
	FILE *file = ppi_foreign_stream(path, PPI_FOREIGN_FILE);
	enum ppi_import_kind kind = PPI_IMPORT_NONE;
	unsigned char *begin = malloc(BEGIN_BYTES + 1);
	char *line;
	size_t count;
	bool is_whole, has_callers;

	if (!file || !begin)
		goto done;
	count = fread(begin, 1, BEGIN_BYTES, file);
	begin[count] = '\0';
	/* "frequency = 100" ends with a number, too */
	has_callers = memchr(begin, ';', count) != NULL;
	if (ppi_import_is_gperftools(begin, count))
		kind = PPI_IMPORT_GPERFTOOLS;
	else if (is_text(begin, count) &&
	         first_line((char *)begin, &line, &is_whole)) {
		if (ppi_import_is_perf(line))
			kind = PPI_IMPORT_PERF;
		else if (has_callers &&
		         (ends_with_number(line) ||
		          (count == BEGIN_BYTES && !is_whole)))
			kind = PPI_IMPORT_FOLDED;
	}
done:
	free(begin);
	if (file)
		fclose(file);
	return kind;
}

int portprof_import_is(const char *path)
{
	return path && kind_of(path) != PPI_IMPORT_NONE;
}

/* ---- lines ---- */

portprof_status ppi_import_line(struct ppi_import *import, char **text)
{
	int c;

	import->text.count = 0;
	*text = NULL;
	while ((c = getc(import->file)) != EOF && c != '\n') {
		char byte = (char)c;

		if (import->text.count == LINE_BYTES_MAX) {
			import->line++;
			return ppi_import_bad(import,
			                      "a line of more than 1 MiB is "
			                      "not a call chain");
		}
		if (!ppi_vector_add(&import->text, 1, &byte, 1))
			return ppi_import_memory(import);
	}
	if (ferror(import->file))
		return fail_file(import, errno);
	if (c == EOF && import->text.count == 0)
		return PORTPROF_OK;
	import->line++;
	if (!ppi_vector_add(&import->text, 1, NULL, 1))
		return ppi_import_memory(import);
	*text = import->text.data;
	if (strlen(*text) + 1 != import->text.count)
		return ppi_import_bad(import, "a zero byte is not text: the "
		                              "file is damaged");
	return PORTPROF_OK;
}

/* ---- samples ---- */

portprof_status ppi_import_frame(struct ppi_import *import, uint32_t mapping,
                                 uint64_t address, const char *name)
{
	portprof_profile *profile = import->profile;
	struct ppi_function function = { 0 };
	struct ppi_line line = { 0 };
	uint32_t number = 0;

	if (name[0]) {
		function.name = ppi_profile_text(profile, name, strlen(name));
		function.system_name = function.name;
		number = function.name == PPI_NONE
		                 ? PPI_NONE
		                 : ppi_profile_function(profile, &function);
		line.function = number;
	}
	if (number != PPI_NONE)
		number = ppi_profile_location(profile, mapping, address, &line,
		                              name[0] ? 1 : 0, false);
	if (number == PPI_NONE ||
	    !ppi_vector_add(&import->chain, sizeof(number), &number, 1))
		return ppi_import_memory(import);
	return PORTPROF_OK;
}

portprof_status ppi_import_sample(struct ppi_import *import, uint32_t pid,
                                  uint32_t tid, const char *name, size_t event,
                                  uint64_t samples, uint64_t weight)
{
	size_t events = import->profile->events.count;
	uint64_t *values = calloc(2 * events, sizeof(*values));
	portprof_profile_sample sample = {
		.pid = pid,
		.tid = tid,
		.thread_name = name,
		.locations = import->chain.data,
		.depth = import->chain.count,
		.samples = values,
		.weights = values + events,
	};
	bool is_good;

	if (!values)
		return ppi_import_memory(import);
	values[event] = samples;
	values[events + event] = weight;
	is_good = ppi_profile_sample(import->profile, &sample, 0);
	free(values);
	import->chain.count = 0;
	if (!is_good)
		return ppi_import_memory(import);
	if (!ppi_bounds_hold(&import->bounds,
	                     ppi_profile_bytes(import->profile)))
		return ppi_bounds_fail(&import->bounds, import->path,
		                       import->why);
	return PORTPROF_OK;
}

static portprof_status read_kind(struct ppi_import *import,
                                 enum ppi_import_kind kind)
{
	import->profile = ppi_profile_new();
	if (!import->profile)
		return ppi_import_memory(import);
	switch (kind) {
	case PPI_IMPORT_FOLDED:
		return ppi_import_folded(import);
	case PPI_IMPORT_PERF:
		return ppi_import_perf(import);
	case PPI_IMPORT_GPERFTOOLS:
		return ppi_import_gperftools(import);
	default:
		return ppi_fail(import->why, PORTPROF_E_FORMAT, 0,
		                "read profile",
		                "'%s' holds no folded stacks, no text of perf "
		                "script and no CPU profile of gperftools",
		                import->path);
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
	import.file = ppi_foreign_stream(path, PPI_FOREIGN_FILE);
	if (!import.file) {
		fail_file(&import, errno);
		return ppi_report(&why);
	}
	if (fstat(fileno(import.file), &at) == 0)
		import.bounds.file_bytes = (uint64_t)at.st_size;
	status = read_kind(&import, kind_of(path));
	fclose(import.file);
	ppi_vector_free(&import.text);
	ppi_vector_free(&import.chain);
	if (status == PORTPROF_OK) {
		*profile = import.profile;
		return PORTPROF_OK;
	}
	portprof_profile_free(import.profile);
	return ppi_report(&why);
}
