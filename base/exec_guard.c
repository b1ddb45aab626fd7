/* SPDX-License-Identifier: MIT */
/* Whether our timers are stopped before each exec of this process. */
#include "base/exec_guard.h"

#include <stdatomic.h>

static atomic_bool is_promised;

void ppi_exec_guard_promise(void)
{
	atomic_store(&is_promised, true);
}

bool ppi_exec_guard_is_promised(void)
{
	return atomic_load(&is_promised);
}
