/* SPDX-License-Identifier: MIT */
/* Which samples a report is about: by thread, module, function, label and
 * time. */
#include "config.h"

#include "tools/view/filter.h"

#include "base/vector.h"
#include "tools/tools.h"
#include "tools/view/owners.h"
#include "tools/view/short_names.h"
#include "tools/view/wall.h"

#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- its words ---- */

/* A number up to `end`, with a decimal point perhaps, and what it is of: seconds
 * unless it says so; false for anything else. */
static bool read_time(const char *text, const char *end,
                      struct ppi_filter_time *time)
{
	static const struct {
		const char *word;
		double factor;
	} units[] = {
		{ "", 1e9 },  { "s", 1e9 },   { "ms", 1e6 },
		{ "us", 1e3 }, { "m", 60e9 }, { "min", 60e9 },
		{ "%", 0.01 },
	};
	size_t digits = strspn(text, "0123456789.");
	double number;
	char *stop;

	number = strtod(text, &stop);
	if (!digits || stop != text + digits || number > 1e9)
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].word) == (size_t)(end - stop) &&
		    strncmp(stop, units[i].word, (size_t)(end - stop)) == 0) {
			time->is_part = units[i].word[0] == '%';
			time->amount = number * units[i].factor;
			return true;
		}
	return false;
}

bool ppi_filter_read_times(const char *text, struct ppi_filter *filter)
{
	const char *comma = strchr(text, ',');

	filter->has_times = true;
	filter->from = (struct ppi_filter_time){ .amount = 0 };
	filter->to = (struct ppi_filter_time){ .amount = 1e300 };
	if (!comma || !text[1])
		return false;
	if (comma > text && !read_time(text, comma, &filter->from))
		return false;
	if (comma[1] && !read_time(comma + 1, comma + strlen(comma),
	                           &filter->to))
		return false;
	return filter->from.is_part != filter->to.is_part ||
	       filter->from.amount < filter->to.amount;
}

/* As nanoseconds from when measuring began. */
static double time_of(const struct ppi_filter_time *time,
                      const portprof_profile_origin *origin)
{
	return time->is_part ? time->amount * (double)origin->duration_ns
	                     : time->amount;
}

enum { LISTS = 5 };

/* The words of one list, and which of them anything has fitted. */
struct list {
	char *text; /* words end in zero bytes */
	const char **words;
	bool *is_met;
	size_t count;
};

static void free_list(struct list *list)
{
	free(list->text);
	free(list->words);
	free(list->is_met);
}

/* A name with commas in it is one word. */
static bool read_list(const char *text, bool is_one, struct list *list)
{
	size_t room = 1;

	memset(list, 0, sizeof(*list));
	if (!text)
		return true;
	for (const char *at = text; *at; at++)
		room += *at == ',';
	list->text = strdup(text);
	list->words = calloc(room, sizeof(*list->words));
	list->is_met = calloc(room, sizeof(*list->is_met));
	if (!list->text || !list->words || !list->is_met)
		return false;
	for (char *at = list->text; at; list->count++) {
		list->words[list->count] = at;
		at = is_one ? NULL : strchr(at, ',');
		if (at)
			*at++ = '\0';
	}
	return true;
}

/* Whether a word of the list fits; every one that does is met. */
typedef bool (*fits_fn)(const char *word, const void *thing);

static bool fits_any(struct list *list, fits_fn fits, const void *thing)
{
	bool is_fit = false;

	for (size_t i = 0; i < list->count; i++)
		if (fits(list->words[i], thing))
			is_fit = list->is_met[i] = true;
	return is_fit;
}

static bool fits_thread(const char *word, const void *thing)
{
	const struct ppi_owner *thread = thing;
	uint64_t number;

	if (ppi_read_number(word, 1, UINT32_MAX, &number) &&
	    (thread->tid == number || thread->pid == number))
		return true;
	return thread->name[0] && fnmatch(word, thread->name, 0) == 0;
}

