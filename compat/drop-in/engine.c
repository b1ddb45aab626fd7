/* SPDX-License-Identifier: MIT */
/*
 * The one session under all drop-in functions: opened with the first client,
 * stopped while none is on, and kept then, so that the parts of a period that
 * threads have used are not lost between a stop and the next start.
 *
 *   names.c, plain.c, mcount.c  the names that programs call
 *   profil.c, sprofil.c         the functions of that name, and pcsample
 *   monitor.c                   monstartup() and gmon.out
 *   dialect.c                   what differs between systems
 *   store.c                     adding to memory of the program
 */
#include "config.h"

#include "compat/drop-in/engine.h"

#include <portprof.h>

#include "base/fork_guard.h"
#include "base/thread.h"
#include "compat/drop-in/dialect.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the text of all clients, as the ranges of a session ---- */

/* Programs lie below on every system. It is 2^46 of the widest bins, or 2^16, which
 * a size_t takes in either case. */
static const uint64_t space_end = (uint64_t)1 << (sizeof(size_t) > 4 ? 62 : 32);
static const uint64_t widest_bin = 65536;

bool ppi_span_make(struct ppi_span *span, uint64_t offset, uint64_t count,
                   uint64_t unit, uint32_t scale)
{
	uint64_t room = space_end - offset, bytes;

	if (offset >= space_end || count == 0)
		return false;
	span->start = offset;
	span->bin_bytes = 1;
	/* in two parts, as the product may not fit */
	bytes = scale ? count / scale : UINT64_MAX;
	if (!scale || bytes >= room / (65536 * unit)) {
		bytes = room;
	} else {
		bytes = bytes * 65536 * unit +
		        (count % scale * 65536 * unit + scale - 1) / scale;
		if (scale <= 65536 && (scale & (scale - 1)) == 0)
			span->bin_bytes = 65536 * unit / scale;
		else
			bytes += unit; /* rounded twice, by glibc's formula */
	}
	if (span->bin_bytes > widest_bin)
		span->bin_bytes = widest_bin;
	span->end = offset + (bytes < room ? bytes : room);
	return true;
}

bool ppi_spans_are_whole(const struct ppi_span *spans, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (spans[i].end == space_end)
			return true;
	return false;
}

portprof_range ppi_span_range(const struct ppi_span *span)
{
	uint64_t bytes = span->end - span->start, bin = span->bin_bytes;

	/* the library takes fewer than 2^47 bins */
	while (bytes / bin >> 47)
		bin *= 2;
	return (portprof_range){
		.offset = span->start,
		.scale = (uint32_t)(131072 / bin),
		.bin_count = (size_t)((bytes + bin - 1) / bin),
	};
}

static int by_start(const void *a, const void *b)
{
	const struct ppi_span *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Those that meet become one, told to the byte: their bins need not agree.
 * What rounding up to whole bins adds must not meet the next one either. */
static size_t join(struct ppi_span *spans, size_t count)
{
	size_t kept = 0;

	qsort(spans, count, sizeof(*spans), by_start);
	for (size_t i = 0; i < count; i++) {
		struct ppi_span *last = kept ? &spans[kept - 1] : NULL;

		if (!last || spans[i].start >= last->end + last->bin_bytes) {
			spans[kept++] = spans[i];
			continue;
		}
		last->bin_bytes = 1;
		if (spans[i].end > last->end)
			last->end = spans[i].end;
	}
	return kept;
}

static size_t count_of(const struct ppi_client *client)
{
	if (!client->is_on)
		return 0;
	return client->spans ? client->span_count : 1;
}

bool ppi_spans_of(const struct ppi_client *clients, struct ppi_span **spans,
                  size_t *count)
{
	const struct ppi_span everything = { 0, space_end, widest_bin };
	size_t used = 0, all = 1;

	for (const struct ppi_client *c = clients; c; c = c->next)
		all += count_of(c);
	*spans = calloc(all, sizeof(**spans));
	if (!*spans)
		return false;
	for (const struct ppi_client *c = clients; c; c = c->next) {
		const struct ppi_span *from = c->spans ? c->spans : &everything;

		if (count_of(c))
			memcpy(&(*spans)[used], from,
			       count_of(c) * sizeof(*from));
		used += count_of(c);
	}
	if (!used) /* nothing can be counted, but time passes */
		(*spans)[used++] = everything;
	*count = join(*spans, used);
	return true;
}

#define NS_PER_S UINT64_C(1000000000)

/*
 * Two locks: `lock` is for those who change clients, and is held over calls of
 * the session; `samples` is for those who take samples, with the session's own
 * lock held. So nobody calls a session who holds `samples`.
 */
static struct engine {
	pthread_mutex_t lock, samples;
	bool holds_samples; /* the lock's owner */
	sigset_t mask; /* of the thread that holds the lock */
	int kept;      /* its errno */
	pid_t owner;   /* whose session and clients they are; 0 = nobody's */
	_Atomic long entered; /* the process that called last */
	struct ppi_fork_guard guard; /* the owner's */
	atomic_bool has_handlers;
	bool is_due;   /* a forked child that has clients on, and no session */
	struct ppi_client *clients;
	portprof_session *session;
	atomic_bool is_running; /* also read without the lock */
	uint64_t hz;    /* of the session */
	struct ppi_span *spans;
	size_t span_count;
	struct ppi_pages pages;
} engine = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.samples = PTHREAD_MUTEX_INITIALIZER,
};

