/* SPDX-License-Identifier: MIT */
/*
 * The manual pages of event strings and configuration files keep their word:
 * every example is taken, every string that they call refused is refused,
 * with the words that they quote.
 */

#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <portprof.h>

#include "api/core/event.h"
#ifdef HAVE_LINUX_PERF_EVENT_H
#include "backends/perf/events/perf_request.h"
#include "backends/perf/events/perf_tables.h"
#endif

enum { LINE = 1024 };

struct page {
	FILE *file;
	const char *name;
	char section[64]; /* of .Sh */
	char text[LINE];  /* the line, without its end and "\&" */
};

static void open_page(struct page *page, const char *name)
{
	const char *srcdir = getenv("srcdir");
	char path[512];

	memset(page, 0, sizeof(*page));
	page->name = name;
	snprintf(path, sizeof(path), "%s/doc/man/%s", srcdir ? srcdir : ".",
	         name);
	page->file = fopen(path, "r");
	if (!page->file)
		fail_msg("%s cannot be read", path);
}

static bool next_line(struct page *page)
{
	char *escape;

	if (!fgets(page->text, sizeof(page->text), page->file)) {
		fclose(page->file);
		return false;
	}
	page->text[strcspn(page->text, "\n")] = '\0';
	while ((escape = strstr(page->text, "\\&")))
		memmove(escape, escape + 2, strlen(escape + 2) + 1);
	if (strncmp(page->text, ".Sh ", 4) == 0)
		snprintf(page->section, sizeof(page->section), "%.60s",
		         page->text + 4);
	return true;
}

/* What follows a macro, if the line is one of that and in that section. */
static const char *after(const struct page *page, const char *section,
                         const char *macro)
{
	size_t length = strlen(macro);

	return strcmp(page->section, section) == 0 &&
	                       strncmp(page->text, macro, length) == 0 ?
	               page->text + length :
	               NULL;
}

#ifdef HAVE_LINUX_PERF_EVENT_H
/* Whether this libpfm4 can know the event; others have other tables. */
static bool is_known_pmu(const char *string)
{
	const char *colons = strstr(string, "::");
	struct ppi_table_pmu pmu;
	int id = 0;

	if (!colons)
		return true;
	while (ppi_table_next_pmu(&id, &pmu))
		if (strlen(pmu.name) == (size_t)(colons - string) &&
		    strncmp(pmu.name, string, strlen(pmu.name)) == 0)
			return true;
	return false;
}

static portprof_status resolve(const struct ppi_event_request *request,
                               struct ppi_diag *why)
{
	struct perf_request asked;
	struct ppi_event event;
	portprof_status status = ppi_perf_request_read(request, &asked, why);

	return status == PORTPROF_OK && is_known_pmu(request->text) ?
	               ppi_perf_resolve(&asked, PPI_SAMPLE, &event, why) :
	               status;
}
#else
static portprof_status resolve(const struct ppi_event_request *request,
                               struct ppi_diag *why)
{
	(void)request;
	(void)why;
	return PORTPROF_OK;
}
#endif

static portprof_status try_event(const char *string, struct ppi_diag *why)
{
	struct ppi_event_request request;
	portprof_status status = ppi_event_parse(string, &request, why);

	return status ? status : resolve(&request, why);
}

static void event_examples_are_taken(void **state)
{
	struct page page;
	struct ppi_diag why;
	const char *string;
	int count = 0;

	(void)state;
	open_page(&page, "portprof-events.7");
	while (next_line(&page)) {
		string = after(&page, "EXAMPLES", ".It Li ");
		if (!string)
			continue;
		count++;
		if (try_event(string, &why))
			fail_msg("%s: %s", string, why.words);
	}
	assert_true(count >= 8);
}

static void event_diagnostics_are_given(void **state)
{
	struct page page;
	struct ppi_diag why = { 0 };
	const char *text;
	int count = 0, quoted = 0;

	(void)state;
	open_page(&page, "portprof-events.7");
	while (next_line(&page)) {
		text = after(&page, "DIAGNOSTICS", ".It Li ");
		if (text) {
			count++;
			if (try_event(text, &why) == PORTPROF_OK)
				fail_msg("%s is not refused", text);
		}
		text = after(&page, "DIAGNOSTICS", ".Ql ");
		if (text) {
			quoted++;
			if (!strstr(why.words, text))
				fail_msg("'%s' is not in: %s", text,
				         why.words);
		}
		/* what to write instead is right */
		text = after(&page, "DIAGNOSTICS", ".Li ");
		if (text) {
			char string[LINE];

			snprintf(string, sizeof(string), "%.*s",
			         (int)strcspn(text, " "), text);
			if (try_event(string, &why))
				fail_msg("%s: %s", string, why.words);
		}
	}
	assert_true(count >= 8 && quoted >= 1);
}

