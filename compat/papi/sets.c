/* SPDX-License-Identifier: MIT */
/* Sets of events: each is a group of counters of the thread that adds its events. */
#include "config.h"

#include "compat/papi/own.h"

#include "base/clock_ns.h"
#include "base/thread.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 4096 };

/* Threads may be busy with sets of their own at any time: none waits for another. */
static struct ppi_papi_set *_Atomic sets[SETS];
static atomic_int default_domain = PAPI_DOM_USER;

struct ppi_papi_set *ppi_papi_set(int id)
{
	return id >= 0 && id < SETS ? sets[id] : NULL;
}

int ppi_papi_index(const struct ppi_papi_set *set, int code)
{
	int index = set->count - 1;

	while (index >= 0 && set->events[index].code != code)
		index--;
	return index;
}

/* ---- the group ---- */

/* Whether the event says itself in which modes it counts. */
static bool names_modes(const char *event)
{
	while ((event = strchr(event, ':')))
		if (*++event && strchr("ukhUKH", *event) &&
		    (!event[1] || strchr(":=@", event[1])))
			return true;
	return false;
}

/* CPU time is counted in all modes, whatever is asked of Linux (task_clock_event_read
 * in kernel/events/core.c); other systems have no part of it. A hypervisor has no part
 * in what the kernel itself counts. */
portprof_status ppi_papi_add(const struct ppi_papi_set *set,
                             portprof_config *config, int index,
                             const char *more)
{
	portprof_event_info info = { .size = sizeof(info) };
	char event[PPI_PAPI_TEXT], text[PPI_PAPI_TEXT + 64];
	int domain = set->domain;

	if (!ppi_papi_event_of(set->events[index].code, event))
		return PORTPROF_E_NOTFOUND;
	if (names_modes(event) ||
	    (!portprof_event_look_up(event, "auto", &info) &&
	     info.unit == PORTPROF_UNIT_NANOSECONDS))
		domain = 0;
	snprintf(text, sizeof(text), "%s:h", event);
	if (portprof_event_look_up(text, "auto", &info))
		domain &= ~PAPI_DOM_SUPERVISOR;
	snprintf(text, sizeof(text), "%s%s%s%s%s%s%s",
	         set->is_multiplexed ? "{" : "", event,
	         domain & PAPI_DOM_USER ? ":u" : "",
	         domain & PAPI_DOM_KERNEL ? ":k" : "",
	         domain & PAPI_DOM_SUPERVISOR ? ":h" : "", more,
	         set->is_multiplexed ? "}" : "");
	return portprof_config_add_event(config, text);
}

portprof_status ppi_papi_config(const struct ppi_papi_set *set,
                                portprof_config **config)
{
	int64_t tid = set->attached ? set->attached : set->tid;
	bool is_own = !set->attached && (set->inherits || tid == ppi_thread_id());

	*config = portprof_config_new();
	return !*config ? PORTPROF_E_NOMEM : portprof_config_set_target(
		*config, is_own ? set->inherits ? PORTPROF_TARGET_PROCESS :
		                                 PORTPROF_TARGET_THREAD :
		                 set->inherits ? PORTPROF_TARGET_PID :
		                                 PORTPROF_TARGET_TID,
		is_own ? 0 : tid);
}

/* The events from the `first` on, stopped. */
static portprof_status open_group(const struct ppi_papi_set *set, int first,
                                  portprof_group **group)
{
	portprof_config *config;
	portprof_status status = ppi_papi_config(set, &config);

	for (int i = first; !status && i < set->count; i++)
		status = ppi_papi_add(set, config, i, "");
	if (!status)
		status = portprof_group_open_config(config, group);
	portprof_config_free(config);
	return status ? status : portprof_group_stop(*group);
}

/* A set becomes `next`, if that can be counted. If not, it is the fault of the last
 * event where that cannot be counted alone, otherwise of the combination. */
