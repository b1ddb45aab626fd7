/* SPDX-License-Identifier: MIT */
/*
 * The program's signal masks, and its waiting for signals. A signal that the
 * library has taken is not blocked, whatever a thread wishes; the wish is
 * remembered, and honoured from the first signal on that is none of our
 * ticks. sigwait(3) and its relatives wait on when a tick wakes them.
 *
 * All but signalfd(2) is async-signal-safe.
 */
#include "config.h"

#include "base/signal_context.h"
#include "base/signals.h"
#include "tools/preload/signals.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct {
	int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
	int (*sigtimedwait)(const sigset_t *, siginfo_t *,
	                    const struct timespec *);
	int (*signalfd)(int, const sigset_t *, int);
} real;

/*
 * Of taken signals: which this thread wishes blocked, and which of them are
 * blocked indeed. One bit a signal; no call of the loader reaches them, as the
 * object is loaded with the program.
 */
typedef uint64_t bits;
static _Thread_local bits wished __attribute__((tls_model("initial-exec")));
static _Thread_local bits held __attribute__((tls_model("initial-exec")));

static bits bit_of(int number)
{
	return number <= 64 ? (bits)1 << (number - 1) : 0;
}

__attribute__((constructor(101))) static void look_around(void)
{
	ppi_next_function("pthread_sigmask", &real.pthread_sigmask);
	ppi_next_function("sigtimedwait", &real.sigtimedwait);
	ppi_next_function("signalfd", &real.signalfd);
}

/* Other objects' constructors may come before ours. */
static int real_mask(int how, const sigset_t *set, sigset_t *before)
{
	if (!real.pthread_sigmask)
		look_around();
	return real.pthread_sigmask(how, set, before);
}

void ppi_real_mask(int how, const sigset_t *set, sigset_t *before)
{
	real_mask(how, set, before);
}

bool ppi_mask_wishes_blocked(int number)
{
	return (wished & bit_of(number)) != 0;
}

/* ---- changing a mask ---- */

/* The set without signals that must not be blocked. */
static void leave_out_taken(sigset_t *set)
{
	for (int i = 1; i < NSIG; i++)
		if (ppi_signal_is_taken(i) && !(held & bit_of(i)))
			sigdelset(set, i);
}

static void note_wishes(int how, const sigset_t *set)
{
	for (int i = 1; i < NSIG; i++) {
		bool is_in = sigismember(set, i) == 1;

		if (!ppi_signal_is_taken(i))
			continue;
		if (how != SIG_UNBLOCK && is_in)
			wished |= bit_of(i);
		else if (how == SIG_SETMASK || is_in)
			wished &= ~bit_of(i);
	}
	held &= wished;
}

static int change(int how, const sigset_t *set, sigset_t *before)
{
	bits wished_before = wished;
	sigset_t copy, now;
	int error;

	if (set)
		copy = *set;
	if (set && how != SIG_UNBLOCK)
		leave_out_taken(&copy);
	error = real_mask(how, set ? &copy : NULL, &now);
	if (error)
		return error;
	if (set)
		note_wishes(how, set);
	for (int i = 1; i < NSIG; i++)
		if (wished_before & bit_of(i))
			sigaddset(&now, i);
	if (before)
		*before = now;
	return 0;
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	if (PPI_IS_OWN_CALL() || !ppi_any_signal_is_taken())
		return real_mask(how, set, before);
	return change(how, set, before);
}

int ppi_program_mask(int how, const sigset_t *set, sigset_t *before)
{
	int error = ppi_any_signal_is_taken() ? change(how, set, before) :
	                                        real_mask(how, set, before);

	if (!error)
		return 0;
	errno = error;
	return -1;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	int error;

	if (!PPI_IS_OWN_CALL())
		return ppi_program_mask(how, set, before);
	error = real_mask(how, set, before);
	if (!error)
		return 0;
	errno = error;
	return -1;
}

static void apply(int how, bits which, bool only_taken)
{
	sigset_t set;

	sigemptyset(&set);
	for (int i = 1; i < NSIG; i++)
		if (which & bit_of(i) &&
		    (!only_taken || ppi_signal_is_taken(i)))
			sigaddset(&set, i);
	real_mask(how, &set, NULL);
}

void ppi_mask_block_wished(void)
{
	if (wished)
		apply(SIG_BLOCK, wished, false);
}

void ppi_mask_adopt(void)
{
	sigset_t now;

	real_mask(SIG_BLOCK, NULL, &now);
	for (int i = 1; i < NSIG; i++)
		if (ppi_signal_is_taken(i) && sigismember(&now, i) == 1)
			wished |= bit_of(i);
	ppi_mask_free_taken();
}

void ppi_mask_block_taken(void)
{
	apply(SIG_BLOCK, ~(bits)0, true);
}

void ppi_mask_free_taken(void)
{
	apply(SIG_UNBLOCK, ~held, true);
}

/* ---- a signal that its thread wishes blocked ---- */

/* Sent again with all that it said, to whom it was sent: a process may send
 * itself any signal information (rt_sigqueueinfo(2)). */
static void send_again(int number, siginfo_t *info)
{
#if defined(SYS_rt_tgsigqueueinfo) && defined(SI_TKILL)
	if (info->si_code == SI_TKILL)
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid),
		        number, info);
	else
		syscall(SYS_rt_sigqueueinfo, getpid(), number, info);
