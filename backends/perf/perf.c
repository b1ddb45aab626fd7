/* SPDX-License-Identifier: MIT */
/*
 * The perf backend: perf_event_open(2). Samples go to kernel rings that the
 * helper thread empties; no signal is ever sent. doc/platforms/linux.md says
 * what the kernel does underneath.
 *
 * Each folder includes only those above it in this list:
 *
 * kernel/    what is asked of the kernel: the seam, /proc and /sys, attributes,
 *            rates, refusals
 * records/   what it writes: buffers, records, fields, weights
 * probe/     what can be measured here
 * events/    from a string to what the kernel is asked for
 * session/   what counting and sampling share: open events, the target, its CPUs
 * counts/    counters are opened and read
 * sampling/  rings are opened, drained, and lead to samples
 */
#include "config.h"

#include "backends/perf/counts/perf_counts.h"
#include "backends/perf/events/perf_names.h"
#include "backends/perf/events/perf_request.h"
#include "backends/perf/probe/perf_probe.h"
#include "backends/perf/records/perf_weight.h"
#include "backends/perf/sampling/perf_account.h"
#include "backends/perf/sampling/perf_family.h"
#include "backends/perf/sampling/perf_late.h"
#include "backends/perf/sampling/perf_rings.h"
#include "backends/perf/sampling/perf_samples.h"
#include "backends/perf/sampling/perf_sampling.h"
#include "backends/perf/sampling/perf_sides.h"
#include "backends/perf/sampling/perf_tails.h"
#include "backends/perf/session/perf_cpus.h"

#include <errno.h>
#include <string.h>

#define PERF_CAPS                                                          \
	(PORTPROF_CAP_SAMPLE | PORTPROF_CAP_COUNT | PORTPROF_CAP_GROUP |   \
	 PORTPROF_CAP_EVENTS | PORTPROF_CAP_HARDWARE |                     \
	 PORTPROF_CAP_EXACT_PC | PORTPROF_CAP_WHOLE_SPACE |                \
	 PORTPROF_CAP_KERNEL | PORTPROF_CAP_CHAIN | PORTPROF_CAP_PID_TID | \
	 PORTPROF_CAP_TIME | PORTPROF_CAP_CPU | PORTPROF_CAP_PROCESS |     \
	 PORTPROF_CAP_THREAD | PORTPROF_CAP_ATTACH |                       \
	 PORTPROF_CAP_CHILDREN | PORTPROF_CAP_FAIR |                       \
	 PORTPROF_CAP_LOST_EXACT | PORTPROF_CAP_MODULES |                  \
	 PORTPROF_CAP_SYSTEM | PORTPROF_CAP_EXEC_SAFE |                    \
	 PORTPROF_CAP_COMMAND | PORTPROF_CAP_UNWIND | PORTPROF_CAP_PACKAGE)

/* What is lacking is known: the highest bit, which is no capability's. */
#define LACKS_KNOWN (UINT32_C(1) << 31)

static void perf_probe(const void *kernel, struct ppi_probe *out)
{
	_Atomic uint32_t *lacks = perf_kernel_of(kernel)->lacks;
	uint32_t before = atomic_load(lacks);

	out->caps = PERF_CAPS;
	out->is_old = out->may_be_old && before & LACKS_KNOWN;
	if (out->is_old) {
		out->is_usable = true;
		out->caps &= ~(uint64_t)before;
		return;
	}
	ppi_perf_probe_ladder(perf_kernel_of(kernel), out);
	atomic_store(lacks, out->is_usable
	             ? (uint32_t)(PERF_CAPS & ~out->caps) | LACKS_KNOWN : 0);
}

_Static_assert(PERF_CAPS < LACKS_KNOWN, "capabilities fit in 31 bits");

static portprof_status perf_resolve(const void *kernel,
                                    const struct ppi_event_request *request,
                                    enum ppi_mode mode,
                                    struct ppi_event *event,
                                    struct ppi_diag *why)
{
	return ppi_perf_resolve_event(perf_kernel_of(kernel), request, mode,
	                              event, why);
}

/* A session with all that its parts know: perf_session.h. */
struct perf_whole {
	struct perf_state state; /* first: what everybody is handed */
	struct perf_counting counting;
	struct perf_rings rings;
	struct perf_sides sides;
	struct perf_drain drain;
	struct perf_weighing weighing;
	struct perf_weights weights;
	struct perf_stacks stacks;
	struct perf_tails tails;
	struct perf_family family;
	struct perf_late late;
	struct perf_spent spent;
};

static void put_together(struct ppi_backend_session *bs)
{
	struct perf_whole *whole = bs->state;
	struct perf_state *state = perf_state_of(bs);

	memset(whole, 0, sizeof(*whole));
	state->counting = &whole->counting;
	state->rings = &whole->rings;
	state->sides = &whole->sides;
	state->drain = &whole->drain;
	state->weighing = &whole->weighing;
	state->weights = &whole->weights;
	state->stacks = &whole->stacks;
	state->tails = &whole->tails;
	state->family = &whole->family;
	state->late = &whole->late;
	state->spent = &whole->spent;
}

static void release(struct ppi_backend_session *bs)
{
	ppi_perf_release_counting(bs);
	ppi_perf_release_sampling(bs);
	ppi_perf_release_session(bs);
	put_together(bs);
}

static portprof_status perf_open(struct ppi_backend_session *bs,
                                 struct ppi_diag *why)
{
	const struct ppi_target *target = &bs->plan->target;
	portprof_status status;

