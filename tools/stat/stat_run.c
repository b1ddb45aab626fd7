/* SPDX-License-Identifier: MIT */
/* One run of a command, or one attachment, and waiting for its end. */
#include "config.h"

#include "base/clock_ns.h"
#include "tools/stat/stat.h"
#include "tools/tools.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

/* ---- waiting for the end, or for a time ---- */

enum { LOOK_EVERY_NS = 20000000 }; /* nothing tells when others end */

/* Block what ends the wait, but while asleep: so that nothing is missed that
 * comes between a look and the sleep. */
static void hold_signals(sigset_t *before, sigset_t *asleep)
{
	static const int held[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP,
		                    SIGQUIT, SIGUSR1, SIGUSR2 };
	sigset_t block;

	sigemptyset(&block);
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		sigaddset(&block, held[i]);
	sigprocmask(SIG_BLOCK, &block, before);
	*asleep = *before;
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		sigdelset(asleep, held[i]);
}

/* Until `end_ns` (0: for ever) or a signal. */
static void doze(uint64_t end_ns, const sigset_t *asleep)
{
	uint64_t now = ppi_monotonic_ns();
	struct timespec left = { 0, 0 };

	if (end_ns > now) {
		left.tv_sec = (time_t)((end_ns - now) / 1000000000u);
		left.tv_nsec = (long)((end_ns - now) % 1000000000u);
	}
	pselect(0, NULL, NULL, NULL, end_ns ? &left : NULL, asleep);
}

/* A command and a process end by themselves; a wait for a process is also
 * ended by a signal to us, which a command gets instead. */
static bool is_over(const struct ppi_stat_waited *waited)
{
	if (waited->child)
		return ppi_child_has_ended(waited->child);
	if (ppi_kept_signal() || waited->is_endless)
		return ppi_kept_signal() != 0;
	return waited->targets ? ppi_targets_have_ended(waited->targets)
	                       : ppi_watch_has_ended(&waited->thread);
}

/* Wait until the end, or until deadline_ns of CLOCK_MONOTONIC (0: none). A
 * child is not reaped. False: the deadline came first. */
