/* SPDX-License-Identifier: MIT */
/*
 * Runs the suite on the fixture that it is linked with.
 *
 * usage: conform_NAME [PATTERN]    cases whose names match, '*' and '?'
 */
#include "tests/conform/conform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CF_EACH_FAMILY(X) \
	X(select) X(event) X(sample) X(claim) X(target) X(loss) X(hist) \
	X(scale) X(random) X(sink) X(life) X(cycle) X(fork) X(excl) X(thread) \
	X(signal) X(count) X(error) X(fault) X(memory) X(times) X(share) \
	X(occurrence) X(group)

#define DECLARE(name) extern const struct cf_family conform_##name;
CF_EACH_FAMILY(DECLARE)

#define ADDRESS(name) &conform_##name,
static const struct cf_family *const families[] = { CF_EACH_FAMILY(ADDRESS) };

enum { FAMILIES = sizeof(families) / sizeof(families[0]), CASES_MAX = 256 };

static struct CMUnitTest tests[CASES_MAX];

static int clean_up(void **state)
{
	(void)state;
	cf_clean_up();
	return 0;
}

void cf_run_case(void **state);
void cf_run_case(void **state)
{
	const struct cf_case *one = *state;

	cf_begin();
	cf_ask(one->profile);
	one->run(state);
	cf_judge(one->profile);
	cf_finish();
}

static size_t list_cases(void)
{
	size_t count = 0;

	for (size_t f = 0; f < FAMILIES; f++) {
		for (size_t i = 0; i < families[f]->count; i++) {
			const struct cf_case *one = &families[f]->cases[i];

			if (count == CASES_MAX)
				abort();
			tests[count++] = (struct CMUnitTest){
				.name = one->name,
				.test_func = cf_run_case,
				.teardown_func = clean_up,
				.initial_state = (void *)(uintptr_t)one,
			};
		}
	}
	return count;
}

/* What an exec'd image does: use enough CPU time that a timer which survived
 * would have gone off. */
static int burn_and_exit(void)
{
	clock_t start = clock();

	while (clock() - start < CLOCKS_PER_SEC / 5)
		;
	return CF_AFTER_EXEC_STATUS;
}

int main(int argc, char **argv)
{
	const char *reason;

	if (argc == 2 && strcmp(argv[1], CF_AFTER_EXEC) == 0)
		return burn_and_exit();
	cf_program_path = argv[0];
	setvbuf(stdout, NULL, _IOLBF, 0); /* somebody may watch */
	reason = fixture.setup();
	if (reason) {
		printf("skip: %s\n", reason);
		return 77;
	}
	fixture.teardown();
	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return _cmocka_run_group_tests(fixture.name, tests, list_cases(), NULL,
	                               NULL);
}