/* The text between .Bd and .Ed that begins at this line. */
static void read_block(struct page *page, char *out, size_t bytes)
{
	size_t used = 0;

	out[0] = '\0';
	while (next_line(page) && strcmp(page->text, ".Ed") != 0)
		used += (size_t)snprintf(out + used, bytes - used, "%s\n",
		                         page->text);
}

static bool has_backend(const char *name)
{
	for (size_t i = 0; i < portprof_backend_count(); i++) {
		portprof_backend_info info = { .size = sizeof(info) };

		if (portprof_backend_info_get(i, &info) == PORTPROF_OK &&
		    strcmp(info.name, name) == 0)
			return true;
	}
	return false;
}

static void load(const char *text, const char *set)
{
	portprof_config *config = portprof_config_new();

	/* an example may name a backend that is left out of this build */
	if (portprof_config_load_text(config, "example", text, set) &&
	    (has_backend("perf") ||
	     !strstr(portprof_last_diag()->words, "'perf'")))
		fail_msg("%s", portprof_last_diag()->words);
	portprof_config_free(config);
}

static int load_every_set(const char *text)
{
	int sets = 0;

	load(text, NULL);
	for (const char *at = strchr(text, '['); at; at = strchr(at, '[')) {
		char set[64];

		at++;
		snprintf(set, sizeof(set), "%.*s", (int)strcspn(at, "]"), at);
		load(text, set);
		sets++;
	}
	return sets;
}

static void configuration_examples_are_taken(void **state)
{
	struct page page;
	char text[4096];
	int sets = 0;

	(void)state;
	open_page(&page, "portprof.conf.5");
	while (next_line(&page)) {
		if (!after(&page, "EXAMPLES", ".Bd "))
			continue;
		read_block(&page, text, sizeof(text));
		sets += load_every_set(text);
	}
	assert_true(sets >= 4);
}

static void configuration_diagnostics_are_given(void **state)
{
	portprof_config *config = portprof_config_new();
	struct page page;
	const char *text;
	int count = 0;

	(void)state;
	open_page(&page, "portprof.conf.5");
	while (next_line(&page)) {
		text = after(&page, "DIAGNOSTICS", ".It Li ");
		if (text)
			assert_int_equal(portprof_config_load_text(
						 config, "x.conf", text, NULL),
			                 PORTPROF_E_INVALID);
		text = after(&page, "DIAGNOSTICS", ".Ql ");
		if (!text)
			continue;
		assert_string_equal(portprof_last_diag()->words, text);
		count++;
	}
	assert_true(count >= 4);
	portprof_config_free(config);
}

/* In a list of words that commas part. */
static bool is_listed(const char *list, const char *word, size_t length)
{
	for (; list; list = strstr(list, ", ")) {
		list += list[0] == ',' ? 2 : 0;
		if (strncmp(list, word, length) == 0 &&
		    (list[length] == ',' || !list[length]))
			return true;
	}
	return false;
}

/* The page lists every key, and no other, in its own order. */
static void every_key_is_told_of(void **state)
{
	portprof_config *config = portprof_config_new();
	struct page page;
	const char *text;
	char told[1024] = "";

	(void)state;
	open_page(&page, "portprof.conf.5");
	while (next_line(&page)) {
		text = after(&page, "DESCRIPTION", ".It Li ");
		if (text)
			snprintf(told + strlen(told),
			         sizeof(told) - strlen(told), "%s%.*s",
			         told[0] ? ", " : "",
			         (int)strcspn(text, " "), text);
	}
	assert_int_equal(portprof_config_set(config, "zzzzzz", "1"),
	                 PORTPROF_E_INVALID);
	text = strstr(portprof_last_diag()->words, "there are: ");
	assert_non_null(text);
	text += strlen("there are: ");
	assert_int_equal(strlen(text), strlen(told));
	for (; text; text = strstr(text, ", ")) {
		text += text[0] == ',' ? 2 : 0;
		assert_true(is_listed(told, text, strcspn(text, ",")));
	}
	portprof_config_free(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(event_examples_are_taken),
		cmocka_unit_test(event_diagnostics_are_given),
		cmocka_unit_test(configuration_examples_are_taken),
		cmocka_unit_test(configuration_diagnostics_are_given),
		cmocka_unit_test(every_key_is_told_of),
	};

	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	return cmocka_run_group_tests_name("man_examples", tests, NULL, NULL);
}
