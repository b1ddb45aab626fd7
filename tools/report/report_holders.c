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

/* ---- found ---- */

/* The code of a lock itself, which is not what somebody looks for. */
static bool is_of_system(const struct ppi_symbols_name *name)
{
	static const char *const begins[] = {
		"[", "libc.so", "libc-", "libpthread", "ld-", "ld.so",
		"libc.musl", "libstdc++", "libc++",
	};

	if (name->is_kernel)
		return true;
	if (strcmp(name->module, PPI_GENERATED) == 0)
		return false;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(name->module, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* The innermost function of the program, or what the chain begins with. */
static const char *function_of(const struct ppi_view *view,
                               const portprof_profile_sample *sample)
{
	if (!sample->depth)
		return "[unknown]";
	for (size_t i = 0; i < sample->depth; i++) {
		const struct ppi_symbols_name *name =
			&view->names[sample->locations[i]];

		if (!is_of_system(name))
			return name->function;
	}
	return view->names[sample->locations[0]].function;
}

static const char *label_of(const portprof_profile *profile,
                            const portprof_profile_sample *sample,
                            const char *name)
{
	portprof_profile_label label;

	return ppi_label_find(profile, sample, name, &label) ? label.text : "";
}

static const char *text_of(const struct ppi_view *view,
                           const portprof_profile_sample *sample,
                           enum ppi_tag tag)
{
	return label_of(view->profile, sample, ppi_tag_name(tag));
}

/* ---- where holders and wakers were ---- */

/* A sample that says where a thread was that held something, or woke another one; whose
 * process that is does not matter then: 0. */
struct held {
	uint32_t pid, tid, woken;
	const char *on;
	uint64_t time_ns;
	const portprof_profile_sample *sample;
	char *words; /* "FUNCTION in thread NAME", when it was asked for */
};

static int compare_things(const struct held *a, const struct held *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->woken != b->woken)
		return a->woken < b->woken ? -1 : 1;
	return strcmp(a->on, b->on);
}

static int compare_held(const void *left, const void *right)
{
	const struct held *a = left, *b = right;
	int order = compare_things(a, b);

	if (order)
		return order;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->sample < b->sample ? -1 : a->sample > b->sample;
}

static bool is_held(const portprof_profile *profile,
                    const portprof_profile_sample *sample, struct held *held)
{
	portprof_profile_label label;

	if (!ppi_label_find(profile, sample, PPI_LABEL_HOLDS, &label))
		return false;
	held->pid = sample->pid;
	held->on = label.text;
	return true;
}

/* The event's field pid, which a label of samples names so. */
static bool is_waking(const portprof_profile *profile,
                      const portprof_profile_sample *sample, size_t event,
                      struct held *held)
{
	portprof_profile_label label;

	if (event == SIZE_MAX || !sample->samples[event] ||
	    !ppi_label_find(profile, sample, "event_pid", &label))
		return false;
	held->woken = (uint32_t)label.number;
	held->on = "";
	return true;
}

static size_t find_wakings(const portprof_profile *profile)
{
	static const char name[] = "sched:sched_waking";
	size_t count = portprof_profile_event_count(profile);

	for (size_t i = 0; i < count; i++)
		if (strncmp(portprof_profile_event_get(profile, i)->name, name,
		            strlen(name)) == 0)
			return i;
	return SIZE_MAX;
}

static bool find_held(const struct ppi_view *view, enum ppi_report_who who,
                      struct ppi_vector *all)
{
	const portprof_profile *profile = view->profile;
	size_t wakings = find_wakings(profile);
	const portprof_profile_sample *sample;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++) {
		struct held held = { .tid = sample->tid };

		if (!(who == PPI_WAKERS
		              ? is_waking(profile, sample, wakings, &held)
		              : is_held(profile, sample, &held)))
			continue;
		held.time_ns = portprof_profile_sample_time(profile, i);
		held.sample = sample;
		if (!ppi_vector_add(all, sizeof(held), &held, 1))
			return false;
	}
	if (all->count)
		qsort(all->data, all->count, sizeof(struct held), compare_held);
	return true;
}

/* The last one up to then: the wait had begun when somebody looked, and while it
 * lasts nobody looks again; or it was over. "thread NAME (TID)" is the holder. */
