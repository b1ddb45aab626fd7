/* SPDX-License-Identifier: MIT */
/* Sessions of the solaris backend on a simulated illumos. */
#include "tests/unit/solaris_kit.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <string.h>

#include "api/core/helper.h"
#include "backends/backend.h"

struct pseam seam;
portprof_config *config;
portprof_session *session;
uint64_t bins[BINS], other_bins[BINS], pcs[PCS];

void solkit_begin(unsigned hz)
{
	pseam_init(&seam, &psim_solaris, PROFIL_FREEBSD);
	seam.sim.prof_hz = seam.rate_hz = hz;
	seam.sim.stat_hz = hz;
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("solaris", &seam.solaris);
	memset(bins, 0, sizeof(bins));
	memset(pcs, 0, sizeof(pcs));
	config = portprof_config_new();
	portprof_config_set_backend(config, "solaris");
}

void solkit_add_region(uint64_t offset, uint64_t *over)
{
	portprof_range region = { offset, 65536, 64, over, BINS };

	assert_int_equal(portprof_config_add_histogram(
				 config, 0, &region, 1, PORTPROF_BINS_WEIGHT),
	                 0);
}

void solkit_open(void)
{
	if (portprof_session_open(config, &session))
		fail_msg("open: %s", portprof_last_diag()->words);
	portprof_config_free(config);
}

void solkit_finish(void)
{
	assert_int_equal(portprof_session_close(session), 0);
	assert_int_equal(pseam_held(&seam), 0);
	psim_free(&seam.sim);
}

static void run_helper(void *context)
{
	(void)context;
	ppi_helper_run_tasks();
}

void solkit_run_helper(void)
{
	seam.run.every = run_helper;
	seam.run.every_ns = 250 * MS;
}

void solkit_run(uint64_t pc, uint64_t cpu_ns, uint64_t kernel_ns)
{
	struct prun_work work = { 0, pc, pc + 2, cpu_ns, kernel_ns };

	prun_works(&seam.run, &work, 1);
}

portprof_stats solkit_stats(void)
{
	portprof_stats stats = { .size = sizeof(stats) };

	assert_int_equal(portprof_session_stats(session, 0, &stats), 0);
	return stats;
}

bool solkit_has_note(const char *part)
{
	const char *note;

	for (size_t i = 0; (note = portprof_session_note(session, i)); i++)
		if (strstr(note, part))
			return true;
	return false;
}
