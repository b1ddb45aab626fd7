/* SPDX-License-Identifier: MIT */
/*
 * What this user may do, and in which words refusals of the kernel are reported, so
 * that a user can act on them.
 *
 * Rights are the level of perf_event_paranoid, capabilities, namespaces, filters.
 * Upstream's levels are -1 everything, 0 no raw tracepoints, 1 own processes in
 * kernel mode, 2 own processes in user mode (Documentation/admin-guide/sysctl/
 * kernel.rst); levels 3 and 4 are Debian's and Ubuntu's.
 */
#include "backends/perf/kernel/perf_refusal.h"

#include "backends/perf/kernel/perf_proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/hw_breakpoint.h>

/* linux/capability.h */
enum { IPC_LOCK_BIT = 14, SYS_ADMIN_BIT = 21, PERFMON_BIT = 38 };

/* The number behind "KEY:\t" in a text of such lines. */
static bool find_field(const char *text, const char *key, int base,
                       uint64_t *value)
{
	const char *line = strstr(text, key);

	if (!line)
		return false;
	*value = strtoull(line + strlen(key), NULL, base);
	return true;
}

static void find_container(const struct perf_kernel *kernel,
                           struct perf_rights *rights)
{
	/* Kubernetes mounts an account into each container, whose runtime
	 * leaves its own sign too: it comes first. */
	static const struct {
		const char *path, *word, *name;
	} signs[] = {
		{ "/var/run/secrets/kubernetes.io/serviceaccount/namespace",
		  "", "kubernetes" },
		{ "/proc/1/cgroup", "kubepods", "kubernetes" },
		{ "/.dockerenv", "", "docker" },
		{ "/run/.containerenv", "", "podman" },
		{ "/proc/1/cgroup", "docker", "docker" },
		{ "/proc/1/cgroup", "libpod", "podman" },
		{ "/proc/1/cgroup", "lxc", "lxc" },
		{ "/run/systemd/container", "", "container" },
	};
	char text[4096];

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (!ppi_perf_proc_text(kernel, signs[i].path, text,
		                        sizeof(text)) ||
		    !strstr(text, signs[i].word))
			continue;
		snprintf(rights->container, sizeof(rights->container), "%s",
		         signs[i].name);
		return;
	}
}

/* user_namespaces(7): outside of them each number stands for itself. */
static bool is_in_user_namespace(const struct perf_kernel *kernel)
{
	unsigned long long first, outside, count;
	char text[256];

	return ppi_perf_proc_text(kernel, "/proc/self/uid_map", text,
	                          sizeof(text)) &&
	       sscanf(text, "%llu %llu %llu", &first, &outside, &count) == 3 &&
	       (first != outside || count < UINT32_MAX);
}

void ppi_perf_find_rights(const struct perf_kernel *kernel,
                          struct perf_rights *rights)
{
	uint64_t caps = 0, filter = 0;
	char text[4096];

	memset(rights, 0, sizeof(*rights));
	rights->paranoid = ppi_perf_proc_number(
		kernel, "/proc/sys/kernel/perf_event_paranoid", INT64_MIN);
	rights->has_paranoid = rights->paranoid != INT64_MIN;
	if (ppi_perf_proc_text(kernel, "/proc/self/status", text,
	                       sizeof(text))) {
		find_field(text, "\nCapEff:", 16, &caps);
		find_field(text, "\nSeccomp:", 10, &filter);
	}
	rights->has_filter = filter == 2;
	rights->is_in_user_namespace = is_in_user_namespace(kernel);
	find_container(kernel, rights);
	if (rights->is_in_user_namespace)
		return;
	rights->can_admin = caps >> SYS_ADMIN_BIT & 1;
	rights->can_perfmon = caps >> PERFMON_BIT & 1 || rights->can_admin;
	rights->can_lock = caps >> IPC_LOCK_BIT & 1;
}

