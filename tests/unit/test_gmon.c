/* SPDX-License-Identifier: MIT */
/* gmon.out: read in every form, refused when it lies, written as gprof wants
 * it. */
#include "config.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/profile/gmon/gmon.h"
#include "tests/unit/gmon_make.h"

static struct gmon_bytes made;

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void parse_well(struct ppi_gmon *gmon)
{
	struct ppi_gmon_why why;

	if (ppi_gmon_parse(made.bytes, made.count, 0, gmon, &why) !=
	    PPI_GMON_OK)
		fail_msg("%s", why.words);
}

/* Refused with all these words. */
static void parse_badly(const char *words, uint64_t offset)
{
	struct ppi_gmon gmon = { .rate = 4711 };
	struct ppi_gmon_why why;

	assert_int_equal(ppi_gmon_parse(made.bytes, made.count, 0, &gmon, &why),
	                 PPI_GMON_BAD);
	if (!strstr(why.words, words))
		fail_msg("no \"%s\" in: %s", words, why.words);
	assert_int_equal(why.offset, offset);
	assert_int_equal(gmon.rate, 4711);
}

/* ---- reading ---- */

static const uint16_t few[8] = { 0, 1, 65535, 3, 0, 0, 500, 7 };

static void assert_few(const struct ppi_gmon *gmon, uint64_t times)
{
	const struct ppi_gmon_histogram *histogram = gmon->histograms;

	assert_int_equal(histogram->low, 0x401000);
	assert_int_equal(histogram->high, 0x401020);
	assert_int_equal(histogram->bin_count, 8);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(ppi_gmon_bin(histogram, i), few[i] * times);
}

static void every_order_and_width_of_glibc(void **state)
{
	(void)state;
	for (unsigned form = 0; form < 4; form++) {
		struct ppi_gmon gmon;

		gmon_begin(&made, form & 1, form & 2 ? 4 : 8);
		gmon_histogram(&made, 0x401000, 0x401020, 8, 100, "seconds",
		               few);
		gmon_arc(&made, 0x401011, 0x401000, 4000000000u);
		gmon_blocks(&made, 5, form & 2);
		gmon_histogram(&made, 0x500000, 0x500010, 2, 100, "seconds",
		               few + 1);
		gmon_histogram(&made, 0x401000, 0x401020, 8, 100, "seconds",
		               few);
		parse_well(&gmon);
		assert_int_equal(gmon.format, PPI_GMON_TAGGED);
		assert_int_equal(gmon.pointer_bytes, form & 2 ? 4 : 8);
		assert_int_equal(gmon.rate, 100);
		assert_string_equal(gmon.dimension, "seconds");
		assert_int_equal(gmon.abbreviation, 's');
		assert_int_equal(gmon.histogram_count, 2);
		assert_few(&gmon, 2);
		assert_int_equal(ppi_gmon_bin(&gmon.histograms[1], 1), 65535);
		assert_int_equal(gmon.arc_count, 1);
		assert_int_equal(gmon.arcs[0].from, 0x401011);
		assert_int_equal(gmon.arcs[0].self, 0x401000);
		assert_int_equal(gmon.arcs[0].count, 4000000000u);
		assert_int_equal(gmon.block_count, 5);
		ppi_gmon_free(&gmon);
	}
}

static void every_order_width_and_bin_of_bsd(void **state)
{
	static const int32_t
		bits[] = { 0,   8,   16,  32, 64,
		           -16, -32, -64, 240 /* bytes of arcs: OpenBSD */ };
	static const uint64_t bins[3] = { 1, 200, 3 };

	(void)state;
	for (unsigned form = 0; form < 4 * 9; form++) {
		int32_t spare = bits[form / 4];
		struct ppi_gmon gmon;

		gmon_bsd(&made, form & 1, form & 2 ? 4 : 8, 0x8000, 0x8018, 3,
		         128, spare == 240 ? 0 : spare, bins);
		if (spare == 240) {
			size_t end = made.count;

			made.count = form & 2 ? 20 : 28;
			gmon_put(&made, 240, 4);
			made.count = end;
		}
		gmon_bsd_arc(&made, 0x8010, 0x8000, 9);
		gmon_bsd_arc(&made, 0, 0, 0);
		parse_well(&gmon);
		assert_int_equal(gmon.format, PPI_GMON_BSD);
		assert_int_equal(gmon.pointer_bytes, form & 2 ? 4 : 8);
		assert_int_equal(gmon.rate, 128);
		assert_int_equal(gmon.histograms[0].low, 0x8000);
		assert_int_equal(gmon.histograms[0].bin_count, 3);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(ppi_gmon_bin(gmon.histograms, i),
			                 bins[i]);
		assert_int_equal(gmon.arc_count, 1);
		assert_int_equal(gmon.arcs[0].count, 9);
		ppi_gmon_free(&gmon);
	}
}

