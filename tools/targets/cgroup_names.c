/* SPDX-License-Identifier: MIT */
/*
 * What container engines call their control groups, and where they keep the
 * names of containers:
 *   docker      docker/ID, docker-ID.scope; containers/ID/config.v2.json
 *   podman      libpod-ID, libpod-ID.scope; overlay-containers/containers.json
 *   nerdctl     NAMESPACE/ID, nerdctl-ID.scope; names/NAMESPACE/NAME
 *   containerd  cri-containerd-ID.scope, NAMESPACE/ID
 *   cri-o       crio-ID, crio-ID.scope
 *   kubelet     podUID/ID; /var/log/containers/POD_NAMESPACE_NAME-ID.log
 *   lxc         lxc.payload.NAME
 *   nspawn      systemd-nspawn@NAME.service, machine-NAME.scope
 * (moby daemon/oci_linux.go, libpod/container_internal_linux.go, cri-o
 * internal/config/cgmgr, kubernetes pkg/kubelet/cm/cgroup_manager_linux.go and
 * pkg/kubelet/kuberuntime/legacy.go, lxc.container.conf(5), systemd-nspawn(1))
 */
#include "config.h"

#include "tools/targets/cgroup_find.h"

#include "base/foreign_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_LENGTH = 64, PATH_ROOM = 4096, FILE_MAX = 1 << 20 };

/* ---- from a group to an id ---- */

static bool is_id(const char *text)
{
	return strlen(text) == ID_LENGTH &&
	       strspn(text, "0123456789abcdef") == ID_LENGTH;
}

/* systemd writes a byte that a unit's name may not have as \xHH. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		unsigned byte;

		if (strncmp(text, "\\x", 2) == 0 &&
		    sscanf(text + 2, "%2x", &byte) == 1 && byte) {
			*to++ = (char)byte;
			text += 3;
		} else
			*to++ = *text;
	}
	*to = '\0';
}

/* What is between two parts of `base`. */
static bool is_between(const char *base, const char *before, const char *after,
                       char id[256])
{
	size_t length = strlen(base), front = strlen(before);
	size_t back = strlen(after);

	if (length <= front + back || length - front - back >= 256 ||
	    strncmp(base, before, front) != 0 ||
	    strcmp(base + length - back, after) != 0)
		return false;
	memcpy(id, base + front, length - front - back);
	id[length - front - back] = '\0';
	return true;
}

bool ppi_container_id(const char *base, char id[256])
{
	static const char *const engines[] = { "docker-", "libpod-", "nerdctl-",
		                               "cri-containerd-", "crio-" };
	static const char *const names[][2] = {
		{ "lxc.payload.", "" },
		{ "systemd-nspawn@", ".service" },
		{ "machine-", ".scope" }
	};
	char text[256];

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if ((is_between(base, engines[i], ".scope", text) ||
		     is_between(base, engines[i], "", text)) && is_id(text)) {
			memcpy(id, text, sizeof(text));
			return true;
		}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_between(base, names[i][0], names[i][1], text)) {
			unescape(text);
			memcpy(id, text, sizeof(text));
			return true;
		}
	if (!is_id(base))
		return false;
	memcpy(id, base, ID_LENGTH + 1);
	return true;
}

/* ---- from a name to an id ---- */

/* A file of an engine, whole; NULL when there is none. To be freed. */
static char *read_whole(const char *path)
{
	FILE *file = ppi_foreign_stream(path, PPI_FOREIGN_FILE);
	char *text = file ? malloc(FILE_MAX + 1) : NULL;

	if (text)
		text[fread(text, 1, FILE_MAX, file)] = '\0';
	if (file)
		fclose(file);
	return text;
}

/* Call back for what is in a folder, until it says that it has found. */
typedef bool (*visit_fn)(const char *folder, const char *entry,
                         const char *name, char id[256]);

static bool visit(const char *folder, visit_fn take, const char *name,
                  char id[256])
{
	DIR *list = opendir(folder);
	struct dirent *entry;
	bool is_found = false;

	while (list && !is_found && (entry = readdir(list)) != NULL)
		if (entry->d_name[0] != '.')
			is_found = take(folder, entry->d_name, name, id);
	if (list)
		closedir(list);
	return is_found;
}

