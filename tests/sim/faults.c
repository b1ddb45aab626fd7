/* SPDX-License-Identifier: MIT */
/* Makes chosen calls of a simulated kernel fail with a chosen errno. */
#include "tests/sim/faults.h"

#include <errno.h>

bool sim_faults_plan(struct sim_faults *faults, size_t call, unsigned nth,
                     unsigned variant)
{
	faults->has_happened = false;
	faults->left = 0;
	if (call >= faults->count || variant >= SIM_VARIANTS ||
	    !faults->calls[call].errnos[variant])
		return false;
	faults->call = call;
	faults->left = nth;
	faults->error = faults->calls[call].errnos[variant];
	return true;
}

bool sim_faults_strike(struct sim_faults *faults, size_t call)
{
	if (!faults->left || faults->call != call || --faults->left)
		return false;
	faults->has_happened = true;
	errno = faults->error;
	return true;
}

int sim_faults_struck(const struct sim_faults *faults)
{
	return faults->has_happened ? faults->error : 0;
}
