/* SPDX-License-Identifier: MIT */
/*
 * Time passes: threads do their works on the CPUs, events count, timers fire.
 *
 * A clock event is an hrtimer of the thread on its CPU, which runs only while
 * the thread does ([v6.18 core.c perf_swevent_hrtimer,
 * perf_swevent_cancel_hrtimer]). Its kernel samples are dropped when they are
 * excluded, and the timer continues; when it fires late, the periods missed are
 * skipped (hrtimer_forward_now).
 */
#include "tests/sim/labels.h"
#include "tests/sim/perf_sim_state.h"

#include <string.h>

enum { CHUNK_NS = 97000 }; /* user and kernel mode alternate so often */

#define KERNEL_PC UINT64_C(0xffffffff81000000)

static uint64_t next_random(void)
{
	sim.random ^= sim.random << 13;
	sim.random ^= sim.random >> 7;
	sim.random ^= sim.random << 17;
	return sim.random;
}

static bool is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_TASK_CLOCK ||
	        attr->config == PERF_COUNT_SW_CPU_CLOCK);
}

/* What an event counts in one ns: clocks one; the simulated PMU one cycle and
 * two instructions; other software events happen in no program here. */
static uint64_t rate_of(const struct perf_event_attr *attr)
{
	if (is_clock(attr))
		return 1;
	/* Ice Lake's metrics of slots: event 0, umask 0x80 to 0x83 of 4, have 1 to
	 * 4 of 10 [v6.18 arch/x86/events/intel/core.c icl_td_events_attrs] */
	if (attr->type == PERF_TYPE_RAW && attr->config == 0x400)
		return 10;
	if (attr->type == PERF_TYPE_RAW && attr->config >> 10 == 0x20 &&
	    (attr->config & 0xff) == 0)
		return 1 + (attr->config >> 8 & 3);
	if (attr->type == PERF_TYPE_HARDWARE &&
	    (uint32_t)attr->config == PERF_COUNT_HW_INSTRUCTIONS)
		return 2;
	return sim_is_hardware(attr) || attr->type == PERF_SIM_PACKAGE;
}

/* ---- who may count ---- */

/* [v6.18 core.c perf_event_open]: a group with one hardware event moves to that
 * event's PMU, the kernel's own events with it. */
static bool is_of_cpu(const struct sim_event *event,
                      const struct sim_task *task)
{
	for (struct sim_event *at = task->events; at; at = at->next)
		if (at->leader == event->leader &&
		    !sim_is_of_cpu(&at->attr, task->cpu))
			return false;
	return true;
}

static bool is_here(const struct sim_event *event, const struct sim_task *task)
{
	return event->is_on && event->leader->is_on &&
	       (event->cpu < 0 || event->cpu == (int)task->cpu) &&
	       is_of_cpu(event, task);
}

static unsigned size_of_group(const struct sim_task *task,
                              const struct sim_event *leader)
{
	unsigned size = 0;

	for (struct sim_event *at = task->events; at; at = at->next)
		size += at->leader == leader && sim_is_hardware(&at->attr);
	return size;
}

static bool has_place[SIM_FDS];

/* Hardware groups get counters in turn, whole or not at all; a pinned one
 * first, and if that fails it is in error for good [man]. */
static void schedule_pmu(struct sim_task *task)
{
	struct sim_event *leaders[64];
	unsigned count = 0, left = perf_sim_machine.counters;

	for (struct sim_event *at = task->events; at && count < 64;
	     at = at->next)
		if (at->leader == at && is_here(at, task) &&
		    size_of_group(task, at) > 0)
			leaders[count++] = at;
	memset(has_place, 0, sizeof(has_place));
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < count; i++) {
			unsigned at = (i + task->rotation) % count;
			unsigned size = size_of_group(task, leaders[at]);

			if (leaders[at]->attr.pinned != (pass == 0) ||
			    leaders[at]->has_error)
				continue;
			if (size <= left) {
				left -= size;
				has_place[leaders[at]->id % SIM_FDS] = true;
			} else if (pass == 0) {
				leaders[at]->has_error = true;
			}
		}
	task->rotation++;
	for (struct sim_event *at = task->events; at; at = at->next)
		at->is_on_pmu = has_place[at->leader->id % SIM_FDS];
}

static bool is_counting(const struct sim_event *event,
                        const struct sim_task *task)
{
	if (!is_here(event, task))
		return false;
	return size_of_group(task, event->leader) == 0 ||
	       has_place[event->leader->id % SIM_FDS];
}

/* ---- one stretch of one thread in one mode ---- */

struct stretch {
	uint64_t pc, time_ns;
	bool is_kernel, is_silent;
};

