/* SPDX-License-Identifier: MIT */
/* gmon.out as a profile and back, with programs of every machine. */
#include "config.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <portprof.h>

#include "api/profile/gmon/gmon.h"
#include "tests/unit/gmon_make.h"

enum { LOW = 0x401000, CODE = 0x2000, CODE_OFFSET = 0x1000 };

static struct gmon_bytes made, elf;
static char folder[] = "/tmp/portprof-gmon-XXXXXX";
static char file[64], program[64], output[64];

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(file, sizeof(file), "%s/gmon.in", folder);
	snprintf(program, sizeof(program), "%s/app", folder);
	snprintf(output, sizeof(output), "%s/gmon.out", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(file);
	unlink(program);
	unlink(output);
	return rmdir(folder);
}

static void save(const char *path, const struct gmon_bytes *bytes)
{
	FILE *out = fopen(path, "wb");

	assert_non_null(out);
	assert_int_equal(fwrite(bytes->bytes, 1, bytes->count, out),
	                 bytes->count);
	assert_int_equal(fclose(out), 0);
}

/* ---- an executable of any machine: its headers alone ---- */

static void put_header(uint32_t type, uint32_t flags, uint64_t offset,
                       uint64_t address, uint64_t bytes)
{
	unsigned word = elf.pointer;

	gmon_put(&elf, type, 4);
	if (word == 8)
		gmon_put(&elf, flags, 4);
	gmon_put(&elf, offset, word);
	gmon_put(&elf, address, word);
	gmon_put(&elf, address, word);
	gmon_put(&elf, bytes, word);
	gmon_put(&elf, bytes, word);
	if (word == 4)
		gmon_put(&elf, flags, 4);
	gmon_put(&elf, 0x1000, word);
}

static void make_elf(bool is_big, unsigned word)
{
	static const char id[] = "\x01\x02\xab\xcd";

	elf.is_big = is_big;
	elf.pointer = word;
	elf.count = 0;
	gmon_put_text(&elf, "\177ELF", 4);
	gmon_put(&elf, word == 8 ? 2 : 1, 1);
	gmon_put(&elf, is_big ? 2 : 1, 1);
	gmon_put_text(&elf, "\1", 10);
	gmon_put(&elf, 2, 2); /* executable */
	gmon_put(&elf, 0, 2);
	gmon_put(&elf, 1, 4);
	gmon_put(&elf, LOW, word);
	gmon_put(&elf, word == 8 ? 64 : 52, word); /* program headers */
	gmon_put(&elf, 0, word);
	gmon_put(&elf, 0, 4);
	gmon_put(&elf, word == 8 ? 64 : 52, 2);
	gmon_put(&elf, word == 8 ? 56 : 32, 2);
	gmon_put(&elf, 3, 2);
	gmon_put_text(&elf, "", 6);
	put_header(1, 4, 0, LOW - 0x1000, 0x400); /* no code */
	put_header(4, 4, 0x300, LOW - 0xd00, 20);
	put_header(1, 5, CODE_OFFSET, LOW, CODE);
	gmon_put_text(&elf, "", 0x300 - elf.count);
	gmon_put(&elf, 4, 4);
	gmon_put(&elf, 4, 4);
	gmon_put(&elf, 3, 4);
	gmon_put_text(&elf, "GNU", 4);
	for (unsigned i = 0; i < 4; i++)
		gmon_put(&elf, (unsigned char)id[i], 1);
	save(program, &elf);
}

static portprof_profile *read_well(void)
{
	portprof_profile *profile;

	save(file, &made);
	if (portprof_gmon_read(file, program, 0, &profile) != PORTPROF_OK)
		fail_msg("%s", portprof_last_diag()->words);
	return profile;
}

static void read_badly(portprof_status status, const char *words)
{
	portprof_profile *profile = (void *)&made;

	assert_int_equal(portprof_gmon_read(file, program, 0, &profile),
			 status);
	if (!strstr(portprof_last_diag()->words, words))
		fail_msg("no \"%s\" in: %s", words,
		         portprof_last_diag()->words);
	assert_ptr_equal(profile, &made);
}

static uint64_t total(const portprof_profile *profile, size_t event)
{
	const portprof_profile_sample *sample;
	uint64_t sum = 0;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++)
		sum += sample->weights[event];
	return sum;
}

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* ---- reading ---- */

