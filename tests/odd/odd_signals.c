/* SPDX-License-Identifier: MIT */
/* Odd habits with signals: handlers, masks, waiting, timers. */
#include "config.h"

#include "tests/odd/odd.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t count, last, was_on_stack;
static volatile long sum;

static void count_signal(int number)
{
	count++;
	last = number;
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigaction(number, &action, NULL);
}

static void set_timer(int which, long us)
{
	struct itimerval timer = { { 0, us }, { 0, us } };

	setitimer(which, &timer, NULL);
}

/* ---- jumps ---- */

static sigjmp_buf back;

static void jump(int number)
{
	siglongjmp(back, number);
}

static void jump_often(int number, int timer)
{
	volatile int jumps = 0;

	handle(number, jump, 0);
	if (sigsetjmp(back, 1))
		jumps++;
	if (jumps == 0)
		set_timer(timer, 2000);
	while (jumps < 40)
		odd_burn(1);
	set_timer(timer, 0);
	odd_say("jumps", jumps);
}

static void jumps_out_of_handler(void)
{
	jump_often(SIGALRM, ITIMER_REAL);
}

static void jumps_out_of_own_tick(void)
{
	jump_often(SIGPROF, ITIMER_PROF);
}

/* ---- stacks of handlers ---- */

static char *stack;
enum { STACK_BYTES = 65536 };

static void look_at_stack(int number)
{
	char here;

	(void)number;
	was_on_stack = &here > stack && &here < stack + STACK_BYTES;
	odd_burn(10);
}

static void take_stack(void)
{
	stack_t own = { .ss_size = STACK_BYTES };

	stack = malloc(STACK_BYTES);
	own.ss_sp = stack;
	sigaltstack(&own, NULL);
}

static void has_stack_for_handlers(void)
{
	take_stack();
	handle(SIGUSR1, look_at_stack, SA_ONSTACK);
	odd_burn(20);
	raise(SIGUSR1);
	odd_say("on its stack", was_on_stack);
	odd_burn(20);
}

static void end_by_handler(int number)
{
	(void)number;
	odd_say("overflow", 1);
	_exit(42);
}

static int overflow(int depth)
{
	volatile char room[4096];

	room[0] = (char)depth;
	return depth < 0 ? 0 : overflow(depth + 1) + room[0];
}

static void overflows_its_stack(void)
{
	take_stack();
	handle(SIGSEGV, end_by_handler, SA_ONSTACK);
	odd_burn(20);
	odd_say("depth", overflow(1));
}

/* ---- waiting ---- */

static atomic_int received;

/* Each when the one before has been received. */
static void *send_to_all(void *signals)
{
	const int *numbers = signals;

	for (int i = 0; numbers[i]; i++) {
		odd_burn(2);
		kill(getpid(), numbers[i]);
		while (atomic_load(&received) == i)
			usleep(500);
	}
	return NULL;
}

static const int usual[] = { SIGUSR1, SIGUSR2, SIGTERM, SIGHUP, SIGUSR1,
	                     SIGUSR2, SIGTERM, SIGHUP, 0 };

static void wait_for(const int *numbers)
{
	pthread_t thread;
	sigset_t all;
	int number;
	long product = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	odd_burn(20);
	pthread_create(&thread, NULL, send_to_all, (void *)(uintptr_t)numbers);
	for (; *numbers; numbers++) {
		if (sigwait(&all, &number) != 0)
			number = -1;
		product = product * 65 % 1000003 + number;
		odd_burn(3);
		atomic_fetch_add(&received, 1);
	}
	pthread_join(thread, NULL);
	odd_say("waited for", product);
}

static void waits_for_signals(void)
{
	wait_for(usual);
}

static void waits_for_rare_signals(void)
{
	int rare[] = { SIGPROF, SIGRTMAX, SIGRTMIN, SIGVTALRM, SIGPROF, 0 };

	wait_for(rare);
}

static void reads_signals(void)
{
	struct signalfd_siginfo info;
	pthread_t thread;
	sigset_t all;
	long product = 0;
	int fd;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	fd = signalfd(-1, &all, SFD_CLOEXEC);
	pthread_create(&thread, NULL, send_to_all, (void *)(uintptr_t)usual);
	for (const int *number = usual; *number; number++) {
		odd_burn(3);
		if (read(fd, &info, sizeof(info)) != sizeof(info))
			info.ssi_signo = 0;
		product = product * 65 % 1000003 + info.ssi_signo;
		atomic_fetch_add(&received, 1);
	}
	pthread_join(thread, NULL);
	odd_say("read", product);
}

