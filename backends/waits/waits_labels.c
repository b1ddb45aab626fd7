/* SPDX-License-Identifier: MIT */
/*
 * In which sets of labels threads wait. Each time that is told belongs to one wait, and
 * has the set that its thread was in then. Of a wait that a look met that is the set
 * that it read there: a thread that is blocked changes none. Threads count their
 * changes, so that a count that is the same before a look and after it proves that
 * the place and the set are of one moment, and one that is the same at two looks
 * that all between them is of one set. Waits that no look met have a set by that
 * alone; otherwise theirs is unknown, and never the one of the waits beside.
 */
#include "backends/waits/waits.h"

void ppi_waits_read_labels(const struct waits_watch *watch,
                           const struct waits_thread *thread, bool is_proof,
                           struct ppi_label_state *out)
{
	const struct ppi_label_reader *reader = watch->bs->labels;

	*out = (struct ppi_label_state){ 0 };
	if (reader)
		reader->read(reader->self, thread->process->pid, thread->tid,
		             is_proof, out);
}

/* Who has never been in a set was in none. */
uint32_t ppi_waits_set_between(const struct ppi_label_state *from,
                               const struct ppi_label_state *to)
{
	if (from->set != to->set || from->changes != to->changes ||
	    (from->store != to->store && to->changes))
		return PPI_LABELS_UNKNOWN;
	return to->set;
}

/* Its child runs in its memory, and changes sets there in its place: only one that was the
 * same since a look before is its own. */
bool ppi_waits_is_lent(const struct waits_place *place)
{
	return place->phase == WAITS_BLOCKED && place->call == WAITS_CALL_FORK;
}

static void share(struct waits_share shares[2], uint32_t sure, uint64_t sure_ns,
                  uint32_t rest, uint64_t ns)
{
	if (sure_ns > ns || sure == rest)
		sure_ns = ns;
	/* the first one is told also where it weighs nothing */
	if (sure_ns == 0) {
		sure = rest;
		sure_ns = ns;
	}
	shares[0] = (struct waits_share){ sure, sure_ns };
	shares[1] = (struct waits_share){ rest, ns - sure_ns };
}

/* What was pending at the last look was the wait's that was seen there, or is owed
 * to the one before. */
uint64_t ppi_waits_sure_of_before(const struct waits_thread *thread,
                                  const struct waits_arrival *by)
{
	return thread->was_blocked ? by->sure_ns : thread->labels.owed_ns;
}

void ppi_waits_share_before(const struct waits_thread *thread,
                            const struct waits_arrival *by, uint64_t ns,
                            struct waits_share shares[2])
{
	const struct waits_labels *labels = &thread->labels;
	uint64_t sure = ppi_waits_sure_of_before(thread, by);

	share(shares, thread->was_blocked ? labels->here : labels->owed,
	      by->has_others ? sure : ns, by->between, ns);
}

void ppi_waits_share_rest(const struct waits_arrival *by, uint64_t ns,
                          struct waits_share shares[2])
{
	uint64_t sure = by->here_ns == UINT64_MAX ? 0 : by->here_ns;

	share(shares, by->here, by->has_others ? sure : ns, by->between, ns);
}

static void forget(uint32_t *set)
{
	if (*set >= PPI_LABELS_FIRST)
		*set = PPI_LABELS_UNKNOWN;
}

void ppi_waits_forget_sets(struct waits_watch *watch,
                           const struct waits_process *process)
{
	const struct ppi_room *queue = &watch->queue.room;

	for (size_t i = 0; i < watch->threads.count; i++) {
		struct waits_thread *thread =
			ppi_waits_seat(watch, i)->thread;

		if (thread->process != process)
			continue;
		forget(&thread->labels.here);
		forget(&thread->labels.owed);
	}
	for (size_t i = watch->queue.next; i < queue->record_count; i++)
		if (queue->records[i].pid == process->pid &&
		    queue->records[i].label_set >= PPI_LABELS_FIRST)
			queue->records[i].label_set = PPI_LABELS_UNKNOWN;
}