static int change(struct ppi_papi_set *set, struct ppi_papi_set *next)
{
	portprof_group *group = NULL, *alone;
	portprof_status status = PORTPROF_OK;

	if (set->is_running)
		return ppi_papi_fail(PAPI_EISRUN);
	next->tid = ppi_thread_id();
	if (next->count)
		status = open_group(next, 0, &group);
	if (status && next->count > 1 &&
	    !open_group(next, next->count - 1, &alone)) {
		portprof_group_close(alone);
		return ppi_papi_fail(PAPI_ECNFLCT);
	}
	if (status) {
		ppi_papi_refuse(next->events[next->count - 1].code);
		return ppi_papi_fail(status == PORTPROF_E_UNSUPPORTED ||
		                     status == PORTPROF_E_INVALID ?
		                     PAPI_ENOEVNT : ppi_papi_code_of(status));
	}
	portprof_session_close(set->session);
	portprof_group_close(set->group);
	*set = *next;
	set->group = group;
	set->session = NULL;
	memset(set->values, 0, sizeof(set->values));
	return PAPI_OK;
}

/* ---- sets and their events ---- */

int PAPI_create_eventset(int *id)
{
	struct ppi_papi_set *set, *none = NULL;

	if (!PAPI_is_initialized() || !id || *id != PAPI_NULL)
		return ppi_papi_fail(PAPI_is_initialized() ? PAPI_EINVAL :
		                                             PAPI_ENOINIT);
	set = calloc(1, sizeof(*set));
	for (int i = 0; set && i < SETS; i++, none = NULL) {
		set->id = i;
		set->domain = default_domain;
		if (atomic_compare_exchange_strong(&sets[i], &none, set)) {
			*id = i;
			return PAPI_OK;
		}
	}
	free(set);
	return ppi_papi_fail(PAPI_ENOMEM);
}

int PAPI_destroy_eventset(int *id)
{
	FIND_SET(set, id ? *id : PAPI_NULL);
	if (set->is_running || set->count)
		return ppi_papi_fail(set->is_running ? PAPI_EISRUN : PAPI_EINVAL);
	sets[*id] = NULL;
	free(set);
	*id = PAPI_NULL;
	return PAPI_OK;
}

int PAPI_add_event(int id, int code)
{
	struct ppi_papi_set next;
	char room[PAPI_MIN_STR_LEN];

	FIND_SET(set, id);
	if (!ppi_papi_name_of(code, room))
		return ppi_papi_fail(code & (PAPI_PRESET_MASK | PAPI_NATIVE_MASK) ?
		                     PAPI_ENOEVNT : PAPI_EINVAL);
	if (ppi_papi_index(set, code) >= 0)
		return ppi_papi_fail(PAPI_ECNFLCT);
	if (set->count == PPI_PAPI_EVENTS)
		return ppi_papi_fail(PAPI_ECOUNT);
	next = *set;
	next.events[next.count++].code = code;
	return change(set, &next);
}

int PAPI_add_named_event(int id, const char *name)
{
	int code = name ? ppi_papi_intern(name) : PAPI_EINVAL;

	return code == PAPI_EINVAL || code == PAPI_ENOMEM ?
	       ppi_papi_fail(code) : PAPI_add_event(id, code);
}

int PAPI_remove_event(int id, int code)
{
	struct ppi_papi_set next;
	int at;

	FIND_SET(set, id);
	at = ppi_papi_index(set, code);
	if (at < 0 || set->is_running)
		return ppi_papi_fail(at < 0 ? PAPI_EINVAL : PAPI_EISRUN);
	ppi_papi_samples_forget(set, at);
	next = *set;
	next.count--;
	memmove(&next.events[at], &next.events[at + 1],
	        (size_t)(next.count - at) * sizeof(next.events[0]));
	next.events[next.count].sampling = NULL;
	return change(set, &next);
}

/* As PAPI: how many were added or removed before one failed. */
static int each(int act(int id, int code), int id, const int *codes, int number)
{
	int result = codes && number > 0 ? PAPI_OK : ppi_papi_fail(PAPI_EINVAL);
	int i = 0;

	while (i < number && result == PAPI_OK)
		result = act(id, codes[i++]);
	return result != PAPI_OK && i > 1 ? i - 1 : result;
}

int PAPI_add_events(int id, int *codes, int number)
{
	return each(PAPI_add_event, id, codes, number);
}

