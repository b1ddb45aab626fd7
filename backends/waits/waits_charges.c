/* SPDX-License-Identifier: MIT */
/*
 * Waits where a system shows nobody the place of a wait, but charges its threads:
 * sums by state and kind, in records without a place. Solaris charges every state,
 * so that all of it is exact. On BSD it is CPU time alone; the rest is what the
 * thread did when it was looked at, which is an estimate if it ran since.
 */
#include "backends/waits/waits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

/* A look at all threads; so many more take longer. */
enum { LOOK_EVERY_MS = 20, LOOK_MORE_THREADS = 100 };

/* Unlike numbers of Linux, those of threads are a process's own. */
struct key {
	int64_t pid, tid;
};

struct charged {
	UT_hash_handle hh;
	struct key key;
	struct waits_charge last, now; /* `now` is to be told */
	uint64_t since_ns, looked_ns;
	int64_t pending_ns; /* neither running nor ready, and not told yet */
	portprof_life told;
	unsigned pass;
	/* before its sums were read, for the last time and now */
	struct ppi_label_state since, before;
	uint32_t set; /* of all the time between; or unknown */
};

struct waits_charges {
	const struct waits_charges_kernel *kernel;
	struct charged *threads, *next; /* `next` is looked at next */
	int64_t pid;  /* in the list */
	bool is_first, has_failed;
	unsigned pass;
};

/* ---- what a channel is called ---- */

/* Of wmesg and wchan in ps(1) of each system only the names of the kernels' own
 * sources are known: sys/kern of FreeBSD, NetBSD and OpenBSD. */
static const struct {
	const char *name; /* or its beginning, with a * */
	enum waits_kind kind;
} channels[] = {
	{ "nanosl*", WAITS_SLEEP }, { "nanslp", WAITS_SLEEP },
	{ "umtx*", WAITS_LOCK }, { "ucond", WAITS_CONDITION },
	{ "parked", WAITS_LOCK }, { "fsleep", WAITS_LOCK },
	{ "thrslee*", WAITS_LOCK }, { "lockf", WAITS_LOCK },
	{ "bio*", WAITS_DISK }, { "getblk", WAITS_DISK },
	{ "wdrain", WAITS_DISK }, { "vnread", WAITS_DISK },
	{ "sbwait", WAITS_NETWORK }, { "netio", WAITS_NETWORK },
	{ "net*", WAITS_NETWORK }, { "accept", WAITS_NETWORK },
	{ "connec", WAITS_NETWORK }, { "pipe*", WAITS_PIPE },
	{ "tty*", WAITS_TERMINAL }, { "wait", WAITS_CHILD },
	{ "select", WAITS_POLL }, { "poll", WAITS_POLL },
	{ "kq*", WAITS_POLL }, { "pfault", WAITS_PAGE_FAULT },
	{ "vmwait", WAITS_MEMORY },
};

static enum waits_kind kind_of(const char *channel)
{
	for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); i++) {
		const char *name = channels[i].name;
		size_t length = strcspn(name, "*");

		if (name[length] ? strncmp(channel, name, length) == 0
		                 : strcmp(channel, name) == 0)
			return channels[i].kind;
	}
	return WAITS_OTHER;
}

/* ---- a look at a thread ---- */

static void read_labels(const struct waits_watch *watch,
                        const struct charged *thread, bool is_proof,
                        struct ppi_label_state *out)
{
	struct waits_process process = { .pid = thread->key.pid };
	const struct waits_thread as = { .tid = thread->key.tid,
		                         .process = &process };

	ppi_waits_read_labels(watch, &as, is_proof, out);
}

/* Nobody sees a single wait: where a thread changed sets none is known. */
static void find_set(const struct waits_watch *watch, struct charged *thread)
{
	struct ppi_label_state now;

	read_labels(watch, thread, true, &now);
	thread->set = ppi_waits_set_between(&thread->since, &now);
	thread->since = thread->before;
}

