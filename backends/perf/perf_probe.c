/* SPDX-License-Identifier: MIT */
/*
 * Whether perf_event_open works here, for this user, and if not why: small
 * questions one after the other, each of which leaves nothing behind.
 */
#include "backends/perf/perf_state.h"

#include "backends/perf/perf_proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILTER_WORDS \
	"a system call filter (seccomp) blocks perf_event_open: start the " \
	"container with --cap-add PERFMON, or with a profile that allows it"

static int ask(const struct perf_kernel *kernel, uint32_t type,
               uint64_t config, bool is_user_only)
{
	struct perf_event_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.type = type;
	attr.config = config;
	attr.disabled = 1;
	attr.exclude_kernel = is_user_only;
	attr.exclude_hv = 1;
	if (type == PERF_TYPE_HARDWARE)
		attr.sample_period = 1000000;
	fd = perf_open_attr(kernel, &attr, 0, -1, -1);
	if (fd < 0)
		return -fd;
	kernel->close_event(kernel->self, fd);
	return 0;
}

static void refuse(struct ppi_probe *out, portprof_status status, int os_error,
                   const char *reason)
{
	out->is_usable = false;
	out->caps = 0;
	out->status = status;
	out->os_errno = os_error;
	snprintf(out->reason, sizeof(out->reason), "%.*s",
	         (int)sizeof(out->reason) - 1, reason);
}

static bool has_filter(const struct perf_kernel *kernel)
{
	char text[4096];
	const char *line;

	if (!perf_proc_text(kernel, "/proc/self/status", text, sizeof(text)))
		return false;
	line = strstr(text, "\nSeccomp:");
	return line && strtol(line + strlen("\nSeccomp:"), NULL, 10) == 2;
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
                           struct ppi_probe *out)
{
	int error = ask_nothing(kernel, ~0ul);

	if (error == EINVAL)
		return true;
	if (error == ENOSYS && !has_filter(kernel) &&
	    perf_proc_number(kernel, "/proc/sys/kernel/perf_event_paranoid",
	                     -100) == -100)
		refuse(out, PORTPROF_E_UNSUPPORTED, error,
		       "this kernel was built without perf events "
		       "(CONFIG_PERF_EVENTS)");
	else
		refuse(out, PORTPROF_E_DENIED, error, FILTER_WORDS);
	return false;
}

/* Debian's and Ubuntu's kernels can lock everybody out before they look. */
static bool is_unlocked(const struct perf_kernel *kernel,
                        struct ppi_probe *out)
{
	int error = ask_nothing(kernel, 0);
	char reason[400], rights[320];

	if (error == E2BIG)
		return true;
	if (error == EACCES || error == EPERM) {
		snprintf(reason, sizeof(reason), "perf events are locked for "
		         "ordinary users: %s",
		         perf_say_paranoid(kernel, 2, rights, sizeof(rights)));
		refuse(out, PORTPROF_E_DENIED, error, reason);
	} else {
		snprintf(reason, sizeof(reason), "perf_event_open answers in a "
		         "way no kernel does: %s", strerror(error));
		refuse(out, PORTPROF_E_SYSTEM, error, reason);
	}
	return false;
}

static bool is_let_through(const struct perf_kernel *kernel,
                           struct ppi_probe *out)
{
	int error = ask(kernel, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, true);
	struct ppi_diag why;

	if (error == 0)
		return true;
	if (error == EACCES || error == EPERM) {
		refuse(out, PORTPROF_E_DENIED, error, "even an event that "
		       "counts nothing is refused: a security module (SELinux "
		       "class perf_event, or lockdown) forbids it; ask the "
		       "administrator for perf_event rights");
		return false;
	}
	perf_refuse_open(kernel, NULL, error, &why);
	refuse(out, why.status, error, why.words);
	return false;
}

static void append(struct ppi_probe *out, const char *words)
{
	size_t used = strlen(out->reason);

	snprintf(out->reason + used, sizeof(out->reason) - used, "%s%s",
	         used ? "; " : "", words);
}

static void look_for_system(const struct perf_kernel *kernel,
                            struct ppi_probe *out)
{
	struct perf_event_attr attr;
	char rights[320], words[400];
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	fd = perf_open_attr(kernel, &attr, -1, 0, -1);
	if (fd >= 0)
		kernel->close_event(kernel->self, fd);
	/* CPU 0 may be offline; others are not tried */
	if (fd != -EACCES && fd != -EPERM)
		return;
	out->caps &= ~(uint64_t)PORTPROF_CAP_SYSTEM;
	snprintf(words, sizeof(words), "not the whole system: %s",
	         perf_say_paranoid(kernel, 0, rights, sizeof(rights)));
	append(out, words);
}

static void look_for_limits(const struct perf_kernel *kernel,
                            struct ppi_probe *out)
{
	char rights[320], words[400];
	int error = ask(kernel, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK,
	                false);

	if (error) {
		out->caps &= ~(uint64_t)PORTPROF_CAP_KERNEL;
		snprintf(words, sizeof(words), "no samples in kernel mode: %s",
		         perf_say_paranoid(kernel, 1, rights, sizeof(rights)));
		append(out, words);
	}
	error = ask(kernel, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true);
	if (error == 0)
		return;
	out->caps &= ~(uint64_t)PORTPROF_CAP_HARDWARE;
	if (error == ENOENT)
		append(out, "no PMU here (a virtual machine?): hardware "
		       "events cannot be measured");
	else if (error == EOPNOTSUPP)
		append(out, "the PMU has no overflow interrupt: hardware "
		       "events cannot be sampled");
	else if (error == EBUSY)
		append(out, "the PMU is in use by others (kernel.nmi_watchdog?)");
	else
		append(out, "hardware events are refused");
}

void perf_probe_ladder(const struct perf_kernel *kernel,
                       struct ppi_probe *out)
{
	uint32_t features;

	out->reason[0] = '\0';
	if (!reaches_kernel(kernel, out) || !is_unlocked(kernel, out) ||
	    !is_let_through(kernel, out))
		return;
	out->is_usable = true;
	out->status = PORTPROF_OK;
	out->os_errno = 0;
	look_for_limits(kernel, out);
	look_for_system(kernel, out);
	features = perf_features(kernel);
	if (!(features & PERF_HAS_LOST))
		out->caps &= ~(uint64_t)PORTPROF_CAP_LOST_EXACT;
	if (!(features & PERF_HAS_CLOCKID))
		out->caps &= ~(uint64_t)PORTPROF_CAP_TIME;
}
