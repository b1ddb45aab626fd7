/* SPDX-License-Identifier: MIT */
/* Opening and closing sets of regions: which are open, each with its events. */
#include "api/core/region.h"

#include "api/common/diag.h"
#include "api/core/event.h"
#include "api/core/open.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Of the sets that are open, the first is the process's own, so that code can
 * name regions without being handed anything. */
static struct {
	pthread_mutex_t lock;
	bool is_taken[PORTPROF_REGION_SETS_MAX];
	struct portprof_regions *_Atomic open[PORTPROF_REGION_SETS_MAX];
	uint64_t generations;
} sets = { .lock = PTHREAD_MUTEX_INITIALIZER };

static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;

/* Another thread of the parent may have had it. */
static void after_fork_in_child(void)
{
	pthread_mutex_init(&sets.lock, NULL);
}

static void set_handlers(void)
{
	pthread_atfork(NULL, NULL, after_fork_in_child);
}

struct portprof_regions *ppi_regions_now(void)
{
	return atomic_load_explicit(&sets.open[PPI_REGIONS_OWN],
	                            memory_order_acquire);
}

struct portprof_regions *ppi_regions_hold(unsigned slot, uint64_t generation)
{
	struct portprof_regions *all;

	pthread_mutex_lock(&sets.lock);
	all = atomic_load(&sets.open[slot]);
	return all && all->generation == generation ? all : NULL;
}

void ppi_regions_release(void)
{
	pthread_mutex_unlock(&sets.lock);
}

portprof_status ppi_regions_refuse_closed(const char *step)
{
	return ppi_refuse(PORTPROF_E_STATE, step, "no regions are open: call "
	                  "portprof_regions_open first");
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
static bool take_events(struct portprof_regions *all, const portprof_group *group)
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

static void free_region(struct ppi_region *region)
{
	struct ppi_region_part *part, *next;

	HASH_ITER(hh, region->parts, part, next) {
		HASH_DELETE(hh, region->parts, part);
		free(part);
	}
	free(region);
}

static void free_thread(struct ppi_region_thread *thread)
{
	struct ppi_region *region, *next;

	portprof_group_close(thread->group);
	HASH_ITER(hh, thread->regions, region, next) {
		HASH_DELETE(hh, thread->regions, region);
		free_region(region);
	}
	while (thread->room > 0)
		free(thread->frames[--thread->room].begun);
	free(thread->frames);
	pthread_mutex_destroy(&thread->lock);
	free(thread);
}

void ppi_regions_free(struct portprof_regions *all)
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
static portprof_status make(const portprof_config *config, unsigned slot,
                            uint64_t generation,
                            struct portprof_regions **out)
{
	struct portprof_regions *all = calloc(1, sizeof(*all));
	portprof_group *group = NULL;
	portprof_status status;

	if (!all)
		return ppi_refuse(PORTPROF_E_NOMEM, "open regions",
		                  "out of memory");
	ppi_fork_guard_init(&all->guard);
	pthread_mutex_init(&all->lock, NULL);
	all->slot = slot;
	all->generation = generation;
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

/* The process's own slot, or any other. */
static portprof_status take_slot(bool is_own, unsigned *slot,
                                 uint64_t *generation)
{
	unsigned at = PPI_REGIONS_OWN, end = at + 1;

	if (!is_own) {
		at = end;
		end = PORTPROF_REGION_SETS_MAX;
	}
	pthread_once(&handlers_once, set_handlers);
	pthread_mutex_lock(&sets.lock);
	while (at < end && sets.is_taken[at])
		at++;
	if (at < end)
		sets.is_taken[at] = true;
	*slot = at;
	*generation = ++sets.generations;
	pthread_mutex_unlock(&sets.lock);
	if (at < end)
		return PORTPROF_OK;
	if (is_own)
		return ppi_refuse(PORTPROF_E_BUSY, "open regions",
		                  "the regions of this process are open "
		                  "already: close them first, or open a set "
		                  "with a handle");
	return ppi_refuse(PORTPROF_E_LIMIT, "open regions",
	                  "%d sets of regions are open: close one first",
	                  PORTPROF_REGION_SETS_MAX - 1);
}

static void fill_slot(unsigned slot, struct portprof_regions *all)
{
	pthread_mutex_lock(&sets.lock);
	sets.is_taken[slot] = all != NULL;
	atomic_store_explicit(&sets.open[slot], all, memory_order_release);
	pthread_mutex_unlock(&sets.lock);
}

portprof_status portprof_regions_open(const portprof_config *config,
                                      portprof_regions **regions)
{
	struct portprof_regions *all = NULL;
	uint64_t generation;
	unsigned slot;
	portprof_status status = take_slot(!regions, &slot, &generation);

	if (status)
		return status;
	status = make(config, slot, generation, &all);
	fill_slot(slot, all);
	if (status)
		return status;
	if (regions)
		*regions = all;
	else
		ppi_regions_want_none();
	return PORTPROF_OK;
}

size_t portprof_regions_event_count(const portprof_regions *regions)
{
	const struct portprof_regions *all = regions ? regions
	                                             : ppi_regions_now();

	return all ? all->event_count : 0;
}

portprof_status portprof_regions_event(const portprof_regions *regions,
                                       size_t index, portprof_event_info *info)
{
	const struct portprof_regions *all = regions ? regions
	                                             : ppi_regions_now();

	if (!info)
		return ppi_refuse_null("portprof_regions_event", "info");
	if (!all)
		return ppi_regions_refuse_closed("regions event");
	if (index >= all->event_count)
		return ppi_refuse(PORTPROF_E_INVALID, "regions event",
		                  "no event number %zu: there are %zu", index,
		                  all->event_count);
	return ppi_sized_copy(info, &all->events[index],
	                      sizeof(all->events[index]), "regions event");
}

portprof_status portprof_regions_metric(const portprof_regions *regions,
                                        const portprof_count *counts,
                                        size_t index, portprof_metric *metric)
{
	const struct portprof_regions *all = regions ? regions
	                                             : ppi_regions_now();

	if (!all)
		return ppi_regions_refuse_closed("regions metric");
	return ppi_metric_get(all->resolved, all->event_count, counts, index,
	                      metric);
}

/* Without the lock: only this thread runs. */
struct portprof_regions *ppi_regions_disown(void)
{
	sets.is_taken[PPI_REGIONS_OWN] = false;
	return atomic_exchange(&sets.open[PPI_REGIONS_OWN], NULL);
}

void portprof_regions_close(portprof_regions *regions)
{
	struct portprof_regions *all = regions ? regions : ppi_regions_now();

	if (!all)
		return;
	if (!regions)
		ppi_regions_deliver();
	fill_slot(all->slot, NULL);
	ppi_regions_free(all);
}
