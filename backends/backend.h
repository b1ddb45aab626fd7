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
#include <portprof/profile.h>
#include <portprof/record.h>
#include <portprof/session.h>
#include <portprof/status.h>

/* ---- events ---- */

/* Every part of an event string is at least two of its characters. */
enum { PPI_EVENT_TEXT = 256, PPI_EVENT_PARTS = PPI_EVENT_TEXT / 2 };

/*
 * A part of an event string that the core does not know, as it was written: a
 * modifier of the backend's, with or without a value, or a unit mask. Values are
 * well-formed numbers, or y or n; of `field`, names.
 */
struct ppi_event_part {
	uint8_t at;        /* its place in text, from 0: its column less 1 */
	uint8_t bytes;     /* of all of it */
	uint8_t key_bytes; /* before its '='; all of it when it has no value */
};

/* An event string taken apart; knows the grammar, not the machine. */
struct ppi_event_request {
	char text[PPI_EVENT_TEXT]; /* as the user wrote it */
	char name[192];   /* pmu::EVENT, or EVENT; resolve may add to it */
	uint16_t name_column; /* 1-based place in text of what is after pmu:: */
	bool has_modes;   /* u, k or h was given: only those are wanted */
	bool user, kernel, hypervisor;
	uint64_t period;  /* 0 = not given; else in the event's unit */
	uint64_t rate_hz; /* 0 = not given */
	bool is_rate_own; /* its string says the period or rate, not the session */
	bool is_rate_usual; /* nobody asked for that rate: an event for which
	                     * it makes no sense may have another */
	bool skip_open_check; /* say what it means; do not ask whether the
	                       * kernel would open it here */
	int64_t pid;      /* whose symbols a name may mean; 0 = nobody is to be
	                   * measured yet: this process's; -1 = no process's;
	                   * -2 = those of processes that are not there yet, which
	                   * will look for themselves: any */
	/* All else, in order. Resolve takes each or refuses it by its name, value
	 * and column (ppi_event_refuse_part). */
	struct ppi_event_part parts[PPI_EVENT_PARTS];
	size_t part_count;
	/* "KEY=VALUE": a modifier that the session wants of events that do not
	 * have it; "" = none. Without meaning for a backend that does not know
	 * it. */
	char wish[32];
	/* Of whose events in a list it is which; NULL: it was written itself. */
	const struct portprof_preset *preset;
	size_t preset_event;
};

/* Whether the part's key is `key`, in upper or lower case. */
bool ppi_event_part_is(const struct ppi_event_request *request,
                       const struct ppi_event_part *part, const char *key);

/*
 * The shortest libpfm4 string that parses to `request` again: `name` (which
 * may be the backend's own spelling of request->name), then modes, period and
 * rate in a fixed order, then `more`, parts of the backend's with a colon
 * before each. False when it does not fit in `bytes`.
 */
bool ppi_event_format(const struct ppi_event_request *request,
                      const char *name, const char *more, char *out,
                      size_t bytes);

/* What a backend will really measure for a request. */
struct ppi_event {
	struct ppi_event_request request;
	portprof_unit unit;
	bool is_cpu_time;     /* its own total is the target's CPU time */
	bool counts_user, counts_kernel, counts_hypervisor;
	uint64_t period;      /* to be asked of the kernel; unit of the event.
	                       * Without period and rate it is counted along with
	                       * those of its group, which are sampled */
	uint64_t rate_hz;     /* not 0: the kernel is asked for a rate */
	char pmu[64];         /* whose event it is; "" = the backend's own */
	char canonical[256];  /* parses and resolves to the same again */
	char description[512];
	char encoding[128];   /* what the kernel is asked for, to be printed:
	                       * "type 4, config 0x3c"; "" = nothing to say */
	char fields[160];     /* what its samples tell beside, as its string asks
	                       * for it: names with blanks between; "" = nothing */
	/* A count times `scale` is in this unit ("Joules"); "" = a number. */
	double scale;
	char scaled_unit[24];
	uint64_t own[12];     /* the backend's; nobody else looks at it */
	size_t group;         /* events of equal number are one group */
};

/* ---- diagnostics: filled where something fails ---- */

