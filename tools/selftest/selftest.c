/* SPDX-License-Identifier: MIT */
/*
 * portprof selftest: which clauses of the contract hold on this kernel. It runs
 * the conformance programs and sums up what they print.
 */
#include "tools/selftest/selftest.h"

#include "base/clock_ns.h"
#include "tools/options.h"
#include "tools/tools.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- verdicts ---- */

/* From the lines of a conformance program to a verdict for each clause. */

/* "life_4_stop_twice_is_ok" is a case of LIFE-4. */
static bool clause_of(const char *text, char out[PPI_CLAUSE_BYTES])
{
	size_t letters = strspn(text, "abcdefghijklmnopqrstuvwxyz");
	size_t digits = strspn(text + letters + (text[letters] == '_'),
	                       "0123456789");

	if (letters == 0 || digits == 0 || text[letters] != '_' ||
	    letters + 1 + digits >= PPI_CLAUSE_BYTES)
		return false;
	for (size_t i = 0; i < letters; i++)
		out[i] = (char)toupper((unsigned char)text[i]);
	out[letters] = '-';
	memcpy(out + letters + 1, text + letters + 1, digits);
	out[letters + 1 + digits] = '\0';
	return true;
}

static struct ppi_clause *find_clause(struct ppi_tap *tap, const char *name)
{
	struct ppi_clause *clause;

	for (size_t i = 0; i < tap->clause_count; i++)
		if (strcmp(tap->clauses[i].name, name) == 0)
			return &tap->clauses[i];
	if (tap->clause_count == PPI_CLAUSES_MAX)
		return NULL;
	clause = &tap->clauses[tap->clause_count++];
	strcpy(clause->name, name);
	return clause;
}

/* "lacks chain, and refuses it" */
static enum ppi_verdict_kind skipped(const struct ppi_tap *tap,
                                     char lacking[32])
{
	return sscanf(tap->reason, "lacks %31[a-z-]", lacking) == 1 ?
		PPI_CLAUSE_LACKING : PPI_CLAUSE_OPEN;
}

static void remember_failure(struct ppi_tap *tap, const char *text)
{
	size_t bytes = strlen(text) + 2;
	char *more = realloc(tap->failures, tap->failure_bytes + bytes + 1);

	if (!more)
		return; /* the count shows it all the same */
	tap->failures = more;
	snprintf(more + tap->failure_bytes, bytes + 1, "%s\n", text);
	tap->failure_bytes += bytes - 1;
}

static void take_case(struct ppi_tap *tap, const char *text, bool is_bad)
{
	struct ppi_clause *clause;
	enum ppi_verdict_kind verdict = PPI_CLAUSE_HOLDS;
	char name[PPI_CLAUSE_BYTES], lacking[32] = "";

	tap->ran++;
	if (strncmp(text, "# SKIP ", 7) == 0) {
		text += 7;
		verdict = skipped(tap, lacking);
	} else if (is_bad) {
		verdict = PPI_CLAUSE_BROKEN;
		tap->failed++;
		remember_failure(tap, text);
	}
	tap->reason[0] = '\0';
	if (!clause_of(text, name) || !(clause = find_clause(tap, name)))
		return;
	if (verdict > clause->verdict) {
		clause->verdict = verdict;
		strcpy(clause->lacking, lacking);
	}
}

void ppi_tap_line(struct ppi_tap *tap, const char *line)
{
	bool is_bad = strncmp(line, "not ok ", 7) == 0;
	int at = 0;

	if (sscanf(line, "1..%u", &tap->planned) == 1)
		return;
	if (strncmp(line, "skip: ", 6) == 0) {
		snprintf(tap->reason, sizeof(tap->reason), "%s", line + 6);
		return;
	}
	if (is_bad || strncmp(line, "ok ", 3) == 0) {
		sscanf(line + (is_bad ? 7 : 3), "%*u - %n", &at);
		if (at == 0)
			sscanf(line + (is_bad ? 7 : 3), "%*u %n", &at);
		take_case(tap, line + (is_bad ? 7 : 3) + at, is_bad);
		return;
	}
	/* what a failed assertion says comes after its case */
	if (tap->failed && strncmp(line, "# ", 2) == 0 &&
	    strstr(line, "ok - ") == NULL)
		remember_failure(tap, line);
}

