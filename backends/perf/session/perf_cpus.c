/* SPDX-License-Identifier: MIT */
/* The CPUs of a session: which, of which type, and how long they were idle. */
#include "backends/perf/session/perf_cpus.h"

#include "backends/perf/events/perf_sysfs.h"
#include "backends/perf/kernel/perf_proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which ---- */

portprof_status ppi_perf_find_cpus(struct ppi_backend_session *bs,
                                   struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const char *wanted = bs->plan->target.cpus;
	int error = ppi_perf_proc_cpus(perf_kernel_of(bs->kernel), &state->cpus,
	                               &state->cpu_count);

	if (error == -ENOMEM)
		return ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "list CPUs",
		                "out of memory");
	if (error < 0)
		return ppi_fail(why, PORTPROF_E_SYSTEM, -error, "list CPUs",
		                "neither /sys/devices/system/cpu/online nor "
		                "/proc/stat can be read: mount /sys or /proc");
	if (wanted && !ppi_perf_proc_pick_cpus(wanted, state->cpus,
	                                       &state->cpu_count))
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "list CPUs",
		                "CPUs '%.64s' are not all online: "
		                "/sys/devices/system/cpu/online lists "
		                "them", wanted);
	return PORTPROF_OK;
}

/* ---- machines with several types of core ---- */

/*
 * Machines whose CPUs are of several types: one PMU a type, each with a file
 * `cpus` in sysfs. A generic event is an event of each of them, and says which
 * in the upper half of config (linux/perf_event.h, PERF_PMU_TYPE_SHIFT, 5.13);
 * without that the kernel takes one of them, and it counts nothing on the
 * others' CPUs.
 */
static bool read_core(const struct perf_kernel *kernel, const char *pmu,
                      struct perf_core *core)
{
	char type[32];

	if (strlen(pmu) >= sizeof(core->name) ||
	    !ppi_perf_sysfs_text(kernel, pmu, "cpus", "", core->cpus,
	                         sizeof(core->cpus)) ||
	    !ppi_perf_sysfs_text(kernel, pmu, "type", "", type, sizeof(type)))
		return false;
	core->type = (uint32_t)strtoul(type, NULL, 10);
	strcpy(core->name, pmu);
	return true;
}

/* Whether there is an event that a PMU counts, and not the kernel itself. */
static bool has_pmu_event(const struct ppi_backend_session *bs)
{
	for (size_t i = 0; i < bs->plan->event_count; i++) {
		uint32_t type = perf_own(&bs->plan->events[i])->type;

		if (type != PERF_TYPE_SOFTWARE && type != PERF_TYPE_TRACEPOINT)
			return true;
	}
	return false;
}

void ppi_perf_find_cores(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	char *pmus;

	if (!has_pmu_event(bs) || atomic_load(kernel->is_uniform))
		return;
	pmus = ppi_perf_sysfs_names(kernel, PERF_SYSFS_PMUS);
	for (const char *at = pmus;
	     at && *at && state->core_count < PERF_CORES_MAX;
	     at += strlen(at) + 1)
		state->core_count += read_core(
			kernel, at, &state->cores[state->core_count]);
	free(pmus);
	if (pmus && state->core_count < 2) { /* all alike, for ever */
		state->core_count = 0;
		atomic_store(kernel->is_uniform, 1);
	}
}

bool ppi_perf_is_by_core(const struct ppi_backend_session *bs, size_t event)
{
	const struct ppi_event *what = &bs->plan->events[event];

	return perf_state_of(bs)->core_count > 0 &&
	       (perf_own(what)->type == PERF_TYPE_HARDWARE ||
	        perf_own(what)->type == PERF_TYPE_HW_CACHE) &&
	       perf_own(what)->config[0] >> 32 == 0;
}

/* "0-3,8": as the kernel writes it. */
static bool has_cpu(const struct perf_core *core, int cpu)
{
	const char *at = core->cpus;

	while (*at) {
		char *end;
		long first = strtol(at, &end, 10), last = first;

		if (end == at)
			return false;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (cpu >= first && cpu <= last)
			return true;
		at = end + (*end == ',');
	}
	return false;
}

bool ppi_perf_is_on_core(const struct ppi_backend_session *bs, size_t event,
                         size_t core, int cpu)
{
	size_t count = perf_state_of(bs)->core_count;

	if (!ppi_perf_is_by_core(bs, event))
		return core == count;
	return core < count &&
	       (cpu < 0 || has_cpu(&perf_state_of(bs)->cores[core], cpu));
}

bool ppi_perf_is_missing(const struct ppi_backend_session *bs, size_t event,
                         portprof_status status, const struct ppi_diag *why)
{
	return status == PORTPROF_E_UNSUPPORTED &&
	       ppi_perf_is_by_core(bs, event) &&
	       (why->os_errno == ENOENT ||
	        (why->os_errno == EOPNOTSUPP && !bs->plan->sample_fields));
}

