/* SPDX-License-Identifier: MIT */
/* One session of the perf backend: what its files share. */
#ifndef PERF_STATE_H
#define PERF_STATE_H

#include "backends/backend.h"
#include "backends/perf/events/perf_attr.h"
#include "backends/perf/perf_kernel.h"
#include "backends/perf/records/perf_beat.h"
#include "backends/perf/records/perf_decode.h"
#include "backends/perf/records/perf_raw.h"
#include "backends/perf/records/perf_ring.h"
#include "backends/perf/records/perf_weight.h"

/* Events of one group, and words that reading its descriptor can give: with
 * ids and losses. Counters of one session, in any number of groups. */
enum {
	PERF_EVENTS_MAX = 64,
	PERF_READ_ROOM = 3 + 3 * PERF_EVENTS_MAX,
	PERF_COUNTERS_MAX = 1024
};

/* Where samples go. */
enum perf_layout {
	PERF_CPU_RINGS,    /* one ring a CPU; the kernel covers new threads */
	PERF_THREAD_RINGS, /* one ring a thread; we look for new threads */
	PERF_SYSTEM_RINGS, /* one ring a CPU; each event is the CPU's own */
	PERF_NO_RINGS      /* counting */
};

/* In place of a thread's: the event is a CPU's. */
enum { PERF_ANYBODY = -1 };

/* In place of an event's number: only tells of mappings and threads. */
#define PERF_CARRIER UINT32_MAX

/* One open kernel event. */
struct perf_source {
	int fd;
	uint32_t event;
	uint32_t ring;   /* index; unused when counting */
	int64_t tid;     /* the thread it was opened for */
	uint64_t id;     /* the kernel's; its copies in children have it too */
	int32_t leader;  /* counting: descriptor read for it; -1 = its own */
	uint8_t core;    /* of which core type, if there are several */
	bool is_more;    /* ... and not the first of its event and thread */
	bool is_tail;    /* sampling: a CPU, for what threads' events miss */
	bool is_member;  /* sampling: its group's leader switches it */
	bool is_refused; /* counting with allow_refused */
	bool is_large;   /* sampling: with the whole copy of the stack, off until
	                  * is_grown; perf_grow.c */
	bool rdpmc_unreliable; /* what user_page leads to is not the count */
	void *user_page; /* counting: the kernel's page of it, or NULL */
};

enum { PERF_PORT_FREE = -1 };

/* Words of a payload at most: a chain, and what a record holds beside. */
enum { PERF_PAYLOAD_WORDS = PPI_WORDS_MIN + (1 << 13) };

/* So many branches of a sample are kept; no PMU tells more. */
enum { PERF_BRANCHES_MAX = 64 };

struct perf_port {
	struct perf_ring ring;
	int fd;          /* of the event that owns the ring; -1 = free place */
	bool owns_fd;    /* no source: an event for the ring alone */
	bool is_side;    /* of carriers alone: no sample is in it */
	bool is_ended;   /* its thread is gone: empty it, then close */
	bool is_exit_seen; /* ... and the kernel's record said so */
	uint32_t cpu;
	int64_t tid;     /* thread rings */
	uint64_t next_time_ns; /* of the front record */
	uint64_t last_time_ns; /* of the one before it */
	uint32_t front_type;
	size_t front_bytes;
};

/* What closed sources leave behind, per event of the plan. */
struct perf_tally {
	uint64_t total, lost;
	uint64_t emitted;      /* sum of the weights of samples */
	uint64_t helper;       /* whole system: our own thread's, */
	uint64_t left_out;     /* that, and the idle task's */
	double variance;       /* of the weights that are estimates */
	uint64_t samples;
	uint64_t period;       /* the kernel's now; 0 = by rate */
	uint64_t rate_hz;      /* the kernel's now; 0 = by period */
	bool is_off, was_off;  /* one event of several: perf_steer.c */
	uint64_t seen_samples, seen_emitted, seen_lost; /* perf_rate_watch */
	uint64_t throttled;
	uint64_t unclear;      /* samples that came, and nobody knows whose */
	uint64_t lost_records; /* as LOST records tell, all events */
	bool is_short;         /* some count could not be read */
};

