/* SPDX-License-Identifier: MIT */
/*
 * Whose threads are watched, and what became of each one's time. The scheduler
 * charges a thread what it ran and what it was ready (schedstat of
 * Documentation/scheduler/sched-stats.rst, third number: its turns on a CPU), so
 * that the rest of its life is what it was blocked. Where it was blocked is what
 * was seen at the looks before and after; a thread whose sums are what they were
 * is where it was.
 */
#include "backends/waits/waits.h"

#include "base/clock_ns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

/* A look at every thread, when it is cheap; and if not, so that all looks take
 * one in so many parts of a CPU. */
#define PASS_LEAST_NS (10 * MS)
#define PASS_MOST_NS  (1000 * MS)
#define PASS_IDLE_NS  (50 * MS)
enum { PASS_SHARE = 10, PASS_MEMORY = 8 };

/* Where CPUs are wanted, which shows in passes that are late, and who looks goes before
 * the program, they take less of what it has. */
enum { PASS_SHARE_HASTY = 40 };
#define PASS_LATE_NS (3 * MS)

/* A thread that does not change is looked at again after such a part of the time
 * for which it has not, at last as often as this: what nobody knows of one that ends
 * then is less than a hundredth of its last wait; of many a thirtieth. */
enum { PATIENCE = 128, PATIENCE_OF_MANY = 32 };
#define LOOK_MOST_NS (1000 * MS)
/* Many are due together, so that most passes have nobody to look at. */
#define TOGETHER_NS (500 * MS)

/* To read what all threads of a process have run costs as much as to look at one of
 * so many. */
enum { LOOKS_OF = 64 };

/* A look takes microseconds; a longer one was interrupted. */
enum { GLANCE_TRIES = 4 };
#define GLANCE_MOST_NS (1 * MS)

/* ---- lives ---- */

static void add_life(const struct waits_thread *thread, uint64_t end_ns,
                     portprof_life *sum)
{
	uint64_t running = thread->last.running_ns - thread->first.running_ns +
	                   thread->excess_ns;
	uint64_t ready = thread->last.ready_ns - thread->first.ready_ns;
	uint64_t known = running + ready + thread->told_ns;
	uint64_t lifetime = end_ns > thread->since_ns
	                            ? end_ns - thread->since_ns : 0;

	/* clocks of the scheduler and ours differ by microseconds */
	if (lifetime < known)
		lifetime = known;
	sum->threads++;
	sum->lifetime_ns += lifetime;
	sum->running_ns += running;
	sum->ready_ns += ready;
	sum->blocked_ns += thread->told_ns;
	sum->unknown_ns += lifetime - known;
}

/* Of each member the sum, or what is left. */
static void add_sums(portprof_life *sum, const portprof_life *more, bool is_less)
{
	const uint64_t sign = is_less ? UINT64_MAX : 1;

	sum->threads += sign * more->threads;
	sum->lifetime_ns += sign * more->lifetime_ns;
	sum->running_ns += sign * more->running_ns;
	sum->ready_ns += sign * more->ready_ns;
	sum->blocked_ns += sign * more->blocked_ns;
	sum->unknown_ns += sign * more->unknown_ns;
}

/* After a look at it. What the others had by theirs stays in the sum, so that nobody
 * goes through all threads for it. */
static void count_life(struct waits_watch *watch, struct waits_seat *seat)
{
	const struct waits_thread *thread = seat->thread;
	portprof_life life = { 0 };

	if (thread->is_met && !thread->process->is_awaited)
		add_life(thread, thread->looked_ns, &life);
	add_sums(&watch->living, &seat->counted, true);
	add_sums(&watch->living, &life, false);
	seat->counted = life;
}

static void sum_up(struct waits_watch *watch)
{
	watch->bs->life = watch->ended;
	add_sums(&watch->bs->life, &watch->living, false);
}

static void drop_thread(struct waits_watch *watch, struct waits_thread *thread)
{
	if (thread->held >= 0) {
		watch->kernel->release(watch->kernel->self, thread->held);
		watch->held_count--;
	}
	if (--thread->process->threads == 0)
		ppi_waits_forget_process(watch, thread->process);
	HASH_DELETE(hh, watch->by_id, thread);
	free(thread);
}

