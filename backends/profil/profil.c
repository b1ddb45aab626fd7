/* SPDX-License-Identifier: MIT */
/*
 * The profil backend: any profil() that counts in 16-bit bins, be it the
 * kernel's (FreeBSD, NetBSD, OpenBSD to 7.7, DragonFly) or a library's (glibc,
 * the Hurd). It tells bins, never threads or times, of one stretch of text.
 *
 *   profil_harvest.c             from the kernel's bins to records
 *   profil_kernel_real.c         the system calls
 *   profil_sysctl_kernel_real.c  the rate and state that systems report
 */
#include "config.h"

#include "backends/common/cpu_time.h"
#include "backends/profil/profil_state.h"
#include "base/fork_guard.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ---- one row an operating system ---- */

/* doc/platforms/ has the sources of each fact. */

/*
 * BSD kernels cut the byte offset of a bin to an int before they look whether
 * it is in range (PC_TO_INDEX of sys/kern/subr_prof.c), so code that is
 * 2^48/scale bytes further on counts as if it were in the region.
 */
static const struct profil_rules systems[] = {
	[PROFIL_FREEBSD] = {
		.region = { .system = "FreeBSD", .cut_bits = 32 },
		.cpu = &ppi_cpu_freebsd,
		.stay_ticks = 64, /* psratio: sys/kern/subr_trap.c, userret */
		.checks_scale = true,
		.is_fair = true,
		.rate_is_told = true,
	},
	[PROFIL_NETBSD] = {
		.region = { .system = "NetBSD", .cut_bits = 32 },
		.cpu = &ppi_cpu_netbsd,
		.checks_scale = true,
		.is_fair = true,
		.rate_is_told = true,
	},
	[PROFIL_OPENBSD] = {
		.region = { .system = "OpenBSD", .cut_bits = 32 },
		.cpu = &ppi_cpu_openbsd,
		.checks_scale = true,
		.is_fair = true,
		.rate_is_told = true,
	},
	[PROFIL_OPENBSD78] = {
		.region = { .system = "OpenBSD", .cut_bits = 32 },
		.cpu = &ppi_cpu_openbsd,
		.checks_scale = true,
		.gmon_only = true,
		.is_fair = true,
		.rate_is_told = true,
	},
	/* kern.clockrate has a profiling clock that is compiled out, and
	 * trap.c's userret adds td_sticks, which are microseconds. */
	[PROFIL_DRAGONFLY] = {
		.region = { .system = "DragonFly", .cut_bits = 32 },
		.cpu = &ppi_cpu_dragonfly,
		.stay_ticks = 1,
		.checks_scale = true,
		.is_fair = true,
		.counts_microseconds = true,
	},
	/* A second profil() puts the old handler back for a moment: a tick
	 * that arrives then kills the process. So it is never replaced. */
	[PROFIL_GLIBC] = {
		.region = { .system = "glibc" },
		.cpu = &ppi_cpu_linux,
		.takes_sigprof = true,
		.rate_is_told = true,
		.read_in_place = true,
	},
	[PROFIL_HURD] = {
		.region = { .system = "the Hurd" },
		.cpu = &ppi_cpu_other,
		.is_fair = true,
		.read_in_place = true,
	},
};

const struct profil_rules *ppi_profil_rules(enum profil_os os)
{
	return &systems[os];
}

/* ---- the one profil() of the process ---- */

/* Claimed if unused, and restored. */

/* The process whose session has profil() (LIFE-11), 0 = nobody's. A forked
 * child finds its parent's number here and takes it as nobody's. */
static _Atomic int owner_pid;

static portprof_status take_slot(const struct profil_kernel *kernel,
                                 struct ppi_diag *why)
{
	int now = atomic_load(&owner_pid);
	int own = (int)kernel->process_id(kernel->self);

	do {
		if (now == own)
			return ppi_fail(why, PORTPROF_E_BUSY, 0, "start",
			                "another session of this process uses "
			                "profil(), of which there is one: "
			                "stop that session first");
	} while (!atomic_compare_exchange_weak(&owner_pid, &now, own));
	/* inherited by fork: it is ours to stop, and counted nowhere */
	if (now)
		kernel->profil(kernel->self, NULL, 0, 0, 0);
	return PORTPROF_OK;
}

static bool is_handler(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO ||
	       (action->sa_handler != SIG_DFL &&
	        action->sa_handler != SIG_IGN);
}

static portprof_status refuse_busy(struct ppi_diag *why, const char *what)
{
	return ppi_fail(why, PORTPROF_E_BUSY, 0, "start", "the program uses %s "
	                "itself, which the backend needs: end that use first",
	                what);
}

static portprof_status fail_system(struct ppi_diag *why, const char *call)
{
	int error = errno;

	return ppi_fail(why, PORTPROF_E_SYSTEM, error, call, "%s failed: %s; "
	                "try another backend", call, strerror(error));
}

/*
 * glibc's profil() installs a handler and puts the old action back at the
 * end. While it is away the default action must not be there: a tick that is
 * on its way would end the process. Ignoring also discards pending ones.
 */
static portprof_status take_signal(struct ppi_backend_session *bs,
                                   struct ppi_diag *why)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_signal *signal = &profil_state_of(bs)->signal;
	struct sigaction before, ignore;
	struct itimerval timer;

	memset(&ignore, 0, sizeof(ignore));
	ignore.sa_handler = SIG_IGN;
	if (kernel->action(kernel->self, NULL, &before))
		return fail_system(why, "sigaction");
	if (is_handler(&before))
		return refuse_busy(why, "SIGPROF");
	if (kernel->timer(kernel->self, NULL, &timer))
		return fail_system(why, "getitimer");
	if (timer.it_value.tv_sec || timer.it_value.tv_usec)
		return refuse_busy(why, "ITIMER_PROF");
	signal->was_default = before.sa_handler == SIG_DFL;
	if (signal->was_default &&
	    kernel->action(kernel->self, &ignore, NULL))
		return fail_system(why, "sigaction");
	return PORTPROF_OK;
}

