/* SPDX-License-Identifier: MIT */
/* Regions in code: begin, end, and a group for each thread that has some. */
#include "api/internal/region.h"

#include "api/internal/diag.h"
#include "port/thread.h"

#include <stdlib.h>
#include <string.h>

/* The calling thread's, and of which opening: it may be of regions that were
 * closed meanwhile. */
static _Thread_local struct {
	struct ppi_region_thread *thread;
	uint64_t generation;
} mine;

/* Ends a thread's group with the thread. */
static pthread_key_t at_exit;
static pthread_once_t at_exit_once = PTHREAD_ONCE_INIT;

static void end_thread(void *unused)
{
	const struct ppi_regions *all = ppi_regions_now();
	struct ppi_region_thread *thread = mine.thread;
	portprof_group *group;

	(void)unused;
	if (!all || mine.generation != all->generation || !thread)
		return;
	pthread_mutex_lock(&thread->lock);
	group = thread->group;
	thread->group = NULL;
	pthread_mutex_unlock(&thread->lock);
	portprof_group_close(group);
	mine.thread = NULL;
}

static void make_key(void)
{
	pthread_key_create(&at_exit, end_thread);
}

/* ---- names ---- */

static struct ppi_region_name *new_name(struct ppi_regions *all,
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

static const struct ppi_region_name *intern(struct ppi_regions *all,
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

static struct ppi_region *new_region(struct ppi_regions *all,
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
static struct ppi_region *find_region(struct ppi_regions *all,
                                      struct ppi_region_thread *thread,
                                      const char *text)
{
	struct ppi_region *region;

	HASH_FIND_STR(thread->regions, text, region);
	return region ? region : new_region(all, thread, text);
}

/* ---- threads ---- */

static void open_group(struct ppi_regions *all,
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

struct ppi_region_thread *ppi_region_thread_add(struct ppi_regions *all,
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
	mine.thread = thread;
	mine.generation = all->generation;
	pthread_setspecific(at_exit, thread);
	pthread_mutex_lock(&all->lock);
	thread->next = all->threads;
	all->threads = thread;
	pthread_mutex_unlock(&all->lock);
	return thread;
}

/* The calling thread's; NULL when out of memory. */
static struct ppi_region_thread *this_thread(struct ppi_regions *all)
{
	return mine.thread && mine.generation == all->generation
	       ? mine.thread : ppi_region_thread_add(all, NULL);
}

static portprof_status out_of_memory(const char *step)
{
	return ppi_refuse(PORTPROF_E_NOMEM, step, "out of memory");
}

/* What both need: *thread is NULL when there is nothing to do. */
static portprof_status enter(const char *name, const char *step,
                             struct ppi_region_thread **thread)
{
	struct ppi_regions *all = ppi_regions_now();

	*thread = NULL;
	if (!all)
		return PORTPROF_OK;
	if (!name || !name[0])
		return ppi_refuse(PORTPROF_E_INVALID, step,
		                  "a region needs a name");
	if (ppi_is_forked(&all->guard))
		return ppi_refuse(PORTPROF_E_FORKED, step, "regions were "
		                  "opened by the parent process: close them "
		                  "here and open others");
	*thread = this_thread(all);
	if (!*thread)
		return out_of_memory(step);
	if ((*thread)->status)
		return ppi_refuse((*thread)->status, step, "%s",
		                  (*thread)->why.words);
	return PORTPROF_OK;
}

/* ---- begin and end ---- */

static struct ppi_region_frame *new_frame(const struct ppi_regions *all,
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

portprof_status portprof_region_begin(const char *name)
{
	struct ppi_regions *all = ppi_regions_wanted();
	struct ppi_region_thread *thread;
	struct ppi_region_frame *frame;
	struct ppi_region *region;
	portprof_status status = enter(name, "begin region", &thread);

	if (status || !thread)
		return status;
	region = find_region(all, thread, name);
	frame = region ? new_frame(all, thread) : NULL;
	if (!frame)
		return out_of_memory("begin region");
	/* last, so that what is above is not counted */
	if (region->depth == 0)
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

portprof_status portprof_region_end(const char *name)
{
	portprof_count ended[PORTPROF_REGION_EVENTS_MAX];
	struct ppi_regions *all = ppi_regions_now();
	struct ppi_region_thread *thread;
	const struct ppi_region_frame *frame;
	struct ppi_region *region;
	portprof_status status = enter(name, "end region", &thread);

	if (status || !thread)
		return status;
	frame = thread->depth ? &thread->frames[thread->depth - 1] : NULL;
	if (!frame || strcmp(frame->region->name->text, name) != 0)
		return refuse_end(thread, name);
	region = frame->region;
	if (region->depth == 1)
		status = portprof_group_read(thread->group, ended,
		                             all->event_count);
	if (status)
		return status;
	pthread_mutex_lock(&thread->lock);
	for (size_t i = 0; region->depth == 1 && i < all->event_count; i++)
		ppi_region_add(&region->totals[i], &frame->begun[i], &ended[i]);
	region->calls++;
	pthread_mutex_unlock(&thread->lock);
	region->depth--;
	thread->depth--;
	return PORTPROF_OK;
}

void ppi_region_end_all(void)
{
	const struct ppi_regions *all = ppi_regions_now();
	const struct ppi_region_thread *thread = mine.thread;

	if (!all || !thread || mine.generation != all->generation)
		return;
	while (thread->depth > 0)
		if (portprof_region_end(thread->frames[thread->depth - 1]
		                                .region->name->text))
			return;
}
