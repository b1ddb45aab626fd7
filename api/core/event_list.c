/* SPDX-License-Identifier: MIT */
/*
 * Event lists, "cycles,{instructions,branches}:u", for configs, groups,
 * configuration files and the command's -e: the one reader of commas and braces;
 * what stands between them is event_parse.c's. Presets are names in lists, such as
 * IPC, that stand for several events and a formula of their counts.
 */
#include "api/common/diag.h"
#include "api/core/event.h"
#include "api/core/open.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- presets: their table ---- */

enum { EVENTS = PORTPROF_PRESET_EVENTS_MAX };

#define FLOPS_MEANS "floating-point operations per second of CPU time"
#define FLOPS(...) FLOPS_OF(FLOPS_MEANS, __VA_ARGS__)
#define FLOPS_OF(means_, ...)                                                  \
	.name = "FLOPS", .means = means_, .formula_count = 1,                  \
	.formulas = { {                                                        \
		.name = "FLOPS", .unit = "operations per second", .event = 1,  \
		.factor = 1e9, .by = { 1 }, .of = { 0, __VA_ARGS__ },          \
	} }
#define FLOPS_SPECULATED(...)                                                  \
	FLOPS_OF(FLOPS_MEANS ", mispredicted paths and idle lanes of vectors " \
	         "included", __VA_ARGS__)
#define TOPDOWN .name = "topdown", .formula_count = 4,                         \
	.means = "where issue slots went, level 1 of the top-down method"
#define TOPDOWN_METRICS(pmu)                                                   \
	.events = { pmu "::slots", pmu "::topdown-retiring",                   \
	            pmu "::topdown-bad-spec", pmu "::topdown-fe-bound",        \
	            pmu "::topdown-be-bound" },                                \
	.formulas = {                                                          \
		{ "topdown-retiring", "% of slots retiring", 1, 100,           \
		  { 0, 1 }, { 0, 1, 1, 1, 1 } },                               \
		{ "topdown-bad-speculation", "% of slots bad speculation", 2,  \
		  100, { 0, 0, 1 }, { 0, 1, 1, 1, 1 } },                       \
		{ "topdown-frontend-bound", "% of slots frontend bound", 3,    \
		  100, { 0, 0, 0, 1 }, { 0, 1, 1, 1, 1 } },                    \
		{ "topdown-backend-bound", "% of slots backend bound", 4,      \
		  100, { 0, 0, 0, 0, 1 }, { 0, 1, 1, 1, 1 } },                 \
	}
#define RATIO(name_, means_, of_, by_, factor_)                                \
	.name = name_, .means = means_, .events = { of_, by_ },                \
	.formulas = { { name_, means_, 0, factor_, { 1 }, { 0, 1 } } },        \
	.formula_count = 1
#define SUM(name_, means_, one, two, sign)                                     \
	.name = name_, .means = means_, .events = { one, two },                \
	.formulas = { { name_, means_, 0, 1, { 1, sign }, { 0 } } },           \
	.formula_count = 1

/*
 * Sources. Operations that an instruction stands for: Intel 64 and IA-32
 * Architectures Optimization Reference Manual, "FP_ARITH_INST_RETIRED", and PAPI's
 * src/papi_events.csv; AMD counts operations themselves. Arm does so for vectors of
 * 128 bits: Arm Architecture Reference Manual for A-profile (DDI 0487),
 * FP_FIXED_OPS_SPEC and FP_SCALE_OPS_SPEC, which is to be multiplied by the vector
 * length / 128; Neoverse N2 and V2 have no other, and Linux computes
 * fp_ops_per_cycle so (tools/perf/pmu-events/arch/arm64/arm/neoverse-n2-v2,
 * metrics.json). The kernel's topdown
 * events: Linux tools/perf/Documentation/topdown.txt (since Ice Lake, in a group
 * led by slots) and arch/x86/events/intel/core.c, td_* (before); formulas: A. Yasin,
 * "A Top-Down method for performance analysis and counters architecture", ISPASS
 * 2014. PAPI_BR_PRC, PAPI_L1_DCA and PAPI_TLB_DM: as PAPI derives them for Intel.
 */
