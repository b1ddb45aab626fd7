/* SPDX-License-Identifier: MIT */
/* Choose a backend: by name, or by needs and rank, and keep the verdict. */
#ifndef PPI_SELECT_H
#define PPI_SELECT_H

#include "api/internal/config.h"

/* Why each better backend was passed over, best first. */
struct ppi_verdict_list {
	char **names;
	char **reasons;
	size_t count;
};
void ppi_verdict_add(struct ppi_verdict_list *list, const char *name,
                     const char *reason);
void ppi_verdict_free(struct ppi_verdict_list *list);

/* Called for each candidate that probing and capabilities let through: plan
 * it and open it. E_INVALID ends the search; any other failure passes on to
 * the next backend under "auto". */
typedef portprof_status (*ppi_try_fn)(const struct ppi_backend_ops *ops,
                                      const void *kernel,
                                      const struct ppi_probe *probe,
                                      void *context, struct ppi_diag *why);

/*
 * Try backends until one opens. When none does, `why` tells of the best one
 * that was refused and lists the others.
 */
portprof_status ppi_select(const char *name, uint64_t needed_caps,
                           ppi_try_fn attempt, void *context,
                           struct ppi_verdict_list *verdict,
                           struct ppi_diag *why);

#endif
