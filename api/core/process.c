/* SPDX-License-Identifier: MIT */
/* What concerns all sessions of the process: fork, exec, dlclose, lone calls. */
#include "api/core/lone_call.h"
#include "api/core/session.h"
#include "base/fork_guard.h"
#include "base/signals.h"
#include "base/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <portprof/exec.h>

static struct process {
	pthread_mutex_t lock;
	struct portprof_session *sessions;
	pid_t owner;       /* whose sessions they are */
	atomic_bool has_handlers; /* pthread_atfork was called */
	struct portprof_session *left; /* a copy of the parent's only session,
	                                * which may go on, */
	pid_t heir;        /* and does in this process */
} process = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A fork while the helper holds its lock would leave the child a lock that
 * nobody ever opens. */
static void before_fork(void)
{
	pthread_mutex_lock(&process.lock);
	ppi_helper_before_fork();
}

static void after_fork_in_parent(void)
{
	ppi_helper_after_fork_in_parent();
	pthread_mutex_unlock(&process.lock);
}

/* The child starts with no session of its own (LIFE-8). Both locks are the
 * forking thread's, which is the child's only one. */
static void after_fork_in_child(void)
{
	ppi_helper_after_fork_in_child();
	if (process.sessions)
		process.left = process.sessions->next ? NULL : process.sessions;
	process.sessions = NULL;
	pthread_mutex_unlock(&process.lock);
}

/* ---- heirs: see base/fork_guard.h ---- */

static bool begin_heir(void)
{
	struct ppi_backend_session *bs;

	if (!process.left)
		return false;
	bs = &process.left->opened.bs;
	if (!bs->ops->heirs || !bs->ops->heirs->begin(bs))
		return false;
	process.heir = getpid();
	return true;
}

static void end_heir(void)
{
	struct ppi_backend_session *bs;

	if (!process.left || process.heir != getpid())
		return;
	bs = &process.left->opened.bs;
	bs->ops->heirs->end(bs);
}

void ppi_process_forget_left(const struct portprof_session *session)
{
	if (process.left == session)
		process.left = NULL;
}

/* ---- fork ---- */

/* Without the lock: on NetBSD a fork that waits for it holds the one that
 * pthread_atfork needs (lib/libc/gen/pthread_atfork.c). */
void ppi_process_handle_forks(void)
{
	if (ppi_helper_renew()) {
		pthread_mutex_init(&process.lock, NULL);
		process.sessions = NULL;
	}
	if (!atomic_exchange(&process.has_handlers, true) &&
	    pthread_atfork(before_fork, after_fork_in_parent,
	                   after_fork_in_child))
		atomic_store(&process.has_handlers, false);
}

void ppi_process_add(struct portprof_session *session)
{
	pthread_mutex_lock(&process.lock);
	process.owner = getpid();
	if (session->opened.bs.ops->heirs)
		ppi_heir = (struct ppi_heir){ begin_heir, end_heir, false };
	session->next = process.sessions;
	process.sessions = session;
	pthread_mutex_unlock(&process.lock);
}

void ppi_process_remove(struct portprof_session *session)
{
	struct portprof_session **at = &process.sessions;

	pthread_mutex_lock(&process.lock);
	while (*at && *at != session)
		at = &(*at)->next;
	if (*at)
		*at = session->next;
	pthread_mutex_unlock(&process.lock);
}

/* The loader of what is executed looks for it in this root directory. */
static void note_missing(struct portprof_session *session)
{
	const char *object = ppi_exec_object, *path, *next;

	if (!object || access(object, R_OK) == 0)
		return;
	/* from where the folders that lead to the root end */
	for (path = object; (next = strstr(path, "/../")) != NULL; path = next + 3)
		;
	ppi_note(&session->opened.bs,
	         PORTPROF_NOTE_MISSED "programs that were started in another "
	         "root directory (chroot), where %s is not: record them with "
	         "-b perf", path);
}

