/* SPDX-License-Identifier: MIT */
/*
 * The backend contract: nine functions that turn one kernel facility into
 * weighted records and counts. Read this file, then null/null.c.
 *
 * A backend receives plans that are already checked, calls the operating
 * system only through its own kernel seam, and calls nothing above it. Clause
 * numbers are those of doc/contract.md.
 */
#ifndef PPI_BACKEND_H
#define PPI_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <portprof/backend.h>
#include <portprof/catalogue.h>
#include <portprof/event.h>
#include <portprof/group.h>
#include <portprof/record.h>
#include <portprof/session.h>
#include <portprof/status.h>

/* Raise when the meaning of anything in this file changes. */
#define PPI_BACKEND_ABI 1u

/* ---- events ---- */

/* An event string taken apart; knows the grammar, not the machine. */
struct ppi_event_request {
	char text[256];   /* as the user wrote it */
	char name[192];   /* pmu::EVENT:umask..., without the fields below */
	bool has_modes;   /* u, k or h was given: only those are wanted */
	bool user, kernel, hypervisor;
	uint64_t period;  /* 0 = not given; else in the event's unit */
	uint64_t rate_hz; /* 0 = not given */
	bool is_rate_usual; /* nobody asked for that rate: an event for which
	                     * it makes no sense may have another */
	unsigned precise; /* 0..3 */
	bool has_precise; /* it was given, be it 0 */
	bool is_most_precise; /* it was not: as high as can be had */
	bool pinned, exclusive;
	bool has_guest_host; /* mg or mh was given; else resolve decides */
	bool exclude_guest, exclude_host; /* what a backend is to leave out */
	int cpu;          /* -1 = not given */
	bool is_untried;  /* tell what it means; do not ask whether the kernel
	                   * would open it here */
	uint16_t name_column; /* 1-based place in text of what is after pmu:: */
};

/*
 * The shortest libpfm4 string that parses to `request` again: `name` (which
 * may be the backend's own spelling of request->name), then modes, period and
 * so on in a fixed order. False when it does not fit in `bytes`.
 */
bool ppi_event_format(const struct ppi_event_request *request,
                      const char *name, char *out, size_t bytes);

/* What a backend will really measure for a request. */
struct ppi_event {
	struct ppi_event_request request;
	portprof_unit unit;
	bool is_cpu_time;     /* its own total is the target's CPU time */
	bool counts_user, counts_kernel, counts_hypervisor;
	unsigned precise;
	uint64_t period;      /* to be asked of the kernel; unit of the event */
	uint64_t rate_hz;     /* not 0: the kernel is asked for a rate */
	uint32_t type;        /* perf: attr.type */
	uint64_t config[3];   /* perf: config, config1, config2 */
	char pmu[64];         /* whose event it is; "" = the backend's own */
	char canonical[256];  /* parses and resolves to the same again */
	char description[256];
	size_t group;         /* events of equal number are one group */
};

/* ---- diagnostics: filled by whoever fails ---- */

struct ppi_diag {
	portprof_status status;
	int os_errno;
	char step[PORTPROF_STEP_BYTES];
	char words[PORTPROF_WORDS_BYTES];
};

/*
 * Fill `why` (which may be NULL) and return status, so that a failure is one
 * line: return ppi_fail(why, PORTPROF_E_DENIED, errno, "open event", ...).
 * The words say what was tried, what the system said, what to change.
 */
portprof_status ppi_fail(struct ppi_diag *why, portprof_status status,
                         int os_errno, const char *step, const char *words,
                         ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 5, 6)))
#endif
	;

/* ---- names: what the user may have meant ---- */

/* The three known words nearest to `word`, of all that are offered. */
struct ppi_nearest {
	char word[96];
	char best[3][96];
	unsigned distance[3];
};
void ppi_nearest_begin(struct ppi_nearest *nearest, const char *word);
void ppi_nearest_offer(struct ppi_nearest *nearest, const char *known);
/* "; did you mean A, B or C?", or "" when nothing is near. Returns out. */
const char *ppi_nearest_say(const struct ppi_nearest *nearest, char *out,
                            size_t out_bytes);

