/* SPDX-License-Identifier: MIT */
/* Simulated profil and pcsample: the calls, fork, exec, memory, signals. */
#include "tests/sim/profil_sim.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

void psim_init(struct psim *sim, const struct psim_os *os)
{
	memset(sim, 0, sizeof(*sim));
	sim->os = os;
	sim->stat_hz = 100;
	sim->prof_hz = 100;
	sim->hz = 100;
	sim->pointer_bits = 64;
}

void psim_free(struct psim *sim)
{
	free(sim->own);
	sim->own = NULL;
}

static int refuse(int error)
{
	errno = error;
	return -1;
}

static void set_params(struct psim *sim, void *base, size_t size,
                       uint64_t offset, unsigned scale)
{
	sim->base = (uintptr_t)base;
	sim->size = size;
	sim->offset = offset;
	sim->scale = scale;
	sim->is_on = true;
	sim->calls++;
}

static void note_call(struct psim *sim, size_t size, unsigned scale)
{
	if (scale == 0)
		return;
	if (sim->smallest_scale == 0 || scale < sim->smallest_scale)
		sim->smallest_scale = scale;
	if (scale > sim->largest_scale)
		sim->largest_scale = scale;
	sim->saw_odd_size |= size % 2 != 0;
	sim->saw_uneven_scale |= (scale & (scale - 1)) != 0;
}

/* ---- signals, which only glibc's emulation needs ---- */

void psim_set_timer(struct psim *sim, uint64_t every_ns)
{
	sim->timer_every_ns = every_ns;
	sim->timer_at_ns = sim->process_cpu_ns + every_ns;
}

/* sigaction(2): ignoring a signal discards it while pending; a pending one
 * meets the action of the moment. */
void psim_set_action(struct psim *sim, enum psim_action action)
{
	sim->action = action;
	if (action == PSIM_IGNORED)
		sim->signal_is_pending = false;
	else if (action == PSIM_DEFAULT && sim->signal_is_pending)
		sim->is_dead = true;
}

static int glibc_stop(struct psim *sim)
{
	if (!sim->is_on)
		return 0;
	psim_set_timer(sim, sim->timer_before_ns);
	sim->is_on = false;
	sim->base = 0; /* nsamples stays: a late handler would fault */
	psim_set_action(sim, sim->action_before);
	sim->calls++;
	return 0;
}

static int glibc_profil(struct psim *sim, void *base, size_t size,
                        uint64_t offset, unsigned scale)
{
	if (!base)
		return glibc_stop(sim);
	if (sim->is_on) {
		psim_set_timer(sim, sim->timer_before_ns);
		psim_set_action(sim, sim->action_before);
	}
	note_call(sim, size, scale);
	set_params(sim, base, size, offset, scale);
	sim->action_before = sim->action;
	psim_set_action(sim, PSIM_PROFIL);
	sim->timer_before_ns = sim->timer_every_ns;
	psim_set_timer(sim, 1000000000u / sim->prof_hz);
	return 0;
}

/* ---- profil(2) ---- */

static int solaris_profil(struct psim *sim, void *base, size_t size,
                          uint64_t offset, unsigned scale)
{
	note_call(sim, size, scale);
	set_params(sim, base, size, offset, scale == 1 ? 0 : scale);
	sim->samples = 0; /* pcsample and profil exclude each other */
	sim->is_on = sim->scale != 0;
	return 0;
}

static int stop(struct psim *sim)
{
	sim->calls += sim->is_on;
	sim->is_on = false;
	for (unsigned i = 0; i < PSIM_THREADS; i++)
		sim->threads[i].is_armed = false;
	return 0;
}

/* OpenBSD 7.8 counts behind a struct gmonhdr (sys/gmon.h), two longs and six
 * ints, which the kernel writes to the file with the bins. */
static size_t gmon_header(const struct psim *sim)
{
	return 2 * sim->pointer_bits / 8 + 24;
}

int psim_profil(struct psim *sim, void *base, size_t size, uint64_t offset,
                unsigned scale)
{
	const struct psim_os *os = sim->os;

	if (os->null_stops)
		return glibc_profil(sim, base, size, offset, scale);
	if (os->has_pcsample)
		return solaris_profil(sim, base, size, offset, scale);
	if (os->needs_gmon_note)
		return psim_profil_gmon(sim, (void *)((uintptr_t)base -
		                                      gmon_header(sim)),
		                        size + gmon_header(sim), size, offset,
		                        scale, 0);
	if (scale > os->scale_max)
		return refuse(EINVAL);
	if (scale == 0)
		return stop(sim);
	note_call(sim, size, scale);
	set_params(sim, base, size, offset, scale);
	return 0;
}

