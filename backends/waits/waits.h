/* SPDX-License-Identifier: MIT */
/* What the files of waits share: a watched process, its threads, and where each
 * of them waits. */
#ifndef WAITS_H
#define WAITS_H

#include <pthread.h>

#include <uthash.h>

#include "backends/backend.h"
#include "backends/waits/waits_charges_kernel.h"
#include "backends/waits/waits_kernel.h"
#include "base/label_look.h"
#include "base/vector.h"

enum waits_kind {
	WAITS_OTHER, WAITS_LOCK, WAITS_CONDITION, WAITS_SLEEP, WAITS_DISK,
	WAITS_NETWORK, WAITS_PIPE, WAITS_TERMINAL, WAITS_CHILD, WAITS_POLL,
	WAITS_PAGE_FAULT, WAITS_MEMORY, WAITS_STOPPED, WAITS_IDLE, WAITS_KINDS
};

/* What a thread does at one moment, as far as /proc tells. */
enum waits_phase { WAITS_RUNNABLE, WAITS_BLOCKED, WAITS_OVER };

struct waits_place {
	enum waits_phase phase;
	bool is_known;  /* where, not only that it is blocked */
	bool is_charged; /* its kind is known, not where (waits_charges.c) */
	enum waits_call call;
	int64_t number;
	uint64_t arguments[6], sp, pc;
	char function[48]; /* of the kernel; "" unknown */
	uint64_t kernel_pc; /* where its chain begins in the kernel; 0: it does not */
	uint64_t callers;  /* a sum over what the stack has of return addresses */
	enum waits_kind kind;
	char on[128], holder[64];
	int64_t held_by; /* that thread; 0 unknown */
	char waker[64];  /* who ended it, once it is over */
	bool is_vague;   /* a socket of which nothing was known yet */
	bool is_closed;  /* a descriptor that was not to be read */
};

/* A thread was woken (waits_wakers.c). */
struct waits_waking {
	uint64_t time_ns; /* 0: it was not, or nobody saw it */
	int64_t pid, tid; /* by whom */
	bool is_interrupt; /* which came while that one ran */
};

/* How a wait ends that a look met. */
struct waits_end {
	uint64_t met_ns;           /* that look */
	struct waits_waking woken; /* the first one since */
	bool is_uncounted; /* no weight of it was recorded yet */
};

/* What the scheduler has charged a thread since it began. */
struct waits_sums {
	uint64_t running_ns, ready_ns, turns;
};

/* How often a thread has given up its CPU to wait, and when it last ran, by the
 * clock of its CPU; 0 unknown. */
struct waits_switches {
	uint64_t waits, ran_ns;
};

/* Sets of labels of a thread (waits_labels.c). */
struct waits_labels {
	struct ppi_label_state since;  /* when what is pending began */
	struct ppi_label_state looked; /* just before the last look */
	uint32_t here;   /* of the wait at the last place that was known */
	uint32_t owed;   /* of the wait that was seen before it ran */
	uint64_t owed_ns; /* and what is surely that wait's, of what is owed */
	bool has_others; /* waits that nobody saw are pending, too */
	unsigned asked;  /* again, as it was not known of this wait */
};

/* Weight of one set. */
struct waits_share {
	uint32_t set;
	uint64_t ns;
};

/* How far a CPU's clock is behind CLOCK_MONOTONIC, and when that was found. */
struct waits_clock {
	int64_t behind_ns;
	uint64_t at_ns;
};
enum { WAITS_CPUS = 256 };

/* Of more threads than these each is looked at, and recorded, more rarely. */
enum { WAITS_MANY_THREADS = 256 };

struct waits_process {
	UT_hash_handle hh;
	int64_t pid;
	bool is_awaited; /* the command's, before its exec */
	bool is_foreign; /* calls have other numbers there: of 32 bits */
	uint64_t program; /* another number after each exec */
	uint64_t ran_ns;  /* all of its threads, at `ran_at_ns`, in that pass */
	uint64_t ran_at_ns;
	unsigned ran_pass;
	size_t looks;       /* at its threads in that pass, and without it */
	size_t threads;
	uint64_t listed_ns; /* those were, for the last time */
	/* Code that is to be told, where nobody else does. */
	struct ppi_vector code;
	size_t code_told;
	uint64_t code_ns, code_wait_ns;
};

/* What a thread is called, where nobody else tells: most name themselves soon after
 * they began. */
