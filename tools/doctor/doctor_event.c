/* SPDX-License-Identifier: MIT */
/* One event: which backends can measure it here, and why others cannot. */
#include "config.h"

#include "tools/doctor/doctor.h"

#include "tools/backends.h"
#include "tools/tools.h"

#include <errno.h>
#include <string.h>

/* Backends that are chosen automatically, if they are of this system. */
static bool is_of_interest(const portprof_backend_info *backend)
{
	return backend->rank >= 0 && ppi_backend_is_here(backend);
}

static void add_finding(const struct ppi_doctor *doctor,
                        struct ppi_doctor_event *event, const char *name)
{
	const struct ppi_finding *finding = ppi_doctor_find(doctor, name);
	size_t room = sizeof(event->findings) / sizeof(event->findings[0]);

	if (finding && finding->verdict != PORTPROF_VERDICT_WORKS &&
	    event->finding_count < room)
		event->findings[event->finding_count++] = finding;
}

/* Which findings say what stands in the way of an event that was refused so. */
static void add_causes(const struct ppi_doctor *doctor,
                       struct ppi_doctor_event *event,
                       const portprof_diag *why)
{
	static const char *const rights[] = { "system-call-filter", "paranoid",
		                              "security-module", "kernel",
		                              "no-descriptor",
		                              "user-namespace" };

	switch (why->os_errno) {
	case EACCES:
	case EPERM:
	case ENOSYS:
		for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
			add_finding(doctor, event, rights[i]);
		if (strstr(why->words, "tracepoint"))
			add_finding(doctor, event, "tracepoints");
		break;
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case EBUSY:
		add_finding(doctor, event, "hardware-events");
		add_finding(doctor, event, "watchdog");
		break;
	case EMFILE:
		add_finding(doctor, event, "descriptors");
		break;
	default:
		if (why->status == PORTPROF_E_UNSUPPORTED)
			add_finding(doctor, event, "cpu-events");
	}
}

bool ppi_doctor_ask_event(const struct ppi_doctor *doctor, const char *asked,
                          struct ppi_doctor_event *event)
{
	const struct ppi_doctor_host *host = doctor->host;
	portprof_diag why;
	bool is_known = false;

	memset(event, 0, sizeof(*event));
	event->asked = asked;
	for (size_t i = 0; i < doctor->backend_count; i++) {
		const portprof_backend_info *backend = &doctor->backends[i];
		portprof_event_info info = { .size = sizeof(info) };
		struct ppi_doctor_answer *answer;
		portprof_status status;

		if (!is_of_interest(backend))
			continue;
		answer = &event->answers[event->answer_count++];
		snprintf(answer->backend, sizeof(answer->backend), "%s",
		         backend->name);
		status = host->explain(host->self, asked, backend->name, &info,
		                       &why);
		answer->is_usable = status == PORTPROF_OK &&
		                    backend->is_usable;
		answer->is_counted_only = info.is_counted_only;
		event->is_usable |= answer->is_usable;
		is_known |= status != PORTPROF_E_NOTFOUND &&
		            status != PORTPROF_E_INVALID;
		snprintf(answer->words, sizeof(answer->words), "%s",
		         status != PORTPROF_OK ? why.words
		         : backend->is_usable  ? ""
		                               : backend->reason);
		if (status != PORTPROF_OK && event->finding_count == 0)
			add_causes(doctor, event, &why);
		if (event->answer_count == 1 && status != PORTPROF_OK &&
		    (status == PORTPROF_E_NOTFOUND ||
		     status == PORTPROF_E_INVALID)) {
			if (status == PORTPROF_E_NOTFOUND)
				ppi_say_no_match(
					asked, why.words,
					"portprof list shows all events; name "
					"a program by its path");
			else
				ppi_say("%s", why.words);
			return false;
		}
	}
	return is_known;
}