void ppi_tap_free(struct ppi_tap *tap)
{
	free(tap->failures);
	tap->failures = NULL;
}

size_t ppi_tap_count(const struct ppi_tap *tap, enum ppi_verdict_kind verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < tap->clause_count; i++)
		count += tap->clauses[i].verdict == verdict;
	return count;
}

/* Where the clause's family begins in the list as it came. */
static size_t family_of(const struct ppi_tap *tap, const char *name)
{
	size_t letters = strcspn(name, "-"), i = 0;

	while (i < tap->clause_count &&
	       strncmp(tap->clauses[i].name, name, letters + 1) != 0)
		i++;
	return i;
}

struct place {
	size_t family;
	unsigned long number;
	struct ppi_clause clause;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

void ppi_tap_sort(struct ppi_tap *tap)
{
	struct place places[PPI_CLAUSES_MAX];

	for (size_t i = 0; i < tap->clause_count; i++) {
		const char *name = tap->clauses[i].name;

		places[i].family = family_of(tap, name);
		places[i].number = strtoul(strchr(name, '-') + 1, NULL, 10);
		places[i].clause = tap->clauses[i];
	}
	qsort(places, tap->clause_count, sizeof(places[0]), by_place);
	for (size_t i = 0; i < tap->clause_count; i++)
		tap->clauses[i] = places[i].clause;
}

/* ---- running the programs ---- */

/* Finds and runs the conformance programs, and reads their output. */

/* A program that hangs must not hang the user. */
enum { SILENCE_S = 300, TURN_MS = 200 };

bool ppi_selftest_hangs(const struct ppi_selftest *test, uint64_t now_ns)
{
	return now_ns - test->heard_ns > SILENCE_S * 1000000000ull;
}

/* ".../conform_perf_real" tests the backend perf. */
static bool fill(struct ppi_selftest *test, const char *path)
{
	const char *name = strrchr(path, '/');

	memset(test, 0, sizeof(*test));
	test->fd = -1;
	if (sscanf(name ? name + 1 : path, "conform_%31[a-z]_real",
	           test->backend) != 1 || access(path, X_OK) != 0)
		return false;
	test->path = strdup(path);
	return test->path != NULL;
}

/*
 * Those of `folder` that are for `backend` (NULL: all). False with nothing
 * found. Free each path and tap.
 */
static bool find_programs(const char *folder, const char *backend,
                          struct ppi_selftest *tests, size_t *count)
{
	char pattern[4096];
	glob_t found;

	*count = 0;
	snprintf(pattern, sizeof(pattern), "%s/conform_%s_real", folder,
	         backend ? backend : "*");
	if (glob(pattern, 0, NULL, &found) != 0)
		return false;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (*count < PPI_SELFTESTS_MAX &&
		    fill(&tests[*count], found.gl_pathv[i]))
			++*count;
	globfree(&found);
	return *count > 0;
}

static void become(const struct ppi_selftest *test, int out)
{
	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execl(test->path, test->path, (char *)NULL);
	_exit(PPI_EXIT_CANNOT_RUN);
}

static bool start(struct ppi_selftest *test)
{
	int ends[2];

	if (pipe(ends) != 0)
		return false;
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	test->pid = fork();
	if (test->pid == 0)
		become(test, ends[1]);
	close(ends[1]);
	if (test->pid < 0) {
		close(ends[0]);
		return false;
	}
	test->fd = ends[0];
	test->start_ns = test->heard_ns = ppi_monotonic_ns();
	return true;
}

static void end(struct ppi_selftest *test)
{
	close(test->fd);
	test->fd = -1;
	while (waitpid(test->pid, &test->status, 0) < 0 && errno == EINTR)
		;
	test->took_ns = ppi_monotonic_ns() - test->start_ns;
}

static void take_bytes(struct ppi_selftest *test, const char *bytes,
                       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (bytes[i] != '\n') {
			if (test->line_bytes < sizeof(test->line) - 1)
				test->line[test->line_bytes++] = bytes[i];
			continue;
		}
		test->line[test->line_bytes] = '\0';
		ppi_tap_line(&test->tap, test->line);
		test->line_bytes = 0;
	}
}

