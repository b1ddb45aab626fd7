/* SPDX-License-Identifier: MIT */
/* The signal that starts and stops the session, where the user named one. */
#ifndef PPI_PRELOAD_TOGGLE_H
#define PPI_PRELOAD_TOGGLE_H

#include <stdbool.h>

/*
 * Put a handler on the signal that `value` names, and call `toggle` for each
 * that comes, soon and in the library's helper thread; again later when it
 * answers false, for that thread must not wait for others. False when it cannot be
 * had: `words` say why, and nothing has changed. `lost` is called in that
 * thread when the program has put a handler of its own there, which is obeyed
 * from then on. Once a process.
 */
bool ppi_toggle_begin(const char *value, bool (*toggle)(void),
                      void (*lost)(void), char *words, unsigned bytes);

/* In a forked child, where neither the thread nor the handler is left. */
void ppi_toggle_begin_again(void);

#endif