static void ticks_are_seconds_on_every_machine(void **state)
{
	static const uint16_t bins[4] = { 0, 100, 1, 50 };

	(void)state;
	for (unsigned form = 0; form < 4; form++) {
		const portprof_profile_mapping *mapping;
		const portprof_profile_event *event;
		const portprof_profile_sample *sample;
		const portprof_profile_location *leaf;
		portprof_profile *profile;

		make_elf(form & 1, form & 2 ? 4 : 8);
		gmon_begin(&made, form & 1, form & 2 ? 4 : 8);
		gmon_histogram(&made, LOW, LOW + 16, 4, 100, "seconds", bins);
		gmon_arc(&made, LOW + 0x20, LOW, 7);
		gmon_arc(&made, 0, LOW + 8, 2);
		profile = read_well();
		assert_int_equal(portprof_profile_event_count(profile), 2);
		event = portprof_profile_event_get(profile, 0);
		assert_string_equal(event->name, "cpu");
		assert_int_equal(event->unit, PORTPROF_UNIT_NANOSECONDS);
		assert_int_equal(event->has_stats, 0);
		assert_non_null(strstr(event->description, "100 ticks"));
		assert_int_equal(total(profile, 0), 1510000000u);
		mapping = portprof_profile_mapping_get(profile, 0);
		assert_int_equal(mapping->start, LOW);
		assert_int_equal(mapping->limit, LOW + CODE);
		assert_int_equal(mapping->file_offset, CODE_OFFSET);
		assert_string_equal(mapping->build_id, "0102abcd");
		assert_non_null(strstr(mapping->path, "/app"));
		sample = portprof_profile_sample_get(profile, 0);
		leaf = portprof_profile_location_get(profile,
		                                     sample->locations[0]);
		assert_int_equal(leaf->address, LOW + 4);
		assert_int_equal(leaf->mapping, 0);
		assert_int_equal(sample->samples[0], 100);
		assert_int_equal(sample->weights[0], 1000000000u);
		/* calls: the called function, then an address in the call */
		event = portprof_profile_event_get(profile, 1);
		assert_string_equal(event->name, "calls");
		assert_int_equal(total(profile, 1), 9);
		sample = portprof_profile_sample_get(profile, 3);
		assert_int_equal(sample->depth, 2);
		assert_int_equal(sample->weights[0], 0);
		assert_int_equal(sample->weights[1], 7);
		leaf = portprof_profile_location_get(profile,
		                                     sample->locations[1]);
		assert_int_equal(leaf->address, LOW + 0x1f);
		assert_int_equal(portprof_profile_sample_get(profile, 4)->depth,
		                 1);
		portprof_profile_free(profile);
	}
}

/* 1000000000 / 3 has a rest in every bin; their sum has it once. */
static void parts_of_a_second_add_up(void **state)
{
	uint16_t bins[100];
	portprof_profile *profile;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		bins[i] = 1;
	make_elf(false, 8);
	gmon_begin(&made, false, 8);
	gmon_histogram(&made, LOW, LOW + 400, 100, 3, "seconds", bins);
	profile = read_well();
	assert_int_equal(total(profile, 0), 33333333333u);
	portprof_profile_free(profile);
}

static void what_is_no_time_is_not_taken_for_it(void **state)
{
	static const uint16_t bins[2] = { 4, 5 };
	static const uint64_t wide[2] = { 4, 5 };
	const portprof_profile_event *event;
	portprof_profile *profile;

	(void)state;
	make_elf(false, 8);
	gmon_begin(&made, false, 8);
	gmon_histogram(&made, LOW, LOW + 8, 2, 1000, "Gcycles", bins);
	profile = read_well();
	event = portprof_profile_event_get(profile, 0);
	assert_string_equal(event->name, "Gcycles/1000");
	assert_int_equal(event->unit, PORTPROF_UNIT_COUNT);
	assert_int_equal(total(profile, 0), 9);
	portprof_profile_free(profile);
	gmon_bsd(&made, false, 8, LOW, LOW + 8, 2, 0, 0, wide);
	profile = read_well();
	event = portprof_profile_event_get(profile, 0);
	assert_string_equal(event->name, "ticks");
	assert_non_null(strstr(event->description, "not in the file"));
	assert_int_equal(total(profile, 0), 9);
	portprof_profile_free(profile);
}

static bool has_note(const portprof_profile *profile, const char *words)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(profile);

	for (size_t i = 0; i < origin->note_count; i++)
		if (strstr(origin->notes[i], words))
			return true;
	return false;
}

