/* SPDX-License-Identifier: MIT */
/*
 * From resolved events to perf_event_attr; opening one; what this kernel knows and
 * permits, found by trying.
 */
#include "backends/perf/kernel/perf_attr.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* ---- may this process open such an event? ---- */

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

/* ---- attributes: of samples, of counters ---- */

/* Nobody polls: the helper drains by time. A wakeup costs an interrupt, so
 * it is put as far away as the kernel allows (it cuts this to the ring). */
enum { NEVER_WAKE = 1 << 30 };

void ppi_perf_attr_set_flag(struct perf_event_attr *attr, unsigned bit)
{
	const size_t at = offsetof(struct perf_event_attr, read_format) + 8;
	const uint16_t probe = 1;
	uint64_t flags;

	/* The kernel declares bit fields: they fill a word from its lowest
	 * bit on little-endian machines, from its highest on others. */
	memcpy(&flags, (char *)attr + at, sizeof(flags));
	flags |= *(const unsigned char *)&probe ? UINT64_C(1) << bit
	                                        : UINT64_C(1) << (63 - bit);
	memcpy((char *)attr + at, &flags, sizeof(flags));
}

static void set_exclusions(const struct ppi_event *event,
                           struct perf_event_attr *attr)
{
	const struct perf_asked *asked = &perf_own(event)->asked;

	attr->exclude_user = !event->counts_user;
	attr->exclude_kernel = !event->counts_kernel;
	attr->exclude_hv = !event->counts_hypervisor;
	attr->exclude_host = asked->exclude_host;
	attr->exclude_guest = asked->exclude_guest;
}

static void set_event(const struct ppi_event *event,
                      struct perf_event_attr *attr)
{
	const struct perf_own *own = perf_own(event);

	attr->type = own->type;
	attr->config = own->config[0];
	attr->config1 = own->config[1];
	attr->config2 = own->config[2];
	attr->bp_type = own->bp_type;
	if (own->has_path)
		attr->config1 = (uint64_t)(uintptr_t)event->request.name;
	attr->precise_ip = own->precise & 3;
	set_exclusions(event, attr);
}

static void set_inheritance(const struct perf_session_kind *kind,
                            struct perf_event_attr *attr)
{
	attr->inherit = kind->inherits;
	if (kind->inherits && !kind->follows_children &&
	    kind->features & PERF_HAS_INHERIT_THREAD)
		ppi_perf_attr_set_flag(attr, PERF_FLAG_INHERIT_THREAD);
	attr->enable_on_exec = kind->enables_on_exec;
	/* EINVAL together with enable_on_exec. */
	if (kind->removes_on_exec && !kind->enables_on_exec &&
	    kind->features & PERF_HAS_REMOVE_ON_EXEC)
		ppi_perf_attr_set_flag(attr, PERF_FLAG_REMOVE_ON_EXEC);
}

void ppi_perf_attr_end_with_program(const struct perf_session_kind *kind,
                                    const struct ppi_event *event,
                                    struct perf_event_attr *attr)
{
	if (perf_own(event)->is_of_program && !attr->enable_on_exec &&
	    kind->features & PERF_HAS_REMOVE_ON_EXEC)
		ppi_perf_attr_set_flag(attr, PERF_FLAG_REMOVE_ON_EXEC);
}

static void set_clock(const struct perf_session_kind *kind,
                      struct perf_event_attr *attr)
{
	if (kind->features & PERF_HAS_CLOCKID) {
		attr->use_clockid = 1;
		attr->clockid = CLOCK_MONOTONIC;
	}
}

/* The most precise was wished for of what is sampled; hardware refuses it of what
 * only counts (arch/x86/events/core.c, x86_pmu_hw_config). */
static void settle_precision(const struct ppi_event *event,
                             struct perf_event_attr *attr)
{
	if (!perf_is_sampled(event) &&
	    perf_own(event)->asked.wants_max_precision)
		attr->precise_ip = 0;
}

/* All events that write to one ring must have the same clock and shape. */
static void set_shape(const struct perf_session_kind *kind,
                      struct perf_event_attr *attr)
{
	attr->sample_type = kind->shape.sample_type;
	attr->read_format = kind->shape.read_format;
	attr->sample_id_all = 1;
	attr->watermark = 1;
	attr->wakeup_watermark = NEVER_WAKE;
	set_clock(kind, attr);
	attr->sample_regs_user = kind->shape.user_mask;
	attr->sample_stack_user = kind->shape.stack_bytes;
	/* the modes are the event's own: those it excludes are left out */
	attr->branch_sample_type = kind->shape.branch_filter;
	if (kind->shape.sample_type & PERF_SAMPLE_CALLCHAIN)
		attr->sample_max_stack = (uint16_t)kind->shape.chain_depth;
}