/* What must not stay behind is tried twice. */
static void set_action(const struct profil_kernel *kernel,
                       const struct sigaction *action)
{
	if (kernel->action(kernel->self, action, NULL))
		kernel->action(kernel->self, action, NULL);
}

static void give_signal_back(struct ppi_backend_session *bs)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = SIG_DFL;
	if (profil_state_of(bs)->signal.was_default)
		set_action(profil_kernel_of(bs), &action);
}

static portprof_status turn_on(struct ppi_backend_session *bs,
                               struct ppi_diag *why)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	struct ppi_pcbins *bins = &state->bins;

	if (kernel->profil(kernel->self, bins->buffer[bins->active],
	                   bins->count * sizeof(uint16_t),
	                   state->region.offset, state->region.scale))
		return fail_system(why, "profil");
	state->signal.knows_ours = state->rules->takes_sigprof &&
		kernel->action(kernel->self, NULL, &state->signal.ours) == 0;
	return PORTPROF_OK;
}

portprof_status ppi_profil_claim(struct ppi_backend_session *bs,
                                 struct ppi_diag *why)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	bool takes_sigprof = profil_state_of(bs)->rules->takes_sigprof;
	portprof_status status = take_slot(kernel, why);

	if (status)
		return status;
	if (kernel->is_profiling(kernel->self) == 1)
		status = refuse_busy(why, "profil()");
	else if (takes_sigprof)
		status = take_signal(bs, why);
	if (status)
		goto give_slot_back;
	status = turn_on(bs, why);
	if (status)
		goto give_signal;
	return PORTPROF_OK;

give_signal:
	if (takes_sigprof)
		give_signal_back(bs);
give_slot_back:
	atomic_store(&owner_pid, 0);
	return status;
}

/*
 * A handler that another thread entered before may still be about to count.
 * With a size of 0 first, it counts nothing; with the pointer taken away
 * alone, as profil(NULL) does, it would write to address 0.
 */
static void calm_handlers(struct ppi_backend_session *bs)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	struct itimerval off;

	memset(&off, 0, sizeof(off));
	kernel->timer(kernel->self, &off, NULL);
	kernel->profil(kernel->self, state->bins.buffer[state->bins.active], 0,
	               state->region.offset, state->region.scale);
	kernel->timer(kernel->self, &off, NULL);
}

portprof_status ppi_profil_give_back(struct ppi_backend_session *bs,
                                     struct ppi_diag *why)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	portprof_status status = PORTPROF_OK;
	struct sigaction now;
	bool is_replaced = false;

	if (state->rules->takes_sigprof) {
		is_replaced = state->signal.knows_ours &&
		              kernel->action(kernel->self, NULL, &now) == 0 &&
		              now.sa_handler != state->signal.ours.sa_handler;
		calm_handlers(bs);
	}
	if (kernel->profil(kernel->self, NULL, 0, 0, 0) &&
	    kernel->profil(kernel->self, NULL, 0, 0, 0))
		status = fail_system(why, "profil");
	if (is_replaced) /* the application's by now: it keeps it */
		set_action(kernel, &now);
	else if (state->rules->takes_sigprof)
		give_signal_back(bs);
	atomic_store(&owner_pid, 0);
	return status;
}

/* In a forked child: what it inherited of the parent's session. */
static void drop_inherited(struct ppi_backend_session *bs)
{
	/* unless a session of the child's own has it by now */
	if (atomic_load(&owner_pid) == (int)bs->owner_pid)
		ppi_profil_give_back(bs, NULL);
}

#ifdef PPI_BACKEND_PROFIL
#define PROFIL_REAL_KERNEL (&ppi_profil_kernel_real)
#else
#define PROFIL_REAL_KERNEL NULL
#endif

/* EXACT_PC, WHOLE_SPACE, PID_TID, TIME: never. LOST_EXACT: BSD kernels drop a
 * tick that meets another one pending, and count nothing of it. */
#define PROFIL_CAPS \
	(PORTPROF_CAP_SAMPLE | PORTPROF_CAP_PROCESS | PORTPROF_CAP_EXCLUSIVE)

/* ---- probe ---- */

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

/* A bin that has other code as well is not the reader's. */
static void find_reader(struct ppi_backend_session *bs)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	uint64_t offset = state->region.offset, bin = state->region.bin_bytes;
	struct ppi_text reader;

	kernel->reader_range(kernel->self, &reader);
	if (!state->own.is_on || reader.start < offset)
		return;
	state->own.code_first = (reader.start - offset + bin - 1) / bin;
	state->own.code_end = (reader.end - offset) / bin;
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
	find_reader(bs);
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
		/* another look would cost more than it finds */
		if (state->own.round >= PPI_ROUND_AT_WORK &&
		    state->bins.waiting == 0)
			state->own.round = PPI_ROUND_LAST;
	}
	ppi_profil_give_records(bs, room);
	return PORTPROF_OK;
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
			drop_inherited(bs);
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
	.reads_labels = false,
	.counts_alone = false,
	.real_kernel = PROFIL_REAL_KERNEL,
	.probe = profil_probe,
	.resolve = profil_resolve,
	.open = profil_open,
	.start = profil_start,
	.stop = profil_stop,
	.drain = profil_drain,
	.count = ppi_no_count,
	.stats = profil_stats,
	.close = profil_close,
};
