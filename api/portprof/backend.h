/* SPDX-License-Identifier: MIT */
/* The backends of this build: what they are, what they can do here. */
#ifndef PORTPROF_BACKEND_H
#define PORTPROF_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/export.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Capabilities: what a backend can do. A missing one is answered with
 * PORTPROF_E_UNSUPPORTED, never with a worse result. */
enum {
	PORTPROF_CAP_SAMPLE = 1u << 0,     /* sampling of CPU time */
	PORTPROF_CAP_COUNT = 1u << 1,      /* counting */
	PORTPROF_CAP_GROUP = 1u << 2,      /* counters read at one instant */
	PORTPROF_CAP_EVENTS = 1u << 3,     /* events other than CPU time */
	PORTPROF_CAP_HARDWARE = 1u << 4,   /* events of a PMU */
	PORTPROF_CAP_EXACT_PC = 1u << 5,   /* span 1: program counters */
	PORTPROF_CAP_WHOLE_SPACE = 1u << 6, /* pcs of every mapping */
	PORTPROF_CAP_KERNEL = 1u << 7,     /* pcs in the kernel */
	PORTPROF_CAP_CHAIN = 1u << 8,      /* call chains */
	PORTPROF_CAP_PID_TID = 1u << 9,    /* each sample says its thread */
	PORTPROF_CAP_TIME = 1u << 10,      /* each sample says its time */
	PORTPROF_CAP_CPU = 1u << 11,       /* each sample says its CPU */
	PORTPROF_CAP_PROCESS = 1u << 12,   /* target: this process */
	PORTPROF_CAP_THREAD = 1u << 13,    /* target: one of its threads */
	PORTPROF_CAP_ATTACH = 1u << 14,    /* target: another process */
	PORTPROF_CAP_CHILDREN = 1u << 15,  /* follows children */
	PORTPROF_CAP_FAIR = 1u << 16,      /* no bias between busy threads */
	PORTPROF_CAP_LOST_EXACT = 1u << 17, /* lost samples counted exactly */
	PORTPROF_CAP_EXCLUSIVE = 1u << 18, /* one session a process */
	PORTPROF_CAP_MODULES = 1u << 19,   /* tells of code mapped later */
	PORTPROF_CAP_SYSTEM = 1u << 20,    /* target: whoever runs on the CPUs */
	PORTPROF_CAP_EXEC_SAFE = 1u << 21, /* no timer remains after exec */
	PORTPROF_CAP_COMMAND = 1u << 22    /* target: a command from its exec on */
};

/* What probing a backend found. `size` as in portprof_event_info. Since 0.1. */
typedef struct portprof_backend_info {
	size_t size;
	uint32_t is_usable;  /* here, now, by this user */
	int32_t rank;        /* higher is better in automatic choice */
	uint64_t caps;       /* of those usable here; the most it can ever do
	                      * when it is not usable */
	portprof_status status; /* why it is not usable: DENIED, UNSUPPORTED.. */
	int os_errno;
	char name[32];
	char summary[96];
	char reason[512];    /* why not, or with which restriction, in words,
	                      * and what to do about it; empty if none */
} portprof_backend_info;

/*
 * Number of backends compiled in, best rank first, and a description of the
 * index-th. Probing leaves no trace: no descriptor, handler, timer or buffer.
 * E_INVALID: index out of range. Any thread, not in handlers. Since 0.1.
 */
PORTPROF_API size_t portprof_backend_count(void);
PORTPROF_API portprof_status portprof_backend_info_get(
	size_t index, portprof_backend_info *info);

/* How well a thing works here. Since 0.1. */
typedef enum portprof_verdict {
	PORTPROF_VERDICT_WORKS,
	PORTPROF_VERDICT_LIMITED, /* in part; the words say what does not */
	PORTPROF_VERDICT_FAILS,
	PORTPROF_VERDICT_UNKNOWN  /* it could not be found out */
} portprof_verdict;

/* One thing that a probe looked at. The strings are valid in the call that
 * hands them over. Since 0.1. */
typedef struct portprof_finding {
	size_t size;
	portprof_verdict verdict;
	const char *backend;
	const char *topic;   /* "events", "rights", "machine", "limits" */
	const char *name;    /* "paranoid"; keeps its meaning */
	const char *words;   /* what is so, and why */
	const char *remedy;  /* what would change it; "" nothing */
} portprof_finding;

/* Called for each; 0 to continue. */
typedef int (*portprof_finding_fn)(const portprof_finding *finding,
                                   void *context);

/*
 * Probe a backend, "auto": each one of this build, best rank first, and report
 * all that it looked at: what works here, what does not, why, and what to do.
 * Leaves no trace, as portprof_backend_info_get. E_INVALID: no such backend.
 * Any thread, not in handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_backend_examine(
	const char *backend, portprof_finding_fn take, void *context);

/*
 * The word for one capability bit ("chain"), static; NULL if the bit is none.
 * Since 0.1.
 */
PORTPROF_API const char *portprof_cap_name(uint64_t cap);

#ifdef __cplusplus
}
#endif
#endif
