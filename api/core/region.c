/* SPDX-License-Identifier: MIT */
/*
 * Regions in code: begin, end, and a group for each thread that has some; reading
 * what they counted.
 */
#include "api/core/region.h"

#include "api/common/diag.h"
#include "api/core/label.h"
#include "base/arithmetic.h"
#include "base/thread.h"

#include <stdlib.h>
#include <string.h>

/* ---- sums ---- */

/* The whole is scaled, not each part: parts that never ran have their share of
 * the time then. */
static void judge(portprof_count *total, uint64_t worst)
{
	total->status = worst;
	total->scaled = total->raw;
	if (worst >= PORTPROF_COUNT_ERROR ||
	    total->running_ns == total->enabled_ns) {
		if (worst < PORTPROF_COUNT_ERROR)
			total->status = PORTPROF_COUNT_OK;
		return;
	}
	if (total->running_ns == 0) {
		total->status = PORTPROF_COUNT_NEVER_RAN;
		total->scaled = 0;
		return;
	}
	total->status = PORTPROF_COUNT_SCALED;
	total->scaled = ppi_scale(total->raw, total->enabled_ns,
	                          total->running_ns);
}

/* Add what was counted from `begun` to `ended` to a total. */
static void add_count(portprof_count *total, const portprof_count *begun,
                      const portprof_count *ended)
{
	uint64_t worst = ended->status > total->status ? ended->status
	                                               : total->status;

	if (ended->status < PORTPROF_COUNT_ERROR) {
		total->raw += ended->raw - begun->raw;
		total->enabled_ns += ended->enabled_ns - begun->enabled_ns;
		total->running_ns += ended->running_ns - begun->running_ns;
	}
	judge(total, worst);
}

/* Add one total to another; say what the sum is worth. */
static void merge_count(portprof_count *sum, const portprof_count *total)
{
	static const portprof_count nothing;

	add_count(sum, &nothing, total);
}

/* ---- the end of a thread ---- */

/* The calling thread's in each set, and of which opening: it may be of one that
 * was closed meanwhile. */
static _Thread_local struct {
	struct ppi_region_thread *thread;
	uint64_t generation;
} mine[PORTPROF_REGION_SETS_MAX];

/* Ends a thread's groups with the thread. */
static pthread_key_t at_exit;
static pthread_once_t at_exit_once = PTHREAD_ONCE_INIT;

static void end_thread(void *unused)
{
	(void)unused;
	for (unsigned slot = 0; slot < PORTPROF_REGION_SETS_MAX; slot++) {
		struct ppi_region_thread *thread = mine[slot].thread;
		portprof_group *group = NULL;

		if (!thread)
			continue;
		if (ppi_regions_hold(slot, mine[slot].generation)) {
			pthread_mutex_lock(&thread->lock);
			group = thread->group;
			thread->group = NULL;
			pthread_mutex_unlock(&thread->lock);
		}
		ppi_regions_release();
		portprof_group_close(group);
		mine[slot].thread = NULL;
	}
}

static void make_key(void)
{
	pthread_key_create(&at_exit, end_thread);
}

/* ---- names ---- */

static struct ppi_region_name *new_name(struct portprof_regions *all,
                                        const char *text)
{
	size_t length = strlen(text);
	struct ppi_region_name *name = calloc(1, sizeof(*name) + length + 1);

	if (!name)
		return NULL;
	memcpy(name->text, text, length + 1);
	name->number = all->name_count;
	HASH_ADD_KEYPTR(hh, all->names, name->text, length, name);
	if (!name->hh.tbl) {
		free(name);
		return NULL;
	}
	all->name_count++;
	return name;
}

static const struct ppi_region_name *intern(struct portprof_regions *all,
                                            const char *text)
{
	struct ppi_region_name *name;

	pthread_mutex_lock(&all->lock);
	HASH_FIND_STR(all->names, text, name);
	if (!name)
		name = new_name(all, text);
	pthread_mutex_unlock(&all->lock);
	return name;
}

