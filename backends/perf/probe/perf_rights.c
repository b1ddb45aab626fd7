/* SPDX-License-Identifier: MIT */
/*
 * Rights: the level of perf_event_paranoid, capabilities, namespaces, filters.
 * Upstream's levels are -1 everything, 0 no raw tracepoints, 1 own processes in
 * kernel mode, 2 own processes in user mode (Documentation/admin-guide/sysctl/
 * kernel.rst); levels 3 and 4 are Debian's and Ubuntu's.
 */
#include "backends/perf/probe/perf_rights.h"

#include "backends/perf/perf_proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *ppi_perf_say_admin_remedy(const struct perf_rights *rights)
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