static void tell(struct waits_watch *watch, struct charged *thread,
                 const struct waits_place *place, bool is_ready,
                 bool is_estimate, uint64_t ns)
{
	struct waits_process process = { .pid = thread->key.pid };
	struct waits_thread as = { .tid = thread->key.tid, .at = *place,
		                   .process = &process };

	if (!ns)
		return;
	if (is_ready)
		thread->told.ready_ns += ns;
	else
		thread->told.blocked_ns += ns;
	ppi_waits_tell(watch, &as, WAITS_UNSEEN, is_ready, is_estimate,
	               (struct waits_share){ thread->set, ns });
}

static void tell_kind(struct waits_watch *watch, struct charged *thread,
                      enum waits_kind kind, uint64_t now, uint64_t before)
{
	const struct waits_place place = { .is_charged = true, .kind = kind };

	/* sums of a kernel that goes back are none */
	if (now > before)
		tell(watch, thread, &place, false, false, now - before);
}

static void tell_states(struct waits_watch *watch, struct charged *thread,
                        const struct waits_charge *now)
{
	const struct waits_charge *last = &thread->last;
	const struct waits_place ready = { .is_charged = true };

	if (now->ready_ns > last->ready_ns)
		tell(watch, thread, &ready, true, false,
		     now->ready_ns - last->ready_ns);
	tell_kind(watch, thread, WAITS_LOCK, now->lock_ns, last->lock_ns);
	tell_kind(watch, thread, WAITS_PAGE_FAULT, now->fault_ns,
	          last->fault_ns);
	tell_kind(watch, thread, WAITS_STOPPED, now->stopped_ns,
	          last->stopped_ns);
	tell_kind(watch, thread, WAITS_OTHER, now->other_ns, last->other_ns);
}

/* The time that it has not run is of the state that is seen now; if it has run
 * since the last look, or was in another state, that is a guess. */
static void tell_rest(struct waits_watch *watch, struct charged *thread,
                      const struct waits_charge *now, uint64_t ran_ns)
{
	struct waits_place place = { .is_charged = true,
		                     .kind = kind_of(now->channel) };
	bool is_sure = !ran_ns && now->is_ready == thread->last.is_ready &&
	               strcmp(now->channel, thread->last.channel) == 0;
	uint64_t ns;

	thread->pending_ns += (int64_t)(watch->now_ns - thread->looked_ns) -
	                      (int64_t)ran_ns;
	if (thread->pending_ns <= 0)
		return;
	ns = (uint64_t)thread->pending_ns;
	thread->pending_ns = 0;
	if (now->channel[0])
		snprintf(place.on, sizeof(place.on), "channel %s",
		         now->channel);
	tell(watch, thread, &place, now->is_ready, !is_sure, ns);
}

static void settle(struct waits_watch *watch, struct charged *thread,
                   const struct waits_charge *now)
{
	uint64_t ran = now->running_ns > thread->last.running_ns
	                       ? now->running_ns - thread->last.running_ns : 0;

	find_set(watch, thread);
	thread->told.running_ns += ran;
	if (watch->charges->kernel->has_states)
		tell_states(watch, thread, now);
	else
		tell_rest(watch, thread, now, ran);
	thread->last = *now;
	thread->looked_ns = watch->now_ns;
}

/* ---- lives ---- */

static void add_life(const struct charged *thread, portprof_life *sum)
{
	const portprof_life *told = &thread->told;
	uint64_t known = told->running_ns + told->ready_ns + told->blocked_ns;
	uint64_t lifetime = thread->looked_ns - thread->since_ns;

	/* clocks of the kernel differ by what lies between two reads */
	if (lifetime < known)
		lifetime = known;
	sum->threads++;
	sum->lifetime_ns += lifetime;
	sum->running_ns += told->running_ns;
	sum->ready_ns += told->ready_ns;
	sum->blocked_ns += told->blocked_ns;
	sum->unknown_ns += lifetime - known;
}

static void sum_up(struct waits_watch *watch)
{
	portprof_life sum = watch->ended;
	struct charged *thread, *next;

	HASH_ITER(hh, watch->charges->threads, thread, next)
		add_life(thread, &sum);
	watch->bs->life = sum;
}

/* ---- a pass ---- */

