/* SPDX-License-Identifier: MIT */
/*
 * Wall time: what threads did with the time of their lives. They ran, were ready
 * and waited for a CPU, or were blocked. A profile has an event for each of these
 * states, all in nanoseconds, so that their sum is time that has passed; labels of
 * samples say what a thread waited for.
 */
#ifndef PPI_WALL_H
#define PPI_WALL_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/options.h"
#include "tools/view/owners.h"
#include "tools/view/view.h"

enum ppi_state { PPI_RUNNING, PPI_READY, PPI_BLOCKED, PPI_STATES };

/* "running", "ready", "blocked". */
const char *ppi_state_name(enum ppi_state state);

/* Which events of a profile are which states; SIZE_MAX none. False: neither
 * ready nor blocked time is in it. */
bool ppi_wall_find(const portprof_profile *profile, size_t events[PPI_STATES]);

/* The states of which it has events, 1 << enum ppi_state; 0 where ppi_wall_find
 * finds none. */
unsigned ppi_wall_states(const portprof_profile *profile);

/* ---- what is said of a wait, in labels ---- */

/* In the order of PPI_BY_STATE and those behind it. */
enum ppi_tag { PPI_TAG_STATE, PPI_TAG_WAIT, PPI_TAG_ON, PPI_TAG_HOLDER, PPI_TAGS };

/* "state", "wait", "on", "holder". */
const char *ppi_tag_name(enum ppi_tag tag);

/*
 * The values of one: the state is "running" without a label; the wait is the
 * state where there is none; the others are "". ppi_labels_close is due.
 */
void ppi_tag_open(struct ppi_labels *labels, const portprof_profile *profile,
                  enum ppi_tag tag);

/* Of a sample without weight: where a thread was when another one waited for what
 * it held, which this label names as `on` of the wait does. */
#define PPI_LABEL_HOLDS "holds"

/* Of a wait: who ended it, "thread NAME (TID)" or "(interrupt)". */
#define PPI_LABEL_WAKER "waker"

/* The kind of a wait that nothing of the program waits for. */
#define PPI_WAIT_IDLE "idle"

/* ---- one thing to look at: an event, or several in one unit ---- */

struct ppi_subject {
	size_t event;    /* or the first of several */
	unsigned states; /* 1 << enum ppi_state; 0: an event of another kind */
	bool is_joined, is_latency;
	size_t runs; /* of which it is the mean; 0: it is no mean */
	portprof_profile_event joined; /* then: in place of the event */
	char name[128];
	uint64_t *weights, *samples;
	bool *is_idle;
	bool has_servers; /* some that are idle have connections to servers */
};

/* An event alone, whatever it counts. */
void ppi_subject_of_event(const portprof_profile *profile, size_t event,
                          struct ppi_subject *subject);

/* The sum of states, which the profile has. False when out of memory;
 * ppi_subject_free is due all the same. */
bool ppi_subject_of_states(const portprof_profile *profile, unsigned states,
                           struct ppi_subject *subject);

/* Leave idle waits out of rows. False when out of memory. */
bool ppi_subject_hide_idle(const portprof_profile *profile,
                           struct ppi_subject *subject);

/*
 * Divide the weight of each sample by the CPUs that the target used at that
 * moment: the thread's own and, of each other thread, the part of the slice of
 * time that it ran. The profile has times. False when out of memory.
 */
bool ppi_subject_to_latency(const portprof_profile *profile,
                            struct ppi_subject *subject);

/* Divide all weights by the number of runs that were merged into the profile: what
 * one of them has on the average. False when out of memory. */
bool ppi_subject_to_mean(const portprof_profile *profile, size_t runs,
                         struct ppi_subject *subject);

/* What a sample's thread waited for, as a frame that it is in: "(lock)",
 * "(ready)". False: it ran, or nothing is known. */
bool ppi_subject_frame(const portprof_profile *profile,
                       const portprof_profile_sample *sample, char *out,
                       size_t bytes);

/* Let a view look at it. */
void ppi_subject_show(const struct ppi_subject *subject, struct ppi_view *view);

void ppi_subject_free(struct ppi_subject *subject);

/* ---- what a user asks for ---- */

struct ppi_wall_wish {
	unsigned states;   /* 0: not asked for */
	const char *waits; /* kinds with commas between; NULL */
	bool shows_idle, is_latency;
};

/* The rows of a verb's table; `at` is where its struct ppi_wall_wish is. */
#define PPI_WALL_OPTIONS(at) \
	{ .name = "state", .value = "LIST", \
	  .help = "keep threads' time of these states: @WORDS", \
	  .take = ppi_take_states, .word = ppi_state_word, \
	  .place = (at) + offsetof(struct ppi_wall_wish, states) }, \
	{ .name = "wait", .value = "LIST", \
	  .help = "keep blocked time of these kinds, such as lock,disk", \
	  .take = ppi_take_text, \
	  .place = (at) + offsetof(struct ppi_wall_wish, waits) }, \
	{ .name = "idle", \
	  .help = "also show idle waits (left out)", \
	  .take = ppi_take_flag, \
	  .place = (at) + offsetof(struct ppi_wall_wish, shows_idle) }
int ppi_take_states(const struct ppi_given *given, void *states);
const char *ppi_state_word(size_t i);

/* Whether they go together with the event of a command line: PPI_LINE_READ, or what
 * ppi_line_wrong returned. */
int ppi_wall_check(const struct ppi_line *line, const char *event,
                   const struct ppi_wall_wish *wish);

/*
 * Find what options ask for: an event by its name (NULL: none was asked for), or
 * states. Without either it is the first event or, where `is_wall`, the sum of
 * all states that the profile has. False with words on stderr; ppi_subject_free is
 * due all the same.
 */
bool ppi_subject_choose(const portprof_profile *profile, const char *path,
                        const char *event, const struct ppi_wall_wish *wish,
                        bool is_wall, struct ppi_subject *subject);

#endif
