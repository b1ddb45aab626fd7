/* SPDX-License-Identifier: MIT */
/* The store of labels of this process: making it, changing sets, what a signal
 * handler reads. base/label_look.c reads those of other processes. */
#include "config.h"

#include "base/label_store.h"

#include "base/clock_ns.h"
#include "base/environment.h"
#include "base/fork_guard.h"
#include "base/label_post.h"
#include "base/memory.h"
#include "base/otel_publish.h"
#include "base/thread.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

enum { AGE_NS = 2000000000 /* of a slot that is used again */ };

static struct {
	pthread_mutex_t lock; /* making it */
	_Atomic(struct ppi_label_store *) store; /* handlers', once made */
	_Atomic(struct ppi_label_store *) made;  /* threads write to it */
	struct ppi_fork_guard guard;
	pthread_key_t key;
	bool has_key;
	unsigned times; /* sessions of this process that want them */
} own = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Where no page is emptied in a child, the handler of a fork makes it known. */
static const volatile unsigned char always = 1;
/* Until a thread's slot is shown. */
static const volatile unsigned char never;

#define mine ppi_label_mine

struct ppi_label_store *ppi_label_store_own(void)
{
	return atomic_load_explicit(&own.store, memory_order_acquire);
}

void ppi_label_store_adopt(struct ppi_label_store *store)
{
	struct ppi_label_store *none = NULL;

	atomic_compare_exchange_strong(&own.store, &none, store);
}

/* What a parent's store says of sets is true in its child's. */
static void inherit_sets(struct ppi_label_store *store,
                         const struct ppi_label_store *from)
{
	uint32_t count = atomic_load(&from->set_count);
	uint32_t used = atomic_load(&from->text_used);

	if (count > PPI_LABEL_SETS)
		count = PPI_LABEL_SETS;
	if (used > PPI_LABEL_TEXT_BYTES)
		used = PPI_LABEL_TEXT_BYTES;
	for (uint32_t i = PPI_LABELS_FIRST; i < count; i++)
		atomic_store(&store->texts[i], atomic_load(&from->texts[i]));
	memcpy(store->text, from->text, used);
	atomic_store(&store->set_count, count);
	atomic_store(&store->text_used, used);
	store->inherited = count;
	atomic_store(&store->context, atomic_load(&from->context));
}

/* A store that a recorder has may be of the program before the last exec, of the same
 * number: each has other random bytes. */
static void name_program(struct ppi_label_store *store)
{
#ifdef __linux__
	const void *bytes = (const void *)getauxval(AT_RANDOM);

	if (bytes)
		memcpy(store->program, bytes, sizeof(store->program));
#else
	(void)store;
#endif
}

static struct ppi_label_store *new_store(const struct ppi_label_store *from,
                                         bool is_timed)
{
	uint64_t bytes;
	struct ppi_label_store *store = ppi_label_memory_map(&bytes);
	int fd;

	if (!store)
		return NULL;
	store->bytes = bytes;
	store->pid = getpid();
	store->created_ns = ppi_monotonic_ns();
	atomic_store(&store->set_count, PPI_LABELS_FIRST);
	atomic_store(&store->text_used, 8);
	atomic_store(&store->rings_used, ppi_label_memory_head());
	name_program(store);
	if (from)
		inherit_sets(store, from);
	if (is_timed) {
		atomic_store(&store->timed_from, store->created_ns);
		atomic_store(&store->watchers, 1);
	}
	atomic_store_explicit(&store->magic, PPI_LABELS_MAGIC,
	                      memory_order_release);
	fd = ppi_label_memory_fd();
	if (fd >= 0) {
		ppi_label_post(fd);
		ppi_label_memory_announce(fd);
	}
	return store;
}

/* ---- threads ---- */

static void end_thread(void *slot_of_mine);

static void take_key(void)
{
	if (!own.has_key)
		own.has_key = pthread_key_create(&own.key, end_thread) == 0;
}

/* A slot of a thread that ended long ago, a new one, or that of the thread that
 * ended first. */