struct waits_name {
	char text[16];
	uint64_t next_ns, pause_ns; /* when it is read again */
};

struct waits_thread {
	UT_hash_handle hh;
	int64_t tid;
	struct waits_process *process;
	int held;          /* its schedstat, or -1 */
	bool is_met;
	bool has_chain;    /* `at` was told with a stack */
	struct waits_name name;
	uint64_t since_ns; /* counted from then on */
	uint64_t looked_ns, changed_ns, next_ns;
	struct waits_sums first, last;
	uint64_t waits;    /* how many there were at the last look */
	uint64_t process_ran_ns; /* shortly before that look; 0: not known */
	struct waits_place at; /* the last place that was known */
	bool was_blocked;  /* at the last look, there */
	struct waits_end end; /* of that wait */
	int64_t pending_ns; /* neither running nor ready, and not told yet */
	uint64_t owed_ns;  /* of that, what belongs to the last place */
	struct waits_labels labels;
	uint64_t told_ns;  /* blocked time that was told */
	uint64_t excess_ns; /* CPU time that the kernel had not charged yet */
	uint64_t died_ns;   /* as a record of another backend says; 0 */
	bool has_ended;
};

/* What a pass asks of a thread that it does not look at. */
struct waits_seat {
	struct waits_thread *thread;
	uint64_t next_ns;      /* of the thread, as the last look left it */
	bool has_ended;        /* likewise */
	portprof_life counted; /* of it, in the sum of the living */
};

/* A thread that is gone, while records of it may be read yet. */
struct waits_gone {
	UT_hash_handle hh;
	int64_t tid;
	uint64_t died_ns, looked_ns; /* for the last time */
};

/* Sockets that were looked up. */
struct waits_socket {
	UT_hash_handle hh;
	uint64_t inode;
	bool listens;
	bool asks; /* it was connected from here: nobody listens on its port */
	bool serves; /* it was accepted: somebody does */
	struct waits_connection ends;
	bool is_settled; /* it will not be another's */
	uint64_t next_ns, pause_ns; /* when the lists are read for it again */
	char peer[100];
};

struct waits_sockets {
	struct waits_socket *by_inode;
	uint64_t next_ns; /* when the lists of them may be read again */
	uint8_t listening[65536 / 8]; /* ports of TCP, a bit each */
};

/* When who is looked for, and looked at. */
struct waits_times {
	uint64_t started_ns, scanned_ns, all_scanned_ns;
	uint64_t births, all_births; /* as the system counted them then */
	uint64_t next_ns, every_ns; /* passes */
	uint64_t late_ns;   /* how much later than then they are */
	int64_t hastened;   /* who looks was asked to go before others, */
	bool is_hasty;      /* and does */
	unsigned pass;
	size_t child_scan;      /* the thread whose children are next */
	uint64_t earliest_ns;   /* that a thread is due */
	pthread_t thread;       /* who made the last one, */
	uint64_t thread_cpu_ns; /* and that thread's CPU time at its end */
	uint32_t dice;
	struct waits_clock clocks[WAITS_CPUS];
};

/* What is needed for frames in the kernel (waits_frames.c): as many as are told, and as
 * much text (fs/proc/base.c, MAX_STACK_TRACE_DEPTH). */
enum { WAITS_FRAMES = 64, WAITS_FRAMES_TEXT = 6144 };
struct waits_frames {
	bool is_wanted;              /* and they can be read */
	struct ppi_vector functions; /* of the kernel */
	uint64_t read_ns;            /* when those were */
};

struct waits_watch;

/* Where it is seen who wakes threads (waits_wakers.c). */
struct waits_wakers {
	/* Read what there is of it by now; NULL: it is not seen. */
	void (*read)(struct waits_watch *watch);
	struct ppi_room *room; /* of the drain that looks */
	uint64_t read_ns;      /* for the last time */
};

/* Weights that were told. */
struct waits_told {
	uint64_t ready, blocked;
};

/* Records of one look, until there is room for them. */
struct waits_queue {
	struct ppi_room room;
	size_t next, word; /* what was passed on */
};

