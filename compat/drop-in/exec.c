/* SPDX-License-Identifier: MIT */
/* What the exec wrappers call: no timer of ours lives on in a new program. */
#include "compat/drop-in/engine.h"

#include "compat/exec/exec_hooks.h"

#include <errno.h>

void ppi_before_exec(void)
{
	ppi_engine_pause();
}

void ppi_after_failed_exec(void)
{
	int kept = errno;

	ppi_engine_resume();
	errno = kept;
}
