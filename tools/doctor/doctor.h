/* SPDX-License-Identifier: MIT */
/* What the files of portprof doctor share. */
#ifndef PPI_DOCTOR_H
#define PPI_DOCTOR_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- the host: the seam between diagnoses and the machine ---- */

/* Questions to perf_event_open, in the order of the ladder. None leaves
 * anything behind. */
enum ppi_ask {
	PPI_ASK_FLAGS,     /* flags that are none: does the call arrive? */
	PPI_ASK_ATTR,      /* attributes of no size: is anything before them? */
	PPI_ASK_DUMMY,     /* an event that counts nothing */
	PPI_ASK_USER_TIME, /* CPU time in user mode */
	PPI_ASK_KERNEL_TIME,
	PPI_ASK_CYCLES,    /* counted, in user mode; so are those that follow */
	PPI_ASK_SAMPLES,   /* cycles, sampled */
	PPI_ASK_PRECISE,   /* with the hardware's help against skid */
	PPI_ASK_BRANCHES,  /* with the branches before it */
	PPI_ASK_TRACEPOINT, /* `number` is its id */
	PPI_ASK_SYSTEM,    /* CPU time of every process on CPU 0 */
	PPI_ASK_RING,      /* a ring of `number` bytes */
	PPI_ASK_COUNT
};

enum ppi_limit {
	PPI_LIMIT_FILES,   /* descriptors */
	PPI_LIMIT_LOCKED,  /* bytes of locked memory */
	PPI_LIMIT_TIMERS   /* pending signals, of which a timer takes one */
};

struct ppi_doctor_host {
	const char *root;  /* stands before every path; "" is this machine */
	bool has_perf;     /* the system is one that has perf_event_open */
	unsigned cpus;
	const char *program; /* this command's own file */
	/* 0 or an errno. */
	int (*ask)(void *self, enum ppi_ask what, uint64_t number);
	/* UINT64_MAX: none, or unknown. */
	uint64_t (*limit)(void *self, enum ppi_limit limit, uint64_t *hard);
	const char *(*environment)(void *self, const char *name);
	/* As portprof_backend_info_get, _event_explain, _catalogue_pmus. */
	portprof_status (*backend)(void *self, size_t index,
	                           portprof_backend_info *info);
	portprof_status (*explain)(void *self, const char *event,
	                           const char *backend,
	                           portprof_event_info *info,
	                           portprof_diag *why);
	void (*pmus)(void *self, portprof_pmu_fn take, void *context);
	void *self;
};

extern const struct ppi_doctor_host ppi_doctor_host_real;
/* The real one, with what has to be asked first. */
void ppi_doctor_host_fill(struct ppi_doctor_host *host);

/* A small file of the host, zero-terminated; false if it cannot be read. */
bool ppi_doctor_read(const struct ppi_doctor_host *host, const char *path,
                     char *out, size_t room);
/* The number that it begins with, or `otherwise`. */
int64_t ppi_doctor_number(const struct ppi_doctor_host *host, const char *path,
                          int64_t otherwise);
bool ppi_doctor_exists(const struct ppi_doctor_host *host, const char *path);
/* The value of "KEY: value" in a file of such lines, in `out`. */
bool ppi_doctor_field(const struct ppi_doctor_host *host, const char *path,
                      const char *key, char *out, size_t room);

/* ---- facts: what was found, before anything is concluded ---- */

/* What stands before every event, if anything. */
enum ppi_wall {
	PPI_WALL_NONE,
	PPI_WALL_SYSTEM,  /* another operating system */
	PPI_WALL_KERNEL,  /* built without perf events */
	PPI_WALL_FILTER,  /* seccomp */
	PPI_WALL_LOCK,    /* a distribution's levels 3 and 4 */
	PPI_WALL_MODULE,  /* a security module */
	PPI_WALL_FILES,   /* no descriptor is free */
	PPI_WALL_OTHER
};

struct ppi_facts {
	enum ppi_wall wall;
	int wall_errno;
	int answers[PPI_ASK_COUNT]; /* 0 or an errno; -1: not asked */
	int64_t paranoid;
	bool has_paranoid;
	bool can_perfmon, can_lock, can_admin;
	bool is_in_user_namespace;
	char container[32];  /* "docker", "container"; "" none */
	bool is_virtual;     /* a virtual machine */
	char machine[64];    /* whose; "" unknown */
	char cpu[128];       /* its name */
	bool has_pmu;        /* hardware events can be counted */
	bool has_table;      /* libpfm4 has a table of this CPU */
	char table[64];
	bool has_libpfm4;
};