/* Its last moments, from the last look on, nobody knows. */
static void end_life(struct waits_watch *watch, struct waits_seat *seat)
{
	struct waits_thread *thread = seat->thread;
	uint64_t died = !thread->has_ended ? thread->looked_ns :
	                thread->died_ns > thread->looked_ns
	                        ? thread->died_ns : watch->now_ns;

	if (thread->is_met && !thread->process->is_awaited) {
		add_life(thread, died, &watch->ended);
		ppi_waits_remember_gone(watch, thread, died);
	}
	thread->is_met = false;
	count_life(watch, seat);
}

/* One that has ended, and whose parent has not asked for it yet, is still shown: it is
 * kept until it is not, or it would be found again as another one. */
static bool lay_out(struct waits_watch *watch, struct waits_seat *seat)
{
	if (seat->thread->at.phase != WAITS_OVER || watch->is_last)
		return false;
	end_life(watch, seat);
	seat->has_ended = seat->thread->has_ended = false;
	return true;
}

bool ppi_waits_is_laid_out(const struct waits_thread *thread)
{
	return !thread->is_met && thread->at.phase == WAITS_OVER;
}

static void bury(struct waits_watch *watch, struct waits_seat *seat)
{
	end_life(watch, seat);
	drop_thread(watch, seat->thread);
}

/* ---- a look ---- */

/* Many are looked at more rarely, but where a look reads nothing. */
static void schedule(const struct waits_watch *watch,
                     struct waits_thread *thread, bool is_free)
{
	bool are_many = watch->threads.count > WAITS_MANY_THREADS;
	size_t many = is_free ? 0 : watch->threads.count / WAITS_MANY_THREADS;
	uint64_t since = watch->now_ns - thread->changed_ns;
	uint64_t nap = since / (are_many ? PATIENCE_OF_MANY : PATIENCE) *
	               (1 + many);
	uint64_t most = LOOK_MOST_NS * (1 + many / 2);

	thread->next_ns = watch->now_ns + (nap < most ? nap : most);
	if (are_many && since > 2 * TOGETHER_NS)
		thread->next_ns += TOGETHER_NS - thread->next_ns % TOGETHER_NS;
}

/* False while a command has not begun: nothing of before counts. */
static bool has_begun(struct waits_watch *watch, struct waits_thread *thread,
                      const struct waits_sums *sums)
{
	struct waits_process *process = thread->process;

	if (!process->is_awaited)
		return true;
	if (ppi_waits_program(watch, process->pid) != process->program) {
		process->is_awaited = false;
		process->is_foreign = ppi_waits_is_foreign(watch, process->pid);
		return true;
	}
	thread->first = thread->last = *sums;
	thread->since_ns = thread->looked_ns = watch->now_ns;
	thread->next_ns = 0;
	return false;
}

/* Who samples from inside has a thread of this name there, which is nobody's. */
static bool is_samplers(const struct waits_watch *watch,
                        const struct waits_thread *thread)
{
	char name[32] = "";

	return watch->has_samplers &&
	       ppi_waits_read(watch, thread, "comm", name, sizeof(name)) > 0 &&
	       strcmp(name, "portprof\n") == 0;
}

/* All but the sums. */
static int read_place(struct waits_watch *watch, struct waits_thread *thread,
                      struct waits_glance *out)
{
	uint64_t since;
	int got = ppi_waits_place(watch, thread, &out->place);

	if (got)
		return got;
	ppi_waits_read_switches(watch, thread, &out->switches);
	out->here_ns = UINT64_MAX;
	if (out->place.phase == WAITS_BLOCKED &&
	    ppi_waits_blocked_since(watch, thread, &out->switches, &since) &&
	    since < watch->now_ns)
		out->here_ns = watch->now_ns - since;
	ppi_waits_read_labels(watch, thread, true, &out->after);
	return 0;
}

/*
 * What its threads have run, read once a pass. The kernel goes through all of them for
 * that, so that of many some are looked at without it first, which costs as much: where
 * few are due, as when others sleep on, it is not read at all. 0: it is not known.
 */
