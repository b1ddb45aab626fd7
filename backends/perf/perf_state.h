/* SPDX-License-Identifier: MIT */
/* The state of one session of the perf backend. The functions that work on it
 * are in perf_target.h (who is measured), perf_rings.h (events and rings),
 * perf_samples.h (records), perf_account.h and counts/perf_counts.h. */
#ifndef PERF_STATE_H
#define PERF_STATE_H

#include "backends/backend.h"
#include "backends/perf/events/perf_attr.h"
#include "backends/perf/perf_kernel.h"
#include "backends/perf/perf_sample.h"
#include "backends/perf/records/perf_decode.h"
#include "backends/perf/records/perf_fields.h"
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
	                  * is_grown; perf_attach.c */
	bool rdpmc_unreliable; /* what user_page leads to is not the count */
	void *user_page; /* counting: the kernel's page of it, or NULL */
};

enum { PERF_PORT_FREE = -1 };

/* Words of a payload at most: a chain, and what a record holds beside. */
enum { PERF_PAYLOAD_WORDS = PPI_WORDS_MIN + (1 << 13) };

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
	uint64_t counted_to; /* perf_clocks.c: position in the ring */
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
	/* ppi_perf_rate_watch */
	uint64_t seen_samples, seen_emitted, seen_lost;
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
	bool has_values;    /* samples carry the event's own count; else */
	bool has_clocks;    /* those of CPU time weigh what threads' clocks
	                     * show: perf_clocks.c */
	bool has_late_bases; /* some threads' clocks were not read at start */
	bool has_fresh_samples; /* since clocks were read last */
	bool is_running;
	bool is_id_doubtful; /* a sample may bear another event's id */
	bool has_carriers;  /* sources of their own; else event 0 tells, and
	                     * what it lost may be no sample */
	bool is_early;      /* carriers tell, start is still to come */
	bool is_fork_told;  /* ... of the front record: its name is not */
	bool has_chosen_threads; /* some were added or removed while open */
	bool may_have_tails; /* short processes are to be estimated, */
	bool has_tails;      /* and CPUs are sampled for that, */
	bool is_quiet;       /* less often: nothing began or ended lately */
	uint64_t stirred_ns; /* when something did; */
	uint64_t paced_ns;   /* when that last changed */
	struct perf_ending *endings, *last_ending; /* perf_tail.c */
	unsigned missed_threads; /* that ended without any sample */
	bool awaits_exec;   /* PPI_TARGET_COMMAND: the kernel enables it */
	uint32_t small_stack; /* copies begin with; 0 = they are all alike */
	bool is_grown;        /* those are too short: perf_attach.c */

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

/* The kernel refuses 64 KiB; and a record, which is as long at most, has more
 * than the stack (kernel/events/core.c, perf_sample_ustack_size). */
enum { PERF_STACK_MAX = 63 << 10, PERF_STACK_MIN = 1 << 10 };

/* Whether its event is switched off, while others of the session are not. */
static inline bool perf_is_off(const struct perf_state *state,
                               const struct perf_source *source)
{
	return source->event != PERF_CARRIER &&
	       (state->tallies[source->event].is_off ||
	        (state->small_stack && source->is_large != state->is_grown));
}

#endif
