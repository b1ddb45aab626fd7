/* SPDX-License-Identifier: MIT */
/*
 * What of a profile is looked at: the keys that its samples are told apart by,
 * and its numbers as people read them. First of the files of this folder, which
 * are for every verb that shows a profile; they include no verb and no page:
 *
 *   view.c        keys, weights, shares and chance
 *   owners.c      whose a sample is: threads, processes, labels
 *   chains.c      how complete call chains are
 *   wall.c        running, ready and blocked time: what threads wait for
 *   life.c        the sums of those, and what threads waited for
 *   holders.c     who held what was waited for, or ended the waits
 *   rows.c        samples folded into rows, also of callers and callees
 *   tree.c        samples added up along their call chains
 *   filter.c      which samples are left out
 *   names.c       the names of a profile's code, found
 *   give_names.c  the same, written into the profile
 *   short_names.c names as people read and type them
 *   code.c        one function: its source and instructions with weights
 *   account.c     the sums of an event
 *   header.c      how it was measured, as text; header_short.c in four lines;
 *                 header_doubts.c what is to be doubted
 *   remedy.c      commands by which a file gets the names that it lacks
 */
#include "config.h"

#include "tools/view/view.h"

#include "base/vector.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

#define LABEL_KEY "label:"

/* What OpenTelemetry's process context calls a service. */
#define SERVICE_KEY "service"
#define SERVICE_LABEL "service.name"

static const struct {
	const char *word;
	unsigned bits;
	bool is_alias; /* of another row, as other profilers have it */
} words[] = {
	/* Functions of the same name in two modules are two functions. */
	{ "function", PPI_BY_FUNCTION | PPI_BY_MODULE, false },
	{ "symbol", PPI_BY_FUNCTION | PPI_BY_MODULE, true },
	{ "sym", PPI_BY_FUNCTION | PPI_BY_MODULE, true },
	{ "module", PPI_BY_MODULE, false },
	{ "dso", PPI_BY_MODULE, true },
	{ "line", PPI_BY_LINE | PPI_BY_FUNCTION | PPI_BY_MODULE, false },
	{ "srcline", PPI_BY_LINE | PPI_BY_FUNCTION | PPI_BY_MODULE, true },
	{ "address", PPI_BY_ADDRESS | PPI_BY_FUNCTION | PPI_BY_MODULE, false },
	{ "thread", PPI_BY_THREAD | PPI_BY_PROCESS, false },
	{ "tid", PPI_BY_THREAD | PPI_BY_PROCESS, true },
	{ "process", PPI_BY_PROCESS, false },
	{ "pid", PPI_BY_PROCESS, true },
	{ "comm", PPI_BY_COMM, false },
	{ "state", PPI_BY_STATE, false },
	{ "wait", PPI_BY_WAIT, false },
	{ "on", PPI_BY_ON, false },
	{ "holder", PPI_BY_HOLDER, false },
};

const char *ppi_rows_word(size_t i, unsigned without)
{
	static const char *const more[] = { SERVICE_KEY, LABEL_KEY "NAME" };

	for (size_t at = 0; at < sizeof(words) / sizeof(words[0]); at++)
		if (!words[at].is_alias && !(words[at].bits & without) &&
		    i-- == 0)
			return words[at].word;
	return i < sizeof(more) / sizeof(more[0]) ? more[i] : NULL;
}

static bool is_service(const char *word, size_t length, const char *known)
{
	return !known && length == strlen(SERVICE_KEY) &&
	       strncmp(word, SERVICE_KEY, length) == 0;
}

/* Of one label, since a row has one column for it. */
static bool is_label(const char *word, size_t length, const char *known)
{
	size_t prefix = strlen(LABEL_KEY);

	return length > prefix && !known &&
	       strncmp(word, LABEL_KEY, prefix) == 0;
}

unsigned ppi_rows_keys(const char *text, const char **label,
                       const char **unknown)
{
	unsigned keys = 0;

	*label = NULL;

	while (*text) {
		size_t length = strcspn(text, ","), i = 0;
		size_t count = sizeof(words) / sizeof(words[0]);

		while (i < count && (strlen(words[i].word) != length ||
		                     strncmp(words[i].word, text, length) != 0))
			i++;
		if (i < count) {
			keys |= words[i].bits;
		} else if (is_service(text, length, *label)) {
			*label = SERVICE_LABEL;
			keys |= PPI_BY_LABEL;
		} else if (is_label(text, length, *label)) {
			*label = text + strlen(LABEL_KEY);
			keys |= PPI_BY_LABEL;
		} else {
			*unknown = text;
			return 0;
		}
		text += length;
		text += *text == ',';
	}
	*unknown = text;
	return keys;
}

