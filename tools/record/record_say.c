/* SPDX-License-Identifier: MIT */
/* What record reports: why it refuses, and what came of a recording. */
#include "config.h"

#include <portprof/tool.h>

#include "tools/record/record.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- before: a refusal ---- */

/* Why a recording is refused, or the best backend not used: the remedy in two
 * lines, the rest with -v. */

/* The event that cannot be measured; false when it is not for an event. */
static bool find_refused(const struct ppi_record *record, const char *backend,
                         char event[256])
{
	const struct ppi_settings *settings = &record->settings;
	portprof_event_info info = { .size = sizeof(info) };

	for (size_t i = 0; i < settings->count; i++) {
		const struct ppi_setting *setting = &settings->list[i];

		for (size_t j = 0; strcmp(setting->key, "event") == 0 &&
		                   portprof_event_list_get(
					   setting->value, j, event, 256,
					   NULL) == PORTPROF_OK;
		     j++)
			if (portprof_event_try(event, backend, &info) ||
			    info.is_counted_only)
				return true;
	}
	return false;
}

/* What each backend of this system says to the event. */
static void say_backends(const char *event)
{
	for (size_t i = 0; i < portprof_backend_count(); i++) {
		portprof_backend_info backend = { .size = sizeof(backend) };
		portprof_event_info info = { .size = sizeof(info) };

		if (portprof_backend_info_get(i, &backend) ||
		    backend.rank < 0 || !ppi_backend_is_here(&backend))
			continue;
		if (!backend.is_usable)
			ppi_say("%s: %s", backend.name, backend.reason);
		else if (portprof_event_try(event, backend.name, &info))
			ppi_say("%s: %s", backend.name,
			        portprof_last_diag()->words);
	}
}

/* Whether a command could be recorded but for its call chains, by which
 * backend. The session never starts, and leaves no trace. */
static bool works_without_chains(const struct ppi_record *record,
                                 char backend[64])
{
	const char *chains = ppi_settings_get(&record->settings, "callchain");
	portprof_session *session = NULL;
	portprof_config *config;

	if (!chains || strcmp(chains, "off") == 0 ||
	    record->options.targets.scope != PPI_SCOPE_COMMAND)
		return false;
	config = ppi_settings_config(&record->settings);
	if (!config)
		return false;
	if (portprof_config_set_number(config, "callchain", 0) == PORTPROF_OK &&
	    portprof_config_set_number(config, "children", 0) == PORTPROF_OK &&
	    portprof_session_open(config, &session) == PORTPROF_OK) {
		snprintf(backend, 64, "%s", portprof_session_backend(session));
		portprof_session_close(session);
	}
	portprof_config_free(config);
	return session != NULL;
}

void ppi_say_refusal(const struct ppi_record *record)
{
	const char *backend = ppi_settings_get(&record->settings, "backend");
	portprof_diag why = *portprof_last_diag();
	char event[256], other[64];
	bool is_event;

	ppi_say_failure(NULL);
	/* what was mistyped has been named, what to drop from the string, or
	 * where the file cannot be */
	if (why.column || why.reason == PORTPROF_REASON_OUTPUT ||
	    why.status == PORTPROF_E_INVALID ||
	    why.status == PORTPROF_E_NOTFOUND ||
	    why.status == PORTPROF_E_NOMEM)
		return;
	is_event = find_refused(record, backend ? backend : "auto", event);
	if ((!backend || strcmp(backend, "auto") == 0) &&
	    works_without_chains(record, other))
		ppi_say("without -g %s can record it; portprof doctor says "
			"what "
			"call chains need",
			other);
	else if (is_event && record->options.wakers &&
	         strncmp(event, PPI_WAKERS_EVENT, strlen(PPI_WAKERS_EVENT)) == 0)
		ppi_say("that is how --wakers sees who wakes; without "
		        "--wakers waits are recorded all the same");
	else if (is_event)
		ppi_say("-e cpu-clock measures CPU time instead; portprof "
		        "doctor %s says what '%s' would need", event, event);
	else if (why.status == PORTPROF_E_UNSUPPORTED && backend &&
	         strcmp(backend, "auto") != 0)
		ppi_say("without -b, the best backend that supports it is "
		        "used");
	else if ((why.reason == PORTPROF_REASON_NO_BACKEND ||
	          why.reason == PORTPROF_REASON_BACKEND_LIMIT) &&
	         record->options.targets.scope != PPI_SCOPE_COMMAND)
		ppi_say("a command that portprof starts can still be "
		        "measured: portprof record -- COMMAND");
	else if (why.status == PORTPROF_E_DENIED)
		ppi_say("portprof doctor says what works here, and what to "
		        "change");
	if (is_event && record->options.is_verbose)
		say_backends(event);
}

