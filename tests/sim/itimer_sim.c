/* SPDX-License-Identifier: MIT */
/* ITIMER_PROF and SIGPROF, simulated. */
#include "tests/sim/itimer_sim.h"

#include "tests/sim/clock.h"
#include "tests/sim/signals.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { EVERY_NS = 10000000, TICK_CODE = 0x80 };

static struct {
	uint64_t charged_ns; /* a tick at a time */
	uint64_t other_ns;   /* exact, of no thread of the program */
	uint64_t expires_ns; /* of charged_ns; 0 = disarmed */
	uint64_t every_ns;
	uint64_t after_get_ns; /* the program's, after the next look */
	bool ticks_at_set;
	struct sim_thread *pending; /* the thread chosen for SIGPROF */
	bool hides_threads;
	bool prefers_one;          /* NetBSD */
	struct sim_thread *preferred;
	unsigned wakings;
} sim;

/* Sessions may be opened by several threads; handlers run in none of these
 * calls. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- faults: errnos from the manual pages ---- */

enum call { THREADS, THREAD_CPU, PROCESS_CPU, LOOK, INSTALL, ARM, GET, TRY, CALLS };

/* Not among them: disarming, and putting back an action that was there before,
 * which cannot fail with arguments that were once right. */
static const struct sim_fault calls[CALLS] = {
	[THREADS] = { "threads", { EMFILE, ENFILE, ENOMEM, ENOENT, ENOSYS } },
	[THREAD_CPU] = { "thread_cpu", { ESRCH, ENOSYS } },
	[PROCESS_CPU] = { "process_cpu", { EINVAL } },
	[LOOK] = { "action (look)", { EINVAL } },
	[INSTALL] = { "action (install)", { EINVAL } },
	[ARM] = { "set", { EINVAL } },
	[GET] = { "get", { EINVAL } },
	[TRY] = { "set (try)", { EPERM } },
};

struct sim_faults itimer_sim_faults = { .calls = calls, .count = CALLS };

static bool strikes(enum call call)
{
	return sim_faults_strike(&itimer_sim_faults, call);
}

/* ---- what a tick does ---- */

/* Called without a thread for the helper's ticks: it blocks all signals. */
static struct sim_thread *choose(struct sim_thread *current)
{
	if (current && !current->blocks_signals)
		return current;
	for (unsigned i = 0; i < FX_THREADS; i++) {
		struct sim_thread *thread = sim_program_thread(i);

		if (thread && !thread->blocks_signals)
			return thread;
	}
	return NULL;
}

/*
 * One SIGPROF can be pending for the process; another is dropped, untold
 * ([signal] legacy_queue). The thread that is met has it first; when it blocks
 * the signal another is woken for it ([signal] complete_signal).
 */
static void post(struct sim_thread *current)
{
	struct sim_thread *chosen = choose(current);

	if (sim.prefers_one && sim.preferred &&
	    sim_program_is_busy(sim.preferred))
		chosen = sim.preferred;
	sim.preferred = chosen;
	if (sim.pending || !chosen)
		return;
	sim.pending = chosen;
	sim.wakings += chosen != current;
}

/* An expiry moves on by one interval, however many are due ([cpu-timers]
 * check_cpu_itimer), on user and system time as charged ([cpu-timers]
 * task_sample_cputime), which is a whole tick to whom it meets ([cputime]
 * account_process_tick). */
static void charge_tick(struct sim_thread *current)
{
	sim.charged_ns += ITIMER_SIM_TICK_NS;
	if (!sim.expires_ns || sim.charged_ns < sim.expires_ns)
		return;
	sim.expires_ns = sim.every_ns ? sim.expires_ns + sim.every_ns : 0;
	post(current);
}

static void on_tick(struct sim_thread *thread)
{
	charge_tick(thread);
}

static void deliver(void)
{
	struct sim_thread *thread = sim.pending;
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = SIGPROF;
	info.si_code = TICK_CODE; /* SI_KERNEL: not sent by a process [signal] */
	sim.pending = NULL;
	sim_signals_deliver(thread, &info);
}

