/* SPDX-License-Identifier: MIT */
/*
 * What a profile says of one executable, as gmon.out: the executable is found,
 * calls are added up, weights go into bins (gmon_bins.c), and the file is
 * written. Addresses become those of the file, as gprof reads them there.
 */
#include "config.h"

#include "api/profile/gmon/gmon_export.h"

#include <portprof/gmon.h>
#include <portprof/profile.h>

#include "api/common/diag.h"
#include "api/profile/atomic_file.h"
#include "api/profile/gmon/gmon.h"
#include "api/profile/image.h"
#include "api/profile/model.h"
#include "base/vector.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- calls: pairs of caller and called function ---- */

/* struct ppi_gmon_arc, in any order and with repetitions until folded. */
static bool add_arc(struct ppi_vector *arcs, uint64_t from,
                                     uint64_t self, uint64_t count)
{
	struct ppi_gmon_arc arc = { from, self, count };

	return ppi_vector_add(arcs, sizeof(arc), &arc, 1);
}

static int compare_arcs(const void *left, const void *right)
{
	const struct ppi_gmon_arc *a = left, *b = right;

	if (a->self != b->self)
		return a->self < b->self ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

/* Sort, and make one of equal ones. */
static void fold_arcs(struct ppi_vector *arcs)
{
	struct ppi_gmon_arc *all = arcs->data;
	size_t kept = 0;

	if (arcs->count)
		qsort(all, arcs->count, sizeof(*all), compare_arcs);
	for (size_t i = 0; i < arcs->count; i++)
		if (kept && compare_arcs(&all[kept - 1], &all[i]) == 0)
			all[kept - 1].count += all[i].count;
		else
			all[kept++] = all[i];
	arcs->count = kept;
}

/* ---- the one program or library of the profile that is described ---- */

/* "app, libc.so.6": the files that may be meant, as many as there is room. */
static void list_files(const portprof_profile *profile, char *out, size_t room)
{
	const portprof_profile_mapping *mapping;
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0;
	     (mapping = portprof_profile_mapping_get(profile, i)) != NULL;
	     i++) {
		const char *slash = strrchr(mapping->path, '/');
		const char *name = slash ? slash + 1 : mapping->path;
		bool is_new = ppi_is_shared_file(mapping->path);

		for (size_t k = 0; k < i && is_new; k++)
			is_new = strcmp(portprof_profile_mapping_get(profile, k)
			                        ->path,
			                mapping->path) != 0;
		if (!is_new)
			continue;
		if (used + strlen(name) + 8 > room) {
			snprintf(out + used, room - used, ", ...");
			return;
		}
		used += (size_t)snprintf(out + used, room - used, "%s%s",
		                         used ? ", " : "", name);
	}
}

static bool is_meant(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return strcmp(path, name) == 0 ||
	       (slash && strcmp(slash + 1, name) == 0);
}

static portprof_status find_named(struct ppi_gmon_module *module,
                                  const portprof_profile *profile,
                                  const char *name, struct ppi_diag *why)
{
	const portprof_profile_mapping *mapping;
	char files[160];

	for (size_t i = 0;
	     (mapping = portprof_profile_mapping_get(profile, i)) != NULL;
	     i++) {
		if (!is_meant(mapping->path, name))
			continue;
		if (module->path &&
		    (strcmp(module->path, mapping->path) != 0 ||
		     strcmp(module->build_id, mapping->build_id) != 0))
			return ppi_fail(why, PORTPROF_E_INVALID, 0,
			                "find module",
			                "'%s' may be '%s' (build-id %.12s) or "
			                "'%s' (%.12s): give a full path, and a "
			                "profile of one build",
			                name, module->path, module->build_id,
			                mapping->path, mapping->build_id);
		module->path = mapping->path;
		module->build_id = mapping->build_id;
	}
	if (module->path)
		return PORTPROF_OK;
	list_files(profile, files, sizeof(files));
	return ppi_fail(why, PORTPROF_E_INVALID, 0, "find module",
	                "the profile has no file '%s'; its files: %s", name,
	                files[0] ? files : "none");
}

/* The first mapping, where the profile says so or has no other file. */
static portprof_status find_main(struct ppi_gmon_module *module,
                                 const portprof_profile *profile,
                                 struct ppi_diag *why)
{
	const portprof_profile_mapping *mapping =
		portprof_profile_mapping_get(profile, 0);
	char files[160];

	list_files(profile, files, sizeof(files));
	if (!mapping || !files[0])
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "find module",
		                "the profile does not name the files of its "
		                "samples, and gmon.out holds one file");
	if (!profile->has_main && strchr(files, ','))
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "find module",
		                "the profile does not say which file is the "
		                "program: name one of %s",
		                files);
	module->path = mapping->path;
	module->build_id = mapping->build_id;
	return PORTPROF_OK;
}