/* ---- plans: what to do, checked once, never changed ---- */

enum ppi_mode { PPI_SAMPLE, PPI_COUNT };

enum ppi_target_kind {
	PPI_TARGET_PROCESS, /* this process, all threads, future ones too */
	PPI_TARGET_TID,     /* one thread: pid, tid; may be of this process */
	PPI_TARGET_PID,     /* another process, all its threads */
	PPI_TARGET_COMMAND, /* child `pid`, counted from its next exec on */
	PPI_TARGET_SYSTEM   /* whoever runs on plan.cpus; pid and tid are 0 */
};

struct ppi_target {
	enum ppi_target_kind kind;
	int64_t pid, tid;
	bool is_self; /* pid is this process */
};

/* A range of text somebody counts; sorted, disjoint. */
struct ppi_range {
	uint64_t start, end;  /* [start, end) */
	uint64_t bin_bytes;   /* width that suits the sinks: no bin or end of
	                       * theirs is inside one; a power of two */
};

struct ppi_plan {
	enum ppi_mode mode;
	struct ppi_target target;
	const char *cpus;       /* PPI_TARGET_SYSTEM: "0,2-3", well-formed;
	                         * NULL = all */
	const char *cgroup;     /* PPI_TARGET_SYSTEM: only what is in it */
	const struct ppi_event *events;
	size_t event_count;
	bool follow_children;
	bool is_delayed;        /* start comes later, when the target has gone
	                         * on: open begins to tell of its code and its
	                         * threads, drain brings that before start */
	bool allow_refused;     /* PPI_COUNT: go on without refused events */
	bool want_modules;      /* some sink wants MODULE and THREAD records */
	bool want_user_address; /* some sink counts user text only */
	uint64_t timeline_ns;   /* files keep when samples fell, to so much; of
	                         * no concern to backends; 0 = they do not */
	unsigned chain_depth;   /* 0 = none */
	uint32_t sample_fields; /* of PORTPROF_FIELD_ what the hardware tells;
	                         * only where CAP_EVENTS is there */
	size_t ring_bytes;      /* 0 = the backend chooses */
	uint64_t required_caps; /* the user's: open must not remove them */
	const struct ppi_range *ranges; /* NULL = pcs of the whole space */
	size_t range_count;
};

/* ---- what a backend gives ---- */

/* Where drain puts records: arrays of the caller's, filled from the front. */
struct ppi_room {
	portprof_record *records;
	size_t record_room, record_count;
	uint64_t *words; /* payloads of chains, modules, names */
	size_t word_room, word_count;
};

/* Smallest room the core ever offers: one record with its payload. */
enum { PPI_WORDS_MIN = 1024 };

/*
 * Append a record and, when it has one, its payload, to `room`. False when
 * either does not fit: nothing was added, offer it again next time.
 */
bool ppi_room_add(struct ppi_room *room, const portprof_record *record,
                  const void *payload, size_t payload_bytes);
bool ppi_room_add_module(struct ppi_room *room, const portprof_record *record,
                         uint64_t file_offset, const void *build_id,
                         size_t build_id_bytes, const char *path);
bool ppi_room_add_name(struct ppi_room *room, const portprof_record *record,
                       const char *name);

/* A backend's part of the account of one event, since open. */
struct ppi_account {
	uint64_t total_weight;    /* A: what the event itself counted */
	uint64_t not_attached;    /* P - A: CPU time of threads not attached */
	uint64_t cpu_time_ns;     /* P: the target's clock; 0 = cannot tell */
	uint64_t lost_samples;    /* by the kernel or by our ring */
	uint64_t throttled;
	uint64_t granted_period;  /* 0 = unknown or by rate */
	double granted_hz;        /* 0 = unknown */
	portprof_certainty lost_certainty;
	portprof_certainty total_certainty;
};

