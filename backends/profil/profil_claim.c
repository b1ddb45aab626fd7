/* SPDX-License-Identifier: MIT */
/* The one profil() of the process: claimed if unused, and restored. */
#include "backends/profil/profil_state.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

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

void ppi_profil_drop_inherited(struct ppi_backend_session *bs)
{
	/* unless a session of the child's own has it by now */
	if (atomic_load(&owner_pid) == (int)bs->owner_pid)
		ppi_profil_give_back(bs, NULL);
}