static void on_return_to_user(struct sim_thread *thread)
{
	if (sim.pending == thread && !thread->blocks_signals)
		deliver();
}

/* A pending signal of the process goes to another thread ([signal]
 * retarget_shared_pending). */
static void on_end(struct sim_thread *thread)
{
	if (sim.preferred == thread)
		sim.preferred = NULL;
	if (sim.pending != thread)
		return;
	sim.pending = NULL;
	post(NULL);
}

/* ---- the calls ---- */

static uint64_t sim_now_ns(void *self)
{
	(void)self;
	return sim_clock_now();
}

static uint64_t sim_tick_ns(void *self)
{
	(void)self;
	return ITIMER_SIM_TICK_NS;
}

static unsigned sim_cpu_count(void *self)
{
	(void)self;
	return ITIMER_SIM_CPUS;
}

/* A test that forks is a forked process. */
static int64_t sim_process_id(void *self)
{
	(void)self;
	return getpid();
}

static int64_t sim_thread_id(void *self)
{
	(void)self;
	return sim_signals_current()->tid;
}

static int sim_threads(void *self, int64_t *tids, size_t room, size_t *count)
{
	size_t found = 0;

	(void)self;
	if (strikes(THREADS))
		return -1;
	if (sim.hides_threads) {
		errno = ENOSYS;
		return -1;
	}
	for (unsigned i = FX_THREADS; i-- > 0;) {
		struct sim_thread *thread = sim_program_thread(i);

		if (thread && found < room)
			tids[found] = thread->tid;
		found += thread != NULL;
	}
	*count = found;
	return 0;
}

static int sim_thread_cpu(void *self, int64_t tid, uint64_t *ns)
{
	struct sim_thread *thread = tid ? sim_program_find(tid) :
	                                  sim_signals_current();

	(void)self;
	if (strikes(THREAD_CPU))
		return -1;
	if (!thread || (tid && sim.hides_threads)) {
		errno = thread ? ENOSYS : ESRCH;
		return -1;
	}
	*ns = thread->cpu_ns;
	return 0;
}

static int sim_process_cpu(void *self, uint64_t *ns)
{
	(void)self;
	if (strikes(PROCESS_CPU))
		return -1;
	*ns = sim_program_cpu_ns() + sim.other_ns;
	return 0;
}

