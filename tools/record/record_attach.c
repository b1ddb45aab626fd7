/* SPDX-License-Identifier: MIT */
/*
 * Recording what runs already. It ends with the target, with a signal to
 * this process, when its time is up, or with the command that was given to say
 * for how long.
 */
#include "config.h"

#include "tools/record/record.h"

#include "tools/terminal.h"
#include "tools/tools.h"
#include "tools/targets/targets.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LOOK_EVERY_MS = 20, LOOK_PATIENCE = 256, LOOK_MOST_MS = 100, SYSTEM_MS = 500 };

/* Why it ended. */
enum reason { TARGET_ENDED, COMMAND_ENDED, WAS_TOLD, TIME_IS_UP };

struct attach {
	struct ppi_record *record;
	struct ppi_watch thread;
	char target[128]; /* in words */
	struct ppi_child child;
	bool has_child;
	portprof_session *session;
	uint64_t began_ms, ends_ms; /* CLOCK_MONOTONIC; UINT64_MAX: not by time */
};

/* ---- whom ---- */

static bool find_target(struct attach *attach)
{
	struct ppi_record_options *options = &attach->record->options;
	const char *cgroup = options->targets.cgroup_name;
	size_t room = sizeof(attach->target);
	char name[64];

	switch (options->targets.scope) {
	case PPI_SCOPE_SYSTEM:
		snprintf(attach->target, room, "%s%.40s",
		         cgroup ? "cgroup " : "the system",
		         cgroup ? cgroup : "");
		return true;
	case PPI_SCOPE_THREAD:
		if (!ppi_watch_begin(&attach->thread, options->targets.thread,
		                     true))
			return false;
		snprintf(attach->target, room, "thread %lld (%s)",
		         (long long)options->targets.thread,
		         ppi_watch_name(&attach->thread, name));
		return true;
	default:
		if (!ppi_targets_find(&options->targets))
			return false;
		snprintf(attach->target, room, "%s", options->targets.words);
		return true;
	}
}

static bool target_has_ended(const struct attach *attach)
{
	const struct ppi_record_options *options = &attach->record->options;

	if (options->targets.scope == PPI_SCOPE_THREAD)
		return ppi_watch_has_ended(&attach->thread);
	return options->targets.scope == PPI_SCOPE_PROCESS &&
	       ppi_targets_have_ended(&options->targets);
}

/* A cgroup takes more rights than its processes do, of which this user may
 * measure those that are his own. */
static portprof_session *open_session(struct attach *attach)
{
	struct ppi_record *record = attach->record;
	portprof_session *session = ppi_record_open(
		record, ppi_settings_config(&record->settings), 0);

	if (!session && portprof_last_diag()->status == PORTPROF_E_DENIED &&
	    ppi_targets_leave_cgroup(&record->options.targets))
		session = ppi_record_open(
			record, ppi_settings_config(&record->settings), 0);
	if (session && !record->options.is_quiet)
		ppi_targets_say_no_cgroup(&record->options.targets);
	return session;
}

/* Who is missing, before it is waited for the others. */
static void say_missing(const struct attach *attach)
{
	const struct ppi_targets *targets = &attach->record->options.targets;
	const char *note;

	if (attach->record->options.is_quiet)
		return;
	for (size_t i = 0;
	     (note = portprof_session_note(attach->session, i)); i++)
		if (strncmp(note, PORTPROF_NOTE_MISSED,
		            strlen(PORTPROF_NOTE_MISSED)) == 0)
			ppi_say("%s", note);
	if (targets->gone)
		ppi_say("%zu process%s ended before %s could be attached",
		        targets->gone, targets->gone == 1 ? "" : "es",
		        targets->gone == 1 ? "it" : "they");
}

/* ---- how long ---- */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* The session ends itself; this is when it has. */
static uint64_t end_by_time(const struct ppi_settings *settings)
{
	if (!settings->duration_ms)
		return UINT64_MAX;
	return now_ms() + settings->delay_ms + settings->duration_ms;
}

static bool has_ended(struct attach *attach, enum reason *reason)
{
	if (attach->has_child && ppi_child_has_ended(&attach->child))
		*reason = COMMAND_ENDED;
	else if (ppi_kept_signal())
		*reason = WAS_TOLD;
	else if (target_has_ended(attach))
		*reason = TARGET_ENDED;
	else if (now_ms() > attach->ends_ms)
		*reason = TIME_IS_UP;
	else
		return false;
	return true;
}

/* The one who watches decides when it is over, once it has been told. */
static enum reason show_until_end(struct attach *attach)
{
	static const char *const words[] = {
		[TARGET_ENDED] = "it has ended",
		[COMMAND_ENDED] = "the command has ended",
		[TIME_IS_UP] = "the time is up",
	};
	struct ppi_live *live = attach->record->live;
	enum reason reason = WAS_TOLD;
	const char *ended = "";

	while (live->turn(live, attach->session, ended) && !ppi_kept_signal())
		if (!ended[0] && has_ended(attach, &reason))
			ended = reason == WAS_TOLD ? "" : words[reason];
	live->end(live);
	return reason;
}