static struct ppi_region *new_region(struct portprof_regions *all,
                                     struct ppi_region_thread *thread,
                                     const char *text)
{
	struct ppi_region *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->name = intern(all, text);
	if (made->name) {
		/* who reads goes through them under the lock */
		pthread_mutex_lock(&thread->lock);
		HASH_ADD_KEYPTR(hh, thread->regions, made->name->text,
		                strlen(text), made);
		pthread_mutex_unlock(&thread->lock);
	}
	if (made->hh.tbl)
		return made;
	free(made);
	return NULL;
}

/* In the thread itself, which alone adds to its regions. */
static struct ppi_region *find_region(struct portprof_regions *all,
                                      struct ppi_region_thread *thread,
                                      const char *text)
{
	struct ppi_region *region;

	HASH_FIND_STR(thread->regions, text, region);
	return region ? region : new_region(all, thread, text);
}

static struct ppi_region_part *
new_part(const struct portprof_regions *all, struct ppi_region_thread *thread,
         struct ppi_region *region, const portprof_label_set *labels)
{
	struct ppi_region_part *made = calloc(
		1, sizeof(*made) + all->event_count * sizeof(made->totals[0]));

	if (!made)
		return NULL;
	made->labels = labels;
	pthread_mutex_lock(&thread->lock);
	HASH_ADD_PTR(region->parts, labels, made);
	pthread_mutex_unlock(&thread->lock);
	if (made->hh.tbl)
		return made;
	free(made);
	return NULL;
}

/* The region's of the set that the thread is in, which is mostly the same. */
static struct ppi_region_part *find_part(const struct portprof_regions *all,
                                         struct ppi_region_thread *thread,
                                         struct ppi_region *region)
{
	const portprof_label_set *labels =
		ppi_label_plain(portprof_label_current());
	struct ppi_region_part *part = region->last;

	if (part && part->labels == labels)
		return part;
	HASH_FIND_PTR(region->parts, &labels, part);
	if (!part)
		part = new_part(all, thread, region, labels);
	if (part)
		region->last = part;
	return part;
}

/* ---- threads ---- */

static void open_group(struct portprof_regions *all,
                       struct ppi_region_thread *thread)
{
	portprof_config *config = ppi_config_copy(all->config);

	thread->status = PORTPROF_E_NOMEM;
	if (config)
		thread->status = portprof_config_set_target(
			config, PORTPROF_TARGET_THREAD, 0);
	if (thread->status == PORTPROF_OK)
		thread->status = portprof_group_open_config(config,
		                                            &thread->group);
	if (thread->status)
		thread->why = *portprof_last_diag();
	portprof_config_free(config);
}

struct ppi_region_thread *ppi_region_thread_add(struct portprof_regions *all,
                                                portprof_group *group)
{
	struct ppi_region_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	pthread_once(&at_exit_once, make_key);
	pthread_mutex_init(&thread->lock, NULL);
	thread->tid = ppi_thread_id();
	thread->group = group;
	if (!group)
		open_group(all, thread);
	mine[all->slot].thread = thread;
	mine[all->slot].generation = all->generation;
	pthread_setspecific(at_exit, thread);
	pthread_mutex_lock(&all->lock);
	thread->next = all->threads;
	all->threads = thread;
	pthread_mutex_unlock(&all->lock);
	return thread;
}

/* The calling thread's; NULL before its first region. */
static struct ppi_region_thread *
this_thread(const struct portprof_regions *all)
{
	return mine[all->slot].generation == all->generation
	       ? mine[all->slot].thread : NULL;
}

static portprof_status out_of_memory(const char *step)
{
	return ppi_refuse(PORTPROF_E_NOMEM, step, "out of memory");
}

static portprof_status refuse_forked(const char *step)
{
	return ppi_refuse(PORTPROF_E_FORKED, step, "regions were opened by the "
	                  "parent process: close them here and open others");
}

