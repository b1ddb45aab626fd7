/* SPDX-License-Identifier: MIT */
/* What kind of host this is: read and asked, nothing concluded but that. */
#include "config.h"

#include "tools/doctor/doctor.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* linux/capability.h */
enum { CAP_IPC_LOCK_BIT = 14, CAP_SYS_ADMIN_BIT = 21, CAP_PERFMON_BIT = 38 };

/* ---- files ---- */

static FILE *open_file(const struct ppi_doctor_host *host, const char *path)
{
	char name[512];

	snprintf(name, sizeof(name), "%s%s", host->root, path);
	return fopen(name, "re");
}

bool ppi_doctor_read(const struct ppi_doctor_host *host, const char *path,
                     char *out, size_t room)
{
	FILE *file = open_file(host, path);
	size_t got;

	if (!file)
		return false;
	got = fread(out, 1, room - 1, file);
	out[got] = '\0';
	/* a folder can be opened, and read by nobody */
	if (got == 0 && ferror(file)) {
		fclose(file);
		return false;
	}
	fclose(file);
	return true;
}

bool ppi_doctor_exists(const struct ppi_doctor_host *host, const char *path)
{
	FILE *file = open_file(host, path);

	if (file)
		fclose(file);
	return file != NULL || errno == EACCES;
}

int64_t ppi_doctor_number(const struct ppi_doctor_host *host, const char *path,
                          int64_t otherwise)
{
	char text[64], *end;
	long long number;

	if (!ppi_doctor_read(host, path, text, sizeof(text)))
		return otherwise;
	number = strtoll(text, &end, 10);
	return end == text ? otherwise : number;
}

bool ppi_doctor_field(const struct ppi_doctor_host *host, const char *path,
                      const char *key, char *out, size_t room)
{
	FILE *file = open_file(host, path);
	size_t length = strlen(key);
	bool is_found = false;
	char line[4096];

	while (file && !is_found && fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':'), *end = colon;

		/* /proc/cpuinfo has blanks before its colons */
		while (end && end > line && isspace((unsigned char)end[-1]))
			end--;
		if (!end || (size_t)(end - line) != length ||
		    strncmp(line, key, length) != 0)
			continue;
		is_found = true;
		colon++;
		colon += strspn(colon, " \t");
		snprintf(out, room, "%.*s", (int)strcspn(colon, "\n"), colon);
	}
	if (file)
		fclose(file);
	return is_found;
}

/* ---- rights ---- */

static void find_rights(const struct ppi_doctor_host *host,
                        struct ppi_facts *facts)
{
	unsigned long long first = 0, outside = 0, count = 0;
	char text[128];
	uint64_t caps = 0;

	facts->paranoid = ppi_doctor_number(host, PARANOID, INT64_MIN);
	facts->has_paranoid = facts->paranoid != INT64_MIN;
	if (ppi_doctor_field(host, "/proc/self/status", "CapEff", text,
	                     sizeof(text)))
		caps = strtoull(text, NULL, 16);
	/* user_namespaces(7): all numbers stand for themselves outside only */
	if (ppi_doctor_read(host, "/proc/self/uid_map", text, sizeof(text)) &&
	    sscanf(text, "%llu %llu %llu", &first, &outside, &count) == 3)
		facts->is_in_user_namespace = first != outside ||
		                              count < UINT32_MAX;
	if (facts->is_in_user_namespace)
		return;
	facts->can_admin = caps >> CAP_SYS_ADMIN_BIT & 1;
	facts->can_perfmon = caps >> CAP_PERFMON_BIT & 1 || facts->can_admin;
	facts->can_lock = caps >> CAP_IPC_LOCK_BIT & 1;
}

/* ---- the ladder ---- */

static bool has_filter(const struct ppi_doctor_host *host)
{
	char text[16];

	return ppi_doctor_field(host, "/proc/self/status", "Seccomp", text,
	                        sizeof(text)) && strtol(text, NULL, 10) == 2;
}

static enum ppi_wall wall_of_call(const struct ppi_doctor_host *host,
                                  const struct ppi_facts *facts, int error)
{
	if (error == EINVAL)
		return PPI_WALL_NONE;
	if (error == ENOSYS && !facts->has_paranoid && !has_filter(host))
		return PPI_WALL_KERNEL;
	return PPI_WALL_FILTER;
}

static int ask(const struct ppi_doctor_host *host, struct ppi_facts *facts,
               enum ppi_ask what, uint64_t number)
{
	facts->answers[what] = host->ask(host->self, what, number);
	return facts->answers[what];
}

/* From the outside in: each question is asked when the one before it has
 * come through. */
static void climb(const struct ppi_doctor_host *host, struct ppi_facts *facts)
{
	int error = ask(host, facts, PPI_ASK_FLAGS, 0);

	facts->wall = wall_of_call(host, facts, error);
	facts->wall_errno = error;
	if (facts->wall != PPI_WALL_NONE)
		return;
	error = ask(host, facts, PPI_ASK_ATTR, 0);
	facts->wall_errno = error;
	if (error == EACCES || error == EPERM)
		facts->wall = PPI_WALL_LOCK;
	else if (error != E2BIG)
		facts->wall = PPI_WALL_OTHER;
	if (facts->wall != PPI_WALL_NONE)
		return;
	error = ask(host, facts, PPI_ASK_DUMMY, 0);
	facts->wall_errno = error;
	if (error == EACCES || error == EPERM)
		facts->wall = PPI_WALL_MODULE;
	else if (error == EMFILE || error == ENFILE)
		facts->wall = PPI_WALL_FILES;
	else if (error != 0)
		facts->wall = PPI_WALL_OTHER;
}

