/* SPDX-License-Identifier: MIT */
/* Examining a host: facts, then findings. */
#include "config.h"

#include "tools/doctor/doctor.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void ppi_doctor_add(struct ppi_doctor *doctor, enum ppi_topic topic,
                    const char *name, enum ppi_verdict verdict,
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
		doctor->backend_count++;
	}
}

void ppi_doctor_examine(struct ppi_doctor *doctor,
                        const struct ppi_doctor_host *host)
{
	memset(doctor, 0, sizeof(*doctor));
	doctor->host = host;
	ppi_facts_find(host, &doctor->facts);
	find_backends(doctor);
	ppi_doctor_events(doctor);
	ppi_doctor_rights(doctor);
	ppi_doctor_machine(doctor);
	ppi_doctor_limits(doctor);
	ppi_doctor_build(doctor);
}

void ppi_doctor_free(struct ppi_doctor *doctor)
{
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

const char *ppi_verdict_name(enum ppi_verdict verdict)
{
	static const char *const names[] = {
		[PPI_WORKS] = "works",
		[PPI_LIMITED] = "limited",
		[PPI_FAILS] = "no",
		[PPI_UNKNOWN] = "unknown",
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
