/* SPDX-License-Identifier: MIT */
/* What a process belongs to: paths of cgroups as systems write them, and processes
 * of a made-up /proc. */
#include "config.h"

#include "tools/fleet/fleet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "8a9b0c1d-2e3f-4a5b-8c9d-0e1f2a3b4c5d"
#define POD_SYSTEMD "8a9b0c1d_2e3f_4a5b_8c9d_0e1f2a3b4c5d"

struct cgroup {
	const char *path, *service, *unit, *container, *pod;
};

static const struct cgroup cgroups[] = {
	{ "/system.slice/nginx.service", "nginx", "nginx", "", "" },
	{ "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1",
	  "getty@tty1", "", "" },
	{ "/system.slice/ssh.service/sub", "ssh", "ssh", "", "" },
	{ "/user.slice/user-1000.slice/session-12.scope", "session", "session",
	  "", "" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/"
	  "app-firefox-77.scope", "app-firefox-77", "app-firefox-77", "", "" },
	{ "/init.scope", "init", "init", "", "" },
	{ "/system.slice/docker-" HEX ".scope", "container-0123456789ab", "",
	  HEX, "" },
	{ "/docker/" HEX, "container-0123456789ab", "", HEX, "" },
	{ "/machine.slice/libpod-" HEX ".scope/container",
	  "container-0123456789ab", "", HEX, "" },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"
	  POD_SYSTEMD ".slice/cri-containerd-" HEX ".scope",
	  "container-0123456789ab", "", HEX, POD },
	{ "/kubepods/besteffort/pod" POD "/" HEX, "container-0123456789ab", "",
	  HEX, POD },
	{ "/kubepods/besteffort/pod" POD "/crio-" HEX,
	  "container-0123456789ab", "", HEX, POD },
	{ "/", NULL, "", "", "" },
	{ "", NULL, "", "", "" },
	{ "/podman/pod", NULL, "", "", "" },
	{ "/a.slice/b", NULL, "", "", "" },
};

static void test_cgroups(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cgroups) / sizeof(cgroups[0]); i++) {
		const struct cgroup *wanted = &cgroups[i];
		struct ppi_origin origin = { 0 };

		assert_int_equal(ppi_origin_of_cgroup(wanted->path, &origin),
		                 wanted->service != NULL);
		if (wanted->service)
			assert_string_equal(origin.service, wanted->service);
		assert_string_equal(ppi_tags_get(&origin.tags, "unit"),
		                    wanted->unit);
		assert_string_equal(ppi_tags_get(&origin.tags, "container_id"),
		                    wanted->container);
		assert_string_equal(ppi_tags_get(&origin.tags, "k8s_pod_uid"),
		                    wanted->pod);
		ppi_origin_free(&origin);
	}
}

/* ---- processes ---- */

static char root[] = "/tmp/portprof-origin.XXXXXX";

static void put(const char *name, const char *text, size_t bytes)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/7/%s", root, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
	char path[256];

	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof(path), "%s/proc", root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/7", root);
	return mkdir(path, 0700);
}

static int end(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void link_program(const char *program)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/proc/7/exe", root);
	unlink(path);
	assert_int_equal(symlink(program, path), 0);
}

static void assert_service(const char *service)
{
	struct ppi_origin origin;

	assert_true(ppi_origin_read(root, 7, &origin));
	assert_string_equal(origin.service, service);
	ppi_origin_free(&origin);
}

#define PUT(name, text) put(name, text, sizeof(text) - 1)

static void test_processes(void **state)
{
	static const char mixed[] =
		"12:memory:/docker/x\n1:name=systemd:/system.slice/a.service\n";
	static const char both[] =
		"1:name=systemd:/system.slice/a.service\n0::/b.slice/b.service\n";
	struct ppi_origin origin;

	(void)state;
	assert_false(ppi_origin_read(root, 8, &origin));
	PUT("comm", "kworker/0:1\n");
	assert_service("kernel");
	link_program("/usr/bin/worker (deleted)");
	assert_service("worker");
	link_program("/memfd:made (deleted)");
	assert_service("kworker/0:1");
	PUT("cgroup", "0::/\n");
	link_program("/usr/bin/worker");
	assert_service("worker");
	PUT("cgroup", mixed);
	assert_service("a");
	PUT("cgroup", both);
	assert_service("b");
	PUT("environ", "SECRET=x\0OTEL_SERVICE_NAME=\0");
	assert_service("b");
	PUT("environ", "OTEL_RESOURCE_ATTRIBUTES=service.name=c,"
	    "service.version=1.5,k8s.pod.name=p-1,password=x\0SECRET=y\0");
	assert_true(ppi_origin_read(root, 7, &origin));
	assert_string_equal(origin.service, "c");
	assert_string_equal(ppi_tags_get(&origin.tags, "version"), "1.5");
	assert_string_equal(ppi_tags_get(&origin.tags, "k8s_pod"), "p-1");
	assert_string_equal(ppi_tags_get(&origin.tags, "unit"), "b");
	/* and nothing else of it */
	assert_int_equal(origin.tags.list.count, 3);
	ppi_origin_free(&origin);
	PUT("environ", "OTEL_SERVICE_NAME=d\0"
	    "OTEL_RESOURCE_ATTRIBUTES=service.name=c\0");
	assert_service("d");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cgroups),
		cmocka_unit_test(test_processes),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
