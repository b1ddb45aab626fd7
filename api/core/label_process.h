/* SPDX-License-Identifier: MIT */
/*
 * Processes, as far as their labels go: whether one has a store, when it is looked for,
 * and what other libraries say of its threads.
 */
#ifndef PPI_LABEL_PROCESS_H
#define PPI_LABEL_PROCESS_H

#include "backends/backend.h"
#include "base/label_look.h"
#include "base/otel_reach.h"
#include "base/pool.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Processes that are remembered to have begun while measuring. */
enum { PPI_LABELS_BEGUN_MAX = 4096 };

/* Sets that other libraries say (base/otel_reach.h), at most: their numbers are behind
 * those of stores, and all processes have the same. */
enum { PPI_LABELS_FOREIGN_MAX = PPI_LABEL_SETS };

struct ppi_label_process {
	uint32_t pid;
	bool is_self;
	bool has_look;
	bool has_next;         /* a program that it has executed, whose records
	                        * are not seen yet */
	struct ppi_label_look next;
	bool is_due;           /* something says that it has labels now */
	uint64_t quiet_until_ns; /* its samples ask no sooner */
	uint64_t looked_ns, look_cost_ns; /* for who has none yet */
	unsigned looks;        /* that found something mapped; the first ones */
	uint64_t pages;        /* it had mapped at the last one */
	struct ppi_label_look look;
	struct ppi_otel_reach *reach; /* NULL: no other library says sets */
	unsigned char *told;   /* a bit a set; NULL: none */
	uint32_t keys_told;    /* sets that were told for the sake of their keys */
	bool has_told_names;   /* of the keys of the other library */
	UT_hash_handle hh;     /* by pid */
};

struct ppi_label_processes {
	bool by_time;     /* times of samples find their sets */
	uint32_t self;    /* whose samples name no process */
	int64_t measured; /* that process; 0: many */
	struct ppi_label_process *all;  /* that have samples, until they end */
	struct ppi_label_process *last; /* the one of the sample before */
	uint32_t begun[PPI_LABELS_BEGUN_MAX]; /* that were seen to begin */
	struct ppi_pool foreign; /* texts of sets of other libraries */
	uint32_t spans;          /* of them, that say which span */
};

/* A child by fork leaves the parent's stores as they are. */
void ppi_label_processes_free(struct ppi_label_processes *processes,
                              bool is_child);

/* The process, from now on if not before; NULL when out of memory. */
struct ppi_label_process *
ppi_label_process_find(struct ppi_label_processes *processes, uint32_t pid);

/* The same, but NULL where it is not known yet. */
struct ppi_label_process *
ppi_label_process_known(const struct ppi_label_processes *processes,
                        uint32_t pid);

/* A program was seen to begin. */
void ppi_label_process_begins(struct ppi_label_processes *processes,
                              uint32_t pid);

/* A program that was seen to begin says so when it labels its work. Its maps are read
 * when it has said nothing for a while: most processes of a busy system have ended
 * before. */
void ppi_label_process_expect_word(const struct ppi_label_processes *processes,
                                   struct ppi_label_process *process);

/* Sinks forget with a program all of its sets. */
void ppi_label_process_tell_again(struct ppi_label_process *process);

/* Its program; the next is it then. */
void ppi_label_process_forget(struct ppi_label_process *process);

/* It has ended. A system begins many in a day, and each number may come again: as
 * another process, which may have said already that it has labels. */
void ppi_label_process_end(struct ppi_label_processes *processes,
                           struct ppi_label_process *process);

/* Its store, where it has one; a wait looks for it sooner than a sample. */
bool ppi_label_process_has_store(const struct ppi_label_processes *processes,
                                 struct ppi_label_process *process,
                                 bool is_wait);

/* The set that another library says of a thread that is in no set of ours. One that
 * has not had a CPU since another look is in the same set. */
void ppi_label_process_read_foreign(struct ppi_label_processes *processes,
                                    struct ppi_label_process *process,
                                    int64_t tid, bool is_proof,
                                    struct ppi_label_state *out);

#endif
