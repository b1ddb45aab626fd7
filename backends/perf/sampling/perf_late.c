/* SPDX-License-Identifier: MIT */
/*
 * What interrupts of CPUs' clocks miss because they come late.
 *
 * In a virtual machine an interrupt comes 10 to 40 us after it fell due, and a
 * thread that waits often has left the CPU by then: the sample is of the idle task,
 * which is in no profile. Two processes that hand a byte to each other from CPU to
 * CPU, each for 17 us at a time, had 22 to 40 % less in samples than they were
 * charged, redis 10 %. A thread's own clock has the same trouble, but its interrupt
 * waits for the thread: `perf record` shows that time where the thread runs next,
 * in the kernel's finish_task_switch.
 *
 * So the clock of each process is read beside its samples. Once it shows more than
 * chance leaves out, some of the switches of threads on each CPU are sampled, and what
 * is missing is laid on places where the process's threads left their CPUs, a period
 * or more on each: there the interrupt would have met them that came late. An
 * interrupt is taken to be late by LATE_MOST_NS at most; what that does not explain
 * stays unattributed. Where nothing is missing nothing more is sampled.
 */
#include "backends/perf/sampling/perf_late.h"

#include "backends/perf/kernel/perf_proc.h"
#include "backends/perf/sampling/perf_account.h"
#include "backends/perf/sampling/perf_family.h"
#include "backends/perf/sampling/perf_samples.h"
#include "backends/perf/sampling/perf_sampling.h"
#include "backends/perf/sampling/perf_tails.h"
#include "backends/perf/session/perf_target.h"

#include <stdio.h>
#include <stdlib.h>

/* Processes whose clocks are read; one of so many switches is sampled, and of twice
 * as many where that was more often than so between two looks. */
enum { PROCESSES_MAX = 64, SWITCHES = 97, SAMPLED_MOST = 50 };

#define LOOK_NS      UINT64_C(250000000)
#define FIRST_NS     UINT64_C(100000000)
#define LATE_MOST_NS 50000.0

/* Missing is what is more than chance (two standard errors), and at least a
 * fiftieth. */
#define SIGMAS 2.0
enum { LEAST_PART = 50 };

#define LATE_NOTE                                                            \
	"interrupts came late: %.3f s of what the target used are laid on "    \
	"the places where its threads left their CPUs just before"

/* ---- events of what leaves CPUs ---- */

static int open_on(struct ppi_backend_session *bs, size_t ring)
{
	const struct perf_state *state = perf_state_of(bs);
	struct perf_source source = {
		.event = PERF_CARRIER, .ring = (uint32_t)ring,
		.tid = PERF_ANYBODY, .is_leave = true,
	};
	struct perf_event_attr attr;

	ppi_perf_attr_leave(&state->kind, &bs->plan->events[state->late->event],
	                    state->late->switches, &attr);
	ppi_perf_attr_of_size(state, false, &attr);
	return ppi_perf_open_beside(bs, &source, &attr);
}

static bool is_leave(const struct perf_source *source)
{
	return source->is_leave;
}

void ppi_perf_late_open(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_late *late = state->late;
	const struct ppi_plan *plan = bs->plan;
	uint64_t limit;
	int error = 0;

	/* a process's clock has both modes */
	while (late->event < plan->event_count &&
	       !(plan->events[late->event].is_cpu_time &&
	         plan->events[late->event].counts_user &&
	         plan->events[late->event].counts_kernel))
		late->event++;
	if (!state->is_by_cpu || late->event == plan->event_count ||
	    !(state->kind.features & PERF_HAS_CLOCKID) ||
	    ppi_perf_proc_free_fds(perf_kernel_of(bs->kernel), &limit) / 2 <
	            state->cpu_count)
		return;
	late->processes = calloc(PROCESSES_MAX, sizeof(*late->processes));
	if (!late->processes)
		return;
	late->switches = SWITCHES;
	for (size_t ring = 0; ring < state->cpu_count && error == 0; ring++)
		error = open_on(bs, ring);
	if (error < 0)
		ppi_perf_close_beside(bs, is_leave);
	late->is_open = error == 0;
	late->random = 1;
}

static void control_all(struct ppi_backend_session *bs, unsigned long request,
                        void *arg)
{
	const struct perf_state *state = perf_state_of(bs);

	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].is_leave)
			ppi_perf_control(bs, &state->sources[i], request, arg);
}

static void switch_on(struct ppi_backend_session *bs)
{
	perf_state_of(bs)->late->is_on = true;
	control_all(bs, PERF_EVENT_IOC_ENABLE, NULL);
}

static void pace(struct ppi_backend_session *bs)
{
	struct perf_late *late = perf_state_of(bs)->late;

	if (late->sampled > SAMPLED_MOST) {
		late->switches *= 2;
		control_all(bs, PERF_EVENT_IOC_PERIOD, &late->switches);
	}
	late->sampled = 0;
}

/* ---- processes ---- */

static void forget_places(struct perf_late_process *process)
{
	while (process->count > 0) {
		ppi_perf_tail_free(process->places[--process->count]);
		process->places[process->count] = NULL;
	}
}

