/* SPDX-License-Identifier: MIT */
/*
 * Configuration files: where they are looked for, what is refused, and where
 * each setting came from. Built with "etc" for the system's folder.
 */

#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/core/session_config.h"

static char folder[] = "/tmp/portprof-config-XXXXXX";
static portprof_config *config;

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
	(void)state;
	unsetenv("PORTPROF_CONFIG");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
	config = portprof_config_new();
	return config ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	portprof_config_free(config);
	/* a case that failed may have left these */
	if (getuid() == 0 && seteuid(0))
		return -1;
	chmod("xdg", 0755);
	chmod("home", 0755);
	remove("etc/portprof.conf");
	remove("home/.config/portprof/portprof.conf");
	remove("xdg/portprof/portprof.conf");
	remove("file");
	return 0;
}

static const char *words(void)
{
	return portprof_last_diag()->words;
}

static void set_home(const char *variable, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	setenv(variable, path, 1);
}

static void assert_frequency(uint64_t hz)
{
	if (portprof_config_load(config, NULL, NULL))
		fail_msg("%s", words());
	assert_int_equal(config->number[PPI_KEY_FREQUENCY], hz);
}

static void nearer_places_come_first(void **state)
{
	(void)state;
	write_file("etc/portprof.conf", "frequency = 1\n");
	assert_frequency(1);
	write_file("home/.config/portprof/portprof.conf", "frequency = 2\n");
	assert_frequency(1);
	set_home("HOME", "home");
	assert_frequency(2);
	write_file("xdg/portprof/portprof.conf", "frequency = 3\n");
	set_home("XDG_CONFIG_HOME", "xdg");
	assert_frequency(3);
	write_file("file", "frequency = 4\n");
	setenv("PORTPROF_CONFIG", "file", 1);
	assert_frequency(4);
}

static void empty_or_relative_variables_do_not_count(void **state)
{
	(void)state;
	write_file("etc/portprof.conf", "frequency = 1\n");
	write_file("xdg/portprof/portprof.conf", "frequency = 3\n");
	setenv("XDG_CONFIG_HOME", "xdg", 1);
	setenv("PORTPROF_CONFIG", "", 1);
	setenv("HOME", "", 1);
	assert_frequency(1);
	/* a folder that is set but holds no file is passed by */
	set_home("XDG_CONFIG_HOME", "nowhere");
	assert_frequency(1);
}

/* Who reads whatever there is may not be hindered by modes: become nobody. */
static bool drop_rights(void)
{
	return geteuid() != 0 ||
	       (chmod(folder, 0711) == 0 && chmod("etc", 0755) == 0 &&
	        seteuid(65534) == 0);
}

static void take_rights_back(void)
{
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
}

static void a_folder_out_of_reach_is_passed_by(void **state)
{
	static const char *const places[][2] = {
		{ "XDG_CONFIG_HOME", "xdg" }, { "HOME", "home" }
	};

	(void)state;
	write_file("etc/portprof.conf", "frequency = 1\n");
	write_file("xdg/portprof/portprof.conf", "frequency = 3\n");
	write_file("home/.config/portprof/portprof.conf", "frequency = 2\n");
	for (size_t i = 0; i < 2; i++) {
		set_home(places[i][0], places[i][1]);
		assert_int_equal(chmod(places[i][1], 0), 0);
		if (drop_rights())
			assert_frequency(1);
		take_rights_back();
		assert_int_equal(chmod(places[i][1], 0755), 0);
		unsetenv(places[i][0]);
	}
}

static void assert_denied(void)
{
	portprof_status status = PORTPROF_E_DENIED;

	if (drop_rights())
		status = portprof_config_load(config, NULL, NULL);
	take_rights_back();
	assert_int_equal(status, PORTPROF_E_DENIED);
}

static void a_file_that_cannot_be_read_is_told(void **state)
{
	(void)state;
	write_file("xdg/portprof/portprof.conf", "frequency = 3\n");
	set_home("XDG_CONFIG_HOME", "xdg");
	assert_int_equal(chmod("xdg", 0755), 0);
	assert_int_equal(chmod("xdg/portprof", 0755), 0);
	assert_int_equal(chmod("xdg/portprof/portprof.conf", 0), 0);
	assert_denied();
	assert_non_null(strstr(words(), "xdg/portprof/portprof.conf': "));
	/* one that was named is told wherever it is */
	setenv("PORTPROF_CONFIG", "xdg/portprof/portprof.conf", 1);
	assert_int_equal(chmod("xdg", 0), 0);
	assert_denied();
	assert_int_equal(chmod("xdg", 0755), 0);
}

static void no_file_at_all_is_told(void **state)
{
	(void)state;
	assert_int_equal(portprof_config_load(config, NULL, NULL),
	                 PORTPROF_E_NOTFOUND);
	assert_non_null(strstr(words(), "PORTPROF_CONFIG"));
	assert_non_null(strstr(words(), "etc/portprof.conf"));
}

static void a_named_file_must_be_there(void **state)
{
	(void)state;
	write_file("etc/portprof.conf", "frequency = 1\n");
	assert_int_equal(portprof_config_load(config, "no/such.conf", NULL),
	                 PORTPROF_E_NOTFOUND);
	assert_int_equal(portprof_last_diag()->os_errno, ENOENT);
	assert_non_null(strstr(words(), "'no/such.conf'"));
	setenv("PORTPROF_CONFIG", "no/other.conf", 1);
	assert_int_equal(portprof_config_load(config, NULL, NULL),
	                 PORTPROF_E_INVALID);
	assert_non_null(strstr(words(), "'no/other.conf'"));
	assert_int_equal(config->number[PPI_KEY_FREQUENCY], 100);
}