void ppi_facts_find(const struct ppi_doctor_host *host,
                    struct ppi_facts *facts);

/* ---- findings ---- */

enum ppi_verdict { PPI_WORKS, PPI_LIMITED, PPI_FAILS, PPI_UNKNOWN };

/* Under which heading. */
enum ppi_topic {
	PPI_TOPIC_EVENTS, /* what can be measured */
	PPI_TOPIC_RIGHTS, /* what stands in the way */
	PPI_TOPIC_MACHINE,
	PPI_TOPIC_LIMITS,
	PPI_TOPIC_PROGRAM,
	PPI_TOPIC_BUILD,
	PPI_TOPIC_COUNT
};

struct ppi_finding {
	enum ppi_topic topic;
	enum ppi_verdict verdict;
	char name[40];     /* stays the same between versions */
	char words[640];   /* what is so, and why */
	char remedy[640];  /* what would change it; "" nothing */
};

struct ppi_doctor {
	const struct ppi_doctor_host *host;
	struct ppi_facts facts;
	struct ppi_finding *findings;
	size_t count;
	portprof_backend_info backends[16];
	size_t backend_count;
	bool can_sample;
	bool is_out_of_memory;
};

/* Add one; remedy NULL: none. */
void ppi_doctor_add(struct ppi_doctor *doctor, enum ppi_topic topic,
                    const char *name, enum ppi_verdict verdict,
                    const char *remedy, const char *words, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 6, 7)))
#endif
	;

/* Everything about the host. */
void ppi_doctor_examine(struct ppi_doctor *doctor,
                        const struct ppi_doctor_host *host);
void ppi_doctor_free(struct ppi_doctor *doctor);
const struct ppi_finding *ppi_doctor_find(const struct ppi_doctor *doctor,
                                          const char *name);

/* Parts of it. */
void ppi_doctor_events(struct ppi_doctor *doctor);
void ppi_doctor_rights(struct ppi_doctor *doctor);
void ppi_doctor_machine(struct ppi_doctor *doctor);
void ppi_doctor_limits(struct ppi_doctor *doctor);
void ppi_doctor_build(struct ppi_doctor *doctor);
/* Whether calls, names and lines of a program can be told; NULL: of the C
 * library. False when the file is none that can be read. */
bool ppi_doctor_program(struct ppi_doctor *doctor, const char *path);

/* What would let an ordinary user do what needs a paranoid level of `needed`
 * or less, or a capability; in `out`. */
const char *ppi_doctor_say_rights(const struct ppi_doctor *doctor, int needed,
                                  char *out, size_t room);

/* ---- one event ---- */

struct ppi_doctor_answer {
	char backend[32];
	bool is_usable, is_counted_only;
	char words[PORTPROF_WORDS_BYTES]; /* why not */
};

struct ppi_doctor_event {
	const char *asked;
	struct ppi_doctor_answer answers[16];
	size_t answer_count;
	bool is_usable;
	const struct ppi_finding *findings[8]; /* that explain it */
	size_t finding_count;
};

/* False with words when it is no event at all. */
bool ppi_doctor_ask_event(const struct ppi_doctor *doctor, const char *asked,
                          struct ppi_doctor_event *event);

/* ---- printing ---- */

const char *ppi_verdict_name(enum ppi_verdict verdict);
const char *ppi_topic_name(enum ppi_topic topic);
void ppi_doctor_print_text(const struct ppi_doctor *doctor, bool is_verbose,
                           FILE *out);
void ppi_doctor_print_json(const struct ppi_doctor *doctor, FILE *out);
/* The findings of one program alone. */
void ppi_doctor_print_program(const struct ppi_doctor *doctor, FILE *out);
void ppi_doctor_print_program_json(const struct ppi_doctor *doctor, FILE *out);
void ppi_doctor_print_event(const struct ppi_doctor_event *event, FILE *out);
void ppi_doctor_print_event_json(const struct ppi_doctor_event *event,
                                 FILE *out);

#endif