/* What every part of a look asks for, so it has more members than most. */
struct waits_watch {
	const struct waits_kernel *kernel;
	struct waits_charges *charges; /* in place of it, or NULL */
	struct ppi_backend_session *bs;
	bool tells_code;   /* nobody else does */
	bool has_samplers; /* in the processes */
	bool has_samples;  /* of threads while they run */
	bool hears_births; /* the other backend has records of them */
	bool is_denied;    /* places could not be read */
	bool is_running, is_passing, is_last;
	size_t ready_event, blocked_event; /* SIZE_MAX: not asked for */
	struct waits_process *processes;
	struct waits_thread *by_id;
	struct waits_gone *gone;
	struct ppi_vector threads; /* of struct waits_seat */
	size_t cursor;     /* of the pass over them */
	size_t held_count;
	struct waits_sockets sockets;
	struct waits_frames frames;
	struct waits_wakers wakers;
	uint64_t now_ns;   /* of the pass */
	unsigned resets;
	struct waits_times times;
	struct waits_told told;
	struct waits_queue queue;
	portprof_life living, ended; /* of threads that are there, or gone */
};

static inline struct waits_seat *ppi_waits_seat(const struct waits_watch *watch,
                                                size_t i)
{
	return &PPI_AT(&watch->threads, struct waits_seat)[i];
}

/* The seams: real or simulated; NULL where there is none. Of the two at most one is
 * there. */
const struct waits_kernel *ppi_waits_kernel(void);
const struct waits_charges_kernel *ppi_waits_charges(void);

/* ---- waits_place.c: where a thread is, and what that means ---- */

extern const char *const ppi_waits_kinds[WAITS_KINDS];

/* Where a thread is now: 0, or -errno when it is gone. */
int ppi_waits_place(struct waits_watch *watch, struct waits_thread *thread,
                    struct waits_place *place);

/* Give a name to what it waits for. */
void ppi_waits_name(struct waits_watch *watch, struct waits_thread *thread,
                    struct waits_place *place);
/* What the thread waits for where it was last seen, if more can be known by now. */
void ppi_waits_name_again(struct waits_watch *watch, struct waits_thread *thread);

/* Whether a thread waits where it did at the last look, and for the same; it may
 * have run since. */
bool ppi_waits_is_same(struct waits_watch *watch, struct waits_thread *thread,
                       struct waits_place *place, bool has_moved);

/* ---- waits_files.c: for what: descriptors, paths ---- */

/* By the arguments of the call that it is in; each sets `on`, where that is known. */
enum waits_kind ppi_waits_kind_of_file(struct waits_watch *watch,
                                       const struct waits_thread *thread,
                                       struct waits_place *place);
enum waits_kind ppi_waits_kind_of_path(struct waits_watch *watch,
                                       const struct waits_thread *thread,
                                       struct waits_place *place);
enum waits_kind ppi_waits_kind_of_poll(struct waits_watch *watch,
                                       const struct waits_thread *thread,
                                       struct waits_place *place);
enum waits_kind ppi_waits_kind_of_select(struct waits_watch *watch,
                                         const struct waits_thread *thread,
                                         struct waits_place *place);
enum waits_kind ppi_waits_kind_of_events(struct waits_watch *watch,
                                         const struct waits_thread *thread,
                                         struct waits_place *place);

bool ppi_waits_begins(const char *text, const char *begin);
/* With one of a list, which NULL ends. */
bool ppi_waits_begins_one(const char *text, const char *const *begins);

/* ---- waits_frames.c: where it is in the kernel ---- */

/* After the session was opened, which has a capability more if they can be read. */
void ppi_waits_frames_open(struct waits_watch *watch);
/* The frames of a thread that is blocked in `at`, leaf first; 0: they are not known,
 * or there is no room for all. */
size_t ppi_waits_frames(struct waits_watch *watch,
                        const struct waits_thread *thread, uint64_t *out,
                        size_t room);
void ppi_waits_frames_close(struct waits_watch *watch);

/* ---- waits_wakers.c: who woke it ---- */

/* A record of the waking of a thread. */
void ppi_waits_take_waking(struct waits_watch *watch,
                           const portprof_record *record, int64_t tid,
                           bool is_interrupt);
/* A wait that the last look met is over: who ended it is known by now, if anybody
 * saw it. */
void ppi_waits_await_waking(struct waits_watch *watch,
                            const struct waits_thread *thread);
void ppi_waits_name_waker(struct waits_watch *watch, struct waits_thread *thread);

/* ---- waits_sockets.c: the other ends of sockets ---- */

/* NULL, or with no more than its inode: it is not known yet. */
const struct waits_socket *ppi_waits_socket(struct waits_watch *watch, int64_t pid,
                                            uint64_t inode);
/* NULL: it is not known so far; nothing is read for it. */
const struct waits_socket *ppi_waits_known_socket(const struct waits_watch *watch,
                                                  uint64_t inode);
