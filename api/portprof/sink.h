/* SPDX-License-Identifier: MIT */
/* Sinks, the destinations of samples: histogram, array, callback, file. */
#ifndef PORTPROF_SINK_H
#define PORTPROF_SINK_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/config.h>
#include <portprof/export.h>
#include <portprof/label.h>
#include <portprof/record.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sinks are added to a config and get every sample of every session opened
 * with it. A config has at most 16, numbered from 0 in the order of adding. The
 * memory of a sink must remain valid until stop or close returns; after that
 * nothing more is written to it. Samples are passed on by a helper thread or, in
 * stop and flush, by the calling thread, never in a signal handler. All since
 * 0.1.
 */
enum { PORTPROF_SINKS_MAX = 16 };

/*
 * A range of text with its bins, as in profil(2). One bin covers 131072/scale
 * bytes: 2 at 65536, 4 at 32768, 65536 at 2. A pc is counted in bin
 * floor((pc - offset) * scale / 131072); below offset or past the last bin it is
 * outside. For powers of two this is the formula of the manual pages; contract
 * clause HIST-4 has the difference for other scales.
 *
 * Bins are counted up, never cleared, and stop at their largest value.
 */
typedef struct portprof_range {
	uint64_t offset;    /* address of the first byte of text */
	uint32_t scale;     /* 2..131072 */
	uint32_t bin_bits;  /* 16, 32 or 64 */
	void *bins;         /* aligned for its width */
	size_t bin_count;
} portprof_range;

/* What a bin counts. */
typedef enum portprof_bin_unit {
	PORTPROF_BINS_TICKS = 0, /* requested periods; their sum times the
	                          * period is the weight, to within one */
	PORTPROF_BINS_WEIGHT = 1 /* the event's own unit */
} portprof_bin_unit;

/*
 * Count samples of event number `event` in `count` ranges (copied; at most
 * 65536). Ranges must not overlap: E_INVALID says which two do.
 */
PORTPROF_API portprof_status portprof_config_add_histogram(
	portprof_config *config, size_t event, const portprof_range *ranges,
	size_t count, portprof_bin_unit unit);

/*
 * The same for the samples whose thread was in a set with all of these labels,
 * whatever others it has: a histogram of one endpoint or tenant. All other samples are
 * outside, also those of which nobody knows the set (contract clauses LABEL-1 and -2).
 * Backends that do not report threads and times are refused. E_INVALID, too, for the
 * empty set, and for one with a value "(other)": it was made after very many others, and
 * has lost its own.
 */
PORTPROF_API portprof_status portprof_config_add_label_histogram(
	portprof_config *config, size_t event, const portprof_range *ranges,
	size_t count, portprof_bin_unit unit,
	const portprof_label_set *labels);

/*
 * Store program counters in time order like pcsample(2), one element per
 * sample, until `room` is used. Further samples are counted as lost.
 */
PORTPROF_API portprof_status portprof_config_add_array(portprof_config *config,
                                                       uint64_t *pcs,
                                                       size_t room);

/*
 * Call `take` with batches of records of all kinds. It runs in normal context
 * in the helper thread or in the thread that stops or flushes, never in two
 * at once. It may allocate and lock. It must not call start, stop, flush, reset
 * or close of this session (E_STATE). While it runs nothing else is drained.
 *
 * It should return. A C++ exception that it throws in stop, flush or close
 * reaches the caller: the batch is lost, the session is unchanged, and the call
 * can be repeated. An exception in the helper thread, which has no caller, ends
 * the program. pthread_exit ends the thread; if it was the helper thread, samples
 * are then passed on only in stop and flush, until all sessions of the process
 * are closed. longjmp out of it is not supported: the session is lost, its calls
 * return E_STATE in that thread and wait forever in others.
 */
typedef void (*portprof_batch_fn)(const portprof_batch *batch, void *context);
PORTPROF_API portprof_status portprof_config_add_callback(
	portprof_config *config, portprof_batch_fn take, void *context);

/*
 * The same for samples in `count` ranges, with any backend, also those that only
 * count ranges of text. `bins` and `bin_bits` are not used; a bin is the minimum
 * resolution of samples, and no sample spans two. The callback may also get what
 * else the backend reports, including samples elsewhere. Refuses ranges like
 * add_histogram.
 */
PORTPROF_API portprof_status portprof_config_add_range_callback(
	portprof_config *config, const portprof_range *ranges, size_t count,
	portprof_batch_fn take, void *context);

/*
 * Write a pprof file (gzip), in parts while running, valid after each;
 * close joins them. An existing file is kept as PATH.old. E_UNSUPPORTED: the
 * library was built without files; the words say how to enable them.
 */
PORTPROF_API portprof_status portprof_config_write_to(portprof_config *config,
                                                      const char *path);

/* What one sink did. `size` as in portprof_event_info. */
typedef struct portprof_sink_stats {
	size_t size;
	uint64_t kept_samples;
	uint64_t kept_weight;
	uint64_t outside_samples; /* outside all ranges */
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