static bool is_docker(const char *folder, const char *entry, const char *name,
                      char id[256])
{
	char path[PATH_ROOM], pattern[300], *text;
	bool is_it;

	if (!is_id(entry) ||
	    snprintf(path, sizeof(path), "%s/%s/config.v2.json", folder,
	             entry) >= (int)sizeof(path))
		return false;
	snprintf(pattern, sizeof(pattern), "\"Name\":\"/%.250s\"", name);
	text = read_whole(path);
	is_it = text && strstr(text, pattern);
	free(text);
	if (is_it)
		memcpy(id, entry, ID_LENGTH + 1);
	return is_it;
}

/* One array of objects: the id is the last one before the name. */
static bool is_podman(const char *path, const char *name, char id[256])
{
	static const char key[] = "\"id\":\"";
	char pattern[300], *text = read_whole(path), *at, *next, *last = NULL;

	snprintf(pattern, sizeof(pattern), "\"names\":[\"%.250s\"", name);
	at = text ? strstr(text, pattern) : NULL;
	for (next = text; at && (next = strstr(next, key)) && next < at;)
		last = next += sizeof(key) - 1;
	if (last && strspn(last, "0123456789abcdef") == ID_LENGTH) {
		memcpy(id, last, ID_LENGTH);
		id[ID_LENGTH] = '\0';
	} else
		last = NULL;
	free(text);
	return last != NULL;
}

static bool is_nerdctl_namespace(const char *folder, const char *entry,
                                 const char *name, char id[256])
{
	char path[PATH_ROOM], *text;
	bool is_it;

	if (snprintf(path, sizeof(path), "%s/%s/%s", folder, entry, name) >=
	    (int)sizeof(path))
		return false;
	text = read_whole(path);
	if (text)
		text[strcspn(text, "\n")] = '\0';
	is_it = text && is_id(text);
	if (is_it)
		memcpy(id, text, ID_LENGTH + 1);
	free(text);
	return is_it;
}

static bool is_nerdctl_store(const char *folder, const char *entry,
                             const char *name, char id[256])
{
	char path[PATH_ROOM];

	return snprintf(path, sizeof(path), "%s/%s/names", folder, entry) <
	       (int)sizeof(path) && visit(path, is_nerdctl_namespace, name, id);
}

/* POD_NAMESPACE_CONTAINER-ID.log: by the container's name, or the pod's. */
static bool is_kubelet(const char *folder, const char *entry, const char *name,
                       char id[256])
{
	const char *under = strchr(entry, '_');
	const char *second = under ? strchr(under + 1, '_') : NULL;
	const char *dash = strrchr(entry, '-');
	size_t length = strlen(name);
	char text[ID_LENGTH + 1];

	(void)folder;
	if (!second || !dash || dash < second ||
	    strlen(dash) != 1 + ID_LENGTH + sizeof(".log") - 1)
		return false;
	memcpy(text, dash + 1, ID_LENGTH);
	text[ID_LENGTH] = '\0';
	if (!is_id(text) ||
	    !(((size_t)(dash - second - 1) == length &&
	       strncmp(second + 1, name, length) == 0) ||
	      ((size_t)(under - entry) == length &&
	       strncmp(entry, name, length) == 0)))
		return false;
	memcpy(id, text, sizeof(text));
	return true;
}

bool ppi_container_named(const char *root, const char *name, char id[256])
{
	static const char store[] = "storage/overlay-containers/containers.json";
	const char *home = getenv("HOME");
	char path[PATH_ROOM];

	if (strchr(name, '/') || strchr(name, '"') || name[0] == '.')
		return false;
	snprintf(path, sizeof(path), "%s/var/lib/docker/containers", root);
	if (visit(path, is_docker, name, id))
		return true;
	snprintf(path, sizeof(path), "%s/var/lib/containers/%s", root, store);
	if (is_podman(path, name, id))
		return true;
	snprintf(path, sizeof(path), "%s%s/.local/share/containers/%s", root,
	         home ? home : "", store);
	if (is_podman(path, name, id))
		return true;
	snprintf(path, sizeof(path), "%s/var/lib/nerdctl", root);
	if (visit(path, is_nerdctl_store, name, id))
		return true;
	snprintf(path, sizeof(path), "%s/var/log/containers", root);
	return visit(path, is_kubelet, name, id);
}
