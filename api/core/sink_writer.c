/* SPDX-License-Identifier: MIT */
/* The sink that writes a profile file, in portions while measuring. */
#include "api/core/sink.h"
#include "api/profile/writer.h"
#include "base/arithmetic.h"
#include "base/clock_ns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ppi_writer *writer_of(const struct ppi_sink *sink)
{
	return sink->state;
}

/* Of the file that is written now. */
static const char *path_of(const struct ppi_sink *sink)
{
	const struct ppi_writer *writer = writer_of(sink);

	return writer && writer->window.is_later ? writer->output.draft.path
	                                         : sink->request->path;
}

/* In a forked child the draft is the parent's. */
static void free_writer(struct ppi_writer *writer)
{
	ppi_output_close(&writer->output, writer->owner_pid != getpid());
	ppi_gzip_close(&writer->encoder.gzip);
	ppi_vector_free(&writer->encoder.scratch);
	ppi_sample_table_close(&writer->table);
	ppi_pool_free(&writer->labels.sets);
	ppi_label_texts_close(&writer->labels.texts);
	ppi_threads_close(&writer->threads);
	ppi_spaces_close(&writer->spaces);
	ppi_locations_close(&writer->locations);
	free(writer->window.before);
	free(writer->window.own);
	free(writer);
}

/* CLOCK_REALTIME when CLOCK_MONOTONIC was 0, as if it had never been set. */
static uint64_t realtime_at_zero(void)
{
	uint64_t realtime = 0;

	ppi_clock_ns(CLOCK_REALTIME, &realtime);
	return realtime - ppi_monotonic_ns();
}

/* Backends within a process do not name its threads. */
static void meet_process(struct ppi_writer *writer, uint32_t pid)
{
	writer->meets_threads = true;
	ppi_threads_meet(&writer->threads, pid, pid, true);
}

static struct ppi_writer *new_writer(const struct ppi_plan *plan)
{
	struct ppi_writer *writer = calloc(1, sizeof(*writer));
	int64_t pid = plan->target.pid;

	if (!writer)
		return NULL;
	if (plan->target.is_self || pid <= 0)
		pid = getpid();
	writer->default_pid = (uint32_t)pid;
	writer->owner_pid = getpid();
	ppi_host_read(&writer->machine);
	writer->output.draft.fd = -1;
	if (ppi_gzip_open(&writer->encoder.gzip, PPI_GZIP_PORTION, -1) != 0 ||
	    !ppi_locations_open(&writer->locations)) {
		free_writer(writer);
		return NULL;
	}
	ppi_spaces_open(&writer->spaces, &writer->locations, pid);
	if (plan->target.is_self)
		meet_process(writer, writer->default_pid);
	ppi_sample_table_open(&writer->table, &writer->spaces,
	                      plan->event_count);
	writer->table.slice_ns = plan->timeline_ns;
	writer->table.slices_grow = plan->timeline_grows;
	writer->labels.fields = plan->label_fields;
	writer->labels.events = plan->events;
	writer->labels.texts.most = plan->label_sets;
	writer->table.realtime_ns = realtime_at_zero();
	return writer;
}

/* The first failure is kept; what is written later may still succeed. */
static void remember(struct ppi_sink *sink, int error)
{
	if (sink->stats.status != PORTPROF_OK)
		return;
	sink->stats.status = ppi_file_status(error);
	sink->stats.os_errno = error;
}

static portprof_status fail(struct ppi_sink *sink, int error,
                            struct ppi_diag *why)
{
	portprof_status status = ppi_file_status(error);