/* Only the program knows its word size; what fits may be more than one. */
static void two_word_sizes_that_fit_are_not_guessed(void **state)
{
	struct ppi_gmon gmon;
	struct ppi_gmon_why why;

	(void)state;
	gmon_begin(&made, false, 4);
	for (unsigned i = 0; i < 21; i++) /* 21 of 13 bytes, or 13 of 21 */
		gmon_arc(&made, 0x01010101, 0x01010101, 0x01010101);
	parse_badly("say which program", 20);
	assert_int_equal(ppi_gmon_parse(made.bytes, made.count, 4, &gmon, &why),
	                 PPI_GMON_OK);
	assert_int_equal(gmon.arc_count, 21);
	ppi_gmon_free(&gmon);
}

static void begin_few(void)
{
	gmon_begin(&made, false, 8);
	gmon_histogram(&made, 0x401000, 0x401020, 8, 100, "seconds", few);
}

static void what_lies_is_refused(void **state)
{
	(void)state;
	made.count = 0;
	parse_badly("not a gmon.out", 0);
	memset(made.bytes, 'x', 100);
	made.count = 100;
	parse_badly("not a gmon.out", 0);
	begin_few();
	made.bytes[4] = 2;
	parse_badly("version 2", 4);
	begin_few();
	made.bytes[4] = 0xff, made.bytes[5] = 0xff, made.bytes[6] = 1;
	parse_badly("sprof", 4);
	begin_few();
	made.bytes[20 + 1 + 16] = 9; /* one bin more than there are */
	parse_badly("18 bytes and the file has 16 more", 20 + 41);
	begin_few();
	made.bytes[20 + 1 + 19] = 0x7f;
	parse_badly("damaged", 20 + 41);
	begin_few();
	memset(made.bytes + 21 + 8, 0, 8); /* the end before the beginning */
	parse_badly("cannot have 8 bins", 20);
	begin_few();
	made.bytes[made.count++] = 3;
	parse_badly("3 is not a kind of record", made.count - 1);
	begin_few();
	gmon_histogram(&made, 0x401000, 0x401020, 8, 250, "seconds", few);
	parse_badly("another unit (250 a seconds)", 20 + 41 + 16);
	begin_few();
	gmon_put(&made, 2, 1);
	gmon_put(&made, UINT64_MAX, 8);
	parse_badly("basic blocks", 20 + 41 + 16);
	gmon_bsd(&made, false, 8, 0x8000, 0x8018, 3, 128, 0,
	         (const uint64_t[]){ 1, 2, 3 });
	made.bytes[16] = 39;
	parse_badly("39 bytes", 0);
}

/* ---- cut and harmed ---- */

static void make_long(bool is_big, unsigned pointer)
{
	gmon_begin(&made, is_big, pointer);
	gmon_histogram(&made, 0x401000, 0x401020, 8, 100, "seconds", few);
	gmon_arc(&made, 0x401011, 0x401000, 12);
	gmon_histogram(&made, 0x402000, 0x402020, 8, 100, "seconds", few);
	gmon_arc(&made, 0x401011, 0x402000, 13);
}

static void cut_anywhere_it_is_whole_records_or_refused(void **state)
{
	(void)state;
	for (unsigned form = 0; form < 4; form++) {
		unsigned pointer = form & 2 ? 4 : 8, well = 0;
		size_t all, histogram = 2 * pointer + 25 + 16;
		size_t arc = 2 * pointer + 5;
		size_t ends[5] = { 20, histogram, arc, histogram, arc };

		for (unsigned i = 1; i < 5; i++)
			ends[i] += ends[i - 1];
		make_long(form & 1, pointer);
		all = made.count;
		assert_int_equal(all, ends[4]);
		for (made.count = 0; made.count <= all; made.count++) {
			struct ppi_gmon gmon;
			struct ppi_gmon_why why;
			bool is_end = false;

			for (unsigned i = 0; i < 5; i++)
				is_end |= ends[i] == made.count;
			assert_int_equal(ppi_gmon_parse(made.bytes, made.count,
			                                pointer, &gmon, &why),
			                 is_end ? PPI_GMON_OK : PPI_GMON_BAD);
			if (!is_end) {
				assert_non_null(strstr(why.words, "at byte "));
				assert_true(why.offset <= made.count);
				continue;
			}
			well++;
			ppi_gmon_free(&gmon);
		}
		assert_int_equal(well, 5);
	}
}

