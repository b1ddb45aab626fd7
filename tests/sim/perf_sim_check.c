/* SPDX-License-Identifier: MIT */
/* What the simulated kernel refuses, and with which errno. */
#include "tests/sim/perf_sim_state.h"

#include "backends/perf/kernel/perf_attr.h"

#include <errno.h>
#include <string.h>

bool sim_attr_flag(const struct perf_event_attr *attr, unsigned bit)
{
	struct perf_event_attr other = *attr;

	ppi_perf_attr_set_flag(&other, bit);
	return memcmp(&other, attr, sizeof(other)) == 0;
}

bool sim_is_hardware(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE ||
	       attr->type == PERF_TYPE_HW_CACHE ||
	       attr->type == PERF_TYPE_RAW;
}

enum { BIG = 10, SMALL = 11 };

/* Generic events say in the upper half of config which PMU they are for; 0 is
 * the first that comes ([v6.18 core.c perf_init_event]). */
static uint32_t pmu_of(const struct perf_event_attr *attr)
{
	uint32_t type = (uint32_t)(attr->config >> 32);

	if (attr->type != PERF_TYPE_HARDWARE &&
	    attr->type != PERF_TYPE_HW_CACHE)
		return BIG;
	return type ? type : BIG;
}

bool sim_is_of_cpu(const struct perf_event_attr *attr, unsigned cpu)
{
	if (!perf_sim_machine.is_hybrid || !sim_is_hardware(attr))
		return true;
	return (pmu_of(attr) == BIG) == (cpu < perf_sim_machine.cpus / 2);
}

static bool is_missing(uint32_t feature)
{
	return perf_sim_machine.lacks_features ||
	       perf_sim_machine.missing & feature;
}

/* [v6.18 kernel/events/core.c perf_copy_attr]: bits and values that this
 * kernel does not know are EINVAL. */
static int check_known(const struct perf_event_attr *attr)
{
	bool is_inherited_read = attr->inherit &&
	                         attr->sample_type & PERF_SAMPLE_READ;

	/* attr.build_id: readers of other tools abort of it, see
	 * sim_write_mapping */
	if (sim_attr_flag(attr, 34))
		sim.abuses++;
	if ((sim_attr_flag(attr, PERF_FLAG_INHERIT_THREAD) &&
	     is_missing(PERF_HAS_INHERIT_THREAD)) ||
	    (sim_attr_flag(attr, PERF_FLAG_REMOVE_ON_EXEC) &&
	     is_missing(PERF_HAS_REMOVE_ON_EXEC)) ||
	    (attr->read_format & PERF_READ_LOST &&
	     is_missing(PERF_HAS_LOST)) ||
	    (attr->use_clockid && is_missing(PERF_HAS_CLOCKID)) ||
	    (is_inherited_read && is_missing(PERF_HAS_INHERIT_READ)) ||
	    (attr->inherit && attr->read_format & PERF_FORMAT_GROUP &&
	     is_missing(PERF_HAS_INHERIT_GROUP)) ||
	    (attr->sample_type & PERF_SAMPLE_REGS_USER &&
	     is_missing(PERF_HAS_USER_IP)))
		return -EINVAL;
	for (unsigned bit = 37; bit < 64; bit++)
		if (sim_attr_flag(attr, bit))
			return -EINVAL; /* 37: sigtrap, not simulated */
	return 0;
}

/* Combinations, each [run]. */
static int check_combinations(const struct perf_event_attr *attr)
{
	bool has_thread = sim_attr_flag(attr, PERF_FLAG_INHERIT_THREAD);
	bool is_removed = sim_attr_flag(attr, PERF_FLAG_REMOVE_ON_EXEC);

	if (has_thread && !attr->inherit)
		return -EINVAL;
	if (is_removed && attr->enable_on_exec)
		return -EINVAL;
	/* Inherited reads need to say whose they are. */
	if (attr->inherit && attr->sample_type & PERF_SAMPLE_READ &&
	    !(attr->sample_type & PERF_SAMPLE_TID))
		return -EINVAL;
	if (!attr->freq && attr->sample_period >> 63)
		return -EINVAL;
	if (attr->freq && attr->sample_freq > perf_sim_machine.rate_limit)
		return -EINVAL;
	if (attr->sample_type & PERF_SAMPLE_REGS_USER &&
	    attr->sample_regs_user == 0)
		return -EINVAL;
	/* [v6.18 core.c perf_copy_attr] */
	if (attr->sample_type & PERF_SAMPLE_STACK_USER &&
	    (attr->sample_stack_user >= UINT16_MAX ||
	     attr->sample_stack_user % 8))
		return -EINVAL;
	return attr->sample_max_stack > 127 ? -EOVERFLOW : 0;
}