/* A handler for a signal that has its default action. */
static bool is_installed_by(const struct sigaction *next)
{
	struct sigaction now;

	sim_signals_action(SIGPROF, NULL, &now);
	return (next->sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL;
}

/* Ignoring a signal throws away what is pending ([signal] do_sigaction). */
static int sim_action(void *self, const struct sigaction *next,
                      struct sigaction *before)
{
	int result;

	(void)self;
	if (!next && strikes(LOOK))
		return -1;
	if (next && is_installed_by(next) && strikes(INSTALL))
		return -1;
	pthread_mutex_lock(&lock);
	if (next && next->sa_handler == SIG_IGN)
		sim.pending = NULL;
	result = sim_signals_action(SIGPROF, next, before);
	pthread_mutex_unlock(&lock);
	return result;
}

static int sim_raise_again(void *self)
{
	(void)self;
	return sim_signals_raise(SIGPROF);
}

static bool sim_is_tick(void *self, const siginfo_t *info)
{
	(void)self;
	return info->si_code == TICK_CODE;
}

static bool sim_forward(void *self, siginfo_t *info, void *context)
{
	(void)self;
	(void)info;
	(void)context;
	return sim_signals_forward(SIGPROF);
}

static void set(uint64_t first_ns, uint64_t every_ns)
{
	sim.expires_ns = first_ns ? sim.charged_ns + first_ns : 0;
	sim.every_ns = every_ns;
}

static struct itimer_value value_now(void)
{
	struct itimer_value now = { 0, sim.every_ns };

	if (sim.expires_ns)
		now.left_ns = sim.expires_ns > sim.charged_ns ?
		              sim.expires_ns - sim.charged_ns : 1000;
	return now;
}

static int sim_set(void *self, const struct itimer_value *next,
                   struct itimer_value *before)
{
	(void)self;
	if (next->left_ns && strikes(ARM))
		return -1;
	if (next->left_ns && sim.ticks_at_set) {
		sim.ticks_at_set = false;
		sim.pending = choose(NULL);
		sim.pending->cpu_ns += 1000000;
		deliver();
	}
	pthread_mutex_lock(&lock);
	*before = value_now();
	set(next->left_ns, next->every_ns);
	pthread_mutex_unlock(&lock);
	return 0;
}

static int sim_get(void *self, struct itimer_value *now)
{
	(void)self;
	if (strikes(GET))
		return -1;
	pthread_mutex_lock(&lock);
	*now = value_now();
	if (sim.after_get_ns)
		set(sim.after_get_ns, sim.after_get_ns);
	sim.after_get_ns = 0;
	pthread_mutex_unlock(&lock);
	return 0;
}

static int sim_try_set(void *self)
{
	(void)self;
	if (!strikes(TRY))
		errno = EINVAL;
	return -1;
}

static void sim_pause(void *self)
{
	(void)self;
}

const struct itimer_kernel itimer_sim_kernel = {
	.now_ns = sim_now_ns,
	.tick_ns = sim_tick_ns,
	.cpu_count = sim_cpu_count,
	.process_id = sim_process_id,
	.thread_id = sim_thread_id,
	.threads = sim_threads,
	.thread_cpu = sim_thread_cpu,
	.process_cpu = sim_process_cpu,
	.action = sim_action,
	.raise_again = sim_raise_again,
	.is_tick = sim_is_tick,
	.forward = sim_forward,
	.set = sim_set,
	.get = sim_get,
	.try_set = sim_try_set,
	.pause = sim_pause,
	.self = NULL,
};

/* ---- the machine ---- */

static const struct sim_machine machine = {
	.cpus = ITIMER_SIM_CPUS,
	.tick_ns = ITIMER_SIM_TICK_NS,
	.tick = on_tick,
	.to_user = on_return_to_user,
	.ended = on_end,
};

void itimer_sim_reset(void (*every)(void))
{
	sim_program_reset(&machine);
	sim_signals_reset();
	sim_clock_reset(every, EVERY_NS);
	memset(&sim, 0, sizeof(sim));
	sim_faults_plan(&itimer_sim_faults, 0, 0, 0);
}

void itimer_sim_hide_threads(void)
{
	sim.hides_threads = true;
}

void itimer_sim_be_netbsd(void)
{
	sim.hides_threads = true;
	sim.prefers_one = true;
}

/* A sleeping thread that is woken for the signal gets it at once. */
void itimer_sim_charge(uint64_t ns, bool is_at_tick)
{
	sim.other_ns += ns;
	if (is_at_tick)
		charge_tick(NULL);
	if (sim.pending)
		deliver();
}

void itimer_sim_tick_in_vain(void)
{
	while (!sim.pending)
		charge_tick(sim_program_thread(0));
}

void itimer_sim_tick_at_next_set(void)
{
	sim.ticks_at_set = true;
}

void itimer_sim_kill(void)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = SIGPROF;
	info.si_code = SI_USER;
	sim_signals_deliver(sim_program_thread(0), &info);
}

void itimer_sim_set_after_get(uint64_t every_ns)
{
	sim.after_get_ns = every_ns;
}

void itimer_sim_set(uint64_t every_ns)
{
	set(every_ns, every_ns);
}

uint64_t itimer_sim_every(void)
{
	return sim.every_ns;
}

bool itimer_sim_is_pending(void)
{
	return sim.pending != NULL;
}

unsigned itimer_sim_wakings(void)
{
	return sim.wakings;
}

size_t itimer_sim_held(void)
{
	return (sim.expires_ns != 0) + sim_signals_held();
}
