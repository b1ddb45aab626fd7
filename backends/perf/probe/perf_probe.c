/* SPDX-License-Identifier: MIT */
/*
 * Whether perf_event_open works here, for this user, and if not why: small
 * questions one after the other, each of which leaves nothing behind. And, for
 * doctor, what this machine has: events, rights, limits, where it runs.
 */
#include "backends/perf/probe/perf_probe.h"

#include "backends/backend.h"
#include "backends/perf/kernel/perf_proc.h"
#include "backends/perf/kernel/perf_refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a probe reports: settings, limits and the environment ---- */

enum {
	RATE_FINE = 10000,        /* samples a second that should be possible */
	RING_KIB = 512,           /* what a ring of one CPU may grow to */
	RING_TRIED = 128 << 10,
	THREADS_FINE = 64         /* that a small session can attach */
};

/* ---- reported: events ---- */

/* Kernels that know no precision for their PMU take every level all the same
 * (drivers/perf/arm_pmu.c looks at none), so only those that say how precise
 * they are count. */
static bool has_precision(const struct perf_kernel *kernel)
{
	char names[4096], path[160];
	size_t bytes = 0;

	if (kernel->list_names(kernel->self, "/sys/bus/event_source/devices",
	                       names, sizeof(names), &bytes) < 0)
		return false;
	for (const char *name = names;
	     name < names + bytes && name < names + sizeof(names);
	     name += strlen(name) + 1) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/"
		         "%.64s/caps/max_precise", name);
		if (ppi_perf_proc_number(kernel, path, -1) >= 0)
			return true;
	}
	return false;
}

static int try_cycles(const struct perf_kernel *kernel, unsigned precise,
                      uint64_t branches)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	attr.sample_period = 1000000;
	attr.exclude_kernel = 1;
	attr.precise_ip = precise & 3;
	attr.sample_type = branches ? PERF_SAMPLE_BRANCH_STACK : 0;
	attr.branch_sample_type = branches;
	return ppi_perf_try_attr(kernel, &attr, 0, -1, 0);
}

static void ppi_perf_report_hardware(const struct perf_kernel *kernel,
                                     struct ppi_probe *out)
{
	const uint64_t branches = PERF_SAMPLE_BRANCH_USER |
	                          PERF_SAMPLE_BRANCH_ANY;

	if (!out->take)
		return;
	ppi_probe_report(out, "events", "hardware-events",
	                 PORTPROF_VERDICT_WORKS,
	                 NULL, "counts and samples events of the PMU, such as "
	                 "cycles%s%s",
	                 has_precision(kernel) && !try_cycles(kernel, 1, 0)
	                 ? ", precisely (:precise=1)" : ", with skid",
	                 !try_cycles(kernel, 0, branches)
	                 ? ", with branch stacks" : "");
	if (ppi_perf_proc_number(kernel, "/proc/sys/kernel/nmi_watchdog", 0) ==
	    1)
		ppi_probe_report(out, "machine", "watchdog",
		                 PORTPROF_VERDICT_LIMITED,
		                 "sudo sysctl kernel.nmi_watchdog=0",
		                 "the NMI watchdog holds one hardware counter: "
		                 "a group that needs all of them never runs");
}

static void report_tracepoints(const struct perf_kernel *kernel,
                               const struct perf_rights *rights,
                               struct ppi_probe *out)
{
	char path[160], level[240], remedy[480];
	struct perf_event_attr attr;
	const char *folder;
	int error = ENOENT;
	int64_t id = -1;

	folder = ppi_perf_tracepoint_folder(kernel, &error);
	if (folder) {
		snprintf(path, sizeof(path), "%s/events/sched/sched_switch/id",
		         folder);
		id = ppi_perf_proc_number(kernel, path, -1);
	}
	if (id < 0) {
		bool is_there = folder || error != ENOENT;

		ppi_probe_report(out, "events", "tracepoints",
		                 PORTPROF_VERDICT_FAILS,
		                 is_there ? PERF_TRACEFS_SHOW
		                          : PERF_TRACEFS_MOUNT,
		                 "tracefs %s", is_there
		                 ? "is hidden from this user"
		                 : "is not mounted at /sys/kernel/tracing");
		return;
	}
	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = (uint64_t)id;
	error = ppi_perf_try_attr(kernel, &attr, 0, -1, 0);
	if (!error)
		ppi_probe_report(out, "events", "tracepoints",
		                 PORTPROF_VERDICT_WORKS,
		                 NULL, "portprof list '*:*' lists them");
	else
		ppi_probe_report(out, "events", "tracepoints",
		                 PORTPROF_VERDICT_FAILS,
		                 ppi_perf_say_remedy(rights, -1, remedy,
		                                     sizeof(remedy)),
		                 "%s", error == EACCES || error == EPERM
		                 ? ppi_perf_say_level(rights, -1, level,
		                                      sizeof(level))
		                 : strerror(error));
}