/* Programs are profiled in all of their memory: what can only make histograms
 * of a part never comes into question. */
static bool is_of_interest(const char *name)
{
	portprof_backend_info backend;

	return ppi_backend_find_info(name, &backend) &&
	       ppi_backend_is_here(&backend) &&
	       backend.caps & PORTPROF_CAP_WHOLE_SPACE;
}

void ppi_say_passed_over(const struct ppi_record *record,
                         const portprof_session *session)
{
	const char *name, *reason;

	if (record->options.is_quiet)
		return;
	for (size_t i = 0;
	     portprof_session_passed_over(session, i, &name, &reason) ==
	     PORTPROF_OK;
	     i++)
		if (record->options.is_verbose || is_of_interest(name))
			ppi_say("%s was passed over: %s", name, reason);
}

/* ---- after: the summary and the warnings ---- */

static const char *say_seconds(uint64_t ns, char *out, size_t bytes)
{
	if (ns >= 1000000000)
		snprintf(out, bytes, "%.3f s", (double)ns / 1e9);
	else
		snprintf(out, bytes, "%.3f ms", (double)ns / 1e6);
	return out;
}

/* How often a sample was to come, in words, and how many that makes. */
static uint64_t say_expected(const portprof_event_info *event,
                             const portprof_stats *stats, char *out,
                             size_t bytes)
{
	uint64_t period = stats->granted_period;
	char time[32];

	if (period == 0 && stats->requested_period)
		period = stats->requested_period;
	if (period == 0 && event->unit == PORTPROF_UNIT_NANOSECONDS &&
	    stats->requested_hz > 0)
		period = (uint64_t)(1e9 / stats->requested_hz);
	if (period == 0) {
		snprintf(out, bytes, "%.0f times a second of its time",
		         stats->requested_hz);
		return 0;
	}
	if (event->unit == PORTPROF_UNIT_NANOSECONDS)
		snprintf(out, bytes, "every %s",
		         say_seconds(period, time, sizeof(time)));
	else if (period == 1)
		snprintf(out, bytes, "each time");
	else
		snprintf(out, bytes, "every %" PRIu64 " events", period);
	return stats->total_weight / period;
}

/* Of somebody else's process with children the clock cannot be read: what the
 * event counted is the CPU time then. */
static uint64_t cpu_time_of(const portprof_event_info *event,
                            const portprof_stats *stats)
{
	if (stats->cpu_time_ns || event->unit != PORTPROF_UNIT_NANOSECONDS)
		return stats->cpu_time_ns;
	return stats->total_weight;
}

/* "used 1.200 s of CPU time"; what nobody knows is not said to be 0. */
static const char *say_cpu_time(const portprof_event_info *event,
                                const portprof_stats *stats, char out[64])
{
	uint64_t ns = cpu_time_of(event, stats);
	char time[32];

	if (ns || event->unit == PORTPROF_UNIT_NANOSECONDS)
		snprintf(out, 64, "%s", say_seconds(ns, time, sizeof(time)));
	else
		snprintf(out, 64, "an unknown amount");
	return out;
}

/* So many samples do not all fail to come because they are few. */
enum { EXPECTED_MANY = 10 };

/* A tenth of its time at most was spent on a CPU: or others had the CPUs. */
static bool has_slept(const struct ppi_end *end,
                      const portprof_event_info *event,
                      const portprof_stats *stats)
{
	return event->unit == PORTPROF_UNIT_NANOSECONDS &&
	       cpu_time_of(event, stats) < end->duration_ns / 10;
}

static void say_not_loaded(const char *backend)
{
	ppi_say("%s samples from inside, by an object that LD_PRELOAD names: "
	        "programs that are linked statically or belong to another C "
	        "library, those whose LD_PRELOAD was replaced and those in "
	        "another root directory (chroot) do not load it; -b perf "
	        "measures them",
	        backend);
}

