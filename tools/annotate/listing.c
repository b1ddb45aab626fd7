/* SPDX-License-Identifier: MIT */
/* What of a function's source and instructions is shown: the hot parts. */
#include "config.h"

#include "tools/annotate/annotate.h"

#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PAGE_FUNCTIONS = 12,
	PAGE_FILES = 4, /* of a function; inlined code is of others */
	PAGE_AROUND = 12,
	LINES_MAX = 20000
};

static bool add(struct ppi_listing *listing, uint64_t at, uint64_t weight,
                const char *text, bool has_gap)
{
	struct ppi_shown_line *grown;

	if ((listing->count & (listing->count - 1)) == 0) {
		grown = realloc(listing->lines,
		                (listing->count ? 2 * listing->count : 1) *
		                        sizeof(*grown));
		if (!grown)
			return false;
		listing->lines = grown;
	}
	grown = &listing->lines[listing->count];
	*grown = (struct ppi_shown_line){ at, weight, strdup(text), has_gap };
	listing->count += grown->text != NULL;
	return grown->text != NULL;
}

/* A debug file names any path: only a regular file is read. */
static FILE *open_source(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat at;
	FILE *in = NULL;

	if (fd >= 0 && fstat(fd, &at) == 0 && S_ISREG(at.st_mode))
		in = fdopen(fd, "r");
	if (fd >= 0 && !in)
		close(fd);
	return in;
}

/* Whether a line with weight is near; `part` goes on with the lines. */
static bool is_near(const struct ppi_code *code, const char *file,
                    uint64_t number, unsigned around, size_t *part)
{
	while (*part < code->line_count &&
	       (strcmp(code->lines[*part].file, file) != 0 ||
	        code->lines[*part].at + around < number))
		++*part;
	return *part < code->line_count &&
	       strcmp(code->lines[*part].file, file) == 0 &&
	       code->lines[*part].at <= number + around;
}

static uint64_t weight_of(const struct ppi_code *code, const char *file,
                          uint64_t number)
{
	for (size_t i = 0; i < code->line_count; i++)
		if (code->lines[i].at == number &&
		    strcmp(code->lines[i].file, file) == 0)
			return code->lines[i].weight;
	return 0;
}

void ppi_listing_source(const struct ppi_code *code, const char *file,
                        unsigned around, struct ppi_listing *listing)
{
	FILE *in = file ? open_source(file) : NULL;
	uint64_t last = 0, number = 0;
	size_t room = 0, part = 0;
	ssize_t length;
	char *line = NULL;

	*listing = (struct ppi_listing){ 0 };
	if (!in) {
		snprintf(listing->why, sizeof(listing->why), "%s",
		         !file
		                 ? "no line numbers: compile it with -g"
		                 : "the source file is not on this machine");
		return;
	}
	while (listing->count < LINES_MAX &&
	       (length = getline(&line, &room, in)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		if (!is_near(code, file, ++number, around, &part))
			continue;
		if (!add(listing, number, weight_of(code, file, number), line,
		         last && number != last + 1))
			break;
		last = number;
	}
	free(line);
	fclose(in);
	if (!listing->count)
		snprintf(listing->why, sizeof(listing->why),
		         "the source file has changed: it has no such lines");
}

void ppi_listing_instructions(const struct ppi_code *code, unsigned around,
                           struct ppi_listing *listing)
{
	struct ppi_instruction *all;
	size_t count, last = 0;

	*listing = (struct ppi_listing){ 0 };
	count = ppi_code_disassemble(code, &all, listing->why,
	                             sizeof(listing->why));
	if (count)
		listing->why[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		size_t from = i > around ? i - around : 0;
		bool is_shown = false;

		for (size_t k = from; k < count && k <= i + around; k++)
			is_shown |= all[k].weight > 0;
		if (!is_shown)
			continue;
		if (!add(listing, all[i].address, all[i].weight, all[i].text,
		         listing->count && i != last + 1))
			break;
		last = i;
	}
	ppi_code_free_instructions(all, count);
}

void ppi_listing_free(struct ppi_listing *listing)
{
	for (size_t i = 0; i < listing->count; i++)
		free(listing->lines[i].text);
	free(listing->lines);
}

/* ---- for a page ---- */

static void put_lines(struct ppi_json *json, const char *key,
                      const struct ppi_listing *listing, bool is_hex)
{
	ppi_json_array(json, key);
	for (size_t i = 0; i < listing->count; i++) {
		const struct ppi_shown_line *one = &listing->lines[i];
		char address[32];

		snprintf(address, sizeof(address), "%" PRIx64, one->at);
		ppi_json_array(json, NULL);
		if (is_hex)
			ppi_json_text(json, NULL, address);
		else
			ppi_json_number(json, NULL, one->at);
		ppi_json_number(json, NULL, one->weight);
		ppi_json_text(json, NULL, one->text);
		ppi_json_number(json, NULL, one->has_gap);
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

static void put_source(struct ppi_json *json, const struct ppi_code_file *file,
                       const struct ppi_listing *listing)
{
	ppi_json_object(json, NULL);
	ppi_json_text(json, "name", file ? file->name : "");
	ppi_json_number(json, "weight", file ? file->weight : 0);
	ppi_json_text(json, "missing", listing->why);
	put_lines(json, "lines", listing, false);
	ppi_json_close(json);
}

static void put_code(struct ppi_json *json, const struct ppi_code *code)
{
	struct ppi_listing sources[PAGE_FILES], instructions;
	size_t count = 0, lines = 0;

	do {
		ppi_listing_source(code, count < code->file_count
		                                 ? code->files[count].name
		                                 : NULL,
		                   PAGE_AROUND, &sources[count]);
		lines += sources[count].count;
	} while (++count < code->file_count && count < PAGE_FILES);
	ppi_listing_instructions(code, PAGE_AROUND, &instructions);
	if (lines || instructions.count) {
		ppi_json_object(json, NULL);
		ppi_json_text(json, "function", code->function);
		ppi_json_text(json, "module", code->module);
		ppi_json_number(json, "weight", code->weight);
		ppi_json_array(json, "sources");
		for (size_t i = 0; i < count; i++)
			put_source(json, code->files ? &code->files[i] : NULL,
			           &sources[i]);
		ppi_json_close(json);
		ppi_json_text(json, "assembly_missing", instructions.why);
		put_lines(json, "assembly", &instructions, true);
		ppi_json_close(json);
	}
	for (size_t i = 0; i < count; i++)
		ppi_listing_free(&sources[i]);
	ppi_listing_free(&instructions);
}

char *ppi_code_json(const struct ppi_view *view)
{
	struct ppi_rows rows;
	struct ppi_json json;
	char *text = NULL;
	size_t bytes;
	FILE *out;

	if (!ppi_rows_fold(view, PPI_BY_FUNCTION | PPI_BY_MODULE, &rows))
		return NULL;
	out = open_memstream(&text, &bytes);
	if (out) {
		ppi_json_begin(&json, out, true);
		ppi_json_array(&json, "list");
		for (size_t i = 0; i < rows.count && i < PAGE_FUNCTIONS; i++) {
			const struct ppi_row *row = &rows.rows[i];
			struct ppi_code code;

			if (row->self_weight == 0 || !row->is_named)
				continue;
			if (ppi_code_of(view, row, &code))
				put_code(&json, &code);
			ppi_code_free(&code);
		}
		ppi_json_end(&json);
		fclose(out);
	}
	ppi_rows_free(&rows);
	return text;
}
