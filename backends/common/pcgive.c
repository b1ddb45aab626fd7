/* SPDX-License-Identifier: MIT */
/* Bins of a counting kernel as records. */
#include "backends/common/pcgive.h"

void ppi_pcgive(struct ppi_pcbins *bins, const struct ppi_pcregion *region,
                struct ppi_tickweight *weight, struct ppi_room *room)
{
	uint32_t ticks;
	size_t bin;

	while (ppi_pcbins_peek(bins, &bin, &ticks)) {
		portprof_record record = {
			.kind = PORTPROF_RECORD_SAMPLE,
			.address = region->offset + bin * region->bin_bytes,
			.span = region->bin_bytes,
			.samples = ticks,
			.weight = ppi_tickweight_of(weight, ticks),
		};

		if (!ppi_room_add(room, &record, NULL, 0))
			return;
		ppi_tickweight_give(weight, ticks);
		ppi_pcbins_take(bins, &bin, &ticks);
	}
}
