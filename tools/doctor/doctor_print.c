/* SPDX-License-Identifier: MIT */
/* Prints the findings of portprof doctor, as text and as JSON. */
#include "config.h"

#include "base/json.h"
#include "tools/terminal.h"
#include "tools/doctor/doctor.h"
#include "tools/tools.h"

#include <string.h>

/* ---- as JSON ---- */

/*
 * portprof-doctor(1) has the keys. They may become more, but keep their meaning
 * as long as "schema" is 1.
 */

enum { SCHEMA = 1 };

static void json_finding(struct ppi_json *json,
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

static void json_backend(struct ppi_json *json,
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
		json_backend(&json, &doctor->backends[i]);
	ppi_json_close(&json);
	ppi_json_array(&json, "findings");
	for (size_t i = 0; i < doctor->count; i++)
		json_finding(&json, &doctor->findings[i]);
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
			json_finding(&json, &doctor->findings[i]);
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
		if (answer->is_usable)
			ppi_json_null(&json, "why");
		else
			ppi_put_refusal(&json, &answer->why);
		ppi_json_close(&json);
	}
	ppi_json_close(&json);
	ppi_json_array(&json, "findings");
	for (size_t i = 0; i < event->finding_count; i++)
		json_finding(&json, event->findings[i]);
	ppi_json_close(&json);
	ppi_json_end(&json);
}

enum { WORDS_COLUMN = 29 };

/* ---- as text ---- */

static enum ppi_color color_of(portprof_verdict verdict)
{
	switch (verdict) {
	case PORTPROF_VERDICT_WORKS:
		return PPI_GREEN;
	case PORTPROF_VERDICT_FAILS:
		return PPI_RED;
	default:
		return PPI_YELLOW;
	}
}

static void put_finding(const struct ppi_finding *finding, FILE *out)
{
	fprintf(out, "  %-18s %s%-7s%s ", finding->name,
	        ppi_color(out, color_of(finding->verdict)),
	        ppi_verdict_name(finding->verdict), ppi_color(out, PPI_PLAIN));
	ppi_put_wrapped(out, finding->words, WORDS_COLUMN);
	if (finding->remedy[0] && strcmp(finding->remedy, "see below") != 0) {
		fprintf(out, "%*s%s->%s ", WORDS_COLUMN - 3, "",
		        ppi_color(out, PPI_BOLD), ppi_color(out, PPI_PLAIN));
		ppi_put_wrapped(out, finding->remedy, WORDS_COLUMN);
	}
}

static void put_topic(const struct ppi_doctor *doctor, enum ppi_topic topic,
                      bool is_verbose, FILE *out)
{
	bool has_title = false;

	for (size_t i = 0; i < doctor->count; i++) {
		const struct ppi_finding *finding = &doctor->findings[i];

		if (finding->topic != topic)
			continue;
		/* what can be measured is the answer; of the rest only what
		 * could be better, unless all is asked for */
		if (!is_verbose && topic != PPI_TOPIC_EVENTS &&
		    finding->verdict == PORTPROF_VERDICT_WORKS)
			continue;
		if (!has_title)
			fprintf(out, "\n%s%s%s\n", ppi_color(out, PPI_BOLD),
			        ppi_topic_name(topic),
			        ppi_color(out, PPI_PLAIN));
		has_title = true;
		put_finding(finding, out);
	}
}

static void put_backends(const struct ppi_doctor *doctor, FILE *out)
{
	fprintf(out, "\n%sBackends%s\n", ppi_color(out, PPI_BOLD),
	        ppi_color(out, PPI_PLAIN));
	for (size_t i = 0; i < doctor->backend_count; i++) {
		const portprof_backend_info *backend = &doctor->backends[i];
		portprof_verdict verdict = backend->is_usable
						   ? PORTPROF_VERDICT_WORKS
						   : PORTPROF_VERDICT_FAILS;

		fprintf(out, "  %-18s %s%-7s%s ", backend->name,
		        ppi_color(out, color_of(verdict)),
		        ppi_verdict_name(verdict), ppi_color(out, PPI_PLAIN));
		ppi_put_wrapped(out, backend->is_usable ? backend->summary
		                                        : backend->reason,
		                WORDS_COLUMN);
	}
}

void ppi_doctor_print_text(const struct ppi_doctor *doctor, bool is_verbose,
                           FILE *out)
{
	fprintf(out, "%s%s%s\n",
	        ppi_color(out, doctor->can_sample ? PPI_GREEN : PPI_RED),
	        doctor->can_sample ? "Sampling works here."
	                           : "Sampling does not work here.",
	        ppi_color(out, PPI_PLAIN));
	if (is_verbose)
		put_backends(doctor, out);
	for (int topic = 0; topic < PPI_TOPIC_COUNT; topic++)
		put_topic(doctor, (enum ppi_topic)topic, is_verbose, out);
	if (!is_verbose)
		fprintf(out, "\nportprof doctor -v also lists what passed; "
		        "portprof selftest proves it.\n");
}

void ppi_doctor_print_program(const struct ppi_doctor *doctor, FILE *out)
{
	for (size_t i = 0; i < doctor->count; i++)
		if (doctor->findings[i].topic == PPI_TOPIC_PROGRAM)
			put_finding(&doctor->findings[i], out);
}

void ppi_doctor_print_event(const struct ppi_doctor_event *event, FILE *out)
{
	char room[PPI_SHOWN_BYTES];

	fprintf(out, "%s: %s%s%s\n", ppi_shown(event->asked, room),
	        ppi_color(out, event->is_usable ? PPI_GREEN : PPI_RED),
	        event->is_usable ? "can be measured here"
	                         : "cannot be measured here",
	        ppi_color(out, PPI_PLAIN));
	for (size_t i = 0; i < event->answer_count; i++) {
		const struct ppi_doctor_answer *answer = &event->answers[i];
		portprof_verdict verdict =
			!answer->is_usable        ? PORTPROF_VERDICT_FAILS
			: answer->is_counted_only ? PORTPROF_VERDICT_LIMITED
			                          : PORTPROF_VERDICT_WORKS;

		fprintf(out, "  %-18s %s%-7s%s ", answer->backend,
		        ppi_color(out, color_of(verdict)),
		        ppi_verdict_name(verdict), ppi_color(out, PPI_PLAIN));
		ppi_put_wrapped(out,
				verdict == PORTPROF_VERDICT_WORKS
					? "sampled and counted"
				: verdict == PORTPROF_VERDICT_LIMITED
					? "counted, not sampled"
					: answer->why.words,
				WORDS_COLUMN);
	}
	if (event->finding_count)
		fprintf(out, "\n%sWhat prevents it%s\n",
		        ppi_color(out, PPI_BOLD), ppi_color(out, PPI_PLAIN));
	for (size_t i = 0; i < event->finding_count; i++)
		put_finding(event->findings[i], out);
}