/* The public one, under the name that backends know. */
struct ppi_diag {
	portprof_status status;
	int os_errno;
	char step[PORTPROF_STEP_BYTES];
	char words[PORTPROF_WORDS_BYTES];
	portprof_reason reason;
	char place[PORTPROF_PLACE_BYTES];
	unsigned line, column;
	char suggestions[PORTPROF_SUGGESTIONS][PORTPROF_SUGGESTION_BYTES];
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

/*
 * What a program reads, about a failure that was just filled in (`why` may be
 * NULL): a reason other than the status's usual one, the column of the text that
 * is wrong, the names that come near. Each returns `status`, so that it stands
 * around the ppi_fail: return ppi_because(why, REASON, ppi_fail(...)).
 */
portprof_status ppi_because(struct ppi_diag *why, portprof_reason reason,
                            portprof_status status);
portprof_status ppi_at_column(struct ppi_diag *why, portprof_reason reason,
                              size_t column, portprof_status status);
struct ppi_nearest;
portprof_status ppi_suggest(struct ppi_diag *why,
                            const struct ppi_nearest *nearest,
                            portprof_status status);

/* Refuse a part of an event string: the words name it, with its column, before
 * `words`, which say why or what to do. Returns status. */
portprof_status ppi_event_refuse_part(const struct ppi_event_request *request,
                                      const struct ppi_event_part *part,
                                      portprof_status status,
                                      struct ppi_diag *why, const char *words);

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
	PPI_TARGET_SYSTEM   /* what runs on `cpus`; pid and tid are 0 */
};

struct ppi_target {
	enum ppi_target_kind kind;
	int64_t pid, tid;
	bool is_self; /* pid is this process */
	const int64_t *others; /* PPI_TARGET_PID: processes measured with `pid`,
	                        * none of them this one; may repeat */
	size_t other_count;
	const char *cpus;   /* PPI_TARGET_SYSTEM: "0,2-3", well-formed; NULL =
	                     * all */
	const char *cgroup; /* PPI_TARGET_SYSTEM: only what is in it; NULL =
	                     * everybody */
};

/* A range of text somebody counts; sorted, disjoint. */
struct ppi_range {
	uint64_t start, end;  /* [start, end) */
	uint64_t bin_bytes;   /* width that suits the sinks: no bin or end of
	                       * theirs is inside one; a power of two */
};

/* All that was asked for and checked. Backends read the members that concern
 * them; none changes after open. */
