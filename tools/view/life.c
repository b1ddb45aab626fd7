/* SPDX-License-Identifier: MIT */
/* The life of threads in one line. */
#include "config.h"

#include "tools/view/life.h"

#include "base/json.h"
#include "tools/tools.h"
#include "tools/view/owners.h"
#include "tools/view/wall.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what they waited for ---- */

static int compare_kinds(const void *left, const void *right)
{
	const struct ppi_life_kind *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* A file may hold anything: kinds are keys of JSON, too. */
static bool is_plain(const char *name)
{
	return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789 -_") ==
	       strlen(name);
}

/* The last one gets what there is no room for. */
static void add_kind(struct ppi_life *life, const char *name, uint64_t ns)
{
	size_t i = 0;

	if (!is_plain(name))
		name = "other";

	while (i < life->kind_count && strcmp(life->kinds[i].name, name) != 0)
		i++;
	if (i == PPI_LIFE_KINDS) {
		i--;
		life->kinds[i].name = "other";
	} else if (i == life->kind_count) {
		life->kinds[life->kind_count++] =
			(struct ppi_life_kind){ .name = name };
	}
	life->kinds[i].ns += ns;
}

bool ppi_label_is_of_wait(const char *label)
{
	for (int i = 0; i < PPI_TAGS; i++)
		if (strcmp(label, ppi_tag_name((enum ppi_tag)i)) == 0)
			return true;
	return strcmp(label, PPI_LIFE_ESTIMATE) == 0 ||
	       strcmp(label, PPI_LABEL_HOLDS) == 0 ||
	       strcmp(label, PPI_LABEL_WAKER) == 0;
}

/* portprof has a mapping for it; in files that name their code it is a function. */
bool ppi_life_is_unseen(const portprof_profile *profile, size_t location)
{
	const portprof_profile_location *at =
		portprof_profile_location_get(profile, location);
	const portprof_profile_mapping *mapping =
		portprof_profile_mapping_get(profile, at->mapping);

	return strcmp(at->function, PPI_WAIT_NOT_SEEN) == 0 ||
	       (mapping && strcmp(mapping->path, PPI_WAIT_NOT_SEEN) == 0);
}

static bool is_unseen(const portprof_profile *profile,
                      const portprof_profile_sample *sample)
{
	return sample->depth &&
	       ppi_life_is_unseen(profile, sample->locations[0]);
}

static void add_blocked(const portprof_profile *profile,
                        const portprof_profile_sample *sample, uint64_t ns,
                        struct ppi_life *life)
{
	portprof_profile_label label;

	if (ppi_label_find(profile, sample, ppi_tag_name(PPI_TAG_WAIT),
	                   &label) &&
	    label.text[0])
		add_kind(life, label.text, ns);
	else
		add_kind(life, is_unseen(profile, sample) ? PPI_LIFE_NOT_SEEN
		                                          : "other", ns);
}

/* Blocked time without any sample: kinds make all of it. */
static void add_rest(struct ppi_life *life)
{
	uint64_t known = 0;

	for (size_t i = 0; i < life->kind_count; i++)
		known += life->kinds[i].ns;
	if (known < life->sums.blocked_ns)
		add_kind(life, PPI_LIFE_NOT_SEEN,
		         life->sums.blocked_ns - known);
}

static uint64_t weight_of(const portprof_profile_sample *sample, size_t event)
{
	return event == SIZE_MAX ? 0 : sample->weights[event];
}

bool ppi_life_find(const portprof_profile *profile, struct ppi_life *life)
{
	const portprof_profile_sample *sample;
	portprof_profile_label label;
	size_t events[PPI_STATES];

	memset(life, 0, sizeof(*life));
	life->sums = portprof_profile_origin_get(profile)->life;
	if (!life->sums.threads)
		return false;
	if (!ppi_wall_find(profile, events))
		return true;
	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++) {
		uint64_t blocked = weight_of(sample, events[PPI_BLOCKED]);
		uint64_t ns = blocked + weight_of(sample, events[PPI_READY]);

		if (blocked)
			add_blocked(profile, sample, blocked, life);
		if (!ns)
			continue;
		life->waited_ns += ns;
		if (is_unseen(profile, sample))
			life->unseen_ns += ns;
		else if (ppi_label_find(profile, sample, PPI_LIFE_ESTIMATE,
		                        &label))
			life->estimated_ns += ns;
	}
	if (events[PPI_BLOCKED] != SIZE_MAX)
		add_rest(life);
	if (life->kind_count)
		qsort(life->kinds, life->kind_count, sizeof(life->kinds[0]),
		      compare_kinds);
	return true;
}

