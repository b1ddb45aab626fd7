/* SPDX-License-Identifier: MIT */
/* The kernel's generic events: names, numbers, descriptions. */
#include "backends/perf/events/perf_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <linux/perf_event.h>

/* Newer than some headers: Linux 5.13, include/uapi/linux/perf_event.h. */
enum { SW_CGROUP_SWITCHES = 11 };

#define SW PERF_TYPE_SOFTWARE
#define HW PERF_TYPE_HARDWARE

/* perf's names. Those without a meaning are other names of the one above. */
static const struct {
	const char *name;
	uint32_t type, config;
	const char *means;
} generics[] = {
	{ "task-clock", SW, PERF_COUNT_SW_TASK_CLOCK,
	  "CPU time of threads" },
	{ "cpu-clock", SW, PERF_COUNT_SW_CPU_CLOCK,
	  "CPU time, by the clock of the CPU" },
	{ "page-faults", SW, PERF_COUNT_SW_PAGE_FAULTS, "page faults" },
	{ "faults", SW, PERF_COUNT_SW_PAGE_FAULTS, NULL },
	{ "minor-faults", SW, PERF_COUNT_SW_PAGE_FAULTS_MIN,
	  "page faults served from memory" },
	{ "major-faults", SW, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	  "page faults that waited for a device" },
	{ "context-switches", SW, PERF_COUNT_SW_CONTEXT_SWITCHES,
	  "switches from one thread to another" },
	{ "cs", SW, PERF_COUNT_SW_CONTEXT_SWITCHES, NULL },
	{ "cpu-migrations", SW, PERF_COUNT_SW_CPU_MIGRATIONS,
	  "moves of a thread to another CPU" },
	{ "migrations", SW, PERF_COUNT_SW_CPU_MIGRATIONS, NULL },
	{ "alignment-faults", SW, PERF_COUNT_SW_ALIGNMENT_FAULTS,
	  "unaligned accesses that the kernel repaired" },
	{ "emulation-faults", SW, PERF_COUNT_SW_EMULATION_FAULTS,
	  "instructions that the kernel emulated" },
	{ "dummy", SW, PERF_COUNT_SW_DUMMY, "nothing: it never counts" },
	{ "bpf-output", SW, PERF_COUNT_SW_BPF_OUTPUT,
	  "what BPF programs write" },
	{ "cgroup-switches", SW, SW_CGROUP_SWITCHES,
	  "switches from one cgroup to another" },
	{ "cycles", HW, PERF_COUNT_HW_CPU_CYCLES, "CPU cycles" },
	{ "cpu-cycles", HW, PERF_COUNT_HW_CPU_CYCLES, NULL },
	{ "instructions", HW, PERF_COUNT_HW_INSTRUCTIONS,
	  "instructions retired" },
	{ "cache-references", HW, PERF_COUNT_HW_CACHE_REFERENCES,
	  "accesses to the last-level cache" },
	{ "cache-misses", HW, PERF_COUNT_HW_CACHE_MISSES,
	  "misses of the last-level cache" },
	{ "branches", HW, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	  "branch instructions retired" },
	{ "branch-instructions", HW, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, NULL },
	{ "branch-misses", HW, PERF_COUNT_HW_BRANCH_MISSES,
	  "branches predicted wrongly" },
	{ "bus-cycles", HW, PERF_COUNT_HW_BUS_CYCLES, "bus cycles" },
	{ "ref-cycles", HW, PERF_COUNT_HW_REF_CPU_CYCLES,
	  "CPU cycles at a constant rate" },
	{ "stalled-cycles-frontend", HW,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
	  "cycles without an instruction to issue" },
	{ "idle-cycles-frontend", HW, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
	  NULL },
	{ "stalled-cycles-backend", HW, PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
	  "cycles in which no unit was free" },
	{ "idle-cycles-backend", HW, PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
	  NULL },
};

enum { GENERICS = sizeof(generics) / sizeof(generics[0]) };

/* Caches, and what perf counts of each (Linux tools/perf/util/evsel.c):
 * reads, writes, prefetches are bits 0, 1, 2. */
