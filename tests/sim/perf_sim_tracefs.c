/* SPDX-License-Identifier: MIT */
/* Probes on the simulated kernel: entries that are made in tracefs, and the rule
 * for events of the PMU `uprobe`. [v6.18 kernel/trace/trace_uprobe.c] */
#include "tests/sim/perf_sim_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "/sys/kernel/tracing"
enum { ENTRIES = 128, FIRST_ID = 7000 };

static struct entry {
	char name[64], place[128]; /* "GROUP/NAME"; the rest of its line */
	char kind;                 /* p, r; 0 = free */
} entries[ENTRIES];

void sim_clear_tracefs(void)
{
	memset(entries, 0, sizeof(entries));
}

static struct entry *find(const char *name, size_t bytes)
{
	for (struct entry *at = entries; at < entries + ENTRIES; at++)
		if (at->kind && strlen(at->name) == bytes &&
		    memcmp(at->name, name, bytes) == 0)
			return at;
	return NULL;
}

static bool is_in_use(const struct entry *entry)
{
	if (perf_sim_machine.holds_entries)
		return true;
	for (int fd = 0; fd < SIM_FDS; fd++)
		if (sim.fds[fd] && !sim.fds[fd]->is_folder &&
		    sim.fds[fd]->attr.type == PERF_TYPE_TRACEPOINT &&
		    sim.fds[fd]->attr.config ==
		            (uint64_t)(entry - entries + FIRST_ID))
			return true;
	return false;
}

static int make(char kind, const char *name, const char *place)
{
	struct entry *at = entries;

	if (strlen(name) >= sizeof(at->name) ||
	    strlen(strchr(name, '/')) > 64 || !strchr(place, '/'))
		return -EINVAL;
	/* one more place of the same event: nobody here wants that */
	if (find(name, strlen(name)))
		sim.abuses++;
	while (at < entries + ENTRIES && at->kind)
		at++;
	if (at == entries + ENTRIES)
		return -ENOMEM;
	at->kind = kind;
	strcpy(at->name, name);
	snprintf(at->place, sizeof(at->place), "%s", place);
	return 0;
}

int perf_sim_make_entry(const char *name)
{
	return make('p', name, "/bin/true:0x10");
}

int sim_append_file(void *self, const char *path, const void *bytes,
                    size_t count)
{
	char line[512], name[128], place[256], kind;
	int error = sim_fault(SIM_APPEND), end = 0;
	struct entry *entry;

	(void)self;
	if (error)
		return error;
	if (!perf_sim_machine.has_tracefs ||
	    strcmp(path, FOLDER "/uprobe_events") != 0)
		return -ENOENT;
	if (!perf_sim_machine.is_privileged)
		return -EACCES;
	snprintf(line, sizeof(line), "%.*s", (int)count, (const char *)bytes);
	if (sscanf(line, "-:%127s", name) == 1) {
		entry = find(name, strlen(name));
		if (!entry || is_in_use(entry))
			return entry ? -EBUSY : -ENOENT;
		entry->kind = 0;
		return 0;
	}
	/* argv_split: what has more parts than three is refused */
	if (sscanf(line, "%c:%127s %255s %n", &kind, name, place, &end) < 3 ||
	    line[end] || !strchr(name, '/') || (kind != 'p' && kind != 'r'))
		return -EINVAL;
	return make(kind, name, place);
}

bool sim_print_tracefs(const char *path, char *out, size_t room)
{
	static const char events[] = FOLDER "/events/";
	const struct entry *entry;
	size_t bytes;

	if (!perf_sim_machine.has_tracefs)
		return false;
	if (!strcmp(path, FOLDER "/available_events")) {
		snprintf(out, room, "sched:sched_switch\n");
		return true;
	}
	bytes = strlen(path);
	if (strncmp(path, events, sizeof(events) - 1) != 0 || bytes < 3 ||
	    strcmp(path + bytes - 3, "/id") != 0)
		return false;
	entry = find(path + sizeof(events) - 1,
	             bytes - 3 - (sizeof(events) - 1));
	if (entry)
		snprintf(out, room, "%td\n", entry - entries + FIRST_ID);
	return entry;
}

size_t sim_list_tracefs(const char *folder, char *out, size_t room)
{
	static const char events[] = FOLDER "/events/";
	size_t used = 0, group;

	if (!perf_sim_machine.has_tracefs ||
	    strncmp(folder, events, sizeof(events) - 1) != 0)
		return SIZE_MAX;
	folder += sizeof(events) - 1;
	group = strlen(folder);
	for (const struct entry *at = entries; at < entries + ENTRIES; at++) {
		const char *name = at->name + group + 1;

		if (!at->kind || strncmp(at->name, folder, group) != 0 ||
		    at->name[group] != '/')
			continue;
		if (used + strlen(name) + 1 <= room)
			strcpy(out + used, name);
		used += strlen(name) + 1;
	}
	return used;
}

size_t perf_sim_entries(char *out, size_t room)
{
	size_t count = 0, used = 0;

	for (const struct entry *at = entries; at < entries + ENTRIES; at++) {
		if (!at->kind)
			continue;
		count++;
		if (out && used < room)
			used += (size_t)snprintf(out + used, room - used,
			                         "%c:%s %s\n", at->kind,
			                         at->name, at->place);
	}
	return count;
}

/* What was removed has no event; and a copy of the PMU's event, made where the
 * path is not, makes the program's own call fail. */
int sim_check_probe(const struct perf_event_attr *attr)
{
	uint64_t at = attr->config - FIRST_ID;

	if (attr->type == PERF_SIM_UPROBE) {
		sim.abuses += attr->inherit;
		return perf_sim_machine.is_privileged ? 0 : -EACCES;
	}
	return perf_sim_machine.has_tracefs && attr->config >= FIRST_ID &&
	       (at >= ENTRIES || !entries[at].kind) ? -ENOENT : 0;
}
