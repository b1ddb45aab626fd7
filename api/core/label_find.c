/* SPDX-License-Identifier: MIT */
/* Which set of labels each sample's thread was in, and what is in that set. */
#include "config.h"

#include "api/core/label_find.h"

#include "base/clock_ns.h"
#include "base/label_look.h"
#include "base/label_post.h"
#include "base/otel_reach.h"
#include "base/otel_thread.h"
#include "base/pool.h"
#include "base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* So long nobody knows yet whether there will be labels. */
#define FIRST_NS UINT64_C(2000000000)

/* In a program that is recorded from its start a store that we have not made comes
 * later, if ever, and most have ended before. */
#define OWN_LOOK_NS UINT64_C(20000000)

/* Processes that are remembered to have begun while measuring. */
enum { BEGUN_MAX = 4096 };

/* A program that began so long ago, and has not said that it has labels, is looked
 * at. */
#define QUIET_NS UINT64_C(1000000000)

/* Sets that other libraries say (base/otel_reach.h): their numbers are behind those of
 * stores, and all processes have the same. Of so many each may be a span's own. */
enum { FOREIGN_MAX = PPI_LABEL_SETS, SPANS_MAX = 4096 };

/* As kernels name the mapping of base/label_store.c. */
#define ANNOUNCED "/memfd:" PPI_LABELS_MEMFD

/* A process, as far as its labels go. */
struct label_process {
	uint32_t pid;
	bool is_self;
	bool has_look;
	bool has_next;         /* a program that it has executed, whose records
	                        * are not seen yet */
	struct ppi_label_look next;
	bool is_due;           /* something says that it has labels now */
	uint64_t quiet_until_ns; /* its samples ask no sooner */
	uint64_t looked_ns, look_cost_ns; /* for who has none yet */
	uint64_t pages;        /* it had mapped at the last one */
	struct ppi_label_look look;
	struct ppi_otel_reach *reach; /* NULL: no other library says sets */
	unsigned char *told;   /* a bit a set; NULL: none */
	uint32_t keys_told;    /* sets that were told for the sake of their keys */
	bool has_told_names;   /* of the keys of the other library */
	UT_hash_handle hh;     /* by pid */
};

struct ppi_label_finder {
	bool by_time, wants_times, has_looks;
	struct ppi_label_reader reader;
	uint64_t began_ns;
	int box;                      /* where stores come by themselves; -1 */
	uint32_t self;                /* whose samples name no process */
	int64_t measured;             /* that process; 0: many */
	struct label_process *processes; /* that have samples, until they end */
	struct label_process *last;   /* the one of the sample before */
	uint32_t told_to_area;        /* sets of lower numbers are there */
	uint32_t begun[BEGUN_MAX];    /* processes that were seen to begin */
	uint64_t next_own_look_ns;
	unsigned own_looks;
	struct ppi_pool foreign;      /* texts of sets of other libraries */
	uint32_t spans;               /* of them, that say which span */
};

/* ---- processes ---- */

/* A program that was seen to begin says so when it labels its work (see_module).
 * Its maps are read when it has said nothing for a while: most processes of a
 * busy system have ended before. */
static void expect_word(const struct ppi_label_finder *finder,
                        struct label_process *process)
{
	if (finder->measured <= 0)
		process->quiet_until_ns = ppi_monotonic_ns() + QUIET_NS;
}

static struct label_process *find_process(struct ppi_label_finder *finder,
                                          uint32_t pid)
{
	struct label_process *process = finder->last;

	if (process && process->pid == pid)
		return process;
	HASH_FIND(hh, finder->processes, &pid, sizeof(pid), process);
	if (!process) {
		process = calloc(1, sizeof(*process));
		if (!process)
			return NULL;
		process->pid = pid;
		process->is_self = pid == finder->self;
		if (finder->begun[pid % BEGUN_MAX] == pid)
			expect_word(finder, process);
		HASH_ADD(hh, finder->processes, pid, sizeof(pid), process);
		if (!process->hh.tbl) { /* out of memory */
			free(process);
			return NULL;
		}
	}
	finder->last = process;
	return process;
}

/* Sinks forget with a program all of its sets. */
static void tell_again(struct label_process *process)
{
	free(process->told);
	process->told = NULL;
	process->keys_told = 0;
	process->has_told_names = false;
}

