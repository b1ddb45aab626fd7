/* SPDX-License-Identifier: MIT */
/* What the files of libportprof-papi share. */
#ifndef PPI_PAPI_OWN_H
#define PPI_PAPI_OWN_H

#include "compat/papi/papi.h"

#include <portprof.h>

#include <stdbool.h>
#include <stdint.h>

/* ---- library.c ---- */

/* As if the library had never been started. */
void ppi_papi_end(void);
/* Returns the code, which PAPI_perror remembers. */
int ppi_papi_fail(int code);
/* "portprof: WHAT: WHY" on standard error. */
void ppi_papi_say(const char *what, const char *why);
/* PAPI's code for a status, of a failure that is not one event's. */
int ppi_papi_code_of(portprof_status status);
/* Whether the program's structures are those of papi.h here. */
bool ppi_papi_has_structures(void);

/* ---- events.c ---- */

enum { PPI_PAPI_TEXT = 512 };

/* The event string of a code; false: it has none, this thread's last failure says
 * why. */
bool ppi_papi_event_of(int code, char event[PPI_PAPI_TEXT]);
/* The name of a code; NULL: none has it. `room` is for those of presets. */
const char *ppi_papi_name_of(int code, char room[PAPI_MIN_STR_LEN]);
/* The code of a name, known or not; or PAPI_ENOMEM. */
int ppi_papi_intern(const char *name);
/* Say, once for each event, why this thread's last call could not count it. */
void ppi_papi_refuse(int code);

/* ---- sets.c ---- */

enum { PPI_PAPI_EVENTS = 32 }; /* of one set */

struct ppi_papi_set {
	int id, count, domain;
	bool inherits, is_multiplexed, is_running;
	int64_t attached;        /* the thread that it was told to count, or 0 */
	int64_t tid;             /* that added the events */
	portprof_group *group;   /* NULL: no events */
	struct {
		int code;
		struct ppi_papi_sampling *sampling; /* NULL: none */
	} events[PPI_PAPI_EVENTS];
	long long values[PPI_PAPI_EVENTS]; /* of a stopped set */
	portprof_session *session; /* of the events that are sampled: */
	unsigned char sampled[PPI_PAPI_EVENTS]; /* these */
};

struct ppi_papi_set *ppi_papi_set(int id);
/* No set has that id any more, running or not. */
void ppi_papi_drop(int id);
/* In a function that returns a code: the set of an id. */
#define FIND_SET(set, id)                                                      \
	struct ppi_papi_set *set = ppi_papi_set(id);                           \
	if (!set)                                                              \
		return ppi_papi_fail(PAPI_ENOEVST)
/* The index of an event, or -1. */
int ppi_papi_index(const struct ppi_papi_set *set, int code);
/* A config with the set's target; to be freed, also after a failure. */
portprof_status ppi_papi_config(const struct ppi_papi_set *set,
                                portprof_config **config);
/* Its event of that index goes into one, with what `more` adds. */
portprof_status ppi_papi_add(const struct ppi_papi_set *set,
                             portprof_config *config, int index,
                             const char *more);

/* ---- samples.c ---- */

portprof_status ppi_papi_samples_start(struct ppi_papi_set *set);
int ppi_papi_samples_state(const struct ppi_papi_set *set);
/* Sample an event no longer. */
void ppi_papi_samples_forget(struct ppi_papi_set *set, int index);

#endif
