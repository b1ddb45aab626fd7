/* SPDX-License-Identifier: MIT */
/*
 * What counting and sampling share: one session, its events in the kernel, its
 * probes. Who is measured is in perf_target.h, on which CPUs in perf_cpus.h.
 */
#ifndef PERF_SESSION_H
#define PERF_SESSION_H

#include "backends/backend.h"
#include "backends/perf/kernel/perf_attr.h"
#include "backends/perf/kernel/perf_kernel.h"

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

/* In place of an event's number: only reports mappings and threads. */
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
	bool is_leave;   /* sampling: a CPU, what leaves it (perf_late.c); it
	                  * is no carrier, though no event of the plan either */
	bool is_member;  /* sampling: its group's leader switches it */
	bool is_refused; /* counting with allow_refused */
	bool is_large;   /* sampling: with the whole copy of the stack, off until
	                  * perf_stacks.is_grown */
	bool rdpmc_unreliable; /* what user_page leads to is not the count */
	void *user_page; /* counting: the kernel's page of it, or NULL */
};

/* A type of core, and the PMU of those. */
enum { PERF_CORES_MAX = 8 };
struct perf_core {
	uint32_t type;
	char name[64], cpus[128];
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

/* The control group that is the target. */
struct perf_cgroup {
	int fd;           /* of its folder, if is_open */
	bool is_open;
	const char *mount, *name; /* of the hierarchy; there */
	struct perf_cgroup_known *known; /* ascending id: perf_cgroup.c */
	size_t known_count;
	bool has_lost;    /* a note says so */
};

/* A probe that is a tracepoint of ours in tracefs; id 0: it is none. */
#define PERF_TRACED_GROUP "portprof"
enum { PERF_TRACED_NAME = 64 };
struct perf_traced {
	int64_t id;
	char name[PERF_TRACED_NAME];
};

/*
 * One session. What only counting or only a part of sampling is about is a
 * structure of that part's own header, which only the files include that know it;
 * perf.c keeps them all. That is why there are so many members.
 */
struct perf_state {
	struct perf_session_kind kind;
	enum perf_layout layout;
	bool is_running;
	bool awaits_exec;   /* PPI_TARGET_COMMAND: the kernel enables it */
	bool is_by_cpu;     /* other processes, by samples of CPUs:
	                     * sampling/perf_family.c */
	_Atomic bool is_closed; /* counting: the program closed descriptors */
	struct perf_source *sources; /* ascending id */
	size_t source_count, source_room;

	struct perf_traced *traced; /* of each event; NULL: no probe is */
	const char *tracefs;        /* where those are */
	int *cpus;
	size_t cpu_count;
	struct perf_core cores[PERF_CORES_MAX];
	size_t core_count;      /* 0: all are alike */
	struct perf_idle idle;  /* whole system */
	struct perf_cgroup cgroup;

	struct perf_counting *counting; /* counts/perf_counts.h */

	struct perf_rings *rings;       /* sampling/perf_rings.h */
	struct perf_sides *sides;       /* sampling/perf_sides.h */
	struct perf_drain *drain;       /* sampling/perf_samples.h */
	struct perf_weighing *weighing;
	struct perf_weights *weights;   /* records/perf_weight.h */
	struct perf_stacks *stacks;     /* sampling/perf_sampling.h */
	struct perf_tails *tails;       /* sampling/perf_tails.h */
	struct perf_family *family;     /* sampling/perf_family.h */
	struct perf_late *late;         /* sampling/perf_late.h */
	struct perf_tally *tallies;     /* sampling/perf_account.h: of each event */
	struct perf_spent *spent;
};

static inline struct perf_state *
perf_state_of(const struct ppi_backend_session *bs)
{
	return bs->state;
}

/* ---- perf_session.c: events that are open in the kernel ---- */

/* Add a source, keeping the order by id; NULL when out of memory. */
struct perf_source *ppi_perf_add_source(struct perf_state *state,
                                        const struct perf_source *source);
/* Whether its descriptor leads to its event still: 0, or -EBADF where it does not.
 * Another errno: the question had no answer, as a filter may forbid it (seccomp(2)),
 * and nobody knows. */
int ppi_perf_ask_ours(const struct ppi_backend_session *bs,
                      const struct perf_source *source);
/* An ioctl of its event; the errno of ppi_perf_ask_ours where that is not 0. */
int ppi_perf_control(const struct ppi_backend_session *bs,
                     const struct perf_source *source, unsigned long request,
                     void *arg);
void ppi_perf_close_source(const struct ppi_backend_session *bs,
                           const struct perf_source *source);
/* Counting, after an odd answer: whether it was none of its event's. Then nothing
 * of the session is read again. */
bool ppi_perf_look_closed(const struct ppi_backend_session *bs,
                          const struct perf_source *source);
/* ppi_count_failed with the reason, if it is that. */
portprof_status ppi_perf_count_failed(const struct ppi_backend_session *bs,
                                      portprof_status status);

/* An event that counting can do without. */
static inline bool perf_is_refused(const struct ppi_backend_session *bs,
                                   size_t event)
{
	return bs->refusals && bs->refusals[event].status != PORTPROF_OK;
}

/* Close all that is open, and forget what all sessions have, in the owner or in a
 * forked child. */
void ppi_perf_release_session(struct ppi_backend_session *bs);

/* ---- perf_session.c: probes that are tracepoints of ours ---- */

/* Where events are inherited: make tracepoints of the plan's probes, or note what
 * of them is not counted. The kind of session is known, nothing is open yet. */
void ppi_perf_trace_probes(struct ppi_backend_session *bs);
/* Remove them, when nothing is open any more. */
void ppi_perf_untrace_probes(struct ppi_backend_session *bs);
/* A probe that cannot be inherited. Nor does it lead a group or is it in one, whose
 * copies it would be among (kernel/events/core.c, inherit_group). */
bool ppi_perf_is_lone_probe(const struct ppi_backend_session *bs, size_t event);
/* The kind of session as it is for one event. */
struct perf_session_kind ppi_perf_kind_of_event(
	const struct ppi_backend_session *bs, size_t event);
/* The tracepoint's attributes in place of the probe's. */
void ppi_perf_attr_of_probe(const struct perf_state *state, size_t event,
                            struct perf_event_attr *attr);

#endif
