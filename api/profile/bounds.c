/* SPDX-License-Identifier: MIT */
/* Sums up what the contents of a file take in memory, up to a limit. */
#include "api/profile/bounds.h"

#include "api/profile/model.h"

portprof_status ppi_bounds_fail(const struct ppi_bounds *bounds,
                                const char *name, struct ppi_diag *why)
{
	return ppi_fail(why, PORTPROF_E_LIMIT, 0, "read profile",
	                "'%s' takes more than %llu MiB of memory to read, %s: "
	                "is it damaged, or made to do harm?",
	                name,
	                (unsigned long long)(ppi_bounds_bytes(bounds) >> 20),
	                bounds->asked ? "the requested limit"
	                : ppi_bounds_bytes(bounds) < PPI_BOUNDS_MOST
	                        ? "too much for its size"
	                        : "the usual limit");
}

static uint64_t pool_bytes(const struct ppi_pool *pool)
{
	return pool->arena.total + pool->nodes.room * sizeof(void *) +
	       pool->slot_count * 2 * sizeof(uint32_t);
}

uint64_t ppi_profile_bytes(const portprof_profile *profile)
{
	const struct ppi_pool *pools[] = {
		&profile->strings,       &profile->mapping_keys,
		&profile->mapping_contents, &profile->function_keys,
		&profile->location_keys, &profile->label_sets,
		&profile->sample_keys,   &profile->thread_keys,
	};
	const struct {
		const struct ppi_vector *vector;
		size_t bytes;
	} vectors[] = {
		{ &profile->mappings, sizeof(struct ppi_mapping) },
		{ &profile->content_mappings, sizeof(uint32_t) },
		{ &profile->functions, sizeof(struct ppi_function) },
		{ &profile->locations, sizeof(struct ppi_location) },
		{ &profile->lines, sizeof(struct ppi_line) },
		{ &profile->shown_lines, sizeof(portprof_profile_line) },
		{ &profile->samples, sizeof(struct ppi_sample) },
		{ &profile->threads, sizeof(portprof_profile_thread) },
	};
	uint64_t sum = profile->arena.total;

	for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++)
		sum += pool_bytes(pools[i]);
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
		sum += vectors[i].vector->room * vectors[i].bytes;
	return sum;
}