static const portprof_preset presets[] = {
	{ RATIO("IPC", "instructions per cycle", "instructions", "cycles", 1) },
	{ RATIO("CPI", "cycles per instruction", "cycles", "instructions", 1) },
	{ RATIO("miss-rate", "% of cache-references", "cache-misses",
	        "cache-references", 100) },
	{ RATIO("branch-miss-rate", "% of branches", "branch-misses",
	        "branches", 100) },
	{ FLOPS(1, 2, 4, 8, 16), /* Intel since Ice Lake */
	  .events = { "task-clock", "FP_ARITH_INST_RETIRED:SCALAR",
	              "FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE",
	              "FP_ARITH_INST_RETIRED:4_FLOPS",
	              "FP_ARITH_INST_RETIRED:8_FLOPS",
	              "FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE" } },
	{ FLOPS(1, 2, 4, 8), /* Skylake without AVX-512, of four counters */
	  .events = { "task-clock",
	              "skl::FP_ARITH_INST_RETIRED:SCALAR_DOUBLE:SCALAR_SINGLE",
	              "skl::FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE",
	              "skl::FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE"
	              ":256B_PACKED_DOUBLE",
	              "skl::FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE" } },
	{ FLOPS(1, 2, 4, 8, 16), /* and with it */
	  .events = { "task-clock",
	              "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE:SCALAR_SINGLE",
	              "FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE",
	              "FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE"
	              ":256B_PACKED_DOUBLE",
	              "FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE"
	              ":512B_PACKED_DOUBLE",
	              "FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE" } },
	{ FLOPS(1, 2, 4, 8), /* Broadwell */
	  .events = { "task-clock",
	              "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE:SCALAR_SINGLE",
	              "FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE",
	              "FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE"
	              ":256B_PACKED_DOUBLE",
	              "FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE" } },
	{ FLOPS(1), /* AMD since Zen 2 */
	  .events = { "task-clock", "RETIRED_SSE_AVX_FLOPS:ANY" } },
	{ FLOPS_SPECULATED(1, 1), /* Arm Neoverse with vectors of 128 bits */
	  .events = { "task-clock", "arm_n2::FP_FIXED_OPS_SPEC",
	              "arm_n2::FP_SCALE_OPS_SPEC" } },
	{ FLOPS_SPECULATED(1, 1),
	  .events = { "task-clock", "arm_v2::FP_FIXED_OPS_SPEC",
	              "arm_v2::FP_SCALE_OPS_SPEC" } },
	{ TOPDOWN, TOPDOWN_METRICS("cpu") },
	{ TOPDOWN, TOPDOWN_METRICS("cpu_core") }, /* hybrid machines */
	{ TOPDOWN, /* Intel before Ice Lake */
	  .events = { "cpu::topdown-total-slots", "cpu::topdown-slots-issued",
	              "cpu::topdown-slots-retired",
	              "cpu::topdown-fetch-bubbles",
	              "cpu::topdown-recovery-bubbles" },
	  .formulas = {
		  { "topdown-retiring", "% of slots retiring", 2, 100,
		    { 0, 0, 1 }, { 1 } },
		  { "topdown-bad-speculation", "% of slots bad speculation", 4,
		    100, { 0, 1, -1, 0, 1 }, { 1 } },
		  { "topdown-frontend-bound", "% of slots frontend bound", 3,
		    100, { 0, 0, 0, 1 }, { 1 } },
		  { "topdown-backend-bound", "% of slots backend bound", 0,
		    100, { 1, -1, 0, -1, -1 }, { 1 } },
	  } },
	{ SUM("PAPI_BR_PRC", "branches predicted rightly", "branches",
	      "branch-misses", -1) },
	{ SUM("PAPI_L1_DCA", "accesses to the L1 data cache", "L1-dcache-loads",
	      "L1-dcache-stores", 1) },
	{ SUM("PAPI_TLB_DM", "misses of the data TLB", "dTLB-load-misses",
	      "dTLB-store-misses", 1) },
};

enum { PRESETS = sizeof(presets) / sizeof(presets[0]) };

const portprof_preset *portprof_preset_at(size_t index)
{
	return index < PRESETS ? &presets[index] : NULL;
}