struct ppi_plan {
	enum ppi_mode mode;
	struct ppi_target target;
	const struct ppi_event *events;
	size_t event_count;
	bool follow_children;
	bool has_exact_children; /* nothing of them is to be estimated */
	bool is_delayed;        /* start comes later, when the target has gone
	                         * on: open begins to report its code and its
	                         * threads, drain brings that before start */
	bool allow_refused;     /* PPI_COUNT: go on without refused events */
	bool want_modules;      /* some sink wants MODULE and THREAD records */
	bool want_user_address; /* some sink counts user text only */
	const char *command;    /* what files say was measured, of no concern
	                         * to backends; NULL = what was seen of it */
	uint64_t timeline_ns;   /* files keep when samples fell, to so much; of
	                         * no concern to backends; 0 = they do not */
	bool timeline_grows;    /* ... and to less, the longer it takes */
	uint32_t label_sets;    /* files keep so many sets of the program's labels
	                         * apart; no concern of backends; 0 = usual */
	unsigned chain_depth;   /* 0 = none */
	size_t stack_bytes;     /* the user's part of chains is unwound from
	                         * registers and so much of the stack; 0 = the
	                         * backend gives chains */
	bool may_copy_less;     /* ... and may begin with less than that, until
	                         * wants_longer_stacks says that chains are cut */
	bool uses_tables;       /* by frame tables (CAP_UNWIND), too */
	uint32_t sample_fields; /* of PORTPROF_FIELD_ what the hardware tells;
	                         * only where CAP_EVENTS is there */
	uint32_t label_fields;  /* those of them that files keep; of no concern
	                         * to backends */
	uint32_t branch_kinds;  /* of PORTPROF_BRANCHES_; 0 = all */
	size_t ring_bytes;      /* 0 = the backend chooses */
	uint64_t required_caps; /* the user's: open must not remove them */
	struct ppi_area *area;  /* not NULL: what is measured goes there, and
	                         * drain only does what has to be done now and
	                         * then; see below */
	bool estimates_ends;    /* the first sample of a thread weighs a whole
	                         * period, so that samples are right on average
	                         * though the last one is not the thread's end;
	                         * only where CPU time is sampled by timers */
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

/* What is in it, for readers. */
static inline portprof_batch ppi_room_batch(const struct ppi_room *room)
{
	return (portprof_batch){
		.records = room->records,
		.count = room->record_count,
		.words = room->words,
		.word_count = room->word_count,
		.record_bytes = sizeof(room->records[0]),
	};
}

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

/*
 * What a sample may carry in place of a chain: the user's registers, by their
 * DWARF numbers, and a copy of the stack from the stack pointer up. They follow
 * the payload's chain (of the kernel, or empty), which does not count them; the
 * pump unwinds them into addresses of the chain before any sink sees the record.
 */
enum { PPI_REGISTERS = 33 };
#define PPI_FIELD_CONTEXT (1u << 31) /* of portprof_record.valid */
/*
 * The chain that is found is kept, until the thread's next one that is; and a
 * sample that says so has it again: its payload is room for as much of it as
 * goes in.
 */
#define PPI_FIELD_KEEP  (1u << 30)
#define PPI_FIELD_AGAIN (1u << 29)
/* With either of them: the one of the thread's last sample while it ran, with its
 * address; where there is none such a sample stays what it is. */
#define PPI_FIELD_RAN   (1u << 28)
/* Its set of labels is said, also that it has none: no time is to find it. */
#define PPI_FIELD_LABELLED (1u << 27)
struct ppi_user_context {
	uint64_t known; /* bit n: registers[n] is known */
	uint64_t registers[PPI_REGISTERS];
	uint32_t stack_bytes; /* which follow this struct */
	uint16_t is_stack_all; /* the stack ends there, not only the copy */
	uint16_t is_32_bit;    /* so is the program: of other registers */
	/* Of the stack that a signal interrupted, where its handler runs on
	 * another; 0 = none or unknown. Its bytes follow those of the first. */
	uint64_t interrupted_start;
	uint32_t interrupted_bytes;
	uint32_t is_interrupted_all;
	/* Return addresses as frame pointers led the kernel, past the copy as well;
	 * they follow the stacks. */
	uint64_t caller_count;
};

/* A backend's part of the account of one event, since open. */
struct ppi_account {
	uint64_t total_weight;    /* A: what the event itself counted */
	uint64_t not_attached;    /* P - A: CPU time of threads not attached */
	uint64_t cpu_time_ns;     /* P: the target's clock; 0 = cannot tell */
	uint64_t idle_ns;         /* PPI_TARGET_SYSTEM: in no total */
	bool is_estimate;         /* samples are not the total's parts, but an
	                           * estimate of it that may be above it ... */
	double variance;          /* ... by so much, squared */
	bool is_partial;          /* the event was off for some of the time: CPU
	                           * time that it has not is not its lack */
	uint64_t own_cost_ns;     /* of our helper threads in other processes */
	uint64_t lost_samples;    /* by the kernel or by our ring */
	uint64_t throttled;
	uint64_t granted_period;  /* 0 = unknown or by rate */
	double granted_hz;        /* 0 = unknown */
	portprof_certainty lost_certainty;
	portprof_certainty total_certainty;
};

/* ---- memory that sessions of several processes share ---- */

/*
 * A session may leave what it measures in an *area*: memory that a session of
 * another process, the collector, reads. So what was measured is safe from
 * then on, however its process ends (LIFE-23). The collector owns a *pool* of
 * areas; each session of the measured processes takes one.
 */
struct ppi_area;
struct ppi_areas;

/* Take an area of the pool of that name (ppi_areas_name). Waits for one a
 * moment when all are taken. */
portprof_status ppi_area_take(const char *name, struct ppi_area **area,
                              struct ppi_diag *why);

/* Give it up, in a forked child, too: there it stays the parent's. */
void ppi_area_leave(struct ppi_area *area);

/* Whether nobody collects any more: measuring has no purpose then. */
bool ppi_area_is_abandoned(const struct ppi_area *area);

/* The memory of a ring for backends that take samples in signal handlers, and
 * how much of a stack goes with each: see backends/common/tick_ring.h. */
void *ppi_area_ring(struct ppi_area *area, size_t *bytes, size_t *stack_bytes);

/* Other records, one thread at a time. False when there is no room. They are
 * valid for samples from place `since` of the ring on, where samples wait for the
 * next mark: the code they fell on is then told. */
void ppi_area_since(struct ppi_area *area, uint64_t since);
bool ppi_area_put(struct ppi_area *area, const portprof_record *record,
                  const void *payload, size_t payload_bytes);
bool ppi_area_note(struct ppi_area *area, const char *note);
void ppi_area_mark(struct ppi_area *area, uint64_t place);

/* While a process has no helper thread, nobody in it looks for code or writes
 * accounts: samples wait for no mark, and what they weigh is the account until
 * the process ends or has that thread. */
void ppi_area_be_alone(struct ppi_area *area, bool is_alone);

/* The account as of now; `is_last`: nothing more will come. */
void ppi_area_account(struct ppi_area *area, const struct ppi_account *account,
                      bool is_last);

/* A new pool, without areas before a session collects from it. */
portprof_status ppi_areas_open(struct ppi_areas **pool, struct ppi_diag *why);
struct ppi_areas *ppi_areas_hold(struct ppi_areas *pool);
void ppi_areas_release(struct ppi_areas *pool); /* as often as held, and once */
const char *ppi_areas_name(const struct ppi_areas *pool);

/* What probing found; `reason` says what to do when !is_usable, or what is
 * restricted when it is. */
struct ppi_probe {
	/* Asked: what was found before, when it was usable, will do; and
	 * answered: that is what this is, with `caps` and nothing else. */
	bool may_be_old, is_old;
	bool is_usable;
	bool only_by_name; /* usable, but auto passes it over for `reason` */
	uint64_t caps;
	/* Usable, but without these, and why; `reason` has all of it. Where
	 * more rights would give it the status is E_DENIED. */
	struct ppi_limit {
		uint64_t caps;
		portprof_status status;
		char words[400];
	} limits[4];
	size_t limit_count;
	portprof_status status;
	int os_errno;
	char reason[512];
	/* Who wants to hear of each thing that is looked at, what works too:
	 * ppi_probe_report. NULL: only what is above is wanted. */
	portprof_finding_fn take;
	void *context;
};

/* Report one finding where somebody asked; remedy NULL: nothing to do. */
void ppi_probe_report(struct ppi_probe *probe, const char *topic,
                      const char *name, portprof_verdict verdict,
                      const char *remedy, const char *words, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 6, 7)))
