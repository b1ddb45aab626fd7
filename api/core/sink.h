/* SPDX-License-Identifier: MIT */
/* The sink contract: four functions that take records. */
#ifndef PPI_SINK_H
#define PPI_SINK_H

#include <portprof/profile.h>
#include <portprof/sink.h>

#include "backends/backend.h"

/* What became of a sample; the highest over all sinks is the session's. */
enum ppi_verdict { PPI_LOST = 0, PPI_OUTSIDE = 1, PPI_KEPT = 2 };

/* What a user asked for with portprof_config_add_... */
struct ppi_sink_request {
	const struct ppi_sink_ops *ops;
	size_t event;               /* histogram: which event it counts */
	portprof_range *ranges;   /* histogram, range callback: sorted
	                             * copy; config owns */
	size_t range_count;
	portprof_bin_unit bin_unit;
	const portprof_label_set *labels; /* histogram: that its samples have;
	                                   * NULL: all. Sets are never freed */
	uint64_t *pcs;              /* array */
	size_t room;
	portprof_batch_fn take;     /* callback */
	void *context;
	char *path;                 /* file; share: the pool's name; config
	                             * owns */
};

/* What a sink may know of the session it serves. */
struct ppi_run {
	const struct ppi_plan *plan;
	const char *backend;
	uint64_t caps;
	const char *const *passed_over_names;
	const char *const *passed_over_reasons;
	size_t passed_over_count;
	const char (*notes)[PPI_NOTE_BYTES];
	size_t note_count;
	const portprof_stats *stats; /* one per event, as of now */
	uint64_t start_realtime_ns;  /* first start; 0 = not yet */
	uint64_t duration_ns;        /* time spent running */
	portprof_life life;          /* as of now; threads 0: not measured */
};

struct ppi_sink {
	const struct ppi_sink_ops *ops;
	const struct ppi_sink_request *request; /* lives as long as the sink */
	void *state;                 /* the sink's own, allocated in open */
	portprof_sink_stats stats;   /* kept up to date by take */
};

/* Same four, same order, in every sink_*.c. None is NULL, but turn. */
struct ppi_sink_ops {
	const char *name;
	bool wants_modules;      /* MODULE, THREAD, EXIT and FORK records */
	bool wants_account;      /* run->stats are filled in for flush */

	/* Take every resource that can fail; undone on failure. */
	portprof_status (*open)(struct ppi_sink *sink,
	                        const struct ppi_run *run,
	                        struct ppi_diag *why);

	/* Take a batch. For each SAMPLE record i raise verdicts[i] to what
	 * became of it (never lower it), and count it in sink->stats. */
	void (*take)(struct ppi_sink *sink, const portprof_batch *batch,
	             uint8_t *verdicts);

	/* Make what was taken so far safe. About once a second, and in
	 * portprof_session_flush and stop. */
	portprof_status (*flush)(struct ppi_sink *sink,
	                         const struct ppi_run *run,
	                         struct ppi_diag *why);

	/* Finish and free state. Returns the first failure, closes anyway.
	 * `run` is NULL in a forked child: free memory, touch nothing that
	 * the parent has too. */
	portprof_status (*close)(struct ppi_sink *sink,
	                         const struct ppi_run *run,
	                         struct ppi_diag *why);

	/* Finish what was written so far, and continue at `path`. NULL: the sink
	 * has no path. What cannot be opened changes nothing. */
	portprof_status (*turn)(struct ppi_sink *sink,
	                        const struct ppi_run *run, const char *path,
	                        struct ppi_diag *why);
};

extern const struct ppi_sink_ops ppi_sink_hist;
extern const struct ppi_sink_ops ppi_sink_label_hist;
extern const struct ppi_sink_ops ppi_sink_array;
extern const struct ppi_sink_ops ppi_sink_callback;
extern const struct ppi_sink_ops ppi_sink_range_callback;
extern const struct ppi_sink_ops ppi_sink_observer;
extern const struct ppi_sink_ops ppi_sink_file;
extern const struct ppi_sink_ops ppi_sink_share;

/* The text that a range's bins cover, whole bins only: [start, end). */
struct ppi_range ppi_range_of_text(const portprof_range *range);

/* Open, flush or close of a sink that has nothing to do there. */
static inline portprof_status ppi_sink_nothing(struct ppi_sink *sink,
                                               const struct ppi_run *run,
                                               struct ppi_diag *why)
{
	(void)sink;
	(void)run;
	(void)why;
	return PORTPROF_OK;
}

/* Raise verdicts[i], never lower it. */
static inline void ppi_verdict_raise(uint8_t *verdicts, size_t i,
                                     enum ppi_verdict verdict)
{
	if (verdicts[i] < verdict)
		verdicts[i] = (uint8_t)verdict;
}

#endif