static bool fits_file(const char *word, const char *name, const char *path)
{
	return strcmp(word, name) == 0 || fnmatch(word, name, 0) == 0 ||
	       fnmatch(word, path, 0) == 0;
}

/* Code made while running is asked for by the file that names it, too. */
static bool fits_module(const char *word, const void *thing)
{
	const struct ppi_symbols_name *name = thing;
	const char *slash = name->made_in ? strrchr(name->made_in, '/') : NULL;

	return fits_file(word, name->module, name->path) ||
	       (name->made_in &&
	        fits_file(word, slash ? slash + 1 : name->made_in,
	                  name->made_in));
}

/* A row is of all processes that have its function. */
static bool fits_row(const char *word, const void *thing)
{
	const struct ppi_symbols_name *name = thing;

	return fits_module(word, name) ||
	       (name->made_in && ppi_is_generated(word));
}

bool ppi_rows_keep_modules(struct ppi_rows *rows, const char *modules)
{
	struct ppi_symbols_name name = { .module = NULL };
	struct list list;
	size_t kept = 0;
	bool is_good = read_list(modules, false, &list);

	/* what has weight of its own has passed the filter */
	for (size_t i = 0; is_good && modules && i < rows->count; i++) {
		const struct ppi_row *row = &rows->rows[i];

		name.module = row->module;
		name.path = row->path;
		name.made_in = row->made_in;
		if (row->self_weight || row->samples || !name.module ||
		    fits_any(&list, fits_row, &name))
			rows->rows[kept++] = *row;
	}
	if (is_good && modules)
		rows->count = kept;
	free_list(&list);
	return is_good;
}

/* An inlined function counts as one of the location. */
static bool fits_function(const char *word, const void *thing)
{
	const struct ppi_symbols_name *name = thing;

	for (; name; name = name->caller)
		if (ppi_is_function(word, name->function))
			return true;
	return false;
}

/* The same, of its last part alone. */
static bool fits_function_part(const char *word, const void *thing)
{
	const struct ppi_symbols_name *name = thing;

	for (; name; name = name->caller)
		if (ppi_is_function_part(word, name->function))
			return true;
	return false;
}

/* ---- what is left out ---- */

struct applying {
	const portprof_profile *profile;
	const struct ppi_symbols_name *names;
	bool *is_left_out;
	bool is_refused; /* and said so */
};

static bool *new_flags(size_t count)
{
	return calloc(count + 1, sizeof(bool));
}

/* Threads are looked at once for each of their names. `is_in`: bool, by
 * owner. */
static bool is_thread_in(struct ppi_owners *owners, struct ppi_vector *is_in,
                         struct list *list,
                         const portprof_profile_sample *sample, bool *answer)
{
	uint32_t known = owners->count;
	const struct ppi_owner *owner = ppi_owners_find(owners, sample);
	bool fits;

	if (!owner)
		return false;
	if (owner->number == known) {
		fits = fits_any(list, fits_thread, owner);
		if (!ppi_vector_add(is_in, sizeof(fits), &fits, 1))
			return false;
	}
	*answer = PPI_AT(is_in, bool)[owner->number];
	return true;
}

static bool leave_out_threads(struct applying *applying, struct list *list)
{
	struct ppi_owners owners;
	const portprof_profile_sample *sample;
	struct ppi_vector is_in = { 0 };
	bool is_kept;
	bool is_good = ppi_owners_open(&owners, applying->profile,
	                               PPI_BY_THREAD | PPI_BY_PROCESS |
	                               PPI_BY_COMM);

	for (size_t i = 0; is_good && (sample = portprof_profile_sample_get(
					       applying->profile, i)) != NULL;
	     i++) {
		is_good = is_thread_in(&owners, &is_in, list, sample, &is_kept);
		if (is_good && !is_kept)
			applying->is_left_out[i] = true;
	}
	ppi_owners_close(&owners);
	ppi_vector_free(&is_in);
	return is_good;
}

