/* SPDX-License-Identifier: MIT */
/* portprof selftest: which clauses of the contract hold on this kernel. */
#include "tools/selftest/selftest.h"

#include "tools/options.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *folder(void)
{
	const char *told = getenv("PORTPROF_LIBEXECDIR");

	return told && told[0] ? told : PPI_PKGLIBEXECDIR;
}

static const struct ppi_clause *clause_in(const struct ppi_selftest *test,
                                          const char *name)
{
	for (size_t i = 0; i < test->tap.clause_count; i++)
		if (strcmp(test->tap.clauses[i].name, name) == 0)
			return &test->tap.clauses[i];
	return NULL;
}

static void print_cell(const struct ppi_clause *clause, bool is_followed)
{
	char words[48];

	if (!clause)
		strcpy(words, "");
	else if (clause->verdict == PPI_CLAUSE_LACKING)
		snprintf(words, sizeof(words), "no %s", clause->lacking);
	else
		strcpy(words, clause->verdict == PPI_CLAUSE_BROKEN ? "BROKEN" :
		              clause->verdict == PPI_CLAUSE_HOLDS ? "holds" :
		                                                    "-");
	printf("  %-*s", is_followed ? 13 : 0, words);
}

/* All programs have the same clauses in the same order. */
static void print_table(struct ppi_selftest *tests, size_t count)
{
	struct ppi_selftest *first = &tests[0];

	for (size_t i = 1; i < count; i++)
		if (tests[i].tap.clause_count > first->tap.clause_count)
			first = &tests[i];
	ppi_tap_sort(&first->tap);
	printf("%-10s", "clause");
	for (size_t i = 0; i < count; i++)
		printf("  %-*s", i + 1 < count ? 13 : 0, tests[i].backend);
	printf("\n");
	for (size_t c = 0; c < first->tap.clause_count; c++) {
		const char *name = first->tap.clauses[c].name;

		printf("%-10s", name);
		for (size_t i = 0; i < count; i++)
			print_cell(clause_in(&tests[i], name), i + 1 < count);
		printf("\n");
	}
	printf("\n");
}

static void print_result(const struct ppi_selftest *test)
{
	const struct ppi_tap *tap = &test->tap;

	printf("%-8s ", test->backend);
	if (ppi_selftest_was_skipped(test)) {
		printf("cannot be used here: %s\n", tap->reason);
		return;
	}
	printf("%zu clauses hold, %zu lacking a capability, %zu broken, "
	       "%zu not to be shown here (%u cases, %.1f s)\n",
	       ppi_tap_count(tap, PPI_CLAUSE_HOLDS),
	       ppi_tap_count(tap, PPI_CLAUSE_LACKING),
	       ppi_tap_count(tap, PPI_CLAUSE_BROKEN),
	       ppi_tap_count(tap, PPI_CLAUSE_OPEN), tap->ran,
	       (double)test->took_ns / 1e9);
	if (tap->failures)
		printf("%s", tap->failures);
	if (WIFSIGNALED(test->status))
		printf("%s was ended by signal %d in case %u of %u\n",
		       test->path, WTERMSIG(test->status), tap->ran + 1,
		       tap->planned);
	else if (tap->ran != tap->planned || tap->ran == 0)
		printf("%s ran %u of %u cases\n", test->path, tap->ran,
		       tap->planned);
}

/* The verdict on the system's clocks: a line of check_clocks, which is beside
 * the conformance programs. True when they can be trusted, or it is not there. */
static bool check_clocks(void)
{
	char line[512] = "";
	char path[4096];
	FILE *answer;
	int status;

	snprintf(path, sizeof(path), "%s/check_clocks", folder());
	if (access(path, X_OK) != 0)
		return true;
	/* quoted, as a folder's name may have spaces */
	snprintf(path, sizeof(path), "'%s/check_clocks'", folder());
	answer = popen(path, "r");
	if (!answer)
		return true;
	if (!fgets(line, sizeof(line), answer))
		strcpy(line, "no answer\n");
	status = pclose(answer);
	printf("%-8s %s", "clocks", line);
	return status == 0;
}

static int judge(const struct ppi_selftest *tests, size_t count)
{
	size_t passed = 0, skipped = 0;

	for (size_t i = 0; i < count; i++) {
		passed += ppi_selftest_passed(&tests[i]);
		skipped += ppi_selftest_was_skipped(&tests[i]);
	}
	return passed > 0 && passed + skipped == count ? PPI_EXIT_OK :
	                                                 PPI_EXIT_FAILED;
}

static int nothing_found(const char *backend)
{
	if (backend)
		ppi_say("no self-test for the backend '%s' in %s: name one "
		        "of the backends that measure on this system",
		        backend, folder());
	else
		ppi_say("there are no self-tests in %s: make install puts "
		        "them there", folder());
	return PPI_EXIT_FAILED;
}

struct options {
	const char *backend; /* NULL: all */
	bool is_quiet;
};

static int run(const char *backend, bool is_quiet)
{
	struct ppi_selftest tests[PPI_SELFTESTS_MAX];
	bool are_clocks_right;
	size_t count;
	int status = PPI_EXIT_FAILED;

	if (!ppi_selftest_find(folder(), backend, tests, &count))
		return nothing_found(backend);
	if (!ppi_selftest_run(tests, count, !is_quiet && isatty(2))) {
		ppi_say("a self-test could not be started: too many "
		        "processes or descriptors");
	} else {
		if (!is_quiet)
			print_table(tests, count);
		are_clocks_right = check_clocks();
		for (size_t i = 0; i < count; i++)
			print_result(&tests[i]);
		status = judge(tests, count);
		if (!are_clocks_right)
			status = PPI_EXIT_FAILED;
	}
	for (size_t i = 0; i < count; i++) {
		ppi_tap_free(&tests[i].tap);
		free(tests[i].path);
	}
	return status;
}

#define AT(member) offsetof(struct options, member)

static const struct ppi_option table[] = {
	{ 'b', "backend", "NAME",
	  "test this backend, such as perf or timer (all)",
	  .take = ppi_take_text, .place = AT(backend) },
	{ 'q', "quiet", NULL, "print the result without the table",
	  .take = ppi_take_flag, .place = AT(is_quiet) },
};

static const struct ppi_line line = {
	.verb = "selftest",
	.usage = "[-b BACKEND] [-q]",
	.about = "Measures programs of known work on this machine's kernel "
	         "and reports for each clause of the contract whether it "
	         "holds. Takes about half a minute.",
	.notes = "Exit status: 0 if all tested clauses hold, 1 if a clause is "
	         "broken or no test ran, 2 wrong usage.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.one_word_more = "name a backend by -b",
	.wrong = PPI_EXIT_USAGE,
};

int ppi_selftest_main(int argc, char **argv)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	struct options options = { .backend = NULL };
	int status = ppi_line_read(&line, argc, argv, &options);
	const char *backend = options.backend;

	if (status != PPI_LINE_READ)
		return status;
	if (backend && backend[strspn(backend, letters)])
		return ppi_line_wrong(&line, "-b: '%s' is not the name of a "
		                             "backend", backend);
	return run(backend, options.is_quiet);
}
