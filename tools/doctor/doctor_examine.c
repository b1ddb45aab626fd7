/* SPDX-License-Identifier: MIT */
/*
 * Examining a host: what the library's backends found, put under headings, and
 * what they leave open.
 */
#include "config.h"

#include "tools/doctor/doctor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- what this build lacks ---- */

/* Backends of other systems, and what only a developer misses. */
static bool is_for_users(const char *name)
{
	return strncmp(name, "backend ", 8) != 0 &&
	       strcmp(name, "symbol versions") != 0 &&
	       strcmp(name, "cmocka") != 0;
}

/* "no (install libelf-dev)" or "no (switched off)": the reason in brackets is
 * what to do in the first, and what was done in the second. */
static void row(struct ppi_doctor *doctor, const char *name,
                const char *answer, const char *gives)
{
	const char *open = strchr(answer, '(');
	int length = open ? (int)strcspn(open, ")") + 1 : 0;
	char remedy[200] = "build portprof again with it";
	bool can_install = open && strncmp(open, "(install ", 9) == 0;

	if (strncmp(answer, "no", 2) != 0 || !is_for_users(name))
		return;
	if (can_install)
		snprintf(remedy, sizeof(remedy), "%.*s, and build portprof "
		         "again", length - 2, open + 1);
	if (!open || can_install)
		ppi_doctor_add(doctor, PPI_TOPIC_BUILD, name,
			       PORTPROF_VERDICT_LIMITED, remedy,
			       "left out when "
			       "portprof was built; missing: %s",
			       gives);
	else
		ppi_doctor_add(doctor, PPI_TOPIC_BUILD, name,
			       PORTPROF_VERDICT_LIMITED, remedy,
			       "left out when "
			       "portprof was built %.*s; missing: %s",
			       length, open, gives);
}

static void add_build(struct ppi_doctor *doctor)
{
	size_t before = doctor->count;

#define ROW(name, answer, gives) row(doctor, name, answer, gives);
	PPI_BUILD_TABLE(ROW)
#undef ROW
	if (doctor->host->lacks_perf)
		ppi_doctor_add(doctor, PPI_TOPIC_BUILD, "backend-perf",
		               PORTPROF_VERDICT_FAILS, "configure "
		               "--enable-backends=auto, and build portprof "
		               "again", "the perf backend was left out when "
		               "portprof was built");
	if (doctor->count == before)
		ppi_doctor_add(doctor, PPI_TOPIC_BUILD, "libraries",
			       PORTPROF_VERDICT_WORKS, NULL,
			       "nothing was left out of this build");
}

/* ---- the machine ---- */

/* What no backend looks at: names of CPU events and of kernel functions, and
 * how many timers a user may have. */

enum { TIMERS_FINE = 64 };

FILE *ppi_doctor_open_file(const struct ppi_doctor_host *host,
                           const char *path)
{
	char name[512];

	snprintf(name, sizeof(name), "%s%s", host->root, path);
	return fopen(name, "re");
}

/* The value of "KEY : value" in /proc/cpuinfo. */
static bool find_field(const struct ppi_doctor_host *host, const char *key,
                       char *out, size_t room)
{
	FILE *file = ppi_doctor_open_file(host, "/proc/cpuinfo");
	size_t length = strlen(key);
	bool is_found = false;
	char line[4096];

	while (file && !is_found && fgets(line, sizeof(line), file)) {
		const char *value = line + length;

		value += strncmp(line, key, length) == 0
		         ? strspn(value, " \t") : 0;
		is_found = strncmp(line, key, length) == 0 && *value == ':';
		if (is_found)
			snprintf(out, room, "%.*s",
			         (int)strcspn(value + 1, "\n"),
			         value + 1 + strspn(value + 1, " \t"));
		out[strcspn(out, "\n")] = '\0';
	}
	if (file)
		fclose(file);
	return is_found;
}

static void find_cpu(const struct ppi_doctor_host *host, char *out,
                     size_t room)
{
	char maker[32] = "", part[32] = "";

	out[0] = '\0';
	if (find_field(host, "model name", out, room))
		return;
	if (find_field(host, "CPU implementer", maker, sizeof(maker)) &&
	    find_field(host, "CPU part", part, sizeof(part)))
		snprintf(out, room, "implementer %s, part %s", maker, part);
	else
		snprintf(out, room, "an unnamed CPU");
}

