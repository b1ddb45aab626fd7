/* SPDX-License-Identifier: MIT */
/* Signal actions and frames of a simulated process; signal(7). */
#include "tests/sim/signals.h"

#include "base/signal_context.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static struct {
	struct sigaction actions[SIM_SIGNALS];
	struct sim_thread *current;
	int raised, death;
	void (*forward)(int signo);
} sim;

void sim_signals_reset(void)
{
	memset(&sim, 0, sizeof(sim));
}

int sim_signals_action(int signo, const struct sigaction *next,
                       struct sigaction *before)
{
	if (signo < 1 || signo >= SIM_SIGNALS) {
		errno = EINVAL;
		return -1;
	}
	if (before)
		*before = sim.actions[signo];
	if (next)
		sim.actions[signo] = *next;
	return 0;
}

size_t sim_signals_held(void)
{
	size_t count = 0;

	for (int i = 1; i < SIM_SIGNALS; i++)
		count += sim.actions[i].sa_handler != SIG_DFL;
	return count;
}

static void call_handler(const struct sigaction *action,
                         struct sim_thread *thread, siginfo_t *info)
{
	static uint64_t frame[512];
	struct sim_thread *interrupted = sim.current;

	if (!(action->sa_flags & SA_SIGINFO)) {
		action->sa_handler(info->si_signo);
		return;
	}
	sim.current = thread;
	ppi_context_set_pc(frame, thread->pc);
	errno = EDOM; /* the interrupted code's own: to be found again */
	action->sa_sigaction(info->si_signo, info, frame);
	if (errno != EDOM)
		sim.death = -1;
	sim.current = interrupted;
}

void sim_signals_deliver(struct sim_thread *thread, siginfo_t *info)
{
	struct sigaction action = sim.actions[info->si_signo];
	siginfo_t again;

	if (sim.death || action.sa_handler == SIG_IGN)
		return;
	if (action.sa_handler == SIG_DFL) {
		sim.death = info->si_signo;
		return;
	}
	call_handler(&action, thread, info);
	if (!sim.raised)
		return;
	memset(&again, 0, sizeof(again));
	again.si_signo = sim.raised;
	again.si_code = SI_USER;
	sim.raised = 0;
	sim_signals_deliver(thread, &again);
}

int sim_signals_raise(int signo)
{
	sim.raised = signo;
	return 0;
}

void sim_signals_set_forward(void (*handler)(int signo))
{
	sim.forward = handler;
}

bool sim_signals_forward(int signo)
{
	if (sim.forward)
		sim.forward(signo);
	return sim.forward != NULL;
}

struct sim_thread *sim_signals_current(void)
{
	return sim.current ? sim.current : sim_program_thread(0);
}

int sim_signals_death(void)
{
	return sim.death;
}