int PAPI_remove_events(int id, int *codes, int number)
{
	return each(PAPI_remove_event, id, codes, number);
}

int PAPI_remove_named_event(int id, const char *name)
{
	return PAPI_remove_event(id, name ? ppi_papi_intern(name) : PAPI_EINVAL);
}

int PAPI_cleanup_eventset(int id)
{
	struct ppi_papi_set next;

	FIND_SET(set, id);
	for (int i = 0; i < set->count && !set->is_running; i++)
		ppi_papi_samples_forget(set, i);
	next = *set;
	next.count = 0;
	return change(set, &next);
}

int PAPI_num_events(int id)
{
	FIND_SET(set, id);
	return set->count;
}

int PAPI_list_events(int id, int *codes, int *number)
{
	FIND_SET(set, id);
	if (!number || *number < 0 || (*number > 0 && !codes))
		return ppi_papi_fail(PAPI_EINVAL);
	for (int i = 0; i < *number && i < set->count; i++)
		codes[i] = set->events[i].code;
	*number = set->count;
	return PAPI_OK;
}

int PAPI_state(int id, int *state)
{
	FIND_SET(set, id);
	if (!state)
		return ppi_papi_fail(PAPI_EINVAL);
	*state = ppi_papi_samples_state(set) |
	         (set->is_running ? PAPI_RUNNING : PAPI_STOPPED) |
	         (set->is_multiplexed ? PAPI_MULTIPLEXING : 0);
	return PAPI_OK;
}

/* ---- counting ---- */

static int read_counts(struct ppi_papi_set *set, long long *values)
{
	portprof_count counts[PPI_PAPI_EVENTS];
	portprof_status status;

	status = portprof_group_read(set->group, counts, (size_t)set->count);
	for (int i = 0; !status && i < set->count; i++)
		values[i] = (long long)counts[i].scaled;
	return status ? ppi_papi_fail(ppi_papi_code_of(status)) : PAPI_OK;
}

int PAPI_start(int id)
{
	portprof_status status;

	FIND_SET(set, id);
	if (set->is_running || !set->count)
		return ppi_papi_fail(set->count ? PAPI_EISRUN : PAPI_ENOCMP);
	status = ppi_papi_samples_start(set);
	if (!status)
		status = portprof_group_reset(set->group);
	if (!status)
		status = portprof_group_start(set->group);
	set->is_running = !status;
	if (!status)
		return PAPI_OK;
	ppi_papi_say("PAPI_start", portprof_last_diag()->words);
	if (set->session)
		portprof_session_stop(set->session);
	return ppi_papi_fail(ppi_papi_code_of(status));
}

int PAPI_stop(int id, long long *values)
{
	int result;

	FIND_SET(set, id);
	if (!set->is_running)
		return ppi_papi_fail(set->count ? PAPI_ENOTRUN : PAPI_ENOCMP);
	portprof_group_stop(set->group);
	set->is_running = false;
	if (set->session)
		portprof_session_stop(set->session);
	result = read_counts(set, set->values);
	return result == PAPI_OK && values ? PAPI_read(id, values) : result;
}

int PAPI_read(int id, long long *values)
{
	FIND_SET(set, id);
	if (!values)
		return ppi_papi_fail(PAPI_EINVAL);
	if (set->is_running)
		return read_counts(set, values);
	memcpy(values, set->values, (size_t)set->count * sizeof(*values));
	return PAPI_OK;
}

int PAPI_read_ts(int id, long long *values, long long *cycles)
{
	int result = PAPI_read(id, values);

	if (result == PAPI_OK && cycles)
		*cycles = PAPI_get_real_cyc();
	return result;
}

int PAPI_reset(int id)
{
	FIND_SET(set, id);
	memset(set->values, 0, sizeof(set->values));
	return set->is_running && portprof_group_reset(set->group) ?
	       ppi_papi_fail(PAPI_ESYS) : PAPI_OK;
}

int PAPI_accum(int id, long long *values)
{
	long long now[PPI_PAPI_EVENTS];
	int result = PAPI_read(id, values ? now : NULL);

	for (int i = 0; result == PAPI_OK && i < ppi_papi_set(id)->count; i++)
		values[i] += now[i];
	return result == PAPI_OK ? PAPI_reset(id) : result;
}