static uint64_t process_ran_ns(struct waits_watch *watch,
                               struct waits_process *process)
{
	const struct waits_kernel *kernel = watch->kernel;

	if (process->ran_pass != watch->times.pass) {
		process->ran_pass = watch->times.pass;
		process->looks = process->ran_ns = 0;
	}
	if (process->ran_ns)
		return process->ran_ns;
	if (process->looks++ == process->threads / LOOKS_OF) {
		process->ran_at_ns = kernel->now_ns(kernel->self);
		process->ran_ns = kernel->process_cpu_ns(kernel->self,
		                                         process->pid);
	}
	return process->ran_ns;
}

/* Of a program that was executed just now nothing is known before the record of that
 * is seen: its first wait may be a long one. Less and less often. */
static bool asks_again(const struct waits_watch *watch,
                       const struct waits_thread *thread)
{
	enum { ASKED_MOST = 16 };

	return watch->bs->labels && thread->was_blocked &&
	       !ppi_waits_is_lent(&thread->at) &&
	       thread->labels.here == PPI_LABELS_UNKNOWN &&
	       thread->labels.asked < ASKED_MOST &&
	       watch->now_ns - thread->changed_ns >= MS << thread->labels.asked;
}

/* It has not run between the last look and this one, which began with the first
 * reading: a set that is the same in both is that wait's. */
static void ask_again(const struct waits_watch *watch,
                      struct waits_thread *thread,
                      struct waits_glance *seen)
{
	ppi_waits_read_labels(watch, thread, true, &seen->after);
	thread->labels.here = ppi_waits_set_between(&seen->before,
	                                            &seen->after);
	thread->labels.asked++;
}

/* Who runs on may change sets all the time. */
static bool is_of_one_set(const struct waits_glance *seen)
{
	return seen->place.phase != WAITS_BLOCKED ||
	       seen->after.set == PPI_LABELS_UNKNOWN ||
	       ppi_waits_set_between(&seen->before, &seen->after) !=
		       PPI_LABELS_UNKNOWN;
}

/*
 * All of one moment, which is the time of the look. If our CPU was taken between,
 * the sums may be those of one wait and the place that of another: look again. Not
 * 0: it is gone.
 */
static int glance(struct waits_watch *watch, struct waits_thread *thread,
                  struct waits_glance *out)
{
	const struct waits_kernel *kernel = watch->kernel;
	uint64_t ran_ns = process_ran_ns(watch, thread->process);
	int got;

	out->is_free = false;
	if (thread->was_blocked && ran_ns && ran_ns == thread->process_ran_ns &&
	    !asks_again(watch, thread)) {
		/* no thread of its process has run since */
		watch->now_ns = thread->process->ran_at_ns;
		out->sums = thread->last;
		out->is_new = false;
		out->is_free = true;
		return 0;
	}
	for (int tries = 0; tries < GLANCE_TRIES; tries++) {
		ppi_waits_read_labels(watch, thread, false, &out->before);
		watch->now_ns = kernel->now_ns(kernel->self);
		got = ppi_waits_read_sums(watch, thread, &out->sums);
		if (got)
			return got;
		thread->process_ran_ns = ran_ns;
		out->is_new = thread->last.turns != out->sums.turns ||
		              thread->last.running_ns != out->sums.running_ns;
		if (!out->is_new && asks_again(watch, thread))
			ask_again(watch, thread, out);
		if ((!out->is_new && thread->was_blocked) ||
		    thread->process->is_awaited)
			return 0;
		got = read_place(watch, thread, out);
		if (got || (is_of_one_set(out) &&
		            kernel->now_ns(kernel->self) <
		                    watch->now_ns + GLANCE_MOST_NS))
			return got;
	}
	return 0;
}

/* What is shown under its number from then on is another one. */
static void look_at_dead(struct waits_watch *watch, struct waits_thread *thread)
{
	struct waits_place place;
	struct waits_sums sums;

	if (ppi_waits_read_sums(watch, thread, &sums) ||
	    ppi_waits_place(watch, thread, &place) ||
	    place.phase != WAITS_OVER) {
		thread->at.phase = WAITS_BLOCKED;
		thread->has_ended = true;
	}
	schedule(watch, thread, false);
}

