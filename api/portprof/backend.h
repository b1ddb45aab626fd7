/* SPDX-License-Identifier: MIT */
/* The backends of this build, and their capabilities on this machine. */
#ifndef PORTPROF_BACKEND_H
#define PORTPROF_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/export.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Capabilities. A request that needs a missing one returns
 * PORTPROF_E_UNSUPPORTED, never a worse result. Bits of a uint64_t. */
#define PORTPROF_CAP_SAMPLE      (UINT64_C(1) << 0)   /* sampling of CPU time */
#define PORTPROF_CAP_COUNT       (UINT64_C(1) << 1)   /* counting */
#define PORTPROF_CAP_GROUP       (UINT64_C(1) << 2)   /* counters read at one instant */
#define PORTPROF_CAP_EVENTS      (UINT64_C(1) << 3)   /* events other than CPU time */
#define PORTPROF_CAP_HARDWARE    (UINT64_C(1) << 4)   /* events of a PMU */
#define PORTPROF_CAP_EXACT_PC    (UINT64_C(1) << 5)   /* span 1: program counters */
#define PORTPROF_CAP_WHOLE_SPACE (UINT64_C(1) << 6)   /* pcs of every mapping */
#define PORTPROF_CAP_KERNEL      (UINT64_C(1) << 7)   /* pcs in the kernel */
#define PORTPROF_CAP_CHAIN       (UINT64_C(1) << 8)   /* call chains */
#define PORTPROF_CAP_PID_TID     (UINT64_C(1) << 9)   /* each sample has its thread */
#define PORTPROF_CAP_TIME        (UINT64_C(1) << 10)  /* each sample has its time */
#define PORTPROF_CAP_CPU         (UINT64_C(1) << 11)  /* each sample has its CPU */
#define PORTPROF_CAP_PROCESS     (UINT64_C(1) << 12)  /* target: this process */
#define PORTPROF_CAP_THREAD      (UINT64_C(1) << 13)  /* target: one of its threads */
#define PORTPROF_CAP_ATTACH      (UINT64_C(1) << 14)  /* target: another process */
#define PORTPROF_CAP_CHILDREN    (UINT64_C(1) << 15)  /* follows children */
#define PORTPROF_CAP_FAIR        (UINT64_C(1) << 16)  /* no bias between busy threads */
#define PORTPROF_CAP_LOST_EXACT  (UINT64_C(1) << 17)  /* lost samples counted exactly */
#define PORTPROF_CAP_EXCLUSIVE   (UINT64_C(1) << 18)  /* one session per process */
#define PORTPROF_CAP_MODULES     (UINT64_C(1) << 19)  /* reports code mapped later */
#define PORTPROF_CAP_SYSTEM      (UINT64_C(1) << 20)  /* target: all that runs on CPUs */
#define PORTPROF_CAP_EXEC_SAFE   (UINT64_C(1) << 21)  /* no timer remains after exec */
#define PORTPROF_CAP_COMMAND     (UINT64_C(1) << 22)  /* target: a command from its exec on */
#define PORTPROF_CAP_UNWIND      (UINT64_C(1) << 23)  /* call chains by frame tables */
#define PORTPROF_CAP_PACKAGE     (UINT64_C(1) << 24)  /* counts of whole processor packages */
#define PORTPROF_CAP_WAITS       (UINT64_C(1) << 25)  /* ready-time and blocked-time */

/*
 * What probing a backend found. `size` as in portprof_event_info. The strings are
 * never NULL; name and summary are static, reason belongs to the calling thread
 * until it calls portprof_backend_info_get again or ends. Since 0.1.
 */
typedef struct portprof_backend_info {
	size_t size;
	uint32_t is_usable;  /* here, now, by this user */
	int32_t rank;        /* higher is better in automatic choice */
	uint64_t caps;       /* on this machine; if it is not usable, those that
	                      * it can have at most */
	portprof_status status; /* why it is not usable: DENIED, UNSUPPORTED.. */
	int os_errno;
	const char *name;
	const char *summary;
	const char *reason;  /* why it is not usable, or its restrictions, and
	                      * what to do about it; "" if none */
} portprof_backend_info;

/*
 * The number of backends in this build, and a description of the index-th, best
 * rank first. Probing leaves no trace: no descriptor, handler, timer or buffer.
 * E_INVALID: index out of range. Any thread, not in handlers. Since 0.1.
 */
PORTPROF_API size_t portprof_backend_count(void);
PORTPROF_API portprof_status portprof_backend_info_get(
	size_t index, portprof_backend_info *info);

/* How well something works here. Since 0.1. */
typedef enum portprof_verdict {
	PORTPROF_VERDICT_WORKS,
	PORTPROF_VERDICT_LIMITED, /* in part; the words name the limits */
	PORTPROF_VERDICT_FAILS,
	PORTPROF_VERDICT_UNKNOWN  /* could not be determined */
} portprof_verdict;

/* One finding of a probe. The strings are valid during the call that passes
 * them. Since 0.1. */
typedef struct portprof_finding {
	size_t size;
	portprof_verdict verdict;
	const char *backend;
	const char *topic;   /* "events", "rights", "machine", "limits" */
	const char *name;    /* "paranoid"; keeps its meaning */
	const char *words;   /* the finding and its cause */
	const char *remedy;  /* what would change it; "" if nothing */
} portprof_finding;

/* Called for each finding; returns 0 to continue. */
typedef int (*portprof_finding_fn)(const portprof_finding *finding,
                                   void *context);

/*
 * Probe a backend, or with "auto" each one of this build, best rank first, and
 * report what works here, what does not, why, and what to do about it.
 * Leaves no trace, like portprof_backend_info_get. E_INVALID: no such backend.
 * Any thread, not in handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_backend_examine(
	const char *backend, portprof_finding_fn take, void *context);

/*
 * The name of one capability bit ("chain"), static; NULL if there is none.
 * Since 0.1.
 */
PORTPROF_API const char *portprof_cap_name(uint64_t cap);

#ifdef __cplusplus
}
#endif
#endif
