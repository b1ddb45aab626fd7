/* SPDX-License-Identifier: MIT */
/* Tracepoints of the kernel by the files of tracefs, and filters on them. */
#include "backends/perf/events/perf_names.h"
#include "backends/perf/events/perf_request.h"
#include "backends/perf/events/perf_sysfs.h"
#include "backends/perf/events/perf_tables.h"
#include "backends/perf/kernel/perf_proc.h"
#include "backends/perf/records/perf_fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PATH_ROOM = 512, FORMAT_ROOM = 8192 };

bool ppi_perf_tracepoint_is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
	                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                              "0123456789_-";
	size_t group = strspn(name, letters);
	size_t event = name[group] == ':' ? strspn(name + group + 1, letters)
	                                  : 0;
	const char *end = name + group + 1 + event;

	if (group == 0 || event == 0)
		return false;
	return *end == '\0' || (*end == '/' && end[strlen(end) - 1] == '/');
}

static portprof_status refuse_tracepoint(
	const struct perf_kernel *kernel,
	const struct perf_request *request, const char *folder,
	bool *is_there, struct ppi_diag *why)
{
	int length = (int)strcspn(request->core.name, ":");
	char path[PATH_ROOM], text[8];

	snprintf(path, sizeof(path), "%s/events/%.*s/enable", folder, length,
	         request->core.name);
	*is_there = ppi_perf_proc_text(kernel, path, text, sizeof(text));
	return ppi_fail(why, PORTPROF_E_NOTFOUND, 0, "resolve event",
	                "event '%s': no such tracepoint is in %s/events; "
	                "portprof list '%.*s:*' shows those of its group",
	                request->core.text, folder, length, request->core.name);
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

/* Or was meant to be one: what it is near to helps more than a file system. */
static bool is_near_event(const char *name)
{
	struct ppi_nearest nearest;
	struct ppi_table_pmu pmu;
	char first[192];
	int id = 0;

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(name, ":"), name);
	ppi_nearest_begin(&nearest, first);
	ppi_perf_names_offer(&nearest);
	while (ppi_table_next_pmu(&id, &pmu))
		if (pmu.is_present)
			ppi_table_offer_events(&pmu, &nearest);
	return nearest.best[0][0] != '\0';
}

static portprof_status refuse_lookup(const struct perf_request *request,
                                     int error, bool *is_there,
                                     struct ppi_diag *why)
{
	if (is_event(request->core.name) || is_near_event(request->core.name))
		return PORTPROF_E_NOTFOUND;
	*is_there = true;
	if (error == ENOENT)
		return ppi_because(
			why, PORTPROF_REASON_NEEDS_MOUNT,
			ppi_fail(why, PORTPROF_E_UNSUPPORTED, error,
		                 "resolve event", "event '%s': tracepoints "
		                 "need tracefs, which is not mounted: "
		                 PERF_TRACEFS_MOUNT, request->core.text));
	return ppi_because(
		why, PORTPROF_REASON_NEEDS_TRACING,
		ppi_fail(why, PORTPROF_E_DENIED, error, "resolve event",
	                 "event '%s' is unknown on this system; if it is a "
	                 "tracepoint, this user may not see those: "
	                 PERF_TRACEFS_SHOW ", and see portprof doctor",
	                 request->core.text));
}

/* ---- filters ---- */

/* Note where in the user's text the filter stands. */
static portprof_status take_filter(const struct perf_request *request,
                                   struct ppi_event *event,
                                   struct ppi_diag *why)
{
	const struct ppi_event_request *core = &request->core;
	struct perf_own *own = perf_own_of(event);

	for (size_t i = 0; i < core->part_count; i++) {
		const struct ppi_event_part *part = &core->parts[i];
		const char *text = core->text + part->at;
		const char *slash = memchr(text, '/', part->bytes);

		if (!slash)
			continue;
		own->filter_at = (uint8_t)(slash + 1 - core->text);
		own->filter_bytes = (uint8_t)(text + part->bytes - slash - 2);
		if (own->filter_bytes)
			continue;
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "resolve event",
		                "event '%s', column %u: the filter is empty; "
		                "write one such as /prev_pid==1/, or drop the "
		                "two '/'", core->text, own->filter_at);
	}
	return PORTPROF_OK;
}

/* A tracepoint's file `format`; false where it cannot be read. */
static bool read_format(const struct perf_kernel *kernel, const char *name,
                        char *text, size_t bytes)
{
	int error, group = (int)strcspn(name, ":");
	const char *folder = ppi_perf_tracepoint_folder(kernel, &error);
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), "%s/events/%.*s/%.*s/format",
	         folder ? folder : "", group, name,
	         (int)strcspn(name + group + 1, "/"), name + group + 1);
	return ppi_perf_proc_text(kernel, path, text, bytes);
}

/* "prev_comm (text), prev_pid" of what filters and field= can name. */
static void list_fields(const struct perf_kernel *kernel, const char *name,
                        char *out, size_t bytes)
{
	struct perf_raw_field field;
	char text[FORMAT_ROOM];
	const char *at = text;
	size_t used = 0;

	out[0] = '\0';
	if (!read_format(kernel, name, text, sizeof(text)))
		return;
	while (used < bytes && ppi_perf_raw_next(&at, &field))
		used += (size_t)snprintf(out + used, bytes - used, "%s%.*s%s",
		                         used ? ", " : "",
		                         (int)field.name_bytes, field.name,
		                         field.kind >= PERF_RAW_TEXT
		                         ? " (text)" : "");
}

