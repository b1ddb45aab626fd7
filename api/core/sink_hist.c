/* SPDX-License-Identifier: MIT */
/*
 * The sinks that count samples in bins of text, as profil(2) does: all, or those of
 * threads that work for somebody.
 */
#include "api/core/sink.h"

#include "api/core/label.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* ---- profil(2) bins over many ranges, saturating ---- */

/* Weight that does not fill a tick yet waits here for the next sample, so
 * that the sum of ticks times the period stays the weight, to within one. */
struct hist_state {
	uint64_t tick_weight; /* weight of one tick; 0: count samples */
	uint64_t carry;
	struct wanted_sets *wanted; /* of a histogram of labels */
};

/* pc - offset = d goes to bin floor(d * scale / 131072): what the BSD and
 * illumos kernels compute (FreeBSD sys/kern/subr_prof.c, illumos
 * uts/common/os/clock.c), halved because theirs is a byte offset. The two
 * parts keep the product within 64 bits for any d. */
static uint64_t bin_of(uint64_t distance, uint64_t scale)
{
	uint64_t whole = distance >> 17, rest = distance & 131071;

	return whole * scale + (rest * scale >> 17);
}

/* The first distance whose bin is `bin` or a later one. */
static uint64_t distance_of(uint64_t bin, uint64_t scale)
{
	uint64_t whole = bin / scale, rest = bin % scale;

	return (whole << 17) + ((rest << 17) + scale - 1) / scale;
}

struct ppi_range ppi_range_of_text(const portprof_range *range)
{
	uint64_t bytes = distance_of(range->bin_count, range->scale);
	struct ppi_range text = {
		.start = range->offset,
		.end = range->offset + bytes,
		/* of other scales than powers of two bins end anywhere */
		.bin_bytes = 131072 % range->scale ?
		                     1 : 131072 / range->scale,
	};

	if (text.end < text.start)
		text.end = UINT64_MAX;
	return text;
}