/* What probing found; `reason` says what to do when !is_usable, or what is
 * restricted when it is. */
struct ppi_probe {
	bool is_usable;
	bool only_by_name; /* usable, but auto passes it over for `reason` */
	uint64_t caps;
	portprof_status status;
	int os_errno;
	char reason[512];
};

struct ppi_backend_session;

/*
 * How an open counting session is read where that can be cheaper than by
 * `count`: without the kernel, say, or without what nearly never happens. Both
 * take the longer way for what cannot be had by the shorter, now or by this
 * thread. Hot, like `count`, and beside any other call like it; they leave *out
 * alone when they fail, and are left by ppi_count_failed then. A session without
 * them is read by `count`.
 */
struct ppi_count_ways {
	/* Events [0, count), as `count` does. */
	portprof_status (*all)(struct ppi_backend_session *bs,
	                       portprof_count *out, size_t count);
	/* One event. Times may be as old as the kernel's last look while
	 * running equals enabled. */
	portprof_status (*one)(struct ppi_backend_session *bs, size_t event,
	                       portprof_count *out);
	/* Which way `one` goes, and why no shorter; a constant string. */
	const char *(*how)(struct ppi_backend_session *bs, size_t event);
	/* Where CPUs are of several types: what `part` of them counted, by the
	 * PMU of which name on which CPUs, constant as long as the session.
	 * E_NOTFOUND past the last, and where an event has no parts. */
	portprof_status (*part)(struct ppi_backend_session *bs, size_t event,
	                        size_t part, const char **pmu,
	                        const char **cpus, portprof_count *out);
};

/* One open session of a backend. */
struct ppi_backend_session {
	const struct ppi_backend_ops *ops;
	const void *kernel;     /* the seam: real or simulated */
	void *state;            /* ops->state_size bytes, zeroed, the core's */
	uint64_t caps;          /* open may remove what this session lacks */
	const struct ppi_plan *plan; /* lives as long as the session */
	unsigned drain_every_ms; /* longest time between two drains; open may
	                         * lower it from the core's 250 */
	int64_t owner_pid;      /* the process that opened it */
	int64_t helper_tid;     /* our helper thread; not to be profiled */
	struct ppi_diag *refusals; /* PPI_COUNT with allow_refused: one an event,
	                            * else NULL. Where status is set on entry to
	                            * open the event is unresolved: skip it. Open
	                            * tells there what it cannot open itself. */
	/* How often totals began at 0 again: weight of before must not be
	 * carried by samples of after. Changes only while stopped. */
	unsigned resets;
	const struct ppi_count_ways *ways; /* PPI_COUNT: open may set it */
	/* Sentences for the user about how it is measured; open and drain
	 * may add some with ppi_note. */
	char (*notes)[256];
	size_t note_count, note_room;
};

/* Add a note unless it is there already. */
void ppi_note(struct ppi_backend_session *bs, const char *words, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 2, 3)))
#endif
	;

/* Tell the caller of a way of ppi_count_ways, whose thread this is, that the
 * reading failed. Returns status. */
portprof_status ppi_count_failed(const struct ppi_backend_session *bs,
                                 portprof_status status);

/* ---- the nine functions ---- */

/*
 * All are mandatory and none is NULL, in this order in every backend and
 * every table. What a backend cannot do it says by a missing capability and
 * answers with PORTPROF_E_UNSUPPORTED. The core serialises the calls for one
 * session; but count may run beside any other, and close comes last.
 *
 * Calls for one session may come from different threads, except that `open`
 * and, while running, `drain` are called in the helper thread, whose signals
 * are all blocked and which the application never sees.
 */
