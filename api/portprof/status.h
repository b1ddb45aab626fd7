/* SPDX-License-Identifier: MIT */
/* Status codes, and the diagnostic that explains the last failure. */
#ifndef PORTPROF_STATUS_H
#define PORTPROF_STATUS_H

#include <stddef.h>

#include <portprof/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Every function that can fail returns one of these: 0 is success, failures
 * are negative, and a number never changes its meaning. Outputs are unchanged
 * if the status is not PORTPROF_OK. Functions that return the index-th of
 * something return PORTPROF_END past the last: no failure, no diagnostic.
 * Since 0.1.
 *
 * The four refusals:
 *   INVALID      the caller's mistake, found before any side effect
 *   UNSUPPORTED  not supported by this backend or system
 *   DENIED       needs more permissions
 *   BUSY         a resource is in use; may succeed later
 */
typedef enum portprof_status {
	PORTPROF_END = 1, /* there are no more */
	PORTPROF_OK = 0,
	PORTPROF_E_INVALID = -1,
	PORTPROF_E_UNSUPPORTED = -2,
	PORTPROF_E_DENIED = -3,
	PORTPROF_E_BUSY = -4,
	PORTPROF_E_NOMEM = -5,
	PORTPROF_E_NOTFOUND = -6,
	PORTPROF_E_LIMIT = -7,
	PORTPROF_E_STATE = -8,
	PORTPROF_E_FORKED = -9,
	PORTPROF_E_SYSTEM = -10,
	PORTPROF_E_FORMAT = -11
} portprof_status;

/* Bytes of the text fields of a diagnostic, terminating zero included. */
enum {
	PORTPROF_STEP_BYTES = 64,
	PORTPROF_WORDS_BYTES = 960,
	PORTPROF_PLACE_BYTES = 256,
	PORTPROF_SUGGESTIONS = 3,
	PORTPROF_SUGGESTION_BYTES = 96
};

/*
 * What stands behind a status, for programs: words are for people, and may
 * change with any version. A number never changes its meaning; new ones come
 * at the end, so treat those that you do not know as REASON_NONE, and go by the
 * status. Since 0.1.
 */
typedef enum portprof_reason {
	PORTPROF_REASON_NONE = 0,            /* the status says all */
	PORTPROF_REASON_ARGUMENT = 1,        /* NULL, or nothing that it can be */
	PORTPROF_REASON_SYNTAX = 2,          /* a text breaks its rules: column */
	PORTPROF_REASON_PART = 3,            /* a part of an event string has to
	                                      * be dropped or changed: column */
	PORTPROF_REASON_UNKNOWN_NAME = 4,    /* nothing is named so: suggestions */
	PORTPROF_REASON_NO_BACKEND = 5,      /* none has what is asked for */
	PORTPROF_REASON_BACKEND_LIMIT = 6,   /* the one that has it lacks it here */
	PORTPROF_REASON_NOT_ON_CPU = 7,      /* no such PMU or precision here */
	PORTPROF_REASON_NEEDS_RIGHT = 8,     /* this user may not */
	PORTPROF_REASON_NEEDS_TRACING = 9,   /* nor may he use tracepoints */
	PORTPROF_REASON_NEEDS_MOUNT = 10,    /* a file system is not there */
	PORTPROF_REASON_LIMIT = 11,          /* of the system or of the user */
	PORTPROF_REASON_IN_USE = 12,
	PORTPROF_REASON_NO_MEMORY = 13,
	PORTPROF_REASON_TARGET_GONE = 14,    /* no such process, thread, cgroup */
	PORTPROF_REASON_OUTPUT = 15,         /* cannot be written there */
	PORTPROF_REASON_FORMAT = 16,         /* contents that it cannot have */
	PORTPROF_REASON_STATE = 17,          /* not now, or not any more */
	PORTPROF_REASON_FORKED = 18,         /* it is the parent's */
	PORTPROF_REASON_SYSTEM = 19,         /* see os_errno */
	PORTPROF_REASON_NOT_SUPPORTED = 20   /* by this backend or system */
} portprof_reason;

/*
 * Why the last call of this thread failed. Strings are null-terminated; longer
 * ones are truncated at the end of a character. Since 0.1.
 */
typedef struct portprof_diag {
	portprof_status status;
	int os_errno;                  /* the system's own errno, or 0 */
	char step[PORTPROF_STEP_BYTES];   /* what was tried: "open ring" */
	char words[PORTPROF_WORDS_BYTES]; /* what, why, what to do about it */
	portprof_reason reason;
	/* where the mistake is, if it is in a text: its file, or "" for the text
	 * that was given; line and column from 1, 0 if it has none */
	char place[PORTPROF_PLACE_BYTES];
	unsigned line, column;
	/* what may have been meant, nearest first; "" behind the last */
	char suggestions[PORTPROF_SUGGESTIONS][PORTPROF_SUGGESTION_BYTES];
} portprof_diag;

/*
 * The constant's name ("PORTPROF_E_BUSY") or a short English text for a
 * status; for other numbers "PORTPROF_E_?" and "unknown status".
 * The strings are static. Any thread; async-signal-safe. Since 0.1.
 */
PORTPROF_API const char *portprof_status_name(portprof_status status);
PORTPROF_API const char *portprof_status_text(portprof_status status);

/*
 * The diagnostic of the last failed portprof call of the calling thread.
 * Never NULL; status is PORTPROF_OK if none has failed. The memory belongs
 * to the thread and is overwritten by its next failure: copy the struct to
 * keep it. Success does not clear it. Not for signal handlers. Since 0.1.
 */
PORTPROF_API const portprof_diag *portprof_last_diag(void);

#ifdef __cplusplus
}
#endif
#endif