/* How long CPUs were idle, and another machine had them. */
struct perf_idle_times {
	uint64_t idle_ns, stolen_ns;
};

struct perf_idle {
	/* Of each CPU, since the system's start; behind them, what passed
	 * while the session ran, until it stopped last. */
	struct perf_idle_times *began;
	bool is_unknown;
};

/* A record of ours that waits for room. */
struct perf_pending {
	struct perf_pending *next;
	portprof_record record;
	uint64_t file_offset;
	size_t build_id_bytes;
	unsigned char build_id[PORTPROF_BUILD_ID_BYTES];
	char name[];
};

/* A type of core, and the PMU of those. */
enum { PERF_CORES_MAX = 8 };
struct perf_core {
	uint32_t type;
	char name[64], cpus[128];
};

/* A probe that is a tracepoint of ours in tracefs; id 0: it is none. */
#define PERF_TRACED_GROUP "portprof"
enum { PERF_TRACED_NAME = 64 };
struct perf_traced {
	int64_t id;
	char name[PERF_TRACED_NAME];
};

struct perf_state {
	struct perf_session_kind kind;
	enum perf_layout layout;
	bool has_values;    /* samples carry the event's own count */
	bool is_running;
	bool is_id_doubtful; /* a sample may bear another event's id */
	bool has_carriers;  /* sources of their own; else event 0 tells, and
	                     * what it lost may be no sample */
	bool is_early;      /* carriers tell, start is still to come */
	bool is_fork_told;  /* ... of the front record: its name is not */
	bool has_chosen_threads; /* some were added or removed while open */
	bool may_have_tails; /* short processes are to be estimated, */
	bool has_tails;      /* and CPUs are sampled for that */
	struct perf_ending *endings, *last_ending; /* perf_tail.c */
	unsigned missed_threads; /* that ended without any sample */
	bool awaits_exec;   /* PPI_TARGET_COMMAND: the kernel enables it */
	uint32_t small_stack; /* copies begin with; 0 = they are all alike */
	bool is_grown;        /* those are too short: perf_grow.c */

	struct perf_traced *traced; /* of each event; NULL: no probe is */
	const char *tracefs;        /* where those are */

	bool is_by_cpu;     /* other processes, by samples of CPUs: */
	uint64_t *family;   /* a bit for each process of the target; NULL:
	                     * what is sampled is the target's */
	bool has_family_ended; /* one of those, or several */
	int cgroup_fd;      /* of its folder, if has_cgroup */
	bool has_cgroup;
	const char *cgroup_mount, *cgroup_name; /* of the hierarchy; there */
	struct perf_cgroup_known *cgroups; /* ascending id: perf_cgroup.c */
	size_t cgroup_count;
	bool has_lost_cgroups; /* a note says so */
	int *cpus;
	size_t cpu_count;
	struct perf_source *sources; /* ascending id */
	size_t source_count, source_room;
	struct perf_port *ports;
	size_t port_count, port_room;
	/* Data of each ring of samples, and of each side ring: mappings,
	 * threads and names. Only ever reduced. */
	size_t ring_bytes, side_bytes;
	bool is_lock_limited; /* the user's locked memory reduced them */
	size_t page_bytes;

	struct perf_weights weights;
	struct perf_build_ids build_ids;
	struct perf_tally *tallies;
	struct perf_raw_field *raw; /* PERF_RAW_MAX of each event; NULL: no
	                             * event has fields to tell */
	uint64_t damaged;   /* of rings of samples that were given back */
	uint64_t side_lost; /* records that carriers lost: those that are
	                     * closed, or what LOST records said */
	uint64_t side_said; /* so many are in side_note */
	char *side_note;    /* the session's; NULL while there is none */
	bool is_side_behind; /* some were lost: read /proc again */
	uint64_t next_catch_up_ns;
	struct perf_pending *pending, **pending_end;
	size_t *order;      /* heap of ports with a front record */
	size_t order_count;
	uint64_t began_ns;     /* no sample is older */
	uint64_t until_ns;     /* what is younger stays in the rings */
	uint64_t looked_at_ns; /* nothing in them is younger than that */
	void *scratch;      /* for records that go round a ring's end */
	uint64_t *tail_words; /* the payload of a CPU's sample */
	uint64_t next_scan_ns;
	unsigned nap_ms;       /* drain_every_ms by the rate */
	uint64_t next_adapt_ns, next_rate_look_ns;

