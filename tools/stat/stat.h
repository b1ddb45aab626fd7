/* SPDX-License-Identifier: MIT */
/* What the files of portprof stat share. */
#ifndef PPI_STAT_H
#define PPI_STAT_H

#include <portprof.h>
#include <portprof/tool.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "tools/launch.h"
#include "tools/output.h"
#include "tools/targets/targets.h"

struct ppi_stat_options {
	struct ppi_texts events; /* of -e, each perhaps a list */
	const char *backend, *config_path, *set_name, *output, *separator;
	const char *compare_to; /* JSON of an earlier run; NULL */
	double fail_above;      /* percent; below 0: nothing fails */
	uint64_t runs;          /* 1 unless -r */
	uint64_t interval_ms, delay_ms, duration_ms; /* 0: none */
	struct ppi_targets targets;
	uint64_t timeout_ms;    /* then a command is ended; 0: none */
	bool is_json, is_quiet, is_verbose, has_no_children;
	bool is_null;           /* no event: times alone */
	bool has_details, has_table;
	bool by_cpu, by_core, by_thread; /* counts apart */
	char **command;         /* NULL: none */
};

/* ---- numbers ---- */

/* Beside portprof_count_status: what a value can be that was not counted. */
enum { PPI_STAT_IDLE = 100 /* the target did not run in this interval */ };

/* One event of one run or interval; or the mean of several runs. */
struct ppi_stat_value {
	uint64_t status;      /* portprof_count_status, or PPI_STAT_IDLE */
	double value;         /* nanoseconds or number */
	uint64_t exact;       /* the same of a single run */
	uint64_t raw, enabled_ns, running_ns;
	bool is_by_wait4;     /* the system's account of an ended command */
};

/* Runs summed up by Welford's method: numerically stable, one pass. */
struct ppi_stat_sum {
	unsigned runs;        /* in which there was a number */
	double mean, squares; /* squares: of the distances from the mean */
	double first, offset; /* offset: of the mean from the first */
	double least, most;
	bool is_by_wait4;
	uint64_t raw, enabled_ns, running_ns; /* of all runs */
	uint64_t status;      /* the worst of all runs */
};

void ppi_stat_sum_add(struct ppi_stat_sum *sum,
                      const struct ppi_stat_value *value);
/* Of the runs themselves; NAN when there are not two. */
double ppi_stat_deviation(const struct ppi_stat_sum *sum);
/* How sure the mean is: the deviation divided by the root of the runs. */
double ppi_stat_error(const struct ppi_stat_sum *sum);

/* What was counted between two readings of one event. */
struct ppi_stat_value ppi_stat_between(const portprof_count *before,
                                       const portprof_count *after);

/* ---- events ---- */

/* What one type of core counted, since open. */
enum { PPI_STAT_PARTS = 8 };
struct ppi_stat_part {
	char pmu[64], cpus[128];
	portprof_count count;
};

/* What counts are apart for: a CPU, the CPUs of a core, or a thread. */
struct ppi_stat_place {
	char name[64], cpus[256];
	int64_t tid; /* 0: CPUs */
};

struct ppi_stat_event {
	const struct ppi_stat_place *place; /* NULL: all together */
	char *asked;              /* with the modifiers of its braces */
	size_t group;             /* index of its group */
	bool was_named;           /* by the user, not by default */
	bool was_compared;        /* with the earlier run of --compare */
	const portprof_preset *preset; /* whose event it is; or NULL, */
	size_t part;              /* and which of these */
	char name[264];           /* as it is shown */
	portprof_event_info info; /* its strings end with the group: */
	char canonical[256], description[256];
	portprof_diag refusal;    /* status OK: it counts */
	portprof_group *alone;    /* by another backend than its group; or NULL */
	bool is_by_wait4;         /* its value is there once the command was
	                           * waited for */
	portprof_count base;      /* where the run begins, */
	portprof_count before;    /* and the interval */
	portprof_count now;
	struct ppi_stat_value last; /* of the run that ended last */
	struct ppi_stat_sum sum;
	struct ppi_stat_part parts[PPI_STAT_PARTS]; /* of the run's end */
	size_t part_count;        /* 0: CPUs are of one type */
};

struct ppi_stat_group {
	size_t first, count;      /* its events */
	portprof_group *open;     /* NULL: all of them are refused */
};

struct ppi_stat_times {
	uint64_t wall_ns, user_ns, system_ns;
	bool has_cpu;             /* user and system are known */
};

struct ppi_stat {
	struct ppi_stat_options options;
	struct ppi_stat_event *events;
	size_t event_count;
	struct ppi_stat_group *groups;
	size_t group_count;
	struct ppi_stat_place *places; /* counts are apart for */
	size_t place_count;
	uint64_t *walls;          /* of each run, for the table of them */
	void *changes;            /* since an earlier run (stat_compare.c) */
	size_t change_count;
	bool has_grown;           /* something, by more than is allowed */
	const struct ppi_stat_event *gap; /* --fail-above cannot judge it; NULL */
	char backend[32];         /* "": none counts */
	char *program;            /* the file that will be executed */
	struct ppi_out file;
	FILE *out;                /* its stream */
	struct ppi_stat_times times; /* of the last run */
	bool has_begun;           /* it did not end before the delay */
	bool stops_at_exec;       /* the command will, for groups with symbols */
	struct ppi_stat_sum wall, user, system;
	unsigned done;            /* runs that ended */
	struct ppi_end end;       /* how the last command ended */
};