static void forget(struct label_process *process)
{
	if (process->has_look)
		ppi_label_look_close(&process->look);
	if (process->has_next)
		process->look = process->next;
	ppi_otel_reach_free(process->reach);
	process->reach = NULL;
	tell_again(process);
	process->has_look = process->has_next;
	process->has_next = process->is_due = false;
	process->quiet_until_ns = process->looked_ns = process->pages = 0;
}

/* It has ended. A system begins many in a day, and each number may come again: as
 * another process, which may have said already that it has labels. */
static void end_process(struct ppi_label_finder *finder,
                        struct label_process *process)
{
	forget(process);
	if (process->has_look)
		return;
	if (finder->last == process)
		finder->last = NULL;
	HASH_DEL(finder->processes, process);
	free(process);
}

/* As far as its store says; a context of ours says what the store does. */
static uint32_t context_of(const struct label_process *process)
{
	return process->has_look ? atomic_load(&process->look.store->context)
	                         : PPI_CONTEXT_NOBODYS;
}

static void look_for_store(struct ppi_label_finder *finder,
                           struct label_process *process)
{
	process->is_due = false;
	process->has_look =
		process->is_self
			? ppi_label_look_own(&process->look)
			: ppi_label_look_open(&process->look, process->pid);
	if (process->has_look && finder->by_time && !process->is_self)
		ppi_label_look_watch(&process->look);
}

/* What it has mapped, the first word of statm (proc_pid_statm(5)); 0: not known. */
static uint64_t pages_of(uint32_t pid)
{
	char path[64], text[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/statm", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return strtoull(text, NULL, 10);
}

/* Who begins to have labels, of ours or of another library, maps something. Then its
 * mappings are read, which takes but a small part of the time; for samples of a whole system,
 * where most have none, less. */
static void look_again(struct ppi_label_finder *finder,
                       struct label_process *process, bool is_wait)
{
	bool is_one = is_wait || finder->measured > 0;
	uint64_t now_ns = ppi_monotonic_ns(), pages, before = 0, after = 0;
	uint64_t pause_ns = is_one ? 1000000 + 100 * process->look_cost_ns
	                           : 100000000 + 2000 * process->look_cost_ns;

	if (now_ns < process->looked_ns + pause_ns ||
	    (!is_wait && now_ns < process->quiet_until_ns))
		return;
	ppi_clock_ns(ppi_thread_clock(0), &before);
	pages = pages_of(process->pid);
	if (pages != process->pages) {
		if (!process->has_look && !process->is_self)
			look_for_store(finder, process);
		if (context_of(process) != PPI_CONTEXT_OURS)
			process->reach = ppi_otel_reach_new(process->pid);
	}
	process->pages = pages;
	ppi_clock_ns(ppi_thread_clock(0), &after);
	process->looked_ns = now_ns;
	process->look_cost_ns = after - before;
}

/* Its store, where it has one. */
static bool has_store(struct ppi_label_finder *finder,
                      struct label_process *process, bool is_wait)
{
	if (!process->has_look &&
	    (process->is_self ? ppi_label_store_own() != NULL
	                      : process->is_due))
		look_for_store(finder, process);
	if (!process->reach && context_of(process) != PPI_CONTEXT_OURS)
		look_again(finder, process, is_wait);
	return process->has_look;
}

/* ---- what other libraries say ---- */

/* Trace and span tell one request from another: of so many sets only the first say
 * them. */
static uint32_t enter_foreign(struct ppi_label_finder *finder,
                              const struct ppi_otel_keys *keys,
                              const unsigned char *record, size_t bytes)
{
	bool has_ids = ppi_otel_record_has_ids(record);
	struct ppi_otel_text text;
	uint32_t number;

	ppi_otel_record_text(keys, record, bytes, has_ids, &text);
	number = ppi_pool_find(&finder->foreign, text.bytes, text.used);
	if (number == PPI_NONE && has_ids && finder->spans++ >= SPANS_MAX) {
		finder->spans = SPANS_MAX;
		ppi_otel_record_text(keys, record, bytes, false, &text);
		number = ppi_pool_find(&finder->foreign, text.bytes, text.used);
	}
	if (text.used == 0)
		return PPI_LABELS_NONE;
	if (number == PPI_NONE && ppi_pool_count(&finder->foreign) < FOREIGN_MAX)
		number = ppi_pool_enter(&finder->foreign, text.bytes, text.used);
	return number == PPI_NONE ? PPI_LABELS_OTHER : PPI_LABEL_SETS + number;
}

/* Of a thread that is in no set of ours. One that has not had a CPU since another look
 * is in the same set. */
static void read_foreign(struct ppi_label_finder *finder,
                         struct label_process *process, int64_t tid,
                         bool is_proof, struct ppi_label_state *out)
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
		out->set = enter_foreign(finder,
		                         ppi_otel_reach_keys(process->reach),
		                         record, bytes);
	if (answer == PPI_OTEL_UNKNOWN ||
	    (is_proof && out->set && tid == process->pid &&
	     !ppi_otel_reach_is_current(process->reach)))
		out->set = PPI_LABELS_UNKNOWN;
}