	struct perf_beat beat; /* of one thread's CPU time */
	bool has_beat;         /* and a note says so */
	struct perf_idle idle; /* whole system */
	uint64_t cpu_time_ns;  /* of the target while running, until started_at */
	uint64_t started_at_ns;
	bool has_cpu_time;
	struct perf_core cores[PERF_CORES_MAX];
	size_t core_count;                      /* 0: all are alike */
	_Atomic bool is_closed; /* counting: the program closed descriptors */
	bool is_one_group;     /* counting: one leader, one source an event */
	_Atomic uint64_t *highest; /* counting: scaled values never go back */
	/* Counting, one an event: NULL until both ways of reading were seen
	 * to agree, by the thread that may take the short one. */
	const volatile struct perf_event_mmap_page **user_pages;
	uintptr_t user_thread;
};

static inline struct perf_state *
perf_state_of(const struct ppi_backend_session *bs)
{
	return bs->state;
}

/*
 * CPU time of one mode only ("cpu-clock:u"). The kernel counts both modes in
 * any case (kernel/events/core.c, task_clock_event_update), so samples stand
 * for a period each and the total is their sum.
 */
static inline bool perf_is_period_weighted(const struct ppi_event *event)
{
	return event->unit == PORTPROF_UNIT_NANOSECONDS && !event->is_cpu_time;
}

/*
 * Whether the kernel counts it at places in its code, and fills in one sample for
 * all events that such an occurrence makes overflow. Clocks have a timer each.
 */
static inline bool perf_is_occurrence(const struct ppi_event *event)
{
	return perf_own(event)->type == PERF_TYPE_SOFTWARE &&
	       perf_own(event)->config[0] != PERF_COUNT_SW_CPU_CLOCK &&
	       perf_own(event)->config[0] != PERF_COUNT_SW_TASK_CLOCK;
}

/* Whether it happens at a place, in the kernel's code or in a program's: a
 * tracepoint, a breakpoint, a probe. Each is counted as it comes. */
static inline bool perf_is_of_place(const struct ppi_event *event)
{
	const struct perf_own *own = perf_own(event);

	return own->type == PERF_TYPE_TRACEPOINT ||
	       own->type == PERF_TYPE_BREAKPOINT || own->has_path;
}

/* Whether this machine's registers, and with them stacks, are known. */
static inline bool perf_can_unwind(const struct perf_kernel *kernel)
{
	return kernel->registers && kernel->user_ip_mask;
}

/* The kernel refuses 64 KiB; and a record, which is as long at most, has more
 * than the stack (kernel/events/core.c, perf_sample_ustack_size). */
enum { PERF_STACK_MAX = 63 << 10, PERF_STACK_MIN = 1 << 10 };

/* Whether processes that others create belong to the target. */
static inline bool perf_follows(const struct ppi_plan *plan)
{
	return plan->follow_children || plan->target.kind == PPI_TARGET_SYSTEM;
}

/* ---- perf_rate.c: after the layout and the shape of records are known ---- */

/* How large rings are, and how often they are emptied. */
void perf_size_rings(struct ppi_backend_session *bs);
/* After rings became smaller: copy no more of stacks than leaves time between
 * two drains. Before any event is open. */
void perf_fit_stacks(struct ppi_backend_session *bs);
void perf_choose_nap(struct ppi_backend_session *bs);

/* ---- perf_open.c, perf_attach.c ---- */

/* The CPUs of the target: all that are online, or those asked for. */
portprof_status perf_find_cpus(struct ppi_backend_session *bs,
                               struct ppi_diag *why);