static void say_no_sample(const struct ppi_record *record,
                          const struct ppi_end *end, const char *backend,
                          const portprof_event_info *event,
                          const portprof_stats *stats)
{
	bool is_command = record->options.targets.scope == PPI_SCOPE_COMMAND;
	bool is_time = event->unit == PORTPROF_UNIT_NANOSECONDS;
	char often[64], time[64], room[32];
	uint64_t expected = say_expected(event, stats, often, sizeof(often));

	if (is_time)
		ppi_say("no sample: the %s used %s of CPU time, and with %s "
		        "sampled %s, %" PRIu64 " samples were expected",
		        is_command ? "command" : "target",
		        say_cpu_time(event, stats, time), event->canonical,
		        often, expected);
	else
		ppi_say("no sample: %" PRIu64 " events of %s were counted, to "
		        "be sampled %s", stats->total_weight,
		        event->canonical, often);
	if (is_command && ppi_has_other_rights(record->program))
		ppi_say("'%s' runs with other rights than this user "
		        "(set-user-id or file capabilities), who may not "
		        "measure it: record it as administrator",
		        record->program);
	/* Linux, fs/exec.c: who executes such a file loses perf's events */
	else if (is_command && strcmp(backend, "perf") == 0 &&
	         access(record->program, R_OK) != 0)
		ppi_say("'%s' is not readable for this user, and then the "
		        "kernel takes no samples of it: make it readable, or "
		        "use -b timer", record->program);
	else if (strcmp(backend, "null") == 0)
		ppi_say("the backend null measures nothing; without -b null "
		        "the best one is used");
	else if (stats->lost_samples)
		ppi_say("%" PRIu64 " samples were lost: sample less often (-F)",
		        stats->lost_samples);
	else if (expected < EXPECTED_MANY && has_slept(end, event, stats))
		ppi_say("it slept for most of %s, and samples are of CPU time: "
		        "record --wall shows where it sleeps, and for what",
		        say_seconds(end->duration_ns, room, sizeof(room)));
	else if (!is_time && stats->total_weight == 0)
		ppi_say("the event did not occur: measure longer, or give it "
		        "more to do");
	else if (!is_time && expected <= 2)
		ppi_say("sample more often (-c 1), or give it more to do");
	else if (expected <= 2)
		ppi_say("sample more often (-F 10000), or give it more to do");
	else if (is_command && strcmp(backend, "perf") != 0)
		say_not_loaded(backend);
	else if (is_time && !event->counts_kernel)
		ppi_say("this user may not sample kernel code, where it may "
		        "have spent its time: record it as administrator");
	else if (is_command)
		ppi_say("the notes in portprof report may say why; another "
		        "backend (-b) may do better");
	else
		ppi_say("the notes in portprof report may say why: threads "
		        "that could not be attached, or that ended");
}

static void say_file(const struct ppi_record *record)
{
	const char *path = record->settings.output;

	if (record->spool.stream) {
		ppi_say("the profile goes to %s", ppi_output_shown(path));
		return;
	}
	if (strcmp(path, PPI_DEFAULT_OUTPUT) == 0)
		ppi_say("wrote %s; look at it: portprof report", path);
	else
		ppi_say("wrote %s; look at it: portprof report %s", path,
		        path);
}

/* Fewer samples than asked for are no surprise later. */
static void say_granted(const portprof_stats *stats)
{
	double asked = stats->requested_hz;

	if (stats->requested_period)
		asked = (double)stats->granted_period /
		        (double)stats->requested_period * stats->granted_hz;
	if (stats->granted_hz > 0 && stats->granted_hz < asked * 0.99)
		ppi_say("%.0f Hz granted, %.0f asked; portprof report says why",
		        stats->granted_hz, asked);
}

/* A few samples of what started the rest look like a profile of all of it. */
static void say_most_missed(const struct ppi_record *record,
                            const char *backend,
                            const portprof_event_info *event,
                            const portprof_stats *stats)
{
	uint64_t missed = stats->unattributed_weight;
	char often[64];

	if (record->options.targets.scope != PPI_SCOPE_COMMAND ||
	    strcmp(backend, "perf") == 0 ||
	    missed <= stats->total_weight / 2 ||
	    say_expected(event, stats, often, sizeof(often)) < EXPECTED_MANY)
		return;
	ppi_say("%.1f %% of that is in no sample: no timer samples a process "
	        "while it is loaded and while the system ends it",
	        (double)missed * 100 / (double)stats->total_weight);
	say_not_loaded(backend);
}

void ppi_say_summary(const struct ppi_record *record,
                     const struct ppi_end *end, const char *backend,
                     const portprof_event_info *event,
                     const portprof_stats *stats)
{
	char time[64];

	if (record->options.is_quiet)
		return;
	if (ppi_is_wait(event->canonical))
		ppi_say("waits were measured, and nothing else");
	else if (stats->kept_samples == 0 && record->options.waits)
		ppi_say("waits were measured, and no sample taken of the %s of "
		        "CPU time", say_cpu_time(event, stats, time));
	else if (stats->kept_samples == 0)
		say_no_sample(record, end, backend, event, stats);
	else {
		ppi_say("%" PRIu64 " sample%s, %" PRIu64 "%s lost, %s of CPU "
		        "time, by %s",
		        stats->kept_samples,
		        stats->kept_samples == 1 ? "" : "s",
		        stats->lost_samples,
		        stats->lost_certainty == PORTPROF_EXACT ? ""
		                                                : " or more",
		        say_cpu_time(event, stats, time), backend);
		say_most_missed(record, backend, event, stats);
	}
	say_granted(stats);
	say_file(record);
}