/* ---- samples ---- */

static bool is_told(const struct label_process *process, uint64_t set)
{
	return process->told && set < PPI_LABEL_SETS + FOREIGN_MAX &&
	       (process->told[set / 8] & (1u << (set % 8)));
}

static void mark_told(struct label_process *process, uint64_t set)
{
	if (!process->told)
		process->told = calloc((PPI_LABEL_SETS + FOREIGN_MAX) / 8, 1);
	if (process->told && set < PPI_LABEL_SETS + FOREIGN_MAX)
		process->told[set / 8] |= (unsigned char)(1u << (set % 8));
}

/* A kernel that says neither which thread nor when leaves it open; another library's
 * sets have no times. */
static void find_by_time(struct ppi_label_finder *finder,
                         struct label_process *process,
                         portprof_record *record)
{
	const uint32_t needed = PORTPROF_FIELD_TID | PORTPROF_FIELD_TIME;
	uint32_t number = PPI_LABELS_NONE;

	if (has_store(finder, process, false)) {
		finder->has_looks = true;
		number = (record->valid & needed) == needed
			? ppi_label_look_find(&process->look, record->tid,
			                      record->time_ns)
			: PPI_LABELS_UNKNOWN;
	}
	if (number == PPI_LABELS_NONE && process->reach)
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
static bool has_untold_set(const struct label_process *process)
{
	enum { LOOKED_AT = 64 };

	return process->has_look && process->keys_told < LOOKED_AT &&
	       PPI_LABELS_FIRST + process->keys_told <
		       atomic_load(&process->look.store->set_count);
}

static bool has_untold_keys(const struct label_process *process,
                            const portprof_record *record)
{
	return (record->valid & PORTPROF_FIELD_LABELS) &&
	       record->label_set == PORTPROF_LABEL_SET_UNKNOWN &&
	       (has_untold_set(process) ||
	        (process->reach && !process->has_told_names));
}

/* As a set of the process, in which none has a value. */
static void tell_names(struct label_process *process, portprof_record *record,
                       struct ppi_room *room)
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
	record->address = PPI_LABEL_SETS + FOREIGN_MAX;
	process->has_told_names = true;
	if (used)
		ppi_room_add(room, record, text, used);
}

