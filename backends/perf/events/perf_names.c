/* SPDX-License-Identifier: MIT */
/* The kernel's generic events by name, and any resolved event as text. */
#include "backends/perf/events/perf_names.h"

#include "backends/perf/events/perf_request.h"
#include "backends/perf/kernel/perf_attr.h"

#include <ctype.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- a resolved event as text ---- */

enum { MEANING_END = 440 }; /* of the 512 bytes of a description */

const char *ppi_perf_say_levels(const struct ppi_event *event)
{
	/* many PMUs count in the hypervisor too because they cannot help it:
	 * it is told of where it was asked for */
	unsigned set = event->counts_user | event->counts_kernel << 1 |
	               event->request.hypervisor << 2;
	static const char *const words[8] = {
		"in no mode", "in user mode", "in kernel mode",
		"in user and kernel mode", "in hypervisor mode",
		"in user and hypervisor mode",
		"in kernel and hypervisor mode", "in every mode",
	};

	return words[set];
}

static const char *guests_of(const struct perf_asked *asked)
{
	if (!asked->has_guest_host)
		return "";
	if (asked->exclude_host)
		return " of guests";
	return asked->exclude_guest ? "" : " of host and guests";
}

/*
 * Where a rate is no use: of five page faults a rate that the kernel first has
 * to find takes one or two, and guesses what each stood for. perf_rings.c counts
 * on RATE_UNKNOWN_HZ of them; when many more come than the ring has room for,
 * those are lost, and their weight is in the next sample.
 */
static bool is_taken_each(const struct ppi_event *event)
{
	return perf_is_of_place(event) ||
	       (perf_own(event)->type == PERF_TYPE_SOFTWARE &&
	        !event->is_cpu_time);
}

static void say_rate(const struct ppi_event *event, enum ppi_mode mode,
                     char *out, size_t bytes)
{
	const char *unit = event->unit == PORTPROF_UNIT_NANOSECONDS ? " ns" :
	                                                              " events";

	if (mode == PPI_COUNT)
		snprintf(out, bytes, "counted");
	else if (event->rate_hz)
		snprintf(out, bytes, "%" PRIu64 " times a second",
		         event->rate_hz);
	else if (event->period == 1 && !event->is_cpu_time)
		snprintf(out, bytes, "a sample for each");
	else if (event->period)
		snprintf(out, bytes, "every %" PRIu64 "%s", event->period,
		         unit);
	else if (is_taken_each(event))
		snprintf(out, bytes, "each, or at the session's rate");
	else
		snprintf(out, bytes, "at the session's rate");
}

static void describe(struct ppi_event *event, enum ppi_mode mode,
                     const char *name, const char *means)
{
	const struct perf_own *own = perf_own(event);
	char rate[48], precise[48] = "";
	int used;

	say_rate(event, mode, rate, sizeof(rate));
	if (own->precise || (own->asked.wants_max_precision &&
	                     own->type != PERF_TYPE_SOFTWARE))
		snprintf(precise, sizeof(precise), ", precise level %u%s",
		         own->precise, own->asked.wants_max_precision
		         ? " (the most granted)" : "");
	used = snprintf(event->description, sizeof(event->description),
	                "%s %s%s, %s%s", name, ppi_perf_say_levels(event),
	                guests_of(&perf_own(event)->asked), rate, precise);
	/* what it means is cut first, and leaves room for what becomes of it:
	 * "in user mode only (kernel mode is not permitted)" */
	if (used >= MEANING_END - 16)
		return;
	if (snprintf(event->description + used, (size_t)(MEANING_END - used),
	             ": %s", means) >= MEANING_END - used)
		memcpy(event->description + MEANING_END - 4, "...", 4);
}