static int take_pmu(const portprof_catalogue_pmu *pmu, void *context)
{
	char *table = context;

	/* the architectural events, which every Intel CPU has, do not count */
	if (pmu->source != PORTPROF_SOURCE_TABLE || !pmu->is_core ||
	    strcmp(pmu->name, "ix86arch") == 0)
		return 0;
	snprintf(table, 64, "%s", pmu->name);
	return 1;
}

static bool has_libpfm4(void)
{
	bool has_it = false;

#define ROW(name, answer, gives) \
	if (strcmp(name, "libpfm4") == 0) \
		has_it = strncmp(answer, "no", 2) != 0;
	PPI_BUILD_TABLE(ROW)
#undef ROW
	return has_it;
}

/* Each kernel that counts says what it calls the PMU; only tables know the
 * names of its events. */
static void table(struct ppi_doctor *doctor)
{
	const struct ppi_doctor_host *host = doctor->host;
	char cpu[128], pmu[64] = "";

	if (!ppi_doctor_find(doctor, "software-events") || host->lacks_perf)
		return;
	find_cpu(host, cpu, sizeof(cpu));
	host->pmus(host->self, take_pmu, pmu);
	if (pmu[0])
		ppi_doctor_add(doctor, PPI_TOPIC_MACHINE, "cpu-events",
		               PORTPROF_VERDICT_WORKS, NULL, "%s: libpfm4 "
		               "names its events as %s::", cpu, pmu);
	else if (has_libpfm4())
		ppi_doctor_add(doctor, PPI_TOPIC_MACHINE, "cpu-events",
		               PORTPROF_VERDICT_LIMITED, "build portprof with "
		               "a newer libpfm4 (configure "
		               "--with-libpfm4=PREFIX); until then use generic "
		               "names (cycles) or raw codes (rHEX)",
		               "%s: libpfm4 has no table for it, so its own "
		               "event names are unknown", cpu);
	else
		ppi_doctor_add(doctor, PPI_TOPIC_MACHINE, "cpu-events",
		               PORTPROF_VERDICT_LIMITED, "install libpfm4-dev "
		               "and build portprof again", "%s: without "
		               "libpfm4 only generic names, raw codes (rHEX) "
		               "and the system's own names are known", cpu);
}

/* Its first line; -1: there is no such file, 0: it has none for this user. */
static int first_line(const struct ppi_doctor *doctor, const char *path,
                      char line[64])
{
	FILE *file = ppi_doctor_open_file(doctor->host, path);
	bool has_line = file && fgets(line, 64, file);

	if (!file)
		return -1;
	fclose(file);
	return has_line;
}

static void kernel_names(struct ppi_doctor *doctor)
{
	char line[64];

	if (first_line(doctor, "/proc/kallsyms", line) <= 0)
		return;
	if (strspn(line, "0") < strcspn(line, " "))
		ppi_doctor_add(doctor, PPI_TOPIC_MACHINE, "kernel-names",
		               PORTPROF_VERDICT_WORKS, NULL,
		               "functions of the kernel have names");
	else
		ppi_doctor_add(doctor, PPI_TOPIC_MACHINE, "kernel-names",
		               PORTPROF_VERDICT_LIMITED,
		               "sudo sysctl kernel.kptr_restrict=0",
		               "functions of the kernel have no names: "
		               "/proc/kallsyms shows this user no addresses");
}

/* On Linux one of these works; a system that only has a /proc like its has none. */
static bool is_linux(const struct ppi_doctor *doctor)
{
	for (size_t i = 0; i < doctor->backend_count; i++)
		if (doctor->backends[i].is_usable &&
		    (strcmp(doctor->backends[i].name, "timer") == 0 ||
		     strcmp(doctor->backends[i].name, "perf") == 0))
			return true;
	return false;
}