bool ppi_is_function(const char *wanted, const char *function)
{
	size_t length = strlen(wanted);

	if (strcmp(wanted, function) == 0)
		return true;
	if (strncmp(wanted, function, length) == 0 && function[length] == '(')
		return true;
	return strpbrk(wanted, "*?") && fnmatch(wanted, function, 0) == 0;
}

/* ---- weight that lacks something ---- */

bool ppi_nameless_add(struct ppi_nameless_list *list, const char *module,
                      uint64_t weight)
{
	struct ppi_vector all = { list->modules, list->count, list->room };
	const struct ppi_nameless one = { module, weight };
	bool is_good;

	for (size_t i = 0; i < list->count; i++)
		if (list->modules[i].module == module) {
			list->modules[i].weight += weight;
			return true;
		}
	is_good = ppi_vector_add(&all, sizeof(one), &one, 1);
	list->modules = all.data;
	list->count = all.count;
	list->room = all.room;
	return is_good;
}

static int compare_nameless(const void *left, const void *right)
{
	const struct ppi_nameless *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return strcmp(a->module, b->module);
}

void ppi_nameless_sort(struct ppi_nameless_list *list)
{
	if (list->count)
		qsort(list->modules, list->count, sizeof(*list->modules),
		      compare_nameless);
}

/* ---- weights and shares as people read them ---- */

struct ppi_scale ppi_scale_of(portprof_unit unit, uint64_t largest)
{
	if (unit != PORTPROF_UNIT_NANOSECONDS)
		return (struct ppi_scale){ 1, 0, "" };
	if (largest >= 1000000000)
		return (struct ppi_scale){ 1e9, 3, " s" };
	if (largest >= 1000000)
		return (struct ppi_scale){ 1e6, 3, " ms" };
	if (largest >= 1000 || largest == 0)
		return (struct ppi_scale){ 1e3, 1, " us" };
	return (struct ppi_scale){ 1, 0, " ns" };
}

const char *ppi_say_weight(struct ppi_scale scale, uint64_t weight, char *out,
                           size_t bytes)
{
	if (scale.digits == 0)
		snprintf(out, bytes, "%" PRIu64 "%s", weight, scale.unit);
	else
		snprintf(out, bytes, "%.*f%s", scale.digits,
		         (double)weight / scale.divisor, scale.unit);
	return out;
}

const char *ppi_minus(const char *number)
{
	return strpbrk(number, "123456789") ? "-" : "";
}

double ppi_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* ---- chance, from run to run ---- */

double ppi_noise_error(double before, double before_sample, double after,
                       double after_sample)
{
	/* one sample more, or nothing at all would have no error */
	double least = before_sample > after_sample ? before_sample
	                                            : after_sample;

	return sqrt(before * before_sample + after * after_sample +
	            least * least);
}

void ppi_share_range(double share, uint64_t samples, double *low, double *high)
{
	double n = samples ? (double)samples : 1, z = 1.96;
	double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
	double half = z / (1 + z * z / n) *
	              sqrt(share * (1 - share) / n + z * z / (4 * n * n));

	*low = middle > half ? middle - half : 0;
	*high = middle + half < 1 ? middle + half : 1;
}

/* How often chance exceeds so many standard errors either way: 1 less A(t|v) of
 * Abramowitz and Stegun 26.7.3 and 26.7.4; the normal distribution for 0. */
static double beyond(double errors, size_t freedom)
{
	double angle = atan2(errors, sqrt((double)freedom));
	double square = cos(angle) * cos(angle), term = 1, sum = 1;

	if (freedom == 0)
		return erfc(errors / 1.4142135623730951);
	if (freedom == 1)
		return 1 - 2 / 3.141592653589793 * angle;
	for (size_t k = 2 + freedom % 2; k + 1 < freedom; k += 2) {
		term *= (double)(k - 1) / (double)k * square;
		sum += term;
	}
	if (freedom % 2 == 0)
		return 1 - sin(angle) * sum;
	return 1 - 2 / 3.141592653589793 *
	               (angle + sin(angle) * cos(angle) * sum);
}

double ppi_noise_limit_of_runs(size_t functions, size_t freedom)
{
	double wanted = 0.05 / (functions ? (double)functions : 1);
	double low = 0, high = freedom ? 1e7 : 40;

	for (int i = 0; i < 80; i++) {
		double middle = (low + high) / 2;

		if (beyond(middle, freedom) > wanted)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double ppi_noise_limit(size_t functions)
{
	return ppi_noise_limit_of_runs(functions, 0);
}