/* The calling thread's in a set that is open. */
static portprof_status enter(struct portprof_regions *all, const char *name,
                             const char *step,
                             struct ppi_region_thread **thread)
{
	if (!name || !name[0])
		return ppi_refuse(PORTPROF_E_INVALID, step,
		                  "a region needs a name");
	if (ppi_is_forked(&all->guard))
		return refuse_forked(step);
	*thread = this_thread(all);
	if (!*thread)
		*thread = ppi_region_thread_add(all, NULL);
	if (!*thread)
		return out_of_memory(step);
	if ((*thread)->status)
		return ppi_refuse((*thread)->status, step, "%s",
		                  (*thread)->why.words);
	return PORTPROF_OK;
}

/* ---- begin and end ---- */

static struct ppi_region_frame *new_frame(const struct portprof_regions *all,
                                          struct ppi_region_thread *thread)
{
	struct ppi_region_frame *more;

	if (thread->depth < thread->room)
		return &thread->frames[thread->depth];
	more = realloc(thread->frames, (thread->room + 1) * sizeof(*more));
	if (!more)
		return NULL;
	thread->frames = more;
	more[thread->room].begun = calloc(all->event_count,
	                                  sizeof(portprof_count));
	if (!more[thread->room].begun)
		return NULL;
	return &thread->frames[thread->room++];
}

portprof_status portprof_region_begin(portprof_regions *regions,
                                      const char *name)
{
	struct portprof_regions *all = regions ? regions : ppi_regions_wanted();
	struct ppi_region_thread *thread;
	struct ppi_region_frame *frame;
	struct ppi_region *region;
	struct ppi_region_part *part;
	portprof_status status;

	if (!all)
		return PORTPROF_OK;
	status = enter(all, name, "begin region", &thread);
	if (status)
		return status;
	region = find_region(all, thread, name);
	part = region ? find_part(all, thread, region) : NULL;
	frame = part ? new_frame(all, thread) : NULL;
	if (!frame)
		return out_of_memory("begin region");
	frame->is_outermost = region->depth == 0;
	/* last, so that what is above is not counted */
	if (frame->is_outermost)
		status = portprof_group_read(thread->group, frame->begun,
		                             all->event_count);
	if (status)
		return status;
	frame->region = region;
	frame->part = part;
	region->depth++;
	thread->depth++;
	return PORTPROF_OK;
}

static portprof_status refuse_end(const struct ppi_region_thread *thread,
                                  const char *name)
{
	if (thread->depth == 0)
		return ppi_refuse(PORTPROF_E_INVALID, "end region",
		                  "region '%s' ends, but none is open in this "
		                  "thread: begin it first, in the same thread",
		                  name);
	return ppi_refuse(PORTPROF_E_INVALID, "end region",
	                  "region '%s' ends, but the innermost open one of "
	                  "this thread is '%s': end that first", name,
	                  thread->frames[thread->depth - 1].region->name->text);
}

static void pop(const struct portprof_regions *all,
                const struct ppi_region_frame *frame,
                const portprof_count *ended)
{
	struct ppi_region_part *part = frame->part;

	for (size_t i = 0; frame->is_outermost && i < all->event_count; i++)
		add_count(&part->totals[i], &frame->begun[i], &ended[i]);
	part->calls++;
	frame->region->depth--;
}

/* End what the calling thread has open beyond `depth`, at one instant. */
static portprof_status end_to(const struct portprof_regions *all,
                              struct ppi_region_thread *thread, size_t depth)
{
	portprof_count ended[PORTPROF_REGION_EVENTS_MAX];
	portprof_status status = PORTPROF_OK;
	bool is_read = false;

	for (size_t i = depth; i < thread->depth; i++)
		is_read |= thread->frames[i].is_outermost;
	if (is_read)
		status = portprof_group_read(thread->group, ended,
		                             all->event_count);
	if (status)
		return status;
	pthread_mutex_lock(&thread->lock);
	while (thread->depth > depth)
		pop(all, &thread->frames[--thread->depth], ended);
	pthread_mutex_unlock(&thread->lock);
	return PORTPROF_OK;
}

