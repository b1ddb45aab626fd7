/* SPDX-License-Identifier: MIT */
/* libpfm4's tables in our own terms; empty where it was left out. */
#ifndef PPI_PERF_TABLES_H
#define PPI_PERF_TABLES_H

#include "backends/perf/events/perf_request.h"

/* What libpfm4 said to a string. */
enum ppi_table_verdict {
	PPI_TABLE_OK,
	PPI_TABLE_NO_EVENT, /* no such event, or no libpfm4 */
	PPI_TABLE_NO_PART,  /* an unknown unit mask or modifier */
	PPI_TABLE_BAD_VALUE,
	PPI_TABLE_BAD_MASK, /* a unit mask is missing or cannot be combined */
	PPI_TABLE_TWICE,    /* the same with different values */
	PPI_TABLE_CLASH,    /* parts that do not go together */
	PPI_TABLE_NOT_HERE, /* the kernel does not offer it */
	PPI_TABLE_NO_MEMORY
};

struct ppi_table_answer {
	uint32_t type;
	uint64_t config[3];
	unsigned precise;
	bool exclude_user, exclude_kernel, exclude_hypervisor;
	bool exclude_guest, exclude_host;
	char spelling[256];  /* libpfm4's own, with every modifier */
	char pmu[64];        /* by which PMU, */
	char pmu_means[64];  /* in words; */
	char means[128];     /* what the event is */
};

struct ppi_table_pmu {
	char name[64];
	char means[64];
	size_t event_count;
	bool is_present; /* its CPUID matches: it may still not be offered */
	bool is_core;    /* counts what a CPU core does */
	int first_event;
};

struct ppi_table_event {
	char name[128];
	char also[64];   /* another name of the same */
	char means[384];
};

/* A unit mask or modifier of an event. */
struct ppi_table_part {
	char name[64];
	char means[384];
	bool is_mask, is_default;
};

/* Calls are serialised: libpfm4 does not say that it may be called from
 * several threads. A mode that is not given means user and kernel. */
enum ppi_table_verdict ppi_table_encode(const char *string,
                                        struct ppi_table_answer *answer);

/* Walk the PMUs: start with *id = 0, ends with false. */
bool ppi_table_next_pmu(int *id, struct ppi_table_pmu *pmu);

/* Walk the events of a PMU, and the parts of an event that *at of the other
 * walk numbers: both start with *at = -1 and end with false. */
bool ppi_table_next_event(const struct ppi_table_pmu *pmu, int *at,
                          struct ppi_table_event *event);
bool ppi_table_next_part(int event, int *at, struct ppi_table_part *part);

/* Offer every event of a PMU. */
void ppi_table_offer_events(const struct ppi_table_pmu *pmu,
                            struct ppi_nearest *nearest);

/* Is there a libpfm4? */
bool ppi_table_is_there(void);

/* The refusal of a request that got `verdict`. */
portprof_status ppi_table_refuse(const struct perf_request *request,
                                 enum ppi_table_verdict verdict,
                                 struct ppi_diag *why);

#endif
