/* SPDX-License-Identifier: MIT */
/* Scaling what was counted for a part of the time: in full precision, with and
 * without a type of 128 bits. */
#include "base/arithmetic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t state = UINT64_C(88172645463325252);

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void known_values(void **unused)
{
	static const uint64_t rows[][4] = {
		/* value, enabled, running, result */
		{ 0, 1, 1, 0 },
		{ 7, 3, 2, 10 },
		{ UINT64_C(1000000000000000001), 3000000000, 1000000000,
		  UINT64_C(3000000000000000003) },
		{ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX },
		{ UINT64_MAX - 1, UINT64_MAX, UINT64_MAX, UINT64_MAX - 1 },
		{ UINT64_MAX, 3, 2, UINT64_MAX }, /* does not fit */
		{ UINT64_MAX, 1, 3, UINT64_MAX / 3 },
		{ UINT64_C(1) << 63, 2, 1, UINT64_MAX },
		{ UINT64_C(1) << 63, UINT64_C(1) << 63, UINT64_MAX,
		  UINT64_C(1) << 62 },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(ppi_scale(rows[i][0], rows[i][1],
		                           rows[i][2]), rows[i][3]);
		assert_int_equal(ppi_scale_by_halves(rows[i][0], rows[i][1],
		                                     rows[i][2]), rows[i][3]);
	}
}

static void both_ways_are_one(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t value = next_random() >> next_random() % 64;
		uint64_t enabled = next_random() >> next_random() % 64;
		uint64_t running = next_random() >> next_random() % 64;

		if (running == 0)
			continue;
		assert_int_equal(ppi_scale_by_halves(value, enabled, running),
		                 ppi_scale(value, enabled, running));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_values),
		cmocka_unit_test(both_ways_are_one),
	};

	return cmocka_run_group_tests_name("scale", tests, NULL, NULL);
}
