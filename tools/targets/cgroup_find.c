/* SPDX-License-Identifier: MIT */
/*
 * Looks through the control groups for the one of a unit or a container. What
 * is measured by cgroup has to be in the hierarchy that knows perf events:
 * version 2, or version 1's perf_event, where docker and kubelet have groups
 * and systemd has none. Elsewhere the group still tells the processes.
 * cgroups(7), systemd.resource-control(5).
 */
#include "config.h"

#include "tools/targets/cgroup_find.h"

#include "base/foreign_file.h"
#include "tools/tools.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names that engines give ---- */

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

enum { ID_LENGTH = 64, PATH_ROOM = 4096, FILE_MAX = 64 << 20 };

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

/*
 * The id of a container from the last part of its group's path, in the forms of
 * docker, podman, containerd, cri-o, kubelet, lxc and systemd-nspawn, into
 * `id`; false when it is no container's.
 */
static bool container_id(const char *base, char id[256])
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
	text = ppi_foreign_text(path, PPI_FOREIGN_FILE, FILE_MAX);
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
	char pattern[300], *at, *next, *last = NULL;
	char *text = ppi_foreign_text(path, PPI_FOREIGN_FILE, FILE_MAX);

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
	text = ppi_foreign_text(path, PPI_FOREIGN_FILE, FILE_MAX);
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

/* The id of the container of that name, from the files of its engine below
 * `root`; false when none knows it. */
static bool container_named(const char *root, const char *name, char id[256])
{
	static const char store[] =
		"storage/overlay-containers/containers.json";
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

enum { DEPTH_MAX = 24, FOLDERS_MAX = 100000, NAMES_MAX = 4096,
       SHORT_ID = 12 /* as docker ps prints them */ };

/* ---- the search ---- */

struct search {
	enum ppi_cgroup_kind kind;
	const char *wanted;
	char id[256];           /* what the name stands for; "" none */
	struct ppi_cgroup_found *found;
	char first_id[256];     /* that was found; "" none yet */
	bool is_ambiguous;
	size_t folders;
	char *names[NAMES_MAX]; /* for one that is wrong */
	size_t name_count;
};

static void remember(struct search *search, const char *name)
{
	size_t longest = strspn(name, "0123456789abcdef") >= 32 ? SHORT_ID
	                                                        : strlen(name);

	for (size_t i = 0; i < search->name_count; i++)
		if (strncmp(search->names[i], name, longest) == 0)
			return;
	if (search->name_count < NAMES_MAX &&
	    (search->names[search->name_count] = strndup(name, longest)))
		search->name_count++;
}

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length > tail && strcmp(text + length - tail, end) == 0;
}

/* systemd puts a "_" before what could be one of the kernel's files. */
static bool is_unit(struct search *search, const char *base)
{
	static const char *const kinds[] = { ".service", ".scope", ".slice",
		                             ".socket", ".mount", ".swap" };
	size_t length = strlen(search->wanted);
	bool is_one = false, has_kind = false;

	base += base[0] == '_';
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		is_one |= ends_in(base, kinds[i]);
		has_kind |= ends_in(search->wanted, kinds[i]);
	}
	if (!is_one)
		return false;
	remember(search, base);
	if (has_kind)
		return strcmp(base, search->wanted) == 0;
	return strncmp(base, search->wanted, length) == 0 &&
	       strcmp(base + length, ".service") == 0;
}

/* By its whole id, the beginning of it, or the name that is its group's. */
static bool is_container(struct search *search, const char *base)
{
	const char *id = search->id[0] ? search->id : search->wanted;
	char own[256];
	bool is_it;

	if (!container_id(base, own)) {
		/* containerd's own tool gives groups the names of containers */
		return strcmp(base, search->wanted) == 0 &&
		       !strchr(base, '.');
	}
	remember(search, own);
	is_it = strcmp(own, id) == 0 ||
	        (strlen(id) >= 4 && strncmp(own, id, strlen(id)) == 0 &&
	         strspn(own, "0123456789abcdef") >= 32);
	if (is_it && search->first_id[0] && strcmp(search->first_id, own) != 0)
		search->is_ambiguous = true;
	if (is_it && !search->first_id[0])
		memcpy(search->first_id, own, sizeof(own));
	return is_it;
}

