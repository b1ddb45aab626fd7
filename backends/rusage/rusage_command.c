/* SPDX-License-Identifier: MIT */
/* What a child has used before it becomes the command that is measured. */
#include "backends/rusage/rusage_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 2048, PATH_BYTES = 64 };

static bool read_proc(const struct rusage_kernel *kernel, int64_t pid,
                      const char *name, char *text)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/%lld/%s", (long long)pid, name);
	return kernel->read_file(kernel->self, path, text, TEXT_BYTES) == 0;
}

/* Fields 10 and 12 of proc_pid_stat(5), after the name in brackets. */
static void find_faults(const char *text, struct rusage_usage *early)
{
	unsigned long long minor, major;
	const char *at = strrchr(text, ')');

	if (at && sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %llu %*u %llu",
	                 &minor, &major) == 2) {
		early->minor_faults = minor;
		early->major_faults = major;
	}
}

/* The number in a line of proc_pid_status(5) that begins so; 0: none. */
static uint64_t find_line(const char *text, const char *begin)
{
	const char *at = strstr(text, begin);
	unsigned long long number;

	if (!at || sscanf(at + strlen(begin), "%llu", &number) != 1)
		return 0;
	return number;
}

void ppi_rusage_before_exec(const struct rusage_kernel *kernel, int64_t pid,
                            struct rusage_usage *early)
{
	char text[TEXT_BYTES];
	unsigned long long cpu_ns;

	memset(early, 0, sizeof(*early));
	if (read_proc(kernel, pid, "stat", text))
		find_faults(text, early);
	/* linux/Documentation/scheduler/sched-stats.rst, /proc/PID/schedstat:
	 * the first is the time on a CPU, which a fork spends in the kernel */
	if (read_proc(kernel, pid, "schedstat", text) &&
	    sscanf(text, "%llu", &cpu_ns) == 1)
		early->system_ns = cpu_ns;
	if (read_proc(kernel, pid, "status", text)) {
		early->voluntary = find_line(text,
		                             "\nvoluntary_ctxt_switches:");
		early->involuntary = find_line(
			text, "\nnonvoluntary_ctxt_switches:");
	}
}

bool ppi_rusage_was_waited_for(const struct rusage_kernel *kernel, int64_t pid)
{
	return kernel->exists(kernel->self, pid) != 0 && errno == ESRCH;
}

static uint64_t less(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

struct rusage_usage ppi_rusage_without(const struct rusage_usage *all,
                                       const struct rusage_usage *early)
{
	uint64_t cpu_ns = less(all->user_ns + all->system_ns,
	                       early->user_ns + early->system_ns);
	uint64_t system_ns = less(all->system_ns, early->system_ns);

	return (struct rusage_usage){
		/* together right, whatever ticks made of the parts */
		.user_ns = less(cpu_ns, system_ns),
		.system_ns = system_ns < cpu_ns ? system_ns : cpu_ns,
		.minor_faults = less(all->minor_faults, early->minor_faults),
		.major_faults = less(all->major_faults, early->major_faults),
		.voluntary = less(all->voluntary, early->voluntary),
		.involuntary = less(all->involuntary, early->involuntary),
	};
}
