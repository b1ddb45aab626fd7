/* SPDX-License-Identifier: MIT */
/*
 * Regions in code: begin, end, and a group for each thread that has some; reading
 * what they counted.
 */
#include "api/core/region.h"

#include "api/core/diag.h"
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
	struct ppi_region *made = calloc(
		1, sizeof(*made) + all->event_count * sizeof(made->totals[0]));

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
	portprof_status status;

	if (!all)
		return PORTPROF_OK;
	status = enter(all, name, "begin region", &thread);
	if (status)
		return status;
	region = find_region(all, thread, name);
	frame = region ? new_frame(all, thread) : NULL;
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
	struct ppi_region *region = frame->region;

	for (size_t i = 0; frame->is_outermost && i < all->event_count; i++)
		add_count(&region->totals[i], &frame->begun[i], &ended[i]);
	region->calls++;
	region->depth--;
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

struct row {
	portprof_region_info info;
	portprof_count *counts;
};

static void add_thread(const struct portprof_regions *all,
                       struct ppi_region_thread *thread, struct row *rows)
{
	pthread_mutex_lock(&thread->lock);
	for (const struct ppi_region *at = thread->regions; at;
	     at = at->hh.next) {
		struct row *row = &rows[at->name->number];

		if (at->calls == 0)
			continue;
		row->info.calls += at->calls;
		row->info.threads++;
		for (size_t i = 0; i < all->event_count; i++)
			merge_count(&row->counts[i], &at->totals[i]);
	}
	pthread_mutex_unlock(&thread->lock);
}

static int hand_out(const struct portprof_regions *all, struct row *rows,
                    size_t count, int64_t tid, portprof_region_fn take,
                    void *context)
{
	int answer = 0;

	for (size_t i = 0; i < count && answer == 0; i++) {
		rows[i].info.tid = tid;
		rows[i].info.counts = rows[i].counts;
		rows[i].info.count = all->event_count;
		if (rows[i].info.calls > 0)
			answer = take(&rows[i].info, context);
	}
	return answer;
}

static void clear_rows(const struct portprof_regions *all, struct row *rows,
                       portprof_count *counts)
{
	const struct ppi_region_name *name = all->names; /* by number */

	memset(counts, 0, (all->name_count * all->event_count + 1) *
	                          sizeof(*counts));
	for (size_t i = 0; name; i++, name = name->hh.next)
		rows[i] = (struct row){
			.info = { .size = sizeof(rows[i].info),
			          .name = name->text },
			.counts = counts + i * all->event_count,
		};
}

static void read_all(struct portprof_regions *all, int by_thread, struct row *rows,
                     portprof_count *counts, portprof_region_fn take,
                     void *context)
{
	int answer = 0;

	clear_rows(all, rows, counts);
	for (struct ppi_region_thread *at = all->threads; at && answer == 0;
	     at = at->next) {
		add_thread(all, at, rows);
		if (!by_thread)
			continue;
		answer = hand_out(all, rows, all->name_count, at->tid, take,
		                  context);
		clear_rows(all, rows, counts);
	}
	if (!by_thread)
		hand_out(all, rows, all->name_count, 0, take, context);
}

portprof_status portprof_regions_read(portprof_regions *regions, int by_thread,
                                      portprof_region_fn take, void *context)
{
	struct portprof_regions *all = regions ? regions : ppi_regions_now();
	portprof_status status = PORTPROF_OK;
	portprof_count *counts;
	struct row *rows;

	if (!take)
		return ppi_refuse_null("portprof_regions_read", "take");
	if (!all)
		return ppi_regions_refuse_closed("read regions");
	pthread_mutex_lock(&all->lock);
	rows = calloc(all->name_count + 1, sizeof(*rows));
	counts = calloc(all->name_count * all->event_count + 1,
	                sizeof(*counts));
	if (rows && counts)
		read_all(all, by_thread, rows, counts, take, context);
	else
		status = ppi_refuse(PORTPROF_E_NOMEM, "read regions",
		                    "out of memory");
	free(rows);
	free(counts);
	pthread_mutex_unlock(&all->lock);
	return status;
}