portprof_status portprof_region_end(portprof_regions *regions, const char *name)
{
	struct portprof_regions *all = regions ? regions : ppi_regions_now();
	struct ppi_region_thread *thread;
	const struct ppi_region_frame *frame;
	portprof_status status;

	if (!all)
		return PORTPROF_OK;
	status = enter(all, name, "end region", &thread);
	if (status)
		return status;
	frame = thread->depth ? &thread->frames[thread->depth - 1] : NULL;
	if (!frame || strcmp(frame->region->name->text, name) != 0)
		return refuse_end(thread, name);
	return end_to(all, thread, thread->depth - 1);
}

/* ---- depths ---- */

size_t portprof_region_depth(const portprof_regions *regions)
{
	const struct portprof_regions *all = regions ? regions
	                                             : ppi_regions_now();
	const struct ppi_region_thread *thread =
		all && !ppi_is_forked(&all->guard) ? this_thread(all) : NULL;

	return thread ? thread->depth : 0;
}

portprof_status portprof_region_end_to(portprof_regions *regions, size_t depth)
{
	struct portprof_regions *all = regions ? regions : ppi_regions_now();
	struct ppi_region_thread *thread;
	size_t open;

	if (!all)
		return PORTPROF_OK;
	if (ppi_is_forked(&all->guard))
		return refuse_forked("end regions");
	thread = this_thread(all);
	open = thread ? thread->depth : 0;
	if (depth > open)
		return ppi_refuse(PORTPROF_E_INVALID, "end regions",
		                  "%zu regions were to stay open in this "
		                  "thread, but %zu are open", depth, open);
	return thread ? end_to(all, thread, depth) : PORTPROF_OK;
}

void ppi_region_end_all(void)
{
	(void)portprof_region_end_to(NULL, 0);
}

/* ---- reading inside ---- */

/* Where the counters stood when a region began; NULL: it is not open. */
static const portprof_count *begin_of(const struct ppi_region_thread *thread,
                                      const char *name)
{
	for (size_t i = 0; i < thread->depth; i++)
		if (thread->frames[i].is_outermost &&
		    strcmp(thread->frames[i].region->name->text, name) == 0)
			return thread->frames[i].begun;
	return NULL;
}

portprof_status portprof_region_read(portprof_regions *regions,
                                     const char *name, portprof_count *counts,
                                     size_t count)
{
	struct portprof_regions *all = regions ? regions : ppi_regions_now();
	portprof_count now[PORTPROF_REGION_EVENTS_MAX];
	struct ppi_region_thread *thread;
	const portprof_count *begun;
	portprof_status status;

	if (!counts)
		return ppi_refuse_null("portprof_region_read", "counts");
	if (!all)
		return ppi_regions_refuse_closed("read region");
	status = enter(all, name, "read region", &thread);
	if (status)
		return status;
	begun = begin_of(thread, name);
	if (!begun)
		return ppi_refuse(PORTPROF_E_INVALID, "read region",
		                  "region '%s' is not open in this thread: "
		                  "begin it first, in the same thread", name);
	status = portprof_group_read(thread->group, now, count);
	for (size_t i = 0; status == PORTPROF_OK && i < count; i++) {
		counts[i] = (portprof_count){ .taken_ns = now[i].taken_ns };
		add_count(&counts[i], &begun[i], &now[i]);
	}
	return status;
}

/* ---- reading all ---- */

/* What is kept apart; NULL and 0 where it is added up. */
struct row_key {
	size_t thread; /* in the order of reading, from 1 */
	const struct ppi_region_name *name;
	const portprof_label_set *labels;
};

struct row {
	UT_hash_handle hh;
	struct row_key key;
	size_t last_thread; /* that was added */
	portprof_region_info info;
	portprof_count counts[];
};

static struct row *find_row(const struct portprof_regions *all,
                            struct row **rows, const struct row_key *key)
{
	struct row *row;

	HASH_FIND(hh, *rows, key, sizeof(*key), row);
	if (row)
		return row;
	row = calloc(1, sizeof(*row) +
	                        all->event_count * sizeof(row->counts[0]));
	if (!row)
		return NULL;
	row->key = *key;
	row->info = (portprof_region_info){ .size = sizeof(row->info),
		                            .name = key->name->text,
		                            .counts = row->counts,
		                            .count = all->event_count };
	HASH_ADD(hh, *rows, key, sizeof(*key), row);
	if (row->hh.tbl)
		return row;
	free(row);
	return NULL;
}

