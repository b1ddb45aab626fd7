/* SPDX-License-Identifier: MIT */
/* The account that goes with the samples: as a message, and in words. */
#include "api/profile/pprof/account.h"

#include <portprof/event.h>
#include <portprof/version.h>

#include "api/profile/pprof/encode.h"
#include "api/profile/sample_table.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- as a message ---- */

/* Every field that a message has under the same name. */
#define EACH_STAT(X)                                                          \
	X(delivered_samples)                                                  \
	X(kept_samples)                                                       \
	X(outside_samples)                                                    \
	X(lost_samples)                                                       \
	X(total_weight)                                                       \
	X(kept_weight)                                                        \
	X(outside_weight)                                                     \
	X(unattributed_weight)                                                \
	X(not_attached_weight)                                                \
	X(throttled)                                                          \
	X(cpu_time_ns)                                                        \
	X(own_cost_ns)                                                        \
	X(lost_certainty)                                                     \
	X(unattributed_certainty)                                             \
	X(requested_hz)                                                       \
	X(granted_hz)                                                         \
	X(achieved_hz)                                                        \
	X(requested_period)                                                   \
	X(granted_period)                                                     \
	X(excess_weight)                                                      \
	X(standard_error)                                                     \
	X(idle_time_ns)

Ppi__Stats *ppi_stats_pack(struct ppi_arena *arena,
                           const portprof_stats *stats)
{
	Ppi__Stats *to = ppi_arena_take(arena, sizeof(*to));

	if (!to)
		return NULL;
	ppi__stats__init(to);
#define COPY(field) to->field = stats->field;
	EACH_STAT(COPY)
#undef COPY
	return to;
}

void ppi_stats_unpack(const Ppi__Stats *from, portprof_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats->size = sizeof(*stats);
#define COPY(field) stats->field = from->field;
	EACH_STAT(COPY)
#undef COPY
}

/* The same of what became of the threads' time. */
#define EACH_TIME(X)   \
	X(threads)     \
	X(lifetime_ns) \
	X(running_ns)  \
	X(ready_ns)    \
	X(blocked_ns)  \
	X(unknown_ns)

Ppi__Life *ppi_life_pack(struct ppi_arena *arena, const portprof_life *life)
{
	Ppi__Life *to = ppi_arena_take(arena, sizeof(*to));

	if (!to)
		return NULL;
	ppi__life__init(to);
#define COPY(field) to->field = life->field;
	EACH_TIME(COPY)
#undef COPY
	return to;
}

void ppi_life_unpack(const Ppi__Life *from, portprof_life *life)
{
#define COPY(field) life->field = from->field;
	EACH_TIME(COPY)
#undef COPY
}

/* An array of pointers to as many structures of `bytes`, and room for one pointer
 * more. */
static void **make_pointers(struct ppi_arena *arena, size_t count,
                            size_t bytes)
{
	void **pointers = ppi_arena_take(arena, (count + 1) * sizeof(void *));
	char *structures = ppi_arena_take(arena, count * bytes + 1);

	if (!pointers || !structures)
		return NULL;
	for (size_t i = 0; i < count; i++)
		pointers[i] = structures + i * bytes;
	return pointers;
}

Ppi__Account *ppi_account_new(struct ppi_arena *arena, size_t passed_over,
                              size_t notes, size_t facts, size_t events)
{
	Ppi__Account *account = ppi_arena_take(arena, sizeof(*account));

	if (!account)
		return NULL;
	ppi__account__init(account);
	account->format = PPI_ACCOUNT_FORMAT;
	account->n_passed_over = passed_over;
	account->n_note = notes;
	account->n_fact = facts;
	account->n_event = events;
	account->passed_over = (Ppi__PassedOver **)make_pointers(
		arena, passed_over, sizeof(Ppi__PassedOver));
	account->note = (char **)make_pointers(arena, notes, 1);
	account->fact = (char **)make_pointers(arena, facts, 1);
	account->event = (Ppi__Event **)make_pointers(arena, events,
	                                              sizeof(Ppi__Event));
	if (!account->passed_over || !account->note || !account->fact ||
	    !account->event)
		return NULL;
	for (size_t i = 0; i < passed_over; i++)
		ppi__passed_over__init(account->passed_over[i]);
	for (size_t i = 0; i < events; i++)
		ppi__event__init(account->event[i]);
	return account;
}

/* Messages have no pointers to constants; nothing writes through these. */
static char *constant_text(const char *constant)
{
	return (char *)(uintptr_t)(constant ? constant : "");
}

char *ppi_account_text(struct ppi_arena *arena, const char *foreign)
{
	size_t bytes = strlen(foreign);
	char *copy = ppi_arena_copy(arena, foreign, bytes);

	if (copy)
		ppi_text_mend(copy);
	return copy;
}

