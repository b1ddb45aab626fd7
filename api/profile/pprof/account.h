/* SPDX-License-Identifier: MIT */
/* What a file has beside samples: notes, events and their counts, losses; as a
 * message, and as text. */
#ifndef PPI_FILE_ACCOUNT_H
#define PPI_FILE_ACCOUNT_H

#include "api/profile/memory.h"
#include "api/profile/pprof/profile.pb-c.h"
#include "api/core/sink.h"
#include "base/host.h"

enum { PPI_ACCOUNT_FORMAT = 1 };

/*
 * What a session reports about itself. Parts of it lie in `arena`, others where
 * `run` has them. NULL when out of memory.
 */
Ppi__Account *ppi_account_of_run(struct ppi_arena *arena,
                                 const struct ppi_run *run,
                                 const struct ppi_host *machine);

/* An empty account, or NULL when out of memory. */
Ppi__Account *ppi_account_new(struct ppi_arena *arena, size_t passed_over,
                              size_t notes, size_t facts, size_t events);

/* One note more, once. False when out of memory. */
bool ppi_account_add_note(struct ppi_arena *arena, Ppi__Account *account,
                          const char *note);

Ppi__Stats *ppi_stats_pack(struct ppi_arena *arena,
                           const portprof_stats *stats);
void ppi_stats_unpack(const Ppi__Stats *from, portprof_stats *stats);
Ppi__Life *ppi_life_pack(struct ppi_arena *arena, const portprof_life *life);
void ppi_life_unpack(const Ppi__Life *from, portprof_life *life);

/*
 * The account for people, line by line; each is handed to `say`. Final: the
 * numbers too, which change while measuring.
 */
void ppi_account_say(const Ppi__Account *account, bool is_final,
                     void (*say)(const char *line, void *context),
                     void *context);

/* How the sample type of an event is called: "cpu", or its canonical string
 * where that is taken or it is something else. */
void ppi_type_name(const struct ppi_event *events, size_t event, char *out,
                   size_t out_bytes);

/* A copy of what came from elsewhere, in UTF-8; NULL: out of memory. */
char *ppi_account_text(struct ppi_arena *arena, const char *foreign);

#endif