static size_t write_out(const struct ppi_gmon *gmon, unsigned char *bytes,
                        size_t room)
{
	FILE *file = tmpfile();
	struct ppi_gmon_why why;
	ssize_t got;

	assert_non_null(file);
	if (ppi_gmon_write(gmon, fileno(file), &why) != PPI_GMON_OK)
		fail_msg("%s", why.words);
	got = pread(fileno(file), bytes, room, 0);
	assert_true(got >= 0);
	fclose(file);
	return (size_t)got;
}

/* Whatever stands in a file that is read has been in the file: bins and calls
 * never outnumber its bytes, and their sum is the sum of what is there. */
static void mutants_do_no_harm(void **state)
{
	unsigned refused = 0, read = 0;
	uint64_t seed = 20261121;

	(void)state;
	for (unsigned round = 0; round < 40000; round++) {
		struct ppi_gmon gmon;
		struct ppi_gmon_why why;
		unsigned form = round & 7, changes = 1 + next(&seed) % 3;
		size_t bins = 0;

		if (form < 4)
			make_long(form & 1, form & 2 ? 4 : 8);
		else
			gmon_bsd(&made, form & 1, form & 2 ? 4 : 8, 0x8000,
			         0x8018, 3, 128, 0,
			         (const uint64_t[]){ 1, 2, 3 });
		while (changes-- > 0)
			made.bytes[next(&seed) % made.count] =
				(unsigned char)next(&seed);
		if (ppi_gmon_parse(made.bytes, made.count, 0, &gmon, &why) !=
		    PPI_GMON_OK) {
			assert_true(why.offset <= made.count);
			assert_true(strlen(why.words) > 20);
			refused++;
			continue;
		}
		read++;
		for (size_t i = 0; i < gmon.histogram_count; i++) {
			bins += gmon.histograms[i].bin_count;
			assert_true(gmon.histograms[i].low <
			            gmon.histograms[i].high);
		}
		assert_true(bins <= made.count);
		assert_true(gmon.arc_count <= made.count);
		ppi_gmon_free(&gmon);
	}
	assert_true(refused > 5000 && read > 5000);
}

/* ---- writing ---- */

static void it_is_written_as_glibc_does(void **state)
{
	static unsigned char bytes[4096];

	(void)state;
	for (unsigned form = 0; form < 4; form++) {
		struct ppi_gmon gmon;
		size_t count;

		make_long(form & 1, form & 2 ? 4 : 8);
		parse_well(&gmon);
		count = write_out(&gmon, bytes, sizeof(bytes));
		/* all histograms, then all arcs */
		gmon_begin(&made, form & 1, form & 2 ? 4 : 8);
		gmon_histogram(&made, 0x401000, 0x401020, 8, 100, "seconds",
		               few);
		gmon_histogram(&made, 0x402000, 0x402020, 8, 100, "seconds",
		               few);
		gmon_arc(&made, 0x401011, 0x401000, 12);
		gmon_arc(&made, 0x401011, 0x402000, 13);
		assert_int_equal(count, made.count);
		assert_memory_equal(bytes, made.bytes, count);
		ppi_gmon_free(&gmon);
	}
}

static void it_is_written_as_bsd_does(void **state)
{
	static unsigned char bytes[4096];
	static const uint64_t bins[2] = { 65535, 4 };

	(void)state;
	for (unsigned form = 0; form < 4; form++) {
		struct ppi_gmon gmon;
		size_t count;

		gmon_bsd(&made, form & 1, form & 2 ? 4 : 8, 0x8000, 0x8008, 2,
		         128, 0, bins);
		gmon_bsd_arc(&made, 0x8001, 0x8000, 77);
		parse_well(&gmon);
		count = write_out(&gmon, bytes, sizeof(bytes));
		assert_int_equal(count, made.count);
		assert_memory_equal(bytes, made.bytes, count);
		ppi_gmon_free(&gmon);
	}
}

/* What is in the memory of a program that was loaded elsewhere, in bins of
 * each width: the file has its own addresses and every tick. */