void ppi_life_divide(struct ppi_life *life, size_t runs)
{
	uint64_t *const parts[] = {
		&life->sums.threads, &life->sums.lifetime_ns,
		&life->sums.running_ns, &life->sums.ready_ns,
		&life->sums.blocked_ns, &life->sums.unknown_ns,
		&life->waited_ns, &life->estimated_ns, &life->unseen_ns,
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		*parts[i] /= runs;
	for (size_t i = 0; i < life->kind_count; i++)
		life->kinds[i].ns /= runs;
}

/* ---- in words ---- */

/* All of one line in one unit, and with as many digits as tell it apart. */
struct form {
	double divisor;
	const char *unit;
};

static struct form form_of(uint64_t ns)
{
	if (ns >= 100000000)
		return (struct form){ 1e9, "s" };
	return (struct form){ 1e6, "ms" };
}

static void put_time(FILE *out, struct form form, uint64_t ns)
{
	fprintf(out, "%.2f %s", (double)ns / form.divisor, form.unit);
}

/* What would be printed as 0.0 has no room; of many the largest. */
static void put_kinds(const struct ppi_life *life, struct form form, FILE *out)
{
	enum { KINDS_SHOWN = 6 };
	size_t shown = 0;
	char room[PPI_SHOWN_BYTES];

	for (size_t i = 0; i < life->kind_count && shown < KINDS_SHOWN; i++) {
		double size = (double)life->kinds[i].ns / form.divisor;

		if (size < 0.05)
			break;
		fprintf(out, "%s%.1f %s", shown++ ? ", " : " (", size,
		        ppi_shown(life->kinds[i].name, room));
	}
	if (shown)
		fputc(')', out);
}

void ppi_life_print(const struct ppi_life *life, FILE *out)
{
	const portprof_life *sums = &life->sums;
	struct form form = form_of(sums->lifetime_ns);

	put_time(out, form, sums->lifetime_ns);
	fprintf(out, " of %" PRIu64 " thread%s: ", sums->threads,
	        sums->threads == 1 ? "" : "s");
	put_time(out, form, sums->running_ns);
	fputs(" running, ", out);
	put_time(out, form, sums->ready_ns);
	fputs(" ready, ", out);
	put_time(out, form, sums->blocked_ns);
	fputs(" blocked", out);
	put_kinds(life, form, out);
	if (sums->unknown_ns) {
		fputs(", ", out);
		put_time(out, form, sums->unknown_ns);
		fputs(" unknown", out);
	}
}

bool ppi_life_print_seen(const struct ppi_life *life, FILE *out)
{
	uint64_t seen = life->waited_ns - life->unseen_ns - life->estimated_ns;

	if (!life->waited_ns)
		return false;
	fprintf(out, "%.1f %% of ready and blocked time was seen",
	        ppi_percent(seen, life->waited_ns));
	if (life->estimated_ns)
		fprintf(out, ", %.1f %% is distributed by estimate",
		        ppi_percent(life->estimated_ns, life->waited_ns));
	if (life->unseen_ns)
		fprintf(out, ", %.1f %% is " PPI_WAIT_NOT_SEEN,
		        ppi_percent(life->unseen_ns, life->waited_ns));
	return true;
}

void ppi_life_put(struct ppi_json *json, const struct ppi_life *life)
{
	const portprof_life *sums = &life->sums;

	if (!sums->threads) {
		ppi_json_null(json, "life");
		return;
	}
	ppi_json_object(json, "life");
	ppi_json_number(json, "threads", sums->threads);
	ppi_json_number(json, "lifetime_ns", sums->lifetime_ns);
	ppi_json_number(json, "running_ns", sums->running_ns);
	ppi_json_number(json, "ready_ns", sums->ready_ns);
	ppi_json_number(json, "blocked_ns", sums->blocked_ns);
	ppi_json_number(json, "unknown_ns", sums->unknown_ns);
	ppi_json_object(json, "kinds");
	for (size_t i = 0; i < life->kind_count; i++)
		ppi_json_number(json, life->kinds[i].name, life->kinds[i].ns);
	ppi_json_close(json);
	ppi_json_number(json, "estimated_ns", life->estimated_ns);
	ppi_json_number(json, "not_seen_ns", life->unseen_ns);
	ppi_json_close(json);
}