/* ---- reported: rights ---- */

static void report_level(const struct perf_rights *rights,
                         struct ppi_probe *out)
{
	int64_t level = rights->paranoid;
	char remedy[320];

	if (!rights->has_paranoid)
		return;
	if (rights->can_perfmon || level < 0) {
		ppi_probe_report(out, "rights", "paranoid",
		                 PORTPROF_VERDICT_WORKS,
		                 NULL, "kernel.perf_event_paranoid is %" PRId64
		                 "%s", level, level < 0
		                 ? ": everybody may measure everything"
		                 : ", but CAP_PERFMON overrides it");
		return;
	}
	ppi_probe_report(out, "rights", "paranoid", PORTPROF_VERDICT_LIMITED,
	                 ppi_perf_say_remedy(rights, level > 1 ? 1 : -1, remedy,
	                                     sizeof(remedy)),
	                 "kernel.perf_event_paranoid is %" PRId64 ": %s", level,
	                 level > 1    ? "own processes, in user mode only"
	                 : level == 1 ? "own processes, but no whole CPUs and "
	                                "no tracepoints"
	                              : "everything but tracepoints");
}

/* ---- reported: limits ---- */

/* A soft and a hard limit of this process: proc_pid_limits(5). */
static void find_limit(const struct perf_kernel *kernel, const char *name,
                       uint64_t *soft, uint64_t *hard)
{
	char text[4096];
	const char *at;
	char *end;

	*soft = *hard = UINT64_MAX;
	if (!ppi_perf_proc_text(kernel, "/proc/self/limits", text,
	                        sizeof(text)) ||
	    !(at = strstr(text, name)))
		return;
	at += strlen(name);
	*soft = strtoull(at, &end, 10);
	if (end == at) { /* "unlimited" */
		*soft = UINT64_MAX;
		return;
	}
	at = end;
	*hard = strtoull(at, &end, 10);
	if (end == at)
		*hard = UINT64_MAX;
}

/*
 * A session on a running process opens an event for each thread on each CPU,
 * and a ring for each CPU; it takes no more than half of what is free.
 */
static void report_descriptors(const struct perf_kernel *kernel, size_t cpus,
                               struct ppi_probe *out)
{
	uint64_t soft, hard, threads;
	char remedy[160];

	find_limit(kernel, "Max open files", &soft, &hard);
	kernel->get_fd_limit(kernel->self, &soft);
	if (soft == UINT64_MAX)
		return;
	threads = soft / 2 > cpus ? (soft / 2 - cpus) / cpus : 0;
	if (threads >= THREADS_FINE) {
		ppi_probe_report(out, "limits", "descriptors",
		                 PORTPROF_VERDICT_WORKS,
		                 NULL, "%" PRIu64 " descriptors are enough to "
		                 "attach to programs of %" PRIu64 " threads on "
		                 "%zu CPUs", soft, threads, cpus);
		return;
	}
	if (hard > soft && hard != UINT64_MAX)
		snprintf(remedy, sizeof(remedy), "ulimit -n %" PRIu64, hard);
	else
		snprintf(remedy, sizeof(remedy), "%s", hard > soft
		         ? "ulimit -n 65536"
		         : "the administrator raises the limit: "
		           "/etc/security/limits.conf, nofile");
	ppi_probe_report(out, "limits", "descriptors", PORTPROF_VERDICT_LIMITED,
	                 remedy, "%" PRIu64 " descriptors: an event takes one "
	                 "for each thread and CPU, so they are enough for "
	                 "programs of %" PRIu64 " threads", soft, threads);
}

