/* SPDX-License-Identifier: MIT */
/* The events of a session that are open in the kernel, until they are closed, and
 * its probes in tracefs. */
#include "backends/perf/session/perf_session.h"

#include "backends/perf/kernel/perf_proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- those that are open ---- */

struct perf_source *ppi_perf_add_source(struct perf_state *state,
                                        const struct perf_source *source)
{
	size_t at = state->source_count;

	if (at == state->source_room) {
		size_t room = at ? at * 2 : 16;
		struct perf_source *more =
			realloc(state->sources, room * sizeof(*more));

		if (!more)
			return NULL;
		state->sources = more;
		state->source_room = room;
	}
	/* The kernel counts ids up, so the place is nearly always the end. */
	while (at > 0 && state->sources[at - 1].id > source->id)
		at--;
	memmove(&state->sources[at + 1], &state->sources[at],
	        (state->source_count - at) * sizeof(*source));
	state->sources[at] = *source;
	state->source_count++;
	return &state->sources[at];
}

/* ---- whether one is still ours ---- */

/*
 * A program may close all that it did not open itself (closefrom(3)): what it opens
 * later in the place of our descriptor is none of ours to switch, read or close.
 *
 * Asked before each switch, which costs 125 ns, 75 of them for making a call at all.
 * Another profiler's event may well have our number: a second copy of this library
 * moves its descriptors to the same. Of what is cheaper,
 * - to switch, and to see in a reading whose event it was (PERF_FORMAT_ID), is too
 *   late: no call tells whether that event was on before;
 * - marks of a descriptor (F_SETSIG, F_SETOWN) are not unique, and cost 75 ns;
 * - not to switch, and to subtract what is counted meanwhile, needs two readings,
 *   which take a pipe's bytes, and a stopped group would keep its place on the PMU.
 * Reading needs no question: ids are in the answer.
 */
int ppi_perf_ask_ours(const struct ppi_backend_session *bs,
                      const struct perf_source *source)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	uint64_t id;
	int error = kernel->control(kernel->self, source->fd,
	                            PERF_EVENT_IOC_ID, &id);

	if (error == -ENOTTY)
		return -EBADF;
	/* numbers of events are not given twice */
	return error == 0 && id != source->id ? -EBADF : error;
}

int ppi_perf_control(const struct ppi_backend_session *bs,
                     const struct perf_source *source, unsigned long request,
                     void *arg)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	int error = ppi_perf_ask_ours(bs, source);

	return error ? error
	             : kernel->control(kernel->self, source->fd, request, arg);
}

void ppi_perf_close_source(const struct ppi_backend_session *bs,
                           const struct perf_source *source)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	kernel->close_event(kernel->self, source->fd, source->id);
}

bool ppi_perf_look_closed(const struct ppi_backend_session *bs,
                          const struct perf_source *source)
{
	if (ppi_perf_ask_ours(bs, source) != -EBADF)
		return false;
	atomic_store(&perf_state_of(bs)->is_closed, true);
	return true;
}

portprof_status ppi_perf_count_failed(const struct ppi_backend_session *bs,
                                      portprof_status status)
{
	const char *why = NULL;

	if (atomic_load(&perf_state_of(bs)->is_closed))
		why = "the program closed the descriptors of the group";
	else if (status == PORTPROF_E_SYSTEM && errno == ECHILD)
		why = "threads began and ended all the while";
	return ppi_count_failed(bs, status, why);
}

/* ---- traced probes ---- */

/*
 * Probes that threads and processes inherit. The event of the PMU `uprobe` has
 * no copies: the kernel reads the path of its file anew for each, from the memory
 * of the creator of the thread, where it is not, and fork and pthread_create
 * failed there with EFAULT (kernel/trace/trace_event_perf.c, perf_uprobe_init);
 * and a copy that ends takes the probe out of its process (seen on 6.18). A
 * tracepoint of the same place has them, so we make one where we may: an entry in
 * tracefs (Documentation/trace/uprobetracer.rst), which is removed at close, or
 * later where forked children hold it still. One that a killed process left is
 * swept by the next that makes one.
 */

