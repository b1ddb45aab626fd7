/* SPDX-License-Identifier: MIT */
/* What can be measured: one finding for each class of events. */
#include "config.h"

#include "tools/doctor/doctor.h"

#include <errno.h>
#include <string.h>

/* Names of the usable backends that have a capability. */
static size_t list_backends(const struct ppi_doctor *doctor, uint64_t cap,
                            char *out, size_t room)
{
	size_t count = 0;

	out[0] = '\0';
	for (size_t i = 0; i < doctor->backend_count; i++) {
		const portprof_backend_info *backend = &doctor->backends[i];
		size_t used = strlen(out);

		/* those of negative rank are only taken by name */
		if (!backend->is_usable || !(backend->caps & cap) ||
		    backend->rank < 0)
			continue;
		snprintf(out + used, room - used, "%s%s", used ? ", " : "",
		         backend->name);
		count++;
	}
	return count;
}

static void sampling(struct ppi_doctor *doctor)
{
	char names[160];
	bool is_free = doctor->facts.answers[PPI_ASK_USER_TIME] == 0;

	doctor->can_sample = list_backends(doctor, PORTPROF_CAP_SAMPLE, names,
	                                   sizeof(names)) > 0;
	if (!doctor->can_sample)
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "cpu-time", PPI_FAILS,
		               "see below", "no backend can sample CPU time "
		               "here");
	else if (is_free || !doctor->host->has_perf)
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "cpu-time", PPI_WORKS,
		               NULL, "sampled by %s", names);
	else
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "cpu-time",
		               PPI_LIMITED, "see below", "sampled by %s, from "
		               "inside the program: not of programs that run "
		               "already, that are linked statically or that "
		               "have other rights; without kernel code",
		               names);
}

/* An event class behind the wall has the wall's reason, told once. */
static bool is_behind_wall(struct ppi_doctor *doctor, const char *name)
{
	if (doctor->facts.wall == PPI_WALL_NONE)
		return false;
	if (doctor->facts.wall != PPI_WALL_SYSTEM)
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, name, PPI_FAILS,
		               "see below", "nothing but CPU time can be "
		               "measured");
	return true;
}

static void kernel_mode(struct ppi_doctor *doctor)
{
	int error = doctor->facts.answers[PPI_ASK_KERNEL_TIME];
	char rights[400];

	if (is_behind_wall(doctor, "kernel-mode"))
		return;
	if (error == 0)
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "kernel-mode",
		               PPI_WORKS, NULL, "the kernel's own code is "
		               "sampled too, and switches and migrations are "
		               "counted");
	else
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "kernel-mode",
		               PPI_FAILS,
		               ppi_doctor_say_rights(doctor, 1, rights,
		                                     sizeof(rights)),
		               "user mode only: time in the kernel goes to the "
		               "next place in the program, and switches and "
		               "migrations cannot be counted");
}

static void software(struct ppi_doctor *doctor)
{
	if (!is_behind_wall(doctor, "software-events"))
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "software-events",
		               PPI_WORKS, NULL, "page faults and what else "
		               "the kernel itself counts");
}

static void no_pmu(struct ppi_doctor *doctor, int error)
{
	const struct ppi_facts *facts = &doctor->facts;
	char rights[400];

	switch (error) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "hardware-events",
		               PPI_FAILS, facts->is_virtual
		               ? "give the virtual machine a PMU (KVM: -cpu "
		                 "host,pmu=on; VMware: vpmc.enable; clouds: a "
		                 "metal or whole-socket instance); task-clock "
		                 "and cpu-clock need none"
		               : "none, if the CPU has no PMU or the kernel "
		                 "does not know it; task-clock and cpu-clock "
		                 "need none",
		               "the kernel has no PMU%s%s%s%s: cycles and "
		               "everything else of the processor cannot be "
		               "measured", facts->is_virtual
		               ? ", as this is a virtual machine" : "",
		               facts->machine[0] ? " (" : "", facts->machine,
		               facts->machine[0] ? ")" : "");
		break;
	case EBUSY:
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "hardware-events",
		               PPI_FAILS, "end the other profiler; sudo sysctl "
		               "kernel.nmi_watchdog=0 frees a counter",
		               "somebody else uses the PMU alone");
		break;
	default:
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "hardware-events",
		               PPI_FAILS,
		               ppi_doctor_say_rights(doctor, 2, rights,
		                                     sizeof(rights)),
		               "refused: %s", strerror(error));
	}
}

static void hardware(struct ppi_doctor *doctor)
{
	const int *answers = doctor->facts.answers;
	bool has_branches = answers[PPI_ASK_BRANCHES] == 0;

	if (is_behind_wall(doctor, "hardware-events"))
		return;
	if (answers[PPI_ASK_CYCLES] != 0) {
		no_pmu(doctor, answers[PPI_ASK_CYCLES]);
		return;
	}
	if (answers[PPI_ASK_SAMPLES] != 0) {
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "hardware-events",
		               PPI_LIMITED, "sample task-clock or cpu-clock "
		               "instead", "they can be counted, not sampled: "
		               "the PMU has no overflow interrupt (%s)",
		               strerror(answers[PPI_ASK_SAMPLES]));
		return;
	}
	ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "hardware-events", PPI_WORKS,
	               NULL, "cycles, instructions and what else the PMU has "
	               "are counted and sampled%s%s",
	               answers[PPI_ASK_PRECISE] == 0
	               ? "; precisely (:precise=1)" : "; not precisely",
	               has_branches ? "; with the branches before a sample"
	                            : "");
}

static void tracepoints(struct ppi_doctor *doctor)
{
	int error = doctor->facts.answers[PPI_ASK_TRACEPOINT];
	char rights[400], remedy[560];

	if (is_behind_wall(doctor, "tracepoints"))
		return;
	if (error == 0) {
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "tracepoints",
		               PPI_WORKS, NULL, "portprof list '*:*' shows "
		               "them");
		return;
	}
	ppi_doctor_say_rights(doctor, -1, rights, sizeof(rights));
	if (error > 0) {
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "tracepoints",
		               PPI_FAILS, rights, "refused: %s",
		               strerror(error));
		return;
	}
	snprintf(remedy, sizeof(remedy), "sudo mount -o remount,mode=755 "
	         "/sys/kernel/tracing%s%s",
	         doctor->facts.can_perfmon ? "" : "; and ",
	         doctor->facts.can_perfmon ? "" : rights);
	ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "tracepoints", PPI_FAILS,
	               remedy, "this user may not look into "
	               "/sys/kernel/tracing, or it is not mounted");
}

static void others(struct ppi_doctor *doctor)
{
	const struct ppi_facts *facts = &doctor->facts;
	int error = facts->answers[PPI_ASK_SYSTEM];
	char rights[400];

	if (is_behind_wall(doctor, "other-processes"))
		return;
	if (error == 0) {
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "other-processes",
		               PPI_WORKS, NULL, facts->can_perfmon
		               ? "of every user, and whole CPUs"
		               : "this user's, and whole CPUs");
		return;
	}
	ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "other-processes",
	               PPI_LIMITED,
	               ppi_doctor_say_rights(doctor, 0, rights,
	                                     sizeof(rights)),
	               "those of this user alone; not whole CPUs");
}

void ppi_doctor_events(struct ppi_doctor *doctor)
{
	sampling(doctor);
	kernel_mode(doctor);
	software(doctor);
	hardware(doctor);
	tracepoints(doctor);
	others(doctor);
}
