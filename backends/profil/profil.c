/* SPDX-License-Identifier: MIT */
/*
 * The profil backend: any profil() that counts in 16-bit bins, be it the
 * kernel's (FreeBSD, NetBSD, OpenBSD to 7.7, DragonFly) or a library's (glibc,
 * the Hurd). It tells bins, never threads or times, of one stretch of text.
 */
#include "config.h"

#include "backends/profil/profil_state.h"
#include "backends/common/cpu_time.h"
#include "base/fork_guard.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#ifdef PPI_BACKEND_PROFIL
#define PROFIL_REAL_KERNEL (&ppi_profil_kernel_real)
#else
#define PROFIL_REAL_KERNEL NULL
#endif

/* EXACT_PC, WHOLE_SPACE, PID_TID, TIME: never. LOST_EXACT: BSD kernels drop a
 * tick that meets another one pending, and count nothing of it. */
#define PROFIL_CAPS \
	(PORTPROF_CAP_SAMPLE | PORTPROF_CAP_PROCESS | PORTPROF_CAP_EXCLUSIVE)

static void say_gmon_only(struct ppi_probe *out, int error)
{
	out->os_errno = error;
	out->status = error == EPERM ? PORTPROF_E_UNSUPPORTED :
	                               PORTPROF_E_BUSY;
	snprintf(out->reason, sizeof(out->reason), "%s",
	         error == EPERM ?
	         "since OpenBSD 7.8 profil() is only for programs linked with "
	         "-pg, and this one is not: use the backend itimer" :
	         "this program was linked with -pg, and on OpenBSD since 7.8 "
	         "the runtime of -pg has profil() for good: link without "
	         "-pg, or read its gmon.out");
}

static void profil_probe(const void *kernel, struct ppi_probe *out)
{
	const struct profil_kernel *k = kernel;
	const struct profil_rules *rules = ppi_profil_rules(k->os);

	out->caps = PROFIL_CAPS | (rules->is_fair ? PORTPROF_CAP_FAIR : 0);
	/* BSD kernels stop profil(2) at exec; a library's timer stays on */
	if (!rules->takes_sigprof || ppi_exec_guard_is_promised())
		out->caps |= PORTPROF_CAP_EXEC_SAFE;
	out->only_by_name = rules->takes_sigprof;
	if (k->is_reachable && !k->is_reachable(k->self)) {
		out->status = PORTPROF_E_UNSUPPORTED;
		snprintf(out->reason, sizeof(out->reason), "profil() of the "
		         "system cannot be reached in a static program with "
		         "libportprof-profil, which has that name: use the "
		         "backend itimer");
		return;
	}
	/* a scale that is refused whatever else is given: nothing changes */
	errno = EINVAL;
	if (rules->checks_scale &&
	    (k->profil(k->self, NULL, 0, 0, 65537) == 0 || errno != EINVAL)) {
		int error = errno;

		out->status = PORTPROF_E_UNSUPPORTED;
		out->os_errno = error;
		snprintf(out->reason, sizeof(out->reason),
		         "this %s has no profil() that portprof knows (%s): "
		         "use the backend itimer", rules->region.system,
		         strerror(error));
		if (rules->gmon_only && error == EPERM)
			say_gmon_only(out, EPERM);
		return;
	}
	if (rules->gmon_only) {
		say_gmon_only(out, EINVAL);
		return;
	}
	out->is_usable = true;
	out->status = PORTPROF_OK;
	if (rules->takes_sigprof)
		snprintf(out->reason, sizeof(out->reason), "profil() of %s is "
		         "a handler of SIGPROF and ITIMER_PROF: biased when "
		         "several threads are busy, and no better than the "
		         "backend itimer", rules->region.system);
}

static portprof_status profil_resolve(const void *kernel,
                                      const struct ppi_event_request *request,
                                      enum ppi_mode mode,
                                      struct ppi_event *event,
                                      struct ppi_diag *why)
{
	(void)kernel;
	return ppi_cpu_time_resolve(request, mode, "CPU time of the process "
	                            "by profil(), at the system's own rate; "
	                            "wanted", event, why);
}