static struct charged *find(struct waits_charges *charges, int64_t pid,
                            int64_t tid)
{
	struct key key = { pid, tid };
	struct charged *thread;

	HASH_FIND(hh, charges->threads, &key, sizeof(key), thread);
	return thread;
}

/* What it was charged before is nobody's; of a thread that began since all is its
 * own, and it lived at least for that. */
static struct charged *meet(struct waits_watch *watch, int64_t pid,
                            const struct waits_charge *charge)
{
	struct waits_charges *charges = watch->charges;
	struct charged *thread = calloc(1, sizeof(*thread));
	uint64_t known = charge->running_ns + charge->ready_ns +
	                 charge->lock_ns + charge->fault_ns +
	                 charge->stopped_ns + charge->other_ns;

	if (!thread)
		return NULL;
	thread->key = (struct key){ pid, charge->tid };
	thread->since_ns = thread->looked_ns = watch->now_ns;
	if (charges->is_first) {
		thread->last = *charge;
	} else {
		uint64_t most = watch->now_ns - watch->times.scanned_ns;

		thread->since_ns -= known < most ? known : most;
		thread->looked_ns = thread->since_ns;
		/* BSD's own clock may be ahead */
		if (charge->running_ns > most)
			thread->last.running_ns = charge->running_ns - most;
	}
	HASH_ADD(hh, charges->threads, key, sizeof(thread->key), thread);
	return thread;
}

static bool take(void *context, const struct waits_charge *charge)
{
	struct waits_watch *watch = context;
	struct waits_charges *charges = watch->charges;
	const struct ppi_target *target = &watch->bs->plan->target;
	struct charged *thread = find(charges, charges->pid, charge->tid);

	if ((target->is_self && charge->tid == watch->bs->helper_tid) ||
	    (target->kind == PPI_TARGET_TID && charge->tid != target->tid))
		return true;
	if (!thread)
		thread = meet(watch, charges->pid, charge);
	charges->has_failed |= !thread;
	if (!thread)
		return false;
	thread->pass = charges->pass;
	thread->now = *charge;
	return true;
}

static void list(struct waits_watch *watch, int64_t pid)
{
	struct waits_charges *charges = watch->charges;

	charges->pid = pid;
	if (charges->kernel->list(charges->kernel->self, pid, take, watch))
		charges->has_failed = true;
}

static void begin_pass(struct waits_watch *watch)
{
	struct waits_charges *charges = watch->charges;
	const struct ppi_target *target = &watch->bs->plan->target;
	struct charged *thread, *next;

	charges->pass++;
	charges->has_failed = false;
	HASH_ITER(hh, charges->threads, thread, next)
		read_labels(watch, thread, false, &thread->before);
	list(watch, target->pid);
	for (size_t i = 0; i < target->other_count; i++)
		list(watch, target->others[i]);
	/* until then nobody knows what was before */
	charges->is_first &= charges->has_failed;
	charges->next = charges->threads;
	watch->is_passing = true;
}

static void bury(struct waits_watch *watch, struct charged *thread)
{
	add_life(thread, &watch->ended);
	HASH_DELETE(hh, watch->charges->threads, thread);
	free(thread);
}

static void bury_all(struct waits_watch *watch)
{
	struct charged *thread, *next;

	HASH_ITER(hh, watch->charges->threads, thread, next)
		bury(watch, thread);
}

/* Who is not listed any more is gone, unless the list could not be read; what it
 * did since the last look is not known. */
static void look(struct waits_watch *watch, struct charged *thread)
{
	if (thread->pass == watch->charges->pass)
		settle(watch, thread, &thread->now);
	else if (!watch->charges->has_failed)
		bury(watch, thread);
}

static void end_pass(struct waits_watch *watch)
{
	struct waits_charges *charges = watch->charges;
	unsigned more = HASH_COUNT(charges->threads) / LOOK_MORE_THREADS;

	if (!charges->has_failed)
		watch->times.scanned_ns = watch->now_ns;
	watch->times.next_ns =
		watch->now_ns + LOOK_EVERY_MS * MS * (1 + more);
	watch->is_passing = false;
	if (watch->is_last) {
		bury_all(watch);
		watch->is_running = watch->is_last = false;
	}
	sum_up(watch);
}

