/* SPDX-License-Identifier: MIT */
/*
 * Event strings and configuration text, mutated at random but each time the
 * same: whatever comes in, the answer is a meaning that can be spelled out, or
 * a refusal with a place, and nothing crashes.
 */

#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "api/core/session_config.h"
#include "api/core/event.h"
#ifdef HAVE_LINUX_PERF_EVENT_H
#include "backends/perf/events/perf_request.h"
#endif
#include "table.h"

enum { SEEDS_MAX = 512, TEXT = 512 };

/* xorshift64: the same numbers on every machine. */
static uint64_t random_state;

static unsigned below(unsigned limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state >> 33) % limit;
}

/* The corpus: every string of the tables. */
struct corpus {
	char *text[SEEDS_MAX];
	unsigned count;
};

static void collect(struct corpus *corpus, const char *file, int field)
{
	struct table table;

	assert_int_equal(table_open(&table, file), 0);
	while (table_next(&table))
		if (corpus->count < SEEDS_MAX)
			corpus->text[corpus->count++] =
				strdup(table.field[field]);
}

static void forget(struct corpus *corpus)
{
	while (corpus->count)
		free(corpus->text[--corpus->count]);
}

static const char *const pieces[] = {
	":", "::", "@", "=", ".", "-", "0", "0x", "1", "u", "k", "h", "mg",
	"mh", "period=", "freq=", "precise=", "pinned", "excl=", "cpu=",
	"hw_smpl", "18446744073709551615", "18446744073709551616",
	"9223372036854775807", "-1", "cpu-clock", "perf", "c=", "i", "\t",
	" ", ",", "\n", "[", "]", "[a]\n", "#", "\x01", "\xff", "\r\n",
	"event = ", "frequency = ", "output", "ring = 64K", "callchain=on",
	"\n\n", "period = 5\n", "require = chain,", "'", "\"", "%s%n",
};

/* Put in, take out, repeat, overwrite: one to four times. */
static void mutate(const struct corpus *corpus, char out[TEXT])
{
	snprintf(out, TEXT, "%s", corpus->text[below(corpus->count)]);
	for (unsigned turns = 1 + below(4); turns; turns--) {
		const char *piece = pieces[below(sizeof(pieces) /
		                                 sizeof(pieces[0]))];
		size_t length = strlen(out), at = below((unsigned)length + 1);
		size_t more = strlen(piece);
		char rest[TEXT];

		snprintf(rest, sizeof(rest), "%s", out + at);
		switch (below(4)) {
		case 0: /* in */
			if (length + more < TEXT)
				snprintf(out + at, TEXT - at, "%s%s", piece,
				         rest);
			break;
		case 1: /* out */
			memmove(out + at, out + at + (at < length),
			        length - at + (at == length));
			break;
		case 2: /* twice */
			snprintf(out + length, TEXT - length, "%s", rest);
			break;
		default: /* over */
			if (at < length)
				out[at] = (char)(1 + below(255));
		}
	}
}

static void check_words(const char *words, const char *text)
{
	if (!words[0])
		fail_msg("refused without a word: %s", text);
	for (const char *c = words; *c; c++)
		if (((unsigned char)*c < ' ' && *c != '\t') || *c == 127)
			fail_msg("a control character in the words: %s", text);
}

/* As they were written, which is how a backend would give them back. */
static const char *parts_of(const struct ppi_event_request *request)
{
	static char parts[2 * PPI_EVENT_TEXT];
	size_t used = 0;

	parts[0] = '\0';
	for (size_t i = 0; i < request->part_count; i++)
		used += (size_t)snprintf(parts + used, sizeof(parts) - used,
		                         ":%.*s", request->parts[i].bytes,
		                         request->text + request->parts[i].at);
	return parts;
}

