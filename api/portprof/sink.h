/* SPDX-License-Identifier: MIT */
/* Where samples go: histogram, array, callback, file. */
#ifndef PORTPROF_SINK_H
#define PORTPROF_SINK_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/config.h>
#include <portprof/export.h>
#include <portprof/record.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sinks are added to a config and get every sample of every session opened
 * with it. Up to 16; they are numbered from 0 in the order of adding. Memory
 * given to a sink must stay until stop or close has returned; after that
 * nothing more is written to it. Samples arrive from a helper thread or, in
 * stop and flush, from the calling thread: never from a signal handler.
 * All since 0.1.
 */
enum { PORTPROF_SINKS_MAX = 16 };

/*
 * A region of text and the bins over it: profil(2) arithmetic. One bin covers
 * 131072/scale bytes, so 65536 is 2 bytes a bin, 32768 is 4, 2 is 65536. A pc
 * goes to bin floor((pc - offset) * scale / 131072); below offset or past the
 * last bin it is outside. For powers of two that is the manual pages' formula
 * too; contract clause HIST-4 has the difference for others.
 *
 * Bins are counted up, never cleared, and stop at their largest value.
 */
typedef struct portprof_region {
	uint64_t offset;    /* address of the first byte of text */
	uint32_t scale;     /* 2..131072 */
	uint32_t bin_bits;  /* 16, 32 or 64 */
	void *bins;         /* aligned for its width */
	size_t bin_count;
} portprof_region;

/* What a bin counts. */
typedef enum portprof_bin_unit {
	PORTPROF_BINS_TICKS = 0, /* periods as asked for; their sum times the
	                          * period is the weight, to within one */
	PORTPROF_BINS_WEIGHT = 1 /* the event's own unit */
} portprof_bin_unit;

/*
 * Count samples of event number `event` in `count` regions (copied; at most
 * 65536). Regions must not overlap: E_INVALID says which two do.
 */
PORTPROF_API portprof_status portprof_config_add_histogram(
	portprof_config *config, size_t event, const portprof_region *regions,
	size_t count, portprof_bin_unit unit);

/*
 * Store program counters in time order as pcsample(2) does, one element a
 * sample, until `room` is used. What no longer fits is counted as lost.
 */
PORTPROF_API portprof_status portprof_config_add_array(portprof_config *config,
                                                       uint64_t *pcs,
                                                       size_t room);

/*
 * Call `take` with batches of records of all kinds. It runs in normal context
 * in the helper thread or in the thread that stops or flushes, never in two
 * at once; it may allocate and lock, must not call start, stop, flush, reset
 * or close of this session (E_STATE), and while it runs nothing else is
 * drained.
 *
 * It should return. A C++ exception that it throws in stop, flush or close goes
 * through to whoever called that: the batch is lost, the session is as before,
 * and the call can be made again. One that it throws in the helper thread, which
 * nobody called, ends the program. pthread_exit ends the thread alike; when
 * that was the helper thread, samples come in stop and flush alone from then on,
 * until all sessions of the process are closed. longjmp out of it is refused:
 * the session is lost, its calls return E_STATE in that thread and wait for
 * ever in others.
 */
typedef void (*portprof_batch_fn)(const portprof_batch *batch, void *context);
PORTPROF_API portprof_status portprof_config_add_callback(
	portprof_config *config, portprof_batch_fn take, void *context);

/*
 * The same for samples in `count` regions, by any backend: also one that tells
 * no others. `bins` and `bin_bits` are not used; a bin is how finely a sample
 * must be told, and no sample spans two. What else the backend tells, samples
 * elsewhere too, may come along. Refuses regions as add_histogram does.
 */
PORTPROF_API portprof_status portprof_config_add_region_callback(
	portprof_config *config, const portprof_region *regions, size_t count,
	portprof_batch_fn take, void *context);

/*
 * Write a pprof file (gzip), in portions while running, whole after each;
 * made one aggregated portion at close. An existing file is kept as PATH.old.
 * E_UNSUPPORTED: left out at build time, the words say how to get it.
 */
PORTPROF_API portprof_status portprof_config_write_to(portprof_config *config,
                                                      const char *path);

/* What one sink did. `size` as in portprof_event_info. */
typedef struct portprof_sink_stats {
	size_t size;
	uint64_t kept_samples;
	uint64_t kept_weight;
	uint64_t outside_samples; /* outside all regions */
	uint64_t outside_weight;
	uint64_t lost_samples;    /* array full, disk full, bin saturated */
	uint64_t lost_weight;
	uint64_t saturated_bins;  /* bins that stopped at their largest value */
	int32_t status;           /* portprof_status: first failure, or OK */
	int32_t os_errno;
} portprof_sink_stats;

#ifdef __cplusplus
}
#endif
#endif
