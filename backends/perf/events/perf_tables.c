/* SPDX-License-Identifier: MIT */
/*
 * Event names of libpfm4, where it is there: the only file that knows it. And what
 * to say of a string that neither its tables nor the kernel's names have.
 */
#include "config.h"

#include "backends/perf/events/perf_tables.h"

#include "backends/perf/events/perf_names.h"
#include "backends/perf/events/perf_request.h"
#include "base/library.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the tables ---- */

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

/* Offer the unit masks and modifiers of an event, and list its unit masks in
 * `masks`, as far as there is room. */
static void offer_parts(const char *event, struct ppi_nearest *nearest,
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

static void offer_parts(const char *event, struct ppi_nearest *nearest,
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

/* ---- refusals of a string that cannot be resolved ---- */

static portprof_status refuse(const struct perf_request *request,
                              struct ppi_diag *why, portprof_status status,
                              size_t column, const char *words)
{
	return ppi_fail(why, status, 0, "resolve event",
	                "event '%s', column %zu: %s", request->core.text, column,
	                words);
}

/* Where the event's own name begins in request->core.name. */
static const char *event_of(const char *name)
{
	const char *colons = strstr(name, "::");

	return colons ? colons + 2 : name;
}

/* ---- ... with an unknown name ---- */

static bool is_pmu_of(const struct perf_request *request,
                      const struct ppi_table_pmu *pmu)
{
	size_t length = strlen(pmu->name);

	return strncasecmp(request->core.name, pmu->name, length) == 0 &&
	       strncmp(request->core.name + length, "::", 2) == 0;
}

/* A PMU that is not here, or that nobody knows. */
static portprof_status refuse_pmu(const struct perf_request *request,
                                  bool is_known, struct ppi_diag *why)
{
	char name[64], here[256] = "", hint[320] = "", words[720];
	struct ppi_nearest nearest;
	struct ppi_table_pmu pmu;
	int id = 0;

	snprintf(name, sizeof(name), "%.*s",
	         (int)strcspn(request->core.name, ":"), request->core.name);
	ppi_nearest_begin(&nearest, name);
	while (ppi_table_next_pmu(&id, &pmu)) {
		size_t used = strlen(here);

		ppi_nearest_offer(&nearest, pmu.name);
		if (pmu.is_present)
			snprintf(here + used, sizeof(here) - used, "%s%s",
			         used ? ", " : "", pmu.name);
	}
	if (!is_known)
		ppi_nearest_say(&nearest, hint, sizeof(hint));
	snprintf(words, sizeof(words), "%s '%s'%s (this one has: %s)",
	         is_known ? "this machine has no PMU" : "there is no PMU",
	         name, hint, here[0] ? here : "none that libpfm4 knows");
	if (is_known)
		return ppi_because(why, PORTPROF_REASON_NOT_ON_CPU,
		                   refuse(request, why, PORTPROF_E_UNSUPPORTED,
		                          1, words));
	return ppi_suggest(why, &nearest,
	                   refuse(request, why, PORTPROF_E_NOTFOUND, 1, words));
}

/* Why more names may be missing than the user thinks. */
static const char *missing_tables(bool has_core_table)
{
	if (!ppi_table_is_there())
		return " (without libpfm4 only the kernel's generic events "
		       "and raw codes rHEX are known)";
	if (!has_core_table)
		return " (this libpfm4 has no table of this CPU: only generic "
		       "events and raw codes rHEX are known)";
	return "";
}

/* Letters that perf takes behind an event, in one part: perf-list(1), event
 * modifiers. False: these are none. */
static bool say_letters(const char *part, char *words, size_t bytes)
{
	size_t length = strlen(part);

	if (strspn(part, "ukhUKH") == length)
		snprintf(words, bytes, "'%s' is not a modifier; write levels "
		         "apart, as in :u:k", part);
	else if (strspn(part, "pP") == length && length <= 3)
		snprintf(words, bytes, "'%s' is not a modifier; write "
		         "precise=%zu", part, length);
	else
		return false;
	return true;
}

/* A generic event that libpfm4 does not know, with a part that only libpfm4
 * could know. */
static portprof_status refuse_generic(const struct perf_request *request,
                                      struct ppi_diag *why)
{
	const char *part = strchr(event_of(request->core.name), ':') + 1;
	char name[192], words[320];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(part, ":"), part);
	if (!say_letters(name, words, sizeof(words)))
		snprintf(words, sizeof(words), "'%.90s' is neither a unit "
		         "mask nor a modifier of this event", name);
	return refuse(request, why, PORTPROF_E_NOTFOUND,
	              ppi_perf_column_of(&request->core, name), words);
}

static bool is_generic_with_parts(const char *name)
{
	const char *part = strchr(event_of(name), ':');
	struct ppi_perf_name generic;
	char alone[192];

	snprintf(alone, sizeof(alone), "%.*s",
	         part ? (int)(part - name) : 0, name);
	return ppi_perf_name_find(alone, &generic);
}

static portprof_status refuse_event(const struct perf_request *request,
                                    struct ppi_diag *why)
{
	const char *event = event_of(request->core.name);
	bool has_pmu = event != request->core.name, is_known = false;
	bool has_core = false;
	bool is_generic = strncasecmp(request->core.name, "perf::", 6) == 0;
	char name[96], hint[320], words[720];
	struct ppi_nearest nearest;
	struct ppi_table_pmu pmu;
	int id = 0;

	if (is_generic_with_parts(request->core.name))
		return refuse_generic(request, why);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(event, ":"), event);
	ppi_nearest_begin(&nearest, name);
	if (!has_pmu || is_generic)
		ppi_perf_names_offer(&nearest);
	while (ppi_table_next_pmu(&id, &pmu)) {
		bool is_named = has_pmu && is_pmu_of(request, &pmu);

		if (is_named && !pmu.is_present)
			return refuse_pmu(request, true, why);
		is_known |= is_named;
		has_core |= pmu.is_present && pmu.is_core;
		if (is_named || (!has_pmu && pmu.is_present))
			ppi_table_offer_events(&pmu, &nearest);
	}
	/* generic events need no table */
	if (has_pmu && !is_known && !is_generic && ppi_table_is_there())
		return refuse_pmu(request, false, why);
	ppi_nearest_say(&nearest, hint, sizeof(hint));
	/* a near name is likelier meant than one of tables that are missing */
	snprintf(words, sizeof(words), "there is no event '%s'%s%s", name,
	         hint[0] ? hint : "; portprof-events(7) describes the known "
	         "ones",
	         hint[0] ? "" : missing_tables(has_core || is_known));
	return ppi_suggest(why, &nearest,
	                   refuse(request, why, PORTPROF_E_NOTFOUND,
	                          request->core.name_column, words));
}

