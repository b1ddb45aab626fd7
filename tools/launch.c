/* SPDX-License-Identifier: MIT */
/*
 * Starting the command that is measured, and waiting for it: signals go to it,
 * and what the system took beside it is noted. launch_find.c finds its file.
 */
#include "config.h"

#include "tools/launch.h"

#include "base/clock_ns.h"
#include "base/processes.h"
#include "tools/options.h"
#include "tools/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- CPU time that is charged to no process, read from /proc/stat ---- */

/*
 * What interrupts and a hypervisor took from all CPUs since the system began,
 * in the steps of its ticks. A clock event of perf counts it, the system's
 * charge does not. False where the system does not say it.
 *
 * proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal. The last
 * three are what update_rq_clock_task() of Linux's kernel/sched/core.c leaves
 * out of a task's time.
 */
static bool read_taken_ns(uint64_t *ns)
{
	FILE *file = fopen("/proc/stat", "re");
	uint64_t irq, softirq, steal;
	long ticks = sysconf(_SC_CLK_TCK);
	bool is_known;

	if (!file)
		return false;
	is_known = ticks > 0 &&
	           fscanf(file, "cpu %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
	                  " %" SCNu64, &irq, &softirq, &steal) == 3;
	fclose(file);
	if (is_known)
		*ns = (irq + softirq + steal) * (1000000000u / (uint64_t)ticks);
	return is_known;
}

/* ---- signals that end programs: passed on, so that profiles can be finished ---- */

static const struct {
	int number;
	const char *name;
} caught[] = {
	{ SIGINT, "SIGINT" },   { SIGTERM, "SIGTERM" }, { SIGHUP, "SIGHUP" },
	{ SIGQUIT, "SIGQUIT" }, { SIGUSR1, "SIGUSR1" }, { SIGUSR2, "SIGUSR2" },
};
enum { CAUGHT_COUNT = sizeof(caught) / sizeof(caught[0]) };

/* The child that signals are passed to; 0: none. Written while it cannot have
 * been reaped, so that the number is never another process's. */
static volatile sig_atomic_t signalled_child;

/* The last that came while there was no child to pass it to. */
static volatile sig_atomic_t kept_signal;

/* Whether this process leads its session, as where a terminal or ssh started it. */
static bool leads_session;

/* Of one who reads its options again. */
static volatile sig_atomic_t hang_up_reloads, reload_asked;

/* Only so that a nap ends when a child does. */
static void end_nap(int number)
{
	(void)number;
}

/*
 * What this process sets for itself. It must not die of the first two: a
 * reader of its words may go away, and the profile may reach a limit of file
 * sizes; errno tells it then.
 */
static struct {
	int number;
	void (*handler)(int);
	struct sigaction before;
} own[] = {
	{ .number = SIGPIPE, .handler = SIG_IGN },
	{ .number = SIGXFSZ, .handler = SIG_IGN },
	{ .number = SIGCHLD, .handler = end_nap },
};
enum { OWN_COUNT = sizeof(own) / sizeof(own[0]) };

/*
 * Reaches kill() only. A terminal sends its signals to the whole foreground
 * group, the child included: those have si_code SI_KERNEL (sigaction(2)), and
 * need no passing on. That it was hung up it tells the leader of its session alone
 * (tty_signal_session_leader() of Linux's drivers/tty/tty_jobctrl.c).
 */
static void pass_on(int number, siginfo_t *info, void *context)
{
	int kept = errno;
	bool is_kernels = false;

	(void)context;
#ifdef SI_KERNEL
	is_kernels = info->si_code == SI_KERNEL;
#else
	(void)info;
#endif
	/* that a terminal has gone is nobody's wish */
	if (number == SIGHUP && hang_up_reloads && !is_kernels) {
		reload_asked = true;
		return;
	}
	if (is_kernels && signalled_child > 0 &&
	    !(number == SIGHUP && leads_session))
		return;
	if (signalled_child > 0)
		kill((pid_t)signalled_child, number);
	else
		kept_signal = number;
	errno = kept;
}