enum {
	PATH_ROOM = 256,
	LINE_ROOM = 4096,   /* kernel/trace/trace.c, WRITE_BUFSIZE */
	NAMES_ROOM = 4096,  /* of entries in tracefs: more are swept later */
	TRIES_MAX = 64,     /* for a name that nobody has */
	LEFT_MAX = 256      /* entries in use after close: more are swept later */
};

/* Process, its PID namespace, a counter: the kernel has at most 63 characters
 * (kernel/trace/trace_probe.h, MAX_EVENT_NAME_LEN). */
#define NAME_FORM "p%" PRId64 "_%" PRIu64 "_%u"

struct owner {
	int64_t pid;
	uint64_t space; /* 0: not known */
};

static struct owner owner_here(const struct perf_kernel *kernel)
{
	struct owner here = { .pid = kernel->get_pid(kernel->self) };

	if (kernel->get_inode(kernel->self, "/proc/self/ns/pid",
	                      &here.space) != 0)
		here.space = 0;
	return here;
}

/* Of a name of ours exactly: whose it is. */
static bool read_owner(const char *name, struct owner *out)
{
	char again[PERF_TRACED_NAME];
	unsigned number;

	if (sscanf(name, NAME_FORM, &out->pid, &out->space, &number) != 3)
		return false;
	snprintf(again, sizeof(again), NAME_FORM, out->pid, out->space,
	         number);
	return strcmp(again, name) == 0;
}

/* Appended: what opens this file to be cut short removes everybody's entries
 * (kernel/trace/trace_uprobe.c, probes_open). */
static int put_line(const struct perf_kernel *kernel, const char *folder,
                    const char *line)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), "%s/uprobe_events", folder);
	return kernel->append_file(kernel->self, path, line, strlen(line));
}

static int remove_entry(const struct perf_kernel *kernel, const char *folder,
                        const char *name)
{
	char line[PERF_TRACED_NAME + 32];

	snprintf(line, sizeof(line), "-:" PERF_TRACED_GROUP "/%s\n", name);
	return put_line(kernel, folder, line);
}

/* ---- traced probes: entries that were in use at close ---- */

/* The kernel refuses (EBUSY) as long as an event of it is open: a forked child has
 * the descriptors of its parent's sessions until it ends or executes a program. */
static struct {
	atomic_flag is_taken; /* in a forked child maybe for ever: no lock */
	const struct perf_kernel *kernel;
	const char *folder;
	int64_t pid; /* whose they are */
	char names[LEFT_MAX][PERF_TRACED_NAME];
	size_t count;
} left = { .is_taken = ATOMIC_FLAG_INIT };

static void remove_left(void)
{
	size_t kept = 0;

	if (left.count && left.kernel->get_pid(left.kernel->self) != left.pid)
		left.count = 0;
	for (size_t i = 0; i < left.count; i++)
		if (remove_entry(left.kernel, left.folder, left.names[i]) ==
		    -EBUSY)
			memmove(left.names[kept++], left.names[i],
			        PERF_TRACED_NAME);
	left.count = kept;
}

/* Whoever comes to probes next, or to the end of the process, tries again. */
static void remove_left_again(void)
{
	if (atomic_flag_test_and_set(&left.is_taken))
		return;
	remove_left();
	atomic_flag_clear(&left.is_taken);
}

/* What two threads leave at once waits for another process that sweeps. */
static void remove_later(const struct perf_kernel *kernel, const char *folder,
                         const char *name)
{
	static bool is_at_exit;

	if (atomic_flag_test_and_set(&left.is_taken))
		return;
	remove_left();
	left.kernel = kernel;
	left.folder = folder;
	left.pid = kernel->get_pid(kernel->self);
	if (left.count < LEFT_MAX)
		snprintf(left.names[left.count++], PERF_TRACED_NAME, "%s",
		         name);
	if (!is_at_exit)
		is_at_exit = atexit(remove_left_again) == 0;
	atomic_flag_clear(&left.is_taken);
}

