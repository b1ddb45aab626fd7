/* SPDX-License-Identifier: MIT */
/* A session on a simulated kernel, and the samples it has taken. */
#ifndef SIM_SESSION_H
#define SIM_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <portprof.h>

enum { SIM_SAMPLES = 20000 };

struct sim_session {
	portprof_session *session;
	portprof_record samples[SIM_SAMPLES];
	size_t count;
};

/* On this backend, kernel of which is already set, at this rate; ring_bytes
 * and tid 0 for the default. The status of open. */
portprof_status sim_open(struct sim_session *s, const char *backend,
                         uint64_t hz, size_t ring_bytes, int64_t tid);

/* Stops, closes, and forgets. */
void sim_close(struct sim_session *s);

portprof_stats sim_stats(const struct sim_session *s);
uint64_t sim_weight(const struct sim_session *s);
uint64_t sim_weight_of(const struct sim_session *s, int64_t tid);
size_t sim_samples_of(const struct sim_session *s, int64_t tid);

/* Whether a note with these words was made. */
bool sim_has_note(const struct sim_session *s, const char *words);

/* The thread does one work. */
void sim_burn(unsigned thread, uint64_t cpu_ns);

#endif