static const struct {
	const char *name;
	uint32_t config;
	unsigned operations;
} caches[] = {
	{ "L1-dcache", PERF_COUNT_HW_CACHE_L1D, 7 },
	{ "L1-icache", PERF_COUNT_HW_CACHE_L1I, 5 },
	{ "LLC", PERF_COUNT_HW_CACHE_LL, 7 },
	{ "dTLB", PERF_COUNT_HW_CACHE_DTLB, 7 },
	{ "iTLB", PERF_COUNT_HW_CACHE_ITLB, 1 },
	{ "branch", PERF_COUNT_HW_CACHE_BPU, 1 },
	{ "node", PERF_COUNT_HW_CACHE_NODE, 7 },
};

/* By operation * 2 + result. */
static const struct {
	const char *name, *means;
} cache_counts[] = {
	{ "loads", "loads, by cache or predictor" },
	{ "load-misses", "loads that missed" },
	{ "stores", "stores" },
	{ "store-misses", "stores that missed" },
	{ "prefetches", "prefetches" },
	{ "prefetch-misses", "prefetches that missed" },
};

enum { CACHES = sizeof(caches) / sizeof(caches[0]), CACHE_COUNTS = 6 };

static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		int x = *a == '_' ? '-' : tolower((unsigned char)*a);
		int y = *b == '_' ? '-' : tolower((unsigned char)*b);

		if (x != y)
			return false;
	}
	return *a == *b;
}

static void set_generic(size_t i, struct ppi_perf_name *out)
{
	while (!generics[i].means)
		i--;
	out->type = generics[i].type;
	out->config = generics[i].config;
	out->means = generics[i].means;
	out->pmu = "perf";
	out->is_software = generics[i].type == SW;
	snprintf(out->name, sizeof(out->name), "%s", generics[i].name);
}

static void set_cache(size_t cache, size_t count, struct ppi_perf_name *out)
{
	uint64_t operation = count / 2, result = count % 2;

	out->type = PERF_TYPE_HW_CACHE;
	out->config = caches[cache].config | operation << 8 | result << 16;
	out->means = cache_counts[count].means;
	out->pmu = "perf";
	out->is_software = false;
	snprintf(out->name, sizeof(out->name), "%s-%s", caches[cache].name,
	         cache_counts[count].name);
}

bool ppi_perf_names_walk(ppi_perf_name_fn visit, void *context)
{
	struct ppi_perf_name name;

	for (size_t i = 0; i < GENERICS; i++) {
		set_generic(i, &name);
		if (visit(&name, generics[i].name, context))
			return true;
	}
	for (size_t i = 0; i < CACHES * CACHE_COUNTS; i++) {
		size_t cache = i / CACHE_COUNTS, count = i % CACHE_COUNTS;

		if (!(caches[cache].operations >> count / 2 & 1))
			continue;
		set_cache(cache, count, &name);
		if (visit(&name, name.name, context))
			return true;
	}
	return false;
}

/* PAPI's presets that are one generic event: those whose definition for x86 and
 * Arm is the event that the kernel takes for it (PAPI, src/papi_events.csv). */
static const struct {
	const char *papi, *name;
} papi_names[] = {
	{ "PAPI_TOT_CYC", "cycles" },
	{ "PAPI_TOT_INS", "instructions" },
	{ "PAPI_REF_CYC", "ref-cycles" },
	{ "PAPI_BR_INS", "branches" },
	{ "PAPI_BR_MSP", "branch-misses" },
	{ "PAPI_L1_LDM", "L1-dcache-load-misses" },
	{ "PAPI_L1_STM", "L1-dcache-store-misses" },
	{ "PAPI_L1_DCR", "L1-dcache-loads" },
	{ "PAPI_L1_DCW", "L1-dcache-stores" },
	{ "PAPI_L1_ICM", "L1-icache-load-misses" },
	{ "PAPI_L3_TCA", "cache-references" },
	{ "PAPI_L3_TCM", "cache-misses" },
	{ "PAPI_TLB_IM", "iTLB-load-misses" },
};

