/* SPDX-License-Identifier: MIT */
/* Rows of a report, and their order. */
#include "config.h"

#include "tools/view/row.h"

#include <stdlib.h>
#include <string.h>

bool ppi_nameless_add(struct ppi_nameless_list *list, const char *module,
                      uint64_t weight)
{
	struct ppi_nameless *grown;

	for (size_t i = 0; i < list->count; i++)
		if (list->modules[i].module == module) {
			list->modules[i].weight += weight;
			return true;
		}
	grown = realloc(list->modules, (list->count + 1) * sizeof(*grown));
	if (!grown)
		return false;
	list->modules = grown;
	grown[list->count].module = module;
	grown[list->count++].weight = weight;
	return true;
}

static int compare_nameless(const void *left, const void *right)
{
	const struct ppi_nameless *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return strcmp(a->module, b->module);
}

void ppi_nameless_sort(struct ppi_nameless_list *list)
{
	if (list->count)
		qsort(list->modules, list->count, sizeof(*list->modules),
		      compare_nameless);
}

static int compare_text(const char *left, const char *right)
{
	return strcmp(left ? left : "", right ? right : "");
}

static int compare_number(uint64_t left, uint64_t right)
{
	return left < right ? -1 : left > right;
}

static int compare_names(const struct ppi_row *a, const struct ppi_row *b)
{
	int order = compare_text(a->function, b->function);

	if (order == 0)
		order = compare_text(a->path, b->path);
	if (order == 0)
		order = compare_text(a->source_file, b->source_file);
	if (order == 0)
		order = compare_number(a->line, b->line);
	if (order == 0)
		order = compare_number(a->address, b->address);
	if (order == 0)
		order = compare_number(a->pid, b->pid);
	if (order == 0)
		order = compare_number(a->tid, b->tid);
	if (order == 0)
		order = compare_text(a->thread, b->thread);
	return order ? order : compare_text(a->label, b->label);
}

/* Equal rows stand in the same order in every run. */
static int compare_self(const void *left, const void *right)
{
	const struct ppi_row *a = left, *b = right;
	int order = compare_number(b->self_weight, a->self_weight);

	if (order == 0)
		order = compare_number(b->total_weight, a->total_weight);
	return order ? order : compare_names(a, b);
}

static int compare_total(const void *left, const void *right)
{
	const struct ppi_row *a = left, *b = right;
	int order = compare_number(b->total_weight, a->total_weight);

	return order ? order : compare_self(a, b);
}

void ppi_rows_by_self(struct ppi_rows *rows)
{
	if (rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows),
		      compare_self);
}

void ppi_rows_by_total(struct ppi_rows *rows)
{
	if (rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows),
		      compare_total);
}