/* Of a CPU list, no CPU may be of that type. */
static bool is_wanted(const struct perf_state *state,
                      const struct perf_core *core)
{
	bool is_any = state->cpu_count == 0;

	for (size_t i = 0; i < state->cpu_count; i++)
		is_any |= has_cpu(core, state->cpus[i]);
	return is_any;
}

/* Say of an event which types of core it is open on. */
static void tell_cover(struct ppi_backend_session *bs, size_t event)
{
	const struct perf_state *state = perf_state_of(bs);
	bool is_covered[PERF_CORES_MAX] = { false };
	char on[128] = "", off[128] = "";

	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].event == event)
			is_covered[state->sources[i].core] = true;
	for (size_t i = 0; i < state->core_count; i++) {
		char *list = is_covered[i] ? on : off;
		size_t used = strlen(list);

		if (!is_wanted(state, &state->cores[i]))
			continue;
		snprintf(list + used, sizeof(on) - used, "%s%s (CPUs %s)",
		         used ? ", " : "", state->cores[i].name,
		         state->cores[i].cpus);
	}
	ppi_note(bs, "'%.64s' %s on %s%s%s",
	         bs->plan->events[event].request.text,
	         state->layout == PERF_NO_RINGS ? "counts" : "is sampled", on,
	         off[0] ? " only; there is no such event on " : "", off);
}

static bool has_others(const struct ppi_backend_session *bs)
{
	for (size_t i = 0; i < bs->plan->event_count; i++)
		if (!ppi_perf_is_by_core(bs, i) && !perf_is_refused(bs, i))
			return true;
	return false;
}

portprof_status ppi_perf_check_cores(struct ppi_backend_session *bs,
                                     struct ppi_diag *why)
{
	const struct perf_state *state = perf_state_of(bs);
	bool is_mixed = false;

	for (size_t event = 0; event < bs->plan->event_count; event++) {
		size_t i = 0;

		if (!ppi_perf_is_by_core(bs, event) ||
		    perf_is_refused(bs, event))
			continue;
		while (i < state->source_count &&
		       state->sources[i].event != event)
			i++;
		if (i < state->source_count) {
			tell_cover(bs, event);
			is_mixed |= has_others(bs);
			continue;
		}
		ppi_fail(bs->refusals ? &bs->refusals[event] : why,
		         PORTPROF_E_UNSUPPORTED, 0, "open event", "no core "
		         "type of this machine has the event '%s'",
		         bs->plan->events[event].request.text);
		if (!bs->refusals)
			return PORTPROF_E_UNSUPPORTED;
	}
	is_mixed &= state->layout == PERF_NO_RINGS;
	if (is_mixed)
		ppi_note(bs, "events of core types and others cannot be one "
		         "group: they are read one after the other");
	if (is_mixed)
		bs->caps &= ~(uint64_t)PORTPROF_CAP_GROUP;
	return PORTPROF_OK;
}

/* ---- idle time ---- */

/*
 * Idle time of CPUs. A CPU's clock events count on while nobody runs (whatever
 * exclude_idle says: kernel/events/core.c, cpu_clock_event_update), so for the
 * whole system what was charged is what they counted less what /proc/stat tells
 * as idle, waiting for devices, and stolen by a hypervisor.
 */

/* USER_HZ is 100 wherever perf events are: include/asm-generic/param.h. */
enum { TICK_NS = 10000000 };

/* The events of a control group count only while it runs: no idle time. */
static bool is_system(const struct ppi_backend_session *bs)
{
	return bs->plan->target.kind == PPI_TARGET_SYSTEM &&
	       !bs->plan->target.cgroup;
}

bool ppi_perf_has_idle(const struct ppi_backend_session *bs, size_t event)
{
	const struct ppi_event *what = &bs->plan->events[event];

	return (is_system(bs) || perf_state_of(bs)->is_by_cpu) &&
	       perf_own(what)->type == PERF_TYPE_SOFTWARE &&
	       what->unit == PORTPROF_UNIT_NANOSECONDS;
}

/* "cpuN user nice system idle iowait irq softirq steal": proc_stat(5). */
static bool parse_line(const char *line, int *cpu,
                       struct perf_idle_times *times)
{
	unsigned long long idle, waiting = 0, stolen = 0;

	/* the first is of all CPUs and has no number */
	if (strncmp(line, "cpu", 3) != 0 || line[3] < '0' || line[3] > '9' ||
	    sscanf(line, "cpu%d %*u %*u %*u %llu %llu %*u %*u %llu", cpu,
	           &idle, &waiting, &stolen) < 2)
		return false;
	times->idle_ns = (idle + waiting) * TICK_NS;
	times->stolen_ns = stolen * TICK_NS;
	return true;
}

