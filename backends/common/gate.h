/* SPDX-License-Identifier: MIT */
/*
 * The gate between a signal handler and the session it serves: a session can
 * wait until no handler is inside any more, and then free its memory. The
 * handler never waits.
 */
#ifndef PPI_GATE_H
#define PPI_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One a signal, with static storage: a handler that was delivered just before
 * it was taken down can still come by. */
struct ppi_gate {
	_Atomic(void *) guest;    /* the session, NULL = none */
	_Atomic unsigned inside;  /* handlers between enter and leave */
	_Atomic long pid;         /* the process the guest belongs to */
};

/* In the handler. The count goes up before the guest is read, so a thread that has
 * taken the guest away and then reads 0 knows that no handler holds it. */
static inline void *ppi_gate_enter(struct ppi_gate *gate)
{
	atomic_fetch_add(&gate->inside, 1);
	return atomic_load(&gate->guest);
}

static inline void ppi_gate_leave(struct ppi_gate *gate)
{
	atomic_fetch_sub(&gate->inside, 1);
}

/*
 * Claim the gate for a session; false when another one of this process has it.
 * A thread that was inside while another forked does not exist in the child,
 * and neither does the parent's session: there everything begins again. Takers
 * come one after the other: sessions are opened in the helper thread.
 */
static inline bool ppi_gate_take(struct ppi_gate *gate, void *guest,
                                 int64_t pid)
{
	long before = atomic_load(&gate->pid);
	void *nobody = NULL;

	if (before != (long)pid &&
	    atomic_compare_exchange_strong(&gate->pid, &before, (long)pid)) {
		atomic_store(&gate->inside, 0);
		atomic_store(&gate->guest, NULL);
	}
	return atomic_compare_exchange_strong(&gate->guest, &nobody, guest);
}

/* In a forked child whose copy of the guest continues: the handlers that were inside
 * are threads of the parent's. */
static inline void ppi_gate_inherit(struct ppi_gate *gate, int64_t pid)
{
	atomic_store(&gate->inside, 0);
	atomic_store(&gate->pid, (long)pid);
}

static inline void ppi_gate_clear(struct ppi_gate *gate)
{
	atomic_store(&gate->guest, NULL);
}

static inline bool ppi_gate_is_quiet(struct ppi_gate *gate)
{
	return atomic_load(&gate->inside) == 0;
}

#endif
