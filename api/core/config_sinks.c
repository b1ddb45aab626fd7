/* SPDX-License-Identifier: MIT */
/*
 * Where a config's samples go: each sink is checked before it is kept, and what it
 * points to is copied, but for the caller's bins and arrays.
 */
#include "api/core/session_config.h"

#include <portprof/tool.h>

#include "api/common/diag.h"
#include "api/core/label.h"

#include <stdlib.h>
#include <string.h>

enum { REGIONS_MAX = 65536, SCALE_MIN = 2, SCALE_MAX = 131072 };

static portprof_status add_sink(portprof_config *config,
                                const struct ppi_sink_request *request)
{
	if (config->sink_count && config->sinks[0].ops == &ppi_sink_share)
		return ppi_refuse(PORTPROF_E_INVALID, "add sink",
		                  "samples that another process collects go to "
		                  "no other sink");
	if (config->sink_count == PORTPROF_SINKS_MAX)
		return ppi_refuse(PORTPROF_E_LIMIT, "add sink",
		                  "a config holds at most %d sinks",
		                  PORTPROF_SINKS_MAX);
	config->sinks[config->sink_count++] = *request;
	return PORTPROF_OK;
}

static portprof_status refuse_range(size_t index, const char *what)
{
	return ppi_refuse(PORTPROF_E_INVALID, "add histogram",
	                  "range %zu: %s", index, what);
}

/* The stretch of text, and how finely it is looked at. */
static portprof_status check_text(const portprof_range *range, size_t index)
{
	uint64_t count = range->bin_count;

	if (range->scale < SCALE_MIN || range->scale > SCALE_MAX)
		return refuse_range(index, "scale must be 2 to 131072 "
		                    "(65536 is 2 bytes of text a bin)");
	if (count == 0)
		return refuse_range(index, "bin_count is 0");
	if (count > UINT64_MAX / 131072)
		return refuse_range(index, "bin_count is too large");
	if (ppi_range_of_text(range).end == UINT64_MAX)
		return refuse_range(index, "the text that its bins cover "
		                    "ends beyond the address space");
	return PORTPROF_OK;
}

static portprof_status check_range(const portprof_range *range,
                                   size_t index)
{
	unsigned bits = range->bin_bits;
	uint64_t count = range->bin_count;

	if (bits != 16 && bits != 32 && bits != 64)
		return refuse_range(index, "bin_bits must be 16, 32 or 64");
	if (!range->bins)
		return refuse_range(index, "bins is NULL");
	if ((uintptr_t)range->bins % (bits / 8))
		return refuse_range(index,
		                    "bins is not aligned for its width");
	if (count > (UINTPTR_MAX - (uintptr_t)range->bins) / (bits / 8))
		return refuse_range(index, "bin_count is too large");
	return check_text(range, index);
}