static bool add_event(struct ppi_arena *arena, Ppi__Event *to,
                      const struct ppi_run *run, size_t i)
{
	const struct ppi_event *event = &run->plan->events[i];

	to->name = constant_text(event->canonical);
	to->asked = ppi_account_text(arena, event->request.text);
	to->description = ppi_account_text(arena, event->description);
	if (!to->asked || !to->description)
		return false;
	to->unit = event->unit;
	to->is_cpu_time = event->is_cpu_time;
	to->samples_value = (uint32_t)ppi_samples_value(i);
	to->weight_value =
		(uint32_t)ppi_weight_value(i, run->plan->event_count);
	if (!run->stats)
		return true;
	to->stats = ppi_stats_pack(arena, &run->stats[i]);
	if (!to->stats)
		return false;
	if (to->stats->requested_hz <= 0 && !to->stats->requested_period) {
		to->stats->requested_hz = (double)event->rate_hz;
		to->stats->requested_period = event->period;
	}
	return true;
}

enum { FACTS = 4, FACT_BYTES = 320 };

/* What somebody who is handed the file has to know. */
static bool add_facts(struct ppi_arena *arena,
                      const struct ppi_host *machine, Ppi__Account *account)
{
	char lines[FACTS][FACT_BYTES];
	size_t count = 0;

	if (machine->host[0])
		snprintf(lines[count++], FACT_BYTES, "host: %s", machine->host);
	if (machine->system[0])
		snprintf(lines[count++], FACT_BYTES, "system: %s",
		         machine->system);
	if (machine->cpu[0])
		snprintf(lines[count++], FACT_BYTES, "CPU: %s", machine->cpu);
	snprintf(lines[count++], FACT_BYTES,
	         "portprof: " PORTPROF_VERSION_STRING);
	for (size_t i = 0; i < count; i++) {
		account->fact[i] = ppi_account_text(arena, lines[i]);
		if (!account->fact[i])
			return false;
	}
	account->n_fact = count;
	return true;
}

/* make_pointers has left room for one. */
bool ppi_account_add_note(struct ppi_arena *arena, Ppi__Account *account,
                          const char *note)
{
	char *text = ppi_account_text(arena, note);

	if (text)
		account->note[account->n_note++] = text;
	return text != NULL;
}

Ppi__Account *ppi_account_of_run(struct ppi_arena *arena,
                                 const struct ppi_run *run,
                                 const struct ppi_host *machine)
{
	Ppi__Account *account = ppi_account_new(arena, run->passed_over_count,
	                                        run->note_count, FACTS,
	                                        run->plan->event_count);

	if (!account)
		return NULL;
	account->writer = constant_text("portprof " PORTPROF_VERSION_STRING);
	account->backend = constant_text(run->backend);
	account->timeline_ns = run->plan->timeline_ns;
	account->chain_depth = run->plan->chain_depth;
	if (run->plan->uses_tables)
		account->stack_bytes = (uint32_t)run->plan->stack_bytes;
	for (size_t i = 0; i < account->n_passed_over; i++) {
		account->passed_over[i]->backend =
			constant_text(run->passed_over_names[i]);
		account->passed_over[i]->reason =
			constant_text(run->passed_over_reasons[i]);
	}
	for (size_t i = 0; i < account->n_note; i++) {
		account->note[i] = ppi_account_text(arena, run->notes[i]);
		if (!account->note[i])
			return NULL;
	}
	if (!add_facts(arena, machine, account))
		return NULL;
	for (size_t i = 0; i < account->n_event; i++)
		if (!add_event(arena, account->event[i], run, i))
			return NULL;
	if (run->life.threads) {
		account->life = ppi_life_pack(arena, &run->life);
		if (!account->life)
			return NULL;
	}
	return account;
}

static bool is_cpu(const struct ppi_event *event)
{
	return event->is_cpu_time && event->unit == PORTPROF_UNIT_NANOSECONDS;
}

void ppi_type_name(const struct ppi_event *events, size_t event, char *out,
                   size_t out_bytes)
{
	bool is_first_cpu = is_cpu(&events[event]);
	size_t same = 1;

	for (size_t i = 0; i < event; i++) {
		is_first_cpu &= !is_cpu(&events[i]);
		same += strcmp(events[i].canonical,
		               events[event].canonical) == 0;
	}
	if (is_first_cpu)
		snprintf(out, out_bytes, "cpu");
	else if (same > 1)
		snprintf(out, out_bytes, "%s#%zu", events[event].canonical,
		         same);
	else
		snprintf(out, out_bytes, "%s", events[event].canonical);
}

/* ---- in words: the comment lines of a profile ---- */

struct speech {
	void (*say)(const char *line, void *context);
	void *context;
	const char *of; /* " (event)" where there are several */
};

