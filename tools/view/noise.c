/* SPDX-License-Identifier: MIT */
/* How far chance alone moves the weight of a function from run to run. */
#include "config.h"

#include "tools/view/noise.h"

#include <math.h>

double ppi_noise_error(double before, double before_sample, double after,
                       double after_sample)
{
	/* one sample more, or nothing at all would have no error */
	double least = before_sample > after_sample ? before_sample
	                                            : after_sample;

	return sqrt(before * before_sample + after * after_sample +
	            least * least);
}

double ppi_noise_limit(size_t functions)
{
	double wanted = 0.05 / (functions ? (double)functions : 1);
	double low = 0, high = 40;

	/* erfc(z / sqrt(2)) is how often chance exceeds z either way */
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (erfc(middle / 1.4142135623730951) > wanted)
			low = middle;
		else
			high = middle;
	}
	return high;
}