static int by_offset(const void *a, const void *b)
{
	const portprof_range *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The index in the caller's array of a range of the sorted copy, but not
 * `other`: two ranges may be the same. */
static size_t index_of(const portprof_range *ranges,
                       const portprof_range *wanted, size_t other)
{
	size_t i = 0;

	while (i == other ||
	       memcmp(&ranges[i], wanted, sizeof(*wanted)) != 0)
		i++;
	return i;
}

static portprof_status check_overlap(const portprof_range *given,
                                     const portprof_range *sorted,
                                     size_t count)
{
	for (size_t i = 1; i < count; i++) {
		uint64_t end = ppi_range_of_text(&sorted[i - 1]).end;
		size_t a, b;

		if (sorted[i].offset >= end)
			continue;
		a = index_of(given, &sorted[i - 1], count);
		b = index_of(given, &sorted[i], a);
		return ppi_refuse(PORTPROF_E_INVALID, "add histogram",
		                  "ranges %zu and %zu overlap at 0x%llx: "
		                  "shorten one or use two histograms", a, b,
		                  (unsigned long long)sorted[i].offset);
	}
	return PORTPROF_OK;
}

/* A sorted copy of the ranges in `request`, which has a sink then. */
static portprof_status add_with_ranges(portprof_config *config,
                                       struct ppi_sink_request *request,
                                       const portprof_range *ranges,
                                       size_t count)
{
	portprof_status status;

	request->range_count = count;
	request->ranges = malloc(count * sizeof(*ranges));
	if (!request->ranges)
		return ppi_refuse(PORTPROF_E_NOMEM, "add sink",
		                  "out of memory");
	memcpy(request->ranges, ranges, count * sizeof(*ranges));
	qsort(request->ranges, count, sizeof(*ranges), by_offset);
	status = check_overlap(ranges, request->ranges, count);
	if (status == PORTPROF_OK)
		status = add_sink(config, request);
	if (status)
		free(request->ranges);
	return status;
}

static portprof_status check_ranges(
	const portprof_range *ranges, size_t count,
	portprof_status (*check)(const portprof_range *, size_t))
{
	portprof_status status = PORTPROF_OK;

	if (count < 1 || count > REGIONS_MAX)
		return ppi_refuse(PORTPROF_E_INVALID, "add sink",
		                  "%zu ranges given: 1 to %d", count,
		                  REGIONS_MAX);
	for (size_t i = 0; i < count && status == PORTPROF_OK; i++)
		status = check(&ranges[i], i);
	return status;
}

static portprof_status add_histogram(portprof_config *config,
                                     struct ppi_sink_request *request,
                                     const portprof_range *ranges, size_t count)
{
	portprof_bin_unit unit = request->bin_unit;
	portprof_status status;

	if (unit != PORTPROF_BINS_TICKS && unit != PORTPROF_BINS_WEIGHT)
		return ppi_refuse(PORTPROF_E_INVALID, "add histogram",
		                  "%d is not a portprof_bin_unit", (int)unit);
	status = check_ranges(ranges, count, check_range);
	return status ? status :
	                add_with_ranges(config, request, ranges, count);
}

portprof_status portprof_config_add_histogram(portprof_config *config,
                                              size_t event,
                                              const portprof_range *ranges,
                                              size_t count,
                                              portprof_bin_unit unit)
{
	struct ppi_sink_request request = { .ops = &ppi_sink_hist,
		                            .event = event,
		                            .bin_unit = unit };

	if (!config || !ranges)
		return ppi_refuse_null("portprof_config_add_histogram",
		                       config ? "ranges" : "config");
	return add_histogram(config, &request, ranges, count);
}

portprof_status portprof_config_add_label_histogram(
	portprof_config *config, size_t event, const portprof_range *ranges,
	size_t count, portprof_bin_unit unit, const portprof_label_set *labels)
{
	struct ppi_sink_request request = { .ops = &ppi_sink_label_hist,
		                            .event = event,
		                            .bin_unit = unit,
		                            .labels = labels };
	portprof_label list[PORTPROF_LABELS_MAX];
	size_t label_count = ppi_label_list(labels, list);

	if (!config || !ranges)
		return ppi_refuse_null("portprof_config_add_label_histogram",
		                       config ? "ranges" : "config");
	if (label_count == 0)
		return ppi_refuse(PORTPROF_E_INVALID, "add histogram",
		                  "the set has no labels: a histogram without "
		                  "them is portprof_config_add_histogram");
	for (size_t i = 0; i < label_count; i++)
		if (strcmp(list[i].value, PPI_LABEL_OTHER) == 0)
			return ppi_refuse(
				PORTPROF_E_INVALID, "add histogram",
				"the value of '%.60s' is " PPI_LABEL_OTHER
				", as in all sets that a process makes after "
				"very many: make the set earlier",
				list[i].key);
	return add_histogram(config, &request, ranges, count);
}

portprof_status portprof_config_add_array(portprof_config *config,
                                          uint64_t *pcs, size_t room)
{
	struct ppi_sink_request request = { .ops = &ppi_sink_array,
		                            .pcs = pcs, .room = room };

	if (!config || !pcs)
		return ppi_refuse_null("portprof_config_add_array",
		                       config ? "pcs" : "config");
	if ((uintptr_t)pcs % sizeof(*pcs))
		return ppi_refuse(PORTPROF_E_INVALID, "add array",
		                  "pcs is not aligned for 64-bit elements");
	if (room < 1 || room > SIZE_MAX / sizeof(*pcs))
		return ppi_refuse(PORTPROF_E_INVALID, "add array",
		                  "there is no array of %zu elements", room);
	return add_sink(config, &request);
}

portprof_status portprof_config_add_callback(portprof_config *config,
                                             portprof_batch_fn take,
                                             void *context)
{
	struct ppi_sink_request request = { .ops = &ppi_sink_callback,
		                            .take = take,
		                            .context = context };

	if (!config || !take)
		return ppi_refuse_null("portprof_config_add_callback",
		                       config ? "take" : "config");
	return add_sink(config, &request);
}

portprof_status portprof_config_add_observer(portprof_config *config,
                                             portprof_batch_fn take,
                                             void *context)
{
	struct ppi_sink_request request = { .ops = &ppi_sink_observer,
		                            .take = take,
		                            .context = context };

	if (!config || !take)
		return ppi_refuse_null("portprof_config_add_observer",
		                       config ? "take" : "config");
	return add_sink(config, &request);
}

portprof_status portprof_config_add_range_callback(
	portprof_config *config, const portprof_range *ranges, size_t count,
	portprof_batch_fn take, void *context)
{
	struct ppi_sink_request request = { .ops = &ppi_sink_range_callback,
		                            .take = take,
		                            .context = context };
	portprof_status status;

	if (!config || !ranges || !take)
		return ppi_refuse_null("portprof_config_add_range_callback",
		                       !config ? "config" :
		                       !ranges ? "ranges" : "take");
	status = check_ranges(ranges, count, check_text);
	return status ? status :
	                add_with_ranges(config, &request, ranges, count);
}

portprof_status portprof_config_share_with(portprof_config *config,
                                           const char *name)
{
	struct ppi_sink_request request = { .ops = &ppi_sink_share };

	if (!config || !name)
		return ppi_refuse_null("portprof_config_share_with",
		                       config ? "name" : "config");
	if (config->sink_count)
		return ppi_refuse(PORTPROF_E_INVALID, "share with",
		                  "the config has sinks; samples that another "
		                  "process collects go to no other");
	request.path = strdup(name);
	if (!request.path)
		return ppi_refuse(PORTPROF_E_NOMEM, "share with",
		                  "out of memory");
	return add_sink(config, &request);
}

portprof_status portprof_config_collect(portprof_config *config,
                                        const char **name)
{
	struct ppi_diag why = { 0 };

	if (!config || !name)
		return ppi_refuse_null("portprof_config_collect",
		                       config ? "name" : "config");
	if (!config->pool && ppi_areas_open(&config->pool, &why))
		return ppi_report(&why);
	*name = ppi_areas_name(config->pool);
	return PORTPROF_OK;
}

portprof_status portprof_config_write_to(portprof_config *config,
                                         const char *path)
{
	struct ppi_sink_request request = { .ops = &ppi_sink_file };
	portprof_status status;

	if (!config || !path)
		return ppi_refuse_null("portprof_config_write_to",
		                       config ? "path" : "config");
	if (!path[0])
		return ppi_refuse(PORTPROF_E_INVALID, "write to",
		                  "the output's name is empty");
	request.path = strdup(path);
	if (!request.path)
		return ppi_refuse(PORTPROF_E_NOMEM, "write to",
		                  "out of memory");
	status = add_sink(config, &request);
	if (status)
		free(request.path);
	else
		ppi_config_came_from(config, PPI_KEY_OUTPUT, NULL);
	return status;
}
