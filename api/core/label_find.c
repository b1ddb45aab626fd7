/* SPDX-License-Identifier: MIT */
/* Which set of labels each sample's thread was in, and what is in that set. */
#include "config.h"

#include "api/core/label_find.h"

#include "api/core/label_process.h"
#include "base/clock_ns.h"
#include "base/label_look.h"
#include "base/label_post.h"
#include "base/otel_reach.h"
#include "base/otel_thread.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So long nobody knows yet whether there will be labels. */
#define FIRST_NS UINT64_C(2000000000)

/* In a program that is recorded from its start a store that we have not made comes
 * later, if ever, and most have ended before. */
#define OWN_LOOK_NS UINT64_C(20000000)

/* As kernels name the mapping of base/label_store.c. */
#define ANNOUNCED "/memfd:" PPI_LABELS_MEMFD

struct ppi_label_finder {
	bool wants_times, has_looks;
	struct ppi_label_reader reader;
	uint64_t began_ns;
	int box;                      /* where stores come by themselves; -1 */
	struct ppi_label_processes processes;
	uint32_t told_to_area;        /* sets of lower numbers are there */
	uint64_t next_own_look_ns;
	unsigned own_looks;
};

/* ---- samples ---- */

static bool is_told(const struct ppi_label_process *process, uint64_t set)
{
	return process->told && set < PPI_LABEL_SETS + PPI_LABELS_FOREIGN_MAX &&
	       (process->told[set / 8] & (1u << (set % 8)));
}

static void mark_told(struct ppi_label_process *process, uint64_t set)
{
	if (!process->told)
		process->told = calloc(
			(PPI_LABEL_SETS + PPI_LABELS_FOREIGN_MAX) / 8, 1);
	if (process->told && set < PPI_LABEL_SETS + PPI_LABELS_FOREIGN_MAX)
		process->told[set / 8] |= (unsigned char)(1u << (set % 8));
}

/* A kernel that says neither which thread nor when leaves it open; another library's
 * sets have no times. */
static void find_by_time(struct ppi_label_finder *finder,
                         struct ppi_label_process *process,
                         portprof_record *record)
{
	const uint32_t needed = PORTPROF_FIELD_TID | PORTPROF_FIELD_TIME;
	uint32_t number = PPI_LABELS_NONE;

	if (ppi_label_process_has_store(&finder->processes, process, false)) {
		finder->has_looks = true;
		number = (record->valid & needed) == needed
			? ppi_label_look_find(&process->look, record->tid,
			                      record->time_ns)
			: PPI_LABELS_UNKNOWN;
	}
	if (number == PPI_LABELS_NONE &&
	    (process->reach || process->look.is_anothers))
		number = PPI_LABELS_UNKNOWN;
	if (number == PPI_LABELS_NONE)
		return;
	record->label_set = number;
	record->valid |= PORTPROF_FIELD_LABELS;
}

static bool has_text(const portprof_record *record)
{
	return (record->valid & PORTPROF_FIELD_LABELS) &&
	       record->label_set >= PPI_LABELS_FIRST &&
	       record->label_set != PORTPROF_LABEL_SET_UNKNOWN;
}

/* What is unknown is so for keys that are known: the first sets of a process are told
 * before, and the names that another library has. */
static bool has_untold_set(const struct ppi_label_process *process)
{
	enum { LOOKED_AT = 64 };

	return process->has_look && process->keys_told < LOOKED_AT &&
	       PPI_LABELS_FIRST + process->keys_told <
		       atomic_load(&process->look.store->set_count);
}

static bool has_untold_keys(const struct ppi_label_process *process,
                            const portprof_record *record)
{
	return (record->valid & PORTPROF_FIELD_LABELS) &&
	       record->label_set == PORTPROF_LABEL_SET_UNKNOWN &&
	       (has_untold_set(process) ||
	        (process->reach && !process->has_told_names));
}