/* The own one stands for all: who may read it may read others'. */
static void kernel_stacks(struct ppi_doctor *doctor)
{
	char line[64];
	int lines = is_linux(doctor)
		? first_line(doctor, "/proc/self/stack", line) : -1;

	if (lines < 0)
		return;
	if (lines)
		ppi_doctor_add(doctor, PPI_TOPIC_MACHINE, "kernel-waits",
		               PORTPROF_VERDICT_WORKS, NULL,
		               "where threads wait is seen in the kernel, too");
	else
		ppi_doctor_add(doctor, PPI_TOPIC_MACHINE, "kernel-waits",
		               PORTPROF_VERDICT_LIMITED,
		               "record as root (CAP_SYS_ADMIN) if you need more",
		               "where threads wait is seen as far as the system "
		               "call: this user may not read /proc/PID/stack");
}

static void timers(struct ppi_doctor *doctor)
{
	if (doctor->host->timers < TIMERS_FINE)
		ppi_doctor_add(doctor, PPI_TOPIC_LIMITS, "timers",
		               PORTPROF_VERDICT_LIMITED,
		               "ulimit -i 1024, up to the hard limit",
		               "%" PRIu64 " pending signals: the backend timer "
		               "takes one for each thread",
		               doctor->host->timers);
}

/* Parts of it. */
static void add_machine(struct ppi_doctor *doctor)
{
	table(doctor);
	kernel_names(doctor);
	kernel_stacks(doctor);
	timers(doctor);
}

/* ---- findings ---- */

void ppi_doctor_add(struct ppi_doctor *doctor, enum ppi_topic topic,
                    const char *name, portprof_verdict verdict,
                    const char *remedy, const char *words, ...)
{
	struct ppi_finding *grown = realloc(
		doctor->findings, (doctor->count + 1) * sizeof(*grown));
	va_list list;

	if (!grown) {
		doctor->is_out_of_memory = true;
		return;
	}
	doctor->findings = grown;
	grown += doctor->count++;
	memset(grown, 0, sizeof(*grown));
	grown->topic = topic;
	grown->verdict = verdict;
	snprintf(grown->name, sizeof(grown->name), "%s", name);
	snprintf(grown->remedy, sizeof(grown->remedy), "%s",
	         remedy ? remedy : "");
	va_start(list, words);
	vsnprintf(grown->words, sizeof(grown->words), words, list);
	va_end(list);
}

/* ---- backends ---- */

static void find_backends(struct ppi_doctor *doctor)
{
	const struct ppi_doctor_host *host = doctor->host;
	size_t room = sizeof(doctor->backends) / sizeof(doctor->backends[0]);

	while (doctor->backend_count < room) {
		portprof_backend_info *info =
			&doctor->backends[doctor->backend_count];

		info->size = sizeof(*info);
		if (host->backend(host->self, doctor->backend_count, info))
			break;
		info->reason = doctor->reasons[doctor->backend_count] =
			strdup(info->reason);
		if (!info->reason) {
			doctor->is_out_of_memory = true;
			break;
		}
		doctor->backend_count++;
	}
}

static enum ppi_topic topic_of(const char *name)
{
	for (int topic = 0; topic < PPI_TOPIC_COUNT; topic++)
		if (strcmp(ppi_topic_key((enum ppi_topic)topic), name) == 0)
			return (enum ppi_topic)topic;
	return PPI_TOPIC_MACHINE;
}

static int take_finding(const portprof_finding *finding, void *context)
{
	ppi_doctor_add(context, topic_of(finding->topic), finding->name,
	               finding->verdict, finding->remedy, "%s",
	               finding->words);
	return 0;
}

/* Names of the usable backends that have all these capabilities; those of
 * negative rank are only taken by name. */
static size_t list_backends(const struct ppi_doctor *doctor, uint64_t caps,
                            char *out, size_t room)
{
	size_t count = 0;

	out[0] = '\0';
	for (size_t i = 0; i < doctor->backend_count; i++) {
		const portprof_backend_info *backend = &doctor->backends[i];
		size_t used = strlen(out);

		if (!backend->is_usable || (backend->caps & caps) != caps ||
		    backend->rank < 0)
			continue;
		snprintf(out + used, room - used, "%s%s", used ? ", " : "",
		         backend->name);
		count++;
	}
	return count;
}

