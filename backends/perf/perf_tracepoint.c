/* SPDX-License-Identifier: MIT */
/* Tracepoints of the kernel: names to the numbers that tracefs gives them. */
#include "backends/perf/perf_tracepoint.h"

#include "backends/perf/perf_names.h"
#include "backends/perf/perf_proc.h"
#include "backends/perf/perf_sysfs.h"
#include "backends/perf/perf_tables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PATH_ROOM = 512 };

const char *perf_tracepoint_folder(const struct perf_kernel *kernel, int *error)
{
	static const char *const places[] = {
		"/sys/kernel/tracing", /* Documentation/trace/ftrace.rst, 4.1 */
		"/sys/kernel/debug/tracing",
	};

	*error = ENOENT;
	for (size_t i = 0; i < 2; i++) {
		char path[PATH_ROOM], byte;
		ssize_t got;

		snprintf(path, sizeof(path), "%s/available_events", places[i]);
		got = kernel->read_file(kernel->self, path, 0, &byte, 1);
		if (got >= 0)
			return places[i];
		if (got != -ENOENT)
			*error = (int)-got;
	}
	return NULL;
}

bool perf_tracepoint_is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
	                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                              "0123456789_-";
	size_t group = strspn(name, letters);
	size_t event = name[group] == ':' ? strspn(name + group + 1, letters)
	                                  : 0;

	return group > 0 && event > 0 && name[group + 1 + event] == '\0';
}

static portprof_status refuse_tracepoint(
	const struct perf_kernel *kernel,
	const struct ppi_event_request *request, const char *folder,
	bool *is_there, struct ppi_diag *why)
{
	int length = (int)strcspn(request->name, ":");
	char path[PATH_ROOM], text[8];

	snprintf(path, sizeof(path), "%s/events/%.*s/enable", folder, length,
	         request->name);
	*is_there = perf_proc_text(kernel, path, text, sizeof(text));
	return ppi_fail(why, PORTPROF_E_NOTFOUND, 0, "resolve event",
	                "event '%s': no such tracepoint is in %s/events; "
	                "portprof list '%.*s:*' shows those of its group",
	                request->text, folder, length, request->name);
}

/* Whether the first part is an event, so that the second was to be a unit
 * mask or modifier of it. */
static bool is_event(const char *name)
{
	char first[192];
	struct ppi_perf_name generic;
	struct ppi_table_answer answer;

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(name, ":"), name);
	return ppi_perf_name_find(first, &generic) ||
	       ppi_table_encode(first, &answer) != PPI_TABLE_NO_EVENT;
}

static portprof_status refuse_lookup(const struct ppi_event_request *request,
                                     int error, bool *is_there,
                                     struct ppi_diag *why)
{
	if (error == ENOENT || is_event(request->name))
		return PORTPROF_E_NOTFOUND;
	*is_there = true;
	return ppi_fail(why, PORTPROF_E_DENIED, error, "resolve event",
	                "event '%s' is none of this system; if it is a "
	                "tracepoint: this user may not look at those: as "
	                "administrator, mount -o remount,mode=755 "
	                "/sys/kernel/tracing, and see portprof doctor",
	                request->text);
}

portprof_status perf_tracepoint_resolve(
	const struct perf_kernel *kernel,
	const struct ppi_event_request *request, enum ppi_mode mode,
	struct ppi_event *event, bool *is_there, struct ppi_diag *why)
{
	char path[PATH_ROOM];
	int error, group = (int)strcspn(request->name, ":");
	const char *folder = perf_tracepoint_folder(kernel, &error);
	int64_t number;

	if (!folder)
		return refuse_lookup(request, error, is_there, why);
	snprintf(path, sizeof(path), "%s/events/%.*s/%s/id", folder, group,
	         request->name, request->name + group + 1);
	number = perf_proc_number(kernel, path, -1);
	if (number < 0)
		return refuse_tracepoint(kernel, request, folder, is_there,
		                         why);
	*is_there = true;
	event->type = PERF_TYPE_TRACEPOINT;
	event->config[0] = (uint64_t)number;
	snprintf(event->pmu, sizeof(event->pmu), "tracepoint");
	perf_sysfs_set_modes(event);
	return ppi_perf_event_finish(event, mode, request->name,
	                             "a tracepoint of the kernel", why);
}
