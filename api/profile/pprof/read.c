/* SPDX-License-Identifier: MIT */
/*
 * A profile file, ours or another writer's, whole or torn, into memory; and one
 * that grows, piece by piece. Below both: the file as its gzip members, each
 * whole and checked, or as plain bytes.
 */
#include "config.h"

#include <portprof/status.h>
#include <portprof/tool.h>

#include "api/common/diag.h"
#include "api/profile/import/import.h"
#include "api/profile/memory.h"
#include "api/profile/pprof/pprof.h"
#include "api/profile/pprof/resolve.h"
#include "base/foreign_file.h"
#include "base/vector.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* ---- the file as its gzip members ---- */

/* What was found behind the last whole member. */
struct gunzip_end {
	size_t members;    /* whole ones that were taken */
	uint64_t whole;    /* bytes of the file that they cover */
	uint64_t size;     /* bytes of the file */
	uint64_t contents; /* bytes of those members, unpacked */
	bool is_cut;       /* the file ends within a member */
	bool is_plain;     /* no gzip at all */
};

enum { STEP_BYTES = 1 << 16, GZIP_WINDOW = 15 + 16 };

struct reader {
	int fd;
	struct ppi_bounds *bounds;
	bool is_regular;        /* its size is known */
	int error;              /* of read */
	uint8_t input[STEP_BYTES];
	uint8_t *at;            /* the next byte of input */
	size_t left;
	uint64_t taken;         /* bytes of the file before `at` */
	struct ppi_vector member; /* bytes of the one in hand */
};

/* Make sure that there is input. False at the end, and on an error. */
static bool refill(struct reader *reader)
{
	ssize_t got;

	if (reader->left > 0)
		return true;
	do
		got = read(reader->fd, reader->input, sizeof(reader->input));
	while (got < 0 && errno == EINTR);
	if (got < 0)
		reader->error = errno;
	if (got <= 0)
		return false;
	reader->at = reader->input;
	reader->left = (size_t)got;
	return true;
}

static void consume(struct reader *reader, size_t count)
{
	reader->at += count;
	reader->left -= count;
	reader->taken += count;
	if (!reader->is_regular)
		reader->bounds->file_bytes = reader->taken;
}

static portprof_status make_room(struct reader *reader)
{
	struct ppi_vector *bytes = &reader->member;

	if (!ppi_bounds_hold(reader->bounds, bytes->count + STEP_BYTES))
		return PORTPROF_E_LIMIT;
	return ppi_vector_reserve(bytes, 1, STEP_BYTES) ? PORTPROF_OK
	                                                : PORTPROF_E_NOMEM;
}

static portprof_status read_plain(struct reader *reader)
{
	struct ppi_vector *bytes = &reader->member;

	while (refill(reader)) {
		portprof_status status = make_room(reader);

		if (status != PORTPROF_OK)
			return status;
		ppi_vector_add(bytes, 1, reader->at, reader->left);
		consume(reader, reader->left);
	}
	return PORTPROF_OK;
}

/* One member: OK, E_FORMAT when it is damaged, *is_cut when the file ends
 * before it does. */
static portprof_status read_member(struct reader *reader, z_stream *z,
                                   bool *is_cut)
{
	struct ppi_vector *bytes = &reader->member;
	int result = Z_OK;

	while (result != Z_STREAM_END) {
		portprof_status status = make_room(reader);

		if (status != PORTPROF_OK)
			return status;
		if (!refill(reader)) {
			*is_cut = true;
			return PORTPROF_E_FORMAT;
		}
		z->next_in = reader->at;
		z->avail_in = (uInt)reader->left;
		z->next_out = (uint8_t *)bytes->data + bytes->count;
		z->avail_out = STEP_BYTES;
		result = inflate(z, Z_NO_FLUSH);
		bytes->count += STEP_BYTES - z->avail_out;
		consume(reader, reader->left - z->avail_in);
		if (result == Z_MEM_ERROR)
			return PORTPROF_E_NOMEM;
		if (result != Z_OK && result != Z_STREAM_END &&
		    result != Z_BUF_ERROR)
			return PORTPROF_E_FORMAT;
	}
	return PORTPROF_OK;
}

typedef portprof_status take_fn(void *context, const uint8_t *bytes,
                                size_t count);