static void overflow(struct sim_event *event, const struct stretch *stretch)
{
	struct sim_sample sample = {
		.user_ip = stretch->pc,
		.time_ns = stretch->time_ns,
		.is_kernel = stretch->is_kernel,
	};

	sample.ip = stretch->is_kernel ? KERNEL_PC : stretch->pc;
	if (stretch->is_silent)
		return;
	if (stretch->is_kernel ? event->attr.exclude_kernel
	                       : event->attr.exclude_user)
		return;
	if (event->attr.sample_type)
		sim_write_sample(event, &sample);
}

static uint64_t period_of(const struct perf_event_attr *attr)
{
	uint64_t period = attr->freq ? 1000000000u / attr->sample_freq
	                             : attr->sample_period;

	/* [v6.18 core.c perf_swevent_start_hrtimer]: never below 10 us, if it
	 * samples at all */
	return is_clock(attr) && period && period < 10000 ? 10000 : period;
}

/* How late this expiry is: now and then a timer is, and those of CPUs in a virtual
 * machine are, except where the CPU is idle [run]. */
static uint64_t lateness(const struct sim_task *task)
{
	unsigned every = perf_sim_machine.late_every;

	if (task->tid && task == &sim.contexts[task->cpu])
		return perf_sim_machine.awake_late_ns;
	return every && ++sim.timers_fired % every == 0
		? perf_sim_machine.late_ns : 0;
}

static bool is_sampling(const struct sim_event *event)
{
	return period_of(&event->attr) > 0 && rate_of(&event->attr) > 0;
}

/* The time until some event of the task overflows, at most `ns`. */
static uint64_t until_overflow(const struct sim_task *task, uint64_t ns)
{
	for (struct sim_event *at = task->events; at; at = at->next) {
		uint64_t rate = rate_of(&at->attr);

		if (is_sampling(at) && is_counting(at, task) &&
		    (at->left + rate - 1) / rate < ns)
			ns = (at->left + rate - 1) / rate;
	}
	return ns ? ns : 1;
}

static void count_event(struct sim_event *event, const struct sim_task *task,
                        uint64_t ns, bool is_kernel)
{
	bool is_excluded = is_kernel ? event->attr.exclude_kernel
	                             : event->attr.exclude_user;

	/* An event of another CPU is inactive: it is enabled, not running
	 * [v6.18 core.c perf_event_update_time]. */
	if (!event->is_on || !event->leader->is_on || event->has_error)
		return;
	event->enabled_ns += ns;
	if (!is_counting(event, task))
		return;
	event->running_ns += ns;
	/* Clocks count both modes whatever is excluded [run]; a PMU does
	 * not. */
	if (is_clock(&event->attr) || !is_excluded)
		event->count += ns * rate_of(&event->attr);
}

static void advance(struct sim_task *task, struct stretch *stretch,
                    uint64_t ns)
{
	stretch->time_ns += ns;
	task->cpu_ns += ns;
	for (struct sim_event *at = task->events; at; at = at->next)
		count_event(at, task, ns, stretch->is_kernel);
	for (struct sim_event *at = task->events; at; at = at->next) {
		uint64_t passed = ns * rate_of(&at->attr), period;

		if (!is_sampling(at) || !is_counting(at, task))
			continue;
		if (at->left > passed) {
			at->left -= passed;
			continue;
		}
		if (is_clock(&at->attr) && at->late_ns == 0 &&
		    (at->late_ns = lateness(task)) > 0) {
			at->left = at->late_ns;
			continue;
		}
		period = period_of(&at->attr);
		at->left = period - at->late_ns % period;
		at->late_ns = 0;
		overflow(at, stretch);
	}
}

/* The CPU's own events continue beside the thread's, and count all that runs. */
static void run_stretch(struct sim_task *task, struct stretch *stretch,
                        uint64_t ns)
{
	struct sim_task *context = &sim.contexts[task->cpu];

	context->pid = task->pid;
	context->tid = task->tid;
	context->cgroup = task->cgroup;
	while (ns > 0) {
		uint64_t step = until_overflow(context,
		                               until_overflow(task, ns));
		struct stretch same = *stretch;

		advance(task, stretch, step);
		advance(context, &same, step);
		ns -= step;
	}
	context->pid = context->tid = 0;
}

/*
 * Nobody runs: [v6.18 core.c cpu_clock_event_update] a CPU's clock counts on.
 * Its timer fires in the idle task, which is process 0, or not at all [run].
 */
