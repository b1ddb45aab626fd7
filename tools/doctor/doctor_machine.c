/* SPDX-License-Identifier: MIT */
/* The processor: is there a PMU, and does anybody know its events? */
#include "config.h"

#include "tools/doctor/doctor.h"

#include <string.h>

static void virtual_machine(struct ppi_doctor *doctor)
{
	const struct ppi_facts *facts = &doctor->facts;

	if (!facts->is_virtual)
		return;
	ppi_doctor_add(doctor, PPI_TOPIC_MACHINE, "virtual-machine",
	               facts->has_pmu ? PPI_WORKS : PPI_LIMITED, NULL,
	               "%s, %s", facts->machine[0]
	               ? facts->machine : "of an unknown kind",
	               facts->has_pmu
	               ? "with a PMU; if its events bring no samples, the "
	                 "hypervisor passes no interrupts on"
	               : "without a PMU");
}

/* Every kernel that can count tells what it calls the PMU; only tables know
 * the names of its events. */
static void table(struct ppi_doctor *doctor)
{
	const struct ppi_facts *facts = &doctor->facts;

	if (!doctor->host->has_perf)
		return;
	if (!facts->has_libpfm4)
		ppi_doctor_add(doctor, PPI_TOPIC_MACHINE, "cpu-events",
		               PPI_LIMITED, "install libpfm4-dev and build "
		               "portprof again", "%s: without libpfm4 only "
		               "generic names, raw codes (rHEX) and the "
		               "system's own names are known", facts->cpu);
	else if (!facts->has_table)
		ppi_doctor_add(doctor, PPI_TOPIC_MACHINE, "cpu-events",
		               PPI_LIMITED, "build portprof with a newer "
		               "libpfm4 (configure --with-libpfm4=PREFIX); "
		               "until then generic names (cycles), raw codes "
		               "(rHEX) and portprof list", "%s: this libpfm4 "
		               "has no table of it, so the names of its own "
		               "events are unknown", facts->cpu);
	else
		ppi_doctor_add(doctor, PPI_TOPIC_MACHINE, "cpu-events",
		               PPI_WORKS, NULL, "%s: libpfm4 knows its events "
		               "as %s::", facts->cpu, facts->table);
}

static void watchdog(struct ppi_doctor *doctor)
{
	if (doctor->facts.has_pmu &&
	    ppi_doctor_number(doctor->host, "/proc/sys/kernel/nmi_watchdog",
	                      0) == 1)
		ppi_doctor_add(doctor, PPI_TOPIC_MACHINE, "watchdog",
		               PPI_LIMITED,
		               "sudo sysctl kernel.nmi_watchdog=0",
		               "the kernel's watchdog holds one hardware "
		               "counter: a group that needs all of them never "
		               "runs");
}

static void kernel_names(struct ppi_doctor *doctor)
{
	char text[64];

	if (!ppi_doctor_read(doctor->host, "/proc/kallsyms", text,
	                     sizeof(text)))
		return;
	if (strspn(text, "0") < strcspn(text, " "))
		ppi_doctor_add(doctor, PPI_TOPIC_MACHINE, "kernel-names",
		               PPI_WORKS, NULL, "functions of the kernel have "
		               "names");
	else
		ppi_doctor_add(doctor, PPI_TOPIC_MACHINE, "kernel-names",
		               PPI_LIMITED,
		               "sudo sysctl kernel.kptr_restrict=0",
		               "functions of the kernel have no names: "
		               "/proc/kallsyms shows this user no addresses");
}

void ppi_doctor_machine(struct ppi_doctor *doctor)
{
	virtual_machine(doctor);
	table(doctor);
	watchdog(doctor);
	kernel_names(doctor);
}
