/* SPDX-License-Identifier: MIT */
/*
 * Ways to end a process without running destructors: _exit, _Exit and
 * quick_exit. The file is finished first.
 *
 * These may be called where nothing is allowed, such as a crash handler that
 * interrupted malloc: finishing would then wait for ever. So a clock runs,
 * and ends the process if finishing has not done so.
 */
#include "config.h"

#include "tools/preload/preload.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATIENCE_S = 3 };

static volatile sig_atomic_t exit_status;

/* Ends all threads; what libc's _exit does (_exit(2)). */
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
