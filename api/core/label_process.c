/* SPDX-License-Identifier: MIT */
/* What processes are known to have of labels. */
#include "config.h"

#include "api/core/label_process.h"

#include "base/clock_ns.h"
#include "base/processes.h"
#include "base/thread.h"

#include <stdlib.h>

/* A program that began so long ago, and has not said that it has labels, is looked
 * at. */
#define QUIET_NS UINT64_C(1000000000)

/* So many are made as soon as something was mapped. */
enum { FIRST_LOOKS = 20 };

/* Of so many sets that other libraries say each may be a span's own. */
enum { SPANS_MAX = 4096 };

void ppi_label_processes_free(struct ppi_label_processes *processes,
                              bool is_child)
{
	struct ppi_label_process *process, *next;

	HASH_ITER (hh, processes->all, process, next) {
		HASH_DEL(processes->all, process);
		if (is_child)
			process->look.is_watched =
				process->next.is_watched = false;
		ppi_label_process_forget(process); /* and the next */
		ppi_label_process_forget(process);
		free(process);
	}
	ppi_pool_free(&processes->foreign);
}

struct ppi_label_process *
ppi_label_process_known(const struct ppi_label_processes *processes,
                        uint32_t pid)
{
	struct ppi_label_process *process;

	HASH_FIND(hh, processes->all, &pid, sizeof(pid), process);
	return process;
}

void ppi_label_process_expect_word(const struct ppi_label_processes *processes,
                                   struct ppi_label_process *process)
{
	if (processes->measured <= 0)
		process->quiet_until_ns = ppi_monotonic_ns() + QUIET_NS;
}

struct ppi_label_process *
ppi_label_process_find(struct ppi_label_processes *processes, uint32_t pid)
{
	struct ppi_label_process *process = processes->last;

	if (process && process->pid == pid)
		return process;
	process = ppi_label_process_known(processes, pid);
	if (!process) {
		process = calloc(1, sizeof(*process));
		if (!process)
			return NULL;
		process->pid = pid;
		process->is_self = pid == processes->self;
		if (processes->begun[pid % PPI_LABELS_BEGUN_MAX] == pid)
			ppi_label_process_expect_word(processes, process);
		HASH_ADD(hh, processes->all, pid, sizeof(pid), process);
		if (!process->hh.tbl) { /* out of memory */
			free(process);
			return NULL;
		}
	}
	processes->last = process;
	return process;
}

void ppi_label_process_begins(struct ppi_label_processes *processes,
                              uint32_t pid)
{
	processes->begun[pid % PPI_LABELS_BEGUN_MAX] = pid;
}

void ppi_label_process_tell_again(struct ppi_label_process *process)
{
	free(process->told);
	process->told = NULL;
	process->keys_told = 0;
	process->has_told_names = false;
}

void ppi_label_process_forget(struct ppi_label_process *process)
{
	if (process->has_look)
		ppi_label_look_close(&process->look);
	process->look.is_anothers = false;
	if (process->has_next)
		process->look = process->next;
	ppi_otel_reach_free(process->reach);
	process->reach = NULL;
	ppi_label_process_tell_again(process);
	process->has_look = process->has_next;
	process->has_next = process->is_due = false;
	process->quiet_until_ns = process->looked_ns = process->pages = 0;
}

void ppi_label_process_end(struct ppi_label_processes *processes,
                           struct ppi_label_process *process)
{
	ppi_label_process_forget(process);
	if (process->has_look)
		return;
	if (processes->last == process)
		processes->last = NULL;
	HASH_DEL(processes->all, process);
	free(process);
}

/* As far as its store says; a context of ours says what the store does. */
static uint32_t context_of(const struct ppi_label_process *process)
{
	return process->has_look ? atomic_load(&process->look.store->context)
	                         : PPI_CONTEXT_NOBODYS;
}

static void look_for_store(const struct ppi_label_processes *processes,
                           struct ppi_label_process *process)
{
	process->is_due = false;
	process->has_look =
		process->is_self
			? ppi_label_look_own(&process->look)
			: ppi_label_look_open(&process->look, process->pid);
	if (process->has_look && processes->by_time && !process->is_self)
		ppi_label_look_watch(&process->look);
}

/* Who begins to have labels, of ours or of another library, maps something. Then its
 * mappings are read, which takes but a small part of the time; for samples of a whole system,
 * where most have none, less. */
