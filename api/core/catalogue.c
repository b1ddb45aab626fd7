/* SPDX-License-Identifier: MIT */
/* The catalogue of events and PMUs, by the backend that names them. */
#include <portprof/catalogue.h>

#include "api/core/diag.h"
#include "api/core/event.h"
#include "api/core/select.h"

#include <stdio.h>
#include <string.h>

/* What backends know that have no catalogue of their own. */
static const char *const common[] = { "task-clock", "cpu-clock" };

enum { COMMON = sizeof(common) / sizeof(common[0]) };

static bool knows(const struct ppi_backend_ops *ops, const char *name,
                  struct ppi_event *event)
{
	const void *kernel = ppi_backend_kernel(ops);
	struct ppi_event_request request;
	struct ppi_diag why;

	return kernel && ppi_event_parse(name, &request, &why) == 0 &&
	       (ops->resolve(kernel, &request, PPI_SAMPLE, event, &why) == 0 ||
	        ops->resolve(kernel, &request, PPI_COUNT, event, &why) == 0);
}

/* One backend's events on their way to who asked. */
struct giving {
	portprof_event_fn take;
	void *context;
	size_t better; /* backends whose events were given already */
	bool is_over;
};

static bool is_given(const struct giving *giving, const char *name)
{
	struct ppi_event event;

	for (size_t i = 0; i < giving->better; i++)
		if (knows(ppi_backend_at(i), name, &event))
			return true;
	return false;
}

static int give(const portprof_catalogue_event *event, void *context)
{
	struct giving *giving = context;

	if (!is_given(giving, event->name))
		giving->is_over = giving->take(event, giving->context) != 0;
	return giving->is_over;
}

static void give_common(const struct ppi_backend_ops *ops,
                        struct giving *giving)
{
	for (size_t i = 0; i < COMMON && !giving->is_over; i++) {
		portprof_catalogue_event out = {
			.size = sizeof(out),
			.source = PORTPROF_SOURCE_SOFTWARE,
			.name = common[i], .also = "", .pmu = "",
		};
		struct ppi_event event;

		if (!knows(ops, common[i], &event))
			continue;
		out.means = event.description;
		give(&out, giving);
	}
}

static void give_all(const struct ppi_backend_ops *ops, struct giving *giving)
{
	const void *kernel = ppi_backend_kernel(ops);

	if (kernel && ops->catalogue)
		ops->catalogue->events(kernel, give, giving);
	else
		give_common(ops, giving);
}

/* Sets *only to the backend of that name, NULL for "auto". */
static portprof_status enter(const char *call, const char *backend,
                             bool has_take,
                             const struct ppi_backend_ops **only)
{
	struct ppi_diag why;

	if (!backend || !has_take)
		return ppi_refuse_null(call, backend ? "take" : "backend");
	*only = ppi_backend_find(backend);
	if (*only || strcmp(backend, "auto") == 0)
		return PORTPROF_OK;
	ppi_select_unknown(backend, &why);
	return ppi_report(&why);
}

portprof_status portprof_catalogue_events(const char *backend,
                                          portprof_event_fn take,
                                          void *context)
{
	struct giving giving = { .take = take, .context = context };
	const struct ppi_backend_ops *only, *ops;
	portprof_status status = enter("portprof_catalogue_events", backend,
	                               take != NULL, &only);

	if (status)
		return status;
	if (only)
		give_all(only, &giving);
	for (size_t i = 0; !only && (ops = ppi_backend_at(i)); i++) {
		giving.better = i;
		if (!giving.is_over && ppi_backend_rank(ops) >= 0)
			give_all(ops, &giving);
	}
	return PORTPROF_OK;
}

portprof_status portprof_catalogue_pmus(const char *backend,
                                        portprof_pmu_fn take, void *context)
{
	const struct ppi_backend_ops *only, *ops;
	portprof_status status = enter("portprof_catalogue_pmus", backend,
	                               take != NULL, &only);

	if (status)
		return status;
	for (size_t i = 0; (ops = ppi_backend_at(i)); i++) {
		const void *kernel = ppi_backend_kernel(ops);

		if ((!only || ops == only) && ops->catalogue && kernel)
			ops->catalogue->pmus(kernel, take, context);
	}
	return PORTPROF_OK;
}