/* As a set of the process, in which none has a value. */
static void tell_names(struct ppi_label_process *process,
                       portprof_record *record, struct ppi_room *room)
{
	const struct ppi_otel_keys *keys = ppi_otel_reach_keys(process->reach);
	char text[PPI_LABEL_SET_BYTES];
	size_t used = 0;

	for (uint32_t i = 0; i < atomic_load(&keys->count); i++) {
		size_t bytes = strlen(keys->names[i]) + 1;

		if (bytes == 1 || used + bytes + 1 > sizeof(text))
			continue;
		memcpy(text + used, keys->names[i], bytes);
		text[used + bytes] = '\0';
		used += bytes + 1;
	}
	record->address = PPI_LABEL_SETS + PPI_LABELS_FOREIGN_MAX;
	process->has_told_names = true;
	if (used)
		ppi_room_add(room, record, text, used);
}

/* True: its set is to be told first. */
static bool see_sample(struct ppi_label_finder *finder,
                       portprof_record *record)
{
	uint32_t pid = record->valid & PORTPROF_FIELD_PID ? record->pid
	                                                  : finder->processes.self;
	struct ppi_label_process *process;

	if (pid == 0)
		return false;
	process = ppi_label_process_find(&finder->processes, pid);
	if (!process)
		return false;
	if (finder->processes.by_time &&
	    !(record->valid & (PORTPROF_FIELD_LABELS | PPI_FIELD_LABELLED)))
		find_by_time(finder, process, record);
	record->valid &= ~(uint32_t)PPI_FIELD_LABELLED;
	return (has_text(record) && !is_told(process, record->label_set)) ||
	       has_untold_keys(process, record);
}

/* Who samples inside tells the sets that it made: then it has a store. */
static void see_sets(struct ppi_label_finder *finder,
                     const portprof_record *record)
{
	struct ppi_label_process *process;

	process = ppi_label_process_known(&finder->processes, record->pid);
	if (process && !process->has_look)
		process->is_due = true;
}

/* A program that begins to label its work shows that by a mapping of its own, which
 * is nobody's code. */
static void see_module(struct ppi_label_finder *finder,
                       portprof_record *record, bool is_announcement)
{
	struct ppi_label_process *process;

	if (!is_announcement)
		return;
	process = ppi_label_process_find(&finder->processes, record->pid);
	if (process && !process->has_look)
		process->is_due = true;
	record->kind = 0;
}

/* Stores come by themselves, before the records of what went before are seen: one that
 * was made after the program began is that program's. Where no record says when, the
 * process does. */
static bool is_of_new_program(const struct ppi_label_process *process,
                              const portprof_record *exec)
{
	if (!process->has_look || process->has_next)
		return false;
	return exec->valid & PORTPROF_FIELD_TIME
		? process->look.store->created_ns > exec->time_ns
		: ppi_label_look_is_current(&process->look, process->pid);
}

static void see_other(struct ppi_label_finder *finder,
                      const portprof_record *record)
{
	struct ppi_label_process *process;

	if (record->kind == PORTPROF_RECORD_THREAD
	            ? !(record->valid & PORTPROF_FIELD_EXEC)
	            : record->kind != PORTPROF_RECORD_EXIT ||
	                      record->pid != record->tid)
		return;
	if (record->kind == PORTPROF_RECORD_THREAD)
		ppi_label_process_begins(&finder->processes, record->pid);
	process = ppi_label_process_known(&finder->processes, record->pid);
	if (!process || process->is_self)
		return;
	if (record->kind == PORTPROF_RECORD_EXIT) {
		ppi_label_process_end(&finder->processes, process);
	} else if (is_of_new_program(process, record)) {
		ppi_label_process_tell_again(process);
	} else {
		ppi_label_process_forget(process);
		ppi_label_process_expect_word(&finder->processes, process);
	}
}

size_t ppi_label_finder_see(struct ppi_label_finder *finder,
                            const struct ppi_room *room, size_t first)
{
	const portprof_batch batch = ppi_room_batch(room);

	for (size_t i = first; i < room->record_count; i++) {
		portprof_record *record = &room->records[i];
		const portprof_module *module;

		if (record->kind == PORTPROF_RECORD_SAMPLE) {
			if (see_sample(finder, record))
				return i;
		} else if (record->kind == PORTPROF_RECORD_MODULE) {
			module = portprof_batch_module(&batch, record);
			see_module(finder, record,
			           module && strncmp(module->path, ANNOUNCED,
			                             sizeof(ANNOUNCED) - 1) ==
			                             0);
		} else if (record->kind == PORTPROF_RECORD_LABELS) {
			see_sets(finder, record);
		} else {
			see_other(finder, record);
		}
	}
	return room->record_count;
}