	remember(sink, error);
	if (error == EBADF)
		return ppi_fail(why, PORTPROF_E_SYSTEM, error, "write profile",
		                "the program has closed the descriptor of '%s', "
		                "and the file was moved or removed, so nothing "
		                "more is written to it. Open sessions after "
		                "closing descriptors", path_of(sink));
	return ppi_fail(why, status, error, "write profile",
	                "cannot write to '%s': %s; earlier samples are in it, newer "
	                "ones stay in memory as long as there is room: %s",
	                path_of(sink), strerror(error),
	                status == PORTPROF_E_LIMIT
	                        ? "free some space on the disk, or raise the "
	                          "quota or the limit of file sizes"
	                        : "make the path writable again");
}

/* ---- windows ---- */

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void subtract(portprof_stats *stats, const portprof_stats *before)
{
	int64_t open = (int64_t)(stats->unattributed_weight -
	                         stats->excess_weight) -
	               (int64_t)(before->unattributed_weight -
	                         before->excess_weight);
	double error = (double)stats->standard_error;
	double error_before = (double)before->standard_error;
	uint64_t *const counters[][2] = {
#define PAIR(name) { &stats->name, (uint64_t *)(uintptr_t)&before->name }
		PAIR(delivered_samples), PAIR(kept_samples),
		PAIR(outside_samples), PAIR(lost_samples), PAIR(total_weight),
		PAIR(kept_weight), PAIR(outside_weight),
		PAIR(not_attached_weight), PAIR(throttled), PAIR(cpu_time_ns),
		PAIR(own_cost_ns), PAIR(idle_time_ns),
#undef PAIR
	};

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		*counters[i][0] = since(*counters[i][0], *counters[i][1]);
	stats->unattributed_weight = open > 0 ? (uint64_t)open : 0;
	stats->excess_weight = open < 0 ? (uint64_t)-open : 0;
	if (stats->not_attached_weight > stats->unattributed_weight)
		stats->not_attached_weight = stats->unattributed_weight;
	stats->standard_error =
		error > error_before
		? ppi_square_root(error * error - error_before * error_before)
		: 0;
	stats->achieved_hz = stats->cpu_time_ns
	                     ? (double)stats->delivered_samples * 1e9 /
	                       (double)stats->cpu_time_ns : 0;
}

/* What a session reports, of this window alone. */
static struct ppi_run window_of(const struct ppi_writer *writer,
                                const struct ppi_run *run)
{
	const struct ppi_window *window = &writer->window;
	struct ppi_run own = *run;

	if (!window->before || !run->stats)
		return own;
	memcpy(window->own, run->stats,
	       run->plan->event_count * sizeof(*window->own));
	for (size_t i = 0; i < run->plan->event_count; i++)
		subtract(&window->own[i], &window->before[i]);
	own.stats = window->own;
	own.start_realtime_ns += window->ran_ns + (uint64_t)window->set_ns;
	own.duration_ns = since(run->duration_ns, window->ran_ns);
	return own;
}

/* Bring a portion that was made to the file: 0 or an errno. */
static int push(struct ppi_writer *writer)
{
	struct ppi_vector *out = &writer->encoder.gzip.out;
	int error;

	if (!writer->is_pending)
		return 0;
	error = ppi_output_append(&writer->output, out->data, out->count);
	if (error)
		return error;
	writer->is_pending = false;
	writer->pending_samples = 0;
	writer->pending_weight = 0;
	ppi_locations_trim(&writer->locations);
	return 0;
}

/* What will be in no file: it was kept until now. */
static void lose(struct ppi_sink *sink, uint64_t samples, uint64_t weight)
{
	sink->stats.kept_samples -= samples;
	sink->stats.kept_weight -= weight;
	sink->stats.lost_samples += samples;
	sink->stats.lost_weight += weight;
}

static int write_portion(struct ppi_sink *sink, const struct ppi_run *run,
                         bool is_complete)
{
	struct ppi_writer *writer = writer_of(sink);
	int error = push(writer);

	if (error || writer->is_broken)
		return error ? error : ENOMEM;
	error = ppi_portion_next(writer, run, is_complete);
	if (error) {
		/* its strings and locations are written only once */
		writer->is_broken = true;
		lose(sink, writer->pending_samples, writer->pending_weight);
		writer->pending_samples = 0;
		writer->pending_weight = 0;
		return error;
	}
	return push(writer);
}