static void *poke(void *target)
{
	pthread_t *thread = target;

	for (int i = 0; i < 40 && count == 0; i++) {
		usleep(10000);
		pthread_kill(*thread, SIGUSR1);
	}
	return NULL;
}

static void is_interrupted(void)
{
	pthread_t self = pthread_self(), thread;
	int ends[2];
	char byte;

	if (pipe(ends) != 0)
		return;
	handle(SIGUSR1, count_signal, 0);
	odd_burn(20);
	pthread_create(&thread, NULL, poke, &self);
	odd_say("read", read(ends[0], &byte, 1));
	odd_say("interrupted", errno == EINTR);
	pthread_join(thread, NULL);
}

static atomic_bool has_slept;

static void *burn_meanwhile(void *unused)
{
	(void)unused;
	while (!atomic_load(&has_slept))
		odd_burn(1);
	return NULL;
}

/* Ticks of a process go to the thread that runs: while it ends, to another one. */
static void sleeps_undisturbed(void)
{
	struct timespec long_time = { 0, 300000000 };
	pthread_t thread;

	handle(SIGUSR1, count_signal, 0);
	pthread_create(&thread, NULL, burn_meanwhile, NULL);
	odd_burn(5);
	odd_say("nanosleep", nanosleep(&long_time, NULL));
	atomic_store(&has_slept, true);
	pthread_join(thread, NULL);
}

/* ---- masks and handlers, as the program sees them ---- */

static long members(const sigset_t *set)
{
	long hash = 0;

	for (int i = 1; i < 65; i++)
		hash = hash * 3 % 1000003 + (sigismember(set, i) == 1);
	return hash;
}

static void looks_at_its_mask(void)
{
	sigset_t all, seen;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, NULL, &seen);
	odd_say("mask", members(&seen));
	sigprocmask(SIG_BLOCK, &all, &seen);
	odd_say("mask before", members(&seen));
	odd_burn(20);
	sigprocmask(SIG_SETMASK, NULL, &seen);
	odd_say("mask of all", members(&seen));
	sigdelset(&all, SIGPROF);
	pthread_sigmask(SIG_SETMASK, &all, &seen);
	odd_say("mask of all still", members(&seen));
	pthread_sigmask(SIG_UNBLOCK, &all, &seen);
	odd_say("mask without one", members(&seen));
	sigprocmask(SIG_SETMASK, NULL, &seen);
	odd_say("mask of none", members(&seen));
}

static void handle_all(void (*handler)(int))
{
	for (int i = 1; i < 65; i++)
		if (i != SIGKILL && i != SIGSTOP && i != SIGCHLD &&
		    (i < 32 || i >= SIGRTMIN))
			handle(i, handler, SA_RESTART);
}

static void handles_all_signals(void)
{
	struct sigaction seen;

	handle_all(count_signal);
	odd_burn(60);
	odd_say("signals from nowhere", count);
	sigaction(SIGPROF, NULL, &seen);
	odd_say("its handler", seen.sa_handler == count_signal);
	raise(SIGPROF);
	odd_say("its own signal", last);
	raise(SIGRTMAX);
	odd_say("its own signal", last);
	odd_burn(20);
	odd_say("all signals", count);
}

static void shows_what_it_inherits(void)
{
	struct sigaction seen;
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	odd_say("inherited mask", members(&mask));
	for (int i = 1; i < 65; i++)
		if (sigaction(i, NULL, &seen) == 0 &&
		    seen.sa_handler != SIG_DFL)
			odd_say(seen.sa_handler == SIG_IGN ? "ignored" :
			        "handled", i);
	odd_burn(20);
}

static void ignores_all_and_execs(void)
{
	handle_all(SIG_IGN);
	odd_burn(30);
	odd_exec("_shows_what_it_inherits");
}

static void blocks_all_and_execs(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	odd_burn(30);
	odd_exec("_shows_what_it_inherits");
}

/* As dash(1) does around vfork: with the calls that are older, too. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void mixes_old_calls(void)
{
	sigset_t all, mask;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	odd_burn(10);
#ifdef __GLIBC__ /* musl has none of these three */
	odd_say("old mask", siggetmask());
	sigsetmask(0);
	odd_burn(10);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	odd_say("set", members(&mask));
	sigblock(1 << (SIGPROF - 1));
	odd_burn(10);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	odd_say("blocked", members(&mask));