static bool add_part(const struct portprof_regions *all, struct row **rows,
                     const struct row_key *key, size_t thread, int64_t tid,
                     const struct ppi_region_part *part)
{
	struct row *row = find_row(all, rows, key);

	if (!row)
		return false;
	row->info.calls += part->calls;
	row->info.threads += row->last_thread != thread;
	row->info.tid = key->thread ? tid : 0;
	row->last_thread = thread;
	for (size_t i = 0; i < all->event_count; i++)
		merge_count(&row->counts[i], &part->totals[i]);
	return true;
}

/* The number-th thread. */
static bool add_thread(const struct portprof_regions *all,
                       struct ppi_region_thread *thread, size_t number, int by,
                       struct row **rows)
{
	bool is_good = true;

	pthread_mutex_lock(&thread->lock);
	for (const struct ppi_region *at = thread->regions; at && is_good;
	     at = at->hh.next)
		for (const struct ppi_region_part *part = at->parts;
		     part && is_good; part = part->hh.next) {
			struct row_key key;

			/* what is between its members is compared, too */
			memset(&key, 0, sizeof(key));
			key.name = at->name;
			if (by & PORTPROF_REGIONS_BY_THREAD)
				key.thread = number;
			if (by & PORTPROF_REGIONS_BY_LABELS)
				key.labels = part->labels;
			if (part->calls)
				is_good = add_part(all, rows, &key, number,
				                   thread->tid, part);
		}
	pthread_mutex_unlock(&thread->lock);
	return is_good;
}

static int in_order(const struct row *left, const struct row *right)
{
	const struct row_key *a = &left->key, *b = &right->key;
	uint32_t of_a = ppi_label_number(a->labels);
	uint32_t of_b = ppi_label_number(b->labels);

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->name != b->name)
		return a->name->number < b->name->number ? -1 : 1;
	return of_a < of_b ? -1 : of_a > of_b;
}

static void hand_out(struct row *rows, portprof_region_fn take, void *context)
{
	portprof_label labels[PORTPROF_LABELS_MAX];
	int answer = 0;

	for (struct row *row = rows; row && answer == 0; row = row->hh.next) {
		row->info.label_count = ppi_label_list(row->key.labels, labels);
		row->info.labels = labels;
		answer = take(&row->info, context);
	}
}

static void free_rows(struct row *rows)
{
	struct row *row, *next;

	HASH_ITER(hh, rows, row, next) {
		HASH_DELETE(hh, rows, row);
		free(row);
	}
}

portprof_status portprof_regions_read(portprof_regions *regions, int by,
                                      portprof_region_fn take, void *context)
{
	struct portprof_regions *all = regions ? regions : ppi_regions_now();
	struct row *rows = NULL;
	bool is_good = true;
	size_t number = 0;

	if (!take)
		return ppi_refuse_null("portprof_regions_read", "take");
	if (by & ~(PORTPROF_REGIONS_BY_THREAD | PORTPROF_REGIONS_BY_LABELS))
		return ppi_refuse(PORTPROF_E_INVALID, "read regions",
		                  "regions can be read by thread and by labels, "
		                  "and by nothing else: %d", by);
	if (!all)
		return ppi_regions_refuse_closed("read regions");
	pthread_mutex_lock(&all->lock);
	for (struct ppi_region_thread *at = all->threads; at && is_good;
	     at = at->next)
		is_good = add_thread(all, at, ++number, by, &rows);
	if (is_good && rows) {
		HASH_SORT(rows, in_order);
		hand_out(rows, take, context);
	}
	free_rows(rows);
	pthread_mutex_unlock(&all->lock);
	return is_good ? PORTPROF_OK
	               : ppi_refuse(PORTPROF_E_NOMEM, "read regions",
	                            "out of memory");
}