/* False: there is no room, and nothing has changed. */
static bool look(struct waits_watch *watch, struct waits_thread *thread)
{
	struct waits_glance seen;

	if (ppi_waits_is_laid_out(thread)) {
		look_at_dead(watch, thread);
		return true;
	}
	if (!ppi_waits_has_room(watch))
		return false;
	if (thread->has_ended || glance(watch, thread, &seen)) {
		ppi_waits_end_unseen(watch, thread);
		return true;
	}
	if (thread->process->is_awaited &&
	    (!has_begun(watch, thread, &seen.sums) ||
	     read_place(watch, thread, &seen)))
		return true;
	if (!seen.is_new && thread->was_blocked) {
		ppi_waits_go_on(watch, thread, &seen.sums);
		schedule(watch, thread, seen.is_free);
		return true;
	}
	if (is_samplers(watch, thread)) {
		thread->is_met = false;
		thread->next_ns = UINT64_MAX;
		return true;
	}
	ppi_waits_await_waking(watch, thread);
	if (!ppi_waits_tell_code(watch, thread, seen.place.is_known))
		return false;
	if (seen.place.phase == WAITS_BLOCKED && !seen.place.is_known)
		watch->is_denied = true;
	ppi_waits_settle(watch, thread, &seen);
	schedule(watch, thread, false);
	return true;
}

/* ---- passes ---- */

static uint64_t own_cpu_ns(void)
{
	uint64_t ns = 0;

	ppi_clock_ns(CLOCK_THREAD_CPUTIME_ID, &ns);
	return ns;
}

/* The next one, so that looking stays cheap; not at even times, at which programs
 * do what they do again and again. */
static void plan_pass(struct waits_watch *watch)
{
	uint64_t cpu = own_cpu_ns(), every = 0, idle;

	/* what the session did with the records of the last one, too, where the
	 * same thread looks again */
	if (pthread_equal(watch->times.thread, pthread_self()) &&
	    cpu > watch->times.thread_cpu_ns)
		every = (cpu - watch->times.thread_cpu_ns) *
		        (watch->times.is_hasty &&
		                         watch->times.late_ns > PASS_LATE_NS
		                 ? PASS_SHARE_HASTY : PASS_SHARE);
	watch->times.thread = pthread_self();
	watch->times.thread_cpu_ns = cpu;
	every = ((PASS_MEMORY - 1) * watch->times.every_ns + every) /
	        PASS_MEMORY;
	if (every < PASS_LEAST_NS)
		every = PASS_LEAST_NS;
	if (every > PASS_MOST_NS)
		every = PASS_MOST_NS;
	watch->times.every_ns = every;
	watch->times.dice = watch->times.dice * 1664525u + 1013904223u;
	every = every * 3 / 4 + every / 2 * (watch->times.dice >> 16) / 65536;
	watch->times.next_ns = watch->now_ns + every;
	/* nobody is due until then; but somebody may begin */
	idle = watch->times.earliest_ns < watch->now_ns + PASS_IDLE_NS
	               ? watch->times.earliest_ns : watch->now_ns + PASS_IDLE_NS;
	if (watch->times.next_ns < idle)
		watch->times.next_ns = idle;
}

/* False: nobody is due. Who is found is at once. */
static bool begin_pass(struct waits_watch *watch)
{
	uint64_t earliest = watch->times.earliest_ns;

	watch->times.pass++;
	watch->times.earliest_ns = UINT64_MAX;
	/* before anything else: who has just begun to run has a fresh one */
	if (earliest <= watch->now_ns)
		ppi_waits_read_clock(watch);
	ppi_waits_scan(watch, false);
	if (earliest > watch->now_ns && watch->times.earliest_ns != 0 &&
	    !watch->is_last) {
		watch->times.earliest_ns = earliest;
		plan_pass(watch);
		return false;
	}
	ppi_waits_read_clock(watch);
	watch->is_passing = true;
	watch->cursor = 0;
	return true;
}

