/* SPDX-License-Identifier: MIT */
/* The output path of a profile: what is refused, kept, and never harmed. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/file_kit.h"

static struct file_kit kit;

static int set_up(void **state)
{
	(void)state;
	kit_begin(&kit, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	kit_end(&kit);
	return 0;
}

static size_t count_files(void)
{
	DIR *folder = opendir(kit.folder);
	size_t count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count - 2; /* . and .. */
}

static void assert_holds(const char *path, const char *text)
{
	size_t bytes;
	unsigned char *all = kit_load(path, &bytes);

	assert_int_equal(bytes, strlen(text));
	assert_memory_equal(all, text, bytes);
	free(all);
}

static void what_was_there_is_kept_as_old(void **state)
{
	char old[160];

	(void)state;
	kit_store(kit.path, "before", 6);
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	assert_holds(kit.path, "before");
	kit_sample(&kit, 0, 100, 100, 0x10, 1, 1);
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	snprintf(old, sizeof(old), "%s.old", kit.path);
	assert_holds(old, "before");
	assert_int_equal(count_files(), 2);
	portprof_profile_free(kit_read(&kit));
}

static void a_session_never_started_changes_nothing(void **state)
{
	(void)state;
	kit_store(kit.path, "before", 6);
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	assert_int_equal(ppi_sink_file.flush(&kit.sink, &kit.run, NULL),
	                 PORTPROF_OK);
	assert_int_equal(ppi_sink_file.close(&kit.sink, &kit.run, NULL),
	                 PORTPROF_OK);
	assert_holds(kit.path, "before");
	assert_int_equal(count_files(), 1);
}

/* Another sink was refused, and the session was not opened. */
static void an_open_taken_back_changes_nothing(void **state)
{
	(void)state;
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	assert_int_equal(ppi_sink_file.close(&kit.sink, NULL, NULL),
	                 PORTPROF_OK);
	assert_int_equal(count_files(), 0);
}

static void started_but_never_sampled_is_a_file(void **state)
{
	portprof_profile *profile;

	(void)state;
	kit.run.start_realtime_ns = 1;
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	assert_int_equal(ppi_sink_file.close(&kit.sink, &kit.run, NULL),
	                 PORTPROF_OK);
	profile = kit_read(&kit);
	assert_int_equal(portprof_profile_sample_count(profile), 0);
	assert_true(portprof_profile_origin_get(profile)->is_complete);
	portprof_profile_free(profile);
}

/* Refused, in words that name the path, and nothing was left behind. */
static void assert_refused(portprof_status status, const char *word)
{
	struct ppi_diag why = { 0 };
	size_t files = count_files();

	assert_int_equal(kit_open(&kit, &why), status);
	assert_int_equal(why.status, status);
	assert_non_null(strstr(why.words, kit.request.path));
	if (!strstr(why.words, word))
		fail_msg("'%s' does not say '%s'", why.words, word);
	assert_int_equal(count_files(), files);
}

