/* SPDX-License-Identifier: MIT */
/*
 * The control group of a unit or a container, in trees as systemd, docker,
 * podman, containerd and kubelet make them, in both versions of cgroups.
 */
#include <errno.h>
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

#include "tools/targets/cgroup_find.h"

#define ID_A "3f1c0e5b7a9d2468ace013579bdf02468ace13579bdf02468ace13579bdf0246"
#define ID_B "3f1c99997a9d2468ace013579bdf02468ace13579bdf02468ace13579bdf0246"
#define ID_C "aabbccdd7a9d2468ace013579bdf02468ace13579bdf02468ace13579bdf0246"
#define POD "kubepods-burstable-pod0d1e2f3a_0000_1111_2222_333344445555"

static char root[] = "/tmp/cgroup-find-XXXXXX";

static int make_root(void **state)
{
	(void)state;
	memcpy(strrchr(root, '-'), "-XXXXXX", 8);
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

/* A folder below the root, with all above it. */
static void make_folder(const char *path)
{
	char whole[1024];

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	for (char *at = strchr(whole + strlen(root) + 1, '/'); at;
	     at = strchr(at + 1, '/')) {
		*at = '\0';
		assert_true(mkdir(whole, 0700) == 0 || errno == EEXIST);
		*at = '/';
	}
	assert_true(mkdir(whole, 0700) == 0 || errno == EEXIST);
}

static void make_file(const char *folder, const char *name, const char *text)
{
	char whole[1024];
	FILE *file;

	make_folder(folder);
	snprintf(whole, sizeof(whole), "%s/%s/%s", root, folder, name);
	file = fopen(whole, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void make_version_2(void)
{
	make_file("sys/fs/cgroup", "cgroup.controllers", "cpu memory\n");
}

static void make_version_1(void)
{
	make_file("sys/fs/cgroup/perf_event", "cgroup.procs", "1\n");
	make_file("sys/fs/cgroup/systemd", "cgroup.procs", "1\n");
}

/* That `wanted` is the group `folder` below /sys/fs/cgroup. */
static void finds(enum ppi_cgroup_kind kind, const char *wanted,
                  const char *folder, bool is_for_perf)
{
	struct ppi_cgroup_found found;
	char whole[1024];

	if (!ppi_cgroup_find(root, kind, wanted, &found))
		fail_msg("%s: %s", wanted, found.words);
	snprintf(whole, sizeof(whole), "%s/sys/fs/cgroup/%s", root, folder);
	assert_string_equal(found.folder, whole);
	assert_int_equal(found.is_for_perf, is_for_perf);
	/* what is missing, and the remedy */
	assert_int_equal(strstr(found.words, "perf_event") != NULL &&
	                 strstr(found.words, "unified_cgroup_hierarchy"),
	                 !is_for_perf);
}

static void finds_none(enum ppi_cgroup_kind kind, const char *wanted,
                       const char *hint)
{
	struct ppi_cgroup_found found;

	assert_false(ppi_cgroup_find(root, kind, wanted, &found));
	if (!strstr(found.words, hint))
		fail_msg("%s: %s", wanted, found.words);
}

static void units_of_version_2(void **state)
{
	const char *user = "user.slice/user-1000.slice/user@1000.service/"
			   "app.slice/app-web.service";
	char path[256];

	(void)state;
	make_version_2();
	make_folder("sys/fs/cgroup/init.scope");
	make_folder("sys/fs/cgroup/system.slice/nginx.service");
	make_folder("sys/fs/cgroup/system.slice/system-postgresql.slice/"
	            "postgresql@15-main.service");
	snprintf(path, sizeof(path), "sys/fs/cgroup/%s", user);
	make_folder(path);
	finds(PPI_CGROUP_UNIT, "nginx.service", "system.slice/nginx.service",
	      true);
	finds(PPI_CGROUP_UNIT, "nginx", "system.slice/nginx.service", true);
	finds(PPI_CGROUP_UNIT, "postgresql@15-main",
	      "system.slice/system-postgresql.slice/postgresql@15-main.service",
	      true);
	finds(PPI_CGROUP_UNIT, "app-web.service", user, true);
	finds(PPI_CGROUP_UNIT, "system.slice", "system.slice", true);
	finds_none(PPI_CGROUP_UNIT, "ngnix.service", "nginx.service");
	finds_none(PPI_CGROUP_UNIT, "postgresql", "postgresql@15-main.service");
	finds_none(PPI_CGROUP_UNIT, "nothing-like-it", "systemd-cgls");
}

/* systemd has groups in its own hierarchy, which knows no perf events. */
static void units_of_version_1(void **state)
{
	(void)state;
	make_version_1();
	make_folder("sys/fs/cgroup/systemd/system.slice/nginx.service");
	finds(PPI_CGROUP_UNIT, "nginx", "systemd/system.slice/nginx.service",
	      false);
}

/* Version 2 beside 1 knows them where version 1 does not. */
static void units_of_both_versions(void **state)
{
	(void)state;
	make_file("sys/fs/cgroup/unified", "cgroup.procs", "1\n");
	make_folder("sys/fs/cgroup/unified/system.slice/nginx.service");
	make_folder("sys/fs/cgroup/systemd/system.slice/nginx.service");
	finds(PPI_CGROUP_UNIT, "nginx", "unified/system.slice/nginx.service",
	      true);
	make_version_1();
	finds(PPI_CGROUP_UNIT, "nginx", "unified/system.slice/nginx.service",
	      false);
}

static void containers_of_docker(void **state)
{
	(void)state;
	make_version_2();
	make_folder("sys/fs/cgroup/system.slice/docker-" ID_A ".scope");
	make_folder("sys/fs/cgroup/system.slice/docker.service");
	make_folder("sys/fs/cgroup/docker/" ID_C);
	make_file("var/lib/docker/containers/" ID_A, "config.v2.json",
	          "{\"StreamConfig\":{},\"ID\":\"" ID_A "\",\"Name\":\"/web\"}");
	make_file("var/lib/docker/containers/" ID_C, "config.v2.json",
	          "{\"ID\":\"" ID_C "\",\"Name\":\"/webshop\"}");
	finds(PPI_CGROUP_CONTAINER, ID_A, "system.slice/docker-" ID_A ".scope",
	      true);
	finds(PPI_CGROUP_CONTAINER, "3f1c0e5b7a9d",
	      "system.slice/docker-" ID_A ".scope", true);
	finds(PPI_CGROUP_CONTAINER, "web",
	      "system.slice/docker-" ID_A ".scope", true);
	finds(PPI_CGROUP_CONTAINER, "webshop", "docker/" ID_C, true);
	finds_none(PPI_CGROUP_CONTAINER, "3f1c0e5b7a9e", "3f1c0e5b7a9d");
	finds_none(PPI_CGROUP_CONTAINER, "docker.service", "no container");
	make_folder("sys/fs/cgroup/system.slice/docker-" ID_B ".scope");
	finds_none(PPI_CGROUP_CONTAINER, "3f1c", "several");
}

static void containers_of_docker_in_version_1(void **state)
{
	(void)state;
	make_version_1();
	make_folder("sys/fs/cgroup/perf_event/docker/" ID_A);
	make_folder("sys/fs/cgroup/systemd/docker/" ID_A);
	finds(PPI_CGROUP_CONTAINER, "3f1c0e5b", "perf_event/docker/" ID_A,
	      true);
}

/* As some cloud machines are: other hierarchies of version 1, and none that knows
 * perf events. */
static void groups_without_perf_event(void **state)
{
	struct ppi_cgroup_found found;

	(void)state;
	make_file("sys/fs/cgroup/memory", "cgroup.procs", "1\n");
	make_folder("sys/fs/cgroup/memory/docker/" ID_A);
	make_folder("sys/fs/cgroup/systemd/system.slice/nginx.service");
	finds(PPI_CGROUP_CONTAINER, "3f1c0e5b", "memory/docker/" ID_A, false);
	finds(PPI_CGROUP_UNIT, "nginx", "systemd/system.slice/nginx.service",
	      false);
	assert_true(ppi_cgroup_find(root, PPI_CGROUP_UNIT, "nginx", &found));
	assert_non_null(strstr(found.words, "not mounted"));
}

/* conmon watches a container, and is none. */
static void containers_of_podman(void **state)
{
	(void)state;
	make_version_2();
	make_folder("sys/fs/cgroup/machine.slice/libpod-conmon-" ID_A ".scope");
	make_folder("sys/fs/cgroup/machine.slice/libpod-" ID_A
	            ".scope/container");
	make_folder("sys/fs/cgroup/user.slice/user-1000.slice/"
	            "user@1000.service/user.slice/libpod-" ID_C ".scope");
	make_file("var/lib/containers/storage/overlay-containers",
	          "containers.json",
	          "[{\"id\":\"" ID_B "\",\"names\":[\"old\"]},"
	          "{\"id\":\"" ID_A "\",\"names\":[\"web\"],\"image\":\"x\"}]");
	finds(PPI_CGROUP_CONTAINER, "3f1c0e5b7a9d",
	      "machine.slice/libpod-" ID_A ".scope", true);
	finds(PPI_CGROUP_CONTAINER, "web",
	      "machine.slice/libpod-" ID_A ".scope", true);
	finds(PPI_CGROUP_CONTAINER, "aabbccdd7a9d",
	      "user.slice/user-1000.slice/user@1000.service/user.slice/libpod-"
	      ID_C ".scope", true);
	finds_none(PPI_CGROUP_CONTAINER, "old", "no container");
}

static void containers_of_containerd(void **state)
{
	(void)state;
	make_version_2();
	make_folder("sys/fs/cgroup/default/" ID_A);
	make_folder("sys/fs/cgroup/default/redis");
	make_folder("sys/fs/cgroup/system.slice/nerdctl-" ID_C ".scope");
	make_file("var/lib/nerdctl/1935db59/names/default", "web", ID_C);
	finds(PPI_CGROUP_CONTAINER, "3f1c0e5b7a9d", "default/" ID_A, true);
	finds(PPI_CGROUP_CONTAINER, "redis", "default/redis", true);
	finds(PPI_CGROUP_CONTAINER, "web",
	      "system.slice/nerdctl-" ID_C ".scope", true);
}

static void containers_of_kubelet(void **state)
{
	(void)state;
	make_version_2();
	make_folder("sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/"
	            POD ".slice/cri-containerd-" ID_A ".scope");
	make_folder("sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/"
	            POD ".slice/crio-" ID_B ".scope");
	make_folder("sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/"
	            POD ".slice/crio-conmon-" ID_B ".scope");
	make_folder("sys/fs/cgroup/kubepods/besteffort/pod0d1e2f3a/" ID_C);
	make_file("var/log/containers",
	          "shop-6d4b_default_web-" ID_A ".log", "");
	finds(PPI_CGROUP_CONTAINER, "3f1c0e5b7a9d",
	      "kubepods.slice/kubepods-burstable.slice/" POD
	      ".slice/cri-containerd-" ID_A ".scope", true);
	finds(PPI_CGROUP_CONTAINER, "web",
	      "kubepods.slice/kubepods-burstable.slice/" POD
	      ".slice/cri-containerd-" ID_A ".scope", true);
	finds(PPI_CGROUP_CONTAINER, "shop-6d4b",
	      "kubepods.slice/kubepods-burstable.slice/" POD
	      ".slice/cri-containerd-" ID_A ".scope", true);
	finds(PPI_CGROUP_CONTAINER, ID_B,
	      "kubepods.slice/kubepods-burstable.slice/" POD
	      ".slice/crio-" ID_B ".scope", true);
	finds(PPI_CGROUP_CONTAINER, ID_C,
	      "kubepods/besteffort/pod0d1e2f3a/" ID_C, true);
}

static void containers_with_names_of_their_own(void **state)
{
	(void)state;
	make_version_2();
	make_folder("sys/fs/cgroup/lxc.payload.web");
	make_folder("sys/fs/cgroup/machine.slice/machine-my\\x2dbox.scope");
	make_folder("sys/fs/cgroup/machine.slice/"
	            "systemd-nspawn@fedora.service");
	finds(PPI_CGROUP_CONTAINER, "web", "lxc.payload.web", true);
	finds(PPI_CGROUP_CONTAINER, "my-box",
	      "machine.slice/machine-my\\x2dbox.scope", true);
	finds(PPI_CGROUP_CONTAINER, "fedora",
	      "machine.slice/systemd-nspawn@fedora.service", true);
	finds_none(PPI_CGROUP_CONTAINER, "fedoar", "fedora");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(units_of_version_2),
		CASE(units_of_version_1),
		CASE(units_of_both_versions),
		CASE(containers_of_docker),
		CASE(containers_of_docker_in_version_1),
		CASE(groups_without_perf_event),
		CASE(containers_of_podman),
		CASE(containers_of_containerd),
		CASE(containers_of_kubelet),
		CASE(containers_with_names_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