void ppi_catch_signals(void)
{
	struct sigaction action = { .sa_sigaction = pass_on,
		                    .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction now;

	leads_session = getsid(0) == getpid();
	sigemptyset(&action.sa_mask);
	for (int i = 0; i < CAUGHT_COUNT; i++) {
		/* nohup(1) had it ignored: it stays so, here and there */
		if (sigaction(caught[i].number, NULL, &now) == 0 &&
		    now.sa_handler == SIG_IGN)
			continue;
		sigaction(caught[i].number, &action, NULL);
	}
	action.sa_flags = SA_RESTART;
	for (int i = 0; i < OWN_COUNT; i++) {
		action.sa_handler = own[i].handler;
		sigaction(own[i].number, &action, &own[i].before);
	}
}

/* Keep those signals back for a moment; *before is the thread's mask. */
static void hold_signals(sigset_t *before)
{
	sigset_t ours;

	sigemptyset(&ours);
	for (int i = 0; i < CAUGHT_COUNT; i++)
		sigaddset(&ours, caught[i].number);
	pthread_sigmask(SIG_BLOCK, &ours, before);
}

static void let_signals(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* In a new child, before it executes a command: as if none of that were.
 * Handlers go at an exec, but the child may be told to end before; what is
 * ignored would stay so. Safe after a fork from a program with threads. */
static void uncatch_signals(void)
{
	struct sigaction now;

	for (int i = 0; i < CAUGHT_COUNT; i++)
		if (sigaction(caught[i].number, NULL, &now) == 0 &&
		    now.sa_flags & SA_SIGINFO)
			signal(caught[i].number, SIG_DFL);
	for (int i = 0; i < OWN_COUNT; i++)
		sigaction(own[i].number, &own[i].before, NULL);
}

void ppi_pass_signals_to(pid_t child)
{
	signalled_child = (sig_atomic_t)child;
}

void ppi_reload_by_hang_up(void)
{
	hang_up_reloads = true;
}

bool ppi_reload_asked(void)
{
	bool is_asked = reload_asked;

	reload_asked = false;
	return is_asked;
}

int ppi_kept_signal(void)
{
	return (int)kept_signal;
}

/* As if that one had come. */
static void keep_signal(int number)
{
	kept_signal = number;
}

const char *ppi_signal_name(int number, char room[32])
{
	static const struct {
		int number;
		const char *name;
	} others[] = {
		{ SIGKILL, "SIGKILL" }, { SIGSEGV, "SIGSEGV" },
		{ SIGABRT, "SIGABRT" }, { SIGBUS, "SIGBUS" },
		{ SIGFPE, "SIGFPE" },   { SIGILL, "SIGILL" },
		{ SIGPIPE, "SIGPIPE" }, { SIGALRM, "SIGALRM" },
		{ SIGTRAP, "SIGTRAP" }, { SIGXCPU, "SIGXCPU" },
		{ SIGXFSZ, "SIGXFSZ" }, { SIGPROF, "SIGPROF" },
	};

	for (int i = 0; i < CAUGHT_COUNT; i++)
		if (caught[i].number == number)
			return caught[i].name;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].number == number)
			return others[i].name;
	snprintf(room, 32, "signal %d", number);
	return room;
}

