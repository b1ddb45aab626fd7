/* SPDX-License-Identifier: MIT */
/* The one way in which verbs write a file. */
#include "config.h"

#include "tools/output.h"

#include "tools/ticker.h"
#include "tools/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a user means: "-" is standard output. */
static const char *output_meant(const char *path)
{
	return strcmp(path, "-") == 0 ? "/dev/stdout" : path;
}

const char *ppi_output_shown(const char *path)
{
	return !path || strcmp(path, "-") == 0 ? "standard output" : path;
}

/* ---- text ---- */

bool ppi_out_open(struct ppi_out *out, const char *path)
{
	int fd;

	*out = (struct ppi_out){ .stream = stdout, .path = path };
	if (!path || strcmp(path, "-") == 0)
		return true;
	out->stream = NULL;
	if (portprof_output_open(path, &out->output) != PORTPROF_OK) {
		ppi_say_failure(NULL);
		return false;
	}
	fd = fcntl(portprof_output_fd(out->output), F_DUPFD_CLOEXEC, 0);
	out->stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (out->stream)
		return true;
	ppi_say("cannot write '%s': %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	portprof_output_close(out->output);
	return false;
}

/* Stdio keeps no reason when it fails before it is asked to write: the next
 * byte, of what will be thrown away, fails by the same. */
static int reason_of(const struct ppi_out *out)
{
	return write(fileno(out->stream), "\n", 1) < 0 ? errno : EIO;
}

static bool flush(struct ppi_out *out)
{
	if (!out->error && fflush(out->stream) != 0)
		out->error = errno;
	else if (!out->error && ferror(out->stream))
		out->error = reason_of(out);
	return !out->error;
}

static bool place(struct ppi_out *out)
{
	struct stat at;

	if (!out->output)
		return true;
	if (portprof_output_place(out->output) != PORTPROF_OK)
		return false;
	if (fstat(portprof_output_fd(out->output), &at) == 0)
		out->size = at.st_size;
	return true;
}

void ppi_out_step(struct ppi_out *out)
{
	if (flush(out))
		place(out);
}

/* Half a step is none. */
static void take_back(const struct ppi_out *out)
{
	if (!out->output || !portprof_output_path(out->output) ||
	    ftruncate(portprof_output_fd(out->output), out->size) == 0)
		return; /* a stream cannot be taken back */
	ppi_say("'%s' ends with a part of a line", out->path);
}

static bool finish(struct ppi_out *out, bool is_flushed)
{
	if (is_flushed && place(out))
		return true;
	if (is_flushed) {
		ppi_say_failure(NULL);
		return false;
	}
	take_back(out);
	ppi_say("cannot write '%s': %s; name another file",
	        ppi_output_shown(out->path), strerror(out->error));
	return false;
}

bool ppi_out_close(struct ppi_out *out, bool is_good)
{
	bool is_flushed = is_good && flush(out);

	/* what is left in the stream is gone before half a step is */
	if (out->output)
		fclose(out->stream);
	is_good = is_good && finish(out, is_flushed);
	portprof_output_close(out->output);
	out->output = NULL;
	return is_good;
}

bool ppi_out_write(const char *path, bool (*put)(void *context, FILE *out),
                   void *context)
{
	struct ppi_out out;
	bool has_memory;

	if (!ppi_out_open(&out, path))
		return false;
	has_memory = put(context, out.stream);
	if (!has_memory)
		ppi_say("out of memory");
	return ppi_out_close(&out, has_memory);
}

/* ---- what is written by its path ---- */

char *ppi_folder_make(char **path)
{
	const char *parent = getenv("TMPDIR");
	size_t bytes;
	char *folder;

	if (!parent || !parent[0])
		parent = "/tmp";
	bytes = strlen(parent) + sizeof("/portprof.XXXXXX");
	folder = malloc(bytes);
	*path = malloc(bytes + sizeof("/" PPI_DEFAULT_OUTPUT));
	if (folder && *path) {
		snprintf(folder, bytes, "%s/portprof.XXXXXX", parent);
		if (mkdtemp(folder)) {
			sprintf(*path, "%s/" PPI_DEFAULT_OUTPUT, folder);
			return folder;
		}
	}
	ppi_say("cannot create a directory in %s: set TMPDIR to a writable "
	        "one", parent);
	free(folder);
	free(*path);
	*path = NULL;
	return NULL;
}

void ppi_folder_remove(char *folder, char *path)
{
	if (folder && path)
		unlink(path);
	if (folder)
		rmdir(folder);
	free(path);
	free(folder);
}

/* Whether both are the same file, pipe or device. */
static bool is_same(int one, int other)
{
	struct stat a, b;

	return fstat(one, &a) == 0 && fstat(other, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool take_path(struct ppi_spool *spool, const char *path)
{
	spool->path = strdup(path);
	if (!spool->path)
		ppi_say("out of memory");
	return spool->path != NULL;
}

static bool take_stream(struct ppi_spool *spool, const char *path)
{
	int fd = portprof_output_fd(spool->stream);

	spool->is_standard_output = is_same(fd, STDOUT_FILENO);
	if (isatty(fd))
		ppi_say("'%s' is a terminal, and a profile is binary: name a "
		        "file, or write to a pipe", ppi_output_shown(path));
	else
		spool->folder = ppi_folder_make(&spool->path);
	return spool->folder != NULL;
}

bool ppi_spool_begin(struct ppi_spool *spool, const char *path, bool is_late)
{
	const char *place, *meant = output_meant(path);
	bool is_good;

	memset(spool, 0, sizeof(*spool));
	if (portprof_output_open(meant, &spool->stream) != PORTPROF_OK) {
		if (is_late &&
		    portprof_last_diag()->reason == PORTPROF_REASON_OUTPUT)
			return take_path(spool, path);
		ppi_say_failure(NULL);
		return false;
	}
	place = portprof_output_path(spool->stream);
	if (!place) {
		is_good = take_stream(spool, path);
		if (!is_good)
			ppi_spool_end(spool, false);
		return is_good;
	}
	is_good = take_path(spool, place);
	portprof_output_close(spool->stream);
	spool->stream = NULL;
	return is_good;
}

/* 0 or an errno. */
static int copy(int from, int to)
{
	char bytes[65536];
	ssize_t got, put;

	while ((got = read(from, bytes, sizeof(bytes))) > 0)
		for (ssize_t done = 0; done < got; done += put) {
			put = write(to, bytes + done, (size_t)(got - done));
			if (put < 0 && errno == EINTR)
				put = 0;
			if (put < 0)
				return errno;
		}
	return got < 0 ? errno : 0;
}

bool ppi_spool_end(struct ppi_spool *spool, bool is_good)
{
	int fd, error = 0;

	if (spool->stream && is_good) {
		fd = open(spool->path, O_RDONLY | O_CLOEXEC);
		error = fd < 0 ? errno
		               : copy(fd, portprof_output_fd(spool->stream));
		if (fd >= 0)
			close(fd);
	}
	if (error)
		ppi_say("the profile could not be passed on: %s",
		        strerror(error));
	portprof_output_close(spool->stream);
	ppi_folder_remove(spool->folder, spool->path);
	memset(spool, 0, sizeof(*spool));
	return !error;
}

bool ppi_profile_put(const portprof_profile *profile, const char *path)
{
	struct ppi_spool spool;
	bool is_good, ticks;

	if (!ppi_spool_begin(&spool, path, false))
		return false;
	ticks = ppi_ticker_begin("writing", "samples");
	atomic_store(&ppi_ticker_done, portprof_profile_sample_count(profile));
	is_good = portprof_profile_write(profile, spool.path) == PORTPROF_OK;
	ppi_ticker_end(ticks);
	if (!is_good)
		ppi_say_failure(NULL);
	return ppi_spool_end(&spool, is_good) && is_good;
}

void ppi_keep_old(const char *path)
{
	size_t bytes = strlen(path) + sizeof(".old");
	struct stat at;
	char *old;

	/* a device, a pipe or a link stays where it is */
	if (lstat(path, &at) != 0 || !S_ISREG(at.st_mode))
		return;
	old = malloc(bytes);
	if (old) {
		snprintf(old, bytes, "%s.old", path);
		rename(path, old);
	}
	free(old);
}
