/* SPDX-License-Identifier: MIT */
/* Event strings taken apart and put together again, by tables. */

#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "api/core/event.h"
#include "table.h"

/* The name, and the parts that are a backend's as they were written. */
static void spell(const struct ppi_event_request *request, char out[256])
{
	int used = snprintf(out, 256, "%s", request->name);

	for (size_t i = 0; i < request->part_count; i++)
		used += snprintf(out + used, 256 - (size_t)used, ":%.*s",
		                 request->parts[i].bytes,
		                 request->text + request->parts[i].at);
}

static bool same_request(const struct ppi_event_request *a,
                         const struct ppi_event_request *b)
{
	char name[256], other[256];

	spell(a, name);
	spell(b, other);
	return strcmp(name, other) == 0 && a->has_modes == b->has_modes &&
	       a->user == b->user && a->kernel == b->kernel &&
	       a->hypervisor == b->hypervisor && a->period == b->period &&
	       a->rate_hz == b->rate_hz;
}

static void good_strings_mean_what_the_table_says(void **state)
{
	struct ppi_event_request request, again;
	struct ppi_diag why;
	struct table table;
	char text[256], name[256];

	(void)state;
	assert_int_equal(table_open(&table, "events-good.txt"), 0);
	while (table_next(&table)) {
		const char *string = table.field[0];
		portprof_status status = ppi_event_parse(string, &request,
		                                         &why);

		table_check(&table, status == PORTPROF_OK, "%s", why.words);
		table_check(&table, strcmp(request.text, string) == 0,
		            "kept as '%s'", request.text);
		spell(&request, name);
		table_check(&table, strcmp(name, table.field[2]) == 0,
		            "its name and parts are '%s'", name);
		table_check(&table,
		            ppi_event_format(&request, name, "", text,
		                             sizeof(text)) &&
		            strcmp(text, table.field[1]) == 0,
		            "its canonical form is '%s'", text);
		status = ppi_event_parse(text, &again, &why);
		table_check(&table, status == PORTPROF_OK, "%s", why.words);
		table_check(&table, same_request(&request, &again),
		            "'%s' means something else", text);
	}
}

static void bad_strings_are_refused_at_their_column(void **state)
{
	struct ppi_event_request request, before;
	struct ppi_diag why;
	struct table table;

	(void)state;
	memset(&before, 0x5a, sizeof(before));
	assert_int_equal(table_open(&table, "events-bad.txt"), 0);
	while (table_next(&table)) {
		size_t wanted = strtoul(table.field[0], NULL, 10);
		char said[32];
		portprof_status status;

		request = before;
		status = ppi_event_parse(table.field[2], &request, &why);
		table_check(&table, status == PORTPROF_E_INVALID,
		            "status is %d", status);
		snprintf(said, sizeof(said), "column %zu: ", wanted);
		table_check(&table, strstr(why.words, said) != NULL,
		            "the words do not say the column: %s", why.words);
		table_check(&table, why.column == wanted &&
		            why.reason == PORTPROF_REASON_SYNTAX,
		            "a program reads column %u, reason %d", why.column,
		            why.reason);
		table_check(&table, strstr(why.words, table.field[1]) != NULL,
		            "the words are: %s", why.words);
		table_check(&table,
		            memcmp(&request, &before, sizeof(before)) == 0,
		            "the request was touched");
		for (const char *c = why.words; *c; c++)
			table_check(&table, *c >= ' ' && *c < 127,
			            "the words hold the byte 0x%02x",
			            (unsigned char)*c);
	}
}

/* Every part may stand; one letter too many may not. */
static void length_has_an_exact_limit(void **state)
{
	struct ppi_event_request request;
	struct ppi_diag why;
	char text[512];

	(void)state;
	memset(text, 'a', sizeof(text));
	text[191] = '\0';
	assert_int_equal(ppi_event_parse(text, &request, &why), PORTPROF_OK);
	assert_string_equal(request.name, text);
	text[191] = 'a';
	text[192] = '\0';
	assert_int_equal(ppi_event_parse(text, &request, &why),
	                 PORTPROF_E_INVALID);
	assert_int_equal(why.column, 1);
	assert_non_null(strstr(why.words, "longer than 191"));
	text[192] = 'a';
	text[100] = ':';
	text[256] = '\0';
	assert_int_equal(ppi_event_parse(text, &request, &why),
	                 PORTPROF_E_INVALID);
	assert_int_equal(why.column, 256);
	assert_non_null(strstr(why.words, "longer than 255"));
	/* 191 of name and modifiers up to 255 in all */
	text[100] = 'a';
	memcpy(text + 191, ":u:period=1:freq=1", 19);
	memset(text + 191, 0, sizeof(text) - 191);
	while (strlen(text) < 254)
		strcat(text, ":u");
	assert_int_equal(ppi_event_parse(text, &request, &why), PORTPROF_OK);
}

static void format_says_when_it_does_not_fit(void **state)
{
	struct ppi_event_request request;
	char text[64];

	(void)state;
	assert_int_equal(ppi_event_parse("cycles:u:freq=99", &request, NULL),
	                 PORTPROF_OK);
	assert_true(ppi_event_format(&request, request.name, "", text,
	                             17));
	assert_string_equal(text, "cycles:u:freq=99");
	for (size_t room = 0; room < 17; room++)
		assert_false(ppi_event_format(&request, request.name, "",
		                              text, room));
}

/* As many parts as fit in a string, each in its place. */
static void parts_are_handed_on_as_they_were_written(void **state)
{
	struct ppi_event_request request;
	char text[256] = "a";

	(void)state;
	assert_int_equal(ppi_event_parse("pmu::E:MASK:u:c=0x4:Pinned=y@7",
	                                 &request, NULL), PORTPROF_OK);
	assert_string_equal(request.name, "pmu::E");
	assert_int_equal(request.part_count, 3);
	assert_int_equal(request.parts[0].at, 7);
	assert_int_equal(request.parts[0].bytes, 4);
	assert_int_equal(request.parts[0].key_bytes, 4);
	assert_int_equal(request.parts[1].at, 14);
	assert_int_equal(request.parts[1].bytes, 5);
	assert_int_equal(request.parts[1].key_bytes, 1);
	assert_true(ppi_event_part_is(&request, &request.parts[1], "C"));
	assert_false(ppi_event_part_is(&request, &request.parts[1], "c="));
	assert_true(ppi_event_part_is(&request, &request.parts[2], "pinned"));
	for (size_t i = 1; i < 255; i += 2)
		memcpy(text + i, ":x", 3);
	assert_int_equal(ppi_event_parse(text, &request, NULL), PORTPROF_OK);
	assert_int_equal(request.part_count, 127);
	assert_int_equal(request.parts[126].at, 254);
}

/* A mistake needs no diagnostic to be found. */
static void diagnostic_is_optional(void **state)
{
	struct ppi_event_request request;

	(void)state;
	assert_int_equal(ppi_event_parse("cycles:", &request, NULL),
	                 PORTPROF_E_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_strings_mean_what_the_table_says),
		cmocka_unit_test(bad_strings_are_refused_at_their_column),
		cmocka_unit_test(length_has_an_exact_limit),
		cmocka_unit_test(format_says_when_it_does_not_fit),
		cmocka_unit_test(parts_are_handed_on_as_they_were_written),
		cmocka_unit_test(diagnostic_is_optional),
	};

	return cmocka_run_group_tests_name("event_parse", tests, NULL, NULL);
}