static void what_is_unknown_is_said(void **state)
{
	static const uint16_t bins[2] = { 4, 5 };
	portprof_profile *profile;

	(void)state;
	make_elf(false, 8);
	gmon_begin(&made, false, 8);
	gmon_histogram(&made, LOW, LOW + 8, 2, 100, "seconds", bins);
	profile = read_well();
	assert_true(has_note(profile, "no threads"));
	assert_false(has_note(profile, "does not name the program"));
	assert_false(has_note(profile, "lie in no code"));
	portprof_profile_free(profile);
	assert_int_equal(portprof_gmon_read(file, NULL, 0, &profile),
			 PORTPROF_OK);
	assert_true(has_note(profile, "does not name the program"));
	assert_int_equal(portprof_profile_mapping_count(profile), 0);
	portprof_profile_free(profile);
	/* as glibc once wrote them of programs that can lie anywhere */
	gmon_begin(&made, false, 8);
	gmon_histogram(&made, 0x555555554000, 0x555555554008, 2, 100, "seconds",
	               bins);
	gmon_blocks(&made, 3, true);
	profile = read_well();
	assert_true(has_note(profile, "9 of 9 ticks lie in no code"));
	assert_true(has_note(profile, "3 basic blocks"));
	portprof_profile_free(profile);
}

static void what_does_not_fit_is_refused(void **state)
{
	static const uint16_t bins[2] = { 4, 5 };

	(void)state;
	gmon_begin(&made, true, 8);
	gmon_histogram(&made, LOW, LOW + 8, 2, 100, "seconds", bins);
	save(file, &made);
	make_elf(false, 8);
	read_badly(PORTPROF_E_FORMAT, "another machine");
	make_elf(true, 4);
	read_badly(PORTPROF_E_FORMAT, "at byte");
	elf.count = 3;
	save(program, &elf);
	read_badly(PORTPROF_E_FORMAT, "not an ELF file");
	unlink(program);
	read_badly(PORTPROF_E_NOTFOUND, "cannot open");
	make_elf(true, 8);
	made.count -= 1;
	save(file, &made);
	read_badly(PORTPROF_E_FORMAT, "at byte 61");
	unlink(file);
	read_badly(PORTPROF_E_NOTFOUND, "cannot read");
	assert_false(portprof_gmon_is(file));
	assert_false(portprof_gmon_is(folder));
	assert_false(portprof_gmon_is("/dev/null"));
	save(file, &elf);
	assert_false(portprof_gmon_is(file));
	read_badly(PORTPROF_E_FORMAT, "not a gmon.out");
}

/* Any program at all: it is read or refused, and what is read lies in it. */
static void mutants_of_a_program_do_no_harm(void **state)
{
	static struct gmon_bytes mutant;
	static const uint16_t bins[2] = { 4, 5 };
	uint64_t seed = 815;
	unsigned refused = 0;

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		portprof_profile *profile;
		unsigned changes = 1 + next(&seed) % 4;

		if (round % 200 == 0) {
			make_elf(round & 1, round & 2 ? 4 : 8);
			gmon_begin(&made, round & 1, round & 2 ? 4 : 8);
			gmon_histogram(&made, LOW, LOW + 8, 2, 100, "seconds",
			               bins);
			save(file, &made);
		}
		mutant = elf;
		while (changes-- > 0)
			mutant.bytes[next(&seed) % 0x120] =
				(unsigned char)next(&seed);
		save(program, &mutant);
		if (portprof_gmon_read(file, program, 0, &profile) !=
		    PORTPROF_OK) {
			refused++;
			continue;
		}
		assert_int_equal(total(profile, 0), 90000000);
		portprof_profile_free(profile);
	}
	assert_true(refused > 200);
}

/* ---- writing ---- */

static void write_well(const portprof_profile *profile,
                       const portprof_gmon_wanted *wanted,
                       portprof_gmon_written *written, struct ppi_gmon *gmon)
{
	static unsigned char bytes[1 << 20];
	struct ppi_gmon_why why;
	FILE *in;
	size_t count;

	written->size = sizeof(*written);
	if (portprof_gmon_write(profile, wanted, output, written) !=
	    PORTPROF_OK)
		fail_msg("%s", portprof_last_diag()->words);
	in = fopen(output, "rb");
	assert_non_null(in);
	count = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	if (ppi_gmon_parse(bytes, count, made.pointer, gmon, &why) !=
	    PPI_GMON_OK)
		fail_msg("%s", why.words);
}

