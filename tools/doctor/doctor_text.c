/* SPDX-License-Identifier: MIT */
/* Prints the findings of portprof doctor as text. */
#include "config.h"

#include "tools/doctor/doctor.h"

#include "tools/color.h"
#include "tools/tools.h"

#include <string.h>

enum { WORDS_COLUMN = 29 };

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
		portprof_verdict verdict =
			backend->is_usable ? PORTPROF_VERDICT_WORKS : PORTPROF_VERDICT_FAILS;

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
		                verdict == PORTPROF_VERDICT_WORKS ? "sampled and counted"
		                : verdict == PORTPROF_VERDICT_LIMITED ? "counted, not sampled"
		                                         : answer->words,
		                WORDS_COLUMN);
	}
	if (event->finding_count)
		fprintf(out, "\n%sWhat prevents it%s\n",
		        ppi_color(out, PPI_BOLD), ppi_color(out, PPI_PLAIN));
	for (size_t i = 0; i < event->finding_count; i++)
		put_finding(event->findings[i], out);
}