int ppi_take_label(const struct ppi_given *given, void *label)
{
	const char *equals = strchr(given->value, '=');

	if (!equals || equals == given->value || !equals[1])
		return ppi_given_refuse(given, "NAME=VALUE[,VALUE...]");
	*(const char **)label = given->value;
	return PPI_EXIT_OK;
}

/* A value, and the expression that it is to match whole. */
struct labelled {
	const struct ppi_label_value *value;
	const regex_t *expression; /* NULL: words are patterns */
};

static bool fits_label(const char *word, const void *thing)
{
	const struct labelled *labelled = thing;
	const char *text = labelled->value->text;
	regmatch_t match;

	if (!labelled->expression)
		return fnmatch(word, text, 0) == 0;
	return regexec(labelled->expression, text, 1, &match, 0) == 0 &&
	       match.rm_so == 0 && text[match.rm_eo] == '\0';
}

/* "~EXPRESSION", whole: of alternatives that match, too, the longest counts
 * (POSIX.1-2017, 9.1). False with words. */
static bool read_expression(const char *word, regex_t *expression)
{
	char words[200];
	int error = regcomp(expression, word + 1, REG_EXTENDED);

	if (!error)
		return true;
	regerror(error, expression, words, sizeof(words));
	ppi_say("--label: '%s' is no regular expression (%s); see regex(7)",
	        word + 1, words);
	return false;
}

static bool is_expression(const struct list *list)
{
	return list->count == 1 && list->words[0][0] == '~';
}

/* `name` ends at the "=". */
static bool leave_out_labels(struct applying *applying, struct list *list,
                             const char *name)
{
	struct ppi_labels labels;
	const portprof_profile_sample *sample;
	struct labelled labelled = { 0 };
	regex_t expression;
	bool is_good = true;

	if (is_expression(list)) {
		if (!read_expression(list->words[0], &expression))
			return applying->is_refused = true;
		labelled.expression = &expression;
	}
	ppi_labels_open(&labels, applying->profile, name);
	for (size_t i = 0; is_good && (sample = portprof_profile_sample_get(
					       applying->profile, i)) != NULL;
	     i++) {
		labelled.value = ppi_labels_find(&labels, sample);
		is_good = labelled.value != NULL;
		if (is_good && !fits_any(list, fits_label, &labelled))
			applying->is_left_out[i] = true;
	}
	ppi_labels_close(&labels);
	if (labelled.expression)
		regfree(&expression);
	return is_good;
}

/* By the sampled code alone, or by all of the chain. */
static bool leave_out_code(struct applying *applying, struct list *list,
                           fits_fn fits, bool is_whole_chain)
{
	size_t count = portprof_profile_location_count(applying->profile);
	const portprof_profile_sample *sample;
	bool *is_in = new_flags(count);

	if (!is_in)
		return false;
	for (size_t i = 0; i < count; i++)
		is_in[i] = fits_any(list, fits, &applying->names[i]);
	/* one word that is no whole name may be the last part of some */
	if (fits == fits_function && !list->is_met[0])
		for (size_t i = 0; i < count; i++)
			is_in[i] = fits_any(list, fits_function_part,
			                    &applying->names[i]);
	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(applying->profile, i)) !=
	     NULL;
	     i++) {
		size_t depth = is_whole_chain  ? sample->depth
		               : sample->depth ? 1
		                               : 0;
		bool is_met = false;

		for (size_t j = 0; j < depth && !is_met; j++)
			is_met = is_in[sample->locations[j]];
		if (!is_met)
			applying->is_left_out[i] = true;
	}
	free(is_in);
	return true;
}

/* The things that a word may have meant, by their number. */
typedef const char *(*name_fn)(const void *applying, size_t i);

static const char *thread_name(const void *of, size_t i)
{
	const portprof_profile_thread *thread =
		portprof_profile_thread_get(
			((const struct applying *)of)->profile, i);

	return thread ? thread->name : NULL;
}

/* Where code has no names yet, no filter is about code. */
static bool is_location(const struct applying *applying, size_t i)
{
	return applying->names &&
	       i < portprof_profile_location_count(applying->profile);
}

