/* SPDX-License-Identifier: MIT */
/* Allocations that fail when told to; programs link with $(WRAP_LDFLAGS). */
#ifndef TESTS_MEMORY_ALLOC_H
#define TESTS_MEMORY_ALLOC_H

#include <stdbool.h>

/* Whether this linker can put a test before malloc, and before no other caller's:
 * not in a static program. */
bool alloc_can_fail(void);
/* Let the nth allocation from now fail, and all after it when `for_good`. */
void alloc_fail(unsigned nth, bool for_good);
/* Back to normal; true when the nth was reached. */
bool alloc_reset(void);

#endif
