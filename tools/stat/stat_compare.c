/* SPDX-License-Identifier: MIT */
/* Counts beside those of an earlier run, which stat --json wrote: what changed, by
 * more than chance, and by more than is allowed. */
#include "config.h"

#include "tools/stat/stat.h"

#include "base/foreign_file.h"
#include "base/json.h"
#include "base/vector.h"
#include "tools/json_read.h"
#include "tools/terminal.h"
#include "tools/tools.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number of the earlier run, and of this one. */
struct change {
	char name[320];
	double before, before_error; /* NAN: one run, the error is unknown */
	double after, after_error;
	bool has_after;
	bool may_fail; /* it was named; of none that was, the clock alone: the
	                * others, and the time elapsed, are the machine's */
};

/* ---- the earlier run ---- */

enum { FILE_MAX = 256 << 20 };

/* The members of an object that has a value. */
static void read_value(struct ppi_json_in *in, struct change *change)
{
	char key[32], *text, place[80] = "", asked[240] = "";

	change->before = change->before_error = NAN;
	if (!ppi_json_in_enter(in, '{'))
		return;
	while (ppi_json_in_key(in, key, sizeof(key))) {
		bool is_place = strcmp(key, "cpu") == 0 ||
		                strcmp(key, "core") == 0 ||
		                strcmp(key, "thread") == 0;

		if (is_place || strcmp(key, "asked") == 0) {
			text = ppi_json_in_text(in);
			if (text && is_place)
				snprintf(place, sizeof(place), "%.70s ", text);
			else if (text)
				snprintf(asked, sizeof(asked), "%.230s", text);
			free(text);
		} else if (strcmp(key, "value") == 0) {
			if (!ppi_json_in_real(in, &change->before))
				change->before = NAN;
		} else if (strcmp(key, "error") == 0) {
			if (!ppi_json_in_real(in, &change->before_error))
				change->before_error = NAN;
		} else {
			ppi_json_in_skip(in);
		}
	}
	if (asked[0])
		snprintf(change->name, sizeof(change->name), "%s%s", place,
		         asked);
}

static bool keep(struct ppi_vector *changes, const struct change *change)
{
	return isnan(change->before) ||
	       ppi_vector_add(changes, sizeof(*change), change, 1);
}

static bool read_changes(const char *text, struct ppi_vector *changes)
{
	struct ppi_json_in in;
	struct change change;
	bool is_good = true;
	char key[32];

	ppi_json_in_begin(&in, text);
	if (!ppi_json_in_enter(&in, '{'))
		return true;
	while (is_good && ppi_json_in_key(&in, key, sizeof(key))) {
		memset(&change, 0, sizeof(change));
		if (strcmp(key, "events") == 0) {
			if (!ppi_json_in_enter(&in, '['))
				break;
			while (is_good && ppi_json_in_item(&in)) {
				memset(&change, 0, sizeof(change));
				read_value(&in, &change);
				is_good = keep(changes, &change);
			}
		} else if (strcmp(key, "wall_ns") == 0) {
			read_value(&in, &change);
			snprintf(change.name, sizeof(change.name),
			         "time elapsed");
			is_good = keep(changes, &change);
		} else {
			ppi_json_in_skip(&in);
		}
	}
	return is_good;
}

bool ppi_stat_compare_read(struct ppi_stat *stat)
{
	const char *path = stat->options.compare_to;
	struct ppi_vector changes = { 0 };
	char *text;

	if (!path)
		return true;
	text = ppi_foreign_text(path, PPI_FOREIGN_TYPED, FILE_MAX);
	if (!text) {
		ppi_say("--compare: cannot read '%s': %s", path,
		        ppi_foreign_error(errno));
		return false;
	}
	if (!read_changes(text, &changes)) {
		ppi_say("out of memory");
	} else if (changes.count == 0) {
		ppi_say("--compare: '%s' has no counts: portprof stat --json "
		        "-o FILE writes them", path);
		ppi_vector_free(&changes);
	}
	free(text);
	stat->changes = changes.data;
	stat->change_count = changes.count;
	return changes.count > 0;
}

/* ---- this run ---- */

static const char *name_of(const struct ppi_stat_event *event, char room[320])
{
	snprintf(room, 320, "%.70s%s%.230s",
	         event->place ? event->place->name : "",
	         event->place ? " " : "", event->asked);
	return room;
}

/* False: the earlier run has no such number. */
static bool take(struct ppi_stat *stat, const char *name, double value,
                 double error, bool may_fail)
{
	for (size_t i = 0; i < stat->change_count; i++) {
		struct change *change = &((struct change *)stat->changes)[i];

		if (change->has_after || strcmp(change->name, name) != 0)
			continue;
		change->after = value;
		change->after_error = error;
		change->has_after = true;
		change->may_fail = may_fail;
		return true;
	}
	return false;
}

/* It was named; where none was, the CPU time. */
static bool may_fail(const struct ppi_stat_event *event)
{
	return event->was_named || event->info.unit == PORTPROF_UNIT_NANOSECONDS;
}

/* Whether an event was compared, be it in one place of several: threads, for one,
 * are others each time. */
static bool was_compared(const struct ppi_stat *stat,
                         const struct ppi_stat_event *event)
{
	for (size_t i = 0; i < stat->event_count; i++)
		if (stat->events[i].was_compared &&
		    strcmp(stat->events[i].asked, event->asked) == 0)
			return true;
	return false;
}

