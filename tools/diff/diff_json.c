/* SPDX-License-Identifier: MIT */
/* What changed, for programs: one JSON object. Its keys are documented in
 * portprof-diff(1). */
#include "config.h"

#include "tools/diff/diff.h"
#include "tools/diff/match.h"

#include "base/json.h"

#include <math.h>

enum { SCHEMA = 1 };

static void put_side(struct ppi_json *json, const char *key,
                     const struct ppi_changes_side *of,
                     const struct ppi_match *match, int which)
{
	const struct ppi_page_series *side = of->series;
	uint64_t weight;
	const char *alone = ppi_match_alone(match, which, &weight);

	ppi_json_object(json, key);
	ppi_json_text(json, "file", of->runs->paths[0]);
	ppi_json_array(json, "files");
	for (size_t i = 0; i < of->runs->count; i++)
		ppi_json_text(json, NULL, of->runs->paths[i]);
	ppi_json_close(json);
	ppi_json_text(json, "command",
	              portprof_profile_origin_get(side->view.profile)->command);
	ppi_json_number(json, "total_weight", side->report.total);
	ppi_json_number(json, "unattributed", side->report.unattributed);
	ppi_json_number(json, "unmatched_weight", weight);
	ppi_json_text(json, "unmatched_module", alone);
	ppi_life_put(json, &side->report.life);
	ppi_json_close(json);
}

/* By run of one side. */
static void put_values(struct ppi_json *json, const char *key,
                       const double *values, size_t count)
{
	ppi_json_array(json, key);
	for (size_t i = 0; i < count; i++)
		ppi_json_real(json, NULL, values[i]);
	ppi_json_close(json);
}

static void put_change(struct ppi_json *json, const struct ppi_changes *changes,
                       const struct ppi_change *change)
{
	const size_t *runs = changes->runs;

	ppi_json_real(json, "before", change->before);
	ppi_json_real(json, "after", change->after);
	ppi_json_real(json, "change", change->after - change->before);
	ppi_json_real(json, "percent", ppi_change_percent(change));
	ppi_json_real(json, "error", change->error);
	ppi_json_text(json, "verdict", ppi_change_verdict(change));
	if (runs[0] + runs[1] < 3)
		return;
	put_values(json, "runs_before", change->values, runs[0]);
	put_values(json, "runs_after", change->values + runs[0], runs[1]);
}

static void put_matched(struct ppi_json *json, const struct ppi_match *match)
{
	const char *before, *after, *why;

	ppi_json_array(json, "matched");
	for (size_t i = 0; ppi_match_pair(match, i, &before, &after, &why);
	     i++) {
		ppi_json_object(json, NULL);
		ppi_json_text(json, "before", before);
		ppi_json_text(json, "after", after);
		ppi_json_text(json, "why", why);
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

static void put_row(struct ppi_json *json, const struct ppi_changes *changes,
                    const struct ppi_change *change)
{
	const struct ppi_row *row = change->row;

	ppi_json_object(json, NULL);
	ppi_json_text(json, "function", row->function);
	ppi_json_text(json, "module", row->module);
	ppi_json_text(json, "thread", row->thread);
	if (row->label)
		ppi_json_text(json, "label", row->label);
	ppi_json_text(json, "source_file", row->source_file);
	ppi_json_number(json, "line", row->line);
	for (int i = 0; i < PPI_TAGS; i++)
		if (row->tags[i])
			ppi_json_text(json, ppi_tag_name((enum ppi_tag)i),
			              row->tags[i]);
	put_change(json, changes, change);
	ppi_json_close(json);
}

bool ppi_diff_print_json(const struct ppi_changes_side sides[2],
                         const struct ppi_changes *changes,
                         const struct ppi_diff_form *form, FILE *out)
{
	const struct ppi_page_series *after = sides[1].series;
	struct ppi_json json;

	ppi_json_begin(&json, out, false);
	ppi_json_number(&json, "schema", SCHEMA);
	ppi_json_text(&json, "event", after->report.what->name);
	ppi_json_text(&json, "unit",
	              after->report.what->unit == PORTPROF_UNIT_NANOSECONDS
	              ? "nanoseconds" : "count");
	put_side(&json, "before", &sides[0], form->match, 0);
	put_side(&json, "after", &sides[1], form->match, 1);
	put_matched(&json, form->match);
	ppi_json_real(&json, "scale", changes->scale);
	ppi_json_real(&json, "spread_of_runs", 100 * sqrt(changes->spread));
	ppi_json_flag(&json, "inclusive", form->asked.is_inclusive);
	ppi_json_object(&json, "total");
	put_change(&json, changes, &changes->total);
	ppi_json_close(&json);
	if (form->gate->percent >= 0)
		ppi_json_real(&json, "fail_above", form->gate->percent);
	else
		ppi_json_null(&json, "fail_above");
	ppi_json_flag(&json, "failed", form->gate->is_failed);
	ppi_json_array(&json, "rows");
	for (size_t i = 0; i < changes->count; i++)
		put_row(&json, changes, &changes->changes[i]);
	ppi_json_close(&json);
	return ppi_json_end(&json);
}