static void restart(struct waits_watch *watch)
{
	struct charged *thread, *next;

	watch->resets = watch->bs->resets;
	memset(&watch->ended, 0, sizeof(watch->ended));
	HASH_ITER(hh, watch->charges->threads, thread, next) {
		memset(&thread->told, 0, sizeof(thread->told));
		thread->since_ns = thread->looked_ns;
	}
}

bool ppi_waits_charges_drain(struct waits_watch *watch, struct ppi_room *room)
{
	struct waits_charges *charges = watch->charges;

	if (!watch->is_running)
		return true;
	if (watch->resets != watch->bs->resets)
		restart(watch);
	if (!watch->is_passing) {
		uint64_t now = charges->kernel->now_ns(charges->kernel->self);

		if (now < watch->times.next_ns && !watch->is_last)
			return true;
		watch->now_ns = now;
		begin_pass(watch);
	}
	while (ppi_waits_pass_on(watch, room)) {
		while (charges->next && ppi_waits_has_room(watch)) {
			struct charged *thread = charges->next;

			charges->next = thread->hh.next;
			look(watch, thread);
		}
		if (!charges->next && !watch->queue.room.record_count) {
			end_pass(watch);
			return true;
		}
	}
	return false;
}

/* ---- its life ---- */

unsigned ppi_waits_charges_nap_ms(const struct waits_watch *watch)
{
	const struct waits_charges_kernel *kernel = watch->charges->kernel;
	uint64_t now = kernel->now_ns(kernel->self);

	if (!watch->is_running || watch->times.next_ns <= now)
		return 1;
	return (unsigned)((watch->times.next_ns - now) / MS) + 1;
}

static bool take_any(void *context, const struct waits_charge *charge)
{
	*(bool *)context = charge->tid != 0;
	return false;
}

portprof_status ppi_waits_charges_open(struct waits_watch *watch,
                                       const struct waits_charges_kernel *kernel,
                                       struct ppi_diag *why)
{
	int64_t pid = watch->bs->plan->target.pid;
	bool is_any = false;
	int got = kernel->list(kernel->self, pid, take_any, &is_any);
	portprof_status status;

	if (got || !is_any)
		return ppi_fail(why, got == -ESRCH ? PORTPROF_E_INVALID
		                                   : PORTPROF_E_UNSUPPORTED,
		                got < 0 ? -got : 0, "open waits",
		                "the system does not say what it charged the "
		                "threads of process %lld: it is gone, or of "
		                "somebody else", (long long)pid);
	watch->charges = calloc(1, sizeof(*watch->charges));
	if (!watch->charges)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open waits",
		                "out of memory");
	watch->charges->kernel = kernel;
	status = ppi_waits_queue_open(watch, why);
	if (status) {
		free(watch->charges);
		watch->charges = NULL;
		return status;
	}
	ppi_note(watch->bs, "waits: this system says for how long threads "
	         "waited%s, not where", kernel->has_states
	         ? ", by kind" : " and on which channel when they are looked at");
	if (watch->bs->plan->follow_children)
		ppi_note(watch->bs, PORTPROF_NOTE_MISSED "waits of processes "
		         "that the target starts: here each is to be named");
	return PORTPROF_OK;
}

void ppi_waits_charges_start(struct waits_watch *watch)
{
	struct waits_charges *charges = watch->charges;

	watch->now_ns = charges->kernel->now_ns(charges->kernel->self);
	watch->times.started_ns = watch->times.scanned_ns = watch->now_ns;
	watch->is_running = true;
	watch->is_last = false;
	charges->is_first = true;
	begin_pass(watch);
	/* of threads that are known the sets are read before the sums */
	begin_pass(watch);
}

void ppi_waits_charges_stop(struct waits_watch *watch)
{
	if (!watch->is_running || watch->is_last)
		return;
	/* who was not looked at in this pass is in the last one */
	watch->is_passing = false;
	watch->is_last = true;
}

void ppi_waits_charges_close(struct waits_watch *watch)
{
	bury_all(watch);
	free(watch->charges);
	watch->charges = NULL;
	ppi_waits_queue_close(watch);
}
