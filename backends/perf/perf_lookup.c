/* SPDX-License-Identifier: MIT */
/* From a request to what its name means: the kernel's generic events first,
 * then libpfm4's tables. */
#include "backends/perf/perf_events.h"

#include "backends/perf/perf_names.h"
#include "backends/perf/perf_tables.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The part of libpfm4's spelling that differs from `part` in case only. */
static const char *official(const char *spelling, const char *part,
                            size_t length)
{
	while (*spelling) {
		size_t here = strcspn(spelling, ":");

		if (here == length && strncasecmp(spelling, part, here) == 0)
			return spelling;
		spelling += here;
		spelling += strspn(spelling, ":");
	}
	return NULL;
}

/* The user's name in libpfm4's letters. An event may stand for another one,
 * so parts are looked up, never replaced by others. */
static void spell(char *name, const char *spelling)
{
	while (*name) {
		size_t length = strcspn(name, ":");
		const char *better = official(spelling, name, length);
		bool has_value = memchr(name, '=', length) != NULL;

		if (better)
			memcpy(name, better, length);
		for (size_t i = 0; has_value && i < length; i++)
			name[i] = (char)tolower((unsigned char)name[i]);
		name += length;
		name += strspn(name, ":");
	}
}

/* PMU and event by name, so that it means the same where another PMU has an
 * event of that name too. */
static void name_event(const struct ppi_table_answer *answer,
                       const char *given, char *name, size_t bytes)
{
	size_t used = strlen(answer->pmu);

	name[0] = '\0';
	if (!strstr(given, "::") && used + strlen(given) + 3 <= bytes)
		snprintf(name, bytes, "%s::", answer->pmu);
	used = strlen(name);
	snprintf(name + used, bytes - used, "%s", given);
	spell(name, answer->spelling);
}

static portprof_status take_answer(const struct ppi_table_answer *answer,
                                   enum ppi_mode mode, struct ppi_event *event,
                                   struct ppi_diag *why)
{
	char name[sizeof(event->request.name)], means[256];
	struct ppi_perf_name generic;

	event->type = answer->type;
	memcpy(event->config, answer->config, sizeof(event->config));
	event->precise = answer->precise;
	event->counts_user = !answer->exclude_user;
	event->counts_kernel = !answer->exclude_kernel;
	event->counts_hypervisor = !answer->exclude_hypervisor;
	event->request.exclude_guest = answer->exclude_guest;
	event->request.exclude_host = answer->exclude_host;
	if (ppi_perf_name_of(answer->type, answer->config[0], &generic))
		return ppi_perf_event_finish(event, mode, generic.name,
		                             generic.means, why);
	snprintf(event->pmu, sizeof(event->pmu), "%s", answer->pmu);
	name_event(answer, event->request.name, name, sizeof(name));
	snprintf(means, sizeof(means), "%s (%s)", answer->means,
	         answer->pmu_means);
	return ppi_perf_event_finish(event, mode, name, means, why);
}

static portprof_status take_generic(const struct ppi_perf_name *generic,
                                    enum ppi_mode mode,
                                    struct ppi_event *event,
                                    struct ppi_diag *why)
{
	portprof_status status = ppi_perf_name_fill(generic, event, why);

	return status ? status :
	                ppi_perf_event_finish(event, mode, generic->name,
	                                      generic->means, why);
}

/* Generic names mean the kernel's generic events, also where a PMU has an
 * event of that name: libpfm4 is asked for them by PMU. */
static portprof_status resolve_by_tables(
	const struct ppi_event_request *request,
	const struct ppi_perf_name *generic, enum ppi_mode mode,
	struct ppi_event *event, struct ppi_diag *why)
{
	struct ppi_event_request asked = *request;
	struct ppi_table_answer answer;
	enum ppi_table_verdict verdict;
	char string[320]; /* the text, and the letters of a PMU before it */

	if (generic)
		snprintf(asked.name, sizeof(asked.name), "%s::%s",
		         generic->pmu, generic->name);
	if (!ppi_event_format(&asked, asked.name, string, sizeof(string)))
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "resolve event",
		                "event '%s' is too long", request->text);
	verdict = ppi_table_encode(string, &answer);
	if (verdict == PPI_TABLE_OK)
		return take_answer(&answer, mode, event, why);
	if (generic && (verdict == PPI_TABLE_NO_EVENT ||
	                verdict == PPI_TABLE_NOT_HERE))
		return take_generic(generic, mode, event, why);
	return ppi_table_refuse(&asked, verdict, why);
}

portprof_status ppi_perf_resolve(const struct ppi_event_request *request,
                                 enum ppi_mode mode, struct ppi_event *event,
                                 struct ppi_diag *why)
{
	struct ppi_event draft = { .request = *request };
	struct ppi_perf_name generic;
	bool is_generic = ppi_perf_name_find(request->name, &generic);
	portprof_status status;

	/* libpfm4 reads every tracepoint of the kernel when it wakes up, where
	 * it may: nobody should wait for that who wants CPU time */
	if (is_generic && generic.is_software)
		status = take_generic(&generic, mode, &draft, why);
	else
		status = resolve_by_tables(request,
		                           is_generic ? &generic : NULL, mode,
		                           &draft, why);
	if (status == PORTPROF_OK)
		*event = draft;
	return status;
}
