/* SPDX-License-Identifier: MIT */
/* Who held what others waited for, or who ended their waits, for how long those were, and
 * who waited. */
#include "config.h"

#include "tools/report/report.h"

#include "base/text.h"
#include "base/vector.h"
#include "tools/terminal.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- who waited ---- */

static int compare_names(const void *left, const void *right)
{
	const struct ppi_report_waiter *a = left, *b = right;
	int order = strcmp(a->holder, b->holder);

	if (order == 0)
		order = strcmp(a->function, b->function);
	if (order == 0)
		order = strcmp(a->thread, b->thread);
	return order ? order : strcmp(a->on, b->on);
}

/* One waiter for each function, thread and thing. */
static void put_together(struct ppi_report_holders *holders)
{
	struct ppi_report_waiter *all = holders->waiters;
	size_t kept = 0;

	qsort(all, holders->count, sizeof(*all), compare_names);
	for (size_t i = 0; i < holders->count; i++) {
		if (kept && compare_names(&all[kept - 1], &all[i]) == 0) {
			all[kept - 1].ns += all[i].ns;
			all[kept - 1].waits += all[i].waits;
		} else {
			all[kept++] = all[i];
		}
	}
	holders->count = kept;
}

size_t ppi_report_holder_end(const struct ppi_report_holders *holders,
                             size_t first, uint64_t *ns, uint64_t *waits)
{
	size_t i = first;

	*ns = *waits = 0;
	for (; i < holders->count &&
	       strcmp(holders->waiters[i].holder,
	              holders->waiters[first].holder) == 0;
	     i++) {
		*ns += holders->waiters[i].ns;
		*waits += holders->waiters[i].waits;
	}
	return i;
}

/* With the sum of its holder, so that one sort puts both in order. */
struct ranked {
	struct ppi_report_waiter waiter;
	uint64_t of_holder;
};

static int compare_ranks(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	int order;

	if (a->of_holder != b->of_holder)
		return a->of_holder > b->of_holder ? -1 : 1;
	order = strcmp(a->waiter.holder, b->waiter.holder);
	if (order)
		return order;
	if (a->waiter.ns != b->waiter.ns)
		return a->waiter.ns > b->waiter.ns ? -1 : 1;
	return compare_names(left, right);
}

static bool put_in_order(struct ppi_report_holders *holders)
{
	struct ranked *ranked = calloc(holders->count, sizeof(*ranked));
	uint64_t ns, waits;

	if (!ranked)
		return false;
	for (size_t i = 0, end; i < holders->count;) {
		end = ppi_report_holder_end(holders, i, &ns, &waits);
		for (; i < end; i++)
			ranked[i] = (struct ranked){ holders->waiters[i], ns };
	}
	qsort(ranked, holders->count, sizeof(*ranked), compare_ranks);
	for (size_t i = 0; i < holders->count; i++)
		holders->waiters[i] = ranked[i].waiter;
	free(ranked);
	return true;
}

enum ppi_who
ppi_report_who_of(const struct ppi_report_options *options)
{
	return options->wants_holders ? PPI_HOLDERS :
	       options->wants_wakers  ? PPI_WAKERS : PPI_NOBODY;
}

/* One waiter of a sample that is in the view. */
static bool add_waiter(struct ppi_report_holders *holders,
                       struct ppi_owners *owners, size_t i,
                       struct ppi_vector *all)
{
	const struct ppi_view *view = holders->where.view;
	const portprof_profile_sample *sample =
		portprof_profile_sample_get(view->profile, i);
	const struct ppi_owner *owner = ppi_owners_find(owners, sample);
	portprof_profile_label on;
	struct ppi_report_waiter one = {
		.function = ppi_function_of(view, sample),
		.thread = owner ? owner->name : "",
		.on = ppi_label_find(view->profile, sample,
	                             ppi_tag_name(PPI_TAG_ON), &on) ? on.text : "",
		.ns = ppi_view_weight(view, i, sample),
		.waits = ppi_view_samples(view, i, sample),
	};

	one.holder = ppi_holders_words(&holders->where, i, &one.held_at);
	return owner && one.holder && ppi_vector_add(all, sizeof(one), &one, 1);
}

bool ppi_report_find_holders(const struct ppi_view *view, enum ppi_who who,
                             struct ppi_report_holders *holders)
{
	const portprof_profile_sample *sample;
	struct ppi_vector all = { 0 };
	struct ppi_owners owners;
	bool is_good = ppi_owners_open(&owners, view->profile, PPI_BY_COMM) &&
	               ppi_holders_open(&holders->where, view, who);

	for (size_t i = 0;
	     is_good && (sample = portprof_profile_sample_get(view->profile,
	                                                      i)) != NULL;
	     i++)
		if (ppi_view_weight(view, i, sample) && ppi_view_has(view, i) &&
		    ppi_who_matters(who, view->profile, sample))
			is_good = add_waiter(holders, &owners, i, &all);
	ppi_owners_close(&owners);
	holders->waiters = all.data;
	holders->count = all.count;
	if (!is_good || !all.count)
		return is_good;
	put_together(holders);
	return put_in_order(holders);
}

