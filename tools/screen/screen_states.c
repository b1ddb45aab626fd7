/* SPDX-License-Identifier: MIT */
/* What threads did, on the screen: all states as one event, each state as a column,
 * and waits of one kind alone. */
#include "config.h"

#include "tools/screen/screen_state.h"

#include <stdio.h>
#include <string.h>

bool ppi_screen_subject(const portprof_profile *profile,
                        const struct ppi_screen_wish *wish,
                        struct ppi_subject *subject)
{
	unsigned states = wish->is_wall ? ppi_wall_states(profile) : 0;

	if (!states)
		ppi_subject_of_event(profile, wish->event, subject);
	else if (!ppi_subject_of_states(profile, states, subject))
		return false;
	return wish->shows_idle || ppi_subject_hide_idle(profile, subject);
}

uint64_t ppi_screen_subject_total(const portprof_profile *profile,
                                  const struct ppi_subject *subject,
                                  const uint64_t *totals)
{
	size_t events[PPI_STATES];
	uint64_t sum = 0;

	if (!subject->is_joined)
		return totals[subject->event];
	ppi_wall_find(profile, events);
	for (int i = 0; i < PPI_STATES; i++)
		if (subject->states & 1u << i)
			sum += totals[events[i]];
	return sum;
}

static bool is_tagged(struct ppi_labels *labels,
                      const portprof_profile_sample *sample, const char *text,
                      bool *is_it)
{
	const struct ppi_label_value *value = ppi_labels_find(labels, sample);

	*is_it = value && strcmp(value->text, text) == 0;
	return value != NULL;
}

bool ppi_screen_keep_wait(const portprof_profile *profile,
                          const struct ppi_screen_wish *wish,
                          bool *is_left_out)
{
	const portprof_profile_sample *sample;
	struct ppi_labels waits, places;
	bool is_good = true;

	ppi_tag_open(&waits, profile, PPI_TAG_WAIT);
	ppi_tag_open(&places, profile, PPI_TAG_ON);
	for (size_t i = 0;
	     is_good &&
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++) {
		bool is_wait, is_there = true;

		is_good = is_tagged(&waits, sample, wish->wait, &is_wait);
		if (is_good && is_wait)
			is_good = is_tagged(&places, sample, wish->on,
			                    &is_there);
		is_left_out[i] |= !is_wait || !is_there;
	}
	ppi_labels_close(&waits);
	ppi_labels_close(&places);
	return is_good;
}

/* ---- who held it, and who ended it ---- */

enum ppi_who ppi_screen_who(enum ppi_screen_table table)
{
	return table == PPI_SCREEN_HOLDERS  ? PPI_HOLDERS
	       : table == PPI_SCREEN_WAKERS ? PPI_WAKERS
	                                    : PPI_NOBODY;
}

void ppi_screen_keep_who(const portprof_profile *profile, enum ppi_who who,
                         bool *is_left_out)
{
	const portprof_profile_sample *sample;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++)
		is_left_out[i] |= !ppi_who_matters(who, profile, sample);
}

bool ppi_screen_name_who(struct ppi_holders *holders,
                         struct ppi_screen_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		rows->rows[i].on = ppi_holders_words_of(holders,
		                                        rows->rows[i].label);
		if (!rows->rows[i].on)
			return false;
	}
	return true;
}

/* ---- columns ---- */

/* Of a row that is of one state. */
void ppi_screen_states_add(uint64_t states[PPI_STATES],
                           const struct ppi_row *row)
{
	const char *of = row->tags[PPI_TAG_STATE];

	for (int i = 0; of && i < PPI_STATES; i++)
		if (strcmp(of, ppi_state_name((enum ppi_state)i)) == 0)
			states[i] += row->self_weight;
}

/* ---- the head ---- */

void ppi_screen_states_sum(const portprof_profile *profile,
                           const struct ppi_subject *subject,
                           struct ppi_screen_head *head)
{
	const portprof_profile_event *event;
	size_t events[PPI_STATES];

	head->states = subject->is_joined ? subject->states : 0;
	if (!head->states)
		return;
	ppi_wall_find(profile, events);
	for (int i = 0; i < PPI_STATES; i++) {
		event = events[i] == SIZE_MAX
		                ? NULL
		                : portprof_profile_event_get(profile,
		                                             events[i]);
		head->state_weights[i] = event ? event->stats.total_weight : 0;
	}
}

/* "0.13 s running, 0.02 s ready, 5.95 s blocked; 4.10 s of it idle" */
void ppi_screen_states_say(const struct ppi_screen *screen, char *out,
                           size_t bytes)
{
	const struct ppi_screen_head *head = &screen->head;
	struct ppi_scale scale = ppi_scale_of(head->unit,
	                                      head->stats.total_weight);
	char weight[64];
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < PPI_STATES; i++)
		if (head->states & 1u << i)
			used += (size_t)snprintf(
				out + used, bytes - used, "%s%s %s",
				used ? ", " : "",
				ppi_say_weight(scale, head->state_weights[i],
			                       weight, sizeof(weight)),
				ppi_state_name((enum ppi_state)i));
	if (screen->rows.idle_weight)
		snprintf(out + used, bytes - used, "; %s of it idle",
		         ppi_say_weight(scale, screen->rows.idle_weight, weight,
		                        sizeof(weight)));
}
