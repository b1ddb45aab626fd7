/* SPDX-License-Identifier: MIT */
/* Findings about this machine, for who asks a probe for them. */
#ifndef PERF_REPORT_H
#define PERF_REPORT_H

#include "backends/backend.h"
#include "backends/perf/probe/perf_rights.h"

void ppi_perf_report_hardware(const struct perf_kernel *kernel,
                              struct ppi_probe *out);
void ppi_perf_report_settings(const struct perf_kernel *kernel,
                              const struct perf_rights *rights,
                              struct ppi_probe *out);
/* Where this runs: containers, user namespaces, virtual machines. */
void ppi_perf_report_place(const struct perf_kernel *kernel,
                           const struct perf_rights *rights,
                           struct ppi_probe *out);

#endif
