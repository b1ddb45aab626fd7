/* SPDX-License-Identifier: MIT */
/*
 * What each sample stands for. The weight of a sample is what its thread's
 * own count grew by since the thread's last sample, so that the sum is the
 * measured total also when the kernel was late, dropped a sample in kernel
 * mode, or lost it.
 *
 * An event that is open on each CPU counts each thread once per CPU. For CPU
 * time there is a better number than the sum of those: the time an event was
 * enabled is the thread's time on all CPUs (kernel/events/core.c,
 * perf_event_update_time: an event of another CPU is inactive, and time goes
 * on). It serves until a copy of the event, inherited by a child, ends: the
 * kernel then adds the child's time to the parent's (sync_child_event).
 */
#ifndef PERF_WEIGHT_H
#define PERF_WEIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <portprof/record.h>

/* include/linux/sched.h, TASK_COMM_LEN. */
enum { PERF_NAME_BYTES = 16 };

/* More live threads than this get the period as weight. */
enum { PERF_THREADS_MAX = 65536 };

/* What one thread was last seen at, in one kernel event. */
struct perf_stream {
	uint64_t id;
	uint64_t value;
	uint32_t event;
};

/* A sample that waits for what its thread does next: of a CPU (perf_tail.c), or its last
 * one (perf_clocks.c). */
struct perf_tail {
	struct perf_tail *next;
	portprof_record record;
	size_t word_count, word_room;
	uint64_t words[];
};

/* All of the list. */
void ppi_perf_tail_free(struct perf_tail *tail);

/* One thread and one event of the session. */
struct perf_progress {
	uint64_t counted; /* sum of its streams' values */
	uint64_t emitted; /* sum of weights given */
	uint64_t base;    /* ... when its second event took over; what the
	                   * thread's own clock is ahead of it: perf_clocks.c */
	bool has_base;
	/* perf_clocks.c */
	bool is_read;     /* at the last look its clock could be read */
	bool is_fresh;    /* samples of it came just now */
	uint32_t waiting; /* so many are in rings */
	uint64_t reached; /* what `emitted` will be with those */
	uint64_t stopped_at; /* what the clock showed when the session stopped */
	uint64_t looked;     /* what it had used when its clock was read last, */
	uint64_t looked_ns;  /* and when that was */
	uint64_t moved_ns;   /* when it was last found to have used something */
	double pace;         /* the part of the time that it ran between two looks */
	struct perf_tail *last; /* its last sample, for what comes after it */
};

struct perf_thread {
	uint32_t tid, pid;    /* pid 0: not known yet */
	char name[PERF_NAME_BYTES]; /* a new thread has its creator's */
	bool is_direct;       /* some events were opened for this very thread */
	bool has_ended;       /* perf_tail.c: its number may be another's */
	bool is_young;        /* perf_tail.c: its own samples are not taken */
	bool has_mixed_times; /* time enabled holds ended children's, too */
	bool is_ended;        /* to be forgotten: ppi_perf_weights_end_later */
	size_t stream_count, stream_room;
	struct perf_stream *streams;
	struct perf_tail *tails; /* samples of CPUs since its own last one */
	struct perf_progress progress[];
};

struct perf_weights {
	struct perf_thread **slots; /* open addressing by tid */
	size_t room, count;
	size_t event_count;
	uint32_t *ended;
	size_t ended_count, ended_room;
};

struct perf_reading {
	uint32_t tid, pid;
	uint32_t event;
	uint64_t id;
	uint64_t value;
	uint64_t thread_time; /* 0 = this event has none */
	bool is_second;       /* the event took over from another: its times
	                       * began then */
};

bool ppi_perf_weights_init(struct perf_weights *weights, size_t event_count);
void ppi_perf_weights_free(struct perf_weights *weights);

/* NULL when not known. */
struct perf_thread *ppi_perf_weights_find(const struct perf_weights *weights,
                                          uint32_t tid);

/* Known from now on; NULL when out of memory or above PERF_THREADS_MAX. */
struct perf_thread *ppi_perf_weights_add(struct perf_weights *weights,
                                         uint32_t tid);

/* The thread has ended; its tid may be given to another. */
void ppi_perf_weights_end(struct perf_weights *weights, uint32_t tid);

/* The same, when ppi_perf_weights_forget_ended is called: a sample may come
 * behind its thread's end if the kernel gave it another clock's time. A new
 * thread of that number, ppi_perf_weights_begin, has nothing of it. */
void ppi_perf_weights_end_later(struct perf_weights *weights, uint32_t tid);
void ppi_perf_weights_begin(struct perf_weights *weights, uint32_t tid);
void ppi_perf_weights_forget_ended(struct perf_weights *weights);

/*
 * Process `pid` executes another program. If another of its threads than the first
 * did it, that one has the number of the first from now on, whose end was told,
 * and its events go on with what they had counted (fs/exec.c, de_thread).
 */
void ppi_perf_weights_exec(struct perf_weights *weights, uint32_t pid);

/* The weight of one sample; false when the thread could not be kept. */
bool ppi_perf_weights_take(struct perf_weights *weights,
                           const struct perf_reading *reading,
                           uint64_t *weight);

/* The kernel event `id` turned out to count what another counts: as if it had
 * never been. What it gave is made up for by the other's next samples. */
void ppi_perf_weights_drop_stream(struct perf_weights *weights, uint64_t id);

/* An EXIT record may be missing: trust no direct thread's time any more. */
void ppi_perf_weights_mix_all(struct perf_weights *weights);

#endif