size_t ppi_preset_event_count(const portprof_preset *preset)
{
	size_t count = 0;

	while (count < EVENTS && preset->events[count])
		count++;
	return count;
}

/* ---- presets: which of a name ---- */

static bool is_known(const char *event)
{
	const struct ppi_backend_ops *ops;
	struct ppi_event_request request;
	struct ppi_event resolved;
	struct ppi_diag why;

	if (ppi_event_parse(event, &request, &why))
		return false;
	request.skip_open_check = true;
	for (size_t i = 0; (ops = ppi_backend_at(i)); i++) {
		const void *kernel = ppi_backend_kernel(ops);

		if (kernel && ppi_backend_rank(ops) >= 0 &&
		    ops->resolve(kernel, &request, PPI_COUNT, &resolved,
		                 &why) == PORTPROF_OK)
			return true;
	}
	return false;
}

static bool are_known(const portprof_preset *preset)
{
	size_t count = ppi_preset_event_count(preset);

	for (size_t i = 0; i < count; i++)
		if (!is_known(preset->events[i]))
			return false;
	return true;
}

static bool is_named(const portprof_preset *preset, const char *name,
                     size_t length)
{
	return strlen(preset->name) == length &&
	       strncasecmp(preset->name, name, length) == 0;
}

const portprof_preset *ppi_preset_find(const char *name, size_t length)
{
	size_t first = 0, end;

	while (first < PRESETS && !is_named(&presets[first], name, length))
		first++;
	for (end = first; end < PRESETS; end++)
		if (!is_named(&presets[end], name, length))
			break;
	for (size_t i = first; end - first > 1 && i < end; i++)
		if (are_known(&presets[i]))
			return &presets[i];
	return first < PRESETS ? &presets[first] : NULL;
}

/*
 * Why the events that a CPU has do not make up a preset. Of SVE the length of
 * vectors is each process's own (prctl(2), PR_SVE_SET_VL), and the counter does not
 * know it; VFP_SPEC and ASE_SPEC count instructions, and some of integers.
 */
#define OF_VECTOR_LENGTH                                                       \
	"FP_SCALE_OPS_SPEC is to be multiplied by the vector length, which "   \
	"each process may choose on this CPU; count it and FP_FIXED_OPS_SPEC"

static const struct {
	const char *preset, *event, *why;
} lacks[] = {
	{ "FLOPS", "arm_v1::FP_SCALE_OPS_SPEC", OF_VECTOR_LENGTH },
	{ "FLOPS", "arm_a64fx::FP_SCALE_OPS_SPEC", OF_VECTOR_LENGTH },
	{ "FLOPS", "VFP_SPEC", "this CPU counts floating-point instructions "
	                       "(VFP_SPEC, ASE_SPEC), of one number as of four, "
	                       "not operations" },
};

const char *portprof_preset_missing(const portprof_preset *preset)
{
	if (!preset || are_known(preset))
		return NULL;
	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++)
		if (strcmp(lacks[i].preset, preset->name) == 0 &&
		    is_known(lacks[i].event))
			return lacks[i].why;
	return NULL;
}

portprof_status ppi_preset_blame(const struct ppi_event_request *request,
                                 struct ppi_diag *why)
{
	char words[sizeof(why->words)];
	bool is_unknown = why->status == PORTPROF_E_NOTFOUND;
	const char *reason;

	if (!request->preset)
		return why->status;
	reason = portprof_preset_missing(request->preset);
	if (reason)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                "resolve preset", "preset %s: %s",
		                request->preset->name, reason);
	snprintf(words, sizeof(words), "%s", why->words);
	return ppi_fail(why, is_unknown ? PORTPROF_E_UNSUPPORTED : why->status,
	                why->os_errno, "resolve preset", "preset %s%s: %.400s",
	                request->preset->name,
	                is_unknown ? ": no PMU here has its events" : "",
	                words);
}

/* ---- presets: formulas ---- */

static double sum_of(const int *factors, const double *values)
{
	double sum = 0;

	/* a value that nothing is taken of may be unknown */
	for (size_t i = 0; i < EVENTS; i++)
		if (factors[i])
			sum += factors[i] * values[i];
	return sum;
}