/* What processes of this PID namespace left that have ended; whether others live
 * cannot be known. */
static void sweep(const struct perf_kernel *kernel, const char *folder,
                  const struct owner *here)
{
	char path[PATH_ROOM], names[NAMES_ROOM] = "";
	struct owner owner;
	size_t bytes;
	uint64_t ns;

	snprintf(path, sizeof(path), "%s/events/" PERF_TRACED_GROUP, folder);
	if (here->space == 0 ||
	    kernel->list_names(kernel->self, path, names, sizeof(names) - 1,
	                       &bytes) != 0)
		return;
	for (const char *at = names; *at; at += strlen(at) + 1)
		if (read_owner(at, &owner) && owner.space == here->space &&
		    owner.pid != here->pid &&
		    kernel->get_clock(kernel->self,
		                      perf_clock_of_process(owner.pid),
		                      &ns) == -EINVAL)
			remove_entry(kernel, folder, at);
}

/* ---- traced probes: one ---- */

/* What trace_parse_run_command and argv_split part a line by. */
static bool can_be_written(const char *path)
{
	return path[strcspn(path, " \t\n\v\f\r#")] == '\0';
}

static int64_t id_of(const struct perf_kernel *kernel, const char *folder,
                     const char *name)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), "%s/events/" PERF_TRACED_GROUP "/%s/id",
	         folder, name);
	return ppi_perf_proc_number(kernel, path, -1);
}

/* A second entry of one name would be one more place of the same event. A process
 * that executed this program may have left some of its number. */
static bool find_name(const struct perf_kernel *kernel, const char *folder,
                      const struct owner *here, char *name)
{
	static _Atomic unsigned last;

	for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
		snprintf(name, PERF_TRACED_NAME, NAME_FORM, here->pid,
		         here->space, atomic_fetch_add(&last, 1) + 1);
		if (id_of(kernel, folder, name) < 0)
			return true;
	}
	return false;
}

/* 0 or a negative errno. */
static int make_entry(const struct perf_kernel *kernel, const char *folder,
                      const struct owner *here, const struct ppi_event *event,
                      struct perf_traced *out)
{
	const char *path = event->request.name;
	const struct perf_own *own = perf_own(event);
	char line[LINE_ROOM];
	int length, error;

	if (!can_be_written(path))
		return -EILSEQ;
	if (!find_name(kernel, folder, here, out->name))
		return -EBUSY;
	/* a path is one by its slash: trace_uprobe_create */
	length = snprintf(line, sizeof(line), "%c:" PERF_TRACED_GROUP
	                  "/%s %s%s:0x%" PRIx64 "\n",
	                  own->is_return ? 'r' : 'p', out->name,
	                  strchr(path, '/') ? "" : "./", path,
	                  own->config[2]);
	if (length >= (int)sizeof(line))
		return -ENAMETOOLONG;
	error = put_line(kernel, folder, line);
	if (error)
		return error;
	out->id = id_of(kernel, folder, out->name);
	if (out->id > 0)
		return 0;
	remove_entry(kernel, folder, out->name);
	out->id = 0;
	return -EACCES;
}

/* ---- traced probes: those of a session ---- */

bool ppi_perf_is_lone_probe(const struct ppi_backend_session *bs, size_t event)
{
	const struct perf_state *state = perf_state_of(bs);

	return perf_own(&bs->plan->events[event])->has_path &&
	       !(state->traced && state->traced[event].id);
}

struct perf_session_kind ppi_perf_kind_of_event(
	const struct ppi_backend_session *bs, size_t event)
{
	struct perf_session_kind own = perf_state_of(bs)->kind;

	if (ppi_perf_is_lone_probe(bs, event))
		own.inherits = own.follows_children = false;
	return own;
}

