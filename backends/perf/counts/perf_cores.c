/* SPDX-License-Identifier: MIT */
/*
 * Machines whose CPUs are of several types: one PMU a type, each with a file
 * `cpus` in sysfs. A generic event is an event of each of them, and says which
 * in the upper half of config (linux/perf_event.h, PERF_PMU_TYPE_SHIFT, 5.13);
 * without that the kernel takes one of them, and it counts nothing on the
 * others' CPUs.
 */
#include "backends/perf/perf_state.h"

#include "backends/perf/counts/perf_counts.h"
#include "backends/perf/events/perf_sysfs.h"
#include "backends/perf/perf_rings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

portprof_status ppi_perf_count_part(struct ppi_backend_session *bs,
                                    size_t event, size_t part, const char **pmu,
                                    const char **cpus, portprof_count *out)
{
	const struct perf_state *state = perf_state_of(bs);
	portprof_count count;
	portprof_status status;

	if (!ppi_perf_is_by_core(bs, event) || part >= state->core_count)
		return PORTPROF_END;
	status = ppi_perf_read_core(bs, event, part, &count);
	if (status)
		return ppi_perf_count_failed(bs, status);
	*pmu = state->cores[part].name;
	*cpus = state->cores[part].cpus;
	*out = count;
	return PORTPROF_OK;
}
