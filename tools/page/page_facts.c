/* SPDX-License-Identifier: MIT */
/* A page's data other than its tree, as JSON: the account, names, threads,
 * and the code of the hottest functions. */
#include "config.h"

#include "tools/page/page.h"

#include "base/json.h"
#include "tools/tools.h"
#include "tools/view/code.h"
#include "tools/view/names.h"
#include "tools/view/remedy.h"
#include "tools/view/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_event(struct ppi_json *json, const struct ppi_report *report)
{
	const portprof_profile_event *what = report->what;
	const portprof_stats *stats = &what->stats;

	ppi_json_text(json, "event", what->name);
	ppi_json_text(json, "means", what->description);
	ppi_json_flag(json, "is_time",
	              what->unit == PORTPROF_UNIT_NANOSECONDS);
	ppi_json_flag(json, "has_account", what->has_stats);
	if (!what->has_stats)
		return;
	ppi_json_real(json, "requested_hz", stats->requested_hz);
	ppi_json_real(json, "granted_hz", stats->granted_hz);
	ppi_json_real(json, "achieved_hz", stats->achieved_hz);
	ppi_json_number(json, "period", stats->requested_period);
	ppi_json_number(json, "cpu_time_ns", stats->cpu_time_ns);
	ppi_json_number(json, "kept_samples", stats->kept_samples);
	ppi_json_number(json, "lost_samples", stats->lost_samples);
	ppi_json_flag(json, "lost_is_exact",
	              stats->lost_certainty == PORTPROF_EXACT);
	ppi_json_number(json, "throttled", stats->throttled);
	ppi_json_number(json, "standard_error", stats->standard_error);
}

static void put_chains(struct ppi_json *json, const struct ppi_chains *chains)
{
	if (!chains->weight)
		return;
	ppi_json_object(json, "callers");
	ppi_json_number(json, "weight", chains->weight);
	ppi_json_number(json, "leaving", chains->leaving);
	ppi_json_number(json, "skipping", chains->skipping);
	ppi_json_number(json, "cut", chains->cut);
	ppi_json_number(json, "ending", chains->ending);
	if (chains->modules.count)
		ppi_json_text(json, "module",
		              chains->modules.modules[0].module);
	ppi_json_close(json);
}

/* What one sample stands for: chance moves a weight by samples. */
static double sample_weight(const struct ppi_page_tree *tree, uint32_t series)
{
	double weight = 0, squares = 0;

	for (size_t i = 0; i < tree->sample_count; i++) {
		const struct ppi_page_sample *sample = &tree->samples[i];
		double one = (double)sample->weight;

		if (sample->series != series)
			continue;
		weight += one;
		squares += one * one /
		           (sample->samples ? (double)sample->samples : 1);
	}
	return weight > 0 ? squares / weight : 0;
}

/* Whose time it is; none of what is no state of threads. */
static void put_states(struct ppi_json *json,
                       const struct ppi_subject *subject)
{
	ppi_json_array(json, "states");
	for (int i = 0; subject && i < PPI_STATES; i++)
		if (subject->states & 1u << i)
			ppi_json_text(json, NULL,
			              ppi_state_name((enum ppi_state)i));
	ppi_json_close(json);
	ppi_json_flag(json, "is_latency", subject && subject->is_latency);
}

