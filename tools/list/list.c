/* SPDX-License-Identifier: MIT */
/* portprof list: which events can be measured here, and what they mean. */
#include "config.h"

#include "tools/list/list.h"

#include "tools/options.h"
#include "tools/tools.h"

#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(struct ppi_list_options, member)

static const struct ppi_option table[] = {
	{ 'a', "all", NULL,
	  "also list unit masks, tracepoints and unusable events",
	  .take = ppi_take_flag, .place = AT(is_all) },
	{ 0, "explain", "EVENT",
	  "explain an event string: encoding, levels, rate, CPUs, which "
	  "backends measure it, and why others do not",
	  .take = ppi_take_text, .place = AT(explain) },
	{ 'b', "backend", "NAME", "list the events of this backend (the best)",
	  .take = ppi_take_text, .place = AT(backend) },
	{ 'j', "json", NULL, "print JSON",
	  .take = ppi_take_flag, .place = AT(is_json) },
	PPI_COLOR_OPTION,
};

static const size_t places[] = { AT(pattern) };

static const struct ppi_line line = {
	.verb = "list",
	.usage = "[OPTION...] [PATTERN]\n[OPTION...] --explain EVENT",
	.about = "Lists the events that can be used here and now. PATTERN is "
	         "a glob ('L1-*', 'sched:*'), part of a name or a word of its "
	         "description, and lists each event that matches, usable or "
	         "not.",
	.notes = "Each event is opened to try it, unless there are too many "
	         "of its kind.\n"
	         "Exit status: 0 success, 1 no event matches, 2 wrong usage.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.places = places,
	.place_count = 1,
	.one_word_more = "give one pattern, in quotes, such as 'L1-*'",
	.wrong = PPI_EXIT_USAGE,
};

const char *ppi_list_source(portprof_source source)
{
	static const char *const names[] = {
		[PORTPROF_SOURCE_SOFTWARE] = "software",
		[PORTPROF_SOURCE_HARDWARE] = "hardware",
		[PORTPROF_SOURCE_CACHE] = "cache",
		[PORTPROF_SOURCE_TABLE] = "libpfm4",
		[PORTPROF_SOURCE_SYSTEM] = "system",
		[PORTPROF_SOURCE_TRACEPOINT] = "tracepoint",
		[PORTPROF_SOURCE_PLACE] = "place",
	};

	return (size_t)source < sizeof(names) / sizeof(names[0]) &&
	                       names[source]
	               ? names[source]
	               : "other";
}

const portprof_catalogue_pmu *ppi_list_pmu(const struct ppi_list *list,
                                           const char *name)
{
	for (size_t i = 0; i < list->pmu_count; i++)
		if (strcmp(list->pmus[i].pmu.name, name) == 0)
			return &list->pmus[i].pmu;
	return NULL;
}

static int nothing_fits(const struct ppi_list *list)
{
	portprof_event_info info = { .size = sizeof(info) };
	portprof_backend_info backend;
	const char *pattern = list->options.pattern;
	bool is_unknown;

	if (!pattern && ppi_backend_find_info(list->options.backend, &backend) &&
	    !backend.is_usable) {
		ppi_say("backend %s has no events here: %s", backend.name,
		        backend.reason);
		return PPI_EXIT_FAILED;
	}
	if (!pattern) {
		ppi_say("nothing can be measured here: portprof doctor says "
		        "why, and what would change it");
		return PPI_EXIT_FAILED;
	}
	/* the library knows the nearest names of what is none */
	is_unknown = portprof_event_try(pattern, list->options.backend,
					&info) == PORTPROF_E_NOTFOUND;
	ppi_say_no_match(pattern,
	                 is_unknown ? portprof_last_diag()->words : "",
	                 "portprof list -a shows everything");
	return PPI_EXIT_FAILED;
}

static int print(const struct ppi_list *list)
{
	if (list->options.is_json)
		ppi_list_print_json(list, stdout);
	else if (list->event_count + list->preset_count == 0)
		return nothing_fits(list);
	else
		ppi_list_print_text(list, stdout);
	return list->event_count + list->preset_count ? PPI_EXIT_OK
	                                              : PPI_EXIT_FAILED;
}

int ppi_list_main(int argc, char **argv)
{
	struct ppi_list list = { .options.backend = "auto" };
	int status = ppi_line_read(&line, argc, argv, &list.options);

	if (status != PPI_LINE_READ)
		return status;
	if (list.options.pattern && list.options.explain)
		return ppi_line_wrong(&line, "--explain takes an event string "
		                             "and no pattern");
	if (list.options.explain) {
		portprof_catalogue_pmus(list.options.backend, ppi_list_take_pmu,
		                        &list);
		status = ppi_list_explain(&list, stdout);
	} else {
		status = ppi_list_collect(&list) ? print(&list)
		                                 : PPI_EXIT_FAILED;
	}
	ppi_list_free(&list);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		ppi_say("the list could not be written");
		status = PPI_EXIT_FAILED;
	}
	return status;
}