void ppi_waits_forget_sockets(struct waits_watch *watch);

/* Of sockets that are waited for together those that were connected from here and those
 * that were accepted, as far as there is room. */
enum { WAITS_CROWD = 32 };
struct waits_crowd {
	uint64_t servers[WAITS_CROWD], clients[WAITS_CROWD];
	size_t server_count, client_count;
};
void ppi_waits_join_crowd(struct waits_crowd *crowd,
                          const struct waits_socket *socket);
/* Whether a client waits for an answer, and a server was asked and has not answered: its
 * name, or those of a few, are put in `on`. */
bool ppi_waits_is_unanswered(struct waits_watch *watch,
                             const struct waits_crowd *crowd, char *on,
                             size_t bytes);

/* ---- waits_numbers.c: what is counted of a thread ---- */

/* The file of a thread's folder in /proc: how many bytes, or -errno. */
int ppi_waits_read(const struct waits_watch *watch,
                   const struct waits_thread *thread, const char *name,
                   char *text, size_t room);
/* All of a list of any length, to be freed; NULL: empty, or not to be had. */
char *ppi_waits_read_list(const struct waits_watch *watch, const char *path);
/* 0, or -errno when it is gone. */
int ppi_waits_read_sums(struct waits_watch *watch, struct waits_thread *thread,
                        struct waits_sums *sums);
void ppi_waits_read_switches(const struct waits_watch *watch,
                             const struct waits_thread *thread,
                             struct waits_switches *out);
/* Compare the clock of this CPU with ours. */
void ppi_waits_read_clock(struct waits_watch *watch);
/* Since when a thread is blocked, CLOCK_MONOTONIC; false: not known. */
bool ppi_waits_blocked_since(const struct waits_watch *watch,
                             const struct waits_thread *thread,
                             const struct waits_switches *switches,
                             uint64_t *since_ns);
/* When it began, CLOCK_MONOTONIC, to a tick; 0 unknown. */
uint64_t ppi_waits_began_ns(const struct waits_watch *watch,
                            const struct waits_thread *thread);

/* ---- waits_scan.c: who is there ---- */

void ppi_waits_scan(struct waits_watch *watch, bool is_first);
struct waits_process *ppi_waits_process(const struct waits_watch *watch,
                                        int64_t pid);
struct waits_process *ppi_waits_enter_process(struct waits_watch *watch,
                                              int64_t pid);
void ppi_waits_forget_process(struct waits_watch *watch,
                              struct waits_process *process);
struct waits_thread *ppi_waits_thread(const struct waits_watch *watch,
                                      int64_t tid);
struct waits_thread *ppi_waits_add_thread(struct waits_watch *watch,
                                          struct waits_process *process,
                                          int64_t tid);
/* Another number after each exec; 0: not to be read. Of pid 0: the own one. */
uint64_t ppi_waits_program(const struct waits_watch *watch, int64_t pid);
bool ppi_waits_is_foreign(const struct waits_watch *watch, int64_t pid);
/* What a record of another backend says of a thread's life. */
void ppi_waits_watch_see(struct waits_watch *watch,
                         const portprof_record *record);
void ppi_waits_remember_gone(struct waits_watch *watch,
                             const struct waits_thread *thread, uint64_t died_ns);
/* Those that were gone for seconds at that time. */
void ppi_waits_forget_gone(struct waits_watch *watch, uint64_t now_ns);

/* ---- waits_watch.c: whose threads, and their sums ---- */

portprof_status ppi_waits_watch_open(struct waits_watch *watch,
                                     struct ppi_diag *why);
void ppi_waits_watch_start(struct waits_watch *watch);
void ppi_waits_watch_stop(struct waits_watch *watch);
/* Look at who is due; false: the room is full, and there is more. */
bool ppi_waits_watch_drain(struct waits_watch *watch, struct ppi_room *room);
/* It has ended, and is shown still. */
bool ppi_waits_is_laid_out(const struct waits_thread *thread);
/* How long until somebody is due. */
unsigned ppi_waits_watch_nap_ms(const struct waits_watch *watch);
void ppi_waits_watch_close(struct waits_watch *watch);

/* ---- waits_charges.c: the same of sums alone ---- */

struct waits_charges;

portprof_status ppi_waits_charges_open(struct waits_watch *watch,
                                       const struct waits_charges_kernel *kernel,
                                       struct ppi_diag *why);
