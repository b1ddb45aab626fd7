/* SPDX-License-Identifier: MIT */
/* A group of counters: open, read, start, stop, reset, close. */
#include <portprof/group.h>

#include "api/internal/diag.h"
#include "api/internal/open.h"

#include <stdlib.h>
#include <string.h>

struct portprof_group {
	struct ppi_opened opened;
	portprof_count *base;  /* at the last reset; one an event */
	portprof_diag *refusals; /* one an event, for the caller */
	bool has_base;
};

/* Scaled in full precision: raw and enabled have 64 bits each. */
static uint64_t scale(uint64_t raw, uint64_t enabled, uint64_t running)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)raw * enabled;

	product /= running;
	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
#else
	long double scaled = (long double)raw * enabled / running;

	return scaled >= 18446744073709551615.0L ? UINT64_MAX :
	                                           (uint64_t)scaled;
#endif
}

/* A reading since the last reset. What the kernel itself cannot forget (the
 * times, see perf_event_open(2)) is subtracted here with the rest. */
static void subtract(portprof_count *count, const portprof_count *base)
{
	if (count->status != PORTPROF_COUNT_OK &&
	    count->status != PORTPROF_COUNT_SCALED)
		return;
	count->raw -= base->raw;
	count->enabled_ns -= base->enabled_ns;
	count->running_ns -= base->running_ns;
	if (count->running_ns == count->enabled_ns) {
		count->scaled = count->raw;
		count->status = PORTPROF_COUNT_OK;
	} else if (count->running_ns == 0) {
		count->scaled = 0;
		count->status = PORTPROF_COUNT_NEVER_RAN;
	} else {
		count->scaled = scale(count->raw, count->enabled_ns,
		                      count->running_ns);
		count->status = PORTPROF_COUNT_SCALED;
	}
}

static portprof_status take_memory(portprof_group *group, struct ppi_diag *why)
{
	size_t count = group->opened.box.plan.event_count;
	const struct ppi_diag *refusals = group->opened.bs.refusals;

	group->base = calloc(count, sizeof(*group->base));
	group->refusals = calloc(count, sizeof(*group->refusals));
	if (!group->base || !group->refusals)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open group",
		                "out of memory");
	for (size_t i = 0; refusals && i < count; i++) {
		portprof_diag *out = &group->refusals[i];

		out->status = refusals[i].status;
		out->os_errno = refusals[i].os_errno;
		memcpy(out->step, refusals[i].step, sizeof(out->step));
		memcpy(out->words, refusals[i].words, sizeof(out->words));
	}
	return PORTPROF_OK;
}

static void free_group(portprof_group *group)
{
	free(group->base);
	free(group->refusals);
	ppi_opened_close(&group->opened);
	free(group);
}

portprof_status portprof_group_open_config(const portprof_config *config,
                                           portprof_group **group)
{
	struct ppi_diag why = { 0 };
	portprof_group *opened;
	portprof_status status;

	if (!config)
		return ppi_refuse_null("portprof_group_open_config", "config");
	if (!group)
		return ppi_refuse_null("portprof_group_open_config", "group");
	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return ppi_refuse(PORTPROF_E_NOMEM, "open group",
		                  "out of memory");
	status = ppi_opened_open(&opened->opened, config, PPI_COUNT, &why);
	if (status) {
		free(opened);
		return ppi_report(&why);
	}
	status = take_memory(opened, &why);
	if (status == PORTPROF_OK)
		status = opened->opened.bs.ops->start(&opened->opened.bs, &why);
	if (status) {
		free_group(opened);
		return ppi_report(&why);
	}
	*group = opened;
	return PORTPROF_OK;
}

static portprof_status add_events(portprof_config *config, const char *events)
{
	char *list = strdup(events), *rest = list, *event;
	portprof_status status = PORTPROF_OK;

	if (!list)
		return ppi_refuse(PORTPROF_E_NOMEM, "open group",
		                  "out of memory");
	while (status == PORTPROF_OK && (event = strsep(&rest, ",")))
		status = portprof_config_add_event(config, event);
	free(list);
	return status;
}

