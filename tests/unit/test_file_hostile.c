/* SPDX-License-Identifier: MIT */
/* Files that are none, never end, or become more than anybody has memory for:
 * each is refused soon, and what refusing took is measured. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <portprof.h>

static char folder[] = "/tmp/portprof-hostile-XXXXXX";

enum { SECONDS = 100, MIB = 1 << 20 };

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	static const char *const files[] = { "fifo", "sparse", "bomb",
		                             "member", "plain", NULL };

	(void)state;
	for (size_t i = 0; files[i]; i++)
		unlink(files[i]);
	return chdir("/") == 0 ? rmdir(folder) : -1;
}

/* ---- one reading, in a process of its own ---- */

typedef portprof_status read_fn(const char *path, uint64_t memory_max);

static portprof_status read_profile(const char *path, uint64_t memory_max)
{
	portprof_profile *profile;
	portprof_status status =
		portprof_profile_read(path, memory_max, &profile);

	if (status == PORTPROF_OK)
		portprof_profile_free(profile);
	return status;
}

static portprof_status read_gmon(const char *path, uint64_t memory_max)
{
	portprof_profile *profile;
	portprof_status status =
		portprof_gmon_read(path, NULL, memory_max, &profile);

	if (status == PORTPROF_OK)
		portprof_profile_free(profile);
	return status;
}

static portprof_status read_program(const char *path, uint64_t memory_max)
{
	static const unsigned char empty[] = { 'g', 'm', 'o', 'n', 1, 0, 0, 0,
		                               0, 0, 0, 0, 0, 0, 0, 0,
		                               0, 0, 0, 0 };
	FILE *file = fopen("plain", "w");
	portprof_profile *profile;
	portprof_status status;

	fwrite(empty, 1, sizeof(empty), file);
	fclose(file);
	status = portprof_gmon_read("plain", path, memory_max, &profile);
	if (status == PORTPROF_OK)
		portprof_profile_free(profile);
	return status;
}

static portprof_status read_config(const char *path, uint64_t memory_max)
{
	portprof_config *config = portprof_config_new();
	portprof_status status = portprof_config_load(config, path, NULL);

	(void)memory_max;
	portprof_config_free(config);
	return status;
}

/* The status; the most memory that it took goes to *bytes. */
static portprof_status read_apart(read_fn *read_it, const char *path,
                                  uint64_t memory_max, uint64_t *bytes)
{
	struct rusage before, after;
	int wait_status;
	pid_t child;

	child = fork();
	if (child == 0)
		_exit(0);
	assert_int_equal(wait4(child, &wait_status, 0, &before), child);
	child = fork();
	if (child == 0) {
		alarm(SECONDS);
		_exit(-read_it(path, memory_max));
	}
	assert_int_equal(wait4(child, &wait_status, 0, &after), child);
	assert_true(WIFEXITED(wait_status));
	if (bytes)
		*bytes = (uint64_t)(after.ru_maxrss - before.ru_maxrss) * 1024;
	return (portprof_status)-WEXITSTATUS(wait_status);
}

/* A sanitizer takes memory of its own; arrays grow by doubling. */
static void assert_within(uint64_t taken, uint64_t limit)
{
	const char *sanitizers = getenv("PP_SANITIZERS");

	if (sanitizers && strcmp(sanitizers, "no") != 0)
		return;
	if (taken > 2 * limit)
		fail_msg("%llu MiB were taken, of %llu",
		         (unsigned long long)taken / MIB,
		         (unsigned long long)limit / MIB);
}

/* ---- what is no regular file ---- */

static void what_is_no_file_is_not_opened(void **state)
{
	static const struct {
		read_fn *read_it;
		portprof_status expected;
	} readers[] = {
		{ read_profile, PORTPROF_E_FORMAT },
		{ read_gmon, PORTPROF_E_FORMAT },
		{ read_program, PORTPROF_E_FORMAT },
		{ read_config, PORTPROF_E_INVALID },
	};
	static const char *const paths[] = { "fifo", ".", "/dev/zero",
		                             "/dev/ptmx" };

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
		for (size_t p = 0; p < sizeof(paths) / sizeof(paths[0]); p++) {
			portprof_status status = read_apart(
				readers[i].read_it, paths[p], 0, NULL);

			if (status != readers[i].expected &&
			    status != PORTPROF_E_NOTFOUND)
				fail_msg("reader %zu of '%s': %d", i, paths[p],
				         (int)status);
		}
	assert_int_equal(portprof_gmon_is("fifo"), 0);
}

