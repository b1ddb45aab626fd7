/* SPDX-License-Identifier: MIT */
/* Call chains as lines "outermost;...;innermost WEIGHT", equal ones added
 * up: what flame graphs are drawn from. */
#include "config.h"

#include "tools/export/export.h"

#include "base/text.h"
#include "tools/view/rows.h"
#include "tools/output.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
	char *chain;
	uint64_t weight;
};

struct lines {
	struct line *lines;
	size_t count;
};

/* A name, without what has a meaning in such a line. */
static void put_name(const char *name, FILE *out)
{
	char piece[PPI_TEXT_PIECE];
	size_t length;

	while ((length = ppi_text_next(&name, piece)) > 0)
		fwrite(piece[0] == ';' ? ":" : piece, 1, length, out);
}

/* Names go from the innermost outwards, chains the other way. */
static void put_outermost_first(const struct ppi_symbols_name *name, FILE *out)
{
	if (name->caller) {
		put_outermost_first(name->caller, out);
		fputc(';', out);
	}
	put_name(name->function, out);
}

/* Outermost first; what it waits for is the innermost. */
static char *make_chain(const struct ppi_export *export,
                        const struct ppi_symbols_name *names,
                        const portprof_profile_sample *sample)
{
	char *text = NULL, frame[128];
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	if (sample->depth == 0)
		fputs("[unknown]", out);
	for (size_t i = sample->depth; i-- > 0;) {
		put_outermost_first(&names[sample->locations[i]], out);
		if (i)
			fputc(';', out);
	}
	if (ppi_subject_frame(export->profile, sample, frame, sizeof(frame))) {
		fputc(';', out);
		put_name(frame, out);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static int compare(const void *left, const void *right)
{
	return strcmp(((const struct line *)left)->chain,
	              ((const struct line *)right)->chain);
}

static bool collect(const struct ppi_export *export,
                    const struct ppi_symbols_name *names, struct lines *lines)
{
	size_t count = portprof_profile_sample_count(export->profile);

	lines->lines = calloc(count + 1, sizeof(*lines->lines));
	for (size_t i = 0; lines->lines && i < count; i++) {
		const portprof_profile_sample *sample =
			portprof_profile_sample_get(export->profile, i);
		struct line line = {
			.weight = ppi_export_weight(export, i, sample),
		};

		if (line.weight == 0)
			continue;
		line.chain = make_chain(export, names, sample);
		if (!line.chain)
			return false;
		lines->lines[lines->count++] = line;
	}
	return lines->lines != NULL;
}

static bool put_lines(void *context, FILE *out)
{
	struct lines *lines = context;

	if (lines->count)
		qsort(lines->lines, lines->count, sizeof(*lines->lines),
		      compare);
	for (size_t i = 0; i < lines->count;) {
		uint64_t weight = 0;
		size_t first = i;

		for (; i < lines->count &&
		       compare(&lines->lines[i], &lines->lines[first]) == 0;
		     i++)
			weight += lines->lines[i].weight;
		fprintf(out, "%s %" PRIu64 "\n", lines->lines[first].chain,
		        weight);
	}
	return true;
}

bool ppi_export_folded(const struct ppi_export *export)
{
	struct ppi_named named;
	struct lines lines = { 0 };
	bool is_good;

	if (!ppi_export_name(export, false, export->has_inlines, &named))
		return false;
	is_good = collect(export, named.names, &lines);
	if (is_good)
		is_good = ppi_out_write(export->output, put_lines, &lines);
	else
		ppi_say("out of memory");
	for (size_t i = 0; i < lines.count; i++)
		free(lines.lines[i].chain);
	free(lines.lines);
	ppi_named_free(&named);
	return is_good;
}
