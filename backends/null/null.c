/* SPDX-License-Identifier: MIT */
/*
 * The null backend: complete, and measures nothing. It is the template for a
 * new backend, and what a program gets that wants profiling switched off.
 */
#include "backends/backend.h"
#include "backends/common/cpu_time.h"

/* A program that switches profiling off keeps its sinks: none of the samples
 * that never come is inexact. */
#define NULL_CAPS                                     \
	(PORTPROF_CAP_SAMPLE | PORTPROF_CAP_PROCESS | \
	 PORTPROF_CAP_EXACT_PC | PORTPROF_CAP_WHOLE_SPACE |\
	 PORTPROF_CAP_EXEC_SAFE)

struct null_state {
	bool is_running;
};

static struct null_state *state_of(const struct ppi_backend_session *bs)
{
	return bs->state;
}

static void null_probe(const void *kernel, struct ppi_probe *out)
{
	(void)kernel;
	out->is_usable = true;
	out->caps = NULL_CAPS;
	out->status = PORTPROF_OK;
}

static portprof_status null_resolve(const void *kernel,
                                    const struct ppi_event_request *request,
                                    enum ppi_mode mode,
                                    struct ppi_event *event,
                                    struct ppi_diag *why)
{
	(void)kernel;
	return ppi_cpu_time_resolve(request, mode, "nothing (null backend)",
	                            event, why);
}

static portprof_status null_open(struct ppi_backend_session *bs,
                                 struct ppi_diag *why)
{
	(void)why;
	ppi_note(bs, "the null backend takes no samples");
	return PORTPROF_OK;
}

static portprof_status null_start(struct ppi_backend_session *bs,
                                  struct ppi_diag *why)
{
	(void)why;
	state_of(bs)->is_running = true;
	return PORTPROF_OK;
}

static portprof_status null_stop(struct ppi_backend_session *bs,
                                 struct ppi_diag *why)
{
	(void)why;
	state_of(bs)->is_running = false;
	return PORTPROF_OK;
}

static portprof_status null_drain(struct ppi_backend_session *bs,
                                  struct ppi_room *room)
{
	(void)bs;
	(void)room;
	return PORTPROF_OK;
}

static portprof_status null_stats(struct ppi_backend_session *bs, size_t event,
                                  struct ppi_account *out)
{
	(void)bs;
	(void)event;
	out->lost_certainty = PORTPROF_EXACT;
	out->total_certainty = PORTPROF_EXACT;
	return PORTPROF_OK;
}

static void null_close(struct ppi_backend_session *bs)
{
	(void)bs;
}

/* It needs no system at all, so any non-NULL pointer is its real kernel. */
static const char null_kernel;

const struct ppi_backend_ops ppi_backend_null = {
	.name = "null",
	.summary = "takes no samples; for switching profiling off",
	.caps = NULL_CAPS,
	.state_size = sizeof(struct null_state),
	.catalogue = NULL,
	.count_ways = NULL,
	.count_parts = NULL,
	.costs = NULL,
	.steering = NULL,
	.heirs = NULL,
	.group_modifiers = NULL,
	.copies_stacks = false,
	.reads_labels = false,
	.counts_alone = false,
	.real_kernel = &null_kernel,
	.probe = null_probe,
	.resolve = null_resolve,
	.open = null_open,
	.start = null_start,
	.stop = null_stop,
	.drain = null_drain,
	.count = ppi_no_count,
	.stats = null_stats,
	.close = null_close,
};