struct ppi_backend_ops {
	unsigned abi;           /* PPI_BACKEND_ABI it was written for */
	const char *name;       /* what a user types; also the folder's name */
	const char *summary;    /* one line for listings */
	uint64_t caps;          /* the most it can ever do */
	int rank;               /* order of automatic choice, higher first */
	size_t state_size;      /* private bytes */
	const void *real_kernel; /* the real seam, NULL when not on this OS */

	/* Usable here, now, by this user, with which capabilities? Leaves no
	 * trace, never fails hard (SEL-3). May block for a few ms. */
	void (*probe)(const void *kernel, struct ppi_probe *out);

	/* What a request really means here (EVENT-*). Opens nothing that
	 * outlives the call. E_NOTFOUND, E_UNSUPPORTED, E_INVALID. */
	portprof_status (*resolve)(const void *kernel,
	                           const struct ppi_event_request *request,
	                           enum ppi_mode mode, struct ppi_event *event,
	                           struct ppi_diag *why);

	/* Take every resource that can fail. On failure it has undone itself
	 * and the core calls nothing more. A counting session counts from
	 * start on, like a sampling one. */
	portprof_status (*open)(struct ppi_backend_session *bs,
	                        struct ppi_diag *why);

	/* Begin, or go on after stop: totals continue (LIFE-5). Cheap. BUSY
	 * when a facility of which a process has one is taken (LIFE-11);
	 * nothing was disturbed then. */
	portprof_status (*start)(struct ppi_backend_session *bs,
	                         struct ppi_diag *why);

	/* When it returns no new sample appears: drain until empty is then
	 * complete (LIFE-3). Twice is fine. */
	portprof_status (*stop)(struct ppi_backend_session *bs,
	                        struct ppi_diag *why);

	/* Move records into `room`, oldest first where time is known. None
	 * added means empty. Works while running and after stop. Also the
	 * place for what must be done now and then: new threads, harvest. */
	portprof_status (*drain)(struct ppi_backend_session *bs,
	                         struct ppi_room *room);

	/* Values since open of events [0, count), at one instant where
	 * CAP_GROUP is there. Hot: no allocation, lock or formatting. */
	portprof_status (*count)(struct ppi_backend_session *bs,
	                         portprof_count *out, size_t count);

	/* The account of one event since open; exact or marked unknown
	 * (LOSS-*). Silent loss is the worst bug this library can have. */
	portprof_status (*stats)(struct ppi_backend_session *bs, size_t event,
	                         struct ppi_account *out);

	/* Give back everything taken, put back everything displaced. Cannot
	 * fail; any state. In a forked child (owner_pid is not getpid) it
	 * frees memory and descriptors and touches nothing shared with the
	 * parent (LIFE-8). */
	void (*close)(struct ppi_backend_session *bs);
};

/*
 * A backend that names more than CPU time lists its events and PMUs. Each
 * walk calls `take` until it answers other than 0, and returns that; nothing
 * is opened.
 */
struct ppi_catalogue_ops {
	int (*events)(const void *kernel, portprof_event_fn take,
	              void *context);
	int (*pmus)(const void *kernel, portprof_pmu_fn take, void *context);
};

/* ---- the table of compiled-in backends (registry.c) ---- */

/* Best rank first; NULL past the last. */
const struct ppi_backend_ops *ppi_backend_at(size_t index);
const struct ppi_backend_ops *ppi_backend_find(const char *name);
/* NULL: it names CPU time alone. */
const struct ppi_catalogue_ops *
ppi_catalogue_of(const struct ppi_backend_ops *ops);

/* The seam a backend is to use: its real_kernel, or what a test put there
 * with ppi_backend_set_kernel (NULL takes it back; ppi_no_kernel: as on a
 * system that has none). */
const void *ppi_backend_kernel(const struct ppi_backend_ops *ops);
void ppi_backend_set_kernel(const char *name, const void *kernel);
extern const char ppi_no_kernel[];

#endif
