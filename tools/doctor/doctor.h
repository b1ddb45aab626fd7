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

struct ppi_doctor_host {
	const char *root;    /* stands before every path; "" is this machine */
	bool lacks_perf;     /* Linux, and this build has no perf backend */
	uint64_t timers;     /* pending signals that this user may have */
	const char *unwind_missing; /* as portprof_unwind_missing */
	/* As portprof_backend_info_get, _backend_examine, _event_explain,
	 * _catalogue_pmus. */
	portprof_status (*backend)(void *self, size_t index,
	                           portprof_backend_info *info);
	void (*examine)(void *self, portprof_finding_fn take, void *context);
	portprof_status (*explain)(void *self, const char *event,
	                           const char *backend,
	                           portprof_event_info *info,
	                           portprof_diag *why);
	void (*pmus)(void *self, portprof_pmu_fn take, void *context);
	void *self;
};

/* The real one, with what has to be asked first. */
void ppi_doctor_host_fill(struct ppi_doctor_host *host);

/* A file of the host, to read; NULL with errno. */
FILE *ppi_doctor_open_file(const struct ppi_doctor_host *host,
                           const char *path);

/* ---- findings ---- */

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
	portprof_verdict verdict;
	char name[40];     /* stays the same between versions */
	char words[640];   /* what is so, and why */
	char remedy[640];  /* what would change it; "" nothing */
};

struct ppi_doctor {
	const struct ppi_doctor_host *host;
	struct ppi_finding *findings;
	size_t count;
	portprof_backend_info backends[16];
	char *reasons[16]; /* of the backends */
	size_t backend_count;
	bool can_sample;
	bool is_out_of_memory;
};

/* Add one; remedy NULL: none. */
void ppi_doctor_add(struct ppi_doctor *doctor, enum ppi_topic topic,
                    const char *name, portprof_verdict verdict,
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

/* ---- one event ---- */

struct ppi_doctor_answer {
	char backend[32];
	bool is_usable, is_counted_only;
	portprof_diag why; /* why not */
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

const char *ppi_verdict_name(portprof_verdict verdict);
const char *ppi_topic_name(enum ppi_topic topic); /* a heading */
const char *ppi_topic_key(enum ppi_topic topic);  /* "events" */
void ppi_doctor_print_text(const struct ppi_doctor *doctor, bool is_verbose,
                           FILE *out);
void ppi_doctor_print_json(const struct ppi_doctor *doctor, FILE *out);
/* The findings of one program alone. */
void ppi_doctor_print_program(const struct ppi_doctor *doctor, FILE *out);
void ppi_doctor_print_program_json(const struct ppi_doctor *doctor, FILE *out);
void ppi_doctor_print_event(const struct ppi_doctor_event *event, FILE *out);
void ppi_doctor_print_event_json(const struct ppi_doctor_event *event,
                                 FILE *out);

/* ---- what a program's file offers to a profiler ---- */

struct ppi_program {
	bool is_static;
	bool has_names;     /* of all functions: .symtab, or Go's own table */
	bool has_lines;     /* .debug_info or .debug_line */
	bool is_known;      /* the instructions of this CPU are */
	bool is_go;         /* made by Go's compiler */
	char build_id[80];  /* hexadecimal; "" none */
	unsigned functions; /* that were looked at */
	unsigned framed;    /* of them, that keep a frame pointer */
	unsigned tabled;    /* of all functions, that have frame tables */
};

/* 0, or why not: an errno, or -1 for a file that is no program, -2 when this
 * build cannot read any (without libelf). */
int ppi_program_read(const char *path, struct ppi_program *program);

#endif
