/* SPDX-License-Identifier: MIT */
/* Weights and shares as people read them. */
#include "config.h"

#include "tools/view/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct ppi_scale ppi_scale_of(portprof_unit unit, uint64_t largest)
{
	if (unit != PORTPROF_UNIT_NANOSECONDS)
		return (struct ppi_scale){ 1, 0, "" };
	if (largest >= 1000000000)
		return (struct ppi_scale){ 1e9, 3, " s" };
	if (largest >= 1000000)
		return (struct ppi_scale){ 1e6, 3, " ms" };
	return (struct ppi_scale){ 1e3, 1, " us" };
}

const char *ppi_say_weight(struct ppi_scale scale, uint64_t weight, char *out,
                           size_t bytes)
{
	if (scale.digits == 0)
		snprintf(out, bytes, "%" PRIu64, weight);
	else
		snprintf(out, bytes, "%.*f%s", scale.digits,
		         (double)weight / scale.divisor, scale.unit);
	return out;
}

const char *ppi_minus(const char *number)
{
	return strpbrk(number, "123456789") ? "-" : "";
}

double ppi_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}