static portprof_status writer_open(struct ppi_sink *sink,
                                   const struct ppi_run *run,
                                   struct ppi_diag *why)
{
	struct ppi_writer *writer = new_writer(run->plan);
	portprof_status status;
	int error = ENOMEM;

	if (!writer)
		return ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "open output",
		                "out of memory for '%s'", path_of(sink));
	status = ppi_output_open(&writer->output, path_of(sink), why);
	if (status == PORTPROF_OK) {
		error = ppi_portion_first(writer, run);
		if (!error)
			error = push(writer);
		if (!error) {
			sink->state = writer;
			return PORTPROF_OK;
		}
		status = ppi_fail(why, ppi_file_status(error), error,
		                  "open output",
		                  "cannot write to '%s': %s; make room there, "
		                  "or choose another folder",
		                  path_of(sink), strerror(error));
		ppi_because(why, PORTPROF_REASON_OUTPUT, status);
	}
	free_writer(writer);
	return status;
}

static bool keep_sample(struct ppi_sink *sink, const portprof_batch *batch,
                        const portprof_record *record)
{
	struct ppi_writer *writer = writer_of(sink);
	uint32_t pid = record->valid & PORTPROF_FIELD_PID
	                       ? record->pid
	                       : writer->default_pid;
	const uint64_t *chain;
	uint32_t name;
	size_t depth;

	if (record->event >= writer->table.event_count || writer->is_broken)
		return false;
	if (ppi_sample_table_is_full(&writer->table)) {
		int error = write_portion(sink, NULL, false);

		if (error)
			remember(sink, error);
		if (ppi_sample_table_is_full(&writer->table) ||
		    writer->is_broken)
			return false;
	}
	if (writer->meets_threads && record->tid)
		ppi_threads_meet(&writer->threads, pid, record->tid, false);
	name = ppi_threads_text(&writer->threads, &writer->locations, pid,
	                        record->valid & PORTPROF_FIELD_TID ? record->tid
	                                                           : 0);
	chain = portprof_batch_chain(batch, record, &depth);
	return name != PPI_NONE &&
	       ppi_sample_table_add(
		       &writer->table, record, pid, chain, depth,
		       ppi_sample_labels_enter(&writer->labels, pid, batch,
		                               record),
		       name);
}

static void take_sample(struct ppi_sink *sink, const portprof_batch *batch,
                        const portprof_record *record, uint8_t *verdict)
{
	writer_of(sink)->has_news = true;
	if (keep_sample(sink, batch, record)) {
		ppi_verdict_raise(verdict, 0, PPI_KEPT);
		sink->stats.kept_samples += record->samples;
		sink->stats.kept_weight += record->weight;
	} else {
		remember(sink, ENOMEM); /* unless it was the disk before */
		ppi_verdict_raise(verdict, 0, PPI_LOST);
		sink->stats.lost_samples += record->samples;
		sink->stats.lost_weight += record->weight;
	}
}

/* Out of memory in any of these leaves samples without a mapping or a name:
 * they are kept and count. */