/* Where tracepoints are, if this user may see them: the id of one that every
 * kernel has. */
static int64_t find_tracepoint(const struct ppi_doctor_host *host)
{
	int64_t id = ppi_doctor_number(
		host, "/sys/kernel/tracing/events/sched/sched_switch/id", -1);

	return id >= 0 ? id
	               : ppi_doctor_number(host, "/sys/kernel/debug/tracing/"
	                                   "events/sched/sched_switch/id", -1);
}

static void ask_events(const struct ppi_doctor_host *host,
                       struct ppi_facts *facts)
{
	enum { RING = 128 << 10 };
	int64_t tracepoint = find_tracepoint(host);

	for (int what = PPI_ASK_USER_TIME; what <= PPI_ASK_BRANCHES; what++)
		ask(host, facts, (enum ppi_ask)what, 0);
	if (tracepoint >= 0)
		ask(host, facts, PPI_ASK_TRACEPOINT, (uint64_t)tracepoint);
	ask(host, facts, PPI_ASK_SYSTEM, 0);
	ask(host, facts, PPI_ASK_RING, RING);
	facts->has_pmu = facts->answers[PPI_ASK_CYCLES] == 0;
}

/* ---- where we are ---- */

static void find_container(const struct ppi_doctor_host *host,
                           struct ppi_facts *facts)
{
	static const struct {
		const char *path, *word, *name;
	} signs[] = {
		{ "/.dockerenv", NULL, "docker" },
		{ "/run/.containerenv", NULL, "podman" },
		{ "/proc/1/cgroup", "kubepods", "kubernetes" },
		{ "/proc/1/cgroup", "docker", "docker" },
		{ "/proc/1/cgroup", "libpod", "podman" },
		{ "/proc/1/cgroup", "lxc", "lxc" },
		{ "/run/systemd/container", "", "container" },
	};
	char text[4096];

	if (host->environment(host->self, "KUBERNETES_SERVICE_HOST")) {
		strcpy(facts->container, "kubernetes");
		return;
	}
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (!signs[i].word && !ppi_doctor_exists(host, signs[i].path))
			continue;
		if (signs[i].word &&
		    (!ppi_doctor_read(host, signs[i].path, text,
		                      sizeof(text)) ||
		     !strstr(text, signs[i].word)))
			continue;
		strcpy(facts->container, signs[i].name);
		return;
	}
	if (host->environment(host->self, "container"))
		strcpy(facts->container, "container");
}

static void find_machine(const struct ppi_doctor_host *host,
                         struct ppi_facts *facts)
{
	static const char *const names[] = {
		"/sys/hypervisor/type", "/sys/class/dmi/id/product_name",
		"/proc/device-tree/hypervisor/compatible",
	};
	char text[4096];

	facts->is_virtual = ppi_doctor_field(host, "/proc/cpuinfo", "flags",
	                                     text, sizeof(text)) &&
	                    strstr(text, " hypervisor");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		/* DMI names the machine, virtual or not */
		if ((i == 1 && !facts->is_virtual) ||
		    !ppi_doctor_read(host, names[i], text, sizeof(text)))
			continue;
		snprintf(facts->machine, sizeof(facts->machine), "%.*s",
		         (int)strcspn(text, "\n"), text);
		facts->is_virtual = true;
		return;
	}
}

static void find_cpu(const struct ppi_doctor_host *host,
                     struct ppi_facts *facts)
{
	static const char cpuinfo[] = "/proc/cpuinfo";
	char maker[32], part[32];

	if (ppi_doctor_field(host, cpuinfo, "model name", facts->cpu,
	                     sizeof(facts->cpu)))
		return;
	if (ppi_doctor_field(host, cpuinfo, "CPU implementer", maker,
	                     sizeof(maker)) &&
	    ppi_doctor_field(host, cpuinfo, "CPU part", part, sizeof(part)))
		snprintf(facts->cpu, sizeof(facts->cpu),
		         "implementer %.31s, part %.31s", maker, part);
	else
		strcpy(facts->cpu, "an unnamed CPU");
}

static int take_pmu(const portprof_catalogue_pmu *pmu, void *context)
{
	struct ppi_facts *facts = context;

	if (pmu->source != PORTPROF_SOURCE_TABLE || !pmu->is_core)
		return 0;
	/* the architectural events, which every Intel CPU has */
	if (strcmp(pmu->name, "ix86arch") == 0)
		return 0;
	facts->has_table = true;
	memcpy(facts->table, pmu->name, sizeof(facts->table));
	return 1;
}

static void find_build(struct ppi_facts *facts)
{
#define ROW(name, answer, gives) \
	if (strcmp(name, "libpfm4") == 0) \
		facts->has_libpfm4 = strncmp(answer, "no", 2) != 0;
	PPI_BUILD_TABLE(ROW)
#undef ROW
}

void ppi_facts_find(const struct ppi_doctor_host *host,
                    struct ppi_facts *facts)
{
	memset(facts, 0, sizeof(*facts));
	for (size_t i = 0; i < PPI_ASK_COUNT; i++)
		facts->answers[i] = -1;
	find_rights(host, facts);
	if (host->has_perf)
		climb(host, facts);
	else
		facts->wall = PPI_WALL_SYSTEM;
	if (facts->wall == PPI_WALL_NONE)
		ask_events(host, facts);
	find_container(host, facts);
	find_machine(host, facts);
	find_cpu(host, facts);
	host->pmus(host->self, take_pmu, facts);
	find_build(facts);
}