/* Take everything for sampling. */
portprof_status perf_open_sampling(struct ppi_backend_session *bs,
                                   struct ppi_diag *why);

/* Open the session's events for one thread. E_NOTFOUND: it has ended. */
portprof_status perf_attach_thread(struct ppi_backend_session *bs,
                                   int64_t tid, struct ppi_diag *why);
/* Open the carrier of a whole CPU, whose side ring becomes its own. */
portprof_status perf_attach_cpu_carrier(struct ppi_backend_session *bs,
                                        size_t port, struct ppi_diag *why);
/* From now on they tell of mappings and threads. */
void perf_enable_carriers(struct ppi_backend_session *bs);
/* How many side rings threads have of their own; beyond that a thread's
 * carrier writes into its ring of samples. */
size_t perf_side_rings_left(const struct perf_state *state);
/* Add a source, keeping the order by id; NULL when out of memory. */
struct perf_source *perf_add_source(struct perf_state *state,
                                    const struct perf_source *source);
/* A thread ring that is empty and whose thread is gone. */
void perf_retire_port(struct ppi_backend_session *bs, size_t port);
/* End a thread's events; the next drain gives back its ring, when it is empty. */
void perf_end_thread(struct ppi_backend_session *bs, int64_t tid);
/* Close the sources opened for `tid`, as if they had never been. */
void perf_drop_direct(struct ppi_backend_session *bs, uint32_t tid);
/* Descriptors, mappings and memory, in the owner or in a forked child. */
void perf_release(struct ppi_backend_session *bs);

/* ---- perf_family.c: processes by samples of the CPUs ---- */

/* Whether the target is measured so. CPUs are found. */
bool perf_is_by_cpu(const struct ppi_backend_session *bs);
/* From now on perf_state.family is whose samples are the target's. Carriers tell
 * already. */
portprof_status perf_family_open(struct ppi_backend_session *bs,
                                 struct ppi_diag *why);
/* Add those that belong to the target now: records may have been lost. 0 or a
 * negative errno. */
int perf_family_look(struct ppi_backend_session *bs);
/* Whether a sample of a CPU is of the target. */
bool perf_is_of_target(struct ppi_backend_session *bs,
                       const struct perf_seen *seen);
bool perf_family_has(const struct perf_state *state, uint64_t pid);
/* FORK and EXIT records, in the order of time; nothing without a family. */
void perf_family_begin(struct perf_state *state, uint64_t parent, uint64_t pid);
void perf_family_end(struct perf_state *state, uint64_t pid);

/* ---- perf_catalogue.c ---- */

extern const struct ppi_catalogue_ops perf_catalogue;

/* ---- perf_cgroup.c ---- */

/* Of a plan that has one. */
portprof_status perf_open_cgroup(struct ppi_backend_session *bs,
                                 struct ppi_diag *why);
/* An event of a CPU: of all that runs there, or of the cgroup. */
int perf_open_on_cpu(const struct ppi_backend_session *bs,
                     struct perf_event_attr *attr, int cpu, int group_fd);
/* Where CPUs are sampled: whether the kernel tells samples' groups of this
 * hierarchy. */
portprof_status perf_cgroup_check(struct ppi_backend_session *bs,
                                  struct ppi_diag *why);
/* Whether a sample's thread was in the group, or in one below it. */
bool perf_cgroup_has(struct ppi_backend_session *bs,
                     const struct perf_seen *seen);
/* CPU time of all that ever ran in it; false where that is not told. */
bool perf_cgroup_time(const struct ppi_backend_session *bs, uint64_t *ns);
/* Whether it is the cgroup that was refused; told then. */
bool perf_refuse_cgroup(const struct ppi_backend_session *bs, int os_error,
                        struct ppi_diag *why);

/* ---- perf_port.c ---- */

/* A free place among the ports; SIZE_MAX when out of memory. */
size_t perf_new_port(struct perf_state *state);
/* A ring of the size that is set, for the port; a thread's for samples is made
 * smaller, if it must. */
