/* SPDX-License-Identifier: MIT */
/*
 * Keeps the program and the library apart where both want a signal.
 *
 * Programs set handlers for every signal there is (sort(1) does, to clean up
 * before it dies), and threads of libraries block all of them (liblzma's do).
 * Neither means ours; but the first would end the program at the next tick,
 * and the second leave such threads without samples. So for a signal that the
 * library in this object has taken, the program's wishes are remembered and
 * answered as if they were in force, and a mask does not hold it (masks.c). A
 * signal that is none of our ticks is handled as the program wishes. When the
 * library gives the signal back, what the program wished last comes into
 * force.
 *
 * Calls of the library itself go through: they come from this object's own
 * text. All here is async-signal-safe, as POSIX wants sigaction to be.
 */
#include "config.h"

#include "tools/preload/signals.h"

#include "base/signals.h"
#include "base/signal_context.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static struct {
	int (*sigaction)(int, const struct sigaction *, struct sigaction *);
	void (*(*signal)(int, void (*)(int)))(int);
	void (*(*sysv_signal)(int, void (*)(int)))(int);
} real;

/* Where this object lies: calls from here are the library's. */
static uintptr_t own_start, own_end;

/*
 * A signal that the library has taken, and what the program wishes for it. Of
 * the two wishes `current` is in force and whole at every moment: a child may
 * be forked while another thread writes the other.
 */
static struct {
	atomic_bool is_taken;
	_Atomic unsigned current;
	struct sigaction wishes[2];
} taken[NSIG];

static atomic_int taken_count;

/*
 * Whoever changes `taken` holds the lock, with all signals blocked. It is the
 * owner's: a child, which may have been forked while another thread held it,
 * goes by the system's own table until it adopts ours, and then the lock is
 * free. A vfork child shares our memory and must not change it at all.
 */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static _Atomic pid_t owner;

/* ---- who calls, and what is real ---- */

/* POSIX lets a pointer to data hold one to a function; C does not. */
void ppi_next_function(const char *name, void *function)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(function, &found, sizeof(found));
}

static int find_own(struct dl_phdr_info *info, size_t bytes, void *context)
{
	uintptr_t self = (uintptr_t)context, start = UINTPTR_MAX, end = 0;

	(void)bytes;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		if (from < start)
			start = from;
		if (from + info->dlpi_phdr[i].p_memsz > end)
			end = from + info->dlpi_phdr[i].p_memsz;
	}
	if (self < start || self >= end)
		return 0;
	own_start = start;
	own_end = end;
	return 1;
}

static bool forward(int number, siginfo_t *info, void *context);
static void set_aside(bool is_aside);

/* Before the constructor that begins to measure. */
__attribute__((constructor(101))) static void look_around(void)
{
	ppi_next_function("sigaction", &real.sigaction);
	ppi_next_function("signal", &real.signal);
	ppi_next_function("__sysv_signal", &real.sysv_signal);
	dl_iterate_phdr(find_own, (void *)(uintptr_t)look_around);
	atomic_store(&owner, getpid());
	ppi_signal_share.forward = forward;
	ppi_signal_share.set_aside = set_aside;
}

bool ppi_is_own_code(uintptr_t address)
{
	return address >= own_start && address < own_end;
}

static bool is_own_handler(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO &&
	       ppi_is_own_code((uintptr_t)action->sa_sigaction);
}

/* Other objects' constructors may come before ours. */
static int call_sigaction(int number, const struct sigaction *next,
                          struct sigaction *before)
{
	if (!real.sigaction)
		look_around();
	return real.sigaction(number, next, before);
}

static bool is_owner(void)
{
	return atomic_load(&owner) == getpid();
}

bool ppi_any_signal_is_taken(void)
{
	return atomic_load(&taken_count) > 0 && is_owner();
}

bool ppi_signal_is_taken(int number)
{
	return number > 0 && number < NSIG &&
	       atomic_load(&taken[number].is_taken) && is_owner();
}

/* ---- taking and giving back ---- */

/* A handler must not interrupt the holder of the lock and want it too. */
static void take_lock(sigset_t *mask)
{
	sigset_t all;

	sigfillset(&all);
	ppi_real_mask(SIG_BLOCK, &all, mask);
	while (atomic_flag_test_and_set(&lock))
		;
}

static void give_lock(const sigset_t *mask)
{
	atomic_flag_clear(&lock);
	ppi_real_mask(SIG_SETMASK, mask, NULL);
}