/* How much was seen is in the samples; why not more is not. */
static void say_why(struct waits_watch *watch)
{
	const portprof_life *life = &watch->bs->life;

	if (life->unknown_ns && life->unknown_ns >= life->lifetime_ns / 100)
		ppi_note(watch->bs, "%.1f %% of threads' lives is unknown: what "
		         "they did from the last look at them to their end; the "
		         "kernel keeps no sums of who has ended",
		         100.0 * (double)life->unknown_ns /
		                 (double)life->lifetime_ns);
	if (watch->is_denied)
		ppi_note(watch->bs, PORTPROF_NOTE_MISSED "where some threads "
		         "wait: only who may trace a process (ptrace(2)), as "
		         "the administrator of its container may, sees its "
		         "/proc/PID/syscall and stacks");
}

/*
 * Where all CPUs are wanted, who looks waits for one, too: 28 ms each time beside
 * sixteen that run on two CPUs, and 6 ms as one that goes before. What a thread did
 * between the last look and its end is so much less. Not in the program itself. All that
 * the helper does is before others: it has to be so while it sleeps.
 */
static void hasten(struct waits_watch *watch, bool is_wanted)
{
	const struct waits_kernel *kernel = watch->kernel;
	int64_t helper = is_wanted ? watch->bs->helper_tid
	                           : watch->times.hastened;

	if (!kernel->hasten || watch->bs->plan->target.is_self || !helper ||
	    is_wanted == (watch->times.hastened != 0))
		return;
	watch->times.is_hasty =
		kernel->hasten(kernel->self, helper, is_wanted);
	watch->times.hastened = is_wanted ? helper : 0;
}

static void end_pass(struct waits_watch *watch)
{
	size_t kept = 0;

	for (size_t i = 0; i < watch->threads.count; i++) {
		struct waits_seat *seat = ppi_waits_seat(watch, i);

		if ((seat->has_ended && !lay_out(watch, seat)) || watch->is_last)
			bury(watch, seat);
		else if (kept++ != i)
			*ppi_waits_seat(watch, kept - 1) = *seat;
	}
	watch->threads.count = kept;
	ppi_waits_forget_gone(watch, watch->now_ns);
	sum_up(watch);
	watch->is_passing = false;
	if (watch->is_last) {
		hasten(watch, false);
		watch->is_running = watch->is_last = false;
		say_why(watch);
	} else {
		plan_pass(watch);
	}
}

static void restart(struct waits_watch *watch)
{
	watch->resets = watch->bs->resets;
	memset(&watch->ended, 0, sizeof(watch->ended));
	for (size_t i = 0; i < watch->threads.count; i++) {
		struct waits_seat *seat = ppi_waits_seat(watch, i);
		struct waits_thread *thread = seat->thread;

		thread->first = thread->last;
		thread->since_ns = thread->looked_ns;
		thread->told_ns = thread->excess_ns = 0;
		thread->pending_ns = 0;
		thread->owed_ns = 0;
		count_life(watch, seat);
	}
}

static bool is_due(const struct waits_watch *watch,
                   const struct waits_seat *seat)
{
	return seat->next_ns <= watch->now_ns ||
	       (watch->is_last && seat->next_ns != UINT64_MAX);
}

/* Of many most are not due: these are not touched. */
static bool look_at_seat(struct waits_watch *watch, struct waits_seat *seat)
{
	if (!look(watch, seat->thread))
		return false;
	seat->next_ns = seat->thread->next_ns;
	seat->has_ended = seat->thread->has_ended;
	count_life(watch, seat);
	return true;
}

