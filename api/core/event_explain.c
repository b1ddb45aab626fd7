/* SPDX-License-Identifier: MIT */
/* portprof_event_try and portprof_event_look_up: whether an event string is
 * well-formed, and what it means on a backend. Opens nothing that stays. */
#include "api/core/event.h"

#include "api/core/diag.h"
#include "api/core/open.h"
#include "api/core/preset.h"
#include "api/core/select.h"
#include "api/core/sized.h"

#include <string.h>

/* What an event is, and whether it is one that can only be counted. */
struct resolved {
	struct ppi_event event;
	bool is_counted_only;
};

/* What is only counted is explained too: counting is the second try. */
static portprof_status resolve(const struct ppi_backend_ops *ops,
                               const struct ppi_event_request *request,
                               struct resolved *out, struct ppi_diag *why)
{
	const void *kernel = ppi_backend_kernel(ops);
	struct ppi_diag ignored;
	portprof_status status = ops->resolve(kernel, request, PPI_SAMPLE,
	                                      &out->event, why);

	out->is_counted_only = false;
	if (status == PORTPROF_E_UNSUPPORTED &&
	    ops->resolve(kernel, request, PPI_COUNT, &out->event, &ignored) ==
	            PORTPROF_OK) {
		out->is_counted_only = true;
		return PORTPROF_OK;
	}
	return status;
}

/* The best backend of this system that knows the event; the words are those of
 * the best one that does not. Those of negative rank are only taken by name. */
static portprof_status resolve_on_best(const struct ppi_event_request *request,
                                       struct resolved *out,
                                       struct ppi_diag *why)
{
	const struct ppi_backend_ops *ops;
	struct ppi_diag other;
	portprof_status first = PORTPROF_OK;

	for (size_t i = 0; (ops = ppi_backend_at(i)); i++) {
		portprof_status status;

		if (ppi_backend_rank(ops) < 0 || !ppi_backend_kernel(ops))
			continue;
		status = resolve(ops, request, out, first ? &other : why);
		if (status == PORTPROF_OK)
			return PORTPROF_OK;
		if (first == PORTPROF_OK)
			first = status;
	}
	if (first)
		return first;
	return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "resolve event",
	                "this build has no backend that measures anything");
}

static portprof_status refuse_preset(const struct ppi_event_request *request,
                                     struct ppi_diag *why)
{
	const portprof_preset *preset =
		ppi_preset_find(request->name, strlen(request->name));

	if (!preset)
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_INVALID, 0, "explain event",
	                "'%s' is a preset, not one event: explain its events, "
	                "such as %s",
	                request->text, preset->events[0]);
}

/* What the calling thread asked for last: it owns the strings of the info. */
static _Thread_local struct ppi_event last_found;

static portprof_status find(const char *event_string, const char *backend,
			    bool skip_open_check, portprof_event_info *info)
{
	struct ppi_event_request request;
	struct resolved found;
	portprof_event_info full;
	const struct ppi_backend_ops *ops;
	struct ppi_diag why;
	portprof_status status;

	if (!event_string || !backend || !info)
		return ppi_refuse_null(skip_open_check
					       ? "portprof_event_look_up"
					       : "portprof_event_try",
				       !event_string ? "event_string"
				       : !backend    ? "backend"
						     : "info");
	status = ppi_event_parse(event_string, &request, &why);
	if (status == PORTPROF_OK)
		status = refuse_preset(&request, &why);
	if (status)
		return ppi_report(&why);
	request.skip_open_check = skip_open_check;
	ops = ppi_backend_find(backend);
	if (strcmp(backend, "auto") == 0)
		status = resolve_on_best(&request, &found, &why);
	else if (ops)
		status = resolve(ops, &request, &found, &why);
	else
		status = ppi_select_unknown(backend, &why);
	if (status)
		return ppi_report(&why);
	last_found = found.event;
	ppi_event_info_fill(&last_found, &full);
	full.is_counted_only = found.is_counted_only;
	return ppi_sized_copy(info, &full, sizeof(full), "find event");
}

portprof_status portprof_event_try(const char *event_string,
				   const char *backend,
				   portprof_event_info *info)
{
	return find(event_string, backend, false, info);
}

static portprof_status check_form(const char *event_string)
{
	struct ppi_event_request request;
	struct ppi_diag why;

	if (!event_string)
		return ppi_refuse_null("portprof_event_look_up",
				       "event_string");
	return ppi_event_parse(event_string, &request, &why) ? ppi_report(&why)
							     : PORTPROF_OK;
}

portprof_status portprof_event_look_up(const char *event_string,
				       const char *backend,
				       portprof_event_info *info)
{
	return backend ? find(event_string, backend, true, info)
		       : check_form(event_string);
}