/* A thread that is stuck in a callback must not hold up an exec for ever. */
static void pause_for_call(struct portprof_session *session)
{
	struct ppi_diag why;

	if (!ppi_lock_soon(&session->lock))
		return;
	note_missing(session);
	session->is_paused_for_call = session->is_running ||
	                              session->is_waiting;
	ppi_session_pause(session, &why);
	pthread_mutex_unlock(&session->lock);
}

static void go_on(struct portprof_session *session)
{
	struct ppi_diag why;

	if (!session->is_paused_for_call || !ppi_lock_soon(&session->lock))
		return;
	session->is_paused_for_call = false;
	ppi_session_resume(session, &why);
	pthread_mutex_unlock(&session->lock);
}

static void for_all_sessions(void (*visit)(struct portprof_session *session))
{
	/* a vfork child shares this memory, but has another pid */
	if (!process.sessions || process.owner != getpid() ||
	    !ppi_lock_soon(&process.lock))
		return;
	for (struct portprof_session *s = process.sessions; s; s = s->next)
		visit(s);
	pthread_mutex_unlock(&process.lock);
}

/* Sinks in the process's own memory and callbacks are left alone: what they would
 * reach may be gone. A session of a recording is completed by who collects. */
static void complete_files(struct portprof_session *session)
{
	if (!ppi_session_has_file(session) || session->opened.area ||
	    !ppi_lock_soon(&session->lock))
		return;
	if (!session->is_delivering) /* by a callback, which called exit(3) */
		ppi_session_complete(session);
	pthread_mutex_unlock(&session->lock);
}

/* At exit(3): a destructor, as it runs behind the functions of atexit(3) and the
 * destructors of the program, which may close sessions and are sampled, too. */
__attribute__((destructor)) static void end_process(void)
{
	for_all_sessions(complete_files);
}

void portprof_exec_guard(void)
{
	ppi_exec_guard_promise();
}

void portprof_exec_begin(void)
{
	for_all_sessions(pause_for_call);
	end_heir();
	if (ppi_signal_share.set_aside)
		ppi_signal_share.set_aside(true);
}

void portprof_exec_failed(void)
{
	int kept = errno;

	if (ppi_signal_share.set_aside)
		ppi_signal_share.set_aside(false);
	if (process.left && process.heir == getpid())
		begin_heir();
	for_all_sessions(go_on);
	errno = kept;
}

bool ppi_before_lone_call(void)
{
	int kept = errno;
	bool has_ended = false;

	if (ppi_helper_is_ours()) {
		for_all_sessions(pause_for_call);
		has_ended = ppi_helper_suspend();
		if (!has_ended)
			for_all_sessions(go_on);
	}
	errno = kept;
	return has_ended;
}

/* The helper is another thread now. */
static void go_on_with_helper(struct portprof_session *session)
{
	if (ppi_lock_soon(&session->lock)) {
		session->opened.bs.helper_tid = ppi_helper_tid();
		pthread_mutex_unlock(&session->lock);
	}
	go_on(session);
}

void ppi_after_lone_call(void)
{
	int kept = errno;

	ppi_helper_resume();
	for_all_sessions(go_on_with_helper);
	errno = kept;
}

static void expect_unload(struct portprof_session *session)
{
	if (session->pump.modules)
		ppi_modules_expect(session->pump.modules,
		                   ppi_ticks_place(&session->opened.bs));
}

static void see_unload(struct portprof_session *session)
{
	if (session->pump.modules)
		ppi_modules_unloaded(session->pump.modules,
		                     ppi_ticks_place(&session->opened.bs));
}

/* Other code may come to its place, and that a recorder cannot see. */
void portprof_unload_begin(void)
{
	int kept = errno;

	for_all_sessions(expect_unload);
	if (process.sessions && process.owner == getpid())
		ppi_helper_begin();
	errno = kept;
}

void portprof_unload_end(void)
{
	int kept = errno;

	for_all_sessions(see_unload);
	errno = kept;
}