/*
 * Find it by its path or the last part of it, NULL for the program, and look
 * into it where it lies now: at `file`, or where it was.
 */
static portprof_status find_module(struct ppi_gmon_module *module,
                                   const portprof_profile *profile,
                                   const char *name, const char *file,
                                   struct ppi_diag *why)
{
	portprof_status status;

	memset(module, 0, sizeof(*module));
	status = name ? find_named(module, profile, name, why)
	              : find_main(module, profile, why);
	if (status == PORTPROF_OK)
		status = ppi_image_read(file ? file : module->path,
		                        &module->image, why);
	if (status != PORTPROF_OK)
		return status;
	if (module->build_id[0] && module->image.build_id[0] &&
	    strcmp(module->build_id, module->image.build_id) != 0)
		return ppi_fail(why, PORTPROF_E_FORMAT, 0, "find module",
		                "'%s' is another build than the one that was "
		                "measured (build-id %.12s, not %.12s): use the "
		                "measured build, or record again",
		                file ? file : module->path,
		                module->image.build_id, module->build_id);
	return PORTPROF_OK;
}

/* The file's own address of a location; false when that is in another file or
 * in no code. */
static bool find_address(const struct ppi_gmon_module *module,
                         const portprof_profile *profile, size_t location,
                         uint64_t *address)
{
	const portprof_profile_location *at =
		portprof_profile_location_get(profile, location);
	const portprof_profile_mapping *mapping =
		at ? portprof_profile_mapping_get(profile, at->mapping) : NULL;
	const struct ppi_image_code *code;
	uint64_t offset;

	if (!mapping || strcmp(mapping->path, module->path) != 0 ||
	    strcmp(mapping->build_id, module->build_id) != 0)
		return false;
	offset = at->address - mapping->start + mapping->file_offset;
	code = ppi_image_at(&module->image, offset);
	if (!code)
		return false;
	*address = offset - code->offset + code->address;
	return true;
}

/* ---- samples ---- */

/* How many bytes of code a sample stands for. */
static uint64_t span_of(const portprof_profile *profile,
                        const struct ppi_sample *sample)
{
	size_t count;
	const struct ppi_label *labels =
		ppi_profile_label_set(profile, sample->labels, &count);

	for (size_t i = 0; i < count; i++)
		if (labels[i].number > 0 && labels[i].number <= INT32_MAX &&
		    strcmp(ppi_profile_string(profile, labels[i].key),
		           "span") == 0)
			return (uint64_t)labels[i].number;
	return 1;
}

static bool add_arcs(struct ppi_gmon_export *exporting,
                     const portprof_profile_sample *sample, uint64_t samples)
{
	for (size_t i = 0; i + 1 < sample->depth; i++) {
		uint64_t self, from;

		/* a caller in another file is no caller here, and the
		 * next one in this file did not call by itself */
		if (find_address(&exporting->module, exporting->profile,
		                 sample->locations[i], &self) &&
		    find_address(&exporting->module, exporting->profile,
		                 sample->locations[i + 1], &from) &&
		    !add_arc(&exporting->arcs, from, self, samples))
			return false;
	}
	return true;
}

static portprof_status add_samples(struct ppi_gmon_export *exporting)
{
	const portprof_profile *profile = exporting->profile;
	const struct ppi_sample *all = profile->samples.data;
	portprof_gmon_written *written = &exporting->written;

	for (size_t i = 0; i < profile->samples.count; i++) {
		const portprof_profile_sample *sample = &all[i].shown;
		uint64_t weight = sample->weights[exporting->wanted.event];
		uint64_t samples = sample->samples[exporting->wanted.event];
		uint64_t address;

		if (weight == 0)
			continue;
		if (exporting->wanted.with_chains &&
		    !add_arcs(exporting, sample, samples ? samples : 1))
			return ppi_gmon_export_memory(exporting);
		if (sample->depth == 0 ||
		    !find_address(&exporting->module, profile,
		                  sample->locations[0], &address)) {
			written->outside_weight =
				ppi_add(written->outside_weight, weight);
			continue;
		}
		written->kept_weight = ppi_add(written->kept_weight, weight);
		ppi_gmon_export_spread(exporting, address,
		                       span_of(profile, &all[i]), weight);
	}
	fold_arcs(&exporting->arcs);
	exporting->gmon.arcs = exporting->arcs.data;
	written->arcs = exporting->gmon.arc_count = exporting->arcs.count;
	return PORTPROF_OK;
}

