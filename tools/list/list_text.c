/* SPDX-License-Identifier: MIT */
/* Prints the events of portprof list as text. */
#include "config.h"

#include "tools/list/list.h"

#include "tools/terminal.h"
#include "tools/tools.h"

#include <string.h>

static const char *title_of(const struct ppi_list_group *group)
{
	switch (group->source) {
	case PORTPROF_SOURCE_SOFTWARE:
		return "Software events, counted by the kernel";
	case PORTPROF_SOURCE_HARDWARE:
		return "Hardware events, by their generic names";
	case PORTPROF_SOURCE_CACHE:
		return "Caches and predictors, by generic names";
	case PORTPROF_SOURCE_TRACEPOINT:
		return "Tracepoints of the kernel";
	case PORTPROF_SOURCE_PLACE:
		return strcmp(group->pmu, "uprobe") == 0
			? "Probes of programs, by file and symbol"
			: "Breakpoints, by address or symbol";
	default:
		return NULL;
	}
}

/* What it means stands below its name where a line has no room for both. */
static void put_pmu(const struct ppi_list_group *group,
                    const portprof_catalogue_pmu *pmu, FILE *out)
{
	enum { WIDTH = 79 };
	const char *source = group->source == PORTPROF_SOURCE_TABLE ? "libpfm4"
	                                                            : "sysfs";
	char room[PPI_SHOWN_BYTES], more[PPI_SHOWN_BYTES];
	const char *name = ppi_shown(group->pmu, room);
	const char *means = pmu ? ppi_shown(pmu->means, more) : "a PMU";
	int width = snprintf(NULL, 0, "%s: %s, by %s", name, means, source);

	if (width <= WIDTH)
		fprintf(out, "%s: %s, by %s", name, means, source);
	else
		fprintf(out, "%s, by %s%s\n  %s", name, source,
		        ppi_color(out, PPI_PLAIN), means);
}

static void put_title(const struct ppi_list *list,
                      const struct ppi_list_group *group, FILE *out)
{
	const portprof_catalogue_pmu *pmu = ppi_list_pmu(list, group->pmu);
	const char *title = title_of(group);
	char room[PPI_SHOWN_BYTES], more[PPI_SHOWN_BYTES];

	fprintf(out, "%s", ppi_color(out, PPI_BOLD));
	if (title)
		fprintf(out, "%s", title);
	else
		put_pmu(group, pmu, out);
	fprintf(out, "%s\n", ppi_color(out, PPI_PLAIN));
	if (pmu && pmu->cpus[0])
		fprintf(out, "  of CPUs %s\n", ppi_shown(pmu->cpus, room));
	if (pmu && pmu->terms[0] && group->source == PORTPROF_SOURCE_SYSTEM)
		fprintf(out, "  %s::raw takes %s\n",
		        ppi_shown(pmu->name, room),
		        ppi_shown(pmu->terms, more));
}

void ppi_list_put_name(const char *name, FILE *out)
{
	char room[PPI_SHOWN_BYTES];
	int length;

	name = ppi_shown(name, room);
	length = (int)strlen(name);
	fprintf(out, "  %s", name);
	if (length > PPI_LIST_NAME_WIDTH)
		fprintf(out, "\n%*s", PPI_LIST_NAME_WIDTH + 4, "");
	else
		fprintf(out, "%*s", PPI_LIST_NAME_WIDTH + 2 - length, "");
}

/* Masks stand below their event, if that is shown. */
static const char *name_of(const struct ppi_list *list, size_t index,
                           char room[256])
{
	const portprof_catalogue_event *event = &list->events[index].event;

	for (size_t i = index; event->is_mask && i-- > 0;) {
		const portprof_catalogue_event *other = &list->events[i].event;
		size_t length = strlen(other->name);

		if (other->is_mask)
			continue;
		if (strncmp(other->name, event->name, length) != 0 ||
		    event->name[length] != ':')
			break;
		snprintf(room, 256, "  %s", event->name + length);
		return room;
	}
	return event->name;
}

static void put_event(const struct ppi_list *list, size_t index, FILE *out)
{
	const struct ppi_list_event *event = &list->events[index];
	bool is_refused = event->usable == PPI_LIST_REFUSED;
	char words[1024], room[256];

	snprintf(words, sizeof(words), "%s%s%s%s%s%s", event->event.means,
	         event->event.also[0] ? " (also " : "", event->event.also,
	         event->event.also[0] ? ")" : "",
	         event->usable == PPI_LIST_COUNTED ? " [counted only]" : "",
	         is_refused ? " [refused]" : "");
	if (event->masks && !list->options.is_all && !list->options.pattern) {
		size_t used = strlen(words);

		snprintf(words + used, sizeof(words) - used, " [%zu masks]",
		         event->masks);
	}
	if (!words[0]) {
		fputs("  ", out);
		ppi_put_text(name_of(list, index, room), out);
		fputc('\n', out);
		return;
	}
	ppi_list_put_name(name_of(list, index, room), out);
	ppi_put_wrapped(out, words, PPI_LIST_NAME_WIDTH + 4);
}

/* Why events of a group are refused, each reason once. */
static void put_reasons(const struct ppi_list *list,
                        const struct ppi_list_group *group, FILE *out)
{
	const char *said = NULL;

	for (size_t i = 0; i < group->count; i++) {
		const struct ppi_list_event *event =
			&list->events[group->first + i];

		if (!event->why)
			continue;
		/* of another event the words differ by its name only */
		if (said && (!group->is_usable ||
		             strcmp(said, event->why) == 0))
			continue;
		said = event->why;
		fprintf(out, "  %s", ppi_color(out, PPI_YELLOW));
		ppi_put_wrapped(out, event->why, 4);
		fprintf(out, "%s", ppi_color(out, PPI_PLAIN));
	}
}

static void put_tracepoints(const struct ppi_list *list,
                            const struct ppi_list_group *group, FILE *out)
{
	size_t families = 0;
	const char *last = "";

	for (size_t i = 0; i < group->count; i++) {
		const char *name = list->events[group->first + i].event.name;
		size_t length = strcspn(name, ":");

		if (strncmp(last, name, length + 1) != 0)
			families++;
		last = name;
	}
	fprintf(out, "  %zu of them in %zu groups, as in portprof list "
	        "'sched:*'\n", group->count, families);
}

/* What cannot be used is one line, unless it was asked for. */
static void put_group(const struct ppi_list *list,
                      const struct ppi_list_group *group, FILE *out)
{
	bool is_asked_for = list->options.pattern || list->options.is_all;

	put_title(list, group, out);
	if (group->is_usable || is_asked_for) {
		if (group->source == PORTPROF_SOURCE_TRACEPOINT &&
		    !is_asked_for)
			put_tracepoints(list, group, out);
		else
			for (size_t i = 0; i < group->count; i++)
				put_event(list, group->first + i, out);
	}
	put_reasons(list, group, out);
	fputc('\n', out);
}

void ppi_list_print_text(const struct ppi_list *list, FILE *out)
{
	for (size_t i = 0; i < list->group_count; i++)
		put_group(list, &list->groups[i], out);
	ppi_list_put_presets(list, out);
}