	put_together(bs);
	if (target->kind == PPI_TARGET_TID && bs->plan->follow_children)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "open session",
		                "children are followed for a process or a "
		                "command, not for one thread");
	status = bs->plan->mode == PPI_COUNT ? ppi_perf_open_counting(bs, why)
	                                     : ppi_perf_open_sampling(bs, why);
	if (status != PORTPROF_OK)
		release(bs);
	return status;
}

/* Turn all on or off. Members of a group follow their leader. */
static portprof_status control_all(struct ppi_backend_session *bs,
                                   unsigned long request, const char *step,
                                   struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	int failed = 0;

	for (size_t i = 0; i < state->source_count; i++) {
		const struct perf_source *source = &state->sources[i];
		int error = 0;

		if (state->layout != PERF_NO_RINGS
		    ? !source->is_member && !ppi_perf_is_off(state, source)
		    : source->leader < 0)
			error = ppi_perf_control(bs, source, request, NULL);
		failed = error < 0 ? -error : failed;
	}
	if (failed == 0)
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_SYSTEM, failed, step,
	                "the kernel refused to switch an open event: %s",
	                strerror(failed));
}

/* The kernel starts a command's events at its exec, once. From then on they
 * are ours to start: something was enabled for some time. */
static bool has_begun(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	uint64_t words[PERF_READ_ROOM] = { 0 };

	/* Word 1 is the time enabled, in a group's reading and in a lone
	 * event's alike. */
	for (size_t i = 0; i < state->source_count && state->awaits_exec; i++)
		if (!state->sources[i].is_tail &&
		    kernel->read_event(kernel->self, state->sources[i].fd,
		                       words, sizeof(words)) > 8 && words[1])
			state->awaits_exec = false;
	return !state->awaits_exec;
}

static portprof_status perf_start(struct ppi_backend_session *bs,
                                  struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_status status = PORTPROF_OK;

	if (state->is_running)
		return PORTPROF_OK;
	state->sides->is_early = false;
	if (state->layout != PERF_NO_RINGS && state->drain->began_ns == 0)
		state->drain->began_ns = ppi_perf_record_clock(bs);
	/* Counting has no account; asking the clock would be a third of
	 * the time that starting takes. */
	if (state->layout != PERF_NO_RINGS)
		ppi_perf_clock_start(bs);
	ppi_perf_idle_start(bs);
	ppi_perf_clocks_start(bs);
	ppi_perf_tail_enable(bs);
	ppi_perf_late_start(bs);
	if (!state->awaits_exec || state->is_by_cpu || has_begun(bs))
		status = control_all(bs, PERF_EVENT_IOC_ENABLE, "start", why);
	if (status == PORTPROF_OK)
		state->is_running = true;
	else
		control_all(bs, PERF_EVENT_IOC_DISABLE, "start", NULL);
	return status;
}

static portprof_status perf_stop(struct ppi_backend_session *bs,
                                 struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_status status;

	if (!state->is_running)
		return PORTPROF_OK;
	/* When each call has returned no record of that event follows: it
	 * interrupts the CPU that the event runs on. */
	status = control_all(bs, PERF_EVENT_IOC_DISABLE, "stop", why);
	ppi_perf_clocks_stop(bs);
	ppi_perf_late_stop(bs);
	if (state->layout != PERF_NO_RINGS) {
		ppi_perf_clock_stop(bs);
		ppi_perf_say_side_losses(bs);
	}
	ppi_perf_idle_stop(bs);
	state->is_running = false;
	return status;
}

static portprof_status perf_drain(struct ppi_backend_session *bs,
                                  struct ppi_room *room)
{
	if (perf_state_of(bs)->layout == PERF_NO_RINGS)
		return PORTPROF_OK;
	return ppi_perf_drain_rings(bs, room);
}

static portprof_status perf_count(struct ppi_backend_session *bs,
                                  portprof_count *out, size_t count)
{
	if (perf_state_of(bs)->layout != PERF_NO_RINGS)
		return PORTPROF_E_UNSUPPORTED;
	return ppi_perf_read_counts(bs, 0, out, count);
}

static portprof_status perf_stats(struct ppi_backend_session *bs, size_t event,
                                  struct ppi_account *out)
{
	ppi_perf_account(bs, event, out);
	return PORTPROF_OK;
}

static void perf_close(struct ppi_backend_session *bs)
{
	release(bs);
}

#ifdef PPI_BACKEND_PERF
#define REAL_KERNEL &ppi_perf_kernel_real
#else
#define REAL_KERNEL NULL
#endif

const struct ppi_backend_ops ppi_backend_perf = {
	.name = "perf",
	.summary = "Linux perf events: samples without signals, and counters",
	.caps = PERF_CAPS,
	.state_size = sizeof(struct perf_whole),
	.catalogue = &ppi_perf_catalogue,
	.count_ways = &ppi_perf_count_ways,
	.count_parts = &ppi_perf_count_parts,
	.costs = &ppi_perf_costs,
	.steering = &ppi_perf_steering,
	.heirs = NULL,
	.group_modifiers = "excl,pinned",
	.copies_stacks = false,
	.reads_labels = false,
	.counts_alone = true,
	.real_kernel = REAL_KERNEL,
	.probe = perf_probe,
	.resolve = perf_resolve,
	.open = perf_open,
	.start = perf_start,
	.stop = perf_stop,
	.drain = perf_drain,
	.count = perf_count,
	.stats = perf_stats,
	.close = perf_close,
};
