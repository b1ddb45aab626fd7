/* SPDX-License-Identifier: MIT */
/* Events that the system itself names: PMUs in sysfs, and their terms. */
#include "backends/perf/events/perf_sysfs.h"

#include "backends/perf/events/perf_names.h"
#include "backends/perf/events/perf_request.h"
#include "backends/perf/kernel/perf_proc.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 512, TEXT_ROOM = 512, NAMES_MAX = 1 << 20 };

/* ---- files ---- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The same names in order, in new memory. */
static char *sort_names(const char *names, size_t bytes)
{
	size_t count = 0, used = 0, i = 0;
	char *sorted = malloc(bytes + 1);
	const char **list;

	for (size_t at = 0; at < bytes; at += strlen(names + at) + 1)
		count++;
	list = calloc(count + 1, sizeof(*list));
	if (sorted && list) {
		for (size_t at = 0; at < bytes; at += strlen(names + at) + 1)
			list[i++] = names + at;
		qsort(list, count, sizeof(*list), compare_names);
		for (i = 0; i < count; i++) {
			size_t length = strlen(list[i]) + 1;

			memcpy(sorted + used, list[i], length);
			used += length;
		}
		sorted[used] = '\0';
	} else {
		free(sorted);
		sorted = NULL;
	}
	free(list);
	return sorted;
}

char *ppi_perf_sysfs_names(const struct perf_kernel *kernel, const char *folder)
{
	size_t room = 4096, bytes = 0;
	char *names = NULL, *sorted = NULL;

	do {
		char *larger;

		room = bytes > room ? bytes : room;
		larger = realloc(names, room);
		if (!larger)
			break;
		names = larger;
		if (kernel->list_names(kernel->self, folder, names, room,
		                       &bytes) < 0)
			break;
		if (bytes > 0 && bytes <= room)
			sorted = sort_names(names, bytes);
	} while (bytes > room && bytes < NAMES_MAX);
	free(names);
	return sorted;
}

bool ppi_perf_sysfs_text(const struct perf_kernel *kernel, const char *pmu,
                         const char *folder, const char *name, char *out,
                         size_t room)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), PERF_SYSFS_PMUS "/%s/%s%s%s", pmu, folder,
	         name[0] ? "/" : "", name);
	if (!ppi_perf_proc_text(kernel, path, out, room))
		return false;
	out[strcspn(out, "\n")] = '\0';
	return true;
}

bool ppi_perf_sysfs_tells_precision(const struct perf_kernel *kernel)
{
	char *pmus = ppi_perf_sysfs_names(kernel, PERF_SYSFS_PMUS), level[16];
	bool is_told = false;

	for (const char *at = pmus; at && *at && !is_told; at += strlen(at) + 1)
		is_told = ppi_perf_sysfs_text(kernel, at, "caps", "max_precise",
		                              level, sizeof(level));
	free(pmus);
	return is_told;
}

/* ---- terms ---- */

struct pmu {
	const struct perf_kernel *kernel;
	const struct perf_request *request;
	char name[64];
	struct ppi_event *event;
	struct ppi_diag *why;
};

static portprof_status refuse(const struct pmu *pmu, portprof_status status,
                              const char *part, const char *words)
{
	const struct perf_request *request = pmu->request;

	size_t column = ppi_perf_column_of(&request->core, part);

	return ppi_at_column(
		pmu->why, PORTPROF_REASON_PART, column,
		ppi_fail(pmu->why, status, 0, "resolve event",
	                 "event '%s', column %zu: '%s' %s", request->core.text,
	                 column, part, words));
}

/* What the part could have been: files of events/ and format/. */
static portprof_status refuse_unknown(const struct pmu *pmu, const char *part)
{
	static const char *const folders[] = { "events", "format" };
	struct ppi_nearest nearest;
	char path[PATH_ROOM], hint[320], words[480], known[160] = "";

	ppi_nearest_begin(&nearest, part);
	for (int i = 0; i < 2; i++) {
		char *names;

		snprintf(path, sizeof(path), PERF_SYSFS_PMUS "/%s/%s",
		         pmu->name, folders[i]);
		names = ppi_perf_sysfs_names(pmu->kernel, path);
		for (const char *at = names; at && *at; at += strlen(at) + 1) {
			size_t used = strlen(known);

			ppi_nearest_offer(&nearest, at);
			snprintf(known + used, sizeof(known) - used, "%s%s",
			         used ? ", " : "", at);
		}
		free(names);
	}
	ppi_nearest_say(&nearest, hint, sizeof(hint));
	if (!hint[0])
		snprintf(hint, sizeof(hint), "; it has %s",
		         known[0] ? known : "none");
	snprintf(words, sizeof(words), "is neither an event nor a term of "
	         "PMU %s%s", pmu->name, hint);
	return ppi_suggest(pmu->why, &nearest,
	                   refuse(pmu, PORTPROF_E_NOTFOUND, part, words));
}