static void write_badly(const portprof_profile *profile,
                        const portprof_gmon_wanted *wanted,
                        portprof_status status, const char *words)
{
	unlink(output);
	assert_int_equal(portprof_gmon_write(profile, wanted, output, NULL),
	                 status);
	if (!strstr(portprof_last_diag()->words, words))
		fail_msg("no \"%s\" in: %s", words,
		         portprof_last_diag()->words);
	assert_int_not_equal(access(output, F_OK), 0);
}

static uint64_t ticks_between(const struct ppi_gmon *gmon, uint64_t from,
                              uint64_t to)
{
	const struct ppi_gmon_histogram *all = gmon->histograms;
	uint64_t sum = 0;

	assert_int_equal(gmon->histogram_count, 1);
	for (size_t i = 0; i < all->bin_count; i++) {
		uint64_t at = all->low + 2 * i;

		if (at >= from && at < to)
			sum += ppi_gmon_bin(all, i);
	}
	return sum;
}

static bool is_big_machine(void)
{
	const uint16_t one = 1;

	return *(const unsigned char *)&one == 0;
}

/* Every tick is where it was, to one, and there is none more or less. A
 * second outside of the program's code is told apart. */
static void there_and_back_again(void **state)
{
	static uint16_t bins[CODE / 4];
	uint64_t seed = 4711;

	(void)state;
	for (unsigned form = 0; form < 12; form++) {
		static const uint16_t outside[1] = { 100 };
		portprof_gmon_wanted wanted = { .size = sizeof(wanted),
			                        .rate_hz = 100 };
		portprof_gmon_written written;
		portprof_profile *profile;
		struct ppi_gmon gmon;
		uint64_t ticks = 0;

		make_elf(form & 1, form & 2 ? 4 : 8);
		gmon_begin(&made, form & 1, form & 2 ? 4 : 8);
		for (unsigned i = 0; i < CODE / 4; i++)
			ticks += bins[i] = (uint16_t)(next(&seed) % 60000);
		/* an odd number of times: bins are halved */
		for (unsigned times = 0; times < 3; times++)
			gmon_histogram(&made, LOW, LOW + CODE, CODE / 4, 100,
			               "seconds", bins);
		gmon_histogram(&made, LOW + 0x100000, LOW + 0x100004, 1, 100,
		               "seconds", outside);
		profile = read_well();
		write_well(profile, &wanted, &written, &gmon);
		assert_int_equal(written.ticks, 3 * ticks);
		assert_int_equal(written.kept_weight, 3 * ticks * 10000000);
		assert_int_equal(written.outside_weight, 1000000000);
		assert_int_equal(written.bin_bytes, 2);
		assert_int_equal(written.rate, 100);
		assert_string_equal(written.dimension, "seconds");
		assert_int_equal(gmon.rate, 100);
		assert_int_equal(gmon.is_swapped,
		                 made.is_big != is_big_machine());
		for (unsigned i = 0; i < CODE / 4; i++) {
			uint64_t at = LOW + 4 * i;
			int64_t off =
				(int64_t)ticks_between(&gmon, at, at + 4) -
				3 * bins[i];

			assert_in_range(off + 1, 0, 2);
		}
		assert_int_equal(ticks_between(&gmon, LOW, LOW + CODE),
		                 3 * ticks);
		ppi_gmon_free(&gmon);
		portprof_profile_free(profile);
	}
}

