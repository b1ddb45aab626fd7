/* SPDX-License-Identifier: MIT */
/* Opening and closing the regions of the process. */
#include "api/internal/region.h"

#include "api/internal/diag.h"
#include "api/internal/open.h"
#include "api/internal/plan.h"
#include "api/internal/preset.h"
#include "api/internal/sized.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A process has one set of regions, so that code can name them without being
 * handed anything. */
static struct ppi_regions *_Atomic open_regions;
static atomic_flag is_taken = ATOMIC_FLAG_INIT;
static uint64_t generations; /* changed by who has taken it */

struct ppi_regions *ppi_regions_now(void)
{
	return atomic_load_explicit(&open_regions, memory_order_acquire);
}

static portprof_status check_config(const portprof_config *config)
{
	if (config->target != PPI_TARGET_PROCESS &&
	    !(config->target == PPI_TARGET_TID && config->target_is_caller))
		return ppi_refuse(PORTPROF_E_INVALID, "open regions",
		                  "regions are of threads of this process: "
		                  "leave the target out");
	if (ppi_plan_event_count(config) > PORTPROF_REGION_EVENTS_MAX)
		return ppi_refuse(PORTPROF_E_LIMIT, "open regions",
		                  "%zu events are more than the %d that "
		                  "regions count", ppi_plan_event_count(config),
		                  PORTPROF_REGION_EVENTS_MAX);
	return PORTPROF_OK;
}

/* A copy: the group ends with its thread, and the events go on. */
static bool take_events(struct ppi_regions *all, const portprof_group *group)
{
	const struct ppi_event *resolved =
		ppi_group_events(group, &all->event_count);

	all->resolved = calloc(all->event_count, sizeof(*all->resolved));
	all->events = calloc(all->event_count, sizeof(*all->events));
	if (!all->resolved || !all->events)
		return false;
	memcpy(all->resolved, resolved,
	       all->event_count * sizeof(*all->resolved));
	for (size_t i = 0; i < all->event_count; i++) {
		ppi_event_info_fill(&all->resolved[i], &all->events[i]);
		all->events[i].size = sizeof(all->events[i]);
	}
	return true;
}

static void free_thread(struct ppi_region_thread *thread)
{
	struct ppi_region *region, *next;

	portprof_group_close(thread->group);
	HASH_ITER(hh, thread->regions, region, next) {
		HASH_DELETE(hh, thread->regions, region);
		free(region);
	}
	while (thread->room > 0)
		free(thread->frames[--thread->room].begun);
	free(thread->frames);
	pthread_mutex_destroy(&thread->lock);
	free(thread);
}

void ppi_regions_free(struct ppi_regions *all)
{
	struct ppi_region_thread *next;
	struct ppi_region_name *name, *following;

	if (!all)
		return;
	for (struct ppi_region_thread *at = all->threads; at; at = next) {
		next = at->next;
		free_thread(at);
	}
	HASH_ITER(hh, all->names, name, following) {
		HASH_DELETE(hh, all->names, name);
		free(name);
	}
	portprof_config_free(all->config);
	free(all->events);
	free(all->resolved);
	pthread_mutex_destroy(&all->lock);
	ppi_fork_guard_release(&all->guard);
	free(all);
}

/* With the calling thread's group, which also shows what can be counted. */
static portprof_status make(const portprof_config *config,
                            struct ppi_regions **out)
{
	struct ppi_regions *all = calloc(1, sizeof(*all));
	portprof_group *group = NULL;
	portprof_status status;

	if (!all)
		return ppi_refuse(PORTPROF_E_NOMEM, "open regions",
		                  "out of memory");
	ppi_fork_guard_init(&all->guard);
	pthread_mutex_init(&all->lock, NULL);
	all->generation = ++generations;
	all->config = config ? ppi_config_copy(config) : portprof_config_new();
	status = all->config ? check_config(all->config)
	                     : ppi_refuse(PORTPROF_E_NOMEM, "open regions",
	                                  "out of memory");
	if (status == PORTPROF_OK)
		status = portprof_config_set_target(all->config,
						    PORTPROF_TARGET_THREAD, 0);
	if (status == PORTPROF_OK)
		status = portprof_group_open_config(all->config, &group);
	if (status == PORTPROF_OK &&
	    (!take_events(all, group) || !ppi_region_thread_add(all, group))) {
		portprof_group_close(group);
		status = ppi_refuse(PORTPROF_E_NOMEM, "open regions",
		                    "out of memory");
	}
	if (status)
		ppi_regions_free(all);
	else
		*out = all;
	return status;
}

portprof_status portprof_regions_open(const portprof_config *config)
{
	struct ppi_regions *all;
	portprof_status status;

	if (atomic_flag_test_and_set(&is_taken))
		return ppi_refuse(PORTPROF_E_BUSY, "open regions",
		                  "regions are open in this process already: "
		                  "close them first");
	status = make(config, &all);
	if (status) {
		atomic_flag_clear(&is_taken);
		return status;
	}
	atomic_store_explicit(&open_regions, all, memory_order_release);
	ppi_regions_want_none();
	return PORTPROF_OK;
}

size_t portprof_regions_event_count(void)
{
	const struct ppi_regions *all = ppi_regions_now();

	return all ? all->event_count : 0;
}

portprof_status portprof_regions_event(size_t index, portprof_event_info *info)
{
	const struct ppi_regions *all = ppi_regions_now();

	if (!info)
		return ppi_refuse_null("portprof_regions_event", "info");
	if (!all)
		return ppi_refuse(PORTPROF_E_STATE, "regions event",
		                  "no regions are open: call "
		                  "portprof_regions_open first");
	if (index >= all->event_count)
		return ppi_refuse(PORTPROF_E_INVALID, "regions event",
		                  "no event number %zu: there are %zu", index,
		                  all->event_count);
	return ppi_sized_copy(info, &all->events[index],
	                      sizeof(all->events[index]), "regions event");
}

portprof_status portprof_regions_metric(const portprof_count *counts,
                                        size_t index, portprof_metric *metric)
{
	const struct ppi_regions *all = ppi_regions_now();

	if (!all)
		return ppi_refuse(PORTPROF_E_STATE, "regions metric",
		                  "no regions are open: call "
		                  "portprof_regions_open first");
	return ppi_metric_get(all->resolved, all->event_count, counts, index,
	                      metric);
}

struct ppi_regions *ppi_regions_disown(void)
{
	struct ppi_regions *all = atomic_exchange(&open_regions, NULL);

	atomic_flag_clear(&is_taken);
	return all;
}

void portprof_regions_close(void)
{
	struct ppi_regions *all = ppi_regions_now();

	if (!all)
		return;
	ppi_regions_deliver();
	atomic_store_explicit(&open_regions, NULL, memory_order_release);
	ppi_regions_free(all);
	atomic_flag_clear(&is_taken);
}