/* kernel/events/core.c, perf_mmap: the user's budget for all CPUs, and then
 * RLIMIT_MEMLOCK of the process. */
static void report_memory(const struct perf_kernel *kernel,
                          const struct perf_rights *rights, size_t cpus,
                          struct ppi_probe *out)
{
	int64_t per_cpu = ppi_perf_proc_number(
		kernel, "/proc/sys/kernel/perf_event_mlock_kb", -1);
	uint64_t own, hard, kib, needed = (uint64_t)cpus * RING_KIB;
	struct perf_event_attr attr;
	char remedy[160];
	bool is_full;

	find_limit(kernel, "Max locked memory", &own, &hard);
	if (per_cpu < 0)
		return;
	if (rights->can_lock || rights->paranoid == -1 || own == UINT64_MAX) {
		ppi_probe_report(out, "limits", "ring-memory",
		                 PORTPROF_VERDICT_WORKS,
		                 NULL, "rings may be of any size");
		return;
	}
	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.exclude_kernel = 1;
	is_full = ppi_perf_try_attr(kernel, &attr, 0, -1, RING_TRIED +
	                            kernel->get_page_bytes(kernel->self)) != 0;
	kib = (uint64_t)per_cpu * cpus + own / 1024;
	snprintf(remedy, sizeof(remedy), "sudo sysctl "
	         "kernel.perf_event_mlock_kb=%d, or ulimit -l %" PRIu64,
	         RING_KIB + 4, needed + 4 * cpus);
	ppi_probe_report(out, "limits", "ring-memory",
	                 is_full        ? PORTPROF_VERDICT_FAILS
	                 : kib < needed ? PORTPROF_VERDICT_LIMITED
	                                : PORTPROF_VERDICT_WORKS,
	                 is_full || kib < needed ? remedy : NULL,
	                 "%" PRIu64 " KiB for the rings of all sessions of this "
	                 "user (%" PRId64 " for each CPU, and ulimit -l)%s",
	                 kib, per_cpu, is_full
	                 ? "; not even 128 KiB of it are free now"
	                 : kib < needed
	                 ? ": too small for high rates, which lose samples"
	                 : "");
}

static void report_rate(const struct perf_kernel *kernel,
                        struct ppi_probe *out)
{
	int64_t most = ppi_perf_proc_number(
		kernel, "/proc/sys/kernel/perf_event_max_sample_rate", -1);
	int64_t percent = ppi_perf_proc_number(
		kernel, "/proc/sys/kernel/perf_cpu_time_max_percent", -1);
	bool is_adapted = percent > 0 && percent < 100;
	char remedy[160];

	if (most < 0)
		return;
	snprintf(remedy, sizeof(remedy), "sudo sysctl %s"
	         "kernel.perf_event_max_sample_rate=100000", is_adapted
	         ? "kernel.perf_cpu_time_max_percent=0 " : "");
	ppi_probe_report(out, "limits", "sample-rate",
	                 most >= RATE_FINE ? PORTPROF_VERDICT_WORKS
	                 : PORTPROF_VERDICT_LIMITED,
	                 most >= RATE_FINE ? NULL : remedy,
	                 "up to %" PRId64 " samples a second on each CPU%s",
	                 most, most < RATE_FINE && is_adapted
	                 ? ": the kernel lowers the limit by itself when "
	                   "sampling takes long" : "");
}

static void ppi_perf_report_settings(const struct perf_kernel *kernel,
                                     const struct perf_rights *rights,
                                     struct ppi_probe *out)
{
	size_t cpu_count = 1;
	int *cpus = NULL;

	if (ppi_perf_proc_cpus(kernel, &cpus, &cpu_count) < 0 || cpu_count == 0)
		cpu_count = 1;
	free(cpus);
	ppi_probe_report(out, "events", "software-events",
	                 PORTPROF_VERDICT_WORKS,
	                 NULL, "counts page faults and other events of the "
	                 "kernel");
	report_tracepoints(kernel, rights, out);
	report_level(rights, out);
	report_descriptors(kernel, cpu_count, out);
	report_memory(kernel, rights, cpu_count, out);
	report_rate(kernel, out);
}

/* ---- reported: where this runs ---- */

