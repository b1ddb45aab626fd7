/* SPDX-License-Identifier: MIT */
/*
 * What a look at a thread found is laid on its waits: how much of the time since the
 * last look each of those has that the two looks met, and whether that was seen or is
 * an estimate.
 */
#include "backends/waits/waits.h"

/* A thread that waits on is recorded so often, of many more rarely. */
#define TELL_EVERY_NS UINT64_C(1000000000)

static void take_sums(struct waits_watch *watch, struct waits_thread *thread,
                      const struct waits_sums *sums)
{
	const struct waits_sums *last = &thread->last;

	thread->pending_ns += (int64_t)(watch->now_ns - thread->looked_ns) -
	                      (int64_t)(sums->running_ns - last->running_ns) -
	                      (int64_t)(sums->ready_ns - last->ready_ns);
	thread->looked_ns = watch->now_ns;
	thread->last = *sums;
}

static uint64_t take_pending(struct waits_thread *thread)
{
	uint64_t taken = thread->pending_ns > 0
	                         ? (uint64_t)thread->pending_ns : 0;

	if (taken)
		thread->pending_ns = 0;
	thread->owed_ns = 0;
	return taken;
}

static void tell_blocked(struct waits_watch *watch,
                         struct waits_thread *thread, enum waits_part part,
                         bool is_estimate, struct waits_share share)
{
	thread->told_ns += share.ns;
	ppi_waits_tell(watch, thread, part, false, is_estimate, share);
}

/* So much of both shares, from the first one on, is surely this wait's, and the rest
 * an estimate. All of it is in the same place. */
static void tell_shares(struct waits_watch *watch, struct waits_thread *thread,
                        enum waits_part part, uint64_t sure_ns,
                        const struct waits_share shares[2])
{
	for (int i = 0; i < 2; i++) {
		struct waits_share sure = shares[i], rest = shares[i];

		if (sure.ns > sure_ns)
			sure.ns = sure_ns;
		sure_ns -= sure.ns;
		rest.ns -= sure.ns;
		if (sure.ns || (i == 0 && !rest.ns)) {
			tell_blocked(watch, thread, part, false, sure);
			part = part == WAITS_HERE ? WAITS_STILL : part;
		}
		if (rest.ns) {
			tell_blocked(watch, thread, part, true, rest);
			part = part == WAITS_HERE ? WAITS_STILL : part;
		}
	}
}

/* What it waited for a CPU: after the wait that was seen, or else it was taken
 * from it where its last sample was. */
static void tell_ready(struct waits_watch *watch,
                       struct waits_thread *thread, struct waits_share share)
{
	if (share.ns)
		ppi_waits_tell(watch, thread,
		               thread->was_blocked ? WAITS_STILL : WAITS_RAN,
		               true, false, share);
}

/* Whether other waits are known to lie between the one that was seen and this one, or
 * before looks that found the thread running since. */
static bool others_are_known(const struct waits_thread *thread,
                             const struct waits_arrival *by)
{
	return thread->labels.has_others || by->waits > 1;
}

/* Until it is known who ends the wait. */
static void hold_back(struct waits_thread *thread, struct waits_share *share)
{
	thread->pending_ns += (int64_t)share->ns;
	share->ns = 0;
}

/*
 * It is blocked. If it was so at the last look, too, and nobody knows since when it
 * is here, the first half of what nobody saw is that wait's and the rest this
 * one's. Where there were others between, that one stands for them, or both.
 */
static void settle_blocked(struct waits_watch *watch,
                           struct waits_thread *thread,
                           struct waits_place *place,
                           const struct waits_arrival *by)
{
	bool is_known = by->here_ns != UINT64_MAX;
	bool is_estimate = others_are_known(thread, by);
	bool is_same = ppi_waits_is_same(watch, thread, place, by->waits > 0) &&
	               thread->labels.here == by->here;
	uint64_t sure = ppi_waits_sure_of_before(thread, by);
	uint64_t before = thread->owed_ns, all = take_pending(thread);
	struct waits_share earlier[2], rest[2];
	bool is_held;

	if (is_known && (thread->was_blocked || before))
		before = all > by->here_ns ? all - by->here_ns : 0;
	else if (thread->was_blocked)
		before = all > sure ? sure + (all - sure) / 2 : all;
	if (before > all)
		before = all;
	ppi_waits_share_before(thread, by, before, earlier);
	ppi_waits_share_rest(by, all - before, rest);
	is_held = watch->wakers.read && place->is_known && !is_estimate &&
	          !rest[1].ns;
	thread->labels.here = by->here;
	thread->labels.asked = 0;
	if (before)
		tell_shares(watch, thread, WAITS_STILL,
		            is_estimate ? sure : before, earlier);
	sure = is_estimate && !is_known ? 0 : all - before;
	thread->at.waker[0] = '\0'; /* this one is not over */
	if (is_held)
		hold_back(thread, &rest[0]);
	if (is_same) {
		tell_shares(watch, thread, WAITS_STILL, sure, rest);
		return;
	}
	ppi_waits_name(watch, thread, place);
	thread->at = *place;
	thread->has_chain = false;
	thread->end.is_uncounted = is_held;
	tell_shares(watch, thread, place->is_known ? WAITS_HERE : WAITS_UNSEEN,
	            sure, rest);
	if (place->held_by)
		ppi_waits_tell_holder(watch, thread);
}

/*
 * It is on a CPU or waits for one. CPU time of this turn is charged at the tick,
 * and what it waits for a CPU when it has one: what is pending now is at most the
 * wait's that is over, and each look from now on may find less.
 */