portprof_status perf_map_ring(struct ppi_backend_session *bs, int fd,
                              struct perf_port *port, struct ppi_diag *why);
/* Open a CPU's ring, for samples or at its side. */
portprof_status perf_attach_cpu(struct ppi_backend_session *bs, uint32_t cpu,
                                bool is_side, struct ppi_diag *why);
/* Close all CPUs' rings again, before any thread is attached. */
void perf_close_cpus(struct ppi_backend_session *bs);
/* With stacks: rings of threads that memory can be locked for, and stacks that
 * fit them. Before any event is open. */
void perf_fit_thread_rings(struct ppi_backend_session *bs, size_t threads);
/* Halve the size of the rings to come; false when they are smallest. */
bool perf_shrink_rings(struct ppi_backend_session *bs);

/* ---- perf_descriptor.c: what a program may have closed ---- */

/* Whether its descriptor leads to its event still. */
bool perf_is_ours(const struct ppi_backend_session *bs,
                  const struct perf_source *source);
/* An ioctl of its event; -EBADF where the descriptor is none of it. */
int perf_control(const struct ppi_backend_session *bs,
                 const struct perf_source *source, unsigned long request,
                 void *arg);
void perf_close_source(const struct ppi_backend_session *bs,
                       const struct perf_source *source);
/* Counting, after an odd answer: whether it was none of its event's. Then nothing
 * of the session is read again. */
bool perf_look_closed(const struct ppi_backend_session *bs,
                      const struct perf_source *source);
/* ppi_count_failed with the reason, if it is that. */
portprof_status perf_count_failed(const struct ppi_backend_session *bs,
                                  portprof_status status);

/* ---- perf_traced.c ---- */

/* Where events are inherited: make tracepoints of the plan's probes, or note what
 * of them is not counted. The kind of session is known, nothing is open yet. */
void perf_trace_probes(struct ppi_backend_session *bs);
/* Remove them, when nothing is open any more. */
void perf_untrace_probes(struct ppi_backend_session *bs);
/* A probe that cannot be inherited. Nor does it lead a group or is it in one, whose
 * copies it would be among (kernel/events/core.c, inherit_group). */
bool perf_is_lone_probe(const struct ppi_backend_session *bs, size_t event);
/* The kind of session as it is for one event. */
struct perf_session_kind perf_kind_of_event(
	const struct ppi_backend_session *bs, size_t event);
/* The tracepoint's attributes in place of the probe's. */
void perf_attr_of_probe(const struct perf_state *state, size_t event,
                        struct perf_event_attr *attr);

/* ---- perf_threads.c ---- */

/* The whole system: the session's events on each CPU. */
portprof_status perf_attach_system(struct ppi_backend_session *bs,
                                   struct ppi_diag *why);
/* Every thread of the target there is now; the helper's left out. */
portprof_status perf_attach_all(struct ppi_backend_session *bs,
                                struct ppi_diag *why);
/* Thread rings: one that was created while sampling. */
void perf_attach_late(struct ppi_backend_session *bs, int64_t tid,
                      struct ppi_diag *why);
/* Thread rings: take what appeared, mark what ended. */
void perf_scan_threads(struct ppi_backend_session *bs);

/* ---- perf_drain.c ---- */

/* See how far the kernel has written in all rings. */
void perf_merge_look(struct perf_state *state);
/* The port whose front record is the oldest of those up to until_ns; false when
 * there is none. First call perf_merge_begin. */
void perf_merge_begin(struct perf_state *state);
bool perf_merge_oldest(struct perf_state *state, size_t *port);
/* The oldest was popped: look at the port's next. */
void perf_merge_advance(struct perf_state *state);

/* ---- perf_sample.c ---- */

/* False when there is no room: offer it again. */
bool perf_take_sample(struct ppi_backend_session *bs,
                      const struct perf_port *port,
                      const struct perf_seen *seen, struct ppi_room *room);

/* ---- perf_tail.c: estimates of what threads use after their last sample,
 * by samples of the CPUs ---- */