void ppi_report_free_holders(struct ppi_report_holders *holders)
{
	ppi_holders_close(&holders->where);
	free(holders->waiters);
	memset(holders, 0, sizeof(*holders));
}

/* ---- printed ---- */

enum { WAITERS_SHOWN = 5, NUMBERS_WIDTH = 32 };

struct holder_lines {
	const struct ppi_report *report;
	struct ppi_scale scale;
	FILE *out;
};

static void print_line(const struct holder_lines *lines, uint64_t ns,
                       uint64_t waits, const char *words)
{
	size_t room = (size_t)ppi_line_width(lines->out);
	char weight[64], shown[PPI_SHOWN_BYTES];
	size_t fits = room > NUMBERS_WIDTH + 10 ? room - NUMBERS_WIDTH : 10;

	words = ppi_shown(words, shown);
	fprintf(lines->out, " %11s %6.1f%% %8" PRIu64 "  ",
	        ppi_say_weight(lines->scale, ns, weight, sizeof(weight)),
	        ppi_percent(ns, lines->report->total), waits);
	if (ppi_text_width(words) <= fits)
		fprintf(lines->out, "%s\n", words);
	else
		fprintf(lines->out, "%.*s...\n",
		        (int)ppi_text_fit(words, fits - 3), words);
}

static void print_waiters(const struct holder_lines *lines,
                          const struct ppi_report_holders *holders,
                          size_t first, size_t end)
{
	size_t shown = end;
	uint64_t ns = 0, waits = 0;
	char words[PPI_SHOWN_BYTES];

	if (lines->report->row_limit && end - first > WAITERS_SHOWN)
		shown = first + WAITERS_SHOWN - 1;
	for (size_t i = first; i < shown; i++) {
		const struct ppi_report_waiter *one = &holders->waiters[i];

		snprintf(words, sizeof(words),
		         "  %.300s in thread %.100s%s%.300s", one->function,
		         one->thread[0] ? one->thread : "?",
		         one->on[0] ? ", " : "", one->on);
		print_line(lines, one->ns, one->waits, words);
	}
	for (size_t i = shown; i < end; i++) {
		ns += holders->waiters[i].ns;
		waits += holders->waiters[i].waits;
	}
	snprintf(words, sizeof(words), "  (%zu more; -n 0 shows all)",
	         end - shown);
	if (shown < end)
		print_line(lines, ns, waits, words);
}

/* From where it was, outside of the kernel, up to what began the thread, as far as the
 * line goes. */
static void print_place(const struct holder_lines *lines,
                        const portprof_profile_sample *held_at)
{
	const struct ppi_symbols_name *names = lines->report->names;
	char words[PPI_SHOWN_BYTES] = "at ", escaped[PPI_SHOWN_BYTES];
	size_t room = (size_t)ppi_line_width(lines->out), used = strlen(words);
	size_t first = 0;
	const char *shown;

	while (held_at && first < held_at->depth &&
	       names[held_at->locations[first]].is_kernel)
		first++;
	if (!held_at || held_at->depth < first + 2)
		return;
	for (size_t i = first;
	     i < held_at->depth && used < sizeof(words) / 2; i++)
		used += (size_t)snprintf(
			words + used, sizeof(words) - used, "%s%.200s",
			i > first ? " < " : "",
			names[held_at->locations[i]].function);
	shown = ppi_shown(words, escaped);
	room = room > NUMBERS_WIDTH + 10 ? room - NUMBERS_WIDTH : 10;
	fprintf(lines->out, "%*s%.*s\n", NUMBERS_WIDTH - 1, "",
	        (int)ppi_text_fit(shown, room), shown);
}

void ppi_report_print_holders(const struct ppi_report *report,
                              const struct ppi_report_holders *holders,
                              FILE *out)
{
	struct holder_lines lines = {
		report, ppi_scale_of(report->what->unit, report->total), out
	};
	uint64_t ns, waits;
	size_t shown = 0;

	fprintf(out, "%s %11s %7s %8s  %s%s\n", ppi_color(out, PPI_BOLD),
	        "waited", "share", "waits",
	        holders->where.who == PPI_WAKERS ? "woken by, and who waited"
	                                   : "held by, and who waited",
	        ppi_color(out, PPI_PLAIN));
	for (size_t i = 0, end; i < holders->count; i = end) {
		const char *holder = holders->waiters[i].holder;

		end = ppi_report_holder_end(holders, i, &ns, &waits);
		if (report->row_limit && shown++ >= report->row_limit)
			break;
		print_line(&lines, ns, waits,
		           holder[0] ? holder : "(nobody is known)");
		print_place(&lines, holders->waiters[i].held_at);
		print_waiters(&lines, holders, i, end);
	}
	if (!holders->count)
		fputs(holders->where.who == PPI_WAKERS
		              ? " nobody waited\n"
		              : " nothing that was waited for has a holder\n",
		      out);
}
