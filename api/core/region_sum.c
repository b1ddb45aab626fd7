/* SPDX-License-Identifier: MIT */
/* Adds up the counts of regions, and returns them. */
#include "api/core/region.h"

#include "api/core/diag.h"
#include "base/scale.h"

#include <stdlib.h>
#include <string.h>

/* The whole is scaled, not each part: parts that never ran have their share of
 * the time then. */
static void judge(portprof_count *total, uint64_t worst)
{
	total->status = worst;
	total->scaled = total->raw;
	if (worst >= PORTPROF_COUNT_ERROR ||
	    total->running_ns == total->enabled_ns) {
		if (worst < PORTPROF_COUNT_ERROR)
			total->status = PORTPROF_COUNT_OK;
		return;
	}
	if (total->running_ns == 0) {
		total->status = PORTPROF_COUNT_NEVER_RAN;
		total->scaled = 0;
		return;
	}
	total->status = PORTPROF_COUNT_SCALED;
	total->scaled = ppi_scale(total->raw, total->enabled_ns,
	                          total->running_ns);
}

void ppi_region_add(portprof_count *total, const portprof_count *begun,
                    const portprof_count *ended)
{
	uint64_t worst = ended->status > total->status ? ended->status
	                                               : total->status;

	if (ended->status < PORTPROF_COUNT_ERROR) {
		total->raw += ended->raw - begun->raw;
		total->enabled_ns += ended->enabled_ns - begun->enabled_ns;
		total->running_ns += ended->running_ns - begun->running_ns;
	}
	judge(total, worst);
}

void ppi_region_merge(portprof_count *sum, const portprof_count *total)
{
	static const portprof_count nothing;

	ppi_region_add(sum, &nothing, total);
}

/* ---- handing out ---- */

struct row {
	portprof_region_info info;
	portprof_count *counts;
};

static void add_thread(const struct portprof_regions *all,
                       struct ppi_region_thread *thread, struct row *rows)
{
	pthread_mutex_lock(&thread->lock);
	for (const struct ppi_region *at = thread->regions; at;
	     at = at->hh.next) {
		struct row *row = &rows[at->name->number];

		if (at->calls == 0)
			continue;
		row->info.calls += at->calls;
		row->info.threads++;
		for (size_t i = 0; i < all->event_count; i++)
			ppi_region_merge(&row->counts[i], &at->totals[i]);
	}
	pthread_mutex_unlock(&thread->lock);
}

static int hand_out(const struct portprof_regions *all, struct row *rows,
                    size_t count, int64_t tid, portprof_region_fn take,
                    void *context)
{
	int answer = 0;

	for (size_t i = 0; i < count && answer == 0; i++) {
		rows[i].info.tid = tid;
		rows[i].info.counts = rows[i].counts;
		rows[i].info.count = all->event_count;
		if (rows[i].info.calls > 0)
			answer = take(&rows[i].info, context);
	}
	return answer;
}

static void clear_rows(const struct portprof_regions *all, struct row *rows,
                       portprof_count *counts)
{
	const struct ppi_region_name *name = all->names; /* by number */

	memset(counts, 0, (all->name_count * all->event_count + 1) *
	                          sizeof(*counts));
	for (size_t i = 0; name; i++, name = name->hh.next)
		rows[i] = (struct row){
			.info = { .size = sizeof(rows[i].info),
			          .name = name->text },
			.counts = counts + i * all->event_count,
		};
}

static void read_all(struct portprof_regions *all, int by_thread, struct row *rows,
                     portprof_count *counts, portprof_region_fn take,
                     void *context)
{
	int answer = 0;

	clear_rows(all, rows, counts);
	for (struct ppi_region_thread *at = all->threads; at && answer == 0;
	     at = at->next) {
		add_thread(all, at, rows);
		if (!by_thread)
			continue;
		answer = hand_out(all, rows, all->name_count, at->tid, take,
		                  context);
		clear_rows(all, rows, counts);
	}
	if (!by_thread)
		hand_out(all, rows, all->name_count, 0, take, context);
}

portprof_status portprof_regions_read(portprof_regions *regions, int by_thread,
                                      portprof_region_fn take, void *context)
{
	struct portprof_regions *all = regions ? regions : ppi_regions_now();
	portprof_status status = PORTPROF_OK;
	portprof_count *counts;
	struct row *rows;

	if (!take)
		return ppi_refuse_null("portprof_regions_read", "take");
	if (!all)
		return ppi_regions_refuse_closed("read regions");
	pthread_mutex_lock(&all->lock);
	rows = calloc(all->name_count + 1, sizeof(*rows));
	counts = calloc(all->name_count * all->event_count + 1,
	                sizeof(*counts));
	if (rows && counts)
		read_all(all, by_thread, rows, counts, take, context);
	else
		status = ppi_refuse(PORTPROF_E_NOMEM, "read regions",
		                    "out of memory");
	free(rows);
	free(counts);
	pthread_mutex_unlock(&all->lock);
	return status;
}