/* ---- samples ---- */

struct ppi_pages *ppi_engine_pages(void)
{
	return &engine.pages;
}

void ppi_client_set_rate(struct ppi_client *client, unsigned hz)
{
	if (client->hz != hz)
		client->carry = NS_PER_S / 2;
	client->hz = hz;
}

uint64_t ppi_client_ticks(struct ppi_client *client, uint64_t weight_ns)
{
	uint64_t part = weight_ns % NS_PER_S * client->hz + client->carry;

	client->carry = part % NS_PER_S;
	return weight_ns / NS_PER_S * client->hz + part / NS_PER_S;
}

/* System time counts where the kernel was entered. */
static uint64_t pc_of(const portprof_record *record)
{
	return record->valid & PORTPROF_FIELD_KERNEL &&
	                       record->valid & PORTPROF_FIELD_USER_ADDRESS ?
	               record->user_address : record->address;
}

/* In the helper thread, or in the thread that stops or flushes. */
static void take(const portprof_batch *batch, void *context)
{
	(void)context;
	pthread_mutex_lock(&engine.samples);
	ppi_pages_forget(&engine.pages);
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		for (struct ppi_client *c = engine.clients; c; c = c->next)
			if (c->is_on)
				c->take(c, pc_of(record), record->weight);
	}
	pthread_mutex_unlock(&engine.samples);
}

/* ---- the session ---- */

static unsigned count_on(void)
{
	unsigned count = 0;

	for (struct ppi_client *c = engine.clients; c; c = c->next)
		count += c->is_on;
	return count;
}

static bool any_is_on(void)
{
	return count_on() > 0;
}

static uint64_t wanted_hz(void)
{
	uint64_t hz = 1;

	for (struct ppi_client *c = engine.clients; c; c = c->next)
		if (c->is_on && c->hz > hz)
			hz = c->hz;
	return hz;
}

static void close_session(void)
{
	portprof_session_close(engine.session);
	engine.session = NULL;
	engine.is_running = false;
	free(engine.spans);
	engine.spans = NULL;
	engine.span_count = 0;
}

/* Whether the open session does for what is on now. */
static bool is_suited(const struct ppi_span *spans, size_t count, uint64_t hz)
{
	const uint64_t needed = PORTPROF_CAP_WHOLE_SPACE;

	if (engine.hz != hz)
		return false;
	if (portprof_session_caps(engine.session) & needed)
		return true;
	return count == engine.span_count &&
	       memcmp(spans, engine.spans, count * sizeof(*spans)) == 0;
}

static portprof_status configure(portprof_config *config,
                                 const struct ppi_span *spans, size_t count,
                                 uint64_t hz)
{
	const char *backend = ppi_wanted_backend();
	portprof_status status = portprof_config_set_frequency(config, hz);
	portprof_range *ranges = calloc(count, sizeof(*ranges));

	for (size_t i = 0; ranges && i < count; i++)
		ranges[i] = ppi_span_range(&spans[i]);
	if (!ranges)
		status = PORTPROF_E_NOMEM;
	if (status == PORTPROF_OK)
		status = portprof_config_add_range_callback(
			config, ranges, count, take, NULL);
	if (status == PORTPROF_OK && ppi_spans_are_whole(spans, count))
		status = portprof_config_require(config,
		                                 PORTPROF_CAP_WHOLE_SPACE);
	if (status == PORTPROF_OK && backend)
		status = portprof_config_set_backend(config, backend);
	free(ranges);
	return status;
}

