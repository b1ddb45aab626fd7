/* SPDX-License-Identifier: MIT */
/* What writing to ClickHouse and reading from it have in common. */
#ifndef PPI_FLEET_CLICKHOUSE_H
#define PPI_FLEET_CLICKHOUSE_H

#include "tools/fleet/fleet.h"

/* A URL that asks `query` of the database that the URL of `fleet` names behind its
 * host; NULL when out of memory. `query` is freed. */
char *ppi_clickhouse_url(const struct ppi_url *url, struct ppi_wire *query,
                         bool is_partial);

/* A text of SQL, in quotes. */
void ppi_clickhouse_quote(struct ppi_wire *query, const char *text);

#endif
