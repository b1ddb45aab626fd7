/* SPDX-License-Identifier: MIT */
/* Each system's arithmetic, held to tables made from its own source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compat/drop-in/dialect.h"

#define NONE PPI_NO_BIN
#define BIG UINT64_C(0x400000000) /* bytes: as if there were no end */
#define OFFSET UINT64_C(0x555555554000)

/* `defect`: what the system itself makes of it, where that is another thing. */
struct vector {
	uint64_t distance;
	uint32_t scale;
	uint64_t bytes;
	uint64_t bsd, solaris, glibc;
	uint64_t bsd_defect, solaris_defect, glibc_defect;
};

#define SAME(d, s, bytes, bsd, solaris, glibc) \
	{ d, s, bytes, bsd, solaris, glibc, bsd, solaris, glibc }

static const struct vector vectors[] = {
	SAME(0, 0x10000, BIG, 0, 0, 0),
	SAME(2, 0x10000, BIG, 1, 1, 1),
	SAME(3, 0xC000, BIG, 1, 1, 0),
	SAME(7, 0xFFFF, BIG, 3, 3, 2),
	SAME(0x65, 0x8000, BIG, 25, 25, 25),
	SAME(0x12347, 0x5555, BIG, 12427, 12427, 12427),
	SAME(0x1FFFE, 2, BIG, 1, 0, 1),
	SAME(0x20000, 1, BIG, 1, NONE, 1),
	SAME(100, 0, BIG, NONE, NONE, 0),
	SAME(5, 0x20000, BIG, NONE, 5, 4),
	{ UINT64_C(0x100000008), 0x10000, BIG, UINT64_C(0x80000004),
	  UINT64_C(0x80000004), UINT64_C(0x80000004), 4,
	  UINT64_C(0x80000004), UINT64_C(0x80000004) },
	SAME(UINT64_MAX, 0x10000, BIG, NONE, NONE, NONE), /* one below */
	/* the last bin, and the first byte past it */
	SAME(198, 0x10000, 200, 99, 99, 99),
	SAME(200, 0x10000, 200, NONE, NONE, NONE),
	SAME(0, 0x10000, 0, NONE, NONE, NONE),
	/* half a bin at the end is none; kernels count one byte too far */
	{ 2, 0x10000, 3, NONE, NONE, NONE, 1, 1, NONE },
	/* scale 2 of Solaris: one bin for all above, whatever the size */
	SAME(UINT64_C(0x7000000000), 2, BIG, UINT64_C(0x700000), 0,
	     UINT64_C(0x700000)),
	{ 6, 2, 0, NONE, NONE, NONE, NONE, 0, NONE },
};

enum { VECTORS = sizeof(vectors) / sizeof(vectors[0]) };

/* What profil() refuses, or takes for off, is never asked for a bin. */
static uint64_t bin(const char *name, const struct vector *v, bool defects)
{
	const struct ppi_rules *rules = ppi_rules_find(name);
	struct ppi_bins bins = { NULL, v->bytes, OFFSET, v->scale, defects };

	assert_non_null(rules);
	if (v->scale > rules->scale_max || v->scale < rules->off_below)
		return NONE;
	return ppi_rules_bin(rules, &bins, OFFSET + v->distance);
}

static uint64_t cut(uint64_t bin, uint64_t bytes)
{
	return bin < (bytes + 1) / 2 ? bin : NONE;
}

static void check(const char *name, size_t family, bool defects)
{
	for (size_t i = 0; i < VECTORS; i++) {
		const struct vector *v = &vectors[i];
		const uint64_t *wanted = (const uint64_t *)&v->bsd;
		uint64_t expected = wanted[family + (defects ? 3 : 0)];
		uint64_t got = bin(name, v, defects);

		if (v->bytes == BIG && expected != NONE)
			expected = cut(expected, BIG);
		if (got != expected)
			fail_msg("%s, vector %zu: bin %llu, not %llu", name, i,
			         (unsigned long long)got,
			         (unsigned long long)expected);
	}
}

static void bsd_vectors(void **state)
{
	static const char *const names[] = { "bsd", "freebsd", "netbsd",
		                             "openbsd", "dragonfly" };

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		check(names[i], 0, false);
		check(names[i], 0, true);
	}
	check("macos", 0, false);
}

static void solaris_vectors(void **state)
{
	(void)state;
	check("solaris", 1, false);
	check("solaris", 1, true);
	check("illumos", 1, false);
}

static void glibc_vectors(void **state)
{
	(void)state;
	check("glibc", 2, false);
	check("glibc", 2, true);
}