/* One term: a file of format/, or the whole of config, config1, config2. */
static portprof_status put_term(const struct pmu *pmu, const char *name,
                                uint64_t value)
{
	char text[TEXT_ROOM], words[96];
	struct perf_field field;

	if (strncmp(name, "config", 6) == 0)
		snprintf(text, sizeof(text), "%s:0-63", name);
	else if (!ppi_perf_sysfs_text(pmu->kernel, pmu->name, "format", name,
	                              text, sizeof(text)))
		return refuse_unknown(pmu, name);
	if (!ppi_perf_format_parse(text, &field))
		return refuse(pmu, PORTPROF_E_UNSUPPORTED, name, "has a "
		              "description by the kernel that portprof cannot "
		              "read");
	if (ppi_perf_format_put(&field, value, perf_own_of(pmu->event)->config))
		return PORTPROF_OK;
	snprintf(words, sizeof(words), "takes values up to 0x%llx",
	         (unsigned long long)ppi_perf_format_most(&field));
	return refuse(pmu, PORTPROF_E_INVALID, name, words);
}

/* "event=0x3c,umask=0x1", of a file or the user. */
static portprof_status put_terms(const struct pmu *pmu, const char *text)
{
	portprof_status status = PORTPROF_OK;
	char name[64];
	uint64_t value;

	while (status == PORTPROF_OK &&
	       ppi_perf_format_next(&text, name, sizeof(name), &value))
		status = put_term(pmu, name, value);
	if (status == PORTPROF_OK && *text)
		return refuse(pmu, PORTPROF_E_INVALID, text, "is not a term: "
		              "write NAME=VALUE");
	return status;
}

/* A part of the user's: an event's name, or a term. */
static portprof_status put_part(const struct pmu *pmu, const char *part)
{
	char text[TEXT_ROOM];

	if (!strchr(part, '=') && !strchr(part, '/') &&
	    ppi_perf_sysfs_text(pmu->kernel, pmu->name, "events", part, text,
	                        sizeof(text)))
		return put_terms(pmu, text);
	if (strchr(part, '/'))
		return refuse_unknown(pmu, part);
	return put_terms(pmu, part);
}

/* "raw" stands where an event string must have a name, for an event that is
 * all terms. */
static portprof_status put_parts(const struct pmu *pmu, const char *parts)
{
	portprof_status status = PORTPROF_OK;
	char part[192];

	if (strncmp(parts, "raw:", 4) == 0)
		parts += 4;

	while (*parts && status == PORTPROF_OK) {
		size_t length = strcspn(parts, ":");

		snprintf(part, sizeof(part), "%.*s", (int)length, parts);
		status = put_part(pmu, part);
		parts += length;
		parts += *parts == ':';
	}
	return status;
}

/* ---- events ---- */

/* "2.3283064365386962890625e-10", whatever the program's locale is. */
static bool read_scale(const char *text, double *scale)
{
	double number = 0;
	long power = 0, more = 0;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	for (; isdigit((unsigned char)*text); text++)
		number = number * 10 + (*text - '0');
	if (*text == '.')
		for (text++; isdigit((unsigned char)*text); text++, power--)
			number = number * 10 + (*text - '0');
	if (*text == 'e' || *text == 'E') {
		more = strtol(text + 1, &end, 10);
		text = end;
	}
	power += more;
	if (*text || power > 300 || power < -300)
		return false;
	for (; power > 0; power--)
		number *= 10;
	for (; power < 0; power++)
		number /= 10;
	*scale = number;
	return true;
}

int ppi_perf_package_cpu(const struct perf_kernel *kernel, const char *pmu)
{
	char cpus[128];

	if (!ppi_perf_sysfs_text(kernel, pmu, "cpumask", "", cpus,
	                         sizeof(cpus)))
		return -1;
	return atoi(cpus);
}

bool ppi_perf_is_package_cpu(const struct perf_kernel *kernel, const char *pmu,
                             int cpu)
{
	char cpus[128];

	return ppi_perf_sysfs_text(kernel, pmu, "cpumask", "", cpus,
	                           sizeof(cpus)) &&
	       ppi_perf_proc_has_cpu(cpus, cpu);
}

