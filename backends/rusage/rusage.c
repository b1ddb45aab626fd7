/* SPDX-License-Identifier: MIT */
/*
 * The rusage backend: counts what the system accounts to a process, a thread or
 * a command that was waited for, by getrusage(2), wait4(2) and clocks of CPU
 * time. It needs no rights and holds nothing of the kernel's.
 *
 *   rusage_events.c       the events, and their values in an account
 *   rusage_kernel_real.c  the system calls
 */
#include "config.h"

#include "backends/backend.h"
#include "backends/common/total.h"
#include "backends/rusage/rusage_events.h"
#include "backends/rusage/rusage_kernel.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ---- what a child has used before it becomes the command ---- */

enum { TEXT_BYTES = 2048, PATH_BYTES = 64 };

static bool read_proc(const struct rusage_kernel *kernel, int64_t pid,
                      const char *name, char *text)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/%lld/%s", (long long)pid, name);
	return kernel->read_file(kernel->self, path, text, TEXT_BYTES) == 0;
}

/* Fields 10 and 12 of proc_pid_stat(5), after the name in brackets. */
static void find_faults(const char *text, struct rusage_usage *early)
{
	unsigned long long minor, major;
	const char *at = strrchr(text, ')');

	if (at && sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %llu %*u %llu",
	                 &minor, &major) == 2) {
		early->minor_faults = minor;
		early->major_faults = major;
	}
}

/* The number in a line of proc_pid_status(5) that begins so; 0: none. */
static uint64_t find_line(const char *text, const char *begin)
{
	const char *at = strstr(text, begin);
	unsigned long long number;

	if (!at || sscanf(at + strlen(begin), "%llu", &number) != 1)
		return 0;
	return number;
}

/*
 * What a child has used between fork and exec, which waits in between. wait4
 * will report it with the command's own. All 0 where the system has no /proc of
 * Linux: there the little is counted with the command.
 */
static void read_before_exec(const struct rusage_kernel *kernel, int64_t pid,
                             struct rusage_usage *early)
{
	char text[TEXT_BYTES];
	unsigned long long cpu_ns;

	memset(early, 0, sizeof(*early));
	if (read_proc(kernel, pid, "stat", text))
		find_faults(text, early);
	/* linux/Documentation/scheduler/sched-stats.rst, /proc/PID/schedstat:
	 * the first is the time on a CPU, which a fork spends in the kernel */
	if (read_proc(kernel, pid, "schedstat", text) &&
	    sscanf(text, "%llu", &cpu_ns) == 1)
		early->system_ns = cpu_ns;
	if (read_proc(kernel, pid, "status", text)) {
		early->voluntary = find_line(text,
		                             "\nvoluntary_ctxt_switches:");
		early->involuntary = find_line(
			text, "\nnonvoluntary_ctxt_switches:");
	}
}

/* Whether the child was waited for, and so is among the children's account. */
static bool was_waited_for(const struct rusage_kernel *kernel, int64_t pid)
{
	return kernel->exists(kernel->self, pid) != 0 && errno == ESRCH;
}