void ppi_perf_late_free(struct perf_state *state)
{
	struct perf_late *late = state->late;

	for (size_t i = 0; i < late->count; i++)
		forget_places(&late->processes[i]);
	free(late->processes);
}

static struct perf_late_process *find(const struct perf_late *late, uint64_t pid)
{
	for (size_t i = 0; i < late->count; i++)
		if (late->processes[i].pid == pid)
			return &late->processes[i];
	return NULL;
}

/* In the place of one that has ended, if there are many; NULL: there is none. */
static struct perf_late_process *add(struct perf_late *late, uint64_t pid)
{
	struct perf_late_process *process = NULL;

	if (late->count < PROCESSES_MAX)
		process = &late->processes[late->count++];
	else /* who was known may come again: of whom, nobody remembers */
		late->has_unknown = true;
	for (size_t i = 0; i < late->count && !process; i++)
		if (late->processes[i].is_ended)
			process = &late->processes[i];
	if (!process)
		return NULL;
	forget_places(process);
	*process = (struct perf_late_process){ .pid = pid };
	return process;
}

static bool read_clock(const struct ppi_backend_session *bs, uint64_t pid,
                       uint64_t *ns)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	return kernel->get_clock(kernel->self,
	                         perf_clock_of_process((int64_t)pid), ns) == 0;
}

static void read_process(const struct ppi_backend_session *bs,
                         struct perf_late_process *process)
{
	uint64_t now;

	process->is_read = read_clock(bs, process->pid, &now) &&
	                   now >= process->base_ns + process->charged;
	if (process->is_read)
		process->charged = now - process->base_ns;
}

static void read_all(struct ppi_backend_session *bs)
{
	struct perf_late *late = perf_state_of(bs)->late;

	for (size_t i = 0; i < late->count; i++)
		if (!late->processes[i].is_ended)
			read_process(bs, &late->processes[i]);
	late->is_fresh = true;
}

/* What it used before, or while the session was stopped, is in no sample. */
static void begin(struct ppi_backend_session *bs,
                  struct perf_late_process *process)
{
	uint64_t now;

	if (read_clock(bs, process->pid, &now))
		process->base_ns = now - process->charged;
	forget_places(process);
	process->leaves = 0;
}

/* Who is in a control group is known by its samples alone. */
static void add_known(struct ppi_backend_session *bs)
{
	struct perf_late *late = perf_state_of(bs)->late;
	int64_t *pids;
	size_t count;

	if (bs->plan->target.cgroup ||
	    ppi_perf_target_processes(bs, &pids, &count) < 0) {
		late->has_unknown = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct perf_late_process *process = NULL;

		if (!find(late, (uint64_t)pids[i]))
			process = add(late, (uint64_t)pids[i]);
		if (process)
			begin(bs, process);
	}
	free(pids);
}

void ppi_perf_late_start(struct ppi_backend_session *bs)
{
	struct perf_late *late = perf_state_of(bs)->late;

	if (!late->is_open)
		return;
	for (size_t i = 0; i < late->count; i++)
		begin(bs, &late->processes[i]);
	add_known(bs);
	late->next_look_ns = ppi_perf_record_clock(bs) + FIRST_NS;
}

void ppi_perf_late_stop(struct ppi_backend_session *bs)
{
	if (perf_state_of(bs)->late->is_open)
		read_all(bs);
}

void ppi_perf_late_look(struct ppi_backend_session *bs, uint64_t now_ns)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_late *late = state->late;

	if (!late->is_open || !state->is_running || now_ns < late->next_look_ns)
		return;
	read_all(bs);
	pace(bs);
	late->next_look_ns = now_ns + LOOK_NS;
}

/* ---- what comes from the rings ---- */

/* Of a family all that began before is known: who is new began since. */
static struct perf_late_process *find_or_add(struct ppi_backend_session *bs,
                                             uint64_t pid)
{
	const struct perf_state *state = perf_state_of(bs);
	struct perf_late *late = state->late;
	struct perf_late_process *process = find(late, pid);

	if (process)
		return process;
	process = add(late, pid);
	if (process && (late->has_unknown || !state->family->bits))
		read_clock(bs, pid, &process->base_ns);
	return process;
}

void ppi_perf_late_met(struct ppi_backend_session *bs, uint32_t event,
                       uint64_t pid, uint64_t weight)
{
	struct perf_late *late = perf_state_of(bs)->late;
	struct perf_late_process *process;

	if (!late->is_open || event != late->event)
		return;
	process = find_or_add(bs, pid);
	if (!process)
		return;
	/* other threads of it go on without its first */
	process->is_ended = false;
	process->met += weight;
	process->variance += (double)weight * (double)weight;
}

static uint64_t next_random(struct perf_late *late)
{
	late->random ^= late->random << 13;
	late->random ^= late->random >> 7;
	late->random ^= late->random << 17;
	return late->random;
}

/* Each of all that were sampled has the same chance to be among those that are
 * kept. */
