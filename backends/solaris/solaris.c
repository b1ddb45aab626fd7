/* SPDX-License-Identifier: MIT */
/*
 * The solaris backend: pcsample(2) for streams of program counters and for
 * many regions, profil(2) for histograms of one region. The system has no way
 * to find out whether the program itself uses one of them: the last caller has
 * it.
 *
 *   solaris_facilities.c   the two of them
 *   solaris_kernel_real.c  the system calls
 */
#include "config.h"

#include "backends/common/cpu_time.h"
#include "backends/solaris/solaris_state.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#ifdef PPI_BACKEND_SOLARIS
#define SOLARIS_REAL_KERNEL (&ppi_solaris_kernel_real)
#else
#define SOLARIS_REAL_KERNEL NULL
#endif

#define SOLARIS_CAPS \
	(PORTPROF_CAP_SAMPLE | PORTPROF_CAP_PROCESS | PORTPROF_CAP_FAIR | \
	 PORTPROF_CAP_EXACT_PC | PORTPROF_CAP_WHOLE_SPACE | \
	 PORTPROF_CAP_EXCLUSIVE | PORTPROF_CAP_EXEC_SAFE)

/* The process whose session has p_prof (LIFE-11), 0 = nobody's. A forked
 * child finds its parent's number here and takes it as nobody's. */
static _Atomic int owner_pid;

/* ---- CPU time ---- */

static uint64_t cpu_now(struct ppi_backend_session *bs)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);

	return ppi_cpu_meter_now(&solaris_state_of(bs)->cpu,
	                         kernel->now_ns(kernel->self));
}

static void begin_clock(struct ppi_backend_session *bs)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);
	struct solaris_state *state = solaris_state_of(bs);

	ppi_cpu_meter_begin(&state->cpu, kernel->now_ns(kernel->self));
	if (state->resets != bs->resets)
		ppi_tickweight_forget(&state->weight, state->cpu.done_ns);
	state->resets = bs->resets;
	ppi_tickweight_start(&state->weight, state->cpu.done_ns);
	state->foreign = state->own.taken = 0;
}

static void note_if_clock_wrong(struct ppi_backend_session *bs)
{
	char words[256];

	if (!ppi_cpu_meter_is_right(&solaris_state_of(bs)->cpu, words,
	                            sizeof(words)))
		ppi_note(bs, "%s", words);
}

uint64_t ppi_solaris_ticks_since(struct ppi_backend_session *bs,
                                 uint64_t cpu_ns)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);
	unsigned hz = solaris_state_of(bs)->rate_hz;

	return (cpu_now(bs) - cpu_ns) / (1000000000u / hz) +
	       kernel->cpu_count(kernel->self);
}

/* ---- the contract ---- */

static bool has_clocks(const struct solaris_kernel *k, struct ppi_probe *out)
{
	uint64_t ns;

	if (k->cpu(k->self, ppi_cpu_solaris.process.source, PPI_CPU_PROCESS,
	           &ns) == 0)
		return true;
	out->status = PORTPROF_E_UNSUPPORTED;
	out->os_errno = errno;
	snprintf(out->reason, sizeof(out->reason), "CPU time, which samples "
	         "are weighed by, cannot be read from /proc/self/usage (%s): "
	         "mount /proc, or use the backend itimer", strerror(errno));
	return false;
}

static void solaris_probe(const void *kernel, struct ppi_probe *out)
{
	const struct solaris_kernel *k = kernel;

	out->caps = SOLARIS_CAPS;
	if (!has_clocks(k, out))
		return;
	/* a room below 0 is refused before anything else: nothing changes */
	errno = EINVAL;
	if (k->pcsample(k->self, NULL, -1) >= 0 || errno != EINVAL) {
		out->status = PORTPROF_E_UNSUPPORTED;
		out->os_errno = errno;
		snprintf(out->reason, sizeof(out->reason), "this system has "
		         "no pcsample(2) (%s): use the backend itimer",
		         strerror(errno));
		return;
	}
	out->is_usable = true;
	out->status = PORTPROF_OK;
}

static portprof_status solaris_resolve(const void *kernel,
                                       const struct ppi_event_request *request,
                                       enum ppi_mode mode,
                                       struct ppi_event *event,
                                       struct ppi_diag *why)
{
	(void)kernel;
	return ppi_cpu_time_resolve(request, mode, "CPU time of the process "
	                            "by the system's clock, at its own rate; "
	                            "wanted", event, why);
}

/* One region, a rate that tells when its bins are full, and nobody who needs
 * more than bins. */
