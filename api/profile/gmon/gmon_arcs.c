/* SPDX-License-Identifier: MIT */
/* Adding up equal pairs of caller and called function. */
#include "api/profile/gmon/gmon_arcs.h"

static int compare(const void *left, const void *right)
{
	const struct ppi_gmon_arc *a = left, *b = right;

	if (a->self != b->self)
		return a->self < b->self ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

void ppi_gmon_arcs_fold(struct ppi_vector *arcs)
{
	struct ppi_gmon_arc *all = arcs->data;
	size_t kept = 0;

	if (arcs->count)
		qsort(all, arcs->count, sizeof(*all), compare);
	for (size_t i = 0; i < arcs->count; i++)
		if (kept && compare(&all[kept - 1], &all[i]) == 0)
			all[kept - 1].count += all[i].count;
		else
			all[kept++] = all[i];
	arcs->count = kept;
}