/* Nobody sees that a FIFO was looked at: its writer still waits. */
static void a_fifo_keeps_its_writer_waiting(void **state)
{
	(void)state;
	assert_int_equal(read_apart(read_profile, "fifo", 0, NULL),
	                 PORTPROF_E_FORMAT);
	assert_int_equal(open("fifo", O_WRONLY | O_NONBLOCK), -1);
}

static void a_pipe_that_was_handed_over_is_read(void **state)
{
	char path[32];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "no profile", 10), 10);
	close(ends[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	assert_int_equal(read_apart(read_profile, path, 0, NULL),
	                 PORTPROF_E_FORMAT);
	/* it was read, not only looked at */
	assert_int_equal(read(ends[0], path, 1), 0);
	close(ends[0]);
}

/* ---- what never ends ---- */

static void an_endless_file_is_refused_at_once(void **state)
{
	int fd = open("sparse", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	uint64_t taken;

	(void)state;
	assert_true(fd >= 0);
	if (ftruncate(fd, (off_t)100 << 30) != 0)
		skip();
	assert_int_equal(read_apart(read_profile, "sparse", 0, &taken),
	                 PORTPROF_E_LIMIT);
	assert_within(taken, 8 * MIB);
	assert_int_equal(read_apart(read_gmon, "sparse", 0, &taken),
	                 PORTPROF_E_LIMIT);
	assert_within(taken, 8 * MIB);
	assert_int_equal(read_apart(read_config, "sparse", 0, &taken),
	                 PORTPROF_E_LIMIT);
	assert_within(taken, 8 * MIB);
	assert_int_not_equal(read_apart(read_program, "sparse", 0, &taken),
	                     PORTPROF_OK);
	assert_within(taken, 8 * MIB);

	/* a hole behind something good */
	assert_int_equal(pwrite(fd, "gmon\1\0\0\0", 8, 0), 8);
	assert_int_equal(read_apart(read_gmon, "sparse", 0, &taken),
	                 PORTPROF_E_LIMIT);
	assert_within(taken, 8 * MIB);
	close(fd);
}

/* ---- what becomes much ---- */

/* `count` times a piece of protobuf, behind a head, as gzip members. */
struct bomb {
	const char *head, *piece;
	size_t head_bytes, piece_bytes, count;
	unsigned members;
};

static uint64_t make_bomb(const struct bomb *bomb)
{
	struct stat at;

	unlink("bomb");
	for (unsigned m = 0; m < bomb->members; m++) {
		gzFile out = gzopen("bomb", "a9");

		assert_non_null(out);
		if (m == 0)
			gzwrite(out, bomb->head, (unsigned)bomb->head_bytes);
		for (size_t i = 0; i < bomb->count; i++)
			gzwrite(out, bomb->piece, (unsigned)bomb->piece_bytes);
		assert_int_equal(gzclose(out), Z_OK);
	}
	assert_int_equal(stat("bomb", &at), 0);
	return (uint64_t)at.st_size;
}

/* types samples/count, strings "", "a"; enough to be a profile */
#define HEAD "\x0a\x04\x08\x01\x10\x01\x32\x00\x32\x01" "a"

/* What one byte makes most of, of each kind. */
static const struct bomb bombs[] = {
	{ HEAD, "\x1a\x00", sizeof(HEAD) - 1, 2, 6000000, 1 }, /* mappings */
	{ HEAD, "\x22\x00", sizeof(HEAD) - 1, 2, 6000000, 1 }, /* locations */
	{ HEAD, "\x2a\x00", sizeof(HEAD) - 1, 2, 6000000, 1 }, /* functions */
	{ HEAD, "\x12\x03\x12\x01\x00", sizeof(HEAD) - 1, 5, 8000000, 1 },
	{ HEAD, "\x32\x00", sizeof(HEAD) - 1, 2, 12000000, 1 }, /* strings */
	{ HEAD, "\x68\x00", sizeof(HEAD) - 1, 2, 30000000, 1 }, /* comments */
	{ HEAD, "\xca\x3e\x00", sizeof(HEAD) - 1, 3, 6000000, 1 }, /* threads */
	/* no member is large */
	{ HEAD, "\x1a\x00", sizeof(HEAD) - 1, 2, 10000, 600 },
};

static void no_small_file_takes_much_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bombs) / sizeof(bombs[0]); i++) {
		uint64_t bytes = make_bomb(&bombs[i]), taken;

		/* of what would be 64 MiB and more */
		assert_true(bytes * 256 < 64 * MIB);
		if (read_apart(read_profile, "bomb", 0, &taken) !=
		    PORTPROF_E_LIMIT)
			fail_msg("bomb %zu was read", i);
		assert_within(taken, 64 * MIB);
	}
}