/* Asks first: what fails may end the program (PAPI_VERB_ESTOP). */
void ppi_papi_drop(int id)
{
	struct ppi_papi_set *set = ppi_papi_set(id);

	if (set && set->is_running)
		PAPI_stop(id, NULL);
	if (set && PAPI_cleanup_eventset(id) == PAPI_OK)
		PAPI_destroy_eventset(&id);
}

void PAPI_shutdown(void)
{
	for (int id = 0; id < SETS; id++)
		ppi_papi_drop(id);
	ppi_papi_end();
}

/* ---- what and how a set counts ---- */

int PAPI_set_domain(int domain)
{
	if (!(domain & ~PAPI_DOM_OTHER) || domain & ~PAPI_DOM_ALL)
		return ppi_papi_fail(PAPI_EINVAL);
	default_domain = domain;
	return PAPI_OK;
}

int PAPI_get_multiplex(int id)
{
	FIND_SET(set, id);
	return set->is_multiplexed;
}

/* The members of PAPI_option_t for these begin with the set, or a component. */
int PAPI_set_opt(int option, PAPI_option_t *value)
{
	struct ppi_papi_set next;

	if (value && option == PAPI_DEFDOM)
		return PAPI_set_domain(value->defdomain.domain);
	if (!value || (option != PAPI_DOMAIN && option != PAPI_INHERIT &&
	               option != PAPI_MULTIPLEX)) {
		ppi_papi_say("PAPI_set_opt", "of its options only DEFDOM, DOMAIN, "
		             "INHERIT and MULTIPLEX are supported");
		return ppi_papi_fail(PAPI_ENOSUPP);
	}
	FIND_SET(set, option == PAPI_DOMAIN ? value->domain.eventset :
	              value->inherit.eventset);
	next = *set;
	if (option == PAPI_DOMAIN)
		next.domain = value->domain.domain;
	else if (option == PAPI_INHERIT)
		next.inherits = value->inherit.inherit != 0;
	else
		next.is_multiplexed = true;
	if (!(next.domain & ~PAPI_DOM_OTHER) || next.domain & ~PAPI_DOM_ALL)
		return ppi_papi_fail(PAPI_EINVAL_DOM);
	return change(set, &next);
}

int PAPI_set_multiplex(int id)
{
	PAPI_option_t value = { .multiplex = { .eventset = id } };

	return PAPI_set_opt(PAPI_MULTIPLEX, &value);
}

int PAPI_get_opt(int option, PAPI_option_t *value)
{
	if (option == PAPI_CLOCKRATE && PAPI_get_hardware_info())
		return PAPI_get_hardware_info()->clock_mhz;
	if (option == PAPI_MAX_HWCTRS)
		return PAPI_num_hwctrs();
	if (option == PAPI_MAX_CPUS)
		return (int)ppi_cpu_count();
	if (option == PAPI_LIB_VERSION)
		return PAPI_VERSION;
	(void)value; /* of others */
	ppi_papi_say("PAPI_get_opt", "of its options only CLOCKRATE, LIB_VERSION, "
	             "MAX_CPUS and MAX_HWCTRS are supported");
	return ppi_papi_fail(PAPI_ENOSUPP);
}

int PAPI_attach(int id, unsigned long tid)
{
	struct ppi_papi_set next;

	FIND_SET(set, id);
	next = *set;
	next.attached = (int64_t)tid;
	return change(set, &next);
}

int PAPI_detach(int id)
{
	return PAPI_attach(id, 0);
}

/* There is one component, 0. */
int PAPI_get_component_index(const char *name)
{
	return name && strcmp(name, "perf_event") == 0 ?
	       0 : ppi_papi_fail(PAPI_ENOCMP);
}

int PAPI_assign_eventset_component(int id, int component)
{
	FIND_SET(set, id);
	return component ? ppi_papi_fail(PAPI_ENOCMP) : PAPI_OK;
}

int PAPI_get_eventset_component(int id)
{
	return PAPI_assign_eventset_component(id, 0);
}