/* Whether tails of this event are estimated: of those of CPU time. */
bool perf_tail_is_of(const struct ppi_backend_session *bs, size_t event);
/* Where CPUs may be sampled, and it is of use. Threads are attached. */
void perf_tail_open(struct ppi_backend_session *bs);
void perf_tail_enable(struct ppi_backend_session *bs);
/* A CPU's sample with its payload; kept if it is of a known thread. */
void perf_tail_keep(struct ppi_backend_session *bs,
                    const portprof_record *record, const uint64_t *words,
                    size_t word_count);
/* A FORK record: the thread is known from now on. False when there is no
 * room. */
bool perf_tail_begin(struct ppi_backend_session *bs,
                     const struct perf_seen *fork, struct ppi_room *room);
/* An EXIT record: known for a while still, then flushed, told and forgotten by
 * settle. False when it cannot wait. */
bool perf_tail_end(struct ppi_backend_session *bs,
                   const portprof_record *record, uint64_t time_ns,
                   bool is_told);
/* What ended long before `now_ns`; UINT64_MAX: all. False when there is no
 * room. */
bool perf_tail_settle(struct ppi_backend_session *bs, uint64_t now_ns,
                      struct ppi_room *room);
void perf_tail_forget(struct perf_state *state);
/* Its own sample was weighed, and not taken: is it young still? */
void perf_tail_grow(struct ppi_backend_session *bs,
                    struct perf_thread *thread, uint32_t event);
/* The thread's own event has sampled it. */
void perf_tail_drop(struct perf_thread *thread, uint32_t event);
/* It has ended, or becomes another program: what was kept is its tail's. False
 * when there is no room. NULL is a thread without any. */
bool perf_tail_flush(struct ppi_backend_session *bs,
                     struct perf_thread *thread, struct ppi_room *room);
/* The same of all threads: nothing is sampled any more. */
bool perf_tail_flush_all(struct ppi_backend_session *bs,
                         struct ppi_room *room);
/* A thread ended: many without a sample, and no estimate, are worth a note. */
void perf_tail_miss(struct ppi_backend_session *bs,
                    const struct perf_thread *thread);

/* ---- perf_drain.c ---- */

/* A record of ours with what is common to all kinds. */
portprof_record perf_new_record(const struct perf_state *state,
                                const struct perf_port *port,
                                const struct perf_seen *seen,
                                enum portprof_record_kind kind);
/* Whether it is of somebody whose profile this is. */
bool perf_is_wanted(const struct ppi_backend_session *bs,
                    const struct perf_seen *seen);
bool perf_has_room(const struct ppi_room *room, size_t words);

/* Now, by the clock of the records; later than any where it is not known. */
uint64_t perf_record_clock(const struct ppi_backend_session *bs);
portprof_status perf_drain_rings(struct ppi_backend_session *bs,
                                 struct ppi_room *room);
const struct perf_source *perf_source_of(const struct perf_state *state,
                                         uint64_t id);

/* ---- perf_pending.c: what we tell without being told ---- */

bool perf_pending_add(struct perf_state *state, const portprof_record *record,
                      uint64_t file_offset, const unsigned char *build_id,
                      size_t build_id_bytes, const char *name);
/* Into the room; false when it is full. */
bool perf_pending_flush(struct perf_state *state, struct ppi_room *room);
void perf_pending_free(struct perf_state *state);
/* Names of threads, mappings of a foreign process, the kernel's text. */
void perf_pending_baseline(struct ppi_backend_session *bs);
void perf_pending_thread(struct ppi_backend_session *bs, int64_t tid);
/* Carriers lost records: what lives now, once more. */
void perf_pending_catch_up(struct ppi_backend_session *bs);
void perf_remember_name(struct perf_state *state, uint32_t tid,
                        const char *name);

/* ---- perf_account.c ---- */

/* Whether what this event counted has idle time in it. */
bool perf_has_idle(const struct ppi_backend_session *bs, size_t event);
/* Whether process numbers here are not the system's own: 0 is the idle task's and
 * that of all that runs outside. */
