/* SPDX-License-Identifier: MIT */
/* What portprof selftest learns from the conformance programs it runs. */
#ifndef PPI_SELFTEST_H
#define PPI_SELFTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Worse ones are greater, so that the worst case is a clause's verdict. */
enum ppi_verdict_kind {
	PPI_CLAUSE_OPEN = 0,  /* does not apply here, or cannot be shown */
	PPI_CLAUSE_HOLDS,
	PPI_CLAUSE_LACKING,   /* a capability is missing, and refused */
	PPI_CLAUSE_BROKEN
};

enum { PPI_CLAUSES_MAX = 160, PPI_CLAUSE_BYTES = 16 };

struct ppi_clause {
	char name[PPI_CLAUSE_BYTES]; /* "LIFE-4" */
	enum ppi_verdict_kind verdict;
	char lacking[32];            /* the capability */
};

/* One program's report so far. */
struct ppi_tap {
	struct ppi_clause clauses[PPI_CLAUSES_MAX];
	size_t clause_count;
	unsigned planned, ran, failed;
	char reason[512];    /* the last "skip:" */
	char *failures;      /* what failed, ready to print; may be NULL */
	size_t failure_bytes;
};

/* Take one line without its newline. */
void ppi_tap_line(struct ppi_tap *tap, const char *line);
/* Families in the order in which they came, numbers in their own. */
void ppi_tap_sort(struct ppi_tap *tap);
void ppi_tap_free(struct ppi_tap *tap);
size_t ppi_tap_count(const struct ppi_tap *tap, enum ppi_verdict_kind verdict);

enum { PPI_SELFTESTS_MAX = 8 };

/* A conformance program, and what became of it. */
struct ppi_selftest {
	char backend[32];
	char *path;
	struct ppi_tap tap;
	pid_t pid;
	int fd;              /* its output; -1 when it has ended */
	char line[1024];     /* the part of a line that has come */
	size_t line_bytes;
	int status;          /* of wait; valid once fd is -1 */
	uint64_t start_ns, took_ns;
	uint64_t heard_ns;   /* when it last wrote, or began */
};

/* It has written nothing for so long that it must hang. How long it takes in all says
 * nothing: on a busy machine a program gets little of each second. */
bool ppi_selftest_hangs(const struct ppi_selftest *test, uint64_t now_ns);

/* All cases ran and none failed. */
bool ppi_selftest_passed(const struct ppi_selftest *test);

#endif