#endif
	;

struct ppi_backend_session;

/* A note begins with an event string that may be as long as PPI_EVENT_TEXT. */
enum { PPI_NOTE_BYTES = PPI_EVENT_TEXT + 320 };

/* One open session of a backend. */
struct ppi_label_state;

/* What the core knows of the sets of labels that threads are in; see
 * base/label_look.h. In the helper thread. */
struct ppi_label_reader {
	/* The one that a thread is in now. With `is_proof` it is asked, too, whether
	 * the process runs the program that says so. */
	void (*read)(void *self, int64_t pid, int64_t tid, bool is_proof,
	             struct ppi_label_state *out);
	void *self;
};

struct ppi_backend_session {
	const struct ppi_backend_ops *ops;
	const void *kernel;     /* the seam: real or simulated */
	void *state;            /* ops->state_size bytes, zeroed, the core's */
	uint64_t caps;          /* open may remove what this session lacks */
	const struct ppi_plan *plan; /* lives as long as the session */
	unsigned drain_every_ms; /* longest time between two drains; open may
	                         * lower it from the core's 250 */
	int64_t owner_pid;      /* the process that opened it */
	int64_t helper_tid;     /* our helper thread, not to be profiled; 0 on
	                         * a simulated kernel */
	struct ppi_diag *refusals; /* PPI_COUNT with allow_refused: one an event,
	                            * else NULL. Where status is set on entry to
	                            * open the event is unresolved: skip it. Open
	                            * tells there what it cannot open itself. As
	                            * long as the session: count reads it, too. */
	/* How often totals began at 0 again: weight of before must not be
	 * carried by samples of after. Changes only while stopped. */
	unsigned resets;
	struct ppi_areas *pool;  /* of ppi_backend_collect; else NULL */
	/* Where samples of signal handlers wait in their order; open sets it,
	 * and drain leaves what came at ticks_end or later. NULL: the kernel's
	 * records are in order with those of code. */
	const struct ppi_tick_ring *ticks;
	uint64_t ticks_end;
	/* The pump's: chains are cut where copies of stacks end. */
	bool wants_longer_stacks;
	/* What became of the threads' time, where waits are measured. */
	portprof_life life;
	const struct ppi_label_reader *labels; /* NULL: there is none */
	/* Sentences for the user about how it is measured; open and drain
	 * may add some with ppi_note. */
	char (*notes)[PPI_NOTE_BYTES];
	size_t note_count, note_room;
};

