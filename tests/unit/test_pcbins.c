/* SPDX-License-Identifier: MIT */
/*
 * Harvests of many bins: what is skipped because nothing changed must really be
 * unchanged. Random hits, late writes, wraps and clears, beside a plain count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "backends/common/pcbins.h"

/* In parts of 2048, the last one not whole. */
enum { BINS = 5 * 2048 + 777, ROUNDS = 2000 };

static uint64_t state = 20261125;

static unsigned below(unsigned limit)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % limit;
}

/* Few places, so that they are hit again; first and last of parts among them. */
static size_t place(void)
{
	static const size_t edges[] = { 0, 2047, 2048, 4095, 4096, 10239, 10240,
		                        BINS - 1 };

	return below(2) ? edges[below(8)] : 1 + below(40) * 257;
}

static void hit(uint16_t *buffer, uint64_t *expected, unsigned times)
{
	size_t at = place();

	buffer[at] = (uint16_t)(buffer[at] + times);
	expected[at] += times;
}

static void take_all(struct ppi_pcbins *bins, uint64_t *got)
{
	uint32_t ticks;
	size_t bin;

	while (ppi_pcbins_take(bins, &bin, &ticks))
		got[bin] += ticks;
	for (size_t i = 0; i < BINS; i++)
		assert_int_equal(bins->wide[i], 0);
}

static void check(unsigned buffers)
{
	struct ppi_pcbins bins = { .count = BINS };
	uint64_t *expected = calloc(BINS, sizeof(*expected));
	uint64_t *got = calloc(BINS, sizeof(*got));

	for (unsigned i = 0; i < buffers; i++)
		bins.buffer[i] = calloc(BINS, sizeof(uint16_t));
	bins.seen = calloc(BINS, sizeof(*bins.seen));
	bins.wide = calloc(BINS, sizeof(*bins.wide));
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned idle = buffers > 1 ? !bins.active : 0;

		for (unsigned i = below(6); i > 0; i--)
			hit(bins.buffer[bins.active], expected,
			    below(4) ? 1 : 1 + below(10000));
		if (buffers > 1) {
			if (below(3) == 0) /* a late write */
				hit(bins.buffer[idle], expected, 1);
			ppi_pcbins_read(&bins, idle);
			ppi_pcbins_clear(&bins, idle);
			for (size_t i = 0; i < BINS; i++)
				assert_int_equal(bins.buffer[idle][i], 0);
		}
		ppi_pcbins_read(&bins, bins.active);
		bins.active = idle;
		if (below(4)) /* or they wait for the next round */
			take_all(&bins, got);
	}
	take_all(&bins, got);
	assert_memory_equal(got, expected, BINS * sizeof(*got));
	for (unsigned i = 0; i < buffers; i++)
		free(bins.buffer[i]);
	free(bins.seen);
	free(bins.wide);
	free(expected);
	free(got);
}

static void each_hit_is_found_in_two_buffers(void **unused)
{
	(void)unused;
	check(2);
}

static void each_hit_is_found_in_place(void **unused)
{
	(void)unused;
	check(1);
}

static void the_fullest_give_first_in_any_part(void **unused)
{
	struct ppi_pcbins bins = { .count = BINS };

	(void)unused;
	bins.buffer[0] = calloc(BINS, sizeof(uint16_t));
	bins.seen = calloc(BINS, sizeof(*bins.seen));
	bins.wide = calloc(BINS, sizeof(*bins.wide));
	bins.buffer[0][3] = 10;
	bins.buffer[0][BINS - 1] = 500;
	bins.buffer[0][5000] = 400;
	ppi_pcbins_read(&bins, 0);
	assert_int_equal(ppi_pcbins_put_aside(&bins, 800, 20), 800);
	assert_int_equal(bins.wide[BINS - 1], 0);
	assert_int_equal(bins.wide[5000], 100);
	assert_int_equal(bins.wide[3], 10);
	assert_int_equal(bins.waiting, 110);
	free(bins.buffer[0]);
	free(bins.seen);
	free(bins.wide);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_hit_is_found_in_two_buffers),
		cmocka_unit_test(each_hit_is_found_in_place),
		cmocka_unit_test(the_fullest_give_first_in_any_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