/* One message of 64 MiB, all of it parts that are empty. */
static void no_single_message_takes_much(void **state)
{
	static const unsigned char locations[] = { 0x22, 0x80, 0x80, 0x80,
		                                   0x1f };
	static const unsigned char account[] = { 0xc2, 0x3e, 0x80, 0x80, 0x80,
		                                 0x1f };
	const struct bomb lines = { (const char *)locations, "\x22\x00",
		                    sizeof(locations), 2, 65011712 / 2, 1 };
	const struct bomb events = { (const char *)account, "\x32\x02\x3a\x00",
		                     sizeof(account), 4, 65011712 / 4, 1 };
	uint64_t taken;

	(void)state;
	make_bomb(&lines);
	assert_int_equal(read_apart(read_profile, "bomb", 0, &taken),
	                 PORTPROF_E_LIMIT);
	assert_within(taken, 64 * MIB);
	make_bomb(&events);
	assert_int_equal(read_apart(read_profile, "bomb", 0, &taken),
	                 PORTPROF_E_LIMIT);
	assert_within(taken, 64 * MIB);
}

static void the_limit_can_be_raised_and_lowered(void **state)
{
	const struct bomb samples = { HEAD, "\x12\x03\x12\x01\x01",
		                      sizeof(HEAD) - 1, 5, 5000000, 1 };

	(void)state;
	make_bomb(&samples);
	assert_int_equal(read_apart(read_profile, "bomb", 0, NULL),
	                 PORTPROF_E_LIMIT);
	assert_int_equal(read_apart(read_profile, "bomb", (uint64_t)1 << 30,
	                            NULL),
	                 PORTPROF_OK);
	assert_int_equal(read_apart(read_profile, "bomb", MIB, NULL),
	                 PORTPROF_E_LIMIT);
}

/* Each bin of two bytes becomes a sample. */
static void a_gmon_does_not_take_much(void **state)
{
	enum { BINS = 2 << 20 };
	unsigned char head[] = { 'g', 'm', 'o', 'n', 1, 0, 0, 0, 0, 0,
		                 0,   0,   0,   0,   0, 0, 0, 0, 0, 0,
		                 0, /* a histogram from 0x1000 on */
		                 0,   0x10, 0, 0, 0, 0, 0, 0,
		                 0,   0x10, 0, 1, 0, 0, 0, 0,
		                 0,   0,    0x20, 0, 100, 0, 0, 0,
		                 's', 'e', 'c', 'o', 'n', 'd', 's', 0,
		                 0,   0,   0,   0,   0,   0,   0, 's' };
	unsigned char *bins = malloc(2 * BINS);
	FILE *file = fopen("plain", "w");
	uint64_t taken;

	(void)state;
	memset(bins, 1, 2 * BINS);
	assert_int_equal(fwrite(head, 1, sizeof(head), file), sizeof(head));
	assert_int_equal(fwrite(bins, 1, 2 * BINS, file), 2 * BINS);
	fclose(file);
	free(bins);
	assert_int_equal(read_apart(read_gmon, "plain", 0, NULL), PORTPROF_OK);
	assert_int_equal(read_apart(read_gmon, "plain", 100 * MIB, &taken),
	                 PORTPROF_E_LIMIT);
	assert_within(taken, 100 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_file_is_not_opened),
		cmocka_unit_test(a_fifo_keeps_its_writer_waiting),
		cmocka_unit_test(a_pipe_that_was_handed_over_is_read),
		cmocka_unit_test(an_endless_file_is_refused_at_once),
		cmocka_unit_test(no_small_file_takes_much_memory),
		cmocka_unit_test(no_single_message_takes_much),
		cmocka_unit_test(the_limit_can_be_raised_and_lowered),
		cmocka_unit_test(a_gmon_does_not_take_much),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