bool ppi_waits_watch_drain(struct waits_watch *watch, struct ppi_room *room)
{
	const struct waits_kernel *kernel = watch->kernel;

	if (!watch->is_running)
		return true;
	if (watch->resets != watch->bs->resets)
		restart(watch);
	watch->wakers.room = room;
	if (!watch->is_passing) {
		uint64_t now = kernel->now_ns(kernel->self);

		if (now < watch->times.next_ns && !watch->is_last)
			return true;
		if (!watch->is_last)
			watch->now_ns = now;
		watch->times.late_ns =
			((PASS_MEMORY - 1) * watch->times.late_ns +
		         (now > watch->times.next_ns
		                  ? now - watch->times.next_ns : 0)) /
			PASS_MEMORY;
		if (!begin_pass(watch))
			return true;
	}
	while (ppi_waits_pass_on(watch, room)) {
		struct waits_seat *seat;

		if (watch->cursor == watch->threads.count) {
			end_pass(watch);
			return true;
		}
		seat = ppi_waits_seat(watch, watch->cursor);
		if (is_due(watch, seat) && !look_at_seat(watch, seat))
			continue;
		watch->cursor++;
		if (seat->next_ns < watch->times.earliest_ns)
			watch->times.earliest_ns = seat->next_ns;
	}
	return false;
}

/* ---- its life ---- */

unsigned ppi_waits_watch_nap_ms(const struct waits_watch *watch)
{
	uint64_t now = watch->kernel->now_ns(watch->kernel->self);

	if (!watch->is_running || watch->times.next_ns <= now)
		return 1;
	return (unsigned)((watch->times.next_ns - now) / MS) + 1;
}

portprof_status ppi_waits_watch_open(struct waits_watch *watch,
                                     struct ppi_diag *why)
{
	const struct waits_kernel *kernel = watch->kernel;
	const struct ppi_target *target = &watch->bs->plan->target;
	char text[96];
	int got;

	if (target->kind == PPI_TARGET_SYSTEM && target->cpus)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "open waits",
		                "who waits is on no CPU: leave the list of "
		                "CPUs out");
	got = kernel->read(kernel->self, "/proc/self/schedstat", text,
	                   sizeof(text));
	if (got <= 0 || strtoull(text, NULL, 10) == 0)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, got < 0 ? -got : 0,
		                "open waits", "the kernel does not tell how "
		                "long threads ran and waited "
		                "(/proc/PID/schedstat): mount /proc, or use a "
		                "kernel with CONFIG_SCHED_INFO");
	watch->times.dice = (uint32_t)kernel->now_ns(kernel->self);
	watch->times.every_ns = PASS_LEAST_NS;
	return ppi_waits_queue_open(watch, why);
}

void ppi_waits_watch_start(struct waits_watch *watch)
{
	const struct ppi_target *target = &watch->bs->plan->target;
	struct waits_process *process;

	watch->now_ns = watch->kernel->now_ns(watch->kernel->self);
	watch->times.started_ns = watch->times.scanned_ns = watch->now_ns;
	watch->times.next_ns = watch->now_ns;
	watch->is_running = true;
	watch->is_last = watch->is_passing = false;
	watch->times.thread_cpu_ns = UINT64_MAX;
	hasten(watch, true);
	if (target->kind == PPI_TARGET_COMMAND) {
		process = ppi_waits_enter_process(watch, target->pid);
		/* a child that is about to exec has our program still */
		if (process) {
			process->program = ppi_waits_program(watch, target->pid);
			process->is_awaited =
				process->program &&
				process->program == ppi_waits_program(watch, 0);
		}
	}
	ppi_waits_scan(watch, true);
}

void ppi_waits_watch_stop(struct waits_watch *watch)
{
	if (!watch->is_running || watch->is_last)
		return;
	watch->now_ns = watch->kernel->now_ns(watch->kernel->self);
	watch->is_last = true;
	watch->is_passing = false;
}

void ppi_waits_watch_close(struct waits_watch *watch)
{
	struct waits_process *process, *next;

	if (watch->is_running)
		hasten(watch, false);
	for (size_t i = 0; i < watch->threads.count; i++)
		drop_thread(watch, ppi_waits_seat(watch, i)->thread);
	ppi_vector_free(&watch->threads);
	HASH_ITER(hh, watch->processes, process, next)
		ppi_waits_forget_process(watch, process);
	ppi_waits_forget_sockets(watch);
	ppi_waits_frames_close(watch);
	ppi_waits_forget_gone(watch, UINT64_MAX);
	ppi_waits_queue_close(watch);
}
