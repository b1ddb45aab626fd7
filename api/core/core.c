/* SPDX-License-Identifier: MIT */
/*
 * What the library says of itself, of its backends and of the events of this
 * machine, without a session. The folder:
 *
 * From an event string to a request, and from a config to an opened backend:
 *   event_parse.c      one event string
 *   event_list.c       lists of them, groups in braces, presets
 *   session_config.c   the config: events, backend, target
 *   config_sinks.c     where its samples go
 *   config_file.c      configuration files: found, read, loaded
 *   config_settings.c  the table of settings
 *   config_value.c     the value of a setting
 *   plan.c             from a config to a plan
 *   select.c           chooses a backend
 *   open.c             opens it on a plan
 *
 * Sessions sample:
 *   session.c          open, start, stop, flush, reset, close
 *   session_query.c    the account, and what else a session reports
 *   session_steer.c    what of an open session can be changed
 *   process.c          all sessions of a process: fork, exec, dlclose
 *   helper.c           the one helper thread
 *   pump.c             from a backend to every sink
 *   session_sinks.c    a session's sinks, all together
 *   sink.c             array, callbacks, shared memory
 *   sink_hist.c        histograms
 *   sink_writer.c      a profile file; sink_writer_stub.c where none is written
 *
 * Groups count:
 *   group.c            open, read, start, stop, reset, close
 *   group_threads.c    threads that are added one by one
 *   region.c           pieces of code: begin, end, what they counted
 *   region_open.c      opens and closes sets of regions
 *   region_table.c     their table; $PORTPROF asks for it
 *
 * For all of them:
 *   backend.c          what the core does for backends
 *
 * Labels say whose work a thread does:
 *   label.c            sets, and which one a thread is in
 *   label_find.c       which set a sample's thread was in
 *   label_process.c    what processes are known to have of labels
 */
#include <portprof/backend.h>
#include <portprof/catalogue.h>
#include <portprof/status.h>
#include <portprof/version.h>

#include "api/common/diag.h"
#include "api/core/event.h"
#include "api/core/open.h"

#include <stdio.h>
#include <string.h>

/* ---- version and status codes ---- */

const char *portprof_version(void)
{
	return PORTPROF_VERSION_STRING;
}

struct entry {
	portprof_status status;
	const char *name;
	const char *text;
};

#define PORTPROF_STATUS(name, number, text) \
	{ PORTPROF_##name, "PORTPROF_" #name, text },
static const struct entry entries[] = {
#include "status.def"
};
#undef PORTPROF_STATUS

/* The header spells the numbers out for its readers; hold both together. */
#define PORTPROF_STATUS(name, number, text) \
	_Static_assert(PORTPROF_##name == (number), "status.h and status.def");
#include "status.def"
#undef PORTPROF_STATUS

static const struct entry *entry_of(portprof_status status)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (entries[i].status == status)
			return &entries[i];
	return NULL;
}

const char *portprof_status_name(portprof_status status)
{
	const struct entry *entry = entry_of(status);

	return entry ? entry->name : "PORTPROF_E_?";
}

const char *portprof_status_text(portprof_status status)
{
	const struct entry *entry = entry_of(status);

	return entry ? entry->text : "unknown status";
}

/* ---- the backends ---- */

size_t portprof_backend_count(void)
{
	size_t count = 0;

	while (ppi_backend_at(count))
		count++;
	return count;
}

static void describe(const struct ppi_backend_ops *ops,
                     portprof_backend_info *info)
{
	const void *kernel = ppi_backend_kernel(ops);
	struct ppi_probe probe = { 0 };

	if (kernel) {
		ops->probe(kernel, &probe);
	} else {
		probe.status = PORTPROF_E_UNSUPPORTED;
		snprintf(probe.reason, sizeof(probe.reason),
		         "this operating system does not have it");
	}
	info->is_usable = probe.is_usable;
	info->rank = ppi_backend_rank(ops);
	info->caps = probe.is_usable ? probe.caps : ops->caps;
	info->status = probe.is_usable ? PORTPROF_OK : probe.status;
	info->os_errno = probe.os_errno;
	info->name = ops->name;
	info->summary = ops->summary;
	memcpy(ppi_last()->reason, probe.reason, sizeof(probe.reason));
	info->reason = ppi_last()->reason;
}

portprof_status portprof_backend_info_get(size_t index,
                                          portprof_backend_info *info)
{
	const struct ppi_backend_ops *ops = ppi_backend_at(index);
	portprof_backend_info full = { 0 };

	if (!info)
		return ppi_refuse_null("portprof_backend_info_get", "info");
	if (!ops)
		return ppi_refuse(PORTPROF_E_INVALID, "backend info",
		                  "no backend number %zu: there are %zu",
		                  index, portprof_backend_count());
	describe(ops, &full);
	return ppi_sized_copy(info, &full, sizeof(full), "backend info");
}

/* ---- examining ---- */

/* Who asked, and whose findings these are. */
struct examination {
	portprof_finding_fn take;
	void *context;
	const char *backend;
	bool is_over;
};

static int pass_on(const portprof_finding *finding, void *context)
{
	struct examination *examination = context;
	portprof_finding full = *finding;

	full.backend = examination->backend;
	if (!examination->is_over)
		examination->is_over = examination->take(
			&full, examination->context) != 0;
	return examination->is_over;
}

static void examine(const struct ppi_backend_ops *ops,
                    struct examination *examination)
{
	const void *kernel = ppi_backend_kernel(ops);
	struct ppi_probe probe = { .take = pass_on, .context = examination };

	examination->backend = ops->name;
	if (kernel)
		ops->probe(kernel, &probe);
}

portprof_status portprof_backend_examine(const char *backend,
                                         portprof_finding_fn take,
                                         void *context)
{
	struct examination examination = { .take = take, .context = context };
	const struct ppi_backend_ops *ops;
	struct ppi_diag why;

	if (!backend || !take)
		return ppi_refuse_null("portprof_backend_examine",
		                       backend ? "take" : "backend");
	if (strcmp(backend, "auto") != 0) {
		ops = ppi_backend_find(backend);
		if (!ops) {
			ppi_select_unknown(backend, &why);
			return ppi_report(&why);
		}
		examine(ops, &examination);
		return PORTPROF_OK;
	}
	for (size_t i = 0; (ops = ppi_backend_at(i)) && !examination.is_over;
	     i++)
		examine(ops, &examination);
	return PORTPROF_OK;
}

/* ---- the catalogue of events and PMUs, by the backend that names them ---- */

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

/* ---- what an event string means ---- */

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
	found.is_counted_only = false;
	if (ppi_waits_has(&request)) /* they are beside any backend */
		status = ppi_backend_waits.resolve(ppi_waits_kernel_here(),
		                                   &request, PPI_SAMPLE,
		                                   &found.event, &why);
	else if (strcmp(backend, "auto") == 0)
		status = resolve_on_best(&request, &found, &why);
	else if (ops)
		status = resolve(ops, &request, &found, &why);
	else
		status = ppi_select_unknown(backend, &why);
	if (status)
		return ppi_report(&why);
	ppi_last()->found = found.event;
	ppi_event_info_fill(&ppi_last()->found, &full);
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