static void paths_that_cannot_be_are_refused(void **state)
{
	char path[sizeof(kit.path) + 32], old[sizeof(path) + 8];

	(void)state;
	kit.request.path = kit.folder;
	assert_refused(PORTPROF_E_INVALID, "is a folder");
	kit.request.path = path;
	snprintf(path, sizeof(path), "%s/none/out", kit.folder);
	assert_refused(PORTPROF_E_NOTFOUND, "create the folder");
	snprintf(path, sizeof(path), "%s/pipe", kit.folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(PORTPROF_E_INVALID, "pipe");
	snprintf(path, sizeof(path), "%s/out", kit.folder);
	snprintf(old, sizeof(old), "%s.old", path);
	assert_int_equal(mkdir(old, 0700), 0);
	assert_refused(PORTPROF_E_INVALID, "folder");
	snprintf(path, sizeof(path), "/dev/null");
	assert_refused(PORTPROF_E_INVALID, "device");
	/* the same words through the other door */
	portprof_profile_free(NULL);
}

static void links_are_written_through(void **state)
{
	char far[160], old[160], target[8];
	struct stat at;

	(void)state;
	kit_store(kit.path, "before", 6);
	snprintf(far, sizeof(far), "%s/far", kit.folder);
	assert_int_equal(symlink(strrchr(kit.path, '/') + 1, far), 0);
	kit.request.path = far;
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	kit_sample(&kit, 0, 100, 100, 0x10, 1, 1);
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	assert_true(readlink(far, target, sizeof(target)) > 0);
	portprof_profile_free(kit_read(&kit));
	snprintf(old, sizeof(old), "%s.old", kit.path);
	assert_holds(old, "before");
	assert_int_equal(count_files(), 3);
	/* what is not there yet is made where the link leads */
	assert_int_equal(unlink(kit.path) | unlink(old), 0);
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	kit_sample(&kit, 0, 100, 100, 0x10, 1, 1);
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	assert_int_equal(lstat(kit.path, &at), 0);
	assert_true(S_ISREG(at.st_mode));
}

static void links_that_lead_nowhere_are_refused(void **state)
{
	char far[160], number[64];
	int fd;

	(void)state;
	snprintf(far, sizeof(far), "%s/far", kit.folder);
	kit.request.path = far;
	assert_int_equal(symlink("far", far), 0);
	assert_refused(PORTPROF_E_INVALID, "link");
	unlink(far);
	assert_int_equal(symlink("/dev/null", far), 0);
	assert_refused(PORTPROF_E_INVALID, "device");
	unlink(far);
	/* a descriptor has a file, and perhaps a name that is another's now */
	kit_store(kit.path, "before", 6);
	fd = open(kit.path, O_RDONLY);
	snprintf(number, sizeof(number), "/dev/fd/%d", fd);
	assert_int_equal(symlink(number, far), 0);
	assert_refused(PORTPROF_E_INVALID, "regular file");
	close(fd);
	assert_refused(PORTPROF_E_INVALID, "not open");
	assert_holds(kit.path, "before");
}

static void others_links_in_a_shared_folder_are_refused(void **state)
{
	char far[160];

	(void)state;
	if (geteuid() != 0) {
		print_message("skip: needs root to make somebody else's link\n");
		skip();
	}
	snprintf(far, sizeof(far), "%s/far", kit.folder);
	kit_store(kit.path, "before", 6);
	assert_int_equal(symlink(kit.path, far), 0);
	assert_int_equal(lchown(far, 65534, 65534), 0);
	assert_int_equal(chmod(kit.folder, 01777), 0);
	kit.request.path = far;
	assert_refused(PORTPROF_E_DENIED, "another user");
	assert_holds(kit.path, "before");
}

static void a_folder_not_ours_is_refused(void **state)
{
	uid_t uid = geteuid();

	(void)state;
	assert_int_equal(chmod(kit.folder, 0555), 0);
	/* an ordinary user, when the test is not run by one */
	if (uid == 0)
		assert_int_equal(seteuid(65534), 0);
	assert_refused(PORTPROF_E_DENIED, "may write");
	if (uid == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(kit.folder, 0700), 0);
}

static void others_files_in_a_shared_folder_are_refused(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("skip: needs root to make somebody else's file\n");
		skip();
	}
	kit_store(kit.path, "theirs", 6);
	assert_int_equal(chmod(kit.folder, 01777), 0);
	assert_int_equal(seteuid(65534), 0);
	assert_refused(PORTPROF_E_DENIED, "another user");
	assert_int_equal(seteuid(0), 0);
	assert_holds(kit.path, "theirs");
}

