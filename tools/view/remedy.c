/* SPDX-License-Identifier: MIT */
/* How a file gets the names that it lacks: commands that can be typed. */
#include "config.h"

#include "tools/view/remedy.h"

#include "tools/symbols/symbols_download.h"
#include "tools/tools.h"
#include "tools/view/header.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Whether a shell takes a word as it is. */
static bool is_plain(const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
	                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                           "0123456789/._+-=@%,:";

	return word[0] != '-' && !word[strspn(word, safe)];
}

bool ppi_is_packaged(const char *path)
{
	static const char *const folders[] = { "/usr/", "/lib", "/bin/",
		                               "/sbin/" };

	if (strncmp(path, "/usr/local/", 11) == 0)
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}

/* ---- debuginfod ---- */

/*
 * Who has the debug files of a system's packages, by ID or ID_LIKE of
 * os-release(5). From the list of servers at https://debuginfod.elfutils.org,
 * which asks the others itself.
 */
static const struct {
	const char *system, *server;
} servers[] = {
	{ "debian", "https://debuginfod.debian.net" },
	{ "ubuntu", "https://debuginfod.ubuntu.com" },
	{ "fedora", "https://debuginfod.fedoraproject.org" },
	{ "centos", "https://debuginfod.centos.org" },
	{ "arch", "https://debuginfod.archlinux.org" },
	{ "suse", "https://debuginfod.opensuse.org" },
	{ "opensuse", "https://debuginfod.opensuse.org" },
};

static FILE *open_below(const char *root, const char *path)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s%s", root, path);
	return fopen(name, "re");
}

static bool is_below(const char *root, const char *path)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s%s", root, path);
	return access(name, F_OK) == 0;
}

/* The first word of a line that is in the table; its own before those that it
 * is like. */
static const char *find_server(const char *root)
{
	FILE *os_release = open_below(root, "/etc/os-release");
	const char *found = "https://debuginfod.elfutils.org";
	char line[256];
	bool is_own = false;

	while (os_release && !is_own &&
	       fgets(line, sizeof(line), os_release)) {
		bool is_id = strncmp(line, "ID=", 3) == 0;

		if (!is_id && strncmp(line, "ID_LIKE=", 8) != 0)
			continue;
		for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]);
		     i++)
			if (!is_own && strstr(line, servers[i].system)) {
				found = servers[i].server;
				is_own = is_id;
			}
	}
	if (os_release)
		fclose(os_release);
	return found;
}

/* ---- packages of debug symbols ---- */

/* Whether a file has a line that `is_it` accepts. */
static bool has_line(const char *root, const char *path,
                     bool (*is_it)(const char *line, const char *what),
                     const char *what)
{
	FILE *file = open_below(root, path);
	char line[4096];
	bool has = false;

	while (file && !has && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\r\n")] = '\0';
		has = is_it(line, what);
	}
	if (file)
		fclose(file);
	return has;
}

