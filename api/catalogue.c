/* SPDX-License-Identifier: MIT */
/* The catalogue of events and PMUs, by the backend that names them. */
#include <portprof/catalogue.h>

#include "api/internal/diag.h"
#include "api/internal/event.h"
#include "api/internal/select.h"

#include <stdio.h>
#include <string.h>

/* What a backend may know that has no catalogue of its own. */
static const char *const common[] = { "task-clock", "cpu-clock" };

static int give_common(const struct ppi_backend_ops *ops, const void *kernel,
                       const char *name, portprof_event_fn take, void *context)
{
	portprof_catalogue_event out = { .size = sizeof(out),
		                         .source = PORTPROF_SOURCE_SOFTWARE,
		                         .name = name, .also = "", .pmu = "" };
	struct ppi_event_request request;
	struct ppi_event event;
	struct ppi_diag why;

	if (ppi_event_parse(name, &request, &why) ||
	    ops->resolve(kernel, &request, PPI_SAMPLE, &event, &why))
		return 0;
	out.means = event.description;
	return take(&out, context);
}

/* The backend by its name; "auto": the best there is. */
static const struct ppi_backend_ops *find_backend(const char *name)
{
	return strcmp(name, "auto") == 0 ? ppi_backend_at(0)
	                                 : ppi_backend_find(name);
}

static portprof_status enter(const char *call, const char *backend,
                             bool has_take,
                             const struct ppi_backend_ops **ops)
{
	struct ppi_diag why;

	if (!backend || !has_take)
		return ppi_refuse_null(call, backend ? "take" : "backend");
	*ops = find_backend(backend);
	if (*ops)
		return PORTPROF_OK;
	ppi_select_unknown(backend, &why);
	return ppi_report(&why);
}

portprof_status portprof_catalogue_events(const char *backend,
                                          portprof_event_fn take,
                                          void *context)
{
	const struct ppi_catalogue_ops *catalogue;
	const struct ppi_backend_ops *ops;
	portprof_status status = enter("portprof_catalogue_events", backend,
	                               take != NULL, &ops);
	const void *kernel;

	if (status)
		return status;
	kernel = ppi_backend_kernel(ops);
	catalogue = ops->catalogue;
	if (kernel && catalogue)
		catalogue->events(kernel, take, context);
	for (size_t i = 0; kernel && !catalogue &&
	                   i < sizeof(common) / sizeof(common[0]); i++)
		if (give_common(ops, kernel, common[i], take, context))
			break;
	return PORTPROF_OK;
}

portprof_status portprof_catalogue_pmus(const char *backend,
                                        portprof_pmu_fn take, void *context)
{
	const struct ppi_catalogue_ops *catalogue;
	const struct ppi_backend_ops *ops;
	portprof_status status = enter("portprof_catalogue_pmus", backend,
	                               take != NULL, &ops);

	if (status)
		return status;
	catalogue = ops->catalogue;
	if (catalogue && ppi_backend_kernel(ops))
		catalogue->pmus(ppi_backend_kernel(ops), take, context);
	return PORTPROF_OK;
}