/* The largest size that files may have from now on; 0 = any. */
static void limit_files(size_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static size_t file_size(void)
{
	struct stat at;

	assert_int_equal(stat(kit.path, &at), 0);
	return (size_t)at.st_size;
}

static void sample_many(uint64_t from, uint64_t count)
{
	for (uint64_t i = from; i < from + count; i++)
		kit_sample(&kit, 0, 100, 100, i * i, 1, 1);
	kit_deliver(&kit);
}

/* Where the disk is full for a while, nothing is lost. */
static void a_full_disk_is_waited_for(void **state)
{
	struct ppi_diag why = { 0 };
	portprof_profile *profile;
	size_t size;

	(void)state;
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	sample_many(0, 100);
	assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	size = file_size();
	limit_files(size);
	for (unsigned i = 1; i < 4; i++) {
		sample_many(i * 1000, 100);
		assert_int_equal(kit_flush(&kit, &why), PORTPROF_E_LIMIT);
		assert_non_null(strstr(why.words, kit.path));
		assert_int_equal(why.os_errno, EFBIG);
		assert_int_equal(file_size(), size);
		profile = kit_read(&kit);
		assert_null(portprof_profile_origin_get(profile)->damage);
		assert_int_equal(portprof_profile_sample_count(profile), 100);
		portprof_profile_free(profile);
	}
	assert_int_equal(kit.sink.stats.status, PORTPROF_E_LIMIT);
	limit_files(0);
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	assert_int_equal(kit.sink.stats.kept_samples, 400);
	assert_int_equal(kit.sink.stats.lost_samples, 0);
	profile = kit_read(&kit);
	assert_int_equal(portprof_profile_sample_count(profile), 400);
	portprof_profile_free(profile);
}

/* Where it stays full, what is not in the file is counted as lost. */
static void a_disk_full_to_the_end_loses_and_says_so(void **state)
{
	struct ppi_diag why = { 0 };
	portprof_profile *profile;

	(void)state;
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	sample_many(0, 100);
	assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	limit_files(file_size());
	sample_many(1000, 50);
	assert_int_equal(kit_flush(&kit, &why), PORTPROF_E_LIMIT);
	sample_many(2000, 30);
	assert_int_equal(kit_close(&kit, &why), PORTPROF_E_LIMIT);
	limit_files(0);
	assert_non_null(strstr(why.words, "80 samples"));
	assert_int_equal(kit.sink.stats.kept_samples, 100);
	assert_int_equal(kit.sink.stats.kept_weight, 100);
	assert_int_equal(kit.sink.stats.lost_samples, 80);
	assert_int_equal(kit.sink.stats.lost_weight, 80);
	profile = kit_read(&kit);
	assert_null(portprof_profile_origin_get(profile)->damage);
	assert_false(portprof_profile_origin_get(profile)->is_complete);
	assert_int_equal(portprof_profile_sample_count(profile), 100);
	portprof_profile_free(profile);
	assert_int_equal(count_files(), 1);
}

/* Memory is bounded then too: from some point on samples are refused. */
static void a_full_disk_does_not_fill_memory(void **state)
{
	portprof_profile *profile;

	(void)state;
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	kit_deliver(&kit);
	limit_files(file_size());
	sample_many(0, 200000);
	assert_true(kit.sink.stats.lost_samples > 100000);
	assert_int_equal(kit.sink.stats.lost_samples +
	                         kit.sink.stats.kept_samples,
	                 200000);
	assert_int_equal(kit.stats[0].kept_samples,
	                 kit.sink.stats.kept_samples);
	limit_files(0);
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_E_LIMIT);
	profile = kit_read(&kit);
	assert_int_equal(portprof_profile_sample_count(profile),
	                 kit.sink.stats.kept_samples);
	assert_false(portprof_profile_origin_get(profile)->is_complete);
	portprof_profile_free(profile);
}

