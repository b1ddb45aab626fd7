/* SPDX-License-Identifier: MIT */
/*
 * Diagnoses for programs; portprof-doctor(1) has the keys. They may become
 * more, but keep their meaning as long as "schema" is 1.
 */
#include "config.h"

#include "tools/doctor/doctor.h"

#include "base/json.h"

#include <string.h>

enum { SCHEMA = 1 };

static void put_finding(struct ppi_json *json,
                        const struct ppi_finding *finding)
{
	bool has_remedy = finding->remedy[0] &&
	                  strcmp(finding->remedy, "see below") != 0;

	ppi_json_object(json, NULL);
	ppi_json_text(json, "topic", ppi_topic_key(finding->topic));
	ppi_json_text(json, "name", finding->name);
	ppi_json_text(json, "verdict", ppi_verdict_name(finding->verdict));
	ppi_json_text(json, "words", finding->words);
	ppi_json_text(json, "remedy", has_remedy ? finding->remedy : NULL);
	ppi_json_close(json);
}

static void put_backend(struct ppi_json *json,
                        const portprof_backend_info *backend)
{
	ppi_json_object(json, NULL);
	ppi_json_text(json, "backend", backend->name);
	ppi_json_flag(json, "usable", backend->is_usable);
	ppi_json_text(json, "reason", backend->reason[0] ? backend->reason
	                                                 : NULL);
	ppi_json_array(json, "capabilities");
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t cap = UINT64_C(1) << bit;

		if (backend->caps & cap && portprof_cap_name(cap))
			ppi_json_text(json, NULL, portprof_cap_name(cap));
	}
	ppi_json_close(json);
	ppi_json_close(json);
}

void ppi_doctor_print_json(const struct ppi_doctor *doctor, FILE *out)
{
	struct ppi_json json;

	ppi_json_begin(&json, out, false);
	ppi_json_number(&json, "schema", SCHEMA);
	ppi_json_flag(&json, "sampling", doctor->can_sample);
	ppi_json_array(&json, "backends");
	for (size_t i = 0; i < doctor->backend_count; i++)
		put_backend(&json, &doctor->backends[i]);
	ppi_json_close(&json);
	ppi_json_array(&json, "findings");
	for (size_t i = 0; i < doctor->count; i++)
		put_finding(&json, &doctor->findings[i]);
	ppi_json_close(&json);
	ppi_json_end(&json);
}

void ppi_doctor_print_program_json(const struct ppi_doctor *doctor, FILE *out)
{
	struct ppi_json json;

	ppi_json_begin(&json, out, false);
	ppi_json_number(&json, "schema", SCHEMA);
	ppi_json_array(&json, "findings");
	for (size_t i = 0; i < doctor->count; i++)
		if (doctor->findings[i].topic == PPI_TOPIC_PROGRAM)
			put_finding(&json, &doctor->findings[i]);
	ppi_json_close(&json);
	ppi_json_end(&json);
}

void ppi_doctor_print_event_json(const struct ppi_doctor_event *event,
                                 FILE *out)
{
	struct ppi_json json;

	ppi_json_begin(&json, out, false);
	ppi_json_number(&json, "schema", SCHEMA);
	ppi_json_text(&json, "event", event->asked);
	ppi_json_flag(&json, "usable", event->is_usable);
	ppi_json_array(&json, "backends");
	for (size_t i = 0; i < event->answer_count; i++) {
		const struct ppi_doctor_answer *answer = &event->answers[i];

		ppi_json_object(&json, NULL);
		ppi_json_text(&json, "backend", answer->backend);
		ppi_json_flag(&json, "usable", answer->is_usable);
		ppi_json_flag(&json, "counted_only", answer->is_counted_only);
		ppi_json_text(&json, "why",
		              answer->is_usable ? NULL : answer->words);
		ppi_json_close(&json);
	}
	ppi_json_close(&json);
	ppi_json_array(&json, "findings");
	for (size_t i = 0; i < event->finding_count; i++)
		put_finding(&json, event->findings[i]);
	ppi_json_close(&json);
	ppi_json_end(&json);
}