static void take_other(struct ppi_writer *writer, const portprof_batch *batch,
                       const portprof_record *record)
{
	const portprof_module *module = portprof_batch_module(batch, record);
	const char *name = portprof_batch_name(batch, record);
	uint32_t pid = record->valid & PORTPROF_FIELD_PID
	                       ? record->pid
	                       : writer->default_pid;

	switch (record->kind) {
	case PORTPROF_RECORD_MODULE:
		if (module)
			ppi_spaces_map(&writer->spaces, pid, record->address,
			               record->address + record->span, module);
		break;
	case PORTPROF_RECORD_LABELS:
		ppi_label_texts_tell(&writer->labels.texts, pid, batch, record);
		break;
	case PORTPROF_RECORD_THREAD:
		if (record->valid & PORTPROF_FIELD_EXEC) {
			ppi_spaces_exec(&writer->spaces, pid);
			ppi_label_texts_exec(&writer->labels.texts, pid);
		}
		if (name)
			ppi_threads_name(&writer->threads, pid, record->tid,
			                 name);
		if (name)
			writer->meets_threads = false;
		else if (record->valid & PORTPROF_FIELD_EXEC)
			meet_process(writer, pid);
		writer->has_news = true;
		break;
	case PORTPROF_RECORD_FORK:
		ppi_process_map_fork(&writer->spaces.processes, pid,
		                     (uint32_t)record->address);
		ppi_label_texts_fork(&writer->labels.texts, pid,
		                     (uint32_t)record->address);
		ppi_threads_fork(&writer->threads, pid, record->tid,
		                 (uint32_t)record->address);
		break;
	case PORTPROF_RECORD_EXIT:
		ppi_threads_exit(&writer->threads, pid, record->tid);
		if (record->tid == pid)
			ppi_process_map_exit(&writer->spaces.processes, pid);
		break;
	default:
		break;
	}
}

static void writer_take(struct ppi_sink *sink, const portprof_batch *batch,
                        uint8_t *verdicts)
{
	struct ppi_writer *writer = writer_of(sink);
	int error = ppi_output_place(&writer->output);

	if (error)
		remember(sink, error);
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);

		if (record->kind == PORTPROF_RECORD_SAMPLE)
			take_sample(sink, batch, record, &verdicts[i]);
		else
			take_other(writer, batch, record);
	}
}

static portprof_status writer_flush(struct ppi_sink *sink,
                                    const struct ppi_run *whole,
                                    struct ppi_diag *why)
{
	struct ppi_writer *writer = writer_of(sink);
	const struct ppi_run own = window_of(writer, whole), *run = &own;
	int error;

	if (run->start_realtime_ns == 0)
		return PORTPROF_OK; /* a file of a session never started */
	error = ppi_output_place(&writer->output);
	if (!error)
		error = push(writer);
	if (!error && (writer->has_news ||
	               writer->told_numbers != ppi_portion_numbers(run)))
		error = write_portion(sink, run, false);
	if (error)
		return fail(sink, error, why);
	ppi_process_map_sweep(&writer->spaces.processes);
	ppi_threads_sweep(&writer->threads);
	return PORTPROF_OK;
}

/* Samples for which there was neither room in the file nor in memory. */
static uint64_t lost_here(const struct ppi_sink *sink)
{
	return sink->stats.lost_samples - writer_of(sink)->window.lost_samples;
}

static portprof_status tell_lost(const struct ppi_sink *sink,
                                 struct ppi_diag *why)
{
	if (lost_here(sink) == 0)
		return PORTPROF_OK;
	return ppi_fail(why, sink->stats.status, sink->stats.os_errno,
	                "write profile",
	                "%llu samples are missing in '%s': there was no "
	                "room for them (%s)",
	                (unsigned long long)lost_here(sink),
	                path_of(sink), strerror(sink->stats.os_errno));
}

/* The last portion, and then one portion of them all. */
static portprof_status finish(struct ppi_sink *sink, const struct ppi_run *run,
                              struct ppi_diag *why)
{
	struct ppi_writer *writer = writer_of(sink);
	int error = ppi_output_place(&writer->output);
	uint64_t samples, weight;

	if (!error)
		error = write_portion(sink, run, lost_here(sink) == 0);
	if (!error) {
		ppi_finish(&writer->output);
		return tell_lost(sink, why);
	}
	samples = writer->pending_samples + writer->table.samples;
	weight = writer->pending_weight + writer->table.weight;
	lose(sink, samples, weight);
	remember(sink, error);
	if (samples == 0)
		return ppi_fail(why, ppi_file_status(error), error,
		                "finish profile",
		                "'%s' has all samples, but its end could not be "
		                "written: %s",
		                path_of(sink), strerror(error));
	return ppi_fail(why, ppi_file_status(error), error, "finish profile",
	                "the last %llu samples could not be written to '%s': "
	                "%s; what was written before can be read",
	                (unsigned long long)samples, path_of(sink),
	                strerror(error));
}