/* The text of a set of this process, or of one that is looked at. */
static const char *text_of(const struct ppi_label_finder *finder,
                           const struct ppi_label_process *process,
                           uint64_t set, size_t *bytes)
{
	const struct ppi_pool *foreign = &finder->processes.foreign;
	const struct ppi_label_store *store =
		process->has_look ? process->look.store
	        : process->is_self ? ppi_label_store_own() : NULL;

	if (set >= PPI_LABEL_SETS)
		return set - PPI_LABEL_SETS < ppi_pool_count(foreign)
			? ppi_pool_key(foreign, (uint32_t)set - PPI_LABEL_SETS,
			               bytes)
			: NULL;
	return store ? ppi_label_store_text(store, (uint32_t)set, bytes)
	             : NULL;
}

void ppi_label_finder_tell(struct ppi_label_finder *finder,
                           const portprof_record *sample,
                           struct ppi_room *room)
{
	struct ppi_label_process *process = ppi_label_process_find(
		&finder->processes,
		sample->valid & PORTPROF_FIELD_PID ? sample->pid
		                                   : finder->processes.self);
	portprof_record record = {
		.kind = PORTPROF_RECORD_LABELS,
		.valid = PORTPROF_FIELD_PID,
		.pid = process ? process->pid : 0,
		.address = sample->label_set,
	};
	size_t bytes;
	const char *text;

	if (!process)
		return;
	if (record.address == PORTPROF_LABEL_SET_UNKNOWN) {
		if (!has_untold_set(process)) {
			tell_names(process, &record, room);
			return;
		}
		record.address = PPI_LABELS_FIRST + process->keys_told++;
	}
	text = text_of(finder, process, record.address, &bytes);
	if (text)
		ppi_room_add(room, &record, text, bytes);
	mark_told(process, record.address);
}

/* ---- sets of this process, for a collector ---- */

/* In their order, until the area is full: what is missing comes next time. */
static void fill_area(struct ppi_label_finder *finder, struct ppi_area *area)
{
	const struct ppi_label_store *store = ppi_label_store_own();
	uint32_t count = store ? atomic_load(&store->set_count) : 0;

	if (finder->told_to_area < PPI_LABELS_FIRST)
		finder->told_to_area = PPI_LABELS_FIRST;
	for (uint32_t i = finder->told_to_area;
	     i < count && i < PPI_LABEL_SETS; i++) {
		const portprof_record record = {
			.kind = PORTPROF_RECORD_LABELS,
			.valid = PORTPROF_FIELD_PID,
			.pid = finder->processes.self,
			.address = i,
		};
		size_t bytes;
		const char *text = ppi_label_store_text(store, i, &bytes);

		if (text && !ppi_area_put(area, &record, text, bytes))
			return;
		/* one that is being written has no samples yet */
		if (text && finder->told_to_area == i)
			finder->told_to_area = i + 1;
	}
}

/* Another copy of the library in this process, which the program was linked with,
 * may have the store. */
static void look_for_own(struct ppi_label_finder *finder)
{
	struct ppi_label_look look;
	uint64_t now_ns;

	if (ppi_label_store_own())
		return;
	now_ns = ppi_monotonic_ns();
	if (now_ns < finder->next_own_look_ns)
		return;
	/* less and less often, to a minute */
	finder->next_own_look_ns =
		now_ns + (UINT64_C(250000000)
	                  << (finder->own_looks < 8 ? finder->own_looks : 8));
	finder->own_looks++;
	if (ppi_label_look_own(&look))
		ppi_label_look_close(&look);
}

bool ppi_label_finder_is_urgent(const struct ppi_label_finder *finder)
{
	return finder->processes.by_time &&
	       (finder->has_looks ||
	        ppi_monotonic_ns() - finder->began_ns < FIRST_NS);
}

/* Of a process that has one already, the next program's. */
static void take_sent(struct ppi_label_finder *finder)
{
	uint32_t pid;
	int fd;

	while (finder->box >= 0 &&
	       (fd = ppi_label_box_take(finder->box, &pid)) >= 0) {
		struct ppi_label_process *process =
			ppi_label_process_find(&finder->processes, pid);
		struct ppi_label_look look;

		if (!process || process->is_self) {
			close(fd);
			continue;
		}
		if (!ppi_label_look_take(&look, pid, fd))
			continue;
		if (finder->processes.by_time)
			ppi_label_look_watch(&look);
		if (process->has_next)
			ppi_label_process_forget(process);
		if (process->has_look) {
			process->next = look;
			process->has_next = true;
		} else {
			process->look = look;
			process->has_look = true;
		}
	}
}

