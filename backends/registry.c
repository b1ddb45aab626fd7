/* SPDX-License-Identifier: MIT */
/* The one table of compiled-in backends, their ranks on this system, and the
 * kernel each one uses. */
#include "config.h"

#include "backends/backend.h"

#include <string.h>

/*
 * Best rank first: api/core/open.c relies on it, and tests/unit/test_core.c holds
 * it to that. A system where another order is better gets a list of its own, under its
 * #if; backends of other systems, which have no kernel here, are passed over
 * whatever their rank. profil and solaris need no header of their systems, so
 * their logic is here unless they are switched off. Tests have their own copy of
 * this file, with PPI_EVERY_BACKEND, and so these two even then.
 */
#define PPI_EACH_BACKEND(X) \
	PPI_PERF(X, 100) PPI_TIMER(X, 50) PPI_SOLARIS(X, 25) PPI_PROFIL(X, 20) \
	PPI_ITIMER(X, 10) PPI_RUSAGE(X, 5) X(null, -1)

#ifdef PPI_BACKEND_PERF
#define PPI_PERF(X, rank) X(perf, rank)
#else
#define PPI_PERF(X, rank)
#endif
#ifdef PPI_BACKEND_TIMER
#define PPI_TIMER(X, rank) X(timer, rank)
#else
#define PPI_TIMER(X, rank)
#endif
#ifdef PPI_BACKEND_ITIMER
#define PPI_ITIMER(X, rank) X(itimer, rank)
#else
#define PPI_ITIMER(X, rank)
#endif

#ifdef PPI_BACKEND_RUSAGE
#define PPI_RUSAGE(X, rank) X(rusage, rank)
#else
#define PPI_RUSAGE(X, rank)
#endif

#if !defined PPI_BACKEND_OFF_PROFIL || defined PPI_EVERY_BACKEND
#define PPI_PROFIL(X, rank) X(profil, rank)
#else
#define PPI_PROFIL(X, rank)
#endif
#if !defined PPI_BACKEND_OFF_SOLARIS || defined PPI_EVERY_BACKEND
#define PPI_SOLARIS(X, rank) X(solaris, rank)
#else
#define PPI_SOLARIS(X, rank)
#endif

#define DECLARE(name, rank) \
	extern const struct ppi_backend_ops ppi_backend_##name;
PPI_EACH_BACKEND(DECLARE)

#define ENTRY(name, rank) { &ppi_backend_##name, rank },
static const struct {
	const struct ppi_backend_ops *ops;
	int rank;
} backends[] = {
	PPI_EACH_BACKEND(ENTRY)
};

enum { BACKEND_COUNT = sizeof(backends) / sizeof(backends[0]) };

/* Set by tests only, before any session is open. */
static const void *test_kernels[BACKEND_COUNT];
const char ppi_no_kernel[] = "none";

const struct ppi_backend_ops *ppi_backend_at(size_t index)
{
	return index < BACKEND_COUNT ? backends[index].ops : NULL;
}

static size_t index_of(const char *name)
{
	size_t i = 0;

	while (i < BACKEND_COUNT && strcmp(backends[i].ops->name, name) != 0)
		i++;
	return i;
}

const struct ppi_backend_ops *ppi_backend_find(const char *name)
{
	return ppi_backend_at(index_of(name));
}

int ppi_backend_rank(const struct ppi_backend_ops *ops)
{
	size_t i = index_of(ops->name);

	return i < BACKEND_COUNT ? backends[i].rank : -1;
}

const void *ppi_backend_kernel(const struct ppi_backend_ops *ops)
{
	size_t i = index_of(ops->name);

	if (i < BACKEND_COUNT && test_kernels[i])
		return test_kernels[i] == ppi_no_kernel ? NULL :
		                                          test_kernels[i];
	return ops->real_kernel;
}

void ppi_backend_set_kernel(const char *name, const void *kernel)
{
	size_t i = index_of(name);

	if (i < BACKEND_COUNT)
		test_kernels[i] = kernel;
}