/* macOS looks at no lower end: what wraps around may come out inside. */
static void macos_has_no_floor(void **state)
{
	const struct ppi_rules *rules = ppi_rules_find("macos");
	struct ppi_bins bins = { NULL, BIG, OFFSET, 0x10000, true };
	uint64_t pc = OFFSET - UINT64_C(0x100000000) + 8;

	(void)state;
	assert_int_equal(ppi_rules_bin(rules, &bins, pc), 4);
	bins.has_defects = false;
	assert_int_equal(ppi_rules_bin(rules, &bins, pc), NONE);
	bins.has_defects = true;
	assert_int_equal(ppi_rules_bin(ppi_rules_find("bsd"), &bins, pc),
	                 NONE);
}

/* ---- the formulas of the manual pages, once more and in another way ---- */

/* Kernels: the byte of the buffer, in one product. */
static uint64_t kernel_bin(uint64_t distance, uint32_t scale)
{
	return (distance * scale >> 16) / 2;
}

/* glibc: halved first, and rounded down each time. */
static uint64_t manual_bin(uint64_t distance, uint32_t scale)
{
	return distance / 2 * scale / 65536;
}

static void formulas_agree_with_one_product(void **state)
{
	uint32_t scale = 3;

	(void)state;
	for (uint32_t i = 0; i < 200000; i++) {
		uint64_t distance = (i * UINT64_C(2654435761)) % 0x800001;
		struct vector v = { .distance = distance, .scale = scale,
			            .bytes = BIG };

		assert_int_equal(bin("bsd", &v, false),
		                 kernel_bin(distance, scale));
		assert_int_equal(bin("solaris", &v, false),
		                 kernel_bin(distance, scale));
		assert_int_equal(bin("glibc", &v, false),
		                 manual_bin(distance, scale));
		scale = 3 + (scale * 48271u) % 65534;
	}
}

/* What programs may rely on everywhere. */
static void powers_of_two_agree(void **state)
{
	(void)state;
	for (uint32_t scale = 4; scale <= 65536; scale *= 2)
		for (uint64_t d = 0; d < 70000; d++) {
			struct vector v = { .distance = d, .scale = scale,
				            .bytes = BIG };
			uint64_t one = bin("bsd", &v, false);

			assert_int_equal(one, bin("solaris", &v, false));
			assert_int_equal(one, bin("glibc", &v, false));
			assert_int_equal(one, d / (131072 / scale));
		}
}

/* A product that does not fit is no bin, with any scale. */
static void nothing_wraps(void **state)
{
	static const char *const names[] = { "solaris", "glibc" };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct vector v = { .distance = UINT64_C(1) << 62,
			            .scale = UINT32_MAX, .bytes = BIG };

		assert_int_equal(bin(names[i], &v, false), NONE);
	}
}

/* ---- the other columns ---- */

static void limits(void **state)
{
	const struct ppi_rules *rules;

	(void)state;
	for (size_t i = 0; (rules = ppi_rules_at(i)); i++) {
		bool is_bsd = rules->family == PPI_FAMILY_BSD;
		bool is_solaris = rules->family == PPI_FAMILY_SOLARIS;

		assert_ptr_equal(ppi_rules_find(rules->name), rules);
		assert_int_equal(rules->scale_max,
		                 is_bsd ? 65536 : UINT32_MAX);
		assert_int_equal(rules->bin_max, is_solaris ? 32767 : 65535);
		assert_int_equal(rules->full_stops, is_solaris);
	}
	assert_int_equal(ppi_rules_find("glibc")->off_below, 0);
	assert_int_equal(ppi_rules_find("hurd")->off_below, 1);
	assert_int_equal(ppi_rules_find("bsd")->off_below, 1);
	assert_int_equal(ppi_rules_find("solaris")->off_below, 2);
	assert_true(ppi_rules_find("glibc")->null_is_off);
	assert_false(ppi_rules_find("bsd")->null_is_off);
	assert_false(ppi_rules_find("glibc")->child_goes_on);
	assert_true(ppi_rules_find("bsd")->child_goes_on);
	assert_true(ppi_rules_find("solaris")->child_goes_on);
	assert_null(ppi_rules_find("multics"));
	assert_non_null(ppi_rules_of_host());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bsd_vectors),
		cmocka_unit_test(solaris_vectors),
		cmocka_unit_test(glibc_vectors),
		cmocka_unit_test(macos_has_no_floor),
		cmocka_unit_test(formulas_agree_with_one_product),
		cmocka_unit_test(powers_of_two_agree),
		cmocka_unit_test(nothing_wraps),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