static void check_event(const char *text)
{
	struct ppi_event_request request, again;
	struct ppi_diag why;
	char spelled[256], twice[256];
	portprof_status status = ppi_event_parse(text, &request, &why);

	if (status == PORTPROF_E_INVALID) {
		check_words(why.words, text);
		if (why.column < 1 || why.column > strlen(text) + 1)
			fail_msg("column %u of '%s'", why.column, text);
		return;
	}
	assert_int_equal(status, PORTPROF_OK);
	if (!ppi_event_format(&request, request.name, parts_of(&request),
	                      spelled, sizeof(spelled)))
		return; /* 255 letters that take more when spelled out */
	if (ppi_event_parse(spelled, &again, &why) ||
	    !ppi_event_format(&again, again.name, parts_of(&again), twice,
	                      sizeof(twice)) ||
	    strcmp(spelled, twice) != 0)
		fail_msg("'%s' is spelled '%s', then '%s'", text, spelled,
		         twice);
}

static void event_strings(void **state)
{
	struct corpus corpus = { .count = 0 };
	char text[TEXT];

	(void)state;
	random_state = 0x9e3779b97f4a7c15;
	collect(&corpus, "events-good.txt", 0);
	collect(&corpus, "events-bad.txt", 2);
	for (int i = 0; i < 100000; i++) {
		mutate(&corpus, text);
		check_event(text);
	}
	forget(&corpus);
}

static void event_names(void **state)
{
#ifdef HAVE_LINUX_PERF_EVENT_H
	struct corpus corpus = { .count = 0 };
	char text[TEXT];

	(void)state;
	random_state = 0xd1b54a32d192ed03;
	collect(&corpus, "events-known.txt", 0);
	collect(&corpus, "events-perf-good.txt", 0);
	collect(&corpus, "events-perf-bad.txt", 2);
	collect(&corpus, "events-unknown.txt", 3);
	collect(&corpus, "events-unknown-libpfm4.txt", 3);
	for (int i = 0; i < 1000; i++) {
		struct ppi_event_request request;
		struct perf_request asked;
		struct ppi_event event;
		struct ppi_diag why;

		mutate(&corpus, text);
		if (ppi_event_parse(text, &request, NULL))
			continue;
		if (ppi_perf_request_read(&request, &asked, &why) ||
		    ppi_perf_resolve(&asked, PPI_SAMPLE, &event, &why))
			check_words(why.words, text);
		else
			assert_int_equal(ppi_event_parse(event.canonical,
			                                 &request, &why),
			                 PORTPROF_OK);
	}
	forget(&corpus);
#else
	(void)state;
	puts("skip: no linux/perf_event.h");
	skip();
#endif
}

static void configuration_text(void **state)
{
	struct corpus corpus = { .count = 0 };
	portprof_config *config = portprof_config_new();
	char text[TEXT];
	size_t refused = 0, taken = 0;

	(void)state;
	random_state = 0x2545f4914f6cdd1d;
	collect(&corpus, "config-good.txt", 2);
	collect(&corpus, "config-bad.txt", 3);
	for (int i = 0; i < 20000; i++) {
		size_t events = portprof_config_event_count(config);
		uint64_t hz = config->number[PPI_KEY_FREQUENCY],
			 period = config->number[PPI_KEY_PERIOD];
		portprof_status status;

		mutate(&corpus, text);
		status = portprof_config_load_text(config, "m", text,
		                                   below(8) ? NULL : "a");
		assert_true((config->number[PPI_KEY_FREQUENCY] == 0) !=
			    (config->number[PPI_KEY_PERIOD] == 0));
		if (status == PORTPROF_OK) {
			taken++;
		} else {
			assert_int_equal(status, PORTPROF_E_INVALID);
			check_words(portprof_last_diag()->words, text);
			assert_int_equal(portprof_config_event_count(config),
			                 events);
			assert_int_equal(config->number[PPI_KEY_FREQUENCY], hz);
			assert_int_equal(config->number[PPI_KEY_PERIOD],
					 period);
			refused++;
		}
		if (portprof_config_event_count(config) > 50) {
			portprof_config_free(config);
			config = portprof_config_new();
		}
	}
	printf("# %zu taken, %zu refused\n", taken, refused);
	/* both ways were really taken */
	assert_true(refused > 1000);
	assert_true(taken > 500);
	portprof_config_free(config);
	forget(&corpus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(event_strings),
		cmocka_unit_test(event_names),
		cmocka_unit_test(configuration_text),
	};

	return cmocka_run_group_tests_name("text_mutants", tests, NULL, NULL);
}