static void a_random_program_is_what_it_was(void **state)
{
	static unsigned char bytes[1 << 20];
	static uint64_t wide[64];
	static uint32_t middle[64];
	static uint16_t narrow[64];
	uint64_t seed = 4711;

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		unsigned bin_bytes = 2u << round % 3;
		uint64_t width = 1u << next(&seed) % 8, bias = next(&seed)
		                                               << 12;
		uint64_t most = bin_bytes == 2 ? UINT16_MAX : 1000000;
		struct ppi_gmon_histogram histogram = {
			.low = bias + 0x1000,
			.high = bias + 0x1000 + 64 * width,
			.bin_count = 64,
			.bin_bytes = bin_bytes,
			.bins = bin_bytes == 2   ? (void *)narrow
			        : bin_bytes == 4 ? (void *)middle
			                         : (void *)wide,
		};
		struct ppi_gmon_arc arc = { bias + 0x1011, bias + 0x1000,
			                    5000000000u };
		struct ppi_gmon gmon = { .rate = 100,
			                 .bias = bias,
			                 .histograms = &histogram,
			                 .histogram_count = 1,
			                 .arcs = &arc,
			                 .arc_count = 1 };
		struct ppi_gmon again;
		struct ppi_gmon_why why;
		uint64_t calls = 0;
		size_t count;

		for (unsigned i = 0; i < 64; i++) {
			wide[i] = next(&seed) % (most + 1);
			middle[i] = (uint32_t)wide[i];
			narrow[i] = (uint16_t)wide[i];
		}
		count = write_out(&gmon, bytes, sizeof(bytes));
		assert_int_equal(ppi_gmon_parse(bytes, count, sizeof(void *),
		                                &again, &why),
		                 PPI_GMON_OK);
		assert_int_equal(again.histogram_count, 1);
		assert_int_equal(again.histograms->low, 0x1000);
		assert_int_equal(again.histograms->high, 0x1000 + 64 * width);
		for (unsigned i = 0; i < 64; i++)
			assert_int_equal(ppi_gmon_bin(again.histograms, i),
			                 wide[i]);
		for (size_t i = 0; i < again.arc_count; i++) {
			assert_int_equal(again.arcs[i].from, 0x1011);
			calls += again.arcs[i].count;
		}
		assert_int_equal(calls, 5000000000u);
		ppi_gmon_free(&again);
	}
}

static void what_no_file_can_hold_is_refused(void **state)
{
	uint64_t bins[4] = { 1, 70000, 2, 3 };
	struct ppi_gmon_histogram histogram = { 0x1000, 0x1010, 4, 8, bins };
	struct ppi_gmon gmon = { .histograms = &histogram,
		                 .histogram_count = 1 };
	FILE *file = tmpfile();
	struct ppi_gmon_why why;
	int fd;

	(void)state;
	assert_non_null(file);
	fd = fileno(file);
	gmon.format = PPI_GMON_BSD;
	assert_int_equal(ppi_gmon_write(&gmon, fd, &why), PPI_GMON_BAD);
	assert_non_null(strstr(why.words, "70000"));
	gmon.histogram_count = 0;
	assert_int_equal(ppi_gmon_write(&gmon, fd, &why), PPI_GMON_BAD);
	gmon.histogram_count = 1;
	gmon.format = PPI_GMON_TAGGED;
	gmon.bias = 0x2000;
	assert_int_equal(ppi_gmon_write(&gmon, fd, &why), PPI_GMON_BAD);
	assert_non_null(strstr(why.words, "0x2000"));
	gmon.bias = 0;
	histogram.high = 0x100c;
	assert_int_equal(ppi_gmon_write(&gmon, fd, &why), PPI_GMON_BAD);
	assert_non_null(strstr(why.words, "power of two"));
	histogram.high = 0x1011;
	assert_int_equal(ppi_gmon_write(&gmon, fd, &why), PPI_GMON_BAD);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0); /* nothing is written */
	histogram.high = 0x1010;
	assert_int_equal(ppi_gmon_write(&gmon, -1, &why), PPI_GMON_SYSTEM);
	assert_int_equal(ppi_gmon_write(&gmon, fd, &why), PPI_GMON_OK);
	fclose(file);
}

static void ranges_are_laid_out_in_whole_bins(void **state)
{
	uint64_t low = 0x1003, high = 0x1019;

	(void)state;
	assert_int_equal(ppi_gmon_lay(&low, &high, 4), 7);
	assert_int_equal(low, 0x1000);
	assert_int_equal(high, 0x101c);
	assert_int_equal(ppi_gmon_lay(&low, &high, 4), 7);
	assert_int_equal(ppi_gmon_lay(&low, &high, 64), 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_order_and_width_of_glibc),
		cmocka_unit_test(every_order_width_and_bin_of_bsd),
		cmocka_unit_test(two_word_sizes_that_fit_are_not_guessed),
		cmocka_unit_test(what_lies_is_refused),
		cmocka_unit_test(cut_anywhere_it_is_whole_records_or_refused),
		cmocka_unit_test(mutants_do_no_harm),
		cmocka_unit_test(it_is_written_as_glibc_does),
		cmocka_unit_test(it_is_written_as_bsd_does),
		cmocka_unit_test(a_random_program_is_what_it_was),
		cmocka_unit_test(what_no_file_can_hold_is_refused),
		cmocka_unit_test(ranges_are_laid_out_in_whole_bins),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("gmon", tests, NULL, NULL);
}