portprof_status portprof_group_open(const char *events, portprof_group **group)
{
	portprof_config *config;
	portprof_status status;

	if (!events)
		return ppi_refuse_null("portprof_group_open", "events");
	config = portprof_config_new();
	if (!config)
		return ppi_refuse(PORTPROF_E_NOMEM, "open group",
		                  "out of memory");
	status = add_events(config, events);
	if (status == PORTPROF_OK)
		status = portprof_group_open_config(config, group);
	portprof_config_free(config);
	return status;
}

portprof_status portprof_group_read(portprof_group *group,
                                    portprof_count *counts, size_t count)
{
	struct ppi_backend_session *bs;
	portprof_status status;

	if (!group || !counts)
		return ppi_refuse_null("portprof_group_read",
		                       group ? "counts" : "group");
	if (count > group->opened.box.plan.event_count)
		return ppi_refuse(PORTPROF_E_INVALID, "read group",
		                  "%zu counts asked for, the group has %zu",
		                  count, group->opened.box.plan.event_count);
	if (ppi_is_forked(&group->opened.guard))
		return ppi_refuse(PORTPROF_E_FORKED, "read group",
		                  "this group belongs to the parent process: "
		                  "close it here and open another");
	bs = &group->opened.bs;
	status = bs->ops->count(bs, counts, count);
	if (status)
		return ppi_refuse(status, "read group", "backend %s: %s",
		                  bs->ops->name, portprof_status_text(status));
	if (group->has_base)
		for (size_t i = 0; i < count; i++)
			subtract(&counts[i], &group->base[i]);
	return PORTPROF_OK;
}

static portprof_status enter(const portprof_group *group, const char *call)
{
	if (!group)
		return ppi_refuse_null(call, "group");
	if (ppi_is_forked(&group->opened.guard))
		return ppi_refuse(PORTPROF_E_FORKED, call,
		                  "this group belongs to the parent process");
	return PORTPROF_OK;
}

portprof_status portprof_group_start(portprof_group *group)
{
	struct ppi_diag why = { 0 };
	portprof_status status = enter(group, "start group");

	if (status)
		return status;
	status = group->opened.bs.ops->start(&group->opened.bs, &why);
	return status ? ppi_report(&why) : PORTPROF_OK;
}

portprof_status portprof_group_stop(portprof_group *group)
{
	struct ppi_diag why = { 0 };
	portprof_status status = enter(group, "stop group");

	if (status)
		return status;
	status = group->opened.bs.ops->stop(&group->opened.bs, &why);
	return status ? ppi_report(&why) : PORTPROF_OK;
}

portprof_status portprof_group_reset(portprof_group *group)
{
	struct ppi_backend_session *bs;
	portprof_status status = enter(group, "reset group");

	if (status)
		return status;
	bs = &group->opened.bs;
	status = bs->ops->count(bs, group->base,
	                        group->opened.box.plan.event_count);
	if (status)
		return ppi_refuse(status, "reset group", "backend %s: %s",
		                  bs->ops->name, portprof_status_text(status));
	group->has_base = true;
	return PORTPROF_OK;
}

void portprof_group_close(portprof_group *group)
{
	struct ppi_diag why;

	if (!group)
		return;
	if (!ppi_is_forked(&group->opened.guard))
		group->opened.bs.ops->stop(&group->opened.bs, &why);
	free_group(group);
}

size_t portprof_group_event_count(const portprof_group *group)
{
	return group ? group->opened.box.plan.event_count : 0;
}

portprof_status portprof_group_event(const portprof_group *group, size_t index,
                                     portprof_event_info *info)
{
	if (!group)
		return ppi_refuse_null("group event", "group");
	return ppi_opened_event(&group->opened, index, info);
}

const portprof_diag *portprof_group_event_diag(const portprof_group *group,
                                               size_t index)
{
	if (!group || index >= group->opened.box.plan.event_count)
		return NULL;
	return &group->refusals[index];
}

const char *portprof_group_backend(const portprof_group *group)
{
	return group ? group->opened.bs.ops->name : NULL;
}

portprof_status portprof_group_passed_over(const portprof_group *group,
                                           size_t index, const char **name,
                                           const char **reason)
{
	if (!group)
		return ppi_refuse_null("group passed_over", "group");
	return ppi_opened_passed_over(&group->opened, index, name, reason);
}
