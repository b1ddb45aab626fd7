/* SPDX-License-Identifier: MIT */
/* The real host behind portprof doctor: questions without conclusions. */
#include "config.h"

#include "tools/doctor/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__linux__) && defined(HAVE_LINUX_PERF_EVENT_H)
#include <glob.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { HAS_PERF = 1 };

static long open_event(struct perf_event_attr *attr, pid_t pid, int cpu,
                       unsigned long flags)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, -1, flags);
}

/* Open, and map if `bytes`; undone at once. */
static int try_event(struct perf_event_attr *attr, pid_t pid, int cpu,
                     size_t bytes)
{
	void *ring = MAP_FAILED;
	int error = 0;
	long fd;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	attr->exclude_hv = 1;
	fd = open_event(attr, pid, cpu, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno;
	if (bytes) {
		ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		            (int)fd, 0);
		error = ring == MAP_FAILED ? errno : 0;
	}
	if (ring != MAP_FAILED)
		munmap(ring, bytes);
	close((int)fd);
	return error;
}

static void set_cycles(struct perf_event_attr *attr, uint64_t period)
{
	attr->type = PERF_TYPE_HARDWARE;
	attr->config = PERF_COUNT_HW_CPU_CYCLES;
	attr->sample_period = period;
	attr->exclude_kernel = 1;
}

static void set_software(struct perf_event_attr *attr, uint64_t config,
                         bool is_user_only)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = config;
	attr->exclude_kernel = is_user_only;
}

/* Kernels that know no precision for their PMU take every level all the same
 * (drivers/perf/arm_pmu.c looks at none). */
static bool is_precision_told(void)
{
	glob_t found;
	int error = glob("/sys/bus/event_source/devices/*/caps/max_precise",
	                 0, NULL, &found);

	if (error == 0)
		globfree(&found);
	return error == 0;
}

static int ask_hardware(enum ppi_ask what)
{
	struct perf_event_attr attr = { .type = 0 };

	if (what == PPI_ASK_PRECISE && !is_precision_told())
		return EOPNOTSUPP;
	set_cycles(&attr, what == PPI_ASK_CYCLES ? 0 : 1000000);
	attr.precise_ip = what == PPI_ASK_PRECISE;
	if (what == PPI_ASK_BRANCHES) {
		attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
		attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER |
		                          PERF_SAMPLE_BRANCH_ANY;
	}
	return try_event(&attr, 0, -1, 0);
}

static int ask(void *self, enum ppi_ask what, uint64_t number)
{
	struct perf_event_attr attr = { .type = 0 };

	(void)self;
	switch (what) {
	case PPI_ASK_FLAGS:
	case PPI_ASK_ATTR:
		/* shorter than the first ever published: none takes it */
		attr.size = 1;
		return open_event(&attr, 0, -1, what == PPI_ASK_FLAGS ? ~0ul
		                                                      : 0) < 0
		               ? errno
		               : 0;
	case PPI_ASK_DUMMY:
		set_software(&attr, PERF_COUNT_SW_DUMMY, true);
		break;
	case PPI_ASK_USER_TIME:
	case PPI_ASK_KERNEL_TIME:
		set_software(&attr, PERF_COUNT_SW_TASK_CLOCK,
		             what == PPI_ASK_USER_TIME);
		attr.sample_period = 1000000;
		break;
	case PPI_ASK_TRACEPOINT:
		attr.type = PERF_TYPE_TRACEPOINT;
		attr.config = number;
		break;
	case PPI_ASK_SYSTEM:
		set_software(&attr, PERF_COUNT_SW_CPU_CLOCK, true);
		return try_event(&attr, -1, 0, 0);
	case PPI_ASK_RING:
		set_software(&attr, PERF_COUNT_SW_DUMMY, true);
		return try_event(&attr, 0, -1,
		                 number + (size_t)sysconf(_SC_PAGESIZE));
	default:
		return ask_hardware(what);
	}
	return try_event(&attr, 0, -1, 0);
}
#else
enum { HAS_PERF = 0 };

static int ask(void *self, enum ppi_ask what, uint64_t number)
{
	(void)self;
	(void)what;
	(void)number;
	return ENOSYS;
}
#endif

static uint64_t limit_of(void *self, enum ppi_limit limit, uint64_t *hard)
{
	struct rlimit now = { RLIM_INFINITY, RLIM_INFINITY };
	int which = -1;

	(void)self;
	*hard = UINT64_MAX;
	if (limit == PPI_LIMIT_FILES)
		which = RLIMIT_NOFILE;
#ifdef RLIMIT_MEMLOCK
	if (limit == PPI_LIMIT_LOCKED)
		which = RLIMIT_MEMLOCK;
#endif
#ifdef RLIMIT_SIGPENDING
	if (limit == PPI_LIMIT_TIMERS)
		which = RLIMIT_SIGPENDING;
#endif
	if (which < 0 || getrlimit(which, &now) != 0)
		return UINT64_MAX;
	*hard = now.rlim_max == RLIM_INFINITY ? UINT64_MAX : now.rlim_max;
	return now.rlim_cur == RLIM_INFINITY ? UINT64_MAX : now.rlim_cur;
}

static const char *environment(void *self, const char *name)
{
	(void)self;
	return getenv(name);
}

static portprof_status backend(void *self, size_t index,
                               portprof_backend_info *info)
{
	(void)self;
	return portprof_backend_info_get(index, info);
}

static portprof_status explain(void *self, const char *event,
                               const char *name, portprof_event_info *info,
                               portprof_diag *why)
{
	portprof_status status = portprof_event_explain(event, name, info);

	(void)self;
	if (status)
		*why = *portprof_last_diag();
	return status;
}

static void pmus(void *self, portprof_pmu_fn take, void *context)
{
	(void)self;
	portprof_catalogue_pmus("auto", take, context);
}

const struct ppi_doctor_host ppi_doctor_host_real = {
	.root = "",
	.has_perf = HAS_PERF,
	.cpus = 1,
	.program = "portprof",
	.ask = ask,
	.limit = limit_of,
	.environment = environment,
	.backend = backend,
	.explain = explain,
	.pmus = pmus,
};

void ppi_doctor_host_fill(struct ppi_doctor_host *host)
{
	static char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*host = ppi_doctor_host_real;
	if (cpus > 0)
		host->cpus = (unsigned)cpus;
	if (length > 0) {
		path[length] = '\0';
		host->program = path;
	}
}
