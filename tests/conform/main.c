/* SPDX-License-Identifier: MIT */
/*
 * The main program of each conform_NAME: runs the conformance cases,
 * by public calls alone, on the fixture (a backend and its kernel) that it is
 * linked with, and prints the results as TAP.
 *
 * usage: conform_NAME [PATTERN]    cases whose names match, '*' and '?'
 */
#include "tests/conform/conform.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CF_EACH_FAMILY(X) \
	X(select) X(event) X(sample) X(claim) X(target) X(loss) X(hist) \
	X(scale) X(random) X(sink) X(life) X(cycle) X(fork) X(excl) X(thread) \
	X(code) X(signal) X(count) X(error) X(fault) X(memory) X(times) X(share) \
	X(occurrence) X(group) X(label) X(wait)

#define DECLARE(name) extern const struct cf_family conform_##name;
CF_EACH_FAMILY(DECLARE)

#define ADDRESS(name) &conform_##name,
static const struct cf_family *const families[] = { CF_EACH_FAMILY(ADDRESS) };

enum { FAMILIES = sizeof(families) / sizeof(families[0]), CASES_MAX = 256 };

static const struct cf_case *cases[CASES_MAX];

static void run_case(const void *context)
{
	const struct cf_case *one = context;

	/* what the process keeps from its first set on is no session's */
	if (strncmp(one->name, "label_", strlen("label_")) == 0)
		portprof_label_set_new(NULL, 0);
	cf_begin();
	cf_ask(one->profile);
	one->run(NULL);
	cf_judge(one->profile);
	cf_finish();
}

static size_t list_cases(const char *pattern)
{
	size_t count = 0;

	for (size_t f = 0; f < FAMILIES; f++) {
		for (size_t i = 0; i < families[f]->count; i++) {
			const struct cf_case *one = &families[f]->cases[i];

			if (count == CASES_MAX)
				abort();
			if (fnmatch(pattern, one->name, 0) == 0)
				cases[count++] = one;
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
	size_t count, failed = 0;

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
	count = list_cases(argc == 2 ? argv[1] : "*");
	printf("1..%zu\n", count);
	for (size_t i = 0; i < count; i++)
		failed += !cf_run_case(i + 1, cases[i]->name, run_case, cf_clean_up,
		                  cases[i]);
	return failed > 0 || count == 0;
}
