/* SPDX-License-Identifier: MIT */
/* A resolved event as text: its description, its canonical form, and what is
 * requested from the kernel. */
#include "backends/perf/events/perf_names.h"

#include "backends/perf/events/perf_attr.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <linux/perf_event.h>

enum { MEANING_END = 440 }; /* of the 512 bytes of a description */

const char *ppi_perf_say_levels(const struct ppi_event *event)
{
	/* many PMUs count in the hypervisor too because they cannot help it:
	 * it is told of where it was asked for */
	unsigned set = event->counts_user | event->counts_kernel << 1 |
	               event->request.hypervisor << 2;
	static const char *const words[8] = {
		"in no mode", "in user mode", "in kernel mode",
		"in user and kernel mode", "in hypervisor mode",
		"in user and hypervisor mode",
		"in kernel and hypervisor mode", "in every mode",
	};

	return words[set];
}

static const char *guests_of(const struct perf_asked *asked)
{
	if (!asked->has_guest_host)
		return "";
	if (asked->exclude_host)
		return " of guests";
	return asked->exclude_guest ? "" : " of host and guests";
}

/*
 * Where a rate is no use: of five page faults a rate that the kernel first has
 * to find takes one or two, and guesses what each stood for. perf_open.c counts
 * on RATE_UNKNOWN_HZ of them; when many more come than the ring has room for,
 * those are lost, and their weight is in the next sample.
 */
static bool is_taken_each(const struct ppi_event *event)
{
	return perf_is_of_place(event) ||
	       (perf_own(event)->type == PERF_TYPE_SOFTWARE &&
	        !event->is_cpu_time);
}

static void say_rate(const struct ppi_event *event, enum ppi_mode mode,
                     char *out, size_t bytes)
{
	const char *unit = event->unit == PORTPROF_UNIT_NANOSECONDS ? " ns" :
	                                                              " events";

	if (mode == PPI_COUNT)
		snprintf(out, bytes, "counted");
	else if (event->rate_hz)
		snprintf(out, bytes, "%" PRIu64 " times a second",
		         event->rate_hz);
	else if (event->period == 1 && !event->is_cpu_time)
		snprintf(out, bytes, "a sample for each");
	else if (event->period)
		snprintf(out, bytes, "every %" PRIu64 "%s", event->period,
		         unit);
	else if (is_taken_each(event))
		snprintf(out, bytes, "each, or at the session's rate");
	else
		snprintf(out, bytes, "at the session's rate");
}

static void describe(struct ppi_event *event, enum ppi_mode mode,
                     const char *name, const char *means)
{
	const struct perf_own *own = perf_own(event);
	char rate[48], precise[48] = "";
	int used;

	say_rate(event, mode, rate, sizeof(rate));
	if (own->precise || (own->asked.wants_max_precision &&
	                     own->type != PERF_TYPE_SOFTWARE))
		snprintf(precise, sizeof(precise), ", precise level %u%s",
		         own->precise, own->asked.wants_max_precision
		         ? " (the most granted)" : "");
	used = snprintf(event->description, sizeof(event->description),
	                "%s %s%s, %s%s", name, ppi_perf_say_levels(event),
	                guests_of(&perf_own(event)->asked), rate, precise);
	/* what it means is cut first, and leaves room for what becomes of it:
	 * "in user mode only (kernel mode is not permitted)" */
	if (used >= MEANING_END - 16)
		return;
	if (snprintf(event->description + used, (size_t)(MEANING_END - used),
	             ": %s", means) >= MEANING_END - used)
		memcpy(event->description + MEANING_END - 4, "...", 4);
}

void ppi_perf_encode(struct ppi_event *event)
{
	const struct perf_own *own = perf_own(event);
	char *out = event->encoding;
	size_t room = sizeof(event->encoding), used;

	used = (size_t)snprintf(out, room,
	                        "type %" PRIu32 ", config 0x%" PRIx64,
	                        own->type, own->config[0]);
	for (int i = 1; i < 3; i++)
		if (own->config[i])
			used += (size_t)snprintf(out + used, room - used,
			                         ", config%d 0x%" PRIx64, i,
			                         own->config[i]);
	if (own->bp_type)
		used += (size_t)snprintf(out + used, room - used,
		                         ", bp_type %" PRIu32, own->bp_type);
	if (own->precise)
		used += (size_t)snprintf(out + used, room - used,
		                         ", precise %" PRIu32, own->precise);
	snprintf(out + used, room - used, "%s%s%s%s",
	         own->asked.pinned ? ", pinned" : "",
	         own->asked.exclusive ? ", exclusive" : "",
	         own->asked.exclude_guest ? "" : ", with guests",
	         own->asked.exclude_host ? ", without the host" : "");
}

/* The kernel does not vary periods. Programs work in whole milliseconds, and a
 * prime rate meets those at another place each time. */
enum { RATE_USUAL_HZ = 101 };

/* Names for who reads samples; only tracepoints have any. */
static portprof_status take_fields(struct ppi_event *event, enum ppi_mode mode,
                                   struct ppi_diag *why)
{
	const struct perf_asked *asked = &perf_own(event)->asked;
	const char *text = event->request.text;
	size_t used = 0;

	if (asked->field_count &&
	    (perf_own(event)->type != PERF_TYPE_TRACEPOINT ||
	     mode == PPI_COUNT))
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "resolve event",
		                "event '%s', column %u: %s", text,
		                asked->field_at[0] - 5u,
		                mode == PPI_COUNT
		                ? "samples have fields, counts have none: leave "
		                  "field out"
		                : "only tracepoints have fields: leave field out");
	for (size_t i = 0; i < asked->field_count; i++)
		used += (size_t)snprintf(event->fields + used,
		                         sizeof(event->fields) - used, "%s%.*s",
		                         used ? " " : "", asked->field_bytes[i],
		                         text + asked->field_at[i]);
	return used < sizeof(event->fields) ? PORTPROF_OK :
		ppi_fail(why, PORTPROF_E_LIMIT, 0, "resolve event",
		         "event '%s': the names of its fields are too long "
		         "together; ask for fewer", text);
}

portprof_status ppi_perf_event_finish(struct ppi_event *event,
                                      enum ppi_mode mode, const char *name,
                                      const char *means, struct ppi_diag *why)
{
	struct ppi_event_request *request = &event->request;
	const struct perf_own *own = perf_own(event);

	event->is_cpu_time = own->type == PERF_TYPE_SOFTWARE &&
	                     (own->config[0] == PERF_COUNT_SW_TASK_CLOCK ||
	                      own->config[0] == PERF_COUNT_SW_CPU_CLOCK);
	event->unit = event->is_cpu_time ? PORTPROF_UNIT_NANOSECONDS :
	                                   PORTPROF_UNIT_COUNT;
	if (request->is_rate_usual && is_taken_each(event)) {
		request->period = 1;
		request->rate_hz = 0;
	} else if (request->is_rate_usual) {
		request->rate_hz = RATE_USUAL_HZ;
	}
	event->period = request->period;
	event->rate_hz = request->rate_hz;
	if (!ppi_perf_request_format(request, &own->asked, name,
	                             event->canonical,
	                             sizeof(event->canonical)))
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "resolve event",
		                "event '%s' is too long when spelled out; give "
		                "fewer unit masks or modifiers",
		                request->text);
	describe(event, mode, name, means);
	return take_fields(event, mode, why);
}
