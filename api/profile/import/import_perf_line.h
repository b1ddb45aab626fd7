/* SPDX-License-Identifier: MIT */
/* Lines of perf script, cut up in place: the head of a sample, and a frame. */
#ifndef PPI_FILE_IMPORT_PERF_LINE_H
#define PPI_FILE_IMPORT_PERF_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* "COMM PID/TID [CPU] MISC TIME: PERIOD EVENT: REST", of which -F leaves out
 * any. */
struct ppi_perf_head {
	const char *comm, *event; /* "" where it is left out */
	char *rest;               /* a frame, or the fields of an event */
	uint64_t pid, tid, period;
	bool has_pid, has_time, has_period;
};

/* "ADDRESS NAME+OFFSET (FILE)". */
struct ppi_perf_frame {
	uint64_t address;
	const char *name;   /* "": unknown */
	const char *module; /* NULL: unknown */
	bool is_inlined;
	int digits; /* of the address */
};

/* What a line must have to be a head: a time; that, or a process and an event;
 * any of them, or a name alone. */
enum ppi_perf_least { PPI_PERF_TIME, PPI_PERF_SURE, PPI_PERF_ANY };

/*
 * What numbers a head has: a process, with a thread or without, and a period. A
 * number alone may be either, and a name may look like one, but all heads of a
 * file are of one form: bits of those that are possible.
 */
enum { PPI_PERF_FORMS = 6, PPI_PERF_ALL_FORMS = (1 << PPI_PERF_FORMS) - 1 };

/* False, with `text` as it was, for what is none. It ends without spaces. It is
 * read as the first form of `forms` that fits; unless NULL, *fits are all. */
bool ppi_perf_head(char *text, enum ppi_perf_least least, unsigned forms,
                   struct ppi_perf_head *head, unsigned *fits);
bool ppi_perf_frame(char *text, struct ppi_perf_frame *frame);

/* The digits of the address that a line begins with, 0 without one; *has_module:
 * it ends as a frame with a file does. */
int ppi_perf_frame_digits(const char *text, bool *has_module);

/* What follows a head where there is no call chain: the frame is behind what
 * other fields print. */
bool ppi_perf_rest(char *text, struct ppi_perf_frame *frame);

#endif
