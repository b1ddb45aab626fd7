/* SPDX-License-Identifier: MIT */
/* portprof report --html: the events of a profile as a page. */
#ifndef PPI_HTML_REPORT_H
#define PPI_HTML_REPORT_H

#include "tools/options.h"
#include "tools/report/report.h"

struct ppi_page;
struct ppi_page_series;

/* `count` events from `first` on; says why when it returns false. */
bool ppi_html_report(const struct ppi_report *report,
                     const struct ppi_view *view, size_t first, size_t count,
                     const char *path, const struct ppi_hidden *hidden,
                     bool is_verbose);

/* The text report's header, to be freed; NULL when out of memory. */
char *ppi_html_account(const struct ppi_report *report);

/* Fill the sums, the chains and the account of a series whose report and view
 * are set; false when out of memory. ppi_html_free is due in any case. */
bool ppi_html_sum(struct ppi_page_series *series);
void ppi_html_free(struct ppi_page *page);

#endif
