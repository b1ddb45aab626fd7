/* SPDX-License-Identifier: MIT */
/* Why a recording is refused, or done by another backend than the best: what
 * helps, in two lines; the rest for those who ask. */
#include "config.h"

#include "tools/record/record.h"

#include "tools/backends.h"
#include "tools/tools.h"

#include <stdio.h>
#include <string.h>

/* The event that cannot be had; NULL when it is not for an event. */
static const char *refused_event(const struct ppi_record *record,
                                 const char *backend)
{
	const struct ppi_settings *settings = &record->settings;
	portprof_event_info info = { .size = sizeof(info) };

	for (size_t i = 0; i < settings->count; i++) {
		const char *value = settings->list[i].value;

		if (strcmp(settings->list[i].key, "event") == 0 &&
		    portprof_event_explain(value, backend, &info))
			return value;
	}
	return NULL;
}

/* What each backend of this system says to the event. */
static void say_backends(const char *event)
{
	for (size_t i = 0; i < portprof_backend_count(); i++) {
		portprof_backend_info backend = { .size = sizeof(backend) };
		portprof_event_info info = { .size = sizeof(info) };

		if (portprof_backend_info_get(i, &backend) ||
		    backend.rank < 0 || !ppi_backend_is_here(&backend))
			continue;
		if (!backend.is_usable)
			ppi_say("%s: %s", backend.name, backend.reason);
		else if (portprof_event_explain(event, backend.name, &info))
			ppi_say("%s: %s", backend.name,
			        portprof_last_diag()->words);
	}
}

void ppi_say_refusal(const struct ppi_record *record)
{
	const char *backend = ppi_settings_get(&record->settings, "backend");
	portprof_diag why = *portprof_last_diag();
	const char *event;

	ppi_say_failure(NULL);
	/* what was mistyped has been named */
	if (why.status == PORTPROF_E_INVALID ||
	    why.status == PORTPROF_E_NOTFOUND ||
	    why.status == PORTPROF_E_NOMEM)
		return;
	event = refused_event(record, backend ? backend : "auto");
	if (event)
		ppi_say("-e cpu-clock measures CPU time instead; portprof "
		        "doctor %s says what '%s' would need", event, event);
	else if (why.status == PORTPROF_E_UNSUPPORTED && backend)
		ppi_say("without -b the best backend that can is taken");
	else if (why.status == PORTPROF_E_DENIED)
		ppi_say("portprof doctor says what works here, and what to "
		        "change");
	if (event && record->options.is_verbose)
		say_backends(event);
}

/* Programs are profiled in all of their memory: what can only make histograms
 * of a part never comes into question. */
static bool is_of_interest(const char *name)
{
	portprof_backend_info backend;

	return ppi_backend_find_info(name, &backend) &&
	       ppi_backend_is_here(&backend) &&
	       backend.caps & PORTPROF_CAP_WHOLE_SPACE;
}

void ppi_say_passed_over(const struct ppi_record *record,
                         const portprof_session *session)
{
	const char *name, *reason;

	if (record->options.is_quiet)
		return;
	for (size_t i = 0;
	     portprof_session_passed_over(session, i, &name, &reason) ==
	     PORTPROF_OK;
	     i++)
		if (record->options.is_verbose || is_of_interest(name))
			ppi_say("%s was passed over: %s", name, reason);
}