const char *ppi_perf_say_level(const struct perf_rights *rights,
                               int needed_level, char *out, size_t bytes)
{
	long long level = (long long)rights->paranoid;

	if (!rights->has_paranoid)
		snprintf(out, bytes, "the kernel refuses it to this user");
	else if (level <= needed_level)
		snprintf(out, bytes, "kernel.perf_event_paranoid is %lld, "
		         "which allows it, so a security module (SELinux, "
		         "lockdown) or the target's owner refuses it", level);
	else
		snprintf(out, bytes, "kernel.perf_event_paranoid is %lld; "
		         "this needs %d or less", level, needed_level);
	return out;
}

const char *ppi_perf_say_remedy(const struct perf_rights *rights,
                                int needed_level, char *out, size_t bytes)
{
	size_t used = 0;

	out[0] = '\0';
	if (rights->has_paranoid && rights->paranoid > needed_level)
		used = (size_t)snprintf(
			out, bytes, "%ssysctl kernel.perf_event_paranoid=%d, "
			"or ", rights->container[0]
			? "on the host, outside the container: "
			: "as administrator, ", needed_level);
	if (used >= bytes)
		return out;
	if (rights->container[0])
		snprintf(out + used, bytes - used, "start the container with "
		         "--cap-add PERFMON (Kubernetes: securityContext, "
		         "capabilities, add: PERFMON)");
	else if (rights->is_in_user_namespace)
		snprintf(out + used, bytes - used, "run it outside this user "
		         "namespace, in which capabilities do not count");
	else
		snprintf(out + used, bytes - used, "setcap cap_perfmon=ep on "
		         "the program");
	return out;
}

/* What lets this user do what needs CAP_SYS_ADMIN. Constant. */
static const char *say_admin_remedy(const struct perf_rights *rights)
{
	if (rights->container[0])
		return "start the container with --cap-add SYS_ADMIN";
	if (rights->is_in_user_namespace)
		return "run it outside this user namespace, in which "
		       "capabilities do not count";
	return "run it as administrator (sudo)";
}

const char *ppi_perf_say_paranoid(const struct perf_kernel *kernel,
                                  int needed_level, char *out, size_t bytes)
{
	struct perf_rights rights;
	char level[160], remedy[280];

	ppi_perf_find_rights(kernel, &rights);
	snprintf(out, bytes, "%s: %s",
	         ppi_perf_say_level(&rights, needed_level, level,
	                            sizeof(level)),
	         ppi_perf_say_remedy(&rights, needed_level, remedy,
	                             sizeof(remedy)));
	return out;
}

const char *ppi_perf_find_module(const struct perf_kernel *kernel,
                                 const char **remedy)
{
	char text[128];

	if (ppi_perf_proc_text(kernel, "/sys/kernel/security/lockdown", text,
	                       sizeof(text)) &&
	    strstr(text, "[confidentiality]")) {
		*remedy = "boot without lockdown=confidentiality: it cannot "
		          "be lifted while the system runs";
		return "the kernel is locked down (confidentiality)";
	}
	if (ppi_perf_proc_number(kernel, "/sys/fs/selinux/enforce", 0) == 1) {
		*remedy = "sudo ausearch -m avc -ts recent shows the rule; "
		          "allow the class perf_event to this domain";
		return "SELinux forbids it (class perf_event)";
	}
	*remedy = "ask the administrator which one, and for perf_event rights";
	return "a security module forbids it";
}

/* ---- events of a place in a program ---- */

/* linux/errno.h: no user's, but given to him by arch_uprobe_analyze_insn */
enum { KERNEL_ENOTSUPP = 524 };

static portprof_status refuse_breakpoint(const struct ppi_event *event,
                                         int os_error, struct ppi_diag *why)
{
	const struct perf_own *own = perf_own(event);
	const char *text = event->request.text;

	switch (os_error) {
	case ENOSPC:
		return ppi_fail(why, PORTPROF_E_LIMIT, os_error, "open event",
		                "'%s' finds no debug register free: a CPU has "
		                "few (x86 four), which breakpoints of a session, "
		                "of other sessions and of debuggers share",
		                text);
	case EACCES: /* kernel mode was refused before the address was seen */
		if (!(own->config[1] >> 63))
			return PORTPROF_OK;
		/* fall through */
	case EPERM:
		return ppi_fail(why, PORTPROF_E_DENIED, os_error, "open event",
		                "'%s' is an address of the kernel, which only "
		                "an administrator (CAP_SYS_ADMIN) may watch",
		                text);
	case EINVAL:
		if (own->config[1] >> 63 && !event->counts_kernel)
			return ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error,
			                "open event", "'%s' is an address of "
			                "the kernel: drop :u", text);
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error,
		                "open event", "this CPU does not support the "
		                "breakpoint '%s': %s", text,
		                own->bp_type == HW_BREAKPOINT_R
		                ? "x86 cannot watch reads without writes; "
		                  "write rw"
		                : "the address must be a multiple of its "
		                  "length");
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error,
		                "open event", "this CPU or virtual machine has "
		                "no debug registers for '%s'; a probe needs "
		                "none: uprobe:FILE:SYMBOL", text);
	default:
		return PORTPROF_OK;
	}
}