enum { PAPI_NAMES = sizeof(papi_names) / sizeof(papi_names[0]) };

static const char *without_papi(const char *name)
{
	for (size_t i = 0; i < PAPI_NAMES; i++)
		if (same_name(papi_names[i].papi, name))
			return papi_names[i].name;
	return name;
}

struct search {
	const char *name;
	struct ppi_perf_name *out;
};

static bool is_named(const struct ppi_perf_name *name, const char *spelling,
                     void *context)
{
	struct search *search = context;

	if (!same_name(spelling, search->name))
		return false;
	*search->out = *name;
	return true;
}

/* rHEX, as in perf; libpfm4 takes a small r only, so does this. */
static bool find_raw(const char *name, struct ppi_perf_name *out)
{
	size_t digits = 0;

	if (strncasecmp(name, "perf_raw::", 10) == 0)
		name += 10;
	if (name[0] == 'r')
		digits = strspn(name + 1, "0123456789abcdefABCDEF");
	if (digits < 1 || digits > 16 || name[1 + digits])
		return false;
	out->type = PERF_TYPE_RAW;
	out->config = strtoull(name + 1, NULL, 16);
	out->means = "raw code of this machine's PMU";
	out->pmu = "perf_raw";
	out->is_software = false;
	snprintf(out->name, sizeof(out->name), "r%llx",
	         (unsigned long long)out->config);
	return true;
}

bool ppi_perf_name_find(const char *name, struct ppi_perf_name *out)
{
	struct search search = { name, out };

	if (strncasecmp(name, "perf::", 6) == 0)
		search.name += 6;
	search.name = without_papi(search.name);
	return ppi_perf_names_walk(is_named, &search) || find_raw(name, out);
}

static bool is_numbered(const struct ppi_perf_name *name, const char *spelling,
                        void *context)
{
	struct ppi_perf_name *wanted = context;

	(void)spelling;
	if (name->type != wanted->type || name->config != wanted->config)
		return false;
	*wanted = *name;
	return true;
}

bool ppi_perf_name_of(uint32_t type, uint64_t config,
                      struct ppi_perf_name *out)
{
	struct ppi_perf_name wanted = { .type = type, .config = config };

	if (!ppi_perf_names_walk(is_numbered, &wanted))
		return false;
	*out = wanted;
	return true;
}

static bool offer(const struct ppi_perf_name *name, const char *spelling,
                  void *context)
{
	(void)name;
	ppi_nearest_offer(context, spelling);
	return false;
}

void ppi_perf_names_offer(struct ppi_nearest *nearest)
{
	ppi_perf_names_walk(offer, nearest);
	for (size_t i = 0; i < PAPI_NAMES; i++)
		ppi_nearest_offer(nearest, papi_names[i].papi);
}

/* The hypervisor, guests and the hardware know nothing of what the kernel
 * counts. */
portprof_status ppi_perf_check_software(const struct ppi_event *event,
                                        const char *name, struct ppi_diag *why)
{
	const struct ppi_event_request *request = &event->request;
	const struct perf_asked *asked = &perf_own(event)->asked;
	const char *part = asked->precise      ? "precise" :
	                   request->hypervisor ? "h" :
	                   asked->has_guest_host && !asked->exclude_guest ?
	                                         "mg" :
	                                         NULL;

	if (!part)
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "resolve event",
	                "event '%s', column %zu: drop '%s': this system's "
	                "kernel counts %s for itself, no PMU does", request->text,
	                ppi_perf_column_of(request, part), part, name);
}

portprof_status ppi_perf_name_fill(const struct ppi_perf_name *name,
                                   struct ppi_event *event,
                                   struct ppi_diag *why)
{
	portprof_status status = PORTPROF_OK;

	if (name->is_software)
		status = ppi_perf_check_software(event, name->name, why);
	if (status)
		return status;
	perf_own_of(event)->type = name->type;
	perf_own_of(event)->config[0] = name->config;
	ppi_perf_set_modes(event);
	return PORTPROF_OK;
}