static const portprof_range *find_range(const struct ppi_sink_request *req,
                                        uint64_t pc)
{
	size_t low = 0, high = req->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (req->ranges[middle].offset <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &req->ranges[low - 1] : NULL;
}

static uint64_t bin_max(unsigned bits)
{
	return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static uint64_t bin_get(const portprof_range *range, uint64_t bin)
{
	switch (range->bin_bits) {
	case 16:
		return ((const uint16_t *)range->bins)[bin];
	case 32:
		return ((const uint32_t *)range->bins)[bin];
	default:
		return ((const uint64_t *)range->bins)[bin];
	}
}

static void bin_set(const portprof_range *range, uint64_t bin,
                    uint64_t value)
{
	switch (range->bin_bits) {
	case 16:
		((uint16_t *)range->bins)[bin] = (uint16_t)value;
		break;
	case 32:
		((uint32_t *)range->bins)[bin] = (uint32_t)value;
		break;
	default:
		((uint64_t *)range->bins)[bin] = value;
	}
}

/* Add as much of `amount` as the bin can hold; returns what it could not. */
static uint64_t bin_add(struct ppi_sink *sink, const portprof_range *range,
                        uint64_t bin, uint64_t amount)
{
	uint64_t max = bin_max(range->bin_bits);
	uint64_t now = bin_get(range, bin), fits = max - now;

	if (amount == 0)
		return 0;
	if (amount >= fits && now != max)
		sink->stats.saturated_bins++;
	if (amount <= fits) {
		bin_set(range, bin, now + amount);
		return 0;
	}
	bin_set(range, bin, max);
	return amount - fits;
}

static uint64_t amount_of(struct ppi_sink *sink, const portprof_record *record)
{
	struct hist_state *state = sink->state;
	uint64_t ticks;

	if (sink->request->bin_unit == PORTPROF_BINS_WEIGHT)
		return record->weight;
	if (state->tick_weight == 0)
		return record->samples;
	state->carry += record->weight;
	ticks = state->carry / state->tick_weight;
	state->carry %= state->tick_weight;
	return ticks;
}

static enum ppi_verdict take_outside(struct ppi_sink *sink,
                                     const portprof_record *record)
{
	sink->stats.outside_samples += record->samples;
	sink->stats.outside_weight += record->weight;
	return PPI_OUTSIDE;
}

static enum ppi_verdict bin_sample(struct ppi_sink *sink,
                                   const portprof_record *record)
{
	const struct ppi_sink_request *request = sink->request;
	const portprof_range *range;
	uint64_t pc = record->address, bin, amount, rest;

	if (record->valid & PORTPROF_FIELD_KERNEL &&
	    record->valid & PORTPROF_FIELD_USER_ADDRESS)
		pc = record->user_address;
	range = find_range(request, pc);
	if (!range)
		return take_outside(sink, record);
	bin = bin_of(pc - range->offset, range->scale);
	if (bin >= range->bin_count)
		return take_outside(sink, record);
	amount = amount_of(sink, record);
	rest = bin_add(sink, range, bin, amount);
	if (rest && rest == amount) {
		sink->stats.lost_samples += record->samples;
		sink->stats.lost_weight += record->weight;
		return PPI_LOST;
	}
	sink->stats.kept_samples += record->samples;
	sink->stats.kept_weight += record->weight;
	return PPI_KEPT;
}

/* ---- whose samples ---- */

/* Sets of a process that have the labels, or had them. */
struct wanted_process {
	uint32_t pid;
	struct ppi_pool sets;   /* numbers, uint64_t */
	struct ppi_vector have; /* bool, in that order: has the labels */
	uint64_t ended;         /* as which one its first thread has; 0: not yet */
	UT_hash_handle hh;
};

/* Other threads of so many may go on without their first. */
enum { ENDED_KEPT = 1024 };

/* A histogram of labels: the sets that have them, of which records tell before
 * samples have them (portprof_record.label_set). What a process had goes with it. */
struct wanted_sets {
	portprof_label labels[PORTPROF_LABELS_MAX];
	size_t label_count;
	uint32_t own_pid; /* of records without a process */
	struct wanted_process *processes, *last; /* last: of the record before */
	uint64_t ended;
	uint32_t ended_pids[ENDED_KEPT];
};

static uint32_t pid_of(const struct wanted_sets *wanted,
                       const portprof_record *record)
{
	return record->valid & PORTPROF_FIELD_PID ? record->pid
	                                          : wanted->own_pid;
}

static struct wanted_sets *new_wanted(const struct ppi_sink *sink,
                                      const struct ppi_run *run)
{
	const struct ppi_target *target = &run->plan->target;
	struct wanted_sets *wanted = calloc(1, sizeof(*wanted));

	if (!wanted)
		return NULL;
	wanted->label_count =
		ppi_label_list(sink->request->labels, wanted->labels);
	wanted->own_pid = (uint32_t)(target->is_self || target->pid <= 0
	                                     ? getpid() : target->pid);
	return wanted;
}

static struct wanted_process *find_process(struct wanted_sets *wanted,
                                           uint32_t pid)
{
	struct wanted_process *process = wanted->last;

	if (process && process->pid == pid)
		return process;
	HASH_FIND(hh, wanted->processes, &pid, sizeof(pid), process);
	if (process)
		wanted->last = process;
	return process;
}

static struct wanted_process *add_process(struct wanted_sets *wanted,
                                          uint32_t pid)
{
	struct wanted_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->pid = pid;
	HASH_ADD(hh, wanted->processes, pid, sizeof(pid), process);
	if (!process->hh.tbl) { /* out of memory */
		free(process);
		return NULL;
	}
	return process;
}

static void forget_process(struct wanted_sets *wanted,
                           struct wanted_process *process)
{
	if (!process)
		return;
	if (wanted->last == process)
		wanted->last = NULL;
	HASH_DEL(wanted->processes, process);
	ppi_pool_free(&process->sets);
	ppi_vector_free(&process->have);
	free(process);
}

static void free_wanted(struct wanted_sets *wanted)
{
	struct wanted_process *process, *next;

	if (!wanted)
		return;
	HASH_ITER(hh, wanted->processes, process, next)
		forget_process(wanted, process);
	free(wanted);
}

static bool has_label(const char *text, size_t bytes,
                      const portprof_label *label)
{
	const char *end = text + bytes;

	while (text < end && *text) {
		const char *value = text + strnlen(text, (size_t)(end - text)) + 1;
		const char *next;

		if (value >= end)
			return false;
		next = value + strnlen(value, (size_t)(end - value)) + 1;
		if (strcmp(text, label->key) == 0)
			return next <= end && strcmp(value, label->value) == 0;
		text = next;
	}
	return false;
}

static void note_set(struct wanted_sets *wanted, uint32_t pid, uint64_t number,
                     bool has_all)
{
	struct wanted_process *process = find_process(wanted, pid);
	uint32_t at;

	if (!process && has_all)
		process = add_process(wanted, pid);
	if (!process)
		return;
	at = ppi_pool_find(&process->sets, &number, sizeof(number));
	if (at == PPI_NONE && has_all &&
	    ppi_vector_add(&process->have, sizeof(has_all), &has_all, 1)) {
		at = ppi_pool_enter(&process->sets, &number, sizeof(number));
		process->have.count -= at == PPI_NONE; /* out of memory */
	}
	if (at != PPI_NONE)
		PPI_AT(&process->have, bool)[at] = has_all;
}

/* A forked child has the sets of its parent. */
static void inherit_sets(struct wanted_sets *wanted, uint32_t pid,
                         uint32_t parent_pid)
{
	struct wanted_process *parent = find_process(wanted, parent_pid);
	size_t count = parent ? ppi_pool_count(&parent->sets) : 0, bytes;

	for (uint32_t i = 0; i < count; i++)
		if (PPI_AT(&parent->have, bool)[i])
			note_set(wanted, pid,
			         *(const uint64_t *)ppi_pool_key(
					 &parent->sets, i, &bytes),
			         true);
}

/* Its other threads may go on. */
static void end_process(struct wanted_sets *wanted,
                        struct wanted_process *process)
{
	uint32_t *pid = &wanted->ended_pids[wanted->ended % ENDED_KEPT];
	struct wanted_process *oldest;

	if (!process || process->ended)
		return;
	process->ended = ++wanted->ended;
	oldest = process->ended > ENDED_KEPT ? find_process(wanted, *pid) : NULL;
	*pid = process->pid;
	if (oldest && oldest->ended == process->ended - ENDED_KEPT)
		forget_process(wanted, oldest);
}

/* The numbers of a program's sets are another's after an exec, and those of a process
 * that has ended may be another process's. */
static void see_process(struct wanted_sets *wanted, uint32_t pid,
                        const portprof_record *record)
{
	bool is_fork = record->kind == PORTPROF_RECORD_FORK &&
	               record->address != pid;
	bool is_exec = record->kind == PORTPROF_RECORD_THREAD &&
	               (record->valid & PORTPROF_FIELD_EXEC);
	bool is_end = record->kind == PORTPROF_RECORD_EXIT &&
	              record->pid == record->tid && pid != wanted->own_pid;

	if (is_fork || is_exec)
		forget_process(wanted, find_process(wanted, pid));
	if (is_end)
		end_process(wanted, find_process(wanted, pid));
	if (is_fork)
		inherit_sets(wanted, pid, (uint32_t)record->address);
}

static void learn_sets(struct wanted_sets *wanted, const portprof_batch *batch,
                       const portprof_record *record)
{
	uint32_t pid = pid_of(wanted, record);
	size_t bytes, found = 0;
	const char *text = portprof_batch_labels(batch, record, &bytes);

	if (!text) {
		see_process(wanted, pid, record);
		return;
	}
	while (found < wanted->label_count &&
	       has_label(text, bytes, &wanted->labels[found]))
		found++;
	note_set(wanted, pid, record->address, found == wanted->label_count);
}

static bool is_wanted(struct wanted_sets *wanted, const portprof_record *record)
{
	const struct wanted_process *process;
	const uint64_t number = record->label_set;
	uint32_t at;

	if (!(record->valid & PORTPROF_FIELD_LABELS))
		return false;
	process = find_process(wanted, pid_of(wanted, record));
	if (!process)
		return false;
	at = ppi_pool_find(&process->sets, &number, sizeof(number));
	return at != PPI_NONE && PPI_AT(&process->have, bool)[at];
}

/* ---- the sinks ---- */

static portprof_status hist_open(struct ppi_sink *sink,
                                 const struct ppi_run *run,
                                 struct ppi_diag *why)
{
	const struct ppi_event *event =
		&run->plan->events[sink->request->event];
	struct hist_state *state = calloc(1, sizeof(*state));

	if (!state)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open histogram",
		                "out of memory");
	state->tick_weight = event->request.period;
	if (event->request.rate_hz && event->is_cpu_time)
		state->tick_weight = 1000000000u / event->request.rate_hz;
	if (sink->request->labels && !(state->wanted = new_wanted(sink, run))) {
		free(state);
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open histogram",
		                "out of memory");
	}
	sink->state = state;
	return PORTPROF_OK;
}