static portprof_status refuse_probe(const struct perf_kernel *kernel,
                                    const struct ppi_event *event,
                                    int os_error, struct ppi_diag *why)
{
	const char *text = event->request.text;
	struct perf_rights rights;

	switch (os_error) {
	case EACCES:
	case EPERM:
		/* No level of paranoia allows it: kernel/events/core.c,
		 * perf_uprobe_event_init. Which capability does was
		 * CAP_PERFMON for some years, and is CAP_SYS_ADMIN again
		 * (CVE-2025-38466): who has the former has been refused. */
		ppi_perf_find_rights(kernel, &rights);
		if (rights.can_admin)
			return PORTPROF_OK; /* somebody else refuses it */
		return ppi_fail(why, PORTPROF_E_DENIED, os_error, "open event",
		                "'%s' changes the pages of a file in every "
		                "process that maps it, which needs CAP_SYS_ADMIN"
		                "%s: %s", text, rights.can_perfmon
		                ? ", since CAP_PERFMON is not enough for this "
		                  "kernel"
		                : " (CAP_PERFMON on some kernels from Linux "
		                  "5.8 on)",
		                say_admin_remedy(&rights));
	case EINVAL:
	case ENOTSUP:
	case KERNEL_ENOTSUPP:
	case EIO:
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error,
		                "open event", "the kernel refuses the probe "
		                "'%s': no instruction begins there, it is one "
		                "that cannot be probed, or the file is on a "
		                "file system without memory mappings", text);
	case ENOENT:
		return ppi_fail(why, PORTPROF_E_NOTFOUND, os_error,
		                "open event", "'%s': there is no file %s", text,
		                event->request.name);
	default:
		return PORTPROF_OK;
	}
}

/* Of an event of a place in a program; OK where there is nothing special to say. */
static portprof_status refuse_place(const struct perf_kernel *kernel,
                                    const struct ppi_event *event,
                                    int os_error, struct ppi_diag *why)
{
	if (event && perf_own(event)->has_path)
		return refuse_probe(kernel, event, os_error, why);
	if (event && perf_own(event)->type == PERF_TYPE_BREAKPOINT)
		return refuse_breakpoint(event, os_error, why);
	return PORTPROF_OK;
}

/* ---- refusals by the kernel's errno ---- */

portprof_status ppi_perf_refuse_fds(uint64_t needed, uint64_t available,
                                    uint64_t limit, const char *for_what,
                                    struct ppi_diag *why)
{
	return ppi_fail(why, PORTPROF_E_LIMIT, EMFILE, "count descriptors",
	                "%llu descriptors are needed (%s) and %llu are free "
	                "of the limit of %llu; raise it with ulimit -n",
	                (unsigned long long)needed, for_what,
	                (unsigned long long)available,
	                (unsigned long long)limit);
}

portprof_status ppi_perf_refuse_map(const struct perf_kernel *kernel,
                                    size_t bytes, int os_error,
                                    struct ppi_diag *why)
{
	int64_t per_cpu_kib = ppi_perf_proc_number(
		kernel, "/proc/sys/kernel/perf_event_mlock_kb", 516);