static bool has_any(const int *factors)
{
	for (size_t i = 0; i < EVENTS; i++)
		if (factors[i])
			return true;
	return false;
}

double portprof_preset_value(const portprof_preset *preset, size_t formula,
                             const double *values)
{
	const portprof_formula *how;
	double of, by;

	if (!preset || !values || formula >= preset->formula_count)
		return NAN;
	how = &preset->formulas[formula];
	of = sum_of(how->of, values);
	by = has_any(how->by) ? sum_of(how->by, values) : 1;
	return by > 0 ? how->factor * of / by : NAN;
}

/* ---- presets: of what was counted ---- */

/* How many of one preset's events begin at `at`; 0: none. */
static size_t preset_at(const struct ppi_event *events, size_t count, size_t at)
{
	const portprof_preset *preset = events[at].request.preset;
	size_t parts;

	if (!preset || events[at].request.preset_event > 0)
		return 0;
	parts = ppi_preset_event_count(preset);
	return count - at < parts ? 0 : parts;
}

static double value_of(const struct ppi_event *event,
                       const portprof_count *count, bool *is_estimate)
{
	if (count->status != PORTPROF_COUNT_OK &&
	    count->status != PORTPROF_COUNT_SCALED)
		return NAN;
	*is_estimate |= count->status == PORTPROF_COUNT_SCALED;
	return (double)count->scaled *
	       (event->scaled_unit[0] ? event->scale : 1);
}

static void compute(const struct ppi_event *events,
                    const portprof_count *counts, size_t at, size_t formula,
                    portprof_metric *metric)
{
	const portprof_preset *preset = events[at].request.preset;
	const portprof_formula *how = &preset->formulas[formula];
	const char *text = events[at].request.text;
	double values[EVENTS] = { 0 };
	bool is_estimate = false;

	for (size_t i = 0; i < ppi_preset_event_count(preset); i++)
		if (how->of[i] || how->by[i])
			values[i] = value_of(&events[at + i], &counts[at + i],
			                     &is_estimate);
	snprintf(metric->name, sizeof(metric->name), "%s%.40s", how->name,
	         text + strlen(preset->events[0]));
	metric->unit = how->unit;
	metric->event = at + how->event;
	metric->value = portprof_preset_value(preset, formula, values);
	metric->is_estimate = is_estimate;
}

/* Where the preset of the index-th metric begins, and which of its formulas that
 * is; `count` past the last. */
static size_t metric_at(const struct ppi_event *events, size_t count,
                        size_t index, size_t *formula)
{
	for (size_t at = 0; at < count; at++) {
		size_t formulas = preset_at(events, count, at)
			? events[at].request.preset->formula_count : 0;

		*formula = index;
		if (index < formulas)
			return at;
		index -= formulas;
	}
	return count;
}

portprof_status ppi_metric_get(const struct ppi_event *events, size_t count,
                               const portprof_count *counts, size_t index,
                               portprof_metric *metric)
{
	portprof_metric full = { .size = 0 };
	size_t formula, at;

	if (!counts || !metric)
		return ppi_refuse_null("metric", counts ? "metric" : "counts");
	at = metric_at(events, count, index, &formula);
	if (at == count)
		return PORTPROF_END;
	compute(events, counts, at, formula, &full);
	return ppi_sized_copy(metric, &full, sizeof(full), "metric");
}

bool ppi_metric_factors(const struct ppi_event *events, size_t count,
                        size_t index, double *of, double *by)
{
	size_t formula, at = metric_at(events, count, index, &formula);
	const portprof_formula *how;

	if (at == count)
		return false;
	how = &events[at].request.preset->formulas[formula];
	for (size_t i = 0; i < count; i++)
		of[i] = by[i] = 0;
	for (size_t i = 0; i < ppi_preset_event_count(
				       events[at].request.preset); i++) {
		const struct ppi_event *event = &events[at + i];
		double scale = event->scaled_unit[0] ? event->scale : 1;

		of[at + i] = how->factor * how->of[i] * scale;
		by[at + i] = how->by[i] * scale;
	}
	return true;
}

/* ---- lists: one event after the other ---- */