/* ---- ... with a wrong part ---- */

/* Well-formed, be it for a PMU that this kernel does not offer. */
static bool encodes(const char *string)
{
	struct ppi_table_answer answer;
	enum ppi_table_verdict verdict = ppi_table_encode(string, &answer);

	return verdict == PPI_TABLE_OK || verdict == PPI_TABLE_NOT_HERE;
}

/* The part of a name without which it would be right, or the only one. */
static bool find_culprit(const char *name, char *culprit, size_t bytes)
{
	const char *part = strchr(event_of(name), ':');
	bool is_only = part && !strchr(part + 1, ':');
	char without[256];

	for (; part; part = strchr(part + 1, ':')) {
		size_t length = strcspn(part + 1, ":");

		snprintf(without, sizeof(without), "%.*s%s",
		         (int)(part - name), name, part + 1 + length);
		snprintf(culprit, bytes, "%.*s", (int)length, part + 1);
		if (encodes(without))
			return true;
	}
	return is_only;
}

/* Of x86: edges are counted of a threshold being passed. */
static bool lacks_threshold(const char *name, const char *part)
{
	char with[256];

	snprintf(with, sizeof(with), "%s:c=1", name);
	return (part[0] == 'e' || part[0] == 'E') &&
	       (part[1] == '\0' || part[1] == '=') && encodes(with);
}

/* A part that no event has, or a value that this one does not take. */
static portprof_status refuse_part(const struct perf_request *request,
                                   enum ppi_table_verdict verdict,
                                   const char *part, const char *hint,
                                   struct ppi_diag *why)
{
	bool is_unknown = verdict == PPI_TABLE_NO_PART;
	char words[720];

	if (is_unknown && say_letters(part, words, sizeof(words)))
		return refuse(request, why, PORTPROF_E_NOTFOUND,
		              ppi_perf_column_of(&request->core, part), words);
	if (is_unknown)
		snprintf(words, sizeof(words), "'%.90s' is neither a unit "
		         "mask nor a modifier of this event%s", part, hint);
	else if (verdict == PPI_TABLE_BAD_VALUE)
		snprintf(words, sizeof(words), "this event does not accept the "
		         "value in '%.90s'", part);
	else if (verdict == PPI_TABLE_TWICE)
		snprintf(words, sizeof(words), "'%.90s' has another value "
		         "before; keep one of the two", part);
	else
		snprintf(words, sizeof(words), "'%.90s' cannot be combined "
		         "with the other unit masks and modifiers", part);
	return refuse(request, why,
	              is_unknown ? PORTPROF_E_NOTFOUND : PORTPROF_E_INVALID,
	              ppi_perf_column_of(&request->core, part), words);
}

