/* SPDX-License-Identifier: MIT */
/* Event names of libpfm4, where it is there: the only file that knows it. */
#include "config.h"

#include "backends/perf/events/perf_tables.h"

#include "base/library.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined HAVE_LIBPFM4 && !defined PPI_WITHOUT_LIBPFM4
#include <perfmon/pfmlib_perf_event.h>

/*
 * libpfm4's tables hold tens of thousands of pointers, which the loader puts
 * right at start; for a short command that takes longer than all else we do.
 * So it is loaded when the first name asks for it, where it is a shared
 * library of a known name.
 */
#define PFM_FUNCTIONS(X)                                                   \
	X(initialize) X(get_event_info) X(get_pmu_info)                    \
	X(get_os_event_encoding) X(get_event_next) X(get_event_attr_info)  \
	X(find_event)

#define PFM_POINTER(name) __typeof__(pfm_##name) *name;

/* Filled once, with the lock held. */
static struct {
	PFM_FUNCTIONS(PFM_POINTER)
} pfm;

#if defined PPI_LIBPFM4_FILE
#define PFM_NAME(name) "pfm_" #name,

static bool load(void)
{
	static const char *const names[] = { PFM_FUNCTIONS(PFM_NAME) };

	return pfm.initialize ||
	       ppi_library_load(PPI_LIBPFM4_FILE, names,
	                        sizeof(names) / sizeof(names[0]), &pfm);
}
#else
#define PFM_TAKE(name) pfm.name = pfm_##name;

static bool load(void)
{
	PFM_FUNCTIONS(PFM_TAKE)
	return true;
}
#endif

/* One for every call; libpfm4 is silent about threads. */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t watches_forks = PTHREAD_ONCE_INIT;

/* Held over a fork, so that no child finds it taken by a thread that it does
 * not have, and the tables whole. */
static void lock_tables(void)
{
	pthread_mutex_lock(&table_lock);
}

static void unlock_tables(void)
{
	pthread_mutex_unlock(&table_lock);
}

static void watch_forks(void)
{
	pthread_atfork(lock_tables, unlock_tables, unlock_tables);
}

/* Reads /proc and the CPU's identity at the first call, then only answers. */
static bool enter(void)
{
	pthread_once(&watches_forks, watch_forks);
	lock_tables();
	if (load() && pfm.initialize() == PFM_SUCCESS)
		return true;
	unlock_tables();
	return false;
}

static void leave(void)
{
	unlock_tables();
}

static enum ppi_table_verdict verdict_of(int code)
{
	switch (code) {
	case PFM_SUCCESS:
		return PPI_TABLE_OK;
	case PFM_ERR_ATTR:
		return PPI_TABLE_NO_PART;
	case PFM_ERR_ATTR_VAL:
		return PPI_TABLE_BAD_VALUE;
	case PFM_ERR_UMASK:
		return PPI_TABLE_BAD_MASK;
	case PFM_ERR_ATTR_SET:
		return PPI_TABLE_TWICE;
	case PFM_ERR_FEATCOMB:
	case PFM_ERR_TOOMANY:
		return PPI_TABLE_CLASH;
	case PFM_ERR_NOTSUPP:
		return PPI_TABLE_NOT_HERE;
	case PFM_ERR_NOMEM:
		return PPI_TABLE_NO_MEMORY;
	default:
		return PPI_TABLE_NO_EVENT;
	}
}

static void explain(int event, struct ppi_table_answer *answer)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	pfm_pmu_info_t pmu = { .size = sizeof(pmu) };

	if (pfm.get_event_info(event, PFM_OS_PERF_EVENT_EXT, &info) !=
	            PFM_SUCCESS ||
	    pfm.get_pmu_info(info.pmu, &pmu) != PFM_SUCCESS)
		return;
	snprintf(answer->pmu, sizeof(answer->pmu), "%s", pmu.name);
	snprintf(answer->pmu_means, sizeof(answer->pmu_means), "%s",
	         pmu.desc);
	snprintf(answer->means, sizeof(answer->means), "%s", info.desc);
}

static void copy_attr(const struct perf_event_attr *attr,
                      struct ppi_table_answer *answer)
{
	answer->type = attr->type;
	answer->config[0] = attr->config;
	answer->config[1] = attr->config1;
	answer->config[2] = attr->config2;
	answer->precise = attr->precise_ip;
	answer->exclude_user = attr->exclude_user;
	answer->exclude_kernel = attr->exclude_kernel;
	answer->exclude_hypervisor = attr->exclude_hv;
	answer->exclude_guest = attr->exclude_guest;
	answer->exclude_host = attr->exclude_host;
}

enum ppi_table_verdict ppi_table_encode(const char *string,
                                        struct ppi_table_answer *answer)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	char *spelling = NULL;
	pfm_perf_encode_arg_t arg = { .attr = &attr, .fstr = &spelling,
		                      .size = sizeof(arg) };
	int code;

	memset(answer, 0, sizeof(*answer));
	if (!enter())
		return PPI_TABLE_NO_EVENT;
	/* libpfm4's raw events look at errno without having cleared it */
	errno = 0;
	code = pfm.get_os_event_encoding(string, PFM_PLM0 | PFM_PLM3,
	                                 PFM_OS_PERF_EVENT_EXT, &arg);
	if (code == PFM_SUCCESS) {
		copy_attr(&attr, answer);
		explain(arg.idx, answer);
	}
	leave();
	snprintf(answer->spelling, sizeof(answer->spelling), "%s",
	         spelling ? spelling : "");
	free(spelling);
	return verdict_of(code);
}

