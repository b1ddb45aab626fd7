/* SPDX-License-Identifier: MIT */
/* One function of a profile, line by line and address by address. */
#include "config.h"

#include "tools/view/code.h"

#include <stdlib.h>
#include <string.h>

static bool add(struct ppi_code_part **parts, size_t *count, const char *file,
                uint64_t at, uint64_t weight)
{
	struct ppi_code_part *grown;

	/* a power of two is full */
	if ((*count & (*count - 1)) == 0) {
		grown = realloc(*parts, (*count ? 2 * *count : 1) *
		                                sizeof(*grown));
		if (!grown)
			return false;
		*parts = grown;
	}
	(*parts)[(*count)++] = (struct ppi_code_part){ file, at, weight };
	return true;
}

static bool add_sample(const struct ppi_view *view,
                       const portprof_profile_sample *sample,
                       struct ppi_code *code)
{
	const struct ppi_symbols_name *name =
		sample->depth ? &view->names[sample->locations[0]] : NULL;
	uint64_t weight = sample->weights[view->event];

	if (!name || !weight || strcmp(name->function, code->function) != 0 ||
	    strcmp(name->path, code->path) != 0)
		return true;
	code->weight += weight;
	if (name->start)
		code->start = name->start;
	return (!name->line || add(&code->lines, &code->line_count,
	                           name->source_file, name->line, weight)) &&
	       (!name->vaddr || add(&code->addresses, &code->address_count, "",
	                            name->vaddr, weight));
}

static int compare(const void *left, const void *right)
{
	const struct ppi_code_part *a = left, *b = right;
	int order = strcmp(a->file, b->file);

	return order ? order : a->at < b->at ? -1 : a->at > b->at;
}

static void put_together(struct ppi_code_part *parts, size_t *count)
{
	size_t kept = 0;

	if (*count)
		qsort(parts, *count, sizeof(*parts), compare);
	for (size_t i = 0; i < *count; i++)
		if (kept && compare(&parts[kept - 1], &parts[i]) == 0)
			parts[kept - 1].weight += parts[i].weight;
		else
			parts[kept++] = parts[i];
	*count = kept;
}

static int compare_files(const void *left, const void *right)
{
	const struct ppi_code_file *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* Of lines that are sorted by file. */
static bool find_files(struct ppi_code *code)
{
	if (!code->line_count)
		return true;
	code->files = calloc(code->line_count, sizeof(*code->files));
	if (!code->files)
		return false;
	for (size_t i = 0; i < code->line_count; i++) {
		const struct ppi_code_part *line = &code->lines[i];

		if (!i || strcmp(line[-1].file, line->file) != 0)
			code->files[code->file_count++].name = line->file;
		code->files[code->file_count - 1].weight += line->weight;
	}
	qsort(code->files, code->file_count, sizeof(*code->files),
	      compare_files);
	return true;
}

bool ppi_code_of(const struct ppi_view *view, const struct ppi_row *row,
                 struct ppi_code *code)
{
	const portprof_profile_sample *sample;

	*code = (struct ppi_code){ .function = row->function,
		                   .module = row->module,
		                   .path = row->path };
	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(view->profile, i)) != NULL;
	     i++)
		if ((!view->is_left_out || !view->is_left_out[i]) &&
		    !add_sample(view, sample, code))
			return false;
	put_together(code->lines, &code->line_count);
	put_together(code->addresses, &code->address_count);
	return find_files(code);
}

bool ppi_code_find(const struct ppi_view *view, const char *wanted,
                   struct ppi_code *code)
{
	struct ppi_rows rows;
	bool is_good = true;

	memset(code, 0, sizeof(*code));
	if (!ppi_rows_fold(view, PPI_BY_FUNCTION | PPI_BY_MODULE, &rows))
		return false;
	for (size_t i = 0; i < rows.count; i++)
		if (ppi_is_function(wanted, rows.rows[i].function)) {
			is_good = ppi_code_of(view, &rows.rows[i], code);
			break;
		}
	ppi_rows_free(&rows);
	return is_good;
}

void ppi_code_free(struct ppi_code *code)
{
	free(code->lines);
	free(code->addresses);
	free(code->files);
}