/* ---- open ---- */

static void unmap_bins(struct ppi_backend_session *bs)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct ppi_pcbins *bins = &profil_state_of(bs)->bins;
	size_t narrow = bins->count * sizeof(uint16_t);

	for (unsigned i = 0; i < 2; i++)
		if (bins->buffer[i])
			kernel->unmap(kernel->self, bins->buffer[i], narrow);
	if (bins->seen)
		kernel->unmap(kernel->self, bins->seen, narrow);
	if (bins->wide)
		kernel->unmap(kernel->self, bins->wide, 2 * narrow);
	memset(bins, 0, sizeof(*bins));
}

/* Pages of their own: a write that comes late, when they are gone, finds no
 * page and changes nobody's memory. */
static portprof_status map_bins(struct ppi_backend_session *bs,
                                struct ppi_diag *why)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	struct ppi_pcbins *bins = &state->bins;
	size_t narrow = state->region.bins * sizeof(uint16_t);
	bool needs_two = !state->rules->read_in_place;
	int error;

	bins->count = state->region.bins;
	bins->buffer[0] = kernel->map(kernel->self, narrow);
	if (bins->buffer[0] && needs_two)
		bins->buffer[1] = kernel->map(kernel->self, narrow);
	if (bins->buffer[0] && (bins->buffer[1] || !needs_two))
		bins->seen = kernel->map(kernel->self, narrow);
	if (bins->seen)
		bins->wide = kernel->map(kernel->self, 2 * narrow);
	if (bins->wide)
		return PORTPROF_OK;
	error = errno;
	unmap_bins(bs);
	return ppi_fail(why, PORTPROF_E_NOMEM, error, "map bins",
	                "no memory for %zu bins: %s", state->region.bins,
	                strerror(error));
}

/* The helper's ticks count where its code does: in a program that is linked
 * with the library statically. A handler's ticks never hit the helper, which
 * blocks signals. */
static bool counts_our_code(const struct ppi_backend_session *bs)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	const struct profil_state *state = profil_state_of(bs);
	struct ppi_text ours;

	kernel->burn_range(kernel->self, &ours);
	return !state->rules->takes_sigprof &&
	       ours.start >= state->region.offset &&
	       (ours.start - state->region.offset) / state->region.bin_bytes <
	               state->region.bins;
}

static void tell_how(struct ppi_backend_session *bs)
{
	const struct profil_state *state = profil_state_of(bs);
	const struct ppi_pcregion *region = &state->region;
	double hz = 1e9 * (double)state->weight.den /
	            (double)state->weight.num;

	ppi_note(bs, "%s samples each CPU %.0f times a second, whatever rate "
	         "is asked for", state->rules->region.system, hz);
	ppi_note(bs, "a sample covers %" PRIu64 " bytes of text at 0x%" PRIx64
	         "-0x%" PRIx64 "; time spent elsewhere is unattributed",
	         region->bin_bytes, region->offset,
	         region->offset + region->bins * region->bin_bytes);
}

static portprof_status profil_open(struct ppi_backend_session *bs,
                                   struct ppi_diag *why)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	struct ppi_text texts[PPI_TEXTS];
	size_t count = kernel->text(kernel->self, texts, PPI_TEXTS);
	portprof_status status;

	state->rules = ppi_profil_rules(kernel->os);
	ppi_cpu_meter_init(&state->cpu, state->rules->cpu, kernel->cpu,
	                   kernel->self, kernel->cpu_count(kernel->self));
	status = ppi_pcregion_choose(bs->plan, &state->rules->region, texts,
	                                  count < PPI_TEXTS ? count :
	                                                         PPI_TEXTS,
	                                  &state->region, why);
	if (status)
		return status;
	status = ppi_profil_rate(bs, why);
	if (status)
		return status;
	status = map_bins(bs, why);
	if (status)
		return status;
	state->own.is_on = counts_our_code(bs);
	bs->drain_every_ms = ppi_profil_harvest_ms(bs);
	tell_how(bs);
	return PORTPROF_OK;
}