/* Add a note unless it is there already. */
void ppi_note(struct ppi_backend_session *bs, const char *words, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 2, 3)))
#endif
	;

/* The same, of a note whose numbers change: *note, NULL before the first time, is
 * where it stands, and is written anew. */
void ppi_note_again(struct ppi_backend_session *bs, char **note,
                    const char *words, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 3, 4)))
#endif
	;

/* The place of the next sample in bs->ticks, 0 without a ring; and whether one
 * waits there from before a place. */
uint64_t ppi_ticks_place(const struct ppi_backend_session *bs);
bool ppi_ticks_wait_before(const struct ppi_backend_session *bs,
                           uint64_t place);

/* Tell the caller of a way of ppi_count_ways, whose thread this is, that the
 * reading failed, and why if it is known (else NULL): with E_SYSTEM, errno is the
 * system's answer. Returns status. */
portprof_status ppi_count_failed(const struct ppi_backend_session *bs,
                                 portprof_status status, const char *why);

/* The count of a backend without CAP_COUNT: UNSUPPORTED. */
portprof_status ppi_no_count(struct ppi_backend_session *bs, portprof_count *out,
                             size_t count);

/* ---- optional tables ---- */

/*
 * Each of them is NULL in a backend's table, or complete: its functions stand
 * in this order and none is NULL (tests/lint/check-order.sh).
 */

/* A backend that names more than CPU time lists its events and PMUs. Each walk
 * calls `take` until it answers other than 0, and returns that; nothing is
 * opened. */
struct ppi_catalogue_ops {
	int (*events)(const void *kernel, portprof_event_fn take,
	              void *context);
	int (*pmus)(const void *kernel, portprof_pmu_fn take, void *context);
};

/*
 * How an open counting session is read where that can be cheaper than by
 * `count`: without the kernel, say, or without what nearly never happens. Both
 * readers take the longer way where the shorter fails, now or by
 * this thread. Hot, like `count`, and beside any other call like it; they leave
 * *out alone when they fail, and are left by ppi_count_failed then.
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
};

/* Where a count is made of several: by CPUs of several types, say. */
struct ppi_count_parts {
	/* What `part` of an event counted, by the PMU of which name on which
	 * CPUs, constant as long as the session. PORTPROF_END past the last, and
	 * where an event has no parts. */
	portprof_status (*part)(struct ppi_backend_session *bs, size_t event,
	                        size_t part, const char **pmu,
	                        const char **cpus, portprof_count *out);
};

/* What measuring adds to the target's own CPU time: measured here and now, which
 * takes up to 3 ms the first time. 0: nothing, or nobody knows. */
struct ppi_costs_ops {
	void (*measure)(const struct ppi_backend_session *bs,
	                uint64_t *sample_ns, uint64_t *switch_ns);
};

/* What of an open session can be changed, running or not. */
enum ppi_steer {
	PPI_STEER_PERIOD,      /* in the event's unit */
	PPI_STEER_RATE,        /* in Hz */
	PPI_STEER_ENABLED,     /* 0: the event measures nothing until 1 */
	PPI_STEER_SAMPLES_LEFT, /* it is off after so many more samples */
	PPI_STEER_ADD_THREAD,   /* of all events: of a session on one thread, */
	PPI_STEER_REMOVE_THREAD /* these; in the helper thread, emptied before
	                         * and after; never by a sink */
};
struct ppi_steering {
	/* The numbers are in range. E_UNSUPPORTED, E_STATE; nothing has changed
	 * then. May be called by a sink, during drain. */
	portprof_status (*steer)(struct ppi_backend_session *bs, size_t event,
	                         enum ppi_steer what, uint64_t number,
	                         struct ppi_diag *why);
};

