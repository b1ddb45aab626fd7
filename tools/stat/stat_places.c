/* SPDX-License-Identifier: MIT */
/* Counts apart: of each CPU, core or thread. Every event is opened once for each of
 * these places, as if it had been named as often. */
#include "config.h"

#include "tools/stat/stat.h"

#include "base/thread.h"
#include "base/vector.h"
#include "tools/tools.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool add_place(struct ppi_vector *places, const char *name,
                      const char *cpus, int64_t tid)
{
	struct ppi_stat_place place = { .tid = tid };

	snprintf(place.name, sizeof(place.name), "%s", name);
	snprintf(place.cpus, sizeof(place.cpus), "%s", cpus);
	return ppi_vector_add(places, sizeof(place), &place, 1);
}

/* ---- CPUs ---- */

/* Whether a list such as "0,2-3" has it; NULL has all. */
static bool is_listed(const char *list, long cpu)
{
	char *end;

	while (list && *list) {
		long first = strtol(list, &end, 10), last = first;

		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (cpu >= first && cpu <= last)
			return true;
		list = *end == ',' ? end + 1 : "";
	}
	return !list;
}

/* The number in a file of a CPU's topology; -1: unknown. */
static long topology(long cpu, const char *what)
{
	char path[128];
	long number = -1;
	FILE *file;

	snprintf(path, sizeof(path),
	         "/sys/devices/system/cpu/cpu%ld/topology/%s", cpu, what);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

/* "S0-C1" of both threads of a core is one place. */
static bool add_cpu(struct ppi_vector *places, long cpu, bool by_core)
{
	long core = topology(cpu, "core_id");
	char name[32], number[32];

	snprintf(number, sizeof(number), "%ld", cpu);
	snprintf(name, sizeof(name), "CPU%ld", cpu);
	if (by_core && core >= 0)
		snprintf(name, sizeof(name), "S%ld-C%ld",
		         topology(cpu, "physical_package_id"), core);
	for (size_t i = 0; by_core && i < places->count; i++) {
		struct ppi_stat_place *place =
			&PPI_AT(places, struct ppi_stat_place)[i];
		size_t used = strlen(place->cpus);

		if (strcmp(place->name, name) != 0)
			continue;
		snprintf(place->cpus + used, sizeof(place->cpus) - used, ",%s",
		         number);
		return true;
	}
	return add_place(places, name, number, 0);
}

/* Without /sys, as in many chroots: those that proc_stat(5) has a line of. */
static bool find_cpus_in_proc(const struct ppi_stat *stat,
                              struct ppi_vector *places)
{
	FILE *file = fopen("/proc/stat", "re");
	char line[256];
	bool is_good = true;

	while (file && is_good && fgets(line, sizeof(line), file)) {
		long cpu;

		if (strncmp(line, "cpu", 3) != 0 ||
		    !isdigit((unsigned char)line[3]))
			continue;
		cpu = strtol(line + 3, NULL, 10);
		if (is_listed(stat->options.targets.cpus, cpu))
			is_good = add_cpu(places, cpu, stat->options.by_core);
	}
	if (file)
		fclose(file);
	return is_good;
}

static bool find_cpus(const struct ppi_stat *stat, struct ppi_vector *places)
{
#ifdef _SC_NPROCESSORS_CONF
	long most = sysconf(_SC_NPROCESSORS_CONF);
#else /* POSIX has neither */
	long most = sysconf(_SC_NPROCESSORS_ONLN);
#endif
	bool is_good = true;

	for (long cpu = 0; is_good && cpu < most; cpu++)
		/* what is offline has no topology, and counts nothing */
		if (is_listed(stat->options.targets.cpus, cpu) &&
		    topology(cpu, "core_id") >= 0)
			is_good = add_cpu(places, cpu, stat->options.by_core);
	if (is_good && places->count == 0)
		is_good = find_cpus_in_proc(stat, places);
	return is_good;
}

/* ---- threads ---- */

static bool find_threads_of(int64_t pid, struct ppi_vector *places)
{
	char path[64], comm[64], name[96];
	struct dirent *entry;
	bool is_good = true;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%lld/task", (long long)pid);
	folder = opendir(path);
	while (folder && is_good && (entry = readdir(folder)) != NULL) {
		int64_t tid = strtoll(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		if (!ppi_thread_name(pid, tid, comm, sizeof(comm)))
			comm[0] = '\0';
		snprintf(name, sizeof(name), "%.30s-%lld", comm,
		         (long long)tid);
		is_good = add_place(places, name, "", tid);
	}
	if (folder)
		closedir(folder);
	return is_good;
}

static bool find_threads(const struct ppi_stat *stat,
                         struct ppi_vector *places)
{
	const struct ppi_targets *targets = &stat->options.targets;
	bool is_good = true;

	for (size_t i = 0; is_good && i < targets->count; i++)
		is_good = find_threads_of(targets->processes[i].id, places);
	return is_good;
}

/* ---- events ---- */

/* As many as there were, for one place more. */
static bool repeat(struct ppi_stat *stat, size_t events, size_t groups,
                   const struct ppi_stat_place *place)
{
	for (size_t g = 0; g < groups; g++) {
		size_t first = stat->groups[g].first;

		if (!ppi_stat_add_group(stat))
			return false;
		for (size_t i = 0; i < stat->groups[g].count && i < events;
		     i++) {
			struct ppi_stat_event *event =
				ppi_stat_add_event(stat);
			const struct ppi_stat_event *of;

			if (!event)
				return false;
			of = &stat->events[first + i];
			event->asked = strdup(of->asked);
			event->was_named = of->was_named;
			event->preset = of->preset;
			event->part = of->part;
			event->group = stat->group_count - 1;
			event->place = place;
			stat->groups[event->group].count++;
			if (!event->asked)
				return false;
		}
	}
	return true;
}

bool ppi_stat_spread(struct ppi_stat *stat)
{
	const struct ppi_stat_options *options = &stat->options;
	size_t events = stat->event_count, groups = stat->group_count;
	struct ppi_vector places = { 0 };
	bool is_good = true;

	if (!options->by_cpu && !options->by_core && !options->by_thread)
		return true;
	is_good = options->by_thread ? find_threads(stat, &places)
	                             : find_cpus(stat, &places);
	stat->places = places.data;
	stat->place_count = places.count;
	for (size_t i = 0; is_good && i < events; i++)
		stat->events[i].place = stat->places;
	for (size_t i = 1; is_good && i < stat->place_count; i++)
		is_good = repeat(stat, events, groups, &stat->places[i]);
	if (!is_good)
		ppi_say("out of memory");
	else if (places.count == 0)
		ppi_say(options->by_thread
		        ? "-p has no threads any more"
		        : "which CPUs there are is neither in /sys nor in "
		          "/proc/stat: mount one of them, or leave out -A");
	return is_good && places.count > 0;
}

/* ---- names ---- */

int ppi_stat_place_width(const struct ppi_stat *stat)
{
	int width = 0;

	for (size_t i = 0; i < stat->place_count; i++)
		if ((int)strlen(stat->places[i].name) > width)
			width = (int)strlen(stat->places[i].name);
	return width;
}

const char *ppi_stat_place_key(const struct ppi_stat *stat)
{
	return stat->options.by_thread ? "thread"
	       : stat->options.by_core ? "core"
	                               : "cpu";
}