static void put_series(struct ppi_json *json, const struct ppi_page *page,
                       uint32_t index)
{
	const struct ppi_page_series *series = &page->series[index];
	const struct ppi_report *report = &series->report;
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(series->view.profile);

	ppi_json_object(json, NULL);
	ppi_json_text(json, "label", series->label);
	ppi_json_text(json, "path", report->path);
	ppi_json_text(json, "backend", origin->backend);
	ppi_json_text(json, "command", origin->command);
	ppi_json_number(json, "start_ns", origin->start_ns);
	ppi_json_number(json, "duration_ns", origin->duration_ns);
	ppi_json_flag(json, "is_complete",
	              origin->is_complete || !origin->backend[0]);
	ppi_json_text(
		json, "damage",
		portprof_profile_origin_get(series->view.profile)->damage);
	put_event(json, report);
	ppi_json_number(json, "total", report->total);
	ppi_json_number(json, "outside", report->outside);
	ppi_json_number(json, "unattributed", report->unattributed);
	ppi_json_number(json, "excess", report->excess);
	if (ppi_report_noise(report))
		ppi_json_number(json, "noise",
		                report->what->stats.standard_error);
	ppi_json_number(json, "left_out", report->left_out);
	ppi_json_number(json, "idle_waits", report->idle_waits);
	ppi_json_number(json, "unknown", report->unknown);
	put_states(json, report->subject);
	ppi_json_real(json, "sample_weight",
	              page->is_diff ? series->sample_weight
	                            : sample_weight(&page->tree, index));
	if (page->is_diff)
		ppi_json_real(json, "spread", series->spread);
	put_chains(json, &report->chains);
	ppi_json_text(json, "account", series->account);
	ppi_json_close(json);
}

