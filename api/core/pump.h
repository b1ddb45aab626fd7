/* SPDX-License-Identifier: MIT */
/* The pump: pull records from a backend, hand them to every sink, keep count. */
#ifndef PPI_PUMP_H
#define PPI_PUMP_H

#include "api/core/label_find.h"
#include "api/core/sink.h"
#include "api/unwind/kept_chains.h"
#include "api/unwind/modules.h"
#include "api/unwind/unwind.h"

/* What became of the samples of one event. */
struct ppi_tally {
	uint64_t kept_samples, outside_samples, lost_samples;
	uint64_t kept_weight, outside_weight, lost_weight;
};

/* Between a backend and the sinks: what it passes through, and what that says; its
 * members that hold samples back are a part. */
struct ppi_pump {
	struct ppi_room room;
	const struct ppi_room *delivered; /* while it is: that, or a part */
	uint8_t *verdicts;
	size_t verdict_room;
	struct ppi_sink *sinks;
	size_t sink_count;
	struct ppi_tally *tallies; /* one an event */
	size_t event_count;
	struct ppi_modules *modules; /* NULL: nobody wants them */
	struct ppi_area *area;       /* where samples stay; NULL: they come here */
	struct ppi_label_finder *labels; /* NULL: others find them */
	struct ppi_code_watch *watch; /* NULL: all code is told of */
	struct ppi_unwinder *unwinder; /* NULL: chains come as they are */
	struct ppi_kept_chains kept;
	unsigned chain_depth;
	struct ppi_chain_ends chain_ends;
	int64_t target_pid;
	uint64_t born, dead;         /* processes that the target created */
	struct ppi_pump_held {
		struct ppi_room room;            /* what no sink has seen yet */
		size_t most_records, most_words; /* of that */
		uint64_t samples;
		bool is_holding;             /* what is drawn goes there */
		bool has_end;                /* the target's is in it */
	} held;
	bool feeds_files_only;       /* the process ends */
	bool wants_sampled_only;     /* processes without samples are nobody's business */
};

portprof_status ppi_pump_init(struct ppi_pump *pump,
                              const struct ppi_plan *plan,
                              struct ppi_diag *why);
void ppi_pump_free(struct ppi_pump *pump);

/* Drain until empty, through all sinks: first what is held. Samples of a ring come
 * up to where the code is known. Returns the backend's failure. */
portprof_status ppi_pump_drain(struct ppi_pump *pump,
                               struct ppi_backend_session *bs);

/* Drain as far as there is room, and hold that for the next ppi_pump_drain. What
 * has no room stays with the backend. */
portprof_status ppi_pump_hold(struct ppi_pump *pump,
                              struct ppi_backend_session *bs);
size_t ppi_pump_held_bytes(const struct ppi_pump *pump);
bool ppi_pump_is_full(const struct ppi_pump *pump);

/* Hold so many records and words at least; false when out of memory. */
bool ppi_pump_grow(struct ppi_pump *pump, size_t records, size_t words);

/* Records in a batch of sessions opened from now on; 0 = the default. For
 * tests that must show that small rooms lose nothing. */
void ppi_pump_set_room(size_t records);

#endif