/* One event of a list. `modifiers` is what stands behind its group's brace, and
 * up to which place; both NULL for an event without braces. */
struct place {
	const char *event;
	size_t length;
	const char *modifiers, *end;
	size_t group;
	bool is_first; /* of its group */
	const portprof_preset *preset; /* that stands there; NULL: an event does */
	size_t part;   /* which of its events */
};

/* The events of a preset are of its group, and those after the first are not
 * the group's first. */
static bool next_part(struct place *place)
{
	if (!place->preset ||
	    place->part + 1 == ppi_preset_event_count(place->preset))
		return false;
	place->part++;
	place->is_first = false;
	return true;
}

/* A PMU's event is no preset, whatever the PMU's name. */
static const portprof_preset *preset_of(const struct place *place)
{
	size_t length = strcspn(place->event, ":.@,}");

	if (length > place->length ||
	    strncmp(place->event + length, "::", 2) == 0)
		return NULL;
	return ppi_preset_find(place->event, length);
}

const char *ppi_event_next_item(const char *end)
{
	return *end == ',' ? end + 1 + strspn(end + 1, " \t") : end;
}

/* Begin with { .event = NULL }; false past the last. Never fails: a brace that
 * is not closed reaches to the end, and ppi_event_list_read refuses it. */
static bool next_event(const char *list, struct place *place)
{
	const char *at = list;

	if (next_part(place))
		return true;
	place->is_first = true;
	if (place->event) {
		at = place->event + place->length;
		place->is_first = !(place->modifiers && *at == ',');
		if (place->modifiers && *at != ',')
			at = place->end;
		if (*at == '\0')
			return false;
		at = ppi_event_next_item(at);
	}
	if (place->is_first) {
		place->group += place->event != NULL;
		place->modifiers = place->end = NULL;
	}
	if (place->is_first && *at == '{') {
		const char *close = strchr(++at, '}');

		place->modifiers = close ? close + 1 : at + strlen(at);
		place->end = place->modifiers + strcspn(place->modifiers, ",");
	}
	place->event = at;
	place->length = ppi_event_span(at, place->modifiers ? ",}" : ",");
	place->preset = preset_of(place);
	place->part = 0;
	return true;
}

/* What a backend takes for a group, by its first event. */
static bool is_of_group(const char *modifier)
{
	const struct ppi_backend_ops *ops;
	size_t length = strcspn(modifier, "=:.@,");

	for (size_t i = 0; (ops = ppi_backend_at(i)); i++)
		if (ppi_word_in(modifier, length, ops->group_modifiers))
			return true;
	return false;
}

/* Text that grows in a buffer of fixed size. */
struct text {
	char *out;
	size_t used, bytes;
};

static void add(struct text *text, const char *from, size_t length)
{
	if (text->used + length < text->bytes)
		memcpy(text->out + text->used, from, length);
	text->used += length;
}

/* The event with its group's modifiers, which go before the period of "@N". */
static bool spell(const struct place *place, char *out, size_t bytes)
{
	struct text text = { .out = out, .bytes = bytes };
	size_t length = ppi_event_span(place->event, place->modifiers ? "@,}"
	                                                              : "@,");
	const char *at = place->modifiers;
	size_t named = 0;

	if (place->preset) {
		const char *name = place->preset->events[place->part];

		named = strlen(place->preset->name);
		add(&text, name, strlen(name));
	}
	add(&text, place->event + named, length - named);
	while (at && at < place->end) {
		size_t part = 1 + strcspn(at + 1, ":.@,");

		if (place->is_first || !is_of_group(at + 1))
			add(&text, at, part);
		at += part;
	}
	add(&text, place->event + length, place->length - length);
	if (text.used >= bytes)
		return false;
	out[text.used] = '\0';
	return true;
}

size_t ppi_event_members(const char *list)
{
	struct place place = { .event = NULL };
	size_t count = 0;

	while (next_event(list, &place))
		count++;
	return count;
}

static bool find(const char *list, size_t index, struct place *place)
{
	*place = (struct place){ .event = NULL };
	while (next_event(list, place))
		if (index-- == 0)
			return true;
	return false;
}

