/* SPDX-License-Identifier: MIT */
/*
 * A forked child that goes on where its parent left samples, and has no session
 * of its own: the preloaded object asks, the library does.
 */
#ifndef PPI_HEIR_H
#define PPI_HEIR_H

#include <stdbool.h>

struct ppi_heir {
	/* In a forked child, after the library's own handlers of the fork:
	 * sample this thread, its only one, with the settings of the parent's
	 * session. False: that cannot be continued, and nothing has changed. */
	bool (*begin)(void);
	/* Nothing is sampled any more, and all that was is with the recorder.
	 * Async-signal-safe. */
	void (*end)(void);
	/* Set by who asks: the process ends, and no thread is waited for. */
	bool is_ending;
};

/* The library fills it when a session is opened that children can continue; NULL
 * until then. */
extern struct ppi_heir ppi_heir;

#endif
