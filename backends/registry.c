/* SPDX-License-Identifier: MIT */
/* The one table of compiled-in backends, and the kernel each one uses. */
#include "config.h"

#include "backends/backend.h"

#include <string.h>

/* profil and solaris need no header of their systems: their logic is always
 * here, and elsewhere they say that they have no kernel. */
#define PPI_EACH_BACKEND(X) \
	PPI_PERF(X) PPI_TIMER(X) X(solaris) X(profil) PPI_ITIMER(X) X(null)

#ifdef PPI_BACKEND_PERF
#define PPI_PERF(X) X(perf)
#else
#define PPI_PERF(X)
#endif
#ifdef PPI_BACKEND_TIMER
#define PPI_TIMER(X) X(timer)
#else
#define PPI_TIMER(X)
#endif
#ifdef PPI_BACKEND_ITIMER
#define PPI_ITIMER(X) X(itimer)
#else
#define PPI_ITIMER(X)
#endif

#define DECLARE(name) extern const struct ppi_backend_ops ppi_backend_##name;
PPI_EACH_BACKEND(DECLARE)

/* Best rank first: select.c relies on it, and
 * tests/unit/test_core.c holds it to that. */
#define ENTRY(name) &ppi_backend_##name,
static const struct ppi_backend_ops *const backends[] = {
	PPI_EACH_BACKEND(ENTRY)
};

enum { BACKEND_COUNT = sizeof(backends) / sizeof(backends[0]) };

#ifdef PPI_BACKEND_PERF
extern const struct ppi_catalogue_ops ppi_catalogue_perf;
#endif

const struct ppi_catalogue_ops *
ppi_catalogue_of(const struct ppi_backend_ops *ops)
{
#ifdef PPI_BACKEND_PERF
	if (ops == &ppi_backend_perf)
		return &ppi_catalogue_perf;
#else
	(void)ops;
#endif
	return NULL;
}

/* Set by tests only, before any session is open. */
static const void *test_kernels[BACKEND_COUNT];
const char ppi_no_kernel[] = "none";

const struct ppi_backend_ops *ppi_backend_at(size_t index)
{
	return index < BACKEND_COUNT ? backends[index] : NULL;
}

static size_t index_of(const char *name)
{
	size_t i = 0;

	while (i < BACKEND_COUNT && strcmp(backends[i]->name, name) != 0)
		i++;
	return i;
}

const struct ppi_backend_ops *ppi_backend_find(const char *name)
{
	return ppi_backend_at(index_of(name));
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
