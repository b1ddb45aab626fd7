/* SPDX-License-Identifier: MIT */
/*
 * The high-level interface: each thread has a set of events, from its first region on
 * to its end; at the end of the program all calls of regions are written as PAPI
 * writes them. Variables and the layout of the file: PAPI 7.0.0, observed and
 * src/high-level/papi_hl.c.
 */
#include "config.h"

#include "compat/papi/own.h"

#include "base/environment.h"
#include "base/json.h"
#include "base/thread.h"
#include "base/vector.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BASIC = 2, VALUES = BASIC + PPI_PAPI_EVENTS }; /* cycles, time, events */

/* One call of a region: what was read when it began, then what it counted. */
struct region {
	char *name;
	int parent; /* -1: none */
	bool is_over;
	long long values[VALUES];
	struct ppi_vector reads; /* of as many values */
};

struct thread {
	struct thread *next;
	pthread_mutex_t lock; /* of its regions */
	int64_t tid;
	int set, innermost;
	struct ppi_vector regions;
};

/* `lock` guards the list. What is known of the events does not change. */
static struct {
	pthread_once_t once;
	pthread_mutex_t lock;
	pthread_key_t key; /* the thread's struct thread */
	struct thread *threads;
	pid_t owner;
	int failure, count, codes[PPI_PAPI_EVENTS];
	char folder[PATH_MAX];
} all = { .once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- the file ---- */

static const char *event_name(int i, char room[PAPI_MIN_STR_LEN])
{
	return i == 0 ? "cycles" : i == 1 ? "real_time_nsec" :
	       ppi_papi_name_of(all.codes[i - BASIC], room);
}

/* PAPI writes all numbers as texts. */
static void put(struct ppi_json *json, const char *key, long long value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", value);
	ppi_json_text(json, key, text);
}

static void put_region(struct ppi_json *json, const struct region *region)
{
	const long long *reads = region->reads.data;
	char room[PAPI_MIN_STR_LEN], key[32];
	int width = BASIC + all.count, at;

	ppi_json_text(json, "name", region->name);
	put(json, "parent_region_id", region->parent);
	for (int i = 0; i < width; i++) {
		if (reads)
			ppi_json_object(json, event_name(i, room));
		put(json, reads ? "region_value" : event_name(i, room),
		    region->values[i]);
		for (at = i; at < (int)region->reads.count; at += width) {
			snprintf(key, sizeof(key), "read_%d", at / width + 1);
			put(json, key, reads[at]);
		}
		if (reads)
			ppi_json_close(json);
	}
}

static void put_thread(struct ppi_json *json, const struct thread *thread)
{
	const struct region *region = thread->regions.data;
	char key[32];

	ppi_json_object(json, "regions");
	for (size_t i = 0; i < thread->regions.count; i++, region++) {
		if (!region->is_over)
			continue;
		snprintf(key, sizeof(key), "%zu", i);
		ppi_json_object(json, key);
		put_region(json, region);
		ppi_json_close(json);
	}
	ppi_json_close(json);
}

static bool put_all(FILE *out)
{
	const PAPI_hw_info_t *machine = PAPI_get_hardware_info();
	char room[PAPI_MIN_STR_LEN], key[32];
	struct ppi_json json;
	int number = 0;

	ppi_json_begin(&json, out, false);
	ppi_json_text(&json, "papi_version", "7.0.0.0");
	ppi_json_text(&json, "cpu_info", machine ? machine->model_string : "");
	put(&json, "max_cpu_rate_mhz", machine ? machine->cpu_max_mhz : 0);
	put(&json, "min_cpu_rate_mhz", machine ? machine->cpu_min_mhz : 0);
	ppi_json_object(&json, "event_definitions");
	for (int i = 0; i < all.count; i++) {
		ppi_json_object(&json, event_name(BASIC + i, room));
		ppi_json_text(&json, "component", "perf_event");
		ppi_json_text(&json, "type", "delta");
		ppi_json_close(&json);
	}
	ppi_json_close(&json);
	ppi_json_object(&json, "threads");
	for (struct thread *t = all.threads; t; t = t->next) {
		snprintf(key, sizeof(key), "%d", number++);
		ppi_json_object(&json, key);
		pthread_mutex_lock(&t->lock);
		put_thread(&json, t);
		pthread_mutex_unlock(&t->lock);
		ppi_json_close(&json);
	}
	return ppi_json_end(&json);
}

static int rank(void)
{
	static const char *const variables[] = {
		"OMPI_COMM_WORLD_RANK", "ALPS_APP_PE", "PMI_RANK", "SLURM_PROCID",
	};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (ppi_environment(variables[i]))
			return atoi(ppi_environment(variables[i]));
	return (int)getpid() % 1000000;
}

static void write_at_exit(void)
{
	char path[PATH_MAX + 32];
	int number = rank();
	FILE *out;

	if (all.owner != getpid())
		return;
	pthread_mutex_lock(&all.lock);
	for (char *at = all.folder; (at = strchr(at + 1, '/')); *at = '/') {
		*at = '\0'; /* and those above */
		mkdir(all.folder, 0700);
	}
	mkdir(all.folder, 0700);
	do {
		snprintf(path, sizeof(path), "%s/rank_%06d.json", all.folder,
		         number++);
		out = fopen(path, "wxe");
	} while (!out && errno == EEXIST);
	if (!out || !put_all(out) || fclose(out))
		ppi_papi_say(path, strerror(errno));
	if (ppi_environment("PAPI_REPORT")) {
		printf("\n\nPAPI-HL Output:\n");
		put_all(stdout);
	}
	pthread_mutex_unlock(&all.lock);
}

/* An older folder of that name gets its time, as PAPI does; one of this second
 * is of another process of the same job. */
static void choose_folder(void)
{
	const char *above = ppi_environment("PAPI_OUTPUT_DIRECTORY");
	char here[PATH_MAX - 32], old[PATH_MAX + 32], when[32] = "";
	time_t now = time(NULL);
	struct tm local;
	struct stat folder;

	if (!above)
		above = getcwd(here, sizeof(here)) ? here : ".";
	snprintf(all.folder, sizeof(all.folder), "%s/papi_hl_output", above);
	if (stat(all.folder, &folder) != 0 || folder.st_mtime >= now ||
	    !localtime_r(&now, &local))
		return;
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &local);
	snprintf(old, sizeof(old), "%s-%s", all.folder, when);
	rename(all.folder, old);
}