#else
	(void)info;
	kill(getpid(), number);
#endif
}

void ppi_mask_hold(int number, siginfo_t *info, void *context)
{
	held |= bit_of(number);
	sigaddset(ppi_context_mask(context), number);
	send_again(number, info);
}

/* ---- waiting for signals ---- */

#if defined(_POSIX_REALTIME_SIGNALS) && _POSIX_REALTIME_SIGNALS > 0

static bool is_tick(int number, const siginfo_t *info)
{
	return number > 0 && number < PPI_SHARED_SIGNALS &&
	       ppi_signal_is_taken(number) &&
	       ppi_signal_share.is_tick[number] &&
	       ppi_signal_share.is_tick[number](number, info);
}

static struct timespec now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time;
}

static struct timespec minus(struct timespec a, struct timespec b)
{
	a.tv_sec -= b.tv_sec;
	a.tv_nsec -= b.tv_nsec;
	if (a.tv_nsec < 0) {
		a.tv_nsec += 1000000000;
		a.tv_sec--;
	}
	return a;
}

/* A tick that is taken here is no sample; its thread's next one has the
 * weight. */
int sigtimedwait(const sigset_t *set, siginfo_t *info,
                 const struct timespec *timeout)
{
	struct timespec begun = now(), left;
	siginfo_t seen;
	int number;

	if (!real.sigtimedwait)
		look_around();
	number = real.sigtimedwait(set, &seen, timeout);
	while (is_tick(number, &seen)) {
		if (timeout) {
			left = minus(*timeout, minus(now(), begun));
			if (left.tv_sec < 0)
				left = (struct timespec){ 0, 0 };
		}
		number = real.sigtimedwait(set, &seen, timeout ? &left : NULL);
	}
	if (number > 0 && info)
		*info = seen;
	return number;
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return sigtimedwait(set, info, NULL);
}

int sigwait(const sigset_t *set, int *number)
{
	int seen;

	do
		seen = sigtimedwait(set, NULL, NULL);
	while (seen < 0 && errno == EINTR);
	if (seen < 0)
		return errno;
	*number = seen;
	return 0;
}

#endif

/* A descriptor hands out whatever is pending, our ticks with it. */
int signalfd(int fd, const sigset_t *set, int flags);
int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t copy;

	if (!real.signalfd)
		look_around();
	if (!real.signalfd) {
		errno = ENOSYS;
		return -1;
	}
	if (!set || !ppi_any_signal_is_taken())
		return real.signalfd(fd, set, flags);
	copy = *set;
	leave_out_taken(&copy);
	return real.signalfd(fd, &copy, flags);
}

/* ---- calls that are older than sigaction(2) ---- */

/*
 * BSD's, which dash(1) mixes with sigprocmask(2), and System V's. The C library
 * has them by system calls of its own, so that the program's wish would be seen
 * by halves.
 */

/* BSD's masks have a bit for each of the first signals. */
static sigset_t set_of(int mask)
{
	unsigned word = (unsigned)mask;
	sigset_t set;

	sigemptyset(&set);
	for (int i = 1; i <= 32; i++)
		if (word & 1u << (i - 1))
			sigaddset(&set, i);
	return set;
}

static int change_old(int how, int mask)
{
	sigset_t next = set_of(mask), before;
	unsigned word = 0;

	if (ppi_program_mask(how, &next, &before) != 0)
		return -1;
	for (int i = 1; i <= 32; i++)
		if (sigismember(&before, i) == 1)
			word |= 1u << (i - 1);
	return (int)word;
}

int sigblock(int mask);
int sigblock(int mask)
{
	return change_old(SIG_BLOCK, mask);
}

int sigsetmask(int mask);
int sigsetmask(int mask)
{
	return change_old(SIG_SETMASK, mask);
}

int siggetmask(void);
int siggetmask(void)
{
	return change_old(SIG_BLOCK, 0);
}

/* System V's change the mask by one signal. */
static int change_one(int how, int number, sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	if (sigaddset(&set, number) != 0)
		return -1;
	return ppi_program_mask(how, &set, before);
}

int sighold(int number);
int sighold(int number)
{
	return change_one(SIG_BLOCK, number, NULL);
}

int sigrelse(int number);
int sigrelse(int number)
{
	return change_one(SIG_UNBLOCK, number, NULL);
}

int sigignore(int number);
int sigignore(int number)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigemptyset(&ignore.sa_mask);
	return ppi_program_sigaction(number, &ignore, NULL);
}

#ifdef SIG_HOLD
void (*sigset(int number, void (*handler)(int)))(int);
void (*sigset(int number, void (*handler)(int)))(int)
{
	bool is_held = handler == SIG_HOLD;
	struct sigaction next = { .sa_handler = handler }, before;
	sigset_t mask;

	sigemptyset(&next.sa_mask);
	if (ppi_program_sigaction(number, is_held ? NULL : &next, &before) !=
		    0 ||
	    change_one(is_held ? SIG_BLOCK : SIG_UNBLOCK, number, &mask) != 0)
		return SIG_ERR;
	return sigismember(&mask, number) == 1 ? SIG_HOLD : before.sa_handler;
}
#endif