/* Longer and longer, by so small a part of what is recorded that nobody misses it; not
 * beyond the time that it takes. */
static void take_nap(const struct attach *attach)
{
	uint64_t now = now_ms(), ms = LOOK_EVERY_MS;
	struct timespec nap = { 0 };

	if (!attach->has_child) /* whose end is to be exact */
		ms += (now - attach->began_ms) / LOOK_PATIENCE;
	if (ms > LOOK_MOST_MS)
		ms = LOOK_MOST_MS;
	if (now + ms > attach->ends_ms)
		ms = attach->ends_ms > now ? attach->ends_ms - now + 1 : 1;
	nap.tv_nsec = (long)ms * 1000000;
	nanosleep(&nap, NULL);
}

/* A system has no end that is to be seen, and signals end a nap. */
static unsigned turn_nap(const struct attach *attach)
{
	uint64_t now = now_ms(), left = attach->ends_ms > now
		? attach->ends_ms - now + 1 : 1;
	unsigned ms = attach->record->options.targets.scope == PPI_SCOPE_SYSTEM &&
	              !attach->has_child ? SYSTEM_MS : LOOK_MOST_MS;

	return left < ms ? (unsigned)left : ms;
}

static enum reason wait_for_end(struct attach *attach)
{
	portprof_stats stats = { .size = sizeof(stats) };
	bool is_shown = !attach->record->options.is_quiet &&
	                !attach->has_child && !attach->record->push &&
	                ppi_progress_begin("recording (Ctrl-C ends it)");
	enum reason reason;

	while (!has_ended(attach, &reason)) {
		/* which reads what the whole system did */
		if (is_shown && portprof_session_stats(attach->session, 0, &stats) ==
		    PORTPROF_OK)
			ppi_progress_step(stats.kept_samples, 0, "samples");
		if (attach->record->push)
			ppi_push_turn(attach->record->push, &attach->session,
			              turn_nap(attach));
		else
			take_nap(attach);
	}
	if (is_shown)
		ppi_progress_end();
	return reason;
}

static void say_reason(const struct attach *attach, enum reason reason)
{
	const struct ppi_record_options *options = &attach->record->options;
	bool are_several = options->targets.scope == PPI_SCOPE_PROCESS &&
	                   ppi_targets_are_several(&options->targets);
	char room[32];

	if (options->is_quiet)
		return;
	if (reason == TARGET_ENDED)
		ppi_say("%s %s ended%s", attach->target,
		        are_several ? "have" : "has",
		        attach->has_child ? "; the command continues" : "");
	else if (reason == WAS_TOLD)
		ppi_say("%s ended the recording; %s continue%s",
		        ppi_signal_name(ppi_kept_signal(), room),
		        attach->target, are_several ? "" : "s");
}

/* ---- the run ---- */

/* Let the command go that says for how long; 0 or the exit status. */
static int release(struct attach *attach, const struct ppi_before *before)
{
	const struct ppi_record *record = attach->record;
	int status;

	if (!attach->has_child)
		return 0;
	status = ppi_child_release(&attach->child, record->options.command[0]);
	if (status == 0)
		return 0;
	portprof_session_close(attach->session);
	ppi_record_undo(record->spool.path, before);
	return status;
}

static int run(struct attach *attach)
{
	const struct ppi_record *record = attach->record;
	struct ppi_end end = { 0 }, lasted = { 0 };
	struct ppi_before before;
	enum reason reason;
	uint64_t began_ms;
	int status;

	ppi_record_look(record->spool.path, &before);
	attach->session = open_session(attach);
	if (!attach->session) {
		ppi_say_refusal(record);
		if (attach->has_child)
			ppi_child_cancel(&attach->child);
		return PPI_EXIT_RECORD;
	}
	say_missing(attach);
	attach->began_ms = now_ms();
	attach->ends_ms = end_by_time(&record->settings);
	status = release(attach, &before);
	if (status)
		return status;
	began_ms = now_ms();
	reason = record->live ? show_until_end(attach) : wait_for_end(attach);
	lasted.duration_ns = (now_ms() - began_ms) * 1000000u;
	say_reason(attach, reason);
	if (!ppi_record_finish(record, attach->session, &lasted))
		status = PPI_EXIT_RECORD;
	if (attach->has_child) {
		ppi_child_wait(&attach->child, &end);
		status = status ? status : end.exit_status;
	}
	return status;
}

int ppi_record_attach(struct ppi_record *record)
{
	struct attach attach = { .record = record };

	if (!find_target(&attach))
		return PPI_EXIT_RECORD;
	attach.has_child = record->options.command != NULL;
	attach.child.has_no_terminal = record->live != NULL;
	attach.child.has_no_output = record->spool.is_standard_output;
	if (attach.has_child &&
	    !ppi_child_start(&attach.child, record->program,
	                     record->options.command, NULL))
		return PPI_EXIT_RECORD;
	return run(&attach);
}