static portprof_status read_members(struct reader *reader, take_fn *take,
                                    void *context, struct gunzip_end *end)
{
	portprof_status status = PORTPROF_OK;
	z_stream z = { 0 };

	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return PORTPROF_E_NOMEM;
	while (status == PORTPROF_OK && refill(reader)) {
		reader->member.count = 0;
		inflateReset(&z);
		status = read_member(reader, &z, &end->is_cut);
		if (status == PORTPROF_OK)
			status = take(context, reader->member.data,
			              reader->member.count);
		if (status != PORTPROF_OK)
			break;
		end->members++;
		end->contents += reader->member.count;
		end->whole = reader->taken;
	}
	inflateEnd(&z);
	return status;
}

/* The size of the file, as far as it can be known. A file that is larger than
 * what it may become has not to be read to know that. */
static portprof_status look_at_size(struct reader *reader)
{
	struct stat at;

	reader->is_regular = fstat(reader->fd, &at) == 0 &&
	                     S_ISREG(at.st_mode);
	if (reader->is_regular)
		reader->bounds->file_bytes = (uint64_t)at.st_size;
	return ppi_bounds_hold(reader->bounds, reader->bounds->file_bytes)
	               ? PORTPROF_OK
	               : PORTPROF_E_LIMIT;
}

/*
 * Read from `fd` and hand the contents of each whole member to `take`; plain
 * bytes are handed over as if they were one. Ends at the first that is torn,
 * damaged or refused by `take` with E_FORMAT, and says so in `end`; that is
 * PORTPROF_OK. E_NOMEM, E_LIMIT (a member does not fit into the bounds, or
 * `take` says so) and E_SYSTEM with errno in *error are failures. Sets
 * bounds->file_bytes.
 */
static portprof_status gunzip_fd(int fd, struct ppi_bounds *bounds,
                                 take_fn *take, void *context,
                                 struct gunzip_end *end, int *error)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	portprof_status status;

	memset(end, 0, sizeof(*end));
	*error = 0;
	if (!reader)
		return PORTPROF_E_NOMEM;
	reader->fd = fd;
	reader->bounds = bounds;
	status = look_at_size(reader);
	if (status != PORTPROF_OK) {
		free(reader);
		return status;
	}
	refill(reader);
	end->is_plain = reader->left < 1 || reader->at[0] != 0x1f ||
	                (reader->left > 1 && reader->at[1] != 0x8b);
	if (!end->is_plain) {
		status = read_members(reader, take, context, end);
	} else {
		status = read_plain(reader);
		if (status == PORTPROF_OK)
			status = take(context, reader->member.data,
			              reader->member.count);
		if (status == PORTPROF_OK) {
			end->members = 1;
			end->contents = reader->member.count;
			end->whole = reader->taken;
		}
	}
	end->size = reader->taken + reader->left;
	if (reader->is_regular && end->size < bounds->file_bytes)
		end->size = bounds->file_bytes;
	*error = reader->error;
	ppi_vector_free(&reader->member);
	free(reader);
	if (*error)
		return PORTPROF_E_SYSTEM;
	return status == PORTPROF_E_FORMAT ? PORTPROF_OK : status;
}

/* ---- from members to a profile ---- */

static portprof_status take_member(void *context, const uint8_t *bytes,
                                   size_t count)
{
	return count ? ppi_raw_add(context, bytes, count) : PORTPROF_OK;
}

static portprof_status explain(portprof_status status, const char *name,
                               const struct gunzip_end *end,
                               const struct ppi_bounds *bounds, int error,
                               struct ppi_diag *why)
{
	if (status == PORTPROF_E_SYSTEM)
		return ppi_fail(why, status, error, "read profile",
		                "cannot read '%s': %s", name, strerror(error));
	if (status == PORTPROF_E_LIMIT)
		return ppi_bounds_fail(bounds, name, why);
	if (status == PORTPROF_E_NOMEM)
		return ppi_fail(why, status, 0, "read profile",
		                "out of memory while reading '%s'", name);
	if (end->contents > 0)
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_FORMAT, 0, "read profile",
	                end->whole == end->size
	                            ? "'%s' is empty, so it is not a profile"
	                : end->is_cut ? "'%s' is truncated in its first part: "
	                              "nothing in it can be read"
	                            : "'%s' is not a profile: its bytes are "
	                              "no message of pprof's profile.proto",
	                name);
}