static struct sigaction *wish_of(int number)
{
	return &taken[number].wishes[atomic_load(&taken[number].current)];
}

static void set_wish(int number, const struct sigaction *wish)
{
	unsigned next = !atomic_load(&taken[number].current);

	taken[number].wishes[next] = *wish;
	atomic_store(&taken[number].current, next);
}

static void set_taken(int number, bool is_taken)
{
	if (atomic_exchange(&taken[number].is_taken, is_taken) == is_taken)
		return;
	atomic_fetch_add(&taken_count, is_taken ? 1 : -1);
}

/* Ignoring a signal for a moment throws away what is pending of it. */
static bool is_flush(const struct sigaction *next, const struct sigaction *now)
{
	return is_own_handler(now) && !(next->sa_flags & SA_SIGINFO) &&
	       next->sa_handler == SIG_IGN;
}

/* The library takes a signal, or gives it back: then the program's own wish
 * is what was there before. */
static int own_sigaction(int number, const struct sigaction *next,
                         struct sigaction *before)
{
	bool was_taken = atomic_load(&taken[number].is_taken);
	struct sigaction now;
	sigset_t mask;
	int result;

	if (!next || !is_owner())
		return call_sigaction(number, next, before);
	take_lock(&mask);
	call_sigaction(number, NULL, &now);
	if (was_taken && !is_own_handler(next) && !is_flush(next, &now)) {
		set_taken(number, false);
		next = wish_of(number);
	}
	result = call_sigaction(number, next, &now);
	if (result == 0 && !was_taken && is_own_handler(next)) {
		set_wish(number, &now);
		set_taken(number, true);
	}
	give_lock(&mask);
	if (result == 0 && before)
		*before = now;
	return result;
}

void ppi_signal_hand_over(int number, void (*stop)(void))
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t mask;

	take_lock(&mask);
	if (atomic_load(&taken[number].is_taken)) {
		stop();
		/* so that what is pending is no tick of the program's */
		sigemptyset(&ignore.sa_mask);
		call_sigaction(number, &ignore, NULL);
		call_sigaction(number, wish_of(number), NULL);
		set_taken(number, false);
	}
	give_lock(&mask);
}

/* ---- the program's wishes ---- */

/* The signal that the program gets when it wants it; 0: there is none. */
static _Atomic int weak_signal;
static atomic_bool is_given_up;

void ppi_signal_give_up_on_wish(int number)
{
	atomic_store(&weak_signal, number);
}

bool ppi_signal_is_given_up(int number)
{
	return atomic_load(&weak_signal) == number && atomic_load(&is_given_up);
}

static bool is_handler(const struct sigaction *wish)
{
	return wish->sa_flags & SA_SIGINFO ||
	       (wish->sa_handler != SIG_DFL && wish->sa_handler != SIG_IGN);
}

/* With the lock held. */
static void give_up_if_weak(int number, const struct sigaction *wish)
{
	if (number != atomic_load(&weak_signal) || !is_handler(wish))
		return;
	if (call_sigaction(number, wish, NULL) != 0)
		return;
	set_taken(number, false);
	atomic_store(&is_given_up, true);
}

/* True when the signal is the library's: then the wish is noted, and all is
 * done. */
static bool note_wish(int number, const struct sigaction *next,
                      struct sigaction *before)
{
	struct sigaction wish;
	sigset_t mask;
	bool is_ours;

	if (next)
		wish = *next;
	take_lock(&mask);
	is_ours = atomic_load(&taken[number].is_taken);
	if (is_ours && before)
		*before = *wish_of(number);
	if (is_ours && next) {
		set_wish(number, &wish);
		give_up_if_weak(number, &wish);
	}
	give_lock(&mask);
	return is_ours;
}

/* In a child that shares or copied our memory the system's own table counts;
 * our handler there stands for what the program wished. */
static int foreign_sigaction(int number, const struct sigaction *next,
                             struct sigaction *before)
{
	struct sigaction now;
	int result = call_sigaction(number, next, &now);

	if (result == 0 && before)
		*before = is_own_handler(&now) ? *wish_of(number) : now;
	return result;
}

