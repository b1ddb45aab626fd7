/* SPDX-License-Identifier: MIT */
/* The command that brings debug symbols, on systems that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/tools/fake_root.h"
#include "tools/view/remedy.h"

static char root[64];

static void put(const char *path, const char *text)
{
	fake_root_put(root, path, text);
}

static int begin(void **state)
{
	(void)state;
	strcpy(root, "/tmp/portprof-remedy.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void is(const char *wanted, const char *path, bool has_client)
{
	char out[640];

	assert_string_equal(wanted, ppi_debug_remedy(root, path,
	                                             "report --debuginfod",
	                                             has_client, out,
	                                             sizeof(out)));
}

#define SERVER(name) \
	"DEBUGINFOD_URLS=https://debuginfod." name " portprof report --debuginfod"

static void put_debian(void)
{
	put("/etc/os-release", "PRETTY_NAME=\"Debian\"\nID=debian\n");
	put("/usr/lib/x86_64-linux-gnu/libz.so.1", "");
	put("/usr/lib/x86_64-linux-gnu/libc.so.6", "");
	put("/usr/bin/tool", "");
	/* by the name that it had before /lib was a link */
	put("/var/lib/dpkg/info/libc6:amd64.list",
	    "/.\n/lib\n/lib/x86_64-linux-gnu/libc.so.6\n");
	put("/var/lib/dpkg/info/zlib1g:amd64.list",
	    "/.\n/usr\n/usr/lib/x86_64-linux-gnu/libz.so.1\n");
	put("/var/lib/dpkg/info/tool-bin.list", "/.\n/usr/bin/tool\n");
	put("/var/lib/dpkg/info/tool-bin.md5sums", "/usr/bin/tool\n");
}

static void test_debian_without_archive(void **state)
{
	(void)state;
	put_debian();
	put("/etc/apt/sources.list",
	    "deb http://deb.debian.org/debian bookworm main\n"
	    " # deb http://deb.debian.org/debian-debug bookworm-debug main\n");
	put("/etc/apt/sources.list.d/other.sources", "URIs: http://x/debian\n");
	is(SERVER("debian.net"), "/usr/bin/tool", true);
	is("apt install libdebuginfod1; " SERVER("debian.net"),
	   "/usr/bin/tool", false);
}

static void test_debian(void **state)
{
	(void)state;
	put_debian();
	put("/etc/apt/sources.list.d/debug.sources",
	    "Types: deb\nURIs: http://deb.debian.org/debian-debug/\n"
	    "Suites: bookworm-debug\n");
	is("apt install zlib1g-dbgsym", "/usr/lib/x86_64-linux-gnu/libz.so.1",
	   true);
	is("apt install libc6-dbgsym", "/usr/lib/x86_64-linux-gnu/libc.so.6",
	   true);
	is("apt install tool-bin-dbgsym", "/usr/bin/tool", false);
	/* of another machine, or of no package */
	is(SERVER("debian.net"), NULL, true);
	is(SERVER("debian.net"), "/usr/bin/gone", true);
	put("/usr/bin/own", "");
	is(SERVER("debian.net"), "/usr/bin/own", true);
}

static void test_ubuntu(void **state)
{
	(void)state;
	put_debian();
	put("/etc/os-release", "ID=ubuntu\nID_LIKE=debian\n");
	is(SERVER("ubuntu.com"), "/usr/bin/tool", true);
	put("/etc/apt/sources.list",
	    "deb http://ddebs.ubuntu.com noble main\n");
	is("apt install tool-bin-dbgsym", "/usr/bin/tool", true);
}

static void test_fedora(void **state)
{
	(void)state;
	put("/etc/os-release", "ID=fedora\n");
	put("/usr/bin/dnf", "");
	put("/usr/lib64/libz.so.1", "");
	is("dnf debuginfo-install $(rpm -qf /usr/lib64/libz.so.1)",
	   "/usr/lib64/libz.so.1", true);
	is(SERVER("fedoraproject.org"), NULL, true);
	/* a path that a shell would run is in no command */
	put("/usr/lib64/$(harm)", "");
	is(SERVER("fedoraproject.org"), "/usr/lib64/$(harm)", true);
}

static void test_unknown(void **state)
{
	(void)state;
	is(SERVER("elfutils.org"), "/usr/bin/tool", true);
	is("with elfutils' libdebuginfod installed: " SERVER("elfutils.org"),
	   "/usr/bin/tool", false);
	put("/etc/os-release", "ID=manjaro\nID_LIKE=arch\n");
	is(SERVER("archlinux.org"), "/usr/bin/tool", true);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_debian_without_archive),
		CASE(test_debian),
		CASE(test_ubuntu),
		CASE(test_fedora),
		CASE(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