static void sampling(struct ppi_doctor *doctor)
{
	char names[160], others[160];

	doctor->can_sample = list_backends(doctor, PORTPROF_CAP_SAMPLE, names,
	                                   sizeof(names)) > 0;
	if (!doctor->can_sample)
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "cpu-time",
		               PORTPROF_VERDICT_FAILS, "see below",
		               "no backend can sample CPU time here");
	else if (list_backends(doctor, PORTPROF_CAP_SAMPLE |
	                       PORTPROF_CAP_ATTACH, others, sizeof(others)))
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "cpu-time",
		               PORTPROF_VERDICT_WORKS, NULL, "sampled by %s",
		               names);
	else
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "cpu-time",
		               PORTPROF_VERDICT_LIMITED, "see below",
		               "sampled by %s, from inside the program: no "
		               "running, statically linked or privileged "
		               "programs, no kernel code", names);
}

/* Classes of events and targets that no backend reported on: by what the
 * backends can do. */
static void classes(struct ppi_doctor *doctor)
{
	static const struct {
		const char *name;
		uint64_t cap;
	} rows[] = {
		{ "kernel-mode", PORTPROF_CAP_KERNEL },
		{ "hardware-events", PORTPROF_CAP_HARDWARE },
		{ "software-events", PORTPROF_CAP_EVENTS },
		{ "other-processes", PORTPROF_CAP_ATTACH },
	};
	char names[160];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (ppi_doctor_find(doctor, rows[i].name))
			continue;
		if (list_backends(doctor, rows[i].cap, names, sizeof(names)))
			ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, rows[i].name,
			               PORTPROF_VERDICT_WORKS, NULL, "by %s",
			               names);
		else
			ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, rows[i].name,
			               PORTPROF_VERDICT_FAILS, "see below",
			               "no backend that works here has the "
			               "capability '%s'",
			               portprof_cap_name(rows[i].cap));
	}
}

/* ---- the whole host ---- */

void ppi_doctor_examine(struct ppi_doctor *doctor,
                        const struct ppi_doctor_host *host)
{
	memset(doctor, 0, sizeof(*doctor));
	doctor->host = host;
	find_backends(doctor);
	sampling(doctor);
	host->examine(host->self, take_finding, doctor);
	classes(doctor);
	add_machine(doctor);
	add_build(doctor);
}

void ppi_doctor_free(struct ppi_doctor *doctor)
{
	for (size_t i = 0; i < doctor->backend_count; i++)
		free(doctor->reasons[i]);
	doctor->backend_count = 0;
	free(doctor->findings);
	doctor->findings = NULL;
	doctor->count = 0;
}

const struct ppi_finding *ppi_doctor_find(const struct ppi_doctor *doctor,
                                          const char *name)
{
	for (size_t i = 0; i < doctor->count; i++)
		if (strcmp(doctor->findings[i].name, name) == 0)
			return &doctor->findings[i];
	return NULL;
}

/* ---- names ---- */

const char *ppi_verdict_name(portprof_verdict verdict)
{
	static const char *const names[] = {
		[PORTPROF_VERDICT_WORKS] = "works",
		[PORTPROF_VERDICT_LIMITED] = "limited",
		[PORTPROF_VERDICT_FAILS] = "no",
		[PORTPROF_VERDICT_UNKNOWN] = "unknown",
	};

	return names[verdict];
}

const char *ppi_topic_name(enum ppi_topic topic)
{
	static const char *const names[] = {
		[PPI_TOPIC_EVENTS] = "What can be measured",
		[PPI_TOPIC_RIGHTS] = "Rights",
		[PPI_TOPIC_MACHINE] = "The machine",
		[PPI_TOPIC_LIMITS] = "Limits",
		[PPI_TOPIC_PROGRAM] = "Programs",
		[PPI_TOPIC_BUILD] = "This build of portprof",
	};

	return names[topic];
}

const char *ppi_topic_key(enum ppi_topic topic)
{
	static const char *const keys[] = {
		[PPI_TOPIC_EVENTS] = "events",   [PPI_TOPIC_RIGHTS] = "rights",
		[PPI_TOPIC_MACHINE] = "machine", [PPI_TOPIC_LIMITS] = "limits",
		[PPI_TOPIC_PROGRAM] = "program", [PPI_TOPIC_BUILD] = "build",
	};

	return keys[topic];
}