int ppi_program_sigaction(int number, const struct sigaction *next,
                          struct sigaction *before)
{
	if (number <= 0 || number >= NSIG ||
	    !atomic_load(&taken[number].is_taken))
		return call_sigaction(number, next, before);
	if (!is_owner())
		return foreign_sigaction(number, next, before);
	if (note_wish(number, next, before))
		return 0;
	return call_sigaction(number, next, before);
}

int sigaction(int number, const struct sigaction *next,
              struct sigaction *before)
{
	if (number > 0 && number < NSIG && PPI_IS_OWN_CALL())
		return own_sigaction(number, next, before);
	return ppi_program_sigaction(number, next, before);
}

/* signal(2) in its two meanings: with BSD's, which is the C library's default,
 * the handler stays and calls are restarted. */
static void (*set_handler(int number, void (*handler)(int), bool is_bsd))(int)
{
	struct sigaction next = { .sa_handler = handler,
		                  .sa_flags = SA_RESTART };
	struct sigaction before;

	sigemptyset(&next.sa_mask);
	if (is_bsd)
		sigaddset(&next.sa_mask, number);
	else
		next.sa_flags = (int)(SA_RESETHAND | SA_NODEFER);
	if (ppi_program_sigaction(number, &next, &before) != 0)
		return SIG_ERR;
	return before.sa_handler;
}

void (*signal(int number, void (*handler)(int)))(int)
{
	if (ppi_signal_is_taken(number))
		return set_handler(number, handler, true);
	if (!real.signal)
		look_around();
	return real.signal(number, handler);
}

/* What signal(2) is for programs that are compiled for System V. */
void (*__sysv_signal(int number, void (*handler)(int)))(int);
void (*__sysv_signal(int number, void (*handler)(int)))(int)
{
	if (ppi_signal_is_taken(number))
		return set_handler(number, handler, false);
	if (!real.sysv_signal)
		look_around();
	return real.sysv_signal ? real.sysv_signal(number, handler) : SIG_ERR;
}

/* ---- signals that are none of our ticks ---- */

/* The interrupted code's mask with what the action adds. A kernel's frame has
 * room for its own signals alone, not for all of a sigset_t. */
static sigset_t mask_for(int number, const struct sigaction *wish,
                         void *context)
{
	sigset_t mask;

	sigemptyset(&mask);
	memcpy(&mask, ppi_context_mask(context), (NSIG - 1) / 8);
	for (int i = 1; i < NSIG; i++)
		if (sigismember(&wish->sa_mask, i) == 1)
			sigaddset(&mask, i);
	if (!(wish->sa_flags & SA_NODEFER))
		sigaddset(&mask, number);
	return mask;
}

static void call_handler(int number, const struct sigaction *wish,
                         siginfo_t *info, void *context)
{
	sigset_t mask = mask_for(number, wish, context);
	struct sigaction reset = { .sa_handler = SIG_DFL };

	if (wish->sa_flags & (int)SA_RESETHAND) {
		sigemptyset(&reset.sa_mask);
		ppi_program_sigaction(number, &reset, NULL);
	}
	ppi_real_mask(SIG_SETMASK, &mask, NULL);
	if (wish->sa_flags & SA_SIGINFO)
		wish->sa_sigaction(number, info, context);
	else
		wish->sa_handler(number);
}

static bool forward(int number, siginfo_t *info, void *context)
{
	struct sigaction wish;

	if (!is_owner())
		wish = *wish_of(number);
	else if (ppi_program_sigaction(number, NULL, &wish) != 0)
		return false;
	if (ppi_mask_wishes_blocked(number)) {
		ppi_mask_hold(number, info, context);
		return true;
	}
	if (!(wish.sa_flags & SA_SIGINFO) && wish.sa_handler == SIG_IGN)
		return true;
	if (!(wish.sa_flags & SA_SIGINFO) && wish.sa_handler == SIG_DFL)
		return false;
	call_handler(number, &wish, info, context);
	return true;
}

/* ---- fork and exec ---- */

/* What the program wishes for signals that its parent's library had. */
static struct sigaction kept_wishes[NSIG];
static bool was_taken[NSIG];

void ppi_signals_adopt(void)
{
	struct sigaction now;

	atomic_store(&owner, getpid());
	atomic_flag_clear(&lock);
	for (int i = 1; i < NSIG; i++) {
		if (!atomic_load(&taken[i].is_taken))
			continue;
		kept_wishes[i] = *wish_of(i);
		was_taken[i] = call_sigaction(i, NULL, &now) == 0 &&
		               is_own_handler(&now);
		set_taken(i, was_taken[i]);
	}
}