/* True: its set is to be told first. */
static bool see_sample(struct ppi_label_finder *finder,
                       portprof_record *record)
{
	uint32_t pid = record->valid & PORTPROF_FIELD_PID ? record->pid
	                                                  : finder->self;
	struct label_process *process;

	if (pid == 0)
		return false;
	process = find_process(finder, pid);
	if (!process)
		return false;
	if (finder->by_time &&
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
	struct label_process *process;

	HASH_FIND(hh, finder->processes, &record->pid, sizeof(record->pid),
	          process);
	if (process && !process->has_look)
		process->is_due = true;
}

/* A program that begins to label its work shows that by a mapping of its own, which
 * is nobody's code. */
static void see_module(struct ppi_label_finder *finder,
                       portprof_record *record, bool is_announcement)
{
	struct label_process *process;

	if (!is_announcement)
		return;
	process = find_process(finder, record->pid);
	if (process && !process->has_look)
		process->is_due = true;
	record->kind = 0;
}

/* Stores come by themselves, before the records of what went before are seen: one that
 * was made after the program began is that program's. Where no record says when, the
 * process does. */
static bool is_of_new_program(const struct label_process *process,
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
	struct label_process *process;

	if (record->kind == PORTPROF_RECORD_THREAD
	            ? !(record->valid & PORTPROF_FIELD_EXEC)
	            : record->kind != PORTPROF_RECORD_EXIT ||
	                      record->pid != record->tid)
		return;
	if (record->kind == PORTPROF_RECORD_THREAD)
		finder->begun[record->pid % BEGUN_MAX] = record->pid;
	HASH_FIND(hh, finder->processes, &record->pid, sizeof(record->pid),
	          process);
	if (!process || process->is_self)
		return;
	if (record->kind == PORTPROF_RECORD_EXIT) {
		end_process(finder, process);
	} else if (is_of_new_program(process, record)) {
		tell_again(process);
	} else {
		forget(process);
		expect_word(finder, process);
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
                           const struct label_process *process, uint64_t set,
                           size_t *bytes)
{
	const struct ppi_label_store *store =
		process->has_look ? process->look.store
	        : process->is_self ? ppi_label_store_own() : NULL;

	if (set >= PPI_LABEL_SETS)
		return set - PPI_LABEL_SETS < ppi_pool_count(&finder->foreign)
			? ppi_pool_key(&finder->foreign,
			               (uint32_t)set - PPI_LABEL_SETS, bytes)
			: NULL;
	return store ? ppi_label_store_text(store, (uint32_t)set, bytes)
	             : NULL;
}

void ppi_label_finder_tell(struct ppi_label_finder *finder,
                           const portprof_record *sample,
                           struct ppi_room *room)
{
	struct label_process *process = find_process(
		finder, sample->valid & PORTPROF_FIELD_PID ? sample->pid
		                                           : finder->self);
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
			.pid = finder->self,
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
	return finder->by_time &&
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
		struct label_process *process = find_process(finder, pid);
		struct ppi_label_look look;

		if (!process || process->is_self) {
			close(fd);
			continue;
		}
		if (!ppi_label_look_take(&look, pid, fd))
			continue;
		if (finder->by_time)
			ppi_label_look_watch(&look);
		if (process->has_next)
			forget(process);
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
	if (finder->measured != finder->self)
		return;
	look_for_own(finder);
	/* by handlers alone: a thread that runs cannot be read from outside */
	if (!finder->by_time)
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
	struct label_process *process = find_process(finder, (uint32_t)pid);

	*out = (struct ppi_label_state){ .set = PPI_LABELS_UNKNOWN };
	if (!process)
		return;
	if (!process->has_look)
		take_sent(finder);
	out->set = PPI_LABELS_NONE;
	if (has_store(finder, process, true)) {
		ppi_label_look_now(&process->look, tid, out);
		if (process->has_next ||
		    (is_proof && tid == pid && out->set && !process->is_self &&
		     !ppi_label_look_is_current(&process->look, process->pid)))
			out->set = PPI_LABELS_UNKNOWN;
	}
	if (out->set == PPI_LABELS_NONE)
		read_foreign(finder, process, tid,
		             is_proof && !process->is_self, out);
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
	struct label_process *process = find_process(finder, pid);

	if (process)
		has_store(finder, process, true);
}

struct ppi_label_finder *ppi_label_finder_new(const struct ppi_plan *plan,
                                              bool by_time)
{
	struct ppi_label_finder *finder = calloc(1, sizeof(*finder));
	const struct ppi_target *target = &plan->target;

	if (!finder)
		return NULL;
	finder->by_time = by_time;
	finder->box = -1;
	finder->began_ns = ppi_monotonic_ns();
	if (plan->area)
		finder->next_own_look_ns = finder->began_ns + OWN_LOOK_NS;
	finder->self = (uint32_t)getpid();
	finder->measured = target->is_self ? (int64_t)finder->self
	                                   : target->pid;
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
	struct label_process *process, *next;
	bool is_child;

	if (!finder)
		return;
	is_child = finder->self != (uint32_t)getpid();
	HASH_ITER (hh, finder->processes, process, next) {
		HASH_DEL(finder->processes, process);
		if (is_child)
			process->look.is_watched =
				process->next.is_watched = false;
		forget(process); /* and the next */
		forget(process);
		free(process);
	}
	if (finder->wants_times && !is_child)
		ppi_label_times_end();
	if (finder->box >= 0)
		close(finder->box);
	ppi_pool_free(&finder->foreign);
	free(finder);
}