static int try_slot(struct ppi_label_store *store, uint32_t at, int32_t before,
                    int32_t tid)
{
	return atomic_compare_exchange_strong(&store->tids[at], &before, tid)
		? (int)at : -1;
}

/* A slot of its own number is of a thread that ended unseen (by a bare system call, or
 * where no key was left); or a handler came, and it is this thread's by now. */
static bool take_over(struct ppi_label_thread *slot, uint64_t now_ns)
{
	uint64_t not_ended = 0;

	if (slot == mine.slot || !ppi_label_is_shown(slot) ||
	    !atomic_compare_exchange_strong(&slot->ended_ns, &not_ended,
	                                    now_ns))
		return false;
	if (slot != mine.slot)
		return true;
	atomic_store(&slot->ended_ns, 0);
	return false;
}

static int find_slot(struct ppi_label_store *store, int32_t tid,
                     uint64_t now_ns)
{
	uint32_t count = atomic_load(&store->thread_count), oldest = 0;
	uint64_t oldest_ns = UINT64_MAX;
	int at = -1;

	for (uint32_t i = 0; i < count && i < PPI_LABEL_THREADS; i++) {
		uint64_t ended = atomic_load(&store->threads[i].ended_ns);

		if (atomic_load(&store->tids[i]) == tid &&
		    take_over(&store->threads[i], now_ns))
			return (int)i;
		if (atomic_load(&store->tids[i]) < 0 && ended &&
		    ended < oldest_ns) {
			oldest_ns = ended;
			oldest = i;
		}
	}
	if (oldest_ns != UINT64_MAX && now_ns - oldest_ns > AGE_NS)
		at = try_slot(store, oldest, atomic_load(&store->tids[oldest]),
		              tid);
	if (at < 0 && count < PPI_LABEL_THREADS) {
		count = atomic_fetch_add(&store->thread_count, 1);
		if (count < PPI_LABEL_THREADS)
			return try_slot(store, count, 0, tid);
		atomic_store(&store->thread_count, PPI_LABEL_THREADS);
	}
	if (at < 0 && oldest_ns != UINT64_MAX)
		at = try_slot(store, oldest, atomic_load(&store->tids[oldest]),
		              tid);
	if (at >= 0 && atomic_load(&store->forgotten_ns) < oldest_ns)
		atomic_store(&store->forgotten_ns, oldest_ns);
	return at;
}

/*
 * A handler of a signal may come anywhere in this and be in a set itself: it takes
 * a slot of its own then, which becomes the thread's. Readers look past a slot that is
 * not shown.
 */
static void begin_thread(struct ppi_label_store *store)
{
	int at = find_slot(store, (int32_t)ppi_thread_id(),
	                   ppi_monotonic_ns());
	struct ppi_label_thread *slot, *none = NULL;

	if (at < 0) {
		atomic_store(&store->is_crowded, 1);
		return;
	}
	slot = &store->threads[at];
	ppi_label_put(slot, PPI_LABELS_NONE);
	atomic_store(&slot->timed_from, 0);
	atomic_store(&slot->head, 0);
	atomic_store(&slot->first, 0);
	if (!mine.slot) {
		mine.store = store;
		mine.is_here = &never;
	}
	if (!atomic_compare_exchange_strong(&mine.slot, &none, slot)) {
		atomic_store(&slot->ended_ns, 1);
		atomic_store(&store->tids[at], -atomic_load(&store->tids[at]));
		return;
	}
	if (own.has_key)
		pthread_setspecific(own.key, slot);
}

/* From here on readers find the calling thread. Done again by a handler in the middle
 * of it, it is the same. */
static void show_thread(void)
{
	struct ppi_label_thread *slot = mine.slot;
	uint64_t now_ns = ppi_monotonic_ns();

	if (!ppi_label_is_shown(slot)) {
		atomic_store(&slot->began_ns, now_ns);
		atomic_store(&slot->ended_ns, 0);
	}
	mine.is_here = own.guard.page ? own.guard.page : &always;
}