static struct held *held_then(const struct ppi_report_holders *holders,
                              const portprof_profile_sample *waiter,
                              const char *holder, const char *on,
                              uint64_t time_ns)
{
	const struct ppi_vector *all = &holders->held;
	bool is_waker = holders->who == PPI_WAKERS;
	const char *number = strrchr(holder, '(');
	const struct held wanted = {
		.pid = is_waker ? 0 : waiter->pid,
		.tid = number ? (uint32_t)strtoul(number + 1, NULL, 10) : 0,
		.woken = is_waker ? waiter->tid : 0,
		.on = is_waker ? "" : on,
	};
	struct held *held = all->data;
	size_t low = 0, high = all->count;

	if (!wanted.tid)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare_things(&held[middle], &wanted);

		if (order < 0 || (order == 0 && held[middle].time_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low && compare_things(&held[low - 1], &wanted) == 0
	               ? &held[low - 1] : NULL;
}

/* "FUNCTION in thread NAME"; without the function where nobody saw it. */
static const char *words_of(const struct ppi_view *view, struct held *held,
                            const char *holder)
{
	const char *function;
	size_t bytes;

	if (!held || !held->sample->depth ||
	    ppi_life_is_unseen(view->profile, held->sample->locations[0]))
		return holder;
	if (held->words)
		return held->words;
	function = function_of(view, held->sample);
	bytes = strlen(function) + strlen(" in ") + strlen(holder) + 1;
	held->words = malloc(bytes);
	if (held->words)
		snprintf(held->words, bytes, "%s in %s", function, holder);
	return held->words;
}

/* ---- who waited ---- */

/* Of locks it is worth knowing that nobody is known, and that nobody ended a wait. */
static bool is_wanted(const struct ppi_view *view, enum ppi_report_who who,
                      const portprof_profile_sample *sample,
                      const char *holder)
{
	return holder[0] || who == PPI_WAKERS ||
	       strcmp(text_of(view, sample, PPI_TAG_WAIT), "lock") == 0;
}

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

enum ppi_report_who
ppi_report_who_of(const struct ppi_report_options *options)
{
	return options->wants_holders ? PPI_HOLDERS :
	       options->wants_wakers  ? PPI_WAKERS : PPI_NOBODY;
}

bool ppi_report_find_holders(const struct ppi_view *view,
                             enum ppi_report_who who,
                             struct ppi_report_holders *holders)
{
	const portprof_profile_sample *sample;
	struct ppi_vector all = { 0 };
	struct ppi_owners owners;
	bool is_good = ppi_owners_open(&owners, view->profile, PPI_BY_COMM) &&
	               find_held(view, who, &holders->held);

	holders->who = who;
	for (size_t i = 0;
	     is_good && (sample = portprof_profile_sample_get(view->profile,
	                                                      i)) != NULL;
	     i++) {
		const char *holder = who == PPI_WAKERS
			? label_of(view->profile, sample, PPI_LABEL_WAKER)
			: text_of(view, sample, PPI_TAG_HOLDER);
		const char *on = text_of(view, sample, PPI_TAG_ON);
		const struct ppi_owner *owner;
		struct ppi_report_waiter one;
		struct held *held;

		if (!ppi_view_weight(view, i, sample) ||
		    !ppi_view_has(view, i) ||
		    !is_wanted(view, who, sample, holder))
			continue;
		owner = ppi_owners_find(&owners, sample);
		held = held_then(holders, sample, holder, on,
		                 portprof_profile_sample_time(view->profile, i));
		one = (struct ppi_report_waiter){
			.holder = words_of(view, held, holder),
			.function = function_of(view, sample),
			.thread = owner ? owner->name : "",
			.on = on,
			.ns = ppi_view_weight(view, i, sample),
			.waits = ppi_view_samples(view, i, sample),
		};
		if (one.holder != holder)
			one.held_at = held->sample;
		is_good = owner && one.holder && ppi_vector_add(&all, sizeof(one), &one, 1);
	}
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
	for (size_t i = 0; i < holders->held.count; i++)
		free(PPI_AT(&holders->held, struct held)[i].words);
	ppi_vector_free(&holders->held);
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
	        holders->who == PPI_WAKERS ? "woken by, and who waited"
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
		fputs(holders->who == PPI_WAKERS
		              ? " nobody waited\n"
		              : " nothing that was waited for has a holder\n",
		      out);
}