static void what_is_no_configuration_file_is_refused(void **state)
{
	(void)state;
	assert_int_equal(portprof_config_load(config, "home", NULL),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_last_diag()->os_errno, EISDIR);
	assert_int_equal(portprof_config_load(config, "/dev/zero", NULL),
	                 PORTPROF_E_INVALID);
	assert_non_null(strstr(words(), "'/dev/zero'"));
	write_file("file", "frequency = 5\n");
	assert_int_equal(truncate("file", (1 << 20) + 1), 0);
	assert_int_equal(portprof_config_load(config, "file", NULL),
	                 PORTPROF_E_LIMIT);
	assert_int_equal(truncate("file", 20), 0);
	assert_int_equal(portprof_config_load(config, "file", NULL),
	                 PORTPROF_E_INVALID);
	assert_non_null(strstr(words(), "file:2:1: the control character "
	                                "0x00"));
	if (geteuid() != 0) {
		assert_int_equal(chmod("file", 0), 0);
		assert_int_equal(portprof_config_load(config, "file", NULL),
		                 PORTPROF_E_DENIED);
	}
	assert_int_equal(portprof_config_load(config, "/dev/null", NULL),
	                 PORTPROF_OK);
}

/* A pipe, as a shell's <(...) makes, tells its length by its end. */
static void a_pipe_is_read_to_its_end(void **state)
{
	int ends[2];
	char path[32];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "frequency = 77\n", 15), 15);
	close(ends[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	if (access(path, R_OK) == 0) {
		assert_int_equal(portprof_config_load(config, path, NULL),
		                 PORTPROF_OK);
		assert_int_equal(config->number[PPI_KEY_FREQUENCY], 77);
	}
	close(ends[0]);
}

static void mistakes_name_the_file_that_was_found(void **state)
{
	char place[256];

	(void)state;
	write_file("xdg/portprof/portprof.conf", "[hot]\nfrequenci = 3\n");
	set_home("XDG_CONFIG_HOME", "xdg");
	assert_int_equal(portprof_config_load(config, NULL, "hot"),
	                 PORTPROF_E_INVALID);
	snprintf(place, sizeof(place), "%s/xdg/portprof/portprof.conf:2:1: "
	         "there is no setting 'frequenci'", folder);
	assert_memory_equal(words(), place, strlen(place));
}

static void every_setting_knows_where_it_came_from(void **state)
{
	portprof_config *copy;

	(void)state;
	assert_string_equal(ppi_config_origin(config, PPI_KEY_FREQUENCY, 0),
	                    "default");
	assert_string_equal(ppi_config_origin(config, PPI_KEY_EVENT, 0),
	                    "default");
	assert_int_equal(portprof_config_add_event(config, "cs"), 0);
	assert_int_equal(portprof_config_set_frequency(config, 5), 0);
	write_file("file", "event = cycles,{faults,cs}\n\nring = 64K\n"
	           "[hot]\nperiod = 7\n");
	assert_int_equal(portprof_config_load(config, "file", "hot"), 0);
	copy = ppi_config_copy(config);
	assert_non_null(copy);
	assert_string_equal(ppi_config_origin(copy, PPI_KEY_EVENT, 0),
	                    "the program");
	for (size_t i = 1; i < 3; i++)
		assert_string_equal(ppi_config_origin(copy, PPI_KEY_EVENT, i),
		                    "file:1");
	assert_string_equal(ppi_config_origin(copy, PPI_KEY_RING, 0),
	                    "file:3");
	assert_string_equal(ppi_config_origin(copy, PPI_KEY_PERIOD, 0),
	                    "file:5");
	assert_string_equal(ppi_config_origin(copy, PPI_KEY_FREQUENCY, 0),
	                    "default");
	assert_string_equal(ppi_config_origin(copy, PPI_KEY_BACKEND, 0),
	                    "default");
	portprof_config_free(copy);
	assert_int_equal(portprof_config_set_period(config, 9), 0);
	assert_string_equal(ppi_config_origin(config, PPI_KEY_PERIOD, 0),
	                    "the program");
}

static int enter_folder(void **state)
{
	static const char *const folders[] = {
		"etc", "home", "home/.config", "home/.config/portprof", "xdg",
		"xdg/portprof",
	};

	(void)state;
	if (!mkdtemp(folder) || chdir(folder))
		return -1;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (mkdir(folders[i], 0700))
			return -1;
	return 0;
}

static int leave_folder(void **state)
{
	(void)state;
	rmdir("xdg/portprof");
	rmdir("xdg");
	rmdir("home/.config/portprof");
	rmdir("home/.config");
	rmdir("home");
	rmdir("etc");
	return chdir("/") || rmdir(folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nearer_places_come_first),
		TEST(empty_or_relative_variables_do_not_count),
		TEST(a_folder_out_of_reach_is_passed_by),
		TEST(a_file_that_cannot_be_read_is_told),
		TEST(no_file_at_all_is_told),
		TEST(a_named_file_must_be_there),
		TEST(what_is_no_configuration_file_is_refused),
		TEST(a_pipe_is_read_to_its_end),
		TEST(mistakes_name_the_file_that_was_found),
		TEST(every_setting_knows_where_it_came_from),
	};

	return cmocka_run_group_tests_name("config_file", tests, enter_folder,
	                                   leave_folder);
}
