/* SPDX-License-Identifier: MIT */
/* What the two halves of the event string parser share. */
#ifndef PPI_EVENT_PARSER_H
#define PPI_EVENT_PARSER_H

#include "api/internal/event.h"

enum ppi_modifier {
	MOD_U, MOD_K, MOD_H, MOD_MG, MOD_MH, MOD_PERIOD, MOD_FREQ, MOD_PRECISE,
	MOD_HW_SMPL, MOD_EXCL, MOD_PINNED, MOD_CPU, MOD_COUNT
};

struct ppi_event_parser {
	const char *text;
	struct ppi_event_request *request;
	uint64_t value[MOD_COUNT];
	size_t place[MOD_COUNT]; /* column it was given at; 0 = not given */
	size_t *column;          /* where to put that of a mistake, or NULL */
	struct ppi_diag *why;
};

/* A stretch of the text: one part, one value. */
struct ppi_event_part {
	size_t at, length;
};

/* E_INVALID, saying string and column before the words. */
portprof_status ppi_event_mistake(const struct ppi_event_parser *p, size_t at,
                                  const char *words, ...)
	__attribute__((format(printf, 3, 4)));

/* Which modifier a part is, by what stands before '='; MOD_COUNT if none. */
enum ppi_modifier ppi_event_modifier(const struct ppi_event_parser *p,
                                     struct ppi_event_part part);

/* What is after '='; length 0 and at = end of the part when there is none. */
struct ppi_event_part ppi_event_value(const struct ppi_event_parser *p,
                                      struct ppi_event_part part,
                                      bool *has_value);

/* One letter or digit, as libpfm4 takes them: y t 1, n f 0. */
bool ppi_event_read_flag(const struct ppi_event_parser *p,
                         struct ppi_event_part value, uint64_t *out);

/* Take part or value as modifier `m`: check it and keep it. */
portprof_status ppi_event_take_modifier(struct ppi_event_parser *p,
                                        enum ppi_modifier m,
                                        struct ppi_event_part part);
portprof_status ppi_event_take_period(struct ppi_event_parser *p,
                                      struct ppi_event_part value);

/* When all are known: do they go together? Fill the request. */
portprof_status ppi_event_settle(const struct ppi_event_parser *p);

#endif