static void end_thread(void *of_mine)
{
	struct ppi_label_thread *slot = of_mine;
	struct ppi_label_store *store = mine.store;
	size_t at;

	if (!store || mine.slot != slot || ppi_is_forked(&own.guard))
		return;
	at = (size_t)(slot - store->threads);
	atomic_store(&slot->ended_ns, ppi_monotonic_ns());
	atomic_store(&store->tids[at], -atomic_load(&store->tids[at]));
	if (mine.ring)
		munmap(mine.ring, mine.ring_bytes);
	mine.ring = NULL;
	mine.slot = NULL;
	mine.store = NULL;
}

/* ---- making it ---- */

/* The only thread of a child is in its parent's set. */
static void renew_in_child(void)
{
	struct ppi_label_store *before = atomic_load(&own.made), *store;
	uint32_t current = PPI_LABELS_NONE;
	int fd;

	if (!before || !ppi_is_forked(&own.guard))
		return;
	if (mine.slot && mine.store == before)
		current = atomic_load(&mine.slot->current);
	fd = ppi_label_memory_fd();
	if (fd >= 0)
		close(fd);
	store = new_store(before, atomic_load(&before->timed_from) != 0);
	mine.slot = NULL;
	mine.store = NULL;
	mine.ring = NULL; /* the parent's, left mapped */
	ppi_fork_guard_init(&own.guard);
	atomic_store(&own.made, store);
	atomic_store(&own.store, store);
	ppi_otel_renew();
	if (store && current)
		ppi_label_change(current, NULL);
}

static void lock_own(void)
{
	pthread_mutex_lock(&own.lock);
}

static void unlock_own(void)
{
	pthread_mutex_unlock(&own.lock);
}

static void fork_in_child(void)
{
	pthread_mutex_unlock(&own.lock);
	renew_in_child();
}

bool ppi_label_store_make(void)
{
	static bool is_set_up;
	struct ppi_label_store *store;
	bool is_asked;

	if (atomic_load(&own.made))
		return true;
	pthread_mutex_lock(&own.lock);
	store = atomic_load(&own.made);
	if (!store) {
		take_key();
		if (!is_set_up)
			pthread_atfork(lock_own, unlock_own, fork_in_child);
		is_set_up = true;
		ppi_fork_guard_init(&own.guard);
		is_asked = ppi_environment(PPI_LABELS_TIMES) != NULL;
		store = new_store(NULL, own.times || is_asked);
		/* the end of a session of this process is not the recorder's */
		if (store && own.times && is_asked)
			ppi_label_store_watch(store);
		atomic_store(&own.made, store);
		atomic_store(&own.store, store);
	}
	pthread_mutex_unlock(&own.lock);
	return store != NULL;
}

/* ---- sets ---- */

uint32_t ppi_label_store_add(const char *text, size_t bytes)
{
	struct ppi_label_store *store = atomic_load(&own.made);
	uint32_t number, at, length = (uint32_t)bytes;
	uint32_t whole = (uint32_t)(sizeof(length) + bytes + 3) & ~UINT32_C(3);

	if (!store || bytes > PPI_LABEL_SET_BYTES ||
	    atomic_load(&store->set_count) >= PPI_LABEL_SETS ||
	    atomic_load(&store->text_used) > PPI_LABEL_TEXT_BYTES - 2 * whole)
		return PPI_LABELS_OTHER;
	number = atomic_fetch_add(&store->set_count, 1);
	at = atomic_fetch_add(&store->text_used, whole);
	if (number >= PPI_LABEL_SETS || at > PPI_LABEL_TEXT_BYTES - whole) {
		if (number >= PPI_LABEL_SETS)
			atomic_store(&store->set_count, PPI_LABEL_SETS);
		return PPI_LABELS_OTHER;
	}
	memcpy(store->text + at, &length, sizeof(length));
	memcpy(store->text + at + sizeof(length), text, bytes);
	atomic_store_explicit(&store->texts[number], at, memory_order_release);
	return number;
}