static void say_line(const struct speech *to, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say_line(const struct speech *to, const char *format, ...)
{
	char text[1536];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	to->say(text, to->context);
}

static const char *certainty(uint32_t known)
{
	return known == PORTPROF_EXACT ? "exact" : "at least";
}

/* "1000 Hz", or the period; nothing when neither is known. */
static void format_rate(char *out, size_t bytes, double hz, uint64_t period,
                        const char *unit)
{
	if (hz > 0)
		snprintf(out, bytes, "%g Hz", hz);
	else if (period > 0)
		snprintf(out, bytes, "every %" PRIu64 " %s", period, unit);
	else
		snprintf(out, bytes, "unknown");
}

static void say_rate(const struct speech *to, const Ppi__Stats *stats,
                     const char *unit, bool is_final)
{
	char requested[64], granted[64], achieved[64];

	format_rate(requested, sizeof(requested), stats->requested_hz,
	            stats->requested_period, unit);
	format_rate(granted, sizeof(granted), stats->granted_hz,
	            stats->granted_period, unit);
	format_rate(achieved, sizeof(achieved), stats->achieved_hz, 0, unit);
	if (is_final)
		say_line(to, "portprof.rate=requested %s, granted %s, "
		         "achieved %s%s",
		         requested, granted, achieved, to->of);
	else
		say_line(to, "portprof.rate=requested %s%s", requested, to->of);
}

static void say_sums(const struct speech *to, const Ppi__Stats *stats,
                     const char *unit)
{
	say_line(to, "portprof.samples=%" PRIu64 " kept, %" PRIu64 " outside%s",
	         stats->kept_samples, stats->outside_samples, to->of);
	say_line(to, "portprof.lost=%" PRIu64 " %s%s", stats->lost_samples,
	         certainty(stats->lost_certainty), to->of);
	if (stats->throttled)
		say_line(to, "portprof.throttled=%" PRIu64 "%s", stats->throttled,
		         to->of);
	say_line(to, "portprof.weight=%" PRIu64 " %s: %" PRIu64 " kept, %" PRIu64
	         " outside, %" PRIu64 " unattributed (%s)%s",
	         stats->total_weight, unit, stats->kept_weight,
	         stats->outside_weight, stats->unattributed_weight,
	         certainty(stats->unattributed_certainty), to->of);
	if (stats->standard_error)
		say_line(to, "portprof.estimate=%" PRIu64 " more in samples than "
		         "the total, standard error %" PRIu64 "%s",
		         stats->excess_weight, stats->standard_error, to->of);
	if (stats->idle_time_ns)
		say_line(to, "portprof.idle=%" PRIu64 " nanoseconds%s",
		         stats->idle_time_ns, to->of);
}

static void say_event(const struct speech *to, const Ppi__Event *event,
                      bool is_final)
{
	const char *unit = event->unit == PORTPROF_UNIT_NANOSECONDS
	                           ? "nanoseconds"
	                           : "count";

	say_line(to, "portprof.event=%s: %s", event->name, event->description);
	if (strcmp(event->asked, event->name) != 0)
		say_line(to, "portprof.asked=%s%s", event->asked, to->of);
	if (!event->stats)
		return;
	say_rate(to, event->stats, unit, is_final);
	if (is_final)
		say_sums(to, event->stats, unit);
}

/* One clock for all events. */
static void say_cpu_time(const struct speech *to, const Ppi__Account *account)
{
	const Ppi__Stats *stats =
		account->n_event ? account->event[0]->stats : NULL;

	if (stats && stats->cpu_time_ns)
		say_line(to, "portprof.cpu_time=%" PRIu64 " nanoseconds",
		         stats->cpu_time_ns);
}

static void say_life(const struct speech *to, const Ppi__Life *life)
{
	say_line(to, "portprof.life=%" PRIu64 " nanoseconds of %" PRIu64
	         " threads: %" PRIu64 " running, %" PRIu64 " ready, %" PRIu64
	         " blocked, %" PRIu64 " unknown",
	         life->lifetime_ns, life->threads, life->running_ns,
	         life->ready_ns, life->blocked_ns, life->unknown_ns);
}

void ppi_account_say(const Ppi__Account *account, bool is_final,
                     void (*say)(const char *line, void *context),
                     void *context)
{
	struct speech to = { say, context, "" };
	char of[300];

	say_line(&to, "portprof.writer=%s", account->writer);
	say_line(&to, "portprof.backend=%s", account->backend);
	for (size_t i = 0; i < account->n_passed_over; i++)
		say_line(&to, "portprof.passed_over=%s: %s",
		         account->passed_over[i]->backend,
		         account->passed_over[i]->reason);
	for (size_t i = 0; i < account->n_note; i++)
		say_line(&to, "portprof.note=%s", account->note[i]);
	for (size_t i = 0; i < account->n_fact; i++)
		say_line(&to, "portprof.%s", account->fact[i]);
	if (account->command[0])
		say_line(&to, "portprof.command=%s", account->command);
	for (size_t i = 0; i < account->n_event; i++) {
		snprintf(of, sizeof(of), " (%s)", account->event[i]->name);
		to.of = account->n_event > 1 ? of : "";
		say_event(&to, account->event[i], is_final);
	}
	to.of = "";
	if (is_final)
		say_cpu_time(&to, account);
	if (is_final && account->life)
		say_life(&to, account->life);
	if (!is_final)
		say_line(&to, "portprof.state=recording, in portions");
	else if (!account->complete)
		say_line(&to, "portprof.state=broken off");
	else
		say_line(&to, "portprof.state=complete");
}