void ppi_signals_lend(void)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };

	sigemptyset(&usual.sa_mask);
	for (int i = 1; i < NSIG; i++)
		if (was_taken[i])
			call_sigaction(i, &usual, NULL);
}

void ppi_signals_settle(void)
{
	for (int i = 1; i < NSIG; i++) {
		if (was_taken[i] && atomic_load(&taken[i].is_taken))
			set_wish(i, &kept_wishes[i]);
		else if (was_taken[i])
			call_sigaction(i, &kept_wishes[i], NULL);
		was_taken[i] = false;
	}
	/* as for the parent: what is not ours is blocked, ticks are not */
	ppi_mask_block_wished();
	ppi_mask_free_taken();
}

/* A new program inherits which signals are ignored, and what is blocked. */
static void set_aside(bool is_aside)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	static struct sigaction ours[NSIG];

	if (!ppi_any_signal_is_taken())
		return;
	sigemptyset(&ignore.sa_mask);
	for (int i = 1; i < NSIG; i++)
		if (atomic_load(&taken[i].is_taken) &&
		    wish_of(i)->sa_handler == SIG_IGN)
			call_sigaction(i, is_aside ? &ignore : &ours[i],
			               is_aside ? &ours[i] : NULL);
	if (is_aside)
		ppi_mask_block_wished();
	else
		ppi_mask_free_taken();
}

/* ---- the profiling timer ---- */

/*
 * ITIMER_PROF, which the program has before the library:
 * while the library uses it, it looks unused; when the program sets it, the
 * library loses it and SIGPROF that moment, and every tick is the program's.
 */

static struct {
	int (*setitimer)(int, const struct itimerval *, struct itimerval *);
	int (*getitimer)(int, struct itimerval *);
} real_timers;

__attribute__((constructor(101))) static void find_timers(void)
{
	ppi_next_function("setitimer", &real_timers.setitimer);
	ppi_next_function("getitimer", &real_timers.getitimer);
}

static const struct itimerval unused;

static void stop_timer(void)
{
	real_timers.setitimer(ITIMER_PROF, &unused, NULL);
}

static bool is_possible(const struct timeval *time)
{
	return time->tv_sec >= 0 && time->tv_usec >= 0 &&
	       time->tv_usec < 1000000;
}

/* While SIGPROF is the library's. A timer that is set to nothing was not
 * running, as far as the program can know. */
static int set_profiling_timer(const struct itimerval *next,
                               struct itimerval *before)
{
	if (next && (!is_possible(&next->it_value) ||
	             !is_possible(&next->it_interval))) {
		errno = EINVAL;
		return -1;
	}
	if (next && (next->it_value.tv_sec || next->it_value.tv_usec)) {
		ppi_signal_hand_over(SIGPROF, stop_timer);
		return real_timers.setitimer(ITIMER_PROF, next, before);
	}
	if (before)
		*before = unused;
	return 0;
}

int ppi_program_setitimer(int which, const struct itimerval *next,
                          struct itimerval *before)
{
	if (!real_timers.setitimer)
		find_timers();
	if (which == ITIMER_PROF && ppi_signal_is_taken(SIGPROF))
		return set_profiling_timer(next, before);
	return real_timers.setitimer(which, next, before);
}

int ppi_program_getitimer(int which, struct itimerval *now)
{
	if (!real_timers.getitimer)
		find_timers();
	if (which != ITIMER_PROF || !ppi_signal_is_taken(SIGPROF))
		return real_timers.getitimer(which, now);
	*now = unused;
	return 0;
}

/* The first argument is an enum in glibc and an int elsewhere, and both are
 * passed alike. */
#ifdef __GLIBC__
typedef __itimer_which_t timer_name;
#else
typedef int timer_name;
#endif

int setitimer(timer_name which, const struct itimerval *next,
              struct itimerval *before)
{
	if (!PPI_IS_OWN_CALL())
		return ppi_program_setitimer((int)which, next, before);
	if (!real_timers.setitimer)
		find_timers();
	return real_timers.setitimer((int)which, next, before);
}

int getitimer(timer_name which, struct itimerval *now)
{
	if (!PPI_IS_OWN_CALL())
		return ppi_program_getitimer((int)which, now);
	if (!real_timers.getitimer)
		find_timers();
	return real_timers.getitimer((int)which, now);
}