/* The number of each function's module, in the order of their coming. */
static void put_modules(struct ppi_json *json,
                        const struct ppi_page_tree *tree, bool is_diff,
                        uint32_t *module_of)
{
	uint32_t count = 0;

	ppi_json_array(json, "modules");
	for (uint32_t i = 0; i < tree->function_count; i++) {
		const struct ppi_page_function *one = &tree->functions[i];
		uint32_t like = 0;

		while (like < i &&
		       strcmp(is_diff ? tree->functions[like].module
		                      : tree->functions[like].path,
		              is_diff ? one->module : one->path) != 0)
			like++;
		if (like < i) {
			module_of[i] = module_of[like];
			continue;
		}
		module_of[i] = count++;
		ppi_json_array(json, NULL);
		ppi_json_text(json, NULL, one->module);
		ppi_json_text(json, NULL, one->path);
		ppi_json_number(json, NULL, one->is_kernel);
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

static void put_functions(struct ppi_json *json,
                          const struct ppi_page_tree *tree,
                          const uint32_t *module_of)
{
	ppi_json_array(json, "functions");
	for (uint32_t i = 0; i < tree->function_count; i++)
		ppi_json_text(json, NULL, tree->functions[i].name);
	ppi_json_close(json);
	ppi_json_array(json, "module_of");
	for (uint32_t i = 0; i < tree->function_count; i++)
		ppi_json_number(json, NULL, module_of[i]);
	ppi_json_close(json);
	ppi_json_array(json, "nameless");
	for (uint32_t i = 0; i < tree->function_count; i++)
		if (!tree->functions[i].is_named)
			ppi_json_number(json, NULL, i);
	ppi_json_close(json);
	ppi_json_array(json, "let_interrupts_in");
	for (uint32_t i = 0; i < tree->function_count; i++)
		if (tree->functions[i].is_kernel &&
		    ppi_lets_interrupts_in(tree->functions[i].name))
			ppi_json_number(json, NULL, i);
	ppi_json_close(json);
}

static void put_threads(struct ppi_json *json,
                        const struct ppi_page_tree *tree)
{
	ppi_json_array(json, "threads");
	for (uint32_t i = 0; i < tree->thread_count; i++) {
		const struct ppi_page_thread *thread = &tree->thread_list[i];

		ppi_json_array(json, NULL);
		ppi_json_number(json, NULL, thread->pid);
		ppi_json_number(json, NULL, thread->tid);
		ppi_json_text(json, NULL, thread->name);
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

/* What threads did, by number. */
static bool put_waits(struct ppi_json *json, const struct ppi_page_tree *tree)
{
	const char **texts = calloc(tree->waits.count + 1u, sizeof(*texts));

	if (!texts)
		return false;
	ppi_labels_list(&tree->waits, texts);
	ppi_json_array(json, "waits");
	for (uint32_t i = 0; i < tree->waits.count; i++)
		ppi_json_text(json, NULL, texts[i]);
	ppi_json_close(json);
	free(texts);
	return true;
}

/* Pairs of key and value, then sets, each of a smaller one and a pair. */
static bool put_labels(struct ppi_json *json, const struct ppi_page_tree *tree)
{
	const char ***texts = calloc(tree->keys.count + 1, sizeof(*texts));
	bool is_good = texts != NULL;

	for (size_t i = 0; is_good && i < tree->keys.count; i++) {
		texts[i] = calloc(ppi_page_key(tree, i)->count + 1u, sizeof(**texts));
		is_good = texts[i] != NULL;
		if (is_good)
			ppi_labels_list(ppi_page_key(tree, i), texts[i]);
	}
	ppi_json_array(json, "labels");
	for (uint32_t i = 0; is_good && i < tree->label_pairs.count; i++) {
		uint64_t pair = tree->label_pairs.pairs[i];

		ppi_json_array(json, NULL);
		ppi_json_text(json, NULL, ppi_page_key(tree, pair >> 32)->name);
		ppi_json_text(json, NULL,
		              texts[pair >> 32][(uint32_t)pair]);
		ppi_json_close(json);
	}
	ppi_json_close(json);
	ppi_json_array(json, "label_sets");
	for (uint32_t i = 0; i < tree->sets.count; i++) {
		ppi_json_array(json, NULL);
		ppi_json_number(json, NULL, tree->sets.pairs[i] >> 32);
		ppi_json_number(json, NULL, (uint32_t)tree->sets.pairs[i]);
		ppi_json_close(json);
	}
	ppi_json_close(json);
	for (size_t i = 0; texts && i < tree->keys.count; i++)
		free(texts[i]);
	free(texts);
	return is_good;
}

/* By module with functions without a name: what gives it some. */
static bool put_remedies(struct ppi_json *json, const struct ppi_page *page,
                         const uint32_t *module_of)
{
	const struct ppi_page_tree *tree = &page->tree;
	bool *is_known = calloc(tree->function_count + 1u, sizeof(*is_known));
	char remedy[640];

	ppi_json_array(json, "remedies");
	for (uint32_t i = 0; is_known && i < tree->function_count; i++) {
		const struct ppi_page_function *one = &tree->functions[i];

		if (one->is_named || one->is_kernel || is_known[module_of[i]])
			continue;
		is_known[module_of[i]] = true;
		ppi_json_array(json, NULL);
		ppi_json_text(json, NULL, one->module);
		ppi_names_remedy(page->series[0].view.profile,
		                 page->series[0].report.path, one->module,
		                 false, remedy, sizeof(remedy));
		ppi_json_text(json, NULL, remedy);
		ppi_json_close(json);
	}
	ppi_json_close(json);
	if (!is_known)
		return false;
	free(is_known);
	return true;
}

static bool put_facts(const struct ppi_page *page, uint32_t *module_of,
                      FILE *out)
{
	const struct ppi_page_tree *tree = &page->tree;
	struct ppi_json json;
	bool is_good;

	ppi_json_begin(&json, out, true);
	ppi_json_number(&json, "schema", 1);
	ppi_json_text(&json, "portprof", portprof_version());
	ppi_json_text(&json, "title", page->title);
	ppi_json_flag(&json, "is_diff", page->is_diff);
	ppi_json_flag(&json, "has_cycles", ppi_has_hardware_counters());
	ppi_json_flag(&json, "is_normalized", page->is_normalized);
	ppi_json_real(&json, "noise", ppi_noise_limit(page->tested_count));
	ppi_json_real(&json, "noise_of_runs",
	              page->freedom ? ppi_noise_limit_of_runs(page->tested_count,
	                                                      page->freedom)
	                            : 0);
	ppi_json_array(&json, "series");
	for (uint32_t i = 0; i < page->series_count; i++)
		put_series(&json, page, i);
	ppi_json_close(&json);
	put_modules(&json, tree, page->is_diff, module_of);
	put_functions(&json, tree, module_of);
	put_threads(&json, tree);
	ppi_json_number(&json, "code_series", page->code_series);
	ppi_life_put(&json, &page->series[0].report.life);
	is_good = put_waits(&json, tree) && put_labels(&json, tree) &&
	          put_remedies(&json, page, module_of);
	ppi_json_number(&json, "slice_ns", tree->slice_ns);
	ppi_json_number(&json, "slices", tree->slice_count);
	return ppi_json_end(&json) && is_good;
}

char *ppi_page_facts(const struct ppi_page *page, size_t *bytes)
{
	uint32_t *module_of = calloc(page->tree.function_count + 1u,
	                             sizeof(*module_of));
	char *text = NULL;
	FILE *out = module_of ? open_memstream(&text, bytes) : NULL;

	if (out) {
		bool is_good = put_facts(page, module_of, out);

		if (fclose(out) != 0 || !is_good) {
			free(text);
			text = NULL;
		}
	}
	free(module_of);
	return text;
}

/* ---- source and instructions of the hottest functions ---- */

enum {
	PAGE_FUNCTIONS = 12,
	PAGE_FILES = 4, /* of a function; inlined code is of others */
	PAGE_AROUND = 12
};

static void put_lines(struct ppi_json *json, const char *key,
                      const struct ppi_listing *listing, bool is_hex)
{
	ppi_json_array(json, key);
	for (size_t i = 0; i < listing->count; i++) {
		const struct ppi_shown_line *one = &listing->lines[i];
		char address[32];

		snprintf(address, sizeof(address), "%" PRIx64, one->at);
		ppi_json_array(json, NULL);
		if (is_hex)
			ppi_json_text(json, NULL, address);
		else
			ppi_json_number(json, NULL, one->at);
		ppi_json_number(json, NULL, one->weight);
		ppi_json_text(json, NULL, one->text);
		ppi_json_number(json, NULL, one->has_gap);
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

static void put_source(struct ppi_json *json, const struct ppi_code_file *file,
                       const struct ppi_listing *listing)
{
	ppi_json_object(json, NULL);
	ppi_json_text(json, "name", file ? file->name : "");
	ppi_json_number(json, "weight", file ? file->weight : 0);
	ppi_json_text(json, "missing", listing->why);
	put_lines(json, "lines", listing, false);
	ppi_json_close(json);
}

static void put_code(struct ppi_json *json, const struct ppi_code *code)
{
	struct ppi_listing sources[PAGE_FILES], instructions;
	size_t count = 0, lines = 0;

	do {
		ppi_listing_source(code, count < code->file_count
		                                 ? code->files[count].name
		                                 : NULL,
		                   PAGE_AROUND, &sources[count]);
		lines += sources[count].count;
	} while (++count < code->file_count && count < PAGE_FILES);
	ppi_listing_instructions(code, PAGE_AROUND, &instructions);
	if (lines || instructions.count) {
		ppi_json_object(json, NULL);
		ppi_json_text(json, "function", code->function);
		ppi_json_text(json, "module", code->module);
		ppi_json_number(json, "weight", code->weight);
		ppi_json_array(json, "sources");
		for (size_t i = 0; i < count; i++)
			put_source(json, code->files ? &code->files[i] : NULL,
			           &sources[i]);
		ppi_json_close(json);
		ppi_json_text(json, "assembly_missing", instructions.why);
		put_lines(json, "assembly", &instructions, true);
		ppi_json_close(json);
	}
	for (size_t i = 0; i < count; i++)
		ppi_listing_free(&sources[i]);
	ppi_listing_free(&instructions);
}

char *ppi_page_code(const struct ppi_view *view)
{
	struct ppi_rows rows;
	struct ppi_json json;
	char *text = NULL;
	size_t bytes;
	FILE *out;

	if (!ppi_rows_fold(view, PPI_BY_FUNCTION | PPI_BY_MODULE, &rows))
		return NULL;
	out = open_memstream(&text, &bytes);
	if (out) {
		ppi_json_begin(&json, out, true);
		ppi_json_array(&json, "list");
		for (size_t i = 0; i < rows.count && i < PAGE_FUNCTIONS; i++) {
			const struct ppi_row *row = &rows.rows[i];
			struct ppi_code code;

			if (row->self_weight == 0 || !row->is_named)
				continue;
			if (ppi_code_of(view, row, &code))
				put_code(&json, &code);
			ppi_code_free(&code);
		}
		ppi_json_end(&json);
		fclose(out);
	}
	ppi_rows_free(&rows);
	return text;
}
