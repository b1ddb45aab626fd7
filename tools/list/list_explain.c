/* SPDX-License-Identifier: MIT */
/* Everything that an event string means here. */
#include "config.h"

#include "tools/list/list.h"

#include <portprof/tool.h>

#include "base/json.h"
#include "base/text.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <string.h>

enum { SCHEMA = 1, BACKENDS_MAX = 16, WORDS_COLUMN = 15 };

/* How one backend takes it. */
struct answer {
	char backend[32];
	portprof_diag why; /* its status says whether it can */
	bool is_counted_only;
};

struct explanation {
	const char *asked;
	portprof_event_info info; /* what it means, usable here or not */
	struct answer answers[BACKENDS_MAX];
	size_t answer_count;
	const struct ppi_list *list;
};

/* By name; or else those that are chosen automatically, if they are of this
 * system. */
static bool is_asked(const struct ppi_list *list,
                     const portprof_backend_info *backend)
{
	if (strcmp(list->options.backend, "auto") != 0)
		return strcmp(list->options.backend, backend->name) == 0;
	return backend->rank >= 0 &&
	       (backend->is_usable || backend->os_errno ||
	        backend->status != PORTPROF_E_UNSUPPORTED);
}

/* What each backend says. */
static void ask_backends(struct explanation *explanation)
{
	for (size_t i = 0; i < portprof_backend_count(); i++) {
		portprof_backend_info backend = { .size = sizeof(backend) };
		portprof_event_info info = { .size = sizeof(info) };
		struct answer *answer;

		if (explanation->answer_count == BACKENDS_MAX ||
		    portprof_backend_info_get(i, &backend) ||
		    !is_asked(explanation->list, &backend))
			continue;
		answer = &explanation->answers[explanation->answer_count++];
		snprintf(answer->backend, sizeof(answer->backend), "%s",
		         backend.name);
		if (!backend.is_usable)
			ppi_refusal_of(&backend, &answer->why);
		else if (portprof_event_try(explanation->asked, backend.name,
					    &info))
			answer->why = *portprof_last_diag();
		answer->is_counted_only = info.is_counted_only;
	}
}

static const char *say_answer(const struct answer *answer)
{
	if (answer->why.status != PORTPROF_OK)
		return answer->why.words;
	return answer->is_counted_only ? "yes, but it can only be counted"
	                               : "yes";
}

/* Which CPUs count it: those of the PMU with whose type its encoding begins. */
static const portprof_catalogue_pmu *pmu_of(
	const struct explanation *explanation)
{
	const struct ppi_list *list = explanation->list;
	char type[40];

	for (size_t i = 0; i < list->pmu_count; i++) {
		const portprof_catalogue_pmu *pmu = &list->pmus[i].pmu;

		snprintf(type, sizeof(type), "type %" PRId64 ",", pmu->type);
		if (pmu->source == PORTPROF_SOURCE_SYSTEM && pmu->cpus[0] &&
		    strncmp(explanation->info.encoding, type,
		            strlen(type)) == 0)
			return pmu;
	}
	return NULL;
}

/* Empty where all do. */
static void say_cpus(const struct explanation *explanation, char *out,
                     size_t bytes)
{
	const portprof_catalogue_pmu *pmu = pmu_of(explanation);
	const char *one = strstr(explanation->info.canonical, ":cpu=");

	if (one)
		snprintf(out, bytes, "%.*s", (int)strspn(one + 5, "0123456789"),
		         one + 5);
	else
		snprintf(out, bytes, "%s", pmu ? pmu->cpus : "");
}

static void say_rate(const portprof_event_info *info, char *out, size_t bytes)
{
	if (info->period)
		snprintf(out, bytes, "a sample every %" PRIu64 " %s",
		         info->period,
		         info->unit == PORTPROF_UNIT_NANOSECONDS ? "ns"
		                                                 : "events");
	else if (info->rate_hz)
		snprintf(out, bytes, "%" PRIu64 " samples a second",
		         info->rate_hz);
	else
		snprintf(out, bytes, "that of the session");
}

static void say_modes(const portprof_event_info *info, char *out, size_t bytes)
{
	snprintf(out, bytes, "%s%s%s",
	         info->counts_user ? "user" : "",
	         info->counts_kernel ? info->counts_user ? ", kernel" : "kernel"
	                             : "",
	         info->counts_hypervisor ? ", hypervisor" : "");
}

/* ---- for people ---- */

static void put(FILE *out, const char *name, const char *words)
{
	fprintf(out, "  %-12s ", name);
	ppi_put_wrapped(out, words, WORDS_COLUMN);
}

/* Unit masks of the event, if it has any. */
static int put_mask(const portprof_catalogue_event *event, void *context)
{
	struct explanation *explanation = context;
	const char *name = explanation->info.canonical;
	char name_room[PPI_SHOWN_BYTES], means_room[PPI_SHOWN_BYTES];
	size_t length = strcspn(name, ":");

	if (strncmp(name + length, "::", 2) != 0)
		return 1;
	length += 2 + strcspn(name + length + 2, ":");
	if (!event->is_mask || strncmp(event->name, name, length) != 0 ||
	    event->name[length] != ':')
		return 0;
	printf("  %-12s %-24s %s\n", "unit mask",
	       ppi_shown(event->name + length + 1, name_room),
	       ppi_shown(event->means, means_room));
	return 0;
}

