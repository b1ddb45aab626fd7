/* SPDX-License-Identifier: MIT */
/* Configuration files: the search order, and reading one into memory. */
#include "api/internal/config_file.h"

#include "compat/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Far more than anyone writes; an endless file must not fill the memory. */
enum { FILE_BYTES_MAX = 1 << 20 };

static portprof_status no_memory(struct ppi_diag *why)
{
	return ppi_fail(why, PORTPROF_E_NOMEM, 0, "read configuration",
	                "out of memory");
}

static portprof_status cannot_read(const char *path, int error,
                                   struct ppi_diag *why)
{
	portprof_status status = PORTPROF_E_SYSTEM;

	if (error == ENOENT || error == ENOTDIR)
		status = PORTPROF_E_NOTFOUND;
	else if (error == EACCES || error == EPERM)
		status = PORTPROF_E_DENIED;
	else if (error == EISDIR)
		status = PORTPROF_E_INVALID;
	return ppi_fail(why, status, error, "read configuration",
	                "cannot read the configuration file '%.256s': %s",
	                path, strerror(error));
}

/* Grow *text until the file ends; returns 0 or an errno, EFBIG for too much. */
static int read_all(int fd, char **text, size_t *bytes)
{
	size_t room = 0, used = 0;

	for (;;) {
		ssize_t got;

		if (used + 1 >= room) {
			char *grown = realloc(*text, room ? room * 2 : 4096);

			if (!grown)
				return ENOMEM;
			*text = grown;
			room = room ? room * 2 : 4096;
		}
		got = read(fd, *text + used, room - used - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		used += (size_t)got;
		if (got == 0)
			break;
		if (used > FILE_BYTES_MAX)
			return EFBIG;
	}
	(*text)[used] = '\0';
	*bytes = used;
	return 0;
}

static portprof_status slurp(const char *path, char **text, size_t *bytes,
                             struct ppi_diag *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), error;
	char *read_text = NULL;

	if (fd < 0)
		return cannot_read(path, errno, why);
	error = read_all(fd, &read_text, bytes);
	close(fd);
	if (error == 0) {
		*text = read_text;
		return PORTPROF_OK;
	}
	free(read_text);
	if (error == ENOMEM)
		return no_memory(why);
	if (error == EFBIG)
		return ppi_fail(why, PORTPROF_E_LIMIT, 0, "read configuration",
		                "'%.256s' is longer than %d bytes: it is no "
		                "configuration file", path, FILE_BYTES_MAX);
	return cannot_read(path, error, why);
}

static char *join(const char *folder, const char *rest)
{
	size_t bytes = strlen(folder) + strlen(rest) + 1;
	char *path = malloc(bytes);

	if (path)
		snprintf(path, bytes, "%s%s", folder, rest);
	return path;
}

/* The index-th place to look at, NULL when there is none of that kind; *last
 * when there are no more. XDG: a relative XDG_CONFIG_HOME is to be ignored. */
static char *place(unsigned index, bool *last)
{
	const char *folder;

	*last = index >= 1;
	if (index >= 1)
		return strdup(PPI_SYSCONFDIR "/portprof.conf");
	folder = ppi_environment("XDG_CONFIG_HOME");
	if (folder && folder[0] == '/')
		return join(folder, "/portprof/portprof.conf");
	folder = ppi_environment("HOME");
	return folder ? join(folder, "/.config/portprof/portprof.conf") :
	                strdup("");
}

/* A home that this user may not enter (su, cron and sudo leave those) holds no
 * file for it; a file that is there and cannot be read was meant to be. */
static bool is_out_of_reach(const char *path)
{
	struct stat at;

	return stat(path, &at) != 0;
}

static portprof_status search(char **found, char **text, size_t *bytes,
                              struct ppi_diag *why)
{
	bool last = false;

	for (unsigned i = 0; !last; i++) {
		char *path = place(i, &last);
		portprof_status status = PORTPROF_E_NOTFOUND;

		if (!path)
			return no_memory(why);
		if (path[0])
			status = slurp(path, text, bytes, why);
		if (status == PORTPROF_E_DENIED && is_out_of_reach(path))
			status = PORTPROF_E_NOTFOUND;
		if (status == PORTPROF_OK)
			*found = path;
		else
			free(path);
		if (status != PORTPROF_E_NOTFOUND)
			return status;
	}
	return ppi_fail(why, PORTPROF_E_NOTFOUND, 0, "find configuration",
	                "there is no configuration file: neither "
	                "PORTPROF_CONFIG names one, nor is there a "
	                "portprof/portprof.conf in XDG_CONFIG_HOME or "
	                "~/.config, nor a " PPI_SYSCONFDIR "/portprof.conf");
}

static portprof_status slurp_named(const char *path, char **found,
                                   char **text, size_t *bytes,
                                   struct ppi_diag *why)
{
	portprof_status status;
	char *copy = strdup(path);

	if (!copy)
		return no_memory(why);
	status = slurp(path, text, bytes, why);
	if (status == PORTPROF_OK)
		*found = copy;
	else
		free(copy);
	return status;
}

portprof_status ppi_config_slurp(const char *path, char **found, char **text,
                                 size_t *bytes, struct ppi_diag *why)
{
	const char *named = path ? path : ppi_environment("PORTPROF_CONFIG");
	portprof_status status;

	if (!named)
		return search(found, text, bytes, why);
	status = slurp_named(named, found, text, bytes, why);
	/* NOTFOUND without a path means that nobody wants a file */
	if (status == PORTPROF_E_NOTFOUND && !path)
		return ppi_fail(why, PORTPROF_E_INVALID, ENOENT,
		                "find configuration",
		                "PORTPROF_CONFIG names '%.256s', which is not "
		                "there; correct or unset it", named);
	return status;
}