static void report_virtual_machine(const struct perf_kernel *kernel,
                                   struct ppi_probe *out)
{
	static const char *const names[] = {
		"/sys/hypervisor/type", "/sys/class/dmi/id/product_name",
		"/proc/device-tree/hypervisor/compatible",
	};
	bool has_pmu = out->is_usable && out->caps & PORTPROF_CAP_HARDWARE;
	char text[4096], name[64] = "";
	bool is_virtual;

	is_virtual = ppi_perf_proc_text(kernel, "/proc/cpuinfo", text,
	                                sizeof(text)) &&
	             strstr(text, " hypervisor");
	for (size_t i = 0; i < 3 && !name[0]; i++) {
		/* DMI names each machine, virtual or not */
		if ((i == 1 && !is_virtual) ||
		    !ppi_perf_proc_text(kernel, names[i], text, sizeof(text)))
			continue;
		is_virtual = true;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "\n"),
		         text);
	}
	if (is_virtual)
		ppi_probe_report(out, "machine", "virtual-machine", has_pmu
		                 ? PORTPROF_VERDICT_WORKS
		                 : PORTPROF_VERDICT_LIMITED, has_pmu
		                 ? NULL
		                 : "KVM: -cpu host,pmu=on; VMware: vpmc.enable; "
		                   "clouds: a metal or whole-socket instance",
		                 "%s, %s", name[0] ? name : "unknown kind",
		                 has_pmu
		                 ? "with a PMU; if its events produce no "
		                   "samples, the hypervisor does not forward "
		                   "interrupts"
		                 : "without a PMU");
}

/* Where this runs: containers, user namespaces, virtual machines. */
static void ppi_perf_report_place(const struct perf_kernel *kernel,
                                  const struct perf_rights *rights,
                                  struct ppi_probe *out)
{
	if (!out->take)
		return;
	if (rights->container[0])
		ppi_probe_report(out, "rights", "container",
		                 rights->has_filter && !out->is_usable
		                 ? PORTPROF_VERDICT_LIMITED
		                 : PORTPROF_VERDICT_WORKS, NULL,
		                 "this is a container (%s): kernel settings "
		                 "are the host's", rights->container);
	if (rights->is_in_user_namespace)
		ppi_probe_report(out, "rights", "user-namespace",
		                 PORTPROF_VERDICT_LIMITED,
		                 "where a capability is needed, run it outside",
		                 "this is a user namespace: capabilities in it "
		                 "do not count for perf events");
	report_virtual_machine(kernel, out);
}

/* ---- the ladder: from one question to the next ---- */

static int ask(const struct perf_kernel *kernel, uint32_t type,
               uint64_t config, bool is_user_only)
{
	return ppi_perf_try_type(kernel, type, config, is_user_only, 0, -1);
}

/* Nothing can be opened: for this reason, until that is done. */
static void refuse(struct ppi_probe *out, const char *name,
                   portprof_status status, int os_error, const char *words,
                   const char *remedy)
{
	out->is_usable = false;
	out->caps = 0;
	out->status = status;
	out->os_errno = os_error;
	snprintf(out->reason, sizeof(out->reason), "%.*s%s%.*s", 300, words,
	         remedy[0] ? ": " : "", 200, remedy);
	ppi_probe_report(out, "rights", name, PORTPROF_VERDICT_FAILS, remedy, "%s",
	                 words);
}

static void refuse_filter(const struct perf_rights *rights, int error,
                          struct ppi_probe *out)
{
	char words[160];

	snprintf(words, sizeof(words), "a system call filter (seccomp%s%s) "
	         "answers perf_event_open with '%s'",
	         rights->container[0] ? ", of " : "", rights->container,
	         strerror(error));
	refuse(out, "system-call-filter", PORTPROF_E_DENIED, error, words,
	       rights->container[0]
	       ? "start the container with --cap-add PERFMON, or with "
	         "--security-opt seccomp=FILE, a profile that allows it"
	       : "run it without the filter of its sandbox or service manager "
	         "(systemd: SystemCallFilter=), or a container with --cap-add "
	         "PERFMON");
}

/* An attr that no kernel takes: shorter than the first ever published. */
static int ask_nothing(const struct perf_kernel *kernel, unsigned long flags)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = 1;
	return -kernel->open_event(kernel->self, &attr, 0, -1, -1, flags);
}