static void print_text(struct explanation *explanation, FILE *out)
{
	const portprof_event_info *info = &explanation->info;
	const portprof_catalogue_pmu *pmu = pmu_of(explanation);
	char words[512], cpus[256];

	ppi_put_text(explanation->asked, out);
	fputc('\n', out);
	put(out, "canonical", info->canonical);
	put(out, "means", info->description);
	put(out, "PMU", info->pmu[0] ? info->pmu
	                             : "none of its own: a generic event");
	say_cpus(explanation, cpus, sizeof(cpus));
	snprintf(words, sizeof(words), "%s%s%s", cpus[0] ? cpus : "all",
	         pmu ? ", by " : "", pmu ? pmu->name : "");
	put(out, "CPUs", words);
	put(out, "unit", info->unit == PORTPROF_UNIT_NANOSECONDS
	                         ? "nanoseconds"
	                         : "events");
	say_modes(info, words, sizeof(words));
	put(out, "modes", words);
	say_rate(info, words, sizeof(words));
	put(out, "rate", words);
	if (info->encoding[0])
		put(out, "encoding", info->encoding);
	for (size_t i = 0; i < explanation->answer_count; i++) {
		char name[40];

		snprintf(name, sizeof(name), "by %s",
		         explanation->answers[i].backend);
		put(out, name, say_answer(&explanation->answers[i]));
	}
	portprof_catalogue_events("auto", put_mask, explanation);
}

/* ---- for programs ---- */

static void put_modes(struct ppi_json *json, const portprof_event_info *info)
{
	ppi_json_object(json, "modes");
	ppi_json_flag(json, "user", info->counts_user);
	ppi_json_flag(json, "kernel", info->counts_kernel);
	ppi_json_flag(json, "hypervisor", info->counts_hypervisor);
	ppi_json_close(json);
}

static void print_json(const struct explanation *explanation, FILE *out)
{
	const portprof_event_info *info = &explanation->info;
	struct ppi_json json;
	char cpus[256];

	ppi_json_begin(&json, out, false);
	ppi_json_number(&json, "schema", SCHEMA);
	ppi_json_text(&json, "asked", explanation->asked);
	ppi_json_text(&json, "canonical", info->canonical);
	ppi_json_text(&json, "means", info->description);
	ppi_json_text(&json, "pmu", info->pmu[0] ? info->pmu : NULL);
	say_cpus(explanation, cpus, sizeof(cpus));
	ppi_json_text(&json, "cpus", cpus[0] ? cpus : NULL);
	ppi_json_text(&json, "unit", info->unit == PORTPROF_UNIT_NANOSECONDS
	                                     ? "ns"
	                                     : "count");
	ppi_json_number(&json, "period", info->period);
	ppi_json_number(&json, "rate_hz", info->rate_hz);
	put_modes(&json, info);
	ppi_json_text(&json, "encoding", info->encoding[0] ? info->encoding
	                                                   : NULL);
	ppi_json_array(&json, "backends");
	for (size_t i = 0; i < explanation->answer_count; i++) {
		const struct answer *answer = &explanation->answers[i];
		bool is_usable = answer->why.status == PORTPROF_OK;

		ppi_json_object(&json, NULL);
		ppi_json_text(&json, "backend", answer->backend);
		ppi_json_flag(&json, "usable", is_usable);
		ppi_json_flag(&json, "counted_only", answer->is_counted_only);
		if (is_usable)
			ppi_json_null(&json, "why");
		else
			ppi_put_refusal(&json, &answer->why);
		ppi_json_close(&json);
	}
	ppi_json_close(&json);
	ppi_json_end(&json);
}

static int explain_event(struct ppi_list *list, FILE *out)
{
	struct explanation explanation = { .asked = list->options.explain,
		                           .list = list };

	explanation.info.size = sizeof(explanation.info);
	ask_backends(&explanation);
	/* last: the next event would take the strings away */
	if (portprof_event_look_up(explanation.asked, list->options.backend,
				   &explanation.info)) {
		ppi_say_failure(NULL);
		return PPI_EXIT_FAILED;
	}
	if (list->options.is_json)
		print_json(&explanation, out);
	else
		print_text(&explanation, out);
	return PPI_EXIT_OK;
}

/* ---- presets ---- */

enum { FORMULA_BYTES = 1024, EVENT_BYTES = 300 };