static void set_rate(const struct ppi_event *event,
                     struct perf_event_attr *attr)
{
	if (event->rate_hz) {
		attr->freq = 1;
		attr->sample_freq = event->rate_hz;
	} else {
		attr->sample_period = event->period;
	}
}

static void carry(struct perf_event_attr *attr)
{
	attr->task = 1;
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
}

void ppi_perf_attr_sample(const struct perf_session_kind *kind,
                          const struct ppi_event *event, bool is_carrier,
                          struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	set_event(event, attr);
	set_shape(kind, attr);
	set_inheritance(kind, attr);
	attr->disabled = 1;
	attr->pinned = perf_own(event)->asked.pinned;
	attr->exclusive = perf_own(event)->asked.exclusive;
	attr->exclude_callchain_kernel = !event->counts_kernel;
	set_rate(event, attr);
	settle_precision(event, attr);
	if (is_carrier)
		carry(attr);
}

void ppi_perf_attr_leave(const struct perf_session_kind *kind,
                         const struct ppi_event *event, uint64_t switches,
                         struct perf_event_attr *attr)
{
	ppi_perf_attr_sample(kind, event, false, attr);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr->freq = 0;
	attr->sample_period = switches;
}

/* An event of the kernel's own, which needs no right, and is off. */
static void set_software(uint64_t config, struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = config;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->disabled = 1;
}

/* Counts nothing, but writes into a ring of this shape. */
static void set_dummy(const struct perf_session_kind *kind,
                      struct perf_event_attr *attr)
{
	set_software(PERF_COUNT_SW_DUMMY, attr);
	set_shape(kind, attr);
	/* It never samples: what its records end in is all it needs. A chain or
	 * registers would be refused, and the kernel does more at each switch
	 * of threads whose events read their count. */
	attr->sample_type &= PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	                     PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	attr->read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
	attr->branch_sample_type = 0;
	attr->sample_regs_user = 0;
	attr->sample_stack_user = 0;
	attr->sample_max_stack = 0;
}

void ppi_perf_attr_ring_owner(const struct perf_session_kind *kind,
                              struct perf_event_attr *attr)
{
	set_dummy(kind, attr);
}

void ppi_perf_attr_carrier(const struct perf_session_kind *kind,
                           bool enables_on_exec, struct perf_event_attr *attr)
{
	set_dummy(kind, attr);
	set_inheritance(kind, attr);
	attr->enable_on_exec = enables_on_exec;
	carry(attr);
}

/*
 * Two processes that inherited the same events swap them when one follows the
 * other on a CPU (kernel/events/core.c, perf_event_context_sched_out), but a
 * probe stays where it was put: the first of them to end takes it out of the
 * other, whose hits are lost from then on (kernel/trace/trace_uprobe.c,
 * uprobe_perf_close; seen on 6.18). Events whose samples read their count are not
 * swapped (nr_no_switch_fast), be there samples or not.
 */
static bool may_swap_places(const struct perf_session_kind *kind,
                            const struct ppi_event *event)
{
	return kind->inherits && perf_own(event)->is_probe &&
	       kind->features & PERF_HAS_INHERIT_READ;
}

void ppi_perf_attr_count(const struct perf_session_kind *kind,
                         const struct ppi_event *event, bool is_leader,
                         struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	set_event(event, attr);
	attr->read_format = kind->shape.read_format;
	set_inheritance(kind, attr);
	/* Members follow their leader. */
	attr->disabled = is_leader;
	if (may_swap_places(kind, event))
		attr->sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	if (!is_leader)
		attr->enable_on_exec = 0;
	attr->pinned = is_leader && perf_own(event)->asked.pinned;
	attr->exclusive = is_leader && perf_own(event)->asked.exclusive;
}

void ppi_perf_attr_member(const struct perf_session_kind *kind,
                          const struct ppi_event *event,
                          struct perf_event_attr *attr)
{
	ppi_perf_attr_count(kind, event, false, attr);
	settle_precision(event, attr);
	if (perf_is_sampled(event)) {
		set_shape(kind, attr);
		attr->exclude_callchain_kernel = !event->counts_kernel;
		set_rate(event, attr);
		return;
	}
	/* what it reads alone is its own */
	attr->read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
	/* kernel/events/core.c, perf_event_open: a group has one clock */
	set_clock(kind, attr);
}

void ppi_perf_attr_trial(const struct ppi_event *event,
                         struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	set_event(event, attr);
	attr->disabled = 1;
	set_rate(event, attr);
}

