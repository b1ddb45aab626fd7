/* SPDX-License-Identifier: MIT */
/* Why a recording is refused, or the best backend not used: the remedy in two
 * lines, the rest with -v. */
#include "config.h"

#include "tools/record/record.h"

#include "tools/backends.h"
#include "tools/tools.h"

#include <stdio.h>
#include <string.h>

/* The event that cannot be measured; false when it is not for an event. */
static bool find_refused(const struct ppi_record *record, const char *backend,
                         char event[256])
{
	const struct ppi_settings *settings = &record->settings;
	portprof_event_info info = { .size = sizeof(info) };

	for (size_t i = 0; i < settings->count; i++) {
		const struct ppi_setting *setting = &settings->list[i];

		for (size_t j = 0; strcmp(setting->key, "event") == 0 &&
		                   portprof_event_list_get(
					   setting->value, j, event, 256,
					   NULL) == PORTPROF_OK;
		     j++)
			if (portprof_event_try(event, backend, &info) ||
			    info.is_counted_only)
				return true;
	}
	return false;
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
		else if (portprof_event_try(event, backend.name, &info))
			ppi_say("%s: %s", backend.name,
			        portprof_last_diag()->words);
	}
}

/* Whether a command could be recorded but for its call chains, by which
 * backend. The session never starts, and leaves no trace. */
static bool works_without_chains(const struct ppi_record *record,
                                 char backend[64])
{
	const char *chains = ppi_settings_get(&record->settings, "callchain");
	portprof_session *session = NULL;
	portprof_config *config;

	if (!chains || strcmp(chains, "off") == 0 ||
	    record->options.targets.scope != PPI_SCOPE_COMMAND)
		return false;
	config = ppi_settings_config(&record->settings);
	if (!config)
		return false;
	if (portprof_config_set_number(config, "callchain", 0) == PORTPROF_OK &&
	    portprof_config_set_number(config, "children", 0) == PORTPROF_OK &&
	    portprof_session_open(config, &session) == PORTPROF_OK) {
		snprintf(backend, 64, "%s", portprof_session_backend(session));
		portprof_session_close(session);
	}
	portprof_config_free(config);
	return session != NULL;
}

void ppi_say_refusal(const struct ppi_record *record)
{
	const char *backend = ppi_settings_get(&record->settings, "backend");
	portprof_diag why = *portprof_last_diag();
	char event[256], other[64];
	bool is_event;

	ppi_say_failure(NULL);
	/* what was mistyped has been named, what to drop from the string, or
	 * where the file cannot be */
	if (strstr(why.words, "', column ") || strstr(why.step, "output") ||
	    why.status == PORTPROF_E_INVALID ||
	    why.status == PORTPROF_E_NOTFOUND ||
	    why.status == PORTPROF_E_NOMEM)
		return;
	is_event = find_refused(record, backend ? backend : "auto", event);
	if ((!backend || strcmp(backend, "auto") == 0) &&
	    works_without_chains(record, other))
		ppi_say("without -g %s can record it; portprof doctor says what "
		        "call chains need", other);
	else if (is_event)
		ppi_say("-e cpu-clock measures CPU time instead; portprof "
		        "doctor %s says what '%s' would need", event, event);
	else if (why.status == PORTPROF_E_UNSUPPORTED && backend &&
	         strcmp(backend, "auto") != 0)
		ppi_say("without -b, the best backend that supports it is "
		        "used");
	else if (strcmp(why.step, "choose backend") == 0 &&
	         why.status == PORTPROF_E_UNSUPPORTED &&
	         record->options.targets.scope != PPI_SCOPE_COMMAND)
		ppi_say("a command that portprof starts can still be "
		        "measured: portprof record -- COMMAND");
	else if (why.status == PORTPROF_E_DENIED)
		ppi_say("portprof doctor says what works here, and what to "
		        "change");
	if (is_event && record->options.is_verbose)
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