/* What has come; ends the test at its end. */
static void read_some(struct ppi_selftest *test)
{
	char bytes[4096];
	ssize_t got = read(test->fd, bytes, sizeof(bytes));

	test->heard_ns = ppi_monotonic_ns();
	if (got > 0)
		take_bytes(test, bytes, (size_t)got);
	else if (got == 0 || (errno != EINTR && errno != EAGAIN))
		end(test);
}

static void show_progress(const struct ppi_selftest *tests, size_t count)
{
	fputc('\r', stderr);
	for (size_t i = 0; i < count; i++)
		if (tests[i].pid)
			fprintf(stderr, "%s %u/%u  ", tests[i].backend,
			        tests[i].tap.ran, tests[i].tap.planned);
}

/* Wait for output of those that run; the number of them. */
static size_t turn(struct ppi_selftest *tests, size_t count)
{
	struct pollfd polled[PPI_SELFTESTS_MAX];
	size_t at[PPI_SELFTESTS_MAX], running = 0;

	for (size_t i = 0; i < count; i++) {
		if (tests[i].fd < 0)
			continue;
		if (ppi_selftest_hangs(&tests[i], ppi_monotonic_ns()))
			kill(tests[i].pid, SIGKILL);
		polled[running] = (struct pollfd){ tests[i].fd, POLLIN, 0 };
		at[running++] = i;
	}
	if (running && poll(polled, running, TURN_MS) > 0)
		for (size_t i = 0; i < running; i++)
			if (polled[i].revents)
				read_some(&tests[at[i]]);
	return running;
}

/* Run all, as many at once as there are CPUs; `progress` shows a counter on
 * stderr. False when a program could not be started. */
static bool run_programs(struct ppi_selftest *tests, size_t count,
                         bool progress)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t at_once = cpus > 0 ? (size_t)cpus : 1, next = 0, running = 0;

	while (next < count || running > 0) {
		while (next < count && running < at_once) {
			if (!start(&tests[next]))
				return false;
			next++;
			running++;
		}
		turn(tests, count);
		running = 0;
		for (size_t i = 0; i < next; i++)
			running += tests[i].fd >= 0;
		if (progress)
			show_progress(tests, count);
	}
	if (progress)
		fprintf(stderr, "\r%60s\r", "");
	return true;
}

/* The program did not begin, for the reason in tap.reason. */
static bool was_skipped(const struct ppi_selftest *test)
{
	return WIFEXITED(test->status) && WEXITSTATUS(test->status) == 77;
}

bool ppi_selftest_passed(const struct ppi_selftest *test)
{
	return test->tap.failed == 0 && test->tap.ran > 0 &&
	       test->tap.ran == test->tap.planned &&
	       WIFEXITED(test->status) && WEXITSTATUS(test->status) == 0;
}

/* ---- the verb ---- */

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
	if (was_skipped(test)) {
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
		skipped += was_skipped(&tests[i]);
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

	if (!find_programs(folder(), backend, tests, &count))
		return nothing_found(backend);
	if (!run_programs(tests, count, !is_quiet && isatty(2))) {
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
	  "test @WORDS (all)",
	  .take = ppi_take_text, .place = AT(backend),
	  .word = ppi_backend_word },
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