/* Takes the spans when it succeeds. */
static portprof_status open_session(struct ppi_span *spans, size_t count,
                                    uint64_t hz)
{
	portprof_config *config = portprof_config_new();
	portprof_status status = PORTPROF_E_NOMEM;

	if (config)
		status = configure(config, spans, count, hz);
	if (status == PORTPROF_OK)
		status = portprof_session_open(config, &engine.session);
	portprof_config_free(config);
	if (status)
		return status;
	engine.spans = spans;
	engine.span_count = count;
	engine.hz = hz;
	return PORTPROF_OK;
}

static portprof_status start_session(void)
{
	struct ppi_span *spans;
	size_t count;
	uint64_t hz = wanted_hz();
	portprof_status status = PORTPROF_OK;

	engine.is_due = false;
	if (!ppi_spans_of(engine.clients, &spans, &count))
		return PORTPROF_E_NOMEM;
	if (engine.session && !is_suited(spans, count, hz))
		close_session();
	if (engine.session) {
		free(spans);
	} else {
		status = open_session(spans, count, hz);
		if (status) {
			free(spans);
			return status;
		}
	}
	status = portprof_session_start(engine.session);
	engine.is_running = status == PORTPROF_OK;
	return status;
}

static void stop_session(void)
{
	if (engine.is_running)
		portprof_session_stop(engine.session);
	engine.is_running = false;
}

/* ---- the lock ---- */

/* With all signals blocked: a handler may call these functions, too. */
static bool lock_for(bool (*get)(pthread_mutex_t *))
{
	sigset_t all, mask;
	int kept = errno;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	if (!get(&engine.lock)) {
		pthread_sigmask(SIG_SETMASK, &mask, NULL);
		return false;
	}
	engine.mask = mask;
	engine.kept = kept;
	return true;
}

static void unlock(void)
{
	sigset_t mask = engine.mask;
	int kept = engine.kept;

	pthread_mutex_unlock(&engine.lock);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	errno = kept;
}

static bool get(pthread_mutex_t *lock)
{
	return pthread_mutex_lock(lock) == 0;
}

/* ---- fork ---- */

static _Thread_local bool is_forking; /* with the lock */

static bool child_goes_on(void)
{
	for (struct ppi_client *c = engine.clients; c; c = c->next)
		if (c->is_on && c->goes_on_in_child)
			return true;
	return false;
}

/*
 * What was sampled until now is in the buffers that such a child has copies of.
 * For others it is left where it is: over glibc's profil() each look begins a
 * period anew.
 *
 * Whoever has the lock may be starting a thread, which on NetBSD waits until
 * this fork is over: then the child has nothing of what is being changed.
 */
static void before_fork(void)
{
	is_forking = lock_for(ppi_lock_soon);
	if (is_forking && engine.is_running && child_goes_on())
		portprof_session_flush(engine.session);
}

static void after_fork_in_parent(void)
{
	if (is_forking)
		unlock();
	is_forking = false;
}

static void own(void)
{
	ppi_fork_guard_release(&engine.guard);
	ppi_fork_guard_init(&engine.guard);
	engine.owner = getpid();
}

/* The parent's session is inert here. What the dialect lets go on has bins of
 * its own, copies of the parent's. */
static void disown(void)
{
	close_session();
	for (struct ppi_client *c = engine.clients; c; c = c->next)
		c->is_on = c->is_on && c->goes_on_in_child;
	own();
	engine.is_due = any_is_on();
}

/* Of a session and clients that another thread was about to change. */
static void abandon(void)
{
	engine.session = NULL;
	engine.spans = NULL;
	for (struct ppi_client *c = engine.clients; c; c = c->next)
		c->is_on = false;
}

static void renew_locks(void)
{
	pthread_mutex_init(&engine.lock, NULL);
	pthread_mutex_init(&engine.samples, NULL);
	engine.holds_samples = false;
}