/* Another process writes it: nothing is believed further than it goes. */
const char *ppi_label_store_text(const struct ppi_label_store *store,
                                 uint32_t number, size_t *bytes)
{
	uint32_t at, length;

	if (number < PPI_LABELS_FIRST || number >= PPI_LABEL_SETS)
		return NULL;
	at = atomic_load_explicit(&store->texts[number], memory_order_acquire);
	if (at == 0 || at > PPI_LABEL_TEXT_BYTES - sizeof(length))
		return NULL;
	memcpy(&length, store->text + at, sizeof(length));
	at += (uint32_t)sizeof(length);
	if (length > PPI_LABEL_SET_BYTES || length > PPI_LABEL_TEXT_BYTES - at)
		return NULL;
	*bytes = length;
	return store->text + at;
}

/* ---- changes ---- */

/* The first of a thread, and of a forked child by a bare system call. */
static bool be_known(void)
{
	struct ppi_label_store *store;

	if (own.guard.owner && ppi_is_forked(&own.guard))
		renew_in_child();
	store = atomic_load(&own.made);
	if (store && !mine.slot)
		begin_thread(store);
	return store && mine.slot;
}

const void *ppi_label_change_slowly(uint32_t number, const void *answer)
{
	int kept_errno = errno;
	uint64_t from;

	if ((mine.slot && !ppi_is_forked(&own.guard)) || be_known()) {
		if (!*mine.is_here)
			show_thread();
		from = atomic_load_explicit(&mine.store->timed_from,
		                            memory_order_relaxed);
		if (from)
			ppi_label_change_timed(mine.store, from, number);
		else
			ppi_label_put(mine.slot, number);
	}
	errno = kept_errno;
	return answer;
}

/* ---- readers of this process ---- */

uint32_t ppi_label_now(int64_t tid)
{
	struct ppi_label_store *store = ppi_label_store_own();
	uint32_t count;

	if (!store)
		return PPI_LABELS_NONE;
	count = atomic_load_explicit(&store->thread_count,
	                             memory_order_acquire);
	for (uint32_t i = 0; i < count && i < PPI_LABEL_THREADS; i++)
		if (atomic_load_explicit(&store->tids[i],
		                         memory_order_relaxed) == tid &&
		    ppi_label_is_shown(&store->threads[i]))
			return atomic_load_explicit(&store->threads[i].current,
			                            memory_order_relaxed);
	return atomic_load(&store->is_crowded) ? PPI_LABELS_UNKNOWN
	                                       : PPI_LABELS_NONE;
}

uint32_t ppi_label_of_heir(uint32_t number)
{
	const struct ppi_label_store *store = ppi_label_store_own();

	return store && number >= PPI_LABELS_FIRST && number >= store->inherited
		? PPI_LABELS_UNKNOWN : number;
}

void ppi_label_store_watch(struct ppi_label_store *store)
{
	/* a thread that has just asked changes without a time: then no sample
	 * of it lies between */
	enum { SLACK_NS = 20000 };

	if (atomic_fetch_add(&store->watchers, 1) == 0)
		atomic_store(&store->timed_from, ppi_monotonic_ns() + SLACK_NS);
}

void ppi_label_store_unwatch(struct ppi_label_store *store)
{
	if (atomic_fetch_sub(&store->watchers, 1) == 1)
		atomic_store(&store->timed_from, 0);
}

void ppi_label_times_begin(void)
{
	struct ppi_label_store *store;

	pthread_mutex_lock(&own.lock);
	store = atomic_load(&own.made);
	if (own.times++ == 0 && store)
		ppi_label_store_watch(store);
	pthread_mutex_unlock(&own.lock);
}

void ppi_label_times_end(void)
{
	struct ppi_label_store *store;

	pthread_mutex_lock(&own.lock);
	store = atomic_load(&own.made);
	if (--own.times == 0 && store)
		ppi_label_store_unwatch(store);
	pthread_mutex_unlock(&own.lock);
}
