/* SPDX-License-Identifier: MIT */
/* Ranges of text and histogram bins that conformance cases sample into. */
#include "tests/conform/conform.h"

portprof_range cf_range(uint64_t offset, uint32_t scale, unsigned bits,
                         size_t count)
{
	return (portprof_range){ .offset = offset, .scale = scale,
		                  .bin_bits = bits,
		                  .bins = cf_memory(count * (bits / 8)),
		                  .bin_count = count };
}

void cf_histogram(portprof_config *config, const portprof_range *regions,
                  size_t count, portprof_bin_unit unit)
{
	assert_int_equal(portprof_config_add_histogram(config, 0, regions,
	                                               count, unit),
	                 PORTPROF_OK);
}

uint64_t cf_bin(const portprof_range *region, size_t i)
{
	switch (region->bin_bits) {
	case 16:
		return ((const uint16_t *)region->bins)[i];
	case 32:
		return ((const uint32_t *)region->bins)[i];
	default:
		return ((const uint64_t *)region->bins)[i];
	}
}

uint64_t cf_bin_sum(const portprof_range *region)
{
	uint64_t total = 0;

	for (size_t i = 0; i < region->bin_count; i++)
		total += cf_bin(region, i);
	cf_measured(total);
	return total;
}

void cf_bounds(uint64_t *low, uint64_t *high)
{
	*low = UINT64_MAX;
	*high = 0;
	for (unsigned f = 0; f < FX_FUNCTIONS; f++) {
		uint64_t start, end;

		fixture.function_range(f, &start, &end);
		*low = start < *low ? start : *low;
		*high = end > *high ? end : *high;
	}
}

void cf_burn_all(portprof_session *session, uint64_t each_ns)
{
	cf_start(session);
	for (unsigned f = 0; f < FX_FUNCTIONS; f++)
		cf_burn(0, f, each_ns);
	cf_stop(session);
}
