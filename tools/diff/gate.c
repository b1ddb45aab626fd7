/* SPDX-License-Identifier: MIT */
/* Whether something grew by more than is allowed: diff --fail-above. */
#include "config.h"

#include "tools/diff/gate.h"

#include <math.h>

double ppi_change_percent(const struct ppi_change *change)
{
	double size = change->after - change->before;

	if (change->before > 0)
		return 100 * size / change->before;
	return change->after > 0 ? (double)INFINITY : 0;
}

void ppi_gate_judge(struct ppi_gate *gate, const struct ppi_changes *changes,
                    bool has_pattern)
{
	if (gate->percent <= 0)
		return;
	if (!has_pattern) {
		gate->is_failed = !changes->total.is_noise &&
		                  ppi_change_percent(&changes->total) >
					  gate->percent;
		return;
	}
	for (size_t i = 0; i < changes->count; i++) {
		const struct ppi_change *one = &changes->changes[i];
		double percent = ppi_change_percent(one);

		if (one->is_noise || percent <= gate->percent)
			continue;
		gate->is_failed = true;
		if (!gate->worst || percent > ppi_change_percent(gate->worst))
			gate->worst = one;
	}
}