static void run_idle(unsigned cpu, uint64_t from_ns, uint64_t ns)
{
	struct sim_task *context = &sim.contexts[cpu];
	struct stretch stretch = {
		.pc = KERNEL_PC, .time_ns = from_ns, .is_kernel = true,
		.is_silent = perf_sim_machine.silent_idle >> cpu & 1,
	};

	sim.idle_ns[cpu] += ns;
	while (ns > 0) {
		uint64_t step = until_overflow(context, ns);

		advance(context, &stretch, step);
		ns -= step;
	}
}

/* ---- works ---- */

/* The part of the work from done_ns on that is in one mode: chunks of user
 * mode and then kernel mode, in the proportion of the whole work. */
static uint64_t next_stretch(const struct perf_sim_work *work,
                             uint64_t done_ns, bool *is_kernel)
{
	uint64_t in_chunk = done_ns % CHUNK_NS, left = work->ns - done_ns;
	uint64_t user, end;

	*is_kernel = false;
	if (work->kernel_ns == 0)
		return left;
	user = (uint64_t)((long double)CHUNK_NS *
	                  (work->ns - work->kernel_ns) / work->ns);
	*is_kernel = in_chunk >= user;
	end = *is_kernel ? CHUNK_NS : user;
	return end - in_chunk < left ? end - in_chunk : left;
}

static const struct perf_sim_work *
current_work(struct sim_task *task, const struct perf_sim_work *works,
             size_t count)
{
	while (task->work < count && (works[task->work].tid != task->tid ||
	                              task->done_ns == works[task->work].ns)) {
		if (works[task->work].tid == task->tid)
			task->done_ns = 0;
		task->work++;
	}
	return task->work < count ? &works[task->work] : NULL;
}

/* What the two events are copies of. */
static const struct sim_event *root_of(const struct sim_event *event)
{
	return event->parent ? event->parent : event;
}

/*
 * [v6.18 core.c perf_event_context_sched_out]: contexts that are copies of one
 * another change places, and no event stops; unless one of them has an inherited
 * event whose samples read its count (nr_no_switch_fast).
 */
static bool may_place(const struct sim_task *from, const struct sim_task *to)
{
	for (const struct sim_event *a = from->events; a; a = a->next) {
		const struct sim_event *b = to->events;

		while (b && root_of(b) != root_of(a))
			b = b->next;
		if (!b || (a->attr.inherit &&
		           a->attr.sample_type & PERF_SAMPLE_READ))
			return false;
	}
	return true;
}

/* Time passes, the thread is charged for it, and its events are off. */
static uint64_t pay_switch(struct sim_task *task, struct stretch *stretch)
{
	const struct sim_task *last = sim.ran_last[task->cpu];
	struct stretch same = *stretch;

	sim.ran_last[task->cpu] = task;
	if (!perf_sim_machine.switch_ns || !last || last == task ||
	    (may_place(last, task) && may_place(task, last)))
		return 0;
	same.is_kernel = true;
	same.pc = KERNEL_PC;
	advance(&sim.contexts[task->cpu], &same, perf_sim_machine.switch_ns);
	stretch->time_ns += perf_sim_machine.switch_ns;
	task->cpu_ns += perf_sim_machine.switch_ns;
	return perf_sim_machine.switch_ns;
}

/* [v6.18 core.c perf_swevent_event]: an event of a fixed period that asks for
 * PERF_SAMPLE_PERIOD samples every occurrence. */
static void count_one(struct sim_event *event, struct sim_sample *sample)
{
	const struct perf_event_attr *attr = &event->attr;

	event->count++;
	if (!attr->sample_period || !attr->sample_type)
		return;
	if (!attr->freq && !(attr->sample_type & PERF_SAMPLE_PERIOD) &&
	    --event->left > 0)
		return;
	event->left = attr->sample_period;
	sim_write_sample(event, sample);
}

/*
 * It waits for something. [v6.18 core.c perf_event_task_sched_out]: counted while
 * it still runs, and a sample is in the kernel.
 */
static void leave(struct sim_task *task, const struct stretch *last)
{
	struct sim_task *context = &sim.contexts[task->cpu];
	struct sim_filled filled = { .fields = 0 };
	struct sim_sample sample = {
		.ip = PERF_SIM_SCHEDULE, .user_ip = last->pc,
		.time_ns = last->time_ns, .is_kernel = true, .filled = &filled,
	};

	context->pid = task->pid;
	context->tid = task->tid;
	context->cgroup = task->cgroup;
	for (struct sim_event *at = context->events; at; at = at->next)
		if (at->is_on && at->attr.type == PERF_TYPE_SOFTWARE &&
		    at->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES)
			count_one(at, &sample);
	context->pid = context->tid = 0;
}