/* The name alone is right: one of our own modifiers is too much for it. */
static portprof_status refuse_modifier(const struct perf_request *request,
                                       struct ppi_diag *why)
{
	const struct {
		bool is_given;
		const char *word, *trial, *reason;
	} ours[] = {
		{ request->core.user && request->core.has_modes, "u", ":u", "it counts "
		  "in every mode and cannot separate them" },
		{ request->core.kernel && request->core.has_modes, "k", ":k", "it "
		  "counts in every mode and cannot separate them" },
		{ request->core.hypervisor, "h", ":h", "it does not separate "
		  "the hypervisor from the rest" },
		{ request->asked.has_guest_host, "mg", ":mg", "it does not "
		  "separate guests from the host" },
		{ request->core.period > 0, "period", ":period=1000", "it can be "
		  "counted, not sampled" },
		{ request->core.rate_hz > 0, "freq", ":freq=100", "it can be "
		  "counted, not sampled" },
		{ request->asked.precise > 0, "precise", ":precise=1", "the "
		  "hardware cannot sample it precisely" },
	};
	char string[256], words[256];

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		snprintf(string, sizeof(string), "%s%s", request->core.name,
		         ours[i].trial);
		if (!ours[i].is_given || encodes(string))
			continue;
		snprintf(words, sizeof(words), "drop '%s': %s", ours[i].word,
		         ours[i].reason);
		return refuse(request, why, PORTPROF_E_UNSUPPORTED,
		              ppi_perf_column_of(&request->core, ours[i].word), words);
	}
	return refuse(request, why, PORTPROF_E_UNSUPPORTED, 1,
	              "this event does not accept these modifiers together");
}

static portprof_status refuse_parts(const struct perf_request *request,
                                    enum ppi_table_verdict verdict,
                                    struct ppi_diag *why)
{
	char part[192], alone[192], masks[400], hint[480];
	const char *name = request->core.name;
	size_t prefix = (size_t)(event_of(name) - name);
	struct ppi_nearest nearest;
	bool is_one;

	if (encodes(name))
		return refuse_modifier(request, why);
	is_one = find_culprit(name, part, sizeof(part));
	snprintf(alone, sizeof(alone), "%.*s",
	         (int)(prefix + strcspn(name + prefix, ":")), name);
	ppi_nearest_begin(&nearest, is_one ? part : "");
	offer_parts(alone, &nearest, masks, sizeof(masks));
	ppi_nearest_say(&nearest, hint, sizeof(hint));
	if (is_one && !hint[0] && masks[0])
		snprintf(hint, sizeof(hint), "; there are: %s", masks);
	if (is_one && lacks_threshold(name, part))
		return refuse(request, why, PORTPROF_E_INVALID,
		              ppi_perf_column_of(&request->core, part),
		              "'e' counts how often a threshold is passed: "
		              "say which, as in e:c=1");
	if (is_one && strcasecmp(part, "hw_smpl") == 0)
		return refuse(request, why, PORTPROF_E_UNSUPPORTED,
		              ppi_perf_column_of(&request->core, part),
		              "drop 'hw_smpl': the hardware has no buffer for "
		              "this event");
	if (is_one)
		return ppi_suggest(why, &nearest,
		                   refuse_part(request, verdict, part, hint,
		                               why));
	if (verdict == PPI_TABLE_BAD_MASK)
		snprintf(hint, sizeof(hint), "it needs one or more unit masks "
		         "that can be combined; there are: %s", masks);
	else
		snprintf(hint, sizeof(hint), "its unit masks and modifiers "
		         "cannot be combined");
	return refuse(request, why, PORTPROF_E_INVALID, request->core.name_column,
	              hint);
}

portprof_status ppi_table_refuse(const struct perf_request *request,
                                 enum ppi_table_verdict verdict,
                                 struct ppi_diag *why)
{
	switch (verdict) {
	case PPI_TABLE_NO_EVENT:
		return refuse_event(request, why);
	case PPI_TABLE_NOT_HERE:
		return ppi_because(
			why, PORTPROF_REASON_NOT_ON_CPU,
			refuse(request, why, PORTPROF_E_UNSUPPORTED, 1,
		               "this kernel does not offer the PMU of this "
		               "event; portprof list shows what it offers"));
	case PPI_TABLE_NO_MEMORY:
		return refuse(request, why, PORTPROF_E_NOMEM, 1,
		              "out of memory");
	default:
		return refuse_parts(request, verdict, why);
	}
}
