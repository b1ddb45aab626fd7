/* SPDX-License-Identifier: MIT */
/* Choose a backend: by name, or by needs and rank, and keep the verdict. */
#ifndef PPI_SELECT_H
#define PPI_SELECT_H

#include "api/core/session_config.h"

/* Why each better backend was passed over, best first. */
struct ppi_passed_over {
	char **names;
	char **reasons;
	size_t count;
};
void ppi_passed_over_free(struct ppi_passed_over *list);

/* Called for each candidate that probing and capabilities let through: plan
 * it and open it. E_INVALID and E_NOMEM end the search; any other failure
 * passes on to the next backend under "auto". */
typedef portprof_status (*ppi_try_fn)(const struct ppi_backend_ops *ops,
                                      const void *kernel,
                                      const struct ppi_probe *probe,
                                      void *context, struct ppi_diag *why);

/* E_INVALID: no backend of that name is in this build. */
portprof_status ppi_select_unknown(const char *name, struct ppi_diag *why);

/*
 * Try backends until one opens. When none does, `why` tells of the best one
 * that was refused, and of others about which something can be done.
 */
portprof_status ppi_select(const char *name, uint64_t needed_caps,
                           ppi_try_fn attempt, void *context,
                           struct ppi_passed_over *passed_over,
                           struct ppi_diag *why);

#endif