size_t ppi_event_item(const char *list)
{
	const char *close = list[0] == '{' ? strchr(list, '}') : NULL;
	size_t group = close ? (size_t)(close - list) : 0;

	return close ? group + strcspn(close, ",") : ppi_event_span(list, ",");
}

/* ---- lists: reading one whole ---- */

static portprof_status mistake(const char *list, size_t at, const char *words,
                               struct ppi_diag *why)
{
	return ppi_at_column(
		why, PORTPROF_REASON_SYNTAX, at + 1,
		ppi_fail(why, PORTPROF_E_INVALID, 0, "check event list",
	                 "'%.200s', column %zu: %s", list, at + 1, words));
}

static portprof_status check_braces(const char *list, struct ppi_diag *why)
{
	const char *at = list;

	while (*at) {
		const char *open = at, *bad;

		at += ppi_event_item(at);
		if (*open == '{') {
			bad = open + 1 + strcspn(open + 1, "{}");
			if (*bad != '}')
				return mistake(list, (size_t)(*bad ? bad - list
				                              : open - list),
				               *bad ? "groups do not nest; "
				               "remove this brace"
				               : "this brace is not closed; add "
				               "a }", why);
			if (!strchr(":.@,", bad[1]))
				return mistake(list, (size_t)(bad + 1 - list),
				               "after a group comes a comma, or "
				               "modifiers for all of it, as in "
				               "{cycles,instructions}:u", why);
			open = bad + 1;
		}
		bad = open + strcspn(open, "{}");
		if (bad < at)
			return mistake(list, (size_t)(bad - list),
			               "a brace begins a group or ends it, as "
			               "in {cycles,instructions}:u", why);
		at = ppi_event_next_item(at);
	}
	return PORTPROF_OK;
}

/* Where in the list the n-th character of an event, as spelled, comes from. */
struct spelled {
	const char *list;
	struct place place;
};

static size_t column_in(const void *context, size_t column)
{
	const struct spelled *spelled = context;
	const struct place *place = &spelled->place;
	const char *list = spelled->list;
	size_t at = (size_t)(place->event - list);

	if (place->preset) {
		size_t name = strlen(place->preset->events[place->part]);
		size_t named = strlen(place->preset->name);

		column = column > name ? column - name + named : 1;
	}
	if (column <= place->length || !place->length || !place->modifiers)
		return at + column;
	return (size_t)(place->modifiers - list) + column - place->length;
}

portprof_status ppi_event_list_read(const char *list, ppi_event_take_fn take,
                                    void *context, struct ppi_diag *why)
{
	struct spelled spelled = { list, { .event = NULL } };
	struct place *place = &spelled.place;
	struct ppi_event_request request;
	char event[sizeof(request.text)];
	portprof_status status = check_braces(list, why);

	while (status == PORTPROF_OK && next_event(list, place)) {
		if (!spell(place, event, sizeof(event)))
			return mistake(list, (size_t)(place->event - list),
			               "this event is too long", why);
		status = ppi_event_parse_in(event, &request,
		                            strcmp(event, list) ? column_in
		                                                : NULL,
		                            &spelled, why);
		request.preset = place->preset;
		request.preset_event = place->part;
		if (status == PORTPROF_OK && take)
			take(&request, context);
	}
	return status;
}

portprof_status portprof_event_list_get(const char *list, size_t index,
                                        char *event, size_t bytes,
                                        size_t *group)
{
	struct ppi_diag why;
	struct place place;

	if (!list || !event)
		return ppi_refuse_null("portprof_event_list_get",
		                       list ? "event" : "list");
	if (ppi_event_list_read(list, NULL, NULL, &why))
		return ppi_report(&why);
	if (!find(list, index, &place))
		return PORTPROF_END;
	if (!spell(&place, event, bytes))
		return ppi_refuse(PORTPROF_E_LIMIT, "read event list",
		                  "event number %zu of '%.200s' is longer than "
		                  "%zu bytes", index, list, bytes);
	if (group)
		*group = place.group;
	return PORTPROF_OK;
}

const portprof_preset *portprof_event_list_preset(const char *list,
                                                  size_t index)
{
	struct place place;

	if (!list || !find(list, index, &place))
		return NULL;
	return place.part == 0 ? place.preset : NULL;
}