/* Does the call reach the kernel? Flags that are none are refused first. */
static bool reaches_kernel(const struct perf_kernel *kernel,
                           const struct perf_rights *rights,
                           struct ppi_probe *out)
{
	int error = ask_nothing(kernel, ~0ul);

	if (error == EINVAL)
		return true;
	if (error == ENOSYS && !rights->has_filter && !rights->has_paranoid)
		refuse(out, "kernel", PORTPROF_E_UNSUPPORTED, error,
		       "this kernel was built without perf events "
		       "(CONFIG_PERF_EVENTS)", "run a kernel that has them, as "
		       "those of distributions do");
	else
		refuse_filter(rights, error, out);
	return false;
}

/* Debian's and Ubuntu's kernels can lock everybody out before they look. */
static bool is_unlocked(const struct perf_kernel *kernel,
                        const struct perf_rights *rights,
                        struct ppi_probe *out)
{
	int error = ask_nothing(kernel, 0);
	char words[240], text[320];

	if (error == E2BIG)
		return true;
	if (error == EACCES || error == EPERM) {
		snprintf(words, sizeof(words), "perf events are locked "
		         "for ordinary users: %s",
		         ppi_perf_say_level(rights, 2, text, sizeof(text)));
		refuse(out, "paranoid", PORTPROF_E_DENIED, error, words,
		       ppi_perf_say_remedy(rights, 2, text, sizeof(text)));
	} else {
		snprintf(words, sizeof(words), "perf_event_open answers in a "
		         "way no kernel does: %s", strerror(error));
		refuse(out, "perf_event_open", PORTPROF_E_SYSTEM, error, words,
		       "");
	}
	return false;
}

static bool is_let_through(const struct perf_kernel *kernel,
                           struct ppi_probe *out)
{
	int error = ppi_perf_try_dummy(kernel, 0, -1);
	const char *remedy, *module;
	struct ppi_diag why;
	char words[160];

	if (error == 0)
		return true;
	if (error == EACCES || error == EPERM) {
		module = ppi_perf_find_module(kernel, &remedy);
		snprintf(words, sizeof(words), "the kernel refuses even an "
		         "event that counts nothing: %s", module);
		refuse(out, "security-module", PORTPROF_E_DENIED, error, words,
		       remedy);
		return false;
	}
	ppi_perf_refuse_open(kernel, NULL, error, &why);
	refuse(out, error == EMFILE || error == ENFILE ? "no-descriptor"
	                                               : "perf_event_open",
	       why.status, error, why.words, "");
	return false;
}

/* Usable, but for these capabilities. */
static void limit(struct ppi_probe *out, const char *name, uint64_t caps,
                  portprof_verdict verdict, portprof_status status,
                  const char *words, const char *remedy)
{
	size_t used = strlen(out->reason);
	struct ppi_limit *limit = &out->limits[out->limit_count++];

	out->caps &= ~caps;
	limit->caps = caps;
	limit->status = status;
	snprintf(limit->words, sizeof(limit->words), "%s: %s", words, remedy);
	snprintf(out->reason + used, sizeof(out->reason) - used, "%s%s",
	         used ? "; " : "", limit->words);
	ppi_probe_report(out, "events", name, verdict, remedy, "%s", words);
}

/* What more rights would give. */
static void limit_by_rights(const struct perf_rights *rights,
                            struct ppi_probe *out, const char *name,
                            uint64_t caps, const char *what, int needed_level)
{
	char words[240], text[320];

	snprintf(words, sizeof(words), "%s: %s", what,
	         ppi_perf_say_level(rights, needed_level, text, sizeof(text)));
	/* what is not the whole system may still be another process */
	limit(out, name, caps, caps & PORTPROF_CAP_SYSTEM
	      ? PORTPROF_VERDICT_LIMITED : PORTPROF_VERDICT_FAILS,
	      PORTPROF_E_DENIED, words,
	      ppi_perf_say_remedy(rights, needed_level, text, sizeof(text)));
}