static int run(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static int run(const char *format, ...)
{
	char command[512];
	va_list values;

	va_start(values, format);
	vsnprintf(command, sizeof(command), format, values);
	va_end(values);
	return system(command);
}

static int unmount(void **state)
{
	run("umount -l '%s' 2>/dev/null", kit.folder);
	return tear_down(state);
}

/* A real one, which takes as much of a portion as there is room for. */
static void a_disk_fills_in_the_middle_of_a_portion(void **state)
{
	portprof_profile *profile;
	unsigned part = 0;

	(void)state;
	if (geteuid() != 0 || run("mount -t tmpfs -o size=128k none '%s' "
	                          "2>/dev/null",
	                          kit.folder) != 0) {
		print_message("skip: needs the right to mount a small disk\n");
		skip();
	}
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	do
		sample_many(1000 * ++part, 1000);
	while (kit_flush(&kit, NULL) == PORTPROF_OK);
	assert_true(part > 2);
	assert_int_equal(kit.sink.stats.status, PORTPROF_E_LIMIT);
	assert_int_equal(kit.sink.stats.os_errno, ENOSPC);
	profile = kit_read(&kit);
	assert_null(portprof_profile_origin_get(profile)->damage);
	assert_int_equal(portprof_profile_sample_count(profile),
	                 1000 * (part - 1));
	portprof_profile_free(profile);
	assert_int_equal(run("mount -o remount,size=1m '%s'", kit.folder), 0);
	sample_many(0, 1000);
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	assert_int_equal(kit.sink.stats.lost_samples, 0);
	profile = kit_read(&kit);
	assert_int_equal(portprof_profile_sample_count(profile),
	                 1000 * (part + 1));
	portprof_profile_free(profile);
}

static void a_forked_child_leaves_the_file_alone(void **state)
{
	portprof_profile *profile;
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	for (unsigned round = 0; round < 2; round++) {
		child = fork();
		assert_true(child >= 0);
		if (child == 0) /* first the draft, then the file */
			_exit(ppi_sink_file.close(&kit.sink, NULL, NULL));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		sample_many(round * 1000, 10);
	}
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	profile = kit_read(&kit);
	assert_int_equal(portprof_profile_sample_count(profile), 20);
	portprof_profile_free(profile);
}

static void a_file_put_in_our_place_stays(void **state)
{
	(void)state;
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	sample_many(0, 10);
	assert_int_equal(unlink(kit.path), 0);
	kit_store(kit.path, "theirs", 6);
	kit_close(&kit, NULL);
	assert_holds(kit.path, "theirs");
	assert_int_equal(count_files(), 1);
}

static void sleep_us(long us)
{
	nanosleep(&(struct timespec){ 0, us * 1000 }, NULL);
}

/* What was flushed is there, whenever the end comes. */
static void killed_at_any_moment_it_can_be_read(void **state)
{
	uint64_t seed = 88172645463325252u;
	int pipes[2];

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		portprof_profile *profile;
		uint32_t flushed = 0, last = 0;
		pid_t child;

		assert_int_equal(pipe(pipes), 0);
		child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			kit_open(&kit, NULL);
			for (uint32_t i = 1;; i++) {
				sample_many(i * 1000, 20);
				kit_flush(&kit, NULL);
				if (write(pipes[1], &i, sizeof(i)) < 0)
					_exit(1);
			}
		}
		close(pipes[1]);
		/* not before there is something to be read */
		assert_int_equal(read(pipes[0], &last, sizeof(last)),
		                 sizeof(last));
		sleep_us((long)kit_below(&seed, 3000));
		assert_int_equal(kill(child, SIGKILL), 0);
		while (read(pipes[0], &flushed, sizeof(flushed)) ==
		       sizeof(flushed))
			last = flushed;
		close(pipes[0]);
		assert_int_equal(waitpid(child, NULL, 0), child);
		profile = kit_read(&kit);
		assert_true(portprof_profile_sample_count(profile) >=
		            20 * last);
		portprof_profile_free(profile);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_was_there_is_kept_as_old),
		CASE(a_session_never_started_changes_nothing),
		CASE(an_open_taken_back_changes_nothing),
		CASE(started_but_never_sampled_is_a_file),
		CASE(links_are_written_through),
		CASE(links_that_lead_nowhere_are_refused),
		CASE(others_links_in_a_shared_folder_are_refused),
		CASE(paths_that_cannot_be_are_refused),
		CASE(a_folder_not_ours_is_refused),
		CASE(others_files_in_a_shared_folder_are_refused),
		CASE(a_full_disk_is_waited_for),
		CASE(a_disk_full_to_the_end_loses_and_says_so),
		CASE(a_full_disk_does_not_fill_memory),
		cmocka_unit_test_setup_teardown(
			a_disk_fills_in_the_middle_of_a_portion, set_up,
			unmount),
		CASE(a_forked_child_leaves_the_file_alone),
		CASE(a_file_put_in_our_place_stays),
		CASE(killed_at_any_moment_it_can_be_read),
	};

	return cmocka_run_group_tests_name("file_output", tests, NULL, NULL);
}