#endif
	sigrelse(SIGPROF);
	sighold(SIGRTMAX);
	odd_burn(10);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	odd_say("held", members(&mask));
	odd_say("was held", sigset(SIGRTMAX, count_signal) == SIG_HOLD);
	raise(SIGRTMAX);
	sigignore(SIGPROF);
	odd_burn(10);
	raise(SIGPROF);
	odd_say("handled", count);
	odd_exec("_shows_what_it_inherits");
}
#pragma GCC diagnostic pop

static void blocks_all_and_forks(void)
{
	sigset_t all;
	pid_t child;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	handle(SIGPROF, SIG_IGN, 0);
	odd_burn(30);
	child = fork();
	if (child == 0)
		odd_exec("_shows_what_it_inherits");
	odd_say("child", odd_wait(child));
}

static void resets_handler(int number)
{
	struct sigaction seen;

	sigaction(number, NULL, &seen);
	odd_say("while it runs", seen.sa_handler == SIG_DFL);
	count++;
}

static void handles_once(void)
{
	handle(SIGRTMAX, resets_handler, (int)SA_RESETHAND);
	handle(SIGPROF, resets_handler, (int)SA_RESETHAND);
	odd_burn(20);
	raise(SIGRTMAX);
	raise(SIGPROF);
	odd_say("handled", count);
}

/* ---- past the C library ---- */

#ifdef __x86_64__
struct raw_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

static long raw_sigaction(int number, struct raw_action *next,
                          struct raw_action *before)
{
	return syscall(SYS_rt_sigaction, number, next, before, 8);
}
#endif

static void calls_the_kernel(void)
{
#ifdef __x86_64__
	struct raw_action ignore = { SIG_IGN, 0, NULL, 0 }, seen;
	int numbers[] = { SIGPROF, SIGRTMAX, SIGUSR1 };

	for (int i = 0; i < 3; i++) {
		odd_say("set", raw_sigaction(numbers[i], &ignore, &seen));
		odd_say("before", seen.handler == SIG_DFL);
		odd_say("asked", raw_sigaction(numbers[i], NULL, &seen));
		odd_say("now", seen.handler == SIG_IGN);
		raise(numbers[i]);
	}
#endif
	odd_burn(40);
}

static void resets_in_the_kernel(void)
{
#ifdef __x86_64__
	struct raw_action usual_action = { SIG_DFL, 0, NULL, 0 };

	for (int i = 1; i < 65; i++)
		raw_sigaction(i, &usual_action, NULL);
#endif
	odd_burn(40);
}

/* ---- timers of its own ---- */

/*
 * ITIMER_PROF and ITIMER_VIRTUAL count whole ticks of the kernel, and how many of
 * them meet a program depends on what runs beside it. Nobody else takes the
 * second: the first must give three quarters of what it does, as a tick that
 * comes while one is pending is merged.
 */
static volatile sig_atomic_t witnessed;

static void count_witness(int number)
{
	(void)number;
	witnessed++;
}

static void begin_witness(void)
{
	handle(SIGVTALRM, count_witness, SA_RESTART);
	set_timer(ITIMER_VIRTUAL, 10000);
}

static void burn_beside_witness(void)
{
	while (witnessed < 25)
		odd_burn(10);
	set_timer(ITIMER_VIRTUAL, 0);
}

static void say_ticks(const char *words)
{
	odd_say(words, count * 4 >= witnessed * 3);
	count = witnessed = 0;
}

static void has_profiling_timer(void)
{
	struct itimerval seen;

	handle(SIGPROF, count_signal, SA_RESTART);
	getitimer(ITIMER_PROF, &seen);
	odd_say("not running", seen.it_interval.tv_usec);
	set_timer(ITIMER_PROF, 10000);
	begin_witness();
	burn_beside_witness();
	getitimer(ITIMER_PROF, &seen);
	set_timer(ITIMER_PROF, 0);
	odd_say("interval", seen.it_interval.tv_usec);
	say_ticks("its own ticks");
	odd_burn(50);
	odd_say("and no others", count);
}

