/* SPDX-License-Identifier: MIT */
/*
 * Calls of the program that would end or escape measuring: the ends of a
 * process without destructors, another root directory, a second thread of a forked
 * child, and ways past the wrappers of signals.
 */
#include "config.h"

#include "tools/preload/preload.h"
#include "tools/preload/signals.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_THREADS_H
#include <threads.h>
#endif

#ifdef HAVE_LINUX_SECCOMP_H
#include <linux/seccomp.h>
#include <sys/prctl.h>
#ifndef PR_SET_VMA /* Linux 5.17 */
#define PR_SET_VMA 0x53564d41
#endif
#endif

/* ---- the end of a process ---- */

/*
 * Ways to end a process without running destructors: _exit, _Exit and
 * quick_exit. The file is finished first.
 *
 * These may be called where nothing is allowed, such as a crash handler that
 * interrupted malloc: finishing would then wait for ever. So a clock runs,
 * and ends the process if finishing has not done so.
 */

enum { PATIENCE_S = 3 };

static volatile sig_atomic_t exit_status;

/* Ends all threads; what libc's _exit does (_exit(2)). */
#ifndef HAVE_SYSCALL /* OpenBSD since 7.5, whose _exit is nothing but the call */
static void (*real_exit)(int);

__attribute__((constructor(101))) static void find_exit(void)
{
	ppi_next_function("_exit", &real_exit);
}

static _Noreturn void end_process(int status)
{
	if (!real_exit)
		find_exit();
	for (;;)
		real_exit(status);
}
#else
#ifdef SYS_exit_group
#define END_PROCESS SYS_exit_group
#else
#define END_PROCESS SYS_exit
#endif

static _Noreturn void end_process(int status)
{
	for (;;)
		syscall(END_PROCESS, status);
}
#endif

/* Reaches the system call only. */
static void give_up(int number)
{
	(void)number;
	end_process((int)exit_status);
}

/* The process is at its end, so its alarm clock is free to be used. */
static void finish_in_time(int status)
{
	struct sigaction action = { .sa_handler = give_up };
	sigset_t alarm_only;

	exit_status = status;
	sigemptyset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
	alarm(PATIENCE_S);
	ppi_preload_finish();
	alarm(0);
}

_Noreturn void _exit(int status)
{
	if (ppi_preload_is_active() && !ppi_preload_is_light())
		finish_in_time(status);
	end_process(status);
}

_Noreturn void _Exit(int status)
{
	_exit(status);
}

__attribute__((constructor)) static void watch_quick_exit(void)
{
	at_quick_exit(ppi_preload_finish);
}

/* ---- another root directory, where programs may not find this object ---- */

static int (*real_chroot)(const char *);

__attribute__((constructor(101))) static void find_chroot(void)
{
	ppi_next_function("chroot", &real_chroot);
}

int chroot(const char *path)
{
	int result;

	if (!real_chroot)
		find_chroot();
	if (!real_chroot) {
		errno = ENOSYS;
		return -1;
	}
	result = real_chroot(path);
	if (result == 0)
		ppi_preload_has_other_root();
	return result;
}

/* ---- the second thread ---- */

/* A forked child that is measured by its parent's session gets one of its own before
 * it has a second thread, and a process without our helper thread gets that, which
 * looks for others, behind it. thrd_create(3) and timers that run a function in a
 * thread do not call pthread_create by its name, clone(2) not at all. */

static int (*real_create)(pthread_t *, const pthread_attr_t *,
                          void *(*)(void *), void *);

__attribute__((constructor(101))) static void find_create(void)
{
	ppi_next_function("pthread_create", &real_create);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                   void *(*start)(void *), void *context)
{
	bool is_own = PPI_IS_OWN_CALL();
	int error;

	if (!real_create)
		find_create();
	if (!real_create)
		return EAGAIN;
	if (!is_own)
		ppi_preload_grow();
	error = real_create(thread, attr, start, context);
	if (!is_own && !error)
		ppi_preload_need_helper();
	return error;
}