static bool await(const struct ppi_stat_waited *waited, uint64_t deadline_ns)
{
	sigset_t before, asleep;
	bool has_ended;

	hold_signals(&before, &asleep);
	while (!(has_ended = is_over(waited))) {
		uint64_t now = ppi_monotonic_ns(), end = deadline_ns;

		if (deadline_ns && now >= deadline_ns)
			break;
		if (!waited->child &&
		    (end == 0 || end > now + LOOK_EVERY_NS))
			end = now + LOOK_EVERY_NS;
		doze(end, &asleep);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return has_ended;
}

/* ---- a run ---- */

/* Where an interval or the delay ends next; 0: nowhere. */
static uint64_t next_deadline(const struct ppi_stat *stat, uint64_t last_ns)
{
	uint64_t every_ms = stat->options.interval_ms;

	return every_ms ? last_ns + every_ms * 1000000u : 0;
}

/* Marks everything as not counted: the end came before the delay was over. */
static void never_began(struct ppi_stat *stat)
{
	ppi_say("it ended before the delay of -D was over: nothing was "
	        "counted");
	for (size_t i = 0; i < stat->event_count; i++)
		if (stat->events[i].refusal.status == PORTPROF_OK) {
			stat->events[i].base.status = PORTPROF_COUNT_OK;
			stat->events[i].now = stat->events[i].base;
			stat->events[i].now.status = PORTPROF_COUNT_NEVER_RAN;
		}
}

/* Counts until the end. *started_ns is moved by a delay. False: it came
 * before the delay was over. */
static bool watch(struct ppi_stat *stat, const struct ppi_stat_waited *waited,
                  uint64_t *started_ns)
{
	const struct ppi_stat_options *options = &stat->options;
	uint64_t stop_ns, last_ns, deadline;

	if (options->delay_ms) {
		if (await(waited, *started_ns +
		                  options->delay_ms * 1000000u))
			return false;
		ppi_stat_begin(stat);
		*started_ns = ppi_monotonic_ns();
	}
	last_ns = *started_ns;
	stop_ns = options->duration_ms || options->timeout_ms
	                  ? *started_ns + (options->timeout_ms
	                                           ? options->timeout_ms
	                                           : options->duration_ms) *
	                                          1000000u
	                  : 0;
	for (;;) {
		deadline = next_deadline(stat, last_ns);
		if (stop_ns && (!deadline || stop_ns < deadline))
			deadline = stop_ns;
		if (await(waited, deadline) || deadline == stop_ns)
			break;
		if (!ppi_stat_read(stat))
			break;
		ppi_stat_interval(stat, *started_ns, &last_ns);
	}
	if (ppi_stat_read(stat) && options->interval_ms)
		ppi_stat_interval(stat, *started_ns, &last_ns);
	return true;
}

static void take_times(struct ppi_stat *stat, uint64_t started_ns)
{
	stat->times.wall_ns = ppi_monotonic_ns() - started_ns;
	stat->times.has_cpu = false;
}

/* execve(2) takes counters off a program that gets other rights than its
 * user's: what they show is what came before. */
static void refuse_other_rights(struct ppi_stat *stat)
{
	uint64_t used_ns = stat->end.user_time_ns + stat->end.system_time_ns;
	bool is_lost = false;

	if (ppi_stat_is_attached(&stat->options) ||
	    !ppi_has_other_rights(stat->program))
		return;
	for (size_t i = 0; i < stat->event_count; i++) {
		struct ppi_stat_event *event = &stat->events[i];

		if (event->is_by_wait4 ||
		    event->refusal.status != PORTPROF_OK ||
		    event->now.enabled_ns > used_ns / 2)
			continue;
		event->now.status = PORTPROF_COUNT_ERROR;
		is_lost = true;
	}
	if (!is_lost)
		return;
	ppi_say("'%s' runs with other rights (set-user-id or file "
	        "capabilities): this user may not measure it", stat->program);
	ppi_say("count it as administrator");
}

/* Whether to stop the command where symbols have addresses. */
static bool wants_stop(const struct ppi_stat *stat)
{
	return stat->options.targets.scope == PPI_SCOPE_COMMAND &&
	       ppi_stat_has_symbols(stat);
}

/* What execve(2) gives a program it does not give to one that is traced by a user
 * without these rights. */
static bool would_lose_rights(const struct ppi_stat *stat)
{
	return geteuid() != 0 && ppi_has_other_rights(stat->program);
}

static void say_no_stop(const struct ppi_stat *stat)
{
	if (would_lose_rights(stat))
		ppi_say("'%s' gets other rights than yours, which it would "
		        "lose if it was stopped at its start to find symbols; "
		        "count it as administrator", stat->program);
	else
		ppi_say("'%s' cannot be stopped at its start to find symbols: "
		        "ptrace(2) is forbidden here", stat->program);
}

/* 0, or the exit status after words. */
static int start_program(struct ppi_stat *stat, struct ppi_child *child)
{
	int status = ppi_child_release(child, stat->options.command[0]);

	if (status) {
		ppi_stat_close(stat);
		return status;
	}
	/* or a signal has ended it before, as waiting tells */
	if (!child->is_stopped)
		return 0;
	if (!ppi_stat_open_at_exec(stat, child->pid)) {
		ppi_child_cancel(child);
		return PPI_EXIT_RECORD;
	}
	ppi_child_go_on(child);
	return 0;
}

int ppi_stat_run_command(struct ppi_stat *stat)
{
	const struct ppi_stat_options *options = &stat->options;
	struct ppi_stat_waited waited = { .child = NULL };
	struct ppi_child child = {
		.stops_at_exec = wants_stop(stat) && !would_lose_rights(stat)
	};
	uint64_t started_ns;
	int status;

	if (!ppi_child_start(&child, stat->program, options->command, NULL))
		return PPI_EXIT_RECORD;
	stat->stops_at_exec = child.stops_at_exec;
	if (wants_stop(stat) && !child.stops_at_exec)
		say_no_stop(stat);
	if (!ppi_stat_open(stat, child.pid)) {
		ppi_child_cancel(&child);
		return ppi_kept_signal() ? 128 + ppi_kept_signal()
		                         : PPI_EXIT_RECORD;
	}
	if (ppi_stat_is_attached(options))
		ppi_stat_begin(stat);
	status = start_program(stat, &child);
	if (status)
		return status;
	waited.child = &child;
	started_ns = child.released_ns;
	stat->has_begun = watch(stat, &waited, &started_ns);
	if (!stat->has_begun)
		never_began(stat);
	take_times(stat, started_ns);
	/* --timeout: what was counted was read */
	if (options->timeout_ms && !ppi_child_has_ended(&child) &&
	    !ppi_stat_is_attached(options))
		kill(child.pid, SIGTERM);
	ppi_child_wait(&child, &stat->end);
	ppi_stat_read_ended(stat);
	refuse_other_rights(stat);
	if (!options->delay_ms)
		stat->times = (struct ppi_stat_times){
			stat->end.duration_ns, stat->end.user_time_ns,
			stat->end.system_time_ns,
			!ppi_stat_is_attached(options)
		};
	return -1;
}

int ppi_stat_run_attached(struct ppi_stat *stat)
{
	const struct ppi_stat_options *options = &stat->options;
	const struct ppi_targets *targets = &options->targets;
	struct ppi_stat_waited waited = {
		.is_endless = targets->scope == PPI_SCOPE_SYSTEM
	};
	uint64_t started_ns;

	if (targets->thread &&
	    !ppi_watch_begin(&waited.thread, targets->thread, true))
		return PPI_EXIT_RECORD;
	if (targets->scope == PPI_SCOPE_PROCESS)
		waited.targets = targets;
	if (!ppi_stat_open(stat, 0))
		return PPI_EXIT_RECORD;
	started_ns = ppi_monotonic_ns();
	if (!ppi_stat_begin(stat))
		return PPI_EXIT_RECORD;
	stat->has_begun = watch(stat, &waited, &started_ns);
	if (!stat->has_begun)
		never_began(stat);
	take_times(stat, started_ns);
	return -1;
}