void ppi_label_finder_look(struct ppi_label_finder *finder,
                           struct ppi_area *area)
{
	take_sent(finder);
	if (finder->processes.measured != finder->processes.self)
		return;
	look_for_own(finder);
	/* by handlers alone: a thread that runs cannot be read from outside */
	if (!finder->processes.by_time)
		ppi_otel_threads_look();
	if (area)
		fill_area(finder, area);
}

/* ---- now ---- */

/* A store that came by itself was made before its program entered a set. Where the
 * process has executed another program nothing is known until a record says when. */
static void read_now(void *self, int64_t pid, int64_t tid, bool is_proof,
                     struct ppi_label_state *out)
{
	struct ppi_label_finder *finder = self;
	struct ppi_label_process *process = ppi_label_process_find(
		&finder->processes, (uint32_t)pid);

	*out = (struct ppi_label_state){ .set = PPI_LABELS_UNKNOWN };
	if (!process)
		return;
	if (!process->has_look)
		take_sent(finder);
	out->set = PPI_LABELS_NONE;
	if (ppi_label_process_has_store(&finder->processes, process, true)) {
		ppi_label_look_now(&process->look, tid, out);
		if (process->has_next ||
		    (is_proof && tid == pid && out->set && !process->is_self &&
		     !ppi_label_look_is_current(&process->look, process->pid)))
			out->set = PPI_LABELS_UNKNOWN;
	}
	if (process->look.is_anothers)
		out->set = PPI_LABELS_UNKNOWN;
	else if (out->set == PPI_LABELS_NONE)
		ppi_label_process_read_foreign(&finder->processes, process, tid,
		                               is_proof && !process->is_self,
		                               out);
}

const struct ppi_label_reader *
ppi_label_finder_reader(const struct ppi_label_finder *finder)
{
	return finder ? &finder->reader : NULL;
}

/* ---- its life ---- */

static bool has_waits(const struct ppi_plan *plan)
{
	for (size_t i = 0; i < plan->event_count; i++)
		if (ppi_waits_has(&plan->events[i].request))
			return true;
	return false;
}

/* One that is there already. */
static void expect(struct ppi_label_finder *finder, uint32_t pid)
{
	struct ppi_label_process *process =
		ppi_label_process_find(&finder->processes, pid);

	if (process)
		ppi_label_process_has_store(&finder->processes, process, true);
}

struct ppi_label_finder *ppi_label_finder_new(const struct ppi_plan *plan,
                                              bool by_time)
{
	struct ppi_label_finder *finder = calloc(1, sizeof(*finder));
	const struct ppi_target *target = &plan->target;

	if (!finder)
		return NULL;
	finder->processes.by_time = by_time;
	finder->box = -1;
	finder->began_ns = ppi_monotonic_ns();
	if (plan->area)
		finder->next_own_look_ns = finder->began_ns + OWN_LOOK_NS;
	finder->processes.self = (uint32_t)getpid();
	finder->processes.measured =
		target->is_self ? (int64_t)finder->processes.self : target->pid;
	finder->reader = (struct ppi_label_reader){ read_now, finder };
	if (!by_time && !has_waits(plan))
		return finder;
	if (!target->is_self)
		finder->box = ppi_label_box_open();
	if (by_time &&
	    (target->is_self || target->kind == PPI_TARGET_SYSTEM)) {
		finder->wants_times = true;
		ppi_label_times_begin();
	}
	if (!target->is_self && target->pid > 0)
		expect(finder, (uint32_t)target->pid);
	for (size_t i = 0; i < target->other_count; i++)
		expect(finder, (uint32_t)target->others[i]);
	return finder;
}

void ppi_label_finder_free(struct ppi_label_finder *finder)
{
	bool is_child;

	if (!finder)
		return;
	is_child = finder->processes.self != (uint32_t)getpid();
	ppi_label_processes_free(&finder->processes, is_child);
	if (finder->wants_times && !is_child)
		ppi_label_times_end();
	if (finder->box >= 0)
		close(finder->box);
	free(finder);
}