static void what_cannot_be_written_is_refused(void **state)
{
	static const uint16_t bins[2] = { 4, 5 };
	portprof_gmon_wanted wanted = { .size = sizeof(wanted), .event = 1 };
	portprof_profile *profile;

	(void)state;
	make_elf(false, 8);
	gmon_begin(&made, false, 8);
	gmon_histogram(&made, LOW, LOW + 8, 2, 100, "seconds", bins);
	profile = read_well();
	write_badly(profile, &wanted, PORTPROF_E_INVALID, "no event number 1");
	wanted.event = 0;
	wanted.module = "libother.so";
	write_badly(profile, &wanted, PORTPROF_E_INVALID, ": app");
	wanted.module = "app";
	wanted.rate_hz = 1000001;
	write_badly(profile, &wanted, PORTPROF_E_INVALID, "1000001 ticks");
	wanted.rate_hz = 0;
	elf.bytes[0x300 + 16] ^= 1; /* built anew */
	save(program, &elf);
	write_badly(profile, &wanted, PORTPROF_E_FORMAT, "another build");
	unlink(program);
	write_badly(profile, &wanted, PORTPROF_E_NOTFOUND, "cannot open");
	make_elf(false, 8);
	assert_int_equal(portprof_gmon_write(profile, &wanted, folder, NULL),
	                 PORTPROF_E_INVALID);
	wanted.size = 0;
	write_badly(profile, &wanted, PORTPROF_E_INVALID, "size");
	wanted.size = sizeof(wanted);
	assert_int_equal(portprof_gmon_write(profile, &wanted, output, NULL),
	                 PORTPROF_OK);
	portprof_profile_free(profile);
	gmon_begin(&made, false, 8);
	gmon_histogram(&made, LOW, LOW + 8, 2, 1, "cycles", bins);
	profile = read_well();
	wanted.rate_hz = 100;
	write_badly(profile, &wanted, PORTPROF_E_INVALID, "time");
	portprof_profile_free(profile);
	assert_int_equal(portprof_gmon_read(file, NULL, 0, &profile),
			 PORTPROF_OK);
	wanted.rate_hz = 0;
	wanted.module = NULL;
	write_badly(profile, &wanted, PORTPROF_E_INVALID, "files of its samples");
	portprof_profile_free(profile);
}

/* More than 65535 in a bin, and events that are no time. */
static void many_ticks_are_all_there(void **state)
{
	uint64_t bins[2] = { UINT64_C(9000000000), UINT64_C(1000000000) };
	portprof_gmon_wanted wanted = { .size = sizeof(wanted) };
	portprof_gmon_written written;
	portprof_profile *profile;
	struct ppi_gmon gmon;

	(void)state;
	make_elf(false, 8);
	gmon_bsd(&made, false, 8, LOW, LOW + 4, 2, 0, 64, bins);
	profile = read_well();
	write_well(profile, &wanted, &written, &gmon);
	assert_string_equal(written.dimension, "Gticks");
	assert_int_equal(written.rate, 1000);
	assert_int_equal(ticks_between(&gmon, LOW, LOW + 2), 9000);
	assert_int_equal(ticks_between(&gmon, LOW + 2, LOW + CODE), 1000);
	ppi_gmon_free(&gmon);
	portprof_profile_free(profile);
	bins[0] = 1000000;
	bins[1] = 5;
	gmon_bsd(&made, false, 8, LOW, LOW + 4, 2, 1000, 64, bins);
	profile = read_well();
	write_well(profile, &wanted, &written, &gmon);
	assert_int_equal(written.rate, 1000);
	assert_int_equal(ticks_between(&gmon, LOW, LOW + 2), 1000000);
	ppi_gmon_free(&gmon);
	portprof_profile_free(profile);
	bins[0] = 10000000;
	gmon_bsd(&made, false, 8, LOW, LOW + 4, 2, 1000, 64, bins);
	profile = read_well();
	wanted.rate_hz = 1000000;
	write_badly(profile, &wanted, PORTPROF_E_LIMIT, "fewer ticks");
	portprof_profile_free(profile);
}

static void files_are_added_up(void **state)
{
	static const uint16_t bins[2] = { 4, 5 };
	portprof_profile *one, *other;

	(void)state;
	make_elf(false, 8);
	gmon_begin(&made, false, 8);
	gmon_histogram(&made, LOW, LOW + 8, 2, 100, "seconds", bins);
	one = read_well();
	gmon_begin(&made, false, 8);
	gmon_histogram(&made, LOW, LOW + 8, 2, 1000, "seconds", bins);
	other = read_well();
	assert_int_equal(portprof_profile_merge(one, other), PORTPROF_OK);
	assert_int_equal(total(one, 0), 99000000);
	assert_int_equal(portprof_profile_sample_count(one), 2);
	portprof_profile_free(one);
	portprof_profile_free(other);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_are_seconds_on_every_machine),
		cmocka_unit_test(parts_of_a_second_add_up),
		cmocka_unit_test(what_is_no_time_is_not_taken_for_it),
		cmocka_unit_test(what_is_unknown_is_said),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(mutants_of_a_program_do_no_harm),
		cmocka_unit_test(there_and_back_again),
		cmocka_unit_test(what_cannot_be_written_is_refused),
		cmocka_unit_test(many_ticks_are_all_there),
		cmocka_unit_test(files_are_added_up),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("gmon_profile", tests, set_up,
	                                   tear_down);
}
