/* SPDX-License-Identifier: MIT */
/* CPU time that is charged to no process, read from /proc/stat. */
#include "config.h"

#include "tools/taken.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal. The last
 * three are what update_rq_clock_task() of Linux's kernel/sched/core.c leaves
 * out of a task's time. */
bool ppi_taken_ns(uint64_t *ns)
{
	FILE *file = fopen("/proc/stat", "re");
	uint64_t irq, softirq, steal;
	long ticks = sysconf(_SC_CLK_TCK);
	bool is_known;

	if (!file)
		return false;
	is_known = ticks > 0 &&
	           fscanf(file, "cpu %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
	                  " %" SCNu64, &irq, &softirq, &steal) == 3;
	fclose(file);
	if (is_known)
		*ns = (irq + softirq + steal) * (1000000000u / (uint64_t)ticks);
	return is_known;
}
