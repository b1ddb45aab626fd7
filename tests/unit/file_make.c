/* SPDX-License-Identifier: MIT */
/*
 * Makes profile files for other programs to read, and prints what is in one.
 *
 *   file_make random SEED PORTIONS WHOLE  a random session in portions, and
 *                                         as it is at its end; prints what a
 *                                         reader must find in both
 *   file_make torn SEED OUT               the portions, less the last bytes
 *   file_make text FILE                   prints what portprof reads
 *   file_make repair FILE OUT             reads, and writes anew
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/file_model.h"

static struct file_kit kit;
static struct model model;

static void copy(const char *path, size_t less)
{
	size_t bytes;
	unsigned char *all = kit_load(kit.path, &bytes);

	kit_store(path, all, bytes - less);
	free(all);
}

static void make_session(uint64_t seed, const char *portions, size_t less,
                         const char *whole)
{
	kit_begin(&kit, 1 + seed % 3);
	model_begin(&model, seed, kit.plan.event_count);
	/* pprof takes all memory of one name and size for one */
	model.is_shared_only = true;
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	for (unsigned step = 0; step < 400; step++) {
		model_step(&model, &kit);
		if (step % 80 == 79)
			assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	}
	copy(portions, less);
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	if (whole)
		copy(whole, 0);
	kit_end(&kit);
}

static portprof_profile *read_or_die(const char *path)
{
	portprof_profile *profile;

	if (portprof_profile_read(path, 0, &profile) != PORTPROF_OK) {
		fprintf(stderr, "%s\n", portprof_last_diag()->words);
		exit(1);
	}
	return profile;
}

int main(int argc, char **argv)
{
	portprof_profile *profile;
	char *text;

	if (argc == 5 && strcmp(argv[1], "random") == 0) {
		make_session(strtoull(argv[2], NULL, 0), argv[3], 0, argv[4]);
		text = model_text(&model);
		fputs(text, stdout);
		free(text);
	} else if (argc == 4 && strcmp(argv[1], "torn") == 0) {
		make_session(strtoull(argv[2], NULL, 0), argv[3], 9, NULL);
	} else if (argc == 3 && strcmp(argv[1], "text") == 0) {
		profile = read_or_die(argv[2]);
		text = kit_text(profile);
		fputs(text, stdout);
		free(text);
		portprof_profile_free(profile);
	} else if (argc == 4 && strcmp(argv[1], "repair") == 0) {
		profile = read_or_die(argv[2]);
		if (portprof_profile_write(profile, argv[3]) != PORTPROF_OK)
			return 1;
		portprof_profile_free(profile);
	} else {
		return 2;
	}
	return 0;
}