bool ppi_table_next_pmu(int *id, struct ppi_table_pmu *out)
{
	bool is_found = false;

	if (!enter())
		return false;
	while (*id < PFM_PMU_MAX && !is_found) {
		pfm_pmu_info_t pmu = { .size = sizeof(pmu) };

		is_found = pfm.get_pmu_info((pfm_pmu_t)(*id)++, &pmu) ==
		           PFM_SUCCESS;
		if (!is_found)
			continue;
		snprintf(out->name, sizeof(out->name), "%s", pmu.name);
		snprintf(out->means, sizeof(out->means), "%s", pmu.desc);
		out->event_count = (size_t)pmu.nevents;
		out->is_present = pmu.is_present;
		out->is_core = pmu.type == PFM_PMU_TYPE_CORE;
		out->first_event = pmu.first_event;
	}
	leave();
	return is_found;
}

void ppi_table_offer_events(const struct ppi_table_pmu *pmu,
                            struct ppi_nearest *nearest)
{
	if (!enter())
		return;
	for (int i = pmu->first_event; i != -1; i = pfm.get_event_next(i)) {
		pfm_event_info_t info = { .size = sizeof(info) };

		if (pfm.get_event_info(i, PFM_OS_PERF_EVENT_EXT, &info) ==
		    PFM_SUCCESS)
			ppi_nearest_offer(nearest, info.name);
	}
	leave();
}

bool ppi_table_next_event(const struct ppi_table_pmu *pmu, int *at,
                          struct ppi_table_event *out)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	bool is_found;

	if (!enter())
		return false;
	*at = *at < 0 ? pmu->first_event : pfm.get_event_next(*at);
	is_found = *at >= 0 && pfm.get_event_info(*at, PFM_OS_PERF_EVENT_EXT,
	                                          &info) == PFM_SUCCESS;
	if (is_found) {
		snprintf(out->name, sizeof(out->name), "%s", info.name);
		snprintf(out->also, sizeof(out->also), "%s",
		         info.equiv ? info.equiv : "");
		snprintf(out->means, sizeof(out->means), "%s",
		         info.desc ? info.desc : "");
	}
	leave();
	return is_found;
}

bool ppi_table_next_part(int event, int *at, struct ppi_table_part *out)
{
	pfm_event_attr_info_t part = { .size = sizeof(part) };
	bool is_found;

	if (!enter())
		return false;
	is_found = pfm.get_event_attr_info(event, ++*at,
	                                   PFM_OS_PERF_EVENT_EXT, &part) ==
	           PFM_SUCCESS;
	if (is_found) {
		snprintf(out->name, sizeof(out->name), "%s", part.name);
		snprintf(out->means, sizeof(out->means), "%s",
		         part.desc ? part.desc : "");
		out->is_mask = part.type == PFM_ATTR_UMASK;
		out->is_default = part.is_dfl;
	}
	leave();
	return is_found;
}

static void offer_part(int event, int index, struct ppi_nearest *nearest,
                       char *masks, size_t bytes)
{
	pfm_event_attr_info_t part = { .size = sizeof(part) };
	size_t used = strlen(masks);

	if (pfm.get_event_attr_info(event, index, PFM_OS_PERF_EVENT_EXT,
	                            &part) != PFM_SUCCESS)
		return;
	ppi_nearest_offer(nearest, part.name);
	if (part.type == PFM_ATTR_UMASK &&
	    used + strlen(part.name) + 3 < bytes)
		snprintf(masks + used, bytes - used, "%s%s", used ? ", " : "",
		         part.name);
}

void ppi_table_offer_parts(const char *event, struct ppi_nearest *nearest,
                           char *masks, size_t bytes)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	int index;

	masks[0] = '\0';
	if (!enter())
		return;
	index = pfm.find_event(event);
	if (index >= 0 && pfm.get_event_info(index, PFM_OS_PERF_EVENT_EXT,
	                                     &info) == PFM_SUCCESS)
		for (int i = 0; i < info.nattrs; i++)
			offer_part(index, i, nearest, masks, bytes);
	leave();
}

bool ppi_table_is_there(void)
{
	bool is_there = enter();

	if (is_there)
		leave();
	return is_there;
}

#else /* without libpfm4 */

enum ppi_table_verdict ppi_table_encode(const char *string,
                                        struct ppi_table_answer *answer)
{
	(void)string;
	(void)answer;
	return PPI_TABLE_NO_EVENT;
}

bool ppi_table_next_pmu(int *id, struct ppi_table_pmu *pmu)
{
	(void)id;
	(void)pmu;
	return false;
}

void ppi_table_offer_events(const struct ppi_table_pmu *pmu,
                            struct ppi_nearest *nearest)
{
	(void)pmu;
	(void)nearest;
}

void ppi_table_offer_parts(const char *event, struct ppi_nearest *nearest,
                           char *masks, size_t bytes)
{
	(void)event;
	(void)nearest;
	(void)bytes;
	masks[0] = '\0';
}

bool ppi_table_next_event(const struct ppi_table_pmu *pmu, int *at,
                          struct ppi_table_event *event)
{
	(void)pmu;
	(void)at;
	(void)event;
	return false;
}

bool ppi_table_next_part(int event, int *at, struct ppi_table_part *part)
{
	(void)event;
	(void)at;
	(void)part;
	return false;
}

bool ppi_table_is_there(void)
{
	return false;
}
#endif
