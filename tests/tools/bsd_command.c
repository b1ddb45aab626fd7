/* SPDX-License-Identifier: MIT */
/*
 * The command on a simulated BSD: bsd_command SYSTEM VERB [ARGUMENT...]. There
 * are profil(2) of that system and one ITIMER_PROF, but neither perf nor a
 * timer a thread nor what Solaris has.
 */
#include <stdio.h>
#include <string.h>

#include "api/core/helper.h"
#include "backends/backend.h"
#include "tests/sim/itimer_sim.h"
#include "tests/sim/profil_seam.h"
#include "tools/tools.h"

static struct pseam seam;

static const struct {
	const char *name;
	const struct psim_os *os;
	enum profil_os backend_os;
} systems[] = {
	{ "freebsd", &psim_freebsd, PROFIL_FREEBSD },
	{ "netbsd", &psim_netbsd, PROFIL_NETBSD },
	{ "openbsd", &psim_openbsd, PROFIL_OPENBSD },
	{ "openbsd78", &psim_openbsd78, PROFIL_OPENBSD78 },
	{ "dragonfly", &psim_dragonfly, PROFIL_DRAGONFLY },
};

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "doctor", ppi_doctor_main }, { "list", ppi_list_main },
	{ "record", ppi_record_main }, { "stat", ppi_stat_main },
};

static bool become(const char *system)
{
	static const char *const absent[] = { "perf", "timer", "solaris" };
	size_t count = sizeof(systems) / sizeof(*systems), i = 0;

	while (i < count && strcmp(system, systems[i].name) != 0)
		i++;
	if (i == count)
		return false;
	pseam_init(&seam, systems[i].os, systems[i].backend_os);
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("profil", &seam.kernel);
	itimer_sim_reset(ppi_helper_run_tasks);
	itimer_sim_be_netbsd();
	ppi_backend_set_kernel("itimer", &itimer_sim_kernel);
	for (i = 0; i < sizeof(absent) / sizeof(*absent); i++)
		ppi_backend_set_kernel(absent[i], ppi_no_kernel);
	return true;
}

int main(int argc, char **argv)
{
	if (argc < 3 || !become(argv[1]))
		return 99;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (strcmp(argv[2], verbs[i].name) == 0)
			return verbs[i].run(argc - 2, argv + 2);
	return 99;
}