/* The events and groups of the options, checked. False with words. */
bool ppi_stat_choose(struct ppi_stat *stat);
void ppi_stat_free(struct ppi_stat *stat);

/* One event or group more, empty; NULL or false when out of memory. */
struct ppi_stat_event *ppi_stat_add_event(struct ppi_stat *stat);
bool ppi_stat_add_group(struct ppi_stat *stat);

/* Count apart for each CPU, core or thread, if the options say so. False with
 * words. */
bool ppi_stat_spread(struct ppi_stat *stat);
/* The columns of the longest name of a place, 0 where there is none; and what
 * JSON calls a place. */
int ppi_stat_place_width(const struct ppi_stat *stat);
const char *ppi_stat_place_key(const struct ppi_stat *stat);

/* Read the counts of --compare before anything is run; false with words. Then,
 * once all runs have ended, judge what changed, and print it. */
struct ppi_json;
bool ppi_stat_compare_read(struct ppi_stat *stat);
void ppi_stat_compare(struct ppi_stat *stat);
void ppi_stat_put_changes(const struct ppi_stat *stat);
void ppi_stat_put_changes_json(const struct ppi_stat *stat,
                               struct ppi_json *json);
void ppi_stat_say_grown(const struct ppi_stat *stat);

/* Open all groups on a target: a child that waits, or options.targets or tid.
 * False with words when a mistake is found or the target is not there; what
 * cannot be counted is marked. */
bool ppi_stat_open(struct ppi_stat *stat, pid_t child);
/* With stops_at_exec some groups are left over until the child stands there, for
 * what a symbol's address is, is known then: whether there are any, and opening
 * them. */
bool ppi_stat_has_symbols(const struct ppi_stat *stat);
bool ppi_stat_open_at_exec(struct ppi_stat *stat, pid_t child);
void ppi_stat_close(struct ppi_stat *stat);

/* Read every group into event->now; begin makes this moment the base. */
bool ppi_stat_read(struct ppi_stat *stat);
/* The values that are there now that the command was waited for. */
bool ppi_stat_read_ended(struct ppi_stat *stat);
bool ppi_stat_begin(struct ppi_stat *stat);

/* ---- running ---- */

/* One run, or one attachment: -1, or an exit status after words. */
int ppi_stat_run_command(struct ppi_stat *stat);
int ppi_stat_run_attached(struct ppi_stat *stat);

/* Whose end is awaited: a child of ours, or else somebody's process; or
 * nobody's, when all that runs is counted. */
struct ppi_stat_waited {
	struct ppi_child *child;
	const struct ppi_targets *targets; /* NULL: a thread, */
	struct ppi_watch thread;
	bool is_endless;
};

/* Whether what is counted is not the command itself. */
bool ppi_stat_is_attached(const struct ppi_stat_options *options);

/* ---- metrics ---- */

struct ppi_stat_metric {
	const char *unit; /* NULL: none */
	double value;     /* NAN: unknown */
};

/* What event `index` means in relation to another of its group, or to the
 * wall time. `values` has one for each event. */
struct ppi_stat_metric ppi_stat_metric(const struct ppi_stat *stat,
                                       const struct ppi_stat_value *values,
                                       size_t index, uint64_t wall_ns);
/* How long the CPUs of a system's clock were idle, or another machine had
 * them; NAN for another event or target. */
double ppi_stat_idle_ns(const struct ppi_stat *stat,
                        const struct ppi_stat_value *values, size_t index);

/* ---- printing ---- */

/* A moment or a whole measurement, as it is printed. */
struct ppi_stat_view {
	const struct ppi_stat_value *values; /* one an event */
	uint64_t wall_ns;     /* its length */
	uint64_t at_ns;       /* of an interval: its end */
	bool is_interval;
};

/* The same in three forms. final is called once, with all runs. */
struct ppi_stat_printer {
	void (*interval)(struct ppi_stat *stat,
	                 const struct ppi_stat_view *view);
	void (*final)(struct ppi_stat *stat, const struct ppi_stat_view *view);
};

extern const struct ppi_stat_printer ppi_stat_text, ppi_stat_separated,
	ppi_stat_json;
const struct ppi_stat_printer *ppi_stat_printer(const struct ppi_stat *stat);

/* The word for a status that is not a number. */
const char *ppi_stat_status(const struct ppi_stat_event *event,
                            const struct ppi_stat_value *value);
bool ppi_stat_is_supported(const struct ppi_stat_event *event);
bool ppi_stat_is_number(const struct ppi_stat_value *value);

/* Print the interval that ends now, and begin another. */
void ppi_stat_interval(struct ppi_stat *stat, uint64_t started_ns,
                       uint64_t *last_ns);

#endif
