/* SPDX-License-Identifier: MIT */
/* A profile file, ours or another writer's, whole or torn, into memory. */
#include "api/file/read.h"

#include "api/file/gunzip.h"
#include "api/file/resolve.h"
#include "api/internal/diag.h"
#include "port/foreign_file.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static portprof_status take_member(void *context, const uint8_t *bytes,
                                   size_t count)
{
	return count ? ppi_raw_add(context, bytes, count) : PORTPROF_OK;
}

static portprof_status explain(portprof_status status, const char *name,
                               const struct ppi_gunzip_end *end,
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
	if (end->members > 0)
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_FORMAT, 0, "read profile",
	                end->is_cut ? "'%s' is cut off within its first "
	                              "portion: nothing in it can be read"
	                : end->size ? "'%s' is no profile: a pprof file, "
	                              "gzipped or not, is wanted"
	                            : "'%s' is empty",
	                name);
}

/* A sentence about what is missing, for portprof_profile_origin. */
static bool tell_damage(portprof_profile *profile,
                        const struct ppi_gunzip_end *end, uint64_t dropped)
{
	char text[320], more[96] = "";

	if (end->whole == end->size && !end->is_cut)
		return true;
	if (dropped)
		snprintf(more, sizeof(more),
		         "; %llu samples that point into it are left out",
		         (unsigned long long)dropped);
	snprintf(text, sizeof(text),
	         "the last %llu of its %llu bytes are a broken portion, so "
	         "what was measured after the portion before (about the last "
	         "second) is missing%s",
	         (unsigned long long)(end->size - end->whole),
	         (unsigned long long)end->size, more);
	profile->damage = strdup(text);
	profile->origin.damage = profile->damage;
	return profile->damage != NULL;
}

static bool tell_negative(portprof_profile *profile, uint64_t negative)
{
	char text[160];

	if (negative == 0)
		return true;
	snprintf(text, sizeof(text),
	         "%llu values below 0 (a difference of two profiles?) were "
	         "read as 0",
	         (unsigned long long)negative);
	return ppi_profile_note(profile, text);
}

static portprof_status build(struct ppi_resolve *resolve,
                             const struct ppi_gunzip_end *end)
{
	portprof_status status;

	resolve->profile = ppi_profile_new();
	if (!resolve->profile)
		return ppi_resolve_memory(resolve);
	resolve->is_torn = end->whole < end->size || end->is_cut;
	status = ppi_resolve(resolve);
	if (status == PORTPROF_OK &&
	    (!tell_damage(resolve->profile, end, resolve->dropped) ||
	     !tell_negative(resolve->profile, resolve->negative)))
		status = ppi_resolve_memory(resolve);
	if (status != PORTPROF_OK)
		portprof_profile_free(resolve->profile);
	return status;
}

portprof_status ppi_profile_read_fd(int fd, const char *name,
                                    uint64_t memory_max,
                                    portprof_profile **profile,
                                    struct ppi_diag *why)
{
	struct ppi_bounds bounds = { .asked = memory_max };
	struct ppi_raw raw = { .bounds = &bounds };
	struct ppi_resolve resolve = { .raw = &raw, .why = why, .name = name };
	struct ppi_gunzip_end end;
	int error;
	portprof_status status =
		ppi_gunzip(fd, &bounds, take_member, &raw, &end, &error);

	if (status != PORTPROF_OK || end.members == 0)
		status = explain(status, name, &end, &bounds, error, why);
	if (status == PORTPROF_OK)
		status = build(&resolve, &end);
	if (status == PORTPROF_OK)
		*profile = resolve.profile;
	ppi_raw_free(&raw);
	return status;
}

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
	return status == PORTPROF_OK ? status : ppi_report(&why);
}