void ppi_perf_late_left(struct ppi_backend_session *bs,
                        const portprof_record *record, const uint64_t *words,
                        size_t word_count)
{
	struct perf_late *late = perf_state_of(bs)->late;
	struct perf_late_process *process = find(late, record->pid);
	uint64_t at;

	if (!process)
		return;
	process->switches += late->switches;
	at = process->leaves++;
	if (at >= PERF_LATE_PLACES)
		at = next_random(late) % process->leaves;
	if (at > process->count)
		at = process->count; /* some were forgotten */
	if (at >= PERF_LATE_PLACES)
		return;
	process->count += at == process->count;
	if (ppi_perf_tail_copy(bs, &process->places[at], record, words,
	                       word_count))
		return;
	process->places[at] = process->places[--process->count];
	process->places[process->count] = NULL;
}

void ppi_perf_late_forget_places(struct perf_state *state, uint64_t pid)
{
	struct perf_late_process *process = find(state->late, pid);

	if (process)
		forget_places(process);
}

void ppi_perf_late_forget(struct perf_state *state, uint64_t pid)
{
	struct perf_late *late = state->late;
	struct perf_late_process *process = find(late, pid);

	if (!process)
		return;
	forget_places(process);
	*process = late->processes[--late->count];
	late->processes[late->count] = (struct perf_late_process){ 0 };
}

/* ---- what is missing, and where it is laid ---- */

/* One that nobody can ask any more went on as it had. */
static double used_by(const struct perf_late_process *process)
{
	double used = (double)process->charged;

	if (!process->is_read && process->met_at_look)
		used += (double)(process->met - process->met_at_look) * used /
		        (double)process->met_at_look;
	return used;
}

static double missing_of(const struct perf_late_process *process)
{
	double missing = used_by(process) - (double)process->met -
	                 (double)process->laid;

	return missing > 0 ? missing : 0;
}

/*
 * Which part of what each lacks is laid on its places. Chance gives to one what it
 * takes from another: of all together it must be more than chance leaves out, and no
 * more is laid than they lack together.
 */
static double part_to_lay(const struct perf_late *late)
{
	double used = 0, gap = 0, variance = 0, laid = 0, missing = 0;

	for (size_t i = 0; i < late->count; i++) {
		const struct perf_late_process *process = &late->processes[i];

		used += used_by(process);
		gap += used_by(process) - (double)process->met;
		laid += (double)process->laid;
		variance += process->variance;
		missing += missing_of(process);
	}
	if (gap <= laid || gap < used / LEAST_PART ||
	    gap * gap < SIGMAS * SIGMAS * variance)
		return 0;
	return gap - laid < missing ? (gap - laid) / missing : 1;
}

/* As many samples as came too late, if there are places for them. */
static bool lay(struct ppi_backend_session *bs,
                struct perf_late_process *process, double part,
                struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_late *late = state->late;
	double period = (double)state->tallies[late->event].period;
	double missing = part * missing_of(process);
	double most = (double)process->switches * LATE_MOST_NS -
	              (double)process->laid;

	if (missing > most)
		missing = most;
	while (process->count > 0 && missing >= period) {
		double samples = missing / period;
		size_t count = samples < (double)process->count
			? (size_t)samples : process->count;
		uint64_t weight = (uint64_t)(missing / (double)count);
		struct perf_tail *place = process->places[process->count - 1];

		if (!ppi_perf_tail_add(bs, place, weight, room))
			return false;
		process->places[--process->count] = NULL;
		ppi_perf_tail_free(place);
		process->laid += weight;
		late->laid += weight;
		missing -= (double)weight;
		ppi_note_again(bs, &late->note, LATE_NOTE,
		               (double)late->laid / 1e9);
	}
	forget_places(process);
	process->leaves = 0;
	return true;
}

/* What is lost is missing, too, and what passed while the event was off. */
static bool is_only_late(const struct perf_state *state)
{
	const struct perf_tally *tally = &state->tallies[state->late->event];

	return state->tallies[0].lost_records == 0 && !tally->throttled &&
	       !tally->was_off;
}

bool ppi_perf_late_lay(struct ppi_backend_session *bs, struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_late *late = state->late;
	double part = 0;

	if (!late->is_fresh)
		return true;
	if (is_only_late(state))
		part = part_to_lay(late);
	if (part > 0 && !late->is_on && state->is_running)
		switch_on(bs);
	for (size_t i = 0; i < late->count; i++) {
		struct perf_late_process *process = &late->processes[i];

		if (process->is_ended)
			continue;
		if (!lay(bs, process, part, room))
			return false;
		process->met_at_look = process->met;
		process->is_ended = !process->is_read;
	}
	late->is_fresh = false;
	return true;
}

bool ppi_perf_late_end(struct ppi_backend_session *bs, uint64_t pid,
                       struct ppi_room *room)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct perf_late *late = state->late;
	struct perf_late_process *process = find(late, pid);

	if (!process || process->is_ended)
		return true;
	read_process(bs, process);
	if (!lay(bs, process, is_only_late(state) ? part_to_lay(late) : 0,
	         room))
		return false;
	process->is_ended = true;
	return true;
}
