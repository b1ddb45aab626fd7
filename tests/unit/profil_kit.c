/* SPDX-License-Identifier: MIT */
/* Sessions of the profil backend on simulated kernels. */
#include "tests/unit/profil_kit.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "api/core/helper.h"
#include "backends/backend.h"

struct pseam seam;

const struct kit_system kit_freebsd = { &psim_freebsd, PROFIL_FREEBSD, 8128,
	                                127 };
const struct kit_system kit_netbsd = { &psim_netbsd, PROFIL_NETBSD, 100, 100 };
const struct kit_system kit_openbsd = { &psim_openbsd, PROFIL_OPENBSD, 1000,
	                                100 };
const struct kit_system kit_openbsd78 = { &psim_openbsd78, PROFIL_OPENBSD78,
	                                  100, 100 };
const struct kit_system kit_dragonfly = { &psim_dragonfly, PROFIL_DRAGONFLY,
	                                  128, 128 };
const struct kit_system kit_glibc = { &psim_glibc, PROFIL_GLIBC, 100, 250 };

void kit_begin(const struct kit_system *system)
{
	pseam_init(&seam, system->os, system->backend_os);
	seam.sim.prof_hz = system->prof_hz;
	seam.sim.stat_hz = system->stat_hz;
	seam.rate_hz = system->prof_hz;
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("profil", &seam.kernel);
}

static void run_helper(void *context)
{
	(void)context;
	ppi_helper_run_tasks();
}

void kit_run_helper(uint64_t every_ns)
{
	seam.run.every = run_helper;
	seam.run.every_ns = every_ns;
}

struct measured kit_prepare(uint64_t offset, uint32_t scale, size_t count)
{
	struct measured m = { .config = portprof_config_new() };

	m.bins = calloc(count, sizeof(*m.bins));
	m.region = (portprof_range){ .offset = offset, .scale = scale,
		                      .bin_bits = 64, .bins = m.bins,
		                      .bin_count = count };
	assert_int_equal(portprof_config_set_backend(m.config, "profil"), 0);
	assert_int_equal(portprof_config_add_histogram(
				 m.config, 0, &m.region, 1,
				 PORTPROF_BINS_WEIGHT), 0);
	return m;
}

portprof_status kit_try_open(struct measured *m)
{
	portprof_status status = portprof_session_open(m->config, &m->session);

	portprof_config_free(m->config);
	m->config = NULL;
	return status;
}

struct measured kit_measure(uint64_t offset, uint32_t scale, size_t count)
{
	struct measured m = kit_prepare(offset, scale, count);

	if (kit_try_open(&m))
		fail_msg("open: %s", portprof_last_diag()->words);
	return m;
}

void kit_start(struct measured *m)
{
	if (portprof_session_start(m->session))
		fail_msg("start: %s", portprof_last_diag()->words);
}

void kit_finish(struct measured *m)
{
	if (m->session)
		assert_int_equal(portprof_session_close(m->session), 0);
	free(m->bins);
	assert_int_equal(pseam_held(&seam), 0);
	psim_free(&seam.sim);
}

portprof_stats kit_stats(const struct measured *m)
{
	portprof_stats stats = { .size = sizeof(stats) };

	assert_int_equal(portprof_session_stats(m->session, 0, &stats), 0);
	return stats;
}

bool kit_has_note(const struct measured *m, const char *part)
{
	const char *note;

	for (size_t i = 0; (note = portprof_session_note(m->session, i)); i++)
		if (strstr(note, part))
			return true;
	return false;
}

void kit_run(unsigned thread, uint64_t pc, uint64_t cpu_ns, uint64_t kernel_ns)
{
	struct prun_work work = { thread, pc, pc + 2, cpu_ns, kernel_ns };

	prun_works(&seam.run, &work, 1);
}
