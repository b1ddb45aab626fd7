/* SPDX-License-Identifier: MIT */
/*
 * Whether perf_event_open works here, for this user, and if not why: small
 * questions one after the other, each of which leaves nothing behind.
 */
#include "backends/perf/probe/perf_probe.h"

#include "backends/perf/events/perf_attr.h"
#include "backends/perf/perf_errors.h"
#include "backends/perf/probe/perf_report.h"
#include "backends/perf/probe/perf_rights.h"
#include "backends/perf/probe/perf_try.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