static bool suits_profil(const struct ppi_backend_session *bs)
{
	return bs->plan->range_count == 1 &&
	       solaris_state_of(bs)->weight.num != 0 &&
	       !(bs->plan->required_caps & PPI_SOLARIS_PCSAMPLE_CAPS);
}

static portprof_status solaris_open(struct ppi_backend_session *bs,
                                    struct ppi_diag *why)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);
	struct solaris_state *state = solaris_state_of(bs);
	unsigned hz = kernel->rate_hz(kernel->self);

	ppi_cpu_meter_init(&state->cpu, &ppi_cpu_solaris, kernel->cpu,
	                   kernel->self, kernel->cpu_count(kernel->self));
	state->rate_hz = hz ? hz : 1000; /* for sizes; the most there is */
	if (hz) {
		state->weight.num = 1000000000u;
		state->weight.den = hz;
		ppi_note(bs, "the system samples each CPU %u times a second, "
		         "whatever rate is asked for", hz);
	} else {
		ppi_note(bs, "the system does not report its clock's rate: the "
		         "samples share the CPU time");
	}
	state->is_profil = suits_profil(bs);
	if (state->is_profil &&
	    ppi_solaris_profil_open(bs, why) == PORTPROF_OK)
		return PORTPROF_OK;
	state->is_profil = false;
	state->own.is_on = true; /* all code is sampled */
	return ppi_solaris_pcsample_open(bs, why);
}

static portprof_status take_slot(const struct solaris_kernel *kernel,
                                 struct ppi_diag *why)
{
	int now = atomic_load(&owner_pid);
	int own = (int)kernel->process_id(kernel->self);

	do {
		if (now == own)
			return ppi_fail(why, PORTPROF_E_BUSY, 0, "start",
			                "another session of this process uses "
			                "profil and pcsample, of which there "
			                "is one: stop that session first");
	} while (!atomic_compare_exchange_weak(&owner_pid, &now, own));
	return PORTPROF_OK;
}

static portprof_status solaris_start(struct ppi_backend_session *bs,
                                     struct ppi_diag *why)
{
	struct solaris_state *state = solaris_state_of(bs);
	portprof_status status;

	if (state->is_running)
		return PORTPROF_OK;
	status = take_slot(solaris_kernel_of(bs), why);
	if (status)
		return status;
	begin_clock(bs);
	status = state->is_profil ? ppi_solaris_profil_on(bs, why) :
	                            ppi_solaris_pcsample_on(bs, why);
	if (status) {
		state->cpu.is_on = false;
		atomic_store(&owner_pid, 0);
		return status;
	}
	state->is_running = true;
	return PORTPROF_OK;
}

/*
 * What a thread owes at a stop is billed in the next session, when it returns
 * from its system call (intel/ia32/os/syscall.c, post_syscall), all at one
 * program counter. More than the CPU time since the start allows is not ours.
 */
static void put_aside_foreign(struct ppi_backend_session *bs, uint64_t ticks,
                              uint64_t cpu_ns)
{
	struct solaris_state *state = solaris_state_of(bs);
	uint64_t used = (cpu_ns - state->harvested_cpu_ns) /
	                (1000000000u / state->rate_hz);
	uint64_t extra = ppi_tickweight_foreign(&state->weight, ticks, cpu_ns,
	                                        4 + used / 16);

	state->foreign += state->is_profil ?
		ppi_pcbins_put_aside(&state->bins, extra, used + 1) :
		ppi_solaris_pcsample_put_aside(bs, extra, used + 1);
}

static void note_foreign(struct ppi_backend_session *bs)
{
	struct solaris_state *state = solaris_state_of(bs);

	if (state->foreign == 0 || state->is_running)
		return;
	ppi_note(bs, "%llu ms of kernel time were put aside: threads that were "
	         "in the kernel at the start had spent them before",
	         (unsigned long long)(state->foreign * 1000 / state->rate_hz));
	state->foreign = 0;
}

/* What came while the helper worked may have hit the helper. */
static void put_aside_own(struct ppi_backend_session *bs)
{
	struct solaris_state *state = solaris_state_of(bs);
	uint64_t most = ppi_own_ticks_left(&state->own, &state->cpu,
	                                   &state->weight, 1);

	if (state->own.round >= PPI_ROUND_AT_WORK)
		state->own.taken += state->is_profil ?
			ppi_pcbins_put_aside_own(&state->bins, &state->own,
			                         most) :
			ppi_solaris_pcsample_put_aside_own(bs, most);
	else if (!state->is_profil)
		ppi_solaris_pcsample_mark(bs);
}

