/* SPDX-License-Identifier: MIT */
/* What stands between this user and perf events, and what takes it away. */
#include "config.h"

#include "tools/doctor/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

const char *ppi_doctor_say_rights(const struct ppi_doctor *doctor, int needed,
                                  char *out, size_t room)
{
	const struct ppi_facts *facts = &doctor->facts;
	size_t used = 0;

	out[0] = '\0';
	if (facts->has_paranoid && facts->paranoid > needed)
		used = (size_t)snprintf(
			out, room, "%ssysctl kernel.perf_event_paranoid=%d "
			"(to keep it: a line in /etc/sysctl.d); or ",
			facts->container[0] ? "on the host, not in the "
			                      "container: "
			                    : "sudo ", needed);
	if (facts->container[0])
		snprintf(out + used, room - used, "start the container with "
		         "--cap-add PERFMON (in Kubernetes: securityContext, "
		         "capabilities, add: PERFMON)");
	else if (facts->is_in_user_namespace)
		snprintf(out + used, room - used, "leave the user namespace: "
		         "capabilities in it do not count");
	else
		snprintf(out + used, room - used, "sudo setcap cap_perfmon=ep "
		         "%s", doctor->host->program);
	return out;
}

static void explain_filter(struct ppi_doctor *doctor)
{
	const struct ppi_facts *facts = &doctor->facts;

	ppi_doctor_add(doctor, PPI_TOPIC_RIGHTS, "system-call-filter",
	               PPI_FAILS, facts->container[0]
	               ? "start the container with --cap-add PERFMON, or with "
	                 "--security-opt seccomp=FILE, a profile that allows "
	                 "perf_event_open; until then CPU time is measured by "
	                 "timers"
	               : "run it without the filter that its sandbox or "
	                 "service manager set (systemd: SystemCallFilter=); "
	                 "until then CPU time is measured by timers",
	               "a system call filter (seccomp%s%s) answers "
	               "perf_event_open with %s",
	               facts->container[0] ? ", of " : "", facts->container,
	               strerror(facts->wall_errno));
}

static const char *find_module(const struct ppi_doctor_host *host,
                               const char **remedy)
{
	char text[128];

	if (ppi_doctor_read(host, "/sys/kernel/security/lockdown", text,
	                    sizeof(text)) &&
	    strstr(text, "[confidentiality]")) {
		*remedy = "boot without lockdown=confidentiality: nobody can "
		          "lift it while the system runs";
		return "the kernel is locked down for confidentiality";
	}
	if (ppi_doctor_number(host, "/sys/fs/selinux/enforce", 0) == 1) {
		*remedy = "sudo ausearch -m avc -ts recent shows the rule; "
		          "allow the class perf_event to this domain";
		return "SELinux forbids it (class perf_event)";
	}
	*remedy = "ask the administrator which security module it is";
	return "a security module forbids it";
}

static void explain_lock(struct ppi_doctor *doctor)
{
	const struct ppi_facts *facts = &doctor->facts;
	char rights[400];

	ppi_doctor_say_rights(doctor, 2, rights, sizeof(rights));
	ppi_doctor_add(doctor, PPI_TOPIC_RIGHTS, "paranoid", PPI_FAILS, rights,
	               "kernel.perf_event_paranoid is %" PRId64 ": this "
	               "distribution's kernel locks every event for those "
	               "without CAP_PERFMON or CAP_SYS_ADMIN (some versions "
	               "take the second one alone)", facts->paranoid);
}

/* Upstream's levels: -1 all, 0 not tracepoints, 1 own processes in kernel
 * mode too, 2 own processes in user mode. */
static void explain_level(struct ppi_doctor *doctor)
{
	const struct ppi_facts *facts = &doctor->facts;
	char rights[400];

	if (!facts->has_paranoid)
		return;
	if (facts->can_perfmon || facts->paranoid < 0) {
		ppi_doctor_add(doctor, PPI_TOPIC_RIGHTS, "paranoid", PPI_WORKS,
		               NULL, "kernel.perf_event_paranoid is %" PRId64
		               "%s", facts->paranoid, facts->can_perfmon
		               ? ", and this user may all the same "
		                 "(CAP_PERFMON)"
		               : ": everybody may measure everything");
		return;
	}
	ppi_doctor_say_rights(doctor, facts->paranoid > 1 ? 1 : -1, rights,
	                      sizeof(rights));
	ppi_doctor_add(doctor, PPI_TOPIC_RIGHTS, "paranoid", PPI_LIMITED,
	               rights, "kernel.perf_event_paranoid is %" PRId64 ": "
	               "%s", facts->paranoid, facts->paranoid > 1
	               ? "own processes, in user mode only"
	               : facts->paranoid == 1
	               ? "own processes, not whole CPUs nor tracepoints"
	               : "everything but tracepoints");
}

static void explain_wall(struct ppi_doctor *doctor)
{
	const struct ppi_facts *facts = &doctor->facts;
	const char *remedy, *words;

	switch (facts->wall) {
	case PPI_WALL_FILTER:
		explain_filter(doctor);
		break;
	case PPI_WALL_LOCK:
		explain_lock(doctor);
		break;
	case PPI_WALL_MODULE:
		words = find_module(doctor->host, &remedy);
		ppi_doctor_add(doctor, PPI_TOPIC_RIGHTS, "security-module",
		               PPI_FAILS, remedy, "even an event that counts "
		               "nothing is refused: %s", words);
		break;
	case PPI_WALL_KERNEL:
		ppi_doctor_add(doctor, PPI_TOPIC_RIGHTS, "kernel", PPI_FAILS,
		               "run a kernel that has it; distributions' do",
		               "this kernel was built without perf events "
		               "(CONFIG_PERF_EVENTS)");
		break;
	case PPI_WALL_FILES:
		ppi_doctor_add(doctor, PPI_TOPIC_RIGHTS, "no-descriptor",
		               PPI_FAILS, "close some, or raise ulimit -n; "
		               "of the system: sysctl fs.file-max",
		               "no event can be opened: %s",
		               strerror(facts->wall_errno));
		break;
	case PPI_WALL_OTHER:
		ppi_doctor_add(doctor, PPI_TOPIC_RIGHTS, "perf_event_open",
		               PPI_FAILS, NULL, "perf_event_open answers in a "
		               "way that no kernel does: %s",
		               strerror(facts->wall_errno));
		break;
	default:
		break;
	}
}

void ppi_doctor_rights(struct ppi_doctor *doctor)
{
	const struct ppi_facts *facts = &doctor->facts;

	explain_wall(doctor);
	if (facts->wall == PPI_WALL_NONE)
		explain_level(doctor);
	if (facts->container[0])
		ppi_doctor_add(doctor, PPI_TOPIC_RIGHTS, "container",
		               facts->wall == PPI_WALL_FILTER ? PPI_LIMITED
		                                              : PPI_WORKS,
		               NULL, "this is a container (%s): kernel "
		               "settings are the host's", facts->container);
	if (facts->is_in_user_namespace)
		ppi_doctor_add(doctor, PPI_TOPIC_RIGHTS, "user-namespace",
		               PPI_LIMITED, "where a capability is needed, "
		               "run it outside",
		               "this is a user namespace: capabilities in it "
		               "do not count for perf events");
}