/* Only such a C library lets a process be without the helper. */
#ifdef HAVE_SYS_SINGLE_THREADED_H
static int (*real_timer)(clockid_t, struct sigevent *, timer_t *);

__attribute__((constructor(101))) static void find_timer(void)
{
	ppi_next_function("timer_create", &real_timer);
}

int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	bool has_thread = event && event->sigev_notify == SIGEV_THREAD;
	int result;

	if (!real_timer)
		find_timer();
	if (!real_timer) {
		errno = ENOSYS;
		return -1;
	}
	if (has_thread)
		ppi_preload_grow();
	result = real_timer(clock, event, timer);
	if (has_thread && result == 0)
		ppi_preload_need_helper();
	return result;
}
#endif

#ifdef HAVE_THREADS_H
static int (*real_thrd)(thrd_t *, thrd_start_t, void *);

__attribute__((constructor(101))) static void find_thrd(void)
{
	ppi_next_function("thrd_create", &real_thrd);
}

int thrd_create(thrd_t *thread, thrd_start_t start, void *context)
{
	int result;

	if (!real_thrd)
		find_thrd();
	if (!real_thrd)
		return thrd_error;
	ppi_preload_grow();
	result = real_thrd(thread, start, context);
	if (result == thrd_success)
		ppi_preload_need_helper();
	return result;
}
#endif

#ifdef CLONE_THREAD
typedef int clone_function(int (*)(void *), void *, int, void *, ...);
static clone_function *real_clone;

__attribute__((constructor(101))) static void find_clone(void)
{
	ppi_next_function("clone", &real_clone);
}

int clone(int (*start)(void *), void *stack, int flags, void *context, ...)
{
	void *more[3];
	va_list list;
	int result;

	va_start(list, context);
	for (int i = 0; i < 3; i++)
		more[i] = va_arg(list, void *);
	va_end(list);
	if (!real_clone)
		find_clone();
	if (flags & CLONE_THREAD)
		ppi_preload_grow();
	result = real_clone(start, stack, flags, context, more[0], more[1],
	                    more[2]);
	if ((flags & CLONE_THREAD) && result > 0)
		ppi_preload_need_helper();
	return result;
}
#endif

/* ---- raw calls ---- */

/*
 * Stores of labels are announced by a memfd, our own, too, or by the name of a
 * mapping: then somebody has to read them (base/label_store.c, base/otel_context.c).
 *
 * Ways past the wrappers: syscall(2), and prctl(2) into a sandbox where our
 * handler's own calls would end the thread. Only calls by instructions of the
 * program's own remain.
 */

#ifdef HAVE_LINUX_SECCOMP_H

static struct {
	long (*syscall)(long, ...);
	int (*prctl)(int, ...);
} real;

__attribute__((constructor(101))) static void find_raw_calls(void)
{
	ppi_next_function("syscall", &real.syscall);
	ppi_next_function("prctl", &real.prctl);
}

/* ---- the strict sandbox: read, write, exit and return from handlers ---- */

/* A tick in it would end the thread: it reads a clock. So there are none from
 * now on, unless the sandbox is refused. */
static void before_strict(void)
{
	if (ppi_any_signal_is_taken())
		ppi_mask_block_taken();
}

static void after_refused(void)
{
	int kept = errno;

	if (ppi_any_signal_is_taken())
		ppi_mask_free_taken();
	errno = kept;
}

int prctl(int option, ...)
{
	unsigned long a[4];
	bool is_strict;
	va_list list;
	int result;

	/* like the C library: as many as there can be */
	va_start(list, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	if (!real.prctl)
		find_raw_calls();
	is_strict = option == PR_SET_SECCOMP && a[0] == SECCOMP_MODE_STRICT;
	if (is_strict)
		before_strict();
	result = real.prctl(option, a[0], a[1], a[2], a[3]);
	if (is_strict && result != 0)
		after_refused();
	if (option == PR_SET_VMA)
		ppi_preload_need_helper();
	return result;
}

/* ---- rt_sigaction(2) as the kernel has it ---- */

#if defined(__x86_64__) || defined(__aarch64__) || defined(__i386__)

struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned char mask[(NSIG - 1) / 8];
};