/* A CPU's time until the slice is used or nothing is left to do. */
static uint64_t run_slice(struct sim_task *task,
                          const struct perf_sim_work *works, size_t count)
{
	const struct perf_sim_work *work;
	struct stretch stretch = { .time_ns = sim.now_ns };
	uint64_t left = perf_sim_machine.slice_ns, paid;

	schedule_pmu(task);
	paid = pay_switch(task, &stretch);
	while (left > 0 && (work = current_work(task, works, count)) != NULL) {
		uint64_t ns = next_stretch(work, task->done_ns,
		                           &stretch.is_kernel);

		/* what is sampled at that moment is of before */
		if (task->done_ns == 0)
			sim_label(task->tid, work->set, stretch.time_ns + 1);
		stretch.pc = work->pc;
		ns = ns < left ? ns : left;
		run_stretch(task, &stretch, ns);
		task->done_ns += ns;
		left -= ns;
	}
	if (!current_work(task, works, count))
		leave(task, &stretch);
	return paid + perf_sim_machine.slice_ns - left;
}

/* The task that has waited longest for this CPU, or NULL. */
static struct sim_task *pick(unsigned cpu, const struct perf_sim_work *works,
                             size_t count, uint64_t turn)
{
	struct sim_task *ready[256];
	size_t n = 0;

	for (struct sim_task *at = sim.working; at && n < 256; at = at->next_working)
		if (at->is_alive && at->cpu == cpu &&
		    current_work(at, works, count))
			ready[n++] = at;
	return n ? ready[turn % n] : NULL;
}

static void migrate(void)
{
	for (struct sim_task *at = sim.tasks; at; at = at->next)
		if (next_random() % 2)
			at->cpu = (unsigned)(next_random() %
			                     perf_sim_machine.cpus);
}

/* Those that have any of it: of thousands that have ended, or wait, none is looked at
 * again in each slice. */
static void give_work(const struct perf_sim_work *works, size_t count)
{
	struct sim_task **last = &sim.working;

	for (struct sim_task *at = sim.tasks; at; at = at->next) {
		at->work = 0;
		at->done_ns = 0;
		if (!at->is_alive || !current_work(at, works, count))
			continue;
		*last = at;
		last = &at->next_working;
	}
	*last = NULL;
}

void perf_sim_run(const struct perf_sim_work *works, size_t count)
{
	give_work(works, count);
	for (uint64_t turn = 0;; turn++) {
		uint64_t used[PERF_SIM_CPUS_MAX], longest = 0;

		if (perf_sim_machine.migrates)
			migrate();
		for (unsigned cpu = 0; cpu < perf_sim_machine.cpus; cpu++) {
			struct sim_task *task = pick(cpu, works, count, turn);

			used[cpu] = task ? run_slice(task, works, count) : 0;
			longest = used[cpu] > longest ? used[cpu] : longest;
		}
		for (unsigned cpu = 0; cpu < perf_sim_machine.cpus; cpu++)
			run_idle(cpu, sim.now_ns + used[cpu],
			         longest - used[cpu]);
		sim.now_ns += longest;
		if (longest == 0) {
			sim_update_pages();
			return;
		}
	}
}

void perf_sim_idle(uint64_t ns)
{
	for (unsigned cpu = 0; cpu < perf_sim_machine.cpus; cpu++)
		run_idle(cpu, sim.now_ns, ns);
	sim.now_ns += ns;
}

static bool counts_faults(const struct sim_event *event,
                          const struct sim_task *task)
{
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       event->attr.config == PERF_COUNT_SW_PAGE_FAULTS &&
	       !event->attr.exclude_user && is_here(event, task);
}

static bool is_tracepoint(const struct sim_event *event,
                          const struct sim_task *task)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT && is_here(event, task);
}

void perf_sim_page_faults(int64_t tid, uint64_t pc, unsigned count)
{
	const struct sim_task *task = sim_task(tid);

	for (unsigned i = 0; i < count; i++) {
		struct sim_filled filled = { .fields = 0 };
		struct sim_sample sample = {
			.ip = pc, .user_ip = pc, .time_ns = sim.now_ns,
			.filled = &filled,
		};

		for (struct sim_event *at = task->events; at; at = at->next)
			if (counts_faults(at, task))
				count_one(at, &sample);
	}
}

void perf_sim_hit(int64_t tid, uint64_t pc, const void *raw, size_t bytes)
{
	const struct sim_task *task = sim_task(tid);
	struct sim_filled filled = { .fields = 0 };
	struct sim_sample sample = {
		.ip = pc, .user_ip = pc, .time_ns = sim.now_ns,
		.filled = &filled, .raw = raw, .raw_bytes = bytes,
	};

	for (struct sim_event *at = task->events; at; at = at->next)
		if (is_tracepoint(at, task))
			count_one(at, &sample);
}
