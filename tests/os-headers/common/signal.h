/* SPDX-License-Identifier: MIT */
/* What is used of <signal.h> of POSIX.1-2008; the numbers are made up. */
#ifndef OS_SIGNAL_H
#define OS_SIGNAL_H

#include <sys/types.h>

typedef int sig_atomic_t;

typedef struct {
	unsigned bits[4];
} sigset_t;

typedef struct {
	void *ss_sp;
	size_t ss_size;
	int ss_flags;
} stack_t;

union sigval {
	int sival_int;
	void *sival_ptr;
};

typedef struct {
	int si_signo, si_code, si_errno;
	pid_t si_pid;
	int si_status;
	void *si_addr;
	uid_t si_uid;
	union sigval si_value;
} siginfo_t;

struct sigaction {
	union {
		void (*handler)(int);
		void (*sigaction)(int, siginfo_t *, void *);
	} os_union;
	int sa_flags;
	sigset_t sa_mask;
};
#define sa_handler os_union.handler
#define sa_sigaction os_union.sigaction

#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define SIG_ERR ((void (*)(int))-1)
#define SA_ONSTACK 0x01
#define SA_RESTART 0x02
#define SA_RESETHAND 0x04
#define SA_NOCLDSTOP 0x08
#define SA_NODEFER 0x10
#define SA_NOCLDWAIT 0x20
#define SA_SIGINFO 0x40
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3
/* POSIX names them; these numbers are the BSDs'. */
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGFPE 8
#define SIGKILL 9
#define SIGBUS 10
#define SIGSEGV 11
#define SIGSYS 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGURG 16
#define SIGSTOP 17
#define SIGTSTP 18
#define SIGCONT 19
#define SIGCHLD 20
#define SIGTTIN 21
#define SIGTTOU 22
#define SIGXCPU 24
#define SIGXFSZ 25
#define SIGVTALRM 26
#define SIGPROF 27
#define SIGUSR1 30
#define SIGUSR2 31
#define SIGWINCH 28
#define NSIG 33
#define SS_DISABLE 4
#define SIGSTKSZ 40960
#define MINSIGSTKSZ 8192
#define SI_USER 0x10001
#define SI_QUEUE 0x10002
#define SI_TIMER 0x10003
#define CLD_EXITED 1
#define CLD_KILLED 2
#define CLD_DUMPED 3

void (*signal(int number, void (*handler)(int)))(int);
int sigaction(int number, const struct sigaction *restrict next,
              struct sigaction *restrict before);
int sigemptyset(sigset_t *set);
int sigfillset(sigset_t *set);
int sigaddset(sigset_t *set, int number);
int pthread_sigmask(int how, const sigset_t *restrict next,
                    sigset_t *restrict before);
int raise(int number);
int kill(pid_t pid, int number);
int sigdelset(sigset_t *set, int number);
int sigismember(const sigset_t *set, int number);
int sigpending(sigset_t *set);
int sigprocmask(int how, const sigset_t *restrict next,
                sigset_t *restrict before);
int sigsuspend(const sigset_t *mask);
int sigwait(const sigset_t *restrict set, int *restrict number);
int sigaltstack(const stack_t *restrict next, stack_t *restrict before);
int pthread_kill(pthread_t thread, int number);
int killpg(pid_t group, int number);

#endif