#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif

static long raw_sigaction(int number, const struct kernel_action *next,
                          struct kernel_action *before)
{
	struct sigaction wish = { .sa_flags = 0 }, was;

	if (next) {
		wish.sa_handler = next->handler;
		wish.sa_flags = (int)(next->flags & ~(unsigned long)SA_RESTORER);
		sigemptyset(&wish.sa_mask);
		memcpy(&wish.sa_mask, next->mask, sizeof(next->mask));
	}
	if (ppi_program_sigaction(number, next ? &wish : NULL, &was) != 0)
		return -1;
	if (before) {
		memset(before, 0, sizeof(*before));
		before->handler = was.sa_handler;
		before->flags = (unsigned long)was.sa_flags;
		memcpy(before->mask, &was.sa_mask, sizeof(before->mask));
	}
	return 0;
}

static long raw_mask(int how, const void *set, void *before)
{
	sigset_t next, was;

	sigemptyset(&next);
	if (set)
		memcpy(&next, set, (NSIG - 1) / 8);
	if (ppi_program_mask(how, set ? &next : NULL, &was) != 0)
		return -1;
	if (before)
		memcpy(before, &was, (NSIG - 1) / 8);
	return 0;
}

/* True when the call was the program's, and *result is its answer. */
static bool intercept(long number, const long *a, long *result)
{
	enum { SET_BYTES = (NSIG - 1) / 8 };

	if (number == SYS_rt_sigaction && a[3] == SET_BYTES &&
	    ppi_signal_is_taken((int)a[0]))
		*result = raw_sigaction((int)a[0],
		                        (const struct kernel_action *)a[1],
		                        (struct kernel_action *)a[2]);
	else if (number == SYS_rt_sigprocmask && a[3] == SET_BYTES &&
	         ppi_any_signal_is_taken())
		*result = raw_mask((int)a[0], (const void *)a[1],
		                   (void *)a[2]);
	else if (number == SYS_setitimer)
		*result = ppi_program_setitimer(
			(int)a[0], (const struct itimerval *)a[1],
			(struct itimerval *)a[2]);
	else if (number == SYS_getitimer)
		*result = ppi_program_getitimer((int)a[0],
		                                (struct itimerval *)a[1]);
	else if (number == SYS_unshare)
		*result = unshare((int)a[0]);
	else if (number == SYS_setns)
		*result = setns((int)a[0], (int)a[1]);
	else
		return false;
	return true;
}

#else

static bool intercept(long number, const long *a, long *result)
{
	(void)number;
	(void)a;
	(void)result;
	return false;
}

#endif

static bool is_strict_sandbox(long number, const long *a)
{
	return (number == SYS_prctl && a[0] == PR_SET_SECCOMP &&
	        a[1] == SECCOMP_MODE_STRICT) ||
	       (number == SYS_seccomp && a[0] == SECCOMP_SET_MODE_STRICT);
}

long syscall(long number, ...)
{
	long a[6], result;
	bool is_strict;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!real.syscall)
		find_raw_calls();
#ifdef SYS_memfd_create
	if (number == SYS_memfd_create)
		ppi_preload_need_helper();
#endif
	if (PPI_IS_OWN_CALL())
		return real.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (intercept(number, a, &result))
		return result;
	is_strict = is_strict_sandbox(number, a);
	if (is_strict)
		before_strict();
	result = real.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (is_strict && result != 0)
		after_refused();
	/* pivot_root(2) has no function of its own */
	if (result == 0 && (number == SYS_pivot_root || number == SYS_chroot))
		ppi_preload_has_other_root();
	return result;
}

#else

/* An empty translation unit is none. */
extern int ppi_no_raw_calls;

#endif