static uint64_t ticks_waiting(const struct solaris_state *state)
{
	return state->is_profil ? state->bins.waiting : state->array.count;
}

/* From the facility to a weighed batch. */
static void harvest(struct ppi_backend_session *bs, bool on)
{
	struct solaris_state *state = solaris_state_of(bs);
	uint64_t cpu_ns;

	if (state->is_profil)
		ppi_solaris_profil_harvest(bs, on);
	else
		ppi_solaris_pcsample_harvest(bs, on);
	/* read after the samples: all their ticks are in it */
	cpu_ns = cpu_now(bs);
	note_if_clock_wrong(bs);
	put_aside_own(bs);
	put_aside_foreign(bs, ticks_waiting(state), cpu_ns);
	note_foreign(bs);
	state->harvested_cpu_ns = cpu_ns;
	ppi_tickweight_begin(&state->weight, ticks_waiting(state), cpu_ns);
}

static bool has_more(const struct solaris_state *state)
{
	return state->is_profil ? state->bins.waiting > 0 :
	                          state->array.next < state->array.count;
}

/* Neither is on after this, no matter who turned it on. */
static void turn_off(struct ppi_backend_session *bs)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);

	kernel->profil(kernel->self, NULL, 0, 0, 0);
}

static portprof_status solaris_stop(struct ppi_backend_session *bs,
                                    struct ppi_diag *why)
{
	struct solaris_state *state = solaris_state_of(bs);
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);

	(void)why;
	if (!state->is_running)
		return PORTPROF_OK;
	state->is_running = false;
	if (!state->is_profil)
		ppi_solaris_pcsample_off(bs);
	/* after pcsample with no room the scale is 1 until the next tick */
	turn_off(bs);
	state->must_harvest = true;
	ppi_cpu_meter_end(&state->cpu, kernel->now_ns(kernel->self));
	atomic_store(&owner_pid, 0);
	return PORTPROF_OK;
}

static portprof_status solaris_drain(struct ppi_backend_session *bs,
                                     struct ppi_room *room)
{
	struct solaris_state *state = solaris_state_of(bs);

	while (!has_more(state)) {
		bool must_begin = state->must_harvest;

		state->must_harvest = false;
		if (!ppi_own_ticks_next(&state->own, state->is_running,
		                        must_begin))
			return PORTPROF_OK;
		harvest(bs, state->is_running);
	}
	if (state->is_profil)
		ppi_solaris_profil_give(bs, room);
	else
		ppi_solaris_pcsample_give(bs, room);
	return PORTPROF_OK;
}

static portprof_status solaris_stats(struct ppi_backend_session *bs,
                                     size_t event, struct ppi_account *out)
{
	struct solaris_state *state = solaris_state_of(bs);
	const struct ppi_tickweight *weight = &state->weight;

	(void)event;
	out->total_weight = cpu_now(bs);
	out->cpu_time_ns = out->total_weight;
	if (weight->num) {
		out->granted_period = weight->num / weight->den;
		out->granted_hz = state->rate_hz;
	}
	out->lost_certainty = state->may_have_lost ? PORTPROF_UNKNOWN :
	                                             PORTPROF_EXACT;
	out->total_certainty = ppi_cpu_meter_is_right(&state->cpu, NULL, 0) ?
	                               PORTPROF_EXACT : PORTPROF_UNKNOWN;
	return PORTPROF_OK;
}

static void solaris_close(struct ppi_backend_session *bs)
{
	struct solaris_state *state = solaris_state_of(bs);

	/* a child inherits the profiling itself; unless a session of its own
	 * has it by now, it must end before the memory goes */
	if (state->is_running && atomic_load(&owner_pid) ==
	                                 (int)bs->owner_pid) {
		turn_off(bs);
		atomic_store(&owner_pid, 0);
	}
	ppi_solaris_profil_close(bs);
	ppi_solaris_pcsample_close(bs);
}

const struct ppi_backend_ops ppi_backend_solaris = {
	.name = "solaris",
	.summary = "samples the process by pcsample or profil, without signals",
	.caps = SOLARIS_CAPS,
	.state_size = sizeof(struct solaris_state),
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
	.real_kernel = SOLARIS_REAL_KERNEL,
	.probe = solaris_probe,
	.resolve = solaris_resolve,
	.open = solaris_open,
	.start = solaris_start,
	.stop = solaris_stop,
	.drain = solaris_drain,
	.count = ppi_no_count,
	.stats = solaris_stats,
	.close = solaris_close,
};
