/* SPDX-License-Identifier: MIT */
/* What no backend looks at: names of CPU events and of kernel functions, and
 * how many timers a user may have. */
#include "config.h"

#include "tools/doctor/doctor.h"

#include <inttypes.h>
#include <string.h>

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

static void kernel_names(struct ppi_doctor *doctor)
{
	FILE *file = ppi_doctor_open_file(doctor->host, "/proc/kallsyms");
	char line[64];
	bool has_line = file && fgets(line, sizeof(line), file);

	if (file)
		fclose(file);
	if (!has_line)
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

void ppi_doctor_machine(struct ppi_doctor *doctor)
{
	table(doctor);
	kernel_names(doctor);
	timers(doctor);
}
