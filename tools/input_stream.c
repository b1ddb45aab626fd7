/* SPDX-License-Identifier: MIT */
/* Inputs that are no files yet: a pipe, and what perf prints of its own. */
#include "config.h"

#include "tools/input_stream.h"

#include "base/foreign_file.h"
#include "tools/launch.h"
#include "tools/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Readable and writable, closed on exec; -1 after saying why. */
static int open_nameless(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!folder || !folder[0])
		folder = "/tmp";
	snprintf(path, sizeof(path), "%s/portprof-XXXXXX", folder);
	fd = mkstemp(path);
	if (fd < 0) {
		ppi_say("cannot create a temporary file in %s: %s; set TMPDIR "
		        "to a writable directory",
		        folder, strerror(errno));
		return -1;
	}
	unlink(path);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

static bool copy(int from, int to)
{
	static char bytes[1 << 16];
	ssize_t got, done, put;

	for (;;) {
		got = read(from, bytes, sizeof(bytes));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0;
		for (done = 0; done < got; done += put) {
			put = write(to, bytes + done, (size_t)(got - done));
			if (put < 0 && errno != EINTR)
				return false;
			if (put < 0)
				put = 0;
		}
	}
}

/* What is read from a descriptor is the same file from then on. */
static bool keep(int descriptor, const char *path)
{
	int file = open_nameless();
	bool is_good;

	if (file < 0)
		return false;
	is_good = copy(descriptor, file);
	if (!is_good)
		ppi_say("cannot copy '%s' to a temporary file: %s; set TMPDIR "
		        "to a directory with room",
		        path, strerror(errno));
	else
		is_good = dup2(file, descriptor) >= 0;
	close(file);
	return is_good;
}

bool ppi_input_is_stream(const char *path)
{
	return strcmp(path, "-") == 0 || ppi_descriptor_named(path) >= 0;
}

const char *ppi_input_name(const char *path)
{
	const char *name = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
	int descriptor = ppi_descriptor_named(name);
	struct stat at;

	if (descriptor < 0)
		return name;
	if (fstat(descriptor, &at) != 0) {
		ppi_say("cannot read '%s': %s", path, strerror(errno));
		return NULL;
	}
	if (isatty(descriptor)) {
		ppi_say("'%s' is a terminal: name a profile, or pipe one in",
		        path);
		return NULL;
	}
	if ((S_ISFIFO(at.st_mode) || S_ISSOCK(at.st_mode)) &&
	    !keep(descriptor, path))
		return NULL;
	return name;
}

/* ---- perf ---- */

/* No shell: paths are of others. The file may be of another user, as those are
 * that root recorded; inlined functions cost a process for each file. */
static void become_perf(const char *perf, const char *path, int out)
{
	int nothing = open("/dev/null", O_RDWR);
	char name[32];

	if (ppi_descriptor_named(path) == STDIN_FILENO) {
		snprintf(name, sizeof(name), "/dev/fd/%d", dup(STDIN_FILENO));
		path = name;
	}
	dup2(nothing, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
	setenv("LC_ALL", "C", 1);
	execl(perf, "perf", "script", "--force", "--no-inline", "-F", "+pid",
	      "-i", path, (char *)NULL);
	_exit(127);
}

int ppi_input_of_perf(const char *path)
{
	char *perf = ppi_search_program("perf");
	int out = -1, status = -1;
	pid_t child;

	if (!perf) {
		ppi_say("'%s' was written by perf record, and perf is not "
		        "installed here to read it\n  where it is: perf script "
		        "-i %s | portprof report -",
		        path, path);
		return -1;
	}
	out = open_nameless();
	child = out < 0 ? -1 : fork();
	if (child == 0)
		become_perf(perf, path, out);
	free(perf);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (out >= 0 && status == 0)
		return out;
	if (out >= 0) {
		ppi_say("'%s' was written by perf record, and perf cannot read "
		        "it; for the reason: perf script -i %s",
		        path, path);
		close(out);
	}
	return -1;
}