/* ---- running ---- */

static portprof_status profil_start(struct ppi_backend_session *bs,
                                    struct ppi_diag *why)
{
	struct profil_state *state = profil_state_of(bs);
	portprof_status status;

	if (state->is_running)
		return PORTPROF_OK;
	/* before the first tick: each of them is in the CPU time */
	ppi_profil_clock_begin(bs);
	status = ppi_profil_claim(bs, why);
	if (status) {
		state->cpu.is_on = false;
		return status;
	}
	state->is_running = true;
	return PORTPROF_OK;
}

static portprof_status profil_stop(struct ppi_backend_session *bs,
                                   struct ppi_diag *why)
{
	struct profil_state *state = profil_state_of(bs);
	portprof_status status;

	if (!state->is_running)
		return PORTPROF_OK;
	status = ppi_profil_give_back(bs, why);
	ppi_profil_clock_end(bs);
	state->is_running = false;
	state->must_harvest = true;
	return status;
}

static portprof_status profil_drain(struct ppi_backend_session *bs,
                                    struct ppi_room *room)
{
	struct profil_state *state = profil_state_of(bs);

	while (state->bins.waiting == 0) {
		bool must_begin = state->must_harvest;

		state->must_harvest = false;
		if (!ppi_own_ticks_next(&state->own, state->is_running,
		                        must_begin))
			return PORTPROF_OK;
		ppi_profil_harvest(bs);
	}
	ppi_profil_give_records(bs, room);
	return PORTPROF_OK;
}

static portprof_status profil_count(struct ppi_backend_session *bs,
                                    portprof_count *out, size_t count)
{
	(void)bs;
	(void)out;
	(void)count;
	return PORTPROF_E_UNSUPPORTED;
}

static portprof_status profil_stats(struct ppi_backend_session *bs,
                                    size_t event, struct ppi_account *out)
{
	struct profil_state *state = profil_state_of(bs);
	const struct ppi_tickweight *tick = &state->weight;

	(void)event;
	out->total_weight = ppi_profil_clock_now(bs);
	out->cpu_time_ns = out->total_weight;
	out->granted_period = tick->num / tick->den;
	out->granted_hz = 1e9 * (double)tick->den / (double)tick->num;
	out->lost_certainty = PORTPROF_UNKNOWN;
	out->total_certainty = ppi_cpu_meter_is_right(&state->cpu, NULL, 0) ?
	                               PORTPROF_EXACT : PORTPROF_UNKNOWN;
	return PORTPROF_OK;
}

static void profil_close(struct ppi_backend_session *bs)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);

	/* a child inherits the profiling itself, not only our memory */
	if (kernel->process_id(kernel->self) != bs->owner_pid) {
		if (state->is_running)
			ppi_profil_drop_inherited(bs);
	} else if (state->is_running) {
		ppi_profil_give_back(bs, NULL);
	}
	unmap_bins(bs);
}

const struct ppi_backend_ops ppi_backend_profil = {
	.name = "profil",
	.summary = "samples the process in bins by profil(), without signals",
	.caps = PROFIL_CAPS | PORTPROF_CAP_FAIR | PORTPROF_CAP_EXEC_SAFE,
	.state_size = sizeof(struct profil_state),
	.catalogue = NULL,
	.count_ways = NULL,
	.count_parts = NULL,
	.costs = NULL,
	.steering = NULL,
	.heirs = NULL,
	.group_modifiers = NULL,
	.copies_stacks = false,
	.counts_alone = false,
	.real_kernel = PROFIL_REAL_KERNEL,
	.probe = profil_probe,
	.resolve = profil_resolve,
	.open = profil_open,
	.start = profil_start,
	.stop = profil_stop,
	.drain = profil_drain,
	.count = profil_count,
	.stats = profil_stats,
	.close = profil_close,
};