bool ppi_is_breakpoint(const char *event)
{
	static const char *const kinds[] = { "breakpoint:", "mem:" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (const char *at = strstr(event, kinds[i]); at;
		     at = strstr(at + 1, kinds[i]))
			if (at == event || strchr(",{ ", at[-1]))
				return true;
	return false;
}

/*
 * A kernel that finds no reason in DR6 takes the trap for an instruction of the
 * program (exc_debug_user in arch/x86/kernel/traps.c). In a virtual machine the
 * host may have put an old value there ("Load the guest's DR6 outside of the
 * innermost .vcpu_run() loop", KVM's fixes for Linux 6.14).
 */
void ppi_say_killed(const struct ppi_end *end, bool has_breakpoints)
{
	char room[32];

	if (!end->signal)
		return;
	ppi_say("the command was killed by %s",
	        ppi_signal_name(end->signal, room));
	if (end->signal == SIGTRAP && has_breakpoints)
		ppi_say("a breakpoint may have done that: in a virtual machine "
		        "whose host is older than Linux 6.14 the kernel may "
		        "lose why a trap came, and gives it to the program; "
		        "run it again, or count with uprobe:FILE:SYMBOL");
}

extern char **environ;

/* ---- the child ---- */

static void close_pipes(int go[2], int error[2])
{
	for (int i = 0; i < 2; i++) {
		if (go[i] >= 0)
			close(go[i]);
		if (error[i] >= 0)
			close(error[i]);
	}
}

static bool make_pipe(int ends[2])
{
	if (pipe(ends) != 0) {
		ends[0] = ends[1] = -1;
		return false;
	}
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	return true;
}

/* What the child is to execute. */
struct plan {
	const char *program;
	char *const *command, *const *environment;
	sigset_t mask; /* the command's */
	int null_fd; /* to take the place of terminals; -1: they stay */
	bool is_terminal[3];
	bool has_no_output;
	char **script; /* the shell's arguments, should it be a script without
	                * "#!" (execvp(3) does the same); NULL: it is none */
};

/* Only what is safe after a fork from a program with threads. */
static void run_child(int go, int error, const struct plan *plan)
{
	char byte;
	ssize_t got;
	int number;

	uncatch_signals();
	ppi_memory_unlimit();
	for (int i = 0; plan->null_fd >= 0 && i < 3; i++)
		if (plan->is_terminal[i])
			dup2(plan->null_fd, i);
	if (plan->has_no_output)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	pthread_sigmask(SIG_SETMASK, &plan->mask, NULL);
	do
		got = read(go, &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(PPI_EXIT_RECORD);
	execve(plan->program, plan->command, plan->environment);
	if (errno == ENOEXEC && plan->script)
		execve(plan->script[0], plan->script, plan->environment);
	number = errno;
	got = write(error, &number, sizeof(number));
	_exit(got == sizeof(number) ? PPI_EXIT_NOT_FOUND : PPI_EXIT_RECORD);
}

static char **script_of(const char *program, char *const *command)
{
	size_t count = 0;
	char **script;

	if (ppi_is_elf(program))
		return NULL;
	while (command[count])
		count++;
	script = calloc(count + 2, sizeof(*script));
	if (!script)
		return NULL;
	script[0] = (char *)(uintptr_t)"/bin/sh";
	script[1] = (char *)(uintptr_t)program;
	for (size_t i = 1; i < count; i++)
		script[i + 1] = command[i];
	return script;
}

static void find_terminals(struct plan *plan)
{
	plan->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		plan->is_terminal[i] = isatty(i);
}

bool ppi_child_start(struct ppi_child *child, const char *program,
                     char *const *command, char *const *environment)
{
	struct plan plan = {
		.program = program,
		.command = command,
		.environment = environment ? environment : environ,
		.script = script_of(program, command),
		.null_fd = -1,
		.has_no_output = child->has_no_output,
	};
	int go[2] = { -1, -1 }, error[2] = { -1, -1 }, failure;

	child->pid = -1;
	if (child->has_no_terminal)
		find_terminals(&plan);
	/* none may meet the child with our handlers, which would swallow it */
	hold_signals(&plan.mask);
	if (make_pipe(go) && make_pipe(error))
		child->pid = fork();
	if (child->pid == 0) {
		close(go[1]);
		run_child(go[0], error[1], &plan);
	}
	failure = errno;
	child->stops_at_exec = child->stops_at_exec && child->pid > 0 &&
	                       ppi_exec_stop_begin(child->pid);
	let_signals(&plan.mask);
	if (plan.null_fd >= 0)
		close(plan.null_fd);
	if (child->pid < 0) {
		ppi_say("cannot start a process: %s%s", strerror(failure),
		        failure == EMFILE ? "; raise the limit with ulimit -n"
		        : failure == EAGAIN ? "; raise the limit with ulimit -u"
		                            : "");
		close_pipes(go, error);
		free(plan.script);
		return false;
	}
	close(go[0]);
	close(error[1]);
	free(plan.script);
	child->go_fd = go[1];
	child->error_fd = error[0];
	return true;
}

/* A signal that ended it before it was released was meant for the command. */
static void reap(struct ppi_child *child)
{
	int status = 0;

	ppi_pass_signals_to(0);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		keep_signal(WTERMSIG(status));
}

/* It is us who ended it, and no signal of the user's. */
static void end_stopped(struct ppi_child *child)
{
	ppi_pass_signals_to(0);
	kill(child->pid, SIGKILL);
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void ppi_child_cancel(struct ppi_child *child)
{
	if (child->is_stopped) {
		end_stopped(child);
		return;
	}
	close(child->go_fd);
	close(child->error_fd);
	reap(child);
}

static int say_exec_error(const char *name, int error)
{
	ppi_say("cannot execute '%s': %s", name, strerror(error));
	return error == ENOENT || error == ENOTDIR ? PPI_EXIT_NOT_FOUND
	                                           : PPI_EXIT_CANNOT_RUN;
}

static void begin_times(struct ppi_child *child)
{
	child->is_taken_known = read_taken_ns(&child->taken_ns);
	child->released_ns = ppi_monotonic_ns();
}

int ppi_child_release(struct ppi_child *child, const char *name)
{
	int error = 0;
	sigset_t mask;
	ssize_t got;

	hold_signals(&mask);
	if (!ppi_kept_signal())
		ppi_pass_signals_to(child->pid);
	let_signals(&mask);
	if (ppi_kept_signal()) {
		ppi_child_cancel(child);
		return 128 + ppi_kept_signal();
	}
	begin_times(child);
	do /* fails when a signal has ended the child: waiting tells that */
		got = write(child->go_fd, "", 1);
	while (got < 0 && errno == EINTR);
	close(child->go_fd);
	child->is_stopped = child->stops_at_exec &&
	                    ppi_exec_stop_await(child->pid);
	do /* the pipe closes without a word when exec succeeds */
		got = read(child->error_fd, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	close(child->error_fd);
	if (got != sizeof(error))
		return 0;
	reap(child);
	return say_exec_error(name, error);
}

void ppi_child_go_on(struct ppi_child *child)
{
	child->is_stopped = false;
	begin_times(child);
	ppi_exec_stop_end(child->pid);
}

static uint64_t time_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u +
	       (uint64_t)time.tv_usec * 1000u;
}

/* Reaping frees the number, so signals must not be sent to it from then on. */
static bool reap_child(struct ppi_child *child, int options)
{
	pid_t got;

	if (child->is_reaped)
		return true;
	do
		got = wait4(child->pid, &child->status, options, &child->usage);
	while (got < 0 && errno == EINTR);
	child->is_reaped = got == child->pid;
	if (child->is_reaped)
		ppi_pass_signals_to(0);
	return child->is_reaped;
}

#ifdef WEXITED

/* Looks without reaping: wait(2). */
static bool has_ended(struct ppi_child *child, int options, bool *was_killed)
{
	siginfo_t info = { 0 };
	int result;

	do
		result = waitid(P_PID, (id_t)child->pid, &info,
		                WEXITED | WNOWAIT | options);
	while (result < 0 && errno == EINTR);
	*was_killed = info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
	return result == 0 && info.si_pid == child->pid;
}

#else

/* NetBSD before 8 and OpenBSD before 7.2 have no waitid(2). */
static bool has_ended(struct ppi_child *child, int options, bool *was_killed)
{
	bool has = reap_child(child, options);

	*was_killed = has && WIFSIGNALED(child->status);
	return has;
}

#endif

bool ppi_child_has_ended(struct ppi_child *child)
{
	bool was_killed;

	return has_ended(child, WNOHANG, &was_killed);
}

bool ppi_child_was_killed(struct ppi_child *child)
{
	bool was_killed;

	return has_ended(child, WNOHANG, &was_killed) && was_killed;
}

void ppi_child_await_end(struct ppi_child *child)
{
	bool was_killed;

	has_ended(child, 0, &was_killed);
}

void ppi_child_wait(struct ppi_child *child, struct ppi_end *end)
{
	uint64_t taken_ns;

	/* signals go to it until it has ended, and not to its number after */
	ppi_child_await_end(child);
	ppi_pass_signals_to(0);
	reap_child(child, 0);
	end->duration_ns = ppi_monotonic_ns() - child->released_ns;
	end->taken_ns = child->is_taken_known && read_taken_ns(&taken_ns)
		? taken_ns - child->taken_ns : UINT64_MAX;
	end->user_time_ns = time_ns(child->usage.ru_utime);
	end->system_time_ns = time_ns(child->usage.ru_stime);
	end->switches = (uint64_t)child->usage.ru_nvcsw +
	                (uint64_t)child->usage.ru_nivcsw;
	end->cpu_time_ns = end->user_time_ns + end->system_time_ns;
	end->signal = WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0;
	end->exit_status = end->signal ? 128 + end->signal
	                               : WEXITSTATUS(child->status);
}
