/* SPDX-License-Identifier: MIT */
/* Stopping a child between its execve(2) and its first instruction. */
#include "config.h"

#include "base/exec_stop.h"

#ifdef __linux__

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

bool ppi_exec_stop_begin(pid_t child)
{
	return ptrace(PTRACE_SEIZE, child, NULL, PTRACE_O_TRACEEXEC) == 0;
}

static bool is_stop_signal(int number)
{
	return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN ||
	       number == SIGTTOU;
}

/* A tracer is asked about each signal: it does what it would have done. */
static void give_signal(pid_t child, int number, int event)
{
	if (event != PTRACE_EVENT_STOP)
		ptrace(PTRACE_CONT, child, NULL, number);
	else if (is_stop_signal(number))
		ptrace(PTRACE_LISTEN, child, NULL, NULL);
	else
		ptrace(PTRACE_CONT, child, NULL, 0);
}

bool ppi_exec_stop_await(pid_t child)
{
	siginfo_t info;

	for (;;) {
		info.si_code = 0;
		if (waitid(P_PID, (id_t)child, &info,
		           WEXITED | WSTOPPED | WNOWAIT) < 0) {
			if (errno == EINTR)
				continue;
			return false;
		}
		if (info.si_code != CLD_TRAPPED)
			return false;
		if (info.si_status >> 8 == PTRACE_EVENT_EXEC)
			return true;
		give_signal(child, info.si_status & 0xff, info.si_status >> 8);
	}
}

void ppi_exec_stop_end(pid_t child)
{
	ptrace(PTRACE_DETACH, child, NULL, 0);
}

#else

bool ppi_exec_stop_begin(pid_t child)
{
	(void)child;
	return false;
}

bool ppi_exec_stop_await(pid_t child)
{
	(void)child;
	return false;
}

void ppi_exec_stop_end(pid_t child)
{
	(void)child;
}

#endif