int psim_profil_gmon(struct psim *sim, void *buffer, size_t bytes,
                     size_t samples_bytes, uint64_t offset, unsigned scale,
                     int directory_error)
{
	if (!sim->has_gmon_note)
		return refuse(EPERM);
	if (scale > sim->os->scale_max)
		return refuse(EINVAL);
	if (scale == 0)
		return stop(sim);
	if (sim->gmon_buffer && (sim->gmon_buffer != (uintptr_t)buffer ||
	                         sim->gmon_bytes != bytes))
		return refuse(EALREADY);
	if (!sim->gmon_buffer && directory_error)
		return refuse(directory_error);
	sim->gmon_buffer = (uintptr_t)buffer;
	sim->gmon_bytes = bytes;
	note_call(sim, samples_bytes, scale);
	set_params(sim, (char *)buffer + gmon_header(sim), samples_bytes,
	           offset, scale);
	sim->threads[0].is_armed = true; /* who calls */
	return 0;
}

void psim_switch(struct psim *sim, unsigned thread)
{
	sim->threads[thread].is_armed = sim->is_on;
}

/* ---- pcsample(2) ---- */

long psim_pcsample(struct psim *sim, void *base, long count)
{
	uint64_t before = sim->samples;

	if (count < 0 || (sim->pointer_bits == 32 && count > INT32_MAX))
		return refuse(EINVAL);
	set_params(sim, base, (size_t)count, sim->offset, 1);
	sim->samples = 0;
	return (long)before;
}

/* ---- memory, fork, exec ---- */

void psim_protect(struct psim *sim, const void *start, size_t bytes)
{
	sim->bad[sim->bad_count].start = (uintptr_t)start;
	sim->bad[sim->bad_count++].end = (uintptr_t)start + bytes;
}

/* A child's bytes: those of the buffer that it inherits, from the fork on, and
 * each other from the first time that it is written. */
enum { OWN_BYTES = 1 << 17 };

struct psim_child {
	struct psim_byte {
		uintptr_t at;
		unsigned char value;
	} bytes[OWN_BYTES];
	size_t count;
};

/* The byte's place, or the free one where it may be put. */
static struct psim_byte *find_byte(struct psim_child *own, uintptr_t at)
{
	size_t i = (size_t)(at * 2654435761u) % OWN_BYTES;

	while (own->bytes[i].at && own->bytes[i].at != at)
		i = (i + 1) % OWN_BYTES;
	return &own->bytes[i];
}

static void put_byte(struct psim_child *own, uintptr_t at, unsigned char value)
{
	struct psim_byte *byte = find_byte(own, at);

	if (!byte->at && ++own->count == OWN_BYTES)
		abort(); /* a test that needs a larger child */
	byte->at = at;
	byte->value = value;
}

void psim_load(const struct psim *sim, uintptr_t at, void *to, size_t bytes)
{
	memcpy(to, (const void *)at, bytes);
	for (size_t i = 0; sim->own && i < bytes; i++) {
		const struct psim_byte *byte = find_byte(sim->own, at + i);

		if (byte->at)
			((unsigned char *)to)[i] = byte->value;
	}
}

void psim_store(const struct psim *sim, uintptr_t at, const void *from,
                size_t bytes)
{
	const unsigned char *values = from;

	if (!sim->own) {
		memcpy((void *)at, from, bytes);
		return;
	}
	for (size_t i = 0; i < bytes; i++)
		put_byte(sim->own, at + i, values[i]);
}

/* What the kernel may write of the buffer: of an odd size one byte more. */
static size_t reach_of(const struct psim *sim)
{
	if (sim->os->has_pcsample && sim->scale == 1)
		return (sim->size - sim->samples) * (sim->pointer_bits / 8);
	return sim->size + sim->size % 2;
}

void psim_fork(const struct psim *parent, struct psim *child)
{
	size_t bytes = parent->is_on ? reach_of(parent) : 0;

	*child = *parent;
	child->own = calloc(1, sizeof(*child->own));
	if (!child->own)
		abort();
	for (size_t i = 0; i < bytes; i++) {
		unsigned char value;

		psim_load(parent, parent->base + i, &value, 1);
		put_byte(child->own, parent->base + i, value);
	}
	/* timers are not inherited; glibc's statics still say "on" */
	if (!parent->os->child_inherits)
		child->timer_every_ns = 0;
}

uint16_t psim_child_bin(const struct psim *child, const uint16_t *bin)
{
	uint16_t value;

	psim_load(child, (uintptr_t)bin, &value, sizeof(value));
	return value;
}

void psim_exec(struct psim *sim)
{
	bool keeps_timer = sim->os->null_stops;

	memset(sim->threads, 0, sizeof(sim->threads));
	sim->process_owed = (struct psim_owed){ 0 };
	sim->is_on = false;
	sim->scale = 0;
	sim->samples = 0;
	sim->base = 0;
	sim->gmon_buffer = 0;
	sim->gmon_bytes = 0;
	if (!keeps_timer)
		sim->timer_every_ns = 0;
	/* handlers are reset, ignored signals stay ignored: execve(2) */
	if (sim->action != PSIM_IGNORED)
		sim->action = PSIM_DEFAULT;
}
