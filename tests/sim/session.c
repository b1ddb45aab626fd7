/* SPDX-License-Identifier: MIT */
/* Opens and drives a session on a simulated kernel, for unit tests. */
#include "tests/sim/session.h"

#include "tests/sim/program.h"

#include <string.h>

static void keep(const portprof_batch *batch, void *context)
{
	struct sim_session *s = context;

	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record =
			portprof_batch_record(batch, i);

		if (record->kind == PORTPROF_RECORD_SAMPLE &&
		    s->count < SIM_SAMPLES)
			s->samples[s->count++] = *record;
	}
}

portprof_status sim_open(struct sim_session *s, const char *backend,
                         uint64_t hz, size_t ring_bytes, int64_t tid)
{
	portprof_config *config = portprof_config_new();
	portprof_status status;

	memset(s, 0, sizeof(*s));
	portprof_config_set_backend(config, backend);
	portprof_config_set_frequency(config, hz);
	if (ring_bytes)
		portprof_config_set_number(config, "ring", ring_bytes);
	if (tid)
		portprof_config_set_target(config, PORTPROF_TARGET_TID, tid);
	portprof_config_add_callback(config, keep, s);
	status = portprof_session_open(config, &s->session);
	portprof_config_free(config);
	return status;
}

void sim_close(struct sim_session *s)
{
	portprof_session_close(s->session);
	s->session = NULL;
}

portprof_stats sim_stats(const struct sim_session *s)
{
	portprof_stats stats = { .size = sizeof(stats) };

	portprof_session_stats(s->session, 0, &stats);
	return stats;
}

uint64_t sim_weight(const struct sim_session *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->count; i++)
		sum += s->samples[i].weight;
	return sum;
}

uint64_t sim_weight_of(const struct sim_session *s, int64_t tid)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->samples[i].tid == (uint64_t)tid)
			sum += s->samples[i].weight;
	return sum;
}

size_t sim_samples_of(const struct sim_session *s, int64_t tid)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++)
		count += s->samples[i].tid == (uint64_t)tid;
	return count;
}

bool sim_has_note(const struct sim_session *s, const char *words)
{
	const char *note;

	for (size_t i = 0; (note = portprof_session_note(s->session, i)); i++)
		if (strstr(note, words))
			return true;
	return false;
}

void sim_burn(unsigned thread, uint64_t cpu_ns)
{
	struct fx_work work = { .thread = thread, .cpu_ns = cpu_ns };
	uint64_t used_ns;

	sim_program_spend(&work, 1, &used_ns);
}
