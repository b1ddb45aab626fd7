/* SPDX-License-Identifier: MIT */
/* How the chains of a session end, by weight. */
#include "api/unwind/chain_ends.h"

#include <stdio.h>
#include <string.h>

enum { NOTE_BYTES = sizeof(((struct ppi_backend_session *)0)->notes[0]) };

static const char *const reasons[PPI_CHAIN_ENDS] = {
	[PORTPROF_CHAIN_COPY_SHORT] = "stack copy too short "
				      "(--call-graph dwarf,BYTES)",
	[PORTPROF_CHAIN_NO_RULE] = "neither table nor frame pointer",
	[PORTPROF_CHAIN_OUTSIDE] = "caller on another stack",
	[PORTPROF_CHAIN_JUNK] = "no return address",
	[PORTPROF_CHAIN_DEPTH] = "too deep",
	[PORTPROF_CHAIN_POINTERS] = "by frame pointers (32-bit programs)",
};

void ppi_chain_ends_count(struct ppi_chain_ends *ends,
                          const portprof_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);

		if (record->kind == PORTPROF_RECORD_SAMPLE &&
		    record->event == 0 && record->chain_end < PPI_CHAIN_ENDS)
			ends->weight[record->chain_end] += record->weight;
	}
}

void ppi_chain_ends_reset(struct ppi_chain_ends *ends)
{
	memset(ends->weight, 0, sizeof(ends->weight));
	if (ends->note)
		snprintf(ends->note, NOTE_BYTES,
		         PORTPROF_NOTE_CHAINS "no samples yet");
}

bool ppi_chain_ends_are_short(const struct ppi_chain_ends *ends)
{
	uint64_t all = 0;

	for (size_t i = PORTPROF_CHAIN_WHOLE; i < PPI_CHAIN_ENDS; i++)
		all += ends->weight[i];
	return ends->weight[PORTPROF_CHAIN_COPY_SHORT] > all / 100;
}

static double percent(uint64_t part, uint64_t all)
{
	return 100.0 * (double)part / (double)all;
}

void ppi_chain_ends_say(struct ppi_chain_ends *ends,
                        struct ppi_backend_session *bs)
{
	char words[NOTE_BYTES];
	size_t used, before = bs->note_count;
	const char *separator = "; cut: ";
	uint64_t all = 0;

	for (size_t i = PORTPROF_CHAIN_WHOLE; i < PPI_CHAIN_ENDS; i++)
		all += ends->weight[i];
	if (all == 0)
		return;
	used = (size_t)snprintf(words, sizeof(words),
	                        PORTPROF_NOTE_CHAINS "%.1f %% of the weight "
	                        "whole",
	                        percent(ends->weight[PORTPROF_CHAIN_WHOLE],
	                                all));
	if (percent(ends->weight[PORTPROF_CHAIN_LEAVES_OUT], all) >= 0.05)
		used += (size_t)snprintf(
			words + used, sizeof(words) - used,
			", %.1f %% except for a caller on another stack",
			percent(ends->weight[PORTPROF_CHAIN_LEAVES_OUT], all));
	for (size_t i = 0; i < PPI_CHAIN_ENDS && used < sizeof(words); i++)
		if (reasons[i] && percent(ends->weight[i], all) >= 0.05) {
			used += (size_t)snprintf(
				words + used, sizeof(words) - used,
				"%s%.1f %% %s", separator,
				percent(ends->weight[i], all), reasons[i]);
			separator = ", ";
		}
	if (!ends->note) {
		ppi_note(bs, "%s", words);
		if (bs->note_count > before)
			ends->note = bs->notes[before];
	} else {
		snprintf(ends->note, sizeof(words), "%s", words);
	}
}