static void settle_runnable(struct waits_thread *thread,
                            const struct waits_arrival *by)
{
	struct waits_labels *labels = &thread->labels;
	uint64_t owed = thread->pending_ns > 0
	                        ? (uint64_t)thread->pending_ns : 0;

	if (thread->was_blocked) {
		labels->owed = labels->here;
		labels->owed_ns = by->waits ? by->sure_ns : owed;
	}
	if (thread->was_blocked || owed < thread->owed_ns)
		thread->owed_ns = owed;
	labels->has_others |= by->waits > 0;
}

/* To the place where it was. */
static void tell_before(struct waits_watch *watch, struct waits_thread *thread,
                        const struct waits_arrival *by, uint64_t ns)
{
	struct waits_share shares[2];

	ppi_waits_share_before(thread, by, ns, shares);
	if (ns)
		tell_shares(watch, thread, WAITS_STILL,
		            others_are_known(thread, by)
		                    ? ppi_waits_sure_of_before(thread, by) : ns,
		            shares);
}

/* The measurement ends while it runs. */
static void settle_last(struct waits_watch *watch,
                        struct waits_thread *thread,
                        const struct waits_arrival *by)
{
	uint64_t owed = thread->owed_ns, all = take_pending(thread);

	if (owed > all)
		owed = all;
	tell_before(watch, thread, by, owed);
	if (!thread->has_ended && all - owed <= 2 * watch->kernel->tick_ns)
		thread->excess_ns += all - owed;
}

/* It is gone. Until the last look it waited where it was seen. */
void ppi_waits_end_unseen(struct waits_watch *watch, struct waits_thread *thread)
{
	uint64_t owed = thread->owed_ns, all = take_pending(thread);

	ppi_waits_name_waker(watch, thread);
	if (thread->was_blocked || owed > all)
		owed = all;
	tell_before(watch, thread, &(struct waits_arrival){
		.sure_ns = all, .has_others = thread->labels.has_others,
		.between = ppi_waits_set_between(&thread->labels.since,
	                                         &thread->labels.looked) },
	            owed);
	thread->has_ended = true;
}

/* It has not moved: what it waits is the same wait. */
void ppi_waits_go_on(struct waits_watch *watch, struct waits_thread *thread,
                     const struct waits_sums *sums)
{
	uint64_t least = TELL_EVERY_NS *
	                 (1 + watch->threads.count / WAITS_MANY_THREADS);

	take_sums(watch, thread, sums);
	ppi_waits_name_again(watch, thread);
	/* who ends it belongs to all of it */
	if (watch->is_last || (!watch->wakers.read &&
	                       thread->pending_ns > (int64_t)least))
		tell_blocked(watch, thread, WAITS_STILL, false,
		             (struct waits_share){ thread->labels.here,
		                                   take_pending(thread) });
}

/* One turn on a CPU between two waits: it waited for that after the first one, and in the
 * same set. */
static uint32_t set_of_ready(const struct waits_thread *thread,
                             const struct waits_glance *seen)
{
	return thread->was_blocked && seen->place.phase == WAITS_BLOCKED &&
	       seen->sums.turns == thread->last.turns + 1 &&
	       seen->switches.waits == thread->waits + 1
		? thread->labels.here
		: ppi_waits_set_between(&thread->labels.looked, &seen->after);
}

/* Who has run waits once more, where no other wait lies between. */
static struct waits_arrival arrival_of(const struct waits_thread *thread,
                                       const struct waits_glance *seen,
                                       uint64_t sure_ns)
{
	const struct waits_labels *labels = &thread->labels;
	uint64_t waits = seen->switches.waits - thread->waits;
	uint32_t between = ppi_waits_set_between(&labels->since, &seen->after);

	return (struct waits_arrival){
		.waits = waits,
		.sure_ns = sure_ns,
		.here_ns = seen->here_ns,
		.has_others = labels->has_others ||
		              (seen->is_new ? waits != 1 : waits > 1),
		.here = ppi_waits_is_lent(&seen->place)
			? between
			: ppi_waits_set_between(&seen->before, &seen->after),
		.between = between,
	};
}

void ppi_waits_settle(struct waits_watch *watch, struct waits_thread *thread,
                      struct waits_glance *seen)
{
	struct waits_labels *labels = &thread->labels;
	uint64_t sure = thread->pending_ns > 0
	                        ? (uint64_t)thread->pending_ns : 0;
	const struct waits_share ready = {
		set_of_ready(thread, seen),
		seen->sums.ready_ns - thread->last.ready_ns
	};
	const struct waits_arrival by = arrival_of(thread, seen, sure);

	ppi_waits_name_waker(watch, thread);
	take_sums(watch, thread, &seen->sums);
	tell_ready(watch, thread, ready);
	if (seen->is_new)
		thread->changed_ns = watch->now_ns;
	labels->looked = seen->before;
	if (seen->place.phase == WAITS_BLOCKED) {
		thread->end.met_ns = watch->now_ns;
		settle_blocked(watch, thread, &seen->place, &by);
		labels->since = seen->before;
		labels->has_others = false;
	} else if (seen->place.phase == WAITS_RUNNABLE) {
		settle_runnable(thread, &by);
	} else if (thread->was_blocked) { /* until the last look it was */
		thread->owed_ns = labels->owed_ns = sure;
		labels->owed = labels->here;
	}
	thread->waits = seen->switches.waits;
	thread->was_blocked = seen->place.phase == WAITS_BLOCKED;
	if (seen->place.phase == WAITS_OVER)
		thread->has_ended = true;
	if (watch->is_last || thread->has_ended)
		settle_last(watch, thread, &by);
	if (thread->has_ended)
		thread->at.phase = WAITS_OVER;
}