/* What was to fail the run and was not compared. A job that passes then would pass
 * for ever on a machine without the event. */
static void find_gap(struct ppi_stat *stat)
{
	for (size_t i = 0; !stat->gap && i < stat->event_count; i++)
		if (may_fail(&stat->events[i]) &&
		    !was_compared(stat, &stat->events[i]))
			stat->gap = &stat->events[i];
}

static double percent_of(const struct change *change)
{
	double size = change->after - change->before;

	if (change->before > 0)
		return 100 * size / change->before;
	return size > 0 ? (double)INFINITY : 0;
}

/* Two standard errors, in percent; NAN where runs were too few. */
static double noise_of(const struct change *change)
{
	double error = sqrt(change->before_error * change->before_error +
	                    change->after_error * change->after_error);

	return change->before > 0 ? 200 * error / change->before : NAN;
}

static bool is_noise(const struct change *change)
{
	double noise = noise_of(change);

	return !isnan(noise) && fabs(percent_of(change)) <= noise;
}

static bool is_too_much(const struct ppi_stat *stat,
                        const struct change *change)
{
	return change->may_fail && stat->options.fail_above >= 0 &&
	       !is_noise(change) &&
	       percent_of(change) > stat->options.fail_above;
}

void ppi_stat_compare(struct ppi_stat *stat)
{
	char room[320];

	for (size_t i = 0; stat->change_count && i < stat->event_count; i++) {
		struct ppi_stat_event *event = &stat->events[i];

		if (event->sum.runs)
			event->was_compared =
				take(stat, name_of(event, room),
			             event->sum.mean,
			             ppi_stat_error(&event->sum),
			             may_fail(event));
	}
	if (stat->options.fail_above >= 0)
		find_gap(stat);
	if (stat->change_count && stat->wall.runs)
		take(stat, "time elapsed", stat->wall.mean,
		     ppi_stat_error(&stat->wall), stat->event_count == 0);
	for (size_t i = 0; i < stat->change_count; i++)
		stat->has_grown |= is_too_much(
			stat, &((struct change *)stat->changes)[i]);
}

/* ---- printing ---- */

void ppi_stat_put_changes(const struct ppi_stat *stat)
{
	const struct change *changes = stat->changes;
	char room[PPI_SHOWN_BYTES], noise[48], percent[48];

	if (!stat->change_count)
		return;
	fprintf(stat->out, " Compared with %s:\n\n",
	        ppi_shown(stat->options.compare_to, room));
	for (size_t i = 0; i < stat->change_count; i++) {
		const struct change *change = &changes[i];

		if (!change->has_after)
			continue;
		noise[0] = '\0';
		if (!isnan(noise_of(change)))
			snprintf(noise, sizeof(noise), "%s +- %.1f %%",
			         is_noise(change) ? "  noise," : "",
			         noise_of(change));
		/* of nothing there is no percent */
		snprintf(percent, sizeof(percent), "%.1f %%", percent_of(change));
		fprintf(stat->out, "%s%18s%s  %-22s%s\n",
		        is_too_much(stat, change)
		                ? ppi_color(stat->out, PPI_RED) : "",
		        isinf(percent_of(change)) ? "none before" : percent,
		        is_too_much(stat, change)
		                ? ppi_color(stat->out, PPI_PLAIN) : "",
		        ppi_shown(change->name, room), noise);
	}
	fputc('\n', stat->out);
}

void ppi_stat_put_changes_json(const struct ppi_stat *stat,
                               struct ppi_json *json)
{
	const struct change *changes = stat->changes;

	if (!stat->change_count)
		return;
	ppi_json_object(json, "compared");
	ppi_json_text(json, "with", stat->options.compare_to);
	ppi_json_flag(json, "failed", stat->has_grown);
	ppi_json_array(json, "changes");
	for (size_t i = 0; i < stat->change_count; i++) {
		const struct change *change = &changes[i];

		if (!change->has_after)
			continue;
		ppi_json_object(json, NULL);
		ppi_json_text(json, "name", change->name);
		ppi_json_real(json, "before", change->before);
		ppi_json_real(json, "after", change->after);
		if (change->before > 0)
			ppi_json_real(json, "percent", percent_of(change));
		if (!isnan(noise_of(change)))
			ppi_json_real(json, "noise_percent", noise_of(change));
		ppi_json_flag(json, "is_noise", is_noise(change));
		ppi_json_flag(json, "failed", is_too_much(stat, change));
		ppi_json_close(json);
	}
	ppi_json_close(json);
	ppi_json_close(json);
}

void ppi_stat_say_grown(const struct ppi_stat *stat)
{
	const struct change *changes = stat->changes;

	if (stat->gap && !stat->gap->sum.runs)
		ppi_say("--fail-above cannot judge %s: it was not counted",
		        stat->gap->asked);
	else if (stat->gap)
		ppi_say("--fail-above cannot judge %s: '%s' has no count of it; "
		        "run portprof stat --json -o FILE -e %s again there",
		        stat->gap->asked, stat->options.compare_to,
		        stat->gap->asked);
	for (size_t i = 0; i < stat->change_count; i++)
		if (!is_too_much(stat, &changes[i]))
			continue;
		else if (isinf(percent_of(&changes[i])))
			ppi_say("%s: there was none before", changes[i].name);
		else
			ppi_say("%s grew by %.1f %%, more than %g %%",
			        changes[i].name, percent_of(&changes[i]),
			        stat->options.fail_above);
}