static const char *module_name(const void *of, size_t i)
{
	const struct applying *applying = of;

	return is_location(applying, i) ? applying->names[i].module : NULL;
}

static const char *function_name(const void *of, size_t i)
{
	const struct applying *applying = of;

	return is_location(applying, i) ? applying->names[i].function : NULL;
}

static const char *no_name(const void *of, size_t i)
{
	(void)of;
	(void)i;
	return NULL;
}

/* Of a sample: the same kind may come often. */
static const char *wait_name(const void *of, size_t i)
{
	const struct applying *applying = of;
	const portprof_profile_sample *sample =
		portprof_profile_sample_get(applying->profile, i);
	portprof_profile_label label;

	if (!sample)
		return NULL;
	return ppi_label_find(applying->profile, sample,
	                      ppi_tag_name(PPI_TAG_WAIT), &label)
	               ? label.text
	               : "";
}

static bool say_unmet(const struct applying *applying, const struct list *list,
                      const char *what, name_fn name_of, const char *remedy)
{
	bool is_met = true;
	size_t count = 0;

	/* and who asks for no names may have none */
	while (list->count && name_of(applying, count) != NULL)
		count++;
	for (size_t i = 0; i < list->count; i++) {
		struct ppi_guess guess = { .wanted = list->words[i] };
		char likely[512];

		if (list->is_met[i])
			continue;
		for (size_t j = 0; j < count; j++)
			ppi_guess_offer(&guess, name_of(applying, j));
		if (name_of == function_name)
			ppi_functions_like(list->words[i], count, name_of,
			                   applying, likely, sizeof(likely));
		else
			ppi_guess_words(&guess, "", likely, sizeof(likely));
		ppi_say("no %s '%s' is in this profile; %s%s", what,
		        list->words[i], remedy, likely);
		is_met = false;
	}
	return is_met;
}

/*
 * By the middle of the slice of time that a sample fell in. Times are those of
 * CLOCK_REALTIME; when measuring began the file says too.
 */
bool ppi_filter_times(const struct ppi_filter *filter,
                      const portprof_profile *profile, bool *is_left_out)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(profile);
	size_t count = portprof_profile_sample_count(profile);
	double from = time_of(&filter->from, origin);
	double to = time_of(&filter->to, origin);
	bool is_any_in = false;

	for (size_t i = 0; i < count; i++) {
		uint64_t at_ns = portprof_profile_sample_time(profile, i) +
		                 origin->timeline_ns / 2;

		at_ns = at_ns > origin->start_ns ? at_ns - origin->start_ns : 0;
		if ((double)at_ns < from || (double)at_ns >= to)
			is_left_out[i] = true;
		else
			is_any_in = true;
	}
	return is_any_in;
}

static bool leave_out_times(struct applying *applying,
                            const struct ppi_filter *filter)
{
	bool is_any_in = ppi_filter_times(filter, applying->profile,
	                                  applying->is_left_out);

	if (!is_any_in)
		ppi_say("--time: no sample is in that time");
	return is_any_in;
}

/* NULL of none. */
static const char *values_of(const char *label)
{
	return label ? strchr(label, '=') + 1 : NULL;
}

static bool read_values(const char *label, struct list *list)
{
	const char *values = values_of(label);

	return read_list(values, values && values[0] == '~', list);
}

bool ppi_filter_label(const char *label, const portprof_profile *profile,
                      bool *is_left_out)
{
	struct applying applying = { .profile = profile,
		                     .is_left_out = is_left_out };
	struct list list;
	bool is_good = read_values(label, &list) &&
	               leave_out_labels(&applying, &list, label);

	free_list(&list);
	return is_good;
}

bool ppi_filter_label_check(const char *label)
{
	const char *values = values_of(label);
	regex_t expression;

	if (!values || values[0] != '~')
		return true;
	if (!read_expression(values, &expression))
		return false;
	regfree(&expression);
	return true;
}