void ppi_perf_encode(struct ppi_event *event)
{
	const struct perf_own *own = perf_own(event);
	char *out = event->encoding;
	size_t room = sizeof(event->encoding), used;

	used = (size_t)snprintf(out, room,
	                        "type %" PRIu32 ", config 0x%" PRIx64,
	                        own->type, own->config[0]);
	for (int i = 1; i < 3; i++)
		if (own->config[i])
			used += (size_t)snprintf(out + used, room - used,
			                         ", config%d 0x%" PRIx64, i,
			                         own->config[i]);
	if (own->bp_type)
		used += (size_t)snprintf(out + used, room - used,
		                         ", bp_type %" PRIu32, own->bp_type);
	if (own->precise)
		used += (size_t)snprintf(out + used, room - used,
		                         ", precise %" PRIu32, own->precise);
	snprintf(out + used, room - used, "%s%s%s%s",
	         own->asked.pinned ? ", pinned" : "",
	         own->asked.exclusive ? ", exclusive" : "",
	         own->asked.exclude_guest ? "" : ", with guests",
	         own->asked.exclude_host ? ", without the host" : "");
}

/* The kernel does not vary periods. Programs work in whole milliseconds, and a
 * prime rate meets those at another place each time. */
enum { RATE_USUAL_HZ = 101 };

/* Names for who reads samples; only tracepoints have any. */
static portprof_status take_fields(struct ppi_event *event, enum ppi_mode mode,
                                   struct ppi_diag *why)
{
	const struct perf_asked *asked = &perf_own(event)->asked;
	const char *text = event->request.text;
	size_t used = 0;

	if (asked->field_count &&
	    (perf_own(event)->type != PERF_TYPE_TRACEPOINT ||
	     mode == PPI_COUNT))
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "resolve event",
		                "event '%s', column %u: %s", text,
		                asked->field_at[0] - 5u,
		                mode == PPI_COUNT
		                ? "samples have fields, counts have none: leave "
		                  "field out"
		                : "only tracepoints have fields: leave field out");
	for (size_t i = 0; i < asked->field_count; i++)
		used += (size_t)snprintf(event->fields + used,
		                         sizeof(event->fields) - used, "%s%.*s",
		                         used ? " " : "", asked->field_bytes[i],
		                         text + asked->field_at[i]);
	return used < sizeof(event->fields) ? PORTPROF_OK :
		ppi_fail(why, PORTPROF_E_LIMIT, 0, "resolve event",
		         "event '%s': the names of its fields are too long "
		         "together; ask for fewer", text);
}

portprof_status ppi_perf_event_finish(struct ppi_event *event,
                                      enum ppi_mode mode, const char *name,
                                      const char *means, struct ppi_diag *why)
{
	struct ppi_event_request *request = &event->request;
	const struct perf_own *own = perf_own(event);

	event->is_cpu_time = own->type == PERF_TYPE_SOFTWARE &&
	                     (own->config[0] == PERF_COUNT_SW_TASK_CLOCK ||
	                      own->config[0] == PERF_COUNT_SW_CPU_CLOCK);
	event->unit = event->is_cpu_time ? PORTPROF_UNIT_NANOSECONDS :
	                                   PORTPROF_UNIT_COUNT;
	if (request->is_rate_usual && is_taken_each(event)) {
		request->period = 1;
		request->rate_hz = 0;
	} else if (request->is_rate_usual) {
		request->rate_hz = RATE_USUAL_HZ;
	}
	event->period = request->period;
	event->rate_hz = request->rate_hz;
	if (!ppi_perf_request_format(request, &own->asked, name,
	                             event->canonical,
	                             sizeof(event->canonical)))
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "resolve event",
		                "event '%s' is too long when spelled out; give "
		                "fewer unit masks or modifiers",
		                request->text);
	describe(event, mode, name, means);
	return take_fields(event, mode, why);
}

/* ---- generic names ---- */

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
	{ "PAPI_L1_DCM", "L1-dcache-load-misses" },
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
	return ppi_at_column(
		why, PORTPROF_REASON_PART, ppi_perf_column_of(request, part),
		ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "resolve event",
	                 "event '%s', column %zu: drop '%s': this system's "
	                 "kernel counts %s for itself, no PMU does",
	                 request->text, ppi_perf_column_of(request, part), part,
	                 name));
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