/* ---- events ---- */

static int new_set(int *set)
{
	int result;

	*set = PAPI_NULL;
	result = PAPI_create_eventset(set);
	if (result == PAPI_OK && ppi_environment("PAPI_MULTIPLEX"))
		result = PAPI_set_multiplex(*set);
	return result;
}

static void end_thread(void *memory)
{
	struct thread *thread = memory;

	ppi_papi_drop(thread->set);
	thread->set = PAPI_NULL;
}

static void prepare(void)
{
	const char *wanted = ppi_environment("PAPI_EVENTS");
	char *list = strdup(wanted ? wanted : ""), *next = NULL;
	int set;

	if (PAPI_is_initialized() == PAPI_NOT_INITED)
		PAPI_library_init(PAPI_VER_CURRENT);
	all.failure = list ? new_set(&set) : PAPI_ENOMEM;
	if (!all.failure && pthread_key_create(&all.key, end_thread) != 0)
		all.failure = PAPI_ESYS;
	if (all.failure)
		return;
	for (char *name = strtok_r(list, ",", &next); name;
	     name = strtok_r(NULL, ",", &next))
		PAPI_add_named_event(set, name + strspn(name, " "));
	free(list);
	/* PAPI's one, or where there is no PMU what can be counted anywhere */
	if (!PAPI_num_events(set) &&
	    PAPI_add_named_event(set, "PAPI_TOT_CYC") != PAPI_OK &&
	    PAPI_add_named_event(set, "perf::TASK-CLOCK") != PAPI_OK)
		all.failure = PAPI_ENOEVNT;
	all.count = PPI_PAPI_EVENTS;
	PAPI_list_events(set, all.codes, &all.count);
	ppi_papi_drop(set);
	all.owner = getpid();
	choose_folder();
	if (!all.failure)
		atexit(write_at_exit);
}

/* ---- regions ---- */