static portprof_status writer_close(struct ppi_sink *sink,
                                    const struct ppi_run *run,
                                    struct ppi_diag *why)
{
	struct ppi_writer *writer = writer_of(sink);
	portprof_status status = PORTPROF_OK;
	struct ppi_run own;

	if (run && (writer->output.is_placed || run->start_realtime_ns != 0)) {
		own = window_of(writer, run);
		status = finish(sink, &own, why);
	}
	free_writer(writer);
	sink->state = NULL;
	return status;
}

/* Room for the counts of the window that begins. */
static bool make_window(struct ppi_window *window, size_t events)
{
	if (!window->own)
		window->own = calloc(events, sizeof(*window->own));
	if (!window->before && window->own)
		window->before = calloc(events, sizeof(*window->before));
	return window->before != NULL;
}

/* What a clock gains or loses in a window while it is adjusted is no step. */
enum { STEP_LEAST_NS = 1000000000 };

/* A clock that was set, or a machine that slept (which CLOCK_MONOTONIC of Linux does not
 * count): from here on times are those of now. */
static void follow_clock(struct ppi_writer *writer)
{
	int64_t step = (int64_t)(realtime_at_zero() - writer->table.realtime_ns);

	if (step > -STEP_LEAST_NS && step < STEP_LEAST_NS)
		return;
	writer->table.realtime_ns += (uint64_t)step;
	writer->window.set_ns += step;
}

static portprof_status begin_window(struct ppi_sink *sink,
                                    const struct ppi_run *run,
                                    struct ppi_diag *why)
{
	struct ppi_writer *writer = writer_of(sink);
	struct ppi_window *window = &writer->window;
	struct ppi_run own;
	int error;

	if (run->stats)
		memcpy(window->before, run->stats,
		       run->plan->event_count * sizeof(*window->before));
	window->ran_ns = run->duration_ns;
	window->lost_samples = sink->stats.lost_samples;
	window->is_later = true;
	follow_clock(writer);
	/* what found no room in the other file was counted as lost */
	writer->is_pending = writer->is_broken = false;
	writer->pending_samples = writer->pending_weight = 0;
	ppi_sample_table_clear(&writer->table);
	ppi_portion_forget(writer);
	own = window_of(writer, run);
	error = ppi_portion_first(writer, &own);
	if (!error)
		error = push(writer);
	if (!error)
		error = ppi_output_place(&writer->output);
	return error ? fail(sink, error, why) : PORTPROF_OK;
}

static portprof_status writer_turn(struct ppi_sink *sink,
                                   const struct ppi_run *run, const char *path,
                                   struct ppi_diag *why)
{
	struct ppi_writer *writer = writer_of(sink);
	struct ppi_diag later = { 0 };
	portprof_status status, begun;
	struct ppi_output next;
	struct ppi_run own;

	if (!make_window(&writer->window, run->plan->event_count))
		return ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "turn",
		                "out of memory");
	status = ppi_output_open(&next, path, why);
	if (status)
		return status;
	own = window_of(writer, run);
	status = finish(sink, &own, why);
	ppi_output_close(&writer->output, false);
	writer->output = next;
	begun = begin_window(sink, run, &later);
	if (begun && status == PORTPROF_OK) {
		*why = later;
		status = begun;
	}
	return status;
}

const struct ppi_sink_ops ppi_sink_file = {
	.name = "file",
	.wants_modules = true,
	.wants_account = true,
	.open = writer_open,
	.take = writer_take,
	.flush = writer_flush,
	.close = writer_close,
	.turn = writer_turn,
};