static void look_for_kernel(const struct perf_kernel *kernel,
                            const struct perf_rights *rights,
                            struct ppi_probe *out)
{
	if (ask(kernel, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false))
		limit_by_rights(rights, out, "kernel-mode",
		                PORTPROF_CAP_KERNEL,
		                "no samples in kernel mode", 1);
	else
		ppi_probe_report(out, "events", "kernel-mode", PORTPROF_VERDICT_WORKS,
		                 NULL, "samples the kernel's code, and counts "
		                 "context switches and migrations");
}

static void look_for_system(const struct perf_kernel *kernel,
                            const struct perf_rights *rights,
                            struct ppi_probe *out)
{
	/* CPU 0 may be offline; others are not tried */
	int error = ppi_perf_try_dummy(kernel, -1, 0);

	if (error == EACCES || error == EPERM)
		limit_by_rights(rights, out, "other-processes",
		                PORTPROF_CAP_SYSTEM,
		                "not the whole system", 0);
	else
		ppi_probe_report(out, "events", "other-processes", PORTPROF_VERDICT_WORKS,
		                 NULL, "measures whole CPUs%s",
		                 rights->can_perfmon
		                 ? ", and processes of every user" : "");
}

static void look_for_hardware(const struct perf_kernel *kernel,
                              const struct perf_rights *rights,
                              struct ppi_probe *out)
{
	static const char name[] = "hardware-events";
	const uint64_t caps = PORTPROF_CAP_HARDWARE;

	switch (ask(kernel, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
	            true)) {
	case 0:
		ppi_perf_report_hardware(kernel, out);
		break;
	case ENOENT:
	case ENODEV:
	case ENXIO:
		limit(out, name, caps, PORTPROF_VERDICT_FAILS,
		      PORTPROF_E_UNSUPPORTED,
		      "no hardware counters on this machine (a virtual machine "
		      "without a PMU?)", "use cpu-clock or task-clock, or give "
		      "the VM a PMU (KVM: -cpu host,pmu=on)");
		break;
	case EOPNOTSUPP:
		limit(out, name, caps, PORTPROF_VERDICT_FAILS,
		      PORTPROF_E_UNSUPPORTED, "the PMU has no "
		      "overflow interrupt, so hardware events can be counted, "
		      "not sampled", "use cpu-clock or task-clock");
		break;
	case EBUSY:
		limit(out, name, caps, PORTPROF_VERDICT_FAILS,
		      PORTPROF_E_BUSY, "another program or the NMI watchdog "
		      "uses the PMU exclusively",
		      "end that program, or sysctl kernel.nmi_watchdog=0");
		break;
	case EACCES:
	case EPERM:
		limit_by_rights(rights, out, name, caps, "no hardware events",
		                2);
		break;
	default:
		limit(out, name, caps, PORTPROF_VERDICT_FAILS,
		      PORTPROF_E_SYSTEM, "the kernel refuses "
		      "hardware events", "portprof doctor cycles");
	}
}

void ppi_perf_probe_ladder(const struct perf_kernel *kernel,
                           struct ppi_probe *out)
{
	struct perf_rights rights;
	uint32_t features;

	out->reason[0] = '\0';
	out->limit_count = 0;
	ppi_perf_find_rights(kernel, &rights);
	if (!reaches_kernel(kernel, &rights, out) ||
	    !is_unlocked(kernel, &rights, out) || !is_let_through(kernel, out)) {
		ppi_perf_report_place(kernel, &rights, out);
		return;
	}
	out->is_usable = true;
	out->status = PORTPROF_OK;
	out->os_errno = 0;
	look_for_kernel(kernel, &rights, out);
	look_for_hardware(kernel, &rights, out);
	look_for_system(kernel, &rights, out);
	features = ppi_perf_features(kernel);
	if (!(features & PERF_HAS_LOST))
		out->caps &= ~(uint64_t)PORTPROF_CAP_LOST_EXACT;
	if (!(features & PERF_HAS_CLOCKID))
		out->caps &= ~(uint64_t)PORTPROF_CAP_TIME;
	if (!(features & PERF_HAS_USER_IP) || !perf_can_unwind(kernel))
		out->caps &= ~(uint64_t)PORTPROF_CAP_UNWIND;
	if (out->take)
		ppi_perf_report_settings(kernel, &rights, out);
	ppi_perf_report_place(kernel, &rights, out);
}