static int start(struct thread *thread)
{
	int result = new_set(&thread->set);

	if (result == PAPI_OK)
		result = PAPI_add_events(thread->set, all.codes, all.count);
	return result == PAPI_OK ? PAPI_start(thread->set) : result;
}

/* The calling thread's; made, and counting, when it begins its first region. */
static int find_thread(struct thread **found)
{
	struct thread *thread, **at = &all.threads;

	pthread_once(&all.once, prepare);
	if (all.failure || all.owner != getpid())
		return ppi_papi_fail(all.failure ? all.failure : PAPI_ECLOST);
	*found = thread = pthread_getspecific(all.key);
	if (thread)
		return thread->set == PAPI_NULL ? start(thread) : PAPI_OK;
	*found = thread = calloc(1, sizeof(*thread));
	if (!thread)
		return ppi_papi_fail(PAPI_ENOMEM);
	pthread_mutex_init(&thread->lock, NULL);
	thread->tid = ppi_thread_id();
	thread->innermost = -1;
	pthread_setspecific(all.key, thread);
	pthread_mutex_lock(&all.lock);
	while (*at && (*at)->tid < thread->tid)
		at = &(*at)->next;
	thread->next = *at;
	*at = thread;
	pthread_mutex_unlock(&all.lock);
	return start(thread);
}

static int read_values(const struct thread *thread, long long *values)
{
	values[1] = PAPI_get_real_nsec();
	return PAPI_read_ts(thread->set, values + BASIC, values);
}

/* The innermost region that has begun. */
static struct region *innermost(const struct thread *thread)
{
	return PPI_AT(&thread->regions, struct region) + thread->innermost;
}

int PAPI_hl_region_begin(const char *name)
{
	struct region region = { 0 };
	struct thread *thread = NULL;
	bool is_added;
	int result = name ? find_thread(&thread) : ppi_papi_fail(PAPI_EINVAL);

	if (result != PAPI_OK)
		return result;
	region.parent = thread->innermost;
	region.name = strdup(name);
	pthread_mutex_lock(&thread->lock);
	is_added = region.name &&
	           ppi_vector_add(&thread->regions, sizeof(region), &region, 1);
	if (is_added)
		thread->innermost = (int)thread->regions.count - 1;
	pthread_mutex_unlock(&thread->lock);
	if (is_added)
		return read_values(thread, innermost(thread)->values);
	free(region.name);
	return ppi_papi_fail(PAPI_ENOMEM);
}

/* The calling thread's; NULL: it has begun no region. */
static struct thread *own_thread(void)
{
	return all.owner == getpid() ? pthread_getspecific(all.key) : NULL;
}

/* What the innermost region, which must be of that name, has counted. */
static int take_values(const char *name, bool is_end)
{
	long long values[VALUES];
	size_t count = (size_t)(BASIC + all.count);
	struct thread *thread = own_thread();
	int result = PAPI_EMISC;

	if (name && thread && thread->innermost >= 0)
		result = read_values(thread, values);
	if (result != PAPI_OK)
		return ppi_papi_fail(result);
	if (strcmp(innermost(thread)->name, name) != 0) {
		ppi_papi_say(name, "is not the innermost region");
		return ppi_papi_fail(PAPI_EINVAL);
	}
	for (size_t i = 0; i < count; i++)
		values[i] -= innermost(thread)->values[i];
	pthread_mutex_lock(&thread->lock);
	if (is_end) {
		memcpy(innermost(thread)->values, values, sizeof(*values) * count);
		innermost(thread)->is_over = true;
		thread->innermost = innermost(thread)->parent;
	} else if (!ppi_vector_add(&innermost(thread)->reads, sizeof(*values),
	                           values, count)) {
		result = ppi_papi_fail(PAPI_ENOMEM);
	}
	pthread_mutex_unlock(&thread->lock);
	return result;
}

int PAPI_hl_read(const char *name)
{
	return take_values(name, false);
}

int PAPI_hl_region_end(const char *name)
{
	return take_values(name, true);
}

int PAPI_hl_stop(void)
{
	struct thread *thread = own_thread();

	if (!thread || thread->set == PAPI_NULL)
		return ppi_papi_fail(PAPI_ENOEVNT);
	end_thread(thread);
	return PAPI_OK;
}