static uint64_t less(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

/* `all` without `early`, at least 0 in each part. */
static struct rusage_usage without(const struct rusage_usage *all,
                                   const struct rusage_usage *early)
{
	uint64_t cpu_ns = less(all->user_ns + all->system_ns,
	                       early->user_ns + early->system_ns);
	uint64_t system_ns = less(all->system_ns, early->system_ns);

	return (struct rusage_usage){
		/* together right, whatever ticks made of the parts */
		.user_ns = less(cpu_ns, system_ns),
		.system_ns = system_ns < cpu_ns ? system_ns : cpu_ns,
		.minor_faults = less(all->minor_faults, early->minor_faults),
		.major_faults = less(all->major_faults, early->major_faults),
		.voluntary = less(all->voluntary, early->voluntary),
		.involuntary = less(all->involuntary, early->involuntary),
	};
}

/* attach: see rusage_probe */
#define RUSAGE_CAPS                                                      \
	(PORTPROF_CAP_COUNT | PORTPROF_CAP_GROUP | PORTPROF_CAP_EVENTS | \
	 PORTPROF_CAP_PROCESS | PORTPROF_CAP_THREAD |                    \
	 PORTPROF_CAP_ATTACH | PORTPROF_CAP_COMMAND |                  \
	 PORTPROF_CAP_CHILDREN | PORTPROF_CAP_EXEC_SAFE)

enum { EVENTS_MAX = 64 };

struct rusage_state {
	_Atomic bool is_running;
	_Atomic bool has_ended;    /* a command: it was waited for */
	struct rusage_usage early; /* a command: of before its exec */
	enum rusage_field fields[EVENTS_MAX];
	struct ppi_total time, events[EVENTS_MAX];
};

/* One reading of everything. */
struct moment {
	uint64_t at_ns;
	struct rusage_usage usage;
};

static const struct rusage_kernel *
kernel_of(const struct ppi_backend_session *bs)
{
	return bs->kernel;
}

static struct rusage_state *state_of(const struct ppi_backend_session *bs)
{
	return bs->state;
}

/* ---- reading the accounts ---- */

static enum rusage_whose whose_is(const struct ppi_plan *plan)
{
	switch (plan->target.kind) {
	case PPI_TARGET_TID:
		return RUSAGE_OF_THREAD;
	case PPI_TARGET_COMMAND:
		return RUSAGE_OF_CHILDREN;
	default:
		return RUSAGE_OF_PROCESS;
	}
}

/*
 * An event of CPU time that is alone is read from the system's clock, in
 * nanoseconds, where that clock is right. Several come from one account, which is of one
 * instant, in microseconds on most systems.
 */
static const struct ppi_cpu_clock *
clock_of(const struct ppi_backend_session *bs, enum rusage_whose whose)
{
	const struct ppi_cpu_rules *rules = kernel_of(bs)->rules;
	const struct ppi_cpu_clock *clock =
		whose == RUSAGE_OF_THREAD ? &rules->thread : &rules->process;

	if (whose == RUSAGE_OF_CHILDREN || bs->plan->follow_children ||
	    bs->plan->event_count != 1 ||
	    state_of(bs)->fields[0] != RUSAGE_CPU ||
	    clock->source != PPI_CPU_CLOCK)
		return NULL;
	return clock;
}

/* Our helper thread is no part of the program: its CPU time is left out. The
 * switches and faults of one thread the system does not tell to another. */
static int leave_out_helper(const struct rusage_kernel *kernel,
                            struct rusage_usage *usage)
{
	struct rusage_usage helper = { .user_ns = 0 };

	if (kernel->rules->thread.source == PPI_CPU_NONE)
		return 0;
	if (kernel->cpu(kernel->self, kernel->rules->thread.source,
	                PPI_CPU_HELPER, &helper.system_ns))
		return -1;
	*usage = without(usage, &helper);
	return 0;
}

static int add_children(const struct rusage_kernel *kernel,
                        struct rusage_usage *usage)
{
	struct rusage_usage children;

	if (kernel->usage(kernel->self, RUSAGE_OF_CHILDREN, &children))
		return -1;
	usage->user_ns += children.user_ns;
	usage->system_ns += children.system_ns;
	usage->minor_faults += children.minor_faults;
	usage->major_faults += children.major_faults;
	usage->voluntary += children.voluntary;
	usage->involuntary += children.involuntary;
	return 0;
}

static int read_now(const struct ppi_backend_session *bs, struct moment *now)
{
	const struct rusage_kernel *kernel = kernel_of(bs);
	enum rusage_whose whose = whose_is(bs->plan);
	const struct ppi_cpu_clock *clock = clock_of(bs, whose);
	int result;

	memset(now, 0, sizeof(*now));
	now->at_ns = kernel->now_ns(kernel->self);
	result = clock ? kernel->cpu(kernel->self, clock->source,
	                             whose == RUSAGE_OF_THREAD
	                                     ? PPI_CPU_CALLER
	                                     : PPI_CPU_PROCESS,
	                             &now->usage.user_ns)
	               : kernel->usage(kernel->self, whose, &now->usage);
	if (result == 0 && whose == RUSAGE_OF_PROCESS)
		result = leave_out_helper(kernel, &now->usage);
	if (result == 0 && whose == RUSAGE_OF_PROCESS &&
	    bs->plan->follow_children)
		result = add_children(kernel, &now->usage);
	return result;
}

static uint64_t value_of(const struct ppi_backend_session *bs, size_t event,
                         const struct moment *now)
{
	return ppi_rusage_value(state_of(bs)->fields[event],
	                        &bs->plan->events[event], &now->usage);
}

/* ---- the contract ---- */

static void rusage_limit(struct ppi_probe *out, uint64_t cap,
                         const char *words)
{
	struct ppi_limit *limit = &out->limits[out->limit_count++];
	size_t used = strlen(out->reason);

	out->caps &= ~cap;
	limit->caps = cap;
	limit->status = PORTPROF_E_UNSUPPORTED;
	snprintf(limit->words, sizeof(limit->words), "%s", words);
	snprintf(out->reason + used, sizeof(out->reason) - used, "%s%s",
	         used ? "; " : "", words);
}

static void rusage_probe(const void *kernel, struct ppi_probe *out)
{
	const struct rusage_kernel *seam = kernel;
	struct rusage_usage usage;

	if (seam->usage(seam->self, RUSAGE_OF_PROCESS, &usage)) {
		out->status = PORTPROF_E_DENIED;
		out->os_errno = errno;
		snprintf(out->reason, sizeof(out->reason), "getrusage is "
		         "refused here: allow it in the sandbox's filter");
		return;
	}
	out->is_usable = true;
	out->caps = RUSAGE_CAPS;
	rusage_limit(out, PORTPROF_CAP_ATTACH, "the system reports another "
	             "process's usage only at its end, to its parent: count a "
	             "command until it ends");
	if (!seam->has_threads)
		rusage_limit(out, PORTPROF_CAP_THREAD, "this system has no "
		             "RUSAGE_THREAD: count the process");
}

static portprof_status rusage_resolve(const void *kernel,
                                      const struct ppi_event_request *request,
                                      enum ppi_mode mode,
                                      struct ppi_event *event,
                                      struct ppi_diag *why)
{
	return ppi_rusage_resolve_event(kernel, request, mode, event, why);
}

static portprof_status refuse_plan(const struct ppi_plan *plan,
                                   struct ppi_diag *why)
{
	if (plan->event_count > EVENTS_MAX)
		return ppi_fail(why, PORTPROF_E_LIMIT, 0, "open rusage",
		                "more than %d events: use several groups",
		                EVENTS_MAX);
	if (plan->target.kind == PPI_TARGET_COMMAND && !plan->follow_children)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "open rusage",
		                "wait4 reports a command together with the "
		                "children that it waited for: count its "
		                "children too");
	if (plan->target.kind == PPI_TARGET_TID && plan->follow_children)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "open rusage",
		                "a thread has no children: count the process");
	return PORTPROF_OK;
}