/* "a + 2 * b - c"; "" when nothing is summed up. */
static int put_sum(char *out, size_t bytes, const portprof_preset *preset,
                   const int *factors)
{
	int used = 0, terms = 0;

	out[0] = '\0';
	for (size_t i = 0; i < PORTPROF_PRESET_EVENTS_MAX; i++) {
		int factor = factors[i] < 0 ? -factors[i] : factors[i];
		char times[24] = "";

		if (factor == 0 || (size_t)used >= bytes)
			continue;
		if (factor > 1)
			snprintf(times, sizeof(times), "%d * ", factor);
		used += snprintf(out + used, bytes - (size_t)used, "%s%s%s",
		                 factors[i] < 0 ? " - " : terms ? " + " : "",
		                 times, preset->events[i]);
		terms++;
	}
	return terms;
}

static const char *say_formula(const portprof_preset *preset, size_t index,
                               char out[FORMULA_BYTES])
{
	const portprof_formula *formula = &preset->formulas[index];
	char of[400], by[400], factor[32] = "";
	int of_terms = put_sum(of, sizeof(of), preset, formula->of);
	int by_terms = put_sum(by, sizeof(by), preset, formula->by);

	if (formula->factor != 1)
		snprintf(factor, sizeof(factor), " * %.0f", formula->factor);
	if (by_terms == 0)
		snprintf(out, FORMULA_BYTES, "%s%s", of, factor);
	else
		snprintf(out, FORMULA_BYTES, "%s%s%s / %s%s%s%s",
		         of_terms > 1 ? "(" : "", of, of_terms > 1 ? ")" : "",
		         by_terms > 1 ? "(" : "", by, by_terms > 1 ? ")" : "",
		         factor);
	return out;
}

/* False past the last event of the preset. */
static bool event_of(const struct ppi_list *list,
                     const portprof_preset *preset, size_t index,
                     char event[EVENT_BYTES])
{
	return index < PORTPROF_PRESET_EVENTS_MAX && preset->events[index] &&
	       portprof_event_list_get(list->options.explain, index, event,
	                               EVENT_BYTES, NULL) == PORTPROF_OK;
}

static void print_preset(const struct ppi_list *list,
                         const portprof_preset *preset, FILE *out)
{
	char formula[FORMULA_BYTES], words[FORMULA_BYTES + 100];
	char event[EVENT_BYTES];
	size_t used = 0;

	ppi_put_text(list->options.explain, out);
	fputc('\n', out);
	put(out, "means", preset->means);
	for (size_t i = 0; i < preset->formula_count; i++) {
		say_formula(preset, i, formula);
		snprintf(words, sizeof(words), "%s%s%s",
		         preset->formula_count > 1 ? preset->formulas[i].name
		                                   : "",
		         preset->formula_count > 1 ? " = " : "", formula);
		put(out, "formula", words);
	}
	for (size_t i = 0; event_of(list, preset, i, event); i++)
		if (used < sizeof(words))
			used += (size_t)snprintf(words + used,
			                         sizeof(words) - used, "%s%s",
			                         i ? ", " : "", event);
	put(out, "events", words);
}

static void preset_to_json(const struct ppi_list *list,
                           const portprof_preset *preset, FILE *out)
{
	char formula[FORMULA_BYTES], event[EVENT_BYTES];
	struct ppi_json json;

	ppi_json_begin(&json, out, false);
	ppi_json_number(&json, "schema", SCHEMA);
	ppi_json_text(&json, "asked", list->options.explain);
	ppi_json_text(&json, "preset", preset->name);
	ppi_json_text(&json, "means", preset->means);
	ppi_json_array(&json, "formulas");
	for (size_t i = 0; i < preset->formula_count; i++) {
		ppi_json_object(&json, NULL);
		ppi_json_text(&json, "name", preset->formulas[i].name);
		ppi_json_text(&json, "unit", preset->formulas[i].unit);
		ppi_json_text(&json, "formula",
		              say_formula(preset, i, formula));
		ppi_json_close(&json);
	}
	ppi_json_close(&json);
	ppi_json_array(&json, "events");
	for (size_t i = 0; event_of(list, preset, i, event); i++) {
		ppi_json_object(&json, NULL);
		ppi_json_text(&json, "event", event);
		ppi_json_close(&json);
	}
	ppi_json_close(&json);
	ppi_json_end(&json);
}

/* For people with what its events mean here. */
static int explain_preset(struct ppi_list *list,
                          const portprof_preset *preset, FILE *out)
{
	const char *asked = list->options.explain;
	char event[EVENT_BYTES];
	int status = PPI_EXIT_OK;

	if (list->options.is_json) {
		preset_to_json(list, preset, out);
		return PPI_EXIT_OK;
	}
	print_preset(list, preset, out);
	for (size_t i = 0;
	     status == PPI_EXIT_OK && event_of(list, preset, i, event); i++) {
		list->options.explain = event;
		fputc('\n', out);
		status = explain_event(list, out);
		list->options.explain = asked;
	}
	return status;
}

int ppi_list_explain(struct ppi_list *list, FILE *out)
{
	const portprof_preset *preset =
		portprof_event_list_preset(list->options.explain, 0);

	return preset ? explain_preset(list, preset, out)
	              : explain_event(list, out);
}
