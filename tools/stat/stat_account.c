/* SPDX-License-Identifier: MIT */
/*
 * What the system's accounts tell of events that may not be counted: CPU
 * time, faults and switches of a command and of the children that it waited
 * for. wait4(2) needs no permission.
 */
#include "config.h"

#include "tools/stat/stat.h"

#include <inttypes.h>
#include <string.h>

enum account { NONE, CPU_TIME, FAULTS, MINOR_FAULTS, MAJOR_FAULTS, SWITCHES };

static const struct {
	const char *name;
	enum account account;
} names[] = {
	{ "task-clock", CPU_TIME },      { "cpu-clock", CPU_TIME },
	{ "page-faults", FAULTS },       { "faults", FAULTS },
	{ "minor-faults", MINOR_FAULTS }, { "major-faults", MAJOR_FAULTS },
	{ "context-switches", SWITCHES }, { "cs", SWITCHES },
};

static enum account account_of(const char *event)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i].name, event) == 0)
			return names[i].account;
	return NONE;
}

bool ppi_stat_has_account(const struct ppi_stat *stat,
                          const struct ppi_stat_event *event)
{
	const struct ppi_stat_options *options = &stat->options;

	return event->refusal.status != PORTPROF_OK && options->command &&
	       !ppi_stat_is_attached(options) && !options->interval_ms &&
	       !options->delay_ms && options->follows_children &&
	       account_of(event->asked) != NONE;
}

/* ---- what belongs to the child before its exec ---- */

/* The first line of the file that begins so; what follows in it. */
static bool find_number(const char *path, const char *begin, uint64_t *number)
{
	FILE *file = fopen(path, "re");
	char line[256];
	bool is_found = false;

	while (file && !is_found && fgets(line, sizeof(line), file))
		is_found = strncmp(line, begin, strlen(begin)) == 0 &&
		           sscanf(line + strlen(begin), "%" SCNu64, number) ==
		                   1;
	if (file)
		fclose(file);
	return is_found;
}

/* Fields 10 and 12 of proc_pid_stat(5), after the name in brackets. */
static void find_faults(const char *path, struct ppi_stat_account *early)
{
	FILE *file = fopen(path, "re");
	char line[512], *at;

	if (!file)
		return;
	if (fgets(line, sizeof(line), file) && (at = strrchr(line, ')')))
		if (sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %" SCNu64
		           " %*u %" SCNu64, &early->minor_faults,
		           &early->major_faults) != 2)
			early->minor_faults = early->major_faults = 0;
	fclose(file);
}

/* Where there is no /proc of this kind, the little that a child does between
 * fork and exec is counted with the command. */
void ppi_stat_account_begin(struct ppi_stat *stat, pid_t child)
{
	struct ppi_stat_account *early = &stat->early;
	char path[64];
	uint64_t number;

	memset(early, 0, sizeof(*early));
	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)child);
	find_faults(path, early);
	snprintf(path, sizeof(path), "/proc/%ld/schedstat", (long)child);
	find_number(path, "", &early->cpu_ns);
	snprintf(path, sizeof(path), "/proc/%ld/status", (long)child);
	if (find_number(path, "voluntary_ctxt_switches:", &number))
		early->switches += number;
	if (find_number(path, "nonvoluntary_ctxt_switches:", &number))
		early->switches += number;
}

/* ---- at the end ---- */

static uint64_t less(uint64_t all, uint64_t early)
{
	return all > early ? all - early : 0;
}

struct ppi_stat_value ppi_stat_account_value(struct ppi_stat *stat,
                                             struct ppi_stat_event *event)
{
	const struct ppi_stat_account *early = &stat->early;
	const struct ppi_end *end = &stat->end;
	struct ppi_stat_value value = { .status = PORTPROF_COUNT_REFUSED,
		                        .is_by_wait4 = true };
	uint64_t minor = less(end->minor_faults, early->minor_faults);
	uint64_t major = less(end->major_faults, early->major_faults);
	enum account account = account_of(event->asked);

	event->info.unit = account == CPU_TIME ? PORTPROF_UNIT_NANOSECONDS
	                                       : PORTPROF_UNIT_COUNT;
	if (account == CPU_TIME)
		value.exact = less(end->cpu_time_ns, early->cpu_ns);
	else if (account == SWITCHES)
		value.exact = less(end->switches, early->switches);
	else
		value.exact = (account == MAJOR_FAULTS ? 0 : minor) +
		              (account == MINOR_FAULTS ? 0 : major);
	value.value = (double)value.exact;
	return value;
}