/* No session begins here: its thread would wait for the fork to end. */
static void become_child(bool is_whole)
{
	renew_locks();
	if (!is_whole)
		abandon();
	disown();
}

static void after_fork_in_child(void)
{
	bool is_whole = is_forking;

	after_fork_in_parent();
	become_child(is_whole);
}

/* After the library's own handlers, which the first session made: those that
 * come later run first before a fork, and last in the child. Without the lock:
 * a fork that waits for it may hold the one that pthread_atfork needs. */
static void watch_forks(void)
{
	if (engine.owner && !atomic_exchange(&engine.has_handlers, true) &&
	    pthread_atfork(before_fork, after_fork_in_parent,
	                   after_fork_in_child))
		atomic_store(&engine.has_handlers, false);
}

/* The child of a vfork runs in its parent's memory, where nothing is its own to
 * change. That of a fork without handlers has a copy, as the guard shows. */
static bool is_borrowed(void)
{
	if (!engine.owner || engine.owner == getpid())
		return false;
	if (!engine.guard.page || !ppi_is_forked(&engine.guard))
		return true;
	become_child(pthread_mutex_trylock(&engine.lock) == 0);
	return false;
}

void ppi_fork_returned(void)
{
	if (!engine.is_due || engine.owner != getpid())
		return;
	lock_for(get);
	if (engine.is_due && start_session())
		ppi_complain("the child of a fork is not profiled: %s",
		             portprof_last_diag()->words);
	unlock();
}

/* ---- changing clients ---- */

static int errno_of(portprof_status status)
{
	int told = portprof_last_diag()->os_errno;

	switch (status) {
	case PORTPROF_E_NOMEM:
		return ENOMEM;
	case PORTPROF_E_BUSY:
		return EBUSY;
	case PORTPROF_E_UNSUPPORTED:
		return ENOSYS;
	case PORTPROF_E_INVALID:
		return EINVAL;
	default:
		return told ? told : EPERM;
	}
}

/* What was sampled until now is in the buffers of until now. A backend that
 * covers some text only is opened anew, for the text to come. */
static void settle(bool goes_on)
{
	/* of two that are on one stays */
	goes_on = goes_on || count_on() > 1;
	if (!goes_on || !engine.is_running ||
	    !(portprof_session_caps(engine.session) &
	      PORTPROF_CAP_WHOLE_SPACE)) {
		stop_session();
		return;
	}
	portprof_session_flush(engine.session);
	pthread_mutex_lock(&engine.samples);
	engine.holds_samples = true;
}

/* A child that was forked while another thread made the first call of all: there are
 * no handlers yet, and the lock is that thread's, which is not here. */
static void enter(void)
{
	long own_pid = getpid();
	long before = atomic_exchange(&engine.entered, own_pid);

	if (before && before != own_pid && !engine.owner) {
		renew_locks();
		abandon();
	}
}

bool ppi_engine_begin(bool goes_on)
{
	enter();
	if (is_borrowed())
		return false;
	lock_for(get);
	if (!engine.owner)
		own();
	settle(goes_on);
	return true;
}

static void list(struct ppi_client *client)
{
	if (client->is_known)
		return;
	client->is_known = true;
	client->next = engine.clients;
	engine.clients = client;
}

int ppi_engine_end(struct ppi_client *client)
{
	portprof_status status = PORTPROF_OK;
	int error = 0;

	list(client);
	if (engine.holds_samples)
		pthread_mutex_unlock(&engine.samples);
	engine.holds_samples = false;
	if (any_is_on())
		status = start_session();
	else
		stop_session();
	if (status) {
		error = errno_of(status);
		client->is_on = false;
		ppi_complain("this process is not profiled: %s",
		             status == PORTPROF_E_NOMEM ? "out of memory" :
		             portprof_last_diag()->words);
		if (any_is_on())
			start_session();
	}
	unlock();
	watch_forks();
	if (!error)
		return 0;
	errno = error;
	return -1;
}

void ppi_engine_forget(void)
{
	if (!ppi_engine_begin(false))
		return;
	close_session();
	for (struct ppi_client *c = engine.clients; c; c = c->next)
		c->is_on = false;
	unlock();
}