static portprof_status refuse_reading(struct ppi_diag *why, const char *step)
{
	int error = errno;

	return ppi_fail(why, PORTPROF_E_SYSTEM, error, step,
	                "the system's account could not be read: %s",
	                strerror(error));
}

static portprof_status rusage_open(struct ppi_backend_session *bs,
                                   struct ppi_diag *why)
{
	const struct ppi_plan *plan = bs->plan;
	struct rusage_state *state = state_of(bs);
	portprof_status status = refuse_plan(plan, why);
	struct moment now;

	if (status)
		return status;
	for (size_t i = 0; i < plan->event_count; i++)
		if (!bs->refusals || bs->refusals[i].status == PORTPROF_OK)
			state->fields[i] =
				ppi_rusage_field_of(&plan->events[i]);
	if (read_now(bs, &now))
		return refuse_reading(why, "open rusage");
	if (plan->target.kind == PPI_TARGET_COMMAND)
		read_before_exec(kernel_of(bs), plan->target.pid,
		                 &state->early);
	return PORTPROF_OK;
}

/* A thread's account is read by that thread. */
static bool is_elsewhere(const struct ppi_backend_session *bs)
{
	const struct rusage_kernel *kernel = kernel_of(bs);

	return bs->plan->target.kind == PPI_TARGET_TID &&
	       kernel->thread_id(kernel->self) != bs->plan->target.tid;
}

static portprof_status refuse_thread(const struct ppi_backend_session *bs,
                                     struct ppi_diag *why, const char *step)
{
	return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, step,
	                "the system reports a thread's usage to that thread "
	                "alone: use the group in thread %lld",
	                (long long)bs->plan->target.tid);
}

static portprof_status rusage_start(struct ppi_backend_session *bs,
                                    struct ppi_diag *why)
{
	struct rusage_state *state = state_of(bs);
	struct moment now;

	if (is_elsewhere(bs))
		return refuse_thread(bs, why, "start rusage");
	if (atomic_load(&state->is_running))
		return PORTPROF_OK;
	if (read_now(bs, &now))
		return refuse_reading(why, "start rusage");
	ppi_total_start(&state->time, now.at_ns);
	for (size_t i = 0; i < bs->plan->event_count; i++)
		ppi_total_start(&state->events[i], value_of(bs, i, &now));
	atomic_store(&state->is_running, true);
	return PORTPROF_OK;
}

static portprof_status rusage_stop(struct ppi_backend_session *bs,
                                   struct ppi_diag *why)
{
	struct rusage_state *state = state_of(bs);
	struct moment now;