	if (os_error == EPERM)
		return ppi_fail(why, PORTPROF_E_LIMIT, os_error, "map ring",
		                "a ring of %zu KiB is more than this user may "
		                "lock in memory: %lld KiB for each CPU "
		                "(sysctl kernel.perf_event_mlock_kb) and then "
		                "ulimit -l; raise one of them",
		                bytes / 1024, (long long)per_cpu_kib);
	return ppi_fail(why, os_error == ENOMEM ? PORTPROF_E_NOMEM
	                : PORTPROF_E_SYSTEM, os_error, "map ring",
	                "a ring of %zu KiB could not be mapped: %s",
	                bytes / 1024, strerror(os_error));
}

static portprof_status refuse_denied(const struct perf_kernel *kernel,
                                     const struct ppi_event *event,
                                     int os_error, struct ppi_diag *why)
{
	bool wants_kernel = event && event->counts_kernel;
	bool is_tracepoint = event &&
		perf_own(event)->type == PERF_TYPE_TRACEPOINT;
	char rights[320];

	ppi_perf_say_paranoid(kernel, is_tracepoint ? -1 : wants_kernel ? 1 : 2,
	                      rights, sizeof(rights));
	return ppi_because(
		why, is_tracepoint ? PORTPROF_REASON_NEEDS_TRACING
		                   : PORTPROF_REASON_NEEDS_RIGHT,
		ppi_fail(why, PORTPROF_E_DENIED, os_error, "open event",
	                 "'%s' is not permitted%s: %s",
	                 event ? event->request.text : "a ring",
	                 is_tracepoint ? " (a tracepoint)" : wants_kernel
	                 ? " in kernel mode (for user mode only, add :u)" : "",
	                 rights));
}

static portprof_status refuse_shape(const struct ppi_event *event,
                                    int os_error, struct ppi_diag *why)
{
	const char *text = event ? event->request.text : "a ring";

	switch (os_error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return ppi_because(
			why, PORTPROF_REASON_NOT_ON_CPU,
			ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error,
		                 "open event", "'%s' cannot be measured on "
		                 "this (virtual) machine: the kernel knows no "
		                 "PMU for it; cpu-clock and task-clock need "
		                 "none", text));
	case EOPNOTSUPP:
		return ppi_because(
			why, PORTPROF_REASON_NOT_ON_CPU,
			ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error,
		                 "open event", "the hardware behind '%s' cannot "
		                 "do that: it has no overflow interrupt, or "
		                 "not this precision; count it, or drop "
		                 "precise", text));
	case EINVAL:
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error,
		                "open event", "the kernel refuses '%s': drop "
		                "modifiers, or use fewer events in one "
		                "group", text);
	default:
		return ppi_fail(why, PORTPROF_E_SYSTEM, os_error, "open event",
		                "'%s' could not be opened: %s", text,
		                strerror(os_error));
	}
}

portprof_status ppi_perf_refuse_open(const struct perf_kernel *kernel,
                                     const struct ppi_event *event,
                                     int os_error, struct ppi_diag *why)
{
	uint64_t limit, available;
	portprof_status status = refuse_place(kernel, event, os_error, why);

	if (status)
		return status;
	switch (os_error) {
	case EACCES:
	case EPERM:
		return refuse_denied(kernel, event, os_error, why);
	case ESRCH:
		return ppi_fail(why, PORTPROF_E_NOTFOUND, os_error,
		                "open event", "no such thread or process, or "
		                "it has ended");
	case EMFILE:
		available = ppi_perf_proc_free_fds(kernel, &limit);
		return ppi_perf_refuse_fds(available + 1, available, limit,
		                           "at least", why);
	case ENFILE:
		return ppi_fail(why, PORTPROF_E_LIMIT, os_error, "open event",
		                "the system has no descriptors left: sysctl "
		                "fs.file-max");
	case ENOMEM:
		return ppi_fail(why, PORTPROF_E_NOMEM, os_error, "open event",
		                "out of memory");
	case EBUSY:
		return ppi_fail(why, PORTPROF_E_BUSY, os_error, "open event",
		                "'%s': the PMU is in exclusive use (by an "
		                "exclusive event, or the NMI watchdog: "
		                "sysctl kernel.nmi_watchdog=0)",
		                event ? event->request.text : "a ring");
	case ENOSYS:
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error,
		                "open event", "this kernel has no "
		                "perf_event_open, or a filter hides it");
	default:
		return refuse_shape(event, os_error, why);
	}
}
