/* SPDX-License-Identifier: MIT */
/* The kit of the lab: sessions, and a log of what they bring. */
#include "tests/pmu/lab.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static portprof_session *session_open;
static struct lab_log the_log;

static void take_sample(struct lab_log *log, const portprof_batch *batch,
                        const portprof_record *record)
{
	uint32_t event = record->event;
	const uint64_t *chain;
	size_t depth;

	if (event >= LAB_LOG_EVENTS)
		return;
	log->samples[event] += record->samples;
	log->weight[event] += record->weight;
	log->not_period[event] += record->weight != log->period[event];
	log->backwards += record->time_ns < log->last_ns;
	log->last_ns = record->time_ns;
	log->other_threads += record->tid != (uint32_t)getpid();
	log->cpus |= 1u << record->cpu;
	if (record->address < (uintptr_t)lab_loop_first ||
	    record->address >= (uintptr_t)lab_loop_end)
		return;
	log->in_loop[event] += record->samples;
	log->at_first[event] += record->address == (uintptr_t)lab_loop_first;
	chain = portprof_batch_chain(batch, record, &depth);
	log->chain_depth = depth < LAB_CHAIN ? depth : LAB_CHAIN;
	if (chain)
		memcpy(log->chain, chain, log->chain_depth * sizeof(*chain));
}

static void take(const portprof_batch *batch, void *context)
{
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record =
			portprof_batch_record(batch, i);

		if (record->kind == PORTPROF_RECORD_SAMPLE)
			take_sample(context, batch, record);
	}
}

struct lab_log *lab_log(portprof_config *config)
{
	memset(&the_log, 0, sizeof(the_log));
	lab_must(portprof_config_add_callback(config, take, &the_log));
	return &the_log;
}

portprof_session *lab_open_session(portprof_config *config)
{
	lab_close_session();
	lab_must(portprof_session_open(config, &session_open));
	for (size_t i = 0; portprof_session_note(session_open, i); i++)
		lab_say("note: %s", portprof_session_note(session_open, i));
	return session_open;
}

void lab_close_session(void)
{
	portprof_session_close(session_open);
	session_open = NULL;
}

void lab_sample_loop(portprof_session *session, uint64_t turns)
{
	lab_must(portprof_session_start(session));
	lab_loop(turns);
	lab_must(portprof_session_stop(session));
}

portprof_stats lab_stats(portprof_session *session, size_t event)
{
	portprof_stats stats = { .size = sizeof(stats) };

	lab_must(portprof_session_stats(session, event, &stats));
	lab_say("event %zu: %" PRIu64 " samples (%" PRIu64 " kept, %" PRIu64
	        " lost), weight %" PRIu64 " = %" PRIu64 " kept + %" PRIu64
	        " unattributed, throttled %" PRIu64 ", %.0f Hz", event,
	        stats.delivered_samples, stats.kept_samples,
	        stats.lost_samples, stats.total_weight, stats.kept_weight,
	        stats.unattributed_weight, stats.throttled,
	        stats.achieved_hz);
	assert_int_equal(stats.delivered_samples,
	                 stats.kept_samples + stats.outside_samples +
	                 stats.lost_samples);
	assert_int_equal(stats.total_weight,
	                 stats.kept_weight + stats.outside_weight +
	                 stats.unattributed_weight);
	return stats;
}