void ppi_say_costs(const struct ppi_record *record, portprof_session *session,
                   const struct ppi_end *end, const portprof_stats *stats)
{
	enum { WORTH_A_WORD = 3 }; /* percent */
	portprof_costs costs;
	double by_samples, by_switches, percent;

	if (record->options.is_quiet || !end->cpu_time_ns ||
	    !portprof_session_costs(session, &costs))
		return;
	by_samples = (double)stats->delivered_samples *
	             (double)costs.sample_ns;
	by_switches = (double)end->switches * (double)costs.switch_ns;
	percent = (by_samples + by_switches) * 100 / (double)end->cpu_time_ns;
	if (record->options.is_verbose || percent >= WORTH_A_WORD)
		ppi_say("measuring added about %.1f %% to the command's CPU "
		        "time: %" PRIu64 " samples of %.1f us, %" PRIu64
		        " switches of %.1f us", percent,
		        stats->delivered_samples, (double)costs.sample_ns / 1e3,
		        end->switches, (double)costs.switch_ns / 1e3);
	if (percent < WORTH_A_WORD)
		return;
	if (by_switches > by_samples)
		ppi_say("the command switches threads often: -b timer and, as "
		        "administrator, -a add nothing to a switch");
	else
		ppi_say("sample less often (-F)");
}

bool ppi_say_too_short(const struct ppi_record *record,
                       const struct ppi_end *end)
{
	uint64_t delay_ns = record->settings.delay_ms * 1000000u;
	char lived[32], delay[32];

	if (end->duration_ns >= delay_ns)
		return false;
	ppi_say("nothing was measured, and no file written: the command ended "
	        "after %s, before the delay of %s was over",
	        say_seconds(end->duration_ns, lived, sizeof(lived)),
	        say_seconds(delay_ns, delay, sizeof(delay)));
	return true;
}

void ppi_say_left(const struct ppi_record *record, uint64_t count)
{
	bool is_one = count == 1;

	if (!record->options.is_quiet)
		ppi_say("%" PRIu64 " process%s of the command still run%s, "
		        "and will not be measured: portprof record -p PID "
		        "does that",
		        count, is_one ? "" : "es", is_one ? "s" : "");
}

void ppi_say_end(const struct ppi_record *record, const struct ppi_end *end)
{
	bool has_breakpoints = false;

	for (size_t i = 0; i < record->settings.count; i++)
		has_breakpoints |=
			strcmp(record->settings.list[i].key, "event") == 0 &&
			ppi_is_breakpoint(record->settings.list[i].value);
	if (!record->options.is_quiet)
		ppi_say_killed(end, has_breakpoints);
}

static void say_event(portprof_session *session, size_t index)
{
	portprof_event_info event = { .size = sizeof(event) };
	portprof_stats stats = { .size = sizeof(stats) };
	char time[32], rate[64];

	if (portprof_session_event(session, index, &event) ||
	    portprof_session_stats(session, index, &stats))
		return;
	ppi_say("%s: %s", event.canonical, event.description);
	if (stats.requested_period)
		snprintf(rate, sizeof(rate),
			 "period %" PRIu64 " asked, %" PRIu64 " granted",
			 stats.requested_period, stats.granted_period);
	else
		snprintf(rate, sizeof(rate), "%.0f Hz asked, %.1f granted",
		         stats.requested_hz, stats.granted_hz);
	ppi_say("%s: %s, %.1f Hz achieved; %" PRIu64
	        " samples kept, %" PRIu64 " lost, throttled %" PRIu64
	        " times; own cost %s",
	        event.canonical, rate, stats.achieved_hz, stats.kept_samples,
	        stats.lost_samples, stats.throttled,
	        say_seconds(stats.own_cost_ns, time, sizeof(time)));
}

void ppi_say_details(portprof_session *session)
{
	portprof_unwinding unwinding;
	const char *note;

	for (size_t i = 0; i < portprof_session_event_count(session); i++)
		say_event(session, i);
	for (size_t i = 0; (note = portprof_session_note(session, i)); i++)
		ppi_say("note: %s", note);
	if (portprof_session_unwinding(session, &unwinding) &&
	    unwinding.samples)
		ppi_say("unwinding: %" PRIu64
			" samples of %.1f frames, %.2f us "
			"of CPU time each; %" PRIu64 " rules looked up in "
			"tables of %" PRIu64 " modules, a table of %" PRIu64
			" KiB keeps them",
			unwinding.samples,
			(double)unwinding.frames / (double)unwinding.samples,
			(double)unwinding.cpu_ns / 1e3 /
				(double)unwinding.samples,
			unwinding.lookups, unwinding.modules,
			unwinding.memory_bytes >> 10);
}