/*
 * How a forked child of a process that leaves its samples in an area continues
 * so, by the copy of the session that the fork made: without a helper thread, and
 * so without anything but samples (of ppi_tick.pid). A child that had none has
 * written nothing to memory that it shares. Both in the child alone, with no
 * other thread.
 */
struct ppi_heir_ops {
	/* False: this session cannot, or is not running; nothing has changed. */
	bool (*begin)(struct ppi_backend_session *bs);
	/* No sample comes any more. Async-signal-safe; close may follow, which
	 * is that of a child then. */
	void (*end)(struct ppi_backend_session *bs);
};

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
	const char *name;       /* what a user types; also the folder's name */
	const char *summary;    /* one line for listings */
	uint64_t caps;          /* the most it can ever do */
	size_t state_size;      /* private bytes */
	/* Optional tables; NULL where it has nothing of the kind. */
	const struct ppi_catalogue_ops *catalogue;
	const struct ppi_count_ways *count_ways;
	const struct ppi_count_parts *count_parts;
	const struct ppi_costs_ops *costs;
	const struct ppi_steering *steering;
	const struct ppi_heir_ops *heirs;
	/* Modifiers that are a group's and stand with its first event, with
	 * commas between them; NULL = none. */
	const char *group_modifiers;
	/* Its chains are unwound from copies of stacks, never given. */
	bool copies_stacks;
	/* Its records say the sets of labels that threads were in. Where they do
	 * not, times of samples find them. */
	bool reads_labels;
	/* Its counters need no helper thread, which others keep: so that what
	 * it used can be left out. */
	bool counts_alone;
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

	/* What events [0, count) counted since open, while started, at one
	 * instant where CAP_GROUP is there. Hot: no allocation, lock or
	 * formatting; shared/total.h is a value that can be read so. */
	portprof_status (*count)(struct ppi_backend_session *bs,
	                         portprof_count *out, size_t count);

	/* The account of one sampled event since open; exact or marked unknown
	 * (LOSS-*). Silent loss is the worst bug this library can have. */
	portprof_status (*stats)(struct ppi_backend_session *bs, size_t event,
	                         struct ppi_account *out);

	/* Give back everything taken, put back everything displaced. Cannot
	 * fail; any state. In a forked child (owner_pid is not getpid) it
	 * frees memory and descriptors and touches nothing shared with the
	 * parent (LIFE-8). */
	void (*close)(struct ppi_backend_session *bs);
};

/* ---- the table of compiled-in backends (registry.c) ---- */

/* Best rank first; NULL past the last. */
const struct ppi_backend_ops *ppi_backend_at(size_t index);
const struct ppi_backend_ops *ppi_backend_find(const char *name);
/* The order of automatic choice on this system, higher first; below 0: only by
 * name. */
int ppi_backend_rank(const struct ppi_backend_ops *ops);

/* Not in the table: takes what sessions of other processes leave in the areas
 * of bs->pool. Its events are resolved by the backend that measures there. */
extern const struct ppi_backend_ops ppi_backend_collect;

/*
 * Nor is this one: the events ready-time and blocked-time, which every session
 * may have beside those of its backend, or alone. Its seam, NULL where the system
 * does not show waits; a test's instead (as ppi_backend_set_kernel).
 */
extern const struct ppi_backend_ops ppi_backend_waits;
bool ppi_waits_has(const struct ppi_event_request *request);
const void *ppi_waits_kernel_here(void);
void ppi_waits_set_kernel(const void *kernel);
/* The same of systems that only say how long threads waited. */
void ppi_waits_set_charges(const void *kernel);

/* Put it around a session that is about to be opened, whose plan has such events;
 * its table of functions is then `ops`. On failure nothing has changed. */
portprof_status ppi_waits_beside(struct ppi_backend_session *bs,
                                 struct ppi_backend_ops *ops,
                                 struct ppi_diag *why);

/* The seam a backend is to use: its real_kernel, or what a test put there
 * with ppi_backend_set_kernel (NULL takes it back; ppi_no_kernel: as on a
 * system that has none). */
const void *ppi_backend_kernel(const struct ppi_backend_ops *ops);
void ppi_backend_set_kernel(const char *name, const void *kernel);
extern const char ppi_no_kernel[];

#endif
