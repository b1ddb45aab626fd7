/* SPDX-License-Identifier: MIT */
/* May this process open such an event? Opens it and closes it again. */
#include "backends/perf/probe/perf_try.h"

#include "backends/perf/events/perf_attr.h"

#include <string.h>

int ppi_perf_try_attr(const struct perf_kernel *kernel,
                      struct perf_event_attr *attr, int64_t pid, int cpu,
                      size_t ring_bytes)
{
	void *ring;
	int error = 0;
	int fd;

	attr->disabled = 1;
	attr->exclude_hv = 1;
	fd = ppi_perf_open_attr(kernel, attr, pid, cpu, -1);
	if (fd < 0)
		return -fd;
	if (ring_bytes) {
		error = -kernel->map(kernel->self, fd, ring_bytes, &ring);
		if (!error)
			kernel->unmap(kernel->self, ring, ring_bytes);
	}
	kernel->close_event(kernel->self, fd, PERF_FRESH);
	return error;
}

int ppi_perf_try_type(const struct perf_kernel *kernel, uint32_t type,
                      uint64_t config, bool is_user_only, int64_t pid, int cpu)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = type;
	attr.config = config;
	attr.exclude_kernel = is_user_only;
	if (type == PERF_TYPE_HARDWARE)
		attr.sample_period = 1000000;
	return ppi_perf_try_attr(kernel, &attr, pid, cpu, 0);
}

int ppi_perf_try_dummy(const struct perf_kernel *kernel, int64_t pid, int cpu)
{
	return ppi_perf_try_type(kernel, PERF_TYPE_SOFTWARE,
	                         PERF_COUNT_SW_DUMMY, true, pid, cpu);
}