static void has_profiling_timer_first(void)
{
	struct itimerval timer = { { 0, 1000 }, { 0, 50000 } }, seen;

	odd_burn(20);
	setitimer(ITIMER_PROF, &timer, &seen);
	odd_say("not running", seen.it_interval.tv_usec);
	signal(SIGPROF, count_signal);
	odd_burn(60);
	begin_witness();
	burn_beside_witness();
	getitimer(ITIMER_PROF, &seen);
	odd_say("interval", seen.it_interval.tv_usec);
	set_timer(ITIMER_PROF, 0);
	say_ticks("its own ticks");
}

/* Of a POSIX timer, those that were merged too. */
static volatile long periods;

static void add_value(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	count++;
	periods += 1 + info->si_overrun;
	sum += info->si_value.sival_int;
}

static void has_timers_of_its_own(void)
{
	int numbers[] = { SIGPROF, SIGRTMAX, SIGRTMIN };
	struct itimerspec each = { { 0, 10000000 }, { 0, 10000000 } };
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = add_value;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	for (int i = 0; i < 3; i++) {
		struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
			                  .sigev_signo = numbers[i] };
		timer_t timer;

		sigaction(numbers[i], &action, NULL);
		event.sigev_value.sival_int = i + 1;
		timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer);
		timer_settime(timer, 0, &each, NULL);
		count = 0;
		periods = sum = 0;
		/* it is looked at when a tick of the kernel meets us */
		for (int more = 0; periods < 15 && more < 20; more++)
			odd_burn(more == 0 ? 200 : 50);
		timer_delete(timer);
		odd_say("values of its timer", sum == count * (i + 1));
		odd_say("ticks of its timer", periods >= 15);
	}
}

static void queues_values(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = add_value;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGRTMAX, &action, NULL);
	sigaction(SIGPROF, &action, NULL);
	for (int i = 1; i <= 100; i++) {
		union sigval value = { .sival_int = i };

		sigqueue(getpid(), SIGRTMAX, value);
		odd_burn(1);
		value.sival_int = 1000;
		sigqueue(getpid(), SIGPROF, value);
	}
	odd_say("signals", count);
	odd_say("sum", sum);
}

/* ---- ends ---- */

static void dies_of_sigprof(void)
{
	odd_burn(30);
	raise(SIGPROF);
}

static void dies_of_realtime_signal(void)
{
	odd_burn(30);
	kill(getpid(), SIGRTMAX);
	odd_burn(30);
}

#ifdef __GLIBC__ /* musl has no contexts */
static void has_coroutines(void)
{
	static ucontext_t here, there;
	static char room[65536];
	volatile int turns = 0;

	getcontext(&there);
	there.uc_stack.ss_sp = room;
	there.uc_stack.ss_size = sizeof(room);
	there.uc_link = &here;
	while (turns < 50) {
		makecontext(&there, (void (*)(void))odd_spin, 0);
		if (turns == 0)
			makecontext(&there, (void (*)(void))odd_burn, 1, 10);
		else
			makecontext(&there, (void (*)(void))odd_burn, 1, 1);
		swapcontext(&here, &there);
		turns++;
	}
	odd_say("turns", turns);
}
#endif

#define HABIT(name) { #name, name }

const struct odd_habit odd_signals[] = {
	HABIT(jumps_out_of_handler),
	HABIT(jumps_out_of_own_tick),
	HABIT(has_stack_for_handlers),
	HABIT(overflows_its_stack),
	HABIT(waits_for_signals),
	HABIT(waits_for_rare_signals),
	HABIT(reads_signals),
	HABIT(is_interrupted),
	HABIT(sleeps_undisturbed),
	HABIT(looks_at_its_mask),
	HABIT(handles_all_signals),
	HABIT(handles_once),
	HABIT(ignores_all_and_execs),
	HABIT(blocks_all_and_execs),
	HABIT(mixes_old_calls),
	HABIT(blocks_all_and_forks),
	{ "_shows_what_it_inherits", shows_what_it_inherits },
	HABIT(calls_the_kernel),
	HABIT(resets_in_the_kernel),
	HABIT(has_profiling_timer),
	HABIT(has_profiling_timer_first),
	HABIT(has_timers_of_its_own),
	HABIT(queues_values),
#ifdef __GLIBC__
	HABIT(has_coroutines),
#endif
	HABIT(dies_of_sigprof),
	HABIT(dies_of_realtime_signal),
	{ NULL, NULL },
};