/* Call for each file of a folder whose name ends so, until one is it. */
static bool any_file(const char *root, const char *folder, const char *end,
                     bool (*is_it)(const char *root, const char *path,
                                   const char *name, void *context),
                     void *context)
{
	char path[4096];
	struct dirent *entry;
	bool found = false;
	DIR *list;

	snprintf(path, sizeof(path), "%s%s", root, folder);
	list = opendir(path);
	while (list && !found && (entry = readdir(list)) != NULL) {
		size_t length = strlen(entry->d_name), tail = strlen(end);

		if (length < tail ||
		    strcmp(entry->d_name + length - tail, end) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		found = is_it(root, path, entry->d_name, context);
	}
	if (list)
		closedir(list);
	return found;
}

/* Debian's and Ubuntu's archives of debug packages, in either format of
 * sources.list(5). */
static bool is_debug_archive(const char *line, const char *nothing)
{
	(void)nothing;
	line += strspn(line, " \t");
	return *line != '#' &&
	       (strstr(line, "-debug") || strstr(line, "://ddebs."));
}

static bool is_debug_list(const char *root, const char *path, const char *name,
                          void *nothing)
{
	(void)name;
	(void)nothing;
	return has_line(root, path, is_debug_archive, NULL);
}

/* Folders of /usr that had links in / or have: dpkg lists either name. */
static bool is_same_file(const char *line, const char *path)
{
	if (strncmp(path, "/usr/", 5) == 0)
		path += 4;
	if (strncmp(line, "/usr/", 5) == 0)
		line += 4;
	return strcmp(line, path) == 0;
}

struct owner {
	const char *path;
	char package[128];
};

static bool is_owner(const char *root, const char *path, const char *name,
                     void *context)
{
	struct owner *owner = context;

	if (!has_line(root, path, is_same_file, owner->path))
		return false;
	/* NAME.list or NAME:ARCHITECTURE.list */
	snprintf(owner->package, sizeof(owner->package), "%.*s",
	         (int)strcspn(name, ":"), name);
	if (strlen(owner->package) == strlen(name))
		owner->package[strlen(name) - strlen(".list")] = '\0';
	return true;
}

/* What dpkg-query -S prints, from the same files. */
static bool find_debian(const char *root, const char *path, char *out,
                        size_t bytes)
{
	struct owner owner = { .path = path };

	if (!any_file(root, "/etc/apt/sources.list.d", "", is_debug_list,
	              NULL) &&
	    !is_debug_list(root, "/etc/apt/sources.list", "", NULL))
		return false;
	if (!any_file(root, "/var/lib/dpkg/info", ".list", is_owner, &owner))
		return false;
	snprintf(out, bytes, "apt install %s-dbgsym", owner.package);
	return true;
}

const char *ppi_debug_remedy(const char *root, const char *path,
                             const char *verb, bool has_client, char *out,
                             size_t bytes)
{
	const char *before = "";

	/* others wrote the path: it is no part of a command, or is plain */
	if (path && (!is_plain(path) || !is_below(root, path)))
		path = NULL;
	if (path && find_debian(root, path, out, bytes))
		return out;
	/* its archive of debug packages needs no line in a file */
	if (path && is_below(root, "/usr/bin/dnf")) {
		snprintf(out, bytes, "dnf debuginfo-install $(rpm -qf %s)",
		         path);
		return out;
	}
	if (!has_client)
		before = is_below(root, "/var/lib/dpkg/info")
		                 ? "apt install libdebuginfod1; "
		                 : "with elfutils' libdebuginfod installed: ";
	snprintf(out, bytes, "%sDEBUGINFOD_URLS=%s portprof %s", before,
	         find_server(root), verb);
	return out;
}

/* ---- what a profile lacks ---- */

static bool is_of_this_host(const portprof_profile *profile)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(profile);
	char name[256] = "";

	gethostname(name, sizeof(name) - 1);
	for (size_t i = 0; i < origin->fact_count; i++) {
		const char *host = ppi_head_behind(origin->facts[i], "host: ");

		if (host)
			return strcmp(host, name) == 0;
	}
	return false;
}

/* The file as it is typed after a verb. */
static const char *typed(const char *file)
{
	if (strcmp(file, PPI_DEFAULT_OUTPUT) == 0)
		return "";
	return is_plain(file) ? file : "FILE";
}

bool ppi_names_remedy(const portprof_profile *profile, const char *file,
                      const char *module, bool of_lines, char *out,
                      size_t bytes)
{
	const portprof_profile_mapping *mapping;
	char verb[256];

	for (size_t i = 0;
	     (mapping = portprof_profile_mapping_get(profile, i)) != NULL;
	     i++) {
		const char *slash = strrchr(mapping->path, '/');

		if (!slash || strcmp(slash + 1, module) != 0 ||
		    !ppi_is_packaged(mapping->path) || !mapping->build_id[0])
			continue;
		snprintf(verb, sizeof(verb), "report --debuginfod%s%s",
		         *typed(file) ? " " : "", typed(file));
		ppi_debug_remedy("", is_of_this_host(profile) ? mapping->path
		                                             : NULL,
		                 verb, ppi_download_is_here(), out, bytes);
		return true;
	}
	snprintf(out, bytes, "%s",
	         of_lines ? "compile it with -g"
	                  : "keep the symbol table (no strip, no -s), or have "
	                    "its debug symbols in --debug-dir");
	return false;
}