/* The outermost folder that is the one; a look at all finds others. */
static void walk(struct search *search, const char *folder, unsigned depth)
{
	DIR *list = depth < DEPTH_MAX ? opendir(folder) : NULL;
	struct dirent *entry;

	while (list && search->folders < FOLDERS_MAX &&
	       (entry = readdir(list)) != NULL) {
		struct ppi_cgroup_found *found = search->found;
		char path[PPI_CGROUP_PATH];
		struct stat at;
		bool is_it;

		if (entry->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/%s", folder,
		             entry->d_name) >= (int)sizeof(path) ||
		    lstat(path, &at) != 0 || !S_ISDIR(at.st_mode))
			continue;
		search->folders++;
		is_it = search->kind == PPI_CGROUP_UNIT
			? is_unit(search, entry->d_name)
			: is_container(search, entry->d_name);
		if (is_it && !found->folder[0])
			memcpy(found->folder, path, sizeof(path));
		walk(search, path, depth + 1);
	}
	if (list)
		closedir(list);
}

static bool is_there(const char *root, const char *path)
{
	char whole[PPI_CGROUP_PATH];

	snprintf(whole, sizeof(whole), "%s/sys/fs/cgroup/%s", root, path);
	return access(whole, F_OK) == 0;
}

/* Version 2 alone; or version 1's hierarchies, perhaps with 2 beside them. */
static void walk_all(struct search *search, const char *root)
{
	static const char *const all[] = { "perf_event", "unified", "systemd",
		                           "cpu,cpuacct", "cpu", "memory",
		                           "pids" };
	bool has_perf = is_there(root, "perf_event/cgroup.procs");
	char path[PPI_CGROUP_PATH];

	snprintf(path, sizeof(path), "%s/sys/fs/cgroup", root);
	if (is_there(root, "cgroup.controllers")) {
		search->found->is_for_perf = true;
		walk(search, path, 0);
		return;
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) &&
	     !search->found->folder[0]; i++) {
		snprintf(path, sizeof(path), "%s/sys/fs/cgroup/%s", root,
		         all[i]);
		search->found->is_for_perf =
			i == 0 || (i == 1 && !has_perf);
		walk(search, path, 0);
	}
}

static void say_none(struct search *search)
{
	struct ppi_guess guess = { .wanted = search->wanted };
	struct ppi_cgroup_found *found = search->found;
	bool is_unit_name = search->kind == PPI_CGROUP_UNIT;
	bool is_any = search->name_count > 0;
	char words[256];

	for (size_t i = 0; i < search->name_count; i++)
		ppi_guess_offer(&guess, search->names[i]);
	ppi_guess_words(&guess, "", words, sizeof(words));
	snprintf(found->words, sizeof(found->words),
	         "no %s '%.100s' runs here%s%s",
	         is_unit_name ? "unit" : "container", search->wanted, words,
	         words[0]       ? ""
	         : !is_any      ? ", and no other: name processes by --name or "
	                          "-p, a cgroup by -G"
	         : is_unit_name ? " (systemd-cgls lists those that do)"
	                        : " (docker ps, podman ps or crictl ps list "
	                          "those that do)");
}

/* What is missing, and what makes up for it. */
static void say_processes(struct ppi_cgroup_found *found, const char *root)
{
	snprintf(found->words, sizeof(found->words),
		 "cgroups of version 1 here, and %s: what enters it otherwise "
		 "is "
		 "missed; boot with systemd.unified_cgroup_hierarchy=1 to "
		 "measure "
		 "the group",
		 is_there(root, "perf_event/cgroup.procs")
			 ? "it has none in the hierarchy perf_event"
			 : "the hierarchy perf_event is not mounted");
}

bool ppi_cgroup_find(const char *root, enum ppi_cgroup_kind kind,
                     const char *wanted, struct ppi_cgroup_found *found)
{
	struct search *search = calloc(1, sizeof(*search));

	memset(found, 0, sizeof(*found));
	if (!search) {
		snprintf(found->words, sizeof(found->words), "out of memory");
		return false;
	}
	search->kind = kind;
	search->wanted = wanted;
	search->found = found;
	if (kind == PPI_CGROUP_CONTAINER &&
	    !container_named(root, wanted, search->id))
		search->id[0] = '\0';
	walk_all(search, root);
	if (!found->folder[0])
		say_none(search);
	else if (!found->is_for_perf)
		say_processes(found, root);
	if (search->is_ambiguous) {
		found->folder[0] = '\0';
		snprintf(found->words, sizeof(found->words),
		         "'%.60s' begins the ids of several containers: give "
		         "more digits", wanted);
	}
	for (size_t i = 0; i < search->name_count; i++)
		free(search->names[i]);
	free(search);
	return found->folder[0] != '\0';
}