/* The unit of an energy, say: "0.00023 Joules". */
static void take_unit(const struct pmu *pmu, const char *event, char *out,
                      size_t bytes)
{
	char name[128], scale[64], unit[64];
	bool has_scale, has_unit;

	out[0] = '\0';
	snprintf(name, sizeof(name), "%.100s.scale", event);
	has_scale = ppi_perf_sysfs_text(pmu->kernel, pmu->name, "events", name,
	                                scale, sizeof(scale));
	snprintf(name, sizeof(name), "%.100s.unit", event);
	has_unit = ppi_perf_sysfs_text(pmu->kernel, pmu->name, "events", name,
	                               unit, sizeof(unit));
	if (!has_scale)
		snprintf(scale, sizeof(scale), "1");
	if (!has_unit && has_scale && strcmp(scale, "1") != 0)
		snprintf(unit, sizeof(unit), "events"); /* topdown-total-slots */
	else if (!has_unit)
		return;
	snprintf(out, bytes, ", in units of %s %s", scale, unit);
	if (read_scale(scale, &pmu->event->scale))
		snprintf(pmu->event->scaled_unit,
		         sizeof(pmu->event->scaled_unit), "%.23s", unit);
}

/* A PMU with a cpumask counts what whole packages do, on one CPU of each. */
static portprof_status make_package(struct pmu *pmu, enum ppi_mode mode)
{
	struct ppi_event *event = pmu->event;

	if (mode == PPI_SAMPLE)
		return ppi_fail(pmu->why, PORTPROF_E_UNSUPPORTED, 0,
		                "resolve event", "'%s' cannot be sampled: PMU "
		                "%s counts whole packages, not code; count it "
		                "with portprof stat -a",
		                pmu->request->core.text, pmu->name);
	if (pmu->request->core.has_modes)
		return ppi_fail(pmu->why, PORTPROF_E_UNSUPPORTED, 0,
		                "resolve event", "'%s': PMU %s counts in every "
		                "mode; drop the levels",
		                pmu->request->core.text, pmu->name);
	event->counts_user = event->counts_kernel = true;
	event->counts_hypervisor = true;
	perf_own_of(event)->asked.exclude_guest = false;
	perf_own_of(event)->is_package = true;
	return PORTPROF_OK;
}