bool perf_is_contained(const struct perf_kernel *kernel);
/* Just before events are switched on, and after they are off. */
void perf_idle_start(struct ppi_backend_session *bs);
void perf_idle_stop(struct ppi_backend_session *bs);
/* Of one CPU of the session while it ran, -1: of all. False where /proc/stat
 * does not tell. */
bool perf_idle_so_far(const struct ppi_backend_session *bs, int cpu,
                      struct perf_idle_times *out);

/* ---- perf_steer.c ---- */

extern const struct ppi_steering perf_steering;

/* Whether its event is switched off, while others of the session are not. */
static inline bool perf_is_off(const struct perf_state *state,
                               const struct perf_source *source)
{
	return source->event != PERF_CARRIER &&
	       (state->tallies[source->event].is_off ||
	        (state->small_stack && source->is_large != state->is_grown));
}

/* ---- perf_grow.c ---- */

/* After shapes and layout are known: whether copies of stacks begin small. */
void perf_choose_small_stacks(struct ppi_backend_session *bs, size_t threads);
/* The attributes of one of the two events that there are of each then. */
void perf_attr_of_size(const struct perf_state *state, bool is_large,
                       struct perf_event_attr *attr);
/* Chains are cut: from now on copy more. */
void perf_grow_stacks(struct ppi_backend_session *bs);

/* ---- perf_account.c ---- */

void perf_clock_start(struct ppi_backend_session *bs);
void perf_clock_stop(struct ppi_backend_session *bs);
void perf_account(struct ppi_backend_session *bs, size_t event,
                  struct ppi_account *out);
/* Add what a source counted and lost to a tally; to that which its event
 * keeps, because it is about to be closed. */
void perf_tally_source(struct ppi_backend_session *bs,
                       const struct perf_source *source,
                       struct perf_tally *tally);
void perf_tally_closing(struct ppi_backend_session *bs,
                        const struct perf_source *source);

/* Records of mappings and names that found no room: in a note, when there are
 * more than it said. */
void perf_say_side_losses(struct ppi_backend_session *bs);

/* An event that counting goes on without. */
static inline bool perf_is_refused(const struct ppi_backend_session *bs,
                                   size_t event)
{
	return bs->refusals && bs->refusals[event].status != PORTPROF_OK;
}

/* ---- perf_cores.c ---- */

/* The types of core, if there are several. */
void perf_find_cores(struct ppi_backend_session *bs);
/* Whether it is opened for each of them. */
bool perf_is_by_core(const struct ppi_backend_session *bs, size_t event);
/* Whether a thread's samples of it come from several kernel events, each of
 * which runs for a part of the time. */
static inline bool perf_is_split(const struct ppi_backend_session *bs,
                                 size_t event)
{
	return perf_state_of(bs)->layout == PERF_THREAD_RINGS &&
	       perf_is_by_core(bs, event);
}
/* Whether it is opened for that one, on that CPU; -1: on any. What is by no
 * core is opened for the one past the last: in a group with what is, the kernel
 * would count it on that type's CPUs alone. */
bool perf_is_on_core(const struct ppi_backend_session *bs, size_t event,
                     size_t core, int cpu);
/* Whether an event was refused because this type of core has none like it;
 * another may. */
bool perf_is_missing(const struct ppi_backend_session *bs, size_t event,
                     portprof_status status, const struct ppi_diag *why);
/* All are open: tell which are covered, refuse what is on none. */
portprof_status perf_check_cores(struct ppi_backend_session *bs,
                                 struct ppi_diag *why);
portprof_status perf_count_part(struct ppi_backend_session *bs, size_t event,
                                size_t part, const char **pmu,
                                const char **cpus, portprof_count *out);

/* ---- perf_count.c, perf_read.c ---- */

portprof_status perf_open_counting(struct ppi_backend_session *bs,
                                   struct ppi_diag *why);
/* Of the events [first, first + count): reads the groups they are in. */
portprof_status perf_read_counts(struct ppi_backend_session *bs, size_t first,
                                 portprof_count *out, size_t count);