/* A sentence about what is missing, for portprof_profile_origin. */
static bool tell_damage(portprof_profile *profile,
                        const struct gunzip_end *end, uint64_t dropped)
{
	char text[320], more[96] = "";

	if (end->whole == end->size && !end->is_cut)
		return true;
	if (dropped)
		snprintf(more, sizeof(more),
		         "; %llu samples that point into it are left out",
		         (unsigned long long)dropped);
	snprintf(text, sizeof(text),
	         "the last %llu of its %llu bytes are an incomplete part, so "
	         "the end of the measurement (about a second) is missing%s",
	         (unsigned long long)(end->size - end->whole),
	         (unsigned long long)end->size, more);
	profile->damage = strdup(text);
	profile->origin.damage = profile->damage;
	return profile->damage != NULL;
}

static portprof_status resolve_once(struct ppi_resolve *resolve)
{
	portprof_status status;

	resolve->dropped = 0;
	resolve->profile = ppi_profile_new();
	if (!resolve->profile)
		return ppi_resolve_memory(resolve);
	status = ppi_resolve(resolve);
	if (status != PORTPROF_OK)
		portprof_profile_free(resolve->profile);
	return status;
}

static portprof_status build(struct ppi_resolve *resolve,
                             const struct gunzip_end *end)
{
	portprof_status status;

	resolve->is_torn = end->whole < end->size || end->is_cut;
	status = resolve_once(resolve);
	if (status != PORTPROF_OK && resolve->is_difference) {
		resolve->has_sides = true;
		status = resolve_once(resolve);
	}
	if (status != PORTPROF_OK)
		return status;
	if (tell_damage(resolve->profile, end, resolve->dropped))
		return PORTPROF_OK;
	portprof_profile_free(resolve->profile);
	return ppi_resolve_memory(resolve);
}

portprof_status ppi_profile_read_fd(int fd, const char *name,
                                    uint64_t memory_max,
                                    portprof_profile **profile,
                                    struct ppi_diag *why)
{
	struct ppi_bounds bounds = { .asked = memory_max };
	struct ppi_raw raw = { .bounds = &bounds };
	struct ppi_resolve resolve = { .raw = &raw, .why = why, .name = name };
	struct gunzip_end end;
	int error;
	portprof_status status =
		gunzip_fd(fd, &bounds, take_member, &raw, &end, &error);

	if (status != PORTPROF_OK || end.contents == 0)
		status = explain(status, name, &end, &bounds, error, why);
	if (status == PORTPROF_OK)
		status = build(&resolve, &end);
	if (status == PORTPROF_OK)
		*profile = resolve.profile;
	ppi_raw_free(&raw);
	return status;
}

/* ---- a whole file ---- */

/* What is no regular file is no profile. */
static portprof_status cannot_open(const char *path, int error)
{
	portprof_status status = PORTPROF_E_SYSTEM;
	struct ppi_diag why;

	if (error == EISDIR)
		return ppi_refuse(PORTPROF_E_FORMAT, "read profile",
		                  "'%s' is a folder; name a profile in it",
		                  path);
	if (error == EINVAL)
		status = PORTPROF_E_FORMAT;
	else if (error == ENOENT || error == ENOTDIR)
		status = PORTPROF_E_NOTFOUND;
	else if (error == EACCES || error == EPERM)
		status = PORTPROF_E_DENIED;
	ppi_fail(&why, status, error, "read profile", "cannot open '%s': %s",
	         path, ppi_foreign_error(error));
	return ppi_report(&why);
}

portprof_status portprof_profile_read(const char *path, uint64_t memory_max,
                                      portprof_profile **profile)
{
	struct ppi_diag why = { 0 };
	portprof_status status;
	int fd;

	if (!path)
		return ppi_refuse_null("portprof_profile_read", "path");
	if (!profile)
		return ppi_refuse_null("portprof_profile_read", "profile");
	fd = ppi_foreign_open(path, PPI_FOREIGN_TYPED, NULL);
	if (fd < 0)
		return cannot_open(path, errno);
	status = ppi_profile_read_fd(fd, path, memory_max, profile, &why);
	close(fd);
	if (status == PORTPROF_E_FORMAT)
		ppi_import_explain(path, &why);
	return status == PORTPROF_OK ? status : ppi_report(&why);
}