static portprof_status check(struct ppi_gmon_export *exporting)
{
	const portprof_profile_event *event = ppi_gmon_export_event(exporting);

	if (!event)
		return ppi_fail(exporting->why, PORTPROF_E_INVALID, 0,
		                "write gmon.out",
		                "the profile has no event number %zu",
		                exporting->wanted.event);
	if (exporting->wanted.rate_hz > PPI_GMON_MOST_RATE)
		return ppi_fail(exporting->why, PORTPROF_E_INVALID, 0,
		                "write gmon.out",
		                "%u ticks a second exceed the maximum, %d",
		                (unsigned)exporting->wanted.rate_hz,
		                PPI_GMON_MOST_RATE);
	if (exporting->wanted.rate_hz &&
	    event->unit != PORTPROF_UNIT_NANOSECONDS)
		return ppi_fail(exporting->why, PORTPROF_E_INVALID, 0,
		                "write gmon.out",
		                "a rate needs an event of time, not '%s'",
		                event->name);
	return PORTPROF_OK;
}

static portprof_status fill(struct ppi_gmon_export *exporting)
{
	portprof_status status = check(exporting);

	if (status == PORTPROF_OK)
		status = find_module(
			&exporting->module, exporting->profile,
			exporting->wanted.module, exporting->wanted.file,
			exporting->why);
	if (status == PORTPROF_OK)
		status = ppi_gmon_export_lay(exporting);
	if (status == PORTPROF_OK)
		status = add_samples(exporting);
	if (status != PORTPROF_OK)
		return status;
	exporting->gmon.pointer_bytes = exporting->module.image.pointer_bytes;
	exporting->gmon.is_swapped = exporting->module.image.is_swapped;
	return ppi_gmon_export_ticks(exporting);
}

static portprof_status put(const struct ppi_gmon_export *exporting,
                           const char *path)
{
	struct ppi_gmon_why words;
	struct ppi_atomic_file draft;
	portprof_status status =
		ppi_atomic_file_open(&draft, path, exporting->why);
	enum ppi_gmon_status wrote;
	int error = 0;

	if (status != PORTPROF_OK)
		return status;
	errno = EFBIG;
	wrote = PPI_GMON_SYSTEM;
	if (!ppi_file_is_limited(exporting->bytes + 21 * exporting->arcs.count))
		wrote = ppi_gmon_write(&exporting->gmon, draft.fd, &words);
	if (wrote == PPI_GMON_SYSTEM)
		error = errno;
	else if (wrote == PPI_GMON_OK)
		error = ppi_atomic_file_place(&draft);
	else
		status =
			ppi_fail(exporting->why, PORTPROF_E_FORMAT, 0,
			         "write gmon.out", "cannot describe '%s': %s",
			         exporting->module.path, words.words);
	if (error)
		status = ppi_fail(exporting->why, ppi_file_status(error), error,
		                  "write gmon.out",
		                  "cannot write '%s': %s; nothing was changed",
		                  path, strerror(error));
	ppi_atomic_file_close(&draft, true);
	return status;
}

static void free_all(struct ppi_gmon_export *exporting)
{
	for (size_t i = 0; i < exporting->gmon.histogram_count; i++)
		free(exporting->histograms[i].bins);
	ppi_vector_free(&exporting->arcs);
}

portprof_status portprof_gmon_write(const portprof_profile *profile,
                                    const portprof_gmon_wanted *wanted,
                                    const char *path,
                                    portprof_gmon_written *written)
{
	struct ppi_diag why = { 0 };
	struct ppi_gmon_export exporting = { .profile = profile, .why = &why };
	portprof_status status;

	if (!profile)
		return ppi_refuse_null("portprof_gmon_write", "profile");
	if (!wanted)
		return ppi_refuse_null("portprof_gmon_write", "wanted");
	if (!path)
		return ppi_refuse_null("portprof_gmon_write", "path");
	if (wanted->size < sizeof(wanted->size) ||
	    (written && written->size < sizeof(written->size)))
		return ppi_refuse(PORTPROF_E_INVALID, "write gmon.out",
		                  "set the structures' size fields to their "
		                  "sizeof before the call");
	memcpy(&exporting.wanted, wanted,
	       wanted->size < sizeof(exporting.wanted)
	               ? wanted->size
	               : sizeof(exporting.wanted));
	status = fill(&exporting);
	if (status == PORTPROF_OK)
		status = put(&exporting, path);
	free_all(&exporting);
	if (status != PORTPROF_OK)
		return ppi_report(&why);
	return written ? ppi_sized_copy(written, &exporting.written,
	                                sizeof(exporting.written),
	                                "write gmon.out")
	               : PORTPROF_OK;
}
