/* SPDX-License-Identifier: MIT */
/*
 * What a file sink holds while it measures: where samples fall, whose they are,
 * the samples themselves, the portion that is made of them and the file that
 * portions go to.
 */
#ifndef PPI_FILE_WRITER_H
#define PPI_FILE_WRITER_H

#include <sys/types.h>

#include "api/core/sink.h"
#include "api/profile/atomic_file.h"
#include "api/profile/pprof/encode.h"
#include "api/profile/sample_labels.h"
#include "api/profile/sample_table.h"
#include "base/host.h"

/* ---- threads.c: the names of threads, and which are not in the file ---- */

/* A program may name its thread after each request: so many names that no
 * thread had before are kept of one, and of all. Samples of more have this one
 * together. */
enum { PPI_THREAD_NAMES_MAX = 64, PPI_NAMES_MAX = 16384 };
#define PPI_OTHER_NAMES "(other names)"

struct ppi_thread {
	uint32_t pid, tid;
	char name[64];     /* "" unknown */
	uint32_t owner;    /* of a process: its user, plus 1; 0 unknown */
	uint64_t began_ns; /* likewise: CLOCK_REALTIME; 0 unknown */
	bool is_owner_asked; /* of this process, since it is this program */
	bool is_told;      /* the file has this name */
	bool is_met;       /* the system was asked for it lately */
	uint32_t age;      /* sweeps since it ended, plus 1; 0 = alive */
	uint32_t text;     /* the file's string of its name; 0 not asked yet */
	bool is_other;     /* that string is PPI_OTHER_NAMES */
	uint32_t names;    /* that its samples had and no other's before */
};

struct ppi_thread_node;

struct ppi_threads {
	struct ppi_thread_node *head; /* uthash, by pid and tid */
	struct ppi_thread_node *last; /* found by the last look-up */
	uint32_t names;               /* of samples, entered as strings */
	uint64_t left_out;            /* samples of PPI_OTHER_NAMES */
	bool has_untold;              /* the file may lack a name of one of them */
	bool has_passing;             /* one of them was met, or has ended */
};

void ppi_threads_name(struct ppi_threads *threads, uint32_t pid, uint32_t tid,
                      const char *name);
/* The string of the name that a thread has now, for a sample of it; 0 where
 * that is not known, PPI_NONE when out of memory. */
uint32_t ppi_threads_text(struct ppi_threads *threads,
                          struct ppi_locations *locations, uint32_t pid,
                          uint32_t tid);
/* What the account should say of names that were left out. */
bool ppi_threads_note(const struct ppi_threads *threads, char *out,
                      size_t bytes);
/* A thread that no record names: the system is asked for its name, once until
 * the next sweep; anew where another program has begun in the process. */
void ppi_threads_meet(struct ppi_threads *threads, uint32_t pid, uint32_t tid,
                      bool is_anew);
/* A new process or thread is called as the one that made it. */
void ppi_threads_fork(struct ppi_threads *threads, uint32_t pid, uint32_t tid,
                      uint32_t parent_pid);
void ppi_threads_exit(struct ppi_threads *threads, uint32_t pid,
                      uint32_t tid);

/* Call `visit` for each thread, in the order of their first coming. */
void ppi_threads_each(struct ppi_threads *threads,
                      void (*visit)(struct ppi_thread *thread, void *context),
                      void *context);

/* Forget threads that ended some time ago and that the file knows. */
void ppi_threads_sweep(struct ppi_threads *threads);
void ppi_threads_close(struct ppi_threads *threads);

/* ---- output.c: a file that appears when there is something in it, keeps
 * what was there before, and is whole after each portion ---- */

struct ppi_output {
	struct ppi_atomic_file draft;
	uint64_t size;  /* bytes of whole portions */
	bool is_placed; /* the file has its name */
	bool is_torn;   /* behind `size` lies part of a portion */
};

/* No side effect but a draft beside `path`. */
portprof_status ppi_output_open(struct ppi_output *output, const char *path,
                                struct ppi_diag *why);

/* Append a portion in one write. 0, or an errno and the file is as it was. */
int ppi_output_append(struct ppi_output *output, const void *bytes,
                      size_t count);

/* Give the file its name, when it has none yet; what was there before
 * becomes PATH.old. 0 or an errno. */
int ppi_output_place(struct ppi_output *output);

/* In a forked child nothing is removed. */
void ppi_output_close(struct ppi_output *output, bool is_child);

/*
 * Read the file back, add equal samples up and put the result in its place.
 * Where that cannot be (a full disk, no memory, another file of that name)
 * the portions stay: they say the same.
 */
void ppi_finish(struct ppi_output *output);

/* ---- a file that is one of several windows of a session ---- */

/* What was counted when it began; all zero in the first. */
struct ppi_window {
	portprof_stats *before; /* one an event; NULL: nothing */
	portprof_stats *own;    /* room for what was counted since */
	uint64_t ran_ns, lost_samples;
	int64_t set_ns;         /* how far the clock was set since the first */
	bool is_later;          /* another came before it */
};

/* ---- all of it ---- */

struct ppi_writer {
	struct ppi_locations locations;
	struct ppi_spaces spaces;
	struct ppi_threads threads;
	struct ppi_sample_table table;
	struct ppi_sample_labels labels;
	struct ppi_encoder encoder;
	struct ppi_output output;
	struct ppi_host machine; /* that it runs on */
	int64_t owner_pid;      /* the process that opened it */
	uint32_t default_pid;   /* of records that do not say one */
	bool meets_threads;     /* no record names them: the system is asked */
	bool is_time_told;      /* when it began stands in the file */
	bool has_news;          /* something came since the last portion */
	bool is_broken;         /* out of memory while making a portion */
	bool is_pending;        /* a portion was made, and is in no file yet */
	uint64_t pending_samples, pending_weight;
	uint64_t told_numbers;  /* sum of the account last put in a portion */
	struct ppi_window window;
};

/* ---- portion.c: what came since the last portion, in one gzip member ---- */

/* The file that comes next knows nothing of what this one has. */
void ppi_portion_forget(struct ppi_writer *writer);

/*
 * Make a portion: the first one of a file, with all that stands in a file
 * once; or one with what came since the last. `run` may be NULL: no account.
 * 0 or an errno; then the portion's samples are gone.
 */
int ppi_portion_first(struct ppi_writer *writer, const struct ppi_run *run);
int ppi_portion_next(struct ppi_writer *writer, const struct ppi_run *run,
                     bool is_complete);

/* A number that changes whenever the account of `run` does. */
uint64_t ppi_portion_numbers(const struct ppi_run *run);

#endif