/* ---- a file that grows ---- */

struct portprof_follow {
	char *path;
	uint64_t memory_max;
	struct ppi_raw raw; /* of what was read, all but samples */
	uint64_t read;      /* bytes */
	dev_t device;
	ino_t inode;
};

portprof_status portprof_follow_open(const char *path, uint64_t memory_max,
                                     portprof_follow **follow)
{
	portprof_follow *one;

	if (!path)
		return ppi_refuse_null("portprof_follow_open", "path");
	if (!follow)
		return ppi_refuse_null("portprof_follow_open", "follow");
	one = calloc(1, sizeof(*one));
	if (one)
		one->path = strdup(path);
	if (!one || !one->path) {
		free(one);
		return ppi_refuse(PORTPROF_E_NOMEM, "follow profile",
		                  "out of memory");
	}
	one->memory_max = memory_max;
	*follow = one;
	return PORTPROF_OK;
}

static void begin_anew(portprof_follow *follow)
{
	ppi_raw_free(&follow->raw);
	memset(&follow->raw, 0, sizeof(follow->raw));
	follow->read = 0;
}

/* Whether it is the file that was read before, with the same bytes first. A
 * finished one was written anew and renamed over that. */
static bool is_same_file(portprof_follow *follow, int fd)
{
	struct stat at;
	bool is_same = fstat(fd, &at) == 0 && follow->read &&
	               at.st_dev == follow->device &&
	               at.st_ino == follow->inode &&
	               (uint64_t)at.st_size >= follow->read &&
	               lseek(fd, (off_t)follow->read, SEEK_SET) >= 0;

	if (!is_same) {
		begin_anew(follow);
		follow->device = at.st_dev;
		follow->inode = at.st_ino;
	}
	return is_same;
}

/* A portion that is not whole yet is read the next time. */
static portprof_status read_more(portprof_follow *follow, int fd,
                                 portprof_profile **profile,
                                 struct ppi_diag *why)
{
	struct ppi_bounds bounds = { .asked = follow->memory_max };
	struct ppi_resolve resolve = { .raw = &follow->raw, .why = why,
		                       .name = follow->path };
	struct gunzip_end end;
	portprof_status status;
	int error;

	follow->raw.bounds = &bounds;
	status = gunzip_fd(fd, &bounds, take_member, &follow->raw, &end,
	                   &error);
	if (status != PORTPROF_OK || (end.members == 0 && follow->read == 0))
		status = explain(status, follow->path, &end, &bounds, error,
		                 why);
	follow->read += end.whole;
	/* there is no damage to speak of: the end may be in the making */
	end.size = end.whole;
	end.is_cut = false;
	if (status == PORTPROF_OK)
		status = build(&resolve, &end);
	if (status != PORTPROF_OK)
		return status;
	if (!ppi_raw_forget_samples(&follow->raw)) {
		portprof_profile_free(resolve.profile);
		return ppi_resolve_memory(&resolve);
	}
	*profile = resolve.profile;
	return PORTPROF_OK;
}

portprof_status portprof_follow_read(portprof_follow *follow,
                                     portprof_profile **profile,
                                     bool *is_anew)
{
	struct ppi_diag why = { 0 };
	portprof_status status;
	int fd;

	if (!follow)
		return ppi_refuse_null("portprof_follow_read", "follow");
	if (!profile)
		return ppi_refuse_null("portprof_follow_read", "profile");
	if (!is_anew)
		return ppi_refuse_null("portprof_follow_read", "is_anew");
	fd = ppi_foreign_open(follow->path, PPI_FOREIGN_TYPED, NULL);
	if (fd < 0)
		return cannot_open(follow->path, errno);
	*is_anew = !is_same_file(follow, fd);
	status = read_more(follow, fd, profile, &why);
	follow->raw.bounds = NULL;
	close(fd);
	if (status == PORTPROF_OK)
		return status;
	begin_anew(follow);
	return ppi_report(&why);
}

void portprof_follow_close(portprof_follow *follow)
{
	if (!follow)
		return;
	begin_anew(follow);
	free(follow->path);
	free(follow);
}