static void look_again(const struct ppi_label_processes *processes,
                       struct ppi_label_process *process, bool is_wait)
{
	bool is_one = is_wait || processes->measured > 0;
	uint64_t now_ns = ppi_monotonic_ns(), pages, before = 0, after = 0;
	uint64_t pause_ns = is_one ? 1000000 + 100 * process->look_cost_ns
	                           : 100000000 + 2000 * process->look_cost_ns;

	/* libraries are prepared when a program begins */
	if (is_one && process->looks < FIRST_LOOKS)
		pause_ns = 1000000;
	if (now_ns < process->looked_ns + pause_ns ||
	    (!is_wait && now_ns < process->quiet_until_ns))
		return;
	ppi_clock_ns(ppi_thread_clock(0), &before);
	pages = ppi_process_pages(process->pid);
	if (pages != process->pages) {
		if (!process->has_look && !process->is_self)
			look_for_store(processes, process);
		if (context_of(process) != PPI_CONTEXT_OURS)
			process->reach = ppi_otel_reach_new(process->pid);
		process->looks += process->looks < FIRST_LOOKS;
	}
	process->pages = pages;
	ppi_clock_ns(ppi_thread_clock(0), &after);
	process->looked_ns = now_ns;
	process->look_cost_ns = after - before;
}

bool ppi_label_process_has_store(const struct ppi_label_processes *processes,
                                 struct ppi_label_process *process,
                                 bool is_wait)
{
	if (!process->has_look &&
	    (process->is_self ? ppi_label_store_own() != NULL
	                      : process->is_due))
		look_for_store(processes, process);
	if (!process->reach && context_of(process) != PPI_CONTEXT_OURS)
		look_again(processes, process, is_wait);
	/* a context that was found before its store, which is ours */
	if (process->reach && context_of(process) == PPI_CONTEXT_OURS) {
		ppi_otel_reach_free(process->reach);
		process->reach = NULL;
	}
	return process->has_look;
}

/* ---- what other libraries say ---- */

/* Trace and span tell one request from another: of so many sets only the first say
 * them. */
static uint32_t enter_foreign(struct ppi_label_processes *processes,
                              const struct ppi_otel_keys *keys,
                              const unsigned char *record, size_t bytes)
{
	bool has_ids = ppi_otel_record_has_ids(record);
	struct ppi_otel_text text;
	uint32_t number;

	ppi_otel_record_text(keys, record, bytes, has_ids, &text);
	number = ppi_pool_find(&processes->foreign, text.bytes, text.used);
	if (number == PPI_NONE && has_ids && processes->spans++ >= SPANS_MAX) {
		processes->spans = SPANS_MAX;
		ppi_otel_record_text(keys, record, bytes, false, &text);
		number = ppi_pool_find(&processes->foreign, text.bytes, text.used);
	}
	if (text.used == 0)
		return PPI_LABELS_NONE;
	if (number == PPI_NONE &&
	    ppi_pool_count(&processes->foreign) < PPI_LABELS_FOREIGN_MAX)
		number = ppi_pool_enter(&processes->foreign, text.bytes, text.used);
	return number == PPI_NONE ? PPI_LABELS_OTHER : PPI_LABEL_SETS + number;
}

void ppi_label_process_read_foreign(struct ppi_label_processes *processes,
                                    struct ppi_label_process *process,
                                    int64_t tid, bool is_proof,
                                    struct ppi_label_state *out)
{
	enum { NO_STORE = 2 }; /* of ours; an even number */
	unsigned char record[PPI_OTEL_RECORD_MAX];
	enum ppi_otel_answer answer;
	size_t bytes;

	if (!process->reach) {
		if (context_of(process) == PPI_CONTEXT_ANOTHERS)
			out->set = PPI_LABELS_UNKNOWN;
		return;
	}
	out->store = NO_STORE;
	answer = ppi_otel_reach_read(process->reach, tid, record, &bytes,
	                             &out->changes);
	if (answer == PPI_OTEL_SAYS)
		out->set = enter_foreign(processes,
		                         ppi_otel_reach_keys(process->reach),
		                         record, bytes);
	if (answer == PPI_OTEL_UNKNOWN ||
	    (is_proof && out->set && tid == process->pid &&
	     !ppi_otel_reach_is_current(process->reach)))
		out->set = PPI_LABELS_UNKNOWN;
}