void ppi_perf_attr_of_probe(const struct perf_state *state, size_t event,
                            struct perf_event_attr *attr)
{
	if (!state->traced || !state->traced[event].id)
		return;
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = (uint64_t)state->traced[event].id;
	attr->config1 = attr->config2 = 0;
}

static void say_why_not(struct ppi_backend_session *bs,
                        const struct ppi_event *event, int error)
{
	const char *text = event->request.text, *remedy;

	switch (error) {
	case ENOENT:
		remedy = "mount tracefs (mount -t tracefs tracefs "
		         "/sys/kernel/tracing)";
		break;
	case EACCES:
	case EPERM:
	case EROFS:
		remedy = "let this user write to /sys/kernel/tracing/"
		         "uprobe_events, as root may";
		break;
	case EILSEQ:
		remedy = "give a path without blanks and '#'";
		break;
	default:
		remedy = NULL;
		break;
	}
	ppi_note(bs, "%s: threads and processes that begin later are not "
	         "counted: the kernel hands on only probes made in tracefs, "
	         "and %s%s; or measure the whole system (-a)", text,
	         remedy ? "for that " : "refused this one: ",
	         remedy ? remedy : strerror(error));
}

static bool has_probe(const struct ppi_plan *plan)
{
	for (size_t i = 0; i < plan->event_count; i++)
		if (perf_own(&plan->events[i])->has_path)
			return true;
	return false;
}

/* Room and a place for entries; 0 or an errno. */
static int prepare_probes(struct ppi_backend_session *bs,
                          struct owner *here)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	int error = 0;

	state->traced = calloc(bs->plan->event_count, sizeof(*state->traced));
	if (!state->traced)
		return ENOMEM;
	state->tracefs = ppi_perf_tracepoint_folder(kernel, &error);
	if (!state->tracefs)
		return error;
	*here = owner_here(kernel);
	remove_left_again();
	sweep(kernel, state->tracefs, here);
	return 0;
}

void ppi_perf_trace_probes(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	struct owner here = { 0 };
	bool has_any = false;
	int unready;

	if (!state->kind.inherits || !has_probe(bs->plan))
		return;
	unready = prepare_probes(bs, &here);
	for (size_t i = 0; i < bs->plan->event_count; i++) {
		const struct ppi_event *event = &bs->plan->events[i];
		int error = unready;

		if (!perf_own(event)->has_path)
			continue;
		if (!error)
			error = -make_entry(kernel, state->tracefs, &here,
			                    event, &state->traced[i]);
		if (error)
			say_why_not(bs, event, error);
		has_any |= error == 0;
	}
	if (has_any && state->kind.follows_children &&
	    !(state->kind.features & PERF_HAS_INHERIT_READ))
		ppi_note(bs, "this kernel (before 6.12) may lose hits of probes "
		         "in processes that run at the same time: measure the "
		         "whole system (-a)");
}

void ppi_perf_untrace_probes(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	bool is_owner = kernel->get_pid(kernel->self) == bs->owner_pid;

	for (size_t i = 0; state->traced && i < bs->plan->event_count; i++)
		if (is_owner && state->traced[i].id &&
		    remove_entry(kernel, state->tracefs,
		                 state->traced[i].name) == -EBUSY)
			remove_later(kernel, state->tracefs,
			             state->traced[i].name);
	free(state->traced);
	state->traced = NULL;
}

/* ---- the end ---- */

void ppi_perf_release_session(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	for (size_t i = 0; i < state->source_count; i++)
		if (!state->sources[i].is_refused)
			ppi_perf_close_source(bs, &state->sources[i]);
	ppi_perf_untrace_probes(bs); /* none is in use any more */
	if (state->cgroup.is_open)
		kernel->close_event(kernel->self, state->cgroup.fd, 0);
	free(state->sources);
	free(state->cgroup.known);
	free(state->idle.began);
	free(state->cpus);
}
