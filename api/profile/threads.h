/* SPDX-License-Identifier: MIT */
/* The names of threads, and which of them are not yet in the file. */
#ifndef PPI_FILE_THREADS_H
#define PPI_FILE_THREADS_H

#include "api/profile/locations.h"

#include <stdbool.h>
#include <stdint.h>

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
};

/* The thread, entered when it is new; NULL when out of memory. Stays where it
 * is until a sweep. */
struct ppi_thread *ppi_threads_get(struct ppi_threads *threads, uint32_t pid,
                                   uint32_t tid);
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

#endif
