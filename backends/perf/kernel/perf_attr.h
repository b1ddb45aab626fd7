/* SPDX-License-Identifier: MIT */
/* From resolved events to perf_event_attr, and what this kernel knows. */
#ifndef PERF_ATTR_H
#define PERF_ATTR_H

#include "backends/backend.h"
#include "backends/perf/kernel/perf_kernel.h"
#include "backends/perf/kernel/perf_own.h"

/* Optional parts of the interface, each found by trying it once a process. */
enum perf_feature {
	PERF_HAS_INHERIT_READ = 1u << 0,   /* SAMPLE_READ of inherited, 6.12 */
	PERF_HAS_LOST = 1u << 1,           /* read_format LOST, 6.0 */
	PERF_HAS_INHERIT_THREAD = 1u << 2, /* 5.13 */
	PERF_HAS_REMOVE_ON_EXEC = 1u << 3, /* 5.13 */
	PERF_HAS_CLOCKID = 1u << 4,        /* 4.1 */
	PERF_HAS_INHERIT_GROUP = 1u << 5,  /* counting, read as a group */
	PERF_HAS_USER_IP = 1u << 6,        /* REGS_USER, the pc alone */
	PERF_FEATURES_KNOWN = 1u << 31
};

/*
 * Try each part with an event that is closed at once. Answers are kept in
 * kernel->features, unless a limit (EMFILE, say) spoiled one.
 */
uint32_t ppi_perf_features(const struct perf_kernel *kernel);

/* What the words of samples and of trailers mean: the same for all events of
 * a session, so that records can be read before their event is known. */
struct perf_shape {
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t user_mask;    /* REGS_USER: which */
	uint64_t user_ip_mask; /* the pc's bit in it; 0 = it is of no use */
	uint32_t stack_bytes;  /* STACK_USER */
	uint64_t branch_filter; /* BRANCH_STACK */
	unsigned chain_depth;
};

/* What all attrs of a session share. */
struct perf_session_kind {
	uint32_t features;
	struct perf_shape shape;
	bool inherits;         /* children of the thread get copies */
	bool follows_children; /* not only threads: processes too */
	bool removes_on_exec;
	bool enables_on_exec;
};

/* An event of a place in a program means nothing in the next one of its process:
 * let it end at exec, where this kernel can (and the event is not one that execs
 * begin). Not for an event that others are read or told with. */
void ppi_perf_attr_end_with_program(const struct perf_session_kind *kind,
                                    const struct ppi_event *event,
                                    struct perf_event_attr *attr);

void ppi_perf_attr_sample(const struct perf_session_kind *kind,
                          const struct ppi_event *event, bool is_carrier,
                          struct perf_event_attr *attr);
/* Of CPUs: every so many switches of threads, for that event's sake. */
void ppi_perf_attr_leave(const struct perf_session_kind *kind,
                         const struct ppi_event *event, uint64_t switches,
                         struct perf_event_attr *attr);
/* The event that only reports mappings, threads and names, while others are
 * off still. */
void ppi_perf_attr_carrier(const struct perf_session_kind *kind,
                           bool enables_on_exec, struct perf_event_attr *attr);
/* The event that only owns a CPU's ring. */
void ppi_perf_attr_ring_owner(const struct perf_session_kind *kind,
                              struct perf_event_attr *attr);
void ppi_perf_attr_count(const struct perf_session_kind *kind,
                         const struct ppi_event *event, bool is_leader,
                         struct perf_event_attr *attr);

/* Whether it has samples of its own. */
static inline bool perf_is_sampled(const struct ppi_event *event)
{
	return event->period || event->rate_hz;
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
 * Whether the kernel counts it at places in its code, and fills in one sample
 * for all events that such an occurrence makes overflow. Clocks have a timer each.
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

/* Sampling: counts along with the event that leads its group, and has samples of
 * its own if it has a period or rate. */
void ppi_perf_attr_member(const struct perf_session_kind *kind,
                          const struct ppi_event *event,
                          struct perf_event_attr *attr);

/* The smallest attr that asks whether this user may use `event` at all. */
void ppi_perf_attr_trial(const struct ppi_event *event,
                         struct perf_event_attr *attr);

/*
 * Open with close-on-exec. A kernel that knows a shorter attr gets one, if
 * the rest is zero. Returns a descriptor or a negative errno.
 */
int ppi_perf_open_attr(const struct perf_kernel *kernel,
                       struct perf_event_attr *attr, int64_t pid, int cpu,
                       int group_fd);

/* With more PERF_FLAG_ bits of the call. */
int ppi_perf_open_attr_with(const struct perf_kernel *kernel,
                            struct perf_event_attr *attr, int64_t pid, int cpu,
                            int group_fd, unsigned long flags);

/* An event of a tracepoint with a filter, open: give it to the kernel, which
 * keeps it for copies in children, too. 0 or a negative errno. */
int ppi_perf_set_filter(const struct perf_kernel *kernel,
                        const struct ppi_event *event, int fd);

/* Set one of enum perf_flag_bit. */
void ppi_perf_attr_set_flag(struct perf_event_attr *attr, unsigned bit);

/* ---- may this process open such an event? Opens it and closes it again ---- */

/* Each: 0 or an errno. With a ring of that size, unless it is 0. */
int ppi_perf_try_attr(const struct perf_kernel *kernel,
                      struct perf_event_attr *attr, int64_t pid, int cpu,
                      size_t ring_bytes);

/* An event of this type and config, in user mode only or in all modes. */
int ppi_perf_try_type(const struct perf_kernel *kernel, uint32_t type,
                      uint64_t config, bool is_user_only, int64_t pid, int cpu);

/* An event that counts nothing, in user mode. */
int ppi_perf_try_dummy(const struct perf_kernel *kernel, int64_t pid, int cpu);

#endif