/* What one core type's part of an event counted; not scaled. */
portprof_status perf_read_core(struct ppi_backend_session *bs, size_t event,
                               size_t core, portprof_count *out);
/*
 * The kernel's answer for the one group on one thread: number, times enabled and
 * running, values in the order of the events. False where it is not so, or
 * something is to be told: read in full.
 */
bool perf_read_plainly(const struct ppi_backend_session *bs, uint64_t *words);
/* The same of [0, count), in short where there is one group on one thread. */
portprof_status perf_count_all(struct ppi_backend_session *bs,
                               portprof_count *out, size_t count);
/* Raw value and times are there: what it is worth, and scaled. */
void perf_judge(struct ppi_backend_session *bs, size_t event,
                portprof_count *count);

/* ---- perf_errors.c ---- */

/* Why an event could not be opened, in words; os_error is positive. */
portprof_status perf_refuse_open(const struct perf_kernel *kernel,
                                 const struct ppi_event *event, int os_error,
                                 struct ppi_diag *why);
/* The same for a thread, which may be somebody else's. */
portprof_status perf_refuse_source(const struct ppi_backend_session *bs,
                                   const struct ppi_event *event, int64_t tid,
                                   int os_error, struct ppi_diag *why);
/* Too few descriptors for what is needed. */
portprof_status perf_refuse_fds(uint64_t needed, uint64_t available,
                                uint64_t limit, const char *for_what,
                                struct ppi_diag *why);
portprof_status perf_refuse_map(const struct perf_kernel *kernel,
                                size_t bytes, int os_error,
                                struct ppi_diag *why);
/* Why a process's threads could not be listed; os_error is positive. */
portprof_status perf_refuse_threads(const struct ppi_backend_session *bs,
                                    int os_error, struct ppi_diag *why);
/* Whether what descends from the target already is measured, too. */
bool perf_has_family(const struct ppi_plan *plan);
/* Whether a process was named as the target, or as one of several. */
bool perf_is_target(const struct ppi_target *target, int64_t pid);
/* The processes that were named, and then those of their family, each once;
 * `pids` is to be freed. 0 or a negative errno. */
int perf_target_processes(const struct ppi_backend_session *bs, int64_t **pids,
                          size_t *count);
/* The threads of those, as perf_proc_threads has them. */
int perf_target_threads(const struct ppi_backend_session *bs, int64_t **tids,
                        size_t *count);
/* Whether the target can do without a thread that was refused: it has ended,
 * or is of one process among several and of another user. */
bool perf_may_miss(const struct ppi_backend_session *bs, int64_t tid,
                   portprof_status status);
/* A note about those that were. */
void perf_note_missed(struct ppi_backend_session *bs, size_t threads);

/* ---- perf_probe.c ---- */

void perf_probe_ladder(const struct perf_kernel *kernel,
                       struct ppi_probe *out);
/* May an event that counts nothing be opened for that process on that CPU, in
 * user mode? 0 or an errno. */
int perf_ask_dummy(const struct perf_kernel *kernel, int64_t pid, int cpu);
/* Open an event and close it again, with a ring of that size unless 0: 0 or
 * an errno. */
int perf_try_attr(const struct perf_kernel *kernel,
                  struct perf_event_attr *attr, int64_t pid, int cpu,
                  size_t ring_bytes);

/* ---- perf_report.c: findings, for who asks a probe for them ---- */

struct perf_rights;
void perf_report_hardware(const struct perf_kernel *kernel,
                          struct ppi_probe *out);
void perf_report_settings(const struct perf_kernel *kernel,
                          const struct perf_rights *rights,
                          struct ppi_probe *out);
/* Where this runs: containers, user namespaces, virtual machines. */
void perf_report_place(const struct perf_kernel *kernel,
                       const struct perf_rights *rights,
                       struct ppi_probe *out);

/* ---- perf_resolve.c ---- */

portprof_status perf_resolve_event(const struct perf_kernel *kernel,
                                   const struct ppi_event_request *request,
                                   enum ppi_mode mode,
                                   struct ppi_event *event,
                                   struct ppi_diag *why);

#endif
