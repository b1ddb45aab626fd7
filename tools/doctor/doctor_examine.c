/* SPDX-License-Identifier: MIT */
/*
 * Examining a host: what the library's backends found, put under headings, and
 * what they leave open.
 */
#include "config.h"

#include "tools/doctor/doctor.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void ppi_doctor_add(struct ppi_doctor *doctor, enum ppi_topic topic,
                    const char *name, portprof_verdict verdict,
                    const char *remedy, const char *words, ...)
{
	struct ppi_finding *grown = realloc(
		doctor->findings, (doctor->count + 1) * sizeof(*grown));
	va_list list;

	if (!grown) {
		doctor->is_out_of_memory = true;
		return;
	}
	doctor->findings = grown;
	grown += doctor->count++;
	memset(grown, 0, sizeof(*grown));
	grown->topic = topic;
	grown->verdict = verdict;
	snprintf(grown->name, sizeof(grown->name), "%s", name);
	snprintf(grown->remedy, sizeof(grown->remedy), "%s",
	         remedy ? remedy : "");
	va_start(list, words);
	vsnprintf(grown->words, sizeof(grown->words), words, list);
	va_end(list);
}

static void find_backends(struct ppi_doctor *doctor)
{
	const struct ppi_doctor_host *host = doctor->host;
	size_t room = sizeof(doctor->backends) / sizeof(doctor->backends[0]);

	while (doctor->backend_count < room) {
		portprof_backend_info *info =
			&doctor->backends[doctor->backend_count];

		info->size = sizeof(*info);
		if (host->backend(host->self, doctor->backend_count, info))
			break;
		info->reason = doctor->reasons[doctor->backend_count] =
			strdup(info->reason);
		if (!info->reason) {
			doctor->is_out_of_memory = true;
			break;
		}
		doctor->backend_count++;
	}
}

static enum ppi_topic topic_of(const char *name)
{
	for (int topic = 0; topic < PPI_TOPIC_COUNT; topic++)
		if (strcmp(ppi_topic_key((enum ppi_topic)topic), name) == 0)
			return (enum ppi_topic)topic;
	return PPI_TOPIC_MACHINE;
}

static int take_finding(const portprof_finding *finding, void *context)
{
	ppi_doctor_add(context, topic_of(finding->topic), finding->name,
	               finding->verdict, finding->remedy, "%s",
	               finding->words);
	return 0;
}

/* Names of the usable backends that have all these capabilities; those of
 * negative rank are only taken by name. */
static size_t list_backends(const struct ppi_doctor *doctor, uint64_t caps,
                            char *out, size_t room)
{
	size_t count = 0;

	out[0] = '\0';
	for (size_t i = 0; i < doctor->backend_count; i++) {
		const portprof_backend_info *backend = &doctor->backends[i];
		size_t used = strlen(out);

		if (!backend->is_usable || (backend->caps & caps) != caps ||
		    backend->rank < 0)
			continue;
		snprintf(out + used, room - used, "%s%s", used ? ", " : "",
		         backend->name);
		count++;
	}
	return count;
}

static void sampling(struct ppi_doctor *doctor)
{
	char names[160], others[160];

	doctor->can_sample = list_backends(doctor, PORTPROF_CAP_SAMPLE, names,
	                                   sizeof(names)) > 0;
	if (!doctor->can_sample)
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "cpu-time",
		               PORTPROF_VERDICT_FAILS, "see below",
		               "no backend can sample CPU time here");
	else if (list_backends(doctor, PORTPROF_CAP_SAMPLE |
	                       PORTPROF_CAP_ATTACH, others, sizeof(others)))
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "cpu-time",
		               PORTPROF_VERDICT_WORKS, NULL, "sampled by %s",
		               names);
	else
		ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, "cpu-time",
		               PORTPROF_VERDICT_LIMITED, "see below",
		               "sampled by %s, from inside the program: no "
		               "running, statically linked or privileged "
		               "programs, no kernel code", names);
}

/* Classes of events and targets that no backend reported on: by what the
 * backends can do. */
static void classes(struct ppi_doctor *doctor)
{
	static const struct {
		const char *name;
		uint64_t cap;
	} rows[] = {
		{ "kernel-mode", PORTPROF_CAP_KERNEL },
		{ "hardware-events", PORTPROF_CAP_HARDWARE },
		{ "software-events", PORTPROF_CAP_EVENTS },
		{ "other-processes", PORTPROF_CAP_ATTACH },
	};
	char names[160];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (ppi_doctor_find(doctor, rows[i].name))
			continue;
		if (list_backends(doctor, rows[i].cap, names, sizeof(names)))
			ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, rows[i].name,
			               PORTPROF_VERDICT_WORKS, NULL, "by %s",
			               names);
		else
			ppi_doctor_add(doctor, PPI_TOPIC_EVENTS, rows[i].name,
			               PORTPROF_VERDICT_FAILS, "see below",
			               "no backend that works here has the "
			               "capability '%s'",
			               portprof_cap_name(rows[i].cap));
	}
}

void ppi_doctor_examine(struct ppi_doctor *doctor,
                        const struct ppi_doctor_host *host)
{
	memset(doctor, 0, sizeof(*doctor));
	doctor->host = host;
	find_backends(doctor);
	sampling(doctor);
	host->examine(host->self, take_finding, doctor);
	classes(doctor);
	ppi_doctor_machine(doctor);
	ppi_doctor_build(doctor);
}

void ppi_doctor_free(struct ppi_doctor *doctor)
{
	for (size_t i = 0; i < doctor->backend_count; i++)
		free(doctor->reasons[i]);
	doctor->backend_count = 0;
	free(doctor->findings);
	doctor->findings = NULL;
	doctor->count = 0;
}

const struct ppi_finding *ppi_doctor_find(const struct ppi_doctor *doctor,
                                          const char *name)
{
	for (size_t i = 0; i < doctor->count; i++)
		if (strcmp(doctor->findings[i].name, name) == 0)
			return &doctor->findings[i];
	return NULL;
}

const char *ppi_verdict_name(portprof_verdict verdict)
{
	static const char *const names[] = {
		[PORTPROF_VERDICT_WORKS] = "works",
		[PORTPROF_VERDICT_LIMITED] = "limited",
		[PORTPROF_VERDICT_FAILS] = "no",
		[PORTPROF_VERDICT_UNKNOWN] = "unknown",
	};

	return names[verdict];
}

const char *ppi_topic_name(enum ppi_topic topic)
{
	static const char *const names[] = {
		[PPI_TOPIC_EVENTS] = "What can be measured",
		[PPI_TOPIC_RIGHTS] = "Rights",
		[PPI_TOPIC_MACHINE] = "The machine",
		[PPI_TOPIC_LIMITS] = "Limits",
		[PPI_TOPIC_PROGRAM] = "Programs",
		[PPI_TOPIC_BUILD] = "This build of portprof",
	};

	return names[topic];
}

const char *ppi_topic_key(enum ppi_topic topic)
{
	static const char *const keys[] = {
		[PPI_TOPIC_EVENTS] = "events",   [PPI_TOPIC_RIGHTS] = "rights",
		[PPI_TOPIC_MACHINE] = "machine", [PPI_TOPIC_LIMITS] = "limits",
		[PPI_TOPIC_PROGRAM] = "program", [PPI_TOPIC_BUILD] = "build",
	};

	return keys[topic];
}