/* PMUs of the kernel's whose events are more than numbers. */
static portprof_status refuse_kind(const struct pmu *pmu)
{
	static const struct {
		const char *pmu, *words;
	} kinds[] = {
		{ "uprobe", "a probe of a program is written "
		            "uprobe:FILE:SYMBOL or uretprobe:FILE:SYMBOL" },
		{ "kprobe",
		 "a probe is made first, by perf probe FUNCTION, and "
		            "measured as the tracepoint that it names" },
		{ "breakpoint", "a breakpoint is written mem:ADDRESS/BYTES:rw "
		                "or breakpoint:SYMBOL:x" },
		{ "tracepoint", "tracepoints go by name, as in "
		                "sched:sched_switch" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(pmu->name, kinds[i].pmu) == 0)
			return ppi_fail(pmu->why, PORTPROF_E_UNSUPPORTED, 0,
			                "resolve event",
			                "event '%s', column 1: "
			                "PMU %s: %s", pmu->request->core.text,
			                pmu->name, kinds[i].words);
	return PORTPROF_OK;
}

static portprof_status resolve_pmu(struct pmu *pmu, const char *parts,
                                   int64_t type, enum ppi_mode mode)
{
	char cpus[128], means[256], unit[160], first[101], where[160] = "";
	portprof_status status = refuse_kind(pmu);

	if (status == PORTPROF_OK)
		status = put_parts(pmu, parts);
	if (status)
		return status;
	if (ppi_perf_sysfs_text(pmu->kernel, pmu->name, "cpumask", "", cpus,
	                        sizeof(cpus)))
		snprintf(where, sizeof(where), " for whole packages, on CPUs "
		         "%s", cpus);
	snprintf(first, sizeof(first), "%.*s", (int)strcspn(parts, ":"),
	         parts);
	take_unit(pmu, first, unit, sizeof(unit));
	snprintf(means, sizeof(means),
	         "PMU %s of the system, config 0x%llx%s%s",
	         pmu->name, (unsigned long long)perf_own(pmu->event)->config[0],
	         where, unit);
	perf_own_of(pmu->event)->type = (uint32_t)type;
	snprintf(pmu->event->pmu, sizeof(pmu->event->pmu), "%s", pmu->name);
	ppi_perf_set_modes(pmu->event);
	if (where[0])
		status = make_package(pmu, mode);
	if (status)
		return status;
	return ppi_perf_event_finish(pmu->event, mode, pmu->request->core.name,
	                             means, pmu->why);
}

portprof_status ppi_perf_sysfs_resolve(const struct perf_kernel *kernel,
                                       const struct perf_request *request,
                                       enum ppi_mode mode,
                                       struct ppi_event *event,
                                       bool *is_there, struct ppi_diag *why)
{
	struct ppi_event draft = ppi_perf_request_event(request);
	struct pmu pmu = { .kernel = kernel, .request = request,
		           .event = &draft, .why = why };
	const char *colons = strstr(request->core.name, "::");
	portprof_status status = PORTPROF_E_NOTFOUND;
	char type[32];

	*is_there = false;
	if (!colons && ppi_perf_tracepoint_is_name(request->core.name)) {
		status = ppi_perf_tracepoint_resolve(kernel, request, mode,
		                                     &draft, is_there, why);
	} else if (colons && colons[2] &&
	           (size_t)(colons - request->core.name) < sizeof(pmu.name)) {
		memcpy(pmu.name, request->core.name,
		       (size_t)(colons - request->core.name));
		*is_there = !strchr(pmu.name, '/') && pmu.name[0] != '.' &&
		            ppi_perf_sysfs_text(kernel, pmu.name, "type", "",
		                                type, sizeof(type));
		if (*is_there)
			status = resolve_pmu(&pmu, colons + 2,
			                     strtol(type, NULL, 10), mode);
	}
	if (status == PORTPROF_OK)
		*event = draft;
	return status;
}

/* ---- terms, and the bits that they stand for ---- */

static bool parse_part(const char **text, struct perf_field *field)
{
	unsigned long first, last;
	char *end;

	if (**text < '0' || **text > '9' || field->count == PERF_FIELD_PARTS)
		return false;
	first = last = strtoul(*text, &end, 10);
	if (*end == '-')
		last = strtoul(end + 1, &end, 10);
	if (first > last || last > 63)
		return false;
	field->parts[field->count].first = (unsigned char)first;
	field->parts[field->count].last = (unsigned char)last;
	field->count++;
	*text = end;
	return true;
}

bool ppi_perf_format_parse(const char *text, struct perf_field *field)
{
	memset(field, 0, sizeof(*field));
	if (strncmp(text, "config", 6) != 0)
		return false;
	text += 6;
	if (*text >= '1' && *text <= '2')
		field->config = (unsigned)(*text++ - '0');
	if (*text++ != ':')
		return false;
	while (parse_part(&text, field))
		if (*text != ',')
			return *text == '\0' || *text == '\n';
		else
			text++;
	return false;
}

static unsigned width_of(const struct perf_field *field)
{
	unsigned width = 0;

	for (size_t i = 0; i < field->count; i++)
		width += field->parts[i].last - field->parts[i].first + 1u;
	return width;
}

uint64_t ppi_perf_format_most(const struct perf_field *field)
{
	unsigned width = width_of(field);

	return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

bool ppi_perf_format_put(const struct perf_field *field, uint64_t value,
                         uint64_t config[PERF_FORMAT_CONFIGS])
{
	uint64_t *word = &config[field->config];

	if (value > ppi_perf_format_most(field))
		return false;
	for (size_t i = 0; i < field->count; i++) {
		unsigned first = field->parts[i].first;
		unsigned width = field->parts[i].last - first + 1u;
		uint64_t mask = width >= 64 ? UINT64_MAX
		                            : (UINT64_C(1) << width) - 1;

		*word = (*word & ~(mask << first)) | (value & mask) << first;
		value = width >= 64 ? 0 : value >> width;
	}
	return true;
}

bool ppi_perf_format_next(const char **text, char *name, size_t name_bytes,
                          uint64_t *value)
{
	size_t length = strcspn(*text, "=,\n");
	const char *at = *text + length;
	char *end;

	if (length == 0 || length >= name_bytes)
		return false;
	*value = 1;
	if (*at == '=') {
		errno = 0;
		*value = strtoull(at + 1, &end, 0);
		if (end == at + 1 || errno || at[1] == '-')
			return false;
		at = end;
	}
	if (*at != ',' && *at != '\n' && *at != '\0')
		return false;
	memcpy(name, *text, length);
	name[length] = '\0';
	*text = *at == ',' || *at == '\n' ? at + 1 : at;
	return true;
}