/* ---- fields of samples ---- */

portprof_status ppi_perf_tracepoint_fields(const struct perf_kernel *kernel,
                                           const struct ppi_event *event,
                                           struct perf_raw_field *out,
                                           struct ppi_diag *why)
{
	const struct perf_asked *asked = &perf_own(event)->asked;
	const char *text = event->request.text;
	char format[FORMAT_ROOM], fields[320];

	if (!asked->field_count)
		return PORTPROF_OK;
	if (!read_format(kernel, event->request.name, format, sizeof(format)))
		return ppi_fail(why, PORTPROF_E_DENIED, EACCES, "resolve event",
		                "event '%s': its fields cannot be read from "
		                "tracefs: " PERF_TRACEFS_SHOW, text);
	for (size_t i = 0; i < asked->field_count; i++) {
		const char *name = text + asked->field_at[i];
		bool is_there = ppi_perf_raw_find(
			format, name, asked->field_bytes[i], &out[i]);

		if (is_there && out[i].kind != PERF_RAW_OTHER)
			continue;
		list_fields(kernel, event->request.name, fields,
		            sizeof(fields));
		return ppi_fail(why, is_there ? PORTPROF_E_UNSUPPORTED
		                              : PORTPROF_E_NOTFOUND,
		                0, "resolve event",
		                "event '%s', column %u: %s '%.*s'; fields: %s",
		                text, asked->field_at[i] + 1u,
		                is_there ? "samples keep numbers and texts, "
		                           "which this is not:"
		                         : "it has no field",
		                asked->field_bytes[i], name, fields);
	}
	return PORTPROF_OK;
}

/* ---- filters, tried ---- */

portprof_status
ppi_perf_tracepoint_check_filter(const struct perf_kernel *kernel,
                                 const struct ppi_event *event,
                                 struct ppi_diag *why)
{
	const struct perf_own *own = perf_own(event);
	struct perf_event_attr attr;
	char fields[320];
	int fd, error;

	if (!own->filter_bytes)
		return PORTPROF_OK;
	ppi_perf_attr_trial(event, &attr);
	fd = ppi_perf_open_attr(kernel, &attr, 0, -1, -1);
	if (fd < 0)
		return PORTPROF_OK; /* it could be opened: open says why */
	error = ppi_perf_set_filter(kernel, event, fd);
	kernel->close_event(kernel->self, fd, PERF_FRESH);
	if (error == 0)
		return PORTPROF_OK;
	list_fields(kernel, event->request.name, fields, sizeof(fields));
	return ppi_fail(why, error == -ENOMEM ? PORTPROF_E_NOMEM
	                                      : PORTPROF_E_INVALID,
	                -error, "resolve event", "event '%s', column %u: the "
	                "kernel refuses the filter '%.*s': %s%s%s",
	                event->request.text, own->filter_at + 1u,
	                own->filter_bytes, event->request.text + own->filter_at,
	                strerror(-error), fields[0] ? "; fields: " : "",
	                fields);
}

portprof_status ppi_perf_tracepoint_resolve(
	const struct perf_kernel *kernel,
	const struct perf_request *request, enum ppi_mode mode,
	struct ppi_event *event, bool *is_there, struct ppi_diag *why)
{
	struct perf_raw_field wanted[PERF_RAW_MAX];
	char path[PATH_ROOM], fields[320], means[384];
	int error, group = (int)strcspn(request->core.name, ":");
	const char *folder = ppi_perf_tracepoint_folder(kernel, &error);
	int64_t number;

	if (!folder)
		return refuse_lookup(request, error, is_there, why);
	snprintf(path, sizeof(path), "%s/events/%.*s/%.*s/id", folder, group,
	         request->core.name,
	         (int)strcspn(request->core.name + group + 1, "/"),
	         request->core.name + group + 1);
	number = ppi_perf_proc_number(kernel, path, -1);
	if (number < 0)
		return refuse_tracepoint(kernel, request, folder, is_there,
		                         why);
	*is_there = true;
	if (ppi_perf_check_software(event, request->core.name, why))
		return PORTPROF_E_UNSUPPORTED;
	perf_own_of(event)->type = PERF_TYPE_TRACEPOINT;
	perf_own_of(event)->config[0] = (uint64_t)number;
	snprintf(event->pmu, sizeof(event->pmu), "tracepoint");
	ppi_perf_set_modes(event);
	if (take_filter(request, event, why))
		return PORTPROF_E_INVALID;
	list_fields(kernel, request->core.name, fields, sizeof(fields));
	/* kernel/trace/trace_probe.h, FIELD_STRING_IP and FIELD_STRING_FUNC */
	perf_own_of(event)->is_probe = strstr(fields, "__probe_") != NULL;
	snprintf(means, sizeof(means), "a tracepoint%s%s%s",
	         perf_own(event)->filter_bytes ? ", where its filter is true"
	                                       : "",
	         fields[0] ? ", fields " : "", fields);
	if (ppi_perf_tracepoint_fields(kernel, event, wanted, why))
		return why ? why->status : PORTPROF_E_NOTFOUND;
	return ppi_perf_event_finish(event, mode, request->core.name, means,
	                             why);
}