int ppi_perf_set_filter(const struct perf_kernel *kernel,
                        const struct ppi_event *event, int fd)
{
	const struct perf_own *own = perf_own(event);
	char filter[PPI_EVENT_TEXT];

	if (!own->filter_bytes)
		return 0;
	memcpy(filter, event->request.text + own->filter_at,
	       own->filter_bytes);
	filter[own->filter_bytes] = '\0';
	return kernel->control(kernel->self, fd, PERF_EVENT_IOC_SET_FILTER,
	                       filter);
}

static bool is_zero(const void *bytes, size_t count)
{
	const unsigned char *at = bytes;

	while (count && !at[count - 1])
		count--;
	return count == 0;
}

int ppi_perf_open_attr(const struct perf_kernel *kernel,
                       struct perf_event_attr *attr, int64_t pid, int cpu,
                       int group_fd)
{
	return ppi_perf_open_attr_with(kernel, attr, pid, cpu, group_fd, 0);
}

int ppi_perf_open_attr_with(const struct perf_kernel *kernel,
                            struct perf_event_attr *attr, int64_t pid, int cpu,
                            int group_fd, unsigned long flags)
{
	int fd;

	flags |= PERF_FLAG_FD_CLOEXEC;
	attr->size = PERF_ATTR_BYTES;
	fd = kernel->open_event(kernel->self, attr, pid, cpu, group_fd, flags);
	/* An older kernel writes the size it knows into the attr. */
	if (fd == -E2BIG && attr->size >= PERF_ATTR_SIZE_VER0 &&
	    attr->size < PERF_ATTR_BYTES &&
	    is_zero((char *)attr + attr->size, PERF_ATTR_BYTES - attr->size))
		fd = kernel->open_event(kernel->self, attr, pid, cpu, group_fd,
		                        flags);
	return fd;
}

/* ---- what this kernel knows ---- */

static void trial_of(uint32_t feature, const struct perf_kernel *kernel,
                     struct perf_event_attr *attr)
{
	set_software(PERF_COUNT_SW_TASK_CLOCK, attr);
	attr->sample_period = 1000000;
	switch (feature) {
	case PERF_HAS_INHERIT_READ:
		attr->inherit = 1;
		attr->sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
		break;
	case PERF_HAS_LOST:
		attr->read_format = PERF_READ_LOST;
		break;
	case PERF_HAS_INHERIT_THREAD:
		attr->inherit = 1;
		ppi_perf_attr_set_flag(attr, PERF_FLAG_INHERIT_THREAD);
		break;
	case PERF_HAS_REMOVE_ON_EXEC:
		ppi_perf_attr_set_flag(attr, PERF_FLAG_REMOVE_ON_EXEC);
		break;
	case PERF_HAS_CLOCKID:
		attr->use_clockid = 1;
		attr->clockid = CLOCK_MONOTONIC;
		break;
	case PERF_HAS_INHERIT_GROUP:
		attr->inherit = 1;
		attr->sample_period = 0;
		attr->read_format = PERF_FORMAT_GROUP;
		break;
	case PERF_HAS_USER_IP:
		attr->sample_type = PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = kernel->user_ip_mask;
		break;
	default:
		break;
	}
}

/* 1 known, 0 not known, -1 cannot tell now. */
static int try_feature(const struct perf_kernel *kernel, uint32_t feature)
{
	struct perf_event_attr attr;
	int fd;

	if (feature == PERF_HAS_USER_IP && !kernel->user_ip_mask)
		return 0;
	trial_of(feature, kernel, &attr);
	fd = ppi_perf_open_attr(kernel, &attr, 0, -1, -1);
	if (fd >= 0) {
		kernel->close_event(kernel->self, fd, PERF_FRESH);
		return 1;
	}
	return fd == -EINVAL || fd == -E2BIG || fd == -EOPNOTSUPP ||
	       fd == -EACCES ? 0 : -1;
}

uint32_t ppi_perf_features(const struct perf_kernel *kernel)
{
	uint32_t found = atomic_load(kernel->features);
	bool is_sure = true;

	if (found & PERF_FEATURES_KNOWN)
		return found;
	found = 0;
	if (try_feature(kernel, 0) != 1)
		return 0; /* nothing opens: the caller's open says why */
	for (unsigned bit = 0; 1u << bit <= PERF_HAS_USER_IP; bit++) {
		int answer = try_feature(kernel, 1u << bit);

		if (answer > 0)
			found |= 1u << bit;
		is_sure = is_sure && answer >= 0;
	}
	if (is_sure) {
		found |= PERF_FEATURES_KNOWN;
		atomic_store(kernel->features, found);
	}
	return found;
}
