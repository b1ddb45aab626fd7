/* SPDX-License-Identifier: MIT */
/* getrusage, wait4 and the clocks of CPU time of five systems, simulated. */
#include "tests/sim/rusage_sim.h"

#include "base/thread.h"
#include "tests/sim/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	CPUS = 4,
	TICK_NS = 4000000,
	EVERY_NS = 10000000,
	/* NetBSD: the share of interrupts that a reading leaves out */
	BACK_NS = 200000
};

/* What is accounted to a thread beside its CPU time. */
struct account {
	int64_t tid;
	struct rusage_usage counts; /* faults and switches */
	uint64_t user_ticks, system_ticks;
	uint64_t in_kernel_ns;      /* measured */
};

static struct {
	enum rusage_sim_system system;
	struct account threads[FX_THREADS], ended;
	uint64_t readings;
	int64_t child; /* 0: none, or waited for */
	struct rusage_usage early, children;
} sim;

/* ---- faults: errnos from the manual pages ---- */

enum call { USAGE, CPU, CALLS };

/* kill(2) without a signal can only tell that there is no such process, and a
 * file of proc that cannot be read is as one that is not there. */
static const struct sim_fault calls[CALLS] = {
	[USAGE] = { "usage", { EFAULT, EINVAL, EPERM } },
	[CPU] = { "cpu", { EINVAL, ENOSYS } },
};

struct sim_faults rusage_sim_faults = { .calls = calls, .count = CALLS };

static bool strikes(enum call call)
{
	return sim_faults_strike(&rusage_sim_faults, call);
}

/* ---- what happens to threads ---- */

static unsigned number_of(const struct sim_thread *thread)
{
	for (unsigned i = 0; i < FX_THREADS; i++)
		if (sim_program_thread(i) == thread)
			return i;
	return 0;
}

/* The statistics clock meets a thread at a level; where others wait for a CPU
 * the thread is made to give way now and then. */
static void on_tick(struct sim_thread *thread)
{
	struct account *account = &sim.threads[number_of(thread)];
	unsigned busy = 0;

	if (thread->is_in_kernel)
		account->system_ticks++;
	else
		account->user_ticks++;
	for (unsigned i = 0; i < FX_THREADS; i++)
		busy += sim_program_thread(i) &&
		        sim_program_is_busy(sim_program_thread(i));
	account->counts.involuntary += busy > CPUS;
}

static void on_end(struct sim_thread *thread)
{
	struct account *account = &sim.threads[number_of(thread)];

	sim.ended.counts.minor_faults += account->counts.minor_faults;
	sim.ended.counts.major_faults += account->counts.major_faults;
	sim.ended.counts.voluntary += account->counts.voluntary;
	sim.ended.counts.involuntary += account->counts.involuntary;
	sim.ended.user_ticks += account->user_ticks;
	sim.ended.system_ticks += account->system_ticks;
	sim.ended.in_kernel_ns += account->in_kernel_ns;
	memset(account, 0, sizeof(*account));
}

/* No signals here. */
static void on_return_to_user(struct sim_thread *thread)
{
	(void)thread;
}

static const struct sim_machine machine = {
	.cpus = CPUS,
	.tick_ns = TICK_NS,
	.tick = on_tick,
	.to_user = on_return_to_user,
	.ended = on_end,
};

void rusage_sim_spend(const struct fx_work *works, size_t count,
                      uint64_t *used_ns)
{
	sim_program_spend(works, count, used_ns);
	for (size_t i = 0; i < count; i++)
		sim.threads[works[i].thread].in_kernel_ns +=
			works[i].in_kernel_ns < used_ns[i]
				? works[i].in_kernel_ns
				: used_ns[i];
}

/* Everybody waits for something. */
void rusage_sim_idle(uint64_t ns)
{
	for (unsigned i = 0; i < FX_THREADS; i++)
		if (sim_program_thread(i))
			sim.threads[i].counts.voluntary++;
	sim_program_idle(ns);
}

static void add_counts(struct rusage_usage *to, const struct rusage_usage *more)
{
	to->minor_faults += more->minor_faults;
	to->major_faults += more->major_faults;
	to->voluntary += more->voluntary;
	to->involuntary += more->involuntary;
}

void rusage_sim_add(unsigned thread, const struct rusage_usage *more)
{
	add_counts(&sim.threads[thread].counts, more);
}

void rusage_sim_child(int64_t pid, const struct rusage_usage *early)
{
	sim.child = pid;
	sim.early = *early;
}

void rusage_sim_wait(const struct rusage_usage *all)
{
	sim.child = 0;
	add_counts(&sim.children, all);
	sim.children.user_ns += all->user_ns;
	sim.children.system_ns += all->system_ns;
}

/* ---- the accounts ---- */

/* struct timeval has microseconds; proc(5) of illumos has nanoseconds. */
static uint64_t as_told(uint64_t ns)
{
	return sim.system == RUSAGE_SIM_ILLUMOS ? ns : ns / 1000 * 1000;
}

/* calcru and cputime_adjust: what was measured, shared as the ticks fell. */
static void split(uint64_t cpu_ns, const struct account *account,
                  struct rusage_usage *out)
{
	uint64_t ticks = account->user_ticks + account->system_ticks;

	out->system_ns = sim.system == RUSAGE_SIM_ILLUMOS
	                         ? account->in_kernel_ns
	                 : ticks ? cpu_ns / ticks * account->system_ticks
	                         : 0;
	out->system_ns = as_told(out->system_ns);
	out->user_ns = as_told(cpu_ns) - out->system_ns;
}

