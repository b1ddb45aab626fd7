/* SPDX-License-Identifier: MIT */
/* From the lines of a conformance program to a verdict for each clause. */
#include "tools/selftest/selftest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
		return; /* the count tells of it all the same */
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
