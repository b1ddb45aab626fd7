/* SPDX-License-Identifier: MIT */
/* Stands in for report_json.c in a build without jansson. */
#include "config.h"

#include "tools/report/report.h"

bool ppi_report_print_json(const struct ppi_report *report,
                           const struct ppi_rows *functions,
                           const struct ppi_rows *threads, FILE *out,
                           const char **why)
{
	(void)report;
	(void)functions;
	(void)threads;
	(void)out;
	*why = "--json was left out when portprof was built: install "
	       "libjansson-dev and build again";
	return false;
}