static void hist_take(struct ppi_sink *sink, const portprof_batch *batch,
                      uint8_t *verdicts)
{
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);

		if (record->kind == PORTPROF_RECORD_SAMPLE &&
		    record->event == sink->request->event)
			ppi_verdict_raise(verdicts, i,
			                  bin_sample(sink, record));
	}
}

static portprof_status hist_close(struct ppi_sink *sink,
                                  const struct ppi_run *run,
                                  struct ppi_diag *why)
{
	struct hist_state *state = sink->state;

	(void)run;
	(void)why;
	free_wanted(state->wanted);
	free(state);
	sink->state = NULL;
	return PORTPROF_OK;
}

const struct ppi_sink_ops ppi_sink_hist = {
	.name = "histogram",
	.wants_modules = false,
	.wants_account = false,
	.open = hist_open,
	.take = hist_take,
	.flush = ppi_sink_nothing,
	.close = hist_close,
};

/* Of labels: what else is told says which set has them. */
static void label_hist_take(struct ppi_sink *sink, const portprof_batch *batch,
                            uint8_t *verdicts)
{
	const struct hist_state *state = sink->state;

	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			learn_sets(state->wanted, batch, record);
		else if (record->event != sink->request->event)
			continue;
		else if (is_wanted(state->wanted, record))
			ppi_verdict_raise(verdicts, i,
			                  bin_sample(sink, record));
		else
			ppi_verdict_raise(verdicts, i,
			                  take_outside(sink, record));
	}
}

const struct ppi_sink_ops ppi_sink_label_hist = {
	.name = "histogram of labels",
	.wants_modules = true, /* and with them a program's end */
	.wants_account = false,
	.open = hist_open,
	.take = label_hist_take,
	.flush = ppi_sink_nothing,
	.close = hist_close,
};