static int check_rights(const struct perf_event_attr *attr, int64_t pid,
                        int cpu)
{
	const struct sim_task *task = pid > 0 ? sim_task(pid) : NULL;

	/* [v6.18 core.c perf_check_permission] */
	if (task && task->pid == perf_sim_machine.foreign_pid)
		return -EACCES;
	if (perf_sim_machine.is_privileged)
		return 0;
	/* [v6.18 core.c perf_allow_cpu, perf_allow_kernel] */
	if (pid < 0 && cpu >= 0 && perf_sim_machine.paranoid > 0)
		return -EACCES;
	return !attr->exclude_kernel && perf_sim_machine.paranoid > 1
		? -EACCES : 0;
}

static int check_type(const struct perf_event_attr *attr, int64_t pid)
{
	/* [v6.18 core.c perf_copy_attr] */
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
	    !(attr->branch_sample_type & ~(uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL))
		return -EINVAL;
	if (attr->sample_type & PERF_TELLS_WEIGHTS &&
	    attr->sample_type & PERF_SAMPLE_WEIGHT)
		return -EINVAL;
	/* [v6.18 core.c perf_allow_kernel] */
	if (attr->sample_type & PERF_TELLS_PHYSICAL &&
	    perf_sim_machine.paranoid > 1)
		return -EACCES;
	/* [run]: no PMU, no branches */
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
	    !sim_is_hardware(attr))
		return -EOPNOTSUPP;
	if (sim_is_hardware(attr) && perf_sim_machine.is_hybrid &&
	    pmu_of(attr) != BIG &&
	    (pmu_of(attr) != SMALL ||
	     (perf_sim_machine.lacks_instructions &&
	      (uint32_t)attr->config == PERF_COUNT_HW_INSTRUCTIONS)))
		return -ENOENT;
	/* [v6.18 arch/x86/events/core.c x86_pmu_hw_config] */
	if (sim_is_hardware(attr) && perf_sim_machine.counters &&
	    attr->precise_ip > perf_sim_machine.precise_max)
		return -EOPNOTSUPP;
	/* [v6.18 arch/x86/events/rapl.c rapl_pmu_event_init]: for CPUs, of
	 * all modes (PERF_PMU_CAP_NO_EXCLUDE), not sampled */
	if (attr->type == PERF_SIM_PACKAGE)
		return pid >= 0 || attr->sample_period || attr->exclude_user ||
		       attr->exclude_kernel || attr->exclude_hv ||
		       attr->exclude_guest || attr->exclude_host ? -EINVAL : 0;
	if (sim_is_hardware(attr))
		return perf_sim_machine.counters ? 0 : -ENOENT;
	if (attr->type == PERF_SIM_UPROBE)
		return sim_check_probe(attr);
	/* [v6.18 kernel/trace/trace_event_perf.c perf_trace_event_perm] */
	if (attr->type == PERF_TYPE_TRACEPOINT && sim_check_probe(attr))
		return sim_check_probe(attr);
	if (attr->type == PERF_TYPE_TRACEPOINT)
		return attr->sample_type & PERF_SAMPLE_RAW &&
		       !perf_sim_machine.is_privileged &&
		       perf_sim_machine.paranoid > -1 ? -EPERM : 0;
	return attr->type == PERF_TYPE_SOFTWARE &&
	       attr->config <= PERF_COUNT_SW_BPF_OUTPUT ? 0 : -ENOENT;
}

int sim_check_attr(struct perf_event_attr *attr, int64_t pid, int cpu,
                   unsigned long flags)
{
	int error;

	if (perf_sim_machine.syscall_error)
		return -perf_sim_machine.syscall_error;
	/* [v6.18 core.c SYSCALL_DEFINE5(perf_event_open)]: flags first, then
	 * the attr is copied. */
	if (flags & ~(unsigned long)(PERF_FLAG_FD_NO_GROUP |
	                             PERF_FLAG_FD_OUTPUT |
	                             PERF_FLAG_PID_CGROUP |
	                             PERF_FLAG_FD_CLOEXEC))
		return -EINVAL;
	/* Debian's and Ubuntu's patches: levels above upstream's. */
	if (!perf_sim_machine.is_privileged && perf_sim_machine.paranoid > 2)
		return -EACCES;
	if (attr->size < PERF_ATTR_SIZE_VER0)
		return -E2BIG;
	error = check_known(attr);
	error = error ? error : check_combinations(attr);
	error = error ? error : check_rights(attr, pid, cpu);
	if (error)
		return error;
	if ((pid < 0 && cpu < 0) || cpu >= (int)perf_sim_machine.cpus)
		return -EINVAL;
	return check_type(attr, pid);
}