	if (is_elsewhere(bs))
		return refuse_thread(bs, why, "stop rusage");
	if (!atomic_load(&state->is_running))
		return PORTPROF_OK;
	if (read_now(bs, &now))
		return refuse_reading(why, "stop rusage");
	ppi_total_stop(&state->time, now.at_ns);
	for (size_t i = 0; i < bs->plan->event_count; i++)
		ppi_total_stop(&state->events[i], value_of(bs, i, &now));
	atomic_store(&state->is_running, false);
	return PORTPROF_OK;
}

static portprof_status rusage_drain(struct ppi_backend_session *bs,
                                    struct ppi_room *room)
{
	(void)bs;
	(void)room;
	return PORTPROF_OK;
}

/* A command's account comes at its end; until then there is nothing to say. */
static bool is_known(const struct ppi_backend_session *bs)
{
	struct rusage_state *state = state_of(bs);

	if (bs->plan->target.kind != PPI_TARGET_COMMAND)
		return true;
	if (!atomic_load(&state->has_ended) &&
	    was_waited_for(kernel_of(bs), bs->plan->target.pid))
		atomic_store(&state->has_ended, true);
	return atomic_load(&state->has_ended);
}

static void put_count(const struct ppi_backend_session *bs, size_t event,
                      uint64_t value, uint64_t time_ns, bool is_there,
                      portprof_count *out)
{
	struct rusage_state *state = state_of(bs);
	struct rusage_usage early = { .user_ns = 0 };

	memset(out, 0, sizeof(*out));
	if (state->fields[event] == RUSAGE_NONE) {
		out->status = PORTPROF_COUNT_REFUSED;
		return;
	}
	out->enabled_ns = time_ns;
	if (!is_there) {
		out->status = PORTPROF_COUNT_NEVER_RAN;
		return;
	}
	if (bs->plan->target.kind == PPI_TARGET_COMMAND)
		early = state->early;
	early.user_ns = ppi_rusage_value(state->fields[event],
	                                 &bs->plan->events[event], &early);
	out->raw = value > early.user_ns ? value - early.user_ns : 0;
	out->scaled = out->raw;
	out->running_ns = time_ns;
	out->status = PORTPROF_COUNT_OK;
}

static portprof_status rusage_count(struct ppi_backend_session *bs,
                                    portprof_count *out, size_t count)
{
	struct rusage_state *state = state_of(bs);
	bool is_there = is_known(bs);
	bool is_running = atomic_load(&state->is_running);
	struct moment now = { .at_ns = 0 };
	uint64_t time_ns;

	if (is_elsewhere(bs))
		return PORTPROF_E_UNSUPPORTED;
	if (is_running && read_now(bs, &now))
		return PORTPROF_E_SYSTEM;
	time_ns = ppi_total_read(&state->time, is_running, now.at_ns);
	for (size_t i = 0; i < count; i++)
		put_count(bs, i,
		          ppi_total_read(&state->events[i], is_running,
		                         value_of(bs, i, &now)),
		          time_ns, is_there, &out[i]);
	return PORTPROF_OK;
}

static portprof_status rusage_stats(struct ppi_backend_session *bs,
                                    size_t event, struct ppi_account *out)
{
	portprof_count counts[EVENTS_MAX];
	portprof_status status = rusage_count(bs, counts, event + 1);

	if (status)
		return status;
	out->total_weight = counts[event].raw;
	out->lost_certainty = PORTPROF_EXACT;
	out->total_certainty = PORTPROF_EXACT;
	return PORTPROF_OK;
}

/* Nothing of the kernel's is held. */
static void rusage_close(struct ppi_backend_session *bs)
{
	(void)bs;
}

#ifdef PPI_BACKEND_RUSAGE
#define REAL_KERNEL &ppi_rusage_kernel_real
#else
#define REAL_KERNEL NULL
#endif

const struct ppi_backend_ops ppi_backend_rusage = {
	.name = "rusage",
	.summary = "counts by getrusage and wait4: any Unix, no rights needed",
	.caps = RUSAGE_CAPS,
	.state_size = sizeof(struct rusage_state),
	.catalogue = &ppi_rusage_catalogue,
	.count_ways = NULL,
	.count_parts = NULL,
	.costs = NULL,
	.steering = NULL,
	.heirs = NULL,
	.group_modifiers = NULL,
	.copies_stacks = false,
	.reads_labels = false,
	.counts_alone = false,
	.real_kernel = REAL_KERNEL,
	.probe = rusage_probe,
	.resolve = rusage_resolve,
	.open = rusage_open,
	.start = rusage_start,
	.stop = rusage_stop,
	.drain = rusage_drain,
	.count = rusage_count,
	.stats = rusage_stats,
	.close = rusage_close,
};