/* NetBSD's may be less than it was before (calcru: interrupts). */
static uint64_t process_ns(void)
{
	uint64_t ns = sim_program_cpu_ns();

	if (sim.system != RUSAGE_SIM_NETBSD || ns < BACK_NS)
		return ns;
	return ns - sim.readings++ % 3 * (BACK_NS / 2);
}

static void of_process(struct rusage_usage *out)
{
	struct account all = sim.ended;

	for (unsigned i = 0; i < FX_THREADS; i++) {
		add_counts(&all.counts, &sim.threads[i].counts);
		all.user_ticks += sim.threads[i].user_ticks;
		all.system_ticks += sim.threads[i].system_ticks;
		all.in_kernel_ns += sim.threads[i].in_kernel_ns;
	}
	*out = all.counts;
	split(process_ns(), &all, out);
}

/* The helper thread is real, and nothing of it is simulated. */
static void of_caller(struct rusage_usage *out)
{
	struct sim_thread *thread = sim_program_find(ppi_thread_id());

	if (!thread)
		return;
	*out = sim.threads[number_of(thread)].counts;
	split(thread->cpu_ns, &sim.threads[number_of(thread)], out);
}

static int sim_usage(void *self, enum rusage_whose whose,
                     struct rusage_usage *out)
{
	(void)self;
	if (strikes(USAGE))
		return -1;
	memset(out, 0, sizeof(*out));
	if (whose == RUSAGE_OF_CHILDREN) {
		*out = sim.children;
	} else if (whose == RUSAGE_OF_PROCESS) {
		of_process(out);
	} else if (rusage_sim_kernel->has_threads) {
		of_caller(out);
	} else {
		errno = ENOSYS;
		return -1;
	}
	return 0;
}

/*
 * clock_gettime of NetBSD is no CPU time (base/clock_ns.c): who asks for it is
 * told a wrong one, which shows.
 */
static int sim_cpu(void *self, enum ppi_cpu_source source, int64_t whose,
                   uint64_t *ns)
{
	struct rusage_usage usage = { .user_ns = 0 };

	(void)self;
	if (strikes(CPU))
		return -1;
	if (whose == PPI_CPU_HELPER) {
		*ns = 0;
		return 0;
	}
	if (source == PPI_CPU_CLOCK && sim.system == RUSAGE_SIM_NETBSD) {
		*ns = sim_program_cpu_ns() / 2;
		return 0;
	}
	if (whose == PPI_CPU_PROCESS) {
		*ns = sim_program_cpu_ns();
		return 0;
	}
	of_caller(&usage);
	*ns = usage.user_ns + usage.system_ns;
	return 0;
}

static int sim_exists(void *self, int64_t pid)
{
	(void)self;
	if (pid == sim.child)
		return 0;
	errno = ESRCH;
	return -1;
}

static int sim_read_file(void *self, const char *path, char *text, size_t room)
{
	const struct rusage_usage *early = &sim.early;
	const char *name = strrchr(path, '/');

	(void)self;
	if (!sim.child || sim.system != RUSAGE_SIM_LINUX) {
		errno = ENOENT;
		return -1;
	}
	if (strcmp(name, "/stat") == 0)
		snprintf(text, room, "%" PRId64 " (a) b) S 1 2 3 0 -1 64 "
		         "%" PRIu64 " 7 %" PRIu64 " 8 9 9", sim.child,
		         early->minor_faults, early->major_faults);
	else if (strcmp(name, "/schedstat") == 0)
		snprintf(text, room, "%" PRIu64 " 5 6\n",
		         early->user_ns + early->system_ns);
	else
		snprintf(text, room, "Name:\tx\nvoluntary_ctxt_switches:\t"
		         "%" PRIu64 "\nnonvoluntary_ctxt_switches:\t"
		         "%" PRIu64 "\n", early->voluntary,
		         early->involuntary);
	return 0;
}

static uint64_t sim_now_ns(void *self)
{
	(void)self;
	return sim_clock_now();
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
	return ppi_thread_id();
}

#define KERNEL(of, threads, exact)                                      \
	{                                                               \
		.rules = &ppi_cpu_##of, .has_threads = threads,         \
		.is_split_exact = exact, .now_ns = sim_now_ns,          \
		.process_id = sim_process_id,                           \
		.thread_id = sim_thread_id, .usage = sim_usage,         \
		.cpu = sim_cpu, .exists = sim_exists,                   \
		.read_file = sim_read_file, .self = &sim                \
	}

/* Which have RUSAGE_THREAD: rusage_kernel_real.c. */
static const struct rusage_kernel kernels[] = {
	[RUSAGE_SIM_LINUX] = KERNEL(linux, true, false),
	[RUSAGE_SIM_FREEBSD] = KERNEL(freebsd, true, false),
	[RUSAGE_SIM_NETBSD] = KERNEL(netbsd, false, false),
	[RUSAGE_SIM_OPENBSD] = KERNEL(openbsd, true, false),
	[RUSAGE_SIM_ILLUMOS] = KERNEL(solaris, true, true),
};

const struct rusage_kernel *rusage_sim_kernel = kernels;

void rusage_sim_reset(enum rusage_sim_system system, void (*every)(void))
{
	sim_clock_reset(every, EVERY_NS);
	sim_program_reset(&machine);
	memset(&sim, 0, sizeof(sim));
	sim.system = system;
	rusage_sim_kernel = &kernels[system];
	sim_faults_plan(&rusage_sim_faults, 0, 0, 0);
}
