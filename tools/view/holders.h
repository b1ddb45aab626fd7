/* SPDX-License-Identifier: MIT */
/* Who held what others waited for, or who ended their waits, and in which function
 * that thread was then. */
#ifndef PPI_HOLDERS_H
#define PPI_HOLDERS_H

#include <portprof.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"
#include "tools/view/view.h"

enum ppi_who { PPI_NOBODY, PPI_HOLDERS, PPI_WAKERS };

/* The label of waits that says who: "holder", "waker". */
const char *ppi_who_label(enum ppi_who who);

/* What it says of a sample; "" nobody is known. */
const char *ppi_who_of(enum ppi_who who, const portprof_profile *profile,
                       const portprof_profile_sample *sample);

/* Whether it is a wait of which that is worth knowing: it is known, or nobody is for a
 * lock, or, of wakers, for a wait of any kind. */
bool ppi_who_matters(enum ppi_who who, const portprof_profile *profile,
                     const portprof_profile_sample *sample);

/* Whether wakers were recorded. */
bool ppi_has_wakings(const portprof_profile *profile);

/* The innermost function of the program in a chain, or what it begins with. */
const char *ppi_function_of(const struct ppi_view *view,
                            const portprof_profile_sample *sample);

/* Samples that say where a thread was that held something or woke another one. */
struct ppi_holders {
	const struct ppi_view *view;
	enum ppi_who who;
	struct ppi_vector held;
};

/* False when out of memory; ppi_holders_close is due all the same. */
bool ppi_holders_open(struct ppi_holders *holders, const struct ppi_view *view,
                      enum ppi_who who);

/*
 * Who it was for the i-th sample: "FUNCTION in thread NAME (TID)", without the
 * function where nobody saw it, "" where nobody is known; *held_at is the sample of
 * that moment, or NULL. NULL when out of memory. The words are the profile's, or
 * live until ppi_holders_close.
 */
const char *ppi_holders_words(struct ppi_holders *holders, size_t i,
                              const portprof_profile_sample **held_at);

/* The same of "thread NAME (TID)", whenever it was: with the function if that
 * thread was seen in no other one. */
const char *ppi_holders_words_of(struct ppi_holders *holders, const char *who);

void ppi_holders_close(struct ppi_holders *holders);

#endif