/* As an expression where it has what a list takes for something else. */
char *ppi_filter_label_of(const char *name, const char *value)
{
	bool is_plain = value[0] && value[0] != '~' &&
	                !value[strcspn(value, ",*?[\\")];
	size_t length = strlen(name);
	char *label = malloc(length + 2 * strlen(value) + 3), *at;

	if (!label)
		return NULL;
	at = label + sprintf(label, "%s=%s", name, is_plain ? "" : "~");
	for (; *value; value++) {
		if (!is_plain && strchr("^.[$()|*+?{\\", *value))
			*at++ = '\\';
		*at++ = *value;
	}
	*at = '\0';
	return label;
}

/* The lists are the filter's, in the order of struct ppi_filter. */
static bool apply_lists(struct applying *applying, struct list lists[LISTS],
                        const char *label)
{
	if (lists[0].count && !leave_out_threads(applying, &lists[0]))
		return false;
	if (lists[1].count &&
	    !leave_out_code(applying, &lists[1], fits_module, false))
		return false;
	if (lists[2].count &&
	    !leave_out_code(applying, &lists[2], fits_function, true))
		return false;
	if (lists[3].count && !leave_out_labels(applying, &lists[3], label))
		return false;
	return !lists[4].count ||
	       leave_out_labels(applying, &lists[4],
	                        ppi_tag_name(PPI_TAG_WAIT));
}

static bool say_all_unmet(const struct applying *applying,
                          const struct list lists[LISTS])
{
	bool is_met =
		say_unmet(applying, &lists[0], "thread", thread_name,
	                  "--sort thread shows them");

	is_met &= say_unmet(applying, &lists[1], "module", module_name,
	                    "--sort module shows them");
	is_met &= say_unmet(applying, &lists[2], "function", function_name,
	                    "-n 0 shows them");
	is_met &= say_unmet(applying, &lists[3], "value of that label", no_name,
	                    "--sort label:NAME shows them");
	return say_unmet(applying, &lists[4], "wait", wait_name,
	                 "--sort wait shows them") &&
	       is_met;
}

enum ppi_filter_result ppi_filter_apply(const struct ppi_filter *filter,
                                        const portprof_profile *profile,
                                        const struct ppi_symbols_name *names,
                                        bool **is_left_out)
{
	struct applying applying = { .profile = profile, .names = names };
	enum ppi_filter_result result = PPI_FILTER_MEMORY;
	struct list lists[LISTS];
	bool is_good;

	*is_left_out = NULL;
	if (!filter->threads && !filter->modules && !filter->functions &&
	    !filter->label && !filter->waits && !filter->has_times)
		return PPI_FILTER_OK;
	if (filter->has_times &&
	    !portprof_profile_origin_get(profile)->timeline_ns) {
		ppi_say("--time: this profile has no times of samples; "
		        "record keeps them unless --timeline is 0");
		return PPI_FILTER_NOTHING;
	}
	if (filter->label && !ppi_labels_check(profile, filter->label))
		return PPI_FILTER_NOTHING;
	is_good = read_list(filter->threads, false, &lists[0]);
	is_good &= read_list(filter->modules, false, &lists[1]);
	is_good &= read_list(filter->functions, true, &lists[2]);
	is_good &= read_values(filter->label, &lists[3]);
	is_good &= read_list(filter->waits, false, &lists[4]);
	applying.is_left_out =
		new_flags(portprof_profile_sample_count(profile));
	if (is_good && applying.is_left_out &&
	    apply_lists(&applying, lists, filter->label))
		result = !applying.is_refused &&
		                         say_all_unmet(&applying, lists) &&
		                         (!filter->has_times ||
		                          leave_out_times(&applying, filter))
		                 ? PPI_FILTER_OK
		                 : PPI_FILTER_NOTHING;
	for (size_t i = 0; i < LISTS; i++)
		free_list(&lists[i]);
	if (result == PPI_FILTER_OK)
		*is_left_out = applying.is_left_out;
	else
		free(applying.is_left_out);
	return result;
}