void ppi_waits_charges_start(struct waits_watch *watch);
void ppi_waits_charges_stop(struct waits_watch *watch);
bool ppi_waits_charges_drain(struct waits_watch *watch, struct ppi_room *room);
unsigned ppi_waits_charges_nap_ms(const struct waits_watch *watch);
void ppi_waits_charges_close(struct waits_watch *watch);

/* ---- waits_labels.c: in which sets of labels threads wait ---- */

/* Now. With `is_proof` it is asked whether the process runs the program that says so,
 * which takes two calls of the system for a first thread that is in a set. */
void ppi_waits_read_labels(const struct waits_watch *watch,
                           const struct waits_thread *thread, bool is_proof,
                           struct ppi_label_state *out);
/* The set that a thread was in all the time between two of them; PPI_LABELS_UNKNOWN. */
uint32_t ppi_waits_set_between(const struct ppi_label_state *from,
                               const struct ppi_label_state *to);
bool ppi_waits_is_lent(const struct waits_place *place);

/* How a thread that is blocked came to be where it is. */
struct waits_arrival {
	uint64_t waits;   /* since the last look, this one too */
	uint64_t sure_ns; /* that it was at the last place at the last look */
	uint64_t here_ns; /* that it is here; UINT64_MAX: not known */
	bool has_others;  /* other waits lie between, or may */
	uint32_t here;    /* the set of this wait */
	uint32_t between; /* the one set of all the time; or unknown */
};

/* How long it surely was in the wait that was seen before this one. */
uint64_t ppi_waits_sure_of_before(const struct waits_thread *thread,
                                  const struct waits_arrival *by);
/* How the time before this wait, and the rest, is divided between sets. */
void ppi_waits_share_before(const struct waits_thread *thread,
                            const struct waits_arrival *by, uint64_t ns,
                            struct waits_share shares[2]);
void ppi_waits_share_rest(const struct waits_arrival *by, uint64_t ns,
                          struct waits_share shares[2]);

/* The process runs another program, which has other sets under the same numbers. */
void ppi_waits_forget_sets(struct waits_watch *watch,
                           const struct waits_process *process);

/* ---- waits_settle.c: what a look found is laid on waits ---- */

/* What is read of a thread in one look. */
struct waits_glance {
	struct waits_sums sums;
	struct waits_place place;
	struct waits_switches switches;
	struct ppi_label_state before, after; /* all of that */
	uint64_t here_ns; /* since when it is blocked; UINT64_MAX: not known */
	bool is_new;      /* it has run since the last one */
	bool is_free;     /* nothing was read for it */
};

/* It has moved since the last look, or is seen for the first time. */
void ppi_waits_settle(struct waits_watch *watch, struct waits_thread *thread,
                      struct waits_glance *seen);
/* It has not. */
void ppi_waits_go_on(struct waits_watch *watch, struct waits_thread *thread,
                     const struct waits_sums *sums);
/* It is gone. */
void ppi_waits_end_unseen(struct waits_watch *watch, struct waits_thread *thread);

/* ---- waits_tell.c: records ---- */

portprof_status ppi_waits_queue_open(struct waits_watch *watch,
                                     struct ppi_diag *why);
void ppi_waits_queue_close(struct waits_watch *watch);

/* Whether all that one look may tell has room in the queue. */
bool ppi_waits_has_room(const struct waits_watch *watch);

/* Move the queue to `room`; false: there is more. */
bool ppi_waits_pass_on(struct waits_watch *watch, struct ppi_room *room);

enum waits_part {
	WAITS_HERE,     /* at the place, which is new: with its stack */
	WAITS_STILL,    /* at the place that was told before */
	WAITS_RAN,      /* where it ran, as samples say */
	WAITS_UNSEEN
};

/* Blocked (or ready) time of a thread at the place where it is. */
void ppi_waits_tell(struct waits_watch *watch, struct waits_thread *thread,
                    enum waits_part part, bool is_ready, bool is_estimate,
                    struct waits_share share);

/* Where the thread is that holds what this one waits for, with its stack: a record
 * without weight. */
void ppi_waits_tell_holder(struct waits_watch *watch,
                           const struct waits_thread *waiter);

/* Its process's code and its name, where nobody else tells them. False: there was
 * no room for all, or none is left for a look. */
bool ppi_waits_tell_code(struct waits_watch *watch,
                         struct waits_thread *thread, bool is_new_place);

#endif