static size_t index_of(const struct perf_state *state, int cpu)
{
	size_t i = 0;

	while (i < state->cpu_count && state->cpus[i] != cpu)
		i++;
	return i;
}

/* False unless all CPUs of the session are there. */
static bool take_lines(const struct perf_state *state, const char *text,
                       struct perf_idle_times *times)
{
	size_t found = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		struct perf_idle_times one;
		size_t i;
		int cpu;

		line += *line == '\n';
		if (!parse_line(line, &cpu, &one))
			continue;
		i = index_of(state, cpu);
		if (i == state->cpu_count)
			continue;
		times[i] = one;
		found++;
	}
	return found == state->cpu_count;
}

/* Of each CPU of the session, since the system's start. */
static bool read_times(const struct ppi_backend_session *bs,
                       struct perf_idle_times *times)
{
	enum { LINE = 160 };
	const struct perf_state *state = perf_state_of(bs);
	size_t room = state->cpu_count == 0 ? LINE :
		((size_t)state->cpus[state->cpu_count - 1] + 3) * LINE;
	char *text = malloc(room);
	bool is_known = text && ppi_perf_proc_text(perf_kernel_of(bs->kernel),
	                                           "/proc/stat", text, room);

	is_known = is_known && take_lines(state, text, times);
	free(text);
	return is_known;
}

/* Behind what each CPU began with. */
static struct perf_idle_times *sums_of(const struct perf_state *state)
{
	return state->idle.began + state->cpu_count;
}

/* Add to each CPU's sum what passed since it was begun. */
static bool add_since(const struct ppi_backend_session *bs,
                      struct perf_idle_times *sums)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct perf_idle_times *began = state->idle.began;
	struct perf_idle_times *now = calloc(state->cpu_count + 1,
	                                     sizeof(*now));
	bool is_good = now && read_times(bs, now);

	for (size_t i = 0; i < state->cpu_count && is_good; i++) {
		is_good = now[i].idle_ns >= began[i].idle_ns &&
		          now[i].stolen_ns >= began[i].stolen_ns;
		sums[i].idle_ns += now[i].idle_ns - began[i].idle_ns;
		sums[i].stolen_ns += now[i].stolen_ns - began[i].stolen_ns;
	}
	free(now);
	return is_good;
}

/* The first PID namespace has this inode: include/linux/proc_ns.h. In another,
 * processes outside are all numbered 0, as the idle task is. */
bool ppi_perf_is_contained(const struct perf_kernel *kernel)
{
	const uint64_t first = UINT64_C(0xeffffffc);
	uint64_t inode;

	return kernel->get_inode(kernel->self, "/proc/self/ns/pid",
	                         &inode) == 0 && inode != first;
}

void ppi_perf_idle_start(struct ppi_backend_session *bs)
{
	struct perf_idle *idle = &perf_state_of(bs)->idle;

	if (is_system(bs) && ppi_perf_is_contained(perf_kernel_of(bs->kernel)))
		ppi_note(bs, "this is a container with process numbers of its "
		         "own: what runs outside has none here, and its time "
		         "is unattributed");
	if (!is_system(bs))
		return;
	if (!idle->began)
		idle->began = calloc(2 * perf_state_of(bs)->cpu_count + 1,
		                     sizeof(*idle->began));
	if (idle->began && read_times(bs, idle->began))
		return;
	idle->is_unknown = true;
	ppi_note(bs, "idle time is that of samples of the idle task: "
	         "/proc/stat cannot be read");
}

void ppi_perf_idle_stop(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);

	if (is_system(bs) && !state->idle.is_unknown &&
	    !add_since(bs, sums_of(state)))
		state->idle.is_unknown = true;
}

bool ppi_perf_idle_so_far(const struct ppi_backend_session *bs, int cpu,
                          struct perf_idle_times *out)
{
	const struct perf_state *state = perf_state_of(bs);
	struct perf_idle_times *sums;
	bool is_known;

	*out = (struct perf_idle_times){ 0 };
	if (state->idle.is_unknown || !state->idle.began)
		return !state->idle.is_unknown;
	sums = calloc(state->cpu_count + 1, sizeof(*sums));
	if (!sums)
		return false;
	memcpy(sums, sums_of(state), state->cpu_count * sizeof(*sums));
	is_known = !state->is_running || add_since(bs, sums);
	for (size_t i = 0; i < state->cpu_count; i++) {
		if (cpu >= 0 && state->cpus[i] != cpu)
			continue;
		out->idle_ns += sums[i].idle_ns;
		out->stolen_ns += sums[i].stolen_ns;
	}
	free(sums);
	return is_known;
}
